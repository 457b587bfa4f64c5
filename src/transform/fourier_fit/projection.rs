//! The sum of squares as a function of the frequencies alone.
//!
//! Given the frequencies, the best mean and the best cosine and sine amplitudes follow from linear least squares, so they
//! are eliminated: "variable projection" (Golub & Pereyra, SIAM J. Numer. Anal. 10, 1973). The result is a function of M
//! frequencies, with exact gradient and Hessian.
//!
//! Time is counted from the middle of the window. Cosines are then even and sines odd, so their inner products vanish, the
//! normal equations fall into two halves of half the order, and the data can be folded once to half their length. All
//! inner products between columns come from [`Gram`] in closed form; only those with the data depend on its length: one pass,
//! O(N M).

use std::f64::consts::TAU;

use super::basis::{BLOCK, Basis, products};
use super::cholesky::Symmetric;
use super::gram::{Amplitudes, Correlations, Curvature, Gram};
use super::kernel::Kernel;

/// A signal, folded about its middle: τ the distance from it in samples, e = (x(τ) + x(−τ))/2, o = (x(τ) − x(−τ))/2.
#[derive(Debug)]
pub(super) struct Projection {
    samples: usize,
    /// τ of the first pair.
    first: f64,
    even: Weighted,
    odd: Weighted,
    /// The sample in the middle of an odd number.
    centre: Option<f64>,
    /// Σ x².
    squares: f64,
    kernel: Kernel,
}

/// One half of a folded signal: v, τ v and τ² v.
#[derive(Debug)]
struct Weighted([Vec<f64>; 3]);

/// The best fit for given frequencies, and how its error changes with them. Frequencies are in DFT bins.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub frequencies: Vec<f64>,
    /// Amplitudes of cos ωτ and sin ωτ.
    pub amplitudes: Amplitudes,
    /// Sum of the squared residuals, up to rounding of the signal's sum of squares.
    pub cost: f64,
    /// Derivatives of half the cost.
    pub gradient: Vec<f64>,
    pub hessian: Symmetric,
    /// The Gauss–Newton part of the diagonal of the Hessian: the scale of each frequency.
    pub scale: Vec<f64>,
    /// Rise of the cost without each component, with the frequencies of the others fixed.
    pub explained: Vec<f64>,
}

impl Projection {
    pub(super) fn new(x: &[f64]) -> Projection {
        let (low, high) = x.split_at(x.len() / 2);
        let (centre, high) = match high.split_first() {
            Some((c, rest)) if !x.len().is_multiple_of(2) => (Some(*c), rest),
            _ => (None, high),
        };
        let first = if centre.is_some() { 1.0 } else { 0.5 };
        let pairs = || low.iter().rev().zip(high);
        Projection {
            samples: x.len(),
            first,
            even: Weighted::new(pairs().map(|(a, b)| 0.5 * (b + a)).collect(), first),
            odd: Weighted::new(pairs().map(|(a, b)| 0.5 * (b - a)).collect(), first),
            centre,
            squares: x.iter().map(|v| v * v).sum(),
            kernel: Kernel::new(x.len()),
        }
    }

    /// Number of samples.
    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    /// Sum of the squares of the signal.
    pub(super) fn squares(&self) -> f64 {
        self.squares
    }

    /// Samples from the start of the signal to its middle.
    pub(super) fn middle(&self) -> f64 {
        0.5 * (self.samples as f64 - 1.0)
    }

    /// Radians per sample of a frequency in bins.
    pub(super) fn omega(&self, frequency: f64) -> f64 {
        TAU * frequency / self.samples as f64
    }

    /// The best fit with `frequencies`; `None` if they or the data are not finite.
    pub(super) fn at(&self, frequencies: &[f64]) -> Option<Point> {
        let omegas: Vec<f64> = frequencies.iter().map(|f| self.omega(*f)).collect();
        let gram = Gram::new(&self.kernel, &omegas, self.samples as f64)?;
        let data = self.correlate(&omegas);
        let amplitudes = gram.amplitudes(&data);
        let cost = gram.cost(self.squares, &data, &amplitudes);
        // From radians per sample to bins.
        let per_bin = self.omega(1.0);
        let Curvature { mut gradient, hessian, mut scale } = gram.curvature(&data, &amplitudes);
        gradient.iter_mut().for_each(|g| *g *= per_bin);
        scale.iter_mut().for_each(|d| *d *= per_bin * per_bin);
        let hessian = Symmetric::from_fn(omegas.len(), |i, j| per_bin * per_bin * hessian.get(i, j));
        let explained = gram.explained(&amplitudes);
        let frequencies = frequencies.to_vec();
        cost.is_finite().then_some(Point { frequencies, amplitudes, cost, gradient, hessian, scale, explained })
    }

    fn correlate(&self, omegas: &[f64]) -> Correlations {
        let m = omegas.len();
        let centre = self.centre.unwrap_or(0.0);
        let mut data = Correlations {
            even: vec![centre; m + 1],
            odd: vec![0.0; m],
            tau: vec![[0.0; 2]; m],
            tau2: vec![[0.0; 2]; m],
        };
        data.even[0] += 2.0 * self.even.0[0].iter().sum::<f64>();
        let mut basis = Basis::default();
        for start in (0..self.even.0[0].len()).step_by(BLOCK) {
            let [e, tau_e, tau2_e] = self.even.block(start);
            let [o, tau_o, tau2_o] = self.odd.block(start);
            for (i, omega) in omegas.iter().enumerate() {
                basis.fill(*omega, self.first + start as f64);
                // Each pair stands for two samples; a product counts if it is even in τ.
                let cos = products(&basis.cos, [e, tau_o, tau2_e]).map(|v| 2.0 * v);
                let sin = products(&basis.sin, [o, tau_e, tau2_o]).map(|v| 2.0 * v);
                data.even[i + 1] += cos[0];
                data.odd[i] += sin[0];
                data.tau[i][0] += cos[1];
                data.tau[i][1] += sin[1];
                data.tau2[i][0] += cos[2];
                data.tau2[i][1] += sin[2];
            }
        }
        data
    }

    /// The residuals of the fit, sample by sample.
    pub(super) fn residuals(&self, point: &Point) -> Vec<f64> {
        let Amplitudes { mean, cos, sin } = &point.amplitudes;
        let mut even: Vec<f64> = self.even.0[0].iter().map(|e| e - mean).collect();
        let mut odd = self.odd.0[0].clone();
        let mut basis = Basis::default();
        for (block, (even, odd)) in even.chunks_mut(BLOCK).zip(odd.chunks_mut(BLOCK)).enumerate() {
            for (i, f) in point.frequencies.iter().enumerate() {
                basis.fill(self.omega(*f), self.first + (block * BLOCK) as f64);
                even.iter_mut().zip(&basis.cos).for_each(|(e, v)| *e -= cos[i] * v);
                odd.iter_mut().zip(&basis.sin).for_each(|(o, v)| *o -= sin[i] * v);
            }
        }
        let before = even.iter().zip(&odd).rev().map(|(e, o)| e - o);
        let centre = self.centre.map(|x| x - mean - cos.iter().sum::<f64>());
        before.chain(centre).chain(even.iter().zip(&odd).map(|(e, o)| e + o)).collect()
    }
}

impl Weighted {
    /// `first` is the τ of the first value.
    fn new(v: Vec<f64>, first: f64) -> Weighted {
        let weigh = |v: &[f64]| v.iter().enumerate().map(|(j, v)| v * (first + j as f64)).collect::<Vec<f64>>();
        let once = weigh(&v);
        let twice = weigh(&once);
        Weighted([v, once, twice])
    }

    fn block(&self, start: usize) -> [&[f64]; 3] {
        self.0.each_ref().map(|v| &v[start..v.len().min(start + BLOCK)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signal(n: usize) -> Vec<f64> {
        (0..n).map(|i| f64::from(u8::from(i % 13 < 4)) + 0.1 * (i as f64 * 1.7).sin()).collect()
    }

    /// Sum of squared residuals, sample by sample.
    fn cost(projection: &Projection, point: &Point, x: &[f64]) -> f64 {
        let value = |n: usize| {
            let tau = n as f64 - projection.middle();
            let component = |i: usize| {
                let (s, c) = (projection.omega(point.frequencies[i]) * tau).sin_cos();
                point.amplitudes.cos[i] * c + point.amplitudes.sin[i] * s
            };
            point.amplitudes.mean + (0..point.frequencies.len()).map(component).sum::<f64>()
        };
        x.iter().enumerate().map(|(n, x)| (x - value(n)).powi(2)).sum()
    }

    proptest! {
        #[test]
        fn derivatives_match_differences_and_amplitudes_are_optimal(
            n in 40usize..700,
            places in prop::collection::vec(0.15..0.85f64, 1..6),
        ) {
            let x = signal(n);
            let projection = Projection::new(&x);
            // One component in each of equal shares of the band, so that no two meet.
            let share = 0.5 * n as f64 / places.len() as f64;
            let f: Vec<f64> = places.iter().enumerate().map(|(i, place)| (i as f64 + place) * share).collect();
            let point = projection.at(&f).unwrap();
            prop_assert!((point.cost - cost(&projection, &point, &x)).abs() < 1e-9 * point.cost);
            let rest: f64 = projection.residuals(&point).iter().map(|r| r * r).sum();
            prop_assert!((point.cost - rest).abs() < 1e-9 * point.cost);
            let tolerance = 1e-5 * n as f64;
            for i in 0..f.len() {
                // Any other amplitude is worse.
                for change in [-1e-3, 1e-3] {
                    let mut other = point.clone();
                    other.amplitudes.cos[i] += change;
                    prop_assert!(cost(&projection, &other, &x) > point.cost);
                    other.amplitudes.cos[i] = point.amplitudes.cos[i];
                    other.amplitudes.sin[i] += change;
                    prop_assert!(cost(&projection, &other, &x) > point.cost);
                }
                let step = 1e-4;
                let at = |sign: f64| {
                    let mut moved = f.clone();
                    moved[i] += sign * step;
                    projection.at(&moved).unwrap()
                };
                let (low, high) = (at(-1.0), at(1.0));
                let slope = (high.cost - low.cost) / (4.0 * step);
                prop_assert!((slope - point.gradient[i]).abs() < tolerance, "{slope} {:?}", point.gradient);
                for j in 0..f.len() {
                    let bend = (high.gradient[j] - low.gradient[j]) / (2.0 * step);
                    let got = point.hessian.get(i.max(j), i.min(j));
                    prop_assert!((bend - got).abs() < tolerance, "{bend} {got}");
                }
                let mut without = f.clone();
                without.remove(i);
                let rise = projection.at(&without).unwrap().cost - point.cost;
                prop_assert!((rise - point.explained[i]).abs() < 1e-8 * n as f64, "{rise} {:?}", point.explained);
            }
        }
    }

    #[test]
    fn equal_frequencies_share_one_component() {
        let x: Vec<f64> = (0..101).map(|n| (0.5 * f64::from(n)).cos()).collect();
        let projection = Projection::new(&x);
        let f = 0.5 * 101.0 / TAU;
        let point = projection.at(&[f, f]).unwrap();
        assert!(point.cost.abs() < 1e-10 && (point.amplitudes.cos[0] - point.amplitudes.cos[1]).abs() < 1e-3);
        assert!(projection.at(&[f64::NAN]).is_none());
    }
}
