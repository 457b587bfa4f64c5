//! Speed of the pattern detector: strided, nested and interleaved accesses, sizes that vary back to back, 64 ranks, and random
//! accesses in which there is nothing to find.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iophase::pattern::{Access, Detector, Options};
use iophase::record::{FileId, Op};
use std::hint::black_box;

const RECORDS: u64 = 2_000_000;

/// A number that looks random (the finaliser of SplitMix64).
fn scatter(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn access(i: u64, rank: u64, offset: u64, size: u64) -> Access {
    let start = i as f64 * 1e-4;
    Access { op: Op::Write, rank: rank as u32, file: FileId(0), offset, size, start, end: start + 5e-5 }
}

fn patterns(c: &mut Criterion) {
    let mut group = c.benchmark_group("pattern");
    group.sample_size(10).throughput(Throughput::Elements(RECORDS));
    let mut bench = |name: &str, of: &dyn Fn(u64) -> Access| {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut d = Detector::new(Options::default());
                (0..RECORDS).for_each(|i| d.push(black_box(&of(i))));
                d.finish()
            });
        });
    };
    bench("strided", &|i| access(i, 0, i * 8192, 4096));
    bench("nested", &|i| access(i, 0, i / 16 * 1_000_000 + i % 16 * 4096, 4096));
    bench("rows of 4", &|i| access(i, 0, i / 160 * 10_000_000 + i / 4 % 40 * 100_000 + i % 4 * 4096, 4096));
    let mut end = 0;
    let back_to_back: Vec<Access> = (0..RECORDS)
        .map(|i| {
            let size = 1 + scatter(i) % 1_000_000;
            end += size;
            access(i, 0, end - size, size)
        })
        .collect();
    bench("sequential", &|i| back_to_back[i as usize]);
    bench("64 ranks", &|i| access(i, i % 64, i * 8192, 4096));
    let mut taken = [0; 100];
    let shuffled: Vec<Access> = (0..RECORDS)
        .map(|i| {
            let stream = scatter(i) % 100;
            taken[stream as usize] += 1;
            access(i, 0, (stream << 36) + taken[stream as usize] * 8192, 4096)
        })
        .collect();
    bench("100 interleaved", &|i| shuffled[i as usize]);
    bench("random", &|i| access(i, 0, scatter(i) >> 20, 4096));
    bench("random on a grid", &|i| access(i, 0, scatter(i) % 16_384 * 65_536, 65_536));
    bench("random sizes", &|i| access(i, 0, scatter(i) >> 20, scatter(i + 1) % 1_000_000));
    group.finish();
}

criterion_group!(benches, patterns);
criterion_main!(benches);
