//! Power over time and frequency: the spectrogram of the STFT, the scalogram of the CWT.

use plotters::prelude::*;

use super::frame::{Axis, Head, Key, Numbers, color, failed, picture};
use super::heat::{self, COLUMNS, Row};
use super::timeline::Timeline;
use super::view::View;
use crate::analysis::SignalReport;
use crate::error::Result;
use crate::period::Method;
use crate::period::methods::{Map, Sight};
use crate::render::units;

/// The picture of one signal; `None` if its method has no such map.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn map(signal: &SignalReport, view: &View) -> Result<Option<String>> {
    let Sight::Map(map) = &view.seen.sight else { return Ok(None) };
    let time = Timeline::whole(signal);
    let dominant = signal.period.dominant.as_ref().map(|d| d.frequency_hz);
    let (first, last) = match (map.frequency_hz.first(), map.frequency_hz.last()) {
        (Some(a), Some(b)) if a < b => (*a, *b),
        _ => return Ok(None),
    };
    let most = dominant.map_or_else(|| most_power(map), |f| 5.5 * f).min(last);
    // the scales of wavelets are octaves, the bins of a DFT are not
    let (what, numbers, low) = match signal.period.method {
        Method::Cwt => ("Wavelet power", Numbers::Logarithmic, first.max(dominant.map_or(0.0, |f| f / 8.0))),
        _ => ("Power spectra over time", Numbers::Prefixed, first.min(0.5 * most)),
    };
    let y = Axis { range: (low, most), label: "Frequency", unit: "Hz", numbers };
    let rows = rows(map, signal.start_s - time.shift, y.range);
    let periods = time.periods(signal);
    let mode = signal.mode.name().replace('_', " ");
    let title = match dominant {
        Some(f) => format!("{what} ({mode}): {} = 1 / {}", units::hertz(f), units::seconds(1.0 / f)),
        None => format!("{what} ({mode}): no dominant frequency"),
    };
    let mut legend = vec![
        (Key::Ramp, "0 to 100 % of the largest amplitude".to_owned()),
        (Key::Dot(color::TRACK), "strongest frequency".to_owned()),
    ];
    for p in &periods {
        legend.push((Key::Line(p.color, 3), format!("period of {}", units::seconds(p.period.period_s))));
    }
    let head = Head { title, caption: view.name.clone(), legend };
    let svg = picture(&head, &time.axis(), &y, |c| {
        heat::draw(c, &rows, time.range, y.range)?;
        for p in &periods {
            let f = p.period.frequency_hz;
            for &(from, to) in p.windows.iter().filter(|_| (y.range.0..=y.range.1).contains(&f)) {
                c.draw_series(LineSeries::new([(from, f), (to, f)], p.color.stroke_width(4))).map_err(failed)?;
            }
        }
        let points = signal.track.iter().map(|p| (p.time_s - time.shift, 1.0 / p.period_s));
        let visible = points.filter(|(_, f)| *f >= y.range.0 && *f <= y.range.1);
        c.draw_series(visible.map(|p| Circle::new(p, 4, color::TRACK.filled()))).map_err(failed)?;
        Ok(())
    })?;
    Ok(Some(svg))
}

/// The frequency below which 95 % of the power lies, with some room.
fn most_power(map: &Map) -> f64 {
    let sums: Vec<f64> = map.power.rows().into_iter().map(|r| r.sum()).collect();
    let total: f64 = sums.iter().sum();
    let mut sum = 0.0;
    let row = sums.iter().position(|s| {
        sum += s;
        sum >= 0.95 * total
    });
    1.2 * row.and_then(|i| map.frequency_hz.get(i)).copied().unwrap_or(f64::INFINITY)
}

/// The rows that can be seen, each from half way to the one below to half way to the one above; roots of the powers, so that weak
/// parts show, too.
fn rows(map: &Map, start: f64, range: (f64, f64)) -> Vec<Row> {
    let f = &map.frequency_hz;
    let group = map.power.ncols().div_ceil(COLUMNS).max(1);
    let between = |i: usize| 0.5 * (f[i] + f[i + 1]);
    let edges = |i: usize| {
        let low = if i > 0 { between(i - 1) } else { f[0] };
        let high = if i + 1 < f.len() { between(i) } else { f[i] };
        (low, high)
    };
    let visible: Vec<usize> = (0..f.len()).filter(|&i| edges(i).1 > range.0 && edges(i).0 < range.1).collect();
    let value = |i: usize| map.power.row(i).iter().map(|p| p.sqrt()).collect::<Vec<f64>>();
    let top = visible.iter().flat_map(|&i| value(i)).fold(0.0, f64::max);
    visible
        .into_iter()
        .map(|i| Row {
            x0: start + map.start_s - 0.5 * map.step_s,
            step: group as f64 * map.step_s,
            y: edges(i),
            values: heat::thinned(value(i).into_iter(), group)
                .into_iter()
                .map(|v| if top > 0.0 { v / top } else { 0.0 })
                .collect(),
        })
        .collect()
}
