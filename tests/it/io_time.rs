//! The same words have the same value in every answer: time in I/O.

use common::{every, shared};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn answer(args: &[&str]) -> Value {
    let o = Command::new(env!("CARGO_BIN_EXE_iophase")).args(args).args(["--json", "-", "-q"]).output().unwrap();
    let text = String::from_utf8(o.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", String::from_utf8_lossy(&o.stderr)))
}

/// Logs of this repository, and some of those with known times.
fn logs() -> Vec<PathBuf> {
    let own = std::fs::read_dir("data").unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = own.filter(|p| p.extension().is_some_and(|e| e == "darshan")).collect();
    all.sort();
    if let Some(oracle) = shared("findings/io-time-oracle.json") {
        let oracle: Value = serde_json::from_str(&std::fs::read_to_string(oracle).unwrap()).unwrap();
        let known = oracle["logs"].as_object().unwrap().values().filter(|log| log["mean_s"].is_number());
        all.extend(known.step_by(every(20)).filter_map(|log| shared(log["name"].as_str().unwrap())));
    }
    all
}

/// Values that do not depend on which rows are kept.
fn times(io: &Value) -> Vec<(&str, &Value)> {
    let keys = "run_s complete why layer mean_s slowest_s share waiting_s layers";
    keys.split(' ').map(|key| (key, &io[key])).collect()
}

#[test]
fn time_in_io_is_the_same_in_every_answer() {
    let logs = logs();
    assert!(logs.len() > 3);
    for path in &logs {
        let name = path.to_str().unwrap();
        let (info, found) = (answer(&["info", name]), answer(&["findings", name]));
        assert!(found["io"]["mean_s"].is_number(), "{name}: {}", found["io"]);
        assert_eq!(times(&info["io"]), times(&found["io"]), "{name}");
        if found["io"]["mean_s"] == 0.0 || found["io"]["complete"] == false {
            continue; // nothing to compare, or nothing that a verdict could rest on
        }
        let compared = answer(&["compare", name, name]);
        assert_eq!(compared["io_time"]["before_s"], found["io"]["io_s"], "{name}");
        assert_eq!(compared["io_time"]["run_s"][1], found["io"]["run_s"], "{name}");
    }
}

#[test]
fn a_page_has_the_times_of_findings() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let log = Path::new("data/stable.darshan");
    let program = || Command::new(env!("CARGO_BIN_EXE_iophase"));
    assert!(program().args(["report", "-q", "-o"]).args([&page, log]).status().unwrap().success());
    let extracted = program().args(["report", "--extract"]).arg(&page).output().unwrap();
    let data: Value = serde_json::from_slice(&extracted.stdout).unwrap();
    let run = &data["runs"][0];
    let found = answer(&["findings", "data/stable.darshan"]);
    assert_eq!(run["findings"]["io"], found["io"]);
    assert_eq!(run["info"]["io"], found["io"]);
}
