//! The transfers of a growing file.

use std::collections::VecDeque;
use std::marker::PhantomData;

use super::super::lines::{Follower, Transfers};
use super::batches::{Destination, RowBuffer};
use super::part::Calls;
use super::requests::RowMaker;
use super::stream::CallStream;
use super::text::NANOS;
use crate::formats::options::Detail;
use crate::record::{CallLog, Clock, Interval};

/// Follows the calls of one file.
pub(super) fn follow(line_bytes: usize) -> Follower<Calls<RowMaker<'static>>> {
    let mut rows = RowBuffer::new(Destination::Memory(usize::MAX), 0, 0, 0);
    rows.log = Some(CallLog::default());
    let stream = CallStream::new(RowMaker::new(Detail::Transfers, rows), 0, 0, line_bytes);
    Follower::new(Calls { timed_only: true, sink: PhantomData }, stream)
}

impl Transfers for Calls<RowMaker<'static>> {
    fn take(&mut self, stream: &mut Self::Rows, transfers: &mut VecDeque<Interval>) -> Result<(), String> {
        let RowMaker { rows, files, .. } = &mut stream.sink;
        let log = rows.log.get_or_insert_default();
        for (r, call) in rows.requests.iter().zip(&log.calls) {
            if r.op.moves_bytes() && !files.is_system(r.file) {
                // Whole seconds by themselves: a time since 1970 in nanoseconds has more digits than an `f64`.
                let seconds = |ns: i64| (ns / NANOS) as f64 + (ns % NANOS) as f64 / 1e9;
                let end = call.start_ns.saturating_add_unsigned(call.duration_ns.unwrap_or(0));
                let (start, end, bytes) = (seconds(call.start_ns), seconds(end), r.size as f64);
                transfers.push_back(Interval { op: r.op, start, end, bytes, ..Interval::default() });
            }
        }
        rows.clear();
        Ok(())
    }

    fn clock(&self, stream: &Self::Rows) -> Clock {
        let stats = &stream.stats;
        Clock::of_stamps(stats.epoch && !stats.relative, stats.time_of_day && !stats.relative)
    }
}
