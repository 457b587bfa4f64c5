//! Recorder: recordings of five versions with known content, hard cases, and damage.

use std::path::{Path, PathBuf};

use self::made::Rank;
use super::darshan::sha256;
use super::text::Memory;
use common::{recorder as made, shared};
use iophase::analysis::{self, Options};
use iophase::formats::write::writer;
use iophase::formats::{self, Detail, ReadOptions, Source, read};
use iophase::record::{Data, Layer, Op, Request, Requests, Trace, UNKNOWN_OFFSET};
use serde_json::Value;

fn open(path: &Path, layer: Option<Layer>) -> Trace {
    let options = ReadOptions::default().layer(layer);
    read(&Source::open(path, &options.limits).unwrap(), None, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn rows(t: &Trace) -> &Requests {
    match &t.data {
        Data::Requests(r) => r,
        Data::Intervals(_) => panic!("{}: intervals", t.path),
    }
}

fn codes(t: &Trace) -> Vec<&str> {
    t.warnings.iter().map(|w| w.code.as_str()).collect()
}

/// The recordings with what is in them.
fn samples() -> Vec<(PathBuf, Value)> {
    let found = shared("corpus/recorder").into_iter().flat_map(|f| std::fs::read_dir(f).unwrap());
    let expected = found.map(|e| e.unwrap().path()).filter(|p| p.to_string_lossy().ends_with(".expected.json"));
    let pair = |p: PathBuf| {
        let trace = p.to_string_lossy().strip_suffix(".expected.json").unwrap().into();
        (trace, serde_json::from_slice(&std::fs::read(&p).unwrap()).unwrap())
    };
    expected.map(pair).collect()
}

/// The layers of a recording under the names of the expected values: POSIX has the streams with it.
const LAYERS: [(&str, Option<Layer>); 2] = [("posix", None), ("mpiio", Some(Layer::Mpiio))];

/// The offsets that the calls themselves give.
fn stored_offset(call: &str, r: &Request) -> Option<u64> {
    let given = call.starts_with('p') || call.contains("_at");
    (given && r.offset != UNKNOWN_OFFSET).then_some(r.offset)
}

/// Ticks of the clock of the rank.
fn ticks(expected: &Value, rank: u32, time_s: f64) -> i64 {
    let starts: Vec<f64> =
        expected["rank_start_times"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let later = starts.get(rank as usize).map_or(0.0, |s| s - starts.iter().copied().fold(f64::MAX, f64::min));
    ((time_s - later) / expected["resolution"].as_f64().unwrap()).round() as i64
}

#[test]
fn recordings_hold_what_is_known_of_them() {
    for (path, expected) in samples() {
        for (name, layer) in LAYERS {
            let totals = &expected["totals"][name];
            let t = open(&path, layer);
            let place = format!("{} {name}", path.display());
            assert_eq!((t.format, t.ranks), ("recorder", expected["ranks"].as_u64().unwrap()), "{place}");
            for (op, key) in [(Op::Read, "read"), (Op::Write, "write")] {
                let of: Vec<Request> = rows(&t).iter().filter(|r| r.op == op).collect();
                assert_eq!(Some(of.len() as u64), totals[key]["count"].as_u64(), "{place} {key}");
                assert_eq!(Some(of.iter().map(|r| r.size).sum()), totals[key]["bytes"].as_u64(), "{place} {key}");
            }
            let calls = serde_json::to_value(&t.call_counts).unwrap();
            assert_eq!(calls, expected["calls_by_name"], "{place}");
            let version = t.header.version.as_deref().unwrap();
            assert!(version.starts_with(expected["version"].as_str().unwrap()), "{place}: {version}");
            assert_eq!(t.quality.records_read, expected["calls"].as_u64().unwrap(), "{place}");
            check_ranks(&t, &expected, name, &place);
        }
    }
}

/// Totals, first and last transfer of each rank.
fn check_ranks(t: &Trace, expected: &Value, layer: &str, place: &str) {
    for of_rank in expected["per_rank"].as_array().unwrap() {
        let rank = of_rank["rank"].as_u64().unwrap() as u32;
        let mine: Vec<Request> = rows(t).iter().filter(|r| r.rank == rank).collect();
        for (op, key) in [(Op::Read, "read"), (Op::Write, "write")] {
            let bytes: u64 = mine.iter().filter(|r| r.op == op).map(|r| r.size).sum();
            assert_eq!(Some(bytes), of_rank[layer][key]["bytes"].as_u64(), "{place} {rank} {key}");
        }
        for (row, key) in [(mine.first(), "first"), (mine.last(), "last")] {
            let wanted = &of_rank[layer][key];
            let Some(row) = row else {
                assert!(wanted.is_null(), "{place} {rank} {key}");
                continue;
            };
            let call = t.calls.name(row.call);
            assert_eq!(wanted["call"], call, "{place} {rank}");
            assert_eq!(wanted["op"], row.op.name(), "{place} {rank}");
            assert_eq!(wanted["file"], t.files.name(row.file), "{place} {rank}");
            assert_eq!(wanted["size"], row.size, "{place} {rank}");
            assert_eq!(wanted["offset"].as_u64(), stored_offset(call, row), "{place} {rank}");
            assert_eq!(wanted["start_ticks"], ticks(expected, rank, row.start), "{place} {rank}");
            assert_eq!(wanted["end_ticks"], ticks(expected, rank, row.end), "{place} {rank}");
        }
    }
}

/// A digest of the transfers as `rank call file offset size start end`, with the offsets that the calls themselves give.
#[test]
fn transfers_are_those_of_the_digest() {
    for (path, expected) in samples() {
        for (name, layer) in LAYERS {
            let Some(digest) = expected["transfers_sha256"][name].as_str() else { continue };
            let t = open(&path, layer);
            let line = |r: Request| {
                let call = t.calls.name(r.call);
                let offset = stored_offset(call, &r).map_or("-".into(), |o| o.to_string());
                let (start, end) = (ticks(&expected, r.rank, r.start), ticks(&expected, r.rank, r.end));
                format!("{} {call} {} {offset} {} {start} {end}\n", r.rank, t.files.name(r.file), r.size)
            };
            let text: String = rows(&t).iter().map(line).collect();
            assert_eq!(sha256::hex(text.as_bytes()), digest, "{} {name}", path.display());
        }
    }
}

#[test]
fn the_period_of_each_recording_is_found() {
    for (path, expected) in samples() {
        let period = expected["truth"]["period"].as_f64().unwrap();
        let report = analysis::analyze(&open(&path, None), &Options::default()).unwrap().report;
        let found: Vec<f64> =
            report.signals.iter().filter_map(|s| s.period.dominant.as_ref()).map(|d| d.period_s).collect();
        assert!(found.iter().any(|f| (f / period - 1.0).abs() < 0.02), "{}: {period} s, {found:?}", path.display());
    }
}

#[test]
fn broken_files_are_refused_and_the_sound_one_is_read() {
    let Some(folder) = shared("corpus/recorder/hostile") else { return };
    let verdicts: Value = serde_json::from_slice(&std::fs::read(folder.join("HOSTILE.json")).unwrap()).unwrap();
    for (name, verdict) in verdicts.as_object().unwrap() {
        let options = ReadOptions::default();
        let answer = read(&Source::open(&folder.join(name), &options.limits).unwrap(), None, &options);
        match (verdict["verdict"].as_str().unwrap(), answer) {
            ("accept", Ok(t)) => {
                let sizes: Vec<u64> = rows(&t).iter().map(|r| r.size).collect();
                assert_eq!((sizes, t.quality.records_read), (vec![4096; 12], 14), "{name}");
            }
            ("error", Err(e)) => assert!(e.exit_code() == 3 && e.to_string().contains("recorder.dat"), "{name}: {e}"),
            (wanted, answer) => panic!("{name}: {wanted}, {:?}", answer.map(|t| t.data.len())),
        }
    }
}

/// The text of a recording has the calls of the recording itself.
#[test]
fn exported_text_has_the_same_calls() {
    let Some(folder) = shared("corpus/recorder") else { return };
    // The reader that wrote the second one puts wrong times on the calls after the first repeated rule.
    for (name, times) in [("v23_posix", true), ("v30_stdio", false)] {
        let (t, text) = (open(&folder.join(name), None), open(&folder.join(format!("{name}_text")), None));
        assert_eq!((text.format, &text.call_counts), ("recorder", &t.call_counts), "{name}");
        let key = |t: &Trace, r: Request| {
            let span = times.then(|| ((r.start * 1e7).round() as i64, (r.end * 1e7).round() as i64));
            (r.rank, r.op, t.files.name(r.file).to_owned(), r.offset, r.size, span)
        };
        let all = |t: &Trace| rows(t).iter().map(|r| key(t, r)).collect::<Vec<_>>();
        assert_eq!(all(&text), all(&t), "{name}");
    }
}

fn parse(ranks: &[Rank], differences: bool, options: &ReadOptions) -> Trace {
    let source = Source::from_bytes("recorder.dat", made::one_file(ranks, 2, differences));
    read(&source, None, options).unwrap_or_else(|e| panic!("{e}"))
}

fn offsets(t: &Trace) -> Vec<Option<u64>> {
    rows(t).iter().map(|r| Some(r.offset).filter(|o| *o != UNKNOWN_OFFSET)).collect()
}

const U: Option<u64> = None;

#[test]
fn offsets_follow_from_opens_seeks_and_transfers() {
    let rank = Rank::of(&[
        ("write /out %p 5", 0, 1),
        ("open /out 66 420", 2, 3),
        ("write /out %p 100", 4, 5),
        ("readv /out 50 2", 6, 7),
        ("lseek /out 10 0", 8, 9),
        ("lseek /out 10 1", 10, 11),
        ("write /out %p 5", 12, 13),
        ("lseek /out 0 2", 14, 15),
        ("write /out %p 5", 16, 17),
        ("open /out 0 0", 18, 19),
        ("lseek /out 0 0", 20, 21),
        ("read /out %p 5", 22, 23),
        ("close /out", 24, 25),
        ("lseek /out 7 0", 26, 27),
        ("read /out %p 5", 28, 29),
        ("close /out", 30, 31),
        ("fopen /log a", 32, 33),
        ("fwrite %p 2 4 /log", 34, 35),
        ("pwrite /out %p 5 99", 36, 37),
    ]);
    let t = parse(&[rank], false, &ReadOptions::default());
    let known = |n: u64| Some(n);
    assert_eq!(offsets(&t), [U, known(0), known(100), known(20), U, U, known(7), U, known(99)]);
    let sizes: Vec<u64> = rows(&t).iter().map(|r| r.size).collect();
    assert_eq!(sizes, [5, 100, 50, 5, 5, 5, 5, 8, 5]);
    assert_eq!((rows(&t).start[1], rows(&t).end[1]), (4e-7, 5e-7));
}

#[test]
fn offsets_of_mpi_are_in_units_of_the_view() {
    let rank = Rank::of(&[
        ("MPI_File_open MPI_COMM_WORLD /m 5 %p 0-0", 0, 1),
        ("MPI_File_write_at 0-0 16 %p 2 MPI_INT [s]", 2, 3),
        ("MPI_File_write 0-0 %p 2 MPI_INT [s]", 4, 5),
        ("MPI_File_write_all 0-0 %p 1 MPI_INT [s]", 6, 7),
        ("MPI_File_set_view 0-0 1000 MPI_DOUBLE MPI_DOUBLE native %p", 8, 9),
        ("MPI_File_read_at_all 0-0 2 %p 2 MPI_INT [s]", 10, 11),
        ("MPI_File_iwrite 0-0 %p 2 MPI_INT [s]", 12, 13),
        ("MPI_File_write_shared 0-0 %p 2 MPI_INT [s]", 14, 15),
        ("MPI_File_set_view 0-0 1000 MPI_DOUBLE MPI_TYPE_UNKNOWN native %p", 16, 17),
        ("MPI_File_write_at 0-0 2 %p 2 MPI_TYPE_UNKNOWN [s]", 18, 19),
    ]);
    // The trace has no call of POSIX that moves bytes.
    let t = parse(&[rank], false, &ReadOptions::default());
    assert_eq!(t.layer, Some(Layer::Mpiio));
    assert_eq!(offsets(&t), [Some(16), Some(0), Some(8), Some(1016), Some(1000), U, U]);
    assert!(rows(&t).iter().all(|r| t.files.name(r.file) == "/m"));
    assert!(codes(&t).contains(&"sizes-unknown"));
}

#[test]
fn one_layer_is_taken_and_all_are_counted() {
    let rank = Rank::of(&[
        ("MPI_File_open MPI_COMM_WORLD /m 5 %p 0-0", 0, 9),
        ("open /m 66 420", 1, 2),
        ("MPI_File_write_at 0-0 0 %p 8 MPI_INT [s]", 10, 19),
        ("pwrite /m %p 32 0", 11, 12),
        ("fwrite %p 1 7 /log", 20, 21),
        ("MPI_Barrier MPI_COMM_WORLD", 22, 23),
        ("H5Dwrite 1 2", 24, 25),
    ]);
    for (layer, bytes) in [(None, 39), (Some(Layer::Posix), 32), (Some(Layer::Stdio), 7), (Some(Layer::Mpiio), 32)] {
        let t = parse(std::slice::from_ref(&rank), false, &ReadOptions::default().layer(layer));
        assert_eq!(rows(&t).iter().map(|r| r.size).sum::<u64>(), bytes, "{layer:?}");
        let layers: Vec<_> = t.layers.iter().map(|l| (l.layer.as_str(), l.records, l.bytes_written)).collect();
        let all = [("posix", 2, 32), ("stdio", 1, 7), ("mpiio", 2, 32), ("mpi", 1, 0), ("hdf5", 1, 0)];
        assert_eq!(layers, all, "{layer:?}");
        assert_eq!(t.quality.records_left_out + rows(&t).len() as u64, 3);
    }
    let t = parse(&[rank], false, &ReadOptions::default().detail(Detail::Calls));
    let ops: Vec<Op> = rows(&t).iter().map(|r| r.op).collect();
    assert_eq!(ops, [Op::Open, Op::Write, Op::Write]);
}

#[test]
fn offsets_that_are_differences_are_added_up_by_name() {
    let rank = Rank::of(&[
        ("pwrite /a %p 8 100", 0, 1),
        ("pwrite64 /a %p 8 1000", 2, 3),
        ("pwrite /b %p 8 50", 4, 5),
        ("pread /a %p 8 7", 6, 7),
        ("pwrite /a %p 8 -150", 8, 9),
        ("pwrite /a %p 8 -1", 10, 11),
    ]);
    let stored = offsets(&parse(std::slice::from_ref(&rank), false, &ReadOptions::default()));
    assert_eq!(stored, [Some(100), Some(1000), Some(50), Some(7), U, U]);
    let added = offsets(&parse(&[rank], true, &ReadOptions::default()));
    assert_eq!(added, [Some(100), Some(1000), Some(150), Some(7), Some(0), U]);
}

#[test]
fn offsets_by_rank_count_the_ranks_with_as_many_different_calls() {
    let same = Rank::of(&[("pwrite /a %p 8 8*r+100", 0, 1)]);
    let other = Rank::of(&[("pwrite /a %p 8 8*r+100", 0, 1), ("pwrite /a %p 8 0", 2, 3)]);
    let t = parse(&[same.clone(), other, same], false, &ReadOptions::default());
    assert_eq!(offsets(&t), [Some(100), Some(100), Some(0), Some(108)]);
}

#[test]
fn repeated_rules_have_times_of_their_own() {
    let rank = Rank {
        signatures: vec![("write", "/a %p 1 ".into()), ("fsync", "/a ".into()), ("write", "/a %p 2 ".into())],
        rules: vec![(-1, vec![(-2, 3), (2, 2)]), (-2, vec![(-3, 2), (1, 1)]), (-3, vec![(0, 2)])],
        times: vec![(10, 11); 17],
    };
    let t = parse(&[rank], false, &ReadOptions::default());
    let sizes: Vec<u64> = rows(&t).iter().map(|r| r.size).collect();
    assert_eq!(sizes, [[1; 12].to_vec(), vec![2, 2]].concat());
    let ticks: Vec<u32> = rows(&t).start.iter().map(|s| (s * 1e7).round() as u32).collect();
    assert_eq!(ticks, [10, 20, 30, 40, 60, 70, 80, 90, 110, 120, 130, 140, 160, 170]);
    assert_eq!((t.call_counts["write"], t.call_counts["fsync"]), (14, 3));
}

fn three_ranks() -> Vec<Rank> {
    let rank =
        Rank::of(&[("open /a 66 420", 1, 2), ("write /a %p 512", 3, 4), ("write /a %p 512", 5, 6), ("close /a", 7, 8)]);
    vec![rank; 3]
}

#[test]
fn a_cut_file_keeps_the_calls_before_the_cut() {
    let whole = made::one_file(&three_ranks(), 1, false);
    for cut in 1..30 {
        let source = Source::from_bytes("recorder.dat", whole[..whole.len() - cut].to_vec());
        let t = read(&source, None, &ReadOptions::default()).unwrap_or_else(|e| panic!("{cut}: {e}"));
        let lost = t.quality.records_dropped;
        assert_eq!((codes(&t).contains(&"damaged-tail"), t.quality.records_read), (lost > 0, 12), "{cut}");
        assert!((4..=6).contains(&rows(&t).len()) && (lost > 0 || rows(&t).len() == 6), "{cut}");
    }
    let root = tempfile::tempdir().unwrap();
    made::old_folder(root.path(), &three_ranks());
    let times = root.path().join("1.ts");
    let bytes = std::fs::read(&times).unwrap();
    std::fs::write(&times, &bytes[..bytes.len() - 9]).unwrap();
    let t = open(root.path(), None);
    assert_eq!((rows(&t).len(), t.quality.records_dropped), (5, 2));
    assert!(codes(&t).contains(&"damaged-tail"));
    std::fs::remove_file(root.path().join("2.cfg")).unwrap();
    assert!(codes(&open(root.path(), None)).contains(&"missing-ranks"));
    std::fs::write(&times, [&bytes[..], &bytes[..8]].concat()).unwrap();
    let source = Source::open(root.path(), &ReadOptions::default().limits).unwrap();
    let e = read(&source, None, &ReadOptions::default()).unwrap_err().to_string();
    assert!(e.contains("1.ts") && e.contains("times of 5 calls for the 4 of rank 1"), "{e}");
}

#[test]
fn any_flipped_bit_of_a_folder_is_survived() {
    for write in [made::folder, made::old_folder] {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &three_ranks()[..2]);
        for file in std::fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().path()) {
            let whole = std::fs::read(&file).unwrap();
            let step = super::every(9);
            // Of the metadata the middle is empty.
            for bit in (0..8 * whole.len()).step_by(step).filter(|b| whole.len() < 1000 || b / 8 < 64 || b / 8 > 1000) {
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                std::fs::write(&file, bytes).unwrap();
                let source = Source::open(root.path(), &ReadOptions::default().limits).unwrap();
                match read(&source, None, &ReadOptions::default()) {
                    Ok(t) => assert!(rows(&t).len() <= 8, "{} {bit}", file.display()),
                    Err(e) => assert!(e.exit_code() >= 3, "{e}"),
                }
            }
            std::fs::write(&file, whole).unwrap();
        }
    }
}

#[test]
fn a_folder_is_one_trace_wherever_it_lies() {
    let root = tempfile::tempdir().unwrap();
    let place = |name: &str| {
        let path = root.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    made::folder(&place("day/host-user-app-1"), &three_ranks());
    made::old_folder(&place("old"), &three_ranks());
    std::fs::write(place("one").join("recorder.dat"), made::one_file(&three_ranks(), 2, false)).unwrap();
    // The text of a trace in its folder is the same trace; elsewhere it is one of its own.
    let line = "0.1 0.2 write 0 0 ( /a %p 512 )\n";
    for folder in ["old/_text", "exported"] {
        (0..3).for_each(|rank| std::fs::write(place(folder).join(format!("{rank}.txt")), line).unwrap());
    }
    let found = formats::search(root.path(), None, &ReadOptions::default()).unwrap();
    let names: Vec<_> = found.traces.iter().map(|t| t.name.strip_prefix(root.path()).unwrap().to_owned()).collect();
    assert_eq!(names, ["day/host-user-app-1", "exported", "old", "one/recorder.dat"].map(PathBuf::from));
    assert_eq!((found.others.len(), found.unreadable.len()), (0, 0));
    for path in ["day", "day/host-user-app-1", "old", "one", "one/recorder.dat", "exported", "old/_text"] {
        let t = open(&root.path().join(path), None);
        assert_eq!((t.format, t.ranks), ("recorder", 3), "{path}");
    }
    let t = open(&root.path().join("exported"), None);
    assert_eq!((rows(&t).start[0], rows(&t).end[0], rows(&t).size.get(0), t.clock.zero_unix_s), (0.1, 0.2, 512, None));
}

#[test]
fn damaged_lines_of_text_are_reported() {
    let parse =
        |text: &str| read(&Source::from_bytes("7.txt", text.as_bytes().to_vec()), None, &ReadOptions::default());
    let good = "0.1 0.2 pwrite 0 0 ( /a %p 512 10*r+5 )\n";
    let t = parse(&format!("{good}0.3 0.4 write 0 0 ( /a %p")).unwrap();
    assert_eq!((rows(&t).rank.get(0), offsets(&t), codes(&t)), (7, vec![Some(75)], vec!["damaged-tail"]));
    let t = parse(&format!("{good}nonsense\n{good}")).unwrap();
    assert_eq!((rows(&t).len(), codes(&t)), (2, vec!["unreadable-records"]));
}

/// Records of version 2.2: `status, start, end, result, function, arguments`.
fn record(status: u8, times: (i32, i32), result: i32, function: u8, args: &str) -> Vec<u8> {
    let mut r = vec![status];
    [times.0, times.1, result].into_iter().for_each(|n| r.extend(n.to_le_bytes()));
    r.push(function);
    r.extend(args.bytes());
    r.push(b'\n');
    r
}

fn records_folder(records: &[Vec<u8>]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(root.path().join(name), bytes).unwrap();
    write("VERSION", b"2.2.0".to_vec());
    let mut m = 1e-6f64.to_le_bytes().to_vec();
    [1i32, 2, 3, 0].into_iter().for_each(|n| m.extend(n.to_le_bytes()));
    m.extend(b"open\nclose\npwrite\nread\n");
    write("recorder.mt", m);
    write("0.mt", 1.7e9f64.to_le_bytes().to_vec());
    write("0.itf", records.concat());
    root
}

#[test]
fn records_refer_to_earlier_ones_and_name_descriptors() {
    let all = [
        record(0, (1, 2), 5, 0, " /a 66 420"),
        record(0, (3, 4), 0, 2, " 5 %p 100 0"),
        record(0x88, (5, 6), 0, 0, " 100"),
        record(0, (7, 8), 0, 3, " 5 %p 9"),
        record(0x8c, (9, 10), 0, 1, " 7 200"),
        record(0, (11, 12), 0, 1, " 5"),
    ];
    let t = open(records_folder(&all).path(), None);
    assert_eq!(offsets(&t), [Some(0), Some(100), Some(0), Some(200)]);
    assert_eq!(rows(&t).iter().map(|r| r.size).collect::<Vec<_>>(), [100, 100, 9, 7]);
    assert!(rows(&t).iter().all(|r| t.files.name(r.file) == "/a"));
    assert_eq!((t.files.len(), t.clock.zero_unix_s), (1, Some(1.7e9)));
    let fails = |bad: Vec<u8>| {
        let folder = records_folder(&[all[0].clone(), bad]);
        let source = Source::open(folder.path(), &ReadOptions::default().limits).unwrap();
        read(&source, None, &ReadOptions::default()).unwrap_err().to_string()
    };
    assert!(fails(record(0x81, (5, 6), 0, 1, " x")).contains("refers to the one 2 before it"));
    assert!(fails(record(0x83, (5, 6), 0, 0, " x")).contains("argument 1 of a call is missing"));
    assert!(fails(record(0x80, (5, 6), 0, 0, " x")).contains("more arguments"));
    assert!(fails(record(0, (5, 6), 0, 9, " x")).contains("function 9 of 4"));
}

#[test]
fn what_comes_after_31_bits_of_time_is_lost_with_a_warning() {
    let mut all = vec![
        record(0, (1, 2), 5, 0, " /a 66 420"),
        record(0, (3, 4), 0, 2, " 5 %p 100 0"),
        record(0, (3, 4), 0, 2, " 5 %p 1 0"),
    ];
    let mut cut = all.concat();
    cut.truncate(cut.len() - 3);
    let t = open(records_folder(&[cut]).path(), None);
    assert_eq!((rows(&t).len(), codes(&t)), (1, vec!["damaged-tail"]));
    all.insert(2, record(0, (i32::MIN, i32::MIN), 0, 2, " 5 %p 100 0"));
    let t = open(records_folder(&all).path(), None);
    assert_eq!((rows(&t).len(), codes(&t)), (1, vec!["damaged-tail"]));
    assert!(t.warnings[0].message.contains("times after 2147 s"), "{}", t.warnings[0].message);
}

#[test]
fn what_is_converted_to_csv_reads_back() {
    let made = std::iter::once(parse(&three_ranks(), false, &ReadOptions::default()));
    let recorded = samples().into_iter().flat_map(|(path, _)| LAYERS.map(|(_, layer)| open(&path, layer)));
    for t in made.chain(recorded).filter(|t| !t.data.is_empty()) {
        let mut files = Memory::default();
        writer("csv").unwrap().write(&t, &mut files).unwrap();
        let (_, bytes) = files.0.into_iter().next().unwrap();
        let back = read(&Source::from_bytes("x.csv", bytes), None, &ReadOptions::default()).unwrap();
        let row = |t: &Trace, r: Request| {
            let file = t.files.name(r.file).to_owned();
            (r.op, r.rank, file, r.offset, r.size, r.start.to_bits(), r.end.to_bits())
        };
        let all = |t: &Trace| rows(t).iter().map(|r| row(t, r)).collect::<Vec<_>>();
        assert_eq!(all(&back), all(&t), "{}", t.path);
    }
}
