//! The next bursts, and what a scheduler needs of them.

use crate::analysis::Prediction;
use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};
use crate::render::{text, units};

/// Bursts ahead that are listed.
const AHEAD: u32 = 3;
/// Standard deviations of an interval that holds 95 %.
const WIDE: f64 = 1.96;

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    let signals = run.report.iter().flat_map(|r| &r.signals);
    let known: Vec<_> = signals.filter_map(|s| Some((s, s.prediction.as_ref()?))).collect();
    if known.is_empty() {
        p.absent.push(("Next burst", "there is none to predict: no period holds where the trace ends"));
        return;
    }
    let when = if run.has_ended() {
        "The job has ended: when the period would have gone on."
    } else {
        "If the period goes on where the trace ends."
    };
    p.section("next", "Next burst", when, |p| {
        for (s, n) in known {
            let mode = s.mode.name().replace('_', " ");
            p.h.elem("h3", &[], &format!("{mode}: {}", text::next(n, run.zero_s, run.has_ended())));
            bursts(p, &mode, n, s.period.dominant.as_ref().and_then(|d| d.period_std_s));
            let b = s.bursts.as_ref();
            table::facts(
                &mut p.h,
                &[
                    ("Idle time before the burst", Some(units::seconds(n.idle_s))),
                    ("Bytes of 95 % of the bursts", Some(format!("up to {}", units::bytes(n.bytes_p95)))),
                    ("Duty cycle", b.map(|b| crate::render::layout::percent(b.duty_cycle))),
                    (
                        "Drain rate of a burst buffer",
                        b.map(|b| units::rate(n.bytes_p95 / (n.period_s - b.width_s.median).max(1e-9))),
                    ),
                    (
                        "Set-10",
                        Some(format!(
                            "set {}, characteristic time {}",
                            n.set10.set,
                            units::seconds(n.set10.characteristic_s)
                        )),
                    ),
                    ("Valid until", Some(units::clock(n.valid_until_s - run.zero_s, n.period_s / 10.0))),
                ],
            );
            if let Ok(json) = serde_json::to_string_pretty(n) {
                p.h.open("details", &[("class", "fold")]);
                p.h.elem("summary", &[], "JSON for a scheduler");
                p.h.copy("pre", &json);
                p.h.close("details");
            }
        }
    });
}

fn bursts(p: &mut Page<'_>, mode: &str, n: &Prediction, period_std_s: Option<f64>) {
    let zero = p.run.zero_s;
    let columns = [
        Column::text("Burst", "burst"),
        Column::number("Start", "start"),
        Column::number("Interval of 95 %", "interval"),
        Column::number("End", "end"),
        Column::number("Bytes", "bytes"),
    ];
    let step = n.period_s / 10.0;
    let rows = (0..AHEAD).map(|k| {
        let later = f64::from(k) * n.period_s;
        let start = n.next_start_s - zero + later;
        let wide = n.next_start_std_s.map(|s| WIDE * s.hypot(f64::from(k) * period_std_s.unwrap_or(0.0)));
        let interval = wide.map_or("-".into(), |w| {
            format!(
                "{} to {}",
                units::clock(start - w, step.min(w.max(1e-6))),
                units::clock(start + w, step.min(w.max(1e-6)))
            )
        });
        let end = n.next_end_s - zero + later;
        vec![
            Cell::text(["next", "second", "third"][k as usize]),
            Cell::number(units::clock(start, step), start),
            Cell::text(interval),
            Cell::number(units::clock(end, step), end),
            Cell::bytes(n.bytes.max(0.0).round() as u64),
        ]
    });
    let id = p.id(&format!("next-{mode}").replace(' ', "-"));
    table::table(&mut p.h, &id, "Bursts to come", &columns, rows);
}
