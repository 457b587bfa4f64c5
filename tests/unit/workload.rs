//! Synthetic workloads: the truth agrees with the rows, and the rows with those of real programs.

#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use common::shared;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::Path;

use super::score;
use iophase::analysis::{self, Options};
use iophase::formats::write::{WRITERS, write};
use iophase::formats::{ReadOptions, Source, read};
use iophase::internals::workload::{ALL, PatternKind, Run, TruePattern, Values, find, run};
use iophase::record::{Data, Op, Request, Row, Rows, Trace};

/// A workload with these parameters, as on the command line: `name value ...`, flags with `true`.
fn make(name: &str, given: &str, seed: u64) -> Run {
    let workload = find(name).unwrap();
    let words: Vec<&str> = given.split_whitespace().collect();
    let pairs: Vec<(&str, &str)> = words.chunks(2).map(|w| (w[0], w[1])).collect();
    run(workload, &Values::of(workload.parameters(), &pairs).unwrap(), seed)
        .unwrap_or_else(|e| panic!("{name} {given}: {e}"))
}

fn refused(name: &str, given: &str) -> bool {
    let workload = find(name).unwrap();
    let words: Vec<&str> = given.split_whitespace().collect();
    let pairs: Vec<(&str, &str)> = words.chunks(2).map(|w| (w[0], w[1])).collect();
    let result = Values::of(workload.parameters(), &pairs).and_then(|v| run(workload, &v, 0));
    result.err().is_some_and(|e| e.exit_code() == 2)
}

fn rows(run: &Run) -> Vec<Request> {
    let mut rows = Vec::new();
    run.visit(&mut |row| {
        let Row::Request(r) = row else { panic!("no request") };
        rows.push(r);
        Ok(())
    })
    .unwrap();
    rows
}

/// Every workload in many shapes.
const CASES: &[(&str, &str)] = &[
    ("checkpoint", ""),
    ("checkpoint", "place append"),
    ("checkpoint", "place overwrite layout per-rank"),
    ("checkpoint", "place append layout per-rank ranks 3"),
    ("checkpoint", "place append ranks 1"),
    ("checkpoint", "size 1MiB transfer 1MiB place append missed 0.3"),
    ("checkpoint", "size 1MiB transfer 1MiB"),
    ("checkpoint", "jitter 0.1 noise 0.05 desync 0.2 place overwrite"),
    ("checkpoint", "jitter 0.1 jitter-kind grid drift 0.01 missed 0.2"),
    ("checkpoint", "change-after 8 change-period 17 place append"),
    ("checkpoint", "second-period 2.5 noise 0.02 checkpoints 7"),
    ("checkpoint", "checkpoints 1"),
    ("ior", ""),
    ("ior", "ranks 1"),
    ("ior", "segments 1 repetitions 5"),
    ("ior", "layout per-rank reorder 3 repetitions 2"),
    ("ior", "block 64k segments 48"),
    ("ior", "repetitions 4 new-files true access write"),
    ("ior", "order random reorder 1"),
    ("ior", "order random layout per-rank access read repetitions 2"),
    ("faulty", ""),
    ("faulty", "fault small-writes"),
    ("faulty", "fault shared-stripes ranks 5"),
    ("dlio", ""),
    ("dlio", "shuffle files"),
    ("dlio", "shuffle none"),
    ("dlio", "shuffle files sample-spread 0.5 checkpoint-every 2"),
    ("dlio", "shuffle none sample-spread 0.2 batch 1"),
    ("dlio", "shuffle samples sample-spread 0.3 checkpoint-every 0"),
    ("dlio", "shuffle none samples 1 files 64 checkpoint-every 4"),
    ("h5bench-write", ""),
    ("h5bench-write", "pattern II dims 16,16,16"),
    ("h5bench-write", "pattern CI dims 1024 members direct"),
    ("h5bench-write", "pattern CI"),
    ("h5bench-write", "pattern CI dims 1000 steps 1"),
    ("h5bench-write", "pattern IC"),
    ("h5bench-write", "pattern IC ranks 1 dims 128,1024"),
    ("h5bench-write", "read full ranks 3"),
    ("h5bench-write", "pattern II read partial ranks 1"),
    ("h5bench-write", "aggregators 2 dims 4194304 ranks 8"),
    ("h5bench-write", "pattern II aggregators 1"),
    ("h5bench-metadata", ""),
    ("h5bench-metadata", "process-columns 1"),
    ("h5bench-metadata", "process-columns 1 process-rows 1 steps 1"),
    ("h5bench-metadata", "process-rows 1 columns 2"),
    ("h5bench-metadata", "arrays 1 rows 4 columns 4 steps 3"),
    ("h5bench-exerciser", ""),
    ("h5bench-exerciser", "elements 64 grid 4 derived true"),
    ("h5bench-exerciser", "elements 4,4,4,4 grid 2,1,1,2 file-block 2 file-stride 3 sizes 2 attributes 64"),
    ("h5bench-exerciser", "elements 8,8,8 grid 1,1,2 growth 1,2,1 memory-block 2 memory-stride 4"),
    ("h5bench-exerciser", "aggregators 1"),
    ("h5bench-exerciser", "sizes 1 repeats 1 grid 1 elements 512"),
];

/// Accesses of one rank that a pattern states and that have not come yet: the number of the pattern, offsets and sizes.
type Pending = (usize, VecDeque<(u64, u64)>);

/// The rows of a rank and file have the accesses of each pattern in their order, at the times of the pattern.
fn check_order_and_times(case: &str, run: &Run, rows: &[Request]) {
    let truth = run.truth();
    let mut pending: HashMap<(Op, u32, &str), Vec<Pending>> = HashMap::new();
    for (n, p) in truth.patterns.iter().enumerate() {
        assert_eq!(p.ranks, None, "{case}: each rank states its own patterns");
        let accesses = score::expand(p).into_iter().map(|(_, offset, size)| (offset, size)).collect();
        pending.entry((p.op, p.rank, p.file.as_str())).or_default().push((n, accesses));
    }
    let mut taken: Vec<Vec<Request>> = vec![Vec::new(); truth.patterns.len()];
    for r in rows {
        let of_stream = pending.entry((r.op, r.rank, run.files().name(r.file))).or_default();
        let next = of_stream.iter_mut().find(|(_, accesses)| accesses.front() == Some(&(r.offset, r.size)));
        if let Some((n, accesses)) = next {
            accesses.pop_front();
            taken[*n].push(*r);
        }
    }
    for (n, accesses) in pending.values().flatten() {
        assert!(accesses.is_empty(), "{case}: {:?}", truth.patterns[*n]);
    }
    for (p, taken) in truth.patterns.iter().zip(&taken) {
        let start = taken.iter().map(|r| r.start).fold(f64::INFINITY, f64::min);
        let end = taken.iter().map(|r| r.end).fold(0.0, f64::max);
        assert_eq!((start, end), (p.start_s, p.end_s), "{case}: {p:?}");
        assert_eq!(taken.iter().map(|r| r.offset + r.size).max(), Some(p.end_offset), "{case}: {p:?}");
        if let Some(s) = p.size_summary {
            let sizes: Vec<u64> = taken.iter().map(|r| r.size).collect();
            assert_eq!((s.min, s.max), (*sizes.iter().min().unwrap() as f64, *sizes.iter().max().unwrap() as f64));
            assert!(s.min <= s.q1 && s.q1 <= s.median && s.median <= s.q3 && s.q3 <= s.max && s.min < s.max);
        }
    }
}

fn check_canonical(case: &str, p: &TruePattern) {
    let levels = &p.levels;
    assert!(p.records > 0 && levels.iter().all(|l| l.count > 1), "{case}: {p:?}");
    assert!(levels.windows(2).all(|w| w[1].stride != w[0].count as i64 * w[0].stride), "{case}: {p:?}");
    assert_eq!(p.period.is_none(), p.period_reason.is_some());
    if p.kind == PatternKind::Sequential {
        let sizes = p.sizes.as_ref().unwrap();
        assert!(sizes.len() > 1 && sizes.windows(2).all(|w| w[0].0 != w[1].0), "{case}: {p:?}");
        assert!(p.access_size.is_none() && p.stride.is_none() && p.size_summary.is_some(), "{case}: {p:?}");
        return;
    }
    assert!(p.sizes.is_none() && p.size_summary.is_none(), "{case}: {p:?}");
    assert_eq!(p.stride, levels.first().map(|l| l.stride), "{case}: {p:?}");
    let back_to_back = p.stride == p.access_size.map(|size| size as i64);
    let kind = match levels.len() {
        1 if back_to_back => PatternKind::Contiguous,
        0 | 1 => PatternKind::FixedStrided,
        _ => PatternKind::KdStrided,
    };
    assert_eq!(p.kind, kind, "{case}: {p:?}");
}

#[test]
fn the_truth_matches_the_rows() {
    for (name, given) in CASES {
        let case = format!("{name} {given}");
        let run = make(name, given, 3);
        let (truth, rows) = (run.truth(), rows(&run));
        assert!(rows.windows(2).all(|w| w[0].start <= w[1].start), "{case}: in the order of time");
        assert!(rows.iter().all(|r| r.start < r.end && r.size > 0 && u64::from(r.rank) < truth.ranks), "{case}");
        let sum = |op| rows.iter().filter(|r| r.op == op).map(|r| r.size).sum::<u64>();
        assert_eq!(
            (truth.records, truth.bytes_read, truth.bytes_written),
            (rows.len() as u64, sum(Op::Read), sum(Op::Write)),
            "{case}"
        );
        let files: HashSet<_> = rows.iter().map(|r| r.file).collect();
        assert_eq!((truth.files, run.files().len()), (files.len() as u64, files.len()), "{case}");
        let first = rows.iter().map(|r| r.start).fold(f64::INFINITY, f64::min);
        let last = rows.iter().map(|r| r.end).fold(0.0, f64::max);
        assert_eq!((truth.start_s, truth.end_s), (first, last), "{case}");
        truth.patterns.iter().for_each(|p| check_canonical(&case, p));
        score::check_truth(&run).unwrap_or_else(|e| panic!("{case}: {e}"));
        check_order_and_times(&case, &run, &rows);
        check_phases(&case, &run, &rows);
    }
}

/// Every access that is no noise and no log lies in a phase of its kind, and the bytes of all phases are those of the trace.
fn check_phases(case: &str, run: &Run, rows: &[Request]) {
    let truth = run.truth();
    let noise: u64 = rows.iter().filter(|r| run.files().name(r.file).ends_with("/other")).map(|r| r.size).sum();
    for (op, bytes) in [(Op::Read, truth.bytes_read), (Op::Write, truth.bytes_written - noise)] {
        let phases: Vec<_> = truth.phases.iter().filter(|p| p.op == op).collect();
        assert_eq!(phases.iter().map(|p| p.bytes).sum::<u64>(), bytes, "{case} {op:?}");
        for p in &phases {
            let inside = rows.iter().any(|r| r.op == op && r.start == p.start_s)
                && rows.iter().any(|r| r.op == op && r.end == p.end_s);
            assert!(inside, "{case}: {p:?}");
        }
    }
}

#[test]
fn rows_depend_only_on_seed_and_parameters() {
    for (name, given) in CASES {
        let same = rows(&make(name, given, 5)) == rows(&make(name, given, 5));
        assert!(same, "{name} {given}");
    }
    for (name, given) in [
        ("checkpoint", "jitter 0.1"),
        ("checkpoint", "noise 0.1"),
        ("checkpoint", "desync 0.1"),
        ("checkpoint", "missed 0.5"),
        ("ior", "order random"),
        ("dlio", ""),
        ("dlio", "shuffle files"),
        ("dlio", "shuffle none sample-spread 0.1"),
    ] {
        assert!(rows(&make(name, given, 5)) != rows(&make(name, given, 6)), "{name} {given}");
    }
}

#[test]
fn bytes_match_closed_forms() {
    let bytes = |name, given| (make(name, given, 1).truth().bytes_written, make(name, given, 1).truth().bytes_read);
    assert_eq!(bytes("checkpoint", "ranks 7 checkpoints 11 size 6MiB"), (7 * 11 * (6 << 20), 0));
    assert_eq!(
        bytes("ior", "ranks 6 segments 5 block 256k repetitions 3"),
        (6 * 5 * 3 * (256 << 10), 6 * 5 * 3 * (256 << 10))
    );
    assert_eq!(bytes("ior", "order random access read"), (0, 32 << 20));
    assert_eq!(
        bytes("dlio", "epochs 3 checkpoint-every 2 checkpoint-size 5MiB"),
        (4 * (5 << 20), 3 * 32 * 16 * (128 << 10))
    );
    let particles = 4 * 65536 * 5;
    assert_eq!(bytes("h5bench-write", "read full"), (particles * 32, particles * 32));
    assert_eq!(bytes("h5bench-write", "pattern II read partial read-particles 16"), (particles * 32, 4 * 5 * 16 * 32));
    assert_eq!(bytes("h5bench-write", "pattern CI"), (particles * 32 * 8, particles * 32 * 8));
    assert_eq!(bytes("h5bench-write", "pattern CI members direct dims 512"), (4 * 512 * 5 * 32, 0));
    assert_eq!(bytes("h5bench-write", "pattern IC"), (particles * 32, particles * 28));
    assert_eq!(bytes("h5bench-metadata", ""), (10 * 25 * 64 * 64 * 8, 10 * 25 * 64 * 64 * 8));
    let exerciser: u64 = [8u64, 16, 32].iter().map(|n| 10 * 4 * n * n * 8).sum();
    assert_eq!(bytes("h5bench-exerciser", ""), (exerciser + 30 * 96, exerciser));
}

/// Operation, kind, size and levels.
type Form = (Op, PatternKind, u64, Vec<(u64, i64)>);

/// The patterns of a rank.
fn forms(run: &Run, rank: u32) -> Vec<Form> {
    let levels = |p: &TruePattern| p.levels.iter().map(|l| (l.count, l.stride)).collect();
    let of_rank = run.truth().patterns.iter().filter(|p| p.rank == rank);
    of_rank.map(|p| (p.op, p.kind, p.access_size.unwrap_or(0), levels(p))).collect()
}

#[test]
fn the_loops_of_a_rank_are_stated_in_canonical_form() {
    use Op::{Read, Write};
    use PatternKind::{Contiguous, FixedStrided, KdStrided};
    let k = 1 << 10;
    let m = 1 << 20;
    let ior = forms(&make("ior", "", 0), 1);
    assert_eq!(ior[0], (Write, KdStrided, 64 * k as u64, vec![(16, 64 * k), (4, 8 * m)]));
    assert_eq!(forms(&make("ior", "layout per-rank", 0), 1)[0], (Write, Contiguous, 64 << 10, vec![(64, 64 * k)]));
    assert_eq!(
        forms(&make("ior", "block 64k segments 48 access write", 0), 1),
        [(Write, FixedStrided, 64 << 10, vec![(48, 512 * k)])]
    );
    assert_eq!(
        forms(&make("ior", "repetitions 5 access read segments 1", 0), 2),
        [(Read, KdStrided, 64 << 10, vec![(16, 64 * k), (5, 0)])]
    );
    assert_eq!(forms(&make("h5bench-write", "", 0), 1), [(Write, FixedStrided, 256 << 10, vec![(40, m)])]);
    assert_eq!(forms(&make("h5bench-write", "ranks 1", 0), 0), [(Write, Contiguous, 256 << 10, vec![(40, 256 * k)])]);
    assert_eq!(
        forms(&make("h5bench-write", "pattern CI members direct", 0), 3),
        [(Write, KdStrided, 4, vec![(65536, 32), (8, 4), (5, 8 * m)])]
    );
    assert_eq!(
        forms(&make("h5bench-write", "pattern CI", 0), 3),
        [
            (Read, KdStrided, 1 << 20, vec![(2, m), (8, 0), (5, 8 * m)]),
            (Write, KdStrided, 1 << 20, vec![(2, m), (8, 0), (5, 8 * m)]),
        ]
    );
    assert_eq!(forms(&make("h5bench-metadata", "", 0), 3)[0], (Write, KdStrided, 256, vec![(32, 512), (250, 32768)]));
    assert_eq!(
        forms(&make("h5bench-metadata", "process-columns 1", 0), 1)[0],
        (Write, FixedStrided, 16384, vec![(250, 32768)])
    );
    assert_eq!(
        forms(&make("checkpoint", "place append", 0), 2),
        [(Write, KdStrided, 1 << 20, vec![(64, m), (20, 512 * m)])]
    );
    assert_eq!(
        forms(&make("checkpoint", "place append layout per-rank", 0), 2),
        [(Write, Contiguous, 1 << 20, vec![(1280, m)])]
    );
    let sequential = make("dlio", "shuffle none sample-spread 0.2 checkpoint-every 0", 0);
    for p in &sequential.truth().patterns {
        let in_a_pass: u64 = p.sizes.as_ref().unwrap().iter().map(|(_, n)| n).sum();
        assert_eq!((p.kind, in_a_pass, p.records), (PatternKind::Sequential, 16, 6 * 16));
        assert_eq!((p.levels.len(), p.levels[0].count, p.levels[0].stride), (1, 6, 0));
    }
    assert_eq!(sequential.truth().patterns.len(), 32);
}

#[test]
fn random_orders_are_stated_as_draws() {
    let draws = |name, given| {
        let run = make(name, given, 1);
        let all: Vec<_> = run.truth().unpatterned.iter().map(|u| (u.records, u.places, u.unit, u.repeats)).collect();
        (run.truth().patterns.len(), all)
    };
    assert_eq!(draws("ior", "order random access read"), (0, vec![(512, 512, Some(64 << 10), 1)]));
    let two = "order random access write layout per-rank ranks 2 repetitions 3";
    assert_eq!(draws("ior", two), (0, vec![(192, 64, Some(64 << 10), 3); 2]));
    let samples = "files 4 checkpoint-every 0 sample-spread 0.2";
    assert_eq!(draws("dlio", samples), (0, vec![(6 * 16, 16, None, 1); 4]));
    let noise = draws("checkpoint", "noise 0.01");
    assert_eq!((noise.0, noise.1.len(), noise.1[0].1, noise.1[0].2), (160, 1, 1 << 40, None));
}

#[test]
fn periods_are_those_of_the_schedule() {
    let clean = make("checkpoint", "period 12.5 checkpoints 9", 0);
    let p = &clean.truth().periods[0];
    assert_eq!((p.period_s, p.shortest_s, p.longest_s, p.bursts), (12.5, Some(12.5), Some(12.5), 9));
    assert_eq!((p.windows[0].start_s, p.windows[0].end_s), (3.0, 3.0 + 8.0 * 12.5 + 1.5));
    let jitter = make("checkpoint", "jitter 0.1 checkpoints 200", 0);
    let p = &jitter.truth().periods[0];
    let starts: Vec<f64> = jitter.truth().phases.iter().map(|p| p.start_s).collect();
    assert!((p.period_s - (starts[199] - starts[0]) / 199.0).abs() < 1e-9);
    assert!((p.period_s - 10.0).abs() < 0.3 && p.shortest_s < Some(9.0) && p.longest_s > Some(11.0));
    let change = make("checkpoint", "change-after 8 change-period 17", 0);
    let got: Vec<_> = change.truth().periods.iter().map(|p| (p.period_s, p.bursts, p.windows[0].start_s)).collect();
    assert_eq!(got, [(17.0, 13, 73.0), (10.0, 8, 3.0)]);
    let missed = make("checkpoint", "missed 0.3 checkpoints 50", 0);
    let p = &missed.truth().periods[0];
    assert!(p.period_s == 10.0 && p.bursts < 50 && p.longest_s >= Some(20.0));
    let two = make("checkpoint", "second-period 2.5", 0);
    assert_eq!(two.truth().periods.iter().map(|p| p.period_s).collect::<Vec<_>>(), [10.0, 2.5]);
    assert!(!make("checkpoint", "checkpoints 1", 0).truth().periodic);
    let dlio = make("dlio", "", 0);
    let got: Vec<_> = dlio.truth().periods.iter().map(|p| (p.op, p.period_s)).collect();
    assert_eq!(got, [(Op::Write, 7.4), (Op::Read, 0.2), (Op::Read, 7.4)]);
}

#[test]
fn contradictory_values_are_refused() {
    for (name, given) in [
        ("checkpoint", "ranks 0"),
        ("checkpoint", "size 3MiB transfer 2MiB"),
        ("checkpoint", "transfer 0"),
        ("checkpoint", "burst 11"),
        ("checkpoint", "burst 0"),
        ("checkpoint", "second-period 1 second-burst 2"),
        ("checkpoint", "size 1p ranks 1000000 checkpoints 16000000"),
        ("checkpoint", "period 1e8 checkpoints 16000000"),
        ("checkpoint", "noise 1 noise-size 1 size 1g"),
        ("checkpoint", "nonsense 1"),
        ("checkpoint", "period x"),
        ("ior", "block 3 transfer 2"),
        ("ior", "write-time 0.00000001"),
        ("dlio", "files 30 shuffle none"),
        ("dlio", "batch 7"),
        ("dlio", "pause 1e8 epochs 1000000"),
        ("h5bench-write", "compute 1e8 steps 16000000 dims 8"),
        ("h5bench-metadata", "compute 1e8 steps 16000000 rows 2 columns 2"),
        ("h5bench-exerciser", "repeats 16000000 attributes 1000000 attribute-size 1g"),
        ("h5bench-write", "dims 1,1,1,1"),
        ("h5bench-write", "dims 100000 pattern CI"),
        ("h5bench-write", "pattern IC aggregators 1"),
        ("h5bench-write", "aggregators 5"),
        ("h5bench-write", "buffer 16 pattern CI"),
        ("h5bench-write", "read partial read-particles 70000"),
        ("h5bench-metadata", "rows 3"),
        ("h5bench-exerciser", "grid 2,2,2"),
        ("h5bench-exerciser", "file-block 3"),
        ("h5bench-exerciser", "file-block 2 file-stride 1"),
        ("h5bench-exerciser", "sizes 32 growth 1000"),
        ("h5bench-exerciser", "memory-block 3 memory-stride 4"),
    ] {
        assert!(refused(name, given), "{name} {given}");
    }
}

fn open(path: &Path) -> Trace {
    read(&Source::open(path, &Default::default()).unwrap(), None, &ReadOptions::default()).unwrap()
}

#[test]
fn the_period_is_found_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let run = make("checkpoint", "period 7 ranks 4 size 8MiB", 0);
    let truth = &run.truth().periods[0];
    for w in WRITERS {
        let path = dir.path().join(format!("trace{}", w.ending()));
        assert_eq!(write(*w, &run, &path).unwrap().rows, run.truth().records);
        let trace = open(&path);
        assert_eq!(trace.data.len() as u64, run.truth().records, "{}", w.name());
        let report = analysis::analyze(&trace, &Options::default()).unwrap().report;
        let signal = report.primary_signal().unwrap();
        assert_eq!(signal.bytes, run.truth().bytes_written as f64, "{}", w.name());
        let found = signal.period.dominant.as_ref().unwrap();
        assert!((found.period_s - truth.period_s).abs() < 1e-6, "{}: {}", w.name(), found.period_s);
        assert!((signal.validity[0].start_s - truth.windows[0].start_s).abs() < 1e-6, "{}", w.name());
    }
}

#[test]
fn every_workload_survives_every_format() {
    let dir = tempfile::tempdir().unwrap();
    for w in ALL {
        let run = run(w, &Values::defaults(w.parameters()), 0).unwrap();
        let want = rows(&run);
        for format in ["csv", "jsonl", "strace", "radar"] {
            let writer = iophase::formats::write::writer(format).unwrap();
            let path = dir.path().join(format!("{}{}", w.name(), writer.ending()));
            write(writer, &run, &path).unwrap();
            let back = open(&path);
            let Data::Requests(got) = &back.data else { panic!("no requests") };
            let key = |r: &Request, name: &str| {
                (r.rank, name.to_owned(), r.start.to_bits(), r.end.to_bits(), r.op, r.offset, r.size)
            };
            let mut got: Vec<_> = got.iter().map(|r| key(&r, back.files.name(r.file))).collect();
            let mut want: Vec<_> = want.iter().map(|r| key(r, run.files().name(r.file))).collect();
            got.sort();
            want.sort();
            assert!(got == want, "{} as {format}", w.name());
        }
    }
}

/// Operation, offset and size of the requests of each rank.
type Requested = BTreeMap<u32, Vec<(Op, u64, u64)>>;

/// Requests for data of each rank of a recorded run, in the order of time; the library's own small ones are left out.
fn recorded(path: &str, smallest: u64) -> Option<Requested> {
    let trace = open(&shared(&format!("corpus/{path}"))?);
    let Data::Requests(requests) = &trace.data else { panic!("no requests") };
    let mut all: Vec<Request> = requests.iter().filter(|r| r.size >= smallest || r.size == 0).collect();
    all.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut ranks = Requested::new();
    all.iter().for_each(|r| ranks.entry(r.rank).or_default().push((r.op, r.offset, r.size)));
    Some(ranks)
}

fn generated(name: &str, given: &str) -> Requested {
    let mut ranks = Requested::new();
    rows(&make(name, given, 0)).iter().for_each(|r| ranks.entry(r.rank).or_default().push((r.op, r.offset, r.size)));
    ranks
}

#[test]
fn ior_makes_the_requests_of_real_runs() {
    for (path, given) in [
        ("ior/darshan/ssf-posix.darshan_dxt.darshan", "segments 3"),
        ("ior/darshan/fpp-posix.darshan_dxt.darshan", "segments 3 layout per-rank"),
        ("ior/darshan/posix-wronly.darshan_dxt.darshan", "segments 3 ranks 4 access write"),
        ("ior/darshan/posix-rdonly.darshan_dxt.darshan", "segments 3 ranks 4 access read"),
        ("ior/darshan/periodic.darshan_dxt.darshan", "repetitions 10 access write new-files true"),
    ] {
        let Some(want) = recorded(path, 65536) else { return };
        assert_eq!(generated("ior", given), want, "{path}");
    }
}

/// The recorded files have blocks of metadata between datasets; between requests of one dataset places differ by as much as here.
#[test]
fn h5bench_makes_the_requests_of_real_runs() {
    for (path, name, given, smallest, datasets) in [
        ("1d-CC", "h5bench-write", "steps 4", 4096, 31),
        ("1d-II", "h5bench-write", "steps 4 pattern II", 4096, 3),
        ("1d-IC", "h5bench-write", "steps 4 pattern IC dims 8192", 4096, 31),
        ("1d-CI", "h5bench-write", "steps 4 pattern CI", 4096, 3),
        ("1d-CC-periodic", "h5bench-write", "steps 12", 4096, 95),
    ] {
        let Some(want) = recorded(&format!("h5bench/darshan/{path}.darshan_dxt.darshan"), smallest) else { return };
        let got = generated(name, given);
        assert_eq!(got.len(), want.len(), "{path}");
        for (rank, want) in &want {
            let got = &got[rank];
            // At the end of the file a read returns less than it asks for, and the trace tells what it returned.
            let sizes = |l: &[(Op, u64, u64)]| {
                l.iter().map(|r| (r.0, if r.0 == Op::Read { 0 } else { r.2 })).collect::<Vec<_>>()
            };
            assert_eq!(sizes(got), sizes(want), "{path} rank {rank}");
            let steps = |l: &[(Op, u64, u64)]| l.windows(2).map(|w| w[1].1 as i64 - w[0].1 as i64).collect::<Vec<_>>();
            let off: Vec<i64> = steps(got).iter().zip(steps(want)).map(|(a, b)| b - a).filter(|d| *d != 0).collect();
            assert!(off.len() <= datasets && off.iter().all(|d| (0..=8192).contains(d)), "{path} rank {rank}: {off:?}");
        }
    }
}

#[test]
fn the_metadata_stress_makes_the_requests_of_real_runs() {
    let Some(want) = recorded("h5bench/darshan/metadata-indep.darshan_dxt.darshan", 16) else { return };
    let got = generated("h5bench-metadata", "rows 4 columns 4");
    for (rank, want) in want {
        let want: Vec<_> = want.into_iter().filter(|r| r.2 == 16 && r.1 > 16).collect();
        let got = &got[&rank];
        assert_eq!(got.len(), want.len());
        assert_eq!(got[0], want[0], "the first place");
        let off = got
            .windows(2)
            .zip(want.windows(2))
            .filter(|(a, b)| a[1].1.wrapping_sub(a[0].1) != b[1].1.wrapping_sub(b[0].1))
            .count();
        // Small datasets of a file of its own each are gathered in blocks of 2048 bytes; here one dataset holds them all.
        assert!(off <= 2 * 250 / 16 + 1, "rank {rank}: {off}");
    }
}
