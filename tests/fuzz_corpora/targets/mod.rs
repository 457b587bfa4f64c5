//! Fuzz targets: the library of the crate `fuzz/`, run by `scripts/fuzz`; `cargo test` runs their corpora. A target panics if something does not hold that has to hold for any input.

use std::fmt::Debug;
use std::sync::LazyLock;

use iophase::analysis::{self, ModeChoice, Options, PatternOptions, Selection};
use iophase::classify;
use iophase::dfg::Plan;
use iophase::formats::write::{Sink, WRITERS, write_stream};
use iophase::formats::{self, ALL, Detail, Limits, Patterns, ReadOptions, SeriesColumns, SeriesOptions, Source};
use iophase::internals::formats::tail::{self, ClientClocks, Message, Tail};
use iophase::internals::online::jobs::Jobs;
use iophase::online::{self, Every};
use iophase::record::{Clock, Data, Interval, Request, Trace};

mod inputs;
pub mod page;
pub mod services;

use inputs::{intervals, requests};

/// Most rows of an engine that is linear in them, of one that searches, and of one that does so many times or shows what was found.
const MANY: usize = 2000;
const FEW: usize = 300;
const FEWEST: usize = 40;

/// A target.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const ALL_TARGETS: &[(&str, Target)] = &[
    ("read", read),
    ("read_as", read_as),
    ("answers", answers),
    ("pieces", pieces),
    ("decode", decode),
    ("pattern", pattern),
    ("period", period),
    ("classify", classify),
    ("dfg", dfg),
    ("session", session),
    ("writers", writers),
    ("text", page::text),
    ("html", page::html),
    ("peer", services::peer),
    #[cfg(feature = "serve")]
    ("http", services::http),
];

/// The target of a name.
#[allow(dead_code, reason = "for the fuzzer")]
pub fn named(name: &str) -> Option<Target> {
    ALL_TARGETS.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
}

fn limits() -> Limits {
    Limits::default().memory_bytes(64 << 20)
}

/// Options of a reader that does everything that it can.
fn everything() -> ReadOptions {
    ReadOptions::default().detail(Detail::Calls).all_layers(true).counters(true).limits(limits())
}

/// Rows are in the range that the analyses rely on.
fn check(t: &Trace) {
    t.check().expect("the analyses take it");
    let times = |start: &[f64], end: &[f64]| {
        assert_eq!(start.len(), end.len());
        for (s, e) in start.iter().zip(end) {
            assert!(s.abs() <= 2e12 && e.abs() <= 2e12 && s <= e, "{s} to {e}");
        }
    };
    match &t.data {
        Data::Requests(r) => {
            times(&r.start, &r.end);
            assert!(r.size.iter().all(|n| n <= 1 << 50));
        }
        Data::Intervals(i) => {
            times(&i.start, &i.end);
            assert!(i.bytes.iter().all(|b| (0.0..=2f64.powi(50)).contains(b)));
        }
    }
}

/// Bytes to a trace, whatever they are, compressed or not.
pub fn read(data: &[u8]) {
    if let Ok(t) = formats::read(&Source::from_bytes("fuzz", data), None, &everything()) {
        check(&t);
    }
}

/// Bytes to a trace to all answers on it: what a header claims reaches every engine.
pub fn answers(data: &[u8]) {
    if let Ok(t) = formats::read(&Source::from_bytes("fuzz", data), None, &everything()) {
        page::check_page(&t, "fuzz");
    }
}

/// A row by the names of its groups, with and without units.
static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let rows = [
        r"^(?P<start>\S+) rank (?P<rank>\d+) (?P<op>\w+) (?P<size>.+) to (?P<file>\S+) in (?P<duration>.+)$",
        r"^(?P<end>\S+ \S+) (?P<op>\w+) (?P<size_KiB>\d+)",
    ];
    Patterns::rows(&rows.map(str::to_owned)).expect("good patterns")
});

/// Bytes to a trace of the format that the first byte chooses; text by patterns and tables by columns too.
pub fn read_as(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let format = ALL[usize::from(*first) % ALL.len()];
    let columns: Option<SeriesColumns> = "time=1,write=2".parse().ok();
    let options = everything()
        .patterns((format.name() == "regex").then(|| PATTERNS.clone()))
        .series(SeriesOptions::default().columns(columns.filter(|_| first & 0x80 != 0)));
    if let Ok(t) = formats::read(&Source::from_bytes("fuzz", rest), Some(format), &options) {
        check(&t);
    }
}

/// Messages of bytes that come in pieces of these sizes, until the source is given up.
fn followed(data: &[u8], sizes: &[usize]) -> (Vec<Message>, u64, bool) {
    let Ok(mut tail) = Tail::new(None, &limits()) else { return (Vec::new(), 0, true) };
    let (mut messages, mut rest, mut sizes) = (Vec::new(), data, sizes.iter().cycle());
    loop {
        loop {
            match tail.next_message() {
                Ok(Some(m)) => messages.push(m),
                Ok(None) => break,
                Err(_) => return (messages, tail.faults().malformed, true),
            }
        }
        if rest.is_empty() {
            break;
        }
        let n = sizes.next().copied().unwrap_or(1).clamp(1, rest.len());
        tail.push(&rest[..n]);
        rest = &rest[n..];
    }
    tail.end();
    while let Ok(Some(m)) = tail.next_message() {
        messages.push(m);
    }
    (messages, tail.faults().malformed, false)
}

/// A source that grows gives the same messages in whatever pieces it comes. The first eight bytes are the sizes of the pieces.
pub fn pieces(data: &[u8]) {
    let Some((sizes, data)) = data.split_at_checked(8) else { return };
    let sizes: Vec<usize> = sizes.iter().map(|&n| 1 + usize::from(n)).collect();
    let whole = followed(data, &[data.len().max(1)]);
    let parts = followed(data, &sizes);
    // a source of no known form is given up as soon as that shows, whatever came before
    if whole.2 || parts.2 {
        return;
    }
    same(&whole.0, &parts.0);
    assert_eq!(whole.1, parts.1, "faults");
}

fn same<T: PartialEq + Debug>(a: &[T], b: &[T]) {
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert_eq!(a, b, "{i}");
    }
    assert_eq!(a.len(), b.len());
}

/// A message of a socket.
pub fn decode(data: &[u8]) {
    let mut clients = ClientClocks::default();
    for message in data.split(|b| *b == 0xc1) {
        if let Ok(m) = tail::decode(message, &mut clients) {
            let sound = |t: &Interval| t.start.abs() <= 2e12 && t.end.abs() <= 2e12 && t.bytes >= 0.0;
            m.transfers.iter().for_each(|t| assert!(sound(t), "{t:?}"));
        }
    }
}

/// Access patterns lose no access.
pub fn pattern(data: &[u8]) {
    let t = requests(data, MANY);
    let options = PatternOptions::default().next(2).verify(true);
    if let Err(e) = analysis::patterns(&t, ModeChoice::Auto, &Selection::default().all_files(true), &options) {
        assert_eq!(e.kind(), iophase::ErrorKind::Empty, "{e}");
    }
}

/// Periods of any intervals; every answer is JSON.
pub fn period(data: &[u8]) {
    let rows = intervals(data, FEW);
    let data = Data::Intervals(rows.into_iter().collect());
    let t = Trace { path: "fuzz".into(), format: "fuzz", ranks: 3, data, ..Trace::default() };
    if let Ok(found) = analysis::analyze(&t, &Options::default()) {
        let text = serde_json::to_string(&found.report).expect("JSON");
        assert!(!text.is_empty());
        for s in &found.report.signals {
            let Some(p) = &s.period.dominant else { continue };
            assert!(p.period_s.is_finite() && p.period_s > 0.0, "{}", p.period_s);
            assert!((0.0..=1.0).contains(&p.confidence), "{}", p.confidence);
        }
    }
}

/// Access classes of any requests.
pub fn classify(data: &[u8]) {
    let t = requests(data, FEW);
    let selection = Selection::default().all_files(true);
    if let Ok((classes, _)) = analysis::classes(&t, &selection, classify::Options::default(), true) {
        assert!(!serde_json::to_string(&classes).expect("JSON").is_empty());
    }
}

/// Directly-follows graphs of any requests.
pub fn dfg(data: &[u8]) {
    if let Ok(report) = analysis::graph(&requests(data, MANY), &Plan::default()) {
        assert!(!serde_json::to_string(&report).expect("JSON").is_empty());
    }
}

/// A predictor that is stored and restored after any message goes on as the one that was not. The first byte chooses how often.
pub fn session(data: &[u8]) {
    let Some((&often, data)) = data.split_first() else { return };
    let rows = intervals(data, FEWEST);
    let options = online::Options::default().every(if often & 1 == 0 { Every::Burst } else { Every::Message });
    let (mut kept, mut restored) = (Jobs::new(options.clone(), 2), Jobs::new(options, 2));
    let chunk = 1 + usize::from(often >> 4);
    for (i, rows) in rows.chunks(chunk).enumerate() {
        let message = Message { transfers: rows.to_vec(), ..Message::default() };
        let due = kept.feed(&message).due();
        assert_eq!(restored.feed(&message).due(), due);
        if due && i % 16 == 15 {
            compare(&mut kept, &mut restored, false);
        }
        if i % (1 + usize::from(often >> 1 & 7)) == 0 {
            let bytes = serde_json::to_vec(&restored).expect("a state");
            assert!(bytes == serde_json::to_vec(&kept).expect("a state"), "the states differ");
            restored = serde_json::from_slice(&bytes).expect("the state again");
        }
    }
    compare(&mut kept, &mut restored, true);
}

fn compare(kept: &mut Jobs, restored: &mut Jobs, end: bool) {
    let predictions = |jobs: &mut Jobs| -> Vec<String> {
        let all = if end { jobs.predict_news() } else { jobs.predict_due() };
        all.into_iter()
            .map(|p| serde_json::to_string(&p.stamped(Clock::default(), std::time::UNIX_EPOCH)).expect("JSON"))
            .collect()
    };
    same(&predictions(kept), &predictions(restored));
}

/// Keeps what is written.
#[derive(Default)]
struct Kept(std::collections::HashMap<String, Vec<u8>>);

impl Sink for Kept {
    fn append(&mut self, name: &str, bytes: &[u8]) -> iophase::Result<()> {
        self.0.entry(name.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }
}

/// Records that were written read back; the output of other writers is read without damage.
pub fn writers(data: &[u8]) {
    let t = requests(data, FEW);
    for writer in WRITERS.iter().filter(|w| !w.is_folder()) {
        let mut bytes = Vec::new();
        let Ok(written) = write_stream(*writer, &t, &mut bytes) else { continue };
        let back = formats::read(&Source::from_bytes("fuzz", bytes), None, &everything());
        let back = back.unwrap_or_else(|e| panic!("{}: {e}", writer.name()));
        check(&back);
        if ["csv", "jsonl"].contains(&writer.name()) {
            let (Data::Requests(a), Data::Requests(b)) = (&t.data, &back.data) else { panic!("no requests") };
            assert_eq!((written.rows, a.len()), (b.len() as u64, b.len()));
            let key = |t: &Trace, r: Request| (r.op, r.rank, t.files.name(r.file).to_owned(), r.offset, r.size);
            let (a, b): (Vec<_>, Vec<_>) =
                (a.iter().map(|r| key(&t, r)).collect(), b.iter().map(|r| key(&back, r)).collect());
            same(&a, &b);
        }
    }
    for writer in WRITERS.iter().filter(|w| w.is_folder()) {
        let _ = writer.write(&t, &mut Kept::default());
    }
}
