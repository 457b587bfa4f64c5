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

/// Fill of a node, and whether text on it has to be light.
pub(super) fn node(r: &DfgReport, n: &NodeReport, by: Coloring) -> (String, bool) {
    let share = match by {
        Coloring::Partition => {
            let fill = match n.color {
                Color::Green => FIRST.0,
                Color::Red => SECOND.0,
                Color::None => WHITE,
            };
            return (fill.to_owned(), false);
        }
        Coloring::Load => share(n.relative_duration.unwrap_or(0.0), |n| n.relative_duration.unwrap_or(0.0), r),
        Coloring::Bytes => share(n.bytes as f64, |n| n.bytes as f64, r),
    };
    let [a, b] = BLUES;
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
    (format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2)), share > 0.6)
}

/// The value as a share of the largest.
fn share(value: f64, of: impl Fn(&NodeReport) -> f64, r: &DfgReport) -> f64 {
    let most = r.nodes.iter().map(of).fold(0.0, f64::max);
    if most > 0.0 { value / most } else { 0.0 }
}

/// Line of a node or edge.
pub(super) fn line(color: Color, by: Coloring) -> &'static str {
    match (color, by) {
        (Color::Green, Coloring::Partition) => FIRST.1,
        (Color::Red, Coloring::Partition) => SECOND.1,
        _ => INK,
    }
}
