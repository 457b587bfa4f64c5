//! The commands.

use clap::{Parser, Subcommand};

use super::analyze::AnalyzeArgs;
use super::classify::ClassifyArgs;
use super::convert::ConvertArgs;
use super::dfg::DfgArgs;
use super::generate::Generate;
use super::info::InfoArgs;
use super::patterns::PatternsArgs;
use super::predict::PredictArgs;

/// Finds the period of a parallel job's I/O in its trace, how sure that is, when it holds and when the next burst comes.
#[derive(Debug, Parser)]
#[command(name = "iophase", version, about, max_term_width = 110, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done (also when nothing periodic was found), 2 wrong usage, 3 an input cannot be read, \
4 nothing in the trace for this request, 5 an output cannot be written. Of several inputs the worst counts.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Period, where it holds, bursts and the next burst
    Analyze(Box<AnalyzeArgs>),
    /// Access patterns, one a line, each with its period
    Patterns(PatternsArgs),
    /// Directly-follows graph: which activity follows which, what each costs, and how two sets of cases differ
    Dfg(Box<DfgArgs>),
    /// Access classes of each file, local and global, and what to set because of them
    Classify(ClassifyArgs),
    /// The next burst of a job that runs: follows a growing file, standard input or a socket
    Predict(Box<PredictArgs>),
    /// What a trace holds: format, job, ranks, files, operations, bytes, time span
    Info(InfoArgs),
    /// Synthetic traces with known truth
    Generate(Generate),
    /// One format into another
    Convert(ConvertArgs),
    /// HTTP interface and live page of running jobs
    #[cfg(feature = "serve")]
    Serve(super::serve::ServeArgs),
    /// The JSON Schemas of the outputs
    Schema {
        /// Which output
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(crate::render::json::SCHEMAS), default_value = "report")]
        name: String,
    },
    /// A completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The manual page, in roff
    Man,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definition_is_sound() {
        Cli::command().debug_assert();
    }
}
