//! Patterns as the detector gives them.

use super::nest::{Level, Nest, offsets};
use super::sizes::{SizeSummary, Sizes};
use super::steps::Steps;
use crate::record::{FileId, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Types of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Accesses of one size, back to back.
    Contiguous,
    /// Accesses of one size at a constant stride.
    FixedStrided,
    /// Accesses of one size in nested loops of constant strides.
    KdStrided,
    /// Accesses of varying sizes, back to back.
    Sequential,
}

impl Kind {
    /// Name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Contiguous => "contiguous",
            Kind::FixedStrided => "fixed-strided",
            Kind::KdStrided => "kd-strided",
            Kind::Sequential => "sequential",
        }
    }

    /// Of accesses of one size in nested loops.
    pub fn of(size: u64, levels: &[Level]) -> Kind {
        match levels {
            [l] if size > 0 && i128::from(l.stride) == i128::from(size) => Kind::Contiguous,
            [] | [_] => Kind::FixedStrided,
            _ => Kind::KdStrided,
        }
    }
}

/// Which places a pattern visits.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// Nested loops over accesses of one size; canonical levels, innermost first.
    Strided { size: u64, levels: Vec<Level> },
    /// Back to back.
    Sequential { sizes: Box<Sizes> },
}

/// The ranks of a pattern that several make together: its outermost loop goes through them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Ranks {
    /// How many.
    pub count: u32,
    /// From one to the next.
    pub step: u32,
}

/// One access of a pattern, as it is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextAccess {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes; `null` where sizes vary.
    pub size: Option<u64>,
}

/// A pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Read or write.
    pub op: Op,
    /// Rank; of several, the first.
    pub rank: u32,
    /// File.
    pub file: FileId,
    /// Offset of the first access.
    pub start_offset: u64,
    /// Accesses.
    pub records: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Start of the first access in seconds.
    pub start: f64,
    /// End of the last access in seconds.
    pub end: f64,
    /// When it moved bytes.
    pub steps: Steps,
    pub(super) body: Body,
    /// Numbers of the first and the last record among those of the rank.
    pub(super) span: (u64, u64),
    /// The nest as it was when the pattern was closed, with the pass that had begun; `None` if there was none.
    pub(super) cursor: Option<Box<Nest>>,
    /// The ranks, if there are several.
    pub(super) ranks: Option<Ranks>,
    /// The other operation, if there are two.
    pub(super) then: Option<Op>,
}

impl Pattern {
    /// Bytes that it takes in memory.
    pub(super) fn memory(&self) -> usize {
        let body = match &self.body {
            Body::Strided { levels, .. } => levels.capacity() * size_of::<Level>(),
            Body::Sequential { sizes } => sizes.memory(),
        };
        let cursor = self.cursor.as_ref().map_or(0, |_| size_of::<Nest>());
        size_of::<Pattern>() + body + cursor + self.steps.memory()
    }

    /// Its type.
    pub fn kind(&self) -> Kind {
        match &self.body {
            Body::Strided { size, levels } => Kind::of(*size, levels),
            Body::Sequential { .. } => Kind::Sequential,
        }
    }

    /// Size of every access in bytes; `None` for a sequential pattern.
    pub fn access_size(&self) -> Option<u64> {
        match &self.body {
            Body::Strided { size, .. } => Some(*size),
            Body::Sequential { .. } => None,
        }
    }

    /// Loops in canonical form, innermost first; empty for a sequential pattern.
    pub fn levels(&self) -> &[Level] {
        match &self.body {
            Body::Strided { levels, .. } => levels,
            Body::Sequential { .. } => &[],
        }
    }

    /// Summary of the sizes of a sequential pattern.
    pub fn size_summary(&self) -> Option<SizeSummary> {
        match &self.body {
            Body::Strided { .. } => None,
            Body::Sequential { sizes } => Some(sizes.summary()),
        }
    }

    /// The ranks that make it together: pass i of the outermost loop is made by rank `rank + i * step`. `None` for a pattern of
    /// one rank.
    pub fn ranks(&self) -> Option<Ranks> {
        self.ranks
    }

    /// What follows each access at the same place, where that is another operation: a read-modify-write. Its innermost loop
    /// goes through the two.
    pub fn then(&self) -> Option<Op> {
        self.then
    }

    /// The operation of access `i`.
    pub fn op_of(&self, i: u64) -> Op {
        self.then.filter(|_| i % 2 == 1).unwrap_or(self.op)
    }

    /// The rank that makes access `i`.
    pub fn rank_of(&self, i: u64) -> u32 {
        let Some(ranks) = self.ranks else { return self.rank };
        let of_each = (self.records / u64::from(ranks.count.max(1))).max(1);
        self.rank.saturating_add(ranks.step.saturating_mul((i / of_each) as u32))
    }

    /// Lowest offset, and one past the highest byte.
    pub fn extent(&self) -> (u64, u64) {
        match &self.body {
            Body::Strided { size, levels } => Nest::extent(self.start_offset, *size, levels),
            Body::Sequential { .. } => (self.start_offset, self.start_offset.saturating_add(self.bytes)),
        }
    }

    /// Every access as (offset, size), in order. `None` for a sequential pattern whose sizes were not kept
    /// ([`Options::keep_sizes`](super::Options::keep_sizes)).
    pub fn expand(&self) -> Option<Box<dyn Iterator<Item = (u64, u64)> + '_>> {
        match &self.body {
            Body::Strided { size, levels } => {
                let size = *size;
                Some(Box::new(offsets(self.start_offset, levels).map(move |o| (o, size))))
            }
            Body::Sequential { sizes } => {
                let sizes = sizes.iter()?;
                Some(Box::new(sizes.scan(self.start_offset, |at, size| {
                    let here = *at;
                    *at += size;
                    Some((here, size))
                })))
            }
        }
    }

    /// Gives offset and size of access `i`; of a sequential pattern those that it has on average.
    pub fn places(&self) -> impl Fn(u64) -> (u64, u64) {
        let nest = match &self.body {
            Body::Strided { size, levels } => Some((Nest::from_levels(self.start_offset, levels), *size)),
            Body::Sequential { .. } => None,
        };
        let (start, mean) = (self.start_offset, self.bytes as f64 / self.records.max(1) as f64);
        move |i| match &nest {
            Some((nest, size)) => (nest.place(i), *size),
            None => (start.saturating_add((i as f64 * mean) as u64), mean as u64),
        }
    }

    /// The next `n` accesses if the pattern goes on: the rest of a pass that has begun, then further passes of the outermost
    /// loop. A prefetcher's question. None for a pattern of several ranks or operations:
    /// each has done its part.
    pub fn next(&self, n: usize) -> Vec<NextAccess> {
        if self.ranks.is_some() || self.then.is_some() {
            return Vec::new();
        }
        match &self.body {
            Body::Sequential { .. } => {
                vec![NextAccess { offset: self.extent().1, size: None }; n.min(1)]
            }
            Body::Strided { size, levels } => {
                let whole = || Nest::from_levels(self.start_offset, levels);
                let nest = self.cursor.as_deref().cloned().unwrap_or_else(whole);
                let places = (nest.records()..nest.records().saturating_add(n as u64)).map(|i| nest.place(i));
                places.map(|offset| NextAccess { offset, size: Some(*size) }).collect()
            }
        }
    }
}
