//! The bytes that a segment accesses, without a list where they are regular.

use crate::nest::Growing;

/// Intervals kept of accesses in no nest.
const MOST_INTERVALS: usize = 1024;

/// First byte, and one past the last.
pub(crate) type Interval = (u64, u64);

/// The bytes of a hull that are accessed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// All of them.
    Whole,
    /// Accesses of this size in nested strides.
    Nested(Growing, u64),
    /// These intervals.
    Scattered(Pieces),
    /// Several parts with a hull each.
    Several(Vec<(Interval, Shape)>),
}

/// Intervals from the front of a file on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pieces {
    /// Sorted.
    pub sorted: Vec<Interval>,
    /// Nothing is known from here on.
    pub until: Option<u64>,
}

impl Pieces {
    /// About the first `most` of these intervals; nothing is known from `until` on.
    fn first(mut sorted: Vec<Interval>, mut until: Option<u64>, most: usize) -> Self {
        sorted.sort_unstable();
        sorted.dedup();
        sorted.retain(|i| until.is_none_or(|until| i.0 < until));
        if sorted.len() >= most {
            sorted.truncate(most);
            until = sorted.last().map(|last| last.1);
        }
        Self { sorted, until }
    }
}

impl Shape {
    /// An interval whose inside is not known.
    pub fn cut(hull: Interval) -> Self {
        Self::Scattered(Pieces { sorted: vec![hull], until: Some(hull.1) })
    }

    /// Takes in other bytes of the same file, given both hulls.
    pub fn join(&mut self, hull: Interval, other: Shape, other_hull: Interval) {
        let mut parts = Vec::new();
        for (hull, shape) in [(hull, std::mem::replace(self, Self::Whole)), (other_hull, other)] {
            match shape {
                Self::Several(all) => parts.extend(all),
                shape => parts.push((hull, shape)),
            }
        }
        *self = Self::Several(parts);
    }

    /// The same bytes as a list of about `most` intervals, unless they are the whole hull.
    pub fn listed(&self, hull: Interval, most: usize) -> Self {
        if *self == Self::Whole { Self::Whole } else { Self::Scattered(self.front(hull, most)) }
    }

    /// [Listed](Self::listed) bytes elsewhere.
    pub fn moved(&self, by: i64) -> Self {
        let moved = |x: u64| x.saturating_add_signed(by);
        match self {
            Self::Scattered(pieces) => Self::Scattered(Pieces {
                sorted: pieces.sorted.iter().map(|&(a, b)| (moved(a), moved(b))).collect(),
                until: pieces.until.map(moved),
            }),
            other => other.clone(),
        }
    }

    /// Single accesses from the front of the file on, about `most` at most.
    pub fn front(&self, hull: Interval, most: usize) -> Pieces {
        match self {
            Self::Whole => Pieces::first(vec![hull], None, most),
            Self::Nested(nest, size) => {
                // the front of the file is where a descending nest ends
                let descends = nest.stride() < 0 || nest.inner().iter().any(|l| l.stride < 0);
                let count = nest.records().min(most as u64);
                let from = if descends { nest.records() - count } else { 0 };
                let offsets = (from..from + count).map(|i| nest.offset(i));
                Pieces::first(offsets.map(|o| (o, o.saturating_add(*size))).collect(), None, most)
            }
            Self::Scattered(pieces) => Pieces::first(pieces.sorted.clone(), pieces.until, most),
            Self::Several(parts) => {
                let fronts: Vec<Pieces> = parts.iter().map(|(hull, shape)| shape.front(*hull, most)).collect();
                let until = fronts.iter().filter_map(|f| f.until).min();
                Pieces::first(fronts.into_iter().flat_map(|f| f.sorted).collect(), until, most)
            }
        }
    }
}

/// The first intervals of the file, exactly.
#[derive(Debug, Clone, Default)]
pub(crate) struct Front {
    sorted: Vec<Interval>,
    fresh: Vec<Interval>,
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

    fn tidy(&mut self) {
        self.sorted.append(&mut self.fresh);
        self.sorted.sort_unstable();
        let mut joined: Vec<Interval> = Vec::with_capacity(self.sorted.len());
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
        match self.sorted[..] {
            [_] if self.until.is_none() => Shape::Whole,
            _ => {
                let until = self.until.and_then(|_| self.sorted.last()).map(|last| last.1);
                Shape::Scattered(Pieces { sorted: self.sorted, until })
            }
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
        let sorted: Vec<Interval> = (0..MOST_INTERVALS as u64).map(|i| (i * 10, i * 10 + 1)).collect();
        let until = sorted.last().map(|last| last.1);
        let expected = Shape::Scattered(Pieces { sorted, until });
        assert_eq!((up.finish(), down.finish()), (expected.clone(), expected));
    }

    #[test]
    fn intervals_that_touch_are_whole() {
        let mut i = Front::default();
        [(10, 20), (0, 5), (5, 10), (15, 30)].into_iter().for_each(|(a, b)| i.add(a, b));
        assert_eq!(i.finish(), Shape::Whole);
    }

    #[test]
    fn behind_the_last_known_piece_of_one_part_nothing_is_known() {
        let mut all = Shape::Whole;
        all.join((50, 60), Shape::Whole, (0, 10));
        let scattered = Pieces { sorted: vec![(20, 30), (40, 45)], until: Some(45) };
        all.join((0, 60), Shape::Scattered(scattered), (20, 90));
        let pieces = |sorted: &[Interval], until| Pieces { sorted: sorted.to_vec(), until: Some(until) };
        assert_eq!(all.front((0, 90), 9), pieces(&[(0, 10), (20, 30), (40, 45)], 45));
        assert_eq!(all.front((0, 90), 2), pieces(&[(0, 10), (20, 30)], 30));
    }
}
