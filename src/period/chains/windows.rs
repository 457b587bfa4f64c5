//! Where a period holds, and the extent of its bursts, which are erased before the next search.

use super::bursts::{BurstList, stretches};
use super::hypothesis::{Hypothesis, Kind};
use super::search::{self, Chain, Trial};
use super::stats::median;
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;

/// All stretches in which a hypothesis holds, with the bursts that belong to it.
pub(crate) struct Extent {
    /// (first onset, last end), sorted and disjoint, seconds since the origin.
    pub windows: Vec<(f64, f64)>,
    /// Indices into the burst list, rising.
    pub members: Vec<usize>,
    /// Start and end of each member, its rise and fall included.
    pub bursts: Vec<(f64, f64)>,
    pub bytes: f64,
}

impl Extent {
    /// The bursts without those that are both much longer and much larger than usual: these may be those of another period.
    pub fn usual<'a>(&'a self, list: &'a BurstList) -> impl Iterator<Item = (f64, f64)> + 'a {
        let long = LIMITS.larger * median(&self.bursts.iter().map(|b| b.1 - b.0).collect::<Vec<_>>());
        let large = LIMITS.larger * median(&self.members.iter().map(|&i| list.bytes[i]).collect::<Vec<_>>());
        let is_usual = move |(i, b): &(&usize, &(f64, f64))| b.1 - b.0 <= long || list.bytes[**i] <= large;
        self.members.iter().zip(&self.bursts).filter(is_usual).map(|(_, b)| *b)
    }
}

/// The winner's own window and, before and after it, every further stretch of the list that follows the same period:
/// the run may have paused.
pub(crate) fn extent(h: &Hypothesis, list: &BurstList, profile: &Profile) -> Extent {
    let mut windows = vec![h.window];
    let mut members: Vec<usize> = h.chain.indices().collect();
    let mut bytes = h.bytes;
    if h.kind == Kind::Chain {
        // a stretch with other gaps has another period; few gaps do not tell their spread well
        let spread = h.fit.gap_deviation * (1.0 + 2.0 / (h.chain.len() as f64 - 2.0).max(1.0));
        let tolerance = spread.clamp(0.005, h.tolerance.max(0.01));
        let trial = Trial { period: h.period(), tolerance, extra: h.extra };
        let mut scratch = search::Scratch::<1>::default();
        let mut parts = vec![(0, h.chain.first()), (h.chain.last() + 1, list.len())];
        while let Some((from, to)) = parts.pop() {
            if to < from + 3 {
                continue;
            }
            let part = list.part(from, to);
            search::best_chains(&part, &[trial], &mut scratch);
            let mut chain = scratch.chains[0].clone();
            if chain.len() < 3 {
                continue;
            }
            chain.drop_long_ends(&part, trial.period, 2);
            if chain.len() < 3 {
                continue;
            }
            windows.push(span(&part, &chain));
            bytes += chain.indices().map(|i| part.bytes[i]).sum::<f64>();
            members.extend(chain.indices().map(|i| from + i));
            parts.push((from, from + chain.first()));
            parts.push((from + chain.last() + 1, to));
        }
    }
    members.sort_unstable();
    let bursts = with_rise(list, &members, profile);
    // the windows reach as far as their outer bursts
    let reach = |w: (f64, f64)| {
        let from = members.partition_point(|&i| list.start[i] < w.0);
        let to = members.partition_point(|&i| list.start[i] <= w.1);
        let inner = bursts.get(from..to).unwrap_or_default();
        inner.iter().fold(w, |w, b| (w.0.min(b.0), w.1.max(b.1)))
    };
    let windows = join(windows.into_iter().map(reach).collect());
    Extent { windows, members, bursts, bytes }
}

fn span(list: &BurstList, chain: &Chain) -> (f64, f64) {
    (list.start[chain.first()], list.end[chain.last()])
}

/// Sorted, disjoint union of intervals.
pub(crate) fn join(mut intervals: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (a, b) in intervals {
        match out.last_mut() {
            Some(last) if a <= last.1 => last.1 = last.1.max(b),
            _ => out.push((a, b)),
        }
    }
    out
}

/// Start and end of each burst with its rise and fall, down to where the rate has fallen off: the level of a list may be too high
/// to see the first and the last writer.
pub(crate) fn with_rise(list: &BurstList, members: &[usize], profile: &Profile) -> Vec<(f64, f64)> {
    let height = (list.threshold - list.background) / list.level;
    let low = if list.level < 1e-3 { list.threshold } else { list.background + LIMITS.rise * height };
    let flanks = stretches(profile, low);
    members
        .iter()
        .map(|&i| {
            let (a, b) = (list.start[i], list.end[i]);
            let most = LIMITS.longest_rise * (b - a);
            let before = flanks.partition_point(|s| s.start <= a).checked_sub(1).map(|k| flanks[k]);
            let after = flanks.get(flanks.partition_point(|s| s.end < b));
            let from = before.filter(|s| s.end >= a).map_or(a, |s| s.start.max(a - most));
            let to = after.filter(|s| s.start <= b).map_or(b, |s| s.end.min(b + most));
            (from.min(a), to.max(b))
        })
        .collect()
}

/// Length of the overlap of a window with a set of disjoint ones.
pub(crate) fn overlap(window: (f64, f64), others: &[(f64, f64)]) -> f64 {
    others.iter().map(|o| (window.1.min(o.1) - window.0.max(o.0)).max(0.0)).sum()
}
