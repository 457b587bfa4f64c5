//! Findings as cards, the costliest first.

use crate::findings::{Finding, Findings, RemedyReport};
use crate::render::findings::{MINOR, settings, short};
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::html::table::{self, Cell, Column};
use crate::render::html::writer::Html;
use crate::render::layout::percent;
use crate::render::units;

/// Times of a finding that the script shows in the pictures.
const WINDOWS: usize = 64;
/// Times and ranges in a row of the evidence.
const SOME: usize = 3;

pub fn section(p: &mut Page<'_>) {
    let f = &p.run.findings;
    let lead = "I/O problems, the costliest first. Costs overlap, so they do not add up.";
    p.section("findings", "Findings", lead, |p| {
        if f.findings.is_empty() {
            p.h.elem("p", &[], "No findings.");
        }
        if f.findings.len() > 1 {
            p.h.filter("Filter: text, severity");
        }
        let (minor, listed): (Vec<_>, Vec<_>) = f.findings.iter().enumerate().partition(|x| f.is_minor(x.1));
        cards(p, &listed);
        if !minor.is_empty() {
            let number = units::counted(minor.len() as u64, "finding");
            p.h.open("details", &[("class", "fold")]);
            p.h.elem("summary", &[], &format!("{number}{MINOR}"));
            cards(p, &minor);
            p.h.close("details");
        }
        good(&mut p.h, f);
        let id = p.id("unchecked");
        unchecked(&mut p.h, &id, f);
    });
}

/// Cards of findings, with their numbers.
fn cards(p: &mut Page<'_>, all: &[(usize, &Finding)]) {
    p.h.open("div", &[("class", "cards")]);
    for &(i, x) in all {
        let id = p.id(&format!("find-{}-{}", i + 1, x.code));
        card(&mut p.h, &id, p.run, x);
    }
    p.h.close("div");
}

fn card(h: &mut Html, id: &str, run: &Run, x: &Finding) {
    let f = &run.findings;
    let severity = x.severity.name();
    let class = format!("card {severity}");
    let rank = x.measured.get("rank").map(|r| format!("{r:.0}")).unwrap_or_default();
    let files: Vec<&str> = x.files.iter().map(|s| s.file.as_str()).collect();
    let files = files.join("\u{1}");
    let windows = windows(run, x);
    h.open(
        "div",
        &[
            ("class", &class),
            ("id", id),
            ("data-code", &x.code),
            ("data-severity", severity),
            ("data-rank", &rank),
            ("data-files", &files),
            ("data-windows", &windows),
        ],
    );
    h.open("h3", &[]);
    let icon = match severity {
        "critical" => "◆",
        "warning" => "▲",
        _ => "●",
    };
    h.elem("span", &[("class", "icon"), ("aria-hidden", "true")], icon);
    h.elem("span", &[("class", "severity")], severity);
    h.text(" ");
    h.elem("code", &[], &x.code);
    h.text(&format!(" {}: {}", x.name.replace('-', " "), x.title));
    h.close("h3");
    cost(h, f, x);
    if !x.detail.is_empty() {
        h.elem("p", &[], &x.detail);
    }
    if !x.also.is_empty() {
        h.elem("p", &[("class", "also")], &format!("The same requests: {}", x.also.join(", ")));
    }
    evidence(h, id, run, x);
    examples(h, id, run, x);
    remedies(h, x);
    h.open("details", &[("class", "fold")]);
    h.elem("summary", &[], "Why, and how it was measured");
    h.elem("p", &[], &x.why);
    let numbers = |all: &std::collections::BTreeMap<String, f64>| {
        all.iter()
            .map(|(name, v)| format!("{} {}", name.replace('_', " "), units::digits(*v)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let certainty = match x.certainty {
        crate::findings::Certainty::Exact => "exact, from single requests",
        crate::findings::Certainty::Bound => "bound, from counters",
        crate::findings::Certainty::Modelled => "the time comes from a model",
    };
    table::facts(
        h,
        &[
            ("Measured", Some(numbers(&x.measured))),
            ("Threshold", Some(numbers(&x.threshold))),
            ("Lost is", x.lost_basis.clone()),
            ("Certainty", Some(certainty.into())),
            ("Drishti", Some(x.drishti.join(", "))),
        ],
    );
    h.close("details");
    if !files.is_empty() || !windows.is_empty() {
        h.within("div", &[("class", "tools")], |h| {
            let button = [("type", "button"), ("data-key", "find"), ("data-value", &*x.code)];
            h.elem("button", &button, "Show in the page");
        });
    }
    h.close("div");
}

/// The time lost, or spent, as a bar against the run time.
fn cost(h: &mut Html, f: &Findings, x: &Finding) {
    let (word, s) = match (x.lost_s, x.time_s) {
        (Some(lost), _) if lost > 0.0 => ("lost", lost),
        (_, Some(time)) if time > 0.0 => ("spent in it", time),
        _ => return,
    };
    let share = if f.io.run_s > 0.0 { s / f.io.run_s } else { 0.0 };
    h.open("p", &[("class", "cost")]);
    let (max, value) = (format!("{}", f.io.run_s.max(s)), format!("{s}"));
    h.elem("meter", &[("min", "0"), ("max", &max), ("value", &value)], &percent(share));
    h.text(&format!(" {} {word}, {} of the run", short(s), percent(share)));
    if let (Some(time), true) = (x.time_s, word == "lost") {
        h.text(&format!("; {} spent in it", short(time)));
    }
    h.close("p");
}

/// The times of a finding on the clock of the page, for the script.
fn windows(run: &Run, x: &Finding) -> String {
    let all = x.files.iter().flat_map(|f| &f.windows).take(WINDOWS);
    let later = |t: f64| ((t - run.zero_s) * 1e6).round() / 1e6;
    all.map(|w| format!("{}:{}", later(w.start_s), later(w.end_s))).collect::<Vec<_>>().join(" ")
}

/// The first few of a list, as far as they say.
fn some<T>(all: &[T], text: impl Fn(&T) -> String) -> Cell {
    let shown: Vec<String> = all.iter().take(SOME).map(&text).collect();
    let more = if all.len() > SOME { ", ..." } else { "" };
    Cell::text(format!("{}{more}", shown.join(", ")))
}

fn examples(h: &mut Html, id: &str, run: &Run, x: &Finding) {
    if x.examples.is_empty() {
        return;
    }
    h.open("details", &[("class", "fold")]);
    h.elem("summary", &[], "Longest requests");
    let columns = [
        Column::number("Rank", "rank"),
        Column::text("File", "file"),
        Column::number("Offset", "offset"),
        Column::number("Size", "size"),
        Column::number("Start", "start"),
        Column::number("Duration", "duration"),
    ];
    let rows = x.examples.iter().map(|e| {
        let start = e.start_s - run.zero_s;
        vec![
            Cell::count(Some(e.rank.into())),
            Cell::name(&e.file),
            e.offset.map_or_else(|| Cell::text("-"), Cell::bytes),
            Cell::bytes(e.size),
            Cell::number(units::clock(start, (e.end_s - e.start_s).max(1e-6)), start),
            Cell::seconds(Some(e.end_s - e.start_s)),
        ]
    });
    table::table(h, &format!("{id}-requests"), &format!("Requests of {} with the most time", x.code), &columns, rows);
    h.close("details");
}

fn evidence(h: &mut Html, id: &str, run: &Run, x: &Finding) {
    if x.files.is_empty() {
        return;
    }
    let placed = x.files.iter().any(|s| !s.rank_list.is_empty() || !s.windows.is_empty() || !s.ranges.is_empty());
    let columns = [
        Column::text("Files", "file"),
        Column::number("Number", "files"),
        Column::number("Count", "count"),
        Column::number("Bytes", "bytes"),
        Column::number("Ranks", "ranks"),
        Column::number("Time of all ranks", "time"),
        Column::text("Which ranks", "which"),
        Column::text("When", "when"),
        Column::text("Bytes of the files", "ranges"),
    ];
    let resolution = (run.range.1 - run.range.0) / 1000.0;
    let clock = |t: f64| units::clock(t - run.zero_s, resolution);
    let rows = x.files.iter().map(|s| {
        let which = crate::render::classes::ranks(&s.rank_list);
        let cut = if s.rank_list.len() == 16 && s.ranks.is_some_and(|n| n > 16) { ", ..." } else { "" };
        vec![
            Cell::name(&s.file),
            Cell::count(Some(s.files)),
            Cell::count(Some(s.count)),
            Cell::bytes(s.bytes),
            s.ranks.map_or_else(|| Cell::text("all"), |n| Cell::count(Some(n))),
            Cell::seconds(Some(s.time_s)),
            Cell::text(format!("{which}{cut}")),
            some(&s.windows, |w| format!("{} to {}", clock(w.start_s), clock(w.end_s))),
            some(&s.ranges, |r| format!("{} to {}", units::bytes(r.start as f64), units::bytes(r.end as f64))),
        ]
    });
    let columns = &columns[..if placed { columns.len() } else { columns.len() - 3 }];
    let caption = format!("Where: {} in {}", x.code, units::counted(x.files_total, "file"));
    table::table(h, &format!("{id}-files"), &caption, columns, rows);
}

/// Remedies, those for what the trace shows before those for all systems.
fn remedies(h: &mut Html, x: &Finding) {
    if x.remedies.is_empty() {
        return;
    }
    let mut all: Vec<&RemedyReport> = x.remedies.iter().collect();
    let first = all[0].id.as_str();
    all.sort_by_key(|r| (r.id != first, r.system == "any"));
    h.open("ul", &[("class", "remedies")]);
    for r in all {
        h.open("li", &[]);
        for typed in r.commands.iter().cloned().chain(settings(r)) {
            h.copy("code", &typed);
            h.text(" ");
        }
        h.text(&r.why);
        let system = if r.system == "any" { String::new() } else { format!(" ({})", r.system) };
        h.text(&format!("{system}. "));
        if r.url.starts_with("https://") {
            h.elem("a", &[("href", &r.url), ("rel", "noreferrer")], "Source");
        }
        h.close("li");
    }
    h.close("ul");
}

fn good(h: &mut Html, f: &Findings) {
    if !f.ok.is_empty() {
        h.elem("p", &[("class", "good")], &format!("Checked and good: {}.", f.ok.join(", ")));
    }
}

fn unchecked(h: &mut Html, id: &str, f: &Findings) {
    if f.not_checked.is_empty() {
        return;
    }
    h.open("details", &[("class", "fold")]);
    h.elem("summary", &[], &format!("Not checked: {}", units::counted(f.not_checked.len() as u64, "code")));
    let columns = [Column::text("Code", "code"), Column::text("Name", "name"), Column::text("How to record it", "how")];
    let rows = f
        .not_checked
        .iter()
        .map(|n| vec![Cell::text(&n.code), Cell::text(n.name.replace('-', " ")), Cell::text(&n.how)]);
    table::table(h, id, "Codes that this trace cannot answer", &columns, rows);
    h.close("details");
}
