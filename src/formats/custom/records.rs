//! Records line by line: CSV and JSON Lines, read in stretches of lines that are parsed in parallel.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use rayon::prelude::*;

use super::super::clock::origin_of;
use super::super::fields::fields;
use super::super::lines::{is_remark, lines, quote};
use super::super::options::ReadOptions;
use super::super::source::Source;
use super::super::window::Window;
use super::row::{Bad, Field, LAYERS, RecordFields, RecordRows};
use crate::error::{Error, Place, Result};
use crate::record::{Batch, Column, Data, Quality, Requests, Restart, RowSink, Timing, Trace, Warning};
use crate::remedy::Remedy;

/// Bytes of lines that one task parses.
const PIECE: usize = 256 << 10;

/// How a line becomes fields.
pub(in super::super) trait Layout: Sync {
    /// The fields of a line; `None` if it holds no record and need not.
    fn row<'l>(&'l self, line: &'l [u8]) -> Result<Option<RecordFields<'l>>, Bad>;

    /// True for lines that are passed over.
    fn is_remark(&self, line: &[u8]) -> bool {
        is_remark(line)
    }
}

/// The columns of a CSV file.
#[derive(Debug)]
pub(super) struct Columns {
    /// Each with whether its names are escaped, as in `file_escaped`.
    fields: Vec<Option<(Field, bool)>>,
}

impl Columns {
    /// Reads the header line.
    pub(super) fn of_header(line: &[u8]) -> Result<Columns, Bad> {
        const EXPECTED: &str =
            "a header line with the columns op, size, start (and rank, file, offset, end, call, pid, layer)";
        const MOST: usize = 1024;
        let mut columns = Vec::new();
        fields(line, b',', |text| {
            let plain = text.strip_suffix(b"_escaped").and_then(Field::named);
            let escaped = plain.filter(|f| matches!(f, Field::File | Field::Call)).map(|f| (f, true));
            columns.push(escaped.or_else(|| Field::named(&text).map(|f| (f, false))));
            columns.len() < MOST
        })
        .map_err(|_| Bad::new("header", line, EXPECTED))?;
        let all = [Field::Op, Field::Size, Field::Start].iter().all(|f| columns.contains(&Some((*f, false))));
        if all { Ok(Columns { fields: columns }) } else { Err(Bad::new("header", line, EXPECTED)) }
    }
}

/// A name of a column such as `file_escaped`.
fn without_escapes(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if memchr(b'\\', &text).is_none() {
        return text;
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied();
    while let Some(b) = bytes.next() {
        plain.push(match b {
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                other => other.unwrap_or(b),
            },
            _ => b,
        });
    }
    Cow::Owned(plain)
}

impl Layout for Columns {
    #[inline]
    fn row<'l>(&'l self, line: &'l [u8]) -> Result<Option<RecordFields<'l>>, Bad> {
        let mut row = RecordFields::default();
        let mut i = 0;
        fields(line, b',', |text| {
            if let Some(Some((field, escaped))) = self.fields.get(i) {
                row.set(*field, if *escaped { without_escapes(text) } else { text });
            }
            i += 1;
            i < self.fields.len()
        })
        .map_err(|rest| Bad::new("quoted field", rest, "a closing quote"))?;
        Ok(Some(row))
    }
}

/// JSON objects.
pub(super) struct Objects;

impl Layout for Objects {
    fn row<'l>(&'l self, line: &'l [u8]) -> Result<Option<RecordFields<'l>>, Bad> {
        let mut row = RecordFields::default();
        object(line, &mut row).map_err(|at| {
            Bad::new("JSON", line.get(at..).unwrap_or_default(), "an object with the keys op, size, start")
        })?;
        Ok(Some(row))
    }
}

/// Reads the members of the object in `line`. An error is the place of what is no JSON.
fn object<'l>(line: &'l [u8], row: &mut RecordFields<'l>) -> Result<(), usize> {
    let space = |mut at: usize| {
        while line.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let expect = |at: usize, byte: u8| if line.get(at) == Some(&byte) { Ok(at + 1) } else { Err(at) };
    let mut at = space(expect(space(0), b'{')?);
    if line.get(at) == Some(&b'}') {
        at += 1;
    } else {
        loop {
            let (key, next) = string(line, at)?;
            at = space(expect(space(next), b':')?);
            let field = Field::named(&key);
            match line.get(at) {
                Some(b'"') => {
                    let (text, next) = string(line, at)?;
                    at = next;
                    if let Some(f) = field {
                        row.set(f, text);
                    }
                }
                Some(b'{' | b'[') => at = nested(line, at)?,
                _ => {
                    let n = line[at..].iter().position(|b| matches!(b, b',' | b'}') || b.is_ascii_whitespace());
                    let text = &line[at..at + n.ok_or(line.len())?];
                    if text.is_empty() {
                        return Err(at);
                    }
                    at += text.len();
                    if let Some(f) = field.filter(|_| text != b"null") {
                        row.set(f, Cow::Borrowed(text));
                    }
                }
            }
            at = space(at);
            match line.get(at) {
                Some(b',') => at = space(at + 1),
                Some(b'}') => {
                    at += 1;
                    break;
                }
                _ => return Err(at),
            }
        }
    }
    if space(at) == line.len() { Ok(()) } else { Err(at) }
}

/// The string that begins at `at`, and the place after it.
fn string(line: &[u8], at: usize) -> Result<(Cow<'_, [u8]>, usize), usize> {
    if line.get(at) != Some(&b'"') {
        return Err(at);
    }
    let mut end = at + 1;
    let mut plain = true;
    loop {
        end += memchr2(b'"', b'\\', line.get(end..).ok_or(at)?).ok_or(at)?;
        if line[end] == b'"' {
            break;
        }
        plain = false;
        end += 2;
    }
    let text = &line[at..=end];
    if plain {
        return Ok((Cow::Borrowed(&text[1..text.len() - 1]), end + 1));
    }
    let unescaped: String = serde_json::from_slice(text).map_err(|_| at)?;
    Ok((Cow::Owned(unescaped.into_bytes()), end + 1))
}

/// The place after the object or array that begins at `at`.
fn nested(line: &[u8], mut at: usize) -> Result<usize, usize> {
    let mut depth = 0usize;
    loop {
        match line.get(at).ok_or(at)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                at = string(line, at)?.1;
                continue;
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Ok(at);
        }
    }
}

/// Reads records, which `open` opens at their first line.
///
/// # Errors
/// Malformed if no line can be read; limits; errors of the system; those of the sink.
pub(in super::super) fn read<'s, 'o, L: Layout>(
    open: impl Fn() -> Result<(Reading<'s, 'o>, L)>,
    sink: &dyn RowSink,
) -> Result<Trace> {
    if !sink.keeps_rows() {
        let (reading, layout) = open()?;
        if let Some(trace) = reading.in_batches(&layout, sink)? {
            return Ok(trace);
        }
        sink.restart(Restart::Trace);
    }
    let (reading, layout) = open()?;
    reading.whole(&layout)?.give_rows(sink)
}

/// Opens CSV after its header line.
///
/// # Errors
/// Malformed if there is no header; limits; errors of the system.
pub(super) fn csv<'s, 'o>(
    source: &'s Source,
    options: &'o ReadOptions,
    format: &'static str,
) -> Result<(Reading<'s, 'o>, Columns)> {
    let mut reading = Reading::new(source, options, format)?;
    let window = &mut reading.window;
    let columns = loop {
        let n = window.whole_lines(options.limits.line_bytes)?.unwrap_or(0);
        let data = &window.data()[..n];
        let line = lines(data).next().unwrap_or_default();
        reading.skipped += 1;
        if n > 0 && is_remark(line) {
            window.skip_line()?;
            continue;
        }
        let columns = Columns::of_header(line);
        let columns = columns.map_err(|b| b.at(reading.skipped).remedy("name the columns in the first line"))?;
        window.skip_line()?;
        break columns;
    };
    Ok((reading, columns))
}

/// Opens JSON Lines.
///
/// # Errors
/// Limits; errors of the system.
pub(super) fn json_lines<'s, 'o>(
    source: &'s Source,
    options: &'o ReadOptions,
    format: &'static str,
) -> Result<(Reading<'s, 'o>, Objects)> {
    Ok((Reading::new(source, options, format)?, Objects))
}

impl Bad {
    fn at(self, line: u64) -> Error {
        Error::malformed(Place::Line(line), self.found).expected(self.expected)
    }
}

/// The records of a stretch of lines.
#[derive(Default)]
struct Part {
    rows: RecordRows,
    /// Lines, and those of them that should be records.
    lines: u64,
    records: u64,
    bad: u64,
    /// The first line that is no record, by its number in the stretch from 0; true if it is the last line of the stretch.
    first_bad: Option<(u64, Bad)>,
    last_is_bad: bool,
    /// Lines that hold no record and need not, and the first of them in the same way.
    passed: u64,
    first_passed: Option<(u64, String)>,
}

/// Lines from where `window` is, after `skipped` lines.
pub(in super::super) struct Reading<'s, 'o> {
    window: Window<'s>,
    options: &'o ReadOptions,
    format: &'static str,
    skipped: u64,
    sum: Part,
    /// The last line has no end.
    truncated: bool,
}

impl<'s, 'o> Reading<'s, 'o> {
    pub(in super::super) fn new(source: &'s Source, options: &'o ReadOptions, format: &'static str) -> Result<Self> {
        let mut window = Window::open(source, options)?;
        if window.data().starts_with(b"\xef\xbb\xbf") {
            window.consume(3);
        }
        Ok(Self { window, options, format, skipped: 0, sum: Part::default(), truncated: false })
    }

    fn origin(&self, layout: &impl Layout) -> i64 {
        let usable = lines(self.window.data()).filter(|l| !layout.is_remark(l)).take(1000);
        let first = usable.into_iter().find_map(|l| layout.row(l).ok()??.start());
        first.map_or(0, origin_of)
    }

    pub(in super::super) fn whole(mut self, layout: &impl Layout) -> Result<Trace> {
        let origin = self.origin(layout);
        let most = self.options.limits.records;
        while self.next(layout, origin)? {
            if self.sum.rows.requests.len() > most {
                return Err(Error::too_many_rows(most));
            }
        }
        let any = !self.sum.rows.requests.is_empty();
        let mut trace = self.finish(origin, any)?;
        trace.layers = vec![trace.summarise("requests")];
        Ok(trace)
    }

    /// Gives the records to a sink; `None` if they are of several layers: which one is taken shows at the end.
    fn in_batches(mut self, layout: &impl Layout, sink: &dyn RowSink) -> Result<Option<Trace>> {
        let origin_s = self.origin(layout);
        let mut layer = None;
        let mut any = false;
        while self.next(layout, origin_s)? {
            let rows = &mut self.sum.rows;
            if rows.requests.is_empty() {
                continue;
            }
            let of_batch = rows.layer.as_constant();
            let wanted = self.options.layer.and_then(|l| LAYERS.iter().position(|x| *x == l));
            let other = of_batch.is_some_and(|l| l > 0 && wanted.is_some_and(|w| w + 1 != usize::from(l)));
            if of_batch.is_none() || other || any && layer != of_batch {
                return Ok(None);
            }
            (layer, any) = (of_batch, true);
            let requests = std::mem::take(&mut rows.requests);
            rows.layer = Column::default();
            sink.take(Batch {
                part: 0,
                origin_s,
                files: &rows.files,
                calls: &rows.calls,
                rows: Cow::Owned(Data::Requests(requests)),
                binned: false,
                log: None,
            })?;
        }
        let mut trace = self.finish(origin_s, any)?;
        trace.layer = layer.and_then(|l| usize::from(l).checked_sub(1)).map(|i| LAYERS[i]);
        Ok(Some(trace))
    }

    /// Reads the next stretch of lines; false if there is none.
    fn next(&mut self, layout: &impl Layout, origin: i64) -> Result<bool> {
        let limits = &self.options.limits;
        let all = self.options.detail.all_calls();
        let (window, sum, skipped) = (&mut self.window, &mut self.sum, self.skipped);
        let Some(n) = window.whole_lines(limits.line_bytes)? else { return Ok(false) };
        if n == 0 {
            let bad = Bad::new("a long line", window.data(), "shorter lines");
            window.skip_line()?;
            sum.lines += 1;
            sum.records += 1;
            sum.bad += 1;
            sum.last_is_bad = true;
            sum.first_bad.get_or_insert((skipped + sum.lines, bad));
            return Ok(true);
        }
        let parse = |text: &[u8]| {
            let mut part = Part::default();
            for line in lines(text) {
                part.lines += 1;
                part.last_is_bad = false;
                if layout.is_remark(line) {
                    continue;
                }
                let row = match line.len() <= limits.line_bytes {
                    true => layout.row(line),
                    false => Err(Bad::new("a long line", line, "shorter lines")),
                };
                if let Ok(None) = row {
                    part.passed += 1;
                    part.first_passed.get_or_insert_with(|| (part.lines - 1, quote(line)));
                    continue;
                }
                part.records += 1;
                let pushed = row.and_then(|row| row.map_or(Ok(()), |row| part.rows.push(&row, origin, all)));
                if let Err(bad) = pushed {
                    part.bad += 1;
                    part.last_is_bad = true;
                    part.first_bad.get_or_insert((part.lines - 1, bad));
                }
            }
            part
        };
        self.truncated = !window.data()[..n].ends_with(b"\n");
        let parts = window.consume_with(n, |text| match pieces(text) {
            p if p.len() == 1 => vec![parse(text)],
            p => p.into_par_iter().map(parse).collect(),
        })?;
        for part in parts {
            let first = part.first_bad.map(|(line, bad)| (skipped + sum.lines + line + 1, bad));
            sum.first_bad = sum.first_bad.take().or(first);
            let passed = part.first_passed.map(|(line, text)| (skipped + sum.lines + line + 1, text));
            sum.first_passed = sum.first_passed.take().or(passed);
            sum.passed += part.passed;
            sum.lines += part.lines;
            sum.records += part.records;
            sum.bad += part.bad;
            sum.last_is_bad = part.last_is_bad;
            sum.rows.append(part.rows);
        }
        Ok(true)
    }

    /// The trace; `any`: whether there was a row.
    fn finish(self, origin: i64, any: bool) -> Result<Trace> {
        let Self { window, options, format, skipped, sum, truncated } = self;
        let mut rows = sum.rows;
        if !any && rows.counted == 0 {
            if let Some((line, bad)) = sum.first_bad {
                return Err(bad.at(line).remedy("no line of this file can be read as a record: check its columns"));
            }
            if let Some(why) = window.damage() {
                return Err(Error::malformed(Place::Byte(window.offset()), why).remedy("copy the file again"));
            }
            if let Some((line, text)) = sum.first_passed {
                return Err(Error::malformed(
                    Place::Line(line),
                    format!("no pattern matches this line or any other: {text}"),
                )
                .expected("lines that a pattern matches")
                .remedy("try the pattern with `grep -P` on a line of the file"));
            }
        }
        let mut trace = Trace {
            format,
            ranks: rows.ranks.len(),
            origin_s: origin,
            timing: Timing::Request,
            quality: Quality {
                records_read: sum.records,
                records_dropped: sum.bad,
                clamped: rows.clamped,
                ..Quality::default()
            },
            ..Trace::default()
        };
        for (name, count) in rows.call_counts() {
            *trace.call_counts.entry(String::from_utf8_lossy(name).into_owned()).or_default() += count;
        }
        choose_layer(&mut rows, options, &mut trace);
        if let Some(why) = window.damage() {
            trace.warnings.push(Warning::new("damaged-tail", format!("{why}; what came before was kept")));
        }
        if let Some((line, bad)) = sum.first_bad {
            let (found, expected) = (bad.found, bad.expected);
            trace.warnings.push(if sum.bad == 1 && truncated && sum.last_is_bad && line == skipped + sum.lines {
                Warning::new("damaged-tail", format!("line {line}, the last, is cut: {found}; expected {expected}"))
            } else {
                Warning::new(
                    "unreadable-records",
                    format!(
                        "{} of {} lines are no records and were left out, the first line {line}: {found}; expected {expected}",
                        sum.bad, sum.records
                    ),
                )
                .remedy("correct these lines")
            });
        }
        if let Some((line, text)) = sum.first_passed {
            let (n, all) = (sum.passed, sum.passed + sum.records);
            let message =
                format!("{n} of {all} lines match no pattern and were left out, the first line {line}: {text}");
            trace.warnings.push(Warning::new("unmatched-lines", message).remedy("add a pattern if they are transfers"));
        }
        trace.files = rows.files;
        trace.calls = rows.calls;
        trace.data = Data::Requests(rows.requests);
        Ok(trace)
    }
}

/// Cuts a text at line ends into pieces.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = text;
    loop {
        let n = rest.get(PIECE..).and_then(|later| memchr(b'\n', later)).map_or(rest.len(), |n| PIECE + n + 1);
        let (piece, later) = rest.split_at(n);
        pieces.push(piece);
        rest = later;
        if rest.is_empty() {
            return pieces;
        }
    }
}

/// Keeps the records of one layer: the same bytes pass through all of them.
fn choose_layer(rows: &mut RecordRows, options: &ReadOptions, trace: &mut Trace) {
    let mut count = [0usize; LAYERS.len() + 1];
    match rows.layer.as_constant() {
        Some(l) => count[usize::from(l)] = rows.layer.len(),
        None => rows.layer.iter().for_each(|l| count[usize::from(l)] += 1),
    }
    let present: Vec<usize> = (0..count.len()).filter(|&i| count[i] > 0).collect();
    let wanted = options.layer.and_then(|l| LAYERS.iter().position(|x| *x == l)).map(|i| i + 1);
    // Records without a layer are of use only if no record has one.
    let chosen = match wanted {
        Some(w) if present.iter().any(|&p| p > 0) => w,
        _ => present.iter().copied().find(|&p| p > 0).unwrap_or(0),
    };
    trace.layer = chosen.checked_sub(1).map(|i| LAYERS[i]);
    let left_out = rows.layer.len() - count[chosen];
    if left_out == 0 {
        return;
    }
    trace.quality.records_left_out += left_out as u64;
    rows.requests = rows
        .requests
        .iter()
        .zip(rows.layer.iter())
        .filter(|(_, l)| usize::from(*l) == chosen)
        .map(|(r, _)| r)
        .collect::<Requests>();
    let name = trace.layer.map_or("none", |l| l.name());
    trace.warnings.push(
        Warning::new(
            "several-layers",
            format!("records of one layer are taken, {name}: {left_out} of others were left out"),
        )
        .remedy(Remedy::ChooseLayer),
    );
}
