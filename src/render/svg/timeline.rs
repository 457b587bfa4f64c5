//! The time axis that pictures of one signal share.

use plotters::style::RGBColor;

use super::frame::{Axis, Numbers, color};
use super::view::View;
use crate::analysis::SignalReport;
use crate::period::{Dominant, Prediction};
use crate::render::units;

/// Periods that a picture of single cycles shows at most.
const CYCLES: f64 = 8.0;

/// A stretch of the time of a signal as an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timeline {
    /// Subtracted from times on the trace's own clock: a clock far from zero is shown from the start of the signal on.
    pub shift: f64,
    /// First and last time shown, shifted.
    pub range: (f64, f64),
}

/// A period of a signal: where it holds on a shifted clock, when its next burst is due, and its colour.
#[derive(Debug, Clone)]
pub(super) struct Period<'a> {
    pub period: &'a Dominant,
    pub windows: Vec<(f64, f64)>,
    pub next: Option<&'a Prediction>,
    pub color: RGBColor,
}

impl Timeline {
    /// The whole run.
    pub fn whole(signal: &SignalReport) -> Timeline {
        let span = signal.end_s - signal.start_s;
        let shift = if signal.start_s.abs() > 10.0 * span.max(100.0) { signal.start_s } else { 0.0 };
        let margin = 0.01 * span.max(1e-9);
        Timeline { shift, range: (signal.start_s - shift - margin, signal.end_s - shift + margin) }
    }

    /// The first periods, as many as can be told apart: from the first window in which the period holds, if that is known.
    pub fn cycles(signal: &SignalReport) -> Timeline {
        let mut t = Timeline::whole(signal);
        let Some(d) = &signal.period.dominant else { return t };
        if d.period_s * CYCLES < t.range.1 - t.range.0 {
            let from = signal.validity.first().map_or(signal.start_s, |w| w.start_s) - t.shift;
            let from = (from - 0.5 * d.period_s).max(t.range.0).min(t.range.1 - CYCLES * d.period_s);
            t.range = (from, from + CYCLES * d.period_s);
        }
        t
    }

    /// The dominant period and the further ones. One without windows holds in the whole run.
    pub(super) fn periods<'a>(&self, signal: &'a SignalReport) -> Vec<Period<'a>> {
        let dominant = signal.period.dominant.iter().map(|d| (d, &signal.validity, signal.prediction.as_ref()));
        let others = signal.period.others.iter().map(|o| (&o.period, &o.validity, o.prediction.as_ref()));
        let colors = std::iter::once(color::DOMINANT).chain(color::OTHERS);
        let all = dominant.chain(others).zip(colors).map(|((period, validity, next), color)| {
            let mut windows: Vec<(f64, f64)> =
                validity.iter().map(|w| (w.start_s - self.shift, w.end_s - self.shift)).collect();
            if windows.is_empty() {
                windows.push((signal.start_s - self.shift, signal.end_s - self.shift));
            }
            Period { period, windows, next, color }
        });
        all.collect()
    }

    /// The trace, and how much of its time is shown if that is not all.
    pub(super) fn caption(&self, signal: &SignalReport, view: &View) -> String {
        let (shown, all) = (self.range.1 - self.range.0, signal.end_s - signal.start_s);
        if shown >= all {
            return view.name.clone();
        }
        format!("{}: {} of {} shown", view.name, units::seconds(shown), units::seconds(all))
    }

    /// Its axis.
    pub fn axis(&self) -> Axis<'static> {
        let label = if self.shift == 0.0 { "Time" } else { "Time since the first request" };
        Axis { range: self.range, label, unit: "s", numbers: Numbers::Time }
    }

    /// `points` even times on it, on the trace's own clock.
    pub fn times(&self, points: usize) -> impl Iterator<Item = f64> {
        let (a, b) = (self.range.0 + self.shift, self.range.1 + self.shift);
        (0..=points).map(move |i| a + (b - a) * i as f64 / points.max(1) as f64)
    }
}
