//! The trace, its quality, what was left out, and the words that the page uses.

use maud::{Markup, html};

use crate::record::Warning;
use crate::render::html::markup::{Said, facts, fold};
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::text::layers;
use crate::render::units;

/// Words with a meaning of their own.
const GLOSSARY: [(&str, &str); 20] = [
    ("access", "a read or write with a place in its file"),
    ("aligned", "beginning at a multiple of the stripe unit, or of the block size where that is not known"),
    ("bandwidth", "bytes per second of all ranks together"),
    ("bound", "a value that counters give only from below"),
    ("burst", "I/O without a long break: from its first to its last byte"),
    ("collective", "an MPI-IO call that all ranks of the file make together"),
    (
        "confidence",
        "probability that a period is right within 5 %, calibrated on traces with a known period; of methods other than auto a score",
    ),
    ("consecutive", "beginning where the last access of the rank ended"),
    ("counters", "sums of each file and rank, without the times of single requests"),
    ("cycle", "one period: a burst and the time until the next one"),
    ("duty cycle", "share of the period that a burst lasts"),
    ("DXT", "Darshan's extended tracing: every read and write with time and place"),
    ("family", "files whose names differ in digits only, written with # for each run of digits"),
    ("lost", "seconds that could be gained, by the formula of the finding"),
    ("metadata", "opening, closing, seeking and asking for attributes of files"),
    ("period", "time from the start of one burst to the start of the next"),
    ("sequential", "beginning after the end of the last access of the rank, not always right behind it"),
    ("stripe", "the part of a file that lies on one storage target in a row"),
    ("time", "seconds spent in what was found: an upper bound of the gain"),
    ("valid", "the time in which the period holds"),
];

pub fn section(p: &mut Page<'_>) -> Markup {
    let absent = p.absent.iter().map(|(title, how)| format!("{title}: {how}."));
    let content = html! {
        (source(p.run))
        (layers(&p.run.info, p.run.zero_s).html(&p.id("layers"), "Contents of the trace"))
        (list("Warnings", warnings(p.run).into_iter().map(|w| html! {
            code { (w.code) } " " (Said(&w.message)) @if let Some(remedy) = &w.remedy { "; " (Said(&remedy.to_string())) }
        })))
        (list("Not in this trace", absent.map(|text| html! { (text) })))
        (list("Cut to keep the page small", p.cuts.iter().map(|text| html! { (text) })))
        (fold("Glossary", facts(GLOSSARY.map(|(word, meaning)| (word, Some(meaning.to_owned()))))))
    };
    let lead = "Source of the data, options of the reader, and what the trace does not contain.";
    p.section("provenance", "Provenance", lead, content)
}

/// A heading and a list, if there is something in it.
fn list(heading: &str, items: impl ExactSizeIterator<Item = Markup>) -> Markup {
    html! { @if items.len() > 0 { h3 { (heading) } ul { @for item in items { li { (item) } "\n" } } } }
}

fn source(run: &Run) -> Markup {
    let (i, o) = (&run.info, &run.origin);
    let q = run.report.as_ref().map(|r| &r.quality);
    let number = |n: u64| Some(units::grouped(n)).filter(|_| n > 0);
    let layer =
        run.summary.layer.map(|l| format!("{}, the one with the most exact data unless it was chosen", l.name()));
    let clock = if run.zero_s == 0.0 {
        "times are seconds on the trace's own clock".to_owned()
    } else {
        format!("times count from {} of the trace's clock", units::clock(run.zero_s, 0.1))
    };
    facts([
        ("File", Some(o.name.clone())),
        ("Size", Some(units::bytes(o.bytes as f64)).filter(|_| o.bytes > 0)),
        ("SHA-256", o.sha256.clone()),
        ("Format", Some(format!("{} {}", i.format, i.version.as_deref().unwrap_or_default()))),
        ("Byte order", i.byte_order.clone()),
        ("Compression", i.compression.clone()),
        ("Recorded with", run.release.clone()),
        ("Layer", layer),
        ("Clock", Some(clock)),
        ("Options", Some(o.options.join(" "))),
        ("Program", Some(format!("iophase {}", env!("CARGO_PKG_VERSION")))),
        ("Records", q.map(|q| units::grouped(q.records_read))),
        ("Unusable records", q.and_then(|q| number(q.records_dropped))),
        ("Ignored records", q.and_then(|q| number(q.records_left_out))),
        ("Out of range", q.and_then(|q| number(q.clamped))),
        ("Clock stepped back", q.and_then(|q| number(q.clock_backwards))),
        ("Incomplete", Some(i.partial.join(", "))),
    ])
}

fn warnings(run: &Run) -> Vec<&Warning> {
    let mut all: Vec<&Warning> = run.report.iter().flat_map(|r| &r.warnings).collect();
    for w in run.info.warnings.iter().chain(&run.findings.warnings) {
        if !all.contains(&w) {
            all.push(w);
        }
    }
    all
}
