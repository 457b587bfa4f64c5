//! Collecting spans: all their edges while they are few, bins once they are many.

use super::edges::{Edge, sweep};
use super::folded::Folded;
use super::{BINS, Census, EXACT_SPANS, POINT_WIDTH, Profile};
use crate::signal::Span;

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
    /// A builder with room for `count` spans.
    pub fn with_capacity(count: usize) -> Self {
        let count = count.min(EXACT_SPANS + 1);
        Self { starts: Vec::with_capacity(count), ends: Vec::with_capacity(count), ..Self::default() }
    }

    /// Adds one span; unusable ones are counted, see [`Census`].
    pub fn add(&mut self, span: Span) {
        let Span { start, mut end, bytes } = span;
        let point = span.is_point();
        if point {
            // never less than the resolution of the clock
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
        self.census.points += u64::from(point);
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
