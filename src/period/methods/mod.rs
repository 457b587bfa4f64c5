//! Where a period is sought: one file a method, one line in [`ALL`].
//!
//! Each takes a sampled signal and gives a [`Detection`], with the representation it searched.

pub mod autocorrelation;
pub mod cwt;
pub mod dft;
pub mod dwt;
pub mod stft;

use std::f64::consts::TAU;

use ndarray::Array2;
use realfft::num_complex::Complex64;

use super::findings::{Detection, Detector, Dominant, Method, Verdict};
use super::spectrum::Powers;
use crate::signal::Signal;
use crate::transform::{Cosine, Decomposition, Spectrum, Wavelet};

/// A method.
pub type Find = fn(&Signal, &Settings) -> Answer;

/// Every method that works on a sampled signal.
pub const ALL: &[(Method, Find)] = &[
    (Method::Dft, dft::find),
    (Method::Dwt, dwt::find),
    (Method::Stft, stft::find),
    (Method::Cwt, cwt::find),
    (Method::Autocorrelation, autocorrelation::find),
];

/// Runs a method; [`Method::Auto`] is the DFT here, where only the sampled signal is known.
pub fn find(method: Method, signal: &Signal, settings: &Settings) -> Answer {
    let find = ALL.iter().find(|(m, _)| *m == method).map_or(dft::find as Find, |(_, f)| *f);
    let mut answer = find(signal, settings);
    if let Some(least_s) = settings.min_period_s {
        answer.leave_out_shorter(least_s);
    }
    answer
}

/// Parameters of the methods.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Outliers of the spectrum (DFT, DWT, STFT).
    pub detector: Detector,
    /// Share of the largest z-score that a candidate needs, 0 to 1.
    pub tolerance: f64,
    /// Wavelet of the DWT.
    pub wavelet: Wavelet,
    /// Level of the DWT; `None` chooses one from the period.
    pub level: Option<usize>,
    /// Shorter periods in seconds are not reported.
    pub min_period_s: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { detector: Detector::Auto, tolerance: 0.8, wavelet: Wavelet::haar(), level: None, min_period_s: None }
    }
}

/// The result of a method.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The period, or why there is none.
    pub detection: Detection,
    /// The period over time, where the method follows it.
    pub track: Vec<TrackPoint>,
    /// The representation that was searched.
    pub sight: Sight,
}

impl Answer {
    fn new(method: Method, verdict: Verdict) -> Answer {
        let detection = Detection::without_period(method, verdict);
        Answer { detection, track: Vec::new(), sight: Sight::Nothing }
    }

    /// Leaves out shorter periods. Of a spectrum whose highest peak is one of them, no other peak is taken for the period.
    fn leave_out_shorter(&mut self, least_s: f64) {
        self.track.retain(|p| 1.0 / p.frequency_hz >= least_s);
        let d = &mut self.detection;
        d.candidates.retain(|c| c.period_s >= least_s);
        if d.dominant.take_if(|d| d.period_s < least_s).is_some() {
            d.verdict = Verdict::Irregular;
            d.periodic = d.verdict.is_periodic();
        }
    }

    fn periodic(&mut self, dominant: Dominant) {
        self.detection.periodic = Some(true);
        self.detection.verdict = Verdict::Periodic;
        self.detection.dominant = Some(dominant);
    }
}

/// The representation that a method searches.
#[derive(Debug, Clone)]
pub enum Sight {
    /// Nothing beside the spectrum of the signal.
    Nothing,
    /// Power over time and frequency.
    Map(Map),
    /// The wavelet decomposition.
    Wavelet(Decomposition),
    /// The autocorrelation: unbiased, from lag 0 on, a lag a sample.
    Autocorrelation(Vec<f64>),
}

/// Power over time and frequency.
#[derive(Debug, Clone)]
pub struct Map {
    /// A row for each frequency, a column for each time.
    pub power: Array2<f64>,
    /// Hz of each row, rising.
    pub frequency_hz: Vec<f64>,
    /// Time of the first column in seconds from the start of the signal.
    pub start_s: f64,
    /// Seconds from one column to the next.
    pub step_s: f64,
}

/// The frequency at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackPoint {
    /// Seconds from the start of the signal.
    pub time_s: f64,
    /// Frequency in Hz.
    pub frequency_hz: f64,
    /// Its power.
    pub power: f64,
}

/// The powers of a signal and their spectrum, without the rounding noise of a constant.
fn spectrum(x: &[f64], rate_hz: f64) -> (Spectrum, Option<Powers>) {
    let spectrum = Spectrum::of(x);
    let powers = Powers::of(&spectrum, rate_hz);
    (spectrum, powers)
}

/// The cosine of a frequency in a signal, by its Fourier sum over the whole run without the mean. O(N).
fn cosine_at(x: &[f64], rate_hz: f64, frequency_hz: f64) -> Cosine {
    /// Samples after which the turning factor is made anew, before its rounding errors add up.
    const BLOCK: usize = 256;
    let n = x.len().max(1) as f64;
    let mean = x.iter().sum::<f64>() / n;
    let step = -TAU * frequency_hz / rate_hz;
    let turn = Complex64::cis(step);
    let mut sum = Complex64::ZERO;
    for (b, block) in x.chunks(BLOCK).enumerate() {
        let mut at = Complex64::cis((step * (b * BLOCK) as f64) % TAU);
        for v in block {
            sum += at * (v - mean);
            at *= turn;
        }
    }
    Cosine { frequency_hz, amplitude: 2.0 * sum.norm() / n, phase: sum.arg() }
}

/// A cosine as the dominant period of a signal of `duration` seconds.
fn dominant(cosine: Cosine, duration: f64, std: Option<f64>, confidence: f64, dft_bin: Option<usize>) -> Dominant {
    Dominant {
        frequency_hz: cosine.frequency_hz,
        period_s: 1.0 / cosine.frequency_hz,
        period_std_s: std,
        cycles: duration * cosine.frequency_hz,
        confidence,
        amplitude_bytes_per_s: cosine.amplitude,
        phase_rad: cosine.phase,
        dft_bin: dft_bin.map(|k| k as u64),
    }
}

/// The mean of every `factor` samples; a shorter rest at the end is dropped.
fn coarser(x: &[f64], factor: usize) -> Vec<f64> {
    x.chunks_exact(factor.max(1)).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Sampling;
    use crate::transform::evaluate;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    pub(super) fn signal(samples: Vec<f64>, rate_hz: f64) -> Signal {
        let end = samples.len() as f64 / rate_hz;
        let bytes = samples.iter().sum::<f64>() / rate_hz;
        Signal { samples, rate_hz, start: 0.0, end, bytes, sampling: Sampling::Bin, abstraction_error: 0.0 }
    }

    /// Bursts of `width` seconds every `period` seconds, 10 samples a second, exact means.
    pub(super) fn train(period: f64, width: f64, duration: f64) -> Signal {
        let rate = 10.0;
        let until = |t: f64| {
            let cycle = (t / period).floor();
            cycle * width + (t - cycle * period).clamp(0.0, width)
        };
        let n = (duration * rate) as usize;
        let x = (0..n).map(|i| 1e6 * rate * (until((i + 1) as f64 / rate) - until(i as f64 / rate))).collect();
        signal(x, rate)
    }

    #[test]
    fn the_registry_is_whole() {
        let all: BTreeSet<String> = ALL.iter().map(|(m, _)| format!("{m:?}")).collect();
        assert_eq!(all.len(), ALL.len());
        assert!(ALL.iter().all(|(m, _)| *m != Method::Auto));
    }

    #[test]
    fn every_method_finds_a_train_of_bursts() {
        // 20.4 cycles: off the grid of the DFT.
        let s = train(12.3, 3.0, 250.0);
        for (m, find) in ALL {
            let a = find(&s, &Settings::default());
            let d = a.detection.dominant.unwrap_or_else(|| panic!("{m:?}: {:?}", a.detection.verdict));
            let exact = match m {
                Method::Dft => 0.025,
                Method::Cwt | Method::Stft => 0.01,
                _ => 0.003,
            };
            assert!((d.period_s / 12.3 - 1.0).abs() < exact, "{m:?}: {d:?}");
            assert!(
                (0.0..=1.0).contains(&d.confidence) && a.detection.method == *m && a.detection.periodic == Some(true)
            );
            assert!(d.amplitude_bytes_per_s > 3e5 && d.amplitude_bytes_per_s < 6e5, "{m:?}: {d:?}");
        }
    }

    #[test]
    fn shorter_periods_are_left_out() {
        let s = train(12.3, 3.0, 250.0);
        for (m, _) in ALL {
            let with = |least_s| find(*m, &s, &Settings { min_period_s: Some(least_s), ..Settings::default() });
            assert!(with(12.0).detection.dominant.is_some_and(|d| (d.period_s / 12.3 - 1.0).abs() < 0.025), "{m:?}");
            let a = with(13.0);
            assert!(a.detection.dominant.is_none() && a.detection.periodic == Some(false), "{m:?}");
            assert!(a.detection.candidates.iter().all(|c| c.period_s >= 13.0), "{m:?}");
        }
    }

    #[test]
    fn constant_and_empty_signals_have_no_period() {
        for (m, find) in ALL {
            for x in [vec![], vec![1.0], vec![0.0; 5], vec![3.3; 1000], vec![f64::NAN; 100]] {
                let a = find(&signal(x.clone(), 1.0), &Settings::default());
                assert!(a.detection.periodic == Some(false) && a.detection.dominant.is_none(), "{m:?} {}", x.len());
            }
        }
    }

    #[test]
    fn a_cosine_by_its_fourier_sum() {
        let c = Cosine { frequency_hz: 0.37, amplitude: 4.0, phase: -1.1 };
        let x: Vec<f64> = (0..10_000).map(|i| 7.0 + evaluate(&[c], f64::from(i) / 10.0)).collect();
        let got = cosine_at(&x, 10.0, 0.37);
        assert!((got.amplitude - 4.0).abs() < 1e-3 && (got.phase + 1.1).abs() < 1e-3, "{got:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nothing_panics(
            x in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1e12f64, Just(-1.0)], 0..300),
            rate in 0.001..1000.0f64, level in prop::option::of(0usize..40),
        ) {
            let s = signal(x, rate);
            for (m, find) in ALL {
                let a = find(&s, &Settings { level, ..Settings::default() });
                if let Some(d) = a.detection.dominant {
                    prop_assert!(d.period_s > 0.0 && d.period_s.is_finite() && d.confidence.is_finite(), "{:?} {:?}", m, d);
                }
            }
        }
    }
}
