//! Hash tables whose keys are numbers: a hash in a few instructions.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::due::mix;

/// By keys made of numbers.
pub(super) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Such keys.
pub(super) type Keys<K> = HashSet<K, BuildHasherDefault<Mixer>>;

/// Mixes one number after the other.
#[derive(Debug, Default)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            self.write_u64(part.iter().fold(part.len() as u64, |n, b| n << 8 | u64::from(*b)));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = mix(n ^ 0x9e37_79b9_7f4a_7c15, self.0 ^ 0xd6e8_feb8_6659_fd93);
    }

    fn write_i64(&mut self, n: i64) {
        self.write_u64(n as u64);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hash;

    use super::*;
    use crate::record::{FileId, Op};

    #[test]
    fn regular_keys_spread() {
        let mut hashes: Vec<u64> = Vec::new();
        for size in 0..100u64 {
            for file in 0..100u32 {
                let mut mixer = Mixer::default();
                (Op::Read, FileId(file), size * 4096).hash(&mut mixer);
                hashes.push(mixer.finish());
            }
        }
        // As random ones would: of 10,000, in 2^14 slots by their low bits and in 2^7 by their high ones.
        let slots = |f: &dyn Fn(u64) -> u64| hashes.iter().map(|h| f(*h)).collect::<HashSet<_>>().len();
        let low = slots(&|h| h & 0x3fff);
        assert!((7200..7700).contains(&low), "{low}");
        assert_eq!(slots(&|h| h >> 57), 128);
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 10_000);
    }
}
