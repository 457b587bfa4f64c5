//! Small statistics on slices.

use crate::transform;

/// Median; 0 for an empty slice.
pub(crate) fn median(x: &[f64]) -> f64 {
    median_of(&mut x.to_vec())
}

/// Median of a buffer that may be reordered; 0 for an empty one.
pub(crate) fn median_of(x: &mut [f64]) -> f64 {
    transform::median(x).unwrap_or(0.0)
}

/// Mean; 0 for an empty slice.
pub(crate) fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len().max(1) as f64
}

/// Population standard deviation.
pub(crate) fn deviation(x: &[f64]) -> f64 {
    let m = mean(x);
    mean(&x.iter().map(|v| (v - m) * (v - m)).collect::<Vec<_>>()).sqrt()
}

/// The least-squares line through points.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Line {
    /// Number of points.
    pub n: f64,
    /// Mean of the points.
    pub middle: (f64, f64),
    pub slope: f64,
    /// Sum of squared deviations of x from its mean.
    pub spread: f64,
    /// Sum of squared residuals.
    pub squares: f64,
}

impl Line {
    pub fn through(points: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let (n, x, y) = points.clone().fold((0.0, 0.0, 0.0), |s, p| (s.0 + 1.0, s.1 + p.0, s.2 + p.1));
        let middle = (x / n, y / n);
        let off = points.map(|p| (p.0 - middle.0, p.1 - middle.1));
        let spread: f64 = off.clone().map(|p| p.0 * p.0).sum();
        let slope = off.clone().map(|p| p.0 * p.1).sum::<f64>() / spread;
        let squares = off.map(|p| (p.1 - slope * p.0).powi(2)).sum();
        Self { n, middle, slope, spread, squares }
    }

    pub fn at(&self, x: f64) -> f64 {
        self.middle.1 + self.slope * (x - self.middle.0)
    }

    /// Variance of a point around the line.
    pub fn variance(&self) -> f64 {
        self.squares / (self.n - 2.0).max(1.0)
    }

    /// Variance of a further point at `x`, that of the line included.
    pub fn variance_at(&self, x: f64) -> f64 {
        self.variance() * (1.0 + 1.0 / self.n + (x - self.middle.0).powi(2) / self.spread)
    }

    /// Whether the slope differs from 0 by so many standard errors.
    pub fn is_steep(&self, errors: f64) -> bool {
        self.slope * self.slope * self.spread > errors * errors * self.variance()
    }
}

/// Mean and standard deviation of a standard normal variable given that it exceeds `a`.
pub(crate) fn upper_part(a: f64) -> (f64, f64) {
    let density = (-0.5 * a * a).exp() / std::f64::consts::TAU.sqrt();
    let above = 0.5 * statrs::function::erf::erfc(a * std::f64::consts::FRAC_1_SQRT_2);
    if above < 1e-12 {
        return (a, 0.0);
    }
    let mean = density / above;
    (mean, (1.0 + a * mean - mean * mean).max(0.0).sqrt())
}

/// Cells of non-negative numbers for [`weighted_quantile`]: by exponent and the highest bits of the fraction.
const CELLS: usize = 1 << 14;

/// The cell of a value, rising with it.
fn cell(value: f64) -> usize {
    let bits = value.to_bits() as i64;
    // negative numbers sort the other way round
    let ordered = (bits ^ ((bits >> 63) as u64 >> 1) as i64) as u64 ^ (1 << 63);
    (ordered >> 50) as usize
}

/// The smallest value up to which the weights add up to at least `q` of their total; `None` if there is no weight.
///
/// `pairs` are (value, weight), reordered on the way. Selection instead of sorting: linear in the number of pairs.
pub(crate) fn weighted_quantile(pairs: &mut [(f64, f64)], q: f64) -> Option<f64> {
    if pairs.len() >= CELLS {
        return weighted_quantile_of(pairs.iter().copied(), q);
    }
    let total: f64 = pairs.iter().map(|p| p.1).sum();
    if pairs.is_empty() || total <= 0.0 {
        return None;
    }
    select(pairs, q * total)
}

/// The same of pairs that are worked out on the way, twice if there are many: only those near the quantile are kept.
pub(crate) fn weighted_quantile_of(pairs: impl Iterator<Item = (f64, f64)> + Clone, q: f64) -> Option<f64> {
    if pairs.size_hint().1.is_some_and(|n| n < CELLS) {
        return weighted_quantile(&mut pairs.collect::<Vec<_>>(), q);
    }
    // the cells keep the order of the values: only the one with the quantile needs a closer look
    let mut weights = vec![0.0; CELLS];
    let mut total = 0.0;
    pairs.clone().for_each(|p| {
        total += p.1;
        weights[cell(p.0)] += p.1;
    });
    if total <= 0.0 {
        return None;
    }
    let wanted = q * total;
    let mut before = 0.0;
    let last = weights.iter().rposition(|&w| w > 0.0)?;
    let at = (0..last).find(|&c| {
        let inside = wanted <= before + weights[c];
        before += if inside { 0.0 } else { weights[c] };
        inside
    });
    let at = at.unwrap_or(last);
    let mut inside: Vec<(f64, f64)> = pairs.filter(|p| cell(p.0) == at).collect();
    select(&mut inside, wanted - before)
}

/// The value at which the weights, summed up in the order of the values, reach `wanted`; the largest if they do not.
fn select(pairs: &mut [(f64, f64)], mut wanted: f64) -> Option<f64> {
    if pairs.is_empty() {
        return None;
    }
    let (mut from, mut to) = (0, pairs.len());
    loop {
        let rest = &mut pairs[from..to];
        let middle = rest.len() / 2;
        let (below, &mut (value, weight), _) = rest.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0));
        let weight_below: f64 = below.iter().map(|p| p.1).sum();
        if wanted <= weight_below && middle > 0 {
            to = from + middle;
        } else if wanted <= weight_below + weight || from + middle + 1 == to {
            return Some(value);
        } else {
            wanted -= weight_below + weight;
            from += middle + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    proptest! {
        #[test]
        fn selection_agrees_with_sorting(pairs in prop::collection::vec((0.0..10.0f64, 0.01..5.0f64), 1..60), q in 0.01..0.99f64) {
            let mut sorted = pairs.clone();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let total: f64 = pairs.iter().map(|p| p.1).sum();
            let mut sum = 0.0;
            let expected = sorted.iter().find(|p| { sum += p.1; sum >= q * total - 1e-9 }).map(|p| p.0);
            prop_assert_eq!(weighted_quantile(&mut pairs.clone(), q), expected);
        }
    }

    #[test]
    fn selection_by_cells_agrees_with_sorting() {
        let values = |i: usize| [(i * 7919 % 10007) as f64 * 1e3, -((i % 77) as f64), 1e-9 * i as f64, 0.0][i % 4];
        let pairs: Vec<(f64, f64)> = (0..2 * CELLS).map(|i| (values(i), 1.0 + (i % 5) as f64)).collect();
        let mut sorted = pairs.clone();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = pairs.iter().map(|p| p.1).sum();
        for q in [0.01, 0.1, 0.3, 0.5, 0.77, 0.9, 1.0] {
            let mut sum = 0.0;
            let expected = sorted.iter().find(|p| {
                sum += p.1;
                sum >= q * total
            });
            assert_eq!(weighted_quantile(&mut pairs.clone(), q), expected.map(|p| p.0), "{q}");
        }
    }

    #[test]
    fn the_upper_part_of_a_normal_distribution() {
        let (mean, sd) = upper_part(0.0);
        // the half-normal distribution
        let half = (2.0 / std::f64::consts::PI).sqrt();
        assert!((mean - half).abs() < 1e-12 && (sd - (1.0 - half * half).sqrt()).abs() < 1e-12);
        let (mean, sd) = upper_part(-9.0);
        assert!(mean.abs() < 1e-9 && (sd - 1.0).abs() < 1e-9);
    }

    #[test]
    fn no_weight_no_quantile() {
        assert_eq!(weighted_quantile(&mut [], 0.5), None);
        assert_eq!(weighted_quantile(&mut [(1.0, 0.0)], 0.5), None);
    }
}
