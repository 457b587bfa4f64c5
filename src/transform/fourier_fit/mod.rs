//! Fourier fit: a signal as its mean and a few cosines of free frequency, by least squares.
//!
//! The cosines of the DFT have frequencies on a grid, k f_s / N; frequencies between them may describe the signal better
//! (Tarraf & Wolf 2026, section 4.2). Minimised is Σ_n (x_n − a_0 − Σ_i a_i cos(2π f_i t_n + φ_i))², t_n = n / f_s.
//!
//! 1. [`projection`] eliminates mean, amplitudes and phases, which are linear, and leaves a function of the frequencies.
//! 2. [`newton`] goes downhill on it from three places: the strongest components of the DFT; the harmonics of one
//!    fundamental, as short regular bursts have them; and the strongest line, to which the strongest one of what is left is
//!    added again and again.
//! 3. Local optima are left by exchange: the component that explains least moves to the strongest line of the residuals.
//! 4. At last two components that have come as near to each other as they may come nearer: a line whose strength changes.
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
/// An exchange that lowers the error by less than this, relative to it, was not worth it.
const WORTHWHILE: f64 = 1e-4;
/// Exchanges that are tried, worthwhile or not.
const MOST_TRIES: usize = 4;
/// Steps that lower the error by less than this, relative to it, end a search downhill: among the exchanges, and at last.
const COARSE: f64 = 1e-5;
const FINE: f64 = 1e-10;

/// A signal that is nowhere further from its mean than this share of it is a constant for all purposes: the best of its rounding
/// is not sought.
const FLAT: f64 = 1e-6;
/// And one whose distance from its mean is but rounding has no other fit than its components of the DFT.
const ROUNDING: f64 = 1e-12;

/// The strongest bins of a spectrum with lines hold more than so many times the energy that as many hold on average.
const OUTSTANDING: f64 = 1.2;

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

/// Fits `components` cosines to `x`, which was sampled at `rate_hz`. A signal of N samples has at most N/2 components;
/// if more are asked for, that many are fitted. Frequencies stay half a bin of the DFT (f_s / 2N) from each other and from 0:
/// closer ones could lower the error a little, with huge amplitudes that cancel each other. Two of them, with none near them, may
/// come as near as a 128th of a bin: together they are a line whose amplitude grows or falls, with amplitudes of their own of at
/// most some dozens of times the line's. All stay a 64th of a bin from f_s/2, unless they are that. If `x` is not finite, neither
/// are the errors, and nothing is fitted.
///
/// # Errors
/// If `x` is empty, `components` is 0 or more than [`MAX_COMPONENTS`], or `rate_hz` is not positive and finite.
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
    let mut rest = energies(spectrum);
    for k in bins.iter().chain([&0]) {
        if let Some(energy) = rest.get_mut(*k) {
            *energy = 0.0;
        }
    }
    // A bin that is not finite spoils all the samples, whether it is among the strongest or not.
    let spoilt = spectrum.bins.iter().any(|x| !x.is_finite());
    let mut cosines: Vec<Cosine> = bins.iter().filter_map(|k| spectrum.cosine(*k, rate_hz)).collect();
    sort_by_amplitude(&mut cosines);
    CosineSum {
        mean: spectrum.bins.first().map_or(0.0, |x| x.re / spectrum.len as f64),
        cosines,
        mean_square_error: if spoilt { f64::NAN } else { rest.iter().sum() },
    }
}

fn sort_by_amplitude(cosines: &mut [Cosine]) {
    cosines.sort_by(|a, b| b.amplitude.total_cmp(&a.amplitude));
}

/// Do the strongest bins hold more of the energy than as many others? A single spike has the same in each bin: among its
/// frequencies none is better than another, and a search for better ones has no end.
fn has_lines(spectrum: &Spectrum, strongest: &[usize]) -> bool {
    let energy = energies(spectrum);
    let all: f64 = energy.iter().skip(1).sum();
    let held: f64 = strongest.iter().filter_map(|k| energy.get(*k)).sum();
    let share = strongest.len() as f64 / energy.len().saturating_sub(1).max(1) as f64;
    share >= 0.5 || held > OUTSTANDING * share * all
}

/// The fit that starts at the given bins. Without `lines` in the spectrum the search is short. `None` if the signal is constant,
/// but for rounding, or not finite.
fn best_fit(x: &[f64], bins: &[usize], lines: bool, rate_hz: f64) -> Option<CosineSum> {
    // Fitted is (x − offset) / scale, so that no square overflows and the mean cannot drown the rest.
    let offset = x.iter().map(|v| v / x.len() as f64).sum::<f64>();
    let scale = x.iter().map(|v| (v - offset).abs()).fold(0.0, f64::max);
    if !scale.is_normal() || scale <= ROUNDING * offset.abs() || bins.is_empty() {
        return None;
    }
    let scaled: Vec<f64> = x.iter().map(|v| (v - offset) / scale).collect();
    let projection = Projection::new(&scaled);
    let spacing = Spacing::new(x.len());
    let start: Vec<f64> = bins.iter().map(|k| spacing.clamp(*k as f64)).collect();
    let flat = scale <= FLAT * offset.abs();
    let exact = |point: &Point| flat || point.cost <= newton::EXACT * projection.squares();
    let filled = |start: &[f64]| {
        let mut point = newton::descend(&projection, start, COARSE)?;
        while point.frequencies.len() < bins.len() {
            let mut frequencies = point.frequencies.clone();
            frequencies.push(strongest_line(&projection, &point)?);
            point = newton::descend(&projection, &frequencies, COARSE)?;
        }
        Some(point)
    };
    // the strongest bins, the harmonics of one fundamental, and line after line
    let mut best = filled(&start)?;
    if !exact(&best) {
        let harmonics = || if lines { comb(&scaled, bins.len()).and_then(|start| filled(&start)) } else { None };
        let (harmonics, lines) = rayon::join(harmonics, || filled(&start[..1]));
        for point in [harmonics, lines].into_iter().flatten() {
            if point.cost < best.cost {
                best = point;
            }
        }
    }
    let mut tries = MOST_TRIES;
    while lines
        && !exact(&best)
        && let Some(better) = exchange(&projection, &best, &mut tries)
    {
        best = better;
    }
    best = newton::descend(&projection, &best.frequencies, FINE)?;
    // half the rate is where a search stays; the line may lie a little lower
    if let Some(i) = best.frequencies.iter().position(|f| spacing.is_alternation(*f)) {
        let mut frequencies = best.frequencies.clone();
        frequencies[i] = spacing.released();
        let others: Vec<f64> = best.frequencies.iter().copied().filter(|f| !spacing.is_alternation(*f)).collect();
        if spacing.is_free(frequencies[i], &others)
            && let Some(point) = newton::descend(&projection, &frequencies, FINE).filter(|point| point.cost < best.cost)
        {
            best = point;
        }
    }
    let pairs = Spacing::pairs(&best.frequencies);
    if !pairs.is_empty()
        && !exact(&best)
        && let Some(point) = newton::descend_with(&projection, &best.frequencies, &pairs, FINE)
        && point.cost < best.cost
    {
        best = point;
    }

    let cosine = |i: usize| {
        let (frequency, mut c, mut s) = (best.frequencies[i], best.amplitudes.cos[i], best.amplitudes.sin[i]);
        if spacing.is_alternation(frequency) {
            // one of the two is 0 at all samples
            *if x.len().is_multiple_of(2) { &mut c } else { &mut s } = 0.0;
        }
        let at_start = -projection.omega(frequency) * projection.middle() - s.atan2(c);
        Cosine {
            frequency_hz: frequency * rate_hz / x.len() as f64,
            amplitude: scale * c.hypot(s),
            phase: (at_start + PI).rem_euclid(TAU) - PI,
        }
    };
    let mut cosines: Vec<Cosine> = (0..best.frequencies.len()).map(cosine).collect();
    sort_by_amplitude(&mut cosines);
    // Of a signal that is hardly but cosines, the cost is all rounding; the residuals are not.
    let squares: f64 = projection.rest(&best).iter().map(|r| r * r).sum();
    let mean_square_error = squares / x.len() as f64 * scale * scale;
    Some(CosineSum { mean: offset + scale * best.amplitudes.mean, cosines, mean_square_error })
}

/// Samples of the spectrum per bin of the DFT, at least, where a fundamental is sought.
const FINER: usize = 8;

/// At most `count` frequencies in bins: the harmonics of the fundamental whose harmonics hold the most energy. `None` if not
/// even two of them fit.
fn comb(x: &[f64], count: usize) -> Option<Vec<f64>> {
    let spacing = Spacing::new(x.len());
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let mut padded: Vec<f64> = x.iter().map(|v| v - mean).collect();
    padded.resize((FINER * x.len()).next_power_of_two(), 0.0);
    let power = Spectrum::of(&padded).power();
    let bin = x.len() as f64 / padded.len() as f64;
    let last = power.len() - 1;
    // at least one period in the window, and at least two harmonics below half the rate
    let fundamentals = (1.0 / bin).ceil() as usize..=last / 2;
    let energy = |k: &usize| -> f64 { power.iter().skip(*k).step_by(*k).take(count).sum() };
    let fundamental = fundamentals.max_by(|a, b| energy(a).total_cmp(&energy(b)))? as f64 * bin;
    let nyquist = last as f64 * bin;
    let mut chosen: Vec<f64> = Vec::with_capacity(count);
    for h in 1..=count {
        let f = h as f64 * fundamental;
        // the grid of fundamentals is fine, but its error grows with the harmonic
        let f = if (f - nyquist).abs() <= h as f64 * bin { nyquist } else { spacing.clamp(f) };
        if f <= nyquist && spacing.is_free(f, &chosen) {
            chosen.push(f);
        }
    }
    Some(chosen)
}

/// Moves a component that hardly explains anything to the strongest line of what is left; `None` if that does not help.
/// Every attempt takes one of `tries`.
fn exchange(projection: &Projection, point: &Point, tries: &mut usize) -> Option<Point> {
    expendable(point).into_iter().find_map(|i| {
        *tries = tries.checked_sub(1)?;
        let mut frequencies = point.frequencies.clone();
        frequencies.remove(i);
        let without = newton::descend(projection, &frequencies, COARSE)?;
        frequencies.clone_from(&without.frequencies);
        frequencies.push(strongest_line(projection, &without)?);
        let better = newton::descend(projection, &frequencies, COARSE)?;
        (better.cost < point.cost * (1.0 - WORTHWHILE)).then_some(better)
    })
}

/// The component that explains least; then, of each two that have come as close as they may, the one that explains less:
/// often they are one line between two bins of the DFT.
fn expendable(point: &Point) -> Vec<usize> {
    let less = |a: &usize, b: &usize| point.worth[*a].total_cmp(&point.worth[*b]);
    let mut found: Vec<usize> = (0..point.worth.len()).min_by(less).into_iter().collect();
    for (a, b) in Spacing::crowded(&point.frequencies) {
        let weaker = if less(&a, &b).is_le() { a } else { b };
        if !found.contains(&weaker) {
            found.push(weaker);
        }
    }
    found
}

/// Frequency, in bins, at which the spectrum of what `point` leaves is highest, sought on a grid of half a bin or finer
/// and at a distance from the components.
fn strongest_line(projection: &Projection, point: &Point) -> Option<f64> {
    let mut rest = projection.rest(point);
    let samples = rest.len();
    rest.resize((2 * samples).next_power_of_two(), 0.0);
    let bin = samples as f64 / rest.len() as f64;
    let power = Spectrum::of(&rest).power();
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
        fn finds_cosines_between_bins(
            n in 100usize..400,
            rate_hz in 0.01..100.0f64,
            parts in prop::collection::vec((0.15..0.85f64, 0.5..2.0f64, -3.0..3.0f64), 1..5),
            mean in -5.0..5.0f64,
        ) {
            // Each has its own share of the band, so that no two are too close to be told apart.
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
        fn is_never_worse_than_the_dft_and_owns_up_to_its_error(
            x in prop::collection::vec(prop_oneof![3 => -1e9..1e9f64, 1 => Just(0.0)], 1..60),
            components in 1..=MAX_COMPONENTS,
            rate_hz in 0.01..100.0f64,
        ) {
            let fit = fourier_fit(&x, rate_hz, components).unwrap();
            prop_assert!(fit.fit.mean_square_error <= fit.dft.mean_square_error);
            for sum in [&fit.fit, &fit.dft] {
                prop_assert_eq!(sum.cosines.len(), components.min(x.len() / 2));
                // The highest bin may be half the rate but for rounding.
                let band = |f: f64| f > 0.0 && f <= 0.5 * rate_hz * (1.0 + f64::EPSILON);
                prop_assert!(sum.cosines.iter().all(|c| band(c.frequency_hz)));
                prop_assert!(sum.cosines.is_sorted_by(|a, b| a.amplitude >= b.amplitude));
                // The error is known to rounding of the signal.
                prop_assert!((sum.mean_square_error - error_of(sum, &x, rate_hz)).abs() < 1e-9 * 1e18);
            }
        }
    }

    #[test]
    fn components_stay_apart() {
        // An amplitude that grows: two equal frequencies would explain it with huge, opposite amplitudes.
        let x: Vec<f64> = (0..300).map(|n| f64::from(n) * (0.3 * f64::from(n)).cos()).collect();
        let fit = fourier_fit(&x, 1.0, 4).unwrap();
        // of a line that grows by 1 a sample, two that are d apart have amplitudes of 1 / (2 pi d)
        let most = 300.0 / (TAU * spacing::PAIR);
        assert!(fit.fit.cosines.iter().all(|c| c.amplitude < 1.1 * most), "{:?}", fit.fit);
        let mut f: Vec<f64> = fit.fit.cosines.iter().map(|c| 300.0 * c.frequency_hz).collect();
        f.sort_by(f64::total_cmp);
        assert!(f.windows(2).all(|pair| pair[1] - pair[0] > 0.999 * spacing::PAIR), "{f:?}");
        assert!(f.windows(3).all(|three| three[2] - three[0] > 0.499), "{f:?}");
    }

    #[test]
    fn a_constant_has_no_cosines_to_speak_of() {
        let fit = fourier_fit(&[7.5; 20], 1.0, 3).unwrap();
        assert!((fit.fit.mean - 7.5).abs() < 1e-12 && fit.fit.mean_square_error < 1e-24);
        let one = fourier_fit(&[3.0], 1.0, 3).unwrap();
        assert_eq!((one.fit.mean, one.fit.cosines.len()), (3.0, 0));
    }

    #[test]
    fn a_spike_is_fitted_better_than_by_the_dft_although_no_line_stands_out() {
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
    fn what_is_not_finite_stays_so() {
        for spoilt in [f64::NAN, f64::INFINITY] {
            let mut x = vec![1.0; 50];
            x[20] = spoilt;
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
