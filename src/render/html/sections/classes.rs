//! Access classes of the files with the most bytes: what the job does, when, and where in the file each rank is.

use std::cmp::Reverse;

use crate::classify::{Advice, Axis, FileClasses};
use crate::render::html::page::Page;
use crate::render::html::plot::{Layer, Numbers, Plot, Scale};
use crate::render::html::table::{self, Cell, Column};
use crate::render::{classes as words, text, units};

/// Files that are drawn, and files and classes that are listed.
const DRAWN: usize = 3;
const FILES: (usize, usize) = (20, 5);
const LISTED: usize = 100;
/// Ranges of ranks that are drawn of a file.
const BOXES: (usize, usize) = (600, 60);

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    let Some(c) = run.classes.as_ref().filter(|c| !c.files.is_empty()) else {
        p.absent.push(("Access classes", "record offsets: DXT_ENABLE_IO_TRACE=1 with Darshan, or strace"));
        return;
    };
    let moved = |f: &FileClasses| f.global.iter().map(|g| g.bytes).fold(0, u64::saturating_add);
    let mut files: Vec<&FileClasses> = c.files.iter().collect();
    files.sort_by_key(|f| Reverse(moved(f)));
    let shown = p.caps.of(FILES.0, FILES.1).min(files.len());
    p.cut(shown, files.len(), "Files with access classes");
    let lead = "The order and the sizes of the accesses of all ranks to a file, while they last.";
    p.section("classes", "Access classes", lead, |p| {
        for (i, f) in files.iter().take(DRAWN).enumerate() {
            picture(p, i, f);
        }
        global(p, &files[..shown]);
        local(p, &files[..shown]);
        advice(p, c.advice.iter().chain(files[..shown].iter().flat_map(|f| f.global.iter().flat_map(|g| &g.advice))));
    });
}

fn picture(p: &mut Page<'_>, i: usize, f: &FileClasses) {
    let run = p.run;
    let top = f.local.iter().map(|l| l.end_offset).max().unwrap_or(0);
    if top == 0 || f.global.is_empty() {
        return;
    }
    let later = |t: f64| ((t - run.zero_s) * 1e6).round() / 1e6;
    let mut layers = Vec::new();
    let keep = p.caps.of(BOXES.0, BOXES.1);
    let step = f.local.len().div_ceil(keep).max(1);
    let local = || f.local.iter().step_by(step);
    layers.push(Layer::Boxes {
        name: "range of a rank".into(),
        class: "class",
        boxes: local()
            .map(|l| [later(l.start_s), l.start_offset as f64, later(l.end_s), l.end_offset as f64])
            .collect(),
        labels: local().map(|l| format!("rank {}, {} {}", l.rank, l.sequentiality.name(), l.mix.name())).collect(),
    });
    let mut kinds: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for g in f.global.iter().take(LISTED) {
        let name = format!("{} {} {}", g.sequentiality.name(), g.mix.name(), g.size.name());
        let span = (later(g.start_s), later(g.end_s));
        match kinds.iter_mut().find(|k| k.0 == name) {
            Some(k) => k.1.push(span),
            None => kinds.push((name, vec![span])),
        }
    }
    let colours = ["c0", "c1", "c2", "c3", "c4"];
    for (row, (name, spans)) in kinds.into_iter().take(colours.len()).enumerate() {
        layers.push(Layer::Spans { name, class: colours[row], row: Some(row), spans });
    }
    let name = text::ending(f.file.as_deref().unwrap_or("(no name)"), 70);
    p.h.elem("h3", &[], &name);
    p.plot(Plot {
        id: format!("classes-{}", i + 1),
        title: format!("Classes over time: {name}"),
        desc: format!(
            "{} and {}",
            units::counted(f.global.len() as u64, "class"),
            units::counted(f.local.len() as u64, "range")
        ),
        height: 280.0,
        x: Scale { low: run.range.0, high: run.range.1, label: "Time", unit: "s", numbers: Numbers::Time },
        y: Scale { low: 0.0, high: 1.03 * top as f64, label: "Offset", unit: "B", numbers: Numbers::Prefixed },
        time: true,
        layers,
    });
}

fn global(p: &mut Page<'_>, files: &[&FileClasses]) {
    let zero = p.run.zero_s;
    let columns = [
        Column::text("File", "file"),
        Column::text("Order", "order"),
        Column::text("Access", "access"),
        Column::text("Sizes", "sizes"),
        Column::text("Ranks", "ranks"),
        Column::number("From", "start"),
        Column::number("Until", "end"),
        Column::number("Bytes", "bytes"),
        Column::number("Accesses", "accesses"),
    ];
    let rows = files.iter().flat_map(|f| f.global.iter().take(12).map(move |g| (f, g))).take(LISTED).map(|(f, g)| {
        let step = (g.end_s - g.start_s) / 10.0;
        let time = |t: f64| Cell::number(units::clock(t - zero, step), t - zero);
        vec![
            Cell::name(f.file.as_deref().unwrap_or("(no name)")),
            Cell::text(format!(
                "{}{}",
                g.sequentiality.name(),
                if g.staggered { ", one rank after the other" } else { "" }
            )),
            Cell::text(g.mix.name()),
            Cell::text(g.size.name()),
            Cell::text(words::ranks(&g.ranks)),
            time(g.start_s),
            time(g.end_s),
            Cell::bytes(g.bytes),
            Cell::count(Some(g.accesses)),
        ]
    });
    let id = p.id("classes-table");
    table::table(&mut p.h, &id, "Classes over all ranks, the file with the most bytes first", &columns, rows);
}

fn local(p: &mut Page<'_>, files: &[&FileClasses]) {
    let zero = p.run.zero_s;
    p.h.open("details", &[("class", "fold")]);
    p.h.elem("summary", &[], "Classes of single ranks");
    let columns = [
        Column::text("File", "file"),
        Column::number("Rank", "rank"),
        Column::text("Order", "order"),
        Column::text("Access", "access"),
        Column::text("Sizes", "sizes"),
        Column::number("From", "start"),
        Column::number("Accesses", "accesses"),
        Column::number("First byte", "first"),
        Column::number("Past the last", "last"),
    ];
    let listed = p.caps.of(LISTED, 20);
    let rows = files.iter().flat_map(|f| f.local.iter().take(16).map(move |l| (f, l))).take(listed).map(|(f, l)| {
        vec![
            Cell::name(f.file.as_deref().unwrap_or("(no name)")),
            Cell::count(Some(l.rank.into())),
            Cell::text(l.sequentiality.name()),
            Cell::text(l.mix.name()),
            Cell::text(l.size.name()),
            Cell::number(units::clock(l.start_s - zero, (l.end_s - l.start_s) / 10.0), l.start_s - zero),
            Cell::count(Some(l.accesses)),
            Cell::bytes(l.start_offset),
            Cell::bytes(l.end_offset),
        ]
    });
    let id = p.id("classes-local");
    table::table(&mut p.h, &id, "What each rank does", &columns, rows);
    p.h.close("details");
}

fn advice<'a>(p: &mut Page<'_>, all: impl Iterator<Item = &'a Advice>) {
    let mut seen = Vec::new();
    for a in all {
        if seen.len() < 12 && !seen.iter().any(|b: &&Advice| b.policy == a.policy && b.hints == a.hints) {
            seen.push(a);
        }
    }
    if seen.is_empty() {
        return;
    }
    p.h.elem("h3", &[], "Advice");
    p.h.open("ul", &[("class", "remedies")]);
    for a in seen {
        p.h.open("li", &[]);
        // a name of two words is a command
        let hint = |(k, v): (&String, &String)| if k.contains(' ') { format!("{k} {v}") } else { format!("{k}={v}") };
        let hints: Vec<String> = a.hints.iter().map(hint).collect();
        p.h.elem("code", &[("class", "copy")], &hints.join(" "));
        p.h.text(&format!(" {}: {}", a.policy.replace('-', " "), a.why));
        p.h.close("li");
    }
    p.h.close("ul");
}
