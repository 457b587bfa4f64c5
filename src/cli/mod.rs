//! The command line: arguments to the pipeline, the pipeline to outputs, errors to exit codes.

mod args;
mod classify;
mod convert;
mod dfg;
mod generate;
mod inputs;
mod output;
mod predict;
mod progress;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "tui")]
mod tui;
#[cfg(feature = "tui")]
mod watch;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use serde::Serialize;

use crate::analysis::{self, Analysis, Evidence, Info, Options, SignalReport};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{self, ReadOptions};
use crate::period::{Method, chains};
use crate::record::{Trace, Warning};
use crate::render::svg::{self, View};
use crate::render::{json, text};
use args::{Analyze, Cli, Command, InfoArgs, Level, PatternsArgs, Rate, Talk};
use output::Lines;

/// Runs the program on the arguments of the process.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let worst = match &cli.command {
        Command::Analyze(a) => with_threads(a.input.threads, || analyze(a)),
        Command::Patterns(a) => with_threads(a.input.threads, || patterns(a)),
        Command::Info(a) => with_threads(a.input.threads, || info(a)),
        Command::Predict(a) => code(predict::run(a)),
        Command::Generate(g) => code(generate::run(g)),
        Command::Convert(a) => with_threads(a.threads, || code(convert::run(a))),
        Command::Dfg(a) => with_threads(a.input.threads, || dfg::run(a)),
        Command::Classify(a) => with_threads(a.input.threads, || classify::run(a)),
        #[cfg(feature = "serve")]
        Command::Serve(a) => code(serve::run(a)),
        Command::Schema { name } => code(schema(name)),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "iophase", &mut script);
            code(output::print(&String::from_utf8_lossy(&script)))
        }
        Command::Man => code(man()),
    };
    ExitCode::from(worst)
}

/// The exit code of a step, after telling its error.
fn code(r: Result<()>) -> u8 {
    r.map_or_else(
        |e| {
            output::error(&e);
            e.exit_code()
        },
        |()| 0,
    )
}

fn with_threads(threads: Option<usize>, work: impl FnOnce() -> u8 + Send) -> u8 {
    let Some(n) = threads else { return work() };
    match rayon::ThreadPoolBuilder::new().num_threads(n).build() {
        Ok(pool) => pool.install(work),
        Err(e) => code(Err(Error::new(ErrorKind::Usage, format!("{n} threads cannot be started: {e}")))),
    }
}

fn schema(name: &str) -> Result<()> {
    let schema =
        json::schema(name).ok_or_else(|| Error::new(ErrorKind::Usage, format!("no schema is called {name}")))?;
    let text = serde_json::to_string_pretty(&schema).map_err(|e| Error::new(ErrorKind::Output, e.to_string()))?;
    output::print(&format!("{text}\n"))
}

fn man() -> Result<()> {
    let mut page = Vec::new();
    let failed = |e: io::Error| Error::new(ErrorKind::Output, e.to_string());
    let mut root = Cli::command();
    root.build();
    clap_mangen::Man::new(root.clone()).render(&mut page).map_err(failed)?;
    for sub in root.get_subcommands().filter(|s| s.get_name() != "help") {
        clap_mangen::Man::new(sub.clone()).render(&mut page).map_err(failed)?;
    }
    output::print(&String::from_utf8_lossy(&page))
}

/// Where the answers on several inputs go: JSON to its file, warnings and text to the terminal.
struct Answers {
    lines: Option<Lines>,
    json_only: bool,
    quiet: u8,
    style: text::Style,
    first: bool,
}

impl Answers {
    fn new(json: Option<&Path>, talk: &Talk) -> Result<Self> {
        let lines = json.map(Lines::create).transpose()?;
        let json_only = lines.as_ref().is_some_and(Lines::is_stdout);
        let style = text::Style { color: output::wants_color(&io::stdout()), verbose: talk.verbose > 0 };
        Ok(Self { lines, json_only, quiet: talk.quiet, style, first: true })
    }

    /// One answer. Its text tells its warnings; where there is none they go to standard error.
    fn give(
        &mut self,
        path: &str,
        warnings: &[Warning],
        answer: &impl Serialize,
        text: impl FnOnce(text::Style) -> String,
    ) -> Result<()> {
        if let Some(l) = &mut self.lines {
            l.write(&json::line(answer)?)?;
        }
        if self.json_only {
            if self.quiet < 2 {
                output::warnings(path, warnings);
            }
        } else if self.quiet == 0 {
            let gap = if std::mem::take(&mut self.first) { "" } else { "\n" };
            output::print(&format!("{gap}{}", text(self.style)))?;
        }
        Ok(())
    }
}

fn analyze(a: &Analyze) -> u8 {
    let read = ReadOptions { layer: a.input.layer.into(), ..ReadOptions::default() };
    let filter = match a.filter() {
        Ok(f) => f,
        Err(e) => return code(Err(e)),
    };
    let options = Options {
        selection: a.pick.selection(),
        mode: a.pick.mode(),
        rate_hz: match a.sampling_rate {
            Rate::Auto => None,
            Rate::Hz(f) => Some(f),
        },
        sampling: a.sampling.into(),
        method: a.method.into(),
        detector: a.detector.into(),
        tolerance: a.tolerance,
        components: a.components,
        fourier_fit: a.fourier_fit,
        filter,
        wavelet: a.wavelet,
        level: match a.level {
            Level::Auto => None,
            Level::At(n) => Some(n),
        },
        scores: a.scores,
    };
    let mut answers = match Answers::new(a.json.as_deref(), &a.talk) {
        Ok(answers) => answers,
        Err(e) => return code(Err(e)),
    };
    let mut names = PictureNames::default();
    if options.method == Method::Auto {
        // while the first trace is being read
        rayon::spawn(chains::prepare);
    }
    let compute = |trace: Trace| {
        let Analysis { report, evidence } = analysis::analyze(&trace, &options)?;
        let view = |(s, e): (&SignalReport, Evidence)| View::new(&trace, s.mode, &options.selection, e);
        let views = a.svg.as_ref().map(|_| report.signals.iter().zip(evidence).map(view).collect::<Vec<_>>());
        Ok((report, views.unwrap_or_default()))
    };
    inputs::each_trace(&a.input, &a.talk, &read, compute, |(report, views)| {
        if let Some(folder) = &a.svg {
            let stem = names.stem(&report.trace.path);
            for (signal, view) in report.signals.iter().zip(&views) {
                for (kind, picture) in svg::pictures(signal, view)? {
                    output::write_into(folder, &format!("{stem}.{}.{kind}.svg", signal.mode.name()), &picture)?;
                }
            }
        }
        answers.give(&report.trace.path, &report.warnings, &report, |style| text::report(&report, style))
    })
}

fn patterns(a: &PatternsArgs) -> u8 {
    let read = ReadOptions { layer: a.input.layer.into(), ..ReadOptions::default() };
    let mut answers = match Answers::new(a.json.as_deref(), &a.talk) {
        Ok(answers) => answers,
        Err(e) => return code(Err(e)),
    };
    let (mode, selection, options) = (a.pick.mode(), a.pick.selection(), a.options());
    let mut names = PictureNames::default();
    let compute = |trace: Trace| analysis::patterns(&trace, mode, &selection, &options);
    inputs::each_trace(&a.input, &a.talk, &read, compute, |report| {
        if let Some(folder) = &a.svg {
            let stem = names.stem(&report.trace.path);
            for (file, picture) in svg::offsets(&report)? {
                output::write_into(folder, &format!("{stem}.patterns.{file}.svg"), &picture)?;
            }
        }
        answers.give(&report.trace.path, &report.warnings, &report, |style| text::patterns(&report, a.verify, style))
    })
}

fn info(a: &InfoArgs) -> u8 {
    let read = ReadOptions {
        layer: a.input.layer.into(),
        detail: formats::Detail::Calls,
        survey: true,
        ..ReadOptions::default()
    };
    let mut answers = match Answers::new(a.json.as_deref(), &a.talk) {
        Ok(answers) => answers,
        Err(e) => return code(Err(e)),
    };
    inputs::each_trace(
        &a.input,
        &a.talk,
        &read,
        |trace| Ok(Info::of(&trace)),
        |info| answers.give(&info.path, &info.warnings, &info, |style| text::info(&info, style)),
    )
}

/// File names for the pictures of several traces, without doubles.
#[derive(Default)]
struct PictureNames(HashSet<String>);

impl PictureNames {
    fn stem(&mut self, path: &str) -> String {
        let file = Path::new(path).file_name().map_or_else(|| "stdin".into(), |n| n.to_string_lossy());
        let base = if file == "-" { "stdin".into() } else { file };
        let mut stem = base.clone().into_owned();
        let mut n = 1;
        while !self.0.insert(stem.clone()) {
            n += 1;
            stem = format!("{base}.{n}");
        }
        stem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_do_not_overwrite_each_other() {
        let mut n = PictureNames::default();
        assert_eq!([n.stem("a/x.json"), n.stem("b/x.json"), n.stem("-")], ["x.json", "x.json.2", "stdin"]);
    }
}
