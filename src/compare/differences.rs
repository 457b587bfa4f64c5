//! Differences of two sides beside times: jobs, periods, volumes, files, patterns, findings, graphs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::files::{Pair, family_name};
use super::reasons::counted;
use super::report::{Fact, FileChange, FindingChange, FindingChanges, GraphChange, PatternChange, Row};
use super::run::Run;
use super::samples::{BurstRow, Sides, log_ratio};
use super::stats;
use crate::dfg;
use crate::facts::KINDS;
use crate::findings::Severity;
use crate::pattern::PatternReport;
use crate::record::{Timing, Warning, stem};
use crate::units;

/// Names that a reason lists.
const NAMES: usize = 5;

/// Everything that differs.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub job: Vec<Fact>,
    pub periods: Vec<Row>,
    pub layers: Vec<Row>,
    /// Earth mover's distance of the sizes of reads and writes, in powers of two.
    pub size_distance: [Option<f64>; 2],
    pub files: Vec<FileChange>,
    /// Families with most of the change of bytes read and written.
    pub grown: [Vec<String>; 2],
    pub patterns: Vec<PatternChange>,
    pub findings: FindingChanges,
    pub graph: Vec<GraphChange>,
    pub warnings: Vec<Warning>,
}

impl Differences {
    /// Of the first run of each side where values have no mean.
    pub fn of(s: &Sides<'_>, pairs: &[Pair<'_>]) -> Differences {
        let (a, b) = (&s.before[0], &s.after[0]);
        let mut d = Differences {
            job: job(a, b),
            periods: (0..2).filter_map(|d| period(s, d)).collect(),
            files: files(s, pairs),
            grown: [0, 1].map(|d| grown(pairs, d)),
            patterns: patterns(s, pairs),
            findings: if s.same_depth() { findings(s) } else { FindingChanges::default() },
            graph: graph(s),
            warnings: warnings(s),
            ..Differences::default()
        };
        d.size_distance = [0, 1].map(|k| {
            let both = a.flows[k].calls > 0 && b.flows[k].calls > 0;
            both.then(|| stats::earth_mover(&a.flows[k].sizes, &b.flows[k].sizes))
        });
        d.layers = layers(s, d.size_distance);
        d
    }

    /// Codes of findings that differ.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        let f = &self.findings;
        f.new.iter().chain(&f.gone).map(String::as_str).chain(f.changed.iter().map(|c| c.code.as_str()))
    }

    /// Properties that were compared and do not differ.
    pub fn unchanged(&self, s: &Sides<'_>, bursts: &[BurstRow]) -> Vec<String> {
        let (a, b) = (&s.before[0], &s.after[0]);
        let mut all = Vec::new();
        let mut say = |same: bool, what: &str| {
            if same {
                all.push(what.to_owned());
            }
        };
        say(a.trace.ranks == b.trace.ranks, "ranks");
        for (d, kind) in KINDS.into_iter().enumerate().take(2) {
            let moved = a.bytes(d) > 0 && b.bytes(d) > 0;
            let same = log_ratio(a.bytes(d) as f64, b.bytes(d) as f64).abs() <= s.limits.volume.ln_1p();
            say(moved && same, &format!("{kind} bytes"));
            let period = |r: &Run| r.signal(d).is_some_and(|s| s.period.dominant.is_some());
            let periods = self.periods.iter().any(|r| r.what.starts_with(kind));
            say(period(a) && period(b) && !periods, &format!("{kind} period"));
            say(self.size_distance[d].is_some_and(|x| x < s.limits.sizes), &format!("{kind} request sizes"));
            let of = || bursts.iter().filter(|r| r.direction == d);
            say(of().count() > 0 && of().all(|r| !r.large), &format!("{kind} bursts"));
        }
        say(!a.families.is_empty() && !b.families.is_empty() && self.files.is_empty(), "files");
        say(a.patterns.is_some() && b.patterns.is_some() && self.patterns.is_empty(), "patterns");
        say(s.same_depth() && self.codes().next().is_none(), "findings");
        say(a.graph.is_some() && b.graph.is_some() && self.graph.is_empty(), "graph of calls");
        all
    }
}

/// The words of a command without folders and digits: those of a run are its own.
fn command(text: &str) -> String {
    let word = |w: &str| stem(w.rsplit('/').next().unwrap_or(w));
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

fn depth(t: Timing) -> &'static str {
    match t {
        Timing::Request => "single requests",
        Timing::Order => "the order of requests",
        Timing::Phase => "phases",
        Timing::Heatmap => "bins of a heat map",
        Timing::Counter => "counters",
    }
}

fn job(a: &Run, b: &Run) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut say = |what: &str, before: String, after: String| {
        if before != after {
            facts.push(Fact { what: what.into(), before, after });
        }
    };
    let known = |x: &Option<String>| x.clone().unwrap_or_default();
    say("data", depth(a.timing).into(), depth(b.timing).into());
    say("format", a.trace.format.clone(), b.trace.format.clone());
    say("ranks", a.trace.ranks.to_string(), b.trace.ranks.to_string());
    if a.nodes > 0 && b.nodes > 0 {
        say("nodes", a.nodes.to_string(), b.nodes.to_string());
    }
    let of = |r: &Run| r.trace.job.as_ref().and_then(|j| j.executable.as_deref()).map(command);
    say("command", known(&of(a)), known(&of(b)));
    say("recorder", known(&a.release), known(&b.release));
    let layers = |r: &Run| r.layers.iter().map(|l| l.layer.as_str()).collect::<Vec<_>>().join(", ");
    say("layers", layers(a), layers(b));
    facts
}

/// The change of the dominant period: z = ΔP / sqrt(σA² + σB²).
fn period(s: &Sides<'_>, d: usize) -> Option<Row> {
    let of = |r: &Run| -> Option<(f64, f64)> {
        let p = r.signal(d)?.period.dominant.as_ref()?;
        Some((p.period_s, p.period_std_s.unwrap_or(0.0)))
    };
    let mean = |runs: &[Run]| -> Option<(f64, f64)> {
        let all: Option<Vec<(f64, f64)>> = runs.iter().map(of).collect();
        let all = all?;
        let n = all.len() as f64;
        Some((all.iter().map(|p| p.0).sum::<f64>() / n, all.iter().map(|p| p.1 * p.1).sum::<f64>().sqrt() / n))
    };
    // without requests there is nothing to be periodic
    s.before[0].signal(d).zip(s.after[0].signal(d))?;
    let what = format!("{} period", KINDS[d]);
    let resolvable = |runs: &[Run]| runs.iter().all(|r| r.signal(d).is_some_and(|x| x.period.periodic.is_some()));
    let (before, after) = match (mean(s.before), mean(s.after)) {
        (None, None) => return None,
        (Some(a), Some(b)) => (a, b),
        (a, b) => {
            let one = |p: Option<(f64, f64)>| p.map(|p| p.0);
            let row = Row { before: one(a), after: one(b), change: None, ..counted(what, "s", [0.0; 2]) };
            return (resolvable(s.before) && resolvable(s.after)).then_some(row);
        }
    };
    let (change, std) = (after.0 - before.0, before.1.hypot(after.1));
    let differs =
        change.abs() > s.limits.period_z * std && log_ratio(before.0, after.0).abs() > s.limits.period.ln_1p();
    differs.then(|| Row {
        low: Some(change - 1.96 * std),
        high: Some(change + 1.96 * std),
        p: Some(if std > 0.0 { stats::two_sided(change / std) } else { 0.0 }),
        ..counted(what, "s", [before.0, after.0])
    })
}

fn layers(s: &Sides<'_>, size_distance: [Option<f64>; 2]) -> Vec<Row> {
    let limit = s.limits.volume.ln_1p();
    let mut rows = Vec::new();
    let mut say = |what: String, unit: &str, values: Option<[f64; 2]>, least: f64| {
        if let Some([a, b]) = values.filter(|[a, b]| log_ratio(*a, *b).abs() > limit && a.max(*b) >= least) {
            rows.push(counted(what, unit, [a, b]));
        }
    };
    let of_all = |r: &Run| (r.bytes(0).saturating_add(r.bytes(1))) as f64;
    let least = s.values(|r| Some(of_all(r))).map_or(0.0, |[a, b]| s.limits.volume * a.max(b));
    let mut names: BTreeSet<&str> = s.before[0].layers.iter().map(|l| l.layer.as_str()).collect();
    names.retain(|n| s.after[0].layers.iter().any(|l| l.layer == *n));
    for name in names {
        let layer = |r: &Run| r.layers.iter().find(|l| l.layer == name).cloned();
        say(format!("{name} bytes read"), "bytes", s.values(|r| layer(r).map(|l| l.bytes_read as f64)), least);
        say(format!("{name} bytes written"), "bytes", s.values(|r| layer(r).map(|l| l.bytes_written as f64)), least);
        say(format!("{name} reads"), "count", s.values(|r| layer(r)?.reads.map(|n| n as f64)), 1.0);
        say(format!("{name} writes"), "count", s.values(|r| layer(r)?.writes.map(|n| n as f64)), 1.0);
    }
    let calls: BTreeSet<&str> =
        s.before.iter().chain(s.after).flat_map(|r| r.calls.keys()).map(String::as_str).collect();
    let both = [s.before, s.after].iter().all(|runs| runs.iter().all(|r| !r.calls.is_empty()));
    let total = |r: &Run| r.calls.values().sum::<u64>() as f64;
    let most = s.values(|r| Some(total(r))).map_or(0.0, |[a, b]| a.max(b));
    for name in calls.into_iter().filter(|_| both) {
        let count = s.values(|r| Some(r.calls.get(name).copied().unwrap_or(0) as f64));
        say(format!("calls of {name}"), "count", count, s.limits.volume * most);
    }
    for (d, distance) in size_distance.into_iter().enumerate() {
        if let Some(x) = distance.filter(|x| *x >= s.limits.sizes) {
            let what = format!("{} sizes, distance in powers of two", KINDS[d]);
            rows.push(Row { before: None, after: None, change: Some(x), ..counted(what, "ratio", [0.0, x]) });
        }
    }
    rows
}

fn files(s: &Sides<'_>, pairs: &[Pair<'_>]) -> Vec<FileChange> {
    let mut changes = Vec::new();
    let total =
        |side: fn(&Pair<'_>) -> Option<u64>| pairs.iter().filter_map(side).fold(0u64, u64::saturating_add) as f64;
    let all = [total(|p| p.0.map(|f| f.moved())), total(|p| p.1.map(|f| f.moved()))];
    let ranks = [s.before[0].trace.ranks, s.after[0].trace.ranks].map(|n| n.max(1) as f64);
    for pair in pairs {
        let name = pair.0.or(pair.1).map_or("", |f| &f.name);
        let mut say = |what: &str, before: Option<String>, after: Option<String>| {
            if before != after {
                changes.push(FileChange { file: name.into(), what: what.into(), before, after });
            }
        };
        let (a, b) = match pair {
            (Some(a), Some(b)) => (a, b),
            (a, b) => {
                let moved = |f: &super::files::FamilyFacts| {
                    format!("{}, {}", units::counted(f.files, "file"), units::bytes(f.moved() as f64))
                };
                say(if a.is_some() { "vanished" } else { "appeared" }, a.map(moved), b.map(moved));
                continue;
            }
        };
        if a.class.is_some() && b.class.is_some() {
            say("class", a.class.clone(), b.class.clone());
        }
        let stripes = |x: Option<(u64, u64)>| x.map(|(unit, count)| format!("{count} of {unit} bytes"));
        say("stripes", stripes(a.stripes), stripes(b.stripes));
        say("mount", a.mount.clone(), b.mount.clone());
        let limit = s.limits.volume.ln_1p();
        // files of every rank grow with the ranks
        let counts = [a.files as f64, b.files as f64];
        let scaled = log_ratio(counts[0] / ranks[0], counts[1] / ranks[1]);
        if log_ratio(counts[0], counts[1]).abs().min(scaled.abs()) > limit {
            say("count", Some(a.files.to_string()), Some(b.files.to_string()));
        }
        let share = (a.moved() as f64 / all[0].max(1.0)).max(b.moved() as f64 / all[1].max(1.0));
        if share >= s.limits.volume && log_ratio(a.moved() as f64, b.moved() as f64).abs() > limit {
            say("bytes", Some(a.moved().to_string()), Some(b.moved().to_string()));
        }
    }
    changes
}

/// Families with the largest changes of bytes in a direction.
fn grown(pairs: &[Pair<'_>], d: usize) -> Vec<String> {
    let change = |p: &Pair<'_>| {
        let of = |f: Option<&super::files::FamilyFacts>| f.map_or(0, |f| f.bytes[d]);
        of(p.0).abs_diff(of(p.1))
    };
    let mut all: Vec<(u64, &str)> =
        pairs.iter().map(|p| (change(p), p.0.or(p.1).map_or("", |f| f.name.as_str()))).filter(|x| x.0 > 0).collect();
    all.sort_by_key(|x| (std::cmp::Reverse(x.0), x.1));
    all.into_iter().take(NAMES).map(|x| x.1.to_owned()).collect()
}

/// Bytes, and bytes by size and by stride, of accesses of one kind.
#[derive(Default)]
struct Accesses {
    bytes: u64,
    sizes: BTreeMap<u64, u64>,
    strides: BTreeMap<i64, u64>,
}

impl Accesses {
    /// The size, or stride, of most of the bytes.
    fn most<K: Copy + Ord>(of: &BTreeMap<K, u64>) -> Option<K> {
        of.iter().max_by_key(|x| (x.1, std::cmp::Reverse(x.0))).map(|x| *x.0)
    }
}

/// Type of a pattern without its counts, and without the loop over ranks, which depends on how they are numbered.
fn kind(p: &PatternReport) -> String {
    let loops = &p.levels[..p.levels.len() - usize::from(p.ranks.is_some() && !p.levels.is_empty())];
    let then = p.then.map_or(String::new(), |d| format!(" then {}", d.name()));
    let kind = match (p.access_size, loops) {
        (None, _) => "sequential".to_owned(),
        (_, []) => "single".to_owned(),
        (Some(size), [l]) if l.stride.unsigned_abs() == size => "contiguous".to_owned(),
        (_, [_]) => "strided".to_owned(),
        (_, loops) => format!("{} loops", loops.len()),
    };
    kind + &then
}

type Kinds = BTreeMap<(String, &'static str, String), Accesses>;

fn kinds(run: &Run, renamed: &HashMap<&str, &str>) -> Kinds {
    let mut all = Kinds::new();
    for p in run.patterns.iter().flatten() {
        let family = family_name(&p.file, &run.folder);
        let family = renamed.get(family.as_str()).map_or(family.clone(), |n| (*n).to_owned());
        let of = all.entry((family, p.op.name(), kind(p))).or_default();
        of.bytes = of.bytes.saturating_add(p.bytes);
        if let Some(size) = p.access_size {
            *of.sizes.entry(size).or_default() += p.bytes;
        }
        if let Some(stride) = p.stride {
            *of.strides.entry(stride).or_default() += p.bytes;
        }
    }
    all
}

fn patterns(s: &Sides<'_>, pairs: &[Pair<'_>]) -> Vec<PatternChange> {
    let (a, b) = (&s.before[0], &s.after[0]);
    if a.patterns.is_none() || b.patterns.is_none() {
        return Vec::new();
    }
    let renamed = pairs.iter().filter_map(|p| Some((p.1?.name.as_str(), p.0?.name.as_str()))).collect();
    let (before, after) = (kinds(a, &HashMap::new()), kinds(b, &renamed));
    let all = [a, b].map(|r| (r.bytes(0).saturating_add(r.bytes(1)).max(1)) as f64);
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut changes = Vec::new();
    for key in keys {
        let (x, y) = (before.get(key), after.get(key));
        let share = [x, y].map(|k| k.map_or(0, |k| k.bytes) as f64);
        let share = [share[0] / all[0], share[1] / all[1]];
        if share[0].max(share[1]) < s.limits.volume {
            continue;
        }
        let mut say = |what: &str, before: Option<f64>, after: Option<f64>| {
            let (file, op, kind) = key.clone();
            changes.push(PatternChange { file, op: op.into(), kind, what: what.into(), before, after });
        };
        match (x, y) {
            (Some(x), Some(y)) => {
                let sizes = [x, y].map(|k| Accesses::most(&k.sizes).map(|v| v as f64));
                let strides = [x, y].map(|k| Accesses::most(&k.strides).map(|v| v as f64));
                if sizes[0] != sizes[1] {
                    say("size", sizes[0], sizes[1]);
                } else if strides[0] != strides[1] {
                    say("stride", strides[0], strides[1]);
                }
            }
            (None, _) => say("new", None, Some(share[1])),
            (_, None) => say("gone", Some(share[0]), None),
        }
    }
    changes
}

/// Findings above `info` that could be looked for on both sides.
fn findings(s: &Sides<'_>) -> FindingChanges {
    let of = |runs: &[Run]| -> BTreeMap<String, f64> {
        let all = runs.iter().flat_map(|r| &r.findings.findings).filter(|f| f.severity > Severity::Info);
        let mut lost = BTreeMap::new();
        all.for_each(|f| *lost.entry(f.code.clone()).or_insert(0.0) += f.lost_s.unwrap_or(0.0) / runs.len() as f64);
        lost
    };
    let unchecked: BTreeSet<&str> =
        s.before.iter().chain(s.after).flat_map(|r| &r.findings.not_checked).map(|n| n.code.as_str()).collect();
    let (mut before, mut after) = (of(s.before), of(s.after));
    before.retain(|code, _| !unchecked.contains(code.as_str()));
    after.retain(|code, _| !unchecked.contains(code.as_str()));
    let only = |a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>| {
        a.keys().filter(|code| !b.contains_key(*code)).cloned().collect()
    };
    let run_s = s.values(|r| Some(r.run_s)).map_or(0.0, |v| v[0].min(v[1]));
    let changed = before.iter().filter_map(|(code, &before_s)| {
        let after_s = *after.get(code)?;
        let differs = (after_s - before_s).abs() > s.limits.run * run_s;
        differs.then(|| FindingChange { code: code.clone(), before_s, after_s })
    });
    FindingChanges { new: only(&after, &before), gone: only(&before, &after), changed: changed.collect() }
}

/// Edges whose share of all that follows their first activity differs.
fn graph(s: &Sides<'_>) -> Vec<GraphChange> {
    let (Some(a), Some(b)) = (&s.before[0].graph, &s.after[0].graph) else { return Vec::new() };
    let edges = dfg::Comparison::of(a, b).edges;
    let leaving =
        |g: &dfg::graph::Graph, from: &str| g.edges.iter().filter(|e| e.from == from).map(|e| e.count).sum::<u64>();
    let p: Vec<f64> = edges
        .iter()
        .map(|e| stats::two_proportions((e.green, leaving(a, &e.from)), (e.red, leaving(b, &e.from))))
        .collect();
    let mut all: Vec<GraphChange> = edges
        .into_iter()
        .zip(stats::holm(&p))
        .filter(|(_, p)| *p < s.limits.p)
        .map(|(e, p)| GraphChange {
            from: e.from,
            to: e.to,
            before: e.green as f64 / a.cases.max(1) as f64,
            after: e.red as f64 / b.cases.max(1) as f64,
            p,
        })
        .collect();
    let change = |g: &GraphChange| (g.after - g.before).abs();
    all.sort_by(|x, y| change(y).total_cmp(&change(x)).then_with(|| (&x.from, &x.to).cmp(&(&y.from, &y.to))));
    all
}

fn warnings(s: &Sides<'_>) -> Vec<Warning> {
    let mut all = Vec::new();
    let (a, b) = (&s.before[0], &s.after[0]);
    if !s.same_depth() {
        let text = format!(
            "the runs were recorded in different depth, {} and {}: requests, bursts, patterns and findings are not compared",
            depth(a.timing),
            depth(b.timing)
        );
        all.push(Warning::new("different-depth", text));
    }
    let lost = [a.lost_records, b.lost_records];
    if lost[0] != lost[1] {
        let text = format!("records lost: {} before, {} after", lost[0], lost[1]);
        all.push(Warning::new("different-quality", text));
    }
    for (runs, side) in [(s.before, "before"), (s.after, "after")] {
        for w in runs.iter().flat_map(|r| &r.warnings) {
            all.push(Warning { message: format!("{side}: {}", w.message), ..w.clone() });
        }
    }
    all
}
