//! The time axis of the figures of a signal, and its periods on it.

use std::f64::consts::TAU;

use plotters::style::RGBColor;

use super::model::Wave;
use super::{Axis, Layer, Numbers, Shape, Steps, View, color};
use crate::analysis::SignalReport;
use crate::period::{Dominant, Prediction};
use crate::render::units;

/// Periods that a figure of single cycles shows at most.
const CYCLES: f64 = 8.0;
/// How long after the data, as a share of their time, the next burst is still shown.
const FARTHEST: f64 = 0.4;

/// A stretch of time as an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timeline {
    /// Subtracted from times on the trace's own clock: a clock far from zero is shown from the start of the signal on.
    pub shift: f64,
    /// First and last time shown, shifted.
    pub range: (f64, f64),
}

/// A period of a signal: where it holds on a shifted clock, when its next burst is due, and its colour.
#[derive(Debug, Clone)]
pub struct Period<'a> {
    pub period: &'a Dominant,
    pub windows: Vec<(f64, f64)>,
    pub next: Option<&'a Prediction>,
    pub color: RGBColor,
}

impl Timeline {
    /// From a first to a last time, with some room; a clock far from zero is shown from the first on.
    pub fn of(first: f64, last: f64, room: f64) -> Timeline {
        let span = (last - first).max(1e-9);
        let shift = if first.abs() > 10.0 * span.max(100.0) { first } else { 0.0 };
        Timeline { shift, range: (first - shift - room * span, last - shift + room * span) }
    }

    /// The whole run.
    pub fn whole(signal: &SignalReport) -> Timeline {
        Timeline::of(signal.start_s, signal.end_s, 0.01)
    }

    /// The same with the next burst, unless it is so far away that it would leave little room for those that were.
    pub fn with_next(mut self, signal: &SignalReport) -> Timeline {
        let span = signal.end_s - signal.start_s;
        let farthest = signal.end_s + FARTHEST * span;
        for p in signal.prediction.iter().filter(|p| p.next_start_s < farthest) {
            self.range.1 = self.range.1.max(p.next_end_s.min(farthest) + 0.01 * span - self.shift);
        }
        self
    }

    /// The first periods, as many as stay apart: from the first window in which the period holds, if that is known.
    pub fn cycles(&self, signal: &SignalReport) -> Timeline {
        let whole = Timeline::whole(signal);
        let later = whole.shift - self.shift;
        let mut range = (whole.range.0 + later, whole.range.1 + later);
        if let Some(d) = signal.period.dominant.as_ref().filter(|d| d.period_s * CYCLES < range.1 - range.0) {
            let from = signal.validity.first().map_or(signal.start_s, |w| w.start_s) - self.shift;
            let from = (from - 0.5 * d.period_s).max(range.0).min(range.1 - CYCLES * d.period_s);
            range = (from, from + CYCLES * d.period_s);
        }
        Timeline { range, ..*self }
    }

    /// Its length.
    pub fn span(&self) -> f64 {
        self.range.1 - self.range.0
    }

    /// The dominant period and the further ones. One without windows holds in the whole run.
    pub fn periods<'a>(&self, signal: &'a SignalReport) -> Vec<Period<'a>> {
        let dominant = signal.period.dominant.iter().map(|d| (d, &signal.validity, signal.prediction.as_ref()));
        let others = signal.period.others.iter().map(|o| (&o.period, &o.validity, o.prediction.as_ref()));
        let colors = std::iter::once(color::DOMINANT).chain(color::OTHERS);
        let all = dominant.chain(others).zip(colors).map(|((period, validity, next), color)| {
            let mut windows: Vec<(f64, f64)> = validity.iter().map(|w| self.later((w.start_s, w.end_s))).collect();
            if windows.is_empty() {
                windows.push(self.later((signal.start_s, signal.end_s)));
            }
            Period { period, windows, next, color }
        });
        all.collect()
    }

    /// A stretch of the trace's own clock on this one.
    pub fn later(&self, (from, to): (f64, f64)) -> (f64, f64) {
        (from - self.shift, to - self.shift)
    }

    /// A curve of the trace's own clock on this one.
    pub fn steps(&self, start: f64, step: f64, values: Vec<f64>) -> Steps {
        Steps { start: start - self.shift, step, values }
    }

    /// The trace, and how much of its time is shown if that is not all.
    pub fn caption(&self, signal: &SignalReport, view: &View) -> String {
        let all = signal.end_s - signal.start_s;
        if self.span() >= all {
            return view.name.clone();
        }
        format!("{}: {} of {} shown", view.name, units::seconds(self.span()), units::seconds(all))
    }

    /// Its axis.
    pub fn axis(&self) -> Axis {
        let label = if self.shift == 0.0 { "Time" } else { "Time since the first request" };
        Axis::new(self.range, label, "s", Numbers::Time)
    }

    /// The values of a function of the trace's own clock where it is shown, within `part`.
    pub fn curve(&self, part: (f64, f64), points: usize, of: impl Fn(f64) -> f64) -> Shape {
        let (a, b) = (part.0.max(self.range.0), part.1.min(self.range.1));
        let time = |i: usize| a + (b - a) * i as f64 / points.max(1) as f64;
        let points =
            if a < b { (0..=points).map(|i| (time(i), of(time(i) + self.shift))).collect() } else { Vec::new() };
        Shape::Line { points }
    }

    /// Mean plus the cosine of a period where it holds.
    pub fn waves(&self, signal: &SignalReport, p: &Period<'_>, mean: f64, width: f64) -> Vec<Layer> {
        let (d, name) = (p.period, format!("cosine of {}", units::seconds(p.period.period_s)));
        let (frequency, amplitude) = (d.frequency_hz, d.amplitude_bytes_per_s);
        let phase = d.phase_rad + TAU * frequency * (self.shift - signal.start_s);
        let wave = |span: &(f64, f64)| Shape::Wave(Wave { mean, amplitude, frequency, phase, span: *span });
        p.windows.iter().map(|w| Layer::new(&*name, p.color, wave(w)).wide(width)).collect()
    }
}

/// Values of the cosines that can be seen, and of what is beside them.
pub fn ends_with(waves: &[Layer], range: (f64, f64), ends: (f64, f64)) -> (f64, f64) {
    waves.iter().fold(ends, |(low, high), l| match &l.shape {
        Shape::Wave(w) if w.is_seen(range) => (low.min(w.mean - w.amplitude), high.max(w.mean + w.amplitude)),
        _ => (low, high),
    })
}

/// The mode of a signal in words.
pub fn mode(signal: &SignalReport) -> String {
    signal.mode.name().replace('_', " ")
}
