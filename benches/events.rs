//! Throughput of the readers of events, DFTracer and Chrome traces, in bytes of text.

use std::fmt::Write;
use std::hint::black_box;
use std::io::Write as _;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iophase::formats::{Format, ReadOptions, Source, collect};
use iophase::internals::formats::chrome::Chrome;
use iophase::internals::formats::dftracer::DfTracer;

/// Calls of one process on 64 files, as DFTracer 2.2 writes them.
fn dftracer(calls: u64) -> String {
    let mut text = String::from("[\n");
    let hash = |file: u64| format!("{:016x}", file.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for i in 0..calls {
        let file = i / 512 % 64;
        if i % 512 == 0 {
            let _ = writeln!(
                text,
                "{{\"name\":\"FH\",\"cat\":\"dftracer\",\"type\":1,\"pid\":26463,\"tid\":26463,\"ph\":4,\"args\":{{\"hhash\":\"6882804a826580cd\",\"name\":\"/scratch/run/ckpt.{file}\",\"value\":\"{}\"}}}}",
                hash(file)
            );
        }
        let _ = writeln!(
            text,
            "{{\"id\":{i},\"name\":\"write\",\"cat\":\"POSIX\",\"type\":3,\"pid\":26463,\"tid\":26463,\"ts\":{},\"dur\":33,\"ph\":1,\"args\":{{\"hhash\":\"6882804a826580cd\",\"ret\":65536,\"count\":65536,\"fhash\":\"{}\"}}}}",
            1_795_426_685_910_145 + 50 * i,
            hash(file)
        );
    }
    text
}

/// Calls of one process, every fourth as a pair.
fn chrome(calls: u64) -> String {
    let mut text = String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    for i in 0..calls {
        let args = format!("\"args\":{{\"bytes\":65536,\"path\":\"/scratch/run/ckpt.{}\"}}", i / 512 % 64);
        let place = format!("\"cat\":\"io\",\"pid\":1,\"tid\":{}", i % 4);
        let ts = 50 * i;
        let _ = match i % 4 {
            0 => writeln!(
                text,
                "{{\"ph\":\"B\",\"name\":\"file.write\",{place},\"ts\":{ts}.25,{args}}},\n{{\"ph\":\"E\",{place},\"ts\":{}}},",
                ts + 30
            ),
            _ => {
                write!(text, "{{\"ph\":\"X\",\"name\":\"file.write\",{place},\"ts\":{ts}.125,\"dur\":30.5,{args}}},")
            }
        };
    }
    text + "{}]}\n"
}

/// `text` in gzip members of this many bytes.
fn gzip(text: &[u8], member: usize) -> Vec<u8> {
    let pack = |part: &[u8]| {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        z.write_all(part).and_then(|()| z.finish()).unwrap_or_default()
    };
    text.chunks(member).flat_map(pack).collect()
}

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("events");
    group.sample_size(10);
    let (dft, chr) = (dftracer(200_000).into_bytes(), chrome(200_000).into_bytes());
    let inputs: [(&str, &dyn Format, usize, Vec<u8>); 5] = [
        ("dftracer", &DfTracer, dft.len(), dft.clone()),
        ("dftracer, one gzip member", &DfTracer, dft.len(), gzip(&dft, usize::MAX)),
        ("dftracer, gzip members of 1 MB", &DfTracer, dft.len(), gzip(&dft, 1 << 20)),
        ("chrome", &Chrome, chr.len(), chr.clone()),
        ("chrome, one gzip member", &Chrome, chr.len(), gzip(&chr, usize::MAX)),
    ];
    for (what, format, plain, bytes) in inputs {
        group.throughput(Throughput::Bytes(plain as u64));
        let source = Source::from_bytes("log", bytes);
        for threads in [1, 2] {
            let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
            group.bench_function(format!("{what}, {threads} threads"), |b| {
                let options = ReadOptions::default();
                b.iter(|| {
                    let sources = std::slice::from_ref(&source);
                    pool.install(|| black_box(collect(format, black_box(sources), &options))).is_ok()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
