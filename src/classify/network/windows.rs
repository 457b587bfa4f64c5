//! Stretches from windows: accesses come in, the network judges window after window.
//!
//! A window that is judged as the open stretch joins it. Of another one it is asked where one stretch ends and the next
//! begins: where the network is surest of both sides. Runs of one form at one distance are rows of a nest.

use super::super::access::{Access, MOST_STRETCHES, Settings, Stretch, Tally, no_step_recurs};
use super::super::extent::{Front, Shape};
use super::super::lattice::{Axis, Mix, Sequentiality, Size};
use super::super::report::Classifier;
use super::features;
use super::perceptron::{WindowJudgment, judge, vote};

/// Cost of a side of a cut that is too short to show anything.
const SHORT: f64 = 0.3;
/// Cost of each access without order.
const DISORDER: f64 = 0.35;
/// Fewer accesses than this between disorder are no order.
const CHANCE: u64 = 3;
/// Fewer accesses than this do not show a change.
const CHANGES: usize = 4;
/// From this probability on the network is believed that an order begins.
const SURE: f64 = 0.9;
/// Cost of each cut after the first.
const AGAIN: f64 = 0.3;
/// Cost of another step in a walk that has one step.
const ODD: f64 = 1.0;
/// Longest window that the network has seen in training, less the access before it.
const WINDOW: usize = 20;

/// A stretch that may go on.
#[derive(Debug, Clone)]
struct JudgedStretch {
    walk: Sequentiality,
    mix: Mix,
    size: Size,
    first: Access,
    tally: Tally,
    front: Front,
    /// The last accesses.
    tail: Vec<Access>,
    rows: Option<Rows>,
}

/// A stretch that is made of runs of one form.
#[derive(Debug, Clone, Copy)]
struct Rows {
    walk: Sequentiality,
    accesses: u64,
    stride: i64,
    /// Where the last one begins.
    last: u64,
}

impl JudgedStretch {
    fn of(accesses: &[Access], settings: Settings) -> Option<Self> {
        let first = *accesses.first()?;
        let (walk, mix, size) = match judge(accesses, settings.stripe) {
            Some(j) => (j.unbroken().0, j.mix, j.size),
            None => {
                let size = if first.size < settings.stripe { Size::UniformSmall } else { Size::UniformLarge };
                (Sequentiality::Sequential, Tally::of(&first).mix(), size)
            }
        };
        let mut front = Front::default();
        front.add(first.offset, first.past());
        let (tally, tail) = (Tally::of(&first), vec![first]);
        let mut open = Self { walk, mix, size, first, tally, front, tail, rows: None };
        open.take(&accesses[1..]);
        Some(open)
    }

    fn take(&mut self, accesses: &[Access]) {
        for a in accesses {
            self.tally.add(a);
            self.front.add(a.offset, a.past());
        }
        self.tail.extend_from_slice(accesses);
        let old = self.tail.len().saturating_sub(features::MOST);
        self.tail.drain(..old);
    }

    /// The size class when a window of this one, whose first access has `first` bytes, joins.
    fn joined_size(&self, size: Size, first: u64) -> Size {
        if first == self.first.size { self.size.meet(size) } else { self.size.beside(size) }
    }

    /// Takes accesses that are judged to be of this size class.
    fn take_judged(&mut self, accesses: &[Access], size: Option<Size>) {
        if let Some(first) = accesses.first() {
            self.size = self.joined_size(size.unwrap_or(self.size), first.size);
        }
        self.take(accesses);
    }

    /// `self` and `next` as one.
    fn join(&mut self, next: JudgedStretch) {
        self.size = self.joined_size(next.size, next.first.size);
        self.mix = self.mix.meet(next.mix);
        self.tally.join(&next.tally);
        self.front.join(next.front);
        self.tail = next.tail;
    }

    /// Runs of one form may be rows of one nest.
    fn alike(&self, other: &JudgedStretch) -> bool {
        let form = self.rows.map_or(self.walk, |r| r.walk);
        let regular = matches!(form, Sequentiality::Sequential | Sequentiality::Strided1d);
        regular && (form, self.mix, self.first.size) == (other.walk, other.mix, other.first.size)
    }

    /// True if these rows go on with `next`.
    fn takes_row(&mut self, next: &JudgedStretch) -> bool {
        let Some(rows) = &mut self.rows else { return false };
        let fits = next.tally.accesses <= rows.accesses && stride(rows.last, next.first.offset) == rows.stride;
        if fits {
            rows.last = next.first.offset;
        }
        fits && self.alike(next)
    }

    /// The rows that this stretch and the next two are, if they are.
    fn begins_rows(&self, second: &JudgedStretch, third: &JudgedStretch) -> Option<Rows> {
        let step = stride(self.first.offset, second.first.offset);
        let (accesses, last) = (self.tally.accesses, third.first.offset);
        let is_even = step == stride(second.first.offset, last)
            && second.tally.accesses == accesses
            && third.tally.accesses <= accesses;
        let is_new = self.rows.is_none() && second.rows.is_none();
        (is_new && is_even && self.alike(second) && second.alike(third)).then_some(Rows {
            walk: self.walk,
            accesses,
            stride: step,
            last,
        })
    }

    fn close(self) -> Stretch {
        let Self { walk: sequentiality, mix, size, .. } = self;
        let tally = Tally { start_s: self.first.start, ..self.tally };
        let shape = if sequentiality == Sequentiality::Sequential { Shape::Whole } else { self.front.finish() };
        Stretch { tally, mix, sequentiality, size, shape, stride: None, by: Classifier::Network }
    }
}

fn stride(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from) as i64
}

/// A stream of accesses of one rank to one file, judged by the network.
#[derive(Debug, Clone, Default)]
pub(crate) struct Windows {
    open: Option<JudgedStretch>,
    pending: Vec<Access>,
    worths: Worths,
    done: Vec<JudgedStretch>,
}

impl Windows {
    pub fn push(&mut self, a: Access, settings: Settings) {
        self.pending.push(a);
        let window = settings.window.min(WINDOW);
        while self.pending.len() >= window {
            self.decide(settings);
        }
    }

    /// Judges what is pending; some or all of it gets a stretch.
    fn decide(&mut self, settings: Settings) {
        let pending = std::mem::take(&mut self.pending);
        let mut worths = std::mem::take(&mut self.worths);
        let Some(mut open) = self.open.take() else { return self.begin(pending, worths, settings) };
        if let Some((walk, size)) = goes_on(&open, &pending, settings) {
            open.walk = open.walk.meet(walk);
            open.take_judged(&pending, size);
            self.open = Some(open);
            return;
        }
        let cut = best_cut(Some(&open), &pending, &mut worths, settings);
        open.take_judged(&pending[..cut], judge(&pending[..cut], settings.stripe).map(|j| j.size));
        if cut == pending.len() {
            self.open = Some(open);
            return;
        }
        self.close(open);
        self.pending = pending[cut..].to_vec();
        self.worths = worths.past(cut);
    }

    /// A stretch begins.
    fn begin(&mut self, pending: Vec<Access>, mut worths: Worths, settings: Settings) {
        let odd = |walk| odd_steps(walk, &pending, pending.len()) > 0;
        match judge(&pending, settings.stripe).map(|j| j.walk()) {
            Some(walk) if walk.is_none_or(odd) => {
                let cut = best_cut(None, &pending, &mut worths, settings);
                if let Some(open) = JudgedStretch::of(&pending[..cut], settings) {
                    self.close(open);
                }
                self.pending = pending[cut..].to_vec();
                self.worths = worths.past(cut);
            }
            _ => self.open = JudgedStretch::of(&pending, settings),
        }
    }

    fn close(&mut self, open: JudgedStretch) {
        // disorder goes on
        if let Some(last) = self.done.last_mut().filter(|l| !ordered(l.walk) && l.mix == open.mix)
            && (!ordered(open.walk) || open.tally.accesses < CHANCE)
        {
            last.walk = last.walk.meet(open.walk);
            return last.join(open);
        }
        if let [.., before, last] = &mut self.done[..] {
            if last.takes_row(&open) {
                return last.join(open);
            }
            if let Some(rows) = before.begins_rows(last, &open) {
                // the same bytes again and again are no nest
                if rows.stride != 0 || before.walk != Sequentiality::Sequential {
                    before.walk = Sequentiality::StridedKd;
                }
                before.rows = Some(rows);
                before.join(last.clone());
                before.join(open);
                self.done.pop();
                return;
            }
        }
        let full = self.done.len() >= MOST_STRETCHES;
        match self.done.last_mut() {
            Some(last) if full => {
                last.walk = last.walk.meet(open.walk).meet(Sequentiality::VariablyStrided);
                last.join(open);
            }
            _ => self.done.push(open),
        }
    }

    /// All stretches, in the order of the accesses.
    pub fn finish(mut self, settings: Settings) -> Vec<Stretch> {
        while !self.pending.is_empty() {
            self.decide(settings);
        }
        if let Some(open) = self.open.take() {
            self.close(open);
        }
        self.done.into_iter().map(JudgedStretch::close).collect()
    }
}

/// The walk and the size class with which the stretch goes on through all pending accesses; `None` if another one may begin.
fn goes_on(open: &JudgedStretch, pending: &[Access], settings: Settings) -> Option<(Sequentiality, Option<Size>)> {
    if !ordered(open.walk) && pending.len() > CHANGES && pending.iter().all(|a| a.write == open.first.write) {
        // most windows without order are known without asking where one might begin
        let all: Vec<Access> = open.tail.last().into_iter().chain(pending).copied().collect();
        if no_step_recurs(&all) {
            let judged = judge(&all, settings.stripe);
            let walk = judged.and_then(|j| j.walk()).filter(|w| !ordered(*w));
            return Some((walk.unwrap_or(Sequentiality::LEAST), judged.map(|j| j.size)));
        }
    }
    if turns(open, pending, settings) {
        return None;
    }
    let same = |w| open.walk == w || !ordered(open.walk) && !ordered(w);
    let judged = [settings.window.min(WINDOW) + 1, features::MOST].into_iter().find_map(|length| {
        let tail = &open.tail[open.tail.len() - length.saturating_sub(pending.len()).clamp(1, open.tail.len())..];
        let agrees = |j: &WindowJudgment| j.mix == open.mix && j.walk().is_some_and(same);
        judge(&[tail, pending].concat(), settings.stripe).filter(agrees)
    });
    judged.map(|j| (j.walk().unwrap_or(open.walk), Some(j.size)))
}

/// May another stretch begin among these accesses, though the network sees none? Where there is one step, another one is such
/// a sign; where there is no order, an order in the second half of them. The accesses before them would outweigh it.
fn turns(open: &JudgedStretch, pending: &[Access], settings: Settings) -> bool {
    if one_step(open.walk) {
        return odd_steps(open.walk, &[&open.tail, pending].concat(), pending.len()) > 0;
    }
    let half = &pending[pending.len() / 2..];
    let order = if half.len() < CHANGES { None } else { vote(half, settings.stripe) };
    !ordered(open.walk) && order.is_some_and(|(walk, p)| one_step(walk) && p >= SURE)
}

/// Is there one step, which predicts the next access?
fn one_step(walk: Sequentiality) -> bool {
    matches!(walk, Sequentiality::Sequential | Sequentiality::Strided1d)
}

/// How many of the last `last` steps are another's: where reading begins and writing ends for good, or the other way round; and
/// of a walk with one step those that are not that one: they do not follow, or differ from the most frequent one.
fn odd_steps(walk: Sequentiality, accesses: &[Access], last: usize) -> usize {
    let step = |w: &[Access]| w[1].offset.wrapping_sub(w[0].offset);
    let usual = features::mode(&accesses.windows(2).map(step).collect::<Vec<_>>()).0;
    let turns = accesses.windows(2).filter(|w| w[0].write != w[1].write).count();
    let odd = |w: &&[Access]| match walk {
        _ if turns == 1 && w[0].write != w[1].write => true,
        Sequentiality::Sequential => w[0].past() != w[1].offset,
        Sequentiality::Strided1d => step(w) != usual,
        _ => false,
    };
    accesses.windows(2).rev().take(last).filter(odd).count()
}

/// Has the walk an order that predicts the next access?
fn ordered(walk: Sequentiality) -> bool {
    walk < Sequentiality::VariablyStrided
}

/// How many of the pending accesses still belong to `open`, or to the first of several stretches if there is none: where the
/// probability of all stretches is greatest. Disorder is no explanation: each access in it has a price.
fn best_cut(open: Option<&JudgedStretch>, pending: &[Access], worths: &mut Worths, settings: Settings) -> usize {
    let n = pending.len();
    // worth of the rest, however it is cut
    let mut rest = vec![0.0; n + 1];
    let mut first = n;
    for from in (0..n).rev() {
        let (mut best, mut end) = (f64::NEG_INFINITY, n);
        for to in (from + 1..=n).rev() {
            let more = if to < n { rest[to] - AGAIN } else { 0.0 };
            // a part is worth nothing at best
            if more < best {
                continue;
            }
            let worth = worths.of(pending, from, to, settings) + more;
            if worth >= best {
                (best, end) = (worth, to);
            }
        }
        (rest[from], first) = (best, end);
    }
    let Some(h) = open else { return first };
    let before = |cut: usize| {
        let tail = &h.tail[h.tail.len().saturating_sub(settings.window.min(WINDOW))..];
        let all = [tail, &pending[..cut]].concat();
        let disorder = if ordered(h.walk) { 0.0 } else { DISORDER * cut as f64 };
        let odd = ODD * odd_steps(h.walk, &all, cut) as f64;
        judge(&all, settings.stripe).map_or(0.0, |j| sure(j.of(h.walk))) - disorder - odd
    };
    let mut best = (f64::NEG_INFINITY, n);
    for (cut, &rest) in rest.iter().enumerate() {
        // a part that goes on is worth nothing at best, too
        if rest > best.0 {
            let worth = if cut == 0 { 0.0 } else { before(cut) } + rest;
            if worth > best.0 {
                best = (worth, cut);
            }
        }
    }
    best.1
}

/// Worths of parts of the pending accesses as stretches of their own. They are asked often, also after some accesses are cut off.
#[derive(Debug, Clone, Default)]
struct Worths {
    /// By the first access and the number of accesses; not a number if not asked yet.
    known: Vec<[f64; WINDOW + 1]>,
}

impl Worths {
    /// The logarithm of the probability of the likeliest walk from one access to before another, less what it costs; not above 0.
    fn of(&mut self, pending: &[Access], from: usize, to: usize, settings: Settings) -> f64 {
        if self.known.len() < pending.len() {
            self.known.resize(pending.len(), [f64::NAN; WINDOW + 1]);
        }
        let worth = || {
            let part = &pending[from..to];
            match vote(part, settings.stripe) {
                Some((walk, p)) => sure(p) - price(walk, part.len()) - ODD * odd_steps(walk, part, part.len()) as f64,
                None => -SHORT,
            }
        };
        match self.known[from].get_mut(to - from) {
            Some(known) if !known.is_nan() => *known,
            Some(unknown) => {
                *unknown = worth();
                *unknown
            }
            None => worth(),
        }
    }

    /// The worths that still hold when the first accesses have been cut off.
    fn past(mut self, cut: usize) -> Self {
        self.known.drain(..cut.min(self.known.len()));
        self
    }
}

fn sure(p: f64) -> f64 {
    p.max(1e-6).ln()
}

/// Cost of a side of a cut.
fn price(walk: Sequentiality, accesses: usize) -> f64 {
    match (ordered(walk), accesses) {
        (false, n) => DISORDER * n as f64,
        // any two accesses are a stride
        (true, 2) if walk != Sequentiality::Sequential => 1.5 * SHORT,
        (true, 2) => 0.5 * SHORT,
        _ => 0.0,
    }
}
