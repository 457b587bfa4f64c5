//! `iophase dfg`: against graphs of the same logs by another reader, outputs and exit codes.
//!
//! The logs of programs are shared data outside the crate: `IOPHASE_CORPUS`, by default `../shared` beside it. Without it those
//! tests say so and pass.

use common::{HARD, shared};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn iophase(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iophase")).args(args).output().unwrap()
}

fn json_of(args: &[&str]) -> Value {
    let o = iophase(args);
    assert!(o.status.success(), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
    serde_json::from_slice(&o.stdout).unwrap()
}

/// Every node, statistic, edge and colour of the logs of `ls` and `ls -l`, which another reader and a process-mining library
/// have worked out.
#[test]
fn graphs_of_ls_equal_those_of_another_reader() {
    let Some(corpus) = shared("corpus") else { return };
    let folder = corpus.join("dfg");
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    // There an activity is written `call path`.
    let name = |v: &Value| v.as_str().unwrap().replace(' ', ":");
    let mut compared = 0;
    for config in expected["configs"].as_array().unwrap() {
        let (events, by) = (config["events"].as_str().unwrap(), config["case_by"].as_str().unwrap());
        for (set, want) in config["sets"].as_object().unwrap() {
            let files: Vec<String> = expected["logs"]
                .as_object()
                .unwrap()
                .keys()
                .filter(|f| set.split('+').any(|s| f.starts_with(&format!("{s}_"))))
                .map(|f| folder.join(format!("{f}.st")).display().to_string())
                .collect();
            let mut args = vec!["dfg", "--json", "-", "--all-files", "--events", events, "--by", by];
            if set == "a+b" {
                args.extend(["--green", "a", "--red", "b"]);
            }
            args.extend(files.iter().map(String::as_str));
            let got = json_of(&args);
            let at = format!("{events} {by} {set}");
            assert_eq!(got["cases"].as_array().unwrap().len() as u64, want["n_cases"].as_u64().unwrap(), "{at}");
            assert_eq!(got["events"], want["n_events"], "{at}");
            nodes_are(&got, want, &name, &at);
            let edges = |v: &Value, from: &str, to: &str| -> BTreeMap<(String, String), u64> {
                let edge = |e: &Value| ((name(&e[from]), name(&e[to])), e["count"].as_u64().unwrap());
                v["edges"].as_array().unwrap().iter().map(edge).collect()
            };
            assert_eq!(edges(&got, "from", "to"), edges(want, "source", "target"), "{at}");
            if set == "a+b" {
                colors_are(&got, &config["partition_a_vs_b"], &name, &at);
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
}

fn nodes_are(got: &Value, want: &Value, name: &impl Fn(&Value) -> String, at: &str) {
    let want: BTreeMap<String, &Value> =
        want["nodes"].as_array().unwrap().iter().map(|n| (name(&n["activity"]), n)).collect();
    let nodes = got["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), want.len(), "{at}");
    for n in nodes {
        let w = want[n["activity"].as_str().unwrap()];
        for (ours, theirs) in [
            ("events", "count"),
            ("bytes", "bytes"),
            ("rate_events", "n_rate_events"),
            ("max_concurrency", "max_concurrency"),
        ] {
            assert_eq!(n[ours], w[theirs], "{at}: {ours} of {n}");
        }
        let timed = n["events"].as_u64().unwrap() - n["untimed_events"].as_u64().unwrap();
        assert_eq!(timed, w["n_with_duration"].as_u64().unwrap(), "{at}: {n}");
        assert_eq!((n["duration_s"].as_f64().unwrap() * 1e9).round(), w["duration_ns"].as_f64().unwrap(), "{at}: {n}");
        for (ours, theirs) in
            [("relative_duration", "relative_duration"), ("data_rate_bytes_per_s", "mean_rate_bytes_per_s")]
        {
            match (n[ours].as_f64(), w[theirs].as_f64()) {
                (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-12 * b.abs(), "{at}: {ours} {a} {b}"),
                (a, b) => assert_eq!(a, b, "{at}: {ours} of {n}"),
            }
        }
    }
}

fn colors_are(got: &Value, want: &Value, name: &impl Fn(&Value) -> String, at: &str) {
    for (color, key) in [("green", "green"), ("red", "red"), ("none", "both")] {
        let of = |list: &str| got[list].as_array().unwrap().iter().filter(|x| x["color"] == color).cloned();
        let nodes: BTreeSet<String> = of("nodes").map(|n| name(&n["activity"])).collect();
        let edges: BTreeSet<(String, String)> = of("edges").map(|e| (name(&e["from"]), name(&e["to"]))).collect();
        let list = |kind: &str| want[format!("{key}_{kind}")].as_array().unwrap().clone();
        assert_eq!(nodes, list("nodes").iter().map(name).collect(), "{at}: {color}");
        assert_eq!(edges, list("edges").iter().map(|e| (name(&e[0]), name(&e[1]))).collect(), "{at}: {color}");
    }
}

/// Two runs of IOR on the same mapping of their output: what is theirs is called `OUT`.
fn ior(corpus: &Path, green: &str, red: &str) -> Value {
    let folder = |run: &str| corpus.join(format!("ior/strace/{run}.strace")).display().to_string();
    let alias = |run: &str| format!("/scratch/run/ior.{run}.strace=OUT");
    let (g, r, ga, ra) = (folder(green), folder(red), alias(green), alias(red));
    json_of(&[
        "dfg",
        &g,
        &r,
        "--green",
        &g,
        "--red",
        &r,
        "--alias",
        &ga,
        "--alias",
        &ra,
        "--match",
        "^OUT",
        "--path-levels",
        "1",
        "--json",
        "-",
    ])
}

fn events_of(report: &Value, activity: &str) -> [u64; 2] {
    let all = report["comparison"]["activities"].as_array().unwrap();
    let a = all.iter().find(|a| a["activity"] == activity);
    ["green", "red"].map(|g| a.and_then(|a| a[g]["events"].as_u64()).unwrap_or(0))
}

/// Section V-B: MPI-IO reads and writes at offsets, so that nearly all seeks are gone.
#[test]
fn mpi_io_makes_fewer_seeks_than_posix() {
    let Some(corpus) = shared("corpus") else { return };
    let r = ior(&corpus, "ssf-mpiio", "ssf-posix");
    // 8 processes, 48 transfers each way.
    assert_eq!(events_of(&r, "pwrite64:OUT"), [384, 0]);
    assert_eq!(events_of(&r, "pread64:OUT"), [384, 0]);
    assert_eq!(events_of(&r, "write:OUT"), [0, 384]);
    assert_eq!(events_of(&r, "read:OUT"), [0, 384]);
    let [with, without] = events_of(&r, "lseek:OUT");
    assert!(with * 100 < without, "{with} {without}");
    let only = |group: &str| r["comparison"][group]["activities"].clone();
    assert_eq!(only("only_green"), serde_json::json!(["pread64:OUT", "pwrite64:OUT"]));
    assert_eq!(only("only_red"), serde_json::json!(["read:OUT", "write:OUT"]));
    let color = |from: &str, to: &str| {
        r["edges"].as_array().unwrap().iter().find(|e| e["from"] == from && e["to"] == to).unwrap()["color"].clone()
    };
    assert_eq!(color("lseek:OUT", "write:OUT"), "red");
    assert_eq!(color("pwrite64:OUT", "pwrite64:OUT"), "green");
}

/// The loader looks for libraries in the working folder, too: those calls are on system files, not on the output.
#[test]
fn lookups_of_libraries_are_left_out() {
    let Some(corpus) = shared("corpus") else { return };
    let r = ior(&corpus, "ssf-posix", "fpp-posix");
    assert_eq!(events_of(&r, "write:OUT"), [384, 384]);
    // 8 processes open the output to write and to read, and look for a configuration file once.
    assert_eq!(events_of(&r, "openat:OUT"), [24, 24]);
    let folder = corpus.join("ior/strace/ssf-posix.strace").display().to_string();
    let opens = |more: &[&str]| {
        let map = ["dfg", &folder, "--map", "{call}", "--match", "/ior.ssf-posix", "--calls", "openat", "--json", "-"];
        json_of(&[&map[..], more].concat())["events"].as_u64().unwrap()
    };
    assert_eq!((opens(&[]), opens(&["--all-files"])), (24, 552));
}

#[test]
fn darshan_ranks_are_cases() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/stable.darshan").display().to_string();
    let r = json_of(&["dfg", &file, "--map", "{call}:{ext}", "--json", "-"]);
    assert_eq!(r["cases"].as_array().unwrap().len(), 8);
    // 14 bursts of 16 writes of 64 KiB a rank, as `info` says.
    assert_eq!(r["nodes"][0]["activity"], "write:dat");
    assert_eq!(r["nodes"][0]["events"], 1792);
    assert_eq!(r["edges"].as_array().unwrap().iter().map(|e| e["count"].as_u64().unwrap()).sum::<u64>(), 1792 + 8);
    let phases = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/change.json").display().to_string();
    assert_eq!(iophase(&["dfg", &phases]).status.code(), Some(4));
}

#[test]
fn outputs_are_complete_and_errors_have_their_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("a_h_1.st"), HARD).unwrap();
    std::fs::write(path("b_h_2.st"), HARD.replace("fsync", "fdatasync")).unwrap();
    let (a, b, svg, dot, bars) = (path("a_h_1.st"), path("b_h_2.st"), path("g.svg"), path("g.dot"), path("t.svg"));
    let o = iophase(&["dfg", &a, &b, "--all-files", "--green", "a", "--svg", &svg, "--dot", &dot]);
    assert_eq!(o.status.code(), Some(0), "{}", String::from_utf8_lossy(&o.stderr));
    let text = String::from_utf8(o.stdout).unwrap();
    assert!(text.contains("Only green: 1 activity,") && text.contains("fdatasync"), "{text}");
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"));
    assert!(svg.contains("a (1) = &quot;2&quot;.dat") && svg.matches("<circle").count() == 1);
    let dot = std::fs::read_to_string(dot).unwrap();
    assert!(dot.contains(r#""read:pipe" -> "write:TCP" [label="2""#), "{dot}");
    let timeline = ["dfg", &a, &b, "--all-files", "--timeline", "read:pipe", "--svg", &bars, "-q"];
    assert_eq!(iophase(&timeline).status.code(), Some(0));
    assert!(std::fs::read_to_string(bars).unwrap().contains("read:pipe: 4 events in 2 cases"));
    for (args, code) in [
        (&["dfg", &a, "--match", "nothing"][..], 4),
        (&["dfg", &a, "--timeline", "nothing", "--svg", &path("x.svg")], 4),
        (&["dfg", &a, "--map", "{nothing}"], 2),
        (&["dfg", &a, "--color", "partition"], 2),
        (&["dfg", &a, &b, "--green", "*", "--red", "b"], 2),
        (&["dfg", &a, "--green", "nothing", "--red", "a"], 2),
        (&["dfg", &a, "--svg", "/nonexistent/x.svg"], 5),
        (&["dfg", &a, &a, "--save-log", &path("twice.csv")], 5),
        (&["dfg", &a, &path("missing"), "-q"], 3),
    ] {
        assert_eq!(iophase(args).status.code(), Some(code), "{args:?}");
    }
    let r = iophase(&["dfg", &path("missing"), &a, "--json", "-"]);
    let r: Value = serde_json::from_slice(&r.stdout).unwrap();
    assert_eq!(r["cases"].as_array().unwrap().len(), 1, "one bad input does not stop the others");
}
