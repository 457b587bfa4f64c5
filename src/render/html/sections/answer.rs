//! The answer, in at most six lines and in the words of the terminal.

use maud::{Markup, html};

use crate::analysis::SignalReport;
use crate::findings::Severity;
use crate::record::Timing;
use crate::render::html::markup::Said;
use crate::render::html::page::Page;
use crate::render::{findings, text, units};

/// Lines of an answer.
const LINES: usize = 6;

pub fn section(p: &mut Page<'_>) -> Markup {
    let run = p.run;
    let mut lines: Vec<(String, String, &'static str)> = Vec::new();
    if let Some(report) = &run.report {
        let mut signals: Vec<&SignalReport> = report.signals.iter().collect();
        signals.sort_by_key(|s| Some(s.mode) != report.primary);
        for s in signals.iter().take(2) {
            let more = s.bursts.as_ref().map_or_else(
                || format!("{} over {}", units::bytes(s.bytes), units::seconds(s.end_s - s.start_s)),
                |b| format!("bursts: {}", text::bursts(b)),
            );
            lines.push((text::answer(s), more, "phases"));
        }
    }
    if let Some(why) = &run.no_report {
        lines.push(("no period".into(), why.to_string(), "provenance"));
    }
    lines.push((
        findings::headline(&run.findings),
        crate::render::io_time::parts(&run.findings.io).unwrap_or_default(),
        "findings",
    ));
    if let Some(f) = run.findings.findings.iter().find(|f| f.severity != Severity::Info) {
        let cost = findings::cost(f);
        let cost = cost.map_or(String::new(), |(word, s)| format!(", {word} {}", units::short_seconds(s)));
        lines.push((format!("{} {}{cost}", f.code, f.name), f.detail.clone(), "findings"));
    }
    let next = run.report.as_ref().and_then(|r| r.primary_signal()?.prediction.as_ref());
    if let Some(n) = next {
        let next = text::next(n, run.zero_s, run.has_ended());
        let next = if n.now_in_burst { next } else { format!("next burst {next}") };
        lines.push((next, String::new(), "next"));
    }
    let coarse = match run.report.as_ref().map(|r| (r.quality.timing, r.quality.bin_s)) {
        Some((Timing::Heatmap, bin)) => Some(format!(
            "heat map only: times are known to bins of {}",
            bin.map_or_else(|| "unknown width".into(), units::seconds)
        )),
        Some((Timing::Counter, Some(step))) => Some(format!("readings of counters, {} apart", units::seconds(step))),
        Some((Timing::Counter, None)) => {
            Some("counters only: bytes are spread from the first to the last access".into())
        }
        _ => None,
    };
    lines.extend(coarse.map(|text| (text, String::new(), "provenance")));
    lines.truncate(LINES);
    let content = html! {
        ul.answer { @for (answer, more, link) in &lines {
            li {
                a href={ "#" (p.id(link)) } { (Said(answer)) }
                @if !more.is_empty() { small { (Said(more)) } }
            } "\n"
        } }
    };
    p.section("answer", "Answer", "", content)
}
