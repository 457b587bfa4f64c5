//! Bayesian online change-point detection (Adams and MacKay, arXiv:0710.3742, 2007): how probable it is, for every number of
//! values, that the regime began that many values ago.
//!
//! Each run of values is normal with unknown mean and variance under a normal-inverse-gamma prior; the next value then
//! follows Student's t (their section 3.2; Murphy 2007, equation 110). A value may also be an outlier, of which nothing is
//! learned: without that, a burst that was missed would begin a regime.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use super::{MEMORY, Method};

/// Chance that a regime ends at a value.
const HAZARD: f64 = 1.0 / 500.0;
/// Chance that a value is an outlier, and the density of outliers: even over ten units of the logarithm.
const OUTLIER: f64 = 0.02;
const OUTLIER_DENSITY: f64 = 0.1;
/// Prior of a regime: spread around 7 %, level within a factor e or so of the first value seen.
const KAPPA: f64 = 0.005;
const ALPHA: f64 = 2.0;
const BETA: f64 = 0.01;
/// No regime is predicted more closely than this: 2 %.
const FLOOR_SD: f64 = 0.02;
/// A change is noticed when it is this probable, one within the last two values left out.
const SURE: f64 = 0.995;
/// A change that needs more values than this to be certain is drift.
const LONGEST_NEW: usize = 64;
/// Runs less probable are forgotten.
const NEGLIGIBLE: f64 = 1e-9;

/// A possible regime: the last `length` values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RunLength {
    length: usize,
    probability: f64,
    mean: f64,
    kappa: f64,
    alpha: f64,
    beta: f64,
}

impl RunLength {
    fn new(probability: f64, level: f64) -> RunLength {
        RunLength { length: 0, probability, mean: level, kappa: KAPPA, alpha: ALPHA, beta: BETA }
    }

    /// Density of the next value, outliers left out.
    fn density(&self, x: f64) -> f64 {
        let scale = (self.beta * (self.kappa + 1.0) / (self.alpha * self.kappa)).sqrt().max(FLOOR_SD);
        student(2.0 * self.alpha, (x - self.mean) / scale) / scale
    }

    /// Takes a value in; gives its density.
    fn take(&mut self, x: f64) -> f64 {
        let (inlier, outlier) = ((1.0 - OUTLIER) * self.density(x), OUTLIER * OUTLIER_DENSITY);
        // Learned by as much as it is no outlier.
        let share = inlier / (inlier + outlier);
        let d = x - self.mean;
        self.beta += self.kappa * share * d * d / (2.0 * (self.kappa + share));
        self.mean += share * d / (self.kappa + share);
        self.kappa += share;
        self.alpha += share / 2.0;
        self.length = self.length.saturating_add(1);
        inlier + outlier
    }
}

/// Density of Student's t.
fn student(freedom: f64, t: f64) -> f64 {
    let log = ln_gamma((freedom + 1.0) / 2.0)
        - ln_gamma(freedom / 2.0)
        - 0.5 * (freedom * std::f64::consts::PI).ln()
        - (freedom + 1.0) / 2.0 * (t * t / freedom).ln_1p();
    log.exp()
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Bayesian {
    values: usize,
    level: f64,
    runs: Vec<RunLength>,
}

impl Bayesian {
    /// Their algorithm 1, steps 3 to 8, with the improbable runs left out.
    fn update(&mut self, x: f64) {
        if self.values == 0 {
            self.level = x;
            self.runs = vec![RunLength::new(1.0, x)];
        }
        self.values = self.values.saturating_add(1);
        for run in &mut self.runs {
            run.probability *= run.take(x);
        }
        let evidence: f64 = self.runs.iter().map(|r| r.probability).sum();
        if !(evidence.is_finite() && evidence > 0.0) {
            *self = Bayesian::default();
            return;
        }
        for run in &mut self.runs {
            run.probability *= (1.0 - HAZARD) / evidence;
        }
        self.runs.retain(|r| r.probability > NEGLIGIBLE);
        if self.runs.len() >= MEMORY {
            self.runs.sort_by(|a, b| b.probability.total_cmp(&a.probability));
            self.runs.truncate(MEMORY - 1);
        }
        self.runs.push(RunLength::new(HAZARD, self.level));
    }
}

impl Method for Bayesian {
    fn observe(&mut self, x: f64) -> Option<usize> {
        self.update(x);
        // A regime of one value could be an outlier; one that lacks only the first or second of all values is the old one.
        let longest = LONGEST_NEW.min(self.values.saturating_sub(2));
        let newer = || self.runs.iter().filter(|r| (2..=longest).contains(&r.length));
        let all: f64 = self.runs.iter().filter(|r| r.length >= 2).map(|r| r.probability).sum();
        let probability: f64 = newer().map(|r| r.probability).sum();
        if probability < SURE * all {
            return None;
        }
        newer().max_by(|a, b| a.probability.total_cmp(&b.probability)).map(|r| r.length)
    }

    fn begin(&mut self, x: f64) {
        self.update(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_is_students() {
        // Cauchy, and the published density of t with 5 degrees of freedom at 0: 8 / (3 pi sqrt 5).
        assert!((student(1.0, 1.0) - 0.5 / std::f64::consts::PI).abs() < 1e-12);
        assert!((student(5.0, 0.0) - 8.0 / (3.0 * std::f64::consts::PI * 5f64.sqrt())).abs() < 1e-12);
    }

    #[test]
    fn runs_hold_the_posterior_of_their_values() {
        // Murphy 2007, equations 85 to 89, for three values at once; shares below 1 by what might be an outlier.
        let values = [0.3, 0.35, 0.25];
        let mut run = RunLength::new(1.0, 0.3);
        values.iter().for_each(|&x| _ = run.take(x));
        let (kappa, alpha) = (KAPPA + 3.0, ALPHA + 1.5);
        let beta = BETA + 0.5 * 0.005;
        assert!((run.mean - 0.3).abs() < 1e-3);
        assert!((run.kappa - kappa).abs() < 0.02 && (run.alpha - alpha).abs() < 0.01);
        assert!((run.beta - beta).abs() < 1e-4);
    }

    #[test]
    fn probabilities_sum_to_one_and_runs_are_bounded() {
        let mut m = Bayesian::default();
        for i in 0..2000 {
            m.update(1.0 + 0.1 * f64::from(i * 7919 % 101) / 101.0);
            let sum: f64 = m.runs.iter().map(|r| r.probability).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{i}: {sum}");
            assert!(m.runs.len() <= MEMORY);
        }
    }
}
