//! Random orders have next to no patterns: the share that chance makes is bounded.

#![allow(clippy::print_stderr, reason = "what was measured")]

use std::collections::BTreeMap;

use iophase::pattern::{Access, Detector, Found, Options, verify};
use iophase::record::{FileId, Op};
use rayon::prelude::*;

/// Numbers that a seed determines (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        (1..list.len()).rev().for_each(|i| list.swap(i, self.below(i as u64 + 1) as usize));
    }
}

/// Accesses of all ranks, which take turns.
fn detect(ranks: &[Vec<(u64, u64)>]) -> Found {
    let mut detector = Detector::new(Options::default().keep_sizes(true).keep_unmatched(true));
    let mut all = Vec::new();
    for i in 0..ranks.iter().map(Vec::len).max().unwrap_or(0) {
        for (rank, places) in (0u32..).zip(ranks) {
            let Some(&(offset, size)) = places.get(i) else { continue };
            let start = all.len() as f64 * 1e-3;
            all.push(Access { op: Op::Read, rank, file: FileId(0), offset, size, start, end: start + 5e-4 });
        }
    }
    all.iter().for_each(|a| detector.push(a));
    let found = detector.finish();
    verify(&found, all.into_iter()).unwrap();
    found
}

/// Divides a list among `ranks` ranks, in contiguous parts.
fn dealt<T: Clone>(list: &[T], ranks: usize) -> Vec<Vec<T>> {
    list.chunks(list.len().div_ceil(ranks)).map(<[T]>::to_vec).collect()
}

/// Accesses of a job. Large jobs are rare because they take longest.
const LENGTHS: [u64; 20] =
    [16, 16, 16, 16, 16, 16, 64, 64, 64, 64, 64, 256, 256, 256, 256, 256, 1024, 1024, 1024, 4096];

/// One in five by default: the shares are of thousands of accesses.
const SEEDS: u64 = 1000;

/// The accesses of each rank: from a number of accesses and a number of ranks.
type Job = fn(u64, usize, &mut Draw) -> Vec<Vec<(u64, u64)>>;

/// Accesses, and those in patterns.
#[derive(Default, Clone, Copy)]
struct Sum(u64, u64);

impl Sum {
    fn add(&mut self, found: &Found) {
        (self.0, self.1) = (self.0 + found.records, self.1 + found.matched());
    }

    fn percent(self) -> f64 {
        100.0 * self.1 as f64 / self.0.max(1) as f64
    }
}

/// Goes through all seeds with each job in turn. Prints the share of accesses in patterns, and fails with every job in which
/// it exceeds `most` percent.
fn at_most(most: f64, jobs: &[(&str, Job)]) {
    let each: Vec<(usize, u64, Found)> = (0..SEEDS / super::every(5) as u64)
        .into_par_iter()
        .map(|seed| {
            let mut draw = Draw(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
            let n = LENGTHS[draw.below(LENGTHS.len() as u64) as usize];
            // A rank has sixteen accesses at least: of two or three in a row nobody can say that they are random.
            let ranks = 1 + draw.below((n / 16).min(8)) as usize;
            let job = seed as usize % jobs.len();
            (job, n, detect(&jobs[job].1(n, ranks, &mut draw)))
        })
        .collect();
    let mut over = Vec::new();
    for (i, (name, _)) in jobs.iter().enumerate() {
        let (mut all, mut by_length) = (Sum::default(), BTreeMap::<u64, Sum>::new());
        for (_, n, found) in each.iter().filter(|e| e.0 == i) {
            all.add(found);
            by_length.entry(*n).or_default().add(found);
        }
        let lengths: Vec<String> = by_length.iter().map(|(n, s)| format!("{:.2} % of {n}", s.percent())).collect();
        let (percent, lengths) = (all.percent(), lengths.join(", "));
        let text = format!("{name}: {percent:.3} % of {} accesses are in patterns: {lengths}", all.0);
        eprintln!("{text}");
        over.extend((percent > most).then_some(text));
    }
    assert!(over.is_empty(), "more than {most} %:\n{}", over.join("\n"));
}

const SLOT: u64 = 65_536;

fn slots(list: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    list.into_iter().map(|s| (s * SLOT, SLOT)).collect()
}

#[test]
fn slots_in_random_order_have_no_patterns() {
    at_most(
        0.5,
        &[
            ("all slots, dealt to the ranks", |n, ranks, draw| {
                let mut all: Vec<u64> = (0..n).collect();
                draw.shuffle(&mut all);
                dealt(&slots(all), ranks)
            }),
            ("each rank its own slots", |n, ranks, draw| {
                let mut parts = dealt(&(0..n).collect::<Vec<u64>>(), ranks);
                parts.iter_mut().for_each(|part| draw.shuffle(part));
                parts.into_iter().map(slots).collect()
            }),
            ("each rank all slots", |n, ranks, draw| {
                let each = n.div_ceil(ranks as u64);
                let mut all: Vec<u64> = (0..each).collect();
                let mut order = || {
                    draw.shuffle(&mut all);
                    slots(all.clone())
                };
                (0..ranks).map(|_| order()).collect()
            }),
            ("draws with replacement", |n, ranks, draw| dealt(&slots((0..n).map(|_| draw.below(n))), ranks)),
            ("draws with replacement of few slots", |n, ranks, draw| {
                dealt(&slots((0..n).map(|_| draw.below(n / 16 + 8))), ranks)
            }),
            ("draws with replacement of any byte", |n, ranks, draw| {
                let places: Vec<_> = (0..n).map(|_| (draw.below(1 << 40), SLOT)).collect();
                dealt(&places, ranks)
            }),
        ],
    );
}

/// A file of adjacent samples of random sizes.
fn samples(n: u64, draw: &mut Draw) -> Vec<(u64, u64)> {
    let mut end = 0;
    let mut sample = |_| {
        let size = 1 + draw.below(200_000);
        end += size;
        (end - size, size)
    };
    (0..n).map(&mut sample).collect()
}

/// All samples in random orders, dealt to the ranks in each epoch.
fn epochs(n: u64, ranks: usize, epochs: u64, draw: &mut Draw) -> Vec<Vec<(u64, u64)>> {
    let mut all = samples(n.div_ceil(epochs).max(8), draw);
    let mut parts = vec![Vec::new(); ranks];
    for _ in 0..epochs {
        draw.shuffle(&mut all);
        parts.iter_mut().zip(dealt(&all, ranks)).for_each(|(part, more)| part.extend(more));
    }
    parts
}

#[test]
fn samples_of_random_sizes_in_random_order_have_few_patterns() {
    at_most(
        5.0,
        &[
            ("once", |n, ranks, draw| epochs(n, ranks, 1, draw)),
            ("4 epochs", |n, ranks, draw| epochs(n, ranks, 4, draw)),
            ("16 epochs", |n, ranks, draw| epochs(n, ranks, 16, draw)),
            ("4 epochs, each rank its own samples", |n, ranks, draw| {
                let mut parts = dealt(&samples(n.div_ceil(4), draw), ranks);
                let mut part = |own: &mut Vec<(u64, u64)>| {
                    let mut order = || {
                        draw.shuffle(own);
                        own.clone()
                    };
                    (0..4).flat_map(|_| order()).collect()
                };
                parts.iter_mut().map(&mut part).collect()
            }),
        ],
    );
}
