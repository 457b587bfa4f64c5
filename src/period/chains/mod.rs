//! The default period detector: chains of bursts.
//!
//! The bandwidth is cut into bursts in a dozen ways (`bursts`). Each list of bursts, and the autocorrelation of the
//! signal, propose trial periods (`trials`, `correlation`). For each of them dynamic programming finds the best chain
//! of bursts that follow each other at multiples of the period (`search`); a line through its onsets gives period, phase
//! and error (`fit`). A trained classifier weighs all hypotheses against each other and against "none" (`classifier`); its
//! probability is calibrated (`docs/confidence.md`). The bursts of the winner are then erased and the search is repeated
//! for further periods (`windows`). Parts of one output, found in several rounds, are reported as one burst (`outputs`).
//!
//! Onsets are exact to the trace's clock, so no spectral bin limits the period: its error is that of a regression line.

mod bins;
mod bursts;
mod classifier;
mod correlation;
mod evidence;
mod fit;
mod found;
mod hypothesis;
mod iterations;
mod modulation;
mod multiples;
mod nested;
mod outputs;
mod search;
mod stats;
mod stretches;
#[cfg(test)]
mod tests;
pub(crate) mod thresholds;
#[cfg(feature = "training")]
mod training;
mod trials;
mod verdict;
mod windows;

pub use crate::period::Burst;
pub use fit::Clock;
pub(super) use found::next_of;
pub use hypothesis::Kind;
#[cfg(feature = "training")]
pub use training::{TrainingRound, feature_names, training_rounds};

use crate::period::chains::thresholds::LIMITS;
use crate::period::{Spread, Verdict};
use crate::signal::profile::Profile;
use crate::transform::plans;

/// Parameters of [`detect`].
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Most periods to report.
    pub most_periods: usize,
    /// Shortest stretch in seconds over which a period must hold without a break. Shorter ones are the rhythm of
    /// the requests inside a burst, not that of the job.
    pub shortest_window_s: f64,
    /// Shortest period in seconds that is searched.
    pub shortest_period_s: f64,
    /// Shorter periods in seconds are found, so that their multiples are not taken for periods, and left out.
    pub least_reported_s: f64,
    /// Width in seconds of the bins that the profile was made from; `None` for requests.
    pub bin_s: Option<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_periods: 3, shortest_window_s: 0.0, shortest_period_s: 0.0, least_reported_s: 0.0, bin_s: None }
    }
}

impl Options {
    /// For a run of `run_s` seconds.
    pub fn for_run(run_s: f64) -> Self {
        Self {
            shortest_window_s: LIMITS.shortest_window * run_s,
            shortest_period_s: LIMITS.shortest_period_s,
            ..Self::default()
        }
    }

    /// The same, of a profile made from bins of this many seconds.
    #[must_use]
    pub fn in_bins(self, bin_s: Option<f64>) -> Self {
        Self { bin_s: bin_s.filter(|w| *w > 0.0), ..self }
    }

    /// The same, with shorter periods than this left out.
    #[must_use]
    pub fn no_shorter_than(self, period_s: Option<f64>) -> Self {
        let least_reported_s = period_s.unwrap_or(0.0);
        // who asks for a period wants it searched
        let shortest = self.shortest_period_s;
        let shortest_period_s = period_s.filter(|p| *p > 0.0).map_or(shortest, |p| shortest.min(p));
        Self { least_reported_s, shortest_period_s, ..self }
    }
}

/// The answer for one profile.
#[derive(Debug, Clone)]
pub struct BurstPeriods {
    /// Periodic, or why not.
    pub verdict: Verdict,
    /// Every period found, the one that moves the most bytes first; `BurstPeriods::lead_with_latest` changes that.
    pub periods: Vec<BurstPeriod>,
    /// If no period was found: the best hypothesis that was turned down.
    pub rejected: Option<Rejected>,
    /// A period shorter than those reported, which rules over the run.
    pub too_fast_s: Option<f64>,
    /// If bins are too wide to tell: the periods that agree with them, the likeliest first.
    pub relatives: Vec<Rejected>,
    /// Width in seconds of the bins that the answer takes into account.
    pub bin_s: Option<f64>,
    /// If only the last bursts of a long run were searched: how many, and of how many.
    pub latest: Option<(usize, usize)>,
}

/// A period that holds, with everything known about it. Times are seconds on the trace's own clock.
#[derive(Debug, Clone)]
pub struct BurstPeriod {
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
    /// Onset of the burst that has begun and goes on where the data end.
    pub under_way: Option<f64>,
    /// Seconds by which bursts begin before that onset, their rise time: the median.
    pub rise_s: f64,
    /// Standard deviation of these times.
    pub rise_std_s: f64,
    /// Width of the bins from which period and onsets were fitted. The bursts of the profile begin up to this long before those onsets.
    pub bin_s: Option<f64>,
    /// The next burst at each place of the period, in the order of the places: several if a period holds several bursts.
    pub places: Vec<Next>,
    /// Bytes per second above which the bandwidth counts as burst.
    pub threshold: f64,
    /// Pieces closer than this many seconds were taken for one burst.
    pub merge_distance_s: f64,
    /// The classifier's logit, agreement of other hypotheses included.
    pub logit: f64,
    /// The strongest rival period and its logit.
    pub runner_up: Option<(f64, f64)>,
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
    /// Expected bytes.
    pub bytes: f64,
}

impl Next {
    /// The same if it has not begun at `end_s`, where the data end: a burst that is late comes later than that, one that did not come at
    /// all has left its place empty.
    pub(super) fn after(self, end_s: f64) -> Next {
        let Next { mut start_s, std_s, gap_s, .. } = self;
        if gap_s.is_nan() || gap_s <= 0.0 {
            return self;
        }
        let late = end_s - start_s;
        if late > 3.0 * std_s {
            start_s += gap_s * (late / gap_s).ceil();
        }
        if start_s > end_s + 3.0 * std_s {
            return Next { start_s, ..self };
        }
        // the normal distribution from the end of the data on
        let (shift, scale) = stats::upper_part((end_s - start_s) / std_s.max(f64::MIN_POSITIVE));
        Next { start_s: (start_s + std_s * shift).max(end_s), std_s: std_s * scale, ..self }
    }
}

/// The best hypothesis of a trace that is not periodic.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// Its period.
    pub period_s: f64,
    /// Probability that it is right; below the threshold of an answer.
    pub confidence: f64,
    /// The classifier's logit, agreement of other hypotheses included.
    pub logit: f64,
}

/// Finds the periods of a profile.
///
/// Cost: about linear in the profile's breakpoints, plus the chain searches, which are bounded (see the limits in the
/// modules). The burst lists are searched in parallel on the current rayon pool; the answer does not depend on it.
pub fn detect(profile: &Profile, options: Options) -> BurstPeriods {
    let found = detect_in(profile, options);
    if found.verdict == Verdict::Periodic || found.too_fast_s.is_some() {
        return found;
    }
    let again = of_latest(profile, options).or_else(|| of_stretches(profile, options));
    again.unwrap_or(found)
}

/// The answer for the last bursts of a long run.
fn of_latest(profile: &Profile, options: Options) -> Option<BurstPeriods> {
    let latest = bursts::latest(profile)?;
    let part = profile.since(latest.from_s);
    let shortest_window_s = options.shortest_window_s * part.duration() / profile.duration();
    let of_part = detect_in(&part, Options { shortest_window_s, ..options });
    let sure = of_part.periods.first().is_some_and(|p| p.confidence >= LIMITS.second_look);
    sure.then_some(BurstPeriods { latest: Some((latest.bursts, latest.of)), ..of_part })
}

/// The answer for the stretches of a run between long silences.
fn of_stretches(profile: &Profile, options: Options) -> Option<BurstPeriods> {
    let bin_s = options.bin_s.unwrap_or_else(|| iterations::resolution(profile));
    let closed = stretches::close_up(profile, bin_s);
    let part = closed.as_ref().map_or(profile, |c| &c.profile);
    let shortest_window_s = options.shortest_window_s.min(LIMITS.shortest_window * part.duration());
    // over nearly the same window the search finds the same
    if closed.is_none() && 2.0 * shortest_window_s > options.shortest_window_s {
        return None;
    }
    let found = detect_in(part, Options { shortest_window_s, ..options });
    let mut found = match &closed {
        Some(closed) => closed.open(found),
        None => found,
    };
    found.periods.retain(|p| {
        let held = p.windows.iter().map(|w| w.1 - w.0).sum::<f64>();
        p.confidence >= LIMITS.second_look && (held >= options.shortest_window_s || outlasts_requests(p.period_s, held))
    });
    (!found.periods.is_empty() && found.verdict == Verdict::Periodic).then_some(found)
}

/// Whether a period that has held for so many seconds can be that of a job: requests follow each other faster.
pub(crate) fn outlasts_requests(period_s: f64, held_s: f64) -> bool {
    period_s >= LIMITS.request_s || held_s >= LIMITS.requests_hold_s
}

fn detect_in(profile: &Profile, options: Options) -> BurstPeriods {
    let mut periods: Vec<BurstPeriod> = Vec::new();
    let mut rejected = None;
    let mut too_fast_s = None;
    if let Some(weights) = classifier::weights() {
        iterations::run(profile, weights, options, &mut |iteration| {
            let mut most = f64::INFINITY;
            for (i, extent) in &iteration.accepted {
                let Some(mut found) = found::period(profile, &iteration, *i, extent) else { continue };
                // the rhythm inside bursts explains no more than the bursts do
                found.bytes = found.bytes.min(most);
                most = found.bytes;
                match periods.iter_mut().find(|a| (a.period_s / found.period_s).ln().abs() < LIMITS.same_period) {
                    Some(earlier) => earlier.merge(found),
                    None => periods.push(found),
                }
            }
            if iteration.accepted.is_empty() && iteration.number == 0 {
                too_fast_s = iteration.too_fast.then(|| iteration.hypotheses[iteration.winner].period());
                rejected = Some(found::rejected(&iteration));
            }
        });
    }
    periods.retain(|p| p.period_s >= options.least_reported_s);
    periods.iter_mut().for_each(BurstPeriod::join_outputs);
    // the period that moves the most bytes, which need not be the one with the strongest evidence
    let inside = |p: &BurstPeriod| p.kind == Kind::Inside;
    periods.sort_by(|a, b| inside(a).cmp(&inside(b)).then(b.bytes.total_cmp(&a.bytes)));
    let verdict = if periods.is_empty() { verdict::without_period(profile) } else { Verdict::Periodic };
    let mut found =
        BurstPeriods { verdict, periods, rejected, too_fast_s, relatives: Vec::new(), bin_s: None, latest: None };
    let width = options.bin_s.unwrap_or_else(|| iterations::resolution(profile));
    if width > 0.0 && found.too_fast_s.is_none() {
        let shortest_s = options.shortest_period_s.max(options.least_reported_s);
        bins::correct(&mut found, profile, bins::Width { seconds: width, known: options.bin_s.is_some() }, shortest_s);
    }
    found
}

/// Prepares the plans of the transforms and the weights of the classifier, which are shared by all detections; otherwise the
/// first detection does. Worth a thread while a trace is being read.
pub fn prepare() {
    classifier::weights();
    for bins in [correlation::BINS, correlation::BINS_COARSE] {
        plans::forward(2 * bins);
    }
}

/// Cuts a profile into bursts: stretches of at least `threshold` bytes per second, those at most `merge_distance_s` apart taken
/// for one, as in [`BurstPeriod`]. Times are seconds on the trace's own clock, bytes are all that lie in between.
pub fn cut(profile: &Profile, threshold: f64, merge_distance_s: f64) -> Vec<Burst> {
    let stretches = bursts::stretches(profile, threshold.max(f64::MIN_POSITIVE));
    let origin = profile.origin();
    bursts::merged(&stretches, merge_distance_s)
        .iter()
        .map(|s| Burst { start_s: s.start + origin, end_s: s.end + origin, bytes: s.after - s.before })
        .collect()
}

/// A period holds at the end of the data if no more than this many periods have passed since its last burst.
pub(super) const ENDED: f64 = 1.5;

impl BurstPeriods {
    /// Moves the period to the front that holds at `end_s`; of several the one that moves the most bytes.
    pub(super) fn lead_with_latest(&mut self, end_s: f64) {
        if let Some(i) = self.periods.iter().position(|p| p.kind != Kind::Inside && p.holds_at(end_s)) {
            self.periods[..=i].rotate_right(1);
        }
    }
}

impl BurstPeriod {
    /// Whether the period holds where the data end.
    pub(super) fn holds_at(&self, end_s: f64) -> bool {
        self.under_way.is_some() || self.windows.last().is_some_and(|w| end_s - w.1 <= ENDED * self.period_s)
    }

    /// The next burst after `end_s`, where the data end and it has not begun.
    pub(super) fn next_after(&self, end_s: f64) -> Option<Next> {
        let at_place = |place: &Next| {
            let Next { start_s, gap_s, .. } = *place;
            let begun = self.under_way.filter(|t| (t - start_s).abs() <= 0.5 * gap_s);
            // a clock goes on where it was due, other bursts wait for this one
            let from = begun.map(|t| if self.clock == Clock::Clocked { start_s } else { t });
            Next { start_s: from.map_or(start_s, |t| t + gap_s), ..*place }.after(end_s)
        };
        self.places.iter().map(at_place).reduce(|a, b| if b.start_s < a.start_s { b } else { a })
    }

    /// Median width of the bursts in seconds.
    pub fn median_width_s(&self) -> Option<f64> {
        Spread::of(self.bursts.iter().map(|b| b.end_s - b.start_s)).map(|s| s.median)
    }

    /// Adds the windows and bursts of the same period found again elsewhere, for example bursts of another strength.
    fn merge(&mut self, other: BurstPeriod) {
        self.bytes += other.bytes;
        self.bursts.extend(other.bursts);
        self.bursts.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let length = |windows: &[(f64, f64)]| windows.iter().map(|w| w.1 - w.0).sum::<f64>();
        let shared: f64 = other.windows.iter().map(|&w| windows::overlap(w, &self.windows)).sum();
        // bursts of another strength in turn with these: each has its place in the period
        let places = if shared > 0.5 * length(&self.windows).min(length(&other.windows)) {
            self.cycles = self.cycles.max(other.cycles);
            self.places.iter().chain(&other.places).copied().collect()
        } else {
            self.cycles += other.cycles;
            Vec::new()
        };
        let last = |windows: &[(f64, f64)]| windows.last().map_or(f64::NEG_INFINITY, |w| w.1);
        if last(&other.windows) > last(&self.windows) {
            self.next = other.next;
            self.under_way = other.under_way;
            (self.rise_s, self.rise_std_s) = (other.rise_s, other.rise_std_s);
            self.bin_s = other.bin_s;
            self.places = other.places;
        }
        if !places.is_empty() {
            self.places = places;
        }
        let windows = std::mem::take(&mut self.windows);
        self.windows = windows::join(windows.into_iter().chain(other.windows).collect());
    }
}
