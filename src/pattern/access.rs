//! An access: the view that the detector has of a request.

use crate::record::{FileId, Op, Request, UNKNOWN_OFFSET};

/// One access: a read or write at a known place of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Access {
    /// [`Op::Read`] or [`Op::Write`].
    pub op: Op,
    /// Rank.
    pub rank: u32,
    /// The file.
    pub file: FileId,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes moved.
    pub size: u64,
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
}

impl Access {
    /// The access that a request makes; `None` if it moves no bytes or nobody knows where.
    #[inline]
    pub fn of(r: &Request) -> Option<Access> {
        (r.op.moves_bytes() && r.offset != UNKNOWN_OFFSET).then_some(Access {
            op: r.op,
            rank: r.rank,
            file: r.file,
            offset: r.offset,
            size: r.size,
            start: r.start,
            end: r.end,
        })
    }

    /// True if all arithmetic on its place stays within 63 bits, as file systems guarantee. What is beyond comes from a
    /// damaged trace and belongs to no pattern.
    #[inline]
    pub(super) fn sane(&self) -> bool {
        const MOST: u64 = i64::MAX as u64;
        self.offset <= MOST && self.size <= MOST - self.offset
    }
}
