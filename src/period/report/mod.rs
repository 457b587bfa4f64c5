//! The parts of a signal's report that describe its period: one type, filled by either pipeline.

mod from_bursts;
mod from_samples;

use schemars::JsonSchema;
use serde::Serialize;

use super::chains::{self, BurstPeriods};
use super::methods::{Settings, Sight};
use super::validity::{self, Sliding};
use super::{Bursts, Detection, Method, Prediction, Validity, Verdict};
use crate::signal::Signal;
use crate::signal::profile::Profile;
use crate::transform::Cosine;

/// The pipeline that answers for a signal.
#[derive(Debug, Clone)]
pub enum Route {
    /// Bursts of the exact bandwidth ([`chains`]), already searched.
    Bursts(BurstPeriods),
    /// A method on the sampled signal ([`super::methods`]).
    Sampled(Method),
    /// None: the times of the trace cannot show a period, whatever the method.
    NotResolvable(Method),
}

impl Route {
    /// Whether [`Route::new`] needs the exact bandwidth.
    pub fn needs_profile(method: Method, filtered: bool) -> bool {
        method == Method::Auto && !filtered
    }

    /// The route of `method`, with the bursts searched by `search` if it takes bursts. A filter needs samples: with it, or without a profile, method
    /// `auto` is `autocorrelation`.
    pub fn new(method: Method, filtered: bool, profile: Option<&Profile>, search: chains::Options) -> Route {
        match (method, profile) {
            (Method::Auto, Some(p)) if !filtered => {
                let mut found = chains::detect(p, search);
                found.lead_with_latest(p.origin() + p.duration());
                Route::Bursts(found)
            }
            (Method::Auto, _) => Route::Sampled(Method::Autocorrelation),
            (method, _) => Route::Sampled(method),
        }
    }

    /// Median width of the bursts of the dominant period, if bursts were searched.
    pub fn burst_width_s(&self) -> Option<f64> {
        match self {
            Route::Bursts(found) => found.periods.first()?.median_width_s(),
            Route::Sampled(_) | Route::NotResolvable(_) => None,
        }
    }

    /// The report of a signal. `signal` may be filtered; bytes and bursts are those of `raw`.
    pub fn report(&self, signal: &Signal, raw: &Signal, clock: TraceClock, settings: &Settings) -> PeriodReport {
        match self {
            Route::Bursts(found) => PeriodReport::from_bursts(found, raw, clock, settings),
            Route::Sampled(method) => PeriodReport::from_samples(*method, signal, raw, settings, clock.origin_s),
            Route::NotResolvable(method) => {
                PeriodReport::new(Detection::without_period(*method, Verdict::NotResolvable))
            }
        }
    }
}

/// The clock of a trace.
#[derive(Debug, Clone, Copy)]
pub struct TraceClock {
    /// Seconds to add to every time.
    pub origin_s: f64,
    /// Width of the bins that times are rounded to; 0 for traces of requests, whose stamps are exact to the microsecond.
    pub bin_s: f64,
}

impl TraceClock {
    /// Standard deviation of a time stamp: uniform in its bin, or in a microsecond.
    fn stamp_std_s(self) -> f64 {
        self.bin_s.max(1e-6) / 12f64.sqrt()
    }
}

/// The period at one time, for methods that follow it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TrackPoint {
    /// Time, seconds on the trace's own clock.
    pub time_s: f64,
    /// The strongest period around that time, in seconds.
    pub period_s: f64,
}

/// The period of a signal, where it holds, its bursts and the next one.
#[derive(Debug, Clone)]
pub struct PeriodReport {
    /// The period, or why there is none.
    pub detection: Detection,
    /// Where the dominant period holds.
    pub validity: Vec<Validity>,
    /// Bursts of the dominant period.
    pub bursts: Option<Bursts>,
    /// The next burst.
    pub prediction: Option<Prediction>,
    /// The period over time, from methods that follow it.
    pub track: Vec<TrackPoint>,
    /// Width in seconds of the bins that the answer takes into account; `None` for requests.
    pub bin_s: Option<f64>,
    /// A period shorter than those that are reported, which rules over the run.
    pub too_fast_s: Option<f64>,
    /// If only the last bursts of a long run were searched: how many, and of how many.
    pub latest: Option<(usize, usize)>,
    /// Intermediate results for pictures.
    pub seen: Seen,
}

/// Bins per period below which nothing can be resolved (Nyquist).
const NYQUIST_BINS: f64 = 2.0;
/// Most confidence in such a period.
const UNRESOLVED: f64 = 0.5;
/// Bins per period below which bursts of a length near that of a bin look alike in the bins of two periods.
const FEW_BINS: f64 = 3.0;

impl PeriodReport {
    /// Limits the confidence in periods that bins of `bin_s` seconds cannot resolve; the shortest period of few bins, if there is one.
    pub fn limit_to_bins(&mut self, bin_s: f64) -> Option<f64> {
        let mut shortest: Option<f64> = None;
        let mut limit = |period_s: f64, confidence: &mut f64| {
            if period_s < NYQUIST_BINS * bin_s {
                *confidence = confidence.min(UNRESOLVED);
            }
            if period_s < FEW_BINS * bin_s {
                shortest = Some(shortest.map_or(period_s, |s| s.min(period_s)));
            }
        };
        let Detection { verdict, dominant, candidates, others, .. } = &mut self.detection;
        for d in dominant.iter_mut().chain(others.iter_mut().map(|o| &mut o.period)) {
            limit(d.period_s, &mut d.confidence);
        }
        for p in self.prediction.iter_mut().chain(others.iter_mut().filter_map(|o| o.prediction.as_mut())) {
            limit(p.period_s, &mut p.confidence);
        }
        if *verdict == Verdict::NotResolvable {
            candidates.iter_mut().for_each(|c| limit(c.period_s, &mut c.confidence));
        }
        shortest
    }

    /// Readings `step_s` apart say that something moved between two of them, not when: no burst is shorter.
    pub fn widen_bursts(&mut self, step_s: f64) {
        let period_s = self.detection.dominant.as_ref().map_or(f64::INFINITY, |d| d.period_s);
        if let Some(b) = &mut self.bursts {
            for width in [&mut b.width_s.min, &mut b.width_s.median, &mut b.width_s.max] {
                *width = width.max(step_s);
            }
            b.duty_cycle = b.duty_cycle.max((b.width_s.median / period_s).min(1.0));
        }
        let others = self.detection.others.iter_mut().filter_map(|o| o.prediction.as_mut());
        for p in self.prediction.iter_mut().chain(others) {
            let width_s = (p.next_end_s - p.next_start_s).max(step_s);
            (p.next_end_s, p.idle_s) = (p.next_start_s + width_s, p.idle_s.min((p.period_s - width_s).max(0.0)));
        }
    }

    fn new(detection: Detection) -> Self {
        PeriodReport {
            detection,
            validity: Vec::new(),
            bursts: None,
            prediction: None,
            track: Vec::new(),
            bin_s: None,
            too_fast_s: None,
            latest: None,
            seen: Seen::default(),
        }
    }
}

/// Intermediate results that pictures show.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The representation that the method searched.
    pub sight: Sight,
    /// The smoothed signal and its correlation with the dominant cosine, if there is one.
    pub sliding: Option<(Vec<f64>, Sliding)>,
    /// Bursts: start and end in seconds on the trace's own clock.
    pub bursts: Vec<(f64, f64)>,
    /// Bytes of each of these bursts.
    pub burst_bytes: Vec<f64>,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { sight: Sight::Nothing, sliding: None, bursts: Vec::new(), burst_bytes: Vec::new() }
    }
}

/// The wavelet approximation of the signal and its correlation with a cosine, over one period at a time (Tarraf & Wolf
/// 2026, section 5.3).
fn correlation(signal: &Signal, cosine: &Cosine, settings: &Settings) -> (Vec<f64>, Option<Sliding>) {
    let x = &signal.samples;
    let deepest = settings.wavelet.max_level(x.len());
    let period = signal.rate_hz / cosine.frequency_hz;
    let level = settings.level.map_or_else(|| validity::level(period, &settings.wavelet, x.len()), |l| l.min(deepest));
    let smooth = validity::approximation(x, &settings.wavelet, level);
    let sliding = Sliding::of(&smooth, signal.rate_hz, cosine);
    (smooth, sliding)
}
