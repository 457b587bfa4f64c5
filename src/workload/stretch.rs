//! What a rank does at one time: accesses to one file that follow each other, and how those of all ranks become rows in the order
//! of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::random::Shuffle;
use super::shape::{Odometer, Shape};
use crate::error::Result;
use crate::record::{FileId, Op, Request, Row};

/// Accesses of one rank to one file that fill a time evenly, without a break. Times are whole nanoseconds, so that every format
/// can hold them.
#[derive(Debug, Clone)]
pub(crate) struct Stretch {
    pub(crate) op: Op,
    pub(crate) rank: u32,
    pub(crate) file: FileId,
    pub(crate) places: Places,
    pub(crate) start_ns: u64,
    pub(crate) length_ns: u64,
}

/// Which places of a file, in order.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    /// Those of a shape.
    Nested(u64, Shape),
    /// `count` slots of `size` bytes: places `first`, `first + step`, ... of a random order of all slots.
    Shuffled { order: Shuffle, first: u64, step: u64, count: u64, size: u64 },
    /// Offsets and sizes, one by one.
    Listed(Vec<(u64, u64)>),
}

impl Places {
    pub(crate) fn count(&self) -> u64 {
        match self {
            Places::Nested(_, shape) => shape.count(),
            Places::Shuffled { count, .. } => *count,
            Places::Listed(list) => list.len() as u64,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Places::Nested(_, shape) => shape.size * shape.count(),
            Places::Shuffled { count, size, .. } => size * count,
            Places::Listed(list) => list.iter().map(|(_, size)| size).sum(),
        }
    }
}

/// The stretches of one rank, or of something else that goes on by itself, in the order of time.
pub(crate) type Lane<'a> = Box<dyn Iterator<Item = Stretch> + 'a>;

/// What a workload does, made anew each time it is asked for.
pub(crate) trait Script: Send + Sync {
    /// All lanes.
    fn lanes(&self) -> Vec<Lane<'_>>;

    /// True if accesses of an operation that begin where others ended do so by chance.
    fn follows_by_chance(&self, _: Op) -> bool {
        false
    }

    /// True if accesses are of so many sizes, too, that two of one size follow each other by chance.
    fn is_of_many_sizes(&self, _: Op) -> bool {
        false
    }
}

/// Seconds in whole nanoseconds.
pub(crate) fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// Nanoseconds in seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A lane at its next access.
struct Cursor<'a> {
    lane: Lane<'a>,
    stretch: Stretch,
    odometer: Odometer,
    /// The next access, and how many there are.
    i: u64,
    count: u64,
    /// When the next access begins.
    now_ns: u64,
    /// Whole nanoseconds of an access, what is left over a stretch, and how much of that was given out.
    each_ns: u64,
    rest_ns: u64,
    owed: u64,
}

impl<'a> Cursor<'a> {
    fn new(mut lane: Lane<'a>) -> Option<Cursor<'a>> {
        let stretch = lane.find(|s| s.places.count() > 0)?;
        let mut cursor = Cursor {
            lane,
            stretch,
            odometer: Odometer::new(0, &Shape::of(0)),
            i: 0,
            count: 0,
            now_ns: 0,
            each_ns: 0,
            rest_ns: 0,
            owed: 0,
        };
        cursor.begin();
        Some(cursor)
    }

    fn begin(&mut self) {
        let s = &self.stretch;
        if let Places::Nested(offset, shape) = &s.places {
            self.odometer = Odometer::new(*offset, shape);
        }
        self.count = s.places.count();
        (self.i, self.owed, self.now_ns) = (0, 0, s.start_ns);
        (self.each_ns, self.rest_ns) = (s.length_ns / self.count, s.length_ns % self.count);
    }

    /// The next access, and false if it was the last of the lane.
    #[inline]
    fn next(&mut self) -> (Request, bool) {
        let s = &self.stretch;
        let (offset, size) = match &s.places {
            Places::Nested(_, shape) => (self.odometer.offset(), shape.size),
            Places::Shuffled { order, first, step, size, .. } => (order.at(first + self.i * step) * size, *size),
            Places::Listed(list) => list[self.i as usize],
        };
        let start = self.now_ns;
        self.owed += self.rest_ns;
        let extra = u64::from(self.owed >= self.count);
        self.owed -= extra * self.count;
        self.now_ns += self.each_ns + extra;
        let request = Request {
            op: s.op,
            rank: s.rank,
            file: s.file,
            offset,
            size,
            start: seconds(start),
            end: seconds(self.now_ns),
            ..Request::default()
        };
        self.i += 1;
        if self.i < self.count {
            if let Places::Nested(_, shape) = &self.stretch.places {
                self.odometer.advance(shape);
            }
            return (request, true);
        }
        match self.lane.find(|s| s.places.count() > 0) {
            Some(stretch) => {
                self.stretch = stretch;
                self.begin();
                (request, true)
            }
            None => (request, false),
        }
    }
}

/// Hands the accesses of all lanes to `each` in the order of their start, those of equal start in the order of lanes.
/// Memory grows with the lanes, not with the accesses.
pub(crate) fn visit(lanes: Vec<Lane<'_>>, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
    let mut cursors: Vec<Cursor<'_>> = lanes.into_iter().filter_map(Cursor::new).collect();
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> =
        cursors.iter().enumerate().map(|(i, c)| Reverse((c.now_ns, i))).collect();
    while let Some(mut next) = queue.peek_mut() {
        let i = next.0.1;
        let (request, more) = cursors[i].next();
        if more {
            next.0.0 = cursors[i].now_ns;
            drop(next);
        } else {
            std::collections::binary_heap::PeekMut::pop(next);
        }
        each(Row::Request(request))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_fill_their_time_and_ranks_take_turns() {
        let stretch = |rank, start_ns, n| Stretch {
            op: Op::Write,
            rank,
            file: FileId(0),
            places: Places::Nested(100, Shape::of(10).times(n, 10)),
            start_ns,
            length_ns: 10,
        };
        let lanes: Vec<Lane<'_>> = vec![
            Box::new([stretch(0, 0, 3), stretch(0, 20, 0), stretch(0, 30, 1)].into_iter()),
            Box::new([stretch(1, 3, 2)].into_iter()),
            Box::new(std::iter::empty()),
        ];
        let mut got = Vec::new();
        visit(lanes, &mut |row| {
            let Row::Request(r) = row else { panic!() };
            got.push((r.rank, r.offset, nanos(r.start), nanos(r.end)));
            Ok(())
        })
        .unwrap();
        let want = [(0, 100, 0, 3), (0, 110, 3, 6), (1, 100, 3, 8), (0, 120, 6, 10), (1, 110, 8, 13), (0, 100, 30, 40)];
        assert_eq!(got, want);
    }
}
