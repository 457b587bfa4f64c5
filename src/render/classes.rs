//! Access classes as text: for each file what the job does to it, when, who, and what to set.

use std::collections::HashMap;
use std::fmt::Write;

use super::layout::{Style, faint_line, fitted, heading, line, warnings};
use super::units;
use crate::classify::{Advice, Axis, Classes, Classifier, Expected, FileClasses, GlobalClass};

/// Files shown without `--verbose`.
const FILES: usize = 12;
/// Letters of the name of a file: its end tells more than where it lies.
const NAME: usize = 56;
/// Global classes shown of one file without `--verbose`.
const CLASSES: usize = 6;

/// Classes as text, the file that moves most bytes first.
pub fn classes(c: &Classes, style: Style) -> String {
    let mut out = heading(&c.path, style);
    let moved = |f: &FileClasses| f.global.iter().map(|g| g.bytes).fold(0, u64::saturating_add);
    // files that are treated alike are shown once
    let mut order: Vec<(&FileClasses, usize)> = Vec::new();
    let mut place: HashMap<Vec<_>, usize> = HashMap::new();
    let mut files: Vec<&FileClasses> = c.files.iter().collect();
    files.sort_by_key(|f| std::cmp::Reverse(moved(f)));
    for f in files {
        let classes: Vec<_> = f.global.iter().map(|g| (g.sequentiality, g.mix, g.size, g.ranks.len())).collect();
        match place.get(&classes) {
            Some(&i) if !style.verbose => order[i].1 += 1,
            _ => {
                place.insert(classes, order.len());
                order.push((f, 0));
            }
        }
    }
    let shown = if style.verbose { order.len() } else { order.len().min(FILES) };
    for &(f, alike) in &order[..shown] {
        file(&mut out, f, moved(f), alike, style);
    }
    if shown < order.len() {
        let rest = order[shown..].iter().map(|(_, alike)| 1 + alike).sum::<usize>();
        let _ = writeln!(out, "{} (-v shows them)", units::counted(rest as u64, "more file"));
    }
    advice(&mut out, &c.advice, style);
    let name = if style.several { String::new() } else { format!("{}: ", c.path) };
    line(&mut out, "trace", &format!("{name}{}", units::counted(c.records, "access")));
    warnings(&mut out, &c.warnings, style);
    out
}

fn file(out: &mut String, f: &FileClasses, moved: u64, alike: usize, style: Style) {
    let name = fitted(f.file.as_deref().unwrap_or("(no name)"), NAME);
    let more =
        if alike > 0 { format!("; {} like it", units::counted(alike as u64, "more file")) } else { String::new() };
    let _ = writeln!(out, "{}", style.bold(&format!("{name}: {} moved{more}", units::bytes(moved as f64))));
    let shown = if style.verbose { f.global.len() } else { f.global.len().min(CLASSES) };
    if shown > 0 {
        let heading = format!("  {:<22} {:<10} {:<13} ranks, time", "class", "access", "request sizes");
        let _ = writeln!(out, "{}", style.faint(&heading));
    }
    for g in &f.global[..shown] {
        class(out, g);
    }
    if shown < f.global.len() {
        let _ =
            writeln!(out, "  and {} (-v shows them)", units::counted((f.global.len() - shown) as u64, "more segment"));
    }
    if let Some(a) = &f.aside {
        let facts = format!(
            "{} of at most {} by {}, {} in all: small ones between the data, as a library makes for its headers and indices",
            units::counted(a.accesses, "access"),
            units::bytes(a.largest_bytes as f64),
            ranks(&a.ranks),
            units::bytes(a.bytes as f64),
        );
        line(out, "set aside", &facts);
    }
    if let Some(e) = &f.expected {
        expected(out, e);
    }
    let mut seen = std::collections::HashSet::new();
    let all = f.global.iter().flat_map(|g| &g.advice).filter(|a| seen.insert((&a.policy, &a.hints)));
    advice(out, all, style);
}

fn advice<'a>(out: &mut String, all: impl IntoIterator<Item = &'a Advice>, style: Style) {
    for a in all {
        // a name of two words is a command
        let hint = |(k, v): (&String, &String)| if k.contains(' ') { format!("{k} {v}") } else { format!("{k} = {v}") };
        line(out, "advice", &format!("{}: {}", a.policy.replace('-', " "), a.why));
        // each is copied as it stands
        a.hints.iter().for_each(|h| faint_line(out, "", &hint(h), style));
    }
}

/// The forecast from earlier runs, known when the file was opened.
fn expected(out: &mut String, e: &Expected) {
    let mut classes: Vec<String> =
        e.global.iter().take(CLASSES).map(|c| format!("{} {}", c.sequentiality.name(), c.mix.name())).collect();
    if e.global.len() > CLASSES {
        classes.push("...".into());
    }
    let passes = if e.passes >= 1.5 { format!(", {:.0} passes", e.passes) } else { String::new() };
    let (bytes, runs) = (units::bytes(e.bytes as f64), units::counted(e.runs, "run"));
    let facts = format!("{}; {bytes}{passes} (from {runs} of {})", classes.join(", then "), e.learned_from);
    line(out, "expected", &facts);
}

fn class(out: &mut String, g: &GlobalClass) {
    let resolution = (g.end_s - g.start_s) / 10.0;
    let start = units::clock(g.start_s, resolution);
    let when = match g.start_s.is_nan() {
        true => "no times".to_owned(),
        false => format!("{} to {}", start.trim_end_matches(" s"), units::clock(g.end_s, resolution)),
    };
    let _ = writeln!(
        out,
        "  {:<22} {:<10} {:<13} {}, {}{}",
        g.sequentiality.name(),
        g.mix.name(),
        g.size.name(),
        ranks(&g.ranks),
        when,
        match g.classifier {
            Classifier::Rules => "",
            Classifier::Network => " (network)",
            Classifier::Markov => " (earlier runs)",
        }
    );
    if g.staggered {
        let _ = writeln!(out, "  {:<22} one rank after the other", "");
    }
}

/// `rank 3`, `4 ranks (0-3)`, `5 ranks (0-3, 9)`.
pub(super) fn ranks(all: &[u32]) -> String {
    if let [one] = all {
        return format!("rank {one}");
    }
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &r in all {
        match parts.last_mut() {
            Some(p) if p.1 + 1 == r => p.1 = r,
            _ => parts.push((r, r)),
        }
    }
    let shown: Vec<String> =
        parts.iter().take(4).map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    let more = if parts.len() > 4 { ", ..." } else { "" };
    format!("{} ranks ({}{more})", all.len(), shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_written_as_ranges() {
        assert_eq!(ranks(&[3]), "rank 3");
        assert_eq!(ranks(&[0, 1, 2, 3, 9]), "5 ranks (0-3, 9)");
        assert_eq!(ranks(&[0, 2, 4, 6, 8]), "5 ranks (0, 2, 4, 6, ...)");
    }
}
