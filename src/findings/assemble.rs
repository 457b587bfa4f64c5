//! Puts the outcomes of the rules together: severity, files, remedies, and one entry per cause.

use super::book::{Book, Level, Rule};
use super::evidence::{self, Filter};
use super::facts::Facts;
use super::outcome::{Outcome, Part, Sureness};
use super::report::*;
use crate::analysis::Tool;
use crate::record::{CounterModule, stem};
use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::FixedState;

/// Files of a finding that are listed.
const FILES: usize = 5;
/// Largest buffer that is advised.
const BUFFER: u64 = 64 << 20;

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
            Level::Note => "note",
            Level::Ok => "ok",
        },
        needs: r.needs.clone(),
        drishti: r.drishti.clone(),
        remedies: remedies(book, r, &|_| true, &|text| text.to_owned()),
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
    let cost = match (o.lost_s, o.time_s) {
        (Some(lost), _) => by(of_run(lost), 0.1, 0.01),
        (None, Some(time)) => by(of_run(time), 0.5, 0.1),
        (None, None) if rule.level == Level::Warning => Severity::Warning,
        (None, None) => Severity::Info,
    };
    if rule.correctness {
        return cost.max(Severity::Warning);
    }
    let note = rule.level == Level::Note && o.lost_s.is_none();
    if note || negligible { Severity::Info } else { cost }
}

/// Makes findings of what the rules answered.
pub(super) fn findings(f: &Facts, book: &Book, checked: Vec<(&Rule, Option<Outcome>)>, all_remedies: bool) -> Findings {
    let (mut ok, mut not_checked, mut fired) = (Vec::new(), Vec::new(), Vec::new());
    for (rule, outcome) in checked {
        match outcome {
            None => not_checked.push(NotChecked {
                code: rule.code.clone(),
                name: rule.name.clone(),
                needs: rule.needs.clone(),
                how: book.needs.get(&rule.needs).cloned().unwrap_or_default(),
            }),
            Some(o) if o.fires && rule.level == Level::Ok => ok.push(rule.code.clone()),
            Some(o) if o.fires => fired.push((rule, o)),
            Some(_) => {}
        }
    }
    let seen = |system: &str| all_remedies || is_seen(f, system);
    let values = |text: &str| {
        let buffer = f.stripe.saturating_mul(16).min(BUFFER).max(f.stripe);
        text.replace("{stripe}", &f.stripe.to_string())
            .replace("{buffer}", &buffer.to_string())
            .replace("{ranks}", &f.ranks.to_string())
    };
    let io_s = f.io_most_s();
    let made = |(rule, o): (&Rule, Outcome)| {
        let mut o = o.within(io_s);
        let filter = o.evidence.take();
        let mut made = finding(f, rule, o, remedies(book, rule, &seen, &values));
        made.remedies.extend(advice(f, book, rule, &made.files));
        (made, filter)
    };
    let groups: HashMap<String, String> =
        book.rules.values().filter_map(|r| Some((r.code.clone(), r.group.clone()?))).collect();
    let mut all: Vec<(Finding, Option<Filter>)> = fired.into_iter().map(made).collect();
    all.sort_by(|(a, _), (b, _)| {
        let cost = |x: &Finding| (x.lost_s.unwrap_or(0.0), x.time_s.unwrap_or(0.0));
        let (x, y) = (cost(a), cost(b));
        // what is least severe for another reason than its cost comes last
        let last = |s: Severity| s == Severity::Info;
        last(a.severity)
            .cmp(&last(b.severity))
            .then(y.0.total_cmp(&x.0))
            .then(y.1.total_cmp(&x.1))
            .then(b.severity.cmp(&a.severity))
            .then(a.code.cmp(&b.code))
    });
    let mut all = merged(all, &groups);
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

/// Joins findings of one group whose first files are the same, the costliest first.
fn merged(all: Vec<(Finding, Option<Filter>)>, groups: &HashMap<String, String>) -> Vec<(Finding, Option<Filter>)> {
    let mut kept: Vec<(Finding, Option<Filter>)> = Vec::new();
    for (x, filter) in all {
        let same = |(y, _): &&mut (Finding, Option<Filter>)| {
            let group = groups.get(&x.code);
            let files = x.files.first().zip(y.files.first());
            group.is_some() && group == groups.get(&y.code) && files.is_some_and(|(a, b)| a.file == b.file)
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
fn layer(rule: &Rule) -> &'static str {
    let area = rule.code.split('-').nth(1).unwrap_or_default();
    match (rule.needs.as_str(), area) {
        (needs @ ("hdf5" | "pnetcdf" | "lustre"), _) => match needs {
            "hdf5" => "hdf5",
            "pnetcdf" => "pnetcdf",
            _ => "lustre",
        },
        (_, "MPIIO") => "mpiio",
        (_, "STDIO") => "stdio",
        (_, "LIB") => "hdf5",
        (_, "TIME" | "RANK" | "TRACE") => "job",
        _ => "posix",
    }
}

fn finding(f: &Facts, rule: &Rule, o: Outcome, remedies: Vec<RemedyReport>) -> Finding {
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
        lost_s: o.lost_s,
        lost_low_s: o.lost_low_s.or(o.lost_s),
        lost_basis: o.lost_s.and(o.lost_basis).map(str::to_owned),
        also: Vec::new(),
        drishti: rule.drishti.clone(),
        remedies,
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

/// True if the trace shows the library or file system of a remedy.
fn is_seen(f: &Facts, system: &str) -> bool {
    let module = |m: CounterModule| f.counters.is_some_and(|c| c.table(m).is_some());
    let executable = f.trace.job.as_ref().and_then(|j| j.executable.as_deref()).unwrap_or("");
    let mounted = |kind: &str| {
        f.counters
            .is_some_and(|c| c.files.iter().take(1000).any(|(_, name)| c.mount(name).is_some_and(|m| m.kind == kind)))
    };
    let named =
        |endings: &[&str]| f.trace.files.iter().take(1000).any(|(_, name)| endings.iter().any(|e| name.ends_with(e)));
    match system {
        "any" => true,
        "mpiio" => f.mpiio.is_some(),
        "hdf5" => module(CounterModule::H5f) || named(&[".h5", ".hdf5", ".nc4"]),
        "pnetcdf" => module(CounterModule::PnetcdfFile),
        "adios2" => named(&[".bp"]) || f.trace.files.iter().take(1000).any(|(_, name)| name.contains(".bp/")),
        "python" => executable.contains("python"),
        "lustre" => mounted("lustre"),
        "beegfs" => mounted("beegfs"),
        _ => false,
    }
}

/// Advice of the access classes of the costliest files, if it is about what was found.
fn advice(f: &Facts, book: &Book, rule: &Rule, files: &[FileShare]) -> Vec<RemedyReport> {
    let Some(family) = files.first().filter(|_| f.requests.is_some() && !rule.policies.is_empty()) else {
        return Vec::new();
    };
    let is_of_family = |name: &String| *name == family.file || family.files > 1 && stem(name) == family.file;
    let classes = f.classes().iter().find(|c| c.file.as_ref().is_some_and(is_of_family));
    let mut all: Vec<RemedyReport> = Vec::new();
    for a in classes.into_iter().flat_map(|c| &c.global).flat_map(|g| &g.advice) {
        if rule.policies.contains(&a.policy) && all.iter().all(|r| r.id != a.policy) {
            all.push(RemedyReport {
                id: a.policy.clone(),
                system: "any".into(),
                settings: a.hints.clone(),
                why: a.why.clone(),
                url: book.policy.get(&a.policy).cloned().unwrap_or_default(),
            });
        }
    }
    all
}

fn remedies(
    book: &Book,
    rule: &Rule,
    seen: &dyn Fn(&str) -> bool,
    values: &dyn Fn(&str) -> String,
) -> Vec<RemedyReport> {
    let of = rule.remedies.iter().filter_map(|id| Some((id, book.remedy.get(id)?)));
    let each = of.flat_map(|(id, all)| all.iter().map(move |r| (id, r)));
    each.filter(|(_, r)| seen(&r.system))
        .map(|(id, r)| RemedyReport {
            id: id.clone(),
            system: r.system.clone(),
            settings: r.settings.iter().map(|(name, text)| (name.clone(), values(text))).collect(),
            why: r.why.clone(),
            url: r.url.clone(),
        })
        .collect()
}
