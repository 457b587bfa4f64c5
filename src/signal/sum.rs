//! Sums of many numbers.

/// A sum that does not lose what it rounds away: two doubles, with the error of each addition exactly (Knuth, The Art of Computer
/// Programming, volume 2, section 4.2.2, theorem B).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, x: f64) {
        let s = self.high + x;
        let b = s - self.high;
        self.low += (self.high - (s - b)) + (x - b);
        self.high = s;
    }

    #[inline]
    pub(crate) fn join(&mut self, other: Sum) {
        self.add(other.high);
        self.low += other.low;
    }

    #[inline]
    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Sum::default();
        values.into_iter().for_each(|x| sum.add(x));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rounded_away_comes_back() {
        let parts = [1e16, 1.0, 1.0, -1e16, 1e-3];
        assert_eq!(parts.into_iter().collect::<Sum>().value(), 2.001);
        let [mut a, b] = [&parts[..2], &parts[2..]].map(|p| p.iter().copied().collect::<Sum>());
        a.join(b);
        assert_eq!(a.value(), 2.001);
    }
}
