//! The directly-follows graph: which activity follows which, and what each costs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::dfg::{DfgReport, EdgeReport, NodeReport};
use crate::render::dfg::{label, layout};
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};
use crate::render::html::writer::Html;
use crate::render::units;

/// Activities drawn, and the least of a page that had to be cut.
const NODES: (usize, usize) = (24, 8);
/// Activities listed.
const LISTED: (usize, usize) = (60, 10);
/// Letters of a name in the picture.
const LETTERS: usize = 34;
const START: &str = "<start>";
const END: &str = "<end>";

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
fn slider(h: &mut Html, edges: &[(usize, usize, &EdgeReport)]) {
    let counts: BTreeSet<u64> = edges.iter().map(|e| e.2.count).collect();
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

/// Both ends of a name.
fn shortened(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= LETTERS {
        return text.to_owned();
    }
    let half = LETTERS / 2;
    letters[..half].iter().chain(&['…']).chain(&letters[letters.len() - half + 1..]).collect()
}

/// The edges between the nodes of the picture.
fn edges<'a>(g: &'a DfgReport, numbers: &BTreeMap<&str, usize>) -> Vec<(usize, usize, &'a EdgeReport)> {
    let number = |name: &str| numbers.get(name).copied();
    g.edges.iter().filter_map(|e| Some((number(&e.from)?, number(&e.to)?, e))).collect()
}

fn picture(p: &mut Page<'_>, g: &DfgReport, nodes: &[&NodeReport]) {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::from([(START, 0), (END, nodes.len() + 1)]);
    nodes.iter().enumerate().for_each(|(i, n)| {
        numbers.insert(&n.activity, i + 1);
    });
    let edges = edges(g, &numbers);
    let lines: Vec<Vec<String>> =
        nodes.iter().map(|n| label::lines(n).iter().map(|l| shortened(l)).collect()).collect();
    let size = |l: &Vec<String>| {
        let longest = l.iter().map(|t| t.chars().count()).max().unwrap_or(1);
        (7.0 * longest as f64 + 20.0, 16.0 * l.len() as f64 + 12.0)
    };
    let mut boxes = vec![(16.0, 16.0)];
    boxes.extend(lines.iter().map(size));
    boxes.push((16.0, 16.0));
    let links: Vec<layout::Link> = edges
        .iter()
        .map(|(from, to, e)| layout::Link {
            from: *from,
            to: *to,
            label: (8.0 * e.count.to_string().len() as f64 + 8.0, 16.0),
            weight: 1,
        })
        .collect();
    let placed = layout::place(&boxes, &links);
    let id = p.id("graph-picture");
    let most = edges.iter().map(|e| e.2.count).max().unwrap_or(1);
    let heaviest = nodes.iter().map(|n| n.duration_s).fold(0.0, f64::max);
    let h = &mut p.h;
    h.open("figure", &[("class", "graph"), ("id", &id), ("data-most", &most.to_string())]);
    slider(h, &edges);
    h.open("div", &[("class", "scroll")]);
    let (width, height) = (placed.size.0.ceil(), placed.size.1.ceil());
    let (title, desc) = (format!("{id}-t"), format!("{id}-d"));
    h.open(
        "svg",
        &[
            ("viewBox", &format!("0 0 {width} {height}")),
            ("width", &width.to_string()),
            ("height", &height.to_string()),
            ("role", "img"),
            ("aria-labelledby", &format!("{title} {desc}")),
        ],
    );
    h.elem("title", &[("id", &title)], "Directly-follows graph");
    let text = format!(
        "{}, {}, {}",
        units::counted(g.nodes.len() as u64, "activity"),
        units::counted(g.events, "event"),
        units::counted(g.cases.len() as u64, "case")
    );
    h.elem("desc", &[("id", &desc)], &text);
    for ((from, to, e), (points, at)) in edges.iter().zip(&placed.links) {
        edge(h, (*from, *to, e.count, most), points, *at);
    }
    for (i, (at, size)) in placed.nodes.iter().zip(&boxes).enumerate() {
        let number = i.to_string();
        if i == 0 || i > nodes.len() {
            let (x, y) = (format!("{:.1}", at.0), format!("{:.1}", at.1));
            h.empty("circle", &[("class", "head"), ("cx", &x), ("cy", &y), ("r", "8"), ("data-node", &number)]);
            continue;
        }
        let n = nodes[i - 1];
        let share = if heaviest > 0.0 { n.duration_s / heaviest } else { 0.0 };
        h.open("g", &[("data-node", &number), ("tabindex", "0")]);
        h.elem("title", &[], &n.activity);
        let (x, y) = (at.0 - size.0 / 2.0, at.1 - size.1 / 2.0);
        let numbers = [x, y, size.0, size.1].map(|v| format!("{v:.1}"));
        let class = if share > 0.25 { "node heavy" } else { "node" };
        h.empty(
            "rect",
            &[
                ("class", class),
                ("x", &numbers[0]),
                ("y", &numbers[1]),
                ("width", &numbers[2]),
                ("height", &numbers[3]),
                ("rx", "5"),
            ],
        );
        for (k, line) in lines[i - 1].iter().enumerate() {
            let (x, y) = (format!("{:.1}", at.0), format!("{:.1}", y + 18.0 + 16.0 * k as f64));
            h.elem(
                "text",
                &[("class", if k == 0 { "bold" } else { "" }), ("text-anchor", "middle"), ("x", &x), ("y", &y)],
                line,
            );
        }
        h.close("g");
    }
    h.close("svg");
    h.close("div");
    if let Some(remark) = placed.remark() {
        h.elem("p", &[], &remark);
    }
    h.elem("p", &[("class", "readout"), ("aria-live", "polite")], "");
    h.close("figure");
}

fn edge(
    h: &mut Html,
    (from, to, count, most): (usize, usize, u64, u64),
    points: &[(f64, f64)],
    at: Option<(f64, f64)>,
) {
    let width = if most > 1 { 1.0 + 4.0 * (count.max(1) as f64).ln() / (most as f64).ln() } else { 1.0 };
    let [first, .., last] = points else { return };
    let mut d = format!("M{:.1} {:.1}", first.0, first.1);
    for pair in points[1..].windows(2) {
        let middle = (0.5 * (pair[0].0 + pair[1].0), 0.5 * (pair[0].1 + pair[1].1));
        let _ = write!(d, "Q{:.1} {:.1} {:.1} {:.1}", pair[0].0, pair[0].1, middle.0, middle.1);
    }
    let _ = write!(d, "L{:.1} {:.1}", last.0, last.1);
    let before = points[points.len() - 2];
    let (dx, dy) = (last.0 - before.0, last.1 - before.1);
    let length = dx.hypot(dy).max(1e-6);
    let (ux, uy) = (dx / length, dy / length);
    let back = 8.0 + width;
    let (bx, by) = (last.0 - ux * back, last.1 - uy * back);
    let tip = format!(
        "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z",
        last.0,
        last.1,
        bx - 0.45 * uy * back,
        by + 0.45 * ux * back,
        bx + 0.45 * uy * back,
        by - 0.45 * ux * back
    );
    let count_text = count.to_string();
    h.open("g", &[("data-from", &from.to_string()), ("data-to", &to.to_string()), ("data-count", &count_text)]);
    h.empty("path", &[("class", "edge"), ("stroke-width", &format!("{width:.1}")), ("d", &d)]);
    h.empty("path", &[("class", "head"), ("d", &tip)]);
    if let Some(at) = at {
        let wide = 7.5 * count_text.len() as f64 + 4.0;
        let (x, y) = (format!("{:.1}", at.0 - wide / 2.0), format!("{:.1}", at.1 - 8.0));
        h.empty(
            "rect",
            &[("class", "plate"), ("x", &x), ("y", &y), ("width", &format!("{wide:.1}")), ("height", "16")],
        );
        let (x, y) = (format!("{:.1}", at.0), format!("{:.1}", at.1 + 4.0));
        h.elem("text", &[("text-anchor", "middle"), ("x", &x), ("y", &y)], &count_text);
    }
    h.close("g");
}
