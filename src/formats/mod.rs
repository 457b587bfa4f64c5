//! Trace formats: bytes on disk to the event model, and back ([`mod@write`]).
//!
//! A format is a folder here and one line in [`ALL`]. It recognises an input by its first bytes
//! ([`Format::sniff`]) and gives its rows to a sink ([`Format::read`]). [`read`] does both for an input of unknown format and keeps
//! the rows, [`read_into`] does not.

mod clock;
pub(crate) mod custom;
pub(crate) mod darshan;
mod digits;
mod folder;
mod json;
mod limits;
mod lines;
pub(crate) mod number;
mod op_name;
mod phases;
mod probe;
pub(crate) mod radar;
mod sealed;
mod series;
mod source;
pub(crate) mod strace;
pub(crate) mod tail;
pub(crate) mod tmio;
mod window;
pub mod write;

use std::fmt;
use std::sync::Arc;

pub use folder::{Folder, FolderTrace, search};
pub use limits::Limits;
pub(crate) use probe::{Inputs, inputs};
pub use probe::{collect, find, mismatches, probe, read, read_into};
pub use source::Source;
pub(crate) use source::{Compression, HEAD_BYTES, is_damage};

use crate::error::{Error, ErrorKind, Result};
use crate::record::{Layer, RowSink, Trace};

/// Every format that can be read, the most certain to probe first.
pub const ALL: &[&dyn Format] = &[&darshan::Darshan, &radar::Radar, &tmio::Tmio, &strace::Strace, &custom::Custom];

/// The verdict of a format on the first bytes of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sniff {
    /// Not mine, because.
    No(&'static str),
    /// Known, but not readable, because.
    Unsupported(&'static str),
    /// It could be mine if nobody is sure.
    Maybe,
    /// Mine.
    Yes,
}

/// A trace format.
pub trait Format: sealed::Sealed + Sync {
    /// Name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// Judges an input by its (decompressed) first bytes, at most `HEAD_BYTES`. Never reads, never fails.
    fn sniff(&self, head: &[u8]) -> Sniff;

    /// Reads the files of one job: gives the rows to `sink` and returns the trace without them. Memory does not grow with the trace
    /// if the sink does not keep rows, unless the rows can only be made at the end of the input.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`], [`ErrorKind::Unsupported`] or [`ErrorKind::Limit`] with the place; a damaged tail is no error
    /// but a warning in the trace. [`ErrorKind::Unsupported`] for several files if a job of this format is always one.
    /// Those of the sink.
    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace>;

    /// Key that the files of one job in a folder share; `None` if the file is a job of its own.
    fn job_of(&self, source: &Source) -> Option<String> {
        let _ = source;
        None
    }

    /// True if each file is a log of calls, so that batches have [`Batch::log`](crate::record::Batch) with [`Detail::Log`].
    fn logs_calls(&self) -> bool {
        false
    }
}

/// The one file of a job of a format that has no more.
fn only<'s>(sources: &'s [Source], format: &dyn Format) -> Result<&'s Source> {
    match sources {
        [one] => Ok(one),
        _ => Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "the folder holds {} traces of format {}, which has one file for a job",
                sources.len(),
                format.name()
            ),
        )
        .remedy("name the files one by one")),
    }
}

/// Called with the number of stored bytes after every stretch that has been read.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// How much of a trace is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Detail {
    /// Only what moves bytes: enough for signals, patterns and classes. Other calls are counted, not kept.
    #[default]
    Transfers,
    /// Every call, failed ones too.
    Calls,
    /// Every call with its place in the log, if [`Format::logs_calls`]; else as `Calls`.
    Log,
}

/// Options of a reader.
#[derive(Clone, Default)]
pub struct ReadOptions {
    /// Layer to take from a log that records several; `None` chooses the one with the most exact data.
    pub layer: Option<Layer>,
    /// How much is wanted.
    pub detail: Detail,
    /// Fill [`Trace::layers`] with everything the file holds, at the cost of reading it all.
    pub all_layers: bool,
    /// Bounds.
    pub limits: Limits,
    /// Called with the number of stored bytes after every stretch that has been read.
    pub progress: Option<Progress>,
}

impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("layer", &self.layer)
            .field("detail", &self.detail)
            .field("all_layers", &self.all_layers)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
