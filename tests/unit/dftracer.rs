//! DFTracer: recordings of seven releases with known content, hard lines, and damage.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::darshan::sha256;
use common::shared;
use iophase::analysis::{self, Options};
use iophase::formats::{Detail, Limits, ReadOptions, Source, read, read_into};
use iophase::internals::formats::tail::Tail;
use iophase::record::{Batch, Calls, Data, Files, Op, Request, Requests, Restart, RowSink, Trace, UNKNOWN_OFFSET};
use serde_json::Value;

fn open(path: &Path, detail: Detail) -> Trace {
    let options = ReadOptions::default().detail(detail);
    read(&Source::open(path, &options.limits).unwrap(), None, &options).unwrap()
}

fn rows(t: &Trace) -> &Requests {
    match &t.data {
        Data::Requests(r) => r,
        Data::Intervals(_) => panic!("{}: intervals", t.path),
    }
}

fn parse(text: &str) -> Trace {
    let source = Source::from_bytes("x.pfw", text.as_bytes().to_vec());
    read(&source, None, &ReadOptions::default()).unwrap()
}

/// The recordings with what is in them.
fn samples() -> Vec<(std::path::PathBuf, Value)> {
    let folders = ["corpus/dftracer", "thirdparty/dftracer"];
    let found = folders.iter().filter_map(|f| shared(f)).flat_map(|f| std::fs::read_dir(f).unwrap());
    let expected = found.map(|e| e.unwrap().path()).filter(|p| p.to_string_lossy().ends_with(".expected.json"));
    let pair = |p: std::path::PathBuf| {
        let trace = p.to_string_lossy().strip_suffix(".expected.json").unwrap().into();
        (trace, serde_json::from_slice(&std::fs::read(&p).unwrap()).unwrap())
    };
    expected.map(pair).collect()
}

#[test]
fn recordings_hold_what_is_known_of_them() {
    for (path, expected) in samples() {
        let name = path.display();
        let t = open(&path, Detail::Transfers);
        assert_eq!(t.format, "dftracer", "{name}");
        if let (Data::Requests(_), Some(processes)) = (&t.data, expected["processes"].as_u64()) {
            assert_eq!(t.ranks, processes, "{name}");
        }
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        for (call, count) in expected["calls_by_name"].as_object().into_iter().flatten() {
            *calls.entry(call.split_once(' ').unwrap().1.to_owned()).or_default() += count.as_u64().unwrap();
        }
        assert_eq!(t.call_counts, calls, "{name}");
        let rows = match &t.data {
            Data::Requests(rows) => rows,
            Data::Intervals(rows) => {
                let moved = |op| rows.iter().filter(|r| r.op == op).map(|r| r.bytes).sum::<f64>();
                let (aggregated, node) = (&expected["aggregated"], &expected["vda"]);
                for (op, key) in [(Op::Read, "read"), (Op::Write, "write")] {
                    let of_calls = aggregated[format!("{key}_bytes")].as_f64();
                    let of_node = node[if key == "read" { "bytes_read_sum" } else { "bytes_written_sum" }].as_f64();
                    match (of_calls, of_node) {
                        (Some(bytes), _) => assert_eq!(moved(op), bytes, "{name} {key}"),
                        // The first sample is of an unknown time, and the samples have six digits.
                        (_, bytes) => assert!(moved(op) > 0.0 && moved(op) <= bytes.unwrap(), "{name} {key}"),
                    }
                }
                continue;
            }
        };
        for (op, key) in [(Op::Read, "read"), (Op::Write, "write")] {
            let bytes: u64 = rows.iter().filter(|r| r.op == op).map(|r| r.size).sum();
            assert_eq!(Some(bytes), expected["totals"][key]["bytes"].as_u64(), "{name} {key}");
        }
        let kept = rows.iter().filter(|r| r.op.moves_bytes()).count() as u64 + t.quality.records_left_out;
        let count = |key: &str| expected["totals"][key]["count"].as_u64().unwrap();
        assert_eq!(kept, count("read") + count("write"), "{name}");
    }
}

/// A digest of the transfers as `pid call file offset size start end`: size -1 of calls that failed, `?` of those that do not say.
#[test]
fn transfers_are_those_of_the_digest() {
    for (path, expected) in samples() {
        // Its hashes of 16 bits collide, and the digest takes the text of the last file for all of them.
        if path.ends_with("cm1") {
            continue;
        }
        let t = open(&path, Detail::Calls);
        let Data::Requests(rows) = &t.data else { continue };
        let total = |key: &str| ["read", "write"].map(|op| expected["totals"][op][key].as_u64().unwrap()).iter().sum();
        let (unknown, all): (u64, u64) = (total("unknown"), total("count"));
        assert!(unknown == 0 || unknown == all, "some calls have sizes, some have none");
        let process = |p: &Value| {
            let rank = p["rank"].as_u64();
            (rank, p["host"].as_str().unwrap_or("").to_owned(), p["pid"].as_u64().unwrap())
        };
        let mut processes: Vec<_> = expected["per_process"].as_array().unwrap().iter().map(process).collect();
        processes.sort();
        let pid = |rank: u32| {
            let ranked = processes.iter().find(|p| p.0 == Some(u64::from(rank)));
            ranked.unwrap_or_else(|| &processes[rank as usize]).2
        };
        let ns = |s: f64| t.origin_s * 1_000_000_000 + (s * 1e9).round() as i64;
        let line = |r: Request| {
            let call = t.calls.name(r.call);
            let failed = r.op == Op::Other
                && call.starts_with(char::is_lowercase)
                && (call.contains("read") || call.contains("write"));
            if !r.op.moves_bytes() && !failed {
                return None;
            }
            let offset = if r.offset == UNKNOWN_OFFSET { "-".to_owned() } else { r.offset.to_string() };
            let size = match (failed, unknown) {
                (true, _) => "-1".to_owned(),
                (_, 0) => r.size.to_string(),
                _ => "?".to_owned(),
            };
            let file = Some(t.files.name(r.file)).filter(|f| !f.is_empty()).unwrap_or("?");
            let (pid, start, end) = (pid(r.rank), ns(r.start), ns(r.end));
            Some((start, end, pid, format!("{pid} {call} {file} {offset} {size} {start} {end}\n")))
        };
        let mut lines: Vec<_> = rows.iter().filter_map(line).collect();
        lines.sort_by_key(|l| (l.0, l.1, l.2));
        let text: String = lines.into_iter().map(|l| l.3).collect();
        assert_eq!(sha256::hex(text.as_bytes()), expected["transfers_sha256"], "{}", path.display());
    }
}

#[test]
fn the_period_of_each_recording_is_found() {
    for (path, expected) in samples() {
        let Some(period) = expected["truth"]["period"].as_f64() else { continue };
        if expected["totals"]["write"]["unknown"].as_u64() > Some(0) {
            continue;
        }
        let report = analysis::analyze(&open(&path, Detail::Transfers), &Options::default()).unwrap().report;
        let found = report
            .signals
            .iter()
            .filter_map(|s| s.period.dominant.as_ref())
            .any(|d| (d.period_s / period - 1.0).abs() < 0.02);
        assert!(found, "{}: {period} s", path.display());
    }
}

#[test]
fn difficult_files_give_what_is_sound_in_them() {
    let Some(folder) = shared("corpus/dftracer/hostile") else { return };
    for (file, flagged) in [
        ("late_hash.pfw", false),
        ("members.pfw.gz", false),
        ("string_numbers.pfw", false),
        ("garbage_lines.pfw", true),
    ] {
        let t = open(&folder.join(file), Detail::Transfers);
        let bytes: u64 = rows(&t).iter().map(|r| r.size).sum();
        let codes: Vec<&str> = t.warnings.iter().map(|w| w.code.as_str()).filter(|c| *c != "no-ranks").collect();
        assert_eq!((bytes, codes), (8192, if flagged { vec!["unreadable-records"] } else { vec![] }), "{file}");
    }
    let t = open(&folder.join("late_hash.pfw"), Detail::Transfers);
    assert!(t.files.iter().any(|(_, name)| name == "/d/x"));
    let t = open(&folder.join("cut.pfw.gz"), Detail::Transfers);
    assert!(!rows(&t).is_empty() && t.warnings[0].code == "damaged-tail");
}

const TWO: &str = r#"[
{"id":"1","name":"write","cat":"POSIX","pid":"7","tid":"7","ts":"1700000000000000","dur":"10","ph":"X","args":{"hostname":"n","fname":"/d/a","ret":"4096"}}
{"id":"2","name":"pread","cat":"POSIX","pid":"7","tid":"7","ts":"1700000001000000","dur":"10","ph":"X","args":{"hostname":"n","fname":"/d/a","ret":100,"offset":512}}
]"#;

#[test]
fn numbers_in_quotes_and_offsets_of_positioned_calls() {
    let t = parse(TWO);
    let list: Vec<_> = rows(&t).iter().map(|r| (r.op, r.offset, r.size, r.start, r.end)).collect();
    assert_eq!(list, [(Op::Write, UNKNOWN_OFFSET, 4096, 0.0, 1e-5), (Op::Read, 512, 100, 1.0, 1.00001)]);
    assert_eq!((t.origin_s, t.files.name(rows(&t).file.get(0)), t.hosts[&0].as_ref()), (1_700_000_000, "/d/a", "n"));
}

#[test]
fn a_cut_last_line_and_a_line_of_garbage_are_reported() {
    let cut = &TWO[..TWO.len() - 20];
    let t = parse(cut);
    assert_eq!((rows(&t).len(), t.warnings[0].code.as_str()), (1, "damaged-tail"));
    let t = parse(&TWO.replacen("{\"id\":\"2\"", "!!\n{\"id\":\"2\"", 1));
    assert_eq!((rows(&t).len(), t.warnings[0].code.as_str()), (2, "unreadable-records"));
}

/// Rows as text, as a sink gets them that keeps none.
#[derive(Default)]
struct Passing {
    lines: Mutex<Vec<String>>,
    restarts: AtomicUsize,
}

impl RowSink for Passing {
    fn take(&self, batch: Batch<'_>) -> iophase::Result<()> {
        if let Data::Requests(rows) = &*batch.rows {
            self.lines.lock().unwrap().extend(rows.iter().map(|r| as_text(&r, batch.files, batch.calls)));
        }
        Ok(())
    }

    fn restart(&self, why: Restart) {
        assert_eq!((why, self.restarts.fetch_add(1, Ordering::SeqCst)), (Restart::Trace, 0));
        self.lines.lock().unwrap().clear();
    }
}

fn as_text(r: &Request, files: &Files, calls: &Calls) -> String {
    let (file, call) = (files.name(r.file), calls.name(r.call));
    format!("{} {call} {file} {} {} {} {}", r.rank, r.offset, r.size, r.start, r.end)
}

/// Reads without keeping rows; how often they came again.
fn pass(source: &Source) -> (Vec<String>, Trace, usize) {
    let sink = Passing::default();
    let trace = read_into(source, None, &ReadOptions::default(), &sink).unwrap();
    let mut lines = sink.lines.into_inner().unwrap();
    lines.sort();
    (lines, trace, sink.restarts.into_inner())
}

#[test]
fn rows_that_are_not_kept_are_the_same_rows() {
    let hostile = shared("corpus/dftracer/hostile").map(|f| f.join("late_hash.pfw"));
    for path in samples().into_iter().map(|s| s.0).chain(hostile) {
        let kept = open(&path, Detail::Transfers);
        let (lines, passed, _) = pass(&Source::open(&path, &Limits::default()).unwrap());
        if let Data::Requests(rows) = &kept.data {
            let mut expected: Vec<String> = rows.iter().map(|r| as_text(&r, &kept.files, &kept.calls)).collect();
            expected.sort();
            assert_eq!(lines, expected, "{}", path.display());
        }
        assert_eq!((passed.ranks, passed.layers, passed.warnings), (kept.ranks, kept.layers, kept.warnings));
    }
}

#[test]
fn rows_come_again_only_if_a_later_line_changes_them() {
    let event = |id: u32, pid: u32, hash: &str| {
        format!(
            r#"{{"id":{id},"name":"write","cat":"POSIX","pid":{pid},"tid":{pid},"ts":1700000000000000,"dur":1,"ph":1,"args":{{"hhash":"h","fhash":"{hash}","ret":1}}}}"#
        )
    };
    let meta = |name: &str, pid: u32, text: &str, value: &str| {
        format!(
            r#"{{"name":"{name}","cat":"dftracer","pid":{pid},"tid":{pid},"ph":4,"args":{{"hhash":"h","name":"{text}","value":"{value}"}}}}"#
        )
    };
    let text = |lines: &[String]| lines.join("\n") + "\n";
    let pass = |text: String| pass(&Source::from_bytes("x.pfw", text.into_bytes()));
    let (file, host) = (meta("FH", 1, "/d/a", "f"), meta("HH", 1, "n", "h"));
    let (lines, _, restarts) = pass(text(&[host.clone(), file.clone(), event(1, 1, "f"), event(2, 1, "?")]));
    assert_eq!((lines.len(), restarts), (2, 0));
    assert!(lines[0].contains("/d/a") && lines[1].contains("fhash:?"), "{lines:?}");
    // Lines that change them stand beyond the bytes that are looked at first, and beyond the rows that are given first.
    let many: Vec<String> = (0..20_000).map(|i| event(i, 1, "f")).collect();
    let with = |first: &[String], last: String| pass(text(&[first, &many, &[last]].concat()));
    for (first, last, restarts) in [
        (vec![host.clone(), file.clone()], meta("SH", 1, "x", "y"), 0),
        (vec![host.clone(), file.clone()], meta("PR", 1, "rank", "3"), 1),
        (vec![host.clone(), file.clone()], event(2, 0, "f"), 1),
        (vec![host.clone()], file.clone(), 1),
    ] {
        let (lines, trace, again) = with(&first, last);
        assert_eq!(again, restarts);
        assert!(lines.len() >= 20_000 && lines.iter().all(|l| l.contains("/d/a")));
        assert_eq!(
            lines.iter().filter(|l| l.starts_with("3 ")).count(),
            if trace.ranks == 1 && restarts == 1 && first.len() == 2 { 20_000 } else { 0 }
        );
    }
}

#[test]
fn short_hashes_that_collide_mean_what_their_own_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |pid: u32, name: &str, explains: bool| {
        let mut text = format!(
            "[\n{{\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":{pid},\"tid\":1,\"ph\":\"M\",\"args\":{{\"name\":\"n\",\"value\":1}}}}\n"
        );
        if explains {
            text += &format!(
                "{{\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":{pid},\"tid\":1,\"ph\":\"M\",\"args\":{{\"name\":\"{name}\",\"value\":7}}}}\n"
            );
        }
        text + &format!(
            "{{\"id\":1,\"name\":\"write\",\"cat\":\"POSIX\",\"pid\":{pid},\"tid\":1,\"ts\":1700000000000000,\"dur\":1,\"ph\":\"X\",\"args\":{{\"hhash\":1,\"fhash\":7,\"ret\":1}}}}\n"
        )
    };
    for (i, explains) in [(1, true), (2, true), (3, false)] {
        std::fs::write(folder.path().join(format!("{i}.pfw")), lines(i, &format!("/d/{i}"), explains)).unwrap();
    }
    let source = Source::open(folder.path(), &Limits::default()).unwrap();
    let t = read(&source, None, &ReadOptions::default()).unwrap();
    let names: Vec<_> = rows(&t).iter().map(|r| (r.rank, t.files.name(r.file))).collect();
    assert_eq!(names, [(0, "/d/1"), (1, "/d/2"), (2, "/d/1")]);
    assert_eq!(pass(&source).0, rows(&t).iter().map(|r| as_text(&r, &t.files, &t.calls)).collect::<Vec<_>>());
}

#[test]
fn failed_transfers_are_calls_that_move_nothing() {
    let text = TWO.replacen("\"ret\":\"4096\"", "\"ret\":\"-1\"", 1);
    let source = Source::from_bytes("x.pfw", text.into_bytes());
    let read = |detail| read(&source, None, &ReadOptions::default().detail(detail)).unwrap();
    assert_eq!(rows(&read(Detail::Transfers)).len(), 1);
    let t = read(Detail::Calls);
    assert_eq!(rows(&t).iter().map(|r| (r.op, r.size)).collect::<Vec<_>>(), [(Op::Other, 0), (Op::Read, 100)]);
    assert_eq!((t.quality.records_left_out, t.call_counts["write"]), (1, 1));
}

#[test]
fn a_growing_file_gives_its_transfers_but_no_others() {
    let text = [
        r#"["#,
        r#"{"name":"CM","cat":"dftracer","pid":7,"tid":7,"ph":4,"args":{"name":"time_metric","value":"MS"}}"#,
        r#"{"name":"FH","cat":"dftracer","pid":7,"tid":7,"ph":4,"args":{"name":"/dev/x","value":"d"}}"#,
        r#"{"name":"write","cat":"POSIX","pid":7,"tid":7,"ts":1700000000500,"dur":250,"ph":1,"args":{"fhash":"d","ret":9}}"#,
        r#"{"name":"write","cat":"POSIX","pid":7,"tid":7,"ts":1700000000500,"dur":250,"ph":1,"args":{"fhash":"e","ret":5}}"#,
        r#"nonsense"#,
        r#"{"name":"open","cat":"POSIX","pid":7,"tid":7,"ts":1700000000500,"dur":250,"ph":1,"args":{"fhash":"e"}}"#,
        r#"{"name":"read","cat":"POSIX","pid":7,"tid":7,"ts":1700000001000,"dur":0,"ph":1,"args":{"fhash":"e","ret":6}}"#,
        r#"]"#,
    ]
    .join("\n");
    for piece in [1, 7, 4096] {
        let mut tail = Tail::new(None, &Limits::default()).unwrap();
        let mut found = Vec::new();
        for part in text.as_bytes().chunks(piece) {
            tail.push(part);
            while let Some(m) = tail.next_message().unwrap() {
                found.extend(m.transfers.iter().map(|t| (t.op, t.start, t.end, t.bytes)));
            }
        }
        let expected =
            [(Op::Write, 1_700_000_000.5, 1_700_000_000.75, 5.0), (Op::Read, 1_700_000_001.0, 1_700_000_001.0, 6.0)];
        let format = tail.form().map(|f| f.format.as_str());
        assert_eq!((&found[..], format, tail.faults().malformed), (&expected[..], Some("dftracer"), 1));
        assert!(tail.rereads());
    }
}
