//! From an accepted hypothesis to the period that callers see: times on the trace's own clock, the next burst, the evidence.

use super::bursts::{BurstList, stretches};
use super::fit::{self, Clock, Fit};
use super::hypothesis::Hypothesis;
use super::iterations::Iteration;
use super::stats::Line;
use super::windows::{self, Extent};
use super::{BurstPeriod, Next, Rejected, classifier, stats};
use crate::period::Burst;
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;
use std::f64::consts::SQRT_2;

/// Hypothesis `index` of the iteration, which holds in `extent`; `None` if it has no bursts.
pub(crate) fn period(
    profile: &Profile,
    iteration: &Iteration<'_>,
    index: usize,
    extent: &Extent,
) -> Option<BurstPeriod> {
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
    let mut places = next_bursts(h, list, extent);
    if let [next] = &mut places[..] {
        next.bytes = expected_bytes(&bursts.iter().map(|b| b.bytes).collect::<Vec<_>>());
    }
    let on_clock = |next: Next| Next { start_s: next.start_s + origin, ..next };
    let next = *places.iter().min_by(|a, b| a.start_s.total_cmp(&b.start_s))?;
    Some(BurstPeriod {
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
        rise_std_s: stats::deviation(&rises),
        bin_s: None,
        places: places.into_iter().map(on_clock).collect(),
        threshold: list.threshold,
        merge_distance_s: list.merge,
        logit: h.judged.pooled,
        runner_up: classifier::runner_up(&iteration.hypotheses, index).map(|r| (r.period(), r.judged.pooled)),
    })
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

/// The next burst at each place of the period.
fn next_bursts(h: &Hypothesis, list: &BurstList, extent: &Extent) -> Vec<Next> {
    let chain = &h.chain;
    let at = |place: usize, m: usize| {
        let there = chain.indices().zip(&chain.slots).filter(|(_, k)| **k as usize % m == place);
        let (members, slots): (Vec<usize>, Vec<f64>) = there.map(|(i, &k)| (i, f64::from(k / m as u32))).unzip();
        next_at(h, list, &members, &slots)
    };
    if extent.members.len() == chain.len() && (h.slots_per_period > 1 || extent.windows.len() < 2) {
        return (0..h.slots_per_period).filter_map(|place| at(place, h.slots_per_period)).collect();
    }
    // the period holds beyond the chain, or not all the time: all bursts of its last window say how regular it is
    let from = extent.windows.last().map_or(0.0, |w| w.0);
    let members = &extent.members[extent.bursts.partition_point(|b| b.0 < from)..];
    let slots = slots(&members.iter().map(|&i| list.start[i]).collect::<Vec<_>>(), h.period());
    next_at(h, list, members, &slots).into_iter().collect()
}

/// Slots of onsets with a period.
fn slots(onsets: &[f64], period: f64) -> Vec<f64> {
    let step = |w: &[f64]| ((w[1] - w[0]) / period).round().max(1.0);
    let sum = onsets.windows(2).map(step).scan(0.0, |k, step| {
        *k += step;
        Some(*k)
    });
    std::iter::once(0.0).chain(sum).collect()
}

/// The burst after some that have a period of about so many seconds, with empty slots between them perhaps; `None` of fewer than three.
pub(in crate::period) fn next_of(bursts: &[Burst], period_s: f64) -> Option<Next> {
    if bursts.len() < 3 {
        return None;
    }
    let onsets: Vec<f64> = bursts.iter().map(|b| b.start_s).collect();
    let slots = slots(&onsets, period_s);
    let fit = fit::fit(&onsets, &slots);
    let (start_s, std_s) = if onsets.len() < 4 {
        (onsets[2] + fit.period, fit.gap_sd.hypot(fit.period_std))
    } else {
        continued(&fit, &onsets, &slots)
    };
    let bytes = expected_bytes(&bursts.iter().map(|b| b.bytes).collect::<Vec<_>>());
    Some(Next { start_s, std_s, gap_s: fit.period, drift_s: 0.0, bytes })
}

/// The burst one slot after the last of some, from their onsets: one gap on as their trend predicts it, or as their fit continues. Fewer
/// than four onsets show no spread of their own: that of the chain stands for it.
fn next_at(h: &Hypothesis, list: &BurstList, members: &[usize], slots: &[f64]) -> Option<Next> {
    let onsets: Vec<f64> = members.iter().map(|&i| list.start[i]).collect();
    let last = *onsets.last()?;
    let bytes = expected_bytes(&members.iter().map(|&i| list.bytes[i]).collect::<Vec<_>>());
    let next = |start_s: f64, std_s: f64, gap_s: f64, drift_s: f64| Next { start_s, std_s, gap_s, drift_s, bytes };
    if let Some(trend) = fit::trend(&onsets, slots) {
        return Some(next(last + trend.gap, trend.std, trend.gap, trend.slope));
    }
    if onsets.len() < 4 {
        let Fit { clock, line_sd, gap_sd, .. } = h.fit;
        let sd = if clock == Clock::Clocked { SQRT_2 * line_sd } else { gap_sd * (h.slots_per_period as f64).sqrt() };
        return Some(next(last + h.period(), sd.hypot(h.fit.period_std), h.period(), 0.0));
    }
    let own = if members.iter().copied().eq(h.chain.indices()) { h.fit } else { fit::fit(&onsets, slots) };
    let (start_s, std_s) = continued(&own, &onsets, slots);
    Some(next(start_s, std_s, h.period(), 0.0))
}

/// Onset and standard deviation of the burst one slot after the last of some.
///
/// A clock's onset is predicted by its line, that of a renewal process by the last onset. Which of the two it is, is known with a
/// probability: the prediction is the mixture of both. Few onsets do not tell their spread well, which widens it
/// (variance of Student's distribution).
fn continued(fit: &Fit, onsets: &[f64], slots: &[f64]) -> (f64, f64) {
    let (n, last) = (onsets.len() as f64, onsets[onsets.len() - 1]);
    let count = slots[slots.len() - 1] - slots[0];
    let ahead = slots[slots.len() - 1] + 1.0;
    let (clock, clock_variance) = (fit.line.at(ahead), fit.line.variance_at(ahead));
    let walk = last + (last - onsets[0]) / count;
    let walk_variance = fit.gap_sd * fit.gap_sd * (1.0 + 1.0 / count);
    let share = fit.clock_share;
    let variance = share * clock_variance
        + (1.0 - share) * walk_variance
        + share * (1.0 - share) * (clock - walk) * (clock - walk);
    let freedom = (n - 2.0).max(4.0);
    (share * clock + (1.0 - share) * walk, (variance * freedom / (freedom - 2.0)).sqrt())
}

/// Bytes of the burst after some: their median, or the next value of the line through them if they grow or shrink steadily.
pub(crate) fn expected_bytes(bytes: &[f64]) -> f64 {
    let line = Line::through(bytes.iter().enumerate().map(|(i, b)| (i as f64, *b)));
    let next = line.at(line.n);
    // a slope of rounding is none
    let grows = (line.slope * line.n).abs() > 1e-3 * line.middle.1;
    let steady = line.n >= 5.0 && line.is_steep(LIMITS.trend_errors);
    if steady && grows && next > 0.0 { next } else { stats::median(bytes) }
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
    // what comes late is the burst that was due; what comes early may be anything, except for the rounding of an exact clock
    let early = (3.0 * next.std_s).max(1e-9 * end);
    (start >= next.start_s - early && start <= next.start_s + 0.5 * next.gap_s).then_some(start)
}
