//! Thresholds that decide which patterns are found.
//!
//! The first five belong to the code that `cost.rs` defines; the others bound the time of the search. Bounds on memory
//! are in `limits.rs`.
//!
//! Half, double: traces with more than 5 % of the accesses in other patterns if the value is halved or doubled.
//! Measured on 287 traces by `scripts/sensitivity.py`.

use crate::thresholds::thresholds;

thresholds! {
    /// Thresholds of the pattern detector.
    "pattern":

    // Code
    /// Bits that patterns must save: chance makes such patterns in one of 64 pools of random accesses (Kraft's inequality).
    /// Half: 3, double: 10.
    margin: f64 = 6.0;
    /// Bits of a place anywhere in a file, at least: a file of 1 MiB.
    /// Half: 10, double: 0.
    anywhere: f64 = 20.0;
    /// Bits that say whether the accesses of a pattern follow each other: one question with two answers.
    /// Half: 0, double: 1.
    order: f64 = 1.0;
    /// Bits of a place at least: below that, random orders over a few places would look like loops over each of them.
    /// Half: 187, double: 12.
    certain: f64 = 2.0;
    /// Steps that give a mean distance between accesses; the standard error of the mean of 16 logarithms is half a bit.
    /// Half: 0, double: 3.
    few_steps: u64 = 16;

    // Search
    /// Places after one that are tried as the next of its progression,
    /// Half: 0, double: 0.
    neighbours: usize = 3;
    /// and if that covers less than a quarter of the places.
    /// Half: 0, double: 0.
    more_neighbours: usize = 64;
    /// Accesses at one place of which one is tried.
    /// Half: 0, double: 0.
    same_place: usize = 64;
    /// Places in the next rank that are tried as the next of a progression.
    /// Half: 1, double: 1.
    rank_neighbours: usize = 3;
    /// Periods of a list of nests that are tried.
    /// Half: 0, double: 0.
    list_periods: usize = 3;
    /// Times that patterns are judged anew after others turned out to be chance.
    /// Half: 0, double: 0.
    rounds: usize = 8;
    /// Accesses of a list that may lie between two of a pattern when it is recognised at its third one.
    /// Half: 0, double: 0.
    near: usize = 8;
    /// Equal sizes in a row, as a multiple of the mean row of a chain, that are a pattern of their own.
    /// Half: 0, double: 0.
    row: u64 = 8;
    /// Accesses back to back that are searched for changes of size.
    /// Half: 0, double: 0.
    tail: usize = 32;
    /// Searches that are left out after many in vain.
    /// Half: 0, double: 0.
    most_skipped: u32 = 63;
    /// A pause this many times the median pause ends a time step.
    /// Half: 0, double: 0.
    long_pause: f64 = 8.0;
}
