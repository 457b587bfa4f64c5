//! Access sizes, by layer.

use crate::analysis::SizeUse;
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};
use crate::render::units;

pub fn section(p: &mut Page<'_>) {
    let sizes = &p.run.usage.sizes;
    let used = |s: &&SizeUse| s.classes.iter().any(|c| c.reads + c.writes > 0);
    if !sizes.iter().any(|s| used(&s)) {
        p.absent.push(("Access sizes", "record counters with Darshan, or single requests with DXT or strace"));
        return;
    }
    p.section("sizes", "Access sizes", "Reads and writes by the bytes of one access.", |p| {
        for s in p.run.usage.sizes.iter().filter(used) {
            layer(p, s);
        }
    });
}

fn layer(p: &mut Page<'_>, s: &SizeUse) {
    let most = s.classes.iter().map(|c| c.reads.max(c.writes)).max().unwrap_or(0).max(1);
    let exact = s.classes.iter().any(|c| c.bytes.is_some());
    let id = p.id(&format!("sizes-{}", s.layer));
    p.h.elem("h3", &[], &s.layer);
    let mut columns =
        vec![Column::text("Up to", "size"), Column::number("Reads", "reads"), Column::number("Writes", "writes")];
    if exact {
        columns.extend([Column::number("Read", "bytes-read"), Column::number("Written", "bytes-written")]);
    }
    columns.extend([Column::bar("Reads", "reads-bar"), Column::bar("Writes", "writes-bar")]);
    let rows = s.classes.iter().map(|c| {
        let up_to = c.up_to.map_or_else(|| "more".into(), |n| units::bytes(n as f64));
        let mut row = vec![Cell::text(up_to), Cell::count(Some(c.reads)), Cell::count(Some(c.writes))];
        if let Some((read, written)) = c.bytes {
            row.extend([Cell::bytes(read), Cell::bytes(written)]);
        }
        row.extend([c.reads, c.writes].map(|n| if n > 0 { Cell::bar(n as f64 / most as f64) } else { Cell::text("") }));
        row
    });
    table::table(&mut p.h, &id, &format!("Accesses by size ({})", s.layer), &columns, rows);
    if !s.common.is_empty() {
        let common: Vec<String> = s
            .common
            .iter()
            .map(|(size, n)| format!("{} ({})", units::bytes(*size as f64), units::grouped(*n)))
            .collect();
        let text = format!("Common sizes, from the four of each file: {}.", common.join(", "));
        p.h.elem("p", &[], &text);
    }
}
