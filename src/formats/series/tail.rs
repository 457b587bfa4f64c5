//! A table that grows: its rows are read as those of a finished one, and become transfers as soon as their step is known.

use std::collections::VecDeque;

use super::header::{self, Found};
use super::presets;
use super::sheet::{HourSteps, Midnights, stretch};
use super::stacked::Devices;
use super::stamp::TimeForm;
use super::table::{LOOK, Row, Tables};
use crate::error::{Error, ErrorKind};
use crate::formats::lines::{Bad, Followed, Follower, LineDecoder, Taken, Transfers, is_remark, lines};
use crate::formats::options::ReadOptions;
use crate::formats::rates::{Counter, Met, Spread, Stamp, ValueKind, median_step, spread, sum};
use crate::record::{Clock, ClockKind, FileId, Interval, is_amount, is_time};

/// Times from which the usual step is taken.
const RECENT: usize = 64;
/// Most nodes and devices.
const MOST_GROUPS: usize = 1 << 16;

/// Follows a table that begins so, once it shows how.
///
/// # Errors
/// Unsupported for other forms of series.
pub(super) fn follow(head: &[u8], options: &ReadOptions) -> crate::Result<Followed> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let whole = &text[..memchr::memrchr(b'\n', text).map_or(0, |n| n + 1)];
    let known = options.series.columns.is_some() || presets::of_lines(whole, super::BEFORE_HEADER).is_some();
    if let Some(found) = known.then(|| header::find(whole, &options.series).ok()).flatten() {
        return Ok(Followed::Lines(Box::new(Follower::new(GrowingTable, Rows::of(found, whole, options)))));
    }
    match super::form(head) {
        None | Some(super::Form::Table) => Ok(Followed::Later),
        Some(form) => {
            Err(Error::new(ErrorKind::Unsupported, format!("a series that is no table ({form:?}) cannot be followed"))
                .remedy(crate::Remedy::AnalyzeFinished))
        }
    }
}

struct GrowingTable;

/// The state of one growing table.
struct Rows {
    options: ReadOptions,
    /// The lines up to the first row, and how many of them are no remarks.
    head: Vec<u8>,
    before: u64,
    /// The first rows, until they show what the columns hold.
    held: Vec<u8>,
    tables: Option<Tables>,
    groups: Vec<Readings>,
    devices: Devices,
    /// The time of the first row, if it is the zero.
    zero: Option<f64>,
    waiting: VecDeque<Interval>,
}

/// What a group has left to its next row.
#[derive(Default)]
struct Readings {
    rows: u64,
    midnights: Midnights,
    steps: HourSteps,
    stepped: bool,
    times: VecDeque<f64>,
    counters: Vec<Counter>,
    /// The last row: others of its time may follow.
    last: Option<(f64, Vec<f64>)>,
    /// The row before it, and whether its values wait for the step after them.
    before: Option<(f64, Vec<f64>, bool)>,
}

impl LineDecoder for GrowingTable {
    type Rows = Rows;

    fn line(&self, line: &[u8], number: u64, rows: &mut Rows) -> Result<Taken, Bad> {
        if number <= rows.before {
            return Ok(Taken::Nothing);
        }
        match rows.tables {
            Some(_) => rows.line(line),
            None => rows.hold(line),
        }
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        is_remark(line) && presets::of_header(b"", line.trim_ascii_end()).is_none()
    }
}

impl Transfers for GrowingTable {
    fn take(&mut self, rows: &mut Rows, transfers: &mut VecDeque<Interval>) -> Result<(), String> {
        transfers.append(&mut rows.waiting);
        Ok(())
    }

    fn clock(&self, rows: &Rows) -> Clock {
        rows.tables.as_ref().map_or_else(Clock::default, |t| t.sheet.clock())
    }

    fn end(&mut self, rows: &mut Rows) {
        if rows.tables.is_none() && !rows.held.is_empty() {
            // an error was one of its lines
            let _ = rows.begin();
        }
        for at in 0..rows.groups.len() {
            rows.step(at, true);
        }
    }
}

impl Rows {
    fn of(found: Found, text: &[u8], options: &ReadOptions) -> Rows {
        let head = text[..found.bytes].to_vec();
        let before = lines(&head).filter(|l| !GrowingTable.is_remark(l)).count() as u64;
        Rows {
            options: options.clone(),
            head,
            before,
            held: Vec::new(),
            tables: None,
            groups: Vec::new(),
            devices: Devices::default(),
            zero: None,
            waiting: VecDeque::new(),
        }
    }

    /// Keeps a row until enough have come.
    fn hold(&mut self, line: &[u8]) -> Result<Taken, Bad> {
        self.held.extend_from_slice(line);
        self.held.push(b'\n');
        let found = self.found()?;
        match found.are_enough(&self.held, &self.options) || lines(&self.held).count() >= LOOK {
            true => self.begin(),
            false => Ok(Taken::Nothing),
        }
    }

    fn found(&self) -> Result<Found, Bad> {
        header::find(&[&self.head[..], &self.held].concat(), &self.options.series).map_err(|e| said(&e))
    }

    /// Learns from the first rows what the columns hold, and reads them.
    fn begin(&mut self) -> Result<Taken, Bad> {
        let found = self.found();
        // what cannot be read is not tried again
        let held = std::mem::take(&mut self.held);
        let mut tables = Tables::new(found?, &held, &self.options).map_err(|e| said(&e))?;
        tables.expect_decimals();
        self.tables = Some(tables);
        let mut all = Ok(Taken::Nothing);
        for line in lines(&held) {
            let taken = self.line(line);
            all = all.and(taken);
        }
        all
    }

    fn line(&mut self, line: &[u8]) -> Result<Taken, Bad> {
        let Some(tables) = &mut self.tables else { return Ok(Taken::Nothing) };
        if tables.columns().is_changed_by(line) {
            return tables.change(line, &self.options).map(|()| Taken::Nothing).map_err(|e| said(&e));
        }
        let taken = tables.line(line)?;
        match tables.part.take_last() {
            Some((at, row)) => self.row(at, row).map(|()| taken),
            None => Ok(taken),
        }
    }

    /// Takes the row of a group.
    fn row(&mut self, at: usize, row: Row) -> Result<(), Bad> {
        if at >= MOST_GROUPS {
            return Err(Bad {
                found: format!("a row of more than {MOST_GROUPS} nodes and devices"),
                expected: "fewer",
            });
        }
        if self.groups.len() <= at {
            self.groups.resize_with(at + 1, Readings::default);
            if let Some(tables) = &self.tables {
                let group = &tables.part.groups[at];
                tables.layout_of(at).series.iter().for_each(|w| self.devices.see(group, &w.device));
            }
        }
        let time = self.time(at, &row);
        let Some(tables) = &self.tables else { return Ok(()) };
        let layout = tables.layout_of(at);
        let readings = &mut self.groups[at];
        readings.rows += 1;
        if layout.first_is_mean && readings.rows == 1 {
            return Ok(());
        }
        if let Some(length) = row.length {
            let (kind, stamp) = (layout.kind, layout.stamp);
            let stretches: Vec<_> = row.values.iter().map(|v| stretch(kind, stamp, (time, length), *v)).collect();
            for (column, moved) in stretches.into_iter().enumerate().filter_map(|(c, s)| Some((c, s?))) {
                self.give(at, column, moved);
            }
            return Ok(());
        }
        match &mut readings.last {
            Some((last, values)) if *last == time => {
                values.iter_mut().zip(&row.values).for_each(|(a, b)| *a = sum(*a, *b));
                return Ok(());
            }
            Some((last, _)) if *last > time => {
                let found = "a row that is not later than the one before".to_owned();
                return Err(Bad { found, expected: "rows in the order of their times" });
            }
            _ => {}
        }
        self.step(at, false);
        self.groups[at].last = Some((time, row.values));
        Ok(())
    }

    /// The time of a row on the clock of the messages.
    fn time(&mut self, at: usize, row: &Row) -> f64 {
        let Some(tables) = &self.tables else { return row.time };
        let (layout, sheet, readings) = (tables.layout_of(at), &tables.sheet, &mut self.groups[at]);
        if sheet.untimed {
            return readings.rows as f64 * self.options.series.step_s.unwrap_or(1.0);
        }
        let mut t = row.time;
        if layout.form == TimeForm::TimeOfDay {
            t = readings.midnights.next(t);
        }
        if sheet.local {
            // without lengths only one step back is one of the clock
            let usual = median_step(readings.times.make_contiguous()).filter(|_| !readings.stepped);
            let length = row.length.or(usual).unwrap_or(f64::NAN);
            let (on_clock, stepped) = readings.steps.next(t, length, row.length.is_some());
            t = on_clock;
            readings.stepped |= stepped;
        }
        match (sheet.clock().kind == ClockKind::Unix, sheet.zero_at_first) {
            (true, _) => sheet.origin as f64 + t,
            (false, true) => t - *self.zero.get_or_insert(t),
            _ => t,
        }
    }

    /// Gives what the last row of a group moved, as far as its step is known; all of it if nothing `ends`.
    fn step(&mut self, at: usize, ends: bool) {
        let Some(tables) = &self.tables else { return };
        let (kind, stamp) = (tables.layout_of(at).kind, tables.layout_of(at).stamp);
        let mut moved: Vec<(usize, (f64, f64, f64))> = Vec::new();
        let readings = &mut self.groups[at];
        let last = readings.last.take();
        if let Some((time, _)) = last {
            readings.times.push_back(time);
            if readings.times.len() > RECENT {
                readings.times.pop_front();
            }
        }
        let named_s = self.options.series.step_s;
        let step_s = named_s.or_else(|| median_step(readings.times.make_contiguous())).unwrap_or(1.0);
        let how = Spread { kind, stamp, step_s };
        if kind == ValueKind::Cumulative {
            let width = last.as_ref().map_or(readings.counters.len(), |l| l.1.len());
            readings.counters.resize_with(width, Counter::default);
            for (c, counter) in readings.counters.iter_mut().enumerate() {
                let mut take = |start, end, bytes| moved.push((c, (start, end, bytes)));
                if let Some((time, value)) = last.as_ref().map(|(t, v)| (*t, v[c])).filter(|(_, v)| v.is_finite()) {
                    counter.take((time, value.max(0.0)), step_s, &mut Met::default(), &mut take);
                }
                if ends {
                    counter.finish(step_s, &mut Met::default(), &mut take);
                }
            }
        } else {
            let mut give = |times: &[f64], values: &[&[f64]], of: usize| {
                for c in 0..values[of].len() {
                    let column: Vec<f64> =
                        (0..values.len()).map(|i| if i == of { values[i][c] } else { f64::NAN }).collect();
                    spread(times, &column, how, |start, end, bytes| moved.push((c, (start, end, bytes))));
                }
            };
            if let Some((time, values)) = last {
                let is_first = readings.before.is_none();
                if let Some((before, old, waits)) = readings.before.take() {
                    match (stamp, waits) {
                        (Stamp::Start, true) => give(&[before, time], &[&old, &values], 0),
                        (Stamp::End, true) => give(&[before], &[&old], 0),
                        _ => {}
                    }
                    if stamp == Stamp::End {
                        give(&[before, time], &[&old, &values], 1);
                    }
                }
                // the first has no step before it, and the last none after it
                readings.before = Some((time, values, is_first || stamp == Stamp::Start));
            }
            if let Some((before, old, waits)) = readings.before.as_mut().filter(|b| ends && b.2) {
                give(&[*before], &[old], 0);
                *waits = false;
            }
        }
        moved.into_iter().for_each(|(column, moved)| self.give(at, column, moved));
    }

    /// Gives what a column of a group moved, unless other devices count it.
    fn give(&mut self, at: usize, column: usize, (start, end, bytes): (f64, f64, f64)) {
        let Some(tables) = &self.tables else { return };
        let (group, wanted) = (&tables.part.groups[at], &tables.layout_of(at).series[column]);
        let counted = self.devices.count(group, (&wanted.device, wanted.op), bytes, tables.sheet.tool);
        let is_row = is_time(start) && is_time(end) && is_amount(bytes);
        if is_row && (!counted || self.options.series.every_device) {
            let rank = group.rank.unwrap_or(0);
            let (op, file) = (wanted.op, FileId::NONE);
            self.waiting.push_back(Interval { op, asynchronous: false, rank, file, bytes, start, end });
        }
    }
}

/// An error of the reader of whole files as that of a line.
fn said(e: &Error) -> Bad {
    Bad { found: e.to_string(), expected: "a table that can be read" }
}
