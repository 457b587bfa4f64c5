//! Two runs: bandwidth aligned at the first burst, mean bursts, ranks, and cost.

use plotters::style::RGBColor;

use super::axis::headroom;
use super::draw::{Look, draw};
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Steps, color};
use crate::compare::{Comparison, Curve, View};
use crate::render::{compare, units};

/// Points of a mean burst.
const CELLS: usize = 200;
/// Ranks, or groups of ranks, in the strip.
const STRIP: usize = 200;
/// Names and colours of the runs.
const RUNS: [(&str, RGBColor); 2] = [("A, before", color::SIGNAL), ("B, after", color::DOMINANT)];

/// The figure of a comparison as SVG; `names` are those of the traces.
pub fn comparison(c: &Comparison, names: &[String; 2], look: &Look) -> String {
    let v = &c.view;
    let mut panels = signals(v);
    panels.extend(bursts(v));
    panels.extend(ranks(v));
    panels.extend(cost(v));
    let caption = format!("A: {}; B: {}", names[0], names[1]);
    draw(&Figure { title: compare::verdict(c), caption, panels }, look, "").svg
}

/// A layer of one of the runs.
fn of_run(i: usize, shape: Shape) -> Layer {
    Layer::new(RUNS[i].0, RUNS[i].1, shape).mix(0.8)
}

/// Seconds that time counts in, for each run: its period if the periods differ.
fn time_unit(v: &View) -> Option<[f64; 2]> {
    let [a, b] = &v.curves;
    let (a, b) = (a.as_ref()?.period_s?, b.as_ref()?.period_s?);
    ((b / a).ln().abs() > 0.01).then_some([a, b])
}

/// Both signals below each other from their first bursts on, on one scale.
fn signals(v: &View) -> Vec<Panel> {
    let unit = time_unit(v);
    let per = unit.unwrap_or([1.0, 1.0]);
    let aligned = |i: usize| {
        let c: &Curve = v.curves[i].as_ref()?;
        let least = 0.01 * c.values.iter().copied().fold(0.0, f64::max);
        let first = c.values.iter().position(|x| *x > least).unwrap_or(0) as f64;
        Some(Steps { start: -first * c.step_s / per[i], step: c.step_s / per[i], values: c.values.clone() })
    };
    let all: Vec<Option<Steps>> = vec![aligned(0), aligned(1)];
    if all.iter().all(Option::is_none) {
        return Vec::new();
    }
    let ends = |f: fn(f64, f64) -> f64, from: f64, of: fn(&Steps) -> f64| all.iter().flatten().map(of).fold(from, f);
    let range =
        (ends(f64::min, f64::INFINITY, |s| s.start), ends(f64::max, f64::NEG_INFINITY, |s| s.at(s.values.len())));
    let top = ends(f64::max, 0.0, |s| s.ends().1);
    let panel = |(i, steps): (usize, Option<Steps>)| {
        let x = match (i, unit) {
            (0, _) => Axis::new(range, "", "", Numbers::Plain),
            (_, None) => Axis::new(range, "Time since the first burst", "s", Numbers::Time),
            (_, Some(_)) => Axis::new(range, "Time since the first burst", "periods", Numbers::Plain),
        };
        let layers = steps.into_iter().map(|s| of_run(i, Shape::Area(s))).collect();
        Panel::new(x, Axis { label: v.mode.into(), ..Axis::rate(top) }, layers).height(190.0)
    };
    all.into_iter().enumerate().map(panel).collect()
}

/// Mean of the curve at even times from a quarter of a period before each burst to three quarters after it.
fn mean_burst(c: &Curve) -> Option<Steps> {
    let period_s = c.period_s?;
    let cell = |k: usize| {
        let phase = (k as f64 + 0.5) / CELLS as f64 - 0.25;
        let at = |start: &f64| {
            let i = ((start + phase * period_s - c.start_s) / c.step_s).floor();
            if i < 0.0 { 0.0 } else { c.values.get(i as usize).copied().unwrap_or(0.0) }
        };
        c.bursts_s.iter().map(at).sum::<f64>() / c.bursts_s.len().max(1) as f64
    };
    Some(Steps { start: -0.25 * period_s, step: period_s / CELLS as f64, values: (0..CELLS).map(cell).collect() })
}

fn bursts(v: &View) -> Option<Panel> {
    let mean = [0, 1].map(|i| v.curves[i].as_ref().and_then(mean_burst));
    let first = mean.iter().flatten().map(|m| m.start).reduce(f64::min)?;
    let top = mean.iter().flatten().map(|m| m.ends().1).fold(0.0, f64::max);
    // where nothing moves, there is nothing to see
    let end = |m: &Steps| m.values.iter().rposition(|v| *v > 0.01 * top).map_or(0.0, |i| m.at(i + 1));
    let last = mean.iter().flatten().map(end).fold(-0.2 * first, f64::max);
    let x = Axis::new((first.max(-0.2 * last), 1.2 * last), "Time since the start of a burst", "s", Numbers::Time);
    let curve = |(i, m): (usize, Option<Steps>)| Some(of_run(i, Shape::Curve(m?)).mix(1.0).wide(3.0));
    let layers = mean.into_iter().enumerate().filter_map(curve).collect();
    Some(Panel::new(x, Axis { label: "mean burst".into(), ..Axis::rate(top) }, layers).height(170.0))
}

/// The change of each rank's time, ranks in groups if there are many.
fn ranks(v: &View) -> Option<Panel> {
    let group = v.ranks.len().div_ceil(STRIP).max(1);
    let change = |part: &[[crate::facts::RankTime; 2]]| {
        part.iter().map(|[a, b]| b.io_s - a.io_s).fold(0.0f64, |most, x| if x.abs() > most.abs() { x } else { most })
    };
    let bars: Vec<f64> = v.ranks.chunks(group).map(change).collect();
    let (largest, most) = bars.iter().map(|x| x.abs()).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (up, down) = (bars.iter().copied().fold(0.0, f64::max), bars.iter().copied().fold(0.0, f64::min));
    let room = headroom(most) - most;
    let y = Axis::new((down - room, up + room), "B − A", "s", Numbers::Time);
    let rank = v.ranks.get(largest * group).map_or(0, |r| r[0].rank);
    let name = if group == 1 { format!("rank {rank}") } else { format!("one of {group} ranks from {rank}") };
    let note = if most > 0.0 { format!(" (largest change: {}, {name})", units::seconds(most)) } else { String::new() };
    // ranks are whole numbers
    let every = v.ranks.len().div_ceil(10).max(1);
    let names = (0..v.ranks.len()).step_by(every).map(|i| (i as f64, v.ranks[i][0].rank.to_string())).collect();
    let x = Axis::named((-0.5, v.ranks.len().max(8) as f64 - 0.5), format!("Rank{note}"), names);
    let of_sign = |i: usize, sign: f64| {
        let bar = |(k, change): (usize, &f64)| {
            let (from, to) = ((k * group) as f64 - 0.4, ((k + 1) * group) as f64 - 0.6);
            [from, change.min(0.0), to, change.max(0.0)]
        };
        let boxes = bars.iter().enumerate().filter(|b| b.1 * sign > 0.0).map(bar).collect();
        Layer { name: String::new(), ..of_run(i, Shape::Boxes { boxes, labels: Vec::new() }) }
    };
    Some(Panel::new(x, y, vec![of_sign(0, -1.0), of_sign(1, 1.0)]).height(170.0))
}

/// Seconds of the slowest rank by kind of I/O.
fn cost(v: &View) -> Option<Panel> {
    let top = v.cost.iter().flat_map(|c| c.1).fold(0.0, f64::max);
    let name = |(i, (kind, [a, b])): (usize, &(&str, [f64; 2]))| {
        (i as f64 + 0.5, format!("{kind} {} to {}", units::seconds(*a), units::seconds(*b)))
    };
    let names: Vec<(f64, String)> = v.cost.iter().enumerate().map(name).collect();
    let x = Axis::named((0.0, names.len().max(5) as f64), "Kind of I/O", names);
    let bars = |k: usize| {
        let from = |i: usize| i as f64 + 0.2 + 0.3 * k as f64;
        let boxes = v.cost.iter().enumerate().map(|(i, c)| [from(i), 0.0, from(i) + 0.28, c.1[k]]).collect();
        of_run(k, Shape::Boxes { boxes, labels: Vec::new() })
    };
    let y = Axis::new((0.0, headroom(top)), "slowest rank", "s", Numbers::Time);
    (!v.cost.is_empty()).then(|| Panel::new(x, y, vec![bars(0), bars(1)]).height(170.0))
}
