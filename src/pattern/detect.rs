//! All ranks: the detector for a stream of accesses, and detection in a whole trace.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::access::Access;
use super::describe::{Ended, describe, end};
use super::found::Found;
use super::limits::Limits;
use super::options::Options;
use super::predictor::Predictor;
use crate::record::{Numbered, Requests};

/// Finds patterns in a stream of accesses of any ranks.
#[derive(Debug)]
pub struct Detector {
    options: Options,
    ranks: Vec<Predictor>,
    index: BTreeMap<u32, usize>,
}

impl Detector {
    /// A detector without any known pattern.
    pub fn new(options: Options) -> Detector {
        Detector { options, ranks: Vec::new(), index: BTreeMap::new() }
    }

    /// Takes an access. Those of one rank must come in the order of time.
    #[inline]
    pub fn push(&mut self, a: &Access) {
        let i = match self.ranks.get(a.rank as usize) {
            Some(r) if r.rank == a.rank => a.rank as usize,
            _ => self.number(a.rank),
        };
        self.ranks[i].push(a);
    }

    fn number(&mut self, rank: u32) -> usize {
        let (ranks, options) = (&mut self.ranks, self.options);
        *self.index.entry(rank).or_insert_with(|| {
            let limits = Limits::of(ranks.len() + 1);
            ranks.push(Predictor::new(rank, options, limits));
            ranks.iter_mut().for_each(|r| r.limit(limits));
            ranks.len() - 1
        })
    }

    /// Patterns that are open.
    pub fn open_patterns(&self) -> usize {
        self.ranks.iter().map(Predictor::open).sum()
    }

    /// Closes all automata and describes what came.
    pub fn finish(self) -> Found {
        let Options { join_ranks, keep_unmatched, .. } = self.options;
        describe(in_parallel(self.ranks, AT_ONCE, end), join_ranks, keep_unmatched)
    }
}

/// Ranks that are ended at once. Of a million ranks, what the others need is kept no longer than it is used.
const AT_ONCE: usize = 1 << 12;

/// The results of `make` for each of them, made in parallel, `at_once` at a time.
fn in_parallel<T: Send, E: Send>(
    all: impl IntoIterator<Item = T>,
    at_once: usize,
    make: impl Fn(T) -> E + Sync,
) -> impl Iterator<Item = E> {
    let mut all = all.into_iter();
    let next = move || {
        let some: Vec<T> = all.by_ref().take(at_once).collect();
        (!some.is_empty()).then(|| some.into_par_iter().map(&make).collect::<Vec<E>>())
    };
    std::iter::from_fn(next).flatten()
}

/// Most ranks of a group. Ranks take turns in most traces: what one of them needs of a column is in the cache for the others.
const TOGETHER: usize = 16;

/// Rows that all ranks of a group go through before the next ones, so that their columns fit the cache of a core.
const BLOCK: u64 = 1 << 12;

/// Finds the patterns of the given rows of a trace, groups of ranks in parallel; rows of a rank are taken in the order of their
/// start.
pub fn detect(requests: &Requests, keep: impl Fn(usize) -> bool, options: Options) -> Found {
    let mut rows: Numbered<Vec<u32>> = Numbered::default();
    for i in (0..requests.len()).filter(|&i| keep(i)) {
        rows.get_or(requests.rank.get(i), Vec::new()).push(i as u32);
    }
    let mut ranks = rows.into_iter();
    let limits = Limits::of(ranks.len());
    let group = (ranks.len() / (4 * rayon::current_num_threads())).clamp(1, TOGETHER);
    let groups = std::iter::from_fn(|| {
        let some: Vec<(u32, Vec<u32>)> = ranks.by_ref().take(group).collect();
        (!some.is_empty()).then_some(some)
    });
    let walk = |(rank, rows)| Walk::new(requests, rows, Predictor::new(rank, options, limits));
    let walk_group = |group: Vec<(u32, Vec<u32>)>| walk_together(requests, group.into_iter().map(walk).collect());
    let ended = in_parallel(groups, AT_ONCE / group, walk_group).flatten();
    describe(ended, options.join_ranks, options.keep_unmatched)
}

/// A rank on its way through its rows.
struct Walk {
    rows: Vec<u32>,
    next: usize,
    /// Whether the rows are in the order of the table.
    in_order: bool,
    predictor: Predictor,
}

impl Walk {
    fn new(requests: &Requests, mut rows: Vec<u32>, predictor: Predictor) -> Walk {
        let start = |i: &u32| requests.start[*i as usize];
        let in_order = rows.is_sorted_by(|a, b| start(a) <= start(b));
        if !in_order {
            rows.sort_by(|a, b| start(a).total_cmp(&start(b)));
        }
        Walk { rows, next: 0, in_order, predictor }
    }

    /// Takes the rows before `to`, or all if they are not in the order of the table.
    fn take_until(&mut self, to: u64, requests: &Requests) {
        while let Some(&i) = self.rows.get(self.next).filter(|i| u64::from(**i) < to || !self.in_order) {
            if let Some(a) = Access::of(&requests.get(i as usize)) {
                self.predictor.push(&a);
            }
            self.next += 1;
        }
    }
}

/// Goes through the rows of some ranks block by block.
fn walk_together(requests: &Requests, mut walks: Vec<Walk>) -> Vec<Ended> {
    while let Some(first) = walks.iter().filter_map(|w| w.rows.get(w.next)).min() {
        let to = u64::from(*first) + BLOCK;
        walks.iter_mut().for_each(|w| w.take_until(to, requests));
    }
    walks.into_iter().map(|w| end(w.predictor)).collect()
}
