//! Inner products of the columns of a fit, with each other, with the residuals, and with their derivatives.
//!
//! The columns are 1 and cos ωτ, which are even in τ, and sin ωτ, which is odd; even and odd are orthogonal. Products of
//! two of them, or of their derivatives τ sin ωτ and τ cos ωτ, are sums over the kernel at the difference and at the sum of
//! the two frequencies.

use std::f64::consts::TAU;

use super::cholesky::{Cholesky, Symmetric};
use super::kernel::{Kernel, Sums};

/// Added to the diagonal of the normal equations, relative to it, so that rounding cannot make them singular.
const RIDGE: f64 = 1e-12;

/// Inner products of the data x with columns and their derivatives, for each frequency.
#[derive(Debug, Clone)]
pub(super) struct Correlations {
    /// Σ x, then Σ x cos ωτ for each ω.
    pub even: Vec<f64>,
    /// Σ x sin ωτ.
    pub odd: Vec<f64>,
    /// Σ x τ cos ωτ and Σ x τ sin ωτ.
    pub tau: Vec<[f64; 2]>,
    /// Σ x τ² cos ωτ and Σ x τ² sin ωτ.
    pub tau2: Vec<[f64; 2]>,
}

/// Best amplitudes of the columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amplitudes {
    pub mean: f64,
    pub cos: Vec<f64>,
    pub sin: Vec<f64>,
}

/// How half the sum of squares changes with the frequencies (in radians per sample), amplitudes following.
pub(super) struct Curvature {
    pub gradient: Vec<f64>,
    pub hessian: Symmetric,
    /// Diagonal of the Gauss–Newton part of the Hessian, which cannot be negative.
    pub scale: Vec<f64>,
}

/// The inner products for one choice of frequencies.
pub(super) struct Gram {
    samples: f64,
    /// Sums at ω_i.
    single: Vec<Sums>,
    /// Sums at ω_i − ω_j and at ω_i + ω_j, i ≥ j.
    pairs: Vec<(Sums, Sums)>,
    even: Cholesky,
    odd: Cholesky,
}

impl Gram {
    /// `None` if a frequency is not finite.
    pub(super) fn new(kernel: &Kernel, omegas: &[f64], samples: f64) -> Option<Gram> {
        let single: Vec<Sums> = omegas.iter().map(|a| kernel.at(*a)).collect();
        let pair = |a: &f64, b: &f64| (kernel.at(a - b), kernel.at((a + b).min(TAU)));
        let pairs: Vec<(Sums, Sums)> =
            omegas.iter().enumerate().flat_map(|(i, a)| omegas[..=i].iter().map(move |b| pair(a, b))).collect();
        let even = Symmetric::from_fn(omegas.len() + 1, |i, j| match (i, j) {
            (0, _) => samples,
            (i, 0) => single[i - 1].cos,
            (i, j) => {
                let (difference, sum) = &pairs[(i - 1) * i / 2 + j - 1];
                0.5 * (sum.cos + difference.cos)
            }
        });
        let odd = Symmetric::from_fn(omegas.len(), |i, j| {
            let (difference, sum) = &pairs[i * (i + 1) / 2 + j];
            0.5 * (difference.cos - sum.cos)
        });
        let ridge = vec![RIDGE * samples; omegas.len() + 1];
        let (even, odd) = (even.cholesky(&ridge)?, odd.cholesky(&ridge)?);
        Some(Gram { samples, single, pairs, even, odd })
    }

    pub(super) fn amplitudes(&self, data: &Correlations) -> Amplitudes {
        let mut even = self.even.solve(&data.even).into_iter();
        let mean = even.next().unwrap_or(0.0);
        Amplitudes { mean, cos: even.collect(), sin: self.odd.solve(&data.odd) }
    }

    /// Sum of the squared residuals, up to rounding of Σ x², which is `squares`.
    pub(super) fn cost(&self, squares: f64, data: &Correlations, best: &Amplitudes) -> f64 {
        let even = [best.mean].into_iter().chain(best.cos.iter().copied()).zip(&data.even);
        let odd = best.sin.iter().copied().zip(&data.odd);
        let explained = even.chain(odd).map(|(a, b)| a * (b + RIDGE * self.samples * a)).sum::<f64>();
        squares - explained
    }

    /// Rise of the cost without each component: the square of each of its amplitudes over its variance.
    pub(super) fn explained(&self, best: &Amplitudes) -> Vec<f64> {
        let variance = |factor: &Cholesky, order: usize, i: usize| {
            let mut unit = vec![0.0; order];
            unit[i] = 1.0;
            factor.forward(&unit).iter().map(|y| y * y).sum::<f64>()
        };
        let m = self.single.len();
        let rise = |(i, (c, s)): (usize, (&f64, &f64))| {
            c * c / variance(&self.even, m + 1, i + 1) + s * s / variance(&self.odd, m, i)
        };
        best.cos.iter().zip(&best.sin).enumerate().map(rise).collect()
    }

    /// Gradient and Hessian of half the cost with the amplitudes eliminated: the Schur complement of their block in the
    /// full Hessian.
    pub(super) fn curvature(&self, data: &Correlations, best: &Amplitudes) -> Curvature {
        let m = self.single.len();
        let (cos, sin) = (&best.cos, &best.sin);
        let mut gradient = Vec::with_capacity(m);
        let mut bend = Vec::with_capacity(m);
        // Derivative of component i with respect to its frequency, v_i = τ (s cos ωτ − c sin ωτ), against the columns.
        let mut exact = Vec::with_capacity(m);
        let mut scale = Vec::with_capacity(m);
        for i in 0..m {
            let ([mut tau_cos, mut tau_sin], [mut tau2_cos, mut tau2_sin]) = (data.tau[i], data.tau2[i]);
            tau_sin -= best.mean * self.single[i].tau_sin;
            tau2_cos -= best.mean * self.single[i].tau2_cos;
            let mut even_row = vec![-cos[i] * self.single[i].tau_sin];
            let mut odd_row = Vec::with_capacity(m);
            for j in 0..m {
                let (difference, sum) = self.pair(i, j);
                // Σ τ sin ω_i τ cos ω_j τ and Σ τ cos ω_i τ sin ω_j τ.
                let sin_cos = 0.5 * (sum.tau_sin + difference.tau_sin);
                let cos_sin = 0.5 * (sum.tau_sin - difference.tau_sin);
                tau_sin -= cos[j] * sin_cos;
                tau_cos -= sin[j] * cos_sin;
                tau2_cos -= cos[j] * 0.5 * (sum.tau2_cos + difference.tau2_cos);
                tau2_sin -= sin[j] * 0.5 * (difference.tau2_cos - sum.tau2_cos);
                even_row.push(-cos[i] * sin_cos);
                odd_row.push(sin[i] * cos_sin);
            }
            // tau_cos and the others are inner products with the residuals now.
            gradient.push(cos[i] * tau_sin - sin[i] * tau_cos);
            bend.push(cos[i] * tau2_cos + sin[i] * tau2_sin);
            let explained = square(&self.even.forward(&even_row)) + square(&self.odd.forward(&odd_row));
            scale.push((self.derivatives(best, i, i) - explained).max(0.0));
            // The residuals bend the columns of the component itself.
            even_row[i + 1] += tau_sin;
            odd_row[i] -= tau_cos;
            let mut row = self.even.forward(&even_row);
            row.extend(self.odd.forward(&odd_row));
            exact.push(row);
        }
        let hessian = Symmetric::from_fn(m, |i, j| {
            let bend = if i == j { bend[i] } else { 0.0 };
            let explained: f64 = exact[i].iter().zip(&exact[j]).map(|(a, b)| a * b).sum();
            self.derivatives(best, i, j) + bend - explained
        });
        Curvature { gradient, hessian, scale }
    }

    /// Σ v_i v_j of the derivatives of two components with respect to their frequencies.
    fn derivatives(&self, best: &Amplitudes, i: usize, j: usize) -> f64 {
        let (difference, sum) = self.pair(i, j);
        0.5 * (best.cos[i] * best.cos[j] * (difference.tau2_cos - sum.tau2_cos)
            + best.sin[i] * best.sin[j] * (difference.tau2_cos + sum.tau2_cos))
    }

    /// Sums at ω_i − ω_j and at ω_i + ω_j.
    fn pair(&self, i: usize, j: usize) -> (Sums, Sums) {
        let (high, low) = (i.max(j), i.min(j));
        let (mut difference, sum) = self.pairs[high * (high + 1) / 2 + low];
        if i < j {
            difference.tau_sin = -difference.tau_sin;
        }
        (difference, sum)
    }
}

fn square(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum()
}
