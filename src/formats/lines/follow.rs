//! The lines of a file that grows, on their way to the decoder that reads a finished one.

use std::collections::VecDeque;

use super::{LineDecoder, is_remark};
use crate::record::{Clock, FileId, Interval, Request};

/// How a source that grows is read.
pub enum Followed {
    /// Not at all: the format is only read whole.
    Never,
    /// Lines of text.
    Lines(Box<dyn TailedLines>),
    /// JSON values: sections of TMIO, arrays of rates and times.
    Values,
    /// MessagePack of TMIO.
    Objects,
    /// More lines have to come before that is known.
    Later,
}

/// Takes the lines of a source that grows.
pub trait TailedLines: Send {
    /// Takes the next line that is no remark. An error says what is wrong with it.
    fn feed(&mut self, line: &[u8]) -> Result<(), String>;

    /// The next transfer that is complete.
    fn next(&mut self) -> Option<Interval>;

    /// True if there are transfers that have not been taken.
    fn has_more(&self) -> bool;

    /// True for lines that are passed over.
    fn is_remark(&self, line: &[u8]) -> bool {
        is_remark(line)
    }

    /// The zero of the times, as far as the lines show it.
    fn clock(&self) -> Clock {
        Clock::default()
    }

    /// Nothing more comes, or not soon: gives what waits for the lines that follow.
    fn end(&mut self) {}

    /// True if a line can only be read once those before it have been.
    fn needs_lines_before(&self) -> bool {
        true
    }
}

/// A decoder whose rows become transfers as they come.
pub(in super::super) trait Transfers: LineDecoder + Send {
    /// A line can be read without those before it.
    const EACH_ALONE: bool = false;

    /// Moves the transfers that are complete out of `rows`, with times on the trace's own clock.
    ///
    /// # Errors
    /// If the last line cannot be one of them.
    fn take(&mut self, rows: &mut Self::Rows, transfers: &mut VecDeque<Interval>) -> Result<(), String>;

    /// Makes transfers of the rows that wait for lines that do not come.
    fn end(&mut self, rows: &mut Self::Rows) {
        let _ = rows;
    }

    /// The zero of the times, as far as the rows show it.
    fn clock(&self, rows: &Self::Rows) -> Clock {
        let _ = rows;
        Clock::default()
    }
}

/// Follows lines by a decoder.
pub(in super::super) struct Follower<D: Transfers> {
    decoder: D,
    rows: D::Rows,
    lines: u64,
    waiting: VecDeque<Interval>,
}

impl<D: Transfers> Follower<D> {
    /// With what is known before the first line.
    pub(in super::super) fn new(decoder: D, rows: D::Rows) -> Self {
        Follower { decoder, rows, lines: 0, waiting: VecDeque::new() }
    }
}

impl<D: Transfers> TailedLines for Follower<D> {
    fn feed(&mut self, line: &[u8]) -> Result<(), String> {
        self.lines += 1;
        self.decoder.line(line, self.lines, &mut self.rows).map_err(|bad| bad.to_string())?;
        self.decoder.take(&mut self.rows, &mut self.waiting)
    }

    fn next(&mut self) -> Option<Interval> {
        self.waiting.pop_front()
    }

    fn has_more(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        self.decoder.is_remark(line)
    }

    fn clock(&self) -> Clock {
        self.decoder.clock(&self.rows)
    }

    fn end(&mut self) {
        self.decoder.end(&mut self.rows);
        // a row that cannot be one was no line
        let _ = self.decoder.take(&mut self.rows, &mut self.waiting);
    }

    fn needs_lines_before(&self) -> bool {
        !D::EACH_ALONE
    }
}

/// The transfers among requests, for one that follows a job: of all ranks and files together, without those to files of the system.
pub(in super::super) fn transfers_of(
    requests: impl Iterator<Item = Request>,
    is_system: impl Fn(FileId) -> bool,
) -> impl Iterator<Item = Interval> {
    let wanted = requests.filter(move |r| r.op.moves_bytes() && !is_system(r.file));
    wanted.map(|r| Interval { rank: 0, file: FileId::NONE, ..Interval::from(r) })
}
