//! Access patterns, those of most bytes first, and the walk through the files with the most bytes.

use crate::analysis::FileAccesses;
use crate::pattern::PatternGroup;
use crate::record::{Op, stem};
use crate::render::html::page::Page;
use crate::render::html::plot::{LEVELS, Layer, Numbers, Plot, Scale, short};
use crate::render::html::run::Run;
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

/// Offsets over time of one file.
fn offsets(p: &mut Page<'_>, i: usize) {
    let run = p.run;
    let f: &FileAccesses = &run.offsets[i];
    if f.shown.is_empty() {
        return;
    }
    let top = f.shown.iter().map(|r| r.offset.saturating_add(r.size)).max().unwrap_or(1).max(1);
    let keep = p.caps.of(f.shown.len(), 100);
    let step = f.shown.len().div_ceil(keep.max(1)).max(1);
    let layer = |op: Op, name: &'static str| {
        let of_op: Vec<_> = f.shown.iter().step_by(step).filter(|r| r.op == op).collect();
        let box_of = |r: &&crate::record::Request| {
            let end = r.offset.saturating_add(r.size);
            [short_time(r.start - run.zero_s), r.offset as f64, short_time(r.end - run.zero_s), end as f64]
        };
        let labels = of_op.iter().map(|r| format!("{name} by rank {}", r.rank)).collect();
        let boxes: Vec<[f64; 4]> = of_op.iter().map(box_of).collect();
        (!boxes.is_empty()).then(|| Layer::Boxes { name: name.into(), class: name, boxes, labels })
    };
    let mut layers: Vec<Layer> = [layer(Op::Write, "write"), layer(Op::Read, "read")].into_iter().flatten().collect();
    layers.splice(0..0, stripes(run, &f.file, top));
    let some = if (f.shown.len().div_ceil(step) as u64) < f.all {
        format!(", {} of {}", f.shown.len().div_ceil(step), units::counted(f.all, "access"))
    } else {
        format!(", {}", units::counted(f.all, "access"))
    };
    let several = if f.files > 1 { format!(" ({} files)", units::grouped(f.files)) } else { String::new() };
    let name = format!("{}{several}", crate::render::layout::ending(&f.file, 70));
    p.h.elem("h3", &[], &format!("{name}{some}"));
    p.plot(Plot {
        id: format!("offsets-{}", i + 1),
        title: format!("Offsets over time: {name}"),
        desc: format!("Places in the file over time{some}; the highest byte is {}", units::bytes(top as f64)),
        height: 260.0,
        x: Scale { low: run.range.0, high: run.range.1, label: "Time", unit: "s", numbers: Numbers::Time },
        y: Scale { low: 0.0, high: 1.03 * top as f64, label: "Offset", unit: "B", numbers: Numbers::Prefixed },
        time: true,
        layers,
    });
}

/// Lines at the stripes of a file whose layout is known; of many stripes every second, fourth, ...
fn stripes(run: &Run, file: &str, top: u64) -> Option<Layer> {
    let of_file = |name: &str| name == file || stem(name) == file;
    let unit = run.layouts.iter().find(|(name, _)| of_file(name)).map(|x| x.1.stripe_bytes).filter(|u| *u > 0)?;
    let mut every = 1u64;
    while top / unit / every > LEVELS as u64 {
        every *= 2;
    }
    let name = match every {
        1 => format!("stripes of {}", units::bytes(unit as f64)),
        n => format!("every {n} stripes of {}", units::bytes(unit as f64)),
    };
    (unit <= top).then_some(Layer::Levels { name, class: "stripe", step: unit as f64 * every as f64 })
}

/// Times to the microsecond.
fn short_time(t: f64) -> f64 {
    if t.abs() < 1e6 { (t * 1e6).round() / 1e6 } else { short(t) }
}
