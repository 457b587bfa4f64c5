//! Levels over ranks: accesses that each rank makes once, at places that are a constant distance apart from rank to rank.
//!
//! The distance is looked for among what is left of ranks that follow each other. With it, the place less the rank's share is the
//! same for all accesses that belong together. They count if two of them were foretold (each but the first of each place, and one
//! for the distance if it is free) and if they are no accident: either as many are not to be expected at random places of the same
//! grid, or they are all that is left, in the same order in every rank.
//!
//! A loop that one rank has shown is also looked for among what is left of the others, at the same distance.

use std::collections::{BTreeMap, HashMap};

use super::left::{Left, Part, one_loop, pattern_of};
use super::nest::Level;
use super::options::Age;
use super::pattern::{Body, Pattern, Ranks};
use super::remnants::{CHANCE, Extent, expected, gcd, grid, near};
use crate::record::FileId;

/// Distances of a stream that are tried.
const DISTANCES: usize = 6;

/// Records of a rank among which a distance shows, and how far apart in their order.
const SHOWN: usize = 256;
const NEAR: usize = 4;

/// Ranks that show a level where they are not all.
const ENOUGH: usize = 4;

/// Accesses that a level must have foretold.
const EVIDENCE: u64 = 2;

/// Patterns of a stream that are looked for in other ranks, their records, and the fewest.
const LENT: usize = 64;
const LENT_RECORDS: std::ops::RangeInclusive<u64> = 3..=4096;

/// Operation as a number, file, size.
type Stream = (u8, FileId, u64);

/// A record left: number of the part, and there.
type Place = (usize, usize);

/// Which ranks have something left: so many apart, or multiples of that.
#[derive(Debug, Clone, Copy)]
struct Spacing {
    first: i64,
    step: i64,
}

impl Spacing {
    fn of(parts: &[Part], places: &[Place]) -> Spacing {
        let rank = |p: &Place| i64::from(parts[p.0].rank);
        let first = places.first().map_or(0, rank);
        let step = places.iter().fold(0, |step, p| gcd(step, rank(p).abs_diff(first)));
        Spacing { first, step: (step as i64).max(1) }
    }

    fn has(self, rank: u32) -> bool {
        (i64::from(rank) - self.first) % self.step == 0
    }

    /// The number of a rank among them.
    fn number(self, rank: u32) -> i64 {
        (i64::from(rank) - self.first) / self.step
    }
}

/// The patterns that records left of several ranks make together, or prove for each other. What they take is marked. Records
/// further apart than `age` have nothing to do with each other.
pub(super) fn join(parts: &mut [Part], age: Age) -> Vec<Pattern> {
    let mut found = Vec::new();
    if parts.len() < 2 {
        return found;
    }
    let mut streams: BTreeMap<Stream, Vec<Place>> = BTreeMap::new();
    for (n, part) in parts.iter().enumerate() {
        for (i, l) in part.left.iter().enumerate().filter(|(_, l)| l.is_free()) {
            let a = &l.access;
            streams.entry((a.op as u8, a.file, a.size)).or_default().push((n, i));
        }
    }
    streams.retain(|_, places| places.len() > 1);
    let loops = loops(parts, &streams);
    let reach = reach(parts, &streams);
    let looks = streams.len();
    for (stream, places) in streams {
        let known = reach.get(&stream).map_or(&[][..], Vec::as_slice);
        let spacing = Spacing::of(parts, &places);
        let lent = loops.get(&stream).map_or(&[][..], Vec::as_slice);
        let mut votes = votes(parts, &places, spacing);
        let distances = shown(&votes);
        lent_votes(lent, spacing).into_iter().for_each(|(d, n)| *votes.entry(d).or_default() += n);
        let of_loops = shown(&votes);
        for &distance in &of_loops {
            let looks = looks * of_loops.len() * lent.len();
            lend(parts, &places, lent, (spacing, distance), (looks, known), age, &mut found);
        }
        for &distance in &distances {
            over_ranks(parts, &places, (spacing, distance), distances.len(), known, age, &mut found);
        }
    }
    found
}

/// Patterns of the streams in which something is left: their rank, start and places.
type Loops = HashMap<Stream, Vec<Pattern>>;

fn loops(parts: &[Part], streams: &BTreeMap<Stream, Vec<Place>>) -> Loops {
    let mut loops = Loops::new();
    for p in parts.iter().flat_map(|part| &part.patterns).filter(|p| LENT_RECORDS.contains(&p.records)) {
        let Some(size) = p.access_size() else { continue };
        let stream = (p.op as u8, p.file, size);
        if streams.contains_key(&stream) {
            let known = loops.entry(stream).or_default();
            if known.len() < LENT {
                known.push(p.clone());
            }
        }
    }
    loops
}

/// Where the patterns of a stream are.
type Reach = HashMap<Stream, Vec<Extent>>;

fn reach(parts: &[Part], streams: &BTreeMap<Stream, Vec<Place>>) -> Reach {
    let mut reach = Reach::new();
    for p in parts.iter().flat_map(|part| &part.patterns) {
        let Some(size) = p.access_size() else { continue };
        let stream = (p.op as u8, p.file, size);
        if streams.contains_key(&stream) {
            let (low, high) = p.extent();
            reach.entry(stream).or_default().push((low, high, p.start_offset));
        }
    }
    reach
}

/// Distances from rank to rank, and how often they show.
type Votes = HashMap<i64, u64>;

/// Distances among what is left.
fn votes(parts: &[Part], places: &[Place], spacing: Spacing) -> Votes {
    let lists: Vec<&[Place]> = places.chunk_by(|a, b| a.0 == b.0).collect();
    let mut votes = Votes::new();
    for pair in lists.windows(2) {
        let (a, b) = (&pair[0][..pair[0].len().min(SHOWN)], &pair[1][..pair[1].len().min(SHOWN)]);
        let ranks = spacing.number(parts[b[0].0].rank) - spacing.number(parts[a[0].0].rank);
        for (i, &(n, x)) in a.iter().enumerate() {
            let near = b.iter().take(i + NEAR + 1).skip(i.saturating_sub(NEAR));
            for &(m, y) in near {
                let between = parts[m].left[y].access.offset.wrapping_sub(parts[n].left[x].access.offset) as i64;
                if between % ranks == 0 {
                    *votes.entry(between / ranks).or_default() += 1;
                }
            }
        }
    }
    votes
}

/// Distances among the same loops of ranks that follow each other.
fn lent_votes(lent: &[Pattern], spacing: Spacing) -> Votes {
    let mut votes = Votes::new();
    let mut last: HashMap<&[Level], &Pattern> = HashMap::new();
    for p in lent {
        let Some(before) = last.insert(p.levels(), p) else { continue };
        let between = p.start_offset.wrapping_sub(before.start_offset) as i64;
        let ranks = i64::from(p.rank) - i64::from(before.rank);
        if ranks > 0 && between % ranks == 0 {
            // From rank to rank of those that have something left.
            *votes.entry((between / ranks).wrapping_mul(spacing.step)).or_default() += 1;
        }
    }
    votes
}

/// Those that show more than once, those that show most often first.
fn shown(votes: &Votes) -> Vec<i64> {
    let mut all: Vec<(i64, u64)> = votes.iter().map(|(d, n)| (*d, *n)).filter(|v| v.1 > 1).collect();
    all.sort_by_key(|&(distance, votes)| (std::cmp::Reverse(votes), distance.unsigned_abs(), distance));
    all.into_iter().take(DISTANCES).map(|(distance, _)| distance).collect()
}

/// Gives ranks the loops of others, where all of their places are left, in order.
fn lend(
    parts: &mut [Part],
    places: &[Place],
    lent: &[Pattern],
    (spacing, distance): (Spacing, i64),
    (looks, known): (usize, &[Extent]),
    age: Age,
    found: &mut Vec<Pattern>,
) {
    if lent.is_empty() {
        return;
    }
    let mut at: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    for &(n, i) in places {
        at.entry((n, parts[n].left[i].access.offset)).or_default().push(i);
    }
    let borrowers: Vec<(usize, usize)> =
        places.chunk_by(|a, b| a.0 == b.0).map(|list| (list[0].0, list.len())).collect();
    let on_grid = places.iter().map(|&(n, i)| parts[n].left[i].access.offset).chain(known.iter().map(|k| k.2));
    let grid = grid(on_grid, known.iter().flat_map(|k| [k.0, k.1]));
    for p in lent {
        let Body::Strided { size, levels } = &p.body else { continue };
        for &(n, left) in &borrowers {
            // All places of the loop, in its order, among those left.
            let accident =
                (p.records as usize) > left || looks as f64 * expected(left, p.records as usize, grid) / grid > CHANCE;
            if parts[n].rank == p.rank || !spacing.has(p.rank) || accident {
                continue;
            }
            let ranks = spacing.number(parts[n].rank) - spacing.number(p.rank);
            let shift = distance.wrapping_mul(ranks) as u64;
            let mut members: Vec<usize> = Vec::new();
            for (offset, _) in p.expand().into_iter().flatten() {
                let left = &parts[n].left;
                let after = |last: usize, i: usize| i > last && near(&left[last], &left[i], age);
                let later = |&i: &usize| left[i].is_free() && members.last().is_none_or(|&last| after(last, i));
                let here = at.get(&(n, offset.wrapping_add(shift)));
                match here.and_then(|list| list.iter().copied().find(later)) {
                    Some(i) => members.push(i),
                    None => break,
                }
            }
            if members.len() as u64 == p.records {
                let records: Vec<&Left> = members.iter().map(|&i| &parts[n].left[i]).collect();
                let body = Body::Strided { size: *size, levels: levels.clone() };
                found.extend(pattern_of(&records, body, None));
                members.into_iter().for_each(|i| parts[n].left[i].taken = true);
            }
        }
    }
}

/// Takes what is at this distance from rank to rank.
fn over_ranks(
    parts: &mut [Part],
    places: &[Place],
    (spacing, distance): (Spacing, i64),
    tried: usize,
    known: &[Extent],
    age: Age,
    found: &mut Vec<Pattern>,
) {
    let free: Vec<Place> = places.iter().copied().filter(|&(n, i)| parts[n].left[i].is_free()).collect();
    let lists: Vec<&[Place]> = free.chunk_by(|a, b| a.0 == b.0).collect();
    if lists.len() < 2 {
        return;
    }
    let offset = |&(n, i): &Place| parts[n].left[i].access.offset;
    let share = |p: &Place| offset(p).wrapping_sub(distance.wrapping_mul(spacing.number(parts[p.0].rank)) as u64);
    let mut sorted: Vec<(u64, Place)> = free.iter().map(|p| (share(p), *p)).collect();
    sorted.sort_unstable();
    let rows: Vec<Vec<Place>> = sorted.chunk_by(|a, b| a.0 == b.0).flat_map(|same| even(parts, same, age)).collect();
    let size = parts[free[0].0].left[free[0].1].access.size;
    let given = distance == 0 || distance.unsigned_abs() == size;
    let foretold = |rows: &[&Vec<Place>]| {
        rows.iter().map(|r| r.len() as u64 - 1).sum::<u64>().saturating_sub(u64::from(!given)) >= EVIDENCE
    };
    let all: Vec<&Vec<Place>> = rows.iter().collect();
    let on_grid = free.iter().map(offset).chain(known.iter().map(|k| k.2));
    let reach = known.iter().flat_map(|k| [k.0, k.1]);
    let rank_share = free.len() as f64 / lists.len() as f64 / grid(on_grid, reach);
    let accident =
        |row: &&Vec<Place>| tried as f64 * free.len() as f64 * rank_share.powi(row.len() as i32 - 1) > CHANCE;
    let chosen = if foretold(&all) && in_order(&lists, &rows, parts.len()) {
        all
    } else {
        all.into_iter().filter(|row| !accident(row)).collect()
    };
    if !foretold(&chosen) {
        return;
    }
    for row in chosen.into_iter().cloned().collect::<Vec<_>>() {
        let records: Vec<&Left> = row.iter().map(|&(n, i)| &parts[n].left[i]).collect();
        let step = records[1].access.rank - records[0].access.rank;
        let stride = distance.wrapping_mul(i64::from(step) / spacing.step);
        let ranks = Ranks { count: row.len() as u32, step };
        found.extend(pattern_of(&records, one_loop(size, records.len(), stride), Some(ranks)));
        row.into_iter().for_each(|(n, i)| parts[n].left[i].taken = true);
    }
}

/// Evenly spaced ranks among records that belong together, one record of each rank.
fn even(parts: &[Part], same: &[(u64, Place)], age: Age) -> Vec<Vec<Place>> {
    let each: Vec<Place> = same.chunk_by(|a, b| a.1.0 == b.1.0).map(|of_rank| of_rank[0].1).collect();
    let step = |a: &Place, b: &Place| parts[b.0].rank - parts[a.0].rank;
    let mut out = Vec::new();
    let mut rest = &each[..];
    while let [a, b, ..] = rest {
        let n = 1 + rest.windows(2).take_while(|w| step(&w[0], &w[1]) == step(a, b)).count();
        if n == 2 && rest.len() > 2 {
            rest = &rest[1..];
            continue;
        }
        let starts = rest[..n].iter().map(|p| parts[p.0].left[p.1].access.start);
        let (first, last) = starts.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
        if last - first <= age.seconds {
            out.push(rest[..n].to_vec());
        }
        rest = &rest[n..];
    }
    out
}

/// True if the rows are all that there is, in the same order in every rank, and the ranks are all that there are, or many.
fn in_order(lists: &[&[Place]], rows: &[Vec<Place>], ranks: usize) -> bool {
    let whole = rows.len() == lists[0].len()
        && lists.iter().all(|l| l.len() == rows.len())
        && rows.iter().all(|r| r.len() == lists.len());
    let mut in_time: Vec<&Vec<Place>> = rows.iter().collect();
    in_time.sort_by_key(|r| r[0].1);
    whole
        && (lists.len() == ranks || lists.len() >= ENOUGH)
        && in_time.windows(2).all(|w| w[0].iter().zip(w[1]).all(|(a, b)| a.1 < b.1))
}
