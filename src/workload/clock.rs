//! Times of synthetic traces: whole nanoseconds, so that every format can hold them.

/// Seconds in whole nanoseconds.
pub(super) fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// Nanoseconds in seconds.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
