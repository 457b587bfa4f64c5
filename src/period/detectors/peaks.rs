//! Outliers by shape: local maxima of the spectrum.
//!
//! A maximum needs a lower bin on both sides, so the first bin is none: what rises or falls over the whole run (a ramp, two
//! bursts) has its power there and is not called periodic.

use super::Outliers;
use crate::period::spectrum::Powers;

/// Local maxima of at least `tolerance` times the largest power of all bins; the score is the power in units of that
/// largest. Of a level top the middle bin counts. O(N).
pub fn find(powers: &Powers, tolerance: f64) -> Outliers {
    let p = &powers.power;
    let highest = p.iter().copied().fold(0.0, f64::max);
    let mut peak = vec![false; p.len()];
    for i in maxima(p) {
        peak[i] = p[i] >= tolerance * highest;
    }
    let outlier = |k: usize| peak[k - 1] && p[k - 1] > powers.statistics.mean;
    Outliers::choose(powers, tolerance, outlier, outlier, |k| p[k - 1] / highest)
}

/// Positions of the local maxima of `values`; level tops give their middle, rounded down.
fn maxima(values: &[f64]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < values.len() {
        let level = values[start..].iter().take_while(|v| **v == values[start]).count().max(1);
        let end = start + level;
        if start > 0 && end < values.len() && values[start - 1] < values[start] && values[end] < values[start] {
            found.push((start + end - 1) / 2);
        }
        start = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cosines, powers};
    use super::*;

    #[test]
    fn maxima_need_lower_neighbours() {
        assert_eq!(maxima(&[3.0, 1.0, 2.0, 2.0, 2.0, 1.0, 0.0, 5.0, 4.0, 6.0]), [3, 7]);
        assert!(maxima(&[1.0, f64::NAN, 2.0, 1.0]).is_empty());
        assert!(maxima(&[]).is_empty() && maxima(&[1.0, 1.0]).is_empty());
    }

    #[test]
    fn a_ramp_is_not_periodic() {
        let ramp: Vec<f64> = (0..500).map(f64::from).collect();
        assert_eq!(find(&powers(&ramp), 0.8).dominant(), None);
        assert_eq!(find(&powers(&cosines(500, &[(2, 1.0)])), 0.8).dominant().unwrap().bin, 2);
    }
}
