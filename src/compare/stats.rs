//! Two samples: shift with its interval, p values, and distances of histograms.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::{erfc, erfc_inv};

use crate::transform;

/// Larger samples are thinned to this many values, evenly by rank.
const MOST: usize = 1000;
/// Up to this many values a side the distribution of Mann and Whitney's U is counted; of more it is taken to be normal.
const EXACT: usize = 25;

/// A difference after − before, with the ends of its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shift {
    pub change: f64,
    pub low: f64,
    pub high: f64,
}

/// P(|Z| > z) of the standard normal distribution.
pub(super) fn two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2).min(1.0)
}

fn sorted(x: &[f64]) -> Vec<f64> {
    let mut v: Vec<f64> = x.to_vec();
    v.sort_by(f64::total_cmp);
    if v.len() > MOST {
        let at = |i: usize| v[(2 * i + 1) * v.len() / (2 * MOST)];
        return (0..MOST).map(at).collect();
    }
    v
}

/// The median; `None` of nothing.
pub(super) fn median(x: &[f64]) -> Option<f64> {
    transform::median(&mut sorted(x))
}

/// The median of all differences, with the interval that Mann and Whitney's test does not reject (Hodges & Lehmann, Annals of
/// Mathematical Statistics 34, 1963; Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 4.3). Samples that are too small for
/// 95 % give the whole range of differences. Samples of unequal spread have the wider interval of the variance of their placements
/// (Fligner & Policello, Journal of the American Statistical Association 76, 1981).
pub(super) fn hodges_lehmann(before: &[f64], after: &[f64]) -> Option<Shift> {
    let (a, b) = (sorted(before), sorted(after));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mut d: Vec<f64> = b.iter().flat_map(|y| a.iter().map(move |x| y - x)).collect();
    d.sort_by(f64::total_cmp);
    let n = d.len();
    let change = 0.5 * (d[(n - 1) / 2] + d[n / 2]);
    let cut = cut(a.len(), b.len()).min(cut_at(a.len(), b.len(), placement_variance(&a, &b, change)));
    let cut = cut.saturating_sub(1).min((n - 1) / 2);
    Some(Shift { change, low: d[cut], high: d[n - 1 - cut] })
}

/// Confidence level of the interval of [`hodges_lehmann`] for samples of these numbers: that of the whole range if they are too small for
/// 95 %.
pub(crate) fn level(m: usize, n: usize) -> f64 {
    match cut(m, n) {
        0 => 1.0 - 2.0 * distribution(m, n)[0],
        _ => 0.95,
    }
}

/// Place, from 1, of the differences that end the interval, from each side; 0 if no interval of 95 % is that short.
fn cut(m: usize, n: usize) -> usize {
    if m.max(n) <= EXACT {
        // the largest u with P(U < u) <= 2.5 %
        let mut sum = 0.0;
        let within = |x: &&f64| {
            sum += **x;
            sum <= 0.025
        };
        return distribution(m, n).iter().take_while(within).count();
    }
    cut_at(m, n, (m * n * (m + n + 1)) as f64 / 12.0)
}

/// The same if U is normal with this variance.
fn cut_at(m: usize, n: usize, variance: f64) -> usize {
    let z = std::f64::consts::SQRT_2 * erfc_inv(0.05);
    ((m * n) as f64 / 2.0 - z * variance.sqrt()).floor().max(0.0) as usize
}

/// Variance of U from the placements of each value in the other sample, after the second is shifted back.
fn placement_variance(a: &[f64], b: &[f64], shift: f64) -> f64 {
    let back: Vec<f64> = b.iter().map(|y| y - shift).collect();
    // values below, and half of those that are equal
    let places = |of: &[f64], within: &[f64]| -> Vec<f64> {
        let place = |x: &f64| {
            let (below, up_to) = (within.partition_point(|y| y < x), within.partition_point(|y| y <= x));
            (below + up_to) as f64 / 2.0
        };
        of.iter().map(place).collect()
    };
    let spread = |p: &[f64]| {
        let mean = p.iter().sum::<f64>() / p.len() as f64;
        (p.iter().map(|x| (x - mean).powi(2)).sum::<f64>(), mean)
    };
    let ((one, mean), (other, mean_other)) = (spread(&places(a, &back)), spread(&places(&back, a)));
    one + other + mean * mean_other
}

/// P(U = u) under no difference, for u from 0 to m n: the recursion of Mann & Whitney (Annals of Mathematical Statistics 18, 1947),
/// P(m, n, u) = m/(m+n) P(m−1, n, u−n) + n/(m+n) P(m, n−1, u).
fn distribution(m: usize, n: usize) -> Vec<f64> {
    // row[j]: the distribution for the current number of the first sample and j of the second
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=n {
            let (one, other) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            let mut p = vec![0.0; i * j + 1];
            row[j].iter().enumerate().for_each(|(u, x)| p[u + j] += one * x);
            next[j - 1].iter().enumerate().for_each(|(u, x)| p[u] += other * x);
            next.push(p);
        }
        row = next;
    }
    row.swap_remove(n)
}

/// Two-sided p value of Mann and Whitney's test: exact for small samples without ties, else normal with corrections for ties and
/// continuity (Hollander, Wolfe & Chicken, 4.1). 1 if a sample is empty.
pub(super) fn mann_whitney(before: &[f64], after: &[f64]) -> f64 {
    let (a, b) = (sorted(before), sorted(after));
    let (m, n) = (a.len(), b.len());
    if m == 0 || n == 0 {
        return 1.0;
    }
    let mut all: Vec<(f64, bool)> = a.iter().map(|x| (*x, true)).chain(b.iter().map(|x| (*x, false))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    // twice the rank sum of the first sample: mean ranks of ties are halves
    let (mut ranks, mut ties, mut from) = (0.0, 0.0, 0);
    for group in all.chunk_by(|x, y| x.0 == y.0) {
        let t = group.len() as f64;
        ranks += group.iter().filter(|x| x.1).count() as f64 * (from as f64 + (t + 1.0) / 2.0);
        ties += t * t * t - t;
        from += group.len();
    }
    let (fm, fnn) = (m as f64, n as f64);
    let u = ranks - fm * (fm + 1.0) / 2.0;
    let low = u.min(fm * fnn - u);
    if ties == 0.0 && m.max(n) <= EXACT {
        let p: f64 = distribution(m, n).iter().take(low as usize + 1).sum();
        return (2.0 * p).min(1.0);
    }
    let total = fm + fnn;
    let variance = fm * fnn / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    two_sided((fm * fnn / 2.0 - low - 0.5).max(0.0) / variance.sqrt())
}

/// p values corrected for their number (Holm, Scandinavian Journal of Statistics 6, 1979), in the order given.
pub(super) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut out, mut largest) = (vec![1.0; p.len()], 0.0f64);
    for (i, &k) in order.iter().enumerate() {
        largest = largest.max(((p.len() - i) as f64 * p[k]).min(1.0));
        out[k] = largest;
    }
    out
}

/// Two-sided p value of equal proportions `k / n` on both sides (pooled z test); 1 if a side has none.
pub(super) fn two_proportions((k1, n1): (u64, u64), (k2, n2): (u64, u64)) -> f64 {
    let [k1, n1, k2, n2] = [k1, n1, k2, n2].map(|x| x as f64);
    if n1 <= 0.0 || n2 <= 0.0 {
        return 1.0;
    }
    let p = (k1 + k2) / (n1 + n2);
    let variance = p * (1.0 - p) * (1.0 / n1 + 1.0 / n2);
    if variance <= 0.0 { 1.0 } else { two_sided((k2 / n2 - k1 / n1) / variance.sqrt()) }
}

/// Earth mover's distance of two histograms on a line: positions in ascending order and counts. In one dimension it is the area
/// between the cumulative distributions (Vallender, Theory of Probability and its Applications 18, 1974). 0 if one is empty.
pub(super) fn earth_mover(before: &[(f64, f64)], after: &[(f64, f64)]) -> f64 {
    let total = |h: &[(f64, f64)]| h.iter().map(|x| x.1).sum::<f64>();
    let (a, b) = (total(before), total(after));
    if a <= 0.0 || b <= 0.0 {
        return 0.0;
    }
    let mut all: Vec<(f64, f64)> =
        before.iter().map(|x| (x.0, -x.1 / a)).chain(after.iter().map(|x| (x.0, x.1 / b))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut gap = 0.0;
    all.windows(2)
        .map(|w| {
            gap += w[0].1;
            f64::abs(gap) * (w[1].0 - w[0].0)
        })
        .sum()
}

/// The difference of two sums of independent values with its interval of 95 %: Student's t with the degrees of freedom of Welch
/// (Biometrika 34, 1947). `None` if a side has fewer than two values.
pub(super) fn sums(pairs: &[(&[f64], &[f64])]) -> Option<Shift> {
    let (mut change, mut variance, mut freedom) = (0.0, 0.0, 0.0);
    for (before, after) in pairs {
        for (x, sign) in [(before, -1.0), (after, 1.0)] {
            let n = x.len() as f64;
            if n < 2.0 {
                return None;
            }
            let mean = x.iter().sum::<f64>() / n;
            let of_sum = n * x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
            change += sign * n * mean;
            variance += of_sum;
            freedom += of_sum * of_sum / (n - 1.0);
        }
    }
    let half = match StudentsT::new(0.0, 1.0, (variance * variance / freedom).max(1.0)) {
        Ok(t) if variance > 0.0 => t.inverse_cdf(0.975) * variance.sqrt(),
        _ => 0.0,
    };
    (!pairs.is_empty()).then_some(Shift { change, low: change - half, high: change + half })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hodges_lehmann_of_two_small_samples() {
        let s = hodges_lehmann(&[1.0, 2.0, 3.0], &[11.0, 12.0, 14.0]).unwrap();
        // differences 8, 9, 9, 10, 10, 11, 11, 12, 13
        assert_eq!((s.change, s.low, s.high), (10.0, 8.0, 13.0));
        // critical values of U at 5 %, two-sided: 23, 2, 0, none
        assert_eq!((cut(10, 10), cut(5, 5), cut(4, 4), cut(3, 3)), (24, 3, 1, 0));
    }

    #[test]
    fn against_a_constant_the_interval_is_that_of_the_median() {
        let b: Vec<f64> = (1..=20).map(f64::from).collect();
        let s = hodges_lehmann(&[0.0; 20], &b).unwrap();
        // the sign test keeps the 6th to the 15th of 20
        assert_eq!((s.change, s.low, s.high), (10.5, 6.0, 15.0));
    }

    #[test]
    fn mann_whitney_of_separate_samples_is_two_by_the_number_of_orders() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((mann_whitney(&a, &b) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(mann_whitney(&a, &a[..0]), 1.0);
        assert_eq!(mann_whitney(&[3.0; 8], &[3.0; 9]), 1.0);
    }

    #[test]
    fn mann_whitney_with_ties_has_the_corrected_variance() {
        // U = 0 of 10 and 10 equal values: variance 100 / 12 (21 - 1980 / 380), z = 49.5 / its root
        let z = 49.5 / (100.0 / 12.0 * (21.0f64 - 1980.0 / 380.0)).sqrt();
        assert!((mann_whitney(&[1.0; 10], &[2.0; 10]) - two_sided(z)).abs() < 1e-15);
    }

    #[test]
    fn the_distribution_of_u_sums_to_one_and_has_its_variance() {
        let (m, n) = (7, 9);
        let p = distribution(m, n);
        let mean: f64 = p.iter().enumerate().map(|(u, x)| u as f64 * x).sum();
        let variance: f64 = p.iter().enumerate().map(|(u, x)| (u as f64 - mean).powi(2) * x).sum();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && (mean - 31.5).abs() < 1e-9);
        assert!((variance - 63.0 * 17.0 / 12.0).abs() < 1e-9);
    }

    #[test]
    fn holm_multiplies_from_the_smallest_on() {
        assert_eq!(holm(&[0.04, 0.01, 0.5]), [0.08, 0.03, 0.5]);
        assert_eq!(holm(&[0.01, 0.011]), [0.02, 0.02], "in the order of the p values");
    }

    #[test]
    fn proportions_in_closed_form() {
        // 10 and 30 of 100: z = 0.2 / sqrt(0.2 0.8 / 50)
        let z = 0.2 / (0.16f64 / 50.0).sqrt();
        assert!((two_proportions((10, 100), (30, 100)) - two_sided(z)).abs() < 1e-15);
        assert_eq!(two_proportions((5, 5), (7, 7)), 1.0);
        assert!((two_sided(1.959_963_984_540_054) - 0.05).abs() < 1e-9);
    }

    #[test]
    fn earth_moves_by_mass_times_distance() {
        assert_eq!(earth_mover(&[(12.0, 5.0)], &[(16.0, 80.0)]), 4.0);
        assert_eq!(earth_mover(&[(12.0, 1.0), (20.0, 1.0)], &[(12.0, 1.0), (22.0, 1.0)]), 1.0);
        assert_eq!(earth_mover(&[], &[(1.0, 1.0)]), 0.0);
    }

    #[test]
    fn sums_differ_by_their_means() {
        let s = sums(&[(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0])]).unwrap();
        // variance of each sum: 3; t of 4 degrees of freedom
        assert!((s.change - 3.0).abs() < 1e-12 && (s.high - (3.0 + 2.776_445 * 6f64.sqrt())).abs() < 1e-4);
    }
}
