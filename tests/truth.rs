//! The patterns found in synthetic traces are those that the workloads say they have, from every format with offsets.

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

/// Patterns of at least two records, by what they are; times are left to other tests.
fn patterns(of: &Value) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for p in of["patterns"].as_array().unwrap().iter().filter(|p| p["records"].as_u64() > Some(1)) {
        let fields = "op kind rank ranks file start_offset end_offset access_size records stride levels"
            .split(' ')
            .map(|f| &p[f]);
        *found.entry(serde_json::to_string(&fields.collect::<Vec<_>>()).unwrap()).or_default() += 1;
    }
    found
}

fn found_is_true(workload: &str, ending: &str) {
    let found = found_is_true_of(workload, ending);
    assert_eq!(found["coverage"]["records"], found["coverage"]["matched"], "{workload} as {ending}");
}

/// The same of workloads that have accesses in no pattern.
fn found_is_true_of(workload: &str, ending: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (trace, truth, found) = (path(&format!("t{ending}")), path("truth.json"), path("found.json"));
    let text = |p: &Path| p.display().to_string();
    let mut generate = vec!["generate"];
    generate.extend(workload.split(' '));
    let (t, u, f) = (text(&trace), text(&truth), text(&found));
    generate.extend(["-qq", "-o", &t, "--truth", &u]);
    iophase(&generate);
    iophase(&["patterns", "-qq", &t, "--json", &f]);
    let (truth, found) = (read(&truth), read(&found));
    assert!(!patterns(&truth).is_empty(), "{workload}: the workload has patterns");
    assert_eq!(patterns(&truth), patterns(&found), "{workload} as {ending}");
    found
}

#[test]
fn h5bench_writes() {
    for layout in ["CC", "CI", "IC", "II"] {
        for dims in ["4096", "64,32", "16,8,8"] {
            for ranks in [1, 3, 8, 64] {
                found_is_true(
                    &format!("h5bench-write --ranks {ranks} --pattern {layout} --dims {dims} --steps 3"),
                    ".csv",
                );
            }
        }
    }
}

#[test]
fn metadata_stress_exerciser_ior_and_checkpoints() {
    for (rows, columns) in [(1, 1), (1, 4), (4, 2), (8, 8)] {
        let grid = format!("--process-rows {rows} --process-columns {columns} --steps 3");
        found_is_true(&format!("h5bench-metadata {grid}"), ".csv");
    }
    let shapes = [
        "--elements 16 --grid 4",
        "--elements 8,8 --grid 2,2",
        "--elements 8,8 --grid 2,2 --file-block 2 --file-stride 3",
        "--elements 4,4,4 --grid 2,2,2",
        "--elements 8 --grid 2 --file-block 2 --file-stride 3",
        "--elements 4,4,4 --grid 2,2,2 --file-block 2 --file-stride 3",
        "--elements 4,4,4 --grid 4,4,2 --file-block 2 --file-stride 3 --sizes 2",
        "--elements 4,4,4,4 --grid 2,1,1,2 --file-block 2 --file-stride 3 --sizes 2",
        "--elements 8,8,8 --grid 1,1,2 --growth 1,2,1",
        "--elements 16 --grid 4 --repeats 2",
        "--elements 16 --grid 4 --repeats 1",
        "--elements 4 --grid 2 --file-block 2 --file-stride 3",
        "--elements 6 --grid 2 --file-block 2 --file-stride 3",
        "--elements 3 --grid 3 --file-stride 2",
        "--elements 5 --grid 4 --file-stride 3",
        "--elements 16 --grid 8 --aggregators 4",
        "--elements 8,8 --grid 2,2 --repeats 2",
        // Each dataset goes on where a part of another one has ended.
        "--elements 2,2,2,2 --grid 1,2,1,2 --growth 1,1,2,1 --attributes 5 --attribute-size 16 --header 2104 --repeats 1",
        // Attributes of the size of the elements right before them, over and over, in long lists.
        "--elements 4,4,4,4 --grid 1 --sizes 2 --repeats 3 --file-block 2 --file-stride 3 --attribute-size 8 --header 4096",
        "--elements 4,4,4,4 --grid 1 --growth 1,1,2,1 --repeats 3 --file-block 2 --file-stride 3 --attributes 5",
        "--elements 4,4,4 --grid 1 --growth 3 --sizes 3 --repeats 3 --file-stride 1,2,1 --attributes 1 --attribute-size 16 \
         --derived --header 0",
    ];
    for shape in shapes {
        found_is_true(&format!("h5bench-exerciser {shape}"), ".csv");
    }
    for ranks in [1, 3, 16, 64] {
        found_is_true(&format!("ior --ranks {ranks}"), ".csv");
        found_is_true(&format!("ior --ranks {ranks} --layout per-rank --segments 3"), ".csv");
        found_is_true(&format!("checkpoint --ranks {ranks}"), ".csv");
    }
}

#[test]
fn shuffled_samples_of_many_sizes() {
    let jobs = [
        // Runs of three that chance makes, and visits of places in no order.
        "--ranks 8 --epochs 3 --files 64 --samples 3 --sample-spread 0.1 --batch 1",
        "--ranks 1 --epochs 6 --files 32 --samples 5 --sample-spread 0.1 --batch 1",
        // Some samples of a file have the same size by chance.
        "--ranks 2 --epochs 10 --files 6 --samples 8 --sample-size 1000 --sample-spread 0.1 --batch 1",
        "--ranks 12 --epochs 6 --files 3 --samples 16 --sample-size 1000 --sample-spread 0.1 --batch 1",
        // Two of three places of a size come in turns by chance.
        "--ranks 1 --epochs 2 --files 64 --samples 32 --sample-size 1000 --sample-spread 0.05",
        "--ranks 2 --epochs 10 --files 24 --samples 16 --sample-size 1000 --sample-spread 0.02 --batch 1",
        // Of two or three samples, many follow each other.
        "--ranks 12 --epochs 10 --files 24 --samples 2 --sample-size 1000 --sample-spread 0.1",
        "--ranks 2 --epochs 2 --files 32 --samples 3 --sample-spread 0.05 --batch 3",
        // Few: they are what they look like.
        "--ranks 1 --epochs 1 --files 1 --samples 5 --sample-spread 0.5 --batch 1",
    ];
    for (job, seed) in jobs.iter().zip(1..) {
        found_is_true_of(&format!("dlio --shuffle samples {job} --seed {seed}"), ".csv");
    }
}

#[test]
fn one_and_two_steps() {
    // What a rank writes once or twice is a pattern of all ranks.
    for ranks in [3, 4, 8, 64] {
        for (layout, steps) in [("II", 1), ("II", 2), ("CC", 1), ("IC", 2)] {
            found_is_true(
                &format!("h5bench-write --ranks {ranks} --pattern {layout} --dims 4096 --steps {steps}"),
                ".csv",
            );
        }
    }
}

#[test]
fn long_random_orders_have_no_patterns() {
    // More accesses than are kept for the end, of several ranks.
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str| folder.path().join(name).display().to_string();
    let (trace, found) = (text("t.csv"), text("found.json"));
    let job =
        "ior --ranks 32 --segments 64 --transfer 16k --layout per-rank --order random --reorder 1 --seed 20008476";
    let generate = std::iter::once("generate").chain(job.split(' ')).chain(["-qq", "-o", &trace]);
    iophase(&generate.collect::<Vec<_>>());
    iophase(&["patterns", "-qq", &trace, "--json", &found]);
    assert!(patterns(&read(&folder.path().join("found.json"))).is_empty());
}

#[test]
fn every_format_with_offsets() {
    for ending in [".csv", ".jsonl", ".radar.txt", ".st"] {
        found_is_true("h5bench-write --ranks 4 --pattern II --dims 16,8 --steps 3", ending);
        found_is_true("ior --ranks 5", ending);
        found_is_true("h5bench-metadata --steps 3", ending);
    }
}
