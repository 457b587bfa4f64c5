//! The level above which the bandwidth of a followed job counts as a burst, and the idle times between bursts.

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use crate::period::Spread;
use crate::period::chains::{self, BurstPeriod};
use crate::signal::profile::Profile;

/// The level and merge distance that define a burst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct BurstThreshold {
    /// Bytes per second.
    pub(super) threshold: f64,
    /// Pieces closer than this many seconds are one burst.
    pub(super) merge_s: f64,
    /// Median bytes of a burst.
    pub(super) bytes: f64,
}

impl BurstThreshold {
    /// Of a period that was found; `None` if it has no bursts.
    pub(super) fn of(f: &BurstPeriod) -> Option<BurstThreshold> {
        let bytes = Spread::of(f.bursts.iter().map(|b| b.bytes))?.median;
        Some(BurstThreshold { threshold: f.threshold, merge_s: f.merge_distance_s, bytes })
    }

    /// The bursts of a profile.
    pub(super) fn bursts(&self, profile: &Profile) -> Vec<chains::Burst> {
        let mut bursts = chains::cut(profile, self.threshold, self.merge_s);
        bursts.retain(|b| b.bytes >= LIMITS.smallest_burst * self.bytes);
        bursts
    }

    /// Start of the last burst, if it is the one that is due. A burst that is still going on may be small so far, so it has to be punctual.
    pub(super) fn latest(&self, profile: &Profile, due: Due, now_s: f64) -> Option<f64> {
        let bursts = chains::cut(profile, self.threshold, self.merge_s);
        let expected =
            (LIMITS.expected_sds * due.std_s / due.period_s).clamp(LIMITS.expected_least, LIMITS.expected_most);
        let is_it = |b: &chains::Burst| {
            let late = b.start_s - due.start_s;
            let off = late.max(-late - due.bin_s.unwrap_or(0.0)) / due.period_s;
            let whole = b.bytes >= LIMITS.smallest_burst * self.bytes;
            (whole && off <= expected) || (b.end_s >= now_s && off <= LIMITS.expected_least)
        };
        bursts.iter().rev().find(|b| is_it(b)).map(|b| b.start_s)
    }
}

/// A burst that is due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) start_s: f64,
    pub(super) std_s: f64,
    pub(super) period_s: f64,
    /// Length of the bins, where bursts are known by them.
    pub(super) bin_s: Option<f64>,
}

/// Typical idle time between bursts: half of all idle time lies in idle times at least this long. Those inside bursts are short
/// and weigh little. At least two have to be this long, so that a single pause does not count.
pub(super) fn typical_idle(profile: &Profile) -> f64 {
    idle_times(profile).0
}

/// The stretches without idle time.
pub(super) fn active(profile: &Profile) -> Vec<chains::Burst> {
    separated(profile, 0.0)
}

/// Bursts, as far as idle time separates them: a shorter idle time than a share of the typical one lies within a burst.
pub(super) fn separated(profile: &Profile, typical_idle_s: f64) -> Vec<chains::Burst> {
    chains::cut(profile, 0.0, LIMITS.parting * typical_idle_s)
}

/// Seconds from the start of each burst to that of the next.
pub(super) fn distances(bursts: &[chains::Burst]) -> impl Iterator<Item = f64> {
    bursts.windows(2).map(|w| w[1].start_s - w[0].start_s)
}

/// Mean distance of bursts that idle time separates, and the sum of these distances, without those across a pause of the job. `None` for
/// fewer than three bursts.
pub(super) fn mean_distance(profile: &Profile) -> Option<(f64, f64)> {
    let idle_s = Some(typical_idle(profile)).filter(|idle_s| *idle_s > 0.0)?;
    let bursts = separated(profile, idle_s);
    let pause_s = LIMITS.pause * Spread::of(distances(&bursts))?.median;
    let kept: Vec<f64> = distances(&bursts).filter(|d| *d <= pause_s).collect();
    let sum_s: f64 = kept.iter().sum();
    (kept.len() >= 2).then(|| (sum_s / kept.len() as f64, sum_s))
}

/// The typical idle time, as in [`typical_idle`], and the longest.
pub(super) fn idle_times(profile: &Profile) -> (f64, f64) {
    let mut idle: Vec<f64> = active(profile).windows(2).map(|w| w[1].start_s - w[0].end_s).collect();
    idle.sort_by(f64::total_cmp);
    let half = 0.5 * idle.iter().sum::<f64>();
    let longest = idle.last().copied().unwrap_or(0.0);
    let second = idle.len().checked_sub(2).map_or(0.0, |i| idle[i]);
    let mut sum = 0.0;
    let median = idle.into_iter().find(|t| {
        sum += t;
        sum >= half
    });
    (median.unwrap_or(0.0).min(second), longest)
}
