//! The report of one trace, as programs read it: schema `iophase.report.v1`.
//!
//! Times are seconds on the trace's own clock, sizes bytes, rates bytes per second, unknown is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::pattern::{Coverage, Pattern, PatternGroup, PatternReport, PatternsReport};
use crate::period::scores::Scores;
use crate::period::whole_bytes;
use crate::period::{Bursts, Component, Detection, Fit, Prediction, TrackPoint, Validity};
use crate::record::{Clock, Job, Layer, Timing, Warning};
use crate::signal::{Mode, Sampling};

/// Name of the schema of [`Report`].
pub const REPORT_SCHEMA: &str = "iophase.report.v1";

/// Program and version that made a report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Tool {
    /// Name of the program: `iophase`.
    pub name: String,
    /// Version of the program.
    pub version: String,
}

impl Tool {
    /// This program.
    pub(crate) fn this() -> Tool {
        Tool { name: env!("CARGO_PKG_NAME").into(), version: env!("CARGO_PKG_VERSION").into() }
    }
}

/// The trace, in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TraceSummary {
    /// Path of the trace as the user gave it.
    pub path: String,
    /// Name of the file format: `darshan`, `tmio`, `strace` and so on.
    pub format: String,
    /// Layer that was analysed, if the format records several.
    pub layer: Option<Layer>,
    /// Number of processes of the job, or of ranks seen if the trace does not say.
    pub ranks: u64,
    /// Number of files in the rows analysed.
    pub files: u64,
    /// Number of rows analysed; `quality.timing` says what a row is.
    pub records: u64,
    /// Bytes read in these rows.
    pub bytes_read: u64,
    /// Bytes written in these rows.
    pub bytes_written: u64,
    /// Start of the first row, seconds on the trace's own clock.
    pub start_s: Option<f64>,
    /// End of the last row, seconds on the trace's own clock.
    pub end_s: Option<f64>,
    /// Facts about the job; `null` if the trace has none.
    pub job: Option<Job>,
}

/// One signal and its results.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SignalReport {
    /// The transfers that the signal consists of.
    pub mode: Mode,
    /// Sampling rate in Hz.
    pub sampling_hz: f64,
    /// Number of samples.
    pub samples: u64,
    /// Start of the first transfer, seconds on the trace's own clock.
    pub start_s: f64,
    /// End of the last transfer, seconds on the trace's own clock.
    pub end_s: f64,
    /// Bytes moved.
    #[serde(serialize_with = "whole_bytes::number")]
    #[schemars(with = "u64")]
    pub bytes: f64,
    /// Sampling error: bytes that sampling lost or added, as a share of `bytes`.
    pub abstraction_error: f64,
    /// How it was sampled.
    pub sampling: Sampling,
    /// The period, or why there is none.
    pub period: Detection,
    /// The strongest cosines of the signal, the mean first; empty unless asked for.
    pub components: Vec<Component>,
    /// Errors of the reconstruction, if it was fitted.
    pub fit: Option<Fit>,
    /// Where the dominant period holds.
    pub validity: Vec<Validity>,
    /// The bursts of the dominant period; `null` without one.
    pub bursts: Option<Bursts>,
    /// The next burst; `null` unless a period holds where the trace ends.
    pub prediction: Option<Prediction>,
    /// The period over time, from methods that follow it (`stft`, `cwt`); empty otherwise.
    pub track: Vec<TrackPoint>,
    /// Further scores of periodicity; `null` unless asked for.
    pub scores: Option<Scores>,
}

/// Records that were lost, excluded or clamped, and how exact the times are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct QualityReport {
    /// Number of records in the input.
    pub records_read: u64,
    /// Number of records that could not be used.
    pub records_dropped: u64,
    /// Number of records ignored on purpose: failed calls, system files.
    pub records_left_out: u64,
    /// Number of records whose times or sizes had to be brought into range.
    pub clamped: u64,
    /// Number of times a clock stepped back.
    pub clock_backwards: u64,
    /// Names of the parts of the trace that are known to be incomplete.
    pub partial: Vec<String>,
    /// The kind of one row, which decides how exact its times are.
    pub timing: Timing,
    /// Width of the bins of a heatmap, or time between two samples of counters, in seconds; `null` for other rows.
    pub bin_s: Option<f64>,
}

/// The report of one trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// Name and version of the schema.
    pub schema: String,
    /// The program that wrote this.
    pub tool: Tool,
    /// The trace.
    pub trace: TraceSummary,
    /// The zero of all times.
    pub clock: Clock,
    /// One entry per signal.
    pub signals: Vec<SignalReport>,
    /// The signal to act on: of the periodic ones the one that moves the most bytes.
    pub primary: Option<Mode>,
    /// Access patterns; `null` if the trace has no offsets or they were not asked for.
    pub patterns: Option<PatternsReport>,
    /// Quality of the data.
    pub quality: QualityReport,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// Name of the schema of [`PatternsOfTrace`].
pub const PATTERNS_SCHEMA: &str = "iophase.patterns.v1";

/// The access patterns of one trace, alone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PatternsOfTrace {
    /// Name and version of the schema.
    pub schema: String,
    /// The program that wrote this.
    pub tool: Tool,
    /// The trace.
    pub trace: TraceSummary,
    /// How much of the accesses the patterns explain.
    pub coverage: Coverage,
    /// The patterns, in the order in which they began.
    pub patterns: Vec<PatternReport>,
    /// The same in groups, those of the most bytes first.
    pub groups: Vec<PatternGroup>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// The patterns with the times and places of their accesses, in the order of the reports; not part of the JSON.
    #[serde(skip)]
    pub found: Vec<Pattern>,
}

impl Report {
    /// The primary signal.
    pub fn primary_signal(&self) -> Option<&SignalReport> {
        let mode = self.primary?;
        self.signals.iter().find(|s| s.mode == mode)
    }
}
