//! From an accepted hypothesis to the period that callers see: times on the trace's own clock, the next burst, the evidence.

use super::bursts::BurstList;
use super::fit::{self, Clock};
use super::hypothesis::Hypothesis;
use super::iterations::Iteration;
use super::windows::{self, Extent};
use super::{BurstPeriod, Next, Rejected, classifier, stats};
use crate::period::Burst;
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
    let next = next_burst(h, list, extent);
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
        rise_s: stats::median(&rises),
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

/// One period after the last burst, or one gap as the trend predicts it. On a clock without a trend the line predicts
/// better than its last point.
fn next_burst(h: &Hypothesis, list: &BurstList, extent: &Extent) -> Next {
    let last = extent.members.last().map_or(h.window.1, |&i| list.start[i]);
    let fit = &h.fit;
    let m = h.slots_per_period;
    let step = fit.period / m as f64;
    let own_window_is_last = extent.windows.last().is_some_and(|w| w.0 <= h.window.0);
    let trend = if own_window_is_last { trend_of(h, list) } else { None };
    if m > 1 || trend.is_some() || !own_window_is_last || fit.clock == Clock::Renewal {
        // bursts of a compound are not evenly spaced: the same place of the last period, one period on
        let place = h.chain.len().saturating_sub(m);
        let anchor = if m > 1 { h.chain.members.get(place).map_or(last, |&i| list.start[i as usize]) } else { last };
        if let Some(trend) = trend {
            return Next { start_s: anchor + trend.gap, std_s: trend.std, gap_s: trend.gap, drift_s: trend.slope };
        }
        let sd = if fit.clock == Clock::Clocked { std::f64::consts::SQRT_2 * fit.line_sd } else { fit.gap_sd };
        return Next { start_s: anchor + fit.period, std_s: sd.hypot(fit.period_std), gap_s: fit.period, drift_s: 0.0 };
    }
    let n = h.chain.len() as f64;
    let ahead = h.chain.slot_count() as f64;
    let from_middle = 0.5 * (ahead - 1.0) + 1.0;
    let std_s = (fit.line_sd * fit.line_sd * (1.0 + 1.0 / n) + (from_middle * fit.period_std).powi(2)).sqrt();
    Next { start_s: fit.phase + ahead * step, std_s, gap_s: fit.period, drift_s: 0.0 }
}

/// Each place of a compound by itself: the bursts there that came in earlier periods predict the next one.
fn next_at_places(h: &Hypothesis, list: &BurstList) -> Vec<Next> {
    (0..h.slots_per_period).filter_map(|place| next_at(h, &onsets_at(h, list, place))).collect()
}

/// One period after the last burst of a place.
fn next_at(h: &Hypothesis, (onsets, slots): &(Vec<f64>, Vec<f64>)) -> Option<Next> {
    let (last, k) = (*onsets.last()?, *slots.last()?);
    if let Some(trend) = fit::trend(onsets, slots) {
        return Some(Next { start_s: last + trend.gap, std_s: trend.std, gap_s: trend.gap, drift_s: trend.slope });
    }
    let gap_s = h.fit.period;
    let next = |start_s: f64, std_s: f64| Next { start_s, std_s, gap_s, drift_s: 0.0 };
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
