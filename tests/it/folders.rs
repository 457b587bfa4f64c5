//! Folders of traces, tables and CSV on the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::shared;
use serde_json::Value;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// Runs the program and gives exit code, standard output and standard error.
fn iophase(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_iophase")).args(args).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A folder with links to a Darshan log and to a strace folder, a TMIO file, a text and an empty file.
#[cfg(unix)]
fn archive() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    fs::create_dir(path("deep")).unwrap();
    std::os::unix::fs::symlink(data("stable.darshan"), path("a.darshan")).unwrap();
    std::os::unix::fs::symlink(data("stable.strace"), path("deep/strace")).unwrap();
    std::os::unix::fs::symlink(root.path(), path("deep/loop")).unwrap();
    fs::copy(data("stable.msgpack"), path("deep/b.msgpack")).unwrap();
    fs::write(path("deep/notes.txt"), "nothing to see here\n").unwrap();
    fs::write(path("deep/empty"), "").unwrap();
    root
}

#[cfg(unix)]
#[test]
fn every_job_of_a_folder_is_a_row() {
    let root = archive();
    let folder = root.path().to_str().unwrap();
    let (code, out, err) = iophase(&["analyze", "-r", folder, "--table"]);
    let skipped = "skipped: 2 files in no known format, 1 link to a file or folder already searched\n";
    assert_eq!((code, err.as_str()), (0, skipped));
    let first: Vec<&str> = out.lines().map(|l| l.split_whitespace().next().unwrap()).collect();
    let name = |n: &str| format!("{folder}/{n}");
    let names = [name("a.darshan"), name("deep/b.msgpack"), name("deep/strace")];
    assert_eq!(first[0], "name");
    assert!(names.iter().all(|n| first.contains(&n.as_str())), "{out}");
    let near_two = |l: &str| l.contains(" 2.000 s") || l.contains(" 1.998 s");
    assert!(out.lines().skip(1).all(near_two), "{out}");
    let (_, _, err) = iophase(&["analyze", "-r", folder, "--table", "-v"]);
    assert!(err.contains("deep/notes.txt") && err.contains("deep/empty"), "{err}");
    for command in ["patterns", "classify", "info", "dfg"] {
        let (code, _, err) = iophase(&[command, "-r", folder, "-q"]);
        // TMIO has no offsets and no calls
        assert!(code == 0 || code == 4, "{command}: {err}");
    }
    assert_eq!(iophase(&["info", "-r", folder, "--json", "-"]).1.lines().count(), 3);
}

#[cfg(unix)]
#[test]
fn a_folder_of_links_is_read_and_several_jobs_need_r() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().to_str().unwrap();
    std::os::unix::fs::symlink(data("stable.darshan"), root.path().join("a.darshan")).unwrap();
    assert_eq!(iophase(&["analyze", folder]).0, 0);
    std::os::unix::fs::symlink(data("change.darshan"), root.path().join("b.darshan")).unwrap();
    let (code, _, err) = iophase(&["analyze", folder]);
    assert!(code == 3 && err.contains("2 traces: 2 darshan") && err.contains("-r"), "{err}");
    let (code, out, _) = iophase(&["analyze", "-r", folder]);
    let lines: Vec<&str> = out.lines().collect();
    let names: Vec<usize> = ["a.darshan", "b.darshan"]
        .map(|n| lines.iter().position(|l| l.ends_with(n)).unwrap_or_else(|| panic!("{out}")))
        .to_vec();
    assert!(code == 0 && names[0] == 0 && lines[names[1] - 1].is_empty(), "{out}");
}

/// Logs of every release of Darshan, the worker processes of a data loader, logs without segments, and an empty one.
#[test]
fn a_tree_of_logs_has_rows_for_every_trace() {
    let Some(tree) = shared("thirdparty/darshan") else { return };
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("rows.csv").display().to_string();
    let tree = tree.display().to_string();
    let (code, out, err) = iophase(&["analyze", "-r", &tree, "--csv", &csv, "--json", "-", "--no-patterns"]);
    assert!(code == 0 || code == 3, "{err}");
    let rows = fs::read_to_string(csv).unwrap();
    let rows: Vec<Vec<&str>> = rows.lines().skip(1).map(|l| l.split(',').collect()).collect();
    let mut answered = Vec::new();
    for report in out.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()) {
        let name = report["trace"]["path"].as_str().unwrap();
        for signal in report["signals"].as_array().unwrap() {
            let verdict = signal["period"]["verdict"].as_str().unwrap();
            answered.push((name.to_owned(), verdict.to_owned()));
            if report["quality"]["timing"] == "counter" {
                assert_eq!(verdict, "not-resolvable", "{name}");
            }
        }
    }
    let (failed, signals): (Vec<_>, Vec<_>) = rows
        .iter()
        .map(|r| (r[0].to_owned(), r[10].to_owned()))
        .partition(|r| ["nothing", "unreadable"].contains(&&*r.1));
    assert_eq!(signals, answered);
    assert!(answered.len() > 50 && answered.iter().any(|(_, v)| v == "not-resolvable"), "{}", answered.len());
    let processes = signals.iter().filter(|(name, _)| name.contains("dlio_logs"));
    assert!(processes.clone().count() > 0 && processes.clone().all(|(name, _)| name.ends_with("dlio_logs")));
    assert_eq!(failed.iter().any(|(_, why)| why == "unreadable"), code == 3, "{failed:?}");
}

#[test]
fn csv_has_the_digits_of_the_json() {
    let trace = data("stable.darshan").display().to_string();
    let (code, csv, _) = iophase(&["analyze", &trace, "--csv", "-"]);
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!((code, lines.len(), lines[2]), (0, 3, ""));
    let (_, json, _) = iophase(&["analyze", &trace, "--json", "-", "--no-patterns"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json["patterns"].is_null());
    let column = |name: &str| {
        let i = lines[0].split(',').position(|c| c == name).unwrap();
        lines[1].split(',').nth(i).unwrap().to_owned()
    };
    let dominant = &json["signals"][0]["period"]["dominant"];
    assert_eq!(column("period_s").parse::<f64>().unwrap(), dominant["period_s"].as_f64().unwrap());
    assert_eq!(column("confidence").parse::<f64>().unwrap(), dominant["confidence"].as_f64().unwrap());
    assert_eq!((column("name"), column("mode"), column("verdict")), (trace, "write".into(), "periodic".into()));
}

#[test]
fn json_can_be_cut_to_fields() {
    let trace = data("stable.darshan").display().to_string();
    let fields = |list: &str| iophase(&["analyze", &trace, "--json", "-", "--fields", list]);
    let (code, out, _) = fields("primary,signals.period.dominant.period_s");
    assert_eq!(code, 0);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json.as_object().unwrap().len(), 2);
    assert_eq!(json["signals"][0]["period"]["dominant"].as_object().unwrap().len(), 1);
    assert_eq!(fields("nonsense").0, 2);
}

#[test]
fn wrong_requests_are_named() {
    let trace = data("stable.darshan").display().to_string();
    for command in ["analyze", "patterns", "classify", "dfg"] {
        let (code, _, err) = iophase(&[command, &trace, "--from", "10", "--until", "5"]);
        assert!(code == 2 && err.contains("--until 5 is before --from 10"), "{command}: {err}");
    }
    let (code, _, err) = iophase(&["analyze", &trace, "-f", "-5"]);
    assert!(code == 2 && err.contains("a positive number of Hz"), "{err}");
    assert_eq!(iophase(&["analyze", &trace, "--table", "--json", "-"]).0, 2);
}

#[test]
fn reasons_of_an_unknown_format_need_v() {
    let root = tempfile::tempdir().unwrap();
    let unknown = root.path().join("notes");
    fs::write(&unknown, "nothing to see here\n").unwrap();
    let (code, _, err) = iophase(&["analyze", unknown.to_str().unwrap()]);
    assert_eq!((code, err.lines().count()), (3, 1), "{err}");
    let (_, _, err) = iophase(&["analyze", "-v", unknown.to_str().unwrap()]);
    assert!(err.lines().count() > 3 && err.contains("darshan: no magic number"), "{err}");
}

#[test]
fn conversion_says_where_it_went_and_keeps_its_input() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("x.csv").display().to_string();
    let (code, _, err) = iophase(&["convert", &data("stable.darshan").display().to_string(), "-o", &out]);
    assert!(code == 0 && err.contains("wrote 1,792 of 1,792 records"), "{err}");
    let (code, _, err) = iophase(&["convert", &out, "-o", &out]);
    assert!(code == 2 && err.contains("would replace an input of this run"), "{err}");
}
