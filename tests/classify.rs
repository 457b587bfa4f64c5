//! Access classes of generated and of real traces.

use iophase::classify::{Classes, GlobalSequentiality as G, Mix, Options, Sequentiality, Size, classify};
use iophase::record::{Data, Op, Request, Requests, Trace};
use iophase::signal::Selection;
use proptest::prelude::*;

const KIB: u64 = 1024;

/// A trace of (rank, op, offset, size, start); each access takes `length` seconds.
fn trace(accesses: impl IntoIterator<Item = (u32, Op, u64, u64, f64)>, length: f64) -> Trace {
    let mut t = Trace::default();
    let file = t.files.intern("/scratch/data");
    let mut rows: Vec<Request> = accesses
        .into_iter()
        .map(|(rank, op, offset, size, start)| Request {
            op,
            rank,
            file,
            offset,
            size,
            start,
            end: start + length,
            ..Request::default()
        })
        .collect();
    rows.sort_by(|a, b| a.start.total_cmp(&b.start));
    t.data = Data::Requests(rows.into_iter().collect::<Requests>());
    t
}

fn classes(t: &Trace) -> Classes {
    classify(t, &Selection::default(), Options::default()).unwrap()
}

/// Classes of the only file: what, by how many ranks.
fn global(t: &Trace) -> Vec<(G, usize)> {
    let found = classes(t);
    assert_eq!(found.files.len(), 1);
    found.files[0].global.iter().map(|g| (g.sequentiality, g.ranks.len())).collect()
}

/// How each global class moves rank `r` of `p` through the file at its `i`-th of `n` accesses.
fn place(class: G, p: u64, r: u64, i: u64, n: u64, size: u64) -> u64 {
    match class {
        G::GlobalSequential | G::SingleRank => i * size,
        G::PartitionedSequential => (r * n + i) * size,
        G::InterleavedSequential => (i * p + r) * size,
        G::GlobalStrided => i * size * (p + 2) + r * size,
        G::PartitionedStrided => (r * n + i) * 3 * size,
        // a full cycle through the places, in no visible order
        G::NonSequential => ((i * 7919 + 13) * (2 * r + 3) + i * i * 31) % (4 * n * p) * size,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn every_class_at_every_number_of_ranks(
        which in 0usize..7, p in 2u64..=256, n in 24u64..60, size in 1u64..3_000_000, op in prop::bool::ANY, stagger in 0.0..0.3, slow in 1.0..1.5,
    ) {
        let class = G::ALL[which];
        let ranks = if class == G::SingleRank { 1 } else { p };
        let op = if op { Op::Read } else { Op::Write };
        let accesses = (0..ranks).flat_map(|r| (0..n).map(move |i| {
            // all overlap: a staggered start, one rank slower than the others
            let pace = if r == p / 2 { slow } else { 1.0 };
            let start = stagger * n as f64 * r as f64 / p as f64 + pace * i as f64;
            (r as u32, op, place(class, p, r, i, n, size), size, start)
        }));
        let t = trace(accesses, 0.5);
        prop_assert_eq!(global(&t), vec![(class, ranks as usize)]);
        let g = &classes(&t).files[0].global[0];
        let size_class = if size < KIB * KIB { Size::UniformSmall } else { Size::UniformLarge };
        prop_assert_eq!((g.size, g.mix), (size_class, if op == Op::Read { Mix::ReadOnly } else { Mix::WriteOnly }));
        prop_assert_eq!(g.bytes, ranks * n * size);
    }

    #[test]
    fn two_phases_of_different_class(a in 0usize..6, b in 0usize..6, p in 2u64..64, n in 24u64..40) {
        let (first, second) = (G::ALL[a], G::ALL[b]);
        prop_assume!(first != second && first != G::SingleRank && second != G::SingleRank);
        let accesses = (0..p).flat_map(|r| (0..2 * n).map(move |i| {
            let (class, i, base) = if i < n { (first, i, 0) } else { (second, i - n, 1 << 40) };
            let phase = if base > 0 { n as f64 + 5.0 } else { 0.0 };
            (r as u32, Op::Read, base + place(class, p, r, i, n, 4096), 4096, phase + i as f64)
        }));
        prop_assert_eq!(global(&trace(accesses, 0.5)), vec![(first, p as usize), (second, p as usize)]);
    }
}

#[test]
fn ranks_that_come_one_after_the_other_are_one_class_all_the_same() {
    let accesses = (0..16u64).flat_map(|r| {
        (0..20).map(move |i| {
            (
                r as u32,
                Op::Write,
                place(G::InterleavedSequential, 16, r, i, 20, 4096),
                4096,
                100.0 * r as f64 + i as f64,
            )
        })
    });
    let found = classes(&trace(accesses, 0.5));
    let g = &found.files[0].global;
    assert_eq!(g.len(), 1);
    assert_eq!((g[0].sequentiality, g[0].ranks.len(), g[0].staggered), (G::InterleavedSequential, 16, true));
}

#[test]
fn writing_then_reading_back_is_two_classes() {
    let accesses = (0..8u64).flat_map(|r| {
        (0..40u64).map(move |i| {
            let op = if i < 20 { Op::Write } else { Op::Read };
            (r as u32, op, (r * 20 + i % 20) * 65536, 65536, i as f64)
        })
    });
    let found = classes(&trace(accesses, 0.5));
    let mixes: Vec<(Mix, G)> = found.files[0].global.iter().map(|g| (g.mix, g.sequentiality)).collect();
    assert_eq!(mixes, [(Mix::WriteOnly, G::PartitionedSequential), (Mix::ReadOnly, G::PartitionedSequential)]);
}

/// QCRD, phase 2 (Madhyastha & Reed 1997, section 5.2): 64 ranks read the first 2,412 bytes of a matrix, then interleave in
/// requests of 2,400 bytes; the matrix is read twice.
#[test]
fn qcrd_reads_a_header_together_and_interleaves_the_rest() {
    let (p, n) = (64u64, 24u64);
    let accesses = (0..p).flat_map(|r| {
        (0..2u64).flat_map(move |pass| {
            let begin = 200.0 * pass as f64;
            let header = (r as u32, Op::Read, 0, 2412, begin + 0.01 * r as f64);
            let rest =
                (0..n).map(move |i| (r as u32, Op::Read, 2412 + (i * p + r) * 2400, 2400, begin + 2.0 + i as f64));
            std::iter::once(header).chain(rest)
        })
    });
    let found = global(&trace(accesses, 0.7));
    let once = [(G::GlobalSequential, 64), (G::InterleavedSequential, 64)];
    assert_eq!(found, [once, once].concat());
}

/// PRISM (section 5.3): every rank reads a file of 127,394 bytes twice, in requests of 8 KiB.
#[test]
fn prism_reads_whole_files_on_every_rank() {
    let size = 127_394u64;
    let accesses = (0..16u32).flat_map(|r| {
        (0..2u32).flat_map(move |pass| {
            (0..size.div_ceil(8192)).map(move |i| {
                let start = f64::from(pass) * 20.0 + i as f64 + 0.01 * f64::from(r);
                (r, Op::Read, i * 8192, 8192.min(size - i * 8192), start)
            })
        })
    });
    let found = classes(&trace(accesses, 0.7));
    let g = &found.files[0].global;
    assert_eq!(g.len(), 1, "{g:?}");
    assert_eq!((g[0].sequentiality, g[0].size, g[0].ranks.len()), (G::GlobalSequential, Size::UniformSmall, 16));
    let policies: Vec<&str> = g[0].advice.iter().map(|a| a.policy.as_str()).collect();
    assert_eq!(policies, ["read-once-and-broadcast", "keep-in-cache"]);
}

#[test]
fn read_modify_write_is_mixed_and_strided() {
    let accesses = (0..60u64).map(|i| {
        let op = if i % 2 == 0 { Op::Read } else { Op::Write };
        (0, op, i / 2 * 4096, 4096, i as f64)
    });
    let found = classes(&trace(accesses, 0.5));
    let l = &found.files[0].local;
    assert_eq!(l.len(), 1);
    assert_eq!((l[0].mix, l[0].sequentiality), (Mix::ReadWrite, Sequentiality::StridedKd));
}

#[test]
fn a_trace_without_offsets_has_no_classes() {
    let t = trace([(0, Op::Write, iophase::record::UNKNOWN_OFFSET, 10, 0.0)], 1.0);
    let e = classify(&t, &Selection::default(), Options::default()).unwrap_err();
    assert_eq!(e.exit_code(), 4);
}
