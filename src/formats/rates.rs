//! Values that a monitoring tool reads at times, and the bytes that moved in between.
//!
//! A series is one counter or rate of one node or device: times in order, and a value for each; NaN where there is none. [`spread`] makes
//! stretches of it, each with its bytes: of a counter the differences, of a rate the rate times the step.

use serde::{Deserialize, Serialize};

use super::thresholds::LIMITS;
use crate::record::Warning;
use crate::transform::upper_median;
use crate::units::{counted, seconds};

/// Meaning of a value.
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

/// Irregularities that [`spread`] met.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Met {
    /// Times a counter fell and went on from there.
    pub(crate) restarts: u64,
    /// Seconds of the steps in which counters fell.
    pub(crate) lost_s: f64,
    /// Times a counter went on beyond the most that it can hold.
    pub(crate) wraps: u64,
    /// Readings of counters that are not on the line of those before and after them.
    pub(crate) glitches: u64,
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
        self.lost_s += other.lost_s;
        self.wraps += other.wraps;
        self.glitches += other.glitches;
        self.missing += other.missing;
        self.clamped += other.clamped;
        self.gaps += other.gaps;
        self.longest_gap_s = self.longest_gap_s.max(other.longest_gap_s);
    }

    fn gap(&mut self, seconds: f64) {
        self.gaps += 1;
        self.longest_gap_s = self.longest_gap_s.max(seconds);
    }

    /// Warnings about counters that fell.
    pub(crate) fn falls(&self) -> impl Iterator<Item = Warning> {
        let times = |n: u64| counted(n, "time");
        let restarts = (self.restarts > 0).then(|| {
            let lost = seconds(self.lost_s);
            let what = "fell and counted on from there: its bytes in these steps are known only in part";
            Warning::new("counter-restarts", format!("{} a counter {what}, {lost} in all", times(self.restarts)))
        });
        let wraps = (self.wraps > 0).then(|| {
            let what = "passed its largest value and went on from 0: its bytes are known";
            Warning::new("counter-wraps", format!("{} a counter {what}", times(self.wraps)))
        });
        let glitches = (self.glitches > 0).then(|| {
            let what = "of a counter left out, which do not fit those before and after";
            Warning::new("counter-glitches", format!("{} {what}", counted(self.glitches, "reading")))
        });
        [restarts, wraps, glitches].into_iter().flatten()
    }
}

/// The most that counters of 32 bits (of bytes, sectors and KiB) and of 64 bits hold, and one.
const WRAPS: [f64; 4] =
    [4_294_967_296.0, 4_294_967_296.0 * 512.0, 4_294_967_296.0 * 1024.0, 18_446_744_073_709_551_616.0];
/// A step across the most that a counter holds is at most this share of 2^32, if nothing shows how long its steps are.
const FIRST_WRAP: f64 = 1.0 / 64.0;
/// A step is at most so many times as long as the longest before.
const LONGER: f64 = 2.0;

/// No device or client moves more bytes a second than the first, no file system more than the second; a counter that rises faster after a
/// reading of 0, or after another one, was not read right before.
const MOST_RATE: [f64; 2] = [1e11, 1e12];
/// Unless the next step is this share of that rise.
const SAME_SCALE: f64 = 0.01;

/// A counter as its readings come. One that falls, or rises more than ever before, is judged by the next reading: back on the old line, it was
/// a glitch or missing. Of those that fall, one near the most that it holds went over; else it began again, or was set back. What could be
/// a whole counter is never taken for what moved in a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counter {
    /// Time and value of the last reading that counts.
    base: Option<(f64, f64)>,
    /// A reading after it that waits for the next.
    held: Option<(f64, f64)>,
    /// The value before the last fall that was taken for a restart.
    left: Option<f64>,
    /// The most that moved in a step.
    most: f64,
}

impl Counter {
    /// Takes the next reading, of a value that is there and not below 0.
    pub(crate) fn take(&mut self, now: (f64, f64), step_s: f64, met: &mut Met, each: &mut impl FnMut(f64, f64, f64)) {
        if let Some(held) = self.held.take() {
            self.judge(held, now.1, step_s, met, each);
        }
        let Some(base) = self.base else {
            self.base = Some(now);
            return;
        };
        if now.1 < base.1 || now.1 - base.1 > self.longest_step(now.0 - base.0, step_s) {
            self.held = Some(now);
        } else {
            self.rise(base, now, step_s, met, each);
        }
    }

    /// After the last reading, which nothing follows.
    pub(crate) fn finish(&mut self, step_s: f64, met: &mut Met, each: &mut impl FnMut(f64, f64, f64)) {
        if let Some(held) = self.held.take() {
            self.judge(held, held.1, step_s, met, each);
        }
    }

    fn rise(
        &mut self,
        base: (f64, f64),
        now: (f64, f64),
        step_s: f64,
        met: &mut Met,
        each: &mut impl FnMut(f64, f64, f64),
    ) {
        let mut amount = now.1 - base.1;
        if let Some(left) = self.left.filter(|l| now.1 >= *l) {
            self.left = None;
            if amount > self.longest_step(now.0 - base.0, step_s) {
                // back on the line that it had left for several readings
                (met.glitches, met.restarts) = (met.glitches + 1, met.restarts.saturating_sub(1));
                amount = now.1 - left;
            }
        }
        self.step(base.0, now, amount, each);
    }

    fn step(&mut self, from: f64, to: (f64, f64), amount: f64, each: &mut impl FnMut(f64, f64, f64)) {
        self.most = self.most.max(amount);
        self.base = Some(to);
        if amount > 0.0 {
            each(from, to.0, amount);
        }
    }

    /// The most that can have moved in so many seconds, by the steps so far.
    fn longest_step(&self, seconds: f64, step_s: f64) -> f64 {
        LONGER * self.most * (seconds / step_s).max(1.0)
    }

    fn judge(&mut self, held: (f64, f64), next: f64, step_s: f64, met: &mut Met, each: &mut impl FnMut(f64, f64, f64)) {
        let Some(base) = self.base else { return };
        let is_low = held.1 < base.1;
        if next >= base.1 && (is_low || next < held.1) {
            met.glitches += 1;
            return;
        }
        if !is_low {
            if self.left.is_none() && too_fast(base, held) && next - held.1 < SAME_SCALE * (held.1 - base.1) {
                met.glitches += 1;
                self.base = Some(held);
                return;
            }
            return self.rise(base, held, step_s, met, each);
        }
        self.most = self.most.max(next - held.1);
        let seconds = held.0 - base.0;
        let longest = self.longest_step(seconds, step_s);
        let over = WRAPS.iter().filter(|limit| base.1 < **limit).map(|limit| (limit - base.1 + held.1, limit));
        let over = over.into_iter().find(|(over, limit)| *over <= longest.max(FIRST_WRAP * limit.min(WRAPS[0])));
        if let Some((amount, _)) = over {
            met.wraps += 1;
            return self.step(base.0, held, amount, each);
        }
        met.restarts += 1;
        met.lost_s += seconds;
        self.left = Some(self.left.map_or(base.1, |l| l.max(base.1)));
        let since = if held.1 <= longest { held.1 } else { 0.0 };
        self.step(base.0, held, since, each);
    }
}

/// True if nothing moves as fast as from one of these readings to the other.
fn too_fast(from: (f64, f64), to: (f64, f64)) -> bool {
    to.1 - from.1 > MOST_RATE[usize::from(from.1 > 0.0)] * (to.0 - from.0)
}

/// Gives the stretches of a series as start, end and amount (bytes, if the values are); those without any are left out.
///
/// `times` rise and are finite; `values` are as many, NaN (or infinite) where there is none.
///
/// The difference between two values of a [`Counter`] is spread over all the time between them, also over a gap; its first value says
/// nothing. A rate or an amount belongs to one step, the distance to the neighbour; where that is a gap, and at the open end, to the usual
/// step.
pub(crate) fn spread(times: &[f64], values: &[f64], how: Spread, mut each: impl FnMut(f64, f64, f64)) -> Met {
    let mut met = Met::default();
    let longest = LIMITS.gap_steps * how.step_s;
    let mut counter = Counter::default();
    let mut last: Option<f64> = None;
    for (i, (&time, &value)) in times.iter().zip(values).enumerate() {
        if !value.is_finite() {
            met.missing += 1;
            continue;
        }
        if let Some(before) = last
            && time - before > longest
        {
            met.gap(time - before);
        }
        met.clamped += u64::from(value < 0.0);
        let value = value.max(0.0);
        if how.kind == ValueKind::Cumulative {
            counter.take((time, value), how.step_s, &mut met, &mut each);
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
        last = Some(time);
    }
    counter.finish(how.step_s, &mut met, &mut each);
    met
}

/// The median distance of times in order, in seconds; of a long series, of 65,536 distances all over it. `None` if there is none above 0.
pub(crate) fn median_step(times: &[f64]) -> Option<f64> {
    const ENOUGH: usize = 1 << 16;
    let stride = times.len() / ENOUGH + 1;
    let mut steps: Vec<f64> =
        times.windows(2).step_by(stride).map(|w| w[1] - w[0]).filter(|d| *d > 0.0 && d.is_finite()).collect();
    upper_median(&mut steps)
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
pub(crate) fn sum(a: f64, b: f64) -> f64 {
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

    /// The stretches of a counter that was read every second, and the irregularities met.
    fn counted_of(values: &[f64]) -> (Vec<(f64, f64, f64)>, Met) {
        let times: Vec<f64> = (0..values.len()).map(|i| i as f64).collect();
        all(ValueKind::Cumulative, Stamp::End, &times, values)
    }

    #[test]
    fn a_counter_that_begins_again_goes_on_from_there() {
        let (rows, met) = counted_of(&[1e12, 1e12 + 5.0, 1e12 + 5.0, 3.0, 10.0]);
        assert_eq!(rows, [(0.0, 1.0, 5.0), (2.0, 3.0, 3.0), (3.0, 4.0, 7.0)]);
        assert_eq!((met.restarts, met.lost_s, met.wraps, met.glitches), (1, 1.0, 0, 0));
        // it does not begin near 0: what it has may be of other days
        let (rows, met) = counted_of(&[9e12, 9e12 + 5.0, 4e12, 4e12 + 5.0]);
        assert_eq!(rows, [(0.0, 1.0, 5.0), (2.0, 3.0, 5.0)]);
        assert_eq!(met.restarts, 1);
    }

    #[test]
    fn a_counter_that_falls_and_is_back_adds_nothing() {
        for low in [9e12 - 4096.0, 0.0] {
            let (rows, met) = counted_of(&[9e12, 9e12 + 5.0, low, 9e12 + 8.0, 9e12 + 9.0]);
            assert_eq!(rows, [(0.0, 1.0, 5.0), (1.0, 3.0, 3.0), (3.0, 4.0, 1.0)]);
            assert_eq!((met.glitches, met.restarts), (1, 0));
        }
        // above it
        let (rows, met) = counted_of(&[9e12, 9e12 + 5.0, 9e15, 9e12 + 8.0, 9e12 + 9.0]);
        assert_eq!(rows, [(0.0, 1.0, 5.0), (1.0, 3.0, 3.0), (3.0, 4.0, 1.0)]);
        assert_eq!((met.glitches, met.restarts), (1, 0));
        // at the begin
        let (rows, met) = counted_of(&[0.0, 9e12, 9e12 + 5.0, 9e12 + 8.0]);
        assert_eq!(rows, [(1.0, 2.0, 5.0), (2.0, 3.0, 3.0)]);
        assert_eq!((met.glitches, met.restarts), (1, 0));
        // for several readings
        let (rows, met) = counted_of(&[9e12, 9e12 + 5.0, 0.0, 0.0, 9e12 + 8.0, 9e12 + 9.0]);
        assert_eq!(rows, [(0.0, 1.0, 5.0), (3.0, 4.0, 3.0), (4.0, 5.0, 1.0)]);
        assert_eq!((met.glitches, met.restarts), (1, 0));
        // and at the end
        let (rows, met) = counted_of(&[9e12, 9e12 + 5.0, 9e12 + 9.0, 9e12]);
        assert_eq!((rows.len(), met.restarts), (2, 1));
    }

    #[test]
    fn a_counter_goes_over_the_most_that_it_holds() {
        let most = 4_294_967_296.0;
        for (scale, step) in [(1.0, 1e8), (512.0, 1e8), (1.0, 2e9)] {
            let at = |x: f64| (most - 1.5 * step + x * step).rem_euclid(most) * scale;
            let (rows, met) = counted_of(&[at(0.0), at(1.0), at(2.0), at(3.0)]);
            assert_eq!(rows.iter().map(|r| r.2).collect::<Vec<_>>(), [step * scale; 3]);
            assert_eq!((met.wraps, met.restarts), (1, 0));
        }
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
        fn no_reading_adds_a_whole_counter(at in 1usize..36, readings in 1usize..4, share in 0.0f64..1.0) {
            // 5 each eighth step, from 9 TB on, and some readings of anything below
            let mut values: Vec<f64> = (0..40).map(|i| 9e12 + f64::from(i / 8) * 5.0).collect();
            values[at..at + readings].iter_mut().for_each(|v| *v = (*v * share).floor());
            let (rows, _) = counted_of(&values);
            let total: f64 = rows.iter().map(|r| r.2).sum();
            prop_assert!(total <= 40.0, "{}", total);
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
