//! Bandwidth on an even grid: exact means of bins, or values at points.
//!
//! Both are linear in the transfers and in the samples, need no order and no sorting, and can be fed in pieces.

use super::Span;
use super::sum::Sum;

/// Steps of a piecewise constant function on a grid, by differences: what changes at each cell, and how many spans are
/// active there. The count makes the function exactly 0 where nobody is active, and ends the drift of rounding errors.
struct Steps {
    change: Vec<Sum>,
    active: Vec<i32>,
}

impl Steps {
    fn new(cells: usize) -> Self {
        Steps { change: vec![Sum::default(); cells + 1], active: vec![0; cells + 1] }
    }

    /// Adds `height` to the cells `from..to`.
    #[inline]
    fn add(&mut self, from: usize, to: usize, height: f64) {
        self.change[from].add(height);
        self.change[to].add(-height);
        self.active[from] += 1;
        self.active[to] -= 1;
    }

    /// Adds the function to `out`.
    fn accumulate(&self, out: &mut [f64]) {
        let mut sum = Sum::default();
        let mut active = 0i64;
        for ((x, &change), &a) in out.iter_mut().zip(&self.change).zip(&self.active) {
            sum.join(change);
            active += i64::from(a);
            if active == 0 {
                sum = Sum::default();
            } else {
                *x += sum.value();
            }
        }
    }
}

/// An even grid of `cells` cells of `width` seconds from `start`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Start of the first cell in seconds.
    pub start: f64,
    /// Width of a cell in seconds.
    pub width: f64,
    /// Number of cells.
    pub cells: usize,
}

impl Grid {
    /// Position of `t` in cells, between 0 and `cells`.
    #[inline]
    fn position(&self, t: f64) -> f64 {
        ((t - self.start) / self.width).clamp(0.0, self.cells as f64)
    }
}

/// Exact mean bandwidth of each cell in bytes per second: times the width they sum to the bytes of the spans.
///
/// Every span spreads its bytes evenly over its time; one without duration gives them to the cell it lies in; what lies
/// outside the grid is given to the nearest cell. O(spans + cells).
pub fn bin(spans: impl Iterator<Item = Span>, grid: Grid) -> Vec<f64> {
    let n = grid.cells;
    if n == 0 {
        return Vec::new();
    }
    let mut bytes = vec![Sum::default(); n];
    let mut whole = Steps::new(n);
    spans.for_each(|s| {
        let (a, b) = (grid.position(s.start), grid.position(s.end));
        let (i, j) = ((a as usize).min(n - 1), (b as usize).min(n - 1));
        if i == j {
            bytes[i].add(s.bytes);
            return;
        }
        // Bytes per cell; the edges take their part, the cells between a whole one each.
        let per_cell = s.bytes / (b - a);
        let first = per_cell * ((i + 1) as f64 - a);
        let last = per_cell * (b - j as f64);
        bytes[i].add(first);
        bytes[j].add(last);
        if j > i + 1 {
            whole.add(i + 1, j, per_cell);
        }
    });
    let mut x: Vec<f64> = bytes.into_iter().map(Sum::value).collect();
    whole.accumulate(&mut x);
    x.iter_mut().for_each(|v| *v /= grid.width);
    x
}

/// The step curve x(t) at the start of each cell, in bytes per second: the sum of bytes/duration of the spans that are
/// active there, as in the paper (Tarraf & Wolf 2026, section 3.2). Spans without duration are not seen. O(spans + cells).
pub fn points(spans: impl Iterator<Item = Span>, grid: Grid) -> Vec<f64> {
    let n = grid.cells;
    let mut steps = Steps::new(n);
    for s in spans {
        let duration = s.end - s.start;
        let (i, j) = (grid.position(s.start).ceil() as usize, grid.position(s.end).ceil() as usize);
        if duration > 0.0 && i < j {
            steps.add(i, j, s.bytes / duration);
        }
    }
    let mut x = vec![0.0; n];
    steps.accumulate(&mut x);
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span() -> impl Strategy<Value = Span> {
        (0.0..1000.0f64, prop_oneof![Just(0.0), 1e-6..1e-2f64, 0.0..900.0f64], 0.0..15.0f64)
            .prop_map(|(start, d, b)| Span { start, end: start + d, bytes: 10f64.powf(b).round() })
    }

    fn grid_of(spans: &[Span], width: f64) -> Grid {
        let start = spans.iter().map(|s| s.start).fold(f64::INFINITY, f64::min);
        let end = spans.iter().map(|s| s.end).fold(f64::NEG_INFINITY, f64::max);
        Grid { start, width, cells: ((end - start) / width).ceil().max(1.0) as usize }
    }

    proptest! {
        #[test]
        fn bytes_are_conserved(spans in prop::collection::vec(span(), 1..60), rate in -1.0..2.5f64) {
            let width = 10f64.powf(-rate);
            let x = bin(spans.iter().copied(), grid_of(&spans, width));
            let total: f64 = spans.iter().map(|s| s.bytes).sum();
            // Summed without rounding: this is about the bins.
            let binned = x.iter().copied().collect::<Sum>().value() * width;
            prop_assert!((binned - total).abs() <= 1e-12 * total, "{binned} {total}");
        }

        #[test]
        fn bins_equal_the_overlap_by_definition(spans in prop::collection::vec(span(), 1..20)) {
            let g = grid_of(&spans, 7.3);
            let x = bin(spans.iter().copied(), g);
            let total: f64 = spans.iter().map(|s| s.bytes).sum();
            for (k, &v) in x.iter().enumerate() {
                let (a, b) = (g.start + k as f64 * g.width, g.start + (k + 1) as f64 * g.width);
                let expected: f64 = spans
                    .iter()
                    .map(|s| if s.end > s.start { s.bytes * ((s.end.min(b) - s.start.max(a)).max(0.0) / (s.end - s.start)) }
                         else if s.start >= a && (s.start < b || k + 1 == g.cells) { s.bytes } else { 0.0 })
                    .sum();
                // A point on an edge may fall either way by rounding.
                prop_assert!((v * g.width - expected).abs() <= 1e-9 * total + 1e-6, "bin {k}: {} {expected}", v * g.width);
            }
        }

        #[test]
        fn order_does_not_matter(spans in prop::collection::vec(span(), 1..40)) {
            let g = grid_of(&spans, 1.1);
            let (a, b) = (bin(spans.iter().copied(), g), bin(spans.iter().rev().copied(), g));
            let top = a.iter().fold(0.0f64, |m, x| m.max(*x));
            prop_assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() <= 1e-12 * top));
        }
    }

    #[test]
    fn nothing_is_left_behind_where_nobody_is_active() {
        // A giant short burst, then a long weak one: rounding dust of the first must not add up over the second.
        let spans = [
            Span { start: 0.0, end: 0.35, bytes: 1e15 },
            Span { start: 0.05, end: 0.33, bytes: 7.3e14 },
            Span { start: 50_000.0, end: 99_999.0, bytes: 3.0 },
        ];
        let g = Grid { start: 0.0, width: 0.1, cells: 1_000_000 };
        let x = bin(spans.into_iter(), g);
        assert!(x[4..499_999].iter().all(|&v| v == 0.0));
        let tail: f64 = x[499_999..].iter().sum::<f64>() * 0.1;
        assert!((tail - 3.0).abs() < 1e-9, "{tail}");
    }

    #[test]
    fn points_of_a_step_curve() {
        let spans = [Span { start: 0.0, end: 2.0, bytes: 4.0 }, Span { start: 1.0, end: 3.0, bytes: 2.0 }];
        let x = points(spans.into_iter(), Grid { start: 0.0, width: 0.5, cells: 6 });
        assert_eq!(x, [2.0, 2.0, 3.0, 3.0, 1.0, 1.0]);
    }

    #[test]
    fn hostile_values_do_not_panic() {
        let spans = [
            Span { start: -1e300, end: 1e300, bytes: 1.0 },
            Span { start: 5.0, end: 5.0, bytes: 1.0 },
            Span { start: 0.0, end: f64::MIN_POSITIVE, bytes: f64::MAX },
        ];
        for cells in [0, 1, 3] {
            let g = Grid { start: 0.0, width: 1.0, cells };
            assert_eq!(bin(spans.into_iter(), g).len(), cells);
            assert_eq!(points(spans.into_iter(), g).len(), cells);
        }
    }
}
