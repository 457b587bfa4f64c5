//! The next bursts, and what a scheduler needs of them.

use maud::{Markup, html};

use crate::analysis::{Prediction, SignalReport};
use crate::render::html::markup::{copy, facts, fold};
use crate::render::html::page::Page;
use crate::render::layout::percent;
use crate::render::listing::{Cell, Listing};
use crate::render::{text, units};

/// Bursts ahead that are listed.
const AHEAD: [&str; 3] = ["next", "second", "third"];
/// Standard deviations of an interval that holds 95 %.
const WIDE: f64 = 1.96;

pub fn section(p: &mut Page<'_>) -> Markup {
    let run = p.run;
    let signals = run.report.iter().flat_map(|r| &r.signals);
    let known: Vec<_> = signals.filter_map(|s| Some((s, s.prediction.as_ref()?))).collect();
    if known.is_empty() {
        return p.without("Next burst", "there is none to predict: no period holds where the trace ends");
    }
    let when = if run.has_ended() {
        "The job has ended: when the period would have gone on."
    } else {
        "If the period goes on where the trace ends."
    };
    let content = html! { @for (s, n) in known { (of_signal(p, s, n)) } };
    p.section("next", "Next burst", when, content)
}

fn of_signal(p: &Page<'_>, s: &SignalReport, n: &Prediction) -> Markup {
    let (run, b, mode) = (p.run, s.bursts.as_ref(), s.mode.name().replace('_', " "));
    let set = format!("set {}, characteristic time {}", n.set10.set, units::seconds(n.set10.characteristic_s));
    let drained = b.map(|b| units::rate(n.bytes_p95 / (n.period_s - b.width_s.median).max(1e-9)));
    html! {
        h3 { (mode) ": " (text::next(n, run.zero_s, run.has_ended())) } "\n"
        (bursts(p, &mode, n, s.period.dominant.as_ref().and_then(|d| d.period_std_s)))
        (facts([
            ("Idle time before the burst", Some(units::seconds(n.idle_s))),
            ("Bytes of 95 % of the bursts", Some(format!("up to {}", units::bytes(n.bytes_p95)))),
            ("Duty cycle", b.map(|b| percent(b.duty_cycle))),
            ("Drain rate of a burst buffer", drained),
            ("Set-10", Some(set)),
            ("Valid until", Some(units::clock(n.valid_until_s - run.zero_s, n.period_s / 10.0))),
        ]))
        @if let Ok(json) = serde_json::to_string_pretty(n) { (fold("JSON for a scheduler", copy(&json))) }
    }
}

fn bursts(p: &Page<'_>, mode: &str, n: &Prediction, period_std_s: Option<f64>) -> Markup {
    let (zero, step) = (p.run.zero_s, n.period_s / 10.0);
    let later = |k: &f64| k * n.period_s - zero;
    let interval = |k: &f64| {
        let wide = WIDE * n.next_start_std_s?.hypot(k * period_std_s.unwrap_or(0.0));
        let ends = [-wide, wide].map(|w| units::clock(n.next_start_s + later(k) + w, step.min(wide.max(1e-6))));
        Some(ends.join(" to "))
    };
    Listing::of((0..AHEAD.len()).map(|k| k as f64))
        .column("Burst", "burst", |k| Cell::text(AHEAD[*k as usize]))
        .column("Start", "start", |k| Cell::clock(n.next_start_s + later(k), step))
        .column("Interval of 95 %", "interval", |k| Cell::numeral(interval(k).unwrap_or_default()))
        .column("End", "end", |k| Cell::clock(n.next_end_s + later(k), step))
        .column("Bytes", "bytes", |_| Cell::bytes(n.bytes.max(0.0).round() as u64))
        .html(&p.id(&format!("next-{mode}").replace(' ', "-")), "Bursts to come")
}
