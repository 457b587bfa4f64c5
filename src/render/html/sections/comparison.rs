//! Several runs side by side, before the sections of each.

use maud::{Markup, html};

use crate::render::compare;
use crate::render::html::Bundle;
use crate::render::html::run::{Line, Run};
use crate::render::listing::{Cell, Listing};
use crate::render::text::Style;
use crate::render::units;

/// Runs that are listed.
const RUNS: usize = 500;

pub fn comparison(bundle: &Bundle) -> Markup {
    let caption = format!("{} on this page", units::counted(bundle.runs.len() as u64, "run"));
    let runs: Listing<(&Run, Line)> = Listing::of(bundle.runs.iter().take(RUNS).map(|run| (run, run.line())));
    let runs = runs
        .column("Trace", "name", |(_, line)| Cell::name(&line.name))
        .column("Run time", "run", |(run, _)| Cell::seconds(Some(run.findings.io.run_s).filter(|t| *t > 0.0)))
        .column("Time in I/O", "io", |(run, _)| Cell::seconds(run.findings.io.io_s))
        .column("Share", "share", |(_, line)| Cell::share(line.share))
        .column("Read", "bytes-read", |(run, _)| Cell::bytes(run.summary.bytes_read))
        .column("Written", "bytes-written", |(run, _)| Cell::bytes(run.summary.bytes_written))
        .column("Period", "period", |(_, line)| Cell::seconds(line.period_s))
        .column("Confidence", "confidence", |(_, line)| Cell::share(line.confidence))
        .column("Lost", "lost", |(_, line)| Cell::seconds(line.lost_s))
        .column("Worst finding", "finding", |(_, line)| Cell::text(line.finding.clone().unwrap_or_default()));
    html! {
        section id="compare" aria-labelledby="compare-h" {
            h2 id="compare-h" { "The runs side by side" }
            (runs.html("runs-table", &caption))
            @if let Some(c) = &bundle.comparison {
                pre.comparison { (compare::comparison(c, Style::default()).trim_end()) }
            }
        } "\n"
    }
}
