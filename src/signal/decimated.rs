//! Any number of transfers in bounded memory, for signals of traces that are not kept.

use std::collections::BTreeMap;

use super::Span;

/// Spans kept as they are.
const MOST_SPANS: usize = 1 << 19;
/// Bins, once there are more spans.
const MOST_BINS: usize = 1 << 17;

/// Transfers as they were, or, once they are too many, as one transfer per bin: from the first start in the bin to the last end of those that
/// begin in it, with all of their bytes. Bins double in width as the time grows.
#[derive(Debug, Clone, Default)]
pub struct Decimated {
    spans: Vec<Span>,
    bins: BTreeMap<i64, Span>,
    width: f64,
}

impl Decimated {
    /// Adds a transfer; times are finite and in order.
    pub fn push(&mut self, span: Span) {
        if self.width == 0.0 {
            self.spans.push(span);
            if self.spans.len() > MOST_SPANS {
                self.fold();
            }
            return;
        }
        self.add(span);
        while self.bins.len() > MOST_BINS {
            self.rebin(2.0 * self.width);
        }
    }

    fn add(&mut self, span: Span) {
        // the cast saturates
        let bin = (span.start / self.width).floor() as i64;
        self.bins.entry(bin).and_modify(|b| join(b, &span)).or_insert(span);
    }

    fn fold(&mut self) {
        let first = self.spans.iter().map(|s| s.start).fold(f64::INFINITY, f64::min);
        let last = self.spans.iter().map(|s| s.start).fold(f64::NEG_INFINITY, f64::max);
        self.width = ((last - first) / MOST_BINS as f64 * 2.0).max(1e-9);
        for span in std::mem::take(&mut self.spans) {
            self.add(span);
        }
    }

    fn rebin(&mut self, width: f64) {
        self.width = width;
        for span in std::mem::take(&mut self.bins).into_values() {
            self.add(span);
        }
    }

    /// The transfers, or one per bin.
    pub fn into_spans(self) -> Vec<Span> {
        if self.width == 0.0 { self.spans } else { self.bins.into_values().collect() }
    }
}

fn join(a: &mut Span, b: &Span) {
    *a = Span { start: a.start.min(b.start), end: a.end.max(b.end), bytes: a.bytes + b.bytes };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(i: u64) -> Span {
        // bursts of a thousand, one every ten seconds
        let start = (i / 1000) as f64 * 10.0 + (i % 1000) as f64 * 1e-3;
        Span { start, end: start + 1e-3, bytes: 4.0 }
    }

    #[test]
    fn few_stay_as_they_are() {
        let mut f = Decimated::default();
        (0..5000).for_each(|i| f.push(span(i)));
        assert_eq!(f.into_spans(), (0..5000).map(span).collect::<Vec<_>>());
    }

    #[test]
    fn many_become_few_and_lose_neither_bytes_nor_the_bursts() {
        let mut f = Decimated::default();
        let n = 3_000_000;
        (0..n).for_each(|i| f.push(span(i)));
        let spans = f.into_spans();
        assert!(spans.len() <= MOST_BINS);
        assert_eq!(spans.iter().map(|s| s.bytes).sum::<f64>(), 4.0 * n as f64);
        let gaps = spans.windows(2).filter(|w| w[1].start - w[0].end > 8.0).count();
        assert_eq!(gaps as u64, n / 1000 - 1);
        assert_eq!((spans[0].start, spans[spans.len() - 1].end), (0.0, span(n - 1).end));
    }
}
