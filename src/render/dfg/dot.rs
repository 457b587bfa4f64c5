//! The graph for Graphviz.

use std::fmt::Write;

use super::shade::{self, Coloring};
use super::{label, picture};
use crate::dfg::{DfgReport, END, START};
use crate::render::visible::visible;

/// The graph in the DOT language, all of it.
pub fn dot(r: &DfgReport, by: Coloring) -> String {
    let mut out = String::from(
        "digraph dfg {\n  rankdir=TB;\n  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\"];\n",
    );
    out.push_str("  edge [fontname=\"Helvetica\", fontsize=11];\n");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {} [label=\"\", shape=circle, width=0.25, fillcolor=black];", quoted(START));
    let _ = writeln!(out, "  {} [label=\"\", shape=square, width=0.22, style=filled, fillcolor=black];", quoted(END));
    let fills = shade::Fills::of(r, by);
    for n in &r.nodes {
        let (fill, share) = fills.node(n);
        let text: Vec<String> = label::lines(n).iter().map(|l| escaped(l)).collect();
        let _ = writeln!(
            out,
            "  {} [label=\"{}\", fillcolor=\"{fill}{:02x}\", color=\"{}\"];",
            quoted(&n.activity),
            text.join("\\n"),
            (255.0 * share).round() as u8,
            shade::line(n.color, by),
        );
    }
    let most = r.edges.iter().map(|e| e.count).max().unwrap_or(1);
    for e in &r.edges {
        let color = shade::line(e.color, by);
        let _ = writeln!(
            out,
            "  {} -> {} [label=\"{}\", penwidth={:.2}, color=\"{color}\"{}];",
            quoted(&e.from),
            quoted(&e.to),
            e.count,
            picture::width(e.count, most),
            if shade::alone(e.color, by) { format!(", fontcolor=\"{color}\"") } else { String::new() },
        );
    }
    out.push_str("}\n");
    out
}

fn escaped(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\t'], " ")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}
