//! Arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use regex::Regex;

use super::convert::ConvertArgs;
use super::generate::Generate;
use crate::analysis::{ModeChoice, PatternOptions};
use crate::error::{Error, ErrorKind};
use crate::pattern::{Age, Options};
use crate::period::{Detector, Method};
use crate::record::Layer;
use crate::signal::{Filter, Mode, RankSet, Sampling, Selection};
use crate::transform::{Pass, Wavelet};

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
    Analyze(Box<Analyze>),
    /// Access patterns, one a line, each with its period
    Patterns(PatternsArgs),
    /// Directly-follows graph: which activity follows which, what each costs, and how two sets of cases differ
    Dfg(Box<super::dfg::DfgArgs>),
    /// Access classes of each file, local and global, and what to set because of them
    Classify(super::classify::ClassifyArgs),
    /// The next burst of a job that runs: follows a growing file, standard input or a socket
    Predict(Box<super::predict::PredictArgs>),
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

/// Which transfers of a trace are looked at.
#[derive(Debug, Args)]
pub struct Pick {
    /// Which transfers; auto: writes and reads, each if it has bytes
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
}

/// Arguments of `analyze`.
#[derive(Debug, Args)]
pub struct Analyze {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Which transfers
    #[command(flatten)]
    pub pick: Pick,
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
    /// Fit these cosines by least squares, 10 if none are given with -n
    #[arg(long)]
    pub fourier_fit: bool,
    /// Butterworth filter, forwards and backwards, before the analysis; method auto is then autocorrelation
    #[arg(long, value_enum, default_value_t = FilterArg::None)]
    pub filter: FilterArg,
    /// Where the filter ends to pass: one frequency, two for bandpass
    #[arg(long, value_name = "HZ[,HZ]", value_delimiter = ',', value_parser = frequency)]
    pub cutoff: Vec<f64>,
    /// Order of the filter
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub order: u8,
    /// Wavelet of the DWT: haar, db2..db10, sym2..sym10, coif1..coif5
    #[arg(long, value_name = "NAME", default_value = "haar", value_parser = wavelet)]
    pub wavelet: Wavelet,
    /// Level of the DWT, or auto: from the period
    #[arg(long, value_name = "N", default_value = "auto", value_parser = level)]
    pub level: Level,
    /// Add further scores of periodicity: spectral flatness and entropy, recurrence, correlation with the cosine
    #[arg(long)]
    pub scores: bool,
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

/// Arguments of `patterns`.
#[derive(Debug, Args)]
pub struct PatternsArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Which transfers
    #[command(flatten)]
    pub pick: Pick,
    /// Seek interleaved patterns when this many accesses of one size wait, then at twice as many
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub window: u32,
    /// How long an access waits for its pattern: a number of accesses of its rank, file and operation, or seconds such as 10s
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub max_age: Option<Age>,
    /// Tell the next N accesses of each pattern
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub next: usize,
    /// Check that the patterns and the unmatched accesses give back every access
    #[arg(long)]
    pub verify: bool,
    /// Write JSON, one object a line; `-` is standard output
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Write a picture of each file into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    pub talk: Talk,
}

fn age(text: &str) -> Result<Age, String> {
    let wrong = || "a whole number of accesses, or seconds such as 10s".to_owned();
    match text.strip_suffix('s') {
        Some(s) => {
            let seconds = s.parse().ok().filter(|x: &f64| *x > 0.0).ok_or_else(wrong)?;
            Ok(Age { records: u64::MAX, seconds })
        }
        None => {
            let records = text.parse().ok().filter(|n: &u64| *n > 0).ok_or_else(wrong)?;
            Ok(Age { records, seconds: f64::INFINITY })
        }
    }
}

impl PatternsArgs {
    /// What the detector is told.
    pub fn options(&self) -> PatternOptions {
        let mut detector = Options { window: self.window as usize, ..Options::default() };
        if let Some(age) = self.max_age {
            detector.max_age = age;
        }
        PatternOptions { detector, next: self.next, verify: self.verify }
    }
}

impl Pick {
    /// Ranks, files and times.
    pub fn selection(&self) -> Selection {
        Selection {
            ranks: self.ranks.clone(),
            files: self.files.clone(),
            all_files: self.all_files,
            from_s: self.from,
            until_s: self.until,
        }
    }

    /// Reads, writes, or both.
    pub fn mode(&self) -> ModeChoice {
        Option::from(self.mode).map_or(ModeChoice::Auto, ModeChoice::One)
    }
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

/// A level of the DWT or the wish for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// From the period.
    Auto,
    /// This one, as far as the data allow.
    At(usize),
}

fn level(text: &str) -> Result<Level, String> {
    match text {
        "auto" => Ok(Level::Auto),
        _ => text.parse().map(Level::At).map_err(|_| "a whole number, or auto".into()),
    }
}

fn wavelet(text: &str) -> Result<Wavelet, String> {
    Wavelet::named(text).map_err(|e| e.to_string())
}

fn frequency(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|f: &f64| *f > 0.0 && f.is_finite()).ok_or_else(|| "a positive number of Hz".into())
}

/// Values of `--filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilterArg {
    /// No filter
    None,
    /// Keep what is slower than the cutoff
    Lowpass,
    /// Keep what is faster than the cutoff
    Highpass,
    /// Keep what is between two cutoffs
    Bandpass,
}

impl Analyze {
    /// The filter that `--filter`, `--cutoff` and `--order` ask for.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the number of cutoffs does not fit.
    pub fn filter(&self) -> Result<Option<Filter>, Error> {
        let pass = match (self.filter, &self.cutoff[..]) {
            (FilterArg::None, []) => return Ok(None),
            (FilterArg::Lowpass, [f]) => Pass::Low(*f),
            (FilterArg::Highpass, [f]) => Pass::High(*f),
            (FilterArg::Bandpass, [a, b]) => Pass::Band(*a, *b),
            (filter, cutoffs) => {
                let (name, needed) = match filter {
                    FilterArg::None => ("no filter", "none; choose a filter with --filter"),
                    FilterArg::Lowpass => ("a lowpass", "one: --cutoff HZ"),
                    FilterArg::Highpass => ("a highpass", "one: --cutoff HZ"),
                    FilterArg::Bandpass => ("a bandpass", "two: --cutoff HZ,HZ"),
                };
                let found = format!("{} cutoff frequencies for {name}", cutoffs.len());
                return Err(Error::new(ErrorKind::Usage, found).expected(needed));
            }
        };
        Ok(Some(Filter { pass, order: usize::from(self.order) }))
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

pub(super) use choices;

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
        assert!(level("x").is_err() && level("auto") == Ok(Level::Auto) && level("3") == Ok(Level::At(3)));
        assert!(wavelet("db4").is_ok() && wavelet("db99").is_err());
    }

    #[test]
    fn ages_are_accesses_or_seconds() {
        assert_eq!(age("500"), Ok(Age { records: 500, seconds: f64::INFINITY }));
        assert_eq!(age("2.5s"), Ok(Age { records: u64::MAX, seconds: 2.5 }));
        for bad in ["", "s", "0", "-1", "nans", "5m"] {
            assert!(age(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn filters_need_their_cutoffs() {
        let filter = |args: &str| {
            let all = format!("iophase analyze x {args}");
            let Command::Analyze(a) = Cli::try_parse_from(all.split(' ').filter(|a| !a.is_empty())).unwrap().command
            else {
                panic!()
            };
            a.filter()
        };
        assert_eq!(filter(""), Ok(None));
        let band = Filter { pass: Pass::Band(0.1, 2.0), order: 2 };
        assert_eq!(filter("--filter bandpass --cutoff 0.1,2 --order 2"), Ok(Some(band)));
        for bad in ["--filter lowpass", "--cutoff 1", "--filter bandpass --cutoff 1", "--filter highpass --cutoff 1,2"]
        {
            assert_eq!(filter(bad).unwrap_err().exit_code(), 2, "{bad}");
        }
    }
}
