//! The event model: what a trace holds once its format is forgotten.
//!
//! Two kinds of trace fit. [`Requests`] are calls, with offset and size where the format knows them (Darshan DXT, strace,
//! text). [`Intervals`] are bytes moved over a stretch of time (TMIO phases, heatmaps, counters, metrics). Both are
//! columns ([`Column`]) with interned names ([`Files`], [`Calls`]); a [`Trace`] adds the facts about the job and what was lost
//! on the way. Where every call matters but not all at once, they pass one by one as [`Event`]s.

mod column;
mod event;
mod intervals;
mod names;
mod piece;
mod requests;
mod rows;
mod trace;

pub use column::Column;
pub use event::{Event, EventSink};
pub use intervals::{Interval, Intervals};
pub use names::{CallId, Calls, FileId, Files, is_system_path, stem};
pub use piece::Piece;
pub use requests::{Op, Request, Requests, UNKNOWN_OFFSET};
pub use rows::{Details, Row, Rows};
pub use trace::{Data, Header, Job, Layer, LayerSummary, Quality, Timing, Trace, Warning};
