//! Accesses of one rank to one file, and segments of them with one class.

use super::extent::Shape;
use super::lattice::{Axis, Mix, Sequentiality, Size};
use super::report::Classifier;
use super::thresholds::LIMITS;

/// Most segments kept of one rank in one file; the last one absorbs what comes after them.
pub(crate) const MOST_SEGMENTS: usize = 4096;

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
    /// One past the last byte.
    pub fn past(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// The most probable class of at most [`MOST_VOTED`] accesses and its probability, given the stripe unit. The rules know only
/// this signature, not the network behind it.
pub(crate) type Vote = fn(&[Access], u64) -> Option<(Sequentiality, f64)>;

/// Accesses of a vote, at most.
pub(crate) const MOST_VOTED: usize = 24;

/// When a vote is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Voting {
    Never,
    /// On windows in which the rules find no order.
    IfIrregular(Vote),
    /// On the first accesses of every segment.
    Always(Vote),
}

/// Settings that do not change while a trace is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Accesses that are collected when one does not fit, and then cut into segments.
    pub window: usize,
    /// Requests below this many bytes are small.
    pub stripe: u64,
    pub voting: Voting,
}

impl Settings {
    /// Settings of a sub-stream: without order, it is only counted.
    pub fn of_sub_stream(self) -> Self {
        match self.voting {
            Voting::IfIrregular(_) => self.without_vote(),
            _ => self,
        }
    }

    pub fn without_vote(self) -> Self {
        Self { voting: Voting::Never, ..self }
    }

    /// First accesses of a segment to keep for a vote.
    pub fn kept(self) -> usize {
        if matches!(self.voting, Voting::Always(_)) { MOST_VOTED } else { 0 }
    }
}

/// Counts and bounds of accesses, whatever their order.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Tally {
    pub accesses: u64,
    pub writes: u64,
    pub bytes: u64,
    /// Smallest and largest size.
    pub sizes: (u64, u64),
    /// First byte, and one past the last.
    pub hull: (u64, u64),
    pub start_s: f64,
    pub end_s: f64,
}

impl Tally {
    pub fn of(a: &Access) -> Self {
        Self {
            accesses: 1,
            writes: u64::from(a.write),
            bytes: a.size,
            sizes: (a.size, a.size),
            hull: (a.offset, a.past()),
            start_s: a.start,
            end_s: a.end,
        }
    }

    #[inline]
    pub fn add(&mut self, a: &Access) {
        self.join(&Self::of(a));
    }

    #[inline]
    pub fn join(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.writes += other.writes;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sizes = (self.sizes.0.min(other.sizes.0), self.sizes.1.max(other.sizes.1));
        self.hull = (self.hull.0.min(other.hull.0), self.hull.1.max(other.hull.1));
        self.start_s = self.start_s.min(other.start_s);
        self.end_s = self.end_s.max(other.end_s);
    }

    /// The sum of several tallies; `None` of none.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(|mut sum, t| {
            sum.join(&t);
            sum
        })
    }

    pub fn mix(&self) -> Mix {
        match self.writes {
            0 => Mix::ReadOnly,
            w if w == self.accesses => Mix::WriteOnly,
            _ => Mix::ReadWrite,
        }
    }

    /// Bytes from the first to the last one.
    pub fn span(&self) -> u64 {
        self.hull.1 - self.hull.0
    }
}

/// Consecutive accesses of one rank to a file with one local class.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub tally: Tally,
    pub mix: Mix,
    pub sequentiality: Sequentiality,
    pub size: Size,
    /// The bytes of the hull that are accessed.
    pub shape: Shape,
    /// The innermost stride of a strided segment.
    pub stride: Option<i64>,
    /// The classifier that assigned the class.
    pub by: Classifier,
}

impl Segment {
    /// The same segment with the class of a vote; a single access keeps its class.
    pub fn with_vote(mut self, vote: Option<(Sequentiality, f64)>) -> Self {
        self.sequentiality = vote.map_or(self.sequentiality, |v| v.0);
        if self.sequentiality == Sequentiality::Sequential {
            (self.shape, self.stride) = (Shape::Whole, None);
        }
        Self { by: Classifier::Network, ..self }
    }

    /// Adds another segment, except what depends on the order of the two.
    pub fn join(&mut self, other: &Self) {
        self.mix = self.mix.meet(other.mix);
        let same = self.tally.sizes == other.tally.sizes;
        self.size = if same { self.size.meet(other.size) } else { self.size.beside(other.size) };
        self.tally.join(&other.tally);
    }

    /// Adds a later segment when no more segments are kept; the class is the meet of both.
    pub fn absorb(&mut self, other: &Self) {
        self.join(other);
        self.sequentiality = self.sequentiality.meet(other.sequentiality).meet(Sequentiality::VariablyStrided);
        (self.stride, self.shape) = (None, Shape::cut(self.tally.hull));
    }
}

/// True if no access follows another back to back and no two steps are nearly equal. Any two accesses then make a stride, but
/// all together have no order.
pub(crate) fn no_step_recurs(accesses: &[Access]) -> bool {
    let step = |w: &[Access]| w[1].offset.wrapping_sub(w[0].offset) as i64;
    let near = accesses.iter().map(|a| a.size).max().unwrap_or(0) / LIMITS.near;
    let recurs = |(i, w): (usize, &[Access])| {
        let here = step(w);
        w[0].past() == w[1].offset
            || accesses[i + 1..].windows(2).any(|v| step(v).wrapping_sub(here).unsigned_abs() <= near)
    };
    !accesses.windows(2).enumerate().any(recurs)
}
