//! Bandwidth over time: writes above, reads below one axis.

use crate::analysis::{Mode, Relation, SignalReport};
use crate::record::Timing;
use crate::render::html::page::Page;
use crate::render::html::plot::{Layer, Numbers, Plot, Scale, short};
use crate::render::html::run::Run;
use crate::render::svg::View;
use crate::render::{text, units};

/// Points of a curve, and the least of a page that had to be cut.
const POINTS: (usize, usize) = (4096, 200);
/// Spans of a row.
const SPANS: usize = 500;

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    let Some(report) = run.report.as_ref().filter(|_| !run.views.is_empty()) else {
        p.absent
            .push(("Bandwidth over time", "record transfers: DXT_ENABLE_IO_TRACE=1, or the heat maps of Darshan 3.4"));
        return;
    };
    let lead = match (report.quality.timing, report.quality.bin_s) {
        (Timing::Counter, None) => {
            "Bandwidth of the whole job, if the bytes of each file are spread from its first to its last access."
        }
        _ => "Bandwidth of the whole job. Writes point up, reads point down.",
    };
    let mut layers = Vec::new();
    let (mut low, mut high, mut row) = (0f64, 0f64, 0);
    for (s, view) in report.signals.iter().zip(&run.views) {
        let sign = if s.mode == Mode::Read { -1.0 } else { 1.0 };
        let values = curve(p, view, sign, run.zero_s);
        if let Layer::Area { values, .. } = &values {
            low = values.iter().copied().fold(low, f64::min);
            high = values.iter().copied().fold(high, f64::max);
        }
        let (behind, above) = bands(run, s, view, sign, &mut row);
        for l in &above {
            if let Layer::Wave { mean, amplitude, .. } = l {
                for v in [sign * (mean - amplitude), sign * (mean + amplitude)] {
                    (low, high) = (low.min(v), high.max(v));
                }
            }
        }
        layers.splice(0..0, behind);
        layers.push(values);
        layers.extend(above);
    }
    let job_end = report.trace.job.as_ref().and_then(|j| j.run_time_s).filter(|_| run.zero_s == 0.0);
    let ends: Vec<f64> = job_end.into_iter().flat_map(|t| [0.0, t]).collect();
    if !ends.is_empty() {
        layers.push(Layer::Marks { name: "start and end of the job".into(), class: "ends", at: ends });
    }
    let answers: Vec<String> = report.signals.iter().map(text::answer).collect();
    let room = if high - low > 0.0 { 1.06 } else { 1.0 };
    let plot = Plot {
        id: "phases-plot".into(),
        title: "Bandwidth over time".into(),
        desc: answers.join("; "),
        height: 320.0 + 18.0 * row as f64,
        x: Scale { low: run.range.0, high: run.range.1, label: "Time", unit: "s", numbers: Numbers::Time },
        y: Scale {
            low: room * low,
            high: if high > low { room * high } else { 1.0 },
            label: "Bandwidth",
            unit: "B/s",
            numbers: Numbers::Prefixed,
        },
        time: true,
        layers,
    };
    p.section("phases", "Bandwidth over time", lead, |p| {
        p.plot(plot);
        if let Some(strip) = metadata(p) {
            p.plot(strip);
        }
    });
}

/// Metadata calls per second below the bandwidth.
fn metadata(p: &Page<'_>) -> Option<Plot> {
    let run = p.run;
    let (what, start_s, step_s, rates) = run.metadata.as_ref().filter(|m| m.3.len() > 1)?;
    let most = rates.iter().copied().fold(0.0, f64::max);
    let group = rates.len().div_ceil(p.caps.of(POINTS.0, POINTS.1)).max(1);
    let of = if group > 1 || *step_s > 1.0 { ", the most in any second" } else { "" };
    Some(Plot {
        id: "metadata-plot".into(),
        title: "Metadata calls over time".into(),
        desc: format!("{what}: at most {} in a second", units::digits(most)),
        height: 140.0,
        x: Scale { low: run.range.0, high: run.range.1, label: "Time", unit: "s", numbers: Numbers::Time },
        y: Scale { low: 0.0, high: 1.06 * most.max(1.0), label: "Calls/s", unit: "", numbers: Numbers::Plain },
        time: true,
        layers: vec![Layer::Area {
            name: format!("metadata calls per second: {what}{of}"),
            class: "meta",
            start: short(start_s - run.zero_s),
            step: step_s * group as f64,
            values: rates.chunks(group).map(|part| part.iter().copied().fold(0.0, f64::max)).collect(),
        }],
    })
}

fn curve(p: &Page<'_>, view: &View, sign: f64, zero_s: f64) -> Layer {
    let curve = view.finest().coarse(p.caps.of(POINTS.0, POINTS.1));
    let read = sign < 0.0;
    Layer::Area {
        name: if read { "read".into() } else { "write".into() },
        class: if read { "read" } else { "write" },
        start: short(curve.start_s - zero_s),
        step: curve.step_s,
        values: curve.values.iter().map(|v| sign * short(v.max(0.0))).collect(),
    }
}

/// What lies behind a curve, and what is drawn over it.
fn bands(run: &Run, s: &SignalReport, view: &View, sign: f64, row: &mut usize) -> (Vec<Layer>, Vec<Layer>) {
    let (mut behind, mut above) = (Vec::new(), Vec::new());
    let Some(d) = &s.period.dominant else { return (behind, above) };
    let mode = s.mode.name().replace('_', " ");
    let later = |t: f64| short(t - run.zero_s);
    let spans = |v: &[crate::analysis::Validity]| -> Vec<(f64, f64)> {
        v.iter().take(SPANS).map(|w| (later(w.start_s), later(w.end_s))).collect()
    };
    let windows = if s.validity.is_empty() { vec![(later(s.start_s), later(s.end_s))] } else { spans(&s.validity) };
    let name = format!(
        "{mode}: every {}, confidence {}",
        units::seconds(d.period_s),
        crate::render::layout::percent(d.confidence)
    );
    above.push(Layer::Spans { name, class: "valid", row: Some(*row), spans: windows.clone() });
    *row += 1;
    for o in s.period.others.iter().take(3) {
        let name = format!("{mode}: {}", text::other(o, run.zero_s, run.has_ended()));
        above.push(Layer::Spans { name, class: "other", row: Some(*row), spans: spans(&o.validity) });
        *row += 1;
        let edge = match o.relation {
            Relation::After => o.validity.first().map(|w| w.start_s),
            Relation::Before => s.validity.first().map(|w| w.start_s),
            _ => None,
        };
        if let Some(t) = edge {
            above.push(Layer::Marks { name: "change of period".into(), class: "change", at: vec![later(t)] });
        }
    }
    let bursts: Vec<(f64, f64)> = match (&view.seen.bursts[..], &s.bursts) {
        ([], Some(b)) => b.starts_s.iter().map(|t| (*t, t + b.width_s.median)).collect(),
        (known, _) => known.to_vec(),
    };
    if !bursts.is_empty() {
        let spans = bursts.iter().take(SPANS).map(|(a, b)| (later(*a), later(*b))).collect();
        above.push(Layer::Spans {
            name: format!("{mode} bursts"),
            class: if sign < 0.0 { "burst read" } else { "burst" },
            row: Some(*row),
            spans,
        });
        *row += 1;
    }
    if let Some(n) = s.prediction.as_ref().filter(|n| n.next_start_s - run.zero_s < run.range.1) {
        let spans = vec![(later(n.next_start_s), later(n.next_end_s))];
        behind.push(Layer::Spans { name: format!("next {mode} burst"), class: "next", row: None, spans });
    }
    let samples = &view.sampled.values;
    above.push(Layer::Wave {
        name: format!("cosine of the {mode} period"),
        class: "wave",
        mean: short(samples.iter().sum::<f64>() / samples.len().max(1) as f64),
        amplitude: short(d.amplitude_bytes_per_s),
        hertz: d.frequency_hz,
        phase: d.phase_rad - std::f64::consts::TAU * d.frequency_hz * (s.start_s - run.zero_s),
        sign,
        spans: windows,
    });
    (behind, above)
}
