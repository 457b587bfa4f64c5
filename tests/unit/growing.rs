//! Texts that grow: the same rows whether a text comes whole, in pieces of any size, or line by line.

use std::fs;
use std::path::Path;

use iophase::formats::{self, Patterns, ReadOptions, Source};
use iophase::internals::formats::tail::{self, Tail};
use iophase::record::{Data, Interval, Timing, Trace};
use proptest::prelude::*;

/// Formats of text that are only read whole, with the reason.
const READ_WHOLE: [(&str, &str); 6] = [
    ("chrome", "a document of JSON"),
    ("darshan", "the text of a log that was written at the end of the job"),
    ("gekkofs", "each file is one flush"),
    ("metric-proxy", "a document of JSON"),
    ("radar", "written at the end of the job, rank by rank"),
    ("recorder", "recorder2text converts finished traces"),
];

/// Samples of series that are only read whole: documents of JSON, and readings whose times those after them show.
const SERIES_READ_WHOLE: [&str; 4] =
    ["iostat.series.json", "jobs.series.txt", "prometheus.series.json", "sadf.series.json"];

/// Lines that are of no format, of several, or of other tools.
const ODD: &[&str] = &["", "# 1", "[", "x", "{", "1,2,3", "rest of a line", "strace: attached\nto a process"];

struct Sample {
    name: String,
    text: Vec<u8>,
    options: ReadOptions,
    format: &'static str,
}

/// The samples of text, with what is needed to read them.
fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/robustness");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let sample = |path: &std::path::PathBuf| {
        let (name, text) = (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap());
        let is_text =
            std::str::from_utf8(&text).is_ok_and(|t| !t.contains(|c: char| c.is_control() && !c.is_whitespace()));
        let row = r"^(?P<start>\S+) rank (?P<rank>\d+) (?P<op>\w+) (?P<size>.+) to (?P<file>\S+) in (?P<duration>.+)$";
        let patterns = name.ends_with(".regex.log").then(|| Patterns::rows(&[row.to_owned()]).unwrap());
        let options = ReadOptions::default().patterns(patterns).order_suffices(true);
        let (format, _) = formats::inputs(&Source::from_bytes(&name, text.clone()), None, &options).unwrap();
        is_text.then_some(Sample { name, text, options, format: format.name() })
    };
    paths.iter().filter_map(sample).collect()
}

/// Operation, start, end and bytes.
type Row = (String, f64, f64, f64);

fn sorted(rows: impl Iterator<Item = Interval>) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.map(|r| (format!("{:?}", r.op), r.start, r.end, r.bytes)).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2)).then(a.3.total_cmp(&b.3)));
    rows
}

/// The transfers of a finished trace.
fn whole(t: &Trace) -> Vec<Row> {
    let rows: Vec<Interval> = match &t.data {
        Data::Requests(rows) => rows.iter().map(Interval::from).collect(),
        Data::Intervals(rows) => rows.iter().collect(),
    };
    let origin = t.origin_s as f64;
    let wanted = rows.into_iter().filter(|r| r.op.moves_bytes() && !t.files.is_system(r.file));
    sorted(wanted.map(|r| Interval { start: origin + r.start, end: origin + r.end, ..r }))
}

/// The result of a text in pieces.
#[derive(Debug, PartialEq)]
struct Grown {
    rows: Vec<Row>,
    malformed: u64,
    of_lines: bool,
}

/// Follows a text that comes in pieces of these sizes.
fn grown(text: &[u8], options: &ReadOptions, sizes: &[usize]) -> iophase::Result<Grown> {
    let mut tail = Tail::new(None, &options.limits)?.with(options);
    let (mut rest, mut sizes, mut rows) = (text, sizes.iter().cycle(), Vec::new());
    loop {
        let (piece, later) = rest.split_at(sizes.next().map_or(1, |n| (*n).clamp(1, rest.len())));
        tail.push(piece);
        rest = later;
        if rest.is_empty() {
            tail.end();
        }
        while let Some(message) = tail.next_message()? {
            rows.extend(message.transfers);
        }
        if rest.is_empty() {
            let of_lines = tail.form().is_some_and(|f| f.of_lines);
            return Ok(Grown { rows: sorted(rows.into_iter()), malformed: tail.faults().malformed, of_lines });
        }
    }
}

fn are_alike(a: &Row, b: &Row) -> bool {
    let near = |x: f64, y: f64| (x - y).abs() <= 1e-6 * x.abs().max(1.0);
    a.0 == b.0 && (a.1 - b.1).abs() < 1e-5 && (a.2 - b.2).abs() < 1e-5 && near(a.3, b.3)
}

#[test]
fn every_format_of_lines_is_followed_or_says_why_not() {
    for s in samples() {
        let is_followed = tail::formats().split(", ").any(|name| name == s.format);
        let reason = READ_WHOLE.iter().find(|(name, _)| *name == s.format);
        assert_eq!(
            is_followed,
            reason.is_none(),
            "{}: give format {} a `follow`, or name it here with the reason",
            s.name,
            s.format
        );
        if let Some((name, _)) = reason {
            let e = grown(&s.text, &s.options, &[s.text.len()]).unwrap_err().to_string();
            assert!(e.contains(&format!("format {name} cannot be followed")), "{}: {e}", s.name);
        }
    }
}

#[test]
fn a_text_that_grows_gives_the_rows_of_the_finished_one() {
    for s in samples() {
        let read = formats::read(&Source::from_bytes(&s.name, s.text.clone()), None, &s.options).unwrap();
        if read.timing == Timing::Order {
            // each of its calls is a fault
            let g = grown(&s.text, &s.options, &[s.text.len()]).unwrap();
            assert!(g.rows.is_empty() && g.malformed > 0, "{}: {g:?}", s.name);
            continue;
        }
        let whole = whole(&read);
        let Grown { rows, malformed, of_lines } = match grown(&s.text, &s.options, &[s.text.len()]) {
            Ok(grown) => grown,
            Err(e) => {
                let is_known =
                    SERIES_READ_WHOLE.contains(&s.name.as_str()) || READ_WHOLE.iter().any(|f| f.0 == s.format);
                assert!(is_known, "{}: {e}", s.name);
                continue;
            }
        };
        if !of_lines {
            // a flush of TMIO waits for its run times
            continue;
        }
        assert_eq!(malformed, 0, "{}", s.name);
        if s.name == "sections.series.csv" {
            // the total of devices stands before them
            assert!(whole.iter().all(|w| rows.iter().any(|r| are_alike(r, w))), "{}", s.name);
            continue;
        }
        assert_eq!(rows.len(), whole.len(), "{}", s.name);
        for (r, w) in rows.iter().zip(&whole) {
            assert!(are_alike(r, w), "{}: {r:?}, whole {w:?}", s.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Of any sample, undamaged or with lines between that are none.
    #[test]
    fn the_pieces_do_not_matter(
        which in any::<prop::sample::Index>(),
        sizes in prop::collection::vec(1usize..200, 1..8),
        odd in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(ODD)), 0..3),
    ) {
        let samples = samples();
        let s = which.get(&samples);
        let mut lines: Vec<&[u8]> = s.text.split_inclusive(|b| *b == b'\n').collect();
        let odd: Vec<(usize, String)> = odd.iter().map(|(at, line)| (at.index(lines.len()), format!("{line}\n"))).collect();
        odd.iter().for_each(|(at, line)| lines.insert(*at, line.as_bytes()));
        let text = lines.concat();
        let at_once = grown(&text, &s.options, &[text.len()]);
        let in_pieces = grown(&text, &s.options, &sizes);
        match (at_once, in_pieces) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a, b, "{}", s.name),
            (a, b) => prop_assert_eq!(a.map_err(|e| e.to_string()), b.map_err(|e| e.to_string()), "{}", s.name),
        }
    }
}
