//! `iophase generate`: synthetic traces with known truth. The arguments come from the parameters of the workloads.

use std::fmt;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind as ClapError;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Subcommand, ValueHint};

use super::shared::Verbosity;
use super::{convert, output};
use crate::render::units;
use crate::workload::{self, Kind, Parameter, Value, Values, Workload};
use crate::{Error, ErrorKind, Result};

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub struct Generate {
    #[command(subcommand)]
    what: What,
}

/// A workload with its parameters, and what all of them have.
struct What {
    workload: &'static Workload,
    values: Values,
    common: Common,
}

impl fmt::Debug for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("What").field("workload", &self.workload.name()).field("values", &self.values).finish()
    }
}

/// Arguments that all workloads have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct Common {
    /// Output file, which appears only once it is complete; `-` is standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    output: PathBuf,
    /// Write the true periods, bursts and patterns as JSON (`iophase schema truth`)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    truth: Option<PathBuf>,
    /// Format to write [default: by the ending of the output]
    #[arg(long, value_name = "NAME", value_parser = convert::writer_names())]
    format: Option<String>,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl Subcommand for What {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let mut command = command.subcommand_required(true).arg_required_else_help(true);
        for w in workload::ALL {
            let parameters = w.parameters().iter().map(argument);
            let sub = clap::Command::new(w.name()).next_help_heading("Workload").args(parameters);
            // Flattened arguments bring their own description.
            command = command.subcommand(Common::augment_args(sub).about(w.about()).long_about(None));
        }
        command
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        workload::ALL.iter().any(|w| w.name() == name)
    }
}

impl FromArgMatches for What {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(ClapError::MissingSubcommand);
        let (name, given) = matches.subcommand().ok_or_else(missing)?;
        let workload = workload::find(name).map_err(|_| missing())?;
        let mut values = Values::defaults(workload.parameters());
        for p in workload.parameters() {
            let value = match p.kind {
                Kind::Flag => Some(Value::Flag(given.get_flag(p.name))),
                _ => given.get_one::<Value>(p.name).cloned(),
            };
            if let Some(value) = value {
                values.set(p.name, value);
            }
        }
        Ok(What { workload, values, common: Common::from_arg_matches(given)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(p: &'static Parameter) -> Arg {
    let arg = Arg::new(p.name).long(p.name).help(p.help);
    let name = match p.kind {
        Kind::Flag => return arg.action(ArgAction::SetTrue),
        Kind::Choice(words) => {
            let parser = PossibleValuesParser::new(words).try_map(move |w| p.kind.parse(&w));
            return arg.value_name("WORD").default_value(p.default).value_parser(parser);
        }
        Kind::Bytes => "BYTES",
        Kind::Seconds => "SECONDS",
        Kind::Count => "N",
        Kind::Share => "SHARE",
        Kind::Real => "X",
        Kind::Extents => "N,N",
    };
    arg.value_name(name)
        .default_value(p.default)
        .allow_negative_numbers(p.kind == Kind::Real)
        .value_parser(move |text: &str| p.kind.parse(text))
}

impl Generate {
    /// The job that the arguments describe.
    ///
    /// # Errors
    /// Of the parameters.
    pub fn job(&self) -> Result<workload::Run> {
        workload::run(self.what.workload, &self.what.values, self.what.common.seed)
    }
}

/// Runs the command.
///
/// # Errors
/// Of the parameters and of writing.
pub(super) fn run(g: &Generate) -> Result<()> {
    let common = &g.what.common;
    let writer = output::writer(&common.output, common.format.as_deref())?;
    let run = g.job()?;
    let written = output::rows(&run, &common.output, writer, common.verbosity.quiet >= 2)?;
    let truth = run.truth();
    if let Some(path) = &common.truth {
        let text = serde_json::to_string(truth).map_err(|e| Error::new(ErrorKind::Output, e.to_string()))?;
        output::whole(path, &format!("{text}\n"))?;
    }
    if common.verbosity.quiet == 0 {
        let periods: Vec<String> =
            truth.periods.iter().map(|p| format!("{} every {}", p.op.name(), units::seconds(p.period_s))).collect();
        output::message(&format!(
            "{}: {} of {}, {}; {}",
            common.output.display(),
            units::counted(written.rows, "record"),
            units::counted(truth.ranks, "rank"),
            units::counted(truth.patterns.len() as u64, "pattern"),
            if periods.is_empty() { "no period".into() } else { periods.join(", ") }
        ));
    }
    Ok(())
}
