//! A period inside the bursts of another one: steps at an even cadence, a pause, steps again.
//!
//! The cadence and the epoch explain the same bytes, so that erasing the bursts of one would take the other along. Both are
//! looked for among the hypotheses of one round. The epoch is the longer structure and comes first; the cadence is the
//! period inside it.

use super::bursts::BurstList;
use super::classifier;
use super::hypothesis::{Hypothesis, Kind};
use crate::period::chains::thresholds::LIMITS;

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
