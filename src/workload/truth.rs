//! The truth of a synthetic trace as data: schema `iophase.truth.v1`.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::nest::{self, Loop};
use crate::record::Op;

/// Name of the schema of [`Truth`].
pub const TRUTH_SCHEMA: &str = "iophase.truth.v1";

/// The truth of a synthetic trace. Times are seconds on its clock, offsets and sizes bytes.
///
/// Every access is either in exactly one of the `patterns` or counted in `unpatterned`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Truth {
    /// Name and version of the schema.
    pub schema: String,
    /// Name of the workload.
    pub workload: String,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Parameters of the workload, including defaults.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// Number of ranks.
    pub ranks: u64,
    /// Number of files.
    pub files: u64,
    /// Number of records of the trace.
    pub records: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Start of the first access, seconds on the trace's own clock.
    pub start_s: f64,
    /// End of the last access, seconds on the trace's own clock.
    pub end_s: f64,
    /// True if there are `periods`.
    pub periodic: bool,
    /// The periods of the job, most bytes first.
    pub periods: Vec<Period>,
    /// Bursts of I/O, in the order of time.
    pub phases: Vec<Phase>,
    /// The loops that the ranks executed, by rank and file.
    pub patterns: Vec<TruePattern>,
    /// Accesses in random order, by file. They are in no pattern.
    pub unpatterned: Vec<Unpatterned>,
}

/// Bursts that repeat at equal intervals.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Period {
    /// Operation of the bursts.
    #[serde(serialize_with = "op_name")]
    #[schemars(with = "String")]
    pub op: Op,
    /// Mean time from the start of a burst to the start of the next; nominal where bursts are missed or lie around a grid.
    pub period_s: f64,
    /// Frequency in Hz: 1 / `period_s`.
    pub frequency_hz: f64,
    /// Shortest time between the starts of two bursts; `null` for one burst.
    pub shortest_s: Option<f64>,
    /// Longest time between the starts of two bursts; `null` for one burst.
    pub longest_s: Option<f64>,
    /// Number of bursts.
    pub bursts: u64,
    /// Bytes of all bursts.
    pub bytes: u64,
    /// Where it holds: from the start of the first burst to the end of the last.
    pub windows: Vec<Window>,
}

/// An interval of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Window {
    /// Start, seconds on the trace's own clock.
    pub start_s: f64,
    /// End, seconds on the trace's own clock.
    pub end_s: f64,
}

/// A burst of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Phase {
    /// Operation.
    #[serde(serialize_with = "op_name")]
    #[schemars(with = "String")]
    pub op: Op,
    /// Start of its first access.
    pub start_s: f64,
    /// End of its last access.
    pub end_s: f64,
    /// Bytes of all ranks.
    pub bytes: u64,
}

/// Kinds of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PatternKind {
    /// One loop over accesses of one size, back to back.
    Contiguous,
    /// One loop over accesses of one size at another stride, or a single access.
    FixedStrided,
    /// Nested loops over accesses of one size.
    KdStrided,
    /// Accesses of varying sizes, back to back.
    Sequential,
}

/// Ranks over which the outermost loop of a pattern goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ranks {
    /// How many.
    pub count: u64,
    /// From one to the next.
    pub step: u64,
}

/// Five-number summary of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SizeSummary {
    /// Smallest.
    pub min: f64,
    /// First quartile, interpolated linearly.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Largest.
    pub max: f64,
}

/// Period of the accesses of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PatternPeriod {
    /// Seconds.
    pub period_s: f64,
    /// 1: the workload set the period.
    pub confidence: f64,
}

/// Loops that a rank executed over the accesses to one file, in canonical form: no loop of one pass, and no loop that continues
/// where the loop inside it ends.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TruePattern {
    /// Read or write.
    #[serde(serialize_with = "op_name")]
    #[schemars(with = "String")]
    pub op: Op,
    /// Kind.
    pub kind: PatternKind,
    /// Rank; the first of several.
    pub rank: u32,
    /// The ranks over which the outermost loop goes; `null` for one rank.
    pub ranks: Option<Ranks>,
    /// File name.
    pub file: String,
    /// Start of the first access.
    pub start_s: f64,
    /// End of the last access.
    pub end_s: f64,
    /// Offset of the first access.
    pub start_offset: u64,
    /// One past the highest byte.
    pub end_offset: u64,
    /// Bytes of an access; `null` for sequential.
    pub access_size: Option<u64>,
    /// Number of accesses.
    pub records: u64,
    /// Stride of the innermost loop; `null` for sequential and for a single access.
    pub stride: Option<i64>,
    /// Loops, innermost first; those of a sequential pattern go over the whole list of its sizes.
    pub levels: Vec<Loop>,
    /// Sizes of a sequential pattern in order, as pairs of a size and how many accesses in a row have it; `null` for others.
    pub sizes: Option<Vec<(u64, u64)>>,
    /// Summary of the sizes of a sequential pattern; `null` for others.
    pub size_summary: Option<SizeSummary>,
    /// Its period; `null` if it is part of one burst, or not periodic.
    pub period: Option<PatternPeriod>,
    /// Why there is no period; `null` if there is one.
    pub period_reason: Option<String>,
}

/// The order of accesses that are in no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Drawn at random.
    Random,
}

/// Accesses to a file that are in no pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unpatterned {
    /// Read or write.
    #[serde(serialize_with = "op_name")]
    #[schemars(with = "String")]
    pub op: Op,
    /// File name.
    pub file: String,
    /// Number of accesses.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their order.
    pub order: Order,
    /// Places in the file where an access may lie.
    pub places: u64,
    /// Bytes of such a place; `null` where sizes vary.
    pub unit: Option<u64>,
    /// How often the same order was executed; `records` counts all of them.
    pub repeats: u64,
}

fn op_name<S: Serializer>(op: &Op, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(op.name())
}

impl TruePattern {
    /// Bytes of all accesses.
    pub fn bytes(&self) -> u64 {
        match &self.sizes {
            Some(sizes) => nest::records(&self.levels) * sizes.iter().map(|(size, n)| size * n).sum::<u64>(),
            None => self.access_size.unwrap_or(0) * self.records,
        }
    }
}

impl Unpatterned {
    /// Accesses of varying sizes at places drawn from `places`, once.
    pub(super) fn random(op: Op, file: &str, records: u64, bytes: u64, places: u64) -> Unpatterned {
        Unpatterned { op, file: file.to_owned(), records, bytes, order: Order::Random, places, unit: None, repeats: 1 }
    }
}

impl PatternKind {
    /// Kind of canonical loops over accesses of `size` bytes.
    pub(super) fn of(size: u64, loops: &[Loop]) -> PatternKind {
        match loops {
            [one] if one.stride == size as i64 => PatternKind::Contiguous,
            [] | [_] => PatternKind::FixedStrided,
            _ => PatternKind::KdStrided,
        }
    }
}

impl SizeSummary {
    /// Summary of a list that is not empty.
    pub(super) fn of(sizes: impl Iterator<Item = u64>) -> SizeSummary {
        let mut sorted: Vec<f64> = sizes.map(|s| s as f64).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        SizeSummary { min: at(0.0), q1: at(0.25), median: at(0.5), q3: at(0.75), max: at(1.0) }
    }
}
