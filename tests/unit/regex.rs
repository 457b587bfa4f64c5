//! Text read by patterns: every combination of groups, units, stamps, pattern files, and damage.

use std::fmt::Write as _;

use super::text::{check, codes, csv_and_back};
use common::shared;
use iophase::formats::{Detail, Patterns, ReadOptions, Source, read};
use iophase::internals::formats::tail::Tail;
use iophase::record::{Data, Interval, Op, Request, Trace, UNKNOWN_OFFSET};
use iophase::{ErrorKind, Result};
use proptest::prelude::*;

fn with(patterns: Patterns, text: &str) -> Result<Trace> {
    let options = ReadOptions::default().patterns(Some(patterns));
    let trace = read(&Source::from_bytes("memory", text.as_bytes()), None, &options)?;
    check(&trace, 40 * text.len() + 40);
    Ok(trace)
}

fn by(pattern: &str, text: &str) -> Trace {
    with(Patterns::rows(&[pattern.to_owned()]).unwrap(), text).unwrap()
}

fn rows(t: &Trace) -> Vec<Request> {
    match &t.data {
        Data::Requests(r) => r.iter().collect(),
        Data::Intervals(_) => panic!("intervals"),
    }
}

/// Start, end, size of the rows.
fn moved(t: &Trace) -> Vec<(f64, f64, u64)> {
    let origin = t.origin_s as f64;
    rows(t).iter().map(|r| (origin + r.start, origin + r.end, r.size)).collect()
}

#[test]
fn every_way_to_state_time_and_amount() {
    for (pattern, line, expected) in [
        (r"(?P<start>\S+) (?P<end>\S+) (?P<size>\S+)", "1 3 4", (1.0, 3.0, 4)),
        (r"(?P<start>\S+) (?P<duration>\S+) (?P<size>\S+)", "1 3 4", (1.0, 4.0, 4)),
        (r"(?P<end>\S+) (?P<duration>\S+) (?P<size>\S+)", "4 3 4", (1.0, 4.0, 4)),
        (r"(?P<time>\S+) (?P<size>\S+)", "7 4", (7.0, 7.0, 4)),
        (r"(?P<end>\S+) (?P<size>\S+)", "7 4", (7.0, 7.0, 4)),
        (r"(?P<start>\S+) (?P<size>\S+) (?P<rate>\S+)", "1 8 4", (1.0, 3.0, 8)),
        (r"(?P<start>\S+) (?P<end>\S+) (?P<rate>\S+)", "1 3 4", (1.0, 3.0, 8)),
        (r"(?P<end>\S+) (?P<duration_ms>\S+) (?P<rate_MB>\S+)", "4 500 4", (3.5, 4.0, 2_000_000)),
        (r"(?P<start_us>\S+) (?P<duration>\S+ \S+) (?P<size>\S+ \S+)", "1500000 250 ms 2 KiB", (1.5, 1.75, 2048)),
        (r"(?P<start>\S+)( (?P<end>\d+))? (?P<size>\d+)B", "5 9B", (5.0, 5.0, 9)),
    ] {
        let t = by(pattern, &format!("{line}\n"));
        assert_eq!(moved(&t), [expected], "{pattern}");
        assert_eq!((t.format, codes(&t)), ("regex", vec!["direction-unknown"]), "{pattern}");
    }
}

#[test]
fn groups_of_a_record() {
    let t = by(
        r"^(?P<op>\w+) r(?P<rank>\d+) (?P<file>\S+) @(?P<offset>\d+) (?P<size>\d+) (?P<start>\S+)",
        "pwrite64 r3 /a/b @4096 512 1.5\nR r0 /c @0 1 2\nwrote r1 /c @9 2 3\nfsync r1 /c @0 0 4\n",
    );
    let found: Vec<_> =
        rows(&t).iter().map(|r| (r.op, r.rank, t.files.name(r.file).to_owned(), r.offset, r.size)).collect();
    assert_eq!(
        found,
        [
            (Op::Write, 3, "/a/b".to_owned(), 4096, 512),
            (Op::Read, 0, "/c".to_owned(), 0, 1),
            (Op::Write, 1, "/c".to_owned(), 9, 2)
        ]
    );
    assert_eq!((t.ranks, t.call_counts["fsync"]), (3, 1));
    assert_eq!(codes(&t), Vec::<&str>::new());
    let t = by(r"(?P<start>\d+) (?P<size>\d+)", "1 2\n");
    assert_eq!(rows(&t)[0].offset, UNKNOWN_OFFSET);
}

#[test]
fn stamps_keep_their_nanoseconds_and_pass_midnight() {
    let t = by(r"(?P<start>\S+ \S+) (?P<duration_ns>\d+) (?P<size>\d+)", "2026-11-24 21:30:00.123456789 1000 5\n");
    assert_eq!((t.origin_s, rows(&t)[0].start, rows(&t)[0].end), (1_795_555_800, 0.123456789, 0.123457789));
    let text = "23:59:58.5 23:59:59 1\n23:59:59 00:00:01 2\n00:00:00.5 00:00:02 3\n00:00:00 00:00:03 4\n";
    let t = by(r"(?P<start>\S+) (?P<end>\S+) (?P<size>\d+)", text);
    assert_eq!(moved(&t), [(86398.5, 86399.0, 1), (86399.0, 86401.0, 2), (86400.5, 86402.0, 3), (86400.0, 86403.0, 4)]);
}

#[test]
fn a_rate_holds_until_the_next_line_of_its_kind() {
    let file =
        Patterns::from_file("patterns=['^(?P<time>\\S+) (?P<op>\\w) (?P<rate>\\S+)']\nunits={rate='KiB/s'}").unwrap();
    let t = with(file, "0 w 2\n1 r 1\n2 w 0\n5 w 4\n3 r 0\n").unwrap();
    let of = |op| rows(&t).iter().filter(|r| r.op == op).map(|r| (r.start, r.end, r.size)).collect::<Vec<_>>();
    assert_eq!(of(Op::Write), [(0.0, 2.0, 4096), (2.0, 5.0, 0), (5.0, 8.0, 12288)]);
    assert_eq!(of(Op::Read), [(1.0, 3.0, 2048), (3.0, 5.0, 0)]);
    assert_eq!((codes(&t), t.layers[0].bytes_written), (vec![], 16384));
}

#[test]
fn files_of_patterns_with_settings() {
    let toml = r#"
        constants = { rank = 7, file = "/log" }
        units = { size = "KiB", start = "ms" }
        [[patterns]]
        regex = '^put (?P<start>\d+) (?P<size>\d+)$'
        constants = { op = "write" }
        [[patterns]]
        regex = '^(?P<op>get|store) (?P<start>\d+) (?P<size>\d+)$'
        units = { size = "B" }
        translate = { op = { get = "read", store = "write" } }
    "#;
    let json = r#"{"constants": {"rank": 7, "file": "/log"}, "units": {"size": "KiB", "start": "ms"}, "patterns": [
        {"regex": "^put (?P<start>\\d+) (?P<size>\\d+)$", "constants": {"op": "write"}},
        {"regex": "^(?P<op>get|store) (?P<start>\\d+) (?P<size>\\d+)$", "units": {"size": "B"},
         "translate": {"op": {"get": "read", "store": "write"}}}]}"#;
    for file in [toml, json] {
        let t = with(Patterns::from_file(file).unwrap(), "put 1500 4\nget 2000 4\n# note\nstore 2500 1\n").unwrap();
        let found: Vec<_> = rows(&t).iter().map(|r| (r.op, r.rank, r.start, r.size)).collect();
        assert_eq!(found, [(Op::Write, 7, 1.5, 4096), (Op::Read, 7, 2.0, 4), (Op::Write, 7, 2.5, 1)]);
        assert_eq!(t.files.name(rows(&t)[0].file), "/log");
        let w = &t.warnings[0];
        assert_eq!((t.warnings.len(), w.code.as_str()), (1, "unmatched-lines"));
        assert_eq!(w.message, "1 of 4 lines match no pattern and were left out, the first line 3: `# note`");
    }
}

#[test]
fn text_that_does_not_fit_is_told() {
    let pattern = |p: &str| Patterns::rows(&[p.to_owned()]).unwrap();
    let e = with(pattern(r"(?P<start>\d+) (?P<size>\d+)$"), "a\nb\n").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Malformed);
    assert!(e.to_string().starts_with("memory: line 1: no pattern matches this line or any other: `a`"), "{e}");
    let t = with(pattern(r"(?P<op>\w+) (?P<start>\S+) (?P<size>\S+)"), "read 1 2\nread x 2\nread 3 many\nread 5 6\n")
        .unwrap();
    assert_eq!((rows(&t).len(), t.quality.records_dropped, codes(&t)), (2, 2, vec!["unreadable-records"]));
    assert!(t.warnings[0].message.contains("the first line 2: start `x`; expected seconds"), "{:?}", t.warnings);
    let t = with(pattern(r"(?P<op>\w+) (?P<start>\S+) (?P<size>\S+)"), "GET 1 2\nPUT 1 2\n").unwrap();
    assert_eq!(codes(&t), ["no-transfers"]);
    assert!(t.warnings[0].message.ends_with("GET 1, PUT 1"));
    let source = Source::from_bytes("memory", &b"1 2"[..]);
    let e = read(&source, Some(iophase::formats::find("regex").unwrap()), &ReadOptions::default()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Usage);
}

/// FTIO's own example of text, with its pattern file as TOML and as JSON.
#[test]
fn pattern_files_of_ftio() {
    let toml = r#"
        [pattern]
        avg_thruput_mib = 'avg_thruput_mib:\s+\[([\d.\d,\s]+)\]'
        end_t_micro = 'end_t_micro:\s+\[([\d,\s]+)\]'
        start_t_micro = 'start_t_micro:\s+\[([\d,\s]+)\]'
        total_bytes = 'total_bytes:\s*+(\d+)'
        total_iops = 'total_iops:\s+(\d+)'
        [translate]
        total_bytes = "total_bytes"
        max_io_ops_per_rank = "total_iops"
        bandwidth.b_rank_avr = ["avg_thruput_mib", 1.07e6]
        bandwidth.t_rank_e = ["end_t_micro", 1e-3]
        bandwidth.t_rank_s = ["start_t_micro", 1e-3]
    "#;
    let json = serde_json::to_string(&toml::from_str::<toml::Table>(toml).unwrap()).unwrap();
    let own =
        "avg_thruput_mib: [0.0,1000.0]\nstart_t_micro: [0500,0000]\nend_t_micro: [5000,4500]\ntotal_bytes: 15000\n";
    for file in [toml, &json] {
        let patterns = Patterns::from_file(file).unwrap();
        let t = with(patterns.clone(), own).unwrap();
        let Data::Intervals(i) = &t.data else { panic!("requests") };
        assert_eq!((i.start.clone(), i.end.clone()), (vec![0.5, 0.0], vec![5.0, 4.5]));
        assert_eq!(i.bytes, [0.0, 1000.0 * 1.07e6 * 4.5]);
        assert_eq!(codes(&t), ["bytes-disagree", "unmatched-patterns", "direction-unknown"]);
        let Some(path) = shared("thirdparty/ftio/custom/2.txt") else { continue };
        let t = with(patterns, &std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!((t.data.len(), codes(&t)), (14, vec!["bytes-disagree", "direction-unknown"]));
    }
    let patterns = Patterns::from_file(toml).unwrap();
    let e = with(patterns.clone(), "nothing here\n").unwrap_err();
    assert!(e.to_string().contains("no match for: avg_thruput_mib, end_t_micro"), "{e}");
    let e = with(patterns, &own.replace("0500", "05 0")).unwrap_err();
    assert!(e.to_string().contains("`05 0` in the group of pattern start_t_micro"), "{e}");
}

const LINE: &str =
    r"^(?P<start>[\d.]+) (?P<op>read|write) (?P<size>\d+) (?P<file>\S+) r(?P<rank>\d+)(?: (?P<duration_us>\d+))?$";

fn log(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let op = ["read", "write"][i % 2];
        let _ =
            writeln!(text, "{}.{:06} {op} {} /f{} r{} {}", i / 7, i * 31 % 1_000_000, 100 + i, i % 3, i % 4, i % 900);
        if i % 10 == 0 {
            text += "# chatter\n";
        }
    }
    text
}

#[test]
fn rows_are_the_same_in_pieces_kept_or_converted() {
    let text = log(30_000);
    let t = by(LINE, &text);
    assert_eq!((t.data.len(), codes(&t)), (30_000, vec!["unmatched-lines"]));
    let back = csv_and_back(&t);
    assert_eq!(rows(&back).len(), rows(&t).len());
    let plain = |t: &Trace| -> Vec<_> {
        rows(t).iter().map(|r| (r.op, r.rank, t.files.name(r.file).to_owned(), r.size, r.start, r.end)).collect()
    };
    assert_eq!(plain(&back), plain(&t));
    // The streaming commands see the same rows.
    let options =
        ReadOptions::default().detail(Detail::Calls).patterns(Some(Patterns::rows(&[LINE.to_owned()]).unwrap()));
    let sums = std::sync::Mutex::new((0, 0));
    struct Sums<'m>(&'m std::sync::Mutex<(usize, u64)>);
    impl iophase::record::RowSink for Sums<'_> {
        fn take(&self, batch: iophase::record::Batch<'_>) -> Result<()> {
            let Data::Requests(r) = &*batch.rows else { panic!("intervals") };
            let mut sums = self.0.lock().unwrap();
            (sums.0, sums.1) = (sums.0 + r.len(), sums.1 + r.iter().map(|r| r.size).sum::<u64>());
            Ok(())
        }
        fn restart(&self, _: iophase::record::Restart) {
            panic!("restart");
        }
    }
    iophase::formats::read_into(&Source::from_bytes("m", text.as_bytes()), None, &options, &Sums(&sums)).unwrap();
    assert_eq!(sums.into_inner().unwrap(), (30_000, rows(&t).iter().map(|r| r.size).sum()));
}

#[test]
fn a_cut_text_keeps_the_lines_before_the_cut() {
    let text = log(20);
    for n in (0..text.len()).step_by(7) {
        let whole = text[..n].lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).count();
        let patterns = Patterns::rows(&[LINE.to_owned()]).unwrap();
        let found = with(patterns, &text[..n]).map_or(0, |t| t.data.len());
        assert!(found == whole || found + 1 == whole, "{n}: {found} of {whole}");
    }
}

proptest! {
    #[test]
    fn any_text_by_any_of_these_patterns(text in "[ -~\n]{0,200}", which in 0usize..4) {
        let patterns = [
            r"(?P<start>\S+) (?P<size>\S+)",
            r"(?P<time>\S+)\s+(?P<rate>\S+)",
            r"(?P<end_ms>.*?) (?P<duration>.*?) (?P<rate_GiB>.*)",
            r"(?P<op>.)(?P<start>\d+)(?P<file>.*)(?P<size_sector>\d+)",
        ];
        let _ = with(Patterns::rows(&[patterns[which].to_owned()]).unwrap(), &text);
    }
}

/// The transfers of text that is followed, in pieces of so many bytes.
fn followed(patterns: &Patterns, text: &str, piece: usize) -> Vec<Interval> {
    let options = ReadOptions::default().patterns(Some(patterns.clone()));
    let mut tail = Tail::new(None, &options.limits).unwrap().with(&options);
    let mut all = Vec::new();
    for part in text.as_bytes().chunks(piece) {
        tail.push(part);
        while let Some(message) = tail.next_message().unwrap() {
            all.extend(message.transfers);
        }
    }
    tail.end();
    while let Some(message) = tail.next_message().unwrap() {
        all.extend(message.transfers);
    }
    assert_eq!(tail.faults().malformed, 0, "{:?}", tail.faults().first);
    all
}

#[test]
fn text_that_grows_gives_what_the_finished_one_holds() {
    let calls =
        "begin\n1.5 rank 0 wrote 4 KiB in 250 ms\nstep 1\n2.5 rank 1 wrote 4 KiB in 1 ms\n3 rank 0 read 7 B in 2 s\n";
    let one = r"^(?P<start>\S+) rank (?P<rank>\d+) (?P<op>\w+) (?P<size>\S+ \S+) in (?P<duration>\S+ \S+)";
    let night = "23:59:58 write 5\n23:59:59 write 6\n00:00:01 write 7\n";
    let curve = "500, 2048, w\n1000, 0, w\n1500, 1024, w\n2000, 0, w\n";
    for (text, pattern) in [
        (calls, one),
        (night, r"^(?P<start>\S+) (?P<op>\w+) (?P<size>\d+)"),
        (curve, r"^(?P<time_ms>\d+), (?P<rate_KiB>\d+), (?P<op>\w)"),
    ] {
        let patterns = Patterns::rows(&[pattern.to_owned()]).unwrap();
        let t = with(patterns.clone(), text).unwrap();
        let Data::Requests(rows) = &t.data else { panic!("no requests") };
        let whole: Vec<_> = rows
            .iter()
            .map(|r| (r.op, r.start + t.origin_s as f64, r.end + t.origin_s as f64, r.size as f64))
            .filter(|r| pattern != one || r.3 > 0.0)
            .collect();
        for piece in [1, 9, 1000] {
            let grown: Vec<_> =
                followed(&patterns, text, piece).iter().map(|x| (x.op, x.start, x.end, x.bytes)).collect();
            // the last rate waits for its end
            let open = usize::from(text == curve);
            assert_eq!(grown, whole[..whole.len() - open], "{text}");
        }
    }
    let whole = Patterns::from_file("[pattern]\na = '(.)'\n[translate]\ntotal_bytes = 'a'\n").unwrap();
    let options = ReadOptions::default().patterns(Some(whole));
    let mut tail = Tail::new(None, &options.limits).unwrap().with(&options);
    tail.push(b"x");
    assert_eq!(tail.next_message().unwrap_err().kind(), iophase::ErrorKind::Unsupported);
}
