//! The bursts of the period: where they are, and their mean shape.

use plotters::prelude::*;

use super::frame::{
    Axis, Head, Key, Lane, Numbers, color, draw_lanes, failed, headroom, panel, panels, steps, with_lanes,
};
use super::timeline::Timeline;
use super::view::{Curve, View};
use crate::analysis::SignalReport;
use crate::error::Result;
use crate::render::units;

/// Points of the folded burst.
pub(in crate::render) const CELLS: usize = 200;

/// Bursts that are folded, at most: more change nothing that can be seen.
const FOLDED: usize = 2000;

/// The picture of one signal; `None` if it has no bursts.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn bursts(signal: &SignalReport, view: &View) -> Result<Option<String>> {
    let (Some(b), Some(d)) = (&signal.bursts, &signal.period.dominant) else { return Ok(None) };
    let spans: Vec<(f64, f64)> = match &view.seen.bursts[..] {
        [] => b.starts_s.iter().map(|s| (*s, s + b.width_s.median)).collect(),
        known => known.to_vec(),
    };
    let time = Timeline::cycles(signal);
    let curve = view.finest();
    let shown = steps(|i| curve.time(i) - time.shift, &curve.values, time.range);
    let visible: Vec<(f64, f64)> = spans
        .iter()
        .map(|(a, b)| ((a - time.shift).max(time.range.0), (b - time.shift).min(time.range.1)))
        .filter(|(a, b)| a < b)
        .collect();
    let folded = fold(curve, &b.starts_s, d.period_s);
    let top = shown.iter().map(|p| p.1).fold(0.0, f64::max);
    let mean_top = folded.iter().map(|f| f.2).fold(0.0, f64::max);
    let bursts = |spans, text| [Lane { row: 0, spans, text, color: color::VALID }];
    let shown_of = match (visible.len() as u64, b.count) {
        (shown, all) if shown < all => format!("{shown} of {} bursts", units::grouped(all)),
        (_, all) => units::counted(all, "burst"),
    };
    let above = bursts(visible, shown_of);
    let width = (0.0, b.width_s.median.min(0.75 * d.period_s));
    let below = bursts(vec![width], format!("burst, {}", units::seconds(b.width_s.median)));
    let head = Head {
        title: format!(
            "Bursts ({}): {}, {} each, duty cycle {:.0} % of {}",
            signal.mode.name().replace('_', " "),
            units::grouped(b.count),
            units::seconds(b.width_s.median),
            100.0 * b.duty_cycle,
            units::seconds(d.period_s),
        ),
        caption: format!("{}; below: the cycles of all bursts, overlaid", time.caption(signal, view)),
        legend: vec![
            (Key::Fill(color::ORIGINAL, 0.8), "trace".to_owned()),
            (Key::Line(color::SIGNAL, 3), "median of the bursts".to_owned()),
            (Key::Fill(color::SIGNAL, 0.25), "interquartile range".to_owned()),
        ],
    };
    let svg = panels(&head, &[330, 340], |areas| {
        let [first, second] = areas else { return Ok(()) };
        let y = Axis { range: (0.0, headroom(top)), label: "Bandwidth", unit: "B/s", numbers: Numbers::Prefixed };
        let mut c = panel(first, "", &time.axis(), &Axis { range: with_lanes(y.range, &above), ..y.clone() })?;
        c.draw_series(AreaSeries::new(shown, 0.0, color::ORIGINAL.mix(0.8)).border_style(color::OUTLINE))
            .map_err(failed)?;
        draw_lanes(&mut c, time.range, y.range, &above)?;
        let x = Axis {
            range: (-0.25 * d.period_s, 0.75 * d.period_s),
            label: "Time since the start of a burst",
            unit: "s",
            numbers: Numbers::Time,
        };
        let y = Axis { range: (0.0, headroom(mean_top)), ..y };
        let mut c = panel(second, "", &x, &Axis { range: with_lanes(y.range, &below), ..y.clone() })?;
        draw_lanes(&mut c, x.range, y.range, &below)?;
        let cell = d.period_s / CELLS as f64;
        let corner = |i: usize| x.range.0 + i as f64 * cell;
        let boxes =
            folded.iter().enumerate().filter(|(_, f)| f.2 > f.0).map(|(i, f)| {
                Rectangle::new([(corner(i), f.0), (corner(i + 1), f.2)], color::SIGNAL.mix(0.25).filled())
            });
        c.draw_series(boxes).map_err(failed)?;
        let median = folded.iter().enumerate().flat_map(|(i, f)| [(corner(i), f.1), (corner(i + 1), f.1)]);
        c.draw_series(LineSeries::new(median, color::SIGNAL.stroke_width(3))).map_err(failed)?;
        Ok(())
    })?;
    Ok(Some(svg))
}

/// Lower quartile, median and upper quartile of the curve at even times from a quarter of a period before each start to three
/// quarters after it.
pub(in crate::render) fn fold(curve: &Curve, starts: &[f64], period: f64) -> Vec<(f64, f64, f64)> {
    let group = starts.len().div_ceil(FOLDED).max(1);
    let at = |t: f64| {
        let i = ((t - curve.start_s) / curve.step_s).floor();
        if i >= 0.0 { curve.values.get(i as usize).copied() } else { None }
    };
    let cell = |c: usize| {
        let phase = (c as f64 + 0.5) / CELLS as f64 - 0.25;
        let mut v: Vec<f64> = starts.iter().step_by(group).filter_map(|s| at(s + phase * period)).collect();
        v.sort_by(f64::total_cmp);
        let quantile = |q: f64| v.get(((v.len().max(1) - 1) as f64 * q).round() as usize).copied().unwrap_or(0.0);
        (quantile(0.25), quantile(0.5), quantile(0.75))
    };
    (0..CELLS).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_a_train_gives_its_burst() {
        let values = (0..1000).map(|i| if i % 100 < 20 { 4.0 } else { 0.0 }).collect();
        let curve = Curve { start_s: 50.0, step_s: 0.1, values };
        let f = fold(&curve, &[60.0, 70.0, 80.0, 130.0], 10.0);
        // Two of ten seconds from the start on: cells 50 to 89 of 200.
        assert!(f.iter().enumerate().all(|(i, q)| q.1 == if (50..90).contains(&i) { 4.0 } else { 0.0 }));
    }
}
