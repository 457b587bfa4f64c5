//! An open pattern: an automaton that accepts the one record that is due in it.

use super::access::Access;
use super::due::Place;
use super::nest::Nest;
use super::pattern::{Body, Pattern};
use super::sizes::Sizes;
use super::steps::Steps;
use crate::record::{FileId, Op};

/// What is due.
#[derive(Debug, Clone)]
pub(super) enum Course {
    /// Accesses of one size in nested loops.
    Nest(Nest),
    /// Back to back: the end of the last access.
    Sequential { end: u64, sizes: Sizes, records: u64 },
}

/// A place off the course that tells what the pattern really is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The first of two streams goes on.
    First,
    /// The first of two streams goes on after both have paused.
    Resumed,
    /// The second of two streams goes on.
    Second,
    /// A stream of a round is skipped.
    Round,
    /// A loop of a further pass goes on: the pass is the first one of a larger nest.
    Longer,
    /// All of a pass goes on: it is the first one of a larger nest, or a loop around all of them begins.
    Grown,
}

#[derive(Debug, Clone)]
pub(super) struct Open {
    pub course: Course,
    pub op: Op,
    pub file: FileId,
    pub stream: u32,
    /// Size of every access; [`ANY_SIZE`](super::due::ANY_SIZE) if they vary.
    pub size: u64,
    pub group: u32,
    pub start_offset: u64,
    pub bytes: u64,
    pub first_seq: u64,
    pub last_seq: u64,
    pub start: f64,
    pub end: f64,
    pub steps: Steps,
    /// The course may still have to be read in another way.
    pub watched: bool,
    /// Where that would show.
    pub turns: Vec<(Place, Turn)>,
    /// It takes no record until the next search has decided what it is ([`Turn::Grown`]).
    pub paused: bool,
}

impl Open {
    /// A nest whose records are still to be counted in with [`Open::count`].
    pub fn new(course: Course, op: Op, file: FileId, stream: u32, size: u64, group: u32, start_offset: u64) -> Open {
        Open {
            course,
            op,
            file,
            stream,
            size,
            group,
            start_offset,
            bytes: 0,
            first_seq: u64::MAX,
            last_seq: 0,
            start: f64::INFINITY,
            end: f64::NEG_INFINITY,
            steps: Steps::default(),
            watched: false,
            turns: Vec::new(),
            paused: false,
        }
    }

    /// What is due next.
    #[inline]
    pub fn due(&self) -> Place {
        let offset = match &self.course {
            Course::Nest(n) => n.next(),
            Course::Sequential { end, .. } => *end,
        };
        Place { stream: self.stream, size: self.size, offset }
    }

    /// True if the access is the one that is due.
    #[inline]
    pub fn expects(&self, a: &Access) -> bool {
        if self.file != a.file || self.op != a.op {
            return false;
        }
        match &self.course {
            Course::Nest(n) => n.next() == a.offset && self.size == a.size,
            Course::Sequential { end, .. } => *end == a.offset,
        }
    }

    /// Moves on to the next place.
    #[inline]
    pub fn advance(&mut self, size: u64) {
        match &mut self.course {
            Course::Nest(n) => n.advance(),
            Course::Sequential { end, sizes, records } => {
                *end += size;
                *records += 1;
                sizes.add(size);
            }
        }
    }

    /// Counts an access of the pattern.
    #[inline]
    pub fn count(&mut self, size: u64, start: f64, end: f64, seq: u64, steps: usize) {
        self.bytes = self.bytes.saturating_add(size);
        self.first_seq = self.first_seq.min(seq);
        self.last_seq = self.last_seq.max(seq);
        self.start = self.start.min(start);
        self.end = self.end.max(end);
        self.steps.add(start, end, size, steps);
    }

    pub fn records(&self) -> u64 {
        match &self.course {
            Course::Nest(n) => n.records(),
            Course::Sequential { records, .. } => *records,
        }
    }

    pub fn nest(&self) -> Option<&Nest> {
        match &self.course {
            Course::Nest(n) => Some(n),
            Course::Sequential { .. } => None,
        }
    }

    /// Where it would show that the course is to be read in another way.
    pub fn find_turns(&self) -> Vec<(Place, Turn)> {
        let Course::Nest(nest) = &self.course else { return Vec::new() };
        let [first, second] = nest.streams();
        let all = [
            (first, Turn::First),
            (second, Turn::Second),
            (nest.resumed(), Turn::Resumed),
            (nest.skipping(), Turn::Round),
            (nest.longer(), Turn::Longer),
            (nest.grown(), Turn::Grown),
        ];
        let place = |offset| Place { stream: self.stream, size: self.size, offset };
        all.into_iter().filter_map(|(o, t)| o.map(|o| (place(o), t))).collect()
    }

    /// True if a turn has come or gone with the last access.
    #[inline]
    pub fn at_turn(&self) -> bool {
        self.watched
            || !self.turns.is_empty()
            || self.nest().is_some_and(|n| n.longer().is_some() || n.grown().is_some())
    }

    /// True while there may be turns after any access.
    pub fn is_young(&self) -> bool {
        self.nest().is_some_and(|n| n.young() || (n.inner().len() == 1 && n.passes() < 8))
    }

    /// A pattern of some of the records: `from` to `from + nest.records()` of them, with their share of the times, which are cut
    /// off the front of `steps`.
    pub fn portion(&self, nest: Nest, from: u64, steps: &mut Steps) -> Open {
        let n = nest.records();
        let tail = steps.split_off(n + steps.forgotten().min(from));
        let mine = std::mem::replace(steps, tail);
        let seq = |i: u64| {
            // Between the first and the last record, evenly.
            let span = self.last_seq.saturating_sub(self.first_seq);
            self.first_seq + (span as f64 * (i as f64 / (self.records().max(2) - 1) as f64)) as u64
        };
        let start = mine.list().first().map_or(self.start, |s| s.start);
        let end = mine.list().last().map_or(self.end, |s| s.end);
        Open {
            start_offset: nest.base(),
            course: Course::Nest(nest),
            bytes: n.saturating_mul(self.size),
            first_seq: seq(from),
            last_seq: seq(from + n - 1),
            start: if from == 0 { self.start } else { start },
            end,
            steps: mine,
            watched: false,
            turns: Vec::new(),
            ..*self
        }
    }

    /// Cuts the pattern into the given nests, which follow each other.
    pub fn cut(mut self, nests: Vec<Nest>) -> Vec<Open> {
        let mut steps = std::mem::take(&mut self.steps);
        let mut from = 0;
        let mut out = Vec::with_capacity(nests.len());
        for nest in nests {
            let n = nest.records();
            out.push(self.portion(nest, from, &mut steps));
            from += n;
        }
        out
    }

    /// The pattern of a finished course without a pass begun.
    pub fn finished(self, rank: u32) -> Pattern {
        let records = self.records();
        let body = match self.course {
            Course::Nest(nest) => Body::Strided { size: self.size, levels: nest.levels() },
            Course::Sequential { sizes, .. } => Body::Sequential { sizes: Box::new(sizes) },
        };
        Pattern {
            op: self.op,
            rank,
            file: self.file,
            start_offset: self.start_offset,
            records,
            bytes: self.bytes,
            start: self.start,
            end: self.end,
            steps: self.steps,
            body,
            span: (self.first_seq, self.last_seq),
            cursor: None,
            ranks: None,
            then: None,
        }
    }

    /// Closes: the complete part, and what a pass that had begun left behind.
    pub fn close(mut self, rank: u32) -> Vec<Pattern> {
        let Course::Nest(nest) = &self.course else { return vec![self.finished(rank)] };
        let cursor = (nest.partial() > 0).then(|| Box::new(nest.clone()));
        let (whole, pieces) = nest.clone().settle();
        let mut all: Vec<Pattern> = if pieces.is_empty() {
            self.course = Course::Nest(whole);
            vec![self.finished(rank)]
        } else {
            let nests = std::iter::once(whole).chain(pieces).collect();
            self.cut(nests).into_iter().map(|o| o.finished(rank)).collect()
        };
        if let Some(first) = all.first_mut() {
            first.cursor = cursor;
        }
        all
    }
}
