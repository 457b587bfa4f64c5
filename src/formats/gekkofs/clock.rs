//! The clock of a client, which begins again after 2³² microseconds.

use std::collections::HashMap;

use super::super::thresholds::LIMITS;
use crate::record::Op;

/// Microseconds after which times begin again.
const WRAP_US: f64 = 4_294_967_296.0;
const PER_SECOND: f64 = 1e6;

/// How often the clock of each client has begun again, for reads and for writes: their flushes come one after the other, those of
/// the two directions need not.
#[derive(Debug, Clone, Default)]
pub struct Clocks(HashMap<(String, u64, Op), Turns>);

#[derive(Debug, Clone, Copy)]
struct Turns {
    /// Microseconds to add.
    added: f64,
    /// The last end, as it was sent.
    last_us: f64,
}

impl Clocks {
    /// Starts and ends in seconds on a clock that does not begin again. Requests come in the order of their ends, except for those of
    /// several threads: a larger fall means that the clock has begun again.
    pub(super) fn unwrap(&mut self, client: &(String, u64), op: Op, starts: &[f64], ends: &[f64]) -> Vec<(f64, f64)> {
        let key = (client.0.clone(), client.1, op);
        let turns = self.0.entry(key).or_insert(Turns { added: 0.0, last_us: 0.0 });
        let fits = |x: f64| (0.0..WRAP_US).contains(&x);
        let one = |(&start, &end): (&f64, &f64)| {
            if !fits(start) || !fits(end) {
                // Not of a client: wide times need no turns.
                return (start / PER_SECOND, end / PER_SECOND);
            }
            if end < turns.last_us - LIMITS.client_disorder_us {
                turns.added += WRAP_US;
            }
            turns.last_us = end;
            let began_before = start > end && start - end > WRAP_US / 2.0;
            let start = if began_before { start - WRAP_US } else { start };
            ((turns.added + start) / PER_SECOND, (turns.added + end) / PER_SECOND)
        };
        starts.iter().zip(ends).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever times a client has sent modulo 2³², they come out as they were, if the first is of the first turn.
        #[test]
        fn times_are_what_they_were(
            first in 0u64..3_600_000_000,
            steps in prop::collection::vec((0u64..600_000_000, 0u64..50_000_000, 0u64..2_000_000), 1..40),
            cut in 0usize..40,
        ) {
            let mut now = first;
            let mut truth = Vec::new();
            for (idle, length, disorder) in steps {
                now += idle;
                let end = now.saturating_sub(disorder).max(first);
                truth.push((end.saturating_sub(length).max(first), end));
            }
            let sent = |x: u64| (x % (1 << 32)) as f64;
            let starts: Vec<f64> = truth.iter().map(|t| sent(t.0)).collect();
            let ends: Vec<f64> = truth.iter().map(|t| sent(t.1)).collect();
            let cut = cut.min(truth.len());
            let (mut clocks, client) = (Clocks::default(), ("n1".to_owned(), 7));
            let mut found = clocks.unwrap(&client, Op::Write, &starts[..cut], &ends[..cut]);
            found.extend(clocks.unwrap(&client, Op::Write, &starts[cut..], &ends[cut..]));
            for ((start, end), (s, e)) in found.into_iter().zip(truth) {
                prop_assert!((start - s as f64 / 1e6).abs() < 1e-9 && (end - e as f64 / 1e6).abs() < 1e-9, "{start} {s}");
            }
        }
    }
}
