//! The best chains of a burst list, by dynamic programming, for several trials side by side.

use super::{Chain, FARTHEST, LN_SQRT_TAU, MOST_SLOTS};
use crate::period::chains::bursts::BurstList;
use crate::period::chains::thresholds::LIMITS;
use std::sync::LazyLock;

/// Rounding that the bounds of [`best_chains`] may suffer, relative to their terms.
const ROUNDING: f64 = 1e-9;

/// Parameters of one search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial {
    pub period: f64,
    /// Relative tolerance of a gap of one slot.
    pub tolerance: f64,
    /// Probability that a burst is off the chain.
    pub extra: f64,
}

/// Buffers that searches of `N` trials side by side share. All but the last have one entry a burst.
pub(crate) struct Scratch<const N: usize> {
    /// Score of the best chain that ends here.
    score: Vec<[f64; N]>,
    /// The burst before on that chain, and in the lowest byte how many slots before; 0 if the chain begins here.
    before: Vec<[u64; N]>,
    /// Upper bound of the gain of a step from here, see [`best_chains`].
    promise: Vec<[f64; N]>,
    /// The best chain of each trial; empty if no two bursts follow each other.
    pub chains: [Chain; N],
}

impl<const N: usize> Default for Scratch<N> {
    fn default() -> Self {
        let chains = std::array::from_fn(|_| Chain::default());
        Self { score: Vec::new(), before: Vec::new(), promise: Vec::new(), chains }
    }
}

/// Puts the best chain of the list for each trial into [`Scratch::chains`].
///
/// Most pairs of bursts need no look: the upper bound of the gain of a step splits into a part that belongs to the burst it leaves
/// (its promise) and one that belongs to the burst it reaches, so that the largest promise within reach rules out whole slots.
///
/// The loops over trials are short and of fixed length, for the processor's vectors.
pub(crate) fn best_chains<const N: usize>(list: &BurstList, trials: &[Trial; N], scratch: &mut Scratch<N>) {
    let n = list.len();
    let (t, idle, passed) = (&list.start[..n], &list.idle[..n], &list.passed[..n]);
    let terms = Terms::new(list, trials);
    let Scratch { score, before, promise, chains } = scratch;
    // every entry is written before it is read
    score.resize(n, [0.0; N]);
    before.resize(n, [0; N]);
    promise.resize(n, [0.0; N]);
    let (score, before, promise) = (&mut score[..n], &mut before[..n], &mut promise[..n]);
    // bursts lo..hi lie k slots before burst i, within the tolerance of a trial
    let mut lo = [0usize; MOST_SLOTS];
    let mut hi = [0usize; MOST_SLOTS];
    (score[0], before[0]) = ([0.0; N], [0; N]);
    promise[0] = terms.promise(&[0.0; N], idle[0], passed[0]);
    let mut reach = Reach::from(promise[0]);
    // the first burst that the longest step can leave
    let mut first = 0;
    for i in 1..n {
        let mut best = Best { gain: [0.0; N], before: [0; N] };
        while first < i && t[i] - t[first] > terms.longest {
            first += 1;
        }
        let highest = reach.highest(first, i);
        let arrival = terms.arrival(idle[i], passed[i - 1], &highest);
        for (s, slot) in terms.slots.iter().enumerate() {
            let at_most: [f64; N] = std::array::from_fn(|l| slot.constant[l] + arrival[l]);
            // more slots gain less
            if best.beats(&at_most, &highest) {
                break;
            }
            while lo[s] < i && t[i] - t[lo[s]] > slot.longest {
                lo[s] += 1;
            }
            hi[s] = hi[s].max(lo[s]);
            while hi[s] < i && t[i] - t[hi[s]] >= slot.shortest {
                hi[s] += 1;
            }
            for j in lo[s]..hi[s] {
                if best.beats(&at_most, &promise[j]) {
                    continue;
                }
                let step = Step {
                    apart: t[i] - t[j],
                    idle: idle[i] - idle[j],
                    passed: passed[i - 1] - passed[j],
                    // one long pause is no evidence: the reward for idle time is capped
                    idle_cap: 3.0 + (i - j) as f64,
                };
                let gain = terms.gain(slot, &score[j], &step);
                best.take(slot, step.apart, &gain, (j as u64) << 8 | (s as u64 + 1));
            }
        }
        (score[i], before[i]) = (best.gain, best.before);
        promise[i] = terms.promise(&best.gain, idle[i], passed[i]);
        reach.add(&promise[i]);
    }
    for (l, chain) in chains.iter_mut().enumerate() {
        let end = (1..n).fold(0, |a, b| if score[b][l] > score[a][l] { b } else { a });
        walk_back(end, |i| before[i][l], chain);
    }
}

/// The largest promises of the bursts within reach, and of some before them: a bound that takes constant time per burst.
struct Reach<const N: usize> {
    older: [f64; N],
    /// Of the bursts from `newer_from` on.
    newer: [f64; N],
    newer_from: usize,
}

impl<const N: usize> Reach<N> {
    fn from(promise: [f64; N]) -> Self {
        Self { older: [f64::NEG_INFINITY; N], newer: promise, newer_from: 0 }
    }

    #[inline(always)]
    fn add(&mut self, promise: &[f64; N]) {
        self.newer = std::array::from_fn(|l| self.newer[l].max(promise[l]));
    }

    /// An upper bound of the promises of the bursts `first..next`, of which `next` has not been added.
    #[inline(always)]
    fn highest(&mut self, first: usize, next: usize) -> [f64; N] {
        if first >= self.newer_from {
            self.older = std::mem::replace(&mut self.newer, [f64::NEG_INFINITY; N]);
            self.newer_from = next;
        }
        std::array::from_fn(|l| self.older[l].max(self.newer[l]))
    }
}

/// A gap between two bursts.
struct Step {
    /// Seconds from onset to onset.
    apart: f64,
    /// Idle seconds in between.
    idle: f64,
    /// Cost of the bursts in between, see [`BurstList::passed`].
    passed: f64,
    /// Mean idle times that are rewarded at most.
    idle_cap: f64,
}

/// The best step to a burst so far, for each trial.
struct Best<const N: usize> {
    gain: [f64; N],
    /// See [`Scratch::before`].
    before: [u64; N],
}

impl<const N: usize> Best<N> {
    /// Whether no trial can gain by a step that earns at most the sum of both parts.
    #[inline(always)]
    fn beats(&self, at_most: &[f64; N], promise: &[f64; N]) -> bool {
        // without branches: the processor compares the trials at once
        (0..N).fold(true, |none, l| none & (at_most[l] + promise[l] <= self.gain[l]))
    }

    #[inline(always)]
    fn take(&mut self, slot: &Slot<N>, apart: f64, gain: &[f64; N], from: u64) {
        for (l, &gain) in gain.iter().enumerate() {
            let inside = apart >= slot.shortest_of[l] && apart <= slot.longest_of[l];
            let better = inside && gain > self.gain[l];
            self.gain[l] = if better { gain } else { self.gain[l] };
            self.before[l] = if better { from } else { self.before[l] };
        }
    }
}

/// Terms of the score that depend on the trials only.
struct Terms<const N: usize> {
    per_period: [f64; N],
    per_idle: [f64; N],
    log_extra: [f64; N],
    off_chain: [f64; N],
    /// Reward of an idle second.
    reward: [f64; N],
    slots: [Slot<N>; MOST_SLOTS],
    /// Seconds of the longest step.
    longest: f64,
}

impl<const N: usize> Terms<N> {
    fn new(list: &BurstList, trials: &[Trial; N]) -> Self {
        let mean_idle = trials.map(|trial| list.mean_idle.max(1e-9).min(trial.period));
        let per_idle = mean_idle.map(|idle| 1.0 / idle);
        let off_chain = trials.map(|trial| 1.0 - trial.extra);
        let base: [f64; N] = std::array::from_fn(|l| (mean_idle[l] / trials[l].period).ln() - trials[l].tolerance.ln());
        let slots: [Slot<N>; MOST_SLOTS] = std::array::from_fn(|s| Slot::new(s, trials, &base));
        Terms {
            per_period: trials.map(|trial| 1.0 / trial.period),
            per_idle,
            log_extra: trials.map(|trial| trial.extra.ln()),
            off_chain,
            reward: std::array::from_fn(|l| off_chain[l] * per_idle[l]),
            longest: slots.iter().map(|slot| slot.longest).fold(0.0, f64::max),
            slots,
        }
    }

    /// The part of the bound that belongs to the burst a step leaves.
    #[inline(always)]
    fn promise(&self, score: &[f64; N], idle: f64, passed: f64) -> [f64; N] {
        std::array::from_fn(|l| score[l] - self.reward[l] * idle - self.log_extra[l] * passed)
    }

    /// The part that belongs to the burst it reaches, rounded up.
    #[inline(always)]
    fn arrival(&self, idle: f64, passed: f64, highest: &[f64; N]) -> [f64; N] {
        std::array::from_fn(|l| {
            let arrival = self.reward[l] * idle + self.log_extra[l] * passed;
            arrival + ROUNDING * (1.0 + arrival.abs() + highest[l].abs())
        })
    }

    /// Score of a chain after a step.
    #[inline(always)]
    fn gain(&self, slot: &Slot<N>, score: &[f64; N], step: &Step) -> [f64; N] {
        std::array::from_fn(|l| {
            let off = (step.apart * self.per_period[l] - slot.count) * slot.inverse_sd[l];
            let idle = step.idle * self.per_idle[l];
            slot.constant[l] - 0.5 * off * off
                + score[l]
                + self.off_chain[l] * if idle < step.idle_cap { idle } else { step.idle_cap }
                + self.log_extra[l] * step.passed
        })
    }
}

/// The chain that ends at burst `end`, from the links ([`Scratch::before`]).
fn walk_back(end: usize, before: impl Fn(usize) -> u64, chain: &mut Chain) {
    chain.members.clear();
    chain.slots.clear();
    if before(end) == 0 {
        return;
    }
    let mut at = end;
    loop {
        let step = before(at);
        chain.members.push(at as u32);
        chain.slots.push((step & 0xff) as u32);
        if step == 0 {
            break;
        }
        at = (step >> 8) as usize;
    }
    chain.members.reverse();
    chain.slots.reverse();
    let mut slot = 0;
    for k in &mut chain.slots {
        slot += *k;
        *k = slot;
    }
}

/// Cost of a gap of `count` slots for each trial, and the range of such gaps.
struct Slot<const N: usize> {
    count: f64,
    inverse_sd: [f64; N],
    /// An upper bound of the gain, the cost of the empty slots included.
    constant: [f64; N],
    /// Seconds.
    shortest_of: [f64; N],
    longest_of: [f64; N],
    /// The least and the largest of these.
    shortest: f64,
    longest: f64,
}

/// Square roots of 1, 2, ... [`MOST_SLOTS`] and their logarithms: how errors add up over as many slots.
pub(super) static ROOTS: LazyLock<[(f64, f64); MOST_SLOTS]> = LazyLock::new(|| {
    std::array::from_fn(|s| {
        let root = ((s + 1) as f64).sqrt();
        (root, root.ln())
    })
});

impl<const N: usize> Slot<N> {
    /// A gap of `s` + 1 slots; `base`: gain of a gap of any length, over the tolerance, in log.
    fn new(s: usize, trials: &[Trial; N], base: &[f64; N]) -> Self {
        let count = (s + 1) as f64;
        let (root, log_root) = ROOTS[s];
        let sd = trials.map(|trial| trial.tolerance * root);
        let constant = base.map(|base| base - log_root - LN_SQRT_TAU + s as f64 * LIMITS.log_empty);
        // beyond half a slot a gap belongs to the next multiple; below half a slot to the first
        let widest_below = if s == 0 { 1.0 } else { 0.5 };
        let shortest_of: [f64; N] =
            std::array::from_fn(|l| (count - (FARTHEST * sd[l]).min(widest_below)) * trials[l].period);
        let longest_of: [f64; N] = std::array::from_fn(|l| (count + (FARTHEST * sd[l]).min(0.5)) * trials[l].period);
        Self {
            count,
            inverse_sd: sd.map(|sd| 1.0 / sd),
            constant,
            shortest: shortest_of.into_iter().fold(f64::INFINITY, f64::min),
            longest: longest_of.into_iter().fold(0.0, f64::max),
            shortest_of,
            longest_of,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The score of a chain by the definition, without any bound or window of slots.
    fn score_of(list: &BurstList, chain: &Chain, trial: Trial) -> f64 {
        let mean_idle = list.mean_idle.max(1e-9).min(trial.period);
        let steps = chain.members.windows(2).zip(chain.slots.windows(2));
        steps
            .map(|(m, k)| {
                let (a, b, slots) = (m[0] as usize, m[1] as usize, k[1] - k[0]);
                let sd = trial.tolerance * f64::from(slots).sqrt();
                let off = ((list.start[b] - list.start[a]) / trial.period - f64::from(slots)) / sd;
                let idle = ((list.idle[b] - list.idle[a]) / mean_idle).min(3.0 + (b - a) as f64);
                (mean_idle / trial.period).ln() - sd.ln() - LN_SQRT_TAU - 0.5 * off * off
                    + f64::from(slots - 1) * LIMITS.log_empty
                    + (1.0 - trial.extra) * idle
                    + trial.extra.ln() * (list.passed[b - 1] - list.passed[a])
            })
            .sum()
    }

    proptest! {
        #[test]
        fn trials_side_by_side_are_those_one_by_one_and_beat_every_pair(
            gaps in prop::collection::vec(0.05..3.0f64, 2..60),
            sizes in prop::collection::vec(0.1..2.0f64, 60),
            period in 0.3..3.0f64,
            moved in prop::collection::vec(0.9..1.1f64, 4),
        ) {
            let starts = gaps.iter().scan(0.0, |t, g| { *t += g; Some(*t) });
            let bursts = starts.zip(&sizes).map(|(t, v)| (t, t + 0.02, *v));
            let list = BurstList::from_bursts(bursts, 0.0).unwrap();
            let kinds = [(0.003, 0.15), (0.04, 1.0), (0.1, 0.15), (0.4, 0.15)];
            let trials: [Trial; 4] = std::array::from_fn(|l| {
                Trial { period: period * moved[l], tolerance: kinds[l].0, extra: kinds[l].1 }
            });
            let mut together = Scratch::<4>::default();
            best_chains(&list, &trials, &mut together);
            for (l, trial) in trials.into_iter().enumerate() {
                let mut alone = Scratch::<1>::default();
                best_chains(&list, &[trial], &mut alone);
                prop_assert_eq!(&together.chains[l], &alone.chains[0]);
                let best = score_of(&list, &alone.chains[0], trial);
                for a in 0..list.len() {
                    for b in a + 1..list.len() {
                        let slots = ((list.start[b] - list.start[a]) / trial.period).round().max(1.0);
                        let off = (list.start[b] - list.start[a]) / trial.period - slots;
                        if slots <= MOST_SLOTS as f64 && off.abs() < 3.4 * trial.tolerance && off.abs() < 0.49 {
                            let pair = Chain { members: vec![a as u32, b as u32], slots: vec![0, slots as u32] };
                            prop_assert!(best >= score_of(&list, &pair, trial) - 1e-9);
                        }
                    }
                }
            }
        }
    }
}
