//! The analysis of one window and its forecast of the next burst.

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use super::burst_interior::{BurstInterior, Rhythm};
use super::burst_threshold::{BurstThreshold, Due, distances, idle_times, separated};
use super::onset::{self, OnsetCorrection};
use crate::period::chains::{self, BurstPeriod, Clock, Kind, Next};
use crate::period::{Spread, percentile_95};
use crate::signal::profile::Profile;

/// A period that holds where the data end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Forecast {
    pub(super) period_s: f64,
    pub(super) period_std_s: Option<f64>,
    pub(super) confidence: f64,
    pub(super) cycles: u64,
    pub(super) next_start_s: f64,
    pub(super) next_start_std_s: Option<f64>,
    pub(super) width_s: f64,
    pub(super) bytes: f64,
    pub(super) bytes_p95: f64,
    /// Seconds from one burst to the next, if each waits for the one before instead of keeping to a clock.
    gap_s: Option<f64>,
    /// Seconds by which the gap grows from burst to burst.
    drift_s: f64,
    /// Seconds from the true onset of a burst to the one at the threshold.
    lead_s: f64,
    /// One burst a period, known by its own start.
    simple: bool,
}

/// The result for one window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct WindowAnalysis {
    /// The period that holds now.
    pub(super) forecast: Option<Forecast>,
    /// Period and probability of the best rejected hypothesis, if no period was found.
    pub(super) rejected: Option<(f64, f64)>,
    /// The burst threshold, if a period was found.
    pub(super) threshold: Option<BurstThreshold>,
    /// First and last burst of the window in which the period holds now, and their number.
    pub(super) holds: Option<(f64, f64, usize)>,
    /// Share of the bytes that the period explains.
    pub(super) share: f64,
    /// The rhythm at the end of the data, also if it is not that of the job.
    pub(super) rhythm: Option<Rhythm>,
}

fn known(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

impl WindowAnalysis {
    /// Analyses a window whose data end at `now_s`. A period has to hold over the share `share` of the window and must not be one
    /// inside bursts.
    pub(super) fn of(profile: &Profile, now_s: f64, share: f64, interior: &BurstInterior) -> WindowAnalysis {
        if profile.is_empty() {
            return WindowAnalysis::default();
        }
        let (idle_s, longest_s) = idle_times(profile);
        // a single pause does not count
        let duration_s = profile.duration() - longest_s + idle_s;
        let search = |share: f64| chains::Options {
            most_periods: 1,
            // Three bursts span two idle times; a period that holds for less lies inside a burst.
            shortest_window_s: (2.0 * idle_s).max(share * duration_s),
            ..chains::Options::for_run(profile.duration()).no_shorter_than(interior.min_period_s)
        };
        let lasts = |f: &&BurstPeriod| f.windows.last().is_some_and(|w| now_s - w.1 <= 1.5 * f.period_s);
        let holds = |f: &&BurstPeriod| lasts(f) && interior.admits(f);
        let first = chains::detect(profile, search(share));
        let rejected = first.rejected.as_ref().map(|r| (r.period_s, r.confidence)).filter(|r| r.0 > 0.0);
        let mut answer = WindowAnalysis { rejected, ..WindowAnalysis::default() };
        answer.rhythm = first.periods.iter().find(lasts).and_then(Rhythm::of);
        let mut found = first.periods.iter().find(holds).cloned();
        if let (None, Some(over)) = (&found, first.periods.iter().find(|f| interior.admits(f))) {
            // The burst threshold of a period that has ended still holds; another period may have begun since.
            answer.threshold = BurstThreshold::of(over);
            // stray requests close behind its last burst begin nothing
            let end = over.windows.last().map_or(0.0, |w| w.1) - profile.origin() + LIMITS.parting * idle_s;
            let rest = profile.without(&[(0.0, end)]);
            found = chains::detect(&rest, search(0.0)).periods.iter().find(holds).cloned();
        }
        if found.is_none()
            && let Some((from, distance)) = regular_lately(profile, idle_s)
        {
            let rest = profile.without(&[(0.0, from - profile.origin())]);
            let is_it = |f: &&BurstPeriod| {
                f.confidence >= LIMITS.settled_confidence && (f.period_s / distance).ln().abs() <= LIMITS.regular
            };
            found = chains::detect(&rest, search(0.0)).periods.iter().filter(holds).find(is_it).cloned();
        }
        if let Some(f) = &found {
            answer.threshold = BurstThreshold::of(f).or(answer.threshold);
            answer.share = f.bytes / profile.bytes();
            answer.forecast = Forecast::of(f, profile, answer.threshold, now_s);
            let since = f.windows.last().map_or(f64::NEG_INFINITY, |w| w.0);
            let inside =
                &f.bursts[f.bursts.partition_point(|b| b.start_s < since).min(f.bursts.len().saturating_sub(1))..];
            answer.holds = inside.first().zip(inside.last()).map(|(a, b)| (a.start_s, b.start_s, inside.len()));
        }
        answer
    }
}

/// First burst and median gap of the latest bursts, if these are regular.
fn regular_lately(profile: &Profile, idle_s: f64) -> Option<(f64, f64)> {
    let bursts = separated(profile, idle_s);
    let last = &bursts[bursts.len().checked_sub(LIMITS.regular_gaps + 1)?..];
    let s = Spread::of(distances(last))?;
    (s.max <= (1.0 + LIMITS.regular) * s.median && s.min >= (1.0 - LIMITS.regular) * s.median)
        .then_some((last[0].start_s, s.median))
}

impl Forecast {
    /// The forecast after a later burst, which exceeds the threshold from `last_s` on.
    pub(super) fn later(&self, last_s: f64, now_s: f64) -> Forecast {
        let (period, last) = (self.period_s, last_s - self.lead_s);
        let cycles = (last - self.next_start_s) / period + 1.0;
        let periods = cycles.round();
        // neither clock nor drift need have gone on through a pause
        let paused = periods.abs() > LIMITS.missed + 1.0 || (cycles - periods).abs() > LIMITS.in_phase;
        let gap_s = self.gap_s.map(|gap| {
            let bursts = if paused { 0.0 } else { ((last - self.next_start_s) / gap + 1.0).round().max(0.0) };
            (gap + self.drift_s * bursts).clamp(0.5 * period, 2.0 * period)
        });
        let on_clock = if paused { last + period } else { self.next_start_s + periods * period };
        let mut next_start_s = gap_s.map_or(on_clock, |gap| last + gap);
        if next_start_s <= now_s {
            next_start_s += gap_s.unwrap_or(period);
        }
        Forecast { next_start_s, gap_s, ..self.clone() }
    }

    /// Seconds from the true onset of a burst to the one at the threshold.
    pub(super) fn lead_s(&self) -> f64 {
        self.lead_s
    }

    /// The burst that is due, if it can be told by its start alone.
    pub(super) fn due(&self) -> Option<Due> {
        let start_s = self.next_start_s + self.lead_s;
        let std_s = self.next_start_std_s.filter(|_| self.simple)?;
        Some(Due { start_s, std_s, period_s: self.period_s, bin_s: None })
    }

    fn of(f: &BurstPeriod, profile: &Profile, threshold: Option<BurstThreshold>, now_s: f64) -> Option<Forecast> {
        let period = f.period_s;
        let last = f.bursts.last()?;
        // The last burst may still be going on.
        let whole = match f.bursts.len() {
            n if n > 3 && last.end_s >= now_s => &f.bursts[..n - 1],
            _ => &f.bursts[..],
        };
        let recent = &whole[whole.len().saturating_sub(LIMITS.recent)..];
        let bytes = || recent.iter().map(|b| b.bytes);
        let width_s = Spread::of(recent.iter().map(|b| b.end_s - b.start_s))?.median;
        let compound = f.kind == Kind::Compound;
        let lead = threshold
            .filter(|_| !compound && f.bin_s.is_none())
            .map_or(OnsetCorrection::default(), |c| onset::correction(profile, &c, whole, period));
        let mut next = f.next.start_s;
        let mut variance = f.next.std_s * f.next.std_s;
        if compound {
            if now_s > last.start_s + (LIMITS.missed + 1.0) * period {
                return None;
            }
            next = next_of_compound(f, profile, threshold, now_s);
        } else {
            // the last burst of the window need not be on the chain yet
            let due = Due { start_s: f.next.start_s, std_s: f.next.std_s, period_s: period, bin_s: f.bin_s };
            let began = threshold.and_then(|c| c.latest(profile, due, now_s));
            if let Some(start) = began {
                next = if f.clock == Clock::Renewal { start } else { next } + f.next.gap_s;
            }
            next -= if f.clock == Clock::Renewal && began.is_none() { lead.last_s } else { lead.typical_s };
        }
        let mut missed = 0.0;
        while next <= now_s {
            missed += 1.0;
            if missed > LIMITS.missed {
                return None;
            }
            next += f.next.gap_s;
            variance += f.next.std_s * f.next.std_s;
        }
        Some(Forecast {
            period_s: period,
            period_std_s: known(f.period_std_s),
            confidence: f.confidence,
            cycles: f.cycles as u64,
            next_start_s: next,
            next_start_std_s: known(variance.sqrt()),
            width_s: width_s + lead.typical_s,
            bytes: Spread::of(bytes())?.median,
            bytes_p95: percentile_95(bytes())?,
            gap_s: (f.clock == Clock::Renewal).then_some(f.next.gap_s),
            drift_s: f.next.drift_s,
            lead_s: f.bin_s.map_or(lead.typical_s, |bin_s| -0.5 * bin_s),
            simple: !compound && f.bin_s.is_none(),
        })
    }
}

/// Start of the next burst of a period with several: each place has its own burst, and of those that have not come the first
/// is the next.
fn next_of_compound(f: &BurstPeriod, profile: &Profile, threshold: Option<BurstThreshold>, now_s: f64) -> f64 {
    let seen = threshold.map_or(Vec::new(), |c| chains::cut(profile, c.threshold, c.merge_s));
    let has_come = |t: f64| {
        let mut latest = seen.iter().rev().take(LIMITS.recent);
        latest.any(|b| (b.start_s - t).abs() <= LIMITS.expected_least * f.period_s)
    };
    let at_place = |p: &Next| {
        let passed = ((now_s - p.start_s) / p.gap_s).floor() + 1.0;
        let start = p.start_s + passed.max(0.0) * p.gap_s;
        if has_come(start) { start + p.gap_s } else { start }
    };
    f.places.iter().map(at_place).fold(f64::INFINITY, f64::min)
}
