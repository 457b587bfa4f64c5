//! What ranks do once each, at a constant distance from rank to rank: the outermost loop of a pattern of them all.
//!
//! With a distance, the place less the rank's share of it is the same for all accesses that belong together. They count if two
//! of them were foretold (each but the first of each place, and one for the distance if it is free) and if they are no
//! accident: all that is alone, in the same order in every rank, or more than chance makes of as many accesses on the same
//! grid. Before that, a nest of one rank is one in others, too, at a distance that accesses or nests show, if all of it is alone
//! there.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::alone::{Alone, CHANCE, gcd};
use super::shape::{Odometer, Shape};
use super::truth::{PatternKind, Place, Ranks, TruePattern};

/// Ranks that show a level where they are not all, and accesses that a level must foretell.
const ENOUGH: usize = 4;
const EVIDENCE: usize = 2;

/// Distances that are tried, and accesses of a rank among which one shows: so many, so far apart in their order.
const DISTANCES: usize = 6;
const SHOWN: usize = 256;
const NEAR: usize = 4;

/// Accesses of a nest that others may have, and such nests that are tried.
const LENT: RangeInclusive<u64> = 3..=4096;
const MOST: usize = 64;

/// What ranks do together in all accesses of a size, and which of these are free of it. `ranks` do anything at all; `known` are
/// the patterns of this size.
pub(super) fn across<'f>(
    all: &[Alone],
    size: u64,
    ranks: usize,
    known: &[&TruePattern],
    place: impl Fn(u32, (u64, u64)) -> Place<'f>,
) -> (Vec<TruePattern>, Vec<bool>) {
    let mut free = vec![true; all.len()];
    let Some(spacing) = Spacing::of(all) else { return (Vec::new(), free) };
    let reach: Vec<[u64; 3]> = known.iter().map(|p| [p.lowest(), p.end_offset, p.start_offset]).collect();
    let mut votes = votes(all, spacing);
    let distances = shown(&votes);
    let mut nests: Vec<&TruePattern> = known.iter().copied().filter(|p| LENT.contains(&p.records)).collect();
    nests.sort_by_key(|p| p.rank);
    nests.truncate(MOST);
    for (i, nest) in nests.iter().enumerate() {
        let Some(before) = nests[..i].iter().rev().find(|p| p.levels == nest.levels) else { continue };
        let ranks = i64::from(nest.rank) - i64::from(before.rank);
        let between = nest.start_offset as i64 - before.start_offset as i64;
        if ranks > 0 && between % ranks == 0 {
            *votes.entry(between / ranks * spacing.step).or_default() += 1;
        }
    }
    let mut out = Vec::new();
    let of_nests = shown(&votes);
    let looks = of_nests.len() * nests.len();
    let everywhere: Vec<usize> = (0..all.len()).collect();
    let grid = places(all, &everywhere, reach.iter().map(|r| r[2]), reach.iter().flat_map(|r| [r[0], r[1]]));
    for &distance in &of_nests {
        for nest in &nests {
            out.extend(lend(all, &mut free, nest, (spacing, distance), (looks, grid), &place));
        }
    }
    for &distance in &distances {
        let here: Vec<usize> = (0..all.len()).filter(|&i| free[i]).collect();
        for row in rows_at(all, &here, (spacing, distance), distances.len(), ranks, &reach) {
            let first = all[row[0]];
            let step = all[row[1]].rank - first.rank;
            let spans = row.iter().map(|&i| all[i].span_ns);
            let span = spans.fold((u64::MAX, 0), |span, s| (span.0.min(s.0), span.1.max(s.1)));
            let mut pattern =
                TruePattern::new(place(first.rank, span), PatternKind::FixedStrided, first.offset, first.offset);
            let stride = distance * i64::from(step) / spacing.step;
            pattern.shape(&Shape::of(size).times(row.len() as u64, stride as u64));
            pattern.ranks = Some(Ranks { count: row.len() as u64, step: u64::from(step) });
            out.push(pattern);
            row.into_iter().for_each(|i| free[i] = false);
        }
    }
    (out, free)
}

/// Ranks that have something alone: so many apart, or multiples of that.
#[derive(Clone, Copy)]
struct Spacing {
    first: i64,
    step: i64,
}

impl Spacing {
    fn of(all: &[Alone]) -> Option<Spacing> {
        let first = i64::from(all.first()?.rank);
        let step = all.iter().fold(0, |step, a| gcd(step, i64::from(a.rank).abs_diff(first)));
        Some(Spacing { first, step: (step as i64).max(1) })
    }

    fn number(self, a: &Alone) -> i64 {
        (i64::from(a.rank) - self.first) / self.step
    }
}

/// The nest of one rank in others, where all of it is alone.
fn lend<'f>(
    all: &[Alone],
    free: &mut [bool],
    nest: &TruePattern,
    (spacing, distance): (Spacing, i64),
    (looks, grid): (usize, f64),
    place: &impl Fn(u32, (u64, u64)) -> Place<'f>,
) -> Vec<TruePattern> {
    let from = i64::from(nest.rank) - spacing.first;
    if from % spacing.step != 0 {
        return Vec::new();
    }
    let shape = Shape { size: nest.access_size.unwrap_or(0), levels: nest.levels.clone() };
    let here: Vec<usize> = (0..all.len()).collect();
    let mut out = Vec::new();
    for of_rank in here.chunk_by(|&a, &b| all[a].rank == all[b].rank) {
        let rank = all[of_rank[0]].rank;
        let n = of_rank.len() as u64;
        let ways: f64 = (0..nest.records).map(|i| n.saturating_sub(i) as f64 / (i + 1) as f64).product();
        if rank == nest.rank || looks as f64 * ways / grid.powf(nest.records as f64) > CHANCE {
            continue;
        }
        let shift = distance * (spacing.number(&all[of_rank[0]]) - from / spacing.step);
        let mut odometer = Odometer::new(nest.start_offset.wrapping_add_signed(shift), &shape);
        let mut members: Vec<usize> = Vec::new();
        for _ in 0..nest.records {
            let later = |i: &usize| free[*i] && members.last().is_none_or(|last| last < i);
            let at = |i: &usize| all[*i].offset == odometer.offset();
            let Some(next) = of_rank.iter().copied().filter(later).find(at) else { break };
            members.push(next);
            odometer.advance(&shape);
        }
        if members.len() as u64 == nest.records {
            let span = (all[members[0]].span_ns.0, all[members[members.len() - 1]].span_ns.1);
            out.extend(TruePattern::nested(place(rank, span), all[members[0]].offset, &shape));
            members.into_iter().for_each(|i| free[i] = false);
        }
    }
    out
}

/// Distances from rank to rank, and how often they show.
fn votes(all: &[Alone], spacing: Spacing) -> BTreeMap<i64, u64> {
    let lists: Vec<&[Alone]> = all.chunk_by(|a, b| a.rank == b.rank).collect();
    let mut votes: BTreeMap<i64, u64> = BTreeMap::new();
    for two in lists.windows(2) {
        let (one, other) = (&two[0][..two[0].len().min(SHOWN)], &two[1][..two[1].len().min(SHOWN)]);
        let ranks = spacing.number(&other[0]) - spacing.number(&one[0]);
        for (i, a) in one.iter().enumerate() {
            for b in other.iter().take(i + NEAR + 1).skip(i.saturating_sub(NEAR)) {
                let between = b.offset as i64 - a.offset as i64;
                if between % ranks == 0 {
                    *votes.entry(between / ranks).or_default() += 1;
                }
            }
        }
    }
    votes
}

/// Distances that show more than once, those that show most often first.
fn shown(votes: &BTreeMap<i64, u64>) -> Vec<i64> {
    let mut shown: Vec<(i64, u64)> = votes.iter().map(|(d, n)| (*d, *n)).filter(|v| v.1 > 1).collect();
    shown.sort_by_key(|&(distance, votes)| (Reverse(votes), distance.unsigned_abs(), distance));
    shown.into_iter().take(DISTANCES).map(|s| s.0).collect()
}

/// What evenly spaced ranks do once each at this distance, one of so many that are tried.
fn rows_at(
    all: &[Alone],
    here: &[usize],
    (spacing, distance): (Spacing, i64),
    tried: usize,
    ranks: usize,
    reach: &[[u64; 3]],
) -> Vec<Vec<usize>> {
    let lists: Vec<&[usize]> = here.chunk_by(|&a, &b| all[a].rank == all[b].rank).collect();
    if lists.len() < 2 {
        return Vec::new();
    }
    let mut by_share: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for &i in here {
        by_share.entry(all[i].offset as i64 - distance * spacing.number(&all[i])).or_default().push(i);
    }
    let rows: Vec<Vec<usize>> = by_share.into_values().flat_map(|same| even(all, &same)).collect();
    let given = distance == 0 || distance.unsigned_abs() == all[here[0]].size;
    let enough =
        |rows: &[Vec<usize>]| rows.iter().map(|r| r.len() - 1).sum::<usize>() >= EVIDENCE + usize::from(!given);
    let whole = rows.len() == lists[0].len()
        && lists.iter().all(|l| l.len() == rows.len())
        && rows.iter().all(|r| r.len() == lists.len());
    let mut in_time: Vec<&Vec<usize>> = rows.iter().collect();
    in_time.sort_by_key(|r| r[0]);
    let in_order = in_time.windows(2).all(|w| w[0].iter().zip(w[1]).all(|(a, b)| a < b));
    let many = lists.len() == ranks || lists.len() >= ENOUGH;
    if enough(&rows) && whole && many && in_order {
        return rows;
    }
    let ends = reach.iter().flat_map(|r| [r[0], r[1]]);
    let share = here.len() as f64 / lists.len() as f64 / places(all, here, reach.iter().map(|r| r[2]), ends);
    let by_chance = |row: &[usize]| tried as f64 * here.len() as f64 * share.powi(row.len() as i32 - 1) > CHANCE;
    let rows: Vec<Vec<usize>> = rows.into_iter().filter(|row| !by_chance(row)).collect();
    if enough(&rows) { rows } else { Vec::new() }
}

/// Evenly spaced ranks, one access of each.
fn even(all: &[Alone], same: &[usize]) -> Vec<Vec<usize>> {
    let each: Vec<usize> = same.chunk_by(|&a, &b| all[a].rank == all[b].rank).map(|of_rank| of_rank[0]).collect();
    let step = |a: usize, b: usize| all[b].rank - all[a].rank;
    let mut out = Vec::new();
    let mut rest = &each[..];
    while let [a, b, ..] = *rest {
        let n = 1 + rest.windows(2).take_while(|w| step(w[0], w[1]) == step(a, b)).count();
        if n == 2 && rest.len() > 2 {
            rest = &rest[1..];
            continue;
        }
        out.push(rest[..n].to_vec());
        rest = &rest[n..];
    }
    out
}

/// Places of the finest grid on which all of these begin, as far as they and the patterns reach.
fn places(all: &[Alone], here: &[usize], starts: impl Iterator<Item = u64>, reach: impl Iterator<Item = u64>) -> f64 {
    let begin: Vec<u64> = here.iter().map(|&i| all[i].offset).chain(starts).collect();
    let unit = begin.iter().fold(0, |unit, b| gcd(unit, b.abs_diff(begin[0])));
    let (low, high) = begin.iter().copied().chain(reach).fold((u64::MAX, 0), |(l, h), b| (l.min(b), h.max(b)));
    (high - low).checked_div(unit).map_or(1.0, |n| n as f64 + 1.0)
}
