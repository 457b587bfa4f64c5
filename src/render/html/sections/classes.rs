//! Access classes of the files with the most bytes: what the job does, when, and where in the file each rank is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::classify::{Advice, Axis, FileClasses, GlobalClass};
use crate::record::stem;
use crate::render::figure::classes_of_file;
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};
use crate::render::{classes as words, units};

/// Files that are drawn, and files and classes that are listed.
const DRAWN: usize = 3;
const FILES: (usize, usize) = (20, 5);
const LISTED: usize = 100;
/// Ranges of ranks that are drawn of a file.
const BOXES: (usize, usize) = (600, 60);

/// Files whose names differ in digits only.
struct Family<'a> {
    name: String,
    files: Vec<&'a FileClasses>,
    bytes: u64,
}

fn families(files: &[FileClasses]) -> Vec<Family<'_>> {
    let mut all: BTreeMap<String, Family<'_>> = BTreeMap::new();
    for f in files {
        let name = f.file.as_deref().unwrap_or("(no name)");
        let family =
            all.entry(stem(name)).or_insert_with(|| Family { name: name.to_owned(), files: Vec::new(), bytes: 0 });
        family.files.push(f);
        family.bytes = f.global.iter().map(|g| g.bytes).fold(family.bytes, u64::saturating_add);
    }
    let mut all: Vec<Family<'_>> =
        all.into_iter().map(|(stem, f)| Family { name: if f.files.len() > 1 { stem } else { f.name }, ..f }).collect();
    all.sort_by_key(|f| Reverse(f.bytes));
    all
}

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    let Some(c) = run.classes.as_ref().filter(|c| !c.files.is_empty()) else {
        p.absent.push(("Access classes", "record offsets: DXT_ENABLE_IO_TRACE=1 with Darshan, or strace"));
        return;
    };
    let families = families(&c.files);
    let shown = p.caps.of(FILES.0, FILES.1).min(families.len());
    p.cut(shown, families.len(), "Families of files with access classes");
    let lead = "The order and the sizes of the accesses of all ranks to a file, while they last.";
    p.section("classes", "Access classes", lead, |p| {
        for (i, f) in families.iter().take(DRAWN).enumerate() {
            picture(p, i, f);
        }
        global(p, &families[..shown]);
        local(p, &families[..shown]);
        let of_files = families[..shown].iter().flat_map(|f| f.files.iter().flat_map(|f| &f.global));
        advice(p, c.advice.iter().chain(of_files.flat_map(|g| &g.advice)));
    });
}

fn picture(p: &mut Page<'_>, i: usize, f: &Family<'_>) {
    let several = if f.files.len() > 1 { format!(" ({} files)", f.files.len()) } else { String::new() };
    let name = format!("{}{several}", crate::render::layout::ending(&f.name, 70));
    let keep = p.caps.of(BOXES.0, BOXES.1);
    if let Some(figure) = classes_of_file(&name, &f.files, &p.run.time(), keep) {
        p.figure(&format!("classes-{}", i + 1), figure);
    }
}

/// One row for all times at which a family has a class.
fn global(p: &mut Page<'_>, families: &[Family<'_>]) {
    let zero = p.run.zero_s;
    let columns = [
        Column::text("File", "file"),
        Column::text("Order", "order"),
        Column::text("Access", "access"),
        Column::text("Sizes", "sizes"),
        Column::text("Ranks", "ranks"),
        Column::number("Times", "times"),
        Column::number("First", "start"),
        Column::number("Last", "end"),
        Column::number("Bytes", "bytes"),
        Column::number("Accesses", "accesses"),
    ];
    let mut rows = Vec::new();
    for f in families {
        let mut kinds: Vec<(_, Vec<&GlobalClass>)> = Vec::new();
        for g in f.files.iter().flat_map(|f| &f.global) {
            let kind = (g.sequentiality, g.mix, g.size, g.staggered);
            match kinds.iter_mut().find(|k| k.0 == kind) {
                Some(k) => k.1.push(g),
                None => kinds.push((kind, vec![g])),
            }
        }
        rows.extend(kinds.into_iter().map(|((order, mix, size, staggered), all)| {
            let ranks: BTreeSet<u32> = all.iter().flat_map(|g| g.ranks.iter().copied()).collect();
            let time = |t: f64| Cell::number(units::clock(t - zero, 0.1), t - zero);
            let staggered = if staggered { ", one rank after the other" } else { "" };
            vec![
                Cell::name(&f.name),
                Cell::text(format!("{}{staggered}", order.name())),
                Cell::text(mix.name()),
                Cell::text(size.name()),
                Cell::text(words::ranks(&ranks.into_iter().collect::<Vec<_>>())),
                Cell::count(Some(all.len() as u64)),
                time(all.iter().map(|g| g.start_s).fold(f64::INFINITY, f64::min)),
                time(all.iter().map(|g| g.end_s).fold(f64::NEG_INFINITY, f64::max)),
                Cell::bytes(all.iter().map(|g| g.bytes).fold(0, u64::saturating_add)),
                Cell::count(Some(all.iter().map(|g| g.accesses).sum())),
            ]
        }));
    }
    rows.truncate(LISTED);
    let id = p.id("classes-table");
    table::table(&mut p.h, &id, "Classes over all ranks, the files with the most bytes first", &columns, rows);
}

fn local(p: &mut Page<'_>, families: &[Family<'_>]) {
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
    let listed = p.caps.of(LISTED, 10);
    let of_files = families.iter().flat_map(|f| f.files.iter().take(4));
    let rows = of_files.flat_map(|f| f.local.iter().take(16).map(move |l| (f, l))).take(listed).map(|(f, l)| {
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
    // stripes are set on Lustre
    let mounts = p.run.info.counters.as_ref().map_or(&[][..], |c| &c.mounts);
    let elsewhere = !mounts.is_empty() && mounts.iter().all(|m| m.kind != "lustre");
    let mut seen = Vec::new();
    for a in all.filter(|a| !(elsewhere && a.policy == "striping")) {
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
        let (commands, hints, why) = a.parts();
        let hints = hints.iter().map(|(name, value)| format!("{name}={value}"));
        for typed in commands.into_iter().chain(hints) {
            p.h.copy("code", &typed);
            p.h.text(" ");
        }
        p.h.text(&format!("{}: {why}", a.policy.replace('-', " ")));
        p.h.close("li");
    }
    p.h.close("ul");
}
