//! Arguments that several commands have.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

use crate::analysis::{Mode, RankSet, Selection};
use crate::analysis::{ModeChoice, NamePattern};
use crate::formats::{
    self, Format, IoNames, Limits, Patterns, ReadOptions, SeriesColumns, SeriesOptions, Stamp, ValueKind,
};
use crate::online::ChangeMethod;
use crate::record::Layer;
use crate::render::figure::Look;
use crate::{Error, ErrorKind, Result};

/// Where traces come from and how they are read.
#[derive(Debug, Args)]
pub struct Input {
    /// Files or folders; `-` is standard input
    ///
    /// Inputs compressed with gzip, bzip2, xz or zstd are decompressed.
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,
    /// Search folders and their subfolders; each job found is one trace
    #[arg(help_heading = "Input", short, long)]
    pub recursive: bool,
    /// How they are read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Number of threads, at most 1024 [default: one per core]
    #[arg(help_heading = "Input", long, value_name = "N", value_parser = threads())]
    pub threads: Option<usize>,
}

/// Numbers of threads that are of use: with 20,000 a command did not return.
pub fn threads() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(..=1024)
}

/// Refuses an option that was given and has no effect here: its name, whether that is so, and how it gets an effect.
///
/// # Errors
/// [`ErrorKind::Usage`] for the first of them.
pub(super) fn refuse_unused(options: &[(&str, bool, &'static str)]) -> Result<()> {
    match options.iter().find(|(_, unused, _)| *unused) {
        Some((option, _, remedy)) => {
            Err(Error::new(ErrorKind::Usage, format!("{option} has no effect here")).remedy(*remedy))
        }
        None => Ok(()),
    }
}

/// Events of Chrome traces that are I/O.
#[derive(Debug, Args)]
pub struct EventArgs {
    /// Chrome traces: names of the events that are I/O, e.g. '*DataLoader*,write=save_*' [default: those named read or write]
    #[arg(help_heading = "Input", long, value_name = "WILDCARDS")]
    io_names: Option<IoNames>,
    /// Chrome traces: event argument that holds the bytes [default: ret, bytes, size, count, nbytes or length]
    #[arg(help_heading = "Input", long, value_name = "KEY")]
    bytes_arg: Option<String>,
}

impl EventArgs {
    /// The options with this choice of events.
    pub fn with(&self, options: ReadOptions) -> ReadOptions {
        options.io_names(self.io_names.clone()).bytes_arg(self.bytes_arg.clone())
    }
}

/// How traces are read.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// Format of the traces [default: by content]
    #[arg(help_heading = "Input", long, value_name = "NAME", default_value = "auto", hide_default_value = true)]
    format: String,
    /// Layer to read from a log with several layers
    #[arg(help_heading = "Input", long, value_enum, default_value_t = LayerArg::Auto)]
    layer: LayerArg,
    /// Metric to read from a Metric Proxy trace; `*` and `?` are wildcards [default: the byte counter that grows most]
    #[arg(help_heading = "Input", long, value_name = "NAME")]
    metric: Option<String>,
    /// Memory limit per input, for rows, signal samples, content that cannot be streamed, and 1 KiB per pair of rank and file
    #[arg(help_heading = "Input", long, value_name = "BYTES", default_value = "4GiB", value_parser = super::classify::bytes)]
    max_memory: u64,
    /// How text of any kind is read
    #[command(flatten)]
    patterns: PatternArgs,
    /// Events of Chrome traces that are I/O
    #[command(flatten)]
    events: EventArgs,
    /// How tables of values over time are read
    #[command(flatten)]
    series: SeriesArgs,
}

impl ReadingArgs {
    /// The format that was named; `None` for `auto`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if there is no such format.
    pub fn format(&self) -> Result<Option<&'static dyn Format>> {
        match self.format.as_str() {
            "auto" if self.patterns.are_given() => formats::find("regex").map(Some),
            "auto" if self.series.columns.is_some() => formats::find("series").map(Some),
            "auto" => Ok(None),
            name => formats::find(name).map(Some),
        }
    }

    /// Bytes of memory for each thing that does not come as a stream.
    pub fn max_memory(&self) -> u64 {
        self.max_memory
    }

    /// Options of the readers.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if a pattern is wrong, [`ErrorKind::Io`] if the file of patterns cannot be read.
    pub fn options(&self) -> Result<ReadOptions> {
        let options = ReadOptions::default()
            .layer(self.layer.into())
            .metric(self.metric.clone())
            .limits(Limits::default().memory_bytes(self.max_memory))
            .series(self.series.options());
        Ok(self.events.with(options).patterns(self.patterns.patterns()?))
    }

    /// Refuses an option for a format that none of the traces has. Reading reports a trace that cannot be opened.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`].
    pub fn check_used<'p>(&self, traces: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
        const SERIES: &str = "only tables of values over time (--format series) have such an option";
        const CHROME: &str = "only Chrome traces (--format chrome) have such an option";
        const METRICS: &str = "only traces of metrics (--format metric-proxy) have such an option";
        let s = &self.series;
        let given = [
            ("--metric", self.metric.is_some(), METRICS, "metric-proxy"),
            ("--io-names", self.events.io_names.is_some(), CHROME, "chrome"),
            ("--bytes-arg", self.events.bytes_arg.is_some(), CHROME, "chrome"),
            ("--kind", s.kind.is_some(), SERIES, "series"),
            ("--unit", s.unit.is_some(), SERIES, "series"),
            ("--time-unit", s.time_unit.is_some(), SERIES, "series"),
            ("the stamp of rows", s.row_stamp.is_some(), SERIES, "series"),
            ("--sep", s.sep.is_some(), SERIES, "series"),
            ("--time-step", s.time_step.is_some(), SERIES, "series"),
        ];
        if !given.iter().any(|(_, given, ..)| *given) {
            return Ok(());
        }
        let options = self.options()?;
        let name = |path: &PathBuf| {
            if path.as_os_str() == "-" {
                return None;
            }
            let found = path.is_dir().then(|| formats::search(path, None, &options));
            let file = match &found {
                Some(found) => found.as_ref().ok()?.traces.first()?.files.first()?,
                None => path,
            };
            formats::open(file).and_then(|source| formats::probe(&source)).ok().map(Format::name)
        };
        let known: Option<Vec<&str>> = match self.format()? {
            Some(format) => Some(vec![format.name()]),
            None => traces.into_iter().map(name).collect(),
        };
        let lacks = |format| known.as_ref().is_some_and(|known| !known.contains(&format));
        refuse_unused(&given.map(|(option, given, why, format)| (option, given && lacks(format), why)))
    }
}

/// How text of any kind is read.
#[derive(Debug, Args)]
pub struct PatternArgs {
    /// Regular expression that reads any text by named groups: start, end, time, duration, size, rate, op, rank, file, offset; may be
    /// repeated, the first match wins
    #[arg(help_heading = "Input", long, value_name = "REGEX", conflicts_with = "columns")]
    pattern: Vec<String>,
    /// TOML or JSON file of patterns, units, constants and translations, or of FTIO's maps `pattern` and `translate`
    #[arg(help_heading = "Input", long, value_name = "FILE", conflicts_with_all = ["pattern", "columns"], value_hint = ValueHint::FilePath)]
    pattern_file: Option<PathBuf>,
}

impl PatternArgs {
    fn are_given(&self) -> bool {
        !self.pattern.is_empty() || self.pattern_file.is_some()
    }

    /// The patterns; `None` if none were given.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if a pattern is wrong, [`ErrorKind::Io`] if the file of patterns cannot be read.
    pub fn patterns(&self) -> Result<Option<Patterns>> {
        match &self.pattern_file {
            Some(path) => {
                let named = |e: Error| e.in_file(path.display().to_string());
                let text = std::fs::read_to_string(path).map_err(|e| named(Error::from(e)))?;
                Patterns::from_file(&text).map_err(named).map(Some)
            }
            None if self.pattern.is_empty() => Ok(None),
            None => Patterns::rows(&self.pattern).map(Some),
        }
    }
}

/// How time series of monitoring tools are read.
#[derive(Debug, Clone, Args)]
pub struct SeriesArgs {
    /// Columns of a table with a time series, e.g. time=when,write=out
    ///
    /// COLUMN is a name in the header, or a number from 1. Keys: time, read, write, value, end, dur, host, rank, device, where=COLUMN:TEXT; `+` adds columns up.
    #[arg(help_heading = "Time series", long, value_name = "KEY=COLUMN,...")]
    columns: Option<SeriesColumns>,
    /// Meaning of the values [default: that of the tool if known, else rate]
    #[arg(help_heading = "Time series", long, value_enum)]
    kind: Option<KindArg>,
    /// Unit of the values [default: that of the tool if known, else B]
    #[arg(help_heading = "Time series", long, value_enum)]
    unit: Option<UnitArg>,
    /// Unit of times that are numbers [default: by their size]
    #[arg(help_heading = "Time series", long, value_enum)]
    time_unit: Option<TimeUnitArg>,
    /// Whether a row's time marks the end or the start of its interval [default: that of the tool if known, else end]
    #[arg(help_heading = "Time series", long = "stamp", value_enum)]
    row_stamp: Option<StampArg>,
    /// Character between fields, `tab`, or `space` for runs of blanks [default: the most frequent of , ; tab in the header]
    #[arg(help_heading = "Time series", long, value_name = "CHAR", value_parser = separator)]
    sep: Option<u8>,
    /// Interval between rows that have no time, in seconds [default: 1]
    #[arg(help_heading = "Time series", long, value_name = "SECONDS", value_parser = seconds)]
    time_step: Option<f64>,
}

impl SeriesArgs {
    /// The options of the reader.
    pub fn options(&self) -> SeriesOptions {
        SeriesOptions::default()
            .columns(self.columns.clone())
            .kind(self.kind.map(Into::into))
            .unit_bytes(self.unit.map(Into::into))
            .time_unit_s(self.time_unit.map(Into::into))
            .stamp(self.row_stamp.map(Into::into))
            .separator(self.sep)
            .step_s(self.time_step)
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\n\r#".contains(byte) => Ok(*byte),
            _ => Err("`tab`, `space`, or a character other than a letter, digit, quote or #".into()),
        },
    }
}

/// How much is printed.
#[derive(Debug, Args)]
pub struct Verbosity {
    /// Print less: no text or progress (-q), no warnings either (-qq)
    #[arg(help_heading = "Output", short, long, action = clap::ArgAction::Count)]
    pub quiet: u8,
    /// Print details behind the answer
    #[arg(help_heading = "Output", short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// The periods that count.
#[derive(Debug, Args)]
pub struct MinPeriodArgs {
    /// Shortest period to report, in seconds
    ///
    /// auto leaves out the rhythm of requests inside a burst.
    #[arg(long, value_name = "SECONDS", default_value = "auto", value_parser = min_period)]
    min_period: MinPeriod,
}

impl MinPeriodArgs {
    /// The shortest period in seconds; `None` is `auto`.
    pub fn shortest_s(&self) -> Option<f64> {
        self.min_period.0
    }
}

/// A shortest period in seconds; `None` is `auto`.
#[derive(Debug, Clone, Copy)]
struct MinPeriod(Option<f64>);

fn min_period(text: &str) -> Result<MinPeriod, String> {
    if text == "auto" { Ok(MinPeriod(None)) } else { seconds(text).map(|s| MinPeriod(Some(s))) }
}

/// A positive number of seconds, or of something else that is counted.
pub fn seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s: &f64| *s > 0.0 && *s < 1e9).ok_or_else(|| "a positive number".into())
}

/// The transfers of a trace that count.
#[derive(Debug, Args)]
pub struct SelectionArgs {
    /// Transfers to analyse; auto: writes and reads
    #[arg(help_heading = "Selection", short, long, value_enum, default_value_t = ModeArg::Auto)]
    pub mode: ModeArg,
    /// Keep only these ranks, e.g. 0-3,7
    #[arg(help_heading = "Selection", long, value_name = "LIST")]
    pub ranks: Option<RankSet>,
    /// Keep only files whose name matches
    #[arg(help_heading = "Selection", long, value_name = "REGEX")]
    pub files: Option<NamePattern>,
    /// Also keep pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries
    #[arg(help_heading = "Selection", long)]
    pub all_files: bool,
    /// Start of the time window, on the trace's clock
    #[arg(help_heading = "Selection", long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub from: Option<f64>,
    /// End of the time window
    #[arg(help_heading = "Selection", long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub until: Option<f64>,
}

impl SelectionArgs {
    /// Ranks, files and times.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the time window ends before it starts.
    pub fn selection(&self) -> Result<Selection> {
        check_window(self.from, self.until)?;
        Ok(Selection::default()
            .ranks(self.ranks.clone())
            .files(self.files.clone())
            .all_files(self.all_files)
            .from_s(self.from)
            .until_s(self.until))
    }

    /// Reads, writes, or both.
    pub fn mode(&self) -> ModeChoice {
        Option::from(self.mode).map_or(ModeChoice::Auto, ModeChoice::One)
    }
}

/// Refuses a time window that ends before it starts.
///
/// # Errors
/// [`ErrorKind::Usage`].
pub(super) fn check_window(from: Option<f64>, until: Option<f64>) -> Result<()> {
    match (from, until) {
        (Some(from), Some(until)) if until < from => {
            Err(Error::new(ErrorKind::Usage, format!("--until {until} is before --from {from}")))
        }
        _ => Ok(()),
    }
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

/// Values of `--change`.
pub(super) fn change_methods() -> impl TypedValueParser<Value = ChangeMethod> {
    PossibleValuesParser::new(ChangeMethod::ALL.map(ChangeMethod::name)).try_map(|name| name.parse::<ChangeMethod>())
}

choices!(
    /// Values of `--layer`.
    LayerArg => Option<Layer> {
        /// The layer with the most detail
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
        /// Writes and reads; two signals in `analyze` and `report`
        Auto = "auto" => None,
        /// Writes
        Write = "write" => Some(Mode::Write),
        /// Reads
        Read = "read" => Some(Mode::Read),
        /// Writes and reads; one signal
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
    /// Values of `--kind`.
    KindArg => ValueKind {
        /// Amount per second
        Rate = "rate" => ValueKind::Rate,
        /// Amount in the interval
        Bytes = "bytes" => ValueKind::Bytes,
        /// A counter that only grows
        Cumulative = "cumulative" => ValueKind::Cumulative,
    }
);

choices!(
    /// Values of `--unit`.
    UnitArg => f64 {
        /// Bytes
        B = "B" => 1.0,
        /// 1000 bytes
        Kilobyte = "kB" => 1e3,
        /// 1024 bytes
        Kibibyte = "KiB" => 1024.0,
        /// 1,000,000 bytes
        Megabyte = "MB" => 1e6,
        /// 1,048,576 bytes
        Mebibyte = "MiB" => 1_048_576.0,
        /// 512 bytes
        Sector = "sector" => 512.0,
    }
);

choices!(
    /// Values of `--time-unit`.
    TimeUnitArg => f64 {
        /// Seconds
        S = "s" => 1.0,
        /// Milliseconds
        Ms = "ms" => 1e-3,
        /// Microseconds
        Us = "us" => 1e-6,
        /// Nanoseconds
        Ns = "ns" => 1e-9,
    }
);

choices!(
    /// Values of `--stamp`.
    StampArg => Stamp {
        /// The row describes the interval before its time
        End = "end" => Stamp::End,
        /// The row describes the interval after its time
        Start = "start" => Stamp::Start,
    }
);

/// How figures are drawn.
#[derive(Debug, Clone, Copy, Args)]
pub struct LookArgs {
    /// Size of the pictures in pixels
    #[arg(help_heading = "Output", long, value_name = "WxH", value_parser = size, requires = "svg")]
    size: Option<Look>,
}

impl LookArgs {
    /// The look that was asked for, else the usual one.
    pub fn look(&self) -> Look {
        self.size.unwrap_or_default()
    }
}

/// A width and a height in pixels.
fn size(text: &str) -> Result<Look, String> {
    let sides = text.split_once(['x', 'X']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    let fits = |(w, h): &(u32, u32)| (200..=10_000).contains(w) && (200..=10_000).contains(h);
    let sides = sides.filter(fits).ok_or("expected a width and a height of 200 to 10000 pixels, such as 1200x600")?;
    Ok(Look::sized(sides.0, sides.1))
}
