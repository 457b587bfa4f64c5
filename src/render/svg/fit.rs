//! Fitted cosines against as many of the DFT (Tarraf & Wolf 2026, figure 2).

use plotters::prelude::*;

use super::frame::{Axis, Head, Key, Numbers, color, failed, headroom, picture, steps};
use super::timeline::Timeline;
use super::view::View;
use crate::analysis::{SignalReport, strongest};
use crate::error::Result;
use crate::transform::{Cosine, evaluate};

/// The picture of one signal; `None` if nothing was fitted.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn fit(signal: &SignalReport, view: &View) -> Result<Option<String>> {
    let (Some(fit), Some(powers)) = (&signal.fit, &view.powers) else { return Ok(None) };
    let n = signal.components.len().saturating_sub(1);
    let on_grid: Vec<Cosine> = std::iter::once(0)
        .chain(strongest(powers, n))
        .filter_map(|k| view.spectrum.cosine(k, signal.sampling_hz))
        .collect();
    let fitted: Vec<Cosine> = signal
        .components
        .iter()
        .map(|c| Cosine { frequency_hz: c.frequency_hz, amplitude: c.amplitude_bytes_per_s, phase: c.phase_rad })
        .collect();
    let time = Timeline::cycles(signal);
    let shown = steps(|i| view.sampled.time(i) - time.shift, &view.sampled.values, time.range);
    let sums = [(&on_grid, color::VALID), (&fitted, color::DOMINANT)].map(|(cosines, color)| {
        let sum = time.times(240).map(|t| (t - time.shift, evaluate(cosines, t - signal.start_s)));
        (sum.collect::<Vec<_>>(), color)
    });
    let points = shown.iter().chain(sums.iter().flat_map(|(sum, _)| sum));
    let (low, top) = points.fold((0.0, 0.0), |(l, t): (f64, f64), p| (l.min(p.1), t.max(p.1)));
    let y = Axis { range: (1.06 * low, headroom(top)), label: "Bandwidth", unit: "B/s", numbers: Numbers::Prefixed };
    let head = Head {
        title: format!(
            "{n} cosines ({}): fitting them lowers the mean square error by {:.0} %",
            signal.mode.name().replace('_', " "),
            100.0 * fit.improvement
        ),
        caption: time.caption(signal, view),
        legend: vec![
            (Key::Fill(color::ORIGINAL, 0.55), "sampled".to_owned()),
            (Key::Line(color::VALID, 3), "cosines of the DFT".to_owned()),
            (Key::Line(color::DOMINANT, 3), "fitted cosines".to_owned()),
        ],
    };
    let svg = picture(&head, &time.axis(), &y, |c| {
        c.draw_series(AreaSeries::new(shown, 0.0, color::ORIGINAL.mix(0.55)).border_style(color::OUTLINE))
            .map_err(failed)?;
        for (sum, color) in sums {
            c.draw_series(LineSeries::new(sum, color.stroke_width(3))).map_err(failed)?;
        }
        Ok(())
    })?;
    Ok(Some(svg))
}
