//! From many I/O logs to Parquet tables, and from these to answers: who spends the I/O time, which applications are periodic, when
//! the file system is busy, what got slower.
//!
//! Rooms, from the ground up: `tables` the columns, `list` inputs to logs, `extract` one log to its rows (iophase only), `pool`
//! worker processes, `delta` and `store` the tables and what they hold, `batch` work units and parts, `cluster` (a feature) the same on many machines,
//! `query` SQL and named questions, `page` one HTML page. The program is in `main.rs` and `cli`.

pub mod batch;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod convert;
mod delta;
mod error;
pub mod extract;
pub mod forecast;
pub mod list;
pub mod make_logs;
pub mod page;
pub mod pool;
pub mod query;
pub mod regressions;
#[cfg(feature = "s3")]
mod remote;
pub mod store;
pub mod tables;
pub mod worker;
