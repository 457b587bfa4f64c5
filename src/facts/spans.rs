//! Time of ranks from single requests: the union of their spans.

use std::cmp::Ordering;

use crate::record::{Data, Numbered, Op, Request, Requests, Timing, Trace, sort_by_number};

/// Kinds of time: reading, writing, synchronising, metadata.
pub(crate) const KINDS: [&str; 4] = ["read", "write", "sync", "metadata"];

/// A rank.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RankTime {
    pub rank: u32,
    /// Read and written.
    pub bytes: u64,
    /// Seconds in requests of each of [`KINDS`].
    pub time_s: [f64; 4],
    /// Seconds in requests of any kind.
    pub io_s: f64,
}

/// Seconds that are covered by spans in the order of their starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Busy {
    end: f64,
    pub sum: f64,
}

impl Busy {
    /// No span.
    pub const NONE: Busy = Busy { end: f64::NEG_INFINITY, sum: 0.0 };

    /// Adds a span; gives the seconds that it adds.
    pub fn add(&mut self, (start, end): (f64, f64)) -> f64 {
        if end <= self.end {
            return 0.0;
        }
        let more = end - start.max(self.end);
        (self.end, self.sum) = (end, self.sum + more);
        more
    }
}

/// Rows in the order of their starts.
pub(crate) fn in_time(rows: &Requests) -> Box<dyn Iterator<Item = usize> + '_> {
    if rows.start.is_sorted() {
        return Box::new(0..rows.len());
    }
    let mut order: Vec<u32> = (0..u32::try_from(rows.len()).unwrap_or(u32::MAX)).collect();
    sort_by_number(&mut order, |i| rows.start[i as usize], |_, _| Ordering::Equal);
    Box::new(order.into_iter().map(|i| i as usize))
}

/// The kind of a request, as in [`KINDS`].
pub(crate) fn kind(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Sync => 2,
        _ => 3,
    }
}

/// The ranks of a trace of single requests, and the seconds in which at least one of them is in a request. `None` without single
/// requests to files of the job, or if none of them has a length.
pub(crate) fn of_ranks(trace: &Trace) -> Option<(Vec<RankTime>, f64)> {
    let Data::Requests(rows) = &trace.data else { return None };
    if trace.timing != Timing::Request {
        return None;
    }
    let mut ranks: Numbered<(RankTime, [Busy; 5])> = Numbered::default();
    let mut wall = Busy::NONE;
    for r in in_time(rows).map(|i| rows.get(i)).filter(|r| !trace.files.is_system(r.file)) {
        add(&mut ranks, &r);
        wall.add((r.start, r.end));
    }
    let ranks: Vec<RankTime> = ranks.into_iter().map(|(_, (time, _))| time).collect();
    (wall.sum > 0.0).then_some((ranks, wall.sum))
}

fn add(ranks: &mut Numbered<(RankTime, [Busy; 5])>, r: &Request) {
    let (rank, busy) = ranks.get_or(r.rank, (RankTime { rank: r.rank, ..RankTime::default() }, [Busy::NONE; 5]));
    let (k, span) = (kind(r.op), (r.start, r.end));
    rank.time_s[k] += busy[k].add(span);
    rank.io_s += busy[4].add(span);
    if r.op.moves_bytes() {
        rank.bytes = rank.bytes.saturating_add(r.size);
    }
}
