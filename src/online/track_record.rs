//! How the predictions of a job have done so far, and what the next one may claim for it.
//!
//! Each burst is compared with the last prediction before it. The errors widen the standard deviation of the next start. The share of
//! bursts that began within their windows is the probability of the next window, by the rule of succession.

use super::trigger::TICK;
use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Half the width of a window in standard deviations, and the probability that a normal deviate is in it.
const WINDOW: (f64, f64) = (1.645, 0.9);
/// Predictions that wait for their burst; of more, the oldest go.
const WAITING: usize = 16;

/// The claim of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// Start of the next burst and its standard deviation, seconds.
    pub(super) start_s: f64,
    pub(super) std_s: f64,
    pub(super) period_s: f64,
}

/// See the module.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct TrackRecord {
    /// The latest predictions, with the time of each.
    waiting: VecDeque<(f64, Claim)>,
    /// For each burst the error in seconds of the last prediction before it, if that was of this burst, and whether its window held.
    errors: VecDeque<(Option<f64>, bool)>,
}

impl TrackRecord {
    /// Takes the start of a burst, in the order of time.
    pub(super) fn burst(&mut self, start_s: f64) {
        let before = self.waiting.partition_point(|(made_s, _)| *made_s <= start_s);
        let Some((_, claim)) = self.waiting.drain(..before).next_back() else { return };
        while self.errors.len() >= LIMITS.recent {
            self.errors.pop_front();
        }
        let error_s = start_s - claim.start_s;
        // another burst than the predicted one says nothing of the spread
        let near = Some(error_s).filter(|e| e.abs() <= LIMITS.expected_most * claim.period_s);
        self.errors.push_back((near, error_s.abs() <= WINDOW.0 * claim.std_s));
    }

    /// Widens the claim by the errors so far, remembers it, and gives the probability that the burst begins within its window.
    pub(super) fn claim(&mut self, now_s: f64, claim: &mut Claim, confidence: f64) -> f64 {
        let near = || self.errors.iter().filter_map(|e| e.0);
        let (own, seen) = (LIMITS.record_prior, near().count() as f64);
        let variance = (own * claim.std_s.powi(2) + near().map(|e| e * e).sum::<f64>()) / (own + seen);
        claim.std_s = claim.std_s.max(variance.sqrt()).max(TICK);
        while self.waiting.len() >= WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((now_s, *claim));
        let held = self.errors.iter().filter(|e| e.1).count() as f64;
        (own * WINDOW.1 * confidence + held) / (own + self.errors.len() as f64)
    }

    /// The period has changed: nothing before counts.
    pub(super) fn clear(&mut self) {
        *self = TrackRecord::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Standard deviation and probability of the next window after twenty bursts, each so many seconds later than predicted.
    fn after(late_s: f64) -> (f64, f64) {
        let mut record = TrackRecord::default();
        let mut next = |start_s: f64| {
            let mut claim = Claim { start_s, std_s: 0.1, period_s: 10.0 };
            let probability = record.claim(start_s - 9.0, &mut claim, 1.0);
            record.burst(start_s + late_s);
            (claim.std_s, probability)
        };
        (1..=21).map(|n| next(10.0 * f64::from(n))).last().unwrap_or_default()
    }

    #[test]
    fn errors_widen_the_window_until_it_holds() {
        let (std_s, probability) = after(0.0);
        assert!((std_s - 0.1).abs() < 1e-12 && probability > 0.95, "{std_s} {probability}");
        let (std_s, probability) = after(0.5);
        assert!((0.4..0.5).contains(&std_s) && (0.7..0.9).contains(&probability), "{std_s} {probability}");
    }

    #[test]
    fn another_burst_does_not_widen_the_window_but_was_not_in_it() {
        let (std_s, probability) = after(5.0);
        assert!((std_s - 0.1).abs() < 1e-12 && probability < 0.3, "{std_s} {probability}");
    }
}
