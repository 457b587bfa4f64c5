//! Records per second that each writer takes from a workload that makes them on the way; `rows` is the workload alone.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iophase::Result;
use iophase::formats::write::{Sink, WRITERS};
use iophase::internals::workload::{Values, find, run};
use iophase::record::{Row, Rows};

/// Counts bytes and forgets them.
#[derive(Default)]
struct Nowhere(u64);

impl Sink for Nowhere {
    fn append(&mut self, _name: &str, bytes: &[u8]) -> Result<()> {
        self.0 += black_box(bytes).len() as u64;
        Ok(())
    }
}

fn writers(c: &mut Criterion) {
    let checkpoint = find("checkpoint").unwrap();
    let values = Values::of(checkpoint.parameters(), &[("ranks", "64"), ("checkpoints", "50")]).unwrap();
    let run = run(checkpoint, &values, 0).unwrap();
    let mut group = c.benchmark_group("generate");
    group.sample_size(10);
    group.throughput(Throughput::Elements(run.truth().records));
    group.bench_function("rows", |b| {
        b.iter(|| {
            let mut bytes = 0;
            run.visit(&mut |row| {
                if let Row::Request(r) = row {
                    bytes += r.size;
                }
                Ok(())
            })
            .unwrap();
            bytes
        });
    });
    for w in WRITERS {
        group.bench_function(w.name(), |b| b.iter(|| w.write(&run, &mut Nowhere::default()).unwrap().rows));
    }
    group.finish();
}

criterion_group!(benches, writers);
criterion_main!(benches);
