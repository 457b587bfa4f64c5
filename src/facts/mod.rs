//! Facts of a trace: how long its ranks are in I/O, from counters or from single requests.
//!
//! Everything that speaks of time in I/O takes it from here, so that the same words have the same value in every answer.
//! `docs/concepts.md` has the formulas.

mod counted;
mod counts;
mod files;
mod io_time;
mod outermost;
mod spans;
mod spent;

internal! { use counts::{Count, Counted, Measure, Row}; }
internal! { use files::{FileFacts, FileFamily, families, files_of_counters, files_of_rows}; }
pub(crate) use counts::{BYTES, CALLS, SIZES, TIMES};
pub use io_time::{Bounds, IoTime, LayerTime};
pub(crate) use io_time::{IoFacts, of_modules, run_s};
pub(crate) use spans::{Busy, KINDS, RankTime, in_time, kind};
pub(crate) use spent::{SharedTime, Spent};

#[cfg(all(test, feature = "cli"))]
mod tests;
