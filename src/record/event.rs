//! Calls one by one, for questions that need every call of a trace but not all of them at once.

use super::names::{CallId, Calls, FileId, Files};
use super::requests::Op;

/// A call of one part of a trace: of one file of strace text, of one rank of another format.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Place in the part: the line where the call begins. Orders calls that begin at the same time.
    pub order: u64,
    /// Process or thread, 0 if unknown.
    pub task: u32,
    /// What it does; [`Op::Other`] also for transfers that failed.
    pub op: Op,
    /// Name, in `calls`.
    pub call: CallId,
    /// File, in `files`, or [`FileId::NONE`].
    pub file: FileId,
    /// Bytes moved.
    pub size: u64,
    /// Begin in nanoseconds of the trace's own clock.
    pub start_ns: i64,
    /// Duration in nanoseconds, if known.
    pub duration_ns: Option<u64>,
    /// The call was interrupted and is made again (`ERESTARTSYS` and its kin).
    pub interrupted: bool,
    /// Call names of the part so far.
    pub calls: &'a Calls,
    /// File names of the part so far.
    pub files: &'a Files,
}

/// Takes the calls of one part of a trace as they are read, in the order in which they end.
///
/// A call that ends after others that began later has told before that it began, so that its place can be kept.
pub trait EventSink: Send {
    /// A call began at this place; it comes later, or is given up.
    fn begun(&mut self, order: u64, task: u32);
    /// A call that had begun will not come.
    fn given_up(&mut self, order: u64);
    /// A call ended.
    fn event(&mut self, event: &Event<'_>);
    /// The times were found not to grow with the places: forget all; every call comes again, to be put in order by time.
    fn unordered(&mut self);
}
