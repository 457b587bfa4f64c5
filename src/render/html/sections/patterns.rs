//! Access patterns, those of most bytes first, and the walk through the files with the most bytes.

use crate::pattern::PatternGroup;
use crate::record::stem;
use crate::render::figure::offsets_of_file;
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};
use crate::render::{pattern_text, units};

/// Groups listed.
const GROUPS: (usize, usize) = (30, 10);

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    let found = run.report.as_ref().and_then(|r| r.patterns.as_ref());
    let Some(found) = found else {
        p.absent.push(("Access patterns", "record offsets: DXT_ENABLE_IO_TRACE=1 with Darshan, or strace"));
        return;
    };
    let count = units::counted(found.patterns.len() as u64, "pattern");
    let lead = match found.patterns.len() {
        0 => format!("No pattern in {}.", units::counted(found.coverage.records, "access")),
        _ => format!("{count} for {}.", pattern_text::covered(&found.coverage)),
    };
    let shown = p.caps.of(GROUPS.0, GROUPS.1).min(found.groups.len());
    p.section("patterns", "Access patterns", &lead, |p| {
        for i in 0..p.run.offsets.len() {
            offsets(p, i);
        }
        if shown == 0 {
            return;
        }
        p.cut(shown, found.groups.len(), "Groups of patterns");
        let columns = [
            Column::text("Pattern", "kind"),
            Column::text("File", "file"),
            Column::number("Files", "files"),
            Column::number("Ranks", "ranks"),
            Column::number("Patterns", "patterns"),
            Column::number("Bytes", "bytes"),
            Column::number("Accesses", "accesses"),
            Column::number("Size", "size"),
            Column::text("Loops: count × stride, outermost first", "loops"),
            Column::number("Period", "period"),
            Column::number("Confidence", "confidence"),
        ];
        let rows = found.groups.iter().take(shown).map(row);
        let id = p.id("patterns-table");
        table::table(&mut p.h, &id, "Groups of patterns with the most bytes", &columns, rows);
    });
}

fn row(group: &PatternGroup) -> Vec<Cell> {
    let then = group.then.map_or(String::new(), |t| format!(" then {}", t.name()));
    let name = if group.files > 1 { stem(&group.file) } else { group.file.clone() };
    let loops = group.levels.as_ref().map_or("vary".into(), |levels| {
        levels.iter().rev().map(|l| format!("{} × {}", l.count, l.stride)).collect::<Vec<_>>().join(", ")
    });
    vec![
        Cell::text(format!("{} {}{then}", group.kind.name(), group.op.name())),
        Cell::name(&name),
        Cell::count(Some(group.files)),
        Cell::count(Some(group.ranks)),
        Cell::count(Some(group.patterns)),
        Cell::bytes(group.bytes),
        Cell::count(Some(group.records)),
        group.access_size.map_or_else(|| Cell::text("varies"), Cell::bytes),
        Cell::text(loops),
        Cell::seconds(group.period.map(|t| t.period_s)),
        Cell::share(group.period.map(|t| t.confidence)),
    ]
}

/// Offsets over time of one file, over its stripes if they are known.
fn offsets(p: &mut Page<'_>, i: usize) {
    let (run, f) = (p.run, &p.run.offsets[i]);
    let of_file = |name: &str| name == f.file || stem(name) == f.file;
    let stripe = run.layouts.iter().find(|(name, _)| of_file(name)).map(|x| x.1.stripe_bytes);
    let keep = p.caps.of(f.shown.len(), 100);
    if let Some(figure) = offsets_of_file(f, &run.time(), keep, stripe) {
        p.figure(&format!("offsets-{}", i + 1), figure);
    }
}
