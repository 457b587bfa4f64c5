//! Patterns as programs read them, in reports and in the truths of synthetic traces.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::hash::Hash;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::pattern::{Kind, NextAccess, Pattern};
use super::piece::Ranks;
use super::sizes::SizeSummary;
use super::table::Table;
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

/// The period of the accesses of a pattern or a group.
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
    /// The operation right after each access to the same bytes, where it is another one: a read-modify-write, whose
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
    /// Period of its accesses; that of its family if this is in the file for one burst.
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

/// Patterns of one operation, type and size in one file, or in files whose names differ in digits only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PatternGroup {
    /// Whether the accesses read or write.
    pub op: Direction,
    /// The operation right after each access to the same bytes; `null` for patterns of one operation.
    pub then: Option<Direction>,
    /// Type of the patterns.
    pub kind: Kind,
    /// Bytes of each access; `null` for sequential patterns.
    pub access_size: Option<u64>,
    /// Name of the file; of several, of the one whose pattern began first.
    pub file: String,
    /// Number of files.
    pub files: u64,
    /// Number of ranks.
    pub ranks: u64,
    /// Number of patterns.
    pub patterns: u64,
    /// Number of accesses.
    pub records: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Loops of each pattern, innermost first; `null` if they differ.
    pub levels: Option<Vec<Loop>>,
    /// Period of the accesses of all patterns together.
    pub period: Option<PatternPeriod>,
    /// Why there is no period; `null` if there is one.
    pub period_reason: Option<String>,
}

impl PatternGroup {
    /// The group of some patterns, without its period; `None` if there are none.
    fn of<'a>(patterns: impl Iterator<Item = &'a PatternReport> + Clone) -> Option<PatternGroup> {
        let first = patterns.clone().next()?;
        let sum = |of: fn(&PatternReport) -> u64| patterns.clone().map(of).fold(0, u64::saturating_add);
        Some(PatternGroup {
            op: first.op,
            then: first.then,
            kind: first.kind,
            access_size: first.access_size,
            file: first.file.clone(),
            files: patterns.clone().map(|p| &p.file).collect::<BTreeSet<_>>().len() as u64,
            ranks: patterns.clone().flat_map(PatternReport::all_ranks).collect::<BTreeSet<_>>().len() as u64,
            patterns: patterns.clone().count() as u64,
            records: sum(|p| p.records),
            bytes: sum(|p| p.bytes),
            levels: patterns.clone().all(|p| p.levels == first.levels).then(|| first.levels.clone()),
            period: None,
            period_reason: None,
        })
    }
}

/// The groups of some patterns without their periods, those of the most bytes first, and the places of the patterns of each.
/// `series` numbers the files: those with the same number are in the same groups.
pub(crate) fn groups(
    patterns: &[&PatternReport],
    series: impl Fn(usize) -> Option<u32>,
) -> Vec<(PatternGroup, Vec<usize>)> {
    let key = |(i, p): (usize, &&PatternReport)| (p.op, p.then, p.kind, p.access_size, series(i));
    let group = |members: Vec<usize>| Some((PatternGroup::of(members.iter().map(|&i| patterns[i]))?, members));
    let mut groups: Vec<_> = alike(patterns.iter().enumerate().map(key)).into_iter().filter_map(group).collect();
    groups.sort_by_key(|(g, _)| Reverse(g.bytes));
    groups
}

/// The places of equal keys, keys in the order in which they come first.
pub(crate) fn alike<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> Vec<Vec<usize>> {
    let mut index: Table<K, usize> = Table::default();
    let mut places: Vec<Vec<usize>> = Vec::new();
    for (i, key) in keys.enumerate() {
        let at = *index.entry(key).or_insert(places.len());
        if at == places.len() {
            places.push(Vec::new());
        }
        places[at].push(i);
    }
    places
}

/// The patterns of a trace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PatternsReport {
    /// How much they explain.
    pub coverage: Coverage,
    /// The patterns, in the order in which they began.
    pub patterns: Vec<PatternReport>,
    /// The same in groups, those of the most bytes first.
    #[serde(default)]
    pub groups: Vec<PatternGroup>,
}
