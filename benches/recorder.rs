//! Speed of the Recorder reader, in calls. The traces are written here: two ranks whose calls are loops in loops.

use std::hint::black_box;

use common::recorder as made;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iophase::formats::{ReadOptions, Source, read, read_into};
use iophase::record::{Batch, Restart, RowSink};

/// Takes rows and drops them, as commands do that need no row twice.
struct Dropped;

impl RowSink for Dropped {
    fn take(&self, batch: Batch<'_>) -> iophase::Result<()> {
        black_box(batch.rows.len());
        Ok(())
    }

    fn restart(&self, _why: Restart) {}
}

/// Bursts of 64 calls with a flush after each.
fn rank(call: &'static str, bursts: usize) -> made::Rank {
    let (name, args) = call.split_once(' ').unwrap_or_default();
    let burst =
        |_| (0..65u32).map(|i| (if i == 0 { 9_000_000 } else { 400 + i }, if i == 0 { 9_000_100 } else { 700 }));
    made::Rank {
        signatures: vec![("open", "/a 66 420 ".into()), (name, format!("{args} ")), ("fsync", "/a ".into())],
        rules: vec![(-1, vec![(0, 1), (-2, bursts as i32)]), (-2, vec![(-3, 4), (2, 1)]), (-3, vec![(1, 16)])],
        times: std::iter::once((1, 2)).chain((0..bursts).flat_map(burst)).collect(),
    }
}

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("recorder");
    group.sample_size(10);
    let bursts = 20_000;
    for (what, call) in [("offsets given", "pwrite /a %p 65536 4096"), ("offsets followed", "write /a %p 65536")] {
        let Ok(folder) = tempfile::tempdir() else { return };
        made::folder(folder.path(), &[rank(call, bursts), rank(call, bursts)]);
        let options = ReadOptions::default();
        let Ok(source) = Source::open(folder.path(), &options.limits) else { return };
        group.throughput(Throughput::Elements(2 * (65 * bursts as u64 + 1)));
        for threads in [1, 2] {
            let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
            group.bench_function(format!("{what}, rows dropped, {threads} threads"), |b| {
                b.iter(|| pool.install(|| read_into(black_box(&source), None, &options, &Dropped)).is_ok());
            });
            group.bench_function(format!("{what}, rows kept, {threads} threads"), |b| {
                b.iter(|| pool.install(|| read(black_box(&source), None, &options)).is_ok());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
