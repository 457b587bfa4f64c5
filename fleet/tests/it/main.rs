//! A fleet from the outside: rows against `analyze`, damage against the truth, kills, bounds, questions.

// a test that is skipped says why
#![allow(clippy::print_stderr)]

mod answers;
#[cfg(feature = "cluster")]
mod cluster;
mod common;
mod kills;
mod rows;
mod runs;
#[cfg(feature = "s3")]
mod s3;
