//! The offline part: pieces of one rank, file, operation and size become loop nests.
//!
//! A run of pieces of one shape at a constant stride is a piece with one more loop. That rule is applied to accesses, to runs
//! of accesses, to runs of those, until nothing changes. Runs are sought first where they are least likely to be chance: pieces
//! with as many others between them each time, then any progression that is worth its bits, then pairs.

use std::collections::BTreeMap;

use super::cost::Pool;
use super::piece::{Piece, Shape};
use super::progressions::{Point, interleaved};
use super::table::Table;
use super::thresholds::LIMITS;
use crate::nest::Loop;

/// The nests of pieces of one lane, of which `seen` accesses came.
pub(super) fn fold(pieces: Vec<Piece>, pool: &Pool, seen: u64) -> Vec<Piece> {
    let mut work: BTreeMap<(usize, Shape), Vec<Piece>> = BTreeMap::new();
    let mut done = Vec::new();
    let mut insert = |work: &mut BTreeMap<(usize, Shape), Vec<Piece>>, p: Piece| match p.shape() {
        Some(shape) => work.entry((p.turns.len(), shape)).or_default().push(p),
        None => done.push(p),
    };
    for p in continued(pieces) {
        insert(&mut work, p);
    }
    let mut settled = Vec::new();
    while let Some(((depth, _), mut group)) = work.pop_first() {
        group.sort_by_key(|p| (p.in_size.first, p.in_stream.first));
        let lists = runs(&group, depth, pool, seen);
        let (joined, rest) = take(group, &lists);
        settled.extend(rest);
        for p in joined {
            insert(&mut work, p);
        }
    }
    settled.extend(done);
    settled
}

/// Joins what goes on, later, where a nest ended, at its stride: further passes, or a single one; then passes before it.
fn continued(mut pieces: Vec<Piece>) -> Vec<Piece> {
    for later in [true, false] {
        pieces.sort_by_key(|p| (p.in_size.first, p.at));
        if !later {
            pieces.reverse();
        }
        // nests by the loops of a pass and the place where one more is due
        let mut due: Table<(Vec<Loop>, u64), Vec<usize>> = Table::default();
        let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
        for p in pieces {
            let loops = p.loops();
            let (outer, pass) = loops.split_last().map_or((None, &[][..]), |(outer, pass)| (Some(*outer), pass));
            let end = if later { p.at } else { p.last_pass() };
            let same_stride =
                |i: usize| outer.is_none_or(|o| out[i].turns.last().is_some_and(|t| t.stride == o.stride));
            let as_passes =
                outer.and_then(|_| find(&due, (pass.to_vec(), end), |i| same_stride(i) && out[i].is_apart(&p)));
            let found = as_passes.or_else(|| find(&due, (loops.clone(), p.at), |i| out[i].is_apart(&p)));
            match found {
                Some(i) => {
                    let before = out[i].due(later);
                    if let Some(list) = due.get_mut(&before) {
                        list.retain(|k| *k != i);
                    }
                    let more = if as_passes.is_some() { outer.map_or(1, |o| o.count) } else { 1 };
                    out[i].extend(p, more, later);
                    due.entry(out[i].due(later)).or_default().push(i);
                }
                None => {
                    if !p.turns.is_empty() {
                        due.entry(p.due(later)).or_default().push(out.len());
                    }
                    out.push(p);
                }
            }
        }
        pieces = out;
    }
    pieces
}

fn find<K: Eq + std::hash::Hash>(due: &Table<K, Vec<usize>>, key: K, fits: impl Fn(usize) -> bool) -> Option<usize> {
    due.get(&key)?.iter().rev().copied().find(|&i| fits(i))
}

/// Joins the listed members of a group; gives the joined pieces and the others.
pub(super) fn take(group: Vec<Piece>, lists: &[Vec<usize>]) -> (Vec<Piece>, Vec<Piece>) {
    let mut all: Vec<Option<Piece>> = group.into_iter().map(Some).collect();
    let joined =
        lists.iter().filter_map(|list| Piece::join(list.iter().filter_map(|&i| all[i].take()).collect())).collect();
    (joined, all.into_iter().flatten().collect())
}

/// Runs among pieces of one shape in the order of time.
fn runs(group: &[Piece], depth: usize, pool: &Pool, seen: u64) -> Vec<Vec<usize>> {
    let size = group.first().filter(|p| p.turns.is_empty()).and_then(|p| p.body.size());
    let number = group.iter().map(|p| p.in_size.first).collect();
    let mut found =
        Runs { number, at: group.iter().map(|p| p.at).collect(), used: vec![false; group.len()], lists: Vec::new() };
    found.periodic();
    let rest = found.rest();
    if rest.len() > 2 {
        let points: Vec<Point> = rest
            .iter()
            .map(|&i| Point { at: group[i].at, first: group[i].in_size.first, last: group[i].in_size.last })
            .collect();
        let lists = interleaved(&points, pool, if depth == 0 { seen } else { group.len() as u64 });
        lists.into_iter().for_each(|list| found.add(list.into_iter().map(|k| rest[k]).collect()));
    }
    let next = |i: usize, j: usize| depth > 0 || group[j].in_size.first == group[i].in_size.last + 1;
    found.pairs(size, next);
    found.lists
}

struct Runs {
    at: Vec<u64>,
    /// Numbers of their first accesses.
    number: Vec<u64>,
    used: Vec<bool>,
    lists: Vec<Vec<usize>>,
}

impl Runs {
    fn rest(&self) -> Vec<usize> {
        (0..self.at.len()).filter(|&i| !self.used[i]).collect()
    }

    fn add(&mut self, list: Vec<usize>) {
        list.iter().for_each(|&i| self.used[i] = true);
        self.lists.push(list);
    }

    fn stride(&self, i: usize, j: usize) -> u64 {
        self.at[j].wrapping_sub(self.at[i])
    }

    /// Lists that are gone through over and over, each time a distance further.
    fn periodic(&mut self) {
        for _ in 0..LIMITS.list_periods {
            let rest = self.rest();
            let Some(period) = self.period(&rest) else { return };
            let by_number: Table<u64, usize> = rest.iter().map(|&i| (self.number[i], i)).collect();
            let mut some = false;
            for &i in &rest {
                let after = |i: usize| by_number.get(&(self.number[i] + period)).copied().filter(|&j| !self.used[j]);
                let Some(second) = after(i).filter(|_| !self.used[i]) else { continue };
                let stride = self.stride(i, second);
                let mut list = vec![i, second];
                while let Some(next) =
                    after(list[list.len() - 1]).filter(|&j| self.stride(list[list.len() - 1], j) == stride)
                {
                    list.push(next);
                }
                if list.len() > 2 || stride == 0 {
                    self.add(list);
                    some = true;
                }
            }
            if !some {
                return;
            }
        }
    }

    /// The most frequent distance, in accesses, at which two steps come again.
    fn period(&self, rest: &[usize]) -> Option<u64> {
        let steps: Vec<u64> = rest.windows(2).map(|w| self.stride(w[0], w[1])).collect();
        let mut last: Table<(u64, u64), u64> = Table::default();
        let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
        for (i, w) in steps.windows(2).enumerate() {
            let number = self.number[rest[i]];
            if let Some(before) = last.insert((w[0], w[1]), number) {
                *votes.entry(number - before).or_default() += 1;
            }
        }
        let (period, n) = votes.into_iter().max_by_key(|(period, n)| (*n, std::cmp::Reverse(*period)))?;
        (period > 0 && n >= 2 && 8 * n >= rest.len()).then_some(period)
    }

    /// Two next to each other: at one place, back to back, or (of nests) at a distance that comes again.
    fn pairs(&mut self, size: Option<u64>, next: impl Fn(usize, usize) -> bool) {
        let rest = self.rest();
        let mut often: Table<u64, u32> = Table::default();
        rest.windows(2).for_each(|w| *often.entry(self.stride(w[0], w[1])).or_default() += 1);
        let worth = |i: usize| match rest.get(i..i + 2) {
            Some(w) if next(w[0], w[1]) => {
                let stride = self.stride(w[0], w[1]);
                let implied = stride == 0 || size == Some(stride);
                if implied {
                    1 + often[&stride]
                } else if size.is_none() {
                    often[&stride]
                } else {
                    0
                }
            }
            _ => 0,
        };
        let mut lists = Vec::new();
        let mut i = 0;
        while i + 1 < rest.len() {
            if worth(i) < 2 || worth(i + 1) > worth(i) {
                i += 1;
                continue;
            }
            let mut end = i + 2;
            let stride = self.stride(rest[i], rest[i + 1]);
            while end < rest.len() && self.stride(rest[end - 1], rest[end]) == stride && next(rest[end - 1], rest[end])
            {
                end += 1;
            }
            lists.push(rest[i..end].to_vec());
            i = end;
        }
        lists.into_iter().for_each(|l| self.add(l));
    }
}
