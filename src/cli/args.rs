//! Arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use regex::Regex;

use crate::period::{Detector, Method};
use crate::record::Layer;
use crate::signal::{Mode, RankSet, Sampling};

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
    Analyze(Analyze),
    /// What a trace holds: format, job, ranks, files, operations, bytes, time span
    Info(InfoArgs),
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

/// Where traces come from and how they are read.
#[derive(Debug, Args)]
pub struct Input {
    /// Files or folders; `-` is standard input. gzip and zstd are opened as they come
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,
    /// Format of the traces [default: by content]
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true)]
    pub format: String,
    /// Layer of a log that records several
    #[arg(long, value_enum, default_value_t = LayerArg::Auto)]
    pub layer: LayerArg,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

/// How much is said.
#[derive(Debug, Args)]
pub struct Talk {
    /// Say less: no text, no progress (-q), no warnings (-qq)
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub quiet: u8,
    /// Show what lies behind the answer
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// Arguments of `analyze`.
#[derive(Debug, Args)]
pub struct Analyze {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// What enters the signal; auto: writes and reads, each if it has bytes
    #[arg(short, long, value_enum, default_value_t = ModeArg::Auto)]
    pub mode: ModeArg,
    /// Keep only these ranks, e.g. 0-3,7
    #[arg(long, value_name = "LIST")]
    pub ranks: Option<RankSet>,
    /// Keep only files whose name matches
    #[arg(long, value_name = "REGEX")]
    pub files: Option<Regex>,
    /// Keep pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries, too
    #[arg(long)]
    pub all_files: bool,
    /// Start of the time window
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub from: Option<f64>,
    /// End of the time window
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub until: Option<f64>,
    /// Sampling rate of the signal in Hz, or auto
    #[arg(short = 'f', long, value_name = "HZ", default_value = "auto", value_parser = sampling_rate)]
    pub sampling_rate: Rate,
    /// Exact mean of each bin, or the value at the sample point
    #[arg(long, value_enum, default_value_t = SamplingArg::Bin)]
    pub sampling: SamplingArg,
    /// Where the period is sought; auto: the most accurate
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    pub method: MethodArg,
    /// How outliers of the spectrum are found
    #[arg(short = 'o', long, value_enum, default_value_t = DetectorArg::Auto)]
    pub detector: DetectorArg,
    /// Share of the largest score that a candidate of the spectrum needs
    #[arg(short, long, value_name = "SHARE", default_value_t = 0.8, value_parser = share)]
    pub tolerance: f64,
    /// Cosines of the reconstruction
    #[arg(short = 'n', long, value_name = "N", default_value_t = 0)]
    pub components: usize,
    /// Write the reports as JSON, one a line; `-` is standard output
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Write the pictures into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    pub talk: Talk,
}

/// Arguments of `info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Write JSON, one object a line; `-` is standard output
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    pub talk: Talk,
}

/// A sampling rate or the wish for one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// From the trace.
    Auto,
    /// In Hz.
    Hz(f64),
}

fn sampling_rate(text: &str) -> Result<Rate, String> {
    match text {
        "auto" => Ok(Rate::Auto),
        _ => match text.parse::<f64>() {
            Ok(f) if f > 0.0 && f.is_finite() => Ok(Rate::Hz(f)),
            _ => Err("a positive number of Hz, or auto".into()),
        },
    }
}

fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x| (0.0..=1.0).contains(x)).ok_or_else(|| "a number from 0 to 1".into())
}

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident => $target:ty { $($(#[$help:meta])* $variant:ident = $text:literal => $value:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub enum $name { $($(#[$help])* #[value(name = $text)] $variant),+ }

        impl From<$name> for $target {
            fn from(x: $name) -> $target {
                match x { $($name::$variant => $value),+ }
            }
        }
    };
}

choices!(
    /// Values of `--layer`.
    LayerArg => Option<Layer> {
        /// The one with the most exact data
        Auto = "auto" => None,
        /// POSIX calls
        Posix = "posix" => Some(Layer::Posix),
        /// MPI-IO calls
        Mpiio = "mpiio" => Some(Layer::Mpiio),
        /// C library streams
        Stdio = "stdio" => Some(Layer::Stdio),
    }
);

choices!(
    /// Values of `--mode`.
    ModeArg => Option<Mode> {
        /// Each of write and read that has bytes
        Auto = "auto" => None,
        /// Writes
        Write = "write" => Some(Mode::Write),
        /// Reads
        Read = "read" => Some(Mode::Read),
        /// Reads and writes together
        All = "all" => Some(Mode::All),
        /// Blocking writes
        WriteSync = "write_sync" => Some(Mode::WriteSync),
        /// Blocking reads
        ReadSync = "read_sync" => Some(Mode::ReadSync),
        /// Non-blocking writes
        WriteAsync = "write_async" => Some(Mode::WriteAsync),
        /// Non-blocking reads
        ReadAsync = "read_async" => Some(Mode::ReadAsync),
    }
);

choices!(
    /// Values of `--sampling`.
    SamplingArg => Sampling {
        /// Exact mean of each bin
        Bin = "bin" => Sampling::Bin,
        /// Value at the sample point
        Point = "point" => Sampling::Point,
    }
);

choices!(
    /// Values of `--method`.
    MethodArg => Method {
        /// The most accurate
        Auto = "auto" => Method::Auto,
        /// Power spectrum
        Dft = "dft" => Method::Dft,
        /// Power spectrum of the signal smoothed by wavelets
        Dwt = "dwt" => Method::Dwt,
        /// Power spectra of a sliding window: the period over time
        Stft = "stft" => Method::Stft,
        /// Continuous wavelet transform
        Cwt = "cwt" => Method::Cwt,
        /// Autocorrelation
        Autocorrelation = "autocorrelation" => Method::Autocorrelation,
    }
);

choices!(
    /// Values of `--detector`.
    DetectorArg => Detector {
        /// The one that suits the method
        Auto = "auto" => Detector::Auto,
        /// Standard deviations from the mean power
        ZScore = "z-score" => Detector::ZScore,
        /// Points without neighbours
        Dbscan = "dbscan" => Detector::Dbscan,
        /// Points that random splits set apart early
        IsolationForest = "isolation-forest" => Detector::IsolationForest,
        /// Points in thinner surroundings than their neighbours
        Lof = "lof" => Detector::Lof,
        /// Local maxima
        Peaks = "peaks" => Detector::Peaks,
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn values_are_checked() {
        assert_eq!(sampling_rate("10"), Ok(Rate::Hz(10.0)));
        for bad in ["0", "-1", "nan", "inf", "x"] {
            assert!(sampling_rate(bad).is_err(), "{bad}");
        }
        assert!(share("1.1").is_err() && share("0.8") == Ok(0.8));
    }
}
