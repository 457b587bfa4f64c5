//! The commands.

use clap::{Parser, Subcommand};

use super::analyze::AnalyzeArgs;
use super::classify::ClassifyArgs;
use super::compare::CompareArgs;
use super::convert::ConvertArgs;
use super::dfg::DfgArgs;
use super::findings::{ExplainArgs, FindingsArgs};
use super::generate::Generate;
use super::info::InfoArgs;
use super::overview::OverviewArgs;
use super::patterns::PatternsArgs;
use super::predict::PredictArgs;
use super::report::ReportArgs;
use super::watch::WatchArgs;

/// Detects periodic I/O in traces of parallel jobs, predicts the next burst, and finds what slows the I/O down.
#[derive(Debug, Parser)]
#[command(name = "iophase", version, about, max_term_width = 110, after_help = EXIT_CODES)]
pub struct Cli {
    /// Print bytes with decimal prefixes (kB, MB) instead of binary ones (KiB, MiB)
    #[arg(long, global = true)]
    pub si: bool,
    /// Command
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done (also if nothing is periodic), 1 the condition of `findings --fail-on` or `compare --fail-if` holds, 2 wrong usage, \
3 an input cannot be read, 4 the trace has nothing for this request, 5 an output cannot be written. With several inputs the highest code counts.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The answer on one screen: period, cost of I/O, costliest findings; the same as `iophase TRACE`
    Overview(OverviewArgs),
    /// Period of the I/O, when it holds, bursts, and the next burst
    Analyze(Box<AnalyzeArgs>),
    /// Access patterns, one per line, each with its period
    Patterns(PatternsArgs),
    /// Directly-follows graph: order and cost of activities, and differences between two groups of cases
    Dfg(Box<DfgArgs>),
    /// Access classes of each file, per rank and per job, and recommended settings
    Classify(ClassifyArgs),
    /// I/O problems: evidence, cost, fixes
    Findings(FindingsArgs),
    /// Difference between two runs, or two sets of runs, and what explains it
    Compare(CompareArgs),
    /// All answers about a trace on one HTML page
    Report(Box<ReportArgs>),
    /// One finding: formula, thresholds, remedies; without a code, the list of all
    Explain(ExplainArgs),
    /// Next burst of a running job: follows a growing file, standard input or a socket
    Predict(Box<PredictArgs>),
    /// I/O of a program while it runs: live, and the report at its end
    Watch(Box<WatchArgs>),
    /// Contents of a trace: format, job, ranks, files, operations, bytes, time span
    Info(InfoArgs),
    /// Synthetic traces with known periods, bursts and patterns
    Generate(Generate),
    /// Conversion of a trace to another format
    Convert(ConvertArgs),
    /// Many logs to Parquet tables, and answers over all of them: runs the program `iophase-fleet`
    #[command(disable_help_flag = true)]
    Fleet {
        /// Arguments of `iophase-fleet`; `iophase fleet --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<std::ffi::OsString>,
    },
    /// HTTP interface for traces and running jobs, with a live page
    #[cfg(feature = "serve")]
    Serve(super::serve::ServeArgs),
    /// JSON Schemas of the outputs
    Schema {
        /// Output to describe; `report` is the output of `analyze`, and pages have no schema yet
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(crate::render::json::SCHEMAS), default_value = "report")]
        name: String,
    },
    /// Completion script for a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Manual page of the program or of a command, in roff
    Man {
        /// Command; leave it out for the page of the program
        command: Option<String>,
        /// Its options as JSON
        #[arg(long, hide = true)]
        options: bool,
    },
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
