//! Trace formats: bytes on disk to the event model, and back ([`mod@write`]).
//!
//! A format is a folder here and one line in [`ALL`]. It tells from the first bytes of an input whether it is its own
//! ([`Format::sniff`]) and reads it ([`Format::read`]). [`read`] does both for an input of unknown format.

mod clock;
pub mod custom;
pub mod darshan;
mod digits;
pub mod follow;
mod json;
mod limits;
mod lines;
pub mod number;
mod op_name;
mod phases;
mod probe;
pub mod radar;
mod series;
mod source;
pub mod strace;
pub mod tmio;
mod window;
pub mod write;

use std::fmt;
use std::sync::Arc;

pub use limits::Limits;
pub use probe::{Inputs, find, inputs, probe, read, read_pieces};
pub use source::{HEAD_BYTES, Source, Wrapping, is_damage};

use crate::error::{Error, ErrorKind, Result};
use crate::record::{EventSink, Layer, Piece, Trace, Warning};

/// Every format that can be read, the most certain to probe first.
pub const ALL: &[&dyn Format] = &[&darshan::Darshan, &radar::Radar, &tmio::Tmio, &strace::Strace, &custom::Custom];

/// What a format says about the first bytes of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sniff {
    /// Not mine, because.
    No(&'static str),
    /// It could be mine if nobody is sure.
    Maybe,
    /// Mine.
    Yes,
}

/// A trace format.
pub trait Format: Sync {
    /// Name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// Judges an input by its (decompressed) first bytes, at most [`HEAD_BYTES`]. Never reads, never fails.
    fn sniff(&self, head: &[u8]) -> Sniff;

    /// Reads one file.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`], [`ErrorKind::Unsupported`] or [`ErrorKind::Limit`] with the place; a damaged tail is no error
    /// but a warning in the trace.
    fn read(&self, source: &Source, options: &ReadOptions) -> Result<Trace>;

    /// Reads the files of a folder as one job.
    ///
    /// # Errors
    /// As [`Format::read`]; [`ErrorKind::Unsupported`] if a job of this format is always one file.
    fn read_many(&self, sources: &[Source], options: &ReadOptions) -> Result<Trace> {
        match sources {
            [one] => self.read(one, options),
            _ => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the folder holds {} traces of format {}, which has one file for a job",
                    sources.len(),
                    self.name()
                ),
            )
            .remedy("name the files one by one")),
        }
    }

    /// Hands the rows on as they are read, without keeping them: memory does not grow with the trace. Gives the trace without rows
    /// and without totals; `None` if it has to be read as a whole, which may show only after some rows have been handed on: they
    /// are to be forgotten then.
    ///
    /// # Errors
    /// As [`Format::read`], and those of `take`.
    fn read_pieces(&self, _sources: &[Source], _options: &ReadOptions, _take: &mut Take<'_>) -> Result<Option<Trace>> {
        Ok(None)
    }

    /// Hands every call of the files on as it is read, those of each file to the sink of the same place, without keeping any:
    /// memory does not grow with the trace. `None` if the format has to be read as a whole.
    ///
    /// # Errors
    /// As [`Format::read`].
    fn stream(
        &self,
        _sources: &[Source],
        _options: &ReadOptions,
        _sinks: &mut [&mut dyn EventSink],
    ) -> Option<Result<Streamed>> {
        None
    }
}

/// Takes rows as they are read.
pub type Take<'a> = dyn FnMut(&Piece<'_>) -> Result<()> + Send + 'a;

/// What is left to say after [`Format::stream`].
#[derive(Debug, Clone, Default)]
pub struct Streamed {
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

/// Told about every stretch of stored bytes that has been read.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// How much of a trace is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Only what moves bytes: enough for signals, patterns and classes. Other calls are counted, not kept.
    #[default]
    Transfers,
    /// Every call, failed ones too.
    Calls,
}

/// What a reader is asked for.
#[derive(Clone, Default)]
pub struct ReadOptions {
    /// Layer to take from a log that records several; `None` chooses the one with the most exact data.
    pub layer: Option<Layer>,
    /// How much is wanted.
    pub detail: Detail,
    /// Fill [`Trace::layers`] with everything the file holds, at the cost of reading it all.
    pub survey: bool,
    /// Bounds.
    pub limits: Limits,
    /// Told about every stretch of stored bytes that has been read.
    pub progress: Option<Progress>,
}

impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("layer", &self.layer)
            .field("detail", &self.detail)
            .field("survey", &self.survey)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
