//! Bandwidth over time: the trace, the sampled signal, the dominant cosine, where the period holds, the next burst.

use std::f64::consts::TAU;

use plotters::prelude::*;

use super::frame::{Axis, Key, chart, color, failed, headroom, picture, steps};
use crate::analysis::{SignalReport, View};
use crate::error::Result;
use crate::render::units;

/// The picture of one signal.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn bandwidth(signal: &SignalReport, view: &View) -> Result<String> {
    let mode = signal.mode.name().replace('_', " ");
    let dominant = signal.period.dominant.as_ref();
    let title = match dominant {
        Some(d) => format!("Bandwidth ({mode}): periodic, every {}", units::seconds(d.period_s)),
        None => format!("Bandwidth ({mode}): not periodic, {}", signal.period.verdict.words()),
    };
    // A clock far from zero is shown from the start of the signal on.
    let span = signal.end_s - signal.start_s;
    let shift = if signal.start_s.abs() > 10.0 * span.max(100.0) { signal.start_s } else { 0.0 };
    let label = if shift == 0.0 { "Time" } else { "Time since the first request" };
    let next = signal.prediction.as_ref().map(|p| (p.next_start_s, p.next_end_s));
    let right = next.map_or(signal.end_s, |(_, e)| e.min(signal.end_s + 0.15 * span)).max(signal.end_s);
    let margin = 0.01 * span.max(1e-9);
    let x = Axis { range: (signal.start_s - shift - margin, right - shift + margin), label, unit: "s", plain: true };
    let cosine = dominant.map(|d| cosine_points(signal, view, d.frequency_hz, d.amplitude_bytes_per_s, d.phase_rad));
    let top = percentile_top(&view.original.values).max(view.sampled.values.iter().copied().fold(0.0, f64::max));
    let y = Axis { range: (0.0, headroom(top)), label: "Bandwidth", unit: "B/s", plain: false };
    let mut legend = vec![
        (Key::Fill(color::ORIGINAL, 0.55), "trace".to_owned()),
        (Key::Line(color::SIGNAL, 2), format!("sampled at {}", units::hertz(signal.sampling_hz))),
    ];
    if let Some(d) = dominant {
        legend.push((Key::Line(color::DOMINANT, 4), format!("dominant cosine, {}", units::hertz(d.frequency_hz))));
    }
    if !signal.validity.is_empty() {
        legend.push((Key::Fill(color::VALID, 0.25), "period holds".to_owned()));
    }
    if next.is_some() {
        legend.push((Key::Fill(color::NEXT, 0.5), "next burst".to_owned()));
    }
    picture(|area| {
        let mut c = chart(area, &title, &legend, &x, &y)?;
        for w in &signal.validity {
            let strip = [(w.start_s - shift, 0.0), (w.end_s - shift, y.range.1)];
            c.draw_series([Rectangle::new(strip, color::VALID.mix(0.13).filled())]).map_err(failed)?;
        }
        if let Some((a, b)) = next {
            let strip = [(a - shift, 0.0), ((b - shift).min(x.range.1), y.range.1)];
            c.draw_series([Rectangle::new(strip, color::NEXT.mix(0.45).filled())]).map_err(failed)?;
        }
        let original = steps(|i| view.original.time(i) - shift, &view.original.values, x.range);
        let capped = original.into_iter().map(|(t, v)| (t, v.min(y.range.1)));
        c.draw_series(AreaSeries::new(capped, 0.0, color::ORIGINAL.mix(0.55))).map_err(failed)?;
        let sampled = steps(|i| view.sampled.time(i) - shift, &view.sampled.values, x.range);
        c.draw_series(LineSeries::new(sampled, color::SIGNAL.stroke_width(2))).map_err(failed)?;
        if let Some(points) = cosine {
            let points = points.into_iter().map(|(t, v)| (t - shift, v.clamp(0.0, y.range.1)));
            c.draw_series(LineSeries::new(points, color::DOMINANT.stroke_width(4))).map_err(failed)?;
        }
        Ok(())
    })
}

/// Fine bins catch single requests far above any burst: the axis ends where 99.5 % of the bins with I/O do, if that is far lower.
fn percentile_top(values: &[f64]) -> f64 {
    let mut v: Vec<f64> = values.iter().copied().filter(|x| *x > 0.0).collect();
    v.sort_by(f64::total_cmp);
    let top = v.last().copied().unwrap_or(0.0);
    let most = v.get((v.len() as f64 * 0.995) as usize).copied().unwrap_or(top);
    if top > 3.0 * most { 1.2 * most } else { top }
}

/// Mean plus dominant cosine.
fn cosine_points(signal: &SignalReport, view: &View, frequency: f64, amplitude: f64, phase: f64) -> Vec<(f64, f64)> {
    let n = view.sampled.values.len().max(1) as f64;
    let mean = view.sampled.values.iter().sum::<f64>() / n;
    let span = signal.end_s - signal.start_s;
    // Sixteen points a period (pixels are whole numbers: more would show their steps), and never more than a picture can show.
    let points = (16.0 * span * frequency).clamp(100.0, 6000.0) as usize;
    (0..=points)
        .map(|i| {
            let t = span * i as f64 / points as f64;
            (signal.start_s + t, mean + amplitude * (TAU * frequency * t + phase).cos())
        })
        .collect()
}
