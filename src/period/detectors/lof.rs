//! Outliers by local density: the local outlier factor (Breunig, Kriegel, Ng & Sander, SIGMOD 2000).
//!
//! The points are the powers alone: frequencies are an even grid on which no bin is more remote than another. Sorted, the k
//! nearest neighbours of a value are a run around it, and a run slides along in O(1), so all of it is O(N log N + N k).

use super::{Outliers, sorted};
use crate::period::spectrum::Powers;

/// Neighbours k of a point; 10 to 20 is what the authors recommend as the lower end (their section 6).
const NEIGHBOURS: usize = 20;

/// A factor from which on a point is an outlier: it lies half as dense again as its neighbours do.
const OUTLIER: f64 = 1.5;

/// Bins above the mean power with a local outlier factor above 1.5; the score is the factor.
pub fn find(powers: &Powers, tolerance: f64) -> Outliers {
    let factor = factors(&powers.power);
    let outlier = |k: usize| factor[k - 1] > OUTLIER && powers.power[k - 1] > powers.statistics.mean;
    Outliers::choose(powers, tolerance, outlier, outlier, |k| factor[k - 1])
}

/// Local outlier factor of each value: 1 inside a cluster, larger the more remote. All 1 for fewer than three values.
///
/// Equations 5 to 7 of the paper with runs of exactly k neighbours; distances below 10^-12 of the range count as that, so
/// that equal values have a finite density.
fn factors(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    if n < 3 {
        return vec![1.0; n];
    }
    let k = NEIGHBOURS.min(n - 1);
    let order = sorted(values);
    let x: Vec<f64> = order.iter().map(|&i| values[i]).collect();
    let least = (1e-12 * (x[n - 1] - x[0])).max(1e-200);
    // first[i] … first[i] + k, without i, are the k nearest of x[i].
    let mut first = Vec::with_capacity(n);
    let mut a = 0;
    for i in 0..n {
        while a + k < i || (a + k + 1 < n && a < i && x[a + k + 1] - x[i] < x[i] - x[a]) {
            a += 1;
        }
        first.push(a);
    }
    let reach: Vec<f64> = (0..n).map(|i| (x[i] - x[first[i]]).max(x[first[i] + k] - x[i]).max(least)).collect();
    let run = |i: usize| (first[i]..=first[i] + k).filter(move |j| *j != i);
    let density: Vec<f64> =
        (0..n).map(|i| k as f64 / run(i).map(|j| reach[j].max((x[i] - x[j]).abs())).sum::<f64>()).collect();
    let mut factor = vec![1.0; n];
    for (i, &at) in order.iter().enumerate() {
        factor[at] = run(i).map(|j| density[j]).sum::<f64>() / (k as f64 * density[i]);
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, in O(N² log N); distances without ties.
    fn naive(values: &[f64]) -> Vec<f64> {
        let n = values.len();
        let k = NEIGHBOURS.min(n - 1);
        let neighbours = |i: usize| {
            let mut j: Vec<usize> = (0..n).filter(|j| *j != i).collect();
            j.sort_by(|a, b| (values[*a] - values[i]).abs().total_cmp(&(values[*b] - values[i]).abs()));
            j.truncate(k);
            j
        };
        let near: Vec<Vec<usize>> = (0..n).map(neighbours).collect();
        let reach = |i: usize| (values[i] - values[near[i][k - 1]]).abs();
        let density =
            |i: usize| k as f64 / near[i].iter().map(|&j| reach(j).max((values[i] - values[j]).abs())).sum::<f64>();
        (0..n).map(|i| near[i].iter().map(|&j| density(j)).sum::<f64>() / (k as f64 * density(i))).collect()
    }

    proptest! {
        #[test]
        fn equals_the_definition(values in prop::collection::vec(0.0..1.0f64, 3..70)) {
            for (i, (a, b)) in factors(&values).iter().zip(naive(&values)).enumerate() {
                prop_assert!((a - b).abs() < 1e-6 * b.max(1.0), "{i}: {a} {b}");
            }
        }
    }

    #[test]
    fn a_remote_value_among_equal_ones() {
        let mut x = vec![1.0; 100];
        x[17] = 9.0;
        let f = factors(&x);
        assert!(f[17] > 1e6 && f.iter().enumerate().all(|(i, v)| i == 17 || *v < 1.5 && v.is_finite()));
        assert_eq!(factors(&[1.0, 2.0]), [1.0, 1.0]);
        assert!(factors(&[4.0; 50]).iter().all(|f| (f - 1.0).abs() < 1e-9));
    }
}
