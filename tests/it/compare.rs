//! `iophase compare`: outputs and exit codes, and real runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use common::shared;

fn iophase(args: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    Command::new(env!("CARGO_BIN_EXE_iophase")).current_dir(root).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn json(before: &str, after: &str) -> Value {
    let o = iophase(&["compare", before, after, "--json", "-", "-qq"]);
    assert_eq!(o.status.code(), Some(0), "{}", text(&o.stderr));
    serde_json::from_slice(&o.stdout).unwrap()
}

/// A generated job whose bursts take this many seconds.
fn job(path: &Path, seed: u64, burst: &str) -> String {
    let (path, seed) = (path.display().to_string(), seed.to_string());
    let common = ["generate", "faulty", "-q", "--jitter", "0.05", "--burst", burst, "--seed", &seed, "-o", &path];
    let o = iophase(&common);
    assert!(o.status.success(), "{}", text(&o.stderr));
    path
}

#[test]
fn comparisons_match_their_schema() {
    let schema: Value = serde_json::from_slice(&iophase(&["schema", "comparison"]).stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for (a, b) in [
        ("data/stable.darshan", "data/stable.darshan"),
        ("data/stable.darshan", "data/change.darshan"),
        ("data/stable.darshan", "data/stable-heatmap.darshan"),
        ("data/stable.msgpack", "data/stable.strace"),
        ("data/two-periods.darshan", "data/aperiodic.darshan"),
    ] {
        let c = json(a, b);
        schema.validate(&c).unwrap_or_else(|e| panic!("{a} {b}: {e}\n{c}"));
        assert_eq!(c["schema"], "iophase.comparison.v1");
        for key in "schema tool before after verdict io_time reasons job periods bursts layers files patterns findings graph unchanged warnings".split(' ') {
            assert!(c.get(key).is_some(), "{key}");
        }
        for key in "what before after unit change low high p lost_s codes files".split(' ') {
            assert!(c["reasons"].as_array().unwrap().iter().all(|r| r.get(key).is_some()), "{key}: {c}");
        }
    }
}

#[test]
fn the_exit_code_says_whether_a_run_is_slower() {
    let dir = tempfile::tempdir().unwrap();
    let a = job(&dir.path().join("a.csv"), 1, "1");
    let b = job(&dir.path().join("b.csv"), 2, "1.3");
    let code = |args: &[&str]| iophase(&[&["compare", "-qq"], args].concat()).status.code().unwrap();
    assert_eq!(code(&[&a, &b]), 0);
    assert_eq!(code(&[&a, &b, "--fail-if", "slower>10%"]), 1);
    assert_eq!(code(&[&a, &b, "--fail-if", "slower>80%"]), 0);
    assert_eq!(code(&[&b, &a, "--fail-if", "slower"]), 0);
    for wrong in
        [&[&*a][..], &[&a, &b, "--fail-if", "faster"], &["--before", &a], &[&a, &b, "--before", &a, "--after", &b]]
    {
        assert_eq!(code(wrong), 2, "{wrong:?}");
    }
    let missing = dir.path().join("c.csv").display().to_string();
    assert_eq!(code(&[&a, &missing]), 3);
}

#[test]
fn patterns_of_names_and_pictures() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..3 {
        job(&dir.path().join(format!("old-{seed}.csv")), seed, "1");
        job(&dir.path().join(format!("new-{seed}.csv")), seed + 3, "2");
    }
    let path = |name: &str| dir.path().join(name).display().to_string();
    let o = iophase(&[
        "compare",
        "--before",
        &path("old-*.csv"),
        "--after",
        &path("new-?.csv"),
        "--svg",
        &path("out"),
        "--match",
        "time",
    ]);
    assert!(o.status.success(), "{}", text(&o.stderr));
    let first = text(&o.stdout).lines().next().unwrap().to_owned();
    assert!(first.starts_with("B is slower in I/O: ") && text(&o.stdout).contains("(90 %); samples"), "{first}");
    let svg = fs::read_to_string(dir.path().join("out/old-0.csv.new-0.csv.comparison.svg")).unwrap();
    assert!(svg.contains("B is slower") && svg.contains("Rank (largest change"));
    let none = iophase(&["compare", "--before", &path("x-*"), "--after", &path("new-*")]);
    assert_eq!(none.status.code(), Some(3), "{}", text(&none.stderr));
}

#[test]
fn real_runs() {
    let Some(corpus) = shared("corpus") else { return };
    let log = |run: &str, name: &str| corpus.join(run).join("darshan").join(name).display().to_string();
    let stable = log("a_stable", "darshan_dxt.darshan");
    // 8 ranks against 16 and 4, other bytes
    for other in ["b_jitter", "c_change"] {
        let c = json(&stable, &log(other, "darshan_dxt.darshan"));
        assert_eq!(c["verdict"], "different-work", "{other}");
        assert!(c["reasons"].as_array().unwrap().iter().any(|r| r["what"] == "ranks"), "{other}: {c}");
    }
    let c = json(&stable, &log("c_change", "darshan_dxt.darshan"));
    assert!(c["periods"].as_array().unwrap().iter().any(|p| p["what"] == "write period"), "{c}");
    for run in ["a_stable", "b_jitter", "c_change"] {
        let c = json(&log(run, "darshan_dxt.darshan"), &log(run, "darshan_nodxt.darshan"));
        assert_eq!(c["verdict"], "same", "{run}: {c}");
        assert!(c["reasons"].as_array().unwrap().is_empty(), "{run}: {c}");
        assert!(c["warnings"].as_array().unwrap().iter().any(|w| w["code"] == "different-depth"), "{run}");
        assert_eq!(c["job"][0]["what"], "data", "{run}");
    }
}
