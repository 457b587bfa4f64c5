//! Level and spread of the regime so far, for methods that measure how far off a value is.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc_inv;

/// Standard deviation (of the logarithm: 0.07 is 7 %) that is assumed before anything is known, ...
const PRIOR_SD: f64 = 0.07;
/// ... and how many values that assumption is worth.
const PRIOR_VALUES: f64 = 3.0;
/// No regime is steadier than this: 2 %. Without it, the first late timer after a thousand equal intervals would be a change.
const FLOOR_SD: f64 = 0.02;
/// Values further off than this many standard deviations are learned as if they were that far off.
const WINSOR: f64 = 3.0;
/// Scores are clipped here: the tail of the distribution adds nothing.
const MAX_SCORE: f64 = 8.0;

/// Running mean and sum of squares (Welford 1962) with a prior for the variance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Baseline {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Baseline {
    pub(super) fn len(&self) -> f64 {
        self.n
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn learn(&mut self, x: f64) {
        self.n += 1.0;
        let d = x - self.mean;
        self.mean += d / self.n;
        self.squares += d * (x - self.mean);
    }

    /// Learns a value that was found odd and then turned out to be alone: no further off than [`WINSOR`].
    pub(super) fn learn_odd(&mut self, x: f64) {
        let reach = WINSOR * self.spread();
        self.learn(x.clamp(self.mean - reach, self.mean + reach));
    }

    fn freedom(&self) -> f64 {
        PRIOR_VALUES + (self.n - 1.0).max(0.0)
    }

    /// Standard deviation.
    pub(super) fn spread(&self) -> f64 {
        let variance = (PRIOR_VALUES * PRIOR_SD * PRIOR_SD + self.squares) / self.freedom();
        variance.sqrt().max(FLOOR_SD)
    }

    /// How far off the next value is, as a standard normal score: Student's t of the value under mean and spread so far,
    /// turned into the normal number with the same tail (Hawkins 1987). 0 before three values are known.
    pub(super) fn score(&self, x: f64) -> f64 {
        if self.n < 3.0 {
            return 0.0;
        }
        let t = (x - self.mean) / (self.spread() * (1.0 + 1.0 / self.n).sqrt());
        two_sided(t, self.freedom()).copysign(t)
    }
}

/// The absolute standard normal score with the two-sided tail of `t` under `freedom` degrees of freedom.
fn two_sided(t: f64, freedom: f64) -> f64 {
    let tail = StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |d| 2.0 * d.sf(t.abs()));
    let score = std::f64::consts::SQRT_2 * erfc_inv(tail.clamp(1e-300, 1.0));
    if score.is_finite() { score.min(MAX_SCORE) } else { MAX_SCORE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_student() {
        // t = 2.262 is the 97.5 % point at 9 degrees of freedom, 1.96 that of the normal.
        assert!((two_sided(2.262_157, 9.0) - 1.959_964).abs() < 1e-5);
        assert!((two_sided(-2.262_157, 9.0) - 1.959_964).abs() < 1e-5);
        assert_eq!(two_sided(1e30, 5.0), MAX_SCORE);
        assert!(two_sided(0.0, 5.0).abs() < 1e-9);
    }

    #[test]
    fn spread_is_between_prior_and_sample() {
        let mut b = Baseline::default();
        [1.0, 1.2, 0.8].into_iter().for_each(|x| b.learn(x));
        let expected = ((3.0 * 0.0049 + 0.08) / 5.0f64).sqrt();
        assert!((b.spread() - expected).abs() < 1e-12);
        assert!((b.mean() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn constant_regimes_keep_the_floor() {
        let mut b = Baseline::default();
        (0..10_000).for_each(|_| b.learn(1.5));
        assert_eq!(b.spread(), FLOOR_SD);
    }
}
