//! Time and calls, by layer.

use std::collections::HashMap;

use maud::{Markup, html};
use plotters::style::RGBColor;

use crate::findings::{IoTime, LayerTime};
use crate::render::figure::{Axis, Figure, Layer, Numbers, Panel, Shape, color};
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::io_time;
use crate::render::layout::percent;
use crate::render::listing::{Cell, Listing};
use crate::render::units::short_seconds;

/// Calls that are listed.
const CALLS: usize = 60;

/// A stacked bar for each layer: mean of all ranks by kind as a share of the run, and a mark at the slowest rank.
fn chart(p: &mut Page<'_>) -> Markup {
    let io = &p.run.findings.io;
    if io.layers.is_empty() || io.run_s <= 0.0 {
        return html! {};
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
    let share = |(i, l): (usize, &LayerTime)| ((slowest(l) + 0.05 * io.run_s, at(i)), percent(slowest(l) / io.run_s));
    let texts = Shape::Texts { texts: io.layers.iter().enumerate().map(share).collect() };
    layers.push(Layer::new("", color::INK, texts));
    let x = Axis::new((0.0, 1.06 * io.run_s), "Time of a rank", "s", Numbers::Time);
    let y = Axis::named((0.5, n as f64 + 0.5), "", names.collect());
    let costliest = io.layers.iter().max_by(|a, b| slowest(a).total_cmp(&slowest(b)));
    let answer = costliest.map_or_else(String::new, |l| {
        let least = if l.slowest_s.is_exact() { "" } else { "at least " };
        let name = io_time::layer_name(&l.layer).unwrap_or("I/O");
        format!("{least}{} of the run in {name}", percent(slowest(l) / io.run_s))
    });
    let title = format!("Time in I/O by layer: the slowest rank spends {answer}");
    let panels = vec![Panel::new(x, y, layers).height(34.0 * n as f64)];
    p.figure("cost-chart", Figure { title, panels, ..Figure::default() })
}

/// Seconds by kind: reading, writing, metadata, waiting. Waiting inside MPI-IO is known in all, not of each kind: it is taken from all kinds alike.
fn stack(l: &LayerTime, io: &IoTime) -> [f64; 4] {
    let waiting = io_time::waiting(io).filter(|_| l.layer == "mpiio").unwrap_or(0.0);
    let kinds = [l.mean_read_s, l.mean_write_s, l.mean_metadata_s];
    let [read, write, metadata] = kinds.map(|s| s * (1.0 - waiting));
    [read, write, metadata, waiting * kinds.iter().sum::<f64>()]
}

pub fn section(p: &mut Page<'_>) -> Markup {
    let info = &p.run.info;
    let counters = info.counters.as_ref();
    if counters.is_none_or(|c| c.cost.is_empty() && c.operations.is_empty()) && info.calls.is_empty() {
        return p.without("Cost", "record counters with Darshan, or calls with strace -f -ttt -T -y");
    }
    let content = html! { (chart(p)) (layers(p)) (calls(p)) };
    let lead = "Seconds in I/O: the mean of all ranks, and the slowest ranks as a share of the run time.";
    p.section("cost", "Cost and calls", lead, content)
}

fn layers(p: &Page<'_>) -> Markup {
    let run_s = p.run.findings.io.run_s;
    let part = |s: f64| {
        let share = if run_s > 0.0 { format!(" ({})", percent(s / run_s)) } else { String::new() };
        Cell::number(format!("{}{share}", short_seconds(s)), s)
    };
    let what = "Time in I/O, the mean of all ranks and its share of the run; a layer contains those below it";
    let known = p.run.info.counters.iter().flat_map(|c| &c.cost).any(|l| l.quartiles_s.is_some());
    let own = if known { "; quartiles are those of the ranks in files of their own" } else { "" };
    let quartiles = |q: [f64; 5]| q.map(short_seconds).join(", ");
    Listing::of(p.run.info.counters.iter().flat_map(|c| &c.cost))
        .column("Layer", "layer", |l| Cell::text(&l.layer))
        .column("Reading", "read", |l| part(l.read_s))
        .column("Writing", "write", |l| part(l.write_s))
        .column("Metadata", "metadata", |l| part(l.metadata_s))
        .column("Slowest", "slowest", |l| Cell::seconds(l.slowest_s))
        .column("Rank", "rank", |l| l.slowest_rank.map_or_else(|| Cell::numeral("all"), |r| Cell::count(u64::from(r))))
        .column("Share of the run", "share", |l| Cell::share(l.share))
        .column("Least, quartiles, most", "quartiles", |l| {
            Cell::text(l.quartiles_s.map_or_else(String::new, quartiles))
        })
        .html(&p.id("cost-table"), &format!("{what}{own}"))
}

/// A kind of call: layer, name, number, and number and seconds of those with a duration.
type Call<'a> = (&'a str, String, u64, Option<(u64, f64)>);

fn calls(p: &mut Page<'_>) -> Markup {
    let info = &p.run.info;
    let by_layer = info.counters.iter().flat_map(|c| &c.operations);
    let of_layer = |(layer, name, n): (_, &String, u64)| (layer, name.replace('_', " "), n, None);
    let mut rows: Vec<Call<'_>> = by_layer
        .flat_map(|(layer, calls)| calls.iter().map(move |(name, n)| (layer.as_str(), name, *n)))
        .map(of_layer)
        .collect();
    if rows.is_empty() {
        let timed = timed(p.run);
        let mut calls: Vec<_> = info.calls.iter().collect();
        calls.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let shown = p.shown((CALLS, CALLS), calls.len(), "Calls");
        let known = |name: &str| timed.get(name).copied().filter(|t| t.0 > 0);
        let of_trace = |(name, n): (&String, &u64)| ("trace", name.clone(), *n, known(name));
        rows.extend(calls.into_iter().take(shown).map(of_trace));
    }
    let known = rows.iter().any(|r| r.3.is_some());
    let caption = if known { "Calls; time of those in the graph below" } else { "Calls" };
    Listing::of(rows)
        .column("Layer", "layer", |c| Cell::text(c.0))
        .column("Call", "call", |c| Cell::text(&c.1))
        .column("Number", "count", |c| Cell::count(c.2))
        .column("Time of all ranks", "time", |c| Cell::seconds(c.3.map(|t| t.1)))
        .column("Time of one", "mean", |c| Cell::seconds(c.3.map(|t| t.1 / t.0 as f64)))
        .html(&p.id("calls"), caption)
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
