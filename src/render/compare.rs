//! A comparison as text: the verdict, probable reasons, what differs, and what does not.

use super::io_time::layer_name;
use super::layout::{Style, headline, line, warnings};
use super::units::{self, short_seconds};
use crate::compare::{self, Basis, Comparison, Fact, IoTimeChange, Outcome, Reason, Row, Side};

/// Differences of a kind shown without `-v`.
const SHOWN: usize = 4;
/// Reasons shown without `-v`.
const REASONS: usize = 5;

/// A comparison as text.
pub fn comparison(c: &Comparison, style: Style) -> String {
    let mut out = String::new();
    headline(&mut out, &verdict(c), style);
    for (name, side) in [("A", &c.before), ("B", &c.after)] {
        line(&mut out, name, &traces(side));
    }
    if let Some(w) = c.warnings.iter().find(|w| w.code == "different-depth") {
        line(&mut out, "depth", &w.message);
    }
    interval(&mut out, c);
    let shown = if style.verbose { usize::MAX } else { REASONS };
    for (i, r) in c.reasons.iter().take(shown).enumerate() {
        let cost = r.lost_s.filter(|s| significant(c, *s)).map_or(String::new(), |s| {
            format!("; {} {}", if s > 0.0 { "costs" } else { "saves" }, short_seconds(s.abs()))
        });
        let list = |all: &[String]| if all.is_empty() { String::new() } else { format!("; {}", all.join(", ")) };
        let text = format!("{}{cost}{}{}", row(&r.row), list(&r.codes), list(&r.files));
        line(&mut out, if i == 0 { "reasons" } else { "" }, &text);
    }
    let reasons: Vec<&str> = c.reasons.iter().map(|r| r.row.what.as_str()).collect();
    let rest = |rows: &[Row]| rows.iter().filter(|r| !reasons.contains(&r.what.as_str())).map(row).collect();
    let fact = |f: &Fact| match f.what.as_str() {
        "command" if !style.verbose => {
            format!("command: {} to {}", beyond(&f.before, &f.after), beyond(&f.after, &f.before))
        }
        what => format!("{what}: {} to {}", f.before, f.after),
    };
    section(&mut out, "job", c.job.iter().map(fact).collect(), style);
    section(&mut out, "periods", rest(&c.periods), style);
    section(&mut out, "bursts", rest(&c.bursts), style);
    section(&mut out, "volumes", rest(&c.layers), style);
    section(&mut out, "time", rest(&c.time), style);
    let known = |x: &Option<String>| x.clone().unwrap_or_else(|| "none".into());
    let size = |x: &Option<String>| {
        let bytes = x.as_deref().and_then(|text| text.parse().ok());
        bytes.map_or_else(|| known(x), units::bytes)
    };
    let file = |f: &crate::compare::FileChange| match f.what.as_str() {
        "appeared" => format!("{} appeared: {}", f.file, known(&f.after)),
        "vanished" => format!("{} vanished: {}", f.file, known(&f.before)),
        "bytes" => format!("{}: {} to {}", f.file, size(&f.before), size(&f.after)),
        what => format!("{}: {what} {} to {}", f.file, known(&f.before), known(&f.after)),
    };
    section(&mut out, "files", c.files.iter().map(file).collect(), style);
    let pattern = |p: &crate::compare::PatternChange| {
        let share = |x: Option<f64>| format!("{:.0} % of the bytes", 100.0 * x.unwrap_or(0.0));
        let bytes = |x: Option<f64>| x.map_or("various".to_owned(), units::bytes);
        let text = match p.what.as_str() {
            "new" => format!("new, {}", share(p.after)),
            "gone" => format!("gone, {}", share(p.before)),
            what => format!("{what} {} to {}", bytes(p.before), bytes(p.after)),
        };
        format!("{} {} {}: {text}", p.op, p.kind, p.file)
    };
    section(&mut out, "patterns", c.patterns.iter().map(pattern).collect(), style);
    let f = &c.findings;
    let mut codes: Vec<String> = f.new.iter().map(|code| format!("{code} is new")).collect();
    codes.extend(f.gone.iter().map(|code| format!("{code} is gone")));
    codes.extend(
        f.changed
            .iter()
            .map(|x| format!("{} lost {} to {}", x.code, short_seconds(x.before_s), short_seconds(x.after_s))),
    );
    section(&mut out, "findings", codes, style);
    let edge = |g: &crate::compare::GraphChange| {
        format!("{} > {}: {} to {} a case", g.from, g.to, units::digits(g.before), units::digits(g.after))
    };
    section(&mut out, "graph", c.graph.iter().map(edge).collect(), style);
    if !c.unchanged.is_empty() {
        line(&mut out, "unchanged", &c.unchanged.join(", "));
    }
    let others: Vec<_> = c.warnings.iter().filter(|w| w.code != "different-depth").cloned().collect();
    warnings(&mut out, &others, style);
    out
}

/// The traces of a side: one by its path, of several the first and their number.
fn traces(side: &Side) -> String {
    let first = side.traces.first().map_or("", |t| t.path.as_str());
    match side.traces.len() {
        0 | 1 => first.to_owned(),
        n => format!("{first} and {}", units::counted(n as u64 - 1, "other trace")),
    }
}

fn section(out: &mut String, name: &str, all: Vec<String>, style: Style) {
    let shown = if style.verbose { usize::MAX } else { SHOWN };
    for (i, text) in all.iter().take(shown).enumerate() {
        line(out, if i == 0 { name } else { "" }, text);
    }
    if all.len() > shown {
        line(out, "", &format!("{} more; -v shows them", all.len() - shown));
    }
}

/// A cost that is worth a word.
fn significant(c: &Comparison, s: f64) -> bool {
    let most = c.io_time.before_s.unwrap_or(0.0).max(c.io_time.after_s.unwrap_or(0.0));
    s.abs() > 0.05 * most
}

/// The first line.
pub(super) fn verdict(c: &Comparison) -> String {
    let t = &c.io_time;
    let bytes = |name: &str| c.unchanged.iter().any(|u| u == name);
    let same_bytes = if bytes("write bytes") || bytes("read bytes") { ", same bytes" } else { "" };
    match c.verdict {
        Outcome::Slower => format!("B {}{}{same_bytes}", faster_or_slower(t, "slower"), bursts(c)),
        Outcome::Faster => format!("B {}{}{same_bytes}", faster_or_slower(t, "faster"), bursts(c)),
        Outcome::Same if is_equal(c) => "A and B are the same".into(),
        Outcome::Same if c.reasons.is_empty() => "A and B take the same I/O time".into(),
        Outcome::Same => format!("A and B take the same I/O time, but differ: {}", listed(c, c.reasons.iter())),
        Outcome::DifferentWork => {
            let is_work = |r: &&Reason| matches!(r.row.what.as_str(), "ranks" | "read bytes" | "write bytes" | "files");
            let work = listed(c, c.reasons.iter().filter(is_work));
            let rates: Vec<String> =
                c.bursts.iter().filter(|r| r.what.ends_with("bursts: rate")).map(|r| format!("; {}", row(r))).collect();
            format!("A and B do different work: {work}{}; {}", rates.concat(), runs(t))
        }
        Outcome::CannotTell if t.change.is_none() => format!("the traces do not say how long I/O takes; {}", runs(t)),
        Outcome::CannotTell if is_bounded(t) => {
            format!("the logs give only bounds of the time in I/O, which overlap; {}", runs(t))
        }
        Outcome::CannotTell => {
            format!("{}, which may be noise: there is one value on each side; {}", difference(t), runs(t))
        }
    }
}

/// Run times: `run 23.07 s to 11.33 s`.
fn runs(t: &IoTimeChange) -> String {
    let [before, after] = t.run_s.map(short_seconds);
    format!("run {before} to {after}")
}

/// Change of the time in I/O: `11.73 s less I/O (−54 %), in MPI-IO 21.84 s to 10.11 s`.
fn difference(t: &IoTimeChange) -> String {
    let (before, change) = (t.before_s.unwrap_or(0.0), t.change.unwrap_or(0.0));
    let share = if before > 0.0 { percent(1.0 + change / before) } else { String::new() };
    let word = if change > 0.0 { "more" } else { "less" };
    let place = t.layer.as_deref().and_then(layer_name).map_or(String::new(), |name| format!(" in {name}"));
    format!("{} {word} I/O{share},{place} {}", short_seconds(change.abs()), io_times(t))
}

/// By the run times if they differ as the time in I/O does, else by that alone.
fn faster_or_slower(t: &IoTimeChange, word: &str) -> String {
    let [a, b] = t.run_s;
    match word {
        "faster" if a > 1.05 * b => format!("is {:.1} times as fast: {}; {}", a / b, runs(t), difference(t)),
        "slower" if b > 1.05 * a => format!("takes {:.1} times as long: {}; {}", b / a, runs(t), difference(t)),
        _ => format!("is {word} in I/O: {}; {}", difference(t), runs(t)),
    }
}

/// Changes of the lengths of bursts.
fn bursts(c: &Comparison) -> String {
    let length = |r: &Row| {
        let [a, b] = [r.before, r.after].map(|x| short_seconds(x.unwrap_or(0.0)));
        let name = r.what.trim_end_matches(": length");
        format!(", {name} of {a} now take {b} each{}", p_value(r.p))
    };
    c.bursts.iter().filter(|r| r.what.ends_with("bursts: length")).map(length).collect()
}

fn is_bounded(t: &IoTimeChange) -> bool {
    let wide = |low: Option<f64>, high: f64| low.is_some_and(|low| high > 1.01 * low);
    t.high_s.is_some_and(|[a, b]| wide(t.before_s, a) || wide(t.after_s, b))
}

/// Time in I/O of both sides, with the ends of what is only bounded: `between 2.5 s and 3.1 s to 1.2 s`.
fn io_times(t: &IoTimeChange) -> String {
    let [high_a, high_b] = t.high_s.unwrap_or_default();
    let side = |low: Option<f64>, high: f64| match low {
        Some(low) if high > 1.01 * low => format!("between {} and {}", short_seconds(low), short_seconds(high)),
        low => short_seconds(low.unwrap_or(0.0)),
    };
    format!("{} to {}", side(t.before_s, high_a), side(t.after_s, high_b))
}

fn is_equal(c: &Comparison) -> bool {
    c.reasons.is_empty() && c.job.is_empty() && c.files.is_empty() && c.patterns.is_empty() && c.layers.is_empty()
}

/// The words of a command that another one does not have.
fn beyond(command: &str, other: &str) -> String {
    let others: Vec<&str> = other.split(' ').collect();
    let own: Vec<&str> = command.split(' ').filter(|w| !others.contains(w)).collect();
    if own.is_empty() { "none".into() } else { own.join(" ") }
}

/// The first of some reasons, or the number of families that differ.
fn listed<'a>(c: &Comparison, reasons: impl Iterator<Item = &'a Reason>) -> String {
    let reasons: Vec<String> = reasons.take(2).map(|r| row(&r.row)).collect();
    if reasons.is_empty() {
        return units::counted(c.files.len() as u64, "file family") + " differ";
    }
    reasons.join("; ")
}

fn interval(out: &mut String, c: &Comparison) {
    let t = &c.io_time;
    if t.change.is_none() {
        return;
    }
    let range = match (t.low, t.high) {
        (Some(low), Some(high)) => {
            let level = match t.basis {
                Basis::Runs => compare::level(c.before.traces.len(), c.after.traces.len()),
                _ => 0.95,
            };
            format!(", change {} to {} ({:.0} %)", signed(low), signed(high), 100.0 * level)
        }
        _ => String::new(),
    };
    let basis = match t.basis {
        Basis::Runs => "samples are the runs",
        Basis::Bursts => {
            "samples are the bursts of one pair of runs; the interval does not include the variation between runs"
        }
        Basis::Single => "one value on each side, without an interval",
    };
    line(out, "I/O time", &format!("{}{range}; {basis}", io_times(t)));
}

fn signed(s: f64) -> String {
    if s < 0.0 { format!("−{}", short_seconds(-s)) } else { format!("+{}", short_seconds(s)) }
}

fn p_value(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.001 => " (p < 0.001)".into(),
        Some(p) => format!(" (p = {p:.3})"),
        None => String::new(),
    }
}

/// A value in its unit.
fn value(x: Option<f64>, unit: &str) -> String {
    let Some(x) = x else { return "none".into() };
    match unit {
        "s" => short_seconds(x),
        "bytes" => units::bytes(x),
        "bytes/s" => units::rate(x),
        "count" => units::grouped(x.round() as i64),
        _ => units::digits(x),
    }
}

/// A row: `write period: 10.00 s to 20.00 s (2 times) (p < 0.001)`.
pub(super) fn row(r: &Row) -> String {
    if r.before.is_none() && r.after.is_none() {
        return r.change.map_or_else(|| r.what.clone(), |x| format!("{}: {}", r.what, value(Some(x), &r.unit)));
    }
    let [before, after] = [r.before, r.after].map(|x| value(x, &r.unit));
    let times = r.before.zip(r.after).filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a);
    let change = match times {
        Some(x) if r.what.ends_with("period") => fraction(x).unwrap_or_else(|| percent(x)),
        Some(x) if x >= 2.0 => format!(" ({} times)", units::digits(x)),
        Some(x) => percent(x),
        None => String::new(),
    };
    format!("{} {before} to {after}{change}{}", r.what, p_value(r.p))
}

fn percent(x: f64) -> String {
    format!(" ({:+.0} %)", 100.0 * (x - 1.0)).replace('-', "−")
}

/// A ratio of periods near a small fraction.
fn fraction(x: f64) -> Option<String> {
    let near = |a: f64, b: f64| (x * b / a - 1.0).abs() < 0.01;
    let ordinal = [(2.0, "second"), (3.0, "third"), (4.0, "fourth")];
    if let Some((_, word)) = ordinal.iter().find(|(n, _)| near(*n, 1.0)) {
        return Some(format!(" (every {word} burst)"));
    }
    if let Some((n, _)) = ordinal.iter().find(|(n, _)| near(1.0, *n)) {
        return Some(format!(" ({n} bursts for one)"));
    }
    [(3.0, 2.0), (2.0, 3.0), (4.0, 3.0), (3.0, 4.0)]
        .iter()
        .find(|(a, b)| near(*a, *b))
        .map(|(a, b)| format!(" ({a}/{b})"))
}
