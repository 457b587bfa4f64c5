//! The ranges of times and amounts that every reader upholds, so that sums, products and squares in the analyses stay finite.

/// Largest time in seconds before or after the zero of a clock: 31,700 years.
pub(crate) const MOST_TIME_S: f64 = 1e12;

/// Largest number of bytes of one row: what an unsigned integer of 64 bits holds.
const MOST_BYTES: f64 = u64::MAX as f64;

/// True for a time that a row may have. NaN is none.
#[inline]
pub(crate) fn is_time(seconds: f64) -> bool {
    seconds.abs() <= MOST_TIME_S
}

/// True for the bytes that a row may have. NaN is none.
#[inline]
pub(crate) fn is_amount(bytes: f64) -> bool {
    (0.0..=MOST_BYTES).contains(&bytes)
}

/// Bytes of a row, at most: 1 PiB.
pub(crate) const MOST_SIZE: u64 = 1 << 50;
/// Bytes of all rows of a trace, and sum of the values of a counter, at most: 4 EiB. Sums of a few such sums do not overflow.
pub(crate) const MOST_MOVED: u64 = 1 << 62;

/// The number, or 0 if it is negative. NaN stays what it is, so that it is seen to be no amount; `max` makes it 0.
#[inline]
pub(crate) fn not_negative(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_out_of_range() {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1e12, -f64::MAX] {
            assert!(!is_time(x), "{x}");
        }
        assert!([0.0, -1e12, 1.8e9].into_iter().all(is_time));
        assert!([0.0, 1.0, u64::MAX as f64].into_iter().all(is_amount));
        assert!(![-1.0, 2e19, f64::NAN, f64::INFINITY].into_iter().any(is_amount));
        assert_eq!([-1.0, 0.0, 2.0].map(not_negative), [0.0, 0.0, 2.0]);
        assert!(!is_amount(not_negative(f64::NAN)));
    }
}
