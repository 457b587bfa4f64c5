//! Rows on their way from a reader to the code that uses them.

use std::borrow::Cow;

use super::names::{Calls, Files};
use super::trace::{Data, Trace};
use crate::error::Result;

/// Rows of a batch for a sink that does not keep them, about: they fit in a second-level cache.
pub const BATCH_ROWS: usize = 1 << 10;

/// Some rows of a trace. Those of one rank come in their order; ranks may come in any order.
#[derive(Debug)]
pub struct Batch<'a> {
    /// Place of the file that the rows are from among the files read. Readers that merge their files say 0.
    pub part: usize,
    /// As in [`Trace::origin_s`]: the same in every batch.
    pub origin_s: i64,
    /// File names so far. A later batch (with a log: of the same part) has them under the same numbers.
    pub files: &'a Files,
    /// Call names so far, in the same way.
    pub calls: &'a Calls,
    /// The rows; owned if they go to a sink that keeps rows.
    pub rows: Cow<'a, Data>,
    /// Whether intervals may be bins or readings ([`Trace::bin_s`]), of which a signal has one sample each.
    pub binned: bool,
    /// The log of the calls that `rows` are, if it was asked for and the format has it.
    pub log: Option<&'a CallLog>,
}

impl<'a> Batch<'a> {
    /// Rows of a trace that is read as one file, with the names so far.
    pub(crate) fn of(rows: Cow<'a, Data>, origin_s: i64, (files, calls): (&'a Files, &'a Calls)) -> Batch<'a> {
        Batch { part: 0, origin_s, files, calls, rows, binned: false, log: None }
    }
}

/// Facts that a log of calls has beyond the rows.
#[derive(Debug, Default)]
pub struct CallLog {
    /// One for each row.
    pub calls: Vec<LoggedCall>,
    /// Calls that end in a later line than they begin, in order.
    pub split: Vec<SplitCall>,
}

/// A call in its log. Calls come in the order in which they end.
#[derive(Debug, Clone, Copy)]
pub struct LoggedCall {
    /// Line where it begins. Orders calls that begin at the same time.
    pub line: u64,
    /// Begin in nanoseconds of the trace's own clock.
    pub start_ns: i64,
    /// Duration in nanoseconds, if known.
    pub duration_ns: Option<u64>,
    /// The call was interrupted and is made again (`ERESTARTSYS` and its kin).
    pub interrupted: bool,
}

/// A call begins before it ends, or never ends: so that its place in the log can be kept.
#[derive(Debug, Clone, Copy)]
pub struct SplitCall {
    /// Happens before this row of the batch.
    pub before_row: usize,
    /// Line where the call begins.
    pub line: u64,
    /// The process or thread that begins it; `None` if it was cancelled and no row of it comes.
    pub begun_by: Option<u32>,
}

/// Why rows come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// All batches so far are void.
    Trace,
    /// The batches of this part are void: its clock steps back, and its calls come again, to be ordered by time.
    ClockSteps(usize),
}

/// Takes the rows of a trace. Readers that work on several files at once call it from several threads.
pub trait RowSink: Sync {
    /// True if all rows are kept: then a batch may be as large as the trace, and the reader may use more threads.
    fn keeps_rows(&self) -> bool {
        false
    }

    /// Takes a batch.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn take(&self, batch: Batch<'_>) -> Result<()>;

    /// Rows given so far have to be forgotten, because they turned out to be wrong; they come again. Happens at most once for a
    /// part, and only to sinks that do not keep rows.
    fn restart(&self, why: Restart);
}

impl Trace {
    /// All rows as one batch.
    pub(crate) fn as_batch(&self) -> Batch<'_> {
        let rows = Cow::Borrowed(&self.data);
        Batch { binned: true, ..Batch::of(rows, self.origin_s, (&self.files, &self.calls)) }
    }

    /// Gives all rows to a sink and keeps the rest: for formats that are read as a whole.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn give_rows(mut self, sink: &dyn RowSink) -> Result<Trace> {
        let rows = Cow::Owned(std::mem::take(&mut self.data));
        sink.take(Batch { rows, ..self.as_batch() })?;
        Ok(self)
    }
}
