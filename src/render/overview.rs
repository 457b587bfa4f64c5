//! The answer on one screen: periods, cost of I/O by layer, the costliest findings, where to go on.

use std::fmt::Write;

use super::layout::{self, Style, line};
use super::text::{answer, has_ended, next, zero_s};
use super::{findings, io_time, units};
use crate::analysis::{Report, SignalReport};
use crate::findings::Findings;

/// Findings that are shown.
const SHOWN: usize = 3;

/// The screen; `report` is `None` without transfers.
pub fn overview(report: Option<&Report>, f: &Findings, style: Style) -> String {
    let t = &f.trace;
    let mut out = style.bold(&format!("{}: {}, {}", t.path, t.format, units::counted(t.ranks, "rank"))) + "\n";
    match report {
        Some(r) => periods(&mut out, r, style),
        None => line(&mut out, "period", "no transfers to search"),
    }
    layout::headline(&mut out, &findings::headline(f), style);
    if let Some(text) = io_time::parts(&f.io) {
        line(&mut out, "time", &text);
    }
    if f.io.layers.len() > 1 {
        f.io.layers.iter().for_each(|layer| line(&mut out, "", &io_time::layer(layer)));
    }
    findings::costliest(&mut out, f, SHOWN, style);
    line(
        &mut out,
        "go on",
        &format!("iophase findings {0}, iophase analyze {0}, iophase report {0} -o page.html", t.path),
    );
    out
}

fn periods(out: &mut String, r: &Report, style: Style) {
    let mut order: Vec<&SignalReport> = r.signals.iter().collect();
    order.sort_by_key(|s| Some(s.mode) != r.primary);
    for s in order {
        let _ = writeln!(out, "{}", style.bold(&answer(s)));
        if let Some(p) = &s.prediction {
            line(out, "next", &next(p, zero_s(r), has_ended(r.trace.job.as_ref())));
        }
    }
}
