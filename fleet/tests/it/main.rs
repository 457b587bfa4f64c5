//! A fleet from the outside: rows against `analyze`, damage against the truth, kills, bounds, questions.

mod answers;
mod common;
mod kills;
mod rows;
mod runs;
