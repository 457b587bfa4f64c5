//! One step of the transform: a signal to approximation and detail coefficients of half the length, and back.
//!
//! a_k = Σ_m h_m x_{2k+2−L+m} and d_k = Σ_m g_m x_{2k+2−L+m} for k = 0 … ⌊(N + L − 1)/2⌋ − 1, where the [`Boundary`]
//! extends x beyond its ends. Numbering and lengths are those of PyWavelets. The filters being orthonormal,
//! x_n = Σ_k a_k h_{n+L−2−2k} + d_k g_{n+L−2−2k} reconstructs the signal for every boundary and every length.

use super::{Error, Result, Wavelet};

/// Extension of a signal beyond its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Mirrored between samples: … x1 x0 | x0 x1 … x_{N−1} | x_{N−1} x_{N−2} …
    Symmetric,
    /// Repeated: … x_{N−1} | x0 x1 … x_{N−1} | x0 …
    Periodic,
    /// Zeros.
    Zero,
}

impl Boundary {
    /// Sample `i` of the extended signal.
    fn sample(self, x: &[f64], i: isize) -> f64 {
        let n = x.len() as isize;
        let inside = match self {
            Boundary::Symmetric => {
                let i = i.rem_euclid(2 * n);
                i.min(2 * n - 1 - i)
            }
            Boundary::Periodic => i.rem_euclid(n),
            Boundary::Zero => i,
        };
        usize::try_from(inside).ok().and_then(|i| x.get(i)).copied().unwrap_or(0.0)
    }
}

/// Approximation and detail coefficients of `x`, ⌊(N + L − 1)/2⌋ each. Errors: no samples.
pub fn dwt(x: &[f64], wavelet: &Wavelet, boundary: Boundary) -> Result<(Vec<f64>, Vec<f64>)> {
    if x.is_empty() {
        return Err(Error::Empty);
    }
    let (h, g) = (wavelet.scaling(), wavelet.detail());
    let (n, taps) = (x.len(), h.len());
    let count = (n + taps - 1) / 2;
    let mut low = Vec::with_capacity(count);
    let mut high = Vec::with_capacity(count);
    let mut push = |window: &[f64]| {
        let (mut a, mut d) = (0.0, 0.0);
        for ((v, h), g) in window.iter().zip(h).zip(&g) {
            a += v * h;
            d += v * g;
        }
        low.push(a);
        high.push(d);
    };
    // Windows 2k + 2 − L … 2k + 1 that begin before the signal, lie inside it, or end behind it.
    let first_inside = taps / 2 - 1;
    let inside = if n >= taps { (n - taps) / 2 + 1 } else { 0 };
    let mut window = vec![0.0; taps];
    let mut at_an_end = |k: usize, push: &mut dyn FnMut(&[f64])| {
        let start = 2 * k as isize + 2 - taps as isize;
        window.iter_mut().zip(start..).for_each(|(v, i)| *v = boundary.sample(x, i));
        push(&window);
    };
    (0..first_inside).for_each(|k| at_an_end(k, &mut push));
    x.windows(taps).step_by(2).for_each(&mut push);
    (first_inside + inside..count).for_each(|k| at_an_end(k, &mut push));
    Ok((low, high))
}

/// The signal of `len` samples that has these approximation and detail coefficients; `None` stands for zeros.
///
/// `len` is 2K − L + 2 for K coefficients, or one less (a signal of odd length). Errors: neither given, their lengths
/// differ or do not belong to `len`.
pub fn idwt(low: Option<&[f64]>, high: Option<&[f64]>, wavelet: &Wavelet, len: usize) -> Result<Vec<f64>> {
    let taps = wavelet.scaling().len();
    if len == 0 {
        return Err(Error::Empty);
    }
    let count = (len + taps - 1) / 2;
    for part in [low, high].into_iter().flatten() {
        if part.len() != count {
            return Err(Error::Lengths { first: part.len(), second: count });
        }
    }
    let mut out = vec![0.0; len];
    match (low, high) {
        (None, None) => return Err(Error::Empty),
        _ => {
            low.into_iter().for_each(|low| synthesise(low, wavelet.scaling(), &mut out));
            high.into_iter().for_each(|high| synthesise(high, &wavelet.detail(), &mut out));
        }
    }
    Ok(out)
}

/// Adds Σ_k c_k f_{n+L−2−2k} to every sample n: two samples from each window of L/2 coefficients, one from the even taps
/// and one from the odd.
fn synthesise(coefficients: &[f64], filter: &[f64], out: &mut [f64]) {
    let even: Vec<f64> = filter.iter().step_by(2).rev().copied().collect();
    let odd: Vec<f64> = filter.iter().skip(1).step_by(2).rev().copied().collect();
    let two_samples = |window: &[f64]| {
        let taps = window.iter().zip(even.iter().zip(&odd));
        taps.fold((0.0, 0.0), |(a, b), (c, (even, odd))| (a + c * even, b + c * odd))
    };
    let windows = coefficients.windows(even.len());
    let last_window = windows.clone().last();
    let mut pairs = out.chunks_exact_mut(2);
    for (pair, window) in pairs.by_ref().zip(windows) {
        let (a, b) = two_samples(window);
        pair[0] += a;
        pair[1] += b;
    }
    // The last sample if their number is odd.
    if let ([last], Some(window)) = (pairs.into_remainder(), last_window) {
        *last += two_samples(window).0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn haar_is_means_and_differences() {
        let (a, d) = dwt(&[1.0, 3.0, 4.0, 10.0, 7.0], &Wavelet::haar(), Boundary::Symmetric).unwrap();
        let root = 2f64.sqrt();
        for (got, want) in a.iter().zip([2.0, 7.0, 7.0]).chain(d.iter().zip([-1.0, -3.0, 0.0])) {
            assert!((got - want * root).abs() < 1e-14, "{got} instead of {}", want * root);
        }
        assert_eq!((a.len(), d.len()), (3, 3));
    }

    #[test]
    fn boundaries() {
        let x = [1.0, 2.0, 3.0];
        let all = |b: Boundary| (-7..7).map(|i| b.sample(&x, i)).collect::<Vec<_>>();
        assert_eq!(all(Boundary::Symmetric), [1., 1., 2., 3., 3., 2., 1., 1., 2., 3., 3., 2., 1., 1.]);
        assert_eq!(all(Boundary::Periodic), [3., 1., 2., 3., 1., 2., 3., 1., 2., 3., 1., 2., 3., 1.]);
        assert_eq!(all(Boundary::Zero), [0., 0., 0., 0., 0., 0., 0., 1., 2., 3., 0., 0., 0., 0.]);
    }

    proptest! {
        #[test]
        fn synthesis_inverts_analysis(
            x in prop::collection::vec(-1e3..1e3f64, 1..80),
            boundary in prop::sample::select(vec![Boundary::Symmetric, Boundary::Periodic, Boundary::Zero]),
        ) {
            for w in Wavelet::all() {
                let (a, d) = dwt(&x, &w, boundary).unwrap();
                prop_assert_eq!(a.len(), (x.len() + w.scaling().len() - 1) / 2);
                let back = idwt(Some(&a), Some(&d), &w, x.len()).unwrap();
                prop_assert!(back.iter().zip(&x).all(|(b, v)| (b - v).abs() < 1e-10), "{}", w);
            }
        }

        #[test]
        fn energy_of_a_zero_padded_signal_is_kept(x in prop::collection::vec(-1e3..1e3f64, 1..80)) {
            let energy = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
            for w in Wavelet::all() {
                // The padding is long enough that no coefficient is cut off.
                let mut padded = vec![0.0; w.scaling().len()];
                padded.extend(&x);
                padded.resize(padded.len() + w.scaling().len(), 0.0);
                let (a, d) = dwt(&padded, &w, Boundary::Zero).unwrap();
                prop_assert!((energy(&a) + energy(&d) - energy(&x)).abs() <= 1e-12 * energy(&x));
            }
        }
    }

    #[test]
    fn coefficients_of_other_lengths_are_refused_and_nan_stays_where_it_is() {
        let haar = Wavelet::haar();
        assert_eq!(dwt(&[], &haar, Boundary::Zero), Err(Error::Empty));
        assert_eq!(idwt(Some(&[1.0]), None, &haar, 0), Err(Error::Empty));
        assert_eq!(idwt(None, None, &haar, 2), Err(Error::Empty));
        assert_eq!(idwt(Some(&[1.0]), Some(&[]), &haar, 2), Err(Error::Lengths { first: 0, second: 1 }));
        assert_eq!(idwt(Some(&[1.0]), None, &haar, 3), Err(Error::Lengths { first: 1, second: 2 }));
        let (a, d) = dwt(&[f64::NAN, 1.0, 2.0, 3.0], &haar, Boundary::Symmetric).unwrap();
        assert!(a[0].is_nan() && d[0].is_nan() && a[1].is_finite());
    }
}
