//! Tables of counters as text.

use super::layout::{Style, fitted, line, percent};
use super::listing::{Cell, Listing};
use super::units::{self, bytes, grouped as count};
use crate::analysis::CounterReport;

/// Families of files shown without `-v`.
const FAMILIES: usize = 8;
/// Ends of the bins of sizes.
const BINS: [&str; 10] =
    ["100 B", "1 KiB", "10 KiB", "100 KiB", "1 MiB", "4 MiB", "10 MiB", "100 MiB", "1 GiB", "more"];

fn add<T>(out: &mut String, table: &Listing<T>) {
    match &*table.text() {
        "" => {}
        text => out.extend(["\n", text, "\n"]),
    }
}

fn rank(rank: Option<u64>) -> Cell {
    rank.map_or_else(|| Cell::numeral("all"), Cell::count)
}

/// Appends the tables: cost, sizes, files, families and mounts.
pub(super) fn tables(out: &mut String, c: &CounterReport, style: Style) {
    let cost = Listing::of(&c.cost)
        .column("mean of ranks", "", |l| Cell::text(&l.layer))
        .column("reading", "", |l| Cell::seconds(l.read_s))
        .column("writing", "", |l| Cell::seconds(l.write_s))
        .column("metadata", "", |l| Cell::seconds(l.metadata_s))
        .column("slowest", "", |l| Cell::seconds(l.slowest_s))
        .column("rank", "", |l| rank(l.slowest_rank.map(u64::from)))
        .column("of the run", "", |l| Cell::share(l.share));
    add(out, &cost);
    let both = c
        .access_sizes
        .iter()
        .flat_map(|s| [("reads", &s.reads), ("writes", &s.writes)].map(|(what, n)| (format!("{} {what}", s.layer), n)));
    let some = both.filter(|(_, n)| n.iter().any(|n| *n > 0));
    let mut sizes = Listing::of(some).column("accesses up to", "", |(name, _)| Cell::text(name));
    let used = |i: usize| c.access_sizes.iter().any(|s| s.reads[i] + s.writes[i] > 0);
    for (i, bin) in BINS.into_iter().enumerate().filter(|(i, _)| used(*i)) {
        sizes = sizes.column(bin, "", |(_, n)| Cell::count(n[i]));
    }
    add(out, &sizes);
    for s in &c.access_sizes {
        let order = |name: &str, share: [f64; 2], calls: [u64; 2]| {
            let shares = ["reads", "writes"].into_iter().zip(share).zip(calls).filter(|x| x.1 > 0);
            let shares: Vec<String> = shares.map(|((what, x), _)| format!("{} of the {what}", percent(x))).collect();
            format!("{name} {}", shares.join(" and "))
        };
        let calls = [s.reads.iter().sum(), s.writes.iter().sum()];
        if let (Some(sequential), Some(consecutive)) = (s.sequential, s.consecutive) {
            let text = [order("sequential", sequential, calls), order("consecutive", consecutive, calls)].join(", ");
            line(out, "order", &format!("{}: {text}", s.layer));
        }
    }
    if let Some(hints) = &c.hints {
        line(out, "log hints", hints);
    }
    for s in c.access_sizes.iter().filter(|s| !s.common.is_empty()) {
        let common: Vec<String> =
            s.common.iter().take(4).map(|x| format!("{} × {} B", count(x.count), count(x.size))).collect();
        line(out, "common", &format!("{}: {}", s.layer, common.join(", ")));
    }
    let files = Listing::of(&c.files)
        .column("files", "", |f| Cell::text(format!("{} {}", f.layer, f.kind)))
        .column("number", "", |f| Cell::count(f.files))
        .column("mean size", "", |f| Cell::bytes(f.mean_bytes))
        .column("largest", "", |f| Cell::bytes(f.largest_bytes));
    add(out, &files);
    let shown = if style.verbose { usize::MAX } else { FAMILIES };
    let families = Listing::of(c.families.iter().take(shown))
        .column("sum of ranks", "", |f| {
            let several = if f.files > 1 { format!(" × {}", count(f.files)) } else { String::new() };
            Cell::text(format!("{}{several}", fitted(&f.file, 36)))
        })
        .column("ranks", "", |f| rank(f.ranks))
        .column("read", "", |f| Cell::bytes(f.bytes_read))
        .column("written", "", |f| Cell::bytes(f.bytes_written))
        .column("reading", "", |f| Cell::seconds(f.read_s))
        .column("writing", "", |f| Cell::seconds(f.write_s))
        .column("metadata", "", |f| Cell::seconds(f.metadata_s));
    add(out, &families);
    if c.families_total > shown as u64 {
        line(out, "more", &format!("{} further families of files", c.families_total - shown as u64));
    }
    for m in &c.mounts {
        let moved = format!("{} read, {} written", bytes(m.bytes_read as f64), bytes(m.bytes_written as f64));
        line(out, "mount", &format!("{} ({}): {}, {moved}", m.path, m.kind, units::counted(m.files, "file")));
    }
}
