//! Bounds of all workloads.

use crate::error::{Error, ErrorKind, Result};

/// Largest number of ranks of a job.
pub(super) const RANKS: u64 = 1 << 20;
/// Largest number of repetitions in any loop.
pub(super) const REPEATS: u64 = 1 << 24;
/// Largest number of patterns of a truth, of their sizes, and of file names: all are kept in memory.
const KEPT: u128 = 20_000_000;
/// Largest number of bytes of a file, and of all requests. Most programs have signed offsets.
const BYTES: u128 = 1 << 62;
/// Latest end of a run in nanoseconds, about 100 days: up to there an `f64` holds every nanosecond.
const RUN_NS: u128 = 1 << 53;

/// The error of values that contradict each other.
pub(super) fn usage<T>(found: String, expected: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Usage, found).expected(expected))
}

fn product(factors: &[u64]) -> u128 {
    factors.iter().fold(1, |n, f| n.saturating_mul(u128::from(*f)))
}

/// Fails if the product exceeds the number of items that are kept in memory.
pub(super) fn kept(factors: &[u64]) -> Result<()> {
    let n = product(factors);
    if n > KEPT { usage(format!("{n} patterns, sizes or files"), &format!("at most {KEPT}")) } else { Ok(()) }
}

/// The product; fails if it exceeds the number of bytes that a job may move.
pub(super) fn bytes(factors: &[u64]) -> Result<u64> {
    let n = product(factors);
    if n > BYTES {
        return usage(format!("{n} bytes"), &format!("at most {BYTES}"));
    }
    Ok(n as u64)
}

/// Fails if the run is too long, or if accesses are shorter than a nanosecond.
pub(super) fn run(end_ns: u128, shortest_ns: u64, accesses: u64) -> Result<()> {
    if end_ns > RUN_NS {
        let found = format!("a run of {} s", end_ns / 1_000_000_000);
        return usage(found, &format!("at most {} s", RUN_NS / 1_000_000_000));
    }
    if shortest_ns < accesses {
        let found = format!("{accesses} accesses in {} s", shortest_ns as f64 / 1e9);
        return usage(found, "at least a nanosecond for each");
    }
    Ok(())
}

/// `whole / part`; fails if either is 0 or the division leaves a remainder.
pub(super) fn divided(whole: (&str, u64), part: (&str, u64)) -> Result<u64> {
    if part.1 == 0 || whole.1 == 0 || !whole.1.is_multiple_of(part.1) {
        let found = format!("{} {} and {} {}", whole.0, whole.1, part.0, part.1);
        return usage(found, &format!("{} a multiple of {}", whole.0, part.0));
    }
    Ok(whole.1 / part.1)
}
