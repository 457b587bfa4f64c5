//! Findings as text: the answer, then two or three lines for each finding, the costliest first.

use std::fmt::Write;

use super::io_time;
use super::layout::{self, Style, line, warnings};
use super::units::{self, short_seconds};
use crate::findings::{Finding, Findings, RemedyReport, RuleText, Severity};

/// Findings above `info`, and others, that are shown without `-v`.
const SHOWN: [usize; 2] = [6, 4];

/// Findings as text.
pub fn findings(f: &Findings, style: Style) -> String {
    let mut out = layout::heading(&f.trace.path, style);
    layout::headline(&mut out, &headline(f), style);
    if let Some(text) = io_time::parts(&f.io) {
        line(&mut out, "time", &text);
    }
    section(&mut out, f, style);
    out
}

/// The findings without the answer: as part of a longer text.
pub fn section(out: &mut String, f: &Findings, style: Style) {
    let (minor, all): (Vec<&Finding>, Vec<&Finding>) = f.findings.iter().partition(|x| f.is_minor(x));
    let (slight, severe): (Vec<&Finding>, Vec<&Finding>) = all.iter().partition(|x| x.severity == Severity::Info);
    if style.verbose {
        f.findings.iter().for_each(|x| finding(out, f, x, style));
    } else {
        severe.iter().take(SHOWN[0]).for_each(|x| finding(out, f, x, style));
        for x in slight.iter().take(SHOWN[1]) {
            line(out, x.severity.name(), &format!("{} {}: {}", x.code, x.name, said(x)));
        }
        let more = severe.len().saturating_sub(SHOWN[0]) + slight.len().saturating_sub(SHOWN[1]);
        let counted = |n: usize, what: &str| format!("{}; -v shows them", units::counted(n as u64, what));
        if more > 0 {
            line(out, "more", &counted(more, "finding"));
        }
        if !minor.is_empty() {
            line(out, "folded", &counted(minor.len(), MINOR));
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

/// The first findings that cost more than the limit of those that are folded.
pub(super) fn costliest(out: &mut String, f: &Findings, most: usize, style: Style) {
    f.findings.iter().filter(|x| !f.is_minor(x)).take(most).for_each(|x| finding(out, f, x, style));
}

pub(super) fn headline(f: &Findings) -> String {
    let share = io_time::share(&f.io);
    format!("{share}; {}", number(f))
}

/// How many findings there are, and what the costliest takes.
fn number(f: &Findings) -> String {
    let (minor, all): (Vec<&Finding>, Vec<&Finding>) = f.findings.iter().partition(|x| f.is_minor(x));
    let counted = |n: usize| units::counted(n as u64, "finding");
    let severe: Vec<&&Finding> = all.iter().filter(|x| x.severity != Severity::Info).collect();
    let costliest = severe.iter().filter_map(|x| x.lost_s.or(x.time_s)).fold(0.0, f64::max);
    let cost = if costliest > 0.0 { format!(", the costliest {}", short_seconds(costliest)) } else { String::new() };
    match (severe.len(), all.len() - severe.len(), minor.len()) {
        (0, 0, 0) => "no findings".to_owned(),
        (0, 0, n) => units::counted(n as u64, MINOR),
        (0, n, _) => format!("{} of level info", counted(n)),
        (n, 0, _) => format!("{}{cost}", counted(n)),
        (n, k, _) => format!("{}{cost}; {k} of level info", counted(n)),
    }
}

/// A finding that texts count and do not list.
pub(super) const MINOR: &str = "minor finding";

/// The evidence, else the title.
fn said(x: &Finding) -> &str {
    if x.detail.is_empty() { &x.title } else { &x.detail }
}

/// The cost of a finding: `lost` or `time`, and seconds.
pub(super) fn cost(x: &Finding) -> Option<(&'static str, f64)> {
    let some = |word, s: Option<f64>| s.filter(|s| *s > 0.0).map(|s| (word, s));
    some("lost", x.lost_s).or_else(|| some("time", x.time_s))
}

/// The remedies of a finding: of the first one, the settings for what the trace shows before those for all.
pub(super) fn remedies(x: &Finding) -> Vec<&RemedyReport> {
    let mut all: Vec<&RemedyReport> = x.remedies.iter().collect();
    let first = x.remedies.first().map_or("", |r| &r.id);
    all.sort_by_key(|r| (r.id != first, r.system == "any"));
    all
}

fn finding(out: &mut String, f: &Findings, x: &Finding, style: Style) {
    let of_run = |s: f64| match f.io.run_s {
        run_s if run_s > 0.0 => format!(", {} % of the run", io_time::percent(s / run_s)),
        _ => String::new(),
    };
    let cost = cost(x).map_or(String::new(), |(word, s)| format!("  {word} {}{}", short_seconds(s), of_run(s)));
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
            let several = if s.files > 1 { format!(" ({} files)", units::grouped(s.files)) } else { String::new() };
            format!("{}{several}", super::layout::fitted(&s.file, 48))
        })
        .collect();
    let place = if files.is_empty() { String::new() } else { format!("{}: ", files.join(", ")) };
    line(out, "", &format!("{place}{}", said(x)));
    let also = if x.also.is_empty() { String::new() } else { format!("also {}", x.also.join(", ")) };
    let shown = if style.verbose { x.remedies.len() } else { 1 };
    remedies(x).into_iter().take(shown).for_each(|r| remedy(out, r, style));
    if !also.is_empty() {
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

/// Commands and settings as they are typed, each on its own line; and what to do, if there are none.
fn remedy(out: &mut String, r: &RemedyReport, style: Style) {
    // what is copied from a terminal has to stand on one line
    let mut typed = |name: &str, text: &str| {
        let _ = writeln!(out, "  {name:<10} {text}");
    };
    r.commands.iter().for_each(|command| typed("run", command));
    settings(r).for_each(|setting| typed("set", &setting));
    if style.verbose || r.commands.is_empty() && r.settings.is_empty() {
        line(out, "do", &format!("{}{}", r.why, if style.verbose { address(&r.url) } else { String::new() }));
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
        let typed: String = remedy.commands.iter().cloned().chain(settings(remedy)).map(|text| text + ": ").collect();
        line(&mut out, &remedy.system, &format!("{typed}{}{}", remedy.why, address(&remedy.url)));
    }
    out
}

/// The settings of a remedy as they are typed.
pub(super) fn settings(remedy: &RemedyReport) -> impl Iterator<Item = String> + '_ {
    remedy.settings.iter().map(|(name, value)| format!("{name}={value}"))
}
