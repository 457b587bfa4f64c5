//! The graph as text: what takes the time, what follows what, and how two groups differ.

use std::fmt::Write;

use super::label;
use crate::dfg::{Comparison, DfgReport, EdgeRef, Exclusive, GroupTotals, Measures, NodeReport};
use crate::render::layout::{Style, warnings};
use crate::render::listing::{Cell, Listing};
use crate::render::units;

/// Rows of a table, unless all are wanted.
const ROWS: usize = 12;

/// A graph as text: one screen, all of it if `style.verbose`.
pub fn text(r: &DfgReport, style: Style) -> String {
    let most = if style.verbose { usize::MAX } else { ROWS };
    let mut out = String::new();
    let mut facts = vec![
        units::counted(r.cases.len() as u64, "case"),
        units::counted(r.events, "event"),
        units::counted(r.nodes.len() as u64, "activity"),
        units::counted(r.edges.len() as u64, "edge"),
        format!("{} moved", units::bytes(r.bytes as f64)),
    ];
    facts.extend((r.duration_s > 0.0).then(|| format!("{} in calls", units::seconds(r.duration_s))));
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", style.bold(&facts.join(", ")));
    match &r.comparison {
        None => {
            activities(&mut out, r, most);
            follows(&mut out, r, most);
        }
        Some(c) => comparison(&mut out, c, most),
    }
    if r.unmapped_events > 0 {
        let events = units::counted(r.unmapped_events, "event");
        let _ = writeln!(out, "\n  ignored    {events}: on system files, without a path, or not selected");
    }
    warnings(&mut out, &r.warnings, style);
    out
}

/// The first `most` of `all` rows.
fn table<T>(out: &mut String, title: &str, rows: &Listing<T>, (most, all): (usize, usize)) {
    let more = if all > most { format!(" (first {most} of {all}; -v shows all)") } else { String::new() };
    if all > 0 {
        let _ = writeln!(out, "\n{title}{more}\n{}", rows.text());
    }
}

/// Names come from traces: nothing in them may move the cursor.
fn clean(text: &str) -> String {
    text.replace(char::is_control, "?")
}

fn name(text: &str) -> Cell {
    Cell::text(clean(text))
}

fn load(share: Option<f64>) -> Cell {
    share.map_or_else(Cell::unknown, |x| Cell::number(format!("{x:.2}"), x))
}

fn moved(bytes: u64) -> Cell {
    Cell::bytes(Some(bytes).filter(|n| *n > 0))
}

fn activities(out: &mut String, r: &DfgReport, most: usize) {
    let mut nodes: Vec<&NodeReport> = r.nodes.iter().collect();
    nodes.sort_by(|a, b| b.duration_s.total_cmp(&a.duration_s));
    // without any duration, those of the calls are not known
    let timed = r.duration_s > 0.0;
    let title = if timed { "Activities, the longest first" } else { "Activities" };
    let all = nodes.len();
    let rows = Listing::of(nodes.into_iter().take(most))
        .column("activity", "", |n| name(&n.activity))
        .column("events", "", |n| Cell::count(n.events))
        .column("load", "", |n| load(n.relative_duration))
        .column("time", "", |n| Cell::seconds(timed.then_some(n.duration_s)))
        .column("bytes", "", |n| moved(n.bytes))
        .column("at once x rate", "", |n| {
            let rate = n.data_rate_bytes_per_s.unwrap_or(0.0);
            label::rate(n).map_or_else(Cell::unknown, |text| Cell::number(text.replace("DR: ", ""), rate))
        });
    table(out, title, &rows, (most, all));
}

fn follows(out: &mut String, r: &DfgReport, most: usize) {
    let mut edges: Vec<_> = r.edges.iter().collect();
    edges.sort_by_key(|e| std::cmp::Reverse(e.count));
    let rows = Listing::of(edges.into_iter().take(most))
        .column("from", "", |e| name(&e.from))
        .column("", "", |_| Cell::text("->"))
        .column("to", "", |e| name(&e.to))
        .column("count", "", |e| Cell::count(e.count));
    table(out, "What directly follows what, the most frequent first", &rows, (most, r.edges.len()));
}

/// A name, and what it is of an activity.
type Measure = (&'static str, fn(&Measures) -> Cell);

/// Measures of an activity that are compared.
const MEASURES: [Measure; 5] = [
    ("events", |m| Cell::count(m.events)),
    ("time", |m| Cell::seconds(m.duration_s)),
    ("load", |m| load(m.relative_duration)),
    ("bytes", |m| moved(m.bytes)),
    ("rate", |m| Cell::rate(m.data_rate_bytes_per_s.filter(|_| m.bytes > 0))),
];

fn comparison(out: &mut String, c: &Comparison, most: usize) {
    for (name, g) in [("green", &c.green), ("red", &c.red)] {
        let _ = writeln!(out, "  {name:<10} {}", totals(g));
    }
    let mut rows = Listing::of(c.activities.iter().take(most)).column("activity", "", |a| name(&a.activity));
    for (what, of) in MEASURES {
        let one = |m: &Option<Measures>| m.as_ref().map_or_else(Cell::unknown, of);
        rows = rows.column(format!("green {what}"), "", |a| one(&a.green));
        rows = rows.column(format!("red {what}"), "", |a| one(&a.red));
    }
    table(out, "Activities, the largest difference in time a case first", &rows, (most, c.activities.len()));
    let rows = Listing::of(c.edges.iter().take(most))
        .column("from", "", |e| name(&e.from))
        .column("", "", |_| Cell::text("->"))
        .column("to", "", |e| name(&e.to))
        .column("green", "", |e| Cell::count(e.green))
        .column("red", "", |e| Cell::count(e.red));
    table(out, "Edges, the largest difference in count a case first", &rows, (most, c.edges.len()));
    for (name, e) in [("green", &c.only_green), ("red", &c.only_red)] {
        exclusive(out, name, e, most);
    }
}

fn totals(g: &GroupTotals) -> String {
    format!(
        "{}, {}, {} moved, {} in calls",
        units::counted(g.cases, "case"),
        units::counted(g.events, "event"),
        units::bytes(g.bytes as f64),
        units::seconds(g.duration_s)
    )
}

fn exclusive(out: &mut String, name: &str, e: &Exclusive, most: usize) {
    let list = |all: Vec<String>| {
        // Of edges a line holds few.
        let shown = all.len().min(if most == ROWS { ROWS / 2 } else { most });
        let more = if shown < all.len() { format!(" and {} more", all.len() - shown) } else { String::new() };
        format!("{}{more}", all[..shown].join(", "))
    };
    let activities = e.activities.iter().map(|a| clean(a)).collect::<Vec<_>>();
    let edge = |e: &EdgeRef| clean(&format!("{} -> {} ({})", e.from, e.to, e.count));
    let edges = e.edges.iter().map(edge).collect::<Vec<_>>();
    let _ = writeln!(
        out,
        "\nOnly {name}: {}, {}",
        units::counted(activities.len() as u64, "activity"),
        units::counted(edges.len() as u64, "edge")
    );
    for (what, all) in [("activities", activities), ("edges", edges)] {
        if !all.is_empty() {
            let _ = writeln!(out, "  {what:<10} {}", list(all));
        }
    }
}
