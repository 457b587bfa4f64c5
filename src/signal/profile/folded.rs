//! A long trace in bins of equal width.

use super::edges::Edge;
use super::{Assembly, Census, Profile};
use crate::signal::Sum;

/// A trace folded into equal bins `[left + i width, left + (i + 1) width)`.
pub(super) struct Folded {
    left: f64,
    width: f64,
    bins: Vec<Bin>,
    /// Bins of the latest start and of the latest end: the next ones are often there, too.
    latest: [Place; 2],
}

/// A bin and its edges.
#[derive(Clone, Copy)]
struct Place {
    bin: usize,
    edges: (f64, f64),
}

impl Place {
    const NOWHERE: Place = Place { bin: 0, edges: (f64::INFINITY, f64::NEG_INFINITY) };

    fn holds(&self, t: f64) -> bool {
        self.edges.0 <= t && t < self.edges.1
    }
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
    pub(super) fn new(starts: &[Edge], ends: &[Edge], count: usize) -> Self {
        let left = starts.iter().map(|edge| edge.time).fold(f64::INFINITY, f64::min);
        let right = ends.iter().map(|edge| edge.time).fold(f64::NEG_INFINITY, f64::max);
        // a little room, so that a trace that keeps growing is not regrouped at once
        let width = ((right - left) * 1.25 / count as f64).max(f64::MIN_POSITIVE);
        let mut folded = Self { left, width, bins: vec![Bin::EMPTY; count], latest: [Place::NOWHERE; 2] };
        for (start, end) in starts.iter().zip(ends) {
            folded.add(start.time, end.time, start.rate);
        }
        folded
    }

    fn edge(&self, i: usize) -> f64 {
        self.left + i as f64 * self.width
    }

    fn place(&self, t: f64) -> Place {
        let bin = self.index(t);
        Place { bin, edges: (self.edge(bin), self.edge(bin + 1)) }
    }

    fn index(&self, t: f64) -> usize {
        let i = (((t - self.left) / self.width) as usize).min(self.bins.len() - 1);
        if self.edge(i) <= t && t < self.edge(i + 1) { i } else { self.corrected(i, t) }
    }

    /// The bin of a time that rounding has put next to an edge on its wrong side. Hardly ever needed: compiled into
    /// [`Self::index`], its loops are unrolled and cost more than all the rest.
    #[cold]
    #[inline(never)]
    fn corrected(&self, mut i: usize, t: f64) -> usize {
        while i > 0 && self.edge(i) > t {
            i -= 1;
        }
        while i + 1 < self.bins.len() && self.edge(i + 1) <= t {
            i += 1;
        }
        i
    }

    pub(super) fn add(&mut self, start: f64, end: f64, rate: f64) {
        self.make_room(start, end);
        for (place, t) in [start, end].into_iter().enumerate() {
            if !self.latest[place].holds(t) {
                self.latest[place] = self.place(t);
            }
        }
        let [i, j] = self.latest.map(|p| p.bin);
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
        self.latest = [Place::NOWHERE; 2];
    }

    pub(super) fn finish(self, census: Census) -> Profile {
        let origin = self.bins.iter().map(|bin| bin.first_start).fold(f64::INFINITY, f64::min);
        let end = self.bins.iter().map(|bin| bin.last_end).fold(f64::NEG_INFINITY, f64::max);
        let mut assembly = Assembly::with_capacity(1 << 12);
        let mut active = 0u64;
        let mut level = Sum::default();
        for (i, bin) in self.bins.iter().enumerate() {
            // nobody covers the bin from its start: what is left of the level is rounding
            if active == 0 {
                level = Sum::default();
            } else {
                level.add(bin.step);
            }
            let left_open = (active + bin.begun).saturating_sub(bin.ended);
            let (lo, hi) = (self.edge(i), self.edge(i + 1));
            let bytes = (bin.partial + level.value().max(0.0) * self.width).max(0.0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Span;
    use proptest::prelude::*;

    fn span(start: f64, end: f64, bytes: f64) -> Span {
        Span { start, end, bytes }
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

    proptest! {
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
