//! Values that a monitoring tool reads at times, and the bytes that moved in between.
//!
//! A series is one counter or rate of one node or device: times in order, and a value for each; NaN where there is none. [`spread`] makes
//! stretches of it, each with its bytes: of a counter the differences, of a rate the rate times the step.

use serde::{Deserialize, Serialize};

use super::thresholds::LIMITS;

/// What a value says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ValueKind {
    /// Amount per second.
    #[default]
    Rate,
    /// Amount in the step.
    Bytes,
    /// Amount since the counter began.
    Cumulative,
}

/// Which step a rate or an amount belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stamp {
    /// The one before its time.
    #[default]
    End,
    /// The one after its time.
    Start,
}

/// How the values of a series become stretches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) kind: ValueKind,
    /// For rates and amounts.
    pub(crate) stamp: Stamp,
    /// The usual step in seconds: it stands in where a series is open, and a distance of more than [`LIMITS`]`.gap_steps` of them is a gap.
    pub(crate) step_s: f64,
}

/// What [`spread`] met.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Met {
    /// Times a counter fell: it was set to 0 and went on.
    pub(crate) restarts: u64,
    /// Times without value.
    pub(crate) missing: u64,
    /// Values below 0, taken as 0.
    pub(crate) clamped: u64,
    /// Distances between values that are too long to be a step, and the longest in seconds.
    pub(crate) gaps: u64,
    pub(crate) longest_gap_s: f64,
}

impl Met {
    /// Adds what another series met.
    pub(crate) fn add(&mut self, other: Met) {
        self.restarts += other.restarts;
        self.missing += other.missing;
        self.clamped += other.clamped;
        self.gaps += other.gaps;
        self.longest_gap_s = self.longest_gap_s.max(other.longest_gap_s);
    }

    fn gap(&mut self, seconds: f64) {
        self.gaps += 1;
        self.longest_gap_s = self.longest_gap_s.max(seconds);
    }
}

/// Gives the stretches of a series as start, end and amount (bytes, if the values are); those without any are left out.
///
/// `times` rise and are finite; `values` are as many, NaN (or infinite) where there is none.
///
/// A counter that falls has begun again at 0: the new value is what moved since. Its first value says nothing. The amount between two
/// values is spread over all the time between them, also over a gap. A rate or an amount belongs to one step, the distance to the
/// neighbour; where that is a gap, and at the open end, to the usual step.
pub(crate) fn spread(times: &[f64], values: &[f64], how: Spread, mut each: impl FnMut(f64, f64, f64)) -> Met {
    let mut met = Met::default();
    let longest = LIMITS.gap_steps * how.step_s;
    // the last time that had a value, and that value
    let mut last: Option<(f64, f64)> = None;
    for (i, (&time, &value)) in times.iter().zip(values).enumerate() {
        if !value.is_finite() {
            met.missing += 1;
            continue;
        }
        if let Some((before, _)) = last
            && time - before > longest
        {
            met.gap(time - before);
        }
        met.clamped += u64::from(value < 0.0);
        let value = value.max(0.0);
        if how.kind == ValueKind::Cumulative {
            if let Some((before, base)) = last {
                met.restarts += u64::from(value < base);
                let amount = if value < base { value } else { value - base };
                if amount > 0.0 {
                    each(before, time, amount);
                }
            }
        } else if value > 0.0 {
            let neighbour = match how.stamp {
                Stamp::End => i.checked_sub(1).and_then(|i| times.get(i)),
                Stamp::Start => times.get(i + 1),
            };
            let distance = neighbour.map(|t| (time - t).abs()).filter(|d| *d <= longest);
            let step = distance.unwrap_or(how.step_s);
            let amount = if how.kind == ValueKind::Rate { value * step } else { value };
            match how.stamp {
                _ if !amount.is_finite() => met.missing += 1,
                Stamp::End => each(time - step, time, amount),
                Stamp::Start => each(time, time + step, amount),
            }
        }
        last = Some((time, value));
    }
    met
}

/// The median distance of times in order, in seconds; of a long series, of 65,536 distances all over it. `None` if there is none above 0.
pub(crate) fn median_step(times: &[f64]) -> Option<f64> {
    const ENOUGH: usize = 1 << 16;
    let stride = times.len() / ENOUGH + 1;
    let mut steps: Vec<f64> =
        times.windows(2).step_by(stride).map(|w| w[1] - w[0]).filter(|d| *d > 0.0 && d.is_finite()).collect();
    let middle = steps.len() / 2;
    (!steps.is_empty()).then(|| *steps.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Orders rows by time and adds up those of equal time; says how many rows came out of order, and how many were added to others.
/// A row is a time and an entry in each of `columns`.
pub(crate) fn in_order(times: &mut Vec<f64>, columns: &mut [Vec<f64>]) -> (u64, u64) {
    let backwards = times.windows(2).filter(|w| w[1] < w[0]).count() as u64;
    if backwards > 0 {
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        for column in columns.iter_mut().chain([&mut *times]) {
            *column = order.iter().map(|&i| column.get(i).copied().unwrap_or(f64::NAN)).collect();
        }
    }
    let mut kept = 0;
    if times.windows(2).all(|w| w[0] < w[1]) {
        return (backwards, 0);
    }
    for i in 1..times.len() {
        let same = times[i] == times[kept];
        kept += usize::from(!same);
        times[kept] = times[i];
        for column in columns.iter_mut() {
            column[kept] = if same { sum(column[kept], column[i]) } else { column[i] };
        }
    }
    let merged = times.len() - kept - 1;
    for column in columns.iter_mut().chain([times]) {
        column.truncate(kept + 1);
    }
    (backwards, merged as u64)
}

/// The sum of two values, of which either may be missing.
fn sum(a: f64, b: f64) -> f64 {
    match (a.is_finite(), b.is_finite()) {
        (true, true) => a + b,
        (false, _) => b,
        (_, false) => a,
    }
}

/// True if values look like those of a counter: they rise in the end, and fall at few of their steps.
pub(crate) fn looks_cumulative(values: &[f64]) -> bool {
    let mut there = values.iter().copied().filter(|v| v.is_finite());
    let Some(first) = there.next() else { return false };
    let (mut steps, mut kept, mut last) = (0u64, 0u64, first);
    for v in there {
        steps += 1;
        kept += u64::from(v >= last);
        last = v;
    }
    last > first && kept as f64 >= LIMITS.counter_share * steps as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(kind: ValueKind, stamp: Stamp, times: &[f64], values: &[f64]) -> (Vec<(f64, f64, f64)>, Met) {
        let mut out = Vec::new();
        let step_s = median_step(times).unwrap_or(1.0);
        let met = spread(times, values, Spread { kind, stamp, step_s }, |a, b, n| out.push((a, b, n)));
        (out, met)
    }

    #[test]
    fn a_counter_gives_differences_and_takes_the_new_value_after_a_fall() {
        let (rows, met) = all(
            ValueKind::Cumulative,
            Stamp::End,
            &[0.0, 1.0, 2.0, 3.0, 4.0],
            &[1e12, 1e12 + 5.0, 1e12 + 5.0, 3.0, 10.0],
        );
        assert_eq!(rows, [(0.0, 1.0, 5.0), (2.0, 3.0, 3.0), (3.0, 4.0, 7.0)]);
        assert_eq!(met, Met { restarts: 1, ..Met::default() });
    }

    #[test]
    fn a_counter_spreads_over_what_is_missing() {
        let (rows, met) =
            all(ValueKind::Cumulative, Stamp::End, &[0.0, 1.0, 2.0, 3.0, 9.0], &[0.0, f64::NAN, 8.0, 8.0, 9.0]);
        assert_eq!(rows, [(0.0, 2.0, 8.0), (3.0, 9.0, 1.0)]);
        assert_eq!((met.missing, met.gaps, met.longest_gap_s), (1, 1, 6.0));
    }

    #[test]
    fn rates_hold_over_their_step_and_not_over_gaps() {
        let times = [10.0, 10.5, 11.5, 20.0, 21.0];
        let values = [4.0, 4.0, 0.0, 4.0, -1.0];
        let (rows, met) = all(ValueKind::Rate, Stamp::End, &times, &values);
        assert_eq!(rows, [(9.0, 10.0, 4.0), (10.0, 10.5, 2.0), (19.0, 20.0, 4.0)]);
        assert_eq!((met.gaps, met.clamped), (1, 1));
        let (rows, _) = all(ValueKind::Rate, Stamp::Start, &times, &values);
        assert_eq!(rows, [(10.0, 10.5, 2.0), (10.5, 11.5, 4.0), (20.0, 21.0, 4.0)]);
        let (rows, _) = all(ValueKind::Bytes, Stamp::End, &times, &values);
        assert_eq!(rows, [(9.0, 10.0, 4.0), (10.0, 10.5, 4.0), (19.0, 20.0, 4.0)]);
    }

    #[test]
    fn counters_are_told_from_levels() {
        assert!(looks_cumulative(&[0.0, 0.0, 5.0, f64::NAN, 5.0, 9.0]));
        assert!(!looks_cumulative(&[0.0, 5.0, 0.0, 5.0]));
        assert!(!looks_cumulative(&[3.0, 3.0]));
        assert!(!looks_cumulative(&[]));
    }

    proptest! {
        #[test]
        fn a_counter_loses_nothing(steps in prop::collection::vec((0.01f64..5.0, 0u32..1000), 1..60)) {
            let (mut times, mut values) = (vec![0.0], vec![7.0]);
            for (dt, more) in &steps {
                times.push(times.last().unwrap() + dt);
                values.push(values.last().unwrap() + f64::from(*more));
            }
            let (rows, _) = all(ValueKind::Cumulative, Stamp::End, &times, &values);
            let total: f64 = rows.iter().map(|r| r.2).sum();
            prop_assert_eq!(total, values.last().unwrap() - 7.0);
            prop_assert!(rows.windows(2).all(|w| w[0].1 <= w[1].0) && rows.iter().all(|r| r.0 < r.1));
        }

        #[test]
        fn order_and_sums_do_not_depend_on_the_input(rows in prop::collection::vec((0u8..20, 0u16..100), 0..50)) {
            let make = |rows: &[(u8, u16)]| {
                let mut times: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
                let mut columns = [rows.iter().map(|r| f64::from(r.1)).collect::<Vec<_>>()];
                let (_, merged) = in_order(&mut times, &mut columns);
                prop_assert_eq!(times.len() + merged as usize, rows.len());
                prop_assert!(times.windows(2).all(|w| w[0] < w[1]));
                Ok((times, columns))
            };
            let mut other = rows.clone();
            other.reverse();
            prop_assert_eq!(make(&rows)?, make(&other)?);
        }
    }
}
