//! Access patterns as text: one line each, and a summary by file.

use std::fmt::Write;

use super::layout::{Style, fitted, heading, line, percent, warnings};
use super::units;
use crate::analysis::PatternsOfTrace;
use crate::pattern::{Coverage, Kind, PatternGroup, PatternReport, PatternsReport};

/// Groups that a summary shows.
const GROUPS: usize = 4;
/// Letters of the name of a file: its end tells more than where it lies.
const NAME: usize = 48;
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
        groups(&mut out, &r.groups);
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
    groups(out, &r.groups);
}

/// One line for each of the groups that move the most bytes.
fn groups(out: &mut String, groups: &[PatternGroup]) {
    for g in groups.iter().take(GROUPS) {
        let like = if g.files > 1 { format!("{} files like ", units::grouped(g.files)) } else { String::new() };
        let name = if g.file.is_empty() { String::new() } else { format!("{like}{}: ", fitted(&g.file, NAME)) };
        let every = g.period.map_or(String::new(), |p| format!(", every {}", units::seconds(p.period_s)));
        line(out, "", &format!("{name}{}{every}", walk(g)));
    }
    if let Some(more @ 1..) = groups.len().checked_sub(GROUPS) {
        line(out, "", &format!("and {}", units::counted(more as u64, "more group")));
    }
}

/// The walk of a group, without its files and its period.
pub(super) fn walk(g: &PatternGroup) -> String {
    let size = g.access_size.map_or(String::new(), |s| format!(" of {}", units::bytes(s as f64)));
    let (records, ranks) = (units::counted(g.records, "request"), units::counted(g.ranks, "rank"));
    match g.then {
        Some(then) => format!("{} then {} of the same, {records}{size} by {ranks}", g.op.name(), then.name()),
        None => format!("{} {}, {records}{size} by {ranks}", g.kind.name(), g.op.name()),
    }
}
