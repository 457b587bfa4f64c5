//! The live view of a followed job: the recent bandwidth, its dominant cosine, the next burst, changes and regimes.

use std::collections::VecDeque;
use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::automaton::Automaton;
use super::prediction::Prediction;
use crate::record::Interval;

/// Name of the schema of [`Snapshot`].
pub const LIVE_SCHEMA: &str = "iophase.live.v1";

/// Bins of the signal that is shown.
const BINS: usize = 512;
/// Periods that are shown, once there is one.
const SHOWN_PERIODS: f64 = 12.0;
/// Periods that the cosine is fitted to.
const FITTED_PERIODS: f64 = 8.0;
/// Changes that are remembered.
const CHANGES: usize = 64;

/// Bandwidth over the recent time: exact means of bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecentSignal {
    /// Start of the first bin; `null` while nothing has come.
    pub start_s: Option<f64>,
    /// Width of a bin in seconds.
    pub bin_s: f64,
    /// Mean bandwidth of each bin in bytes per second.
    pub bytes_per_s: Vec<f64>,
}

/// mean + amplitude cos(2 pi frequency (t - `start_s` of the signal) + phase).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cosine {
    /// Frequency of the predicted period in Hz.
    pub frequency_hz: f64,
    /// Mean of the signal over the last periods, bytes per second.
    pub mean_bytes_per_s: f64,
    /// Amplitude of the signal at the frequency, bytes per second.
    pub amplitude_bytes_per_s: f64,
    /// Phase at the start of the signal, radians.
    pub phase_rad: f64,
}

/// One look at a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Name and version of the schema.
    pub schema: String,
    /// The job, where a source carries several.
    pub job: Option<String>,
    /// The recent bandwidth, reads and writes.
    pub signal: RecentSignal,
    /// The dominant cosine; `null` without a period.
    pub cosine: Option<Cosine>,
    /// When the period changed, seconds on the trace's own clock, oldest first; the latest 64.
    pub changes_s: Vec<f64>,
    /// The latest prediction; `null` before the first.
    pub prediction: Option<Prediction>,
    /// The regimes so far.
    pub automaton: Automaton,
}

/// Collects what [`Snapshot`] shows. Memory is bounded.
#[derive(Debug, Clone, Default)]
pub struct Live {
    trail: Trail,
    changes: VecDeque<f64>,
    prediction: Option<Prediction>,
    automaton: Automaton,
}

impl Live {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Live::default()
    }

    /// Takes the transfers that the session is fed.
    pub fn feed(&mut self, transfers: &[Interval]) {
        transfers.iter().filter(|t| t.op.moves_bytes()).for_each(|t| self.trail.add(t.start, t.end, t.bytes));
    }

    /// Takes a prediction of the session, and its regimes.
    pub fn note(&mut self, prediction: &Prediction, automaton: &Automaton) {
        if let Some(t) = prediction.change_s {
            while self.changes.len() >= CHANGES {
                self.changes.pop_front();
            }
            self.changes.push_back(t);
        }
        self.trail.show(prediction.period_s.filter(|_| prediction.periodic));
        self.prediction = Some(prediction.clone());
        if self.automaton != *automaton {
            self.automaton = automaton.clone();
        }
    }

    /// The latest prediction.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_ref()
    }

    /// The view at this moment.
    pub fn snapshot(&self) -> Snapshot {
        let signal = self.trail.signal();
        let period = self.prediction.as_ref().filter(|p| p.periodic).and_then(|p| p.period_s);
        Snapshot {
            schema: LIVE_SCHEMA.into(),
            job: self.prediction.as_ref().and_then(|p| p.job.clone()),
            cosine: period.and_then(|t| cosine(&signal, t, self.changes.back().copied())),
            signal,
            changes_s: self.changes.iter().copied().collect(),
            prediction: self.prediction.clone(),
            automaton: self.automaton.clone(),
        }
    }
}

/// The component of the signal at 1/`period_s` over its last whole periods, not from before `since`.
fn cosine(signal: &RecentSignal, period_s: f64, since: Option<f64>) -> Option<Cosine> {
    let (start, n) = (signal.start_s?, signal.bytes_per_s.len());
    let frequency_hz = 1.0 / period_s;
    if !(frequency_hz.is_finite() && frequency_hz > 0.0 && period_s >= 2.0 * signal.bin_s) {
        return None;
    }
    let after = since.map_or(0.0, |t| ((t - start) / signal.bin_s).ceil().max(0.0));
    let whole = ((n as f64 - after) * signal.bin_s / period_s).floor().min(FITTED_PERIODS);
    let bins = (whole * period_s / signal.bin_s).round() as usize;
    let last = signal.bytes_per_s.get(n.checked_sub(bins)?..).filter(|l| !l.is_empty())?;
    let (mut mean, mut re, mut im) = (0.0, 0.0, 0.0);
    for (i, x) in last.iter().enumerate() {
        let (sin, cos) = (TAU * frequency_hz * ((n - bins + i) as f64 + 0.5) * signal.bin_s).sin_cos();
        mean += x;
        re += x * cos;
        im -= x * sin;
    }
    let m = last.len() as f64;
    Some(Cosine {
        frequency_hz,
        mean_bytes_per_s: mean / m,
        amplitude_bytes_per_s: 2.0 * re.hypot(im) / m,
        phase_rad: im.atan2(re),
    })
}

/// At most [`BINS`] bins. Their width doubles until the shown periods fit, then the oldest go.
#[derive(Debug, Clone, Default)]
struct Trail {
    origin: f64,
    width: f64,
    bytes: VecDeque<f64>,
    /// Width from which on the oldest bins go.
    widest: Option<f64>,
}

impl Trail {
    fn add(&mut self, start: f64, end: f64, bytes: f64) {
        /// No bin is narrower: a microsecond, the clock of tracers.
        const NARROWEST: f64 = 1e-6;
        /// No time is further from zero: thirty million years.
        const FAR: f64 = 1e15;
        if !(start >= -FAR && end >= start && end <= FAR && bytes.is_finite() && bytes >= 0.0) {
            return;
        }
        if self.bytes.is_empty() {
            self.origin = start;
            // Stamps that count from 1970 have no finer digits.
            self.width = ((end - start) / 8.0).max(NARROWEST).max(start.abs() * 1e-12);
            self.bytes.push_back(0.0);
        }
        self.reach(end);
        let place = |t: f64| ((t - self.origin) / self.width).max(0.0);
        let (from, to) = (place(start), place(end));
        let last = self.bytes.len() - 1;
        let (first, end_bin) = ((from as usize).min(last), (to as usize).min(last));
        // Spans before the first bin are not shown; the rest keeps its rate.
        let rate = if end > start { bytes * self.width / (end - start) } else { 0.0 };
        for i in first..=end_bin {
            let share = (to.min(i as f64 + 1.0) - from.max(i as f64)).max(0.0);
            if let Some(b) = self.bytes.get_mut(i) {
                *b += if end > start {
                    share * rate
                } else if start >= self.origin {
                    bytes
                } else {
                    0.0
                };
            }
        }
    }

    /// Makes bins up to `end`.
    fn reach(&mut self, end: f64) {
        while (end - self.origin) / self.width >= BINS as f64 {
            if self.widest.is_none_or(|w| self.width < w) {
                self.double();
                continue;
            }
            let surplus = ((end - self.origin) / self.width).floor() - (BINS - 1) as f64;
            let whole = (surplus as usize).min(self.bytes.len());
            self.bytes.drain(..whole);
            self.origin += surplus * self.width;
            break;
        }
        let needed = ((end - self.origin) / self.width).max(0.0) as usize + 1;
        while self.bytes.len() < needed.min(BINS) {
            self.bytes.push_back(0.0);
        }
    }

    fn double(&mut self) {
        let old = std::mem::take(&mut self.bytes);
        let mut pairs = old.into_iter();
        while let Some(a) = pairs.next() {
            self.bytes.push_back(a + pairs.next().unwrap_or(0.0));
        }
        self.width *= 2.0;
    }

    /// Shows so much that a dozen periods fit; everything without one.
    fn show(&mut self, period_s: Option<f64>) {
        self.widest = period_s.map(|t| SHOWN_PERIODS * t / BINS as f64);
        // The period has become so short that it would drown in a bin: begin anew.
        if let Some(w) = self.widest.filter(|w| self.width > 8.0 * w && *w > 0.0) {
            let end = self.origin + self.width * self.bytes.len() as f64;
            *self = Trail { origin: end, width: w, bytes: VecDeque::from([0.0]), widest: Some(w) };
        }
    }

    fn signal(&self) -> RecentSignal {
        RecentSignal {
            start_s: (!self.bytes.is_empty()).then_some(self.origin),
            bin_s: self.width,
            bytes_per_s: self.bytes.iter().map(|b| b / self.width).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_kept_while_bins_double() {
        let mut t = Trail::default();
        for i in 0..1000u32 {
            let start = 100.0 + 3.7 * f64::from(i);
            t.add(start, start + 1.1, 5e6);
        }
        let s = t.signal();
        assert!(s.bytes_per_s.len() <= BINS);
        let sum: f64 = s.bytes_per_s.iter().map(|r| r * s.bin_s).sum();
        assert!((sum / 5e9 - 1.0).abs() < 1e-9, "{sum}");
        assert_eq!(s.start_s, Some(100.0));
    }

    #[test]
    fn the_oldest_bins_go_once_there_is_a_period() {
        let mut t = Trail::default();
        for i in 0..500u32 {
            let start = 10.0 * f64::from(i);
            t.add(start, start + 2.0, 1e6);
            t.show((i > 3).then_some(10.0));
        }
        let s = t.signal();
        let span = s.bin_s * s.bytes_per_s.len() as f64;
        assert!((60.0..=240.0).contains(&span), "{span}");
        let end = s.start_s.unwrap() + span;
        assert!((end - 4992.0).abs() <= s.bin_s, "{end}");
        let sum: f64 = s.bytes_per_s.iter().map(|r| r * s.bin_s).sum();
        assert!((sum / 1e6 - span / 10.0).abs() <= 1.0);
    }

    #[test]
    fn hostile_times_do_no_harm() {
        let mut t = Trail::default();
        for (a, b) in
            [(0.0, 1e-9), (1e15, 2e15), (-1e300, 1e300), (f64::NAN, 1.0), (5.0, 4.0), (0.0, f64::INFINITY), (3.0, 3.0)]
        {
            t.add(a, b, 1.0);
            t.show(Some(1e-3));
            t.add(b, b, 1.0);
            assert!(t.bytes.len() <= BINS);
        }
    }

    #[test]
    fn the_cosine_is_that_of_the_signal() {
        let n = 480;
        let rate = |i: usize| 3.0 + 2.0 * (TAU * 0.1 * (i as f64 + 0.5) * 0.25 + 0.7).cos();
        let signal = RecentSignal { start_s: Some(50.0), bin_s: 0.25, bytes_per_s: (0..n).map(rate).collect() };
        let c = cosine(&signal, 10.0, None).unwrap();
        assert!((c.mean_bytes_per_s - 3.0).abs() < 1e-9 && (c.amplitude_bytes_per_s - 2.0).abs() < 1e-9);
        assert!((c.phase_rad - 0.7).abs() < 1e-9);
        assert!(cosine(&signal, 10.0, Some(165.0)).is_none(), "less than a period since the change");
        assert!(cosine(&signal, 0.3, None).is_none());
    }
}
