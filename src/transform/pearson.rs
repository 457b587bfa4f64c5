//! Pearson correlation of two series in a sliding window, in O(n) for any window.
//!
//! r_j = cov(x, y) / (σ_x σ_y) over samples j … j + m − 1, as in section 5.3 of Tarraf & Wolf 2025.
//!
//! Running sums that subtract the leaving sample keep the rounding error of every large value that has passed. Here nothing is
//! subtracted: a window is the end of one block and the beginning of a later one. Both are summed from their own samples as
//! mean and centred second moments (Welford 1962), and combined by the formula of Chan, Golub & LeVeque (1983). The result of
//! a window depends only on the samples in it.

use rayon::prelude::*;

use super::{Error, Result};

/// Largest number of samples in a block, unless the window is longer than its square: the moments stay in the cache.
const BLOCK: usize = 4096;

/// Correlation of `x` and `y` in every window of `window` samples; element j belongs to samples j … j + window − 1, so
/// there are n − window + 1 of them, each in [−1, 1].
///
/// Blocks are processed in parallel; the result does not depend on the number of threads.
/// Where x or y is constant (up to rounding) the correlation is 0; where a value is not finite it is NaN.
/// Errors: no samples, two lengths, a window below 2 or above n.
pub fn sliding_pearson(x: &[f64], y: &[f64], window: usize) -> Result<Vec<f64>> {
    if x.len() != y.len() {
        return Err(Error::Lengths { first: x.len(), second: y.len() });
    }
    let n = x.len();
    if n == 0 {
        return Err(Error::Empty);
    }
    if window < 2 || window > n {
        let rule = format!("from 2 to the {n} samples of the signal");
        return Err(Error::parameter("window", window as f64, rule));
    }
    let (scale_x, scale_y) = (scale(x), scale(y));
    let pair = |i: usize| (x[i] * scale_x, y[i] * scale_y);
    // Whole blocks fill a window except for a few samples.
    let blocks = window.div_ceil(BLOCK.max(window.isqrt()));
    let block = window / blocks;
    let whole: Vec<Moments> =
        (0..n / block).into_par_iter().map(|b| Moments::of((b * block..(b + 1) * block).map(pair))).collect();
    let mut out = vec![0.0; n - window + 1];
    out.par_chunks_mut(block).enumerate().for_each(|(b, out)| {
        let start = b * block;
        // Suffixes of this block: from each of its samples to its last.
        let mut end = Moments::default();
        let mut ends = vec![end; block];
        for (i, slot) in ends.iter_mut().enumerate().rev() {
            end.add(pair(start + i));
            *slot = end;
        }
        // The whole blocks and the samples that complete the first window of the block, then sample by sample.
        let inner = whole[b + 1..b + blocks].iter().fold(Moments::default(), |sum, m| sum.with(m));
        let mut rest = inner.with(&Moments::of((start + blocks * block..start + window).map(pair)));
        for (i, (r, end)) in out.iter_mut().zip(&ends).enumerate() {
            if i > 0 {
                rest.add(pair(start + window + i - 1));
            }
            *r = end.with(&rest).correlation();
        }
    });
    Ok(out)
}

/// A power of two that brings the largest value near 1, so that squares neither overflow nor underflow.
fn scale(x: &[f64]) -> f64 {
    let largest = x.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 { 1.0 } else { 2f64.powi((-largest.log2()).clamp(-1000.0, 1000.0) as i32) }
}

/// Count, means and centred second moments of pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Moments {
    fn of(pairs: impl Iterator<Item = (f64, f64)>) -> Moments {
        pairs.fold(Moments::default(), |mut sum, pair| {
            sum.add(pair);
            sum
        })
    }

    fn add(&mut self, (x, y): (f64, f64)) {
        self.count += 1.0;
        let share = 1.0 / self.count;
        let (dx, dy) = (x - self.mean_x, y - self.mean_y);
        self.mean_x += dx * share;
        self.mean_y += dy * share;
        // (n − 1)/n of the product of the deviations from the old means.
        let weight = 1.0 - share;
        self.xx += weight * dx * dx;
        self.yy += weight * dy * dy;
        self.xy += weight * dx * dy;
    }

    fn with(&self, other: &Moments) -> Moments {
        let count = self.count + other.count;
        let share = if count > 0.0 { other.count / count } else { 0.0 };
        let (dx, dy) = (other.mean_x - self.mean_x, other.mean_y - self.mean_y);
        let weight = self.count * share;
        Moments {
            count,
            mean_x: self.mean_x + dx * share,
            mean_y: self.mean_y + dy * share,
            xx: self.xx + other.xx + weight * dx * dx,
            yy: self.yy + other.yy + weight * dy * dy,
            xy: self.xy + other.xy + weight * dx * dy,
        }
    }

    fn correlation(&self) -> f64 {
        // Deviations below the rounding error of the mean belong to a constant.
        let dust = |mean: f64| self.count * (4.0 * f64::EPSILON * mean).powi(2);
        if self.xx <= dust(self.mean_x) || self.yy <= dust(self.mean_y) {
            return if self.xy.is_nan() { f64::NAN } else { 0.0 };
        }
        (self.xy / (self.xx.sqrt() * self.yy.sqrt())).clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::TAU;

    /// The definition for one window, in two passes.
    fn naive(x: &[f64], y: &[f64]) -> f64 {
        let m = x.len() as f64;
        let (mx, my) = (x.iter().sum::<f64>() / m, y.iter().sum::<f64>() / m);
        let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(a, b)| f(a - mx, b - my)).sum::<f64>();
        let (xx, yy, xy) = (sum(&|a, _| a * a), sum(&|_, b| b * b), sum(&|a, b| a * b));
        if xx == 0.0 || yy == 0.0 { 0.0 } else { xy / (xx * yy).sqrt() }
    }

    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        }
    }

    fn check(x: &[f64], y: &[f64], m: usize, step: usize, tolerance: f64) {
        let r = sliding_pearson(x, y, m).unwrap();
        assert_eq!(r.len(), x.len() - m + 1);
        for j in (0..r.len()).step_by(step).chain([r.len() - 1]) {
            let want = naive(&x[j..j + m], &y[j..j + m]);
            assert!((r[j] - want).abs() < tolerance, "window {j} of {m}: {} instead of {want}", r[j]);
        }
    }

    proptest! {
        #[test]
        fn matches_the_definition(pairs in prop::collection::vec((-1e3..1e3f64, -1.0..1.0f64), 2..150), m in 2usize..150) {
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            check(&x, &y, m.min(x.len()), 1, 1e-9);
        }

        #[test]
        fn scale_and_offset_do_not_matter(a in 1e-3..1e3f64, b in -1e3..1e3f64) {
            let mut next = noise(1);
            let x: Vec<f64> = (0..300).map(|_| next()).collect();
            let y: Vec<f64> = x.iter().map(|v| a * v + b).collect();
            prop_assert!(sliding_pearson(&x, &y, 20).unwrap().iter().all(|r| (r - 1.0).abs() < 1e-9));
            let y: Vec<f64> = x.iter().map(|v| -a * v + b).collect();
            prop_assert!(sliding_pearson(&x, &y, 20).unwrap().iter().all(|r| (r + 1.0).abs() < 1e-9));
        }
    }

    #[test]
    fn windows_around_and_beyond_the_block_length() {
        let mut next = noise(2);
        let n = 3 * BLOCK + 777;
        let (x, y): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (next(), next())).unzip();
        for m in [2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 5, 3 * BLOCK + 1, n - 1, n] {
            check(&x, &y, m, 997, 1e-10);
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let mut next = noise(4);
        let (x, y): (Vec<f64>, Vec<f64>) = (0..5 * BLOCK).map(|_| (next(), next())).unzip();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sliding_pearson(&x, &y, BLOCK + 3).unwrap())
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn a_huge_value_does_not_affect_later_windows() {
        let mut next = noise(3);
        let mut x: Vec<f64> = (0..1000).map(|_| next()).collect();
        let y: Vec<f64> = x.clone();
        x[100] = 1e15;
        // Running sums with subtraction would have lost every digit of all windows behind it.
        let r = sliding_pearson(&x, &y, 50).unwrap();
        assert!(r[101..].iter().all(|r| (r - 1.0).abs() < 1e-12));
        // A large offset costs only its own digits.
        let y: Vec<f64> = y.iter().map(|v| v + 1e8).collect();
        assert!(sliding_pearson(&x, &y, 50).unwrap()[101..].iter().all(|r| (r - 1.0).abs() < 1e-7));
    }

    #[test]
    fn a_shifted_cosine_correlates_by_the_cosine_of_the_shift() {
        let wave = |shift: f64| move |n: i32| 5.0 + (TAU * f64::from(n) / 40.0 + shift).cos();
        let x: Vec<f64> = (0..400).map(wave(0.0)).collect();
        for shift in [0.3, 1.0, 2.5] {
            let y: Vec<f64> = (0..400).map(wave(shift)).collect();
            assert!(sliding_pearson(&x, &y, 80).unwrap().iter().all(|r| (r - shift.cos()).abs() < 1e-12));
        }
    }

    #[test]
    fn constants_correlate_with_nothing_and_nan_only_in_its_windows() {
        let x = [0.1; 10];
        let y: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(sliding_pearson(&x, &y, 3).unwrap(), [0.0; 8]);
        assert_eq!(sliding_pearson(&[], &[], 2), Err(Error::Empty));
        assert_eq!(sliding_pearson(&x, &[1.0], 2), Err(Error::Lengths { first: 10, second: 1 }));
        assert!(matches!(sliding_pearson(&x, &y, 1), Err(Error::Parameter { name: "window", .. })));
        assert!(matches!(sliding_pearson(&x, &y, 11), Err(Error::Parameter { name: "window", .. })));
        for scale in [1e-300, 1e300] {
            let z: Vec<f64> = y.iter().map(|v| v * scale).collect();
            assert!(sliding_pearson(&z, &y, 4).unwrap().iter().all(|r| (r - 1.0).abs() < 1e-12));
        }
        let mut holed = y.clone();
        holed[4] = f64::NAN;
        let r = sliding_pearson(&holed, &y, 3).unwrap();
        let nan: Vec<usize> = (0..r.len()).filter(|&j| r[j].is_nan()).collect();
        assert_eq!(nan, [2, 3, 4]);
        assert!(sliding_pearson(&[f64::INFINITY; 5], &y[..5], 2).unwrap().iter().all(|r| r.is_nan()));
    }
}
