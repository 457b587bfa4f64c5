//! Every step of period analysis on signals of a million and of ten million samples: none may grow faster than N log N.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use iophase::analysis::Sampling;
use iophase::internals::period::methods::{self, Settings};
use iophase::internals::period::spectrum::Powers;
use iophase::internals::period::validity::{self, Sliding};
use iophase::internals::period::{bursts, detectors, scores};
use iophase::internals::signal::Signal;
use iophase::internals::transform::{Cosine, Spectrum, Wavelet};
use std::hint::black_box;
use std::time::Duration;

/// Samples of a period.
const PERIOD: usize = 997;

/// Bursts of a fifth of a period that come up to a twentieth of it late, over a rippled background.
fn signal(n: usize) -> Signal {
    let sample = |i: usize| {
        let late = (i / PERIOD).wrapping_mul(2_654_435_761) % (PERIOD / 20);
        let burst = i % PERIOD >= late && i % PERIOD < late + PERIOD / 5;
        let ripple = (i.wrapping_mul(2_654_435_761) >> 8) % 1000;
        if burst { 1e9 } else { ripple as f64 * 1e4 }
    };
    let samples: Vec<f64> = (0..n).map(sample).collect();
    let bytes = samples.iter().sum::<f64>() / 10.0;
    let end = n as f64 / 10.0;
    Signal { samples, rate_hz: 10.0, start: 0.0, end, bytes, sampling: Sampling::Bin, abstraction_error: 0.0 }
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("period");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for n in [1_000_000, 10_000_000] {
        let signal = signal(n);
        group.throughput(Throughput::Elements(n as u64));
        let period_s = PERIOD as f64 / signal.rate_hz;
        let Some(powers) = Powers::of(&Spectrum::of(&signal.samples), signal.rate_hz) else { continue };
        for (detector, find) in detectors::ALL {
            let id = BenchmarkId::new(format!("detector {detector:?}"), n);
            group.bench_function(id, |b| b.iter(|| find(black_box(&powers), 0.8)));
        }
        for (method, find) in methods::ALL {
            let id = BenchmarkId::new(format!("method {method:?}"), n);
            let settings = Settings::default();
            group.bench_function(id, |b| b.iter(|| find(black_box(&signal), &settings)));
        }
        let haar = Wavelet::haar();
        let level = validity::level(PERIOD as f64, &haar, n);
        group.bench_function(BenchmarkId::new("approximation", n), |b| {
            b.iter(|| validity::approximation(black_box(&signal.samples), &haar, level));
        });
        let smooth = validity::approximation(&signal.samples, &haar, level);
        let cosine = Cosine { frequency_hz: 1.0 / period_s, amplitude: 1e9, phase: 0.0 };
        group.bench_function(BenchmarkId::new("validity", n), |b| {
            b.iter(|| Sliding::of(black_box(&smooth), signal.rate_hz, &cosine).map(|s| s.windows(signal.rate_hz, 0.0)));
        });
        group.bench_function(BenchmarkId::new("bursts", n), |b| {
            b.iter(|| bursts::find(black_box(&signal), period_s, &[]))
        });
        let answer = methods::autocorrelation::find(&signal, &Settings::default());
        let dominant = answer.detection.dominant;
        group.bench_function(BenchmarkId::new("scores", n), |b| {
            b.iter(|| scores::of(black_box(&signal), Some(&powers), dominant.as_ref()));
        });
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
