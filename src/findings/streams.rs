//! The requests of each rank in each file: how much, when, and in which order.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use rayon::prelude::*;

use super::requests::{Collect, FileUse, ROWS};
use crate::record::{FileId, Op, Request, Requests};

/// Steps of a stream that are remembered: a nest of so many loops is regular.
const STEPS: usize = 4;
/// Lengths of irregular steps that are kept.
const JUMPS: usize = 1 << 16;
/// Requests for which one run is kept; if there are more runs, they say little.
const REQUESTS_OF_RUN: usize = 4;
/// Ranks whose last stream is remembered.
const LATEST: u32 = 1 << 16;
/// No order yet.
const NONE: u32 = u32::MAX;

/// The requests of a rank in a file, reads then writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    pub count: [u64; 2],
    pub bytes: [u64; 2],
    pub time_s: [f64; 2],
    /// Start of the first and end of the last.
    pub span_s: [(f64, f64); 2],
}

/// Requests of a rank in a file and a direction, each of which begins where the one before ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub file: FileId,
    pub rank: u32,
    pub start: u64,
    pub end: u64,
}

/// Where the last requests of a stream in a direction were, and its last steps.
#[derive(Debug, Clone, Copy)]
struct Order {
    /// The stream.
    of: u32,
    next: u8,
    /// Requests back to back.
    start: u64,
    end: u64,
    steps: [i64; STEPS],
}

impl Order {
    fn of(stream: u32, r: &Request) -> Order {
        let end = r.offset.saturating_add(r.size);
        Order { of: stream, next: 0, start: r.offset, end, steps: [0; STEPS] }
    }

    /// The step from the end of the last request, and whether it is new.
    fn step(&mut self, r: &Request) -> (i64, bool) {
        let step = r.offset.wrapping_sub(self.end) as i64;
        self.end = r.offset.saturating_add(r.size);
        if step == 0 {
            return (0, false);
        }
        self.start = r.offset;
        let known = self.steps.contains(&step);
        if !known {
            self.steps[usize::from(self.next) % STEPS] = step;
            self.next = self.next.wrapping_add(1);
        }
        (step, !known)
    }
}

impl Default for Stream {
    fn default() -> Self {
        let never = (f64::INFINITY, f64::NEG_INFINITY);
        Stream { count: [0; 2], bytes: [0; 2], time_s: [0.0; 2], span_s: [never; 2] }
    }
}

/// A stream, and whose it is.
type OfFileAndRank = ((FileId, u32), Stream);

/// The runs of reads and of writes in the order of file and start; `None` if they are many.
pub(super) type Runs = [Option<Vec<Run>>; 2];

/// All streams, and their irregular requests.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// In the order of file and rank.
    pub all: Vec<OfFileAndRank>,
    pub irregular: [Collect; 2],
    /// Some of them, by their rows.
    pub rows: [Vec<u32>; 2],
    jumps: [Vec<u64>; 2],
}

/// Streams while the requests are gone through.
#[derive(Default)]
struct Open {
    /// The streams, and their orders by direction.
    all: Vec<((FileId, u32), Stream, [u32; 2])>,
    number: HashMap<(FileId, u32), u32, FixedState>,
    /// The last stream of each rank.
    latest: Vec<u32>,
    orders: [Vec<Order>; 2],
    /// Runs that are over.
    runs: [Vec<Run>; 2],
}

impl Open {
    /// The number of the stream of a request.
    #[inline]
    fn stream(&mut self, r: &Request) -> u32 {
        let key = (r.file, r.rank);
        let slot = (r.rank % LATEST) as usize;
        if slot >= self.latest.len() {
            self.latest.resize(slot + 1, NONE);
        }
        let latest = self.latest[slot];
        if self.all.get(latest as usize).is_some_and(|s| s.0 == key) {
            return latest;
        }
        let all = &mut self.all;
        let number = *self.number.entry(key).or_insert_with(|| {
            all.push((key, Stream::default(), [NONE; 2]));
            all.len() as u32 - 1
        });
        self.latest[slot] = number;
        number
    }

    /// Adds a request; gives its step, and whether that is new. Runs are kept if there are at most `most`.
    #[inline]
    fn add(&mut self, r: &Request, most: usize) -> (i64, bool) {
        let number = self.stream(r);
        let ((file, rank), s, orders) = &mut self.all[number as usize];
        let d = usize::from(r.op == Op::Write);
        s.count[d] += 1;
        s.bytes[d] = s.bytes[d].saturating_add(r.size);
        s.time_s[d] += r.end - r.start;
        s.span_s[d] = (s.span_s[d].0.min(r.start), s.span_s[d].1.max(r.end));
        let Some(order) = self.orders[d].get_mut(orders[d] as usize) else {
            orders[d] = self.orders[d].len() as u32;
            self.orders[d].push(Order::of(number, r));
            return (0, false);
        };
        let run = Run { file: *file, rank: *rank, start: order.start, end: order.end };
        let (step, irregular) = order.step(r);
        if step != 0 && self.runs[d].len() <= most {
            self.runs[d].push(run);
        }
        (step, irregular)
    }

    /// The streams and the runs; these only if there are at most `most` of a direction.
    fn finish(self, most: usize) -> (Vec<OfFileAndRank>, Runs) {
        let Open { all, number, orders, runs, .. } = self;
        drop(number);
        let mut of = orders.into_iter().zip(runs).map(|(orders, mut runs)| {
            if runs.len() + orders.len() > most {
                return None;
            }
            runs.extend(orders.iter().map(|o| {
                let (file, rank) = all[o.of as usize].0;
                Run { file, rank, start: o.start, end: o.end }
            }));
            runs.par_sort_unstable_by_key(|run| (run.file, run.start, run.rank, run.end));
            Some(runs)
        });
        let runs = [of.next().flatten(), of.next().flatten()];
        drop(of);
        let mut all: Vec<OfFileAndRank> = all.into_iter().map(|(key, s, _)| (key, s)).collect();
        all.par_sort_unstable_by_key(|s| s.0);
        (all, runs)
    }
}

impl Streams {
    /// Of requests in the order of time. Requests of at least a stripe unit count as regular: their order costs no time.
    pub fn of(rows: &Requests, order: &[u32], stripe: u64) -> (Streams, Runs) {
        let mut streams = Streams::default();
        let mut open = Open::default();
        let most = order.len() / REQUESTS_OF_RUN + ROWS;
        for (i, r) in order.iter().map(|&i| (i, rows.get(i as usize))) {
            let (step, irregular) = open.add(&r, most);
            if irregular && r.size < stripe {
                let d = usize::from(r.op == Op::Write);
                streams.irregular[d].add(&r);
                if streams.jumps[d].len() < JUMPS {
                    streams.jumps[d].push(step.unsigned_abs());
                }
                if streams.rows[d].len() < ROWS {
                    streams.rows[d].push(i);
                }
            }
        }
        let (all, runs) = open.finish(most);
        streams.all = all;
        (streams, runs)
    }

    /// Median and 90 % of the lengths of irregular steps.
    pub fn jumps(&mut self, d: usize) -> Option<(u64, u64)> {
        let all = &mut self.jumps[d];
        all.sort_unstable();
        Some((*all.get(all.len() / 2)?, *all.get(all.len() * 9 / 10)?))
    }

    /// The streams of a file.
    pub fn of_file(&self, file: FileId) -> impl Iterator<Item = (u32, &Stream)> {
        let from = self.all.partition_point(|(key, _)| key.0 < file);
        self.all[from..].iter().take_while(move |(key, _)| key.0 == file).map(|(key, s)| (key.1, s))
    }
}

/// Share of a file that a rank which reads all of it reads at least.
const WHOLE: f64 = 0.9;

impl Streams {
    /// Ranks that each read all that is read of a file.
    pub fn readers_of_all(&self, file: &FileUse) -> usize {
        self.of_file(file.file).filter(|(_, s)| s.bytes[0] as f64 >= WHOLE * file.covered as f64).count()
    }
}

/// Part of a pass by which its start may lie before or after as many bytes as all passes before it have.
const SLACK: f64 = 0.05;

/// The starts of the passes of one reader over a file.
#[derive(Debug, Default)]
struct Passes {
    moved: u64,
    starts: Vec<f64>,
    /// When the bytes of the passes so far were complete.
    crossed: Option<f64>,
}

impl Passes {
    /// A pass begins with the first byte of the file; in another order, once the passes before it are complete.
    fn read(&mut self, r: &Request, pass: u64, first: u64) {
        let passes = self.moved as f64 / pass as f64 - self.starts.len() as f64;
        if passes >= 0.0 && self.crossed.is_none() {
            self.crossed = Some(r.start);
        }
        let start = if r.offset == first { Some(r.start) } else { self.crossed.filter(|_| passes > SLACK) };
        if let Some(start) = start.filter(|_| passes >= -SLACK) {
            self.starts.push(start);
            self.crossed = None;
        }
        self.moved = self.moved.saturating_add(r.size);
    }

    /// Times from the start of each whole pass to the next.
    fn gaps(mut self, pass: u64) -> impl Iterator<Item = f64> {
        self.starts.extend(self.crossed);
        self.starts.truncate((self.moved as f64 / pass as f64 + SLACK) as usize);
        (1..self.starts.len()).map(move |i| self.starts[i] - self.starts[i - 1])
    }
}

/// Time between the starts of whole passes over files that are read at least twice, by each rank that reads all of a file, else by
/// all together: the median by bytes. The order is that of time.
pub(super) fn pass_s(rows: &Requests, order: &[u32], files: &[FileUse], streams: &Streams) -> Option<f64> {
    let read_twice = files.iter().filter(|f| f.covered > 0 && f.bytes as f64 >= (2.0 - 2.0 * SLACK) * f.covered as f64);
    // whether ranks go through the file on their own
    let of_file: HashMap<FileId, (&FileUse, bool), FixedState> =
        read_twice.map(|f| (f.file, (f, streams.readers_of_all(f) > 0))).collect();
    if of_file.is_empty() {
        return None;
    }
    let mut passes: HashMap<(FileId, u32), Passes, FixedState> = HashMap::default();
    for r in order.iter().map(|&i| rows.get(i as usize)).filter(|r| r.op == Op::Read && r.size > 0) {
        if let Some(&(file, alone)) = of_file.get(&r.file) {
            let reader = if alone { r.rank } else { NONE };
            passes.entry((r.file, reader)).or_default().read(&r, file.covered, file.first);
        }
    }
    let of_reader = |((file, _), all): ((FileId, u32), Passes)| {
        let pass = of_file[&file].0.covered;
        all.gaps(pass).map(move |gap| (gap, pass))
    };
    let mut gaps: Vec<(f64, u64)> = passes.into_iter().flat_map(of_reader).collect();
    gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: u128 = gaps.iter().map(|g| u128::from(g.1)).sum();
    let mut below = 0;
    gaps.into_iter().find_map(|(gap, bytes)| {
        below += u128::from(bytes);
        (2 * below >= all).then_some(gap)
    })
}
