//! The sliding correlation of the smoothed signal with the dominant cosine, and the windows it gives (Tarraf & Wolf 2026,
//! figure 3).

use super::axis::headroom;
use super::timeline::{ends_with, mode};
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Timeline, View, color};
use crate::analysis::SignalReport;
use crate::render::text::windows;
use crate::render::units;

/// The figure, if a correlation was computed.
pub fn correlation(signal: &SignalReport, view: &View, time: &Timeline) -> Option<Figure> {
    let (Some((smooth, sliding)), Some(d)) = (&view.seen.sliding, &signal.period.dominant) else { return None };
    let rate = signal.sampling_hz;
    let curve = |values: &[f64]| time.steps(signal.start_s, 1.0 / rate, values.to_vec()).thinned(4096);
    let smooth = curve(smooth);
    let mean = smooth.values.iter().sum::<f64>() / smooth.values.len().max(1) as f64;
    let mut dominant = time.periods(signal).remove(0);
    dominant.windows = vec![time.range];
    let waves = time.waves(signal, &dominant, mean, 3.0);
    let ends = ends_with(&waves, time.range, smooth.ends());
    let y = Axis::new((1.05 * ends.0, headroom(ends.1)), "Bandwidth", "B/s", Numbers::Prefixed);
    let spans = || signal.validity.iter().map(|w| time.later((w.start_s, w.end_s))).collect();
    let holds = || Shape::Spans { row: None, spans: spans(), text: String::new() };
    let holds = || Layer::new("period holds", color::VALID, holds()).mix(0.18);
    let mut above = vec![holds(), Layer::new("smoothed signal", color::SIGNAL, Shape::Curve(smooth))];
    above.extend(waves);
    let window = units::seconds(sliding.window as f64 / rate);
    let below = vec![
        holds(),
        // the period holds where the correlation is positive
        Layer::new("threshold", color::SOFT, Shape::Levels { at: vec![0.0] }).dashed(),
        Layer::new(format!("correlation over {window}"), color::INK, Shape::Curve(curve(&sliding.correlation))),
    ];
    let upper = Axis { label: String::new(), unit: "", ..time.axis() };
    let least = sliding.correlation.iter().copied().fold(0.0, f64::min);
    let correlations = Axis::new((1.05 * least - 0.05, 1.05), "Correlation", "", Numbers::Plain);
    let valid = match &signal.validity[..] {
        [] => "nowhere by itself".to_owned(),
        all => windows(all, d.period_s, time.shift),
    };
    Some(Figure {
        title: format!("Where the period of {} holds ({}): {valid}", units::seconds(d.period_s), mode(signal)),
        caption: view.name.clone(),
        panels: vec![
            Panel::new(upper, y, above).height(200.0),
            Panel::new(time.axis(), correlations, below).height(200.0),
        ],
    })
}
