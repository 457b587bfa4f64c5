//! Nested strides, recognised one access at a time, where a step may miss the stride by a little.
//!
//! A further loop around the nest is a guess until its third pass begins, or its second one is complete and short. Until then
//! no other loop may begin, and the guess can be taken back.

use super::super::access::Access;
use super::super::thresholds::LIMITS;
use crate::nest::Growing;

/// A nest and the jitter of its strides: a library inserts its own bytes between some of the accesses.
#[derive(Debug, Clone)]
pub(super) struct Strides {
    nest: Growing,
    /// Steps that missed the stride by a little.
    pub jitters: u64,
    /// Offset in the file minus offset in the nest.
    shift: i64,
    /// The last step in the file.
    step: i64,
}

impl Strides {
    pub fn new(start: u64) -> Self {
        Self { nest: Growing::new(start), jitters: 0, shift: 0, step: 0 }
    }

    /// Takes the access after one at `last` if it fits; `even`: its size is that of all others, so that it may miss by a little.
    pub fn accept(&mut self, last: u64, a: &Access, even: bool) -> bool {
        let unshifted = a.offset.wrapping_add_signed(self.shift.wrapping_neg());
        let offset = if even { self.unjittered(last, a, unshifted) } else { unshifted };
        if self.nest.records() > 1 && offset == self.nest.expected() {
            self.nest.advance();
            return true;
        }
        self.depth() < LIMITS.deepest && !self.is_guess() && self.nest.begin_loop(offset)
    }

    /// The offset for the nest: the expected one if the access is close to it.
    fn unjittered(&mut self, last: u64, a: &Access, unshifted: u64) -> u64 {
        let step = a.offset.wrapping_sub(last) as i64;
        let again = std::mem::replace(&mut self.step, step) == step;
        let expected = self.nest.expected();
        let miss = unshifted.wrapping_sub(expected) as i64;
        let is_known = self.nest.records() > 1;
        if !is_known
            || miss == 0
            || miss.unsigned_abs() > a.size / LIMITS.near
            || self.jitters * 2 > self.nest.records()
        {
            return unshifted;
        }
        // the same step twice: the stride was wrong
        if again && self.nest.restride(step) {
            self.shift = a.offset.wrapping_sub(self.nest.expected()) as i64;
            return self.nest.expected();
        }
        self.jitters += 1;
        self.shift = self.shift.wrapping_add(miss);
        expected
    }

    /// Is the outermost loop a guess?
    pub fn is_guess(&self) -> bool {
        let (records, unit) = (self.nest.records(), self.nest.unit());
        self.nest.is_young() && !(records == 2 * unit && unit <= LIMITS.proves)
    }

    /// Splits at the guess: the accesses before it, and those since.
    pub fn split_guess(self) -> (Self, Self) {
        let (before, since) = self.nest.split_young();
        (Self { nest: before, ..self }, Self { nest: since, ..self })
    }

    /// Loops, none for a single access.
    pub fn depth(&self) -> usize {
        if self.nest.records() > 1 { self.nest.inner().len() + 1 } else { 0 }
    }

    /// The innermost stride.
    pub fn stride(&self) -> Option<i64> {
        (self.depth() > 0).then(|| self.nest.inner().first().map_or(self.nest.stride(), |l| l.stride))
    }

    /// Are these repeated passes over the same back-to-back accesses of this size?
    pub fn repeats_a_run_of(&self, size: u64) -> bool {
        let outer = self.nest.inner().iter().skip(1).map(|l| l.stride);
        let mut passes = outer.chain((self.depth() > 1).then(|| self.nest.stride()));
        self.stride() == Some(size as i64) && passes.all(|stride| stride == 0)
    }

    pub fn into_nest(self) -> Growing {
        self.nest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strides after these offsets, and how many of them were taken.
    fn follow(offsets: &[u64]) -> (Strides, usize) {
        let mut strides = Strides::new(offsets[0]);
        let access = |offset| Access { write: false, offset, size: 160, start: 0.0, end: 0.0 };
        let taken = offsets.windows(2).take_while(|w| strides.accept(w[0], &access(w[1]), true)).count() + 1;
        (strides, taken)
    }

    #[test]
    fn a_wrong_guess_is_taken_back() {
        let (strides, taken) = follow(&[0, 8, 16, 24, 500, 508, 999]);
        assert_eq!((taken, strides.is_guess()), (6, true));
        let all = |s: Strides| (0..s.nest.records()).map(|i| s.nest.offset(i)).collect::<Vec<_>>();
        let (before, since) = strides.split_guess();
        assert_eq!((all(before), all(since)), (vec![0, 8, 16, 24], vec![500, 508]));
    }

    #[test]
    fn a_short_second_pass_or_the_start_of_a_third_confirms_a_loop() {
        let pass = |n: u64, k: u64| (0..n).map(move |i| 8 * i + 1000 * k);
        let (short, _) = follow(&(0..2).flat_map(|k| pass(10, k)).collect::<Vec<_>>());
        let (long, _) = follow(&(0..2).flat_map(|k| pass(11, k)).collect::<Vec<_>>());
        let (third, _) = follow(&(0..2).flat_map(|k| pass(11, k)).chain([2000]).collect::<Vec<_>>());
        assert_eq!((short.is_guess(), long.is_guess(), third.is_guess()), (false, true, false));
    }

    #[test]
    fn a_step_that_misses_by_a_little_is_taken() {
        let (strides, taken) = follow(&[0, 800, 1600, 2405, 3205, 4005, 4820]);
        assert_eq!((taken, strides.jitters), (7, 1), "a step that misses by more begins a loop");
        assert_eq!(strides.depth(), 2);
    }
}
