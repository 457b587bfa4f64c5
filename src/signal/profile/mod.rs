//! The exact bandwidth over time as a piecewise constant function.
//!
//! Every [`Span`] spreads its bytes evenly over its duration; the profile is the sum of all of them: breakpoints at the
//! request edges, one rate between two neighbours, and the running integral, so that the bytes of any stretch of time
//! are exact. Where no request is active the rate is exactly zero: activity is counted in integers beside the
//! floating-point sum.
//!
//! Up to [`EXACT_SPANS`] spans the breakpoints are all request edges (O(R log R) time at worst, O(R) memory). Longer traces are
//! folded, while they are fed, into at most [`BINS`] bins of equal width (O(R) time, constant memory) which keep their
//! bytes and their *exact* first start and last end: a burst that begins in an idle bin still begins at the request's
//! own time stamp, only bursts closer to each other than a bin run together.

mod builder;
mod edges;
mod folded;

pub use builder::ProfileBuilder;

use super::Span;

/// Traces of more spans than this are folded into bins.
pub const EXACT_SPANS: usize = 1 << 21;
/// Number of bins of a folded trace.
pub const BINS: usize = 1 << 20;
/// Seconds given to a span that is shorter than a picosecond.
pub const POINT_WIDTH: f64 = 1e-6;

/// Counts of the spans that were fed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Census {
    /// Spans in the profile, points included.
    pub used: u64,
    /// Spans shorter than a picosecond, spread over [`POINT_WIDTH`].
    pub points: u64,
    /// Spans left out: no bytes, a negative length, or a value that is not finite.
    pub skipped: u64,
    /// Sum of the lengths of the spans used, seconds.
    pub span_seconds: f64,
}

/// Bandwidth over time: `rates[k]` bytes per second on `[times[k], times[k + 1])`, zero outside.
///
/// All times are seconds relative to [`Profile::origin`], the first start, which keeps microseconds apart even when the
/// stamps count from 1970.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    origin: f64,
    times: Vec<f64>,
    rates: Vec<f64>,
    /// Bytes until `times[k]`.
    cumulative: Vec<f64>,
    resolution: f64,
    census: Census,
}

impl Profile {
    /// The profile of all spans, in any order.
    pub fn from_spans(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut builder = ProfileBuilder::default();
        builder.extend(spans);
        builder.finish()
    }

    /// The same of `count` spans at most, which saves moving them about.
    pub fn from_counted(spans: impl IntoIterator<Item = Span>, count: usize) -> Self {
        let mut builder = ProfileBuilder::with_capacity(count);
        spans.into_iter().for_each(|span| builder.add(span));
        builder.finish()
    }

    /// First start on the trace's own clock, seconds; 0 for an empty profile.
    pub fn origin(&self) -> f64 {
        self.origin
    }

    /// Breakpoints, seconds since the origin, rising; empty or one more than there are rates.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Bytes per second between the breakpoints.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// Bytes until each breakpoint.
    pub fn cumulative(&self) -> &[f64] {
        &self.cumulative
    }

    /// Seconds from the first start to the last end.
    pub fn duration(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// All bytes.
    pub fn bytes(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or(0.0)
    }

    /// Width in seconds of the bins a long trace was folded into; 0 if every request edge is a breakpoint.
    pub fn resolution(&self) -> f64 {
        self.resolution
    }

    /// How many spans were used, widened and left out.
    pub fn census(&self) -> Census {
        self.census
    }

    /// Mean number of spans that follow each other: all spans over the mean number active at once. 1 for a burst that
    /// each rank writes with one request, large for a stream of back-to-back requests.
    pub fn requests_in_a_row(&self) -> f64 {
        let at_once = self.census.span_seconds / self.duration();
        if at_once > 0.0 { self.census.used as f64 / at_once } else { 0.0 }
    }

    /// No span with bytes.
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// Bytes per second at `t` seconds since the origin (right-continuous).
    pub fn value_at(&self, t: f64) -> f64 {
        let after = self.times.partition_point(|&x| x <= t);
        match after.checked_sub(1) {
            Some(k) => self.rates.get(k).copied().unwrap_or(0.0),
            None => 0.0,
        }
    }

    /// Bytes moved until `t` seconds since the origin.
    pub fn bytes_until(&self, t: f64) -> f64 {
        let after = self.times.partition_point(|&x| x <= t);
        let Some(k) = after.checked_sub(1) else {
            return 0.0;
        };
        match self.rates.get(k) {
            Some(rate) => self.cumulative[k] + rate * (t - self.times[k]),
            None => self.bytes(),
        }
    }

    /// Mean bytes per second over `[a, b)`; 0 if the stretch is empty.
    pub fn mean_rate(&self, a: f64, b: f64) -> f64 {
        if b > a { (self.bytes_until(b) - self.bytes_until(a)) / (b - a) } else { 0.0 }
    }

    /// Bytes in each of `n` equal bins over the whole run, in one pass.
    pub fn binned(&self, n: usize) -> Vec<f64> {
        self.bytes_in(0.0, self.duration() / n as f64, n)
    }

    /// Bytes in each of `n` bins of `width` seconds from `start`, seconds since the origin, in one pass. What lies before the first
    /// or after the last is in these.
    pub fn bytes_in(&self, start: f64, width: f64, n: usize) -> Vec<f64> {
        let mut bins = Vec::with_capacity(n);
        let (mut k, mut before) = (0, 0.0);
        for i in 1..=n {
            let t = if i == n { self.duration().max(start + i as f64 * width) } else { start + i as f64 * width };
            while k + 1 < self.times.len() && self.times[k + 1] <= t {
                k += 1;
            }
            let until = match self.rates.get(k) {
                Some(rate) => self.cumulative[k] + rate * (t - self.times[k]).max(0.0),
                None => self.bytes(),
            };
            bins.push(until - before);
            before = until;
        }
        bins
    }

    /// The part from `from` seconds on, which becomes its origin. What was counted of all spans is shared out by bytes.
    pub fn since(&self, from: f64) -> Self {
        let first = self.times.partition_point(|&t| t <= from).saturating_sub(1);
        let Some(rates) = self.rates.get(first..).filter(|rates| !rates.is_empty()) else {
            return Self::default();
        };
        let mut assembly = Assembly::with_capacity(rates.len());
        for (t, &rate) in self.times[first..].iter().zip(rates) {
            assembly.push((t - from).max(0.0), rate);
        }
        let share = ((self.bytes() - self.bytes_until(from)) / self.bytes()).clamp(0.0, 1.0);
        let of_part = |n: u64| (n as f64 * share).round() as u64;
        let Census { used, points, skipped, span_seconds } = self.census;
        let census =
            Census { used: of_part(used), points: of_part(points), skipped, span_seconds: span_seconds * share };
        assembly.finish(self.duration() - from, self.origin + from, self.resolution, census)
    }

    /// A copy that is zero inside the intervals (relative seconds, sorted, disjoint).
    pub fn without(&self, intervals: &[(f64, f64)]) -> Self {
        self.outside(intervals, false)
    }

    /// A copy without the time inside the intervals (relative seconds, sorted, disjoint): what follows one begins where it begins.
    pub fn closed_up(&self, intervals: &[(f64, f64)]) -> Self {
        self.outside(intervals, true)
    }

    /// The parts outside the intervals, which are left idle or closed.
    fn outside(&self, intervals: &[(f64, f64)], closed: bool) -> Self {
        if self.is_empty() {
            return self.clone();
        }
        let mut assembly = Assembly::with_capacity(self.rates.len() + 2 * intervals.len());
        let mut q = 0;
        let mut gone = 0.0;
        for (k, &rate) in self.rates.iter().enumerate() {
            let (mut t, end) = (self.times[k], self.times[k + 1]);
            while t < end {
                while q < intervals.len() && intervals[q].1 <= t {
                    q += 1;
                }
                match intervals.get(q) {
                    Some(&(a, b)) if a <= t => {
                        if closed {
                            gone += b.min(end) - t;
                        } else {
                            assembly.push(t, 0.0);
                        }
                        t = b.min(end);
                    }
                    Some(&(a, _)) if a < end => {
                        assembly.push(t - gone, rate);
                        t = a;
                    }
                    _ => {
                        assembly.push(t - gone, rate);
                        t = end;
                    }
                }
            }
        }
        assembly.finish(self.duration() - gone, self.origin, self.resolution, self.census)
    }

    /// Drops idle pieces after the last end.
    fn cut_tail(&mut self) {
        while self.rates.last() == Some(&0.0) {
            self.rates.pop();
            self.times.pop();
            self.cumulative.pop();
        }
    }
}

/// Pieces of a profile, appended in the order of time.
struct Assembly {
    times: Vec<f64>,
    rates: Vec<f64>,
    cumulative: Vec<f64>,
    bytes: f64,
}

impl Assembly {
    fn with_capacity(pieces: usize) -> Self {
        Self {
            times: Vec::with_capacity(pieces + 1),
            rates: Vec::with_capacity(pieces),
            cumulative: Vec::with_capacity(pieces + 1),
            bytes: 0.0,
        }
    }

    /// From `t` on the rate is `rate`.
    fn push(&mut self, t: f64, rate: f64) {
        if let (Some(&last), Some(level)) = (self.times.last(), self.rates.last_mut()) {
            if *level == rate {
                return;
            }
            if t <= last {
                *level = rate;
                return;
            }
            self.bytes += *level * (t - last);
        }
        self.times.push(t);
        self.rates.push(rate);
        self.cumulative.push(self.bytes);
    }

    fn finish(mut self, end: f64, origin: f64, resolution: f64, census: Census) -> Profile {
        if let (Some(&last), Some(&level)) = (self.times.last(), self.rates.last()) {
            self.bytes += level * (end - last);
            self.times.push(end);
            self.cumulative.push(self.bytes);
        }
        Profile { origin, times: self.times, rates: self.rates, cumulative: self.cumulative, resolution, census }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(start: f64, end: f64, bytes: f64) -> Span {
        Span { start, end, bytes }
    }

    #[test]
    fn overlapping_spans_add_up() {
        let profile = Profile::from_spans([span(10.0, 14.0, 8.0), span(12.0, 13.0, 5.0), span(20.0, 21.0, 3.0)]);
        assert_eq!(profile.origin(), 10.0);
        assert_eq!(profile.times(), [0.0, 2.0, 3.0, 4.0, 10.0, 11.0]);
        assert_eq!(profile.rates(), [2.0, 7.0, 2.0, 0.0, 3.0]);
        assert_eq!(profile.bytes(), 16.0);
        assert_eq!(profile.bytes_until(2.5), 7.5);
        assert_eq!(profile.mean_rate(2.0, 4.0), 4.5);
        assert_eq!(profile.value_at(-1.0), 0.0);
        assert_eq!(profile.value_at(3.0), 2.0);
        assert_eq!(profile.value_at(11.0), 0.0);
    }

    #[test]
    fn a_part_has_its_own_origin_and_keeps_its_bytes() {
        let profile = Profile::from_spans([span(10.0, 14.0, 8.0), span(12.0, 13.0, 5.0), span(20.0, 21.0, 3.0)]);
        let part = profile.since(2.5);
        assert_eq!(part.origin(), 12.5);
        assert_eq!(part.times(), [0.0, 0.5, 1.5, 7.5, 8.5]);
        assert_eq!(part.rates(), [7.0, 2.0, 0.0, 3.0]);
        assert_eq!(part.bytes(), 16.0 - 7.5);
        assert_eq!(profile.since(0.0).times(), profile.times());
        assert!(profile.since(11.0).bytes() == 0.0 && Profile::default().since(1.0).is_empty());
    }

    #[test]
    fn idle_time_is_exactly_zero_after_many_unequal_rates() {
        let spans: Vec<Span> =
            (0..1000).map(|i| span(i as f64 * 1e-3, 1.0 + i as f64 * 1e-3, 0.1 + i as f64)).collect();
        let profile = Profile::from_spans(spans.into_iter().chain([span(5.0, 6.0, 1e-3)]));
        assert_eq!(profile.value_at(3.0), 0.0);
        assert_eq!(profile.value_at(5.5), 1e-3);
    }

    #[test]
    fn unusable_spans_are_skipped_and_points_are_widened() {
        let profile = Profile::from_spans([
            span(0.0, f64::NAN, 1.0),
            span(f64::INFINITY, f64::INFINITY, 1.0),
            span(0.0, 1.0, 0.0),
            span(0.0, 1.0, -5.0),
            span(2.0, 1.0, 5.0),
            span(0.0, 1.0, f64::NAN),
            span(3.0, 3.0, 7.0),
        ]);
        assert_eq!((profile.census().used, profile.census().points, profile.census().skipped), (1, 1, 6));
        assert!((profile.bytes() - 7.0).abs() < 1e-12);
        assert!((profile.duration() - POINT_WIDTH).abs() < 1e-12);
        assert!(Profile::from_spans([]).is_empty());
        assert_eq!(Profile::from_spans([]).mean_rate(0.0, 1.0), 0.0);
    }

    #[test]
    fn spans_shorter_than_a_clock_resolves_are_points() {
        for length in [0.0, 5e-324, 1e-307, 0.9e-12] {
            let profile = Profile::from_spans([span(0.0, length, 1e15), span(length, 2.0 * length, 1e15)]);
            assert_eq!(profile.census().points, 2, "{length}");
            assert!((profile.bytes() / 2e15 - 1.0).abs() < 1e-12 && profile.duration() >= POINT_WIDTH, "{length}");
        }
        assert_eq!(Profile::from_spans([span(0.0, 1.1e-12, 1.0)]).census().points, 0);
    }

    #[test]
    fn stamps_since_1970_keep_their_microseconds() {
        let epoch = 1.7e9;
        let profile = Profile::from_spans([span(epoch, epoch, 1.0), span(epoch + 0.5, epoch + 0.500_002, 2.0)]);
        assert_eq!(profile.census().skipped, 0);
        assert!((profile.times()[2] - 0.5).abs() < 3e-7);
        assert_eq!(profile.value_at(0.25), 0.0);
    }

    #[test]
    fn erased_intervals_are_zero_and_the_rest_is_unchanged() {
        let profile = Profile::from_spans([span(0.0, 10.0, 20.0)]);
        let rest = profile.without(&[(2.0, 3.0), (9.0, 12.0)]);
        assert_eq!(rest.bytes(), 16.0);
        assert_eq!(rest.value_at(2.5), 0.0);
        assert_eq!(rest.value_at(5.0), 2.0);
        assert_eq!(rest.duration(), 10.0);
        assert_eq!(profile.without(&[(0.0, 1.0)]).times()[0], 0.0);
        let profile = Profile::from_spans([span(0.0, 10.0, 20.0), span(90.0, 94.0, 4.0)]);
        let closed = profile.closed_up(&[(0.0, 1.0), (12.0, 88.0)]);
        assert_eq!((closed.times(), closed.rates()), (&[0.0, 9.0, 13.0, 17.0][..], &[2.0, 0.0, 1.0][..]));
    }

    #[test]
    fn more_spans_than_the_limit_are_folded() {
        let mut builder = ProfileBuilder::default();
        for i in 0..EXACT_SPANS + 10 {
            let burst = (i % 40) as f64;
            builder.add(span(burst * 30.0 + (i as f64 * 0.618).fract() * 3.0, burst * 30.0 + 4.0, 1.0));
        }
        let profile = builder.finish();
        assert!(profile.resolution() > 0.0);
        assert!((profile.bytes() / (EXACT_SPANS + 10) as f64 - 1.0).abs() < 1e-9);
        assert_eq!(profile.value_at(20.0), 0.0);
        assert!(profile.value_at(33.0) > 0.0);
    }

    proptest! {
        #[test]
        fn bytes_are_conserved_in_any_order(
            spans in prop::collection::vec((0.0..1e4f64, 0.0..50.0f64, 1.0..1e9f64), 1..80),
            cut in 0.0..1e4f64,
        ) {
            let spans: Vec<Span> = spans.into_iter().map(|(s, w, b)| span(s, s + w, b)).collect();
            let total: f64 = spans.iter().map(|s| s.bytes).sum();
            let profile = Profile::from_spans(spans.clone());
            prop_assert!((profile.bytes() / total - 1.0).abs() < 1e-9);
            let reversed = Profile::from_spans(spans.iter().rev().copied());
            prop_assert_eq!(profile.times(), reversed.times());
            let (a, b) = (profile.bytes_until(cut), reversed.bytes_until(cut));
            prop_assert!((a - b).abs() <= 1e-9 * total);
            let bins = profile.binned(17);
            prop_assert!((bins.iter().sum::<f64>() / total - 1.0).abs() < 1e-9);
            prop_assert!(profile.rates().iter().all(|&r| r >= 0.0));
        }

    }
}
