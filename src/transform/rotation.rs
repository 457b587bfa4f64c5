//! Products of a signal with e^{iωt} for one ω, without a sine or cosine per sample.
//!
//! The signal is taken in blocks. All blocks see the same rotations e^{iωk}, k = 0 … [`BLOCK`] − 1, which are tabulated
//! once; a block at time t is multiplied by e^{iωt}, which is computed anew for each block, so that errors do not accumulate.

use realfft::num_complex::Complex64;

/// Samples in a block.
pub(super) const BLOCK: usize = 64;

/// Σ_n x_n e^{−iωn}: the Fourier transform of a signal at one frequency, in radians per sample, on or off the grid. O(N).
pub fn tone(x: &[f64], omega: f64) -> Complex64 {
    Rotation::new(-omega).dot_all(0.0, x)
}

/// `n` samples of a cos(ωk + φ), ω in radians per sample.
pub fn cosine_wave(n: usize, amplitude: f64, omega: f64, phase: f64) -> Vec<f64> {
    let turns = Rotation::new(omega);
    let mut wave = Vec::with_capacity(n);
    for start in (0..n).step_by(BLOCK) {
        let first = Complex64::from_polar(amplitude, omega * start as f64 + phase);
        let block = turns.cos.iter().zip(&turns.sin).map(|(c, s)| first.re * c - first.im * s);
        wave.extend(block.take(n - start));
    }
    wave
}

/// e^{iωk} for every k of a block.
#[derive(Debug, Clone)]
pub(super) struct Rotation {
    omega: f64,
    cos: [f64; BLOCK],
    sin: [f64; BLOCK],
}

impl Rotation {
    /// For a frequency in radians per sample.
    pub fn new(omega: f64) -> Rotation {
        let mut table = Rotation { omega, cos: [1.0; BLOCK], sin: [0.0; BLOCK] };
        // By doubling: the number of roundings of an entry is the number of binary digits of its index.
        let mut filled = 1;
        while filled < BLOCK {
            let turn = Complex64::cis(omega * filled as f64);
            for k in 0..filled {
                let value = turn * Complex64::new(table.cos[k], table.sin[k]);
                (table.cos[filled + k], table.sin[filled + k]) = (value.re, value.im);
            }
            filled *= 2;
        }
        table
    }

    /// Σ_k v_k e^{iω(t + k)} over a block that begins at time `t`.
    pub fn dot(&self, t: f64, block: &[f64]) -> Complex64 {
        // Four independent partial sums, which the processor computes in parallel.
        let (mut re, mut im) = ([0.0; 4], [0.0; 4]);
        for ((v, cos), sin) in block.chunks(4).zip(self.cos.chunks(4)).zip(self.sin.chunks(4)) {
            for (((v, c), s), (re, im)) in v.iter().zip(cos).zip(sin).zip(re.iter_mut().zip(&mut im)) {
                *re += v * c;
                *im += v * s;
            }
        }
        Complex64::cis(self.omega * t) * Complex64::new(re.iter().sum(), im.iter().sum())
    }

    /// Σ_n x_n e^{iω(t + n)} over a signal of any length.
    pub fn dot_all(&self, t: f64, x: &[f64]) -> Complex64 {
        x.chunks(BLOCK).enumerate().map(|(b, block)| self.dot(t + (b * BLOCK) as f64, block)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_direct_sum() {
        let x: Vec<f64> = (0..1000).map(|n| f64::from(n * n % 37)).collect();
        for omega in [0.0, 0.1, 1.7, 3.1] {
            for len in [0, 1, 3, 63, 64, 65, 1000] {
                let want: Complex64 = (0..len).map(|n| x[n] * Complex64::cis(omega * (n as f64 - 7.5))).sum();
                let got = Rotation::new(omega).dot_all(-7.5, &x[..len]);
                assert!((got - want).norm() < 1e-10, "{omega} {len}: {got} instead of {want}");
            }
        }
    }

    #[test]
    fn a_wave_matches_its_cosine() {
        for (n, omega) in [(0, 0.3), (1, 0.3), (64, 3.0), (1000, 0.017), (100_001, 1.234_567)] {
            let wave = cosine_wave(n, 2.5, omega, -0.7);
            assert_eq!(wave.len(), n);
            let right = |(k, v): (usize, &f64)| (v - 2.5 * (omega * k as f64 - 0.7).cos()).abs() < 1e-10;
            assert!(wave.iter().enumerate().all(right), "{n} {omega}");
        }
    }
}
