//! What is done over and over in a file with accesses of one size: lists of nests, each list several times at the same places.
//!
//! What lies next to each other may be told in several ways: a nest may take in the start of the one after it, or all of it. What
//! is true is what leaves the fewest accesses alone, then takes the fewest patterns, then the fewest loops, then the fewest strides
//! but 0 and back to back, then the one in which the first loops go on for longest. Nests over the same places are one, whatever came between.

use std::cmp::Reverse;

use super::super::sequel::follow;
use super::super::shape::Shape;
use super::super::truth::Level;

/// Accesses of a nest, and when they begin and end in their round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) offset: u64,
    /// In canonical form.
    pub(super) shape: Shape,
    pub(super) span_ns: (u64, u64),
}

impl Part {
    /// Accesses that were foretold, if it is done once: all but the first and one for each loop; the stride of accesses back to
    /// back or at one place is given.
    fn foretold(&self) -> u64 {
        let given = self.shape.levels.first().is_some_and(|l| l.stride == 0 || l.stride == self.shape.size as i64);
        (self.shape.count() + u64::from(given)).saturating_sub(1 + self.shape.levels.len() as u64)
    }
}

/// A list that is gone through so often.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Round {
    pub(super) number: u64,
    pub(super) list: Vec<Part>,
    pub(super) times: u64,
}

/// A nest, the rounds in which it is, and how often that is.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) part: Part,
    /// Numbers of the first and the last, and when its accesses begin in the first and end in the last.
    pub(super) rounds: (u64, u64),
    pub(super) span_ns: (u64, u64),
    pub(super) times: u64,
}

/// Accesses of varying sizes back to back.
pub(super) struct Run {
    pub(super) offset: u64,
    pub(super) sizes: Vec<u64>,
    pub(super) span_ns: (u64, u64),
}

/// Takes out what is sequential among what is done but once, one part after the other: sizes that change at least twice and, on
/// average, before four are equal.
pub(super) fn take_sequential(list: &mut Vec<Part>) -> Vec<Run> {
    let mut out = Vec::new();
    let mut rest: Vec<Part> = Vec::new();
    let mut chain: Vec<Part> = Vec::new();
    let mut settle = |chain: &mut Vec<Part>, rest: &mut Vec<Part>| {
        let sizes: Vec<u64> = chain.iter().flat_map(|p| (0..p.shape.count()).map(|_| p.shape.size)).collect();
        let changes = sizes.windows(2).filter(|w| w[0] != w[1]).count();
        match (chain.first(), chain.last()) {
            (Some(a), Some(b)) if changes >= 2 && sizes.len() < 4 * (changes + 1) => {
                out.push(Run { offset: a.offset, sizes, span_ns: (a.span_ns.0, b.span_ns.1) });
                chain.clear();
            }
            _ => rest.append(chain),
        }
    };
    for part in list.drain(..) {
        let size = part.shape.size as i64;
        let follows = chain.last().is_none_or(|b| b.offset + b.shape.end() == part.offset);
        if !follows {
            settle(&mut chain, &mut rest);
        }
        match part.shape.levels[..] {
            [] => chain.push(part),
            [one] if one.stride == size => chain.push(part),
            // Of two, which are no nest, the first may belong to it.
            [one] if one.count == 2 && one.stride > 0 && !chain.is_empty() => {
                let (start, end) = part.span_ns;
                let at = start + (end - start) / 2;
                let single = Part { shape: Shape::of(part.shape.size), span_ns: (start, at), ..part };
                chain.push(single);
                let whole = rest.len();
                settle(&mut chain, &mut rest);
                if rest.len() > whole {
                    rest.pop();
                    rest.push(part);
                } else {
                    let shape = Shape::of(part.shape.size);
                    rest.push(Part { offset: part.offset + one.stride as u64, shape, span_ns: (at, end) });
                }
            }
            _ => {
                settle(&mut chain, &mut rest);
                rest.push(part);
            }
        }
    }
    settle(&mut chain, &mut rest);
    *list = rest;
    out
}

/// How a nest and the one after it are told.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// As one.
    Whole,
    /// The first takes in the start of the other.
    Start,
    /// The first and a pass of the other are two passes.
    Pass,
    /// One access and the first one of the other are a pair.
    First,
}

/// Ways to tell what meets at a place of the lists: the first one that fits.
const WAYS: [&[Way]; 6] = [&[Way::Whole, Way::Start], &[Way::Whole], &[Way::Start], &[Way::Pass], &[], &[Way::First]];

/// The nests of these rounds, of which other ranks show some, too, and what they cost: the best of all ways.
pub(super) fn told(rounds: &[Round], shown: &[Shape]) -> (Vec<Told>, Cost) {
    let meet = rounds.iter().map(|r| r.list.len().saturating_sub(1)).max().unwrap_or(0) as u32;
    let readings = (0..WAYS.len().pow(meet)).map(|n| {
        let ways = |place: usize| WAYS[n / WAYS.len().pow(meet - 1 - place as u32) % WAYS.len()];
        shared(gathered(rounds, ways))
    });
    let plain = gathered(rounds, |_| &[]);
    let sound = readings.filter(|r| is_sound(r)).chain([shared(plain)]);
    let all = sound.flat_map(|r| [r.clone(), again(r)]);
    let with_costs = all.map(|r| (cost(&r, shown), r));
    // Of equal ones that whose first loops go on for longest.
    let first = |r: &[Told]| Reverse(r.iter().map(|t| t.part.shape.count()).collect::<Vec<_>>());
    let (cost, best) = with_costs.min_by_key(|r| (r.0, strides(&r.1), first(&r.1))).unwrap_or_default();
    (apart(best, shown), cost)
}

/// Accesses in no pattern, patterns, loops.
type Cost = (u64, usize, usize);

fn cost(told: &[Told], shown: &[Shape]) -> Cost {
    let over = over(told, shown);
    let patterns = || told.iter().zip(&over).filter(|(_, over)| !**over).map(|(t, _)| t);
    let loops = |t: &Told| t.part.shape.levels.len() + usize::from(t.times > 1);
    let alone = told.iter().zip(&over).filter(|(_, over)| **over).map(|(t, _)| t.part.shape.count() * t.times);
    (alone.sum(), patterns().count(), patterns().map(loops).sum())
}

/// True if what is done once has foretold two on average, or any few accesses are nests.
fn is_sound(told: &[Told]) -> bool {
    let once = || told.iter().filter(|t| t.times == 1);
    once().map(|t| t.part.foretold()).sum::<u64>() >= 2 * once().count() as u64
}

/// Strides that are a free choice; that of a pair, which foretells nothing, counts twice.
fn strides(told: &[Told]) -> usize {
    let of_nest = |shape: &Shape| {
        let free = |l: &&Level| l.stride != 0 && l.stride != shape.size as i64;
        let is_pair = matches!(shape.levels[..], [ref l @ Level { count: 2, .. }] if free(&l));
        shape.levels.iter().filter(free).count() + usize::from(is_pair)
    };
    told.iter().map(|t| of_nest(&t.part.shape)).sum()
}

/// For each nest whether it is none: it has foretold nothing, or but one access, which no other rank shows, and something is left
/// over.
fn over(told: &[Told], shown: &[Shape]) -> Vec<bool> {
    let nothing = told.iter().any(|t| t.times == 1 && t.part.shape.is_alone());
    let least = |t: &Told| if t.part.shape.count() > 2 && shown.contains(&t.part.shape) { 1 } else { 2 };
    let none = |t: &Told| t.times == 1 && nothing && t.part.foretold() < least(t);
    told.iter().map(none).collect()
}

/// What is no nest, one by one.
fn apart(told: Vec<Told>, shown: &[Shape]) -> Vec<Told> {
    let over = over(&told, shown);
    let one_by_one = |(t, over): (Told, bool)| -> Vec<Told> {
        let n = t.part.shape.count();
        let &[one] = &t.part.shape.levels[..] else { return vec![t] };
        if !over {
            return vec![t];
        }
        let (start, end) = t.span_ns;
        let at = |i: u64| start + (u128::from(end - start) * u128::from(i) / u128::from(n)) as u64;
        let single = |i: u64| {
            let offset = t.part.offset.wrapping_add_signed(i as i64 * one.stride);
            let span_ns = (at(i), at(i + 1));
            Told { part: Part { offset, shape: Shape::of(t.part.shape.size), span_ns }, span_ns, ..t.clone() }
        };
        (0..n).map(single).collect()
    };
    told.into_iter().zip(over).flat_map(one_by_one).collect()
}

/// All rounds told in the ways of each place where two meet, nests over the same places together.
fn gathered(rounds: &[Round], ways: impl Fn(usize) -> &'static [Way]) -> Vec<Told> {
    let mut out: Vec<Told> = Vec::new();
    for round in rounds {
        let mut list: Vec<Part> = Vec::new();
        for (i, part) in round.list.iter().enumerate() {
            let before = list.pop();
            match before.as_ref().and_then(|b| ways(i - 1).iter().find_map(|way| two(b, part, *way))) {
                Some(both) => list.extend(both),
                None => list.extend(before.into_iter().chain([part.clone()])),
            }
        }
        for part in list {
            match out.iter_mut().find(|t| (t.part.offset, &t.part.shape) == (part.offset, &part.shape)) {
                Some(t) => {
                    (t.rounds.1, t.span_ns.1) = (round.number, part.span_ns.1);
                    t.times += round.times;
                }
                None => {
                    let rounds = (round.number, round.number);
                    out.push(Told { span_ns: part.span_ns, part, rounds, times: round.times });
                }
            }
        }
    }
    out
}

/// Two nests that follow each other, told in this way.
fn two(a: &Part, b: &Part, way: Way) -> Option<Vec<Part>> {
    let between = b.offset.wrapping_sub(a.offset) as i64;
    let part = |offset, levels: Vec<Level>, span_ns| {
        let shape = Shape { size: a.shape.size, levels }.canonical();
        Part { offset, shape, span_ns }
    };
    match way {
        Way::Whole => {
            let levels = follow(&a.shape.levels, &b.shape.levels, between)?;
            Some(vec![part(a.offset, levels, (a.span_ns.0, b.span_ns.1))])
        }
        Way::Pass => {
            let (top, inner) = b.shape.levels.split_last()?;
            if inner.is_empty() || inner != a.shape.levels {
                return None;
            }
            let (start, end) = b.span_ns;
            let at = start + (end - start) / top.count;
            let passes = |count, stride| [inner, &[Level { count, stride }]].concat();
            let rest = part(b.offset.wrapping_add_signed(top.stride), passes(top.count - 1, top.stride), (at, end));
            Some(vec![part(a.offset, passes(2, between), (a.span_ns.0, at)), rest])
        }
        Way::First => {
            let size = a.shape.size as i64;
            let levels = &b.shape.levels;
            if !a.shape.levels.is_empty() || between != size || levels.len() < 2 {
                return None;
            }
            let (start, end) = b.span_ns;
            let n = b.shape.count();
            let at = |i: u64| start + (u128::from(end - start) * u128::from(i) / u128::from(n)) as u64;
            let mut out = vec![part(a.offset, vec![Level { count: 2, stride: size }], (a.span_ns.0, at(1)))];
            let mut done = 1;
            for (d, l) in levels.iter().enumerate() {
                // The other passes of this loop.
                let rest = [&levels[..d], &[Level { count: l.count - 1, ..*l }]].concat();
                let records: u64 = rest.iter().map(|l| l.count).product();
                out.push(part(b.offset.wrapping_add_signed(l.stride), rest, (at(done), at(done + records))));
                done += records;
            }
            Some(out)
        }
        Way::Start => {
            let size = a.shape.size as i64;
            let run = match a.shape.levels[..] {
                [] => Level { count: 1, stride: size },
                [one] => one,
                _ => return None,
            };
            let (inner, top) = match b.shape.levels[..] {
                [top] => (Level { count: 1, stride: run.stride }, top),
                [inner, top] => (inner, top),
                _ => return None,
            };
            if between != run.count as i64 * run.stride || inner.stride != run.stride {
                return None;
            }
            // All accesses of a nest take equally long.
            let (start, end) = b.span_ns;
            let taken = u128::from(end - start) * u128::from(inner.count) / u128::from(b.shape.count());
            let at = start + taken as u64;
            let longer = vec![Level { count: run.count + inner.count, ..run }];
            let rest = vec![inner, Level { count: top.count - 1, ..top }];
            let rest_offset = b.offset.wrapping_add_signed(top.stride);
            Some(vec![part(a.offset, longer, (a.span_ns.0, at)), part(rest_offset, rest, (at, end))])
        }
    }
}

/// One or two accesses, and then the start of a loop over the same places, are two passes, and the loop goes on from there.
fn again(mut told: Vec<Told>) -> Vec<Told> {
    for i in 1..told.len() {
        let (a, b) = (&told[i - 1], &told[i]);
        let n = a.part.shape.count();
        let [one] = b.part.shape.levels[..] else { continue };
        let start = Shape::of(b.part.shape.size).times(n, one.stride as u64).canonical();
        let once = a.times == 1 && b.times == 1 && a.part.shape.is_alone();
        let like = a.part.offset == b.part.offset && a.part.shape == start;
        if !once || !like || one.count < n + 3 || one.stride == 0 {
            continue;
        }
        let (from, to) = b.span_ns;
        let at = from + (u128::from(to - from) * u128::from(n) / u128::from(one.count)) as u64;
        let rest = Shape::of(b.part.shape.size).times(one.count - n, one.stride as u64).canonical();
        let offset = b.part.offset.wrapping_add_signed(n as i64 * one.stride);
        let last = b.rounds.1;
        told[i] = Told { part: Part { offset, shape: rest, span_ns: (at, to) }, span_ns: (at, to), ..told[i].clone() };
        let a = &mut told[i - 1];
        (a.times, a.rounds.1, a.span_ns.1) = (2, last, at);
    }
    told
}

/// Where a nest is, but for its last access, what another one is, its passes are passes of that one.
fn shared(mut told: Vec<Told>) -> Vec<Told> {
    for i in 0..told.len() {
        let t = &told[i];
        let [one] = t.part.shape.levels[..] else { continue };
        let less = Shape::of(t.part.shape.size).times(one.count - 1, one.stride as u64).canonical();
        let same = |o: &Told| o.part.offset == t.part.offset && o.part.shape == less && o.times > 1;
        let Some(with) = told.iter().position(same).filter(|_| t.times > 1) else { continue };
        let t = &mut told[i];
        let (rounds, times, (start, end)) = (t.rounds, t.times, t.part.span_ns);
        let at = start + (u128::from(end - start) * u128::from(one.count - 1) / u128::from(one.count)) as u64;
        t.part.offset = t.part.offset.wrapping_add_signed((one.count - 1) as i64 * one.stride);
        t.part.shape = Shape::of(t.part.shape.size);
        t.span_ns.0 = at;
        let other = &mut told[with];
        other.times += times;
        if rounds.0 < other.rounds.0 {
            (other.rounds.0, other.span_ns.0) = (rounds.0, start);
        }
        if rounds.1 > other.rounds.1 {
            (other.rounds.1, other.span_ns.1) = (rounds.1, at);
        }
    }
    told
}
