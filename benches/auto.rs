//! Speed of the default detector: a small trace, one with many noise requests, and large ones.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use iophase::internals::period::chains::{Options, detect};
use iophase::internals::signal::Span;
use iophase::internals::signal::profile::Profile;
use std::hint::black_box;

/// A small generator (Lehmer's, 64 bit): the bench needs repeatable numbers, not good ones.
struct Draw(u64);

impl Draw {
    /// Uniform in 0..1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// `n` requests of 256 ranks in 50 bursts of 30 % of a period of 20 s, sorted by start or not.
fn large(n: usize, sorted: bool) -> Vec<Span> {
    let mut draw = Draw(1);
    let (period, bursts) = (20.0, 50);
    let width = 0.3 * period;
    let per_rank = (n as f64 / bursts as f64 / 256.0).max(1.0);
    let mut spans: Vec<Span> = (0..n)
        .map(|i| {
            let burst = (i * bursts / n) as f64;
            let length = (width / per_rank).min(0.5 * width) * (0.3 + 0.6 * draw.uniform());
            let start = 7.5 + burst * period + (width - length) * draw.uniform();
            Span { start, end: start + length, bytes: 1_048_576.0 }
        })
        .collect();
    if sorted {
        spans.sort_by(|a, b| a.start.total_cmp(&b.start));
    }
    spans
}

/// Forty bursts of eight ranks with `noise` small requests at random between them.
fn noisy(noise: usize) -> Vec<Span> {
    let mut draw = Draw(7);
    let mut spans: Vec<Span> = (0..40 * 8)
        .map(|i| {
            let start = 10.0 * f64::from(i / 8) + 0.05 * draw.uniform();
            Span { start, end: start + 2.0, bytes: 1e8 }
        })
        .collect();
    spans.extend((0..noise).map(|_| {
        let start = 400.0 * draw.uniform();
        Span { start, end: start + 0.2 * draw.uniform(), bytes: 1e6 }
    }));
    spans
}

fn auto(c: &mut Criterion) {
    for (name, spans) in [("small", noisy(0)), ("noisy", noisy(600))] {
        let profile = Profile::from_spans(spans);
        c.bench_function(&format!("detect/{name}"), |b| {
            b.iter(|| detect(black_box(&profile), Options::default()));
        });
    }
    let mut group = c.benchmark_group("large");
    group.sample_size(10);
    for (name, n, sorted) in [("sorted", 1_000_000, true), ("unsorted", 1_000_000, false), ("folded", 4_000_000, false)]
    {
        let spans = large(n, sorted);
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(format!("profile/{name}/{n}"), |b| {
            b.iter_batched(|| spans.clone(), Profile::from_spans, BatchSize::LargeInput);
        });
        let profile = Profile::from_spans(spans);
        group.bench_function(format!("detect/{name}/{n}"), |b| {
            b.iter(|| detect(black_box(&profile), Options::default()));
        });
    }
    group.finish();
}

criterion_group!(benches, auto);
criterion_main!(benches);
