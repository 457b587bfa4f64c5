//! Access classes of the files with the most bytes: what the job does, when, and where in the file each rank is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use crate::classify::{Advice, Axis, FileClasses, GlobalClass};
use crate::record::stem;
use crate::render::classes as words;
use crate::render::figure::classes_of_file;
use crate::render::html::markup::{copy, fold};
use crate::render::html::page::Page;
use crate::render::listing::{Cell, Listing};

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

pub fn section(p: &mut Page<'_>) -> Markup {
    let run = p.run;
    let Some(c) = run.classes.as_ref().filter(|c| !c.files.is_empty()) else {
        return p.without("Access classes", "record offsets: DXT_ENABLE_IO_TRACE=1 with Darshan, or strace");
    };
    let families = families(&c.files);
    let shown = p.shown(FILES, families.len(), "Families of files with access classes");
    let shown = &families[..shown];
    let of_files = shown.iter().flat_map(|f| f.files.iter().flat_map(|f| &f.global));
    let content = html! {
        @for (i, f) in families.iter().take(DRAWN).enumerate() { (picture(p, i, f)) }
        (global(p, shown))
        (local(p, shown))
        (advice(p, c.advice.iter().chain(of_files.flat_map(|g| &g.advice))))
    };
    let lead = "The order and the sizes of the accesses of all ranks to a file, while they last.";
    p.section("classes", "Access classes", lead, content)
}

fn picture(p: &mut Page<'_>, i: usize, f: &Family<'_>) -> Markup {
    let several = if f.files.len() > 1 { format!(" ({} files)", f.files.len()) } else { String::new() };
    let name = format!("{}{several}", crate::render::layout::ending(&f.name, 70));
    let keep = p.caps.of(BOXES.0, BOXES.1);
    let figure = classes_of_file(&name, &f.files, &p.run.time(), keep);
    figure.map_or_else(|| html! {}, |figure| p.figure(&format!("classes-{}", i + 1), figure))
}

/// The classes of a family, each with all times at which it has it.
fn kinds<'a>(f: &Family<'a>) -> Vec<Vec<&'a GlobalClass>> {
    let kind = |g: &GlobalClass| (g.sequentiality, g.mix, g.size, g.staggered);
    let mut kinds: Vec<Vec<&GlobalClass>> = Vec::new();
    for g in f.files.iter().flat_map(|f| &f.global) {
        match kinds.iter_mut().find(|k| kind(k[0]) == kind(g)) {
            Some(k) => k.push(g),
            None => kinds.push(vec![g]),
        }
    }
    kinds
}

/// One row for all times at which a family has a class.
fn global(p: &Page<'_>, families: &[Family<'_>]) -> Markup {
    let zero = p.run.zero_s;
    let ranks = |all: &[&GlobalClass]| -> Vec<u32> {
        all.iter().flat_map(|g| g.ranks.iter().copied()).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let time = |of: fn(f64, f64) -> f64, all: &mut dyn Iterator<Item = f64>| {
        Cell::clock(all.reduce(of).map(|t| t - zero), 0.1)
    };
    let rows = families.iter().flat_map(|f| kinds(f).into_iter().map(move |all| (&f.name, all)));
    Listing::of(rows.take(LISTED))
        .column("File", "file", |(name, _)| Cell::name(name))
        .column("Order", "order", |(_, all)| {
            let staggered = if all[0].staggered { ", one rank after the other" } else { "" };
            Cell::text(format!("{}{staggered}", all[0].sequentiality.name()))
        })
        .column("Access", "access", |(_, all)| Cell::text(all[0].mix.name()))
        .column("Sizes", "sizes", |(_, all)| Cell::text(all[0].size.name()))
        .column("Ranks", "ranks", |(_, all)| Cell::text(words::ranks(&ranks(all))))
        .column("Times", "times", |(_, all)| Cell::count(all.len() as u64))
        .column("First", "start", |(_, all)| time(f64::min, &mut all.iter().map(|g| g.start_s)))
        .column("Last", "end", |(_, all)| time(f64::max, &mut all.iter().map(|g| g.end_s)))
        .column("Bytes", "bytes", |(_, all)| Cell::bytes(all.iter().map(|g| g.bytes).fold(0, u64::saturating_add)))
        .column("Accesses", "accesses", |(_, all)| Cell::count(all.iter().map(|g| g.accesses).sum::<u64>()))
        .html(&p.id("classes-table"), "Classes over all ranks, the files with the most bytes first")
}

fn local(p: &Page<'_>, families: &[Family<'_>]) -> Markup {
    let zero = p.run.zero_s;
    let of_files = families.iter().flat_map(|f| f.files.iter().take(4));
    let rows = of_files.flat_map(|f| f.local.iter().take(16).map(move |l| (f, l))).take(p.caps.of(LISTED, 10));
    let table = Listing::of(rows)
        .column("File", "file", |(f, _)| Cell::name(f.file.as_deref().unwrap_or("(no name)")))
        .column("Rank", "rank", |(_, l)| Cell::count(u64::from(l.rank)))
        .column("Order", "order", |(_, l)| Cell::text(l.sequentiality.name()))
        .column("Access", "access", |(_, l)| Cell::text(l.mix.name()))
        .column("Sizes", "sizes", |(_, l)| Cell::text(l.size.name()))
        .column("From", "start", |(_, l)| Cell::clock(l.start_s - zero, (l.end_s - l.start_s) / 10.0))
        .column("Accesses", "accesses", |(_, l)| Cell::count(l.accesses))
        .column("First byte", "first", |(_, l)| Cell::bytes(l.start_offset))
        .column("Past the last", "last", |(_, l)| Cell::bytes(l.end_offset))
        .html(&p.id("classes-local"), "What each rank does");
    fold("Classes of single ranks", table)
}

fn advice<'a>(p: &Page<'_>, all: impl Iterator<Item = &'a Advice>) -> Markup {
    // stripes are set on Lustre
    let mounts = p.run.info.counters.as_ref().map_or(&[][..], |c| &c.mounts);
    let elsewhere = !mounts.is_empty() && mounts.iter().all(|m| m.kind != "lustre");
    let mut seen: Vec<&Advice> = Vec::new();
    for a in all.filter(|a| !(elsewhere && a.policy == "striping")) {
        if seen.len() < 12 && !seen.iter().any(|b| b.policy == a.policy && b.hints == a.hints) {
            seen.push(a);
        }
    }
    html! { @if !seen.is_empty() {
        h3 { "Advice" }
        ul.remedies { @for a in seen {
            @let (commands, hints, why) = a.parts();
            @let hints = hints.iter().map(|(name, value)| format!("{name}={value}"));
            li {
                @for typed in commands.into_iter().chain(hints) { (copy(&typed)) " " }
                (a.policy.replace('-', " ")) ": " (why)
            } "\n"
        } }
    } }
}
