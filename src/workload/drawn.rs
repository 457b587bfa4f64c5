//! What accesses in a random order are: in no pattern, as long as it shows that there is no order.
//!
//! Of few accesses it may not show, and then they are what they look like. By definition, what a rank does in a file with
//! accesses of one operation and size is *plain* if it is one or two accesses, or a nest that has foretold one of them, or nests
//! that follow each other and have each foretold two, and no list of places over and over. If all ranks do what is plain, in every
//! file, these are the patterns. Else there are none, and nothing else that a few of the accesses may look like is one; but if all
//! ranks go through a list of places over and over, what is not plain is a pattern for each place of the list. That a random order
//! of all places goes upwards, and is no nest, does not happen.

use super::shape::Shape;
use super::truth::{Place, TruePattern};

/// Accesses that are looked at for nests that follow each other: of more, no random order is that in practice.
const MOST: usize = 64;

/// Places that nests which follow each other must each have foretold.
const EVIDENCE: usize = 2;

/// The accesses of one operation and size, of all ranks and files.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    patterns: Vec<TruePattern>,
    /// Something is not plain.
    torn: bool,
    /// Something is done but once.
    once: bool,
}

impl Drawn {
    /// Adds what a rank does in a file: a list of places, so often. `time` gives start and end of an access.
    pub(super) fn add(
        &mut self,
        place: Place<'_>,
        size: u64,
        (list, passes): (&[u64], u64),
        time: impl Fn(u64) -> (u64, u64),
    ) {
        let n = list.len() as u64 * passes;
        let between = |i: u64, j: u64| Place { span_ns: (time(i).0, time(j).1), ..place };
        let period = if passes > 1 { list.len() } else { period(list) };
        let nests = match passes {
            1 if period == list.len() => nests(size, list),
            1 => Shape::walked(size, list).map(|one| vec![one]),
            _ => Shape::walked(size, &[list, list].concat()).map(|two| vec![two.passes(passes)]),
        };
        self.once |= n > 1 && period as u64 == n;
        self.torn |= nests.is_none();
        if self.is_nothing() {
            self.patterns.clear();
            return;
        }
        match nests {
            Some(nests) => {
                let mut from = 0;
                for shape in nests {
                    let to = from + shape.count();
                    let start = list[from as usize % list.len()];
                    self.patterns.extend(TruePattern::nested(between(from, to - 1), start, &shape));
                    from = to;
                }
            }
            None => {
                let visits = Shape::of(size).times(n / period as u64, 0);
                let last = n - period as u64;
                self.patterns.extend(
                    (0u64..)
                        .zip(&list[..period])
                        .filter_map(|(i, at)| TruePattern::nested(between(i, last + i), *at, &visits)),
                );
            }
        }
    }

    /// True if there are no patterns, whatever else is added.
    pub(super) fn is_nothing(&self) -> bool {
        self.torn && self.once
    }

    /// The patterns, also those that are single accesses.
    pub(super) fn patterns(mut self) -> Vec<TruePattern> {
        // What is alone among what has no order tells nothing with others.
        self.patterns.retain(|p| !self.torn || p.records > 1);
        self.patterns
    }
}

/// The nests of what is plain: as few as possible.
fn nests(size: u64, places: &[u64]) -> Option<Vec<Shape>> {
    if let Some(one) = Shape::walked(size, places) {
        return Some(vec![one]);
    }
    let n = places.len();
    if n > MOST {
        return None;
    }
    // Of the first places, by their number.
    let mut best: Vec<Option<Vec<Shape>>> = vec![None; n + 1];
    best[0] = Some(Vec::new());
    for from in 0..n {
        let Some(before) = best[from].clone() else { continue };
        for to in (from + EVIDENCE + 1..=n).rev() {
            if best[to].as_ref().is_some_and(|b| b.len() <= before.len() + 1) {
                continue;
            }
            let nest = Shape::of_places(size, &places[from..to]).filter(|s| s.foretold() >= EVIDENCE);
            if let Some(nest) = nest {
                best[to] = Some(before.iter().cloned().chain([nest]).collect());
            }
        }
    }
    best.pop().flatten()
}

/// Length of the list that this is, over and over: its own, if it is none.
fn period(places: &[u64]) -> usize {
    let n = places.len();
    let again = |p: &usize| n.is_multiple_of(*p) && places[*p..] == places[..n - p];
    (1..n).find(again).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Op;

    fn told(walks: &[(&[u64], u64)]) -> Vec<(u64, Vec<(u64, i64)>)> {
        let mut drawn = Drawn::default();
        for (rank, walk) in (0..).zip(walks) {
            let place = Place { op: Op::Read, rank, file: "f", span_ns: (0, 0), period_s: None };
            drawn.add(place, 1, *walk, |i| (i, i + 1));
        }
        let levels = |p: TruePattern| (p.start_offset, p.levels.iter().map(|l| (l.count, l.stride)).collect());
        drawn.patterns().into_iter().map(levels).collect()
    }

    #[test]
    fn what_looks_like_an_order_is_one() {
        assert_eq!(told(&[(&[2, 1, 0], 1), (&[5], 1)]), [(2, vec![(3, -1)]), (5, vec![])]);
        let two = [(0, vec![(3, 1)]), (9, vec![(4, 0)])];
        assert_eq!(told(&[(&[0, 1, 2, 9, 9, 9, 9], 1)]), two);
        // One rank shows that there is none.
        assert!(told(&[(&[2, 1, 0], 1), (&[5], 1), (&[1, 5, 2], 1)]).is_empty());
    }

    #[test]
    fn a_list_over_and_over_is_a_pattern_for_each_place() {
        let each = [(1, vec![(3, 0)]), (5, vec![(3, 0)]), (2, vec![(3, 0)])];
        assert_eq!(told(&[(&[1, 5, 2], 3)]), each);
        assert_eq!(told(&[(&[1, 5, 2, 1, 5, 2, 1, 5, 2], 1)]), each);
        assert_eq!(told(&[(&[1, 5, 2], 3), (&[7, 8], 3)])[3..], [(7, vec![(2, 1), (3, 0)])]);
        assert!(told(&[(&[1, 5, 2], 3), (&[7, 8], 1)]).is_empty());
        let long: Vec<u64> = (0..50).map(|i| i * i % 101).collect();
        assert_eq!(told(&[(&long, 2)]).len(), 50);
    }
}
