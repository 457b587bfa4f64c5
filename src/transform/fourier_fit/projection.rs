//! Cosines of given frequencies fitted to a signal, and how the error changes with the frequencies.
//!
//! With the frequencies ω fixed, the best amplitudes of cos ω_i t and sin ω_i t follow from linear least squares, so only
//! the frequencies are left to be sought: variable projection (Golub & Pereyra 1973), here with Kaufman's (1975)
//! approximation of the Jacobian, J = P⊥ ∂Φ/∂ω c, P⊥ the projection off the cosines.
//!
//! Times are centred, so cosines (even) and sines (odd) are orthogonal and the normal equations fall apart into two small
//! systems, whose entries are closed sums (module `dirichlet`): they do not cost anything per sample. What does is
//! Φᵀx, the residual and its products with t cos and t sin, M N steps each, without a sine or cosine per step (module
//! `rotation`).

use ndarray::Array2;
use realfft::num_complex::Complex64;

use super::super::dirichlet::{Angle, Dirichlet};
use super::super::rotation::{BLOCK, Rotation};
use super::cholesky::Cholesky;

/// Share of N below which a pivot of the normal equations is rounding: a cosine that is zero at every sample, or the same
/// as another one.
const ROUNDING: f64 = 1e-12;

/// A signal to be fitted.
#[derive(Debug, Clone)]
pub(super) struct Projection<'a> {
    x: &'a [f64],
    kernel: Dirichlet,
}

/// The best fit for some frequencies.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    /// Radians per sample.
    pub omegas: Vec<f64>,
    pub mean: f64,
    /// α_i − iβ_i of α cos ω_i t + β sin ω_i t = Re((α − iβ) e^{iω_i t}), t centred.
    pub amplitudes: Vec<Complex64>,
    /// x minus the fit.
    pub residual: Vec<f64>,
    /// Sum of its squares.
    pub error: f64,
    even: Cholesky,
    odd: Cholesky,
}

/// Gradient and Gauss–Newton matrix of half the error at a fit.
#[derive(Debug, Clone)]
pub(super) struct Slope {
    /// −∂(½ error)/∂ω_i.
    pub descent: Vec<f64>,
    /// JᵀJ.
    pub curvature: Array2<f64>,
    /// Σ (∂Φ/∂ω_i c)², the diagonal before projection: the scale of each frequency.
    pub scale: Vec<f64>,
}

impl<'a> Projection<'a> {
    pub fn new(x: &'a [f64]) -> Projection<'a> {
        Projection { x, kernel: Dirichlet::new(x.len()) }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    fn angles(&self, omegas: &[f64]) -> Vec<Angle> {
        omegas.iter().map(|omega| self.kernel.angle(*omega)).collect()
    }

    /// First time of block `b`.
    fn start(&self, b: usize) -> f64 {
        (b * BLOCK) as f64 - 0.5 * (self.x.len() as f64 - 1.0)
    }

    /// Least squares of the amplitudes and the mean.
    pub fn fit(&self, omegas: &[f64]) -> Fit {
        let rotations = rotations(omegas);
        let n = self.x.len() as f64;
        let m = omegas.len();
        // The normal equations: 1 and the cosines; the sines.
        let mut even = Array2::zeros((m + 1, m + 1));
        let mut odd = Array2::zeros((m, m));
        even[[0, 0]] = n;
        let angles = self.angles(omegas);
        for (i, &a) in angles.iter().enumerate() {
            even[[i + 1, 0]] = self.kernel.sums(a).cos;
            for (j, &b) in angles.iter().enumerate().take(i + 1) {
                let (minus, plus) = (self.kernel.sums(a - b).cos, self.kernel.sums(a + b).cos);
                even[[i + 1, j + 1]] = 0.5 * (minus + plus);
                odd[[i, j]] = 0.5 * (minus - plus);
            }
        }
        let even = Cholesky::of(&even.view(), ROUNDING * n);
        let odd = Cholesky::of(&odd.view(), ROUNDING * n);
        // Φᵀx.
        let mut cos = vec![0.0; m + 1];
        let mut sin = vec![0.0; m];
        for (b, block) in self.x.chunks(BLOCK).enumerate() {
            cos[0] += block.iter().sum::<f64>();
            for (i, rotation) in rotations.iter().enumerate() {
                let sum = rotation.dot(self.start(b), block);
                cos[i + 1] += sum.re;
                sin[i] += sum.im;
            }
        }
        even.solve(&mut cos);
        odd.solve(&mut sin);
        let mean = cos[0];
        let amplitudes: Vec<Complex64> = cos[1..].iter().zip(&sin).map(|(c, s)| Complex64::new(*c, -s)).collect();
        let mut residual = Vec::with_capacity(self.x.len());
        let mut error = 0.0;
        for (b, block) in self.x.chunks(BLOCK).enumerate() {
            let from = residual.len();
            residual.extend(block.iter().map(|v| v - mean));
            let rest = &mut residual[from..];
            for (rotation, amplitude) in rotations.iter().zip(&amplitudes) {
                rotation.subtract(*amplitude, self.start(b), rest);
            }
            error += rest.iter().map(|v| v * v).sum::<f64>();
        }
        Fit { omegas: omegas.to_vec(), mean, amplitudes, residual, error, even, odd }
    }

    /// How the error changes with the frequencies.
    pub fn slope(&self, fit: &Fit) -> Slope {
        let m = fit.omegas.len();
        // J_i = ∂/∂ω_i Re(c_i e^{iω_i t}) = Re(i c_i t e^{iω_i t}), so the descent is Re(i c_i Σ r t e^{iω_i t}).
        let mut descent = vec![0.0; m];
        let rotations = rotations(&fit.omegas);
        let mut timed = [0.0; BLOCK];
        for (b, block) in fit.residual.chunks(BLOCK).enumerate() {
            let start = self.start(b);
            timed.iter_mut().zip(block).enumerate().for_each(|(k, (t, r))| *t = (start + k as f64) * r);
            for (i, rotation) in rotations.iter().enumerate() {
                let sum = rotation.dot(start, &timed[..block.len()]);
                descent[i] += (Complex64::I * fit.amplitudes[i] * sum).re;
            }
        }
        // Σ J_i J_j, less what the cosines themselves can take up. J_i = −α_i t sin ω_i t (even) + β_i t cos ω_i t (odd).
        let mut curvature = Array2::zeros((m, m));
        let mut even = vec![vec![0.0; m + 1]; m];
        let mut odd = vec![vec![0.0; m]; m];
        let angles = self.angles(&fit.omegas);
        for (i, (&a, c)) in angles.iter().zip(&fit.amplitudes).enumerate() {
            let (alpha, beta) = (c.re, -c.im);
            even[i][0] = -alpha * self.kernel.sums(a).t_sin;
            for (j, (&b, d)) in angles.iter().zip(&fit.amplitudes).enumerate() {
                let (minus, plus) = (self.kernel.sums(a - b), self.kernel.sums(a + b));
                even[i][j + 1] = -alpha * 0.5 * (plus.t_sin + minus.t_sin);
                odd[i][j] = beta * 0.5 * (plus.t_sin - minus.t_sin);
                curvature[[i, j]] = alpha * d.re * 0.5 * (minus.t2_cos - plus.t2_cos)
                    - beta * d.im * 0.5 * (minus.t2_cos + plus.t2_cos);
            }
            fit.even.forward(&mut even[i]);
            fit.odd.forward(&mut odd[i]);
        }
        let scale = (0..m).map(|i| curvature[[i, i]]).collect();
        for i in 0..m {
            for j in 0..m {
                let dot = |a: &[Vec<f64>]| a[i].iter().zip(&a[j]).map(|(a, b)| a * b).sum::<f64>();
                curvature[[i, j]] -= dot(&even) + dot(&odd);
            }
        }
        Slope { descent, curvature, scale }
    }
}

fn rotations(omegas: &[f64]) -> Vec<Rotation> {
    omegas.iter().map(|omega| Rotation::new(*omega)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signal(len: usize) -> Vec<f64> {
        (0..len).map(|n| f64::from((n * n * 17 % 101) as u32) / 50.0 - 1.0).collect()
    }

    proptest! {
        #[test]
        fn residual_is_orthogonal_and_slope_is_the_derivative(
            len in 40usize..300, raw in prop::collection::vec(0.05..3.0f64, 1..5),
        ) {
            let mut omegas = raw;
            omegas.sort_by(f64::total_cmp);
            prop_assume!(omegas.windows(2).all(|p| p[1] - p[0] > 0.1));
            let x = signal(len);
            let p = Projection::new(&x);
            let fit = p.fit(&omegas);
            let t = |n: usize| n as f64 - (len as f64 - 1.0) / 2.0;
            for (n, r) in fit.residual.iter().enumerate() {
                let model: f64 = omegas.iter().zip(&fit.amplitudes).map(|(o, c)| (c * Complex64::cis(o * t(n))).re).sum();
                prop_assert!((x[n] - fit.mean - model - r).abs() < 1e-11);
            }
            let dot = |f: &dyn Fn(f64) -> f64| fit.residual.iter().enumerate().map(|(n, r)| r * f(t(n))).sum::<f64>();
            prop_assert!(dot(&|_| 1.0).abs() < 1e-8);
            for o in &omegas {
                prop_assert!(dot(&|t| (o * t).cos()).abs() < 1e-8 && dot(&|t| (o * t).sin()).abs() < 1e-8);
            }
            let slope = p.slope(&fit);
            let step = 1e-5 / len as f64;
            for i in 0..omegas.len() {
                let at = |d: f64| {
                    let mut moved = omegas.clone();
                    moved[i] += d;
                    p.fit(&moved).error
                };
                let numeric = -0.5 * (at(step) - at(-step)) / (2.0 * step);
                prop_assert!((slope.descent[i] - numeric).abs() < 1e-4 * (len * len) as f64, "{} {}", slope.descent[i], numeric);
            }
        }

        /// JᵀJ by its definition: the derivative of the model, less its own best fit.
        #[test]
        fn curvature_equals_its_definition(len in 40usize..200, first in 0.05..1.0f64, gap in 0.1..1.0f64) {
            let x = signal(len);
            let p = Projection::new(&x);
            let omegas = [first, first + gap];
            let fit = p.fit(&omegas);
            let slope = p.slope(&fit);
            let t = |n: usize| n as f64 - (len as f64 - 1.0) / 2.0;
            let column = |i: usize| -> Vec<f64> {
                let c = Complex64::I * fit.amplitudes[i];
                let j: Vec<f64> = (0..len).map(|n| (c * t(n) * Complex64::cis(omegas[i] * t(n))).re).collect();
                Projection::new(&j).fit(&omegas).residual
            };
            for i in 0..2 {
                for j in 0..2 {
                    let want: f64 = column(i).iter().zip(column(j)).map(|(a, b)| a * b).sum();
                    prop_assert!((slope.curvature[[i, j]] - want).abs() < 1e-8 * (len as f64).powi(3));
                }
            }
        }
    }
}
