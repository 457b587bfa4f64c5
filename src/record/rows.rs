//! Rows one after the other: of a trace in memory, of a part of it, or made while they are asked for.

use super::intervals::Interval;
use super::names::{Calls, FileId, Files};
use super::requests::{Op, Request};
use super::trace::{Data, Layer, Trace};
use crate::error::Result;

/// A row of either kind of [`Data`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Row {
    /// A call.
    Request(Request),
    /// A stretch without offset.
    Interval(Interval),
}

impl Row {
    /// The operation.
    pub fn op(&self) -> Op {
        match self {
            Row::Request(r) => r.op,
            Row::Interval(i) => i.op,
        }
    }

    /// Its rank.
    pub fn rank(&self) -> u32 {
        match self {
            Row::Request(r) => r.rank,
            Row::Interval(i) => i.rank,
        }
    }

    /// Its file.
    pub fn file(&self) -> FileId {
        match self {
            Row::Request(r) => r.file,
            Row::Interval(i) => i.file,
        }
    }

    /// Start and end in seconds since the origin.
    pub fn span(&self) -> (f64, f64) {
        match self {
            Row::Request(r) => (r.start, r.end),
            Row::Interval(i) => (i.start, i.end),
        }
    }
}

/// Which fields beyond the usual ones some row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Details {
    /// Names of calls.
    pub calls: bool,
    /// Process or thread ids.
    pub tasks: bool,
}

/// Rows in order, with the names they refer to. They may be gone through more than once and are the same each time.
pub trait Rows {
    /// File names.
    fn files(&self) -> &Files;

    /// Call names.
    fn calls(&self) -> &Calls;

    /// Processes of the job, or ranks seen.
    fn ranks(&self) -> u64;

    /// Whole seconds to add to every time to be on the trace's own clock.
    fn origin_s(&self) -> i64 {
        0
    }

    /// The layer that the rows were recorded at.
    fn layer(&self) -> Option<Layer> {
        None
    }

    /// Which further fields some row has.
    fn details(&self) -> Details {
        Details::default()
    }

    /// Hands every row to `each`, in order.
    ///
    /// # Errors
    /// The first error of `each`.
    fn visit(&self, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<()>;

    /// First start and last end in seconds since the origin; `None` without rows.
    ///
    /// # Errors
    /// As [`Rows::visit`].
    fn span(&self) -> Result<Option<(f64, f64)>> {
        let mut span: Option<(f64, f64)> = None;
        self.visit(&mut |row| {
            let (start, end) = row.span();
            span = Some(span.map_or((start, end), |(a, b)| (a.min(start), b.max(end))));
            Ok(())
        })?;
        Ok(span)
    }
}

impl Trace {
    /// Row `i` of the data.
    ///
    /// # Panics
    /// If `i` is not a row.
    #[inline]
    pub fn row(&self, i: usize) -> Row {
        match &self.data {
            Data::Requests(r) => Row::Request(r.get(i)),
            Data::Intervals(v) => Row::Interval(v.get(i)),
        }
    }
}

impl Rows for Trace {
    fn files(&self) -> &Files {
        &self.files
    }

    fn calls(&self) -> &Calls {
        &self.calls
    }

    fn ranks(&self) -> u64 {
        self.ranks
    }

    fn origin_s(&self) -> i64 {
        self.origin_s
    }

    fn layer(&self) -> Option<Layer> {
        self.layer
    }

    fn details(&self) -> Details {
        match &self.data {
            Data::Requests(r) => Details {
                calls: r.call.iter().any(|c| !self.calls.name(c).is_empty()),
                tasks: r.task.as_constant() != Some(0) && r.task.iter().any(|t| t != 0),
            },
            Data::Intervals(_) => Details::default(),
        }
    }

    fn visit(&self, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
        (0..self.data.len()).try_for_each(|i| each(self.row(i)))
    }
}
