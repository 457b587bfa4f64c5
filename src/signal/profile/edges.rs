//! Request edges in the order of time, and the walk over them that adds up all spans.

use super::{Assembly, Census, Profile};
use crate::signal::Sum;

/// From this many edges on they are sorted digit by digit.
const DIGITS_FROM: usize = 1 << 12;

/// One end of a span: there the total rate changes.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub time: f64,
    pub rate: f64,
}

/// Adds up all spans by walking over their sorted edges.
pub(super) fn sweep(mut starts: Vec<Edge>, mut ends: Vec<Edge>, census: Census) -> Profile {
    rayon::join(|| sort(&mut starts), || sort(&mut ends));
    let Some(&Edge { time: origin, .. }) = starts.first() else {
        return Profile { census, ..Profile::default() };
    };
    let mut assembly = Assembly::with_capacity(starts.len() + ends.len());
    let (mut i, mut j) = (0, 0);
    let mut level = Sum::default();
    let mut t = origin;
    while j < ends.len() {
        t = match starts.get(i) {
            Some(start) => start.time.min(ends[j].time),
            None => ends[j].time,
        };
        while let Some(edge) = starts.get(i).filter(|edge| edge.time == t) {
            level.add(edge.rate);
            i += 1;
        }
        while let Some(edge) = ends.get(j).filter(|edge| edge.time == t) {
            level.add(-edge.rate);
            j += 1;
        }
        if i == j {
            level = Sum::default();
        }
        if j < ends.len() {
            // the sum of rates is not negative
            assembly.push(t - origin, level.value().max(0.0));
        }
    }
    assembly.finish(t - origin, origin, 0.0, census)
}

/// By time, then by rate: the sum does not depend on the order of the input.
fn in_order(a: &Edge, b: &Edge) -> std::cmp::Ordering {
    a.time.total_cmp(&b.time).then(a.rate.total_cmp(&b.rate))
}

/// Digits that the time of an edge over the run is sorted by, and bits of each: up to this many edges, and beyond.
const FEW_DIGITS: (usize, u32, u32) = (1 << 16, 2, 11);
const MANY_DIGITS: (u32, u32) = (3, 10);

/// Sorts edges. Many of them are sorted by the digits of their time first, which is linear; what shares all digits is
/// compared.
fn sort(edges: &mut Vec<Edge>) {
    // traces often come sorted already: a look costs little next to a sort
    if edges.is_sorted_by(|a, b| in_order(a, b).is_le()) {
        return;
    }
    if edges.len() < DIGITS_FROM || edges.len() > u32::MAX as usize {
        edges.sort_unstable_by(in_order);
        return;
    }
    let (digits, bits) = if edges.len() <= FEW_DIGITS.0 { (FEW_DIGITS.1, FEW_DIGITS.2) } else { MANY_DIGITS };
    let lowest = edges.iter().map(|edge| edge.time).fold(f64::INFINITY, f64::min);
    let highest = edges.iter().map(|edge| edge.time).fold(f64::NEG_INFINITY, f64::max);
    let scale = ((1u64 << (bits * digits)) - 1) as f64 / (highest - lowest);
    // the key above, the edge's place below: what is moved about is half as long as an edge
    let mut keys: Vec<u64> = Vec::with_capacity(edges.len());
    let mut begin = vec![[0u32; 1 << 11]; digits as usize];
    let mask = (1u64 << bits) - 1;
    let digit = |key: u64, d: u32| ((key >> (32 + d * bits)) & mask) as usize;
    for (i, edge) in edges.iter().enumerate() {
        let key = ((((edge.time - lowest) * scale) as u64) << 32) | i as u64;
        for (d, count) in begin.iter_mut().enumerate() {
            count[digit(key, d as u32)] += 1;
        }
        keys.push(key);
    }
    let mut other = vec![0u64; keys.len()];
    for (d, next) in begin.iter_mut().enumerate() {
        let mut before = 0;
        for count in next.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for &key in &keys {
            let place = &mut next[digit(key, d as u32)];
            other[*place as usize] = key;
            *place += 1;
        }
        std::mem::swap(&mut keys, &mut other);
    }
    let mut sorted: Vec<Edge> = keys.iter().map(|&key| edges[(key & u64::from(u32::MAX)) as usize]).collect();
    let mut from = 0;
    for alike in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
        if alike.len() > 1 {
            sorted[from..from + alike.len()].sort_unstable_by(in_order);
        }
        from += alike.len();
    }
    *edges = sorted;
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
            // repeated until they are many enough to be dealt
            let mut edges: Vec<Edge> = times.iter().cycle().take(if many { FEW_DIGITS.0 } else { DIGITS_FROM } + 5).enumerate()
                .map(|(i, &time)| Edge { time, rate: (i % 7) as f64 }).collect();
            let mut expected = edges.clone();
            expected.sort_by(in_order);
            sort(&mut edges);
            prop_assert!(edges.iter().zip(&expected).all(|(a, b)| in_order(a, b).is_eq()));
        }
    }
}
