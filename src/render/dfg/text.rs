//! The graph as text: what takes the time, what follows what, and how two groups differ.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::label;
use crate::dfg::{Comparison, DfgReport, EdgeChange, EdgeRef, Exclusive, GroupTotals, Measures, NodeReport};
use crate::render::layout::{Style, warnings};
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

fn table(out: &mut String, title: &str, header: &[&str], rows: Vec<Vec<String>>, most: usize, left: usize) {
    if rows.is_empty() {
        return;
    }
    let mut t = Table::new();
    t.load_style(presets::NOTHING);
    t.set_header(header.iter().enumerate().map(|(i, h)| if i == 0 { format!("  {h}") } else { (*h).to_owned() }));
    let all = rows.len();
    for row in rows.into_iter().take(most) {
        t.add_row(
            row.into_iter().enumerate().map(|(i, c)| if i == 0 { format!("  {}", clean(&c)) } else { clean(&c) }),
        );
    }
    for c in t.column_iter_mut().skip(left) {
        c.set_cell_alignment(CellAlignment::Right);
    }
    let more = if all > most { format!(" (first {most} of {all}; -v shows all)") } else { String::new() };
    let _ = writeln!(out, "\n{title}{more}\n{}", t.trim_fmt());
}

/// Names come from traces: nothing in them may move the cursor.
fn clean(text: &str) -> String {
    text.replace(char::is_control, "?")
}

fn activities(out: &mut String, r: &DfgReport, most: usize) {
    let mut nodes: Vec<&NodeReport> = r.nodes.iter().collect();
    nodes.sort_by(|a, b| b.duration_s.total_cmp(&a.duration_s));
    // without any duration, those of the calls are not known
    let timed = r.duration_s > 0.0;
    let title = if timed { "Activities, the longest first" } else { "Activities" };
    let rows = nodes
        .into_iter()
        .map(|n| {
            vec![
                n.activity.clone(),
                units::grouped(n.events),
                n.relative_duration.map_or("-".into(), |x| format!("{x:.2}")),
                if timed { units::seconds(n.duration_s) } else { "-".into() },
                if n.bytes > 0 { units::bytes(n.bytes as f64) } else { "-".into() },
                label::rate(n).map_or("-".into(), |r| r.replace("DR: ", "")),
            ]
        })
        .collect();
    table(out, title, &["activity", "events", "load", "time", "bytes", "at once x rate"], rows, most, 1);
}

fn follows(out: &mut String, r: &DfgReport, most: usize) {
    let mut edges: Vec<_> = r.edges.iter().collect();
    edges.sort_by_key(|e| std::cmp::Reverse(e.count));
    let rows =
        edges.into_iter().map(|e| vec![e.from.clone(), "->".into(), e.to.clone(), units::grouped(e.count)]).collect();
    table(out, "What directly follows what, the most frequent first", &["from", "", "to", "count"], rows, most, 3);
}

fn comparison(out: &mut String, c: &Comparison, most: usize) {
    for (name, g) in [("green", &c.green), ("red", &c.red)] {
        let _ = writeln!(out, "  {name:<10} {}", totals(g));
    }
    let both = |f: &dyn Fn(&Measures) -> String, a: &Option<Measures>, b: &Option<Measures>| {
        let one = |m: &Option<Measures>| m.as_ref().map_or("-".to_owned(), f);
        [one(a), one(b)]
    };
    let rows = c
        .activities
        .iter()
        .map(|a| {
            let mut row = vec![a.activity.clone()];
            row.extend(both(&|m| units::grouped(m.events), &a.green, &a.red));
            row.extend(both(&|m| units::seconds(m.duration_s), &a.green, &a.red));
            row.extend(both(&|m| m.relative_duration.map_or("-".into(), |x| format!("{x:.2}")), &a.green, &a.red));
            row.extend(both(
                &|m| if m.bytes > 0 { units::bytes(m.bytes as f64) } else { "-".into() },
                &a.green,
                &a.red,
            ));
            let rate = |m: &Measures| match m.data_rate_bytes_per_s.filter(|_| m.bytes > 0) {
                Some(r) => units::rate(r),
                None => "-".into(),
            };
            row.extend(both(&rate, &a.green, &a.red));
            row
        })
        .collect();
    let header = [
        "activity",
        "green events",
        "red",
        "green time",
        "red",
        "green load",
        "red",
        "green bytes",
        "red",
        "green rate",
        "red",
    ];
    table(out, "Activities, the largest difference in time a case first", &header, rows, most, 1);
    let rows = c.edges.iter().map(change).collect();
    table(
        out,
        "Edges, the largest difference in count a case first",
        &["from", "", "to", "green", "red"],
        rows,
        most,
        3,
    );
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

fn change(e: &EdgeChange) -> Vec<String> {
    vec![e.from.clone(), "->".into(), e.to.clone(), units::grouped(e.green), units::grouped(e.red)]
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
