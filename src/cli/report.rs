//! `iophase report`: all answers on a trace as one HTML page.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::answers::PictureNames;
use super::findings::FindingOptions;
use super::inputs::Inputs;
use super::shared::{Input, MinPeriodArgs, SelectionArgs, Verbosity};
use super::{output, remedy};
#[cfg(target_os = "linux")]
use crate::analysis::Analysis;
use crate::analysis::Options;
use crate::answers::{self, Pipeline};
use crate::compare;
use crate::formats::{Format, ReadOptions, Source};
#[cfg(target_os = "linux")]
use crate::record::Trace;
use crate::render::html::{self, Bundle, Run};
use crate::render::units;
use crate::{Error, ErrorKind, Result};
use clap::{Args, ValueHint};

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
    /// Write one page here, or into a folder (DIR/) one page per trace and index.html; `-` is standard output
    #[arg(help_heading = "Output", short, long, value_name = "PATH", value_hint = ValueHint::AnyPath, required_unless_present = "extract")]
    pub output: Option<PathBuf>,
    /// Largest size of a page; lists and pictures are cut to fit
    #[arg(help_heading = "Output", long, value_name = "BYTES", default_value = "1000000", value_parser = super::classify::bytes)]
    pub max_size: u64,
    /// Replace names of hosts and files by codes, leave out user and job id, cut the command to its program
    #[arg(help_heading = "Output", long)]
    pub redact: bool,
    /// Show the user id
    #[arg(help_heading = "Output", long, conflicts_with = "redact")]
    pub with_user: bool,
    /// Show this text, such as a date, beside the version of the program
    #[arg(help_heading = "Output", long, value_name = "TEXT")]
    pub stamp: Option<String>,
    /// Take existing pages as TRACE, and print the JSON in them, one line per page
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
    let pipeline = pipeline(a, given, !folder && a.input.traces.len() == 2)?;
    let read = read_options(a)?;
    let inputs = Inputs::find(&a.input, &a.verbosity)?;
    let compute =
        |source: &Source, format: Option<&'static dyn Format>, read: &ReadOptions| pipeline.run(source, format, read);
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

/// Options of reading that suit the page.
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
    let mut comparison = match facts {
        [before, after] => {
            let slices = [before, after].map(std::slice::from_ref);
            compare::compare(slices[0], slices[1], &compare::Options::default()).ok()
        }
        _ => None,
    };
    comparison.iter_mut().for_each(|c| remedy::name_options(&mut c.warnings));
    let options = html::Options {
        max_size: usize::try_from(a.max_size).unwrap_or(usize::MAX),
        with_user: a.with_user,
        stamp: a.stamp.clone(),
    };
    html::page(Bundle { runs: runs.into_iter().map(in_options).collect(), comparison }, &options)
}

/// The content of a page with remedies that name options of the program.
fn in_options(mut run: Run) -> Run {
    run.no_report = run.no_report.map(|e| remedy::of_error(&e).into_owned());
    run.warnings().for_each(remedy::name_options);
    run
}

/// The page on a trace that is in no file.
///
/// # Errors
/// Of the findings.
#[cfg(target_os = "linux")]
pub(super) fn page_of(trace: &Trace, analysis: Analysis) -> Result<String> {
    let run = in_options(answers::of_followed(trace, analysis)?);
    Ok(html::page(Bundle { runs: vec![run], comparison: None }, &html::Options::default()))
}

/// How traces are analysed, as the arguments say; `given` are the options that the page names.
///
/// # Errors
/// Of the arguments.
pub fn pipeline(a: &ReportArgs, given: Vec<String>, compare: bool) -> Result<Pipeline> {
    let options = Options {
        selection: a.selection.selection()?,
        mode: a.selection.mode(),
        min_period_s: a.periods.shortest_s(),
        ..Options::default()
    };
    Ok(Pipeline { options, findings: a.options.options()?, redact: a.redact, compare, given })
}

/// Where the pages go.
struct Pages<'a> {
    a: &'a ReportArgs,
    folder: Option<&'a Path>,
    names: PictureNames,
    runs: Vec<Run>,
    /// Facts of the runs for a comparison, if there are two.
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
