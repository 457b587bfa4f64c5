//! Method `stft`: the period over time, from spectra of a window that slides along.
//!
//! The window (Hann) holds eight periods as the autocorrelation sees them, or an eighth of the run if that sees none. Whether
//! there is a period follows from the outliers of the mean spectrum of all frames (Welch's method); which one it is, by the
//! median over the frames of the frequency of their highest peak near it, each placed between the bins. Frames that disagree
//! show where the period changes. O(N log N).

use ndarray::Axis;

use super::{Answer, Map, Settings, Sight, TrackPoint, autocorrelation, coarser, cosine_at, dominant};
use crate::period::detectors;
use crate::period::findings::{Method, Verdict};
use crate::period::spectrum::Powers;
use crate::signal::Signal;
use crate::transform::{Stft, Window};

/// Periods in a window.
const PERIODS: f64 = 8.0;

/// Samples of a period beyond which the signal is taken coarser: nothing finer is needed to find it.
const FINE: f64 = 128.0;

/// Frames at most.
const FRAMES: usize = 2000;

/// Samples at most if no period bounds them.
const SAMPLES: usize = 1 << 17;

/// Frequencies of a frame this far from that of the mean spectrum, as a factor, are other periods.
const NEAR: f64 = 1.25;

/// The period of a signal.
pub fn find(signal: &Signal, settings: &Settings) -> Answer {
    let mut a = Answer::new(Method::Stft, Verdict::Constant);
    let guess = autocorrelation::lag(&signal.samples);
    let factor = match guess {
        Some(lag) => (lag / FINE) as usize,
        None => signal.samples.len().div_ceil(SAMPLES),
    };
    let factor = factor.max(1);
    let mut x = coarser(&signal.samples, factor);
    let rate = signal.rate_hz / factor as f64;
    let n = x.len();
    let mean = x.iter().sum::<f64>() / n.max(1) as f64;
    x.iter_mut().for_each(|v| *v -= mean);
    let wanted = guess.map_or(n as f64 / 8.0, |lag| PERIODS * lag / factor as f64);
    let len = (wanted as usize).max(4 * n / FRAMES).clamp(16, n.max(16));
    let hop = (len / 8).max(n.div_ceil(FRAMES)).max(1);
    let Ok(stft) = Stft::new(Window::Hann, len, hop) else { return a };
    let Ok(power) = stft.power(&x) else { return a };
    let mut welch: Vec<f64> = power.sum_axis(Axis(1)).into_iter().skip(1).collect();
    // Powers that fall off from the lowest bin on are slow changes of the mean, not a period.
    let slow = welch.windows(2).take_while(|w| w[1] < w[0]).count();
    welch.iter_mut().take(slow.max(1)).for_each(|p| *p = 0.0);
    let Some(powers) = Powers::of_power(welch, stft.frequency(1, rate), mean * mean * n as f64) else { return a };
    let (detector, outliers) = detectors::find(settings.detector, &powers, settings.tolerance);
    a.detection.detector = detector;
    a.detection.spectrum = Some(powers.statistics);
    a.detection.verdict = Verdict::Irregular;
    a.detection.candidates = outliers.report(&powers);
    for (l, frame) in power.axis_iter(Axis(1)).enumerate() {
        let bins: Vec<f64> = frame.to_vec();
        if let Some((k, p)) = peak(&bins, 2) {
            a.track.push(TrackPoint {
                time_s: stft.time(l, rate),
                frequency_hz: k * stft.frequency(1, rate),
                power: p,
            });
        }
    }
    if let Some(found) = outliers.dominant() {
        let centre = powers.frequency(found.bin);
        let near = |f: f64| f < NEAR * centre && f > centre / NEAR;
        let frames: Vec<(f64, f64)> =
            a.track.iter().filter(|t| near(t.frequency_hz)).map(|t| (t.frequency_hz, t.power)).collect();
        let frequency = weighted_median(frames.clone()).unwrap_or(centre);
        let spread = weighted_median(frames.iter().map(|(f, w)| ((f - frequency).abs(), *w)).collect());
        // Frames that overlap are not independent: there are about N / len that are.
        let std = spread.map(|s| 1.4826 * s / (n as f64 / len as f64).max(1.0).sqrt() / (frequency * frequency));
        let cosine = cosine_at(&signal.samples, signal.rate_hz, frequency);
        a.periodic(dominant(cosine, signal.duration(), std, found.confidence, None));
    }
    a.sight = Sight::Map(Map {
        frequency_hz: (0..power.nrows()).map(|k| stft.frequency(k, rate)).collect(),
        start_s: 0.0,
        step_s: hop as f64 / rate,
        power,
    });
    a
}

/// The highest peak among the bins from `from` on: its place, in bins, and its power; `None` if there is no power.
///
/// Place and power are those of the parabola through the logarithms of three bins, nearly exact for a Hann window: a peak between
/// two bins is not taken for lower than a harmonic on a bin.
fn peak(power: &[f64], from: usize) -> Option<(f64, f64)> {
    let at = |i: usize| power.get(i).filter(|p| **p > 0.0).map(|p| p.ln());
    let placed = |k: usize| {
        let top = at(k)?;
        let (left, right) = k.checked_sub(1).and_then(at).zip(at(k + 1)).unwrap_or((top, top));
        if left > top || right > top {
            return None;
        }
        let bend = left - 2.0 * top + right;
        let shift = if bend < 0.0 { 0.5 * (left - right) / bend } else { 0.0 };
        Some((k as f64 + shift, (top - 0.25 * (left - right) * shift).exp()))
    };
    (from..power.len()).filter_map(placed).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The value with half of the weight below it.
fn weighted_median(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * values.iter().map(|v| v.1).sum::<f64>();
    let mut sum = 0.0;
    let middle = values.iter().find(|v| {
        sum += v.1;
        sum >= half
    });
    middle.map(|v| v.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::signal;
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn the_track_follows_a_change() {
        // 10 s, then from half time on 8 s.
        let x = (0..8000).map(|i| {
            let t = f64::from(i) / 10.0;
            1.0 + (TAU * t * if t < 400.0 { 0.1 } else { 0.125 }).cos()
        });
        let a = find(&signal(x.collect(), 10.0), &Settings::default());
        let at = |t: f64| {
            a.track.iter().min_by(|p, q| (p.time_s - t).abs().total_cmp(&(q.time_s - t).abs())).unwrap().frequency_hz
        };
        assert!((at(200.0) - 0.1).abs() < 1e-3 && (at(600.0) - 0.125).abs() < 1e-3, "{} {}", at(200.0), at(600.0));
        let Sight::Map(m) = &a.sight else { panic!() };
        assert_eq!(m.power.dim(), (m.frequency_hz.len(), a.track.len()));
    }

    #[test]
    fn peaks_and_medians() {
        let (k, p) = peak(&[0.0, 1.0, 4.0, 4.0, 1.0], 1).unwrap();
        assert!((k - 2.5).abs() < 1e-9 && (p - 4f64.powf(1.125)).abs() < 1e-9);
        // between two bins, and higher than a peak on a bin
        assert!(peak(&[0.0, 1.0, 4.0, 4.0, 1.0, 4.2, 1.0], 1).unwrap().0 < 3.0);
        assert_eq!(peak(&[0.0; 5], 1), None);
        assert_eq!(peak(&[], 2), None);
        assert_eq!(weighted_median(vec![(3.0, 1.0), (1.0, 1.0), (2.0, 5.0)]), Some(2.0));
        assert_eq!(weighted_median(vec![]), None);
    }
}
