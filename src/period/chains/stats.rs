//! Small statistics on slices.

/// Median; 0 for an empty slice.
pub(crate) fn median(x: &[f64]) -> f64 {
    median_of(&mut x.to_vec())
}

/// Median of a buffer that may be reordered; 0 for an empty one.
pub(crate) fn median_of(x: &mut [f64]) -> f64 {
    let n = x.len();
    if n == 0 {
        return 0.0;
    }
    let (below, &mut upper, _) = x.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    0.5 * (lower + upper)
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

/// The smallest value up to which the weights add up to at least `q` of their total; `None` if there is no weight.
///
/// `pairs` are (value, weight), reordered on the way. Selection instead of sorting: linear in the number of pairs.
pub(crate) fn weighted_quantile(pairs: &mut [(f64, f64)], q: f64) -> Option<f64> {
    let total: f64 = pairs.iter().map(|p| p.1).sum();
    if pairs.is_empty() || total <= 0.0 {
        return None;
    }
    let mut wanted = q * total;
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
    fn medians() {
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
    fn no_weight_no_quantile() {
        assert_eq!(weighted_quantile(&mut [], 0.5), None);
        assert_eq!(weighted_quantile(&mut [(1.0, 0.0)], 0.5), None);
    }
}
