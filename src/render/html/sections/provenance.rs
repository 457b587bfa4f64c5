//! The trace, its quality, what was left out, and the words that the page uses.

use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::html::table::{self, Cell, Column};
use crate::render::html::writer::Html;
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

pub fn section(p: &mut Page<'_>) {
    let run = p.run;
    p.section(
        "provenance",
        "Provenance",
        "Source of the data, options of the reader, and what the trace does not contain.",
        |p| {
            facts(&mut p.h, run);
            modules(p, run);
            warnings(&mut p.h, run);
            left_out(p);
            glossary(&mut p.h);
        },
    );
}

fn facts(h: &mut Html, run: &Run) {
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
    table::facts(
        h,
        &[
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
        ],
    );
}

fn modules(p: &mut Page<'_>, run: &Run) {
    if run.info.layers.is_empty() {
        return;
    }
    let columns = [
        Column::text("Data", "layer"),
        Column::number("Records", "records"),
        Column::number("Reads", "reads"),
        Column::number("Writes", "writes"),
        Column::number("Read", "bytes-read"),
        Column::number("Written", "bytes-written"),
    ];
    let rows = run.info.layers.iter().map(|l| {
        vec![
            Cell::text(&l.layer),
            Cell::count(Some(l.records)),
            Cell::count(l.reads),
            Cell::count(l.writes),
            Cell::bytes(l.bytes_read),
            Cell::bytes(l.bytes_written),
        ]
    });
    let id = p.id("layers");
    table::table(&mut p.h, &id, "Contents of the trace", &columns, rows);
}

fn warnings(h: &mut Html, run: &Run) {
    let mut all: Vec<_> = run.report.iter().flat_map(|r| &r.warnings).collect();
    for w in run.info.warnings.iter().chain(&run.findings.warnings) {
        if !all.contains(&w) {
            all.push(w);
        }
    }
    if all.is_empty() {
        return;
    }
    h.elem("h3", &[], "Warnings");
    h.open("ul", &[]);
    for w in all {
        h.open("li", &[]);
        h.elem("code", &[], &w.code);
        h.text(&format!(" {}", w.message));
        if let Some(remedy) = &w.remedy {
            h.text(&format!("; {remedy}"));
        }
        h.close("li");
    }
    h.close("ul");
}

/// Sections without data, and lists that were cut.
fn left_out(p: &mut Page<'_>) {
    if !p.absent.is_empty() {
        p.h.elem("h3", &[], "Not in this trace");
        p.h.open("ul", &[]);
        for (title, how) in std::mem::take(&mut p.absent) {
            p.h.elem("li", &[], &format!("{title}: {how}."));
        }
        p.h.close("ul");
    }
    if !p.cuts.is_empty() {
        p.h.elem("h3", &[], "Cut to keep the page small");
        p.h.open("ul", &[]);
        for text in std::mem::take(&mut p.cuts) {
            p.h.elem("li", &[], &text);
        }
        p.h.close("ul");
    }
}

fn glossary(h: &mut Html) {
    h.open("details", &[("class", "fold")]);
    h.elem("summary", &[], "Glossary");
    let words = GLOSSARY.map(|(word, meaning)| (word, Some(meaning.to_owned())));
    table::facts(h, &words);
    h.close("details");
}
