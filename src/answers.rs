//! All answers on a trace, each made once: the content of its page, and what a comparison needs of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::analysis::{self, Analysis, Info, Mode, ModeChoice, Options, Selection};
use crate::classify::{self, Classes};
use crate::compare;
use crate::dfg::{self, DfgReport, Mapping, Partition, Plan};
use crate::error::{Error, ErrorKind, Result};
use crate::findings::{self, Findings, Known};
use crate::formats::{self, Format, ReadOptions, Source};
use crate::record::{Data, Timing, Trace};
use crate::render::html::{Answers, Origin, Rows, Run};

/// Most rows whose answers are made side by side: a page of more takes the memory of one answer at a time.
const SIDE_BY_SIDE: usize = 1 << 22;

/// Runs both, at the same time or the first before the second.
fn pair<A: Send, B: Send>(
    side_by_side: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if side_by_side { rayon::join(first, second) } else { (first(), second()) }
}

/// How a trace is analysed.
#[derive(Debug, Clone, Default)]
pub struct Pipeline {
    /// Which transfers, and which periods.
    pub options: Options,
    /// Which findings.
    pub findings: findings::Options,
    /// Replace names of users, hosts and files by codes.
    pub redact: bool,
    /// Also collect what a comparison needs.
    pub compare: bool,
    /// Options that the page names.
    pub given: Vec<String>,
}

/// The source of a trace, to read it again.
type Again<'a> = (&'a Source, Option<&'static dyn Format>, &'a ReadOptions);

impl Pipeline {
    /// Reads and analyses a trace.
    ///
    /// # Errors
    /// Of reading and of the findings.
    pub fn run(
        &self,
        source: &Source,
        format: Option<&'static dyn Format>,
        read: &ReadOptions,
    ) -> Result<(Run, Option<compare::Run>)> {
        let (trace, origin) = rayon::join(|| formats::read(source, format, read), || origin(source));
        let again = (source, format, read);
        let (mut run, facts) = self.of(trace?, origin?, Some(again))?;
        self.add_layers(&mut run, again);
        Ok((run, facts))
    }

    /// Reads the heat maps of the layers that the answers are not about; one that cannot be read has none.
    fn add_layers(&self, run: &mut Run, (source, format, read): Again<'_>) {
        if read.layer.is_some() || !self.options.selection.is_whole() {
            return;
        }
        for layer in run.other_layers() {
            let mut read = read.clone();
            (read.progress, read.counters, read.all_layers, read.layer) = (None, false, false, Some(layer));
            if let Ok(trace) = formats::read(source, format, &read) {
                run.add_layer(&trace, &self.options.selection);
            }
        }
    }

    /// Analyses a trace; the log of its calls is read `again`, if that is known.
    ///
    /// # Errors
    /// Of the findings.
    pub fn of(
        &self,
        mut trace: Trace,
        mut origin: Origin,
        again: Option<Again<'_>>,
    ) -> Result<(Run, Option<compare::Run>)> {
        origin.options = self.given.clone();
        if self.redact {
            trace.redact();
            origin = Origin { name: trace.path.clone(), sha256: None, options: Vec::new(), ..origin };
        }
        let mut info = Info::untimed(&trace);
        let search = findings::Search::of(&trace, &self.findings)?;
        let side_by_side = trace.data.len() <= SIDE_BY_SIDE;
        let of_rows = || {
            let rows = || Rows::of(&trace, &info, &self.options.selection);
            pair(side_by_side, || search.see_requests(), rows).1
        };
        let of_accesses = || pair(side_by_side, || self.graph(&trace, again), || self.classes(&trace));
        // the analysis first: what it needs beside the rows is free again before the classes, which stay, are made
        let (analysis, ((graph, classes), rows)) =
            pair(side_by_side, || self.analysis(&trace), || pair(side_by_side, of_accesses, of_rows));
        let analysis = analysis?;
        let resolved = analysis.as_ref().ok().filter(|_| trace.resolves_times());
        let of_all = classes.as_ref().filter(|_| self.options.selection.is_whole() && self.mode() == Mode::All);
        let known = Known { report: resolved.map(|a| &a.report), classes: of_all };
        let findings = search.find(known);
        info.io = findings.io.clone();
        let facts = self.compare.then(|| self.facts(&trace, resolved, of_all, &findings)).flatten();
        let answers = Answers { info, analysis, findings, classes, graph };
        Ok((Run::new(&trace, origin, answers, rows, &self.options.selection), facts))
    }

    /// Periods and patterns, or why there are none.
    fn analysis(&self, trace: &Trace) -> Result<Result<Analysis>> {
        match analysis::analyze(trace, &self.options) {
            Err(e) if e.kind() != ErrorKind::Empty => Err(e),
            done => Ok(done),
        }
    }

    /// The input of a comparison: facts of the whole trace, from the answers of the page if they are of all transfers.
    fn facts(
        &self,
        trace: &Trace,
        analysis: Option<&Analysis>,
        classes: Option<&Classes>,
        findings: &Findings,
    ) -> Option<compare::Run> {
        let Options { selection, mode, min_period_s, .. } = &self.options;
        let of_all = selection.is_whole() && *mode == ModeChoice::Auto && min_period_s.is_none();
        match of_all {
            true => compare::run_knowing(trace, &[], (analysis, classes, findings.clone())).ok(),
            false => compare::Run::of(trace, &[], &compare::Options::default()).ok(),
        }
    }

    /// The transfers that are classified.
    fn mode(&self) -> Mode {
        match self.options.mode {
            ModeChoice::Auto => Mode::All,
            ModeChoice::One(m) => m,
        }
    }

    /// The access classes; none if the accesses have no places.
    fn classes(&self, trace: &Trace) -> Option<Classes> {
        let mut options = classify::Options::default();
        (options.mode, options.stripe) = (self.mode(), self.findings.stripe);
        classify::classify(trace, &self.options.selection, options).ok()
    }

    /// The graph of the calls: read again where the format logs all calls, else of the rows.
    fn graph(&self, trace: &Trace, again: Option<Again<'_>>) -> Option<DfgReport> {
        let mut plan = Plan::default();
        if self.redact {
            plan.mapping.template = "{call}".parse().ok()?;
        }
        let logged = formats::find(trace.format).is_ok_and(Format::logs_calls);
        if let Some((source, format, read)) = again.filter(|_| logged) {
            let mut read = read.clone();
            (read.progress, read.counters, read.all_layers) = (None, false, false);
            let log = analysis::event_log(std::slice::from_ref(source), format, &read, &plan).ok()?;
            return dfg::report(&log.cases, log.skipped, &plan, &Partition::default(), Vec::new()).ok();
        }
        let single = trace.timing == Timing::Request && matches!(trace.data, Data::Requests(_));
        single.then(|| analysis::graph(trace, &plan).ok()).flatten()
    }
}

/// The input of a comparison from a source; its trace is dropped.
///
/// # Errors
/// Of reading, and of the facts.
pub fn facts(
    source: &Source,
    format: Option<&'static dyn Format>,
    read: ReadOptions,
    options: &compare::Options,
) -> Result<compare::Run> {
    let read = read.counters(true);
    let trace = formats::read(source, format, &read)?;
    let cases = if formats::find(trace.format).is_ok_and(|f| f.logs_calls()) {
        // folders of a run and numbers in names are no part of an activity
        let mapping = Mapping { template: "{call}:{ext}".parse()?, ..Mapping::default() };
        let plan = Plan { mapping, ..Plan::default() };
        analysis::event_log(std::slice::from_ref(source), format, &read, &plan)?.cases
    } else {
        Vec::new()
    };
    compare::Run::of(&trace, &cases, options)
}

/// The content of the page on a trace that is in no file.
///
/// # Errors
/// Of the findings.
pub fn of_followed(trace: &Trace, analysis: Analysis) -> Result<Run> {
    let findings = findings::find(trace, Some(&analysis.report), &findings::Options::default())?;
    let info = Info::of(trace);
    let rows = Rows::of(trace, &info, &Selection::default());
    let answers = Answers { info, analysis: Ok(analysis), findings, classes: None, graph: None };
    let origin = Origin { name: trace.path.clone(), ..Origin::default() };
    Ok(Run::new(trace, origin, answers, rows, &Selection::default()))
}

/// Bytes of a source as it is stored.
pub fn stored(source: &Source) -> u64 {
    match source.members() {
        Some(files) => files.iter().filter_map(|f| f.metadata().ok()).map(|m| m.len()).sum(),
        None => source.stored_bytes(),
    }
}

/// Name, size and hash of an input.
fn origin(source: &Source) -> Result<Origin> {
    let path = Path::new(source.name());
    let name = path.file_name().map_or_else(|| "standard input".into(), |n| n.to_string_lossy().into_owned());
    let sha256 = if path.is_file() { Some(hash(path)?) } else { None };
    let name = if name == "-" { "standard input".into() } else { name };
    Ok(Origin { name, bytes: stored(source), sha256, options: Vec::new() })
}

fn hash(path: &Path) -> Result<String> {
    let failed = |e: io::Error| Error::new(ErrorKind::Io, e.to_string()).in_file(path.display().to_string());
    let mut file = File::open(path).map_err(failed)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}
