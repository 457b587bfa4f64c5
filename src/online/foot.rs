//! Where a burst really begins: the first writer may be far below the level at which its bursts keep time.
//!
//! Ranks out of step raise the rate in steps. The level at which a period was found then cuts each burst somewhere on its
//! flank, and where may differ from one analysis to the next; ranks far out of step leave idle times within a burst. Lower
//! levels and longer idle times are tried; the lowest and longest at which the bursts stay apart and keep time as well tell the
//! start.

use super::outlook::Cut;
use crate::period::Spread;
use crate::period::chains::{self, Burst};
use crate::signal::profile::Profile;

/// Levels tried, each half of the one before.
const LEVELS: i32 = 10;
/// Bursts looked at, the latest.
const RECENT: usize = 32;
/// Feet keep time as well as bursts if they scatter no more than this much more, ...
const AS_WELL: f64 = 1.25;
/// ... or by less than this share of the period.
const STEADY: f64 = 0.01;
/// A foot further ahead than this share of the period is a background.
const FARTHEST: f64 = 0.5;
/// Idle times within a burst that are tried, as shares of the period, ...
const IDLE: [f64; 3] = [0.1, 0.2, 0.3];
/// ... and the share of the bytes that must come ahead for them: less could be anything.
const AHEAD: f64 = 0.03;

/// Seconds between the start of a burst and its onset at a level, typical and of the last burst.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Lead {
    pub(super) typical_s: f64,
    pub(super) last_s: f64,
}

/// The lead of the feet of `bursts`, which follow the period and stand out at the level of `cut`.
pub(super) fn lead(profile: &Profile, cut: &Cut, bursts: &[Burst], period_s: f64) -> Lead {
    let recent = &bursts[bursts.len().saturating_sub(RECENT)..];
    let Some(onsets) = starts(profile, cut.threshold, cut.merge_s, recent) else { return Lead::default() };
    let steady = (AS_WELL * scatter(&onsets, period_s)).max(STEADY * period_s);
    let bytes: f64 = recent.iter().map(|b| b.bytes).sum();
    let mut best = Lead::default();
    let longer = IDLE.map(|share| share * period_s).into_iter().filter(|s| *s > cut.merge_s);
    for merge_s in [cut.merge_s].into_iter().chain(longer) {
        for halvings in 0..=LEVELS {
            let Some(feet) = starts(profile, cut.threshold * 0.5f64.powi(halvings), merge_s, recent) else { break };
            let leads = || onsets.iter().zip(&feet).map(|(o, f)| (o - f).max(0.0));
            let Some(typical_s) = Spread::of(leads()).map(|s| s.median) else { break };
            let between = |t: (&f64, &f64)| profile.bytes_until(*t.0) - profile.bytes_until(*t.1);
            let enough = merge_s <= cut.merge_s || onsets.iter().zip(&feet).map(between).sum::<f64>() >= AHEAD * bytes;
            if typical_s > best.typical_s
                && typical_s <= FARTHEST * period_s
                && scatter(&feet, period_s) <= steady
                && enough
            {
                best = Lead { typical_s, last_s: leads().next_back().unwrap_or(0.0) };
            }
        }
    }
    best
}

/// Start of the stretch at or above a level around each burst; `None` if two bursts share one, or a burst has none.
fn starts(profile: &Profile, threshold: f64, merge_s: f64, bursts: &[Burst]) -> Option<Vec<f64>> {
    let stretches = chains::cut(profile, threshold, merge_s);
    let mut before = None;
    let of = |b: &Burst| {
        let i = stretches.partition_point(|s| s.end_s < b.start_s);
        let own = stretches.get(i).filter(|s| s.start_s <= b.end_s)?;
        (before.replace(i) != Some(i)).then_some(own.start_s)
    };
    bursts.iter().map(of).collect()
}

/// Root mean square distance of the starts from a grid of the period: each measured from its neighbour, so that a slot that
/// is empty or a slow drift counts for nothing.
fn scatter(starts: &[f64], period_s: f64) -> f64 {
    let off = starts.windows(2).map(|w| {
        let slots = (w[1] - w[0]) / period_s;
        (slots - slots.round()) * period_s
    });
    let n = starts.len().saturating_sub(1).max(1) as f64;
    (off.map(|d| d * d).sum::<f64>() / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Span;

    /// Twelve bursts of five ranks, each rank later than the one before; the level that `share` of them reach.
    fn lead_of(share: f64, background: f64) -> Lead {
        let ranks = |t: f64| {
            (0..5).map(move |r| {
                let start = t + 0.3 * f64::from(r);
                Span { start, end: start + 2.0, bytes: 2e6 }
            })
        };
        let all = (0..12).flat_map(|k| ranks(10.0 * f64::from(k)));
        let noise = (0..400).map(|i| {
            let start = 0.3 * f64::from(i);
            Span { start, end: start + 0.01 * f64::from(1 + i * 7919 % 29), bytes: background }
        });
        let profile = Profile::from_spans(all.chain(noise.filter(|s| s.bytes > 0.0)));
        let cut = Cut { threshold: share * 5e6, merge_s: 0.5, bytes: 1e7 };
        let bursts = cut.bursts(&profile);
        lead(&profile, &cut, &bursts, 10.0)
    }

    #[test]
    fn the_first_rank_begins_the_burst() {
        for share in [0.3, 0.5, 0.9] {
            let lead = lead_of(share, 0.0);
            let ahead = 0.3 * ((5.0 * share).ceil() - 1.0);
            assert!((lead.typical_s - ahead).abs() < 1e-9 && (lead.last_s - ahead).abs() < 1e-9, "{share}: {lead:?}");
        }
    }

    #[test]
    fn ranks_far_apart_are_one_burst() {
        let ranks = |t: f64| (0..5).map(move |r| t + 1.7 * f64::from(r));
        let spans = (0..12).flat_map(|k| ranks(20.0 * f64::from(k)));
        let profile = Profile::from_spans(spans.map(|start| Span { start, end: start + 0.5, bytes: 1e6 }));
        let cut = Cut { threshold: 1e5, merge_s: 0.0, bytes: 1e6 };
        // the third rank of each was taken for the burst
        let bursts: Vec<Burst> = cut.bursts(&profile).into_iter().skip(2).step_by(5).collect();
        assert!((lead(&profile, &cut, &bursts, 20.0).typical_s - 3.4).abs() < 1e-9);
    }

    #[test]
    fn noise_between_bursts_is_no_foot() {
        let lead = lead_of(0.9, 1e3);
        assert!((lead.typical_s - 1.2).abs() < 1e-6, "{lead:?}");
    }
}
