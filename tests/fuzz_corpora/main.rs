//! The corpora of the fuzz targets (`fuzz/corpus/TARGET`), the samples of all formats, and changed copies of both: nothing may panic.

use std::fs;
use std::path::Path;

mod targets;

/// One in so many samples runs by default, and half of them with IOPHASE_LONG; of the corpora a third, and all.
const ONE_IN: usize = 12;
/// Longest input that is changed.
const LONGEST: usize = 4096;

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut all: Vec<_> = entries
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .map(|p| (p.display().to_string(), fs::read(&p).unwrap()))
        .collect();
    all.sort();
    all
}

/// The same numbers in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// A copy with some bytes changed, removed, repeated, or taken from another input.
fn changed(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut copy = bytes[..bytes.len().min(LONGEST)].to_vec();
    for _ in 0..1 + random.below(6) {
        let at = random.below(copy.len() + 1);
        let n = random.below(16).min(copy.len() - at);
        match random.below(5) {
            0 if at < copy.len() => copy[at] ^= 1 << random.below(8),
            1 => _ = copy.drain(at..at + n),
            2 => {
                let part = copy[at..at + n].to_vec();
                copy.splice(at..at, part);
            }
            3 if at < copy.len() => copy[at] = [0, 0xff, 0x7f, 0x80, b'-', b'9', b'\n', b'"'][random.below(8)],
            _ => {
                let from = random.below(other.len());
                let part = other[from..(from + 1 + n).min(other.len())].to_vec();
                copy.splice(at..at, part);
            }
        }
    }
    copy
}

/// Runs the inputs of a target, and a changed copy of each: its corpus and every so many samples of all formats, from the first given.
fn nothing_breaks(name: &str, target: targets::Target, first: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let one_in = common::every(ONE_IN).max(2);
    let mut inputs: Vec<_> =
        files(&root.join("fuzz/corpus").join(name)).into_iter().step_by(common::every(3)).collect();
    inputs.extend(files(&root.join("tests/data/robustness")).into_iter().skip(first % one_in).step_by(one_in));
    for (i, (path, bytes)) in inputs.iter().enumerate() {
        target(&bytes[..bytes.len().min(1 << 16)]);
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (i as u64 + 1));
        let other = &inputs[random.below(inputs.len())].1;
        let copy = changed(bytes, other, &mut random);
        if std::panic::catch_unwind(|| target(&copy)).is_err() {
            let kept = std::env::temp_dir().join(format!("iophase-fuzz-{name}"));
            fs::write(&kept, &copy).unwrap();
            panic!("{name} breaks on a changed copy of {path}, kept as {}", kept.display());
        }
    }
}

#[test]
fn corpora_samples_and_changed_copies_break_nothing() {
    for (i, (name, target)) in targets::ALL_TARGETS.iter().filter(|(name, _)| *name != "http").enumerate() {
        nothing_breaks(name, *target, i);
    }
}

#[cfg(feature = "serve")]
mod serve {
    #[test]
    fn the_corpus_of_requests_and_changed_copies_break_nothing() {
        let http = super::targets::named("http").expect("a target");
        super::nothing_breaks("http", http, 0);
    }
}
