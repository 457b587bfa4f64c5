//! Bandwidth over time: the trace, the sampled signal, the cosine of each period where it holds, and the next burst.

use std::f64::consts::TAU;

use plotters::prelude::*;

use super::frame::{
    Axis, Chart, Head, Key, Lane, MOST_PERIODS, Numbers, color, draw_lanes, failed, headroom, panel, panels, picture,
    steps, with_lanes,
};
use super::timeline::{Period, Timeline};
use super::view::View;
use crate::analysis::SignalReport;
use crate::error::Result;
use crate::period::Dominant;
use crate::render::units;

/// Periods of the part of a long run that is shown by itself.
const PART: f64 = 8.0;

/// How long after the data, as a share of their time, the next burst is still shown.
const FARTHEST: f64 = 0.4;

/// A trace that exceeds the samples by less than this factor is shown whole.
const NEAR: f64 = 1.35;

/// Pixels of the plot: narrower cells could not be seen.
const COLUMNS: usize = 1000;

/// The picture of one signal. Of a run of more periods than can be seen it shows the whole, and below the last of them.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn bandwidth(signal: &SignalReport, view: &View) -> Result<String> {
    let mode = signal.mode.name().replace('_', " ");
    let time = Timeline::whole(signal);
    let periods = time.periods(signal);
    let span = signal.end_s - signal.start_s;
    // a burst that is far away would leave little room for those that were
    let farthest = signal.end_s + FARTHEST * span - time.shift;
    let next = signal.prediction.as_ref().map(|p| (p.next_start_s - time.shift, p.next_end_s - time.shift));
    let visible = next.filter(|(start, _)| *start < farthest);
    let end = time.range.1.max(visible.map_or(0.0, |(_, e)| e.min(farthest) + 0.01 * span));
    let whole = (time.range.0, end);
    let layers = Layers::new(signal, view, time.shift, &periods, visible);
    let head = Head {
        title: match &signal.period.dominant {
            Some(d) => format!("Bandwidth ({mode}): periodic, every {}", units::seconds(d.period_s)),
            None => format!("Bandwidth ({mode}): {}", signal.period.verdict.words()),
        },
        caption: view.name.clone(),
        legend: layers.legend(next),
    };
    let y = Axis {
        range: with_lanes(layers.y, &layers.lanes),
        label: "Bandwidth",
        unit: "B/s",
        numbers: Numbers::Prefixed,
    };
    let x = |range: (f64, f64)| Axis { range, ..time.axis() };
    let Some(d) = signal.period.dominant.as_ref().filter(|d| span / d.period_s > MOST_PERIODS) else {
        return picture(&head, &x(whole), &y, |c| {
            layers.background(c, whole, TRANSPARENT)?;
            layers.foreground(c, whole)
        });
    };
    let last = periods[0].windows.last().map_or(whole.1, |w| w.1);
    let to = visible.map(|(_, e)| e).filter(|e| *e <= last + PART * d.period_s).unwrap_or(last);
    let part = (last - PART * d.period_s, (to + 0.25 * d.period_s).min(whole.1));
    panels(&head, &[340, 330], |areas| {
        let [above, below] = areas else { return Ok(()) };
        // bursts of a long run are narrower than a pixel
        let mut c = panel(above, "", &x(whole), &y)?;
        layers.background(&mut c, whole, color::OUTLINE.to_rgba())?;
        draw_lanes(&mut c, whole, layers.y, &layers.lanes)?;
        let mut c = panel(below, "", &x(part), &Axis { range: layers.y, ..y.clone() })?;
        layers.background(&mut c, part, TRANSPARENT)?;
        layers.curves(&mut c, part)
    })
}

/// What is drawn over each other, in a range of time.
struct Layers<'a> {
    signal: &'a SignalReport,
    view: &'a View,
    periods: &'a [Period<'a>],
    lanes: Vec<Lane>,
    /// Subtracted from times.
    shift: f64,
    /// Ends of the axis, without the lanes.
    y: (f64, f64),
    /// Largest bandwidth of the trace at the resolution of the picture.
    most: f64,
    next: Option<(f64, f64)>,
}

impl<'a> Layers<'a> {
    fn new(
        signal: &'a SignalReport,
        view: &'a View,
        shift: f64,
        periods: &'a [Period<'a>],
        next: Option<(f64, f64)>,
    ) -> Self {
        let most = view.finest().coarse(COLUMNS).values.iter().copied().fold(0.0, f64::max);
        let top = percentile_top(&view.sampled.values);
        let top = if most < NEAR * top { top.max(most) } else { top };
        let waves = periods.iter().map(|p| (mean(view), p.period.amplitude_bytes_per_s));
        let (low, high) =
            waves.fold((0.0, top), |(low, high): (f64, f64), (m, a)| (low.min(1.05 * (m - a)), high.max(m + a)));
        let lanes = periods.iter().enumerate().flat_map(|(row, p)| lanes_of(row, p, shift)).collect();
        Layers { signal, view, periods, lanes, shift, y: (low, headroom(high)), most, next }
    }

    fn legend(&self, next: Option<(f64, f64)>) -> Vec<(Key, String)> {
        let mut legend = vec![
            (Key::Fill(color::ORIGINAL, 0.8), "trace".to_owned()),
            (Key::Line(color::SIGNAL, 2), format!("sampled at {}", units::hertz(self.signal.sampling_hz))),
        ];
        for (p, width) in self.periods.iter().zip([4, 2, 2, 2, 2]) {
            legend.push((Key::Line(p.color, width), format!("cosine of {}", units::seconds(p.period.period_s))));
        }
        if let Some((start, _)) = next {
            let error = self.signal.prediction.as_ref().and_then(|p| p.next_start_std_s);
            let error = error.map_or(String::new(), |s| format!(" ± {}", units::seconds(s)));
            legend.push((Key::Fill(color::NEXT, 0.5), format!("next burst at {start:.2} s{error}")));
        }
        if self.most > self.y.1 {
            legend.push((Key::Above(color::OUTLINE), format!("higher, up to {}", units::rate(self.most))));
        }
        legend
    }

    /// The next burst and the trace, with marks where it leaves the plot.
    fn background(&self, c: &mut Chart<'_, '_>, x: (f64, f64), outline: RGBAColor) -> Result<()> {
        let (low, top) = self.y;
        if let Some((a, b)) = self.next {
            let strip = Rectangle::new([(a.max(x.0), low), (b.min(x.1), top)], color::NEXT.mix(0.4).filled());
            c.draw_series([strip]).map_err(failed)?;
        }
        // an outline shows the highest value of each pixel, an area alone its mean
        let share = ((x.1 - x.0) / (self.signal.end_s - self.signal.start_s)).min(1.0);
        let cells = if outline == TRANSPARENT { (COLUMNS as f64 / share) as usize } else { usize::MAX };
        let curve = self.view.finest().coarse(cells);
        let trace = steps(|i| curve.time(i) - self.shift, &curve.values, x);
        let shown = trace.iter().map(|&(t, v)| (t, v.min(top)));
        c.draw_series(AreaSeries::new(shown, 0.0, color::ORIGINAL.mix(0.8)).border_style(outline)).map_err(failed)?;
        let mut above: Vec<f64> = trace.iter().filter(|p| p.1 > top && self.most > top).map(|p| p.0).collect();
        above.dedup_by(|b, a| *b - *a < 0.012 * (x.1 - x.0));
        c.draw_series(above.into_iter().map(|t| TriangleMarker::new((t, top), 7, color::OUTLINE.filled())))
            .map_err(failed)?;
        Ok(())
    }

    fn foreground(&self, c: &mut Chart<'_, '_>, x: (f64, f64)) -> Result<()> {
        self.curves(c, x)?;
        draw_lanes(c, x, self.y, &self.lanes)
    }

    /// The sampled signal, and mean plus cosine of each period where it holds; the dominant one above the others.
    fn curves(&self, c: &mut Chart<'_, '_>, x: (f64, f64)) -> Result<()> {
        let sampled = steps(|i| self.view.sampled.time(i) - self.shift, &self.view.sampled.values, x);
        let sampled = sampled.into_iter().map(|(t, v)| (t, v.clamp(self.y.0, self.y.1)));
        c.draw_series(LineSeries::new(sampled, color::SIGNAL.stroke_width(2))).map_err(failed)?;
        for (i, p) in self.periods.iter().enumerate().rev() {
            for w in &p.windows {
                let shown = (w.0.max(x.0), w.1.min(x.1));
                self.cosine(c, shown, p.period, p.color.stroke_width(if i == 0 { 4 } else { 2 }))?;
            }
        }
        Ok(())
    }

    /// Mean plus one cosine.
    fn cosine(&self, c: &mut Chart<'_, '_>, x: (f64, f64), d: &Dominant, style: ShapeStyle) -> Result<()> {
        let (from, span) = (x.0 + self.shift, x.1 - x.0);
        // a cosine of more periods than can be seen would hide the signal
        if span <= 0.0 {
            return Ok(());
        }
        // pixels are whole numbers: more points would show their steps
        let points = (16.0 * span * d.frequency_hz).clamp(240.0, 6000.0) as usize;
        let mean = mean(self.view);
        let wave = (0..=points).map(|i| {
            let t = from + span * i as f64 / points as f64;
            let phase = TAU * d.frequency_hz * (t - self.signal.start_s) + d.phase_rad;
            (t - self.shift, mean + d.amplitude_bytes_per_s * phase.cos())
        });
        c.draw_series(LineSeries::new(wave, style)).map_err(failed)?;
        Ok(())
    }
}

/// Where a period holds, and its next burst in the same row.
fn lanes_of(row: usize, p: &Period<'_>, shift: f64) -> impl Iterator<Item = Lane> {
    let text = format!("every {}, confidence {:.0} %", units::seconds(p.period.period_s), 100.0 * p.period.confidence);
    let holds = Lane { row, spans: p.windows.clone(), text, color: p.color };
    let next = p.next.map(|n| {
        let spans = vec![(n.next_start_s - shift, n.next_end_s - shift)];
        Lane { row, spans, text: "next".into(), color: color::NEXT }
    });
    std::iter::once(holds).chain(next)
}

fn mean(view: &View) -> f64 {
    let values = &view.sampled.values;
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Single samples may lie far above all bursts: the axis ends where 99 % of the samples with I/O do, if that is far lower.
fn percentile_top(values: &[f64]) -> f64 {
    let mut v: Vec<f64> = values.iter().copied().filter(|x| *x > 0.0).collect();
    v.sort_by(f64::total_cmp);
    let top = v.last().copied().unwrap_or(0.0);
    let most = v.get((v.len() as f64 * 0.99) as usize).copied().unwrap_or(top);
    if top > 2.0 * most { 1.2 * most } else { top }
}
