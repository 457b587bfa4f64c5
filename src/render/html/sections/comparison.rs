//! Several runs side by side, before the sections of each.

use crate::render::compare;
use crate::render::html::Bundle;
use crate::render::html::table::{self, Cell, Column};
use crate::render::html::writer::Html;
use crate::render::text::Style;
use crate::render::units;

/// Runs that are listed.
const RUNS: usize = 500;

pub fn comparison(h: &mut Html, bundle: &Bundle) {
    h.open("section", &[("id", "compare"), ("aria-labelledby", "compare-h")]);
    h.elem("h2", &[("id", "compare-h")], "The runs side by side");
    let columns = [
        Column::text("Trace", "name"),
        Column::number("Run time", "run"),
        Column::number("Time in I/O", "io"),
        Column::number("Share", "share"),
        Column::number("Read", "bytes-read"),
        Column::number("Written", "bytes-written"),
        Column::number("Period", "period"),
        Column::number("Confidence", "confidence"),
        Column::number("Lost", "lost"),
        Column::text("Worst finding", "finding"),
    ];
    let rows = bundle.runs.iter().take(RUNS).map(|run| {
        let (line, io) = (run.line(), &run.findings.io);
        vec![
            Cell::name(&line.name),
            Cell::seconds(Some(io.run_s).filter(|t| *t > 0.0)),
            Cell::seconds(io.io_s),
            Cell::share(line.share),
            Cell::bytes(run.summary.bytes_read),
            Cell::bytes(run.summary.bytes_written),
            Cell::seconds(line.period_s),
            Cell::share(line.confidence),
            Cell::seconds(line.lost_s),
            Cell::text(line.finding.unwrap_or_default()),
        ]
    });
    let caption = format!("{} on this page", units::counted(bundle.runs.len() as u64, "run"));
    table::table(h, "runs-table", &caption, &columns, rows);
    if let Some(c) = &bundle.comparison {
        let style = Style { color: false, verbose: false, several: false };
        h.within("pre", &[("class", "comparison")], |h| h.lines(compare::comparison(c, style).trim_end()));
    }
    h.close("section");
}
