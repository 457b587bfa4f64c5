//! Adaptive windowing (Bifet and Gavaldà, Learning from time-changing data with adaptive windowing, SDM 2007): the window
//! is cut where its two parts differ in mean by more than chance allows.
//!
//! Two departures, because a series here has tens of values and not thousands. The paper's bound for a cut is that of
//! variables in [0, 1] plus a term for small samples; with either, a part of two values can never differ. Here a cut is
//! judged by Student's t test with the variance within the parts. And the window is kept whole, not in buckets.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{MEMORY, Method};

/// δ: chance, per value, of a cut without a change; shared evenly among the possible cuts, as in the paper.
const DELTA: f64 = 5e-6;
/// The variance within the parts has a prior as in the other methods: 7 %, worth three values; never below 2 %.
const PRIOR_SQUARES: f64 = 3.0 * 0.07 * 0.07;
const PRIOR_VALUES: f64 = 3.0;
const FLOOR_VARIANCE: f64 = 0.02 * 0.02;
/// The shortest parts.
const MIN_OLD: usize = 3;
const MIN_NEW: usize = 2;
/// Standard errors by which the new part has to differ without its oddest value.
const AGREE: f64 = 3.0;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Adwin {
    window: VecDeque<f64>,
}

impl Method for Adwin {
    fn observe(&mut self, x: f64) -> Option<usize> {
        self.begin(x);
        let n = self.window.len();
        let cut = strongest_cut(&self.window)?;
        let freedom = PRIOR_VALUES + n as f64 - 2.0;
        let chance = 2.0 * StudentsT::new(0.0, 1.0, freedom).ok()?.sf(cut.t);
        (chance < DELTA / n as f64 && self.several_agree(&cut)).then_some(cut.new)
    }

    fn begin(&mut self, x: f64) {
        while self.window.len() >= MEMORY {
            self.window.pop_front();
        }
        self.window.push_back(x);
    }
}

impl Adwin {
    /// Whether the values after the cut differ from those before also without the one that differs most. In a long steady
    /// window a single odd value would cut it.
    fn several_agree(&self, cut: &Cut) -> bool {
        let new = self.window.range(self.window.len() - cut.new..);
        let sum: f64 = new.clone().map(|x| x - cut.old_mean).sum();
        let largest = new.map(|x| x - cut.old_mean).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let rest = (cut.new - 1) as f64;
        let mean = (sum - largest.unwrap_or(0.0)) / rest;
        mean * sum > 0.0 && mean.abs() > AGREE * (cut.variance / rest).sqrt()
    }
}

/// Where a window may be cut.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// Student's t, absolute.
    t: f64,
    /// Values after it.
    new: usize,
    /// Mean of the values before it.
    old_mean: f64,
    /// Variance within the parts.
    variance: f64,
}

/// The cut with the largest t.
fn strongest_cut(window: &VecDeque<f64>) -> Option<Cut> {
    // Relative to one of them: sums of squares of large equal numbers would cancel.
    let origin = *window.front()?;
    let (mut total, mut squares) = (0.0, 0.0);
    for x in window {
        total += x - origin;
        squares += (x - origin) * (x - origin);
    }
    let n = window.len();
    let mut best: Option<Cut> = None;
    let mut old = 0.0;
    for (i, x) in window.iter().enumerate() {
        old += x - origin;
        let (n0, n1) = (i + 1, n - i - 1);
        if n0 < MIN_OLD || n1 < MIN_NEW {
            continue;
        }
        let (f0, f1) = (n0 as f64, n1 as f64);
        let new = total - old;
        let within = (squares - old * old / f0 - new * new / f1).max(0.0);
        let variance = ((PRIOR_SQUARES + within) / (PRIOR_VALUES + f0 + f1 - 2.0)).max(FLOOR_VARIANCE);
        let t = (old / f0 - new / f1).abs() / (variance * (1.0 / f0 + 1.0 / f1)).sqrt();
        if best.is_none_or(|b| t > b.t) {
            best = Some(Cut { t, new: n1, old_mean: origin + old / f0, variance });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_cut_is_students() {
        // Parts 0, 1, 2 and 5, 6: means 1 and 5.5, squares within 2 + 0.5, prior 0.0147, freedom 6.
        let window: VecDeque<f64> = [0.0, 1.0, 2.0, 5.0, 6.0].into();
        let cut = strongest_cut(&window).unwrap();
        let variance = (2.5 + 0.0147) / 6.0f64;
        assert!((cut.t - 4.5 / (variance * (1.0 / 3.0 + 0.5)).sqrt()).abs() < 1e-9);
        assert_eq!((cut.new, cut.old_mean), (2, 1.0));
    }

    #[test]
    fn windows_are_bounded_and_cut_at_the_change() {
        let mut m = Adwin::default();
        (0..1000).for_each(|_| assert_eq!(m.observe(3.0), None));
        assert_eq!(m.window.len(), MEMORY);
        assert_eq!(m.observe(3.4), None);
        assert_eq!(m.observe(3.4), Some(2));
    }
}
