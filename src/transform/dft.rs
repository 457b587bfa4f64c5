//! The discrete Fourier transform of a real signal.
//!
//! Definition (Tarraf & Wolf 2026, section 3.2): X_k = Σ_n x_n e^(−2πi k n / N), k = 0 … ⌊N/2⌋; the upper half is the
//! complex conjugate and is not stored. No normalisation forwards, 1/N backwards. O(N log N) for every N.

use std::f64::consts::TAU;

use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;

use super::{Cosine, plans};

/// One-sided spectrum of a real signal of `len` samples.
#[derive(Debug, Clone)]
pub struct Spectrum {
    /// X_k for k = 0 … ⌊len/2⌋.
    pub bins: Vec<Complex64>,
    /// Number of samples, N.
    pub len: usize,
}

impl Spectrum {
    /// The spectrum of `x`. An empty signal has an empty spectrum; NaN in gives NaN out.
    pub fn of(x: &[f64]) -> Spectrum {
        let len = x.len();
        if len == 0 {
            return Spectrum { bins: Vec::new(), len };
        }
        let plan = plans::forward(len);
        let mut input = x.to_vec();
        let mut bins = plan.make_output_vec();
        // Both lengths come from the plan, so this cannot fail.
        let done = plan.process(&mut input, &mut bins);
        debug_assert!(done.is_ok());
        Spectrum { bins, len }
    }

    /// The signal, x_n = (1/N) Σ_k X_k e^(2πi k n / N).
    pub fn inverse(&self) -> Vec<f64> {
        if self.len == 0 {
            return Vec::new();
        }
        let plan = RealFftPlanner::new().plan_fft_inverse(self.len);
        let mut input = self.bins.clone();
        // A real signal has real end bins; rounding may have left a small imaginary part.
        if let Some(x) = input.first_mut() {
            x.im = 0.0;
        }
        if self.len.is_multiple_of(2)
            && let Some(x) = input.last_mut()
        {
            x.im = 0.0;
        }
        let mut out = plan.make_output_vec();
        let done = plan.process(&mut input, &mut out);
        debug_assert!(done.is_ok());
        out.iter_mut().for_each(|x| *x /= self.len as f64);
        out
    }

    /// Power of each bin, p_k = |X_k|² / N.
    pub fn power(&self) -> Vec<f64> {
        let n = self.len.max(1) as f64;
        self.bins.iter().map(|x| x.norm_sqr() / n).collect()
    }

    /// Frequency of bin `k` in Hz at a sampling rate in Hz: k f_s / N.
    pub fn frequency(&self, k: usize, rate_hz: f64) -> f64 {
        k as f64 * rate_hz / self.len.max(1) as f64
    }

    /// Bin `k` as a cosine: its term of equation (1) of Tarraf & Wolf 2026, with amplitude 2|X_k|/N, or |X_k|/N for the
    /// mean and, if N is even, the highest bin, which have no conjugate. `None` beyond the last bin.
    pub fn cosine(&self, k: usize, rate_hz: f64) -> Option<Cosine> {
        let x = *self.bins.get(k)?;
        let twice = k > 0 && 2 * k != self.len;
        let amplitude = x.norm() * if twice { 2.0 } else { 1.0 } / self.len as f64;
        Some(Cosine { frequency_hz: self.frequency(k, rate_hz), amplitude, phase: x.arg() })
    }
}

/// Value of a sum of cosines at time `t` seconds: Σ a cos(2π f t + φ). A cosine of frequency 0 is a constant a cos φ.
pub fn evaluate(cosines: &[Cosine], t: f64) -> f64 {
    cosines.iter().map(|c| c.amplitude * (TAU * c.frequency_hz * t + c.phase).cos()).sum()
}

/// The smallest even length of at least `len` whose prime factors are at most 7: the FFT is fastest there.
pub(crate) fn fast_length(len: usize) -> usize {
    fn with_factors(odd: usize, factors: &[usize], len: usize, best: &mut usize) {
        let Some((factor, others)) = factors.split_first() else {
            *best = (*best).min(odd * len.div_ceil(odd).next_power_of_two().max(2));
            return;
        };
        let mut odd = odd;
        while odd < *best {
            with_factors(odd, others, len, best);
            odd *= factor;
        }
    }
    let mut best = len.max(2).next_power_of_two();
    with_factors(1, &[7, 5, 3], len, &mut best);
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, in O(N²).
    fn naive(x: &[f64], k: usize) -> Complex64 {
        let n = x.len() as f64;
        let term = |(i, v): (usize, &f64)| Complex64::from_polar(*v, -TAU * (k * i % x.len()) as f64 / n);
        x.iter().enumerate().map(term).sum()
    }

    proptest! {
        #[test]
        fn matches_the_definition_and_inverts(x in prop::collection::vec(-1e3..1e3f64, 1..130)) {
            let s = Spectrum::of(&x);
            prop_assert_eq!(s.bins.len(), x.len() / 2 + 1);
            for (k, b) in s.bins.iter().enumerate() {
                prop_assert!((b - naive(&x, k)).norm() < 1e-8);
            }
            prop_assert!(s.inverse().iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-9));
        }

        #[test]
        fn parseval(x in prop::collection::vec(-1e3..1e3f64, 1..300)) {
            let s = Spectrum::of(&x);
            let p = s.power();
            // Bins other than the mean and the highest of an even length also count for their conjugate.
            let both: f64 = (0..p.len()).map(|k| if k > 0 && 2 * k != x.len() { 2.0 * p[k] } else { p[k] }).sum();
            let energy: f64 = x.iter().map(|v| v * v).sum();
            prop_assert!((both - energy).abs() <= 1e-10 * energy.max(1e-300));
        }

        #[test]
        fn cosines_of_all_bins_sum_to_the_signal(x in prop::collection::vec(-1e3..1e3f64, 1..60), rate in 0.1..100.0f64) {
            let s = Spectrum::of(&x);
            let all: Vec<_> = (0..s.bins.len()).filter_map(|k| s.cosine(k, rate)).collect();
            for (n, v) in x.iter().enumerate() {
                prop_assert!((evaluate(&all, n as f64 / rate) - v).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn fast_length_is_the_next_one_with_small_factors() {
        let smooth = |mut n: usize| {
            for p in [2, 3, 5, 7] {
                while n.is_multiple_of(p) {
                    n /= p;
                }
            }
            n == 1
        };
        for len in 0..3000 {
            let next = (len.max(1)..).find(|n| n % 2 == 0 && smooth(*n)).unwrap();
            assert_eq!(fast_length(len), next);
        }
    }

    #[test]
    fn a_cosine_is_one_bin() {
        let x: Vec<f64> = (0..200).map(|n| 3.0 + 2.0 * (TAU * 5.0 * f64::from(n) / 200.0 + 0.7).cos()).collect();
        let c = Spectrum::of(&x).cosine(5, 10.0).unwrap();
        assert!(
            (c.amplitude - 2.0).abs() < 1e-12 && (c.phase - 0.7).abs() < 1e-12 && (c.frequency_hz - 0.25).abs() < 1e-15
        );
        assert!(Spectrum::of(&[]).bins.is_empty() && Spectrum::of(&[]).inverse().is_empty());
        assert!(Spectrum::of(&[f64::NAN, 1.0]).bins[0].re.is_nan());
    }
}
