//! A hypothesis, "these bursts have this period", and its features for the classifier.

use super::bursts::BurstList;
use super::correlation::Correlation;
use super::evidence;
use super::fit::Fit;
use super::multiples::{self, Multiples};
use super::search::{self, Chain, Scored, Trial};
use super::stats::{Line, deviation, mean, median};
use super::stretches;
use super::trials;
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::sync::Arc;

/// How a hypothesis explains the bursts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bursts at multiples of the period; others may lie in between.
    Chain,
    /// Every burst of the list in order, one cycle each: repeated work whose length varies.
    EveryBurst,
    /// Several bursts per period, which keep their places in it.
    Compound,
    /// A smooth modulation of the bandwidth; there need not be bursts at all.
    Modulation,
    /// Pieces of the bursts of a longer period, which follow each other evenly.
    Inside,
}

/// Names of the classifier's features, in the order of [`Hypothesis::features`].
pub(crate) const FEATURES: [&str; 34] = [
    "score",
    "bursts",
    "share",
    "share_in_window",
    "share_of_list",
    "span",
    "fill",
    "gap_deviation",
    "line_deviation",
    "size_mad",
    "size_sd",
    "correlation",
    "coarse_correlation",
    "part_correlation",
    "multiple_correlation",
    "valley",
    "cut",
    "dip",
    "gap_fold",
    "size_fold",
    "gap_shape",
    "gap_memory",
    "gap_skew",
    "gap_evidence",
    "cut_evidence",
    "fold_evidence",
    "trend_deviation",
    "duty",
    "grain",
    "left_over",
    "every_burst",
    "compound",
    "wave",
    "further",
];

/// Context shared by all hypotheses of one profile.
pub(crate) struct Context<'a> {
    pub profile: &'a Profile,
    pub correlation: Option<&'a Correlation>,
    /// The same in coarser bins, which sees bursts of many short requests as a whole.
    pub coarse: Option<&'a Correlation>,
    /// Bytes that are left in this round.
    pub bytes: f64,
    /// Earlier rounds have taken a period already.
    pub further: bool,
    /// Resolution of the time stamps in seconds; 0 if there is none.
    pub grain: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Hypothesis {
    pub kind: Kind,
    /// Index of the burst list.
    pub list: usize,
    pub chain: Arc<Chain>,
    /// Slots of the chain that make up one period; above 1 for compounds only.
    pub slots_per_period: usize,
    pub fit: Fit,
    pub tolerance: f64,
    pub extra: f64,
    /// First onset and last end, seconds since the origin.
    pub window: (f64, f64),
    /// Bytes that the hypothesis explains.
    pub bytes: f64,
    pub features: [f64; FEATURES.len()],
    pub judged: Judgment,
}

/// The classifier's opinion of a hypothesis; all 0 until it was asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Judgment {
    pub logit: f64,
    /// The logit, with the agreement of other hypotheses on the period added.
    pub pooled: f64,
    pub confidence: f64,
}

impl Hypothesis {
    pub fn period(&self) -> f64 {
        self.fit.period
    }

    /// Seconds from the first onset to the last end.
    pub fn held(&self) -> f64 {
        self.window.1 - self.window.0
    }

    /// Probability that the next burst is due within [`LIMITS`]`.regular` periods (one standard deviation): what makes bursts periodic.
    ///
    /// The spread is that of the gaps or, on a clock, of the onsets around their line. Of n gaps with the standard
    /// deviation s, (n - 1) s^2 / sigma^2 has a chi-squared distribution (prior 1/sigma).
    pub fn regular(&self) -> f64 {
        let gaps = self.chain.len() as f64 - 1.0;
        if self.kind == Kind::Modulation || gaps < 2.0 {
            return 1.0;
        }
        let spread = if gaps < 5.0 { self.fit.gap_sd } else { self.fit.gap_sd.min(self.fit.line_sd) };
        let ratio = spread / self.period() / LIMITS.regular;
        if ratio < 0.2 {
            return 1.0;
        }
        let freedom = gaps - 1.0;
        ChiSquared::new(freedom).map_or(1.0, |chi| chi.sf(freedom * ratio * ratio))
    }

    /// Whether the gaps alone tell the period, whatever share of the bytes it has: nearly all bursts of the list follow it throughout the
    /// run, they are alike, and chance makes no such gaps.
    pub fn is_carried_by_gaps(&self) -> bool {
        let feature = |name: &str| FEATURES.iter().position(|f| *f == name).map_or(f64::NAN, |i| self.features[i]);
        matches!(self.kind, Kind::Chain | Kind::EveryBurst)
            && feature("gap_evidence").min(feature("cut_evidence")) >= LIMITS.gaps_alone
            && feature("span") >= 0.9
            && feature("fill") >= 0.85
            && feature("left_over") <= 0.15
            && feature("size_sd") < 0.3
            && feature("dip") > 0.5
            // gaps that wander have a memory
            && feature("gap_memory") < 3.0
    }

    /// Periods from the first to the last burst, both counted.
    pub fn cycles(&self) -> usize {
        self.chain.slot_count().div_ceil(self.slots_per_period)
    }
}

/// A burst list and the chains found in it so far.
pub(crate) struct Searched<'a> {
    list: &'a BurstList,
    search: search::Search<'a>,
    trials: Vec<f64>,
    found: Vec<Explained>,
}

impl<'a> Searched<'a> {
    /// Searches at the periods of the list's own gaps.
    pub fn at_gaps(list: &'a BurstList) -> Self {
        let trials = trials::from_gaps(list);
        let mut searched = Self { list, search: search::Search::new(list), trials, found: Vec::new() };
        searched.go_on(0);
        searched
    }

    /// Searches at those of the autocorrelation too.
    pub fn at_peaks(&mut self, correlated: &[f64]) {
        let done = self.trials.len();
        trials::add_correlated(&mut self.trials, self.list, correlated);
        self.go_on(done);
    }

    fn go_on(&mut self, from: usize) {
        for &period in &self.trials[from..] {
            for scored in self.search.chains_at(period) {
                // many trial periods end on the same chain
                let same = |e: &Explained| {
                    let known = &e.scored;
                    Arc::ptr_eq(&known.chain, &scored.chain)
                        && (known.tolerance, known.extra) == (scored.tolerance, scored.extra)
                };
                if !self.found.iter().any(same) {
                    self.found.push(Explained::of(self.list, scored));
                }
            }
        }
    }
}

/// Every hypothesis that one burst list, the one with this index, offers: the best chains for each trial period, their
/// compounds, and the list as a whole.
pub(crate) fn of_list(index: usize, searched: Searched, context: &Context) -> Vec<Hypothesis> {
    let Searched { list, found, .. } = searched;
    let source = Source { index, list, context, stamp: context.grain.max(list.stamp()) };
    // most chains are not kept, so the costly features come last
    let chains = best_of(found).into_iter().map(|explained| (Kind::Chain, explained));
    let whole = if !context.further && list.len() <= MOST_IN_ORDER { source.every_burst() } else { None };
    let kept: Vec<(Hypothesis, Multiples)> = chains
        .chain(whole.map(|explained| (Kind::EveryBurst, explained)))
        .flat_map(|(kind, explained)| source.stretches(kind, explained))
        .map(|(kind, explained)| {
            let multiples = multiples::of(list, &explained.scored.chain, &explained.scored.fit, source.stamp);
            (source.describe(kind, explained, 1, multiples), multiples)
        })
        .collect();
    let compounds: Vec<Hypothesis> = kept.iter().filter_map(|(h, multiples)| source.compound(h, *multiples)).collect();
    kept.into_iter().map(|(h, _)| h).chain(compounds).collect()
}

/// Chains kept per list and ranking.
const KEPT: usize = 4;
/// Lists longer than this are not tried as "every burst is a cycle".
const MOST_IN_ORDER: usize = 20_000;

/// The best by score and the best by score times share, with periods apart from each other.
fn best_of(found: Vec<Explained>) -> Vec<Explained> {
    let mut keep: Vec<usize> = Vec::new();
    let by_score = |e: &Explained| e.scored.score;
    let by_share = |e: &Explained| e.scored.score * e.of_chain;
    for value in [&by_score as &dyn Fn(&Explained) -> f64, &by_share] {
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| value(&found[b]).total_cmp(&value(&found[a])).then(a.cmp(&b)));
        let mut chosen: Vec<usize> = Vec::new();
        for i in order {
            let apart = |&j: &usize| {
                let (a, b) = (&found[i].scored, &found[j].scored);
                (a.fit.period / b.fit.period).ln().abs() > 0.01 || a.chain.len() as f64 > 1.1 * b.chain.len() as f64
            };
            if chosen.iter().all(apart) {
                chosen.push(i);
            }
            if chosen.len() == KEPT {
                break;
            }
        }
        for i in chosen {
            if !keep.contains(&i) {
                keep.push(i);
            }
        }
    }
    let mut found: Vec<Option<Explained>> = found.into_iter().map(Some).collect();
    keep.into_iter().filter_map(|i| found[i].take()).collect()
}

/// Features beyond fit, score and window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traits {
    /// Explained bytes over the bytes of the trace (waves: share of the variance).
    pub share: f64,
    /// Explained bytes over the bytes in the window (waves: median likeness of the cycles).
    pub share_in_window: f64,
    /// Explained bytes over the bytes of the list in the window (waves: share of cycles alike).
    pub share_of_list: f64,
    /// Bursts over slots.
    pub fill: f64,
    /// Median absolute deviation of the log sizes.
    pub size_mad: f64,
    /// Standard deviation of the log sizes.
    pub size_sd: f64,
    /// How natural the list's merge distance is (modulations: line above the continuum).
    pub cut: f64,
    /// How far the rate falls between the bursts.
    pub dip: f64,
    pub multiples: Multiples,
    /// See [`GapStatistics`].
    pub gap_shape: f64,
    pub gap_memory: f64,
    pub gap_skew: f64,
    /// See [`evidence`].
    pub evidence: [f64; 2],
    /// By how much it is larger with several places in a period than with one.
    pub fold_evidence: f64,
    /// Root mean square deviation of the gaps from a straight trend, over the period.
    pub trend_deviation: f64,
    /// Busy share of the window (waves: share of the fundamental).
    pub duty: f64,
    /// Periods with a burst.
    pub cycles: f64,
    /// ln of the list's bursts over those of the chain.
    pub left_over: f64,
}

/// Correlation of the signal at a period, and how that compares with its parts and multiples.
#[derive(Default)]
struct Repetition {
    correlation: f64,
    /// How much higher it is at the best multiple.
    multiple: f64,
    /// Correlation at the best part of the period, over that at the period.
    part: f64,
    /// Depth of the valley between two repetitions.
    valley: f64,
    /// Correlation in coarse bins.
    coarse: f64,
}

impl Repetition {
    fn of(period: f64, context: &Context) -> Self {
        let mut found = Self::default();
        if let Some(c) = context.correlation {
            found.correlation = c.near(period);
            let highest = (2..=6).map(|m| c.near(f64::from(m) * period)).fold(f64::MIN, f64::max);
            found.multiple = (highest - found.correlation).max(0.0);
            let hills = (2..=6).map(|m| c.hill(period / f64::from(m))).fold(0.0, f64::max);
            found.part = (hills / found.correlation.max(0.05)).min(1.2);
            found.valley = found.correlation - c.valley(period);
        }
        found.coarse = match context.coarse {
            Some(c) if period > 16.0 * c.width => c.near(period),
            _ => found.correlation,
        };
        found
    }
}

/// The classifier's features of a hypothesis, in the order of [`FEATURES`].
pub(crate) fn features(
    kind: Kind,
    fit: &Fit,
    score: f64,
    window: (f64, f64),
    traits: &Traits,
    (context, stamp): (&Context, f64),
) -> [f64; FEATURES.len()] {
    let period = fit.period;
    let repetition = Repetition::of(period, context);
    // rounded time stamps deviate by their rounding, which is no property of the clock
    let grain = context.grain / period;
    let stamp = stamp / period;
    let without_grain =
        |deviation: f64, variance: f64| (deviation * deviation - variance * stamp * stamp).max(0.0).sqrt();
    let gap_deviation = without_grain(fit.gap_deviation, 1.0 / 6.0);
    let line_deviation = without_grain(fit.line_sd / period, 1.0 / 12.0);
    let length = window.1 - window.0;
    let flag = |k: Kind| f64::from(u8::from(kind == k));
    [
        score.max(0.0).ln_1p(),
        traits.cycles.ln(),
        traits.share,
        traits.share_in_window,
        traits.share_of_list,
        (length / context.profile.duration()).clamp(0.0, 1.0).sqrt(),
        traits.fill,
        (gap_deviation + 0.005).ln(),
        (line_deviation + 0.005).ln(),
        traits.size_mad.min(3.0),
        traits.size_sd.min(1.5),
        repetition.correlation,
        repetition.coarse,
        repetition.part,
        repetition.multiple,
        repetition.valley,
        traits.cut,
        traits.dip,
        traits.multiples.gaps,
        traits.multiples.sizes,
        traits.gap_shape,
        traits.gap_memory,
        traits.gap_skew,
        traits.evidence[0],
        traits.evidence[1],
        traits.fold_evidence,
        (without_grain(traits.trend_deviation, 1.0 / 6.0) + 0.005).ln(),
        traits.duty,
        (grain + 1e-4).ln(),
        traits.left_over,
        flag(Kind::EveryBurst),
        flag(Kind::Compound),
        flag(Kind::Modulation),
        f64::from(u8::from(context.further)),
    ]
}

/// A chain and the bytes it explains.
struct Explained {
    scored: Scored,
    /// First onset and last end, seconds since the origin.
    window: (f64, f64),
    /// Bytes of the chain's bursts.
    of_chain: f64,
    /// Bytes of the list's bursts in the window.
    of_list: f64,
}

impl Explained {
    fn of(list: &BurstList, scored: Scored) -> Self {
        let chain = &scored.chain;
        let (first, last) = (chain.first(), chain.last());
        let window = (list.start[first], list.end[last]);
        let of_chain: f64 = chain.indices().map(|i| list.bytes[i]).sum();
        let of_list: f64 = list.bytes[first..=last].iter().sum();
        Self { scored, window, of_chain, of_list }
    }
}

/// A burst list, its index, and the profile it was cut from.
struct Source<'a> {
    index: usize,
    list: &'a BurstList,
    context: &'a Context<'a>,
    /// Seconds to which onsets are rounded.
    stamp: f64,
}

impl Source<'_> {
    /// A chain, or its stretches if its gaps change from one to the next.
    fn stretches(&self, kind: Kind, whole: Explained) -> Vec<(Kind, Explained)> {
        match stretches::of_one_gap(self.list, &whole.scored) {
            parts if parts.is_empty() => vec![(kind, whole)],
            parts => parts.into_iter().map(|scored| (Kind::Chain, Explained::of(self.list, scored))).collect(),
        }
    }

    /// All bursts in order, one cycle each: finds periods whose cycles vary by 20 to 40 %.
    fn every_burst(&self) -> Option<Explained> {
        let list = self.list;
        let n = list.len() as u32;
        let mut chain = Chain { members: (0..n).collect(), slots: (0..n).collect() };
        // a burst longer than the period is a stretch of something else: dropping it changes the period
        loop {
            let before = chain.len();
            let period = chain.fit(list).period;
            chain.drop_long_ends(list, period, before.saturating_sub(1).max(3));
            if chain.len() == before {
                break;
            }
        }
        let fit = chain.fit(list);
        if !(fit.period > 0.0 && fit.period.is_finite()) {
            return None;
        }
        let tolerance = fit.gap_deviation.max(0.01);
        // every burst is a cycle: nothing was passed over, and all idle time is explained
        let trial = Trial { period: fit.period, tolerance, extra: search::ANYTHING };
        let (first, last) = (chain.first(), chain.last());
        let mean_idle = list.mean_gap(first, last).max(1e-6 * fit.period);
        let score = search::local_score(list, &chain, chain.onsets(list), trial)
            + (list.idle[last] - list.idle[first]) / mean_idle;
        let scored = Scored { chain: Arc::new(chain), fit, score, tolerance, extra: 0.0 };
        Some(Explained::of(list, scored))
    }

    /// The same bursts, with a period of several slots, if gaps or sizes repeat with that many.
    fn compound(&self, base: &Hypothesis, multiples: Multiples) -> Option<Hypothesis> {
        let list = self.list;
        let slots = multiples.slots?;
        let onsets = multiples::aligned(list, &base.chain, slots, base.period());
        let per_slot = super::fit::fit(&onsets, &base.chain.slot_numbers());
        let m = slots as f64;
        let tolerance = per_slot.gap_deviation.max(LIMITS.tolerances[0]);
        let trial = Trial { period: per_slot.period, tolerance, extra: LIMITS.rare };
        // each further place in the period is a free parameter
        let price = 0.5 * (m - 1.0) * (onsets.len() as f64).ln();
        let score = search::local_score(list, &base.chain, onsets.iter().copied(), trial) - price;
        let fit = Fit {
            period: per_slot.period * m,
            period_std: per_slot.period_std * m,
            gap_deviation: per_slot.gap_deviation / m,
            ..per_slot
        };
        if base.chain.slot_count() < 2 * slots + 1 || fit.period * 1.5 > self.context.profile.duration() {
            return None;
        }
        let scored = Scored { chain: base.chain.clone(), fit, score, tolerance: tolerance / m, extra: base.extra };
        let explained = Explained::of(list, scored);
        Some(self.describe(Kind::Compound, explained, slots, multiples))
    }

    /// Works out the features of a chain.
    fn describe(&self, kind: Kind, explained: Explained, slots_per_period: usize, multiples: Multiples) -> Hypothesis {
        let Source { index, list, context, stamp } = *self;
        let Explained { scored, window, of_chain, of_list } = explained;
        let Scored { chain, fit, score, tolerance, extra } = scored;
        let profile = context.profile;
        let length = (window.1 - window.0).max(1e-12);
        let sizes: Vec<f64> = chain.indices().map(|i| list.bytes[i]).collect();
        let in_window = profile.bytes_until(window.1) - profile.bytes_until(window.0);
        let busy: f64 = chain.indices().map(|i| list.end[i] - list.start[i]).sum();
        let rate_inside = of_chain / busy.max(1e-12) + list.background;
        let rate_between =
            (in_window - of_chain - list.background * busy).max(0.0) / (length - busy).max(1e-9 * length);
        let logs: Vec<f64> = sizes.iter().map(|b| b.max(1e-300).ln()).collect();
        let middle = median(&logs);
        let gaps = if kind == Kind::Compound {
            GapStatistics { trend_deviation: fit.gap_deviation, ..GapStatistics::default() }
        } else {
            GapStatistics::of(list, &chain, &fit)
        };
        let slot = fit.period / slots_per_period as f64;
        let plain = gap_evidence(list, &chain, slot, 1);
        let folded = multiples.slots.map_or(plain, |places| gap_evidence(list, &chain, slot, places));
        let n = chain.len() as f64;
        let traits = Traits {
            share: of_chain / context.bytes,
            share_in_window: of_chain / in_window.max(1e-300),
            share_of_list: of_chain / of_list.max(1e-300),
            fill: n / chain.slot_count() as f64,
            size_mad: median(&logs.iter().map(|l| (l - middle).abs()).collect::<Vec<_>>()),
            size_sd: deviation(&logs),
            cut: list.cut,
            dip: (1.0 - rate_between / rate_inside.max(1e-300)).clamp(-1.0, 1.0),
            multiples,
            gap_shape: gaps.shape,
            gap_memory: gaps.memory,
            gap_skew: gaps.skew,
            evidence: if kind == Kind::Compound { folded } else { plain }.map(evidence::within_reach),
            fold_evidence: evidence::within_reach(folded[0] - plain[0]),
            trend_deviation: gaps.trend_deviation,
            duty: (busy / length).min(1.0),
            cycles: n / slots_per_period as f64,
            left_over: (list.len() as f64 / n).ln(),
        };
        Hypothesis {
            kind,
            list: index,
            features: features(kind, &fit, score, window, &traits, (context, stamp)),
            chain,
            slots_per_period,
            fit,
            tolerance,
            extra,
            window,
            bytes: of_chain,
            judged: Judgment::default(),
        }
    }
}

/// See [`evidence`]; of a chain of `slot` seconds with one place a period or several.
fn gap_evidence(list: &BurstList, chain: &Chain, slot: f64, places: usize) -> [f64; 2] {
    let between = |w: &[u32]| (list.start[w[1] as usize] - list.end[w[0] as usize]).max(0.0);
    let idle: Vec<f64> = chain.members.windows(2).map(between).collect();
    let onsets = if places > 1 { multiples::aligned(list, chain, places, slot) } else { chain.onsets(list).collect() };
    evidence::of_gaps(&onsets, &chain.slot_numbers(), &idle, list.merge, places)
}

/// How the gaps of a chain are distributed.
#[derive(Debug, Clone, Copy, Default)]
struct GapStatistics {
    /// ln mean - mean ln of the idle gaps: 0 for equal gaps, 0.577 for exponential ones.
    shape: f64,
    /// Correlation of successive gaps times sqrt n: about -sqrt(n)/2 for a jittered grid, near 0 for independent gaps.
    memory: f64,
    /// Skewness of the gaps over its standard error, sqrt(6/n), for normal ones: large where a few pauses are far longer.
    skew: f64,
    /// Root mean square deviation of the gaps from a straight trend, over the period: small for a period that drifts.
    trend_deviation: f64,
}

impl GapStatistics {
    fn of(list: &BurstList, chain: &Chain, fit: &Fit) -> Self {
        let mut idle = Vec::with_capacity(chain.len());
        let mut gaps = Vec::with_capacity(chain.len());
        for (m, k) in chain.members.windows(2).zip(chain.slots.windows(2)) {
            if k[1] - k[0] == 1 {
                let (a, b) = (m[0] as usize, m[1] as usize);
                gaps.push(list.start[b] - list.start[a]);
                idle.push((list.start[b] - list.end[a]).max(1e-3 * fit.period));
            }
        }
        let n = gaps.len() as f64;
        if gaps.len() < 3 {
            return Self { trend_deviation: fit.gap_deviation, ..Self::default() };
        }
        let shape = (mean(&idle).ln() - mean(&idle.iter().map(|g| g.ln()).collect::<Vec<_>>())).clamp(0.0, 2.0);
        let m = mean(&gaps);
        let power: f64 = gaps.iter().map(|g| (g - m) * (g - m)).sum();
        let lagged: f64 = gaps.windows(2).map(|w| (w[0] - m) * (w[1] - m)).sum();
        // deviations far below the period are clock noise: no memory worth the name
        let floor = n * (1e-3 * fit.period).powi(2);
        let memory = (lagged / (power + floor) * n.sqrt()).clamp(-4.0, 4.0);
        let cubes: f64 = gaps.iter().map(|g| (g - m).powi(3)).sum();
        let skew = (cubes / n / ((power + floor) / n).powf(1.5) * (n / 6.0).sqrt()).clamp(-6.0, 6.0);
        let line = Line::through(gaps.iter().enumerate().map(|(i, g)| (i as f64, *g)));
        let trend_deviation = line.variance().sqrt() / fit.period;
        Self { shape, memory, skew, trend_deviation }
    }
}
