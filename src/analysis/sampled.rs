//! Methods that look at the sampled signal: what they say, as parts of a report.

use schemars::JsonSchema;
use serde::Serialize;

use super::Options;
use crate::error::Result;
use crate::period::methods::{self, Settings, Sight};
use crate::period::scores::{self, Scores};
use crate::period::spectrum::Powers;
use crate::period::validity::{self, Sliding};
use crate::period::{Bursts, Component, Detection, Dominant, Fit, Method, Prediction, Validity, bursts};
use crate::record::Warning;
use crate::signal::Signal;
use crate::transform::{Cosine, Spectrum, fourier_fit};

/// Points of a track in a report.
const TRACK: usize = 200;

/// Cosines of a Fourier fit if no number is given.
const FITTED: usize = 10;

/// The period at one time, for methods that follow it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TrackPoint {
    /// Seconds on the trace's own clock.
    pub time_s: f64,
    /// The strongest period around that time.
    pub period_s: f64,
}

/// The parts of a signal's report that say what was found.
pub(super) struct Answer {
    pub detection: Detection,
    pub validity: Vec<Validity>,
    pub bursts: Option<Bursts>,
    pub prediction: Option<Prediction>,
    pub track: Vec<TrackPoint>,
    pub seen: Seen,
}

/// What pictures show of it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What the method looked at.
    pub sight: Sight,
    /// The smoothed signal and its correlation with the dominant cosine, if there is one.
    pub sliding: Option<(Vec<f64>, Sliding)>,
    /// Bursts: start and end in seconds on the trace's own clock.
    pub bursts: Vec<(f64, f64)>,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { sight: Sight::Nothing, sliding: None, bursts: Vec::new() }
    }
}

/// Runs the method on `signal`, which may be filtered; bursts and their bytes are those of `raw`. `origin` seconds are added
/// to all times.
pub(super) fn answer(signal: &Signal, raw: &Signal, options: &Options, origin: f64) -> Answer {
    let settings = Settings {
        detector: options.detector,
        tolerance: options.tolerance,
        wavelet: options.wavelet,
        level: options.level,
    };
    let found = methods::find(method(options), signal, &settings);
    let step = found.track.len().div_ceil(TRACK).max(1);
    let start = origin + signal.start;
    let track = found
        .track
        .iter()
        .step_by(step)
        .map(|p| TrackPoint { time_s: start + p.time_s, period_s: 1.0 / p.frequency_hz })
        .collect();
    let mut sampled = Answer {
        detection: found.detection,
        validity: Vec::new(),
        bursts: None,
        prediction: None,
        track,
        seen: Seen { sight: found.sight, ..Seen::default() },
    };
    if let Some(dominant) = sampled.detection.dominant.clone() {
        sampled.in_time(signal, raw, &dominant, options, origin);
    }
    sampled
}

/// The method that is run. A filter works on samples, so what needs the requests themselves cannot be used with it.
fn method(options: &Options) -> Method {
    match options.method {
        Method::Auto if options.filter.is_some() => Method::Autocorrelation,
        m => m,
    }
}

impl Answer {
    /// Where the period holds, its bursts there, and the next one.
    fn in_time(&mut self, signal: &Signal, raw: &Signal, dominant: &Dominant, options: &Options, origin: f64) {
        let cosine = Cosine {
            frequency_hz: dominant.frequency_hz,
            amplitude: dominant.amplitude_bytes_per_s,
            phase: dominant.phase_rad,
        };
        let (smooth, sliding) = correlation(signal, &cosine, options);
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
        self.bursts = bursts::summary(&inside, dominant.period_s, origin);
        self.prediction = bursts::next(&inside, dominant, raw.end, origin);
        self.seen.bursts = inside.iter().map(|b| (origin + b.start, origin + b.end)).collect();
        self.seen.sliding = sliding.map(|s| (smooth, s));
        let shift = |w: Validity| Validity { start_s: origin + w.start_s, end_s: origin + w.end_s, ..w };
        self.validity = windows.into_iter().map(shift).collect();
    }
}

/// The wavelet approximation of the signal and its correlation with a cosine, over one period at a time (Tarraf & Wolf
/// 2026, section 5.3).
pub(super) fn correlation(signal: &Signal, cosine: &Cosine, options: &Options) -> (Vec<f64>, Option<Sliding>) {
    let x = &signal.samples;
    let deepest = options.wavelet.max_level(x.len());
    let period = signal.rate_hz / cosine.frequency_hz;
    let level = options.level.map_or_else(|| validity::level(period, &options.wavelet, x.len()), |l| l.min(deepest));
    let smooth = validity::approximation(x, &options.wavelet, level);
    let sliding = Sliding::of(&smooth, signal.rate_hz, cosine);
    (smooth, sliding)
}

/// The signal as its mean and its strongest cosines: those of the DFT, or fitted if that is asked for.
pub(super) fn components(
    signal: &Signal,
    spectrum: &Spectrum,
    powers: Option<&Powers>,
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> (Vec<Component>, Option<Fit>) {
    let rate_hz = signal.rate_hz;
    let component =
        |c: Cosine| Component { frequency_hz: c.frequency_hz, amplitude_bytes_per_s: c.amplitude, phase_rad: c.phase };
    if options.fourier_fit {
        let count = if options.components > 0 { options.components } else { FITTED };
        match fourier_fit(&signal.samples, rate_hz, count) {
            Ok(f) => {
                let (mse_dft, mse_fit) = (f.dft.mean_square_error, f.fit.mean_square_error);
                let improvement = if mse_dft > 0.0 { 1.0 - mse_fit / mse_dft } else { 0.0 };
                let mean = Cosine {
                    frequency_hz: 0.0,
                    amplitude: f.fit.mean.abs(),
                    phase: if f.fit.mean < 0.0 { std::f64::consts::PI } else { 0.0 },
                };
                let all = std::iter::once(mean).chain(f.fit.cosines).map(component).collect();
                let fit = improvement.is_finite().then_some(Fit { mse_dft, mse_fit, improvement });
                return (all, fit);
            }
            Err(e) => warnings.push(Warning::new("no-fit", format!("the components could not be fitted: {e}"))),
        }
    }
    let Some(powers) = powers.filter(|_| options.components > 0) else { return (Vec::new(), None) };
    let order = strongest(powers, options.components);
    let all = std::iter::once(0).chain(order).filter_map(|k| spectrum.cosine(k, rate_hz)).map(component).collect();
    (all, None)
}

/// The `n` bins of most power, strongest first.
pub fn strongest(powers: &Powers, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (1..=powers.power.len()).collect();
    let stronger = |a: &usize, b: &usize| powers.power[b - 1].total_cmp(&powers.power[a - 1]).then(a.cmp(b));
    if n < order.len() {
        order.select_nth_unstable_by(n, stronger);
        order.truncate(n);
    }
    order.sort_by(stronger);
    order
}

/// How periodic the signal is, if that is asked for.
pub(super) fn scores(
    signal: &Signal,
    powers: Option<&Powers>,
    detection: &Detection,
    options: &Options,
) -> Option<Scores> {
    options.scores.then(|| scores::of(signal, powers, detection.dominant.as_ref()))
}

/// The signal that is analysed: filtered if that is asked for.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the filter cannot be made.
pub(super) fn filtered(signal: &Signal, options: &Options) -> Result<Option<Signal>> {
    options.filter.map(|f| signal.filtered(f)).transpose()
}
