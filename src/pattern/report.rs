//! Patterns as programs read them, in reports and in the truths of synthetic traces.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::pattern::{Kind, NextAccess, Pattern};
use super::piece::Ranks;
use super::sizes::SizeSummary;
use crate::nest::Loop;
use crate::record::Op;

/// Where the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Direction {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

impl Direction {
    fn of(op: Op) -> Direction {
        if op == Op::Read { Direction::Read } else { Direction::Write }
    }

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
        }
    }
}

/// The period of the accesses of one pattern.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PatternPeriod {
    /// The period in seconds.
    pub period_s: f64,
    /// Probability that the period is right within 5 %.
    pub confidence: f64,
}

/// One pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PatternReport {
    /// Whether the accesses read or write.
    pub op: Direction,
    /// What is done right after each access to the same bytes, where that is another operation: a read-modify-write, whose
    /// innermost loop of stride 0 goes through the two. `null` for a pattern of one operation.
    #[serde(default)]
    pub then: Option<Direction>,
    /// Type of the pattern.
    pub kind: Kind,
    /// Rank; of several, the first.
    pub rank: u32,
    /// The ranks that make it together: the outermost of the `levels` goes through them, so that pass i is made by rank
    /// `rank + i * step`. `null` for a pattern of one rank.
    #[serde(default)]
    pub ranks: Option<Ranks>,
    /// Name of the file.
    pub file: String,
    /// Start of the first access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times.
    #[serde(deserialize_with = "number_or_null")]
    #[schemars(with = "Option<f64>")]
    pub start_s: f64,
    /// End of the last access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times.
    #[serde(deserialize_with = "number_or_null")]
    #[schemars(with = "Option<f64>")]
    pub end_s: f64,
    /// Offset of the first access.
    pub start_offset: u64,
    /// One past the highest byte.
    pub end_offset: u64,
    /// Bytes of each access; `null` for a sequential pattern.
    pub access_size: Option<u64>,
    /// Number of accesses.
    pub records: u64,
    /// Bytes moved.
    #[serde(default)]
    pub bytes: u64,
    /// Stride of the innermost loop; `null` for a sequential pattern.
    pub stride: Option<i64>,
    /// Loops, innermost first; those of a sequential pattern go around all of its accesses, and it has none if there is one pass.
    pub levels: Vec<Loop>,
    /// Sizes of a sequential pattern; `null` for others.
    pub size_summary: Option<SizeSummary>,
    /// Sizes of one pass of a sequential pattern in order: size and how often in a row; `null` for others, and where they are
    /// too many to keep.
    #[serde(default)]
    pub sizes: Option<Vec<(u64, u32)>>,
    /// Period of its accesses.
    pub period: Option<PatternPeriod>,
    /// Why there is no period; `null` if there is one.
    pub period_reason: Option<String>,
    /// Patterns with the same number are the same walk by the same rank through files whose names differ in digits only, such as
    /// the checkpoints of a run; `null` if it is the only one.
    #[serde(default)]
    pub family: Option<u64>,
    /// The next accesses, if they were asked for.
    #[serde(default)]
    pub next: Vec<NextAccess>,
}

impl PatternReport {
    /// A pattern of the file of this name, without its period. `origin_s` is added to its times.
    pub(crate) fn of(p: &Pattern, file: &str, origin_s: f64) -> PatternReport {
        PatternReport {
            op: Direction::of(p.op),
            then: p.then().map(Direction::of),
            kind: p.kind(),
            rank: p.rank,
            ranks: p.ranks(),
            file: file.into(),
            start_s: origin_s + p.start,
            end_s: origin_s + p.end,
            start_offset: p.start_offset,
            end_offset: p.extent().1,
            access_size: p.access_size(),
            records: p.records,
            bytes: p.bytes,
            stride: p.levels().first().filter(|_| p.access_size().is_some()).map(|l| l.stride),
            levels: p.levels().to_vec(),
            size_summary: p.size_summary(),
            sizes: p.sizes().map(<[_]>::to_vec),
            period: None,
            period_reason: None,
            family: None,
            next: Vec::new(),
        }
    }
}

impl PatternReport {
    /// Takes out times that stand for an order only.
    pub(crate) fn without_times(&mut self) {
        (self.start_s, self.end_s, self.period) = (f64::NAN, f64::NAN, None);
        self.period_reason = Some("no times: only the order of the accesses is known".into());
    }

    /// All of its ranks.
    pub(crate) fn all_ranks(&self) -> impl Iterator<Item = u32> {
        let Ranks { count, step } = self.ranks.unwrap_or(Ranks { count: 1, step: 0 });
        let first = self.rank;
        (0..count).map(move |i| first.saturating_add(i.saturating_mul(step)))
    }
}

/// A number; not a number for `null`, as it is written.
fn number_or_null<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// How much of a trace the patterns explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Coverage {
    /// Accesses: reads and writes at a known place.
    pub records: u64,
    /// Accesses that belong to a pattern.
    pub matched: u64,
    /// Accesses that an open pattern was waiting for: predicted before they happened.
    pub predicted: u64,
    /// Bytes that the accesses move.
    #[serde(default)]
    pub bytes: u64,
    /// Bytes that those in a pattern move.
    #[serde(default)]
    pub matched_bytes: u64,
    /// Patterns that are counted here and not listed: those of fewest bytes, where a trace has more than about a hundred
    /// thousand.
    #[serde(default)]
    pub folded_patterns: u64,
}

/// The patterns of a trace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PatternsReport {
    /// How much they explain.
    pub coverage: Coverage,
    /// The patterns, in the order in which they began.
    pub patterns: Vec<PatternReport>,
}
