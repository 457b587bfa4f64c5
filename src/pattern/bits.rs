//! How many bits it takes to tell numbers, choices and places: prefix codes.

use std::collections::HashSet;

use super::log::Item;

/// Accesses of a stream whose places are looked at one by one.
pub(super) const FEW: u64 = 8192;

/// Bits of a number of at least 1.
pub(super) fn number(n: u64) -> f64 {
    2.0 * (n.max(1) as f64).log2().floor() + 1.0
}

/// Bits of a row of so many places of the grid, in one direction.
pub(super) fn rows(places: u64, grid: f64) -> f64 {
    let longer = (places - 1) as f64;
    let steps = ((grid - 1.0) / longer).floor();
    (steps * grid - longer * steps * (steps + 1.0) / 2.0).max(1.0).log2()
}

/// Bits of a choice of so many of all.
pub(super) fn ways(all: u64, some: u64) -> f64 {
    let some = some.min(all.saturating_sub(some));
    if some == 0 {
        return 0.0;
    }
    if some > FEW {
        let (n, share) = (all as f64, some as f64 / all as f64);
        return -n * (share * share.log2() + (1.0 - share) * (1.0 - share).log2());
    }
    (0..some).map(|i| ((all - i) as f64 / (i + 1) as f64).log2()).sum()
}

/// Bits of so many different places of the grid after others.
pub(super) fn unseen(grid: f64, seen: usize, places: usize) -> f64 {
    (seen..seen + places).map(|i| (grid - i as f64).max(1.0).log2()).sum()
}

/// Bits of places in passes that visit a place once each, as few as there may be, where all is done so often.
pub(super) fn of_visits(mut all: Vec<u64>, often: u64, grid: f64) -> f64 {
    all.sort_unstable();
    // How often each place is visited: that many passes have it.
    let visits: Vec<u64> = all.chunk_by(|a, b| a == b).map(|v| v.len() as u64 / often).collect();
    let most = visits.iter().copied().max().unwrap_or(0);
    let of_pass = |pass: u64| visits.iter().filter(|&&v| v > pass).count();
    (0..most).map(|pass| unseen(grid, 0, of_pass(pass))).sum()
}

/// Bits of a walk in passes that visit a place once each: a pass ends with the grid, or where a place comes again, which is told.
pub(super) fn in_passes(walk: impl Iterator<Item = Item>, grid: f64) -> f64 {
    let (mut seen, mut bits, mut broken, mut records) = (HashSet::new(), 0.0, 0, 0);
    for item in walk {
        records += 1;
        let full = seen.len() as f64 >= grid;
        if full || seen.contains(&item.offset) {
            broken += u64::from(!full);
            seen.clear();
        }
        bits += unseen(grid, seen.len(), 1);
        seen.insert(item.offset);
    }
    bits + ways(records, broken)
}

/// Bits of places that are a row on the grid, gone through in blocks that come in another order, each of two or more.
pub(super) fn in_blocks(places: &[u64], grid: f64) -> Option<f64> {
    let mut row = places.to_vec();
    row.sort_unstable();
    let step = row.get(1)? - row[0];
    if step == 0 || row.windows(2).any(|w| w[1] - w[0] != step) {
        return None;
    }
    let blocks: Vec<usize> = places.chunk_by(|a, b| b.wrapping_sub(*a) == step).map(<[u64]>::len).collect();
    if blocks.len() < 2 || blocks.contains(&1) {
        return None;
    }
    let (n, k) = (row.len() as u64, blocks.len() as u64);
    let orders: f64 = (1..=k).map(|i| (i as f64).log2()).sum();
    let whole = n as f64 >= grid;
    Some(1.0 + (k - 1) as f64 + ways(n - k - 1, k - 1) + orders + if whole { 0.0 } else { 1.0 + rows(n, grid) })
}

/// Longest list of patterns in turns.
const TURNS: usize = 8;

/// Bits of labels of so many kinds, as short lists over and over: for each its length, its labels and how often it comes.
pub(super) fn turns(labels: &[usize], kinds: f64) -> f64 {
    let n = labels.len();
    // For each length of a list, how far what follows each place is the same again.
    let mut alike = vec![vec![0; n + 1]; TURNS + 1];
    for (length, alike) in alike.iter_mut().enumerate().skip(1) {
        for i in (0..n.saturating_sub(length)).rev() {
            alike[i] = if labels[i] == labels[i + length] { alike[i + 1] + 1 } else { 0 };
        }
    }
    let mut best = vec![f64::INFINITY; n + 1];
    best[0] = 0.0;
    for i in 0..n {
        let before = best[i];
        for length in (1..=TURNS.min(n - i)).filter(|_| before.is_finite()) {
            let times = 1 + alike[length][i] / length;
            let end = i + length * times;
            let list = number(length as u64) + length as f64 * kinds.log2();
            // The last one goes on to the end.
            let count = if end == n { 0.0 } else { number(times as u64).min(((n - i) as f64 / length as f64).log2()) };
            best[end] = best[end].min(before + 1.0 + list + count);
        }
    }
    best[n]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_told_as_lists() {
        let regular: Vec<usize> = [0, 1].repeat(20);
        let other: Vec<usize> = (0..40).map(|i: usize| (i * i * 7 + i / 3) % 61 % 2).collect();
        assert!(turns(&regular, 2.0) < 8.0);
        assert!(turns(&other, 2.0) > 40.0);
    }

    #[test]
    fn blocks_of_a_row() {
        let bits = |places: &[u64]| in_blocks(places, 8.0);
        assert!(bits(&[0, 1, 2, 6, 7, 3, 4, 5]).is_some_and(|b| b < 9.0));
        assert!(bits(&[0, 2, 4, 12, 14, 6, 8, 10]).is_some());
        assert!(bits(&[0, 1, 2, 3]).is_none() && bits(&[0, 2, 1, 3]).is_none() && bits(&[0, 1, 4, 5]).is_none());
        assert!(bits(&[]).is_none() && bits(&[1]).is_none() && bits(&[1, 1]).is_none());
    }
}
