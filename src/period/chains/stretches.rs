//! A period lives in stretches: a long silence ends one, and so does a change of the gaps.
//!
//! Silences that no chain crosses are closed up, so that the stretches before and after pool their gaps. A chain whose gaps have one
//! mean up to a burst and another one from there on is no hypothesis as a whole: its stretches are.

use super::bursts::{BurstList, Levels, merged, stretches};
use super::search::{Chain, MOST_SLOTS, Scored, Trial, local_score};
use super::stats::{mean, median};
use super::{BurstPeriod, BurstPeriods};
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;
use std::sync::Arc;

/// Silences of a run, at most: more of them are its rhythm.
const MOST_SILENCES: usize = 3;
/// Gaps on either side of a change, at least.
const FEWEST_GAPS: usize = 3;
/// Bursts of a stretch, at least: whether shorter ones have gaps of their own cannot be tested.
const FEWEST: usize = FEWEST_GAPS + 1;
/// Deviations of gaps below this share of them are those of clocks.
const EXACT: f64 = 1e-3;
/// Stretches of a chain, at most: gaps that change more often wander.
const MOST_STRETCHES: usize = 5;

/// A profile whose long silences were closed.
pub(crate) struct ClosedUp {
    pub profile: Profile,
    /// First onset and last end of each stretch before and after, seconds since the origin.
    stretches: Vec<(f64, f64)>,
    closed: Vec<(f64, f64)>,
}

/// Closes the silences that are far longer than all other idle times and than any chain reaches. What lies in them, and stretches of
/// fewer than four bursts, are left out. `None` if there is no such silence.
///
/// `bin_s`: width of the bins of the profile, whose edges are kept; 0 for requests.
pub(crate) fn close_up(profile: &Profile, bin_s: f64) -> Option<ClosedUp> {
    let active = stretches(profile, LIMITS.verdict_level * Levels::of(profile)?.burst);
    let mut idle: Vec<f64> = active.windows(2).map(|w| w[1].start - w[0].end).collect();
    idle.sort_unstable_by(|a, b| b.total_cmp(a));
    let most = MOST_SILENCES.min(idle.len().saturating_sub(FEWEST));
    // at least two idle times of the bursts are no silences
    let count = (0..=most).rev().find(|&k| k == 0 || idle[k - 1] >= LIMITS.silence * idle[k])?;
    let usual = *idle.get(count)?;
    let longest = idle[..count].last().copied().unwrap_or(f64::INFINITY);
    let bursts = merged(&active, 0.25 * usual);
    let parts: Vec<_> = bursts.chunk_by(|a, b| b.start - a.end < longest).filter(|part| part.len() >= FEWEST).collect();
    let gaps: Vec<f64> = parts.iter().flat_map(|p| p.windows(2).map(|w| w[1].start - w[0].start)).collect();
    let gap = median(&gaps);
    let mut closed = Vec::new();
    let mut end: Option<(f64, f64)> = None;
    for part in &parts {
        let (first, last) = (part[0].start, &part[part.len() - 1]);
        // the first burst after a silence follows the last one before it after the usual gap
        let (from, idle) = end.map_or((0.0, 0.0), |(onset, end)| (end, (gap - (end - onset)).max(usual)));
        if end.is_none() && first <= LIMITS.silence * usual {
            // a header belongs to what follows
        } else if first - from > idle {
            closed.push((from + 0.5 * idle, first - 0.5 * idle));
        }
        end = Some((last.start, last.end));
    }
    let (_, end) = end?;
    let tail = profile.duration() - end;
    if tail > LIMITS.silence * usual {
        closed.push((end, profile.duration()));
    }
    closed.retain(|c| c.1 - c.0 > MOST_SLOTS as f64 * gap);
    if bin_s > 0.0 {
        closed.iter_mut().for_each(|c| c.1 = c.0 + ((c.1 - c.0) / bin_s).floor() * bin_s);
    }
    (!closed.is_empty()).then(|| ClosedUp {
        profile: profile.closed_up(&closed),
        stretches: parts.iter().map(|p| (p[0].start, p[p.len() - 1].end)).collect(),
        closed,
    })
}

impl ClosedUp {
    /// The same moment before the silences were closed, seconds since the origin.
    fn opened(&self, t: f64) -> f64 {
        let before_the_end = self.closed.iter().filter(|c| c.1 < self.end());
        before_the_end.fold(t, |t, c| if t > c.0 || c.0 == 0.0 { t + c.1 - c.0 } else { t })
    }

    /// End of the last stretch.
    fn end(&self) -> f64 {
        self.stretches.last().map_or(0.0, |s| s.1)
    }

    /// The answer for the closed profile, at the times of the open one.
    pub fn open(&self, mut found: BurstPeriods) -> BurstPeriods {
        found.periods.iter_mut().for_each(|p| self.open_period(p));
        found
    }

    fn open_period(&self, p: &mut BurstPeriod) {
        let origin = self.profile.origin();
        let open = |t: f64| self.opened(t - origin) + origin;
        let before = p.bursts.last().map_or(0.0, |b| b.start_s);
        let shift = open(before) - before;
        for b in &mut p.bursts {
            (b.start_s, b.end_s) = (open(b.start_s), open(b.end_s));
        }
        p.next.start_s += shift;
        p.places.iter_mut().for_each(|n| n.start_s += shift);
        p.under_way = p.under_way.map(|t| t + shift);
        let windows: Vec<(f64, f64)> = p.windows.iter().map(|w| (open(w.0), open(w.1))).collect();
        let reach = |w: &(f64, f64), c: &(f64, f64)| (w.0.max(c.0), w.1.min(c.1));
        // a window ends before each silence and begins again after it
        let mut edges = vec![f64::NEG_INFINITY];
        edges.extend(self.closed.iter().flat_map(|c| [c.0 + origin, c.1 + origin]));
        edges.push(f64::INFINITY);
        let pieces: Vec<(f64, f64)> = edges.chunks_exact(2).map(|e| (e[0], e[1])).collect();
        p.windows =
            windows.iter().flat_map(|w| pieces.iter().map(move |c| reach(w, c))).filter(|w| w.1 > w.0).collect();
        let starts: Vec<f64> = p.bursts.iter().map(|b| b.start_s).collect();
        let ends: Vec<f64> = p.bursts.iter().map(|b| b.end_s).collect();
        for w in &mut p.windows {
            let (from, to) = (starts.partition_point(|s| *s < w.0), starts.partition_point(|s| *s <= w.1));
            if from < to {
                *w = (starts[from], ends[to - 1]);
            }
        }
        p.cycles = p.cycles.saturating_sub(p.windows.len().saturating_sub(1)).max(1);
    }
}

/// The stretches of a chain in which its gaps have one mean each, if they have not all the same one.
pub(crate) fn of_one_gap(list: &BurstList, scored: &Scored) -> Vec<Scored> {
    let chain = &scored.chain;
    let onsets: Vec<f64> = chain.onsets(list).collect();
    let slots = chain.slots.windows(2).map(|k| f64::from(k[1] - k[0]));
    let gaps: Vec<f64> = onsets.windows(2).zip(slots).map(|(t, k)| (t[1] - t[0]) / k).collect();
    let mut parts = Vec::new();
    split(&Gaps::of(&gaps), (0, gaps.len()), &mut parts);
    if parts.len() < 2 || parts.len() > MOST_STRETCHES || !is_noise(&gaps, &parts) {
        return Vec::new();
    }
    parts.into_iter().filter_map(|(from, to)| part(list, scored, from, to)).collect()
}

/// The members `from..=to` of a chain, with their own line and score.
fn part(list: &BurstList, whole: &Scored, from: usize, to: usize) -> Option<Scored> {
    let first = whole.chain.slots[from];
    let members = whole.chain.members[from..=to].to_vec();
    let slots = whole.chain.slots[from..=to].iter().map(|k| k - first).collect();
    let chain = Chain { members, slots };
    let fit = chain.fit(list);
    let tolerance = fit.gap_deviation.max(LIMITS.tolerances[0]);
    let trial = Trial { period: fit.period, tolerance, extra: whole.extra.max(LIMITS.rare) };
    let score = local_score(list, &chain, chain.onsets(list), trial);
    (fit.period > 0.0).then(|| Scored { chain: Arc::new(chain), fit, score, tolerance, extra: whole.extra })
}

/// Sums over gaps from the first one on, to fit means and lines to any of them at once.
struct Gaps {
    /// Of 1, g and g squared, and of the number i times g; one entry more than there are gaps.
    sums: Vec<[f64; 3]>,
    middle: f64,
}

impl Gaps {
    fn of(gaps: &[f64]) -> Self {
        let middle = mean(gaps);
        let mut sums = vec![[0.0; 3]];
        for (i, g) in gaps.iter().enumerate() {
            let g = g - middle;
            let [a, b, c] = sums[i];
            sums.push([a + g, b + g * g, c + i as f64 * g]);
        }
        Self { sums, middle }
    }

    fn mean(&self, (from, to): (usize, usize)) -> f64 {
        self.middle + (self.sums[to][0] - self.sums[from][0]) / (to - from) as f64
    }

    /// Squared deviations from the mean.
    fn squares(&self, (from, to): (usize, usize)) -> f64 {
        let sum = self.sums[to][0] - self.sums[from][0];
        (self.sums[to][1] - self.sums[from][1] - sum * sum / (to - from) as f64).max(0.0)
    }

    /// Squared deviations from a straight line.
    fn off_line(&self, (from, to): (usize, usize)) -> f64 {
        let n = (to - from) as f64;
        let sum = self.sums[to][0] - self.sums[from][0];
        let cross = self.sums[to][2] - self.sums[from][2] - 0.5 * (from + to - 1) as f64 * sum;
        self.squares((from, to)) - cross * cross * 12.0 / (n * (n * n - 1.0)).max(1.0)
    }
}

/// Splits gaps where their mean changes, if one step explains them far better than one mean and than a straight trend do.
fn split(gaps: &Gaps, (from, to): (usize, usize), parts: &mut Vec<(usize, usize)>) {
    let n = (to - from) as f64;
    let places = from + FEWEST_GAPS..(to + 1).saturating_sub(FEWEST_GAPS).max(from);
    let left = |at: &usize| gaps.squares((from, *at)) + gaps.squares((*at, to));
    let best = places.min_by(|a, b| left(a).total_cmp(&left(b)));
    let changes = best.is_some_and(|at| {
        let usual = gaps.mean((from, to));
        // the clock's resolution, and gaps that nobody would call different
        let floor = n * (EXACT * usual).powi(2);
        let gain = |of: f64| 0.5 * n * ((of + floor) / (left(&at) + floor)).ln();
        let step = (gaps.mean((from, at)) / gaps.mean((at, to))).ln().abs();
        // gaps that wander are near two means as well, but not at them
        let at_both = 4.0 * left(&at) <= gaps.squares((from, to)) + floor;
        at_both
            && step >= LIMITS.step
            // Schwarz: half of ln n for each further parameter: a second mean, a second variance and the place of the change
            // instead of one mean, or the last two instead of a slope
            && gain(gaps.squares((from, to))) > 1.5 * n.ln()
            && gain(gaps.off_line((from, to))) > n.ln()
    });
    match best.filter(|_| changes) {
        Some(at) => {
            split(gaps, (from, at), parts);
            split(gaps, (at, to), parts);
        }
        None => parts.push((from, to)),
    }
}

/// Whether what the means leave of the gaps has no memory: gaps that wander have.
fn is_noise(gaps: &[f64], parts: &[(usize, usize)]) -> bool {
    let (mut power, mut lagged, mut count) = (0.0, 0.0, 0.0);
    for &(from, to) in parts {
        let middle = mean(&gaps[from..to]);
        let off: Vec<f64> = gaps[from..to].iter().map(|g| g - middle).collect();
        power += off.iter().map(|x| x * x).sum::<f64>() + (EXACT * middle).powi(2) * off.len() as f64;
        lagged += off.windows(2).map(|w| w[0] * w[1]).sum::<f64>();
        count += off.len() as f64;
    }
    lagged / power * count.sqrt() < 3.0
}
