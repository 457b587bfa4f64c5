//! The transfers of a growing file, a line at a time.

use std::collections::VecDeque;

use super::super::follow::Transfer;
use super::super::{Detail, Format, Sniff};
use super::requests::{Names, Output, Row, Rows};
use super::stream::{Event, Stream};
use super::text::{Line, Message, Time, parse_line};
use super::{NANOS, Strace};
use crate::error::Result;

/// Transfers that wait to be taken.
#[derive(Default)]
struct Waiting(VecDeque<Transfer>);

impl Output for Waiting {
    fn row(&mut self, e: &Event<'_>, row: Row, names: Names<'_>) -> Result<()> {
        if row.op.moves_bytes() && !names.files.is_system(row.file) {
            let seconds = |ns: i64| (ns / NANOS) as f64 + (ns % NANOS) as f64 / 1e9;
            let (start_s, end_s) = (seconds(e.start), seconds(e.start.saturating_add(e.call.duration.max(0))));
            self.0.push_back(Transfer { op: row.op, start_s, end_s, bytes: row.size as f64 });
        }
        Ok(())
    }
}

/// Follows the calls of one file.
pub(in super::super) struct Calls {
    stream: Stream<Rows<Waiting>>,
    line_bytes: usize,
}

impl Calls {
    pub(in super::super) fn new(line_bytes: usize) -> Self {
        let rows = Rows::new(Detail::Transfers, Waiting::default());
        Calls { stream: Stream::new(rows, 0, 0, line_bytes), line_bytes }
    }

    /// Takes the next line; false if it is none of strace's.
    pub(in super::super) fn feed(&mut self, bytes: &[u8]) -> bool {
        let line = if bytes.len() > self.line_bytes {
            Line { pid: None, bracketed: false, time: Time::None, message: Message::Unparsed }
        } else {
            parse_line(bytes)
        };
        let before = self.stream.stats.unparsed;
        // Waiting takes every row.
        self.stream.feed(bytes, &line).is_ok() && self.stream.stats.unparsed == before
    }

    /// Transfers that wait.
    pub(in super::super) fn waiting(&self) -> usize {
        self.stream.sink.output.0.len()
    }

    /// The next transfer that is complete.
    pub(in super::super) fn next(&mut self) -> Option<Transfer> {
        self.stream.sink.output.0.pop_front()
    }
}

/// True if a text has lines of strace.
pub(in super::super) fn has_calls(text: &[u8]) -> bool {
    !matches!(Strace.sniff(text), Sniff::No(_))
}
