//! Hash tables whose keys are numbers: a hash in a few instructions.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use super::due::mix;

/// By keys made of numbers.
pub(super) type Table<K, V> = HashMap<K, V, Keyed>;

/// Such keys.
pub(super) type Keys<K> = HashSet<K, Keyed>;

/// Begins hashes with a number that is another one in each process: no trace can be made so that its keys collide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keyed(u64);

impl Default for Keyed {
    fn default() -> Keyed {
        static KEY: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
        Keyed(*KEY)
    }
}

impl BuildHasher for Keyed {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(self.0)
    }
}

/// Mixes one number after the other.
#[derive(Debug)]
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
    use super::*;
    use crate::record::{FileId, Op};

    #[test]
    fn regular_keys_spread() {
        for key in 0..4 {
            let mut hashes: Vec<u64> = Vec::new();
            for size in 0..100u64 {
                for file in 0..100u32 {
                    hashes.push(Keyed(key).hash_one((Op::Read, FileId(file), size * 4096)));
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
}
