//! Detects a new regime from the gaps between bursts, before the analysis of the window does.
//!
//! Bursts are cut as in the current regime and without merging, because the bursts of a faster regime may lie within one burst of
//! the former. Each cut is compared with its own past, so pieces of a burst do not look new. The latest gaps are a change if the
//! change detector or Student's t test says so, and if the analysis of the data since then finds the new period.

use crate::online::thresholds::LIMITS;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::super::change::{ChangeDetector, ChangeMethod};
use super::super::forecast::WindowAnalysis;
use super::current_period::{CurrentPeriod, MEMORY};
use crate::period::Spread;
use crate::period::chains::{self, Burst};
use crate::signal::profile::Profile;

/// The first burst of the new regime, and its period.
pub(super) fn new_regime(
    method: ChangeMethod,
    current: &CurrentPeriod,
    profile: &Profile,
    since: &dyn Fn(f64) -> WindowAnalysis,
) -> Option<(f64, CurrentPeriod)> {
    if current.confidence < LIMITS.known || current.lasted() < LIMITS.established * current.period_s {
        return None;
    }
    let mut looks = Looks { since, made: Vec::new() };
    let after = |b: &&Burst| b.start_s > current.until_s;
    for merge_s in [current.threshold.merge_s, 0.0] {
        let mut all = chains::cut(profile, current.threshold.threshold, merge_s);
        // a burst may be cut in two where the profile begins, unless the regime begins there
        let whole = |b: &Burst| b.start_s > profile.origin() || b.start_s >= current.since_s;
        all.retain(|b| b.end_s >= current.since_s && whole(b));
        let lately = Spread::of(all.iter().filter(after).map(|b| b.bytes)).map_or(0.0, |s| s.median);
        for bytes in [current.threshold.bytes, lately.min(current.threshold.bytes)] {
            let of_size = all.iter().filter(|b| b.bytes >= LIMITS.smallest_burst * bytes);
            let bursts: Vec<&Burst> = of_size.collect();
            let bursts = &bursts[bursts.len().saturating_sub(MEMORY + 1)..];
            let distances: Vec<f64> = bursts.windows(2).map(|w| (w[1].start_s - w[0].start_s).ln()).collect();
            let begun = |n: usize| bursts[bursts.len() - 1 - n].start_s;
            let lasted = |n: &usize| begun(*n) - current.since_s >= LIMITS.established * current.period_s;
            let differ = |n: &usize| differ(method, current, &distances, *n, bursts, &all);
            let most = LIMITS.new_gaps_most.min(distances.len().saturating_sub(1));
            for n in (LIMITS.new_gaps_fewest..=most).filter(lasted).filter(differ) {
                let (first, period_s) = (begun(n), (begun(0) - begun(n)) / n as f64);
                if let Some(next) = looks.confirm(first, period_s) {
                    return Some((first, next));
                }
            }
        }
    }
    None
}

/// Whether the last `n` gaps between `bursts`, given as logarithms, belong to another regime than those before. `all` holds
/// smaller bursts as well.
fn differ(
    method: ChangeMethod,
    current: &CurrentPeriod,
    distances: &[f64],
    n: usize,
    bursts: &[&Burst],
    all: &[Burst],
) -> bool {
    let (before, new) = distances.split_at(distances.len() - n);
    let (level, mean) = (current.period_s.ln(), new.iter().sum::<f64>() / n as f64);
    let off = (mean - level).abs();
    let near = |x: f64, y: f64| (x - y).abs() <= LIMITS.near * off;
    // the last gap before may span the change
    let old = match before.split_last() {
        Some((last, rest)) if !near(*last, level) => rest,
        _ => before,
    };
    let on_beat = old.iter().filter(|x| near(**x, level)).count();
    if off <= LIMITS.same_period
        || !new.iter().all(|x| {
            (x - mean).abs()
                <= (LIMITS.new_gaps_agree * off).min(if n > 2 { LIMITS.same_period } else { LIMITS.regular })
        })
        || on_beat < 2
        || before.iter().any(|x| near(*x, mean))
    {
        return false;
    }
    let near_level = old.iter().filter(|x| near(**x, level));
    let spread = (near_level.map(|x| (x - level).powi(2)).sum::<f64>() / on_beat as f64).sqrt();
    let exact = (LIMITS.expected_sds * spread).max(LIMITS.whole);
    let places = new.iter().scan(0.0, |sum, x| {
        *sum += x.exp() / current.period_s;
        Some(*sum)
    });
    // missing bursts leave the others in phase, and so do additional ones
    let kept = places.filter(|p| p.round() >= 1.0 && (p - p.round()).abs() <= exact).count();
    if kept > 0 && mean > level && current.goes_on_smaller(&bursts[bursts.len() - 1 - n..], all, exact) {
        return false;
    }
    let exact_halves = || {
        let half = |x: &f64| (level - x - std::f64::consts::LN_2).abs() <= LIMITS.whole;
        n == 2 && on_beat == before.len() && exact <= LIMITS.whole && new.iter().all(half) && same_size(bursts, n)
    };
    let firm = on_beat >= LIMITS.firm && on_beat == old.len() && (mean > level || exact_halves());
    let ratio = off.exp().round().max(1.5);
    let enough = if mean < level && ratio <= 2.0 { ratio + 1.0 } else { LIMITS.multiple * ratio };
    if kept > 0 && !firm && (n as f64) < enough && !other_size(bursts, n) {
        return false;
    }
    chance(old, new, off) <= share_of_chance(old.len()) || noticed(method, distances, n)
}

/// Whether the change detector reports that the last `n` gaps are another regime.
fn noticed(method: ChangeMethod, distances: &[f64], n: usize) -> bool {
    let mut detector = ChangeDetector::new(method);
    let from = distances.len() - n;
    let told = distances.iter().enumerate().map(|(i, x)| (i, detector.observe(x.exp())));
    told.filter(|(i, begun)| *i > from && begun.is_some_and(|k| i + 1 - k.min(i + 1) + 1 >= from)).count() > 0
}

/// Analyses of the data since a supposed change, each with its start.
struct Looks<'a> {
    since: &'a dyn Fn(f64) -> WindowAnalysis,
    made: Vec<(f64, Option<CurrentPeriod>)>,
}

impl Looks<'_> {
    /// The result for the data since `first`, if it has this period.
    fn confirm(&mut self, first: f64, period_s: f64) -> Option<CurrentPeriod> {
        let known = self.made.iter().position(|(from, _)| (from - first).abs() <= LIMITS.same_period * period_s);
        if known.is_none() {
            if self.made.len() >= LIMITS.looks {
                return None;
            }
            self.made.push((first, CurrentPeriod::of(&(self.since)(first))));
        }
        let (_, found) = *self.made.get(known.unwrap_or(self.made.len() - 1))?;
        found.filter(|b| {
            b.confidence >= LIMITS.other_confidence && (b.period_s / period_s).ln().abs() <= LIMITS.same_period
        })
    }
}

/// Whether the bursts of the last `n` gaps have a size that those before did not have. The latest burst may go on.
fn other_size(bursts: &[&Burst], n: usize) -> bool {
    let Some((_, whole)) = bursts.split_last() else { return false };
    let sizes: Vec<f64> = whole.iter().map(|b| b.bytes.ln()).collect();
    let (old, new) = sizes.split_at(sizes.len().saturating_sub(n));
    let Some(middle) = Spread::of(old.iter().copied()).map(|s| s.median) else { return false };
    let mean = new.iter().sum::<f64>() / new.len() as f64;
    let off = (mean - middle).abs();
    off > LIMITS.same_size
        && new.iter().all(|x| (x - mean).abs() <= LIMITS.new_gaps_agree * off)
        && old.len() >= 2
        && old.iter().all(|x| (x - mean).abs() > LIMITS.near * off)
        && chance(old, new, off) <= share_of_chance(old.len())
}

/// Whether the bursts of the last `n` gaps have the size of those before. The latest burst may go on.
fn same_size(bursts: &[&Burst], n: usize) -> bool {
    let Some((_, whole)) = bursts.split_last() else { return false };
    let (old, new) = whole.split_at(whole.len().saturating_sub(n));
    let middle = Spread::of(old.iter().map(|b| b.bytes.ln())).map(|s| s.median);
    middle.is_some_and(|m| new.iter().all(|b| (b.bytes.ln() - m).abs() <= LIMITS.same_size))
}

/// Share of the chance of a false alarm that one look after `known` gaps may use.
fn share_of_chance(known: usize) -> f64 {
    let (k, looks) = (known as f64, (LIMITS.new_gaps_most - LIMITS.new_gaps_fewest + 1) as f64);
    LIMITS.chance / (k * (k + 1.0)).max(1.0) / looks
}

/// Two-sided probability that the means of two samples of one normal distribution differ by `off`: Student's t with the
/// pooled spread of both and a prior for it. Values further off than `off` are clipped.
fn chance(old: &[f64], new: &[f64], off: f64) -> f64 {
    let Some(middle) = Spread::of(old.iter().copied()).map(|s| s.median) else { return 1.0 };
    let (k, n) = (old.len() as f64, new.len() as f64);
    let mean = new.iter().sum::<f64>() / n;
    let squares = |values: &[f64], about: f64| values.iter().map(|x| (x - about).clamp(-off, off).powi(2)).sum::<f64>();
    let freedom = LIMITS.prior_values + k + n - 2.0;
    let variance =
        (LIMITS.prior_values * LIMITS.prior_sd * LIMITS.prior_sd + squares(old, middle) + squares(new, mean)) / freedom;
    let t = off / (variance * (1.0 / k + 1.0 / n)).sqrt();
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |d| 2.0 * d.sf(t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_alarm_probability_sums_to_its_bound() {
        let all: f64 =
            (1..100_000).map(share_of_chance).sum::<f64>() * (LIMITS.new_gaps_most - LIMITS.new_gaps_fewest + 1) as f64;
        assert!(all <= LIMITS.chance && all > 0.999 * LIMITS.chance);
        // an exact regime of five bursts ends at the second gap of one whose period is half as long again
        let told = |off: f64| chance(&[0.0; 4], &[off; 2], off) <= share_of_chance(4);
        assert!(told(1.5f64.ln()) && !told(1.1f64.ln()));
    }

    #[test]
    fn probability_is_that_of_students_t() {
        // two samples of equal spread: t = 2.306 is the 97.5 % point at 8 degrees of freedom
        let (old, new) = ([-0.03, 0.0, 0.03], [0.27, 0.3, 0.3, 0.33]);
        let freedom: f64 = 3.0 + 3.0 + 4.0 - 2.0;
        let variance: f64 = (3.0 * 0.0009 + 2.0 * 0.0009 + 2.0 * 0.0009) / freedom;
        let off = 2.306 * (variance * (1.0 / 3.0 + 1.0 / 4.0)).sqrt();
        assert!((chance(&old, &new, off) - 0.05).abs() < 1e-3);
    }
}
