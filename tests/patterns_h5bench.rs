//! Real h5bench runs: their patterns have the layout that the command line implies and explain nearly all accesses.
//!
//! Reads the folder that `IOPHASE_CORPUS` names (default `../shared`) and is skipped with a message if it is not there.

// A skipped test says so.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::Path;

use iophase::analysis::{ModeChoice, PatternOptions, PatternsOfTrace, patterns};
use iophase::formats::{self, ReadOptions, Source};
use iophase::pattern::{Kind, Level, Pattern};
use iophase::record::{Data, Op, Trace};
use iophase::signal::Selection;

/// The trace of a run, and its patterns, which give back every access.
fn run(name: &str) -> Option<(Trace, PatternsOfTrace, Vec<Pattern>)> {
    let root =
        std::env::var_os("IOPHASE_CORPUS").unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../shared").into());
    let path = Path::new(&root).join("corpus/h5bench").join(name);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    let read = ReadOptions::default();
    let trace = formats::read(&Source::open(&path, &read.limits).unwrap(), None, &read).unwrap();
    let options = PatternOptions { verify: true, ..PatternOptions::default() };
    let (report, found) = patterns(&trace, ModeChoice::Auto, &Selection::default(), &options).unwrap();
    Some((trace, report, found))
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
    let [mut told, mut made] = [BTreeMap::<u32, Vec<u64>>::new(), BTreeMap::<u32, Vec<u64>>::new()];
    for p in found.iter().filter(|p| ours(trace.files.name(p.file))) {
        for (i, (offset, bytes)) in (0u64..).zip(p.expand().into_iter().flatten()) {
            if p.op_of(i) == op && bytes == size && offset >= HEADER {
                told.entry(p.rank_of(i)).or_default().push(offset);
            }
        }
    }
    let Data::Requests(requests) = &trace.data else { panic!("{} has no requests", trace.path) };
    for r in (0..requests.len()).map(|i| requests.get(i)) {
        if r.op == op && r.size == size && r.offset >= HEADER && ours(trace.files.name(r.file)) {
            made.entry(r.rank).or_default().push(r.offset);
        }
    }
    told.values_mut().chain(made.values_mut()).for_each(|o| o.sort_unstable());
    [told, made]
}

/// Run, operation, bytes of an access, accesses of a rank, from rank 0 to each rank, bytes from one turn of rank 0 to the next in a
/// dataset.
type Case = (&'static str, Op, u64, usize, [u64; 4], u64);

#[test]
fn data_is_laid_out_as_the_command_line_says() {
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
            let [told, made] = places(&trace, &found, op, size);
            assert_eq!(told, made, "{recording}: some of the data is in no pattern");
            assert_eq!(told.len(), 4, "{recording}");
            for (rank, places) in &told {
                assert_eq!(places.len(), each, "{recording} rank {rank}");
                let shifted: Vec<u64> = told[&0].iter().map(|o| o + ranks[*rank as usize]).collect();
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
fn one_rank_writes_and_reads_the_datasets_of_the_exerciser() {
    // 2 x 2 ranks of 8 x 8 values of 8 bytes, doubled twice, each ten times.
    for recording in recordings("exerciser") {
        let Some((_, _, found)) = run(&recording) else { continue };
        for size in [2048, 8192, 32_768] {
            for op in [Op::Read, Op::Write] {
                let all: Vec<_> = found.iter().filter(|p| p.op == op && p.access_size() == Some(size)).collect();
                let [p] = all[..] else { panic!("{recording}: {} patterns of {size}", all.len()) };
                assert_eq!(
                    (p.rank, p.kind(), p.levels()),
                    (0, Kind::FixedStrided, &[Level { count: 10, stride: 0 }][..])
                );
            }
        }
    }
}

#[test]
fn nearly_all_accesses_are_in_patterns() {
    let names = "1d-CC 1d-CC-coll 1d-CC-periodic 1d-IC 1d-CI 1d-II 1d-read-full 1d-read-strided 1d-read-partial \
                 metadata-indep exerciser";
    for recording in names.split_whitespace().flat_map(recordings) {
        let Some((_, report, _)) = run(&recording) else { continue };
        let c = report.coverage;
        let (records, bytes) = (c.matched as f64 / c.records as f64, c.matched_bytes as f64 / c.bytes as f64);
        assert!(records >= 0.95 && bytes >= 0.98, "{recording}: {records:.3} of the accesses, {bytes:.3} of the bytes");
        assert!(report.patterns.iter().all(|p| p.records > 1), "{recording}");
    }
}

#[test]
fn collective_metadata_is_read_modified_and_written() {
    for recording in recordings("1d-CC-coll") {
        let Some((_, _, found)) = run(&recording) else { continue };
        let both: Vec<_> = found.iter().filter(|p| p.then() == Some(Op::Write)).collect();
        assert_eq!(both.iter().map(|p| p.records).sum::<u64>(), 18, "{recording}");
        assert!(both.iter().all(|p| p.levels() == [Level { count: 2, stride: 0 }]));
    }
}
