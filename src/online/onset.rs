//! Onset correction: the first writer of a burst may stay far below the level at which the period was found.
//!
//! Ranks out of step raise the rate in steps, so that level cuts each burst somewhere on its rise, and not at the same point in
//! every analysis. Ranks far out of step leave idle times within a burst. Lower levels and longer idle times are tried. The
//! earliest onsets win at which the bursts stay apart and follow the period as closely.

use super::burst_threshold::BurstThreshold;
use crate::online::thresholds::LIMITS;
use crate::period::Spread;
use crate::period::chains::{self, Burst};
use crate::signal::profile::Profile;

/// Seconds from the true onset of a burst to its onset at the burst threshold: median, and of the last burst.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct OnsetCorrection {
    pub(super) typical_s: f64,
    pub(super) last_s: f64,
}

/// The correction for `bursts`, which follow the period at the threshold `cut`.
pub(super) fn correction(profile: &Profile, cut: &BurstThreshold, bursts: &[Burst], period_s: f64) -> OnsetCorrection {
    let recent = &bursts[bursts.len().saturating_sub(LIMITS.recent)..];
    let pieces = chains::cut(profile, cut.threshold, 0.0);
    let Some(onsets) = starts(&pieces, cut.merge_s, recent) else { return OnsetCorrection::default() };
    let steady = (LIMITS.onset_scatter * scatter(&onsets, period_s)).max(LIMITS.onset_steady * period_s);
    let mut best = OnsetCorrection::default();
    let longer = LIMITS.onset_idle.map(|share| share * period_s).into_iter().filter(|s| *s > cut.merge_s);
    let mut merges: Vec<f64> = [cut.merge_s].into_iter().chain(longer).collect();
    for halvings in 0..=LIMITS.halvings {
        let pieces = chains::cut(profile, cut.threshold * 0.5f64.powi(halvings), 0.0);
        // bursts that merge at one level merge at every lower one
        merges.retain(|&merge_s| {
            let Some(earlier) = starts(&pieces, merge_s, recent) else { return false };
            let leads = || onsets.iter().zip(&earlier).map(|(o, f)| (o - f).max(0.0));
            let Some(typical_s) = Spread::of(leads()).map(|s| s.median) else { return false };
            if typical_s > best.typical_s
                && typical_s <= LIMITS.onset_farthest * period_s
                && scatter(&earlier, period_s) <= steady
            {
                best = OnsetCorrection { typical_s, last_s: leads().next_back().unwrap_or(0.0) };
            }
            true
        });
    }
    best
}

/// Start of the stretch around each burst, of pieces at most `merge_s` apart; `None` if two bursts share one, or a burst has
/// none.
fn starts(pieces: &[Burst], merge_s: f64, bursts: &[Burst]) -> Option<Vec<f64>> {
    let mut before = None;
    let of = |b: &Burst| {
        let any = pieces.partition_point(|s| s.end_s < b.start_s);
        pieces.get(any).filter(|s| s.start_s <= b.end_s)?;
        let joined = pieces[..=any].windows(2).rev().take_while(|w| w[1].start_s - w[0].end_s <= merge_s).count();
        let first = any - joined;
        (before.replace(first) != Some(first)).then_some(pieces[first].start_s)
    };
    bursts.iter().map(of).collect()
}

/// Root mean square deviation of the gaps from multiples of the period, so that empty cycles and slow drift do not count.
fn scatter(starts: &[f64], period_s: f64) -> f64 {
    let off = starts.windows(2).map(|w| {
        let slots = (w[1] - w[0]) / period_s;
        (slots - slots.round()) * period_s
    });
    let squares: Vec<f64> = off.map(|d| d * d).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Span;

    /// Correction for twelve bursts of five ranks, each later than the one before, at the level that `share` of them reach.
    fn correction_of(share: f64, background: f64) -> OnsetCorrection {
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
        let cut = BurstThreshold { threshold: share * 5e6, merge_s: 0.5, bytes: 1e7 };
        let bursts = cut.bursts(&profile);
        correction(&profile, &cut, &bursts, 10.0)
    }

    #[test]
    fn the_first_rank_begins_the_burst() {
        for share in [0.3, 0.5, 0.9] {
            let lead = correction_of(share, 0.0);
            let ahead = 0.3 * ((5.0 * share).ceil() - 1.0);
            assert!((lead.typical_s - ahead).abs() < 1e-9 && (lead.last_s - ahead).abs() < 1e-9, "{share}: {lead:?}");
        }
    }

    #[test]
    fn ranks_far_apart_are_one_burst() {
        for begin in [0.0, 4000.0] {
            let ranks = |t: f64| (0..5).map(move |r| begin + t + 1.7 * f64::from(r));
            let spans = (0..12).flat_map(|k| ranks(20.0 * f64::from(k)));
            let profile = Profile::from_spans(spans.map(|start| Span { start, end: start + 0.5, bytes: 1e6 }));
            let cut = BurstThreshold { threshold: 1e5, merge_s: 0.0, bytes: 1e6 };
            // the third rank of each was taken for the burst
            let bursts: Vec<Burst> = cut.bursts(&profile).into_iter().skip(2).step_by(5).collect();
            assert!((correction(&profile, &cut, &bursts, 20.0).typical_s - 3.4).abs() < 1e-9, "{begin}");
        }
    }

    #[test]
    fn noise_between_bursts_is_no_onset() {
        let lead = correction_of(0.9, 1e3);
        assert!((lead.typical_s - 1.2).abs() < 1e-6, "{lead:?}");
    }
}
