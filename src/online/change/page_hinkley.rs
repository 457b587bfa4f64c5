//! Page-Hinkley test, two-sided: the cumulated deviation from the running mean, less an allowance, against its minimum.
//!
//! It measures no spread: the allowance and the threshold are shares of the level, so that it is ready at once, and blind to
//! shifts below the allowance however small the jitter is.

use serde::{Deserialize, Serialize};

use super::Method;
use super::baseline::Baseline;
use super::cusum::Sum;

/// δ: deviation that is tolerated, of the logarithm (15 %).
const ALLOWANCE: f64 = 0.15;
/// λ: a change is noticed above this. With 10 % normal jitter, a false alarm in 10⁷ values.
const THRESHOLD: f64 = 0.5;
/// No value counts for more: two reach the threshold, one alone brings no more than half of it.
const CLIP: f64 = 0.55 * THRESHOLD;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PageHinkley {
    baseline: Baseline,
    up: Sum,
    down: Sum,
}

impl Method for PageHinkley {
    fn observe(&mut self, x: f64) -> Option<usize> {
        // The mean of the values before, so that a value does not hide itself.
        if self.baseline.len() < 3.0 {
            self.baseline.learn(x);
            return None;
        }
        let deviation = x - self.baseline.mean();
        let up = self.up.add((deviation - ALLOWANCE).min(CLIP), THRESHOLD);
        let down = self.down.add((-deviation - ALLOWANCE).min(CLIP), THRESHOLD);
        if up.is_none() && down.is_none() {
            let reach = ALLOWANCE + CLIP;
            self.baseline.learn(self.baseline.mean() + deviation.clamp(-reach, reach));
        }
        up.or(down)
    }

    fn begin(&mut self, x: f64) {
        self.baseline.learn(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_definition() {
        let mut m = PageHinkley::default();
        (0..9).for_each(|_| assert_eq!(m.observe(0.0), None));
        assert_eq!(m.observe(0.4), None);
        assert!((m.up.sum - 0.25).abs() < 1e-12);
        // The mean is 0.04 by now.
        assert_eq!(m.observe(0.3), None);
        assert!((m.up.sum - (0.25 + 0.26 - 0.15)).abs() < 1e-12);
        assert_eq!(m.observe(0.5), Some(3));
    }

    #[test]
    fn shifts_below_the_allowance_are_not_seen() {
        let mut m = PageHinkley::default();
        (0..50).for_each(|_| assert_eq!(m.observe(0.0), None));
        (0..1000).for_each(|_| assert_eq!(m.observe(0.14), None));
    }
}
