//! Programs of ranks: segments of accesses, and how those of all ranks become rows in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::clock::seconds;
use super::nest::Nest;
use super::random::Shuffle;
use crate::error::Result;
use crate::nest::Loop;
use crate::record::{FileId, Op, Request, Row};

/// Accesses of one rank to one file, one after the other without a pause. They share the time of the segment equally.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) op: Op,
    pub(super) rank: u32,
    pub(super) file: FileId,
    pub(super) offsets: Offsets,
    /// Start and end in nanoseconds.
    pub(super) span_ns: (u64, u64),
}

impl Segment {
    /// A segment of loops.
    pub(super) fn nest(op: Op, rank: u32, file: FileId, nest: Nest, span_ns: (u64, u64)) -> Segment {
        Segment { op, rank, file, offsets: Offsets::Nest(nest), span_ns }
    }
}

/// Offsets and sizes of the accesses of a segment, in order.
#[derive(Debug, Clone)]
pub(super) enum Offsets {
    /// Loops over accesses of one size.
    Nest(Nest),
    /// `count` slots of `size` bytes: elements `first`, `first + step`, ... of a random order of all slots.
    Shuffled { order: Shuffle, first: u64, step: u64, count: u64, size: u64 },
    /// Pairs of offset and size.
    Listed(Vec<(u64, u64)>),
}

impl Offsets {
    /// Number of accesses.
    pub(super) fn records(&self) -> u64 {
        match self {
            Offsets::Nest(nest) => nest.records(),
            Offsets::Shuffled { count, .. } => *count,
            Offsets::Listed(list) => list.len() as u64,
        }
    }

    /// Bytes of all accesses.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Offsets::Nest(nest) => nest.bytes(),
            Offsets::Shuffled { count, size, .. } => size * count,
            Offsets::Listed(list) => list.iter().map(|(_, size)| size).sum(),
        }
    }
}

/// The segments of one rank in the order of time. An independent activity of a rank, such as a log, has a program of its own.
pub(super) type RankProgram<'a> = Box<dyn Iterator<Item = Segment> + 'a>;

/// The accesses that a job executes.
pub(super) trait Program: Send + Sync {
    /// The programs of all ranks, from their beginning.
    fn ranks(&self) -> Vec<RankProgram<'_>>;
}

/// Position in the loops of a nest. [`crate::nest::offsets`] borrows the loops, which a cursor owns.
#[derive(Debug, Clone, Default)]
struct Odometer {
    offset: u64,
    turns: Vec<u64>,
}

impl Odometer {
    #[inline]
    fn advance(&mut self, loops: &[Loop]) {
        for (turn, l) in self.turns.iter_mut().zip(loops) {
            *turn += 1;
            if *turn < l.count {
                self.offset = self.offset.wrapping_add_signed(l.stride);
                return;
            }
            *turn = 0;
            self.offset = self.offset.wrapping_add_signed(-(l.stride * (l.count as i64 - 1)));
        }
    }
}

/// The next access of a program.
struct Cursor<'a> {
    program: RankProgram<'a>,
    segment: Segment,
    odometer: Odometer,
    /// Index of the next access in the segment, and number of accesses of the segment.
    i: u64,
    count: u64,
    /// Start of the next access.
    now_ns: u64,
    /// Whole nanoseconds of each access. The remainder of the division is spread over the accesses: `owed` is its running sum.
    each_ns: u64,
    rest_ns: u64,
    owed: u64,
}

impl<'a> Cursor<'a> {
    fn new(mut program: RankProgram<'a>) -> Option<Cursor<'a>> {
        let segment = program.find(|s| s.offsets.records() > 0)?;
        let odometer = Odometer::default();
        let mut cursor =
            Cursor { program, segment, odometer, i: 0, count: 0, now_ns: 0, each_ns: 0, rest_ns: 0, owed: 0 };
        cursor.begin();
        Some(cursor)
    }

    fn begin(&mut self) {
        let s = &self.segment;
        if let Offsets::Nest(nest) = &s.offsets {
            self.odometer = Odometer { offset: nest.start, turns: vec![0; nest.loops.len()] };
        }
        self.count = s.offsets.records();
        let (start, end) = s.span_ns;
        (self.i, self.owed, self.now_ns) = (0, 0, start);
        (self.each_ns, self.rest_ns) = ((end - start) / self.count, (end - start) % self.count);
    }

    /// The next access, and false if it was the last one.
    #[inline]
    fn next(&mut self) -> (Request, bool) {
        let s = &self.segment;
        let (offset, size) = match &s.offsets {
            Offsets::Nest(nest) => (self.odometer.offset, nest.size),
            Offsets::Shuffled { order, first, step, size, .. } => (order.at(first + self.i * step) * size, *size),
            Offsets::Listed(list) => list[self.i as usize],
        };
        let start = seconds(self.now_ns);
        self.owed += self.rest_ns;
        let extra = u64::from(self.owed >= self.count);
        self.owed -= extra * self.count;
        self.now_ns += self.each_ns + extra;
        let end = seconds(self.now_ns);
        let request = Request { op: s.op, rank: s.rank, file: s.file, offset, size, start, end, ..Request::default() };
        self.i += 1;
        if self.i < self.count {
            if let Offsets::Nest(nest) = &self.segment.offsets {
                self.odometer.advance(&nest.loops);
            }
            return (request, true);
        }
        match self.program.find(|s| s.offsets.records() > 0) {
            Some(segment) => {
                self.segment = segment;
                self.begin();
                (request, true)
            }
            None => (request, false),
        }
    }
}

/// Passes the accesses of all programs to `each` in the order of their start; accesses of equal start in the order of programs.
/// Memory grows with the programs, not with the accesses.
///
/// # Errors
/// The first one of `each`, which ends the visit.
pub(super) fn visit(programs: Vec<RankProgram<'_>>, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
    let mut cursors: Vec<Cursor<'_>> = programs.into_iter().filter_map(Cursor::new).collect();
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> =
        cursors.iter().enumerate().map(|(i, c)| Reverse((c.now_ns, i))).collect();
    while let Some(mut next) = queue.peek_mut() {
        let i = next.0.1;
        let (request, more) = cursors[i].next();
        if more {
            next.0.0 = cursors[i].now_ns;
            drop(next);
        } else {
            PeekMut::pop(next);
        }
        each(Row::Request(request))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::clock::nanos;
    use super::*;

    #[test]
    fn accesses_fill_their_segment_and_ranks_interleave_by_time() {
        let segment = |rank, start_ns, n| {
            let nest = Nest::access(100, 10).repeated(n, 10);
            Segment::nest(Op::Write, rank, FileId(0), nest, (start_ns, start_ns + 10))
        };
        let programs: Vec<RankProgram<'_>> = vec![
            Box::new([segment(0, 0, 3), segment(0, 20, 0), segment(0, 30, 1)].into_iter()),
            Box::new([segment(1, 3, 2)].into_iter()),
            Box::new(std::iter::empty()),
        ];
        let mut got = Vec::new();
        visit(programs, &mut |row| {
            let Row::Request(r) = row else { panic!() };
            got.push((r.rank, r.offset, nanos(r.start), nanos(r.end)));
            Ok(())
        })
        .unwrap();
        let want = [(0, 100, 0, 3), (0, 110, 3, 6), (1, 100, 3, 8), (0, 120, 6, 10), (1, 110, 8, 13), (0, 100, 30, 40)];
        assert_eq!(got, want);
    }
}
