//! The frequency of a spectral peak between the bins of the DFT.
//!
//! [`candan_offset`] uses three bins and needs no further pass over the signal. It models the peak as a complex exponential, so
//! the mirror image at negative frequency shifts the result by a fraction of a bin that decreases with the number of cycles.
//! [`refine_peak`] removes the image and the mean, and is exact for a cosine plus a constant.

use std::f64::consts::{PI, TAU};

use realfft::num_complex::Complex64;

use super::dft::Spectrum;
use super::dirichlet::Dirichlet;
use super::rotation::Rotation;
use super::{Cosine, Error, Result};

/// Largest number of iterations of a refinement; each gains one or more digits.
const MAX_ITERATIONS: usize = 30;

/// Offset in bins, −½ … ½, of a cosine's frequency from bin `k`, where its spectrum is largest:
/// tan(π/N)/(π/N) Re[(X_{k−1} − X_{k+1})/(2X_k − X_{k−1} − X_{k+1})] (Candan 2011, after Jacobsen).
///
/// `None` if a neighbour is missing (the first and the last bin) or the bins are NaN or zero.
pub fn candan_offset(spectrum: &Spectrum, k: usize) -> Option<f64> {
    let before = spectrum.bins.get(k.checked_sub(1)?)?;
    let (here, behind) = (spectrum.bins.get(k)?, spectrum.bins.get(k + 1)?);
    let step = PI / spectrum.len as f64;
    let ratio = (before - behind) / (2.0 * here - before - behind);
    let offset = step.tan() / step * ratio.re;
    offset.is_finite().then(|| offset.clamp(-0.5, 0.5))
}

/// The cosine whose peak in the DFT of `x` is bin `k`, with its frequency off the grid. Amplitude and phase come
/// from a least-squares fit together with a constant.
///
/// The method of Aboutanios & Mulgrew (2005): the spectrum half a bin to each side of the estimate gives the position of the peak
/// between them, tan(πδ/N) = tan(π/2N) Re[(X₊ − X₋)/(X₊ + X₋)], with phases counted from the middle of the signal. The contributions
/// of the mean and of the image at negative frequency to X₊ and X₋ are subtracted first. This is iterated until it converges. It is exact
/// for a cosine of about one cycle or more plus a constant; other components shift it by their leakage at the peak. The result stays within
/// a bin of `k`. O(N) per iteration.
///
/// NaN in gives NaN out. Errors: fewer than 4 samples, a bin that is not strictly between 0 and N/2, a rate that is not positive.
pub fn refine_peak(x: &[f64], k: usize, rate_hz: f64) -> Result<Cosine> {
    let len = x.len();
    if len == 0 {
        return Err(Error::Empty);
    }
    if len < 4 {
        return Err(Error::TooShort { len, needed: 4 });
    }
    if k == 0 || 2 * k >= len {
        return Err(Error::parameter("bin", k as f64, format!("inside 0 and {}", len as f64 / 2.0)));
    }
    if !(rate_hz > 0.0 && rate_hz.is_finite()) {
        return Err(Error::parameter("sampling rate", rate_hz, "positive and finite"));
    }
    let tone = Tone::new(x);
    let bin = TAU / len as f64;
    // Within a bin of the peak; at frequency 0 and N/2 a cosine has no amplitude and phase of its own.
    let lowest = f64::max(-1.0, 0.25 - k as f64);
    let highest = f64::min(1.0, 0.5 * len as f64 - 0.25 - k as f64);
    let (mut offset, mut reached) = (0.0, 1.0);
    for _ in 0..MAX_ITERATIONS {
        let omega = (k as f64 + offset) * bin;
        let (mean, amplitude) = tone.least_squares(omega);
        let [minus, plus] = [-0.5, 0.5].map(|half| tone.without_leakage(omega + half * bin, omega, mean, amplitude));
        let ratio = ((plus - minus) / (plus + minus)).re;
        let step = ((0.25 * bin).tan() * ratio).atan() / (0.5 * bin);
        if step.is_nan() {
            break;
        }
        let moved = (offset + step).clamp(lowest, highest);
        let length: f64 = f64::abs(moved - offset);
        // Steps shrink down to rounding.
        if length < 1e-15 || (length < 1e-10 && length >= reached) {
            break;
        }
        (offset, reached) = (moved, length);
    }
    let omega = (k as f64 + offset) * bin;
    let (_, amplitude) = tone.least_squares(omega);
    let at_first = 2.0 * amplitude * Complex64::cis(omega * tone.start);
    Ok(Cosine { frequency_hz: omega / TAU * rate_hz, amplitude: at_first.norm(), phase: at_first.arg() })
}

/// A signal modelled as x_t = m + A e^{iωt} + A* e^{−iωt} at centred times t.
struct Tone<'a> {
    x: &'a [f64],
    start: f64,
    sum: f64,
    kernel: Dirichlet,
}

impl Tone<'_> {
    fn new(x: &[f64]) -> Tone<'_> {
        Tone { x, start: -0.5 * (x.len() as f64 - 1.0), sum: x.iter().sum(), kernel: Dirichlet::new(x.len()) }
    }

    /// X(ω) = Σ x_t e^{−iωt}.
    fn spectrum(&self, omega: f64) -> Complex64 {
        Rotation::new(omega).dot_all(self.start, self.x).conj()
    }

    /// D(θ) = Σ e^{iθt}.
    fn dirichlet(&self, theta: f64) -> f64 {
        self.kernel.sums(self.kernel.angle(theta)).cos
    }

    /// m and A for a frequency. From Σ x = N m + 2 D(ω) Re A, X(ω) = N A + D(2ω) A* + D(ω) m.
    fn least_squares(&self, omega: f64) -> (f64, Complex64) {
        let n = self.x.len() as f64;
        let (one, two) = (self.dirichlet(omega), self.dirichlet(2.0 * omega));
        let x = self.spectrum(omega);
        let determinant = n * (n + two) - 2.0 * one * one;
        let re = (n * x.re - one * self.sum) / determinant;
        let mean = (self.sum - 2.0 * one * re) / n;
        (mean, Complex64::new(re, x.im / (n - two)))
    }

    /// X(at) without the contributions of the mean and of the image of a tone of frequency `omega`.
    fn without_leakage(&self, at: f64, omega: f64, mean: f64, amplitude: Complex64) -> Complex64 {
        self.spectrum(at) - mean * self.dirichlet(at) - amplitude.conj() * self.dirichlet(at + omega)
    }
}

#[cfg(test)]
mod tests {
    use super::super::evaluate;
    use super::*;
    use proptest::prelude::*;

    fn peak(x: &[f64]) -> usize {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let centred: Vec<f64> = x.iter().map(|v| v - mean).collect();
        let p = Spectrum::of(&centred).power();
        (1..p.len()).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap()
    }

    proptest! {
        #[test]
        fn a_cosine_is_found_exactly(
            len in 30usize..2000, cycles in 1.5..10.0f64, phase in -3.1..3.1f64, offset in -9.0..9.0f64, rate in 0.1..100.0f64,
        ) {
            let want = Cosine { frequency_hz: cycles * rate / len as f64, amplitude: 3.0, phase };
            let x: Vec<f64> = (0..len).map(|n| offset + evaluate(&[want], n as f64 / rate)).collect();
            let got = refine_peak(&x, peak(&x), rate).unwrap();
            prop_assert!((got.frequency_hz - want.frequency_hz).abs() * len as f64 / rate < 1e-9, "{:?} {:?}", got, want);
            prop_assert!((got.amplitude - 3.0).abs() < 1e-8 && (got.phase - phase).abs() < 1e-8);
        }

        #[test]
        fn three_bins_are_enough_for_many_cycles(len in 400usize..2000, cycles in 40.0..90.0f64, phase in -3.1..3.1f64) {
            let x: Vec<f64> = (0..len).map(|n| (TAU * cycles * n as f64 / len as f64 + phase).cos()).collect();
            let k = peak(&x);
            let offset = candan_offset(&Spectrum::of(&x), k).unwrap();
            prop_assert!((k as f64 + offset - cycles).abs() < 0.01, "{} for {}", k as f64 + offset, cycles);
        }

        #[test]
        fn any_signal_gives_a_frequency_near_the_bin(x in prop::collection::vec(-1e3..1e3f64, 4..100), at in 0.0..1.0f64) {
            let k = 1 + (at * ((x.len() - 1) / 2 - 1) as f64) as usize;
            let got = refine_peak(&x, k, 1.0).unwrap();
            prop_assert!((got.frequency_hz * x.len() as f64 - k as f64).abs() <= 1.0 + 1e-9 && got.amplitude.is_finite());
        }
    }

    #[test]
    fn noise_shifts_the_peak_little() {
        // Deterministic noise of a tenth of the amplitude; the bound of Cramér and Rao for it is about 0.002 bins.
        let mut state = 9u64;
        let x: Vec<f64> = (0..1000)
            .map(|n| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let noise = 0.34 * ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5);
                (TAU * 12.37 * f64::from(n) / 1000.0).cos() + noise
            })
            .collect();
        let got = refine_peak(&x, 12, 1.0).unwrap();
        assert!((got.frequency_hz * 1000.0 - 12.37).abs() < 0.01);
    }

    #[test]
    fn bins_at_the_ends_are_refused_and_silence_has_no_peak() {
        let x = [1.0, 2.0, 0.0, 3.0, 1.0, 0.0];
        assert_eq!(refine_peak(&[], 1, 1.0), Err(Error::Empty));
        assert_eq!(refine_peak(&x[..3], 1, 1.0), Err(Error::TooShort { len: 3, needed: 4 }));
        for k in [0, 3, usize::MAX / 2] {
            assert!(matches!(refine_peak(&x, k, 1.0), Err(Error::Parameter { name: "bin", .. })));
        }
        assert!(refine_peak(&x, 1, 0.0).is_err());
        assert!(refine_peak(&[f64::NAN; 8], 2, 1.0).unwrap().amplitude.is_nan());
        assert_eq!(refine_peak(&[0.0; 8], 2, 1.0).unwrap().amplitude, 0.0);
        let s = Spectrum::of(&x);
        assert!(
            candan_offset(&s, 0).is_none() && candan_offset(&s, 3).is_none() && candan_offset(&s, usize::MAX).is_none()
        );
        assert!(candan_offset(&Spectrum::of(&[0.0; 8]), 2).is_none());
    }
}
