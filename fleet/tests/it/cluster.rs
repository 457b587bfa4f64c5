//! A scheduler, executors and runs on 127.0.0.1.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{assert_same, assert_same_rows, dump, make, program, run};
use crate::kills::{signal, workers};
use iophase_fleet::query::QUESTIONS;

/// A process that ends with the test.
struct Role(Child);

impl Role {
    fn start(arguments: &[&str]) -> Role {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iophase-fleet"));
        Role(command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A free port whose next one is free too.
fn ports() -> u16 {
    loop {
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        if port < u16::MAX && TcpListener::bind(("127.0.0.1", port + 1)).is_ok() {
            return port;
        }
    }
}

fn scheduler(port: u16) -> Role {
    Role::start(&["scheduler", "--port", &port.to_string(), "--lost-after", "4"])
}

fn executor(url: &str) -> Role {
    Role::start(&["executor", "--scheduler", url, "--cores", "1", "--port", &ports().to_string()])
}

fn url(port: u16) -> String {
    format!("df://127.0.0.1:{port}")
}

fn driver(logs: &Path, fleet: &Path, url: &str) -> Child {
    program().arg(logs).arg("-o").arg(fleet).args(["--scheduler", url]).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_cluster_and_one_machine_make_the_same_tables() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole, shared) = (t.path().join("logs"), t.path().join("whole"), t.path().join("shared"));
    make(&logs, 300, 0.05, 31);
    run(3, &logs, &whole, &[]);
    let port = ports();
    let url = url(port);
    let _roles = [scheduler(port), executor(&url), executor(&url)];
    let told = run(3, &logs, &shared, &["--scheduler", &url]);
    assert!(told.contains("300 logs: 0 known, 300 read"), "{told}");
    assert_same(&whole, &shared, "cluster");
    assert!(run(0, &logs, &shared, &["--scheduler", &url]).contains("300 known, 0 read"));
    assert_eq!(std::fs::read_dir(shared.join("_work")).unwrap().count(), 0, "nothing is left of the run");
    // the cluster answers as one machine does
    let answer = |command: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_iophase-fleet")).args(command).output().unwrap();
        assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let fleet = shared.to_str().unwrap();
    let sql = "select count(*) as n, sum(bytes_read) as b from logs";
    // a function of lists is another crate of the engine
    let lists = "select sum(u) as n from (select unnest(range(ranks, ranks + 3)) as u from logs)";
    let questions = QUESTIONS.iter().map(|q| vec!["ask", q.name, fleet]);
    let others = [["sql", fleet, sql].to_vec(), ["sql", fleet, lists].to_vec(), ["page", fleet, "-o", "-"].to_vec()];
    let others = others.into_iter().chain([["forecast", fleet, "--replay"].to_vec(), ["regressions", fleet].to_vec()]);
    for command in questions.chain(others) {
        let there = [&command[..], &["--scheduler", &url, "--threads", "3"]].concat();
        assert_eq!(answer(&there), answer(&command), "{command:?}");
    }
    // what fails there is an error here
    let closed = t.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::write(closed.join("logs"), "no folder").unwrap();
    let told = run(5, &logs, &closed, &["--scheduler", &url]);
    assert!(told.contains("make room"), "{told}");
}

/// Roles on this machine: a scheduler and three executors.
struct Cluster {
    port: u16,
    scheduler: Option<Role>,
    executors: Vec<Role>,
}

impl Cluster {
    fn start() -> Cluster {
        let port = ports();
        let executors = (0..3).map(|_| executor(&url(port))).collect();
        Cluster { port, scheduler: Some(scheduler(port)), executors }
    }

    /// Kills a process of the cluster or of the run; a role has another in its place at once. False if there was none to kill.
    fn kill(&mut self, what: &str, driver: &mut Child, random: usize) -> bool {
        let one = random % self.executors.len();
        match what {
            "executor" => {
                drop(self.executors.remove(one));
                self.executors.push(executor(&url(self.port)));
            }
            "scheduler" => {
                drop(self.scheduler.take());
                self.scheduler = Some(scheduler(self.port));
            }
            "driver" => driver.kill().unwrap(),
            _ => {
                let all: Vec<u32> = self.executors.iter().flat_map(|e| workers(e.0.id())).collect();
                let Some(worker) = all.get(random % all.len().max(1)) else { return false };
                signal(*worker, "KILL");
            }
        }
        true
    }
}

/// Kills one kind of process at random moments of runs and runs again: the rows are those of a run without kills.
fn kills(what: &str, seed: u64) {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole) = (t.path().join("logs"), t.path().join("whole"));
    make(&logs, 320, 0.05, seed);
    run(3, &logs, &whole, &[]);
    let whole = dump(&whole);
    let mut cluster = Cluster::start();
    let url = url(cluster.port);
    let fleet = |round: usize| t.path().join(format!("fleet{round}"));
    // the first run waits for the roles to start, the second does not
    let mut whole_time = Duration::ZERO;
    for round in [0, 1] {
        let begin = Instant::now();
        run(3, &logs, &fleet(round), &["--scheduler", &url]);
        whole_time = begin.elapsed();
    }
    let (mut random, mut hit, mut round) = (seed, 0, 1);
    let wanted = if std::env::var_os("IOPHASE_LONG").is_some() { 50 } else { 2 };
    while hit < wanted {
        round += 1;
        assert!(round < 3 * wanted + 10, "{what}: only {hit} kills met a run");
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut running = driver(&logs, &fleet(round), &url);
        std::thread::sleep(whole_time.mul_f64((random >> 32) as f64 / f64::from(u32::MAX)));
        let goes_on = running.try_wait().unwrap().is_none();
        hit += usize::from(cluster.kill(what, &mut running, (random >> 20) as usize) && goes_on);
        let code = running.wait().unwrap().code();
        let may_end = ["driver", "scheduler"].contains(&what);
        assert!(code == Some(3) || may_end, "{what}, seed {seed}, round {round}: {code:?}");
        let again = program().arg(&logs).arg("-o").arg(fleet(round)).args(["--scheduler", &url]).output().unwrap();
        let told = String::from_utf8_lossy(&again.stderr);
        assert!([Some(0), Some(3)].contains(&again.status.code()), "{what}, seed {seed}, round {round}: {told}");
        assert_same_rows(&whole, &dump(&fleet(round)), &format!("{what}, seed {seed}, round {round}"));
        std::fs::remove_dir_all(fleet(round)).unwrap();
    }
    eprintln!("{what}, seed {seed}: {hit} kills in {} runs of {whole_time:.1?}", round - 1);
}

#[test]
fn executors_that_are_killed_cost_no_rows() {
    kills("executor", 32);
}

#[test]
fn workers_of_executors_that_are_killed_cost_no_rows() {
    kills("worker", 33);
}

#[test]
fn a_driver_that_is_killed_is_run_again() {
    kills("driver", 34);
}

#[test]
fn a_scheduler_that_is_killed_is_started_again() {
    kills("scheduler", 35);
}
