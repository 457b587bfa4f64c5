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

use super::Span;

/// Traces of more spans than this are folded into bins.
pub const EXACT_SPANS: usize = 1 << 21;
/// Number of bins of a folded trace.
pub const BINS: usize = 1 << 20;
/// Seconds given to a span that has bytes but no length.
pub const POINT_WIDTH: f64 = 1e-6;
/// From this many edges on they are sorted digit by digit.
const DIGITS_FROM: usize = 1 << 12;

/// What became of the spans that were fed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Census {
    /// Spans in the profile, points included.
    pub used: u64,
    /// Spans without a length, spread over [`POINT_WIDTH`].
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

    /// The same if `count` of them are expected, which saves moving them about.
    pub fn from_counted(spans: impl IntoIterator<Item = Span>, count: u64) -> Self {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(EXACT_SPANS + 1);
        let mut builder = ProfileBuilder::default();
        builder.starts.reserve(count);
        builder.ends.reserve(count);
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
        let mut bins = Vec::with_capacity(n);
        let (mut k, mut before) = (0, 0.0);
        let width = self.duration() / n as f64;
        for i in 1..=n {
            let t = if i == n { self.duration() } else { i as f64 * width };
            while k + 1 < self.times.len() && self.times[k + 1] <= t {
                k += 1;
            }
            let until = match self.rates.get(k) {
                Some(rate) => self.cumulative[k] + rate * (t - self.times[k]),
                None => self.bytes(),
            };
            bins.push(until - before);
            before = until;
        }
        bins
    }

    /// A copy that is zero inside the intervals (relative seconds, sorted, disjoint).
    pub fn without(&self, intervals: &[(f64, f64)]) -> Self {
        if self.is_empty() {
            return self.clone();
        }
        let mut assembly = Assembly::with_capacity(self.rates.len() + 2 * intervals.len());
        let mut q = 0;
        for (k, &rate) in self.rates.iter().enumerate() {
            let (mut t, end) = (self.times[k], self.times[k + 1]);
            while t < end {
                while q < intervals.len() && intervals[q].1 <= t {
                    q += 1;
                }
                match intervals.get(q) {
                    Some(&(a, b)) if a <= t => {
                        assembly.push(t, 0.0);
                        t = b.min(end);
                    }
                    Some(&(a, _)) if a < end => {
                        assembly.push(t, rate);
                        t = a;
                    }
                    _ => {
                        assembly.push(t, rate);
                        t = end;
                    }
                }
            }
        }
        assembly.finish(self.duration(), self.origin, self.resolution, self.census)
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

/// One end of a span: there the total rate changes.
#[derive(Clone, Copy)]
struct Edge {
    time: f64,
    rate: f64,
}

/// Collects spans piece by piece, in any order, in one pass and in bounded memory.
#[derive(Default)]
pub struct ProfileBuilder {
    starts: Vec<Edge>,
    ends: Vec<Edge>,
    folded: Option<Folded>,
    census: Census,
}

impl Extend<Span> for ProfileBuilder {
    fn extend<I: IntoIterator<Item = Span>>(&mut self, spans: I) {
        let spans = spans.into_iter();
        let expected = spans.size_hint().0.min(EXACT_SPANS);
        self.starts.reserve(expected);
        self.ends.reserve(expected);
        for span in spans {
            self.add(span);
        }
    }
}

impl ProfileBuilder {
    /// Adds one span; what cannot be used is counted, see [`Census`].
    pub fn add(&mut self, span: Span) {
        let Span { start, mut end, bytes } = span;
        if end == start {
            // never less than what the clock can tell apart
            end = (start + POINT_WIDTH).max(start + 4.0 * f64::EPSILON * start.abs());
        }
        let rate = bytes / (end - start);
        let usable = start.is_finite() && end.is_finite() && bytes > 0.0 && rate > 0.0 && rate.is_finite();
        if !usable {
            self.census.skipped += 1;
            return;
        }
        self.census.used += 1;
        self.census.span_seconds += end - start;
        self.census.points += u64::from(span.end == span.start);
        if let Some(folded) = &mut self.folded {
            folded.add(start, end, rate);
            return;
        }
        self.starts.push(Edge { time: start, rate });
        self.ends.push(Edge { time: end, rate });
        if self.starts.len() > EXACT_SPANS {
            self.folded = Some(Folded::new(&self.starts, &self.ends, BINS));
            self.starts = Vec::new();
            self.ends = Vec::new();
        }
    }

    /// The profile of everything that was added.
    pub fn finish(self) -> Profile {
        match self.folded {
            Some(folded) => folded.finish(self.census),
            None => sweep(self.starts, self.ends, self.census),
        }
    }
}

/// Adds up all spans by walking over their sorted edges.
fn sweep(mut starts: Vec<Edge>, mut ends: Vec<Edge>, census: Census) -> Profile {
    rayon::join(|| sort(&mut starts), || sort(&mut ends));
    let Some(&Edge { time: origin, .. }) = starts.first() else {
        return Profile { census, ..Profile::default() };
    };
    let mut assembly = Assembly::with_capacity(starts.len() + ends.len());
    let (mut i, mut j) = (0, 0);
    let mut level = Compensated::default();
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
            level = Compensated::default();
        }
        if j < ends.len() {
            assembly.push(t - origin, level.value());
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

/// A running sum whose rounding errors are carried along (Neumaier 1974).
#[derive(Clone, Copy, Default)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    fn add(&mut self, x: f64) {
        let total = self.sum + x;
        self.error += if self.sum.abs() >= x.abs() { (self.sum - total) + x } else { (x - total) + self.sum };
        self.sum = total;
    }

    /// The sum of non-negative things is not negative.
    fn value(self) -> f64 {
        (self.sum + self.error).max(0.0)
    }
}

/// A trace folded into equal bins `[left + i width, left + (i + 1) width)`.
struct Folded {
    left: f64,
    width: f64,
    bins: Vec<Bin>,
}

#[derive(Clone, Copy)]
struct Bin {
    /// Bytes of spans that cover the bin in part.
    partial: f64,
    /// Change of the total rate of the spans that cover a whole bin, from this bin on.
    step: f64,
    first_start: f64,
    last_end: f64,
    begun: u64,
    ended: u64,
}

impl Bin {
    const EMPTY: Self =
        Self { partial: 0.0, step: 0.0, first_start: f64::INFINITY, last_end: f64::NEG_INFINITY, begun: 0, ended: 0 };
}

impl Folded {
    fn new(starts: &[Edge], ends: &[Edge], count: usize) -> Self {
        let left = starts.iter().map(|edge| edge.time).fold(f64::INFINITY, f64::min);
        let right = ends.iter().map(|edge| edge.time).fold(f64::NEG_INFINITY, f64::max);
        // a little room, so that a trace that keeps growing is not regrouped at once
        let width = ((right - left) * 1.25 / count as f64).max(f64::MIN_POSITIVE);
        let mut folded = Self { left, width, bins: vec![Bin::EMPTY; count] };
        for (start, end) in starts.iter().zip(ends) {
            folded.add(start.time, end.time, start.rate);
        }
        folded
    }

    fn edge(&self, i: usize) -> f64 {
        self.left + i as f64 * self.width
    }

    fn index(&self, t: f64) -> usize {
        let mut i = (((t - self.left) / self.width) as usize).min(self.bins.len() - 1);
        // rounding may put a time next to an edge on its wrong side
        while i > 0 && self.edge(i) > t {
            i -= 1;
        }
        while i + 1 < self.bins.len() && self.edge(i + 1) <= t {
            i += 1;
        }
        i
    }

    fn add(&mut self, start: f64, end: f64, rate: f64) {
        self.make_room(start, end);
        let (i, j) = (self.index(start), self.index(end));
        if i == j {
            self.bins[i].partial += rate * (end - start);
        } else {
            self.bins[i].partial += rate * (self.edge(i + 1) - start);
            self.bins[j].partial += rate * (end - self.edge(j));
            self.bins[i + 1].step += rate;
            self.bins[j].step -= rate;
        }
        let bin = &mut self.bins[i];
        bin.first_start = bin.first_start.min(start);
        bin.begun += 1;
        let bin = &mut self.bins[j];
        bin.last_end = bin.last_end.max(end);
        bin.ended += 1;
    }

    /// Makes bins wider until the span fits; the bins in use stay aligned with the new ones.
    fn make_room(&mut self, start: f64, end: f64) {
        let count = self.bins.len() as f64;
        while start < self.left || end >= self.left + count * self.width {
            let low = ((self.left - start) / self.width).ceil().max(0.0);
            let high = ((end - self.left) / self.width).ceil().max(count) + 1.0;
            // one wide bin is spare: the padding is rounded up to whole ones
            let shift = ((low + high) / (count - 1.0)).log2().ceil().clamp(1.0, 1000.0);
            let group = shift.exp2();
            // a trace that grows to the left may grow on: half of the spare bins go there, in whole new bins
            let spare = if low > 0.0 { count * group - low - high } else { 0.0 };
            let pad = (low / group).ceil() * group + (0.5 * spare / group).floor() * group;
            self.regroup(pad, group);
        }
    }

    /// Joins `group` bins (a power of two) into one, after adding `pad` empty ones on the left.
    fn regroup(&mut self, pad: f64, group: f64) {
        let mut wide = vec![Bin::EMPTY; self.bins.len()];
        let last = wide.len() - 1;
        for (i, bin) in self.bins.iter().enumerate() {
            let place = i as f64 + pad;
            let target = ((place / group) as usize).min(last);
            let inside = place - target as f64 * group;
            let new = &mut wide[target];
            new.partial += bin.partial;
            new.first_start = new.first_start.min(bin.first_start);
            new.last_end = new.last_end.max(bin.last_end);
            new.begun += bin.begun;
            new.ended += bin.ended;
            if inside == 0.0 {
                new.step += bin.step;
            } else {
                // whole fine bins from here on: the rest of this wide bin in part, the next ones whole
                new.partial += bin.step * self.width * (group - inside);
                if target < last {
                    wide[target + 1].step += bin.step;
                }
            }
        }
        self.left -= pad * self.width;
        self.width *= group;
        self.bins = wide;
    }

    fn finish(self, census: Census) -> Profile {
        let origin = self.bins.iter().map(|bin| bin.first_start).fold(f64::INFINITY, f64::min);
        let end = self.bins.iter().map(|bin| bin.last_end).fold(f64::NEG_INFINITY, f64::max);
        let mut assembly = Assembly::with_capacity(1 << 12);
        let mut active = 0u64;
        let mut level = Compensated::default();
        for (i, bin) in self.bins.iter().enumerate() {
            // nobody covers the bin from its start: what is left of the level is rounding
            if active == 0 {
                level = Compensated::default();
            } else {
                level.add(bin.step);
            }
            let left_open = (active + bin.begun).saturating_sub(bin.ended);
            let (lo, hi) = (self.edge(i), self.edge(i + 1));
            let bytes = (bin.partial + level.value() * self.width).max(0.0);
            let from = if active == 0 { bin.first_start } else { lo };
            let to = if left_open == 0 { bin.last_end } else { hi };
            if active == 0 && (bin.begun == 0) {
                if lo > origin {
                    assembly.push(lo - origin, 0.0);
                }
            } else if active > 0 && bin.ended == active && bin.last_end < bin.first_start && bin.begun > 0 {
                // one burst ends and the next begins inside the bin
                let rate = bytes / ((bin.last_end - lo) + (hi - bin.first_start)).max(f64::MIN_POSITIVE);
                if bin.last_end > lo {
                    assembly.push(lo - origin, rate);
                }
                assembly.push(bin.last_end - origin, 0.0);
                assembly.push(bin.first_start - origin, rate);
            } else {
                if from > lo && lo > origin {
                    assembly.push(lo - origin, 0.0);
                }
                if to > from {
                    assembly.push(from - origin, bytes / (to - from));
                }
                if to < hi {
                    assembly.push(to - origin, 0.0);
                }
            }
            active = left_open;
        }
        let mut profile = assembly.finish(end - origin, origin, self.width, census);
        profile.cut_tail();
        profile
    }
}

impl Profile {
    /// Drops idle pieces after the last end.
    fn cut_tail(&mut self) {
        while self.rates.last() == Some(&0.0) {
            self.rates.pop();
            self.times.pop();
            self.cumulative.pop();
        }
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
    }

    /// Folds a few spans as if they were too many.
    fn folded(spans: &[Span]) -> Profile {
        let edge = |time, s: &Span| Edge { time, rate: s.bytes / (s.end - s.start) };
        let first: Vec<&Span> = spans.iter().take(2).collect();
        let starts: Vec<Edge> = first.iter().map(|s| edge(s.start, s)).collect();
        let ends: Vec<Edge> = first.iter().map(|s| edge(s.end, s)).collect();
        let mut folded = Folded::new(&starts, &ends, 1 << 12);
        for s in &spans[2..] {
            folded.add(s.start, s.end, s.bytes / (s.end - s.start));
        }
        folded.finish(Census::default())
    }

    #[test]
    fn folding_keeps_bytes_onsets_and_idle_time_when_the_trace_grows_both_ways() {
        let train: Vec<Span> =
            (0..100).map(|i| span(50.0 + i as f64 * 7.123_456, 51.5 + i as f64 * 7.123_456, 10.0)).collect();
        let mut shuffled = vec![train[40], train[41]];
        shuffled.extend(train.iter().rev());
        let exact = Profile::from_spans(shuffled.clone());
        let coarse = folded(&shuffled);
        assert!(coarse.resolution() > 0.0);
        assert_eq!(coarse.origin(), exact.origin());
        assert!((coarse.bytes() / exact.bytes() - 1.0).abs() < 1e-9);
        let onsets = |p: &Profile| -> Vec<f64> {
            (0..p.rates().len())
                .filter(|&k| p.rates()[k] > 0.0 && (k == 0 || p.rates()[k - 1] == 0.0))
                .map(|k| p.times()[k])
                .collect()
        };
        assert_eq!(onsets(&coarse), onsets(&exact));
        assert!((coarse.duration() - exact.duration()).abs() < 1e-9);
        for t in [1.0, 3.3, 200.7, 700.0] {
            assert!((coarse.bytes_until(t) - exact.bytes_until(t)).abs() < 1e-6 * exact.bytes());
        }
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

        #[test]
        fn sorting_by_digits_sorts(times in prop::collection::vec(prop_oneof![0.0..1e3f64, 5.0..5.001f64, Just(7.0)], 1..300)) {
            // repeated until they are many enough to be dealt
            let mut edges: Vec<Edge> = times.iter().cycle().take(DIGITS_FROM + 5).enumerate()
                .map(|(i, &time)| Edge { time, rate: (i % 7) as f64 }).collect();
            let mut expected = edges.clone();
            expected.sort_by(in_order);
            sort(&mut edges);
            prop_assert!(edges.iter().zip(&expected).all(|(a, b)| in_order(a, b).is_eq()));
        }

        #[test]
        fn folding_conserves_bytes(spans in prop::collection::vec((-1e3..1e4f64, 1e-3..50.0f64, 1.0..1e6f64), 2..40)) {
            let spans: Vec<Span> = spans.into_iter().map(|(s, w, b)| span(s, s + w, b)).collect();
            let exact = Profile::from_spans(spans.clone());
            let coarse = folded(&spans);
            prop_assert!((coarse.bytes() / exact.bytes() - 1.0).abs() < 1e-6);
            prop_assert_eq!(coarse.origin(), exact.origin());
            prop_assert!((coarse.duration() - exact.duration()).abs() < 1e-9 * exact.duration());
        }
    }
}
