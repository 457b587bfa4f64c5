//! The sum of squares as a function of the frequencies alone.
//!
//! Given the frequencies, the best mean and the best cosine and sine amplitudes follow from linear least squares, so they
//! are eliminated: "variable projection" (Golub & Pereyra, SIAM J. Numer. Anal. 10, 1973). What is left is a function of
//! M frequencies, here with its exact gradient and Hessian.
//!
//! Time is counted from the middle of the window. Cosines are then even and sines odd, so their inner products vanish, the
//! normal equations fall into two halves of half the order, and the data can be folded once to half their length. All
//! inner products between columns come from [`Kernel`]; only those with the data take time that grows with them: O(N M).

use std::f64::consts::{PI, TAU};

use super::cholesky::{Cholesky, Symmetric};
use super::kernel::{Kernel, Sums};

/// Sample pairs worked on at once: the sines and cosines of a block stay in the cache.
const BLOCK: usize = 256;
/// Phasors that advance side by side, so that the processor need not wait for one product before the next.
const LANES: usize = 8;
/// Added to the diagonal of the normal equations, relative to it: two frequencies that have met stay solvable.
const RIDGE: f64 = 1e-12;
/// Least distance of two frequencies from each other, and from 0 and half the sampling rate, in DFT bins. Components that
/// are closer than half the resolution of the window cancel each other: their amplitudes grow without bound and say
/// nothing of the signal.
const GAP: f64 = 0.5;

/// A signal, folded about its middle: τ the distance from it in samples, e = (x(τ) + x(−τ))/2, o = (x(τ) − x(−τ))/2.
#[derive(Debug)]
pub(super) struct Projection {
    samples: usize,
    /// τ of the first pair.
    first: f64,
    even: Vec<f64>,
    odd: Vec<f64>,
    /// The sample in the middle of an odd number.
    centre: Option<f64>,
    kernel: Kernel,
}

/// The best fit for given frequencies, and how its error changes with them. Frequencies are in DFT bins.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub frequencies: Vec<f64>,
    pub mean: f64,
    /// Amplitudes of cos ωτ and sin ωτ.
    pub cos: Vec<f64>,
    pub sin: Vec<f64>,
    /// Sum of the squared residuals.
    pub cost: f64,
    /// Derivatives of half the cost.
    pub gradient: Vec<f64>,
    pub hessian: Symmetric,
    /// Diagonal of the Gauss–Newton part of the Hessian, which cannot be negative: the scale of each frequency.
    pub scale: Vec<f64>,
    /// By how much the cost would rise without each component, the frequencies of the others kept.
    pub worth: Vec<f64>,
}

/// How far a frequency can move down and up, in bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Room {
    pub below: f64,
    pub above: f64,
}

/// Inner products of the residuals with derivatives of the columns.
struct Residuals {
    squares: f64,
    tau_cos: Vec<f64>,
    tau_sin: Vec<f64>,
    /// Σ r τ² (c cos ωτ + s sin ωτ).
    tau2: Vec<f64>,
}

impl Projection {
    pub(super) fn new(x: &[f64]) -> Projection {
        let (low, high) = x.split_at(x.len() / 2);
        let (centre, high) = match high.split_first() {
            Some((c, rest)) if !x.len().is_multiple_of(2) => (Some(*c), rest),
            _ => (None, high),
        };
        let fold = |f: fn(f64, f64) -> f64| low.iter().rev().zip(high).map(|(a, b)| 0.5 * f(*b, *a)).collect();
        Projection {
            samples: x.len(),
            first: if centre.is_some() { 1.0 } else { 0.5 },
            even: fold(|b, a| b + a),
            odd: fold(|b, a| b - a),
            centre,
            kernel: Kernel::new(x.len()),
        }
    }

    /// The nearest frequency (in bins) that this signal can tell from its mean and from an alternation.
    pub(super) fn clamp(&self, frequency: f64) -> f64 {
        frequency.min(self.nyquist() - GAP).max(GAP)
    }

    /// Half the sampling rate, in bins.
    fn nyquist(&self) -> f64 {
        0.5 * self.samples as f64
    }

    /// Whether a component at `frequency` keeps its distance from all of `others`.
    pub(super) fn is_free(&self, frequency: f64, others: &[f64]) -> bool {
        (GAP..=self.nyquist() - GAP).contains(&frequency) && others.iter().all(|f| (f - frequency).abs() >= GAP)
    }

    /// Neighbours that are as close as they may be.
    pub(super) fn crowded(&self, frequencies: &[f64]) -> Vec<(usize, usize)> {
        let close = |pair: &(usize, usize)| frequencies[pair.1] - frequencies[pair.0] < 1.1 * GAP;
        neighbours(frequencies).filter(close).collect()
    }

    /// How far each frequency can move, whatever the others do, so that all keep their distance.
    pub(super) fn rooms(&self, frequencies: &[f64]) -> Vec<Room> {
        // The ends stand still, so all of the way to them is free; of the way to a neighbour, half.
        let mut rooms: Vec<Room> = frequencies
            .iter()
            .map(|f| Room { below: (f - GAP).max(0.0), above: (self.nyquist() - GAP - f).max(0.0) })
            .collect();
        for (low, high) in neighbours(frequencies) {
            let half = (0.5 * (frequencies[high] - frequencies[low] - GAP)).max(0.0);
            rooms[low].above = rooms[low].above.min(half);
            rooms[high].below = rooms[high].below.min(half);
        }
        rooms
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
        let gram = Gram::new(&self.kernel, &omegas, self.samples as f64);
        let (even, odd) = gram.factors()?;
        let (b_even, b_odd) = self.correlate(&omegas);
        let amplitudes = even.solve(&b_even);
        let (&mean, cos) = amplitudes.split_first()?;
        let sin = odd.solve(&b_odd);
        let r = self.residuals(&Model { omegas: &omegas, mean, cos, sin: &sin });

        let kappa = TAU / self.samples as f64;
        let gradient = (0..omegas.len()).map(|i| kappa * (cos[i] * r.tau_sin[i] - sin[i] * r.tau_cos[i])).collect();
        let (hessian, scale) = gram.curvature((&even, &odd), (cos, &sin), &r, kappa);
        let worth = gram.worth((&even, &odd), cos, &sin);
        r.squares.is_finite().then_some(Point {
            frequencies: frequencies.to_vec(),
            mean,
            cos: cos.to_vec(),
            sin,
            cost: r.squares,
            gradient,
            hessian,
            scale,
            worth,
        })
    }

    /// Σ x, Σ x cos ωτ for each ω; and Σ x sin ωτ for each ω.
    fn correlate(&self, omegas: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let centre = self.centre.unwrap_or(0.0);
        let mut even = vec![centre; omegas.len() + 1];
        let mut odd = vec![0.0; omegas.len()];
        even[0] += 2.0 * self.even.iter().sum::<f64>();
        let mut basis = Basis::default();
        for (block, (e, o)) in self.even.chunks(BLOCK).zip(self.odd.chunks(BLOCK)).enumerate() {
            let tau = self.first + (block * BLOCK) as f64;
            for ((omega, even), odd) in omegas.iter().zip(&mut even[1..]).zip(&mut odd) {
                basis.fill(*omega, tau);
                *even += 2.0 * dot(e, &basis.cos);
                *odd += 2.0 * dot(o, &basis.sin);
            }
        }
        (even, odd)
    }

    fn residuals(&self, model: &Model) -> Residuals {
        let m = model.omegas.len();
        let centre = self.centre_residual(model);
        let mut sums =
            Residuals { squares: centre * centre, tau_cos: vec![0.0; m], tau_sin: vec![0.0; m], tau2: vec![0.0; m] };
        let mut bases = vec![Basis::default(); m];
        for (block, (e, o)) in self.even.chunks(BLOCK).zip(self.odd.chunks(BLOCK)).enumerate() {
            let tau = self.first + (block * BLOCK) as f64;
            let (mut even, mut odd) = ([0.0; BLOCK], [0.0; BLOCK]);
            let (even, odd) = (&mut even[..e.len()], &mut odd[..o.len()]);
            model.subtract(tau, (e, o), &mut bases, (even, odd));
            sums.squares += 2.0 * (dot(even, even) + dot(odd, odd));
            let weigh = |r: &mut [f64]| r.iter_mut().enumerate().for_each(|(j, r)| *r *= tau + j as f64);
            weigh(even);
            weigh(odd);
            for (i, basis) in bases.iter().enumerate() {
                sums.tau_sin[i] += 2.0 * dot(even, &basis.sin);
                sums.tau_cos[i] += 2.0 * dot(odd, &basis.cos);
            }
            weigh(even);
            weigh(odd);
            for (i, basis) in bases.iter().enumerate() {
                let (c, s) = (model.cos[i], model.sin[i]);
                sums.tau2[i] += 2.0 * (c * dot(even, &basis.cos) + s * dot(odd, &basis.sin));
            }
        }
        sums
    }

    fn centre_residual(&self, model: &Model) -> f64 {
        self.centre.map_or(0.0, |x| x - model.mean - model.cos.iter().sum::<f64>())
    }

    /// What the fit leaves of the signal, sample by sample.
    pub(super) fn rest(&self, point: &Point) -> Vec<f64> {
        let omegas: Vec<f64> = point.frequencies.iter().map(|f| self.omega(*f)).collect();
        let model = Model { omegas: &omegas, mean: point.mean, cos: &point.cos, sin: &point.sin };
        let mut bases = vec![Basis::default(); omegas.len()];
        let mut even = vec![0.0; self.even.len()];
        let mut odd = vec![0.0; self.odd.len()];
        let folded = self.even.chunks(BLOCK).zip(self.odd.chunks(BLOCK));
        let rest = even.chunks_mut(BLOCK).zip(odd.chunks_mut(BLOCK));
        for (block, (folded, rest)) in folded.zip(rest).enumerate() {
            model.subtract(self.first + (block * BLOCK) as f64, folded, &mut bases, rest);
        }
        let before = even.iter().zip(&odd).rev().map(|(e, o)| e - o);
        let centre = self.centre.map(|_| self.centre_residual(&model));
        before.chain(centre).chain(even.iter().zip(&odd).map(|(e, o)| e + o)).collect()
    }
}

/// Indices of frequencies next to each other, the lower first.
fn neighbours(frequencies: &[f64]) -> impl Iterator<Item = (usize, usize)> {
    let mut order: Vec<usize> = (0..frequencies.len()).collect();
    order.sort_unstable_by(|a, b| frequencies[*a].total_cmp(&frequencies[*b]));
    let next = order.clone().into_iter().skip(1);
    order.into_iter().zip(next)
}

/// Mean and components, as sums of even and odd columns.
struct Model<'a> {
    omegas: &'a [f64],
    mean: f64,
    cos: &'a [f64],
    sin: &'a [f64],
}

impl Model<'_> {
    /// Takes this from a block of the folded signal that starts at `tau`; leaves the sines and cosines in `bases`.
    fn subtract(&self, tau: f64, folded: (&[f64], &[f64]), bases: &mut [Basis], rest: (&mut [f64], &mut [f64])) {
        for (to, from) in rest.0.iter_mut().zip(folded.0) {
            *to = from - self.mean;
        }
        for (to, from) in rest.1.iter_mut().zip(folded.1) {
            *to = *from;
        }
        for (basis, ((omega, c), s)) in bases.iter_mut().zip(self.omegas.iter().zip(self.cos).zip(self.sin)) {
            basis.fill(*omega, tau);
            for (to, x) in rest.0.iter_mut().zip(&basis.cos) {
                *to -= c * x;
            }
            for (to, x) in rest.1.iter_mut().zip(&basis.sin) {
                *to -= s * x;
            }
        }
    }
}

/// Inner products of all columns: 1 and cos ωτ (even), sin ωτ (odd), and their derivatives.
struct Gram<'a> {
    kernel: &'a Kernel,
    omegas: &'a [f64],
    samples: f64,
    /// Σ cos, Σ τ sin and Σ τ² cos of ω_i − ω_j and of ω_i + ω_j, i ≥ j.
    pairs: Vec<(Sums, Sums)>,
}

impl<'a> Gram<'a> {
    fn new(kernel: &'a Kernel, omegas: &'a [f64], samples: f64) -> Gram<'a> {
        let pairs = omegas
            .iter()
            .enumerate()
            .flat_map(|(i, a)| omegas[..=i].iter().map(move |b| (kernel.at(a - b), kernel.at((a + b).min(2.0 * PI)))))
            .collect();
        Gram { kernel, omegas, samples, pairs }
    }

    /// The pair (i, j), and whether its difference is ω_j − ω_i rather than ω_i − ω_j.
    fn pair(&self, i: usize, j: usize) -> (&(Sums, Sums), bool) {
        let (high, low) = (i.max(j), i.min(j));
        (&self.pairs[high * (high + 1) / 2 + low], i < j)
    }

    /// Cholesky factors of the even and of the odd normal equations.
    fn factors(&self) -> Option<(Cholesky, Cholesky)> {
        let m = self.omegas.len();
        let even = Symmetric::from_fn(m + 1, |i, j| match (i, j) {
            (0, _) => self.samples,
            (i, 0) => self.kernel.at(self.omegas[i - 1]).cos,
            (i, j) => {
                let (difference, sum) = &self.pairs[(i - 1) * i / 2 + j - 1];
                0.5 * (difference.cos + sum.cos)
            }
        });
        let odd = Symmetric::from_fn(m, |i, j| {
            let (difference, sum) = &self.pairs[i * (i + 1) / 2 + j];
            0.5 * (difference.cos - sum.cos)
        });
        let ridge = vec![RIDGE * self.samples; m + 1];
        Some((even.cholesky(&ridge)?, odd.cholesky(&ridge)?))
    }

    /// Hessian of half the cost with the amplitudes eliminated (the Schur complement of their block in the full Hessian),
    /// and the diagonal of its Gauss–Newton part.
    fn curvature(
        &self,
        (even, odd): (&Cholesky, &Cholesky),
        (cos, sin): (&[f64], &[f64]),
        r: &Residuals,
        kappa: f64,
    ) -> (Symmetric, Vec<f64>) {
        let m = self.omegas.len();
        // Derivative of component i with respect to its frequency, v_i = τ (s cos ωτ − c sin ωτ), against the columns.
        let mut exact = Vec::with_capacity(m);
        let mut gauss_newton = Vec::with_capacity(m);
        for i in 0..m {
            let mut even_row = vec![-cos[i] * self.kernel.at(self.omegas[i]).tau_sin];
            let mut odd_row = Vec::with_capacity(m);
            for j in 0..m {
                let ((difference, sum), swapped) = self.pair(i, j);
                let difference = if swapped { -difference.tau_sin } else { difference.tau_sin };
                even_row.push(-0.5 * cos[i] * (sum.tau_sin + difference));
                odd_row.push(0.5 * sin[i] * (sum.tau_sin - difference));
            }
            gauss_newton.push((even.forward(&even_row), odd.forward(&odd_row)));
            // The residuals bend the columns of the component itself.
            even_row[i + 1] += r.tau_sin[i];
            odd_row[i] -= r.tau_cos[i];
            exact.push((even.forward(&even_row), odd.forward(&odd_row)));
        }
        let own = |i: usize, j: usize| {
            let ((difference, sum), _) = self.pair(i, j);
            0.5 * (cos[i] * cos[j] * (difference.tau2_cos - sum.tau2_cos)
                + sin[i] * sin[j] * (difference.tau2_cos + sum.tau2_cos))
        };
        let projected = |rows: &[(Vec<f64>, Vec<f64>)], i: usize, j: usize| {
            dot(&rows[i].0, &rows[j].0) + dot(&rows[i].1, &rows[j].1)
        };
        let square = kappa * kappa;
        let hessian = Symmetric::from_fn(m, |i, j| {
            let bend = if i == j { r.tau2[i] } else { 0.0 };
            square * (own(i, j) + bend - projected(&exact, i, j))
        });
        let scale = (0..m).map(|i| square * (own(i, i) - projected(&gauss_newton, i, i)).max(0.0)).collect();
        (hessian, scale)
    }

    /// Rise of the cost without component i: the square of each of its amplitudes over its variance.
    fn worth(&self, (even, odd): (&Cholesky, &Cholesky), cos: &[f64], sin: &[f64]) -> Vec<f64> {
        let variance = |factor: &Cholesky, order: usize, i: usize| {
            let mut unit = vec![0.0; order];
            unit[i] = 1.0;
            let y = factor.forward(&unit);
            dot(&y, &y)
        };
        let m = self.omegas.len();
        (0..m).map(|i| cos[i] * cos[i] / variance(even, m + 1, i + 1) + sin[i] * sin[i] / variance(odd, m, i)).collect()
    }
}

/// cos ωτ and sin ωτ of one block.
#[derive(Debug, Clone)]
struct Basis {
    cos: [f64; BLOCK],
    sin: [f64; BLOCK],
}

impl Default for Basis {
    fn default() -> Basis {
        Basis { cos: [0.0; BLOCK], sin: [0.0; BLOCK] }
    }
}

impl Basis {
    /// Fills in τ = `tau`, `tau` + 1, … by turning phasors; fresh at every block, so that rounding cannot build up.
    fn fill(&mut self, omega: f64, tau: f64) {
        let (step_sin, step_cos) = (omega * LANES as f64).sin_cos();
        let (turn_sin, turn_cos) = omega.sin_cos();
        let (mut sin, mut cos) = ([0.0; LANES], [0.0; LANES]);
        let (mut s, mut c) = (omega * tau).sin_cos();
        for (sin, cos) in sin.iter_mut().zip(&mut cos) {
            (*sin, *cos) = (s, c);
            (s, c) = (s * turn_cos + c * turn_sin, c * turn_cos - s * turn_sin);
        }
        for (to_cos, to_sin) in self.cos.chunks_exact_mut(LANES).zip(self.sin.chunks_exact_mut(LANES)) {
            to_cos.copy_from_slice(&cos);
            to_sin.copy_from_slice(&sin);
            for (s, c) in sin.iter_mut().zip(&mut cos) {
                (*s, *c) = (*s * step_cos + *c * step_sin, *c * step_cos - *s * step_sin);
            }
        }
    }
}

/// Σ a b over the shorter of the two, in several sums at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0; LANES];
    let (whole_a, whole_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = whole_a.remainder().iter().zip(whole_b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in whole_a.zip(whole_b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signal(n: usize) -> Vec<f64> {
        (0..n).map(|i| f64::from(u8::from(i % 13 < 4)) + 0.1 * (i as f64 * 1.7).sin()).collect()
    }

    /// Cost of a fit, sample by sample.
    fn cost(projection: &Projection, point: &Point, x: &[f64]) -> f64 {
        let value = |n: usize| {
            let tau = n as f64 - projection.middle();
            point.mean
                + (0..point.frequencies.len())
                    .map(|i| {
                        let (s, c) = (projection.omega(point.frequencies[i]) * tau).sin_cos();
                        point.cos[i] * c + point.sin[i] * s
                    })
                    .sum::<f64>()
        };
        x.iter().enumerate().map(|(n, x)| (x - value(n)).powi(2)).sum()
    }

    proptest! {
        #[test]
        fn derivatives_and_amplitudes_are_right(
            n in 40usize..700,
            places in prop::collection::vec(0.02..0.98f64, 1..6),
        ) {
            let x = signal(n);
            let projection = Projection::new(&x);
            // One component in each of equal shares of the band, so that no two meet.
            let share = 0.5 * n as f64 / places.len() as f64;
            let f: Vec<f64> = places.iter().enumerate().map(|(i, p)| projection.clamp((i as f64 + 0.15 + 0.7 * p) * share)).collect();
            let point = projection.at(&f).unwrap();
            prop_assert!((point.cost - cost(&projection, &point, &x)).abs() < 1e-9 * point.cost);
            let rest: f64 = projection.rest(&point).iter().map(|r| r * r).sum();
            prop_assert!((point.cost - rest).abs() < 1e-9 * point.cost);
            for i in 0..f.len() {
                // Any other amplitude is worse.
                for change in [-1e-3, 1e-3] {
                    let mut other = point.clone();
                    other.cos[i] += change;
                    prop_assert!(cost(&projection, &other, &x) > point.cost);
                    other.cos[i] = point.cos[i];
                    other.sin[i] += change;
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
                prop_assert!((slope - point.gradient[i]).abs() < 1e-4 * n as f64 * 0.1, "{slope} {:?}", point.gradient);
                for j in 0..f.len() {
                    let bend = (high.gradient[j] - low.gradient[j]) / (2.0 * step);
                    let got = point.hessian.get(i.max(j), i.min(j));
                    prop_assert!((bend - got).abs() < 1e-4 * n as f64 * 0.1, "{bend} {got}");
                }
                let mut without = f.clone();
                without.remove(i);
                let rise = projection.at(&without).unwrap().cost - point.cost;
                prop_assert!((rise - point.worth[i]).abs() < 1e-8 * n as f64, "{rise} {:?}", point.worth);
            }
        }
    }

    #[test]
    fn moving_as_far_as_there_is_room_keeps_the_distance() {
        let projection = Projection::new(&signal(100));
        let f = [10.0, 10.5, 49.5, 0.5, 12.0];
        let rooms = projection.rooms(&f);
        assert_eq!(rooms[1], Room { below: 0.0, above: 0.5 });
        assert_eq!(rooms[3], Room { below: 0.0, above: 4.5 });
        assert_eq!(rooms[2].above, 0.0);
        for signs in 0..1 << f.len() {
            let moved: Vec<f64> = (0..f.len())
                .map(|i| if signs >> i & 1 == 0 { f[i] - rooms[i].below } else { f[i] + rooms[i].above })
                .collect();
            for (i, place) in moved.iter().enumerate() {
                let others: Vec<f64> = moved.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, f)| *f).collect();
                assert!(projection.is_free(*place, &others), "{moved:?}");
            }
        }
        assert_eq!(projection.crowded(&f), [(0, 1)]);
        assert!(!projection.is_free(0.4, &[]) && !projection.is_free(10.2, &f));
    }

    #[test]
    fn equal_frequencies_share_one_component() {
        let x: Vec<f64> = (0..101).map(|n| (0.5 * f64::from(n)).cos()).collect();
        let projection = Projection::new(&x);
        let f = 0.5 * 101.0 / TAU;
        let point = projection.at(&[f, f]).unwrap();
        assert!(point.cost < 1e-16 && (point.cos[0] - point.cos[1]).abs() < 1e-3);
        assert!(projection.at(&[f64::NAN]).is_none());
    }
}
