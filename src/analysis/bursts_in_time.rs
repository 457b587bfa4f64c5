//! Method `auto`: what the chains of bursts say, as parts of a report.

use std::f64::consts::TAU;

use super::Options;
use super::sampled::{self, Answer, Seen};
use crate::period::chains::{self, Found};
use crate::period::validity::Sliding;
use crate::period::{
    Bursts, Candidate, Detection, Detector, Dominant, Method, Prediction, Set10, Spread, Validity, Verdict,
};
use crate::signal::Signal;
use crate::transform::{Complex64, Cosine, tone};

/// The clock of a trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// Seconds to add to every time.
    pub origin_s: f64,
    /// Width of the bins that times are rounded to; 0 for traces of requests, whose stamps are exact to the microsecond.
    pub bin_s: f64,
}

impl Clock {
    /// Standard deviation of a time stamp: uniform in its bin, or in a microsecond.
    fn stamp_std_s(self) -> f64 {
        self.bin_s.max(1e-6) / 12f64.sqrt()
    }
}

fn known(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// Median width in seconds of the bursts of the dominant period.
pub(super) fn median_width(found: &chains::Detection) -> Option<f64> {
    let f = found.periods.first()?;
    Spread::of(f.bursts.iter().map(|b| b.end_s - b.start_s)).map(|s| s.median)
}

/// Puts the answer of the chains in the report's terms; it has no spectrum.
pub(super) fn answer(found: &chains::Detection, signal: &Signal, clock: Clock, options: &Options) -> Answer {
    let dominants: Vec<Dominant> = found.periods.iter().map(|f| dominant(f, signal, clock)).collect();
    let mut candidates: Vec<Candidate> =
        found.periods.iter().map(|f| candidate(f.period_s, f.confidence, f.evidence.logit)).collect();
    let rival = found.periods.first().and_then(|f| f.evidence.runner_up);
    let known_already = |t: f64| found.periods.iter().any(|f| (t / f.period_s - 1.0).abs() < 0.03);
    if let Some((period, logit)) = rival.filter(|(t, _)| !known_already(*t)) {
        candidates.push(candidate(period, 1.0 / (1.0 + (-logit).exp()), logit));
    }
    if let Some(r) = &found.rejected {
        candidates.push(candidate(r.period_s, r.confidence, r.evidence.logit));
    }
    let first = found.periods.first();
    let mut dominants = dominants.into_iter();
    let detection = Detection {
        periodic: first.is_some(),
        verdict: verdict(found.verdict),
        method: Method::Auto,
        detector: Detector::Auto,
        dominant: dominants.next(),
        candidates,
        others: dominants.collect(),
        spectrum: None,
    };
    let seen =
        first.zip(detection.dominant.as_ref()).map_or_else(Seen::default, |(f, d)| seen(f, d, signal, clock, options));
    let validity = first.map_or_else(Vec::new, |f| {
        let correlation = |a: f64, b: f64| seen.sliding.as_ref().and_then(|(_, s)| mean_within(s, signal, a, b));
        let window = |&(a, b): &(f64, f64)| Validity {
            start_s: clock.origin_s + a,
            end_s: clock.origin_s + b,
            correlation: correlation(a, b),
        };
        f.windows.iter().map(window).collect()
    });
    let bursts = first.and_then(|f| bursts(f, clock));
    let prediction = first.zip(bursts.as_ref()).and_then(|(f, b)| prediction(f, b, signal, clock));
    Answer { detection, validity, bursts, prediction, track: Vec::new(), seen }
}

/// What pictures show: the bursts, and the correlation with the dominant cosine.
fn seen(f: &Found, d: &Dominant, signal: &Signal, clock: Clock, options: &Options) -> Seen {
    let cosine = Cosine { frequency_hz: d.frequency_hz, amplitude: d.amplitude_bytes_per_s, phase: d.phase_rad };
    let (smooth, sliding) = sampled::correlation(signal, &cosine, options);
    Seen {
        sliding: sliding.map(|s| (smooth, s)),
        bursts: f.bursts.iter().map(|b| (clock.origin_s + b.start_s, clock.origin_s + b.end_s)).collect(),
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

fn verdict(v: chains::Verdict) -> Verdict {
    match v {
        chains::Verdict::Periodic => Verdict::Periodic,
        chains::Verdict::Irregular => Verdict::Irregular,
        chains::Verdict::SingleBurst => Verdict::SingleBurst,
        chains::Verdict::TooFewCycles => Verdict::TooFewCycles,
        chains::Verdict::Constant => Verdict::Constant,
        chains::Verdict::Empty => Verdict::Empty,
    }
}

fn candidate(period_s: f64, confidence: f64, score: f64) -> Candidate {
    Candidate { frequency_hz: 1.0 / period_s, period_s, confidence, score, harmonic_of: None }
}

fn dominant(f: &Found, signal: &Signal, clock: Clock) -> Dominant {
    let x = cosine_at(signal, 1.0 / f.period_s);
    Dominant {
        frequency_hz: 1.0 / f.period_s,
        period_s: f.period_s,
        // Both ends of the chain carry the error of a stamp.
        period_std_s: known(f.period_std_s.hypot(clock.stamp_std_s() * 2f64.sqrt() / (f.cycles.max(1) as f64))),
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

fn bursts(f: &Found, clock: Clock) -> Option<Bursts> {
    let width_s = Spread::of(f.bursts.iter().map(|b| b.end_s - b.start_s))?;
    Some(Bursts {
        count: f.bursts.len() as u64,
        width_s,
        bytes: Spread::of(f.bursts.iter().map(|b| b.bytes))?,
        duty_cycle: (width_s.median / f.period_s).min(1.0),
        starts_s: f.bursts.iter().map(|b| clock.origin_s + b.start_s).collect(),
    })
}

/// The next burst, if the period still holds where the trace ends.
fn prediction(f: &Found, bursts: &Bursts, signal: &Signal, clock: Clock) -> Option<Prediction> {
    let holds_until = f.windows.last()?.1;
    if signal.end - holds_until > 1.5 * f.period_s {
        return None;
    }
    let mut bytes: Vec<f64> = f.bursts.iter().map(|b| b.bytes).collect();
    bytes.sort_by(f64::total_cmp);
    let p95 = bytes.get(((bytes.len() as f64 * 0.95).ceil() as usize).saturating_sub(1)).copied()?;
    let start = clock.origin_s + f.next.start_s - f.flank_s;
    Some(Prediction {
        next_start_s: start,
        next_start_std_s: known(f.next.std_s.hypot(clock.stamp_std_s())),
        next_end_s: start + bursts.width_s.median,
        bytes: bursts.bytes.median,
        bytes_p95: p95,
        idle_s: (f.period_s - bursts.width_s.median).max(0.0),
        period_s: f.period_s,
        confidence: f.confidence,
        valid_until_s: start + f.period_s,
        set10: Set10 { characteristic_s: f.period_s, set: f.period_s.log10().round() as i32 },
    })
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
