//! A period inside the bursts of another one: steps at an even cadence, a pause, steps again.
//!
//! The cadence and the epoch explain the same bytes, so that erasing the bursts of one would take the other along. Both are
//! looked for among the hypotheses of one round. The epoch is the longer structure and comes first; the cadence is the
//! period inside it.

use super::bursts::BurstList;
use super::classifier;
use super::evidence;
use super::fit::{Clock, Fit};
use super::hypothesis::{Hypothesis, Judgment, Kind};
use super::search::Chain;
use super::stats::{deviation, mean, median};
use crate::period::chains::thresholds::LIMITS;
use std::sync::Arc;

/// The partner must be likely by itself, not only because others agree with it.
const OWN_LOGIT: f64 = 0.0;

/// The strongest hypothesis, at least as sure as `answer`, whose bursts contain those of the winner or lie inside them.
pub(crate) fn partner(hypotheses: &[Hypothesis], lists: &[BurstList], winner: usize, answer: f64) -> Option<usize> {
    let best = &hypotheses[winner];
    if best.kind == Kind::Modulation {
        return None;
    }
    let related: Vec<usize> = (0..hypotheses.len())
        .filter(|&i| {
            let h = &hypotheses[i];
            h.judged.confidence >= answer
                && h.judged.logit >= OWN_LOGIT
                && h.kind != Kind::Modulation
                && (h.period() / best.period()).ln().abs() >= LIMITS.nested_parts.ln()
                && if h.period() > best.period() { inside(best, h, lists) } else { inside(h, best, lists) }
        })
        .collect();
    classifier::winner_of(hypotheses, &related)
}

/// The strongest hypothesis, at least as sure as `answer`, whose bursts are the larger ones of the winner's: a full checkpoint after a
/// number of small ones.
pub(crate) fn larger(hypotheses: &[Hypothesis], lists: &[BurstList], winner: usize, answer: f64) -> Option<usize> {
    let best = &hypotheses[winner];
    let some: Vec<usize> = (0..hypotheses.len())
        .filter(|&i| {
            let h = &hypotheses[i];
            h.judged.confidence >= answer
                && h.period() > 1.5 * best.period()
                && matches!(h.kind, Kind::Chain | Kind::EveryBurst)
                && are_the_larger_ones(h, best, lists)
        })
        .collect();
    classifier::winner_of(hypotheses, &some)
}

/// Whether the bursts of `few` are those of `all` above some size, nearly all of them and no others.
fn are_the_larger_ones(few: &Hypothesis, all: &Hypothesis, lists: &[BurstList]) -> bool {
    let (list, onsets) = (&lists[all.list], &lists[few.list].start);
    let off = 0.1 * all.period();
    let members: Vec<f64> = few.chain.indices().map(|i| onsets[i]).collect();
    let is_member = |t: f64| members.get(members.partition_point(|x| *x < t - off)).is_some_and(|x| *x <= t + off);
    let (own, others): (Vec<usize>, Vec<usize>) = all.chain.indices().partition(|&i| is_member(list.start[i]));
    let sizes = |some: &[usize]| some.iter().map(|&i| list.bytes[i]).collect::<Vec<f64>>();
    let (large, small) = (sizes(&own), sizes(&others));
    let (usual, rest) = (median(&large), median(&small));
    let between = (usual * rest).sqrt();
    let strays = large.iter().filter(|b| **b <= between).count() + small.iter().filter(|b| **b > between).count();
    let count = members.len() as f64;
    usual > 1.5 * rest && !small.is_empty() && own.len() as f64 >= 0.9 * count && strays as f64 <= 0.1 * count
}

/// The period of `short` as seen inside the bursts of `long`, not as the slope of a line through all onsets:
/// pauses need not last a whole number of steps.
pub(crate) fn period_inside(short: &Hypothesis, long: &Hypothesis, lists: &[BurstList]) -> Option<f64> {
    let parts = &lists[short.list];
    let (mut time, mut slots) = (0.0, 0.0);
    let steps = short.chain.members.windows(2).zip(short.chain.slots.windows(2));
    let mut holders = holders(short, long, lists);
    let mut previous = holders.next()?;
    for ((m, k), holder) in steps.zip(holders) {
        if holder.is_some() && holder == previous {
            time += parts.start[m[1] as usize] - parts.start[m[0] as usize];
            slots += f64::from(k[1] - k[0]);
        }
        previous = holder;
    }
    let period = time / slots;
    (period > 0.0).then_some(period)
}

/// The rhythm of the pieces of which the bursts of `long` consist: slices of a throttled burst, steps of an epoch.
///
/// A chain reaches from one burst to the next only over a few empty slots, so the pieces are looked at burst by burst: gaps
/// between pieces of the same burst are all nearly equal, and there is a pause between any two.
pub(crate) fn rhythm_inside(long: &Hypothesis, lists: &[BurstList], shortest_s: f64) -> Option<Hypothesis> {
    let whole = &lists[long.list];
    if long.kind == Kind::Modulation || long.slots_per_period > 1 {
        return None;
    }
    let finer = (0..lists.len()).filter(|&i| {
        let list = &lists[i];
        list.background == whole.background && list.len() as f64 >= LIMITS.nested_parts * long.chain.len() as f64
    });
    finer.filter_map(|i| pieces(long, lists, i, shortest_s)).max_by_key(|h| h.chain.len())
}

/// The same in the list with this index.
fn pieces(long: &Hypothesis, lists: &[BurstList], index: usize, shortest_s: f64) -> Option<Hypothesis> {
    let (list, whole) = (&lists[index], &lists[long.list]);
    let mut members: Vec<u32> = Vec::new();
    let mut gaps: Vec<f64> = Vec::new();
    let mut idle = 0.0;
    let mut first_of: Vec<usize> = Vec::new();
    let mut with = 0.0;
    for k in long.chain.indices() {
        let (a, b) = (whole.start[k] - 1e-9, whole.end[k] + 1e-9);
        let from = list.start.partition_point(|&t| t < a);
        let to = list.end.partition_point(|&t| t <= b);
        first_of.push(members.len());
        for i in from..to.max(from) {
            if i > from {
                gaps.push(list.start[i] - list.start[i - 1]);
                idle += list.gap_after(i - 1);
            }
            members.push(i as u32);
            with += list.bytes[i];
        }
    }
    let total: f64 = long.chain.indices().map(|k| whole.bytes[k]).sum();
    let n = gaps.len() as f64;
    let usual = median(&gaps);
    let enough = members.len() as f64 >= LIMITS.nested_parts * long.chain.len() as f64 && n >= 8.0;
    if !enough || with < LIMITS.nested_shared * total || usual < shortest_s.max(LIMITS.inner_shortest_s) {
        return None;
    }
    let (m, sd) = (mean(&gaps), deviation(&gaps));
    let even = sd < LIMITS.inner_regular * m;
    if !even || idle < LIMITS.inner_idle * gaps.iter().sum::<f64>() || m * LIMITS.nested_parts > long.period() {
        return None;
    }
    let mut slots: Vec<u32> = Vec::with_capacity(members.len());
    for (j, &i) in members.iter().enumerate() {
        let step = match j.checked_sub(1) {
            None => 0,
            Some(_) if first_of.binary_search(&j).is_err() => 1,
            Some(before) => {
                let gap = list.start[i as usize] - list.start[members[before] as usize];
                (gap / m).round().clamp(1.0, 1e6) as u32
            }
        };
        slots.push(slots.last().map_or(0, |k| k + step));
    }
    let fit = Fit {
        period: m,
        period_std: sd / n.sqrt(),
        clock: Clock::Renewal,
        line_sd: sd,
        gap_sd: sd,
        gap_deviation: sd / m,
        ..long.fit
    };
    // the gaps of all bursts in a row: what speaks for the outer period does not speak for this one
    let onsets: Vec<f64> = std::iter::once(0.0)
        .chain(gaps.iter().scan(0.0, |t, g| {
            *t += g;
            Some(*t)
        }))
        .collect();
    let steps: Vec<f64> = (0..onsets.len()).map(|k| k as f64).collect();
    let idle_each = vec![idle / n; gaps.len()];
    let [all, beyond] = evidence::of_gaps(&onsets, &steps, &idle_each, list.merge, 1);
    let confidence = long.judged.confidence / (1.0 + (-all.min(beyond)).exp());
    let judged = Judgment { confidence, ..long.judged };
    let chain = Arc::new(Chain { members, slots });
    let window = (list.start[chain.first()], list.end[chain.last()]);
    Some(Hypothesis { list: index, chain, fit, window, bytes: with, kind: Kind::Inside, judged, ..long.clone() })
}

/// For each burst of `short` the burst of `long` that holds its middle.
fn holders(short: &Hypothesis, long: &Hypothesis, lists: &[BurstList]) -> impl Iterator<Item = Option<usize>> {
    let (parts, bursts) = (&lists[short.list], &lists[long.list]);
    let mut candidates = long.chain.indices().peekable();
    short.chain.indices().map(move |i| {
        let middle = 0.5 * (parts.start[i] + parts.end[i]);
        while candidates.next_if(|&k| bursts.end[k] < middle).is_some() {}
        candidates.peek().copied().filter(|&k| bursts.start[k] <= middle)
    })
}

/// Are the bursts of `short` parts of those of `long`, nearly all of both?
fn inside(short: &Hypothesis, long: &Hypothesis, lists: &[BurstList]) -> bool {
    let total = |h: &Hypothesis| h.chain.indices().map(|i| lists[h.list].bytes[i]).sum::<f64>();
    let (mut within, mut count) = (0.0, 0.0);
    for (i, holder) in short.chain.indices().zip(holders(short, long, lists)) {
        if holder.is_some() {
            within += lists[short.list].bytes[i];
            count += 1.0;
        }
    }
    count >= LIMITS.nested_parts * long.chain.len() as f64
        && within >= LIMITS.nested_shared * total(short).max(total(long))
}

#[cfg(test)]
mod tests {
    use crate::period::chains::{Options, detect};
    use crate::signal::Span;
    use crate::signal::profile::Profile;

    /// Epochs of `steps` steps of 0.5 s and a pause.
    fn epochs(period: f64, steps: u32) -> Profile {
        let spans = (0..12).flat_map(|e| {
            (0..steps).map(move |i| {
                let start = period * f64::from(e) + 0.5 * f64::from(i);
                Span { start, end: start + 0.1, bytes: 1e6 }
            })
        });
        Profile::from_spans(spans)
    }

    #[test]
    fn the_epoch_comes_before_the_cadence_inside_it() {
        for (period, steps) in [(8.0, 12), (7.3, 10)] {
            let found = detect(&epochs(period, steps), Options::default());
            let periods: Vec<f64> = found.periods.iter().map(|f| f.period_s).collect();
            assert!(periods.first().is_some_and(|p| (p / period - 1.0).abs() < 0.01), "{periods:?}");
            assert!(periods.iter().any(|p| (p / 0.5 - 1.0).abs() < 1e-6), "{periods:?}");
        }
    }
}
