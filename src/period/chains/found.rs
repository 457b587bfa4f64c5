//! From an accepted hypothesis to the period that callers see: times on the trace's own clock, the next burst, the evidence.

use super::bursts::{BurstList, stretches};
use super::fit::{self, Clock};
use super::hypothesis::Hypothesis;
use super::iterations::Iteration;
use super::windows::{self, Extent};
use super::{BurstPeriod, Next, Rejected, classifier, stats};
use crate::period::Burst;
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;

/// Hypothesis `index` of the iteration, which holds in `extent`.
pub(crate) fn period(profile: &Profile, iteration: &Iteration<'_>, index: usize, extent: &Extent) -> BurstPeriod {
    let h = &iteration.hypotheses[index];
    let list = &iteration.lists[h.list];
    let origin = profile.origin();
    let bursts = bursts(profile, list, extent);
    let widened: f64 = extent.members.iter().zip(&bursts).map(|(&i, b)| b.bytes - list.bytes[i]).sum();
    let further: f64 = extent
        .windows
        .iter()
        .filter(|w| windows::overlap(h.window, &[**w]) == 0.0)
        .map(|w| (w.1 - w.0) / h.period())
        .sum();
    let rises: Vec<f64> = extent.members.iter().zip(&extent.bursts).map(|(&i, b)| list.start[i] - b.0).collect();
    let mut next = next_burst(h, list, extent);
    if h.slots_per_period == 1 {
        next.bytes = expected_bytes(&bursts.iter().map(|b| b.bytes).collect::<Vec<_>>());
    }
    let on_clock = |next: Next| Next { start_s: next.start_s + origin, ..next };
    let places = if h.slots_per_period > 1 { next_at_places(h, list) } else { vec![next] };
    BurstPeriod {
        period_s: h.period(),
        period_std_s: h.fit.period_std,
        confidence: h.judged.confidence,
        cycles: h.cycles() + further.round() as usize,
        windows: extent.windows.iter().map(|w| (w.0 + origin, w.1 + origin)).collect(),
        bursts: bursts
            .into_iter()
            .map(|b| Burst { start_s: b.start_s + origin, end_s: b.end_s + origin, ..b })
            .collect(),
        bytes: extent.bytes + widened,
        clock: h.fit.clock,
        kind: h.kind,
        next: on_clock(next),
        under_way: under_way(profile, list, extent, next).map(|t| t + origin),
        rise_s: stats::median(&rises),
        bin_s: None,
        places: places.into_iter().map(on_clock).collect(),
        threshold: list.threshold,
        merge_distance_s: list.merge,
        logit: h.judged.pooled,
        runner_up: classifier::runner_up(&iteration.hypotheses, index).map(|r| (r.period(), r.judged.pooled)),
    }
}

/// The winner of an iteration that accepted nothing.
pub(crate) fn rejected(iteration: &Iteration<'_>) -> Rejected {
    let h = &iteration.hypotheses[iteration.winner];
    Rejected { period_s: h.period(), confidence: h.judged.confidence, logit: h.judged.pooled }
}

/// The bursts of an extent, with the bytes by which they were widened; seconds since the origin.
fn bursts(profile: &Profile, list: &BurstList, extent: &Extent) -> Vec<Burst> {
    let added = |from: f64, to: f64| {
        (profile.bytes_until(to) - profile.bytes_until(from) - list.background * (to - from)).max(0.0)
    };
    let burst = |(&i, b): (&usize, &(f64, f64))| Burst {
        start_s: b.0,
        end_s: b.1,
        bytes: list.bytes[i] + added(b.0, list.start[i]) + added(list.end[i], b.1),
    };
    extent.members.iter().zip(&extent.bursts).map(burst).collect()
}

/// One period after the last burst, or one gap as the trend predicts it.
///
/// A clock's onset is predicted by its line, that of a renewal process by the last onset. Which of the two it is, is known with a
/// probability: the prediction is the mixture of both. Few onsets do not tell their spread well, which widens it
/// (variance of Student's distribution).
fn next_burst(h: &Hypothesis, list: &BurstList, extent: &Extent) -> Next {
    let last = extent.members.last().map_or(h.window.1, |&i| list.start[i]);
    let fit = &h.fit;
    let m = h.slots_per_period;
    let own_window_is_last = extent.windows.last().is_some_and(|w| w.0 <= h.window.0);
    let trend = if own_window_is_last { trend_of(h, list) } else { None };
    let bytes = expected_bytes(&h.chain.indices().map(|i| list.bytes[i]).collect::<Vec<_>>());
    // bursts of a compound are not evenly spaced: the same place of the last period, one period on
    let place = h.chain.len().saturating_sub(m);
    let anchor = if m > 1 { h.chain.members.get(place).map_or(last, |&i| list.start[i as usize]) } else { last };
    if let Some(trend) = trend {
        return Next { start_s: anchor + trend.gap, std_s: trend.std, gap_s: trend.gap, drift_s: trend.slope, bytes };
    }
    let at = |start_s: f64, std_s: f64| Next { start_s, std_s, gap_s: fit.period, drift_s: 0.0, bytes };
    let n = h.chain.len() as f64;
    if m > 1 || !own_window_is_last || n < 4.0 {
        let sd = if fit.clock == Clock::Clocked { std::f64::consts::SQRT_2 * fit.line_sd } else { fit.gap_sd };
        return at(anchor + fit.period, sd.hypot(fit.period_std));
    }
    let slots = h.chain.slot_count() as f64;
    let ahead = slots - fit.line.middle.0;
    let clock = fit.line.middle.1 + fit.line.period * ahead;
    let clock_variance = fit.line_sd * fit.line_sd * (1.0 + 1.0 / n + ahead * ahead / fit.line.spread);
    let walk = last + (last - list.start[h.chain.first()]) / (slots - 1.0);
    let walk_variance = fit.gap_sd * fit.gap_sd * (1.0 + 1.0 / (slots - 1.0));
    let share = fit.clock_share;
    let start = share * clock + (1.0 - share) * walk;
    let variance = share * clock_variance
        + (1.0 - share) * walk_variance
        + share * (1.0 - share) * (clock - walk) * (clock - walk);
    let freedom = (n - 2.0).max(4.0);
    at(start, (variance * freedom / (freedom - 2.0)).sqrt())
}

/// Bytes of the burst after some: their median, or the next value of the line through them if they grow or shrink steadily.
pub(crate) fn expected_bytes(bytes: &[f64]) -> f64 {
    let n = bytes.len() as f64;
    let middle = 0.5 * (n - 1.0);
    let mean = bytes.iter().sum::<f64>() / n;
    let spread = n * (n * n - 1.0) / 12.0;
    let slope = bytes.iter().enumerate().map(|(i, b)| (i as f64 - middle) * (b - mean)).sum::<f64>() / spread;
    let off = |(i, b): (usize, &f64)| (b - mean - slope * (i as f64 - middle)).powi(2);
    let variance = bytes.iter().enumerate().map(off).sum::<f64>() / (n - 2.0).max(1.0);
    let steady = n >= 5.0 && slope * slope * spread > LIMITS.growth_errors * LIMITS.growth_errors * variance;
    let next = mean + slope * (n - middle);
    // a slope of rounding is none
    if steady && next > 0.0 && (slope * n).abs() > 1e-3 * mean { next } else { stats::median(bytes) }
}

/// Onset of the burst that goes on where the data end: it is shorter than all before it, or it has just begun when the next one
/// was due.
fn under_way(profile: &Profile, list: &BurstList, extent: &Extent, next: Next) -> Option<f64> {
    let end = profile.duration();
    let at_end = |t: f64| end - t <= 1e-9 * end;
    let (&last, before) = extent.members.split_last()?;
    if at_end(list.end[last]) {
        let length = |i: usize| list.end[i] - list.start[i];
        let short = before.iter().all(|&i| length(last) < LIMITS.unfinished * length(i));
        return short.then_some(list.start[last]);
    }
    let start = stretches(profile, list.threshold).last().filter(|s| at_end(s.end))?.start;
    // what comes late is the burst that was due; what comes early may be anything
    let early = (3.0 * next.std_s).max(LIMITS.punctual * next.gap_s);
    (start >= next.start_s - early && start <= next.start_s + 0.5 * next.gap_s).then_some(start)
}

/// Each place of a compound by itself: the bursts there that came in earlier periods predict the next one.
fn next_at_places(h: &Hypothesis, list: &BurstList) -> Vec<Next> {
    let at = |place: usize| {
        let there =
            h.chain.members.iter().zip(&h.chain.slots).filter(|(_, k)| **k as usize % h.slots_per_period == place);
        let bytes = expected_bytes(&there.map(|(&i, _)| list.bytes[i as usize]).collect::<Vec<_>>());
        next_at(h, &onsets_at(h, list, place)).map(|next| Next { bytes, ..next })
    };
    (0..h.slots_per_period).filter_map(at).collect()
}

/// One period after the last burst of a place.
fn next_at(h: &Hypothesis, (onsets, slots): &(Vec<f64>, Vec<f64>)) -> Option<Next> {
    let (last, k) = (*onsets.last()?, *slots.last()?);
    if let Some(trend) = fit::trend(onsets, slots) {
        return Some(Next {
            start_s: last + trend.gap,
            std_s: trend.std,
            gap_s: trend.gap,
            drift_s: trend.slope,
            bytes: 0.0,
        });
    }
    let gap_s = h.fit.period;
    let next = |start_s: f64, std_s: f64| Next { start_s, std_s, gap_s, drift_s: 0.0, bytes: 0.0 };
    if onsets.len() < 2 {
        return Some(next(last + gap_s, h.fit.gap_sd));
    }
    let fit = fit::fit(onsets, slots);
    Some(match fit.clock {
        Clock::Clocked => next(fit.phase + (k + 1.0) * fit.period, fit.line_sd),
        Clock::Renewal => next(last + gap_s, fit.gap_sd),
    })
}

/// Onsets of a chain at one place of its period, and the number of the period of each.
fn onsets_at(h: &Hypothesis, list: &BurstList, place: usize) -> (Vec<f64>, Vec<f64>) {
    let m = h.slots_per_period;
    let there = h.chain.members.iter().zip(&h.chain.slots).filter(|(_, k)| **k as usize % m == place);
    there.map(|(&i, &k)| (list.start[i as usize], f64::from(k / m as u32))).unzip()
}

/// The trend of the periods of a chain: of the distances between bursts at the same place of the period, the one that comes
/// next.
fn trend_of(h: &Hypothesis, list: &BurstList) -> Option<fit::Trend> {
    let m = h.slots_per_period;
    let place = *h.chain.slots.get(h.chain.len().checked_sub(m)?)? as usize % m;
    let (onsets, slots) = onsets_at(h, list, place);
    fit::trend(&onsets, &slots)
}
