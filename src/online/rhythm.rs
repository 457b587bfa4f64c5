//! The beat that the bursts of a followed signal keep, and when it ends.
//!
//! What is known of the regime at hand is its period, how its bursts are told from the rest, and from when until when they
//! have kept it. Two things are a change:
//!
//! - the latest distances between bursts agree with each other, differ from the beat, and are new: the regime has none like
//!   them (see [`distances`]).
//! - the analysis of the whole window finds another period that begins where the beat has ended.
//!
//! A period of another length that holds where the beat held is no change but a better reading of the same bursts: two nested
//! rhythms, a rhythm inside of bursts, every second burst.

mod beat;
mod distances;

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use self::beat::Beat;
use super::burst_threshold::BurstThreshold;
use super::change::{ChangeDetector, ChangeMethod};
use super::outlook::Answer;
use crate::signal::profile::Profile;

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    /// The bursts from this start on have another distance.
    Distance(f64),
    /// The bursts from this start on have another size.
    Size(f64),
}

/// See the module.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Rhythm {
    method: ChangeMethod,
    beat: Option<Beat>,
    sizes: ChangeDetector,
    /// End of the latest burst whose size was taken.
    sized: Option<f64>,
    /// The regime goes on although the analysis of the window does not say so.
    keeps: bool,
    /// The other period that the analysis is sure of all the while, and since when.
    #[serde(default)]
    rival: Option<(f64, f64)>,
}

impl Rhythm {
    pub(super) fn new(method: ChangeMethod) -> Self {
        Rhythm { method, beat: None, sizes: ChangeDetector::new(method), sized: None, keeps: false, rival: None }
    }

    /// If the regime goes on although the analysis of the window does not say so: its period, and when its last burst began.
    pub(super) fn kept(&self) -> Option<(f64, f64)> {
        self.beat.filter(|_| self.keeps).map(|b| (b.period_s, b.until_s))
    }

    /// What counts as a burst in the regime at hand.
    pub(super) fn cut(&self) -> Option<BurstThreshold> {
        self.beat.map(|b| b.cut)
    }

    /// Compares the bursts of the window and what the analysis says of it with the regime at hand. `now_s`: end of the data; a
    /// burst that lasts until then may go on. `since` analyses what comes from a time on. A change of distance goes before one of
    /// size.
    pub(super) fn follow(
        &mut self,
        profile: &Profile,
        answer: &Answer,
        now_s: f64,
        since: &dyn Fn(f64) -> Answer,
    ) -> Option<Change> {
        let found = Beat::of(answer);
        self.keeps = false;
        let Some(mut beat) = self.beat else {
            self.beat = found;
            return None;
        };
        let changes = self.method != ChangeMethod::None;
        if changes && let Some((first, next)) = distances::newly_kept(self.method, &beat, profile, since) {
            self.begin(next);
            return Some(Change::Distance(first));
        }
        beat.advance(profile);
        self.beat = Some(beat);
        let other = found.filter(|f| f.confidence >= LIMITS.other_confidence && !f.same(&beat)).map(|f| f.period_s);
        self.rival = other.map(|period_s| match self.rival {
            Some((before_s, since_s)) if (period_s / before_s).ln().abs() <= LIMITS.same_period => (period_s, since_s),
            _ => (period_s, now_s),
        });
        let insists = self.rival.is_some_and(|(p, since_s)| now_s - since_s >= LIMITS.insists * p.max(beat.period_s));
        match found {
            Some(found) if found.same(&beat) => {
                // after a pause it begins anew
                let goes_on = found.since_s - beat.until_s <= (LIMITS.missed_cycles + 0.5) * beat.period_s;
                let since_s = if goes_on { beat.since_s.min(found.since_s) } else { found.since_s };
                let confidence = found.confidence.max(beat.confidence);
                self.beat = Some(Beat { since_s, until_s: found.until_s.max(beat.until_s), confidence, ..found });
            }
            Some(found) => {
                let sure = found.confidence >= LIMITS.other_confidence;
                let follows = changes && sure && found.follows(&beat, profile);
                if follows && found.is_settled(&beat) {
                    self.begin(found);
                    return Some(Change::Distance(found.since_s));
                }
                self.keeps = beat.goes_on(found.period_s, now_s) && !found.is_better(&beat) && !insists;
                // what may be told as a change soon does not take over in silence
                if !self.keeps && !follows && (sure || beat.lasted() < LIMITS.established * beat.period_s) {
                    self.begin(found);
                }
            }
            None => self.keeps = beat.goes_on(0.0, now_s),
        }
        self.new_size(profile, now_s)
    }

    /// Takes what the analysis says of the window that begins with a change, if it says anything.
    pub(super) fn restart(&mut self, answer: &Answer) {
        if let Some(found) = Beat::of(answer) {
            self.begin(found);
        }
    }

    fn begin(&mut self, beat: Beat) {
        self.beat = Some(beat);
        self.sizes.reset();
        self.sized = None;
        self.rival = None;
    }

    /// A change of the size of bursts.
    fn new_size(&mut self, profile: &Profile, now_s: f64) -> Option<Change> {
        let bursts = self.beat?.cut.bursts(profile);
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
    use crate::signal::Span;

    /// Bursts of half a second at these times, each in four pieces.
    fn bursts(starts: &[f64], bytes: f64) -> Vec<Span> {
        let piece = |t: f64, i: u8| Span { start: t + 0.125 * f64::from(i), end: t + 0.125 * f64::from(i + 1), bytes };
        starts.iter().flat_map(|&t| (0..4).map(move |i| piece(t, i))).collect()
    }

    /// The changes, and when each was noticed, if an analysis follows the start of every burst.
    fn changes(spans: &[Span]) -> Vec<(f64, Change)> {
        let mut rhythm = Rhythm::new(ChangeMethod::Bayesian);
        let mut told = Vec::new();
        for n in (1..=spans.len()).filter(|n| n % 4 == 2) {
            let profile = Profile::from_spans(spans[..n].iter().copied());
            let now_s = spans[n - 1].end;
            let answer = Answer::of(&profile, now_s, 0.0);
            let since = |from: f64| {
                let rest = spans[..n].iter().filter(|s| s.start >= from);
                Answer::of(&Profile::from_spans(rest.copied()), now_s, 0.0)
            };
            if let Some(change) = rhythm.follow(&profile, &answer, now_s, &since) {
                told.push((now_s, change));
            }
        }
        told
    }

    fn every(from: f64, period: f64, n: u32) -> impl Iterator<Item = f64> {
        (0..n).map(move |i| from + period * f64::from(i))
    }

    #[test]
    fn longer_and_shorter_periods_are_noticed_at_their_second_cycle() {
        for period in [2.2, 3.1, 7.0, 9.0, 16.0] {
            let starts: Vec<f64> = every(0.0, 5.0, 11).chain(every(50.0 + period, period, 8)).collect();
            let told = changes(&bursts(&starts, 1e6));
            let [(when, Change::Distance(first))] = told[..] else { panic!("{period}: {told:?}") };
            assert!((first - 50.0).abs() < 1e-9 && when <= 50.5 + 2.0 * period, "{period}: {told:?}");
        }
    }

    #[test]
    fn a_half_needs_more_than_one_beat_of_it_and_a_double_a_firm_one() {
        let halves: Vec<f64> = every(0.0, 5.0, 11).chain(every(52.5, 2.5, 12)).collect();
        let told = changes(&bursts(&halves, 1e6));
        assert!(matches!(told[..], [(when, Change::Distance(50.0))] if when < 55.6), "{told:?}");
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
    fn nested_rhythms_and_missing_bursts_are_one_regime() {
        let mut nested = bursts(&every(0.0, 6.0, 20).collect::<Vec<_>>(), 1e7);
        nested.extend(bursts(&every(0.7, 1.5, 76).collect::<Vec<_>>(), 1e5));
        nested.sort_by(|a, b| a.start.total_cmp(&b.start));
        let distance = |c: &(f64, Change)| matches!(c.1, Change::Distance(_));
        assert!(!changes(&nested).iter().any(distance));
        let missing: Vec<f64> = every(0.0, 5.0, 40).filter(|t| ![30.0, 65.0, 70.0, 120.0].contains(t)).collect();
        assert_eq!(changes(&bursts(&missing, 1e6)), []);
    }

    #[test]
    fn a_half_with_half_the_bytes_is_noticed_at_its_second_cycle() {
        let mut all = bursts(&every(0.0, 5.0, 11).collect::<Vec<_>>(), 1e6);
        all.extend(bursts(&every(55.0, 2.5, 8).collect::<Vec<_>>(), 5e5));
        let told: Vec<_> = changes(&all).into_iter().filter(|c| matches!(c.1, Change::Distance(_))).collect();
        assert!(matches!(told[..], [(when, Change::Distance(55.0))] if when < 60.5), "{told:?}");
        // one burst more, of another size, in the middle
        let mut split = bursts(&every(0.0, 5.0, 20).collect::<Vec<_>>(), 1e6);
        split.extend(bursts(&[97.5], 5e5));
        split.extend(bursts(&every(100.0, 5.0, 8).collect::<Vec<_>>(), 1e6));
        assert_eq!(changes(&split), []);
    }

    #[test]
    fn small_bursts_between_large_ones_are_no_longer_period() {
        let large = every(0.0, 5.0, 12).chain(every(65.0, 10.0, 6));
        let mut all = bursts(&large.collect::<Vec<_>>(), 1e6);
        all.extend(bursts(&every(60.0, 10.0, 6).collect::<Vec<_>>(), 1e5));
        all.sort_by(|a, b| a.start.total_cmp(&b.start));
        let distance = |c: &(f64, Change)| matches!(c.1, Change::Distance(_));
        assert!(!changes(&all).iter().any(distance), "{:?}", changes(&all));
    }

    #[test]
    fn another_size_is_no_other_distance() {
        let mut all = bursts(&every(0.0, 5.0, 12).collect::<Vec<_>>(), 1e6);
        all.extend(bursts(&every(60.0, 5.0, 8).collect::<Vec<_>>(), 4e6));
        let told = changes(&all);
        assert!(matches!(told[..], [(_, Change::Size(60.0))]), "{told:?}");
    }

    #[test]
    fn what_the_analysis_insists_on_takes_over_in_silence() {
        let small = bursts(&every(0.0, 1.5, 60).collect::<Vec<_>>(), 1e5);
        let large = bursts(&every(0.8, 9.7, 9).collect::<Vec<_>>(), 1e6);
        let until =
            |now_s: f64, spans: &[Span]| -> Vec<Span> { spans.iter().filter(|s| s.end <= now_s).copied().collect() };
        let answer_of = |now_s: f64, spans: &[Span]| {
            let answer = Answer::of(&Profile::from_spans(until(now_s, spans)), now_s, 0.0);
            assert!(answer.outlook.is_some(), "{now_s}");
            Answer { share: 0.5, ..answer }
        };
        let mut rhythm = Rhythm::new(ChangeMethod::Bayesian);
        let mut follow = |now_s: f64, heard: &[Span]| {
            let profile = Profile::from_spans(until(now_s, &small).into_iter().chain(until(now_s, &large)));
            let change = rhythm.follow(&profile, &answer_of(now_s, heard), now_s, &|_| Answer::default());
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
