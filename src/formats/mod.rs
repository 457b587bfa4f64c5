//! Trace formats: bytes on disk to the event model, and back ([`mod@write`]).
//!
//! ```
//! use iophase::formats::{self, Detail, ReadOptions};
//!
//! let source = formats::open("data/stable.strace")?;
//! let trace = formats::read(&source, None, &ReadOptions::default().detail(Detail::Calls))?;
//! assert!(trace.format == "strace" && trace.call_counts.contains_key("close"));
//! # Ok::<(), iophase::Error>(())
//! ```
//!
//! A format is a folder here and one line in [`ALL`]. It recognises an input by its first bytes
//! ([`Format::sniff`]) and gives its rows to a sink ([`Format::read`]). [`read`] does both for an input of unknown format and keeps
//! the rows, [`read_into`] does not.

mod batches;
mod bytes;
pub(crate) mod chrome;
pub(crate) mod clock;
mod compression;
pub(crate) mod custom;
pub(crate) mod darshan;
mod dates;
pub(crate) mod dftracer;
mod digits;
mod event;
mod fields;
mod folder;
mod foreign;
mod format;
mod gate;
pub(crate) mod gekkofs;
mod io_names;
mod json;
mod limits;
mod lines;
pub(crate) mod metric_proxy;
mod msgpack;
pub(crate) mod number;
mod op_name;
mod options;
mod phases;
mod pipe;
mod probe;
pub(crate) mod radar;
pub(crate) mod rates;
pub(crate) mod recorder;
pub(crate) mod regex;
pub(crate) mod samples;
mod sealed;
mod sections;
pub(crate) mod series;
mod source;
pub(crate) mod strace;
pub(crate) mod tail;
pub(crate) mod thresholds;
mod ticks;
pub(crate) mod tmio;
mod window;
pub mod write;

pub use batches::{Batches, RowBatch};
pub use custom::{LineFormat, OwnFormat, RecordField, RecordFields};
pub(crate) use fields::{escaped as escaped_field, is_formula, quoted as quoted_field};
pub use folder::{Folder, FolderTrace, search};
pub use format::Format;
pub use io_names::IoNames;
pub use limits::{Limits, Stop};
pub use options::{Detail, ReadOptions};
pub(crate) use probe::Inputs;
pub use probe::{ALL, find, open, read};
pub use regex::Patterns;
pub(crate) use source::{Visited, entries};
internal! { use format::Sniff; }
internal! { use options::Progress; }
internal! { use probe::{collect, give, inputs, mismatches, open_named, open_once, outline, probe, read_into}; }
pub use rates::{Stamp, ValueKind};
pub use series::{SeriesColumns, SeriesOptions};
pub use source::Source;

/// The kind of a file that is known by its first bytes, and not read.
pub(crate) fn foreign_content(head: &[u8]) -> Option<&'static str> {
    foreign::recognise(head).map(|known| known.what)
}
