//! Time of the Fourier fit of burst trains.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use iophase::internals::transform::fourier_fit;

/// Bursts of a fifth of a period of 61.7 samples, over noise of a linear congruential generator.
fn burst_train(samples: usize) -> Vec<f64> {
    let mut state = 1u32;
    (0..samples)
        .map(|n| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = f64::from(state) / f64::from(u32::MAX);
            f64::from(u8::from((n as f64 / 61.7).fract() < 0.2)) + 0.2 * noise
        })
        .collect()
}

fn fits(c: &mut Criterion) {
    let mut group = c.benchmark_group("fourier_fit");
    group.sample_size(20);
    for (samples, components) in [(200, 10), (2_000, 10), (2_000, 50), (100_000, 10)] {
        let x = burst_train(samples);
        let id = BenchmarkId::new(format!("{components}_components"), samples);
        group.bench_function(id, |b| b.iter(|| fourier_fit(black_box(&x), 1.0, components)));
    }
    group.finish();
}

criterion_group!(benches, fits);
criterion_main!(benches);
