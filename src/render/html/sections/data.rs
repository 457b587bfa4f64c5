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
const RANKS: usize = 4096;
/// Sizes of a pattern that are kept.
const SIZES: usize = 64;
/// Lists that are named in `cut`.
const NAMED: usize = 1000;

/// The lists of the answers that were cut, with the entries that are kept and that there were.
#[derive(Debug, Default)]
struct Cuts(Vec<Value>);

impl Cuts {
    fn cut<T>(&mut self, list: &mut Vec<T>, keep: usize, name: impl FnOnce() -> String) {
        if list.len() > keep && self.0.len() < NAMED {
            self.0.push(json!({ "list": name(), "kept": keep, "of": list.len() }));
        }
        list.truncate(keep);
    }
}

/// The answers on a run; `cut` names the lists that were cut.
pub fn data(run: &Run, caps: Caps) -> Value {
    let mut cuts = Cuts::default();
    let report = run.report.as_ref().map(|r| report(r, caps, &mut cuts));
    let classes = run.classes.as_ref().map(|c| classes(c, caps, &mut cuts));
    let mut answers = json!({
        "trace": run.summary,
        "report": report,
        "findings": run.findings,
        "info": run.info,
        "classes": classes,
        "cut": cuts.0,
    });
    if let Some(graph) = &run.graph {
        answers["graph"] = json!({ "map": graph.map, "nodes": graph.nodes.len(), "edges": graph.edges.len() });
    }
    answers
}

fn report(r: &Report, caps: Caps, cuts: &mut Cuts) -> Report {
    let mut r = r.clone();
    if let Some(p) = &mut r.patterns {
        p.patterns.sort_by_key(|p| std::cmp::Reverse(p.bytes));
        cuts.cut(&mut p.patterns, caps.of(PATTERNS.0, PATTERNS.1), || "report.patterns.patterns".into());
        for (i, p) in p.patterns.iter_mut().enumerate() {
            if let Some(sizes) = &mut p.sizes {
                cuts.cut(sizes, SIZES, || format!("report.patterns.patterns[{i}].sizes"));
            }
        }
    }
    let most = caps.of(BURSTS.0, BURSTS.1);
    for (i, s) in r.signals.iter_mut().enumerate() {
        if let Some(b) = &mut s.bursts {
            cuts.cut(&mut b.starts_s, most, || format!("report.signals[{i}].bursts.starts_s"));
        }
        cuts.cut(&mut s.validity, most, || format!("report.signals[{i}].validity"));
        cuts.cut(&mut s.track, most, || format!("report.signals[{i}].track"));
    }
    r
}

fn classes(c: &Classes, caps: Caps, cuts: &mut Cuts) -> Classes {
    let mut c = c.clone();
    cuts.cut(&mut c.files, caps.of(CLASSES.0, CLASSES.1), || "classes.files".into());
    for (i, f) in c.files.iter_mut().enumerate() {
        cuts.cut(&mut f.local, LOCAL, || format!("classes.files[{i}].local"));
        cuts.cut(&mut f.global, 2 * LOCAL, || format!("classes.files[{i}].global"));
        for (k, g) in f.global.iter_mut().enumerate() {
            cuts.cut(&mut g.ranks, RANKS, || format!("classes.files[{i}].global[{k}].ranks"));
        }
    }
    c
}
