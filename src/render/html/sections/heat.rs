//! Bytes by rank and time, as a picture of at most 512 × 2,048 cells.

use std::collections::BTreeSet;
use std::fmt::Write;

use base64::Engine;
use maud::{Markup, html};
use plotters::style::RGBColor;
use serde_json::{Value, json};

use crate::analysis::{Heat, HeatRow, Mode};
use crate::record;
use crate::render::figure::{Axis, Figure, Layer, Panel, Shape, color, round_step, short};
use crate::render::html::markup::{fold, switches};
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::io_time::layer_name;
use crate::render::listing::{Cell, Listing};
use crate::render::units;

/// Bytes of an image, and the least of a page that had to be cut.
const IMAGE: (usize, usize) = (100_000, 8_000);
/// Columns and rows of a page.
const COLUMNS: usize = 1024;
const ROWS: usize = 512;
/// Decades of bandwidth below the largest that have a colour of their own.
const DECADES: f64 = 4.0;
/// Steps of colour, beside that of no bytes.
const LEVELS: f64 = 63.0;
/// Bars of all ranks over time.
const BARS: usize = 256;

/// Stops of a colour map whose lightness rises evenly (after cividis).
const STOPS: [[f64; 3]; 5] =
    [[0.0, 34.0, 78.0], [66.0, 78.0, 108.0], [124.0, 123.0, 120.0], [187.0, 173.0, 108.0], [254.0, 232.0, 56.0]];

pub fn section(p: &mut Page<'_>) -> Markup {
    if p.run.heats.iter().all(|(_, of_layer)| of_layer.is_empty()) {
        return p.without("Ranks over time", "record DXT_ENABLE_IO_TRACE=1, or the heat maps of Darshan 3.4 and later");
    }
    let mut lead =
        "Bandwidth of each rank over time, brighter where it is higher. Top: all ranks together; right: bytes of each rank.".to_owned();
    let images = fitted(p);
    let rows = images.first().map_or(&[][..], |i| &i.heat.rows);
    if rows.iter().any(|r| r.ranks.0 != r.ranks.1) {
        let most = p.run.summary.ranks.div_ceil(rows.len() as u64);
        let _ = write!(
            lead,
            " Each row is up to {} neighbouring ranks; the table has the least and the most of them.",
            units::grouped(most)
        );
    }
    if p.run.heats.iter().filter(|(_, of_layer)| !of_layer.is_empty()).count() > 1 {
        lead.push_str(" A byte that passes several layers is in the maps of each of them.");
    }
    let names: Vec<&str> = images.iter().map(|i| &*i.name).collect();
    let mut orders = vec!["rank", "bytes", "end"];
    orders.extend(p.run.nodes.filter(|n| *n > 1).map(|_| "node"));
    let content = html! {
        div.tools {
            (switches("Show", "heat", &names))
            (switches("Scale", "scale", &["log", "linear"]))
            (switches("Rows by", "rows", &orders))
        }
        @for image in &images { (figure(p, image)) }
    };
    p.heats = images.iter().map(|image| data(p, image)).collect();
    p.section("heat", "Ranks over time", &lead, content)
}

/// A heat map, its levels of colour as a PNG, and its largest bandwidth.
struct Image {
    /// `write`, with its layer if there are several.
    name: String,
    heat: Heat,
    png: Vec<u8>,
    largest: f64,
}

impl Image {
    /// Name in identifiers.
    fn id(&self) -> String {
        format!("heat-{}", self.name.to_lowercase().replace(' ', "-"))
    }
}

/// Writes, reads, and both if there are both, of each layer, with as many cells as the page has room for; those of a layer all with the
/// same rows and columns.
fn fitted(p: &Page<'_>) -> Vec<Image> {
    let layers: Vec<_> = p.run.heats.iter().filter(|(_, of_layer)| !of_layer.is_empty()).collect();
    let most = p.caps.of(IMAGE.0, IMAGE.1) / layers.len().max(1);
    let (mut rows, mut columns) = (ROWS, COLUMNS);
    loop {
        let image = |(name, heat): (String, Heat)| {
            let (levels, largest) = levels(&heat);
            Some(Image { name, png: png(&heat, &levels)?, largest: largest / heat.step_s, heat })
        };
        let of_layer = |(layer, heats): &&(Option<record::Layer>, Vec<Heat>)| {
            let prefix = layer.filter(|_| layers.len() > 1).and_then(|l| layer_name(l.name()));
            let prefix = prefix.map_or_else(String::new, |name| format!("{name} "));
            let mut heats: Vec<Heat> = heats.iter().map(|h| coarse(h, rows, columns)).collect();
            if let [a, b] = &heats[..] {
                heats.push(both(a, b));
            }
            heats.into_iter().map(move |h| (format!("{prefix}{}", direction(h.mode)), h)).collect::<Vec<_>>()
        };
        let images: Vec<Image> = layers.iter().flat_map(of_layer).filter_map(image).collect();
        if columns < 64 || images.iter().all(|i| i.png.len() * 4 / 3 <= most) {
            return images;
        }
        // time is cut before ranks
        if columns > rows { columns /= 2 } else { rows /= 2 }
    }
}

fn direction(mode: Mode) -> &'static str {
    match mode {
        Mode::Write => "write",
        Mode::Read => "read",
        _ => "both",
    }
}

/// The sum of two heat maps of the same rows and columns.
fn both(a: &Heat, b: &Heat) -> Heat {
    let row = |(a, b): (&HeatRow, &HeatRow)| HeatRow {
        ranks: a.ranks,
        bytes: a.bytes + b.bytes,
        end_s: [a.end_s, b.end_s].into_iter().flatten().reduce(f64::max),
        // of groups of ranks a bound: the extremes may be those of different ranks
        extremes: (a.extremes.0 + b.extremes.0, a.extremes.1 + b.extremes.1),
    };
    Heat {
        mode: Mode::All,
        rows: a.rows.iter().zip(&b.rows).map(row).collect(),
        cells: a.cells.iter().zip(&b.cells).map(|(a, b)| a + b).collect(),
        ..a.clone()
    }
}

/// The figures for the script. Of each row: first rank, name, bytes, end of the last transfer, number of the node.
fn data(p: &Page<'_>, image: &Image) -> Value {
    let (run, heat) = (p.run, &image.heat);
    let nodes: BTreeSet<&str> = run.hosts.values().map(|h| &**h).collect();
    let nodes: Vec<&str> = nodes.into_iter().collect();
    let row = |r: &HeatRow| {
        let host = run.hosts.get(&r.ranks.0);
        let node = host.and_then(|h| nodes.binary_search(&&**h).ok());
        let on = host.map_or_else(String::new, |h| format!(" on {h}"));
        json!([
            r.ranks.0,
            format!("{}{on}", ranks(r.ranks)),
            r.bytes.round(),
            r.end_s.map(|t| short(t - run.zero_s)),
            node
        ])
    };
    json!({
        "id": p.id(&image.id()),
        "start": short(heat.start_s - run.zero_s),
        "step": heat.step_s,
        "columns": heat.columns,
        "most": image.largest,
        "decades": DECADES,
        "levels": LEVELS,
        "tags": labels(heat).iter().map(|l| l.0).collect::<Vec<_>>(),
        "rows": heat.rows.iter().map(row).collect::<Vec<_>>(),
        "palette": palette()[3..].chunks(3).collect::<Vec<_>>(),
    })
}

/// A heat map with fewer cells.
fn coarse(heat: &Heat, rows: usize, columns: usize) -> Heat {
    let (r, c) = (heat.rows.len().div_ceil(rows).max(1), heat.columns.div_ceil(columns).max(1));
    if r * c == 1 {
        return heat.clone();
    }
    let columns = heat.columns.div_ceil(c);
    let join = |part: &[HeatRow]| HeatRow {
        ranks: (part[0].ranks.0, part[part.len() - 1].ranks.1),
        bytes: part.iter().map(|x| x.bytes).sum(),
        end_s: part.iter().filter_map(|x| x.end_s).reduce(f64::max),
        extremes: (
            part.iter().map(|x| x.extremes.0).fold(f64::INFINITY, f64::min),
            part.iter().map(|x| x.extremes.1).fold(0.0, f64::max),
        ),
    };
    let rows: Vec<HeatRow> = heat.rows.chunks(r).map(join).collect();
    let mut cells = vec![0.0; rows.len() * columns];
    for (i, bytes) in heat.cells.iter().enumerate() {
        cells[i / heat.columns / r * columns + i % heat.columns / c] += bytes;
    }
    Heat { rows, cells, columns, step_s: heat.step_s * c as f64, ..heat.clone() }
}

/// The levels of the cells: 0 for no bytes, 1 to 63 on a logarithmic scale.
fn levels(heat: &Heat) -> (Vec<u8>, f64) {
    let most = heat.cells.iter().copied().fold(0.0, f64::max);
    let level = |v: f64| {
        if v <= 0.0 || most <= 0.0 {
            return 0;
        }
        1 + ((1.0 + (v / most).log10() / DECADES).clamp(0.0, 1.0) * (LEVELS - 1.0)).round() as u8
    };
    (heat.cells.iter().map(|v| level(*v)).collect(), most)
}

/// The colours of the levels; no bytes are transparent.
fn palette() -> Vec<u8> {
    let colour = |i: usize| {
        let at = i.saturating_sub(1) as f64 / (LEVELS - 1.0) * (STOPS.len() - 1) as f64;
        let k = (at as usize).min(STOPS.len() - 2);
        (0..3).map(move |c| (STOPS[k][c] + (STOPS[k + 1][c] - STOPS[k][c]) * (at - k as f64)).round() as u8)
    };
    (0..=LEVELS as usize).flat_map(colour).collect()
}

/// A PNG with a palette; `None` if it cannot be made, which needs more than 2³¹ cells.
fn png(heat: &Heat, levels: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (width, height) = (u32::try_from(heat.columns).ok()?, u32::try_from(heat.rows.len()).ok()?);
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette());
    encoder.set_trns(vec![0u8]);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(levels).ok()?;
    writer.finish().ok()?;
    Some(out)
}

/// Bytes of all ranks over time, and below them the rows with their bytes at the right.
fn figure(p: &mut Page<'_>, image: &Image) -> Markup {
    let (run, heat, rate, mode) = (p.run, &image.heat, image.largest, &*image.name);
    let (time, n) = (run.time(), heat.rows.len() as f64);
    let group = heat.columns.div_ceil(BARS).max(1);
    let mut sums = vec![0.0; heat.columns.div_ceil(group)];
    heat.cells.iter().enumerate().for_each(|(i, bytes)| sums[i % heat.columns / group] += bytes);
    let step = heat.step_s * group as f64;
    let all = time.steps(heat.start_s, step, sums.into_iter().map(|bytes| bytes / step).collect());
    let upper = Axis { label: String::new(), unit: "", ..time.axis() };
    let y = Axis { label: String::new(), ..Axis::rate(all.ends().1) };
    let above = Panel::new(upper, y, vec![Layer::new("all ranks", color::ORIGINAL, Shape::Area(all)).mix(0.8)]);
    let at = |row: usize| n - row as f64 - 0.5;
    let shared = heat.rows.iter().any(|r| r.ranks.0 < r.ranks.1);
    // of groups of ranks those with a round number, else every second, fifth, ... row
    let count = if shared { heat.rows.last().map_or(0.0, |r| f64::from(r.ranks.1)) } else { n };
    let every = round_step(count, 12).ceil().max(1.0) as u32;
    let name = |(i, r): (usize, &HeatRow)| {
        let round = if shared {
            r.ranks.0.checked_next_multiple_of(every).filter(|round| *round <= r.ranks.1)
        } else {
            Some(r.ranks.0).filter(|_| (i as u32).is_multiple_of(every))
        };
        round.map(|round| (at(i), round.to_string()))
    };
    let names = heat.rows.iter().enumerate().filter_map(name);
    let most = heat.rows.iter().map(|r| r.bytes).fold(f64::MIN_POSITIVE, f64::max);
    let shape = Shape::Image {
        href: format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(&image.png)),
        x: time.later((heat.start_s, heat.start_s + heat.step_s * heat.columns as f64)),
        colours: palette()[3..].chunks(3).map(|c| RGBColor(c[0], c[1], c[2])).collect(),
    };
    let map = Layer::new("a rank, from little to much", color::SOFT, shape);
    let below = Panel {
        beside: labels(heat).into_iter().map(|(row, text)| (at(row), text)).collect(),
        side: heat.rows.iter().map(|r| r.bytes / most).collect(),
        ..Panel::new(time.axis(), Axis::named((0.0, n), "Rank", names.collect()), vec![map])
    };
    let title = format!("Ranks over time ({mode}): {}", described(heat, rate, run.zero_s));
    let panels = vec![above.height(60.0), below.height((18.0 * n).clamp(75.0, 480.0))];
    let words = mode.replace("both", "write and read");
    let log = format!("{words}: {} to {}, logarithmic", units::rate(rate / 10f64.powf(DECADES)), units::rate(rate));
    let linear = format!("{words}: 0 to {}, linear", units::rate(rate));
    let scale = html! { p.scale data-log=(log) data-linear=(linear) { (log) } };
    let figure = Figure { title, panels, ..Figure::default() };
    p.framed(&image.id(), figure, ("heatmap", Some(mode)), scale, |id, _| rows_table(id, heat, run))
}

/// The rows with a label: that with the most bytes, the last to end, and the first rows without I/O.
fn labels(heat: &Heat) -> Vec<(usize, String)> {
    let rows = &heat.rows;
    if rows.len() < 2 {
        return Vec::new();
    }
    // of equal rows none stands out
    let best = |value: &dyn Fn(&HeatRow) -> f64| {
        let most = rows.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let at: Vec<usize> = (0..rows.len()).filter(|&i| value(&rows[i]) >= most).take(2).collect();
        if let [one] = at[..] { Some(one) } else { None }
    };
    let busiest = best(&|r| r.bytes);
    let last = best(&|r| r.end_s.unwrap_or(f64::NEG_INFINITY));
    let idle = (0..rows.len()).filter(|&i| rows[i].end_s.is_none() && (i == 0 || rows[i - 1].end_s.is_some()));
    let number = |i: usize| {
        let (first, last) = rows[i].ranks;
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let mut all: Vec<(usize, String)> = idle.take(3).map(|i| (i, format!("{}: idle", number(i)))).collect();
    if let (Some(i), true) = (busiest, busiest == last) {
        all.push((i, format!("{}: most, last", number(i))));
    } else {
        all.extend(busiest.map(|i| (i, format!("{}: most bytes", number(i)))));
        all.extend(last.map(|i| (i, format!("{}: last to end", number(i)))));
    }
    all.sort();
    all
}

/// The result in words: the busiest and the slowest rank, and those without I/O.
fn described(heat: &Heat, rate: f64, zero_s: f64) -> String {
    let name = |r: &HeatRow| ranks(r.ranks);
    let busiest = heat.rows.iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes).then(b.ranks.cmp(&a.ranks)));
    let last = heat
        .rows
        .iter()
        .filter(|r| r.end_s.is_some())
        .max_by(|a, b| a.end_s.partial_cmp(&b.end_s).unwrap_or(std::cmp::Ordering::Equal));
    let idle = heat.rows.iter().filter(|r| r.end_s.is_none()).count();
    let mut text = format!("at most {} in a cell", units::rate(rate));
    if let (Some(b), true) = (busiest, heat.rows.len() > 1) {
        let _ = write!(text, "; most bytes: {}, {}", name(b), units::bytes(b.bytes));
    }
    if let (Some(l), true) = (last, heat.rows.len() > 1) {
        let end = units::clock(l.end_s.unwrap_or(0.0) - zero_s, heat.step_s);
        let _ = write!(text, "; last to end: {}, at {end}", name(l));
    }
    if idle > 0 {
        let _ = write!(
            text,
            "; without I/O: {}",
            units::counted(idle as u64, if heat.rows[0].ranks.0 == heat.rows[0].ranks.1 { "rank" } else { "group" })
        );
    }
    text
}

/// `rank 3`, `ranks 0 to 7`.
fn ranks((first, last): (u32, u32)) -> String {
    if first == last { format!("rank {first}") } else { format!("ranks {first} to {last}") }
}

fn rows_table(id: &str, heat: &Heat, run: &Run) -> Markup {
    let shared = heat.rows[0].ranks.0 != heat.rows[0].ranks.1;
    let mut order: Vec<&HeatRow> = heat.rows.iter().collect();
    order.sort_by(|a, b| b.bytes.total_cmp(&a.bytes).then(a.ranks.cmp(&b.ranks)));
    let of_rank = |bytes: f64| Cell::bytes(shared.then_some(bytes.round() as u64));
    let table = Listing::of(order.iter().take(50))
        .column("Ranks", "rank", |r| Cell::text(ranks(r.ranks)))
        .column("Bytes", "bytes", |r| Cell::bytes(r.bytes.round() as u64))
        .column("End of the last transfer", "end", |r| Cell::clock(r.end_s.map(|t| t - run.zero_s), heat.step_s))
        .column("Least of a rank", "least", |r| of_rank(r.extremes.0))
        .column("Most of a rank", "most", |r| of_rank(r.extremes.1))
        .column("Node of the first", "node", |r| Cell::text(run.hosts.get(&r.ranks.0).map_or("", |h| h)))
        .html(&format!("{id}-table"), "The ranks with the most bytes");
    fold("Table", table)
}
