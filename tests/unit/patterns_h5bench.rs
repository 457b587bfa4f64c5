//! Real runs of IOR and h5bench: their patterns are lossless and explain nearly all accesses, and those of h5bench have the layout
//! that the command line implies.
//!
//! Reads the folder that `IOPHASE_CORPUS` names (default `../shared`) and is skipped with a message if it is not there.

// A skipped test says so.
#![allow(clippy::print_stdout)]

use common::shared;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use iophase::analysis::Selection;
use iophase::analysis::{ModeChoice, PatternOptions, PatternsOfTrace, patterns};
use iophase::formats::{self, ReadOptions, Source};
use iophase::pattern::Pattern;
use iophase::record::{Data, FileId, Op, Trace};

/// A file or folder of the corpus.
fn corpus(name: &str) -> Option<PathBuf> {
    shared(&format!("corpus/{name}"))
}

/// The trace of a run of h5bench, and its patterns, which give back every access.
fn run(name: &str) -> Option<(Trace, PatternsOfTrace, Vec<Pattern>)> {
    Some(patterns_of(&corpus(&format!("h5bench/{name}"))?))
}

fn patterns_of(path: &Path) -> (Trace, PatternsOfTrace, Vec<Pattern>) {
    let read = ReadOptions::default();
    let trace = formats::read(&Source::open(path, &read.limits).unwrap(), None, &read).unwrap();
    let options = PatternOptions::default().verify(true);
    let mut report = patterns(&trace, ModeChoice::Auto, &Selection::default(), &options).unwrap();
    let found = std::mem::take(&mut report.found);
    (trace, report, found)
}

/// The formats in which a run was recorded.
fn recordings(name: &str) -> [String; 2] {
    [format!("darshan/{name}.darshan_dxt.darshan"), format!("strace/{name}.strace")]
}

/// The first dataset begins after this; what comes before is metadata.
const HEADER: u64 = 2048;

/// Offsets of all accesses of one operation and size to the datasets of the benchmark, by rank and in order of the offset: those of
/// the patterns and those of the trace.
fn places(trace: &Trace, found: &[Pattern], op: Op, size: u64) -> [BTreeMap<u32, Vec<u64>>; 2] {
    let ours = |name: &str| name.ends_with("test.h5") || name.contains("hdf5TestFile");
    let [mut in_patterns, mut in_trace] = [BTreeMap::<u32, Vec<u64>>::new(), BTreeMap::<u32, Vec<u64>>::new()];
    for p in found.iter().filter(|p| ours(trace.files.name(p.file))) {
        for (i, (offset, bytes)) in (0u64..).zip(p.expand().into_iter().flatten()) {
            if p.op_of(i) == op && bytes == size && offset >= HEADER {
                in_patterns.entry(p.rank_of(i)).or_default().push(offset);
            }
        }
    }
    let Data::Requests(requests) = &trace.data else { panic!("{} has no requests", trace.path) };
    for r in (0..requests.len()).map(|i| requests.get(i)) {
        if r.op == op && r.size == size && r.offset >= HEADER && ours(trace.files.name(r.file)) {
            in_trace.entry(r.rank).or_default().push(r.offset);
        }
    }
    in_patterns.values_mut().chain(in_trace.values_mut()).for_each(|o| o.sort_unstable());
    [in_patterns, in_trace]
}

/// Run, operation, bytes of an access, accesses of a rank, from rank 0 to each rank, bytes from one turn of rank 0 to the next in a
/// dataset.
type Case = (&'static str, Op, u64, usize, [u64; 4], u64);

#[test]
fn layouts_follow_the_command_line() {
    const K: u64 = 1024;
    let cases: [Case; 11] = [
        ("1d-CC", Op::Write, 256 * K, 4 * 8, [0, 1, 2, 3].map(|r| r * 256 * K), 1024 * K),
        ("1d-CC-coll", Op::Write, 256 * K, 4 * 8, [0, 1, 2, 3].map(|r| r * 256 * K), 1024 * K),
        ("1d-CC-periodic", Op::Write, 256 * K, 12 * 8, [0, 1, 2, 3].map(|r| r * 256 * K), 1024 * K),
        ("1d-IC", Op::Write, 32 * K, 4 * 8, [0, 1, 2, 3].map(|r| r * 32 * K), 128 * K),
        ("1d-CI", Op::Write, 1024 * K, 4 * 8 * 2, [0, 1, 2, 3].map(|r| r * 2048 * K), 0),
        ("1d-II", Op::Write, 2048 * K, 4, [0, 1, 2, 3].map(|r| r * 2048 * K), 8192 * K),
        ("1d-read-full", Op::Read, 256 * K, 4 * 8, [0, 1, 2, 3].map(|r| r * 256 * K), 1024 * K),
        ("1d-read-strided", Op::Read, 256 * K, 4 * 8, [0, 1, 2, 3].map(|r| r * 256 * K), 1024 * K),
        ("1d-read-partial", Op::Read, 64 * K, 4 * 8, [0, 1, 2, 3].map(|r| r * 256 * K), 1024 * K),
        // 250 datasets of 4 x 4 values of 8 bytes, of which each rank has 2 x 2: two rows.
        ("metadata-indep", Op::Write, 16, 500, [0, 16, 64, 80], 32),
        ("metadata-indep", Op::Read, 16, 500, [0, 16, 64, 80], 32),
    ];
    for (name, op, size, each, ranks, pitch) in cases {
        for recording in recordings(name) {
            let Some((trace, _, found)) = run(&recording) else { continue };
            let [in_patterns, in_trace] = places(&trace, &found, op, size);
            assert_eq!(in_patterns, in_trace, "{recording}: some of the data is in no pattern");
            assert_eq!(in_patterns.len(), 4, "{recording}");
            for (rank, places) in &in_patterns {
                assert_eq!(places.len(), each, "{recording} rank {rank}");
                let shifted: Vec<u64> = in_patterns[&0].iter().map(|o| o + ranks[*rank as usize]).collect();
                assert_eq!(*places, shifted, "{recording} rank {rank}");
            }
            // Steps of the data are those of a dataset, larger ones where metadata lies between, or go over the ranks.
            let data = found.iter().filter(|p| p.op == op && p.access_size() == Some(size));
            for p in data.filter(|_| pitch > 0) {
                let stride = p.levels()[0].stride.unsigned_abs();
                let over_ranks = p.ranks().is_some() && stride == ranks[1];
                assert!(over_ranks || stride >= pitch, "{recording}: {:?} {:?}", p.levels(), p.ranks());
            }
        }
    }
}

#[test]
fn datasets_of_the_exerciser_are_accessed_by_one_rank() {
    // 2 x 2 ranks of 8 x 8 values of 8 bytes, doubled twice, each ten times at one place.
    for recording in recordings("exerciser") {
        let Some((trace, _, found)) = run(&recording) else { continue };
        for size in [2048, 8192, 32_768] {
            for op in [Op::Read, Op::Write] {
                let [in_patterns, in_trace] = places(&trace, &found, op, size);
                assert_eq!(in_patterns, in_trace, "{recording}: some of the data is in no pattern");
                let one_place: BTreeMap<u32, Vec<u64>> = [(0, vec![in_patterns[&0][0]; 10])].into();
                assert_eq!(in_patterns, one_place, "{recording}: {op:?} of {size}");
                let of_data = |p: &&Pattern| (p.op == op || p.then() == Some(op)) && p.access_size() == Some(size);
                let patterns = found.iter().filter(of_data).count();
                assert_eq!(patterns, 1, "{recording}: {op:?} of {size}");
            }
        }
    }
}

/// All traces of these folders of the corpus with this ending, without those of random orders.
fn regular_traces(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for run in ["ior", "h5bench", "p_patterns"] {
        let Some(folder) = corpus(&format!("{run}/{folder}")) else { continue };
        all.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    all.retain(|path| name(path).ends_with(ending) && !name(path).contains("random"));
    all.sort();
    all.into_iter().step_by(super::every(3)).collect()
}

#[test]
fn nearly_all_accesses_are_in_patterns() {
    let mut below = Vec::new();
    for (folder, ending, in_sum) in [("darshan", ".darshan_dxt.darshan", 0.985), ("strace", ".strace", 0.975)] {
        let (mut records, mut matched) = (0, 0);
        for path in regular_traces(folder, ending) {
            let (_, report, _) = patterns_of(&path);
            let c = report.coverage;
            (records, matched) = (records + c.records, matched + c.matched);
            let (accesses, bytes) = (c.matched as f64 / c.records as f64, c.matched_bytes as f64 / c.bytes as f64);
            let text = format!("{}: {accesses:.4} of {} accesses, {bytes:.4} of the bytes", path.display(), c.records);
            println!("{text}");
            if c.records >= 500 && (accesses < 0.94 || bytes < 0.95) {
                below.push(text);
            }
            assert!(report.patterns.iter().all(|p| p.records > 1), "{}", path.display());
            assert!(
                report.patterns.iter().all(|p| p.period.is_some() != p.period_reason.is_some()),
                "{}",
                path.display()
            );
        }
        let text = format!("{folder}: {:.4} of {records} accesses", matched as f64 / records as f64);
        println!("{text}");
        if records > 0 && (matched as f64) < in_sum * records as f64 {
            below.push(text);
        }
    }
    assert!(below.is_empty(), "{}", below.join("\n"));
}

/// Not those of IOR's own random order: it is the same one in each segment, so that each place is gone through at a stride.
#[test]
fn random_orders_of_real_runs_have_few_patterns() {
    for (name, file) in [
        ("p_patterns/darshan/segrandom.darshan_dxt.darshan", "ckpt.dat"),
        ("p_patterns/darshan/fpprandom.darshan_dxt.darshan", "ckpt"),
        ("p_patterns/strace/segrandom.strace", "ckpt.dat"),
        ("p_patterns/strace/fpprandom.strace", "ckpt"),
    ] {
        let Some(path) = corpus(name) else { continue };
        let (trace, _, found) = patterns_of(&path);
        let Data::Requests(requests) = &trace.data else { panic!("{name} has no requests") };
        let ours = |f: FileId| trace.files.name(f).contains(file);
        let all = requests.iter().filter(|r| r.op.moves_bytes() && ours(r.file)).count();
        let matched: u64 = found.iter().filter(|p| ours(p.file)).map(|p| p.records).sum();
        println!("{name}: {matched} of {all} random accesses are in patterns");
        assert!(all > 0 && matched * 50 <= all as u64, "{name}: {matched} of {all}");
    }
}
