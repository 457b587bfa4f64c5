//! Speed of access classes: a million accesses by 64 ranks to one file, for each classifier.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iophase::analysis::Selection;
use iophase::classify::{Choice, Model, Options, classify, train};
use iophase::record::{Data, Op, Request, Requests, Trace};
use std::hint::black_box;

const RANKS: u64 = 64;
const EACH: u64 = 16_384;

fn trace(offset: impl Fn(u64, u64) -> u64) -> Trace {
    let mut t = Trace::default();
    let file = t.files.intern("/scratch/data");
    let rows = (0..EACH).flat_map(|i| (0..RANKS).map(move |r| (i, r)));
    let requests = rows.map(|(i, r)| Request {
        op: Op::Write,
        rank: r as u32,
        file,
        offset: offset(i, r),
        size: 4096,
        start: i as f64 * 1e-3,
        end: i as f64 * 1e-3 + 5e-4,
        ..Request::default()
    });
    t.data = Data::Requests(requests.collect::<Requests>());
    t
}

/// A number that looks drawn (the finaliser of SplitMix64).
fn scatter(i: u64) -> u64 {
    let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn classes(c: &mut Criterion) {
    let mut group = c.benchmark_group("classify");
    group.sample_size(10).throughput(Throughput::Elements(RANKS * EACH));
    let all = Selection::default();
    // the multiples of an odd number look drawn, but are a lattice: steps come again and again
    let lattice = |i: u64, r: u64| (i * RANKS + r).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 30;
    let jobs = [
        ("interleaved", trace(|i, r| (i * RANKS + r) * 4096)),
        ("random", trace(|i, r| scatter(i * RANKS + r) >> 24)),
        ("lattice", trace(lattice)),
    ];
    for (name, trace) in &jobs {
        let mut model = Model::default();
        let _ = train(trace, &all, Options::default(), &mut model);
        for (by, choice) in [("rules", Choice::Rules), ("network", Choice::Network), ("markov", Choice::Markov)] {
            if *name == "lattice" && choice == Choice::Network {
                // a minute: each window is cut in every way
                continue;
            }
            let options = Options::default().choice(choice).model(Some(&model));
            group.bench_function(format!("{name} {by}"), |b| b.iter(|| classify(black_box(trace), &all, options)));
        }
    }
    group.finish();
}

criterion_group!(benches, classes);
criterion_main!(benches);
