//! Traces of Metric Proxy v2: counters and levels of a job and its nodes, sampled at the ticks of the proxy.
//!
//! Three forms: the JSON export of a job (`{"infos": …, "metrics": {name: [[t, v], …]}}`, times since the first sample of all metrics),
//! the JSON of one metric (`[[t, v], …]`, times since 1970), and the proxy's own store (`.trace`, binary). One metric, or those that match
//! [`ReadOptions::metric`], become intervals, each metric a file of its own: the bytes of a counter between two samples; a level or a rate
//! times the step, which holds for the time before its sample. What a counter had at its first sample is in no interval.

mod choice;
mod export;
mod store;

use self::choice::{Choice, Metric};
use super::clock::origin_of;
use super::format::{Format, Sniff, only};
use super::options::ReadOptions;
use super::rates::{Met, Spread, Stamp, ValueKind, median_step, spread};
use super::source::Source;
use crate::error::{Error, Result};
use crate::record::{
    Clock, Data, Files, Interval, Intervals, Job, LayerSummary, Op, RowSink, Timing, Trace, Warning, is_amount, is_time,
};
use crate::remedy::Remedy;

/// The format.
pub struct MetricProxy;

impl Format for MetricProxy {
    fn name(&self) -> &'static str {
        "metric-proxy"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        if store::begins_frame(head) {
            return Sniff::Yes;
        }
        export::sniff(head)
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let source = only(sources, self)?;
        let mut choice = Choice::new(options);
        let found = if store::begins_frame(source.head()) {
            store::read(source, options, &mut choice)?
        } else {
            export::read(source, options, &mut choice)?
        };
        let listed = choice.listed();
        if let Some(e) = &found.damage
            && listed.is_empty()
        {
            return Err(e.clone().remedy("copy the file again; nothing before the damage can be used"));
        }
        let layers = if options.all_layers { listed.iter().map(|m| m.layer()).collect() } else { Vec::new() };
        let mut trace = trace_of(choice.chosen()?, found);
        trace.layers = if options.all_layers { layers } else { vec![trace.summarise("metrics")] };
        trace.give_rows(sink)
    }
}

/// Facts from a file beside its metrics.
#[derive(Default)]
struct Found {
    job: Option<Job>,
    /// Times count from 1970.
    unix: bool,
    damage: Option<Error>,
}

/// The intervals of the chosen metrics.
fn trace_of(metrics: Vec<Metric>, found: Found) -> Trace {
    let first = metrics.iter().filter_map(|m| m.times.first()).copied().fold(f64::INFINITY, f64::min);
    let mut trace = Trace {
        format: MetricProxy.name(),
        timing: Timing::Counter,
        origin_s: if found.unix { origin_of(first) } else { 0 },
        clock: Clock::of_stamps(found.unix, false),
        ranks: found.job.as_ref().and_then(|j| j.ranks).unwrap_or(1),
        job: found.job,
        ..Trace::default()
    };
    if let Some(e) = found.damage {
        trace.warnings.push(Warning::new("damaged-tail", format!("{e}; the records before it were kept")));
    }
    let (mut rows, mut files) = (Intervals::default(), Files::default());
    let (mut met, mut before, mut levels) = (Met::default(), Before::default(), Vec::new());
    for mut metric in metrics {
        let file = files.intern(&metric.name);
        let kind = metric.values();
        let op = metric.op();
        if !metric.is_bytes() {
            levels.push(metric.name.clone());
        }
        metric.times.iter_mut().for_each(|t| *t -= trace.origin_s as f64);
        trace.quality.records_read += metric.samples;
        trace.quality.clock_backwards += metric.backwards;
        let step_s = median_step(&metric.times).unwrap_or(0.0);
        trace.bin_s = trace.bin_s.filter(|b| *b >= step_s).or(Some(step_s).filter(|s| *s > 0.0));
        if kind == ValueKind::Cumulative {
            before.add(&metric.readings);
        }
        let how = Spread { kind, stamp: Stamp::End, step_s };
        met.add(spread(&metric.times, &metric.readings, how, |start, end, bytes| {
            // a product of a level and a step may be more than a number can hold
            if is_amount(bytes) && is_time(start) && is_time(end) {
                rows.push(Interval { op, file, start, end, bytes, ..Interval::default() });
            }
        }));
    }
    trace.quality.records_dropped += met.missing;
    trace.quality.clamped += met.clamped;
    trace.files = files;
    trace.data = Data::Intervals(sorted(rows));
    warn(&mut trace, met, before, &levels);
    trace
}

/// Sums of the counters at their first sample, and at their last.
#[derive(Default)]
struct Before {
    first: f64,
    last: f64,
}

impl Before {
    fn add(&mut self, readings: &[f64]) {
        let is_there = |x: &f64| x.is_finite();
        self.first += readings.iter().copied().find(is_there).unwrap_or(0.0).max(0.0);
        self.last += readings.iter().rev().copied().find(is_there).unwrap_or(0.0);
    }
}

fn warn(trace: &mut Trace, met: Met, before: Before, levels: &[String]) {
    let warnings = &mut trace.warnings;
    if before.first > 0.0 {
        let Before { first, last } = before;
        let message = format!("{first} of {last} were counted before the first sample: they are in no interval");
        warnings.push(Warning::new("counted-before-start", message));
    }
    warnings.extend(met.falls());
    if let Some(first) = levels.first() {
        let message = format!(
            "metrics that do not count bytes: {}, the first {first}; bytes stand for their amount",
            levels.len()
        );
        warnings.push(Warning::new("not-bytes", message).remedy(Remedy::ChooseMetric));
    }
}

/// In the order of their starts: several metrics come one after the other.
fn sorted(rows: Intervals) -> Intervals {
    if rows.start.is_sorted() {
        return rows;
    }
    let mut all: Vec<Interval> = rows.iter().collect();
    all.sort_by(|a, b| a.start.total_cmp(&b.start));
    all.into_iter().collect()
}

impl Metric {
    /// The metric as a layer of `info`.
    fn layer(&self) -> LayerSummary {
        let bytes =
            if self.is_bytes() && self.values() == ValueKind::Cumulative { self.increase().max(0.0) as u64 } else { 0 };
        let read = self.op() == Op::Read;
        LayerSummary {
            layer: self.name.clone(),
            records: self.times.len() as u64,
            bytes_read: if read { bytes } else { 0 },
            bytes_written: if read { 0 } else { bytes },
            first_s: self.times.first().copied(),
            last_s: self.times.last().copied(),
            ..LayerSummary::default()
        }
    }
}
