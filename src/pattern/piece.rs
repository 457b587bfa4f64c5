//! One loop nest of a rank in a file with one operation: the unit that descriptions are built from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::Sizes;
use super::steps::Steps;
use crate::nest::{Growing, Loop};
use crate::record::{FileId, Op};

/// The ranks of a pattern that several make together: its outermost loop goes through them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Ranks {
    /// Number of ranks.
    pub count: u32,
    /// Difference from one rank to the next.
    pub step: u32,
}

/// The accesses of one pass of the innermost loop.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// One access of this many bytes.
    One(u64),
    /// Accesses back to back whose sizes vary.
    Chain(Box<Sizes>),
}

/// A loop, and how many accesses lie between the starts of its first two passes: loops turn in that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Turn {
    pub count: u64,
    pub stride: i64,
    /// Steps among the accesses of its size, and of its stream.
    pub steps: Apart,
}

/// Distances in two sequences: among the accesses of a size, and among all of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Apart {
    pub in_size: u64,
    pub in_stream: u64,
}

/// Which accesses of a sequence belong to a piece, as far as that costs bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Order {
    /// Numbers of its first and last access in the sequence.
    pub first: u64,
    pub last: u64,
    /// Steps that differ from those before them in the same loop.
    pub breaks: u64,
}

impl Order {
    /// Of pieces in the order of time.
    pub fn join<'a>(orders: impl Iterator<Item = &'a Order> + Clone) -> Order {
        let mut all = Order { first: u64::MAX, last: 0, breaks: 0 };
        let (mut before, mut gap): (Option<&Order>, Option<u64>) = (None, None);
        for o in orders {
            all.first = all.first.min(o.first);
            all.last = all.last.max(o.last);
            all.breaks += o.breaks;
            if let Some(b) = before {
                let here = o.first.abs_diff(b.first);
                all.breaks += u64::from(gap.is_some_and(|g| g != here));
                gap = gap.or(Some(here));
            }
            before = Some(o);
        }
        all
    }
}

/// Bits that tell which accesses of a stream a piece takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct OrderBits {
    /// By itself.
    pub own: f64,
    /// If the steps of its loops are known.
    pub given_steps: f64,
}

/// A loop nest over accesses of one rank (or, once joined, of evenly spaced ranks) to one file.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub op: Op,
    /// The operation that follows each access at the same place, if there is one.
    pub then: Option<Op>,
    pub rank: u32,
    /// If ranks make it together, the last turn goes through them.
    pub ranks: Option<Ranks>,
    pub file: FileId,
    pub body: Body,
    /// Offset of the first access.
    pub at: u64,
    /// Loops, innermost first.
    pub turns: Vec<Turn>,
    /// Among the accesses of its size, and among all of its stream.
    pub in_size: Order,
    pub in_stream: Order,
    pub start: f64,
    pub end: f64,
    pub steps: Steps,
    /// The nest with a pass that has begun.
    pub cursor: Option<Box<Growing>>,
    /// Bits that tell which accesses it takes: among those of its size, and among all of its stream.
    pub order: [OrderBits; 2],
    /// Ranks that do not do so at the same points of their streams as the first.
    pub uneven_ranks: u32,
}

/// The common shape of pieces that can be joined.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Shape {
    pub body: Vec<(u64, u32)>,
    pub loops: Vec<Loop>,
}

impl Body {
    /// Accesses of one pass.
    pub fn records(&self) -> u64 {
        match self {
            Body::One(_) => 1,
            Body::Chain(sizes) => sizes.records(),
        }
    }

    /// Bytes of one pass.
    pub fn bytes(&self) -> u64 {
        match self {
            Body::One(size) => *size,
            Body::Chain(sizes) => sizes.bytes(),
        }
    }

    /// Size of every access, if it is one.
    pub fn size(&self) -> Option<u64> {
        match self {
            Body::One(size) => Some(*size),
            Body::Chain(_) => None,
        }
    }
}

/// An access that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Single {
    pub at: u64,
    /// Number among the accesses of its size, and of its stream.
    pub in_size: u64,
    pub in_stream: u64,
    pub start: f64,
    pub end: f64,
}

impl Single {
    /// As a piece without loops.
    pub fn piece(&self, source: Source, size: u64) -> Piece {
        let only = |n: u64| Order { first: n, last: n, breaks: 0 };
        let times = (self.start, self.end);
        Piece::new(source, Body::One(size), self.at, only(self.in_size), only(self.in_stream), times)
    }
}

/// Who did it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub op: Op,
    pub rank: u32,
    pub file: FileId,
}

impl Piece {
    /// One pass of a body, without any loop.
    pub fn new(source: Source, body: Body, at: u64, in_size: Order, in_stream: Order, times: (f64, f64)) -> Piece {
        Piece {
            op: source.op,
            then: None,
            rank: source.rank,
            ranks: None,
            file: source.file,
            body,
            at,
            turns: Vec::new(),
            in_size,
            in_stream,
            start: times.0,
            end: times.1,
            steps: Steps::default(),
            cursor: None,
            order: Default::default(),
            uneven_ranks: 0,
        }
    }

    /// Accesses.
    pub fn records(&self) -> u64 {
        self.turns.iter().fold(self.body.records(), |n, t| n.saturating_mul(t.count))
    }

    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        self.turns.iter().fold(self.body.bytes(), |n, t| n.saturating_mul(t.count))
    }

    /// The shape it shares with pieces that it can be joined with; `None` for a chain whose sizes were not kept.
    pub fn shape(&self) -> Option<Shape> {
        let body = match &self.body {
            Body::One(size) => vec![(*size, 1)],
            Body::Chain(sizes) => sizes.rows()?.to_vec(),
        };
        Some(Shape { body, loops: self.turns.iter().map(|t| Loop { count: t.count, stride: t.stride }).collect() })
    }

    /// Pieces of one shape at a constant stride, in the order of time, as one with a further loop.
    pub fn join(mut members: Vec<Piece>) -> Option<Piece> {
        let (first, second) = (members.first()?, members.get(1)?);
        let turn = Turn {
            count: members.len() as u64,
            stride: second.at.wrapping_sub(first.at) as i64,
            steps: Apart {
                in_size: second.in_size.first.abs_diff(first.in_size.first),
                in_stream: second.in_stream.first.abs_diff(first.in_stream.first),
            },
        };
        let in_size = Order::join(members.iter().map(|p| &p.in_size));
        let in_stream = Order::join(members.iter().map(|p| &p.in_stream));
        let rest = members.split_off(1);
        let mut whole = members.pop()?;
        whole.steps = whole.take_steps();
        rest.into_iter().for_each(|p| whole.add_times(p));
        (whole.in_size, whole.in_stream) = (in_size, in_stream);
        whole.cursor = None;
        whole.turns.push(turn);
        whole.order_turns();
        Some(whole)
    }

    /// When it moved bytes. A single access has no list of its own.
    pub fn take_steps(&mut self) -> Steps {
        let steps = std::mem::take(&mut self.steps);
        if steps.is_empty() { Steps::of(self.start, self.end, self.bytes()) } else { steps }
    }

    /// Takes in the times of another piece.
    pub fn add_times(&mut self, mut other: Piece) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.steps.append(other.take_steps());
    }

    /// Puts loops in the order in which they turn and fuses seamless ones. A loop through ranks stays the outermost.
    pub fn order_turns(&mut self) {
        let through_ranks = self.ranks.and_then(|_| self.turns.pop());
        self.turns.sort_by_key(|t| t.steps);
        let mut out: Vec<Turn> = Vec::with_capacity(self.turns.len() + 1);
        for t in self.turns.iter().filter(|t| t.count > 1) {
            match out.last_mut() {
                Some(inner) if i128::from(inner.count) * i128::from(inner.stride) == i128::from(t.stride) => {
                    inner.count = inner.count.saturating_mul(t.count);
                }
                _ => out.push(*t),
            }
        }
        out.extend(through_ranks);
        self.turns = out;
    }

    /// Its loops, innermost first.
    pub fn loops(&self) -> Vec<Loop> {
        self.turns.iter().map(|t| Loop { count: t.count, stride: t.stride }).collect()
    }

    /// Offset of the last pass of its outermost loop.
    pub fn last_pass(&self) -> u64 {
        let beyond = |t: &Turn| (t.count - 1).wrapping_mul(t.stride as u64);
        self.at.wrapping_add(self.turns.last().map_or(0, beyond))
    }

    /// The loops of a pass, and the offset of the pass after the last one, or before the first.
    pub fn due(&self, later: bool) -> (Vec<Loop>, u64) {
        let mut pass = self.loops();
        let stride = pass.pop().map_or(0, |l| l.stride) as u64;
        (pass, if later { self.last_pass().wrapping_add(stride) } else { self.at.wrapping_sub(stride) })
    }

    /// True if one is over before the other begins.
    pub fn is_apart(&self, other: &Piece) -> bool {
        self.in_size.last < other.in_size.first || other.in_size.last < self.in_size.first
    }

    /// Takes in further passes of its outermost loop, after or before its own.
    pub fn extend(&mut self, other: Piece, passes: u64, later: bool) {
        if let Some(outer) = self.turns.last_mut() {
            outer.count += passes;
        }
        if !later {
            self.at = other.at;
        }
        for (mine, theirs) in [(&mut self.in_size, other.in_size), (&mut self.in_stream, other.in_stream)] {
            let (first, second) = if mine.first < theirs.first { (*mine, theirs) } else { (theirs, *mine) };
            let follows = first.last + 1 == second.first;
            *mine = Order {
                first: first.first,
                last: second.last,
                breaks: first.breaks + second.breaks + u64::from(!follows),
            };
        }
        self.cursor = if later { other.cursor.clone() } else { self.cursor.take() };
        self.add_times(other);
    }

    /// Takes in the nest of the other operation at the same places.
    pub fn pair_with(&mut self, other: Piece) {
        let other_is_first = other.start < self.start;
        self.then = Some(if other_is_first { self.op } else { other.op });
        self.op = if other_is_first { other.op } else { self.op };
        self.turns.insert(0, Turn { count: 2, stride: 0, steps: Apart { in_size: 0, in_stream: 0 } });
        for (mine, theirs) in self.order.iter_mut().zip(other.order) {
            mine.own += theirs.given_steps;
            mine.given_steps += theirs.given_steps;
        }
        self.add_times(other);
    }
}
