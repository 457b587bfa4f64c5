//! `iophase dfg`: directly-follows graphs.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use super::inputs::Inputs;
use super::output::{self, Lines};
use super::shared::{Input, Verbosity, check_window, refuse_unused};
use super::{exit_code, progress, remedy};
use crate::analysis::{self, EventLog, NamePattern};
use crate::answers::stored;
use crate::dfg::{self, Alias, By, DfgReport, Glob, Mapping, Partition, Plan, Template, Timeline};
use crate::draft::Draft;
use crate::formats::{Format, Source};
use crate::render::dfg::{self as render, Coloring};
use crate::render::figure::Look;
use crate::render::{json, text};
use crate::{Error, ErrorKind, Result};

/// Arguments of `dfg`.
#[derive(Debug, Args)]
pub struct DfgArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Template of activity names, with the fields {call} {path} {path:3} {path:all} {dir} {file} {ext} {cid} {host} {rank}
    #[arg(long, value_name = "TEMPLATE", default_value = "{call}:{path}")]
    pub map: Template,
    /// Number of levels in {path} and {dir}
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub path_levels: usize,
    /// Short name for a path prefix; may be repeated
    #[arg(long, value_name = "PATH=NAME")]
    pub alias: Vec<Alias>,
    /// Only calls whose path matches, as recorded or with aliases
    #[arg(help_heading = "Selection", long = "match", value_name = "REGEX")]
    pub matching: Option<NamePattern>,
    /// Only these calls; `*` stands for any text, `?` for any one character
    #[arg(help_heading = "Selection", long, value_name = "LIST", value_delimiter = ',')]
    pub calls: Vec<Glob>,
    /// Calls in the graph: those with a path, or all
    #[arg(help_heading = "Selection", long, value_enum, default_value_t = EventsArg::Path)]
    pub events: EventsArg,
    /// Also calls on pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries
    #[arg(long)]
    pub all_files: bool,
    /// One case per trace file (or rank), or per process
    #[arg(long, value_enum, default_value_t = ByArg::File)]
    pub by: ByArg,
    /// Only calls that start at or after this time
    #[arg(help_heading = "Selection", long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub from: Option<f64>,
    /// Only calls that start before this time
    #[arg(help_heading = "Selection", long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub until: Option<f64>,
    /// First group: cases (trace files or ranks) whose name, command, file or input matches; without --red, all others are the second group
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub green: Vec<Glob>,
    /// Second group; the first is drawn in blue and the second in orange, which colour-blind readers can distinguish
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub red: Vec<Glob>,
    /// Meaning of the colours [default: partition if groups are given, else load]
    #[arg(long, value_enum)]
    pub color: Option<ColorArg>,
    /// Write the graph as JSON; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Write a picture of the graph, or of the --timeline
    #[arg(help_heading = "Output", long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub svg: Option<PathBuf>,
    /// Write the graph for Graphviz; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub dot: Option<PathBuf>,
    /// Draw when the calls of this activity ran, one row per case
    #[arg(help_heading = "Output", long, value_name = "ACTIVITY", requires = "svg")]
    pub timeline: Option<String>,
    /// Draw at most this many activities, the heaviest [default: 40, fewer if the graph gets wider than a page]
    #[arg(help_heading = "Output", long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=400))]
    pub max_nodes: Option<usize>,
    /// Write all calls of all inputs into one CSV file, which can serve as TRACE
    #[arg(help_heading = "Output", long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub save_log: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Values of `--events`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EventsArg {
    /// Calls with a path, a pipe, a socket, ...
    Path,
    /// Every call
    All,
}

/// Values of `--by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArg {
    /// A trace file, or a rank
    File,
    /// A process
    Pid,
}

/// Values of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// Share of the total duration
    Load,
    /// Bytes moved
    Bytes,
    /// Activities of only one group
    Partition,
}

impl DfgArgs {
    /// The plan of a graph: the events, and how they are grouped into cases.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for a time window that cannot be.
    pub fn plan(&self) -> Result<Plan> {
        let nanos = |t: f64| (t * 1e9).round() as i64;
        if [self.from, self.until].into_iter().flatten().any(|t| !t.is_finite()) {
            return Err(Error::new(ErrorKind::Usage, "the time window is not finite").expected("seconds"));
        }
        check_window(self.from, self.until)?;
        Ok(Plan {
            mapping: Mapping {
                template: self.map.clone(),
                path_levels: self.path_levels,
                aliases: self.alias.clone(),
                calls: self.calls.clone(),
                paths: self.matching.clone(),
                pathless: self.events == EventsArg::All,
                all_files: self.all_files,
            },
            by: if self.by == ByArg::Pid { By::Pid } else { By::File },
            from_ns: self.from.map(nanos),
            until_ns: self.until.map(nanos),
        })
    }

    fn coloring(&self, partition: &Partition) -> Result<Coloring> {
        match self.color {
            Some(ColorArg::Partition) if partition.is_empty() => {
                Err(Error::new(ErrorKind::Usage, "there are no groups to colour")
                    .remedy("name them with --green and --red"))
            }
            Some(ColorArg::Partition) => Ok(Coloring::Partition),
            Some(ColorArg::Load) => Ok(Coloring::Load),
            Some(ColorArg::Bytes) => Ok(Coloring::Bytes),
            None => Ok(if partition.is_empty() { Coloring::Load } else { Coloring::Partition }),
        }
    }
}

/// Runs the command; gives the worst exit code.
///
/// # Errors
/// Of the arguments and of writing. Those of inputs are reported and count by their exit code.
pub fn run(a: &DfgArgs) -> Result<u8> {
    let plan = a.plan()?;
    let undrawn = a.svg.is_none() && a.dot.is_none();
    refuse_unused(&[
        ("--color", a.color.is_some() && undrawn, "ask for the picture with --svg or --dot"),
        ("--max-nodes", a.max_nodes.is_some() && a.svg.is_none(), "ask for the picture with --svg"),
    ])?;
    let inputs = Inputs::find(&a.input, &a.verbosity)?;
    let format = inputs.format();
    let mut worst = 0;
    let (sources, log) = read(a, inputs, &plan, &mut worst)?;
    Ok(worst.max(exit_code(finish(a, &plan, &sources, format, log, worst).map(|()| 0))))
}

/// Reads all inputs together. If one fails, each is read alone, so that the others are in the graph.
fn read(a: &DfgArgs, inputs: Inputs<'_>, plan: &Plan, worst: &mut u8) -> Result<(Vec<Source>, EventLog)> {
    let (options, format) = (a.input.reading.options()?.order_suffices(true), inputs.format());
    let mut sources = Vec::new();
    *worst = inputs.each_source(&options.limits, |source, _| {
        sources.push(source.clone());
        Ok(())
    });
    let total = sources.iter().map(stored).sum();
    let bar = if a.verbosity.quiet == 0 { progress::reading("reading", total) } else { None };
    let options = options.progress(bar.as_ref().map(|(_, p)| p.clone()));
    let mut read = analysis::event_log(&sources, format, &options, plan);
    if read.is_err() && sources.len() > 1 {
        let mut all = EventLog::default();
        sources.retain(|s| match analysis::event_log(std::slice::from_ref(s), format, &options, plan) {
            Ok(one) => {
                all.cases.extend(one.cases);
                all.skipped.add(one.skipped);
                all.warnings.extend(one.warnings);
                true
            }
            Err(e) => {
                *worst = (*worst).max(exit_code(Err(e)));
                false
            }
        });
        read = Ok(all);
    }
    if let Some((bar, _)) = bar {
        bar.finish_and_clear();
    }
    let log = read.unwrap_or_else(|e| {
        *worst = (*worst).max(exit_code(Err(e)));
        EventLog::default()
    });
    Ok((sources, log))
}

fn finish(
    a: &DfgArgs,
    plan: &Plan,
    sources: &[Source],
    format: Option<&dyn Format>,
    log: EventLog,
    worst: u8,
) -> Result<()> {
    if log.cases.is_empty() && worst > 0 {
        return Ok(());
    }
    let partition = Partition { green: a.green.clone(), red: a.red.clone() };
    let coloring = a.coloring(&partition)?;
    let EventLog { cases, skipped, warnings, .. } = log;
    let mut report = dfg::report(&cases, skipped, plan, &partition, warnings)?;
    remedy::name_options(&mut report.warnings);
    if let Some(path) = &a.save_log {
        let mut out = Draft::of_trace(path)?;
        let options = a.input.reading.options()?;
        analysis::save_log(sources, format, &options, &mut out)?;
        out.publish()?;
    }
    write(a, &report, coloring, &cases)
}

fn write(a: &DfgArgs, report: &DfgReport, coloring: Coloring, cases: &[dfg::Case]) -> Result<()> {
    let mut taken = false;
    if let Some(path) = &a.json {
        let mut lines = Lines::create(path)?;
        lines.write(&json::line(report)?)?;
        taken |= lines.is_stdout();
        lines.finish()?;
    }
    if let Some(path) = &a.dot {
        taken |= put(path, &render::dot(report, coloring))?;
    }
    if let Some(path) = &a.svg {
        let names: Vec<_> =
            a.input.traces.iter().map(|p| p.file_name().unwrap_or(p.as_os_str()).to_string_lossy()).collect();
        let source = names.join(", ");
        let picture = match &a.timeline {
            Some(activity) => {
                let t = Timeline::of(cases, activity, 2000).ok_or_else(|| no_such(activity, report))?;
                render::timeline(&t, &source, &Look::default())
            }
            None => render::picture(report, &source, coloring, a.max_nodes),
        };
        taken |= put(path, &picture)?;
    }
    if taken {
        if a.verbosity.quiet < 2 {
            output::warnings("dfg", &report.warnings);
        }
        return Ok(());
    }
    if a.verbosity.quiet == 0 {
        let color = output::wants_color(&io::stdout());
        let style = text::Style { color, verbose: a.verbosity.verbose > 0, several: false };
        output::print_text(&render::text(report, style))?;
    }
    Ok(())
}

fn no_such(activity: &str, report: &DfgReport) -> Error {
    let names: Vec<&str> = report.nodes.iter().take(5).map(|n| &*n.activity).collect();
    Error::new(ErrorKind::Empty, format!("no activity is called {activity}"))
        .expected(format!("one of the graph, such as {}", names.join(", ")))
}

/// Writes a file, or standard output for `-`; true if it was that.
fn put(path: &Path, content: &str) -> Result<bool> {
    output::whole(path, content).map(|()| path.as_os_str() == "-")
}
