//! Throughput of the strace reader, in bytes of text.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iophase::formats::{Detail, ReadOptions, Source, collect};
use iophase::internals::formats::strace::Strace;

/// Four processes that write blocks to files of their own; every 16th call is cut in two.
fn log(calls: u32, annotated: bool) -> Vec<u8> {
    let mut text = String::new();
    let path = |pid: u32| format!("</scratch/project/run.0042/output/checkpoint.rank{pid:04}.dat>");
    let name = |pid: u32| if annotated { path(pid) } else { String::new() };
    for i in 0..calls {
        let (pid, s, us) = (i % 4, i / 50_000 % 60, i % 50_000 * 20);
        let fd = name(pid);
        let data = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"...";
        let _ = match i / 4 % 16 {
            0 => writeln!(
                text,
                "{pid} 01:00:{s:02}.{us:06} write(7{fd},  <unfinished ...>\n\
                 {pid} 01:00:{s:02}.{us:06} <... write resumed>{data}, 65536) = 65536 <0.000031>"
            ),
            n if n % 3 == 1 => writeln!(text, "{pid} 01:00:{s:02}.{us:06} read(7{fd}, {data}, 4096) = 4096 <0.000004>"),
            n => writeln!(
                text,
                "{pid} 01:00:{s:02}.{us:06} pwrite64(7{fd}, {data}, 65536, {}) = 65536 <0.000023>",
                n * 65_536
            ),
        };
    }
    text.into_bytes()
}

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("strace");
    group.sample_size(20);
    for (what, annotated, detail) in [
        ("with paths", true, Detail::Transfers),
        ("without paths", false, Detail::Transfers),
        ("every call", true, Detail::Calls),
    ] {
        let text = log(200_000, annotated);
        group.throughput(Throughput::Bytes(text.len() as u64));
        let source = Source::from_bytes("log", text);
        let options = ReadOptions::default().detail(detail);
        for threads in [1, 2] {
            let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
            group.bench_function(format!("{what}, {threads} threads"), |b| {
                b.iter(|| {
                    pool.install(|| black_box(collect(&Strace, black_box(std::slice::from_ref(&source)), &options)))
                        .is_ok()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
