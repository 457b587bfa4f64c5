//! `iophase watch`: bytes of a program and all its descendants, its streams, signals and exit code, and the file of samples.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn watch(dir: &Path, args: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_iophase"));
    c.arg("watch").args(args).current_dir(dir).stdin(Stdio::null());
    c
}

fn run(dir: &Path, args: &[&str]) -> Output {
    watch(dir, args).output().unwrap()
}

/// Watches a script of the shell; gives the report.
fn report(dir: &Path, args: &[&str], script: &str) -> Value {
    let o = run(dir, &[args, &["--json", "report.json", "--", "sh", "-c", script]].concat());
    assert_eq!(o.status.code(), Some(0), "{}", String::from_utf8_lossy(&o.stderr));
    serde_json::from_slice(&fs::read(dir.join("report.json")).unwrap()).unwrap()
}

fn rows(file: &Path) -> Vec<Value> {
    fs::read_to_string(file).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// Waits until the whole lines of a file are enough.
fn wait_for(file: &Path, child: &mut Child, enough: impl Fn(&[Value]) -> bool) {
    let started = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        let whole = &text[..text.rfind('\n').map_or(0, |n| n + 1)];
        if enough(&whole.lines().map(|l| serde_json::from_str(l).unwrap()).collect::<Vec<_>>()) {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "ended before {} had enough", file.display());
        assert!(started.elapsed() < Duration::from_secs(120), "{}: {text}", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn written(rows: &[Value]) -> u64 {
    rows.iter().filter(|r| r["op"] == "write").filter_map(|r| r["size"].as_u64()).sum()
}

#[test]
fn bytes_of_children_grandchildren_and_orphans_count_once() {
    let dir = tempfile::tempdir().unwrap();
    let script = "
        head -c 100000 /dev/zero > a
        sh -c 'head -c 20000 /dev/zero > b; head -c 3000 /dev/zero > c'
        mkfifo p
        (setsid sh -c 'head -c 400 /dev/zero > d; echo > p' &)
        head -c 50 /dev/zero > e &
        wait
        read x < p
        i=0; while [ $i -lt 40 ]; do true; /bin/true; head -c 1000 /dev/zero > f; i=$((i + 1)); done";
    for args in [&["--rate", "1000"][..], &["--rate", "10"], &["--by-process"]] {
        let r = report(dir.path(), args, script);
        assert_eq!(r["trace"]["bytes_written"], 100_000 + 23_000 + 400 + 1 + 50 + 40_000, "{args:?}: {}", r["trace"]);
        assert_eq!((&r["trace"]["format"], &r["quality"]["timing"]), (&"samples".into(), &"counter".into()));
        assert!(r["quality"]["bin_s"].as_f64().unwrap() <= 0.1);
        fs::remove_file(dir.path().join("p")).unwrap();
    }
}

#[test]
fn samples_enclose_the_bursts_and_the_period_is_that_of_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let script = "
        i=0; while [ $i -lt 12 ]; do
            date +%s.%N >> before; head -c 300000 /dev/zero > x; date +%s.%N >> after
            sleep 0.2; i=$((i + 1))
        done";
    let r = report(dir.path(), &["--mode", "write", "-o", "t.jsonl"], script);
    let times = |name: &str| -> Vec<f64> {
        fs::read_to_string(dir.path().join(name)).unwrap().lines().map(|l| l.parse().unwrap()).collect()
    };
    let (before, after) = (times("before"), times("after"));
    let all = rows(&dir.path().join("t.jsonl"));
    let zero = all[0]["start_unix_s"].as_f64().unwrap();
    let big: Vec<&Value> = all.iter().filter(|r| r["op"] == "write" && r["size"].as_f64() > Some(1000.0)).collect();
    let at = |r: &Value, key: &str| zero + r[key].as_f64().unwrap();
    // the clocks of both may differ by what setting the time does during the test: none
    for (b, a) in before.iter().zip(&after) {
        assert!(big.iter().any(|r| at(r, "start") < a + 1e-3 && at(r, "end") > b - 1e-3), "no sample of {b} to {a}");
    }
    let mut gaps: Vec<f64> = before.windows(2).map(|w| w[1] - w[0]).collect();
    gaps.sort_by(f64::total_cmp);
    let (least, median, most) = (gaps[0], gaps[gaps.len() / 2], gaps[gaps.len() - 1]);
    let dominant = &r["signals"][0]["period"]["dominant"];
    // on a busy machine the program itself may not be periodic
    if most < 1.1 * least {
        let period = dominant["period_s"].as_f64().unwrap_or_else(|| panic!("not periodic: {gaps:?}"));
        assert!((period / median - 1.0).abs() < 0.05, "{period} {gaps:?}");
    }
}

#[test]
fn the_exit_code_is_that_of_the_command_or_of_a_shell_that_cannot_start_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("plain"), "no program").unwrap();
    let code = |args: &[&str]| {
        let o = run(dir.path(), args);
        assert!(o.stdout.is_empty());
        (o.status.code().unwrap(), String::from_utf8(o.stderr).unwrap())
    };
    assert_eq!(code(&["--", "true"]).0, 0);
    assert_eq!(code(&["-q", "--", "sh", "-c", "exit 7"]).0, 7);
    assert_eq!(code(&["-q", "--", "sh", "-c", "kill -TERM $$"]).0, 128 + 15);
    assert_eq!(code(&["-q", "--", "sh", "-c", "kill -KILL $$"]).0, 128 + 9);
    let (missing, text) = code(&["--", "./no-such-command"]);
    assert!(missing == 127 && text.contains("./no-such-command") && text.contains("PATH"), "{text}");
    let (plain, text) = code(&["--", "./plain"]);
    assert!(plain == 126 && text.contains("executable"), "{text}");
    for usage in [&[][..], &["--rate", "5", "--", "true"], &["--pid", "1", "--", "true"], &["--pid", "0"]] {
        assert_eq!(code(usage).0, 2, "{usage:?}");
    }
    // an output that cannot be written is noticed before the command runs
    let (unwritable, text) = code(&["-o", "nowhere/t.jsonl", "--", "sh", "-c", "echo > started"]);
    assert!(unwritable == 5 && text.contains("nowhere/t.jsonl") && !dir.path().join("started").exists(), "{text}");
}

#[test]
fn standard_input_and_output_are_those_of_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = watch(dir.path(), &["--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
    let mut stdin = child.stdin.take().unwrap();
    let given = bytes.clone();
    let feeder = std::thread::spawn(move || stdin.write_all(&given).unwrap());
    let o = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    assert!(o.status.success() && o.stdout == bytes);
    let text = String::from_utf8(o.stderr).unwrap();
    assert!(text.contains("trace") && text.contains("samples") && !text.contains('\x1b'), "{text}");
}

#[test]
fn signals_reach_the_command() {
    let dir = tempfile::tempdir().unwrap();
    for (signal, code) in [("TERM", 5), ("USR1", 6), ("HUP", 7)] {
        let script = "
            trap 'exit 5' TERM; trap 'exit 6' USR1; trap 'exit 7' HUP
            echo ready; while :; do sleep 1 & wait; done";
        let mut child = watch(dir.path(), &["-q", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
}

#[test]
fn a_process_that_runs_is_watched_until_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let script = "head -c 5000 /dev/zero > old; echo; read x; head -c 100000 /dev/zero > new; read y";
    let mut program = Command::new("sh")
        .args(["-c", script])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let pid = program.id().to_string();
    let mut child =
        watch(dir.path(), &["--pid", &pid, "-o", "t.jsonl", "--json", "-"]).stdout(Stdio::piped()).spawn().unwrap();
    let file = dir.path().join("t.jsonl");
    wait_for(&file, &mut child, |rows| !rows.is_empty());
    let mut stdin = program.stdin.take().unwrap();
    stdin.write_all(b"go\n").unwrap();
    wait_for(&file, &mut child, |rows| written(rows) >= 100_000);
    drop(stdin);
    program.wait().unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let r: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(r["trace"]["bytes_written"], 100_000);
    assert_eq!(r["clock"]["kind"], "trace");

    // the number is free again
    let o = run(dir.path(), &["--pid", &pid]);
    let text = String::from_utf8(o.stderr).unwrap();
    assert!(o.status.code() == Some(3) && text.contains(&format!("no process {pid}")), "{text}");
}

#[test]
fn the_file_of_samples_has_the_same_answers() {
    let dir = tempfile::tempdir().unwrap();
    let script = "i=0; while [ $i -lt 9 ]; do head -c 70000 /dev/zero > x; sleep 0.1; i=$((i + 1)); done";
    for args in [&["--by-process"][..], &[]] {
        let more =
            ["-o", "t.jsonl", "--predictions", "p.jsonl", "--rate", "200", "--svg", "pictures", "--html", "p.html"];
        let r = report(dir.path(), &[args, &more].concat(), script);
        let iophase = |args: &[&str]| {
            let o = Command::new(env!("CARGO_BIN_EXE_iophase")).args(args).current_dir(dir.path()).output().unwrap();
            assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr));
            let text = String::from_utf8(o.stdout).unwrap();
            text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(iophase(&["analyze", "t.jsonl", "--no-patterns", "--json", "-"]), [r]);
        let stamped = |mut all: Vec<Value>| {
            all.iter_mut().for_each(|p| p["emitted_unix_s"] = Value::Null);
            all
        };
        let live = stamped(rows(&dir.path().join("p.jsonl")));
        assert!(live.len() > 3 && live[0]["schema"] == "iophase.prediction.v1", "{}", live.len());
        assert_eq!(stamped(iophase(&["predict", "--once", "t.jsonl"])), live);
        let page = fs::read_to_string(dir.path().join("p.html")).unwrap();
        assert!(page.contains("readings of counters"));
        assert!(fs::read_dir(dir.path().join("pictures")).unwrap().count() > 1);
        let processes = rows(&dir.path().join("t.jsonl")).iter().filter(|r| r["process"].is_number()).count();
        assert_eq!(processes > 0, !args.is_empty());
    }
}
