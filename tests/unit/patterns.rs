//! Access patterns: nothing is lost, and what is true by construction is found and takes no more numbers than it is made of.
//!
//! Numbers are those of `tests/score`.

// A skipped test and a measured share say so.
#![allow(clippy::print_stdout)]

use super::score::{Body, Description, numbers_of_found};
use common::shared;
use iophase::formats;
use iophase::internals::nest::{Loop, canonical, offsets};
use iophase::pattern::{Access, Detector, Found, Kind, Options, Pattern, Ranks, verify};
use iophase::record::{Data, FileId, Op, Request, Requests};
use proptest::prelude::*;

fn exact() -> Options {
    Options::default().keep_sizes(true).keep_unmatched(true)
}

fn level(count: u64, stride: i64) -> Loop {
    Loop { count, stride }
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

/// The patterns found, which give back every access.
fn detect(accesses: &[Access], options: Options) -> Found {
    let mut d = Detector::new(options);
    accesses.iter().for_each(|a| d.push(a));
    let found = d.finish();
    assert_eq!(verify(&found, accesses.iter().copied()), Ok(()));
    found
}

/// Detection in requests of many ranks, which take turns.
fn of_ranks(ranks: u32, options: Options, places: impl Fn(u32) -> Vec<(u64, u64)>) -> Found {
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
    let found = iophase::pattern::detect(&requests, |_| true, options);
    assert_eq!(verify(&found, requests.iter().filter_map(|r| Access::of(&r))), Ok(()));
    found
}

/// Start, size and loops of all patterns.
fn shapes(found: &Found) -> Vec<(u64, Option<u64>, Vec<Loop>)> {
    found.patterns.iter().map(|p| (p.start_offset, p.access_size(), p.levels().to_vec())).collect()
}

/// Numbers of a nest of accesses of this size.
fn numbers(size: u64, loops: &[Loop], over_ranks: bool) -> u64 {
    let loops = loops.iter().map(|l| (l.count, l.stride)).collect();
    Description { loops, body: Body::Access(size), over_ranks, two_operations: false }.numbers()
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

/// Accesses back to back.
fn back_to_back(start: u64, sizes: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut at = start;
    let mut next = |size| {
        at += size;
        (at - size, size)
    };
    sizes.into_iter().map(&mut next).collect()
}

/// Pieces that traces are made of: nests, noise on a coarse or fine grid, back to back sizes once or several times.
fn pieces() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let nest =
        (0u64..50, prop::collection::vec((1u64..5, -40i64..40), 1..4), 0u64..3).prop_map(|(base, loops, size)| {
            let levels: Vec<Loop> = loops.into_iter().map(|(c, s)| level(c, s)).collect();
            offsets(10_000 + base, &levels).map(|o| (o, size)).collect()
        });
    let noise = prop::collection::vec((9_990u64..10_040, 0u64..3), 0..40);
    let chain = (9_990u64..10_040, prop::collection::vec(0u64..4, 0..40), 1u64..4, 0u64..99).prop_map(
        |(at, sizes, passes, stride)| {
            (0..passes).flat_map(|i| back_to_back(at + i * stride, sizes.iter().copied())).collect()
        },
    );
    prop_oneof![nest, noise, chain]
}

/// Loops of a pattern, without those over ranks and over two operations.
fn own_loops(p: &Pattern) -> &[Loop] {
    let loops = if p.then().is_some() { &p.levels()[1..] } else { p.levels() };
    if p.ranks().is_some() { &loops[..loops.len() - 1] } else { loops }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::sample(2000) as u32, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(
        parts in prop::collection::vec((pieces(), 0u32..2, any::<bool>(), 0u32..2), 0..8),
        seed in any::<u64>(), window in 1usize..80, age in 1u64..500, most in 1usize..20, mixed in any::<bool>(),
        ranks in 1u32..5, apart in 0u64..100, join_ranks in any::<bool>(),
    ) {
        // All parts are made by two groups of ranks, each at places of its own.
        let streams: Vec<Vec<Access>> = (0..ranks).flat_map(|k| parts.iter().map(move |part| (k, part))).map(|(k, part)| {
            let (places, group, read, file) = part;
            let mut all = accesses(places.iter().copied());
            for a in &mut all {
                (a.rank, a.file, a.op) = (2 * k + group, FileId(*file), if *read { Op::Read } else { Op::Write });
                a.offset += u64::from(k) * apart;
            }
            all
        }).collect();
        let mut all = if mixed { interleave(streams, &mut Draw(seed)) } else { streams.concat() };
        (0u32..).zip(&mut all).for_each(|(i, a)| (a.start, a.end) = (f64::from(i), f64::from(i) + 0.5));
        let mut options = exact().window(window).max_open(most).join_ranks(join_ranks);
        options.max_age.records = age;
        let found = detect(&all, options);
        prop_assert_eq!((found.records, found.bytes), (all.len() as u64, all.iter().map(|a| a.size).sum::<u64>()));
        prop_assert_eq!(found.matched(), found.patterns.iter().map(|p| p.records).sum::<u64>());
        for p in &found.patterns {
            prop_assert!(p.records > 1 && p.expand().unwrap().count() as u64 == p.records);
            prop_assert_eq!(p.bytes, p.expand().unwrap().map(|a| a.1).sum::<u64>());
            prop_assert_eq!(canonical(own_loops(p)), own_loops(p));
            prop_assert_eq!(p.ranks().map(|r| u64::from(r.count)), p.ranks().and(p.levels().last()).map(|l| l.count));
            let highest = p.expand().unwrap().map(|a| a.0 + a.1).max();
            prop_assert_eq!(highest, Some(p.extent().1));
        }
    }
}

#[test]
fn a_copy_of_a_nest_that_has_been_split_meanwhile_loses_nothing() {
    // Two rows of three; a copy begins at 1; the third row goes on to six, as many accesses as there were; the copy ends.
    let places = [8, 9, 10, 9, 10, 11, 1, 2, 10, 11, 12, 13, 14, 15, 3, 2, 3, 4];
    detect(&accesses(places.map(|p| (p * 4096, 4096))), exact());
}

#[test]
fn short_lists_of_nests_in_irregular_turns_lose_nothing() {
    let mut draw = Draw(11);
    for _ in 0..2000 {
        let count = 1 + draw.below(10);
        let mut streams: Vec<Vec<u64>> = (0..count).map(|_| cut_nest(&mut draw)).collect();
        let longest_turn = 1 + draw.below(8);
        let mut places = Vec::new();
        while streams.iter().any(|s| !s.is_empty()) {
            let k = draw.below(streams.len() as u64) as usize;
            let n = streams[k].len().min(1 + draw.below(longest_turn) as usize);
            places.extend(streams[k].drain(..n));
        }
        let window = 4 + draw.below(60) as usize;
        detect(&accesses(places.iter().map(|p| (p * 4096, 4096))), exact().window(window));
    }
}

/// The first accesses of a nest of up to three short loops; nests share their places.
fn cut_nest(draw: &mut Draw) -> Vec<u64> {
    let start = 60 + draw.below(40);
    let mut stride = |most: u64, back: i64| draw.below(most) as i64 - back;
    let strides = [stride(5, 1), stride(9, 3), stride(20, 8)];
    let loops: Vec<Loop> = strides.into_iter().zip([5, 4, 3]).map(|(s, most)| level(1 + draw.below(most), s)).collect();
    let mut places: Vec<u64> = offsets(start, &loops).collect();
    places.truncate(1 + draw.below(places.len() as u64) as usize);
    places
}

/// A nest of one to five loops around accesses of a size, up or down, perhaps gone through several times; a loop may turn
/// before a loop of smaller strides.
fn random_nest(draw: &mut Draw) -> (u64, Vec<Loop>) {
    let size = 1 + draw.below(5000);
    let down = draw.below(2) == 1;
    let (mut extent, mut loops) = (size as i64, Vec::new());
    for _ in 0..1 + draw.below(5) {
        let (count, gap) = (2 + draw.below(5), draw.below(5) as i64);
        let stride = extent + gap * size as i64;
        loops.push(level(count, if down { -stride } else { stride }));
        extent = stride * count as i64;
    }
    if draw.below(4) == 0 {
        let (i, j) = (draw.below(loops.len() as u64), draw.below(loops.len() as u64));
        loops.swap(i as usize, j as usize);
    }
    if draw.below(3) == 0 {
        loops.push(level(2 + draw.below(3), 0));
    }
    (size, loops)
}

/// How many of `trials` random nests take more numbers than their loops. Fewer than nine accesses tell too little.
fn longer_nests(trials: u32, draw: &mut Draw, options: impl Fn(&mut Draw) -> Options) -> Vec<String> {
    let mut longer = Vec::new();
    for _ in 0..trials {
        let (size, loops) = random_nest(draw);
        let all = accesses(offsets(1 << 45, &loops).map(|o| (o, size)));
        let options = options(draw);
        let found = detect(&all, options);
        let (got, truth) = (numbers_of_found(&found), numbers(size, &canonical(&loops), false));
        if all.len() > 8 && got > truth {
            longer
                .push(format!("{got} numbers in place of {truth}, window {}: {size} bytes, {loops:?}", options.window));
        }
    }
    longer
}

#[test]
fn nests_of_any_depth_take_no_more_numbers_than_their_loops() {
    let longer = longer_nests(2000, &mut Draw(7), |_| exact());
    println!("{} of 2000 nests are longer", longer.len());
    assert!(longer.len() <= 10, "{} of 2000:\n{}", longer.len(), longer.join("\n"));
}

#[test]
fn nests_take_no_more_numbers_whatever_the_window() {
    let longer = longer_nests(2000, &mut Draw(8), |draw| exact().window(4 + draw.below(96) as usize));
    println!("{} of 2000 nests are longer", longer.len());
    assert!(longer.len() <= 10, "{} of 2000:\n{}", longer.len(), longer.join("\n"));
}

/// Where a thousand patterns are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Layout {
    FilesOfTheirOwn,
    SizesOfTheirOwn,
    Anywhere,
    SideBySide,
}

/// File, start, size and loops of a pattern.
type Stated = (FileId, u64, Option<u64>, Vec<Loop>);

/// A thousand interleaved progressions, and what is found in them.
fn a_thousand(layout: Layout, seed: u64) -> (Vec<Stated>, Found) {
    let mut draw = Draw(seed);
    let mut truth = Vec::new();
    let streams: Vec<Vec<Access>> = (0..1000u64)
        .map(|i| {
            let size = if layout == Layout::SizesOfTheirOwn { 100 + i } else { 4096 };
            let count = 20 + draw.below(100);
            let (base, stride) = match layout {
                Layout::Anywhere => (draw.below(1 << 40), 4096 + draw.below(1 << 24)),
                Layout::SideBySide => (i * 1_000_000, if i % 2 == 0 { size } else { 2 * size }),
                _ => (draw.below(1 << 40), size * (1 + draw.below(5))),
            };
            let mut s = accesses(offsets(base, &[level(count, stride as i64)]).map(|o| (o, size)));
            let file = FileId(if layout == Layout::FilesOfTheirOwn { i as u32 } else { 0 });
            s.iter_mut().for_each(|a| a.file = file);
            truth.push((file, base, Some(size), vec![level(count, stride as i64)]));
            s
        })
        .collect();
    truth.sort_by_key(|t| (t.0, t.1));
    let found = detect(&interleave(streams, &mut draw), exact());
    println!(
        "{layout:?}, seed {seed}: {} patterns, {} of {} accesses in none ({:.2} %)",
        found.patterns.len(),
        found.unmatched_records,
        found.records,
        100.0 * found.unmatched_records as f64 / found.records as f64
    );
    (truth, found)
}

#[test]
fn a_thousand_interleaved_patterns_in_files_or_sizes_of_their_own_are_all_found() {
    for (layout, seed) in [Layout::FilesOfTheirOwn, Layout::SizesOfTheirOwn].into_iter().zip([5, 6]) {
        let (truth, found) = a_thousand(layout, seed);
        let mut got: Vec<_> =
            found.patterns.iter().map(|p| (p.file, p.start_offset, p.access_size(), p.levels().to_vec())).collect();
        got.sort_by_key(|t| (t.0, t.1));
        let missing: Vec<_> = truth.iter().filter(|t| !got.contains(t)).collect();
        let other: Vec<_> = got.iter().filter(|t| !truth.contains(t)).collect();
        assert!(missing.is_empty() && other.is_empty(), "{layout:?}: {missing:?} are found as {other:?}");
        assert_eq!(found.unmatched_records, 0, "{layout:?}");
    }
}

#[test]
fn a_thousand_interleaved_patterns_of_one_size_in_one_file_are_found_nearly_whole() {
    let mut wrong = Vec::new();
    for (layout, seed) in [Layout::Anywhere, Layout::SideBySide]
        .into_iter()
        .flat_map(|l| (5..9).step_by(super::every(4)).map(move |s| (l, s)))
    {
        let (_, found) = a_thousand(layout, seed);
        let share = found.unmatched_records as f64 / found.records as f64;
        if found.patterns.len() > 1015 || share > 0.005 {
            let patterns = found.patterns.len();
            wrong.push(format!("{layout:?}, seed {seed}: {patterns} patterns, {share:.4} in none"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn regular_layouts_of_1_to_64_ranks_are_one_nest() {
    const XFER: u64 = 65_536;
    for ranks in [1u64, 3, 8, 64] {
        // (transfers in a block, segments): IOR, segmented and strided.
        for (transfers, segments) in [(16u64, 3u64), (1, 48), (4, 1), (2, 4), (7, 100)] {
            let case = format!("{ranks} ranks, {transfers} transfers, {segments} segments");
            let block = transfers * XFER;
            let of_rank = canonical(&[level(transfers, XFER as i64), level(segments, (ranks * block) as i64)]);
            let places = |r: u32| offsets(u64::from(r) * block, &of_rank).map(|o| (o, XFER)).collect::<Vec<_>>();
            let found = of_ranks(ranks as u32, exact(), places);
            let mut loops = of_rank.clone();
            loops.extend((ranks > 1).then_some(level(ranks, block as i64)));
            assert_eq!(shapes(&found), [(0, Some(XFER), loops)], "{case}");
            let together = (ranks > 1).then_some(Ranks { count: ranks as u32, step: 1 });
            assert_eq!((found.patterns[0].ranks(), found.unmatched_records), (together, 0), "{case}");
            // Nests of ranks by themselves.
            let found = of_ranks(ranks as u32, exact().join_ranks(false), places);
            let truth: Vec<_> = (0..ranks).map(|r| (r * block, Some(XFER), of_rank.clone())).collect();
            assert_eq!((shapes(&found), found.unmatched_records), (truth, 0), "{case}, one by one");
        }
    }
}

#[test]
fn hyperslabs_of_one_to_four_dimensions_are_one_nest() {
    const ELEMENT: u64 = 8;
    // Extent of the data set and of the slab, slowest dimension first; rows are written whole.
    let cases: [(&[u64], &[u64]); 6] = [
        (&[4096], &[512]),
        (&[64, 256], &[64, 32]),
        (&[16, 32, 64], &[16, 8, 16]),
        (&[10, 25, 8, 8], &[10, 25, 2, 2]),
        (&[4, 4, 4, 4], &[2, 2, 2, 2]),
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
            let truth = canonical(loops);
            if truth.is_empty() {
                continue;
            }
            let found = detect(&accesses(offsets(1 << 20, loops).map(|o| (o, size))), exact());
            let (got, most) = (numbers_of_found(&found), numbers(size, &truth, false));
            assert!(got <= most, "{slab:?} of {data:?}, {size} bytes: {got} numbers, {most} are true: {found:?}");
            let one = found.patterns.len() == 1 && found.unmatched_records == 0;
            assert!(one, "{slab:?} of {data:?}, {size} bytes: {:?}", shapes(&found));
        }
    }
}

#[test]
fn members_of_one_size_form_one_nest() {
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
fn descending_repeated_and_interrupted_patterns_are_found() {
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
    assert_eq!(found.unmatched_records, 10_000);
}

#[test]
fn sizes_that_vary_back_to_back_are_a_sequential_pattern() {
    let mut draw = Draw(9);
    let sizes: Vec<u64> = (0..3000).map(|_| 1 + draw.below(100_000)).collect();
    let found = detect(&accesses(back_to_back(777, sizes.clone())), exact());
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
    // A copy: equal blocks and a shorter end.
    let copy = (0..100).map(|i| (i * 65_536, 65_536)).chain([(6_553_600, 123)]);
    let found = detect(&accesses(copy), exact());
    assert!(numbers_of_found(&found) <= 5, "{:?}", shapes(&found));
}

#[test]
fn a_repeated_list_of_sizes_is_one_pattern_with_a_loop() {
    let mut draw = Draw(10);
    let sizes: Vec<u64> = (0..40).map(|_| 1 + draw.below(100_000)).collect();
    let of_pass = 2 * sizes.len() as u64 + 1;
    for (passes, stride) in [(6, 0), (5, 1 << 30)] {
        let pass = |i: u64| back_to_back(777 + i * stride, sizes.iter().copied());
        let found = detect(&accesses((0..passes).flat_map(pass)), exact());
        let got = numbers_of_found(&found);
        assert!(got <= of_pass + 2, "{got} numbers: {:?}", shapes(&found));
        // All ranks.
        let found = of_ranks(4, exact(), |r| (0..passes).flat_map(|i| pass(i * 4 + u64::from(r))).collect());
        let got = numbers_of_found(&found);
        assert!(got <= of_pass + 5, "{got} numbers for four ranks: {:?}", shapes(&found));
    }
}

#[test]
fn alternating_reads_and_writes_of_the_same_offsets_are_one_pattern() {
    let loops = [level(30, 8192), level(4, 1 << 20)];
    let both = offsets(0, &loops).flat_map(|o| [Op::Read, Op::Write].map(|op| (o, op)));
    let (places, ops): (Vec<u64>, Vec<Op>) = both.unzip();
    let mut all = accesses(places.into_iter().map(|o| (o, 4096)));
    all.iter_mut().zip(ops).for_each(|(a, op)| a.op = op);
    let found = detect(&all, exact());
    let [p] = &found.patterns[..] else { panic!("{:?}", shapes(&found)) };
    assert_eq!((p.op, p.then(), found.unmatched_records), (Op::Read, Some(Op::Write), 0));
    assert_eq!(p.levels(), [level(2, 0), loops[0], loops[1]]);
}

#[test]
fn streams_in_irregular_turns_take_no_more_numbers_than_their_loops() {
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
        let truth: u64 = at.iter().map(|&n| numbers(4096, &[level(n, 4096)], false)).sum();
        right += u64::from(numbers_of_found(&found) <= truth);
    }
    // Turns that happen to be of equal length at first may be read as one nest.
    assert!(right * 4 >= trials * 3, "{right} of {trials}");
}

#[test]
fn predicted_next_accesses_come_true() {
    let levels = [level(4, 100), level(5, 1000), level(6, 10_000)];
    let places: Vec<u64> = offsets(0, &levels).collect();
    let seen = 71;
    let found = detect(&accesses(places[..seen].iter().map(|&o| (o, 10))), exact());
    let first = found.patterns.iter().find(|p| p.start_offset == 0).unwrap();
    let next: Vec<u64> = first.next(9).iter().map(|n| n.offset).collect();
    assert_eq!(next, places[seen..seen + 9]);
    let whole = detect(&accesses(places.iter().map(|&o| (o, 10))), exact().window(8));
    assert!(whole.predicted >= 100, "{} of 120", whole.predicted);
}

#[test]
fn open_patterns_and_waiting_records_are_bounded() {
    let mut d = Detector::new(Options::default().max_open(100));
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
fn together(found: &Found) -> Vec<(u64, u32, Option<Ranks>, Vec<Loop>)> {
    let several = found.patterns.iter().filter(|p| p.ranks().is_some());
    several.map(|p| (p.start_offset, p.rank, p.ranks(), p.levels().to_vec())).collect()
}

#[test]
fn accesses_that_each_rank_makes_once_are_a_loop_over_ranks() {
    let ranks = |count, step| Some(Ranks { count, step });
    for join_ranks in [true, false] {
        let options = exact().join_ranks(join_ranks);
        // A block of each rank, back to back.
        let found = of_ranks(4, options, |r| vec![(2104 + u64::from(r) * 4096, 4096)]);
        assert_eq!(together(&found), [(2104, 0, ranks(4, 1), vec![level(4, 4096)])]);
        assert_eq!((found.patterns[0].kind(), found.unmatched_records), (Kind::Contiguous, 0));
        assert_eq!((0..4).map(|i| found.patterns[0].rank_of(i)).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // Every other rank, the same irregular list of places each, a constant distance apart.
        let list = [7_000_040, 96, 1_050_680, 3_000_000, 800];
        let odd = |r: u32| if r % 2 == 1 { list.map(|o| (o + u64::from(r) * 40, 328)).to_vec() } else { vec![] };
        let found = of_ranks(8, options, odd);
        let mut got = together(&found);
        got.sort_by_key(|p| p.0);
        let mut truth = list.map(|o| (o + 40, 1, ranks(4, 2), vec![level(4, 80)])).to_vec();
        truth.sort_by_key(|p| p.0);
        assert_eq!((got, found.unmatched_records), (truth, 0));
        // Two ranks show no more than a distance.
        assert!(together(&of_ranks(2, options, |r| vec![(u64::from(r) * 9000, 4096)])).is_empty());
    }
}

#[test]
fn headers_that_all_ranks_read_are_loops_over_ranks() {
    let mut wrong = Vec::new();
    for (ranks, join_ranks) in [(4, true), (4, false), (16, true), (16, false)] {
        // One place has been read by some only, one access is nobody else's.
        let found = of_ranks(ranks, exact().join_ranks(join_ranks), |r| {
            let mut all = [7_000_040, 96, 1_050_680, 3_000_000, 800].map(|o| (o, 512)).to_vec();
            all.extend((r > 0).then_some((5_000_000, 512)));
            all.extend((r == 2).then_some((9_000_008, 512)));
            all
        });
        let counts: Vec<u32> = together(&found).iter().map(|p| p.2.unwrap().count).collect();
        let mut truth = vec![ranks; 5];
        truth.push(ranks - 1);
        let left = found.unmatched_records;
        if (&counts, left) != (&truth, 1) {
            wrong.push(format!("of {ranks} ranks {counts:?} read places together, {left} accesses are left"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_loop_of_one_rank_is_recognised_in_all() {
    // Rank 0 has other accesses of the size between; the others show the loop alone.
    let found = of_ranks(4, exact(), |r| {
        let mut draw = Draw(29);
        let base = u64::from(r) << 18;
        let walk = (0..6u64).map(|i| (i * (1 << 20) + base, 1 << 18));
        let other = |_| ((draw.below(1 << 40) + (1 << 30)) * 8, 1 << 18);
        if r == 0 { walk.zip((0..6).map(other)).flat_map(|(a, b)| [a, b]).collect() } else { walk.collect() }
    });
    assert_eq!(found.unmatched_records, 6);
    assert!(found.unmatched.iter().all(|a| a.offset >= 1 << 30), "{:?}", shapes(&found));
}

#[test]
fn alternating_repeated_offsets_are_found_completely() {
    let list = [680u64, 800, 1384, 1832];
    let found = detect(&accesses((0..120).map(|i| (list[i % 4], 512))), exact());
    let got = numbers_of_found(&found);
    assert!(got <= 4 * numbers(512, &[level(30, 0)], false), "{got} numbers: {:?}", shapes(&found));
    assert_eq!(found.unmatched_records, 0);
}

/// A trace of the corpus.
fn corpus(name: &str) -> Option<iophase::record::Trace> {
    let path = shared(&format!("corpus/{name}"))?;
    let read = formats::ReadOptions::default();
    let source = formats::Source::open(&path, &read.limits).unwrap();
    Some(formats::read(&source, None, &read).unwrap())
}

/// Rank, operation, start, size and loops.
type Walk = (u32, Op, u64, Option<u64>, Vec<Loop>);

/// The walks of the ranks, sorted, in files whose name ends so, and in how many patterns they are stated.
fn layout(name: &str, file: &str) -> Option<(Vec<Walk>, usize)> {
    let trace = corpus(name)?;
    let Data::Requests(requests) = &trace.data else { panic!("{name} has no requests") };
    let ours = |i: usize| trace.files.name(requests.file.get(i)).ends_with(file);
    let found = iophase::pattern::detect(requests, ours, exact());
    let all = (0..requests.len()).filter(|&i| ours(i)).filter_map(|i| Access::of(&requests.get(i)));
    assert_eq!((verify(&found, all), found.unmatched_records), (Ok(()), 0), "{name}");
    let mut walks: Vec<Walk> = Vec::new();
    for p in &found.patterns {
        assert_eq!(p.then(), None, "{name}");
        let Ranks { count, step } = p.ranks().unwrap_or(Ranks { count: 1, step: 0 });
        let stride = p.ranks().and(p.levels().last()).map_or(0, |l| l.stride);
        walks.extend((0..count).map(|i| {
            let start = p.start_offset.wrapping_add_signed(i64::from(i) * stride);
            (p.rank + i * step, p.op, start, p.access_size(), own_loops(p).to_vec())
        }));
    }
    walks.sort();
    Some((walks, found.patterns.len()))
}

#[test]
fn real_runs_have_the_layout_of_their_command_line() {
    const K: i64 = 1024;
    const M: i64 = 1024 * 1024;
    let of_ranks = |ranks: u32, ops: &[Op], apart: u64, size: u64, loops: &[Loop]| -> (Vec<Walk>, usize) {
        let walk = |r: u32| ops.iter().map(move |&op| (r, op, u64::from(r) * apart, Some(size), loops.to_vec()));
        ((0..ranks).flat_map(walk).collect(), ops.len())
    };
    let seg = of_ranks(4, &[Op::Write], 1 << 20, 32_768, &[level(32, 32 * K), level(4, 4 * M)]);
    let strided = of_ranks(4, &[Op::Write], 1 << 15, 32_768, &[level(128, 128 * K)]);
    let shared = of_ranks(8, &[Op::Read, Op::Write], 1 << 20, 65_536, &[level(16, 64 * K), level(3, 8 * M)]);
    for (folder, run, file, truth) in [
        ("p_patterns", "seg", "ckpt.dat", &seg),
        ("p_patterns", "strided", "ckpt.dat", &strided),
        ("ior", "ssf-posix", "testfile", &shared),
        ("ior", "ssf-mpiio", "testfile", &shared),
        ("ior", "ssf-mpiio-coll", "testfile", &shared),
    ] {
        for name in [format!("{folder}/darshan/{run}.darshan_dxt.darshan"), format!("{folder}/strace/{run}.strace")] {
            if let Some(got) = layout(&name, file) {
                // One nest over all ranks for each operation.
                assert_eq!(got, *truth, "{name}");
            }
        }
    }
}
