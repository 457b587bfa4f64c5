//! Request edges in the order of time, and the walk over them that adds up all spans.

use super::{Assembly, Census, Profile};
use crate::record::{DIGITS_FROM, sort_by_number};
use crate::signal::Sum;

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

/// Sorts edges.
fn sort(edges: &mut Vec<Edge>) {
    // traces often come sorted already
    if edges.is_sorted_by(|a, b| in_order(a, b).is_le()) {
        return;
    }
    let Some(count) = u32::try_from(edges.len()).ok().filter(|_| edges.len() >= DIGITS_FROM) else {
        return edges.sort_unstable_by(in_order);
    };
    let mut order: Vec<u32> = (0..count).collect();
    let of = |i: u32| &edges[i as usize];
    sort_by_number(&mut order, |i| of(i).time, |a, b| of(a).rate.total_cmp(&of(b).rate));
    *edges = order.into_iter().map(|i| edges[i as usize]).collect();
}
