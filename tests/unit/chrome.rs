//! Chrome trace JSON: hand-made hard cases in both outer forms, by every sink.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use iophase::formats::write::{write_stream, writer};
use iophase::formats::{Detail, Limits, ReadOptions, Source, probe, read, read_into};
use iophase::record::{Batch, ClockKind, Data, Op, Restart, RowSink, Timing, Trace, UNKNOWN_OFFSET};
use iophase::{ErrorKind, analysis};
use proptest::prelude::*;

fn open_with(text: &str, options: &ReadOptions) -> Trace {
    read(&Source::from_bytes("x.json", text.as_bytes()), None, options).unwrap()
}

fn open(text: &str) -> Trace {
    open_with(text, &ReadOptions::default())
}

/// Rows as `op size start end`, times in microseconds.
fn rows(t: &Trace) -> Vec<(Op, u64, f64, f64)> {
    let us = |s: f64| (s * 1e9).round() / 1e3;
    match &t.data {
        Data::Requests(r) => r.iter().map(|r| (r.op, r.size, us(r.start), us(r.end))).collect(),
        Data::Intervals(r) => r.iter().map(|r| (r.op, r.bytes.round() as u64, us(r.start), us(r.end))).collect(),
    }
}

fn codes(t: &Trace) -> Vec<&str> {
    t.warnings.iter().map(|w| w.code.as_str()).collect()
}

const READ: &str = r#"{"name":"io.read","ph":"X","pid":1,"tid":1,"ts":10,"dur":5,"args":{"bytes":7}}"#;

#[test]
fn both_outer_forms_and_lines_hold_the_same_events() {
    let write = READ.replace("read", "write").replace("\"ts\":10", "\"ts\":20");
    let expected = [(Op::Read, 7, 10.0, 15.0), (Op::Write, 7, 20.0, 25.0)];
    for text in [
        format!("[{READ},{write}]"),
        format!("[{READ},{write},]"),
        format!("[{READ},\n{write}\n"),
        format!("\u{feff} [ {READ} , {write}"),
        format!("{READ}\n{write}\n"),
        format!("{{\"traceEvents\":[{READ},{write}]}}"),
        format!("{{\"a\":{{\"b\":[{{}}]}},\"traceEvents\":[\n{READ},\n{write}],\"displayTimeUnit\":\"ns\"}}"),
        format!("[{},{}]", READ.replace(',', " ,\n\t"), write.replace(':', " :\n")),
    ] {
        let t = open(&text);
        assert_eq!((t.format, &rows(&t)[..], codes(&t)), ("chrome", &expected[..], vec![]), "{text}");
    }
}

#[test]
fn gzip_is_opened() {
    let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    z.write_all(format!("[{READ}]").as_bytes()).unwrap();
    let t = read(&Source::from_bytes("x.json.gz", z.finish().unwrap()), None, &ReadOptions::default()).unwrap();
    assert_eq!(rows(&t), [(Op::Read, 7, 10.0, 15.0)]);
}

#[test]
fn times_are_microseconds_with_fractions_in_numbers_or_text() {
    let t = open(&READ.replace("\"ts\":10", "\"ts\":\"1700000000000000.125\"").replace("\"dur\":5", "\"dur\":0.875"));
    assert_eq!((t.origin_s, rows(&t)), (1_700_000_000, vec![(Op::Read, 7, 0.125, 1.0)]));
    assert_eq!((t.clock.kind, t.clock.zero_unix_s), (ClockKind::Unix, Some(0.0)));
    let based = format!("{{\"baseTimeNanoseconds\":1700000000500000000,\"traceEvents\":[{READ}]}}");
    let t = open(&based);
    assert_eq!((t.clock.unix_s(0.0), t.origin_s), (Some(1_700_000_000.5), 0));
    let t = open(&READ.replace("\"ts\":10", "\"ts\":-10"));
    assert_eq!(rows(&t), [(Op::Read, 7, -10.0, -5.0)]);
    assert_eq!(open(&READ.replace("\"dur\":5", "\"dur\":-5")).quality.clamped, 1);
}

#[test]
fn begins_and_ends_are_paired_last_in_first_out() {
    let event = |ph: &str, name: &str, tid: u32, ts: u32, rest: &str| {
        let name = if name.is_empty() { String::new() } else { format!("\"name\":\"{name}\",") };
        format!("{{\"ph\":\"{ph}\",{name}\"pid\":1,\"tid\":{tid},\"ts\":{ts}{rest}}}")
    };
    let bytes = |n: u32| format!(",\"args\":{{\"bytes\":{n}}}");
    let t = open(&format!(
        "[{}]",
        [
            event("B", "step", 1, 0, ""),
            event("B", "write", 1, 1, &bytes(1)),
            event("B", "write", 2, 2, &bytes(2)),
            event("B", "inner.read", 1, 3, ""),
            // the end alone says how many bytes
            event("E", "", 1, 4, &bytes(3)),
            event("E", "write", 1, 5, ""),
            event("E", "", 2, 6, ""),
            // closes `step`; `lost` inside it never ends
            event("B", "lost", 1, 7, ""),
            event("E", "step", 1, 8, ""),
            event("E", "never", 1, 9, ""),
            event("B", "write", 3, 10, &bytes(4)),
        ]
        .join(",")
    ));
    assert_eq!(rows(&t), [(Op::Read, 3, 3.0, 4.0), (Op::Write, 1, 1.0, 5.0), (Op::Write, 2, 2.0, 6.0)]);
    assert_eq!((codes(&t), t.quality.records_dropped), (vec!["unmatched-events"], 3));
}

#[test]
fn deep_events_are_paired_like_shallow_ones() {
    for depth in [2, 31, 32, 33, 500] {
        let begin =
            // of files of their own, or they would be the same bytes
            |i: u32| format!(r#"{{"ph":"B","name":"write{i}","pid":1,"tid":1,"ts":{i},"args":{{"bytes":{i},"path":"/{i}"}}}}"#);
        let end = |i: u32| format!(r#"{{"ph":"E","name":"write{i}","pid":1,"tid":1,"ts":{}}}"#, 2 * depth - i);
        let mut events: Vec<String> = (0..depth).map(begin).collect();
        // ends without a begin, and an end that leaves one event inside it open
        events.extend((0..3).map(|i| end(depth + i)));
        events.extend((0..depth).rev().filter(|i| i + 1 != depth).map(end));
        events.push(end(0));
        let t = open(&format!("[{}]", events.join(",")));
        assert_eq!(rows(&t).len() as u32, depth - 1, "{depth}");
        let whole = |(i, row): (usize, &(Op, u64, f64, f64))| {
            row.1 as usize == i && row.3 - row.2 == f64::from(2 * depth) - 2.0 * i as f64
        };
        let mut by_bytes = rows(&t);
        by_bytes.sort_by_key(|r| r.1);
        assert!(by_bytes.iter().enumerate().all(whole), "{depth}: {by_bytes:?}");
        assert_eq!(t.quality.records_dropped, 3 + 1 + 1, "{depth}");
    }
}

#[test]
fn asynchronous_events_are_paired_by_category_id_and_name() {
    let event = |ph: &str, id: &str, ts: u32| {
        format!(
            "{{\"ph\":\"{ph}\",\"name\":\"aio_write\",\"cat\":\"a\",{id},\"pid\":1,\"tid\":{ts},\"ts\":{ts},\"args\":{{\"size\":{ts}}}}}"
        )
    };
    let (one, two) = ("\"id\":1", "\"id2\":{\"local\":\"0x2\"}");
    let all = [event("b", one, 1), event("b", two, 2), event("n", one, 3), event("e", one, 4), event("e", two, 5)];
    let t = open(&format!("[{}", all.join(",\n")));
    assert_eq!(rows(&t), [(Op::Write, 4, 1.0, 4.0), (Op::Write, 5, 2.0, 5.0)]);
    assert_eq!(codes(&t), Vec::<&str>::new());
}

#[test]
fn names_paths_offsets_ranks_and_failed_calls() {
    let event = |name: &str, pid: &str, args: &str| {
        format!(
            "{{\"ph\":\"X\",\"name\":\"{name}\",\"pid\":{pid},\"tid\":\"t\",\"ts\":1,\"dur\":1,\"args\":{{{args}}}}}"
        )
    };
    let meta = |pid: &str, name: &str| {
        format!("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{pid},\"args\":{{\"name\":\"{name}\"}}}}")
    };
    let text = format!(
        "[{}]",
        [
            event("a::b/pwrite64", "9", r#""ret":5,"fname":"\/d\/\u00e9","offset":100"#),
            event("read", "\"eight\"", r#""count":3,"ret":-1"#),
            event("open", "9", r#""path":"/d/o""#),
            event("thread_start", "9", r#""bytes":1"#),
            event("write", "\"eight\"", r#""nbytes":6.0e0"#),
            meta("9", "Rank 4"),
            meta("\"eight\"", "MPI rank 2"),
        ]
        .join(",")
    );
    let t = open(&text);
    let Data::Requests(r) = &t.data else { panic!() };
    let list: Vec<_> = r.iter().map(|r| (r.rank, r.size, r.offset, t.files.name(r.file))).collect();
    assert_eq!(list, [(4, 5, 100, "/d/é"), (2, 6, UNKNOWN_OFFSET, "")]);
    assert_eq!((t.ranks, t.quality.records_left_out, codes(&t)), (2, 1, vec![]));
    let t = open_with(&text, &ReadOptions::default().detail(Detail::Calls));
    let ops: Vec<_> = rows(&t).into_iter().map(|r| r.0).collect();
    assert_eq!(ops, [Op::Write, Op::Other, Op::Open, Op::Write]);
    let unnamed = open(&text.replace("Rank 4", "python"));
    assert_eq!(codes(&unnamed), ["no-ranks"]);
}

#[test]
fn events_without_bytes_are_a_signal_of_their_times() {
    let step = |name: &str, ts: u32| format!("{{\"ph\":\"X\",\"name\":\"{name}\",\"pid\":1,\"ts\":{ts},\"dur\":250}}");
    let text = format!("[{},{},{}]", step("load", 0), step("next", 500), step("load", 1000));
    let t = open(&text);
    assert_eq!((t.data.len(), codes(&t)), (0, vec!["no-io-events"]));
    assert!(t.warnings[0].message.contains("load (2), next (1)"), "{}", t.warnings[0].message);
    let options = |names: &str| ReadOptions::default().io_names(Some(names.parse().unwrap()));
    let t = open_with(&text, &options("write=lo*"));
    assert_eq!(rows(&t), [(Op::Write, 250, 0.0, 250.0), (Op::Write, 250, 1000.0, 1250.0)]);
    assert_eq!((codes(&t), t.timing), (vec!["sizes-unknown"], Timing::Phase));
    assert_eq!(codes(&open_with(&text, &options("*"))), ["sizes-unknown", "direction-unknown"]);
    let sized = text.replace("\"dur\":250", "\"dur\":250,\"args\":{\"payload\":3}");
    let t = open_with(&sized, &options("write=load").bytes_arg(Some("payload".to_owned())));
    assert_eq!(rows(&t), [(Op::Write, 3, 0.0, 250.0), (Op::Write, 3, 1000.0, 1250.0)]);
}

#[test]
fn counters_are_totals_rates_or_amounts() {
    let text = |name: &str, values: &[&str]| {
        let event = |(i, v): (usize, &&str)| {
            format!(
                "{{\"ph\":\"C\",\"name\":\"{name}\",\"pid\":1,\"ts\":{},\"args\":{{\"v\":{v},\"cpu\":1}}}}",
                i * 1000
            )
        };
        format!("[{}]", values.iter().enumerate().map(event).collect::<Vec<_>>().join(","))
    };
    let bytes = |t: &Trace| rows(t).iter().map(|r| r.1).collect::<Vec<_>>();
    let t = open(&text("disk_write_bytes", &["5", "5", "\"9\"", "20"]));
    // of the two values of an event both are series; stretches without bytes are none
    assert_eq!((&bytes(&t)[..2], t.timing, rows(&t)[0].0), (&[4, 11][..], Timing::Counter, Op::Write));
    let t = open(&text("read_bytes", &["5", "3", "x", "4"]));
    assert_eq!((&bytes(&t)[..2], t.bin_s), (&[3, 4][..], Some(0.001)));
    assert_eq!(rows(&t)[0], (Op::Read, 3, 0.0, 1000.0));
    let t = open(&text("read_bytes_per_s", &["1000000", "3000000", "0"]));
    assert_eq!(bytes(&t)[..2], [1000, 3000]);
    assert_eq!(codes(&open(&text("memory", &["1", "2"]))), ["no-io-events"]);
    let both = text("disk_write_bytes", &["1", "2"]).replacen('[', &format!("[{READ},"), 1);
    assert_eq!((bytes(&open(&both)), codes(&open(&both))), (vec![7], vec!["totals-left-out"]));
}

#[test]
fn damage_costs_what_is_damaged() {
    let second = READ.replace("\"ts\":10", "\"ts\":20");
    let text = format!("[{READ},\n{second}]");
    let t = open(&text[..text.len() - 9]);
    assert_eq!((rows(&t).len(), codes(&t)), (1, vec!["damaged-tail"]));
    let t = open(&format!("{{\"traceEvents\":[{READ},{second}"));
    assert_eq!((rows(&t).len(), codes(&t)), (2, vec!["damaged-tail"]));
    for broken in ["{\"name\":!!}", "nonsense", "{\"ph\":\"X\",\"name\":\"read\",\"ts\":\"soon\"}", "{\"a\":{{}"] {
        for between in [",", ",\n"] {
            let t = open(&format!("[{READ}{between}{broken}{between}{second}]"));
            assert_eq!((rows(&t).len(), codes(&t)), (2, vec!["unreadable-records"]), "{broken}{between}");
        }
    }
    let limits = Limits::default().line_bytes(100);
    let long = READ.replace("io.read", &"r".repeat(3_000_000));
    let t = open_with(&format!("[{READ},{long},{second}]"), &ReadOptions::default().limits(limits));
    assert_eq!((rows(&t).len(), codes(&t)), (2, vec!["unreadable-records"]));
    let source = Source::from_bytes("x.json", *b"{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1");
    assert_eq!(read(&source, None, &ReadOptions::default()).unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn content_tells_it_from_other_formats() {
    let name = |text: &str| probe(&Source::from_bytes("x", text.as_bytes())).map(|f| f.name().to_owned());
    assert_eq!(name(&format!("[\n{READ}")).unwrap(), "chrome");
    let with_host = READ.replace("\"args\":{", "\"cat\":\"app\",\"args\":{\"hostname\":\"n\",");
    assert_eq!(name(&format!("[\n{with_host}\n")).unwrap(), "dftracer");
    for other in ["[1,2,3]", "{\"write_sync\":{}}", "{\"op\":\"read\",\"size\":1,\"start\":0}", "[[]]"] {
        assert!(name(other).is_err() || name(other).unwrap() != "chrome", "{other}");
    }
}

/// Rows of a sink that keeps none, and how often they came again.
#[derive(Default)]
struct Passing {
    rows: Mutex<Data>,
    restarts: AtomicUsize,
}

impl RowSink for Passing {
    fn take(&self, batch: Batch<'_>) -> iophase::Result<()> {
        self.rows.lock().unwrap().append(batch.rows.into_owned());
        Ok(())
    }

    fn restart(&self, _: Restart) {
        assert_eq!(self.restarts.fetch_add(1, Ordering::SeqCst), 0);
        *self.rows.lock().unwrap() = Data::default();
    }
}

#[test]
fn rows_that_are_not_kept_are_the_same_rows() {
    let padding = ("{\"ph\":\"i\",\"name\":\"x\",\"ts\":1},".repeat(100)) + "\n";
    let padding = padding.repeat(1000);
    let timed = READ.replace("bytes", "none");
    let counter = "{\"ph\":\"C\",\"name\":\"disk_write_bytes\",\"pid\":1,\"ts\":1,\"args\":{\"v\":1}}";
    let rank = "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"Rank 5\"}}";
    for (first, last, restarts) in [
        (READ, READ, 0),
        (READ, &timed, 0),
        (&timed, READ, 1),
        (&timed, counter, 1),
        (&timed, &timed, 0),
        (READ, rank, 1),
        (&timed, rank, 1),
    ] {
        let text = format!("[{first},{padding}{last},{counter}]");
        let text = if last == counter { text } else { text.replace(&format!(",{counter}"), "") };
        let source = Source::from_bytes("x", text.into_bytes());
        let kept = read(&source, None, &ReadOptions::default()).unwrap();
        let sink = Passing::default();
        let mut passed = read_into(&source, None, &ReadOptions::default(), &sink).unwrap();
        assert_eq!(sink.restarts.load(Ordering::SeqCst), restarts, "{first} {last}");
        passed.data = sink.rows.into_inner().unwrap();
        assert_eq!(rows(&passed), rows(&kept));
        assert_eq!((passed.layers, passed.warnings), (kept.layers, kept.warnings));
        let ranks = |d: &Data| match d {
            Data::Requests(r) => r.rank.iter().collect::<Vec<_>>(),
            Data::Intervals(r) => r.rank.iter().collect(),
        };
        assert_eq!(ranks(&passed.data), ranks(&kept.data));
    }
}

#[test]
fn a_long_trace_has_its_period() {
    let burst = |i: usize| {
        let (step, part) = (i / 50, i % 50);
        let ts = step * 3_000_000 + part * 10_000;
        format!(
            "{{\"ph\":\"X\",\"name\":\"ckpt.write\",\"pid\":1,\"ts\":{ts},\"dur\":9000,\"args\":{{\"bytes\":1048576}}}}"
        )
    };
    let events: Vec<String> = (0..50 * 24).map(burst).collect();
    let t = open(&format!("{{\"traceEvents\":[{}]}}", events.join(",")));
    let report = analysis::analyze(&t, &analysis::Options::default()).unwrap().report;
    let period = report.signals[0].period.dominant.as_ref().unwrap().period_s;
    assert!((period - 3.0).abs() < 0.03, "{period}");
}

#[test]
fn rows_survive_csv() {
    let text = format!(
        "[{READ},{}]",
        READ.replace("read", "write").replace("\"bytes\":7", "\"bytes\":9,\"path\":\"/d/a,b\",\"offset\":3")
    );
    let t = open(&text);
    let mut csv = Vec::new();
    write_stream(writer("csv").unwrap(), &t, &mut csv).unwrap();
    let back = read(&Source::from_bytes("x.csv", csv), None, &ReadOptions::default()).unwrap();
    let (Data::Requests(a), Data::Requests(b)) = (&t.data, &back.data) else { panic!() };
    let list = |r: &iophase::record::Requests, t: &Trace| {
        r.iter().map(|r| (r.op, r.size, r.offset, r.start, r.end, t.files.name(r.file).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(list(a, &t), list(b, &back));
}

proptest! {
    #[test]
    fn any_pieces_of_events_are_survived(
        pieces in prop::collection::vec(prop::sample::select(&[
            "[", "]", "{", "}", ",", "\n", "\"", "\\", READ, "{\"ph\":\"B\",\"name\":\"read\",\"ts\":1}", "{\"ph\":\"E\",\"ts\":2}",
            "{\"traceEvents\":[", "{\"ph\":\"C\",\"ts\":1,\"name\":\"read_bytes\",\"args\":{\"a\":1e308}}", "\u{e9}", "1e999", "{\"ph\":\"X\",\"ts\":9e18,\"name\":\"read\"}",
        ][..]), 0..24),
    ) {
        let text = format!("[{READ},{}", pieces.concat());
        let source = Source::from_bytes("x", text.into_bytes());
        if let Ok(t) = read(&source, None, &ReadOptions::default()) {
            prop_assert!(!rows(&t).is_empty());
            prop_assert!(rows(&t).iter().all(|r| r.2 <= r.3));
        }
    }
}

/// An event of a thread.
fn event(name: &str, tid: u32, ts: u32, dur: u32, args: &str) -> String {
    format!(r#"{{"name":"{name}","ph":"X","pid":1,"tid":{tid},"ts":{ts},"dur":{dur},"args":{{{args}}}}}"#)
}

#[test]
fn documents_one_after_the_other_are_all_read() {
    let later = READ.replace("\"ts\":10", "\"ts\":30");
    let expected = [(Op::Read, 7, 10.0, 15.0), (Op::Read, 7, 30.0, 35.0)];
    for (a, b) in [("{\"traceEvents\":[", "]}"), ("[", "]")] {
        for between in ["", "\n"] {
            let text = format!("{a}{READ}{b}{between}{a}{later}{b}");
            let t = open(&text);
            assert_eq!((&rows(&t)[..], codes(&t)), (&expected[..], vec![]), "{text}");
        }
    }
    // a begin without an end does not reach into the next document
    let begin = r#"{"ph":"B","name":"write","pid":1,"tid":1,"ts":1,"args":{"bytes":9}}"#;
    let end = r#"{"ph":"E","name":"write","pid":1,"tid":1,"ts":99}"#;
    let t = open(&format!("[{READ},{begin}][{end}]"));
    assert_eq!((rows(&t).len(), codes(&t)), (1, vec!["unmatched-events"]));
    let t = open(&format!("[{READ}]\nend of file"));
    assert_eq!((rows(&t).len(), codes(&t)), (1, vec!["unreadable-records"]));
}

/// The trace, the bytes and the number of rows, for a sink that keeps no rows.
fn streamed(text: &str) -> (Trace, u64, usize) {
    #[derive(Default)]
    struct Sum(Mutex<(u64, usize)>);
    impl RowSink for Sum {
        fn take(&self, batch: Batch<'_>) -> iophase::Result<()> {
            let mut sum = self.0.lock().unwrap();
            sum.1 += batch.rows.len();
            if let Data::Requests(rows) = &*batch.rows {
                sum.0 += rows.iter().map(|r| r.size).sum::<u64>();
            }
            Ok(())
        }
        fn restart(&self, _: Restart) {
            *self.0.lock().unwrap() = (0, 0);
        }
    }
    let sum = Sum::default();
    let t = read_into(&Source::from_bytes("x.json", text.as_bytes()), None, &ReadOptions::default(), &sum).unwrap();
    let (bytes, rows) = sum.0.into_inner().unwrap();
    (t, bytes, rows)
}

#[test]
fn events_inside_one_another_on_a_thread_count_once() {
    let path = r#""path":"/ck","#;
    let outer = event("Storage.write", 1, 0, 100, &format!("{path}\"bytes\":80"));
    let inner = |ts, ret| event("pwrite64", 1, ts, 10, &format!("{path}\"ret\":{ret}"));
    let whole = [inner(5, 40), inner(50, 40)];
    let part = [inner(5, 40), inner(50, 30)];
    let other = event("write", 2, 20, 10, &format!("{path}\"bytes\":1"));
    for (events, bytes, count) in [
        ([&[outer.clone()][..], &whole, std::slice::from_ref(&other)].concat(), 81, 3),
        ([&whole[..], &[other.clone(), outer.clone()]].concat(), 81, 3),
        ([&part[..], &[other, outer]].concat(), 81, 2),
    ] {
        let text = format!("[{}]", events.join(","));
        let t = open(&text);
        let size: u64 = rows(&t).iter().map(|r| r.1).sum();
        assert_eq!((size, rows(&t).len(), codes(&t)), (bytes, count, vec!["nested-events"]), "{text}");
        let (t, size, rows) = streamed(&text);
        assert_eq!((size, rows, codes(&t)), (bytes, count, vec!["nested-events"]), "{text}");
        assert_eq!(t.layers[0].bytes_written, bytes);
    }
    // events without bytes: at a time there is one
    let timed = [event("read", 1, 0, 100, ""), event("read", 1, 10, 20, "")].join(",");
    assert_eq!(rows(&open(&format!("[{timed}]"))), [(Op::Read, 100, 0.0, 100.0)]);
    // asynchronous events and those of no thread may overlap
    let free = READ.replace("\"tid\":1,", "");
    let t = open(&format!("[{free},{}]", free.replace("\"dur\":5", "\"dur\":1")));
    assert_eq!((rows(&t).len(), codes(&t)), (2, vec![]));
}

#[test]
fn events_of_tau_are_no_events_of_dftracer() {
    let tau = |name: &str, ts: u32, args: &str, rest: &str| {
        format!(
            r#"{{"ts": {ts}, "dur": 6, "ph": "X", "tid": 0, "pid": 0, "step": 0, "cat": "POSIX", "name": "{name}", "args": {{{args}}}{rest}}}"#
        )
    };
    let text = format!(
        "[\n{},\n{},\n{},\n{},\n{}\n]",
        tau("fopen", 10, r#""path": "a.log", "mode": "w""#, r#", "return": "0x2ea""#),
        tau("fprintf", 20, r#""stream": "0x2ea""#, r#", "pathname": "a.log", "return": 20"#),
        tau("fwrite", 30, r#""ptr": 0x7f, "size": 8, "nmemb": 5"#, r#", "pathname": "a.log", "return": 3"#),
        tau("read", 40, r#""fd": 38, "count": 8"#, r#", "pathname": "/b", "return": 18446744073709551615"#),
        tau("read", 50, r#""fd": 38, "count": 8"#, r#", "pathname": "/b", "return": 4"#),
    );
    let t = open(&text);
    assert_eq!(t.format, "chrome");
    assert_eq!(rows(&t), [(Op::Write, 20, 20.0, 26.0), (Op::Write, 24, 30.0, 36.0), (Op::Read, 4, 50.0, 56.0)]);
    assert_eq!((t.files.len(), t.quality.records_left_out), (2, 1));
    let Data::Requests(requests) = &t.data else { panic!("requests") };
    assert_eq!(requests.iter().map(|r| r.offset).collect::<Vec<_>>(), [0, 20, UNKNOWN_OFFSET]);
    let dftracer =
        r#"{"id":0,"name":"write","cat":"POSIX","pid":1,"tid":1,"ts":1,"dur":1,"ph":"X","args":{"hhash":"a","ret":5}}"#;
    assert_eq!(probe(&Source::from_bytes("x.pfw", format!("[\n{dftracer}\n"))).unwrap().name(), "dftracer");
}

#[test]
fn files_that_name_their_rank_are_one_job() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let traces = || iophase::formats::search(folder.path(), None, &ReadOptions::default()).unwrap().traces;
    for rank in 0..3 {
        write(&format!("run_rank{rank}.17{rank}.json"), &format!("[{READ}]"));
    }
    assert_eq!(traces().len(), 1);
    let t = read(&traces()[0].open(&Limits::default()).unwrap(), None, &ReadOptions::default()).unwrap();
    assert_eq!((t.ranks, rows(&t).len(), codes(&t)), (3, 3, vec![]));
    let Data::Requests(r) = &t.data else { panic!("requests") };
    assert_eq!(r.iter().map(|r| r.rank).collect::<Vec<_>>(), [0, 1, 2]);
    // as the profiler of PyTorch says it; other files are jobs of their own
    for rank in [1, 0] {
        let info = format!(
            r#"{{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":2}},"traceEvents":[{READ}]}}"#
        );
        write(&format!("host_{rank}.pt.trace.json"), &info);
    }
    write("crank1.json", &format!("[{READ}]"));
    write("plain1.json", &format!("[{READ}]"));
    let files: Vec<usize> = traces().iter().map(|t| t.files.len()).collect();
    assert_eq!(files, [1, 2, 1, 3]);
}
