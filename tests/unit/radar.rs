//! HEADER/PROCESS text: the spellings, and damage.

use super::text::{codes, parse, parse_as, torture};
use iophase::ErrorKind;
use iophase::formats::{Detail, ReadOptions, Sniff, Source, find, read};
use iophase::record::{Data, Op, Requests, Trace, UNKNOWN_OFFSET};
use proptest::prelude::*;

fn rows(t: &Trace) -> &Requests {
    match &t.data {
        Data::Requests(r) => r,
        Data::Intervals(_) => panic!("intervals"),
    }
}

/// Operation, rank, offset, size, start, end.
fn list(t: &Trace) -> Vec<(Op, u32, u64, u64, f64, f64)> {
    rows(t).iter().map(|r| (r.op, r.rank, r.offset, r.size, r.start, r.end)).collect()
}

const PLAIN: &str = "\
HEADER
/scratch/my out.h5 2 7168
PROCESS 0 2
# the first record
ADIO_WriteColl 0.5 1
0 1024
ADIO_WriteStrided 1.5 2 0 0
1024 1024
3072, 1024

PROCESS 1 1
ADIO_Read_all 2.25 1
8192 4096
";

#[test]
fn one_time_column_is_read() {
    let t = parse(PLAIN).unwrap();
    use Op::{Read, Write};
    let expected = [
        (Write, 0, 0, 1024, 0.5, 0.5),
        (Write, 0, 1024, 1024, 1.5, 1.5),
        (Write, 0, 3072, 1024, 1.5, 1.5),
        (Read, 1, 8192, 4096, 2.25, 2.25),
    ];
    assert_eq!(list(&t), expected);
    assert_eq!((t.format, t.ranks, t.files.name(rows(&t).file.get(0))), ("radar", 2, "/scratch/my out.h5"));
    assert_eq!((t.warnings.len(), t.quality.records_read, t.quality.records_dropped), (0, 4, 0));
    assert_eq!(t.call_counts["ADIO_WriteStrided"], 1);
    assert_eq!(t.calls.name(rows(&t).call.get(3)), "ADIO_Read_all");
    assert_eq!((t.layers[0].reads, t.layers[0].bytes_written), (Some(1), 3072));
    assert_eq!(t.job.as_ref().unwrap().ranks, Some(2));
    // The same with a leading integer.
    let second = PLAIN.replace("ADIO_", "3 ADIO_");
    assert_eq!(list(&parse(second).unwrap()), expected);
}

#[test]
fn two_time_columns_are_read() {
    let text = PLAIN
        .replace("ADIO_WriteColl 0.5", "0 ADIO_WriteColl 0.5 0.75")
        .replace("ADIO_WriteStrided 1.5", "1 ADIO_WriteStrided 1.5 2")
        .replace("ADIO_Read_all 2.25", "1 ADIO_Read_all 2.25 3");
    let t = parse(&text).unwrap();
    let times: Vec<_> = list(&t).iter().map(|r| (r.4, r.5)).collect();
    assert_eq!(times, [(0.5, 0.75), (1.5, 2.0), (1.5, 2.0), (2.25, 3.0)]);
    assert_eq!(t.warnings, []);
    // Each block has its own spelling.
    let t = parse(format!("{PLAIN}{text}")).unwrap();
    let times: Vec<_> = list(&t).iter().map(|r| r.5).collect();
    assert_eq!(times, [0.5, 1.5, 1.5, 2.25, 0.75, 2.0, 2.0, 3.0]);
    assert_eq!(t.files.len(), 1);
}

/// A block of records `0 Write <a> <b> 1`, each with one access.
fn block(lines: &[&str]) -> String {
    let accesses: usize = lines.iter().map(|l| l.split(';').count() - 1).sum();
    let mut out = format!("HEADER\n/f 1 {}\nPROCESS 0 {}\n", accesses * 8, lines.len());
    for l in lines {
        out += &l.replace(';', "\n");
        out.push('\n');
    }
    out
}

#[test]
fn ambiguous_columns_are_resolved_by_later_records() {
    let ends = |lines: &[&str]| {
        let t = parse(block(lines)).unwrap();
        assert_eq!(t.warnings, [], "{lines:?}");
        list(&t).iter().map(|r| (r.4, r.5)).collect::<Vec<_>>()
    };
    // One time, one access, one flag; or two times, one access.
    assert_eq!(
        ends(&["0 Write 0.5 1 1;0 8", "0 Write 0.75 1 1;8 8"]),
        [(0.5, 0.5), (0.75, 0.75)],
        "nothing tells: m is whole"
    );
    assert_eq!(ends(&["0 Write 0.5 1 1;0 8", "0 Write 1.5 2.25 1;8 8"]), [(0.5, 1.0), (1.5, 2.25)]);
    assert_eq!(
        ends(&["0 Write 0.5 1 1;0 8", "0 Write 1.5 1 1;8 8"]),
        [(0.5, 0.5), (1.5, 1.5)],
        "an end is not before its start"
    );
    assert_eq!(ends(&["0 Write 0.5 1 1;0 8", "0 Write 1.5 2 0 0;8 8;16 8"])[..2], [(0.5, 0.5), (1.5, 1.5)]);
    assert_eq!(ends(&["Write 1 2 2 0 0;0 8;8 8"])[0], (1.0, 2.0), "flags are as many as accesses");
}

#[test]
fn damage_ends_a_block_and_is_reported() {
    // A record with fewer accesses than it says: the next PROCESS starts anew.
    let t = parse(PLAIN.replace("3072, 1024\n", "")).unwrap();
    assert_eq!((rows(&t).len(), codes(&t)), (3, vec!["damaged-block"]));
    assert!(
        t.warnings[0].message.contains("line 10") || t.warnings[0].message.contains("line 7"),
        "{}",
        t.warnings[0].message
    );
    // More accesses than it says.
    let t = parse(PLAIN.replace("3072, 1024\n", "3072, 1024\n9 9\n7 7\n")).unwrap();
    assert_eq!((rows(&t).len(), codes(&t)), (4, vec!["damaged-block"]));
    assert_eq!(t.quality.records_dropped, 2);
    // Fewer records than announced, and more.
    let t = parse(PLAIN.replace("PROCESS 0 2", "PROCESS 0 3")).unwrap();
    assert_eq!((rows(&t).len(), codes(&t)), (4, vec!["damaged-block"]));
    let t = parse(PLAIN.replace("PROCESS 0 2", "PROCESS 0 1")).unwrap();
    assert_eq!((rows(&t).len(), codes(&t)), (2, vec!["damaged-block"]));
    // Lines that are nothing.
    for (from, to, left) in [
        ("ADIO_WriteStrided 1.5 2 0 0", "ADIO_WriteStrided", 2),
        ("PROCESS 1 1", "PROCESS x", 3),
        ("PROCESS 1 1", "PROCESS 99999999999 1", 3),
        ("/scratch/my out.h5 2 7168", "/scratch", 4),
        ("8192 4096", "8192 x", 3),
    ] {
        let t = parse(PLAIN.replace(from, to)).unwrap();
        assert_eq!((rows(&t).len(), codes(&t)), (left, vec!["damaged-block"]), "{to}");
    }
    // A block after the damage.
    let t = parse(format!("{}{PLAIN}", PLAIN.replace("8192 4096", "?"))).unwrap();
    assert_eq!(rows(&t).len(), 3 + 4);
    // The end of the file.
    let t = parse(PLAIN.strip_suffix("8192 4096\n").unwrap()).unwrap();
    assert_eq!((rows(&t).len(), codes(&t)), (3, vec!["damaged-tail"]));
    let e = parse("HEADER\n/f 1 8\nPROCESS 0 1\nnonsense\n").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Malformed);
    assert!(e.to_string().starts_with("memory: line 4: `nonsense`; expected a record"), "{e}");
    // Many damaged places make few warnings.
    let t = parse(format!("{PLAIN}{}", "HEADER\nx\n".repeat(50))).unwrap();
    assert_eq!(t.warnings.len(), 9);
}

#[test]
fn totals_ranks_and_calls_are_counted() {
    let t = parse(PLAIN.replace("7168", "7000")).unwrap();
    assert_eq!(codes(&t), ["bytes-disagree"]);
    assert!(
        t.warnings[0].message.contains("7168") && t.warnings[0].message.contains("7000"),
        "{}",
        t.warnings[0].message
    );
    // Ranks in any order, missing, empty; calls that move nothing; an unknown offset.
    let text = "# c\nHEADER\n/f 64 8\nPROCESS 7 0\nPROCESS 3 2\nADIO_Close 9.5 0\nWrite 2.5 1\n-1 8\n";
    let t = parse(text).unwrap();
    assert_eq!(list(&t), [(Op::Write, 3, UNKNOWN_OFFSET, 8, 2.5, 2.5)]);
    assert_eq!((t.ranks, t.call_counts["ADIO_Close"], t.warnings.len()), (64, 1, 0));
    let all = ReadOptions::default().detail(Detail::Calls);
    let t = read(&Source::from_bytes("x", text.as_bytes()), None, &all).unwrap();
    assert_eq!(list(&t)[0], (Op::Close, 3, UNKNOWN_OFFSET, 0, 9.5, 9.5));
}

#[test]
fn hostile_numbers_cost_no_memory() {
    let huge = u64::MAX;
    for text in [
        format!("HEADER\n/f {huge} {huge}\nPROCESS 0 {huge}\nWrite 0 {huge}\n0 {huge}\n0 {huge}\n"),
        format!("HEADER\n/f 1 {huge}\nPROCESS 0 1\nWrite 1e12 1\n{huge} {huge}\n"),
    ] {
        let t = parse(text).unwrap();
        assert!(!rows(&t).is_empty() && t.ranks < 1 << 32);
    }
    let mut o = ReadOptions::default();
    o.limits.records = 3;
    let s = Source::from_bytes("x", PLAIN.as_bytes());
    assert_eq!(read(&s, None, &o).unwrap_err().kind(), ErrorKind::Limit);
    o.limits.records = 4;
    o.limits.line_bytes = 24;
    let t = read(&s, None, &o).unwrap();
    assert_eq!((rows(&t).len(), codes(&t).len()), (2, 2), "the file and the second record have longer lines");
}

#[test]
fn formats_are_told_apart() {
    let radar = find("radar").unwrap();
    for yes in ["HEADER\n", "\n# x\n  HEADER \r\n/f", PLAIN] {
        assert_eq!(radar.sniff(yes.as_bytes()), Sniff::Yes);
    }
    for no in ["", "HEADERS\n", "x\nHEADER\n", "{"] {
        assert!(matches!(radar.sniff(no.as_bytes()), Sniff::No(_)), "{no}");
    }
}

#[test]
fn damage_never_panics() {
    torture("radar", PLAIN.as_bytes());
    torture("radar", block(&["0 Write 0.5 1 1;0 8", "0 Write 1.5 2.25 1;8 8"]).as_bytes());
}

proptest! {
    #[test]
    fn lines_may_come_in_any_order(picks in prop::collection::vec(0usize..9, 0..60)) {
        const LINES: [&str; 9] = ["HEADER", "/f 2 64", "PROCESS 0 3", "Write 0.5 1", "0 Read 0.5 1 2", "0 8", "8 8", "# x", "PROCESS 1 1"];
        let text: String = picks.iter().map(|&i| format!("{}\n", LINES[i])).collect();
        let _ = parse_as("radar", text.as_bytes());
    }
}
