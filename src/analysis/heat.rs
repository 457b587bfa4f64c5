//! Bytes by rank and time: the heat maps of a page.

use std::collections::BTreeMap;

use crate::record::{Data, Numbered, Trace};
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
    /// columns, at most so many. A direction without transfers has none; none for totals by file, whose times say little.
    pub fn of(trace: &Trace, selection: &Selection, span: (f64, f64), (rows, columns): (usize, usize)) -> Vec<Heat> {
        if !trace.resolves_times() {
            return Vec::new();
        }
        let rank_of = |i: usize| match &trace.data {
            Data::Requests(r) => r.rank.get(i),
            Data::Intervals(v) => v.rank.get(i),
        };
        let origin = trace.origin_s as f64;
        let modes = [Mode::Write, Mode::Read].map(|mode| (mode, Activity::new(trace, mode, selection)));
        let transfers = |activity: &Activity<'_>, each: &mut dyn FnMut(u32, Span)| {
            for i in 0..activity.rows() {
                activity.spans_of(i..i + 1).for_each(|span| each(rank_of(i), span));
            }
        };
        let mut seen: Numbered<()> = Numbered::default();
        modes.iter().for_each(|(_, activity)| {
            transfers(activity, &mut |rank, _| {
                seen.get_or(rank, ());
            })
        });
        let groups = grouped(trace, seen.into_iter().map(|x| x.0).collect(), rows);
        let one = |(mode, activity): &(Mode, Activity<'_>)| {
            let mut heat = Heat::empty(*mode, span, columns, groups.clone());
            let mut of_rank: Numbered<f64> = Numbered::default();
            let last = heat.rows.len().checked_sub(1)?;
            transfers(activity, &mut |rank, span| {
                let row = heat.rows.partition_point(|r| r.ranks.1 < rank).min(last);
                heat.add(row, Span { start: span.start + origin, end: span.end + origin, ..span });
                *of_rank.get_or(rank, 0.0) += span.bytes;
            });
            let of_rank: BTreeMap<u32, f64> = of_rank.into_iter().collect();
            heat.rows.iter_mut().for_each(|r| r.bound(trace.ranks, &of_rank));
            heat.rows.iter().any(|r| r.end_s.is_some()).then_some(heat)
        };
        modes.iter().filter_map(one).collect()
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
    let of_job = u64::from(last) < trace.ranks;
    let all: Vec<u32> = if of_job { (0..u32::try_from(trace.ranks).unwrap_or(u32::MAX)).collect() } else { seen };
    all.chunks(all.len().div_ceil(most.max(1))).map(|c| (c[0], c[c.len() - 1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Op, Request, Requests};

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
}
