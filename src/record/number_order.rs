//! Rows in the order of a number, of their times or offsets: many are sorted by its digits, which takes linear time.

use std::cmp::Ordering;

use rayon::prelude::*;

/// From this many rows on they are sorted digit by digit.
pub(crate) const DIGITS_FROM: usize = 1 << 12;
/// Digits of a number between the least and the largest one, and bits of each: up to this many rows, and beyond.
const FEW_DIGITS: (usize, u32, u32) = (1 << 16, 2, 11);
const MANY_DIGITS: (u32, u32) = (3, 10);
/// Low bits of a key: the row. The digits are above.
const ROW_BITS: u32 = 32;

/// Sorts rows by a number of each, those of one number by `tie`; the sort is stable.
pub(crate) fn sort_by_number(
    rows: &mut [u32],
    number: impl Fn(u32) -> f64 + Sync,
    tie: impl Fn(u32, u32) -> Ordering + Sync,
) {
    let compare = |&a: &u32, &b: &u32| number(a).total_cmp(&number(b)).then_with(|| tie(a, b));
    // traces often come sorted already: a look costs little next to a sort
    if rows.is_sorted_by(|a, b| compare(a, b).is_le()) {
        return;
    }
    if rows.len() < DIGITS_FROM {
        rows.sort_by(compare);
        return;
    }
    let keys = sorted_keys(rows, &number);
    rows.iter_mut().zip(&keys).for_each(|(row, &key)| *row = key as u32);
    let mut from = 0;
    for alike in keys.chunk_by(|a, b| a >> ROW_BITS == b >> ROW_BITS) {
        let part = &mut rows[from..from + alike.len()];
        match part.len() {
            1 => {}
            few if few < DIGITS_FROM => part.sort_by(compare),
            _ => part.par_sort_by(compare),
        }
        from += part.len();
    }
}

/// The digits of each number above the row, in the order of the digits.
fn sorted_keys(rows: &[u32], number: impl Fn(u32) -> f64) -> Vec<u64> {
    let (digits, bits) = if rows.len() <= FEW_DIGITS.0 { (FEW_DIGITS.1, FEW_DIGITS.2) } else { MANY_DIGITS };
    let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
    for x in rows.iter().map(|&row| number(row)) {
        (least, largest) = (least.min(x), largest.max(x));
    }
    let scale = ((1u64 << (bits * digits)) - 1) as f64 / (largest - least);
    let mut begin = vec![[0usize; 1 << FEW_DIGITS.2]; digits as usize];
    let mask = (1u64 << bits) - 1;
    let digit = |key: u64, d: u32| ((key >> (ROW_BITS + d * bits)) & mask) as usize;
    let mut keys: Vec<u64> = Vec::with_capacity(rows.len());
    for &row in rows {
        let key = ((((number(row) - least) * scale) as u64) << ROW_BITS) | u64::from(row);
        for (d, count) in (0..).zip(&mut begin) {
            count[digit(key, d)] += 1;
        }
        keys.push(key);
    }
    let mut other = vec![0u64; keys.len()];
    for (d, next) in (0..).zip(&mut begin) {
        let mut before = 0;
        for count in next.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for &key in &keys {
            let place = &mut next[digit(key, d)];
            other[*place] = key;
            *place += 1;
        }
        std::mem::swap(&mut keys, &mut other);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorting_by_digits_sorts(
            times in prop::collection::vec(prop_oneof![0.0..1e3f64, 5.0..5.001f64, Just(7.0)], 1..300),
            many in prop::bool::weighted(0.1),
        ) {
            // repeated until they are many enough for digits
            let n = if many { FEW_DIGITS.0 } else { DIGITS_FROM } + 5;
            let times: Vec<f64> = times.iter().cycle().take(n).copied().collect();
            let tie = |a: u32, b: u32| (a % 7).cmp(&(b % 7));
            let mut expected: Vec<u32> = (0..n as u32).rev().collect();
            let mut rows = expected.clone();
            expected.sort_by(|&a, &b| times[a as usize].total_cmp(&times[b as usize]).then(tie(a, b)));
            sort_by_number(&mut rows, |row| times[row as usize], tie);
            prop_assert_eq!(rows, expected);
        }
    }
}
