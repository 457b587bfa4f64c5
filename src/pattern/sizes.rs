//! Sizes of accesses that follow each other back to back.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Five-number summary of the sizes of a sequential pattern, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeSummary {
    /// Smallest.
    pub min: u64,
    /// Lower quartile.
    pub q1: u64,
    /// Median.
    pub median: u64,
    /// Upper quartile.
    pub q3: u64,
    /// Largest.
    pub max: u64,
}

/// How many sizes are counted one by one; beyond that they are rounded to 8 significant bits (0.4 %).
const EXACT: usize = 4096;

/// Runs of equal sizes whose order is always kept.
const FEW: usize = 8;

/// The sizes of a sequential pattern: how often each occurs and, if wanted or if they are few, in which order.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    counts: BTreeMap<u64, u64>,
    rounded: bool,
    extremes: (u64, u64),
    /// Runs of equal sizes.
    order: Option<Vec<(u64, u32)>>,
    keep_order: bool,
}

impl Sizes {
    pub fn new(keep_order: bool) -> Sizes {
        Sizes { counts: BTreeMap::new(), rounded: false, extremes: (u64::MAX, 0), order: Some(Vec::new()), keep_order }
    }

    /// Bytes that they take in memory, about.
    pub fn memory(&self) -> usize {
        let order = self.order.as_ref().map_or(0, |o| o.capacity() * size_of::<(u64, u32)>());
        size_of::<Sizes>() + order + self.counts.len() * 2 * size_of::<(u64, u64)>()
    }

    pub fn add(&mut self, size: u64) {
        self.extremes = (self.extremes.0.min(size), self.extremes.1.max(size));
        *self.counts.entry(if self.rounded { rounded(size) } else { size }).or_default() += 1;
        if !self.rounded && self.counts.len() > EXACT {
            self.rounded = true;
            let exact = std::mem::take(&mut self.counts);
            exact.into_iter().for_each(|(s, n)| *self.counts.entry(rounded(s)).or_default() += n);
        }
        if let Some(order) = &mut self.order {
            match order.last_mut() {
                Some((s, n)) if *s == size && *n < u32::MAX => *n += 1,
                _ => order.push((size, 1)),
            }
            if !self.keep_order && order.len() > FEW {
                self.order = None;
            }
        }
    }

    /// The sizes in order; `None` if that was not kept.
    pub fn iter(&self) -> Option<impl Iterator<Item = u64> + '_> {
        self.order.as_ref().map(|o| o.iter().flat_map(|&(s, n)| std::iter::repeat_n(s, n as usize)))
    }

    /// Quartiles by the nearest-rank rule: the smallest size that at least that share of the accesses do not exceed. Exact up
    /// to 4096 different sizes.
    pub fn summary(&self) -> SizeSummary {
        let total: u64 = self.counts.values().sum();
        let (min, max) = self.extremes;
        let quantile = |quarters: u64| {
            let rank = (u128::from(total) * u128::from(quarters)).div_ceil(4) as u64;
            let mut seen = 0;
            let size = self.counts.iter().find_map(|(&s, &n)| {
                seen += n;
                (seen >= rank).then_some(s)
            });
            size.unwrap_or(max).clamp(min, max)
        };
        SizeSummary { min, q1: quantile(1), median: quantile(2), q3: quantile(3), max }
    }
}

fn rounded(size: u64) -> u64 {
    let shift = (64 - size.leading_zeros()).saturating_sub(8);
    size >> shift << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_numbers() {
        let mut s = Sizes::new(true);
        [5, 1, 3, 2, 4, 4, 4].into_iter().for_each(|x| s.add(x));
        assert_eq!(s.summary(), SizeSummary { min: 1, q1: 2, median: 4, q3: 4, max: 5 });
        assert_eq!(s.iter().map(|i| i.collect::<Vec<_>>()), Some(vec![5, 1, 3, 2, 4, 4, 4]));
    }

    #[test]
    fn many_sizes_stay_bounded_and_close() {
        let mut s = Sizes::new(false);
        (0..1_000_000u64).for_each(|i| s.add(i * 17 % 1_000_003));
        assert!(s.counts.len() < 5000);
        let q = s.summary();
        assert!((q.median as f64 / 500_000.0 - 1.0).abs() < 0.01, "{q:?}");
        assert!(q.max > 999_000 && s.iter().is_none());
    }
}
