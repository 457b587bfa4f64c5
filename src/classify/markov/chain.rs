//! A Markov chain over the blocks of a file.
//!
//! A state is an access: its first block, counted from the rank's first access, and its direction. Neighbouring states with equal
//! transitions share a row, so that a regular walk of any length takes a few rows.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Distinct states while a run is learned.
const MOST_STATES: usize = 1 << 16;
/// Rows kept.
pub(super) const MOST_ROWS: usize = 2048;
/// Transitions kept of a row: the most frequent ones.
pub(super) const MOST_WAYS: usize = 8;

/// Rows that may begin between the first and the last state of another one.
const INTERLEAVED: usize = 64;

/// States with equal transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The first state: twice the block, plus one for a write.
    pub state: i64,
    /// Distance of the states.
    pub step: i64,
    /// How many.
    pub states: u64,
    /// Transitions: difference to the next state, and count.
    pub ways: Vec<(i64, u64)>,
    /// How often the walk ended here.
    pub ends: u64,
}

/// Distance from the rank's first access in bytes, and whether it writes.
type At = (i64, bool);
type WaysAndEnds = (Vec<(At, u64)>, u64);
/// A state, its transitions with their counts, and how often the walk ended here.
type State = (i64, Vec<(i64, u64)>, u64);

/// Counts while a run is learned, in bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// Transitions of an access and their counts; how often the walk ended there.
    ways: HashMap<At, WaysAndEnds>,
    /// Some did not fit.
    pub full: bool,
}

impl Counts {
    pub fn step(&mut self, from: At, to: At) {
        let Some((ways, _)) = self.entry(from) else { return };
        match ways.iter().position(|w| w.0 == to) {
            Some(i) => ways[i].1 += 1,
            None if ways.len() < 4 * MOST_WAYS => ways.push((to, 1)),
            None => self.full = true,
        }
    }

    pub fn end(&mut self, at: At) {
        if let Some((_, ends)) = self.entry(at) {
            *ends += 1;
        }
    }

    fn entry(&mut self, at: At) -> Option<&mut WaysAndEnds> {
        if self.ways.len() >= MOST_STATES && !self.ways.contains_key(&at) {
            self.full = true;
            return None;
        }
        Some(self.ways.entry(at).or_default())
    }

    /// The greatest block on whose boundaries all accesses begin, given those of other walks.
    pub fn block(&self, block: u64) -> u64 {
        let all = self.ways.iter().flat_map(|(at, (ways, _))| std::iter::once(at.0).chain(ways.iter().map(|w| w.0.0)));
        all.fold(block, |g, distance| gcd(g, distance.unsigned_abs()))
    }

    /// The chain; true if some of it did not fit.
    pub fn finish(mut self, block: u64) -> (Vec<Row>, bool) {
        let block = i64::try_from(block.max(1)).unwrap_or(i64::MAX);
        let state = |(distance, write): (i64, bool)| (distance / block).saturating_mul(2) + i64::from(write);
        let mut states: Vec<State> = self
            .ways
            .into_iter()
            .map(|(from, (ways, ends))| {
                let here = state(from);
                let mut ways: Vec<(i64, u64)> =
                    ways.into_iter().map(|(to, count)| (state(to).wrapping_sub(here), count)).collect();
                ways.sort_unstable_by_key(|w| (std::cmp::Reverse(w.1), w.0));
                ways.truncate(MOST_WAYS);
                (here, ways, ends)
            })
            .collect();
        states.sort_unstable_by_key(|s| s.0);
        let mut rows: Vec<Row> = Vec::new();
        for (here, ways, ends) in states {
            if let Some(row) = rows.last_mut()
                && row.ways == ways
                && row.ends == ends
                && goes_on(row.state, &mut row.step, &mut row.states, here)
            {
                continue;
            }
            if rows.len() == MOST_ROWS {
                self.full = true;
                break;
            }
            rows.push(Row { state: here, step: 0, states: 1, ways, ends });
        }
        (rows, self.full)
    }
}

/// Extends `count` evenly spaced numbers by one; false if it does not fit.
pub(super) fn goes_on(first: i64, step: &mut i64, count: &mut u64, next: i64) -> bool {
    let before = i64::try_from(*count - 1).unwrap_or(i64::MAX);
    let here = next.wrapping_sub(first.wrapping_add(step.wrapping_mul(before)));
    let fits = *count == 1 || here == *step;
    if fits {
        (*step, *count) = (here, *count + 1);
    }
    fits
}

/// Greatest common divisor; 0 divides nothing.
pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Walks along a chain. It takes the transition that is most behind its probability, so that each gets its share.
pub(super) struct Walk<'r> {
    rows: &'r [Row],
    state: i64,
    /// How often each way of a row was taken.
    taken: HashMap<(usize, i64), Vec<u64>>,
    /// The last two steps, for states that nobody has seen.
    last: (i64, i64),
}

impl<'r> Walk<'r> {
    /// Begins in a state. `rows` are in the order of their states.
    pub fn new(rows: &'r [Row], state: i64) -> Self {
        Self { rows, state, taken: HashMap::new(), last: (0, 0) }
    }

    fn row(&self) -> Option<usize> {
        let after = self.rows.partition_point(|r| r.state <= self.state);
        // rows may interleave: the one that holds the state is among the last few that begin before it
        let from = after.saturating_sub(INTERLEAVED);
        let found = self.rows[from..after].iter().rposition(|r| {
            let past = self.state.saturating_sub(r.state);
            let place = if r.step > 0 { past / r.step } else { 0 };
            past == place.saturating_mul(r.step) && (place as u64) < r.states
        });
        found.map(|i| from + i)
    }
}

impl Iterator for Walk<'_> {
    type Item = i64;

    /// The next state, if it is known.
    fn next(&mut self) -> Option<i64> {
        let step = match self.row() {
            Some(i) if !self.rows[i].ways.is_empty() => {
                let ways = &self.rows[i].ways;
                let taken = self.taken.entry((i, self.state)).or_insert_with(|| vec![0; ways.len()]);
                let owed = |k: usize| ways[k].1 as f64 / (taken[k] + 1) as f64;
                let way = (0..ways.len()).fold(0, |best, k| if owed(k) > owed(best) { k } else { best });
                taken[way] += 1;
                ways[way].0
            }
            // continue a regular walk
            _ if self.last.0 == self.last.1 => self.last.1,
            _ => return None,
        };
        self.last = (self.last.1, step);
        self.state = self.state.saturating_add(step);
        Some(self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(walk: &[i64]) -> Vec<Row> {
        let mut c = Counts::default();
        walk.windows(2).for_each(|w| c.step((w[0], false), (w[1], false)));
        c.end((walk[walk.len() - 1], false));
        let block = c.block(0);
        c.finish(block).0
    }

    #[test]
    fn a_regular_walk_takes_few_rows_and_is_walked_again() {
        let walk: Vec<i64> = (0..5000).map(|i| i * 4096).collect();
        let rows = learned(&walk);
        assert_eq!(rows.len(), 2, "the way on, and the end");
        let again: Vec<i64> = std::iter::once(0).chain(Walk::new(&rows, 0)).take(5000).collect();
        assert_eq!(again, (0..5000).map(|i| i * 2).collect::<Vec<_>>());
    }

    #[test]
    fn a_second_pass_is_a_way_back() {
        let walk: Vec<i64> = (0..3).flat_map(|_| (0..10).map(|i| i * 100)).collect();
        let rows = learned(&walk);
        let again: Vec<i64> = std::iter::once(0).chain(Walk::new(&rows, 0)).take(30).collect();
        assert_eq!(again, walk.iter().map(|b| b / 100 * 2).collect::<Vec<_>>());
    }

    #[test]
    fn disorder_is_bounded() {
        let walk: Vec<i64> = (0..200_000i64).map(|i| (i * 7919 + i * i % 1013) % 1_000_003).collect();
        let rows = learned(&walk);
        assert!(rows.len() <= MOST_ROWS && rows.iter().all(|r| r.ways.len() <= MOST_WAYS));
    }
}
