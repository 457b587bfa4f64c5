//! What a job does to a file, from what its ranks do (Madhyastha & Reed 1997, section 3.4).
//!
//! Read/write mix and size are the meets of the local ones. Sequentiality also needs the bytes: the same for all, a part
//! for each, or pieces that interleave.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extent::{Extent, Pieces};
use super::lattice::{Axis, Sequentiality};

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
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::GlobalSequential,
        Self::PartitionedSequential,
        Self::InterleavedSequential,
        Self::GlobalStrided,
        Self::PartitionedStrided,
        Self::SingleRank,
        Self::NonSequential,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::GlobalSequential => "global-sequential",
            Self::PartitionedSequential => "partitioned-sequential",
            Self::InterleavedSequential => "interleaved-sequential",
            Self::GlobalStrided => "global-strided",
            Self::PartitionedStrided => "partitioned-strided",
            Self::SingleRank => "single-rank",
            Self::NonSequential => "non-sequential",
        }
    }
}

/// Accesses of all ranks that are merged to see whether they leave gaps.
const MERGED: usize = 8192;
/// Hulls that have at least this share of their union in common are the same.
const SAME: f64 = 0.9;
/// A gap of one part in so many of the pieces beside it is none.
const NARROW: u64 = 16;
/// A gap must be this many times rarer than rounds of the ranks.
const RARE: usize = 4;

/// The global class of ranks whose local classes and bytes are given, one entry a rank.
pub(crate) fn classify(ranks: &[(Sequentiality, &Extent)]) -> GlobalSequentiality {
    use GlobalSequentiality as G;
    if ranks.len() < 2 {
        return G::SingleRank;
    }
    let meet = ranks.iter().map(|r| r.0).reduce(Axis::meet).unwrap_or(Sequentiality::LEAST);
    let extents: Vec<&Extent> = ranks.iter().map(|r| r.1).collect();
    let same = same_hulls(&extents);
    let apart = disjoint_hulls(&extents);
    match meet {
        Sequentiality::Sequential if same => G::GlobalSequential,
        Sequentiality::Sequential if apart => G::PartitionedSequential,
        Sequentiality::Sequential => shared_or_parted(&extents),
        Sequentiality::NonSequential => G::NonSequential,
        _ if apart => G::PartitionedStrided,
        _ if interleaves(&extents) => G::InterleavedSequential,
        Sequentiality::VariablyStrided => G::NonSequential,
        _ => G::GlobalStrided,
    }
}

fn same_hulls(extents: &[&Extent]) -> bool {
    let low = extents.iter().map(|e| e.hull.0).minmax();
    let high = extents.iter().map(|e| e.hull.1).minmax();
    let (Some((first, inner_first)), Some((inner_last, last))) = (low, high) else { return false };
    inner_last > inner_first && (inner_last - inner_first) as f64 >= SAME * (last - first) as f64
}

trait MinMax: Iterator<Item = u64> + Sized {
    fn minmax(self) -> Option<(u64, u64)> {
        self.fold(None, |m, x| Some(m.map_or((x, x), |(a, b): (u64, u64)| (a.min(x), b.max(x)))))
    }
}

impl<I: Iterator<Item = u64>> MinMax for I {}

fn disjoint_hulls(extents: &[&Extent]) -> bool {
    let mut hulls: Vec<(u64, u64)> = extents.iter().map(|e| e.hull).collect();
    hulls.sort_unstable();
    hulls.windows(2).all(|w| w[0].1 <= w[1].0)
}

/// Sequential ranks whose parts overlap in part: shared if most bytes are touched twice.
fn shared_or_parted(extents: &[&Extent]) -> GlobalSequentiality {
    let mut hulls: Vec<(u64, u64)> = extents.iter().map(|e| e.hull).collect();
    hulls.sort_unstable();
    let (mut union, mut sum, mut end) = (0u128, 0u128, 0u64);
    for (a, b) in hulls {
        sum += u128::from(b - a);
        union += u128::from(b.max(end) - a.max(end).min(b.max(end)));
        end = end.max(b);
    }
    if sum >= 2 * union { GlobalSequentiality::GlobalSequential } else { GlobalSequentiality::PartitionedSequential }
}

/// Are the accesses of all ranks, merged by their place in the file, disjoint and without gaps, over as many accesses as
/// there are ranks at least?
fn interleaves(extents: &[&Extent]) -> bool {
    let each = (MERGED / extents.len()).max(8);
    let fronts: Vec<Pieces> = extents.iter().map(|e| e.front(each)).collect();
    // where all of them are known
    let until = fronts.iter().filter_map(|f| f.until).min().unwrap_or(u64::MAX);
    let fronts = fronts.into_iter().map(|f| pieces(f.sorted));
    let mut all: Vec<(u64, u64)> = fronts.flatten().filter(|i| i.0 < until).collect();
    all.sort_unstable();
    let pairs = all.len().saturating_sub(1);
    let disjoint = all.windows(2).all(|w| w[0].1 <= w[1].0);
    // what a library puts between the pieces is no gap of the job
    let narrow = |w: &[(u64, u64)]| w[1].0.saturating_sub(w[0].1) <= (w[1].1 - w[1].0).min(w[0].1 - w[0].0) / NARROW;
    let gaps = all.windows(2).filter(|w| !narrow(w)).count();
    // a gap in each round of the ranks is part of the pattern, one here and there is not
    disjoint && pairs + 1 >= extents.len() && gaps * RARE <= pairs / extents.len()
}

/// Accesses of one rank that follow each other are one piece.
fn pieces(sorted: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::with_capacity(sorted.len());
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
    use super::super::extent::Shape;
    use super::super::nest::Nest;
    use super::*;

    fn strided(start: u64, stride: u64, count: u64, size: u64) -> Extent {
        let mut nest = Nest::new(start);
        (1..count).for_each(|i| assert!(nest.accept(start + i * stride)));
        Extent {
            hull: (start, start + (count - 1) * stride + size),
            bytes: count * size,
            shape: Shape::Nested(nest, size),
        }
    }

    fn whole(a: u64, b: u64) -> Extent {
        Extent { hull: (a, b), bytes: b - a, shape: Shape::Whole }
    }

    fn class(local: Sequentiality, extents: &[Extent]) -> GlobalSequentiality {
        classify(&extents.iter().map(|e| (local, e)).collect::<Vec<_>>())
    }

    #[test]
    fn each_class_from_its_definition() {
        use GlobalSequentiality as G;
        use Sequentiality::{NonSequential, Sequential, Strided1d};
        let many = |f: &dyn Fn(u64) -> Extent| (0..7).map(f).collect::<Vec<_>>();
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
