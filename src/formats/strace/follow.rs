//! The transfers of a growing file, a line at a time.

use super::batches::{Destination, RowBuffer};
use super::requests::RowMaker;
use super::stream::Stream;
use super::text::{Line, Message, Time, parse_line};
use super::{NANOS, Strace};
use crate::formats::{Detail, Format, Sniff};
use crate::record::{CallLog, Interval};

/// Rows that are dropped at once, after they have been taken.
const DROPPED_AT_ONCE: usize = 4096;

/// Follows the calls of one file.
pub(in super::super) struct Calls {
    stream: Stream<RowMaker<'static>>,
    line_bytes: usize,
    /// Rows that were taken, of those in the buffer.
    taken: usize,
}

impl Calls {
    pub(in super::super) fn new(line_bytes: usize) -> Self {
        let mut rows = RowBuffer::new(Destination::Memory(usize::MAX), 0, 0, 0);
        rows.log = Some(CallLog::default());
        let rows = RowMaker::new(Detail::Transfers, rows);
        Calls { stream: Stream::new(rows, 0, 0, line_bytes), line_bytes, taken: 0 }
    }

    /// Takes the next line; false if it is none of strace's.
    pub(in super::super) fn feed(&mut self, bytes: &[u8]) -> bool {
        let line = if bytes.len() > self.line_bytes {
            Line { pid: None, bracketed: false, time: Time::None, message: Message::Unparsed }
        } else {
            parse_line(bytes)
        };
        let before = self.stream.stats.unparsed;
        self.stream.feed(bytes, &line).is_ok() && self.stream.stats.unparsed == before
    }

    /// True if there are transfers that have not been taken.
    pub(in super::super) fn has_more(&self) -> bool {
        self.taken < self.stream.sink.rows.requests.len()
    }

    /// The next transfer that is complete.
    pub(in super::super) fn next(&mut self) -> Option<Interval> {
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
        if self.taken >= DROPPED_AT_ONCE {
            self.taken = 0;
            (rows.requests, log.calls) = Default::default();
        }
        None
    }
}

/// True if a text has lines of strace.
pub(in super::super) fn has_calls(text: &[u8]) -> bool {
    !matches!(Strace.sniff(text), Sniff::No(_))
}
