//! The bytes that a stretch of accesses touches, without listing them where they are regular.

use super::nest::Nest;

/// Intervals kept of accesses in no nest.
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
    /// These intervals, sorted and disjoint; true if those behind them were left out, to keep the list short.
    Scattered(Vec<(u64, u64)>, bool),
    /// Several parts.
    Several(Vec<Extent>),
}

/// Intervals from the front of a file on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pieces {
    /// (start, end) of single accesses, sorted.
    pub sorted: Vec<(u64, u64)>,
    /// Nothing is known from here on.
    pub until: Option<u64>,
}

impl Extent {
    pub fn length(&self) -> u64 {
        self.hull.1 - self.hull.0
    }

    /// Takes in other bytes of the same file.
    pub fn join(&mut self, other: Extent) {
        let hull = (self.hull.0.min(other.hull.0), self.hull.1.max(other.hull.1));
        let bytes = self.bytes.saturating_add(other.bytes);
        let mut parts = Vec::new();
        for e in [std::mem::replace(self, Extent { hull, bytes, shape: Shape::Whole }), other] {
            match e.shape {
                Shape::Several(all) => parts.extend(all),
                _ => parts.push(e),
            }
        }
        self.shape = Shape::Several(parts);
    }

    /// Single accesses from the front of the file on, about `most` at most.
    pub fn front(&self, most: usize) -> Pieces {
        let (mut sorted, cut) = match &self.shape {
            Shape::Whole => (vec![self.hull], false),
            Shape::Nested(nest, size) => {
                let intervals = |offsets: Vec<u64>| offsets.into_iter().map(|o| (o, o.saturating_add(*size))).collect();
                let mut all: Vec<(u64, u64)> = intervals(nest.offsets(most));
                if nest.levels.iter().any(|l| l.stride < 0) && nest.accesses > most as u64 {
                    // the front of the file is where the nest ends
                    let first = nest.accesses - most as u64;
                    all = intervals((first..nest.accesses).map(|i| nest.offset(i)).collect());
                }
                (all, false)
            }
            Shape::Scattered(intervals, cut) => (intervals.iter().take(most).copied().collect(), *cut),
            Shape::Several(parts) => {
                let fronts: Vec<Pieces> = parts.iter().map(|p| p.front(most)).collect();
                let until = fronts.iter().filter_map(|f| f.until).min();
                let mut sorted: Vec<(u64, u64)> = fronts.into_iter().flat_map(|f| f.sorted).collect();
                sorted.sort_unstable();
                sorted.dedup();
                sorted.retain(|i| until.is_none_or(|until| i.0 < until));
                let longer = sorted.len() > most;
                sorted.truncate(most);
                let until = if longer { sorted.last().map(|last| last.1) } else { until };
                return Pieces { sorted, until };
            }
        };
        sorted.sort_unstable();
        sorted.dedup();
        let until = sorted.last().filter(|_| cut || sorted.len() >= most).map(|last| last.1);
        Pieces { sorted, until }
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
        let mut i = Front::default();
        for (a, b) in [(10, 20), (0, 5), (5, 10), (15, 30)] {
            i.add(a, b);
        }
        assert_eq!(i.finish(), Shape::Whole);
    }
    #[test]
    fn parts_have_one_front() {
        let whole = |a, b| Extent { hull: (a, b), bytes: b - a, shape: Shape::Whole };
        let mut all = whole(50, 60);
        all.join(whole(0, 10));
        all.join(Extent { hull: (20, 90), bytes: 20, shape: Shape::Scattered(vec![(20, 30), (40, 45)], true) });
        assert_eq!((all.hull, all.bytes), ((0, 90), 40));
        // what comes behind the last known piece of one part is not known
        assert_eq!(all.front(9), Pieces { sorted: vec![(0, 10), (20, 30), (40, 45)], until: Some(45) });
        assert_eq!(all.front(2), Pieces { sorted: vec![(0, 10), (20, 30)], until: Some(30) });
    }
}
