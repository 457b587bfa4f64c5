//! What accesses in a random order are: in no pattern, as long as it shows that there is no order.
//!
//! Of few accesses it may not show, and then they are what they look like. By definition, what a rank does in a file with
//! accesses of one operation and size is *plain* if it is one or two accesses, or a nest that has foretold one of them, or nests
//! that follow each other and have each foretold two, and no list of places over and over. If all ranks do what is plain, in every
//! file, these are the patterns. Else there are none, and nothing else that a few of the accesses may look like is one; but if all
//! ranks go through a list of places over and over, what is not plain is a pattern for each place of the list. A list of three
//! places and more that goes upwards over and over is plain, too; it is then told by the fewest numbers. So is a list that often
//! breaks off: each place is a pattern, if it is visited often enough. And where all files of several places have more of them than
//! there are accesses, accesses that come again show that places are no accident: what is not plain is visits of its places, or
//! nests that take less to tell. Where a file has but one place, accesses are there and nowhere else.
//!
//! Where sizes vary in random order, too, what is plain is one nest or less than three accesses, and what is not is visits.

use std::collections::{BTreeMap, BTreeSet};

use super::alone::gcd;
use super::shape::Shape;
use super::truth::{Level, Place, TruePattern};

/// Accesses that are looked at for nests that follow each other: of more, no random order is that in practice.
const MOST: usize = 64;

/// Places that nests which follow each other must each have foretold.
const EVIDENCE: usize = 2;

/// Places of a list that may show that it goes upwards.
const UPWARDS: usize = 3;

/// Accesses of which it is no more kept what they are if they have no order.
const MANY: u64 = 100_000;

/// The accesses of one operation and size, of all ranks and files.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    patterns: Vec<TruePattern>,
    /// Lists that go upwards: what they are as long as nothing else is torn, and if something is.
    climbing: Vec<(Vec<TruePattern>, Vec<TruePattern>)>,
    /// Something is not plain.
    torn: bool,
    /// Something is done but once.
    once: bool,
    /// What is not plain as visits of its places, for the case that these are few among many, and the places of each file.
    few: Vec<TruePattern>,
    /// What is not plain, as visits of each place of a list over and over.
    each: Vec<TruePattern>,
    places: BTreeMap<String, Grid>,
    records: u64,
    /// These are many, and only those where a file has but one place are kept.
    lean: bool,
    /// Sizes vary in random order, too.
    of_sizes: bool,
}

/// What all places of a file are on.
#[derive(Debug)]
struct Grid {
    first: u64,
    low: u64,
    high: u64,
    unit: u64,
    records: u64,
}

impl Grid {
    fn places(&self) -> u64 {
        (self.high - self.low) / self.unit.max(1) + 1
    }
}

impl Drawn {
    /// Of one of many sizes that come in random order: what is plain there is one nest, and what is not is visits.
    pub(super) fn of_sizes() -> Drawn {
        Drawn { of_sizes: true, ..Drawn::default() }
    }

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
            1 if period == list.len() && !self.of_sizes => nests(size, list),
            1 => Shape::walked(size, list).map(|one| vec![one]),
            _ => Shape::walked(size, &[list, list].concat()).map(|two| vec![two.passes(passes)]),
        };
        self.once |= n > 1 && period as u64 == n;
        let climbs = nests.is_none() && passes > 1 && list.len() >= UPWARDS && list.is_sorted();
        let breaks = nests.is_none() && passes == 1 && !self.of_sizes && breaks_off(list);
        let torn = nests.is_none() && !climbs && !breaks;
        self.torn |= torn;
        self.see(place.file, size, list, n);
        if self.torn && self.once && self.records > MANY {
            if !self.lean {
                self.lean = true;
                self.climbing.clear();
                self.few.clear();
                self.each.clear();
                self.keep_of_one_place();
            }
            if !self.has_one_place(place.file) {
                return;
            }
        }
        // Nests of the list, one after the other, each so often.
        let over_and_over = |nests: Vec<Shape>| -> Vec<TruePattern> {
            let mut from = 0;
            let told = nests.into_iter().filter_map(|shape| {
                let (first, start) = (from, list[from as usize]);
                from += shape.count();
                let last = n - period as u64 + from - 1;
                TruePattern::nested(between(first, last), start, &shape.times(n / period as u64, 0).canonical())
            });
            told.collect()
        };
        let each = || over_and_over(vec![Shape::of(size); period]);
        let in_turn = |nests: Vec<Shape>| -> Vec<TruePattern> {
            let mut from = 0;
            let told = nests.into_iter().filter_map(|shape| {
                let (to, start) = (from + shape.count(), list[from as usize % list.len()]);
                let span = between(from, to - 1);
                from = to;
                TruePattern::nested(span, start, &shape)
            });
            told.collect()
        };
        let of_places = |passes: u64| {
            let all = list.repeat(passes as usize);
            let told = visits(&all).into_iter().filter_map(|visits| {
                let (first, last) = (visits[0], visits[visits.len() - 1]);
                let shape = Shape::of(size).times(visits.len() as u64, 0).canonical();
                TruePattern::nested(between(first, last), all[first as usize], &shape)
            });
            told.collect::<Vec<_>>()
        };
        if torn && n <= MANY {
            let nests = if self.of_sizes || passes > 1 { None } else { again(size, list) };
            self.few.extend(nests.map_or_else(|| of_places(passes), in_turn));
        }
        // Where one place is visited over and over, and pairs with it are, that is visits of each.
        let over = |s: &Shape| matches!(s.levels[..], [Level { stride: 0, .. }]);
        let pairs = |s: &Shape| matches!(s.levels[..], [Level { count: 2, .. }, Level { stride: 0, .. }]);
        let visited = passes == 1
            && nests.as_ref().is_some_and(|nests| {
                let shared = nests.iter().any(over) && nests.iter().all(|s| over(s) || pairs(s));
                let less = || {
                    let of_place = visits(list);
                    let n = of_place.len();
                    of_place.iter().all(|v| v.len() > 1) && (n as u64, n, n) < told_by(nests)
                };
                shared && nests.len() > 1 && less()
            });
        match nests {
            Some(_) if visited => self.patterns.extend(of_places(1)),
            Some(nests) => self.patterns.extend(in_turn(nests)),
            None if climbs => self.climbing.push((over_and_over(fewest(size, list)), each())),
            None if breaks => self.patterns.extend(of_places(1)),
            None => self.each.extend(each()),
        }
    }

    fn see(&mut self, file: &str, size: u64, list: &[u64], records: u64) {
        let Some(&first) = list.first() else { return };
        let grid = match self.places.get_mut(file) {
            Some(grid) => grid,
            None => self.places.entry(file.to_owned()).or_insert(Grid {
                first,
                low: first,
                high: first,
                unit: size,
                records: 0,
            }),
        };
        grid.records += records;
        self.records += records;
        for &place in list {
            (grid.low, grid.high) = (grid.low.min(place), grid.high.max(place));
            grid.unit = gcd(grid.unit, place.abs_diff(grid.first));
        }
    }

    /// Where a file has but one place, accesses are there and nowhere else.
    fn has_one_place(&self, file: &str) -> bool {
        self.places.get(file).is_some_and(|grid| grid.low == grid.high)
    }

    fn keep_of_one_place(&mut self) {
        let mut patterns = std::mem::take(&mut self.patterns);
        patterns.retain(|p| p.records > 1 && self.has_one_place(&p.file));
        self.patterns = patterns;
    }

    /// True if there are no patterns in files of several places, whatever else is added.
    pub(super) fn is_nothing(&self) -> bool {
        self.torn && self.once && (self.records > MANY || !self.is_sparse())
    }

    /// True if places come again though there are more of them than accesses: that is an order.
    fn is_sparse(&self) -> bool {
        let several = || self.places.values().filter(|grid| grid.low != grid.high);
        let records: u64 = several().map(|grid| grid.records).sum();
        self.records <= MANY && several().all(|grid| records < grid.places())
    }

    /// The patterns, also those that are single accesses.
    pub(super) fn patterns(mut self) -> Vec<TruePattern> {
        if self.torn && self.is_sparse() {
            self.patterns.extend(self.climbing.into_iter().flat_map(|(upwards, _)| upwards));
            self.patterns.extend(self.few);
            return self.patterns;
        }
        if self.torn && self.once {
            self.keep_of_one_place();
            return self.patterns;
        }
        self.patterns.append(&mut self.each);
        let torn = self.torn;
        self.patterns.extend(self.climbing.into_iter().flat_map(|(upwards, each)| if torn { each } else { upwards }));
        // What is alone among what has no order tells nothing with others.
        self.patterns.retain(|p| !self.torn || p.records > 1);
        self.patterns
    }
}

/// The nests of what is plain: those told by the fewest numbers, then with the fewest loops, then the fewest nests, then those that
/// have each foretold two, then those of which the first goes on for longest.
fn nests(size: u64, places: &[u64]) -> Option<Vec<Shape>> {
    if let Some(one) = Shape::walked(size, places) {
        return Some(vec![one]);
    }
    if places.len() > MOST {
        return None;
    }
    let sound = in_turn(size, places, EVIDENCE)?;
    let weak = |nests: &[Shape]| nests.iter().any(|s| s.foretold() < EVIDENCE);
    let cost = |nests: &[Shape]| (told_by(nests), weak(nests));
    // Three must be foretold for two nests, on average, or any few accesses are nests.
    let enough = |nests: &Vec<Shape>| 2 * nests.iter().map(Shape::foretold).sum::<usize>() >= 3 * nests.len();
    let more = in_turn(size, places, 1).filter(enough).filter(|more| cost(more) < cost(&sound));
    Some(more.unwrap_or(sound))
}

/// Nests that follow each other, all of them over and over, or that have each foretold two and leave some accesses over, if they are
/// less than visits of the places.
fn again(size: u64, places: &[u64]) -> Option<Vec<Shape>> {
    if places.len() > MOST {
        return None;
    }
    let of_place = visits(places);
    let n = |alone: bool| of_place.iter().filter(|v| (v.len() == 1) == alone).count();
    let visited = (of_place.len() as u64, of_place.len(), n(false), n(true));
    let over = |s: &Shape| s.levels.iter().any(|l| l.stride == 0);
    let all = in_turn(size, places, 1).filter(|nests| n(true) == 0 && nests.iter().all(over));
    let some = || {
        let enough = |s: &Shape| s.levels.is_empty() || s.foretold() >= EVIDENCE;
        cheapest(places, |places| Shape::of_places(size, places).filter(enough), told_with_rest)
    };
    all.or_else(|| some().filter(|_| n(true) > 0)).filter(|nests| told_with_rest(nests) < visited)
}

/// Numbers, loops and what is left over, nests, and what is left over alone.
fn told_with_rest(nests: &[Shape]) -> (u64, usize, usize, usize) {
    let (numbers, loops, n) = told_by(nests);
    let rest = nests.iter().filter(|s| s.levels.is_empty()).count();
    (numbers, loops + rest, n - rest, rest)
}

/// Numbers, loops and nests.
fn told_by(nests: &[Shape]) -> (u64, usize, usize) {
    (nests.iter().map(Shape::numbers).sum(), nests.iter().map(|s| s.levels.len()).sum(), nests.len())
}

/// Nests that follow each other and have each foretold so much.
fn in_turn(size: u64, places: &[u64], evidence: usize) -> Option<Vec<Shape>> {
    cheapest(places, |places| Shape::of_places(size, places).filter(|s| s.foretold() >= evidence), told_by)
}

/// The nests of a list that is gone through over and over: those told by the fewest numbers, then with the fewest loops, then the
/// fewest nests, then those of which the first goes on for longest. Two places at a distance are a nest if none is alone then.
fn fewest(size: u64, list: &[u64]) -> Vec<Shape> {
    let pair = |a: u64, b: u64| Shape::of(size).times(2, b - a);
    let alone = cheapest(
        list,
        |places| match *places {
            [_] => Some(Shape::of(size)),
            [a, b] => Some(pair(a, b)).filter(|_| b == a + size),
            _ => Shape::of_places(size, places),
        },
        told_by,
    );
    let none_alone = cheapest(
        list,
        |places| match *places {
            [_] => None,
            [a, b] => Some(pair(a, b)),
            _ => Shape::of_places(size, places),
        },
        told_by,
    );
    // Each has a loop for how often it comes.
    let cost = |nests: &Vec<Shape>| {
        let (numbers, loops, n) = told_by(nests);
        (numbers, loops + n, n)
    };
    [alone, none_alone].into_iter().flatten().min_by_key(cost).unwrap_or_default()
}

/// Nests of this kind that follow each other, told in the least.
fn cheapest<C: Ord>(
    places: &[u64],
    nest: impl Fn(&[u64]) -> Option<Shape>,
    cost: impl Fn(&[Shape]) -> C,
) -> Option<Vec<Shape>> {
    let n = places.len();
    // Of the last places, by the number of the first of them.
    let mut best: Vec<Option<Vec<Shape>>> = vec![None; n + 1];
    best[n] = Some(Vec::new());
    for from in (0..n).rev() {
        let longest = if n > MOST { from + 1 } else { n };
        let nests = (from + 1..=longest).rev().filter_map(|to| {
            let after = best[to].as_ref()?;
            Some(std::iter::once(nest(&places[from..to])?).chain(after.iter().cloned()).collect::<Vec<_>>())
        });
        best[from] = nests.min_by_key(|nests| cost(nests));
    }
    best.swap_remove(0)
}

/// True for a list of different places over and over that is not always gone through to its end: each change of the length must be
/// told, and an access is foretold even then.
fn breaks_off(places: &[u64]) -> bool {
    let passes: Vec<&[u64]> = places.chunk_by(|_, b| *b != places[0]).collect();
    let Some(list) = passes.iter().max_by_key(|p| p.len()) else { return false };
    let changes = passes.windows(2).filter(|w| w[0].len() != w[1].len()).count();
    let different = list.iter().collect::<BTreeSet<_>>().len() == list.len();
    changes > 0 && places.len() > list.len() + changes && different && passes.iter().all(|p| list.starts_with(p))
}

/// The visits of each place, those alone that are too few: where one is alone, a place must have foretold two of them.
fn visits(places: &[u64]) -> Vec<Vec<u64>> {
    let mut of_place: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    (0..).zip(places).for_each(|(i, at)| of_place.entry(*at).or_default().push(i));
    let over = of_place.values().any(|v| v.len() == 1);
    let few = |v: &Vec<u64>| over && v.len() <= EVIDENCE;
    let of = |v: Vec<u64>| if few(&v) { v.into_iter().map(|i| vec![i]).collect() } else { vec![v] };
    of_place.into_values().flat_map(of).collect()
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

    type Told = Vec<(u64, Vec<(u64, i64)>)>;

    fn told(walks: &[(&[u64], u64)]) -> Told {
        patterns((0..).zip(walks).map(|(rank, walk)| (rank, "f", *walk)))
    }

    fn told_of(walks: &[(&str, &[u64])]) -> Told {
        patterns(walks.iter().map(|(file, walk)| (0, *file, (*walk, 1))))
    }

    fn patterns<'a>(walks: impl Iterator<Item = (u32, &'a str, (&'a [u64], u64))>) -> Told {
        let mut drawn = Drawn::default();
        for (rank, file, walk) in walks {
            let place = Place { op: Op::Read, rank, file, span_ns: (0, 0), period_s: None };
            drawn.add(place, 1, walk, |i| (i, i + 1));
        }
        let levels = |p: TruePattern| (p.start_offset, p.levels.iter().map(|l| (l.count, l.stride)).collect());
        drawn.patterns().into_iter().map(levels).collect()
    }

    #[test]
    fn what_looks_like_an_order_is_one() {
        assert_eq!(told(&[(&[2, 1, 0], 1), (&[5], 1)]), [(2, vec![(3, -1)]), (5, vec![])]);
        let two = [(0, vec![(3, 1)]), (9, vec![(4, 0)])];
        assert_eq!(told(&[(&[0, 1, 2, 9, 9, 9, 9], 1)]), two);
        // A pair and six are told in less than four and four.
        let two = [(0, vec![(2, 1)]), (6, vec![(2, 1), (3, -2)])];
        assert_eq!(told(&[(&[0, 1, 6, 7, 4, 5, 2, 3], 1)]), two);
        // One rank shows that there is none.
        assert!(told(&[(&[2, 1, 0], 1), (&[5], 1), (&[1, 5, 2], 1)]).is_empty());
    }

    #[test]
    fn a_list_over_and_over_is_a_pattern_for_each_place() {
        let each = [(1, vec![(3, 0)]), (5, vec![(3, 0)]), (2, vec![(3, 0)])];
        assert_eq!(told(&[(&[1, 5, 2], 3)]), each);
        assert_eq!(told(&[(&[1, 5, 2, 1, 5, 2, 1, 5, 2], 1)]), each);
        assert_eq!(told(&[(&[1, 5, 2], 3), (&[7, 8], 3)])[..1], [(7, vec![(2, 1), (3, 0)])]);
        assert!(told(&[(&[1, 5, 2], 3), (&[7, 8], 1)]).is_empty());
        // A list that breaks off.
        assert_eq!(told(&[(&[7, 7, 7, 9, 7], 1)]), [(7, vec![(4, 0)]), (9, vec![])]);
        assert_eq!(told(&[(&[7, 9, 7, 9, 7, 7], 1)]), [(7, vec![(4, 0)]), (9, vec![(2, 0)])]);
        assert!(told(&[(&[7, 9, 7, 9, 7, 7], 1), (&[9, 7, 7, 9], 1)]).is_empty());
        // Upwards, until another one shows that it does not matter.
        let upwards = [(1, vec![(3, 0)]), (3, vec![(2, 1), (3, 0)])];
        assert_eq!(told(&[(&[1, 3, 4], 3)]), upwards);
        assert_eq!(told(&[(&[1, 3, 4], 3), (&[1, 5, 2], 3)]).len(), 6);
        assert_eq!(told(&[(&[0, 2, 5], 3)]).len(), 3);
        assert_eq!(told(&[(&[0, 1, 3, 6], 3)]), [(0, vec![(2, 1), (3, 0)]), (3, vec![(2, 3), (3, 0)])]);
        // Few accesses at places far apart.
        assert_eq!(told(&[(&[9, 0, 0, 9, 0], 1)]), [(0, vec![(3, 0)]), (9, vec![(2, 0)])]);
        assert!(told(&[(&[9, 0, 0, 9, 0, 5, 5, 0, 9, 5], 1)]).is_empty());
        // Where a file has but one place, they are there and nowhere else.
        assert_eq!(told_of(&[("f", &[1, 0, 0, 1]), ("g", &[5, 5, 5])]), [(5, vec![(3, 0)])]);
        // Sizes that vary, too: two of three places in turns are chance.
        let list = [5u64, 1, 9, 1, 9, 5];
        let mut drawn = Drawn::of_sizes();
        let place = Place { op: Op::Read, rank: 0, file: "f", span_ns: (0, 0), period_s: None };
        drawn.add(place, 1, (&list, 1), |i| (i, i + 1));
        let each: Vec<(u64, u64)> = drawn.patterns().iter().map(|p| (p.start_offset, p.records)).collect();
        assert_eq!(each, [(1, 2), (5, 2), (9, 2)]);
        let long: Vec<u64> = (0..50).map(|i| i * i % 101).collect();
        assert_eq!(told(&[(&long, 2)]).len(), 50);
    }
}
