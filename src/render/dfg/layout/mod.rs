//! Where the nodes and edges of a picture go: layers from top to bottom (Sugiyama's method, by the `dagre` crate), or one column where
//! so many edges pass so many layers that layers would take minutes and show nothing.

mod column;

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};

/// A point in pixels.
pub(in crate::render) type Point = (f64, f64);

/// An edge to be placed.
#[derive(Debug, Clone, Copy)]
pub(in crate::render) struct Link {
    /// Number of the node it leaves.
    pub(in crate::render) from: usize,
    /// Number of the node it enters.
    pub(in crate::render) to: usize,
    /// Width and height of its label.
    pub(in crate::render) label: Point,
    /// The heavier, the shorter and straighter.
    pub(in crate::render) weight: i32,
}

/// A placed graph.
#[derive(Debug, Clone, Default)]
pub(in crate::render) struct Layout {
    /// Width and height of everything.
    pub(in crate::render) size: Point,
    /// Centres of the nodes.
    pub(in crate::render) nodes: Vec<Point>,
    /// Points of the edges, from border to border, and the centres of their labels; `None`: there is no room for it.
    pub(in crate::render) links: Vec<(Vec<Point>, Option<Point>)>,
    /// All nodes lie in one column.
    pub(in crate::render) column: bool,
}

/// Space around everything.
const MARGIN: f64 = 24.0;

/// Layers that all edges together pass, at most, for a layout in layers: its time grows faster than their number, and nobody follows so
/// many lines.
const MOST_PASSED: usize = 500;

/// Places nodes of these widths and heights, the first of them at the top.
pub(in crate::render) fn place(boxes: &[Point], links: &[Link]) -> Layout {
    let order = column::order(boxes.len(), links);
    let mut out = if column::layers_passed(&order, links) > MOST_PASSED {
        column::place(&order, boxes, links)
    } else {
        in_layers(boxes, links)
    };
    out.fit(boxes, links);
    out
}

fn in_layers(boxes: &[Point], links: &[Link]) -> Layout {
    // Two edges between the same nodes, one each way, become two in the same direction on the way.
    let mut g = Graph::with_options(GraphOptions { directed: true, multigraph: true, compound: false });
    for (i, &(width, height)) in boxes.iter().enumerate() {
        g.set_node(i.to_string(), Some(NodeLabel { width, height, ..NodeLabel::default() }));
    }
    for l in links {
        let label = EdgeLabel {
            width: l.label.0,
            height: l.label.1,
            labelpos: LabelPos::Center,
            weight: l.weight,
            ..EdgeLabel::default()
        };
        g.set_edge(l.from.to_string(), l.to.to_string(), Some(label), None);
    }
    let options = LayoutOptions { nodesep: 36.0, edgesep: 14.0, ranksep: 44.0, ..LayoutOptions::default() };
    dagre::layout(&mut g, Some(options));
    let mut out = Layout::default();
    for i in 0..boxes.len() {
        let n = g.node(&i.to_string());
        out.nodes.push((n.and_then(|n| n.x).unwrap_or(0.0), n.and_then(|n| n.y).unwrap_or(0.0)));
    }
    for l in links {
        let e = g.edge(&l.from.to_string(), &l.to.to_string(), None);
        let points: Vec<Point> = e.map(|e| e.points.iter().map(|p| (p.x, p.y)).collect()).unwrap_or_default();
        let middle = points.get(points.len() / 2).copied().unwrap_or_default();
        let label = e.and_then(|e| Some((e.x?, e.y?))).unwrap_or(middle);
        out.links.push((points, Some(label)));
    }
    out
}

impl Layout {
    /// The remark below a picture that is not in layers.
    pub(in crate::render) fn remark(&self) -> Option<String> {
        let (edges, shown) = (self.links.len(), self.links.iter().filter(|l| l.1.is_some()).count());
        self.column.then(|| {
            format!("{edges} edges are too many for layers: one column, with downward edges on the right; {shown} numbers have room")
        })
    }

    /// Moves everything so that it begins at the margin, and measures it.
    fn fit(&mut self, boxes: &[Point], links: &[Link]) {
        let (mut low, mut high) = ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY));
        let mut reach = |(x, y): Point, (w, h): Point| {
            low = (low.0.min(x - w / 2.0), low.1.min(y - h / 2.0));
            high = (high.0.max(x + w / 2.0), high.1.max(y + h / 2.0));
        };
        self.nodes.iter().zip(boxes).for_each(|(&p, &size)| reach(p, size));
        for ((points, label), l) in self.links.iter().zip(links) {
            points.iter().for_each(|&p| reach(p, (0.0, 0.0)));
            label.iter().for_each(|&p| reach(p, l.label));
        }
        if low.0 > high.0 {
            return;
        }
        let shift = |p: &mut Point| *p = (p.0 - low.0 + MARGIN, p.1 - low.1 + MARGIN);
        self.nodes.iter_mut().for_each(shift);
        for (points, label) in &mut self.links {
            points.iter_mut().chain(label).for_each(shift);
        }
        self.size = (high.0 - low.0 + 2.0 * MARGIN, high.1 - low.1 + 2.0 * MARGIN);
    }
}
