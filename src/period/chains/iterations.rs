//! The peeling loop: find a period, erase its bursts, search the rest.

use super::Options;
use super::bursts::{self, BurstList, Levels};
use super::classifier;
use super::correlation::{self, Correlation};
use super::hypothesis::{self, Context, Hypothesis, Searched};
use super::modulation;
use super::nested;
use super::windows::{self, Extent};
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;
use rayon::prelude::*;

/// One search over the bursts that earlier iterations have left.
pub(crate) struct Iteration<'a> {
    pub number: usize,
    pub lists: Vec<BurstList>,
    pub hypotheses: Vec<Hypothesis>,
    pub winner: usize,
    /// Its period is shorter than the shortest that is reported.
    pub too_fast: bool,
    /// Accepted hypotheses and where they hold: the winner if it is sure enough, and the period inside or around its bursts.
    /// The longer period comes first.
    pub accepted: Vec<(usize, Extent)>,
    /// Periods found before.
    #[cfg_attr(not(feature = "training"), expect(dead_code, reason = "read by the training dump"))]
    pub before: &'a [Reported],
}

/// A period that an earlier iteration has reported.
pub(crate) struct Reported {
    pub period: f64,
    pub windows: Vec<(f64, f64)>,
    /// Its bursts, seconds since the origin.
    pub bursts: Vec<(f64, f64)>,
}

/// Searches, erases the winner's bursts, and searches again, until no hypothesis is sure enough.
pub(crate) fn run(
    profile: &Profile,
    weights: &classifier::Weights,
    options: Options,
    each: &mut dyn FnMut(Iteration<'_>),
) {
    let mut erased: Vec<(f64, f64)> = Vec::new();
    let mut rest: Option<Profile> = None;
    let mut reported: Vec<Reported> = Vec::new();
    for number in 0..options.most_periods {
        let left = rest.as_ref().unwrap_or(profile);
        let (lists, mut hypotheses) = hypotheses(left, &erased);
        weights.score(&mut hypotheses, number > 0);
        hypotheses.retain(|h| {
            // a fast rhythm competes, so that its multiples do not win
            h.held() >= options.shortest_window_s && !reported.iter().any(|r| repeats(h, &lists[h.list], r))
        });
        let answer = weights.answer[usize::from(number > 0)];
        let fast = |h: &Hypothesis| h.period() < options.shortest_period_s;
        if classifier::winner(&hypotheses)
            .is_some_and(|i| fast(&hypotheses[i]) && hypotheses[i].judged.confidence < answer)
        {
            hypotheses.retain(|h| !fast(h));
        }
        let Some(winner) = classifier::winner(&hypotheses) else {
            return;
        };
        let winner = if number == 0 { by_gaps(&mut hypotheses, winner, answer) } else { winner };
        let mut chosen = accept(&mut hypotheses, &lists, winner, answer);
        let too_fast = fast(&hypotheses[winner]);
        if too_fast {
            chosen.clear();
        } else if options.most_periods > 1
            && let [one] = chosen[..]
            && let Some(inner) = nested::rhythm_inside(&hypotheses[one], &lists, options.shortest_period_s)
        {
            hypotheses.push(inner);
            chosen.push(hypotheses.len() - 1);
        }
        let accepted: Vec<(usize, Extent)> = chosen
            .into_iter()
            .map(|i| (i, windows::extent(&hypotheses[i], &lists[hypotheses[i].list], left)))
            .collect();
        let mut next = Vec::new();
        for (i, extent) in &accepted {
            erased.extend(extent.usual(&lists[hypotheses[*i].list]));
            next.push(Reported {
                period: hypotheses[*i].period(),
                windows: extent.windows.clone(),
                bursts: extent.bursts.clone(),
            });
        }
        erased = windows::join(std::mem::take(&mut erased));
        each(Iteration { number, lists, hypotheses, winner, too_fast, accepted, before: &reported });
        if next.is_empty() {
            return;
        }
        reported.extend(next);
        rest = Some(profile.without(&erased));
    }
}

/// The winner or, if it is not sure enough, the best hypothesis that the gaps alone tell.
fn by_gaps(hypotheses: &mut [Hypothesis], winner: usize, answer: f64) -> usize {
    if hypotheses[winner].judged.confidence >= answer {
        return winner;
    }
    let told: Vec<usize> = (0..hypotheses.len()).filter(|&i| hypotheses[i].is_carried_by_gaps()).collect();
    let Some(best) = classifier::winner_of(hypotheses, &told) else {
        return winner;
    };
    let confidence = LIMITS.gaps_alone_right * hypotheses[best].regular();
    hypotheses[best].judged.confidence = confidence.max(hypotheses[best].judged.confidence);
    best
}

/// The winner, if it is at least as sure as `answer`, and a period around or inside its bursts, the longer one first, or one of the larger
/// ones among them.
fn accept(hypotheses: &mut [Hypothesis], lists: &[BurstList], winner: usize, answer: f64) -> Vec<usize> {
    if hypotheses[winner].judged.confidence < answer {
        return Vec::new();
    }
    let Some(partner) = nested::partner(hypotheses, lists, winner, answer) else {
        return std::iter::once(winner).chain(nested::larger(hypotheses, lists, winner, answer)).collect();
    };
    let is_longer = hypotheses[partner].period() > hypotheses[winner].period();
    let (long, short) = if is_longer { (partner, winner) } else { (winner, partner) };
    if let Some(period) = nested::period_inside(&hypotheses[short], &hypotheses[long], lists) {
        hypotheses[short].fit.period = period;
    }
    vec![long, short]
}

/// All hypotheses about a profile from which intervals were erased.
fn hypotheses(profile: &Profile, erased: &[(f64, f64)]) -> (Vec<BurstList>, Vec<Hypothesis>) {
    let Some(levels) = Levels::of(profile) else {
        return Default::default();
    };
    let mut lists = bursts::burst_lists(profile, &levels, erased);
    // the lists need no correlation to begin with
    let (searched, (fine, coarse)) = rayon::join(
        || -> Vec<Searched> { lists.par_iter().map(Searched::at_gaps).collect() },
        || {
            rayon::join(
                || Correlation::of(profile, erased, correlation::BINS),
                || Correlation::of(profile, erased, correlation::BINS_COARSE),
            )
        },
    );
    let correlated = fine.as_ref().map(Correlation::trial_periods).unwrap_or_default();
    let context = Context {
        profile,
        correlation: fine.as_ref(),
        coarse: coarse.as_ref(),
        bytes: profile.bytes(),
        further: !erased.is_empty(),
        grain: resolution(profile),
    };
    let (found, waves) = rayon::join(
        || -> Vec<Vec<Hypothesis>> {
            let of_list = |(i, mut searched): (usize, Searched)| {
                searched.at_peaks(&correlated);
                hypothesis::of_list(i, searched, &context)
            };
            searched.into_par_iter().enumerate().map(of_list).collect()
        },
        || {
            if erased.is_empty() {
                modulation::hypotheses(&correlated, &levels, lists.len(), &context)
            } else {
                Vec::new()
            }
        },
    );
    let mut found: Vec<Hypothesis> = found.into_iter().flatten().collect();
    for (list, hypothesis) in waves {
        lists.push(list);
        found.push(hypothesis);
    }
    (lists, found)
}

/// Breakpoints looked at for a common resolution, at most.
const RESOLUTION_SAMPLE: usize = 4096;

/// Seconds of which (nearly) all distances of breakpoints are multiples, as in a heat map of bins; 0 if there is no such resolution.
/// The first step may be the rest of one that was cut.
pub(crate) fn resolution(profile: &Profile) -> f64 {
    let times = profile.times().get(1..).unwrap_or_default();
    let sample = &times[..times.len().min(RESOLUTION_SAMPLE)];
    let smallest = sample.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    if !smallest.is_finite() || sample.len() < 4 {
        return 0.0;
    }
    let fits = |t: f64| ((t / smallest).round() * smallest - t).abs() <= 1e-3 * smallest + 1e-9 * t;
    let multiples = sample.windows(2).filter(|w| fits(w[1] - w[0])).count();
    if multiples as f64 >= 0.98 * (sample.len() - 1) as f64 { smallest } else { 0.0 }
}

/// Whether this is a reported period in the same place: remnants of the erased bursts.
fn repeats(h: &Hypothesis, list: &BurstList, reported: &Reported) -> bool {
    let ratio = (h.period() / reported.period).max(reported.period / h.period());
    let same = ratio.ln() < LIMITS.same_period;
    if windows::overlap(h.window, &reported.windows) < 0.3 * h.held() {
        // where else its bursts follow a period was asked when it was reported; others need more than another period does
        return same && h.judged.confidence < LIMITS.second_look;
    }
    let whole = ratio.round();
    whole <= 2.0 && (ratio - whole).abs() < 0.03 * whole && !in_turn(h, list, reported)
}

/// Whether the bursts of a hypothesis lie well between those of a reported period, as light and heavy ones in turn do.
fn in_turn(h: &Hypothesis, list: &BurstList, reported: &Reported) -> bool {
    let apart = LIMITS.apart * reported.period;
    let between = |&i: &usize| {
        let next = reported.bursts.partition_point(|b| b.0 <= list.start[i]);
        let after = next.checked_sub(1).is_none_or(|k| list.start[i] - reported.bursts[k].1 > apart);
        after && reported.bursts.get(next).is_none_or(|b| b.0 - list.end[i] > apart)
    };
    let count = h.chain.indices().filter(between).count();
    (h.period() / reported.period).ln().abs() < LIMITS.same_period && count as f64 >= 0.9 * h.chain.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Span;

    #[test]
    fn a_resolution_is_found_only_where_there_is_one() {
        let bins = Profile::from_spans([0, 1, 5, 6, 11].map(|i| Span {
            start: 0.4 * f64::from(i),
            end: 0.4 * f64::from(i + 1),
            bytes: f64::from(i + 1),
        }));
        assert!((resolution(&bins) - 0.4).abs() < 1e-9);
        let free = Profile::from_spans([0.0, 1.7, 5.1, 7.3].map(|t| Span { start: t, end: t + 0.3333, bytes: 1.0 }));
        assert_eq!(resolution(&free), 0.0);
    }
}
