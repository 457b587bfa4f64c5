//! The class of a job in a file, from those of its ranks (Madhyastha & Reed 1997, section 3.4).
//!
//! Read/write mix and size are the meets of the local ones. Sequentiality also depends on the bytes: shared by all ranks,
//! partitioned, or interleaved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extent::{Interval, Shape};
use super::lattice::{Axis, Sequentiality, named};
use super::thresholds::LIMITS;

/// Accesses of all ranks that are merged to find gaps.
const MERGED: usize = 8192;

/// How a job walks through a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GlobalSequentiality {
    /// Every rank walks through the same bytes, back to back.
    GlobalSequential,
    /// Every rank walks through a part of its own, back to back.
    PartitionedSequential,
    /// Every rank strides, and together they leave no gap.
    InterleavedSequential,
    /// Every rank strides through the same region.
    GlobalStrided,
    /// Every rank strides through a part of its own.
    PartitionedStrided,
    /// Only one rank.
    SingleRank,
    /// Anything else.
    NonSequential,
}

impl GlobalSequentiality {
    named!(
        pub GlobalSequential = "global-sequential",
        PartitionedSequential = "partitioned-sequential",
        InterleavedSequential = "interleaved-sequential",
        GlobalStrided = "global-strided",
        PartitionedStrided = "partitioned-strided",
        SingleRank = "single-rank",
        NonSequential = "non-sequential"
    );
}

/// One rank's local class and the bytes that it accesses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub sequentiality: Sequentiality,
    pub hull: Interval,
    pub shape: &'a Shape,
}

/// The global class of ranks, one part each.
pub(crate) fn classify(ranks: &[Part<'_>]) -> GlobalSequentiality {
    use GlobalSequentiality as G;
    if ranks.len() < 2 {
        return G::SingleRank;
    }
    let meet = ranks.iter().map(|r| r.sequentiality).reduce(Axis::meet).unwrap_or(Sequentiality::LEAST);
    let mut hulls: Vec<Interval> = ranks.iter().map(|r| r.hull).collect();
    hulls.sort_unstable();
    let apart = hulls.windows(2).all(|w| w[0].1 <= w[1].0);
    match meet {
        Sequentiality::Sequential if are_same(&hulls) => G::GlobalSequential,
        Sequentiality::Sequential if apart => G::PartitionedSequential,
        Sequentiality::Sequential => shared_or_parted(&hulls),
        Sequentiality::NonSequential => G::NonSequential,
        _ if apart => G::PartitionedStrided,
        _ if interleaves(ranks) => G::InterleavedSequential,
        Sequentiality::VariablyStrided => G::NonSequential,
        _ => G::GlobalStrided,
    }
}

/// Do these hulls, sorted, have nearly all of their union in common?
fn are_same(hulls: &[Interval]) -> bool {
    let ends = || hulls.iter().map(|h| h.1);
    let (Some((first, _)), Some((latest_start, _))) = (hulls.first(), hulls.last()) else { return false };
    let (earliest_end, last) = (ends().min().unwrap_or(0), ends().max().unwrap_or(0));
    earliest_end > *latest_start && (earliest_end - latest_start) as f64 >= LIMITS.same * (last - first) as f64
}

/// Sequential ranks whose parts overlap partly: shared if most bytes are accessed twice.
fn shared_or_parted(hulls: &[Interval]) -> GlobalSequentiality {
    let (mut union, mut sum, mut end) = (0u128, 0u128, 0u64);
    for &(a, b) in hulls {
        sum += u128::from(b - a);
        union += u128::from(b.max(end) - a.max(end).min(b.max(end)));
        end = end.max(b);
    }
    if sum >= 2 * union { GlobalSequentiality::GlobalSequential } else { GlobalSequentiality::PartitionedSequential }
}

/// Accesses of each rank that are merged to find gaps.
pub(crate) fn merged_of_each(ranks: usize) -> usize {
    (MERGED / ranks.max(1)).max(8)
}

/// Are the accesses of all ranks, merged by offset, disjoint and without gaps? There must be at least as many as ranks.
fn interleaves(ranks: &[Part<'_>]) -> bool {
    let most = merged_of_each(ranks.len());
    let fronts: Vec<_> = ranks.iter().map(|r| r.shape.front(r.hull, most)).collect();
    // up to here all of them are known
    let until = fronts.iter().filter_map(|f| f.until).min().unwrap_or(u64::MAX);
    let fronts = fronts.into_iter().map(|f| merged(f.sorted));
    let mut all: Vec<Interval> = fronts.flatten().filter(|i| i.0 < until).collect();
    all.sort_unstable();
    let pairs = all.len().saturating_sub(1);
    let disjoint = all.windows(2).all(|w| w[0].1 <= w[1].0);
    // a library's own bytes between the accesses are no gap of the job
    let narrow =
        |w: &[Interval]| w[1].0.saturating_sub(w[0].1) <= (w[1].1 - w[1].0).min(w[0].1 - w[0].0) / LIMITS.narrow;
    let gaps = all.windows(2).filter(|w| !narrow(w)).count();
    // a gap in each round of the ranks is part of the pattern, an occasional one is not
    disjoint && pairs + 1 >= ranks.len() && gaps * LIMITS.rare <= pairs / ranks.len()
}

/// Merges accesses of one rank that follow each other.
fn merged(sorted: Vec<Interval>) -> Vec<Interval> {
    let mut out: Vec<Interval> = Vec::with_capacity(sorted.len());
    for (a, b) in sorted {
        match out.last_mut() {
            Some(last) if last.1 == a => last.1 = b,
            _ => out.push((a, b)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nest::{Growing, Loop};

    type Bytes = (Interval, Shape);

    fn strided(start: u64, stride: u64, count: u64, size: u64) -> Bytes {
        let nest = Growing::of(start, &[Loop { count, stride: stride as i64 }]);
        ((start, start + (count - 1) * stride + size), Shape::Nested(nest, size))
    }

    fn whole(a: u64, b: u64) -> Bytes {
        ((a, b), Shape::Whole)
    }

    fn class(sequentiality: Sequentiality, ranks: &[Bytes]) -> GlobalSequentiality {
        let parts = ranks.iter().map(|(hull, shape)| Part { sequentiality, hull: *hull, shape });
        classify(&parts.collect::<Vec<_>>())
    }

    #[test]
    fn each_class_from_its_definition() {
        use GlobalSequentiality as G;
        use Sequentiality::{NonSequential, Sequential, Strided1d};
        let many = |f: &dyn Fn(u64) -> Bytes| (0..7).map(f).collect::<Vec<_>>();
        assert_eq!(class(Sequential, &[whole(0, 10)]), G::SingleRank);
        assert_eq!(class(Sequential, &many(&|_| whole(0, 1000))), G::GlobalSequential);
        assert_eq!(class(Sequential, &many(&|r| whole(r * 100, r * 100 + 100))), G::PartitionedSequential);
        assert_eq!(class(Strided1d, &many(&|r| strided(r * 8, 56, 1_000_000, 8))), G::InterleavedSequential);
        assert_eq!(class(Strided1d, &many(&|r| strided(r * 8, 64, 100, 8))), G::GlobalStrided, "a gap in each round");
        assert_eq!(class(Strided1d, &many(&|_| strided(0, 64, 100, 8))), G::GlobalStrided, "the same bytes");
        assert_eq!(class(Strided1d, &many(&|r| strided(r * 10_000, 64, 100, 8))), G::PartitionedStrided);
        assert_eq!(class(NonSequential, &many(&|r| whole(r * 100, r * 100 + 100))), G::NonSequential);
    }
}
