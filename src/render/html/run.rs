//! The content of a page: the answers on one trace, and the figures of its pictures, small whatever the trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::analysis::{
    self, Analysis, FileAccesses, Heat, Info, MetadataCalls, Report, Selection, TraceSummary, Usage,
};
use crate::classify::Classes;
use crate::dfg::DfgReport;
use crate::error::{Error, Result};
use crate::findings::Findings;
use crate::record::{Layer, Striping, Trace, Warning};
use crate::render::figure::{Timeline, View};
use crate::render::text;

/// Rows and columns of a heat map.
const HEAT: (usize, usize) = (512, 2048);
/// Families of files.
const FILES: usize = 500;
/// Files whose offsets are drawn, and accesses of each.
const OFFSETS: (usize, usize) = (3, 1200);
/// Values of the curve of metadata calls.
const METADATA: usize = 2048;
/// How long after the data, as a share of their time, the next burst is still shown.
const FARTHEST: f64 = 0.4;

/// Where a trace came from.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Name of the file or folder.
    pub name: String,
    /// Bytes as stored.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits; `None` for a folder or a pipe.
    pub sha256: Option<String>,
    /// Options that differ from the defaults, as they were given.
    pub options: Vec<String>,
}

/// The answers on a trace.
#[derive(Debug)]
pub struct Answers {
    /// Contents of the trace.
    pub info: Info,
    /// Period and patterns; an error says why there are none.
    pub analysis: Result<Analysis>,
    /// Findings.
    pub findings: Findings,
    /// Access classes; `None` if the accesses have no places.
    pub classes: Option<Classes>,
    /// Directly-follows graph; `None` if single calls are not known.
    pub graph: Option<DfgReport>,
}

/// Data of a page from the rows themselves, whatever the answers.
#[derive(Debug)]
pub struct Rows {
    summary: TraceSummary,
    usage: Usage,
    heats: Vec<Heat>,
    offsets: Vec<FileAccesses>,
}

impl Rows {
    /// Goes through the rows of a trace, whose counters are in `info`.
    pub fn of(trace: &Trace, info: &Info, selection: &Selection) -> Rows {
        let summary = analysis::summary(trace);
        let span = summary.start_s.zip(summary.end_s);
        let (usage, (offsets, heats)) = rayon::join(
            || Usage::of(trace, info.counters.as_ref(), FILES),
            || {
                let heats = || span.map_or_else(Vec::new, |span| Heat::of(trace, selection, span, HEAT));
                rayon::join(|| FileAccesses::of(trace, selection, OFFSETS), heats)
            },
        );
        Rows { summary, usage, heats, offsets }
    }
}

/// A line of a table of pages.
#[derive(Debug, Clone)]
pub struct Line {
    /// Name of the trace.
    pub name: String,
    pub(super) job: Option<i64>,
    pub(super) period_s: Option<f64>,
    pub(super) confidence: Option<f64>,
    pub(super) share: Option<f64>,
    pub(super) lost_s: Option<f64>,
    pub(super) finding: Option<String>,
}

/// Data of a page about one trace.
#[derive(Debug)]
pub struct Run {
    pub(super) origin: Origin,
    pub(super) summary: TraceSummary,
    pub(super) info: Info,
    pub(super) report: Option<Report>,
    /// Why there is no report.
    pub no_report: Option<Error>,
    pub(super) findings: Findings,
    pub(super) classes: Option<Classes>,
    pub(super) graph: Option<DfgReport>,
    pub(super) usage: Usage,
    /// Of each layer whose times are known, that of the rows first.
    pub(super) heats: Vec<(Option<Layer>, Vec<Heat>)>,
    pub(super) views: Vec<View>,
    pub(super) offsets: Vec<FileAccesses>,
    pub(super) layouts: Vec<(String, Striping)>,
    pub(super) release: Option<String>,
    /// The time from which the page counts, on the trace's own clock.
    pub(super) zero_s: f64,
    /// Ends of all time axes, from `zero_s` on.
    pub(super) range: (f64, f64),
    /// Metadata calls: what is counted, seconds of the first value on the trace's own clock, seconds of each, calls per second.
    pub(super) metadata: Option<(&'static str, f64, f64, Vec<f64>)>,
    /// Node of each rank, where the trace says.
    pub(super) hosts: BTreeMap<u32, Arc<str>>,
    /// Number of nodes; `None` if the trace does not say.
    pub(super) nodes: Option<usize>,
}

impl Run {
    /// The content for a trace, the answers on it and what its rows show; the trace is no longer needed then.
    pub fn new(trace: &Trace, origin: Origin, answers: Answers, rows: Rows, selection: &Selection) -> Run {
        let Answers { info, analysis, findings, classes, graph } = answers;
        let Rows { summary, usage, heats, offsets } = rows;
        let (report, evidence, no_report) = match analysis {
            Ok(a) => (Some(a.report), a.evidence, None),
            Err(why) => (None, Vec::new(), Some(why)),
        };
        let modes: Vec<_> = report.iter().flat_map(|r| &r.signals).map(|s| s.mode).collect();
        let views = modes.into_par_iter().zip(evidence).map(|(mode, e)| View::new(trace, mode, selection, e)).collect();
        let zero_s = report.as_ref().map_or(0.0, crate::render::text::zero_s);
        let counters = trace.counters.as_deref();
        let layouts = counters.map_or_else(Vec::new, |c| {
            c.layouts.iter().take(FILES).map(|l| (c.files.name(l.file).to_owned(), l.clone())).collect()
        });
        let mut hosts: Vec<&str> = trace.hosts.values().map(|h| &**h).collect();
        hosts.sort_unstable();
        hosts.dedup();
        Run {
            usage,
            heats: vec![(trace.layer, heats)],
            metadata: metadata(trace),
            hosts: trace.hosts.clone(),
            offsets,
            release: counters.and_then(|c| c.release.clone()),
            nodes: Some(hosts.len()).filter(|n| *n > 0),
            range: range(report.as_ref(), &summary, zero_s),
            origin,
            summary,
            info,
            report,
            no_report,
            findings,
            classes,
            graph,
            views,
            layouts,
            zero_s,
        }
    }

    /// Layers of which the log has times too, beside that of its rows.
    pub fn other_layers(&self) -> Vec<Layer> {
        let timed = |layer: &Layer| {
            let names = ["dxt", "heatmap"].map(|kind| format!("{kind}-{}", layer.name()));
            let mut of_layer = self.info.layers.iter().filter(|l| names.contains(&l.layer));
            of_layer.any(|l| l.bytes_read > 0 || l.bytes_written > 0)
        };
        let taken = self.summary.layer;
        let all = [Layer::Posix, Layer::Mpiio, Layer::Stdio];
        all.into_iter().filter(|layer| taken.is_some() && taken != Some(*layer) && timed(layer)).collect()
    }

    /// Shows the heat maps of another layer, too.
    pub fn add_layer(&mut self, trace: &Trace, selection: &Selection) {
        let span = self.summary.start_s.zip(self.summary.end_s);
        let heats = span.map_or_else(Vec::new, |span| Heat::of(trace, selection, span, HEAT));
        self.heats.push((trace.layer, heats));
    }

    /// The warnings of all answers.
    pub fn warnings(&mut self) -> impl Iterator<Item = &mut [Warning]> {
        let of_report = self.report.iter_mut().map(|r| &mut r.warnings);
        [&mut self.info.warnings, &mut self.findings.warnings].into_iter().chain(of_report).map(Vec::as_mut_slice)
    }

    /// The time axis of its figures.
    pub(super) fn time(&self) -> Timeline {
        Timeline { shift: self.zero_s, range: self.range }
    }

    /// The line of the run in a table of pages.
    pub fn line(&self) -> Line {
        let dominant = self.report.as_ref().and_then(|r| r.primary_signal()?.period.dominant.as_ref());
        let worst = self.findings.findings.first();
        Line {
            name: self.origin.name.clone(),
            job: self.summary.job.as_ref().and_then(|j| j.id),
            period_s: dominant.map(|d| d.period_s),
            confidence: dominant.map(|d| d.confidence),
            share: self.findings.io.share,
            lost_s: worst.and_then(|f| f.lost_s),
            finding: worst.map(|f| format!("{} {} ({})", f.code, f.name.replace('-', " "), f.severity.name())),
        }
    }

    /// Whether no burst comes any more.
    pub(super) fn has_ended(&self) -> bool {
        text::has_ended(self.summary.job.as_ref())
    }

    /// Leaves out who ran the job.
    pub(super) fn without_user(&mut self) {
        let jobs = [&mut self.summary.job, &mut self.info.job, &mut self.findings.trace.job];
        for job in jobs.into_iter().chain(self.report.iter_mut().map(|r| &mut r.trace.job)).flatten() {
            job.uid = None;
        }
    }
}

fn metadata(trace: &Trace) -> Option<(&'static str, f64, f64, Vec<f64>)> {
    let calls = MetadataCalls::of(trace)?;
    let (start_s, step_s, rates) = calls.rates(METADATA)?;
    Some((calls.what, start_s, step_s, rates))
}

/// Ends of the time axes: the job, and the next burst unless it is far away.
fn range(report: Option<&Report>, t: &TraceSummary, zero_s: f64) -> (f64, f64) {
    let (Some(start), Some(end)) = (t.start_s, t.end_s) else { return (0.0, 1.0) };
    let span = (end - start).max(1e-6);
    let run_s = t.job.as_ref().and_then(|j| j.run_time_s).filter(|_| zero_s == 0.0 && start >= 0.0);
    let (mut low, mut high) = (start - zero_s, end - zero_s);
    if let Some(run_s) = run_s {
        // a job that does little I/O is not all of the picture
        if low < 4.0 * span {
            low = low.min(0.0);
        }
        if run_s - high < 4.0 * span {
            high = high.max(run_s);
        }
    }
    let next = report.iter().flat_map(|r| &r.signals).filter_map(|s| s.prediction.as_ref());
    for p in next.filter(|p| p.next_end_s - end < FARTHEST * span) {
        high = high.max(p.next_end_s - zero_s);
    }
    // times of 1e12 s are no finer than 0.1 ms
    let least = 1e-6f64.max(1e-12 * low.abs().max(high.abs()));
    let margin = 0.005 * (high - low).max(least);
    (low - margin, high + margin)
}
