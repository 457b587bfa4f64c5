//! The chain search: the best sequence of bursts that follow each other at whole multiples of a trial period.
//!
//! A chain may skip slots, pass over bursts and begin and end anywhere. Its score is a log-likelihood ratio: each gap is
//! normal around a multiple of the period, against idle times that are exponential; left-over bursts and empty slots
//! cost. Dynamic programming over the bursts finds the best chain and with it the window in which the period holds (the
//! maximum-sum stretch of Kadane's scan, at no extra cost).

mod best;
mod chain;

pub(crate) use best::{Scratch, Trial, best_chains};
pub(crate) use chain::Chain;

use super::bursts::BurstList;
use super::fit::Fit;
use crate::period::chains::thresholds::LIMITS;
use best::ROOTS;
use std::collections::VecDeque;
use std::sync::Arc;

/// A chain's neighbours are at most this many slots apart.
pub(crate) const MOST_SLOTS: usize = 6;
/// The same where anything may lie in between.
pub(crate) const ANYTHING: f64 = 1.0;
/// ln sqrt(2 pi).
const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_7;
/// A gap further off than this many standard deviations does not continue a chain.
const FARTHEST: f64 = 3.5;
/// Best score at the middle tolerances from which the others are searched.
const WORTH_MORE: f64 = 6.0;
/// A search whose period moves by less than this share of the tolerance has converged.
const SETTLED: f64 = 0.3;
/// Pairs of bursts one search may look at, besides [`MOST_SLOTS`] for each burst; beyond it tolerances are given up.
const MOST_PAIRS: f64 = 1e5;

/// Log-likelihood ratio of a chain against exponential idle times with the mean of the chain's own window.
///
/// The local mean keeps clusters from winning: pieces of one burst are surprising against the whole run's mean
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
        score += -0.5 * off * off - log_sd - LN_SQRT_TAU + scale + LIMITS.log_empty * (slots - 1.0);
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

/// The searches of one list: buffers and the results of earlier searches.
pub(crate) struct Search<'a> {
    list: &'a BurstList,
    single: Scratch<1>,
    several: Scratch<LANES>,
    /// Converged results for each tolerance and price of a burst off the chain.
    settled: [[Vec<Scored>; 2]; 6],
    /// Chains met lately with their fits.
    fitted: VecDeque<(Arc<Chain>, Option<Fit>)>,
}

/// Trials searched side by side.
const LANES: usize = 4;
/// Prices of a burst off the chain.
fn off_chain() -> [f64; 2] {
    [LIMITS.rare, ANYTHING]
}
/// Parameters tried for a period, equal tolerances next to each other: indices into the tolerances and [`off_chain`]. "Anything may
/// lie in between" needs onsets that are precise. If one group is enough, the next is not searched.
const GROUPS: [&[Place]; 3] = [&[(0, 0), (0, 1), (1, 0), (1, 1)], &[(2, 0), (2, 1), (3, 0), (4, 0)], &[(5, 0)]];
type Place = (usize, usize);
/// The group that is searched first, to reject hopeless trials.
const LOOK: usize = 1;
/// Chains remembered with their fits.
const REMEMBERED: usize = 8;

impl<'a> Search<'a> {
    pub fn new(list: &'a BurstList) -> Self {
        Self {
            list,
            single: Scratch::default(),
            several: Scratch::default(),
            settled: Default::default(),
            fitted: VecDeque::new(),
        }
    }

    /// The best chains for one trial period over all tolerances: by score, and by score times share of the bytes.
    pub fn chains_at(&mut self, period: f64) -> Vec<Scored> {
        let list = self.list;
        let mut best: Option<Scored> = None;
        let mut widest: Option<(f64, Scored)> = None;
        let mut falling = 0;
        let mut previous = f64::NEG_INFINITY;
        let Ok(looked) = self.look(period) else {
            return Vec::new();
        };
        let mut looked = Some(looked);
        'groups: for (k, whole) in GROUPS.into_iter().enumerate() {
            let group = in_proportion(list, period, whole);
            let found = if k == LOOK { looked.take() } else { None };
            let mut found = found.unwrap_or_else(|| self.refined(period, group)).into_iter();
            for tolerance in group.chunk_by(|a, b| a.0 == b.0) {
                let mut here = f64::NEG_INFINITY;
                let mut complete = false;
                for _ in tolerance {
                    // a chain of all bursts leaves nothing in between
                    let Some(found) = found.next().flatten().filter(|_| !complete) else {
                        continue;
                    };
                    complete = found.chain.len() == list.len() && found.chain.slot_count() == list.len();
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
                if falling == 1 && complete || falling == 2 {
                    break 'groups;
                }
            }
            if group.len() < whole.len() {
                break;
            }
        }
        both(best, widest.map(|w| w.1))
    }

    /// Searches the group [`LOOK`]; an error if its result is not worth more searches.
    fn look(&mut self, period: f64) -> Result<[Option<Scored>; LANES], Hopeless> {
        let group = in_proportion(self.list, period, GROUPS[LOOK]);
        let found = self.refined(period, group);
        let hopeless = !group.is_empty() && found.iter().flatten().all(|found| found.score < WORTH_MORE);
        if hopeless { Err(Hopeless) } else { Ok(found) }
    }

    /// Searches at the places of a group, refits the period on each chain, and searches once more where it moved.
    fn refined(&mut self, period: f64, group: &[Place]) -> [Option<Scored>; LANES] {
        let mut found = [const { None }; LANES];
        let mut first = Vec::with_capacity(LANES);
        for (lane, &(i, j)) in group.iter().enumerate() {
            let trial = Trial { period, tolerance: LIMITS.tolerances[i], extra: off_chain()[j] };
            found[lane] = self.known(group[lane], trial);
            if found[lane].is_none() {
                first.push((lane, trial));
            }
        }
        let mut second = Vec::new();
        self.search(&first);
        for (k, &(lane, trial)) in first.iter().enumerate() {
            let Some((chain, fit)) = self.fitted_chain(k, first.len(), trial) else {
                continue;
            };
            let moved = Trial { period: fit.period, ..trial };
            if near(fit.period, trial) {
                found[lane] = Some(self.settle(chain, fit, moved, group[lane]));
                continue;
            }
            found[lane] = self.known(group[lane], moved);
            if found[lane].is_none() {
                second.push((lane, moved));
            }
        }
        self.search(&second);
        for (k, &(lane, trial)) in second.iter().enumerate() {
            found[lane] = self.fitted_chain(k, second.len(), trial).map(|(chain, fit)| {
                let moved = Trial { period: fit.period, ..trial };
                if near(fit.period, trial) {
                    self.settle(chain, fit, moved, group[lane])
                } else {
                    self.scored(chain, fit, moved)
                }
            });
        }
        found
    }

    /// The converged result of an earlier search that a search for this trial would repeat.
    fn known(&self, (i, j): Place, trial: Trial) -> Option<Scored> {
        let settled = self.settled[i][j].iter().filter(|s| near(s.fit.period, trial));
        settled.max_by(|a, b| a.score.total_cmp(&b.score)).cloned()
    }

    /// Searches the best chains of at most [`LANES`] trials.
    fn search(&mut self, trials: &[(usize, Trial)]) {
        match trials {
            [] => {}
            [(_, trial)] => best_chains(self.list, &[*trial], &mut self.single),
            _ => {
                let lanes = std::array::from_fn(|l| trials[l.min(trials.len() - 1)].1);
                best_chains(self.list, &lanes, &mut self.several);
            }
        }
    }

    fn settle(&mut self, chain: Arc<Chain>, fit: Fit, trial: Trial, (i, j): Place) -> Scored {
        let scored = self.scored(chain, fit, trial);
        self.settled[i][j].push(scored.clone());
        scored
    }

    fn scored(&self, chain: Arc<Chain>, fit: Fit, trial: Trial) -> Scored {
        let score = local_score(self.list, &chain, chain.onsets(self.list), trial);
        Scored { chain, fit, score, tolerance: trial.tolerance, extra: trial.extra }
    }

    /// The best chain that the last search has found for the trial at place `k` of `count`, without the ends that do not belong
    /// to it, and the line through it.
    fn fitted_chain(&mut self, k: usize, count: usize, trial: Trial) -> Option<(Arc<Chain>, Fit)> {
        let found = if count == 1 { &self.single.chains[0] } else { &self.several.chains[k] };
        if found.len() < 3 {
            return None;
        }
        let known = self.fitted.iter().position(|(chain, _)| **chain == *found);
        let at = known.unwrap_or_else(|| {
            if self.fitted.len() == REMEMBERED {
                self.fitted.pop_front();
            }
            self.fitted.push_back((Arc::new(found.clone()), None));
            self.fitted.len() - 1
        });
        let (whole, fit) = &mut self.fitted[at];
        let mut chain = Arc::clone(whole);
        if chain.has_long_end(self.list, trial.period) {
            Arc::make_mut(&mut chain).drop_long_ends(self.list, trial.period, 2);
        }
        if chain.len() < 3 {
            return None;
        }
        let fit = if chain.len() == whole.len() {
            *fit.get_or_insert_with(|| chain.fit(self.list))
        } else {
            chain.fit(self.list)
        };
        (fit.period > 0.0 && fit.period.is_finite()).then_some((chain, fit))
    }
}

/// A trial period at which only chance makes chains.
struct Hopeless;

/// The best chain and the one that explains most, if that is another.
fn both(best: Option<Scored>, widest: Option<Scored>) -> Vec<Scored> {
    let same =
        |a: &Scored, b: &Scored| a.chain.len() == b.chain.len() && (a.fit.period / b.fit.period - 1.0).abs() < 1e-3;
    let other = widest.filter(|w| !best.iter().any(|b| same(b, w)));
    best.into_iter().chain(other).collect()
}

/// Is a period so near to that of a trial that a search would not move it?
fn near(period: f64, trial: Trial) -> bool {
    (period / trial.period - 1.0).abs() <= SETTLED * trial.tolerance
}

/// The first places of a group, up to the one whose search is out of proportion.
fn in_proportion<'a>(list: &BurstList, period: f64, group: &'a [Place]) -> &'a [Place] {
    &group[..group.partition_point(|&(i, _)| !out_of_proportion(list, period, LIMITS.tolerances[i]))]
}

/// Would a search with this tolerance look at more pairs of bursts than is reasonable?
fn out_of_proportion(list: &BurstList, period: f64, tolerance: f64) -> bool {
    let n = list.len() as f64;
    let run = list.start[list.len() - 1] - list.start[0];
    let per_period = n * period / run.max(f64::MIN_POSITIVE);
    let reach: f64 = ROOTS.iter().map(|(root, _)| (2.0 * FARTHEST * tolerance * root).min(1.0)).sum();
    n * per_period * reach > MOST_PAIRS + n * MOST_SLOTS as f64
}
