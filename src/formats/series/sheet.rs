//! Readings of counters and rates by node and device, and how they become rows.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::layout::TableLayout;
use super::stacked;
use super::stamp::is_unix;
use crate::error::{Error, Result};
use crate::formats::dates::Midnights;
use crate::formats::limits::Limits;
use crate::formats::options::ReadOptions;
use crate::formats::rates::{self, Met, Spread, Stamp, ValueKind};
use crate::formats::thresholds::LIMITS;
use crate::record::{
    BATCH_ROWS, Batch, Clock, ClockKind, Column, Data, FileId, Files, Intervals, LayerSummary, Op, Quality, RowSink,
    Timing, Trace, Warning, is_amount, is_time,
};
use crate::remedy::Remedy;
use crate::transform::upper_median;

/// Seconds of the step of a local clock at the begin and the end of summer time.
const HOUR: f64 = 3600.0;
/// A local clock stepped if times are off by an hour and at most so many seconds, or this share of the interval.
const CLOCK_S: f64 = 2.0;
const CLOCK_SHARE: f64 = 0.1;
/// Most nodes and devices.
const MOST_GROUPS: usize = 1 << 20;
/// Rises that a counter has at least, before its values are said to look like one.
const RISES: usize = 3;

/// Readings of one node and device, with one time for all its columns.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Its key among the groups.
    pub(super) key: Box<[u8]>,
    /// The place of its [`Meaning`].
    pub(super) meaning: usize,
    pub(super) rank: Option<u32>,
    pub(super) host: String,
    pub(super) device: String,
    /// Seconds since the origin, in the order of the input.
    pub(super) times: Vec<f64>,
    /// How long each row lasts; none if that is up to its neighbours.
    pub(super) lengths: Vec<f64>,
    /// Values in bytes, NaN where there is none.
    pub(super) columns: Vec<Vec<f64>>,
    /// The step of the readings, if only those are kept that differ.
    pub(super) step_s: Option<f64>,
}

impl Group {
    pub(super) fn new(meaning: usize, rank: Option<u32>, host: String, device: String) -> Group {
        Group { meaning, rank, host, device, ..Group::default() }
    }

    /// Adds later rows.
    pub(super) fn append(&mut self, other: Group) {
        self.times.extend_from_slice(&other.times);
        self.lengths.extend_from_slice(&other.lengths);
        self.columns.resize_with(self.columns.len().max(other.columns.len()), Vec::new);
        for (mine, more) in self.columns.iter_mut().zip(&other.columns) {
            mine.extend_from_slice(more);
        }
    }

    /// Takes the first row away.
    pub(super) fn leave_out_first(&mut self) {
        let remove = |v: &mut Vec<f64>| _ = v.drain(..v.len().min(1));
        remove(&mut self.times);
        remove(&mut self.lengths);
        self.columns.iter_mut().for_each(remove);
    }

    /// Adds a row.
    pub(super) fn push(&mut self, time: f64, values: &[f64]) {
        self.times.push(time);
        self.columns.resize_with(values.len(), Vec::new);
        for (column, v) in self.columns.iter_mut().zip(values) {
            column.push(*v);
        }
    }
}

/// Meaning of the columns of groups.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meaning {
    /// Reads or writes, and the device if the column names one.
    pub(super) columns: Vec<(Op, String)>,
    pub(super) kind: ValueKind,
    pub(super) stamp: Stamp,
    /// The first row is the mean since the machine started.
    pub(super) first_is_mean: bool,
}

impl Meaning {
    /// Columns of bytes that devices read and wrote, up to each time.
    pub(super) fn read_and_written(kind: ValueKind) -> Meaning {
        let columns = vec![(Op::Read, String::new()), (Op::Write, String::new())];
        Meaning { columns, kind, stamp: Stamp::End, first_is_mean: false }
    }
}

/// All readings of a file.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// The tool that wrote them; empty if it is not known.
    pub(super) tool: &'static str,
    pub(super) meanings: Vec<Meaning>,
    pub(super) groups: Vec<Group>,
    /// Places of groups by what names them, and the number of values so far.
    pub(super) places: HashMap<String, usize>,
    pub(super) values: usize,
    /// A first time has set the origin.
    pub(super) dated: bool,
    /// Whole seconds that the times count from, and whether that is Unix time.
    pub(super) origin: i64,
    pub(super) unix: bool,
    /// Times are of the day or of a zone that is not known.
    pub(super) local: bool,
    /// Times are of a day: midnight passes.
    pub(super) time_of_day: bool,
    /// Rows have no times: they are a step apart.
    pub(super) untimed: bool,
    /// The first row is the zero of the clock.
    pub(super) zero_at_first: bool,
    /// Rows are phases with a length of their own.
    pub(super) phases: bool,
    pub(super) direction_unknown: bool,
    pub(super) kind_unknown: bool,
    pub(super) quality: Quality,
    pub(super) warnings: Vec<Warning>,
}

/// One column of a group on its way to rows.
struct Series<'s> {
    group: &'s Group,
    values: &'s [f64],
    op: Op,
    rank: u32,
    file: FileId,
    kind: ValueKind,
    stamp: Stamp,
    step_s: f64,
}

impl Series<'_> {
    /// Gives every stretch that moves something and that a row can hold.
    fn each(&self, mut each: impl FnMut(f64, f64, f64)) -> Met {
        let mut beyond = 0;
        let mut met = self.stretches(|start, end, bytes| {
            if is_time(start) && is_time(end) && is_amount(bytes) {
                each(start, end, bytes);
            } else {
                beyond += 1;
            }
        });
        met.missing += beyond;
        met
    }

    fn stretches(&self, mut each: impl FnMut(f64, f64, f64)) -> Met {
        let g = self.group;
        let how = Spread { kind: self.kind, stamp: self.stamp, step_s: self.step_s };
        if g.lengths.is_empty() {
            // readings without change were left out: a distance is no gap
            let how = if g.step_s.is_some() { Spread { step_s: f64::INFINITY, ..how } } else { how };
            return rates::spread(&g.times, self.values, how, each);
        }
        let mut met = Met::default();
        for ((&time, &length), &value) in g.times.iter().zip(&g.lengths).zip(self.values) {
            if !value.is_finite() || !is_time(length) {
                met.missing += 1;
                continue;
            }
            met.clamped += u64::from(value < 0.0 || length < 0.0);
            if let Some((start, end, amount)) = stretch(self.kind, self.stamp, (time, length), value) {
                each(start, end, amount);
            }
        }
        met
    }

    /// All rows at once.
    fn rows(&self) -> (Intervals, Met) {
        let (mut bytes, mut start, mut end) = (Vec::new(), Vec::new(), Vec::new());
        let met = self.each(|a, b, n| {
            start.push(a);
            end.push(b);
            bytes.push(n);
        });
        (self.intervals(bytes, start, end), met)
    }

    fn intervals(&self, bytes: Vec<f64>, start: Vec<f64>, end: Vec<f64>) -> Intervals {
        let n = bytes.len();
        Intervals {
            op: Column::constant(self.op, n),
            asynchronous: Column::constant(false, n),
            rank: Column::constant(self.rank, n),
            file: Column::constant(self.file, n),
            bytes,
            start,
            end,
        }
    }
}

/// Start, end and amount of a value that lasts so long from this time on, or up to it; `None` if it is none or nothing moved.
pub(super) fn stretch(
    kind: ValueKind,
    stamp: Stamp,
    (time, length): (f64, f64),
    value: f64,
) -> Option<(f64, f64, f64)> {
    let (value, length) = (value.max(0.0), length.max(0.0));
    let amount = if kind == ValueKind::Rate { value * length } else { value };
    (amount > 0.0).then_some(match stamp {
        Stamp::End => (time - length, time, amount),
        Stamp::Start => (time, time + length, amount),
    })
}

/// The error of more than a sheet may hold.
pub(super) fn check(groups: usize, values: usize, limits: &Limits) -> Result<()> {
    match (groups > MOST_GROUPS, values > limits.records) {
        (true, _) => Err(Error::limit("more nodes and devices", MOST_GROUPS)),
        (_, true) => Err(Error::too_many_rows(limits.records)),
        _ => Ok(()),
    }
}

impl Sheet {
    /// Of a tool that says what devices read and wrote.
    pub(super) fn of_devices(tool: &'static str, kind: ValueKind) -> Sheet {
        Sheet { tool, meanings: vec![Meaning::read_and_written(kind)], ..Sheet::default() }
    }

    /// The error of more than it may hold.
    pub(super) fn check(&self, limits: &Limits) -> Result<()> {
        check(self.groups.len(), self.values, limits)
    }

    /// The place of the group of this name, which `new` makes if there is none.
    pub(super) fn place(&mut self, name: String, new: impl FnOnce() -> Group) -> usize {
        let at = *self.places.entry(name).or_insert(self.groups.len());
        if at == self.groups.len() {
            self.groups.push(new());
        }
        at
    }

    /// The place of the group of a device.
    pub(super) fn device(&mut self, host: &str, device: &str) -> usize {
        self.place(format!("{host}\0{device}"), || Group::new(0, None, host.to_owned(), device.to_owned()))
    }

    /// Counts times from the first, in whole seconds, if that is Unix time.
    pub(super) fn begin_at(&mut self, seconds: f64) {
        if !std::mem::replace(&mut self.dated, true) && is_unix(seconds) {
            (self.origin, self.unix) = (seconds.floor() as i64, true);
        }
    }

    /// Notes what the columns of a table are.
    pub(super) fn add_layout(&mut self, layout: &TableLayout) {
        self.meanings.push(Meaning {
            columns: layout.series.iter().map(|w| (w.op, w.device.clone())).collect(),
            kind: layout.kind,
            stamp: layout.stamp,
            first_is_mean: layout.first_is_mean,
        });
    }

    /// Gives the rows to a sink and returns the trace without them.
    ///
    /// # Errors
    /// Those of the sink.
    pub(super) fn give(mut self, options: &ReadOptions, format: &'static str, sink: &dyn RowSink) -> Result<Trace> {
        let named_s = options.series.step();
        let prepared: Vec<Prepared> = {
            let (untimed, of_day, local) = (self.untimed, self.time_of_day, self.local);
            let step = untimed.then_some(named_s.unwrap_or(1.0));
            self.groups.par_iter_mut().map(|g| prepare(g, step, of_day, local)).collect()
        };
        let merged = prepared.iter().map(|p| p.merged).sum::<u64>();
        self.quality.clock_backwards += prepared.iter().map(|p| p.backwards).sum::<u64>();
        let clock_steps = prepared.iter().map(|p| p.clock_steps).max().unwrap_or(0);
        if self.untimed && named_s.is_none() && !self.groups.is_empty() {
            let what = "no column of times is named: rows are taken as 1 s apart";
            self.warnings.push(Warning::new("assumed-step", what).remedy("name the column of the time, or the step"));
        }
        let steps: Vec<Option<f64>> = self.groups.par_iter().map(usual_step).collect();
        let longest = steps.iter().flatten().copied().reduce(f64::max);
        let usual_s = named_s.or(longest);
        self.set_zero();
        let (ranks, hosts) = self.ranks();
        let mut files = Files::default();
        let stacked = stacked::find(&self.groups, &self.meanings, self.tool);
        let left_out = if options.series.every_device { &[][..] } else { &stacked.left_out };
        let series = self.series(&ranks, &mut files, left_out, |g| steps[g].or(usual_s).unwrap_or(1.0));
        let counted = series.par_iter().filter(|s| self.kind_unknown && looks_like_counter(s)).count();
        let mut trace = Trace {
            format,
            ranks: ranks.iter().collect::<BTreeSet<_>>().len() as u64,
            hosts,
            clock: self.clock(),
            origin_s: if self.unix { self.origin } else { 0 },
            timing: if self.phases { Timing::Phase } else { Timing::Counter },
            bin_s: usual_s.or((!self.groups.is_empty()).then_some(1.0)).filter(|_| !self.phases),
            ..Trace::default()
        };
        trace.header.version = (!self.tool.is_empty()).then(|| self.tool.to_owned());
        trace.files = files;
        let met = give_rows(&series, &mut trace, options, sink)?;
        drop(series);
        trace.quality = self.quality.clone();
        trace.quality.clamped += met.clamped;
        trace.warnings = std::mem::take(&mut self.warnings);
        trace.warnings.extend(self.notes(met, merged, counted, trace.bin_s));
        trace.warnings.extend((clock_steps > 0).then(|| {
            let what = "the local clock stepped by an hour, as at the begin and the end of summer time: later times were moved back by it";
            Warning::new("clock-hour-step", format!("{} {what}", crate::units::counted(clock_steps, "time")))
                .remedy("record the times in UTC")
        }));
        trace.warnings.extend(stacked.warning(options.series.every_device));
        Ok(trace)
    }

    /// The columns of all groups.
    fn series<'s>(
        &'s self,
        ranks: &[u32],
        files: &mut Files,
        left_out: &[(usize, usize)],
        step_s: impl Fn(usize) -> f64,
    ) -> Vec<Series<'s>> {
        let mut all = Vec::new();
        for (i, group) in self.groups.iter().enumerate() {
            let Some(meaning) = self.meanings.get(group.meaning) else { continue };
            for (c, ((op, device), values)) in meaning.columns.iter().zip(&group.columns).enumerate() {
                if left_out.binary_search(&(i, c)).is_ok() {
                    continue;
                }
                let name = match (group.device.as_str(), device.as_str()) {
                    ("", name) | (name, "") => Cow::Borrowed(name),
                    (a, b) => Cow::Owned(format!("{a} {b}")),
                };
                let file = if name.is_empty() { FileId::NONE } else { files.intern(&name) };
                let (kind, stamp) = (meaning.kind, meaning.stamp);
                all.push(Series { group, values, op: *op, rank: ranks[i], file, kind, stamp, step_s: step_s(i) });
            }
        }
        all
    }

    /// Moves the zero of a clock of its own to the first row.
    fn set_zero(&mut self) {
        if !self.zero_at_first {
            return;
        }
        let first = self.groups.iter().flat_map(|g| &g.times).copied().fold(f64::INFINITY, f64::min);
        if first.is_finite() {
            self.groups.iter_mut().flat_map(|g| &mut g.times).for_each(|t| *t -= first);
        }
    }

    pub(super) fn clock(&self) -> Clock {
        match (self.unix, self.local && !self.zero_at_first) {
            (true, _) => Clock::of_stamps(true, false),
            (false, true) => Clock { kind: ClockKind::Midnight, zero_unix_s: None },
            _ => Clock::default(),
        }
    }

    /// The rank of each group, and the hosts of ranks: nodes are numbered as they come where there are no ranks.
    fn ranks(&self) -> (Vec<u32>, std::collections::BTreeMap<u32, Arc<str>>) {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut hosts = std::collections::BTreeMap::new();
        let mut ranks = Vec::new();
        for g in &self.groups {
            let next = numbers.len() as u32;
            let rank = match (g.rank, g.host.as_str()) {
                (Some(rank), _) => rank,
                (None, "") => 0,
                (None, host) => *numbers.entry(host).or_insert(next),
            };
            if !g.host.is_empty() {
                hosts.entry(rank).or_insert_with(|| Arc::from(g.host.as_str()));
            }
            ranks.push(rank);
        }
        (ranks, hosts)
    }

    /// Warnings about the readings.
    fn notes(&self, met: Met, merged: u64, alike: usize, step_s: Option<f64>) -> Vec<Warning> {
        let mut notes: Vec<Warning> = met.falls().collect();
        let mut note = |there: bool, code: &str, text: String| {
            if there {
                notes.push(Warning::new(code, text));
            }
        };
        let step = step_s.unwrap_or(1.0);
        let counters = self.meanings.iter().all(|m| m.kind == ValueKind::Cumulative);
        note(
            counters && !self.groups.is_empty() && self.groups.iter().all(|g| g.times.len() < 2),
            "one-reading",
            "the counters have one reading, their sums since they began: rates need a second reading".into(),
        );
        note(
            met.missing > 0,
            "missing-values",
            format!("{} readings have no value; they are not taken as 0", met.missing),
        );
        let usual = LIMITS.gap_steps;
        let longest = crate::units::seconds(met.longest_gap_s);
        note(
            met.gaps > 0,
            "gaps",
            format!(
                "{} times more than {usual} steps of {step:.6} s lie between two readings, the longest {longest}",
                met.gaps
            ),
        );
        note(
            merged > 0,
            "equal-times",
            format!("{merged} rows have the time of another row of their node and device; their values were added up"),
        );
        let mut advise = |there: bool, code: &str, text: &str, remedy: Remedy| {
            if there {
                notes.push(Warning::new(code, text).remedy(remedy));
            }
        };
        advise(
            self.direction_unknown,
            "direction-unknown",
            "nothing says whether the values are reads or writes: taken as writes",
            Remedy::NameDirection,
        );
        advise(
            alike > 0,
            "looks-cumulative",
            "values never fall, as those of a counter; they are taken as rates",
            Remedy::NameKind,
        );
        notes
    }
}

/// Changes that [`prepare`] made.
struct Prepared {
    /// Rows out of order, and rows added to others.
    backwards: u64,
    merged: u64,
    /// Steps of a local clock that were taken out.
    clock_steps: u64,
}

/// Brings the times of a group into order; `untimed_s` is the step of rows without time.
fn prepare(g: &mut Group, untimed_s: Option<f64>, time_of_day: bool, local: bool) -> Prepared {
    if let Some(step) = untimed_s {
        g.times.iter_mut().enumerate().for_each(|(i, t)| *t = i as f64 * step);
    }
    if time_of_day {
        let mut midnights = Midnights::default();
        g.times.iter_mut().for_each(|t| *t = midnights.next(*t));
    }
    let clock_steps = if local { without_clock_steps(g) } else { 0 };
    let (backwards, merged) = match g.lengths.is_empty() {
        true => rates::in_order(&mut g.times, &mut g.columns),
        false => (g.times.windows(2).filter(|w| w[1] < w[0]).count() as u64, 0),
    };
    Prepared { backwards, merged, clock_steps }
}

/// Takes the steps of an hour out of the times of a local clock: those that the intervals of the rows show, and where the rows have none, the
/// one step back among rows that otherwise go forward. Gives their number.
fn without_clock_steps(g: &mut Group) -> u64 {
    let backwards = g.times.windows(2).filter(|w| w[1] < w[0]).count();
    let usual = match g.lengths.is_empty() {
        true if backwards != 1 => return 0,
        true => rates::median_step(&g.times).unwrap_or(f64::NAN),
        false => f64::NAN,
    };
    let mut clock = HourSteps::default();
    let mut count = 0;
    for (i, t) in g.times.iter_mut().enumerate() {
        let length = g.lengths.get(i).copied();
        let (on_clock, stepped) = clock.next(*t, length.unwrap_or(usual), length.is_some());
        *t = on_clock;
        count += u64::from(stepped);
    }
    count
}

/// Times of a local clock that may step by an hour.
#[derive(Default)]
pub(super) struct HourSteps {
    last: Option<f64>,
    moved: f64,
}

impl HourSteps {
    /// A time without the steps so far, and whether there is one before it. The row lasts `length_s`, NaN if that is not known; only if
    /// that is `stated` it shows a step forward.
    pub(super) fn next(&mut self, t: f64, length_s: f64, stated: bool) -> (f64, bool) {
        let off = self.last.replace(t).map_or(0.0, |before| t - before - length_s);
        let steps =
            (off.abs() - HOUR).abs() <= CLOCK_S.max(CLOCK_SHARE * length_s) && (off < 0.0 || off > 0.0 && stated);
        if steps {
            self.moved -= HOUR.copysign(off);
        }
        (t + self.moved, steps)
    }
}

/// The warning of a first row or block that is no reading, and why that is known.
pub(super) fn since_start(what: &str, why: &str) -> Warning {
    let what = format!("the first {what} is the mean since the machine started, and was left out: {why}");
    Warning::new("since-start", what)
}

/// The usual step of a group.
fn usual_step(g: &Group) -> Option<f64> {
    if g.step_s.is_some() {
        return g.step_s;
    }
    if g.lengths.is_empty() {
        return rates::median_step(&g.times);
    }
    let mut lengths: Vec<f64> = g.lengths.iter().copied().filter(|l| l.is_finite() && *l > 0.0).collect();
    upper_median(&mut lengths)
}

/// True if values that nobody calls a counter never fall and rise again and again.
fn looks_like_counter(s: &Series) -> bool {
    s.kind == ValueKind::Rate
        && s.group.lengths.is_empty()
        && s.values.windows(2).filter(|w| w[1] > w[0]).take(RISES).count() == RISES
        && !s.values.windows(2).any(|w| w[1] < w[0])
}

/// Gives the rows of all series to a sink, and the totals to the trace.
fn give_rows(series: &[Series], trace: &mut Trace, options: &ReadOptions, sink: &dyn RowSink) -> Result<Met> {
    let mut met = Met::default();
    let mut summary = LayerSummary::of("series", &Data::Intervals(Intervals::default()), 0);
    let (origin, most) = (trace.origin_s, options.limits.records);
    let mut given = 0;
    let mut take = |rows: Intervals| {
        given += rows.len();
        if given > most {
            return Err(Error::too_many_rows(most));
        }
        let rows = Data::Intervals(rows);
        summary.add(&LayerSummary::of("series", &rows, origin));
        if rows.is_empty() {
            return Ok(());
        }
        sink.take(Batch { rows: Cow::Owned(rows), ..trace.as_batch() })
    };
    if sink.keeps_rows() {
        let all: Vec<(Intervals, Met)> = series.par_iter().map(Series::rows).collect();
        for (rows, m) in all {
            met.add(m);
            take(rows)?;
        }
    } else {
        for s in series {
            let mut failed = None;
            let (mut bytes, mut start, mut end) = (Vec::new(), Vec::new(), Vec::new());
            let m = s.each(|a, b, n| {
                start.push(a);
                end.push(b);
                bytes.push(n);
                if bytes.len() == BATCH_ROWS && failed.is_none() {
                    let full = [&mut bytes, &mut start, &mut end].map(std::mem::take);
                    let [bytes, start, end] = full;
                    failed = take(s.intervals(bytes, start, end)).err();
                }
            });
            failed.map_or(Ok(()), Err)?;
            met.add(m);
            take(s.intervals(bytes, start, end))?;
        }
    }
    trace.layers = vec![summary];
    Ok(met)
}
