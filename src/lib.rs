//! Reads the I/O traces of parallel jobs and says whether the I/O is periodic, with which period, how sure that is,
//! when it holds, and when the next burst comes.
//!
//! [`read()`] turns a file into a [`Trace`], [`analyze()`] a trace into a [`Report`]. [`period::detect`] answers for bursts or samples in
//! memory, [`formats::Source::batches`] gives the rows of traces of any size, and [`online::Session`] predicts the next burst of a job
//! that runs. [`pattern`], [`classify`] and [`dfg`] describe how files are accessed. The functions of the modules have options. The command
//! line, text, pictures and synthetic traces come with default features that a library can turn off.
//!
//! Rooms, from the ground up; a room uses only those before it: `record` the event model, `nest` loop nests, `formats` bytes
//! on disk to records and back, `workload` synthetic traces with known truth, `transform` pure numerics, `signal` records
//! to bandwidth over time, `period` bandwidth to periods, `pattern` records to access patterns, `classify` records to
//! access classes and advice, `dfg` records to directly-follows graphs, `analysis` the pipeline, `findings` what is wrong and what it
//! costs, `compare` what changed between runs, `online` the same fed piece
//! by piece, `render` text and pictures, `answers` all answers on a trace, `serve` the HTTP interface. `cli` the program (feature `cli`).
//!
//! ```
//! # fn main() -> iophase::Result<()> {
//! let trace = iophase::read("data/stable.darshan")?;
//! let report = iophase::analyze(&trace)?;
//! let signal = report.primary_signal().expect("a job that writes every 2 s");
//! assert!((signal.period.dominant.as_ref().expect("its period").period_s - 2.0).abs() < 0.01);
//! # Ok(())
//! # }
//! ```

// The program, and what `internals` opens them to, use more of the private modules than the library itself.
#![cfg_attr(not(all(feature = "cli", feature = "internals")), allow(dead_code, unused_imports))]

// Tests in `tests/unit` name the crate as its users do.
#[cfg(test)]
extern crate self as iophase;

/// Re-exports names that are public only with the feature `internals`.
macro_rules! internal {
    (use $($names:tt)*) => {
        #[cfg(feature = "internals")]
        pub use $($names)*
        #[cfg(not(feature = "internals"))]
        pub(crate) use $($names)*
    };
}

/// A struct of options: each field has a setter of its name, and fields can be added without breaking callers.
macro_rules! options {
    (
        $(#[$struct_attr:meta])*
        pub struct $name:ident $(<$life:lifetime>)? {
            $($(#[$field_attr:meta])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$struct_attr])*
        #[non_exhaustive]
        pub struct $name $(<$life>)? {
            $($(#[$field_attr])* pub $field: $type,)*
        }

        impl $(<$life>)? $name $(<$life>)? {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

pub mod analysis;
#[cfg(feature = "render")]
mod answers;
pub mod classify;
#[cfg(feature = "cli")]
#[doc(hidden)]
#[allow(rustdoc::all, reason = "its comments are help texts")]
pub mod cli;
pub mod compare;
pub mod dfg;
mod draft;
mod error;
mod facts;
pub mod findings;
pub mod formats;
#[cfg(feature = "internals")]
pub mod internals;
mod nest;
pub mod online;
pub mod pattern;
pub mod period;
pub mod record;
mod remedy;
mod render;
#[cfg(feature = "serve")]
mod serve;
mod signal;
#[cfg(feature = "sensitivity")]
pub mod thresholds;
#[cfg(not(feature = "sensitivity"))]
mod thresholds;
mod transform;
mod units;
#[cfg(feature = "generate")]
mod workload;

use std::path::Path;

pub use analysis::Report;
pub use error::{Error, ErrorKind, Place, Result};
pub use record::Trace;
pub use remedy::Remedy;

/// Reads a trace: a file or a folder, of any format and compression, or standard input for `-`. [`formats::read`] has options.
///
/// # Errors
/// As [`formats::open`] and [`formats::read`].
pub fn read(path: impl AsRef<Path>) -> Result<Trace> {
    formats::read(&formats::open(path)?, None, &formats::ReadOptions::default())
}

/// Analyses a trace: its periods, when they hold, bursts, the next burst, and access patterns. [`analysis::analyze()`] has options.
///
/// # Errors
/// As [`analysis::analyze()`].
pub fn analyze(trace: &Trace) -> Result<Report> {
    Ok(analysis::analyze(trace, &analysis::Options::default())?.report)
}
