//! Open automata, the one idle for longest first.

use std::ops::{Index, IndexMut};

use super::access::Access;
use super::piece::{Apart, Body, Order, Piece, Single, Source, Turn};
use super::sizes::Sizes;
use super::steps::Steps;
use crate::nest::{Growing, Loop, records};

/// No automaton, lane or stream.
pub(super) const NONE: u32 = u32::MAX;
/// Marks keys of chains: the number of their stream, not of a lane.
pub(super) const CHAIN: u32 = 1 << 31;

/// The accesses that an automaton follows.
#[derive(Debug)]
pub(super) enum Course {
    /// Accesses of one size in nested loops.
    Nest(Growing),
    /// Back to back from `start` to `end`; sizes vary.
    Chain { start: u64, end: u64, sizes: Sizes },
}

/// Which accesses of a sequence an automaton took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbers {
    order: Order,
    /// Accesses from the first to the second, and from one row of the nest to the next; 0 before that.
    gap: u64,
    row_gap: u64,
}

impl Numbers {
    #[inline]
    fn take(&mut self, n: u64, begins_row: bool) {
        let gap = n - self.order.last;
        let usual = if begins_row { &mut self.row_gap } else { &mut self.gap };
        if self.order.last == 0 {
            self.order.first = n;
        } else if *usual == 0 {
            *usual = gap;
        } else if gap != *usual {
            self.order.breaks += 1;
        }
        self.order.last = n;
    }

    /// Accesses from one pass to the next of each of these loops.
    pub fn steps(&self, loops: &[Loop]) -> Vec<u64> {
        let mut step = self.gap.max(1);
        let row =
            |count: u64| (count - 1) * self.gap.max(1) + if self.row_gap > 0 { self.row_gap } else { self.gap.max(1) };
        let mut steps = Vec::with_capacity(loops.len());
        for (i, l) in loops.iter().enumerate() {
            steps.push(step);
            step = if i == 0 { row(l.count) } else { step * l.count };
        }
        steps
    }

    /// Of `n` accesses after the first `done` of `all`, as if they were spread evenly.
    fn part(&self, done: u64, n: u64, all: u64) -> Order {
        let o = self.order;
        if n == all {
            return o;
        }
        let share = |x: u64, i: u64, of: u64| (u128::from(x) * u128::from(i) / u128::from(of.max(1))) as u64;
        let at = |i: u64| o.first + share(o.last - o.first, i, all - 1);
        Order { first: at(done), last: at(done + n - 1), breaks: share(o.breaks, n, all) }
    }

    pub fn order(&self) -> Order {
        self.order
    }

    /// Of the first `n` accesses and of the `m` after them.
    fn split(self, n: u64, m: u64) -> (Numbers, Numbers) {
        let part = |done, n, m| Numbers { order: self.part(done, n, m), ..self };
        (part(0, n, n + m), part(n, m, n + m))
    }
}

/// Expects one access after the other.
#[derive(Debug)]
pub(super) struct Automaton {
    pub serial: u64,
    /// The lane; of a chain the stream and [`CHAIN`].
    pub key: u32,
    pub stream: u32,
    size: u64,
    expected: u64,
    pub course: Course,
    /// Accesses of the nest that belong to its original, while it is a copy of one, and that automaton with its serial number.
    pub skip: u64,
    pub parent: (u32, u64),
    pub in_size: Numbers,
    pub in_stream: Numbers,
    pub start: f64,
    pub end: f64,
    pub steps: Steps,
    /// The accesses that it was opened with, as long as it has predicted none.
    pub members: Vec<Single>,
    older: u32,
    newer: u32,
}

impl Automaton {
    /// A nest that has taken these accesses.
    pub fn of_nest(lane: u32, nest: Growing, members: &[Single], size: u64, most_steps: usize) -> Automaton {
        let mut new = Automaton {
            serial: 0,
            key: lane,
            stream: 0,
            size,
            expected: nest.expected(),
            course: Course::Nest(nest),
            skip: 0,
            parent: (NONE, 0),
            in_size: Numbers::default(),
            in_stream: Numbers::default(),
            start: f64::INFINITY,
            end: f64::NEG_INFINITY,
            steps: Steps::default(),
            members: members.to_vec(),
            older: NONE,
            newer: NONE,
        };
        for m in members {
            new.count(m.in_size, m.in_stream, (m.start, m.end, size), most_steps);
        }
        new
    }

    /// A chain of these accesses.
    pub fn of_chain(stream: u32, start: u64, sizes: Sizes, members: &[Single], most_steps: usize) -> Automaton {
        let end = start + sizes.bytes();
        let mut new = Automaton::of_nest(stream | CHAIN, Growing::new(start), &[], u64::MAX, most_steps);
        let rows = sizes.rows().unwrap_or_default().iter();
        let each = rows.flat_map(|&(size, n)| std::iter::repeat_n(size, n as usize));
        for (m, size) in members.iter().zip(each) {
            new.count(0, m.in_stream, (m.start, m.end, size), most_steps);
        }
        (new.stream, new.expected) = (stream, end);
        new.course = Course::Chain { start, end, sizes };
        new
    }

    /// Accesses that it took.
    pub fn records(&self) -> u64 {
        match &self.course {
            Course::Nest(nest) => nest.records() - self.skip,
            Course::Chain { sizes, .. } => sizes.records(),
        }
    }

    /// The offset that comes next.
    #[inline]
    pub fn expected(&self) -> u64 {
        self.expected
    }

    #[inline]
    pub fn expects(&self, a: &Access) -> bool {
        self.expected == a.offset && (self.size == a.size || self.size == u64::MAX && a.size > 0)
    }

    #[inline]
    fn count(&mut self, in_size: u64, in_stream: u64, (start, end, bytes): (f64, f64, u64), most_steps: usize) {
        let begins_row = matches!(&self.course, Course::Nest(n) if n.begins_row());
        if self.key & CHAIN == 0 {
            self.in_size.take(in_size, begins_row);
        }
        self.in_stream.take(in_stream, begins_row);
        self.start = self.start.min(start);
        self.end = self.end.max(end);
        self.steps.add(start, end, bytes, most_steps);
    }

    /// Takes the access that is expected.
    #[inline]
    pub fn advance(&mut self, a: &Access, in_size: u64, in_stream: u64, most_steps: usize) {
        self.count(in_size, in_stream, (a.start, a.end, a.size), most_steps);
        if !self.members.is_empty() {
            self.members = Vec::new();
        }
        match &mut self.course {
            Course::Nest(nest) => {
                nest.advance();
                self.expected = nest.expected();
            }
            Course::Chain { end, sizes, .. } => {
                *end += a.size;
                self.expected = *end;
                sizes.add(a.size);
            }
        }
    }

    /// True if it is a copy of a nest and complete.
    #[inline]
    pub fn copy_is_complete(&self) -> bool {
        self.skip > 0 && matches!(&self.course, Course::Nest(n) if n.records() == 2 * self.skip)
    }

    /// Where a copy of its nest that begins at `start` goes on.
    pub fn copy_expects(&self, start: u64) -> Option<u64> {
        match &self.course {
            Course::Nest(n) if n.records() > 1 => {
                let stride = n.inner().first().map_or(n.stride(), |l| l.stride);
                Some(start.wrapping_add(stride as u64))
            }
            _ => None,
        }
    }

    /// A copy that is one of nothing any more: a nest of its own accesses.
    pub fn detach(&mut self) {
        if self.skip == 0 {
            return;
        }
        self.skip = 0;
        if let Course::Nest(nest) = &mut self.course {
            let whole = std::mem::replace(nest, Growing::new(0));
            *nest = whole.split_young().1;
            self.expected = nest.expected();
        }
    }

    /// Where the last pass of its nest would go on.
    pub fn longer_pass(&self) -> Option<u64> {
        match &self.course {
            Course::Nest(nest) if self.skip == 0 => nest.longer_pass(),
            _ => None,
        }
    }

    /// Keeps only the last pass of its nest; gives an automaton of the others.
    pub fn split_last(&mut self) -> Automaton {
        let mut before = Automaton::of_nest(self.key, Growing::new(0), &[], self.size, 1);
        let Course::Nest(nest) = std::mem::replace(&mut self.course, Course::Nest(Growing::new(0))) else {
            return before;
        };
        let (passes, last) = nest.split_last();
        let n = passes.records();
        self.expected = last.expected();
        let rest = self.steps.split_off(n);
        before.steps = std::mem::replace(&mut self.steps, rest);
        (before.start, before.end) = before.steps.span().unwrap_or((self.start, self.end));
        (self.start, self.end) = self.steps.span().unwrap_or((self.start, self.end));
        before.stream = self.stream;
        (before.in_size, self.in_size) = self.in_size.split(n, last.records());
        (before.in_stream, self.in_stream) = self.in_stream.split(n, last.records());
        self.course = Course::Nest(last);
        before.course = Course::Nest(passes);
        before
    }

    /// Takes in the first pass of its nest.
    pub fn absorb(&mut self, first: Automaton) {
        self.skip = 0;
        self.members = Vec::new();
        self.start = self.start.min(first.start);
        self.end = self.end.max(first.end);
        let mut steps = first.steps;
        steps.append(std::mem::take(&mut self.steps));
        self.steps = steps;
        for (mine, theirs) in [(&mut self.in_size, first.in_size), (&mut self.in_stream, first.in_stream)] {
            if mine.row_gap == 0 {
                mine.row_gap = mine.order.first.saturating_sub(theirs.order.last);
            }
            mine.order.first = mine.order.first.min(theirs.order.first);
            mine.order.last = mine.order.last.max(theirs.order.last);
            mine.order.breaks += theirs.order.breaks;
            mine.gap = theirs.gap;
        }
    }

    /// Takes the last row of equal sizes out of a chain, as an automaton of its own.
    pub fn split_row(&mut self, lane: u32, size: u64, n: u64, in_size: u64) -> Automaton {
        let Course::Chain { end, sizes, .. } = &mut self.course else { unreachable!("only chains have rows") };
        sizes.pop_row();
        let at = *end - size * n;
        *end = at;
        self.expected = at;
        let nest = Growing::of(at, &[Loop { count: n, stride: size as i64 }]);
        let mut row = Automaton::of_nest(lane, nest, &[], size, 1);
        row.stream = self.stream;
        let numbers = |last: u64| Numbers { order: Order { first: last + 1 - n, last, breaks: 0 }, gap: 1, row_gap: 0 };
        row.in_size = numbers(in_size);
        row.in_stream = numbers(self.in_stream.order.last);
        self.in_stream.order.last -= n;
        row.steps = self.steps.split_off(sizes.records());
        (row.start, row.end) = row.steps.span().unwrap_or((self.end, self.end));
        row
    }
}

impl Automaton {
    /// Its nest as pieces: the complete passes, and what there is of one that had begun.
    pub fn into_pieces(self, source: Source, size: u64) -> Vec<Piece> {
        let Course::Nest(nest) = self.course else { return Vec::new() };
        let all = nest.records();
        let cursor = (nest.partial() > 0).then(|| Box::new(nest.clone()));
        let mut steps = self.steps;
        let mut done = 0;
        let mut pieces = Vec::new();
        for (at, loops) in std::iter::once((nest.start(), nest.loops())).chain(nest.partial_nests()) {
            let n = records(&loops);
            let rest = if done + n < all { steps.split_off(n) } else { Steps::default() };
            let here = std::mem::replace(&mut steps, rest);
            let orders = [self.in_size, self.in_stream].map(|numbers| numbers.part(done, n, all));
            let times = here.span().unwrap_or((self.start, self.end));
            let mut piece = Piece::new(source, Body::One(size), at, orders[0], orders[1], times);
            let apart = self.in_size.steps(&loops).into_iter().zip(self.in_stream.steps(&loops));
            let turn = |(l, (in_size, in_stream)): (&Loop, (u64, u64))| Turn {
                count: l.count,
                stride: l.stride,
                steps: Apart { in_size, in_stream },
            };
            piece.turns = loops.iter().zip(apart).map(turn).collect();
            piece.steps = here;
            piece.cursor = cursor.clone().filter(|_| done == 0);
            pieces.push(piece);
            done += n;
        }
        pieces
    }
}

/// Automata by number, and in the order in which they were last used.
#[derive(Debug)]
pub(super) struct Automata {
    list: Vec<Option<Automaton>>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    serials: u64,
}

impl Default for Automata {
    fn default() -> Automata {
        Automata { list: Vec::new(), free: Vec::new(), oldest: NONE, newest: NONE, serials: 0 }
    }
}

impl Automata {
    pub fn len(&self) -> usize {
        self.list.len() - self.free.len()
    }

    pub fn oldest(&self) -> u32 {
        self.oldest
    }

    /// Serial number of an open automaton.
    pub fn serial(&self, id: u32) -> Option<u64> {
        self.list.get(id as usize)?.as_ref().map(|a| a.serial)
    }

    pub fn insert(&mut self, mut automaton: Automaton) -> u32 {
        self.serials += 1;
        automaton.serial = self.serials;
        let id = match self.free.pop() {
            Some(id) => {
                self.list[id as usize] = Some(automaton);
                id
            }
            None => {
                self.list.push(Some(automaton));
                self.list.len() as u32 - 1
            }
        };
        self.link(id);
        id
    }

    /// Gives an automaton whose nest is another one now a new serial number, so that no copy takes it for its original.
    pub fn renew(&mut self, id: u32) {
        self.serials += 1;
        self[id].serial = self.serials;
    }

    pub fn remove(&mut self, id: u32) -> Automaton {
        self.unlink(id);
        self.free.push(id);
        self.list[id as usize].take().expect("only open automata are removed")
    }

    /// Notes that it was used just now.
    pub fn touch(&mut self, id: u32) {
        if self.newest != id {
            self.unlink(id);
            self.link(id);
        }
    }

    fn link(&mut self, id: u32) {
        let before = std::mem::replace(&mut self.newest, id);
        (self[id].older, self[id].newer) = (before, NONE);
        match before {
            NONE => self.oldest = id,
            b => self[b].newer = id,
        }
    }

    fn unlink(&mut self, id: u32) {
        let (older, newer) = (self[id].older, self[id].newer);
        match older {
            NONE => self.oldest = newer,
            o => self[o].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            n => self[n].older = older,
        }
    }
}

impl Index<u32> for Automata {
    type Output = Automaton;

    #[inline]
    fn index(&self, id: u32) -> &Automaton {
        self.list[id as usize].as_ref().expect("an open automaton")
    }
}

impl IndexMut<u32> for Automata {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Automaton {
        self.list[id as usize].as_mut().expect("an open automaton")
    }
}
