//! Thresholds that decide a class or an advice. Bounds on memory stand where they are used.
//!
//! "h5bench": chosen by hand with the runs of `tests/unit/classify_h5bench.rs`, where HDF5's own accesses have up to 600 bytes.
//! No source is on record for the other rows.
//!
//! Half, double: traces with another class or advice if the value is halved or doubled.
//! Measured on 287 traces by `scripts/sensitivity.py`.

use crate::thresholds::thresholds;

thresholds! {
    /// Thresholds of classification.
    "classify":

    // Segments
    /// A step may miss the stride by the request over this: a library's bytes between datasets.
    /// Half: 0, double: 4.
    near: u64 = 16;
    /// This many accesses always look like a stride.
    /// Half: 20, double: 12.
    short: u64 = 2;
    /// Accesses that chance may give to each loop of a nest.
    /// Half: 2, double: 7.
    free: u64 = 2;
    /// Passes up to this long prove a loop that is seen twice.
    /// Half: 2, double: 2.
    proves: u64 = 10;
    /// Loops of a nest at most.
    /// Half: 2, double: 0.
    deepest: usize = 6;
    /// Accesses without order after which none is expected.
    /// Half: 0, double: 0.
    long: u64 = 64;
    /// Fewer steps may have a majority by chance.
    /// Half: 0, double: 0.
    fewest_steps: u64 = 7;
    /// Probability from which a vote of the network counts.
    /// Half: 1, double: 1.
    sure: f64 = 0.9;

    // Cost of a way to cut a window; a regular segment costs 1
    /// An access without order.
    /// Half: 20, double: 45.
    disorder: f64 = 0.31;
    /// Each loop after the first.
    /// Half: 4, double: 13.
    extra_loop: f64 = 0.6;
    /// An outermost loop that is a guess.
    /// Half: 1, double: 7.
    guess: f64 = 0.3;
    /// Reads and writes that alternate.
    /// Half: 0, double: 15.
    mixed: f64 = 0.5;
    /// Sizes that differ.
    /// Half: 4, double: 3.
    sizes: f64 = 0.1;
    /// Steps that miss the stride.
    /// Half: 0, double: 0.
    jitter: f64 = 0.1;
    /// A stride seen once.
    /// Half: 2, double: 1.
    once: f64 = 0.2;

    // Size classes and metadata accesses
    /// All sizes above it are one class, each size below it is one (h5bench).
    /// Half: 0, double: 0.
    large: u64 = 16 << 10;
    /// Accesses up to it may be a library's own, whatever the size of the data (h5bench).
    /// Half: 6, double: 0.
    tiny: u64 = 1 << 10;
    /// Accesses of less than the mean size of the data over this are small (h5bench).
    /// Half: 0, double: 0.
    small: u64 = 64;
    /// Small accesses with more bytes than the data over this are data (h5bench).
    /// Half: 0, double: 0.
    weight: u64 = 32;
    /// A size class lies between the data from this share of its time on: more often than not.
    /// Half: 0, double: 2.
    between: f64 = 0.5;
    /// Share of the data, in accesses and in bytes, that must have an order (h5bench, and random data with metadata).
    /// Half: 0, double: 16.
    ordered: f64 = 0.9;
    /// Fewer accesses of a rank may be in order by chance (h5bench).
    /// Half: 2, double: 2.
    fewest: u64 = 6;
    /// A segment with the accesses of its neighbour over this is merged with it (h5bench: ranks out of step).
    /// Half: 0, double: 0.
    few: u64 = 8;

    // Global classes
    /// Ranges are the same if they have this share of their union in common.
    /// Half: 1, double: 0.
    same: f64 = 0.9;
    /// Gaps up to the smaller access beside them over this are none: a library's bytes.
    /// Half: 0, double: 0.
    narrow: u64 = 16;
    /// Gaps that are this many times rarer than rounds of the ranks are not part of the pattern.
    /// Half: 0, double: 0.
    rare: usize = 4;

    // Markov model
    /// Share of the accesses of a chain that are back to back, from which the steps are the sizes.
    /// Half: 0, double: 0.
    back_to_back: f64 = 0.95;
    /// Most frequent steps of a chain,
    /// Half: 2, double: 1.
    usual_steps: usize = 8;
    /// and the share of them that makes an order.
    /// Half: 1, double: 2.
    usual_share: f64 = 0.6;
    /// Accesses of a rank that are too few for the rules.
    /// Half: 0, double: 0.
    too_few: u64 = 2;

    // Advice
    /// Files up to this size are read once and broadcast.
    /// Half: 0, double: 0.
    broadcast: u64 = 64 << 20;
    /// Writes below this size cost more in latency than in bytes.
    /// Half: 9, double: 65.
    aggregated: u64 = 64 << 10;
    /// Largest collective buffer.
    /// Half: 0, double: 0.
    collective_buffer: u64 = 64 << 20;
    /// Fewer accesses than this are no reason to change a setting.
    /// Half: 32, double: 32.
    worthwhile: u64 = 8;
    /// Bytes moved over bytes spanned, from which writes are dense.
    /// Half: 10, double: 38.
    dense: f64 = 0.9;
}
