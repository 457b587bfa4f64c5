//! Pictures: curves, bars and boxes over two axes. The script draws the same layers again when the time axis is zoomed.

use std::f64::consts::TAU;
use std::fmt::Write;

use plotters::coord::ranged1d::{BoldPoints, Ranged};
use serde::Serialize;

use super::table::{self, Cell, Column};
use super::writer::Html;
use crate::render::svg::ticks;
use crate::render::units;

/// Width of a picture in units of its view box.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 14.0;
const BELOW: f64 = 38.0;
const ABOVE: f64 = 8.0;
/// Height of a row of spans above the data.
const ROW: f64 = 18.0;
/// Columns of a curve: more than can be seen are thinned to their smallest and largest values.
const COLUMNS: usize = 500;
/// Cycles of a cosine that are drawn; more would hide the data.
const CYCLES: f64 = 60.0;
/// Horizontal lines that are drawn at most.
pub const LEVELS: f64 = 32.0;
/// Rows of the table of a picture.
const ROWS: usize = 48;

/// How the numbers at an axis are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Numbers {
    /// Seconds, written in milliseconds to days.
    Time,
    /// With a prefix: a binary one for bytes, else of the SI.
    Prefixed,
    /// As they are.
    Plain,
}

/// An axis.
#[derive(Debug, Clone, Serialize)]
pub struct Scale {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// What it shows.
    pub label: &'static str,
    /// Unit of the data.
    pub unit: &'static str,
    /// How its numbers are written.
    pub numbers: Numbers,
}

/// What is drawn.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Layer {
    /// A step curve over its zero line.
    Area { name: String, class: &'static str, start: f64, step: f64, values: Vec<f64> },
    /// A line through points.
    Line { name: String, class: &'static str, points: Vec<(f64, f64)> },
    /// mean + amplitude · cos(2π · hertz · t + phase), in some spans of time.
    Wave {
        name: String,
        class: &'static str,
        mean: f64,
        amplitude: f64,
        hertz: f64,
        phase: f64,
        sign: f64,
        spans: Vec<(f64, f64)>,
    },
    /// Lines from zero up.
    Stems { name: String, class: &'static str, points: Vec<(f64, f64)> },
    /// Dots.
    Dots { name: String, class: &'static str, points: Vec<(f64, f64)> },
    /// Spans of time in a row above the data, or over all of its height.
    Spans { name: String, class: &'static str, row: Option<usize>, spans: Vec<(f64, f64)> },
    /// Vertical lines.
    Marks { name: String, class: &'static str, at: Vec<f64> },
    /// Horizontal lines, each a multiple of a step, as many as can be seen.
    Levels { name: String, class: &'static str, step: f64 },
    /// Rectangles: from x and y to x and y.
    Boxes { name: String, class: &'static str, boxes: Vec<[f64; 4]>, labels: Vec<String> },
}

/// A picture.
#[derive(Debug, Clone, Serialize)]
pub struct Plot {
    /// Id of the figure.
    pub id: String,
    /// What is seen.
    #[serde(skip)]
    pub title: String,
    /// The result in words.
    #[serde(skip)]
    pub desc: String,
    /// Height in units of the view box.
    pub height: f64,
    /// The axis to the right.
    pub x: Scale,
    /// The axis upwards.
    pub y: Scale,
    /// The x axis is the time of the run, which is zoomed together with all others.
    pub time: bool,
    /// From the back to the front.
    pub layers: Vec<Layer>,
}

/// Five significant digits: more are not seen.
pub fn short(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() { 0.0 } else { format!("{x:.4e}").parse().unwrap_or(x) }
}

impl Layer {
    fn name(&self) -> (&str, &'static str, &'static str) {
        match self {
            Layer::Area { name, class, .. } => (name, class, "area"),
            Layer::Line { name, class, .. } => (name, class, "line"),
            Layer::Wave { name, class, .. } => (name, class, "line"),
            Layer::Stems { name, class, .. } => (name, class, "line"),
            Layer::Dots { name, class, .. } => (name, class, "dot"),
            Layer::Spans { name, class, .. } => (name, class, "area"),
            Layer::Marks { name, class, .. } => (name, class, "line"),
            Layer::Levels { name, class, .. } => (name, class, "line"),
            Layer::Boxes { name, class, .. } => (name, class, "area"),
        }
    }
}

/// From data to the view box.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
    top: f64,
    bottom: f64,
}

impl Frame {
    fn x(&self, v: f64) -> f64 {
        let share = (v.clamp(self.x.0, self.x.1) - self.x.0) / (self.x.1 - self.x.0).max(f64::MIN_POSITIVE);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, v: f64) -> f64 {
        let share = (v.clamp(self.y.0, self.y.1) - self.y.0) / (self.y.1 - self.y.0).max(f64::MIN_POSITIVE);
        self.bottom - share * (self.bottom - self.top)
    }
}

impl Plot {
    /// Rows of spans above the data.
    fn rows(&self) -> usize {
        let row = |l: &Layer| if let Layer::Spans { row: Some(r), .. } = l { r + 1 } else { 0 };
        self.layers.iter().map(row).max().unwrap_or(0)
    }

    /// The figure: picture, legend, line for the values under the pointer, and table.
    pub fn figure(&self, h: &mut Html, fold: bool) {
        h.open("figure", &[("id", &self.id), ("class", "plot")]);
        self.legend(h);
        self.svg(h);
        h.elem("p", &[("class", "readout"), ("aria-live", "polite")], "");
        if fold {
            self.table(h);
        }
        h.close("figure");
    }

    fn legend(&self, h: &mut Html) {
        h.within("ul", &[("class", "legend")], |h| {
            let mut seen = Vec::new();
            // what lies behind the data comes after it
            let (curves, others): (Vec<&Layer>, Vec<&Layer>) =
                self.layers.iter().partition(|l| !matches!(l, Layer::Spans { row: None, .. }));
            for (name, class, shape) in curves.into_iter().chain(others).map(Layer::name) {
                if name.is_empty() || seen.contains(&name) {
                    continue;
                }
                seen.push(name);
                h.open("li", &[]);
                h.elem("span", &[("class", &format!("key {shape} {class}")), ("aria-hidden", "true")], "");
                h.text(name);
                h.close("li");
            }
        });
    }

    fn svg(&self, h: &mut Html) {
        let (title, desc) = (format!("{}-t", self.id), format!("{}-d", self.id));
        let view = format!("0 0 {WIDTH} {}", self.height);
        h.open(
            "svg",
            &[("viewBox", &view), ("role", "img"), ("tabindex", "0"), ("aria-labelledby", &format!("{title} {desc}"))],
        );
        h.elem("title", &[("id", &title)], &self.title);
        h.elem("desc", &[("id", &desc)], &self.desc);
        let frame = Frame {
            x: (self.x.low, self.x.high),
            y: (self.y.low, self.y.high),
            top: ABOVE + ROW * self.rows() as f64,
            bottom: self.height - BELOW,
        };
        h.open("g", &[("class", "drawn")]);
        self.axes(h, &frame);
        self.layers.iter().for_each(|l| draw(h, l, &frame));
        h.close("g");
        h.close("svg");
    }

    fn axes(&self, h: &mut Html, f: &Frame) {
        let (right, bottom) = (WIDTH - RIGHT, f.bottom);
        for (scale, of_x) in [(&self.x, true), (&self.y, false)] {
            let axis = scale.axis();
            let most = if of_x { 10 } else { (((bottom - f.top) / 34.0) as usize).max(2) };
            let marks = axis.scale(most);
            let mut grid = String::new();
            for v in marks.key_points(BoldPoints(most)) {
                let text = axis.number(v, &marks);
                let text = text.strip_prefix('-').filter(|_| !of_x && scale.unit == "B/s").unwrap_or(&text);
                if of_x {
                    let x = f.x(v);
                    // Writing to a string cannot fail.
                    let _ = write!(grid, "M{x:.1} {:.1}V{bottom:.1}", f.top);
                    let (x, y) = (format!("{x:.1}"), format!("{:.1}", bottom + 15.0));
                    h.elem("text", &[("class", "tick"), ("text-anchor", "middle"), ("x", &x), ("y", &y)], text);
                } else {
                    let y = f.y(v);
                    let _ = write!(grid, "M{LEFT} {y:.1}H{right}");
                    let (x, y) = (format!("{:.1}", LEFT - 6.0), format!("{:.1}", y + 4.0));
                    h.elem("text", &[("class", "tick"), ("text-anchor", "end"), ("x", &x), ("y", &y)], text);
                }
            }
            h.empty("path", &[("class", "grid"), ("d", &grid)]);
            let (x, y, turn) = if of_x {
                ((LEFT + right) / 2.0, self.height - 6.0, String::new())
            } else {
                let middle = (f.top + bottom) / 2.0;
                (13.0, middle, format!("rotate(-90 13 {middle:.1})"))
            };
            let (x, y) = (format!("{x:.1}"), format!("{y:.1}"));
            let at = [("class", "label"), ("text-anchor", "middle"), ("x", &*x), ("y", &*y), ("transform", &*turn)];
            h.elem("text", if of_x { &at[..4] } else { &at }, &axis.title());
        }
        if f.y.0 < 0.0 {
            let y = f.y(0.0);
            h.empty("path", &[("class", "zero"), ("d", &format!("M{LEFT} {y:.1}H{right}"))]);
        }
    }

    /// At most 48 rows of the data.
    fn table(&self, h: &mut Html) {
        let seconds = |t: f64| Cell::number(units::clock(t, (self.x.high - self.x.low) / 100.0), t);
        let value = |v: f64| {
            let text = if self.y.unit == "B/s" { units::rate(v.abs()) } else { units::digits(v) };
            Cell::number(text, v)
        };
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for layer in &self.layers {
            let name = layer.name().0;
            let left = ROWS.saturating_sub(rows.len());
            match layer {
                Layer::Area { start, step, values, .. } => {
                    let group = values.len().div_ceil((ROWS / 2).min(left).max(1)).max(1);
                    for (i, part) in values.chunks(group).enumerate().take(left) {
                        let t = start + step * (i * group) as f64;
                        let mean = part.iter().sum::<f64>() / part.len() as f64;
                        rows.push(vec![Cell::text(name), seconds(t), value(mean)]);
                    }
                }
                Layer::Line { points, .. } | Layer::Stems { points, .. } | Layer::Dots { points, .. } => {
                    let group = points.len().div_ceil(left.clamp(1, ROWS / 2)).max(1);
                    for (x, y) in points.iter().step_by(group).take(left) {
                        let x = if self.x.numbers == Numbers::Time {
                            seconds(*x)
                        } else {
                            Cell::number(units::digits(*x), *x)
                        };
                        rows.push(vec![Cell::text(name), x, value(*y)]);
                    }
                }
                Layer::Spans { spans, .. } => {
                    for (a, b) in spans.iter().take(left.min(ROWS / 4)) {
                        let until = format!("until {}", units::clock(*b, (self.x.high - self.x.low) / 100.0));
                        rows.push(vec![Cell::text(name), seconds(*a), Cell::number(until, *b)]);
                    }
                }
                Layer::Boxes { boxes, labels, .. } => {
                    for (b, label) in boxes.iter().zip(labels).take(left) {
                        rows.push(vec![Cell::text(label), seconds(b[0]), value(b[1])]);
                    }
                }
                Layer::Wave { .. } | Layer::Marks { .. } | Layer::Levels { .. } => {}
            }
        }
        if rows.is_empty() {
            return;
        }
        h.open("details", &[("class", "fold")]);
        h.elem("summary", &[], "Table");
        let x = if self.time { "Time" } else { self.x.label };
        let columns = [Column::text("Series", "series"), Column::number(x, "x"), Column::number(self.y.label, "y")];
        table::table(h, &format!("{}-table", self.id), &self.title, &columns, rows);
        h.close("details");
    }
}

impl Scale {
    fn axis(&self) -> ticks::Axis<'static> {
        let numbers = match self.numbers {
            Numbers::Time => ticks::Numbers::Time,
            Numbers::Prefixed => ticks::Numbers::Prefixed,
            Numbers::Plain => ticks::Numbers::Plain,
        };
        ticks::Axis { range: (self.low, self.high), label: self.label, unit: self.unit, numbers }
    }
}

/// The path of a step curve: of columns with several values the smallest and the largest.
fn steps(start: f64, step: f64, values: &[f64], f: &Frame) -> String {
    let group = values.len().div_ceil(COLUMNS).max(1);
    let mut d = format!("M{:.1} {:.1}", f.x(start), f.y(0.0));
    let mut last = (f64::NAN, f64::NAN);
    let mut to = |d: &mut String, x: f64, y: f64| {
        let (x, y) = ((x * 10.0).round() / 10.0, (y * 10.0).round() / 10.0);
        if y != last.1 {
            // Writing to a string cannot fail.
            let _ = write!(d, "H{x}V{y}");
            last = (x, y);
        }
    };
    for (i, part) in values.chunks(group).enumerate() {
        let x = f.x(start + step * (i * group) as f64);
        if group == 1 {
            to(&mut d, x, f.y(part[0]));
            continue;
        }
        let far = part.iter().copied().fold(0.0, |a: f64, v| if v.abs() > a.abs() { v } else { a });
        let near = part.iter().copied().fold(far, |a: f64, v| if v.abs() < a.abs() { v } else { a });
        to(&mut d, x, f.y(far));
        let middle = f.x(start + step * (i * group) as f64 + 0.5 * step * part.len() as f64);
        to(&mut d, middle, f.y(near));
    }
    let _ = write!(d, "H{:.1}V{:.1}", f.x(start + step * values.len() as f64), f.y(0.0));
    d
}

fn line(points: impl Iterator<Item = (f64, f64)>, f: &Frame) -> String {
    let mut d = String::new();
    for (i, (x, y)) in points.enumerate() {
        let _ = write!(d, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, f.x(x), f.y(y));
    }
    d
}

fn draw(h: &mut Html, layer: &Layer, f: &Frame) {
    let visible = |a: f64, b: f64| b >= f.x.0 && a <= f.x.1;
    let rect = |h: &mut Html, class: &str, a: (f64, f64), b: (f64, f64), label: &str| {
        let numbers = [a.0, a.1, (b.0 - a.0).max(1.0), (b.1 - a.1).max(1.0)].map(|v| format!("{v:.1}"));
        let [x, y, width, height] = &numbers;
        let at = [("class", class), ("x", x), ("y", y), ("width", width), ("height", height)];
        if label.is_empty() {
            h.empty("rect", &at);
        } else {
            h.within("rect", &at, |h| h.elem("title", &[], label));
        }
    };
    match layer {
        Layer::Area { class, start, step, values, .. } => {
            let class = format!("area {class}");
            h.empty("path", &[("class", &class), ("d", &steps(*start, *step, values, f))]);
        }
        Layer::Line { class, points, .. } => {
            let class = format!("line {class}");
            h.empty("path", &[("class", &class), ("d", &line(points.iter().copied(), f))]);
        }
        Layer::Wave { class, mean, amplitude, hertz, phase, sign, spans, .. } => {
            let class = format!("line {class}");
            for &(a, b) in spans {
                let (a, b) = (a.max(f.x.0), b.min(f.x.1));
                if b <= a || (f.x.1 - f.x.0) * hertz > CYCLES {
                    continue;
                }
                let n = (16.0 * (b - a) * hertz).clamp(24.0, 600.0).round();
                let at = |t: f64| sign * (mean + amplitude * (TAU * hertz * t + phase).cos());
                let points = (0..=n as usize).map(|i| a + (b - a) * i as f64 / n).map(|t| (t, at(t)));
                h.empty("path", &[("class", &class), ("d", &line(points, f))]);
            }
        }
        Layer::Stems { class, points, .. } => {
            let mut d = String::new();
            for &(x, y) in points {
                let _ = write!(d, "M{:.1} {:.1}V{:.1}", f.x(x), f.y(0.0), f.y(y));
            }
            h.empty("path", &[("class", &format!("line {class}")), ("d", &d)]);
        }
        Layer::Dots { class, points, .. } => {
            for &(x, y) in points {
                let (x, y) = (format!("{:.1}", f.x(x)), format!("{:.1}", f.y(y)));
                h.empty("circle", &[("class", &format!("dot {class}")), ("cx", &x), ("cy", &y), ("r", "4")]);
            }
        }
        Layer::Spans { class, row, spans, .. } => {
            let (top, bottom) = match row {
                Some(r) => (ABOVE + ROW * *r as f64 + 2.0, ABOVE + ROW * (*r as f64 + 1.0) - 2.0),
                None => (f.top, f.bottom),
            };
            let class = format!("span {class}");
            for &(a, b) in spans.iter().filter(|s| visible(s.0, s.1)) {
                rect(h, &class, (f.x(a), top), (f.x(b), bottom), "");
            }
        }
        Layer::Marks { class, at, .. } => {
            let mut d = String::new();
            for &x in at.iter().filter(|x| visible(**x, **x)) {
                let _ = write!(d, "M{:.1} {:.1}V{:.1}", f.x(x), f.top, f.bottom);
            }
            h.empty("path", &[("class", &format!("line {class}")), ("d", &d)]);
        }
        Layer::Levels { class, step, .. } => {
            let mut d = String::new();
            let last = (f.y.1 / step).floor().min(LEVELS) as usize;
            for i in 1..=last {
                let _ = write!(d, "M{LEFT} {:.1}H{}", f.y(i as f64 * step), WIDTH - RIGHT);
            }
            h.empty("path", &[("class", &format!("line {class}")), ("d", &d)]);
        }
        Layer::Boxes { class, boxes, .. } => {
            let class = format!("box {class}");
            for b in boxes.iter().filter(|b| visible(b[0], b[2])) {
                rect(h, &class, (f.x(b[0]), f.y(b[3])), (f.x(b[2]), f.y(b[1])), "");
            }
        }
    }
}
