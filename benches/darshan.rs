//! Reading a Darshan log against the floor: inflating the same bytes.

use std::hint::black_box;
use std::io::{Read, Write};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use iophase::formats::{self, Limits, ReadOptions, Source};
use iophase::internals::formats::darshan::{Log, Module};

/// Appends a zlib stream to the log and enters it at `at` of the header.
fn region(log: &mut Vec<u8>, at: Option<usize>, plain: &[u8]) {
    let mut z = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    z.write_all(plain).expect("memory");
    let stream = z.finish().expect("memory");
    if let Some(at) = at {
        let place = [log.len() as u64, stream.len() as u64];
        log[at..at + 16].copy_from_slice(&place.map(u64::to_le_bytes).concat());
    }
    log.extend(stream);
}

/// A log of one process with `segments` writes of 1 MiB, a period of 10 s and times that do not repeat.
fn log(segments: u64) -> Vec<u8> {
    let mut log = vec![0u8; 1328];
    log[..4].copy_from_slice(b"3.41");
    log[8..16].copy_from_slice(&6_567_223u64.to_le_bytes());
    log[1112..1116].copy_from_slice(&1u32.to_le_bytes());
    let mut job = vec![0u8; 1144];
    job[40] = 1;
    region(&mut log, None, &job);
    region(&mut log, Some(32), b"\x01\0\0\0\0\0\0\0/scratch/out\0");
    let mut plain = vec![0u8; 104];
    plain[0] = 1;
    plain[88..96].copy_from_slice(&segments.to_le_bytes());
    let mut noise = 1u64;
    for i in 0..segments {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let start = (i / 64) as f64 * 10.0 + (i % 64) as f64 * 0.01 + (noise >> 40) as f64 * 1e-10;
        plain.extend((i << 20).to_le_bytes());
        plain.extend((1u64 << 20).to_le_bytes());
        plain.extend(start.to_le_bytes());
        plain.extend((start + 0.005 + (noise >> 44) as f64 * 1e-9).to_le_bytes());
    }
    region(&mut log, Some(48 + 16 * 10), &plain);
    log
}

fn bench(c: &mut Criterion) {
    let segments = 200_000;
    let bytes = log(segments);
    let slot =
        *Log::new(bytes.clone(), &Limits::default()).expect("sound").header().slot(Module::DxtPosix).expect("there");
    let (from, to) = (slot.offset as usize, (slot.offset + slot.length) as usize);
    let source = Source::from_bytes("bench", bytes.clone());
    let mut group = c.benchmark_group("darshan");
    group.sample_size(20).throughput(Throughput::Elements(segments));
    group.bench_function("inflate", |b| {
        let mut piece = vec![0; 128 << 10];
        b.iter(|| {
            let mut z = ZlibDecoder::new(&bytes[from..to]);
            let mut total = 0;
            loop {
                match z.read(&mut piece).expect("sound") {
                    0 => break black_box(total),
                    n => total += n,
                }
            }
        });
    });
    group.bench_function("read", |b| {
        b.iter(|| formats::read(black_box(&source), None, &ReadOptions::default()).expect("sound").data.len());
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
