//! What all pictures share: size, colours, axes with SI units, a head with caption and legend, and lanes above the data.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::heat::shade;
use super::ticks::Scale;
pub use super::ticks::{Axis, Numbers};
use crate::error::{Error, ErrorKind, Result};
use crate::render::visible::visible;

/// Width of a picture in pixels.
pub const WIDTH: u32 = 1200;
/// Height of plot and axes in pixels.
const PLOT: u32 = 474;

/// Size of a title in pixels; all other text has 16 pixels or more, to be read at half the size.
const TITLE: f64 = 26.0;
/// Size of the text of captions, legends and lanes.
const TEXT: f64 = 19.0;
/// Left edge of titles and legends.
const LEFT: i32 = 24;

/// Room between the plot and the right edge in pixels.
const RIGHT: u32 = 36;

/// Periods of which each can still be seen in the width of a picture.
pub const MOST_PERIODS: f64 = 80.0;

/// Colours that stay apart for most eyes (after Okabe and Ito) and in print.
pub mod color {
    use plotters::style::RGBColor;

    /// The trace itself.
    pub const ORIGINAL: RGBColor = RGBColor(135, 158, 182);
    /// Its outline: a burst may be narrower than a pixel.
    pub const OUTLINE: RGBColor = RGBColor(105, 125, 150);
    /// The sampled signal.
    pub const SIGNAL: RGBColor = RGBColor(0, 90, 160);
    /// The dominant cosine or period.
    pub const DOMINANT: RGBColor = RGBColor(213, 94, 0);
    /// Further periods.
    pub const OTHERS: [RGBColor; 4] =
        [RGBColor(118, 56, 158), RGBColor(166, 118, 29), RGBColor(0, 140, 160), RGBColor(110, 110, 110)];
    /// Where the period holds.
    pub const VALID: RGBColor = RGBColor(0, 158, 115);
    /// The next burst.
    pub const NEXT: RGBColor = RGBColor(204, 121, 167);
    /// The strongest frequency over time, on blue.
    pub const TRACK: RGBColor = RGBColor(240, 228, 66);
    /// Text and axes.
    pub const INK: RGBColor = RGBColor(40, 40, 40);
    /// Captions.
    pub const SOFT: RGBColor = RGBColor(90, 100, 112);
    /// Grid lines.
    pub const GRID: RGBColor = RGBColor(225, 225, 225);
}

/// Drawing area of plotters on a string.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
/// Chart with two linear axes.
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

/// What stands above a picture.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// The answer in one line.
    pub title: String,
    /// Where it comes from, and which part of that is shown.
    pub caption: String,
    /// The meaning of lines and colours.
    pub legend: Vec<(Key, String)>,
}

/// Makes an SVG of one chart.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn picture(
    head: &Head,
    x: &Axis<'_>,
    y: &Axis<'_>,
    draw: impl FnOnce(&mut Chart<'_, '_>) -> Result<()>,
) -> Result<String> {
    picture_beside(head, x, y, &[], draw)
}

/// Like [`picture`], with texts to the right of the plot, each at its height.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn picture_beside(
    head: &Head,
    x: &Axis<'_>,
    y: &Axis<'_>,
    beside: &[(f64, String)],
    draw: impl FnOnce(&mut Chart<'_, '_>) -> Result<()>,
) -> Result<String> {
    panels(head, &[PLOT], |areas| {
        let [area] = areas else { return Ok(()) };
        let room = beside.iter().map(|(_, text)| width(text, TEXT)).fold(0.0, f64::max) as u32;
        let mut chart = axes(area, if room > 0 { room } else { RIGHT }, x, y)?;
        for (at, text) in beside {
            let (x, y) = chart.backend_coord(&(x.range.1, *at));
            // the area counts from its own corner
            let y = y - area.get_pixel_range().1.start;
            area.draw(&Text::new(text.clone(), (x + 10, y), ink(TEXT, HPos::Left, VPos::Center))).map_err(failed)?;
        }
        draw(&mut chart)
    })
}

/// Makes an SVG of panels below each other under one head, `heights` pixels each.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn panels(head: &Head, heights: &[u32], draw: impl FnOnce(&[Area<'_>]) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    {
        let top = head.height();
        let size = (WIDTH, top + heights.iter().sum::<u32>());
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        head.draw(&area)?;
        let ends = heights.iter().scan(top, |y, h| {
            *y += h;
            Some(*y)
        });
        let cuts: Vec<i32> = std::iter::once(top).chain(ends).map(|y| i32::try_from(y).unwrap_or(i32::MAX)).collect();
        let parts: Vec<Area<'_>> =
            area.split_by_breakpoints([0i32; 0], &cuts[..cuts.len() - 1]).into_iter().skip(1).collect();
        draw(&parts)?;
        area.present().map_err(failed)?;
    }
    Ok(as_seen(&visible(&svg)))
}

/// A style of text in the colour of the axes.
fn ink(size: f64, across: HPos, along: VPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&color::INK).pos(Pos::new(across, along))
}

/// The picture without what cannot be seen: font sizes, which plotters writes with up to sixteen digits, have one decimal, and curves
/// only their corners.
fn as_seen(svg: &str) -> String {
    let short = |size: &str| match size.parse::<f64>() {
        Ok(x) => ((x * 10.0).round() / 10.0).to_string(),
        Err(_) => size.to_owned(),
    };
    rewritten(&rewritten(svg, "font-size=\"", short), "points=\"", corners)
}

/// The text with each value that follows `start`, up to its quote, changed.
fn rewritten(svg: &str, start: &str, change: impl Fn(&str) -> String) -> String {
    let mut parts = svg.split(start);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (value, rest) = part.split_once('"').unwrap_or((part, ""));
        out.extend([start, &change(value), "\"", rest]);
    }
    out
}

/// The points of a curve without those between two others on a horizontal or vertical line.
fn corners(points: &str) -> String {
    let between = |a: i32, b: i32, c: i32| (a.min(c)..=a.max(c)).contains(&b);
    let mut kept: Vec<(i32, i32)> = Vec::new();
    for point in points.split_whitespace() {
        let pixel = point.split_once(',').and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
        let Some(c) = pixel else { return points.to_owned() };
        while let [.., a, b] = kept[..]
            && (a.0 == c.0 || a.1 == c.1)
            && between(a.0, b.0, c.0)
            && between(a.1, b.1, c.1)
        {
            kept.pop();
        }
        kept.push(c);
    }
    kept.iter().map(|(x, y)| format!("{x},{y} ")).collect()
}

/// A chart that fills a panel; `note` is written into its upper right corner.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn panel<'a, 'b>(area: &'a Area<'b>, note: &str, x: &Axis<'_>, y: &Axis<'_>) -> Result<Chart<'a, 'b>> {
    let chart = axes(area, RIGHT, x, y)?;
    let right = i32::try_from(area.dim_in_pixel().0.saturating_sub(RIGHT + 8)).unwrap_or(i32::MAX);
    area.draw(&Text::new(note.to_owned(), (right, 12), ink(TEXT, HPos::Right, VPos::Top))).map_err(failed)?;
    Ok(chart)
}

/// A drawing error as one of ours.
pub fn failed(e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Output, format!("a picture could not be drawn: {e}"))
}

/// How a legend entry looks.
#[derive(Debug, Clone, Copy)]
pub enum Key {
    /// A line of this width.
    Line(RGBColor, u32),
    /// A dashed line of this width.
    Dash(RGBColor, u32),
    /// A filled box.
    Fill(RGBColor, f64),
    /// A point.
    Dot(RGBColor),
    /// A value above the end of the axis.
    Above(RGBColor),
    /// The colours of a map, from none to the highest value.
    Ramp,
}

/// Width of a text in pixels, about: without font files it can only be estimated, and every viewer has its own.
pub fn width(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '(' | ')' | '[' | ']'
        | '/' | '-' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.92,
        '=' | '±' | '<' | '>' => 0.8,
        c if c.is_ascii_uppercase() => 0.68,
        _ => 0.61,
    };
    text.chars().map(letter).sum::<f64>() * size
}

/// The end of a name that is too long for a title together with what follows it.
pub fn shortened(name: &str, rest: &str) -> String {
    let room = ((f64::from(WIDTH) - 60.0 - width(rest, TITLE)) / width("n", TITLE)).max(16.0) as usize;
    let letters = name.chars().count();
    if letters <= room {
        return name.to_owned();
    }
    std::iter::once('…').chain(name.chars().skip(letters - (room - 1))).collect()
}

impl Key {
    fn width(self) -> i32 {
        if matches!(self, Key::Ramp) { 160 } else { 30 }
    }

    fn draw(self, area: &Area<'_>, (x, y): (i32, i32)) -> Result<()> {
        let end = x + self.width();
        match self {
            Key::Line(c, w) => area.draw(&PathElement::new([(x, y), (end, y)], c.stroke_width(w))),
            Key::Dash(c, w) => (0..3).try_for_each(|i| {
                let from = x + 11 * i;
                area.draw(&PathElement::new([(from, y), (from + 8, y)], c.stroke_width(w)))
            }),
            Key::Fill(c, alpha) => area.draw(&Rectangle::new([(x, y - 8), (end, y + 8)], c.mix(alpha).filled())),
            Key::Dot(c) => area.draw(&Circle::new((x + 15, y), 6, c.filled())),
            Key::Above(c) => area.draw(&TriangleMarker::new((x + 15, y + 2), 7, c.filled())),
            Key::Ramp => (0..32).try_for_each(|i| {
                let cell = [(x + 5 * i, y - 8), (x + 5 * i + 5, y + 8)];
                area.draw(&Rectangle::new(cell, shade(f64::from(i) / 31.0).filled()))
            }),
        }
        .map_err(failed)
    }
}

impl Head {
    /// Left end and row of each key of the legend; as many rows as it takes.
    fn places(&self) -> Vec<(i32, u32)> {
        let (mut x, mut row) = (LEFT, 0);
        let place = |(key, text): &(Key, String)| {
            let room = key.width() + 8 + width(text, TEXT) as i32;
            if x > LEFT && x + room > WIDTH as i32 - LEFT {
                (x, row) = (LEFT, row + 1);
            }
            let at = (x, row);
            x += room + 22;
            at
        };
        self.legend.iter().map(place).collect()
    }

    fn height(&self) -> u32 {
        self.places().last().map_or(78, |(_, row)| 104 + 28 * row)
    }

    fn draw(&self, area: &Area<'_>) -> Result<()> {
        let room = f64::from(WIDTH) - 2.0 * f64::from(LEFT);
        // a long title is written smaller
        let size = (TITLE * (room / width(&self.title, TITLE))).clamp(17.0, TITLE);
        let style = ink(size, HPos::Left, VPos::Top);
        area.draw(&Text::new(self.title.clone(), (LEFT, 12), style)).map_err(failed)?;
        let size = (TEXT * (room / width(&self.caption, TEXT))).clamp(16.0, TEXT);
        let style = ("sans-serif", size).into_font().color(&color::SOFT);
        let letters = (room / width("n", size)) as usize;
        let caption = match self.caption.char_indices().nth(letters + letters / 8) {
            Some((end, _)) => format!("{}…", &self.caption[..end]),
            None => self.caption.clone(),
        };
        area.draw(&Text::new(caption, (LEFT, 46), style)).map_err(failed)?;
        for ((key, text), (x, row)) in self.legend.iter().zip(self.places()) {
            let y = 88 + 28 * row as i32;
            key.draw(area, (x, y))?;
            let style = ink(TEXT, HPos::Left, VPos::Center);
            area.draw(&Text::new(text.clone(), (x + key.width() + 8, y), style)).map_err(failed)?;
        }
        Ok(())
    }
}

fn axes<'a, 'b>(area: &'a Area<'b>, right: u32, x: &Axis<'_>, y: &Axis<'_>) -> Result<Chart<'a, 'b>> {
    let ink = |size: u32| ("sans-serif", size).into_font().color(&color::INK);
    let (most_x, most_y) = (10, if area.dim_in_pixel().1 < 300 { 4 } else { 6 });
    let (scale_x, scale_y) = (x.scale(most_x), y.scale(most_y));
    let mut chart = ChartBuilder::on(area)
        .margin(18)
        .margin_top(8)
        .margin_right(right)
        .x_label_area_size(if x.label.is_empty() { 8 } else { 62 })
        .y_label_area_size(96)
        .build_cartesian_2d(scale_x.clone(), scale_y.clone())
        .map_err(failed)?;
    // A panel without a label for its x axis shares that of the one below.
    chart
        .configure_mesh()
        .x_desc(x.title())
        .y_desc(y.title())
        .x_labels(most_x)
        .y_labels(most_y)
        .x_label_formatter(&|v| if x.label.is_empty() { String::new() } else { x.number(*v, &scale_x) })
        .y_label_formatter(&|v| y.number(*v, &scale_y))
        .light_line_style(TRANSPARENT)
        .bold_line_style(color::GRID)
        .axis_style(color::INK)
        .label_style(ink(20))
        .axis_desc_style(ink(22))
        .draw()
        .map_err(failed)?;
    Ok(chart)
}

/// Stretches of time in a row above the data, with a text.
#[derive(Debug, Clone)]
pub struct Lane {
    /// Row, from below.
    pub row: usize,
    /// Start and end of each stretch.
    pub spans: Vec<(f64, f64)>,
    /// Written at the first of them.
    pub text: String,
    /// Colour of the stretches.
    pub color: RGBColor,
}

/// The range of an axis that has room for lanes above the data.
pub fn with_lanes(y: (f64, f64), lanes: &[Lane]) -> (f64, f64) {
    let rows = lanes.iter().map(|l| l.row + 1).max().unwrap_or(0);
    (y.0, y.1 + LANE * rows as f64 * (y.1 - y.0))
}

/// Height of a lane as a share of that of the data.
const LANE: f64 = 0.09;

/// Draws lanes above data that end at `y`.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn draw_lanes(chart: &mut Chart<'_, '_>, x: (f64, f64), y: (f64, f64), lanes: &[Lane]) -> Result<()> {
    let unit = LANE * (y.1 - y.0);
    let pixel = (x.1 - x.0) / f64::from(chart.plotting_area().dim_in_pixel().0);
    for lane in lanes {
        let (low, high) = (y.1 + unit * (lane.row as f64 + 0.08), y.1 + unit * (lane.row as f64 + 0.92));
        let inside = lane.spans.iter().map(|(a, b)| (a.max(x.0), b.min(x.1))).filter(|(a, b)| a < b);
        let spans: Vec<(f64, f64)> = inside.collect();
        let bar =
            |&(a, b): &(f64, f64)| Rectangle::new([(a, low), (b.max(a + pixel), high)], lane.color.mix(0.3).filled());
        chart.draw_series(spans.iter().map(bar)).map_err(failed)?;
        let Some(&(start, end)) = spans.first() else { continue };
        // in the bar; if it does not fit, before it, or up to its end
        let (room, gap) = ((width(&lane.text, TEXT) + 12.0) * pixel, 6.0 * pixel);
        let (at, side) = if room <= end - start {
            (start + gap, HPos::Left)
        } else if room <= start - x.0 {
            (start - gap, HPos::Right)
        } else {
            (start + gap, HPos::Left)
        };
        let style = ink(TEXT, side, VPos::Center);
        chart.draw_series([Text::new(lane.text.clone(), (at, 0.5 * (low + high)), style)]).map_err(failed)?;
    }
    Ok(())
}

/// A little more than `x`, for the top of an axis.
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
    fn a_long_legend_takes_several_rows() {
        let entry = |n: usize| (Key::Line(color::INK, 1), "x".repeat(n));
        let head = |legend: Vec<(Key, String)>| Head { legend, ..Head::default() };
        assert_eq!(head(vec![entry(10); 3]).places().iter().map(|p| p.1).collect::<Vec<_>>(), [0, 0, 0]);
        let places = head(vec![entry(40); 5]).places();
        assert_eq!(places.iter().map(|p| p.1).collect::<Vec<_>>(), [0, 0, 1, 1, 2]);
        assert_eq!(places[2].0, LEFT);
        assert_eq!(head(vec![entry(400); 2]).places(), [(LEFT, 0), (LEFT, 1)]);
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(shortened("/scratch/a.h5", ": 1 access by 1 rank"), "/scratch/a.h5");
        let long = format!("/scratch/{}.h5", "x".repeat(200));
        let short = shortened(&long, ": 1 access by 1 rank");
        assert!(short.starts_with('…') && short.ends_with("xx.h5"));
        assert!(width(&short, TITLE) + width(": 1 access by 1 rank", TITLE) < f64::from(WIDTH));
    }

    #[test]
    fn font_sizes_have_one_decimal() {
        let svg = "<svg>\n<text font-size=\"20.967741935483872\" x=\"1\">a</text><text font-size=\"15\">b</text></svg>";
        let short = "<svg>\n<text font-size=\"21\" x=\"1\">a</text><text font-size=\"15\">b</text></svg>";
        assert_eq!(as_seen(svg), short);
    }

    #[test]
    fn curves_keep_their_corners_and_turns() {
        assert_eq!(corners("0,5 1,5 2,5 2,5 2,9 2,3 4,1 6,0 "), "0,5 2,5 2,9 2,3 4,1 6,0 ");
        assert_eq!(corners("3,3 3,3 3,3"), "3,3 3,3 ", "a dot is a line of two points");
        assert_eq!(corners("0,0 2,0 1,0 "), "0,0 2,0 1,0 ");
        assert_eq!(corners("0.5,0 2,0"), "0.5,0 2,0");
    }

    #[test]
    fn thinning_keeps_the_bursts() {
        let mut v = vec![0.0; 1_000_000];
        v[777_777] = 5.0;
        let p = steps(|i| i as f64, &v, (0.0, 1e6));
        assert!(p.len() < 10_000 && p.iter().any(|(t, y)| *y == 5.0 && (t - 777_777.0).abs() < 1000.0));
    }
}
