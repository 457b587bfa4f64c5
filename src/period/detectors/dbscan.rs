//! Outliers by density: DBSCAN (Ester, Kriegel, Sander & Xu, KDD 1996).
//!
//! The points are the powers alone: frequencies are an even grid on which no bin is more remote than another. Most bins are
//! the floor of the spectrum and make a cluster; what lies far above it, in too small a number to be a cluster of its own, is
//! noise in the sense of DBSCAN, and that is what is wanted. ε is a fifth of the range of the powers, as in the published
//! program at its default tolerance.

use super::{Outliers, sorted};
use crate::period::spectrum::Powers;

/// Points within ε, itself included, that make a point a core point: fundamental and harmonics of a few periods stay below.
const CLUSTER: usize = 10;

/// ε in units of the range of the powers.
const EPS: f64 = 0.2;

/// Bins above the mean power that are no core points and have none within ε; the score is the distance to the next core point
/// in units of ε. Without a cluster nothing stands out. O(N log N).
pub fn find(powers: &Powers, tolerance: f64) -> Outliers {
    let p = &powers.power;
    let distance = distances(p);
    let outlier = |k: usize| distance[k - 1] > 1.0 && p[k - 1] > powers.statistics.mean;
    Outliers::choose(powers, tolerance, outlier, outlier, |k| distance[k - 1])
}

/// Distance of each value to the next core point, in ε: 0 for a core point, above 1 for noise. All 0 without a core point.
fn distances(values: &[f64]) -> Vec<f64> {
    let order = sorted(values);
    let x: Vec<f64> = order.iter().map(|&i| values[i]).collect();
    let eps = EPS * x.first().zip(x.last()).map_or(0.0, |(a, b)| b - a);
    let mut distance = vec![0.0; values.len()];
    if eps <= 0.0 {
        return distance;
    }
    let (mut a, mut b) = (0, 0);
    let core: Vec<f64> = (0..x.len())
        .filter(|&i| {
            while x[i] - x[a] > eps {
                a += 1;
            }
            while b < x.len() && x[b] - x[i] <= eps {
                b += 1;
            }
            b - a >= CLUSTER
        })
        .map(|i| x[i])
        .collect();
    // The core points are sorted, too: the next one is found in step.
    let mut c = 0;
    for (v, at) in x.iter().zip(order) {
        while c + 1 < core.len() && (core[c + 1] - v).abs() <= (core[c] - v).abs() {
            c += 1;
        }
        distance[at] = core.get(c).map_or(0.0, |y| (y - v).abs() / eps);
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cosines, noise, powers};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_by_definition(values in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0f64, 0.0..0.1f64], 1..80)) {
            let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let eps = EPS * (top - values.iter().copied().fold(f64::INFINITY, f64::min));
            let near = |v: f64| values.iter().filter(|w| (**w - v).abs() <= eps).count();
            let core: Vec<f64> = values.iter().copied().filter(|v| near(*v) >= CLUSTER && eps > 0.0).collect();
            for (v, d) in values.iter().zip(distances(&values)) {
                let next = core.iter().map(|c| (c - v).abs() / eps).fold(f64::INFINITY, f64::min);
                prop_assert_eq!(d, if core.is_empty() { 0.0 } else { next });
            }
        }
    }

    #[test]
    fn many_like_the_strongest_are_a_cluster() {
        let comb: Vec<(usize, f64)> = (0..12).map(|i| (101 + 17 * i, 1.0)).collect();
        assert_eq!(find(&powers(&cosines(1000, &comb)), 0.8).candidates, []);
        assert_eq!(find(&powers(&cosines(1000, &comb[..2])), 0.8).candidates.len(), 2);
    }

    #[test]
    fn the_largest_of_noise_stands_out_less_often_than_by_z_score() {
        let spectra: Vec<Powers> = (0..20).map(|s| powers(&noise(4000, s))).collect();
        let found = |f: super::super::Find| spectra.iter().filter(|p| !f(p, 0.8).candidates.is_empty()).count();
        assert!(found(find) < 15 && found(super::super::z_score::find) == 20);
    }
}
