//! One mode of a followed job: its bounded profile, its regime, and the latest analysis.

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use super::bounded_profile::BoundedProfile;
use super::burst_interior::BurstInterior;
use super::burst_threshold;
use super::change::ChangeMethod;
use super::forecast::{Forecast, WindowAnalysis};
use super::prediction::Overdue;
use super::regime::{Change, RegimeTracker};
use super::track_record::{Claim, TrackRecord};
use super::window::Window;
use crate::signal::profile::Profile;
use crate::signal::{Mode, Span};

/// See the module.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ModeState {
    pub(super) mode: Mode,
    profile: BoundedProfile,
    regime: RegimeTracker,
    pub(super) analysis: WindowAnalysis,
    /// The last forecast: a pause outlives it.
    last: Option<Forecast>,
    /// End of the data at the last analysis, and the bursts that have come as forecast since.
    carried: (f64, u64),
    /// Bytes so far.
    pub(super) fed: f64,
    /// The data before the first period have been dropped, or need not be.
    settled: bool,
    /// The analysis is older than the data.
    stale: bool,
    interior: BurstInterior,
    /// How the predictions have done.
    #[serde(default)]
    record: TrackRecord,
    /// Standard deviation of the next start and the probability of its window.
    #[serde(default)]
    pub(super) window: Option<(f64, f64)>,
    #[serde(default)]
    overdue: Option<Overdue>,
    /// The period or, without one, the mean distance of bursts.
    #[serde(default)]
    pub(super) characteristic_time_s: Option<f64>,
}

impl ModeState {
    pub(super) fn new(mode: Mode, change: ChangeMethod, min_period_s: Option<f64>) -> Self {
        ModeState {
            mode,
            profile: BoundedProfile::default(),
            regime: RegimeTracker::new(change),
            analysis: WindowAnalysis::default(),
            last: None,
            carried: (0.0, 0),
            fed: 0.0,
            settled: false,
            stale: false,
            interior: BurstInterior::new(min_period_s),
            record: TrackRecord::default(),
            window: None,
            overdue: None,
            characteristic_time_s: None,
        }
    }

    pub(super) fn add(&mut self, span: Span) {
        self.profile.add(span);
        self.fed += span.bytes;
        self.stale = true;
    }

    /// From here on the clock may have been set back.
    pub(super) fn mark(&mut self) {
        self.profile.mark();
    }

    /// The clock was set back to `to_s` where it was marked. The window begins there; the regime is one that paused.
    pub(super) fn set_back(&mut self, to_s: f64) {
        self.profile.keep_marked();
        self.regime.set_back(to_s);
        self.analysis = WindowAnalysis::default();
        self.record.clear();
        (self.settled, self.stale) = (false, true);
    }

    /// First start and last end of the window.
    pub(super) fn extent(&self) -> Option<(f64, f64)> {
        self.profile.extent()
    }

    /// Bytes in the window.
    pub(super) fn bytes(&self) -> f64 {
        self.profile.bytes()
    }

    /// Bytes of a burst, as far as bursts are known.
    pub(super) fn burst_bytes(&self) -> Option<f64> {
        self.regime.threshold().map(|c| c.bytes)
    }

    /// The last update was an analysis, not a forecast carried on.
    pub(super) fn was_analysed(&self) -> bool {
        self.carried.1 == 0 && self.extent().is_some()
    }

    /// The burst of the regime that had not come at the last update.
    pub(super) fn overdue(&self) -> Option<Overdue> {
        self.overdue
    }

    /// Analyses the window up to `now_s`, the end of the job's data, and returns a change. With [`Window::Change`] the window
    /// then begins at a change of the gap.
    pub(super) fn update(&mut self, now_s: f64, window: Window) -> Option<Change> {
        let change = self.analyse(now_s, window);
        if matches!(change, Some(Change::Gap(_))) {
            self.record.clear();
        }
        self.compare(now_s);
        change
    }

    /// Compares the bursts that have come with what was predicted, and says what the next prediction may claim.
    fn compare(&mut self, now_s: f64) {
        let (lead_s, profile) = (self.analysis.forecast.as_ref().map_or(0.0, Forecast::lead_s), self.profile.profile());
        let bursts = self.regime.threshold().map_or(Vec::new(), |t| t.bursts(&profile));
        bursts.iter().for_each(|b| self.record.burst(b.start_s - lead_s));
        self.overdue = self.regime.overdue(&profile, now_s);
        let of_job = |d: &(f64, f64)| self.interior.admits_distance(d.0, d.1);
        let mean_s = || burst_threshold::mean_distance(&profile).filter(of_job).map(|d| d.0);
        self.characteristic_time_s = self.analysis.forecast.as_ref().map(|o| o.period_s).or_else(mean_s);
        self.window = self.analysis.forecast.as_ref().and_then(|o| {
            let mut claim = Claim { start_s: o.next_start_s, std_s: o.next_start_std_s?, period_s: o.period_s };
            let probability = self.record.claim(now_s, &mut claim, o.confidence);
            Some((claim.std_s, probability))
        });
    }

    fn analyse(&mut self, now_s: f64, window: Window) -> Option<Change> {
        match window {
            Window::Seconds(s) => self.profile.cut_before(now_s - s),
            Window::Bytes(b) => self.profile.keep_bytes(b),
            Window::None | Window::LastPeriods(_) | Window::Change => {}
        }
        if !self.stale {
            // no new data, but time has passed
            let late = self.analysis.forecast.as_ref().is_some_and(|o| o.next_start_s <= now_s);
            if !late {
                return None;
            }
        }
        self.stale = false;
        let profile = self.profile.profile();
        if let Some(forecast) = self.carried_on(&profile, now_s) {
            self.analysis.forecast = Some(forecast);
            self.last.clone_from(&self.analysis.forecast);
            return self.regime.go_on(&profile, now_s);
        }
        self.carried = (now_s, 0);
        let share = if window == Window::Change { LIMITS.window_share } else { 0.0 };
        if let Some(rhythm) = self.analysis.rhythm {
            self.interior.learn(rhythm, &profile);
        }
        let interior = self.interior;
        let before = std::mem::replace(&mut self.analysis, WindowAnalysis::of(&profile, now_s, share, &interior));
        let since = |from: f64| {
            let mut rest = self.profile.clone();
            rest.cut_before(from);
            WindowAnalysis::of(&rest.profile(), now_s, share, &interior)
        };
        let change = self.regime.follow(&profile, &self.analysis, now_s, &since);
        if let (Some((period_s, last_s)), Some(o)) = (self.regime.kept(), &self.last)
            && (o.period_s / period_s).ln().abs() <= LIMITS.same_period
        {
            self.analysis.forecast = Some(o.later(last_s, now_s));
            self.analysis.holds = before.holds;
        }
        self.last = self.analysis.forecast.clone().or(self.last.take());
        if window != Window::Change {
            return change;
        }
        if let Some(Change::Gap(from)) = change {
            self.profile.cut_before(from);
            self.analysis = WindowAnalysis::of(&self.profile.profile(), now_s, share, &interior);
            self.regime.restart(&self.analysis);
            self.settled = true;
        } else if let (false, Some(o), Some((since, ..))) = (self.settled, &self.analysis.forecast, self.analysis.holds)
            && o.cycles >= LIMITS.settled_cycles
            && o.confidence >= LIMITS.settled_confidence
        {
            // no regime ended here, but the data before this one do not belong to it
            self.profile.cut_before(since - LIMITS.expected_most * o.period_s);
            self.settled = true;
        }
        change
    }

    /// The forecast carried on without an analysis, while each burst comes as forecast: until so many have come that they tell more of
    /// the period than those before.
    fn carried_on(&mut self, profile: &Profile, now_s: f64) -> Option<Forecast> {
        let (forecast, threshold) = (self.analysis.forecast.as_ref()?, self.analysis.threshold?);
        let (since_s, carried) = self.carried;
        let few = (carried + 1) as f64 <= LIMITS.growth * (forecast.cycles - carried) as f64;
        let due = forecast.due().filter(|_| few && forecast.confidence >= LIMITS.settled_confidence)?;
        let bursts = threshold.bursts(profile);
        let new = bursts.iter().rev().take_while(|b| b.start_s > since_s).count() as u64;
        let follows = |start_s: f64| {
            let before = bursts.iter().rev().find(|b| b.start_s < start_s);
            before.is_some_and(|b| ((start_s - b.start_s) / due.period_s - 1.0).abs() <= LIMITS.in_phase)
        };
        match threshold.latest(profile, due, now_s) {
            Some(start_s) if new <= carried + 1 && follows(start_s) => {
                self.carried.1 += 1;
                let mut later = forecast.later(start_s, now_s);
                later.cycles += 1;
                Some(later)
            }
            // the burst in which the analysis was made is known better now
            None if carried > 0 && new <= carried && now_s < forecast.next_start_s => Some(forecast.clone()),
            _ => None,
        }
    }

    /// Keeps the last `periods` periods only.
    pub(super) fn keep_periods(&mut self, periods: u32) {
        if let (Some(o), Some((_, end))) = (&self.analysis.forecast, self.extent()) {
            let from = end - (f64::from(periods) + LIMITS.expected_most) * o.period_s;
            self.profile.cut_before(from);
        }
    }
}
