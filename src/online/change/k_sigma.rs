//! Two values in a row more than k standard deviations off, on the same side.

use serde::{Deserialize, Serialize};

use super::Method;
use super::baseline::Baseline;

/// k. Two in a row on one side: one in 10⁸ normal values, if mean and spread were known; more while they are learned.
const K: f64 = 3.8;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct KSigma {
    baseline: Baseline,
    /// The value before, if it was off, with its score.
    held: Option<(f64, f64)>,
}

impl Method for KSigma {
    fn observe(&mut self, x: f64) -> Option<usize> {
        let score = self.baseline.score(x);
        let held = self.held.take();
        if score.abs() <= K {
            if let Some((odd, _)) = held {
                self.baseline.learn_odd(odd);
            }
            self.baseline.learn(x);
            return None;
        }
        match held {
            Some((_, before)) if before * score > 0.0 => return Some(2),
            Some((odd, _)) => self.baseline.learn_odd(odd),
            None => {}
        }
        self.held = Some((x, score));
        None
    }

    fn begin(&mut self, x: f64) {
        self.baseline.learn(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_odd_value_is_no_change_two_are() {
        let mut m = KSigma::default();
        (0..8).for_each(|_| assert_eq!(m.observe(1.0), None));
        assert_eq!(m.observe(2.0), None);
        assert_eq!(m.observe(1.0), None);
        assert_eq!(m.observe(2.0), None);
        assert_eq!(m.observe(2.0), Some(2));
    }

    #[test]
    fn odd_values_on_two_sides_are_no_change() {
        let mut m = KSigma::default();
        (0..8).for_each(|_| assert_eq!(m.observe(1.0), None));
        // A burst that comes a whole period late: one long interval, then one short.
        assert_eq!(m.observe(1.6), None);
        assert_eq!(m.observe(0.2), None);
        assert_eq!(m.observe(1.0), None);
    }
}
