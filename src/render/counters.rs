//! Tables of counters as text.

use comfy_table::{CellAlignment, Table, presets};

use super::layout::{Style, ending, line, percent};
use super::units;
use crate::analysis::CounterReport;

/// Families of files shown without `-v`.
const FAMILIES: usize = 8;

/// A table whose first column is text.
fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut t = Table::new();
    t.load_style(presets::NOTHING);
    t.set_header(header.iter().enumerate().map(|(i, h)| if i == 0 { format!("  {h}") } else { (*h).to_owned() }));
    for mut row in rows {
        if let Some(first) = row.first_mut() {
            first.insert_str(0, "  ");
        }
        t.add_row(row);
    }
    for c in t.column_iter_mut().skip(1) {
        c.set_cell_alignment(CellAlignment::Right);
    }
    t.trim_fmt()
}

fn bytes(n: u64) -> String {
    units::bytes(n as f64)
}

fn size(n: Option<u64>) -> String {
    n.map_or("-".to_owned(), bytes)
}

fn count(n: u64) -> String {
    units::grouped(n)
}

/// Seconds without minutes and hours behind them.
fn seconds(s: f64) -> String {
    units::seconds(s).split(" (").next().unwrap_or_default().to_owned()
}

/// Appends the tables: cost, sizes, files, families and mounts.
pub(super) fn tables(out: &mut String, c: &CounterReport, style: Style) {
    let mut add = |text: String| {
        out.push('\n');
        out.push_str(&text);
        out.push('\n');
    };
    let rank = |r: Option<u64>| r.map_or("all".to_owned(), |r| r.to_string());
    let cost = c.cost.iter().map(|l| {
        let times = [l.read_s, l.write_s, l.metadata_s, l.slowest_s].map(seconds);
        let mut row = vec![l.layer.clone()];
        row.extend(times);
        row.push(rank(l.slowest_rank.map(u64::from)));
        row.push(l.share.map_or("-".into(), percent));
        row
    });
    add(table(&["mean of ranks", "reading", "writing", "metadata", "slowest", "rank", "of the run"], cost));
    let bins = ["100 B", "1 KiB", "10 KiB", "100 KiB", "1 MiB", "4 MiB", "10 MiB", "100 MiB", "1 GiB", "more"];
    let mut header = vec!["accesses up to"];
    let used = |i: usize| c.access_sizes.iter().any(|s| s.reads[i] + s.writes[i] > 0);
    header.extend((0..bins.len()).filter(|&i| used(i)).map(|i| bins[i]));
    let sizes = c.access_sizes.iter().flat_map(|s| {
        [("reads", &s.reads), ("writes", &s.writes)].into_iter().filter(|(_, n)| n.iter().any(|n| *n > 0)).map(
            |(what, n)| {
                let mut row = vec![format!("{} {what}", s.layer)];
                row.extend((0..bins.len()).filter(|&i| used(i)).map(|i| count(n[i])));
                row
            },
        )
    });
    add(table(&header, sizes));
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
    let mut add = |text: String| {
        out.push('\n');
        out.push_str(&text);
        out.push('\n');
    };
    let files = c
        .files
        .iter()
        .map(|f| vec![format!("{} {}", f.layer, f.kind), count(f.files), size(f.mean_bytes), size(f.largest_bytes)]);
    add(table(&["files", "number", "mean size", "largest"], files));
    let shown = if style.verbose { usize::MAX } else { FAMILIES };
    let families = c.families.iter().take(shown).map(|f| {
        let several = if f.files > 1 { format!(" × {}", count(f.files)) } else { String::new() };
        let mut row = vec![format!("{}{several}", ending(&f.file, 36)), rank(f.ranks)];
        row.extend([bytes(f.bytes_read), bytes(f.bytes_written)]);
        row.extend([f.read_s, f.write_s, f.metadata_s].map(seconds));
        row
    });
    add(table(&["sum of ranks", "ranks", "read", "written", "reading", "writing", "metadata"], families));
    if c.families_total > shown as u64 {
        line(out, "more", &format!("{} further families of files", c.families_total - shown as u64));
    }
    for m in &c.mounts {
        let moved = format!("{} read, {} written", bytes(m.bytes_read), bytes(m.bytes_written));
        line(out, "mount", &format!("{} ({}): {}, {moved}", m.path, m.kind, units::counted(m.files, "file")));
    }
}
