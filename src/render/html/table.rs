//! Tables: a caption, headings that the script makes sortable, and cells that keep their exact values.

use super::writer::Html;
use crate::render::figure::{Figure, Layer, Numbers, Panel, Shape};
use crate::render::units;

/// Longer tables have a filter.
const MANY: usize = 12;

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    title: &'a str,
    key: &'static str,
    number: bool,
}

impl<'a> Column<'a> {
    /// A column of text.
    pub const fn text(title: &'a str, key: &'static str) -> Column<'a> {
        Column { title, key, number: false }
    }

    /// A column of numbers.
    pub const fn number(title: &'a str, key: &'static str) -> Column<'a> {
        Column { title, key, number: true }
    }
}

impl<'a> Column<'a> {
    /// Its heading.
    pub fn title(&self) -> &'a str {
        self.title
    }

    /// Its key.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// A column of bars.
    pub const fn bar(title: &'a str, key: &'static str) -> Column<'a> {
        Column { title, key, number: false }
    }
}

/// A cell.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    value: Option<String>,
    note: Option<String>,
    bar: Option<f64>,
    more: Vec<String>,
}

impl Cell {
    /// The same, with lines that unfold.
    pub fn unfolding(self, more: Vec<String>) -> Cell {
        Cell { more, ..self }
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// The end of a name, and all of it where the pointer rests.
    pub fn name(name: &str) -> Cell {
        let shown = crate::render::layout::ending(name, 64);
        let note = (shown != name).then(|| name.to_owned());
        Cell { text: shown, value: Some(name.to_owned()), note, ..Cell::default() }
    }

    /// A number as it is written, and exactly.
    pub fn number(text: impl Into<String>, value: f64) -> Cell {
        Cell { text: text.into(), value: Some(format!("{value}")), ..Cell::default() }
    }

    /// Bytes.
    pub fn bytes(bytes: u64) -> Cell {
        let note = Some(format!("{} bytes", units::grouped(bytes)));
        Cell { text: units::bytes(bytes as f64), value: Some(bytes.to_string()), note, ..Cell::default() }
    }

    /// A count; `None` is not known.
    pub fn count(count: Option<u64>) -> Cell {
        let known = |n: u64| Cell { text: units::grouped(n), value: Some(n.to_string()), ..Cell::default() };
        count.map_or_else(|| Cell::text("-"), known)
    }

    /// A length of time; `None` is not known.
    pub fn seconds(seconds: Option<f64>) -> Cell {
        seconds.map_or_else(|| Cell::text("-"), |s| Cell::number(crate::render::findings::short(s), s))
    }

    /// A bar of a share of the largest value.
    pub fn bar(share: f64) -> Cell {
        Cell { bar: Some(share), ..Cell::share(Some(share)) }
    }

    /// A share; `None` is not known.
    pub fn share(share: Option<f64>) -> Cell {
        share.map_or_else(|| Cell::text("-"), |s| Cell::number(crate::render::layout::percent(s), s))
    }
}

/// A table. Its rows can be sorted by `id` and the key of a column.
pub fn table(h: &mut Html, id: &str, caption: &str, columns: &[Column<'_>], rows: impl IntoIterator<Item = Vec<Cell>>) {
    let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
    if rows.len() > MANY {
        h.filter("Filter rows");
    }
    h.open("div", &[("class", "scroll")]);
    h.open("table", &[("id", id)]);
    h.elem("caption", &[], caption);
    h.within("thead", &[], |h| {
        h.within("tr", &[], |h| {
            for c in columns {
                let class = if c.number { "n" } else { "t" };
                h.elem("th", &[("scope", "col"), ("class", class), ("data-key", c.key)], c.title);
            }
        });
    });
    h.open("tbody", &[]);
    for row in rows {
        h.open("tr", &[]);
        for (cell, column) in row.iter().zip(columns) {
            let mut attributes = vec![("class", if column.number { "n" } else { "t" })];
            attributes.extend(cell.value.as_deref().map(|v| ("data-value", v)));
            attributes.extend(cell.note.as_deref().map(|v| ("title", v)));
            match cell.bar {
                Some(share) => h.within("td", &attributes, |h| {
                    h.elem("meter", &[("min", "0"), ("max", "1"), ("value", &format!("{share:.4}"))], &cell.text);
                }),
                None if cell.more.is_empty() => h.elem("td", &attributes, &cell.text),
                None => h.within("td", &attributes, |h| {
                    h.open("details", &[]);
                    h.elem("summary", &[], &cell.text);
                    h.within("ul", &[], |h| cell.more.iter().for_each(|line| h.elem("li", &[], line)));
                    h.close("details");
                }),
            }
        }
        h.close("tr");
    }
    h.close("tbody");
    h.close("table");
    h.close("div");
}

/// The data of a figure in a table that unfolds, at most so many rows of it.
pub fn of_figure(h: &mut Html, id: &str, figure: &Figure, most: usize) {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for panel in &figure.panels {
        panel.layers.iter().for_each(|l| of_layer(&mut rows, panel, l, most));
    }
    let Some(panel) = figure.panels.first().filter(|_| !rows.is_empty()) else { return };
    h.open("details", &[("class", "fold")]);
    h.elem("summary", &[], "Table");
    let x = if figure.panels.iter().all(|p| p.x.label == panel.x.label) { &*panel.x.label } else { "At" };
    let titles = [("Series", "series", false), (x, "x", true), ("Value", "y", true)];
    let columns = titles.map(|(title, key, number)| Column { title, key, number });
    table(h, &format!("{id}-table"), &figure.title, &columns, rows);
    h.close("details");
}

/// Some of the data of a layer, as many as there is room for.
fn of_layer(rows: &mut Vec<Vec<Cell>>, panel: &Panel, layer: &Layer, most: usize) {
    let span = panel.x.range.1 - panel.x.range.0;
    let x = |v: f64| match panel.x.numbers {
        Numbers::Time => Cell::number(units::clock(v, span / 100.0), v),
        _ => Cell::number(units::digits(v), v),
    };
    let y = |v: f64| Cell::number(if panel.y.unit == "B/s" { units::rate(v) } else { units::digits(v) }, v);
    let left = most.saturating_sub(rows.len());
    let some = left.min(most / 2).max(1);
    let mut row = |name: &str, a: Cell, b: Cell| rows.push(vec![Cell::text(name), a, b]);
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
            let until = |b: f64| Cell::number(format!("until {}", units::clock(b, span / 100.0)), b);
            spans.iter().take(left.min(most / 4)).for_each(|(a, b)| row(name, x(*a), until(*b)));
        }
        Shape::Boxes { boxes, labels } => {
            boxes.iter().zip(labels).take(left).for_each(|(b, label)| row(label, x(b[0]), y(b[1])));
        }
        _ => {}
    }
}

/// Facts in two columns; those without a value are left out.
pub fn facts(h: &mut Html, facts: &[(&'static str, Option<String>)]) {
    h.open("dl", &[]);
    for (name, value) in facts {
        let Some(value) = value.as_deref().filter(|v| !v.is_empty()) else { continue };
        h.open("div", &[]);
        h.elem("dt", &[], name);
        h.elem("dd", &[], value);
        h.close("div");
    }
    h.close("dl");
}
