//! The default period detector: chains of bursts.
//!
//! The bandwidth is cut into bursts in a dozen ways (`bursts`). Each list of bursts, and the autocorrelation of the
//! signal, propose trial periods (`trials`, `correlation`). For each of them dynamic programming finds the best chain
//! of bursts that follow each other at multiples of the period (`search`); a line through its onsets gives period, phase
//! and error (`fit`). A trained judge weighs all hypotheses against each other and against "none" (`judge`); its
//! probability is calibrated (`docs/confidence.md`). The bursts of the winner are then erased and the search is repeated
//! for further periods (`windows`).
//!
//! Onsets are exact to the trace's clock, so no spectral bin limits the period: its error is that of a regression line.

mod bursts;
mod correlation;
mod evidence;
mod fit;
mod fold;
mod hypothesis;
mod judge;
mod nested;
mod plans;
mod search;
mod stats;
mod trials;
mod verdict;
mod wave;
mod windows;

pub use fit::Clock;
pub use hypothesis::Kind;
pub use verdict::Verdict;

use crate::signal::profile::Profile;
use bursts::{BurstList, Levels};
use correlation::Correlation;
use hypothesis::{Context, Hypothesis, Searched};
use rayon::prelude::*;
use windows::Extent;

/// What [`detect`] may do.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Most periods to report.
    pub most_periods: usize,
    /// Shortest stretch in seconds over which a period must hold without a break. What is shorter is the rhythm of the
    /// requests inside a burst, not that of the job.
    pub shortest_window_s: f64,
    /// Shortest period in seconds that is reported.
    pub shortest_period_s: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_periods: 3, shortest_window_s: 0.0, shortest_period_s: 0.0 }
    }
}

/// The answer for one profile.
#[derive(Debug, Clone)]
pub struct Detection {
    /// Periodic, or why not.
    pub verdict: Verdict,
    /// Every period found, the one that moves the most bytes first.
    pub periods: Vec<Found>,
    /// If no period was found: the best hypothesis that was turned down.
    pub rejected: Option<Rejected>,
}

/// A period that holds, with everything known about it. Times are seconds on the trace's own clock.
#[derive(Debug, Clone)]
pub struct Found {
    /// The period.
    pub period_s: f64,
    /// Standard error of the period.
    pub period_std_s: f64,
    /// Probability that the period is right (within 5 %), calibrated.
    pub confidence: f64,
    /// Periods seen, those without a burst included, over all windows.
    pub cycles: usize,
    /// Where the period holds: first onset to last end, sorted and disjoint.
    pub windows: Vec<(f64, f64)>,
    /// The bursts that follow the period, in the order of time.
    pub bursts: Vec<Burst>,
    /// Bytes that the period explains.
    pub bytes: f64,
    /// Whether the bursts keep to a clock or each waits for the one before.
    pub clock: Clock,
    /// How the hypothesis explains the bursts.
    pub kind: Kind,
    /// The onset of the next burst after the last one seen, at the level at which bursts keep time.
    pub next: Next,
    /// Seconds by which bursts begin before that onset, with their flanks: the median.
    pub flank_s: f64,
    /// The next burst at each place of the period, in the order of the places: several if a period holds several bursts.
    pub places: Vec<Next>,
    /// Why it was believed.
    pub evidence: Evidence,
}

/// One burst, seconds on the trace's own clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// First moment above the threshold.
    pub start_s: f64,
    /// Last moment above the threshold.
    pub end_s: f64,
    /// Bytes in between, above the background.
    pub bytes: f64,
}

/// When the next burst is due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Next {
    /// Expected start, on the trace's own clock.
    pub start_s: f64,
    /// Standard deviation of the start, the uncertainty of the period included.
    pub std_s: f64,
    /// Expected distance from one burst to the next: the period, unless it has been growing or shrinking steadily.
    pub gap_s: f64,
    /// By how much it grows from burst to burst.
    pub drift_s: f64,
}

/// Why a hypothesis was believed.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Bytes per second above which the bandwidth counts as burst.
    pub threshold: f64,
    /// Pieces closer than this many seconds were taken for one burst.
    pub merge_distance_s: f64,
    /// Bursts on the chain.
    pub bursts: usize,
    /// Slots of the chain from its first to its last burst.
    pub slots: usize,
    /// Slots without a burst.
    pub empty_slots: usize,
    /// Bursts of the list inside the window that are not on the chain.
    pub left_over: usize,
    /// Root mean square deviation of the gaps, over the period.
    pub gap_deviation: f64,
    /// Root mean square distance of the onsets from a line, over the period.
    pub line_deviation: f64,
    /// Share of the bytes searched in this round that the hypothesis explains.
    pub share: f64,
    /// Log-likelihood ratio against bursts at random.
    pub score: f64,
    /// The judge's logit, agreement of other hypotheses included.
    pub logit: f64,
    /// The strongest rival period and its logit.
    pub runner_up: Option<(f64, f64)>,
}

/// The best hypothesis of a trace that is not periodic.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// Its period.
    pub period_s: f64,
    /// Probability that it is right; below the threshold of an answer.
    pub confidence: f64,
    /// First onset and last end of its bursts, on the trace's own clock.
    pub window: (f64, f64),
    /// What spoke for it.
    pub evidence: Evidence,
    /// The feature that cost it most, and how much of the logit.
    pub weakest: Option<(&'static str, f64)>,
}

/// Finds the periods of a profile.
///
/// Cost: about linear in the profile's breakpoints, plus the chain searches, which are bounded (see the limits in the
/// modules). The burst lists are searched in parallel on the current rayon pool; the answer does not depend on it.
pub fn detect(profile: &Profile, options: Options) -> Detection {
    let mut periods: Vec<Found> = Vec::new();
    let mut rejected = None;
    if let Some(weights) = judge::weights() {
        rounds(profile, weights, options, &mut |round| {
            let mut most = f64::INFINITY;
            for (i, extent) in &round.picks {
                let h = &round.hypotheses[*i];
                let mut found = found(profile, h, &round.lists[h.list], extent, evidence(&round, *i));
                // the rhythm inside bursts explains no more than the bursts do
                found.bytes = found.bytes.min(most);
                most = found.bytes;
                match periods.iter_mut().find(|a| (a.period_s / found.period_s).ln().abs() < SAME_PERIOD) {
                    Some(earlier) => earlier.take_in(found),
                    None => periods.push(found),
                }
            }
            if round.picks.is_empty() && round.number == 0 {
                let h = &round.hypotheses[round.winner];
                rejected = Some(Rejected {
                    period_s: h.period(),
                    confidence: h.confidence,
                    window: (h.window.0 + profile.origin(), h.window.1 + profile.origin()),
                    weakest: weights.costliest(h),
                    evidence: evidence(&round, round.winner),
                });
            }
        });
    }
    // the period that moves the most bytes, which need not be the one with the strongest evidence
    periods.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    let verdict = if periods.is_empty() { verdict::without_period(profile) } else { Verdict::Periodic };
    Detection { verdict, periods, rejected }
}

/// Prepares what every detection needs and none changes, the plans of its transforms and the judge's weights; else the first
/// detection does. Worth a thread while a trace is being read.
pub fn prepare() {
    judge::weights();
    for bins in [correlation::BINS, correlation::BINS_COARSE] {
        plans::forward(2 * bins);
    }
}

/// Cuts a profile into bursts: stretches of at least `threshold` bytes per second, those at most `merge_distance_s` apart taken
/// for one, as in [`Evidence`]. Times are seconds on the trace's own clock, bytes are all that lie in between.
pub fn cut(profile: &Profile, threshold: f64, merge_distance_s: f64) -> Vec<Burst> {
    let stretches = bursts::stretches(profile, threshold.max(f64::MIN_POSITIVE));
    let origin = profile.origin();
    bursts::merged(&stretches, merge_distance_s)
        .iter()
        .map(|s| Burst { start_s: s.start + origin, end_s: s.end + origin, bytes: s.after - s.before })
        .collect()
}

/// Periods of two rounds that differ by less than this, in log, are one period with several windows.
const SAME_PERIOD: f64 = 0.02;

impl Found {
    /// Adds the windows and bursts of the same period found again elsewhere: bursts of another strength, say.
    fn take_in(&mut self, other: Found) {
        self.cycles += other.cycles;
        self.bytes += other.bytes;
        self.bursts.extend(other.bursts);
        self.bursts.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let last = |windows: &[(f64, f64)]| windows.last().map_or(f64::NEG_INFINITY, |w| w.1);
        if last(&other.windows) > last(&self.windows) {
            self.next = other.next;
            self.flank_s = other.flank_s;
            self.places = other.places;
        }
        let windows = std::mem::take(&mut self.windows);
        self.windows = windows::join(windows.into_iter().chain(other.windows).collect());
    }
}

/// One search over what earlier rounds have left.
struct Round<'a> {
    number: usize,
    lists: Vec<BurstList>,
    hypotheses: Vec<Hypothesis>,
    /// Share of the trace's bytes left.
    bytes: f64,
    winner: usize,
    /// What is accepted, and where it holds: the winner if it is sure enough, and the period inside or around its bursts.
    /// The longer period comes first.
    picks: Vec<(usize, Extent)>,
    /// Periods found before.
    before: &'a [Taken],
}

/// A period that an earlier round has found.
struct Taken {
    period: f64,
    windows: Vec<(f64, f64)>,
}

/// Rounds end when less than this share of the bytes is left.
const LEAST_LEFT: f64 = 1e-3;

/// Searches, erases the winner's bursts, and searches again, until no hypothesis is sure enough.
fn rounds(profile: &Profile, weights: &judge::Weights, options: Options, report: &mut dyn FnMut(Round)) {
    let mut erased: Vec<(f64, f64)> = Vec::new();
    let mut rest: Option<Profile> = None;
    let mut taken: Vec<Taken> = Vec::new();
    for number in 0..options.most_periods {
        let left = rest.as_ref().unwrap_or(profile);
        if left.bytes() <= LEAST_LEFT * profile.bytes() {
            return;
        }
        let (lists, mut hypotheses) = hypotheses(left, &erased);
        weights.score(&mut hypotheses, number > 0);
        hypotheses.retain(|h| {
            h.period() >= options.shortest_period_s
                && h.window.1 - h.window.0 >= options.shortest_window_s
                && !taken.iter().any(|t| repeats(h, t))
        });
        let Some(winner) = judge::winner(&hypotheses) else {
            return;
        };
        let answer = weights.answer[usize::from(number > 0)];
        let mut chosen: Vec<usize> = Vec::new();
        if hypotheses[winner].confidence >= answer {
            chosen.push(winner);
            chosen.extend(nested::partner(&hypotheses, &lists, winner, answer));
            chosen.sort_by(|&a, &b| hypotheses[b].period().total_cmp(&hypotheses[a].period()));
            if let [long, short] = chosen[..]
                && let Some(period) = nested::period_inside(&hypotheses[short], &hypotheses[long], &lists)
            {
                hypotheses[short].fit.period = period;
            }
        }
        let picks: Vec<(usize, Extent)> =
            chosen.iter().map(|&i| (i, windows::extent(&hypotheses[i], &lists[hypotheses[i].list], left))).collect();
        let mut next = Vec::new();
        for (i, extent) in &picks {
            erased.extend(&extent.bursts);
            next.push(Taken { period: hypotheses[*i].period(), windows: extent.windows.clone() });
        }
        erased = windows::join(std::mem::take(&mut erased));
        let bytes = left.bytes();
        report(Round { number, lists, hypotheses, bytes, winner, picks, before: &taken });
        if next.is_empty() {
            return;
        }
        taken.extend(next);
        rest = Some(profile.without(&erased));
    }
}

/// From this many bursts on the autocorrelation needs finer bins.
const MANY_BURSTS: usize = 400;

/// All hypotheses about a profile from which intervals were erased.
fn hypotheses(profile: &Profile, erased: &[(f64, f64)]) -> (Vec<BurstList>, Vec<Hypothesis>) {
    let Some(levels) = Levels::of(profile) else {
        return Default::default();
    };
    let mut lists = bursts::burst_lists(profile, &levels, erased);
    let many = lists.iter().any(|list| list.merge > 0.0 && list.len() > MANY_BURSTS);
    let bins = if many { correlation::BINS_LONG } else { correlation::BINS };
    let duration = profile.duration();
    // the lists need no correlation to begin with
    let (searched, (fine, coarse)) = rayon::join(
        || -> Vec<Searched> { lists.par_iter().map(|list| Searched::at_gaps(list, erased, duration)).collect() },
        || {
            rayon::join(
                || Correlation::of(profile, erased, bins),
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
        grain: grain(profile),
    };
    let (found, waves) = rayon::join(
        || -> Vec<Vec<Hypothesis>> {
            let of_list = |(i, mut searched): (usize, Searched)| {
                searched.at_peaks(&correlated, duration);
                hypothesis::of_list(i, searched, &context)
            };
            searched.into_par_iter().enumerate().map(of_list).collect()
        },
        || {
            if erased.is_empty() { wave::waves(&correlated, &levels, lists.len(), &context) } else { Vec::new() }
        },
    );
    let mut found: Vec<Hypothesis> = found.into_iter().flatten().collect();
    for (list, hypothesis) in waves {
        lists.push(list);
        found.push(hypothesis);
    }
    (lists, found)
}

/// Most breakpoints looked at for a common grain.
const GRAIN_SAMPLE: usize = 4096;

/// Seconds of which (nearly) all breakpoints are multiples, as in a heat map of bins; 0 if there is no such grain.
fn grain(profile: &Profile) -> f64 {
    let times = profile.times();
    let sample = &times[..times.len().min(GRAIN_SAMPLE)];
    let smallest = sample.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    if !smallest.is_finite() || sample.len() < 4 {
        return 0.0;
    }
    let fits = |t: f64| ((t / smallest).round() * smallest - t).abs() <= 1e-3 * smallest + 1e-9 * t;
    let multiples = sample.windows(2).filter(|w| fits(w[1] - w[0])).count();
    if multiples as f64 >= 0.98 * (sample.len() - 1) as f64 { smallest } else { 0.0 }
}

/// Is this a period already found, in the same place: leftovers of the bursts that were taken out?
fn repeats(h: &Hypothesis, taken: &Taken) -> bool {
    let length = h.window.1 - h.window.0;
    if windows::overlap(h.window, &taken.windows) < 0.3 * length {
        return false;
    }
    let ratio = (h.period() / taken.period).max(taken.period / h.period());
    let whole = ratio.round();
    whole <= 2.0 && (ratio - whole).abs() < 0.03 * whole
}

fn evidence(round: &Round, best: usize) -> Evidence {
    let h = &round.hypotheses[best];
    let list = &round.lists[h.list];
    let slots = h.chain.slot_count();
    let inside = h.chain.last() + 1 - h.chain.first();
    Evidence {
        threshold: list.threshold,
        merge_distance_s: list.merge,
        bursts: h.chain.len(),
        slots,
        empty_slots: slots - h.chain.len(),
        left_over: inside - h.chain.len(),
        gap_deviation: h.fit.gap_deviation,
        line_deviation: h.fit.line_sd / h.period(),
        share: (h.bytes / round.bytes).min(1.0),
        score: h.score,
        logit: h.pooled,
        runner_up: judge::runner_up(&round.hypotheses, best)
            .map(|i| (round.hypotheses[i].period(), round.hypotheses[i].pooled)),
    }
}

fn found(profile: &Profile, h: &Hypothesis, list: &BurstList, extent: &Extent, evidence: Evidence) -> Found {
    let origin = profile.origin();
    // bytes of what a burst has been widened by
    let flank = |from: f64, to: f64| {
        (profile.bytes_until(to) - profile.bytes_until(from) - list.background * (to - from)).max(0.0)
    };
    let bursts: Vec<Burst> = extent
        .members
        .iter()
        .zip(&extent.bursts)
        .map(|(&i, b)| Burst {
            start_s: b.0 + origin,
            end_s: b.1 + origin,
            bytes: list.bytes[i] + flank(b.0, list.start[i]) + flank(list.end[i], b.1),
        })
        .collect();
    let flanked: f64 = extent.members.iter().zip(&bursts).map(|(&i, b)| b.bytes - list.bytes[i]).sum();
    let further: f64 = extent
        .windows
        .iter()
        .filter(|w| windows::overlap(h.window, &[**w]) == 0.0)
        .map(|w| (w.1 - w.0) / h.period())
        .sum();
    let flanks: Vec<f64> = extent.members.iter().zip(&extent.bursts).map(|(&i, b)| list.start[i] - b.0).collect();
    let next = next_burst(h, list, extent);
    let on_clock = |next: Next| Next { start_s: next.start_s + origin, ..next };
    let places = if h.slots_per_period > 1 { next_at_places(h, list) } else { vec![next] };
    Found {
        period_s: h.period(),
        period_std_s: h.fit.period_std,
        confidence: h.confidence,
        cycles: h.cycles() + further.round() as usize,
        windows: extent.windows.iter().map(|w| (w.0 + origin, w.1 + origin)).collect(),
        bursts,
        bytes: extent.bytes + flanked,
        clock: h.fit.clock,
        kind: h.kind,
        next: on_clock(next),
        flank_s: stats::median(&flanks),
        places: places.into_iter().map(on_clock).collect(),
        evidence,
    }
}

/// One period after the last burst, or what a trend of the distances makes of it. On a grid without a trend the line predicts
/// better than its last point.
fn next_burst(h: &Hypothesis, list: &BurstList, extent: &Extent) -> Next {
    let last = extent.members.last().map_or(h.window.1, |&i| list.start[i]);
    let fit = &h.fit;
    let m = h.slots_per_period;
    let step = fit.period / m as f64;
    let own_window_is_last = extent.windows.last().is_some_and(|w| w.0 <= h.window.0);
    let trend = if own_window_is_last { trend_of(h, list) } else { None };
    if m > 1 || trend.is_some() || !own_window_is_last || fit.clock == Clock::Walk {
        // bursts of a compound are not evenly spaced: the same place of the last period, one period on
        let place = h.chain.len().saturating_sub(m);
        let anchor = if m > 1 { h.chain.members.get(place).map_or(last, |&i| list.start[i as usize]) } else { last };
        if let Some(trend) = trend {
            return Next { start_s: anchor + trend.gap, std_s: trend.std, gap_s: trend.gap, drift_s: trend.slope };
        }
        let sd = if fit.clock == Clock::Grid { std::f64::consts::SQRT_2 * fit.line_sd } else { fit.gap_sd };
        return Next { start_s: anchor + fit.period, std_s: sd.hypot(fit.period_std), gap_s: fit.period, drift_s: 0.0 };
    }
    let n = h.chain.len() as f64;
    let ahead = h.chain.slot_count() as f64;
    let from_middle = 0.5 * (ahead - 1.0) + 1.0;
    let std_s = (fit.line_sd * fit.line_sd * (1.0 + 1.0 / n) + (from_middle * fit.period_std).powi(2)).sqrt();
    Next { start_s: fit.phase + ahead * step, std_s, gap_s: fit.period, drift_s: 0.0 }
}

/// Each place of a compound by itself: the bursts there that came in earlier periods tell when the next one is due.
fn next_at_places(h: &Hypothesis, list: &BurstList) -> Vec<Next> {
    (0..h.slots_per_period).filter_map(|place| next_at(h, &onsets_at(h, list, place))).collect()
}

/// One period after the last burst of a place.
fn next_at(h: &Hypothesis, (onsets, slots): &(Vec<f64>, Vec<f64>)) -> Option<Next> {
    let (last, k) = (*onsets.last()?, *slots.last()?);
    if let Some(trend) = fit::trend(onsets, slots) {
        return Some(Next { start_s: last + trend.gap, std_s: trend.std, gap_s: trend.gap, drift_s: trend.slope });
    }
    let gap_s = h.fit.period;
    let next = |start_s: f64, std_s: f64| Next { start_s, std_s, gap_s, drift_s: 0.0 };
    if onsets.len() < 2 {
        return Some(next(last + gap_s, h.fit.gap_sd));
    }
    let fit = fit::fit(onsets, slots);
    Some(match fit.clock {
        Clock::Grid => next(fit.phase + (k + 1.0) * fit.period, fit.line_sd),
        Clock::Walk => next(last + gap_s, fit.gap_sd),
    })
}

/// Onsets of a chain at one place of its period, and the number of the period of each.
fn onsets_at(h: &Hypothesis, list: &BurstList, place: usize) -> (Vec<f64>, Vec<f64>) {
    let m = h.slots_per_period;
    let there = h.chain.members.iter().zip(&h.chain.slots).filter(|(_, k)| **k as usize % m == place);
    there.map(|(&i, &k)| (list.start[i as usize], f64::from(k / m as u32))).unzip()
}

/// The trend of the periods of a chain: of the distances between bursts at the same place of the period, the one that comes
/// next.
fn trend_of(h: &Hypothesis, list: &BurstList) -> Option<fit::Trend> {
    let m = h.slots_per_period;
    let place = *h.chain.slots.get(h.chain.len().checked_sub(m)?)? as usize % m;
    let (onsets, slots) = onsets_at(h, list, place);
    fit::trend(&onsets, &slots)
}

/// What the judge is trained on: the hypotheses of one round, as plain numbers.
#[doc(hidden)]
#[derive(Debug, serde::Serialize)]
pub struct TrainingRound {
    /// Periods and windows (relative to the first start) that earlier rounds have taken.
    pub taken: Vec<(f64, Vec<(f64, f64)>)>,
    /// Index of the winner and whether it was accepted.
    pub winner: usize,
    pub accepted: bool,
    /// Period, window and features of every hypothesis.
    pub hypotheses: Vec<(f64, (f64, f64), Vec<f32>)>,
}

/// The hypotheses of every round, for `scripts/train_judge.py`.
#[doc(hidden)]
pub fn training_rounds(profile: &Profile, options: Options) -> Vec<TrainingRound> {
    let mut out = Vec::new();
    if let Some(weights) = judge::weights() {
        rounds(profile, weights, options, &mut |round| {
            out.push(TrainingRound {
                taken: round.before.iter().map(|t| (t.period, t.windows.clone())).collect(),
                winner: round.winner,
                accepted: !round.picks.is_empty(),
                hypotheses: round
                    .hypotheses
                    .iter()
                    .map(|h| (h.period(), h.window, h.features.iter().map(|&x| x as f32).collect()))
                    .collect(),
            });
        });
    }
    out
}

/// Version of the recipe the judge was trained with (`docs/confidence.md`); `None` if its weights do not fit the features.
pub fn recipe_version() -> Option<u32> {
    judge::weights().map(|w| w.version)
}

/// Names of the features of [`TrainingRound`].
#[doc(hidden)]
pub fn feature_names() -> &'static [&'static str] {
    &hypothesis::FEATURES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Span;

    #[test]
    fn the_weights_fit_the_features() {
        assert!(recipe_version().is_some_and(|v| v > 0));
    }

    #[test]
    fn a_grain_is_found_only_where_there_is_one() {
        let bins = Profile::from_spans([0, 1, 5, 6, 11].map(|i| Span {
            start: 0.4 * f64::from(i),
            end: 0.4 * f64::from(i + 1),
            bytes: f64::from(i + 1),
        }));
        assert!((grain(&bins) - 0.4).abs() < 1e-9);
        let free = Profile::from_spans([0.0, 1.7, 5.1, 7.3].map(|t| Span { start: t, end: t + 0.3333, bytes: 1.0 }));
        assert_eq!(grain(&free), 0.0);
    }
}
