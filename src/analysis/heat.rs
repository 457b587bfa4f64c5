//! Bytes by rank and time: the heat maps of a page.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::record::{Numbered, Timing, Trace};
use crate::signal::{Activity, Mode, Selection, Span};

/// Ranks that share a row of a [`Heat`].
#[derive(Debug, Clone, PartialEq)]
pub struct HeatRow {
    /// First and last rank.
    pub ranks: (u32, u32),
    /// Bytes moved.
    pub bytes: f64,
    /// End of the last transfer, seconds on the trace's own clock; `None` for ranks without I/O.
    pub end_s: Option<f64>,
    /// Bytes of the rank with the least and of that with the most.
    pub extremes: (f64, f64),
}

/// Bytes of one direction by rank and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Write or read.
    pub mode: Mode,
    /// Start of the first column, seconds on the trace's own clock.
    pub start_s: f64,
    /// Seconds of a column.
    pub step_s: f64,
    /// Number of columns.
    pub columns: usize,
    /// Rows, by rank.
    pub rows: Vec<HeatRow>,
    /// Bytes of each cell, row by row.
    pub cells: Vec<f64>,
}

impl Heat {
    /// The heat maps of writes and reads over `span` (start and end in seconds on the trace's own clock), with the same rows and
    /// columns, at most so many. A direction without transfers has none; none for totals by file, whose times say little, and for
    /// phases of the whole job.
    pub fn of(trace: &Trace, selection: &Selection, span: (f64, f64), (rows, columns): (usize, usize)) -> Vec<Heat> {
        if !trace.resolves_times() {
            return Vec::new();
        }
        let origin = trace.origin_s as f64;
        let modes = [Mode::Write, Mode::Read].map(|mode| (mode, Activity::new(trace, mode, selection)));
        let bytes_of_ranks = |(_, activity): &(Mode, Activity<'_>)| {
            let mut of_rank: Numbered<f64> = Numbered::default();
            activity.each_of_ranks(|rank, span| *of_rank.get_or(rank, 0.0) += span.bytes);
            of_rank.into_iter().collect::<BTreeMap<u32, f64>>()
        };
        let of_ranks: Vec<BTreeMap<u32, f64>> = modes.par_iter().map(bytes_of_ranks).collect();
        let seen: BTreeSet<u32> = of_ranks.iter().flat_map(|of_rank| of_rank.keys().copied()).collect();
        // phases are of the whole job
        if trace.timing == Timing::Phase && trace.ranks > 1 && seen.last() == Some(&0) {
            return Vec::new();
        }
        let groups = grouped(trace, seen.iter().copied().collect(), rows);
        let last = groups.len().saturating_sub(1);
        let mut row_of: Numbered<usize> = Numbered::default();
        for rank in seen {
            row_of.get_or(rank, groups.partition_point(|ranks| ranks.1 < rank).min(last));
        }
        let one = |((mode, activity), of_rank): (&(Mode, Activity<'_>), &BTreeMap<u32, f64>)| {
            if of_rank.is_empty() {
                return None;
            }
            let mut heat = Heat::empty(*mode, span, columns, groups.clone());
            activity.each_of_ranks(|rank, span| {
                let span = Span { start: span.start + origin, end: span.end + origin, ..span };
                row_of.get(rank).into_iter().for_each(|&row| heat.add(row, span));
            });
            heat.rows.iter_mut().for_each(|r| r.bound(trace.ranks, of_rank));
            Some(heat)
        };
        modes.par_iter().zip(&of_ranks).filter_map(one).collect()
    }

    fn empty(mode: Mode, (start_s, end_s): (f64, f64), columns: usize, ranks: Vec<(u32, u32)>) -> Heat {
        let columns = columns.max(1);
        let row = |ranks| HeatRow { ranks, bytes: 0.0, end_s: None, extremes: (0.0, 0.0) };
        let rows: Vec<HeatRow> = ranks.into_iter().map(row).collect();
        let step_s = ((end_s - start_s) / columns as f64).max(f64::MIN_POSITIVE);
        let cells = vec![0.0; rows.len() * columns];
        Heat { mode, start_s, step_s, columns, rows, cells }
    }

    fn add(&mut self, row: usize, span: Span) {
        let at = |t: f64| ((t - self.start_s) / self.step_s).clamp(0.0, self.columns as f64);
        let (a, b) = (at(span.start), at(span.end));
        let r = &mut self.rows[row];
        r.bytes += span.bytes;
        r.end_s = Some(r.end_s.map_or(span.end, |t| t.max(span.end)));
        let cells = &mut self.cells[row * self.columns..(row + 1) * self.columns];
        let (first, last) = ((a as usize).min(self.columns - 1), (b.ceil() as usize).clamp(1, self.columns) - 1);
        if last <= first || b <= a {
            cells[first] += span.bytes;
            return;
        }
        let per_column = span.bytes / (b - a);
        for (i, cell) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
            *cell += per_column * (b.min(i as f64 + 1.0) - a.max(i as f64));
        }
    }
}

impl HeatRow {
    /// Finds the extremes among its ranks, of which those of the job count without transfers, too.
    fn bound(&mut self, ranks: u64, of_rank: &BTreeMap<u32, f64>) {
        let (first, last) = self.ranks;
        let (mut n, mut low, mut high) = (0, f64::INFINITY, 0.0f64);
        for (_, bytes) in of_rank.range(first..=last) {
            (n, low, high) = (n + 1, low.min(*bytes), high.max(*bytes));
        }
        let idle = u64::from(last) < ranks && n <= last - first;
        self.extremes = (if idle { 0.0 } else { low.min(high) }, high);
    }
}

/// Ranks in at most `most` groups of neighbours: all ranks of the job, or those seen if their numbers are no ranks.
fn grouped(trace: &Trace, seen: Vec<u32>, most: usize) -> Vec<(u32, u32)> {
    let Some(&last) = seen.last() else { return Vec::new() };
    if u64::from(last) < trace.ranks {
        // the header of a damaged log may say billions
        let all = u32::try_from(trace.ranks).unwrap_or(u32::MAX);
        let each = all.div_ceil(u32::try_from(most.max(1)).unwrap_or(u32::MAX));
        return (0..all).step_by(each as usize).map(|first| (first, first.saturating_add(each).min(all) - 1)).collect();
    }
    seen.chunks(seen.len().div_ceil(most.max(1))).map(|c| (c[0], c[c.len() - 1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Data, Op, Request, Requests};

    #[test]
    fn bytes_fall_into_the_cells_of_their_time_and_ranks_share_rows() {
        let row = |rank, start, end| Request { op: Op::Write, rank, size: 100, start, end, ..Request::default() };
        let rows: Requests = [row(0, 0.0, 10.0), row(3, 9.0, 9.0), row(3, 2.5, 5.0)].into_iter().collect();
        let trace = Trace { data: Data::Requests(rows), ranks: 5, origin_s: 100, ..Trace::default() };
        let heats = Heat::of(&trace, &Selection::default(), (100.0, 110.0), (3, 4));
        let [heat] = &heats[..] else { panic!("{heats:?}") };
        assert_eq!(heat.rows.iter().map(|r| r.ranks).collect::<Vec<_>>(), [(0, 1), (2, 3), (4, 4)]);
        assert_eq!(heat.cells, [25.0, 25.0, 25.0, 25.0, 0.0, 100.0, 0.0, 100.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(heat.rows[1].end_s, Some(109.0));
        assert_eq!(heat.rows[2], HeatRow { ranks: (4, 4), bytes: 0.0, end_s: None, extremes: (0.0, 0.0) });
        assert_eq!(
            (heat.mode, heat.rows[0].extremes, heat.rows[1].extremes),
            (Mode::Write, (0.0, 100.0), (0.0, 200.0))
        );
    }

    #[test]
    fn billions_of_ranks_have_as_many_rows_as_are_asked_for() {
        let trace = |ranks| Trace { ranks, ..Trace::default() };
        let rows = grouped(&trace(u64::MAX), vec![0, 7], 4);
        assert_eq!((rows.len(), rows[0], rows[3].1), (4, (0, (1 << 30) - 1), u32::MAX - 1));
        assert_eq!(grouped(&trace(7), vec![2], 3), [(0, 2), (3, 5), (6, 6)]);
        assert_eq!(grouped(&trace(0), vec![2, 5, u32::MAX], 2), [(2, 5), (u32::MAX, u32::MAX)]);
    }

    #[test]
    fn phases_of_the_job_are_of_no_rank() {
        use crate::record::{Interval, Intervals};
        let phase = Interval { op: Op::Write, bytes: 10.0, start: 0.0, end: 1.0, ..Interval::default() };
        let data = Data::Intervals([phase].into_iter().collect::<Intervals>());
        let of = |timing, ranks| {
            let trace = Trace { data: data.clone(), ranks, timing, ..Trace::default() };
            Heat::of(&trace, &Selection::default(), (0.0, 1.0), (4, 4)).len()
        };
        assert_eq!((of(Timing::Phase, 8), of(Timing::Phase, 1), of(Timing::Heatmap, 8)), (0, 1, 1));
    }
}
