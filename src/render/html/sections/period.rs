//! Why this period: the candidates, also those that lost, and the figures of the signal.

use maud::{Markup, html};

use crate::analysis::{Candidate, SignalReport};
use crate::render::figure::{OF_SIGNAL, View};
use crate::render::html::page::Page;
use crate::render::listing::{Cell, Listing};
use crate::render::{text, units};

/// Candidates listed.
const CANDIDATES: usize = 20;

pub fn section(p: &mut Page<'_>) -> Markup {
    let run = p.run;
    let all = run.report.iter().flat_map(|r| &r.signals).zip(&run.views);
    let worth = |(s, v): &(&SignalReport, &View)| v.powers.is_some() && s.period.periodic.is_some();
    let signals: Vec<(&SignalReport, &View)> = all.filter(worth).collect();
    if signals.is_empty() {
        return p.without("Why this period", "counters have no times of single transfers: record DXT or heat maps");
    }
    let lead =
        "The evidence behind the period. Confidence is calibrated: of the answers with 90 %, nine in ten are right.";
    let content = html! { @for (s, v) in signals {
        h3 { (text::answer(s)) } "\n"
        (candidates(p, s))
        @for (name, figure, _) in OF_SIGNAL.iter().filter(|f| f.2) {
            @if let Some(figure) = figure(s, v, &run.time()) { (p.figure(&format!("{name}-{}", s.mode.name()), figure)) }
        }
    } };
    p.section("period", "Why this period", lead, content)
}

fn candidates(p: &mut Page<'_>, s: &SignalReport) -> Markup {
    let all = &s.period.candidates;
    let shown = p.shown((CANDIDATES, CANDIDATES), all.len(), "Candidates of the period");
    let chosen = |f: f64| {
        let dominant = s.period.dominant.as_ref().map(|d| (d.frequency_hz, "the dominant period"));
        let others = s.period.others.iter().map(|o| (o.period.frequency_hz, "a further period"));
        dominant.into_iter().chain(others).find(|(of, _)| (f - of).abs() <= 1e-6 * of).map(|(_, what)| what)
    };
    let reason = |c: &Candidate| match (chosen(c.frequency_hz), c.harmonic_of) {
        (Some(what), _) => what.to_owned(),
        (None, Some(f)) => format!("lost: harmonic of {}", units::hertz(f)),
        (None, None) => "lost: another one explains the bursts better".to_owned(),
    };
    Listing::of(&all[..shown])
        .column("Period", "period", |c| Cell::seconds(c.period_s))
        .column("Frequency", "frequency", |c| Cell::number(units::hertz(c.frequency_hz), c.frequency_hz))
        .column("Score", "score", |c| Cell::number(units::digits(c.score), c.score))
        .column("Confidence", "confidence", |c| Cell::share(c.confidence))
        .column("Result", "result", |c| Cell::text(reason(c)))
        .html(&p.id(&format!("candidates-{}", s.mode.name())), "Periods that were considered")
}
