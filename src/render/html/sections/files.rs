//! Families of files: bytes, calls, time, ranks, file system.

use std::collections::HashMap;

use crate::analysis::FileUse;
use crate::classify::Axis;
use crate::record::stem;
use crate::render::findings::short;
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::html::table::{self, Cell, Column};
use crate::render::units;

/// Families listed, and the least of a page that had to be cut.
const FAMILIES: (usize, usize) = (200, 20);

/// What other answers say of families, by their names with `#` for digits.
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
        let time = time_s.map_or_else(String::new, |t| format!(", {}", short(t)));
        format!("{name}: {}{time}", units::bytes(*bytes as f64))
    };
    let mut all: Vec<String> = f.members.iter().map(line).collect();
    let more = f.files.saturating_sub(f.members.len() as u64);
    if more > 0 && !all.is_empty() {
        all.push(format!("and {} more", units::grouped(more)));
    }
    all
}

pub fn section(p: &mut Page<'_>) {
    let usage = &p.run.usage;
    if usage.files.is_empty() {
        p.absent.push(("Files", "the trace does not say which files were accessed"));
        return;
    }
    let shown = p.caps.of(FAMILIES.0, FAMILIES.1).min(usage.files.len());
    let all: u64 = usage.files.iter().chain(&usage.rest).map(|f| f.files).sum();
    let lead = format!(
        "{} in {}, those with the most time first; # stands for digits.",
        units::counted(all, "file"),
        units::counted(usage.families, "family").replace("familys", "families")
    );
    let total: f64 = usage.files.iter().chain(&usage.rest).filter_map(|f| f.time_s).sum();
    let mut rest = usage.rest.clone();
    for f in &usage.files[shown..] {
        rest = Some(match rest {
            Some(r) => r.plus(f.clone()),
            None => f.clone().unnamed(),
        });
    }
    p.cut(shown, usize::try_from(usage.families).unwrap_or(usize::MAX), "Families of files");
    let known = Known::of(p.run);
    let job = p.run.summary.ranks;
    p.section("files", "Files", &lead, |p| {
        let columns = [
            Column::text("Files", "file"),
            Column::number("Number", "files"),
            Column::number("Read", "bytes-read"),
            Column::number("Written", "bytes-written"),
            Column::number("Reads", "reads"),
            Column::number("Writes", "writes"),
            Column::number("Mean size", "size"),
            Column::number("Opens", "opens"),
            Column::number("Time", "time"),
            Column::number("Share", "share"),
            Column::number("Ranks", "ranks"),
            Column::number("Period", "period"),
            Column::text("Class", "class"),
            Column::text("Mount", "mount"),
            Column::text("Stripes", "stripes"),
        ];
        let some: Vec<&FileUse> = p.run.usage.files[..shown].iter().chain(&rest).collect();
        let used = [
            true,
            true,
            true,
            true,
            some.iter().any(|f| f.reads.is_some()),
            some.iter().any(|f| f.writes.is_some()),
            some.iter().any(|f| f.reads.is_some()),
            some.iter().any(|f| f.opens.is_some()),
            some.iter().any(|f| f.time_s.is_some()),
            some.iter().any(|f| f.time_s.is_some()),
            true,
            !known.periods.is_empty(),
            !known.classes.is_empty(),
            some.iter().any(|f| f.mount.is_some()),
            some.iter().any(|f| f.stripe.is_some()),
        ];
        let row = |f: &FileUse| {
            let calls = f.reads.zip(f.writes).map(|(r, w)| r + w).filter(|n| *n > 0);
            let bytes = f.bytes_read.saturating_add(f.bytes_written);
            let name = if f.file.is_empty() { Cell::text("all others") } else { Cell::name(&f.file) };
            let ranks = |n: u64| {
                if n > 1 && n == job { format!("all {}", units::grouped(n)) } else { units::grouped(n) }
            };
            vec![
                name.unfolding(members(f)),
                Cell::count(Some(f.files)),
                Cell::bytes(f.bytes_read),
                Cell::bytes(f.bytes_written),
                Cell::count(f.reads),
                Cell::count(f.writes),
                calls.map_or_else(|| Cell::text("-"), |n| Cell::bytes(bytes / n)),
                Cell::count(f.opens),
                Cell::seconds(f.time_s),
                Cell::share(f.time_s.filter(|_| total > 0.0).map(|t| t / total)),
                f.ranks.map_or_else(
                    || Cell::text(if f.file.is_empty() { "-" } else { "all" }),
                    |n| Cell::number(ranks(n), n as f64),
                ),
                Cell::seconds(known.periods.get(&stem(&f.file)).copied()),
                Cell::text(known.classes.get(&stem(&f.file)).cloned().unwrap_or_default()),
                Cell::text(f.mount.clone().unwrap_or_default()),
                Cell::text(
                    f.stripe.map_or_else(String::new, |(unit, n)| format!("{n} × {}", units::bytes(unit as f64))),
                ),
            ]
        };
        fn only<T>(all: Vec<T>, used: &[bool]) -> Vec<T> {
            all.into_iter().zip(used).filter(|x| *x.1).map(|x| x.0).collect()
        }
        let columns = only(columns.to_vec(), &used);
        let rows = some.into_iter().map(|f| only(row(f), &used));
        p.h.within("details", &[("class", "tools columns")], |h| {
            h.elem("summary", &[], "Columns");
            for c in &columns[1..] {
                h.open("label", &[]);
                h.void("input", &[("type", "checkbox"), ("data-column", c.key())]);
                h.text(c.title());
                h.close("label");
            }
        });
        let id = p.id("files-table");
        table::table(
            &mut p.h,
            &id,
            "Time is the sum of all ranks; share is that of the I/O time of all files",
            &columns,
            rows,
        );
    });
}
