//! Findings as cards, the costliest first.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::findings::{Certainty, Finding, Findings};
use crate::render::findings::{MINOR, cost, remedies, settings};
use crate::render::html::markup::{Said, copy, facts, filter, fold};
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::layout::percent;
use crate::render::listing::{Cell, Listing};
use crate::render::units::{self, short_seconds};

/// Times of a finding that the script shows in the pictures.
const WINDOWS: usize = 64;
/// Times and ranges in a row of the evidence.
const SOME: usize = 3;

pub fn section(p: &mut Page<'_>) -> Markup {
    let f = &p.run.findings;
    let (minor, listed): (Vec<_>, Vec<_>) = f.findings.iter().enumerate().partition(|x| f.is_minor(x.1));
    let cards = |all: &[(usize, &Finding)]| {
        html! { div.cards { @for &(i, x) in all { (card(&p.id(&format!("find-{}-{}", i + 1, x.code)), p.run, x)) } } "\n" }
    };
    let content = html! {
        @if f.findings.is_empty() { p { "No findings." } }
        @if f.findings.len() > 1 { (filter("Filter: text, severity")) }
        (cards(&listed))
        @if !minor.is_empty() {
            (fold(&units::counted(minor.len() as u64, MINOR), cards(&minor)))
        }
        @if !f.ok.is_empty() { p.good { "Checked and good: " (f.ok.join(", ")) "." } }
        (unchecked(&p.id("unchecked"), f))
    };
    let lead = "I/O problems, the costliest first. Costs overlap, so they do not add up.";
    p.section("findings", "Findings", lead, content)
}

fn card(id: &str, run: &Run, x: &Finding) -> Markup {
    let severity = x.severity.name();
    let rank = x.measured.get("rank").map(|r| format!("{r:.0}")).unwrap_or_default();
    let files = x.files.iter().map(|s| s.file.as_str()).collect::<Vec<_>>().join("\u{1}");
    let windows = windows(run, x);
    let icon = match severity {
        "critical" => "◆",
        "warning" => "▲",
        _ => "●",
    };
    html! {
        div.card.(severity) id=(id) data-code=(x.code) data-severity=(severity) data-rank=(rank)
            data-files=(crate::render::html::markup::whole(&files)) data-windows=(windows) {
            h3 {
                span.icon aria-hidden="true" { (icon) } span.severity { (severity) } " "
                code { (x.code) } " " (x.name.replace('-', " ")) ": " (Said(&x.title))
            }
            (price(&run.findings, x))
            @if !x.detail.is_empty() { p { (Said(&x.detail)) } }
            @if !x.also.is_empty() { p.also { "The same requests: " (x.also.join(", ")) } }
            (evidence(id, run, x))
            (examples(id, run, x))
            @if !x.remedies.is_empty() { ul.remedies { @for r in remedies(x) {
                li {
                    @for typed in r.commands.iter().cloned().chain(settings(r)) { (copy(&typed)) " " }
                    (r.why) @if r.system != "any" { " (" (r.system) ")" } ". "
                    @if r.url.starts_with("https://") { a href=(r.url) rel="noreferrer" { "Source" } }
                } "\n"
            } } }
            (fold("Why, and how it was measured", measured(x)))
            @if !files.is_empty() || !windows.is_empty() {
                div.tools { button type="button" data-key="find" data-value=(x.code) { "Show in the page" } }
            }
        } "\n"
    }
}

fn measured(x: &Finding) -> Markup {
    let numbers = |all: &BTreeMap<String, f64>| {
        let number = |(name, v): (&String, &f64)| format!("{} {}", name.replace('_', " "), units::digits(*v));
        Some(all.iter().map(number).collect::<Vec<_>>().join(", "))
    };
    let certainty = match x.certainty {
        Certainty::Exact => "exact, from single requests",
        Certainty::Bound => "bound, from counters",
        Certainty::Modelled => "the time comes from a model",
    };
    html! {
        p { (Said(&x.why)) }
        (facts([
            ("Measured", numbers(&x.measured)),
            ("Threshold", numbers(&x.threshold)),
            ("Lost is", x.lost_basis.clone()),
            ("Certainty", Some(certainty.into())),
            ("Drishti", Some(x.drishti.join(", "))),
        ]))
    }
}

/// The time lost, or spent, as a bar against the run time.
fn price(f: &Findings, x: &Finding) -> Markup {
    let (lost, s) = match cost(x) {
        Some(("lost", s)) => (true, s),
        Some((_, s)) => (false, s),
        None => return html! {},
    };
    let share = percent(if f.io.run_s > 0.0 { s / f.io.run_s } else { 0.0 });
    html! {
        p.cost {
            meter min="0" max=(f.io.run_s.max(s)) value=(s) { (share) }
            " " (short_seconds(s)) (if lost { " lost" } else { " spent in it" }) ", " (share) " of the run"
            @if let (Some(time), true) = (x.time_s, lost) { "; " (short_seconds(time)) " spent in it" }
        } "\n"
    }
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

fn examples(id: &str, run: &Run, x: &Finding) -> Markup {
    let table = Listing::of(&x.examples)
        .column("Rank", "rank", |e| Cell::count(u64::from(e.rank)))
        .column("File", "file", |e| Cell::name(&e.file))
        .column("Offset", "offset", |e| Cell::bytes(e.offset))
        .column("Size", "size", |e| Cell::bytes(e.size))
        .column("Start", "start", |e| Cell::clock(e.start_s - run.zero_s, (e.end_s - e.start_s).max(1e-6)))
        .column("Duration", "duration", |e| Cell::seconds(e.end_s - e.start_s))
        .html(&format!("{id}-requests"), &format!("Requests of {} with the most time", x.code));
    html! { @if !x.examples.is_empty() { (fold("Longest requests", table)) } }
}

fn evidence(id: &str, run: &Run, x: &Finding) -> Markup {
    let resolution = (run.range.1 - run.range.0) / 1000.0;
    let clock = |t: f64| units::clock(t - run.zero_s, resolution);
    Listing::of(&x.files)
        .column("Files", "file", |s| Cell::name(&s.file))
        .column("Number", "files", |s| Cell::count(s.files))
        .column("Count", "count", |s| Cell::count(s.count))
        .column("Bytes", "bytes", |s| Cell::bytes(s.bytes))
        .column("Ranks", "ranks", |s| s.ranks.map_or_else(|| Cell::numeral("all"), Cell::count))
        .column("Time of all ranks", "time", |s| Cell::seconds(s.time_s))
        .column("Which ranks", "which", |s| {
            let cut = if s.rank_list.len() == 16 && s.ranks.is_some_and(|n| n > 16) { ", ..." } else { "" };
            let which =
                if s.rank_list.is_empty() { String::new() } else { crate::render::classes::ranks(&s.rank_list) };
            Cell::text(format!("{which}{cut}"))
        })
        .column("When", "when", |s| some(&s.windows, |w| format!("{} to {}", clock(w.start_s), clock(w.end_s))))
        .column("Bytes of the files", "ranges", |s| {
            some(&s.ranges, |r| format!("{} to {}", units::bytes(r.start as f64), units::bytes(r.end as f64)))
        })
        .html(&format!("{id}-files"), &format!("Where: {} in {}", x.code, units::counted(x.files_total, "file")))
}

fn unchecked(id: &str, f: &Findings) -> Markup {
    let table = Listing::of(&f.not_checked)
        .column("Code", "code", |n| Cell::text(&n.code))
        .column("Name", "name", |n| Cell::text(n.name.replace('-', " ")))
        .column("How to record it", "how", |n| Cell::text(&n.how))
        .html(id, "Codes that this trace cannot answer");
    let number = units::counted(f.not_checked.len() as u64, "code");
    html! { @if !f.not_checked.is_empty() { (fold(&format!("Not checked: {number}"), table)) } }
}
