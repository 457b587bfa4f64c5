//! The period that the bursts of a job follow now, and the rules that compare it with another result for the same bursts.

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use super::super::burst_threshold::{BurstThreshold, typical_idle};
use super::super::forecast::WindowAnalysis;
use super::super::prediction::Overdue;
use crate::period::chains::{self, Burst};
use crate::signal::profile::Profile;

/// Latest gaps that are looked at.
pub(super) const MEMORY: usize = 64;
/// A half or a third of a period may replace it.
const PARTS: [f64; 2] = [2.0, 3.0];

/// A period and the stretch of time over which it has held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct CurrentPeriod {
    pub(super) period_s: f64,
    pub(super) threshold: BurstThreshold,
    /// First burst.
    pub(super) since_s: f64,
    /// Last burst in phase.
    pub(super) until_s: f64,
    /// Share of the cycles in between that had a burst.
    pub(super) filled: f64,
    /// Share of the bytes that the period explains.
    pub(super) share: f64,
    /// Highest confidence of any analysis in it.
    pub(super) confidence: f64,
    /// First burst since the last pause, and the seconds between it and that of the stretch before.
    pub(super) stretch: Option<(f64, f64)>,
}

impl CurrentPeriod {
    pub(super) fn of(answer: &WindowAnalysis) -> Option<CurrentPeriod> {
        let (since_s, until_s, bursts) = answer.holds?;
        let forecast = answer.forecast.as_ref()?;
        let (period_s, confidence) = (forecast.period_s, forecast.confidence);
        let filled = bursts as f64 / ((until_s - since_s) / period_s + 1.0);
        Some(CurrentPeriod {
            period_s,
            threshold: answer.threshold?,
            since_s,
            until_s,
            filled,
            share: answer.share,
            confidence,
            stretch: None,
        })
    }

    /// Seconds over which it has held; 0 if most of its cycles are empty.
    pub(super) fn lasted(&self) -> f64 {
        if self.filled >= LIMITS.on_period { self.until_s - self.since_s } else { 0.0 }
    }

    /// The burst that has not come by `now_s`, a quarter of a period after it was due. A burst that has come since, or begins now, ends
    /// the silence, in its place or not.
    pub(super) fn overdue(&self, profile: &Profile, now_s: f64) -> Option<Overdue> {
        let late = |since_s: f64| (now_s - since_s) / self.period_s - LIMITS.expected_most;
        if late(self.until_s) < 1.0 {
            return None;
        }
        let mut bursts = chains::cut(profile, self.threshold.threshold, self.threshold.merge_s);
        bursts.retain(|b| b.bytes >= LIMITS.seeming * self.threshold.bytes);
        let last_s = bursts.last().map_or(self.until_s, |b| b.start_s.max(self.until_s));
        let late = Some(late(last_s)).filter(|l| *l >= 1.0)?;
        // such silences after which bursts came, and one that nobody has seen: the longer, the rarer
        let silences = bursts.windows(2).filter(|w| w[1].start_s - w[0].start_s >= now_s - last_s).count();
        let resumes = silences as f64 + late.recip();
        Some(Overdue { due_s: last_s + self.period_s, ended_probability: 1.0 / (1.0 + resumes) })
    }

    pub(super) fn same(&self, other: &CurrentPeriod) -> bool {
        (self.period_s / other.period_s).ln().abs() <= LIMITS.same_period
    }

    /// Whether it has held for so long, and until so recently, that a result with the period `other_s` is ignored. A multiple
    /// of its own period is made of the same bursts, so it need not have held for several of those.
    pub(super) fn goes_on(&self, other_s: f64, now_s: f64) -> bool {
        let ratio = other_s / self.period_s;
        let multiple = ratio > 1.5 && (ratio - ratio.round()).abs() <= LIMITS.whole * ratio;
        let outlasted = if multiple { self.period_s } else { self.period_s.max(other_s) };
        self.lasted() >= LIMITS.established * outlasted
            && now_s <= self.until_s + (1.0 + LIMITS.expected_most) * self.period_s
    }

    /// Whether it explains clearly more than another result, or as much with a half or a third of its period.
    pub(super) fn is_better(&self, other: &CurrentPeriod) -> bool {
        let ratio = other.period_s / self.period_s;
        let part = PARTS.contains(&ratio.round()) && (ratio - ratio.round()).abs() <= LIMITS.whole * ratio;
        self.share > other.share + LIMITS.better || (part && self.share >= other.share - LIMITS.better)
    }

    /// Whether most cycles between the bursts `apart` hold a smaller burst of `all`, in phase to the share `exact`.
    pub(super) fn goes_on_smaller(&self, apart: &[&Burst], all: &[Burst], exact: f64) -> bool {
        let (mut places, mut filled) = (0, 0);
        for w in apart.windows(2) {
            let between = ((w[1].start_s - w[0].start_s) / self.period_s).round().min(MEMORY as f64);
            for k in 1..between as u32 {
                let place = w[0].start_s + f64::from(k) * self.period_s;
                places += 1;
                filled += u32::from(all.iter().any(|b| (b.start_s - place).abs() <= exact * self.period_s));
            }
        }
        2 * filled > places
    }

    /// The bursts of the window and smaller ones, whole although the profile shows idle times inside the latest.
    fn parted(&self, profile: &Profile) -> Vec<Burst> {
        let merge_s = self.threshold.merge_s.max(LIMITS.parting * typical_idle(profile));
        chains::cut(profile, self.threshold.threshold, merge_s)
    }

    /// Bursts that overlap `from..to`.
    fn bursts(&self, profile: &Profile, from: f64, to: f64) -> impl Iterator<Item = Burst> {
        self.threshold.bursts(profile).into_iter().filter(move |b| b.end_s >= from && b.start_s <= to)
    }

    /// Whether hardly any gap in `from..to` equals the period.
    fn is_absent(&self, profile: &Profile, from: f64, to: f64) -> bool {
        let starts: Vec<f64> = self.bursts(profile, from, to).map(|b| b.start_s).collect();
        starts.windows(2).all(|w| ((w[1] - w[0]) / self.period_s).ln().abs() > LIMITS.same_period)
    }

    /// Whether the regime `before` ended where this one begins.
    pub(super) fn follows(&self, before: &CurrentPeriod, profile: &Profile) -> bool {
        let lasted = before.lasted().min(self.since_s - before.since_s);
        let ended = self.since_s >= before.until_s - 0.5 * before.period_s;
        before.confidence >= LIMITS.known
            && ended
            && lasted >= LIMITS.established * before.period_s.max(self.period_s)
            && self.is_absent(profile, before.since_s, self.since_s)
    }

    /// Takes the period up again after a pause of any length or a step of the clock, once two bursts in a row are a period apart. Pauses
    /// that recur part the bursts of another period, which has this one inside.
    pub(super) fn resume(&mut self, profile: &Profile) {
        let mut bursts = self.parted(profile);
        bursts.retain(|b| b.bytes >= LIMITS.smallest_burst * self.threshold.bytes);
        let [.., before, last] = &bursts[..] else { return };
        let gap = (last.start_s - before.start_s) / self.period_s;
        if before.start_s <= self.until_s || (gap - 1.0).abs() > LIMITS.in_phase {
            return;
        }
        let first_s = bursts.iter().find(|b| b.start_s > self.until_s).map_or(before.start_s, |b| b.start_s);
        if first_s > self.until_s + (LIMITS.missed + 1.0) * self.period_s {
            let between_s = first_s - self.stretch.map_or(self.since_s, |s| s.0);
            let recurs =
                self.stretch.is_some_and(|(_, earlier_s)| (between_s / earlier_s).ln().abs() <= LIMITS.resumed);
            if recurs {
                return;
            }
            self.stretch = Some((first_s, between_s));
        }
        // the stretches are one, as if the pause had been a period
        self.since_s = last.start_s - (self.until_s - self.since_s);
        self.until_s = last.start_s;
    }

    /// Whether a burst so many cycles after one in phase is in phase.
    fn follows_on(&self, cycles: f64) -> bool {
        (1.0..=LIMITS.missed + 1.0).contains(&cycles.round()) && (cycles - cycles.round()).abs() <= LIMITS.in_phase
    }

    /// Moves the end on to the last burst in phase. Once the period has been taken up again, it has to explain most gaps
    /// since: of bursts with another period, some are in phase.
    pub(super) fn advance(&mut self, profile: &Profile) {
        let bursts = self.threshold.bursts(profile);
        let since_s = self.stretch.map_or(f64::INFINITY, |s| s.0);
        let gaps = bursts.windows(2).filter(|w| w[0].start_s >= since_s);
        let off = |w: &&[Burst]| !self.follows_on((w[1].start_s - w[0].start_s) / self.period_s);
        let (all, off) = (gaps.clone().count(), gaps.filter(off).count());
        if 2 * off > all {
            return;
        }
        for b in bursts {
            if self.follows_on((b.start_s - self.until_s) / self.period_s) {
                self.until_s = b.start_s;
            }
        }
    }
}
