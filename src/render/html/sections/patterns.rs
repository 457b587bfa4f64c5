//! Access patterns, those of most bytes first, and the walk through the files with the most bytes.

use maud::{Markup, html};

use crate::pattern::PatternGroup;
use crate::record::stem;
use crate::render::figure::offsets_of_file;
use crate::render::html::page::Page;
use crate::render::listing::{Cell, Listing};
use crate::render::{pattern_text, units};

/// Groups listed.
const GROUPS: (usize, usize) = (30, 10);

pub fn section(p: &mut Page<'_>) -> Markup {
    let Some(found) = p.run.report.as_ref().and_then(|r| r.patterns.as_ref()) else {
        return p.without("Access patterns", "record offsets: DXT_ENABLE_IO_TRACE=1 with Darshan, or strace");
    };
    let count = units::counted(found.patterns.len() as u64, "pattern");
    let lead = match found.patterns.len() {
        0 => format!("No pattern in {}.", units::counted(found.coverage.records, "access")),
        _ => format!("{count} for {}.", pattern_text::covered(&found.coverage)),
    };
    let shown = p.shown(GROUPS, found.groups.len(), "Groups of patterns");
    let content = html! {
        @for i in 0..p.run.offsets.len() { (offsets(p, i)) }
        (groups(p, &found.groups[..shown]))
    };
    p.section("patterns", "Access patterns", &lead, content)
}

fn groups(p: &Page<'_>, groups: &[PatternGroup]) -> Markup {
    Listing::of(groups)
        .column("Pattern", "kind", |g| {
            let then = g.then.map_or(String::new(), |t| format!(" then {}", t.name()));
            Cell::text(format!("{} {}{then}", g.kind.name(), g.op.name()))
        })
        .column("File", "file", |g| Cell::name(&if g.files > 1 { stem(&g.file) } else { g.file.clone() }))
        .column("Files", "files", |g| Cell::count(g.files))
        .column("Ranks", "ranks", |g| Cell::count(g.ranks))
        .column("Patterns", "patterns", |g| Cell::count(g.patterns))
        .column("Bytes", "bytes", |g| Cell::bytes(g.bytes))
        .column("Accesses", "accesses", |g| Cell::count(g.records))
        .column("Size", "size", |g| g.access_size.map_or_else(|| Cell::numeral("varies"), Cell::bytes))
        .column("Loops: count × stride, outermost first", "loops", |g| {
            Cell::text(g.levels.as_ref().map_or("vary".into(), |levels| {
                levels.iter().rev().map(|l| format!("{} × {}", l.count, l.stride)).collect::<Vec<_>>().join(", ")
            }))
        })
        .column("Period", "period", |g| Cell::seconds(g.period.map(|t| t.period_s)))
        .column("Confidence", "confidence", |g| Cell::share(g.period.map(|t| t.confidence)))
        .html(&p.id("patterns-table"), "Groups of patterns with the most bytes")
}

/// Offsets over time of one file, over its stripes if they are known.
fn offsets(p: &mut Page<'_>, i: usize) -> Markup {
    let (run, f) = (p.run, &p.run.offsets[i]);
    let of_file = |name: &str| name == f.file || stem(name) == f.file;
    let stripe = run.layouts.iter().find(|(name, _)| of_file(name)).map(|x| x.1.stripe_bytes);
    let keep = p.caps.of(f.shown.len(), 100);
    let figure = offsets_of_file(f, &run.time(), keep, stripe);
    figure.map_or_else(|| html! {}, |figure| p.figure(&format!("offsets-{}", i + 1), figure))
}
