//! Fourier fit: least-squares fit of a mean and a few cosines of free frequency to a signal.
//!
//! The cosines of the DFT have frequencies on a grid, k f_s / N; frequencies between them may describe the signal better
//! (Tarraf & Wolf 2026, section 4.2). The fit minimises Σ_n (x_n − a_0 − Σ_i a_i cos(2π f_i t_n + φ_i))², t_n = n / f_s.
//!
//! 1. [`projection`] eliminates mean, amplitudes and phases, which are linear, and leaves a function of the frequencies
//!    (variable projection).
//! 2. [`newton`] minimises it from three starting points: the strongest components of the DFT; the harmonics of one
//!    fundamental, which short regular bursts have; and a greedy choice that starts with the strongest line and repeatedly
//!    adds the strongest line of the residuals.
//! 3. Exchanges leave local minima: the component that explains least moves to the strongest line of the residuals.
//! 4. Finally, two components at the minimum distance may move closer; the pair models one line with varying amplitude.
//!
//! One step costs O(N M + M³) for N samples and M components.

mod basis;
mod cholesky;
mod gram;
mod kernel;
mod newton;
mod projection;
mod spacing;

use std::f64::consts::{PI, TAU};

use self::projection::{Point, Projection};
use self::spacing::Spacing;
use super::{Cosine, Error, Result, Spectrum};

/// Most components that can be fitted.
pub const MAX_COMPONENTS: usize = 50;
/// Least relative reduction of the error for which an exchange is kept.
const MIN_REDUCTION: f64 = 1e-4;
/// Number of exchanges that are tried.
const MAX_EXCHANGES: usize = 4;
/// A descent ends when a step reduces the error by less than this, relative to it: during the exchanges, and in the last descent.
const COARSE: f64 = 1e-5;
const FINE: f64 = 1e-10;

/// Largest deviation from the mean, relative to the mean, of a signal that counts as constant: its fit is not refined.
const FLAT: f64 = 1e-6;
/// Largest deviation, relative to the mean, that is rounding: only the components of the DFT are returned.
const ROUNDING: f64 = 1e-12;

/// A spectrum has lines if the energy of its strongest bins exceeds that of as many average bins by this factor.
const LINES: f64 = 1.2;

/// A signal as a sum: a_0 + Σ a cos(2π f t + φ).
#[derive(Debug, Clone, PartialEq)]
pub struct CosineSum {
    /// a_0, in the unit of the signal.
    pub mean: f64,
    /// The cosines, those with the largest amplitude first; t in seconds from the first sample.
    pub cosines: Vec<Cosine>,
    /// Mean of the squared differences to the signal, in its unit squared.
    pub mean_square_error: f64,
}

impl CosineSum {
    /// Value at `t` seconds after the first sample.
    pub fn evaluate(&self, t: f64) -> f64 {
        self.mean + super::evaluate(&self.cosines, t)
    }
}

/// A signal as cosines of free frequencies, and as cosines of the DFT.
#[derive(Debug, Clone, PartialEq)]
pub struct FourierFit {
    /// Cosines of free frequency in (0, f_s/2]. Never worse than `dft`.
    pub fit: CosineSum,
    /// As many components of the DFT, the strongest.
    pub dft: CosineSum,
}

/// Fits `components` cosines to `x`, sampled at `rate_hz`. A signal of N samples has at most N/2 components; a larger number is
/// reduced to that.
///
/// Frequencies keep a distance of half a DFT bin (f_s / 2N) from each other and from 0: closer ones could lower the error a little,
/// with huge amplitudes that cancel each other. Two frequencies without a third one nearby may come as close as 1/128 of a bin. The
/// pair models a line whose amplitude grows or falls; its amplitudes are at most some dozens of times that of the line.
/// Frequencies keep 1/64 of a bin from f_s/2, or are f_s/2 exactly. If `x` is not finite, the errors are not either, and nothing
/// is fitted.
///
/// # Errors
/// If `x` is empty, `components` is 0 or above [`MAX_COMPONENTS`], or `rate_hz` is not positive and finite.
pub fn fourier_fit(x: &[f64], rate_hz: f64, components: usize) -> Result<FourierFit> {
    if x.is_empty() {
        return Err(Error::Empty);
    }
    if !(1..=MAX_COMPONENTS).contains(&components) {
        let rule = format!("between 1 and {MAX_COMPONENTS}");
        return Err(Error::parameter("the number of components", components as f64, rule));
    }
    if !(rate_hz > 0.0 && rate_hz.is_finite()) {
        return Err(Error::parameter("the sampling rate", rate_hz, "positive and finite"));
    }
    let spectrum = Spectrum::of(x);
    let strongest = strongest_bins(&spectrum, components);
    let dft = dft_sum(&spectrum, &strongest, rate_hz);
    let fit = best_fit(x, &strongest, has_lines(&spectrum, &strongest), rate_hz)
        .filter(|fit| fit.mean_square_error < dft.mean_square_error)
        .unwrap_or_else(|| dft.clone());
    Ok(FourierFit { fit, dft })
}

/// The `count` bins above 0 that hold the most energy, the strongest first.
fn strongest_bins(spectrum: &Spectrum, count: usize) -> Vec<usize> {
    let energy = energies(spectrum);
    let mut bins: Vec<usize> = (1..energy.len()).collect();
    let order = |a: &usize, b: &usize| energy[*b].total_cmp(&energy[*a]).then(a.cmp(b));
    if bins.len() > count {
        bins.select_nth_unstable_by(count, order);
        bins.truncate(count);
    }
    bins.sort_unstable_by(order);
    bins
}

/// Share of each bin, with its conjugate, in the mean square of the signal.
fn energies(spectrum: &Spectrum) -> Vec<f64> {
    let n = spectrum.len as f64;
    let twice = |k: usize| if k > 0 && 2 * k != spectrum.len { 2.0 } else { 1.0 };
    spectrum.power().iter().enumerate().map(|(k, p)| twice(k) * p / n).collect()
}

fn dft_sum(spectrum: &Spectrum, bins: &[usize], rate_hz: f64) -> CosineSum {
    let mut residual = energies(spectrum);
    for k in bins.iter().chain([&0]) {
        if let Some(energy) = residual.get_mut(*k) {
            *energy = 0.0;
        }
    }
    // A bin that is not finite makes all samples NaN, whether it is among the strongest or not.
    let not_finite = spectrum.bins.iter().any(|x| !x.is_finite());
    let mut cosines: Vec<Cosine> = bins.iter().filter_map(|k| spectrum.cosine(*k, rate_hz)).collect();
    sort_by_amplitude(&mut cosines);
    CosineSum {
        mean: spectrum.bins.first().map_or(0.0, |x| x.re / spectrum.len as f64),
        cosines,
        mean_square_error: if not_finite { f64::NAN } else { residual.iter().sum() },
    }
}

fn sort_by_amplitude(cosines: &mut [Cosine]) {
    cosines.sort_by(|a, b| b.amplitude.total_cmp(&a.amplitude));
}

/// Do the strongest bins hold clearly more energy than as many average bins? A single spike has equal energy in all bins: no
/// frequency is better than another, and a search for better ones would not converge.
fn has_lines(spectrum: &Spectrum, strongest: &[usize]) -> bool {
    let energy = energies(spectrum);
    let all: f64 = energy.iter().skip(1).sum();
    let held: f64 = strongest.iter().filter_map(|k| energy.get(*k)).sum();
    let share = strongest.len() as f64 / energy.len().saturating_sub(1).max(1) as f64;
    share >= 0.5 || held > LINES * share * all
}

/// The fit that starts at the given bins. Without `lines` in the spectrum the search is short. `None` if the signal is constant up
/// to rounding, or not finite.
fn best_fit(x: &[f64], bins: &[usize], lines: bool, rate_hz: f64) -> Option<CosineSum> {
    // The fit is to (x − offset) / scale, so that no square overflows and no digits are lost to the mean.
    let offset = x.iter().map(|v| v / x.len() as f64).sum::<f64>();
    let scale = x.iter().map(|v| (v - offset).abs()).fold(0.0, f64::max);
    if !scale.is_normal() || scale <= ROUNDING * offset.abs() || bins.is_empty() {
        return None;
    }
    let scaled: Vec<f64> = x.iter().map(|v| (v - offset) / scale).collect();
    let search = Search {
        projection: Projection::new(&scaled),
        spacing: Spacing::new(x.len()),
        components: bins.len(),
        flat: scale <= FLAT * offset.abs(),
    };
    let mut best = search.best_start(&scaled, bins, lines)?;
    let mut exchanges = MAX_EXCHANGES;
    while lines
        && !search.is_exact(&best)
        && let Some(better) = exchange(&search.projection, &best, &mut exchanges)
    {
        best = better;
    }
    best = newton::descend(&search.projection, &best.frequencies, FINE)?;
    best = search.with_released_alternation(best);
    best = search.with_close_pairs(best);
    Some(search.cosine_sum(&best, rate_hz, (offset, scale)))
}

/// Search for the best frequencies of a signal with mean 0 and largest deviation 1.
struct Search {
    projection: Projection,
    spacing: Spacing,
    /// Number of cosines.
    components: usize,
    /// The signal counts as constant.
    flat: bool,
}

impl Search {
    /// True if a better fit would only fit rounding.
    fn is_exact(&self, point: &Point) -> bool {
        self.flat || point.cost <= newton::EXACT * self.projection.squares()
    }

    /// Descends from `start`, then adds the strongest line of the residuals until all components are used.
    fn filled(&self, start: &[f64]) -> Option<Point> {
        let mut point = newton::descend(&self.projection, start, COARSE)?;
        while point.frequencies.len() < self.components {
            let mut frequencies = point.frequencies.clone();
            frequencies.push(strongest_line(&self.projection, &point)?);
            point = newton::descend(&self.projection, &frequencies, COARSE)?;
        }
        Some(point)
    }

    /// The best of three starting points: the strongest bins, the harmonics of one fundamental, and greedy addition of lines.
    fn best_start(&self, scaled: &[f64], bins: &[usize], lines: bool) -> Option<Point> {
        let start: Vec<f64> = bins.iter().map(|k| self.spacing.clamp(*k as f64)).collect();
        let mut best = self.filled(&start)?;
        if self.is_exact(&best) {
            return Some(best);
        }
        let harmonics =
            || if lines { comb(scaled, self.components).and_then(|start| self.filled(&start)) } else { None };
        let (harmonics, greedy) = rayon::join(harmonics, || self.filled(&start[..1]));
        for point in [harmonics, greedy].into_iter().flatten() {
            if point.cost < best.cost {
                best = point;
            }
        }
        Some(best)
    }

    /// A search stays at half the sampling rate once it is there; the line may lie a little lower.
    fn with_released_alternation(&self, best: Point) -> Point {
        let Some(i) = best.frequencies.iter().position(|f| self.spacing.is_alternation(*f)) else { return best };
        let mut frequencies = best.frequencies.clone();
        frequencies[i] = self.spacing.released();
        let others: Vec<f64> = best.frequencies.iter().copied().filter(|f| !self.spacing.is_alternation(*f)).collect();
        if !self.spacing.is_free(frequencies[i], &others) {
            return best;
        }
        let released = newton::descend(&self.projection, &frequencies, FINE);
        released.filter(|point| point.cost < best.cost).unwrap_or(best)
    }

    /// Lets pairs at the minimum distance move closer.
    fn with_close_pairs(&self, best: Point) -> Point {
        let pairs = Spacing::pairs(&best.frequencies);
        if pairs.is_empty() || self.is_exact(&best) {
            return best;
        }
        let closer = newton::descend_with(&self.projection, &best.frequencies, &pairs, FINE);
        closer.filter(|point| point.cost < best.cost).unwrap_or(best)
    }

    /// The fit in the units of the signal offset + scale · x.
    fn cosine_sum(&self, point: &Point, rate_hz: f64, (offset, scale): (f64, f64)) -> CosineSum {
        let samples = self.projection.samples();
        let cosine = |i: usize| {
            let (frequency, mut c, mut s) = (point.frequencies[i], point.amplitudes.cos[i], point.amplitudes.sin[i]);
            if self.spacing.is_alternation(frequency) {
                // Either the cosine or the sine is 0 at all samples.
                *if samples.is_multiple_of(2) { &mut c } else { &mut s } = 0.0;
            }
            let at_start = -self.projection.omega(frequency) * self.projection.middle() - s.atan2(c);
            Cosine {
                frequency_hz: frequency * rate_hz / samples as f64,
                amplitude: scale * c.hypot(s),
                phase: (at_start + PI).rem_euclid(TAU) - PI,
            }
        };
        let mut cosines: Vec<Cosine> = (0..point.frequencies.len()).map(cosine).collect();
        sort_by_amplitude(&mut cosines);
        // If the fit is nearly exact, the cost is dominated by rounding; the residuals are not.
        let squares: f64 = self.projection.residuals(point).iter().map(|r| r * r).sum();
        let mean_square_error = squares / samples as f64 * scale * scale;
        CosineSum { mean: offset + scale * point.amplitudes.mean, cosines, mean_square_error }
    }
}

/// Least oversampling of the spectrum in which a fundamental is sought: points per bin of the DFT.
const OVERSAMPLING: usize = 8;

/// At most `count` frequencies in bins: the harmonics of the fundamental whose harmonics hold the most energy. `None` if fewer
/// than two of them fit.
fn comb(x: &[f64], count: usize) -> Option<Vec<f64>> {
    let spacing = Spacing::new(x.len());
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let mut padded: Vec<f64> = x.iter().map(|v| v - mean).collect();
    padded.resize((OVERSAMPLING * x.len()).next_power_of_two(), 0.0);
    let power = Spectrum::of(&padded).power();
    let bin = x.len() as f64 / padded.len() as f64;
    let last = power.len() - 1;
    // At least one period in the window, and at least two harmonics below half the rate.
    let fundamentals = (1.0 / bin).ceil() as usize..=last / 2;
    let energy = |k: &usize| -> f64 { power.iter().skip(*k).step_by(*k).take(count).sum() };
    let fundamental = fundamentals.max_by(|a, b| energy(a).total_cmp(&energy(b)))? as f64 * bin;
    let nyquist = last as f64 * bin;
    let mut chosen: Vec<f64> = Vec::with_capacity(count);
    for h in 1..=count {
        let f = h as f64 * fundamental;
        // The error of the fundamental's grid grows with the number of the harmonic.
        let f = if (f - nyquist).abs() <= h as f64 * bin { nyquist } else { spacing.clamp(f) };
        if f <= nyquist && spacing.is_free(f, &chosen) {
            chosen.push(f);
        }
    }
    Some(chosen)
}

/// Moves a component that explains little to the strongest line of the residuals; `None` if that does not reduce the error.
/// `remaining` counts the attempts that are left.
fn exchange(projection: &Projection, point: &Point, remaining: &mut usize) -> Option<Point> {
    expendable(point).into_iter().find_map(|i| {
        *remaining = remaining.checked_sub(1)?;
        let mut frequencies = point.frequencies.clone();
        frequencies.remove(i);
        let without = newton::descend(projection, &frequencies, COARSE)?;
        frequencies.clone_from(&without.frequencies);
        frequencies.push(strongest_line(projection, &without)?);
        let better = newton::descend(projection, &frequencies, COARSE)?;
        (better.cost < point.cost * (1.0 - MIN_REDUCTION)).then_some(better)
    })
}

/// The component that explains least, followed by the weaker one of each two components at the minimum distance: such
/// a pair is often one line between two bins of the DFT.
fn expendable(point: &Point) -> Vec<usize> {
    let less = |a: &usize, b: &usize| point.explained[*a].total_cmp(&point.explained[*b]);
    let mut found: Vec<usize> = (0..point.explained.len()).min_by(less).into_iter().collect();
    for (a, b) in Spacing::crowded(&point.frequencies) {
        let weaker = if less(&a, &b).is_le() { a } else { b };
        if !found.contains(&weaker) {
            found.push(weaker);
        }
    }
    found
}

/// Frequency, in bins, of the highest peak in the spectrum of the residuals, on a grid of half a bin or finer and at a
/// distance from the components.
fn strongest_line(projection: &Projection, point: &Point) -> Option<f64> {
    let mut residuals = projection.residuals(point);
    let samples = residuals.len();
    residuals.resize((2 * samples).next_power_of_two(), 0.0);
    let bin = samples as f64 / residuals.len() as f64;
    let power = Spectrum::of(&residuals).power();
    let spacing = Spacing::new(samples);
    let free = |k: &usize| spacing.is_free(*k as f64 * bin, &point.frequencies);
    (0..power.len()).filter(free).max_by(|a, b| power[*a].total_cmp(&power[*b])).map(|k| k as f64 * bin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error_of(sum: &CosineSum, x: &[f64], rate_hz: f64) -> f64 {
        let square = |(n, x): (usize, &f64)| (x - sum.evaluate(n as f64 / rate_hz)).powi(2);
        x.iter().enumerate().map(square).sum::<f64>() / x.len() as f64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn cosines_between_bins_are_found(
            n in 100usize..400,
            rate_hz in 0.01..100.0f64,
            parts in prop::collection::vec((0.15..0.85f64, 0.5..2.0f64, -3.0..3.0f64), 1..5),
            mean in -5.0..5.0f64,
        ) {
            // Each has its own share of the band, so that all can be distinguished.
            let share = 0.5 * n as f64 / parts.len() as f64;
            let mut truth: Vec<Cosine> = parts
                .iter()
                .enumerate()
                .map(|(i, (place, amplitude, phase))| Cosine {
                    frequency_hz: (i as f64 + place) * share * rate_hz / n as f64,
                    amplitude: *amplitude,
                    phase: *phase,
                })
                .collect();
            sort_by_amplitude(&mut truth);
            let x: Vec<f64> = (0..n).map(|i| mean + crate::transform::evaluate(&truth, i as f64 / rate_hz)).collect();
            let fit = fourier_fit(&x, rate_hz, parts.len()).unwrap();
            prop_assert!(fit.fit.mean_square_error < 1e-12, "{:?}", fit.fit);
            prop_assert!((fit.fit.mean - mean).abs() < 1e-6);
            for (got, want) in fit.fit.cosines.iter().zip(&truth) {
                prop_assert!((got.frequency_hz - want.frequency_hz).abs() < 1e-7 * rate_hz);
                prop_assert!((got.amplitude - want.amplitude).abs() < 1e-5);
            }
        }

        #[test]
        fn error_is_at_most_that_of_the_dft_and_is_reported_exactly(
            x in prop::collection::vec(prop_oneof![3 => -1e9..1e9f64, 1 => Just(0.0)], 1..60),
            components in 1..=MAX_COMPONENTS,
            rate_hz in 0.01..100.0f64,
        ) {
            let fit = fourier_fit(&x, rate_hz, components).unwrap();
            prop_assert!(fit.fit.mean_square_error <= fit.dft.mean_square_error);
            for sum in [&fit.fit, &fit.dft] {
                prop_assert_eq!(sum.cosines.len(), components.min(x.len() / 2));
                // The highest bin may be half the rate, up to rounding.
                let band = |f: f64| f > 0.0 && f <= 0.5 * rate_hz * (1.0 + f64::EPSILON);
                prop_assert!(sum.cosines.iter().all(|c| band(c.frequency_hz)));
                prop_assert!(sum.cosines.is_sorted_by(|a, b| a.amplitude >= b.amplitude));
                // The error is exact up to rounding of the signal.
                prop_assert!((sum.mean_square_error - error_of(sum, &x, rate_hz)).abs() < 1e-9 * 1e18);
            }
        }
    }

    #[test]
    fn components_keep_their_distance() {
        // Two equal frequencies would explain a growing amplitude with huge, opposite amplitudes.
        let x: Vec<f64> = (0..300).map(|n| f64::from(n) * (0.3 * f64::from(n)).cos()).collect();
        let fit = fourier_fit(&x, 1.0, 4).unwrap();
        // For a line that grows by 1 per sample, a pair at distance d has amplitudes of 1 / (2 pi d).
        let most = 300.0 / (TAU * spacing::PAIR);
        assert!(fit.fit.cosines.iter().all(|c| c.amplitude < 1.1 * most), "{:?}", fit.fit);
        let mut f: Vec<f64> = fit.fit.cosines.iter().map(|c| 300.0 * c.frequency_hz).collect();
        f.sort_by(f64::total_cmp);
        assert!(f.windows(2).all(|pair| pair[1] - pair[0] > 0.999 * spacing::PAIR), "{f:?}");
        assert!(f.windows(3).all(|three| three[2] - three[0] > 0.499), "{f:?}");
    }

    #[test]
    fn a_constant_has_negligible_cosines() {
        let fit = fourier_fit(&[7.5; 20], 1.0, 3).unwrap();
        assert!((fit.fit.mean - 7.5).abs() < 1e-12 && fit.fit.mean_square_error < 1e-24);
        let one = fourier_fit(&[3.0], 1.0, 3).unwrap();
        assert_eq!((one.fit.mean, one.fit.cosines.len()), (3.0, 0));
    }

    #[test]
    fn a_spike_without_lines_is_fitted_better_than_by_the_dft() {
        let mut x = vec![1.0; 600];
        x[599] = 0.2;
        let spectrum = Spectrum::of(&x);
        assert!(!has_lines(&spectrum, &strongest_bins(&spectrum, 10)));
        let fit = fourier_fit(&x, 1.0, 10).unwrap();
        assert!(fit.fit.mean_square_error < 0.99 * fit.dft.mean_square_error);
        let bursts: Vec<f64> = (0..600).map(|n| if n % 31 < 5 { 1.0 } else { 0.0 }).collect();
        let spectrum = Spectrum::of(&bursts);
        assert!(has_lines(&spectrum, &strongest_bins(&spectrum, 10)));
    }

    #[test]
    fn values_that_are_not_finite_give_nan_errors() {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut x = vec![1.0; 50];
            x[20] = bad;
            let fit = fourier_fit(&x, 1.0, 5).unwrap();
            assert!(fit.fit.mean_square_error.is_nan() && fit.dft.mean_square_error.is_nan());
        }
        let huge: Vec<f64> = (0..50).map(|n| if n % 7 < 3 { 1e300 } else { 0.0 }).collect();
        assert!(fourier_fit(&huge, 1.0, 5).unwrap().fit.cosines.iter().all(|c| c.amplitude.is_finite()));
    }

    #[test]
    fn arguments_are_checked() {
        assert_eq!(fourier_fit(&[], 1.0, 1), Err(Error::Empty));
        for (rate_hz, components) in [(1.0, 0), (1.0, MAX_COMPONENTS + 1), (0.0, 1), (f64::NAN, 1), (f64::INFINITY, 1)]
        {
            assert!(matches!(fourier_fit(&[1.0, 2.0], rate_hz, components), Err(Error::Parameter { .. })));
        }
    }
}
