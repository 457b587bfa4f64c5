//! Sums of cosines over evenly spaced times, in closed form: they make the cost of least squares with cosines independent of N.
//!
//! Times are centred, t = −(N−1)/2 … (N−1)/2 in steps of 1, so that even and odd functions of t are orthogonal.

use std::f64::consts::TAU;
use std::ops::{Add, Sub};

use realfft::num_complex::Complex64;

/// Terms of the Taylor series; for |θ t| ≤ ½ the last one is below 10⁻¹⁸ of the first.
const TERMS: usize = 8;

/// The Dirichlet kernel of N centred times and its first two derivatives.
#[derive(Debug, Clone)]
pub(super) struct Dirichlet {
    len: f64,
    /// Σ (t/T)^{2k} for T = N/2.
    moments: [f64; TERMS],
    /// e^{2πi t}, equal for all t: −1 if N is even (t is half an odd number), else 1.
    turn: f64,
}

/// An angle θ with e^{iNθ/2}, from which the values for sums and differences of angles follow without evaluating sines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Angle {
    theta: f64,
    far: Complex64,
}

/// Sums over all t at one angle θ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums {
    /// Σ cos θt = sin(Nθ/2)/sin(θ/2).
    pub cos: f64,
    /// Σ t sin θt, minus the derivative of the former.
    pub t_sin: f64,
    /// Σ t² cos θt, minus its second derivative.
    pub t2_cos: f64,
}

impl Dirichlet {
    /// For N ≥ 1 times.
    pub fn new(len: usize) -> Dirichlet {
        let mut moments = [0.0; TERMS];
        for n in 0..len {
            let square = ((2.0 * n as f64 - (len as f64 - 1.0)) / len as f64).powi(2);
            let mut power = 1.0;
            for m in &mut moments {
                *m += power;
                power *= square;
            }
        }
        Dirichlet { len: len as f64, moments, turn: if len.is_multiple_of(2) { -1.0 } else { 1.0 } }
    }

    /// An angle in radians.
    pub fn angle(&self, theta: f64) -> Angle {
        Angle { theta, far: Complex64::cis(0.5 * self.len * theta) }
    }

    /// The sums at an angle of any size.
    pub fn sums(&self, angle: Angle) -> Sums {
        let turns = (angle.theta / TAU).round();
        let rest = angle.theta - turns * TAU;
        if (rest * self.len).abs() < 1.0 {
            let sign = if turns % 2.0 == 0.0 { 1.0 } else { self.turn };
            let sums = self.near_zero(rest);
            return Sums { cos: sign * sums.cos, t_sin: sign * sums.t_sin, t2_cos: sign * sums.t2_cos };
        }
        let n = self.len;
        let (s, c) = (0.5 * angle.theta).sin_cos();
        let d0 = angle.far.im / s;
        let d1 = 0.5 * (n * angle.far.re - d0 * c) / s;
        let d2 = (-0.25 * n * n * angle.far.im - d1 * c) / s + 0.25 * d0;
        Sums { cos: d0, t_sin: -d1, t2_cos: -d2 }
    }

    /// Taylor series: the closed form is 0/0 here.
    fn near_zero(&self, theta: f64) -> Sums {
        let unit = 0.5 * self.len;
        let x = theta * unit;
        let mut sums = Sums { cos: 0.0, t_sin: 0.0, t2_cos: 0.0 };
        // x^{2k}/(2k)! with its sign.
        let mut term = 1.0;
        for (k, pair) in self.moments.windows(2).enumerate() {
            let k = k as f64;
            sums.cos += term * pair[0];
            sums.t_sin += term * x / (2.0 * k + 1.0) * pair[1] * unit;
            sums.t2_cos += term * pair[1] * unit * unit;
            term *= -x * x / ((2.0 * k + 1.0) * (2.0 * k + 2.0));
        }
        sums
    }
}

impl Add for Angle {
    type Output = Angle;

    fn add(self, other: Angle) -> Angle {
        Angle { theta: self.theta + other.theta, far: self.far * other.far }
    }
}

impl Sub for Angle {
    type Output = Angle;

    fn sub(self, other: Angle) -> Angle {
        Angle { theta: self.theta - other.theta, far: self.far * other.far.conj() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn match_the_direct_sums(len in 1usize..200, bins in -2.0..2.0f64, far in prop::option::of(-7.0..7.0f64)) {
            // Near zero and near full turns, where the formulas lose digits, and anywhere.
            for theta in [bins * TAU / len as f64, TAU + bins * TAU / len as f64, far.unwrap_or(1e-9)] {
                let t = |n: usize| n as f64 - (len as f64 - 1.0) / 2.0;
                let sum = |f: &dyn Fn(f64) -> f64| (0..len).map(|n| f(t(n))).sum::<f64>();
                let kernel = Dirichlet::new(len);
                let n = len as f64;
                // The angle itself, and composed of others.
                let (part, other) = (kernel.angle(0.7), kernel.angle(theta - 0.7));
                let parts = [kernel.angle(theta), part + other, other - kernel.angle(-0.7)];
                for got in parts.map(|angle| kernel.sums(angle)) {
                    prop_assert!((got.cos - sum(&|t| (theta * t).cos())).abs() < 1e-12 * n * n.max(10.0));
                    prop_assert!((got.t_sin - sum(&|t| t * (theta * t).sin())).abs() < 1e-12 * n.powi(2) * n.max(10.0));
                    let want = sum(&|t| t * t * (theta * t).cos());
                    prop_assert!((got.t2_cos - want).abs() < 1e-12 * n.powi(3) * n.max(10.0));
                }
            }
        }
    }
}
