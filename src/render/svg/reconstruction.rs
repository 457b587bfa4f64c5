//! The signal as a sum of its strongest 1, 2, 3, 5 and 10 cosines (Tarraf & Wolf 2026, figure 1).

use plotters::prelude::*;

use super::frame::{Axis, Head, Key, Numbers, color, failed, headroom, panel, panels, steps};
use super::timeline::Timeline;
use super::view::View;
use crate::analysis::{SignalReport, strongest};
use crate::error::Result;
use crate::render::units;
use crate::transform::{Cosine, evaluate};

/// Numbers of cosines, one panel each.
const COUNTS: [usize; 5] = [1, 2, 3, 5, 10];

/// The picture of one signal; `None` if its bandwidth is constant.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn reconstruction(signal: &SignalReport, view: &View) -> Result<Option<String>> {
    let Some(powers) = &view.powers else { return Ok(None) };
    let rate = signal.sampling_hz;
    let order = strongest(powers, COUNTS[COUNTS.len() - 1]);
    let all: Vec<Cosine> =
        std::iter::once(0).chain(order.iter().copied()).filter_map(|k| view.spectrum.cosine(k, rate)).collect();
    let counts: Vec<usize> = COUNTS.into_iter().filter(|n| *n < all.len()).collect();
    let time = Timeline::cycles(signal);
    let shown = steps(|i| view.sampled.time(i) - time.shift, &view.sampled.values, time.range);
    let sums: Vec<Vec<(f64, f64)>> = counts
        .iter()
        .map(|n| time.times(240).map(|t| (t - time.shift, evaluate(&all[..=*n], t - signal.start_s))).collect())
        .collect();
    let points = shown.iter().chain(sums.iter().flatten());
    let (low, top) = points.fold((0.0, 0.0), |(l, t): (f64, f64), p| (l.min(p.1), t.max(p.1)));
    // Above the data there is room for the note.
    let y = Axis { range: (1.06 * low, headroom(1.35 * top)), label: "", unit: "B/s", numbers: Numbers::Prefixed };
    let head = Head {
        title: format!("Strongest cosines of the signal ({})", signal.mode.name().replace('_', " ")),
        caption: format!("Bandwidth of {}", time.caption(signal, view)),
        legend: vec![
            (Key::Fill(color::ORIGINAL, 0.55), format!("sampled at {}", units::hertz(rate))),
            (Key::Line(color::DOMINANT, 3), "mean and strongest cosines of the DFT".to_owned()),
        ],
    };
    let mut heights = vec![170; counts.len()];
    if let Some(last) = heights.last_mut() {
        *last += 54;
    }
    let picture = panels(&head, &heights, |areas| {
        for (i, ((area, n), sum)) in areas.iter().zip(&counts).zip(sums).enumerate() {
            let mut x = time.axis();
            if i + 1 < counts.len() {
                x.label = "";
                x.unit = "";
            }
            let share: f64 = order.iter().take(*n).map(|k| powers.power[k - 1]).sum();
            let s = if *n == 1 { "" } else { "s" };
            let note = format!("{n} cosine{s}, {:.0} % of the power", 100.0 * share);
            let mut c = panel(area, &note, &x, &y)?;
            c.draw_series(
                AreaSeries::new(shown.iter().copied(), 0.0, color::ORIGINAL.mix(0.55)).border_style(color::OUTLINE),
            )
            .map_err(failed)?;
            c.draw_series(LineSeries::new(sum, color::DOMINANT.stroke_width(3))).map_err(failed)?;
        }
        Ok(())
    })?;
    Ok(Some(picture))
}
