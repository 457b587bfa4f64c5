//! Access patterns: nothing is lost, and what is true by construction is found.

// A skipped test says so.
#![allow(clippy::print_stdout)]

use iophase::formats;
use iophase::pattern::{Access, Detector, Found, Kind, Level, Options, Ranks, canonical, offsets};
use iophase::record::{FileId, Op, Request, Requests};
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
        let places = (0u64..).zip(p.expand().unwrap());
        all.extend(places.map(|(i, (offset, size))| (p.op_of(i), p.rank_of(i), p.file, offset, size)));
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

/// Detection in requests of many ranks, as a trace has them.
fn of_ranks(ranks: u32, places: impl Fn(u32) -> Vec<(u64, u64)>) -> Found {
    let mut requests = Requests::default();
    let all: Vec<Vec<(u64, u64)>> = (0..ranks).map(&places).collect();
    for i in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
        for (rank, places) in all.iter().enumerate() {
            if let Some(&(offset, size)) = places.get(i) {
                let (op, rank, start) = (Op::Write, rank as u32, i as f64);
                let end = start + 0.5;
                requests.push(Request { op, rank, file: FileId(0), offset, size, start, end, ..Request::default() });
            }
        }
    }
    iophase::pattern::detect(&requests, |_| true, exact())
}

#[test]
fn regular_layouts_of_1_to_64_ranks() {
    const XFER: u64 = 65_536;
    for ranks in [1u64, 2, 3, 8, 64] {
        // (transfers in a block, segments, distance of the blocks of a rank): IOR, segmented and strided.
        for (transfers, segments) in [(16u64, 3u64), (1, 48), (4, 1), (2, 2), (7, 100)] {
            let block = transfers * XFER;
            let loops = [level(transfers, XFER as i64), level(segments, (ranks * block) as i64)];
            let found = of_ranks(ranks as u32, |r| offsets(u64::from(r) * block, &loops).map(|o| (o, XFER)).collect());
            let truth: Vec<_> = (0..ranks).map(|r| (r * block, Some(XFER), canonical(&loops))).collect();
            assert_eq!(shapes(&found), truth, "{ranks} ranks, {transfers} transfers, {segments} segments");
            assert_eq!(found.unmatched_records, 0);
        }
    }
}

#[test]
fn hyperslabs_of_one_to_four_dimensions() {
    const ELEMENT: u64 = 8;
    // Extent of the data set and of the slab, slowest dimension first; rows are written whole.
    let cases: [(&[u64], &[u64]); 6] = [
        (&[4096], &[512]),
        (&[64, 256], &[64, 32]),
        (&[16, 32, 64], &[16, 8, 16]),
        (&[10, 25, 8, 8], &[10, 25, 2, 2]),
        (&[2, 2, 4, 4], &[2, 2, 2, 2]),
        (&[10, 25, 8, 8], &[10, 25, 4, 8]),
    ];
    for (data, slab) in cases {
        let mut levels = Vec::new();
        let mut pitch = ELEMENT;
        for (d, s) in data.iter().zip(slab).rev() {
            levels.push(level(*s, pitch as i64));
            pitch *= d;
        }
        // One access an element, and one a row.
        let row = levels[0].count * ELEMENT;
        for (size, loops) in [(ELEMENT, &levels[..]), (row, &levels[1..])] {
            let all = accesses(offsets(1 << 20, loops).map(|o| (o, size)));
            let truth = canonical(loops);
            if truth.is_empty() {
                continue;
            }
            let found = detect(&all, exact());
            assert_eq!(shapes(&found), [(1 << 20, Some(size), truth)], "{slab:?} of {data:?}, {size} bytes");
        }
    }
}

#[test]
fn compound_members_one_after_the_other() {
    // Eight members of four bytes of a 32-byte struct, each written for all of 1000 elements.
    let members = [level(1000, 32), level(8, 4)];
    let found = detect(&accesses(offsets(2048, &members).map(|o| (o, 4))), exact());
    assert_eq!(shapes(&found), [(2048, Some(4), members.to_vec())]);
    assert_eq!(found.patterns[0].kind(), Kind::KdStrided);
    // Members of different sizes are patterns of their own.
    let two = offsets(0, &members[..1]).map(|o| (o, 4)).chain(offsets(4, &members[..1]).map(|o| (o, 8)));
    let found = detect(&accesses(two), exact());
    assert_eq!(shapes(&found), [(0, Some(4), members[..1].to_vec()), (4, Some(8), members[..1].to_vec())]);
}

#[test]
fn descending_repeated_and_interrupted_patterns() {
    for (levels, kind) in [
        (vec![level(50, -4096)], Kind::FixedStrided),
        (vec![level(50, 0)], Kind::FixedStrided),
        (vec![level(50, 4096)], Kind::Contiguous),
        (vec![level(50, 4096), level(7, 0)], Kind::KdStrided),
        (vec![level(5, -9000), level(4, 100_000), level(3, -5)], Kind::KdStrided),
    ] {
        let found = detect(&accesses(offsets(1 << 30, &levels).map(|o| (o, 4096))), exact());
        assert_eq!(shapes(&found), [(1 << 30, Some(4096), levels)]);
        assert_eq!(found.patterns[0].kind(), kind);
    }
    // A pause of 10,000 other accesses in the same file.
    let mut draw = Draw(3);
    let nest: Vec<(u64, u64)> = offsets(0, &[level(40, 4096), level(10, 1 << 20)]).map(|o| (o, 4096)).collect();
    let noise = (0..10_000).map(|_| ((1 << 40) + draw.below(1 << 40), 512));
    let all = accesses(nest[..215].iter().copied().chain(noise).chain(nest[215..].iter().copied()));
    let found = detect(&all, exact());
    assert_eq!(shapes(&found)[0], (0, Some(4096), vec![level(40, 4096), level(10, 1 << 20)]));
    assert_eq!(expanded(&found), keys(&all));
}

#[test]
fn sequential_patterns_keep_their_sizes() {
    let mut draw = Draw(9);
    let sizes: Vec<u64> = (0..3000).map(|_| 1 + draw.below(100_000)).collect();
    let chain = |base| {
        sizes.iter().scan(base, |at: &mut u64, &s| {
            *at += s;
            Some((*at - s, s))
        })
    };
    let found = detect(&accesses(chain(777)), exact());
    assert_eq!((found.patterns.len(), found.unmatched_records), (1, 0));
    let p = &found.patterns[0];
    let mut sorted = sizes.clone();
    sorted.sort_unstable();
    let s = p.size_summary().unwrap();
    assert_eq!((p.kind(), p.start_offset, p.extent().1), (Kind::Sequential, 777, 777 + sizes.iter().sum::<u64>()));
    assert_eq!(
        [s.min, s.q1, s.median, s.q3, s.max],
        [sorted[0], sorted[749], sorted[1499], sorted[2249], sorted[2999]]
    );
    // A copy: equal blocks and a shorter end are a contiguous pattern and one access beside it.
    let copy = (0..100).map(|i| (i * 65_536, 65_536)).chain([(6_553_600, 123)]);
    let found = detect(&accesses(copy), exact());
    assert_eq!(shapes(&found), [(0, Some(65_536), vec![level(100, 65_536)])]);
    assert_eq!(found.unmatched_records, 1);
}

#[test]
fn streams_in_irregular_turns() {
    let mut draw = Draw(11);
    let (mut right, trials) = (0, 120);
    for trial in 0..trials {
        let streams = 2 + trial % 4;
        let mut at = vec![0u64; streams as usize];
        let mut places = Vec::new();
        while places.len() < 2000 {
            let s = draw.below(streams);
            for _ in 0..1 + draw.below(12) {
                places.push(((s << 32) + at[s as usize] * 4096, 4096));
                at[s as usize] += 1;
            }
        }
        let found = detect(&accesses(places), exact());
        let mut got = shapes(&found);
        got.sort();
        let truth: Vec<_> = (0..streams).map(|s| (s << 32, Some(4096), vec![level(at[s as usize], 4096)])).collect();
        right += u64::from(got == truth);
    }
    // Turns that happen to be of equal length at first may be read as one nest.
    assert!(right * 10 >= trials * 9, "{right} of {trials}");
}

#[test]
fn a_random_order_is_no_pattern() {
    let mut draw = Draw(13);
    let mut matched = 0;
    for _ in 0..50 {
        let mut slots: Vec<(u64, u64)> = (0..128).map(|i| (i * 65_536, 65_536)).collect();
        (1..slots.len()).rev().for_each(|i| slots.swap(i, draw.below(i as u64 + 1) as usize));
        let found = detect(&accesses(slots), exact());
        matched += found.matched();
    }
    assert!(matched < 50 * 128 / 10, "{matched} of {} in patterns", 50 * 128);
}

#[test]
fn the_next_accesses_are_told_and_come_true() {
    let levels = [level(4, 100), level(5, 1000), level(6, 10_000)];
    let places: Vec<u64> = offsets(0, &levels).collect();
    let seen = 71;
    let found = detect(&accesses(places[..seen].iter().map(|&o| (o, 10))), exact());
    let first = found.patterns.iter().find(|p| p.start_offset == 0).unwrap();
    let next: Vec<u64> = first.next(9).iter().map(|n| n.offset).collect();
    assert_eq!(next, places[seen..seen + 9]);
    let whole = detect(&accesses(places.iter().map(|&o| (o, 10))), Options { window: 8, ..exact() });
    assert!(whole.counts.predicted >= 100, "{} of 120", whole.counts.predicted);
}

#[test]
fn open_patterns_and_waiting_records_are_bounded() {
    let mut d = Detector::new(Options { max_open: 100, ..Options::default() });
    for file in 0..5000u32 {
        for mut a in accesses(offsets(0, &[level(10, 4096)]).map(|o| (o, 4096))) {
            a.file = FileId(file);
            d.push(&a);
        }
        assert!(d.open_patterns() <= 100);
    }
    let found = d.finish();
    assert_eq!((found.patterns.len(), found.unmatched_records), (5000, 0));
    // Old records leave the list: what comes after the given age is no pattern any more.
    let mut options = exact();
    options.max_age.records = 20;
    let mut draw = Draw(1);
    let all =
        (0..2000u64).map(|i| if i % 50 == 0 { (i / 50 * 4096, 4096) } else { ((1 << 40) + draw.below(1 << 40), 512) });
    let all = accesses(all);
    assert_eq!(detect(&all, options).matched(), 0);
    assert_eq!(detect(&all, exact()).matched(), 40);
}

/// Start, ranks and loops of the patterns that several ranks make.
fn together(found: &Found) -> Vec<(u64, u32, Option<Ranks>, Vec<Level>)> {
    let several = found.patterns.iter().filter(|p| p.ranks().is_some());
    several.map(|p| (p.start_offset, p.rank, p.ranks(), p.levels().to_vec())).collect()
}

#[test]
fn what_each_rank_does_once_is_a_level_over_ranks() {
    let ranks = |count, step| Some(Ranks { count, step });
    // A block of each rank, back to back.
    let found = of_ranks(4, |r| vec![(2104 + u64::from(r) * 4096, 4096)]);
    assert_eq!(together(&found), [(2104, 0, ranks(4, 1), vec![level(4, 4096)])]);
    assert_eq!((found.patterns[0].kind(), found.unmatched_records), (Kind::Contiguous, 0));
    assert_eq!((0..4).map(|i| found.patterns[0].rank_of(i)).collect::<Vec<_>>(), [0, 1, 2, 3]);
    // Every other rank, the same irregular list of places each, a constant distance apart.
    let list = [7_000_040, 96, 1_050_680, 3_000_000, 800];
    let found = of_ranks(8, |r| if r % 2 == 1 { list.map(|o| (o + u64::from(r) * 40, 328)).to_vec() } else { vec![] });
    let mut got = together(&found);
    got.sort_by_key(|p| p.0);
    let mut truth = list.map(|o| (o + 40, 1, ranks(4, 2), vec![level(4, 80)])).to_vec();
    truth.sort_by_key(|p| p.0);
    assert_eq!((got, found.unmatched_records), (truth, 0));
    // All ranks read the same headers, one place has been read by some only, one access is nobody else's.
    let found = of_ranks(4, |r| {
        let mut all = list.map(|o| (o, 512)).to_vec();
        all.extend((r > 0).then_some((5_000_000, 512)));
        all.extend((r == 2).then_some((9_000_008, 512)));
        all
    });
    let counts: Vec<u32> = together(&found).iter().map(|p| p.2.unwrap().count).collect();
    assert_eq!((counts, found.unmatched_records), (vec![4, 4, 4, 4, 4, 3], 1));
    // Two ranks show no more than a distance.
    assert!(together(&of_ranks(2, |r| vec![(u64::from(r) * 9000, 4096)])).is_empty());
}

#[test]
fn ranks_in_random_order_make_no_level() {
    // Each rank goes through its part of a file once, in an order of its own.
    let found = of_ranks(4, |r| {
        let mut draw = Draw(u64::from(r) + 17);
        let mut slots: Vec<(u64, u64)> = (0..64).map(|i| ((u64::from(r) * 64 + i) * 65_536, 65_536)).collect();
        (1..slots.len()).rev().for_each(|i| slots.swap(i, draw.below(i as u64 + 1) as usize));
        slots
    });
    assert!(together(&found).is_empty());
    assert!(found.matched() < 4 * 64 / 10, "{} in patterns", found.matched());
    // The slots of the whole file dealt out at random.
    let mut draw = Draw(23);
    let mut slots: Vec<u64> = (0..384).collect();
    (1..slots.len()).rev().for_each(|i| slots.swap(i, draw.below(i as u64 + 1) as usize));
    let found = of_ranks(8, |r| slots[r as usize * 48..][..48].iter().map(|s| (s * 65_536, 65_536)).collect());
    assert!(found.matched() < 384 / 10, "{} in patterns", found.matched());
}

#[test]
fn a_loop_that_one_rank_shows_is_known_for_all() {
    // Rank 0 has other accesses of the size between; the others show the loop alone.
    let found = of_ranks(4, |r| {
        let mut draw = Draw(29);
        let base = u64::from(r) << 18;
        let walk = (0..6u64).map(|i| (i * (1 << 20) + base, 1 << 18));
        let other = |_| ((draw.below(1 << 40) + (1 << 30)) * 8, 1 << 18);
        if r == 0 { walk.zip((0..6).map(other)).flat_map(|(a, b)| [a, b]).collect() } else { walk.collect() }
    });
    let starts: Vec<_> = shapes(&found).into_iter().filter(|s| s.2 == [level(6, 1 << 20)]).map(|s| s.0).collect();
    assert_eq!(starts, [0, 1 << 18, 2 << 18, 3 << 18]);
    assert_eq!(found.unmatched_records, 6);
}

#[test]
fn repeated_places_in_turns_are_found_whole() {
    let list = [680u64, 800, 1384, 1832];
    let all = accesses((0..120).map(|i| (list[i % 4], 512)));
    let found = detect(&all, exact());
    let mut got = shapes(&found);
    got.sort();
    assert_eq!(got, list.map(|o| (o, Some(512), vec![level(30, 0)])));
    assert_eq!(found.unmatched_records, 0);
}

#[test]
fn growing_passes_are_cut_where_they_grow() {
    // The same file, written over and over with more and more: 3, 6 and 12 places ten times each, then from another start.
    for base in [2104u64, 2176] {
        for (first, steps) in [(2u64, 3), (3, 3), (4, 3), (5, 2)] {
            let sizes: Vec<u64> = (0..steps).map(|k| first << k).collect();
            let start = |n: u64| if base == 2104 { base } else { 2104 + n * 24 };
            let walk = |n: u64| offsets(start(n), &[level(n, 24), level(10, 0)]).collect::<Vec<_>>();
            let places = sizes.iter().flat_map(|&n| walk(n)).map(|o| (o, 16));
            let truth: Vec<_> = sizes.iter().map(|&n| (start(n), Some(16), vec![level(n, 24), level(10, 0)])).collect();
            for window in [8, 16, 24, 31, 32, 40, 64, 100, 1000] {
                let found = detect(&accesses(places.clone()), Options { window, ..exact() });
                assert_eq!(shapes(&found), truth, "{first} from {base}, window {window}");
            }
        }
    }
}

/// A trace of the large corpus; `None`, with a word, if that is not there.
fn corpus(name: &str) -> Option<iophase::record::Trace> {
    let root =
        std::env::var_os("IOPHASE_CORPUS").unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../shared").into());
    let path = std::path::Path::new(&root).join("corpus").join(name);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    let read = formats::ReadOptions::default();
    let source = formats::Source::open(&path, &read.limits).unwrap();
    Some(formats::read(&source, None, &read).unwrap())
}

type Walk = (u32, Op, u64, Option<u64>, Vec<Level>);

/// Rank, operation, start, size and loops, sorted, of the patterns of files whose name ends so.
fn layout(name: &str, file: &str) -> Option<Vec<Walk>> {
    let trace = corpus(name)?;
    let iophase::record::Data::Requests(requests) = &trace.data else { panic!("{name} has no requests") };
    let found = iophase::pattern::detect(requests, |i| trace.files.name(requests.file.get(i)).ends_with(file), exact());
    assert_eq!(found.unmatched_records, 0, "{name}");
    let mut all: Vec<_> =
        found.patterns.iter().map(|p| (p.rank, p.op, p.start_offset, p.access_size(), p.levels().to_vec())).collect();
    all.sort();
    Some(all)
}

#[test]
fn real_runs_have_the_layout_of_their_command_line() {
    const K: i64 = 1024;
    const M: i64 = 1024 * 1024;
    let (seg, strided) = (vec![level(32, 32 * K), level(4, 4 * M)], vec![level(128, 128 * K)]);
    for format in ["darshan", "strace"] {
        let name = |run: &str| {
            if format == "darshan" {
                format!("p_patterns/darshan/{run}.darshan_dxt.darshan")
            } else {
                format!("p_patterns/strace/{run}.strace")
            }
        };
        if let Some(got) = layout(&name("seg"), "ckpt.dat") {
            let truth: Vec<_> = (0..4).map(|r| (r, Op::Write, u64::from(r) << 20, Some(32_768), seg.clone())).collect();
            assert_eq!(got, truth, "{format}");
        }
        if let Some(got) = layout(&name("strided"), "ckpt.dat") {
            let truth: Vec<_> =
                (0..4).map(|r| (r, Op::Write, u64::from(r) << 15, Some(32_768), strided.clone())).collect();
            assert_eq!(got, truth, "{format}");
        }
        let name = |run: &str| {
            if format == "darshan" {
                format!("ior/darshan/{run}.darshan_dxt.darshan")
            } else {
                format!("ior/strace/{run}.strace")
            }
        };
        for run in ["ssf-posix", "ssf-mpiio", "ssf-mpiio-coll"] {
            if let Some(got) = layout(&name(run), "testfile") {
                let walk = vec![level(16, 64 * K), level(3, 8 * M)];
                let truth: Vec<_> = (0..8u32)
                    .flat_map(|r| {
                        [Op::Read, Op::Write].map(|op| (r, op, u64::from(r) << 20, Some(65_536), walk.clone()))
                    })
                    .collect();
                assert_eq!(got, truth, "{run} {format}");
            }
        }
    }
}
