//! Reports as text for a terminal: the answer first, one screen.

use std::fmt::Write;

use super::layout::{faint_line, heading, line, percent, room, shorten, warnings};
use super::listing::{Cell, Listing};
use super::units;
use crate::analysis::{Info, Report, SignalReport};
use crate::period::{Bursts, Dominant, Method, OtherPeriod, Prediction, Regularity, Relation, Spread, Validity};
use crate::record::{ClockKind, Job, LayerSummary, Timing};

pub use super::layout::{Style, wrap_at};
pub use super::pattern_text::patterns;

/// A report as text: a line with the answer for each signal, then its details, then the trace and what to know about it.
pub fn report(r: &Report, style: Style) -> String {
    let mut out = heading(&r.trace.path, style);
    let mut order: Vec<&SignalReport> = r.signals.iter().collect();
    order.sort_by_key(|s| Some(s.mode) != r.primary);
    let zero_s = zero_s(r);
    for s in order {
        signal(&mut out, s, (zero_s, has_ended(r.trace.job.as_ref())), style);
    }
    let t = &r.trace;
    let rows = match r.quality.timing {
        Timing::Request | Timing::Order => "request",
        Timing::Phase => "phase",
        Timing::Heatmap => "bin",
        Timing::Counter if r.quality.bin_s.is_some() => "reading",
        Timing::Counter => "file record",
    };
    let layer = t.layer.map_or(String::new(), |l| format!(" {}", l.name()));
    let mut facts = vec![
        format!("{}{layer}", t.format),
        units::counted(t.ranks, "rank"),
        units::counted(t.files, "file"),
        units::counted(t.records, rows),
    ];
    if let (Timing::Counter, Some(step)) = (r.quality.timing, r.quality.bin_s)
        && let Some(readings) = facts.last_mut()
    {
        *readings = format!("{readings} {} apart", units::seconds(step));
    }
    if t.files == 0 {
        facts.remove(2);
    }
    let moved = [(t.bytes_written, "written"), (t.bytes_read, "read")];
    let some = moved.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", units::bytes(*n as f64)));
    facts.extend(some);
    if let Some(p) = &r.patterns {
        super::pattern_text::summary(&mut out, p);
    }
    let name = if style.several { String::new() } else { format!("{}: ", t.path) };
    line(&mut out, "trace", &format!("{name}{}", facts.join(", ")));
    clock(&mut out, r, zero_s, style);
    job(&mut out, t.job.as_ref());
    quality(&mut out, r);
    warnings(&mut out, &r.warnings, style);
    out
}

/// The time of the trace from which the text counts: 0 on the clock of a job; else the start of the trace, unless its clock
/// begins there.
pub(super) fn zero_s(r: &Report) -> f64 {
    let (Some(start), Some(end)) = (r.trace.start_s, r.trace.end_s) else { return 0.0 };
    let far = match r.clock.kind {
        ClockKind::JobStart => false,
        ClockKind::Unix | ClockKind::Midnight => true,
        ClockKind::Trace => start > end - start,
    };
    if far { start } else { 0.0 }
}

/// The zero of the times in the text; with `-v` as a time of day, too.
fn clock(out: &mut String, r: &Report, zero_s: f64, style: Style) {
    let wall = match (r.clock.unix_s(zero_s), r.clock.kind) {
        (Some(t), _) => Some(units::utc(t)),
        (None, ClockKind::Midnight) => Some(format!("{} local time", units::time_of_day(zero_s))),
        (None, _) => None,
    };
    let wall = wall.filter(|_| style.verbose);
    if zero_s == 0.0 {
        if let Some(wall) = wall {
            line(out, "clock", &format!("times count from the start of the job, {wall}"));
        }
        return;
    }
    let wall = wall.map_or(String::new(), |w| format!(", {w}"));
    let at = units::clock(zero_s, 0.1);
    line(out, "clock", &format!("times count from the start of the trace, at {at} of its clock{wall}"));
}

/// The uncertainty of a value behind it, if it is more than a millionth of `scale`: less is seen in none of the digits.
fn plus_minus(uncertainty: Option<f64>, scale: f64) -> String {
    uncertainty.filter(|e| *e >= 1e-6 * scale).map_or(String::new(), |e| format!(" ± {}", units::seconds(e)))
}

/// The answer for one signal in a line.
pub(super) fn answer(s: &SignalReport) -> String {
    let mode = s.mode.name().replace('_', " ");
    match &s.period.dominant {
        Some(d) => format!(
            "{mode}: periodic, every {}{} ({}), {} {}",
            units::seconds(d.period_s),
            plus_minus(d.period_std_s, d.period_s),
            units::hertz(d.frequency_hz),
            if s.period.method == Method::Auto { "confidence" } else { "score" },
            percent(d.confidence),
        ),
        None => format!("{mode}: {}", s.period.verdict.words()),
    }
}

fn signal(out: &mut String, s: &SignalReport, (zero_s, ended): (f64, bool), style: Style) {
    let _ = writeln!(out, "{}", style.bold(&answer(s)));
    match &s.period.dominant {
        Some(d) => periodic(out, s, d, zero_s, ended),
        None => {
            let span = units::seconds(s.end_s - s.start_s);
            line(out, "volume", &format!("{} over {span}", units::bytes(s.bytes)));
        }
    }
    if style.verbose {
        details(out, s, style);
    }
    requested(out, s, style);
}

fn periodic(out: &mut String, s: &SignalReport, d: &Dominant, zero_s: f64, ended: bool) {
    let (name, text) = valid(s, d, zero_s);
    line(out, name, &text);
    if let Some(b) = &s.bursts {
        line(out, "bursts", &bursts(b));
        if let Some(r) = &b.regularity {
            line(out, "gaps", &gaps(r));
        }
    }
    if let Some(p) = &s.prediction {
        line(out, "next", &next(p, zero_s, ended));
    }
    for o in &s.period.others {
        line(out, "also", &other(o, zero_s, ended));
    }
}

/// Where the period holds, or how many cycles there are.
pub(super) fn valid(s: &SignalReport, d: &Dominant, zero_s: f64) -> (&'static str, String) {
    if s.validity.is_empty() {
        return ("cycles", format!("{:.0} over {}", d.cycles, units::seconds(s.end_s - s.start_s)));
    }
    ("valid", format!("{} ({:.0} cycles)", windows(&s.validity, d.period_s, zero_s), d.cycles))
}

pub(super) fn bursts(b: &Bursts) -> String {
    format!(
        "{}, {} each, duty cycle {}, {} each{}",
        units::grouped(b.count),
        units::seconds(b.width_s.median),
        percent(b.duty_cycle),
        units::bytes(b.bytes.median),
        spread(&b.bytes),
    )
}

/// How much the gaps between bursts vary.
pub(super) fn gaps(r: &Regularity) -> String {
    if r.cv_high < 0.005 {
        return "vary by less than 1 %".to_owned();
    }
    format!("vary by {} ({} to {})", percent(r.cv), percent(r.cv_low), percent(r.cv_high))
}

/// Whether the job had ended when its trace was written: no burst comes any more.
pub(super) fn has_ended(job: Option<&Job>) -> bool {
    job.is_some_and(|j| j.end_unix_s.is_some())
}

/// The next burst, or when it would have come if the job has ended.
pub(super) fn next(p: &Prediction, zero_s: f64, ended: bool) -> String {
    let now = match (ended, p.now_in_burst) {
        (false, true) => "in a burst now, then ",
        (false, false) => "",
        (true, true) => "the job ended in a burst; the next would have come ",
        (true, false) => "would have come ",
    };
    format!(
        "{now}at {}{}, until {}, {}",
        units::clock(p.next_start_s - zero_s, p.period_s / 10.0),
        plus_minus(p.next_start_std_s, p.period_s),
        units::clock(p.next_end_s - zero_s, p.period_s / 10.0),
        units::bytes(p.bytes),
    )
}

/// A further period: when it holds relative to the dominant one, and until when if the two do not hold at the same time.
pub(super) fn other(o: &OtherPeriod, zero_s: f64, ended: bool) -> String {
    let (relation, alone) = match o.relation {
        Relation::After => ("after it", true),
        Relation::Before => ("before it", true),
        Relation::Within => ("within it", false),
        Relation::Beside => ("beside it", false),
    };
    let p = &o.period;
    let spans = if alone { format!(", {}", windows(&o.validity, p.period_s, zero_s)) } else { String::new() };
    let next = o.prediction.as_ref().filter(|_| alone && !ended);
    let next = next
        .map_or(String::new(), |n| format!(", next at {}", units::clock(n.next_start_s - zero_s, n.period_s / 10.0)));
    format!("every {} {relation}{spans}, confidence {}{next}", units::seconds(p.period_s), percent(p.confidence))
}

/// The first windows in which a period holds.
pub(super) fn windows(all: &[Validity], period_s: f64, zero_s: f64) -> String {
    let shown: Vec<String> = all.iter().take(4).map(|w| window(w, period_s, zero_s)).collect();
    let more = if all.len() > 4 { format!(" and {} more", all.len() - 4) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Least and most of what bursts move, unless all move the same.
fn spread(bytes: &Spread) -> String {
    let range = units::byte_range(bytes.min, bytes.max);
    if range == units::bytes(bytes.median) { String::new() } else { format!(" ({range})") }
}

fn window(w: &Validity, period: f64, zero_s: f64) -> String {
    let start = units::clock(w.start_s - zero_s, period / 10.0);
    format!("{} to {}", start.trim_end_matches(" s"), units::clock(w.end_s - zero_s, period / 10.0))
}

fn details(out: &mut String, s: &SignalReport, style: Style) {
    line(
        out,
        "sampled",
        &format!(
            "{} samples at {}, sampling error {}",
            units::grouped(s.samples),
            units::hertz(s.sampling_hz),
            percent(s.abstraction_error)
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
        faint_line(out, "candidate", &text, style);
    }
}

/// Results that an option has asked for.
fn requested(out: &mut String, s: &SignalReport, style: Style) {
    for c in &s.components {
        let (factor, prefix) = units::si_prefix(c.frequency_hz);
        let text = format!(
            "{} cos(2π · {:.4} {prefix}Hz · t {:+.3})",
            units::rate(c.amplitude_bytes_per_s),
            c.frequency_hz / factor,
            c.phase_rad
        );
        faint_line(out, "component", &text, style);
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
            "root mean square error {} fitted, {} without ({} less of the square)",
            units::rate(f.mse_fit.sqrt()),
            units::rate(f.mse_dft.sqrt()),
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
            facts.push(format!("{} {what}", units::grouped(n)));
        }
    };
    note(q.records_dropped, "records unusable");
    note(q.records_left_out, "ignored (failed calls, system files)");
    note(q.clamped, "with times or sizes out of range");
    note(q.clock_backwards, "steps back of the clock");
    if !facts.is_empty() {
        line(out, "quality", &facts.join(", "));
    }
}

/// The job as batch systems print it, and its command in the columns that are left.
fn job(out: &mut String, job: Option<&Job>) {
    let Some(j) = job else { return };
    let facts = [
        j.id.map(|id| format!("id {id}")),
        j.uid.map(|uid| format!("user {uid}")),
        j.ranks.map(|n| units::counted(n, "rank")),
        j.start_unix_s.map(|t| format!("started {}", units::utc(t))),
        j.run_time_s.map(|t| format!("ran {}", units::seconds(t))),
        j.end_unix_s.map(|t| format!("ended {}", units::utc(t))),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        line(out, "job", &facts.join(", "));
    }
    if let Some(command) = &j.executable {
        line(out, "command", &shorten(command, room()));
    }
}

/// The content of a trace, as text.
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
    job(&mut out, i.job.as_ref());
    let files = if i.files > 0 { format!(", {}", units::counted(i.files, "file")) } else { String::new() };
    line(&mut out, "contents", &format!("{}{files}", units::counted(i.ranks, "rank")));
    if let (Some(a), Some(b)) = (i.start_s, i.end_s) {
        let said = i.job.as_ref().is_some_and(|j| j.start_unix_s.is_some());
        let from = i.clock.unix_s(a).filter(|_| !said).map_or(String::new(), |t| format!(", from {}", units::utc(t)));
        let span = units::seconds(b - a);
        line(&mut out, "time", &format!("{} to {}: {span}{from}", units::clock(a, 0.1), units::clock(b, 0.1)));
    }
    if !i.partial.is_empty() {
        line(&mut out, "incomplete", &i.partial.join(", "));
    }
    if !i.layers.is_empty() {
        let _ = writeln!(out, "\n{}", layers(i, 0.0).text());
    }
    if !i.calls.is_empty() {
        let mut calls: Vec<_> = i.calls.iter().collect();
        calls.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let shown: Vec<_> = calls.iter().take(12).map(|(n, c)| format!("{n} {}", units::grouped(**c))).collect();
        let more = if calls.len() > 12 { format!(", {} more", calls.len() - 12) } else { String::new() };
        line(&mut out, "calls", &format!("{}{more}", shown.join(", ")));
    }
    if let Some(c) = &i.counters {
        super::counters::tables(&mut out, c, style);
    }
    warnings(&mut out, &i.warnings, style);
    out
}

/// The layers of a trace, whose times count from `zero_s`.
pub(super) fn layers(i: &Info, zero_s: f64) -> Listing<&LayerSummary> {
    Listing::of(&i.layers)
        .column("Layer", "layer", |l| Cell::text(&l.layer))
        .column("Records", "records", |l| Cell::count(l.records))
        .column("Reads", "reads", |l| Cell::count(l.reads))
        .column("Writes", "writes", |l| Cell::count(l.writes))
        .column("Read", "bytes-read", |l| Cell::bytes(l.bytes_read))
        .column("Written", "bytes-written", |l| Cell::bytes(l.bytes_written))
        .column("First", "first", |l| Cell::clock(l.first_s.map(|t| t - zero_s), 0.1))
        .column("Last", "last", |l| Cell::clock(l.last_s.map(|t| t - zero_s), 0.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_below_the_uncertainty_are_left_out() {
        assert_eq!(plus_minus(Some(3e-9), 1.0), "");
        assert_eq!(plus_minus(Some(0.02), 1.0), " ± 20.0 ms");
    }
}
