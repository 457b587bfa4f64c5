//! Reports as text for a terminal: the answer first, one screen.

use std::fmt::Write;

use super::units;
use crate::analysis::{Info, Report, SignalReport};
use crate::period::{Dominant, Method, Validity};
use crate::record::{Timing, Warning};

pub use super::pattern_text::patterns;

/// How text may look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Use bold and colour.
    pub color: bool,
    /// Show what lies behind the answer: candidates, spectrum, sampling.
    pub verbose: bool,
}

impl Style {
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// A report as text: a line with the answer for each signal, then its details, then the trace and what to know about it.
pub fn report(r: &Report, style: Style) -> String {
    let mut out = String::new();
    let mut order: Vec<&SignalReport> = r.signals.iter().collect();
    order.sort_by_key(|s| Some(s.mode) != r.primary);
    for s in order {
        signal(&mut out, s, style);
    }
    let t = &r.trace;
    let rows = match r.quality.timing {
        Timing::Request => "request",
        Timing::Phase => "phase",
        Timing::Heatmap => "bin",
        Timing::Counter => "file record",
    };
    let layer = t.layer.map_or(String::new(), |l| format!(" {}", l.name()));
    let mut facts = vec![
        format!("{}{layer}", t.format),
        units::counted(t.ranks, "rank"),
        units::counted(t.files, "file"),
        units::counted(t.records, rows),
        format!("{} written", units::bytes(t.bytes_written as f64)),
        format!("{} read", units::bytes(t.bytes_read as f64)),
    ];
    if t.files == 0 {
        facts.remove(2);
    }
    if let Some(p) = &r.patterns {
        super::pattern_text::summary(&mut out, p);
    }
    line(&mut out, "trace", &format!("{}: {}", t.path, facts.join(", ")));
    if let Some(exe) = t.job.as_ref().and_then(|j| j.executable.as_deref()) {
        line(&mut out, "job", &shorten(exe, 100));
    }
    quality(&mut out, r);
    warnings(&mut out, &r.warnings, style);
    out
}

pub(super) fn line(out: &mut String, name: &str, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {name:<10} {text}");
}

pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

fn signal(out: &mut String, s: &SignalReport, style: Style) {
    let mode = s.mode.name().replace('_', " ");
    match &s.period.dominant {
        Some(d) => {
            let head = format!(
                "{mode}: periodic, every {}{} ({}), {} {}",
                units::seconds(d.period_s),
                d.period_std_s.map_or(String::new(), |e| format!(" ± {}", units::seconds(e))),
                units::hertz(d.frequency_hz),
                if s.period.method == Method::Auto { "confidence" } else { "score" },
                percent(d.confidence),
            );
            let _ = writeln!(out, "{}", style.bold(&head));
            periodic(out, s, d);
        }
        None => {
            let head = format!("{mode}: not periodic, {}", s.period.verdict.words());
            let _ = writeln!(out, "{}", style.bold(&head));
            let span = units::seconds(s.end_s - s.start_s);
            line(out, "moves", &format!("{} in {span}", units::bytes(s.bytes)));
        }
    }
    if style.verbose {
        details(out, s, style);
    }
}

pub(super) fn percent(p: f64) -> String {
    format!("{:.0} %", 100.0 * p)
}

fn periodic(out: &mut String, s: &SignalReport, d: &Dominant) {
    if !s.validity.is_empty() {
        let windows: Vec<String> = s.validity.iter().map(|w| window(w, d.period_s)).collect();
        let shown = windows.len().min(4);
        let more = if windows.len() > shown { format!(" and {} more", windows.len() - shown) } else { String::new() };
        line(out, "holds", &format!("{}{more}, {:.0} cycles", windows[..shown].join(", "), d.cycles));
    } else {
        line(out, "cycles", &format!("{:.0} in {}", d.cycles, units::seconds(s.end_s - s.start_s)));
    }
    if let Some(b) = &s.bursts {
        line(
            out,
            "bursts",
            &format!(
                "{} of {} ({} of the period), {} each ({} to {})",
                b.count,
                units::seconds(b.width_s.median),
                percent(b.duty_cycle),
                units::bytes(b.bytes.median),
                units::bytes(b.bytes.min),
                units::bytes(b.bytes.max),
            ),
        );
    }
    if let Some(p) = &s.prediction {
        line(
            out,
            "next",
            &format!(
                "at {}{}, until {}, {}",
                units::clock(p.next_start_s, p.period_s / 10.0),
                p.next_start_std_s.map_or(String::new(), |e| format!(" ± {}", units::seconds(e))),
                units::clock(p.next_end_s, p.period_s / 10.0),
                units::bytes(p.bytes),
            ),
        );
    }
    for o in &s.period.others {
        line(out, "also", &format!("every {}, confidence {}", units::seconds(o.period_s), percent(o.confidence)));
    }
}

fn window(w: &Validity, period: f64) -> String {
    let start = units::clock(w.start_s, period / 10.0);
    format!("{} to {}", start.trim_end_matches(" s"), units::clock(w.end_s, period / 10.0))
}

fn details(out: &mut String, s: &SignalReport, style: Style) {
    line(
        out,
        "sampled",
        &format!(
            "{} samples at {}, abstraction error {:.2e}",
            units::grouped(s.samples as i64),
            units::hertz(s.sampling_hz),
            s.abstraction_error
        ),
    );
    for c in s.period.candidates.iter().take(8) {
        let harmonic = c.harmonic_of.map_or(String::new(), |f| format!(", harmonic of {}", units::hertz(f)));
        let text = format!(
            "{} ({}), score {:.2}, confidence {}{harmonic}",
            units::seconds(c.period_s),
            units::hertz(c.frequency_hz),
            c.score,
            percent(c.confidence)
        );
        line(out, "candidate", &style.faint(&text));
    }
    for c in &s.components {
        let text = format!(
            "{} cos(2π · {:.6} Hz · t {:+.3})",
            units::rate(c.amplitude_bytes_per_s),
            c.frequency_hz,
            c.phase_rad
        );
        line(out, "component", &style.faint(&text));
    }
    if let Some(c) = &s.scores {
        let score = |name: &str, value: Option<f64>| value.map(|v| format!("{name} {v:.3}"));
        let all = [
            score("spectral flatness", c.spectral_flatness),
            score("spectral entropy", c.spectral_entropy),
            score("recurrence entropy", c.recurrence_entropy),
            score("correlation with the cosine", c.correlation),
            score("in each period", c.period_correlation),
        ];
        line(out, "scores", &all.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
    if let Some(f) = &s.fit {
        let text = format!(
            "mean square error {:.4e} fitted, {:.4e} without ({} less)",
            f.mse_fit,
            f.mse_dft,
            percent(f.improvement)
        );
        line(out, "fit", &text);
    }
}

fn quality(out: &mut String, r: &Report) {
    let q = &r.quality;
    let mut facts = Vec::new();
    let mut note = |n: u64, what: &str| {
        if n > 0 {
            facts.push(format!("{} {what}", units::grouped(n as i64)));
        }
    };
    note(q.records_dropped, "records unusable");
    note(q.records_left_out, "left out (failed calls, system files)");
    note(q.clamped, "with times or sizes out of range");
    note(q.clock_backwards, "steps back of the clock");
    if !q.partial.is_empty() {
        facts.push(format!("incomplete: {}", q.partial.join(", ")));
    }
    if !facts.is_empty() {
        line(out, "quality", &facts.join(", "));
    }
}

pub(super) fn warnings(out: &mut String, warnings: &[Warning], style: Style) {
    for w in warnings {
        let remedy = w.remedy.as_ref().map_or(String::new(), |r| format!("; {r}"));
        line(out, &style.paint("33", &format!("{:<10}", "warning")), &format!("{}{remedy}", w.message));
    }
}

/// What a trace holds, as text.
pub fn info(i: &Info, style: Style) -> String {
    let mut out = String::new();
    let version = i.version.as_ref().map_or(String::new(), |v| format!(" {v}"));
    let _ = writeln!(out, "{}", style.bold(&format!("{}: {}{version}", i.path, i.format)));
    let stored: Vec<String> = [
        i.byte_order.as_ref().map(|b| format!("{b}-endian")),
        i.compression.as_ref().map(|c| format!("compression {c}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !stored.is_empty() {
        line(&mut out, "stored", &stored.join(", "));
    }
    if let Some(j) = &i.job {
        let mut facts = Vec::new();
        if let Some(id) = j.id {
            facts.push(format!("id {id}"));
        }
        if let Some(t) = j.run_time_s {
            facts.push(format!("ran {}", units::seconds(t)));
        }
        if let Some(e) = &j.executable {
            facts.push(shorten(e, 100));
        }
        line(&mut out, "job", &facts.join(", "));
    }
    line(&mut out, "holds", &format!("{}, {}", units::counted(i.ranks, "rank"), units::counted(i.files, "file")));
    if let (Some(a), Some(b)) = (i.start_s, i.end_s) {
        line(
            &mut out,
            "time",
            &format!("{} to {} ({})", units::clock(a, 0.1), units::clock(b, 0.1), units::seconds(b - a)),
        );
    }
    if !i.partial.is_empty() {
        line(&mut out, "incomplete", &i.partial.join(", "));
    }
    if !i.layers.is_empty() {
        let _ = writeln!(out, "\n{}", layers(i));
    }
    if !i.calls.is_empty() {
        let mut calls: Vec<_> = i.calls.iter().collect();
        calls.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let shown: Vec<_> = calls.iter().take(12).map(|(n, c)| format!("{n} {}", units::grouped(**c as i64))).collect();
        let more = if calls.len() > 12 { format!(", {} more", calls.len() - 12) } else { String::new() };
        line(&mut out, "calls", &format!("{}{more}", shown.join(", ")));
    }
    warnings(&mut out, &i.warnings, style);
    out
}

fn layers(i: &Info) -> String {
    use comfy_table::{CellAlignment, Table, presets};
    let mut t = Table::new();
    t.load_style(presets::NOTHING);
    t.set_header(["  layer", "records", "reads", "writes", "read", "written", "first", "last"]);
    let number = |n: Option<u64>| n.map_or("-".to_owned(), |n| units::grouped(n as i64));
    let time = |t: Option<f64>| t.map_or("-".to_owned(), |t| units::clock(t, 0.1));
    for l in &i.layers {
        t.add_row([
            format!("  {}", l.layer),
            number(Some(l.records)),
            number(l.reads),
            number(l.writes),
            units::bytes(l.bytes_read as f64),
            units::bytes(l.bytes_written as f64),
            time(l.first_s),
            time(l.last_s),
        ]);
    }
    for c in t.column_iter_mut().skip(1) {
        c.set_cell_alignment(CellAlignment::Right);
    }
    t.trim_fmt()
}
