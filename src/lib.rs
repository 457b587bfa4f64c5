//! Reads the I/O traces of parallel jobs and says whether the I/O is periodic, with which period, how sure that is,
//! when it holds, and when the next burst comes.
//!
//! Rooms, from the ground up; a room uses only those before it: [`record`] the event model, [`formats`] bytes on disk to
//! records, [`transform`] pure numerics, [`signal`] records to bandwidth over time, [`period`] bandwidth to periods,
//! [`analysis`] the pipeline, [`render`] text and pictures, [`cli`] the command line.

pub mod analysis;
pub mod cli;
pub mod error;
pub mod formats;
pub mod period;
pub mod record;
pub mod render;
pub mod signal;
pub mod transform;

pub use error::{Error, ErrorKind, Place, Result};
