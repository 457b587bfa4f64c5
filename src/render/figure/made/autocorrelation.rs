//! The autocorrelation with the period and its multiples.

use super::timeline::mode;
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Steps, Timeline, View, color};
use crate::analysis::SignalReport;
use crate::period::methods::Sight;
use crate::render::units;

/// Periods that are shown, at most.
const PERIODS: f64 = 12.0;

/// The figure, if the method of the signal looked at the autocorrelation.
pub fn autocorrelation(signal: &SignalReport, view: &View, _: &Timeline) -> Option<Figure> {
    let Sight::Autocorrelation(r) = &view.seen.sight else { return None };
    let rate = signal.sampling_hz;
    let period = signal.period.dominant.as_ref().map(|d| d.period_s);
    let all = r.len() as f64 / rate;
    let shown = period.map_or(all, |t| all.min((PERIODS + 0.5) * t));
    let curve = Steps { start: 0.0, step: 1.0 / rate, values: r.clone() }.part((0.0, shown));
    let (low, high) = curve.ends();
    let mut layers = vec![Layer::new("", color::INK, Shape::Levels { at: vec![0.0] }).wide(1.0)];
    if let Some(t) = period {
        let more = (2..).map(|k| f64::from(k) * t).take_while(|lag| *lag <= shown).collect();
        layers.push(Layer::new("period", color::DOMINANT, Shape::Marks { at: vec![t] }).wide(3.0));
        layers.push(Layer::new("its multiples", color::NEXT, Shape::Marks { at: more }));
    }
    layers.push(Layer::new("autocorrelation", color::SIGNAL, Shape::Curve(curve.thinned(2000))));
    let peak = period.map_or("no periodic peak".into(), |t| format!("peak at {}", units::seconds(t)));
    let part = if shown < all {
        format!(": lags up to {} of {}", units::seconds(shown), units::seconds(all))
    } else {
        String::new()
    };
    let x = Axis::new((0.0, shown), "Lag", "s", Numbers::Time);
    let y = Axis::new((1.1 * low, 1.06 * high.max(1.0)), "Autocorrelation", "", Numbers::Plain);
    Some(Figure {
        title: format!("Autocorrelation ({}): {peak}", mode(signal)),
        caption: format!("{}{part}", view.name),
        panels: vec![Panel::new(x, y, layers)],
    })
}
