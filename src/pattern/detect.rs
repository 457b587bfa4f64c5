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
        describe(in_parallel(self.ranks, end), join_ranks, keep_unmatched)
    }
}

/// Ranks that are ended at once. Of a million ranks, what the others need is kept no longer than it is used.
const AT_ONCE: usize = 1 << 12;

/// Ends ranks in parallel, in their order.
fn in_parallel<T: Send>(ranks: Vec<T>, end: impl Fn(T) -> Ended + Sync) -> impl Iterator<Item = Ended> {
    let mut ranks = ranks.into_iter();
    let next = move || {
        let some: Vec<T> = ranks.by_ref().take(AT_ONCE).collect();
        (!some.is_empty()).then(|| some.into_par_iter().map(&end).collect::<Vec<Ended>>())
    };
    std::iter::from_fn(next).flatten()
}

/// Finds the patterns of the given rows of a trace, rank by rank in parallel; rows of a rank are taken in the order of their
/// start.
pub fn detect(requests: &Requests, keep: impl Fn(usize) -> bool, options: Options) -> Found {
    let mut rows: Numbered<Vec<u32>> = Numbered::default();
    for i in (0..requests.len()).filter(|&i| keep(i)) {
        rows.get_or(requests.rank.get(i), Vec::new()).push(i as u32);
    }
    let ranks: Vec<(u32, Vec<u32>)> = rows.into_iter().collect();
    let limits = Limits::of(ranks.len());
    let of_rank = |(rank, mut rows): (u32, Vec<u32>)| {
        let start = |i: &u32| requests.start[*i as usize];
        if !rows.is_sorted_by(|a, b| start(a) <= start(b)) {
            rows.sort_by(|a, b| start(a).total_cmp(&start(b)));
        }
        let mut predictor = Predictor::new(rank, options, limits);
        for i in rows {
            if let Some(a) = Access::of(&requests.get(i as usize)) {
                predictor.push(&a);
            }
        }
        end(predictor)
    };
    describe(in_parallel(ranks, of_rank), options.join_ranks, options.keep_unmatched)
}
