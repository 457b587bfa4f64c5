//! One rank's accesses to one file, cut into stretches of one local class.
//!
//! A stretch is followed by an automaton that takes the next access in constant time if it fits: back to back, or nested
//! strides. When one does not fit, accesses are collected until there are as many as a window; the cheapest way to cut them
//! into regular stretches is then sought ([`cut`]). If there is none, the window is irregular.

mod cut;
mod steps;
mod wander;

pub(super) use cut::no_step_recurs;

use super::extent::{Extent, Shape};
use super::lattice::{Axis, Mix, Sequentiality, Size};
use super::nest::Nest;
use super::report::Classifier;
use wander::{Heard, Wandering};

/// One access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Access {
    pub write: bool,
    pub offset: u64,
    pub size: u64,
    pub start: f64,
    pub end: f64,
}

impl Access {
    pub fn past(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// A local class of one rank in a file, and where and when it held.
#[derive(Debug, Clone)]
pub(crate) struct Stretch {
    pub start_s: f64,
    pub end_s: f64,
    pub mix: Mix,
    pub sequentiality: Sequentiality,
    pub size: Size,
    /// Smallest and largest size.
    pub sizes: (u64, u64),
    pub accesses: u64,
    pub extent: Extent,
    /// Its innermost stride, if it is strided.
    pub stride: Option<i64>,
    /// What gave it its class.
    pub by: Classifier,
}

/// What does not change while a stream is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Accesses that decide what follows when something does not fit.
    pub window: usize,
    /// Requests below this many bytes are small.
    pub stripe: u64,
    /// Ask the network where there is no order.
    pub ask: bool,
}

/// Sums over the accesses of a stretch.
#[derive(Debug, Clone, Copy)]
struct Totals {
    accesses: u64,
    sizes: (u64, u64),
    /// Accesses of another size than the first, and whether the last is one.
    odd: u64,
    odd_last: bool,
    bytes: u64,
    hull: (u64, u64),
    end_s: f64,
    writes: u64,
    last: Access,
}

/// A stretch that may go on.
#[derive(Debug, Clone)]
struct Open {
    first: Access,
    totals: Totals,
    form: Form,
    /// While the nest's outermost level is a guess.
    guess: Option<Guess>,
}

/// What there was before a level was guessed, and since.
#[derive(Debug, Clone, Copy)]
struct Guess {
    before: Totals,
    back_to_back: bool,
    first: Access,
    since: Totals,
}

#[derive(Debug, Clone)]
enum Form {
    Regular { back_to_back: bool, nest: Option<Nest>, slips: Slips },
    Irregular(Box<Wandering>),
}

/// Steps that missed the stride by a little: a library puts its own bytes between the pieces now and then.
#[derive(Debug, Clone, Copy, Default)]
struct Slips {
    /// How often.
    count: u64,
    /// Offset in the file less offset in the nest.
    shift: i64,
    /// The last step in the file.
    step: i64,
}

impl Slips {
    /// The offset as the nest counts.
    fn place(&self, a: &Access) -> u64 {
        a.offset.wrapping_add_signed(self.shift.wrapping_neg())
    }

    /// The offset that the nest is to see, if it is expected there or close by.
    fn settle(&mut self, nest: &mut Nest, last: u64, a: &Access) -> u64 {
        let step = a.offset.wrapping_sub(last) as i64;
        let again = std::mem::replace(&mut self.step, step) == step;
        let place = self.place(a);
        let Some(expected) = nest.expected() else { return place };
        let slip = place.wrapping_sub(expected) as i64;
        if slip == 0 || slip.unsigned_abs() > a.size / NEAR || self.count * 2 > nest.accesses {
            return place;
        }
        if again && nest.restride(step) {
            // it was the stride that was wrong, not the step
            let at = nest.block().wrapping_add_signed(step);
            self.shift = a.offset.wrapping_sub(at) as i64;
            return at;
        }
        self.count += 1;
        self.shift = self.shift.wrapping_add(slip);
        expected
    }
}

impl Open {
    fn new(first: Access) -> Self {
        let (nest, slips) = (Some(Nest::new(first.offset)), Slips::default());
        let form = Form::Regular { back_to_back: true, nest, slips };
        Self { first, totals: Totals::of(&first), form, guess: None }
    }

    /// A stretch without structure, of all these accesses.
    fn irregular(accesses: &[Access], heard: Heard) -> Option<Self> {
        let (first, rest) = accesses.split_first()?;
        let form = Form::Irregular(Box::new(Wandering::new(first, heard)));
        let mut open = Self { form, ..Self::new(*first) };
        rest.iter().for_each(|a| open.wander(a));
        Some(open)
    }

    /// Takes an access into an irregular stretch.
    fn wander(&mut self, a: &Access) {
        if let Form::Irregular(w) = &mut self.form {
            w.add(self.totals.last.offset, a);
        }
        self.totals.add(a, self.first.size);
    }

    /// Takes an access if the form of the stretch allows it; `mixed`: whether reads and writes may alternate.
    fn accept(&mut self, a: &Access, mixed: bool) -> bool {
        let Form::Regular { back_to_back, nest, slips } = &mut self.form else { return false };
        if !mixed && a.write != self.first.write {
            return false;
        }
        let follows = *back_to_back && a.offset == self.totals.last.past();
        let even = self.totals.sizes == (a.size, a.size);
        let fits = nest.as_mut().is_some_and(|n| {
            let place = if even { slips.settle(n, self.totals.last.offset, a) } else { slips.place(a) };
            n.accept(place)
        });
        if !follows && !fits {
            return false;
        }
        if nest.as_ref().is_some_and(|n| n.before_guess().is_some()) {
            match &mut self.guess {
                Some(guess) => guess.since.add(a, self.first.size),
                None => {
                    let (before, back_to_back) = (self.totals, *back_to_back);
                    self.guess = Some(Guess { before, back_to_back, first: *a, since: Totals::of(a) });
                }
            }
        } else {
            self.guess = None;
        }
        *back_to_back = follows;
        if !fits {
            *nest = None;
            self.guess = None;
        }
        self.totals.add(a, self.first.size);
        true
    }

    /// How many of these accesses can go on without order as this stretch does.
    fn may_wander(&self, accesses: &[Access]) -> usize {
        let alike = |a: &&Access| self.mixed() || a.write == self.first.write;
        match self.form {
            Form::Irregular(_) => accesses.iter().take_while(alike).count(),
            Form::Regular { .. } => 0,
        }
    }

    /// Are these too few accesses to be more than chance? Two are always a stride, places may be few, and a nest has strides
    /// to choose. Back to back is seldom chance.
    fn is_chance(&self) -> bool {
        match &self.form {
            Form::Regular { back_to_back, nest, .. } => {
                few(self.totals.accesses, *back_to_back, nest.as_ref().map_or(0, |n| n.levels.len()))
            }
            Form::Irregular(_) => false,
        }
    }

    fn before_guess_is_chance(&self) -> bool {
        let below = |n: &Nest| n.levels.len().saturating_sub(1);
        match (&self.form, &self.guess) {
            (Form::Regular { nest: Some(nest), .. }, Some(guess)) => {
                few(guess.before.accesses, guess.back_to_back, below(nest))
            }
            _ => false,
        }
    }

    fn mixed(&self) -> bool {
        self.totals.writes != 0 && self.totals.writes != self.totals.accesses
    }

    /// Accesses taken since the nest's outermost level was guessed, if the stretch lives by that guess.
    fn guessed(&self) -> Option<u64> {
        match (&self.form, &self.guess) {
            (Form::Regular { back_to_back: false, .. }, Some(guess)) => Some(guess.since.accesses),
            _ => None,
        }
    }

    /// Ends the stretch before the guess; gives what came since as a stretch of its own.
    fn take_back(&mut self) -> Option<Open> {
        self.guessed()?;
        let guess = self.guess.take()?;
        let Form::Regular { back_to_back, nest: Some(nest), slips } = &mut self.form else { return None };
        let rest = nest.take_back()?;
        self.totals = guess.before;
        *back_to_back = guess.back_to_back;
        // the run that was repeated may have been back to back, then so is this
        let form = Form::Regular { back_to_back: guess.back_to_back, nest: Some(rest), slips: *slips };
        Some(Open { first: guess.first, totals: guess.since, form, guess: None })
    }

    fn close(self, stripe: u64) -> Stretch {
        let t = self.totals;
        let mix = match t.writes {
            0 => Mix::ReadOnly,
            w if w == t.accesses => Mix::WriteOnly,
            _ => Mix::ReadWrite,
        };
        // the rest at the end of a file may be smaller, in each pass over it
        let uniform = t.odd == 0 || t.odd == 1 && t.odd_last && t.sizes.1 == self.first.size;
        let size = match (uniform, t.sizes) {
            (true, _) if self.first.size < stripe => Size::UniformSmall,
            (true, _) => Size::UniformLarge,
            (false, (_, largest)) if largest < stripe => Size::VariableSmall,
            (false, (smallest, _)) if smallest >= stripe => Size::VariableLarge,
            _ => Size::Variable,
        };
        let heard = matches!(&self.form, Form::Irregular(w) if w.by_network());
        let by = if heard { Classifier::Network } else { Classifier::Rules };
        let (sequentiality, shape, stride) = match self.form {
            Form::Regular { back_to_back: true, .. } => (Sequentiality::Sequential, Shape::Whole, None),
            // the same bytes again and again
            Form::Regular { nest: Some(nest), .. } if nest.repeats_a_run_of(self.first.size) => {
                (Sequentiality::Sequential, Shape::Whole, None)
            }
            Form::Regular { nest: Some(nest), .. } => {
                let class = if nest.levels.len() > 1 { Sequentiality::StridedKd } else { Sequentiality::Strided1d };
                let stride = nest.levels.first().map(|l| l.stride);
                (class, Shape::Nested(nest, t.sizes.1), stride)
            }
            Form::Regular { nest: None, .. } => (Sequentiality::NonSequential, Shape::Whole, None),
            Form::Irregular(w) => w.close(self.first.size),
        };
        Stretch {
            start_s: self.first.start,
            end_s: t.end_s,
            mix,
            sequentiality,
            size,
            sizes: t.sizes,
            accesses: t.accesses,
            extent: Extent { hull: t.hull, bytes: t.bytes, shape },
            stride,
            by,
        }
    }
}

impl Totals {
    fn of(first: &Access) -> Self {
        Self {
            accesses: 1,
            sizes: (first.size, first.size),
            odd: 0,
            odd_last: false,
            bytes: first.size,
            hull: (first.offset, first.past()),
            end_s: first.end,
            writes: u64::from(first.write),
            last: *first,
        }
    }

    fn add(&mut self, a: &Access, usual: u64) {
        self.accesses += 1;
        self.odd_last = a.size != usual;
        self.odd += u64::from(self.odd_last);
        self.sizes = (self.sizes.0.min(a.size), self.sizes.1.max(a.size));
        self.bytes = self.bytes.saturating_add(a.size);
        self.hull = (self.hull.0.min(a.offset), self.hull.1.max(a.past()));
        self.end_s = self.end_s.max(a.end);
        self.writes += u64::from(a.write);
        self.last = *a;
    }
}

/// A step may miss the stride by one part in so many of the request.
const NEAR: u64 = 16;
/// Any so many accesses are a stride.
const SHORT: u64 = 2;
/// So many accesses without order, or stretches of hardly more than two accesses, will not become one.
const LONG: u64 = 64;
/// Accesses that each level of a nest may choose for itself.
const FREE: u64 = 2;
/// Most stretches kept of one rank in one file; what comes after them is taken into the last one.
pub(crate) const MOST_STRETCHES: usize = 4096;

/// Are so many accesses too few to tell an order from chance?
fn few(accesses: u64, back_to_back: bool, levels: usize) -> bool {
    if back_to_back { accesses <= SHORT } else { accesses <= 1 + FREE * levels as u64 }
}

/// A stream of accesses of one rank to one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    open: Option<Open>,
    /// The last accesses of the open stretch that may have to be given back.
    recent: Vec<Access>,
    /// Accesses that fitted nowhere.
    waiting: Vec<Access>,
    done: Vec<Stretch>,
}

impl Stream {
    /// Does this access go on back to back, whatever its size?
    pub fn follows(&self, a: &Access) -> bool {
        let regular = |o: &&Open| matches!(o.form, Form::Regular { back_to_back: true, .. });
        let open = self.open.as_ref().filter(regular).filter(|_| self.waiting.is_empty());
        open.is_some_and(|o| o.totals.last.past() == a.offset)
    }

    /// Has it had no order for long, or a new one all the time?
    pub fn is_lost(&self) -> bool {
        let wanders = |o: &Open| match &o.form {
            Form::Irregular(w) => o.totals.accesses >= LONG && !w.ordered(),
            Form::Regular { .. } => false,
        };
        let pieces = self.done.len() as u64;
        self.open.as_ref().is_some_and(wanders)
            || pieces > LONG && self.done.iter().map(|s| s.accesses).sum::<u64>() < 4 * pieces
    }

    pub fn push(&mut self, a: Access, rules: Rules) {
        if self.waiting.is_empty() {
            match &mut self.open {
                Some(open) => {
                    let mixed = open.mixed();
                    if open.accept(&a, mixed) {
                        self.remember(a, rules);
                        return;
                    }
                    self.give_back(rules);
                }
                None => {
                    self.open = Some(Open::new(a));
                    self.recent.push(a);
                    return;
                }
            }
        }
        // reading begins where writing ends: they are looked at apart, unless they take turns
        let turns = self.waiting.last().is_some_and(|w| w.write != a.write);
        if turns && self.waiting.len() > 2 && self.waiting.iter().all(|w| w.write != a.write) {
            self.decide(rules, false);
            return self.push(a, rules);
        }
        self.waiting.push(a);
        if self.waiting.len() >= rules.window {
            self.decide(rules, false);
        }
    }

    /// Accesses are remembered while the open stretch may be chance or lives by a guess.
    fn remember(&mut self, a: Access, rules: Rules) {
        let Some(open) = &self.open else { return };
        match open.guessed() {
            Some(1) if !open.before_guess_is_chance() => self.recent.clear(),
            None if !open.is_chance() => return self.recent.clear(),
            _ => {}
        }
        if self.recent.len() <= rules.window + SHORT as usize {
            self.recent.push(a);
        }
    }

    /// The open stretch ends. What it took by a wrong guess waits again, and all of it if it may be chance.
    fn give_back(&mut self, rules: Rules) {
        let Some(mut open) = self.open.take() else { return };
        if matches!(open.form, Form::Irregular(_)) {
            self.open = Some(open);
            return;
        }
        let recent = std::mem::take(&mut self.recent);
        let all = recent.len() as u64 == open.totals.accesses;
        // a guess that was followed for longer than a window is a stretch of its own
        let guessed = open.guessed().is_some_and(|since| since as usize <= rules.window);
        if guessed {
            open.take_back();
        }
        if all && open.is_chance() {
            self.waiting = recent;
            return;
        }
        if guessed {
            self.waiting = recent;
        }
        self.finish(open, rules);
    }

    fn finish(&mut self, mut open: Open, rules: Rules) {
        if let Some(rest) = open.take_back() {
            self.finish(open, rules);
            return self.finish(rest, rules);
        }
        let stretch = open.close(rules.stripe);
        if self.done.len() < MOST_STRETCHES {
            self.done.push(stretch);
        } else if let Some(last) = self.done.last_mut() {
            absorb(last, &stretch);
        }
    }

    /// Cuts the waiting accesses into stretches.
    fn decide(&mut self, rules: Rules, last: bool) {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.cut(&waiting, rules, last);
        if self.waiting.is_empty() {
            // its memory is used again
            waiting.clear();
            self.waiting = waiting;
        }
    }

    fn cut(&mut self, waiting: &[Access], rules: Rules, last: bool) {
        let goes_on = self.open.as_ref().map_or(0, |o| o.may_wander(waiting));
        match cut::cheapest(waiting, goes_on) {
            Some(cuts) => {
                if let Some(mut open) = self.open.take() {
                    waiting[..cuts.before].iter().for_each(|a| open.wander(a));
                    self.finish(open, rules);
                }
                let mut from = cuts.before;
                for &to in &cuts.ends {
                    let part = &waiting[from..to];
                    from = to;
                    let Some(open) = cut::regular(part) else { continue };
                    if to == waiting.len() && !last {
                        let kept = match open.guessed() {
                            Some(since) => part.len() - since as usize,
                            None if part.len() <= 2 => 0,
                            None => part.len(),
                        };
                        self.recent.clear();
                        self.recent.extend_from_slice(&part[kept..]);
                        self.open = Some(open);
                    } else {
                        self.finish(open, rules);
                    }
                }
            }
            None => {
                // reading begins where writing ends, or the other way round
                let turned = |o: &Open| !o.mixed() && waiting[goes_on..].iter().all(|a| a.write != o.first.write);
                if goes_on < waiting.len() && self.open.as_ref().is_some_and(turned) {
                    let (before, after) = waiting.split_at(goes_on);
                    if let Some(mut open) = self.open.take() {
                        before.iter().for_each(|a| open.wander(a));
                        self.finish(open, rules);
                    }
                    self.waiting = after.to_vec();
                    if last || self.waiting.len() >= rules.window {
                        self.decide(rules, last);
                    }
                    return;
                }
                match &mut self.open {
                    Some(open) => {
                        if let Form::Irregular(w) = &mut open.form {
                            w.ask(waiting, rules);
                        }
                        waiting.iter().for_each(|a| open.wander(a));
                    }
                    None => self.open = Open::irregular(waiting, Heard::of(waiting, rules)),
                }
            }
        }
    }

    /// All stretches, in the order of the accesses.
    pub fn finish_all(mut self, rules: Rules) -> Vec<Stretch> {
        let guessed = |o: &Open| o.guessed().is_some_and(|since| since as usize <= rules.window);
        if self.waiting.is_empty() && self.open.as_ref().is_some_and(guessed) {
            self.give_back(rules);
        }
        // too few to say that order begins where there was none
        if let Some(open) = self.open.as_mut().filter(|o| matches!(o.form, Form::Irregular(_))) {
            self.waiting.drain(..).for_each(|a| open.wander(&a));
        }
        if !self.waiting.is_empty() {
            self.decide(rules, true);
        }
        if let Some(open) = self.open.take() {
            self.finish(open, rules);
        }
        self.done
    }
}

/// Takes a stretch into another: what both have in common is left.
fn absorb(into: &mut Stretch, other: &Stretch) {
    into.mix = into.mix.meet(other.mix);
    into.sequentiality = into.sequentiality.meet(other.sequentiality).meet(Sequentiality::VariablyStrided);
    into.size = into.size.meet(other.size);
    into.sizes = (into.sizes.0.min(other.sizes.0), into.sizes.1.max(other.sizes.1));
    into.end_s = into.end_s.max(other.end_s);
    into.accesses += other.accesses;
    let hull = (into.extent.hull.0.min(other.extent.hull.0), into.extent.hull.1.max(other.extent.hull.1));
    let bytes = into.extent.bytes.saturating_add(other.extent.bytes);
    into.stride = None;
    into.extent = Extent { hull, bytes, shape: Shape::Scattered(vec![hull], true) };
}
