//! Bytes and files by file system, and the layout of files on a parallel one.

use maud::{Markup, html};

use crate::analysis::TargetUse;
use crate::render::html::page::Page;
use crate::render::listing::{Cell, Listing};

/// Files whose layout is listed.
const LAYOUTS: (usize, usize) = (50, 10);
/// Storage targets that are listed.
const TARGETS: (usize, usize) = (200, 20);

pub fn section(p: &mut Page<'_>) -> Markup {
    let run = p.run;
    let mounts = run.info.counters.as_ref().map_or(&[][..], |c| &c.mounts);
    if mounts.is_empty() && run.layouts.is_empty() {
        return p.without("File systems", "Darshan records the mounts, and with its Lustre module the stripes");
    }
    let mounted = Listing::of(mounts.iter().take(50))
        .column("Mount", "mount", |m| Cell::name(&m.path))
        .column("Type", "type", |m| Cell::text(&m.kind))
        .column("Files", "files", |m| Cell::count(m.files))
        .column("Read", "bytes-read", |m| Cell::bytes(m.bytes_read))
        .column("Written", "bytes-written", |m| Cell::bytes(m.bytes_written))
        .html(&p.id("mounts-table"), "Mounted file systems");
    let content = html! { (mounted) @if !run.layouts.is_empty() { (layouts(p)) (targets(p)) } };
    p.section("mounts", "File systems", "Bytes through POSIX and STDIO by mount point.", content)
}

fn layouts(p: &mut Page<'_>) -> Markup {
    let all = &p.run.layouts;
    let shown = p.shown(LAYOUTS, all.len(), "Layouts of files");
    Listing::of(&all[..shown])
        .column("File", "file", |(name, _)| Cell::name(name))
        .column("Stripe", "stripe", |(_, l)| Cell::bytes(l.stripe_bytes))
        .column("Stripes", "stripes", |(_, l)| Cell::count(l.stripes))
        .column("Storage targets", "osts", |(_, l)| {
            let targets: Vec<String> = l.targets.iter().take(16).map(u64::to_string).collect();
            let more = if l.targets.len() > 16 { ", ..." } else { "" };
            Cell::text(format!("{}{more}", targets.join(", ")))
        })
        .html(&p.id("layouts"), "Layout of files")
}

fn targets(p: &mut Page<'_>) -> Markup {
    let usage = &p.run.usage;
    let shown = p.shown(TARGETS, usage.targets.len(), "Storage targets");
    let bytes = |t: &TargetUse| t.bytes[0] + t.bytes[1];
    let mut order: Vec<&TargetUse> = usage.targets.iter().collect();
    order.sort_by(|a, b| bytes(b).total_cmp(&bytes(a)).then(a.target.cmp(&b.target)));
    let most = order.first().map_or(0.0, |t| bytes(t));
    let caption = if usage.targets_exact {
        "Storage targets (OSTs), bytes from the places of the requests"
    } else {
        "Storage targets (OSTs), the bytes of each file spread evenly over its targets"
    };
    Listing::of(order.into_iter().take(shown))
        .column("Storage target", "ost", |t| Cell::number(t.target.to_string(), t.target as f64))
        .column("Stripes of files", "stripes", |t| Cell::count(t.stripes))
        .column("Read", "bytes-read", |t| Cell::bytes(t.bytes[0].round() as u64))
        .column("Written", "bytes-written", |t| Cell::bytes(t.bytes[1].round() as u64))
        .column("Relative to the largest", "share", |t| Cell::bar(if most > 0.0 { bytes(t) / most } else { 0.0 }))
        .html(&p.id("targets"), caption)
}
