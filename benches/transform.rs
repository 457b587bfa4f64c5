//! How long the transforms take on signals of the sizes they are meant for.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use iophase::internals::transform::{
    Boundary, Butterworth, Decomposition, Divisor, Morlet, Pass, Spectrum, Stft, Wavelet, Window, autocorrelation, dwt,
    fourier_fit, geometric_frequencies, refine_peak, sliding_pearson,
};

/// Bursts of a third of the period, with noise.
fn bursts(len: usize, period: usize) -> Vec<f64> {
    let mut state = 11u64;
    let mut noise = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..len).map(|n| if n % period < period / 3 { 200.0 } else { 0.0 } + 20.0 * noise()).collect()
}

fn wave(len: usize, period: f64) -> Vec<f64> {
    (0..len).map(|n| (std::f64::consts::TAU * n as f64 / period).cos()).collect()
}

fn long_signals(c: &mut Criterion) {
    let mut group = c.benchmark_group("long");
    group.sample_size(10);
    let million = bursts(1_000_000, 1000);
    let power_of_two = bursts(1 << 20, 1000);
    group.throughput(Throughput::Elements(1 << 20));
    group.bench_function("fft 2^20", |b| b.iter(|| Spectrum::of(black_box(&power_of_two))));
    group.throughput(Throughput::Elements(1_000_000));
    group.bench_function("autocorrelation 10^6", |b| {
        b.iter(|| autocorrelation(black_box(&million), Divisor::Unbiased).unwrap())
    });
    let low = Butterworth::design(Pass::Low(0.01), 4, 1.0).unwrap();
    group.bench_function("butterworth, zero phase, order 4, 10^6", |b| {
        b.iter(|| low.filter_zero_phase(black_box(&million)))
    });
    let stft = Stft::new(Window::Hann, 1024, 256).unwrap();
    group.bench_function("stft 1024/256, 10^6", |b| b.iter(|| stft.power(black_box(&million)).unwrap()));
    group.bench_function("refined peak 10^6", |b| b.iter(|| refine_peak(black_box(&million), 1000, 1.0).unwrap()));
    drop((million, power_of_two));

    let x = bursts(10_000_000, 1000);
    let haar = Wavelet::haar();
    group.throughput(Throughput::Elements(10_000_000));
    group.bench_function("dwt haar, one level, 10^7", |b| {
        b.iter(|| dwt(black_box(&x), &haar, Boundary::Symmetric).unwrap())
    });
    group.bench_function("dwt haar, five levels, 10^7", |b| {
        b.iter(|| Decomposition::of(black_box(&x), &haar, Boundary::Symmetric, 5).unwrap())
    });
    let y = wave(x.len(), 1000.0);
    for window in [1000, 1_000_000] {
        group.bench_with_input(BenchmarkId::new("sliding pearson 10^7, window", window), &window, |b, &window| {
            b.iter(|| sliding_pearson(black_box(&x), black_box(&y), window).unwrap())
        });
    }
    group.finish();
}

fn maps(c: &mut Criterion) {
    let mut group = c.benchmark_group("maps");
    group.sample_size(10);
    let x = bursts(16_384, 200);
    let morlet = Morlet::default();
    let frequencies = geometric_frequencies(1.0 / 4096.0, 0.25, 8).unwrap();
    let scales: Vec<f64> = frequencies.iter().map(|f| morlet.scale(*f)).collect();
    group.throughput(Throughput::Elements((x.len() * scales.len()) as u64));
    group.bench_function(format!("cwt morlet, {} scales, 2^14", scales.len()), |b| {
        b.iter(|| morlet.transform(black_box(&x), &scales).unwrap())
    });
    group.finish();
}

fn fits(c: &mut Criterion) {
    let mut group = c.benchmark_group("fourier fit, 10 cosines");
    group.sample_size(10);
    for len in [200, 500, 2000] {
        let x = bursts(len, 47);
        group.bench_with_input(BenchmarkId::from_parameter(len), &x, |b, x| {
            b.iter(|| fourier_fit(black_box(x), 1.0, 10).unwrap())
        });
    }
    group.finish();
}

criterion_group!(benches, long_signals, maps, fits);
criterion_main!(benches);
