//! Cost of following a job: feeding transfers, and one prediction after a long history.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use iophase::online::{Options, Session};
use iophase::record::{Interval, Op};
use std::hint::black_box;

/// Request `i` of a job that writes 1,000 requests every 20 s, in 4 s, some late.
fn event(i: u64) -> Interval {
    let (burst, k) = (i / 1000, i % 1000);
    let late = 1e-4 * ((i * 7919) % 101) as f64;
    let start_s = 20.0 * burst as f64 + 4e-3 * k as f64 + late;
    Interval { op: Op::Write, start: start_s, end: start_s + 3e-3, bytes: 1e6 + (i % 13) as f64, ..Interval::default() }
}

/// A session after `n` requests.
fn after(n: u64) -> Session {
    let mut session = Session::new(None, Options::default());
    for i in 0..n {
        session.feed(&[event(i)]);
        if session.due() {
            session.predict();
        }
    }
    session
}

fn online(c: &mut Criterion) {
    let mut group = c.benchmark_group("feed");
    let events: Vec<Interval> = (0..100_000).map(event).collect();
    group.throughput(Throughput::Elements(events.len() as u64));
    group.bench_function("one by one", |b| {
        b.iter_batched(
            || Session::new(None, Options::default()),
            |mut s| events.iter().for_each(|e| s.feed(black_box(std::slice::from_ref(e)))),
            BatchSize::LargeInput,
        );
    });
    group.finish();
    let mut group = c.benchmark_group("update");
    for n in [10_000, 1_000_000] {
        let session = after(n);
        group.bench_function(format!("after {n} requests"), |b| {
            b.iter_batched(
                || session.clone(),
                |mut s| {
                    s.feed(&[event(n)]);
                    s.predict()
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, online);
criterion_main!(benches);
