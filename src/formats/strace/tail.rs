//! The transfers of a growing file, a line at a time.

use super::super::lines::TailedLines;
use super::batches::{Destination, RowBuffer};
use super::requests::RowMaker;
use super::stream::CallStream;
use super::text::{Line, Message, NANOS, Time, parse_line};
use crate::formats::options::Detail;
use crate::record::{CallLog, Clock, Interval};

/// Follows the calls of one file.
pub(in super::super) struct TailedCalls {
    stream: CallStream<RowMaker<'static>>,
    line_bytes: usize,
    /// Rows that were taken, of those in the buffer.
    taken: usize,
}

impl TailedCalls {
    pub(in super::super) fn new(line_bytes: usize) -> Self {
        let mut rows = RowBuffer::new(Destination::Memory(usize::MAX), 0, 0, 0);
        rows.log = Some(CallLog::default());
        let rows = RowMaker::new(Detail::Transfers, rows);
        TailedCalls { stream: CallStream::new(rows, 0, 0, line_bytes), line_bytes, taken: 0 }
    }
}

impl TailedLines for TailedCalls {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), String> {
        let line = if bytes.len() > self.line_bytes {
            Line { pid: None, bracketed: false, time: Time::None, message: Message::Unparsed }
        } else {
            parse_line(bytes)
        };
        let call = matches!(line.message, Message::Call(_) | Message::Unfinished(_) | Message::Resumed { .. });
        if call && line.time == Time::None && !self.stream.stats.has_times() {
            return Err("a call without a time: record with -ttt".to_owned());
        }
        let before = self.stream.stats.unparsed;
        let fed = self.stream.feed(bytes, &line);
        if fed.is_ok() && self.stream.stats.unparsed == before { Ok(()) } else { Err("no line of strace".to_owned()) }
    }

    fn clock(&self) -> Clock {
        let stats = &self.stream.stats;
        Clock::of_stamps(stats.epoch && !stats.relative, stats.time_of_day && !stats.relative)
    }

    fn has_more(&self) -> bool {
        self.taken < self.stream.sink.rows.requests.len()
    }

    fn next(&mut self) -> Option<Interval> {
        let RowMaker { rows, files, .. } = &mut self.stream.sink;
        let log = rows.log.get_or_insert_default();
        while self.taken < rows.requests.len() {
            let (r, call) = (rows.requests.get(self.taken), log.calls[self.taken]);
            self.taken += 1;
            if r.op.moves_bytes() && !files.is_system(r.file) {
                // Whole seconds by themselves: a time since 1970 in nanoseconds has more digits than an `f64`.
                let seconds = |ns: i64| (ns / NANOS) as f64 + (ns % NANOS) as f64 / 1e9;
                let (start, end) =
                    (call.start_ns, call.start_ns.saturating_add_unsigned(call.duration_ns.unwrap_or(0)));
                let (start, end, bytes) = (seconds(start), seconds(end), r.size as f64);
                return Some(Interval { op: r.op, start, end, bytes, ..Interval::default() });
            }
        }
        self.taken = 0;
        rows.clear();
        None
    }
}
