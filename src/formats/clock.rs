//! Where the times of a trace begin.

use super::thresholds::LIMITS;

/// The origin for a trace whose first stamp is `first`: 0 for a clock that starts with the job, else whole seconds, so that what
/// remains keeps its digits in an `f64`. A stamp beyond the exact integers is no time and moves nothing.
pub fn origin_of(first: f64) -> i64 {
    if (LIMITS.foreign_clock_s..2f64.powi(53)).contains(&first.abs()) { first.floor() as i64 } else { 0 }
}
