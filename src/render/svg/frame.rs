//! What all pictures share: size, colours, axes with SI units, and a legend above the data.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::render::units::si_prefix;

/// Width of a picture in pixels.
pub const WIDTH: u32 = 1200;
/// Height of a picture in pixels.
pub const HEIGHT: u32 = 560;

/// Width of a letter in sizes of its font: without font files the width of a text can only be estimated.
const LETTER: f64 = 0.53;

/// Colours that stay apart for most eyes (after Okabe and Ito) and in print.
pub mod color {
    use plotters::style::RGBColor;

    /// The trace itself.
    pub const ORIGINAL: RGBColor = RGBColor(150, 170, 190);
    /// The sampled signal.
    pub const SIGNAL: RGBColor = RGBColor(0, 90, 160);
    /// The dominant cosine or period.
    pub const DOMINANT: RGBColor = RGBColor(213, 94, 0);
    /// Where the period holds.
    pub const VALID: RGBColor = RGBColor(0, 158, 115);
    /// The next burst.
    pub const NEXT: RGBColor = RGBColor(204, 121, 167);
    /// Text and axes.
    pub const INK: RGBColor = RGBColor(40, 40, 40);
    /// Grid lines.
    pub const GRID: RGBColor = RGBColor(225, 225, 225);
}

/// Drawing area of plotters on a string.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
/// Chart with two linear axes.
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Makes an SVG of the standard size.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn picture(draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        draw(&area)?;
        area.present().map_err(failed)?;
    }
    Ok(svg)
}

/// Makes an SVG of panels below each other under one title and legend, `heights` pixels each.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn panels(
    title: &str,
    legend: &[(Key, String)],
    heights: &[u32],
    draw: impl FnOnce(&[Area<'_>]) -> Result<()>,
) -> Result<String> {
    const HEAD: u32 = 84;
    let mut svg = String::new();
    {
        let size = (WIDTH, HEAD + heights.iter().sum::<u32>());
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        head(&area, title, legend)?;
        let ends = heights.iter().scan(HEAD, |y, h| {
            *y += h;
            Some(*y)
        });
        let cuts: Vec<i32> = std::iter::once(HEAD).chain(ends).map(|y| i32::try_from(y).unwrap_or(i32::MAX)).collect();
        let parts: Vec<Area<'_>> =
            area.split_by_breakpoints([0i32; 0], &cuts[..cuts.len() - 1]).into_iter().skip(1).collect();
        draw(&parts)?;
        area.present().map_err(failed)?;
    }
    Ok(svg)
}

/// A chart that fills a panel; `note` is written into its upper right corner.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn panel<'a, 'b>(area: &'a Area<'b>, note: &str, x: &Axis<'_>, y: &Axis<'_>) -> Result<Chart<'a, 'b>> {
    let chart = axes(area, 8, x, y)?;
    let style = ("sans-serif", 19).into_font().color(&color::INK);
    let width = (note.chars().count() as f64 * 19.0 * LETTER) as i32;
    let right = i32::try_from(area.dim_in_pixel().0).unwrap_or(i32::MAX) - 44;
    area.draw(&Text::new(note.to_owned(), (right - width, 12), style)).map_err(failed)?;
    Ok(chart)
}

/// A drawing error as one of ours.
pub fn failed(e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Output, format!("a picture could not be drawn: {e}"))
}

/// An axis: its range in the unit of the data, its label without unit, and the unit.
#[derive(Debug, Clone)]
pub struct Axis<'a> {
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// What it shows.
    pub label: &'a str,
    /// Unit of the data; gets an SI prefix unless `plain`.
    pub unit: &'a str,
    /// No SI prefix: seconds stay seconds.
    pub plain: bool,
}

impl Axis<'_> {
    fn scale(&self) -> (f64, &'static str) {
        if self.plain { (1.0, "") } else { si_prefix(self.range.0.abs().max(self.range.1.abs())) }
    }

    fn title(&self) -> String {
        if self.unit.is_empty() {
            self.label.to_owned()
        } else if self.label.is_empty() {
            format!("{}{}", self.scale().1, self.unit)
        } else {
            format!("{} ({}{})", self.label, self.scale().1, self.unit)
        }
    }
}

/// How a legend entry looks.
#[derive(Debug, Clone, Copy)]
pub enum Key {
    /// A line of this width.
    Line(RGBColor, u32),
    /// A filled box.
    Fill(RGBColor, f64),
    /// A point.
    Dot(RGBColor),
}

/// Draws title, legend (above the data) and axes, and gives the chart to draw the data in.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn chart<'a, 'b>(
    area: &'a Area<'b>,
    title: &str,
    legend: &[(Key, String)],
    x: &Axis<'_>,
    y: &Axis<'_>,
) -> Result<Chart<'a, 'b>> {
    head(area, title, legend)?;
    axes(area, 86, x, y)
}

fn head(area: &Area<'_>, title: &str, legend: &[(Key, String)]) -> Result<()> {
    let style = ("sans-serif", 26).into_font().color(&color::INK);
    area.draw(&Text::new(title.to_owned(), (24, 14), style)).map_err(failed)?;
    draw_legend(area, legend)
}

fn axes<'a, 'b>(area: &'a Area<'b>, top: u32, x: &Axis<'_>, y: &Axis<'_>) -> Result<Chart<'a, 'b>> {
    let ink = |size: u32| ("sans-serif", size).into_font().color(&color::INK);
    let mut chart = ChartBuilder::on(area)
        .margin(18)
        .margin_top(top)
        .margin_right(36)
        .x_label_area_size(if x.label.is_empty() { 8 } else { 62 })
        .y_label_area_size(96)
        .build_cartesian_2d(x.range.0..x.range.1, y.range.0..y.range.1)
        .map_err(failed)?;
    let (fx, fy) = (x.scale().0, y.scale().0);
    let (step_x, step_y) = (x.range.1 - x.range.0, y.range.1 - y.range.0);
    // A panel without a label for its x axis shares that of the one below.
    let (labels_x, labels_y) = (10, if area.dim_in_pixel().1 < 300 { 4 } else { 6 });
    chart
        .configure_mesh()
        .x_desc(x.title())
        .y_desc(y.title())
        .x_labels(labels_x)
        .y_labels(labels_y)
        .x_label_formatter(&|v| if x.label.is_empty() { String::new() } else { tick(v / fx, step_x / fx) })
        .y_label_formatter(&|v| tick(v / fy, step_y / fy))
        .light_line_style(TRANSPARENT)
        .bold_line_style(color::GRID)
        .axis_style(color::INK)
        .label_style(ink(20))
        .axis_desc_style(ink(22))
        .draw()
        .map_err(failed)?;
    Ok(chart)
}

/// A tick label with the digits that the axis needs.
fn tick(value: f64, span: f64) -> String {
    let places = (1 - span.abs().max(1e-12).log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    if text == "-0" { "0".into() } else { text }
}

fn draw_legend(area: &Area<'_>, legend: &[(Key, String)]) -> Result<()> {
    const TEXT: u32 = 19;
    let mut x = 30;
    let y = 62;
    for (key, label) in legend {
        match *key {
            Key::Line(c, w) => {
                let line = PathElement::new(vec![(x, y), (x + 30, y)], c.stroke_width(w));
                area.draw(&line).map_err(failed)?;
            }
            Key::Fill(c, alpha) => {
                let fill = Rectangle::new([(x, y - 8), (x + 30, y + 8)], c.mix(alpha).filled());
                area.draw(&fill).map_err(failed)?;
            }
            Key::Dot(c) => {
                area.draw(&Circle::new((x + 15, y), 6, c.filled())).map_err(failed)?;
            }
        }
        let style = ("sans-serif", TEXT).into_font().color(&color::INK);
        area.draw(&Text::new(label.clone(), (x + 38, y - 10), style)).map_err(failed)?;
        x += 38 + (label.chars().count() as f64 * f64::from(TEXT) * LETTER) as i32 + 26;
    }
    Ok(())
}

/// The smallest "round" value at or above `x`, for the top of an axis.
pub fn headroom(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { x * 1.06 } else { 1.0 }
}

/// Points of a step curve, thinned to the highest and lowest value of each pixel column, so that no burst is lost and a
/// picture of a million samples stays small.
pub fn steps(time: impl Fn(usize) -> f64, values: &[f64], range: (f64, f64)) -> Vec<(f64, f64)> {
    let inside: Vec<usize> = (0..values.len()).filter(|&i| time(i + 1) >= range.0 && time(i) <= range.1).collect();
    let columns = 1500usize;
    let mut out = Vec::new();
    let clip = |t: f64| t.clamp(range.0, range.1);
    if inside.len() <= columns {
        for &i in &inside {
            out.push((clip(time(i)), values[i]));
            out.push((clip(time(i + 1)), values[i]));
        }
        return out;
    }
    for chunk in inside.chunks(inside.len().div_ceil(columns)) {
        let (first, last) = (chunk[0], chunk[chunk.len() - 1]);
        let low = chunk.iter().map(|&i| values[i]).fold(f64::INFINITY, f64::min);
        let high = chunk.iter().map(|&i| values[i]).fold(f64::NEG_INFINITY, f64::max);
        let (a, b) = (clip(time(first)), clip(time(last + 1)));
        out.extend([(a, values[first]), (a, high), (b, low), (b, values[last])]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        assert_eq!(tick(0.30000000000000004, 1.0), "0.3");
        assert_eq!(tick(1500.0, 3000.0), "1500");
        assert_eq!(tick(-0.0, 1.0), "0");
        assert_eq!(tick(0.0125, 0.05), "0.013");
    }

    #[test]
    fn thinning_keeps_the_bursts() {
        let mut v = vec![0.0; 1_000_000];
        v[777_777] = 5.0;
        let p = steps(|i| i as f64, &v, (0.0, 1e6));
        assert!(p.len() < 10_000 && p.iter().any(|(t, y)| *y == 5.0 && (t - 777_777.0).abs() < 1000.0));
    }
}
