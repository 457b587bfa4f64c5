//! Time stamps as whole numbers of a unit.

use super::number::parse_scaled;

/// Nanoseconds of a tick of a file that does not say.
pub(super) const MICROS: u64 = 1000;

/// Times of a file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ticks {
    /// Nanoseconds of a tick.
    pub unit_ns: u64,
    /// Seconds since 1970 that are the origin of the trace.
    pub origin_s: i64,
}

impl Ticks {
    /// Nanoseconds since 1970; `None` if they do not fit.
    pub(super) fn ns(self, ticks: &[u8]) -> Option<i64> {
        parse_scaled(ticks, self.unit_ns).filter(|ns| *ns >= 0)
    }

    /// Seconds since the origin.
    pub(super) fn seconds(self, ns: i64) -> f64 {
        let ns = ns.saturating_sub(self.origin_s.saturating_mul(1_000_000_000));
        if ns.unsigned_abs() < 1 << 53 {
            return ns as f64 / 1e9;
        }
        (ns / 1_000_000_000) as f64 + (ns % 1_000_000_000) as f64 / 1e9
    }
}
