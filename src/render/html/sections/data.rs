//! The JSON of all answers: the page is its own archive.

use serde_json::{Value, json};

use crate::analysis::Report;
use crate::classify::Classes;
use crate::render::html::caps::Caps;
use crate::render::html::run::Run;

/// Starts of bursts that are kept.
const BURSTS: (usize, usize) = (4096, 256);
/// Patterns, files with classes, and local classes of a file that are kept.
const PATTERNS: (usize, usize) = (200, 20);
const CLASSES: (usize, usize) = (50, 5);
const LOCAL: usize = 16;

/// The answers on a run, long lists cut.
pub fn data(run: &Run, caps: Caps) -> Value {
    let mut answers = json!({
        "trace": run.summary,
        "report": run.report.as_ref().map(|r| report(r, caps)),
        "findings": run.findings,
        "info": run.info,
        "classes": run.classes.as_ref().map(|c| classes(c, caps)),
    });
    if let Some(graph) = &run.graph {
        answers["graph"] = json!({ "map": graph.map, "nodes": graph.nodes.len(), "edges": graph.edges.len() });
    }
    answers
}

fn report(r: &Report, caps: Caps) -> Report {
    let mut r = r.clone();
    if let Some(p) = &mut r.patterns {
        p.patterns.sort_by_key(|p| std::cmp::Reverse(p.bytes));
        p.patterns.truncate(caps.of(PATTERNS.0, PATTERNS.1));
        p.patterns.iter_mut().for_each(|p| p.sizes = None);
    }
    for s in &mut r.signals {
        if let Some(b) = &mut s.bursts {
            b.starts_s.truncate(caps.of(BURSTS.0, BURSTS.1));
        }
        s.validity.truncate(caps.of(BURSTS.0, BURSTS.1));
        s.track.truncate(caps.of(BURSTS.0, BURSTS.1));
    }
    r
}

fn classes(c: &Classes, caps: Caps) -> Classes {
    let mut c = c.clone();
    c.files.truncate(caps.of(CLASSES.0, CLASSES.1));
    for f in &mut c.files {
        f.local.truncate(LOCAL);
        f.global.truncate(2 * LOCAL);
        for g in &mut f.global {
            g.ranks.truncate(4096);
        }
    }
    c
}
