//! The timeline of an activity as SVG: a bar an event, a row a case (figure 5).

use crate::dfg::Timeline;
use crate::render::figure::{Axis, Figure, Layer, Look, Numbers, Panel, Shape, color, draw};
use crate::render::layout::ending;
use crate::render::units;

/// Cases drawn at most: more would blur into each other.
const MOST_ROWS: usize = 200;
/// Height of a row in pixels.
const ROW: f64 = 26.0;

/// Draws a timeline of `source`.
pub fn timeline(t: &Timeline, source: &str, look: &Look) -> String {
    let rows = &t.rows[..t.rows.len().min(MOST_ROWS)];
    let more = if rows.len() < t.rows.len() { format!(", the first {}", rows.len()) } else { String::new() };
    let events: u64 = t.rows.iter().flat_map(|(_, b)| b).map(|b| b.events).sum();
    // the first row is the highest
    let at = |i: usize| (rows.len() - i) as f64;
    let bars = |(i, (_, row)): (usize, &(String, Vec<crate::dfg::Bar>))| -> Vec<[f64; 4]> {
        row.iter().map(|b| [b.start_s, at(i) - 0.35, b.end_s, at(i) + 0.35]).collect()
    };
    let boxes = Shape::Boxes { boxes: rows.iter().enumerate().flat_map(bars).collect(), labels: Vec::new() };
    let names = rows.iter().enumerate().map(|(i, (case, _))| (at(i), ending(case, 30))).collect();
    let x = Axis::new((0.0, t.span_s.max(1e-9)), "Time since the first start", "s", Numbers::Time);
    let y = Axis::named((0.5, rows.len() as f64 + 0.5), "", names);
    let layer = Layer::new("from start to return of the call", color::SIGNAL, boxes);
    let (events, cases) = (units::counted(events, "event"), units::counted(t.rows.len() as u64, "case"));
    let figure = Figure {
        title: format!("{}: {events} in {cases}{more}", t.activity),
        caption: source.to_owned(),
        panels: vec![Panel::new(x, y, vec![layer]).height(ROW * rows.len() as f64)],
    };
    draw(&figure, look, "").svg
}
