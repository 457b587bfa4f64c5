//! The network of `weights.json`: one layer of tanh units and three heads of probabilities.

use std::sync::OnceLock;

use serde::Deserialize;

use super::super::access::Access;
use super::super::lattice::{Axis, Mix, Sequentiality, Size};
use super::features::{self, FEATURES};

/// Answers on sequentiality: the local classes, and "two of them, one after the other".
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
    mix: Vec<Vec<f64>>,
    mix_bias: Vec<f64>,
    walk: Vec<Vec<f64>>,
    walk_bias: Vec<f64>,
    size: Vec<Vec<f64>>,
    size_bias: Vec<f64>,
}

/// The network's answer to a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowJudgment {
    pub mix: Mix,
    pub size: Size,
    /// Probabilities of the walks, in the order of [`Sequentiality::ALL`], and of a change.
    walks: [f64; WALKS],
}

impl WindowJudgment {
    /// The most probable walk; `None` is a change.
    pub fn walk(&self) -> Option<Sequentiality> {
        let best = largest(&self.walks);
        Sequentiality::ALL.get(best).copied()
    }

    /// The most probable walk if there is no change, and its probability.
    pub fn unbroken(&self) -> (Sequentiality, f64) {
        let best = largest(&self.walks[..WALKS - 1]);
        (Sequentiality::ALL[best], self.walks[best])
    }

    /// Probability of a walk.
    pub fn of(&self, walk: Sequentiality) -> f64 {
        Sequentiality::ALL.iter().position(|w| *w == walk).map_or(0.0, |i| self.walks[i])
    }
}

/// The network of `weights.json`; `None` if that file does not fit the features, which a test rules out.
fn weights() -> Option<&'static Weights> {
    static WEIGHTS: OnceLock<Option<Weights>> = OnceLock::new();
    WEIGHTS
        .get_or_init(|| {
            let weights: Weights = serde_json::from_str(include_str!("weights.json")).ok()?;
            weights.fit_together().then_some(weights)
        })
        .as_ref()
}

/// Judges two accesses or more, the last [`features::MOST`] of them.
pub(crate) fn judge(accesses: &[Access], stripe: u64) -> Option<WindowJudgment> {
    if accesses.len() < 2 {
        return None;
    }
    weights().map(|w| w.judge(&features::features(accesses, stripe)))
}

/// The likeliest order of accesses that have one order, and its probability.
pub(crate) fn vote(accesses: &[Access], stripe: u64) -> Option<(Sequentiality, f64)> {
    judge(accesses, stripe).map(|j| j.unbroken())
}

/// Features of accesses given as (write, offset, size), for training; with their names.
pub fn training_features(accesses: &[(bool, u64, u64)], stripe: u64) -> (&'static [&'static str], Vec<f64>) {
    let all: Vec<Access> =
        accesses.iter().map(|&(write, offset, size)| Access { write, offset, size, start: 0.0, end: 0.0 }).collect();
    let values = if all.len() < 2 { Vec::new() } else { features::features(&all, stripe).to_vec() };
    (&FEATURES, values)
}

impl Weights {
    fn fit_together(&self) -> bool {
        let (n, units) = (FEATURES.len(), self.hidden.len());
        let head = |rows: &[Vec<f64>], bias: &[f64], answers: usize| {
            rows.len() == answers && bias.len() == answers && rows.iter().all(|r| r.len() == units)
        };
        self.features == FEATURES
            && self.mean.len() == n
            && self.scale.len() == n
            && self.scale.iter().all(|s| *s > 0.0)
            && self.hidden.iter().all(|r| r.len() == n)
            && self.hidden_bias.len() == units
            && head(&self.mix, &self.mix_bias, Mix::ALL.len())
            && head(&self.walk, &self.walk_bias, WALKS)
            && head(&self.size, &self.size_bias, Size::ALL.len())
    }

    fn judge(&self, features: &[f64; FEATURES.len()]) -> WindowJudgment {
        let x: [f64; FEATURES.len()] = std::array::from_fn(|i| (features[i] - self.mean[i]) / self.scale[i]);
        let hidden: Vec<f64> =
            self.hidden.iter().zip(&self.hidden_bias).map(|(row, bias)| (dot(row, &x) + bias).tanh()).collect();
        let head = |rows: &[Vec<f64>], bias: &[f64]| -> Vec<f64> {
            rows.iter().zip(bias).map(|(row, bias)| dot(row, &hidden) + bias).collect()
        };
        let (mix, size) = (head(&self.mix, &self.mix_bias), head(&self.size, &self.size_bias));
        let walk = head(&self.walk, &self.walk_bias);
        let top = walk.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = walk.iter().map(|z| (z - top).exp()).sum();
        WindowJudgment {
            mix: Mix::ALL[largest(&mix)],
            size: Size::ALL[largest(&size)],
            walks: std::array::from_fn(|i| (walk[i] - top).exp() / sum),
        }
    }
}

/// Four sums side by side, so that they need not wait for each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (&a[..a.len().min(b.len())], &b[..a.len().min(b.len())]);
    let mut sums = [0.0; 4];
    for (x, y) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        (0..4).for_each(|k| sums[k] += x[k] * y[k]);
    }
    let rest = a.len() / 4 * 4;
    sums.iter().sum::<f64>() + a[rest..].iter().zip(&b[rest..]).map(|(x, y)| x * y).sum::<f64>()
}

fn largest(all: &[f64]) -> usize {
    (0..all.len()).fold(0, |best, i| if all[i] > all[best] { i } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_belong_to_the_features() {
        assert!(weights().is_some());
    }

    #[test]
    fn size_and_place_do_not_matter() {
        let walk = |scale: u64, shift: u64| -> Vec<f64> {
            let all: Vec<_> = (0..11).map(|i| (false, shift + scale * (i * 7 + i / 4 * 100), scale * 4)).collect();
            training_features(&all, u64::MAX).1
        };
        // the longest step is compared with one byte more than the middle one: steps of a few bytes feel that
        let apart = walk(100, 0).iter().zip(walk(100_000, 1 << 40)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 0.01, "{apart}");
    }
}
