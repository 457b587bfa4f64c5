//! A regime that bursts have kept so far: its beat, and how two readings of the same bursts compare.

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use super::super::burst_threshold::{BurstThreshold, typical_idle};
use super::super::outlook::Answer;
use crate::period::chains::{self, Burst};
use crate::signal::profile::Profile;

/// Distances looked back at.
pub(super) const MEMORY: usize = 64;
const PARTS: [f64; 2] = [2.0, 3.0];

/// A regime: its period, and its bursts so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Beat {
    pub(super) period_s: f64,
    pub(super) cut: BurstThreshold,
    /// First burst.
    pub(super) since_s: f64,
    /// Last burst that kept the beat.
    pub(super) until_s: f64,
    /// Share of the places in between at which there was a burst.
    pub(super) filled: f64,
    /// Share of the bytes that it explains.
    pub(super) share: f64,
    /// Highest confidence that the analysis has had in it.
    pub(super) confidence: f64,
}

impl Beat {
    pub(super) fn of(answer: &Answer) -> Option<Beat> {
        let (since_s, until_s, bursts) = answer.holds?;
        let outlook = answer.outlook.as_ref()?;
        let (period_s, confidence) = (outlook.period_s, outlook.confidence);
        let filled = bursts as f64 / ((until_s - since_s) / period_s + 1.0);
        Some(Beat { period_s, cut: answer.cut?, since_s, until_s, filled, share: answer.share, confidence })
    }

    /// Seconds for which it is known to have held; none if most of its places are empty.
    pub(super) fn lasted(&self) -> f64 {
        if self.filled >= LIMITS.on_period { self.until_s - self.since_s } else { 0.0 }
    }

    pub(super) fn same(&self, other: &Beat) -> bool {
        (self.period_s / other.period_s).ln().abs() <= LIMITS.same_period
    }

    /// Is it known well enough, and its last burst not so long ago, that another reading of length `other_s` says nothing? One of
    /// some of its periods need not be outlasted: it is made of the same bursts.
    pub(super) fn goes_on(&self, other_s: f64, now_s: f64) -> bool {
        let ratio = other_s / self.period_s;
        let multiple = ratio > 1.5 && (ratio - ratio.round()).abs() <= LIMITS.whole * ratio;
        let outlasted = if multiple { self.period_s } else { self.period_s.max(other_s) };
        self.lasted() >= LIMITS.established * outlasted && now_s <= self.until_s + LIMITS.kept * self.period_s
    }

    /// Does this reading of the bursts explain clearly more than another, or as much with a half or a third of its period?
    pub(super) fn is_better(&self, other: &Beat) -> bool {
        let ratio = other.period_s / self.period_s;
        let part = PARTS.contains(&ratio.round()) && (ratio - ratio.round()).abs() <= LIMITS.whole * ratio;
        self.share > other.share + LIMITS.better
            || (part && self.filled >= LIMITS.well_filled && self.share >= other.share - LIMITS.better)
    }

    /// Do smaller bursts, `all` has them, keep it in most of its places between bursts that are further apart?
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

    /// Length of the longest burst of the window as it knows them, from before it began, too. The last one may have grown
    /// together with what follows.
    pub(super) fn longest_burst(&self, profile: &Profile) -> f64 {
        let merge_s = self.cut.merge_s.max(LIMITS.longest_parting * typical_idle(profile));
        let bursts = chains::cut(profile, self.cut.threshold, merge_s).into_iter();
        let inside = bursts.filter(|b| b.start_s <= self.until_s - 0.5 * self.period_s);
        inside.map(|b| b.end_s - b.start_s).fold(0.0, f64::max)
    }

    /// Its bursts that begin in a stretch of time.
    fn bursts(&self, profile: &Profile, from: f64, to: f64) -> impl Iterator<Item = Burst> {
        self.cut.bursts(profile).into_iter().filter(move |b| b.end_s >= from && b.start_s <= to)
    }

    /// True if it does not look, in a stretch of time, as if its bursts came at its distance.
    fn is_absent(&self, profile: &Profile, from: f64, to: f64) -> bool {
        let starts: Vec<f64> = self.bursts(profile, from, to).map(|b| b.start_s).collect();
        let near =
            starts.windows(2).filter(|w| ((w[1] - w[0]) / self.period_s).ln().abs() <= LIMITS.same_period).count();
        near as f64 <= LIMITS.stray * starts.len().saturating_sub(1) as f64
    }

    /// Has another regime ended where this one begins?
    pub(super) fn follows(&self, before: &Beat, profile: &Profile) -> bool {
        let lasted = before.lasted().min(self.since_s - before.since_s);
        // bursts of a multiple of the period go on in its places
        let ended = self.since_s >= before.until_s - 0.5 * before.period_s;
        before.confidence >= LIMITS.known
            && (ended || (self.period_s / before.period_s).ln() >= LIMITS.far)
            && lasted >= LIMITS.established * before.period_s.max(self.period_s)
            && self.is_absent(profile, before.since_s, self.since_s)
            && before.is_absent(profile, self.since_s, self.until_s)
    }

    /// Has this one, which follows another, lasted for long enough? With a multiple of its period the other one may only have
    /// missed some bursts.
    pub(super) fn is_settled(&self, before: &Beat) -> bool {
        let ratio = self.period_s / before.period_s;
        let places = (self.since_s - before.until_s) / before.period_s;
        let in_place = (places - places.round()).abs() <= LIMITS.in_phase_most;
        let multiple = in_place && ratio > 1.5 && (ratio - ratio.round()).abs() <= LIMITS.whole * ratio;
        let periods = if multiple { LIMITS.multiple * ratio.round() * ratio } else { LIMITS.followed };
        self.lasted() >= periods * before.period_s
    }

    /// Notes the bursts that go on in the beat.
    pub(super) fn advance(&mut self, profile: &Profile) {
        for b in self.cut.bursts(profile) {
            let places = (b.start_s - self.until_s) / self.period_s;
            if (1.0..=LIMITS.missed_cycles).contains(&places.round())
                && (places - places.round()).abs() <= LIMITS.in_phase
            {
                self.until_s = b.start_s;
            }
        }
    }
}
