//! Findings as text: the answer, then two or three lines for each finding, the costliest first.

use std::fmt::Write;

use super::layout::{Style, line, shorten, warnings};
use super::{io_time, units};
use crate::findings::{Finding, Findings, RemedyReport, RuleText, Severity};

/// Findings shown without `-v`.
const SHOWN: usize = 6;
/// Notes shown without `-v`.
const NOTES: usize = 4;

/// Findings as text.
pub fn findings(f: &Findings, style: Style) -> String {
    let mut out = super::layout::heading(&f.trace.path, style);
    let _ = writeln!(out, "{}", style.bold(&headline(f)));
    if let Some(text) = io_time::parts(&f.io) {
        line(&mut out, "time", &text);
    }
    section(&mut out, f, style);
    out
}

/// The findings without the answer: as part of a longer text.
pub fn section(out: &mut String, f: &Findings, style: Style) {
    let (notes, real): (Vec<&Finding>, Vec<&Finding>) = f.findings.iter().partition(|x| x.severity == Severity::Info);
    let shown = if style.verbose { usize::MAX } else { SHOWN };
    for x in real.iter().take(shown) {
        finding(out, f, x, style);
    }
    if real.len() > shown {
        line(
            out,
            "more",
            &format!("{}; -v shows them", units::counted((real.len() - shown) as u64, "further finding")),
        );
    }
    if style.verbose {
        notes.iter().for_each(|x| finding(out, f, x, style));
    } else {
        for x in notes.iter().take(NOTES) {
            line(out, "note", &shorten(&format!("{} {}: {}", x.code, x.name, x.detail), 67));
        }
        if notes.len() > NOTES {
            line(
                out,
                "more",
                &format!("{}; -v shows them", units::counted((notes.len() - NOTES) as u64, "further note")),
            );
        }
    }
    if !f.ok.is_empty() {
        line(out, "good", &f.ok.join(", "));
    }
    let mut needs: Vec<&str> = f.not_checked.iter().map(|n| n.needs.as_str()).collect();
    needs.sort_unstable();
    needs.dedup();
    for need in needs {
        let all: Vec<_> = f.not_checked.iter().filter(|n| n.needs == need).collect();
        let how = all.first().map_or("", |n| n.how.as_str());
        let text = if style.verbose {
            let codes: Vec<&str> = all.iter().map(|n| n.code.as_str()).collect();
            format!("{}: {how}", codes.join(", "))
        } else {
            format!("{}: {how}", units::counted(all.len() as u64, "code"))
        };
        if style.verbose || matches!(need, "requests" | "counters") {
            line(out, "unchecked", &text);
        }
    }
    warnings(out, if style.verbose { &f.warnings } else { &[] }, style);
}

pub(super) fn headline(f: &Findings) -> String {
    let real: Vec<&Finding> = f.findings.iter().filter(|x| x.severity != Severity::Info).collect();
    let share = io_time::share(&f.io);
    let costliest = real.iter().filter_map(|x| x.lost_s.or(x.time_s)).fold(0.0, f64::max);
    match real.len() {
        0 => format!("{share}; no findings"),
        n if costliest > 0.0 => {
            format!("{share}; {}, the costliest {}", units::counted(n as u64, "finding"), short(costliest))
        }
        n => format!("{share}; {}", units::counted(n as u64, "finding")),
    }
}

/// Seconds without minutes and hours behind them.
pub(super) fn short(s: f64) -> String {
    let text = units::seconds(s);
    text.split(" (").next().unwrap_or_default().to_owned()
}

fn finding(out: &mut String, f: &Findings, x: &Finding, style: Style) {
    let cost = match (x.lost_s, x.time_s) {
        (Some(lost), _) if lost > 0.0 => Some(("lost", lost)),
        (_, Some(time)) if time > 0.0 => Some(("time", time)),
        _ => None,
    };
    let of_run =
        |s: f64| if f.io.run_s > 0.0 { format!(", {:.0} % of the run", 100.0 * s / f.io.run_s) } else { String::new() };
    let cost = cost.map_or(String::new(), |(word, s)| format!("  {word} {}{}", short(s), of_run(s)));
    let color = match x.severity {
        Severity::Critical => "31",
        Severity::Warning => "33",
        _ => "2",
    };
    let severity = style.paint(color, &format!("{:<8}", x.severity.name()));
    let _ = writeln!(out, "{severity} {} {}{cost}", x.code, x.name);
    let files: Vec<String> = x
        .files
        .iter()
        .take(if style.verbose { 5 } else { 1 })
        .map(|s| {
            let several =
                if s.files > 1 { format!(" ({} files)", units::grouped(s.files as i64)) } else { String::new() };
            format!("{}{several}", super::layout::ending(&s.file, 48))
        })
        .collect();
    let detail = if x.detail.is_empty() { x.title.clone() } else { x.detail.clone() };
    let place = if files.is_empty() { String::new() } else { format!("{}: ", files.join(", ")) };
    line(out, "", &format!("{place}{detail}"));
    let also = if x.also.is_empty() { String::new() } else { format!("also {}", x.also.join(", ")) };
    let shown = if style.verbose { x.remedies.len() } else { 1 };
    // of the first remedy, the settings for what the trace shows are better than those for all
    let mut remedies: Vec<_> = x.remedies.iter().collect();
    let first = remedies.first().map_or("", |r| r.id.as_str());
    remedies.sort_by_key(|r| (r.id != first, r.system == "any"));
    for (i, r) in remedies.into_iter().take(shown).enumerate() {
        let settings = settings(r);
        let end = if i == 0 && !also.is_empty() { format!("; {also}") } else { String::new() };
        let why = if style.verbose { format!(": {}{}", r.why, address(&r.url)) } else { String::new() };
        line(out, "set", &format!("{}{why}{end}", settings.join(", ")));
    }
    if x.remedies.is_empty() && !also.is_empty() {
        line(out, "", &also);
    }
    if style.verbose {
        let numbers = |all: &std::collections::BTreeMap<String, f64>| {
            let text = |v: f64| if v != 0.0 && v.abs() < 1e-6 { format!("{v:.1e}") } else { units::digits(v) };
            all.iter().map(|(name, v)| format!("{name} {}", text(*v))).collect::<Vec<_>>().join(", ")
        };
        line(out, "measured", &format!("{}; fires from {}", numbers(&x.measured), numbers(&x.threshold)));
        if let Some(basis) = &x.lost_basis {
            line(out, "lost is", basis);
        }
    }
}

fn address(url: &str) -> String {
    if url.is_empty() { String::new() } else { format!(" ({url})") }
}

/// The list of all findings.
pub fn list(rules: &[RuleText]) -> String {
    let mut out = String::new();
    for r in rules {
        let _ = writeln!(out, "{} {:<22} {:<8} {}", r.code, r.name, r.level, r.title);
    }
    out
}

/// All that is known of a finding.
pub fn explain(r: &RuleText, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", style.bold(&format!("{} {}: {}", r.code, r.name, r.title)));
    line(&mut out, "measured", &r.measured);
    line(&mut out, "why", &r.why);
    let limits: Vec<String> = r.limits.iter().map(|(name, x)| format!("{name} = {x}")).collect();
    if !limits.is_empty() {
        line(&mut out, "limits", &limits.join(", "));
    }
    line(&mut out, "level", r.level);
    line(&mut out, "needs", &r.needs);
    if !r.drishti.is_empty() {
        line(&mut out, "drishti", &r.drishti.join(", "));
    }
    for remedy in &r.remedies {
        let settings = settings(remedy);
        let text = format!("{}: {}{}", settings.join(", "), remedy.why, address(&remedy.url));
        line(&mut out, &remedy.system, &text);
    }
    out
}

/// The settings of a remedy; a name of two words is a command.
pub(super) fn settings(remedy: &RemedyReport) -> Vec<String> {
    let one = |(name, value): (&String, &String)| {
        if name.contains(' ') { format!("{name} {value}") } else { format!("{name}={value}") }
    };
    remedy.settings.iter().map(one).collect()
}
