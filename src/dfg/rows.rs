//! Traces whose rows are in memory to cases: one for each rank.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::case::{CaseId, Origin};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{CallId, Calls, Data, Event, EventSink, Op, Requests, Trace};

/// Gives the rows of each rank to a sink of its own, in the order of their starts. Rows without the name of a call are called
/// `read`, `write` and so on by what they do.
///
/// # Errors
/// [`ErrorKind::Empty`] if the trace holds no single calls, but phases, bins or totals.
pub fn pass<S: EventSink>(trace: &Trace, sink: impl Fn(CaseId, Origin) -> S + Sync) -> Result<Vec<S>> {
    let Data::Requests(rows) = &trace.data else {
        return Err(Error::new(
            ErrorKind::Empty,
            format!("the trace holds no single calls ({} timing)", timing(trace)),
        )
        .remedy("record single calls: strace, or Darshan with DXT")
        .in_file(&trace.path));
    };
    let mut calls = trace.calls.clone();
    let by_op =
        [Op::Read, Op::Write, Op::Open, Op::Close, Op::Seek, Op::Sync, Op::Other].map(|op| calls.intern(op.name()));
    let mut ranks: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for i in 0..rows.len() {
        ranks.entry(rows.rank.get(i)).or_default().push(i);
    }
    let name = trace.path.rsplit('/').next().unwrap_or(&trace.path);
    Ok(ranks
        .into_par_iter()
        .map(|(rank, mut order)| {
            order.sort_by(|&a, &b| rows.start[a].total_cmp(&rows.start[b]));
            let origin = Origin { input: trace.path.clone(), file: trace.path.clone() };
            let mut s = sink(CaseId::of_rank(name, rank), origin);
            for (place, &i) in order.iter().enumerate() {
                s.event(&event(trace, rows, &calls, &by_op, i, place as u64));
            }
            s
        })
        .collect())
}

fn timing(trace: &Trace) -> String {
    format!("{:?}", trace.timing).to_lowercase()
}

fn event<'a>(trace: &'a Trace, rows: &Requests, calls: &'a Calls, by_op: &[CallId], i: usize, order: u64) -> Event<'a> {
    let r = rows.get(i);
    let nanos = |s: f64| (s * 1e9).round() as i64;
    let start = nanos(r.start);
    Event {
        order,
        task: r.task,
        op: r.op,
        call: if r.call == CallId::NONE { by_op.get(r.op as usize).copied().unwrap_or(r.call) } else { r.call },
        file: r.file,
        size: r.size,
        start_ns: trace.origin_s.saturating_mul(1_000_000_000).saturating_add(start),
        duration_ns: Some(nanos(r.end).saturating_sub(start).max(0).unsigned_abs()),
        interrupted: false,
        calls,
        files: &trace.files,
    }
}
