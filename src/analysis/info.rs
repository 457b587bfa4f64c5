//! Contents of a trace: schema `iophase.info.v1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::counters::CounterReport;
use crate::record::{Clock, Data, Job, LayerSummary, Trace, Warning};

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
    /// What all times count from.
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
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl Info {
    /// Of a trace that was read with [`all_layers`](crate::formats::ReadOptions::all_layers).
    pub fn of(trace: &Trace) -> Info {
        let (start_s, end_s) = extent(trace);
        let first = trace.layers.iter().filter_map(|l| l.first_s).reduce(f64::min);
        let last = trace.layers.iter().filter_map(|l| l.last_s).reduce(f64::max);
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
            layers: trace.layers.clone(),
            calls: trace.call_counts.clone(),
            counters: CounterReport::of(trace),
            warnings: trace.warnings.clone(),
        }
    }
}

/// First start and last end of all rows, on the trace's own clock.
pub(crate) fn extent(trace: &Trace) -> (Option<f64>, Option<f64>) {
    let (start, end) = match &trace.data {
        Data::Requests(r) => (&r.start, &r.end),
        Data::Intervals(i) => (&i.start, &i.end),
    };
    let origin = trace.origin_s as f64;
    let first = start.iter().copied().reduce(f64::min).map(|t| t + origin);
    let last = end.iter().copied().reduce(f64::max).map(|t| t + origin);
    (first, last)
}
