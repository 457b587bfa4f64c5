//! Why this period: spectrum, mean burst, distances of bursts, autocorrelation, and the candidates that lost.

use crate::analysis::SignalReport;
use crate::period::methods::Sight;
use crate::period::spectrum::OUTLIER;
use crate::render::html::page::Page;
use crate::render::html::plot::{Layer, Numbers, Plot, Scale, short};
use crate::render::html::table::{self, Cell, Column};
use crate::render::svg::{View, bursts as burst_shape, spectrum};
use crate::render::{text, units};

/// Points of a curve, and the least of a page that had to be cut.
const POINTS: (usize, usize) = (1000, 150);
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
            let mode = s.mode.name();
            let plots = [
                folded(s, v, mode),
                distances(s, mode),
                power(p, s, v, mode),
                autocorrelation(p, s, v, mode),
                correlation(p, s, v, mode),
            ];
            for plot in plots.into_iter().flatten() {
                p.h.elem("h4", &[], &plot.title);
                p.plot(plot);
            }
        }
    });
}

fn scale(low: f64, high: f64, label: &'static str, unit: &'static str, numbers: Numbers) -> Scale {
    Scale { low, high: if high > low { high } else { low + 1.0 }, label, unit, numbers }
}

fn plot(id: String, title: String, desc: String, (x, y): (Scale, Scale), layers: Vec<Layer>) -> Plot {
    Plot { id, title, desc, height: 230.0, x, y, time: false, layers }
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

/// The cycles of all bursts, one over the other.
fn folded(s: &SignalReport, view: &View, mode: &str) -> Option<Plot> {
    let (b, d) = (s.bursts.as_ref()?, s.period.dominant.as_ref()?);
    let cells = burst_shape::fold(view.finest(), &b.starts_s, d.period_s);
    let top = cells.iter().map(|c| c.2).fold(0.0, f64::max);
    if top <= 0.0 {
        return None;
    }
    let step = d.period_s / burst_shape::CELLS as f64;
    let area = |name: &str, class: &'static str, of: fn(&(f64, f64, f64)) -> f64| Layer::Area {
        name: name.into(),
        class,
        start: -0.25 * d.period_s,
        step,
        values: cells.iter().map(|c| short(of(c))).collect(),
    };
    let desc = format!("{} bursts, {}", units::grouped(b.count), text::bursts(b));
    Some(plot(
        format!("burst-{mode}"),
        format!("Mean burst ({mode})"),
        desc,
        (
            scale(-0.25 * d.period_s, 0.75 * d.period_s, "Time since the start of a burst", "s", Numbers::Time),
            scale(0.0, 1.06 * top, "Bandwidth", "B/s", Numbers::Prefixed),
        ),
        vec![
            area("upper quartile", "upper", |c| c.2),
            area("median of all bursts", if mode == "read" { "read" } else { "write" }, |c| c.1),
        ],
    ))
}

/// Seconds from each burst to the one before.
fn distances(s: &SignalReport, mode: &str) -> Option<Plot> {
    let (b, d) = (s.bursts.as_ref()?, s.period.dominant.as_ref()?);
    let all: Vec<f64> = b.starts_s.windows(2).map(|w| w[1] - w[0]).collect();
    if all.len() < 2 {
        return None;
    }
    let step = all.len().div_ceil(600);
    let points: Vec<(f64, f64)> = (2..).map(f64::from).zip(all.iter().map(|x| short(*x))).step_by(step).collect();
    let top = all.iter().copied().fold(d.period_s, f64::max);
    Some(plot(
        format!("distances-{mode}"),
        format!("Distances of bursts ({mode})"),
        format!("Expected {}", units::seconds(d.period_s)),
        (
            scale(1.0, all.len() as f64 + 2.0, "Burst", "", Numbers::Plain),
            scale(0.0, 1.1 * top, "Since the burst before", "s", Numbers::Time),
        ),
        vec![
            Layer::Line {
                name: format!("period of {}", units::seconds(d.period_s)),
                class: "dominant",
                points: vec![(1.0, d.period_s), (all.len() as f64 + 2.0, d.period_s)],
            },
            Layer::Dots { name: "distance".into(), class: if mode == "read" { "read" } else { "write" }, points },
        ],
    ))
}

fn power(p: &Page<'_>, s: &SignalReport, view: &View, mode: &str) -> Option<Plot> {
    let powers = view.powers.as_ref()?;
    let dominant = s.period.dominant.as_ref().map(|d| d.frequency_hz);
    let last = spectrum::shown_bins(powers, dominant);
    let most = p.caps.of(POINTS.0, POINTS.1);
    let all = spectrum::columns(powers, last);
    let group = all.len().div_ceil(most).max(1);
    let highest =
        |part: &[(f64, f64)]| part.iter().copied().fold((0.0, -1.0), |a: (f64, f64), b| if b.1 > a.1 { b } else { a });
    let points: Vec<(f64, f64)> = all.chunks(group).map(highest).map(|(f, v)| (short(f), short(100.0 * v))).collect();
    let threshold = 100.0 * (powers.statistics.mean + OUTLIER * powers.statistics.std);
    let top = points.iter().map(|x| x.1).fold(threshold, f64::max);
    let end = powers.frequency(last);
    let height = |f: f64| {
        let k = ((f / powers.resolution_hz).round() as usize).clamp(1, powers.power.len());
        (f, short(100.0 * powers.power[k - 1]))
    };
    let mut layers = vec![
        Layer::Stems {
            name: "power of a frequency".into(),
            class: if mode == "read" { "read" } else { "write" },
            points,
        },
        Layer::Line {
            name: "outlier threshold (z = 3)".into(),
            class: "level",
            points: vec![(0.0, threshold), (end, threshold)],
        },
    ];
    let candidates: Vec<(f64, f64)> = s
        .period
        .candidates
        .iter()
        .map(|c| c.frequency_hz)
        .filter(|f| *f <= end && dominant.is_none_or(|d| (f - d).abs() > 1e-6 * d))
        .take(20)
        .map(height)
        .collect();
    if let Some(f) = dominant {
        let harmonics: Vec<(f64, f64)> = (2..=8).map(|k| f64::from(k) * f).filter(|f| *f <= end).map(height).collect();
        layers.push(Layer::Marks {
            name: format!("period of {}", units::seconds(1.0 / f)),
            class: "dominant",
            at: vec![f],
        });
        layers.push(Layer::Dots { name: "harmonics".into(), class: "harmonic", points: harmonics });
    }
    if !candidates.is_empty() {
        layers.push(Layer::Dots { name: "candidates".into(), class: "candidate", points: candidates });
    }
    let desc = match dominant {
        Some(f) => format!("{} = 1 / {}", units::hertz(f), units::seconds(1.0 / f)),
        None => "no dominant frequency".into(),
    };
    Some(plot(
        format!("spectrum-{mode}"),
        format!("Power spectrum ({mode})"),
        desc,
        (
            scale(0.0, end, "Frequency", "Hz", Numbers::Prefixed),
            scale(0.0, 1.06 * top, "Share of the power", "%", Numbers::Plain),
        ),
        layers,
    ))
}

/// A curve on an even grid with fewer points: of neighbours the farthest from zero.
fn thinned(values: &[f64], step: f64, most: usize) -> (f64, Vec<f64>) {
    let group = values.len().div_ceil(most).max(1);
    let far = |part: &[f64]| short(part.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a }));
    (step * group as f64, values.chunks(group).map(far).collect())
}

fn autocorrelation(p: &Page<'_>, s: &SignalReport, view: &View, mode: &str) -> Option<Plot> {
    let Sight::Autocorrelation(r) = &view.seen.sight else { return None };
    let all = r.len() as f64 / s.sampling_hz;
    let period = s.period.dominant.as_ref().map(|d| d.period_s);
    let shown = period.map_or(all, |t| all.min(12.5 * t));
    let n = ((shown * s.sampling_hz) as usize).min(r.len());
    let (step, values) = thinned(&r[..n], 1.0 / s.sampling_hz, p.caps.of(POINTS.0, POINTS.1));
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(i, v)| (short(step * i as f64), *v)).collect();
    let low = values.iter().copied().fold(0.0, f64::min);
    let mut layers = vec![Layer::Line { name: "autocorrelation".into(), class: "write", points }];
    layers.extend(period.map(|t| Layer::Marks {
        name: format!("period of {}", units::seconds(t)),
        class: "dominant",
        at: vec![t],
    }));
    Some(plot(
        format!("autocorrelation-{mode}"),
        format!("Autocorrelation ({mode})"),
        period.map_or_else(|| "no periodic peak".into(), |t| format!("peak at {}", units::seconds(t))),
        (scale(0.0, shown, "Lag", "s", Numbers::Time), scale(1.1 * low, 1.06, "Autocorrelation", "", Numbers::Plain)),
        layers,
    ))
}

/// The correlation with the cosine of the period: where it is positive, the period holds.
fn correlation(p: &Page<'_>, s: &SignalReport, view: &View, mode: &str) -> Option<Plot> {
    let (_, sliding) = view.seen.sliding.as_ref()?;
    let zero = p.run.zero_s;
    let (step, values) = thinned(&sliding.correlation, 1.0 / s.sampling_hz, p.caps.of(POINTS.0, POINTS.1));
    let points: Vec<(f64, f64)> =
        values.iter().enumerate().map(|(i, v)| (short(s.start_s - zero + step * i as f64), *v)).collect();
    let spans = s.validity.iter().map(|w| (short(w.start_s - zero), short(w.end_s - zero))).collect();
    let mut made = plot(
        format!("correlation-{mode}"),
        format!("Where the period holds ({mode})"),
        units::counted(s.validity.len() as u64, "window"),
        (
            scale(p.run.range.0, p.run.range.1, "Time", "s", Numbers::Time),
            scale(-1.05, 1.05, "Correlation with the cosine", "", Numbers::Plain),
        ),
        vec![
            Layer::Spans { name: "the period holds".into(), class: "valid", row: Some(0), spans },
            Layer::Line { name: "correlation over one period".into(), class: "write", points },
        ],
    );
    made.time = true;
    Some(made)
}
