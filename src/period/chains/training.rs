//! Dump of the classifier's inputs, for `scripts/train_classifier.py`.

use super::hypothesis::FEATURES;
use super::{Options, classifier, iterations};
use crate::signal::profile::Profile;

/// The hypotheses of one iteration, as plain numbers.
#[derive(Debug, serde::Serialize)]
pub struct TrainingRound {
    /// Periods and windows (relative to the first start) that earlier rounds have taken.
    pub taken: Vec<(f64, Vec<(f64, f64)>)>,
    /// Index of the winner.
    pub winner: usize,
    /// Whether it was sure enough.
    pub accepted: bool,
    /// Period, window and features of every hypothesis.
    pub hypotheses: Vec<(f64, (f64, f64), Vec<f32>)>,
}

/// The hypotheses of every round, for `scripts/train_classifier.py`.
pub fn training_rounds(profile: &Profile, options: Options) -> Vec<TrainingRound> {
    let mut out = Vec::new();
    if let Some(weights) = classifier::weights() {
        iterations::run(profile, weights, options, &mut |round| {
            out.push(TrainingRound {
                taken: round.before.iter().map(|t| (t.period, t.windows.clone())).collect(),
                winner: round.winner,
                accepted: !round.accepted.is_empty(),
                hypotheses: round
                    .hypotheses
                    .iter()
                    .map(|h| (h.period(), h.window, h.features.iter().map(|&x| x as f32).collect()))
                    .collect(),
            });
        });
    }
    out
}

/// Names of the features of [`TrainingRound`].
pub fn feature_names() -> &'static [&'static str] {
    &FEATURES
}
