//! Families of files: bytes, calls, time, ranks, file system.

use std::collections::HashMap;

use maud::{Markup, html};

use crate::analysis::FileUse;
use crate::classify::Axis;
use crate::record::stem;
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::listing::{Cell, Listing};
use crate::render::units;

/// Families listed, and the least of a page that had to be cut.
const FAMILIES: (usize, usize) = (200, 20);

/// Classes and periods of families from the other answers, by their names with `#` for digits.
struct Known {
    classes: HashMap<String, String>,
    periods: HashMap<String, f64>,
}

impl Known {
    /// The class, and the period of the group, with the most bytes of each family.
    fn of(run: &Run) -> Known {
        let mut classes: HashMap<String, (u64, String)> = HashMap::new();
        for file in run.classes.iter().flat_map(|c| &c.files) {
            let Some(name) = &file.file else { continue };
            for g in &file.global {
                let best = classes.entry(stem(name)).or_default();
                if best.1.is_empty() || g.bytes > best.0 {
                    *best = (g.bytes, format!("{}, {}", g.sequentiality.name(), g.mix.name()));
                }
            }
        }
        let mut periods: HashMap<String, Option<f64>> = HashMap::new();
        for group in run.report.iter().filter_map(|r| r.patterns.as_ref()).flat_map(|p| &p.groups) {
            periods.entry(stem(&group.file)).or_insert(group.period.map(|p| p.period_s));
        }
        Known {
            classes: classes.into_iter().map(|(name, x)| (name, x.1)).collect(),
            periods: periods.into_iter().filter_map(|(name, period)| Some((name, period?))).collect(),
        }
    }
}

/// The costliest files of a family.
fn members(f: &FileUse) -> Vec<String> {
    let line = |(name, bytes, time_s): &(String, u64, Option<f64>)| {
        let time = time_s.map_or_else(String::new, |t| format!(", {}", units::short_seconds(t)));
        format!("{name}: {}{time}", units::bytes(*bytes as f64))
    };
    let mut all: Vec<String> = f.members.iter().map(line).collect();
    let more = f.files.saturating_sub(f.members.len() as u64);
    if more > 0 && !all.is_empty() {
        all.push(format!("and {} more", units::grouped(more)));
    }
    all
}

pub fn section(p: &mut Page<'_>) -> Markup {
    let usage = &p.run.usage;
    if usage.files.is_empty() {
        return p.without("Files", "the trace does not say which files were accessed");
    }
    let every = || usage.files.iter().chain(&usage.rest);
    let lead = format!(
        "{} in {}, those with the most time first; # stands for digits.",
        units::counted(every().map(|f| f.files).sum(), "file"),
        units::counted(usage.families, "family")
    );
    let total: f64 = every().filter_map(|f| f.time_s).sum();
    let all = usize::try_from(usage.families).unwrap_or(usize::MAX);
    let shown = p.shown(FAMILIES, all, "Families of files").min(usage.files.len());
    let (listed, left) = usage.files.split_at(shown);
    let plus = |rest: Option<FileUse>, f: &FileUse| {
        Some(match rest {
            Some(r) => r.plus(f.clone()),
            None => f.clone().unnamed(),
        })
    };
    let rest = left.iter().fold(usage.rest.clone(), plus);
    let (known, job) = (Known::of(p.run), p.run.summary.ranks);
    let ranks = |n: u64| if n > 1 && n == job { format!("all {}", units::grouped(n)) } else { units::grouped(n) };
    let size = |f: &FileUse| {
        let calls = f.reads.zip(f.writes).map(|(r, w)| r + w).filter(|n| *n > 0);
        calls.map(|n| f.bytes_read.saturating_add(f.bytes_written) / n)
    };
    let files = Listing::of(listed.iter().chain(&rest))
        .column("Files", "file", |f| {
            let name = if f.file.is_empty() { Cell::text("all others") } else { Cell::name(&f.file) };
            name.unfolding(members(f))
        })
        .column("Number", "files", |f| Cell::count(f.files))
        .column("Read", "bytes-read", |f| Cell::bytes(f.bytes_read))
        .column("Written", "bytes-written", |f| Cell::bytes(f.bytes_written))
        .column("Reads", "reads", |f| Cell::count(f.reads))
        .column("Writes", "writes", |f| Cell::count(f.writes))
        .column("Mean size", "size", |f| Cell::bytes(size(f)))
        .column("Opens", "opens", |f| Cell::count(f.opens))
        .column("Time", "time", |f| Cell::seconds(f.time_s))
        .column("Share", "share", |f| Cell::share(f.time_s.filter(|_| total > 0.0).map(|t| t / total)))
        .column("Ranks", "ranks", |f| match f.ranks {
            Some(n) => Cell::number(ranks(n), n as f64),
            None => Cell::numeral(if f.file.is_empty() { "-" } else { "all" }),
        })
        .column("Period", "period", |f| Cell::seconds(known.periods.get(&stem(&f.file)).copied()))
        .column("Class", "class", |f| Cell::text(known.classes.get(&stem(&f.file)).cloned().unwrap_or_default()))
        .column("Mount", "mount", |f| Cell::text(f.mount.clone().unwrap_or_default()))
        .column("Stripes", "stripes", |f| {
            let stripes = f.stripe.map(|(unit, n)| format!("{n} × {}", units::bytes(unit as f64)));
            Cell::text(stripes.unwrap_or_default())
        });
    let content = html! {
        details class="tools columns" {
            summary { "Columns" }
            @for (key, title) in files.choices() { label { input type="checkbox" data-column=(key); (title) } }
        } "\n"
        (files.html(&p.id("files-table"), "Time is the sum of all ranks; share is that of the I/O time of all files"))
    };
    p.section("files", "Files", &lead, content)
}
