//! Sizes of accesses that follow each other back to back.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Five-number summary of the sizes of a sequential pattern, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SizeSummary {
    /// Smallest size in bytes.
    pub min: u64,
    /// Lower quartile of the sizes in bytes.
    pub q1: u64,
    /// Median of the sizes in bytes.
    pub median: u64,
    /// Upper quartile of the sizes in bytes.
    pub q3: u64,
    /// Largest size in bytes.
    pub max: u64,
}

/// Sizes that are counted one by one; beyond that they are cut to 8 significant bits (at most 0.8 % too low).
const EXACT: usize = 4096;

/// Rows of equal sizes whose order is kept unless all are wanted.
const ROWS: usize = 512;

/// The sizes of a sequential pattern: in order as long as these are few or all are wanted, else how often each occurs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sizes {
    /// Rows of equal sizes: size and how many.
    rows: Vec<(u64, u32)>,
    /// Present once the order was given up.
    counts: Option<BTreeMap<u64, u64>>,
    rounded: bool,
    extremes: (u64, u64),
    records: u64,
    bytes: u64,
    keep_order: bool,
}

impl Sizes {
    pub fn new(keep_order: bool) -> Sizes {
        Sizes {
            rows: Vec::new(),
            counts: None,
            rounded: false,
            extremes: (u64::MAX, 0),
            records: 0,
            bytes: 0,
            keep_order,
        }
    }

    /// Accesses.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes of all accesses.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn add(&mut self, size: u64) {
        self.records += 1;
        self.bytes = self.bytes.saturating_add(size);
        self.extremes = (self.extremes.0.min(size), self.extremes.1.max(size));
        if let Some(counts) = &mut self.counts {
            count(counts, &mut self.rounded, size, 1);
            return;
        }
        match self.rows.last_mut() {
            Some((s, n)) if *s == size && *n < u32::MAX => *n += 1,
            _ => self.rows.push((size, 1)),
        }
        if self.rows.len() > ROWS && !self.keep_order {
            let mut counts = BTreeMap::new();
            for (size, n) in std::mem::take(&mut self.rows) {
                count(&mut counts, &mut self.rounded, size, u64::from(n));
            }
            self.counts = Some(counts);
        }
    }

    /// Rows of equal sizes in order: size and how many. `None` if the order was not kept.
    pub fn rows(&self) -> Option<&[(u64, u32)]> {
        self.counts.is_none().then_some(&self.rows)
    }

    /// Equal sizes at the end; 0 if the order was not kept.
    pub fn last_row(&self) -> u32 {
        self.rows.last().map_or(0, |r| r.1)
    }

    /// Takes the last row away.
    pub fn pop_row(&mut self) {
        if let Some((size, n)) = self.rows.pop() {
            self.records -= u64::from(n);
            self.bytes = self.bytes.saturating_sub(size.saturating_mul(u64::from(n)));
        }
    }

    /// Quartiles by the nearest-rank rule: the smallest size that at least that share of the accesses do not exceed. Exact up
    /// to 4096 different sizes.
    pub fn summary(&self) -> SizeSummary {
        let sorted = || {
            let mut all: BTreeMap<u64, u64> = BTreeMap::new();
            self.rows.iter().for_each(|(s, n)| *all.entry(*s).or_default() += u64::from(*n));
            all
        };
        let counts = self.counts.clone().unwrap_or_else(sorted);
        let total: u64 = counts.values().sum();
        let (min, max) = self.extremes;
        let quantile = |quarters: u64| {
            let rank = (u128::from(total) * u128::from(quarters)).div_ceil(4) as u64;
            let mut seen = 0;
            let size = counts.iter().find_map(|(&s, &n)| {
                seen += n;
                (seen >= rank).then_some(s)
            });
            size.unwrap_or(max).clamp(min, max)
        };
        SizeSummary { min, q1: quantile(1), median: quantile(2), q3: quantile(3), max }
    }
}

fn count(counts: &mut BTreeMap<u64, u64>, rounds: &mut bool, size: u64, n: u64) {
    *counts.entry(if *rounds { rounded(size) } else { size }).or_default() += n;
    if !*rounds && counts.len() > EXACT {
        *rounds = true;
        let exact = std::mem::take(counts);
        exact.into_iter().for_each(|(s, n)| *counts.entry(rounded(s)).or_default() += n);
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
        assert_eq!(s.rows(), Some(&[(5, 1), (1, 1), (3, 1), (2, 1), (4, 3)][..]));
    }

    #[test]
    fn many_sizes_stay_bounded_and_close() {
        let mut s = Sizes::new(false);
        (0..1_000_000u64).for_each(|i| s.add(i * 17 % 1_000_003));
        assert!(s.counts.as_ref().is_some_and(|c| c.len() <= EXACT));
        let q = s.summary();
        assert!((q.median as f64 / 500_000.0 - 1.0).abs() < 0.01, "{q:?}");
        assert!(q.max > 999_000 && s.rows().is_none());
    }
}
