//! Sines and cosines on an even grid, block by block, and inner products with them.

/// Samples per block: their sines and cosines stay in the cache.
pub(super) const BLOCK: usize = 256;
/// Phasors that are advanced in parallel, so that the products do not depend on each other.
const LANES: usize = 8;

/// cos ωτ and sin ωτ of one block.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    pub cos: [f64; BLOCK],
    pub sin: [f64; BLOCK],
}

impl Default for Basis {
    fn default() -> Basis {
        Basis { cos: [0.0; BLOCK], sin: [0.0; BLOCK] }
    }
}

impl Basis {
    /// Fills in τ = `tau`, `tau` + 1, … by rotating phasors; each block starts anew, so that rounding errors do not accumulate.
    pub(super) fn fill(&mut self, omega: f64, tau: f64) {
        let (step_sin, step_cos) = (omega * LANES as f64).sin_cos();
        let (turn_sin, turn_cos) = omega.sin_cos();
        let (mut sin, mut cos) = ([0.0; LANES], [0.0; LANES]);
        let (mut s, mut c) = (omega * tau).sin_cos();
        for (sin, cos) in sin.iter_mut().zip(&mut cos) {
            (*sin, *cos) = (s, c);
            (s, c) = (s * turn_cos + c * turn_sin, c * turn_cos - s * turn_sin);
        }
        for (to_cos, to_sin) in self.cos.chunks_exact_mut(LANES).zip(self.sin.chunks_exact_mut(LANES)) {
            to_cos.copy_from_slice(&cos);
            to_sin.copy_from_slice(&sin);
            for (s, c) in sin.iter_mut().zip(&mut cos) {
                (*s, *c) = (*s * step_cos + *c * step_sin, *c * step_cos - *s * step_sin);
            }
        }
    }
}

/// Σ a x, Σ b x and Σ c x over the shortest of all, in several partial sums at once.
pub(super) fn products(x: &[f64], [a, b, c]: [&[f64]; 3]) -> [f64; 3] {
    let n = x.len().min(a.len()).min(b.len()).min(c.len());
    let whole = n - n % LANES;
    let mut sums = [[0.0; LANES]; 3];
    let chunks = x[..whole].chunks_exact(LANES).zip(a.chunks_exact(LANES));
    for (((x, a), b), c) in chunks.zip(b.chunks_exact(LANES)).zip(c.chunks_exact(LANES)) {
        for (i, x) in x.iter().enumerate() {
            sums[0][i] += a[i] * x;
            sums[1][i] += b[i] * x;
            sums[2][i] += c[i] * x;
        }
    }
    let mut totals = sums.map(|lanes| lanes.iter().sum());
    for i in whole..n {
        totals[0] += a[i] * x[i];
        totals[1] += b[i] * x[i];
        totals[2] += c[i] * x[i];
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn phasors_stay_exact_over_a_block(omega in 0.0..3.2f64, tau in 0.5..1e4f64) {
            let mut basis = Basis::default();
            basis.fill(omega, tau);
            for (j, (c, s)) in basis.cos.iter().zip(&basis.sin).enumerate() {
                let (sin, cos) = (omega * (tau + j as f64)).sin_cos();
                prop_assert!((c - cos).abs() < 1e-11 && (s - sin).abs() < 1e-11);
            }
        }

        #[test]
        fn products_are_sums_of_products(x in prop::collection::vec(-1.0..1.0f64, 0..40), n in 0usize..40) {
            let n = n.min(x.len());
            let [a, b, c] = products(&x, [&x[..n], &x, &[]]);
            let want: f64 = x[..n].iter().map(|v| v * v).sum();
            // The sums end with the shortest slice.
            prop_assert_eq!([a, b, c], [0.0; 3]);
            let [a, b, c] = products(&x, [&x[..n], &x, &x]);
            prop_assert!([a, b, c].iter().all(|v| (v - want).abs() < 1e-12));
        }
    }
}
