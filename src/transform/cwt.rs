//! The continuous wavelet transform: correlation of the signal with a wave packet of every scale, at every sample.
//!
//! W(s, n) = (1/N) Σ_k X_k ψ̂(s ω_k) e^{iω_k n}, ω_k = 2πk/N (Torrence & Compo 1998, equation 4), scales s in samples.
//!
//! Normalisation: by amplitude. ψ̂ peaks at the value for which a cosine of amplitude A gives |W| = A at its own scale,
//! so heights compare across scales and the highest row is at the frequency of the cosine, without bias. (With the unit
//! energy of Tarraf & Wolf 2025, equation 5, a row is larger by a factor that grows as √s, and peaks lean to long scales.)
//!
//! Outside the data, the signal is assumed to equal its mean. Rows are therefore damped within about √2 s of an end.
//! O(S N log N) for S scales, with S N values as the result.

use std::f64::consts::{E, SQRT_2, TAU};
use std::sync::Arc;

use ndarray::Array2;
use rayon::prelude::*;
use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner};

use super::dft::{Spectrum, fast_length};
use super::{Error, Result};

/// Zero padding in scales, which separates the end of the signal from its start in the circular convolution: exp(−6²/2) ≈ 10⁻⁸.
const GUARD: f64 = 6.0;

/// A cosine under a Gaussian: ψ̂(sω) = 2 exp(−(sω − ω0)²/2) for ω > 0, else 0. The result is complex, with the phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Morlet {
    omega0: f64,
}

impl Default for Morlet {
    /// ω0 = 6: about two cycles on each side within the width of the Gaussian.
    fn default() -> Morlet {
        Morlet { omega0: 6.0 }
    }
}

impl Morlet {
    /// A Morlet wavelet with ω0 from 5 (below, its mean is not small, so it is not a wavelet) to 100. The larger,
    /// the finer in frequency and the coarser in time. Errors: outside.
    pub fn new(omega0: f64) -> Result<Morlet> {
        if !(5.0..=100.0).contains(&omega0) {
            return Err(Error::parameter("omega0", omega0, "from 5 to 100"));
        }
        Ok(Morlet { omega0 })
    }

    /// Frequency in cycles per sample whose cosine is strongest at scale `s`: ω0 / (2π s).
    pub fn frequency(&self, scale: f64) -> f64 {
        self.omega0 / (TAU * scale)
    }

    /// Scale in samples at which a cosine of this frequency, in cycles per sample, is strongest.
    pub fn scale(&self, frequency: f64) -> f64 {
        self.omega0 / (TAU * frequency)
    }

    /// W(s, n): one row per scale in samples, one column per sample of `x`. The phase of W is that of the cosine.
    ///
    /// Errors: no samples; a scale beyond N or whose frequency is above half a cycle per sample.
    pub fn transform(&self, x: &[f64], scales: &[f64]) -> Result<Array2<Complex64>> {
        let bank = FilterBank::new(x, scales, |s| self.frequency(s))?;
        bank.rows(|scale, row: &mut [Complex64]| {
            let gain = |omega: f64| (-0.5 * (scale * omega - self.omega0).powi(2)).exp();
            // An analytic signal: the spectrum of the real part, and the same rotated by −90° for the imaginary part.
            let (re, im) = (bank.filtered(gain, Complex64::ONE), bank.filtered(gain, -Complex64::I));
            row.iter_mut().zip(re.into_iter().zip(im)).for_each(|(w, (re, im))| *w = Complex64::new(re, im));
        })
    }
}

/// The second derivative of a Gaussian (Ricker wavelet), ψ̂(sω) = (e/2) (sω)² exp(−(sω)²/2): fine in time, coarse in
/// frequency. The result is real, and positive where the signal has a bump of the width of the scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MexicanHat;

impl MexicanHat {
    /// Frequency in cycles per sample whose cosine is strongest at scale `s`: √2 / (2π s).
    pub fn frequency(&self, scale: f64) -> f64 {
        SQRT_2 / (TAU * scale)
    }

    /// Scale in samples at which a cosine of this frequency, in cycles per sample, is strongest.
    pub fn scale(&self, frequency: f64) -> f64 {
        SQRT_2 / (TAU * frequency)
    }

    /// W(s, n), as [`Morlet::transform`], real.
    pub fn transform(&self, x: &[f64], scales: &[f64]) -> Result<Array2<f64>> {
        let bank = FilterBank::new(x, scales, |s| self.frequency(s))?;
        bank.rows(|scale, row: &mut [f64]| {
            let gain = |omega: f64| {
                let square = (scale * omega).powi(2);
                0.5 * E * square * (-0.5 * square).exp()
            };
            row.iter_mut().zip(bank.filtered(gain, Complex64::ONE)).for_each(|(w, v)| *w = v);
        })
    }
}

/// Frequencies from `lowest` to at most `highest` with the same ratio between neighbours, `per_octave` per factor
/// of two. Errors: frequencies that are not positive and in order, none or more than 1000 per octave.
pub fn geometric_frequencies(lowest: f64, highest: f64, per_octave: usize) -> Result<Vec<f64>> {
    if !(lowest > 0.0 && lowest.is_finite()) {
        return Err(Error::parameter("lowest frequency", lowest, "positive and finite"));
    }
    if !(highest >= lowest && highest.is_finite()) {
        return Err(Error::parameter(
            "highest frequency",
            highest,
            format!("finite and at least the lowest, {lowest}"),
        ));
    }
    if per_octave == 0 || per_octave > 1000 {
        return Err(Error::parameter("frequencies per octave", per_octave as f64, "from 1 to 1000"));
    }
    let steps = ((highest / lowest).log2() * per_octave as f64 + 1e-9).floor() as usize;
    Ok((0..=steps).map(|i| lowest * (i as f64 / per_octave as f64).exp2()).collect())
}

/// The spectrum of the signal, to be multiplied by the gains of each scale.
struct FilterBank<'a> {
    spectrum: Spectrum,
    back: Arc<dyn ComplexToReal<f64>>,
    scales: &'a [f64],
    len: usize,
}

impl<'a> FilterBank<'a> {
    fn new(x: &[f64], scales: &'a [f64], frequency: impl Fn(f64) -> f64) -> Result<FilterBank<'a>> {
        let len = x.len();
        if len == 0 {
            return Err(Error::Empty);
        }
        for &scale in scales {
            if !(scale > 0.0 && scale <= len as f64 && frequency(scale) <= 0.5 + 1e-12) {
                let rule = format!(
                    "at most the {len} samples of the signal, and its frequency at most half a cycle per sample"
                );
                return Err(Error::parameter("scale", scale, rule));
            }
        }
        let longest = scales.iter().fold(0.0, |m: f64, s| m.max(*s));
        let padded = fast_length(len + (GUARD * longest).ceil() as usize);
        let mean = x.iter().map(|v| v / len as f64).sum::<f64>();
        let mut signal: Vec<f64> = x.iter().map(|v| v - mean).collect();
        signal.resize(padded, 0.0);
        let spectrum = Spectrum::of(&signal);
        Ok(FilterBank { spectrum, back: RealFftPlanner::new().plan_fft_inverse(padded), scales, len })
    }

    /// The signal with each frequency ω > 0 (radians per sample) multiplied by `gain(ω)`, times `turn`.
    fn filtered(&self, gain: impl Fn(f64) -> f64, turn: Complex64) -> Vec<f64> {
        let padded = self.spectrum.len;
        let step = TAU / padded as f64;
        let weight = |k: usize| turn * (gain(step * k as f64) / padded as f64);
        let mut bins: Vec<Complex64> = self.spectrum.bins.iter().enumerate().map(|(k, b)| b * weight(k)).collect();
        // The ends of the spectrum of a real signal are real; the mean has been subtracted.
        if let Some(mean) = bins.first_mut() {
            *mean = Complex64::ZERO;
        }
        if let Some(highest) = bins.last_mut() {
            highest.im = 0.0;
        }
        let mut out = self.back.make_output_vec();
        let done = self.back.process(&mut bins, &mut out);
        debug_assert!(done.is_ok());
        out.truncate(self.len);
        out
    }

    /// One row per scale, computed in parallel.
    fn rows<T: Clone + Default + Send>(&self, fill: impl Fn(f64, &mut [T]) + Sync) -> Result<Array2<T>> {
        let mut out = Array2::from_elem((self.scales.len(), self.len), T::default());
        if let Some(flat) = out.as_slice_mut() {
            flat.par_chunks_mut(self.len).zip(self.scales).for_each(|(row, &scale)| fill(scale, row));
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn noise(len: usize) -> Vec<f64> {
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        (0..len).map(|_| next()).collect()
    }

    /// W by convolution with the wavelet itself, in O(N²).
    fn direct<T: std::iter::Sum>(x: &[f64], n: usize, wavelet: impl Fn(f64) -> T, times: impl Fn(T, f64) -> T) -> T {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        x.iter().enumerate().map(|(m, v)| times(wavelet(n as f64 - m as f64), v - mean)).sum()
    }

    #[test]
    fn morlet_equals_direct_convolution() {
        let x = noise(300);
        let scales = [4.0, 9.5, 40.0, 120.0];
        let got = Morlet::default().transform(&x, &scales).unwrap();
        assert_eq!(got.dim(), (4, 300));
        for (row, s) in got.rows().into_iter().zip(scales) {
            let packet =
                |t: f64| Complex64::from_polar(2.0 / (s * TAU.sqrt()) * (-0.5 * (t / s).powi(2)).exp(), 6.0 * t / s);
            for n in (0..300).step_by(7) {
                let want = direct(&x, n, packet, |w, v| w * v);
                assert!((row[n] - want).norm() < 1e-7, "scale {s}, sample {n}: {} instead of {want}", row[n]);
            }
        }
    }

    #[test]
    fn mexican_hat_equals_direct_convolution() {
        let x = noise(300);
        let scales = [3.0, 9.5, 40.0];
        let got = MexicanHat.transform(&x, &scales).unwrap();
        for (row, s) in got.rows().into_iter().zip(scales) {
            let hat = |t: f64| {
                let square = (t / s).powi(2);
                0.5 * E / (s * TAU.sqrt()) * (1.0 - square) * (-0.5 * square).exp()
            };
            for n in (0..300).step_by(7) {
                let want = direct(&x, n, hat, |w, v| w * v);
                assert!((row[n] - want).abs() < 1e-7, "scale {s}, sample {n}: {} instead of {want}", row[n]);
            }
        }
    }

    #[test]
    fn a_cosine_peaks_at_its_frequency_with_its_amplitude_and_phase() {
        let f = 0.04;
        let x: Vec<f64> = (0..2000).map(|n| 9.0 + 2.5 * (TAU * f * f64::from(n) + 0.4).cos()).collect();
        let frequencies = geometric_frequencies(0.01, 0.16, 24).unwrap();
        assert_eq!(frequencies.len(), 97);
        let at = 48;
        assert!((frequencies[at] - f).abs() < 1e-12);
        for omega0 in [5.0, 6.0, 12.0] {
            let morlet = Morlet::new(omega0).unwrap();
            let scales: Vec<f64> = frequencies.iter().map(|f| morlet.scale(*f)).collect();
            let w = morlet.transform(&x, &scales).unwrap();
            let middle = w.column(1000);
            let highest = (0..97).max_by(|&a, &b| middle[a].norm().total_cmp(&middle[b].norm())).unwrap();
            assert_eq!(highest, at);
            assert!((middle[at].norm() - 2.5).abs() < 1e-5);
            // The period divides 1000.
            assert!((middle[at].arg() - 0.4).abs() < 1e-5);
        }
        let scales: Vec<f64> = frequencies.iter().map(|f| MexicanHat.scale(*f)).collect();
        let w = MexicanHat.transform(&x, &scales).unwrap();
        let swing = |row: usize| (900..1100).fold(0.0, |m: f64, n| m.max(w[[row, n]].abs()));
        let highest = (0..97).max_by(|&a, &b| swing(a).total_cmp(&swing(b))).unwrap();
        assert_eq!(highest, at);
        assert!((w[[at, 1000]] - 2.5 * 0.4f64.cos()).abs() < 1e-3);
    }

    #[test]
    fn scales_and_frequencies_are_inverse() {
        let m = Morlet::default();
        assert!((m.frequency(m.scale(0.1)) - 0.1).abs() < 1e-15 && (m.scale(0.5) - 6.0 / PI).abs() < 1e-15);
        assert!((MexicanHat.frequency(MexicanHat.scale(0.1)) - 0.1).abs() < 1e-15);
    }

    #[test]
    fn scales_that_the_signal_cannot_hold_are_refused() {
        let m = Morlet::default();
        assert_eq!(m.transform(&[], &[1.0]).unwrap_err(), Error::Empty);
        for scale in [0.0, -1.0, 1.0, 11.0, f64::NAN, f64::INFINITY] {
            assert!(
                matches!(m.transform(&[1.0; 10], &[scale]), Err(Error::Parameter { name: "scale", .. })),
                "{scale}"
            );
        }
        assert_eq!(m.transform(&[1.0; 10], &[]).unwrap().dim(), (0, 10));
        assert!(m.transform(&[2.0; 10], &[3.0]).unwrap().iter().all(|w| w.norm() < 1e-14));
        assert!(MexicanHat.transform(&[f64::NAN, 1.0, 2.0], &[1.0]).unwrap().iter().all(|w| w.is_nan()));
        assert!(Morlet::new(4.0).is_err() && Morlet::new(f64::NAN).is_err());
        assert!(geometric_frequencies(0.0, 1.0, 4).is_err() && geometric_frequencies(2.0, 1.0, 4).is_err());
        assert!(geometric_frequencies(1.0, 2.0, 0).is_err());
    }
}
