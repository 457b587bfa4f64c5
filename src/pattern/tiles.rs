//! How many different accesses there are, and how many of them begin where none ends.

use super::sizes::Sizes;
use super::table::Table;
use crate::nest::Growing;

/// Entries that a sample keeps.
const KEPT: usize = 1024;
/// Places of a pattern that are listed.
const LISTED: u64 = 256;

const START: u8 = 1;
const END: u8 = 2;

/// A sample of the different accesses of a file and of the offsets at which they begin and end.
#[derive(Debug, Clone, Default)]
pub(super) struct Tiles {
    accesses: Sample,
    edges: Sample,
    /// Accesses of nests that are too large to list.
    more: f64,
}

impl Tiles {
    /// Notes an access.
    #[inline]
    pub fn add(&mut self, at: u64, size: u64) {
        self.accesses.add(mix(at, size), START);
        self.edges.add(at, START);
        self.edges.add(at.wrapping_add(size), END);
    }

    /// Notes the accesses of a nest.
    pub fn add_nest(&mut self, nest: &Growing, size: u64) {
        let inner = nest.inner().iter().filter(|l| l.stride != 0).map(|l| l.count).product::<u64>();
        let places = inner.saturating_mul(if nest.stride() == 0 { 1 } else { nest.passes() });
        if places > LISTED {
            self.more += places as f64;
        } else {
            (0..nest.records().min(LISTED)).for_each(|i| self.add(nest.offset(i), size));
        }
    }

    /// Notes the accesses of a chain.
    pub fn add_chain(&mut self, start: u64, sizes: &Sizes) {
        let Some(rows) = sizes.rows().filter(|_| sizes.records() <= LISTED) else {
            self.more += sizes.records() as f64;
            return;
        };
        let mut at = start;
        for size in rows.iter().flat_map(|&(size, n)| std::iter::repeat_n(size, n as usize)) {
            self.add(at, size);
            at = at.wrapping_add(size);
        }
    }

    /// Takes in the accesses of another one.
    pub fn join(&mut self, other: &Tiles) {
        self.more += other.more;
        self.accesses.join(&other.accesses);
        self.edges.join(&other.edges);
    }

    /// Different accesses, and the share of places at which one begins where none ends.
    pub fn count(&self) -> (f64, f64) {
        let starts = self.edges.marks.values().filter(|m| **m & START != 0).count() as f64;
        let loose = self.edges.marks.values().filter(|m| **m == START).count() as f64;
        (self.accesses.count() + self.more, if starts > 0.0 { loose / starts } else { 1.0 })
    }
}

/// Different numbers with marks; when there are more than it keeps, every second one is given up, by its hash (adaptive
/// sampling: Flajolet, Computing 43, 1990).
#[derive(Debug, Clone, Default)]
struct Sample {
    level: u32,
    marks: Table<u64, u8>,
}

impl Sample {
    #[inline]
    fn add(&mut self, n: u64, mark: u8) {
        if !is_sampled(n, self.level) {
            return;
        }
        *self.marks.entry(n).or_default() |= mark;
        while self.marks.len() > KEPT {
            self.thin(self.level + 1);
        }
    }

    fn thin(&mut self, level: u32) {
        self.level = level;
        self.marks.retain(|n, _| is_sampled(*n, level));
    }

    fn join(&mut self, other: &Sample) {
        if other.level > self.level {
            self.thin(other.level);
        }
        other.marks.iter().for_each(|(n, marks)| self.add(*n, *marks));
    }

    fn count(&self) -> f64 {
        self.marks.len() as f64 * (1u64 << self.level.min(63)) as f64
    }
}

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b
}

#[inline]
fn is_sampled(n: u64, level: u32) -> bool {
    let hash = (n ^ n >> 29).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (hash ^ hash >> 32) & ((1 << level) - 1) == 0
}
