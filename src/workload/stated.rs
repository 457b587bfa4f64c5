//! Statements of a workload about itself: periods, bursts, loops and random orders.

use super::clock::seconds;
use super::nest::Nest;
use super::program::{Offsets, Segment};
use super::truth::{PatternKind, PatternPeriod, Period, Phase, SizeSummary, TruePattern, Unpatterned, Window};
use crate::nest::{Loop, canonical, extent, records};
use crate::record::{Files, Op};

/// Statements of a workload, in any order.
#[derive(Debug, Default)]
pub(super) struct Stated {
    pub(super) periods: Vec<Period>,
    pub(super) phases: Vec<Phase>,
    pub(super) patterns: Vec<TruePattern>,
    pub(super) unpatterned: Vec<Unpatterned>,
}

/// A loop of a program around a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
    /// Passes.
    pub(super) count: u64,
    /// Bytes and nanoseconds from one pass to the next.
    pub(super) bytes: u64,
    pub(super) ns: u64,
}

impl Stated {
    /// States bursts of `bytes` each, given by start and end, and their period: their mean distance if none is given.
    pub(super) fn bursts(&mut self, op: Op, spans_ns: &[(u64, u64)], bytes: u64, period_s: Option<f64>) {
        self.phases.extend(spans_ns.iter().map(|s| phase(op, *s, bytes)));
        self.period(op, spans_ns, bytes * spans_ns.len() as u64, period_s);
    }

    /// States the period of bursts that move `bytes` altogether. Fewer than two bursts have none.
    pub(super) fn period(&mut self, op: Op, spans_ns: &[(u64, u64)], bytes: u64, period_s: Option<f64>) {
        let (Some(first), Some(last)) = (spans_ns.first(), spans_ns.last()) else { return };
        let gaps: Vec<f64> = spans_ns.windows(2).map(|w| seconds(w[1].0 - w[0].0)).collect();
        let mean = seconds(last.0 - first.0) / gaps.len().max(1) as f64;
        let period_s = period_s.unwrap_or(mean);
        if gaps.is_empty() || period_s <= 0.0 {
            return;
        }
        self.periods.push(Period {
            op,
            period_s,
            frequency_hz: 1.0 / period_s,
            shortest_s: gaps.iter().copied().reduce(f64::min),
            longest_s: gaps.iter().copied().reduce(f64::max),
            bursts: spans_ns.len() as u64,
            bytes,
            windows: vec![Window { start_s: seconds(first.0), end_s: seconds(last.1) }],
        });
    }

    /// States a segment that a loop of the program repeats.
    pub(super) fn segment(&mut self, files: &Files, mut segment: Segment, around: Repeat) {
        segment.span_ns.1 += around.ns * around.count.saturating_sub(1);
        let period_s = (around.count > 1).then(|| seconds(around.ns));
        let outer = Loop { count: around.count, stride: around.bytes as i64 };
        self.pattern(files, &segment, &[outer], period_s);
    }

    /// States accesses from the start to the end of a segment, with loops around those of the segment. A list must lie back to
    /// back; a random order is no pattern.
    pub(super) fn pattern(&mut self, files: &Files, segment: &Segment, around: &[Loop], period_s: Option<f64>) {
        let (nest, sizes) = match &segment.offsets {
            Offsets::Nest(nest) => (nest.clone(), None),
            Offsets::Listed(list) => back_to_back(list),
            Offsets::Shuffled { .. } => return,
        };
        let levels = canonical(&[&nest.loops, around].concat());
        let in_body = sizes.as_ref().map_or(1, |sizes| sizes.iter().map(|(_, n)| n).sum());
        let records = in_body * records(&levels);
        if records == 0 {
            return;
        }
        let one_size = sizes.is_none();
        let each = |sizes: &Vec<(u64, u64)>| {
            SizeSummary::of(sizes.iter().flat_map(|&(size, n)| std::iter::repeat_n(size, n as usize)))
        };
        self.patterns.push(TruePattern {
            op: segment.op,
            kind: if one_size { PatternKind::of(nest.size, &levels) } else { PatternKind::Sequential },
            rank: segment.rank,
            ranks: None,
            file: files.name(segment.file).to_owned(),
            start_s: seconds(segment.span_ns.0),
            end_s: seconds(segment.span_ns.1),
            start_offset: nest.start,
            end_offset: extent(nest.start, nest.size, &levels).1,
            access_size: one_size.then_some(nest.size),
            records,
            stride: levels.first().filter(|_| one_size).map(|l| l.stride),
            levels,
            size_summary: sizes.as_ref().map(each),
            sizes,
            period: period_s.map(|period_s| PatternPeriod { period_s, confidence: 1.0 }),
            period_reason: period_s.is_none().then(|| "it belongs to one burst, or to none".to_owned()),
        });
    }
}

/// A list of adjacent accesses: a contiguous loop if they are of one size, else their whole extent and the rows of equal sizes.
fn back_to_back(list: &[(u64, u64)]) -> (Nest, Option<Vec<(u64, u64)>>) {
    debug_assert!(list.windows(2).all(|w| w[0].0 + w[0].1 == w[1].0), "back to back");
    let rows: Vec<(u64, u64)> = list.chunk_by(|a, b| a.1 == b.1).map(|row| (row[0].1, row.len() as u64)).collect();
    let start = list.first().map_or(0, |a| a.0);
    match rows[..] {
        [(size, n)] => (Nest::access(start, size).repeated(n, size), None),
        _ => (Nest::access(start, rows.iter().map(|(size, n)| size * n).sum()), Some(rows)),
    }
}

/// A burst.
pub(super) fn phase(op: Op, span_ns: (u64, u64), bytes: u64) -> Phase {
    Phase { op, start_s: seconds(span_ns.0), end_s: seconds(span_ns.1), bytes }
}
