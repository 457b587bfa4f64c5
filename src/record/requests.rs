//! Requests: calls with, where known, offset and size.

use std::borrow::Cow;

use super::batch::{Batch, RowSink};
use super::column::Column;
use super::names::{CallId, FileId};
use super::trace::Data;
use crate::error::Result;

/// The operation of a call on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum Op {
    /// Moves bytes from the file.
    Read,
    /// Moves bytes to the file.
    Write,
    /// Opens or creates.
    Open,
    /// Closes.
    Close,
    /// Moves the file position.
    Seek,
    /// Flushes to storage.
    Sync,
    /// Anything else.
    #[default]
    Other,
}

impl Op {
    /// True for reads and writes.
    pub fn moves_bytes(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Open => "open",
            Op::Close => "close",
            Op::Seek => "seek",
            Op::Sync => "sync",
            Op::Other => "other",
        }
    }
}

/// Offset of a request whose place in the file is not known.
pub const UNKNOWN_OFFSET: u64 = u64::MAX;

/// One row of [`Requests`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// Name of the call.
    pub call: CallId,
    /// Rank, or number of the trace file where that stands for a rank.
    pub rank: u32,
    /// Process or thread id, 0 if unknown.
    pub task: u32,
    /// The file, or [`FileId::NONE`].
    pub file: FileId,
    /// Bytes from the start of the file, or [`UNKNOWN_OFFSET`].
    pub offset: u64,
    /// Bytes moved.
    pub size: u64,
    /// Seconds since the origin of the trace.
    pub start: f64,
    /// Seconds since the origin of the trace; equal to `start` if the duration is not known.
    pub end: f64,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            op: Op::Other,
            call: CallId::NONE,
            rank: 0,
            task: 0,
            file: FileId::NONE,
            offset: UNKNOWN_OFFSET,
            size: 0,
            start: 0.0,
            end: 0.0,
        }
    }
}

/// Requests as columns, in the order of the input. At most 47 bytes a row; columns whose rows agree take none.
///
/// Every reader upholds: `start` and `end` are finite and `start <= end`.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// The operation of each.
    pub op: Column<Op>,
    /// Call names.
    pub call: Column<CallId>,
    /// Ranks.
    pub rank: Column<u32>,
    /// Process or thread ids.
    pub task: Column<u32>,
    /// Files.
    pub file: Column<FileId>,
    /// Offsets in bytes, [`UNKNOWN_OFFSET`] where unknown.
    pub offset: Column<u64>,
    /// Sizes in bytes.
    pub size: Column<u64>,
    /// Start times in seconds.
    pub start: Vec<f64>,
    /// End times in seconds.
    pub end: Vec<f64>,
}

impl Requests {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Appends a row.
    #[inline]
    pub fn push(&mut self, r: Request) {
        self.op.push(r.op);
        self.call.push(r.call);
        self.rank.push(r.rank);
        self.task.push(r.task);
        self.file.push(r.file);
        self.offset.push(r.offset);
        self.size.push(r.size);
        self.start.push(r.start);
        self.end.push(r.end);
    }

    /// Gives files and calls their numbers in other tables: `files` and `calls` have one for each number here.
    pub(crate) fn renumber(&mut self, files: &[FileId], calls: &[CallId]) {
        self.file.map_in_place(|f| files.get(f.0 as usize).copied().unwrap_or(FileId::NONE));
        self.call.map_in_place(|c| calls.get(usize::from(c.0)).copied().unwrap_or(CallId::NONE));
    }

    /// Gives the rows to a sink as those of `batch`. The memory of rows that are not kept is used again.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn give(&mut self, sink: &dyn RowSink, batch: Batch<'_>) -> Result<()> {
        let rows = Data::Requests(std::mem::take(self));
        if sink.keeps_rows() {
            return sink.take(Batch { rows: Cow::Owned(rows), ..batch });
        }
        sink.take(Batch { rows: Cow::Borrowed(&rows), ..batch })?;
        if let Data::Requests(rows) = rows {
            *self = rows;
            self.clear();
        }
        Ok(())
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If `i` is not a row.
    // inlined everywhere, so that only the columns that are used are read
    #[inline(always)]
    pub fn get(&self, i: usize) -> Request {
        Request {
            op: self.op.get(i),
            call: self.call.get(i),
            rank: self.rank.get(i),
            task: self.task.get(i),
            file: self.file.get(i),
            offset: self.offset.get(i),
            size: self.size.get(i),
            start: self.start[i],
            end: self.end[i],
        }
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Request> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Appends the rows of `other`, whose names must be of the same tables.
    pub(crate) fn append(&mut self, other: Requests) {
        self.op.append(other.op);
        self.call.append(other.call);
        self.rank.append(other.rank);
        self.task.append(other.task);
        self.file.append(other.file);
        self.offset.append(other.offset);
        self.size.append(other.size);
        if self.start.is_empty() {
            (self.start, self.end) = (other.start, other.end);
        } else {
            self.start.extend_from_slice(&other.start);
            self.end.extend_from_slice(&other.end);
        }
    }

    /// Removes all rows but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.op.clear();
        self.call.clear();
        self.rank.clear();
        self.task.clear();
        self.file.clear();
        self.offset.clear();
        self.size.clear();
        self.start.clear();
        self.end.clear();
    }

    /// True if any row that moves bytes knows where.
    pub fn has_offsets(&self) -> bool {
        match self.offset.as_constant() {
            Some(x) => x != UNKNOWN_OFFSET && !self.is_empty(),
            None => (0..self.len()).any(|i| self.offset.get(i) != UNKNOWN_OFFSET && self.op.get(i).moves_bytes()),
        }
    }

    /// Bytes on the heap.
    #[cfg(test)]
    pub(crate) fn heap_bytes(&self) -> usize {
        self.op.heap_bytes()
            + self.call.heap_bytes()
            + self.rank.heap_bytes()
            + self.task.heap_bytes()
            + self.file.heap_bytes()
            + self.offset.heap_bytes()
            + self.size.heap_bytes()
            + (self.start.capacity() + self.end.capacity()) * size_of::<f64>()
    }
}

impl FromIterator<Request> for Requests {
    fn from_iter<I: IntoIterator<Item = Request>>(rows: I) -> Self {
        let mut r = Requests::default();
        rows.into_iter().for_each(|x| r.push(x));
        r
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_full_columns_fits_in_48_bytes() {
        let r: Requests = (0..1024u32)
            .map(|i| Request {
                op: if i % 2 == 0 { Op::Read } else { Op::Write },
                call: CallId((i % 5) as u16),
                rank: i,
                task: i,
                file: FileId(i),
                offset: i.into(),
                size: i.into(),
                start: i.into(),
                end: i.into(),
            })
            .collect();
        assert!(r.heap_bytes() <= 48 * 1024, "{}", r.heap_bytes());
        assert_eq!(r.iter().nth(77).unwrap(), r.get(77));
    }
}
