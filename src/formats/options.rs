//! Options of a reader.

use std::fmt;
use std::sync::Arc;

use super::format::Format;
use super::io_names::IoNames;
use super::limits::Limits;
use super::regex::Patterns;
use super::series::SeriesOptions;
use crate::record::Layer;

/// Called with the number of stored bytes after every read.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// How much of a trace is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Detail {
    /// No rows of a format that keeps totals beside them (Darshan): job, totals of the layers and, if wanted, counters. Else as
    /// `Transfers`.
    Totals,
    /// Only what moves bytes: enough for signals, patterns and classes. Other calls are counted, not kept.
    #[default]
    Transfers,
    /// Every call, failed ones too. One that moves bytes between two files (`copy_file_range`, `sendfile`, `splice`) is two rows, a
    /// read and a write, as in `Transfers`.
    Calls,
    /// Every call with its place in the log, if [`Format::logs_calls`](super::Format::logs_calls), each one row; else as `Calls`.
    Log,
}

impl Detail {
    /// Whether calls that move no bytes are wanted.
    pub(crate) fn all_calls(self) -> bool {
        matches!(self, Detail::Calls | Detail::Log)
    }
}

options! {
    /// Options of a reader.
    #[derive(Clone, Default)]
    pub struct ReadOptions {
        /// Layer to take from a log that records several; `None` chooses the one with the most detail.
        pub layer: Option<Layer>,
        /// How much is wanted.
        pub detail: Detail,
        /// Fill [`Trace::layers`](crate::record::Trace::layers) with everything the file holds, at the cost of reading it all.
        pub all_layers: bool,
        /// Fill [`Trace::counters`](crate::record::Trace::counters), if the format has them.
        pub counters: bool,
        /// Take calls without times, too: only their order is known ([`Timing::Order`](crate::record::Timing)).
        pub order_suffices: bool,
        /// Events of a Chrome trace that are I/O; `None`: those named read or write.
        pub io_names: Option<IoNames>,
        /// Member of `args` that has the bytes of an event of a Chrome trace; `None`: `ret`, `bytes`, `size` and the like.
        pub bytes_arg: Option<String>,
        /// Metrics to read from a trace of metrics: a name, or several with the wildcards `*` and `?`; `None` chooses one.
        pub metric: Option<String>,
        /// Patterns that read text in no known format. With them and no named format, the format is `regex`.
        pub patterns: Option<Patterns>,
        /// How a time series is read. With columns and no named format, the format is `series`.
        pub series: SeriesOptions,
        /// Formats of the program that uses this library ([`OwnFormat`](super::OwnFormat)): asked before those of this library.
        pub own_formats: &'static [&'static dyn Format],
        /// Bounds.
        pub limits: Limits,
        /// Called with the number of stored bytes after every read.
        pub progress: Option<Progress>,
    }
}

impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("layer", &self.layer)
            .field("detail", &self.detail)
            .field("all_layers", &self.all_layers)
            .field("counters", &self.counters)
            .field("order_suffices", &self.order_suffices)
            .field("io_names", &self.io_names)
            .field("bytes_arg", &self.bytes_arg)
            .field("metric", &self.metric)
            .field("patterns", &self.patterns)
            .field("series", &self.series)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
