//! Readings of a source that grows: they become transfers as soon as their step is known.

use std::collections::VecDeque;

use super::sheet::{Group, HourSteps, Meaning, Sheet, stretch};
use super::stacked::Devices;
use super::table::Row;
use crate::formats::dates::Midnights;
use crate::formats::lines::Bad;
use crate::formats::options::ReadOptions;
use crate::formats::rates::{Counter, Met, Spread, Stamp, ValueKind, median_step, spread, sum};
use crate::record::{ClockKind, FileId, Interval, is_amount, is_time};

/// Times from which the usual step is taken.
const RECENT: usize = 64;
/// Most nodes and devices.
const MOST_GROUPS: usize = 1 << 16;

/// The groups of a sheet that grows.
pub(super) struct Growth {
    step_s: Option<f64>,
    every_device: bool,
    groups: Vec<Readings>,
    devices: Devices,
    /// The time of the first row, if it is the zero.
    zero: Option<f64>,
    pub(super) waiting: VecDeque<Interval>,
}

/// State that a group keeps from one row to the next.
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

impl Growth {
    pub(super) fn new(options: &ReadOptions) -> Growth {
        Growth {
            step_s: options.series.step_s,
            every_device: options.series.every_device,
            groups: Vec::new(),
            devices: Devices::default(),
            zero: None,
            waiting: VecDeque::new(),
        }
    }

    /// Takes the row of a group.
    ///
    /// # Errors
    /// If it is not later than the one before, or of one group too many.
    pub(super) fn row(&mut self, sheet: &Sheet, groups: &[Group], at: usize, row: Row) -> Result<(), Bad> {
        if at >= MOST_GROUPS {
            return Err(Bad {
                found: format!("a row of more than {MOST_GROUPS} nodes and devices"),
                expected: "fewer",
            });
        }
        let meaning = &sheet.meanings[groups[at].meaning];
        while self.groups.len() <= at {
            let group = &groups[self.groups.len()];
            sheet.meanings[group.meaning].columns.iter().for_each(|(_, device)| self.devices.see(group, device));
            self.groups.push(Readings::default());
        }
        let time = self.time(sheet, at, &row);
        let readings = &mut self.groups[at];
        readings.rows += 1;
        if meaning.first_is_mean && readings.rows == 1 {
            return Ok(());
        }
        if let Some(length) = row.length {
            for (column, value) in row.values.iter().enumerate() {
                if let Some(moved) = stretch(meaning.kind, meaning.stamp, (time, length), *value) {
                    self.give(sheet, (&groups[at], column), moved);
                }
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
        self.step(sheet, groups, at, false);
        self.groups[at].last = Some((time, row.values));
        Ok(())
    }

    /// Gives all that waits for rows that do not come.
    pub(super) fn end(&mut self, sheet: &Sheet, groups: &[Group]) {
        (0..self.groups.len()).for_each(|at| self.step(sheet, groups, at, true));
    }

    /// The time of a row on the clock of the messages.
    fn time(&mut self, sheet: &Sheet, at: usize, row: &Row) -> f64 {
        let readings = &mut self.groups[at];
        if sheet.untimed {
            return readings.rows as f64 * self.step_s.unwrap_or(1.0);
        }
        let mut t = row.time;
        if sheet.time_of_day {
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
    fn step(&mut self, sheet: &Sheet, groups: &[Group], at: usize, ends: bool) {
        let &Meaning { kind, stamp, .. } = &sheet.meanings[groups[at].meaning];
        let mut moved: Vec<(usize, (f64, f64, f64))> = Vec::new();
        let readings = &mut self.groups[at];
        let last = readings.last.take();
        if let Some((time, _)) = last {
            readings.times.push_back(time);
            if readings.times.len() > RECENT {
                readings.times.pop_front();
            }
        }
        let step_s = self.step_s.or_else(|| median_step(readings.times.make_contiguous())).unwrap_or(1.0);
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
        moved.into_iter().for_each(|(column, moved)| self.give(sheet, (&groups[at], column), moved));
    }

    /// Gives what a column of a group moved, unless other devices count it.
    fn give(&mut self, sheet: &Sheet, (group, column): (&Group, usize), (start, end, bytes): (f64, f64, f64)) {
        let (op, device) = &sheet.meanings[group.meaning].columns[column];
        let counted = self.devices.count(group, (device, *op), bytes, sheet.tool);
        let is_row = is_time(start) && is_time(end) && is_amount(bytes);
        if is_row && (!counted || self.every_device) {
            let rank = group.rank.unwrap_or(0);
            let (op, file) = (*op, FileId::NONE);
            self.waiting.push_back(Interval { op, asynchronous: false, rank, file, bytes, start, end });
        }
    }
}
