//! The learned classifier: a feed-forward network that judges up to 24 accesses (Madhyastha & Reed 1997, section 3.2).
//!
//! It needs no history. One layer of 40 tanh units looks at [`features`], which are shares and ratios; a softmax gives the
//! probabilities of the classes of sequentiality. One more output is for accesses that hold the end of one walk and the
//! beginning of another: no class is then certain. Weights are data: `weights.json`, made by
//! `scripts/train_access_network.py` from the windows that `examples/access_windows.rs` draws.

mod features;

use std::sync::LazyLock;

use serde::Deserialize;

use super::access::Access;
use super::lattice::{Axis, Sequentiality};
use features::{Feature, features};

/// Outputs: the local classes, and "two of them, one after the other".
const WALKS: usize = Sequentiality::ALL.len() + 1;

/// Trained numbers. Each row is a unit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weights {
    features: Vec<String>,
    mean: Vec<f64>,
    scale: Vec<f64>,
    hidden: Vec<Vec<f64>>,
    hidden_bias: Vec<f64>,
    walk: Vec<Vec<f64>>,
    walk_bias: Vec<f64>,
}

/// `None` if the file does not fit the features, which a test rules out.
static WEIGHTS: LazyLock<Option<Weights>> =
    LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).ok().filter(Weights::fit_together));

/// The most probable class of two accesses or more, and its probability.
pub(crate) fn vote(accesses: &[Access], stripe: u64) -> Option<(Sequentiality, f64)> {
    if accesses.len() < 2 {
        return None;
    }
    WEIGHTS.as_ref().map(|w| w.vote(&features(accesses, stripe)))
}

/// Names and values of the features of one access or more, given as (write, offset, size), for training.
pub fn training_features(accesses: &[(bool, u64, u64)], stripe: u64) -> Vec<(&'static str, f64)> {
    let access = |&(write, offset, size): &_| Access { write, offset, size, start: 0.0, end: 0.0 };
    features(&accesses.iter().map(access).collect::<Vec<_>>(), stripe).to_vec()
}

impl Weights {
    fn fit_together(&self) -> bool {
        let (n, units) = (self.features.len(), self.hidden.len());
        let access = Access { write: false, offset: 0, size: 1, start: 0.0, end: 0.0 };
        self.features == features(&[access], 1).map(|f| f.0)
            && self.mean.len() == n
            && self.scale.len() == n
            && self.scale.iter().all(|s| *s > 0.0)
            && self.hidden.iter().all(|r| r.len() == n)
            && self.hidden_bias.len() == units
            && self.walk.len() == WALKS
            && self.walk_bias.len() == WALKS
            && self.walk.iter().all(|r| r.len() == units)
    }

    fn vote(&self, features: &[Feature]) -> (Sequentiality, f64) {
        let standard = features.iter().zip(&self.mean).zip(&self.scale).map(|((f, mean), scale)| (f.1 - mean) / scale);
        let x: Vec<f64> = standard.collect();
        let layer = |rows: &[Vec<f64>], bias: &[f64], x: &[f64]| -> Vec<f64> {
            rows.iter().zip(bias).map(|(row, bias)| dot(row, x) + bias).collect()
        };
        let hidden: Vec<f64> = layer(&self.hidden, &self.hidden_bias, &x).into_iter().map(f64::tanh).collect();
        let walk = layer(&self.walk, &self.walk_bias, &hidden);
        let top = walk.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = walk.iter().map(|z| (z - top).exp()).sum();
        let best = (0..WALKS - 1).fold(0, |best, i| if walk[i] > walk[best] { i } else { best });
        (Sequentiality::ALL[best], (walk[best] - top).exp() / sum)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_belong_to_the_features() {
        assert!(WEIGHTS.is_some());
    }

    #[test]
    fn size_and_place_do_not_matter() {
        let walk = |scale: u64, shift: u64| {
            let all: Vec<_> = (0..11).map(|i| (false, shift + scale * (i * 7 + i / 4 * 100), scale * 4)).collect();
            training_features(&all, u64::MAX).into_iter().map(|f| f.1)
        };
        // the longest step is compared with one byte more than the middle one: steps of a few bytes feel that
        let apart = walk(100, 0).zip(walk(100_000, 1 << 40)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 0.01, "{apart}");
    }
}
