//! Darshan logs: stored goldens, the figures of the reference library, damage, folders of logs.

#![allow(clippy::print_stdout)] // Tests say why they skip.

pub mod sha256;
mod text;
mod write;

use common::shared;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use self::write::Writer;
use iophase::formats::{self, Detail, Format, Limits, ReadOptions, Source, collect};
use iophase::internals::formats::darshan::{Darshan, DxtRecord, Log, Module, Schema, Segment, segment_bytes};
use iophase::record::{CounterModule, Data, Interval, Layer, LayerSummary, Op, Request, Timing, Trace, UNKNOWN_OFFSET};
use iophase::{Error, ErrorKind, Remedy};
use serde_json::Value;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/darshan")
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn read_bytes(bytes: &[u8], options: &ReadOptions) -> Result<Trace, Error> {
    formats::read(&Source::from_bytes("log.darshan", bytes), None, options)
}

fn read_path(path: &Path, options: &ReadOptions) -> Result<Trace, Error> {
    formats::read(&Source::open(path, &options.limits)?, None, options)
}

fn all_layers() -> ReadOptions {
    ReadOptions::default().all_layers(true)
}

fn layer(of: Layer) -> ReadOptions {
    ReadOptions::default().layer(Some(of))
}

fn summary<'a>(trace: &'a Trace, name: &str) -> Option<&'a LayerSummary> {
    trace.layers.iter().find(|s| s.layer == name)
}

fn codes(trace: &Trace) -> Vec<&str> {
    trace.warnings.iter().map(|w| w.code.as_str()).collect()
}

fn requests(trace: &Trace) -> Vec<Request> {
    match &trace.data {
        Data::Requests(r) => r.iter().collect(),
        Data::Intervals(_) => panic!("intervals"),
    }
}

fn intervals(trace: &Trace) -> Vec<Interval> {
    match &trace.data {
        Data::Intervals(r) => r.iter().collect(),
        Data::Requests(_) => panic!("requests"),
    }
}

/// Every row of a trace upholds what readers promise.
fn check_rows(trace: &Trace) {
    match &trace.data {
        Data::Requests(r) => {
            for x in r.iter() {
                assert!(x.start.is_finite() && x.end.is_finite() && x.start <= x.end, "{x:?}");
            }
            for n in [
                r.op.len(),
                r.call.len(),
                r.rank.len(),
                r.task.len(),
                r.file.len(),
                r.offset.len(),
                r.size.len(),
                r.end.len(),
            ] {
                assert_eq!(n, r.len());
            }
        }
        Data::Intervals(i) => {
            for x in i.iter() {
                assert!(x.start.is_finite() && x.end.is_finite() && x.start <= x.end && x.bytes >= 0.0, "{x:?}");
            }
        }
    }
}

// ---- stored logs with what is known of them -------------------------------------------------------------------------

#[test]
fn sound_logs_equal_their_stored_decodings() {
    let all = json(&data().join("expected.json"));
    let all = all.as_object().unwrap();
    assert_eq!(all.len(), std::fs::read_dir(data().join("good")).unwrap().count());
    for (name, want) in all {
        let log = Log::new(std::fs::read(data().join("good").join(name)).unwrap(), &Limits::default()).unwrap();
        expect_header(name, &log, want);
        for (module, want) in want["modules"].as_object().unwrap() {
            let what = format!("{name}: {module}");
            let slot = log.header().slots.iter().find(|s| s.module.name() == *module).expect(&what);
            assert_eq!(u64::from(slot.module.number()), want["id"], "{what}");
            assert_eq!(u64::from(slot.file_index), want["file_index"], "{what}");
            assert_eq!(u64::from(slot.version), want["version"], "{what}");
            assert_eq!(slot.partial, want["partial"], "{what}");
            assert_eq!((slot.offset, slot.length), (num(&want["offset"]), num(&want["compressed_bytes"])), "{what}");
            if slot.length == 0 {
                continue;
            }
            let streams_and_bytes = (num(&want["streams"]), num(&want["uncompressed_bytes"]));
            assert_eq!(log.measure(slot.module).unwrap(), streams_and_bytes, "{what}");
            match slot.module {
                Module::Posix => expect_counters(&what, &log, Layer::Posix, want),
                Module::MpiIo => expect_counters(&what, &log, Layer::Mpiio, want),
                Module::Stdio => expect_counters(&what, &log, Layer::Stdio, want),
                Module::DxtPosix => expect_segments(&what, &log, Layer::Posix, slot.module, want),
                Module::DxtMpiio => expect_segments(&what, &log, Layer::Mpiio, slot.module, want),
                m => assert_eq!(log.count(m).unwrap(), want["n_records"].as_u64(), "{what}"),
            }
        }
        assert_eq!(log.header().slots.len(), want["modules"].as_object().unwrap().len(), "{name}");
    }
}

/// The columns of the trace are the records of the log, in logs of all versions and byte orders.
#[test]
fn counters_become_columns() {
    let mut logs: Vec<PathBuf> = std::fs::read_dir(data().join("good")).unwrap().map(|e| e.unwrap().path()).collect();
    if let Some(folder) = shared("thirdparty/darshan/release_logs") {
        logs.extend(std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()));
    }
    let mut compared = 0;
    for path in logs {
        let log = Log::new(std::fs::read(&path).unwrap(), &Limits::default()).unwrap();
        let read = ReadOptions::default().counters(true);
        let trace = formats::read(&Source::open(&path, &read.limits).unwrap(), None, &read).unwrap();
        let c = trace.counters.as_ref().unwrap();
        assert_eq!(c.mounts.len(), log.job().mounts.len());
        for (layer, module) in [
            (Layer::Posix, CounterModule::Posix),
            (Layer::Mpiio, CounterModule::Mpiio),
            (Layer::Stdio, CounterModule::Stdio),
        ] {
            let (Some(want), Some(t)) = (log.counters(layer).unwrap(), c.table(module)) else {
                assert!(c.table(module).is_none_or(|t| t.is_empty()), "{path:?}");
                continue;
            };
            assert_eq!(t.len(), want.records.len());
            for (i, r) in want.records.iter().enumerate() {
                assert_eq!(t.rank.get(i), u32::try_from(r.rank).ok(), "{path:?}");
                compared += 1;
                for (name, column) in &t.ints {
                    assert_eq!(Some(column.get(i)), want.int(i, name), "{path:?} {name}");
                }
                for (name, column) in &t.reals {
                    assert_eq!(Some(column.get(i).to_bits()), want.float(i, name).map(f64::to_bits), "{path:?} {name}");
                }
            }
            let schema = Schema::of(layer);
            assert_eq!(t.ints.len() + t.reals.len() + want.absent.len(), schema.ints.len() + schema.floats.len());
        }
    }
    assert!(compared > 20, "{compared}");
}

#[track_caller]
fn num(v: &Value) -> u64 {
    match v.as_u64() {
        Some(n) => n,
        None => panic!("{v} is no count"),
    }
}

fn expect_header(name: &str, log: &Log, want: &Value) {
    let (h, w) = (log.header(), &want["header"]);
    assert_eq!(h.version, w["version"], "{name}");
    assert_eq!(h.order.name(), w["endian"], "{name}");
    assert_eq!(h.compression.name(), w["compression"], "{name}");
    assert_eq!((h.length, h.partial_bits), (num(&w["header_len"]), num(&w["partial_bits_file"])), "{name}");
    assert_eq!(h.names, (num(&w["name_region"]["offset"]), num(&w["name_region"]["length"])), "{name}");
    let (j, w) = (log.job(), &want["job"]);
    assert_eq!(j.bytes as u64, w["record_bytes"], "{name}");
    assert_eq!(j.uid, w["uid"], "{name}");
    assert_eq!((j.start.0, j.start.1), (w["start_time_sec"].as_i64().unwrap(), w["start_time_nsec"].as_i64().unwrap()));
    assert_eq!((j.end.0, j.end.1), (w["end_time_sec"].as_i64().unwrap(), w["end_time_nsec"].as_i64().unwrap()));
    assert_eq!((j.processes, j.id), (w["nprocs"].as_i64().unwrap(), w["jobid"].as_i64().unwrap()), "{name}");
    assert_eq!(j.run_time_s(), w["run_time"].as_f64().unwrap(), "{name}");
    assert_eq!(j.executable, w["exe"], "{name}");
    let metadata: BTreeMap<&str, &str> = j.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(serde_json::to_value(metadata).unwrap(), w["metadata"], "{name}");
    assert_eq!(serde_json::to_value(&j.mounts).unwrap(), w["mounts"], "{name}");
    let (n, w) = (log.names(), &want["names"]);
    assert_eq!((n.records(), n.len() as u64), (num(&w["n_records"]), num(&w["n_ids"])), "{name}");
    assert_eq!(n.longest() as u64, w["longest"].as_u64().unwrap_or(0), "{name}");
    let mut by_id: Vec<(u64, &str)> = n.iter().collect();
    by_id.sort_unstable();
    let lines: String = by_id.iter().map(|(id, path)| format!("{id}\t{path}\n")).collect();
    // a log of the job alone has no names
    assert_eq!((!n.is_empty()).then(|| sha256::hex(lines.as_bytes())).as_deref(), w["sha256"].as_str(), "{name}");
    for (got, want) in n.iter().zip(w["first"].as_array().into_iter().flatten()) {
        assert_eq!((got.0.to_string().as_str(), got.1), (want["id"].as_str().unwrap(), want["name"].as_str().unwrap()));
    }
}

fn expect_counters(what: &str, log: &Log, layer: Layer, want: &Value) {
    let table = log.counters(layer).unwrap().unwrap();
    let schema = Schema::of(layer);
    assert_eq!(table.records.len() as u64, want["n_records"], "{what}");
    assert_eq!(
        (table.walked.records, table.walked.trailing_bytes),
        (num(&want["n_records"]), num(&want["trailing_bytes"]))
    );
    assert_eq!(table.walked.left_out, want["dropped_v1_stdio_records"], "{what}");
    let shared = table.records.iter().filter(|r| r.rank == -1).count();
    assert_eq!(shared as u64, want["n_shared_records"], "{what}");
    assert_eq!(serde_json::to_value(&table.absent).unwrap(), want["absent_counters"], "{what}");
    for (name, sum) in want["counter_sums"].as_object().unwrap() {
        let got: i64 = (0..table.records.len()).map(|i| table.int(i, name).unwrap()).sum();
        assert_eq!(got, sum.as_i64().unwrap(), "{what} {name}");
    }
    for (name, sum) in want["fcounter_sums"].as_object().unwrap() {
        let got: f64 = (0..table.records.len()).map(|i| table.float(i, name).unwrap()).sum();
        assert_eq!(got, sum.as_f64().unwrap(), "{what} {name}");
    }
    let mut lines = String::new();
    let mut floats = Vec::new();
    for r in &table.records {
        assert_eq!((r.ints.len(), r.floats.len()), (schema.ints.len(), schema.floats.len()));
        let row: Vec<String> = r.ints.iter().map(i64::to_string).collect();
        writeln!(lines, "{} {} {}", r.id, r.rank, row.join(" ")).unwrap();
        floats.extend(r.floats.iter().flat_map(|x| x.to_le_bytes()));
    }
    assert_eq!(sha256::hex(lines.as_bytes()), want["counters_sha256"], "{what}");
    assert_eq!(sha256::hex(&floats), want["fcounters_sha256"], "{what}");
}

fn expect_segments(what: &str, log: &Log, layer: Layer, module: Module, want: &Value) {
    let version = want["version"].as_u64().unwrap() as u32;
    assert_eq!(segment_bytes(module, version) as u64, want["segment_size"], "{what}");
    let records = log.dxt(layer).unwrap();
    assert_eq!(records.len() as u64, want["n_records"], "{what}");
    let mut rows: Vec<(i64, &str, i64, i64)> = Vec::new();
    for r in &records {
        rows.extend(r.writes.iter().map(|s| (r.header.rank, "w", s.offset, s.length)));
        rows.extend(r.reads.iter().map(|s| (r.header.rank, "r", s.offset, s.length)));
    }
    let digest = |rows: &[(i64, &str, i64, i64)]| {
        let mut rows = rows.to_vec();
        rows.sort();
        let lines: String =
            rows.iter().map(|(rank, op, offset, length)| format!("{rank} {op} {offset} {length}\n")).collect();
        sha256::hex(lines.as_bytes())
    };
    assert_eq!(digest(&rows), want["sorted_sha256"], "{what}");
    assert!(want["pairs"][0]["first_segments"].is_array(), "{what}");
    for pair in want["pairs"].as_array().unwrap() {
        let id: u64 = pair["file_id"].as_str().unwrap().parse().unwrap();
        let rank = pair["rank"].as_i64().unwrap();
        let mine: Vec<_> = records.iter().filter(|r| (r.header.id, r.header.rank) == (id, rank)).collect();
        assert_eq!(mine.len() as u64, pair["n_records"], "{what}");
        assert_eq!(Some(&*mine[0].header.host()), pair["host"].as_str(), "{what}");
        assert_eq!(mine.iter().map(|r| r.writes.len() as u64).sum::<u64>(), pair["n_write"], "{what}");
        assert_eq!(mine.iter().map(|r| r.reads.len() as u64).sum::<u64>(), pair["n_read"], "{what}");
        assert_eq!(log.names().get(id), pair["file"].as_str(), "{what}");
        let all = || mine.iter().flat_map(|r| r.writes.iter().chain(&r.reads));
        let bytes = |segments: &dyn Fn(&DxtRecord) -> i64| mine.iter().map(|r| segments(r)).sum::<i64>();
        assert_eq!(bytes(&|r| r.writes.iter().map(|s| s.length).sum()), pair["bytes_written"], "{what}");
        assert_eq!(bytes(&|r| r.reads.iter().map(|s| s.length).sum()), pair["bytes_read"], "{what}");
        assert_eq!(all().map(|s| s.offset).min(), pair["min_offset"].as_i64(), "{what}");
        let rows: Vec<_> = mine
            .iter()
            .flat_map(|r| {
                let row = |op| move |s: &Segment| (rank, op, s.offset, s.length);
                r.writes.iter().map(row("w")).chain(r.reads.iter().map(row("r"))).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(digest(&rows), pair["sorted_sha256"], "{what}");
        // in the order of the file; told of the first ranks only
        let first = pair["first_segments"].as_array().map_or(&[][..], Vec::as_slice);
        let ops = mine.iter().flat_map(|r| {
            r.writes.iter().map(|s| ("write", s)).chain(r.reads.iter().map(|s| ("read", s))).collect::<Vec<_>>()
        });
        let seen: Vec<Value> = ops
            .take(first.len())
            .map(|(op, s)| {
                let mut segment = serde_json::json!({
                    "op": op, "offset": s.offset, "length": s.length, "start": s.start, "end": s.end
                });
                if s.thread != 0 {
                    segment["pthread_id"] = s.thread.to_string().into();
                }
                segment
            })
            .collect();
        assert_eq!(seen, first, "{what}");
    }
    let all = || records.iter().flat_map(|r| r.writes.iter().chain(&r.reads));
    let count =
        |f: &dyn Fn(&iophase::internals::formats::darshan::Segment) -> bool| all().filter(|s| f(s)).count() as u64;
    assert_eq!(count(&|s| s.length == 0), want["n_zero_length"], "{what}");
    assert_eq!(count(&|s| s.offset < 0), want["n_negative_offset"], "{what}");
    assert_eq!(count(&|s| s.end < s.start), want["n_end_before_start"], "{what}");
    assert_eq!(count(&|s| s.end == s.start), want["n_zero_duration"], "{what}");
    assert_eq!(all().map(|s| s.start).fold(f64::INFINITY, f64::min), want["min_start"], "{what}");
    assert_eq!(all().map(|s| s.end).fold(f64::NEG_INFINITY, f64::max), want["max_end"], "{what}");
    // Thread handles are addresses: in the byte order of the file or not at all.
    assert_eq!(all().all(|s| s.thread == 0), segment_bytes(module, version) == 32, "{what}");
    assert!(all().all(|s| s.thread < 1 << 48), "{what}");

    // The rows of the trace are the same segments.
    let trace = read_bytes(
        &std::fs::read(data().join("good").join(what.split(':').next().unwrap())).unwrap(),
        &ReadOptions::default().layer(Some(layer)).all_layers(true),
    )
    .unwrap();
    check_rows(&trace);
    assert_eq!((trace.layer, trace.timing), (Some(layer), Timing::Request), "{what}");
    let mut got: Vec<_> = requests(&trace)
        .iter()
        .map(|r| {
            let offset = if r.offset == UNKNOWN_OFFSET { -1 } else { r.offset as i64 };
            (i64::from(r.rank), if r.op == Op::Write { "w" } else { "r" }, offset, r.size as i64)
        })
        .collect();
    got.sort();
    assert_eq!(digest(&got), want["sorted_sha256"], "{what}");
    let s = summary(&trace, &format!("dxt-{}", layer.name())).unwrap();
    assert_eq!((s.reads, s.writes), (want["n_read_segments"].as_u64(), want["n_write_segments"].as_u64()), "{what}");
    assert_eq!((s.bytes_read, s.bytes_written), (num(&want["bytes_read"]), num(&want["bytes_written"])), "{what}");
    assert_eq!((s.first_s, s.last_s), (want["min_start"].as_f64(), want["max_end"].as_f64()), "{what}");
    assert_eq!(trace.quality.clamped, num(&want["n_end_before_start"]), "{what}");
    let partial: Vec<_> =
        log.header().slots.iter().filter(|s| s.partial).map(|s| s.module.name().into_owned()).collect();
    assert_eq!(trace.quality.partial, partial, "{what}");
}

#[test]
fn hostile_logs_give_the_stored_error() {
    let verdicts = json(&data().join("hostile/verdicts.json"));
    let mut checked = 0;
    for (name, verdict) in verdicts.as_object().unwrap() {
        let path = data().join(format!("hostile/{name}.darshan"));
        let bytes = match name.as_str() {
            "bomb_20000_empty_streams" => Writer::new(1, 1).module(10, 1, vec![Vec::new(); 20_000]).finish(),
            "bomb_zlib_64_mib" => Writer::new(1, 1).module(10, 1, vec![vec![0; 64 << 20]]).finish(),
            _ => std::fs::read(path).unwrap(),
        };
        // Another format may claim what is no Darshan log, so ask this one.
        let source = Source::from_bytes(name, bytes);
        for options in [ReadOptions::default(), all_layers()] {
            let result = collect(&Darshan, std::slice::from_ref(&source), &options);
            let flagged = result.as_ref().is_ok_and(|t| !t.warnings.is_empty());
            let fine = match verdict["expect"].as_str().unwrap() {
                "error" => result.is_err(),
                "error-by-limit" => result.as_ref().is_err_and(|e| e.kind() == ErrorKind::Limit),
                "flag" => flagged,
                "flag-or-error" => flagged || result.is_err(),
                "accept" => result.is_ok(),
                "accept-or-error" => true,
                other => panic!("{other}"),
            };
            let said = result.map(|t| t.warnings).map_err(|e| e.to_string());
            assert!(fine, "{name} should be {verdict} and is {said:?}");
        }
        checked += 1;
    }
    assert_eq!(checked, 27);
}

// ---- the reference library -------------------------------------------------------------------------------------------

/// Every log of the shared folders is read, and holds what the reference library says (`scripts/darshan_oracle.py`).
#[test]
fn figures_equal_those_of_the_reference_library() {
    let Some(shared) = shared(".") else {
        return;
    };
    let reference = json(&data().join("reference.json"));
    for (name, want) in reference.as_object().unwrap() {
        let trace = read_path(&shared.join(name), &all_layers()).unwrap_or_else(|e| panic!("{e}"));
        check_rows(&trace);
        if want["failed"].as_array().is_some_and(|f| f.iter().any(|x| x == "open")) {
            // The published builds of the library have no bzip2.
            assert_eq!(trace.header.compression.as_deref(), Some("bzip2"), "{name}");
            continue;
        }
        let job = trace.job.as_ref().unwrap();
        assert_eq!(job.id, want["job"]["id"].as_i64(), "{name}");
        assert_eq!(
            (job.ranks, Some(trace.ranks)),
            (want["job"]["ranks"].as_u64(), want["job"]["ranks"].as_u64()),
            "{name}"
        );
        let seconds = |v: &Value| v[0].as_f64().unwrap() + v[1].as_f64().unwrap() * 1e-9;
        assert_eq!(job.start_unix_s, Some(seconds(&want["job"]["start"])), "{name}");
        assert_eq!(job.end_unix_s, Some(seconds(&want["job"]["end"])), "{name}");
        assert!((job.run_time_s.unwrap() - want["job"]["run_time_s"].as_f64().unwrap()).abs() < 1e-6, "{name}");
        if let Some(exe) = want["executable"].as_str() {
            assert_eq!(job.executable.as_deref(), Some(exe), "{name}");
        }
        for (module, layer) in [
            ("POSIX", "posix"),
            ("MPI-IO", "mpiio"),
            ("STDIO", "stdio"),
            ("DXT_POSIX", "dxt-posix"),
            ("DXT_MPIIO", "dxt-mpiio"),
        ] {
            expect_layer(name, &trace, layer, &want[module]);
        }
        for layer in ["posix", "mpiio", "stdio"] {
            expect_layer(name, &trace, &format!("heatmap-{layer}"), &want["HEATMAP"][layer]);
        }
        for (module, facts) in want["modules"].as_object().unwrap() {
            let partial = trace.quality.partial.iter().any(|p| p == module);
            // The library does not swap the flags of logs in the other byte order.
            assert!(
                partial == facts["partial"] || trace.header.byte_order.as_deref() == Some("big"),
                "{name} {module}"
            );
        }
    }
}

fn expect_layer(name: &str, trace: &Trace, layer: &str, want: &Value) {
    let Some(s) = summary(trace, layer) else {
        assert!(want.is_null() || want["records"] == 0, "{name}: no {layer}, expected {want}");
        return;
    };
    assert!(!want.is_null(), "{name}: {s:?}");
    assert_eq!(
        (s.bytes_read, s.bytes_written),
        (num(&want["bytes_read"]), num(&want["bytes_written"])),
        "{name} {layer}"
    );
    if !layer.starts_with("heatmap") {
        assert_eq!((s.reads, s.writes), (want["reads"].as_u64(), want["writes"].as_u64()), "{name} {layer}");
    }
    if layer.starts_with("dxt") {
        assert_eq!(Some(s.records), Some(num(&want["reads"]) + num(&want["writes"])), "{name} {layer}");
        assert_eq!((s.first_s, s.last_s), (want["first_s"].as_f64(), want["last_s"].as_f64()), "{name} {layer}");
    } else {
        assert_eq!(s.records, num(&want["records"]), "{name} {layer}");
    }
}

/// Every Darshan log of the shared folders is in the reference or in the stored expectations.
#[test]
fn every_shared_log_has_reference_figures() {
    let Some(shared) = shared(".") else {
        return;
    };
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                walk(&entry.path(), found);
            } else if kind.is_file() && entry.path().extension().is_some_and(|e| e == "darshan") {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    for folder in ["corpus", "thirdparty"] {
        walk(&shared.join(folder), &mut found);
    }
    let reference = json(&data().join("reference.json"));
    for path in found {
        let name = path.strip_prefix(&shared).unwrap().to_str().unwrap().to_owned();
        let known = reference.get(&name).is_some() || name.starts_with("corpus/darshan-synth/");
        assert!(known, "{name} has no reference");
    }
}

// ---- which data is taken ---------------------------------------------------------------------------------------------

const POSIX: (usize, usize) = (69, 17);
const MPIIO: (usize, usize) = (51, 17);
const STDIO: (usize, usize) = (14, 15);

/// POSIX counters of one file: bytes read from 1 s to 2 s, bytes written from 3 s to 5 s.
fn posix_counters(id: u64, rank: i64, read: i64, written: i64) -> Vec<u8> {
    let times = [(1, 1.0), (5, 2.0), (2, 3.0), (6, 5.0)];
    Writer::counters(id, rank, POSIX, &[(3, 1), (4, 1), (14, read), (15, written)], &times)
}

fn stdio_counters(id: u64, read: i64, written: i64) -> Vec<u8> {
    let times = [(6, 1.0), (10, 2.0), (5, 3.0), (9, 5.0)];
    Writer::counters(id, 0, STDIO, &[(2, 1), (3, 1), (7, read), (6, written)], &times)
}

fn mpiio_counters(id: u64, written: i64) -> Vec<u8> {
    Writer::counters(id, -1, MPIIO, &[(5, 2), (15, written)], &[(2, 0.5), (6, 1.5)])
}

fn names(w: Writer) -> Writer {
    w.name(1, "/scratch/a")
        .name(2, "/scratch/b")
        .name(7, "heatmap:POSIX")
        .name(8, "heatmap:MPIIO")
        .name(9, "heatmap:STDIO")
}

#[test]
fn segments_are_preferred_to_heatmaps_and_counters() {
    let log = names(Writer::new(5, 4))
        .module(1, 4, vec![posix_counters(1, 0, 0, 10)])
        .module(10, 1, vec![Writer::dxt_record(1, 3, &[(0, 10, 1.0, 2.0)], &[(4, 0, 3.0, 3.0)])])
        .module(15, 1, vec![Writer::heatmap_record(7, 0, 0.5, &[10, 0], &[0, 0])])
        .finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!((t.layer, t.timing, t.bin_s), (Some(Layer::Posix), Timing::Request, None));
    let rows = requests(&t);
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].op, rows[0].rank, rows[0].offset, rows[0].size), (Op::Write, 3, 0, 10));
    assert_eq!((rows[1].op, rows[1].size, rows[1].start, rows[1].end), (Op::Read, 0, 3.0, 3.0));
    assert_eq!(t.files.name(rows[0].file), "/scratch/a");
    assert_eq!((t.ranks, t.job.as_ref().unwrap().id), (4, Some(5)));
    assert_eq!(t.call_counts.get("posix_writes"), Some(&1));
    assert!(t.warnings.is_empty(), "{:?}", t.warnings);
}

#[test]
fn heatmaps_give_one_interval_per_bin() {
    let log = names(Writer::new(5, 4))
        .module(
            15,
            1,
            vec![
                Writer::heatmap_record(7, 0, 0.5, &[10, 0, 20], &[0, 5, 0]),
                // One bin more than the first record, as some releases wrote: nothing of it is lost.
                Writer::heatmap_record(7, 2, 0.5, &[0, 0, 0, 7], &[0, 0, 0, -3]),
            ],
        )
        .finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!((t.layer, t.timing, t.bin_s), (Some(Layer::Posix), Timing::Heatmap, Some(0.5)));
    let rows: Vec<_> = intervals(&t).iter().map(|i| (i.op, i.rank, i.bytes, i.start, i.end)).collect();
    assert_eq!(
        rows,
        [
            (Op::Write, 0, 10.0, 0.0, 0.5),
            (Op::Write, 0, 20.0, 1.0, 1.5),
            (Op::Read, 0, 5.0, 0.5, 1.0),
            (Op::Write, 2, 7.0, 1.5, 2.0)
        ]
    );
    assert_eq!((t.quality.records_read, t.quality.records_dropped), (5, 1));
    let s = summary(&t, "heatmap-posix").unwrap();
    assert_eq!((s.records, s.bytes_read, s.bytes_written, s.first_s, s.last_s), (2, 5, 37, Some(0.0), Some(2.0)));
}

#[test]
fn counters_are_used_without_other_data() {
    let log = names(Writer::new(5, 4))
        .module(1, 4, vec![posix_counters(1, -1, 100, 40), posix_counters(2, 2, 0, 0)])
        .finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!((t.layer, t.timing), (Some(Layer::Posix), Timing::Counter));
    let rows: Vec<_> = intervals(&t).iter().map(|i| (i.op, i.rank, i.bytes, i.start, i.end)).collect();
    assert_eq!(rows, [(Op::Read, 0, 100.0, 1.0, 2.0), (Op::Write, 0, 40.0, 3.0, 5.0)]);
    assert_eq!(codes(&t), ["coarse-timing", "shared-records"]);
}

#[test]
fn a_job_record_of_whole_seconds_is_known_by_its_text() {
    let mut writer = Writer::new(5, 4);
    writer.whole_seconds = true;
    let t =
        read_bytes(&names(writer).module(1, 4, vec![posix_counters(1, -1, 100, 40)]).finish(), &ReadOptions::default());
    let t = t.unwrap();
    let job = t.job.unwrap();
    assert_eq!((job.id, job.ranks, job.run_time_s), (Some(5), Some(4), Some(101.0)));
    assert_eq!((job.executable.as_deref(), t.ranks), (Some("/bin/app --flag"), 4));
}

#[test]
fn bytes_without_times_are_spread_over_the_run() {
    let record = Writer::counters(1, 0, POSIX, &[(15, 8)], &[]);
    let t = read_bytes(&Writer::new(5, 1).module(1, 4, vec![record]).finish(), &ReadOptions::default()).unwrap();
    let rows = intervals(&t);
    assert_eq!((rows[0].start, rows[0].end, t.quality.clamped), (0.0, 100.0, 1));
    assert!(codes(&t).contains(&"untimed-records"));
    assert_eq!(t.files.name(rows[0].file), "record:1");
}

#[test]
fn a_layer_can_be_selected() {
    let log = names(Writer::new(5, 1))
        .module(1, 4, vec![posix_counters(1, 0, 0, 10)])
        .module(9, 2, vec![stdio_counters(2, 0, 3)])
        .module(10, 1, vec![Writer::dxt_record(1, 0, &[(0, 10, 1.0, 2.0)], &[])])
        .module(15, 1, vec![Writer::heatmap_record(9, 0, 0.5, &[3], &[0])])
        .finish();
    let t = read_bytes(&log, &layer(Layer::Stdio)).unwrap();
    assert_eq!((t.layer, t.timing, intervals(&t)[0].bytes), (Some(Layer::Stdio), Timing::Heatmap, 3.0));
    let e = read_bytes(&log, &layer(Layer::Mpiio)).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Empty);
    let text = e.to_string();
    for part in ["layer mpiio", "posix (segments)", "stdio (heatmap)", "take layer posix or stdio"] {
        assert!(text.contains(part), "{text}");
    }
    let empty = Writer::new(5, 1).finish();
    assert_eq!(read_bytes(&empty, &layer(Layer::Posix)).unwrap_err().kind(), ErrorKind::Empty);
    let t = read_bytes(&empty, &ReadOptions::default()).unwrap();
    assert_eq!((t.data.len(), t.layer, codes(&t)), (0, None, vec!["empty-log"]));
}

#[test]
fn a_warning_names_a_layer_with_more_bytes() {
    let base = names(Writer::new(5, 1)).module(1, 4, vec![posix_counters(1, 0, 0, 10)]).module(
        9,
        2,
        vec![stdio_counters(2, 0, 1_000)],
    );
    let t = read_bytes(&base.clone().finish(), &ReadOptions::default()).unwrap();
    // Both are totals, so the layer with most of the bytes is taken.
    assert_eq!((t.layer, codes(&t)), (Some(Layer::Stdio), vec!["coarse-timing"]));
    let with_segments = base.module(10, 1, vec![Writer::dxt_record(1, 0, &[(0, 10, 1.0, 2.0)], &[])]).finish();
    let t = read_bytes(&with_segments, &ReadOptions::default()).unwrap();
    assert_eq!((t.layer, codes(&t)), (Some(Layer::Posix), vec!["most-bytes-elsewhere"]));
    assert!(matches!(&t.warnings[0].remedy, Some(Remedy::TakeLayer(l)) if l[..] == ["stdio"]));
}

#[test]
fn mpi_io_is_used_if_it_bypasses_posix() {
    let segments = |id| vec![Writer::dxt_record(id, 0, &[(0, 500, 1.0, 2.0)], &[])];
    let log = |posix_file| {
        names(Writer::new(5, 1))
            .module(1, 4, vec![posix_counters(posix_file, 0, 0, 10)])
            .module(2, 3, vec![mpiio_counters(1, 500)])
            .module(10, 1, vec![Writer::dxt_record(posix_file, 0, &[(0, 10, 1.0, 2.0)], &[])])
            .module(11, 2, segments(1))
            .finish()
    };
    let t = read_bytes(&log(2), &ReadOptions::default()).unwrap();
    assert_eq!((t.layer, codes(&t)), (Some(Layer::Mpiio), vec!["layer-choice"]));
    assert_eq!(requests(&t)[0].size, 500);
    // The same file under POSIX: collective buffering may have moved less, but nothing is missed.
    let t = read_bytes(&log(1), &ReadOptions::default()).unwrap();
    assert_eq!((t.layer, requests(&t)[0].size), (Some(Layer::Posix), 10));
}

#[test]
fn empty_segments_fall_back_to_the_next_best_data() {
    let log = names(Writer::new(5, 1))
        .module(10, 1, vec![Writer::dxt_record(1, 0, &[], &[])])
        .module(11, 2, vec![Writer::dxt_record(1, 0, &[(0, 4, 1.0, 2.0)], &[])])
        .finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!((t.layer, t.timing, t.data.len()), (Some(Layer::Mpiio), Timing::Request, 1));
}

#[test]
fn implausible_segments_are_kept_corrected_or_dropped() {
    let writes = [
        (-1, 5, 1.0, 2.0),
        (0, -5, 2.0, 3.0),
        (i64::MAX, 5, 3.0, 4.0),
        (0, 5, 9.0, 8.0),
        (0, 5, f64::NAN, 1.0),
        (0, 5, 1.0, f64::INFINITY),
        (0, 5, 4.0, 4.0),
    ];
    let log = Writer::new(5, 1).module(10, 1, vec![Writer::dxt_record(1, -1, &writes, &[])]).finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    check_rows(&t);
    let rows: Vec<_> = requests(&t).iter().map(|r| (r.offset, r.size, r.start, r.end)).collect();
    assert_eq!(
        rows,
        [
            (UNKNOWN_OFFSET, 5, 1.0, 2.0),
            (0, 0, 2.0, 3.0),
            (UNKNOWN_OFFSET, 5, 3.0, 4.0),
            (0, 5, 9.0, 9.0),
            (0, 5, 4.0, 4.0)
        ]
    );
    assert_eq!((t.quality.records_read, t.quality.records_dropped, t.quality.clamped), (7, 2, 3));
    assert_eq!(t.quality.clock_backwards, 1);
    assert_eq!(codes(&t), ["unusable-records", "clamped-records", "bad-ranks"]);
}

#[test]
fn unknown_and_newer_modules_are_skipped_with_a_warning() {
    let log = names(Writer::new(5, 1))
        .module(10, 1, vec![Writer::dxt_record(1, 0, &[(0, 4, 1.0, 2.0)], &[])])
        .module(15, 9, vec![vec![1; 100]])
        .module(40, 1, vec![vec![2; 100]])
        .finish();
    let t = read_bytes(&log, &all_layers()).unwrap();
    assert_eq!((t.data.len(), codes(&t)), (1, vec!["unsupported-module", "unknown-module"]));
    assert_eq!(Log::new(log, &Limits::default()).unwrap().heatmaps().unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn damage_outside_the_rows_is_a_warning() {
    let log = names(Writer::new(5, 1))
        .module(10, 1, vec![Writer::dxt_record(1, 0, &[(0, 4, 1.0, 2.0)], &[])])
        .module(8, 2, vec![vec![1; 20]])
        .finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!((t.data.len(), codes(&t)), (1, vec!["damaged-module"]));
}

#[test]
fn rows_before_a_damaged_stream_are_kept() {
    let record = |rank: i64| {
        let writes: Vec<_> = (0..500).map(|i| (i * 7919 % 1000, 64, i as f64, i as f64 + 0.5)).collect();
        Writer::dxt_record(1, rank, &writes, &[])
    };
    let mut log = names(Writer::new(5, 2)).module(10, 1, vec![record(0), record(1)]).finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!((t.data.len(), t.warnings.len()), (1000, 0));
    // The checksum of the second stream is at the end of the file.
    *log.last_mut().unwrap() ^= 1;
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!((t.data.len(), codes(&t)), (500, vec!["damaged-tail"]));
    assert!(requests(&t).iter().all(|r| r.rank == 0));
    // Damage in the first stream leaves nothing.
    let place = log.len() - 2 * write::zlib(&record(0)).len() + 40;
    log[place] ^= 0x55;
    assert_eq!(read_bytes(&log, &ReadOptions::default()).unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn damaged_segments_fall_back_to_the_heatmap() {
    let log = names(Writer::new(5, 2))
        .region(10, 1, b"no stream at all".to_vec())
        .module(15, 1, vec![Writer::heatmap_record(7, 0, 0.5, &[10], &[0])])
        .finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!((t.timing, codes(&t)), (Timing::Heatmap, vec!["damaged-module"]));
    assert!(t.warnings[0].message.contains("DXT_POSIX"), "{:?}", t.warnings);
    let t = read_bytes(&log, &all_layers()).unwrap();
    assert_eq!(codes(&t), ["damaged-module"]);
    let e = read_bytes(&log, &layer(Layer::Mpiio)).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Empty);
}

#[test]
fn limits_are_enforced() {
    let record = Writer::dxt_record(1, 0, &[(0, 4, 1.0, 2.0); 300], &[]);
    let log = Writer::new(5, 1).module(10, 1, vec![record]).finish();
    let with = |limits: Limits| read_bytes(&log, &ReadOptions::default().limits(limits));
    for limits in
        [Limits::default().records(299), Limits::default().memory_bytes(5_000), Limits::default().memory_bytes(100)]
    {
        assert_eq!(with(limits).unwrap_err().kind(), ErrorKind::Limit);
    }
    assert_eq!(with(Limits::default().records(300)).unwrap().data.len(), 300);
}

#[test]
fn overlapping_regions_are_refused() {
    let mut log = names(Writer::new(5, 1))
        .module(1, 4, vec![posix_counters(1, 0, 1, 1)])
        .module(9, 2, vec![stdio_counters(2, 1, 1)])
        .finish();
    let posix: [u8; 16] = log[64..80].try_into().unwrap();
    log[48 + 16 * 9..64 + 16 * 9].copy_from_slice(&posix);
    let e = read_bytes(&log, &ReadOptions::default()).unwrap_err();
    assert!(e.to_string().contains("overlap"), "{e}");
}

#[test]
fn names_and_mount_points_are_read() {
    let log = Writer::new(5, 1)
        .name(1, "")
        .name(1, "/a")
        .name(1, "/b")
        .name(2, "12345")
        .module(10, 1, vec![Writer::dxt_record(2, 0, &[(0, 1, 0.0, 1.0)], &[])])
        .finish();
    let t = read_bytes(&log, &ReadOptions::default()).unwrap();
    assert_eq!(t.files.name(requests(&t)[0].file), "12345");
    let log = Log::new(log, &Limits::default()).unwrap();
    // The first name of an id that is not empty; ids of anonymised logs have numbers.
    assert_eq!((log.names().get(1), log.names().get(2), log.names().get(3)), (Some("/a"), Some("12345"), None));
    assert_eq!((log.names().records(), log.names().len()), (4, 2));
    let mut job = log.job().clone();
    // A metadata line without `=` is no pair.
    assert_eq!((job.meta("lib_ver"), job.metadata.len()), (Some("3.5.0"), 1));
    assert_eq!((job.executable.as_str(), job.mount("/x")), ("/bin/app --flag", Some(("ext4", "/"))));
    job.mounts.push(("lustre".into(), "/lus".into()));
    assert_eq!(job.mount("/lus/a"), Some(("lustre", "/lus")));
    assert_eq!(job.mount("/lustre/a"), Some(("ext4", "/")));
    assert_eq!(job.mount("relative"), None);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Records that were written are read, wherever the plain data is cut into streams.
    #[test]
    fn records_may_span_streams(
        records in proptest::collection::vec(
            (1u64..4, 0i64..5, proptest::collection::vec((0i64..1 << 40, 0i64..1 << 30, 0f64..1e6, 0f64..10.0), 0..20), 0usize..20),
            1..8,
        ),
        cuts in proptest::collection::vec(0usize..4000, 0..6),
    ) {
        let mut plain = Vec::new();
        let mut want = Vec::new();
        for (id, rank, segments, writes) in &records {
            let all: Vec<write::Segment> = segments.iter().map(|&(o, l, s, d)| (o, l, s, s + d)).collect();
            let (writes, reads) = all.split_at((*writes).min(all.len()));
            plain.extend(Writer::dxt_record(*id, *rank, writes, reads));
            for (op, list) in [(Op::Write, writes), (Op::Read, reads)] {
                want.extend(list.iter().map(|&(o, l, s, e)| (op, *rank as u32, *id, o as u64, l as u64, s, e)));
            }
        }
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(plain.len())).collect();
        cuts.extend([0, plain.len()]);
        cuts.sort_unstable();
        let streams = cuts.windows(2).map(|w| plain[w[0]..w[1]].to_vec()).collect();
        let log = names(Writer::new(5, 5)).name(3, "/scratch/c").module(10, 1, streams).finish();
        let t = read_bytes(&log, &ReadOptions::default()).unwrap();
        let file = |name: &str| match name { "/scratch/a" => 1, "/scratch/b" => 2, "/scratch/c" => 3, _ => 0 };
        let got: Vec<_> = requests(&t)
            .iter()
            .map(|r| (r.op, r.rank, file(t.files.name(r.file)), r.offset, r.size, r.start, r.end))
            .collect();
        proptest::prop_assert_eq!(got, want);
    }
}

// ---- folders ---------------------------------------------------------------------------------------------------------

fn process(job: i64, start_ns: i64, offset: i64) -> Writer {
    let mut w = names(Writer::new(job, 1)).module(10, 1, vec![Writer::dxt_record(1, 0, &[(offset, 8, 1.0, 2.0)], &[])]);
    w.start.1 = start_ns;
    w
}

fn read_folder(logs: &[(&str, Vec<u8>)], options: &ReadOptions) -> Result<Trace, Error> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in logs {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    read_path(folder.path(), options)
}

#[test]
fn logs_of_processes_form_one_job() {
    let logs = [
        ("p10.darshan", process(7, 500_000_000, 100).finish()),
        ("p2.darshan", process(7, 250_000_000, 0).finish()),
        ("p3.darshan", names(Writer::new(7, 1)).finish()),
    ];
    let t = read_folder(&logs, &all_layers()).unwrap();
    check_rows(&t);
    // The order of the names by their numbers gives the ranks, the earliest start the zero of time.
    let rows: Vec<_> = requests(&t).iter().map(|r| (r.rank, r.offset, r.start)).collect();
    assert_eq!(rows, [(0, 0, 1.25), (2, 100, 1.5)]);
    assert_eq!((t.ranks, t.files.len()), (3, 1));
    let job = t.job.as_ref().unwrap();
    assert_eq!((job.id, job.ranks, job.run_time_s), (Some(7), Some(3), Some(100.5)));
    let s = summary(&t, "dxt-posix").unwrap();
    assert_eq!((s.records, s.bytes_written, s.first_s, s.last_s), (2, 16, Some(1.25), Some(2.5)));
}

/// The worker processes of a data loader, all of one job.
#[test]
fn a_folder_of_process_logs_has_the_sum_of_their_bytes() {
    let Some(shared) = shared(".") else {
        return;
    };
    let t = read_path(&shared.join("thirdparty/darshan/dlio_logs"), &all_layers()).unwrap();
    check_rows(&t);
    let reference = json(&data().join("reference.json"));
    let members: Vec<&Value> =
        reference.as_object().unwrap().iter().filter(|(k, _)| k.contains("/dlio_logs/")).map(|(_, v)| v).collect();
    let sum = |f: &dyn Fn(&Value) -> &Value| members.iter().map(|m| f(m).as_u64().unwrap_or(0)).sum::<u64>();
    let posix = summary(&t, "posix").unwrap();
    assert_eq!(
        (posix.records, posix.bytes_read),
        (sum(&|m| &m["POSIX"]["records"]), sum(&|m| &m["POSIX"]["bytes_read"]))
    );
    let taken: f64 = intervals(&t).iter().filter(|i| i.op == Op::Write).map(|i| i.bytes).sum();
    assert_eq!(taken, sum(&|m| &m["HEATMAP"]["posix"]["bytes_written"]) as f64);
    assert_eq!((t.ranks, t.timing, t.layer), (members.len() as u64, Timing::Heatmap, Some(Layer::Posix)));
}

/// The memory-mapped log of a rank of a job that was killed.
fn killed(rank: i64, offset: i64) -> Writer {
    let mut w =
        names(Writer::new(7, 3)).module(10, 1, vec![Writer::dxt_record(1, rank, &[(offset, 8, 1.0, 2.0)], &[])]);
    (w.start.1, w.run_time) = (0, -w.start.0);
    w
}

#[test]
fn logs_of_a_killed_job_are_one() {
    let name = |rank: i64, hash: &str| format!("app_id7_mmap-log-{hash}-{rank}.darshan");
    let logs = [(name(2, "99"), killed(2, 100)), (name(0, "99"), killed(0, 0))];
    let logs = logs.map(|(name, log)| (name, log.finish()));
    let logs: Vec<(&str, Vec<u8>)> = logs.iter().map(|(name, log)| (name.as_str(), log.clone())).collect();
    let t = read_folder(&logs, &all_layers()).unwrap();
    let rows: Vec<_> = requests(&t).iter().map(|r| (r.rank, r.offset)).collect();
    assert_eq!((rows, t.ranks, t.job.as_ref().unwrap().ranks), (vec![(0, 0), (2, 100)], 3, Some(3)));
    assert_eq!((codes(&t), t.job.as_ref().unwrap().run_time_s), (vec!["missing-ranks", "no-end-time"], None));
    // another start of the same job
    let again = name(2, "55");
    let e =
        read_folder(&[logs[0].clone(), logs[1].clone(), (&again, killed(2, 0).finish())], &all_layers()).unwrap_err();
    assert!(e.to_string().contains("2 traces"), "{e}");
}

#[test]
fn logs_of_a_job_in_several_folders_are_one_if_they_ran_at_a_time() {
    let root = tempfile::tempdir().unwrap();
    let later = |by: i64| {
        let mut w = process(7, 0, 200);
        w.start.0 += by;
        w.finish()
    };
    let logs = [
        ("a/1", process(7, 0, 0).finish()),
        ("a/2", process(7, 0, 8).finish()),
        ("b/1", later(50)),
        ("c/1", later(5000)),
    ];
    for (name, bytes) in logs {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let found = formats::search(root.path(), None, &ReadOptions::default()).unwrap().traces;
    let names: Vec<_> = found
        .iter()
        .map(|t| (t.name.strip_prefix(root.path()).unwrap().display().to_string(), t.files.len()))
        .collect();
    assert_eq!(names, [(String::new(), 3), ("c/1".to_owned(), 1)]);
    let t = formats::read(&found[0].open(&Limits::default()).unwrap(), None, &ReadOptions::default()).unwrap();
    assert_eq!(requests(&t).iter().map(|r| (r.rank, r.start)).collect::<Vec<_>>(), [(0, 1.0), (1, 1.0), (2, 51.0)]);
    let e = read_path(root.path(), &ReadOptions::default()).unwrap_err();
    assert_eq!(e.suggestion(), Some(&Remedy::SearchFolder), "{e}");
}

#[test]
fn a_folder_of_different_jobs_is_refused() {
    let mut many = process(7, 0, 0);
    many.processes = 4;
    for (other, reason) in [(process(8, 0, 0), "different jobs, 7 and 8"), (many, "4 processes")] {
        let logs = [("a.darshan", process(7, 0, 0).finish()), ("b.darshan", other.finish())];
        let e = read_folder(&logs, &ReadOptions::default()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported);
        assert!(e.to_string().contains("2 traces: 2 darshan"), "{e}");
        let sources = logs.map(|(name, bytes)| Source::from_bytes(name, bytes));
        let e = collect(&Darshan, &sources, &ReadOptions::default()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported);
        assert!(e.to_string().contains(reason) && e.to_string().contains("one by one"), "{e}");
    }
    let one = [("a.darshan", process(7, 0, 0).finish())];
    assert_eq!(read_folder(&one, &ReadOptions::default()).unwrap().data.len(), 1);
}

// ---- damage ----------------------------------------------------------------------------------------------------------

/// Rows that a log of this size could hold at most: zlib expands 1032 times at most, bzip2 more.
fn most_rows(bytes: &[u8]) -> usize {
    (1 << 20) + 500 * bytes.len()
}

fn survives(bytes: &[u8]) {
    for options in [ReadOptions::default(), all_layers(), layer(Layer::Mpiio), layer(Layer::Stdio)] {
        let source = Source::from_bytes("damaged", bytes);
        if let Ok(t) = collect(&Darshan, std::slice::from_ref(&source), &options) {
            check_rows(&t);
            assert!(t.data.len() <= most_rows(bytes) / 32);
        }
    }
}

fn samples() -> Vec<Vec<u8>> {
    let mut all: Vec<_> =
        std::fs::read_dir(data().join("good")).unwrap().map(|e| std::fs::read(e.unwrap().path()).unwrap()).collect();
    all.push(
        names(Writer::new(5, 4))
            .module(1, 4, vec![posix_counters(1, -1, 100, 40)])
            .module(8, 2, vec![[1i64, 0, 1, 2].iter().flat_map(|v| v.to_le_bytes()).chain([0; 88]).collect()])
            .module(15, 1, vec![Writer::heatmap_record(7, 0, 0.5, &[10, 0, 20], &[0, 5, 0])])
            .finish(),
    );
    all
}

#[test]
fn every_truncation_is_survived_and_noticed() {
    for log in samples() {
        for n in (0..log.len()).step_by(crate::every(7)) {
            let source = Source::from_bytes("cut", &log[..n]);
            // The header says where the last region ends, so every cut is noticed.
            match collect(&Darshan, &[source], &ReadOptions::default()) {
                Ok(t) => assert!(codes(&t).contains(&"damaged-module"), "{n}: {:?}", t.warnings),
                Err(e) => assert_eq!(e.kind(), ErrorKind::Malformed, "{n}: {e}"),
            }
        }
    }
}

#[test]
fn a_log_cut_in_one_module_gives_the_others() {
    let segments = Writer::dxt_record(1, 0, &[(0, 8, 1.0, 2.0), (8, 8, 2.0, 3.0)], &[]);
    let counters = || names(Writer::new(5, 4)).module(1, 4, vec![posix_counters(1, -1, 100, 40)]);
    let (whole, alone) =
        (counters().finish().len(), read_bytes(&counters().finish(), &ReadOptions::default()).unwrap());
    let log = counters().module(10, 1, vec![segments]).finish();
    for n in whole..log.len() {
        let t = read_bytes(&log[..n], &ReadOptions::default()).unwrap();
        assert_eq!((t.timing, intervals(&t)), (Timing::Counter, intervals(&alone)), "{n} of {}", log.len());
        let told = t.warnings.iter().find(|w| w.code == "damaged-module").unwrap();
        assert!(told.message.contains("DXT_POSIX"), "{}", told.message);
    }
}

#[test]
fn flipped_bits_are_survived() {
    for log in samples() {
        let mut log = log;
        // bzip2 takes megabytes for each stream, so fewer places are tried there.
        let step = if log[16] == 1 { 17 } else { 1 } * crate::every(15);
        for i in (0..log.len()).step_by(step) {
            let unused_slot = (400..1328).contains(&i) && log[i] == 0;
            if unused_slot && i % 7 != 0 {
                continue;
            }
            let bit = 1 << ((i * 5) % 8);
            log[i] ^= bit;
            survives(&log);
            log[i] ^= bit;
        }
    }
}

#[test]
fn flipped_plain_bytes_are_survived() {
    // Behind a checksum most flips are found by it: here the data itself is hostile.
    let log = std::fs::read(data().join("good/le_341_nocomp.darshan")).unwrap();
    let mut copy = log.clone();
    for i in (1328..log.len()).step_by(crate::every(9)) {
        for x in [0x00, 0x7f, 0x80, 0xff] {
            copy[i] = x;
            survives(&copy);
        }
        copy[i] = log[i];
    }
}

/// A DXT region of one record a stream, large enough to be opened in parts: plain records and streams.
fn large_records(threads: bool) -> Vec<Vec<u8>> {
    let mut noise = 1u64;
    (0..48i64)
        .map(|rank| {
            let mut r = Writer::dxt_record(1 + rank as u64 % 3, rank, &[], &[]);
            r[88..96].copy_from_slice(&1_000i64.to_le_bytes());
            for i in 0..1_000i64 {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let start = i as f64 + (noise >> 11) as f64 / 1e16;
                r.extend((noise >> 3).to_le_bytes());
                r.extend((noise >> 40).to_le_bytes());
                r.extend(start.to_le_bytes());
                r.extend((start + (noise >> 20) as f64 / 1e15).to_le_bytes());
                if threads {
                    r.extend((0x7f00_0000_0000 + (rank + i % 5) * 4096).to_le_bytes());
                }
            }
            r
        })
        .collect()
}

fn with_threads(log: &[u8], threads: usize) -> (Vec<Request>, Vec<String>, Vec<LayerSummary>, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let t = pool.install(|| read_bytes(log, &all_layers())).unwrap();
    assert!(t.warnings.is_empty(), "{:?}", t.warnings);
    let names = t.files.iter().map(|(_, n)| n.to_owned()).collect();
    (requests(&t), names, t.layers, t.quality.clock_backwards)
}

#[test]
fn the_number_of_threads_does_not_matter() {
    for (version, record) in [(1, large_records(false)), (2, large_records(true))] {
        let log =
            names(Writer::new(5, 48)).module(10, version, record.clone()).module(11, version + 1, record).finish();
        let one = with_threads(&log, 1);
        assert_eq!(one.0.len(), 48_000);
        assert!(log.len() > 2 << 20, "{}", log.len());
        assert!(one == with_threads(&log, 2) && one == with_threads(&log, 5));
        let tasks: std::collections::BTreeSet<_> = one.0.iter().map(|r| r.task).collect();
        assert_eq!(tasks.len(), if version == 2 { 52 } else { 1 });
    }
}

#[test]
fn bytes_that_resemble_a_stream_header_are_not_split() {
    // One stored stream whose segments spell out compressed records, which a search for streams must find.
    let decoy = write::zlib(&Writer::dxt_record(1, 0, &[(0, 8, 1.0, 2.0); 40], &[]));
    let mut plain = Writer::dxt_record(1, 0, &[], &[]);
    let mut payload = decoy.repeat((1200 << 10) / decoy.len());
    payload.resize(payload.len().next_multiple_of(32), 0);
    plain[88..96].copy_from_slice(&((payload.len() / 32) as u64).to_le_bytes());
    plain.extend(&payload);
    let region = write::deflate(&plain, flate2::Compression::none());
    let log = names(Writer::new(5, 1)).region(10, 1, region).finish();
    let rows = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let t = pool.install(|| read_bytes(&log, &ReadOptions::default())).unwrap();
        (t.quality.records_read, requests(&t))
    };
    let one = rows(1);
    assert_eq!(one.0, payload.len() as u64 / 32);
    assert!(one == rows(3));
}

#[test]
fn only_the_magic_number_identifies_a_log() {
    use iophase::formats::Sniff;
    let log = Writer::new(1, 1).finish();
    assert_eq!(Darshan.sniff(&log), Sniff::Yes);
    let big = std::fs::read(data().join("good/be_321_bzip2_partial.darshan")).unwrap();
    assert_eq!(Darshan.sniff(&big[..16]), Sniff::Yes);
    for other in [&b""[..], b"3.41", &log[..15], b"{\"bandwidth\": 1, \"more\": 2}"] {
        assert!(matches!(Darshan.sniff(other), Sniff::No(_)));
    }
}

// --- what cannot be, and what is not read --------------------------------------------------------------------------

#[test]
fn counters_that_cannot_be_are_named_whatever_is_read_of_the_log() {
    let posix = |writes: i64, bytes: i64, end: f64| {
        let ints = [(4, writes), (14, 0), (15, bytes), (12, -3), (49, -4096)];
        Writer::counters(1, 0, POSIX, &ints, &[(2, 3.0), (6, end), (9, f64::NAN)])
    };
    let dataset = Writer::counters(2, 0, (95, 17), &[(6, -7)], &[]);
    let log = names(Writer::new(5, 2))
        .module(1, 4, vec![posix(1, 40, 5.0), posix(-9, i64::MIN, 2.0), posix(-1, -1, 5.0)])
        .module(4, 2, vec![dataset])
        .finish();
    let read = ReadOptions::default();
    let ways = [read.clone(), read.clone().detail(Detail::Totals), all_layers(), read.counters(true)];
    for (i, way) in ways.iter().enumerate() {
        let t = read_bytes(&log, way).unwrap();
        let said: Vec<String> = t.quality.impossible.iter().map(ToString::to_string).collect();
        let mut want = vec![
            "POSIX_BYTES_WRITTEN is negative in 1 record",
            "POSIX_F_WRITE_END_TIMESTAMP is before its start in 1 record",
            "POSIX_F_WRITE_TIME is not finite in 3 records",
            "POSIX_WRITES is negative in 1 record",
        ];
        // Libraries are read where they are shown.
        want.extend((i > 1).then_some("H5D_BYTES_WRITTEN is negative in 1 record"));
        assert_eq!(said, want);
        let told: Vec<_> = t.warnings.iter().filter(|w| w.code == "impossible-counters").collect();
        assert!(matches!(&told[..], [w] if w.message.starts_with("POSIX_BYTES_WRITTEN is negative")), "{told:?}");
        let s = summary(&t, "posix").unwrap();
        assert_eq!((s.reads, s.writes, s.bytes_written), (Some(0), None, 40));
    }
    let columns = read_bytes(&log, &ways[3]).unwrap().counters.unwrap();
    let bytes = columns.table(CounterModule::Posix).unwrap().int("BYTES_WRITTEN").unwrap();
    assert!(bytes.get(1) < -1, "{}", bytes.get(1));
}

#[test]
fn a_log_without_an_end_has_no_run_time() {
    for run_time in [-1_700_000_000, -1_700_000_001, -1, i64::MIN / 2] {
        let mut writer = names(Writer::new(5, 1));
        writer.run_time = run_time;
        let log = writer.module(1, 4, vec![posix_counters(1, 0, 100, 40)]).finish();
        let t = read_bytes(&log, &ReadOptions::default()).unwrap();
        let job = t.job.as_ref().unwrap();
        assert_eq!((job.start_unix_s, job.end_unix_s, job.run_time_s), (Some(1.7e9), None, None), "{run_time}");
        assert!(codes(&t).contains(&"no-end-time"), "{:?}", codes(&t));
        let (_, _, job) = formats::outline(&Source::from_bytes("log.darshan", &log[..])).unwrap();
        assert_eq!(job.unwrap().run_time_s, None);
    }
}

/// A record of DFS (52 integers) or DAOS (64) with bytes read and written at `at`.
fn stored(id: u64, ints: usize, at: usize, moved: [i64; 2]) -> Vec<u8> {
    let times = [(1, 1.0), (5, 2.0), (2, 3.0), (6, 5.0), (8, 0.25), (9, 0.5)];
    let mut r = Writer::counters(id, 0, (ints, 15), &[(at, moved[0]), (at + 1, moved[1]), (at - 10, 3)], &times);
    r.resize(r.len() + if ints == 52 { 32 } else { 48 }, 0xaa);
    r
}

#[test]
fn bytes_of_daos_are_counted_and_have_times() {
    let log = names(Writer::new(5, 1))
        .name(10, "heatmap:DFS")
        .module(1, 4, vec![posix_counters(1, 0, 0, 10)])
        .module(15, 1, vec![Writer::heatmap_record(10, 0, 1.0, &[0, 900], &[100, 0])])
        .module(16, 1, vec![stored(2, 52, 14, [100, 900]), stored(1, 52, 14, [0, 1])])
        .module(17, 1, vec![stored(2, 64, 24, [7, 8])])
        .finish();
    let t = read_bytes(&log, &ReadOptions::default().counters(true)).unwrap();
    let of = |name: &str| summary(&t, name).map(|s| (s.records, s.bytes_read, s.bytes_written, s.first_s, s.last_s));
    assert_eq!(of("dfs"), Some((2, 100, 901, Some(1.0), Some(5.0))));
    assert_eq!(of("daos"), Some((1, 7, 8, Some(1.0), Some(5.0))));
    assert_eq!(summary(&t, "dfs").map(|s| (s.reads, s.writes)), Some((Some(6), Some(0))));
    let dfs = t.counters.as_ref().unwrap().table(CounterModule::Dfs).unwrap();
    assert_eq!(dfs.real("F_WRITE_TIME").unwrap().iter().collect::<Vec<_>>(), [0.5, 0.5]);
    let elsewhere = t.warnings.iter().find(|w| w.code == "most-bytes-elsewhere").unwrap();
    assert!(elsewhere.message.starts_with("1001 bytes went through DFS"), "{}", elsewhere.message);
    assert_eq!((t.quality.untimed, t.quality.impossible), (vec![], vec![]));
}

#[test]
fn modules_without_times_are_told() {
    let log = names(Writer::new(5, 1))
        .name(10, "heatmap:DAOS")
        .module(1, 4, vec![posix_counters(1, 0, 0, 10)])
        .module(14, 1, vec![vec![0; 48 + 3 * 5232]])
        .module(
            15,
            1,
            vec![Writer::heatmap_record(10, 0, 1.0, &[900], &[0]), Writer::heatmap_record(9, 0, 1.0, &[5], &[0])],
        )
        .module(12, 1, vec![vec![1; 30]])
        .module(16, 2, vec![vec![0; 584]])
        .module(40, 1, vec![vec![0; 8]])
        .finish();
    let t = read_bytes(&log, &all_layers()).unwrap();
    let told: Vec<String> = t.quality.untimed.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "5 bytes went through STDIO, whose times are not known",
            "900 bytes went through DAOS, whose times are not known",
            "bytes and times of DFS are not known",
            "bytes and times of module 40 are not known"
        ]
    );
    assert_eq!(summary(&t, "apmpi").map(|s| (s.records, s.reads)), Some((3, None)));
    let unknown = t.warnings.iter().filter(|w| w.code == "unknown-module").map(|w| &*w.message);
    assert_eq!(unknown.map(|m| m.split(" (").next().unwrap()).collect::<Vec<_>>(), ["MDHIM", "module 40"]);
}

#[test]
fn a_log_without_requests_is_not_said_to_be_filtered() {
    let empty = read_bytes(&Writer::new(5, 1).finish(), &ReadOptions::default()).unwrap();
    let counters = names(Writer::new(5, 1)).module(1, 4, vec![posix_counters(1, 0, 0, 10)]).finish();
    let counters = read_bytes(&counters, &ReadOptions::default()).unwrap();
    let classified = |t: &Trace| iophase::classify::classify(t, &Default::default(), Default::default()).unwrap_err();
    for (e, says) in [
        (iophase::analysis::analyze(&empty, &Default::default()).unwrap_err(), "the log holds no data of any module"),
        (classified(&empty), "the log holds no data of any module"),
        (classified(&counters), "the trace has counters only, no single requests"),
    ] {
        assert!(e.kind() == ErrorKind::Empty && e.to_string().contains(says), "{e}");
    }
}
