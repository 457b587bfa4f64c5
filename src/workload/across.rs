//! What ranks do once each, at a constant distance from rank to rank: the outermost loop of a pattern of them all.
//!
//! With a distance, the place less the rank's share of it is the same for all accesses that belong together. They count if two
//! of them were foretold (each but the first of each place, and one for the distance if it is free) and if they are no
//! accident: all that is alone, in the same order in every rank, or more than chance makes of as many accesses on the same
//! grid.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::alone::{Alone, CHANCE, gcd};
use super::shape::Shape;
use super::truth::{PatternKind, Place, Ranks, TruePattern};

/// Ranks that show a level where they are not all, and accesses that a level must foretell.
const ENOUGH: usize = 4;
const EVIDENCE: usize = 2;

/// Distances that are tried, and accesses of a rank among which one shows: so many, so far apart in their order.
const DISTANCES: usize = 6;
const SHOWN: usize = 256;
const NEAR: usize = 4;

/// Takes out what ranks do together in accesses of a size. `ranks` do anything at all; patterns of this size reach over `reach`
/// (lowest place, end, start).
pub(super) fn across<'f>(
    alone: &mut Vec<Alone>,
    size: u64,
    ranks: usize,
    reach: &[[u64; 3]],
    place: impl Fn(u32, (u64, u64)) -> Place<'f>,
) -> Vec<TruePattern> {
    let all: Vec<Alone> = alone.iter().copied().filter(|a| a.size == size).collect();
    let mut free = vec![true; all.len()];
    let Some(spacing) = Spacing::of(&all) else { return Vec::new() };
    let distances = distances(&all, spacing);
    let mut out = Vec::new();
    for &distance in &distances {
        let here: Vec<usize> = (0..all.len()).filter(|&i| free[i]).collect();
        for row in rows_at(&all, &here, (spacing, distance), distances.len(), ranks, reach) {
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
    let mut free = free.into_iter();
    alone.retain(|a| a.size != size || free.next().unwrap_or(true));
    out
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
        (step > 0).then_some(Spacing { first, step: step as i64 })
    }

    fn number(self, a: &Alone) -> i64 {
        (i64::from(a.rank) - self.first) / self.step
    }
}

/// Distances from rank to rank that show more than once, those that show most often first.
fn distances(all: &[Alone], spacing: Spacing) -> Vec<i64> {
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
    let mut shown: Vec<(i64, u64)> = votes.into_iter().filter(|v| v.1 > 1).collect();
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
