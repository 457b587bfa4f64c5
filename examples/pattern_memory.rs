//! Memory that finding patterns takes: streams accesses to the detector and prints the peak of the process.
//!
//! `cargo run --release --example pattern_memory -- strided|random|sizes|rotating RECORDS RANKS`
//!
//! `rotating`: ten accesses at a stride, then others somewhere else, and so on: patterns without end.

#![allow(clippy::print_stdout, reason = "what it is for")]

use iophase::pattern::{Access, Detector, Options};
use iophase::record::{FileId, Op};

/// A number that looks random (the finaliser of SplitMix64).
fn scatter(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Peak resident memory in MB, where the system tells it.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| words.get(i).and_then(|w| w.parse().ok()).unwrap_or(default);
    let kind = words.first().map_or("strided", String::as_str);
    let (records, ranks) = (number(1, 1_000_000), number(2, 64).max(1));
    let mut detector = Detector::new(Options::default());
    for i in 0..records {
        let (rank, n) = (i % ranks, i / ranks);
        let (offset, size) = match kind {
            "random" => (scatter(i) >> 20, 4096),
            "sizes" => (scatter(i) >> 20, scatter(i + 1) % 1_000_000),
            "rotating" => ((scatter(n / 10 * ranks + rank) >> 24 << 4) + n % 10 * 8192, 4096),
            _ => (n * 8192, 4096),
        };
        let start = i as f64 * 1e-4;
        let (op, rank, file) = (Op::Write, rank as u32, FileId(0));
        detector.push(&Access { op, rank, file, offset, size, start, end: start + 5e-5 });
    }
    let found = detector.finish();
    let (patterns, unlisted) = (found.patterns.len(), found.unlisted.patterns);
    println!(
        "{kind}, {records} accesses of {ranks} ranks: {patterns} patterns and {unlisted} unlisted, {} in none",
        found.unmatched_records
    );
    if let Some(peak) = peak() {
        println!("peak {peak:.1} MB");
    }
}
