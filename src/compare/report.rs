//! A comparison as programs read it: schema `iophase.comparison.v1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::run::Curve;
use crate::analysis::{Tool, TraceSummary};
use crate::facts::RankTime;
use crate::record::Warning;

/// Name of the schema of [`Comparison`].
pub const COMPARISON_SCHEMA: &str = "iophase.comparison.v1";

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// The runs after take less I/O time.
    Faster,
    /// The runs after take more I/O time.
    Slower,
    /// No difference in I/O time can be shown.
    Same,
    /// Bytes or files differ: rates can be compared, times cannot.
    DifferentWork,
    /// A difference, and no way to tell it from noise; or no times.
    CannotTell,
}

impl Outcome {
    /// Name in kebab-case.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Faster => "faster",
            Outcome::Slower => "slower",
            Outcome::Same => "same",
            Outcome::DifferentWork => "different-work",
            Outcome::CannotTell => "cannot-tell",
        }
    }
}

/// Samples behind an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Basis {
    /// At least three runs on each side: noise between runs is in the interval.
    Runs,
    /// Bursts: noise between runs is not in the interval.
    Bursts,
    /// One value on each side: no interval.
    Single,
}

/// Two sets of runs against each other.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Comparison {
    /// Name and version of the schema.
    pub schema: String,
    /// The program that wrote this.
    pub tool: Tool,
    /// The runs before.
    pub before: Side,
    /// The runs after.
    pub after: Side,
    /// The answer.
    pub verdict: Outcome,
    /// Time in I/O.
    pub io_time: IoTimeChange,
    /// Reasons of the difference, by cost; those without a cost from the cause to the effect.
    pub reasons: Vec<Reason>,
    /// Facts of the jobs that differ.
    pub job: Vec<Fact>,
    /// Periods that differ.
    pub periods: Vec<Row>,
    /// Properties of bursts that differ.
    pub bursts: Vec<Row>,
    /// Bytes, calls and sizes that differ, by layer.
    pub layers: Vec<Row>,
    /// Time in I/O by kind, share of the run and imbalance, where they differ.
    pub time: Vec<Row>,
    /// Families of files that differ.
    pub files: Vec<FileChange>,
    /// Access patterns that differ.
    pub patterns: Vec<PatternChange>,
    /// Findings that differ.
    pub findings: FindingChanges,
    /// Edges of the graph of calls whose frequency differs.
    pub graph: Vec<GraphChange>,
    /// Properties that were compared and do not differ.
    pub unchanged: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// Data of pictures; not part of the JSON.
    #[serde(skip)]
    pub(crate) view: View,
}

/// The runs of one side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Side {
    /// The traces.
    pub traces: Vec<TraceSummary>,
}

/// Change of the time in I/O.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct IoTimeChange {
    /// Before: seconds in I/O of the slowest rank as in findings, mean of the runs, the low end if it is only bounded; `null` if the
    /// trace does not say.
    pub before_s: Option<f64>,
    /// After, in seconds.
    pub after_s: Option<f64>,
    /// High ends of both.
    pub high_s: Option<[f64; 2]>,
    /// The outermost layer with most of the time, before and after, as in findings; `null` if that differs.
    pub layer: Option<String>,
    /// Seconds of the run before and after, mean of the runs.
    pub run_s: [f64; 2],
    /// `after_s - before_s`.
    pub change: Option<f64>,
    /// Low end of the interval of 95 % of `change`, of 90 % for three runs on each side; `null` for one value a side.
    pub low: Option<f64>,
    /// High end of the interval.
    pub high: Option<f64>,
    /// Samples behind the interval.
    pub basis: Basis,
}

/// A property that differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Row {
    /// The property.
    pub what: String,
    /// Before: a value, or the median of bursts or runs; `null` if it is not there.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
    /// Unit of all values: `s`, `bytes`, `bytes/s`, `count`, `ratio`.
    pub unit: String,
    /// After less before: of bursts the median of all differences (Hodges and Lehmann).
    pub change: Option<f64>,
    /// Low end of the interval of 95 % of `change`; `null` without one.
    pub low: Option<f64>,
    /// High end of the interval.
    pub high: Option<f64>,
    /// p value, after Holm; `null` for values that are counted.
    pub p: Option<f64>,
}

/// A probable reason.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Reason {
    /// The property that explains the difference.
    #[serde(flatten)]
    pub row: Row,
    /// Seconds of the difference in I/O time that it explains, below 0 if time is gained; `null` if it has no cost of its own.
    pub lost_s: Option<f64>,
    /// Findings that are new, gone or changed with it.
    pub codes: Vec<String>,
    /// Families of files with most of the change.
    pub files: Vec<String>,
}

/// A fact that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Fact {
    /// The fact.
    pub what: String,
    /// Before.
    pub before: String,
    /// After.
    pub after: String,
}

/// A family of files that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FileChange {
    /// Its name, without the folder of the run; digits are `#`.
    pub file: String,
    /// `appeared`, `vanished`, `class`, `stripes`, `mount`, `bytes` or `count`.
    pub what: String,
    /// Before; `null` if it is not there.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// Accesses that differ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PatternChange {
    /// Family of files.
    pub file: String,
    /// `read` or `write`.
    pub op: String,
    /// Type and loops of the pattern.
    pub kind: String,
    /// `new`, `gone`, `size` or `stride`.
    pub what: String,
    /// Share of the bytes, or the size or stride of most of the bytes, before.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
}

/// Findings that differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FindingChanges {
    /// Codes that are found after only.
    pub new: Vec<String>,
    /// Codes that are found before only.
    pub gone: Vec<String>,
    /// Codes whose cost differs.
    pub changed: Vec<FindingChange>,
}

/// A finding whose cost differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FindingChange {
    /// The code.
    pub code: String,
    /// Seconds lost before.
    pub before_s: f64,
    /// Seconds lost after.
    pub after_s: f64,
}

/// An edge whose frequency differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct GraphChange {
    /// An activity or `<start>`.
    pub from: String,
    /// An activity or `<end>`.
    pub to: String,
    /// How often a case goes this way, before.
    pub before: f64,
    /// How often a case goes this way, after.
    pub after: f64,
    /// p value, after Holm, of equal shares of what follows `from`.
    pub p: f64,
}

/// Data of pictures.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    /// The signal with the most bytes: `read` or `write`.
    pub mode: &'static str,
    /// Before and after.
    pub curves: [Option<Curve>; 2],
    /// Time of matched ranks, before and after.
    pub ranks: Vec<[RankTime; 2]>,
    /// Seconds of the slowest rank by kind of I/O, before and after.
    pub cost: Vec<(&'static str, [f64; 2])>,
}
