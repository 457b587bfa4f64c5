//! Totals over the records of a module, and counters with values that they cannot have.

use std::collections::BTreeMap;

use super::counters::span;
use crate::record::{Impossible, LayerSummary, NOT_COUNTED, is_time};

/// Adds up the records of a module.
pub(super) struct Tally<'a> {
    summary: LayerSummary,
    ints: &'a [&'static str],
    reals: &'a [&'static str],
    /// Integer counters that sum up to the reads, and to the writes.
    calls: [&'a [usize]; 2],
    /// Bytes read, bytes written.
    bytes: [Option<usize>; 2],
    /// Start and end of reading, of writing.
    times: [Option<[usize; 2]>; 2],
    /// Integer counters that are amounts.
    amounts: Vec<usize>,
    /// Real counters that are times; of an end also the place of its start.
    moments: Vec<(usize, Option<usize>)>,
    /// Sum of a counter that no process has counted.
    none_counted: i64,
    /// Records by counter and what its value is.
    impossible: BTreeMap<(&'static str, &'static str), u64>,
}

impl<'a> Tally<'a> {
    /// Of a layer with these counters, of which those at `calls` sum up to reads and writes, in a job of so many processes.
    pub fn new(
        layer: &str,
        ints: &'a [&'static str],
        reals: &'a [&'static str],
        calls: [&'a [usize]; 2],
        processes: i64,
    ) -> Tally<'a> {
        let int = |end: &str| ints.iter().position(|name| name.ends_with(end));
        let real = |end: &str| reals.iter().position(|name| name.ends_with(end));
        let times = |what: &str| {
            let [start, end] = ["START", "END"].map(|side| real(&format!("_F_{what}_{side}_TIMESTAMP")));
            start.zip(end).map(|(start, end)| [start, end])
        };
        let start_of = |name: &str| {
            let start = name.strip_suffix("_END_TIMESTAMP")?;
            reals.iter().position(|n| n.strip_suffix("_START_TIMESTAMP") == Some(start))
        };
        let times_of = reals.iter().enumerate().filter(|(_, name)| is_moment(name));
        let [reads, writes] = calls.map(|places| (!places.is_empty()).then_some(0));
        Tally {
            summary: LayerSummary { layer: layer.into(), reads, writes, ..LayerSummary::default() },
            ints,
            reals,
            calls,
            bytes: [int("_BYTES_READ"), int("_BYTES_WRITTEN")],
            times: [times("READ"), times("WRITE")],
            amounts: (0..ints.len()).filter(|&i| is_amount(ints[i])).collect(),
            moments: times_of.map(|(i, name)| (i, start_of(name))).collect(),
            none_counted: processes.saturating_mul(NOT_COUNTED),
            impossible: BTreeMap::new(),
        }
    }

    /// Adds a record of a rank (below 0: of all), whose counters the functions give by their places; returns its bytes read and
    /// written.
    pub fn see(&mut self, rank: i64, int: impl Fn(usize) -> i64, real: impl Fn(usize) -> f64) -> [u64; 2] {
        let amount = |i: usize| u64::try_from(int(i)).unwrap_or(0);
        let s = &mut self.summary;
        s.records += 1;
        for (total, places) in [&mut s.reads, &mut s.writes].into_iter().zip(self.calls) {
            let sum = |total: u64| places.iter().fold(total, |sum, &i| sum.saturating_add(amount(i)));
            *total = total.map(sum);
        }
        let moved = self.bytes.map(|i| i.map_or(0, amount));
        s.bytes_read = s.bytes_read.saturating_add(moved[0]);
        s.bytes_written = s.bytes_written.saturating_add(moved[1]);
        for (start, end) in self.times.iter().flatten().filter_map(|times| span(times.map(&real))) {
            s.widen(start, end);
        }
        self.check(rank, int, real);
        moved
    }

    fn check(&mut self, rank: i64, int: impl Fn(usize) -> i64, real: impl Fn(usize) -> f64) {
        let none_counted = if rank < 0 { self.none_counted } else { NOT_COUNTED };
        let is_wrong = |x: i64| x < 0 && x != NOT_COUNTED && x != none_counted;
        let mut note = |name: &'static str, value| *self.impossible.entry((name, value)).or_default() += 1;
        for &i in self.amounts.iter().filter(|&&i| is_wrong(int(i))) {
            note(self.ints[i], "negative");
        }
        for &(i, start) in &self.moments {
            let t = real(i);
            if t < 0.0 && t != NOT_COUNTED as f64 && t != none_counted as f64 {
                note(self.reals[i], "negative");
            } else if !is_time(t) {
                note(self.reals[i], if t.is_finite() { "too large" } else { "not finite" });
            } else if t > 0.0 && start.is_some_and(|start| is_time(real(start)) && real(start) > t) {
                note(self.reals[i], "before its start");
            }
        }
    }

    /// The totals, without the calls if one of the counts is impossible, and the impossible counters of the module called so.
    pub fn finish(mut self, module: &str) -> (LayerSummary, Vec<Impossible>) {
        let spoilt = |places: &[usize]| places.iter().any(|&i| self.impossible.keys().any(|k| k.0 == self.ints[i]));
        let s = &mut self.summary;
        for (total, places) in [&mut s.reads, &mut s.writes].into_iter().zip(self.calls) {
            *total = total.filter(|_| !spoilt(places));
        }
        let of = |((counter, value), records)| Impossible { module: module.to_owned(), counter, value, records };
        (self.summary, self.impossible.into_iter().map(of).collect())
    }
}

/// False for integers that are no amounts: ranks, ids, modes, places and distances in a file.
fn is_amount(name: &str) -> bool {
    !["_RANK", "_RENAMED_FROM", "_MODE", "_STRIDE", "_OTYPE"].iter().any(|end| name.ends_with(end))
        && !["_MAX_BYTE_", "_STRIDE_D"].iter().any(|part| name.contains(part))
}

/// True for times, also of the day; a variance can be below 0 by its rounding.
fn is_moment(name: &str) -> bool {
    (name.ends_with("_TIME") || name.ends_with("_TIMESTAMP")) && !name.contains("_VARIANCE_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_be_are_counted_and_spoil_only_their_sum() {
        let ints = ["X_READS", "X_WRITES", "X_BYTES_READ", "X_BYTES_WRITTEN", "X_STRIDE1_STRIDE"];
        let reals = ["X_F_READ_START_TIMESTAMP", "X_F_READ_END_TIMESTAMP", "X_F_READ_TIME", "X_F_VARIANCE_RANK_TIME"];
        let mut t = Tally::new("x", &ints, &reals, [&[0], &[1]], 4);
        assert_eq!(t.see(-1, |_| -4, |_| -4.0), [0, 0], "not counted by four processes");
        let mut see = |i: [i64; 5], r: [f64; 4]| t.see(0, |k| i[k], |k| r[k]);
        assert_eq!(see([1, 2, 10, 20, -4], [1.0, 2.0, 0.5, -1e-9]), [10, 20]);
        assert_eq!(see([-1, -1, -1, -1, -1], [-1.0, -1.0, -1.0, -1.0]), [0, 0], "not counted");
        assert_eq!(see([-2, 3, -10, 30, 0], [3.0, 2.5, f64::NAN, 0.0]), [0, 30]);
        see([1, 1, 1, 1, 1], [5.0, 0.0, -0.5, 0.0]);
        let (s, impossible) = t.finish("X");
        assert_eq!((s.records, s.reads, s.writes), (5, None, Some(6)));
        assert_eq!((s.bytes_read, s.bytes_written, s.first_s, s.last_s), (11, 51, Some(1.0), Some(2.5)));
        let said: Vec<String> = impossible.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "X_BYTES_READ is negative in 1 record",
                "X_F_READ_END_TIMESTAMP is before its start in 1 record",
                "X_F_READ_TIME is negative in 1 record",
                "X_F_READ_TIME is not finite in 1 record",
                "X_READS is negative in 1 record"
            ]
        );
    }
}
