//! Which job, and where its trace came from.

use crate::record::Job;
use crate::render::html::page::Page;
use crate::render::html::run::{Line, Run};
use crate::render::html::table::{self, Cell, Column};
use crate::render::html::writer::Html;
use crate::render::html::{Bundle, Options};
use crate::render::units;

/// The program of the job, or the name of the trace.
pub fn title(run: &Run) -> String {
    let job = run.summary.job.as_ref();
    let command = job.and_then(|j| j.executable.as_deref()).and_then(|c| c.split_whitespace().next());
    let name = command.map(|c| c.rsplit('/').next().unwrap_or(c)).filter(|c| !c.is_empty());
    name.map_or_else(|| run.origin.name.clone(), str::to_owned)
}

pub fn section(p: &mut Page<'_>, options: &Options) {
    let (t, run) = (&p.run.summary, p.run);
    let job = t.job.clone().unwrap_or_default();
    let Job { id, uid, executable, start_unix_s, end_unix_s, run_time_s, .. } = job;
    let layer = t.layer.map_or(String::new(), |l| format!(" {}", l.name()));
    let user = uid.filter(|_| options.with_user).map(|u| u.to_string());
    p.h.open("header", &[("class", "job")]);
    p.h.elem("h1", &[("id", &p.id("head"))], &title(run));
    table::facts(
        &mut p.h,
        &[
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
        ],
    );
    if let Some(command) = executable {
        p.h.elem("p", &[("class", "command")], &command);
    }
    let made = format!("Made with iophase {} from {}", env!("CARGO_PKG_VERSION"), run.origin.name);
    let stamp = options.stamp.as_ref().map_or(String::new(), |s| format!(", {s}"));
    p.h.elem("p", &[("class", "made")], &format!("{made}{stamp}"));
    p.h.close("header");
}

/// The run chooser and the links to the sections; the theme switch is made by the script.
pub fn navigation(h: &mut Html, bundle: &Bundle, pages: &[(Html, Vec<(String, &'static str)>)]) {
    h.open("nav", &[("aria-label", "Sections")]);
    let several = bundle.runs.len() > 1;
    if several {
        h.open("ol", &[("class", "runs")]);
        for (i, run) in bundle.runs.iter().enumerate() {
            h.open("li", &[]);
            let link = format!("#run-{}", i + 1);
            h.elem("a", &[("href", &link)], &format!("{}: {}", title(run), run.origin.name));
            h.close("li");
        }
        h.within("li", &[], |h| h.elem("a", &[("href", "#compare")], "Side by side"));
        h.close("ol");
    }
    for (i, (_, listed)) in pages.iter().enumerate() {
        h.open("ul", &[("class", "toc"), ("data-run", &(i + 1).to_string())]);
        for (id, title) in listed {
            h.open("li", &[]);
            h.elem("a", &[("href", &format!("#{id}"))], title);
            h.close("li");
        }
        h.close("ul");
    }
    h.open("div", &[("class", "tools")]);
    let button = |key| [("type", "button"), ("data-key", key), ("data-value", "")];
    h.elem("button", &button("t"), "Whole run");
    h.elem("button", &button("theme"), "Light or dark");
    h.close("div");
    h.close("nav");
}

/// The table of `index.html`.
pub fn index(h: &mut Html, pages: &[(String, Line)]) {
    h.open("ul", &[("class", "pages")]);
    for (file, line) in pages {
        h.within("li", &[], |h| h.elem("a", &[("href", file)], &line.name));
    }
    h.close("ul");
    let columns = [
        Column::text("Trace", "name"),
        Column::text("Job", "job"),
        Column::number("Period", "period"),
        Column::number("Confidence", "confidence"),
        Column::number("I/O share", "share"),
        Column::number("Lost", "lost"),
        Column::text("Worst finding", "finding"),
    ];
    let rows = pages.iter().map(|(_, l)| {
        vec![
            Cell::name(&l.name),
            Cell::text(l.job.map_or(String::new(), |n| n.to_string())),
            Cell::seconds(l.period_s),
            Cell::share(l.confidence),
            Cell::share(l.share),
            Cell::seconds(l.lost_s),
            Cell::text(l.finding.clone().unwrap_or_default()),
        ]
    });
    table::table(h, "pages", "One line per trace", &columns, rows);
    h.elem("p", &[("class", "made")], &format!("Made with iophase {}", env!("CARGO_PKG_VERSION")));
}
