//! The values of a figure as a table.

use super::{Figure, Layer, Numbers, Panel, Shape};
use crate::render::listing::{Cell, Listing};
use crate::render::units;

/// Name of a layer, and a place and a value of it.
type Row = (String, Cell, Cell);

/// The data of a figure, at most so many rows of it.
pub fn table(figure: &Figure, most: usize) -> Listing<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for panel in &figure.panels {
        panel.layers.iter().for_each(|l| of_layer(&mut rows, panel, l, most));
    }
    let first = figure.panels.first().map_or("", |p| &*p.x.label);
    let x = if figure.panels.iter().all(|p| p.x.label == first) { first } else { "At" };
    Listing::of(rows).column("Series", "series", |r| Cell::text(&r.0)).column(x, "x", |r| r.1.clone()).column(
        "Value",
        "y",
        |r| r.2.clone(),
    )
}

/// Some of the data of a layer, as many as there is room for.
fn of_layer(rows: &mut Vec<Row>, panel: &Panel, layer: &Layer, most: usize) {
    let fine = (panel.x.range.1 - panel.x.range.0) / 100.0;
    let x = |v: f64| match panel.x.numbers {
        Numbers::Time => Cell::clock(v, fine),
        _ => Cell::number(units::digits(v), v),
    };
    let y = |v: f64| if panel.y.unit == "B/s" { Cell::rate(v) } else { Cell::number(units::digits(v), v) };
    let left = most.saturating_sub(rows.len());
    let some = left.min(most / 2).max(1);
    let mut row = |name: &str, a: Cell, b: Cell| rows.push((name.to_owned(), a, b));
    match &layer.shape {
        Shape::Area(s) | Shape::Curve(s) => {
            let s = s.coarse(some);
            s.values.iter().enumerate().take(left).for_each(|(i, v)| row(&layer.name, x(s.at(i)), y(*v)));
        }
        Shape::Stems { points } | Shape::Dots { points } => {
            let each = points.len().div_ceil(some).max(1);
            points.iter().step_by(each).take(left).for_each(|p| row(&layer.name, x(p.0), y(p.1)));
        }
        Shape::Spans { spans, text, .. } => {
            let name = if layer.name.is_empty() { text } else { &layer.name };
            let until = |b: f64| Cell::number(format!("until {}", units::clock(b, fine)), b);
            spans.iter().take(left.min(most / 4)).for_each(|(a, b)| row(name, x(*a), until(*b)));
        }
        Shape::Boxes { boxes, labels } => {
            boxes.iter().zip(labels).take(left).for_each(|(b, label)| row(label, x(b[0]), y(b[1])));
        }
        _ => {}
    }
}
