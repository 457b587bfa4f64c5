//! The same analysis fed piece by piece: the current regime of a job, and its next burst.
//!
//! ```
//! use iophase::online::{Options, Session};
//! use iophase::record::{Interval, Op};
//!
//! let mut session = Session::new(None, Options::default());
//! for start in (0..8).map(|k| 10.0 * f64::from(k)) {
//!     session.feed(&[Interval { op: Op::Write, bytes: 1e6, start, end: start + 1.0, ..Interval::default() }]);
//! }
//! assert!((session.predict().next_start_s.expect("a burst every 10 s") - 80.0).abs() < 0.5);
//! ```
//!
//! A [`Session`] follows one job. For each mode it keeps a bounded profile of the bandwidth, not the transfers, so that memory
//! does not grow with the job; an update costs the new data plus one analysis of that profile. Change points (`change`) begin a
//! new window, and the `automaton` names the regimes of the job.
//!
//! The way of a transfer: `source` → `follow` (the loop of all commands) → `Session` (`session`, `trigger` decides when a prediction
//! is due) → `mode_state` → `bounded_profile` → `forecast` (burst pipeline of `period`, onset correction) → `regime` (does the current
//! period go on?) → [`Prediction`]. Thresholds of all of it are in `thresholds`.

mod allowance;
pub(crate) mod automaton;
mod bounded_profile;
mod burst_interior;
mod burst_threshold;
pub(crate) mod change;
pub(crate) mod checkpoint;
mod clock_step;
pub(crate) mod follow;
mod forecast;
mod history;
pub(crate) mod jobs;
pub(crate) mod live;
mod mode_state;
mod onset;
pub(crate) mod output_queue;
mod prediction;
mod regime;
mod session;
pub(crate) mod source;
pub(crate) mod thresholds;
mod track_record;
mod trigger;
mod window;

pub use change::ChangeMethod;
internal! { use prediction::PREDICTION_SCHEMA; }
pub use prediction::{FrequencyRange, Overdue, Prediction, WindowSpan};
pub use session::{Options, Session};
pub use trigger::Every;
pub use window::Window;
