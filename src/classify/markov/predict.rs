//! The classes that a model predicts for a file when it is opened.

use std::collections::HashMap;

use super::super::access::{Access, Settings, Tally};
use super::super::advice::{self, Situation};
use super::super::extent::{Interval, Shape};
use super::super::global::{self, GlobalSequentiality, Part};
use super::super::group::Local;
use super::super::lattice::{Axis, Mix, Sequentiality};
use super::super::report::{Classifier, Expected, ExpectedClass, GlobalClass};
use super::super::stream::Stream;
use super::super::thresholds::LIMITS;
use super::chain::Walk;
use super::file_model::{FileModel, Phase, Start};

/// Accesses walked of a phase.
const MOST_WALKED: u64 = 1024;

/// The classes that are predicted for a file.
pub(crate) struct Predicted {
    pub expected: Expected,
    /// The ranks of each expected class, and whether they come one after the other.
    ranks: Vec<(Vec<u32>, bool)>,
}

/// One phase, walked.
struct Walked {
    mix: Mix,
    local: Sequentiality,
    class: GlobalSequentiality,
    ranks: Vec<u32>,
    starts: Vec<u64>,
    passes: f64,
}

impl FileModel {
    /// Walks every phase.
    pub fn predict(&self, settings: Settings, file: &str) -> Predicted {
        let (mut global, mut ranks): (Vec<ExpectedClass>, Vec<(Vec<u32>, bool)>) = (Vec::new(), Vec::new());
        // another pass over the same bytes may be a phase of its own
        type Bytes<'a> = (&'a [Start], i64, i64);
        let mut passes: Vec<((Mix, Bytes), f64)> = Vec::new();
        let mut before: Option<Bytes> = None;
        for phase in &self.phases {
            let mut walked = phase.walk(self.block_bytes, settings);
            let bytes = (&phase.starts[..], phase.low_bytes, phase.high_bytes);
            match passes.iter_mut().find(|p| p.0 == (walked.mix, bytes)) {
                Some(p) => p.1 += walked.passes,
                None => passes.push(((walked.mix, bytes), walked.passes)),
            }
            // over the same bytes as the phase before: one more pass
            let again = before.replace(bytes) == Some(bytes);
            if let Some(last) = global.last().filter(|_| again) {
                walked.passes += last.passes;
            }
            let class = phase.class(&walked, settings, file);
            let members = (walked.ranks, phase.staggered);
            let key = |e: &ExpectedClass| (e.mix, e.sequentiality, e.size);
            match global.last_mut().filter(|last| key(last) == key(&class) && ranks.last() == Some(&members)) {
                Some(last) => {
                    last.bytes = last.bytes.saturating_add(class.bytes);
                    last.passes = last.passes.max(class.passes);
                    if again {
                        last.advice = class.advice;
                    }
                }
                None => {
                    global.push(class);
                    ranks.push(members);
                }
            }
        }
        let expected = Expected {
            learned_from: self.file.clone(),
            runs: self.runs,
            passes: passes.iter().map(|p| p.1).fold(0.0, f64::max),
            bytes: self.bytes,
            accesses: self.accesses,
            global,
        };
        Predicted { expected, ranks }
    }
}

impl Phase {
    /// Walks the chain as one rank would, classifies the walk, and puts one such walk where each rank begins.
    fn walk(&self, block: u64, settings: Settings) -> Walked {
        let write = self.rows.first().is_some_and(|r| r.state.rem_euclid(2) == 1);
        let first = if self.rows.iter().any(|r| r.state == 0) { 0 } else { i64::from(write) };
        let length = (self.accesses / self.walks.max(1)).clamp(1, MOST_WALKED);
        let states: Vec<i64> =
            std::iter::once(first).chain(Walk::new(&self.rows, first)).take(length as usize).collect();
        let base = self.low_bytes.min(0).unsigned_abs();
        let accesses = self.accesses_of(&states, base, block);
        let (mut ranks, mut starts) = (Vec::new(), Vec::new());
        for s in &self.starts {
            for i in 0..s.ranks {
                ranks.push(s.rank.saturating_add(u32::try_from(i).unwrap_or(u32::MAX)));
                starts.push(s.block(i).saturating_mul(block));
            }
        }
        let (local, shape) = self.classify(&accesses, global::merged_of_each(ranks.len()), settings);
        let place = |&start: &u64| {
            let hull = (start.saturating_add_signed(self.low_bytes), start.saturating_add_signed(self.high_bytes));
            (hull, shape.moved(start.wrapping_sub(base) as i64))
        };
        let places: Vec<(Interval, Shape)> = starts.iter().map(place).collect();
        let parts: Vec<Part> =
            places.iter().map(|(hull, shape)| Part { sequentiality: local, hull: *hull, shape }).collect();
        let class = global::classify(&parts);
        let mix = Tally::sum(accesses.iter().map(Tally::of)).unwrap_or_default().mix();
        Walked { mix, local, class, ranks, starts, passes: self.passes(first) }
    }

    /// The local class and the bytes of a walk: those of its longest segment, if that is most of the walk.
    fn classify(&self, accesses: &[Access], pieces: usize, settings: Settings) -> (Sequentiality, Shape) {
        if let Some(disorder) = self.disorder() {
            return (disorder, Shape::Whole);
        }
        let mut stream = Stream::default();
        accesses.iter().for_each(|a| stream.push(*a, settings.without_vote()));
        let segments = stream.finish(settings.without_vote());
        let longest = segments.iter().max_by_key(|s| s.tally.accesses);
        match longest.filter(|s| 2 * s.tally.accesses >= accesses.len() as u64) {
            Some(s) => (s.sequentiality, s.shape.listed(s.tally.hull, pieces)),
            None => {
                let meet = segments.iter().map(|s| s.sequentiality).reduce(Axis::meet);
                (meet.unwrap_or(Sequentiality::LEAST), Shape::Whole)
            }
        }
    }

    fn accesses_of(&self, states: &[i64], base: u64, block: u64) -> Vec<Access> {
        let block = i64::try_from(block).unwrap_or(i64::MAX);
        let place = |state: i64| base.saturating_add_signed(state.div_euclid(2).saturating_mul(block));
        let follows = self.back_to_back >= LIMITS.back_to_back && self.smallest_bytes != self.largest_bytes;
        let size = |i: usize| match states.get(i + 1) {
            Some(&next) if follows && place(next) > place(states[i]) => place(next) - place(states[i]),
            _ => self.usual_bytes.max(1),
        };
        let access = |(i, &state): (usize, &i64)| Access {
            write: state.rem_euclid(2) == 1,
            offset: place(state),
            size: size(i),
            start: i as f64,
            end: i as f64 + 0.5,
        };
        states.iter().enumerate().map(access).collect()
    }

    /// The class of a chain without order: its most frequent steps make up too small a share.
    fn disorder(&self) -> Option<Sequentiality> {
        if self.back_to_back >= LIMITS.back_to_back {
            return None;
        }
        let mut steps: HashMap<i64, u64> = HashMap::new();
        for (row, &(step, count)) in self.rows.iter().flat_map(|r| r.ways.iter().map(move |w| (r, w))) {
            let sum = steps.entry(step).or_default();
            *sum = sum.saturating_add(count.saturating_mul(row.states));
        }
        let mut counts: Vec<u64> = steps.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let sum = |all: &[u64]| all.iter().map(|c| *c as f64).sum::<f64>();
        if steps.len() <= LIMITS.usual_steps || sum(&counts[..LIMITS.usual_steps]) >= LIMITS.usual_share * sum(&counts)
        {
            return None;
        }
        let monotone = steps.keys().all(|s| *s > 0) || steps.keys().all(|s| *s < 0);
        Some(if monotone { Sequentiality::VariablyStrided } else { Sequentiality::NonSequential })
    }

    /// How often a walk is at its first block: once, and once more for every way back to it.
    fn passes(&self, first: i64) -> f64 {
        let back: u64 = self
            .rows
            .iter()
            .flat_map(|r| {
                r.ways.iter().filter_map(move |&(step, count)| {
                    let from = first.wrapping_sub(step);
                    let past = from.wrapping_sub(r.state);
                    let inside = match r.step {
                        0 => past == 0,
                        s => past >= 0 && past % s == 0 && ((past / s) as u64) < r.states,
                    };
                    inside.then_some(count)
                })
            })
            .fold(0, u64::saturating_add);
        let ends: u64 = self.rows.iter().map(|r| r.ends.saturating_mul(r.states)).fold(0, u64::saturating_add);
        1.0 + back as f64 / ends.max(1) as f64
    }

    fn class(&self, walked: &Walked, settings: Settings, file: &str) -> ExpectedClass {
        let low = walked.starts.iter().min().map_or(0, |s| s.saturating_add_signed(self.low_bytes));
        let high = walked.starts.iter().max().map_or(0, |s| s.saturating_add_signed(self.high_bytes));
        let tally = Tally {
            accesses: self.accesses,
            bytes: self.bytes,
            sizes: (self.smallest_bytes, self.largest_bytes),
            hull: (low, high.max(low)),
            ..Tally::default()
        };
        let situation = Situation {
            file: Some(file),
            ranks: walked.ranks.len(),
            class: walked.class,
            mix: walked.mix,
            size: self.size,
            tally: &tally,
            starts: &walked.starts,
            again: walked.passes >= 2.0 && walked.local == Sequentiality::Sequential,
            stripe: settings.stripe,
        };
        ExpectedClass {
            ranks: walked.ranks.len() as u64,
            mix: walked.mix,
            sequentiality: walked.class,
            size: self.size,
            passes: walked.passes,
            bytes: self.bytes,
            advice: advice::advise(&situation),
        }
    }
}

impl Predicted {
    /// The expected classes as those of this run, from the first access to the last.
    pub fn as_classes(&self, all: &[Local], origin: f64) -> Vec<GlobalClass> {
        let start_s = all.iter().map(|l| l.segment.tally.start_s).fold(f64::INFINITY, f64::min);
        let end_s = all.iter().map(|l| l.segment.tally.end_s).fold(f64::NEG_INFINITY, f64::max);
        let class = |(i, e): (usize, &ExpectedClass)| GlobalClass {
            start_s: origin + start_s,
            end_s: origin + end_s,
            ranks: self.ranks[i].0.clone(),
            mix: e.mix,
            sequentiality: e.sequentiality,
            size: e.size,
            staggered: self.ranks[i].1,
            bytes: e.bytes,
            accesses: 0,
            classifier: Classifier::Markov,
            advice: e.advice.clone(),
        };
        self.expected.global.iter().enumerate().map(class).collect()
    }

    /// Replaces classes of groups in which the rules found no order or too few accesses by the expected ones: the next one of the
    /// same mix.
    pub fn replace_undecided(&self, global: &mut [GlobalClass]) {
        let mut next: HashMap<Mix, usize> = HashMap::new();
        for g in global.iter_mut() {
            let from = next.entry(g.mix).or_default();
            let found = self.expected.global[*from..].iter().position(|e| e.mix == g.mix);
            let Some(i) = found.map(|i| *from + i) else { continue };
            *from = i + 1;
            let e = &self.expected.global[i];
            let undecided = g.sequentiality == GlobalSequentiality::NonSequential
                || g.classifier == Classifier::Network
                || g.accesses <= LIMITS.too_few * g.ranks.len() as u64;
            if undecided && e.sequentiality != g.sequentiality {
                g.sequentiality = e.sequentiality;
                g.advice = e.advice.clone();
                g.classifier = Classifier::Markov;
            }
        }
    }
}
