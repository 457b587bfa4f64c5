//! Colours of nodes and edges (section IV-C).

use crate::dfg::{Color, DfgReport, NodeReport};

/// Meaning of the colour of a node.
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

/// Fill of a node: the larger its value, the darker.
const FILL: &str = "#005AA0";
/// The first group (`--green`) and the second (`--red`): everybody can tell blue from orange.
const FIRST: &str = "#1f5fa8";
const SECOND: &str = "#b45309";
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

    /// Fill of a node, and how much of it there is.
    pub fn node(&self, n: &NodeReport) -> (&'static str, f64) {
        if alone(n.color, self.by) {
            return (if n.color == Color::Red { SECOND } else { FILL }, 0.28);
        }
        let share = if self.most > 0.0 { value(n, self.by) / self.most } else { 0.0 };
        (FILL, 0.03 + 0.5 * share)
    }
}

/// Whether only one of two groups has it.
pub(super) fn alone(color: Color, by: Coloring) -> bool {
    by == Coloring::Partition && color != Color::None
}

/// The value that the colour of a node shows.
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
        (Color::Green, Coloring::Partition) => FIRST,
        (Color::Red, Coloring::Partition) => SECOND,
        _ => INK,
    }
}
