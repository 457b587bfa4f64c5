//! The graph as SVG, for files and for pages.

use std::cmp::Ordering;
use std::collections::HashMap;

use maud::{Markup, html};

use super::label;
use super::layout::{self, Layout, Link, Point};
use super::shade::{self, Coloring};
use crate::dfg::{Color, DfgReport, END, EdgeReport, NodeReport, START};
use crate::render::figure::{tidy, width as wide};
use crate::render::layout::both_ends;
use crate::render::units;
use crate::render::visible::visible;

/// Size of text.
const TEXT: f64 = 15.0;
/// How much wider bold text is.
const BOLD: f64 = 1.12;
/// Height of a line of text in a node.
const LINE: f64 = 20.0;
/// Height of the title, and of a line of the legend below it.
const TITLE: f64 = 44.0;
const NOTE: f64 = 22.0;
/// Diameter of start and end.
const KNOB: f64 = 22.0;

/// Some activities of a graph, and what follows what, placed.
pub struct Graph<'a> {
    by: Coloring,
    fills: shade::Fills,
    nodes: Vec<&'a NodeReport>,
    boxes: Vec<Point>,
    edges: Vec<(&'a EdgeReport, usize, usize)>,
    links: Vec<Link>,
    placed: Layout,
}

/// Draws the `most` activities with the largest load (in a comparison, those of one group first), or as many as a page is wide, and says so
/// if there are more.
pub fn picture(r: &DfgReport, source: &str, by: Coloring, most: Option<usize>) -> String {
    let graph = most.map_or_else(|| narrow(r, by, MOST_NODES), |most| Graph::of(r, shown(r, by, most), by));
    let title = title(r, by, graph.nodes.len());
    let notes = notes(source, by, graph.remark());
    let head = TITLE + NOTE * notes.len() as f64;
    let text = notes.iter().map(|n| wide(n, TEXT)).fold(wide(&title, 20.0), f64::max);
    let [width, height] = graph.size();
    let (whole, high) = (width.max(text + 48.0).ceil(), (height + head).round());
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(whole) height=(high) viewBox={ "0 0 " (whole) " " (high) }
            font-family="sans-serif" {
            "\n" title { (title) } "\n"
            rect width="100%" height="100%" fill="#FFFFFF" {} "\n"
            text x="24" y="32" font-size="20" fill="#282828" { (title) } "\n"
            @for (i, note) in notes.iter().enumerate() {
                text x="24" y=(tenth(TITLE + NOTE * (i as f64 + 0.55))) font-size=(TEXT) fill="#5A6470" { (note) } "\n"
            }
            g transform={ "translate(" (tenth((whole - width) / 2.0)) " " (head) ")" } { "\n" (graph.drawn()) } "\n"
        } "\n"
    };
    visible(&svg.into_string()).into_owned()
}

/// Width of a graph in pixels of which the text can still be read on a page, and nodes that are drawn in any case.
const WIDEST: f64 = 3600.0;
const FEWEST: usize = 12;
/// Nodes that are drawn unless asked otherwise.
const MOST_NODES: usize = 40;

/// The graph of as many of the `most` heaviest activities as a page is wide.
fn narrow(r: &DfgReport, by: Coloring, most: usize) -> Graph<'_> {
    let graph = Graph::of(r, shown(r, by, most), by);
    let n = graph.nodes.len();
    if n <= FEWEST || graph.size()[0] <= WIDEST { graph } else { narrow(r, by, (n * 3 / 4).max(FEWEST)) }
}

/// Finer places are not seen.
fn tenth(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
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
fn notes(source: &str, by: Coloring, remark: Option<String>) -> Vec<String> {
    let color = match by {
        Coloring::Load => "the darker, the larger the share of all durations",
        Coloring::Bytes => "the darker, the more bytes",
        Coloring::Partition => "blue: only in the first group (green), orange: only in the second (red)",
    };
    let source = both_ends(source, MOST);
    let mut notes = vec![
        format!("{source}; numbers at edges: how often one directly follows the other"),
        "Load: share of all durations (bytes moved); DR: maximum concurrency x rate of one process".into(),
        format!("Colour: {color}"),
    ];
    notes.extend(remark);
    notes
}

/// Letters of a text in a picture.
const MOST: usize = 48;

/// 0 for 1, 1 for the largest count.
fn share(count: u64, most: u64) -> f64 {
    if most > 1 { (count.max(1) as f64).ln() / (most as f64).ln() } else { 0.0 }
}

/// Line width of an edge.
pub(super) fn width(count: u64, most: u64) -> f64 {
    1.0 + 4.0 * share(count, most)
}

impl<'a> Graph<'a> {
    /// Places these activities of a graph.
    pub fn of(r: &'a DfgReport, nodes: Vec<&'a NodeReport>, by: Coloring) -> Graph<'a> {
        let mut numbers: HashMap<&str, usize> = HashMap::from([(START, 0), (END, nodes.len() + 1)]);
        numbers.extend(nodes.iter().enumerate().map(|(i, n)| (&*n.activity, i + 1)));
        let knob = std::iter::once((KNOB, KNOB));
        let boxes: Vec<Point> = knob.clone().chain(nodes.iter().map(|n| size_of(n))).chain(knob).collect();
        let number = |name: &str| numbers.get(name).copied();
        let edges: Vec<_> = r.edges.iter().filter_map(|e| Some((e, number(&e.from)?, number(&e.to)?))).collect();
        let heaviest = edges.iter().map(|e| e.0.count).max().unwrap_or(1);
        let link = |&(e, from, to): &(&EdgeReport, usize, usize)| Link {
            from,
            to,
            label: (wide(&e.count.to_string(), TEXT) + 8.0, TEXT + 5.0),
            weight: 1 + (4.0 * share(e.count, heaviest)) as i32,
        };
        let links: Vec<Link> = edges.iter().map(link).collect();
        let placed = layout::place(&boxes, &links);
        Graph { by, fills: shade::Fills::of(r, by), nodes, boxes, edges, links, placed }
    }

    /// Width and height.
    pub fn size(&self) -> [f64; 2] {
        [self.placed.size.0.ceil(), self.placed.size.1.ceil()]
    }

    /// How it is to be read, if that is unusual.
    pub fn remark(&self) -> Option<String> {
        self.placed.remark()
    }

    /// How often what is drawn follows each other.
    pub fn counts(&self) -> impl Iterator<Item = u64> {
        self.edges.iter().map(|e| e.0.count)
    }

    /// The graph in a page.
    pub fn page(&self, id: &str, described: &str) -> String {
        let [w, h] = self.size();
        let svg = html! {
            svg viewBox={ "0 0 " (w) " " (h) } width=(w) height=(h) role="img" aria-labelledby={ (id) "-t " (id) "-d" } {
                title id={ (id) "-t" } { "Directly-follows graph" } desc id={ (id) "-d" } { (described) } "\n" (self.drawn())
            } "\n"
        };
        tidy(&svg.into_string(), true)
    }

    /// Edges, then the nodes over them.
    fn drawn(&self) -> Markup {
        let (first, last, k) = (self.placed.nodes[0], self.placed.nodes[self.nodes.len() + 1], KNOB / 2.0);
        html! {
            @for i in 0..self.edges.len() { (self.edge(i)) }
            g data-node="0" { circle cx=(tenth(first.0)) cy=(tenth(first.1)) r=(k) fill="#282828" {} } "\n"
            g data-node=(self.nodes.len() + 1) {
                rect x=(tenth(last.0 - k)) y=(tenth(last.1 - k)) width=(KNOB) height=(KNOB) fill="#282828" {}
            } "\n"
            @for i in 1..=self.nodes.len() { (self.node(i)) }
        }
    }

    fn edge(&self, i: usize) -> Markup {
        let ((e, from, to), (points, label), size) = (self.edges[i], &self.placed.links[i], self.links[i].label);
        let (color, width) = (shade::line(e.color, self.by), width(e.count, self.counts().max().unwrap_or(1)));
        let way = if from == to {
            let furthest = || points.iter().map(|p| p.0).fold(0.0, f64::max);
            let reach = label.map_or_else(furthest, |at| at.0 - size.0 / 2.0);
            Some(self_loop(self.placed.nodes[from], self.boxes[from], reach, width))
        } else {
            bent(points, width)
        };
        html! {
            g data-from=(from) data-to=(to) data-count=(e.count) {
                "\n"
                @if let Some((line, end, towards)) = way {
                    path d=(line) fill="none" stroke=(color) stroke-width=(tenth(width)) {} "\n"
                    path d=(arrow_head(end, towards, width)) fill=(color) {} "\n"
                }
                @if let Some((x, y)) = *label {
                    rect x=(tenth(x - size.0 / 2.0)) y=(tenth(y - size.1 / 2.0)) width=(tenth(size.0)) height=(tenth(size.1))
                        rx="3" fill="#FFFFFF" fill-opacity="0.9" {}
                    text x=(tenth(x)) y=(tenth(y + TEXT * 0.36)) font-size=(TEXT) text-anchor="middle" fill=(color) { (e.count) } "\n"
                }
            } "\n"
        }
    }

    fn node(&self, i: usize) -> Markup {
        let (n, at, size) = (self.nodes[i - 1], self.placed.nodes[i], self.boxes[i]);
        let (x, y) = (at.0 - size.0 / 2.0, at.1 - size.1 / 2.0);
        let line = shade::line(n.color, self.by);
        let ((fill, share), alone) = (self.fills.node(n), shade::alone(n.color, self.by));
        let baseline = |k: usize| tenth(y + 7.0 + LINE * (k as f64 + 0.75));
        html! {
            g data-node=(i) tabindex="0" {
                title { (n.activity) ": " (units::counted(n.events, "event")) }
                rect x=(tenth(x)) y=(tenth(y)) width=(tenth(size.0)) height=(tenth(size.1)) rx="6" fill=(fill)
                    fill-opacity=(format!("{share:.2}")) stroke=(line) stroke-width=(if alone { 2.5 } else { 1.2 }) {} "\n"
                @for (k, text) in label::lines(n).iter().enumerate() {
                    text x=(tenth(at.0)) y=(baseline(k)) font-size=(TEXT) text-anchor="middle" fill="#282828"
                        font-weight=[(k == 0).then_some("bold")] { (both_ends(text, MOST)) } "\n"
                }
            } "\n"
        }
    }
}

fn size_of(n: &NodeReport) -> Point {
    let lines = label::lines(n);
    let width =
        lines.iter().enumerate().map(|(i, l)| wide(&both_ends(l, MOST), if i == 0 { BOLD * TEXT } else { TEXT }));
    (width.fold(0.0, f64::max) + 24.0, lines.len() as f64 * LINE + 14.0)
}

/// The path of a line, where it ends, and its direction there.
type Way = (String, Point, Point);

/// A loop at the right border of a node that goes as far as `reach`.
fn self_loop(at: Point, size: Point, reach: f64, width: f64) -> Way {
    let (x, half) = (at.0 + size.0 / 2.0, size.1 * 0.28);
    let (top, bottom) = (at.1 - half, at.1 + half);
    // a cubic curve goes three quarters of the way to its control points
    let far = x + (reach - 4.0 - x) / 0.75;
    let neck = x + 5.0 + width;
    (format!("M{x:.1} {top:.1}C{far:.1} {top:.1} {far:.1} {bottom:.1} {neck:.1} {bottom:.1}"), (x, bottom), (-1.0, 0.0))
}

/// A line that bends smoothly between the middles of its parts.
fn bent(points: &[Point], width: f64) -> Option<Way> {
    let [first, .., before, last] = points else { return None };
    let head = arrow_length(width);
    let (dx, dy) = (last.0 - before.0, last.1 - before.1);
    let length = dx.hypot(dy).max(1e-6);
    let (ux, uy) = (dx / length, dy / length);
    // the line ends inside the head, which ends at the border
    let neck = (last.0 - ux * head * 0.8, last.1 - uy * head * 0.8);
    let bend = |pair: &[Point]| {
        let middle = ((pair[0].0 + pair[1].0) / 2.0, (pair[0].1 + pair[1].1) / 2.0);
        format!("Q{:.1} {:.1} {:.1} {:.1}", pair[0].0, pair[0].1, middle.0, middle.1)
    };
    let bends: String = points[1..].windows(2).map(bend).collect();
    Some((format!("M{:.1} {:.1}{bends}L{:.1} {:.1}", first.0, first.1, neck.0, neck.1), *last, (ux, uy)))
}

/// A triangle that ends at a point.
fn arrow_head(end: Point, (ux, uy): Point, width: f64) -> String {
    let head = arrow_length(width);
    let (bx, by) = (end.0 - ux * head, end.1 - uy * head);
    let (sx, sy) = (-uy * head * 0.42, ux * head * 0.42);
    let corners = [end, (bx + sx, by + sy), (bx - sx, by - sy)].map(|(x, y)| format!("{x:.1} {y:.1}")).join("L");
    format!("M{corners}Z")
}

fn arrow_length(width: f64) -> f64 {
    7.0 + 1.5 * width
}
