//! Which job, and where its trace came from.

use maud::{Markup, html};

use crate::record::Job;
use crate::render::html::markup::{Said, facts};
use crate::render::html::page::Page;
use crate::render::html::run::{Line, Run};
use crate::render::html::{Bundle, Options};
use crate::render::listing::{Cell, Listing};
use crate::render::units;

/// The program of the job, or the name of the trace.
pub fn title(run: &Run) -> String {
    let job = run.summary.job.as_ref();
    let command = job.and_then(|j| j.executable.as_deref()).and_then(|c| c.split_whitespace().next());
    let name = command.map(|c| c.rsplit('/').next().unwrap_or(c)).filter(|c| !c.is_empty());
    name.map_or_else(|| run.origin.name.clone(), str::to_owned)
}

pub fn section(p: &Page<'_>, options: &Options) -> Markup {
    let (t, run) = (&p.run.summary, p.run);
    let job = t.job.clone().unwrap_or_default();
    let Job { id, uid, executable, start_unix_s, end_unix_s, run_time_s, .. } = job;
    let layer = t.layer.map_or(String::new(), |l| format!(" {}", l.name()));
    let user = uid.filter(|_| options.with_user).map(|u| u.to_string());
    let made = format!("Made with iophase {} from {}", env!("CARGO_PKG_VERSION"), run.origin.name);
    let stamp = options.stamp.as_ref().map_or(String::new(), |s| format!(", {s}"));
    html! {
        header.job {
            h1 id=(p.id("head")) { (Said(&title(run))) }
            (facts([
                ("Job", id.map(|n| n.to_string())),
                ("User", user),
                ("Started", start_unix_s.map(units::utc)),
                ("Ended", end_unix_s.map(units::utc)),
                ("Run time", run_time_s.map(units::seconds)),
                ("Ranks", Some(units::grouped(t.ranks))),
                ("Nodes", run.nodes.map(|n| n.to_string())),
                ("Format", Some(format!("{}{layer}", t.format))),
                ("Read", Some(units::bytes(t.bytes_read as f64)).filter(|_| t.bytes_read > 0)),
                ("Written", Some(units::bytes(t.bytes_written as f64)).filter(|_| t.bytes_written > 0)),
            ]))
            @if let Some(command) = executable { p.command { (Said(&command)) } }
            p.made { (Said(&format!("{made}{stamp}"))) }
        } "\n"
    }
}

/// The run chooser and the links to the sections; the theme switch is made by the script.
pub fn navigation(bundle: &Bundle, pages: &[Page<'_>]) -> Markup {
    html! {
        nav aria-label="Sections" {
            @if bundle.runs.len() > 1 {
                ol.runs {
                    @for (i, run) in bundle.runs.iter().enumerate() {
                        li { a href={ "#run-" (i + 1) } { (Said(&format!("{}: {}", title(run), run.origin.name))) } } "\n"
                    }
                    li { a href="#compare" { "Side by side" } }
                }
            }
            @for (i, page) in pages.iter().enumerate() {
                ul.toc data-run=(i + 1) { @for (id, title) in &page.listed { li { a href={ "#" (id) } { (title) } } "\n" } }
            }
            div.tools {
                button type="button" data-key="t" data-value="" { "Whole run" }
                button type="button" data-key="theme" data-value="" { "Light or dark" }
            }
        } "\n"
    }
}

/// The table of `index.html`.
pub fn index(pages: &[(String, Line)]) -> Markup {
    let table = Listing::of(pages.iter().map(|(_, line)| line))
        .column("Trace", "name", |l| Cell::name(&l.name))
        .column("Job", "job", |l| Cell::text(l.job.map_or(String::new(), |n| n.to_string())))
        .column("Period", "period", |l| Cell::seconds(l.period_s))
        .column("Confidence", "confidence", |l| Cell::share(l.confidence))
        .column("I/O share", "share", |l| Cell::share(l.share))
        .column("Lost", "lost", |l| Cell::seconds(l.lost_s))
        .column("Worst finding", "finding", |l| Cell::text(l.finding.clone().unwrap_or_default()));
    html! {
        ul.pages { @for (file, line) in pages { li { a href=(file) { (Said(&line.name)) } } "\n" } }
        (table.html("pages", "One line per trace"))
        p.made { "Made with iophase " (env!("CARGO_PKG_VERSION")) }
    }
}
