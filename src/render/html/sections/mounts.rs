//! Bytes and files by file system, and the layout of files on a parallel one.

use crate::analysis::TargetUse;
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};

/// Files whose layout is listed.
const LAYOUTS: (usize, usize) = (50, 10);
/// Storage targets that are listed.
const TARGETS: (usize, usize) = (200, 20);

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
    targets(p);
}

fn targets(p: &mut Page<'_>) {
    let all = &p.run.usage.targets;
    let shown = p.caps.of(TARGETS.0, TARGETS.1).min(all.len());
    p.cut(shown, all.len(), "Storage targets");
    let most = all.iter().map(|t| t.bytes[0] + t.bytes[1]).fold(0.0, f64::max);
    let mut order: Vec<&TargetUse> = all.iter().collect();
    order.sort_by(|a, b| (b.bytes[0] + b.bytes[1]).total_cmp(&(a.bytes[0] + a.bytes[1])).then(a.target.cmp(&b.target)));
    let columns = [
        Column::number("Storage target", "ost"),
        Column::number("Stripes of files", "stripes"),
        Column::number("Read", "bytes-read"),
        Column::number("Written", "bytes-written"),
        Column::bar("Relative to the largest", "share"),
    ];
    let rows = order.iter().take(shown).map(|t| {
        let share = if most > 0.0 { (t.bytes[0] + t.bytes[1]) / most } else { 0.0 };
        vec![
            Cell::number(t.target.to_string(), t.target as f64),
            Cell::count(Some(t.stripes)),
            Cell::bytes(t.bytes[0].round() as u64),
            Cell::bytes(t.bytes[1].round() as u64),
            Cell::bar(share),
        ]
    });
    let caption = if p.run.usage.targets_exact {
        "Storage targets (OSTs), bytes from the places of the requests"
    } else {
        "Storage targets (OSTs), the bytes of each file spread evenly over its targets"
    };
    let id = p.id("targets");
    table::table(&mut p.h, &id, caption, &columns, rows);
}
