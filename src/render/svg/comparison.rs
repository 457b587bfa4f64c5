//! Two runs: bandwidth aligned at the first burst, mean bursts, ranks, and cost.

use plotters::prelude::*;

use super::frame::{Area, Axis, Head, Key, Numbers, color, failed, headroom, panel, panels, steps};
use crate::compare::{Comparison, Curve, View};
use crate::error::Result;
use crate::render::{compare, units};

/// Points of a mean burst.
const CELLS: usize = 200;
/// Ranks, or groups of ranks, in the strip.
const STRIP: usize = 200;
/// Colours of the runs before and after.
const BEFORE: RGBColor = color::SIGNAL;
const AFTER: RGBColor = color::DOMINANT;
/// Height of a panel of two bandwidths, and of the others, in pixels.
const SIGNAL: u32 = 230;
const OTHER: u32 = 250;

/// The picture of a comparison; `names` are those of the traces.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn comparison(c: &Comparison, names: &[String; 2]) -> Result<String> {
    let v = &c.view;
    let unit = time_unit(v);
    let mean = [0, 1].map(|i| v.curves[i].as_ref().and_then(|c| Some(mean_burst(c, c.period_s?))));
    let has_mean = mean.iter().any(Option::is_some);
    let has_curves = v.curves.iter().any(Option::is_some);
    let mut heights = Vec::new();
    heights.extend(has_curves.then_some([SIGNAL, SIGNAL + 50]).into_iter().flatten());
    heights.extend(has_mean.then_some(OTHER));
    heights.extend((!v.ranks.is_empty()).then_some(OTHER));
    heights.extend((!v.cost.is_empty()).then_some(OTHER));
    let head = Head {
        title: compare::verdict(c),
        caption: format!("A: {}; B: {}", names[0], names[1]),
        legend: vec![(Key::Fill(BEFORE, 0.8), "A, before".to_owned()), (Key::Fill(AFTER, 0.8), "B, after".to_owned())],
    };
    panels(&head, &heights, |areas| {
        let mut areas = areas.iter();
        if has_curves && let (Some(first), Some(second)) = (areas.next(), areas.next()) {
            signals(v, unit, [first, second])?;
        }
        if has_mean && let Some(area) = areas.next() {
            bursts(area, v, &mean)?;
        }
        if !v.ranks.is_empty()
            && let Some(area) = areas.next()
        {
            ranks(area, v)?;
        }
        if !v.cost.is_empty()
            && let Some(area) = areas.next()
        {
            cost(area, v)?;
        }
        Ok(())
    })
}

/// Seconds that time counts in, for each run: its period if the periods differ.
fn time_unit(v: &View) -> Option<[f64; 2]> {
    let [a, b] = &v.curves;
    let (a, b) = (a.as_ref()?.period_s?, b.as_ref()?.period_s?);
    ((b / a).ln().abs() > 0.01).then_some([a, b])
}

/// First moment of a curve above a hundredth of its highest value.
fn first_burst(c: &Curve) -> f64 {
    let least = 0.01 * c.values.iter().copied().fold(0.0, f64::max);
    let first = c.values.iter().position(|x| *x > least).unwrap_or(0) as f64;
    c.start_s + first * c.step_s
}

/// Both signals below each other, on one scale.
fn signals(v: &View, unit: Option<[f64; 2]>, areas: [&Area<'_>; 2]) -> Result<()> {
    let unit = |i: usize| unit.map_or(1.0, |u| u[i]);
    let time = |c: &Curve, i: usize, at: usize| (c.start_s + at as f64 * c.step_s - first_burst(c)) / unit(i);
    let ends = |i: usize| v.curves[i].as_ref().map(|c| (time(c, i, 0), time(c, i, c.values.len())));
    let all: Vec<(f64, f64)> = [0, 1].into_iter().filter_map(ends).collect();
    let range = (
        all.iter().map(|r| r.0).fold(f64::INFINITY, f64::min),
        all.iter().map(|r| r.1).fold(f64::NEG_INFINITY, f64::max),
    );
    let top = v.curves.iter().flatten().flat_map(|c| &c.values).copied().fold(0.0, f64::max);
    for (i, area) in areas.into_iter().enumerate() {
        let (label, name, numbers) = match (i, unit(0) == 1.0 && unit(1) == 1.0) {
            (0, _) => ("", "", Numbers::Plain),
            (_, true) => ("Time since the first burst", "s", Numbers::Time),
            (_, false) => ("Time since the first burst", "periods", Numbers::Plain),
        };
        let x = Axis { range, label, unit: name, numbers };
        let y = Axis { range: (0.0, headroom(top)), label: v.mode, unit: "B/s", numbers: Numbers::Prefixed };
        let mut chart = panel(area, "", &x, &y)?;
        if let Some(c) = &v.curves[i] {
            let shown = steps(|at| time(c, i, at), &c.values, range);
            let ink = [BEFORE, AFTER][i];
            chart.draw_series(AreaSeries::new(shown, 0.0, ink.mix(0.7)).border_style(ink)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Mean of the curve at even times from a quarter of a period before each burst to three quarters after it.
fn mean_burst(c: &Curve, period_s: f64) -> Vec<f64> {
    let cell = |k: usize| {
        let phase = (k as f64 + 0.5) / CELLS as f64 - 0.25;
        let at = |start: &f64| {
            let i = ((start + phase * period_s - c.start_s) / c.step_s).floor();
            if i < 0.0 { 0.0 } else { c.values.get(i as usize).copied().unwrap_or(0.0) }
        };
        c.bursts_s.iter().map(at).sum::<f64>() / c.bursts_s.len().max(1) as f64
    };
    (0..CELLS).map(cell).collect()
}

fn bursts(area: &Area<'_>, v: &View, mean: &[Option<Vec<f64>>; 2]) -> Result<()> {
    let period = |i: usize| v.curves[i].as_ref().and_then(|c| c.period_s).unwrap_or(0.0);
    let longest = period(0).max(period(1));
    let top = mean.iter().flatten().flatten().copied().fold(0.0, f64::max);
    let x = Axis {
        range: (-0.25 * longest, 0.75 * longest),
        label: "Time since the start of a burst",
        unit: "s",
        numbers: Numbers::Time,
    };
    let y = Axis { range: (0.0, headroom(top)), label: "mean burst", unit: "B/s", numbers: Numbers::Prefixed };
    let mut chart = panel(area, "", &x, &y)?;
    for i in 0..2 {
        let Some(values) = &mean[i] else { continue };
        let time = |k: usize| (k as f64 / CELLS as f64 - 0.25) * period(i);
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().flat_map(|(k, y)| [(time(k), *y), (time(k + 1), *y)]).collect();
        chart.draw_series(LineSeries::new(points, [BEFORE, AFTER][i].stroke_width(3))).map_err(failed)?;
    }
    Ok(())
}

/// The change of each rank's time, ranks in groups if there are many.
fn ranks(area: &Area<'_>, v: &View) -> Result<()> {
    let group = v.ranks.len().div_ceil(STRIP);
    let change = |part: &[[crate::facts::RankTime; 2]]| {
        part.iter().map(|[a, b]| b.io_s - a.io_s).fold(0.0f64, |most, x| if x.abs() > most.abs() { x } else { most })
    };
    let bars: Vec<f64> = v.ranks.chunks(group).map(change).collect();
    let most = bars.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let (up, down) = (bars.iter().copied().fold(0.0, f64::max), bars.iter().copied().fold(0.0, f64::min));
    let room = headroom(most) - most;
    let range = (down - room, up + room);
    let y = Axis { range, label: "B − A", unit: "s", numbers: Numbers::Time };
    let largest = bars.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map_or(0, |x| x.0);
    let text = units::seconds(most);
    let note = if most > 0.0 {
        format!(" (largest change: {text}, {})", rank_name(v, largest * group, group))
    } else {
        String::new()
    };
    let label = format!("Rank{note}");
    let x = Axis { range: (-0.5, v.ranks.len() as f64 - 0.5), label: &label, unit: "", numbers: Numbers::Plain };
    let mut chart = panel(area, "", &x, &y)?;
    let bar = |(i, change): (usize, &f64)| {
        let (from, to) = ((i * group) as f64 - 0.4, ((i + 1) * group) as f64 - 0.6);
        let ink = if *change > 0.0 { AFTER } else { BEFORE };
        Rectangle::new([(from, 0.0), (to, *change)], ink.mix(0.8).filled())
    };
    chart.draw_series(bars.iter().enumerate().map(bar)).map_err(failed)?;
    Ok(())
}

fn rank_name(v: &View, first: usize, group: usize) -> String {
    let rank = v.ranks.get(first).map_or(0, |r| r[0].rank);
    if group == 1 { format!("rank {rank}") } else { format!("one of {group} ranks from {rank}") }
}

/// Seconds of the slowest rank by kind of I/O.
fn cost(area: &Area<'_>, v: &View) -> Result<()> {
    let top = v.cost.iter().flat_map(|c| c.1).fold(0.0, f64::max);
    let names: Vec<String> = v
        .cost
        .iter()
        .map(|(kind, [a, b])| format!("{kind} {} to {}", units::seconds(*a), units::seconds(*b)))
        .collect();
    let x = Axis { range: (0.0, v.cost.len().max(3) as f64), label: "", unit: "", numbers: Numbers::Plain };
    let y = Axis { range: (0.0, 1.25 * headroom(top)), label: "slowest rank", unit: "s", numbers: Numbers::Time };
    let mut chart = panel(area, "", &x, &y)?;
    for (i, (_, values)) in v.cost.iter().enumerate() {
        for (k, value) in values.iter().enumerate() {
            let from = i as f64 + 0.2 + 0.3 * k as f64;
            let bar = Rectangle::new([(from, 0.0), (from + 0.28, *value)], [BEFORE, AFTER][k].mix(0.8).filled());
            chart.draw_series([bar]).map_err(failed)?;
        }
        let style = ("sans-serif", 19).into_font().color(&color::INK).pos(plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Top,
        ));
        let place = (i as f64 + 0.5, 1.25 * headroom(top));
        chart.draw_series([Text::new(names[i].clone(), place, style)]).map_err(failed)?;
    }
    Ok(())
}
