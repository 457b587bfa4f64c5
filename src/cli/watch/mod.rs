//! `iophase watch`: the I/O of a program while it runs, from the counters of the kernel.

#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod outputs;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod sampler;
#[cfg(target_os = "linux")]
mod session;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::predict::Signals;
use super::shared::{MinPeriodArgs, Verbosity, choices};
use crate::Result;
use crate::formats::samples::Count;

/// Arguments of `watch`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub struct WatchArgs {
    /// Command to run and to watch, with its arguments
    #[arg(last = true, required_unless_present = "pid", value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
    /// Watch a running process and its descendants, until it ends or a signal arrives
    #[arg(short, long, value_name = "PID", conflicts_with = "command", value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    pid: Option<u32>,
    /// Samples per second
    #[arg(help_heading = "Samples", long, value_name = "HZ", default_value_t = 100, value_parser = clap::value_parser!(u32).range(10..=1000))]
    rate: u32,
    /// What to count: bytes moved by calls, also through pipes and from the cache (calls), or bytes of storage (storage)
    #[arg(help_heading = "Samples", long, value_enum, default_value_t = CountArg::Calls)]
    count: CountArg,
    /// One rank for each process that moves bytes, in the order of their first transfer, instead of a single rank
    #[arg(help_heading = "Samples", long)]
    by_process: bool,
    /// Store the samples in this file (format samples), for `analyze` or, while it grows, for `predict`
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Transfers to predict and to analyse; auto: writes and reads
    #[arg(short, long, value_enum, default_value_t = Signals::Auto)]
    mode: Signals,
    /// Periods
    #[command(flatten)]
    periods: MinPeriodArgs,
    /// Write the predictions while the program runs, one JSON object per line as `predict` does; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    predictions: Option<PathBuf>,
    /// Write the report as JSON at the end, as `analyze` does; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,
    /// Write the pictures into this folder at the end
    #[arg(help_heading = "Output", long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    svg: Option<PathBuf>,
    /// Write the report as one HTML page at the end
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    verbosity: Verbosity,
}

const NOTES: &str = "Needs Linux, but no root and no change to the program. The command keeps its standard input and output. While it runs, \
watch shows the rate, the period and the next burst on standard error, if that is a terminal. At the end it prints the report to standard error, \
with --pid to standard output. Children, threads and orphans count; processes of another user, and those that changed their user, cannot be \
read. Ctrl-C and other signals reach the command. The exit code is that of the command: 128 + N if signal N ended it, 127 if it is not found, \
126 if it cannot be run. Errors of watch itself: 2 wrong usage, 3 the process cannot be watched, 4 (--pid) no bytes were counted, 5 an output \
cannot be written.";

choices!(
    /// Values of `--count`.
    CountArg => Count {
        /// Bytes that calls such as read and write move, counted when the call returns; also through pipes and from the cache
        Calls = "calls" => Count::Calls,
        /// Bytes fetched from storage, of cache pages that become dirty, and of direct I/O
        Storage = "storage" => Count::Storage,
    }
);

/// Runs the command or watches the process; gives the exit code.
///
/// # Errors
/// Of what happens before the command runs; of the process; of the outputs.
#[cfg(target_os = "linux")]
pub(super) fn run(a: &WatchArgs) -> Result<u8> {
    session::run(a)
}

/// Only Linux has the counters.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(super) fn run(_: &WatchArgs) -> Result<u8> {
    use crate::{Error, ErrorKind};
    Err(Error::new(ErrorKind::Unsupported, "watch needs the counters in /proc of Linux")
        .remedy("record a trace, and analyse it with `iophase analyze`"))
}
