//! The graph as SVG.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Write;

use super::label;
use super::layout::{self, Layout, Link, Point};
use super::shade::{self, Coloring};
use crate::dfg::{Color, DfgReport, END, NodeReport, START};
use crate::render::units;
use crate::render::visible::visible;

/// Size of the text in nodes, and of the counts at edges.
const TEXT: f64 = 16.0;
const COUNT: f64 = 16.0;
/// Bold text is as wide as plain text of this size.
const BOLD: f64 = 18.5;
/// Height of a line of text in a node.
const LINE: f64 = 20.0;
/// Width of a letter in sizes of its font: without font files the width of a text can only be estimated, rather too wide.
const LETTER: f64 = 0.58;
/// Height of the title, and of a line of the legend below it.
const TITLE: f64 = 44.0;
const NOTE: f64 = 22.0;
/// Diameter of start and end.
const KNOB: f64 = 22.0;

/// Draws the `most` activities with the largest load (in a comparison, those of one group first), and says so if there are more.
pub fn picture(r: &DfgReport, source: &str, by: Coloring, most: usize) -> String {
    let nodes = shown(r, by, most);
    let mut numbers: HashMap<&str, usize> = HashMap::from([(START, 0)]);
    let mut boxes: Vec<Point> = vec![(KNOB, KNOB)];
    for n in &nodes {
        numbers.insert(&n.activity, boxes.len());
        boxes.push(size_of(n));
    }
    numbers.insert(END, boxes.len());
    boxes.push((KNOB, KNOB));
    let edges: Vec<_> =
        r.edges.iter().filter_map(|e| Some((e, *numbers.get(&*e.from)?, *numbers.get(&*e.to)?))).collect();
    let heaviest = edges.iter().map(|(e, ..)| e.count).max().unwrap_or(1);
    let links: Vec<Link> = edges
        .iter()
        .map(|&(e, from, to)| Link {
            from,
            to,
            label: (wide(&e.count.to_string(), COUNT) + 8.0, COUNT + 5.0),
            weight: 1 + (4.0 * share(e.count, heaviest)) as i32,
        })
        .collect();
    let placed = layout::place(&boxes, &links);

    let title = title(r, by, nodes.len());
    let notes = notes(source, by, &placed);
    let head = TITLE + NOTE * notes.len() as f64;
    let text = notes.iter().map(|n| wide(n, TEXT)).fold(wide(&title, 20.0), f64::max);
    let width = placed.size.0.max(text + 48.0);
    let shift = (width - placed.size.0) / 2.0;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {width:.0} {h:.0}\" font-family=\"sans-serif\">",
        h = placed.size.1 + head
    );
    let _ = writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
    let _ = writeln!(out, "<text x=\"24\" y=\"32\" font-size=\"20\" fill=\"#282828\">{}</text>", escaped(&title));
    for (i, note) in notes.iter().enumerate() {
        let y = TITLE + NOTE * (i as f64 + 0.55);
        let _ =
            writeln!(out, "<text x=\"24\" y=\"{y:.1}\" font-size=\"{TEXT}\" fill=\"#5a6470\">{}</text>", escaped(note));
    }
    let _ = writeln!(out, "<g transform=\"translate({shift:.1} {head})\">");
    for ((&(e, from, to), (points, label)), l) in edges.iter().zip(&placed.links).zip(&links) {
        let (color, width) = (shade::line(e.color, by), width_of(e.count, heaviest));
        if from == to {
            let furthest = || points.iter().map(|p| p.0).fold(0.0, f64::max);
            let reach = label.map_or_else(furthest, |at| at.0 - l.label.0 / 2.0);
            self_loop(&mut out, placed.nodes[from], boxes[from], reach, (color, width));
        } else {
            edge(&mut out, points, color, width);
        }
    }
    for (&(e, ..), ((_, at), l)) in edges.iter().zip(placed.links.iter().zip(&links)) {
        at.iter().for_each(|&at| count(&mut out, e.count, at, l.label, shade::line(e.color, by)));
    }
    let (first, last) = (placed.nodes[0], placed.nodes[placed.nodes.len() - 1]);
    let _ =
        writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{}\" fill=\"#282828\"/>", first.0, first.1, KNOB / 2.0);
    let (x, y) = (last.0 - KNOB / 2.0, last.1 - KNOB / 2.0);
    let _ = writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{KNOB}\" height=\"{KNOB}\" fill=\"#282828\"/>");
    let fills = shade::Fills::of(r, by);
    for ((n, &at), &size) in nodes.iter().zip(&placed.nodes[1..]).zip(&boxes[1..]) {
        node(&mut out, fills.node(n), n, by, at, size);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// The activities that are drawn: all, or those with the largest share of what the colour stands for.
fn shown(r: &DfgReport, by: Coloring, most: usize) -> Vec<&NodeReport> {
    let mut nodes: Vec<&NodeReport> = r.nodes.iter().collect();
    if nodes.len() > most {
        let key = |n: &NodeReport| match by {
            Coloring::Bytes => (false, n.bytes as f64),
            Coloring::Load => (false, n.duration_s),
            Coloring::Partition => (n.color != Color::None, n.duration_s),
        };
        nodes.sort_by(|a, b| key(b).partial_cmp(&key(a)).unwrap_or(Ordering::Equal));
        nodes.truncate(most);
        nodes.sort_by(|a, b| a.activity.cmp(&b.activity));
    }
    nodes
}

fn title(r: &DfgReport, by: Coloring, shown: usize) -> String {
    let activities = if shown < r.nodes.len() {
        format!("the {shown} heaviest of {} activities", r.nodes.len())
    } else {
        units::counted(r.nodes.len() as u64, "activity")
    };
    if by == Coloring::Partition {
        let only = |color| r.nodes.iter().filter(|n| n.color == color).count();
        return format!("{activities}: {} only blue, {} only orange", only(Color::Green), only(Color::Red));
    }
    format!("{activities}, {}, {}", units::counted(r.events, "event"), units::counted(r.cases.len() as u64, "case"))
}

/// Source and legend, line by line.
fn notes(source: &str, by: Coloring, placed: &Layout) -> Vec<String> {
    let color = match by {
        Coloring::Load => "the darker, the larger the share of all durations",
        Coloring::Bytes => "the darker, the more bytes",
        Coloring::Partition => "blue: only in the first group (green), orange: only in the second (red)",
    };
    let source = shortened(source);
    let mut notes = vec![
        format!("{source}; numbers at edges: how often one directly follows the other"),
        "Load: share of all durations (bytes moved); DR: maximum concurrency x rate of one process".into(),
        format!("Colour: {color}"),
    ];
    notes.extend(placed.remark());
    notes
}

fn wide(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}

fn size_of(n: &NodeReport) -> Point {
    let lines = label::lines(n);
    let width = lines.iter().enumerate().map(|(i, l)| wide(&shortened(l), if i == 0 { BOLD } else { TEXT }));
    let width = width.fold(0.0, f64::max);
    (width + 24.0, lines.len() as f64 * LINE + 14.0)
}

/// Long names keep both ends.
fn shortened(text: &str) -> String {
    const MOST: usize = 48;
    let letters: Vec<char> = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if letters.len() <= MOST {
        return letters.into_iter().collect();
    }
    let half = MOST / 2;
    letters[..half].iter().chain(&['…']).chain(&letters[letters.len() - half + 1..]).collect()
}

/// 0 for 1, 1 for the largest count.
fn share(count: u64, most: u64) -> f64 {
    if most > 1 { (count.max(1) as f64).ln() / (most as f64).ln() } else { 0.0 }
}

/// Line width of an edge.
pub(super) fn width(count: u64, most: u64) -> f64 {
    1.0 + 4.0 * share(count, most)
}

use width as width_of;

fn node(out: &mut String, (fill, light): (String, bool), n: &NodeReport, by: Coloring, at: Point, size: Point) {
    let (x, y) = (at.0 - size.0 / 2.0, at.1 - size.1 / 2.0);
    let line = shade::line(n.color, by);
    let strong = if by == Coloring::Partition && n.color != Color::None { 2.5 } else { 1.2 };
    let _ = writeln!(
        out,
        "<g><title>{}: {}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"{strong}\"/>",
        escaped(&n.activity),
        units::counted(n.events, "event"),
        size.0,
        size.1
    );
    let ink = if light { "#ffffff" } else { "#282828" };
    for (i, text) in label::lines(n).iter().enumerate() {
        let baseline = y + 7.0 + LINE * (i as f64 + 0.75);
        let bold = if i == 0 { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{baseline:.1}\" font-size=\"{TEXT}\" text-anchor=\"middle\" fill=\"{ink}\"{bold}>{}</text>",
            at.0,
            escaped(&shortened(text))
        );
    }
    out.push_str("</g>\n");
}

/// A loop at the right border of a node that goes as far as `reach`.
fn self_loop(out: &mut String, at: Point, size: Point, reach: f64, (color, width): (&str, f64)) {
    let (x, half) = (at.0 + size.0 / 2.0, size.1 * 0.28);
    let (start, end) = ((x, at.1 - half), (x, at.1 + half));
    // a cubic curve goes three quarters of the way to its control points
    let far = x + (reach - 4.0 - x) / 0.75;
    let neck = x + 5.0 + width;
    let _ = writeln!(
        out,
        "<path d=\"M{:.1} {:.1}C{far:.1} {:.1} {far:.1} {:.1} {neck:.1} {:.1}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width:.1}\"/>",
        start.0, start.1, start.1, end.1, end.1
    );
    arrow_head(out, end, (-1.0, 0.0), color, width);
}

/// A line that bends smoothly between the middles of its parts, and an arrow head.
fn edge(out: &mut String, points: &[Point], color: &str, width: f64) {
    let [first, .., before, last] = points else { return };
    let head = arrow_length(width);
    let (dx, dy) = (last.0 - before.0, last.1 - before.1);
    let length = dx.hypot(dy).max(1e-6);
    let (ux, uy) = (dx / length, dy / length);
    // The line ends inside the head, which ends at the border.
    let neck = (last.0 - ux * head * 0.8, last.1 - uy * head * 0.8);
    let mut path = format!("M{:.1} {:.1}", first.0, first.1);
    for pair in points[1..].windows(2) {
        let middle = ((pair[0].0 + pair[1].0) / 2.0, (pair[0].1 + pair[1].1) / 2.0);
        let _ = write!(path, "Q{:.1} {:.1} {:.1} {:.1}", pair[0].0, pair[0].1, middle.0, middle.1);
    }
    let _ = write!(path, "L{:.1} {:.1}", neck.0, neck.1);
    let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width:.1}\"/>");
    arrow_head(out, *last, (ux, uy), color, width);
}

/// A triangle that ends at a point.
fn arrow_head(out: &mut String, end: Point, (ux, uy): Point, color: &str, width: f64) {
    let head = arrow_length(width);
    let (bx, by) = (end.0 - ux * head, end.1 - uy * head);
    let (sx, sy) = (-uy * head * 0.42, ux * head * 0.42);
    let _ = writeln!(
        out,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{color}\"/>",
        end.0,
        end.1,
        bx + sx,
        by + sy,
        bx - sx,
        by - sy
    );
}

fn arrow_length(width: f64) -> f64 {
    7.0 + 1.5 * width
}

fn count(out: &mut String, count: u64, at: Point, size: Point, color: &str) {
    let (x, y) = (at.0 - size.0 / 2.0, at.1 - size.1 / 2.0);
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" fill=\"#ffffff\" fill-opacity=\"0.9\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{COUNT}\" text-anchor=\"middle\" fill=\"{color}\">{count}</text>",
        size.0,
        size.1,
        at.0,
        at.1 + COUNT * 0.36
    );
}

/// Text as it may stand in XML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
