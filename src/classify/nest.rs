//! Nested strides, recognised one access at a time.
//!
//! A nest is a start and levels of (count, stride), innermost first: offsets `start + i_1 s_1 + i_2 s_2 + ...`. The outermost
//! level is open: it may go on. When a block of the inner levels is complete and the next access is not where the outermost
//! level expects it, that level is closed and a further one begins. The new level is a guess until a third block begins where
//! it should, or its second is complete if that is short; what was accepted since can be given back.

/// A level: how often, and how far apart in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level {
    pub count: u64,
    pub stride: i64,
}

/// A level that is seen only once is no guess any more if its blocks are as short as this.
const PROVES: u64 = 10;
/// Deepest nest that is followed.
const DEEPEST: usize = 6;

/// A nest of strides and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nest {
    pub start: u64,
    /// Innermost first; the last is open.
    pub levels: Vec<Level>,
    /// Accesses so far.
    pub accesses: u64,
    /// Steps done on each closed level inside the current block, and where its current block began.
    at: Vec<(u64, u64)>,
    /// Where the current block of the open level began.
    block: u64,
    /// Accesses before the level that is still a guess.
    guess: Option<u64>,
}

impl Nest {
    pub fn new(start: u64) -> Self {
        Self { start, levels: Vec::new(), accesses: 1, at: Vec::new(), block: start, guess: None }
    }

    /// Takes the next access if it fits.
    pub fn accept(&mut self, offset: u64) -> bool {
        let Some(closed) = self.levels.len().checked_sub(1) else {
            self.levels.push(Level { count: 2, stride: distance(self.start, offset) });
            self.block = offset;
            self.accesses = 2;
            return true;
        };
        if let Some(i) = (0..closed).find(|&i| self.at[i].0 + 1 < self.levels[i].count) {
            // inside a block: the lowest level that is not complete steps on
            if distance(self.at[i].1, offset) != self.levels[i].stride {
                return false;
            }
            self.at[i] = (self.at[i].0 + 1, offset);
            self.begin_below(i, offset);
        } else if distance(self.block, offset) == self.levels[closed].stride {
            self.levels[closed].count += 1;
            // a third block begins where it was expected
            self.guess = None;
            self.block = offset;
            self.begin_below(closed, offset);
        } else {
            if self.levels.len() == DEEPEST || self.guess.is_some() {
                return false;
            }
            self.guess = Some(self.accesses);
            self.levels.push(Level { count: 2, stride: distance(self.start, offset) });
            self.at.push((0, offset));
            self.block = offset;
            self.begin_below(closed + 1, offset);
        }
        self.accesses += 1;
        if self.guess.is_some() && self.block_is_complete() && self.accesses <= 2 * PROVES {
            self.guess = None;
        }
        true
    }

    /// Where the next access has to be if no further level begins.
    pub fn expected(&self) -> Option<u64> {
        let closed = self.levels.len().checked_sub(1)?;
        let inside = (0..closed).find(|&i| self.at[i].0 + 1 < self.levels[i].count);
        let (from, stride) = match inside {
            Some(i) => (self.at[i].1, self.levels[i].stride),
            None => (self.block, self.levels[closed].stride),
        };
        Some(from.wrapping_add_signed(stride))
    }

    /// Where the current block of the open level began.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// The same nest elsewhere, to list its offsets.
    pub fn moved(&self, by: i64) -> Self {
        Self { start: self.start.saturating_add_signed(by), ..self.clone() }
    }

    /// Gives the only level another stride, counted back from the current block. False if there are more levels.
    pub fn restride(&mut self, stride: i64) -> bool {
        let [level] = &mut self.levels[..] else { return false };
        level.stride = stride;
        let back = stride.wrapping_mul(level.count as i64 - 1);
        self.start = self.block.wrapping_add_signed(back.wrapping_neg());
        true
    }

    /// The levels below `i` begin anew.
    fn begin_below(&mut self, i: usize, offset: u64) {
        self.at[..i].iter_mut().for_each(|a| *a = (0, offset));
    }

    fn block_is_complete(&self) -> bool {
        self.at.iter().zip(&self.levels).all(|(a, level)| a.0 + 1 == level.count)
    }

    /// If the outermost level is still a guess: how many of the accesses came before it.
    pub fn before_guess(&self) -> Option<u64> {
        self.guess
    }

    /// Takes the outermost level back, with all accesses since it was guessed: they are a nest of their own, which is given.
    pub fn take_back(&mut self) -> Option<Nest> {
        let accesses = self.guess.take()?;
        let taken = self.accesses - accesses;
        self.levels.pop();
        self.at.pop();
        self.accesses = accesses;
        let mut rest = Nest { start: self.block, accesses: taken, ..self.clone() };
        // what of the levels the rest has come to
        let mut inside = 1u64;
        let mut levels = Vec::new();
        for level in &self.levels {
            let count = taken.div_ceil(inside).min(level.count);
            if count < 2 {
                break;
            }
            levels.push(Level { count, ..*level });
            inside = inside.saturating_mul(level.count);
        }
        rest.at.truncate(levels.len().saturating_sub(1));
        rest.levels = levels;
        Some(rest)
    }

    /// Back-to-back accesses of this size, the same ones over and over?
    pub fn repeats_a_run_of(&self, size: u64) -> bool {
        match self.levels[..] {
            [first, ref passes @ ..] => first.stride as u64 == size && passes.iter().all(|l| l.stride == 0),
            [] => false,
        }
    }

    /// Offsets of the first `most` accesses, in their order.
    pub fn offsets(&self, most: usize) -> Vec<u64> {
        let count = usize::try_from(self.accesses).unwrap_or(usize::MAX).min(most);
        (0..count as u64).map(|i| self.offset(i)).collect()
    }

    /// Offset of access `i`.
    pub fn offset(&self, i: u64) -> u64 {
        let mut rest = i;
        let mut offset = self.start;
        for (k, level) in self.levels.iter().enumerate() {
            let step = if k + 1 == self.levels.len() { rest } else { rest % level.count };
            rest = if k + 1 == self.levels.len() { 0 } else { rest / level.count };
            offset = offset.wrapping_add_signed(level.stride.wrapping_mul(step as i64));
        }
        offset
    }
}

/// Steps are compared, not measured: wrapping around is harmless.
fn distance(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(offsets: &[u64]) -> (Nest, usize) {
        let mut nest = Nest::new(offsets[0]);
        let taken = offsets[1..].iter().take_while(|&&o| nest.accept(o)).count() + 1;
        (nest, taken)
    }

    #[test]
    fn one_level_forwards_backwards_and_on_the_spot() {
        for stride in [8i64, -8, 0] {
            let offsets: Vec<u64> = (0..20).map(|i| 1000u64.wrapping_add_signed(stride * i)).collect();
            let (nest, taken) = follow(&offsets);
            assert_eq!((taken, nest.levels.clone()), (20, vec![Level { count: 20, stride }]));
            assert_eq!(nest.offsets(99), offsets);
        }
    }

    #[test]
    fn three_levels() {
        let mut offsets = Vec::new();
        for c in 0..3 {
            for b in 0..4 {
                for a in 0..5 {
                    offsets.push(64 + a * 8 + b * 100 + c * 1000);
                }
            }
        }
        let (nest, taken) = follow(&offsets);
        assert_eq!(taken, offsets.len());
        let levels = [(5, 8), (4, 100), (3, 1000)].map(|(count, stride)| Level { count, stride });
        assert_eq!((nest.levels.as_slice(), nest.before_guess()), (&levels[..], None));
        assert_eq!(nest.offsets(usize::MAX), offsets);
    }

    #[test]
    fn a_wrong_guess_is_taken_back() {
        let (mut nest, taken) = follow(&[0, 8, 16, 24, 500, 508, 999]);
        assert_eq!((taken, nest.before_guess()), (6, Some(4)));
        let rest = nest.take_back().unwrap();
        assert_eq!((nest.accesses, nest.offsets(9)), (4, vec![0, 8, 16, 24]));
        assert_eq!((rest.accesses, rest.offsets(9)), (2, vec![500, 508]));
    }
}
