//! DFTracer: recordings of seven releases with known content, hard lines, and damage.

use std::collections::BTreeMap;
use std::path::Path;

use super::common::shared;
use super::darshan::sha256;
use iophase::analysis::{self, Options};
use iophase::formats::{Detail, ReadOptions, Source, read};
use iophase::record::{Data, Op, Request, Requests, Trace, UNKNOWN_OFFSET};
use serde_json::Value;

fn open(path: &Path, detail: Detail) -> Trace {
    let options = ReadOptions { detail, ..ReadOptions::default() };
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

/// A digest of the transfers as `pid call file offset size start end`. It has failed calls and calls without a size, which are no
/// rows: recordings with such calls are compared by their totals above.
#[test]
fn transfers_are_those_of_the_digest() {
    for (path, expected) in samples() {
        let t = open(&path, Detail::Transfers);
        let Data::Requests(rows) = &t.data else { continue };
        let unknown = |key: &str| expected["totals"][key]["unknown"].as_u64().unwrap();
        if unknown("read") + unknown("write") + t.quality.records_left_out > 0 {
            continue;
        }
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
            let offset = if r.offset == UNKNOWN_OFFSET { "-".to_owned() } else { r.offset.to_string() };
            let file = Some(t.files.name(r.file)).filter(|f| !f.is_empty()).unwrap_or("?");
            let (pid, start, end) = (pid(r.rank), ns(r.start), ns(r.end));
            (start, end, pid, format!("{pid} {} {file} {offset} {} {start} {end}\n", t.calls.name(r.call), r.size))
        };
        let mut lines: Vec<_> = rows.iter().filter(|r| r.op.moves_bytes()).map(line).collect();
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
