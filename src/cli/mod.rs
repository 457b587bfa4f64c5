//! The command line: arguments to the pipeline, the pipeline to outputs, errors to exit codes.

pub mod analyze;
mod answers;
pub mod args;
pub mod classify;
pub mod compare;
pub mod convert;
pub mod dfg;
pub mod findings;
mod fleet;
pub mod generate;
pub mod help;
mod info;
mod inputs;
pub mod output;
mod overview;
pub mod patterns;
mod places;
mod predict;
mod progress;
pub mod remedy;
pub mod report;
#[cfg(feature = "serve")]
mod serve;
pub mod shared;
#[cfg(feature = "tui")]
mod tui;
#[cfg(feature = "tui")]
mod tui_jobs;
mod watch;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::render::{json, text, units};
use crate::{Error, ErrorKind, Result};
use args::{Cli, Command};
use terminal_size::{Width, terminal_size_of};

/// Runs the program on the arguments of the process.
pub fn run() -> ExitCode {
    ExitCode::from(run_with(&std::env::args_os().collect::<Vec<_>>()))
}

/// Runs the program on arguments, of which the first is its name; gives the exit code. Ends the process if they are wrong.
pub fn run_with(arguments: &[OsString]) -> u8 {
    let mut definition = help::definition(arguments.iter().any(|a| a == "--help-all"));
    let arguments = &overview::with_command(&definition, arguments)[..];
    let matches = definition.try_get_matches_from_mut(arguments).unwrap_or_else(|e| e.exit());
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.format(&mut definition).exit());
    if cli.si {
        units::use_decimal_bytes();
    }
    if let Some((Width(columns), _)) = terminal_size_of(io::stdout()) {
        text::wrap_at(usize::from(columns));
    }
    let writes = match places::check(&definition, &matches) {
        Ok(writes) => writes,
        Err(e) => return exit_code(Err(e)),
    };
    // those that follow a job end in order at a signal
    if writes && !matches!(&cli.command, Command::Predict(_) | Command::Watch(_)) {
        places::leave_nothing_at_signals();
    }
    exit_code(run_command(&cli.command, arguments))
}

fn run_command(command: &Command, arguments: &[OsString]) -> Result<u8> {
    match command {
        Command::Overview(a) => with_threads(a.input.threads, || overview::run(a)),
        Command::Analyze(a) => with_threads(a.input.threads, || analyze::run(a)),
        Command::Patterns(a) => with_threads(a.input.threads, || patterns::run(a)),
        Command::Info(a) => with_threads(a.input.threads, || info::run(a)),
        Command::Findings(a) => with_threads(a.input.threads, || findings::run(a)),
        Command::Compare(a) => with_threads(a.threads, || compare::run(a)),
        Command::Report(a) => with_threads(a.input.threads, || report::run(a, report::given(arguments))),
        Command::Explain(a) => findings::explain(a).map(|()| 0),
        Command::Predict(a) => predict::run(a).map(|()| 0),
        Command::Watch(a) => watch::run(a),
        Command::Generate(g) => generate::run(g).map(|()| 0),
        Command::Convert(a) => with_threads(a.threads, || convert::run(a).map(|()| 0)),
        Command::Dfg(a) => with_threads(a.input.threads, || dfg::run(a)),
        Command::Classify(a) => with_threads(a.input.threads, || classify::run(a)),
        Command::Fleet { arguments } => fleet::run(arguments),
        #[cfg(feature = "serve")]
        Command::Serve(a) => serve::run(a).map(|()| 0),
        Command::Schema { name } => schema(name).map(|()| 0),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut help::definition(true), "iophase", &mut script);
            output::print(&String::from_utf8_lossy(&script)).map(|()| 0)
        }
        Command::Man { command, options } => man(command.as_deref(), *options).map(|()| 0),
    }
}

/// The exit code of a command or of one of its inputs; reports the error.
fn exit_code(result: Result<u8>) -> u8 {
    result.unwrap_or_else(|e| {
        output::error(&e);
        e.exit_code()
    })
}

fn with_threads(threads: Option<usize>, work: impl FnOnce() -> Result<u8> + Send) -> Result<u8> {
    let Some(n) = threads else { return work() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
    pool.map_err(|e| Error::new(ErrorKind::Usage, format!("{n} threads cannot be started: {e}")))?.install(work)
}

fn schema(name: &str) -> Result<()> {
    let text = json::schema(name).ok_or_else(|| Error::new(ErrorKind::Usage, format!("no schema is called {name}")))?;
    output::print(&format!("{text}\n"))
}

fn man(command: Option<&str>, options: bool) -> Result<()> {
    let unknown = || Error::new(ErrorKind::Usage, format!("no command is called {}", command.unwrap_or_default()));
    if options {
        let listed = help::options(command.unwrap_or_default()).ok_or_else(unknown)?;
        return output::print(&format!("{listed}\n"));
    }
    let mut root = help::definition(true);
    root.build();
    let wanted = match command {
        None => Some(&root),
        Some(name) => root.get_subcommands().find(|c| c.get_name() == name),
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(wanted.ok_or_else(unknown)?.clone())
        .render(&mut page)
        .map_err(|e| Error::new(ErrorKind::Output, e.to_string()))?;
    output::print(&String::from_utf8_lossy(&page))
}
