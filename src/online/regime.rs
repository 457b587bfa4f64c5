//! Tracks the regime of a job: its current period, and when that ends.
//!
//! A regime is a period, a burst threshold, and the stretch of time over which the bursts followed the period. Either is a
//! change:
//!
//! - the latest gaps between bursts agree with each other, differ from the period, and have no equal in the regime ([`gaps`]).
//! - the analysis of the whole window finds another period that begins where the current one ended.
//!
//! Another period over the same stretch of time is no change but a better result for the same bursts: nested periods, a period
//! inside bursts, or every second burst.

mod current_period;
mod gaps;

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use self::current_period::CurrentPeriod;
use super::burst_threshold::BurstThreshold;
use super::change::{ChangeDetector, ChangeMethod};
use super::forecast::WindowAnalysis;
use super::prediction::Overdue;
use crate::signal::profile::Profile;

/// A change of the regime.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    /// The bursts from this start on have another gap.
    Gap(f64),
    /// The bursts from this start on have another size.
    Size(f64),
}

/// See the module.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RegimeTracker {
    method: ChangeMethod,
    current: Option<CurrentPeriod>,
    sizes: ChangeDetector,
    /// End of the latest burst whose size was observed.
    sized: Option<f64>,
    /// The regime goes on although the analysis of the window does not find it.
    keeps: bool,
    /// The other period that the analysis has been sure of, and since when.
    rival: Option<(f64, f64)>,
}

impl RegimeTracker {
    pub(super) fn new(method: ChangeMethod) -> Self {
        RegimeTracker {
            method,
            current: None,
            sizes: ChangeDetector::new(method),
            sized: None,
            keeps: false,
            rival: None,
        }
    }

    /// Period and last burst of a regime that goes on although the analysis of the window does not find it.
    pub(super) fn kept(&self) -> Option<(f64, f64)> {
        self.current.filter(|_| self.keeps).map(|b| (b.period_s, b.until_s))
    }

    /// The burst that has not come by `now_s`.
    pub(super) fn overdue(&self, profile: &Profile, now_s: f64) -> Option<Overdue> {
        self.current.filter(|c| c.confidence >= LIMITS.known).and_then(|c| c.overdue(profile, now_s))
    }

    /// The burst threshold of the regime.
    pub(super) fn threshold(&self) -> Option<BurstThreshold> {
        self.current.map(|b| b.threshold)
    }

    /// Goes on with the regime while its bursts come as forecast.
    pub(super) fn go_on(&mut self, profile: &Profile, now_s: f64) -> Option<Change> {
        if let Some(current) = &mut self.current {
            current.advance(profile);
        }
        self.new_size(profile, now_s)
    }

    /// Compares the bursts of the window and the result of its analysis with the current regime. A burst that lasts until
    /// `now_s`, the end of the data, may go on. `since` analyses the data from a time on. A change of the gap comes before one of
    /// the size.
    pub(super) fn follow(
        &mut self,
        profile: &Profile,
        answer: &WindowAnalysis,
        now_s: f64,
        since: &dyn Fn(f64) -> WindowAnalysis,
    ) -> Option<Change> {
        let found = CurrentPeriod::of(answer);
        self.keeps = false;
        let Some(mut current) = self.current else {
            self.current = found;
            return None;
        };
        let changes = self.method != ChangeMethod::None;
        if changes && let Some((first, next)) = gaps::new_regime(self.method, &current, profile, since) {
            self.begin(next);
            return Some(Change::Gap(first));
        }
        current.advance(profile);
        current.resume(profile);
        self.current = Some(current);
        let other = found.filter(|f| f.confidence >= LIMITS.other_confidence && !f.same(&current)).map(|f| f.period_s);
        self.rival = other.map(|period_s| match self.rival {
            Some((before_s, since_s)) if (period_s / before_s).ln().abs() <= LIMITS.same_period => (period_s, since_s),
            _ => (period_s, now_s),
        });
        let insists =
            self.rival.is_some_and(|(p, since_s)| now_s - since_s >= LIMITS.insists * p.max(current.period_s));
        match found {
            Some(found) if found.same(&current) => {
                // after a pause it begins anew
                let goes_on = found.since_s - current.until_s <= (LIMITS.missed + 1.5) * current.period_s;
                let since_s = if goes_on { current.since_s.min(found.since_s) } else { found.since_s };
                let confidence = found.confidence.max(current.confidence);
                let until_s = found.until_s.max(current.until_s);
                self.current = Some(CurrentPeriod { since_s, until_s, confidence, stretch: current.stretch, ..found });
            }
            Some(found) => {
                let sure = found.confidence >= LIMITS.other_confidence;
                let follows = changes && sure && found.follows(&current, profile);
                if follows {
                    self.begin(found);
                    return Some(Change::Gap(found.since_s));
                }
                self.keeps = current.goes_on(found.period_s, now_s) && !found.is_better(&current) && !insists;
                if !self.keeps && (sure || current.lasted() < LIMITS.established * current.period_s) {
                    self.begin(found);
                }
            }
            None => self.keeps = current.goes_on(0.0, now_s),
        }
        self.new_size(profile, now_s)
    }

    /// Adopts the result for the window that begins with a change, if there is one.
    pub(super) fn restart(&mut self, answer: &WindowAnalysis) {
        if let Some(found) = CurrentPeriod::of(answer) {
            self.begin(found);
        }
    }

    /// The clock was set back: the regime ended so long before `to_s` that its next bursts follow a pause.
    pub(super) fn set_back(&mut self, to_s: f64) {
        if let Some(c) = &mut self.current {
            let lasted = c.until_s - c.since_s;
            c.until_s = to_s - (LIMITS.missed + 1.0) * c.period_s;
            c.since_s = c.until_s - lasted;
            c.stretch = None;
        }
        (self.sized, self.rival) = (None, None);
    }

    fn begin(&mut self, current: CurrentPeriod) {
        self.current = Some(current);
        self.sizes.reset();
        self.sized = None;
        self.rival = None;
    }

    /// A change of the size of bursts.
    fn new_size(&mut self, profile: &Profile, now_s: f64) -> Option<Change> {
        let bursts = self.current?.threshold.bursts(profile);
        let mut change = None;
        for (i, b) in bursts.iter().enumerate() {
            if b.end_s >= now_s || self.sized.is_some_and(|until| b.start_s <= until) {
                continue;
            }
            self.sized = Some(b.end_s);
            if let Some(n) = self.sizes.observe(b.bytes) {
                let first = &bursts[(i + 1).saturating_sub(n)];
                change = Some(Change::Size(first.start_s));
            }
        }
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::online::burst_interior::BurstInterior;
    use crate::signal::Span;

    /// Bursts of half a second at these times, each in four pieces.
    fn bursts(starts: &[f64], bytes: f64) -> Vec<Span> {
        let piece = |t: f64, i: u8| Span { start: t + 0.125 * f64::from(i), end: t + 0.125 * f64::from(i + 1), bytes };
        starts.iter().flat_map(|&t| (0..4).map(move |i| piece(t, i))).collect()
    }

    /// The changes, and when each was noticed, with one analysis after the start of every burst.
    fn changes(spans: &[Span]) -> Vec<(f64, Change)> {
        let mut rhythm = RegimeTracker::new(ChangeMethod::Bayesian);
        let mut reported = Vec::new();
        for n in (1..=spans.len()).filter(|n| n % 4 == 2) {
            let profile = Profile::from_spans(spans[..n].iter().copied());
            let now_s = spans[n - 1].end;
            let answer = WindowAnalysis::of(&profile, now_s, 0.0, &BurstInterior::default());
            let since = |from: f64| {
                let rest = spans[..n].iter().filter(|s| s.start >= from);
                WindowAnalysis::of(&Profile::from_spans(rest.copied()), now_s, 0.0, &BurstInterior::default())
            };
            if let Some(change) = rhythm.follow(&profile, &answer, now_s, &since) {
                reported.push((now_s, change));
            }
        }
        reported
    }

    fn every(from: f64, period: f64, n: u32) -> impl Iterator<Item = f64> {
        (0..n).map(move |i| from + period * f64::from(i))
    }

    #[test]
    fn a_new_period_is_noticed_at_its_second_cycle() {
        for period in [2.2, 3.1, 7.0, 9.0, 16.0].into_iter().step_by(common::every(2)) {
            let starts: Vec<f64> = every(0.0, 5.0, 11).chain(every(50.0 + period, period, 8)).collect();
            let told = changes(&bursts(&starts, 1e6));
            let [(when, Change::Gap(first))] = told[..] else { panic!("{period}: {told:?}") };
            assert!((first - 50.0).abs() < 1e-9 && when <= 50.5 + 2.0 * period, "{period}: {told:?}");
        }
    }

    #[test]
    fn halved_and_doubled_periods_need_more_evidence() {
        let halves: Vec<f64> = every(0.0, 5.0, 11).chain(every(52.5, 2.5, 12)).collect();
        let told = changes(&bursts(&halves, 1e6));
        assert!(matches!(told[..], [(when, Change::Gap(50.0))] if when < 55.6), "{told:?}");
        // one burst more between two, once
        for extra in [97.2, 97.8] {
            let split: Vec<f64> = every(0.0, 5.0, 20).chain([extra]).chain(every(100.0, 5.0, 8)).collect();
            assert_eq!(changes(&bursts(&split, 1e6)), [], "{extra}");
        }
        // in the middle, while few are known
        let split: Vec<f64> = every(0.0, 5.0, 7).chain([32.5]).chain(every(35.0, 5.0, 12)).collect();
        assert_eq!(changes(&bursts(&split, 1e6)), []);
        // two bursts that are missing, one after the other, early on
        let missing: Vec<f64> = every(0.0, 5.0, 16).filter(|t| *t != 25.0 && *t != 35.0).collect();
        assert_eq!(changes(&bursts(&missing, 1e6)), []);
    }

    #[test]
    fn nested_periods_and_missing_bursts_are_one_regime() {
        let mut nested = bursts(&every(0.0, 6.0, 20).collect::<Vec<_>>(), 1e7);
        nested.extend(bursts(&every(0.7, 1.5, 76).collect::<Vec<_>>(), 1e5));
        nested.sort_by(|a, b| a.start.total_cmp(&b.start));
        let distance = |c: &(f64, Change)| matches!(c.1, Change::Gap(_));
        assert!(!changes(&nested).iter().any(distance));
        let missing: Vec<f64> = every(0.0, 5.0, 40).filter(|t| ![30.0, 65.0, 70.0, 120.0].contains(t)).collect();
        assert_eq!(changes(&bursts(&missing, 1e6)), []);
    }

    #[test]
    fn a_half_with_half_the_bytes_is_noticed_at_its_third_cycle() {
        let mut all = bursts(&every(0.0, 5.0, 11).collect::<Vec<_>>(), 1e6);
        all.extend(bursts(&every(55.0, 2.5, 8).collect::<Vec<_>>(), 5e5));
        let told: Vec<_> = changes(&all).into_iter().filter(|c| matches!(c.1, Change::Gap(_))).collect();
        assert!(matches!(told[..], [(when, Change::Gap(55.0))] if when < 63.0), "{told:?}");
        // one burst more, of another size, in the middle
        let mut split = bursts(&every(0.0, 5.0, 20).collect::<Vec<_>>(), 1e6);
        split.extend(bursts(&[97.5], 5e5));
        split.extend(bursts(&every(100.0, 5.0, 8).collect::<Vec<_>>(), 1e6));
        assert_eq!(changes(&split), []);
    }

    #[test]
    fn alternating_burst_sizes_do_not_double_the_period() {
        let large = every(0.0, 5.0, 12).chain(every(65.0, 10.0, 6));
        let mut all = bursts(&large.collect::<Vec<_>>(), 1e6);
        all.extend(bursts(&every(60.0, 10.0, 6).collect::<Vec<_>>(), 1e5));
        all.sort_by(|a, b| a.start.total_cmp(&b.start));
        let distance = |c: &(f64, Change)| matches!(c.1, Change::Gap(_));
        assert!(!changes(&all).iter().any(distance), "{:?}", changes(&all));
    }

    #[test]
    fn a_change_of_size_is_no_change_of_period() {
        let mut all = bursts(&every(0.0, 5.0, 12).collect::<Vec<_>>(), 1e6);
        all.extend(bursts(&every(60.0, 5.0, 8).collect::<Vec<_>>(), 4e6));
        let told = changes(&all);
        assert!(matches!(told[..], [(_, Change::Size(60.0))]), "{told:?}");
    }

    #[test]
    fn a_period_reported_for_two_cycles_replaces_the_regime() {
        let small = bursts(&every(0.0, 1.5, 60).collect::<Vec<_>>(), 1e5);
        let large = bursts(&every(0.8, 9.7, 9).collect::<Vec<_>>(), 1e6);
        let until =
            |now_s: f64, spans: &[Span]| -> Vec<Span> { spans.iter().filter(|s| s.end <= now_s).copied().collect() };
        let answer_of = |now_s: f64, spans: &[Span]| {
            let answer =
                WindowAnalysis::of(&Profile::from_spans(until(now_s, spans)), now_s, 0.0, &BurstInterior::default());
            assert!(answer.forecast.is_some(), "{now_s}");
            WindowAnalysis { share: 0.5, ..answer }
        };
        let mut rhythm = RegimeTracker::new(ChangeMethod::Bayesian);
        let mut follow = |now_s: f64, heard: &[Span]| {
            let profile = Profile::from_spans(until(now_s, &small).into_iter().chain(until(now_s, &large)));
            let change = rhythm.follow(&profile, &answer_of(now_s, heard), now_s, &|_| WindowAnalysis::default());
            assert_eq!(change, None, "{now_s}");
            rhythm.kept().map(|k| k.0)
        };
        assert_eq!(follow(46.5, &small), None);
        let mut kept = |now_s: f64| follow(now_s, &large).is_some_and(|p| (p / 1.5 - 1.0).abs() < 0.01);
        // for two of the longer periods the shorter one is kept
        assert!([48.0, 51.0, 55.5, 60.0, 66.0].into_iter().all(&mut kept));
        assert!(![67.8, 69.0, 72.0].into_iter().any(kept));
    }
}
