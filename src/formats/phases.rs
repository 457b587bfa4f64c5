//! Phases with a rate: what TMIO and the JSON forms around it record, and how they become intervals.

use std::borrow::Cow;

use super::clock::origin_of;
use super::limits::Limits;
use crate::error::{Error, Result};
use crate::record::{
    Batch, Column, Data, Intervals, Job, LayerSummary, Op, RowSink, Timing, Trace, Warning, is_amount, is_time,
};

/// Phases that the origin of the clock is taken from, and those of a batch: TMIO writes chunks of about as many.
pub(crate) const BATCH: usize = 1 << 16;

/// Direction and kind of the calls of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode {
    pub(crate) op: Op,
    pub(crate) asynchronous: bool,
}

impl Mode {
    pub(crate) fn index(self) -> usize {
        usize::from(self.op == Op::Write) * 2 + usize::from(self.asynchronous)
    }

    fn name(index: usize) -> &'static str {
        ["read_sync", "read_async", "write_sync", "write_async"][index]
    }
}

/// Totals that a file states for the phases of one mode.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Announced {
    /// Bytes.
    pub(crate) bytes: f64,
    /// Operations; `None` if it does not say.
    pub(crate) operations: Option<f64>,
}

/// Gives phases to a sink, in the order of the input.
pub(crate) struct Phases<'s> {
    pub(crate) trace: Trace,
    sink: &'s dyn RowSink,
    /// Rows that were not given yet.
    rows: Intervals,
    /// Whether the origin of the clock is known.
    based: bool,
    announced: [Announced; 4],
    found: [Found; 4],
    /// First start and last end, since the origin.
    extent: (f64, f64),
    /// Phases with a rate but no duration: their bytes are lost.
    without_duration: u64,
    /// Lengths of the series of a section differ.
    uneven: u64,
    /// Curves whose last rate has no end, and the first such rate.
    open_ends: (u64, f64),
    /// Run times of rank 0, one a chunk.
    run_times: Vec<f64>,
}

/// Phases of one mode.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    count: u64,
    bytes: f64,
}

impl<'s> Phases<'s> {
    /// For a trace of the format called `format`.
    pub(crate) fn new(format: &'static str, sink: &'s dyn RowSink) -> Self {
        Phases {
            trace: Trace { format, timing: Timing::Phase, ..Trace::default() },
            sink,
            rows: Intervals::default(),
            based: false,
            announced: Default::default(),
            found: Default::default(),
            extent: (f64::INFINITY, f64::NEG_INFINITY),
            without_duration: 0,
            uneven: 0,
            open_ends: (0, 0.0),
            run_times: Vec::new(),
        }
    }

    /// Number of rows so far.
    pub(crate) fn len(&self) -> u64 {
        self.found.iter().map(|f| f.count).sum()
    }

    /// Adds what the file says of the phases of a mode.
    pub(crate) fn announce(&mut self, mode: Mode, a: Announced) {
        let sum = &mut self.announced[mode.index()];
        sum.bytes += if a.bytes.is_finite() { a.bytes.max(0.0) } else { 0.0 };
        if let Some(n) = a.operations.filter(|n| n.is_finite() && *n >= 0.0) {
            *sum.operations.get_or_insert(0.0) += n;
        }
    }

    /// Notes a number of ranks; the largest counts.
    pub(crate) fn announce_ranks(&mut self, n: f64) {
        if (1.0..=2f64.powi(31)).contains(&n) {
            self.trace.ranks = self.trace.ranks.max(n as u64);
        }
    }

    /// Notes the run time of rank 0 over one chunk.
    pub(crate) fn announce_run_time(&mut self, seconds: f64) {
        self.run_times.push(seconds);
    }

    /// Adds phases from parallel series: mean rate in bytes per second, start and end in seconds.
    /// The bytes of a phase are its rate times its duration, so that the sum of the phases is the step curve of the rates.
    pub(crate) fn add_rates(
        &mut self,
        mode: Mode,
        mut rate: Vec<f64>,
        mut start: Vec<f64>,
        mut end: Vec<f64>,
        limits: &Limits,
    ) -> Result<()> {
        let n = rate.len().min(start.len()).min(end.len());
        let longest = rate.len().max(start.len()).max(end.len());
        self.uneven += (longest - n) as u64;
        for v in [&mut rate, &mut start, &mut end] {
            v.truncate(n);
        }
        let q = &mut self.trace.quality;
        q.records_read += longest as u64;
        q.records_dropped += (longest - n) as u64;
        let sound = |r: f64, s: f64, e: f64| e >= s && is_time(s) && is_time(e) && is_amount(r * (e - s));
        if !(0..n).all(|i| sound(rate[i], start[i], end[i])) {
            let mut kept = 0;
            for i in 0..n {
                let (mut r, s, mut e) = (rate[i], start[i], end[i]);
                if r < 0.0 || e < s {
                    (r, e) = (r.max(0.0), e.max(s));
                    q.clamped += 1;
                }
                if sound(r, s, e) {
                    (rate[kept], start[kept], end[kept]) = (r, s, e);
                    kept += 1;
                } else {
                    q.records_dropped += 1;
                }
            }
            for v in [&mut rate, &mut start, &mut end] {
                v.truncate(kept);
            }
        }
        for (r, (s, e)) in rate.iter_mut().zip(start.iter().zip(&end)) {
            self.without_duration += u64::from(*r > 0.0 && e == s);
            *r *= e - s;
        }
        self.append(mode, rate, start, end, limits)
    }

    /// Adds a step curve: the rate `rate[i]` holds from `time[i]` to `time[i + 1]`.
    pub(crate) fn add_curve(
        &mut self,
        mode: Mode,
        mut rate: Vec<f64>,
        mut time: Vec<f64>,
        limits: &Limits,
    ) -> Result<()> {
        let largest = rate.iter().copied().filter(|r| r.is_finite()).fold(0.0, f64::max);
        // Sums of rates that come and go do not return to zero exactly.
        let negligible = 1e-6 * largest;
        for r in rate.iter_mut().filter(|r| r.abs() <= negligible) {
            *r = 0.0;
        }
        let steps = rate.len().min(time.len().saturating_sub(1));
        if let Some(&left) = rate.get(steps).filter(|r| **r != 0.0) {
            let (count, first) = self.open_ends;
            self.open_ends = (count + 1, if count == 0 { left } else { first });
        }
        // One rate a time or one a step; anything else is uneven.
        let extra = rate.len().saturating_sub(steps + 1) + time.len().saturating_sub(steps + 1);
        self.uneven += extra as u64;
        self.trace.quality.records_dropped += extra as u64;
        self.trace.quality.records_read += extra as u64;
        self.trace.quality.clock_backwards += time.windows(2).filter(|w| w[1] < w[0]).count() as u64;
        rate.truncate(steps);
        time.truncate(if steps == 0 { 0 } else { steps + 1 });
        let end = time.get(1..).unwrap_or_default().to_vec();
        time.truncate(steps);
        self.add_rates(mode, rate, time, end, limits)
    }

    /// Adds phases whose rows are sound.
    pub(crate) fn append(
        &mut self,
        mode: Mode,
        bytes: Vec<f64>,
        mut start: Vec<f64>,
        mut end: Vec<f64>,
        limits: &Limits,
    ) -> Result<()> {
        let n = bytes.len();
        let count = self.len() + n as u64;
        if count > limits.records as u64 {
            return Err(Error::too_many_rows(limits.records));
        }
        let found = &mut self.found[mode.index()];
        found.count += n as u64;
        found.bytes += bytes.iter().sum::<f64>();
        if self.based {
            self.extent = since(self.trace.origin_s, &mut start, &mut end, self.extent);
        }
        self.rows.append(Intervals {
            op: Column::constant(mode.op, n),
            asynchronous: Column::constant(mode.asynchronous, n),
            rank: Column::constant(0, n),
            file: Column::constant(Default::default(), n),
            bytes,
            start,
            end,
        });
        if self.rows.len() < BATCH {
            return Ok(());
        }
        self.rebase();
        if self.sink.keeps_rows() { Ok(()) } else { self.give() }
    }

    /// Gives the rows that wait to the sink.
    fn give(&mut self) -> Result<()> {
        let rows = Cow::Owned(Data::Intervals(std::mem::take(&mut self.rows)));
        self.sink.take(Batch { rows, binned: false, ..self.trace.as_batch() })
    }

    /// The trace, whose rows the sink has. `whole` is false if the input is damaged: then sums need not agree.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn into_trace(mut self, whole: bool) -> Result<Trace> {
        self.rebase();
        self.give()?;
        let (count, summary) = (self.len(), self.summary(whole));
        let mut trace = self.trace;
        let (open_ends, first) = self.open_ends;
        if open_ends > 0 {
            let others = if open_ends > 1 { format!(", the first of {open_ends}") } else { String::new() };
            trace.warnings.push(Warning::new(
                "open-end",
                format!("the last rate of the curve, {first}, has no end and was left out{others}"),
            ));
        }
        if whole {
            trace
                .warnings
                .extend((0..4).filter_map(|i| disagreement(Mode::name(i), &self.announced[i], self.found[i].bytes)));
            if self.uneven > 0 {
                trace.warnings.push(Warning::new(
                    "uneven-series",
                    format!(
                        "series of one section differ in length: {} values have no partner and were left out",
                        self.uneven
                    ),
                ));
            }
        }
        if self.without_duration > 0 {
            trace.warnings.push(
                Warning::new(
                    "zero-duration",
                    format!(
                        "{} phases have a rate but no duration, so their bytes are not known",
                        self.without_duration
                    ),
                )
                .remedy("record MessagePack, which keeps the bytes and all digits of the times"),
            );
        }
        // The counters of a chunk cover the time since the chunk before; after a restart of the clock they cannot be added.
        let run_time_s = match self.run_times[..] {
            [t] if whole && t.is_finite() && t > 0.0 => Some(t),
            _ => None,
        };
        let ranks = (trace.ranks > 0).then_some(trace.ranks);
        if run_time_s.is_some() || ranks.is_some() {
            trace.job = Some(Job { ranks, run_time_s, ..Job::default() });
        }
        if trace.ranks == 0 && count > 0 {
            trace.ranks = 1;
        }
        trace.layers = vec![summary];
        Ok(trace)
    }

    /// Totals of all phases; the numbers of operations as the file says, unless it is damaged.
    fn summary(&self, whole: bool) -> LayerSummary {
        let of_op = |sync: usize| {
            let [a, b] = [0, 1].map(|i| (self.found[sync + i], self.announced[sync + i].operations));
            let operations = match (a.1, b.1) {
                (None, None) => None,
                (a, b) => Some((a.unwrap_or(0.0) + b.unwrap_or(0.0)) as u64),
            };
            let counted = a.0.count + b.0.count;
            (operations.filter(|_| whole).unwrap_or(counted), (a.0.bytes + b.0.bytes).round() as u64)
        };
        let ((reads, bytes_read), (writes, bytes_written)) = (of_op(0), of_op(2));
        let mut summary = LayerSummary {
            layer: "phases".into(),
            records: self.len(),
            reads: Some(reads),
            writes: Some(writes),
            bytes_read,
            bytes_written,
            ..LayerSummary::default()
        };
        if self.extent.0 <= self.extent.1 {
            let origin = self.trace.origin_s as f64;
            summary.widen(origin + self.extent.0, origin + self.extent.1);
        }
        summary
    }

    /// Moves the origin of a large clock to the first phase, of those so far.
    fn rebase(&mut self) {
        if !self.based {
            self.based = true;
            self.trace.origin_s = origin_of(self.rows.start.iter().copied().fold(f64::INFINITY, f64::min));
            self.extent = since(self.trace.origin_s, &mut self.rows.start, &mut self.rows.end, self.extent);
        }
    }
}

/// Makes times count from `origin`; gives the extent that covers them as well.
fn since(origin: i64, start: &mut [f64], end: &mut [f64], extent: (f64, f64)) -> (f64, f64) {
    if origin != 0 {
        for t in start.iter_mut().chain(end.iter_mut()) {
            *t -= origin as f64;
        }
    }
    (start.iter().copied().fold(extent.0, f64::min), end.iter().copied().fold(extent.1, f64::max))
}

/// Compares the sum of a mode with what the file says, which is rounded to three digits.
fn disagreement(mode: &str, announced: &Announced, found: f64) -> Option<Warning> {
    let off = (found - announced.bytes).abs() / announced.bytes;
    (announced.bytes > 0.0 && off > 0.01).then(|| {
        Warning::new(
            "bytes-disagree",
            format!(
                "{mode}: rates times durations give {found:.4e} bytes, the file says {:.4e} ({:+.1} %)",
                announced.bytes,
                100.0 * (found - announced.bytes) / announced.bytes
            ),
        )
        .remedy("trust the times more than the bytes")
    })
}
