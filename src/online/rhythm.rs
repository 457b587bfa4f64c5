//! The beat that the bursts of a followed signal keep, and when it ends.
//!
//! What is known of the regime at hand is its period, how its bursts are told from the rest, and from when until when they
//! have kept it. Two things are a change:
//!
//! - the latest distances between bursts agree with each other, differ from the beat, and are new: the regime has none like
//!   them. Bursts are cut as they were for the beat and finer, since those of a faster regime may lie closer than what was one
//!   burst before; each cut is judged by itself, its past by its present, so that the pieces of a burst are no news. The
//!   change detector ([`super::change`]), or Student's t for two distances against those before, says whether it is chance, and
//!   the analysis of what follows the change alone has to find the new period there.
//! - the analysis of the whole window finds another period that begins where the beat has ended.
//!
//! A period of another length that holds where the beat held is no change but a better reading of the same bursts: two nested
//! rhythms, a rhythm inside of bursts, every second burst.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::change::{ChangeDetector, ChangeMethod};
use super::outlook::{Answer, Cut, typical_idle};
use crate::period::Spread;
use crate::period::chains::{self, Burst};
use crate::signal::profile::Profile;

/// Distances looked back at.
const MEMORY: usize = 64;
/// Periods that differ by no more than this, of the logarithm, are the same.
const SAME: f64 = 0.1;
/// Distances that may tell a change: fewer could be a burst that was missed or came twice, what takes more is drift.
const TELLING: std::ops::RangeInclusive<usize> = 2..=6;
/// They may differ from their mean by this share of what that differs from the beat by, and by so much, of the logarithm, if
/// there are two or more of them.
const AGREE: (f64, f64, f64) = (0.25, 0.05, 0.1);
/// Distances within this share of the way from the beat to them are near the beat, or near them.
const NEAR: f64 = 0.5;
/// Share of the distances that must keep the beat; otherwise its bursts are not as simple as that.
const ON_BEAT: f64 = 0.6;
/// A burst is in a place of the beat to so many times its spread, at least and at most so much, as a share of the period.
const WHOLE: (f64, f64, f64) = (3.0, 0.015, 0.05);
/// Distances that all must have kept the beat before two multiples of it are a change. Otherwise, where the new bursts are in
/// places of the beat and as large as those before, there must be so many times as many as each spans places ...
const FIRM: usize = 8;
const MULTIPLE: f64 = 2.0;
/// ... or, if they halve the beat, one more than it has room for, unless all is exact and of one size. Sizes that differ by no
/// more than this, of the logarithm, are the same.
const SAME_SIZE: f64 = 0.2;
/// Distances that tell a change span this much more than the longest burst: bursts long ago are known with less detail than the
/// latest one, so that its pieces may be new. What lies closer than this share of the typical idle time is one burst for this.
const LONGER: f64 = 1.1;
const PARTING: f64 = 0.25;
/// So many bytes between the bursts before, as a share of those in the latest ones, may be such bursts without their edges.
const BLURRED: f64 = 0.5;
/// Confidence in the new period that the analysis of what follows a change must have, and how many such analyses a look may
/// cost.
const CONFIRMED: f64 = 0.8;
const LOOKS: usize = 2;
/// Chance that distances of one regime ever look like those of two. Every burst is another look: after k distances it may be
/// 1 / k (k + 1) of this, which sums to all of it, shared evenly among the numbers of distances that may tell.
const CHANCE: f64 = 1e-4;
/// Spread of distances, of the logarithm, that is assumed before any are known, and how many values that is worth.
const PRIOR_SD: f64 = 0.03;
const PRIOR_VALUES: f64 = 3.0;
/// Levels tried, as shares of that of the beat: of a burst that goes on the top is still missing.
const LOWER: [f64; 3] = [1.0, 0.25, 0.0625];
/// Merge distances tried, as shares of that of the beat, and of its period.
const FINER: [f64; 3] = [1.0, 0.25, 0.0625];
const SMALL: [f64; 3] = [0.05, 0.01, 0.0];
/// Share of a distance that must be idle: what touches is one burst in pieces.
const APART: f64 = 0.1;
/// Share of the bytes of a burst below which it is noise.
const SMALLEST: f64 = 0.2;
/// A burst within this share of the period of its place keeps the beat.
const IN_PLACE: f64 = 0.15;
/// Most places without a burst.
const MISSED: f64 = 3.0;
/// A regime that ends has lasted for so many periods, of its own and of the next one: the rhythm inside of a burst has not.
const ESTABLISHED: f64 = 2.9;
/// If the distances of its bursts tell its end, before the analysis does, so many periods of the next one are enough.
const OUTLASTS: f64 = 1.25;
/// The same if that is a multiple of its own, and in its places.
const NESTED: f64 = 2.5;
/// A regime that follows has lasted for so many periods of the one before.
const FOLLOWED: f64 = 1.5;
/// Periods that are longer by as much, of the logarithm, are not the same one with jitter.
const FAR: f64 = 0.4;
/// Share of the distances of a regime that may look like those of another one.
const STRAY: f64 = 0.2;
/// So sure must the analysis once have been of a regime that its end is a change.
const KNOWN: f64 = 0.98;
/// Confidence that the analysis needs to end it.
const SURE: f64 = 0.8;
/// A regime is kept for so many periods after its last burst, whatever else the analysis reads from its bursts, ...
const KEPT: f64 = 1.25;
/// ... unless that explains so much more of the bytes, or not so much less with one of these parts of the period, of which this
/// share of the places must have a burst.
const BETTER: f64 = 0.1;
const PARTS: [f64; 2] = [2.0, 3.0];
const WELL_FILLED: f64 = 0.75;
/// What the analysis has said for so many periods, its own and those of the regime, is no passing confusion.
const INSISTS: f64 = 2.0;

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    /// The bursts from this start on have another distance.
    Distance(f64),
    /// The bursts from this start on have another size.
    Size(f64),
}

/// A regime: its period, and its bursts so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Beat {
    period_s: f64,
    cut: Cut,
    /// First burst.
    since_s: f64,
    /// Last burst that kept the beat.
    until_s: f64,
    /// Share of the places in between at which there was a burst.
    filled: f64,
    /// Share of the bytes that it explains.
    share: f64,
    /// Highest confidence that the analysis has had in it.
    confidence: f64,
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
    pub(super) fn cut(&self) -> Option<Cut> {
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
        if changes && let Some((first, next)) = self.new_distance(&beat, profile, since) {
            self.begin(next);
            return Some(Change::Distance(first));
        }
        beat.advance(profile);
        self.beat = Some(beat);
        let other = found.filter(|f| f.confidence >= SURE && !f.same(&beat)).map(|f| f.period_s);
        self.rival = other.map(|period_s| match self.rival {
            Some((before_s, since_s)) if (period_s / before_s).ln().abs() <= SAME => (period_s, since_s),
            _ => (period_s, now_s),
        });
        let insists = self.rival.is_some_and(|(p, since_s)| now_s - since_s >= INSISTS * p.max(beat.period_s));
        match found {
            Some(found) if found.same(&beat) => {
                // after a pause it begins anew
                let goes_on = found.since_s - beat.until_s <= (MISSED + 0.5) * beat.period_s;
                let since_s = if goes_on { beat.since_s.min(found.since_s) } else { found.since_s };
                let confidence = found.confidence.max(beat.confidence);
                self.beat = Some(Beat { since_s, until_s: found.until_s.max(beat.until_s), confidence, ..found });
            }
            Some(found) => {
                let sure = found.confidence >= SURE;
                let follows = changes && sure && found.follows(&beat, profile);
                if follows && found.is_settled(&beat) {
                    self.begin(found);
                    return Some(Change::Distance(found.since_s));
                }
                self.keeps = beat.goes_on(found.period_s, now_s) && !found.is_better(&beat) && !insists;
                // what may be told as a change soon does not take over in silence
                if !self.keeps && !follows && (sure || beat.lasted() < ESTABLISHED * beat.period_s) {
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

    /// The first of the bursts that have left the beat, and the beat that they keep.
    fn new_distance(&self, beat: &Beat, profile: &Profile, since: &dyn Fn(f64) -> Answer) -> Option<(f64, Beat)> {
        if beat.confidence < KNOWN || beat.lasted() < ESTABLISHED * beat.period_s {
            return None;
        }
        let longest = beat.longest_burst(profile);
        let mut looks = Looks { since, made: Vec::new() };
        let after = |b: &&Burst| b.start_s > beat.until_s;
        let mut tried: Vec<Vec<f64>> = Vec::new();
        let merges = FINER.map(|share| share * beat.cut.merge_s).into_iter().chain(SMALL.map(|s| s * beat.period_s));
        let merges: Vec<f64> = merges.filter(|m| *m <= beat.cut.merge_s.max(SMALL[0] * beat.period_s)).collect();
        let levels = LOWER.map(|share| share * beat.cut.threshold);
        for (threshold, &merge_s) in levels.iter().flat_map(|&l| merges.iter().map(move |m| (l, m))) {
            let mut all = chains::cut(profile, threshold, merge_s);
            // where the picture begins a burst may be cut in two, unless the regime begins there
            let whole = |b: &Burst| b.start_s > profile.origin() || b.start_s >= beat.since_s;
            all.retain(|b| b.end_s >= beat.since_s && whole(b));
            let lately = Spread::of(all.iter().filter(after).map(|b| b.bytes)).map_or(0.0, |s| s.median);
            for bytes in [beat.cut.bytes, lately.min(beat.cut.bytes)] {
                let of_size = all.iter().filter(|b| b.bytes >= SMALLEST * bytes);
                let bursts: Vec<&Burst> = of_size.collect();
                let bursts = &bursts[bursts.len().saturating_sub(MEMORY + 1)..];
                let starts: Vec<f64> = bursts.iter().map(|b| b.start_s).collect();
                if tried.contains(&starts) {
                    continue;
                }
                let apart = |w: &[&Burst]| w[1].start_s - w[0].end_s >= APART * (w[1].start_s - w[0].start_s);
                let apart = bursts.windows(2).rev().take_while(|w| apart(w)).count();
                let distances: Vec<f64> = starts.windows(2).map(|w| (w[1] - w[0]).ln()).collect();
                let span = |n: usize| starts[starts.len() - 1] - starts[starts.len() - 1 - n];
                let may_tell = |n: &usize| {
                    *n < distances.len()
                        && *n <= apart
                        && span(*n) >= LONGER * longest
                        && starts[starts.len() - 1 - n] - beat.since_s >= ESTABLISHED * beat.period_s
                        && beat.lasted() >= OUTLASTS * span(*n) / *n as f64
                };
                let differ =
                    |n: &usize| self.differ(beat, &distances, *n, bursts, &all) && !blurred(profile, bursts, *n);
                let telling = TELLING.filter(may_tell).filter(differ);
                let mut told = telling.map(|n| (starts[starts.len() - 1 - n], span(n) / n as f64));
                if let Some(found) = told.find_map(|(first, period_s)| Some((first, looks.confirm(first, period_s)?))) {
                    return Some(found);
                }
                tried.push(starts);
            }
        }
        None
    }

    /// Are the last `n` distances between `bursts`, given by their logarithms, of another regime than those before? `all`: these
    /// and smaller bursts.
    fn differ(&self, beat: &Beat, distances: &[f64], n: usize, bursts: &[&Burst], all: &[Burst]) -> bool {
        let (before, new) = distances.split_at(distances.len() - n);
        let (level, mean) = (beat.period_s.ln(), new.iter().sum::<f64>() / n as f64);
        let off = (mean - level).abs();
        let near = |x: f64, y: f64| (x - y).abs() <= NEAR * off;
        // the last one before may lead from one regime to the other
        let old = match before.split_last() {
            Some((last, rest)) if !near(*last, level) => rest,
            _ => before,
        };
        let on_beat = old.iter().filter(|x| near(**x, level)).count();
        if off <= SAME
            || !new.iter().all(|x| (x - mean).abs() <= (AGREE.0 * off).min(if n > 2 { AGREE.2 } else { AGREE.1 }))
            || on_beat < 2
            || (on_beat as f64) < ON_BEAT * old.len() as f64
            || before.iter().any(|x| near(*x, mean))
        {
            return false;
        }
        let near_level = old.iter().filter(|x| near(**x, level));
        let spread = (near_level.map(|x| (x - level).powi(2)).sum::<f64>() / on_beat as f64).sqrt();
        let exact = (WHOLE.0 * spread).clamp(WHOLE.1, WHOLE.2);
        let places = new.iter().scan(0.0, |sum, x| {
            *sum += x.exp() / beat.period_s;
            Some(*sum)
        });
        // bursts that are missing leave the others in their places, and so do bursts in between
        let kept = places.filter(|p| p.round() >= 1.0 && (p - p.round()).abs() <= exact).count();
        // the pieces of a burst and the bursts may keep one clock
        let inside = || beat.lasted() < NESTED * mean.exp();
        let smaller = || beat.goes_on_smaller(&bursts[bursts.len() - 1 - n..], all, exact);
        if kept > 0 && mean > level && (inside() || smaller()) {
            return false;
        }
        let exact_halves = || {
            let half = |x: &f64| (level - x - std::f64::consts::LN_2).abs() <= WHOLE.1;
            n == 2 && on_beat == before.len() && exact <= WHOLE.1 && new.iter().all(half) && same_size(bursts, n)
        };
        let firm = on_beat >= FIRM && on_beat == old.len() && (mean > level || exact_halves());
        let ratio = off.exp().round().max(1.5);
        let enough = if mean < level && ratio <= 2.0 { ratio + 1.0 } else { MULTIPLE * ratio };
        if kept > 0 && !firm && (n as f64) < enough && !other_size(bursts, n) {
            return false;
        }
        chance(old, new, off) <= share_of_chance(old.len()) || self.noticed(distances, n)
    }

    /// Does the change detector say that the last `n` distances are another regime?
    fn noticed(&self, distances: &[f64], n: usize) -> bool {
        let mut detector = ChangeDetector::new(self.method);
        let from = distances.len() - n;
        let told = distances.iter().enumerate().map(|(i, x)| (i, detector.observe(x.exp())));
        told.filter(|(i, begun)| *i > from && begun.is_some_and(|k| i + 1 - k.min(i + 1) + 1 >= from)).count() > 0
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

impl Beat {
    fn of(answer: &Answer) -> Option<Beat> {
        let (since_s, until_s, bursts) = answer.holds?;
        let outlook = answer.outlook.as_ref()?;
        let (period_s, confidence) = (outlook.period_s, outlook.confidence);
        let filled = bursts as f64 / ((until_s - since_s) / period_s + 1.0);
        Some(Beat { period_s, cut: answer.cut?, since_s, until_s, filled, share: answer.share, confidence })
    }

    /// Seconds for which it is known to have held; none if most of its places are empty.
    fn lasted(&self) -> f64 {
        if self.filled >= ON_BEAT { self.until_s - self.since_s } else { 0.0 }
    }

    fn same(&self, other: &Beat) -> bool {
        (self.period_s / other.period_s).ln().abs() <= SAME
    }

    /// Is it known well enough, and its last burst not so long ago, that another reading of length `other_s` says nothing? One of
    /// some of its periods need not be outlasted: it is made of the same bursts.
    fn goes_on(&self, other_s: f64, now_s: f64) -> bool {
        let ratio = other_s / self.period_s;
        let multiple = ratio > 1.5 && (ratio - ratio.round()).abs() <= WHOLE.1 * ratio;
        let outlasted = if multiple { self.period_s } else { self.period_s.max(other_s) };
        self.lasted() >= ESTABLISHED * outlasted && now_s <= self.until_s + KEPT * self.period_s
    }

    /// Does this reading of the bursts explain clearly more than another, or as much with a half or a third of its period?
    fn is_better(&self, other: &Beat) -> bool {
        let ratio = other.period_s / self.period_s;
        let part = PARTS.contains(&ratio.round()) && (ratio - ratio.round()).abs() <= WHOLE.1 * ratio;
        self.share > other.share + BETTER || (part && self.filled >= WELL_FILLED && self.share >= other.share - BETTER)
    }

    /// Do smaller bursts, `all` has them, keep it in most of its places between bursts that are further apart?
    fn goes_on_smaller(&self, apart: &[&Burst], all: &[Burst], exact: f64) -> bool {
        let (mut places, mut filled) = (0, 0);
        for w in apart.windows(2) {
            let between = ((w[1].start_s - w[0].start_s) / self.period_s).round().min(MEMORY as f64);
            for k in 1..between as u32 {
                let place = w[0].start_s + f64::from(k) * self.period_s;
                places += 1;
                filled += u32::from(all.iter().any(|b| (b.start_s - place).abs() <= exact * self.period_s));
            }
        }
        2 * filled > places
    }

    /// Length of the longest burst of the window as it knows them, from before it began, too. The last one may have grown
    /// together with what follows.
    fn longest_burst(&self, profile: &Profile) -> f64 {
        let merge_s = self.cut.merge_s.max(PARTING * typical_idle(profile));
        let bursts = chains::cut(profile, self.cut.threshold, merge_s).into_iter();
        let inside = bursts.filter(|b| b.start_s <= self.until_s - 0.5 * self.period_s);
        inside.map(|b| b.end_s - b.start_s).fold(0.0, f64::max)
    }

    /// Its bursts that begin in a stretch of time.
    fn bursts(&self, profile: &Profile, from: f64, to: f64) -> impl Iterator<Item = Burst> {
        self.cut.bursts(profile).into_iter().filter(move |b| b.end_s >= from && b.start_s <= to)
    }

    /// True if it does not look, in a stretch of time, as if its bursts came at its distance.
    fn is_absent(&self, profile: &Profile, from: f64, to: f64) -> bool {
        let starts: Vec<f64> = self.bursts(profile, from, to).map(|b| b.start_s).collect();
        let near = starts.windows(2).filter(|w| ((w[1] - w[0]) / self.period_s).ln().abs() <= SAME).count();
        near as f64 <= STRAY * starts.len().saturating_sub(1) as f64
    }

    /// Has another regime ended where this one begins?
    fn follows(&self, before: &Beat, profile: &Profile) -> bool {
        let lasted = before.lasted().min(self.since_s - before.since_s);
        // bursts of a multiple of the period go on in its places
        let ended = self.since_s >= before.until_s - 0.5 * before.period_s;
        before.confidence >= KNOWN
            && (ended || (self.period_s / before.period_s).ln() >= FAR)
            && lasted >= ESTABLISHED * before.period_s.max(self.period_s)
            && self.is_absent(profile, before.since_s, self.since_s)
            && before.is_absent(profile, self.since_s, self.until_s)
    }

    /// Has this one, which follows another, lasted for long enough? With a multiple of its period the other one may only have
    /// missed some bursts.
    fn is_settled(&self, before: &Beat) -> bool {
        let ratio = self.period_s / before.period_s;
        let places = (self.since_s - before.until_s) / before.period_s;
        let in_place = (places - places.round()).abs() <= WHOLE.2;
        let multiple = in_place && ratio > 1.5 && (ratio - ratio.round()).abs() <= WHOLE.1 * ratio;
        let periods = if multiple { MULTIPLE * ratio.round() * ratio } else { FOLLOWED };
        self.lasted() >= periods * before.period_s
    }

    /// Notes the bursts that go on in the beat.
    fn advance(&mut self, profile: &Profile) {
        for b in self.cut.bursts(profile) {
            let places = (b.start_s - self.until_s) / self.period_s;
            if (1.0..=MISSED).contains(&places.round()) && (places - places.round()).abs() <= IN_PLACE {
                self.until_s = b.start_s;
            }
        }
    }
}

/// Analyses of what follows a supposed change, each with where it begins.
struct Looks<'a> {
    since: &'a dyn Fn(f64) -> Answer,
    made: Vec<(f64, Option<Beat>)>,
}

impl Looks<'_> {
    /// The beat that the analysis of what comes from `first` on finds there, if it has this period.
    fn confirm(&mut self, first: f64, period_s: f64) -> Option<Beat> {
        let known = self.made.iter().position(|(from, _)| (from - first).abs() <= SAME * period_s);
        if known.is_none() {
            if self.made.len() >= LOOKS {
                return None;
            }
            self.made.push((first, Beat::of(&(self.since)(first))));
        }
        let (_, found) = *self.made.get(known.unwrap_or(self.made.len() - 1))?;
        found.filter(|b| b.confidence >= CONFIRMED && (b.period_s / period_s).ln().abs() <= SAME)
    }
}

/// Do so many more bytes lie between the bursts before the last `n` distances than between the latest ones that the picture may
/// have blurred bursts like those there?
fn blurred(profile: &Profile, bursts: &[&Burst], n: usize) -> bool {
    let until = |t: f64| profile.bytes_until(t - profile.origin());
    // bytes per second between bursts, and in them
    let rates = |part: &[&Burst]| {
        let [first, .., last] = part else { return (0.0, 0.0) };
        let inside: f64 = part[..part.len() - 1].iter().map(|b| b.bytes).sum();
        let length = last.start_s - first.start_s;
        ((until(last.start_s) - until(first.start_s) - inside) / length, inside / length)
    };
    let begun = bursts.len() - 1 - n;
    let ((between, _), (between_new, in_new)) = (rates(&bursts[..=begun]), rates(&bursts[begun..]));
    between - between_new >= BLURRED * in_new
}

/// Do the bursts that the last `n` distances lie between have a size that those before did not have? The latest one may go on.
fn other_size(bursts: &[&Burst], n: usize) -> bool {
    let Some((_, whole)) = bursts.split_last() else { return false };
    let sizes: Vec<f64> = whole.iter().map(|b| b.bytes.ln()).collect();
    let (old, new) = sizes.split_at(sizes.len().saturating_sub(n));
    let Some(middle) = Spread::of(old.iter().copied()).map(|s| s.median) else { return false };
    let mean = new.iter().sum::<f64>() / new.len() as f64;
    let off = (mean - middle).abs();
    off > SAME_SIZE
        && new.iter().all(|x| (x - mean).abs() <= AGREE.0 * off)
        && old.len() >= 2
        && old.iter().all(|x| (x - mean).abs() > NEAR * off)
        && chance(old, new, off) <= share_of_chance(old.len())
}

/// Do the bursts that the last `n` distances lie between have the size of those before? The latest one may go on.
fn same_size(bursts: &[&Burst], n: usize) -> bool {
    let Some((_, whole)) = bursts.split_last() else { return false };
    let (old, new) = whole.split_at(whole.len().saturating_sub(n));
    let middle = Spread::of(old.iter().map(|b| b.bytes.ln())).map(|s| s.median);
    middle.is_some_and(|m| new.iter().all(|b| (b.bytes.ln() - m).abs() <= SAME_SIZE))
}

/// Part of [`CHANCE`] for one look after `known` distances.
fn share_of_chance(known: usize) -> f64 {
    let (k, looks) = (known as f64, TELLING.count() as f64);
    CHANCE / (k * (k + 1.0)).max(1.0) / looks
}

/// Two-sided chance that the means of two samples of one normal distribution differ by `off`: Student's t with the pooled
/// spread of both and a prior for it. What lies further off than `off` counts as if it lay there.
fn chance(old: &[f64], new: &[f64], off: f64) -> f64 {
    let Some(middle) = Spread::of(old.iter().copied()).map(|s| s.median) else { return 1.0 };
    let (k, n) = (old.len() as f64, new.len() as f64);
    let mean = new.iter().sum::<f64>() / n;
    let squares = |values: &[f64], about: f64| values.iter().map(|x| (x - about).clamp(-off, off).powi(2)).sum::<f64>();
    let freedom = PRIOR_VALUES + k + n - 2.0;
    let variance = (PRIOR_VALUES * PRIOR_SD * PRIOR_SD + squares(old, middle) + squares(new, mean)) / freedom;
    let t = off / (variance * (1.0 / k + 1.0 / n)).sqrt();
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |d| 2.0 * d.sf(t))
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

    #[test]
    fn small_bursts_that_the_picture_has_blurred_are_not_new() {
        let span = |start: f64, end: f64, bytes: f64| Span { start, end, bytes };
        let large = || (0..12).map(|k| 300.0 + 100.0 * f64::from(k)).map(|t| span(t, t + 20.0, 2e9));
        let small = || (0..4).map(|k| 1430.0 + 15.0 * f64::from(k)).map(|t| span(t, t + 3.0, 3e7));
        let is_blurred = |others: Vec<Span>| {
            let profile = Profile::from_spans(large().chain(small()).chain(others));
            let bursts = chains::cut(&profile, 5e6, 0.0);
            assert_eq!(bursts.len(), 16);
            blurred(&profile, &bursts.iter().collect::<Vec<_>>(), 3)
        };
        assert!(!is_blurred(Vec::new()));
        // the bytes of such bursts, evenly between the large ones
        assert!(is_blurred((0..11).map(|k| 320.0 + 100.0 * f64::from(k)).map(|t| span(t, t + 80.0, 1.6e8)).collect()));
        // a background that goes on
        assert!(!is_blurred(vec![span(200.0, 1500.0, 2.6e9)]));
    }

    #[test]
    fn the_looks_at_one_regime_share_its_chance() {
        let all: f64 = (1..100_000).map(share_of_chance).sum::<f64>() * TELLING.count() as f64;
        assert!(all <= CHANCE && all > 0.999 * CHANCE);
        // an exact regime of five bursts still ends at the second distance of another one that is half as long again
        let told = |off: f64| chance(&[0.0; 4], &[off; 2], off) <= share_of_chance(4);
        assert!(told(1.5f64.ln()) && !told(1.1f64.ln()));
    }

    #[test]
    fn chance_is_students() {
        // two samples of equal spread: t = 2.306 is the 97.5 % point at 8 degrees of freedom
        let (old, new) = ([-0.03, 0.0, 0.03], [0.27, 0.3, 0.3, 0.33]);
        let freedom: f64 = 3.0 + 3.0 + 4.0 - 2.0;
        let variance: f64 = (3.0 * 0.0009 + 2.0 * 0.0009 + 2.0 * 0.0009) / freedom;
        let off = 2.306 * (variance * (1.0 / 3.0 + 1.0 / 4.0)).sqrt();
        assert!((chance(&old, &new, off) - 0.05).abs() < 1e-3);
    }
}
