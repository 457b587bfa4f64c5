//! Medians of values that may be reordered, in linear time.

/// The median, of an even number of values the mean of both in the middle; `None` of nothing.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return Some(upper);
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(0.5 * (lower + upper))
}

/// The median that is one of the values: the upper one of both in the middle.
pub(crate) fn upper_median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_number_has_two_in_the_middle() {
        assert_eq!((median(&mut []), upper_median(&mut [])), (None, None));
        assert_eq!((median(&mut [3.0, 1.0, 2.0]), upper_median(&mut [3.0, 1.0, 2.0])), (Some(2.0), Some(2.0)));
        let four = [4.0, 1.0, 2.0, 3.0];
        assert_eq!((median(&mut four.clone()), upper_median(&mut four.clone())), (Some(2.5), Some(3.0)));
    }
}
