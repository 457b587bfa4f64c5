//! The bursts of the period: where they are, their shape, and how far apart they are.

use super::bandwidth::bursts as spans_of;
use super::timeline::mode;
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Steps, Timeline, View, color, short};
use crate::analysis::SignalReport;
use crate::render::units;

/// Points of the folded burst.
const CELLS: usize = 200;
/// Bursts that are folded, at most: more change nothing that can be seen.
const FOLDED: usize = 2000;
/// Intervals that are drawn.
const DISTANCES: usize = 600;

/// The first bursts, and below the cycles of all of them over each other; `None` if there are none.
pub fn bursts(signal: &SignalReport, view: &View, time: &Timeline) -> Option<Figure> {
    let (b, d) = (signal.bursts.as_ref()?, signal.period.dominant.as_ref()?);
    let time = time.cycles(signal);
    let finest = view.finest();
    let curve = time.steps(finest.start, finest.step, finest.values.clone()).part(time.range);
    let seen = |s: &(f64, f64)| s.0 < s.1 && s.1 > time.range.0 && s.0 < time.range.1;
    let visible: Vec<(f64, f64)> = spans_of(signal, view).into_iter().map(|s| time.later(s)).filter(seen).collect();
    let row = |spans, text| Layer::new("", color::VALID, Shape::Spans { row: Some(0), spans, text }).mix(0.3);
    let count = match visible.len() as u64 {
        shown if shown < b.count => format!("{shown} of {} bursts", units::grouped(b.count)),
        _ => units::counted(b.count, "burst"),
    };
    let y = Axis::rate(curve.ends().1);
    let trace = format!("trace, mean of every {}", units::seconds(finest.step));
    let above = vec![Layer::new(trace, color::ORIGINAL, Shape::Area(curve)).mix(0.8), row(visible, count)];
    let folded = fold(finest, &b.starts_s, d.period_s);
    let (start, step) = (-0.25 * d.period_s, d.period_s / CELLS as f64);
    let median = Steps { start, step, values: folded.iter().map(|f| short(f.1)).collect() };
    let quartiles = folded.iter().map(|f| (short(f.0), short(f.2))).collect();
    let burst = (0.0, b.width_s.median.min(0.75 * d.period_s));
    let below = vec![
        row(vec![burst], format!("burst, {}", units::seconds(b.width_s.median))),
        Layer::new("interquartile range", color::SIGNAL, Shape::Band { start, step, spans: quartiles }).mix(0.25),
        Layer::new("median of the bursts", color::SIGNAL, Shape::Curve(median)).wide(3.0),
    ];
    let most = folded.iter().map(|f| f.2).fold(0.0, f64::max);
    // where nothing moves, there is nothing to see
    let moves = |f: &(f64, f64, f64)| f.2 > 0.01 * most;
    let (first, last) = (folded.iter().position(moves).unwrap_or(0), folded.iter().rposition(moves).unwrap_or(CELLS));
    let (first, last) = ((start + first as f64 * step).min(0.0), (start + (last + 1) as f64 * step).max(burst.1));
    let room = 0.15 * (last - first);
    let x = Axis::new((first - room, last + room), "Time since the start of a burst", "s", Numbers::Time);
    let top = Axis::rate(most);
    Some(Figure {
        title: format!(
            "Bursts ({}): {}, {} each, duty cycle {:.0} % of {}",
            mode(signal),
            units::grouped(b.count),
            units::seconds(b.width_s.median),
            100.0 * b.duty_cycle,
            units::seconds(d.period_s),
        ),
        caption: format!("{}; below: the cycles of all bursts, overlaid", time.caption(signal, view)),
        panels: vec![Panel::new(time.axis(), y, above).height(200.0), Panel::new(x, top, below).height(200.0)],
    })
}

/// Seconds from each burst to the one before; `None` of fewer than three bursts.
pub fn distances(signal: &SignalReport, view: &View, _: &Timeline) -> Option<Figure> {
    let (b, d) = (signal.bursts.as_ref()?, signal.period.dominant.as_ref()?);
    let all: Vec<f64> = b.starts_s.windows(2).map(|w| w[1] - w[0]).collect();
    if all.len() < 2 {
        return None;
    }
    let step = all.len().div_ceil(DISTANCES);
    let points = (2..).map(f64::from).zip(all.iter().map(|x| short(*x))).step_by(step).collect();
    let period = Layer::new(
        format!("period of {}", units::seconds(d.period_s)),
        color::DOMINANT,
        Shape::Levels { at: vec![d.period_s] },
    );
    let dots = Layer::new("interval", color::SIGNAL, Shape::Dots { points }).wide(4.0);
    let x = Axis::new((1.0, all.len() as f64 + 2.0), "Burst", "", Numbers::Whole);
    let (least, most) = all.iter().fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), x| (x.min(a), x.max(b)));
    let (low, high) = (least.min(d.period_s), most.max(d.period_s));
    // what differs is seen, and what does not is not made to look so
    let room = (0.1 * (high - low)).max(0.02 * d.period_s);
    let y = Axis::new(((low - room).max(0.0), high + room), "Interval", "s", Numbers::Time);
    let [from, to] = [least, most].map(units::seconds);
    let range = if from == to { format!("all of {from}") } else { format!("{from} to {to}") };
    Some(Figure {
        title: format!("Intervals between bursts ({}): {range}", mode(signal)),
        caption: view.name.clone(),
        panels: vec![Panel::new(x, y, vec![period.dashed(), dots]).height(220.0)],
    })
}

/// Lower quartile, median and upper quartile of the curve at even times from a quarter of a period before each start to three
/// quarters after it.
fn fold(curve: &Steps, starts: &[f64], period: f64) -> Vec<(f64, f64, f64)> {
    let group = starts.len().div_ceil(FOLDED).max(1);
    let at = |t: f64| {
        let i = ((t - curve.start) / curve.step).floor();
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
        let curve = Steps { start: 50.0, step: 0.1, values };
        let f = fold(&curve, &[60.0, 70.0, 80.0, 130.0], 10.0);
        // Two of ten seconds from the start on: cells 50 to 89 of 200.
        assert!(f.iter().enumerate().all(|(i, q)| q.1 == if (50..90).contains(&i) { 4.0 } else { 0.0 }));
    }
}
