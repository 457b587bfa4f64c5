//! Traces that grow: bytes as they come to whole messages.
//!
//! A [`Tail`] is given the bytes of a source in pieces of any size and gives back messages: a record of CSV or JSON Lines, a
//! call of strace, an event of DFTracer, a flush of TMIO, an object with arrays. What is not whole yet waits for the rest. A message that cannot be
//! read is counted and left out; nothing of it is kept. [`decode`] does the same for a message that comes by itself.

mod direct;
mod lines;
pub(super) mod message;
mod values;

use super::compression::Compression;
pub use super::gekkofs::ClientClocks;
use super::limits::Limits;
use super::options::ReadOptions;
use super::regex::{Patterns, TailedText};
use super::series::{SeriesHead, SeriesOptions, TailedTable};
use super::tmio::{ObjectScanner, Scanned, object_at};
use super::{custom, dftracer, samples, strace};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::Clock;
use crate::remedy::Remedy;
pub use direct::decode;
use lines::Lines;
use message::TailedLines;
pub use message::{Faults, Message};
use values::Values;

/// How a source is read: as much of a tail as has to be known to go on in the middle.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Records as CSV, with this header line.
    Csv(String),
    /// Records as JSON Lines.
    JsonLines,
    /// JSON values: sections of TMIO, arrays of rates and times.
    Json,
    /// MessagePack of TMIO.
    Msgpack,
    /// Samples of counters, with this first line.
    Samples(String),
    /// strace.
    Strace,
    /// DFTracer.
    Dftracer,
    /// A time series as a table that begins so.
    Series(Box<SeriesHead>),
    /// Text whose lines are read by these patterns, a pattern file.
    Text(String),
}

enum Reader {
    /// The form is not known yet.
    Unknown,
    Lines(Box<dyn TailedLines>),
    Json(Values),
    Msgpack(ObjectScanner),
}

/// See the module.
pub struct Tail {
    reader: Reader,
    form: Option<Form>,
    lines: Lines,
    /// Bytes of whole lines that did not show the form.
    judged: usize,
    limits: Limits,
    series: SeriesOptions,
    patterns: Option<Patterns>,
    ended: bool,
    faults: Faults,
}

/// Names of the formats that grow.
const FORMATS: [&str; 7] = ["tmio", "strace", "dftracer", "samples", "series", "custom", "regex"];

/// Lines within which the form must show: a tool may say something first, and the first call of strace may be cut.
const ODD_LINES: usize = 8;

/// Bytes from which on the form of a source must show.
const ENOUGH: usize = 64 << 10;

impl Tail {
    /// A tail of a source from its start; `format` names its format if that is known.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for formats that do not grow.
    pub fn new(format: Option<&str>, limits: &Limits) -> Result<Tail> {
        if let Some(name) = format.filter(|f| !FORMATS.contains(f)) {
            return Err(Error::new(ErrorKind::Unsupported, format!("format {name} cannot be followed"))
                .expected(format!("one of {}", FORMATS.join(", ")))
                .remedy(Remedy::AnalyzeFinished));
        }
        Ok(Tail {
            reader: Reader::Unknown,
            form: None,
            lines: Lines::new(limits.memory_bytes.try_into().unwrap_or(usize::MAX)),
            judged: 0,
            limits: limits.clone(),
            series: SeriesOptions::default(),
            patterns: None,
            ended: false,
            faults: Faults::default(),
        })
    }

    /// A tail that goes on at `position` bytes of a source of this form.
    ///
    /// Calls of strace, readings of counters and times of day depend on those before, and events of DFTracer on the names before: their
    /// source has to be read again from its start, see [`Tail::rereads`].
    pub fn resume(form: Form, position: u64, limits: &Limits) -> Result<Tail> {
        let mut tail = Tail::new(None, limits)?;
        tail.lines.start_at(if Tail::rereads(&form) { 0 } else { position });
        tail.set_form(form)?;
        Ok(tail)
    }

    /// True if a form can only be read from the start.
    pub fn rereads(form: &Form) -> bool {
        matches!(form, Form::Strace | Form::Dftracer | Form::Series(_) | Form::Text(_))
    }

    /// Reads the source as these options say: with columns it is a time series, with patterns text.
    #[must_use]
    pub fn with(mut self, options: &ReadOptions) -> Tail {
        self.series = options.series.clone();
        self.patterns = options.patterns.clone();
        self
    }

    /// The form, once it is known.
    pub fn form(&self) -> Option<&Form> {
        self.form.as_ref()
    }

    /// What the times of the messages count from.
    pub fn clock(&self) -> Clock {
        match &self.reader {
            Reader::Lines(tailed) => tailed.clock(),
            Reader::Unknown | Reader::Json(_) | Reader::Msgpack(_) => Clock::default(),
        }
    }

    /// Takes more bytes.
    pub fn push(&mut self, data: &[u8]) {
        self.lines.push(data);
    }

    /// Nothing more will come: a last line without its end counts as whole.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// The source begins anew (it was rotated or truncated): an incomplete message is dropped.
    pub fn restart(&mut self) {
        if self.lines.waiting() > 0 {
            self.faults.add(|| "the source began anew in the middle of a message".into());
        }
        self.lines = Lines::new(self.limits.memory_bytes.try_into().unwrap_or(usize::MAX));
        self.judged = 0;
        match &mut self.reader {
            Reader::Json(v) => *v = Values::default(),
            Reader::Msgpack(s) => *s = ObjectScanner::default(),
            Reader::Unknown | Reader::Lines(_) => {}
        }
    }

    /// Bytes of the source up to the end of the last message given: where another tail can go on.
    pub fn position(&self) -> u64 {
        self.lines.position()
    }

    /// True if another tail can go on at [`Tail::position`]; false while one line has given several messages of which
    /// some wait.
    pub fn may_stop(&self) -> bool {
        !matches!(&self.reader, Reader::Lines(tailed) if tailed.has_more())
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
        if matches!(self.reader, Reader::Unknown) && !self.find_form()? {
            return Ok(None);
        }
        loop {
            let (lines, faults, ended) = (&mut self.lines, &mut self.faults, self.ended);
            match &mut self.reader {
                Reader::Unknown => return Ok(None),
                Reader::Lines(tailed) => {
                    if let Some(t) = tailed.next() {
                        return Ok(Some(Message { transfers: vec![t], ..Message::default() }));
                    }
                    let Some(line) = lines.next(self.limits.line_bytes, ended, faults) else { return Ok(None) };
                    if let Err(what) = tailed.feed(line) {
                        let at = lines.position();
                        faults.add(|| format!("before byte {at}: {what}"));
                    }
                }
                Reader::Json(values) => {
                    let Some(n) = values.whole(lines, faults) else { return Ok(None) };
                    if let Some(m) = read_one(lines, n, "tmio", faults) {
                        return Ok(Some(m));
                    }
                }
                Reader::Msgpack(scanner) => {
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
        if let Some(patterns) = &self.patterns {
            let form = Form::Text(patterns.text().to_owned());
            return self.set_form(form).map(|()| true);
        }
        match object_at(data) {
            Some(true) => return self.set_form(Form::Msgpack).map(|()| true),
            None if !self.ended => return Ok(false),
            _ => {}
        }
        let beginning = &data[..data.len().min(ENOUGH)];
        while let Some(n) = memchr::memchr(b'\n', &beginning[self.judged..]) {
            let line = &beginning[self.judged..self.judged + n];
            self.judged += n + 1;
            if super::lines::is_remark(line) {
                continue;
            }
            if let Some(form) = self.judge(&beginning[..self.judged], false)? {
                return self.set_form(form).map(|()| true);
            }
        }
        if (self.ended || data.len() >= ENOUGH)
            && let Some(form) = self.judge(beginning, true)?
        {
            return self.set_form(form).map(|()| true);
        }
        Ok(false)
    }

    /// The form of a source that begins with these lines, unless more has to come; `enough`: no more will.
    fn judge(&self, beginning: &[u8], enough: bool) -> Result<Option<Form>> {
        let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning).trim_ascii_start();
        let text = dftracer::after_frames(text);
        if let Some(head) = SeriesHead::of(beginning, &self.series) {
            return Ok(Some(Form::Series(Box::new(head))));
        }
        let mut lines = super::lines::lines(text).filter(|l| !super::lines::is_remark(l));
        let Some(first) = lines.next() else {
            let useless = enough && (!text.is_empty() || beginning.len() >= ENOUGH);
            return if useless { Err(unknown(text)) } else { Ok(None) };
        };
        // with columns it is a table or nothing
        let form = if self.series.columns.is_some() { None } else { form_of(first, text) };
        if form.is_none() && (enough || lines.nth(ODD_LINES - 2).is_some()) {
            return Err(unknown(first));
        }
        Ok(form)
    }

    /// Whether bytes have come that show no form yet.
    pub fn is_undecided(&self) -> bool {
        self.form.is_none() && self.lines.waiting() > 0
    }

    fn set_form(&mut self, form: Form) -> Result<()> {
        self.reader = match &form {
            Form::Csv(header) => {
                let records = custom::TailedRecords::csv(header.as_bytes());
                Reader::Lines(Box::new(records.map_err(|what| {
                    Error::new(ErrorKind::Malformed, what).remedy("name the columns in the first line")
                })?))
            }
            Form::JsonLines => Reader::Lines(Box::new(custom::TailedRecords::json_lines())),
            Form::Json => Reader::Json(Values::default()),
            Form::Msgpack => Reader::Msgpack(ObjectScanner::default()),
            Form::Samples(header) => {
                let tailed = samples::TailedSamples::new(header.as_bytes());
                Reader::Lines(Box::new(tailed.map_err(|what| Error::new(ErrorKind::Malformed, what))?))
            }
            Form::Series(head) => {
                let table = TailedTable::new(head).map_err(|what| Error::new(ErrorKind::Malformed, what))?;
                Reader::Lines(Box::new(table))
            }
            Form::Text(patterns) => Reader::Lines(Box::new(TailedText::new(Patterns::from_file(patterns)?)?)),
            Form::Strace => Reader::Lines(Box::new(strace::TailedCalls::new(self.limits.line_bytes))),
            Form::Dftracer => Reader::Lines(Box::new(dftracer::TailedEvents::default())),
        };
        self.form = Some(form);
        Ok(())
    }
}

/// The form of a source by its first line that is no remark; `text` begins with the first line.
fn form_of(first: &[u8], text: &[u8]) -> Option<Form> {
    if dftracer::is_event(first) {
        return Some(Form::Dftracer);
    }
    if samples::is_header(first) {
        return Some(Form::Samples(String::from_utf8_lossy(first).into_owned()));
    }
    if first.starts_with(b"{") {
        return Some(if custom::is_record_line(first) { Form::JsonLines } else { Form::Json });
    }
    if custom::TailedRecords::csv(first).is_ok() {
        return Some(Form::Csv(String::from_utf8_lossy(first).into_owned()));
    }
    strace::has_calls(text).then_some(Form::Strace)
}

fn unknown(first: &[u8]) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{} begins no trace that can be followed", super::lines::quote(first)))
        .expected(
            "TMIO (JSON Lines, MessagePack), records as CSV with a header line or as JSON Lines, strace, DFTracer, or a table of a monitoring tool",
        )
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

/// Text for a message.
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
            let form = Form::Csv("op,start,end,size".into());
            let mut f = Tail::resume(form, at, &Limits::default()).unwrap();
            f.push(&CSV[at as usize..]);
            f.end();
            let rest: Vec<_> = std::iter::from_fn(|| f.next_message().unwrap()).collect();
            assert_eq!(rest, messages[i + 1..]);
            assert_eq!(f.position(), *positions.last().unwrap());
        }
    }

    #[test]
    fn an_odd_first_line_of_strace_comes_in_any_pieces() {
        let call = "10:00:01.000000 write(3</x>, \"a\"..., 4096) = 4096 <0.100000>\n";
        for odd in ["rest of a line\n", "\n", "strace: attached\nto a process\n"] {
            let text = format!("{odd}{}", call.repeat(3));
            let whole = all(text.as_bytes(), usize::MAX);
            assert_eq!(whole.0.len(), 3, "{odd}");
            for piece in 1..text.len() {
                assert_eq!(all(text.as_bytes(), piece), whole, "{odd}: {piece}");
            }
        }
    }

    #[test]
    fn damaged_messages_come_in_any_pieces() {
        let sample = include_bytes!("../../../tests/data/robustness/sample.msgpack");
        let mut data = sample.repeat(2);
        for at in (0..data.len()).step_by(crate::common::every(5)) {
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
        for text in [&b"\x00\x01\x02 nothing\n"[..], b"HEADER\nx\n", b"just words\n"] {
            for ends in [false, true] {
                let mut f = Tail::new(None, &Limits::default()).unwrap();
                f.push(text);
                assert!(f.next_message().unwrap().is_none() && f.is_undecided());
                if ends {
                    f.end();
                } else {
                    f.push(&b"x\n".repeat(ODD_LINES));
                }
                assert_eq!(f.next_message().unwrap_err().kind(), ErrorKind::Unsupported);
            }
        }
        let mut f = Tail::new(None, &Limits::default()).unwrap();
        f.push(&vec![b'x'; ENOUGH]);
        assert_eq!(f.next_message().unwrap_err().kind(), ErrorKind::Unsupported);
        assert!(Tail::new(Some("darshan"), &Limits::default()).is_err());
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
