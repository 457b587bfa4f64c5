//! Time and calls, by layer.

use std::collections::HashMap;

use plotters::style::RGBColor;

use crate::findings::{IoTime, LayerTime};
use crate::render::figure::{Axis, Figure, Layer, Numbers, Panel, Shape, color};
use crate::render::findings::short;
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::html::table::{self, Cell, Column};
use crate::render::io_time;
use crate::render::layout::percent;

/// A stacked bar for each layer: mean of all ranks by kind as a share of the run, and a mark at the slowest rank.
fn chart(p: &mut Page<'_>) {
    let io = &p.run.findings.io;
    if io.layers.is_empty() || io.run_s <= 0.0 {
        return;
    }
    let n = io.layers.len();
    let at = |i: usize| (n - i) as f64;
    let names =
        io.layers.iter().enumerate().map(|(i, l)| (at(i), io_time::layer_name(&l.layer).unwrap_or("I/O").into()));
    let kinds = [
        ("reading", color::DOMINANT),
        ("writing", color::SIGNAL),
        ("metadata", color::OTHERS[0]),
        ("waiting for ranks", color::ORIGINAL),
    ];
    let bars = |(k, (name, color)): (usize, (&str, RGBColor))| {
        let bar = |(i, l): (usize, &LayerTime)| {
            let stack = stack(l, io);
            let from: f64 = stack[..k].iter().sum();
            [from, at(i) - 0.35, from + stack[k], at(i) + 0.35]
        };
        let boxes = io.layers.iter().enumerate().map(bar).filter(|b| b[2] > b[0]).collect();
        Layer::new(name, color, Shape::Boxes { boxes, labels: Vec::new() }).wide(0.0)
    };
    let mut layers: Vec<Layer> = kinds.into_iter().enumerate().map(bars).collect();
    let slowest = |l: &LayerTime| l.slowest_s.low.min(io.run_s);
    let marks =
        io.layers.iter().enumerate().map(|(i, l)| [slowest(l), at(i) - 0.48, slowest(l), at(i) + 0.48]).collect();
    layers.push(Layer::new("slowest rank", color::INK, Shape::Boxes { boxes: marks, labels: Vec::new() }).wide(3.0));
    let share = |(i, l): (usize, &LayerTime)| ((slowest(l) + 0.03 * io.run_s, at(i)), percent(slowest(l) / io.run_s));
    let texts = Shape::Texts { texts: io.layers.iter().enumerate().map(share).collect() };
    layers.push(Layer::new("", color::INK, texts));
    let x = Axis::new((0.0, 1.06 * io.run_s), "Time of a rank", "s", Numbers::Time);
    let y = Axis::named((0.5, n as f64 + 0.5), "", names.collect());
    let title = "Time in I/O by layer, and the share of the run of the slowest rank".to_owned();
    let panels = vec![Panel::new(x, y, layers).height(34.0 * n as f64)];
    p.figure("cost-chart", Figure { title, panels, ..Figure::default() });
}

/// Seconds by kind: reading, writing, metadata, waiting. Waiting inside MPI-IO is known in all, not of each kind: it is taken from all kinds alike.
fn stack(l: &LayerTime, io: &IoTime) -> [f64; 4] {
    let waiting = io_time::waiting(io).filter(|_| l.layer == "mpiio").unwrap_or(0.0);
    let kinds = [l.mean_read_s, l.mean_write_s, l.mean_metadata_s];
    let [read, write, metadata] = kinds.map(|s| s * (1.0 - waiting));
    [read, write, metadata, waiting * kinds.iter().sum::<f64>()]
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
