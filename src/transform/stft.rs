//! The short-time Fourier transform: spectra of a window that moves along the signal in hops.
//!
//! X_{k,l} = Σ_j w_j x_{l h − ⌊m/2⌋ + j} e^(−2πi k j / m), j = 0 … m − 1, for window length m and hop h. Frame l is centred
//! on sample l h, for all l h < N; the signal is zero beyond its ends, so the first and last frames contain less of it.
//! Frequency k f_s / m, time l h / f_s.

use std::f64::consts::TAU;

use ndarray::Array2;
use realfft::num_complex::Complex64;

use super::{Error, Result, plans};

/// Weights of the samples of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// w_j = 1: the narrowest peak, the widest leakage.
    Rectangular,
    /// w_j = ½ − ½ cos(2πj/m), the periodic form: frames that hop by m/2, m/3, … add up to a constant.
    Hann,
}

impl Window {
    /// Its `len` weights.
    pub fn weights(self, len: usize) -> Vec<f64> {
        let weight = |j: usize| match self {
            Window::Rectangular => 1.0,
            Window::Hann => 0.5 - 0.5 * (TAU * j as f64 / len as f64).cos(),
        };
        (0..len).map(weight).collect()
    }
}

/// A short-time Fourier transform: window, its length m and hop h in samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stft {
    window: Window,
    len: usize,
    hop: usize,
}

impl Stft {
    /// Errors: a window of length 0, a hop of 0. (A Hann window needs a length of at least 2: with length 1 it would be zero.)
    pub fn new(window: Window, len: usize, hop: usize) -> Result<Stft> {
        let least = if window == Window::Hann { 2 } else { 1 };
        if len < least {
            return Err(Error::parameter("window length", len as f64, format!("{least} at least")));
        }
        if hop == 0 {
            return Err(Error::parameter("hop", 0.0, "1 at least"));
        }
        Ok(Stft { window, len, hop })
    }

    /// X_{k,l}: one row per frequency k = 0 … ⌊m/2⌋, one column for each of the ⌈N/h⌉ frames. O(N/h · m log m).
    ///
    /// Errors: no samples; a window longer than 2N, which would lie mostly outside the signal.
    pub fn transform(&self, x: &[f64]) -> Result<Array2<Complex64>> {
        if x.is_empty() {
            return Err(Error::Empty);
        }
        if self.len > 2 * x.len() {
            let rule = format!("at most twice the {} samples of the signal", x.len());
            return Err(Error::parameter("window length", self.len as f64, rule));
        }
        let weights = self.window.weights(self.len);
        let plan = plans::forward(self.len);
        let (mut frame, mut bins, mut scratch) =
            (plan.make_input_vec(), plan.make_output_vec(), plan.make_scratch_vec());
        let mut out = Array2::zeros((bins.len(), x.len().div_ceil(self.hop)));
        for (l, mut column) in out.columns_mut().into_iter().enumerate() {
            let centre = l * self.hop;
            for (j, (v, w)) in frame.iter_mut().zip(&weights).enumerate() {
                let n = (centre + j).checked_sub(self.len / 2);
                *v = w * n.and_then(|n| x.get(n)).unwrap_or(&0.0);
            }
            // All lengths come from the plan, so this cannot fail.
            let done = plan.process_with_scratch(&mut frame, &mut bins, &mut scratch);
            debug_assert!(done.is_ok());
            column.iter_mut().zip(&bins).for_each(|(o, b)| *o = *b);
        }
        Ok(out)
    }

    /// |X_{k,l}|² / Σ_j w_j², which is the power spectrum |X|²/m of a frame if the window is rectangular. Shape and errors
    /// as [`Stft::transform`].
    pub fn power(&self, x: &[f64]) -> Result<Array2<f64>> {
        let total: f64 = self.window.weights(self.len).iter().map(|w| w * w).sum();
        Ok(self.transform(x)?.mapv(|v| v.norm_sqr() / total))
    }

    /// Frequency of row `k` in Hz.
    pub fn frequency(&self, k: usize, rate_hz: f64) -> f64 {
        k as f64 * rate_hz / self.len as f64
    }

    /// Time of the centre of column `l` in seconds from the first sample.
    pub fn time(&self, l: usize, rate_hz: f64) -> f64 {
        (l * self.hop) as f64 / rate_hz
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matches_the_definition_and_keeps_the_energy(
            x in prop::collection::vec(-1e2..1e2f64, 2..120), len in 2usize..40, hop in 1usize..30, hann: bool,
        ) {
            prop_assume!(len <= 2 * x.len());
            let window = if hann { Window::Hann } else { Window::Rectangular };
            let stft = Stft::new(window, len, hop).unwrap();
            let got = stft.transform(&x).unwrap();
            prop_assert_eq!(got.dim(), (len / 2 + 1, x.len().div_ceil(hop)));
            let w = window.weights(len);
            let sample = |l: usize, j: usize| {
                let n = (l * hop + j) as isize - (len / 2) as isize;
                if n >= 0 { x.get(n as usize).copied().unwrap_or(0.0) * w[j] } else { 0.0 }
            };
            for ((k, l), v) in got.indexed_iter() {
                let term = |j| Complex64::from_polar(sample(l, j), -TAU * (k * j % len) as f64 / len as f64);
                prop_assert!((v - (0..len).map(term).sum::<Complex64>()).norm() < 1e-9);
            }
            // Parseval: every sample counts with the squares of the weights with which frames see it.
            let both = |k: usize| if k > 0 && 2 * k != len { 2.0 } else { 1.0 };
            let spectra: f64 = got.indexed_iter().map(|((k, _), v)| both(k) * v.norm_sqr()).sum::<f64>() / len as f64;
            let frames: f64 = (0..got.ncols()).flat_map(|l| (0..len).map(move |j| (l, j))).map(|(l, j)| sample(l, j).powi(2)).sum();
            prop_assert!((spectra - frames).abs() <= 1e-9 * frames.max(1.0));
        }
    }

    #[test]
    fn half_overlapping_hann_windows_weight_all_samples_equally() {
        let w = Window::Hann.weights(64);
        assert!((0..32).all(|j| (w[j] + w[j + 32] - 1.0).abs() < 1e-15));
        // Squared they add up to a constant at a quarter of the length: so does the energy, away from the ends.
        let energy = |place: usize| {
            let mut x = vec![0.0; 400];
            x[place] = 3.0;
            let p = Stft::new(Window::Hann, 64, 16).unwrap().transform(&x).unwrap();
            p.indexed_iter().map(|((k, _), v)| if k % 32 == 0 { 1.0 } else { 2.0 } * v.norm_sqr()).sum::<f64>() / 64.0
        };
        for place in 100..120 {
            assert!((energy(place) - 9.0 * 1.5).abs() < 1e-10);
        }
    }

    #[test]
    fn frames_follow_a_change_of_frequency() {
        let x: Vec<f64> =
            (0..1024).map(|n| (TAU * f64::from(n) * if n < 512 { 4.0 } else { 16.0 } / 128.0).cos()).collect();
        let stft = Stft::new(Window::Hann, 128, 32).unwrap();
        let p = stft.power(&x).unwrap();
        let strongest = |l: usize| (0..65).max_by(|&a, &b| p[[a, l]].total_cmp(&p[[b, l]])).unwrap();
        assert_eq!((strongest(8), strongest(24)), (4, 16));
        // A cosine of amplitude 1 in the middle of a bin: (Σ w / 2)² / Σ w² = 128 · (1/4)² / (3/8).
        assert!((p[[4, 8]] - 128.0 / 16.0 / 0.375).abs() < 1e-9);
        assert_eq!((stft.frequency(4, 10.0), stft.time(8, 10.0)), (0.3125, 25.6));
    }

    #[test]
    fn windows_longer_than_the_signal_are_refused() {
        assert!(Stft::new(Window::Hann, 1, 1).is_err() && Stft::new(Window::Rectangular, 0, 1).is_err());
        assert!(Stft::new(Window::Hann, 8, 0).is_err());
        let stft = Stft::new(Window::Hann, 8, 3).unwrap();
        assert_eq!(stft.transform(&[]).unwrap_err(), Error::Empty);
        assert!(matches!(stft.transform(&[1.0; 3]), Err(Error::Parameter { name: "window length", .. })));
        assert!(stft.transform(&[f64::NAN; 9]).unwrap().iter().all(|v| v.re.is_nan()));
        assert_eq!(Stft::new(Window::Rectangular, 2, usize::MAX).unwrap().transform(&[1.0; 9]).unwrap().ncols(), 1);
    }
}
