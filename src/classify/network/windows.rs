//! Stretches from windows: accesses come in, the network judges window after window.
//!
//! A window that is judged as the open stretch joins it. Of another one it is asked where one stretch ends and the next
//! begins: where the network is surest of both sides. Runs of one form at one distance are rows of a nest.

use super::super::extent::{Extent, Front, Shape};
use super::super::lattice::{Axis, Mix, Sequentiality, Size};
use super::super::report::Classifier;
use super::super::stream::{Access, MOST_STRETCHES, Rules, Stretch, no_step_recurs};
use super::{Judged, features, judge};

/// What a side of a cut costs that is too short to show anything.
const SHORT: f64 = 0.3;
/// What each access without order costs.
const DISORDER: f64 = 0.35;
/// Fewer accesses than this between disorder are no order.
const CHANCE: u64 = 3;
/// Fewer accesses than this do not show a change.
const CHANGES: usize = 4;
/// From this probability on the network is believed that an order begins.
const SURE: f64 = 0.9;
/// What each cut costs after the first.
const AGAIN: f64 = 0.3;
/// What another step costs in a walk that has one step.
const ODD: f64 = 1.0;
/// Longest window that the network has seen in training, less the access before it.
const WINDOW: usize = 20;

/// A stretch that may go on.
#[derive(Debug, Clone)]
struct Held {
    walk: Sequentiality,
    mix: Mix,
    size: Size,
    usual: u64,
    first: Access,
    accesses: u64,
    sizes: (u64, u64),
    bytes: u64,
    hull: (u64, u64),
    end_s: f64,
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

impl Held {
    fn new(walk: Sequentiality, mix: Mix, size: Size, accesses: &[Access]) -> Option<Self> {
        let first = *accesses.first()?;
        let mut held = Self {
            walk,
            mix,
            size,
            usual: first.size,
            first,
            accesses: 0,
            sizes: (first.size, first.size),
            bytes: 0,
            hull: (first.offset, first.past()),
            end_s: first.end,
            front: Front::default(),
            tail: Vec::new(),
            rows: None,
        };
        held.take(accesses);
        Some(held)
    }

    fn of(accesses: &[Access], rules: Rules) -> Option<Self> {
        let first = accesses.first()?;
        match judge(accesses, rules.stripe) {
            Some(j) => Self::new(j.unbroken().0, j.mix, j.size, accesses),
            None => {
                let mix = if first.write { Mix::WriteOnly } else { Mix::ReadOnly };
                let size = if first.size < rules.stripe { Size::UniformSmall } else { Size::UniformLarge };
                Self::new(Sequentiality::Sequential, mix, size, accesses)
            }
        }
    }

    fn take(&mut self, accesses: &[Access]) {
        for a in accesses {
            self.accesses += 1;
            self.sizes = (self.sizes.0.min(a.size), self.sizes.1.max(a.size));
            self.bytes = self.bytes.saturating_add(a.size);
            self.hull = (self.hull.0.min(a.offset), self.hull.1.max(a.past()));
            self.end_s = self.end_s.max(a.end);
            self.front.add(a.offset, a.past());
        }
        self.tail.extend_from_slice(accesses);
        let old = self.tail.len().saturating_sub(features::MOST);
        self.tail.drain(..old);
    }

    /// The size class when a window of this one joins.
    fn joined_size(&self, size: Size, usual: u64) -> Size {
        match self.size.meet(size) {
            Size::UniformSmall if usual != self.usual => Size::VariableSmall,
            Size::UniformLarge if usual != self.usual => Size::VariableLarge,
            met => met,
        }
    }

    /// `self` and `next` as one.
    fn absorb(&mut self, next: Held) {
        self.size = self.joined_size(next.size, next.usual);
        self.mix = self.mix.meet(next.mix);
        self.accesses += next.accesses;
        self.sizes = (self.sizes.0.min(next.sizes.0), self.sizes.1.max(next.sizes.1));
        self.bytes = self.bytes.saturating_add(next.bytes);
        self.hull = (self.hull.0.min(next.hull.0), self.hull.1.max(next.hull.1));
        self.end_s = self.end_s.max(next.end_s);
        self.front.join(next.front);
        self.tail = next.tail;
    }

    /// Runs of one form may be rows of one nest.
    fn alike(&self, other: &Held) -> bool {
        let form = self.rows.map_or(self.walk, |r| r.walk);
        let regular = matches!(form, Sequentiality::Sequential | Sequentiality::Strided1d);
        regular && (form, self.mix, self.usual) == (other.walk, other.mix, other.usual)
    }

    fn close(self) -> Stretch {
        let shape = if self.walk == Sequentiality::Sequential { Shape::Whole } else { self.front.finish() };
        Stretch {
            start_s: self.first.start,
            end_s: self.end_s,
            mix: self.mix,
            sequentiality: self.walk,
            size: self.size,
            sizes: self.sizes,
            accesses: self.accesses,
            extent: Extent { hull: self.hull, bytes: self.bytes, shape },
            stride: None,
            by: Classifier::Network,
        }
    }
}

/// A stream of accesses of one rank to one file, judged by the network.
#[derive(Debug, Clone, Default)]
pub(crate) struct Windows {
    open: Option<Held>,
    pending: Vec<Access>,
    worths: Worths,
    done: Vec<Held>,
}

impl Windows {
    pub fn push(&mut self, a: Access, rules: Rules) {
        self.pending.push(a);
        let window = rules.window.min(WINDOW);
        while self.pending.len() >= window {
            self.decide(rules);
        }
    }

    /// Judges what is pending; some or all of it gets a stretch.
    fn decide(&mut self, rules: Rules) {
        let pending = std::mem::take(&mut self.pending);
        let mut worths = std::mem::take(&mut self.worths);
        let Some(mut held) = self.open.take() else { return self.begin(pending, worths, rules) };
        if !ordered(held.walk) && pending.iter().all(|a| a.write == held.first.write) {
            // most windows without order are told without asking where it might begin
            let last = held.tail.last().copied();
            let all: Vec<Access> = last.into_iter().chain(pending.iter().copied()).collect();
            if pending.len() > CHANGES && no_step_recurs(&all) {
                let judged = judge(&all, rules.stripe);
                let walk = judged.and_then(|j| j.walk()).filter(|w| !ordered(*w));
                held.walk = held.walk.meet(walk.unwrap_or(Sequentiality::LEAST));
                held.size = held.joined_size(judged.map_or(held.size, |j| j.size), pending[0].size);
                held.take(&pending);
                self.open = Some(held);
                return;
            }
        }
        let same = |w| held.walk == w || !ordered(held.walk) && !ordered(w);
        let agrees = |j: &Judged| j.mix == held.mix && j.walk().is_some_and(same);
        let turns = turns(&held, &pending, rules);
        let lengths = [rules.window.min(WINDOW) + 1, features::MOST];
        let judged = lengths.into_iter().filter(|_| !turns).find_map(|length| {
            let tail = &held.tail[held.tail.len() - length.saturating_sub(pending.len()).clamp(1, held.tail.len())..];
            judge(&[tail, &pending].concat(), rules.stripe).filter(agrees)
        });
        if let Some(j) = judged {
            held.walk = held.walk.meet(j.walk().unwrap_or(held.walk));
            held.size = held.joined_size(j.size, pending[0].size);
            held.take(&pending);
            self.open = Some(held);
            return;
        }
        let cut = best_cut(Some(&held), &pending, &mut worths, rules);
        if cut > 0 {
            let size = judge(&pending[..cut], rules.stripe).map_or(held.size, |j| j.size);
            held.size = held.joined_size(size, pending[0].size);
            held.take(&pending[..cut]);
        }
        if cut == pending.len() {
            self.open = Some(held);
            return;
        }
        self.finish(held);
        self.pending = pending[cut..].to_vec();
        self.worths = worths.past(cut);
    }

    /// A stretch begins.
    fn begin(&mut self, pending: Vec<Access>, mut worths: Worths, rules: Rules) {
        let odd = |walk| odd_steps(walk, &pending, pending.len()) > 0;
        match judge(&pending, rules.stripe).map(|j| j.walk()) {
            Some(walk) if walk.is_none_or(odd) => {
                let cut = best_cut(None, &pending, &mut worths, rules);
                if let Some(held) = Held::of(&pending[..cut], rules) {
                    self.finish(held);
                }
                self.pending = pending[cut..].to_vec();
                self.worths = worths.past(cut);
            }
            _ => self.open = Held::of(&pending, rules),
        }
    }

    fn finish(&mut self, held: Held) {
        // disorder goes on
        if let Some(last) = self.done.last_mut().filter(|l| !ordered(l.walk) && l.mix == held.mix)
            && (!ordered(held.walk) || held.accesses < CHANCE)
        {
            last.walk = last.walk.meet(held.walk);
            return last.absorb(held);
        }
        if let [.., before, last] = &mut self.done[..] {
            let stride = |a: u64, b: u64| b.wrapping_sub(a) as i64;
            if let Some(rows) = &mut last.rows {
                let fits = held.accesses <= rows.accesses && stride(rows.last, held.first.offset) == rows.stride;
                if fits {
                    rows.last = held.first.offset;
                }
                if fits && last.alike(&held) {
                    return last.absorb(held);
                }
            } else if before.rows.is_none() && before.alike(last) && last.alike(&held) {
                let step = stride(before.first.offset, last.first.offset);
                let even = step == stride(last.first.offset, held.first.offset);
                if even && before.accesses == last.accesses && held.accesses <= last.accesses {
                    let last = self.done.pop();
                    if let (Some(last), Some(all)) = (last, self.done.last_mut()) {
                        let rows =
                            Rows { walk: all.walk, accesses: all.accesses, stride: step, last: held.first.offset };
                        all.rows = Some(rows);
                        // the same bytes again and again are no nest
                        if step != 0 || all.walk != Sequentiality::Sequential {
                            all.walk = Sequentiality::StridedKd;
                        }
                        all.absorb(last);
                        all.absorb(held);
                    }
                    return;
                }
            }
        }
        let full = self.done.len() >= MOST_STRETCHES;
        match self.done.last_mut() {
            Some(last) if full => {
                last.walk = last.walk.meet(held.walk).meet(Sequentiality::VariablyStrided);
                last.absorb(held);
            }
            _ => self.done.push(held),
        }
    }

    /// All stretches, in the order of the accesses.
    pub fn finish_all(mut self, rules: Rules) -> Vec<Stretch> {
        while !self.pending.is_empty() {
            self.decide(rules);
        }
        if let Some(held) = self.open.take() {
            self.finish(held);
        }
        self.done.into_iter().map(Held::close).collect()
    }
}

/// May another stretch begin among these accesses, though the network sees none? Where there is one step, another one is such
/// a sign; where there is no order, an order in the second half of them. The accesses before them would outweigh it.
fn turns(held: &Held, pending: &[Access], rules: Rules) -> bool {
    if one_step(held.walk) {
        return odd_steps(held.walk, &[&held.tail, pending].concat(), pending.len()) > 0;
    }
    let half = &pending[pending.len() / 2..];
    let order = if half.len() < CHANGES { None } else { judge(half, rules.stripe).map(|j| j.unbroken()) };
    !ordered(held.walk) && order.is_some_and(|(walk, p)| one_step(walk) && p >= SURE)
}

/// Is there one step, which tells the next access?
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

/// Has the walk an order that tells the next access?
fn ordered(walk: Sequentiality) -> bool {
    walk < Sequentiality::VariablyStrided
}

/// How many of the pending accesses still belong to `held`, or to the first of several stretches if there is none: where the
/// probability of all stretches is greatest. Disorder is no explanation: each access in it has a price.
fn best_cut(held: Option<&Held>, pending: &[Access], worths: &mut Worths, rules: Rules) -> usize {
    let n = pending.len();
    // what the rest is worth, however it is cut
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
            let worth = worths.of(pending, from, to, rules) + more;
            if worth >= best {
                (best, end) = (worth, to);
            }
        }
        (rest[from], first) = (best, end);
    }
    let Some(h) = held else { return first };
    let before = |cut: usize| {
        let tail = &h.tail[h.tail.len().saturating_sub(rules.window.min(WINDOW))..];
        let all = [tail, &pending[..cut]].concat();
        let disorder = if ordered(h.walk) { 0.0 } else { DISORDER * cut as f64 };
        let odd = ODD * odd_steps(h.walk, &all, cut) as f64;
        judge(&all, rules.stripe).map_or(0.0, |j| sure(j.of(h.walk))) - disorder - odd
    };
    let mut best = (f64::NEG_INFINITY, n);
    for (cut, &rest) in rest.iter().enumerate() {
        // what goes on is worth nothing at best, too
        if rest > best.0 {
            let worth = if cut == 0 { 0.0 } else { before(cut) } + rest;
            if worth > best.0 {
                best = (worth, cut);
            }
        }
    }
    best.1
}

/// What parts of the pending accesses are worth as stretches of their own: asked often, also when some of them have been cut off.
#[derive(Debug, Clone, Default)]
struct Worths {
    /// By the first access and the number of accesses; not a number if not asked yet.
    known: Vec<[f64; WINDOW + 1]>,
}

impl Worths {
    /// The logarithm of the probability of the likeliest walk from one access to before another, less what it costs; not above 0.
    fn of(&mut self, pending: &[Access], from: usize, to: usize, rules: Rules) -> f64 {
        if self.known.len() < pending.len() {
            self.known.resize(pending.len(), [f64::NAN; WINDOW + 1]);
        }
        let worth = || {
            let part = &pending[from..to];
            match judge(part, rules.stripe).map(|j| j.unbroken()) {
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

    /// What is still known when the first accesses have been cut off.
    fn past(mut self, cut: usize) -> Self {
        self.known.drain(..cut.min(self.known.len()));
        self
    }
}

fn sure(p: f64) -> f64 {
    p.max(1e-6).ln()
}

/// What a side of a cut costs.
fn price(walk: Sequentiality, accesses: usize) -> f64 {
    match (ordered(walk), accesses) {
        (false, n) => DISORDER * n as f64,
        // any two accesses are a stride
        (true, 2) if walk != Sequentiality::Sequential => 1.5 * SHORT,
        (true, 2) => 0.5 * SHORT,
        _ => 0.0,
    }
}
