//! Numbers that say how periodic a signal is, beside the confidence of the detector.

use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::Dominant;
use super::spectrum::Powers;
use crate::signal::Signal;

/// Samples that recurrences are sought in, at most: their search is quadratic.
const RECURRENCE_SAMPLES: usize = 2048;

/// Coordinates of a point of the delay embedding; they span one period.
const EMBEDDING: usize = 8;

/// Radius of a neighbourhood, in root mean square distances of the points from their centre.
const RADIUS: f64 = 0.3;

/// How periodic a signal is. `null` where there is nothing to compute it from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Scores {
    /// Geometric over arithmetic mean of the powers of the spectrum: 0 for a line, 1 for white noise of equal powers.
    pub spectral_flatness: Option<f64>,
    /// Entropy of the normalised powers over that of equal ones: 0 for a line, 1 for equal powers.
    pub spectral_entropy: Option<f64>,
    /// Recurrence period density entropy (Little et al., BioMedical Engineering OnLine 6:23, 2007): entropy of the times after
    /// which the signal comes back to what it was, over that of equally likely times. 0: always after the same time.
    pub recurrence_entropy: Option<f64>,
    /// Correlation of the signal with the dominant cosine, −1 to 1.
    pub correlation: Option<f64>,
    /// Mean over the periods of the correlation inside each, weighed by how much of a period is in the run.
    pub period_correlation: Option<f64>,
}

/// The scores of a signal with its powers and its dominant period, as far as they are known. O(N).
pub fn of(signal: &Signal, powers: Option<&Powers>, dominant: Option<&Dominant>) -> Scores {
    Scores {
        spectral_flatness: powers.map(|p| flatness(&p.power)),
        spectral_entropy: powers.and_then(|p| entropy(&p.power)),
        recurrence_entropy: dominant.and_then(|d| recurrence(&signal.samples, d.period_s * signal.rate_hz)),
        correlation: dominant.and_then(|d| pearson(&signal.samples, &wave(signal, d))),
        period_correlation: dominant.and_then(|d| per_period(signal, d)),
    }
}

/// exp(mean ln p) / mean p; bins without power count as 10⁻¹² of the whole.
fn flatness(power: &[f64]) -> f64 {
    let n = power.len().max(1) as f64;
    let geometric = (power.iter().map(|p| p.max(1e-12).ln()).sum::<f64>() / n).exp();
    geometric / (power.iter().map(|p| p.max(1e-12)).sum::<f64>() / n)
}

/// −Σ p ln p / ln n for shares p; `None` for fewer than two.
fn entropy(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
    (shares.len() > 1).then(|| (sum / (shares.len() as f64).ln()).clamp(0.0, 1.0))
}

fn wave(signal: &Signal, d: &Dominant) -> Vec<f64> {
    let step = TAU * d.frequency_hz / signal.rate_hz;
    (0..signal.samples.len()).map(|i| (step * i as f64 + d.phase_rad).cos()).collect()
}

/// Pearson's correlation; `None` if one of the two is constant.
fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        let (a, b) = (a - mx, b - my);
        (xx, yy, xy) = (xx + a * a, yy + b * b, xy + a * b);
    }
    let r = xy / (xx.sqrt() * yy.sqrt());
    // The rounding error of a constant correlates with anything.
    (r.is_finite() && xx > 1e-24 * n * mx * mx).then(|| r.clamp(-1.0, 1.0))
}

/// Correlation inside each cycle of the cosine, from trough to trough; cycles without any change count as 0.
fn per_period(signal: &Signal, d: &Dominant) -> Option<f64> {
    let (x, y) = (&signal.samples, wave(signal, d));
    let period = d.period_s * signal.rate_hz;
    if !(period >= 2.0 && period <= 2.0 * x.len() as f64) {
        return None;
    }
    // The trough at or before the first sample.
    let trough = -period * ((d.phase_rad / TAU + 0.5).rem_euclid(1.0));
    let (mut sum, mut weight) = (0.0, 0.0);
    for cycle in 0.. {
        let from = trough + f64::from(cycle) * period;
        let (a, b) = (from.round().max(0.0) as usize, ((from + period).round().max(0.0) as usize).min(x.len()));
        if a >= x.len() {
            break;
        }
        if b >= a + 2 {
            let share = (b - a) as f64 / period;
            sum += share * pearson(&x[a..b], &y[a..b]).unwrap_or(0.0);
            weight += share;
        }
    }
    (weight > 0.0).then(|| sum / weight)
}

/// Recurrence period density entropy with an embedding that spans one period, on at most [`RECURRENCE_SAMPLES`] samples.
/// `None` if the period is not known, too short or too long, or hardly a point comes back.
fn recurrence(x: &[f64], period: f64) -> Option<f64> {
    let factor = x.len().div_ceil(RECURRENCE_SAMPLES).max(1);
    let x: Vec<f64> = x.chunks_exact(factor).map(|c| c.iter().sum::<f64>() / factor as f64).collect();
    let delay = (period / (factor * EMBEDDING) as f64).round();
    if !(delay >= 1.0 && delay * (EMBEDDING as f64) < 0.5 * x.len() as f64) {
        return None;
    }
    let delay = delay as usize;
    let points: Vec<[f64; EMBEDDING]> =
        (0..x.len() - delay * (EMBEDDING - 1)).map(|i| std::array::from_fn(|j| x[i + j * delay])).collect();
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    let radius = RADIUS * RADIUS * variance * EMBEDDING as f64;
    let near = |a: &[f64; EMBEDDING], b: &[f64; EMBEDDING]| {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() <= radius
    };
    let mut times = vec![0.0; points.len()];
    let mut count = 0.0;
    for (i, start) in points.iter().enumerate() {
        let mut rest = points.iter().enumerate().skip(i + 1);
        let left = rest.find(|(_, p)| !near(start, p));
        if left.is_none() {
            continue;
        }
        if let Some((j, _)) = rest.find(|(_, p)| near(start, p)) {
            times[j - i] += 1.0;
            count += 1.0;
        }
    }
    if count < 0.1 * points.len() as f64 {
        return None;
    }
    times.iter_mut().for_each(|t| *t /= count);
    entropy(&times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Sampling;
    use crate::transform::Spectrum;

    fn signal(samples: Vec<f64>) -> Signal {
        let end = samples.len() as f64;
        Signal { samples, rate_hz: 1.0, start: 0.0, end, bytes: 1.0, sampling: Sampling::Bin, abstraction_error: 0.0 }
    }

    fn dominant(period_s: f64, phase_rad: f64) -> Dominant {
        let frequency_hz = 1.0 / period_s;
        Dominant {
            frequency_hz,
            period_s,
            period_std_s: None,
            cycles: 10.0,
            confidence: 1.0,
            amplitude_bytes_per_s: 1.0,
            phase_rad,
            dft_bin: None,
        }
    }

    fn scores(x: Vec<f64>, d: &Dominant) -> Scores {
        let powers = Powers::of(&Spectrum::of(&x), 1.0);
        of(&signal(x), powers.as_ref(), Some(d))
    }

    fn noise(n: usize) -> Vec<f64> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn a_cosine_and_noise_are_the_ends_of_the_scales() {
        let d = dominant(40.0, 0.7);
        let s = scores((0..2000).map(|i| 3.0 + (TAU * f64::from(i) / 40.0 + 0.7).cos()).collect(), &d);
        assert!(s.spectral_flatness.unwrap() < 1e-5 && s.spectral_entropy.unwrap() < 1e-9, "{s:?}");
        assert!((s.correlation.unwrap() - 1.0).abs() < 1e-12 && (s.period_correlation.unwrap() - 1.0).abs() < 1e-9);
        assert!(s.recurrence_entropy.unwrap() < 0.35, "{s:?}");
        let n = scores(noise(2000), &d);
        // Exponential powers: e^-γ and 1 − (1 − γ)/ln 1000.
        assert!((n.spectral_flatness.unwrap() - 0.561).abs() < 0.05, "{n:?}");
        assert!((n.spectral_entropy.unwrap() - 0.939).abs() < 0.01, "{n:?}");
        assert!(n.correlation.unwrap().abs() < 0.1 && n.period_correlation.unwrap().abs() < 0.2, "{n:?}");
        assert!(n.recurrence_entropy.is_none_or(|r| r > 0.6), "{n:?}");
    }

    #[test]
    fn a_train_of_bursts_recurs_after_its_period() {
        let x: Vec<f64> = (0..2000).map(|i| if i % 50 < 10 { 5.0 } else { 0.0 }).collect();
        // The peak of the cosine is in the middle of the bursts.
        let s = scores(x, &dominant(50.0, -TAU * 4.5 / 50.0));
        assert!(s.recurrence_entropy.unwrap() < 0.5, "{s:?}");
        // First Fourier coefficient against the spread of a rectangle of duty 0.2.
        let expected = 2.0 / std::f64::consts::PI * (0.2 * std::f64::consts::PI).sin() / (2.0f64 * 0.2 * 0.8).sqrt();
        assert!((s.correlation.unwrap() - expected).abs() < 0.02, "{s:?} {expected}");
        assert!((s.period_correlation.unwrap() - expected).abs() < 0.05, "{s:?}");
    }

    #[test]
    fn nothing_to_compute_from() {
        for x in [vec![], vec![1.0], vec![2.0; 100], vec![f64::NAN; 50]] {
            let s = scores(x, &dominant(5.0, 0.0));
            assert_eq!((s.spectral_flatness, s.correlation, s.recurrence_entropy), (None, None, None));
        }
    }
}
