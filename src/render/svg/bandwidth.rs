//! Bandwidth over time: the trace, the sampled signal, the dominant cosine, where the period holds, the next burst.

use std::f64::consts::TAU;

use plotters::prelude::*;

use super::frame::{
    Axis, Chart, Key, MOST_PERIODS, Numbers, chart, color, failed, headroom, panel, panels, picture, steps, within,
};
use super::timeline::Timeline;
use super::view::View;
use crate::analysis::SignalReport;
use crate::error::Result;
use crate::period::{Dominant, OtherPeriod, Validity};
use crate::render::units;

/// Periods of the part of a long run that is shown by itself.
const PART: f64 = 8.0;

/// How long after the data, as a share of their time, the next burst is still shown.
const FARTHEST: f64 = 0.4;

/// The picture of one signal. Of a run of more periods than can be seen it shows the whole, and below the last of them.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn bandwidth(signal: &SignalReport, view: &View) -> Result<String> {
    let mode = signal.mode.name().replace('_', " ");
    let dominant = signal.period.dominant.as_ref();
    let title = match dominant {
        Some(d) => format!("Bandwidth ({mode}): periodic, every {}", units::seconds(d.period_s)),
        None => format!("Bandwidth ({mode}): {}", signal.period.verdict.words()),
    };
    let span = signal.end_s - signal.start_s;
    // a burst that is far away would leave little room for those that were
    let farthest = signal.end_s + FARTHEST * span;
    let next =
        signal.prediction.as_ref().map(|p| (p.next_start_s, p.next_end_s)).filter(|(start, _)| *start < farthest);
    let time = Timeline::whole(signal);
    let margin = time.range.1 - (signal.end_s - time.shift);
    let right = next.map_or(signal.end_s, |(_, e)| e.min(farthest)).max(signal.end_s);
    let whole = (time.range.0, right - time.shift + margin);
    let part = dominant.filter(|d| span / d.period_s > MOST_PERIODS).map(|d| {
        let end = signal.validity.last().map_or(signal.end_s, |w| w.end_s) - time.shift;
        let to = next.map(|(_, e)| e - time.shift).filter(|e| *e <= end + PART * d.period_s);
        let to = (to.unwrap_or(end) + 0.25 * d.period_s).min(whole.1);
        (end - PART * d.period_s, to)
    });
    let mut legend = vec![
        (Key::Fill(color::ORIGINAL, 0.55), "trace".to_owned()),
        (Key::Line(color::SIGNAL, 2), format!("sampled at {}", units::hertz(signal.sampling_hz))),
    ];
    if let Some(d) = dominant {
        legend.push((Key::Line(color::DOMINANT, 4), format!("dominant cosine, {}", units::hertz(d.frequency_hz))));
    }
    for (o, color) in others(signal) {
        legend.push((Key::Line(color, 2), format!("cosine, {}", units::hertz(o.period.frequency_hz))));
    }
    if !signal.validity.is_empty() {
        legend.push((Key::Fill(color::VALID, 0.25), "period holds".to_owned()));
    }
    if next.is_some() {
        legend.push((Key::Fill(color::NEXT, 0.5), "next burst".to_owned()));
    }
    let top = percentile_top(&view.finest().values).max(view.sampled.values.iter().copied().fold(0.0, f64::max));
    let y = Axis { range: (0.0, headroom(top)), label: "Bandwidth", unit: "B/s", numbers: Numbers::Prefixed };
    let x = |range: (f64, f64)| Axis { range, ..time.axis() };
    let layers = Layers { signal, view, shift: time.shift, top: y.range.1, next };
    let Some(part) = part else {
        return picture(|area| {
            let mut c = chart(area, &title, &legend, &x(whole), &y)?;
            layers.background(&mut c, whole, TRANSPARENT)?;
            layers.sampled(&mut c, whole)?;
            layers.cosines(&mut c, whole)
        });
    };
    panels(&title, &legend, &[290, 330], |areas| {
        let [above, below] = areas else { return Ok(()) };
        // bursts of a long run are narrower than a pixel
        layers.background(&mut panel(above, "", &x(whole), &y)?, whole, color::OUTLINE.to_rgba())?;
        let mut c = panel(below, "", &x(part), &y)?;
        layers.background(&mut c, part, TRANSPARENT)?;
        layers.sampled(&mut c, part)?;
        layers.cosines(&mut c, part)
    })
}

/// What is drawn over each other, in a range of time.
struct Layers<'a> {
    signal: &'a SignalReport,
    view: &'a View,
    /// Subtracted from times.
    shift: f64,
    /// Upper end of the axis.
    top: f64,
    next: Option<(f64, f64)>,
}

impl Layers<'_> {
    /// Where the period holds, the next burst, and the trace.
    fn background(&self, c: &mut Chart<'_, '_>, x: (f64, f64), outline: RGBAColor) -> Result<()> {
        let strip = |a: f64, b: f64| [((a - self.shift).max(x.0), 0.0), ((b - self.shift).min(x.1), self.top)];
        let shown = |s: &[(f64, f64); 2]| s[0].0 < s[1].0;
        let valid = self.signal.validity.iter().map(|w| strip(w.start_s, w.end_s)).filter(shown);
        c.draw_series(valid.map(|s| Rectangle::new(s, color::VALID.mix(0.13).filled()))).map_err(failed)?;
        let next = self.next.map(|(a, b)| strip(a, b)).into_iter().filter(shown);
        c.draw_series(next.map(|s| Rectangle::new(s, color::NEXT.mix(0.45).filled()))).map_err(failed)?;
        let curve = self.view.finest();
        let trace = steps(|i| curve.time(i) - self.shift, &curve.values, x);
        let capped = trace.into_iter().map(|(t, v)| (t, v.min(self.top)));
        c.draw_series(AreaSeries::new(capped, 0.0, color::ORIGINAL.mix(0.55)).border_style(outline)).map_err(failed)?;
        Ok(())
    }

    fn sampled(&self, c: &mut Chart<'_, '_>, x: (f64, f64)) -> Result<()> {
        let sampled = steps(|i| self.view.sampled.time(i) - self.shift, &self.view.sampled.values, x);
        c.draw_series(LineSeries::new(sampled, color::SIGNAL.stroke_width(2))).map_err(failed)?;
        Ok(())
    }

    /// Mean plus cosine of each period, where it holds; the dominant one above the others.
    fn cosines(&self, c: &mut Chart<'_, '_>, x: (f64, f64)) -> Result<()> {
        for (o, color) in others(self.signal) {
            for w in &o.validity {
                self.cosine(c, self.shown(x, w), &o.period, color.stroke_width(2))?;
            }
        }
        let Some(d) = &self.signal.period.dominant else { return Ok(()) };
        if self.signal.validity.is_empty() {
            return self.cosine(c, x, d, color::DOMINANT.stroke_width(4));
        }
        for w in &self.signal.validity {
            self.cosine(c, self.shown(x, w), d, color::DOMINANT.stroke_width(4))?;
        }
        Ok(())
    }

    /// The part of a window in a range of time.
    fn shown(&self, x: (f64, f64), w: &Validity) -> (f64, f64) {
        ((w.start_s - self.shift).max(x.0), (w.end_s - self.shift).min(x.1))
    }

    /// Mean plus one cosine, as far as that is a bandwidth and the signal goes.
    fn cosine(&self, c: &mut Chart<'_, '_>, x: (f64, f64), d: &Dominant, style: ShapeStyle) -> Result<()> {
        let values = &self.view.sampled.values;
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let from = (x.0 + self.shift).max(self.signal.start_s);
        let span = (x.1 + self.shift).min(self.signal.end_s) - from;
        if span <= 0.0 {
            return Ok(());
        }
        // Sixteen points a period: pixels are whole numbers, more would show their steps.
        let points = (16.0 * span * d.frequency_hz).clamp(100.0, 6000.0) as usize;
        let wave = (0..=points).map(|i| {
            let t = from + span * i as f64 / points as f64;
            let phase = TAU * d.frequency_hz * (t - self.signal.start_s) + d.phase_rad;
            (t - self.shift, mean + d.amplitude_bytes_per_s * phase.cos())
        });
        for part in within(wave, (0.0, self.top)) {
            c.draw_series(LineSeries::new(part, style)).map_err(failed)?;
        }
        Ok(())
    }
}

/// The further periods and the colour of each.
fn others(signal: &SignalReport) -> impl Iterator<Item = (&OtherPeriod, RGBColor)> {
    signal.period.others.iter().zip(color::OTHERS)
}

/// Fine bins catch single requests far above any burst: the axis ends where 99.5 % of the bins with I/O do, if that is far lower.
fn percentile_top(values: &[f64]) -> f64 {
    let mut v: Vec<f64> = values.iter().copied().filter(|x| *x > 0.0).collect();
    v.sort_by(f64::total_cmp);
    let top = v.last().copied().unwrap_or(0.0);
    let most = v.get((v.len() as f64 * 0.995) as usize).copied().unwrap_or(top);
    if top > 3.0 * most { 1.2 * most } else { top }
}
