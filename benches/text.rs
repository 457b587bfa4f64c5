//! Throughput of the text readers and of MessagePack, in bytes of input, from memory.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use iophase::formats::{ReadOptions, Source, read};

const REQUESTS: u32 = 200_000;

/// Rank, operation, offset, start, end of a periodic job: every request moves a mebibyte.
fn requests() -> impl Iterator<Item = (u32, &'static str, u64, f64, f64)> {
    (0..REQUESTS).map(|i| {
        let start = f64::from(i / 10_000) * 20.0 + f64::from(i % 10_000) * 5e-4;
        (i % 256, if i % 5 == 0 { "read" } else { "write" }, u64::from(i / 256) << 20, start, start + 4e-3)
    })
}

fn tmio_json() -> Vec<u8> {
    let series =
        |f: fn(f64, f64) -> f64| requests().map(|(.., s, e)| format!("{:.6}", f(s, e))).collect::<Vec<_>>().join(", ");
    format!(
        "{{\"write_sync\":{{\"total_io_ops\": {REQUESTS},\"bandwidth\": {{\"b_rank_avr\": [{}],\"t_rank_s\": [{}],\"t_rank_e\": [{}]}}}}}}",
        series(|s, e| 1048576.0 / (e - s)),
        series(|s, _| s),
        series(|_, e| e),
    )
    .into_bytes()
}

fn tmio_msgpack() -> Vec<u8> {
    let mut out = b"\x9e\xaawrite_sync\xc2\xc3\0\0\0\0\0\0\0\0\0\0\xdd".to_vec();
    out.extend(REQUESTS.to_be_bytes());
    for (.., s, e) in requests() {
        let float = |out: &mut Vec<u8>, x: f64| {
            out.push(0xcb);
            out.extend(x.to_be_bytes());
        };
        out.extend(b"\x99\xce\x00\x10\x00\x00");
        float(&mut out, s);
        float(&mut out, e);
        out.push(0);
        float(&mut out, 1048576.0 / (e - s));
        float(&mut out, 1048576.0 / (e - s));
        out.extend([0, 0, 1]);
    }
    out
}

fn csv() -> Vec<u8> {
    let mut out = String::from("rank,op,file,offset,size,start,end\n");
    for (rank, op, offset, s, e) in requests() {
        writeln!(out, "{rank},{op},/scratch/out.{rank},{offset},1048576,{s:.6},{e:.6}").unwrap();
    }
    out.into_bytes()
}

fn json_lines() -> Vec<u8> {
    let mut out = String::new();
    for (rank, op, offset, s, e) in requests() {
        writeln!(
            out,
            "{{\"rank\":{rank},\"op\":\"{op}\",\"file\":\"/scratch/out.{rank}\",\"offset\":{offset},\"size\":1048576,\"start\":{s:.6},\"end\":{e:.6}}}"
        )
        .unwrap();
    }
    out.into_bytes()
}

fn radar() -> Vec<u8> {
    let mut out = format!("HEADER\n/scratch/out 1 {}\nPROCESS 0 {REQUESTS}\n", u64::from(REQUESTS) << 20);
    for (_, op, offset, s, e) in requests() {
        let name = if op == "read" { "ADIO_Read" } else { "ADIO_Write" };
        writeln!(out, "1 {name} {s:.6} {e:.6} 1\n{offset} 1048576").unwrap();
    }
    out.into_bytes()
}

fn readers(c: &mut Criterion) {
    let mut group = c.benchmark_group("text");
    group.sample_size(20);
    for (name, bytes) in [
        ("tmio-json", tmio_json()),
        ("tmio-msgpack", tmio_msgpack()),
        ("csv", csv()),
        ("json-lines", json_lines()),
        ("radar", radar()),
    ] {
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let source = Source::from_bytes(name, bytes);
        let rows = read(&source, None, &ReadOptions::default()).unwrap().data.len();
        assert_eq!(rows, REQUESTS as usize, "{name}");
        group.bench_function(name, |b| {
            b.iter_batched(
                || (),
                |()| read(black_box(&source), None, &ReadOptions::default()).unwrap(),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, readers);
criterion_main!(benches);
