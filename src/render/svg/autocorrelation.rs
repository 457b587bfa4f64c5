//! The autocorrelation with the period and its multiples.

use plotters::prelude::*;

use super::frame::{Axis, Head, Key, Numbers, color, failed, picture, steps};
use super::view::View;
use crate::analysis::SignalReport;
use crate::error::Result;
use crate::period::methods::Sight;
use crate::render::units;

/// Periods that are shown, at most.
const PERIODS: f64 = 12.0;

/// The picture of one signal; `None` if its method did not look at the autocorrelation.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn autocorrelation(signal: &SignalReport, view: &View) -> Result<Option<String>> {
    let Sight::Autocorrelation(r) = &view.seen.sight else { return Ok(None) };
    let rate = signal.sampling_hz;
    let period = signal.period.dominant.as_ref().map(|d| d.period_s);
    let all = r.len() as f64 / rate;
    let shown = period.map_or(all, |t| all.min((PERIODS + 0.5) * t));
    let mode = signal.mode.name().replace('_', " ");
    let title = match period {
        Some(t) => format!("Autocorrelation ({mode}): peak at {}", units::seconds(t)),
        None => format!("Autocorrelation ({mode}): no periodic peak"),
    };
    let x = Axis { range: (0.0, shown), label: "Lag", unit: "s", numbers: Numbers::Time };
    let points = steps(|i| i as f64 / rate, r, x.range);
    let low = points.iter().map(|p| p.1).fold(0.0, f64::min);
    let high = points.iter().map(|p| p.1).fold(1.0, f64::max);
    let y = Axis { range: (1.1 * low, 1.06 * high), label: "Autocorrelation", unit: "", numbers: Numbers::Plain };
    let mut legend = vec![(Key::Line(color::SIGNAL, 2), "autocorrelation".to_owned())];
    if period.is_some() {
        legend.push((Key::Line(color::DOMINANT, 3), "period".to_owned()));
        legend.push((Key::Line(color::NEXT, 2), "its multiples".to_owned()));
    }
    let part = if shown < all {
        format!(": lags up to {} of {}", units::seconds(shown), units::seconds(all))
    } else {
        String::new()
    };
    let head = Head { title, caption: format!("{}{part}", view.name), legend };
    let svg = picture(&head, &x, &y, |c| {
        c.draw_series(LineSeries::new([(0.0, 0.0), (shown, 0.0)], color::INK.stroke_width(1))).map_err(failed)?;
        if let Some(t) = period {
            for k in (1..).map(f64::from).take_while(|k| k * t <= shown) {
                let (colour, width) = if k == 1.0 { (color::DOMINANT, 3) } else { (color::NEXT, 2) };
                let line = [(k * t, y.range.0), (k * t, y.range.1)];
                c.draw_series(LineSeries::new(line, colour.stroke_width(width))).map_err(failed)?;
            }
        }
        c.draw_series(LineSeries::new(points, color::SIGNAL.stroke_width(2))).map_err(failed)?;
        Ok(())
    })?;
    Ok(Some(svg))
}
