//! An open segment: back to back, in nested strides, or without order.

use super::super::access::{Access, Segment, Settings, Tally, Voting};
use super::super::extent::Shape;
use super::super::lattice::{Sequentiality, Size};
use super::super::report::Classifier;
use super::super::thresholds::LIMITS;
use super::irregular::Irregular;
use super::strides::Strides;

/// Accesses that belong together.
#[derive(Debug, Clone)]
pub(super) struct AccessRun {
    pub first: Access,
    pub last: Access,
    pub tally: Tally,
    /// Accesses of another size than the first.
    pub odd_sizes: u64,
    /// The first accesses, as many as a vote needs.
    head: Vec<Access>,
    kept: usize,
}

/// A segment that can take more accesses.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub run: AccessRun,
    form: Form,
    /// Set while the outermost loop of the nest is a guess.
    guess: Option<Guess>,
}

/// The accesses before and since a loop was guessed, and whether those before were back to back.
#[derive(Debug, Clone)]
struct Guess {
    before: AccessRun,
    back_to_back: bool,
    since: AccessRun,
}

#[derive(Debug, Clone)]
enum Form {
    Regular { back_to_back: bool, strides: Option<Strides> },
    Irregular(Box<Irregular>),
}

impl AccessRun {
    fn of(first: Access, kept: usize) -> Self {
        let head = if kept > 0 { vec![first] } else { Vec::new() };
        Self { first, last: first, tally: Tally::of(&first), odd_sizes: 0, head, kept }
    }

    fn add(&mut self, a: &Access) {
        self.tally.add(a);
        self.odd_sizes += u64::from(a.size != self.first.size);
        self.last = *a;
        if self.head.len() < self.kept {
            self.head.push(*a);
        }
    }

    /// The size class. The last access before the end of a file may be smaller.
    fn size(&self, stripe: u64) -> Size {
        let (size, (smallest, largest)) = (self.first.size, self.tally.sizes);
        let uniform = self.odd_sizes == 0 || self.odd_sizes == 1 && self.last.size < size && largest == size;
        match uniform {
            true if size < stripe => Size::UniformSmall,
            true => Size::UniformLarge,
            false if largest < stripe => Size::VariableSmall,
            false if smallest >= stripe => Size::VariableLarge,
            false => Size::Variable,
        }
    }
}

/// Could this order be chance? A nest needs more accesses than it has strides to choose; back-to-back accesses are seldom
/// chance.
fn few(accesses: u64, back_to_back: bool, loops: usize) -> bool {
    if back_to_back { accesses <= LIMITS.short } else { accesses <= 1 + LIMITS.free * loops as u64 }
}

impl Open {
    /// A new segment; `kept`: first accesses to keep for a vote.
    pub fn new(first: Access, kept: usize) -> Self {
        let form = Form::Regular { back_to_back: true, strides: Some(Strides::new(first.offset)) };
        Self { run: AccessRun::of(first, kept), form, guess: None }
    }

    /// A regular segment of all these accesses; `None` if they have no regular order.
    pub fn regular(accesses: &[Access], kept: usize) -> Option<Self> {
        let (first, rest) = accesses.split_first()?;
        [false, true].into_iter().find_map(|mixed| {
            let mut open = Self::new(*first, kept);
            rest.iter().all(|a| open.accept(a, mixed)).then_some(open)
        })
    }

    /// A segment of a window without order.
    pub fn irregular(window: &[Access], settings: Settings) -> Option<Self> {
        let (first, rest) = window.split_first()?;
        let mut irregular = Box::new(Irregular::new(first));
        irregular.ask(window, settings);
        let mut open =
            Self { run: AccessRun::of(*first, settings.kept()), form: Form::Irregular(irregular), guess: None };
        open.add_irregular(rest);
        Some(open)
    }

    /// Adds one more window to an irregular segment.
    pub fn add_window(&mut self, window: &[Access], settings: Settings) {
        if let Form::Irregular(irregular) = &mut self.form {
            irregular.ask(window, settings);
        }
        self.add_irregular(window);
    }

    /// Adds accesses, whatever their order.
    pub fn add_irregular(&mut self, accesses: &[Access]) {
        for a in accesses {
            if let Form::Irregular(irregular) = &mut self.form {
                irregular.add(self.run.last.offset, a);
            }
            self.run.add(a);
        }
    }

    /// Adds an access if it fits; `mixed`: reads and writes may alternate.
    pub fn accept(&mut self, a: &Access, mixed: bool) -> bool {
        let Form::Regular { back_to_back, strides } = &mut self.form else { return false };
        if !mixed && a.write != self.run.first.write {
            return false;
        }
        let follows = *back_to_back && a.offset == self.run.last.past();
        let even = self.run.tally.sizes == (a.size, a.size);
        let fits = strides.as_mut().is_some_and(|s| s.accept(self.run.last.offset, a, even));
        if !follows && !fits {
            return false;
        }
        if !fits {
            *strides = None;
        }
        let is_guess = strides.as_ref().is_some_and(Strides::is_guess);
        match &mut self.guess {
            Some(guess) if is_guess => guess.since.add(a),
            None if is_guess => {
                let (before, back_to_back) = (self.run.clone(), *back_to_back);
                let since = AccessRun::of(*a, before.kept);
                self.guess = Some(Guess { before, back_to_back, since });
            }
            guess => *guess = None,
        }
        *back_to_back = follows;
        self.run.add(a);
        true
    }

    pub fn is_irregular(&self) -> bool {
        matches!(self.form, Form::Irregular(_))
    }

    pub fn is_back_to_back(&self) -> bool {
        matches!(self.form, Form::Regular { back_to_back: true, .. })
    }

    pub fn strides(&self) -> Option<&Strides> {
        match &self.form {
            Form::Regular { strides, .. } => strides.as_ref(),
            Form::Irregular(_) => None,
        }
    }

    pub fn has_usual_step(&self) -> bool {
        matches!(&self.form, Form::Irregular(i) if i.has_usual_step())
    }

    pub fn is_mixed(&self) -> bool {
        self.run.tally.writes != 0 && self.run.tally.writes != self.run.tally.accesses
    }

    /// How many of these accesses an irregular segment can take.
    pub fn may_go_on(&self, accesses: &[Access]) -> usize {
        let alike = |a: &&Access| self.is_mixed() || a.write == self.run.first.write;
        if self.is_irregular() { accesses.iter().take_while(alike).count() } else { 0 }
    }

    /// Are these too few accesses to rule out chance?
    pub fn may_be_chance(&self) -> bool {
        let loops = self.strides().map_or(0, Strides::depth);
        !self.is_irregular() && few(self.run.tally.accesses, self.is_back_to_back(), loops)
    }

    pub fn before_guess_may_be_chance(&self) -> bool {
        let few = |s: &Strides, g: &Guess| few(g.before.tally.accesses, g.back_to_back, s.depth().saturating_sub(1));
        self.strides().zip(self.guess.as_ref()).is_some_and(|(s, g)| few(s, g))
    }

    /// Accesses since the outermost loop was guessed, if the segment depends on that guess.
    pub fn guessed(&self) -> Option<u64> {
        self.guess.as_ref().filter(|_| !self.is_back_to_back()).map(|g| g.since.tally.accesses)
    }

    /// Ends the segment before the guess; returns the accesses since then as a segment of their own.
    pub fn take_back(&mut self) -> Option<Open> {
        self.guessed()?;
        let guess = self.guess.take()?;
        let Form::Regular { back_to_back, strides } = &mut self.form else { return None };
        let (before, since) = strides.take()?.split_guess();
        self.run = guess.before;
        (*back_to_back, *strides) = (guess.back_to_back, Some(before));
        // the run that was repeated may have been back to back, then so is this
        let form = Form::Regular { back_to_back: guess.back_to_back, strides: Some(since) };
        Some(Open { run: guess.since, form, guess: None })
    }

    pub fn close(self, settings: Settings) -> Segment {
        // the rows of a trace may be out of order: a segment begins with its first one
        let (first, tally) = (self.run.first, Tally { start_s: self.run.first.start, ..self.run.tally });
        let size = self.run.size(settings.stripe);
        let by_network = matches!(&self.form, Form::Irregular(i) if i.is_by_network());
        let (sequentiality, shape, stride) = match self.form {
            Form::Regular { back_to_back: true, .. } => (Sequentiality::Sequential, Shape::Whole, None),
            Form::Regular { strides: Some(s), .. } if s.repeats_a_run_of(first.size) => {
                (Sequentiality::Sequential, Shape::Whole, None)
            }
            Form::Regular { strides: Some(s), .. } => {
                let class = if s.depth() > 1 { Sequentiality::StridedKd } else { Sequentiality::Strided1d };
                let stride = s.stride();
                (class, Shape::Nested(s.into_nest(), tally.sizes.1), stride)
            }
            Form::Regular { strides: None, .. } => (Sequentiality::NonSequential, Shape::Whole, None),
            Form::Irregular(i) => i.close(first.size),
        };
        let by = if by_network { Classifier::Network } else { Classifier::Rules };
        let segment = Segment { tally, mix: tally.mix(), sequentiality, size, shape, stride, by };
        match settings.voting {
            Voting::Always(vote) => segment.with_vote(vote(&self.run.head, settings.stripe)),
            _ => segment,
        }
    }
}
