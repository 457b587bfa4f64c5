//! Autocorrelation of a signal, by the Wiener–Khinchin theorem in O(N log N).
//!
//! With y_n = x_n − mean(x), s_l = Σ_n y_n y_{n+l} and c_l the number of products in that sum:
//! biased r_l = s_l / s_0; unbiased r_l = (s_l / c_l) / (s_0 / c_0). Both are 1 at lag 0. The biased form is a
//! true correlation (|r_l| ≤ 1) but decreases towards long lags; the unbiased form keeps the height of a peak, but its noise
//! grows towards long lags. With a mask, hidden samples are excluded from mean, sums and counts.

use super::dft::{Spectrum, fast_length};
use super::{Error, Result};

/// Divisor of the sum of products of a lag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divisor {
    /// The number of samples, the same for every lag.
    Biased,
    /// The number of products of that lag.
    Unbiased,
}

/// Normalised autocorrelation of `x` at lags 0 … N − 1, with the mean subtracted.
///
/// A constant signal has no autocorrelation: 0 at every lag, lag 0 included. A value that is not finite makes every lag
/// NaN. Errors: no samples.
pub fn autocorrelation(x: &[f64], divisor: Divisor) -> Result<Vec<f64>> {
    correlate(x, None, divisor)
}

/// Autocorrelation of the `visible` samples of `x`; lags without a visible pair are 0.
///
/// As [`autocorrelation`]; hidden values may be anything, NaN included. If no sample is visible, every lag is 0.
/// Errors: no samples, or a mask of another length.
pub fn masked_autocorrelation(x: &[f64], visible: &[bool], divisor: Divisor) -> Result<Vec<f64>> {
    if x.len() != visible.len() {
        return Err(Error::Lengths { first: x.len(), second: visible.len() });
    }
    correlate(x, Some(visible), divisor)
}

fn correlate(x: &[f64], visible: Option<&[bool]>, divisor: Divisor) -> Result<Vec<f64>> {
    let len = x.len();
    if len == 0 {
        return Err(Error::Empty);
    }
    let seen = |n: usize| visible.is_none_or(|v| v.get(n).copied().unwrap_or(false));
    let shown = || x.iter().enumerate().filter(|&(n, _)| seen(n)).map(|(_, v)| *v);
    if shown().any(|v| !v.is_finite()) {
        return Ok(vec![f64::NAN; len]);
    }
    let largest = shown().fold(0.0, |m: f64, v| m.max(v.abs()));
    // Divide by the largest first, so that the sum of huge values cannot overflow.
    let mean = largest * shown().map(|v| v / largest).sum::<f64>() / shown().count().max(1) as f64;
    let spread = shown().fold(0.0, |m: f64, v| m.max((v - mean).abs()));
    // A spread at the level of rounding belongs to a constant. (NaN: only zeros.)
    if spread <= 8.0 * f64::EPSILON * largest || mean.is_nan() {
        return Ok(vec![0.0; len]);
    }
    // Scaled by the spread, so that squares neither overflow nor underflow.
    let centred = x.iter().enumerate().map(|(n, v)| if seen(n) { (v - mean) / spread } else { 0.0 });
    let mut sums = lagged_products(centred, len);
    let s0 = sums[0];
    if divisor == Divisor::Biased {
        sums.iter_mut().for_each(|s| *s /= s0);
        return Ok(sums);
    }
    let counts: Vec<f64> = match visible {
        None => (0..len).map(|l| (len - l) as f64).collect(),
        Some(mask) => {
            let ones = mask.iter().map(|&v| f64::from(u8::from(v)));
            // Counts are integers; deviations come from the rounding of the FFT.
            lagged_products(ones, len).into_iter().map(f64::round).collect()
        }
    };
    let c0 = counts[0];
    Ok(sums.iter().zip(&counts).map(|(s, c)| if *c > 0.0 { (s / c) / (s0 / c0) } else { 0.0 }).collect())
}

/// Σ_n y_n y_{n+l} for l = 0 … len − 1.
fn lagged_products(y: impl Iterator<Item = f64>, len: usize) -> Vec<f64> {
    // Zero padding prevents the circular correlation from wrapping around.
    let padded = fast_length(2 * len - 1);
    let mut signal = Vec::with_capacity(padded);
    signal.extend(y);
    signal.resize(padded, 0.0);
    let mut spectrum = Spectrum::of(&signal);
    drop(signal);
    for bin in &mut spectrum.bins {
        *bin = bin.norm_sqr().into();
    }
    let mut sums = spectrum.inverse();
    sums.truncate(len);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::TAU;

    /// The definition, in O(N²).
    fn naive(x: &[f64], visible: &[bool], divisor: Divisor) -> Vec<f64> {
        let shown: Vec<f64> = x.iter().zip(visible).filter(|(_, v)| **v).map(|(x, _)| *x).collect();
        let mean = shown.iter().sum::<f64>() / shown.len() as f64;
        let lag = |l: usize| {
            let pairs = (0..x.len() - l).filter(|&n| visible[n] && visible[n + l]);
            pairs.fold((0.0, 0.0), |(s, c), n| (s + (x[n] - mean) * (x[n + l] - mean), c + 1.0))
        };
        let (s0, c0) = lag(0);
        let one = |l| match (lag(l), divisor) {
            ((s, _), Divisor::Biased) => s / s0,
            ((_, 0.0), Divisor::Unbiased) => 0.0,
            ((s, c), Divisor::Unbiased) => s / c / (s0 / c0),
        };
        (0..x.len()).map(one).collect()
    }

    proptest! {
        #[test]
        fn matches_the_definition(
            samples in prop::collection::vec((-1e3..1e3f64, prop::bool::weighted(0.8)), 2..200),
            unbiased: bool,
            scale in prop::sample::select(vec![1.0, 1e-200, 1e200]),
        ) {
            let (x, mut visible): (Vec<f64>, Vec<bool>) = samples.iter().map(|(v, m)| (v * scale, *m)).unzip();
            visible[0] = true;
            visible[1] = true;
            let divisor = if unbiased { Divisor::Unbiased } else { Divisor::Biased };
            let plain: Vec<f64> = samples.iter().map(|s| s.0).collect();
            let near = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9);
            let all = vec![true; x.len()];
            prop_assert!(near(autocorrelation(&x, divisor).unwrap(), naive(&plain, &all, divisor)));
            prop_assert!(near(masked_autocorrelation(&x, &visible, divisor).unwrap(), naive(&plain, &visible, divisor)));
        }
    }

    #[test]
    fn the_unbiased_form_keeps_the_height_of_a_cosine() {
        let x: Vec<f64> = (0..1000).map(|n| 7.0 + (TAU * f64::from(n) / 50.0).cos()).collect();
        let r = autocorrelation(&x, Divisor::Unbiased).unwrap();
        assert!((r[0] - 1.0).abs() < 1e-12 && (r[500] - 1.0).abs() < 1e-9 && (r[525] + 1.0).abs() < 1e-9);
        // The biased form has half of it, as it has half of the products.
        let r = autocorrelation(&x, Divisor::Biased).unwrap();
        assert!((r[500] - 0.5).abs() < 1e-9);
    }

    #[test]
    fn hidden_samples_do_not_count() {
        let clean: Vec<f64> = (0..400).map(|n| (TAU * f64::from(n) / 40.0).cos()).collect();
        let mut dirty = clean.clone();
        dirty[100..140].fill(f64::NAN);
        let visible: Vec<bool> = dirty.iter().map(|v| !v.is_nan()).collect();
        let r = masked_autocorrelation(&dirty, &visible, Divisor::Unbiased).unwrap();
        assert!((r[40] - 1.0).abs() < 1e-9 && (r[60] + 1.0).abs() < 1e-9);
    }

    #[test]
    fn constants_have_no_autocorrelation_and_nan_spreads_unless_masked() {
        assert_eq!(autocorrelation(&[], Divisor::Biased), Err(Error::Empty));
        let wrong = masked_autocorrelation(&[1.0], &[], Divisor::Biased);
        assert_eq!(wrong, Err(Error::Lengths { first: 1, second: 0 }));
        for constant in [0.0, 0.1, -3e300] {
            assert_eq!(autocorrelation(&[constant; 7], Divisor::Unbiased).unwrap(), [0.0; 7]);
        }
        assert!(autocorrelation(&[1.0, f64::NAN], Divisor::Biased).unwrap().iter().all(|r| r.is_nan()));
        assert!(autocorrelation(&[f64::INFINITY; 3], Divisor::Biased).unwrap().iter().all(|r| r.is_nan()));
        assert_eq!(masked_autocorrelation(&[f64::NAN, 2.0], &[false; 2], Divisor::Biased).unwrap(), [0.0; 2]);
    }
}
