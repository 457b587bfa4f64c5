//! What is done over and over in a file with accesses of one size: lists of nests, each list several times at the same places.
//!
//! What lies next to each other may be told in several ways: a nest may take in the start of the one after it, or all of it. What
//! is true is what the fewest numbers tell, then what has the fewest loops and accesses alone, then takes the fewest patterns, then
//! has nests that have each foretold two, then the fewest mere pairs, then the one in which the first loops go on for longest.
//! Nests over the same places are one, whatever came between.

use std::cmp::Reverse;

use super::super::sequel::follow;
use super::super::shape::{Odometer, Shape};
use super::super::truth::Level;

/// Accesses of a nest, and when they begin and end in their round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) offset: u64,
    /// In canonical form.
    pub(super) shape: Shape,
    pub(super) span_ns: (u64, u64),
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

impl Told {
    /// With a loop over the same places for the rounds.
    fn shape(&self) -> Shape {
        self.part.shape.clone().times(self.times, 0).canonical()
    }

    fn records(&self) -> u64 {
        self.part.shape.count() * self.times
    }

    /// Accesses that were foretold.
    fn foretold(&self) -> usize {
        self.shape().foretold()
    }
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
    /// The end of the first is a pass of the other.
    End,
}

/// Ways to tell all lists of which each is tried with each.
const MOST: usize = 4096;

/// The nests of these rounds, and what they cost: the best of all ways.
pub(super) fn told(rounds: &[Round]) -> (Vec<Told>, Cost) {
    let again = |r: &Round| rounds.iter().filter(|o| o.list == r.list).map(|o| o.times).sum::<u64>() > 1;
    let lists = rounds.iter().map(|r| if again(r) { shown(&r.list) } else { r.list.clone() });
    let lists: Vec<Vec<Part>> = lists.collect();
    let of_round = |(r, list): (&Round, &Vec<Part>)| {
        let mut all = ways(list, &lists);
        if *list != r.list {
            // A pair that nothing shows may be part of a nest.
            let more: Vec<Vec<Part>> = ways(&r.list, &lists).iter().map(|way| shown(way)).collect();
            more.into_iter().for_each(|way| {
                if !all.contains(&way) {
                    all.push(way)
                }
            });
        }
        all
    };
    let ways: Vec<Vec<Vec<Part>>> = rounds.iter().zip(&lists).map(of_round).collect();
    let all = ways.iter().try_fold(1, |n: usize, w| n.checked_mul(w.len()).filter(|n| *n <= MOST));
    let lists = |n: usize| -> Vec<Vec<Part>> {
        let mut n = n;
        let choose = |w: &Vec<Vec<Part>>| {
            let i = match all {
                Some(_) => n % w.len(),
                // Of very many, the same one in all lists.
                None => n.min(w.len() - 1),
            };
            n = all.map_or(n, |_| n / w.len());
            w[i].clone()
        };
        ways.iter().map(choose).collect()
    };
    let longest = ways.iter().map(Vec::len).max().unwrap_or(0);
    let readings = (0..all.unwrap_or(longest)).map(|n| shared(gathered(rounds, lists(n))));
    // The first one is that of all lists as they are.
    let sound = readings.enumerate().filter(|(n, r)| *n == 0 || is_sound(r)).map(|r| r.1);
    let nothing_between = rounds.iter().all(|r| r.list.len() == 1);
    let all = sound.flat_map(|r| [r.clone(), doubled(r, nothing_between)]);
    let with_costs = all.map(|r| (cost(&r), r));
    // Of equal ones that whose first loops go on for longest.
    let first = |r: &[Told]| {
        let nests = r.iter().zip(over(r)).filter(|t| !t.1);
        Reverse(nests.map(|t| t.0.part.shape.count()).collect::<Vec<_>>())
    };
    let weak = |r: &[Told]| r.iter().any(|t| t.foretold() < 2);
    let (cost, best) = with_costs.min_by_key(|r| (r.0, weak(&r.1), pairs(&r.1), first(&r.1))).unwrap_or_default();
    (apart(best), cost)
}

/// Ways to tell one of these lists; the first one is as it is.
fn ways(list: &[Part], lists: &[Vec<Part>]) -> Vec<Vec<Part>> {
    let is_list = |a: &Part, b: &Part| {
        lists.iter().any(|l| matches!(&l[..], [c, d] if (&c.shape, c.offset, &d.shape, d.offset) == (&a.shape, a.offset, &b.shape, b.offset)))
    };
    let size = list.first().map_or(0, |p| p.shape.size);

    let mut all: Vec<Vec<Part>> = vec![Vec::new()];
    for part in list {
        let together = |known: &Vec<Part>| {
            let as_it_is = known.iter().chain([part]).cloned().collect();
            let before = known.split_last();
            let ways = [Way::Whole, Way::Start, Way::Pass, Way::End].into_iter().filter_map(move |way| {
                let (last, known) = before?;
                // Any two accesses are a loop, if there are no others in some list.
                let single = last.shape.levels.is_empty() && part.shape.levels.is_empty();
                if way == Way::Whole && single && part.offset != last.offset + size && !is_list(last, part) {
                    return None;
                }
                Some(known.iter().cloned().chain(two(last, part, way)?).collect())
            });
            std::iter::once(as_it_is).chain(ways).collect::<Vec<Vec<Part>>>()
        };
        all = all.iter().flat_map(together).collect();
        all.dedup();
    }
    all
}

/// What it takes to tell a reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// Places and strides.
    numbers: u64,
    /// Loops and accesses alone.
    pieces: u64,
    pub(super) patterns: usize,
    /// Accesses in no pattern.
    pub(super) alone: u64,
}

fn cost(told: &[Told]) -> Cost {
    let mut cost = Cost::default();
    for (t, over) in told.iter().zip(over(told)) {
        if over {
            cost.numbers += t.records();
            cost.pieces += t.records();
            cost.alone += t.records();
        } else {
            let shape = t.shape();
            cost.numbers += shape.numbers();
            cost.patterns += 1;
            cost.pieces += shape.levels.len() as u64;
        }
    }
    cost
}

/// True if three have been foretold for two nests that are done once, on average, or any few accesses are nests.
fn is_sound(told: &[Told]) -> bool {
    let nests = || told.iter().zip(over(told)).filter(|t| !t.1).map(|t| t.0);
    2 * nests().map(Told::foretold).sum::<usize>() >= 3 * nests().filter(|t| t.times == 1).count()
}

/// Pairs at a free stride, which foretell nothing.
fn pairs(told: &[Told]) -> usize {
    let free = |l: &Level, size: u64| l.stride != 0 && l.stride != size as i64;
    let is_pair =
        |t: &&Told| matches!(t.part.shape.levels[..], [l @ Level { count: 2, .. }] if free(&l, t.part.shape.size));
    told.iter().filter(is_pair).count()
}

/// For each nest whether it is none: it has foretold nothing, or but one access, and something is left over. A stride that another
/// one shows is no free choice.
fn over(told: &[Told]) -> Vec<bool> {
    let nothing = told.iter().any(|t| t.foretold() == 0);
    let strong = || told.iter().filter(|t| t.foretold() >= 2);
    let shown = |l: &Level, size: u64| {
        let free = l.stride != 0 && l.stride as u64 != size;
        free && strong().flat_map(|t| &t.part.shape.levels).any(|k| k.stride == l.stride)
    };
    let of_nest = |shape: &Shape| shape.levels.iter().filter(|l| shown(l, shape.size)).count();
    let foretold = |t: &Told| t.foretold() + of_nest(&t.part.shape);
    told.iter().map(|t| nothing && t.foretold() < 2 && (t.foretold() == 0 || foretold(t) < 2)).collect()
}

/// What is no nest, one by one.
fn apart(told: Vec<Told>) -> Vec<Told> {
    let over = over(&told);
    let one_by_one = |(t, over): (Told, bool)| -> Vec<Told> {
        if !over {
            return vec![t];
        }
        let n = t.part.shape.count();
        let (start, end) = t.span_ns;
        let at = |i: u64| start + (u128::from(end - start) * u128::from(i) / u128::from(n)) as u64;
        let mut odometer = Odometer::new(t.part.offset, &t.part.shape);
        let mut singles = Vec::new();
        for i in 0..n {
            let span_ns = if t.times > 1 { t.span_ns } else { (at(i), at(i + 1)) };
            let part = Part { offset: odometer.offset(), shape: Shape::of(t.part.shape.size), span_ns };
            singles.push(Told { part, span_ns, times: 1, ..t });
            odometer.advance(&t.part.shape);
        }
        (0..t.times).flat_map(|_| singles.clone()).collect()
    };
    told.into_iter().zip(over).flat_map(one_by_one).collect()
}

/// All rounds, told as these lists, nests over the same places together.
fn gathered(rounds: &[Round], lists: Vec<Vec<Part>>) -> Vec<Told> {
    let mut out: Vec<Told> = Vec::new();
    for (round, list) in rounds.iter().zip(lists) {
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
        Way::End => {
            let (&[run], (top, inner)) = (&a.shape.levels[..], b.shape.levels.split_last()?) else { return None };
            let row = match *inner {
                [] => 1,
                [row] if row.stride == run.stride => row.count,
                _ => return None,
            };
            let before = run.count.checked_sub(row).filter(|n| *n > 0)?;
            let first = a.offset.wrapping_add_signed(before as i64 * run.stride);
            if b.offset.wrapping_sub(first) as i64 != top.stride {
                return None;
            }
            let (start, end) = a.span_ns;
            let at = start + (u128::from(end - start) * u128::from(before) / u128::from(run.count)) as u64;
            let longer = [inner, &[Level { count: top.count + 1, ..*top }]].concat();
            let rest = part(a.offset, vec![Level { count: before, ..run }], (start, at));
            Some(vec![rest, part(first, longer, (at, b.span_ns.1))])
        }
        Way::Start => {
            let size = a.shape.size as i64;
            let run = match a.shape.levels[..] {
                [] => Level { count: 1, stride: size },
                [one] => one,
                _ => return None,
            };
            let levels = &b.shape.levels;
            if levels.is_empty() || between != run.count as i64 * run.stride {
                return None;
            }
            // Its first row goes on with the run, or its first access does.
            let row = levels.first().filter(|l| l.stride == run.stride).map_or(1, |l| l.count);
            let inner = usize::from(row > 1);
            // All accesses of a nest take equally long.
            let (start, end) = b.span_ns;
            let time = |n: u64| start + (u128::from(end - start) * u128::from(n) / u128::from(b.shape.count())) as u64;
            let longer = vec![Level { count: run.count + row, ..run }];
            let mut out = vec![part(a.offset, longer, (a.span_ns.0, time(row)))];
            // What is left of its passes, from the inside out.
            let mut done = row;
            for (i, l) in levels.iter().enumerate().skip(inner) {
                let rest = [&levels[..i], &[Level { count: l.count - 1, ..*l }]].concat();
                let all = done * l.count;
                out.push(part(b.offset.wrapping_add_signed(l.stride), rest, (time(done), time(all))));
                done = all;
            }
            let rest = shown(&out.split_off(1));
            out.extend(rest);
            Some(out)
        }
    }
}

/// A list that is gone through over and over: pairs at a distance that nothing else in it shows are two accesses, but if there
/// are no others.
fn shown(list: &[Part]) -> Vec<Part> {
    let is_nest = |p: &Part| p.shape.foretold() > 0;
    let strides: Vec<i64> =
        list.iter().filter(|p| is_nest(p)).flat_map(|p| &p.shape.levels).map(|l| l.stride).collect();
    let tells = |p: &Part| is_nest(p) || matches!(p.shape.levels[..], [l] if strides.contains(&l.stride));
    let alone: u64 = list.iter().filter(|p| !tells(p)).map(|p| p.shape.count()).sum();
    let apart = |p: &Part| -> Vec<Part> {
        match p.shape.levels[..] {
            [l] if !tells(p) && alone > 2 => {
                let (start, end) = p.span_ns;
                let at = start + (end - start) / l.count;
                let one = |offset, span_ns| Part { offset, shape: Shape::of(p.shape.size), span_ns };
                vec![one(p.offset, (start, at)), one(p.offset.wrapping_add_signed(l.stride), (at, end))]
            }
            _ => vec![p.clone()],
        }
    };
    list.iter().flat_map(apart).collect()
}

/// A nest, and then twice that: two passes at the same place or, where nothing else is done between, elsewhere, and what is further
/// on.
fn doubled(mut told: Vec<Told>, nothing_between: bool) -> Vec<Told> {
    for i in 1..told.len() {
        let (a, b) = (&told[i - 1], &told[i]);
        let Some((&Level { count: 2, stride }, inner)) = b.part.shape.levels.split_last() else { continue };
        let once = a.times == 1 && b.times == 1 && !inner.is_empty();
        let between = b.part.offset.wrapping_sub(a.part.offset);
        if !once || between != 0 && !nothing_between || a.part.shape.levels != inner {
            continue;
        }
        let (start, end) = b.span_ns;
        let at = start + (end - start) / 2;
        let part =
            Part { offset: b.part.offset.wrapping_add_signed(stride), shape: a.part.shape.clone(), span_ns: (at, end) };
        let rounds = b.rounds;
        told[i] = Told { part, span_ns: (at, end), ..told[i].clone() };
        let a = &mut told[i - 1];
        (a.rounds.1, a.span_ns.1) = (rounds.1, at);
        if between == 0 {
            a.times = 2;
        } else {
            a.part.shape = a.part.shape.clone().times(2, between).canonical();
        }
    }
    told
}

/// Where a nest is, but for its last access or pass, what another one is, its passes are passes of that one.
fn shared(mut told: Vec<Told>) -> Vec<Told> {
    for i in 0..told.len() {
        let t = &told[i];
        let Some((&top, inner)) = t.part.shape.levels.split_last() else { continue };
        let shape = |levels| Shape { size: t.part.shape.size, levels }.canonical();
        let less = shape([inner, &[Level { count: top.count - 1, ..top }]].concat());
        let same = |o: &Told| o.part.offset == t.part.offset && o.part.shape == less && o.times > 1;
        let Some(with) = told.iter().position(same).filter(|_| t.times > 1) else { continue };
        let last = shape(inner.to_vec());
        let t = &mut told[i];
        let (rounds, times, (start, end)) = (t.rounds, t.times, t.part.span_ns);
        let at = start + (u128::from(end - start) * u128::from(top.count - 1) / u128::from(top.count)) as u64;
        t.part.offset = t.part.offset.wrapping_add_signed((top.count - 1) as i64 * top.stride);
        t.part.shape = last;
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
