//! Processes that are killed, hang or do not answer.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{self, assert_same, cells, make, program, rounds, run, source};
use iophase::ErrorKind;
use iophase_fleet::extract::{Bounds, Settings};
use iophase_fleet::list;
use iophase_fleet::pool::{Program, Runner, STARTS};
use iophase_fleet::tables::LogRows;

/// Worker processes of a driver or an executor.
pub fn workers(driver: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u32>().ok())
    };
    all.filter(|pid| parent(pid) == Some(driver)).collect()
}

pub fn signal(pid: u32, name: &str) {
    // it may have ended meanwhile
    let _ = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).stderr(Stdio::null()).status();
}

/// Starts a run and lets `act` loose on it until it ends.
fn disturbed(logs: &Path, fleet: &Path, options: &[&str], act: impl FnOnce(u32)) -> Option<i32> {
    let mut command = program();
    command.arg(logs).arg("-o").arg(fleet).args(options).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().unwrap();
    act(child.id());
    child.wait().unwrap().code()
}

#[test]
fn a_kill_at_any_moment_costs_only_the_batches_in_work() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole) = (t.path().join("logs"), t.path().join("whole"));
    make(&logs, 250, 0.05, 21);
    let begun = Instant::now();
    run(3, &logs, &whole, &[]);
    let undisturbed = begun.elapsed();
    for round in 0..rounds(50) {
        let fleet = t.path().join(format!("fleet{round}"));
        // several kills on the way to one fleet, at moments spread over the time that a run takes here
        for step in 1..=4 {
            let pause = undisturbed.mul_f64(f64::from((round as u32 * 37 + step * 101) % 700) / 1000.0);
            disturbed(&logs, &fleet, &[], |driver| {
                std::thread::sleep(pause);
                if step % 2 == 0 {
                    workers(driver).into_iter().take(1).for_each(|w| signal(w, "KILL"));
                    std::thread::sleep(pause / 2);
                }
                signal(driver, "KILL");
            });
        }
        // 3: there are damaged logs; 0: those before have read all
        let out = common::fleet(&logs, &fleet, &[]);
        assert!(matches!(out.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&out.stderr));
        assert_same(&whole, &fleet, &format!("round {round}"));
    }
}

#[test]
fn workers_that_are_killed_are_replaced() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole, fleet) = (t.path().join("logs"), t.path().join("whole"), t.path().join("fleet"));
    make(&logs, 250, 0.0, 22);
    run(0, &logs, &whole, &[]);
    let code = disturbed(&logs, &fleet, &[], |driver| {
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(400));
            workers(driver).into_iter().take(1).for_each(|w| signal(w, "KILL"));
        }
    });
    // one log can only be hit twice by two kills within one log
    assert_eq!(code, Some(0));
    assert_same(&whole, &fleet, "workers killed");
}

fn two_logs() -> Vec<list::LogRef> {
    let mut logs = Vec::new();
    let inputs = [source("stable"), source("change")];
    list::find(&inputs, &list::Options::default(), &mut |all| {
        logs = all;
        Ok(())
    })
    .unwrap();
    logs
}

/// Rows by a worker that is killed in the first `k` of its starts, before it is ready.
fn dies_first(k: usize) -> iophase::Result<Vec<LogRows>> {
    let t = tempfile::tempdir().unwrap();
    let script = r#"echo >> "$0/starts"; [ $(wc -l < "$0/starts") -gt "$1" ] || kill -KILL $$; exec "$2" worker"#;
    let arguments = ["-c", script, t.path().to_str().unwrap(), &k.to_string(), env!("CARGO_BIN_EXE_iophase-fleet")];
    let program = Program { path: "/bin/sh".into(), arguments: arguments.map(Into::into).into() };
    let logs = two_logs();
    let (settings, bounds) = (Settings::default(), Bounds::default());
    let mut rows = Vec::new();
    Runner::new(&program, &settings, &bounds)?.run(&logs, &mut |r| {
        rows.push(r);
        Ok(())
    })?;
    Ok(rows)
}

#[test]
fn a_worker_that_ends_before_it_has_a_log_is_started_again() {
    let rows = dies_first(STARTS - 1).unwrap();
    let status: Vec<_> = rows.iter().map(|r| r.log.status.as_deref()).collect();
    assert_eq!(status, [Some("ok"), Some("ok")]);
    let e = dies_first(STARTS).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Io);
    let told = e.to_string();
    assert!(told.contains(&format!("{STARTS} were started")) && told.contains("signal 9"), "{told}");
}

fn by(script: &str, time_s: f64) -> Vec<(String, String)> {
    let program = Program { path: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] };
    let logs = two_logs();
    let (settings, bounds) = (Settings::default(), Bounds { time_s, ..Bounds::default() });
    let mut rows = Vec::new();
    let mut runner = Runner::new(&program, &settings, &bounds).unwrap();
    runner
        .run(&logs, &mut |r| {
            rows.push((r.log.status.unwrap(), r.log.reason.unwrap()));
            Ok(())
        })
        .unwrap();
    assert_eq!(rows.len(), 2);
    rows
}

#[test]
fn a_log_that_ends_its_process_twice_is_given_up() {
    // an empty frame says that the worker is ready; then the first order, and the end
    let rows = by("printf '\\000\\000\\000\\000'; head -c 4 > /dev/null; echo oops >&2; exit 7", 60.0);
    assert!(rows.iter().all(|r| r.0 == "crashed" && r.1 == "ended its process with code 7: oops"), "{rows:?}");
    let rows = by(
        "printf '\\000\\000\\000\\000'; head -c 4 > /dev/null; echo memory allocation of 99 bytes failed >&2; kill -ABRT $$",
        60.0,
    );
    assert!(rows.iter().all(|r| r.0 == "memory" && r.1.contains("signal 6")), "{rows:?}");
}

#[test]
fn a_worker_that_hangs_is_ended() {
    let rows = by("printf '\\000\\000\\000\\000'; exec sleep 600", 0.5);
    assert!(rows.iter().all(|r| r.0 == "timeout" && r.1.starts_with("no answer within")), "{rows:?}");
}

#[test]
fn a_stopped_worker_costs_its_log_only() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make(&logs, 150, 0.0, 23);
    disturbed(&logs, &fleet, &["--time-limit", "5s"], |driver| {
        while workers(driver).is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        workers(driver).into_iter().take(1).for_each(|w| signal(w, "STOP"));
    });
    let rows = cells(
        &fleet,
        "select count(*), count(distinct log_key), sum(case when status = 'ok' then 0 else 1 end) from logs",
    );
    assert_eq!(rows[0][..2], ["150", "150"]);
    assert!(["0", "1"].contains(&rows[0][2].as_str()), "the log that was in work, if there was one: {rows:?}");
}
