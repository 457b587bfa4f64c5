//! Burst lists: the same profile cut into bursts in a dozen different ways.
//!
//! No single threshold is right for every trace. The lists differ in their level (the rate from which on there is a burst), in their
//! merge distance (which pieces belong together) and in their smallest size (smaller bursts do not count). The right
//! segmentation is nearly always among them; choosing it is left to the classifier.

use super::stats::{weighted_quantile, weighted_quantile_of};
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;
use rayon::prelude::*;

/// Lists of more bursts than this are not searched.
pub(crate) const MAX_BURSTS: usize = 30_000;
/// If all bursts of a run show no period, its last ones are searched, this many at most: more say no more about a period, and cost time.
const LATEST_BURSTS: usize = 8192;
/// Natural breaks are sought among this many of the longest gaps of a level.
const MAX_GAPS: usize = 30_000;

/// Cap of the log ratio of two neighbouring gaps as a feature of the classifier; a list that merges nothing has as much.
const LARGEST_BREAK: f64 = 3.0;

/// Onsets that show the unit of their stamps.
const FEWEST_STAMPS: usize = 6;

/// One way to cut the profile into bursts; all columns have one entry per burst, in the order of time.
#[derive(Debug, Clone)]
pub(crate) struct BurstList {
    /// Onsets, seconds since the profile's origin.
    pub start: Vec<f64>,
    pub end: Vec<f64>,
    /// Bytes of the burst, above the background.
    pub bytes: Vec<f64>,
    /// Idle seconds of the list up to each onset.
    pub idle: Vec<f64>,
    /// Running sum of min(1, bytes / reference), the burst itself included: the cost of leaving bursts off a chain.
    pub passed: Vec<f64>,
    /// Mean idle seconds between two bursts.
    pub mean_idle: f64,
    /// Byte-weighted median of the bursts' bytes.
    pub reference: f64,
    /// Bytes per second above which there is a burst.
    pub threshold: f64,
    /// The threshold as a share of the burst level.
    pub level: f64,
    /// Rate that does not count.
    pub background: f64,
    /// Pieces closer than this many seconds are one burst.
    pub merge: f64,
    /// Log ratio of the gaps on either side of the merge distance: how natural the cut is.
    pub cut: f64,
}

impl BurstList {
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Idle seconds between burst `i` and the next one.
    pub fn gap_after(&self, i: usize) -> f64 {
        (self.start[i + 1] - self.end[i]).max(0.0)
    }

    /// Mean idle time between the bursts `from..=to`.
    pub fn mean_gap(&self, from: usize, to: usize) -> f64 {
        let gaps: f64 = (from..to).map(|i| self.gap_after(i)).sum();
        gaps / (to - from).max(1) as f64
    }

    /// The decimal unit of seconds of which (nearly) all distances of onsets are multiples: the recorder rounds to it. 0 below a
    /// millisecond, and for few bursts.
    pub fn stamp(&self) -> f64 {
        let is_multiple = |t: f64, unit: f64| ((t / unit).round() * unit - t).abs() <= (1e-3 * unit).max(1e-6);
        let rounded = |unit: &f64| {
            let strays = self.start.iter().filter(|&&t| !is_multiple(t - self.start[0], *unit));
            strays.count() as f64 <= 0.02 * self.len() as f64
        };
        if self.len() < FEWEST_STAMPS { 0.0 } else { [1.0, 0.1, 0.01, 1e-3].into_iter().find(rounded).unwrap_or(0.0) }
    }

    /// The bursts `from..to` as a list of their own.
    pub fn part(&self, from: usize, to: usize) -> BurstList {
        let mut part = BurstList {
            start: self.start[from..to].to_vec(),
            end: self.end[from..to].to_vec(),
            bytes: self.bytes[from..to].to_vec(),
            idle: Vec::new(),
            passed: Vec::new(),
            ..*self
        };
        part.sum_up();
        part
    }

    /// A list of given (start, end, bytes), in the order of time, cut at no threshold; `None` if there are none.
    pub fn from_bursts(bursts: impl Iterator<Item = (f64, f64, f64)>, threshold: f64) -> Option<BurstList> {
        let (mut start, mut end, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for (a, b, v) in bursts {
            start.push(a);
            end.push(b);
            bytes.push(v);
        }
        let mut weighted: Vec<(f64, f64)> = bytes.iter().map(|&v| (v, v)).collect();
        let reference = weighted_quantile(&mut weighted, 0.5)?;
        let mut list = BurstList {
            start,
            end,
            bytes,
            idle: Vec::new(),
            passed: Vec::new(),
            mean_idle: 0.0,
            reference,
            threshold,
            level: 1.0,
            background: 0.0,
            merge: 0.0,
            cut: 0.0,
        };
        list.sum_up();
        Some(list)
    }

    fn sum_up(&mut self) {
        let mut busy = 0.0;
        let mut weight = 0.0;
        self.idle = Vec::with_capacity(self.len());
        self.passed = Vec::with_capacity(self.len());
        for i in 0..self.start.len() {
            self.idle.push(self.start[i] - busy);
            busy += self.end[i] - self.start[i];
            weight += (self.bytes[i] / self.reference).min(1.0);
            self.passed.push(weight);
        }
        self.mean_idle = self.mean_gap(0, self.len().saturating_sub(1));
    }
}

/// The levels of a profile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Levels {
    /// Byte-weighted median of the rate: half of all bytes move at least this fast.
    pub burst: f64,
    /// Time-weighted 20 % quantile of the rate.
    pub background: f64,
    /// Byte-weighted median of the rate where it is above the background, if that stands out.
    pub above: Option<f64>,
}

impl Levels {
    pub fn of(profile: &Profile) -> Option<Self> {
        let (times, rates) = (profile.times(), profile.rates());
        let width = |k: usize| times[k + 1] - times[k];
        let pieces = 0..rates.len();
        let of_bytes = || {
            let by_bytes = pieces.clone().filter(|&k| rates[k] > 0.0).map(|k| (rates[k], rates[k] * width(k)));
            weighted_quantile_of(by_bytes, 0.5)
        };
        let of_time = || {
            // most traces are idle for longer than that
            let idle: f64 = pieces.clone().filter(|&k| rates[k] == 0.0).map(width).sum();
            if idle >= LIMITS.background * profile.duration() {
                return Some((0.0, None));
            }
            let background = weighted_quantile_of(pieces.clone().map(|k| (rates[k], width(k))), LIMITS.background)?;
            let floor = 1.02 * background;
            let over = pieces.clone().filter(|&k| rates[k] > floor);
            let over = over.map(|k| (rates[k], (rates[k] - floor) * width(k)));
            let top = (background > 0.0).then(|| weighted_quantile_of(over, 0.5)).flatten();
            Some((background, top))
        };
        let (burst, of_time) = rayon::join(of_bytes, of_time);
        let (burst, (background, above)) = (burst?, of_time?);
        Some(Self { burst, background, above })
    }
}

/// All burst lists of a profile that differ from each other and hold at least three bursts.
///
/// `erased`: sorted, disjoint intervals that earlier rounds have taken out; bursts that begin at the edge of one are
/// remnants and are dropped.
pub(crate) fn burst_lists(profile: &Profile, levels: &Levels, erased: &[(f64, f64)]) -> Vec<BurstList> {
    let mut cuts: Vec<(f64, f64, f64)> = LIMITS.levels.iter().map(|&f| (f, 0.0, levels.burst)).collect();
    if let Some(top) = levels.above {
        cuts.extend(LIMITS.levels_above.iter().map(|&f| (f, levels.background, top)));
    }
    let of_cuts: Vec<Vec<BurstList>> = cuts.into_par_iter().map(|cut| lists_of_cut(profile, cut, erased)).collect();
    let mut seen = std::collections::HashSet::new();
    let mut lists: Vec<BurstList> =
        of_cuts.into_iter().flatten().filter(|list| seen.insert(fingerprint(list, profile.duration()))).collect();
    without_alike(&mut lists);
    lists.iter_mut().for_each(BurstList::sum_up);
    lists
}

/// Drops long lists that have nearly as many bursts as one before.
fn without_alike(lists: &mut Vec<BurstList>) {
    let (longest, alike) = LIMITS.alike;
    let mut long: Vec<usize> = Vec::new();
    lists.retain(|list| {
        let n = list.len();
        let new = n <= longest || !long.iter().any(|&m| n.abs_diff(m) as f64 <= alike * m as f64);
        if new && n > longest {
            long.push(n);
        }
        new
    });
}

/// The lists of bursts above `background` by the share `level` of the height of the top above it, without their sums.
fn lists_of_cut(profile: &Profile, (level, background, top): (f64, f64, f64), erased: &[(f64, f64)]) -> Vec<BurstList> {
    let mut lists: Vec<BurstList> = Vec::new();
    let threshold = background + level * (top - background);
    let stretches = stretches(profile, threshold);
    for (merge, cut) in merge_distances(&stretches) {
        let merged = merged(&stretches, merge);
        let bytes: Vec<f64> =
            merged.iter().map(|s| (s.after - s.before - background * (s.end - s.start)).max(0.0)).collect();
        let mut weighted: Vec<(f64, f64)> = bytes.iter().map(|&b| (b, b)).collect();
        let Some(reference) = weighted_quantile(&mut weighted, 0.5) else {
            continue;
        };
        for smallest in smallest_sizes(&bytes, reference) {
            let keep: Vec<usize> =
                (0..merged.len()).filter(|&i| bytes[i] >= smallest && !is_remnant(erased, merged[i].start)).collect();
            if keep.len() < 3 || keep.len() > MAX_BURSTS {
                continue;
            }
            lists.push(BurstList {
                start: keep.iter().map(|&i| merged[i].start).collect(),
                end: keep.iter().map(|&i| merged[i].end).collect(),
                bytes: keep.iter().map(|&i| bytes[i]).collect(),
                idle: Vec::new(),
                passed: Vec::new(),
                mean_idle: 0.0,
                reference,
                threshold,
                level,
                background,
                merge,
                cut,
            });
        }
    }
    lists
}

/// Two lists with the same number of bursts and, nearly, the same sum of starts and of ends are the same list.
fn fingerprint(list: &BurstList, duration: f64) -> (usize, i64, i64) {
    let sum = |x: &[f64]| (x.iter().sum::<f64>() / duration * 1e5).round() as i64;
    (list.len(), sum(&list.start), sum(&list.end))
}

/// Whether a burst that begins at `t` is the remnant of an erased one.
fn is_remnant(erased: &[(f64, f64)], t: f64) -> bool {
    let after = erased.partition_point(|&(a, _)| a < t + 1e-9);
    after > 0 && (erased[after - 1].1 - t).abs() < 1e-9
}

/// Sizes in bytes below which bursts are left out: shares of the usual one, and where the sizes of larger ones fall apart.
fn smallest_sizes(bytes: &[f64], reference: f64) -> Vec<f64> {
    let mut sizes: Vec<f64> = LIMITS.smallest.iter().map(|share| share * reference).collect();
    let mut sorted: Vec<f64> = bytes.iter().copied().filter(|&b| b >= sizes[LIMITS.smallest.len() - 1]).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let far = sorted.len().saturating_sub(2);
    let breaks = (1..far).filter(|&i| sorted[i] > LIMITS.larger * sorted[i - 1]);
    sizes.extend(breaks.map(|i| (sorted[i] * sorted[i - 1]).sqrt()).take(2));
    sizes
}

/// A stretch of time and the profile's bytes before and until its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    pub start: f64,
    pub end: f64,
    pub before: f64,
    pub after: f64,
}

/// Maximal stretches in which the rate is at least `threshold`.
pub(crate) fn stretches(profile: &Profile, threshold: f64) -> Vec<Stretch> {
    let (times, rates, cumulative) = (profile.times(), profile.rates(), profile.cumulative());
    let mut found = Vec::new();
    let mut open = None;
    let mut close = |from: usize, to: usize| {
        found.push(Stretch { start: times[from], end: times[to], before: cumulative[from], after: cumulative[to] });
    };
    for (k, &rate) in rates.iter().enumerate() {
        match (open, rate >= threshold) {
            (None, true) => open = Some(k),
            (Some(from), false) => {
                close(from, k);
                open = None;
            }
            _ => {}
        }
    }
    if let Some(from) = open {
        close(from, rates.len());
    }
    found
}

/// Joins stretches that are at most `distance` apart, with the bytes in between.
pub(crate) fn merged(stretches: &[Stretch], distance: f64) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    for s in stretches {
        match out.last_mut() {
            Some(last) if s.start - last.end <= distance => {
                last.end = s.end;
                last.after = s.after;
            }
            _ => out.push(*s),
        }
    }
    out
}

/// The last bursts of a long run.
pub(crate) struct Latest {
    /// Onset of the first one, seconds since the profile's origin.
    pub from_s: f64,
    /// How many there are.
    pub bursts: usize,
    /// How many the whole run has.
    pub of: usize,
}

/// The last bursts of a run that has more than [`LATEST_BURSTS`], each a stretch at the level of the verdict.
pub(crate) fn latest(profile: &Profile) -> Option<Latest> {
    let all = stretches(profile, LIMITS.verdict_level * Levels::of(profile)?.burst);
    let first = all.len().checked_sub(LATEST_BURSTS).filter(|&i| i > 0)?;
    Some(Latest { from_s: all[first].start, bursts: LATEST_BURSTS, of: all.len() })
}

/// Distances at which the gaps fall apart into short and long ones, each with the log ratio of the break.
fn merge_distances(stretches: &[Stretch]) -> Vec<(f64, f64)> {
    if stretches.len() < 3 {
        return Vec::new();
    }
    let mut gaps: Vec<f64> = stretches.windows(2).map(|w| w[1].start - w[0].end).filter(|&g| g > 0.0).collect();
    let mut distances = Vec::new();
    if stretches.len() <= MAX_BURSTS {
        distances.push((0.0, LARGEST_BREAK));
    }
    if gaps.len() > MAX_GAPS {
        let cut = gaps.len() - MAX_GAPS;
        gaps.select_nth_unstable_by(cut, f64::total_cmp);
        gaps.drain(..cut);
    }
    gaps.sort_unstable_by(f64::total_cmp);
    if gaps.len() > 2 {
        // at least two gaps stay longer than the distance
        let mut breaks: Vec<(f64, usize)> = (0..gaps.len() - 2)
            .map(|i| ((gaps[i + 1] / gaps[i]).ln(), i))
            .filter(|b| b.0 > LIMITS.smallest_break)
            .collect();
        breaks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut chosen: Vec<usize> = breaks.iter().take(3).map(|b| b.1).collect();
        chosen.sort_unstable();
        for i in chosen {
            let ratio = (gaps[i + 1] / gaps[i]).ln();
            distances.push(((gaps[i] * gaps[i + 1]).sqrt(), ratio.min(LARGEST_BREAK)));
        }
    }
    distances
}
