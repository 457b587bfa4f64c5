//! The report of the burst pipeline: chains of bursts in the exact bandwidth.

use std::f64::consts::TAU;

use super::{PeriodReport, Seen, TraceClock, correlation};
use crate::period::chains::{BurstPeriod, BurstPeriods, Kind, Next};
use crate::period::methods::Settings;
use crate::period::validity::Sliding;
use crate::period::{
    Candidate, Detection, Detector, Dominant, Method, OtherPeriod, Prediction, Relation, Validity, bursts,
};
use crate::signal::Signal;
use crate::transform::{Complex64, Cosine, tone};

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// A runner-up whose period differs from a reported one by less than this share is no candidate of its own.
const SAME_PERIOD: f64 = 0.03;

impl PeriodReport {
    /// Describes the periods found in the bursts of `signal`. The spectrum of the detection is left empty.
    pub fn from_bursts(found: &BurstPeriods, signal: &Signal, clock: TraceClock, settings: &Settings) -> Self {
        let first = found.periods.first();
        let detection = Detection {
            periodic: found.verdict.is_periodic(),
            verdict: found.verdict,
            method: Method::Auto,
            detector: Detector::Auto,
            dominant: first.map(|f| dominant(f, signal, clock)),
            candidates: candidates(found),
            others: first.map_or_else(Vec::new, |f| others(f, &found.periods[1..], signal, clock)),
            spectrum: None,
        };
        let mut report = PeriodReport::new(detection);
        report.bin_s = found.bin_s;
        report.too_fast_s = found.too_fast_s;
        report.latest = found.latest;
        if let Some((f, d)) = first.zip(report.detection.dominant.as_ref()) {
            report.seen = seen(f, d, signal, clock, settings);
            let sliding = report.seen.sliding.as_ref().map(|(_, s)| s);
            report.validity = validity(f, sliding, signal, clock);
            report.bursts = bursts::summary(&f.bursts, f.period_s, clock.origin_s);
            report.prediction = prediction(f, signal, clock);
        }
        report
    }
}

/// The periods found, the runner-up of the first, and the best hypothesis that was rejected.
fn candidates(found: &BurstPeriods) -> Vec<Candidate> {
    let candidate = |period_s: f64, confidence: f64, score: f64| Candidate {
        frequency_hz: 1.0 / period_s,
        period_s,
        confidence,
        score,
        harmonic_of: None,
    };
    let mut all: Vec<Candidate> = found.periods.iter().map(|f| candidate(f.period_s, f.confidence, f.logit)).collect();
    let rival = found.periods.first().and_then(|f| f.runner_up);
    let reported = |t: f64| found.periods.iter().any(|f| (t / f.period_s - 1.0).abs() < SAME_PERIOD);
    if let Some((period, logit)) = rival.filter(|(t, _)| !reported(*t)) {
        all.push(candidate(period, 1.0 / (1.0 + (-logit).exp()), logit));
    }
    all.extend(found.relatives.iter().map(|r| candidate(r.period_s, r.confidence, r.logit)));
    all.extend(found.rejected.as_ref().map(|r| candidate(r.period_s, r.confidence, r.logit)));
    all
}

/// The periods beside `first`.
fn others(first: &BurstPeriod, rest: &[BurstPeriod], signal: &Signal, clock: TraceClock) -> Vec<OtherPeriod> {
    let other = |f: &BurstPeriod| OtherPeriod {
        period: dominant(f, signal, clock),
        validity: validity(f, None, signal, clock),
        relation: relation(first, f),
        prediction: prediction(f, signal, clock),
    };
    rest.iter().map(other).collect()
}

/// When `other` holds, relative to `first`: at the same time if their windows overlap for half of the shorter total.
fn relation(first: &BurstPeriod, other: &BurstPeriod) -> Relation {
    let length = |f: &BurstPeriod| f.windows.iter().map(|w| w.1 - w.0).sum::<f64>();
    let middle = |f: &BurstPeriod| f.windows.iter().map(|w| 0.5 * (w.1 * w.1 - w.0 * w.0)).sum::<f64>() / length(f);
    let pairs = first.windows.iter().flat_map(|a| other.windows.iter().map(move |b| (a, b)));
    let overlap: f64 = pairs.map(|(a, b)| (a.1.min(b.1) - a.0.max(b.0)).max(0.0)).sum();
    if overlap < 0.5 * length(first).min(length(other)) {
        return if middle(other) < middle(first) { Relation::Before } else { Relation::After };
    }
    if other.period_s < first.period_s { Relation::Within } else { Relation::Beside }
}

fn validity(f: &BurstPeriod, sliding: Option<&Sliding>, signal: &Signal, clock: TraceClock) -> Vec<Validity> {
    let correlation = |a: f64, b: f64| sliding.and_then(|s| mean_within(s, signal, a, b));
    let window = |&(a, b): &(f64, f64)| Validity {
        start_s: clock.origin_s + a,
        end_s: clock.origin_s + b,
        correlation: correlation(a, b),
    };
    f.windows.iter().map(window).collect()
}

/// The bursts, and the correlation with the dominant cosine.
fn seen(f: &BurstPeriod, d: &Dominant, signal: &Signal, clock: TraceClock, settings: &Settings) -> Seen {
    let cosine = Cosine { frequency_hz: d.frequency_hz, amplitude: d.amplitude_bytes_per_s, phase: d.phase_rad };
    let (smooth, sliding) = correlation(signal, &cosine, settings);
    Seen {
        sliding: sliding.map(|s| (smooth, s)),
        bursts: f.bursts.iter().map(|b| (clock.origin_s + b.start_s, clock.origin_s + b.end_s)).collect(),
        burst_bytes: f.bursts.iter().map(|b| b.bytes).collect(),
        ..Seen::default()
    }
}

/// Mean correlation of the sliding windows that lie in `a..b` seconds.
fn mean_within(sliding: &Sliding, signal: &Signal, a: f64, b: f64) -> Option<f64> {
    let sample = |t: f64| ((t - signal.start) * signal.rate_hz).max(0.0) as usize;
    let part =
        sliding.correlation.get(sample(a)..sample(b).saturating_sub(sliding.window).min(sliding.correlation.len()))?;
    (!part.is_empty()).then(|| part.iter().sum::<f64>() / part.len() as f64)
}

fn dominant(f: &BurstPeriod, signal: &Signal, clock: TraceClock) -> Dominant {
    let x = cosine_at(signal, 1.0 / f.period_s);
    Dominant {
        frequency_hz: 1.0 / f.period_s,
        period_s: f.period_s,
        // Both ends of the chain carry the error of a stamp.
        period_std_s: finite(f.period_std_s.hypot(clock.stamp_std_s() * 2f64.sqrt() / (f.cycles.max(1) as f64))),
        cycles: f.cycles as f64,
        confidence: f.confidence,
        amplitude_bytes_per_s: x.norm(),
        phase_rad: x.arg(),
        dft_bin: None,
    }
}

/// The cosine of any frequency in a signal: 2/N Σ (x_n − x̄) e^(−2πi f n / f_s), whose modulus and argument are
/// amplitude and phase.
fn cosine_at(signal: &Signal, frequency_hz: f64) -> Complex64 {
    let n = signal.samples.len().max(1) as f64;
    let mean = signal.samples.iter().sum::<f64>() / n;
    let centred: Vec<f64> = signal.samples.iter().map(|x| x - mean).collect();
    tone(&centred, TAU * frequency_hz / signal.rate_hz) * (2.0 / n)
}

/// The next burst, if the period still holds where the trace ends.
fn prediction(f: &BurstPeriod, signal: &Signal, clock: TraceClock) -> Option<Prediction> {
    if !f.holds_at(signal.end) || f.kind == Kind::Inside {
        return None;
    }
    let next = f.next_after(signal.end + f.rise_s)?;
    // a burst begins before its onset, by a time that varies
    let std_s = next.std_s.hypot(f.rise_std_s).hypot(clock.stamp_std_s());
    let next = Next { start_s: next.start_s - f.rise_s, std_s, ..next };
    let said = bursts::prediction(&f.bursts, &next, (f.period_s, f.confidence), clock.origin_s)?;
    Some(Prediction { now_in_burst: f.under_way.is_some(), ..said })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Sampling;

    #[test]
    fn amplitude_and_phase_off_the_grid() {
        let (f, rate) = (0.317, 10.0);
        let samples: Vec<f64> = (0..20_000).map(|i| 7.0 + 3.0 * (TAU * f * f64::from(i) / rate + 0.4).cos()).collect();
        let signal = Signal {
            samples,
            rate_hz: rate,
            start: 0.0,
            end: 2000.0,
            bytes: 14_000.0,
            sampling: Sampling::Bin,
            abstraction_error: 0.0,
        };
        let x = cosine_at(&signal, f);
        assert!((x.norm() - 3.0).abs() < 1e-2 && (x.arg() - 0.4).abs() < 1e-2, "{x}");
    }
}
