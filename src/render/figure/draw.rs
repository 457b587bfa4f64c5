//! The one drawing of figures, as SVG by plotters: with paper, title and legend in fixed colours for files, with the colours of its
//! style for a page.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, IntoFont, RGBAColor, RGBColor, ShapeStyle};

use super::axis::Axis;
use super::model::{Figure, Layer, Panel, Shape, color};
use super::shade::{cells, shade};
use super::text::{beginning, lines, width};
use crate::render::visible::visible;

/// Sizes of text on paper in pixels: to be read at half the size.
const TITLE: f64 = 21.0;
const TEXT: f64 = 15.5;
/// Space to the edges, and between texts.
const GAP: f64 = 18.0;
/// Height of a line of the legend, and of a row of spans.
const LINE: f64 = 26.0;
/// Room at the right of the data where nothing stands.
const RIGHT: f64 = 26.0;
/// Length of a bar at the right of the data.
const SIDE: f64 = 50.0;
/// Parts of a pixel: drawings of data are made larger and shown smaller, as the coordinates of plotters are whole numbers.
const FINE: f64 = 4.0;

/// How a figure is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    width: f64,
    height: Option<f64>,
    /// Size of text and lines, as a share of that on paper.
    unit: f64,
    /// Columns of a curve: of more values the smallest and the largest of each are drawn.
    columns: usize,
    page: bool,
}

impl Default for Look {
    /// That of a file.
    fn default() -> Look {
        Look { width: 1200.0, height: None, unit: 1.0, columns: 1500, page: false }
    }
}

impl Look {
    /// Of a file so many pixels wide and high.
    pub fn sized(width: u32, height: u32) -> Look {
        let unit = (f64::from(width) / 1200.0).clamp(0.3, 4.0);
        Look { width: f64::from(width), height: Some(f64::from(height)), unit, ..Look::default() }
    }

    /// Of a page.
    pub(in crate::render) fn page(columns: usize) -> Look {
        Look { columns, ..Look::of_screen(1000) }
    }

    /// Of a page that shows it so many pixels wide.
    pub fn of_screen(width: u32) -> Look {
        Look { width: f64::from(width.clamp(300, 4000)), unit: 0.8, page: true, ..Look::default() }
    }
}

/// A drawing.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The picture.
    pub svg: String,
    /// Left, upper, right and lower end of the data of each panel.
    pub boxes: Vec<[f64; 4]>,
}

/// Draws a figure; `id` is that of a page.
pub fn draw(figure: &Figure, look: &Look, id: &str) -> Drawn {
    let u = look.unit;
    let (keys, mut top) = head(figure, look);
    let inner: Vec<[f64; 4]> = figure.panels.iter().map(|p| edges(p, u)).collect();
    let all: f64 = figure.panels.iter().map(|p| p.height * u).sum();
    let outer: f64 = inner.iter().map(|e| e[1] + e[3]).sum();
    let scale = look.height.map_or(1.0, |h| ((h - top - outer) / all).max(0.05));
    // all panels begin and end at one place
    let most = |i: usize| inner.iter().map(|e: &[f64; 4]| e[i]).fold(0.0, f64::max);
    let (left, right) = (most(0), look.width - most(2));
    let (mut boxes, mut panels) = (Vec::new(), String::new());
    for (i, (panel, edge)) in figure.panels.iter().zip(&inner).enumerate() {
        let at = [left, top + edge[1], right.max(left + 20.0), top + edge[1] + panel.height * u * scale];
        panels += &of_panel(panel, at, look, &format!("clip-{i}{id}"));
        boxes.push(at);
        top = at[3] + edge[3];
    }
    let size = [look.width, top.max(look.height.unwrap_or(0.0))].map(f64::round);
    Drawn { svg: document(figure, look, id, size, &(keys + &panels)), boxes }
}

/// The document around the drawing, with what is seen in words.
fn document(figure: &Figure, look: &Look, id: &str, [width, height]: [f64; 2], inside: &str) -> String {
    let (title, described) = (escaped(&figure.title), escaped(&figure.described()));
    let view = format!("viewBox=\"0 0 {width} {height}\" role=\"img\"");
    if look.page {
        let ids = [format!("{id}-t"), format!("{id}-d")];
        return format!(
            "<svg {view} tabindex=\"0\" aria-labelledby=\"{0} {1}\"><title id=\"{0}\">{title}</title><desc id=\"{1}\">{described}</desc>\n{inside}</svg>\n",
            ids[0], ids[1]
        );
    }
    let paper = part(1.0, false, |p| p.rect((0.0, 0.0), (width, height), color::PAPER.into()));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" {view} font-family=\"sans-serif\">\n<title>{title}</title><desc>{described}</desc>\n{paper}{inside}</svg>\n"
    )
}

/// Text as it may stand in XML.
fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Room for what is written around the data of a panel: at its left, above, at its right, below.
fn edges(p: &Panel, u: f64) -> [f64; 4] {
    let numbers = p.y.ticks(6).iter().map(|t| width(&t.1, TEXT)).fold(0.0, f64::max);
    let title = if p.y.title().is_empty() { 0.0 } else { TEXT + 10.0 };
    let beside = p.beside.iter().map(|b| width(&b.1, TEXT) + 24.0).fold(RIGHT, f64::max);
    let beside = beside + if p.side.is_empty() { 0.0 } else { SIDE };
    let below = if p.x.label.is_empty() { 16.0 } else { 2.0 * TEXT + 28.0 };
    [(GAP + title + numbers + 10.0) * u, (8.0 + LINE * p.rows() as f64) * u, beside * u, below * u]
}

/// Title, caption and legend, and where they end.
fn head(figure: &Figure, look: &Look) -> (String, f64) {
    let u = look.unit;
    let room = look.width - 2.0 * GAP * u;
    let mut y = 12.0 * u;
    let mut out = part(1.0, look.page, |p| {
        // a long title is written smaller, and then in several lines
        let size = (TITLE * u * (room / width(&figure.title, TITLE * u))).clamp(TEXT * u, TITLE * u);
        for line in lines(&figure.title, room, size) {
            p.text(&line, (GAP * u, y), size, color::INK, (HPos::Left, VPos::Top));
            y += 1.3 * size;
        }
        y += 1.5 * TITLE * u - 1.3 * size;
        if !look.page && !figure.caption.is_empty() {
            let caption = beginning(&figure.caption, room, TEXT * u);
            p.text(&caption, (GAP * u, y), TEXT * u, color::SOFT, (HPos::Left, VPos::Top));
            y += 1.7 * TEXT * u;
        }
    });
    let mut x = GAP * u;
    y += 0.5 * LINE * u;
    for layer in figure.legend() {
        let name = beginning(&layer.name, room - 60.0 * u, TEXT * u);
        let key = if matches!(layer.shape, Shape::Map { .. } | Shape::Image { .. }) { 130.0 * u } else { 26.0 * u };
        let wide = key + 8.0 * u + width(&name, TEXT * u);
        if x > GAP * u && x + wide > look.width - GAP * u {
            (x, y) = (GAP * u, y + LINE * u);
        }
        // an image has the same colours in the dark
        let themed = look.page && !matches!(layer.shape, Shape::Image { .. });
        out += &broken(layer, look, 1.0, part(1.0, themed, |p| p.key(layer, (x, y), (key, u))));
        let at = (x + key + 8.0 * u, y);
        out += &part(1.0, look.page, |p| p.text(&name, at, TEXT * u, color::INK, (HPos::Left, VPos::Center)));
        x += wide + 20.0 * u;
    }
    (out, y + 0.6 * LINE * u)
}

/// Lines of a layer that are broken.
fn broken(layer: &Layer, look: &Look, fine: f64, drawn: String) -> String {
    let fine = if look.page { 1.0 } else { fine };
    match layer.dashed {
        true => format!("<g stroke-dasharray=\"{} {}\">\n{drawn}</g>\n", 8.0 * fine, 5.0 * fine),
        false => drawn,
    }
}

/// Axes, data, and what stands beside them.
fn of_panel(panel: &Panel, at: [f64; 4], look: &Look, clip: &str) -> String {
    let [left, top, right, bottom] = at;
    let u = look.unit;
    let above = LINE * u * panel.rows() as f64;
    let f = Frame { panel, size: (right - left, bottom - top), above, u };
    let mut data = String::new();
    for layer in &panel.layers {
        if let Shape::Image { href, x, .. } = &layer.shape {
            data += &f.image(href, *x);
            continue;
        }
        let drawn = part(FINE, look.page, |p| f.draw(p, layer, look.columns));
        let drawn = broken(layer, look, FINE, drawn);
        // what a script changes
        let class = match &layer.shape {
            Shape::Boxes { .. } => "boxes",
            Shape::Wave(_) => "wave",
            _ => "",
        };
        data += &if class.is_empty() { drawn } else { format!("<g class=\"{class}\">\n{drawn}</g>\n") };
    }
    let start = right + 8.0 * u;
    let side = part(1.0, look.page, |p| {
        let high = (bottom - top) / panel.side.len().max(1) as f64;
        for (i, share) in panel.side.iter().enumerate() {
            let y = top + i as f64 * high;
            p.rect((start, y), (start + (SIDE - 8.0) * u * share, y + high), color::ORIGINAL.into());
        }
    });
    let beside = part(1.0, look.page, |p| {
        let mut free = f64::NEG_INFINITY;
        let mut all: Vec<&(f64, String)> = panel.beside.iter().collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let start = start + if panel.side.is_empty() { 0.0 } else { SIDE * u };
        for (v, text) in all {
            free = (top + f.y(*v) - above).max(free + 1.15 * TEXT * u);
            p.text(text, (start, free), TEXT * u, color::INK, (HPos::Left, VPos::Center));
        }
    });
    let texts = part(1.0, look.page, |p| {
        p.text(&panel.note, (right - 8.0 * u, top + 4.0 * u), TEXT * u, color::INK, (HPos::Right, VPos::Top));
        panel.layers.iter().for_each(|l| f.names(p, l, (left, top - above)));
    });
    let rows = part(1.0, look.page, |p| f.rows(p, (left, top - above)));
    let room = format!("width=\"{:.1}\" height=\"{:.1}\"", right - left, bottom - top + above);
    let group = |class: &str, drawn: &str| match drawn {
        "" => String::new(),
        drawn => format!("<g class=\"{class}\">\n{drawn}</g>\n"),
    };
    format!(
        "{}<clipPath id=\"{clip}\"><rect x=\"{left:.1}\" y=\"{upper:.1}\" {room}/></clipPath>\n<g clip-path=\"url(#{clip})\"><g class=\"zoomed\"><g transform=\"translate({left:.1} {upper:.1}) scale({})\">\n{data}</g></g></g>\n{}{}<g class=\"rows\">\n{rows}</g>\n{texts}",
        axes(panel, at, look),
        1.0 / FINE,
        group("side", &side),
        group("beside", &beside),
        upper = top - above,
    )
}

/// Grid, numbers and titles of both axes.
fn axes(panel: &Panel, at: [f64; 4], look: &Look) -> String {
    let [left, top, right, bottom] = at;
    let (u, grid) = (look.unit, RGBAColor::from(color::GRID));
    let most = ((bottom - top) / (44.0 * u)).clamp(3.0, 8.0) as usize;
    let most = if panel.y.names.is_some() { ((bottom - top) / (18.0 * u)) as usize } else { most };
    let upward = part(1.0, look.page, |p| {
        for (v, text) in panel.y.ticks(most) {
            let y = bottom - panel.y.share(v) * (bottom - top);
            p.line([(left, y), (right, y)], grid, 1.0);
            p.text(&text, (left - 8.0 * u, y), TEXT * u, color::INK, (HPos::Right, VPos::Center));
        }
        let text = beginning(&panel.y.title(), bottom - top + 2.0 * LINE * u, TEXT * u);
        p.upward(&text, (GAP * u, 0.5 * (top + bottom)), TEXT * u);
    });
    let frame = part(1.0, look.page, |p| {
        let zero = bottom - panel.y.share(0.0).clamp(0.0, 1.0) * (bottom - top);
        p.line([(left, top), (left, bottom)], color::INK.into(), 1.0);
        p.line([(left, zero), (right, zero)], color::INK.into(), 1.0);
    });
    format!("<g class=\"y\">\n{upward}</g>\n{}{frame}", below(&panel.x, at, look))
}

/// The axis to the right, whose marks a script may move: lines and texts in the same order, then the title.
fn below(axis: &Axis, [left, top, right, bottom]: [f64; 4], look: &Look) -> String {
    let u = look.unit;
    let numbers = ((right - left) / (100.0 * u)).clamp(2.0, 12.0) as usize;
    let ticks = axis.ticks(if axis.names.is_some() { 200 } else { numbers });
    let marks = part(1.0, look.page, |p| {
        let at = |v: f64| left + axis.share(v) * (right - left);
        ticks.iter().for_each(|t| p.line([(at(t.0), top), (at(t.0), bottom)], color::GRID.into(), 1.0));
        if axis.label.is_empty() {
            return;
        }
        let mut free = f64::NEG_INFINITY;
        for (v, text) in &ticks {
            let half = 0.5 * width(text, TEXT * u);
            if at(*v) - half >= free {
                p.text(text, (at(*v), bottom + 6.0 * u), TEXT * u, color::INK, (HPos::Center, VPos::Top));
                free = at(*v) + half + 8.0 * u;
            }
        }
    });
    let title = part(1.0, look.page, |p| {
        let at = (0.5 * (left + right), bottom + (TEXT + 16.0) * u);
        if !axis.label.is_empty() {
            p.text(&axis.title(), at, TEXT * u, color::INK, (HPos::Center, VPos::Top));
        }
    });
    format!("<g class=\"x\">\n{marks}</g>\n{title}")
}

/// From data to pixels from the upper left corner, with the rows of spans.
struct Frame<'a> {
    panel: &'a Panel,
    size: (f64, f64),
    above: f64,
    u: f64,
}

impl Frame<'_> {
    fn x(&self, v: f64) -> f64 {
        self.panel.x.share(v).clamp(-3.0, 4.0) * self.size.0
    }

    fn y(&self, v: f64) -> f64 {
        self.above + (1.0 - self.panel.y.share(v).clamp(0.0, 1.0)) * self.size.1
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x(x), self.y(y))
    }

    fn seen(&self, a: f64, b: f64) -> bool {
        b >= self.panel.x.range.0 && a <= self.panel.x.range.1
    }

    /// Upper and lower end of the spans of a row, below their text, or of all of the data.
    fn row(&self, row: Option<usize>) -> (f64, f64) {
        let line = LINE * self.u;
        row.map_or((self.above, self.above + self.size.1), |r| ((r as f64 + 0.72) * line, (r as f64 + 0.97) * line))
    }

    fn draw(&self, p: &mut Pen<'_>, layer: &Layer, columns: usize) {
        let (color, wide) = (layer.color, layer.width * self.u);
        let (bottom, range) = (self.above + self.size.1, self.panel.x.range);
        let zero = self.y(0.0);
        match &layer.shape {
            Shape::Area(steps) => {
                let corners = steps.part(range).corners(columns);
                let (Some(first), Some(last)) = (corners.first(), corners.last()) else { return };
                let ends = [first.0, last.0].map(|x| (self.x(x), zero));
                let points = corners.iter().map(|c| self.at(*c));
                p.area(std::iter::once(ends[0]).chain(points).chain([ends[1]]), color);
            }
            Shape::Curve(steps) => {
                p.line(steps.part(range).corners(columns).into_iter().map(|c| self.at(c)), color, wide);
            }
            Shape::Band { start, step, spans } => {
                let x = |i: usize| start + i as f64 * step;
                let edge = |of: fn(&(f64, f64)) -> f64| -> Vec<(f64, f64)> {
                    spans.iter().enumerate().flat_map(|(i, s)| [(x(i), of(s)), (x(i + 1), of(s))]).collect()
                };
                let (low, high) = (edge(|s| s.0), edge(|s| s.1));
                p.area(high.into_iter().chain(low.into_iter().rev()).map(|c| self.at(c)), color);
            }
            Shape::Line { points } => p.line(points.iter().map(|c| self.at(*c)), color, wide),
            Shape::Wave(wave) => p.line(wave.points(range).into_iter().map(|c| self.at(c)), color, wide),
            Shape::Stems { points } => {
                // one line up and down, which is a fraction of a line each
                p.line(
                    points.iter().flat_map(|c| [(self.x(c.0), zero), self.at(*c), (self.x(c.0), zero)]),
                    color,
                    wide,
                );
            }
            Shape::Dots { points } => points.iter().for_each(|c| p.dot(self.at(*c), wide, color)),
            Shape::Peaks { at } => {
                let ends = [self.above, self.above + 9.0 * self.u];
                at.iter().for_each(|t| p.line(ends.map(|y| (self.x(*t), y)), color, 5.0 * self.u));
            }
            Shape::Spans { row, spans, .. } => {
                let (top, bottom) = self.row(*row);
                for (a, b) in spans.iter().filter(|s| self.seen(s.0, s.1)) {
                    p.rect((self.x(*a), top), (self.x(*b).max(self.x(*a) + 1.0), bottom), color);
                }
            }
            Shape::Marks { at } => {
                let inside = at.iter().filter(|t| self.seen(**t, **t));
                inside.for_each(|t| p.line([(self.x(*t), self.above), (self.x(*t), bottom)], color, wide));
            }
            Shape::Levels { at } => {
                at.iter().for_each(|v| p.line([(0.0, self.y(*v)), (self.size.0, self.y(*v))], color, wide));
            }
            Shape::Boxes { boxes, .. } => {
                for &[x0, y0, x1, y1] in boxes {
                    let (a, b) = (self.at((x0, y1)), self.at((x1, y0)));
                    p.rect(a, (b.0.max(a.0 + wide), b.1.max(a.1 + wide)), color);
                }
            }
            Shape::Map { rows } => cells(rows, range, self.panel.y.range).for_each(|(a, b, shade)| {
                p.rect(self.at(a), self.at(b), shade.into());
            }),
            Shape::Texts { .. } | Shape::Image { .. } => {}
        }
    }

    /// A picture over all of the height.
    fn image(&self, href: &str, (from, to): (f64, f64)) -> String {
        let [x, y, width, height] =
            [self.x(from), self.above, self.x(to) - self.x(from), self.size.1].map(|v| (v * FINE).round());
        format!(
            "<image class=\"heat\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" href=\"{href}\"/>\n"
        )
    }

    /// The texts of the rows of spans, each above its first span and beside those before it.
    fn rows(&self, p: &mut Pen<'_>, corner: (f64, f64)) {
        let size = TEXT * self.u;
        let mut free = vec![0.0; self.panel.rows()];
        for layer in &self.panel.layers {
            let Shape::Spans { row: Some(row), spans, text } = &layer.shape else { continue };
            let from = spans.iter().find(|s| self.seen(s.0, s.1)).map_or(0.0, |s| self.x(s.0));
            let x = from.min(self.size.0 - width(text, size)).max(free[*row]);
            let at = (corner.0 + x, corner.1 + (*row as f64 + 0.36) * LINE * self.u);
            p.text(text, at, size, color::INK, (HPos::Left, VPos::Center));
            if !text.is_empty() {
                free[*row] = x + width(text, size) + GAP * self.u;
            }
        }
    }

    /// Texts over a layer, from a corner of the picture.
    fn names(&self, p: &mut Pen<'_>, layer: &Layer, corner: (f64, f64)) {
        let size = TEXT * self.u;
        let Shape::Texts { texts } = &layer.shape else { return };
        for (at, text) in texts {
            let (x, y) = self.at(*at);
            p.text(text, (corner.0 + x, corner.1 + y), size, color::INK, (HPos::Center, VPos::Center));
        }
    }
}

/// Draws on plotters.
struct Pen<'a> {
    svg: SVGBackend<'a>,
    /// Coordinates of plotters in a pixel.
    fine: f64,
    /// The same for widths of lines.
    wide: f64,
}

/// A part of the picture, drawn `fine` times as large; lines of a page keep their width whatever its scale.
fn part(fine: f64, page: bool, draw: impl FnOnce(&mut Pen<'_>)) -> String {
    let mut svg = String::new();
    {
        let mut pen = Pen { svg: SVGBackend::with_string(&mut svg, (1, 1)), fine, wide: if page { 1.0 } else { fine } };
        draw(&mut pen);
        // Writing to a string cannot fail.
        let _ = pen.svg.present();
    }
    let inside = svg.split_once('\n').map_or("", |s| s.1);
    tidy(&visible(inside.strip_suffix("</svg>\n").unwrap_or(inside)), page)
}

impl Pen<'_> {
    fn fine(&self, (x, y): (f64, f64)) -> (i32, i32) {
        ((x * self.fine).round() as i32, (y * self.fine).round() as i32)
    }

    fn points(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(i32, i32)> {
        corners(points.into_iter().map(|p| self.fine(p)))
    }

    fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, color: RGBAColor, width: f64) {
        let points = self.points(points);
        let style = ShapeStyle { color, filled: false, stroke_width: (width * self.wide).round().max(1.0) as u32 };
        // Writing to a string cannot fail, here and below.
        let _ = match points[..] {
            [] => Ok(()),
            [a, b] => self.svg.draw_line(a, b, &style),
            _ => self.svg.draw_path(points, &style),
        };
    }

    fn area(&mut self, points: impl IntoIterator<Item = (f64, f64)>, color: RGBAColor) {
        let points = self.points(points);
        let _ = self.svg.fill_polygon(points, &color);
    }

    fn rect(&mut self, from: (f64, f64), to: (f64, f64), color: RGBAColor) {
        let (a, b) = (self.fine(from), self.fine(to));
        let _ = self.svg.draw_rect(a, (b.0.max(a.0 + 1), b.1.max(a.1 + 1)), &color, true);
    }

    fn dot(&mut self, at: (f64, f64), radius: f64, color: RGBAColor) {
        let radius = (radius * self.fine).round() as u32;
        let _ = self.svg.draw_circle(self.fine(at), radius, &color, true);
    }

    fn text(&mut self, text: &str, at: (f64, f64), size: f64, color: RGBColor, (across, along): (HPos, VPos)) {
        // plotters divides sizes by 1.24
        let style = ("sans-serif", 1.24 * size).into_font().color(&color).pos(Pos::new(across, along));
        if !text.is_empty() {
            let _ = self.svg.draw_text(text, &style, self.fine(at));
        }
    }

    /// Text from below to above.
    fn upward(&mut self, text: &str, at: (f64, f64), size: f64) {
        let font = ("sans-serif", 1.24 * size).into_font().transform(FontTransform::Rotate270);
        let style = font.color(&color::INK).pos(Pos::new(HPos::Center, VPos::Center));
        let _ = self.svg.draw_text(text, &style, self.fine(at));
    }

    /// Colours from the least to the most.
    fn ramp(&mut self, (x, y, wide, u): (f64, f64, f64, f64), of: impl Fn(f64) -> RGBColor) {
        for i in (0..26).map(f64::from) {
            let (a, b) = (x + wide * i / 26.0, x + wide * (i + 1.0) / 26.0);
            self.rect((a, y - 7.0 * u), (b, y + 7.0 * u), of(i / 25.0).into());
        }
    }

    /// The sample of a layer in the legend, from (x, y) on.
    fn key(&mut self, layer: &Layer, (x, y): (f64, f64), (wide, u): (f64, f64)) {
        let (mut color, middle) = (layer.color, x + 0.5 * wide);
        // what many marks over each other look like
        color.3 = color.3.max(0.15);
        match &layer.shape {
            Shape::Area(_) | Shape::Band { .. } | Shape::Boxes { .. } | Shape::Spans { .. } | Shape::Texts { .. } => {
                self.rect((x, y - 7.0 * u), (x + wide, y + 7.0 * u), color);
            }
            Shape::Dots { .. } => self.dot((middle, y), 5.0 * u, color),
            Shape::Peaks { .. } => self.line([(middle, y - 5.0 * u), (middle, y + 5.0 * u)], color, 5.0 * u),
            Shape::Map { .. } => self.ramp((x, y, wide, u), shade),
            Shape::Image { colours, .. } => {
                let last = colours.len().saturating_sub(1) as f64;
                self.ramp((x, y, wide, u), |share| {
                    colours.get((share * last) as usize).copied().unwrap_or(color::SOFT)
                });
            }
            _ => self.line([(x, y), (x + wide, y)], color, layer.width * u),
        }
    }
}

/// The points of a curve without those between two others on a horizontal or vertical line.
fn corners(points: impl Iterator<Item = (i32, i32)>) -> Vec<(i32, i32)> {
    let between = |a: i32, b: i32, c: i32| (a.min(c)..=a.max(c)).contains(&b);
    let mut kept: Vec<(i32, i32)> = Vec::new();
    for c in points {
        while let [.., a, b] = kept[..]
            && (a.0 == c.0 || a.1 == c.1)
            && between(a.0, b.0, c.0)
            && between(a.1, b.1, c.1)
        {
            kept.pop();
        }
        kept.push(c);
    }
    kept
}

/// A colour as a page has it, light and dark; `None` if it is none.
fn of_page(value: &str) -> Option<String> {
    let number = u32::from_str_radix(value.strip_prefix('#').filter(|hex| hex.len() == 6)?, 16).ok()?;
    let [_, r, g, b] = number.to_be_bytes();
    let named = color::NAMES.iter().find(|c| c.0 == RGBColor(r, g, b));
    let RGBColor(r, g, b) = color::mirrored(RGBColor(r, g, b));
    Some(named.map_or_else(|| format!("light-dark({value},#{r:02x}{g:02x}{b:02x})"), |n| format!("var(--{})", n.1)))
}

/// A drawing without what every element of it has, with numbers as short as they can be seen, and for a page with the names of its
/// colours.
pub fn tidy(svg: &str, page: bool) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some((before, (value, after))) =
        rest.split_once("=\"").and_then(|(before, after)| Some((before, after.split_once('"')?)))
    {
        rest = after;
        let (text, key) = before.rsplit_once(' ').unwrap_or(("", before));
        let named = Some(value).filter(|_| page).and_then(of_page);
        let value = match key {
            "font-family" | "opacity" if matches!(value, "sans-serif" | "1") => None,
            "stroke" if value == "none" => None,
            "font-size" => value.parse().ok().map(|x: f64| ((x * 10.0).round() / 10.0).to_string()),
            _ => Some(named.unwrap_or_else(|| value.to_owned())),
        };
        out += text;
        if let Some(value) = value {
            out.extend([" ", key, "=\"", &value, "\""]);
            // an area narrower than a pixel is seen by its outline
            if key == "fill" && out[out.rfind('<').unwrap_or(0)..].starts_with("<polygon") {
                out.extend([" stroke=\"", &value, "\""]);
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::figure::Numbers;

    fn figure(names: &[&str]) -> Figure {
        let axis = || Axis::new((0.0, 10.0), "Time", "s", Numbers::Time);
        let layer = |n: &&str| Layer::new(*n, color::SIGNAL, Shape::Line { points: vec![(0.0, 1.0), (5.0, 2.0)] });
        let panels = vec![Panel::new(axis(), axis(), names.iter().map(layer).collect())];
        Figure { title: "A <title>".into(), caption: "where".into(), panels }
    }

    /// Tops of the texts of a drawing.
    fn rows(names: &[&str], text: &str) -> Vec<String> {
        let svg = draw(&figure(names), &Look::default(), "").svg;
        let texts = svg.split("<text ").skip(1).filter(|t| t.contains(text));
        texts.map(|t| t.split("y=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_long_legend_takes_several_rows() {
        let mut few = rows(&["name a", "name b", "name c"], "name");
        few.dedup();
        assert_eq!(few.len(), 1);
        let long = ["a", "b", "c", "d"].map(|x| format!("name {}", x.repeat(50)));
        let mut many = rows(&long.each_ref().map(|n| &**n), "name");
        many.dedup();
        assert_eq!(many.len(), 2);
    }

    #[test]
    fn a_figure_is_as_large_as_it_should_be() {
        let drawn = draw(&figure(&["a"]), &Look::sized(600, 400), "");
        assert!(drawn.svg.contains("viewBox=\"0 0 600 400\"") && drawn.boxes[0][3] < 400.0, "{:?}", drawn.boxes);
        assert!(drawn.svg.contains("<title>A &lt;title&gt;</title>") && drawn.svg.contains("#005AA0"));
        let page = draw(&figure(&["a"]), &Look::page(100), "p").svg;
        assert!(page.contains("stroke=\"var(--write)\"") && !page.contains("#005AA0") && !page.contains("where"));
    }

    #[test]
    fn curves_keep_their_corners_and_turns() {
        let of = |points: &[(i32, i32)]| corners(points.iter().copied());
        let curve = [(0, 5), (1, 5), (2, 5), (2, 5), (2, 9), (2, 3), (4, 1), (6, 0)];
        assert_eq!(of(&curve), [(0, 5), (2, 5), (2, 9), (2, 3), (4, 1), (6, 0)]);
        assert_eq!(of(&[(3, 3); 3]), [(3, 3), (3, 3)], "a dot is a line of two points");
        assert_eq!(of(&[(0, 0), (2, 0), (1, 0)]), [(0, 0), (2, 0), (1, 0)]);
    }

    #[test]
    fn elements_have_what_can_be_seen() {
        let svg = "<text font-family=\"sans-serif\" font-size=\"20.967741935483872\" opacity=\"1\" x=\"1\">a=b</text>";
        assert_eq!(tidy(svg, false), "<text font-size=\"21\" x=\"1\">a=b</text>");
        let unnamed = "<rect fill=\"#785A10\"/>";
        assert_eq!(tidy(unnamed, true), "<rect fill=\"light-dark(#785A10,#efd187)\"/>");
        assert_eq!(tidy(unnamed, false), unnamed);
        assert_eq!(tidy("<polygon opacity=\"0.5\" fill=\"#005AA0\"/>", true).matches("var(--write)").count(), 2);
    }
}
