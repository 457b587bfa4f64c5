//! The sliding correlation of the smoothed signal with the dominant cosine, and the windows it gives (Tarraf & Wolf 2026,
//! figure 3).

use std::f64::consts::TAU;

use plotters::prelude::*;

use super::frame::{Axis, Head, Key, MOST_PERIODS, Numbers, color, failed, headroom, panel, panels, steps};
use super::timeline::Timeline;
use super::view::View;
use crate::analysis::SignalReport;
use crate::error::Result;
use crate::render::units;

/// The picture of one signal; `None` if no correlation was computed.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn correlation(signal: &SignalReport, view: &View) -> Result<Option<String>> {
    let (Some((smooth, sliding)), Some(d)) = (&view.seen.sliding, &signal.period.dominant) else { return Ok(None) };
    let time = Timeline::whole(signal);
    let rate = signal.sampling_hz;
    let at = |i: usize| signal.start_s + i as f64 / rate - time.shift;
    let shown = steps(at, smooth, time.range);
    let r = steps(at, &sliding.correlation, time.range);
    let mean = smooth.iter().sum::<f64>() / smooth.len().max(1) as f64;
    let (low, top) = shown.iter().fold((0.0, mean), |(l, t): (f64, f64), p| (l.min(p.1), t.max(p.1)));
    let points = (16.0 * (signal.end_s - signal.start_s) / d.period_s).clamp(240.0, 4000.0) as usize;
    let window = units::seconds(sliding.window as f64 / rate);
    // a cosine of more periods than can be seen would hide the signal
    let waves = (time.range.1 - time.range.0) / d.period_s <= MOST_PERIODS;
    let amplitude = if waves { d.amplitude_bytes_per_s } else { 0.0 };
    let (low, top) = (low.min(1.05 * (mean - amplitude)), top.max(mean + amplitude));
    let mut head = Head {
        title: format!(
            "Where the period of {} holds ({})",
            units::seconds(d.period_s),
            signal.mode.name().replace('_', " ")
        ),
        caption: view.name.clone(),
        legend: vec![
            (Key::Line(color::SIGNAL, 2), "smoothed signal".to_owned()),
            (Key::Line(color::INK, 2), format!("correlation over {window}")),
            (Key::Dash(color::INK, 2), "threshold".to_owned()),
            (Key::Fill(color::VALID, 0.25), "period holds".to_owned()),
        ],
    };
    if waves {
        head.legend.insert(1, (Key::Line(color::DOMINANT, 3), "dominant cosine".to_owned()));
    }
    let svg = panels(&head, &[300, 320], |areas| {
        let [above, below] = areas else { return Ok(()) };
        let y = Axis { range: (low, headroom(top)), label: "Bandwidth", unit: "B/s", numbers: Numbers::Prefixed };
        let correlations = Axis { range: (-1.05, 1.05), label: "Correlation", unit: "", numbers: Numbers::Plain };
        let mut upper = panel(above, "", &time.axis(), &y)?;
        let mut lower = panel(below, "", &time.axis(), &correlations)?;
        for w in &signal.validity {
            for (c, y) in [(&mut upper, y.range), (&mut lower, correlations.range)] {
                let strip = [(w.start_s - time.shift, y.0), (w.end_s - time.shift, y.1)];
                c.draw_series([Rectangle::new(strip, color::VALID.mix(0.18).filled())]).map_err(failed)?;
            }
        }
        upper.draw_series(LineSeries::new(shown, color::SIGNAL.stroke_width(2))).map_err(failed)?;
        let wave = time.times(points).map(|t| {
            let phase = TAU * d.frequency_hz * (t - signal.start_s) + d.phase_rad;
            (t - time.shift, mean + d.amplitude_bytes_per_s * phase.cos())
        });
        let wave = wave.filter(|_| waves);
        upper.draw_series(LineSeries::new(wave, color::DOMINANT.stroke_width(3))).map_err(failed)?;
        // the period holds where the correlation is positive
        let zero = [(time.range.0, 0.0), (time.range.1, 0.0)];
        lower.draw_series(DashedLineSeries::new(zero, 8, 6, color::INK.stroke_width(2))).map_err(failed)?;
        lower.draw_series(LineSeries::new(r, color::INK.stroke_width(2))).map_err(failed)?;
        Ok(())
    })?;
    Ok(Some(svg))
}
