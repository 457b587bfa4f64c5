//! What is done with the bytes. A target panics if something does not hold that has to hold for any input.

use std::fmt::Debug;

use iophase::analysis::{self, ModeChoice, Options, PatternOptions, Selection};
use iophase::classify;
use iophase::dfg::Plan;
use iophase::formats::write::{Sink, WRITERS, write_stream};
use iophase::formats::{self, ALL, Detail, Limits, Patterns, ReadOptions, SeriesColumns, SeriesOptions, Source};
use iophase::internals::formats::tail::{self, ClientClocks, Message, Tail};
use iophase::internals::online::jobs::Jobs;
use iophase::online::{self, Every};
use iophase::record::{Clock, Data, Interval, Op, Request, Trace, UNKNOWN_OFFSET};

/// A target.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const ALL_TARGETS: [(&str, Target); 11] = [
    ("read", read),
    ("read_as", read_as),
    ("pieces", pieces),
    ("decode", decode),
    ("pattern", pattern),
    ("period", period),
    ("classify", classify),
    ("dfg", dfg),
    ("session", session),
    ("writers", writers),
    ("page", page),
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
    let times = |start: &[f64], end: &[f64]| {
        assert_eq!(start.len(), end.len());
        for (s, e) in start.iter().zip(end) {
            assert!(s.abs() <= 2e12 && e.abs() <= 2e12 && s <= e, "{s} to {e}");
        }
    };
    match &t.data {
        Data::Requests(r) => times(&r.start, &r.end),
        Data::Intervals(i) => {
            times(&i.start, &i.end);
            assert!(i.bytes.iter().all(|b| b.is_finite() && *b >= 0.0));
        }
    }
}

/// Bytes to a trace, whatever they are, compressed or not.
pub fn read(data: &[u8]) {
    if let Ok(t) = formats::read(&Source::from_bytes("fuzz", data), None, &everything()) {
        check(&t);
    }
}

/// Bytes to a trace of the format that the first byte chooses; text by patterns and tables by columns too.
pub fn read_as(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let format = ALL[usize::from(*first) % ALL.len()];
    let patterns = [
        r"^(?P<start>\S+) rank (?P<rank>\d+) (?P<op>\w+) (?P<size>.+) to (?P<file>\S+) in (?P<duration>.+)$",
        r"^(?P<end>\S+ \S+) (?P<op>\w+) (?P<size_KiB>\d+)",
    ];
    let patterns = Patterns::rows(&patterns.map(str::to_owned)).expect("good patterns");
    let columns: Option<SeriesColumns> = "time=1,write=2".parse().ok();
    let options = everything()
        .patterns((format.name() == "regex").then_some(patterns))
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
            m.transfers.iter().for_each(|t| assert!(t.start.abs() <= 2e12 && t.end.abs() <= 2e12 && t.bytes >= 0.0));
        }
    }
}

/// Numbers from bytes, 0 when they are used up.
struct Numbers<'d>(&'d [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    fn word(&mut self) -> u64 {
        (0..8).fold(0, |n, _| n << 8 | u64::from(self.byte()))
    }

    /// A number of a size that its first byte chooses: small ones, powers of two with neighbours, any.
    fn amount(&mut self) -> u64 {
        match self.byte() {
            n @ 0..=63 => n.into(),
            n @ 64..=191 => (1u64 << (n & 63)).wrapping_add(u64::from(self.byte() % 3)).wrapping_sub(1),
            n @ 192..=223 => u64::from(n & 31) << 12,
            224..=247 => u64::from(self.byte()) << 8 | u64::from(self.byte()),
            _ => self.word(),
        }
    }

    /// Seconds: of a grid, of any size within the range of readers, or tiny.
    fn seconds(&mut self) -> f64 {
        match self.byte() {
            n @ 0..=127 => f64::from(n) / 16.0,
            n @ 128..=199 => f64::from(n - 128) * 10f64.powi(i32::from(self.byte()) % 12 - 6),
            n @ 200..=239 => 10f64.powi(i32::from(n) - 228).min(1e12),
            _ => {
                let x = f64::from_bits(self.word());
                if x.is_finite() { x.abs().min(1e12) } else { 0.0 }
            }
        }
    }
}

/// Requests in the order of time, by a program of one byte a row and what it needs.
fn requests(data: &[u8]) -> Trace {
    const MOST: usize = 2000;
    let mut n = Numbers(data);
    let mut t = Trace { path: "fuzz".into(), format: "fuzz", ..Trace::default() };
    let mut files = Vec::new();
    for name in ["/scratch/a", "/scratch/b.0001", "/scratch/b.0002", "", "/home/x/\u{1b}[31m<&\"'>"] {
        files.push(t.files.intern(name));
    }
    let (mut rows, mut last): (Vec<Request>, Request) = (Vec::new(), Request::default());
    let mut time = if n.byte() & 1 == 0 { 0.0 } else { n.seconds() * if n.byte() & 1 == 0 { 1.0 } else { -1.0 } };
    let mut step = (4096u64, 0.125f64);
    while !n.0.is_empty() && rows.len() < MOST {
        let what = n.byte();
        if what & 0x80 != 0 {
            step = (n.amount(), n.seconds());
        }
        if what & 0x40 != 0 {
            last.rank = n.amount() as u32;
        }
        if what & 0x20 != 0 {
            last.file = files[usize::from(n.byte()) % files.len()];
        }
        if what & 0x10 != 0 {
            (last.offset, last.size) = (n.amount(), n.amount());
        }
        last.op =
            [Op::Write, Op::Read, Op::Write, Op::Open, Op::Close, Op::Seek, Op::Sync, Op::Other][usize::from(what & 7)];
        let repeats = if what & 8 != 0 { usize::from(n.byte()) } else { 1 };
        for _ in 0..repeats.min(MOST - rows.len()) {
            (last.start, last.end) = (time.clamp(-1e12, 1e12), (time + step.1 / 4.0).clamp(-1e12, 1e12));
            rows.push(if last.op.moves_bytes() { last } else { Request { size: 0, offset: UNKNOWN_OFFSET, ..last } });
            last.offset = last.offset.wrapping_add(step.0);
            time = (time + step.1).min(1e12);
        }
    }
    // an offset that is not known has a value of its own
    rows.iter_mut().filter(|r| r.offset.checked_add(r.size).is_none()).for_each(|r| r.offset = UNKNOWN_OFFSET);
    t.ranks = rows.iter().map(|r| u64::from(r.rank) + 1).max().unwrap_or(0);
    t.data = Data::Requests(rows.into_iter().collect());
    t
}

/// Intervals, each by a few bytes.
fn intervals(data: &[u8]) -> Vec<Interval> {
    const MOST: usize = 2000;
    let (mut n, mut rows, mut time) = (Numbers(data), Vec::new(), 0.0);
    let mut last = (0.125, 0.0625, 1e6);
    while !n.0.is_empty() && rows.len() < MOST {
        let what = n.byte();
        if what & 0x80 != 0 {
            last.0 = n.seconds() * if what & 0x40 != 0 { -1.0 } else { 1.0 };
        }
        if what & 0x20 != 0 {
            last.1 = n.seconds();
        }
        if what & 0x10 != 0 {
            last.2 = n.amount() as f64;
        }
        for _ in 0..(if what & 8 != 0 { usize::from(n.byte()) } else { 1 }).min(MOST - rows.len()) {
            let start = f64::clamp(time, -1e12, 1e12);
            let op = if what & 1 == 0 { Op::Write } else { Op::Read };
            rows.push(Interval {
                op,
                asynchronous: what & 4 != 0,
                rank: u32::from(what & 2),
                bytes: last.2,
                start,
                end: (start + last.1).min(1e12),
                ..Interval::default()
            });
            time = f64::clamp(time + last.0, -1e12, 1e12);
        }
    }
    rows
}

/// Access patterns lose no access.
pub fn pattern(data: &[u8]) {
    let t = requests(data);
    let options = PatternOptions::default().next(2).verify(true);
    if let Err(e) = analysis::patterns(&t, ModeChoice::Auto, &Selection::default().all_files(true), &options) {
        assert_eq!(e.kind(), iophase::ErrorKind::Empty, "{e}");
    }
}

/// Periods of any intervals; every answer is JSON.
pub fn period(data: &[u8]) {
    let rows = intervals(data);
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
    let t = requests(data);
    let selection = Selection::default().all_files(true);
    if let Ok((classes, _)) = analysis::classes(&t, &selection, classify::Options::default(), true) {
        assert!(!serde_json::to_string(&classes).expect("JSON").is_empty());
    }
}

/// Directly-follows graphs of any requests.
pub fn dfg(data: &[u8]) {
    if let Ok(report) = analysis::graph(&requests(data), &Plan::default()) {
        assert!(!serde_json::to_string(&report).expect("JSON").is_empty());
    }
}

/// A predictor that is stored and restored after any message goes on as the one that was not. The first byte chooses how often.
pub fn session(data: &[u8]) {
    let Some((&often, data)) = data.split_first() else { return };
    let rows = intervals(data);
    let options = online::Options::default().every(if often & 1 == 0 { Every::Burst } else { Every::Message });
    let (mut kept, mut restored) = (Jobs::new(options.clone(), 2), Jobs::new(options, 2));
    let chunk = 1 + usize::from(often >> 4);
    for (i, rows) in rows.chunks(chunk).enumerate() {
        let message = Message { transfers: rows.to_vec(), ..Message::default() };
        let due = kept.feed(&message).due();
        assert_eq!(restored.feed(&message).due(), due);
        if due && i % 8 == 0 {
            compare(&mut kept, &mut restored, false);
        }
        if i % (1 + usize::from(often >> 1 & 7)) == 0 {
            let bytes = serde_json::to_vec(&restored).expect("a state");
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
struct Kept(std::collections::BTreeMap<String, Vec<u8>>);

impl Sink for Kept {
    fn append(&mut self, name: &str, bytes: &[u8]) -> iophase::Result<()> {
        self.0.entry(name.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }
}

/// What is written as records reads back; what other writers write is read without damage.
pub fn writers(data: &[u8]) {
    let t = requests(data);
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

/// Text for a terminal and graphs hold no character that acts, whatever the names.
pub fn page(data: &[u8]) {
    use iophase::internals::render::{dfg, text, visible};
    let mut t = requests(data);
    let name = String::from_utf8_lossy(data);
    t.path = name.chars().take(40).collect();
    let acts = |text: &str| text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    if let Ok(found) = analysis::analyze(&t, &Options::default()) {
        let text = text::report(&found.report, text::Style::default());
        assert!(!acts(&visible::visible(&text)));
    }
    if let Ok(report) = analysis::graph(&t, &Plan::default()) {
        let svg = dfg::picture(&report, &t.path, dfg::Coloring::Load, 100);
        assert!(!acts(&svg) && svg.matches('<').count() == svg.matches('>').count());
    }
}
