//! Two-sided cumulative sums of standard scores, self-starting: mean and spread come from the values before, each score is
//! turned into a standard normal one (Hawkins, Self-starting CUSUM charts for location and scale, The Statistician 36, 1987).

use serde::{Deserialize, Serialize};

use super::Method;
use super::baseline::Baseline;

/// Half the shift, in standard deviations, for which the sums are fastest.
const REFERENCE: f64 = 1.5;
/// A change is noticed above this. By Siegmund's approximation, a false alarm in 10⁷ normal values.
const DECISION: f64 = 5.0;
/// No score counts for more: two values reach the decision, one alone brings no more than half of it.
const CLIP: f64 = REFERENCE + 0.55 * DECISION;
/// A value further off waits until the next one says whether it was odd.
const ODD: f64 = 3.0;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cusum {
    baseline: Baseline,
    up: Sum,
    down: Sum,
    held: Option<f64>,
}

/// A one-sided sum, and the values since it was last 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sum {
    pub(super) sum: f64,
    values: usize,
}

impl Sum {
    /// Adds, not below 0; the number of values since the sum was 0 if it is above `decision`.
    pub(super) fn add(&mut self, increment: f64, decision: f64) -> Option<usize> {
        self.sum = (self.sum + increment).max(0.0);
        self.values = if self.sum > 0.0 { self.values.saturating_add(1) } else { 0 };
        (self.sum > decision).then_some(self.values)
    }
}

impl Method for Cusum {
    fn observe(&mut self, x: f64) -> Option<usize> {
        let score = self.baseline.score(x).clamp(-CLIP, CLIP);
        let up = self.up.add(score - REFERENCE, DECISION);
        let down = self.down.add(-score - REFERENCE, DECISION);
        if let Some(n) = up.or(down) {
            return Some(n);
        }
        if let Some(odd) = self.held.take() {
            self.baseline.learn_odd(odd);
        }
        if score.abs() > ODD {
            self.held = Some(x);
        } else {
            self.baseline.learn(x);
        }
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
    fn sums_are_those_of_the_definition() {
        let mut s = Sum::default();
        assert_eq!(s.add(1.0, 2.0), None);
        assert_eq!(s.add(-3.0, 2.0), None);
        assert_eq!((s.sum, s.values), (0.0, 0));
        assert_eq!(s.add(1.5, 2.0), None);
        assert_eq!(s.add(-0.5, 2.0), None);
        assert_eq!(s.add(1.5, 2.0), Some(3));
    }

    #[test]
    fn the_change_is_where_the_sum_began() {
        let mut m = Cusum::default();
        (0..20).for_each(|_| assert_eq!(m.observe(1.0), None));
        assert_eq!(m.observe(1.5), None);
        assert_eq!(m.observe(1.5), Some(2));
    }
}
