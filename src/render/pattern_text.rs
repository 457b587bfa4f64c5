//! Access patterns as text: one line each, and a summary by file.

use std::collections::HashMap;
use std::fmt::Write;

use super::layout::{Style, ending, heading, line, percent, warnings};
use super::units;
use crate::analysis::PatternsOfTrace;
use crate::pattern::{Coverage, Kind, PatternReport, PatternsReport};

/// Files and walks that a summary shows.
const FILES: usize = 3;
/// Letters of the name of a file: its end tells more than where it lies.
const NAME: usize = 48;
const WALKS: usize = 2;
/// Fields of a pattern.
const FIELDS: &str = "{operation, kind, rank, start s, start offset, end offset, size, accesses, stride}, kd-strided: (size, \
                      count, stride) of each loop";

/// The patterns of a trace, one per line in the order in which they began: `{operation, type, rank, start time, start offset,
/// end offset, access size, records, stride}`. A sequential pattern has no size and stride but a five-number summary of its
/// sizes; a kd-strided one has `(size, count, stride)` of each loop, outermost first. One that several ranks make together tells
/// them after its period: its outermost loop goes through them. So does one of reads that writes of the same bytes follow.
pub fn patterns(r: &PatternsOfTrace, verified: bool, style: Style) -> String {
    let mut out = heading(&r.trace.path, style);
    for p in &r.patterns {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", tuple(p));
        for n in &p.next {
            let size = n.size.map_or("-".into(), |s| s.to_string());
            let _ = writeln!(out, "    {}", style.faint(&format!("next offset={} size={size}", n.offset)));
        }
    }
    let mut head = units::counted(r.patterns.len() as u64, "pattern");
    if !r.patterns.is_empty() {
        let _ = write!(head, " for {}", covered(&r.coverage));
    }
    let _ = writeln!(out, "{}", style.bold(&format!("{}: {head}", r.trace.path)));
    if !r.patterns.is_empty() {
        files(&mut out, &r.patterns);
        line(&mut out, "fields", FIELDS);
    }
    let predicted = percent(r.coverage.predicted as f64 / r.coverage.records.max(1) as f64);
    line(&mut out, "predicted", &format!("{predicted} of the accesses, from those before them"));
    if verified {
        line(&mut out, "verified", "the patterns and the unmatched accesses are exactly the accesses of the trace");
    }
    warnings(&mut out, &r.warnings, style);
    out
}

pub(super) fn covered(c: &Coverage) -> String {
    if c.matched == c.records && c.folded_patterns == 0 {
        return format!("all {}", units::counted(c.records, "access"));
    }
    let of_bytes = percent(c.matched_bytes as f64 / c.bytes.max(1) as f64);
    let folded = match c.folded_patterns {
        0 => String::new(),
        n => format!("; {} of fewest bytes are not listed", units::counted(n, "pattern")),
    };
    format!(
        "{} of {} ({of_bytes} of the bytes){folded}",
        units::grouped(c.matched),
        units::counted(c.records, "access"),
    )
}

pub(super) fn tuple(p: &PatternReport) -> String {
    let place = format!(
        "{}, {}, {}, {}, {}, {}",
        p.op.name(),
        p.kind.name(),
        p.rank,
        if p.start_s.is_nan() { "-".to_owned() } else { format!("{:.6}", p.start_s) },
        p.start_offset,
        p.end_offset
    );
    let size = p.access_size.map_or("-".to_owned(), |s| s.to_string());
    let walk = match (p.kind, &p.size_summary) {
        (Kind::KdStrided, _) => {
            let loops = p.levels.iter().rev().map(|l| format!("({size}, {}, {})", l.count, l.stride));
            loops.collect::<Vec<_>>().join(", ")
        }
        (_, Some(s)) => format!("-, {}, -, ({}, {}, {}, {}, {})", p.records, s.min, s.q1, s.median, s.q3, s.max),
        _ => format!("{size}, {}, {}", p.records, p.stride.map_or("-".to_owned(), |s| s.to_string())),
    };
    let period = match (&p.period, &p.period_reason) {
        (Some(t), _) => format!("period={:.3}s confidence={:.2}", t.period_s, t.confidence),
        (None, Some(why)) => format!("period=none ({why})"),
        (None, None) => "period=none".into(),
    };
    let ranks = p.ranks.map_or(String::new(), |r| {
        let last = p.all_ranks().last().unwrap_or(p.rank);
        let step = if r.step == 1 { String::new() } else { format!(" step {}", r.step) };
        format!(" ranks={}-{last}{step}", p.rank)
    });
    let then = p.then.map_or(String::new(), |op| format!(" then={}", op.name()));
    format!("{{{place}, {walk}}} {period}{ranks}{then} file={}", p.file)
}

/// How the files with the most bytes are accessed.
pub(super) fn summary(out: &mut String, r: &PatternsReport) {
    if r.patterns.is_empty() {
        line(out, "patterns", &format!("none in {}", units::counted(r.coverage.records, "access")));
        return;
    }
    let count = units::counted(r.patterns.len() as u64, "pattern");
    let verb = if r.patterns.len() == 1 { "covers" } else { "cover" };
    line(out, "patterns", &format!("{count} {verb} {}", covered(&r.coverage)));
    files(out, &r.patterns);
}

/// One line for the files that are accessed alike, those of most bytes first.
fn files(out: &mut String, patterns: &[PatternReport]) {
    let mut files: HashMap<&str, Vec<&PatternReport>> = HashMap::new();
    patterns.iter().for_each(|p| files.entry(&p.file).or_default().push(p));
    let bytes = |ps: &[&PatternReport]| ps.iter().map(|p| u128::from(p.bytes)).sum::<u128>();
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(name, ps)| (std::cmp::Reverse(bytes(ps)), *name));
    let mut alike: Vec<(&str, String, usize)> = Vec::new();
    let mut place: HashMap<String, usize> = HashMap::new();
    for (name, ps) in &files {
        let walks = walks(ps);
        match place.get(&walks) {
            Some(&i) => alike[i].2 += 1,
            None => {
                place.insert(walks.clone(), alike.len());
                alike.push((name, walks, 1));
            }
        }
    }
    for (name, walks, count) in alike.iter().take(FILES) {
        let like = if *count > 1 { format!("{} files like ", units::grouped(*count)) } else { String::new() };
        line(out, "", &format!("{like}{}: {walks}", ending(name, NAME)));
    }
    match alike.iter().skip(FILES).map(|a| a.2).sum::<usize>() {
        0 => {}
        1 => line(out, "", "and 1 more file"),
        n => line(out, "", &format!("and {} more files", units::grouped(n))),
    }
}

/// Walks of the same kind, operation and size, those of most bytes first.
pub(super) fn walks(patterns: &[&PatternReport]) -> String {
    let mut alike: HashMap<_, Vec<&PatternReport>> = HashMap::new();
    for p in patterns {
        alike.entry((p.op, p.then, p.kind, p.access_size)).or_default().push(p);
    }
    let mut alike: Vec<_> = alike.into_iter().collect();
    alike.sort_by_key(|(key, ps)| (std::cmp::Reverse(ps.iter().map(|p| u128::from(p.bytes)).sum::<u128>()), *key));
    let mut shown: Vec<String> = alike
        .iter()
        .take(WALKS)
        .map(|((op, then, kind, size), ps)| {
            let mut ranks: Vec<u32> = ps.iter().flat_map(|p| p.all_ranks()).collect();
            ranks.sort_unstable();
            ranks.dedup();
            let size = size.map_or(String::new(), |s| format!(" of {}", units::bytes(s as f64)));
            let records: u64 = ps.iter().map(|p| p.records).sum();
            let every = ps.iter().filter_map(|p| p.period).max_by(|a, b| a.confidence.total_cmp(&b.confidence));
            let every = every.map_or(String::new(), |p| format!(", every {}", units::seconds(p.period_s)));
            let ranks = units::counted(ranks.len() as u64, "rank");
            let records = units::counted(records, "request");
            match then {
                Some(then) => {
                    format!("{} then {} of the same, {records}{size} by {ranks}{every}", op.name(), then.name())
                }
                None => format!("{} {}, {records}{size} by {ranks}{every}", kind.name(), op.name()),
            }
        })
        .collect();
    if alike.len() > WALKS {
        shown.push(units::counted((alike.len() - WALKS) as u64, "more kind"));
    }
    shown.join("; ")
}
