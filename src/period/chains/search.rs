//! The chain search: the best sequence of bursts that follow each other at whole multiples of a trial period.
//!
//! A chain may skip slots, pass over bursts and begin and end anywhere. Its score is a log-likelihood ratio: each gap is
//! normal around a multiple of the period, against idle times that are exponential; left-over bursts and empty slots
//! cost. Dynamic programming over the bursts finds the best chain and with it the window in which the period holds (the
//! maximum-sum stretch of Kadane's scan, at no extra cost).

use super::bursts::BurstList;
use super::fit::{Fit, fit};
use super::stats::median_of;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

/// A chain's neighbours are at most this many slots apart.
const MOST_SLOTS: usize = 6;
/// Log probability of an empty slot.
const LOG_EMPTY: f64 = -std::f64::consts::LN_10;
/// The same if the slot lies in an interval erased by an earlier round.
const LOG_HIDDEN: f64 = -0.2;
/// Gaps further off than this many standard deviations do not continue a chain.
const FARTHEST: f64 = 3.5;
/// Relative tolerances of a gap, factors of 2 to 4 apart.
pub(crate) const TOLERANCES: [f64; 6] = [0.003, 0.012, 0.04, 0.1, 0.2, 0.4];
/// Probability that a burst is off the chain, where that is rare.
pub(crate) const RARE: f64 = 0.15;
/// The same where anything may lie in between.
pub(crate) const ANYTHING: f64 = 1.0;
/// "Anything may lie in between" needs onsets that are precise.
const ANYTHING_BELOW: f64 = 0.05;
/// ln sqrt(2 pi).
const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_7;
/// End bursts with less than this share of the median bytes are no part of the period.
const SMALL_END: f64 = 0.1;
/// A burst longer than this share of the period is a stretch of something else.
pub(crate) const LONGEST_BURST: f64 = 0.95;
/// Pairs of bursts one search may look at, besides [`MOST_SLOTS`] for each burst; beyond it tolerances are given up.
const MOST_PAIRS: f64 = 1e5;
/// With more bursts per period than this, wide tolerances join whatever is near: such a list is too fine for them.
const DENSE: f64 = 8.0;
/// Tolerances from here on are wide.
const WIDE: f64 = 0.1;
/// From this many bursts on the tolerances stop rising once two in a row got worse.
const PATIENT_BELOW: usize = 200;

/// Bursts of a list with their slot numbers, both rising; the first slot is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    pub members: Vec<u32>,
    pub slots: Vec<u32>,
}

impl Chain {
    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn first(&self) -> usize {
        self.members.first().map_or(0, |&i| i as usize)
    }

    pub fn last(&self) -> usize {
        self.members.last().map_or(0, |&i| i as usize)
    }

    /// Slots from the first to the last burst, both included.
    pub fn slot_count(&self) -> usize {
        self.slots.last().map_or(0, |&k| k as usize + 1)
    }

    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|&i| i as usize)
    }

    /// Onsets of the members, seconds since the origin.
    pub fn onsets<'a>(&'a self, list: &'a BurstList) -> impl Iterator<Item = f64> + 'a {
        self.indices().map(|i| list.start[i])
    }

    /// Slot numbers as numbers to calculate with.
    pub fn slot_numbers(&self) -> Vec<f64> {
        self.slots.iter().map(|&k| f64::from(k)).collect()
    }

    /// Period, phase and errors from the chain's onsets.
    pub fn fit(&self, list: &BurstList) -> Fit {
        fit(&self.onsets(list).collect::<Vec<_>>(), &self.slot_numbers())
    }

    /// Keeps the members `from..=to`.
    fn cut(&mut self, from: usize, to: usize) {
        self.members.truncate(to + 1);
        self.slots.truncate(to + 1);
        self.members.drain(..from);
        self.slots.drain(..from);
        let first = self.slots.first().copied().unwrap_or(0);
        self.slots.iter_mut().for_each(|k| *k -= first);
    }

    /// Drops members at the ends that are longer than a period.
    pub fn drop_long_ends(&mut self, list: &BurstList, period: f64, keep: usize) {
        while self.len() > keep && long(list, period, self.members.last()) {
            self.cut(0, self.len() - 2);
        }
        while self.len() > keep && long(list, period, self.members.first()) {
            self.cut(1, self.len() - 1);
        }
    }

    /// Does a burst at an end last longer than a period?
    fn has_long_end(&self, list: &BurstList, period: f64) -> bool {
        long(list, period, self.members.first()) || long(list, period, self.members.last())
    }

    /// Drops end members with less than a tenth of the chain's median bytes, down to `keep` members: headers before the first
    /// burst and summaries after the last.
    pub fn drop_small_ends(&mut self, list: &BurstList, keep: usize) {
        let mut sizes: Vec<f64> = self.indices().map(|i| list.bytes[i]).collect();
        let least = SMALL_END * median_of(&mut sizes);
        let small = |i: u32| list.bytes[i as usize] < least;
        while self.len() > keep && self.members.last().is_some_and(|&i| small(i)) {
            self.cut(0, self.len() - 2);
        }
        while self.len() > keep && self.members.first().is_some_and(|&i| small(i)) {
            self.cut(1, self.len() - 1);
        }
    }

    /// For each step: one slot long, and no burst of like size (half to twice the chain's median) passed over.
    pub fn regular_steps(&self, list: &BurstList) -> Vec<bool> {
        let mut sizes: Vec<f64> = self.indices().map(|i| list.bytes[i]).collect();
        let reference = median_of(&mut sizes);
        let like = |i: usize| list.bytes[i] > 0.5 * reference && list.bytes[i] < 2.0 * reference;
        self.members
            .windows(2)
            .zip(self.slots.windows(2))
            .map(|(m, k)| k[1] - k[0] == 1 && !(m[0] as usize + 1..m[1] as usize).any(like))
            .collect()
    }

    /// Cuts off ends of two or more irregular steps if most steps are regular: there another period rules, and the
    /// chain only follows its every second or third burst.
    pub fn trim(&mut self, list: &BurstList) {
        let regular = self.regular_steps(list);
        let share = |steps: &[bool]| steps.iter().filter(|&&r| r).count() as f64 / steps.len().max(1) as f64;
        if regular.len() < 4 || share(&regular) < 0.5 {
            return;
        }
        let (Some(first), Some(last)) = (regular.iter().position(|&r| r), regular.iter().rposition(|&r| r)) else {
            return;
        };
        let from = if first >= 2 { first } else { 0 };
        let to = if regular.len() - (last + 1) >= 2 { last + 1 } else { regular.len() };
        if to >= from + 2 && share(&regular[from..to]) >= 0.7 {
            self.cut(from, to);
        }
    }
}

fn long(list: &BurstList, period: f64, member: Option<&u32>) -> bool {
    member.is_some_and(|&i| list.end[i as usize] - list.start[i as usize] > LONGEST_BURST * period)
}

/// Parameters of one search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial {
    pub period: f64,
    /// Relative tolerance of a gap of one slot.
    pub tolerance: f64,
    /// Probability that a burst is off the chain.
    pub extra: f64,
}

/// Buffers that searches share.
#[derive(Default)]
pub(crate) struct Scratch {
    score: Vec<f64>,
    back: Vec<u32>,
    step: Vec<u8>,
    promise: Vec<f64>,
    /// The best chain of the last search.
    chain: Chain,
}

const NONE: u32 = u32::MAX;
/// Rounding that the bounds of [`best_chain`] may suffer, relative to their terms.
const ROUNDING: f64 = 1e-9;

/// The best chain of the list for a trial; `None` if no two bursts follow each other.
///
/// Most pairs of bursts need no look: what a step can gain at most splits into a part that belongs to the burst it leaves
/// (its promise) and one that belongs to the burst it reaches, so that the largest promise so far rules out whole slots.
pub(crate) fn best_chain<'s>(
    list: &BurstList,
    trial: Trial,
    erased: &[(f64, f64)],
    scratch: &'s mut Scratch,
) -> Option<&'s Chain> {
    let Trial { period, tolerance, extra } = trial;
    let n = list.len();
    let (t, idle, passed) = (&list.start[..n], &list.idle[..n], &list.passed[..n]);
    let mean_idle = list.mean_idle.max(1e-9).min(period);
    let base = (mean_idle / period).ln();
    let log_extra = extra.ln();
    let off_chain = 1.0 - extra;
    let (per_period, per_idle) = (1.0 / period, 1.0 / mean_idle);
    let Scratch { score, back, step, promise, chain } = scratch;
    // every entry is written before it is read
    score.resize(n, 0.0);
    back.resize(n, NONE);
    step.resize(n, 0);
    promise.resize(n, 0.0);
    let (score, back, step, promise) = (&mut score[..n], &mut back[..n], &mut step[..n], &mut promise[..n]);
    let least_empty = if erased.is_empty() { LOG_EMPTY } else { LOG_HIDDEN };
    let per_slot = base - tolerance.ln();
    let slots: [Slot; MOST_SLOTS] = std::array::from_fn(|s| Slot::new(s, tolerance, per_slot, period, least_empty));
    // bursts lo..hi lie k slots before burst i, within the tolerance
    let mut lo = [0usize; MOST_SLOTS];
    let mut hi = [0usize; MOST_SLOTS];
    let reward = off_chain * per_idle;
    (score[0], back[0]) = (0.0, NONE);
    promise[0] = -reward * idle[0] - log_extra * passed[0];
    let mut highest = promise[0];
    for i in 1..n {
        let (mut best, mut best_back, mut best_step) = (0.0, NONE, 0u8);
        let passed_before = passed[i - 1];
        let arrival = reward * idle[i] + log_extra * passed_before;
        let slack = ROUNDING * (1.0 + arrival.abs() + highest.abs());
        for (s, slot) in slots.iter().enumerate() {
            let at_most = slot.at_most + arrival + slack;
            // more slots gain less
            if at_most + highest <= best {
                break;
            }
            while lo[s] < i && t[i] - t[lo[s]] > slot.longest {
                lo[s] += 1;
            }
            hi[s] = hi[s].max(lo[s]);
            while hi[s] < i && t[i] - t[hi[s]] >= slot.shortest {
                hi[s] += 1;
            }
            let from = lo[s];
            for (j, &promised) in (from..).zip(&promise[from..hi[s]]) {
                if at_most + promised <= best {
                    continue;
                }
                let off = ((t[i] - t[j]) * per_period - slot.count) * slot.inverse_sd;
                let mut gain = slot.constant - 0.5 * off * off + score[j];
                if off_chain > 0.0 {
                    // one long pause is no evidence: the reward for idle time is capped
                    gain += off_chain * ((idle[i] - idle[j]) * per_idle).min(3.0 + (i - j) as f64);
                    gain += log_extra * (passed_before - passed[j]);
                }
                if s > 0 {
                    gain += if erased.is_empty() {
                        s as f64 * LOG_EMPTY
                    } else if gain + s as f64 * LOG_HIDDEN > best {
                        empty_slots(t[j], t[i], s + 1, period, erased)
                    } else {
                        continue;
                    };
                }
                if gain > best {
                    (best, best_back, best_step) = (gain, j as u32, s as u8 + 1);
                }
            }
        }
        (score[i], back[i], step[i]) = (best, best_back, best_step);
        let own = best - reward * idle[i] - log_extra * passed[i];
        promise[i] = own;
        highest = highest.max(own);
    }
    let end = (1..n).fold(0, |a, b| if score[b] > score[a] { b } else { a });
    chain.members.clear();
    chain.slots.clear();
    if back[end] == NONE {
        return None;
    }
    let mut at = end;
    loop {
        chain.members.push(at as u32);
        chain.slots.push(u32::from(step[at]));
        if back[at] == NONE {
            break;
        }
        at = back[at] as usize;
    }
    chain.members.reverse();
    chain.slots.reverse();
    let mut slot = 0;
    for (i, k) in chain.slots.iter_mut().enumerate() {
        slot += if i == 0 { 0 } else { *k };
        *k = slot;
    }
    Some(chain)
}

/// What a gap of `count` slots costs and where its partners lie.
struct Slot {
    count: f64,
    inverse_sd: f64,
    constant: f64,
    /// Constant and what the empty slots cost at least: the most that a gap of this many slots can gain.
    at_most: f64,
    /// Seconds.
    shortest: f64,
    longest: f64,
}

/// Square roots of 1, 2, ... [`MOST_SLOTS`] and their logarithms: how errors add up over as many slots.
static ROOTS: LazyLock<[(f64, f64); MOST_SLOTS]> = LazyLock::new(|| {
    std::array::from_fn(|s| {
        let root = ((s + 1) as f64).sqrt();
        (root, root.ln())
    })
});

impl Slot {
    /// A gap of `s` + 1 slots; `base`: what a gap of any length gains, over the tolerance, in log.
    fn new(s: usize, tolerance: f64, base: f64, period: f64, least_empty: f64) -> Self {
        let count = (s + 1) as f64;
        let (root, log_root) = ROOTS[s];
        let constant = base - log_root - LN_SQRT_TAU;
        let sd = tolerance * root;
        let reach = FARTHEST * sd;
        // beyond half a slot a gap belongs to the next multiple; below half a slot to the first
        let below = if s == 0 { reach.min(1.0) } else { reach.min(0.5) };
        Self {
            count,
            inverse_sd: 1.0 / sd,
            constant,
            at_most: constant + (count - 1.0) * least_empty,
            shortest: (count - below) * period,
            longest: (count + reach.min(0.5)) * period,
        }
    }
}

/// Log probability of the empty slots between two bursts; those in an erased interval may well have had a burst.
fn empty_slots(from: f64, to: f64, slots: usize, period: f64, erased: &[(f64, f64)]) -> f64 {
    let mut after = 0;
    (1..slots)
        .map(|m| {
            let x = from + (to - from) * m as f64 / slots as f64;
            let begun = |&(a, _): &(f64, f64)| a < x + 0.05 * period;
            if m == 1 {
                after = erased.partition_point(begun);
            } else {
                // the next slots lie near
                after += erased[after..].iter().take_while(|e| begun(e)).count();
            }
            let hidden = after > 0 && erased[after - 1].1 > x - 0.05 * period;
            if hidden { LOG_HIDDEN } else { LOG_EMPTY }
        })
        .sum()
}

/// Log-likelihood ratio of a chain against exponential idle times with the mean of the chain's own window.
///
/// The local mean is what keeps clusters from winning: pieces of one burst are surprising against the whole run's mean
/// gap, not against their own. The log of the number of bursts pays for the choice of where to begin.
///
/// `onsets`: one per member, usually the bursts' own (see [`Chain::onsets`]).
pub(crate) fn local_score(list: &BurstList, chain: &Chain, mut onsets: impl Iterator<Item = f64>, trial: Trial) -> f64 {
    let (first, last) = (chain.first(), chain.last());
    let mean_idle = list.mean_gap(first, last).max(1e-6 * trial.period);
    let scale = (mean_idle / trial.period).ln();
    // the deviation and its log for each number of slots
    let spread: [(f64, f64); MOST_SLOTS] = std::array::from_fn(|s| {
        let sd = trial.tolerance * ((s + 1) as f64).sqrt();
        (sd, sd.ln())
    });
    let mut score = 0.0;
    let mut weight = 0.0;
    let mut before = onsets.next().unwrap_or(0.0);
    for ((m, k), onset) in chain.members.windows(2).zip(chain.slots.windows(2)).zip(onsets) {
        let slots = f64::from(k[1] - k[0]);
        let (sd, log_sd) = spread.get((k[1] - k[0]) as usize - 1).copied().unwrap_or_else(|| {
            let sd = trial.tolerance * slots.sqrt();
            (sd, sd.ln())
        });
        let off = ((onset - before) / trial.period - slots) / sd;
        before = onset;
        score += -0.5 * off * off - log_sd - LN_SQRT_TAU + scale + LOG_EMPTY * (slots - 1.0);
        weight += list.passed[m[1] as usize - 1] - list.passed[m[0] as usize];
    }
    score += (1.0 - trial.extra) * (list.idle[last] - list.idle[first]) / mean_idle;
    score + trial.extra.ln() * weight - (list.len() as f64).ln()
}

/// A chain with its fit and its score.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    pub chain: Arc<Chain>,
    pub fit: Fit,
    pub score: f64,
    pub tolerance: f64,
    pub extra: f64,
}

/// The searches of one list: buffers and what earlier searches have found.
pub(crate) struct Search<'a> {
    list: &'a BurstList,
    erased: &'a [(f64, f64)],
    scratch: Scratch,
    /// For each tolerance and price of a burst off the chain: what searches have settled on.
    settled: [[Vec<Scored>; EXTRAS.len()]; TOLERANCES.len()],
    /// Chains met lately, as found and as trimmed, with the fit of the latter.
    fitted: VecDeque<(Chain, Arc<Chain>, Option<Fit>)>,
}

/// Chains remembered with their fits.
const REMEMBERED: usize = 8;
/// Prices of a burst off the chain that are tried.
const EXTRAS: [f64; 2] = [RARE, ANYTHING];
/// A search whose period moves by less than this share of the tolerance has settled; trial periods as near to it would end
/// there too.
const SETTLED: f64 = 0.3;

impl<'a> Search<'a> {
    /// `erased`: see [`super::bursts::burst_lists`].
    pub fn new(list: &'a BurstList, erased: &'a [(f64, f64)]) -> Self {
        Self { list, erased, scratch: Scratch::default(), settled: Default::default(), fitted: VecDeque::new() }
    }

    /// The best chains for one trial period over all tolerances: by score, and by score times share of the bytes.
    pub fn chains_at(&mut self, period: f64) -> Vec<Scored> {
        let list = self.list;
        let mut best: Option<Scored> = None;
        let mut widest: Option<(f64, Scored)> = None;
        let mut falling = 0;
        let mut previous = f64::NEG_INFINITY;
        for (i, &tolerance) in TOLERANCES.iter().enumerate() {
            if out_of_proportion(list, period, tolerance) {
                break;
            }
            let mut here = f64::NEG_INFINITY;
            let mut complete = false;
            for (j, &extra) in EXTRAS.iter().enumerate() {
                // a chain of all bursts leaves nothing in between
                if extra == ANYTHING && (tolerance > ANYTHING_BELOW || complete) {
                    continue;
                }
                let Some(found) = self.refined(Trial { period, tolerance, extra }, (i, j)) else {
                    continue;
                };
                complete |= found.chain.len() == list.len() && found.chain.slot_count() == list.len();
                here = here.max(found.score);
                let bytes: f64 = found.chain.indices().map(|i| list.bytes[i]).sum();
                let wide = found.score * bytes;
                if wide > widest.as_ref().map_or(0.0, |w| w.0) {
                    widest = Some((wide, found.clone()));
                }
                if best.as_ref().is_none_or(|b| found.score > b.score) {
                    best = Some(found);
                }
            }
            falling = if here < previous { falling + 1 } else { 0 };
            previous = here;
            // all bursts in a row: the tolerance that fits them best is behind
            if falling == 1 && complete || falling == 2 && list.len() > PATIENT_BELOW {
                break;
            }
        }
        let mut found: Vec<Scored> = best.into_iter().collect();
        if let Some((_, wide)) = widest {
            let same =
                |a: &Scored| a.chain.len() == wide.chain.len() && (a.fit.period / wide.fit.period - 1.0).abs() < 1e-3;
            if !found.iter().any(same) {
                found.push(wide);
            }
        }
        found
    }

    /// Searches, refits the period on the chain, and searches once more if it moved; `at`: the trial's place in
    /// [`TOLERANCES`] and [`EXTRAS`].
    fn refined(&mut self, trial: Trial, at: (usize, usize)) -> Option<Scored> {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() <= SETTLED * trial.tolerance;
        let known = |settled: &[Scored], period: f64| {
            settled.iter().filter(|s| near(s.fit.period, period)).max_by(|a, b| a.score.total_cmp(&b.score)).cloned()
        };
        if let Some(known) = known(&self.settled[at.0][at.1], trial.period) {
            return Some(known);
        }
        let (chain, fit) = self.fitted_chain(trial)?;
        let first = Trial { period: fit.period, ..trial };
        if near(fit.period, trial.period) {
            return Some(self.settle(chain, fit, first, at));
        }
        if let Some(known) = known(&self.settled[at.0][at.1], fit.period) {
            return Some(known);
        }
        let (chain, fit) = self.fitted_chain(first)?;
        let second = Trial { period: fit.period, ..trial };
        if near(fit.period, first.period) {
            return Some(self.settle(chain, fit, second, at));
        }
        Some(self.scored(chain, fit, second))
    }

    fn settle(&mut self, chain: Arc<Chain>, fit: Fit, trial: Trial, at: (usize, usize)) -> Scored {
        let scored = self.scored(chain, fit, trial);
        self.settled[at.0][at.1].push(scored.clone());
        scored
    }

    fn scored(&self, chain: Arc<Chain>, fit: Fit, trial: Trial) -> Scored {
        let score = local_score(self.list, &chain, chain.onsets(self.list), trial);
        Scored { chain, fit, score, tolerance: trial.tolerance, extra: trial.extra }
    }

    /// The best chain of a trial without the ends that do not belong to it, and the line through it.
    fn fitted_chain(&mut self, trial: Trial) -> Option<(Arc<Chain>, Fit)> {
        let found = best_chain(self.list, trial, self.erased, &mut self.scratch)?;
        let known = self.fitted.iter().position(|(raw, ..)| raw == found);
        let at = known.unwrap_or_else(|| {
            if self.fitted.len() == REMEMBERED {
                self.fitted.pop_front();
            }
            let mut trimmed = found.clone();
            trimmed.trim(self.list);
            self.fitted.push_back((found.clone(), Arc::new(trimmed), None));
            self.fitted.len() - 1
        });
        let (_, trimmed, fit) = &mut self.fitted[at];
        let mut chain = Arc::clone(trimmed);
        if chain.has_long_end(self.list, trial.period) {
            Arc::make_mut(&mut chain).drop_long_ends(self.list, trial.period, 2);
        }
        if chain.len() < 3 {
            return None;
        }
        let fit = if chain.len() == trimmed.len() {
            *fit.get_or_insert_with(|| chain.fit(self.list))
        } else {
            chain.fit(self.list)
        };
        (fit.period > 0.0 && fit.period.is_finite()).then_some((chain, fit))
    }
}

/// Is a search with this tolerance pointless, or would it look at more pairs of bursts than is reasonable?
fn out_of_proportion(list: &BurstList, period: f64, tolerance: f64) -> bool {
    let n = list.len() as f64;
    let run = list.start[list.len() - 1] - list.start[0];
    let per_period = n * period / run.max(f64::MIN_POSITIVE);
    let reach: f64 = ROOTS.iter().map(|(root, _)| (2.0 * FARTHEST * tolerance * root).min(1.0)).sum();
    tolerance >= WIDE && per_period > DENSE || n * per_period * reach > MOST_PAIRS + n * MOST_SLOTS as f64
}
