//! Hand-made traces: arrays of rates in JSON, records as CSV and JSON Lines.

use super::text::{codes, parse, parse_as, torture};
use common::shared;
use iophase::formats::{Detail, ReadOptions, Sniff, Source, find, probe, read};
use iophase::record::{Data, FileId, Intervals, Layer, Op, Request, Requests, Trace, UNKNOWN_OFFSET};
use iophase::{ErrorKind, Result};
use proptest::prelude::*;

fn phases(t: &Trace) -> &Intervals {
    match &t.data {
        Data::Intervals(i) => i,
        Data::Requests(_) => panic!("requests"),
    }
}

fn requests(t: &Trace) -> &Requests {
    match &t.data {
        Data::Requests(r) => r,
        Data::Intervals(_) => panic!("intervals"),
    }
}

fn with(text: &str, set: impl FnOnce(&mut ReadOptions)) -> Result<Trace> {
    let mut options = ReadOptions::default();
    set(&mut options);
    read(&Source::from_bytes("memory", text.as_bytes()), None, &options)
}

#[test]
fn arrays_are_read_in_every_form() {
    let rank = |t: &Trace| {
        (phases(t).start.clone(), phases(t).end.clone(), phases(t).bytes.clone(), phases(t).op.as_constant())
    };
    let expected = |op| (vec![1.0, 4.0], vec![3.0, 5.0], vec![4.0, 3.0], Some(op));
    // Sections: the direction is known.
    let t = parse(r#"{"write_sync":{"total_bytes":7,"number_of_ranks":4,"bandwidth":{"b_rank_avr":[2,3],"t_rank_s":[1,4],"t_rank_e":[3,5]}}}"#).unwrap();
    assert_eq!((t.format, rank(&t), t.ranks), ("custom", expected(Op::Write), 4));
    assert_eq!(t.warnings, []);
    let t = parse(r#"{"write_async":{"bandwidth":{"b_rank_avr":[2,3],"t_rank_s":[1,4],"t_rank_e":[3,5]}}}"#).unwrap();
    assert_eq!((rank(&t), phases(&t).asynchronous.as_constant()), (expected(Op::Write), Some(true)));
    // Everything else is read, as far as anyone can tell.
    for text in [
        r#"{"bandwidth":{"b_rank_avr":[2,3],"t_rank_s":[1,4],"t_rank_e":[3,5]}}"#,
        r#"{"b_rank_avr":[2,3],"t_rank_s":[1,4],"t_rank_e":[3,5]}"#,
        r#"{"b_rank":[2,3],"t_rank_s":[1,4],"t_rank_e":[3,5]}"#,
        r#"{"te":[3,5],"note":"x","bw":[2,3],"ts":[1,4]}"#,
        r#"{"bandwidths":[2,3],"t_start_s":[1,4],"t_start_e":[3,5]}"#,
    ] {
        let t = parse(text).unwrap();
        assert_eq!((rank(&t), codes(&t)), (expected(Op::Read), vec!["direction-unknown"]), "{text}");
    }
    for text in [
        r#"{"b_overlap":[2,0],"t_overlap":[1,3]}"#,
        r#"{"b":[2,0],"t":[1,3]}"#,
        r#"{"b":[2],"t":[1,3]}"#,
        r#"{"time":[1,3],"b_ind":[2]}"#,
    ] {
        let t = parse(text).unwrap();
        assert_eq!(
            (rank(&t), codes(&t)),
            ((vec![1.0], vec![3.0], vec![4.0], Some(Op::Read)), vec!["direction-unknown"]),
            "{text}"
        );
    }
}

#[test]
fn inconsistent_arrays_are_refused() {
    for text in [
        r#"{"b":[1],"bw":[2],"t":[1]}"#,
        r#"{"b":[1],"t1":[2],"t2":[1]}"#,
        r#"{"b":[1],"ts":[2],"te":[1],"tx":[3]}"#,
        r#"{"b":["x"],"t":[1]}"#,
        r#"{"b":1,"t":2}"#,
        r"{}",
    ] {
        let e = parse_as("custom", text.as_bytes()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Malformed);
        assert!(e.to_string().contains("expected sections such as write_sync"), "{text}: {e}");
    }
    let t = parse(r#"{"b":[1,2,3,4],"t":[1,2]}"#).unwrap();
    assert_eq!((phases(&t).len(), t.quality.records_dropped), (1, 2));
    assert_eq!(codes(&t), ["direction-unknown", "open-end", "uneven-series"]);
    // Time that steps back.
    let t = parse(r#"{"b":[1,2,0],"t":[1,5,4]}"#).unwrap();
    assert_eq!((t.quality.clock_backwards, t.quality.clamped), (1, 1));
}

#[test]
fn published_samples() {
    let (Some(phase), Some(curve), Some(read)) = (
        shared("thirdparty/ftio/custom/custom.json"),
        shared("thirdparty/ftio/custom/custom_app.json"),
        shared("thirdparty/ftio/test.json"),
    ) else {
        return;
    };
    let open = |p: &std::path::Path| parse(std::fs::read(p).unwrap());
    let t = open(&phase).unwrap();
    assert_eq!((t.format, t.ranks, phases(&t).len(), phases(&t).op.as_constant()), ("custom", 4, 32, Some(Op::Write)));
    assert_eq!((phases(&t).start[0], phases(&t).end[0]), (0.060111, 2.840750));
    assert_eq!(phases(&t).bytes[0], 18854940.934542 * (2.840750 - 0.060111));
    let t = open(&curve).unwrap();
    assert_eq!(phases(&t).start, [1.0, 2.0, 4.0, 6.0, 7.0]);
    assert_eq!(phases(&t).end, [2.0, 4.0, 6.0, 7.0, 8.0]);
    assert_eq!(phases(&t).bytes, [1e9, 4e9, 10e9, 2e9, 1e9]);
    let t = open(&read).unwrap();
    assert_eq!((t.format, t.ranks, phases(&t).op.as_constant()), ("custom", 1536, Some(Op::Read)));
    assert!(phases(&t).len() > 50);
}

#[test]
fn the_trace_analysis_of_ftio_is_read() {
    let t = parse(
        r#"{"read": {"bandwidth": {"b_overlap_avr": [2, 0], "t_overlap": [1, 3]}}, "write": {"bandwidth": {"b_overlap_avr": [5, 0], "t_overlap": [2, 3]}}}"#,
    )
    .unwrap();
    let rows: Vec<_> = phases(&t).iter().map(|r| (r.op, r.start, r.end, r.bytes)).collect();
    assert_eq!(rows, [(Op::Read, 1.0, 3.0, 4.0), (Op::Write, 2.0, 3.0, 5.0)]);
    assert_eq!((t.format, codes(&t)), ("custom", vec![]));
    // The words alone say nothing.
    assert!(parse(r#"{"read": 3, "write": {"x": 4}}"#).is_err());
}

const CSV: &str = "\
rank,op,file,offset,size,start,end
0,write,/a,0,4096,1.5,1.75
1,write,/b,4096,8192,2,2.5
0,read,/a,,100,3.25,3.5
";

#[test]
fn csv() {
    let t = parse(CSV).unwrap();
    let r = requests(&t);
    let row = |i: usize| {
        let x = r.get(i);
        (x.op, x.rank, t.files.name(x.file).to_owned(), x.offset, x.size, x.start, x.end)
    };
    assert_eq!(row(0), (Op::Write, 0, "/a".into(), 0, 4096, 1.5, 1.75));
    assert_eq!(row(1), (Op::Write, 1, "/b".into(), 4096, 8192, 2.0, 2.5));
    assert_eq!(row(2), (Op::Read, 0, "/a".into(), UNKNOWN_OFFSET, 100, 3.25, 3.5));
    assert_eq!((t.format, t.ranks, t.origin_s, r.len(), t.files.len()), ("custom", 2, 0, 3, 2));
    let s = &t.layers[0];
    assert_eq!(
        (s.layer.as_str(), s.reads, s.writes, s.bytes_read, s.bytes_written),
        ("requests", Some(1), Some(2), 100, 12288)
    );
    assert_eq!(t.call_counts.iter().map(|(k, v)| (k.as_str(), *v)).collect::<Vec<_>>(), [("read", 1), ("write", 2)]);
    assert_eq!(t.warnings, []);
    assert_eq!(t.quality.records_read, 3);
}

#[test]
fn csv_dialects_are_read() {
    // Any order and case, remarks, blank lines, Windows line ends, quotes, unknown columns, missing ones, no last line end.
    let text = "\u{feff}# made by hand\r\n\r\nSize , START,\"op\",Comment,file,pid,host\r\n\
        10, 1.0 ,pwrite64,\"a, \"\"b\"\"\",\"/x, y\",77,n1\r\n\r\n# more\r\n20.0,2e0,READ,,/z\r\n30,3,fsync";
    let t = parse(text).unwrap();
    let r = requests(&t);
    assert_eq!(r.len(), 2);
    let (a, b) = (r.get(0), r.get(1));
    assert_eq!((a.op, a.size, a.start, a.end, a.task, a.rank), (Op::Write, 10, 1.0, 1.0, 77, 0));
    assert_eq!((t.files.name(a.file), t.calls.name(a.call)), ("/x, y", "pwrite64"));
    assert_eq!((b.op, b.size, b.task, t.files.name(b.file)), (Op::Read, 20, 0, "/z"));
    assert_eq!(t.call_counts["fsync"], 1);
    assert_eq!(codes(&t), [""; 0]);
    // With every call.
    let t = with(text, |o| o.detail = Detail::Calls).unwrap();
    let last = requests(&t).get(2);
    assert_eq!((last.op, last.size, last.file), (Op::Sync, 0, FileId::NONE));
    assert_eq!(t.layers[0].records, 3);
}

#[test]
fn records_in_json_lines_are_read_whatever_their_order_spaces_and_unknown_keys() {
    let text = r#"{"op":"write","size":10,"start":1.5,"file":"/a\u0041\"","offset":5,"extra":{"x":[1,"}"]},"end":2}
 { "rank" : 3 , "call":"MPI_File_read_at", "op":"other", "size":"20", "start":"2", "offset":null }

{"op":"seek","size":null,"start":3}
"#;
    let t = parse(text).unwrap();
    let r = requests(&t);
    assert_eq!((t.format, r.len(), t.ranks), ("custom", 2, 2));
    assert_eq!((r.get(0).offset, r.get(0).end, t.files.name(r.get(0).file)), (5, 2.0, "/aA\""));
    assert_eq!((r.get(1).op, r.get(1).rank, r.get(1).size, r.get(1).offset), (Op::Read, 3, 20, UNKNOWN_OFFSET));
    assert_eq!(t.calls.name(r.get(1).call), "MPI_File_read_at");
    assert_eq!(t.call_counts["seek"], 1);
    assert_eq!(t.warnings, []);
}

#[test]
fn epoch_stamps_are_exact() {
    let text = "op,size,start,end\nwrite,1,1795232924.921586001,1795232924.921586002\nwrite,1,1795232925.000000001,1795232926\n";
    let t = parse(text).unwrap();
    let r = requests(&t);
    assert_eq!(t.origin_s, 1795232924);
    assert_eq!((&r.start[..], &r.end[..]), (&[0.921586001, 1.000000001][..], &[0.921586002, 2.0][..]));
}

#[test]
fn bad_lines_are_skipped_and_reported() {
    let text =
        format!("{CSV}0,write,/a,0,many,1,2\nwhat\n1,write,/b,9,5,7,6\n1,write,/b,9,-5,8,nan\n2,write,\"/b,9,5,8,9\n");
    let t = parse(&text).unwrap();
    assert_eq!(requests(&t).len(), 4);
    let q = &t.quality;
    assert_eq!((q.records_read, q.records_dropped, q.clamped), (8, 4, 1));
    assert_eq!(codes(&t), ["unreadable-records"]);
    let m = &t.warnings[0].message;
    assert!(m.contains("4 of 8 lines") && m.contains("line 5: size `many`; expected bytes"), "{m}");
    // The last line, cut.
    let t = parse(&text[..CSV.len() + 16]).unwrap();
    assert_eq!((requests(&t).len(), codes(&t)), (3, vec!["damaged-tail"]));
    assert!(t.warnings[0].message.contains("line 5"), "{}", t.warnings[0].message);
    // Nothing but bad lines.
    let e = parse("op,size,start\nwrite,x,1\nwrite,1\n").unwrap_err();
    assert_eq!(
        e.to_string(),
        "memory: line 2: size `x`; expected bytes, a number; no line of this file can be read as a record: check its columns"
    );
    // No header.
    let e = parse_as("custom", b"0,write,/a,0,4096,1.5,1.75\n").unwrap_err();
    assert!(e.to_string().contains("line 1: header `0,write,/a") && e.to_string().contains("op, size, start"), "{e}");
    // A header alone is a trace without records.
    assert_eq!(parse("op,size,start\n").unwrap().data.len(), 0);
}

#[test]
fn one_of_several_layers_is_selected() {
    let text = "op,size,start,layer\nwrite,1,1,mpiio\nwrite,2,1,POSIX\nwrite,3,2,posix\nwrite,4,3,\n";
    let t = parse(text).unwrap();
    assert_eq!(
        (t.layer, requests(&t).size.iter().sum::<u64>(), t.quality.records_left_out),
        (Some(Layer::Posix), 5, 2)
    );
    assert_eq!(codes(&t), ["several-layers"]);
    let t = with(text, |o| o.layer = Some(Layer::Mpiio)).unwrap();
    assert_eq!((t.layer, requests(&t).size.iter().sum::<u64>()), (Some(Layer::Mpiio), 1));
    let t = with(CSV, |o| o.layer = Some(Layer::Mpiio)).unwrap();
    assert_eq!((t.layer, requests(&t).len(), codes(&t).len()), (None, 3, 0));
}

#[test]
fn long_lines_and_many_records_are_read() {
    let limit = |lines: usize, records: usize| {
        move |o: &mut ReadOptions| (o.limits.line_bytes, o.limits.records) = (lines, records)
    };
    let text = format!("{CSV}0,write,{},0,1,1,1\n1,write,/c,0,1,9,10\n", "x".repeat(300));
    let t = with(&text, limit(200, 100)).unwrap();
    assert_eq!((requests(&t).len(), t.quality.records_dropped), (4, 1));
    assert!(t.warnings[0].message.contains("line 5"), "{}", t.warnings[0].message);
    assert_eq!(with(CSV, limit(200, 2)).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(with(CSV, limit(200, 3)).unwrap().data.len(), 3);
    // A line far beyond what is held at once.
    let text = format!("{CSV}{}\n1,write,/c,0,1,9,10\n", "y".repeat(9 << 20));
    let t = parse(&text).unwrap();
    assert_eq!((requests(&t).len(), t.quality.records_dropped), (4, 1));
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let mut csv = String::from("start,op,size,file,rank,call,offset\n");
    let mut lines = String::new();
    for i in 0..60_000u64 {
        let op = ["read", "write", "open"][(i % 3) as usize];
        let (file, rank, call) = (i / 7 % 900, i % 64, i % 11);
        csv += &format!("{}.5,{op},{},/f{file},{rank},c{call},{}\n", 1_800_000_000 + i, i * 3, i * 4096);
        lines += &format!(
            "{{\"start\":{}.5,\"op\":\"{op}\",\"size\":{},\"file\":\"/f{file}\",\"rank\":{rank},\"call\":\"c{call}\",\"offset\":{}}}\n",
            1_800_000_000 + i,
            i * 3,
            i * 4096
        );
    }
    let dump = |text: &str| {
        let t = parse(text).unwrap();
        let rows: Vec<Request> = requests(&t).iter().collect();
        let files: Vec<String> = t.files.iter().map(|(_, n)| n.to_owned()).collect();
        (rows, files, t.call_counts, t.ranks, t.origin_s)
    };
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let one = pool(1).install(|| dump(&csv));
    assert_eq!((one.0.len(), one.1.len(), one.3, one.4), (40_000, 900, 64, 1_800_000_000));
    assert!(one.0.iter().enumerate().all(|(k, r)| {
        let i = (k / 2 * 3 + k % 2) as u64;
        r.start == i as f64 + 0.5
            && r.size == i * 3
            && r.offset == i * 4096
            && one.1[r.file.0 as usize] == format!("/f{}", i / 7 % 900)
    }));
    assert_eq!(pool(3).install(|| dump(&csv)), one);
    assert_eq!(dump(&lines), one);
}

proptest! {
    #[test]
    fn records_survive_csv_and_json_lines(
        rows in prop::collection::vec((any::<bool>(), 0u32..9, 0u64..1 << 50, 0u64..1 << 40, 0.0..1e5f64, 0.0..10.0f64, "[a-z\"\\\\, ]{1,8}"), 1..20)
    ) {
        let mut csv = String::from("rank,op,file,offset,size,start,end\n");
        let mut lines = String::new();
        for (read, rank, offset, size, start, length, file) in &rows {
            let (op, end) = (if *read { "read" } else { "write" }, start + length);
            csv += &format!("{rank},{op},\"{}\",{offset},{size},{start:?},{end:?}\n", file.replace('"', "\"\""));
            lines += &serde_json::json!({"rank":rank,"op":op,"file":file,"offset":offset,"size":size,"start":start,"end":end}).to_string();
            lines.push('\n');
        }
        for text in [csv, lines] {
            let t = parse(&text).unwrap();
            prop_assert_eq!(t.quality.records_dropped, 0, "{}", text);
            for (x, (read, rank, offset, size, start, length, file)) in requests(&t).iter().zip(&rows) {
                prop_assert_eq!((x.op == Op::Read, x.rank, x.offset, x.size, x.start, x.end), (*read, *rank, *offset, *size, *start, start + length));
                prop_assert_eq!(t.files.name(x.file), file);
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), start in prop::sample::select(vec!["", "{", "{\"b\":[", "op,size,start\n", "{\"op\":\"read\",\"size\":1,\"start\":"])) {
        let mut text = start.as_bytes().to_vec();
        text.extend(bytes);
        let _ = parse_as("custom", &text);
    }
}

#[test]
fn formats_are_told_apart() {
    let custom = find("custom").unwrap();
    for yes in [
        CSV,
        "op,size,start",
        "# x\n\nstart,size,op\n",
        "{\"op\":\"read\",\"start\":1,\"size\":2}",
        "{\"write_sync\":{\"total_bytes\": 5,\"bandwidth\":{\"b_rank_avr\":[1,2,3",
        "{\"b_overlap\":[1",
        "{\"bandwidth\":{\"b_rank_avr\":[1",
    ] {
        assert_eq!(custom.sniff(yes.as_bytes()), Sniff::Yes, "{yes}");
    }
    for maybe in ["{\"b\":[1,2", "{\"b\":[1],\"t\":[1]}", "{\"ts\":[1"] {
        assert_eq!(custom.sniff(maybe.as_bytes()), Sniff::Maybe, "{maybe}");
    }
    for no in [
        "",
        "op,bytes\n",
        "HEADER\n",
        "{\"traceEvents\":[]}",
        "{\"metrics\":{}}",
        "[1,2]",
        "12:00:01 read(3, \"op,size,start\", 5) = 5",
        "\u{0}",
    ] {
        assert!(matches!(custom.sniff(no.as_bytes()), Sniff::No(_)), "{no}");
    }
    for nearly in ["op,size\n", "rank,op,start,bytes\n"] {
        assert!(matches!(custom.sniff(nearly.as_bytes()), Sniff::Unsupported(_)), "{nearly}");
    }
    assert_eq!(probe(&Source::from_bytes("x", *b"op,size,start\n")).unwrap().name(), "custom");
}

#[test]
fn damage_never_panics() {
    torture("custom", CSV.as_bytes());
    torture(
        "custom",
        br#"{"op":"write","size":10,"start":1.5,"file":"/a\u0041\"","offset":5,"x":{"y":[1,"}"]},"end":2}
{"op":"read","size":7,"start":2}"#,
    );
    torture("custom", br#"{"write_sync":{"total_bytes":7,"bandwidth":{"b_rank_avr":[2,3],"t_rank_s":[1,4],"t_rank_e":[3,5]}},"x":[{}]}"#);
    torture("custom", br#"{"te":[3,5],"note":"x","bw":[2,3],"ts":[1,4]}"#);
}

#[test]
fn rows_at_times_that_no_clock_shows_are_left_out() {
    let t = parse("op,start,end,size\nwrite,-1.7976931348623157e+308,0.5,307\nwrite,1,2,10\nwrite,-1e+308,3.75,13\n")
        .unwrap();
    assert_eq!((requests(&t).len(), t.quality.records_dropped), (1, 2));
    assert_eq!(t.layers[0].first_s, Some(1.0));
    // all of them
    let far: String = (0..6).map(|i| format!("write,{0}.{i}e299,{0}.{i}5e299,10\n", 402)).collect();
    let e = parse(format!("op,start,end,size\n{far}")).err().unwrap();
    assert_eq!(e.kind(), ErrorKind::Malformed);
    assert!(e.to_string().contains("within 1e12"), "{e}");
    let t = parse(r#"{"b_rank_avr":[2,3,1e300],"t_rank_s":[1,4,6],"t_rank_e":[3,5e300,7]}"#).unwrap();
    assert_eq!((phases(&t).len(), t.quality.records_dropped), (1, 2));
}
