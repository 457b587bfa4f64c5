//! Every writer against the reader of its format, with made and real traces: what is written reads back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::text::Memory;
use super::text::csv_and_back;
use common::shared;
use iophase::analysis::Selection;
use iophase::analysis::{self, Options};
use iophase::formats::write::{WRITERS, write, writer};
use iophase::formats::{Detail, ReadOptions, Source, read};
use iophase::record::{Data, Interval, Op, Request, Trace, UNKNOWN_OFFSET};
use proptest::prelude::*;

/// A row without interned numbers.
#[derive(Debug, Clone, PartialEq)]
struct Plain {
    op: Op,
    rank: u32,
    task: u32,
    file: String,
    offset: u64,
    size: u64,
    start: f64,
    end: f64,
}

fn trace_of(rows: &[Plain], origin_s: i64) -> Trace {
    let mut t =
        Trace { origin_s, ranks: rows.iter().map(|r| u64::from(r.rank) + 1).max().unwrap_or(0), ..Trace::default() };
    let requests = rows
        .iter()
        .map(|r| Request {
            op: r.op,
            rank: r.rank,
            task: r.task,
            file: if r.file.is_empty() { Request::default().file } else { t.files.intern(&r.file) },
            offset: r.offset,
            size: r.size,
            start: r.start,
            end: r.end,
            ..Request::default()
        })
        .collect();
    t.data = Data::Requests(requests);
    t
}

fn plain(t: &Trace) -> Vec<Plain> {
    let Data::Requests(requests) = &t.data else { panic!("no requests") };
    requests
        .iter()
        .map(|r| Plain {
            op: r.op,
            rank: r.rank,
            task: r.task,
            file: t.files.name(r.file).to_owned(),
            offset: r.offset,
            size: r.size,
            start: r.start,
            end: r.end,
        })
        .collect()
}

/// Writes a trace with the named writer and reads what came out.
fn there_and_back(name: &str, t: &Trace) -> (Trace, Vec<String>) {
    let mut files = Memory::default();
    let written = writer(name).unwrap().write(t, &mut files).unwrap();
    let sources: Vec<Source> = files.0.iter().map(|(n, bytes)| Source::from_bytes(n, bytes.clone())).collect();
    let options = ReadOptions::default().detail(Detail::Calls);
    let back = match &sources[..] {
        [one] => read(one, None, &options).unwrap(),
        many => iophase::formats::collect(iophase::formats::find("strace").unwrap(), many, &options).unwrap(),
    };
    assert_eq!(back.quality.records_dropped, 0, "{name}: {:?}", back.warnings);
    assert_eq!(back.quality.clamped, 0, "{name}");
    (back, written.notes.into_iter().map(|n| n.code).collect())
}

/// Rows by rank and file, in order.
fn by_file(rows: &[Plain]) -> BTreeMap<(u32, String), Vec<Plain>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    rows.iter().for_each(|r| groups.entry((r.rank, r.file.clone())).or_default().push(r.clone()));
    groups
}

const NAME: &str = "[a-z \"'\\\\,;#<>:()%äß→\u{1F600}=\\[\\]{}]{1,12}";

/// Names without blanks at their ends that are no remark, as radar holds them.
fn name() -> impl Strategy<Value = String> + Clone {
    NAME.prop_map(|n| format!("/{n}x"))
}

fn offset(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..1u64 << 40, 2 => (1u64 << 53)..most.max(1 << 54), 1 => Just(UNKNOWN_OFFSET)]
}

/// Transfers whose times are whole nanoseconds below `until`.
fn rows(
    name: impl Strategy<Value = String> + Clone + 'static,
    most: u64,
    until: u64,
) -> impl Strategy<Value = Vec<Plain>> {
    // readers bring what is larger into range
    let size = prop_oneof![4 => 0..1u64 << 30, 1 => 0..most.min(1 << 50)];
    let row = (any::<bool>(), 0u32..5, 0u32..3, name, offset(most), size, 0..until, 1u64..5_000_000_000).prop_map(
        |(reads, rank, task, file, offset, size, start, length)| Plain {
            op: if reads { Op::Read } else { Op::Write },
            rank,
            task,
            file,
            offset,
            size,
            start: start as f64 / 1e9,
            end: (start + length) as f64 / 1e9,
        },
    );
    prop::collection::vec(row, 1..40)
}

/// Rows in any order read back on their own clock if none steps back as far as over midnight.
const SHORT_NS: u64 = 7_000_000_000_000;

fn as_nanos(t: &Trace) -> Vec<(i128, i128)> {
    let ns = |s: f64| i128::from(t.origin_s) * 1_000_000_000 + (s * 1e9).round() as i128;
    plain(t).iter().map(|r| (ns(r.start), ns(r.end))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_keep_all_fields(
        mut want in rows(prop_oneof!["(/[a-z\\n\\r\\t\\\\]{0,5})?", NAME], u64::MAX, 900_000_000_000_000),
        finer in prop::collection::vec(0.0..1e6f64, 40),
        others in prop::collection::vec(prop::sample::select(vec![Op::Open, Op::Close, Op::Seek, Op::Sync, Op::Other]), 0..3),
    ) {
        for (r, x) in want.iter_mut().zip(&finer).step_by(2) {
            (r.start, r.end) = (*x, x + 1.0 / 3.0);
        }
        for op in others {
            want.push(Plain { op, size: 0, ..want[0].clone() });
        }
        let t = trace_of(&want, 0);
        for name in ["csv", "jsonl"] {
            let (back, notes) = there_and_back(name, &t);
            prop_assert_eq!(&plain(&back), &want, "{}", name);
            prop_assert!(notes.is_empty());
        }
    }

    #[test]
    fn calendar_stamps_keep_their_nanoseconds(want in rows(name(), 1 << 60, 2_000_000_000_000_000), origin in 1_000_000_000i64..3_000_000_000) {
        let t = trace_of(&want, origin);
        for name in ["csv", "jsonl"] {
            let (back, _) = there_and_back(name, &t);
            prop_assert_eq!(as_nanos(&back), as_nanos(&t), "{}", name);
        }
    }

    #[test]
    fn radar_keeps_the_fields_it_can_store(want in rows(name(), u64::MAX, 900_000_000_000_000)) {
        let t = trace_of(&want, 0);
        let (back, _) = there_and_back("radar", &t);
        let known: Vec<Plain> = want.iter().map(|r| Plain { task: 0, ..r.clone() }).collect();
        prop_assert_eq!(by_file(&plain(&back)), by_file(&known));
        prop_assert_eq!(back.ranks, t.ranks);
        prop_assert!(back.warnings.is_empty() || u64::try_from(want.iter().map(|r| u128::from(r.size)).sum::<u128>()).is_err());
    }

    #[test]
    fn strace_keeps_the_fields_it_can_store(want in rows("/[a-z \"'\\\\,;#<>:()%äß→\n\t=\\[\\]{}]{1,12}", 1_000_000_000_000_000_000, SHORT_NS)) {
        let t = trace_of(&want, 0);
        let (back, notes) = there_and_back("strace", &t);
        let mut sorted = want.clone();
        sorted.sort_by_key(|r| r.rank);
        prop_assert_eq!(plain(&back), sorted);
        prop_assert_eq!(back.origin_s, 0);
        prop_assert!(notes.is_empty(), "{:?}", notes);
    }

    #[test]
    fn strace_keeps_the_calendar(want in rows("/[a-z]{1,12}", 1 << 59, 2_000_000_000_000_000), origin in 1_000_000_000i64..3_000_000_000) {
        let t = trace_of(&want, origin);
        let (back, notes) = there_and_back("strace", &t);
        let mut sorted = want.clone();
        sorted.sort_by_key(|r| r.rank);
        prop_assert_eq!(as_nanos(&back), as_nanos(&trace_of(&sorted, origin)));
        prop_assert!(notes.is_empty(), "{:?}", notes);
    }

    #[test]
    fn phases_keep_bytes_and_times(want in rows(name(), 1 << 53, 900_000_000_000_000)) {
        let t = trace_of(&want, 0);
        for name in ["tmio", "msgpack"] {
            let (back, _) = there_and_back(name, &t);
            let Data::Intervals(rows) = &back.data else { panic!("no phases") };
            // Each mode in its own order, reads first.
            let mut sorted = want.clone();
            sorted.sort_by_key(|r| r.op != Op::Read);
            prop_assert_eq!(rows.len(), sorted.len());
            for (x, r) in rows.iter().zip(&sorted) {
                prop_assert_eq!((x.op, x.asynchronous, x.start, x.end), (r.op, false, r.start, r.end));
                let off = (x.bytes - r.size as f64).abs();
                prop_assert!(off <= if name == "tmio" { 4.0 * f64::EPSILON * x.bytes } else { 0.0 }, "{} {}", x.bytes, r.size);
            }
        }
    }
}

#[test]
fn asynchronous_phases_stay_asynchronous() {
    let row = |op, asynchronous, start: f64| Interval {
        op,
        asynchronous,
        rank: 1,
        file: Default::default(),
        bytes: 1024.0,
        start,
        end: start + 0.25,
    };
    let rows =
        [row(Op::Write, true, 1.0), row(Op::Read, true, 2.0), row(Op::Write, false, 3.0), row(Op::Write, true, 4.0)];
    let t = Trace { ranks: 4, data: Data::Intervals(rows.into_iter().collect()), ..Trace::default() };
    for name in ["tmio", "msgpack"] {
        let (back, notes) = there_and_back(name, &t);
        let Data::Intervals(got) = &back.data else { panic!("no phases") };
        let mut got: Vec<_> = got.iter().map(|i| (i.op, i.asynchronous, i.start, i.bytes)).collect();
        got.sort_by(|a, b| a.2.total_cmp(&b.2));
        let want: Vec<_> = rows.iter().map(|i| (i.op, i.asynchronous, i.start, i.bytes)).collect();
        assert_eq!(got, want, "{name}");
        assert!(notes.is_empty());
    }
    let (back, notes) = there_and_back("csv", &t);
    assert_eq!(plain(&back).iter().map(|r| r.size).collect::<Vec<_>>(), [1024; 4]);
    assert_eq!(notes, ["stretches-as-records", "asynchronous-lost"]);
}

#[test]
fn lost_fields_are_listed_in_a_warning() {
    let row = Plain { op: Op::Write, rank: 3, task: 0, file: "a\nb".into(), offset: 7, size: 5, start: 1.0, end: 1.0 };
    let t = trace_of(&[row.clone(), Plain { op: Op::Open, size: 0, ..row.clone() }], 0);
    let codes = |name: &str, t: &Trace| there_and_back(name, t).1;
    assert_eq!(codes("radar", &t), ["names-changed", "no-transfers"]);
    assert_eq!(codes("strace", &t), ["names-changed", "no-transfers"]);
    assert_eq!(codes("msgpack", &t), ["requests-as-phases", "no-transfers"]);
    // Before the calendar and longer than a day.
    let t = trace_of(&[Plain { file: "/a".into(), start: -3.0, end: 1e6, ..row.clone() }], 0);
    assert_eq!(codes("strace", &t), ["clock-moved"]);
    let t = trace_of(&[Plain { file: "/a".into(), start: 1.0 / 3.0, end: 1.0, ..row.clone() }], 0);
    assert_eq!(codes("strace", &t), ["times-rounded"]);
    let huge = trace_of(&[Plain { file: "/a".into(), size: u64::MAX, ..row.clone() }], 0);
    let e = writer("strace").unwrap().write(&huge, &mut Memory::default()).unwrap_err();
    assert_eq!(e.exit_code(), 5);
    // Without duration a rate cannot tell bytes.
    let mut files = Memory::default();
    let written = writer("tmio").unwrap().write(&trace_of(&[row], 0), &mut files).unwrap();
    assert_eq!((written.rows, written.notes[1].code.as_str()), (0, "zero-duration"));
}

#[test]
fn ranks_without_rows_keep_the_numbers_of_the_others() {
    let row =
        |rank| Plain { op: Op::Write, rank, task: 0, file: "/f".into(), offset: 0, size: 5, start: 1.0, end: 2.0 };
    let want = [row(2), row(5)];
    let (back, notes) = there_and_back("strace", &trace_of(&want, 0));
    assert_eq!(plain(&back), want);
    assert!(notes.is_empty());
}

#[test]
fn outputs_are_complete_or_absent() {
    let dir = tempfile::tempdir().unwrap();
    let names =
        |d: &Path| fs::read_dir(d).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>();
    for w in WRITERS {
        let path = dir.path().join(format!("empty{}", w.ending()));
        assert_eq!(write(*w, &trace_of(&[], 0), &path).unwrap_err().exit_code(), 4, "{}", w.name());
        assert!(names(dir.path()).is_empty(), "{}: {:?}", w.name(), names(dir.path()));
    }
    let row = Plain { op: Op::Write, rank: 0, task: 0, file: "/f".into(), offset: 0, size: 5, start: 1.0, end: 2.0 };
    let t = trace_of(std::slice::from_ref(&row), 0);
    for w in WRITERS {
        let path = dir.path().join(format!("twice{}", w.ending()));
        write(*w, &t, &path).unwrap();
        write(*w, &t, &path).unwrap();
    }
    assert_eq!(names(dir.path()).len(), WRITERS.len());
    // A request that strace cannot show leaves the folder of the last run alone.
    let folder = dir.path().join("twice.st");
    let before = fs::read(folder.join("job_host_0.st")).unwrap();
    let strace = writer("strace").unwrap();
    assert!(write(strace, &trace_of(&[row.clone(), Plain { size: u64::MAX, ..row }], 0), &folder).is_err());
    assert_eq!(fs::read(folder.join("job_host_0.st")).unwrap(), before);
    assert_eq!(names(dir.path()).len(), WRITERS.len());
    // A folder with other files is not replaced.
    fs::write(folder.join("thesis.tex"), "years of work").unwrap();
    assert_eq!(write(strace, &t, &folder).unwrap_err().exit_code(), 5);
    assert!(folder.join("thesis.tex").exists());
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn open(path: &Path) -> Trace {
    read(&Source::open(path, &Default::default()).unwrap(), None, &ReadOptions::default()).unwrap()
}

/// Period and bytes of the primary signal.
fn answer(t: &Trace) -> Option<(f64, f64)> {
    // Formats without names cannot tell pipes and libraries from data files.
    let selection = Selection::default().all_files(true);
    let report = analysis::analyze(t, &Options::default().selection(selection)).unwrap().report;
    let s = report.primary_signal()?;
    Some((s.period.dominant.as_ref()?.period_s, s.bytes))
}

#[test]
fn real_traces_keep_their_period_and_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut periodic = 0;
    for name in [
        "stable.darshan",
        "change.darshan",
        "two-periods.darshan",
        "aperiodic.darshan",
        "stable.strace",
        "stable.msgpack",
    ]
    .into_iter()
    .step_by(super::every(2))
    {
        let original = open(&data(name));
        let want = answer(&original);
        periodic += usize::from(want.is_some());
        for w in WRITERS {
            let path = dir.path().join(format!("{name}{}", w.ending()));
            write(*w, &original, &path).unwrap();
            let got = answer(&open(&path));
            let close = match (want, got) {
                (Some((p, b)), Some((q, c))) => (p - q).abs() < 1e-5 * p && (b - c).abs() <= 1e-9 * b,
                (a, b) => a.is_none() && b.is_none(),
            };
            assert!(close, "{name} as {}: {want:?} became {got:?}", w.name());
        }
    }
    assert!(periodic * super::every(2) >= 5, "{periodic}");
}

/// The content of a row: operation, rank, file, offset, whole bytes, and start and end as seconds behind whole ones.
type Said = (Op, u32, String, u64, u64, f64, f64);

/// The rows with times since `origin_s`.
fn said(t: &Trace, origin_s: i64) -> Vec<Said> {
    let moved = (t.origin_s - origin_s) as f64;
    let name = |file| t.files.name(file).to_owned();
    match &t.data {
        Data::Requests(rows) => rows
            .iter()
            .map(|r| (r.op, r.rank, name(r.file), r.offset, r.size, r.start + moved, r.end + moved))
            .collect(),
        Data::Intervals(rows) => rows
            .iter()
            .map(|r| {
                let size = r.bytes.round() as u64;
                (r.op, r.rank, name(r.file), UNKNOWN_OFFSET, size, r.start + moved, r.end + moved)
            })
            .collect(),
    }
}

/// Every file below a folder, and every folder.
fn below(folder: &Path, all: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && path.file_name().is_some_and(|n| n != "hostile") {
            below(&path, all);
        }
        all.push(path);
    }
}

#[test]
fn every_format_survives_the_way_to_records_and_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    below(&root.join("tests/data/robustness"), &mut paths);
    below(&root.join("data"), &mut paths);
    for folder in ["recorder", "dftracer", "metricproxy", "series"] {
        if let Some(folder) = shared(&format!("corpus/{folder}")) {
            below(&folder, &mut paths);
        }
    }
    let mut formats = BTreeMap::new();
    for path in paths {
        // no traces: their descriptions, what is expected of them, and text that needs patterns
        let Ok(source) = Source::open(&path, &Default::default()) else { continue };
        let Ok(t) = read(&source, None, &ReadOptions::default()) else { continue };
        if t.data.is_empty() {
            continue;
        }
        let back = csv_and_back(&t);
        // whole seconds are exact on any clock: a trace that begins with a fraction is moved by whole ones
        let (want, got) = (said(&t, t.origin_s), said(&back, t.origin_s));
        assert_eq!(want.len(), got.len(), "{}", path.display());
        for (i, (w, g)) in want.iter().zip(&got).enumerate() {
            let scale = t.origin_s.unsigned_abs() as f64 + w.6.abs();
            let near = |a: f64, b: f64| (a - b).abs() <= scale * f64::EPSILON;
            let same = (w.0, w.1, &w.2, w.3, w.4) == (g.0, g.1, &g.2, g.3, g.4) && near(w.5, g.5) && near(w.6, g.6);
            assert!(same, "{} row {i}: {w:?} became {g:?}", path.display());
        }
        *formats.entry(t.format).or_insert(0) += 1;
    }
    // text that needs patterns goes the same way in `regex.rs`
    for f in iophase::formats::ALL.iter().filter(|f| f.name() != "regex") {
        assert!(formats.contains_key(f.name()), "no sample of {}: {formats:?}", f.name());
    }
}
