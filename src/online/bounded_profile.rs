//! The bandwidth of a window in bounded memory.
//!
//! Up to [`FULL`] transfers are kept as they are. Then they are summed to a step curve, and neighbouring steps are joined until
//! [`LEAN`] are left: first those inside a burst, and first those whose union moves the fewest bytes in time. Edges of bursts
//! keep their exact times, and bytes are conserved. Where joining would blur an edge, the oldest steps are dropped instead, and
//! the window begins later.

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use super::burst_threshold::idle_times;
use crate::signal::Span;
use crate::signal::profile::Profile;

/// Spans that are kept before they are joined.
const FULL: usize = 2048;
/// Steps that are left then.
const LEAN: usize = 384;
/// Joining begins with unions that move this much less, and goes on with four times as much a pass.
const PASSES: i32 = 14;

/// See the module.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct BoundedProfile {
    spans: Vec<Span>,
    /// Start of the window; transfers before it are ignored.
    from: Option<f64>,
    start: Option<f64>,
    end: Option<f64>,
    /// Spans before a step of the clock that is not certain yet.
    mark: Option<usize>,
}

impl BoundedProfile {
    /// From here on the clock may have been set back.
    pub(super) fn mark(&mut self) {
        self.mark = Some(self.spans.len());
    }

    /// Drops what came before the mark, as far as that can be told.
    pub(super) fn keep_marked(&mut self) {
        let before = self.mark.take().unwrap_or(self.spans.len());
        self.spans.drain(..before.min(self.spans.len()));
        self.from = None;
        self.measure();
    }

    /// Adds a transfer, unless it is unusable or lies before the window.
    pub(super) fn add(&mut self, span: Span) {
        let Some(span) = self.from.map_or(Some(span), |from| after(span, from)) else { return };
        if !(span.start.is_finite() && span.end >= span.start && span.end.is_finite() && span.bytes > 0.0) {
            return;
        }
        self.start = Some(self.start.map_or(span.start, |t| t.min(span.start)));
        self.end = Some(self.end.map_or(span.end, |t| t.max(span.end)));
        self.spans.push(span);
        if self.spans.len() >= FULL {
            self.join();
        }
    }

    /// First start and last end.
    pub(super) fn extent(&self) -> Option<(f64, f64)> {
        self.start.zip(self.end)
    }

    /// Bytes in the window.
    pub(super) fn bytes(&self) -> f64 {
        self.spans.iter().map(|s| s.bytes).sum()
    }

    /// The step curve, of [`LEAN`] steps or few more.
    pub(super) fn profile(&mut self) -> Profile {
        if self.spans.len() > LEAN {
            self.join();
        }
        Profile::from_spans(self.spans.iter().copied())
    }

    /// Drops the data before `from`.
    pub(super) fn cut_before(&mut self, from: f64) {
        if !from.is_finite() || self.from.is_some_and(|f| f >= from) {
            return;
        }
        self.from = Some(from);
        self.mark = None;
        self.spans = self.spans.iter().filter_map(|&s| after(s, from)).collect();
        self.measure();
    }

    /// Drops the oldest transfers until at most `most` bytes are left.
    pub(super) fn keep_bytes(&mut self, most: f64) {
        if self.bytes() <= most {
            return;
        }
        let profile = self.profile();
        let surplus = profile.bytes() - most;
        let cumulative = profile.cumulative();
        let k = cumulative.partition_point(|&b| b <= surplus).clamp(1, cumulative.len().max(1)) - 1;
        if let Some((t, rate)) = profile.times().get(k).zip(profile.rates().get(k)) {
            let into = if *rate > 0.0 { (surplus - cumulative[k]) / rate } else { 0.0 };
            self.cut_before(profile.origin() + t + into);
        }
    }

    fn measure(&mut self) {
        self.start = self.spans.iter().map(|s| s.start).reduce(f64::min);
        self.end = self.spans.iter().map(|s| s.end).reduce(f64::max);
    }

    /// Adds the spans up to steps and joins those.
    fn join(&mut self) {
        let profile = Profile::from_spans(self.spans.iter().copied());
        let mut steps: Vec<Step> = profile
            .times()
            .windows(2)
            .zip(profile.rates())
            .map(|(t, &rate)| Step { start: t[0], length: t[1] - t[0], bytes: rate * (t[1] - t[0]) })
            .collect();
        let (typical, longest) = idle_times(&profile);
        let (inside, far_inside) = (LIMITS.inside * typical, LIMITS.far_inside * longest);
        let all = profile.bytes();
        for (bytes, length, idle) in
            [(all, inside, true), (LIMITS.blur * all, f64::INFINITY, false), (all, far_inside, true)]
        {
            for pass in (0..PASSES).rev() {
                if steps.len() > LEAN {
                    join_below(&mut steps, bytes * 4f64.powi(-pass), length, idle);
                }
            }
        }
        if steps.len() > LEAN {
            steps.drain(..steps.len() - LEAN);
            self.from = steps.first().map(|s| s.start + profile.origin()).or(self.from);
        }
        self.mark = None;
        let origin = profile.origin();
        let span = |s: &Step| Span { start: origin + s.start, end: origin + s.start + s.length, bytes: s.bytes };
        self.spans.clear();
        self.spans.extend(steps.iter().filter(|s| s.bytes > 0.0).map(span));
        self.measure();
    }
}

/// The part of a span at or after `from`.
fn after(span: Span, from: f64) -> Option<Span> {
    if span.start >= from {
        return Some(span);
    }
    (span.end > from).then(|| {
        let share = (span.end - from) / (span.end - span.start);
        Span { start: from, end: span.end, bytes: span.bytes * share }
    })
}

/// A stretch of constant rate.
#[derive(Debug, Clone, Copy)]
struct Step {
    start: f64,
    length: f64,
    bytes: f64,
}

impl Step {
    /// Bytes that move from one step to the other when they become one.
    fn moved(&self, next: &Step) -> f64 {
        let rate = (self.bytes + next.bytes) / (self.length + next.length);
        (self.bytes - rate * self.length).abs()
    }
}

/// Joins neighbours whose union is at most `length` seconds long and moves at most `most` bytes, in one pass; an idle step only
/// if `idle` says so.
fn join_below(steps: &mut Vec<Step>, most: f64, length: f64, idle: bool) {
    let mut kept = 0;
    for i in 1..steps.len() {
        let next = steps[i];
        let union = next.start + next.length - steps[kept].start;
        let may = idle || (steps[kept].bytes > 0.0 && next.bytes > 0.0);
        if may && union <= length && steps[kept].moved(&next) <= most {
            let step = &mut steps[kept];
            step.length = union;
            step.bytes += next.bytes;
        } else {
            kept += 1;
            steps[kept] = next;
        }
    }
    steps.truncate(kept + 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(start: f64, end: f64, bytes: f64) -> Span {
        Span { start, end, bytes }
    }

    #[test]
    fn bursts_keep_their_edges_and_bytes() {
        let mut p = BoundedProfile::default();
        for burst in 0..50 {
            for i in 0..400 {
                let t = f64::from(burst) * 7.3 + f64::from(i) * 5e-3;
                p.add(span(t, t + 4e-3 + 1e-3 * f64::from(i % 3), 1e6));
            }
        }
        let profile = p.profile();
        assert!(p.spans.len() <= LEAN, "{}", p.spans.len());
        assert!((profile.bytes() / (50.0 * 400.0 * 1e6) - 1.0).abs() < 1e-9);
        for burst in 0..50 {
            let t = f64::from(burst) * 7.3;
            assert_eq!(profile.value_at(t - 1e-9), 0.0, "{burst}");
            assert!(profile.value_at(t + 1e-9) > 1e8, "{burst}");
        }
    }

    #[test]
    fn gaps_inside_a_burst_are_joined_before_bursts() {
        let mut p = BoundedProfile::default();
        for burst in 0..60 {
            for i in 0..128 {
                let t = f64::from(burst) * 2.0 + f64::from(i) * 3.4e-3;
                p.add(span(t, t + 1e-3, 65_536.0));
            }
        }
        let profile = p.profile();
        assert!(p.spans.len() <= LEAN);
        // one onset may have gone before the first idle time was seen
        assert!(p.extent().unwrap().0 <= 2.0, "{:?}", p.extent());
        for burst in 1..60 {
            let t = f64::from(burst) * 2.0 - profile.origin();
            assert!(profile.value_at(t - 1e-9) == 0.0 && profile.value_at(t + 1e-9) > 1e6, "{burst}");
        }
    }

    #[test]
    fn the_burst_before_a_single_pause_is_kept() {
        let mut p = BoundedProfile::default();
        for burst in 0..2 {
            for i in 0..5000 {
                let t = 30.0 * f64::from(burst) + 1e-3 * f64::from(i);
                p.add(span(t, t + 9e-4, 1_048_576.0));
                // frequent reads must not drop data either
                if burst == 1 && i % 500 == 0 {
                    p.profile();
                }
            }
        }
        let (start, end) = p.extent().unwrap();
        assert!(start < 5.0 && end > 34.9, "{start} {end}");
    }

    #[test]
    fn the_oldest_data_are_dropped_first() {
        let mut p = BoundedProfile::default();
        for i in 0..100_000 {
            p.add(span(f64::from(i), f64::from(i) + 0.25, 1e6 + f64::from(i % 7)));
        }
        let profile = p.profile();
        let (start, end) = p.extent().unwrap();
        assert_eq!(end, 99_999.25);
        assert!(p.spans.len() <= LEAN && start > 99_000.0 && start < 99_900.0, "{start}");
        // still bursts of a quarter of a second, one a second
        assert_eq!(profile.value_at(end - 0.5 - profile.origin()), 0.0);
        assert!((profile.value_at(end - 0.1 - profile.origin()) / 4e6 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_cut_splits_a_transfer() {
        let mut p = BoundedProfile::default();
        p.add(span(0.0, 10.0, 100.0));
        p.cut_before(4.0);
        assert_eq!((p.extent(), p.bytes()), (Some((4.0, 10.0)), 60.0));
        p.add(span(1.0, 3.0, 7.0));
        assert_eq!(p.bytes(), 60.0);
        p.keep_bytes(15.0);
        assert!((p.bytes() - 15.0).abs() < 1e-9 && (p.extent().unwrap().0 - 8.5).abs() < 1e-9);
        p.cut_before(11.0);
        assert_eq!(p.extent(), None);
        assert!(p.profile().is_empty());
    }

    proptest! {
        #[test]
        fn bytes_are_conserved(lengths in prop::collection::vec((0.0..3.0f64, 0.0..2.0f64, 0.0..1e6f64), 1..600)) {
            let mut p = BoundedProfile::default();
            let mut t = 1.7e9;
            let mut total = 0.0;
            for (gap, length, bytes) in lengths {
                t += gap;
                p.add(span(t, t + length, bytes));
                total += bytes;
            }
            let before = p.bytes();
            prop_assert!((before - total).abs() <= 1e-9 * total);
            p.join();
            prop_assert!(p.from.is_some() || (p.bytes() - total).abs() <= 1e-6 * total);
        }
    }
}
