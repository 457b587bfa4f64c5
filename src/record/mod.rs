//! The event model: what a trace holds once its format is forgotten.
//!
//! ```
//! use iophase::Trace;
//! use iophase::record::{Data, Op, Request};
//!
//! let start = (0..20).map(|k| 12.5 * f64::from(k));
//! let rows = start.map(|t| Request { op: Op::Write, size: 1 << 30, start: t, end: t + 2.0, ..Request::default() });
//! let trace = Trace { data: Data::Requests(rows.collect()), ..Trace::default() };
//! assert!(iophase::analyze(&trace)?.primary.is_some());
//! # Ok::<(), iophase::Error>(())
//! ```
//!
//! A row is a [`Request`] (a call, with offset and size where the format knows them: Darshan DXT, strace, text) or an
//! [`Interval`] (bytes moved over a stretch of time: TMIO phases, heatmaps, counters, metrics); [`Row`] is either. Many of them
//! are columns ([`Requests`], [`Intervals`], made of [`Column`]s); [`Data`] is either. Names are interned ([`Files`], [`Calls`]).
//! A [`Trace`] is data with the facts about the job and what was lost on the way; on request it has the [`Counters`], totals of each
//! file and rank.
//!
//! Rows flow one way. A reader gives [`Batch`]es to a [`RowSink`] and returns a [`Trace`] without rows. A sink that keeps the
//! batches makes the whole trace of it; classes, graphs and logs use the rows and drop them. What needs the rows of a trace one
//! by one, as writers do, takes them from [`Rows`], which a trace, a part of it and a generated workload are.

mod batch;
mod check;
mod column;
mod counters;
mod intervals;
mod lookups;
mod names;
mod number_order;
mod numbered;
mod range;
mod redact;
mod requests;
mod rows;
mod streams;
mod trace;

pub use column::Column;
pub use counters::{CounterModule, CounterTable, Counters, Mount, NOT_COUNTED, Striping};
pub(crate) use counters::{is_below, is_terminal};
pub use intervals::{Interval, Intervals};
pub use lookups::Lookups;
pub use names::{CallId, Calls, FileId, Files};
pub(crate) use names::{MOST_NAME_BYTES, Series, is_system_path};
pub(crate) use range::{MOST_MOVED, MOST_SIZE, MOST_TIME_S, is_amount, is_time, not_negative};
internal! { use names::stem; }
pub(crate) use number_order::{DIGITS_FROM, sort_by_number};
pub(crate) use numbered::Numbered;
pub use requests::{Op, Request, Requests, UNKNOWN_OFFSET};
pub use rows::Row;
internal! { use batch::{BATCH_ROWS, Batch, CallLog, LoggedCall, Restart, RowSink, SplitCall}; }
internal! { use rows::{Details, Rows}; }
pub(crate) use trace::Extent;
pub use trace::{
    Clock, ClockKind, Data, Header, Impossible, Job, Layer, LayerSummary, Quality, Timing, Trace, Untimed, Warning,
};
