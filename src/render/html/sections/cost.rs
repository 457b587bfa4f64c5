//! Time and calls, by layer.

use std::collections::HashMap;

use crate::findings::{IoTime, LayerTime};
use crate::render::findings::short;
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::html::table::{self, Cell, Column};
use crate::render::html::writer::Html;
use crate::render::io_time;
use crate::render::layout::percent;

/// Width of the chart, of the names, and of a bar as long as the run; height of a row.
const CHART: [f64; 4] = [720.0, 80.0, 560.0, 26.0];

/// A stacked bar for each layer: mean of all ranks by kind as a share of the run, and a mark at the slowest rank.
fn chart(p: &mut Page<'_>) {
    let io = &p.run.findings.io;
    if io.layers.is_empty() || io.run_s <= 0.0 {
        return;
    }
    let [width, _, _, row] = CHART;
    let id = p.id("cost-chart");
    let view = format!("0 0 {width} {}", row * (io.layers.len() as f64 + 1.0));
    p.h.open("figure", &[("class", "cost-chart")]);
    p.h.within("p", &[("class", "legend")], |h| {
        let kinds = [("read", "reading"), ("write", "writing"), ("meta", "metadata"), ("wait", "waiting for ranks")];
        for (class, name) in kinds {
            h.open("span", &[]);
            h.elem("span", &[("class", &format!("key {class}")), ("aria-hidden", "true")], "");
            h.text(name);
            h.close("span");
        }
        h.elem("span", &[], "| slowest rank");
    });
    let (title, desc) = (format!("{id}-t"), format!("{id}-d"));
    let labels = format!("{title} {desc}");
    p.h.open("svg", &[("viewBox", &view), ("role", "img"), ("tabindex", "0"), ("aria-labelledby", &labels)]);
    p.h.elem("title", &[("id", &title)], "Time in I/O by layer");
    p.h.elem("desc", &[("id", &desc)], &io_time::parts(io).unwrap_or_default());
    for (i, l) in io.layers.iter().enumerate() {
        bar(&mut p.h, io, l, row * i as f64);
    }
    let base = number(row * (io.layers.len() as f64 + 0.7));
    for (seconds, anchor, text) in [(0.0, "start", "0 s".to_owned()), (io.run_s, "end", short(io.run_s))] {
        let at = number(across(io, seconds));
        p.h.elem("text", &[("x", &at), ("y", &base), ("text-anchor", anchor), ("class", "tick")], &text);
    }
    p.h.close("svg");
    p.h.close("figure");
}

/// Where a time is in the chart.
fn across(io: &IoTime, seconds: f64) -> f64 {
    let [_, left, run, _] = CHART;
    left + run * (seconds / io.run_s).min(1.0)
}

fn number(x: f64) -> String {
    format!("{x:.1}")
}

/// The bar of a layer.
fn bar(h: &mut Html, io: &IoTime, l: &LayerTime, y: f64) {
    let row = CHART[3];
    let middle = number(y + 0.7 * row);
    h.elem("text", &[("x", "0"), ("y", &middle)], io_time::layer_name(&l.layer).unwrap_or("I/O"));
    let (top, height) = (number(y + 4.0), number(row - 8.0));
    let mut at = 0.0;
    for (class, seconds) in stack(l, io) {
        let (from, to) = (across(io, at), across(io, at + seconds));
        let (from, width) = (number(from), number(to - from));
        h.empty("rect", &[("class", class), ("x", &from), ("y", &top), ("width", &width), ("height", &height)]);
        at += seconds;
    }
    let slowest = across(io, l.slowest_s.low);
    let (mark, top, height) = (number(slowest - 1.0), number(y + 1.0), number(row - 2.0));
    h.empty("rect", &[("class", "mark"), ("x", &mark), ("y", &top), ("width", "2"), ("height", &height)]);
    h.elem("text", &[("x", &number(slowest + 6.0)), ("y", &middle)], &percent((l.slowest_s.low / io.run_s).min(1.0)));
}

/// Seconds by kind. Waiting inside MPI-IO is known in all, not of each kind: it is taken from all kinds alike.
fn stack(l: &LayerTime, io: &IoTime) -> [(&'static str, f64); 4] {
    let waiting = io_time::waiting(io).filter(|_| l.layer == "mpiio").unwrap_or(0.0);
    let kinds = [l.mean_read_s, l.mean_write_s, l.mean_metadata_s];
    let [read, write, metadata] = kinds.map(|s| s * (1.0 - waiting));
    [("read", read), ("write", write), ("meta", metadata), ("wait", waiting * kinds.iter().sum::<f64>())]
}

pub fn section(p: &mut Page<'_>) {
    let info = &p.run.info;
    let counters = info.counters.as_ref();
    if counters.is_none_or(|c| c.cost.is_empty() && c.operations.is_empty()) && info.calls.is_empty() {
        p.absent.push(("Cost", "record counters with Darshan, or calls with strace -f -ttt -T -y"));
        return;
    }
    let lead = "Seconds in I/O: the mean of all ranks, and the slowest ranks as a share of the run time.";
    p.section("cost", "Cost and calls", lead, |p| {
        chart(p);
        if let Some(c) = counters.filter(|c| !c.cost.is_empty()) {
            let run_s = p.run.findings.io.run_s;
            let part = |s: f64| {
                let share = if run_s > 0.0 { format!(" ({})", percent(s / run_s)) } else { String::new() };
                Cell::number(format!("{}{share}", short(s)), s)
            };
            let columns = [
                Column::text("Layer", "layer"),
                Column::number("Reading", "read"),
                Column::number("Writing", "write"),
                Column::number("Metadata", "metadata"),
                Column::number("Slowest", "slowest"),
                Column::number("Rank", "rank"),
                Column::number("Share of the run", "share"),
                Column::text("Ranks in files of their own: least, quartiles, most", "quartiles"),
            ];
            let rows = c.cost.iter().map(|l| {
                vec![
                    Cell::text(&l.layer),
                    part(l.read_s),
                    part(l.write_s),
                    part(l.metadata_s),
                    Cell::seconds(Some(l.slowest_s)),
                    l.slowest_rank.map_or_else(|| Cell::text("all"), |r| Cell::count(Some(r.into()))),
                    Cell::share(l.share),
                    Cell::text(l.quartiles_s.map_or_else(|| "-".into(), |q| q.map(short).join(", "))),
                ]
            });
            let id = p.id("cost-table");
            let caption =
                "Time in I/O, the mean of all ranks and its share of the run; a layer contains those below it";
            table::table(&mut p.h, &id, caption, &columns, rows);
        }
        let by_layer = counters.iter().flat_map(|c| &c.operations);
        let timed = timed(p.run);
        let mut rows: Vec<Vec<Cell>> = by_layer
            .flat_map(|(layer, calls)| calls.iter().map(move |(name, n)| (layer.as_str(), name, *n)))
            .map(|(layer, name, n)| vec![Cell::text(layer), Cell::text(name.replace('_', " ")), Cell::count(Some(n))])
            .collect();
        if rows.is_empty() {
            let mut calls: Vec<_> = info.calls.iter().collect();
            calls.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            p.cut(calls.len().min(60), calls.len(), "Calls");
            rows.extend(calls.iter().take(60).map(|(name, n)| {
                let (events, seconds) = timed.get(name.as_str()).copied().unwrap_or((0, 0.0));
                let known = events > 0;
                vec![
                    Cell::text("trace"),
                    Cell::text(*name),
                    Cell::count(Some(**n)),
                    Cell::seconds(known.then_some(seconds)),
                    Cell::seconds(known.then(|| seconds / events as f64)),
                ]
            }));
        }
        let columns = [
            Column::text("Layer", "layer"),
            Column::text("Call", "call"),
            Column::number("Number", "count"),
            Column::number("Time of all ranks", "time"),
            Column::number("Time of one", "mean"),
        ];
        let known = if rows.iter().any(|r| r.len() > 3) { 5 } else { 3 };
        let caption = if known > 3 { "Calls; time of those in the graph below" } else { "Calls" };
        let id = p.id("calls");
        table::table(&mut p.h, &id, caption, &columns[..known], rows);
    });
}

/// Events with a duration and their seconds by call, from the graph of single calls.
fn timed(run: &Run) -> HashMap<&str, (u64, f64)> {
    let mut all: HashMap<&str, (u64, f64)> = HashMap::new();
    for n in run.graph.iter().flat_map(|g| &g.nodes) {
        let sum = all.entry(n.activity.split(':').next().unwrap_or_default()).or_default();
        *sum = (sum.0 + n.events.saturating_sub(n.untimed_events), sum.1 + n.duration_s);
    }
    all
}
