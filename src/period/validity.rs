//! Where the dominant period holds: the hybrid of wavelet and Fourier transform (Tarraf & Wolf 2026, section 5.3).
//!
//! The signal is smoothed to the approximation of a wavelet decomposition. Over a window of one period that slides along, it
//! is correlated with the dominant cosine; where the correlation is positive the period holds. Stretches shorter than a
//! period are dropped, neighbours less than a period apart are merged. Each step is O(N).
//!
//! A correlation belongs to a whole window and, as in the paper, to its first sample; but the last stretch goes on to the end
//! of the data, not to where the last window begins. Before a stretch the first burst is seen up to a period too early:
//! [`to_bursts`] moves both ends to bursts, and drops windows that hold but one.

use super::findings::{Burst, Validity};
use crate::transform::{Band, Boundary, Cosine, Decomposition, Wavelet, cosine_wave, sliding_pearson};

/// Samples of a coefficient per period, at least: fundamental and first harmonic are below the end of the approximation's
/// band, so that it still has the shape of the bursts.
const COEFFICIENTS: f64 = 8.0;

/// The level of the approximation for a period in samples: the deepest that leaves `COEFFICIENTS` coefficients to a
/// period, and that a signal of `len` samples allows. 0: the signal itself is as coarse as that.
pub fn level(period: f64, wavelet: &Wavelet, len: usize) -> usize {
    let wanted = (period / COEFFICIENTS).log2().floor();
    // A number that is not one gives 0.
    (wanted.max(0.0) as usize).min(wavelet.max_level(len))
}

/// The approximation of `x` of this level at full length; `x` itself at level 0, or if it is too short.
pub fn approximation(x: &[f64], wavelet: &Wavelet, level: usize) -> Vec<f64> {
    let coarse =
        || Decomposition::of(x, wavelet, Boundary::Symmetric, level)?.at_full_length(Band::Approximation, level);
    if level == 0 { x.to_vec() } else { coarse().unwrap_or_else(|_| x.to_vec()) }
}

/// Correlation of a signal with a cosine in a sliding window.
#[derive(Debug, Clone, PartialEq)]
pub struct Sliding {
    /// Element j belongs to samples j … j + window − 1.
    pub correlation: Vec<f64>,
    /// Samples of a window: one period.
    pub window: usize,
    /// Samples of the signal.
    pub len: usize,
}

impl Sliding {
    /// Of `x`, sampled at a rate in Hz, with a cosine; `None` if a period has less than two samples or the run is shorter
    /// than a period.
    pub fn of(x: &[f64], rate_hz: f64, cosine: &Cosine) -> Option<Sliding> {
        let window = (rate_hz / cosine.frequency_hz).round();
        if !(window >= 2.0 && window <= x.len() as f64) {
            return None;
        }
        let window = window as usize;
        let correlation = sliding_pearson(x, &wave(x.len(), rate_hz, cosine), window).ok()?;
        Some(Sliding { correlation, window, len: x.len() })
    }

    /// Stretches of positive correlation: first and last window of each, by the number of their first sample. The published
    /// windows: those shorter than a period dropped, those less than a period apart merged.
    pub fn stretches(&self) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut start = None;
        let positive = self.correlation.iter().map(|r| *r > 0.0).chain([false]);
        for (j, positive) in positive.enumerate() {
            match (positive, start) {
                (true, None) => start = Some(j),
                (false, Some(a)) => {
                    start = None;
                    // Of a run shorter than two periods every stretch is shorter than one: then all of it counts.
                    if j - a >= self.window || self.reaches(a, j - 1) {
                        match found.last_mut() {
                            Some(last) if a - last.1 < self.window => last.1 = j - 1,
                            _ => found.push((a, j - 1)),
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// True if a stretch touches both ends.
    fn reaches(&self, a: usize, b: usize) -> bool {
        a == 0 && b + 1 == self.correlation.len()
    }

    /// Where the period holds: [`stretches`](Sliding::stretches) in seconds, the last one to the end of the data if it ends
    /// with the last window. `start_s` is that of the signal.
    pub fn windows(&self, rate_hz: f64, start_s: f64) -> Vec<Validity> {
        let time = |sample: usize| start_s + sample as f64 / rate_hz;
        let window = |(a, b): (usize, usize)| {
            let inside = &self.correlation[a..=b];
            Validity {
                start_s: time(a),
                end_s: time(if b + 1 == self.correlation.len() { self.len } else { b }),
                correlation: Some(inside.iter().sum::<f64>() / inside.len() as f64),
            }
        };
        self.stretches().into_iter().map(window).collect()
    }
}

/// `n` samples of a cosine.
fn wave(n: usize, rate_hz: f64, cosine: &Cosine) -> Vec<f64> {
    let step = std::f64::consts::TAU * cosine.frequency_hz / rate_hz;
    cosine_wave(n, cosine.amplitude, step, cosine.phase)
}

/// Moves the ends of windows to the start of their first and the end of their last burst, as far as that is less than a
/// period away, and drops windows with less than two: one burst is in step with every period. `bursts` are those of the
/// period over the whole run, in the order of time, on the clock of the windows.
pub fn to_bursts(windows: Vec<Validity>, bursts: &[Burst], period_s: f64) -> Vec<Validity> {
    let middle = |b: &Burst| 0.5 * (b.start_s + b.end_s);
    let moved = |mut w: Validity| {
        let from = bursts.partition_point(|b| middle(b) < w.start_s);
        let to = bursts.partition_point(|b| middle(b) <= w.end_s);
        let [first, .., last] = bursts.get(from..to)? else { return None };
        if (first.start_s - w.start_s).abs() < period_s {
            w.start_s = first.start_s;
        }
        if (last.end_s - w.end_s).abs() < period_s {
            w.end_s = last.end_s;
        }
        Some(w)
    };
    windows.into_iter().filter_map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// Bandwidth of bursts of `width` seconds at `starts`, 10 samples a second over `duration` seconds.
    fn bursts(starts: &[f64], width: f64, duration: f64) -> Vec<f64> {
        let inside = |t: f64| starts.iter().any(|s| t >= *s && t < s + width);
        (0..(duration * 10.0) as usize).map(|i| if inside(i as f64 / 10.0) { 100.0 } else { 0.0 }).collect()
    }

    fn windows(x: &[f64], cosine: &Cosine) -> (Sliding, Vec<Validity>) {
        let haar = Wavelet::haar();
        let level = level(10.0 / cosine.frequency_hz, &haar, x.len());
        let s = Sliding::of(&approximation(x, &haar, level), 10.0, cosine).unwrap();
        let w = s.windows(10.0, 0.0);
        (s, w)
    }

    #[test]
    fn windows_of_the_published_figure() {
        // Figure 3 of the paper: 180.1 s, period 18.01 s, valid in [9.88, 72.08] and from 106.38 s on (there to 168.28 s, one
        // window before the end). Nine bursts: in step with the cosine except the fourth and the fifth.
        let period = 18.01;
        let in_step = [2, 3, 4, 7, 8, 9].map(|k| f64::from(k) * period - 3.0);
        let x = bursts(&[&[10.4, 81.5, 95.7], &in_step[..]].concat(), 6.0, 180.1);
        let cosine = Cosine { frequency_hz: 1.0 / period, amplitude: 50.0, phase: 0.0 };
        let (s, w) = windows(&x, &cosine);
        assert_eq!((s.window, w.len()), (180, 2), "{w:?}");
        for (got, published) in [(w[0].start_s, 9.88), (w[0].end_s, 72.08), (w[1].start_s, 106.38)] {
            assert!((got - published).abs() < 3.0, "{got} {published}");
        }
        assert_eq!(w[1].end_s, 180.1);
        let last = s.stretches()[1].1 as f64 / 10.0;
        assert!((last - (180.1 - period)).abs() < 0.2, "{last}");
        assert!(w.iter().all(|w| w.correlation.unwrap() > 0.5), "{w:?}");
    }

    #[test]
    fn a_whole_run_is_one_window() {
        let x: Vec<f64> = (0..1000).map(|i| 5.0 + 3.0 * (TAU * f64::from(i) / 125.0 + 1.0).cos()).collect();
        let cosine = Cosine { frequency_hz: 0.08, amplitude: 3.0, phase: 1.0 };
        let (_, w) = windows(&x, &cosine);
        assert_eq!((w.len(), w[0].start_s, w[0].end_s), (1, 0.0, 100.0));
        // Even if it is hardly longer than a period.
        let short = Sliding::of(&x[..130], 10.0, &cosine).unwrap();
        assert_eq!(short.windows(10.0, 7.0).len(), 1);
    }

    #[test]
    fn one_burst_off_step_does_not_split_and_a_single_one_is_no_window() {
        let late = |i: i32| if i == 5 { 4.0 } else { 0.0 };
        let train: Vec<f64> = (0..10).map(|i| f64::from(i) * 10.0 + late(i)).collect();
        let cosine = Cosine { frequency_hz: 0.1, amplitude: 1.0, phase: -TAU * 0.1 };
        let (_, w) = windows(&bursts(&train, 2.0, 100.0), &cosine);
        assert_eq!(w.len(), 1, "{w:?}");
        let (_, w) = windows(&bursts(&[50.0], 2.0, 100.0), &cosine);
        let one = [Burst { start_s: 50.0, end_s: 52.0, bytes: 1.0 }];
        assert_eq!((w.len(), to_bursts(w, &one, 10.0).len()), (1, 0));
    }

    #[test]
    fn ends_move_to_bursts() {
        let burst = |start: f64| Burst { start_s: start, end_s: start + 2.0, bytes: 1.0 };
        let b: Vec<Burst> = [3.0, 23.0, 33.0, 43.0, 53.0, 80.0].map(burst).to_vec();
        let window = |start_s, end_s| Validity { start_s, end_s, correlation: None };
        let w = to_bursts(vec![window(18.5, 57.0), window(60.0, 70.0), window(70.0, 120.0)], &b, 10.0);
        assert_eq!(w, [window(23.0, 55.0)]);
        let w = to_bursts(vec![window(0.0, 120.0)], &b, 10.0);
        assert_eq!(w, [window(3.0, 120.0)]);
    }

    #[test]
    fn levels_keep_eight_coefficients_a_period() {
        let haar = Wavelet::haar();
        assert_eq!([8.0, 15.9, 16.0, 180.0, 1e6].map(|p| level(p, &haar, 1 << 20)), [0, 0, 1, 4, 16]);
        assert_eq!(level(1e6, &haar, 64), 6);
        assert_eq!(level(f64::NAN, &haar, 64), 0);
    }

    #[test]
    fn nothing_correlates_with_a_constant_nan_or_too_few_samples() {
        let cosine = Cosine { frequency_hz: 1.0, amplitude: 1.0, phase: 0.0 };
        assert!(Sliding::of(&[], 10.0, &cosine).is_none());
        assert!(Sliding::of(&[1.0; 9], 10.0, &cosine).is_none());
        assert!(Sliding::of(&[1.0; 90], 1.0, &cosine).is_none());
        // Nothing correlates with a constant or with NaN.
        assert!(Sliding::of(&[1.0; 90], 10.0, &cosine).unwrap().windows(10.0, 0.0).is_empty());
        assert!(Sliding::of(&[f64::NAN; 90], 10.0, &cosine).unwrap().windows(10.0, 0.0).is_empty());
        let still = Cosine { frequency_hz: 0.0, ..cosine };
        assert!(Sliding::of(&[1.0; 90], 10.0, &still).is_none());
    }
}
