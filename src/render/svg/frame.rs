//! What all pictures share: size, colours, axes with SI units, and a legend above the data.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::ticks::Scale;
pub use super::ticks::{Axis, Numbers};
use crate::error::{Error, ErrorKind, Result};

/// Width of a picture in pixels.
pub const WIDTH: u32 = 1200;
/// Height of a picture in pixels.
pub const HEIGHT: u32 = 560;

/// Size of a title in pixels.
const TITLE: f64 = 26.0;

/// Room between the plot and the right edge in pixels.
const RIGHT: u32 = 36;

/// Periods of which each can still be seen in the width of a picture.
pub const MOST_PERIODS: f64 = 80.0;

/// Colours that stay apart for most eyes (after Okabe and Ito) and in print.
pub mod color {
    use plotters::style::RGBColor;

    /// The trace itself.
    pub const ORIGINAL: RGBColor = RGBColor(150, 170, 190);
    /// Its outline: a burst may be narrower than a pixel.
    pub const OUTLINE: RGBColor = RGBColor(105, 125, 150);
    /// The sampled signal.
    pub const SIGNAL: RGBColor = RGBColor(0, 90, 160);
    /// The dominant cosine or period.
    pub const DOMINANT: RGBColor = RGBColor(213, 94, 0);
    /// The cosines of further periods.
    pub const OTHERS: [RGBColor; 2] = [RGBColor(118, 56, 158), RGBColor(166, 118, 29)];
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
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

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
    Ok(with_short_sizes(&svg))
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
    Ok(with_short_sizes(&svg))
}

/// The picture with font sizes of at most two decimals; plotters writes them with up to sixteen.
fn with_short_sizes(svg: &str) -> String {
    const NAME: &str = "font-size=\"";
    let mut parts = svg.split(NAME);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (size, rest) = part.split_once('"').unwrap_or((part, ""));
        let size = size.parse().map_or_else(|_| size.to_owned(), |x: f64| ((x * 100.0).round() / 100.0).to_string());
        out.extend([NAME, &size, "\"", rest]);
    }
    out
}

/// A chart that fills a panel; `note` is written into its upper right corner.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn panel<'a, 'b>(area: &'a Area<'b>, note: &str, x: &Axis<'_>, y: &Axis<'_>) -> Result<Chart<'a, 'b>> {
    let chart = axes(area, 8, RIGHT, x, y)?;
    let right = i32::try_from(area.dim_in_pixel().0.saturating_sub(RIGHT + 8)).unwrap_or(i32::MAX);
    let style = ("sans-serif", 19).into_font().color(&color::INK).pos(Pos::new(HPos::Right, VPos::Top));
    area.draw(&Text::new(note.to_owned(), (right, 12), style)).map_err(failed)?;
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
    axes(area, 86, RIGHT, x, y)
}

/// Like [`chart`], with texts to the right of the plot, each at its height.
///
/// # Errors
/// [`ErrorKind::Output`] if drawing fails.
pub fn chart_beside<'a, 'b>(
    area: &'a Area<'b>,
    title: &str,
    legend: &[(Key, String)],
    x: &Axis<'_>,
    y: &Axis<'_>,
    beside: &[(f64, String)],
) -> Result<Chart<'a, 'b>> {
    const SIZE: f64 = 19.0;
    head(area, title, legend)?;
    let room = beside.iter().map(|(_, text)| width(text, SIZE)).fold(0.0, f64::max) as u32 + 24;
    let chart = axes(area, 86, room.max(RIGHT), x, y)?;
    let style = ("sans-serif", SIZE).into_font().color(&color::INK).pos(Pos::new(HPos::Left, VPos::Center));
    for (at, text) in beside {
        let (x, y) = chart.backend_coord(&(x.range.1, *at));
        area.draw(&Text::new(text.clone(), (x + 10, y), style.clone())).map_err(failed)?;
    }
    Ok(chart)
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

fn head(area: &Area<'_>, title: &str, legend: &[(Key, String)]) -> Result<()> {
    // what would leave the picture is written smaller
    let size = TITLE * ((f64::from(WIDTH) - 40.0) / width(title, TITLE)).min(1.0);
    let style = ("sans-serif", size).into_font().color(&color::INK);
    area.draw(&Text::new(title.to_owned(), (24, 14), style)).map_err(failed)?;
    draw_legend(area, legend)
}

fn axes<'a, 'b>(area: &'a Area<'b>, top: u32, right: u32, x: &Axis<'_>, y: &Axis<'_>) -> Result<Chart<'a, 'b>> {
    let ink = |size: u32| ("sans-serif", size).into_font().color(&color::INK);
    let (most_x, most_y) = (10, if area.dim_in_pixel().1 < 300 { 4 } else { 6 });
    let (scale_x, scale_y) = (x.scale(most_x), y.scale(most_y));
    let mut chart = ChartBuilder::on(area)
        .margin(18)
        .margin_top(top)
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

fn draw_legend(area: &Area<'_>, legend: &[(Key, String)]) -> Result<()> {
    const TEXT: f64 = 19.0;
    // key, the distance to its text, and to the next key
    const KEY: i32 = 30;
    const GAPS: (i32, i32) = (8, 26);
    let gaps = f64::from(KEY + GAPS.0 + GAPS.1);
    let texts: f64 = legend.iter().map(|(_, label)| width(label, TEXT)).sum();
    // what would leave the picture is written smaller
    let size = TEXT * ((f64::from(WIDTH) - 40.0 - gaps * legend.len() as f64) / texts.max(1.0)).min(1.0);
    let mut x = 30;
    let y = 62;
    let style = ("sans-serif", size).into_font().color(&color::INK).pos(Pos::new(HPos::Left, VPos::Center));
    for (key, label) in legend {
        match *key {
            Key::Line(c, w) => {
                let line = PathElement::new(vec![(x, y), (x + KEY, y)], c.stroke_width(w));
                area.draw(&line).map_err(failed)?;
            }
            Key::Fill(c, alpha) => {
                let fill = Rectangle::new([(x, y - 8), (x + KEY, y + 8)], c.mix(alpha).filled());
                area.draw(&fill).map_err(failed)?;
            }
            Key::Dot(c) => {
                area.draw(&Circle::new((x + KEY / 2, y), 6, c.filled())).map_err(failed)?;
            }
        }
        area.draw(&Text::new(label.clone(), (x + KEY + GAPS.0, y), style.clone())).map_err(failed)?;
        x += KEY + GAPS.0 + width(label, size) as i32 + GAPS.1;
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

/// The parts of a curve between two heights, cut where it crosses them.
pub fn within(points: impl IntoIterator<Item = (f64, f64)>, (low, high): (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for b in points {
        let a = before.replace(b).unwrap_or(b);
        let at = |y: f64| (a.0 + (b.0 - a.0) * (y - a.1) / (b.1 - a.1), y);
        let cut = |p: (f64, f64)| {
            if p.1 < low {
                at(low)
            } else if p.1 > high {
                at(high)
            } else {
                p
            }
        };
        if (a.1 < low && b.1 < low) || (a.1 > high && b.1 > high) {
            continue;
        }
        let (from, to) = (cut(a), cut(b));
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_cut_where_they_leave_the_plot() {
        let parts = within([(0.0, 1.0), (1.0, 3.0), (2.0, -1.0), (3.0, -2.0), (4.0, 2.0)], (0.0, 2.0));
        let expected = vec![vec![(0.0, 1.0), (0.5, 2.0)], vec![(1.25, 2.0), (1.75, 0.0)], vec![(3.5, 0.0), (4.0, 2.0)]];
        // the first point stands twice
        let parts: Vec<Vec<(f64, f64)>> = parts
            .into_iter()
            .map(|mut p| {
                p.dedup();
                p
            })
            .collect();
        assert_eq!(parts, expected);
        assert!(within([(0.0, 5.0), (1.0, 6.0)], (0.0, 2.0)).is_empty());
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
    fn font_sizes_have_two_decimals() {
        let svg = "<svg>\n<text font-size=\"20.967741935483872\" x=\"1\">a</text><text font-size=\"15\">b</text></svg>";
        let short = "<svg>\n<text font-size=\"20.97\" x=\"1\">a</text><text font-size=\"15\">b</text></svg>";
        assert_eq!(with_short_sizes(svg), short);
    }

    #[test]
    fn thinning_keeps_the_bursts() {
        let mut v = vec![0.0; 1_000_000];
        v[777_777] = 5.0;
        let p = steps(|i| i as f64, &v, (0.0, 1e6));
        assert!(p.len() < 10_000 && p.iter().any(|(t, y)| *y == 5.0 && (t - 777_777.0).abs() < 1000.0));
    }
}
