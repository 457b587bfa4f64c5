//! Loop nests over accesses of one size.

use crate::nest::{self, Loop};

/// Accesses of one size at the offsets that nested loops visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nest {
    /// Offset of the first access.
    pub(super) start: u64,
    /// Bytes of an access.
    pub(super) size: u64,
    /// Loops, innermost first.
    pub(super) loops: Vec<Loop>,
}

impl Nest {
    /// One access.
    pub(super) fn access(start: u64, size: u64) -> Nest {
        Nest { start, size, loops: Vec::new() }
    }

    /// Adds an outermost loop of `count` passes, `stride` bytes apart.
    pub(super) fn repeated(mut self, count: u64, stride: u64) -> Nest {
        self.loops.push(Loop { count, stride: stride as i64 });
        self
    }

    /// The same accesses, shifted by `bytes`.
    pub(super) fn shifted(mut self, bytes: u64) -> Nest {
        self.start += bytes;
        self
    }

    /// Number of accesses.
    pub(super) fn records(&self) -> u64 {
        nest::records(&self.loops)
    }

    /// Bytes of all accesses.
    pub(super) fn bytes(&self) -> u64 {
        self.size * self.records()
    }

    /// The same bytes with adjacent accesses merged, as by a library that knows the whole selection.
    pub(super) fn coalesced(self) -> Nest {
        let mut merged = Nest::access(self.start, self.size);
        for l in self.loops.iter().filter(|l| l.count != 1) {
            if merged.loops.is_empty() && l.stride == merged.size as i64 {
                merged.size *= l.count;
            } else {
                merged.loops.push(*l);
            }
        }
        Nest { loops: nest::canonical(&merged.loops), ..merged }
    }

    /// Cuts every access into pieces of at most `piece` bytes, which must divide its size or be larger.
    pub(super) fn split(mut self, piece: u64) -> Nest {
        let piece = piece.min(self.size);
        self.loops.insert(0, Loop { count: self.size / piece, stride: piece as i64 });
        self.size = piece;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(nest: &Nest) -> Vec<u64> {
        nest::offsets(nest.start, &nest.loops).flat_map(|o| o..o + nest.size).collect()
    }

    proptest! {
        #[test]
        fn coalesced_and_split_nests_move_the_same_bytes(
            size in 1u64..9,
            raw in prop::collection::vec((1u64..4, 0u64..20), 0..5),
        ) {
            let nest = raw.into_iter().fold(Nest::access(100, size), |n, (count, stride)| n.repeated(count, stride));
            prop_assert_eq!(bytes(&nest.clone().coalesced()), bytes(&nest));
            prop_assert_eq!(bytes(&nest.clone().split(1)), bytes(&nest));
        }
    }

    #[test]
    fn adjacent_rows_become_one_access() {
        let nest = Nest::access(0, 4).repeated(8, 4).repeated(3, 32).repeated(2, 1000);
        assert_eq!(nest.coalesced(), Nest::access(0, 96).repeated(2, 1000));
    }
}
