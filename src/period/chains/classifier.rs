//! The classifier: which hypothesis is right, and with which probability.
//!
//! A small network (a linear part plus one layer of tanh units) gives every hypothesis a logit. It was trained as a
//! *competition*: in each trace the probability of hypothesis i is exp(z_i) / (1 + sum_j exp(z_j)), the 1 standing for
//! "none", and the weights maximise the probability of the right ones. Hypotheses that agree on the period add up, and
//! the logit of the winner, calibrated on traces the weights had not seen, is the confidence. Weights and recipe are data:
//! `weights.json`, made by `scripts/train_classifier.py`, described in `docs/confidence.md`.

use super::hypothesis::{FEATURES, Hypothesis, Kind};
use crate::period::chains::thresholds::LIMITS;
use serde::Deserialize;
use std::sync::OnceLock;

/// Trained numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Weights {
    /// Version of the recipe.
    #[serde(rename = "version")]
    _version: u32,
    features: Vec<String>,
    /// Features are standardised: (x - mean) / scale, then clipped.
    mean: Vec<f64>,
    scale: Vec<f64>,
    clip: f64,
    bias: f64,
    linear: Vec<f64>,
    /// One row per unit.
    hidden: Vec<Vec<f64>>,
    hidden_bias: Vec<f64>,
    output: Vec<f64>,
    /// Logit of the confidence = a + b pooled logit, first for the first period, then for further ones.
    calibration: [[f64; 2]; 2],
    /// Confidence from which a period is reported, first for the first period, then for further ones.
    pub answer: [f64; 2],
}

/// The weights in `weights.json`; `None` if that file does not fit the features, which a test rules out.
pub(crate) fn weights() -> Option<&'static Weights> {
    static WEIGHTS: OnceLock<Option<Weights>> = OnceLock::new();
    WEIGHTS
        .get_or_init(|| {
            let weights: Weights = serde_json::from_str(include_str!("weights.json")).ok()?;
            weights.fit_together().then_some(weights)
        })
        .as_ref()
}

impl Weights {
    fn fit_together(&self) -> bool {
        let n = FEATURES.len();
        let units = self.hidden.len();
        self.features == FEATURES
            && [&self.mean, &self.scale, &self.linear].iter().all(|v| v.len() == n)
            && self.hidden.iter().all(|row| row.len() == n)
            && self.hidden_bias.len() == units
            && self.output.len() == units
            && self.scale.iter().all(|&s| s > 0.0)
    }

    fn standardised(&self, features: &[f64; FEATURES.len()]) -> [f64; FEATURES.len()] {
        std::array::from_fn(|i| {
            let x = (features[i] - self.mean[i]) / self.scale[i];
            if x.is_nan() { 0.0 } else { x.clamp(-self.clip, self.clip) }
        })
    }

    fn logit(&self, x: &[f64; FEATURES.len()]) -> f64 {
        let dot = |w: &[f64]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        let hidden: f64 = self
            .hidden
            .iter()
            .zip(&self.hidden_bias)
            .zip(&self.output)
            .map(|((row, bias), out)| out * (dot(row) + bias).tanh())
            .sum();
        self.bias + dot(&self.linear) + hidden
    }

    /// Gives every hypothesis its logit, pools those that agree, and turns the result into a confidence.
    pub fn score(&self, hypotheses: &mut [Hypothesis], further: bool) {
        for h in hypotheses.iter_mut() {
            h.judged.logit = self.logit(&self.standardised(&h.features));
        }
        let mut order: Vec<(f64, f64)> = hypotheses.iter().map(|h| (h.period().ln(), h.judged.logit)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [a, b] = self.calibration[usize::from(further)];
        for h in hypotheses.iter_mut() {
            let t = h.period().ln();
            let from = order.partition_point(|o| o.0 <= t - LIMITS.agree);
            let to = order.partition_point(|o| o.0 < t + LIMITS.agree);
            let agreeing = &order[from.min(to)..to];
            let top = agreeing.iter().map(|o| o.1).fold(h.judged.logit, f64::max);
            h.judged.pooled = top + agreeing.iter().map(|o| (o.1 - top).exp()).sum::<f64>().max(f64::MIN_POSITIVE).ln();
            h.judged.confidence = h.regular() / (1.0 + (-(a + b * h.judged.pooled)).exp());
        }
    }
}

/// The winner: the period with the largest pooled logit, represented by its strongest hypothesis.
pub(crate) fn winner(hypotheses: &[Hypothesis]) -> Option<usize> {
    winner_of(hypotheses, &(0..hypotheses.len()).collect::<Vec<_>>())
}

/// The same among some of the hypotheses.
pub(crate) fn winner_of(hypotheses: &[Hypothesis], some: &[usize]) -> Option<usize> {
    let top = some.iter().map(|&i| hypotheses[i].judged.pooled).fold(f64::NEG_INFINITY, f64::max);
    some.iter()
        .copied()
        .filter(|&i| hypotheses[i].judged.pooled > top - LIMITS.close)
        .reduce(|a, b| if represents(&hypotheses[b]) > represents(&hypotheses[a]) { b } else { a })
}

/// Bursts give better onsets than a modulation with the same period.
fn represents(h: &Hypothesis) -> f64 {
    if h.kind == Kind::Modulation { h.judged.logit - LIMITS.modulation_handicap } else { h.judged.logit }
}

/// The best hypothesis that competes with the winner: another period.
pub(crate) fn runner_up(hypotheses: &[Hypothesis], winner: usize) -> Option<&Hypothesis> {
    let t = hypotheses[winner].period();
    hypotheses
        .iter()
        .filter(|h| (h.period() / t).ln().abs() >= LIMITS.agree)
        .reduce(|a, b| if b.judged.pooled > a.judged.pooled { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_fit_the_features() {
        assert!(weights().is_some());
    }
}
