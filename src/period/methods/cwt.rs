//! Method `cwt`: the ridge of the continuous wavelet transform.
//!
//! The Morlet transform shows every period at every time. The mean power of a scale over time, divided by its frequency, is flat
//! for white noise and falls along the harmonics of bursts; a period is its highest peak, if it is well above all longer
//! periods (a burst train has nothing below its fundamental, noise has). The frequency is the mean advance of the phase on
//! that scale, weighed with the power: it is not bound to scales. O(S N log N) for S scales, on at most 2¹⁴ samples: of a run with
//! thousands of cycles, as the autocorrelation sees them, the middle is transformed in full, else all of it in coarser samples.

use std::f64::consts::TAU;
use std::ops::Range;

use ndarray::{Array2, Axis};
use realfft::num_complex::Complex64;

use super::{Answer, Map, Settings, Sight, TrackPoint, autocorrelation, coarser, cosine_at, dominant};
use crate::period::findings::{Candidate, Method, Verdict};
use crate::signal::Signal;
use crate::transform::{Morlet, geometric_frequencies};

/// Samples of the signal that is transformed, at most.
const SAMPLES: usize = 1 << 14;

/// Samples that a period known beforehand has at least.
const RESOLVED: f64 = 8.0;

/// Scales of an octave.
const PER_OCTAVE: usize = 12;

/// Cycles of the longest period looked at.
const CYCLES: f64 = 2.0;

/// Longer periods are those beyond this factor; nearer ones are the flank of the peak.
const FLANK: f64 = 1.6;

/// Contrast (P − L)/(P + L) of the peak P with the mean L of the longer periods from which on it is a period.
const PERIODIC: f64 = 0.6;

/// Points of the track.
const TRACK: usize = 500;

/// The period of a signal. The confidence is the contrast, 0 to 1.
pub fn find(signal: &Signal, _: &Settings) -> Answer {
    let all = signal.samples.len();
    let factor = all.div_ceil(SAMPLES).max(1);
    let guess = (factor > 1).then(|| autocorrelation::lag(&signal.samples)).flatten();
    let finer = guess.map(|lag| (lag / RESOLVED).max(1.0) as usize).filter(|finer| *finer < factor);
    let middle = finer.map(|finer| {
        let from = (all - SAMPLES * finer) / 2;
        of_samples(signal, from..from + SAMPLES * finer, finer)
    });
    middle.filter(|a| a.detection.periodic == Some(true)).unwrap_or_else(|| of_samples(signal, 0..all, factor))
}

/// The same of some samples, `factor` of them taken for one.
fn of_samples(signal: &Signal, range: Range<usize>, factor: usize) -> Answer {
    let mut a = Answer::new(Method::Cwt, Verdict::Constant);
    let start_s = range.start as f64 / signal.rate_hz;
    let x = coarser(&signal.samples[range], factor);
    let rate = signal.rate_hz / factor as f64;
    let n = x.len();
    let morlet = Morlet::default();
    let Ok(frequencies) = geometric_frequencies(CYCLES / n as f64, 0.25, PER_OCTAVE) else { return a };
    let scales: Vec<f64> = frequencies.iter().map(|f| morlet.scale(*f)).collect();
    let Ok(w) = morlet.transform(&x, &scales) else { return a };
    let mut power = w.mapv(|v| v.norm_sqr());
    for (mut row, f) in power.axis_iter_mut(Axis(0)).zip(&frequencies) {
        row /= *f;
    }
    let mean: Vec<f64> = power.axis_iter(Axis(0)).map(|row| row.sum() / n as f64).collect();
    let total: f64 = mean.iter().sum();
    let level = x.iter().sum::<f64>() / n as f64;
    if !(total > 1e-20 * level * level && total.is_finite()) {
        return a;
    }
    a.detection.verdict = Verdict::Irregular;
    let mut peaks: Vec<(usize, f64)> = (1..mean.len().saturating_sub(1))
        .filter(|&i| mean[i] > mean[i - 1] && mean[i] >= mean[i + 1])
        .map(|i| (i, contrast(&mean, &frequencies, i)))
        .collect();
    peaks.sort_by(|a, b| mean[b.0].total_cmp(&mean[a.0]));
    let advance = |i: usize| advance(&w, i) * rate;
    a.detection.candidates = peaks
        .iter()
        .take(5)
        .map(|&(i, c)| {
            let f = advance(i);
            Candidate { frequency_hz: f, period_s: 1.0 / f, confidence: c, score: mean[i] / total, harmonic_of: None }
        })
        .filter(|c| c.frequency_hz > 0.0)
        .collect();
    a.track = track(&power, &frequencies, rate);
    a.track.iter_mut().for_each(|point| point.time_s += start_s);
    if let Some((_, c)) = peaks.first().filter(|(_, c)| *c >= PERIODIC)
        && let Some(f) = a.detection.candidates.first().map(|c| c.frequency_hz)
    {
        let cosine = cosine_at(&signal.samples, signal.rate_hz, f);
        a.periodic(dominant(cosine, signal.duration(), None, *c, None));
    } else if peaks.is_empty() || peaks.first().is_some_and(|(_, c)| *c == 0.0) {
        a.detection.verdict = Verdict::TooFewCycles;
    }
    a.sight = Sight::Map(Map {
        power,
        frequency_hz: frequencies.iter().map(|f| f * rate).collect(),
        start_s,
        step_s: 1.0 / rate,
    });
    a
}

/// (P − L)/(P + L) of scale `i` and the mean of those with longer periods, 0 if there is none or they are stronger.
fn contrast(mean: &[f64], frequencies: &[f64], i: usize) -> f64 {
    let longer: Vec<f64> =
        mean.iter().zip(frequencies).filter(|(_, f)| **f < frequencies[i] / FLANK).map(|(m, _)| *m).collect();
    if longer.is_empty() {
        return 0.0;
    }
    let below = longer.iter().sum::<f64>() / longer.len() as f64;
    ((mean[i] - below) / (mean[i] + below)).max(0.0)
}

/// Mean advance of the phase of row `i` from one sample to the next, in cycles: arg Σ W*_t W_{t+1} / 2π.
fn advance(w: &Array2<Complex64>, i: usize) -> f64 {
    let row = w.row(i);
    let sum: Complex64 = row.iter().zip(row.iter().skip(1)).map(|(a, b)| a.conj() * b).sum();
    sum.arg() / TAU
}

/// The strongest frequency at up to [`TRACK`] times.
fn track(power: &Array2<f64>, frequencies: &[f64], rate: f64) -> Vec<TrackPoint> {
    let step = power.ncols().div_ceil(TRACK).max(1);
    let point = |t: usize| {
        let column = power.column(t);
        let i = (0..frequencies.len()).max_by(|a, b| column[*a].total_cmp(&column[*b]))?;
        (column[i] > 0.0).then(|| TrackPoint {
            time_s: t as f64 / rate,
            frequency_hz: frequencies[i] * rate,
            power: column[i],
        })
    };
    (0..power.ncols()).step_by(step).filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{signal, train};
    use super::*;

    #[test]
    fn the_phase_gives_the_frequency_between_the_scales() {
        let x: Vec<f64> = (0..3000).map(|i| 2.0 + (TAU * f64::from(i) * 0.012_34).cos()).collect();
        let d = find(&signal(x, 1.0), &Settings::default()).detection.dominant.unwrap();
        assert!((d.frequency_hz / 0.012_34 - 1.0).abs() < 1e-3, "{d:?}");
    }

    #[test]
    fn long_signals_are_taken_coarser() {
        let s = train(50.0, 10.0, 4000.0);
        assert!(s.samples.len() > 2 * SAMPLES);
        let a = find(&s, &Settings::default());
        assert!((a.detection.dominant.unwrap().period_s / 50.0 - 1.0).abs() < 0.01);
        let Sight::Map(m) = a.sight else { panic!() };
        assert!(m.power.ncols() <= SAMPLES);
        assert!(a.track.len() <= TRACK);
    }

    #[test]
    fn of_thousands_of_cycles_the_middle_is_seen_in_full() {
        let s = train(1.7, 0.3, 8500.0);
        let a = find(&s, &Settings::default());
        assert!((a.detection.dominant.unwrap().period_s / 1.7 - 1.0).abs() < 0.01);
        let Sight::Map(m) = a.sight else { panic!() };
        let end = m.start_s + m.power.ncols() as f64 * m.step_s;
        assert!(m.start_s > 0.0 && (m.start_s + end - 8500.0).abs() < 1.0, "{} {end}", m.start_s);
        assert!(a.track.iter().all(|p| p.time_s >= m.start_s && p.time_s <= end));
    }
}
