//! Records line by line: CSV and JSON Lines, read in stretches of lines that are parsed in parallel.

use std::borrow::Cow;
use std::collections::VecDeque;

use memchr::memchr;

use super::super::clock::origin_of;
use super::super::fields::fields;
use super::super::json::{Scan, unescaped};
use super::super::lines::{
    Bad, Followed, Follower, LineDecoder, LineReader, TailedLines, Taken, Tally, Transfers, is_remark, lines,
    transfers_of,
};
use super::super::options::ReadOptions;
use super::super::source::Source;
use super::row::{LAYERS, RecordField, RecordFields, RecordRows};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Batch, Column, Data, Interval, Quality, Requests, Restart, RowSink, Timing, Trace, Warning};
use crate::remedy::Remedy;

/// How a line becomes fields.
pub(in super::super) trait LineLayout: Sync {
    /// The fields of a line; `None` if it holds no record and need not.
    fn row<'l>(&'l self, line: &'l [u8]) -> Result<Option<RecordFields<'l>>, Bad>;

    /// True for lines that are passed over.
    fn is_remark(&self, line: &[u8]) -> bool {
        is_remark(line)
    }
}

impl<L: LineLayout> LineLayout for &L {
    fn row<'l>(&'l self, line: &'l [u8]) -> Result<Option<RecordFields<'l>>, Bad> {
        (**self).row(line)
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        (**self).is_remark(line)
    }
}

/// Lines of a layout as requests.
pub(in super::super) struct Records<L> {
    pub(in super::super) layout: L,
    /// Whole seconds from which the times of the requests count.
    origin: i64,
    /// Calls that move no bytes are kept, too.
    all: bool,
}

impl<L: LineLayout> Records<L> {
    /// The transfers, with times on the trace's own clock.
    pub(in super::super) fn followed(layout: L) -> Self {
        Records { layout, origin: 0, all: false }
    }
}

/// Follows a source whose lines are records of this layout.
pub(in super::super) fn follow<L: LineLayout + Send + 'static>(layout: L) -> Followed {
    Followed::Lines(Box::new(Follower::new(Records::followed(layout), RecordRows::default())))
}

impl<L: LineLayout> LineDecoder for Records<L> {
    type Rows = RecordRows;

    #[inline]
    fn line(&self, line: &[u8], _: u64, rows: &mut RecordRows) -> Result<Taken, Bad> {
        match self.layout.row(line)? {
            Some(row) => rows.push(&row, self.origin, self.all).map(|()| Taken::Record),
            None => Ok(Taken::Nothing),
        }
    }

    #[inline]
    fn is_remark(&self, line: &[u8]) -> bool {
        self.layout.is_remark(line)
    }
}

impl<L: LineLayout + Send> Transfers for Records<L> {
    const EACH_ALONE: bool = true;

    fn take(&mut self, rows: &mut RecordRows, transfers: &mut VecDeque<Interval>) -> Result<(), String> {
        transfers.extend(transfers_of(rows.requests.iter(), |file| rows.files.is_system(file)));
        rows.forget_requests();
        rows.forget_many_names();
        Ok(())
    }
}

/// The columns of a CSV file.
#[derive(Debug)]
pub(super) struct Columns {
    /// Each with whether its names are escaped, as in `file_escaped`.
    fields: Vec<Option<(RecordField, bool)>>,
    /// The header line. It comes again where files were appended, or a file was begun anew.
    header: Vec<u8>,
}

impl Columns {
    /// Reads the header line.
    pub(super) fn of_header(line: &[u8]) -> Result<Columns, Bad> {
        const EXPECTED: &str =
            "a header line with the columns op, size, start (and rank, file, offset, end, call, pid, layer)";
        const MOST: usize = 1024;
        let mut columns = Vec::new();
        fields(line, b',', |text| {
            let plain = text.strip_suffix(b"_escaped").and_then(RecordField::named);
            let escaped = plain.filter(|f| matches!(f, RecordField::File | RecordField::Call)).map(|f| (f, true));
            columns.push(escaped.or_else(|| RecordField::named(&text).map(|f| (f, false))));
            columns.len() < MOST
        })
        .map_err(|_| Bad::new("header", line, EXPECTED))?;
        let all = [RecordField::Op, RecordField::Size, RecordField::Start]
            .iter()
            .all(|f| columns.contains(&Some((*f, false))));
        match all {
            true => Ok(Columns { fields: columns, header: line.to_vec() }),
            false => Err(Bad::new("header", line, EXPECTED)),
        }
    }
}

/// True for a line with two of the three columns that a header must have.
pub(super) fn is_nearly_header(line: &[u8]) -> bool {
    let required = |text: &&[u8]| ["op", "size", "start"].iter().any(|f| text.eq_ignore_ascii_case(f.as_bytes()));
    line.split(|b| *b == b',').map(<[u8]>::trim_ascii).filter(required).count() == 2
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

impl LineLayout for Columns {
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

    #[inline]
    fn is_remark(&self, line: &[u8]) -> bool {
        is_remark(line) || line == self.header
    }
}

/// JSON objects.
pub(super) struct Objects;

impl LineLayout for Objects {
    fn row<'l>(&'l self, line: &'l [u8]) -> Result<Option<RecordFields<'l>>, Bad> {
        let mut row = RecordFields::default();
        object(line, &mut row).map_err(|at| {
            Bad::new("JSON", line.get(at..).unwrap_or_default(), "an object with the keys op, size, start")
        })?;
        Ok(Some(row))
    }
}

impl Objects {
    /// The transfer of an object by itself; `None` if it moves no bytes.
    pub(super) fn transfer(line: &[u8]) -> Result<Option<Interval>, String> {
        let mut lines = Follower::new(Records::followed(Objects), RecordRows::default());
        lines.feed(line)?;
        Ok(lines.next())
    }
}

/// Reads the members of the object in `line`. An error is the place of what is no JSON.
fn object<'l>(line: &'l [u8], row: &mut RecordFields<'l>) -> Result<(), usize> {
    let mut scan = Scan::new(line);
    scan.members(|scan, key| {
        let (first, at) = (scan.peek(), scan.at());
        let text = scan.value()?;
        let field = match RecordField::named(key) {
            None if memchr(b'\\', key).is_some() => RecordField::named(&unescaped(key).ok_or(at)?),
            field => field,
        };
        match (field, first) {
            (None, _) | (_, Some(b'{' | b'[')) => {}
            (Some(field), Some(b'"')) => row.set(field, unescaped(text).ok_or(at)?),
            (Some(field), _) if text != b"null" => row.set(field, Cow::Borrowed(text)),
            _ => {}
        }
        Ok(())
    })?;
    if scan.peek().is_none() { Ok(()) } else { Err(scan.at()) }
}

/// Reads records, which `open` opens at their first line.
///
/// # Errors
/// Malformed if no line can be read; limits; errors of the system; those of the sink.
pub(in super::super) fn read<'s, 'o, L: LineLayout>(
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
    let columns = reading.lines.header(is_remark, Columns::of_header);
    let is_no_header = |e: &Error| e.kind() == ErrorKind::Malformed;
    Ok((reading, columns.map_err(|e| if is_no_header(&e) { e.remedy(NAME_COLUMNS) } else { e })?))
}

/// Remedy for a first line that is no header.
pub(super) const NAME_COLUMNS: &str = "name the columns in the first line";

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

/// Records that are being read.
pub(in super::super) struct Reading<'s, 'o> {
    lines: LineReader<'s>,
    options: &'o ReadOptions,
    format: &'static str,
    rows: RecordRows,
}

impl<'s, 'o> Reading<'s, 'o> {
    pub(in super::super) fn new(source: &'s Source, options: &'o ReadOptions, format: &'static str) -> Result<Self> {
        Ok(Self { lines: LineReader::open(source, options)?, options, format, rows: RecordRows::default() })
    }

    /// The decoder, with the origin that the first lines show.
    fn records<L: LineLayout>(&self, layout: L) -> Records<L> {
        let usable = lines(self.lines.ahead()).filter(|l| !layout.is_remark(l)).take(1000);
        let first = usable.into_iter().find_map(|l| layout.row(l).ok()??.start());
        Records { origin: first.map_or(0, origin_of), all: self.options.detail.all_calls(), layout }
    }

    pub(in super::super) fn whole(mut self, layout: &impl LineLayout) -> Result<Trace> {
        let records = self.records(layout);
        let most = self.options.limits.records;
        while self.lines.share(&records, &mut self.rows)? {
            if self.rows.requests.len() > most {
                return Err(Error::too_many_rows(most));
            }
        }
        let any = !self.rows.requests.is_empty();
        let mut trace = self.finish(records.origin, any)?;
        trace.layers = vec![trace.summarise("requests")];
        Ok(trace)
    }

    /// Gives the records to a sink; `None` if they are of several layers: which one is taken shows at the end.
    fn in_batches(mut self, layout: &impl LineLayout, sink: &dyn RowSink) -> Result<Option<Trace>> {
        let records = self.records(layout);
        let origin_s = records.origin;
        let mut layer = None;
        let mut any = false;
        while self.lines.share(&records, &mut self.rows)? {
            let rows = &mut self.rows;
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
            let requests = Cow::Owned(Data::Requests(requests));
            sink.take(Batch::of(requests, origin_s, (&rows.files, &rows.calls)))?;
        }
        let mut trace = self.finish(origin_s, any)?;
        trace.layer = layer.and_then(|l| usize::from(l).checked_sub(1)).map(|i| LAYERS[i]);
        Ok(Some(trace))
    }

    /// The trace; `any`: whether there was a row.
    fn finish(self, origin: i64, any: bool) -> Result<Trace> {
        let Self { lines, options, format, mut rows } = self;
        let tally = lines.finish();
        if !any && rows.counted == 0 {
            nothing(&tally)?;
        }
        let mut trace = Trace {
            format,
            ranks: rows.ranks.len() as u64,
            origin_s: origin,
            timing: Timing::Request,
            quality: Quality {
                records_read: tally.records,
                records_dropped: tally.bad,
                clamped: rows.clamped,
                ..Quality::default()
            },
            ..Trace::default()
        };
        for (name, count) in rows.call_counts() {
            *trace.call_counts.entry(String::from_utf8_lossy(name).into_owned()).or_default() += count;
        }
        choose_layer(&mut rows, options, &mut trace);
        trace.warnings.extend(tally.warnings("records", None));
        if let Some((line, text)) = tally.first_passed {
            let (n, all) = (tally.passed, tally.passed + tally.records);
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

/// The error of a text without a record, if a line or its damage says why.
fn nothing(tally: &Tally) -> Result<()> {
    if let Some((line, bad)) = &tally.first_bad {
        return Err(bad.clone().at(*line).remedy("no line of this file can be read as a record: check its columns"));
    }
    if let Some(why) = &tally.damage {
        return Err(Error::malformed(Place::Byte(tally.bytes), why).remedy("copy the file again"));
    }
    if let Some((line, text)) = &tally.first_passed {
        return Err(Error::malformed(Place::Line(*line), format!("no pattern matches this line or any other: {text}"))
            .expected("lines that a pattern matches")
            .remedy("try the pattern with `grep -P` on a line of the file"));
    }
    Ok(())
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
