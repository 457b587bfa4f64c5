//! The directly-follows graph: which activity follows which, and what each costs.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::dfg::{DfgReport, NodeReport};
use crate::render::dfg::{Coloring, Graph};
use crate::render::html::markup::drawn;
use crate::render::html::page::Page;
use crate::render::listing::{Cell, Listing};
use crate::render::units;

/// Activities drawn, and the least of a page that had to be cut.
const NODES: (usize, usize) = (24, 8);
/// Activities listed.
const LISTED: (usize, usize) = (60, 10);

pub fn section(p: &mut Page<'_>) -> Markup {
    let run = p.run;
    let Some(g) = run.graph.as_ref().filter(|g| !g.nodes.is_empty()) else {
        return p.without(
            "Sequence of calls",
            "record single calls: strace -f -ttt -T -y, or DXT_ENABLE_IO_TRACE=1 with Darshan",
        );
    };
    let mut nodes: Vec<&NodeReport> = g.nodes.iter().collect();
    nodes.sort_by(|a, b| {
        b.duration_s.total_cmp(&a.duration_s).then(b.events.cmp(&a.events)).then(a.activity.cmp(&b.activity))
    });
    let most = p.shown(NODES, nodes.len(), "Activities in the graph");
    let content = html! { (picture(p, g, &nodes[..most])) (list(p, &nodes)) };
    let lead = "Which activity directly follows which; numbers at lines: how often. The darker a box, the more time.";
    p.section("graph", "Sequence of calls", lead, content)
}

fn list(p: &Page<'_>, nodes: &[&NodeReport]) -> Markup {
    Listing::of(nodes.iter().take(p.caps.of(LISTED.0, LISTED.1)))
        .column("Activity", "activity", |n| Cell::name(&n.activity))
        .column("Events", "events", |n| Cell::count(n.events))
        .column("Bytes", "bytes", |n| Cell::bytes(n.bytes))
        .column("Time", "time", |n| Cell::seconds(n.duration_s))
        .column("Share", "share", |n| Cell::share(n.relative_duration))
        .column("Rate of one process", "rate", |n| Cell::rate(n.data_rate_bytes_per_s))
        .column("At once", "concurrency", |n| Cell::count(n.max_concurrency))
        .html(&p.id("graph-table"), "Activities, those with the most time first")
}

/// A slider that hides edges that occur less often.
fn slider(counts: &BTreeSet<u64>) -> Markup {
    let all = counts.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    html! { @if counts.len() > 2 {
        div.tools { label {
            "Lines that occur at least this often: "
            input type="range" min="0" max=(counts.len() - 1) value="0" data-counts=(all);
            span { @if let Some(least) = counts.first() { (least) } }
        } } "\n"
    } }
}

fn picture(p: &Page<'_>, g: &DfgReport, nodes: &[&NodeReport]) -> Markup {
    let id = p.id("graph-picture");
    let graph = Graph::of(g, nodes.to_vec(), Coloring::Load);
    let text = format!(
        "{}, {}, {}",
        units::counted(g.nodes.len() as u64, "activity"),
        units::counted(g.events, "event"),
        units::counted(g.cases.len() as u64, "case")
    );
    html! {
        figure.graph id=(id) {
            (slider(&graph.counts().collect()))
            div.scroll { (drawn(graph.page(&id, &text))) }
            @if let Some(remark) = graph.remark() { p { (remark) } }
            p.readout aria-live="polite" {}
        } "\n"
    }
}
