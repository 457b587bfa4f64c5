//! `iophase report`: all answers on a trace as one HTML page.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use sha2::{Digest, Sha256};

use super::answers::PictureNames;
use super::findings::FindingOptions;
use super::inputs::{Inputs, stored};
use super::shared::{Input, MinPeriodArgs, SelectionArgs, Verbosity};
use super::{output, remedy};
#[cfg(target_os = "linux")]
use iophase::analysis::Selection;
use iophase::analysis::{self, Analysis, Info, Mode, ModeChoice, Options};
use iophase::classify::{self, Classes};
use iophase::compare;
use iophase::dfg::{self, DfgReport, Partition, Plan};
use iophase::findings::{self, Findings, Known};
use iophase::formats::{self, Format, ReadOptions, Source};
use iophase::internals::render::html::{self, Answers, Bundle, Origin, Run};
use iophase::internals::render::units;
use iophase::record::{Data, Timing, Trace};
use iophase::{Error, ErrorKind, Result};

/// Arguments of `report`.
#[derive(Debug, Args)]
// `--stamp` is the text beside the version here
#[command(mut_arg("row_stamp", |a| a.long("row-stamp")))]
pub struct ReportArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Which transfers
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Periods
    #[command(flatten)]
    pub periods: MinPeriodArgs,
    /// Findings to look for
    #[command(flatten)]
    pub options: FindingOptions,
    /// Write the page here; a folder (DIR/) gets one page per trace and index.html, `-` is standard output
    #[arg(help_heading = "Output", short, long, value_name = "PATH", value_hint = ValueHint::AnyPath, required_unless_present = "extract")]
    pub output: Option<PathBuf>,
    /// Largest size of a page: lists and pictures are cut to fit
    #[arg(help_heading = "Output", long, value_name = "BYTES", default_value = "1000000", value_parser = super::classify::bytes)]
    pub max_size: u64,
    /// Replace names of users, hosts and files by short codes, and the command by its first word
    #[arg(help_heading = "Output", long)]
    pub redact: bool,
    /// Show the id of the user
    #[arg(help_heading = "Output", long, conflicts_with = "redact")]
    pub with_user: bool,
    /// Show this text, such as a date, beside the version of the program
    #[arg(help_heading = "Output", long, value_name = "TEXT")]
    pub stamp: Option<String>,
    /// Print the JSON inside pages that were made before, one line per page
    #[arg(help_heading = "Output", long)]
    pub extract: bool,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Makes the pages; gives the worst exit code.
///
/// # Errors
/// Of the options, and [`ErrorKind::Output`] if a page cannot be written.
pub(super) fn run(a: &ReportArgs, given: Vec<String>) -> Result<u8> {
    if a.extract {
        return extract(a).map(|()| 0);
    }
    let path = a.output.as_deref().unwrap_or(Path::new("-"));
    let folder = path.is_dir() || path.to_string_lossy().ends_with('/');
    let how = How::new(a, given, !folder && a.input.traces.len() == 2)?;
    let read = read_options(a)?;
    let inputs = Inputs::find(&a.input, &a.verbosity)?;
    let compute =
        |source: &Source, format: Option<&'static dyn Format>, read: &ReadOptions| how.run(source, format, read);
    let mut out = Pages {
        a,
        folder: folder.then_some(path),
        names: PictureNames::default(),
        runs: Vec::new(),
        facts: Vec::new(),
        pages: Vec::new(),
    };
    let worst = inputs.each(&read, compute, |_, answer| answer.map_or(Ok(()), |run| out.add(run)));
    out.finish(path)?;
    Ok(worst)
}

/// What the page needs of a trace.
///
/// # Errors
/// Of the arguments.
pub fn read_options(a: &ReportArgs) -> Result<ReadOptions> {
    let mut read = a.input.reading.options()?.counters(true).all_layers(true);
    read.series.every_device = a.selection.files.is_some();
    Ok(read)
}

/// The page on these runs; with the comparison if there are facts of two.
pub fn page(a: &ReportArgs, runs: Vec<Run>, facts: &[compare::Run]) -> String {
    let comparison = match facts {
        [before, after] => {
            let slices = [before, after].map(std::slice::from_ref);
            compare::compare(slices[0], slices[1], &compare::Options::default()).ok()
        }
        _ => None,
    };
    html::page(Bundle { runs, comparison }, &page_options(a))
}

fn page_options(a: &ReportArgs) -> html::Options {
    html::Options {
        max_size: usize::try_from(a.max_size).unwrap_or(usize::MAX),
        with_user: a.with_user,
        stamp: a.stamp.clone(),
    }
}

fn options(a: &ReportArgs) -> Result<Options> {
    let mut options = Options::default();
    options.selection = a.selection.selection()?;
    options.mode = a.selection.mode();
    options.min_period_s = a.periods.shortest_s();
    Ok(options)
}

/// Where the pages go.
struct Pages<'a> {
    a: &'a ReportArgs,
    folder: Option<&'a Path>,
    names: PictureNames,
    runs: Vec<Run>,
    /// What a comparison needs of the runs, if there are two.
    facts: Vec<compare::Run>,
    pages: Vec<(String, html::Line)>,
}

impl Pages<'_> {
    fn add(&mut self, (run, facts): (Run, Option<compare::Run>)) -> Result<()> {
        let Some(folder) = self.folder else {
            self.runs.push(run);
            self.facts.extend(facts);
            return Ok(());
        };
        let line = run.line();
        let name = format!("{}.html", self.names.stem(&line.name));
        let page = page(self.a, vec![run], &[]);
        std::fs::create_dir_all(folder).map_err(|e| {
            Error::new(ErrorKind::Output, e.to_string())
                .in_file(folder.display().to_string())
                .remedy("choose a folder that can be written")
        })?;
        self.write(&folder.join(&name), &page)?;
        self.pages.push((name, line));
        Ok(())
    }

    fn finish(mut self, path: &Path) -> Result<()> {
        match self.folder {
            Some(_) if self.pages.is_empty() => Ok(()),
            Some(folder) => self.write(&folder.join("index.html"), &html::index(&self.pages)),
            None if self.runs.is_empty() => Ok(()),
            None => {
                let page = page(self.a, std::mem::take(&mut self.runs), &self.facts);
                self.write(path, &page)
            }
        }
    }

    fn write(&self, path: &Path, page: &str) -> Result<()> {
        output::whole(path, page)?;
        if self.a.verbosity.quiet == 0 && path.as_os_str() != "-" {
            output::print_text(&format!("{}: {}\n", path.display(), units::bytes(page.len() as f64)))?;
        }
        Ok(())
    }
}

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
pub struct How {
    options: Options,
    findings: findings::Options,
    redact: bool,
    compare: bool,
    given: Vec<String>,
}

/// What a trace was read from.
type Again<'a> = (&'a Source, Option<&'static dyn Format>, &'a ReadOptions);

impl How {
    /// As the arguments say; `given` are the options to show, `compare` also collects what a comparison needs.
    ///
    /// # Errors
    /// Of the arguments.
    pub fn new(a: &ReportArgs, given: Vec<String>, compare: bool) -> Result<How> {
        Ok(How { options: options(a)?, findings: a.options.options()?, redact: a.redact, compare, given })
    }

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
        remedy::name_options(&mut info.warnings);
        let search = findings::Search::of(&trace, &self.findings)?;
        let side_by_side = trace.data.len() <= SIDE_BY_SIDE;
        let of_rows = || {
            let rows = || html::Rows::of(&trace, &info, &self.options.selection);
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
        let mut findings = search.find(known);
        remedy::name_options(&mut findings.warnings);
        info.io = findings.io.clone();
        let facts = self.compare.then(|| self.facts(&trace, resolved, of_all, &findings)).flatten();
        let answers = Answers { info, analysis, findings, classes, graph };
        Ok((Run::new(&trace, origin, answers, rows, &self.options.selection), facts))
    }

    /// Periods and patterns, or why there are none.
    fn analysis(&self, trace: &Trace) -> Result<Result<Analysis, String>> {
        match analysis::analyze(trace, &self.options) {
            Ok(mut a) => {
                remedy::name_options(&mut a.report.warnings);
                Ok(Ok(a))
            }
            Err(e) if e.kind() == ErrorKind::Empty => Ok(Err(remedy::of_error(&e).to_string())),
            Err(e) => Err(e),
        }
    }

    /// What a comparison needs of the whole trace, from the answers of the page if they are of all transfers.
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
    fn classes(&self, trace: &Trace) -> Option<classify::Classes> {
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

/// The page on a trace that is in no file.
///
/// # Errors
/// Of the findings.
#[cfg(target_os = "linux")]
pub(super) fn page_of(trace: &Trace, analysis: Analysis) -> Result<String> {
    let mut found = findings::find(trace, Some(&analysis.report), &findings::Options::default())?;
    remedy::name_options(&mut found.warnings);
    let mut info = Info::of(trace);
    remedy::name_options(&mut info.warnings);
    let rows = html::Rows::of(trace, &info, &Selection::default());
    let answers = Answers { info, analysis: Ok(analysis), findings: found, classes: None, graph: None };
    let origin = Origin { name: trace.path.clone(), ..Origin::default() };
    let run = Run::new(trace, origin, answers, rows, &Selection::default());
    Ok(html::page(Bundle { runs: vec![run], comparison: None }, &html::Options::default()))
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

/// The options of the command line that begin with two dashes, without those that name outputs.
pub fn given(arguments: &[OsString]) -> Vec<String> {
    let all: Vec<String> = arguments.iter().skip(2).map(|a| a.to_string_lossy().into_owned()).collect();
    let kept = [
        "--layer",
        "--mode",
        "--ranks",
        "--files",
        "--from",
        "--until",
        "--min-period",
        "--stripe",
        "--only",
        "--ignore",
        "--format",
    ];
    let mut given = Vec::new();
    let mut all = all.iter().peekable();
    while let Some(x) = all.next() {
        let name = x.split('=').next().unwrap_or(x);
        if name == "--all-files" || (kept.contains(&name) && x.contains('=')) {
            given.push(x.clone());
        } else if kept.contains(&name) {
            given.push(format!("{x} {}", all.next().map_or("", String::as_str)));
        }
    }
    given
}

/// Prints the JSON inside pages.
fn extract(a: &ReportArgs) -> Result<()> {
    let mut all = String::new();
    for path in &a.input.traces {
        let name = path.display().to_string();
        let page =
            std::fs::read_to_string(path).map_err(|e| Error::new(ErrorKind::Io, e.to_string()).in_file(&name))?;
        let json = html::extract(&page).ok_or_else(|| {
            Error::new(ErrorKind::Malformed, "no data of a report in this page")
                .expected("a page made by `iophase report`")
                .in_file(&name)
        })?;
        all.push_str(&json);
        all.push('\n');
    }
    match &a.output {
        Some(path) => output::whole(path, &all),
        None => output::print(&all),
    }
}
