//! The requests of each rank in each file: how much, when, and in which order.

use std::collections::{BTreeMap, HashMap};

use super::requests::{Collect, FileUse, ROWS, median};
use crate::record::{FileId, Op, Request, Requests};

/// Steps of a stream that are remembered: a nest of so many loops is regular.
const STEPS: usize = 4;
/// Lengths of irregular steps that are kept.
const JUMPS: usize = 1 << 16;

/// The requests of a rank in a file, reads then writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    pub count: [u64; 2],
    pub bytes: [u64; 2],
    pub time_s: [f64; 2],
    /// Start of the first and end of the last.
    pub span_s: [(f64, f64); 2],
    /// Requests that begin before the end of the one before.
    pub back: [u64; 2],
    order: [Order; 2],
}

/// Where the last request of a stream ended, and its last steps.
#[derive(Debug, Clone, Copy, Default)]
struct Order {
    end: u64,
    steps: [i64; STEPS],
    next: u8,
    begun: bool,
}

impl Order {
    /// The step from the end of the last request, and whether it is new.
    fn step(&mut self, r: &Request) -> (i64, bool) {
        let step = r.offset.wrapping_sub(self.end) as i64;
        let first = !self.begun;
        (self.end, self.begun) = (r.offset.saturating_add(r.size), true);
        if first || step == 0 {
            return (0, false);
        }
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
        Stream {
            count: [0; 2],
            bytes: [0; 2],
            time_s: [0.0; 2],
            span_s: [never; 2],
            back: [0; 2],
            order: [Order::default(); 2],
        }
    }
}

/// All streams, and their irregular requests.
#[derive(Debug, Default)]
pub(super) struct Streams {
    pub all: BTreeMap<(FileId, u32), Stream>,
    pub irregular: [Collect; 2],
    /// Some of them, by their rows.
    pub rows: [Vec<u32>; 2],
    jumps: [Vec<u64>; 2],
}

impl Streams {
    /// Of requests in the order of time.
    pub fn of(rows: &Requests, order: &[u32]) -> Streams {
        let mut streams = Streams::default();
        let mut of: HashMap<(FileId, u32), Stream, foldhash::fast::FixedState> = HashMap::default();
        for (i, r) in order.iter().map(|&i| (i, rows.get(i as usize))) {
            let d = usize::from(r.op == Op::Write);
            let s = of.entry((r.file, r.rank)).or_default();
            s.count[d] += 1;
            s.bytes[d] = s.bytes[d].saturating_add(r.size);
            s.time_s[d] += r.end - r.start;
            s.span_s[d] = (s.span_s[d].0.min(r.start), s.span_s[d].1.max(r.end));
            let (step, irregular) = s.order[d].step(&r);
            s.back[d] += u64::from(step < 0);
            if irregular {
                streams.irregular[d].add(&r);
                if streams.jumps[d].len() < JUMPS {
                    streams.jumps[d].push(step.unsigned_abs());
                }
                if streams.rows[d].len() < ROWS {
                    streams.rows[d].push(i);
                }
            }
        }
        streams.all = of.into_iter().collect();
        streams
    }

    /// Median and 90 % of the lengths of irregular steps.
    pub fn jumps(&mut self, d: usize) -> Option<(u64, u64)> {
        let all = &mut self.jumps[d];
        all.sort_unstable();
        Some((*all.get(all.len() / 2)?, *all.get(all.len() * 9 / 10)?))
    }

    /// The streams of a file.
    pub fn of_file(&self, file: FileId) -> impl Iterator<Item = (u32, &Stream)> {
        self.all.range((file, 0)..=(file, u32::MAX)).map(|(key, s)| (key.1, s))
    }
}

/// Median time between the starts of passes over files that are read at least twice; the order is that of time.
pub(super) fn pass_s(rows: &Requests, order: &[u32], files: &[FileUse]) -> Option<f64> {
    // bytes of a pass, bytes so far, start of the last pass
    let mut passes: HashMap<FileId, (u64, u64, f64)> = files
        .iter()
        .filter(|f| f.covered > 0 && f.bytes >= f.covered / 10 * 19)
        .map(|f| (f.file, (f.covered, 0, f64::NEG_INFINITY)))
        .collect();
    if passes.is_empty() {
        return None;
    }
    let mut gaps = Vec::new();
    for r in order.iter().map(|&i| rows.get(i as usize)).filter(|r| r.op == Op::Read) {
        if let Some((pass, moved, began)) = passes.get_mut(&r.file) {
            // a pass begins with its first byte
            if *moved % *pass == 0 || *moved / *pass < (*moved + r.size.saturating_sub(1)) / *pass {
                if began.is_finite() && r.start > *began {
                    gaps.push(r.start - *began);
                }
                *began = r.start;
            }
            *moved += r.size;
        }
    }
    median(&mut gaps)
}
