//! The directly-follows graph: which activity follows which, and what each costs.

use std::collections::BTreeSet;

use crate::dfg::{DfgReport, NodeReport};
use crate::render::dfg::{Coloring, Graph};
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};
use crate::render::html::writer::Html;
use crate::render::units;

/// Activities drawn, and the least of a page that had to be cut.
const NODES: (usize, usize) = (24, 8);
/// Activities listed.
const LISTED: (usize, usize) = (60, 10);

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    let Some(g) = run.graph.as_ref().filter(|g| !g.nodes.is_empty()) else {
        p.absent.push((
            "Sequence of calls",
            "record single calls: strace -f -ttt -T -y, or DXT_ENABLE_IO_TRACE=1 with Darshan",
        ));
        return;
    };
    let lead = "Which activity directly follows which; numbers at lines: how often. The darker a box, the more time.";
    p.section("graph", "Sequence of calls", lead, |p| {
        let mut nodes: Vec<&NodeReport> = g.nodes.iter().collect();
        nodes.sort_by(|a, b| {
            b.duration_s.total_cmp(&a.duration_s).then(b.events.cmp(&a.events)).then(a.activity.cmp(&b.activity))
        });
        let drawn = p.caps.of(NODES.0, NODES.1).min(nodes.len());
        p.cut(drawn, nodes.len(), "Activities in the graph");
        picture(p, g, &nodes[..drawn]);
        list(p, &nodes);
    });
}

fn list(p: &mut Page<'_>, nodes: &[&NodeReport]) {
    let shown = p.caps.of(LISTED.0, LISTED.1).min(nodes.len());
    let columns = [
        Column::text("Activity", "activity"),
        Column::number("Events", "events"),
        Column::number("Bytes", "bytes"),
        Column::number("Time", "time"),
        Column::number("Share", "share"),
        Column::number("Rate of one process", "rate"),
        Column::number("At once", "concurrency"),
    ];
    let rows = nodes.iter().take(shown).map(|n| {
        vec![
            Cell::name(&n.activity),
            Cell::count(Some(n.events)),
            Cell::bytes(n.bytes),
            Cell::seconds(Some(n.duration_s)),
            Cell::share(n.relative_duration),
            n.data_rate_bytes_per_s.map_or_else(|| Cell::text("-"), |r| Cell::number(units::rate(r), r)),
            Cell::count(Some(n.max_concurrency)),
        ]
    });
    let id = p.id("graph-table");
    table::table(&mut p.h, &id, "Activities, those with the most time first", &columns, rows);
}

/// A slider that hides edges that occur less often.
fn slider(h: &mut Html, counts: &BTreeSet<u64>) {
    if counts.len() < 3 {
        return;
    }
    let last = (counts.len() - 1).to_string();
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    h.open("div", &[("class", "tools")]);
    h.open("label", &[]);
    h.text("Lines that occur at least this often: ");
    h.void(
        "input",
        &[("type", "range"), ("min", "0"), ("max", &last), ("value", "0"), ("data-counts", &counts.join(" "))],
    );
    h.elem("span", &[], &counts[0]);
    h.close("label");
    h.close("div");
}

fn picture(p: &mut Page<'_>, g: &DfgReport, nodes: &[&NodeReport]) {
    let id = p.id("graph-picture");
    let graph = Graph::of(g, nodes.to_vec(), Coloring::Load);
    let h = &mut p.h;
    h.open("figure", &[("class", "graph"), ("id", &id)]);
    slider(h, &graph.counts().collect());
    let text = format!(
        "{}, {}, {}",
        units::counted(g.nodes.len() as u64, "activity"),
        units::counted(g.events, "event"),
        units::counted(g.cases.len() as u64, "case")
    );
    h.within("div", &[("class", "scroll")], |h| h.picture(&graph.page(&id, &text)));
    if let Some(remark) = graph.remark() {
        h.elem("p", &[], &remark);
    }
    h.elem("p", &[("class", "readout"), ("aria-live", "polite")], "");
    h.close("figure");
}
