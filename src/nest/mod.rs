//! Loop nests: the places that nested loops with constant strides visit, one after the other.
//!
//! This floor knows offsets only: no ranks, files or times. Patterns, access classes and synthetic jobs are all stated in
//! [`Loop`]s, and [`Growing`] is the automaton that follows a nest whose outermost loop may still go on.
//!
//! Nests of constant strides are the power-RSDs of ScalaTrace (Noeth et al., J. Parallel Distrib. Comput. 69(8), 2009, section
//! 3) and the loops of nested loop recognition (Ketterlin & Clauss, CGO 2008).

mod growing;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use growing::Growing;

/// One loop of a nest. Lists of loops are innermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Loop {
    /// Passes of the loop.
    pub count: u64,
    /// Bytes from one pass to the next; may be negative or zero.
    pub stride: i64,
}

/// The same accesses in the fewest loops: loops of one pass are dropped, and a loop that continues where the loop inside it
/// ends (`stride = inner count * inner stride`) is fused with it.
pub fn canonical(loops: &[Loop]) -> Vec<Loop> {
    let mut out: Vec<Loop> = Vec::with_capacity(loops.len());
    for l in loops.iter().filter(|l| l.count != 1) {
        match out.last_mut() {
            Some(inner) if continues(*inner, l.stride) => inner.count = inner.count.saturating_mul(l.count),
            _ => out.push(*l),
        }
    }
    out
}

/// True if a loop of this stride continues where `inner` ends.
pub fn continues(inner: Loop, stride: i64) -> bool {
    i128::from(inner.count) * i128::from(inner.stride) == i128::from(stride)
}

/// Accesses of one complete execution of the loops; 1 without any loop.
pub fn records(loops: &[Loop]) -> u64 {
    loops.iter().fold(1, |n, l| n.saturating_mul(l.count))
}

/// The offsets that the loops visit from `start` on, in order.
///
/// Offsets wrap around as `u64`; those of sound accesses never do.
pub fn offsets(start: u64, loops: &[Loop]) -> impl Iterator<Item = u64> + '_ {
    let mut turns = vec![0u64; loops.len()];
    let mut at = start;
    (0..records(loops)).map(move |_| {
        let here = at;
        for (turn, l) in turns.iter_mut().zip(loops) {
            *turn += 1;
            at = at.wrapping_add(l.stride as u64);
            if *turn < l.count {
                break;
            }
            at = at.wrapping_sub(l.count.wrapping_mul(l.stride as u64));
            *turn = 0;
        }
        here
    })
}

/// Lowest byte, and one past the highest, of accesses of `size` bytes.
pub fn extent(start: u64, size: u64, loops: &[Loop]) -> (u64, u64) {
    let (mut low, mut high) = (i128::from(start), i128::from(start) + i128::from(size));
    for l in loops {
        let reach = i128::from(l.count.saturating_sub(1)) * i128::from(l.stride);
        if reach < 0 { low += reach } else { high += reach }
    }
    let clamp = |x: i128| u64::try_from(x.max(0)).unwrap_or(u64::MAX);
    (clamp(low), clamp(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lp(count: u64, stride: i64) -> Loop {
        Loop { count, stride }
    }

    #[test]
    fn seamless_loops_fuse_and_loops_of_one_pass_vanish() {
        assert_eq!(canonical(&[lp(32, 8), lp(1, 99), lp(4, 256), lp(3, 2000)]), [lp(128, 8), lp(3, 2000)]);
        assert_eq!(canonical(&[lp(3, 0), lp(4, 0)]), [lp(12, 0)]);
        assert!(canonical(&[lp(1, 5)]).is_empty());
    }

    #[test]
    fn extent_of_descending_loops_starts_below_the_first_access() {
        assert_eq!(extent(1000, 10, &[lp(3, -100), lp(2, 40)]), (800, 1050));
    }

    proptest! {
        #[test]
        fn canonical_loops_visit_the_same_offsets(raw in prop::collection::vec((1u64..4, -20i64..20), 0..5)) {
            let loops: Vec<Loop> = raw.into_iter().map(|(count, stride)| lp(count, stride)).collect();
            let short = canonical(&loops);
            prop_assert!(offsets(1 << 30, &short).eq(offsets(1 << 30, &loops)));
            prop_assert_eq!(canonical(&short), short);
        }
    }
}
