//! Power spectrum with the outlier threshold, candidates and harmonics.

use plotters::prelude::*;

use super::frame::{Axis, Head, Key, Numbers, color, failed, headroom, picture};
use super::timeline::Timeline;
use super::view::View;
use crate::analysis::SignalReport;
use crate::error::Result;
use crate::period::spectrum::{OUTLIER, Powers};
use crate::render::units;

/// The picture of one signal; `None` if its bandwidth is constant.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn spectrum(signal: &SignalReport, view: &View) -> Result<Option<String>> {
    let Some(powers) = &view.powers else { return Ok(None) };
    let mode = signal.mode.name().replace('_', " ");
    let dominant = signal.period.dominant.as_ref().map(|d| d.frequency_hz);
    let threshold = powers.statistics.mean + OUTLIER * powers.statistics.std;
    let last = shown_bins(powers, dominant);
    let x = Axis { range: (0.0, powers.frequency(last)), label: "Frequency", unit: "Hz", numbers: Numbers::Prefixed };
    let top = powers.power[..last].iter().copied().fold(0.0, f64::max).max(threshold);
    let y =
        Axis { range: (0.0, 100.0 * headroom(top)), label: "Share of the power", unit: "%", numbers: Numbers::Plain };
    let title = match dominant {
        Some(f) => format!("Power spectrum ({mode}): {} = 1 / {}", units::hertz(f), units::seconds(1.0 / f)),
        None => format!("Power spectrum ({mode}): no dominant frequency"),
    };
    let near = |f: f64| ((f / powers.resolution_hz).round() as usize).clamp(1, powers.power.len());
    let height = |f: f64| 100.0 * powers.power[near(f) - 1];
    let periods = Timeline::whole(signal).periods(signal);
    let is = |f: f64, of: f64| (f - of).abs() < powers.resolution_hz;
    let known = |f: f64| periods.iter().any(|p| is(f, p.period.frequency_hz));
    let harmonic = |f: f64| dominant.is_some_and(|d| f > 1.5 * d && is(f, (f / d).round() * d));
    // a dot at no power would mark nothing
    let visible = |f: &f64| *f <= x.range.1 && height(*f) > 0.03 * y.range.1;
    let found = signal.period.candidates.iter().map(|c| c.frequency_hz).filter(|f| !known(*f) && !harmonic(*f));
    let candidates: Vec<f64> = found.filter(visible).collect();
    let harmonics: Vec<f64> = (2..=8).filter_map(|k| Some(f64::from(k) * dominant?)).filter(visible).collect();
    let mut legend = vec![
        (Key::Line(color::SIGNAL, 3), "power of a bin".to_owned()),
        (Key::Dash(color::INK, 1), "outlier threshold (z = 3)".to_owned()),
    ];
    for p in &periods {
        legend.push((Key::Dash(p.color, 3), format!("period of {}", units::seconds(p.period.period_s))));
    }
    for (dots, color, text) in [(&harmonics, color::NEXT, "harmonics"), (&candidates, color::VALID, "candidates")] {
        if !dots.is_empty() {
            legend.push((Key::Dot(color), text.to_owned()));
        }
    }
    let all = powers.frequency(powers.power.len());
    let part = if x.range.1 < all {
        format!(": up to {} of {}", units::hertz(x.range.1), units::hertz(all))
    } else {
        String::new()
    };
    let head = Head { title, caption: format!("{}{part}", view.name), legend };
    picture(&head, &x, &y, |c| {
        let stems = columns(powers, last).into_iter().map(|(f, p)| {
            PathElement::new(vec![(f, 0.0), (f, 100.0 * p)], color::SIGNAL.stroke_width(if last > 400 { 2 } else { 3 }))
        });
        c.draw_series(stems).map_err(failed)?;
        let line = vec![(0.0, 100.0 * threshold), (x.range.1, 100.0 * threshold)];
        c.draw_series(DashedLineSeries::new(line, 8, 6, color::INK.stroke_width(1))).map_err(failed)?;
        for (f, color) in periods.iter().map(|p| (p.period.frequency_hz, p.color)).filter(|(f, _)| *f <= x.range.1) {
            let line = [(f, 0.0), (f, y.range.1)];
            c.draw_series(DashedLineSeries::new(line, 10, 5, color.stroke_width(3))).map_err(failed)?;
            c.draw_series([Circle::new((f, height(f)), 8, color.filled())]).map_err(failed)?;
        }
        for (dots, color) in [(&harmonics, color::NEXT), (&candidates, color::VALID)] {
            c.draw_series(dots.iter().map(|f| Circle::new((*f, height(*f)), 6, color.filled()))).map_err(failed)?;
        }
        Ok(())
    })
    .map(Some)
}

/// Bins to show: those that hold 99 % of the power, at least ten times the dominant frequency and 20 bins.
pub(in crate::render) fn shown_bins(powers: &Powers, dominant: Option<f64>) -> usize {
    let mut sum = 0.0;
    let most = powers.power.iter().position(|p| {
        sum += p;
        sum >= 0.99
    });
    let most = most.map_or(powers.power.len(), |i| i + 1);
    let least = dominant.map_or(20, |f| ((10.5 * f / powers.resolution_hz) as usize).max(20));
    // Bursts have harmonics without end; the first dozen is enough to see them.
    let cap = dominant.map_or(usize::MAX, |f| ((12.5 * f / powers.resolution_hz) as usize).max(least));
    most.clamp(least, cap).min(powers.power.len())
}

/// Stems for a picture: of bins that share a pixel the highest.
pub(in crate::render) fn columns(powers: &Powers, last: usize) -> Vec<(f64, f64)> {
    let group = last.div_ceil(1100);
    (1..=last)
        .step_by(group)
        .filter_map(|k| {
            let bins = k..(k + group).min(last + 1);
            bins.map(|b| (powers.frequency(b), powers.power[b - 1])).max_by(|a, b| a.1.total_cmp(&b.1))
        })
        .collect()
}
