//! Random numbers that depend only on a seed and a position: any part of a workload can be generated without the parts before.

/// A stream of random numbers: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream number `stream` of a seed.
    pub fn new(seed: u64, stream: u64) -> Random {
        Random(mix(seed ^ mix(stream.wrapping_add(0x9e37_79b9_7f4a_7c15))))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Uniform over [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform over 0 to `n` − 1; 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A random permutation of 0 to n − 1 without a table: a Feistel network over the next power of four, applied repeatedly until the result is below n.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shuffle {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    pub(crate) fn new(n: u64, random: &mut Random) -> Shuffle {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        Shuffle { n, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| random.next()) }
    }

    /// The element at place `i`, which must be below n.
    pub(crate) fn at(&self, i: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let mut x = i;
        loop {
            let (mut left, mut right) = (x >> self.half_bits, x & mask);
            for key in self.keys {
                (left, right) = (right, left ^ (mix(right ^ key) & mask));
            }
            x = left << self.half_bits | right;
            if x < self.n {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_is_a_permutation() {
        for n in [1, 2, 3, 5, 16, 17, 1000] {
            let s = Shuffle::new(n, &mut Random::new(1, n));
            let mut all: Vec<u64> = (0..n).map(|i| s.at(i)).collect();
            assert!(n < 16 || all.windows(2).filter(|w| w[1] == w[0] + 1).count() < n as usize / 4);
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn moments_match_the_distributions() {
        let mut r = Random::new(7, 0);
        let n = 100_000;
        let x: Vec<f64> = (0..n).map(|_| r.normal()).collect();
        let mean = x.iter().sum::<f64>() / n as f64;
        let var = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.02 && (var - 1.0).abs() < 0.03, "{mean} {var}");
        assert!((0..1000).all(|_| r.below(7) < 7) && r.below(0) == 0);
    }
}
