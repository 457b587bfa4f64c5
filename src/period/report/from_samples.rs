//! The report of a method that searches the sampled signal.

use super::{PeriodReport, Seen, TrackPoint, correlation};
use crate::period::methods::{self, Settings};
use crate::period::{Dominant, Method, Validity, bursts, validity};
use crate::signal::Signal;
use crate::transform::Cosine;

/// Points of a track in a report.
const TRACK: usize = 200;

impl PeriodReport {
    /// Runs `method` on `signal`, which may be filtered; bursts and their bytes are those of `raw`. `origin_s` is added to
    /// all times.
    pub fn from_samples(method: Method, signal: &Signal, raw: &Signal, settings: &Settings, origin_s: f64) -> Self {
        let found = methods::find(method, signal, settings);
        let step = found.track.len().div_ceil(TRACK).max(1);
        let start = origin_s + signal.start;
        let point = |p: &methods::TrackPoint| TrackPoint { time_s: start + p.time_s, period_s: 1.0 / p.frequency_hz };
        let mut report = PeriodReport {
            detection: found.detection,
            validity: Vec::new(),
            bursts: None,
            prediction: None,
            track: found.track.iter().step_by(step).map(point).collect(),
            bin_s: None,
            too_fast_s: None,
            latest: None,
            seen: Seen { sight: found.sight, ..Seen::default() },
        };
        if let Some(dominant) = report.detection.dominant.clone() {
            report.locate(signal, raw, &dominant, settings, origin_s);
        }
        report
    }

    /// Adds where the period holds, its bursts there, and the next one.
    fn locate(&mut self, signal: &Signal, raw: &Signal, dominant: &Dominant, settings: &Settings, origin_s: f64) {
        let cosine = Cosine {
            frequency_hz: dominant.frequency_hz,
            amplitude: dominant.amplitude_bytes_per_s,
            phase: dominant.phase_rad,
        };
        let (smooth, sliding) = correlation(signal, &cosine, settings);
        let all = bursts::find(raw, dominant.period_s, &[]);
        let windows = sliding.as_ref().map_or_else(Vec::new, |s| s.windows(signal.rate_hz, signal.start));
        let windows = validity::to_bursts(windows, &all, dominant.period_s);
        let inside: Vec<_> = match windows[..] {
            [] => all,
            _ => {
                let spans: Vec<(f64, f64)> = windows.iter().map(|w| (w.start_s, w.end_s)).collect();
                bursts::find(raw, dominant.period_s, &spans)
            }
        };
        self.bursts = bursts::summary(&inside, dominant.period_s, origin_s);
        self.prediction = bursts::next(&inside, dominant, raw.end, origin_s);
        self.seen.bursts = inside.iter().map(|b| (origin_s + b.start_s, origin_s + b.end_s)).collect();
        self.seen.burst_bytes = inside.iter().map(|b| b.bytes).collect();
        self.seen.sliding = sliding.map(|s| (smooth, s));
        let shift = |w: Validity| Validity { start_s: origin_s + w.start_s, end_s: origin_s + w.end_s, ..w };
        self.validity = windows.into_iter().map(shift).collect();
    }
}
