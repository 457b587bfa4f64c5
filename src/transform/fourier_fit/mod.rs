//! Fourier fit: the sum of a few cosines of free frequency that is nearest to a signal.
//!
//! x_n ≈ a_0 + Σ_i a_i cos(2π f_i n/f_s + φ_i), least squares over everything (Tarraf & Wolf 2025, section 4.2). The DFT
//! has the frequencies of its grid only; off it, fewer cosines say more. Amplitudes and phases are linear and eliminated
//! (module `projection`); the frequencies are sought with argmin (module `levenberg_marquardt`).

mod cholesky;
mod levenberg_marquardt;
mod projection;

use std::f64::consts::TAU;

use argmin::core::Executor;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;

use self::levenberg_marquardt::{Frequencies, LevenbergMarquardt};
use self::projection::{Fit, Projection};
use super::dft::{Spectrum, fast_length};
use super::{Cosine, Error, Result};

/// Most cosines in a fit.
const MAX_COMPONENTS: usize = 50;

/// Most steps of one search.
const MAX_STEPS: u64 = 100;

/// Steps after each cosine that a pursuit adds.
const PURSUIT_STEPS: u64 = 4;

/// Samples beyond which cosines are not added one by one: it costs the number of components more than one search.
const PURSUIT_LIMIT: usize = 1 << 16;

/// A constant and some cosines.
#[derive(Debug, Clone, PartialEq)]
pub struct CosineSum {
    /// a_0, the constant.
    pub mean: f64,
    /// The cosines, strongest first.
    pub cosines: Vec<Cosine>,
    /// Mean square of its difference from the signal.
    pub mean_square_error: f64,
}

/// A signal as a sum of cosines, on the grid of the DFT and off it.
#[derive(Debug, Clone, PartialEq)]
pub struct FourierFit {
    /// The strongest components of the DFT, from which the fit starts.
    pub dft: CosineSum,
    /// The fit: never worse than the DFT.
    pub fit: CosineSum,
}

/// Fits a constant and `components` cosines to `x`, sampled at a rate in Hz.
///
/// Two searches are run and the better result is kept: one from the strongest bins of the DFT, one that adds cosines one
/// by one where the residual is strongest, moving all at each turn (only up to 65,536 samples). Both end in a local
/// minimum. As with every such fit, cosines of neighbouring frequency may be large and cancel in part: the sum describes
/// the samples, and says little beyond them.
///
/// There are fewer cosines if the DFT has fewer bins (⌊N/2⌋). A value that is not finite gives no cosines, and NaN for
/// the rest. Errors: no samples, a rate that is not positive, components not from 1 to 50.
///
/// O(M N + M³) a step for M cosines.
pub fn fourier_fit(x: &[f64], rate_hz: f64, components: usize) -> Result<FourierFit> {
    if x.is_empty() {
        return Err(Error::Empty);
    }
    if !(rate_hz > 0.0 && rate_hz.is_finite()) {
        return Err(Error::parameter("sampling rate", rate_hz, "positive and finite"));
    }
    if components == 0 || components > MAX_COMPONENTS {
        return Err(Error::parameter("components", components as f64, format!("from 1 to {MAX_COMPONENTS}")));
    }
    if x.iter().any(|v| !v.is_finite()) {
        let unknown = CosineSum { mean: f64::NAN, cosines: Vec::new(), mean_square_error: f64::NAN };
        return Ok(FourierFit { dft: unknown.clone(), fit: unknown });
    }
    // Without its mean and scaled, so that squares neither overflow nor lose the small beside the large.
    let mean = x.iter().map(|v| v / x.len() as f64).sum::<f64>();
    let spread = x.iter().fold(0.0, |m: f64, v| m.max((v - mean).abs()));
    let largest = x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    // What rounding leaves of a constant is no signal.
    let unit = if spread > 8.0 * f64::EPSILON * largest { spread } else { 0.0 };
    let signal: Vec<f64> = x.iter().map(|v| if unit > 0.0 { (v - mean) / unit } else { 0.0 }).collect();
    let projection = Projection::new(&signal);
    // On the grid cosines are orthogonal: their least squares are the DFT.
    let dft = projection.fit(&strongest_bins(&signal, components));
    let mut best = descend(&projection, &dft.omegas, MAX_STEPS).unwrap_or_else(|| dft.clone());
    if x.len() <= PURSUIT_LIMIT
        && let Some(other) = pursue(&projection, dft.omegas.len())
        && other.error < best.error
    {
        best = other;
    }
    let sum = |fit: &Fit| CosineSum {
        mean: mean + unit * fit.mean,
        cosines: cosines(fit, x.len(), unit, rate_hz),
        mean_square_error: fit.error * unit * unit / x.len() as f64,
    };
    Ok(FourierFit { dft: sum(&dft), fit: sum(&best) })
}

/// The bins of largest amplitude in radians per sample, strongest first, the mean left out.
fn strongest_bins(x: &[f64], components: usize) -> Vec<f64> {
    let spectrum = Spectrum::of(x);
    let amplitude = |k: usize| spectrum.cosine(k, 1.0).map_or(0.0, |c| c.amplitude);
    let mut bins: Vec<(usize, f64)> = (1..spectrum.bins.len()).map(|k| (k, amplitude(k))).collect();
    bins.sort_by(|a, b| b.1.total_cmp(&a.1));
    bins.truncate(components);
    bins.iter().map(|(k, _)| TAU * *k as f64 / x.len() as f64).collect()
}

/// The local minimum of the error near some frequencies.
fn descend(projection: &Projection<'_>, omegas: &[f64], steps: u64) -> Option<Fit> {
    let done = Executor::new(projection.clone(), LevenbergMarquardt::new(projection.len()))
        .configure(|state: Frequencies| state.param(omegas.to_vec()).max_iters(steps))
        .run();
    done.ok().and_then(|result| result.solver.into_fit())
}

/// Cosines added one by one at the strongest frequency of what is left, all frequencies moved after each (orthogonal
/// matching pursuit off the grid).
fn pursue(projection: &Projection<'_>, components: usize) -> Option<Fit> {
    // Four times as many bins as the signal has: a peak is met to an eighth of a bin.
    let plan = RealFftPlanner::new().plan_fft_forward(fast_length(4 * projection.len()));
    let (mut padded, mut bins) = (plan.make_input_vec(), plan.make_output_vec());
    let mut fit = projection.fit(&[]);
    for rest in (0..components).rev() {
        padded.fill(0.0);
        padded.iter_mut().zip(&fit.residual).for_each(|(v, r)| *v = *r);
        plan.process(&mut padded, &mut bins).ok()?;
        let (peak, _) = bins.iter().enumerate().skip(1).max_by(|a, b| a.1.norm_sqr().total_cmp(&b.1.norm_sqr()))?;
        let mut omegas = fit.omegas;
        omegas.push(TAU * peak as f64 / padded.len() as f64);
        let steps = if rest == 0 { MAX_STEPS } else { PURSUIT_STEPS };
        fit = descend(projection, &omegas, steps)?;
    }
    Some(fit)
}

/// The cosines of a fit with frequencies in [0, f_s/2] and phases at the first sample, strongest first.
fn cosines(fit: &Fit, len: usize, unit: f64, rate_hz: f64) -> Vec<Cosine> {
    let middle = 0.5 * (len as f64 - 1.0);
    let cosine = |(omega, amplitude): (&f64, &Complex64)| {
        let at_first = amplitude * Complex64::cis(-omega * middle);
        // At whole samples e^{iωn} has period 2π in ω, and the conjugate of a cosine's amplitude belongs to −ω.
        let turned = omega - TAU * (omega / TAU).round();
        let phase = if turned < 0.0 { -at_first.arg() } else { at_first.arg() };
        Cosine { frequency_hz: turned.abs() / TAU * rate_hz, amplitude: unit * at_first.norm(), phase }
    };
    let mut cosines: Vec<Cosine> = fit.omegas.iter().zip(&fit.amplitudes).map(cosine).collect();
    cosines.sort_by(|a, b| b.amplitude.total_cmp(&a.amplitude));
    cosines
}

#[cfg(test)]
mod tests {
    use super::super::evaluate;
    use super::*;
    use proptest::prelude::*;

    fn error(sum: &CosineSum, x: &[f64], rate: f64) -> f64 {
        let square = |(n, v): (usize, &f64)| (v - sum.mean - evaluate(&sum.cosines, n as f64 / rate)).powi(2);
        x.iter().enumerate().map(square).sum::<f64>() / x.len() as f64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn never_worse_than_the_dft_and_honest_about_it(
            x in prop::collection::vec(-1e3..1e3f64, 1..80), components in 1usize..=12, rate in 0.1..100.0f64,
        ) {
            let f = fourier_fit(&x, rate, components).unwrap();
            prop_assert!(f.fit.mean_square_error <= f.dft.mean_square_error);
            prop_assert_eq!(f.fit.cosines.len(), components.min(x.len() / 2));
            let s = Spectrum::of(&x);
            let total: f64 = f.dft.cosines.iter().map(|c| c.amplitude).sum();
            let mut amplitudes: Vec<f64> = (1..s.bins.len()).map(|k| s.cosine(k, rate).unwrap().amplitude).collect();
            amplitudes.sort_by(|a, b| b.total_cmp(a));
            prop_assert!((total - amplitudes.iter().take(components).sum::<f64>()).abs() < 1e-6);
            for sum in [&f.dft, &f.fit] {
                let loudest = sum.cosines.iter().fold(1e3, |m: f64, c| m.max(c.amplitude));
                prop_assert!((error(sum, &x, rate) - sum.mean_square_error).abs() < 1e-9 * loudest * loudest);
                prop_assert!(sum.cosines.iter().all(|c| (0.0..=0.5 * rate * (1.0 + 1e-9)).contains(&c.frequency_hz)));
            }
        }

        #[test]
        fn finds_cosines_off_the_grid(
            len in 100usize..600, first in 3.0..8.0f64, gaps in prop::collection::vec(2.5..6.0f64, 0..4),
            phase in -3.0..3.0f64, rate in 0.1..100.0f64,
        ) {
            // Frequencies in bins, at least 2.5 apart.
            let bins = gaps.iter().scan(first, |at, gap| { *at += gap; Some(*at) });
            let bins: Vec<f64> = std::iter::once(first).chain(bins).collect();
            let truth: Vec<Cosine> = bins.iter().enumerate().map(|(i, b)| Cosine {
                frequency_hz: b * rate / len as f64, amplitude: 5.0 / (i + 1) as f64, phase: phase + i as f64,
            }).collect();
            let x: Vec<f64> = (0..len).map(|n| 20.0 + evaluate(&truth, n as f64 / rate)).collect();
            let f = fourier_fit(&x, rate, bins.len()).unwrap();
            prop_assert!(f.fit.mean_square_error < 1e-18, "{:?}", f.fit);
            prop_assert!((f.fit.mean - 20.0).abs() < 1e-9);
            for (got, want) in f.fit.cosines.iter().zip(&truth) {
                prop_assert!((got.frequency_hz / want.frequency_hz - 1.0).abs() < 1e-9);
                prop_assert!((got.amplitude - want.amplitude).abs() < 1e-8);
                prop_assert!(((got.phase - want.phase) / TAU).fract().abs().min(1.0 - ((got.phase - want.phase) / TAU).fract().abs()) < 1e-7);
            }
        }
    }

    #[test]
    fn a_constant_has_cosines_of_no_height() {
        let f = fourier_fit(&[4.0; 30], 1.0, 3).unwrap();
        assert!((f.fit.mean - 4.0).abs() < 1e-14 && f.fit.mean_square_error == 0.0);
        assert!(f.fit.cosines.iter().all(|c| c.amplitude == 0.0));
        assert_eq!(fourier_fit(&[4.0], 1.0, 3).unwrap().fit.mean, 4.0);
    }

    #[test]
    fn fifty_components_of_few_samples() {
        let x: Vec<f64> = (0..60).map(|n| f64::from(n * n * 7 % 23)).collect();
        let f = fourier_fit(&x, 1.0, 50).unwrap();
        assert_eq!(f.dft.cosines.len(), 30);
        assert!(f.dft.mean_square_error < 1e-20 && f.fit.mean_square_error <= f.dft.mean_square_error);
    }

    #[test]
    fn limits() {
        assert_eq!(fourier_fit(&[], 1.0, 1), Err(Error::Empty));
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(fourier_fit(&[1.0], rate, 1), Err(Error::Parameter { name: "sampling rate", .. })));
        }
        for components in [0, 51] {
            assert!(matches!(fourier_fit(&[1.0], 1.0, components), Err(Error::Parameter { name: "components", .. })));
        }
        for bad in [f64::NAN, f64::INFINITY] {
            let f = fourier_fit(&[1.0, bad, 2.0], 1.0, 2).unwrap();
            assert!(f.fit.mean.is_nan() && f.fit.mean_square_error.is_nan() && f.fit.cosines.is_empty());
        }
        for scale in [1e-200, 1e200] {
            let x: Vec<f64> = (0..50).map(|n| scale * (f64::from(n) * 0.7).cos()).collect();
            let f = fourier_fit(&x, 1.0, 1).unwrap();
            assert!((f.fit.cosines[0].amplitude / scale - 1.0).abs() < 1e-9);
        }
    }
}
