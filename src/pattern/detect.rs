//! All ranks: the detector for a stream of accesses, and detection in a whole trace.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::access::Access;
use super::detector::{Counts, Most, RankDetector, first_credit};
use super::left::{Ended, Folded, end, settle};
use super::options::Options;
use super::pattern::Pattern;
use crate::record::Requests;

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Patterns in the order in which they began.
    pub patterns: Vec<Pattern>,
    /// What was counted.
    pub counts: Counts,
    /// What else was found and is only counted here, because there were too many patterns to keep.
    pub folded: Folded,
    /// Accesses that belong to no pattern.
    pub unmatched_records: u64,
    /// These accesses, if they were kept ([`Options::keep_unmatched`]).
    pub unmatched: Vec<Access>,
}

impl Found {
    /// Accesses that belong to a pattern.
    pub fn matched(&self) -> u64 {
        self.counts.records - self.unmatched_records
    }

    /// Bytes that they move.
    pub fn matched_bytes(&self) -> u64 {
        self.patterns.iter().fold(self.folded.bytes, |sum, p| sum.saturating_add(p.bytes))
    }

    pub(super) fn append(&mut self, other: Found) {
        self.patterns.extend(other.patterns);
        self.counts.records += other.counts.records;
        self.counts.predicted += other.counts.predicted;
        self.counts.bytes = self.counts.bytes.saturating_add(other.counts.bytes);
        self.folded.append(other.folded);
        self.unmatched_records += other.unmatched_records;
        self.unmatched.extend(other.unmatched);
    }
}

/// Finds patterns in a stream of accesses of any ranks. Memory is bounded by the open patterns and by a fixed number of closed ones
/// ([`Found::folded`]), not by the number of accesses.
#[derive(Debug)]
pub struct Detector {
    options: Options,
    ranks: Vec<RankDetector>,
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
            let mut next = RankDetector::new(rank, options);
            next.credit = first_credit(ranks.len() + 1);
            ranks.push(next);
            let most = Most::of(ranks.len());
            ranks.iter_mut().for_each(|r| r.most = most);
            ranks.len() - 1
        })
    }

    /// Patterns that are open.
    pub fn open_patterns(&self) -> usize {
        self.ranks.iter().map(RankDetector::open_patterns).sum()
    }

    /// Seeks patterns in what is left, closes all, and gives everything that was found.
    pub fn finish(self) -> Found {
        settle(end(self.ranks.into_par_iter().map(RankDetector::ended).collect()))
    }
}

/// Finds the patterns of the given rows of a trace, rank by rank in parallel; rows of a rank are taken in the order of their
/// start.
pub fn detect(requests: &Requests, keep: impl Fn(usize) -> bool, options: Options) -> Found {
    let mut rows: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut last: Option<(u32, Vec<u32>)> = None;
    for i in (0..requests.len()).filter(|&i| keep(i)) {
        let rank = requests.rank.get(i);
        let row = i as u32;
        match &mut last {
            Some((r, list)) if *r == rank => list.push(row),
            _ => {
                if let Some((r, list)) = last.take() {
                    rows.insert(r, list);
                }
                let mut list = rows.remove(&rank).unwrap_or_default();
                list.push(row);
                last = Some((rank, list));
            }
        }
    }
    rows.extend(last);
    let ranks: Vec<(u32, Vec<u32>)> = rows.into_iter().collect();
    let (most, credit) = (Most::of(ranks.len()), first_credit(ranks.len()));
    let ranks: Vec<Ended> = ranks
        .into_par_iter()
        .map(|(rank, mut rows)| {
            let start = |i: &u32| requests.start[*i as usize];
            if !rows.is_sorted_by(|a, b| start(a) <= start(b)) {
                rows.sort_by(|a, b| start(a).total_cmp(&start(b)));
            }
            let mut detector = RankDetector::new(rank, options);
            (detector.most, detector.credit) = (most, credit);
            for i in rows {
                if let Some(a) = Access::of(&requests.get(i as usize)) {
                    detector.push(&a);
                }
            }
            detector.ended()
        })
        .collect();
    settle(end(ranks))
}
