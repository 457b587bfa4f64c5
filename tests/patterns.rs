//! Access patterns: nothing is lost, and what is true by construction is found.

use iophase::pattern::{Access, Detector, Found, Level, Options, canonical, offsets};
use iophase::record::{FileId, Op};
use proptest::prelude::*;

fn exact() -> Options {
    Options { keep_sizes: true, keep_unmatched: true, ..Options::default() }
}

fn level(count: u64, stride: i64) -> Level {
    Level { count, stride }
}

/// Accesses of one stream of rank 0 at these places, one a millisecond.
fn accesses(places: impl IntoIterator<Item = (u64, u64)>) -> Vec<Access> {
    let access = |(i, (offset, size)): (usize, (u64, u64))| Access {
        op: Op::Write,
        rank: 0,
        file: FileId(0),
        offset,
        size,
        start: i as f64 * 1e-3,
        end: i as f64 * 1e-3 + 5e-4,
    };
    places.into_iter().enumerate().map(access).collect()
}

fn detect(accesses: &[Access], options: Options) -> Found {
    let mut d = Detector::new(options);
    accesses.iter().for_each(|a| d.push(a));
    d.finish()
}

type Key = (Op, u32, FileId, u64, u64);

fn keys(accesses: &[Access]) -> Vec<Key> {
    let mut all: Vec<Key> = accesses.iter().map(|a| (a.op, a.rank, a.file, a.offset, a.size)).collect();
    all.sort();
    all
}

/// Every access of the patterns and of the rest.
fn expanded(found: &Found) -> Vec<Key> {
    let mut all = keys(&found.unmatched);
    for p in &found.patterns {
        let before = all.len();
        all.extend(p.expand().unwrap().map(|(offset, size)| (p.op, p.rank, p.file, offset, size)));
        assert_eq!((all.len() - before) as u64, p.records);
    }
    all.sort();
    all
}

/// Start, size and loops of all patterns.
fn shapes(found: &Found) -> Vec<(u64, Option<u64>, Vec<Level>)> {
    found.patterns.iter().map(|p| (p.start_offset, p.access_size(), p.levels().to_vec())).collect()
}

/// A generator of numbers that tests can repeat (Lehmer's, 64 bit).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Deals the streams out in random order, each in its own order.
fn interleave(mut streams: Vec<Vec<Access>>, draw: &mut Draw) -> Vec<Access> {
    let mut all = Vec::new();
    streams.iter_mut().for_each(|s| s.reverse());
    let mut left: u64 = streams.iter().map(|s| s.len() as u64).sum();
    while left > 0 {
        let mut n = draw.below(left);
        let stream = streams.iter_mut().find(|s| {
            let here = n < s.len() as u64;
            n = n.wrapping_sub(if here { 0 } else { s.len() as u64 });
            here
        });
        let mut a = stream.unwrap().pop().unwrap();
        a.start = all.len() as f64 * 1e-3;
        a.end = a.start + 5e-4;
        all.push(a);
        left -= 1;
    }
    all
}

/// Pieces that traces are made of: nests, noise on a coarse or fine grid, back to back sizes.
fn pieces() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let nest =
        (0u64..50, prop::collection::vec((1u64..5, -40i64..40), 1..4), 0u64..3).prop_map(|(base, loops, size)| {
            let levels: Vec<Level> = loops.into_iter().map(|(c, s)| level(c, s)).collect();
            offsets(10_000 + base, &levels).map(|o| (o, size)).collect()
        });
    let noise = prop::collection::vec((9_990u64..10_040, 0u64..3), 0..40);
    let chain = (9_990u64..10_040, prop::collection::vec(0u64..4, 0..40)).prop_map(|(at, sizes)| {
        sizes
            .into_iter()
            .scan(at, |at, s| {
                let here = *at;
                *at += s;
                Some((here, s))
            })
            .collect()
    });
    prop_oneof![nest, noise, chain]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(
        parts in prop::collection::vec((pieces(), 0u32..2, any::<bool>(), 0u32..2), 0..8),
        seed in any::<u64>(), window in 1usize..80, age in 1u64..500, most in 1usize..20, mixed in any::<bool>(),
    ) {
        let streams: Vec<Vec<Access>> = parts
            .into_iter()
            .map(|(places, rank, read, file)| {
                let mut all = accesses(places);
                for a in &mut all {
                    (a.rank, a.file, a.op) = (rank, FileId(file), if read { Op::Read } else { Op::Write });
                }
                all
            })
            .collect();
        let all = if mixed { interleave(streams, &mut Draw(seed)) } else { streams.concat() };
        let mut options = Options { window, max_open: most, ..exact() };
        options.max_age.records = age;
        let found = detect(&all, options);
        prop_assert_eq!(expanded(&found), keys(&all));
        prop_assert_eq!(found.counts.records, all.len() as u64);
        prop_assert_eq!(found.matched(), found.patterns.iter().map(|p| p.records).sum::<u64>());
        prop_assert!(found.patterns.iter().all(|p| canonical(p.levels()) == p.levels()));
    }

    #[test]
    fn a_row_major_nest_is_found_whatever_the_window(
        loops in prop::collection::vec((2u64..7, 0i64..5, any::<bool>()), 1..5),
        size in 1i64..5000, down in any::<bool>(), window in 1usize..100, passes in 1u64..4,
    ) {
        let mut extent = size;
        let mut levels = Vec::new();
        for (count, gap, close) in loops {
            let stride = extent + if close { 0 } else { gap * size };
            levels.push(level(count, if down { -stride } else { stride }));
            extent = stride * count as i64;
        }
        levels.push(level(passes, 0));
        let truth = canonical(&levels);
        let all = accesses(offsets(1 << 45, &levels).map(|o| (o, size as u64)));
        prop_assume!(all.len() > 2 || (all.len() == 2 && truth[0].stride == size));
        let found = detect(&all, Options { window, ..exact() });
        prop_assert_eq!(shapes(&found), vec![(1 << 45, Some(size as u64), truth)]);
        prop_assert_eq!(found.unmatched_records, 0);
    }
}

#[test]
fn a_thousand_interleaved_patterns_are_all_found() {
    let mut draw = Draw(5);
    // Ways to lay out the thousand: each in a file; in one file, with sizes of their own; in one file, one size, anywhere; in
    // one file, one size, side by side.
    for layout in 0..4u64 {
        let mut truth = Vec::new();
        let streams: Vec<Vec<Access>> = (0..1000u64)
            .map(|i| {
                let size = match layout {
                    1 => 100 + i,
                    _ => 4096,
                };
                let count = 20 + draw.below(100);
                let (base, stride) = match layout {
                    2 => (draw.below(1 << 40), 4096 + draw.below(1 << 24)),
                    3 => (i * 1_000_000, if i % 2 == 0 { size } else { 2 * size }),
                    _ => (draw.below(1 << 40), size * (1 + draw.below(5))),
                };
                let mut s = accesses(offsets(base, &[level(count, stride as i64)]).map(|o| (o, size)));
                let file = if layout == 0 { FileId(i as u32) } else { FileId(0) };
                s.iter_mut().for_each(|a| a.file = file);
                truth.push((file, base, Some(size), vec![level(count, stride as i64)]));
                s
            })
            .collect();
        let all = interleave(streams, &mut draw);
        let found = detect(&all, exact());
        let mut got: Vec<_> =
            found.patterns.iter().map(|p| (p.file, p.start_offset, p.access_size(), p.levels().to_vec())).collect();
        truth.sort_by_key(|t| (t.0, t.1));
        got.sort_by_key(|t| (t.0, t.1));
        let missing = truth.iter().filter(|t| !got.contains(t)).count();
        assert_eq!((missing, got.len(), found.unmatched_records), (0, 1000, 0), "layout {layout}");
    }
}
