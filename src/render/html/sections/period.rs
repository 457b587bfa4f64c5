//! Why this period: the candidates, also those that lost, and the figures of the signal.

use crate::analysis::SignalReport;
use crate::render::figure::{OF_SIGNAL, View};
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};
use crate::render::{text, units};

/// Candidates listed.
const CANDIDATES: usize = 20;

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    let signals: Vec<(&SignalReport, &View)> = run.report.iter().flat_map(|r| &r.signals).zip(&run.views).collect();
    let worth = |s: &SignalReport, v: &View| v.powers.is_some() && s.period.periodic.is_some();
    if !signals.iter().any(|(s, v)| worth(s, v)) {
        p.absent.push(("Why this period", "counters have no times of single transfers: record DXT or heat maps"));
        return;
    }
    let lead =
        "The evidence behind the period. Confidence is calibrated: of the answers with 90 %, nine in ten are right.";
    p.section("period", "Why this period", lead, |p| {
        for (s, v) in signals.into_iter().filter(|(s, v)| worth(s, v)) {
            p.h.elem("h3", &[], &text::answer(s));
            candidates(p, s);
            for (name, figure, _) in OF_SIGNAL.iter().filter(|f| f.2) {
                if let Some(figure) = figure(s, v, &run.time()) {
                    p.figure(&format!("{name}-{}", s.mode.name()), figure);
                }
            }
        }
    });
}

fn candidates(p: &mut Page<'_>, s: &SignalReport) {
    let all = &s.period.candidates;
    if all.is_empty() {
        return;
    }
    p.cut(all.len().min(CANDIDATES), all.len(), "Candidates of the period");
    let chosen = |f: f64| {
        let dominant = s.period.dominant.as_ref().map(|d| (d.frequency_hz, "the dominant period"));
        let others = s.period.others.iter().map(|o| (o.period.frequency_hz, "a further period"));
        dominant.into_iter().chain(others).find(|(of, _)| (f - of).abs() <= 1e-6 * of).map(|(_, what)| what)
    };
    let reason = |c: &crate::analysis::Candidate| match (chosen(c.frequency_hz), c.harmonic_of) {
        (Some(what), _) => what.to_owned(),
        (None, Some(f)) => format!("lost: harmonic of {}", units::hertz(f)),
        (None, None) => "lost: another one explains the bursts better".to_owned(),
    };
    let columns = [
        Column::number("Period", "period"),
        Column::number("Frequency", "frequency"),
        Column::number("Score", "score"),
        Column::number("Confidence", "confidence"),
        Column::text("Result", "result"),
    ];
    let rows = all.iter().take(CANDIDATES).map(|c| {
        vec![
            Cell::seconds(Some(c.period_s)),
            Cell::number(units::hertz(c.frequency_hz), c.frequency_hz),
            Cell::number(units::digits(c.score), c.score),
            Cell::share(Some(c.confidence)),
            Cell::text(reason(c)),
        ]
    });
    let id = p.id(&format!("candidates-{}", s.mode.name()));
    table::table(&mut p.h, &id, "Periods that were considered", &columns, rows);
}
