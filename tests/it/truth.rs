//! Jobs with one loop nest for each stream of accesses: the patterns found, split by rank, are the ones stated, from every
//! format with offsets.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn iophase(arguments: &[&str]) {
    let o = Command::new(env!("CARGO_BIN_EXE_iophase")).args(arguments).output().unwrap();
    assert!(o.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&o.stderr));
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A pattern of one rank and one operation: operation, rank, file, offset, size and loops.
type Stream = (String, u64, String, i64, u64, Vec<(u64, i64)>);

/// The patterns of at least two records as multisets. Those of several ranks or of two operations are split.
fn streams(of: &Value) -> BTreeMap<Stream, usize> {
    let mut streams = BTreeMap::new();
    for p in of["patterns"].as_array().unwrap().iter().filter(|p| p["records"].as_u64() > Some(1)) {
        let text = |v: &Value| v.as_str().unwrap().to_owned();
        let mut loops: Vec<(u64, i64)> = p["levels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|l| (l["count"].as_u64().unwrap(), l["stride"].as_i64().unwrap()))
            .collect();
        let mut ops = vec![text(&p["op"])];
        if let Some(then) = p["then"].as_str() {
            assert_eq!(loops.remove(0), (2, 0), "{p}");
            ops.push(then.to_owned());
        }
        let (rank, start) = (p["rank"].as_u64().unwrap(), p["start_offset"].as_i64().unwrap());
        let (step, (ranks, between)) = match p["ranks"]["step"].as_u64() {
            Some(step) => (step, loops.pop().unwrap()),
            None => (0, (1, 0)),
        };
        let size = p["access_size"].as_u64().unwrap();
        for (k, op) in (0..ranks).flat_map(|k| ops.iter().map(move |op| (k, op))) {
            let offset = start + between * k as i64;
            let stream = (op.clone(), rank + step * k, text(&p["file"]), offset, size, loops.clone());
            *streams.entry(stream).or_default() += 1;
        }
    }
    streams
}

/// Writes the trace of a workload with this ending, and compares the patterns found in it with those stated.
fn found_is_stated(workload: &str, ending: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (trace, truth, found) = (path(&format!("t{ending}")), path("truth.json"), path("found.json"));
    let text = |p: &Path| p.display().to_string();
    let (t, u, f) = (text(&trace), text(&truth), text(&found));
    let generate = ["generate"].into_iter().chain(workload.split(' ')).chain(["-qq", "-o", &t, "--truth", &u]);
    iophase(&generate.collect::<Vec<_>>());
    iophase(&["patterns", "-qq", &t, "--json", &f]);
    let (truth, found) = (read(&truth), read(&found));
    assert!(!streams(&truth).is_empty(), "{workload}: the workload states patterns");
    assert_eq!(streams(&truth), streams(&found), "{workload} as {ending}");
    assert_eq!(found["coverage"]["records"], found["coverage"]["matched"], "{workload} as {ending}");
}

/// Ranks and steps are large enough for every loop to be seen.
const JOBS: &[&str] = &[
    "h5bench-write --ranks 4 --pattern CC --dims 4096 --steps 3",
    "h5bench-write --ranks 8 --pattern CC --dims 16,8,8 --steps 5",
    "h5bench-write --ranks 1 --pattern CC --dims 64,32 --steps 4",
    "h5bench-write --ranks 4 --pattern CI --steps 3",
    "h5bench-write --ranks 8 --pattern CI --dims 1024 --members direct --steps 4",
    "ior --ranks 1",
    "ior --ranks 5",
    "ior --ranks 64 --segments 8",
    "ior --ranks 6 --reorder 1 --repetitions 3",
    "checkpoint --ranks 4 --layout per-rank",
    "checkpoint --ranks 7 --layout per-rank --place append",
    "checkpoint --ranks 3 --layout per-rank --place overwrite --transfer 4MiB",
];

#[test]
fn found_patterns_of_regular_jobs_are_those_stated() {
    JOBS.iter().for_each(|job| found_is_stated(job, ".csv"));
}

#[test]
fn every_format_with_offsets_keeps_the_patterns() {
    for ending in [".jsonl", ".st"] {
        JOBS.iter().step_by(3).for_each(|job| found_is_stated(job, ending));
    }
}
