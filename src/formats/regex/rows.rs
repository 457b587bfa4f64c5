//! Lines that a pattern matches, as records.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::custom::{LineLayout, Reading, RecordField, RecordFields, RecordRows, Records, read_records};
use super::super::dates::{DAY, Midnights};
use super::super::lines::{Bad, Follower, LineDecoder, Taken, Transfers, lines};
use super::super::number::{parse_f64, parse_f64_minus};
use super::super::op_name::op_of;
use super::super::options::ReadOptions;
use super::super::source::Source;
use super::super::thresholds::LIMITS;
use super::patterns::{Group, Patterns, RowPattern};
use super::quantity::{self, Kind, Unit};
use crate::error::Result;
use crate::record::{Data, FileId, Interval, Op, Request, Requests, RowSink, Trace, Warning, is_amount, is_time};
use crate::transform::upper_median;

/// Most curves of rates that are followed at one time.
const MOST_CURVES: usize = 1 << 16;
const A_TIME: &str = "seconds, a number that may have a unit such as ms, or a date and a time of day";
const A_SIZE: &str = "bytes, a number that may have a unit such as KiB";
const A_RATE: &str = "bytes per second, a number that may have a unit such as MiB/s";

/// Reads text of which each matching line is a record.
///
/// # Errors
/// Malformed if no line matches, or none that does can be read; limits; errors of the system; those of the sink.
pub(super) fn read(
    patterns: &Patterns,
    source: &Source,
    options: &ReadOptions,
    format: &'static str,
    sink: &dyn RowSink,
) -> Result<Trace> {
    let layout = Lines::new(patterns);
    lines(source.head()).take(1000).for_each(|line| _ = layout.row(line));
    let is_step = layout.has_steps();
    // A row depends on others: all have to be there.
    let mut trace = if is_step || layout.times_of_day.load(Ordering::Relaxed) {
        let mut trace = Reading::new(source, options, format)?.whole(&layout)?;
        if let Data::Requests(rows) = &mut trace.data {
            let mut all: Vec<Request> = rows.iter().collect();
            if layout.times_of_day.load(Ordering::Relaxed) {
                let mut days = Midnights::default();
                all.iter_mut().for_each(|r| on_day(r, &mut days));
            }
            if is_step {
                hold_until_next(&mut all);
            }
            *rows = all.into_iter().collect::<Requests>();
        }
        trace.layers = vec![trace.summarise("requests")];
        trace.give_rows(sink)?
    } else {
        let open = || Ok((Reading::new(source, options, format)?, Lines::new(patterns)));
        read_records(open, sink)?
    };
    warn(patterns.of_rows(), &mut trace);
    Ok(trace)
}

/// Says what the patterns left open.
fn warn(patterns: &[RowPattern], trace: &mut Trace) {
    if patterns.iter().any(|p| !p.has(Group::Op)) {
        let message = "a pattern does not say whether its lines are reads or writes: taken as writes";
        trace.warnings.push(
            Warning::new("direction-unknown", message)
                .remedy("add a group `op`, or a constant `op` to a file of patterns"),
        );
    }
    let counts = &trace.call_counts;
    if !counts.is_empty() && !counts.keys().any(|name| op_of(name.as_bytes()).moves_bytes()) {
        let names: Vec<String> = counts.iter().take(5).map(|(name, n)| format!("{name} {n}")).collect();
        trace.warnings.push(
            Warning::new("no-transfers", format!("no operation is a read or a write: {}", names.join(", ")))
                .remedy("translate their names to read and write in a file of patterns"),
        );
    }
}

impl RowPattern {
    fn has(&self, group: Group) -> bool {
        self.groups.iter().any(|g| g.1 == group) || self.constants.iter().any(|c| c.0 == group)
    }
}

/// The patterns as a layout of lines.
struct Lines {
    patterns: Patterns,
    /// A time was one of day, without a date.
    times_of_day: AtomicBool,
}

impl Lines {
    fn new(patterns: &Patterns) -> Lines {
        Lines { patterns: patterns.clone(), times_of_day: AtomicBool::new(false) }
    }

    fn has_steps(&self) -> bool {
        self.patterns.of_rows().iter().any(|p| p.is_step)
    }
}

impl LineLayout for Lines {
    fn row<'l>(&'l self, line: &'l [u8]) -> Result<Option<RecordFields<'l>>, Bad> {
        for pattern in self.patterns.of_rows() {
            if let Some(captured) = Captured::of(pattern, line) {
                return self.record(pattern, &captured).map(Some);
            }
        }
        Ok(None)
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        line.trim_ascii().is_empty()
    }
}

/// Captures of a pattern in a line: text and unit of each field.
struct Captured<'l>([Option<(&'l [u8], Unit)>; Group::COUNT]);

impl<'l> Captured<'l> {
    fn of(pattern: &'l RowPattern, line: &'l [u8]) -> Option<Self> {
        let found = pattern.regex.captures(line)?;
        let mut texts = [None; Group::COUNT];
        for &(i, group, unit) in &pattern.groups {
            let Some(text) = found.get(i).map(|m| m.as_bytes()) else { continue };
            let other = pattern.translate.get(&group).and_then(|t| t.get(std::str::from_utf8(text).ok()?));
            texts[group as usize] = Some((other.map_or(text, |t| t.as_bytes()), unit));
        }
        for (group, unit, text) in &pattern.constants {
            texts[*group as usize].get_or_insert((text.as_bytes(), *unit));
        }
        Some(Captured(texts))
    }

    fn get(&self, group: Group) -> Option<(&'l [u8], Unit)> {
        self.0[group as usize]
    }

    fn number(&self, group: Group, kind: Kind, expected: &'static str) -> Result<Option<f64>, Bad> {
        let Some((text, unit)) = self.get(group) else { return Ok(None) };
        let x = quantity::number(text, unit, kind).filter(|&x| x >= 0.0);
        x.map(Some).ok_or_else(|| Bad::new(group.name(), text, expected))
    }
}

/// A time as text in seconds, and whether it is one of day.
type Time<'l> = (Cow<'l, [u8]>, bool);
/// Start and end of a record as text in seconds.
type Times<'l> = (Cow<'l, [u8]>, Cow<'l, [u8]>);

impl Lines {
    fn record<'l>(&self, pattern: &RowPattern, captured: &Captured<'l>) -> Result<RecordFields<'l>, Bad> {
        let mut row = RecordFields::default();
        row.set(
            RecordField::Op,
            captured.get(Group::Op).map_or(Cow::Borrowed(&b"write"[..]), |(text, _)| operation(text)),
        );
        for (group, field) in [(Group::Rank, RecordField::Rank), (Group::File, RecordField::File)] {
            if let Some((text, _)) = captured.get(group) {
                row.set(field, Cow::Borrowed(text.trim_ascii()));
            }
        }
        if let Some((text, unit)) = captured.get(Group::Offset) {
            row.set(RecordField::Offset, quantity::size(text, unit).ok_or_else(|| Bad::new("offset", text, A_SIZE))?);
        }
        let rate = captured.number(Group::Rate, Kind::Rate, A_RATE)?;
        let size = match captured.get(Group::Size) {
            Some((text, unit)) => Some(quantity::size(text, unit).ok_or_else(|| Bad::new("size", text, A_SIZE))?),
            None => None,
        };
        let (start, end) = self.times(captured, rate, size.as_deref())?;
        let amount = |rate: f64| if pattern.is_step { rate } else { rate * length_s(&start, &end) };
        let bytes = size.or_else(|| rate.and_then(|r| quantity::whole(amount(r))).map(Cow::Owned));
        row.set(RecordField::Size, bytes.ok_or_else(|| Bad::new("size or rate", b"", "a number"))?);
        row.set(RecordField::Start, start);
        row.set(RecordField::End, end);
        Ok(row)
    }

    fn times<'l>(&self, captured: &Captured<'l>, rate: Option<f64>, size: Option<&[u8]>) -> Result<Times<'l>, Bad> {
        let start = self.time(captured, Group::Start)?;
        let start = if start.is_some() { start } else { self.time(captured, Group::Time)? };
        let end = self.time(captured, Group::End)?;
        let mut lasts = captured.number(Group::Duration, Kind::Seconds, A_TIME)?;
        if let (None, Some(rate), Some(bytes)) = (lasts, rate, size.and_then(parse_f64)) {
            lasts = Some(bytes / rate).filter(|s| s.is_finite());
        }
        let moved = |time: &Cow<'l, [u8]>, seconds: f64| {
            quantity::later(time, seconds).map(Cow::Owned).ok_or_else(|| Bad::new("duration", time, A_TIME))
        };
        Ok(match (start, end, lasts) {
            (Some((start, day)), Some((end, _)), _) => {
                let midnight = day && length_s(&start, &end) < -(LIMITS.midnight_step_s as f64);
                let end = if midnight { moved(&end, DAY as f64)? } else { end };
                (start, end)
            }
            (Some((start, _)), None, Some(s)) => {
                let end = moved(&start, s)?;
                (start, end)
            }
            (None, Some((end, _)), Some(s)) => (moved(&end, -s)?, end),
            (Some((time, _)), None, None) | (None, Some((time, _)), None) => (time.clone(), time),
            (None, None, _) => return Err(Bad::new("start, end or time", b"", A_TIME)),
        })
    }

    /// A time as text in seconds, and whether it is one of day.
    fn time<'l>(&self, captured: &Captured<'l>, group: Group) -> Result<Option<Time<'l>>, Bad> {
        let Some((text, unit)) = captured.get(group) else { return Ok(None) };
        let time = quantity::time(text, unit).ok_or_else(|| Bad::new(group.name(), text, A_TIME))?;
        if time.1 {
            self.times_of_day.store(true, Ordering::Relaxed);
        }
        Ok(Some(time))
    }
}

/// Seconds from one time to another.
fn length_s(start: &[u8], end: &[u8]) -> f64 {
    let origin = parse_f64(start).map_or(0, |s| s.floor() as i64);
    let seconds = |t| parse_f64_minus(t, origin).unwrap_or(0.0);
    seconds(end) - seconds(start)
}

/// The name of an operation: letters as block tracers write them (`R`, `WS`) and past forms as the plain words.
fn operation(text: &[u8]) -> Cow<'_, [u8]> {
    const LETTERS: usize = 3;
    let text = text.trim_ascii();
    if op_of(text) != Op::Other {
        return Cow::Borrowed(text);
    }
    let is_short = text.len() <= LETTERS;
    Cow::Borrowed(match text.first() {
        Some(b'r' | b'R') if is_short => b"read",
        Some(b'w' | b'W') if is_short => b"write",
        _ if text.eq_ignore_ascii_case(b"wrote") || text.eq_ignore_ascii_case(b"written") => b"write",
        _ => text,
    })
}

/// Moves a row whose times are of day to the day that was reached. Rows are in the order of their lines.
fn on_day(r: &mut Request, days: &mut Midnights) {
    (r.start, r.end) = (days.next(r.start), r.end + days.passed_s);
}

/// Rows whose size is a rate become transfers that last until the next row of the same operation, rank and file; the last of them as
/// long as most do.
fn hold_until_next(rows: &mut [Request]) {
    let mut curves: BTreeMap<(Op, u32, u32), Vec<usize>> = BTreeMap::new();
    for (i, r) in rows.iter().enumerate() {
        curves.entry((r.op, r.rank, r.file.0)).or_default().push(i);
    }
    for mut places in curves.into_values() {
        places.sort_by(|&a, &b| rows[a].start.total_cmp(&rows[b].start));
        let mut steps: Vec<f64> = places.windows(2).map(|w| rows[w[1]].start - rows[w[0]].start).collect();
        steps.push(upper_median(&mut steps.clone()).unwrap_or(0.0));
        for (&i, step) in places.iter().zip(steps) {
            let r = &mut rows[i];
            r.end = r.start + step;
            // Saturates where a product is no number of bytes.
            r.size = (r.size as f64 * step).round() as u64;
        }
    }
}

/// Follows text by patterns. Lines that no pattern matches are left out.
pub(super) fn followed(patterns: &Patterns) -> Follower<FollowedLines> {
    let records = Records::followed(Lines::new(patterns));
    let lines = FollowedLines { records, days: Midnights::default(), held: HashMap::new() };
    Follower::new(lines, RecordRows::default())
}

/// Records whose times and lengths depend on those before.
pub(super) struct FollowedLines {
    records: Records<Lines>,
    days: Midnights,
    /// Start and bytes per second of the last row of each curve, by operation, rank and file.
    held: HashMap<(Op, u32, FileId), (f64, f64)>,
}

impl FollowedLines {
    /// The transfer that ends where this rate begins.
    fn step(&mut self, x: Interval) -> Result<Option<Interval>, String> {
        let curve = (x.op, x.rank, x.file);
        if self.held.len() >= MOST_CURVES && !self.held.contains_key(&curve) {
            return Err(format!("a rate of more than {MOST_CURVES} ranks and files"));
        }
        let Some((start, rate)) = self.held.insert(curve, (x.start, x.bytes)) else { return Ok(None) };
        let bytes = rate * (x.start - start);
        Ok((x.start > start).then_some(Interval { start, end: x.start, bytes, ..x }))
    }
}

impl LineDecoder for FollowedLines {
    type Rows = RecordRows;

    fn line(&self, line: &[u8], number: u64, rows: &mut RecordRows) -> Result<Taken, Bad> {
        self.records.line(line, number, rows)
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        self.records.is_remark(line)
    }
}

impl Transfers for FollowedLines {
    fn take(&mut self, rows: &mut RecordRows, transfers: &mut VecDeque<Interval>) -> Result<(), String> {
        let (steps, layout) = (self.records.layout.has_steps(), &self.records.layout);
        let of_day = layout.times_of_day.load(Ordering::Relaxed);
        let mut all: Vec<Request> = rows.requests.iter().collect();
        rows.forget_requests();
        for r in &mut all {
            if of_day {
                on_day(r, &mut self.days);
            }
            let held = Interval::from(*r);
            let complete = if steps { self.step(held)? } else { Some(held) };
            let Some(x) = complete.filter(|_| !rows.files.is_system(r.file)) else { continue };
            if !(is_time(x.start) && is_time(x.end) && is_amount(x.bytes)) {
                return Err("a time or an amount that no row can hold".into());
            }
            transfers.push_back(Interval { rank: 0, file: FileId::NONE, ..x });
        }
        // a curve is known by its file
        if !steps {
            rows.forget_many_names();
        }
        Ok(())
    }
}
