//! A table that grows, a line at a time.

use std::collections::{HashMap, VecDeque};

use super::header;
use super::layout::Layout;
use super::options::SeriesOptions;
use super::presets;
use super::stamp::TimeForm;
use super::table::{Columns, Part, first_time};
use crate::error::{Error, ErrorKind};
use crate::formats::lines::{Followed, TailedLines, is_remark, lines};
use crate::formats::rates::{Counter, Met, Spread, Stamp, ValueKind, median_step, spread};
use crate::formats::thresholds::LIMITS;
use crate::record::{Clock, ClockKind, Interval, is_amount, is_time};

/// Times from which the usual step is taken.
const RECENT: usize = 64;
/// Most nodes and devices.
const MOST_GROUPS: usize = 1 << 16;
/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Follows a table that begins so, once it shows how.
///
/// # Errors
/// Unsupported for other forms of series; malformed if the table cannot be read.
pub(super) fn follow(head: &[u8], options: &SeriesOptions) -> crate::Result<Followed> {
    if let Some(found) = SeriesHead::of(head, options) {
        let table = TailedTable::new(&found).map_err(|what| Error::new(ErrorKind::Malformed, what))?;
        return Ok(Followed::Lines(Box::new(table)));
    }
    match super::form(head) {
        None | Some(super::Form::Table) => Ok(Followed::Later),
        Some(form) => {
            Err(Error::new(ErrorKind::Unsupported, format!("a series that is no table ({form:?}) cannot be followed"))
                .remedy(crate::Remedy::AnalyzeFinished))
        }
    }
}

/// The beginning of a table, enough to read it from its start.
struct SeriesHead {
    /// The lines up to the header, or up to the first row if there is none.
    head: String,
    options: SeriesOptions,
}

impl SeriesHead {
    /// The beginning of `text`; `None` if it is no table of a known tool or of the named columns, or if more has to come.
    fn of(text: &[u8], options: &SeriesOptions) -> Option<SeriesHead> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let whole = &text[..memchr::memrchr(b'\n', text)? + 1];
        let known = options.columns.is_some() || presets::of_lines(whole, super::BEFORE_HEADER).is_some();
        let found = known.then(|| header::find(whole, options).ok()).flatten()?;
        // without a header the first row shows where the columns are
        let end = match found.header.is_empty() {
            true => found.bytes + memchr::memchr(b'\n', &whole[found.bytes..])? + 1,
            false => found.bytes,
        };
        Some(SeriesHead { head: String::from_utf8_lossy(&whole[..end]).into_owned(), options: options.clone() })
    }
}

/// The last value of one column, and times before it.
#[derive(Default)]
struct Last {
    times: VecDeque<f64>,
    value: Option<(f64, f64)>,
    counter: Counter,
}

/// Parses the rows of a table.
struct TailedTable {
    layout: Layout,
    header: Vec<u8>,
    /// Lines before the first row that are no remarks.
    skip: usize,
    options: SeriesOptions,
    /// Whole seconds since the zero of the clock, and that clock; unknown before the first row.
    origin: Option<i64>,
    clock: Clock,
    /// The time of the first row, if it is the zero.
    zero: Option<f64>,
    rows: u64,
    groups: HashMap<Box<[u8]>, Vec<Last>>,
    /// The last time of the day, and days that have passed.
    day: (f64, f64),
    waiting: VecDeque<Interval>,
}

impl TailedTable {
    /// A table that begins so. An error says what is wrong.
    fn new(head: &SeriesHead) -> Result<Self, String> {
        let text = head.head.as_bytes();
        let found = header::find(text, &head.options).map_err(|e| e.to_string())?;
        let skip = lines(&text[..found.bytes]).filter(|l| !is_remark(l)).count();
        let mut layout = found.layout;
        // decimals need no guess: a comma that does not separate fields stands before them
        layout.decimal_comma = layout.separator != super::layout::Separator::Byte(b',');
        Ok(TailedTable {
            layout,
            header: found.header,
            skip,
            options: head.options.clone(),
            origin: None,
            clock: Clock::default(),
            zero: None,
            rows: 0,
            groups: HashMap::new(),
            day: (f64::NEG_INFINITY, 0.0),
            waiting: VecDeque::new(),
        })
    }

    /// Learns the form of the times from the first row.
    fn begin(&mut self, line: &[u8]) -> Option<i64> {
        let mut row = Vec::new();
        let _ = self.layout.separator.fields(line, |f| {
            row.push(f);
            true
        });
        if self.layout.time.is_empty() {
            return Some(0);
        }
        let (form, origin, unix) = first_time(&self.layout, &row, &self.options)?;
        self.layout.form = form;
        let local =
            matches!(form, TimeForm::Date { zoned: false, .. } | TimeForm::TimeOfDay) && !self.layout.zero_at_first;
        self.clock = match (unix, local) {
            (true, _) => Clock::of_stamps(true, false),
            (false, true) => Clock { kind: ClockKind::Midnight, zero_unix_s: None },
            _ => Clock::default(),
        };
        Some(origin)
    }

    /// A time on the clock of the messages.
    fn on_clock(&mut self, time: f64) -> f64 {
        let unix = self.clock.kind == ClockKind::Unix;
        let mut t = if unix { self.origin.unwrap_or(0) as f64 + time } else { time };
        if self.layout.time.is_empty() {
            t = self.rows as f64 * self.options.step_s.unwrap_or(1.0);
        }
        if self.layout.form == TimeForm::TimeOfDay {
            if self.day.0 - t > LIMITS.midnight_step_s as f64 {
                self.day.1 += DAY;
            }
            self.day.0 = t;
            t += self.day.1;
        }
        match self.layout.zero_at_first && !unix {
            true => t - *self.zero.get_or_insert(t),
            false => t,
        }
    }

    /// Takes the values of a row.
    fn row(&mut self, key: Box<[u8]>, rank: u32, time: f64, length: Option<f64>, values: &[f64]) -> Result<(), String> {
        if self.groups.len() >= MOST_GROUPS && !self.groups.contains_key(&key) {
            return Err(format!("a row of more than {MOST_GROUPS} nodes and devices"));
        }
        let time = self.on_clock(time);
        self.rows += 1;
        let (kind, stamp) = (self.layout.kind, self.layout.stamp);
        let columns = self.groups.entry(key).or_default();
        columns.resize_with(values.len(), Last::default);
        let mut beyond = false;
        for ((last, &value), wanted) in columns.iter_mut().zip(values).zip(&self.layout.series) {
            let mut take = |start: f64, end: f64, bytes: f64| {
                if !(is_time(start) && is_time(end) && is_amount(bytes)) {
                    beyond = true;
                    return;
                }
                self.waiting.push_back(Interval { op: wanted.op, rank, start, end, bytes, ..Interval::default() });
            };
            if let Some(length) = length.filter(|_| kind != ValueKind::Cumulative) {
                let amount = if kind == ValueKind::Rate { value * length } else { value };
                if amount > 0.0 && length >= 0.0 {
                    match stamp {
                        Stamp::End => take(time - length, time, amount),
                        Stamp::Start => take(time, time + length, amount),
                    }
                }
                continue;
            }
            if last.times.back().is_some_and(|t| *t >= time) {
                return Err("a row that is not later than the one before".into());
            }
            last.times.push_back(time);
            if last.times.len() > RECENT {
                last.times.pop_front();
            }
            let step = self.options.step_s.or_else(|| median_step(last.times.make_contiguous()));
            let how = Spread { kind, stamp, step_s: step.unwrap_or(1.0) };
            let before = last.times.len().checked_sub(2).and_then(|i| last.times.get(i).copied());
            let pair = match (kind, last.value, before) {
                (ValueKind::Cumulative, _, _) => {
                    if value.is_finite() {
                        let reading = (time, value.max(0.0));
                        last.counter.take(reading, how.step_s, &mut Met::default(), &mut take);
                    }
                    None
                }
                (_, _, None) => None,
                // the step of the value has to be known: that after it, or that before it
                (_, Some((t, v)), Some(before)) if stamp == Stamp::Start && t == before => {
                    Some(([t, time], [v, f64::NAN]))
                }
                (_, _, Some(before)) if stamp == Stamp::End => Some(([before, time], [f64::NAN, value])),
                _ => None,
            };
            if let Some((times, values)) = pair {
                spread(&times, &values, how, &mut take);
            }
            if value.is_finite() {
                last.value = Some((time, value));
            }
        }
        if beyond { Err("a time or an amount that no row can hold".into()) } else { Ok(()) }
    }
}

impl TailedLines for TailedTable {
    fn feed(&mut self, line: &[u8]) -> Result<(), String> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        if line.trim_ascii_end() == self.header || presets::is_note(&self.layout, line) {
            return Ok(());
        }
        if self.origin.is_none() {
            self.origin = self.begin(line);
            if self.layout.first_is_mean && self.origin.is_some() {
                return Ok(());
            }
        }
        let mut part = Part::default();
        let columns = Columns::new(&self.layout, &self.header, 0, self.origin.unwrap_or(0));
        columns.row(line, &mut Vec::new(), &mut part).map_err(|bad| bad.to_string())?;
        for (key, at) in part.keys() {
            let Some(group) = part.groups.get(at) else { continue };
            let values: Vec<f64> = group.columns.iter().filter_map(|c| c.first().copied()).collect();
            let (rank, time) = (group.rank.unwrap_or(0), group.times.first().copied().unwrap_or(0.0));
            self.row(key, rank, time, group.lengths.first().copied(), &values)?;
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Interval> {
        self.waiting.pop_front()
    }

    fn has_more(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn clock(&self) -> Clock {
        self.clock
    }
}
