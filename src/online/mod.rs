//! The same analysis fed piece by piece: what a job is doing now, and when its next burst comes.
//!
//! A [`Session`] follows one job. It keeps a bounded picture of the bandwidth in its window, not the transfers, so that memory
//! does not grow with the job, and an update costs the new data plus one analysis of that picture. Beside it stand the change
//! points ([`change`]) that begin a new window, and the [`automaton`] of regimes that names what the job is doing.

pub mod automaton;
mod burst_threshold;
pub mod change;
mod channel;
pub mod checkpoint;
mod foot;
mod history;
mod jobs;
pub mod live;
pub mod outbox;
mod outlook;
mod picture;
mod prediction;
mod rhythm;
mod session;
pub mod source;
pub(crate) mod thresholds;
mod trigger;
mod window;

pub use jobs::Jobs;
pub use prediction::{FrequencyRange, PREDICTION_SCHEMA, Prediction, WindowSpan};
pub use session::{Options, Session};
pub use trigger::Every;
pub use window::Window;
