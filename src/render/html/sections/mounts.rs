//! Bytes and files by file system, and the layout of files on a parallel one.

use std::collections::BTreeMap;

use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};

/// Files whose layout is listed.
const LAYOUTS: (usize, usize) = (50, 10);

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    let mounts = run.info.counters.as_ref().map_or(&[][..], |c| &c.mounts);
    if mounts.is_empty() && run.layouts.is_empty() {
        p.absent.push(("File systems", "Darshan records the mounts, and with its Lustre module the stripes"));
        return;
    }
    p.section("mounts", "File systems", "Bytes through POSIX and STDIO by mount point.", |p| {
        let columns = [
            Column::text("Mount", "mount"),
            Column::text("Type", "type"),
            Column::number("Files", "files"),
            Column::number("Read", "bytes-read"),
            Column::number("Written", "bytes-written"),
        ];
        let rows = mounts.iter().take(50).map(|m| {
            vec![
                Cell::name(&m.path),
                Cell::text(&m.kind),
                Cell::count(Some(m.files)),
                Cell::bytes(m.bytes_read),
                Cell::bytes(m.bytes_written),
            ]
        });
        let id = p.id("mounts-table");
        if !mounts.is_empty() {
            table::table(&mut p.h, &id, "Mounted file systems", &columns, rows);
        }
        layouts(p);
    });
}

fn layouts(p: &mut Page<'_>) {
    let all = &p.run.layouts;
    if all.is_empty() {
        return;
    }
    let shown = p.caps.of(LAYOUTS.0, LAYOUTS.1).min(all.len());
    p.cut(shown, all.len(), "Layouts of files");
    let columns = [
        Column::text("File", "file"),
        Column::number("Stripe", "stripe"),
        Column::number("Stripes", "stripes"),
        Column::text("Storage targets", "osts"),
    ];
    let rows = all.iter().take(shown).map(|(name, l)| {
        let targets: Vec<String> = l.targets.iter().take(16).map(u64::to_string).collect();
        let more = if l.targets.len() > 16 { ", ..." } else { "" };
        vec![
            Cell::name(name),
            Cell::bytes(l.stripe_bytes),
            Cell::count(Some(l.stripes)),
            Cell::text(format!("{}{more}", targets.join(", "))),
        ]
    });
    let id = p.id("layouts");
    table::table(&mut p.h, &id, "Layout of files", &columns, rows);
    let mut targets: BTreeMap<u64, u64> = BTreeMap::new();
    all.iter().flat_map(|(_, l)| &l.targets).for_each(|t| *targets.entry(*t).or_default() += 1);
    let columns = [Column::number("Storage target", "ost"), Column::number("Stripes of files", "stripes")];
    let rows = targets.iter().take(200).map(|(t, n)| vec![Cell::count(Some(*t)), Cell::count(Some(*n))]);
    let id = p.id("targets");
    table::table(&mut p.h, &id, "Storage targets (OSTs)", &columns, rows);
}
