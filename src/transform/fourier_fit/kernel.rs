//! Sums of cosines over a window, in closed form.
//!
//! With τ running over the N samples of a window, counted from its middle, the Dirichlet kernel D(θ) = Σ cos θτ
//! = sin(Nθ/2) / sin(θ/2) and its first two derivatives give every inner product of sines, cosines and their derivatives
//! with respect to frequency. The Gram matrix of M components therefore costs O(M²), independent of the length of the signal.

use std::f64::consts::{PI, TAU};

/// Terms of the power series about θ = 0.
const TERMS: usize = 9;
/// |Nθ/2| below which the series is used: there the closed form loses digits, while the first term left out is below
/// 0.5¹⁸ / 18! ≈ 10⁻²¹.
const NEAR: f64 = 0.5;

/// The sums for one number of samples.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    samples: f64,
    /// Sign of D after a full turn of θ: τ are halves of odd numbers when N is even.
    turn: f64,
    /// Σ (2τ/N)^(2k), k = 0 …
    moments: [f64; TERMS + 1],
}

/// Σ cos θτ, Σ τ sin θτ and Σ τ² cos θτ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sums {
    pub cos: f64,
    pub tau_sin: f64,
    pub tau2_cos: f64,
}

impl Kernel {
    pub(super) fn new(samples: usize) -> Kernel {
        let n = samples as f64;
        let mut moments = [0.0; TERMS + 1];
        for i in 0..samples {
            let u = (2.0 * i as f64 + 1.0) / n - 1.0;
            let mut power = 1.0;
            for m in &mut moments {
                *m += power;
                power *= u * u;
            }
        }
        Kernel { samples: n, turn: if samples.is_multiple_of(2) { -1.0 } else { 1.0 }, moments }
    }

    /// The sums at `theta` in (−π, 2π].
    pub(super) fn at(&self, theta: f64) -> Sums {
        if theta > PI {
            let Sums { cos, tau_sin, tau2_cos } = self.near_zero(theta - TAU);
            Sums { cos: self.turn * cos, tau_sin: self.turn * tau_sin, tau2_cos: self.turn * tau2_cos }
        } else {
            self.near_zero(theta)
        }
    }

    fn near_zero(&self, theta: f64) -> Sums {
        let n = self.samples;
        let x = 0.5 * n * theta;
        if x.abs() < NEAR {
            return self.series(x);
        }
        let (s, c) = (0.5 * theta).sin_cos();
        let (sn, cn) = x.sin_cos();
        let d = sn / s;
        let cot = c / s;
        Sums {
            cos: d,
            tau_sin: 0.5 * (d * cot - n * cn / s),
            tau2_cos: 0.25 * (n * n * d + 2.0 * n * cn / s * cot - d * (1.0 + c * c) / (s * s)),
        }
    }

    /// Power series in x = Nθ/2.
    fn series(&self, x: f64) -> Sums {
        let half = 0.5 * self.samples;
        let mut sums = Sums { cos: 0.0, tau_sin: 0.0, tau2_cos: 0.0 };
        // (−1)^k x^(2k) / (2k)!
        let mut term = 1.0;
        for (k, pair) in self.moments.windows(2).enumerate() {
            let &[now, next] = pair else { continue };
            let odd = (2 * k + 1) as f64;
            sums.cos += term * now;
            sums.tau_sin += half * term * x / odd * next;
            sums.tau2_cos += half * half * term * next;
            term *= -x * x / (odd * (odd + 1.0));
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_the_sums(n in 1usize..200, theta in -PI..TAU) {
            let kernel = Kernel::new(n);
            // Close to the poles of the closed form, too.
            for theta in [theta, theta * 1e-3, theta / n as f64, TAU - (theta * 1e-3).abs()] {
                let mut want = Sums { cos: 0.0, tau_sin: 0.0, tau2_cos: 0.0 };
                for i in 0..n {
                    let tau = i as f64 - 0.5 * (n as f64 - 1.0);
                    let (s, c) = (theta * tau).sin_cos();
                    want.cos += c;
                    want.tau_sin += tau * s;
                    want.tau2_cos += tau * tau * c;
                }
                let got = kernel.at(theta);
                let n = n as f64;
                prop_assert!((got.cos - want.cos).abs() < 1e-11 * n);
                prop_assert!((got.tau_sin - want.tau_sin).abs() < 1e-11 * n * n);
                prop_assert!((got.tau2_cos - want.tau2_cos).abs() < 1e-11 * n * n * n);
            }
        }
    }
}
