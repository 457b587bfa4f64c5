//! Puts the outcomes of the rules together: severity, files, and one entry per cause.

use super::book::{Book, Level, Rule};
use super::evidence::{self, Filter};
use super::facts::Facts;
use super::outcome::{Outcome, Part, Sureness};
use super::recorded;
use super::remedies::{self, Uses};
use super::report::*;
use crate::analysis::Tool;
use std::collections::{BTreeMap, HashSet};

use foldhash::fast::FixedState;

/// Files of a finding that are listed.
const FILES: usize = 5;

pub(super) fn rule_text(book: &Book, r: &Rule) -> RuleText {
    RuleText {
        code: r.code.clone(),
        name: r.name.clone(),
        title: r.title.clone(),
        measured: r.measured.clone(),
        why: r.why.clone(),
        limits: r.limits.clone(),
        level: match r.level {
            Level::Warning => "warning",
            Level::Info => "info",
            Level::Ok => "ok",
        },
        needs: r.needs.clone(),
        drishti: r.drishti.clone(),
        remedies: remedies::texts(book, r),
    }
}

/// Severity by cost (see [`Severity`]).
pub(super) fn severity(rule: &Rule, o: &Outcome, run_s: f64, negligible: bool) -> Severity {
    let of_run = |s: f64| if run_s > 0.0 { s / run_s } else { 0.0 };
    let by = |share: f64, critical: f64, warning: f64| match share {
        _ if share >= critical => Severity::Critical,
        _ if share >= warning => Severity::Warning,
        _ => Severity::Info,
    };
    let cost = match (o.lost_s, o.time_low_s.or(o.time_s)) {
        (Some(lost), _) => by(of_run(lost), 0.1, 0.01),
        (None, Some(time)) => by(of_run(time), 0.5, 0.1),
        (None, None) if rule.level == Level::Warning => Severity::Warning,
        (None, None) => Severity::Info,
    };
    if rule.correctness {
        return cost.max(Severity::Warning);
    }
    let capped = rule.capped && o.lost_s.is_none();
    if capped || negligible { Severity::Info } else { cost }
}

/// Makes findings of what the rules answered.
pub(super) fn findings(f: &Facts, book: &Book, checked: Vec<(&Rule, Option<Outcome>)>, all_remedies: bool) -> Findings {
    let (mut ok, mut not_checked, mut fired) = (Vec::new(), Vec::new(), Vec::new());
    for (rule, outcome) in checked {
        match outcome {
            None => not_checked.extend(recorded::missing(f, book, rule).map(|how| NotChecked {
                code: rule.code.clone(),
                name: rule.name.clone(),
                needs: rule.needs.clone(),
                how,
            })),
            Some(o) if o.fires && rule.level == Level::Ok => ok.push(rule.code.clone()),
            Some(o) if o.fires => fired.push((rule, o)),
            Some(_) => {}
        }
    }
    let (io_s, transfers_s) = (f.io_most_s(), f.transfers_most_s());
    let made = |(rule, o): (&Rule, Outcome)| {
        // bursts are made of reads and writes
        let mut o = o.within(if rule.needs.ends_with("period") { transfers_s } else { io_s });
        let filter = o.evidence.take();
        let uses = Uses::of(f, rule, &o);
        let mut made = finding(f, rule, o);
        made.remedies = remedies::of(&uses, book, rule, &made.files, all_remedies);
        (made, filter)
    };
    let mut all: Vec<(Finding, Option<Filter>)> = fired.into_iter().map(made).collect();
    let symptom = |code: &str| book.rules.get(code).is_some_and(|r| r.symptom);
    all.sort_by(|(a, _), (b, _)| {
        let cost = |x: &Finding| (x.lost_s.unwrap_or(0.0), x.time_low_s.unwrap_or(0.0));
        let (x, y) = (cost(a), cost(b));
        // what is least severe for another reason than its cost comes last, and before it what follows from the others
        let last = |x: &Finding| (x.severity == Severity::Info, symptom(&x.code));
        last(a)
            .cmp(&last(b))
            .then(y.0.total_cmp(&x.0))
            .then(y.1.total_cmp(&x.1))
            .then(b.severity.cmp(&a.severity))
            .then(a.code.cmp(&b.code))
    });
    let mut all = merged(all, book);
    if let Some(rows) = f.rows() {
        evidence::add(f.trace, rows, &mut all, &|| f.series(false));
    }
    Findings {
        schema: FINDINGS_SCHEMA.into(),
        tool: Tool::this(),
        trace: crate::analysis::summary(f.trace),
        io: f.io.time.clone(),
        system: f.system.clone(),
        findings: all.into_iter().map(|x| x.0).collect(),
        ok,
        not_checked,
        warnings: f.trace.warnings.clone(),
    }
}

/// Joins findings of one group whose first files are the same, the costliest first, and those that follow from another one: a cause
/// stands where the costliest of what follows from it stood.
fn merged(all: Vec<(Finding, Option<Filter>)>, book: &Book) -> Vec<(Finding, Option<Filter>)> {
    let mut kept: Vec<(Finding, Option<Filter>)> = Vec::new();
    for (x, filter) in all {
        let rule = book.rules.get(&x.code);
        let group = rule.and_then(|r| r.group.as_ref());
        let follows = |(y, _): &(Finding, Option<Filter>)| {
            let files = x.files.first().zip(y.files.first());
            rule.is_some_and(|r| r.explains.contains(&y.code)) && files.is_some_and(|(a, b)| a.file == b.file)
        };
        if let Some(at) = kept.iter().position(follows) {
            let mut cause = (x.clone(), filter);
            let mut rest = kept.split_off(at);
            let (effects, others): (Vec<_>, Vec<_>) = rest.drain(..).partition(follows);
            for (y, _) in effects {
                cause.0.severity = cause.0.severity.max(y.severity);
                cause.0.also.push(y.code);
                cause.0.also.extend(y.also);
            }
            kept.push(cause);
            kept.extend(others);
            continue;
        }
        let same = |(y, _): &&mut (Finding, Option<Filter>)| {
            let rule = book.rules.get(&y.code);
            let grouped = group.is_some() && rule.is_some_and(|r| r.group.as_ref() == group);
            let files = x.files.first().zip(y.files.first());
            (grouped || rule.is_some_and(|r| r.explains.contains(&x.code)))
                && files.is_some_and(|(a, b)| a.file == b.file)
        };
        match kept.iter_mut().find(same) {
            Some((y, _)) => {
                y.also.push(x.code);
                y.severity = y.severity.max(x.severity);
            }
            None => kept.push((x, filter)),
        }
    }
    kept
}

/// The layer that a code is about.
fn layer(rule: &Rule) -> &str {
    match (rule.needs.as_str(), rule.code.split('-').nth(1).unwrap_or_default()) {
        (needs @ ("hdf5" | "lustre"), _) => needs,
        (_, "MPIIO") => "mpiio",
        (_, "STDIO") => "stdio",
        (_, "LIB") => "hdf5",
        (_, "TIME" | "RANK" | "TRACE") => "job",
        _ => "posix",
    }
}

fn finding(f: &Facts, rule: &Rule, o: Outcome) -> Finding {
    let severity = severity(rule, &o, f.run_s, f.is_negligible());
    let mut files: Vec<u32> = o.parts.iter().map(|p| p.file.0).collect();
    files.sort_unstable();
    files.dedup();
    Finding {
        code: rule.code.clone(),
        name: rule.name.clone(),
        severity,
        audience: rule.audience,
        layer: layer(rule).to_owned(),
        certainty: match o.sureness {
            Sureness::Exact => Certainty::Exact,
            Sureness::Bound => Certainty::Bound,
            Sureness::Modelled => Certainty::Modelled,
        },
        title: rule.title.clone(),
        detail: o.detail.clone(),
        why: rule.why.clone(),
        measured: o.measured.iter().map(|&(name, x)| (name.to_owned(), x)).collect(),
        threshold: rule.limits.clone(),
        files: families(f, &o),
        files_total: files.len() as u64,
        examples: Vec::new(),
        time_s: o.time_s,
        time_low_s: o.time_low_s.or(o.time_s),
        lost_s: o.lost_s,
        lost_low_s: o.lost_low_s.or(o.lost_s),
        lost_basis: o.lost_s.and(o.lost_basis).map(str::to_owned),
        also: Vec::new(),
        drishti: rule.drishti.clone(),
        remedies: Vec::new(),
    }
}

/// The families of files that take most of the time; of equal ones with the most bytes, then calls.
fn families(f: &Facts, o: &Outcome) -> Vec<FileShare> {
    let name = |p: &Part| if o.of_counters { f.name(p.file) } else { f.trace.files.name(p.file) };
    if o.parts.is_empty() {
        return Vec::new();
    }
    let series = f.series(o.of_counters);
    let mut all: BTreeMap<Option<u32>, (FileShare, HashSet<u32, FixedState>, u32)> = BTreeMap::new();
    for p in &o.parts {
        let (share, ranks, one) = all.entry(series.number(p.file)).or_insert_with(|| {
            let share = FileShare { file: name(p).to_owned(), ranks: Some(0), ..FileShare::default() };
            (share, Default::default(), u32::MAX)
        });
        if *one != p.file.0 {
            *one = p.file.0;
            share.files += 1;
        }
        share.count += p.count;
        share.bytes = share.bytes.saturating_add(p.bytes);
        share.time_s += p.time_s;
        match p.rank {
            Some(k) => {
                ranks.insert(k);
            }
            None => share.ranks = None,
        }
    }
    let mut all: Vec<FileShare> = all
        .into_iter()
        .map(|(number, (share, ranks, _))| FileShare {
            ranks: share.ranks.map(|_| ranks.len() as u64),
            file: number.filter(|_| share.files > 1).map_or(share.file, |i| series.names()[i as usize].clone()),
            ..share
        })
        .collect();
    all.sort_by(|a, b| {
        b.time_s.total_cmp(&a.time_s).then(b.bytes.cmp(&a.bytes)).then(b.count.cmp(&a.count)).then(a.file.cmp(&b.file))
    });
    all.truncate(FILES);
    all
}
