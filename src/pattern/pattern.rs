//! Patterns as the detector gives them.

use super::piece::{Body, Piece, Ranks};
use super::sizes::SizeSummary;
use super::steps::Steps;
use crate::nest::{Growing, Loop, extent, offsets};
use crate::record::{FileId, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Types of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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
    pub(crate) fn of(size: u64, levels: &[Loop]) -> Kind {
        match levels {
            [l] if size > 0 && i128::from(l.stride) == i128::from(size) => Kind::Contiguous,
            [] | [_] => Kind::FixedStrided,
            _ => Kind::KdStrided,
        }
    }
}

/// One access of a pattern, as it is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct NextAccess {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes; `null` where sizes vary.
    pub size: Option<u64>,
}

/// A pattern.
#[derive(Debug, Clone)]
#[non_exhaustive]
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
    pub(crate) steps: Steps,
    body: Body,
    loops: Vec<Loop>,
    /// The nest with the pass that had begun when the trace ended; `None` if there was none.
    cursor: Option<Box<Growing>>,
    ranks: Option<Ranks>,
    then: Option<Op>,
}

impl Pattern {
    pub(super) fn of(p: Piece) -> Pattern {
        Pattern {
            op: p.op,
            rank: p.rank,
            file: p.file,
            start_offset: p.at,
            records: p.records(),
            bytes: p.bytes(),
            start: p.start,
            end: p.end,
            loops: p.loops(),
            steps: p.steps,
            body: p.body,
            cursor: p.cursor,
            ranks: p.ranks,
            then: p.then,
        }
    }

    /// Its type.
    pub fn kind(&self) -> Kind {
        match &self.body {
            Body::One(size) => Kind::of(*size, &self.loops),
            Body::Chain(_) => Kind::Sequential,
        }
    }

    /// Size of every access in bytes; `None` for a sequential pattern.
    pub fn access_size(&self) -> Option<u64> {
        self.body.size()
    }

    /// Loops in canonical form, innermost first. Those of a sequential pattern go through all of its accesses.
    pub fn levels(&self) -> &[Loop] {
        &self.loops
    }

    /// Summary of the sizes of a sequential pattern.
    pub fn size_summary(&self) -> Option<SizeSummary> {
        match &self.body {
            Body::One(_) => None,
            Body::Chain(sizes) => Some(sizes.summary()),
        }
    }

    /// Sizes of one pass of a sequential pattern in order: size and how often in a row. `None` for other patterns, and if the
    /// order was not kept ([`Options::keep_sizes`](super::Options::keep_sizes)).
    pub(crate) fn sizes(&self) -> Option<&[(u64, u32)]> {
        match &self.body {
            Body::One(_) => None,
            Body::Chain(sizes) => sizes.rows(),
        }
    }

    /// The ranks that make it together: pass i of the outermost loop is made by rank `rank + i * step`. `None` for a pattern of
    /// one rank.
    pub fn ranks(&self) -> Option<Ranks> {
        self.ranks
    }

    /// The operation that follows each access at the same place, where it is another one: a read-modify-write. Its innermost loop
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

    /// The access that is number `k` in the order of time, as far as that is known: ranks work side by side.
    pub(crate) fn in_time(&self, k: u64) -> u64 {
        let Some(ranks) = self.ranks else { return k };
        let count = u64::from(ranks.count.max(1));
        let of_each = self.records / count;
        if k >= of_each * count { k } else { k % count * of_each + k / count }
    }

    /// Lowest offset, and one past the highest byte.
    pub fn extent(&self) -> (u64, u64) {
        extent(self.start_offset, self.body.bytes(), &self.loops)
    }

    /// Every access as (offset, size), in order. `None` for a sequential pattern whose sizes were not kept
    /// ([`Options::keep_sizes`](super::Options::keep_sizes)).
    pub fn expand(&self) -> Option<Box<dyn Iterator<Item = (u64, u64)> + '_>> {
        let starts = offsets(self.start_offset, &self.loops);
        match &self.body {
            Body::One(size) => {
                let size = *size;
                Some(Box::new(starts.map(move |o| (o, size))))
            }
            Body::Chain(sizes) => {
                let rows = sizes.rows()?;
                Some(Box::new(starts.flat_map(move |start| {
                    let each = rows.iter().flat_map(|&(size, n)| std::iter::repeat_n(size, n as usize));
                    each.scan(start, |at, size| {
                        let here = *at;
                        *at = at.wrapping_add(size);
                        Some((here, size))
                    })
                })))
            }
        }
    }

    /// Gives offset and size of access `i`; of a sequential pattern those that it has on average.
    pub(crate) fn places(&self) -> impl Fn(u64) -> (u64, u64) {
        let nest = Growing::of(self.start_offset, &self.loops);
        let of_pass = self.body.records().max(1);
        let mean = self.body.bytes() as f64 / of_pass as f64;
        let size = self.body.size();
        move |i| match size {
            Some(size) => (nest.offset(i), size),
            None => (nest.offset(i / of_pass).saturating_add(((i % of_pass) as f64 * mean) as u64), mean as u64),
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
            Body::Chain(_) => {
                let goes_on = Growing::of(self.start_offset, &self.loops).expected();
                let offset = if self.loops.is_empty() { self.extent().1 } else { goes_on };
                vec![NextAccess { offset, size: None }; n.min(1)]
            }
            Body::One(size) => {
                let whole = || Growing::of(self.start_offset, &self.loops);
                let nest = self.cursor.as_deref().cloned().unwrap_or_else(whole);
                let places = (nest.records()..nest.records().saturating_add(n as u64)).map(|i| nest.offset(i));
                places.map(|offset| NextAccess { offset, size: Some(*size) }).collect()
            }
        }
    }
}
