//! Findings as programs read them: schema `iophase.findings.v2`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::system::System;
use crate::analysis::{Tool, TraceSummary};
use crate::facts::IoTime;
use crate::record::Warning;

/// Name of the schema of [`Findings`].
pub const FINDINGS_SCHEMA: &str = "iophase.findings.v2";

/// Smaller shares of the run do not matter.
pub(super) const MATTERS: f64 = 0.01;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Costs little, or is worth knowing.
    Info,
    /// Costs at least 1 % of the run, or is found in at least 10 % of it.
    Warning,
    /// Costs at least 10 % of the run, or is found in at least half of it.
    Critical,
}

impl Severity {
    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}

/// Who can do something about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Audience {
    /// Who runs the job: settings, hints, places.
    User,
    /// Who writes the program.
    #[default]
    Developer,
    /// Who runs the machine.
    Operator,
}

/// How sure the measured values of a finding are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Certainty {
    /// From single requests.
    Exact,
    /// From counters, which give bounds.
    Bound,
    /// The time comes from a model.
    Modelled,
}

/// Findings of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Findings {
    /// Name and version of the schema.
    pub schema: String,
    /// The program that wrote this.
    pub tool: Tool,
    /// The trace.
    pub trace: TraceSummary,
    /// Time in I/O.
    pub io: IoTime,
    /// The machine, as the user described it.
    pub system: System,
    /// The findings, the costliest first.
    pub findings: Vec<Finding>,
    /// Codes of good properties.
    pub ok: Vec<String>,
    /// Codes that could not be checked.
    pub not_checked: Vec<NotChecked>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl Findings {
    /// True for a finding that costs less than 1 % of the run: texts count these, and do not list them. Whether the trace can be
    /// trusted has no cost.
    pub(crate) fn is_minor(&self, x: &Finding) -> bool {
        let cost = x.lost_s.or(x.time_low_s);
        let little = self.io.share_range.is_some_and(|share| share.high < MATTERS) && !x.code.starts_with("IOP-TRACE");
        x.severity == Severity::Info && (little || cost.is_some_and(|s| s < MATTERS * self.io.run_s))
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Finding {
    /// Stable code.
    pub code: String,
    /// Stable name.
    pub name: String,
    /// How much it matters.
    pub severity: Severity,
    /// Who can do something about it.
    pub audience: Audience,
    /// Layer of the I/O stack: `posix`, `mpiio`, `stdio`, `hdf5`, `pnetcdf`, `lustre` or `job`.
    pub layer: String,
    /// How sure the numbers are.
    pub certainty: Certainty,
    /// Title.
    pub title: String,
    /// The evidence, in numbers.
    pub detail: String,
    /// Why it costs time.
    pub why: String,
    /// Numbers behind it.
    pub measured: BTreeMap<String, f64>,
    /// Thresholds.
    pub threshold: BTreeMap<String, f64>,
    /// The families of files that take most of the time, or of the bytes; digits in names are replaced by `#`.
    pub files: Vec<FileShare>,
    /// Number of files.
    pub files_total: u64,
    /// The longest requests, at most five; empty without requests.
    pub examples: Vec<Example>,
    /// Seconds spent in it, an upper bound of the gain; `null` if not known.
    pub time_s: Option<f64>,
    /// Seconds spent in it at least, where `time_s` is modelled from counters; else as `time_s`.
    pub time_low_s: Option<f64>,
    /// Seconds that could be gained; `null` if not known.
    pub lost_s: Option<f64>,
    /// Seconds that can be gained at least, where `lost_s` is an upper bound; else as `lost_s`.
    pub lost_low_s: Option<f64>,
    /// How `lost_s` was made; `null` with it.
    pub lost_basis: Option<String>,
    /// Codes that describe the same requests of the same files.
    pub also: Vec<String>,
    /// Triggers of Drishti for the same.
    pub drishti: Vec<String>,
    /// Remedies.
    pub remedies: Vec<RemedyReport>,
}

/// A family of files in a finding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FileShare {
    /// Name of the file; of several with `#` for digits.
    pub file: String,
    /// Number of files.
    pub files: u64,
    /// Requests, calls or files, as the finding counts.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// Ranks; `null` for files with the totals of all ranks.
    pub ranks: Option<u64>,
    /// Seconds of the ranks in it.
    pub time_s: f64,
    /// The first of the ranks, at most 16; empty without requests.
    pub rank_list: Vec<u32>,
    /// Byte ranges of all files of the family, at most 16: smaller gaps are left out; empty without requests.
    pub ranges: Vec<ByteRange>,
    /// Times of the requests, at most 16: smaller gaps are left out; empty without requests.
    pub windows: Vec<TimeWindow>,
}

/// Bytes from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ByteRange {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset one past the last byte.
    pub end: u64,
}

/// A time, in seconds on the trace's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TimeWindow {
    /// Its start.
    pub start_s: f64,
    /// Its end.
    pub end_s: f64,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Example {
    /// Rank.
    pub rank: u32,
    /// Name of the file.
    pub file: String,
    /// Offset; `null` if the trace does not say.
    pub offset: Option<u64>,
    /// Bytes.
    pub size: u64,
    /// Start in seconds on the trace's own clock.
    pub start_s: f64,
    /// End in seconds on the trace's own clock.
    pub end_s: f64,
}

/// A remedy for one library or file system.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RemedyReport {
    /// Number of the remedy, or the policy of an access class.
    pub id: String,
    /// The library or file system; `any` for all.
    pub system: String,
    /// Commands, each as it is typed.
    pub commands: Vec<String>,
    /// Hints of MPI-IO and of libraries: value by name.
    pub settings: BTreeMap<String, String>,
    /// Advice in words, if there is neither command nor setting, and the reason.
    pub why: String,
    /// Where it is described; empty if nowhere.
    pub url: String,
}

/// A code that could not be checked.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct NotChecked {
    /// The code.
    pub code: String,
    /// The name.
    pub name: String,
    /// Data that it needs.
    pub needs: String,
    /// How to record that.
    pub how: String,
}

/// The description of a code.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RuleText {
    /// Stable code.
    pub code: String,
    /// Stable name.
    pub name: String,
    /// Title.
    pub title: String,
    /// The formula.
    pub measured: String,
    /// Why it costs time.
    pub why: String,
    /// Thresholds.
    pub limits: BTreeMap<String, f64>,
    /// `warning`, `info` or `ok`.
    pub level: &'static str,
    /// Data that it needs.
    pub needs: String,
    /// Triggers of Drishti for the same.
    pub drishti: Vec<String>,
    /// All remedies.
    pub remedies: Vec<RemedyReport>,
}
