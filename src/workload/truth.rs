//! What is true of a synthetic trace by construction: schema `iophase.truth.v1`.
//!
//! Everything here follows from the parameters of the workload, nothing from looking at the trace.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::shape::Shape;
use super::stretch::seconds;
use crate::record::Op;

/// Name of the schema of [`Truth`].
pub const TRUTH_SCHEMA: &str = "iophase.truth.v1";

/// The truth of a synthetic trace. Times are seconds on its clock, offsets and sizes bytes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Truth {
    /// [`TRUTH_SCHEMA`].
    pub schema: String,
    /// Name of the workload.
    pub workload: String,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Parameters of the workload, defaults too.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// Ranks.
    pub ranks: u64,
    /// Files.
    pub files: u64,
    /// Records of the trace.
    pub records: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// First access.
    pub start_s: f64,
    /// End of the last access.
    pub end_s: f64,
    /// Something repeats evenly.
    pub periodic: bool,
    /// What repeats, most bytes first.
    pub periods: Vec<Period>,
    /// Bursts of I/O, in the order of time.
    pub phases: Vec<Phase>,
    /// The exact accesses of every rank, by rank and file: one pattern for every progression. Accesses that stand alone are in
    /// none, but for those that evenly spaced ranks make once each at one distance.
    pub patterns: Vec<TruePattern>,
    /// Accesses that are in no pattern, by file: at random places, or alone.
    pub unpatterned: Vec<Unpatterned>,
}

/// Something that repeats evenly.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Period {
    /// What repeats.
    #[serde(serialize_with = "op_name")]
    #[schemars(with = "String")]
    pub op: Op,
    /// Mean time from start to start of bursts that follow each other (nominal where bursts are missed or sit on a grid).
    pub period_s: f64,
    /// 1 / `period_s`.
    pub frequency_hz: f64,
    /// Shortest time between two bursts; `null` for one burst.
    pub shortest_s: Option<f64>,
    /// Longest time between two bursts; `null` for one burst.
    pub longest_s: Option<f64>,
    /// Number of bursts.
    pub bursts: u64,
    /// Bytes of all bursts.
    pub bytes: u64,
    /// Where it holds: from the start of the first burst to the end of the last.
    pub windows: Vec<Window>,
}

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Window {
    /// Start.
    pub start_s: f64,
    /// End.
    pub end_s: f64,
}

/// A burst of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Phase {
    /// What it does.
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

/// What kind a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PatternKind {
    /// Equal sizes, back to back.
    Contiguous,
    /// Equal sizes, an equal distance apart that is not the size.
    FixedStrided,
    /// Nested levels of those.
    KdStrided,
    /// Back to back, sizes vary.
    Sequential,
}

/// A loop of a pattern: `count` times, `stride` bytes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Level {
    /// How often.
    pub count: u64,
    /// Bytes from one to the next; 0 goes over the same place again.
    pub stride: i64,
}

/// The ranks of a pattern that several make together.
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
    /// 1: it is so by construction.
    pub confidence: f64,
}

/// A progression of accesses of one rank to one file, or of several ranks that make one access each, in its canonical form: no
/// level of count 1, and no level that goes on where the one inside it ends.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TruePattern {
    /// Read or write.
    #[serde(serialize_with = "op_name")]
    #[schemars(with = "String")]
    pub op: Op,
    /// Its kind.
    pub kind: PatternKind,
    /// Rank; of several, the first.
    pub rank: u32,
    /// The ranks that make it together, one pass of the outermost level each; `null` for one rank.
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
    /// Stride of the innermost level; `null` for sequential.
    pub stride: Option<i64>,
    /// Levels, innermost first; empty for sequential.
    pub levels: Vec<Level>,
    /// Sizes of a sequential pattern.
    pub size_summary: Option<SizeSummary>,
    /// Its period; `null` if it belongs to one burst, or comes at no period.
    pub period: Option<PatternPeriod>,
    /// Why there is no period.
    pub period_reason: Option<String>,
}

/// Accesses of a file that are in no pattern.
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
}

fn op_name<S: Serializer>(op: &Op, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(op.name())
}

/// Who accesses what, and when: what patterns need beside their shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) op: Op,
    pub(crate) rank: u32,
    pub(crate) file: &'a str,
    /// Start of the first access and end of the last.
    pub(crate) span_ns: (u64, u64),
    /// Seconds between the bursts that it goes through.
    pub(crate) period_s: Option<f64>,
}

impl TruePattern {
    /// The pattern of accesses of a shape from `offset` on, with no level if that is one access; `None` if there is none.
    pub(crate) fn nested(place: Place<'_>, offset: u64, shape: &Shape) -> Option<TruePattern> {
        if shape.count() == 0 {
            return None;
        }
        let mut pattern = TruePattern::new(place, PatternKind::FixedStrided, offset, offset);
        pattern.shape(shape);
        Some(pattern)
    }

    /// Gives it the accesses of a shape from its start on.
    pub(crate) fn shape(&mut self, shape: &Shape) {
        let shape = shape.canonical();
        self.kind = match shape.levels[..] {
            [] => PatternKind::FixedStrided,
            [one] if one.stride == shape.size as i64 => PatternKind::Contiguous,
            [_] => PatternKind::FixedStrided,
            _ => PatternKind::KdStrided,
        };
        self.end_offset = self.start_offset + shape.end();
        self.access_size = Some(shape.size);
        self.records = shape.count();
        self.stride = shape.levels.first().map(|l| l.stride);
        self.levels = shape.levels;
    }

    /// The pattern of accesses of these sizes back to back from `offset` on.
    pub(crate) fn back_to_back(place: Place<'_>, offset: u64, sizes: &[u64]) -> Option<TruePattern> {
        let (first, rest) = sizes.split_first()?;
        if rest.iter().all(|s| s == first) {
            return TruePattern::nested(place, offset, &Shape::of(*first).times(sizes.len() as u64, *first));
        }
        let end = offset + sizes.iter().sum::<u64>();
        let mut pattern = TruePattern::new(place, PatternKind::Sequential, offset, end);
        pattern.records = sizes.len() as u64;
        pattern.size_summary = Some(SizeSummary::of(sizes));
        Some(pattern)
    }

    pub(crate) fn new(place: Place<'_>, kind: PatternKind, start_offset: u64, end_offset: u64) -> TruePattern {
        TruePattern {
            op: place.op,
            kind,
            rank: place.rank,
            ranks: None,
            file: place.file.to_owned(),
            start_s: seconds(place.span_ns.0),
            end_s: seconds(place.span_ns.1),
            start_offset,
            end_offset,
            access_size: None,
            records: 0,
            stride: None,
            levels: Vec::new(),
            size_summary: None,
            period: place.period_s.map(|period_s| PatternPeriod { period_s, confidence: 1.0 }),
            period_reason: place.period_s.is_none().then(|| "it belongs to one burst, or to none".to_owned()),
        }
    }

    /// The lowest place.
    pub(crate) fn lowest(&self) -> u64 {
        let below: i64 = self.levels.iter().map(|l| (l.count as i64 - 1) * l.stride.min(0)).sum();
        self.start_offset.wrapping_add_signed(below)
    }

    /// Bytes of all accesses.
    pub fn bytes(&self) -> u64 {
        self.access_size.map_or(self.end_offset - self.start_offset, |size| size * self.records)
    }
}

impl SizeSummary {
    fn of(sizes: &[u64]) -> SizeSummary {
        let mut sorted: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        SizeSummary { min: at(0.0), q1: at(0.25), median: at(0.5), q3: at(0.75), max: at(1.0) }
    }
}

/// Bursts that repeat, in the order of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bursts {
    /// Start and end of each.
    pub(crate) spans_ns: Vec<(u64, u64)>,
    pub(crate) bytes: u64,
}

impl Bursts {
    /// What repeats with these bursts: every `period_s` if that is known, else with their mean distance. `None` below two bursts.
    pub(crate) fn period(&self, op: Op, period_s: Option<f64>) -> Option<Period> {
        let (first, last) = (self.spans_ns.first()?, self.spans_ns.last()?);
        let gaps: Vec<f64> = self.spans_ns.windows(2).map(|w| seconds(w[1].0 - w[0].0)).collect();
        let mean = seconds(last.0 - first.0) / gaps.len().max(1) as f64;
        let period_s = period_s.unwrap_or(mean);
        (period_s > 0.0 && !gaps.is_empty()).then(|| Period {
            op,
            period_s,
            frequency_hz: 1.0 / period_s,
            shortest_s: gaps.iter().copied().reduce(f64::min),
            longest_s: gaps.iter().copied().reduce(f64::max),
            bursts: self.spans_ns.len() as u64,
            bytes: self.bytes,
            windows: vec![Window { start_s: seconds(first.0), end_s: seconds(last.1) }],
        })
    }
}

impl Phase {
    pub(crate) fn of(op: Op, span_ns: (u64, u64), bytes: u64) -> Phase {
        Phase { op, start_s: seconds(span_ns.0), end_s: seconds(span_ns.1), bytes }
    }
}
