//! Throughput from strace text to a directly-follows graph, in bytes of text.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iophase::analysis::event_log;
use iophase::dfg::Plan;
use iophase::formats::{ReadOptions, Source};
use iophase::internals::dfg::Graph;

/// A process with two threads that open files, write and read blocks; every 16th call is cut in two by the other thread.
fn log(calls: u32) -> Vec<u8> {
    let mut text = String::new();
    let data = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"...";
    for i in 0..calls {
        let (pid, s, us) = (i % 2, i / 50_000 % 60, i % 50_000 * 20);
        let path = format!("/scratch/project/run.0042/output/checkpoint.{:04}.dat", i / 512);
        let _ = match i / 2 % 16 {
            0 => writeln!(
                text,
                "{pid} 01:00:{s:02}.{us:06} write(7<{path}>,  <unfinished ...>\n\
                 {pid} 01:00:{s:02}.{us:06} <... write resumed>{data}, 65536) = 65536 <0.000031>"
            ),
            1 => writeln!(
                text,
                "{pid} 01:00:{s:02}.{us:06} openat(AT_FDCWD</scratch>, \"{path}\", O_RDWR) = 7<{path}> <0.000012>"
            ),
            n if n % 3 == 1 => {
                writeln!(text, "{pid} 01:00:{s:02}.{us:06} read(7<{path}>, {data}, 4096) = 4096 <0.000004>")
            }
            n => writeln!(
                text,
                "{pid} 01:00:{s:02}.{us:06} pwrite64(7<{path}>, {data}, 65536, {}) = 65536 <0.000023>",
                n * 65_536
            ),
        };
    }
    text.into_bytes()
}

fn graphs(c: &mut Criterion) {
    let text = log(50_000);
    let cases = 8;
    let sources: Vec<Source> =
        (0..cases).map(|i| Source::from_bytes(&format!("a_node_{i}.st"), text.clone())).collect();
    let mut group = c.benchmark_group("dfg");
    group.sample_size(20);
    group.throughput(Throughput::Bytes((text.len() * cases) as u64));
    let (options, plan) = (ReadOptions::default(), Plan::default());
    for threads in [1, 2] {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
        group.bench_function(format!("8 cases, {threads} threads"), |b| {
            b.iter(|| {
                pool.install(|| event_log(black_box(&sources), None, &options, &plan).map(|l| Graph::of(&l.cases)))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, graphs);
criterion_main!(benches);
