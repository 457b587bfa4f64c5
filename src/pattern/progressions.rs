//! Arithmetic progressions among things in the order of time.

use super::cost::{Pool, saved_by_run};
use super::piece::Order;
use super::thresholds::LIMITS;

/// A thing: where it is, and numbers of its first and last access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub at: u64,
    pub first: u64,
    pub last: u64,
}

/// Progressions of at least three, in any interleaving, each worth its bits: lists of indices in the order of time.
pub(super) fn interleaved(points: &[Point], pool: &Pool, seen: u64) -> Vec<Vec<usize>> {
    let mut pool = *pool;
    pool.accesses = pool.accesses.max(seen);
    let pays = |list: &[usize]| {
        let o = Order { first: points[list[0]].first, last: points[list[list.len() - 1]].last, breaks: 0 };
        saved_by_run(&pool, seen, &o, list.len() as u64) > LIMITS.margin
    };
    let mut search = Search::new(points);
    search.run(LIMITS.neighbours, &pays);
    if 4 * search.covered < points.len() && points.len() >= 64 {
        search.run(LIMITS.more_neighbours, &pays);
    }
    search.found
}

struct Search {
    /// Places in ascending order, and numbers in the order of time.
    sorted: Vec<(u64, u32)>,
    used: Vec<bool>,
    covered: usize,
    found: Vec<Vec<usize>>,
}

impl Search {
    fn new(points: &[Point]) -> Search {
        let mut sorted: Vec<(u64, u32)> = points.iter().zip(0..).map(|(p, i)| (p.at, i)).collect();
        sorted.sort_unstable();
        Search { used: vec![false; sorted.len()], sorted, covered: 0, found: Vec::new() }
    }

    fn run(&mut self, neighbours: usize, pays: &impl Fn(&[usize]) -> bool) {
        let (mut list, mut best) = (Vec::new(), Vec::new());
        for i in 0..self.sorted.len() {
            if self.used[i] {
                continue;
            }
            let here = self.sorted[i].0;
            best.clear();
            if i == 0 || self.sorted[i - 1].0 != here {
                let same = (i..self.sorted.len()).take_while(|&k| self.sorted[k].0 == here);
                best.extend(same.filter(|&k| !self.used[k]));
            }
            let mut j = i;
            for _ in 0..neighbours {
                j += gallop(&self.sorted[j..], self.sorted[j].0.saturating_add(1));
                let Some(&(place, _)) = self.sorted.get(j) else { break };
                let same = (j..self.sorted.len()).take_while(|&k| self.sorted[k].0 == place).take(LIMITS.same_place);
                let Some(next) = same.into_iter().find(|&k| !self.used[k]) else { continue };
                self.follow(i, next, &mut list);
                if list.len() > best.len() {
                    std::mem::swap(&mut list, &mut best);
                }
            }
            if best.len() > 2 {
                let mut members: Vec<usize> = best.iter().map(|&k| self.sorted[k].1 as usize).collect();
                members.sort_unstable();
                if pays(&members) {
                    best.iter().for_each(|&k| self.used[k] = true);
                    self.covered += members.len();
                    self.found.push(members);
                }
            }
        }
    }

    /// The progression that begins at two places, as far as it goes upwards or downwards in the order of time.
    fn follow(&self, i: usize, j: usize, list: &mut Vec<usize>) {
        let sorted = &self.sorted;
        let stride = sorted[j].0 - sorted[i].0;
        let up = sorted[j].1 > sorted[i].1;
        list.clear();
        list.extend([i, j]);
        let mut now = j;
        while let Some(at) = sorted[now].0.checked_add(stride) {
            let mut k = now + gallop(&sorted[now..], at);
            while k < sorted.len() && sorted[k].0 == at && (self.used[k] || (sorted[k].1 > sorted[now].1) != up) {
                k += 1;
            }
            if k >= sorted.len() || sorted[k].0 != at {
                break;
            }
            list.push(k);
            now = k;
        }
    }
}

/// Index of the first of sorted places that is not below `at`. It is likely to be near: doubles its reach, then halves it.
fn gallop(sorted: &[(u64, u32)], at: u64) -> usize {
    let mut reach = 1;
    while reach < sorted.len() && sorted[reach].0 < at {
        reach *= 2;
    }
    let from = reach / 2;
    from + sorted[from..sorted.len().min(reach + 1)].partition_point(|p| p.0 < at)
}
