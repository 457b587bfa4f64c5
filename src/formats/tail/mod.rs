//! Traces that grow: bytes as they come to whole messages.
//!
//! A [`Tail`] is given the bytes of a source in pieces of any size and gives back messages: a transfer of a line, a flush of TMIO, an object
//! with arrays. [`Format::sniff`] recognises the format, as it does for a finished file, and the format says how it is followed
//! ([`Format::follow`]). What is not whole yet waits for the rest. A message that cannot be read is counted and left out; nothing of it is
//! kept. [`decode`] does the same for a message that comes by itself.

mod direct;
mod lines;
mod message;
mod values;

use super::compression::Compression;
use super::format::{Format, Sniff};
pub use super::gekkofs::ClientClocks;
use super::limits::Limits;
use super::lines::{Followed, TailedLines};
use super::options::ReadOptions;
use super::probe::{ALL, find, named_by_options};
use super::regex::{Patterns, Text};
use super::series::SeriesOptions;
use super::source::{HEAD_BYTES, Source};
use super::tmio::{ObjectScanner, Scanned, Tmio, object_at};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::Clock;
use crate::remedy::Remedy;
pub use direct::decode;
use lines::Lines;
pub use message::{Faults, Message};
use values::Values;

/// How a source is read: as much of a tail as has to be known to go on in the middle.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Form {
    /// Name of its format.
    pub format: String,
    /// The messages are single records or calls, a line each.
    pub of_lines: bool,
    /// The lines that showed it.
    head: String,
    series: SeriesOptions,
    /// A pattern file.
    patterns: Option<String>,
    /// The rows that wait for lines to come have been given.
    #[serde(default)]
    ended: bool,
}

impl Form {
    /// The key that the files of a folder share if they are one job; `None` if each is a job of its own.
    pub fn job(&self) -> Option<String> {
        let by_options = self.patterns.is_some() || self.series.columns.is_some();
        let format = find(&self.format).ok()?;
        let key = format.job_of(&Source::from_bytes("", self.head.as_bytes()));
        key.or(by_options.then(String::new)).map(|key| format!("{} {key}", self.format))
    }
}

enum TailReader {
    /// The form is not known yet.
    Unknown,
    Lines(Box<dyn TailedLines>),
    Values(Values),
    Objects(ObjectScanner),
}

/// See the module.
pub struct Tail {
    reader: TailReader,
    form: Option<Form>,
    /// The format that the caller names.
    named: Option<&'static dyn Format>,
    lines: Lines,
    begun: Beginning,
    options: ReadOptions,
    ended: bool,
    /// Where a tail before this one ended.
    ended_at: Option<u64>,
    faults: Faults,
}

/// Whole lines that did not show the format.
#[derive(Default)]
struct Beginning {
    /// Bytes and lines that were seen, and bytes that were judged.
    bytes: usize,
    lines: usize,
    judged: usize,
    /// The format that was possible when they were judged.
    possible: Option<&'static str>,
}

impl Beginning {
    /// Takes the next line, of so many bytes; true if it is time to judge: at each line, and if there are many where a sixteenth has
    /// come. The pieces do not matter.
    fn is_due(&mut self, line: usize) -> bool {
        const EACH: usize = 64;
        self.bytes += line;
        self.lines += 1;
        let due = self.lines <= EACH || self.bytes >= self.judged + self.judged / 16;
        self.judged = if due { self.bytes } else { self.judged };
        due
    }
}

/// Names of the formats that can be followed, for help and errors.
pub fn formats() -> String {
    let names: Vec<_> = ALL.iter().filter(|f| grows(**f)).map(|f| f.name()).collect();
    names.join(", ")
}

/// Whether a format can be followed.
fn grows(format: &dyn Format) -> bool {
    !matches!(format.follow(b"", &ReadOptions::default()), Ok(Followed::Never))
}

fn cannot_follow(format: &dyn Format) -> Error {
    Error::new(ErrorKind::Unsupported, format!("format {} cannot be followed", format.name()))
        .expected(format!("one of {}", formats()))
        .remedy(Remedy::AnalyzeFinished)
}

impl Tail {
    /// A tail of a source from its start; `format` names its format if that is known.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for formats that do not grow, [`ErrorKind::Usage`] for none.
    pub fn new(format: Option<&str>, limits: &Limits) -> Result<Tail> {
        let named = format.map(find).transpose()?;
        if let Some(format) = named.filter(|f| !grows(*f)) {
            return Err(cannot_follow(format));
        }
        Ok(Tail {
            reader: TailReader::Unknown,
            form: None,
            named,
            lines: Lines::new(limits.memory_bytes.try_into().unwrap_or(usize::MAX)),
            begun: Beginning::default(),
            options: ReadOptions::default().limits(limits.clone()),
            ended: false,
            ended_at: None,
            faults: Faults::default(),
        })
    }

    /// A tail that goes on at `position` bytes of a source of this form, or has to read it again from its start, see [`Tail::rereads`]:
    /// calls of strace, readings of counters and times of day depend on those before, and events of DFTracer on the names before.
    ///
    /// # Errors
    /// As [`Tail::new`], and those of the patterns.
    pub fn resume(form: Form, position: u64, limits: &Limits) -> Result<Tail> {
        let patterns = form.patterns.as_deref().map(Patterns::from_file).transpose()?;
        let options = ReadOptions::default().limits(limits.clone()).series(form.series.clone()).patterns(patterns);
        let mut tail = Tail::new(Some(&form.format), limits)?.with(&options);
        if let Some(format) = tail.named {
            tail.begin(format, form.head.as_bytes())?;
        }
        tail.ended_at = form.ended.then_some(position).filter(|_| tail.rereads());
        tail.lines.start_at(if tail.rereads() { 0 } else { position });
        Ok(tail)
    }

    /// True if the source can only be read from the start.
    pub fn rereads(&self) -> bool {
        matches!(&self.reader, TailReader::Lines(tailed) if tailed.needs_lines_before())
    }

    /// Reads the source as these options say: with columns it is a time series, with patterns text.
    #[must_use]
    pub fn with(mut self, options: &ReadOptions) -> Tail {
        self.options = options.clone();
        self.named = self.named.or(named_by_options(options));
        self
    }

    /// The form, once it is known.
    pub fn form(&self) -> Option<&Form> {
        self.form.as_ref()
    }

    /// The zero of the times of the messages.
    pub fn clock(&self) -> Clock {
        match &self.reader {
            TailReader::Lines(tailed) => tailed.clock(),
            TailReader::Unknown | TailReader::Values(_) | TailReader::Objects(_) => Clock::default(),
        }
    }

    /// Takes more bytes.
    pub fn push(&mut self, data: &[u8]) {
        self.lines.push(data);
    }

    /// Nothing more will come: a last line without its end counts as whole.
    pub fn end(&mut self) {
        self.ended = true;
        self.form.iter_mut().for_each(|form| form.ended = true);
    }

    /// The source begins anew (it was rotated or truncated): an incomplete message is dropped.
    pub fn restart(&mut self) {
        if self.lines.waiting() > 0 {
            self.faults.add(|| "the source began anew in the middle of a message".into());
        }
        self.lines = Lines::new(self.options.limits.memory_bytes.try_into().unwrap_or(usize::MAX));
        self.begun = Beginning::default();
        match &mut self.reader {
            TailReader::Values(v) => *v = Values::default(),
            TailReader::Objects(s) => *s = ObjectScanner::default(),
            TailReader::Unknown | TailReader::Lines(_) => {}
        }
    }

    /// Bytes of the source up to the end of the last message given: where another tail can go on.
    pub fn position(&self) -> u64 {
        self.lines.position()
    }

    /// True if another tail can go on at [`Tail::position`]; false while one line has given several messages of which
    /// some wait.
    pub fn may_stop(&self) -> bool {
        !matches!(&self.reader, TailReader::Lines(tailed) if tailed.has_more())
    }

    /// Messages that could not be read so far.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The next whole message; `None` if there is none yet.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the source is of no form that can be followed.
    pub fn next_message(&mut self) -> Result<Option<Message>> {
        if matches!(self.reader, TailReader::Unknown) && !self.find_form()? {
            return Ok(None);
        }
        loop {
            let (lines, faults, ended) = (&mut self.lines, &mut self.faults, self.ended);
            match &mut self.reader {
                TailReader::Unknown => return Ok(None),
                TailReader::Lines(tailed) => {
                    if let Some(t) = tailed.next() {
                        return Ok(Some(Message { transfers: vec![t], ..Message::default() }));
                    }
                    if self.ended_at.is_some_and(|at| lines.position() >= at) {
                        self.ended_at = None;
                        tailed.end();
                        continue;
                    }
                    let Some(line) = lines.next(self.options.limits.line_bytes, ended, faults) else {
                        if ended {
                            tailed.end();
                        }
                        return Ok(tailed.next().map(|t| Message { transfers: vec![t], ..Message::default() }));
                    };
                    if !tailed.is_remark(line)
                        && let Err(what) = tailed.feed(line)
                    {
                        let at = lines.position();
                        faults.add(|| format!("before byte {at}: {what}"));
                    }
                }
                TailReader::Values(values) => {
                    let Some(n) = values.whole(lines, faults) else { return Ok(None) };
                    if let Some(m) = read_one(lines, n, "tmio", faults) {
                        return Ok(Some(m));
                    }
                }
                TailReader::Objects(scanner) => {
                    let n = match scanner.scan(lines.data()) {
                        Scanned::Chunk(n) => n,
                        Scanned::More => {
                            if lines.give_up_if_full(faults) {
                                *scanner = ObjectScanner::looking();
                            }
                            return Ok(None);
                        }
                        Scanned::Damaged(n) => {
                            lines.consume(n);
                            let at = lines.position();
                            faults.add(|| Error::malformed(Place::Byte(at), "no object of TMIO").to_string());
                            continue;
                        }
                        Scanned::Useless(n) => {
                            lines.consume(n);
                            continue;
                        }
                    };
                    if let Some(m) = read_one(lines, n, "tmio", faults) {
                        return Ok(Some(m));
                    }
                }
            }
        }
    }

    /// Finds out the form from what has come; false if that is not enough yet. Whole lines are looked at one after the other, so that
    /// the pieces in which they come do not matter.
    fn find_form(&mut self) -> Result<bool> {
        let data = self.lines.data();
        if let Some(compression) = Compression::of(data).name() {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("what {compression} has compressed cannot be followed"),
            )
            .expected("a source that grows as plain text or MessagePack")
            .remedy(Remedy::Decompress));
        }
        if let Some(format) = self.named.filter(|f| f.name() == Text.name()) {
            return self.begin(format, b"");
        }
        if self.named.is_none_or(|f| f.name() == Tmio.name()) {
            match object_at(data) {
                Some(true) => return self.begin(&Tmio, b""),
                None if !self.ended => return Ok(false),
                _ => {}
            }
        }
        loop {
            let data = self.lines.data();
            let data = &data[..data.len().min(HEAD_BYTES)];
            let Some(n) = memchr::memchr(b'\n', &data[self.begun.bytes..]) else { break };
            if !self.begun.is_due(n + 1) {
                continue;
            }
            let beginning = data[..self.begun.bytes].to_vec();
            if self.judge(&beginning, false)? {
                return Ok(true);
            }
        }
        self.judge_at_end()
    }

    /// Judges what there is, if no more will come or be looked at.
    fn judge_at_end(&mut self) -> Result<bool> {
        let data = self.lines.data();
        let beginning = data[..data.len().min(HEAD_BYTES)].to_vec();
        let is_enough = beginning.len() == HEAD_BYTES || self.ended && !beginning.trim_ascii().is_empty();
        match is_enough && !self.judge(&beginning, true)? {
            true => Err(unknown(&beginning)),
            false => Ok(self.form.is_some()),
        }
    }

    /// Begins to follow a source that begins with these lines, if they show how; false if more have to come, unless that `is_all`. The format
    /// is the one that a finished file would be taken for; one that is only possible has to be so twice.
    fn judge(&mut self, beginning: &[u8], is_all: bool) -> Result<bool> {
        if let Some(format) = self.named {
            let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
            let is_blank = super::lines::lines(text).all(super::lines::is_remark);
            return if is_blank { Ok(false) } else { self.begin(format, beginning) };
        }
        let sniffed = |verdict| ALL.iter().find(|f| f.sniff(beginning) == verdict).copied();
        if let Some(format) = sniffed(Sniff::Yes) {
            return self.begin(format, beginning);
        }
        let possible = sniffed(Sniff::Maybe);
        let before = std::mem::replace(&mut self.begun.possible, possible.map(|f| f.name()));
        match possible {
            Some(format) if is_all || before == Some(format.name()) && grows(format) => self.begin(format, beginning),
            _ => Ok(false),
        }
    }

    /// Begins to follow a source of this format; false if more lines have to come.
    fn begin(&mut self, format: &'static dyn Format, head: &[u8]) -> Result<bool> {
        self.reader = match format.follow(head, &self.options)? {
            Followed::Never => return Err(cannot_follow(format)),
            Followed::Lines(tailed) => TailReader::Lines(tailed),
            Followed::Values => TailReader::Values(Values::default()),
            Followed::Objects => TailReader::Objects(ObjectScanner::default()),
            Followed::Later => return Ok(false),
        };
        self.form = Some(Form {
            format: format.name().to_owned(),
            of_lines: matches!(self.reader, TailReader::Lines(_)),
            head: String::from_utf8_lossy(head).into_owned(),
            series: self.options.series.clone(),
            patterns: self.options.patterns.as_ref().map(|p| p.text().to_owned()),
            ended: self.ended,
        });
        Ok(true)
    }

    /// Whether bytes have come that show no form yet.
    pub fn is_undecided(&self) -> bool {
        self.form.is_none() && self.lines.waiting() > 0
    }
}

fn unknown(beginning: &[u8]) -> Error {
    let mut lines = super::lines::lines(beginning);
    let first = lines.find(|l| !super::lines::is_remark(l)).unwrap_or(beginning);
    Error::new(
        ErrorKind::Unsupported,
        format!("this format cannot be followed: it begins with {}", super::lines::quote(first)),
    )
    .expected(format!("a trace of {}", formats()))
    .remedy(Remedy::AnalyzeFinished)
}

/// Reads the first `n` bytes that wait as one value, and consumes them.
fn read_one(lines: &mut Lines, n: usize, format: &'static str, faults: &mut Faults) -> Option<Message> {
    let at = lines.position();
    let result = direct::read(&lines.data()[..n], format);
    lines.consume(n);
    match result {
        Ok(m) => Some(m),
        Err(e) => {
            faults.add(|| format!("from byte {at}: {e}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(data: &[u8], piece: usize) -> (Vec<Message>, Faults, Vec<u64>) {
        let mut f = Tail::new(None, &Limits::default()).unwrap();
        let (mut messages, mut positions) = (Vec::new(), Vec::new());
        let mut take = |f: &mut Tail| {
            while let Some(m) = f.next_message().unwrap() {
                positions.push(f.position());
                messages.push(m);
            }
        };
        for part in data.chunks(piece.max(1)) {
            f.push(part);
            take(&mut f);
        }
        f.end();
        take(&mut f);
        (messages, f.faults().clone(), positions)
    }

    const CSV: &[u8] = b"# by hand\nop,start,end,size\nwrite,1,2,100\nread,3,4.5,7\nnonsense\nwrite,5,6,9";

    #[test]
    fn records_come_whole_whatever_the_pieces() {
        for piece in 1..CSV.len() + 1 {
            let (messages, faults, _) = all(CSV, piece);
            let t: Vec<_> = messages.iter().flat_map(|m| &m.transfers).map(|t| (t.start, t.end, t.bytes)).collect();
            assert_eq!(t, [(1.0, 2.0, 100.0), (3.0, 4.5, 7.0), (5.0, 6.0, 9.0)], "{piece}");
            assert_eq!(faults.malformed, 1);
        }
    }

    #[test]
    fn another_tail_goes_on_where_one_stopped() {
        let (messages, _, positions) = all(CSV, 7);
        for (i, &at) in positions.iter().enumerate() {
            let mut first = Tail::new(None, &Limits::default()).unwrap();
            first.push(CSV);
            first.next_message().unwrap();
            let mut f = Tail::resume(first.form().unwrap().clone(), at, &Limits::default()).unwrap();
            assert!(!f.rereads());
            f.push(&CSV[at as usize..]);
            f.end();
            let rest: Vec<_> = std::iter::from_fn(|| f.next_message().unwrap()).collect();
            assert_eq!(rest, messages[i + 1..]);
            assert_eq!(f.position(), *positions.last().unwrap());
        }
    }

    #[test]
    fn damaged_messages_come_in_any_pieces() {
        let sample = include_bytes!("../../../tests/data/robustness/sample.msgpack");
        let mut data = sample.repeat(2);
        for at in (0..data.len()).step_by(common::every(5)) {
            let was = data[at];
            for damage in [0xc1, 0xdd, was ^ 0x10] {
                data[at] = damage;
                if object_at(&data) == Some(true) {
                    let (messages, faults, _) = all(&data, usize::MAX);
                    for piece in [1, 3, 97] {
                        let (m, f, _) = all(&data, piece);
                        assert_eq!((&m, &f), (&messages, &faults), "byte {at} is {damage:#x}, pieces of {piece}");
                    }
                }
            }
            data[at] = was;
        }
        // what is undamaged behind it is found
        let undamaged = all(sample, usize::MAX).0;
        data[sample.len() / 2] = 0xc1;
        assert!(all(&data, usize::MAX).0.ends_with(&undamaged));
        let between = [&sample[..], &[0xc1], sample].concat();
        let (messages, faults, _) = all(&between, usize::MAX);
        assert_eq!((messages, faults.malformed), ([undamaged.clone(), undamaged].concat(), 1));
    }

    #[test]
    fn messages_of_too_many_bytes_are_given_up() {
        let sample = include_bytes!("../../../tests/data/robustness/sample.msgpack");
        let mut f = Tail::new(None, &Limits::default().memory_bytes(40)).unwrap();
        for part in [&sample[..50], &sample[50..], sample] {
            f.push(part);
            while let Ok(Some(_)) = f.next_message() {}
        }
        assert!(f.faults().malformed > 0);
    }

    #[test]
    fn what_cannot_be_followed_is_told() {
        for text in [&b"\x00\x01\x02 nothing\n"[..], b"just words\n"] {
            for ends in [false, true] {
                let mut f = Tail::new(None, &Limits::default()).unwrap();
                f.push(text);
                assert!(f.next_message().unwrap().is_none() && f.is_undecided());
                if ends {
                    f.end();
                } else {
                    f.push(&b"x\n".repeat(HEAD_BYTES / 2));
                }
                assert_eq!(f.next_message().unwrap_err().kind(), ErrorKind::Unsupported);
            }
        }
        // a format that is only read whole shows at once
        let mut f = Tail::new(None, &Limits::default()).unwrap();
        f.push(b"HEADER\n");
        let e = f.next_message().unwrap_err().to_string();
        assert!(e.starts_with("format radar cannot be followed; expected one of ") && e.contains("strace"), "{e}");
        let mut f = Tail::new(None, &Limits::default()).unwrap();
        f.push(&vec![b'x'; HEAD_BYTES]);
        assert_eq!(f.next_message().unwrap_err().kind(), ErrorKind::Unsupported);
        assert!(Tail::new(Some("darshan"), &Limits::default()).is_err());
    }

    #[test]
    fn a_long_head_of_remarks_is_no_reason_to_give_up() {
        let text = format!("{}op,start,end,size\nwrite,1,2,100\n", "# a remark\n\n".repeat(200));
        for piece in [1, 1000, usize::MAX] {
            assert_eq!(all(text.as_bytes(), piece).0.len(), 1, "{piece}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces(data in prop::collection::vec(any::<u8>(), 0..300), piece in 1usize..40, prefix in 0usize..5) {
            let starts: [&[u8]; 5] = [b"", b"op,size,start\n", b"{\"op\":\"read\",\"size\":1,\"start\":2}\n", b"\x9e\xaaread_async", b"{\"read_sync\":{"];
            let mut f = Tail::new(None, &Limits::default()).unwrap();
            let data = [starts[prefix], &data].concat();
            for part in data.chunks(piece) {
                f.push(part);
                while let Ok(Some(_)) = f.next_message() {}
                prop_assert!(f.position() <= data.len() as u64);
            }
        }
    }
}
