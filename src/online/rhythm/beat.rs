//! A regime that bursts have kept so far: its beat, and how two readings of the same bursts compare.

use serde::{Deserialize, Serialize};

use super::super::burst_threshold::{BurstThreshold, typical_idle};
use super::super::outlook::Answer;
use crate::period::chains::{self, Burst};
use crate::signal::profile::Profile;

/// Distances looked back at.
pub(super) const MEMORY: usize = 64;
/// Periods that differ by no more than this, of the logarithm, are the same.
pub(super) const SAME: f64 = 0.1;
/// Share of the distances that must keep the beat; otherwise its bursts are not as simple as that.
pub(super) const ON_BEAT: f64 = 0.6;
/// A burst is in a place of the beat to so many times its spread, at least and at most so much, as a share of the period.
pub(super) const WHOLE: (f64, f64, f64) = (3.0, 0.015, 0.05);
/// Most places without a burst.
pub(super) const MISSED: f64 = 3.0;
/// A regime that ends has lasted for so many periods, of its own and of the next one: the rhythm inside of a burst has not.
pub(super) const ESTABLISHED: f64 = 2.9;
/// So sure must the analysis once have been of a regime that its end is a change.
pub(super) const KNOWN: f64 = 0.98;
/// Where the bursts are in places of the beat, so many times as many of a regime are asked for as each of its distances spans
/// places.
pub(super) const MULTIPLE: f64 = 2.0;
/// What lies closer than this share of the typical idle time is one burst where the longest one is sought.
const PARTING: f64 = 0.25;
/// A burst within this share of the period of its place keeps the beat.
const IN_PLACE: f64 = 0.15;
/// A regime that follows has lasted for so many periods of the one before.
const FOLLOWED: f64 = 1.5;
/// Periods that are longer by as much, of the logarithm, are not the same one with jitter.
const FAR: f64 = 0.4;
/// Share of the distances of a regime that may look like those of another one.
const STRAY: f64 = 0.2;
/// A regime is kept for so many periods after its last burst, whatever else the analysis reads from its bursts, ...
const KEPT: f64 = 1.25;
/// ... unless that explains so much more of the bytes, or not so much less with one of these parts of the period, of which this
/// share of the places must have a burst.
const BETTER: f64 = 0.1;
const PARTS: [f64; 2] = [2.0, 3.0];
const WELL_FILLED: f64 = 0.75;

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
        if self.filled >= ON_BEAT { self.until_s - self.since_s } else { 0.0 }
    }

    pub(super) fn same(&self, other: &Beat) -> bool {
        (self.period_s / other.period_s).ln().abs() <= SAME
    }

    /// Is it known well enough, and its last burst not so long ago, that another reading of length `other_s` says nothing? One of
    /// some of its periods need not be outlasted: it is made of the same bursts.
    pub(super) fn goes_on(&self, other_s: f64, now_s: f64) -> bool {
        let ratio = other_s / self.period_s;
        let multiple = ratio > 1.5 && (ratio - ratio.round()).abs() <= WHOLE.1 * ratio;
        let outlasted = if multiple { self.period_s } else { self.period_s.max(other_s) };
        self.lasted() >= ESTABLISHED * outlasted && now_s <= self.until_s + KEPT * self.period_s
    }

    /// Does this reading of the bursts explain clearly more than another, or as much with a half or a third of its period?
    pub(super) fn is_better(&self, other: &Beat) -> bool {
        let ratio = other.period_s / self.period_s;
        let part = PARTS.contains(&ratio.round()) && (ratio - ratio.round()).abs() <= WHOLE.1 * ratio;
        self.share > other.share + BETTER || (part && self.filled >= WELL_FILLED && self.share >= other.share - BETTER)
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
        let merge_s = self.cut.merge_s.max(PARTING * typical_idle(profile));
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
        let near = starts.windows(2).filter(|w| ((w[1] - w[0]) / self.period_s).ln().abs() <= SAME).count();
        near as f64 <= STRAY * starts.len().saturating_sub(1) as f64
    }

    /// Has another regime ended where this one begins?
    pub(super) fn follows(&self, before: &Beat, profile: &Profile) -> bool {
        let lasted = before.lasted().min(self.since_s - before.since_s);
        // bursts of a multiple of the period go on in its places
        let ended = self.since_s >= before.until_s - 0.5 * before.period_s;
        before.confidence >= KNOWN
            && (ended || (self.period_s / before.period_s).ln() >= FAR)
            && lasted >= ESTABLISHED * before.period_s.max(self.period_s)
            && self.is_absent(profile, before.since_s, self.since_s)
            && before.is_absent(profile, self.since_s, self.until_s)
    }

    /// Has this one, which follows another, lasted for long enough? With a multiple of its period the other one may only have
    /// missed some bursts.
    pub(super) fn is_settled(&self, before: &Beat) -> bool {
        let ratio = self.period_s / before.period_s;
        let places = (self.since_s - before.until_s) / before.period_s;
        let in_place = (places - places.round()).abs() <= WHOLE.2;
        let multiple = in_place && ratio > 1.5 && (ratio - ratio.round()).abs() <= WHOLE.1 * ratio;
        let periods = if multiple { MULTIPLE * ratio.round() * ratio } else { FOLLOWED };
        self.lasted() >= periods * before.period_s
    }

    /// Notes the bursts that go on in the beat.
    pub(super) fn advance(&mut self, profile: &Profile) {
        for b in self.cut.bursts(profile) {
            let places = (b.start_s - self.until_s) / self.period_s;
            if (1.0..=MISSED).contains(&places.round()) && (places - places.round()).abs() <= IN_PLACE {
                self.until_s = b.start_s;
            }
        }
    }
}
