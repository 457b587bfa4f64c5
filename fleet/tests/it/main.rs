//! A fleet from the outside: rows against `analyze`, damage against the truth, kills, bounds, questions.

// a test that is skipped says why
#![allow(clippy::print_stderr)]

mod answers;
mod common;
mod kills;
mod rows;
mod runs;
