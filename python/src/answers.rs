//! Answers of the commands, by the arguments of the program: so names, defaults and checks of options are those of the command line.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser;
use iophase::analysis::{self, Analysis, Evidence, Info, Report, SignalReport};
use iophase::compare;
use iophase::dfg::{self, DfgReport, Partition};
use iophase::findings;
use iophase::formats::Detail;
use iophase::internals::answers as whole;
use iophase::internals::draft::{self, Content, Output};
use iophase::internals::period::chains;
use iophase::internals::period::spectrum::Powers;
use iophase::internals::render::dfg::{self as graph, Coloring};
use iophase::internals::render::figure::{self, Look, View};
use iophase::internals::render::html::Origin;
use iophase::internals::render::text::{self, Style};
use iophase::internals::render::{classes as classes_text, compare as compare_text, findings as findings_text, json};
use iophase::internals::transform::Spectrum;
use iophase::record::{Trace, Warning};
use iophase::{Error, Result};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::errors;
use crate::table::{Columns, Table};
use crate::trace::{self, Given, Loaded, Made, PyTrace};
use crate::work::{self, Control};
use iophase::cli::args::{Cli, Command};
use iophase::cli::shared::ReadingArgs;
use iophase::cli::{analyze, classify, compare as compare_command, convert, remedy, report};

/// A text or a picture that is made when it is asked for.
type Later<T> = Box<dyn Fn() -> Result<T> + Send + Sync>;
/// Names and content of pictures.
type Pictures = Vec<(String, String)>;
/// Code, message and remedy of warnings.
pub type PlainWarnings = Vec<(String, String, Option<String>)>;

/// Warnings as plain texts.
pub fn plain(warnings: &[Warning]) -> PlainWarnings {
    let one = |w: &Warning| (w.code.clone(), w.message.clone(), w.remedy.as_ref().map(ToString::to_string));
    warnings.iter().map(one).collect()
}

/// An answer: its JSON, and what else can be had of it.
#[pyclass(frozen, module = "iophase._iophase", name = "Answer")]
pub struct Answer {
    json: String,
    warnings: PlainWarnings,
    text: Box<dyn Fn(bool) -> String + Send + Sync>,
    pictures: Later<Pictures>,
    signals: Vec<Behind>,
}

/// The data behind the report of a signal.
struct Behind {
    report: SignalReport,
    evidence: Evidence,
    view: View,
}

const fn style(verbose: bool) -> Style {
    Style { color: false, verbose, several: false }
}

impl Answer {
    /// An answer without pictures and signals. Its remedies name the options of the program, as its JSON does.
    fn new<T: serde::Serialize + Send + Sync + 'static>(
        answer: Arc<T>,
        warnings: &[Warning],
        text: fn(&T, bool) -> String,
    ) -> Result<Answer> {
        Ok(Answer {
            json: json::line(&*answer)?,
            warnings: plain(warnings),
            text: Box::new(move |verbose| text(&answer, verbose)),
            pictures: Box::new(|| Ok(Vec::new())),
            signals: Vec::new(),
        })
    }
}

#[pymethods]
impl Answer {
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    #[getter]
    fn warnings(&self) -> PlainWarnings {
        self.warnings.clone()
    }

    #[pyo3(signature = (verbose=false))]
    fn text(&self, py: Python<'_>, verbose: bool) -> String {
        py.detach(|| (self.text)(verbose))
    }

    /// Pictures of the answer, by name.
    fn pictures(&self, py: Python<'_>) -> PyResult<Pictures> {
        py.detach(|| (self.pictures)()).map_err(|e| errors::exception(py, &e))
    }

    /// Pictures of a signal, by name; with a name only that one.
    #[pyo3(signature = (i, only=None))]
    fn signal_pictures(&self, py: Python<'_>, i: usize, only: Option<&str>) -> PyResult<Pictures> {
        let s = self.behind(i)?;
        let only: Vec<String> = only.into_iter().map(str::to_owned).collect();
        let named = |(name, svg): (&str, String)| (name.to_owned(), svg);
        Ok(py.detach(|| figure::pictures(&s.report, &s.view, &Look::default(), &only).into_iter().map(named).collect()))
    }

    /// Figures of a signal as data, by name; with a name only that one.
    #[pyo3(signature = (i, only=None))]
    fn figures(&self, py: Python<'_>, i: usize, only: Option<&str>) -> PyResult<Pictures> {
        let s = self.behind(i)?;
        let wanted = |name: &&str| only.is_none_or(|o| o == *name);
        let of = |name: &str| Some((name.to_owned(), figure::figure_data(&s.report, &s.view, name)?.to_string()));
        Ok(py.detach(|| figure::names().filter(wanted).filter_map(of).collect()))
    }

    /// Times and values of the sampled signal.
    fn bandwidth(&self, i: usize) -> PyResult<Table> {
        let s = self.behind(i)?;
        let mut table = Columns::default();
        let step = 1.0 / s.report.sampling_hz;
        let samples = s.evidence.samples();
        table.reals("t_s", (0..samples.len()).map(|k| s.report.start_s + k as f64 * step).collect());
        table.reals("bytes_per_s", samples.to_vec());
        table.finish()
    }

    /// Start, end and bytes of the bursts of the dominant period.
    fn bursts(&self, i: usize) -> PyResult<Table> {
        let bursts: Vec<_> = self.behind(i)?.evidence.bursts().collect();
        let mut table = Columns::default();
        table.reals("start_s", bursts.iter().map(|b| b.start_s).collect());
        table.reals("end_s", bursts.iter().map(|b| b.end_s).collect());
        table.reals("bytes", bursts.iter().map(|b| b.bytes).collect());
        table.finish()
    }

    /// Frequencies, normalised powers and z-scores of the sampled signal.
    fn spectrum(&self, i: usize) -> PyResult<Table> {
        let s = self.behind(i)?;
        let powers = Powers::of(&Spectrum::of(s.evidence.samples()), s.report.sampling_hz);
        let mut table = Columns::default();
        let n = powers.as_ref().map_or(0, |p| p.power.len());
        table.reals("frequency_hz", powers.iter().flat_map(|p| (1..=n).map(|k| p.frequency(k))).collect());
        table.reals("power", powers.iter().flat_map(|p| p.power.iter().copied()).collect());
        table.reals("z", powers.iter().flat_map(|p| p.z.iter().copied()).collect());
        table.finish()
    }
}

impl Answer {
    fn behind(&self, i: usize) -> PyResult<&Behind> {
        self.signals.get(i).ok_or_else(|| PyIndexError::new_err(format!("no signal {i}")))
    }
}

/// The command with these arguments, and its number of threads. Errors are in terms of keywords.
pub fn parse(command: &str, arguments: &[String], inputs: &[String]) -> Result<Command> {
    let given = ["iophase", command].into_iter().map(str::to_owned);
    let all = given.chain(arguments.iter().cloned()).chain(["--".to_owned()]).chain(inputs.iter().cloned());
    Ok(Cli::try_parse_from(all).map_err(|e| errors::usage(in_keywords(&e.to_string())))?.command)
}

/// A message of the command line with `--min-period <SECONDS>` as `min_period`.
fn in_keywords(message: &str) -> String {
    let first = message.lines().take_while(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    let first = first.strip_prefix("error: ").unwrap_or(&first);
    let mut parts = first.split("--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(part.len());
        out.push_str(&part[..end].replace('-', "_"));
        let rest = &part[end..];
        // the placeholder of the value
        let rest = match rest.strip_prefix(" <").and_then(|r| r.split_once('>')) {
            Some((_, rest)) => rest.trim_start_matches("..."),
            None => rest,
        };
        out.push_str(rest);
    }
    out
}

fn wrong_command() -> Error {
    errors::usage("no such command")
}

fn analysis_answer(trace: &Trace, options: &analysis::Options) -> Result<Answer> {
    let Analysis { mut report, evidence, .. } = analysis::analyze(trace, options)?;
    remedy::name_options(&mut report.warnings);
    let behind = |(s, e): (&SignalReport, Evidence)| Behind {
        report: s.clone(),
        view: View::new(trace, s.mode, &options.selection, e.clone()),
        evidence: e,
    };
    let signals = report.signals.iter().zip(evidence).map(behind).collect();
    let warnings = report.warnings.clone();
    let answer = Answer::new(Arc::new(report), &warnings, |r: &Report, verbose| text::report(r, style(verbose)))?;
    Ok(Answer { signals, ..answer })
}

/// The answer of a command on one input.
fn of_one(command: &Command, given: &Given, control: &Control) -> Result<Answer> {
    match command {
        Command::Analyze(a) => {
            rayon::spawn(chains::prepare);
            let options = analyze::options(a)?;
            analysis_answer(&*given.rows(&a.input.reading, control, false)?, &options)
        }
        Command::Findings(a) => {
            let options = a.options.options()?;
            let trace = given.rows(&a.input.reading, control, true)?;
            let mut found = findings::find_all(&trace, &options)?;
            remedy::name_options(&mut found.warnings);
            let warnings = found.warnings.clone();
            Answer::new(Arc::new(found), &warnings, |f, verbose| findings_text::findings(f, style(verbose)))
        }
        Command::Patterns(a) => {
            let (mode, selection, options) = (a.selection.mode(), a.selection.selection()?, a.options());
            let trace = given.rows(&a.input.reading, control, false)?;
            let mut found = analysis::patterns(&trace, mode, &selection, &options)?;
            remedy::name_options(&mut found.warnings);
            let (warnings, verify) = (found.warnings.clone(), a.verify);
            let found = Arc::new(found);
            let drawn = found.clone();
            let text: fn(&analysis::PatternsOfTrace, bool) -> String = match verify {
                true => |p, verbose| text::patterns(p, true, style(verbose)),
                false => |p, verbose| text::patterns(p, false, style(verbose)),
            };
            let answer = Answer::new(found, &warnings, text)?;
            Ok(Answer { pictures: Box::new(move || Ok(figure::offsets(&drawn, &Look::default()))), ..answer })
        }
        Command::Classify(a) => {
            let model = a.model.as_deref().map(classify::read_model).transpose()?;
            let (selection, options) = (a.selection.selection()?, classify::options(a, model.as_ref()));
            let (mut classes, _) = match (given.origin(&a.input.reading)?, given) {
                (None, Given::Trace(trace)) => analysis::classes(&trace.rows, &selection, options, false)?,
                (origin, _) => {
                    let trace::Origin { source, format, read } = origin.ok_or_else(wrong_command)?;
                    control.expect(source.stored_bytes());
                    analysis::classes_of(&source, format, &control.reading(read), &selection, options, false)?
                }
            };
            remedy::name_options(&mut classes.warnings);
            let warnings = classes.warnings.clone();
            Answer::new(Arc::new(classes), &warnings, |c, verbose| classes_text::classes(c, style(verbose)))
        }
        Command::Info(a) => {
            let mut info = match (given.origin(&a.input.reading)?, given) {
                (None, Given::Trace(trace)) => Info::of(&trace.rows),
                (origin, _) => {
                    let trace::Origin { source, format, read } = origin.ok_or_else(wrong_command)?;
                    control.expect(source.stored_bytes());
                    let read = read.detail(Detail::Calls).all_layers(true).counters(true).order_suffices(true);
                    analysis::info_of(&source, format, &control.reading(read))?
                }
            };
            remedy::name_options(&mut info.warnings);
            let warnings = info.warnings.clone();
            Answer::new(Arc::new(info), &warnings, |i, verbose| text::info(i, style(verbose)))
        }
        _ => Err(wrong_command()),
    }
}

/// The graph of several inputs.
fn graph_of(command: &Command, inputs: &[Given], control: &Control) -> Result<Answer> {
    let Command::Dfg(a) = command else { return Err(wrong_command()) };
    let plan = a.plan()?;
    let partition = Partition { green: a.green.clone(), red: a.red.clone() };
    let coloring = if partition.is_empty() { Coloring::Load } else { Coloring::Partition };
    let mut sources = Vec::new();
    let mut how = None;
    for given in inputs {
        match (given.origin(&a.input.reading)?, given) {
            (Some(trace::Origin { source, format, read }), _) => {
                control.expect(source.stored_bytes());
                how = Some((format, read));
                sources.push(source);
            }
            (None, Given::Trace(trace)) if inputs.len() == 1 => {
                return graph_answer(analysis::graph(&trace.rows, &plan)?, &trace.rows.path, coloring, a.max_nodes);
            }
            (None, _) => return Err(errors::usage("a graph of several tables").expected("one table, or files")),
        }
    }
    let (format, read) = how.ok_or_else(|| errors::usage("no trace").expected("one or more"))?;
    let log = analysis::event_log(&sources, format, &control.reading(read), &plan)?;
    let report = dfg::report(&log.cases, log.skipped, &plan, &partition, log.warnings)?;
    let names: Vec<&str> = sources.iter().map(|s| s.name().rsplit('/').next().unwrap_or_default()).collect();
    graph_answer(report, &names.join(", "), coloring, a.max_nodes)
}

fn graph_answer(mut report: DfgReport, names: &str, coloring: Coloring, most: Option<usize>) -> Result<Answer> {
    remedy::name_options(&mut report.warnings);
    let warnings = report.warnings.clone();
    let (report, names) = (Arc::new(report), names.to_owned());
    let drawn = report.clone();
    let answer = Answer::new(report, &warnings, |r, verbose| graph::text(r, style(verbose)))?;
    let draw = move || {
        let dot = graph::dot(&drawn, coloring);
        Ok(vec![("graph".into(), graph::picture(&drawn, &names, coloring, most)), ("dot".into(), dot)])
    };
    Ok(Answer { pictures: Box::new(draw), ..answer })
}

fn comparison(command: &Command, sides: [&[Given]; 2], control: &Control) -> Result<Answer> {
    let Command::Compare(a) = command else { return Err(wrong_command()) };
    let options = compare_command::options(a)?;
    let facts = |given: &Given| match (given.origin(&a.reading)?, given) {
        (None, Given::Trace(trace)) => compare::Run::of(&trace.rows, &[], &options),
        (origin, _) => {
            let trace::Origin { source, format, read } = origin.ok_or_else(wrong_command)?;
            control.expect(source.stored_bytes());
            whole::facts(&source, format, control.reading(read), &options)
        }
    };
    let [before, after] = sides.map(|side| side.iter().map(facts).collect::<Result<Vec<_>>>());
    let mut c = compare::compare(&before?, &after?, &options)?;
    remedy::name_options(&mut c.warnings);
    let warnings = c.warnings.clone();
    let c = Arc::new(c);
    let drawn = c.clone();
    let names = sides.map(|side| side.first().map(Given::name).unwrap_or_default());
    let answer = Answer::new(c, &warnings, |c, verbose| compare_text::comparison(c, style(verbose)))?;
    let draw = move || Ok(vec![("comparison".into(), figure::comparison(&drawn, &names, &Look::default()))]);
    Ok(Answer { pictures: Box::new(draw), ..answer })
}

fn page(command: &Command, inputs: &[Given], given: Vec<String>, control: &Control) -> Result<String> {
    let Command::Report(a) = command else { return Err(wrong_command()) };
    let pipeline = report::pipeline(a, given, inputs.len() == 2)?;
    let (mut runs, mut all_facts) = (Vec::new(), Vec::new());
    for input in inputs {
        let (run, facts) = match (input.origin(&a.input.reading)?, input) {
            (None, Given::Trace(trace)) => {
                let origin = Origin { name: trace.rows.path.clone(), ..Origin::default() };
                pipeline.of(Trace::clone(&trace.rows), origin, None)?
            }
            (origin, _) => {
                let trace::Origin { source, format, read } = origin.ok_or_else(wrong_command)?;
                control.expect(source.stored_bytes());
                pipeline.run(&source, format, &control.reading(read.counters(true).all_layers(true)))?
            }
        };
        runs.push(run);
        all_facts.extend(facts);
    }
    Ok(report::page(a, runs, &all_facts))
}

/// Number of threads that the arguments ask for.
fn threads(command: &Command) -> Option<usize> {
    match command {
        Command::Analyze(a) => a.input.threads,
        Command::Findings(a) => a.input.threads,
        Command::Patterns(a) => a.input.threads,
        Command::Classify(a) => a.input.threads,
        Command::Info(a) => a.input.threads,
        Command::Dfg(a) => a.input.threads,
        Command::Report(a) => a.input.threads,
        Command::Compare(a) => a.threads,
        Command::Convert(a) => a.threads,
        _ => None,
    }
}

/// How the inputs of a command are read.
fn reading(command: &Command) -> Option<&ReadingArgs> {
    Some(match command {
        Command::Analyze(a) => &a.input.reading,
        Command::Findings(a) => &a.input.reading,
        Command::Patterns(a) => &a.input.reading,
        Command::Classify(a) => &a.input.reading,
        Command::Info(a) => &a.input.reading,
        Command::Dfg(a) => &a.input.reading,
        Command::Report(a) => &a.input.reading,
        Command::Compare(a) => &a.reading,
        Command::Convert(a) => &a.reading,
        _ => return None,
    })
}

/// The inputs with the rows of tables as traces.
fn settled(command: &Command, inputs: Vec<Given>) -> Result<Vec<Given>> {
    let reading = reading(command).ok_or_else(wrong_command)?;
    inputs.into_iter().map(|given| given.settled(reading)).collect()
}

fn parsed(py: Python<'_>, command: &str, arguments: &[String], inputs: &[Given]) -> PyResult<(Command, Option<usize>)> {
    let names: Vec<String> = inputs.iter().map(Given::name).collect();
    let command = parse(command, arguments, &names).map_err(|e| errors::exception(py, &e))?;
    let threads = threads(&command);
    Ok((command, threads))
}

/// The answer of `command` on `inputs`; those of `compare` begin with `before` runs.
#[pyfunction]
#[pyo3(signature = (command, inputs, arguments, before=0, progress=None))]
pub fn answer(
    py: Python<'_>,
    command: &str,
    inputs: Vec<Given>,
    arguments: Vec<String>,
    before: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    // `compare` has two sides of any number of runs, which the program has no positions for
    let named = if command == "compare" { &inputs[..inputs.len().min(1)] } else { &inputs[..] };
    let named = if command == "compare" { [named, named].concat() } else { named.to_vec() };
    let (parsed, threads) = parsed(py, command, &arguments, &named)?;
    work::run(py, threads, progress.as_ref(), move |control| {
        let inputs = settled(&parsed, inputs)?;
        match &parsed {
            Command::Dfg(_) => graph_of(&parsed, &inputs, control),
            Command::Compare(_) => {
                let (a, b) = inputs.split_at(before.min(inputs.len()));
                comparison(&parsed, [a, b], control)
            }
            _ => of_one(&parsed, inputs.first().ok_or_else(|| errors::usage("no trace"))?, control),
        }
    })
}

/// The page of `report` on `inputs`; `shown` are the options that it lists.
#[pyfunction]
#[pyo3(signature = (inputs, arguments, shown, progress=None))]
pub fn report_page(
    py: Python<'_>,
    inputs: Vec<Given>,
    arguments: Vec<String>,
    shown: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (command, threads) = parsed(py, "report", &arguments, &inputs)?;
    work::run(py, threads, progress.as_ref(), move |control| {
        let inputs = settled(&command, inputs)?;
        page(&command, &inputs, shown, control)
    })
}

/// Refuses a page in whose place is one of these inputs, or a trace.
#[pyfunction]
pub fn check_page(py: Python<'_>, path: PathBuf, inputs: Vec<Given>) -> PyResult<()> {
    let paths = inputs.into_iter().filter_map(|input| match input {
        Given::Path(path) => Some(path),
        _ => None,
    });
    let output = Output { path, content: Content::Answer, option: None };
    draft::check(&[output], &paths.collect::<Vec<_>>()).map_err(|e| errors::exception(py, &e))
}

/// Writes a page, which is whole at every moment.
#[pyfunction]
pub fn store_page(py: Python<'_>, path: PathBuf, page: &str) -> PyResult<()> {
    py.detach(|| draft::store(&path, page.as_bytes())).map_err(|e| errors::exception(py, &e))
}

/// Reads a trace; the arguments are those of `info`.
#[pyfunction]
#[pyo3(signature = (input, arguments, progress=None))]
pub fn open(
    py: Python<'_>,
    input: Given,
    arguments: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PyTrace> {
    let (command, threads) = parsed(py, "info", &arguments, std::slice::from_ref(&input))?;
    let Command::Info(a) = command else { return Err(errors::bug()) };
    work::run(py, threads, progress.as_ref(), move |c| trace::open(input, &a.input.reading, arguments, c)).map(PyTrace)
}

/// Writes a trace in another format; gives the number of rows and what could not be written.
#[pyfunction]
#[pyo3(signature = (input, arguments, progress=None))]
pub fn convert_rows(
    py: Python<'_>,
    input: Given,
    arguments: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(u64, PlainWarnings)> {
    let (command, threads) = parsed(py, "convert", &arguments, std::slice::from_ref(&input))?;
    let Command::Convert(mut a) = command else { return Err(errors::bug()) };
    // the library prints nothing
    a.verbosity.quiet = 2;
    let done = work::run(py, threads, progress.as_ref(), move |control| {
        let writer = convert::writer(&a)?;
        let output = Output { path: a.output.clone(), content: Content::Trace, option: None };
        let read = if let Given::Path(path) = &input { std::slice::from_ref(path) } else { &[] };
        draft::check(&[output], read)?;
        let trace = input.settled(&a.reading)?.rows(&a.reading, control, false)?;
        convert::write(&a, &trace, writer)
    })?;
    Ok((done.rows, plain(&done.notes)))
}

/// The rows and the truth of a synthetic job; the arguments are those of `generate JOB`.
#[pyfunction]
pub fn generate_rows(py: Python<'_>, arguments: Vec<String>) -> PyResult<PyTrace> {
    let (first, rest) = arguments.split_first().ok_or_else(errors::bug)?;
    let output = ["--output=-".to_owned(), "--format=csv".to_owned()];
    let given = ["iophase", "generate"].into_iter().map(str::to_owned);
    let all = given.chain([first.clone()]).chain(rest.iter().cloned()).chain(output);
    let parsed = Cli::try_parse_from(all).map_err(|e| errors::usage(in_keywords(&e.to_string())));
    let Command::Generate(job) = parsed.map_err(|e| errors::exception(py, &e))?.command else {
        return Err(errors::bug());
    };
    let made = Made::Generated(arguments.clone());
    let loaded = work::run(py, None, None, move |_| {
        let run = job.job()?;
        Ok(Loaded::of(run.trace()?, made, Some(json::line(run.truth())?)))
    })?;
    Ok(PyTrace(Arc::new(loaded)))
}
