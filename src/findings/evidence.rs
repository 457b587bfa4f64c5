//! Where a finding is: byte ranges, times and examples of the requests that it is about.

use std::collections::HashMap;
use std::ops::Sub;

use rayon::prelude::*;

use super::report::{ByteRange, Example, Finding, TimeWindow};
use crate::record::{Op, Request, Requests, Series, Trace, UNKNOWN_OFFSET, stem};

/// Ranges, windows and ranks of a family that are listed.
const LISTED: usize = 16;
/// Examples of a finding.
const EXAMPLES: usize = 5;
/// Pieces that are kept before neighbours are joined.
const PIECES: usize = 1 << 12;

/// The requests that a finding is about.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    pub op: Option<Op>,
    /// Fewer bytes.
    pub below: Option<u64>,
    /// At least as many bytes.
    pub at_least: Option<u64>,
    /// Offsets that are no multiple of this.
    pub off: Option<u64>,
    pub rank: Option<u32>,
    /// At least as long, in seconds.
    pub longer_s: Option<f64>,
    /// Start within this time, in seconds since the origin.
    pub within_s: Option<(f64, f64)>,
    /// These rows, in order.
    pub rows: Option<Vec<u32>>,
}

impl Filter {
    pub fn of(op: Op) -> Filter {
        Filter { op: Some(op), ..Filter::default() }
    }

    fn keeps(&self, r: &Request) -> bool {
        r.op.moves_bytes()
            && self.op.is_none_or(|op| op == r.op)
            && self.below.is_none_or(|n| r.size < n)
            && self.at_least.is_none_or(|n| r.size >= n)
            && self.off.is_none_or(|n| r.offset != UNKNOWN_OFFSET && !r.offset.is_multiple_of(n))
            && self.rank.is_none_or(|k| k == r.rank)
            && self.longer_s.is_none_or(|t| r.end - r.start >= t)
            && self.within_s.is_none_or(|(a, b)| a <= r.start && r.start < b)
    }
}

/// Stretches, the nearest of which are joined once there are many.
#[derive(Debug)]
struct Spans<T>(Vec<(T, T)>);

impl<T: Copy + PartialOrd + Sub<Output = T>> Spans<T> {
    fn add(&mut self, start: T, end: T) {
        match self.0.last_mut() {
            Some(last) if last.0 <= start && start <= last.1 => {
                if end > last.1 {
                    last.1 = end;
                }
            }
            _ => self.0.push((start, end)),
        }
        if self.0.len() >= 2 * PIECES {
            self.join(PIECES);
        }
    }

    /// Joins what overlaps, and then over the smallest gaps until at most `most` are left.
    fn join(&mut self, most: usize) {
        let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
        self.0.sort_by(|a, b| order(&a.0, &b.0));
        self.join_over(|gap_start, start| start <= gap_start);
        if self.0.len() > most {
            let mut gaps: Vec<T> = self.0.windows(2).map(|w| w[1].0 - w[0].1).collect();
            let joined = self.0.len() - most;
            gaps.sort_by(order);
            let widest = gaps[joined - 1];
            let mut left = joined;
            self.join_over(|end, start| {
                let join = left > 0 && start - end <= widest;
                left -= usize::from(join);
                join
            });
        }
    }

    fn join_over(&mut self, mut joins: impl FnMut(T, T) -> bool) {
        let mut kept: Vec<(T, T)> = Vec::new();
        for &(start, end) in &self.0 {
            match kept.last_mut() {
                Some(last) if joins(last.1, start) => {
                    if end > last.1 {
                        last.1 = end;
                    }
                }
                _ => kept.push((start, end)),
            }
        }
        self.0 = kept;
    }
}

/// Ranks, byte ranges and times seen in a family of files.
struct Place {
    /// The first ones, in order.
    ranks: Vec<u32>,
    ranges: Spans<u64>,
    windows: Spans<f64>,
}

impl Place {
    fn see_rank(&mut self, rank: u32) {
        let full = self.ranks.len() == LISTED;
        if full && self.ranks.last().is_some_and(|last| rank >= *last) {
            return;
        }
        if let Err(at) = self.ranks.binary_search(&rank) {
            self.ranks.insert(at, rank);
            self.ranks.truncate(LISTED);
        }
    }
}

/// A finding whose evidence is looked for.
struct Search<'f> {
    finding: &'f mut Finding,
    filter: Filter,
    /// The series of all files, and the place of each series.
    series: &'f Series,
    family: Vec<Option<u8>>,
    places: Vec<Place>,
    /// The longest requests.
    examples: Vec<Request>,
}

impl Search<'_> {
    fn see(&mut self, r: &Request) {
        let family = self.series.number(r.file).and_then(|i| self.family[i as usize]);
        if let Some(i) = family {
            let place = &mut self.places[usize::from(i)];
            place.see_rank(r.rank);
            place.windows.add(r.start, r.end);
            if r.offset != UNKNOWN_OFFSET {
                place.ranges.add(r.offset, r.offset.saturating_add(r.size));
            }
        } else if !self.places.is_empty() {
            return;
        }
        let length = |r: &Request| r.end - r.start;
        if self.examples.len() < EXAMPLES || self.examples.last().is_some_and(|e| length(e) < length(r)) {
            let at = self.examples.partition_point(|e| length(e) >= length(r));
            self.examples.insert(at, *r);
            self.examples.truncate(EXAMPLES);
        }
    }

    fn finish(self, trace: &Trace) {
        let origin = trace.origin_s as f64;
        for (share, mut place) in self.finding.files.iter_mut().zip(self.places) {
            place.ranges.join(LISTED);
            place.windows.join(LISTED);
            share.rank_list = place.ranks;
            share.ranges = place.ranges.0.iter().map(|&(start, end)| ByteRange { start, end }).collect();
            share.windows =
                place.windows.0.iter().map(|&(a, b)| TimeWindow { start_s: origin + a, end_s: origin + b }).collect();
        }
        let example = |r: &Request| Example {
            rank: r.rank,
            file: trace.files.name(r.file).to_owned(),
            offset: (r.offset != UNKNOWN_OFFSET).then_some(r.offset),
            size: r.size,
            start_s: origin + r.start,
            end_s: origin + r.end,
        };
        self.finding.examples = self.examples.iter().map(example).collect();
    }
}

/// Adds the places and examples to findings, in one pass over the requests for each. `series` gives those of the files of the trace.
pub(super) fn add<'s>(
    trace: &Trace,
    rows: &Requests,
    findings: &mut [(Finding, Option<Filter>)],
    series: &dyn Fn() -> &'s Series,
) {
    let mut searches: Vec<Search> = Vec::new();
    for (finding, filter) in findings.iter_mut() {
        let Some(filter) = filter.take() else { continue };
        let families: HashMap<String, u8> = (0..).zip(&finding.files).map(|(i, f)| (stem(&f.file), i)).collect();
        let series = series();
        let family = series.names().iter().map(|name| families.get(name).copied()).collect();
        let none = || Place { ranks: Vec::new(), ranges: Spans(Vec::new()), windows: Spans(Vec::new()) };
        let places = (0..finding.files.len()).map(|_| none()).collect();
        searches.push(Search { finding, filter, series, family, places, examples: Vec::new() });
    }
    searches.par_iter_mut().for_each(|s| match s.filter.rows.take() {
        Some(chosen) => chosen.iter().for_each(|&i| s.see(&rows.get(i as usize))),
        None => {
            for r in rows.iter().filter(|r| !trace.files.is_system(r.file)) {
                if s.filter.keeps(&r) {
                    s.see(&r);
                }
            }
        }
    });
    searches.into_iter().for_each(|s| s.finish(trace));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_joined_over_the_smallest_gaps() {
        let mut s = Spans(Vec::new());
        for (a, b) in [(100u64, 110), (0, 10), (10, 20), (22, 30), (112, 120), (500, 510)] {
            s.add(a, b);
        }
        s.join(3);
        assert_eq!(s.0, [(0, 30), (100, 120), (500, 510)]);
        s.join(16);
        assert_eq!(s.0.len(), 3);
    }

    #[test]
    fn many_stretches_stay_bounded() {
        let mut s = Spans(Vec::new());
        (0..100_000u64).for_each(|i| s.add(10 * i, 10 * i + 1));
        assert!(s.0.len() < 2 * PIECES);
        s.join(1);
        assert_eq!(s.0, [(0, 999_991)]);
    }
}
