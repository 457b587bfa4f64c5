//! Traces whose rows are in memory as logs of calls: one for each rank.

use std::borrow::Cow;

use rayon::prelude::*;

use super::case::{Case, CaseId, Origin};
use super::collector::{Collector, Plan, Skipped};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{
    BATCH_ROWS, Batch, CallId, CallLog, Calls, Data, LoggedCall, Numbered, Op, Request, Requests, RowSink, Trace,
};

/// The calls of each rank of a trace, in the order of their starts.
pub struct RankLogs<'t> {
    trace: &'t Trace,
    rows: &'t Requests,
    calls: Calls,
    /// Names of calls that have none, by what they do.
    by_op: [CallId; 7],
    /// The rows of each rank, by rank.
    ranks: Vec<(u32, Vec<usize>)>,
}

impl<'t> RankLogs<'t> {
    /// Sorts the rows of a trace. Rows without the name of a call are called `read`, `write` and so on by what they do.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] if the trace holds no single calls, but phases, bins or totals.
    pub fn new(trace: &'t Trace) -> Result<Self> {
        let Data::Requests(rows) = &trace.data else {
            let timing = format!("{:?}", trace.timing).to_lowercase();
            return Err(Error::new(ErrorKind::Empty, format!("the trace holds no single calls ({timing} timing)"))
                .remedy("record single calls: strace, or Darshan with DXT")
                .in_file(&trace.path));
        };
        let mut calls = trace.calls.clone();
        let by_op =
            [Op::Read, Op::Write, Op::Open, Op::Close, Op::Seek, Op::Sync, Op::Other].map(|op| calls.intern(op.name()));
        let mut ranks: Numbered<Vec<usize>> = Numbered::default();
        for i in 0..rows.len() {
            ranks.get_or(rows.rank.get(i), Vec::new()).push(i);
        }
        let mut ranks: Vec<(u32, Vec<usize>)> = ranks.into_iter().collect();
        let by_start = |&a: &usize, &b: &usize| rows.start[a].total_cmp(&rows.start[b]);
        ranks.par_iter_mut().for_each(|(_, order)| order.sort_by(by_start));
        Ok(RankLogs { trace, rows, calls, by_op, ranks })
    }

    /// The cases that the ranks are.
    pub fn cases(&self) -> Vec<(CaseId, Origin)> {
        let path = &self.trace.path;
        let name = path.rsplit('/').next().unwrap_or(path);
        let origin = Origin { input: path.clone(), file: path.clone() };
        self.ranks.iter().map(|&(rank, _)| (CaseId::of_rank(name, rank), origin.clone())).collect()
    }

    /// The cases of all ranks, and the calls that are not in them.
    pub fn collect(&self, plan: &Plan) -> (Vec<Case>, Skipped) {
        let collect = |((id, origin), (_, order)): ((CaseId, Origin), &(u32, Vec<usize>))| {
            let mut collector = Collector::new(plan, id, origin);
            for (place, &i) in order.iter().enumerate() {
                let (row, call) = self.call(i, place);
                collector.call(&row, &call, &self.trace.files, &self.calls);
            }
            collector.finish()
        };
        let made: Vec<_> = self.cases().into_par_iter().zip(&self.ranks).map(collect).collect();
        let (mut cases, mut skipped) = (Vec::new(), Skipped::default());
        for (of_rank, more) in made {
            cases.extend(of_rank);
            skipped.add(more);
        }
        (cases, skipped)
    }

    /// Gives the calls to a sink, those of each rank as a part of their own.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn give(&self, sink: &dyn RowSink) -> Result<()> {
        let ranks: Vec<&[usize]> = self.ranks.iter().map(|(_, order)| order.as_slice()).collect();
        ranks.into_par_iter().enumerate().try_for_each(|(part, order)| {
            let (mut rows, mut log) = (Data::default(), CallLog::default());
            for (k, places) in order.chunks(BATCH_ROWS).enumerate() {
                let Data::Requests(requests) = &mut rows else { break };
                requests.clear();
                log.calls.clear();
                for (place, &i) in places.iter().enumerate() {
                    let (row, call) = self.call(i, k * BATCH_ROWS + place);
                    requests.push(row);
                    log.calls.push(call);
                }
                let (files, calls) = (&self.trace.files, &self.calls);
                let origin_s = self.trace.origin_s;
                sink.take(Batch {
                    part,
                    origin_s,
                    files,
                    calls,
                    rows: Cow::Borrowed(&rows),
                    binned: false,
                    log: Some(&log),
                })?;
            }
            Ok(())
        })
    }

    /// A row, which is the call in this place of the log of its rank.
    fn call(&self, row: usize, place: usize) -> (Request, LoggedCall) {
        let r = self.rows.get(row);
        let nanos = |s: f64| (s * 1e9).round() as i64;
        let start = nanos(r.start);
        let call = if r.call == CallId::NONE { self.by_op[r.op as usize] } else { r.call };
        let log = LoggedCall {
            line: place as u64,
            start_ns: self.trace.origin_s.saturating_mul(1_000_000_000).saturating_add(start),
            duration_ns: Some(nanos(r.end).saturating_sub(start).max(0).unsigned_abs()),
            interrupted: false,
        };
        (Request { call, ..r }, log)
    }
}
