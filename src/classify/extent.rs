//! The bytes that a stretch of accesses touches, without listing them where they are regular.

use super::nest::Nest;

/// Intervals kept of irregular accesses.
const MOST_INTERVALS: usize = 1024;

/// Bytes of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Extent {
    /// First byte, and one past the last.
    pub hull: (u64, u64),
    /// Sum of the sizes of all accesses.
    pub bytes: u64,
    pub shape: Shape,
}

/// Which bytes of the hull.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// All of them.
    Whole,
    /// Accesses of this size in nested strides.
    Nested(Nest, u64),
    /// These intervals, sorted and disjoint; true if bytes between them were taken in, or those behind them left out, to keep
    /// the list short.
    Scattered(Vec<(u64, u64)>, bool),
}

impl Extent {
    pub fn length(&self) -> u64 {
        self.hull.1 - self.hull.0
    }

    /// Intervals (start, end) of single accesses from the front of the file on, at most about `most`, sorted.
    pub fn front(&self, most: usize) -> Vec<(u64, u64)> {
        let mut found = match &self.shape {
            Shape::Whole => vec![self.hull],
            Shape::Nested(nest, size) => {
                let intervals = |offsets: Vec<u64>| offsets.into_iter().map(|o| (o, o.saturating_add(*size))).collect();
                let mut all: Vec<(u64, u64)> = intervals(nest.offsets(most));
                if nest.levels.iter().any(|l| l.stride < 0) && nest.accesses > most as u64 {
                    // the front of the file is where the nest ends
                    let first = nest.accesses - most as u64;
                    all = intervals((first..nest.accesses).map(|i| nest.offset(i)).collect());
                }
                all
            }
            Shape::Scattered(intervals, _) => intervals.iter().take(most).copied().collect(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A bounded list of intervals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Intervals {
    sorted: Vec<(u64, u64)>,
    fresh: Vec<(u64, u64)>,
    coarse: bool,
}

impl Intervals {
    pub fn add(&mut self, start: u64, end: u64) {
        if let Some(last) = self.fresh.last_mut().filter(|last| last.1 == start) {
            last.1 = end;
            return;
        }
        self.fresh.push((start, end));
        if self.fresh.len() >= MOST_INTERVALS {
            self.tidy();
        }
    }

    fn tidy(&mut self) {
        self.sorted.append(&mut self.fresh);
        self.sorted.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(self.sorted.len());
        for &(a, b) in &self.sorted {
            match joined.last_mut() {
                Some(last) if a <= last.1 => last.1 = last.1.max(b),
                _ => joined.push((a, b)),
            }
        }
        if joined.len() > MOST_INTERVALS {
            // close the narrowest gaps, as many as are too many
            let mut gaps: Vec<u64> = joined.windows(2).map(|w| w[1].0 - w[0].1).collect();
            let mut close = joined.len() - MOST_INTERVALS / 2;
            let (_, &mut widest, _) = gaps.select_nth_unstable(close - 1);
            let mut out: Vec<(u64, u64)> = Vec::with_capacity(MOST_INTERVALS);
            for &(a, b) in &joined {
                match out.last_mut() {
                    Some(last) if close > 0 && a - last.1 <= widest => {
                        last.1 = b;
                        close -= 1;
                    }
                    _ => out.push((a, b)),
                }
            }
            joined = out;
            self.coarse = true;
        }
        self.sorted = joined;
    }

    pub fn finish(mut self) -> Shape {
        self.tidy();
        if let ([_], false) = (&self.sorted[..], self.coarse) {
            Shape::Whole
        } else {
            Shape::Scattered(self.sorted, self.coarse)
        }
    }
}

/// The first intervals of the file, exactly.
#[derive(Debug, Clone, Default)]
pub(crate) struct Front {
    sorted: Vec<(u64, u64)>,
    fresh: Vec<(u64, u64)>,
    /// Nothing is known from here on.
    until: Option<u64>,
}

impl Front {
    pub fn add(&mut self, start: u64, end: u64) {
        if self.until.is_some_and(|until| start >= until) {
            return;
        }
        match self.fresh.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => self.fresh.push((start, end)),
        }
        if self.fresh.len() >= MOST_INTERVALS {
            self.tidy();
        }
    }

    /// Takes in those of `other`.
    pub fn join(&mut self, other: Front) {
        self.until = self.until.into_iter().chain(other.until).min();
        self.fresh.extend(other.sorted.into_iter().chain(other.fresh));
        self.tidy();
    }

    fn tidy(&mut self) {
        self.sorted.append(&mut self.fresh);
        self.sorted.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(self.sorted.len());
        for &(a, b) in &self.sorted {
            match joined.last_mut() {
                Some(last) if a <= last.1 => last.1 = last.1.max(b),
                _ => joined.push((a, b)),
            }
        }
        if joined.len() > MOST_INTERVALS {
            self.until = Some(joined[MOST_INTERVALS].0);
            joined.truncate(MOST_INTERVALS);
        }
        if let Some(until) = self.until {
            joined.retain(|i| i.0 < until);
        }
        self.sorted = joined;
    }

    pub fn finish(mut self) -> Shape {
        self.tidy();
        match &self.sorted[..] {
            [_] if self.until.is_none() => Shape::Whole,
            _ => Shape::Scattered(self.sorted, self.until.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stay_few_and_keep_every_byte() {
        let mut i = Intervals::default();
        let touched: Vec<u64> = (0..5000u64).map(|k| (k * 7919) % 5000 * 10).collect();
        touched.iter().for_each(|&o| i.add(o, o + 1));
        let Shape::Scattered(all, coarse) = i.finish() else { panic!() };
        assert!(coarse && all.len() <= MOST_INTERVALS);
        assert!(touched.iter().all(|o| all.iter().any(|r| r.0 <= *o && *o < r.1)));
    }

    #[test]
    fn the_front_is_exact_whatever_the_order() {
        let mut up = Front::default();
        let mut down = Front::default();
        (0..5000u64).for_each(|i| up.add(i * 10, i * 10 + 1));
        (0..5000u64).rev().for_each(|i| down.add(i * 10, i * 10 + 1));
        let expected: Vec<(u64, u64)> = (0..MOST_INTERVALS as u64).map(|i| (i * 10, i * 10 + 1)).collect();
        assert_eq!(up.finish(), Shape::Scattered(expected.clone(), true));
        assert_eq!(down.finish(), Shape::Scattered(expected, true));
    }

    #[test]
    fn joined_intervals_are_whole() {
        let mut i = Intervals::default();
        for (a, b) in [(10, 20), (0, 5), (5, 10), (15, 30)] {
            i.add(a, b);
        }
        assert_eq!(i.finish(), Shape::Whole);
    }
}
