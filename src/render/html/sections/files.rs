//! Families of files: bytes, calls, time, ranks, file system.

use crate::analysis::FileUse;
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};
use crate::render::units;

/// Families listed, and the least of a page that had to be cut.
const FAMILIES: (usize, usize) = (200, 20);

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
    p.section("files", "Files", &lead, |p| {
        let columns = [
            Column::text("Files", "file"),
            Column::number("Number", "files"),
            Column::number("Read", "bytes-read"),
            Column::number("Written", "bytes-written"),
            Column::number("Reads", "reads"),
            Column::number("Writes", "writes"),
            Column::number("Mean size", "size"),
            Column::number("Time", "time"),
            Column::number("Share", "share"),
            Column::number("Ranks", "ranks"),
            Column::text("Mount", "mount"),
        ];
        let row = |f: &FileUse| {
            let calls = f.reads.zip(f.writes).map(|(r, w)| r + w).filter(|n| *n > 0);
            let bytes = f.bytes_read.saturating_add(f.bytes_written);
            let name = if f.file.is_empty() { Cell::text("all others") } else { Cell::name(&f.file) };
            vec![
                name,
                Cell::count(Some(f.files)),
                Cell::bytes(f.bytes_read),
                Cell::bytes(f.bytes_written),
                Cell::count(f.reads),
                Cell::count(f.writes),
                calls.map_or_else(|| Cell::text("-"), |n| Cell::bytes(bytes / n)),
                Cell::seconds(f.time_s),
                Cell::share(f.time_s.filter(|_| total > 0.0).map(|t| t / total)),
                f.ranks.map_or_else(|| Cell::text("all"), |n| Cell::count(Some(n))),
                Cell::text(f.mount.clone().unwrap_or_default()),
            ]
        };
        let rows = p.run.usage.files[..shown].iter().chain(&rest).map(row);
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
