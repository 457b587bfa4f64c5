//! The facts of one run that a comparison needs, taken from its trace, which can then be dropped.

use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::FixedState;

use super::Options;
use super::files::{self, FamilyFacts};
use crate::analysis::{self, Analysis, CounterReport, Evidence, SignalReport, TraceSummary};
use crate::classify::{self, Classes};
use crate::dfg::Case;
use crate::dfg::graph::Graph;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::{self, Busy, IoTime, in_time};
use crate::findings::{self, Findings, Known};
use crate::pattern::PatternReport;
use crate::record::{Data, LayerSummary, Numbered, Request, Timing, Trace, Warning};
use crate::remedy::Remedy;
use crate::signal::{Activity, Extent, Grid, Mode, Selection, bin};

/// Cells of the bandwidth that pictures show.
const CURVE: usize = 4000;
/// Share of the idle time before and after a burst that counts as part of its window.
const IDLE: f64 = 0.5;

/// Steps of a power of two in which sizes are counted.
const STEPS: f64 = 64.0;

/// The facts of a run.
#[derive(Debug)]
pub struct Run {
    pub(super) trace: TraceSummary,
    pub(super) timing: Timing,
    pub(super) run_s: f64,
    pub(super) findings: Findings,
    pub(super) nodes: u64,
    pub(super) release: Option<String>,
    pub(super) layers: Vec<LayerSummary>,
    pub(super) signals: Vec<SignalReport>,
    /// Reading and writing.
    pub(super) flows: [Flow; 2],
    /// Number of rows by [`KINDS`].
    pub(super) counts: [u64; 4],
    /// Time in I/O.
    pub(super) io: Option<KindTimes>,
    /// Number of calls by name.
    pub(super) calls: BTreeMap<String, u64>,
    pub(super) families: Vec<FamilyFacts>,
    /// Folder of all files.
    pub(super) folder: String,
    pub(super) patterns: Option<Vec<PatternReport>>,
    pub(super) graph: Option<Graph>,
    pub(super) lost_records: u64,
    pub(super) warnings: Vec<Warning>,
}

/// Requests of one direction.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub calls: u64,
    pub bytes: u64,
    /// Sizes as powers of two, and number of requests.
    pub sizes: Vec<(f64, f64)>,
    /// Requests after another one of the same rank in the same file; of them those that start at its end, and before its start.
    pub follow: u64,
    pub consecutive: u64,
    pub backward: u64,
    /// Bursts of the period.
    pub cycles: Vec<Cycle>,
    pub curve: Option<Curve>,
}

/// A burst: all requests from the middle of the idle time before it to the middle of that after it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Cycle {
    pub bytes: f64,
    /// Time in which at least one rank is in a request.
    pub wall_s: f64,
    /// That of the rank with the most.
    pub slowest_s: f64,
    /// Sum over all ranks.
    pub total_s: f64,
}

/// Bandwidth on an even grid.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    /// Seconds of the first value on the trace's clock.
    pub start_s: f64,
    pub step_s: f64,
    /// Bytes per second.
    pub values: Vec<f64>,
    /// Starts of the bursts.
    pub bursts_s: Vec<f64>,
    pub period_s: Option<f64>,
}

/// Time in I/O of a job by kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct KindTimes {
    /// Of the slowest rank: at least, at most.
    pub slowest_s: [f64; 2],
    /// A rank's mean, by [`KINDS`].
    pub mean_s: [f64; 4],
}

impl KindTimes {
    /// Of a run; `None` if its trace does not say.
    fn of(io: &IoTime, ranks: u64) -> Option<KindTimes> {
        let slowest = io.slowest_s.filter(|s| s.high > 0.0)?;
        let n = ranks.max(io.ranks.len() as u64).max(1) as f64;
        let mean_s = match io.layer.as_deref() {
            Some("requests") => std::array::from_fn(|k| io.ranks.iter().map(|r| r.time_s[k]).sum::<f64>() / n),
            _ => [io.mean_read_s?, io.mean_write_s?, 0.0, io.mean_metadata_s?],
        };
        Some(KindTimes { slowest_s: [slowest.low, slowest.high], mean_s })
    }

    /// Slowest rank / mean of all ranks.
    pub fn imbalance(&self) -> f64 {
        let mean: f64 = self.mean_s.iter().sum();
        if mean > 0.0 { self.slowest_s[0] / mean } else { 1.0 }
    }
}

impl Run {
    /// The facts of a trace that was read with its counters; `cases` are those of its log of calls, if it has one.
    ///
    /// # Errors
    /// Of the options; [`ErrorKind::Empty`] if the trace has neither transfers nor counters.
    pub fn of(trace: &Trace, cases: &[Case], options: &Options) -> Result<Run> {
        let analyze = || analysis::analyze(trace, &analysis::Options::default().spectrum(false)).ok();
        let (analysis, classes) = rayon::join(|| trace.resolves_times().then(analyze).flatten(), || classes(trace));
        let known = Known { report: analysis.as_ref().map(|a| &a.report), classes: classes.as_ref() };
        let findings = findings::find_knowing(trace, known, &options.findings())?;
        run_knowing(trace, cases, (analysis.as_ref(), classes.as_ref(), findings))
    }

    /// The signal of a direction: 0 reading, 1 writing.
    pub(super) fn signal(&self, direction: usize) -> Option<&SignalReport> {
        let mode = [Mode::Read, Mode::Write][direction];
        self.signals.iter().find(|s| s.mode == mode)
    }

    /// Bytes read, or written; without those of system files, if single requests are known.
    pub(super) fn bytes(&self, direction: usize) -> u64 {
        if !self.findings.io.ranks.is_empty() {
            return self.flows[direction].bytes;
        }
        [self.trace.bytes_read, self.trace.bytes_written][direction]
    }
}

/// As [`Run::of`], with the answers on the whole trace: periods if it has times, access classes if it has places, findings.
///
/// # Errors
/// [`ErrorKind::Empty`] as there.
pub fn run_knowing(
    trace: &Trace,
    cases: &[Case],
    (analysis, classes, findings): (Option<&Analysis>, Option<&Classes>, Findings),
) -> Result<Run> {
    let counters = CounterReport::of(trace);
    if analysis.is_none() && counters.is_none() && trace.data.is_empty() {
        return Err(Error::new(ErrorKind::Empty, "the trace has no transfers and no counters")
            .remedy(Remedy::Inspect)
            .in_file(&trace.path));
    }
    let report = analysis.map(|a| &a.report);
    let signals = report.map_or_else(Vec::new, |r| r.signals.clone());
    let evidence = analysis.map_or(&[][..], |a| &a.evidence);
    let windows = [Mode::Read, Mode::Write].map(|mode| windows(&signals, evidence, mode));
    let ((families, folder), (mut flows, counts)) =
        rayon::join(|| files::families(trace, classes), || requests(trace, &windows));
    for (flow, mode) in flows.iter_mut().zip([Mode::Read, Mode::Write]) {
        flow.curve = signals.iter().find(|s| s.mode == mode).map(|s| curve(trace, s));
    }
    let hosts: HashSet<&str> = trace.hosts.values().map(|h| &**h).collect();
    Ok(Run {
        trace: analysis::summary(trace),
        timing: trace.timing,
        run_s: findings.io.run_s,
        nodes: hosts.len() as u64,
        release: trace.counters.as_ref().and_then(|c| c.release.clone()),
        layers: trace.layers.clone(),
        io: KindTimes::of(&findings.io, trace.ranks),
        calls: calls(trace, counters.as_ref()),
        families,
        folder,
        patterns: report.and_then(|r| r.patterns.as_ref()).map(|p| p.patterns.clone()),
        graph: (!cases.is_empty()).then(|| Graph::of(cases)),
        lost_records: trace.quality.records_dropped,
        warnings: trace.warnings.clone(),
        findings,
        signals,
        flows,
        counts,
    })
}

fn classes(trace: &Trace) -> Option<Classes> {
    let has_places = matches!(&trace.data, Data::Requests(r) if r.has_offsets());
    if trace.timing != Timing::Request || !has_places {
        return None;
    }
    classify::classify(trace, &Selection::default(), classify::Options::default()).ok()
}

/// Number of calls by name, of the trace or else of its counters.
fn calls(trace: &Trace, counters: Option<&CounterReport>) -> BTreeMap<String, u64> {
    let mut all = trace.call_counts.clone();
    if !all.is_empty() {
        return all;
    }
    for (layer, operations) in counters.iter().flat_map(|c| &c.operations) {
        all.extend(operations.iter().map(|(name, n)| (format!("{layer} {name}"), *n)));
    }
    all
}

/// Stretches of time with one burst of the dominant period each: to the middle of the idle time on both sides.
fn windows(signals: &[SignalReport], evidence: &[Evidence], mode: Mode) -> Vec<(f64, f64)> {
    let Some((signal, seen)) = signals.iter().zip(evidence).find(|(s, _)| s.mode == mode) else { return Vec::new() };
    let Some(period) = signal.period.dominant.as_ref().map(|d| d.period_s) else { return Vec::new() };
    let bursts = &seen.seen.bursts;
    let idle = |i: usize| match (bursts.get(i), bursts.get(i + 1)) {
        (Some(a), Some(b)) => (b.0 - a.1).clamp(0.0, period),
        (Some(a), None) => (period - (a.1 - a.0)).max(0.0),
        _ => 0.0,
    };
    let first = bursts.first().map_or(0.0, |b| (period - (b.1 - b.0)).max(0.0));
    (0..bursts.len())
        .map(|i| {
            let before = if i == 0 { first } else { idle(i - 1) };
            (bursts[i].0 - IDLE * before, bursts[i].1 + IDLE * idle(i))
        })
        .collect()
}

fn curve(trace: &Trace, signal: &SignalReport) -> Curve {
    let selection = Selection::default();
    let activity = Activity::new(trace, signal.mode, &selection);
    let extent = Extent::of(activity.spans());
    let width = extent.duration().max(1e-9) / CURVE as f64;
    let values = bin(activity.spans(), Grid { start: extent.start, width, cells: CURVE });
    Curve {
        start_s: trace.origin_s as f64 + extent.start,
        step_s: width,
        values,
        bursts_s: signal.bursts.as_ref().map_or_else(Vec::new, |b| b.starts_s.clone()),
        period_s: signal.period.dominant.as_ref().map(|d| d.period_s),
    }
}

/// Reading and writing, and number of rows by [`KINDS`].
type Figures = ([Flow; 2], [u64; 4]);

/// Figures of the single requests of a trace; nothing if it has none.
fn requests(trace: &Trace, windows: &[Vec<(f64, f64)>; 2]) -> Figures {
    let mut pass = Pass::default();
    let Data::Requests(rows) = &trace.data else { return Figures::default() };
    if trace.timing != Timing::Request {
        return Figures::default();
    }
    let origin_s = trace.origin_s as f64;
    let windows = [0, 1].map(|d| windows[d].iter().map(|w| (w.0 - origin_s, w.1 - origin_s)).collect::<Vec<_>>());
    for i in in_time(rows) {
        let r = rows.get(i);
        if !trace.files.is_system(r.file) {
            pass.add(&r, &windows);
        }
    }
    pass.finish()
}

/// Start and end of the last request of each rank in each file and direction. That of the last file of a rank is kept apart: the
/// next request is mostly to the same file.
#[derive(Default)]
struct Streams {
    latest: [Numbered<Option<(u32, Place)>>; 2],
    others: [HashMap<(u32, u32), Place, FixedState>; 2],
}

/// Start and end of a request.
type Place = (u64, u64);

impl Streams {
    /// Notes a request; gives the one before it.
    fn replace(&mut self, r: &Request, direction: usize, now: Place) -> Option<Place> {
        let (file, others) = (r.file.0, &mut self.others[direction]);
        match self.latest[direction].get_or(r.rank, None).replace((file, now)) {
            Some((latest, place)) if latest == file => Some(place),
            left => {
                if let Some((latest, place)) = left {
                    others.insert((r.rank, latest), place);
                }
                others.get(&(r.rank, file)).copied()
            }
        }
    }
}

/// One pass over the requests in the order of time.
#[derive(Default)]
struct Pass {
    flows: [Flow; 2],
    /// Requests by size, in steps of 1/64 of a power of two.
    sizes: [BTreeMap<u32, u64>; 2],
    /// The last size, its step, and requests of that size in a row.
    size: [(u64, u32, u64); 2],
    counts: [u64; 4],
    streams: Streams,
    open: [OpenCycle; 2],
}

/// The burst that is gone through.
#[derive(Default)]
struct OpenCycle {
    window: usize,
    cycle: Cycle,
    all: Option<Busy>,
    /// The last burst of each rank, and its time in it.
    ranks: Numbered<(usize, Busy)>,
}

impl OpenCycle {
    fn add(&mut self, r: &Request, windows: &[(f64, f64)], done: &mut Vec<Cycle>) {
        while windows.get(self.window).is_some_and(|w| r.start >= w.1) {
            self.close(done);
            self.window += 1;
        }
        if windows.get(self.window).is_none_or(|w| r.start < w.0) {
            return;
        }
        self.cycle.wall_s += self.all.get_or_insert(Busy::NONE).add((r.start, r.end));
        let rank = self.ranks.get_or(r.rank, (self.window, Busy::NONE));
        if rank.0 != self.window {
            *rank = (self.window, Busy::NONE);
        }
        self.cycle.total_s += rank.1.add((r.start, r.end));
        self.cycle.slowest_s = self.cycle.slowest_s.max(rank.1.sum);
        if r.op.moves_bytes() {
            self.cycle.bytes += r.size as f64;
        }
    }

    fn close(&mut self, done: &mut Vec<Cycle>) {
        if self.all.take().is_some() {
            done.push(std::mem::take(&mut self.cycle));
        }
    }
}

impl Pass {
    fn add(&mut self, r: &Request, windows: &[Vec<(f64, f64)>; 2]) {
        let kind = facts::kind(r.op);
        self.counts[kind] += 1;
        // a write is done once it is synchronised
        let direction = if kind == 0 { 0 } else { 1 };
        if kind < 3 {
            let flow = &mut self.flows[direction];
            self.open[direction].add(r, &windows[direction], &mut flow.cycles);
        }
        if kind > 1 {
            return;
        }
        self.count_size(direction, r.size);
        let flow = &mut self.flows[direction];
        flow.calls += 1;
        flow.bytes = flow.bytes.saturating_add(r.size);
        if r.offset != crate::record::UNKNOWN_OFFSET {
            let now = (r.offset, r.offset.saturating_add(r.size));
            if let Some(last) = self.streams.replace(r, direction, now) {
                flow.follow += 1;
                flow.consecutive += u64::from(r.offset == last.1);
                flow.backward += u64::from(r.offset < last.0);
            }
        }
    }

    fn count_size(&mut self, direction: usize, size: u64) {
        let last = &mut self.size[direction];
        if last.0 != size || last.2 == 0 {
            if last.2 > 0 {
                *self.sizes[direction].entry(last.1).or_default() += last.2;
            }
            *last = (size, ((size.max(1) as f64).log2() * STEPS).round() as u32, 0);
        }
        last.2 += 1;
    }

    fn finish(mut self) -> Figures {
        for d in 0..2 {
            let (_, step, n) = self.size[d];
            if n > 0 {
                *self.sizes[d].entry(step).or_default() += n;
            }
            let flow = &mut self.flows[d];
            self.open[d].close(&mut flow.cycles);
            let sizes = std::mem::take(&mut self.sizes[d]);
            flow.sizes = sizes.into_iter().map(|(size, n)| (f64::from(size) / STEPS, n as f64)).collect();
        }
        (self.flows, self.counts)
    }
}
