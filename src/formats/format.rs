//! The trait of a trace format.

use std::path::PathBuf;

use super::lines::Followed;
use super::options::ReadOptions;
use super::sealed::Sealed;
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Header, Job, RowSink, Trace};

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
pub trait Format: Sealed + Sync {
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

    /// Header and job from the (decompressed) first bytes of an input: all that is left of a trace that cannot be read.
    fn outline(&self, head: &[u8]) -> Option<(Header, Option<Job>)> {
        let _ = head;
        None
    }

    /// Key that the files of one job in a folder share; `None` if the file is a job of its own. If [`Format::outline`] says when the job
    /// ran, files in other folders are of it, too.
    fn job_of(&self, source: &Source) -> Option<String> {
        let _ = source;
        None
    }

    /// The files of a folder that are one trace of this format together, though none of them shows it by its content; none if
    /// the folder holds no such trace.
    fn claims(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let _ = files;
        Vec::new()
    }

    /// Begins to follow a source that grows; `head` has its first lines, which come again. Not `Followed::Never`, whatever the
    /// head, if the format can be followed.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] for a head that is damaged, [`ErrorKind::Unsupported`] for a form that can only be read whole.
    fn follow(&self, head: &[u8], options: &ReadOptions) -> Result<Followed> {
        let _ = (head, options);
        Ok(Followed::Never)
    }

    /// True if each file is a log of calls, so that batches have [`Batch::log`](crate::record::Batch) with
    /// [`Detail::Log`](super::Detail::Log).
    fn logs_calls(&self) -> bool {
        false
    }
}

/// The one file of a job of a format that has no more.
pub(super) fn only<'s>(sources: &'s [Source], format: &dyn Format) -> Result<&'s Source> {
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
