//! Contents of a trace: schema `iophase.info.v1`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

use super::counters::CounterReport;
use crate::error::Result;
use crate::facts::{IoFacts, IoTime};
use crate::formats::{self, Format, ReadOptions, Source};
use crate::record::{Batch, Clock, Extent, Job, LayerSummary, Restart, RowSink, Timing, Trace, Warning};

/// Name of the schema of [`Info`].
pub const INFO_SCHEMA: &str = "iophase.info.v1";

/// Contents of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Info {
    /// Name and version of the schema.
    pub schema: String,
    /// Path of the trace as the user gave it.
    pub path: String,
    /// Name of the file format.
    pub format: String,
    /// Version of the format.
    pub version: Option<String>,
    /// `little` or `big`.
    pub byte_order: Option<String>,
    /// Compression inside or around the trace.
    pub compression: Option<String>,
    /// Facts about the job; `null` if the trace has none.
    pub job: Option<Job>,
    /// The zero of all times.
    pub clock: Clock,
    /// Number of processes of the job, or of ranks seen if the trace does not say.
    pub ranks: u64,
    /// Number of files.
    pub files: u64,
    /// Start of the first access, seconds on the trace's own clock.
    pub start_s: Option<f64>,
    /// End of the last access, seconds on the trace's own clock.
    pub end_s: Option<f64>,
    /// Names of the parts of the trace that are known to be incomplete.
    pub partial: Vec<String>,
    /// Contents of each layer.
    pub layers: Vec<LayerSummary>,
    /// Number of calls by name.
    pub calls: BTreeMap<String, u64>,
    /// Tables of the counters; `null` if the trace has none.
    pub counters: Option<CounterReport>,
    /// Time in I/O.
    pub io: IoTime,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl Info {
    /// Of a trace that was read with [`all_layers`](crate::formats::ReadOptions::all_layers).
    pub fn of(trace: &Trace) -> Info {
        Info::with_times(trace, trace.data.extent(trace.origin_s), IoFacts::of(trace).time)
    }

    /// The same without the time in I/O, which the findings of the trace have, too.
    pub fn untimed(trace: &Trace) -> Info {
        Info::with_times(trace, trace.data.extent(trace.origin_s), IoTime::default())
    }

    fn with_times(trace: &Trace, extent: Extent, io: IoTime) -> Info {
        let (mut layers, mut extent) = (trace.layers.clone(), extent);
        if trace.timing == Timing::Order {
            extent = (None, None);
            layers.iter_mut().for_each(|l| (l.first_s, l.last_s) = (None, None));
        }
        let (start_s, end_s) = extent;
        let first = layers.iter().filter_map(|l| l.first_s).reduce(f64::min);
        let last = layers.iter().filter_map(|l| l.last_s).reduce(f64::max);
        Info {
            schema: INFO_SCHEMA.into(),
            path: trace.path.clone(),
            format: trace.format.into(),
            version: trace.header.version.clone(),
            byte_order: trace.header.byte_order.clone(),
            compression: trace.header.compression.clone(),
            job: trace.job.clone(),
            clock: trace.clock,
            ranks: trace.ranks,
            files: trace.files.len() as u64,
            start_s: [start_s, first].into_iter().flatten().reduce(f64::min),
            end_s: [end_s, last].into_iter().flatten().reduce(f64::max),
            partial: trace.quality.partial.clone(),
            layers,
            calls: trace.call_counts.clone(),
            counters: CounterReport::of(trace),
            io,
            warnings: trace.warnings.clone(),
        }
    }
}

/// Contents of an input. Formats that can are read as a stream: memory does not grow with rows.
///
/// # Errors
/// As [`formats::read`].
pub fn info_of(source: &Source, format: Option<&dyn Format>, read: &ReadOptions) -> Result<Info> {
    let passed = Passed::default();
    let mut trace = formats::read_into(source, format, read, &passed)?;
    let Totals { extent, summary } = passed.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    // a format of one layer does not add up what it gives away
    if trace.layers.is_empty() {
        trace.layers.extend(summary);
    }
    let mut io = IoFacts::of(&trace).time;
    if io.mean_s.is_none() && trace.timing == Timing::Request && trace.layers.iter().any(|l| l.records > 0) {
        io.why = Some("the requests are counted, not timed, as they pass: findings times them".into());
    }
    Ok(Info::with_times(&trace, extent, io))
}

#[derive(Debug, Default)]
struct Totals {
    extent: Extent,
    summary: Option<LayerSummary>,
}

/// Adds up rows and lets them go.
#[derive(Default)]
struct Passed(Mutex<Totals>);

impl RowSink for Passed {
    fn take(&self, batch: Batch<'_>) -> Result<()> {
        let (first, last) = batch.rows.extent(batch.origin_s);
        let more = LayerSummary::of("requests", &batch.rows, batch.origin_s);
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let joined = |a: Option<f64>, b: Option<f64>, of: fn(f64, f64) -> f64| a.into_iter().chain(b).reduce(of);
        sum.extent = (joined(sum.extent.0, first, f64::min), joined(sum.extent.1, last, f64::max));
        match &mut sum.summary {
            Some(all) => all.add(&more),
            None => sum.summary = Some(more),
        }
        Ok(())
    }

    fn restart(&self, _why: Restart) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Totals::default();
    }
}
