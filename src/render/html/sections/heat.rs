//! Bytes by rank and time, as a picture of at most 512 × 2,048 cells.

use std::collections::BTreeSet;
use std::fmt::Write;

use base64::Engine;
use serde_json::{Value, json};

use crate::analysis::{Heat, HeatRow, Mode};
use crate::record::Layer;
use crate::render::html::page::Page;
use crate::render::html::plot::short;
use crate::render::html::run::Run;
use crate::render::html::table::{self, Cell, Column};
use crate::render::html::writer::Html;
use crate::render::io_time::layer_name;
use crate::render::svg::ticks;
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
/// Place of the picture in its view box; the time axis is that of the bandwidth above.
const LEFT: f64 = 66.0;
const RIGHT: f64 = 986.0;
/// Room at the right of the map: the bars of the ranks, then their labels.
const SIDE: f64 = 136.0;
const BARS: f64 = 40.0;
const MARGIN: f64 = 40.0;

/// Stops of a colour map whose lightness rises evenly (after cividis).
const STOPS: [[f64; 3]; 5] =
    [[0.0, 34.0, 78.0], [66.0, 78.0, 108.0], [124.0, 123.0, 120.0], [187.0, 173.0, 108.0], [254.0, 232.0, 56.0]];

pub fn section(p: &mut Page<'_>) {
    if p.run.heats.iter().all(|(_, of_layer)| of_layer.is_empty()) {
        p.absent.push(("Ranks over time", "record DXT_ENABLE_IO_TRACE=1, or the heat maps of Darshan 3.4 and later"));
        return;
    }
    let mut lead =
        "Bandwidth of each rank over time: the brighter, the more. Bars above: all ranks; at the right: bytes of a rank.".to_owned();
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
    p.section("heat", "Ranks over time", &lead, |p| {
        p.h.open("div", &[("class", "tools")]);
        let names: Vec<&str> = images.iter().map(|i| &*i.name).collect();
        let mut orders = vec!["rank", "bytes", "end"];
        orders.extend(p.run.nodes.filter(|n| *n > 1).map(|_| "node"));
        p.h.switches("Show", "heat", &names);
        p.h.switches("Scale", "scale", &["log", "linear"]);
        p.h.switches("Rows by", "rows", &orders);
        p.h.close("div");
        images.iter().for_each(|i| figure(p, i));
    });
    for image in &images {
        let data = data(p, image);
        p.heat(data);
    }
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
        let of_layer = |(layer, heats): &&(Option<Layer>, Vec<Heat>)| {
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

fn figure(p: &mut Page<'_>, image: &Image) {
    let (run, heat, rate) = (p.run, &image.heat, image.largest);
    let mode = &*image.name;
    let id = p.id(&image.id());
    let (title, desc) = (format!("Bandwidth by rank and time ({mode})"), described(heat, rate, run.zero_s));
    p.h.open("figure", &[("id", &id), ("class", "heatmap"), ("data-name", mode)]);
    p.h.open("p", &[("class", "legend")]);
    let words = mode.replace("both", "write and read");
    let log = format!("{words}: {} to {}, logarithmic", units::rate(rate / 10f64.powf(DECADES)), units::rate(rate));
    let linear = format!("{words}: 0 to {}, linear", units::rate(rate));
    p.h.elem("span", &[("class", "scale"), ("data-log", &log), ("data-linear", &linear)], &log);
    ramp(&mut p.h, &id);
    p.h.close("p");
    svg(&mut p.h, run.range, run.zero_s, heat, &Picture { id: &id, title: &title, desc: &desc, image: &image.png });
    p.h.elem("p", &[("class", "readout"), ("aria-live", "polite")], "");
    rows_table(&mut p.h, &id, heat, run);
    p.h.close("figure");
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

/// Writes the labels at the right, none over another.
fn tags(h: &mut Html, heat: &Heat, height: f64) {
    let mut below = 0.0f64;
    for (row, text) in labels(heat) {
        let middle = MARGIN + (row as f64 + 0.5) / heat.rows.len() as f64 * height + 4.0;
        below = middle.max(below + 13.0);
        let y = format!("{below:.1}");
        let of = row.to_string();
        h.elem("text", &[("class", "tag"), ("text-anchor", "end"), ("x", "996"), ("y", &y), ("data-row", &of)], &text);
    }
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
    let mut text = format!("At most {} in a cell", units::rate(rate));
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

struct Picture<'a> {
    id: &'a str,
    title: &'a str,
    desc: &'a str,
    image: &'a [u8],
}

fn svg(h: &mut Html, range: (f64, f64), zero_s: f64, heat: &Heat, p: &Picture<'_>) {
    let rows = heat.rows.len();
    let height = (rows as f64 * 14.0).clamp(60.0, 380.0);
    let whole = MARGIN + height + 38.0;
    let right = RIGHT - SIDE;
    // the time axis of the bandwidth, as far as the margin leaves room
    let x = |t: f64| LEFT + (t - range.0) / (range.1 - range.0) * (right - LEFT);
    let (title, desc) = (format!("{}-t", p.id), format!("{}-d", p.id));
    h.open(
        "svg",
        &[
            ("viewBox", &format!("0 0 1000 {whole:.0}")),
            ("role", "img"),
            ("tabindex", "0"),
            ("aria-labelledby", &format!("{title} {desc}")),
        ],
    );
    h.elem("title", &[("id", &title)], p.title);
    h.elem("desc", &[("id", &desc)], p.desc);
    let clip = format!("{}-clip", p.id);
    h.within("clipPath", &[("id", &clip)], |h| {
        let (w, l) = (format!("{:.1}", right - LEFT), format!("{LEFT}"));
        h.empty("rect", &[("x", &l), ("y", "0"), ("width", &w), ("height", &format!("{:.1}", MARGIN + height))]);
    });
    let (a, b) = (x(heat.start_s - zero_s), x(heat.start_s - zero_s + heat.step_s * heat.columns as f64));
    let data = format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(p.image));
    h.open("g", &[("clip-path", &format!("url(#{clip})"))]);
    h.open("g", &[("class", "zoomed")]);
    h.empty(
        "image",
        &[
            ("class", "heat"),
            ("x", &format!("{a:.2}")),
            ("y", &format!("{MARGIN}")),
            ("width", &format!("{:.2}", (b - a).max(1.0))),
            ("height", &format!("{height:.1}")),
            ("preserveAspectRatio", "none"),
            ("href", &data),
        ],
    );
    above(h, heat, (a, b));
    h.close("g");
    h.close("g");
    side(h, heat, (right, height));
    h.within("g", &[("class", "tags")], |h| tags(h, heat, height));
    h.open("g", &[("class", "axes")]);
    let frame = format!("M{LEFT} {MARGIN}H{right}V{:.1}H{LEFT}Z", MARGIN + height);
    h.empty("path", &[("class", "grid"), ("d", &frame)]);
    let step = (rows as f64 / (height / 28.0)).ceil().max(1.0) as usize;
    for (i, row) in heat.rows.iter().enumerate().step_by(step) {
        let y = format!("{:.1}", MARGIN + (i as f64 + 0.5) / rows as f64 * height + 4.0);
        let at = [("class", "tick"), ("text-anchor", "end"), ("x", "60"), ("y", &*y)];
        h.elem("text", &at, &row.ranks.0.to_string());
    }
    let middle = format!("rotate(-90 13 {:.1})", MARGIN + height / 2.0);
    let y = format!("{:.1}", MARGIN + height / 2.0);
    h.elem(
        "text",
        &[("class", "label"), ("text-anchor", "middle"), ("x", "13"), ("y", &y), ("transform", &middle)],
        "Rank",
    );
    h.close("g");
    h.open("g", &[("class", "times"), ("data-y", &format!("{:.1}", MARGIN + height + 15.0))]);
    let step = ticks::round_step(range.1 - range.0, 9);
    for t in ticks::marks(range.0, range.1, step) {
        let at = format!("{:.1}", x(t));
        let y = format!("{:.1}", MARGIN + height + 15.0);
        let number = ticks::number(t, step);
        h.elem("text", &[("class", "tick"), ("text-anchor", "middle"), ("x", &at), ("y", &y)], &number);
    }
    let (middle, y) = (format!("{:.1}", (LEFT + right) / 2.0), format!("{:.1}", whole - 6.0));
    h.elem("text", &[("class", "label"), ("text-anchor", "middle"), ("x", &middle), ("y", &y)], "Time (s)");
    h.close("g");
    h.close("svg");
}

/// Bars of all ranks over time.
fn above(h: &mut Html, heat: &Heat, (a, b): (f64, f64)) {
    let group = heat.columns.div_ceil(256).max(1);
    let sums: Vec<f64> = (0..heat.columns.div_ceil(group))
        .map(|g| {
            let part = g * group..((g + 1) * group).min(heat.columns);
            (0..heat.rows.len())
                .flat_map(|r| part.clone().map(move |c| (r, c)))
                .map(|(r, c)| heat.cells[r * heat.columns + c])
                .sum()
        })
        .collect();
    let most = sums.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let width = (b - a) * group as f64 / heat.columns as f64;
    let mut d = format!("M{a:.1} {MARGIN}");
    for (i, v) in sums.iter().enumerate() {
        let _ = write!(d, "V{:.1}H{:.1}", MARGIN - 2.0 - (MARGIN - 6.0) * v / most, a + width * (i + 1) as f64);
    }
    let _ = write!(d, "V{MARGIN}");
    h.empty("path", &[("class", "margin above"), ("d", &d)]);
}

/// Bars of the bytes of each rank.
fn side(h: &mut Html, heat: &Heat, (right, height): (f64, f64)) {
    let most = heat.rows.iter().map(|r| r.bytes).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let step = height / heat.rows.len() as f64;
    let mut d = format!("M{:.1} {MARGIN}", right + 4.0);
    for (i, r) in heat.rows.iter().enumerate() {
        let _ = write!(d, "H{:.1}V{:.1}", right + 4.0 + BARS * r.bytes / most, MARGIN + step * (i + 1) as f64);
    }
    let _ = write!(d, "H{:.1}Z", right + 4.0);
    h.empty("path", &[("class", "margin side"), ("d", &d)]);
}

/// The colours from the least to the most.
fn ramp(h: &mut Html, id: &str) {
    let colours = palette();
    let (title, desc) = (format!("{id}-rt"), format!("{id}-rd"));
    h.open(
        "svg",
        &[
            ("class", "ramp"),
            ("viewBox", "0 0 63 4"),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-labelledby", &format!("{title} {desc}")),
        ],
    );
    h.elem("title", &[("id", &title)], "Colours");
    h.elem("desc", &[("id", &desc)], "From dark blue for little to yellow for much");
    for i in (1..=LEVELS as usize).step_by(3) {
        let c = &colours[3 * i..3 * i + 3];
        let fill = format!("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
        h.empty("rect", &[("x", &format!("{}", i - 1)), ("y", "0"), ("width", "3"), ("height", "4"), ("fill", &fill)]);
    }
    h.close("svg");
}

fn rows_table(h: &mut Html, id: &str, heat: &Heat, run: &Run) {
    let zero_s = run.zero_s;
    let shared = heat.rows[0].ranks.0 != heat.rows[0].ranks.1;
    let mut order: Vec<&HeatRow> = heat.rows.iter().collect();
    order.sort_by(|a, b| b.bytes.total_cmp(&a.bytes).then(a.ranks.cmp(&b.ranks)));
    h.open("details", &[("class", "fold")]);
    h.elem("summary", &[], "Table");
    let mut columns = vec![
        Column::text("Ranks", "rank"),
        Column::number("Bytes", "bytes"),
        Column::number("End of the last transfer", "end"),
    ];
    if shared {
        columns.extend([Column::number("Least of a rank", "least"), Column::number("Most of a rank", "most")]);
    }
    if !run.hosts.is_empty() {
        columns.push(Column::text("Node of the first", "node"));
    }
    let rows = order.iter().take(50).map(|r| {
        let end = r.end_s.map(|t| t - zero_s);
        let mut row = vec![
            Cell::text(ranks(r.ranks)),
            Cell::bytes(r.bytes.round() as u64),
            end.map_or_else(|| Cell::text("-"), |t| Cell::number(units::clock(t, heat.step_s), t)),
        ];
        if shared {
            row.extend([r.extremes.0, r.extremes.1].map(|b| Cell::bytes(b.round() as u64)));
        }
        if !run.hosts.is_empty() {
            row.push(Cell::text(run.hosts.get(&r.ranks.0).map_or("", |h| h)));
        }
        row
    });
    table::table(h, &format!("{id}-table"), "The ranks with the most bytes", &columns, rows);
    h.close("details");
}
