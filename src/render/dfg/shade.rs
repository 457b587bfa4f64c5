//! Colours of nodes and edges (section IV-C).

use crate::dfg::{Color, DfgReport, NodeReport};

/// What the colour of a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coloring {
    /// Share of the durations: the darker, the more.
    #[default]
    Load,
    /// Bytes moved: the darker, the more.
    Bytes,
    /// Blue and orange for what only one of two groups has.
    Partition,
}

/// The lightest and the darkest blue.
const BLUES: [(u8, u8, u8); 2] = [(247, 251, 255), (33, 113, 181)];
const WHITE: &str = "#ffffff";
/// Fill and line of the first group (`--green`) and of the second (`--red`): everybody can tell blue from orange.
const FIRST: (&str, &str) = ("#c3daf1", "#1f5fa8");
const SECOND: (&str, &str) = ("#fbd7ae", "#b45309");
const INK: &str = "#5a6470";

/// Fills of the nodes of a graph.
pub(super) struct Fills {
    by: Coloring,
    /// The largest value that a colour stands for.
    most: f64,
}

impl Fills {
    pub fn of(r: &DfgReport, by: Coloring) -> Fills {
        Fills { by, most: r.nodes.iter().map(|n| value(n, by)).fold(0.0, f64::max) }
    }

    /// What the colour of a node stands for, as a share of the most.
    pub fn share(&self, n: &NodeReport) -> f64 {
        if self.most > 0.0 { value(n, self.by) / self.most } else { 0.0 }
    }

    /// Fill of a node, and whether text on it has to be light.
    pub fn node(&self, n: &NodeReport) -> (String, bool) {
        if self.by == Coloring::Partition {
            let fill = match n.color {
                Color::Green => FIRST.0,
                Color::Red => SECOND.0,
                Color::None => WHITE,
            };
            return (fill.to_owned(), false);
        }
        let (share, [a, b]) = (self.share(n), BLUES);
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
        (format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2)), share > 0.6)
    }
}

/// What the colour of a node stands for.
fn value(n: &NodeReport, by: Coloring) -> f64 {
    match by {
        Coloring::Partition => 0.0,
        Coloring::Load => n.relative_duration.unwrap_or(0.0),
        Coloring::Bytes => n.bytes as f64,
    }
}

/// Line of a node or edge.
pub(super) fn line(color: Color, by: Coloring) -> &'static str {
    match (color, by) {
        (Color::Green, Coloring::Partition) => FIRST.1,
        (Color::Red, Coloring::Partition) => SECOND.1,
        _ => INK,
    }
}
