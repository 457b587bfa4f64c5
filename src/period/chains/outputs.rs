//! One output of a job that is seen as several bursts: header, data, index.

use super::found::expected_bytes;
use super::stats::median;
use super::{BurstPeriod, Kind, Next};
use crate::period::Burst;
use crate::period::chains::thresholds::LIMITS;

/// Bursts per period from which each period may be an output of several.
const SEVERAL: f64 = 1.5;
/// Reach, in periods, in which the pause before an output is the longest: more than half the way to the next one.
const REACH: f64 = 0.6;
/// Outputs from the last one back that an expected one may follow.
const LATEST: usize = 5;

impl BurstPeriod {
    /// Joins the bursts of one output, if each period has one: pauses before an output are longer than those inside it.
    pub(super) fn join_outputs(&mut self) {
        let several = self.bursts.len() as f64 >= SEVERAL * self.cycles as f64;
        if !several || matches!(self.kind, Kind::Inside | Kind::Modulation) {
            return;
        }
        let Some((outputs, merge_s)) = outputs(&self.bursts, self.period_s) else { return };
        (self.bursts, self.merge_distance_s) = (outputs, self.merge_distance_s.max(merge_s));
        let starts: Vec<f64> = self.bursts.iter().rev().take(LATEST).map(|b| b.start_s).collect();
        // the place of the first part: what it expects follows the start of an output
        let off = |next: &Next| {
            let before = next.start_s - next.gap_s;
            starts.iter().map(|t| (before - t).abs()).fold(f64::INFINITY, f64::min)
        };
        if let Some(first) = self.places.iter().min_by(|a, b| off(a).total_cmp(&off(b))) {
            let bytes = expected_bytes(&self.bursts.iter().map(|b| b.bytes).collect::<Vec<_>>());
            self.next = Next { bytes, ..*first };
        }
        self.places = vec![self.next];
        // a later part of an output has begun with the output
        let begun = |t: f64| self.bursts.last().filter(|b| t <= b.end_s).map_or(t, |b| b.start_s);
        self.under_way = self.under_way.map(begun);
        self.kind = Kind::Chain;
    }
}

/// Joins bursts into outputs; also gives the pause up to which two bursts are one output. `None` if pauses inside and between outputs
/// do not differ, as for light and heavy bursts in turn.
fn outputs(bursts: &[Burst], period_s: f64) -> Option<(Vec<Burst>, f64)> {
    let pause = |i: usize| bursts[i + 1].start_s - bursts[i].end_s;
    let step = |i: usize| bursts[i + 1].start_s - bursts[i].start_s;
    let before_output = |&i: &usize| {
        let near = |j: &usize| (bursts[j + 1].start_s - bursts[i + 1].start_s).abs() < REACH * period_s;
        let earlier = (0..i).rev().take_while(near);
        // the first burst of all begins an output
        bursts[i + 1].start_s - bursts[0].start_s >= REACH * period_s
            && earlier.chain((i + 1..bursts.len() - 1).take_while(near)).all(|j| pause(j) <= pause(i))
    };
    let (between, inside): (Vec<usize>, Vec<usize>) = (0..bursts.len().checked_sub(1)?).partition(before_output);
    if between.is_empty() || inside.is_empty() {
        return None;
    }
    let middle =
        |some: &[usize], of: &dyn Fn(usize) -> f64| median(&some.iter().map(|&i| of(i).max(0.0)).collect::<Vec<_>>());
    let longer = |of: &dyn Fn(usize) -> f64| (middle(&between, of) / middle(&inside, of)).ln() >= LIMITS.smallest_break;
    if !longer(&pause) || !longer(&step) {
        return None;
    }
    let merge_s = (middle(&between, &pause) * middle(&inside, &pause)).sqrt();
    let ends = between.into_iter().chain([bursts.len() - 1]);
    let mut from = 0;
    let output = |end: usize| {
        let parts = &bursts[std::mem::replace(&mut from, end + 1)..=end];
        let end_s = parts.iter().map(|b| b.end_s).fold(f64::NEG_INFINITY, f64::max);
        let output = Burst { start_s: parts[0].start_s, end_s, bytes: parts.iter().map(|b| b.bytes).sum() };
        (end_s - output.start_s < period_s).then_some(output)
    };
    Some((ends.map(output).collect::<Option<_>>()?, merge_s))
}
