//! All ranks: the detector for a stream of accesses, and detection in a whole trace.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::access::Access;
use super::detector::{Counts, RankDetector, first_credit, most_waiting};
use super::merge::merge;
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
        self.patterns.iter().fold(0, |sum, p| sum.saturating_add(p.bytes))
    }

    fn append(&mut self, other: Found) {
        self.patterns.extend(other.patterns);
        self.counts.records += other.counts.records;
        self.counts.predicted += other.counts.predicted;
        self.counts.bytes = self.counts.bytes.saturating_add(other.counts.bytes);
        self.unmatched_records += other.unmatched_records;
        self.unmatched.extend(other.unmatched);
    }
}

/// Finds patterns in a stream of accesses of any ranks. Memory is bounded by the open patterns and the patterns found, not by the
/// number of accesses.
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
            let most = most_waiting(ranks.len());
            ranks.iter_mut().for_each(|r| r.most_waiting = most);
            ranks.len() - 1
        })
    }

    /// Patterns that are open.
    pub fn open_patterns(&self) -> usize {
        self.ranks.iter().map(RankDetector::open_patterns).sum()
    }

    /// Seeks patterns in what is left, closes all, and gives everything that was found.
    pub fn finish(self) -> Found {
        let found: Vec<Found> = self.ranks.into_par_iter().map(RankDetector::finish).collect();
        collect(found)
    }
}

fn collect(parts: Vec<Found>) -> Found {
    let mut all = Found::default();
    parts.into_iter().for_each(|f| all.append(f));
    let key = |p: &Pattern| (p.rank, p.span, p.file, p.op as u8, p.start_offset);
    all.patterns.sort_by(|a, b| a.start.total_cmp(&b.start).then_with(|| key(a).cmp(&key(b))));
    all
}

impl RankDetector {
    /// Seeks patterns in what is left, closes all, and gives everything that was found.
    pub fn finish(mut self) -> Found {
        self.search_last();
        (0..self.opens.len() as u32).for_each(|id| self.close(id));
        let everything = |_: &_| true;
        while let Some(slot) = self.waiting.expired(everything) {
            self.give_up(slot);
        }
        let merged = merge(std::mem::take(&mut self.closed));
        let (patterns, crumbs): (Vec<Pattern>, Vec<Pattern>) = merged.into_iter().partition(counts);
        for p in crumbs {
            self.unmatched_count += p.records;
            if let Some(places) = p.expand().filter(|_| self.options.keep_unmatched) {
                let access = |(offset, size)| Access {
                    op: p.op,
                    rank: p.rank,
                    file: p.file,
                    offset,
                    size,
                    start: p.start,
                    end: p.end,
                };
                self.unmatched.extend(places.map(access));
            }
        }
        Found {
            patterns,
            counts: self.counts,
            unmatched_records: self.unmatched_count,
            unmatched: std::mem::take(&mut self.unmatched),
        }
    }
}

/// True for what is a pattern: at least one access was foretold. Any two accesses have a stride.
fn counts(p: &Pattern) -> bool {
    match (p.records, p.levels(), p.access_size()) {
        (0 | 1, ..) => false,
        (2, [l], Some(size)) => l.stride == 0 || size > 0 && l.stride as u64 == size,
        _ => true,
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
    let (most, credit) = (most_waiting(ranks.len()), first_credit(ranks.len()));
    let found: Vec<Found> = ranks
        .into_par_iter()
        .map(|(rank, mut rows)| {
            let start = |i: &u32| requests.start[*i as usize];
            if !rows.is_sorted_by(|a, b| start(a) <= start(b)) {
                rows.sort_by(|a, b| start(a).total_cmp(&start(b)));
            }
            let mut detector = RankDetector::new(rank, options);
            (detector.most_waiting, detector.credit) = (most, credit);
            for i in rows {
                if let Some(a) = Access::of(&requests.get(i as usize)) {
                    detector.push(&a);
                }
            }
            detector.finish()
        })
        .collect();
    collect(found)
}
