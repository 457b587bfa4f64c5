//! `iophase analyze`: period, validity, bursts, prediction and patterns.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum, ValueHint};

use super::answers::{Answers, PictureNames};
use super::inputs::Inputs;
use super::output::{self, Lines};
use super::shared::{Input, LookArgs, MinPeriodArgs, SelectionArgs, Verbosity, choices, refuse_unused};
use super::{exit_code, remedy};
use crate::analysis::{self, Analysis, Evidence, Options, Report, SignalReport};
use crate::analysis::{Filter, Sampling};
use crate::analysis::{Pass, Wavelet};
use crate::findings;
use crate::formats::{self, Format, ReadOptions, Source};
use crate::period::chains;
use crate::period::{Detector, Method};
use crate::render::figure::{self, View};
use crate::render::findings as findings_text;
use crate::render::table::{self, Table};
use crate::render::text;
use crate::{Error, ErrorKind, Result};

/// Default of `--tolerance`.
const TOLERANCE: f64 = 0.8;
/// Default of `--order`.
const ORDER: u8 = 4;

/// Arguments of `analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Which transfers
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Sampling rate of the signal in Hz, or auto
    #[arg(help_heading = "Spectral methods", short = 'f', long, value_name = "HZ", default_value = "auto", allow_negative_numbers = true, value_parser = sampling_rate)]
    pub sampling_rate: Rate,
    /// How the bandwidth is sampled
    #[arg(help_heading = "Spectral methods", long, value_enum, default_value_t = SamplingArg::Bin)]
    pub sampling: SamplingArg,
    /// Method that finds the period; auto: the most accurate
    #[arg(help_heading = "Spectral methods", long, value_enum, default_value_t = MethodArg::Auto)]
    pub method: MethodArg,
    /// Outlier detector for the spectrum
    #[arg(help_heading = "Spectral methods", short = 'o', long, value_enum, default_value_t = DetectorArg::Auto)]
    pub detector: DetectorArg,
    /// Lowest score of a candidate period, as a share of the best score
    #[arg(help_heading = "Spectral methods", short, long, value_name = "SHARE", default_value_t = TOLERANCE, allow_negative_numbers = true, value_parser = share)]
    pub tolerance: f64,
    /// Number of cosines in the reconstruction
    #[arg(help_heading = "Spectral methods", short = 'n', long, value_name = "N", default_value_t = 0)]
    pub components: usize,
    /// Refine the cosines of -n by least squares; 10 cosines without -n
    #[arg(help_heading = "Spectral methods", long)]
    pub fourier_fit: bool,
    /// Butterworth filter, applied forwards and backwards before the analysis; method auto then uses autocorrelation
    #[arg(help_heading = "Spectral methods", long, value_enum, default_value_t = FilterArg::None)]
    pub filter: FilterArg,
    /// Cut-off frequency of the filter in Hz; two for bandpass
    #[arg(help_heading = "Spectral methods", long, value_name = "HZ[,HZ]", value_delimiter = ',', allow_negative_numbers = true, value_parser = frequency)]
    pub cutoff: Vec<f64>,
    /// Order of the filter
    #[arg(help_heading = "Spectral methods", long, value_name = "N", default_value_t = ORDER, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub order: u8,
    /// Wavelet of the DWT: haar, db2..db10, sym2..sym10, coif1..coif5
    #[arg(help_heading = "Spectral methods", long, value_name = "NAME", default_value = "haar", value_parser = wavelet)]
    pub wavelet: Wavelet,
    /// Level of the DWT; auto: chosen from the period
    #[arg(help_heading = "Spectral methods", long, value_name = "N", default_value = "auto", value_parser = level)]
    pub level: Level,
    /// Periods
    #[command(flatten)]
    pub periods: MinPeriodArgs,
    /// Add further scores of periodicity: spectral flatness and entropy, recurrence, correlation with the cosine
    #[arg(help_heading = "Spectral methods", long)]
    pub scores: bool,
    /// Write the reports as JSON, one per line; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Write the pictures into this folder
    #[arg(help_heading = "Output", long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
    /// Write only these pictures
    #[arg(help_heading = "Output", long, value_name = "NAME", value_delimiter = ',', value_parser = PossibleValuesParser::new(figure::names()), requires = "svg")]
    pub figure: Vec<String>,
    /// Size of the figures
    #[command(flatten)]
    pub look: LookArgs,
    /// Only these fields of the JSON, e.g. trace.path,signals.period.dominant
    #[arg(help_heading = "Output", long, value_name = "LIST", value_delimiter = ',', requires = "json")]
    pub fields: Vec<String>,
    /// Print one aligned line per trace and signal in place of the text
    #[arg(help_heading = "Output", long)]
    pub table: bool,
    /// Write the lines of the table as CSV; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Write names into the CSV unchanged; by default a name that a spreadsheet would take for a formula gets a leading apostrophe
    #[arg(help_heading = "Output", long, requires = "csv")]
    pub exact_names: bool,
    /// Skip the access patterns
    #[arg(help_heading = "Output", long)]
    pub no_patterns: bool,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Options of the analysis.
///
/// # Errors
/// [`ErrorKind::Usage`] for a filter or a time window that cannot be.
pub fn options(a: &AnalyzeArgs) -> Result<Options> {
    a.check_used()?;
    let rate_hz = match a.sampling_rate {
        Rate::Auto => None,
        Rate::Hz(f) => Some(f),
    };
    let level = match a.level {
        Level::Auto => None,
        Level::At(n) => Some(n),
    };
    // no column of the table shows it
    let spectrum = a.svg.is_some() || a.json.is_some() || !(a.table || a.csv.is_some());
    Ok(Options::default()
        .selection(a.selection.selection()?)
        .mode(a.selection.mode())
        .rate_hz(rate_hz)
        .sampling(a.sampling.into())
        .method(a.method.into())
        .detector(a.detector.into())
        .tolerance(a.tolerance)
        .components(a.components)
        .fourier_fit(a.fourier_fit)
        .filter(a.filter()?)
        .wavelet(a.wavelet)
        .level(level)
        .min_period_s(a.periods.shortest_s())
        .scores(a.scores)
        .spectrum(spectrum)
        .patterns(a.wants_patterns())
        .memory_bytes(a.input.reading.max_memory()))
}

/// Analyses every trace; gives the worst exit code.
///
/// # Errors
/// [`ErrorKind::Usage`] for a filter that cannot be, [`ErrorKind::Output`] if the output cannot be created.
pub(super) fn run(a: &AnalyzeArgs) -> Result<u8> {
    let options = options(a)?;
    let streamed = a.svg.is_none() && a.verbosity.verbose == 0;
    let inputs = Inputs::find(&a.input, &a.verbosity)?.read_once(streamed);
    let answers = Answers::new(a.json.as_deref(), &a.verbosity, &inputs)?.only_fields(&a.fields);
    let mut rows = Rows::new(a, &inputs)?;
    let mut answers = answers.without_text(rows.replaces_text());
    let mut names = PictureNames::default();
    if options.method == Method::Auto {
        // while the first trace is being read
        rayon::spawn(chains::prepare);
    }
    let verbose = a.verbosity.verbose > 0;
    let mut read = a.input.reading.options()?.counters(verbose);
    read.series.every_device = a.selection.files.is_some();
    let compute = |source: &Source, format: Option<&'static dyn Format>, read: &ReadOptions| {
        if streamed {
            return Ok((analysis::analyze_source(source, format, read, &options)?.report, Vec::new(), None));
        }
        let trace = formats::read(source, format, read)?;
        let Analysis { report, evidence, .. } = analysis::analyze(&trace, &options)?;
        let view = |(s, e): (&SignalReport, Evidence)| View::new(&trace, s.mode, &options.selection, e);
        let views = a.svg.as_ref().map(|_| report.signals.iter().zip(evidence).map(view).collect::<Vec<_>>());
        let found =
            verbose.then(|| findings::find(&trace, Some(&report), &findings::Options::default())).transpose()?;
        Ok((report, views.unwrap_or_default(), found))
    };
    let worst = inputs.each(&read, compute, |name, answer| {
        let (mut report, views, found) = match answer {
            Ok(answer) => answer,
            Err(e) => return rows.failed(name, e),
        };
        if let Some(folder) = &a.svg {
            let stem = names.stem(&report.trace.path);
            for (signal, view) in report.signals.iter().zip(&views) {
                for (kind, picture) in figure::pictures(signal, view, &a.look.look(), &a.figure) {
                    output::write_into(folder, &format!("{stem}.{}.{kind}.svg", signal.mode.name()), &picture)?;
                }
            }
        }
        remedy::name_options(&mut report.warnings);
        rows.emit(&report)?;
        answers.emit(&report.trace.path, &report.warnings, &report, |style| {
            let found = found.map_or(String::new(), |f| {
                format!("\n{}", findings_text::findings(&f, text::Style { several: false, ..style }))
            });
            text::report(&report, style) + &found
        })
    });
    Ok(answers.finish(rows.finish(worst)))
}

/// The outputs of `--table` and `--csv`.
struct Rows {
    table: Option<Table>,
    csv: Option<Lines>,
    exact_names: bool,
}

impl Rows {
    fn new(a: &AnalyzeArgs, inputs: &Inputs<'_>) -> Result<Rows> {
        let stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(|p| p.as_os_str() == "-");
        let taken = [a.table, stdout(&a.csv), stdout(&a.json)].into_iter().filter(|x| *x).count();
        if taken > 1 {
            return Err(Error::new(
                ErrorKind::Usage,
                "several of --table, --csv - and --json - write to standard output",
            ));
        }
        let columns =
            || std::io::stdout().is_terminal().then(|| terminal_size::terminal_size().map(|(w, _)| w.0.into()));
        let table = a.table.then(|| Table::new(inputs.names(), columns().flatten()));
        let mut csv = a.csv.as_deref().map(Lines::create).transpose()?;
        if let Some(t) = &table {
            output::print(&t.header())?;
        }
        if let Some(lines) = &mut csv {
            lines.write(&format!("{}\r", table::CSV_HEADER))?;
        }
        Ok(Rows { table, csv, exact_names: a.exact_names })
    }

    /// Puts the CSV in its place; gives the exit code of that or, if it is worse, the other.
    fn finish(self, worst: u8) -> u8 {
        worst.max(exit_code(self.csv.map_or(Ok(()), Lines::finish).map(|()| 0)))
    }

    /// Standard output holds the rows and no text.
    fn replaces_text(&self) -> bool {
        self.table.is_some() || self.csv.as_ref().is_some_and(Lines::is_stdout)
    }

    fn emit(&mut self, report: &Report) -> Result<()> {
        let exact = self.exact_names;
        self.put(|t| t.rows(report), || table::csv(report, exact))
    }

    /// A row for a trace without a report.
    fn failed(&mut self, name: &str, e: &Error) -> Result<()> {
        let why = if e.kind() == ErrorKind::Empty { "nothing" } else { "unreadable" };
        let exact = self.exact_names;
        self.put(|t| t.failed(name, why), || table::csv_failed(name, why, exact))
    }

    fn put(&mut self, row: impl FnOnce(&Table) -> String, csv: impl FnOnce() -> String) -> Result<()> {
        if let Some(t) = &self.table {
            output::print_text(&row(t))?;
        }
        match &mut self.csv {
            Some(lines) => lines.write(csv().trim_end_matches('\n')),
            None => Ok(()),
        }
    }
}

/// A sampling rate or `auto`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// From the trace.
    Auto,
    /// In Hz.
    Hz(f64),
}

fn sampling_rate(text: &str) -> std::result::Result<Rate, String> {
    match text {
        "auto" => Ok(Rate::Auto),
        _ => match text.parse::<f64>() {
            Ok(f) if f > 0.0 && f.is_finite() => Ok(Rate::Hz(f)),
            _ => Err("a positive number of Hz, or auto".into()),
        },
    }
}

/// A level of the DWT or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// From the period.
    Auto,
    /// This one, as far as the data allow.
    At(usize),
}

fn level(text: &str) -> std::result::Result<Level, String> {
    match text {
        "auto" => Ok(Level::Auto),
        _ => text.parse().map(Level::At).map_err(|_| "a whole number, or auto".into()),
    }
}

fn wavelet(text: &str) -> std::result::Result<Wavelet, String> {
    Wavelet::named(text).map_err(|e| e.to_string())
}

fn frequency(text: &str) -> std::result::Result<f64, String> {
    text.parse().ok().filter(|f: &f64| *f > 0.0 && f.is_finite()).ok_or_else(|| "a positive number of Hz".into())
}

/// Values of `--filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilterArg {
    /// No filter
    None,
    /// Keep frequencies below the cut-off
    Lowpass,
    /// Keep frequencies above the cut-off
    Highpass,
    /// Keep frequencies between two cut-offs
    Bandpass,
}

impl AnalyzeArgs {
    /// Whether an output shows the patterns: the JSON, unless `--fields` leaves them out, or the text.
    fn wants_patterns(&self) -> bool {
        let chosen = self.fields.is_empty() || self.fields.iter().any(|f| f.split('.').next() == Some("patterns"));
        let stdout = |path: &PathBuf| path.as_os_str() == "-";
        let text = !(self.table || self.csv.is_some() || self.json.as_ref().is_some_and(stdout));
        !self.no_patterns && (self.json.is_some() && chosen || text && self.verbosity.quiet == 0)
    }

    /// Refuses options that would change nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] with what makes the option work.
    fn check_used(&self) -> Result<()> {
        let has_spectrum = matches!(self.method, MethodArg::Dft | MethodArg::Dwt | MethodArg::Stft);
        let spectral = "choose --method dft, dwt or stft";
        refuse_unused(&[
            ("--detector", self.detector != DetectorArg::Auto && !has_spectrum, spectral),
            ("--tolerance", self.tolerance != TOLERANCE && !has_spectrum, spectral),
            ("--order", self.order != ORDER && self.filter == FilterArg::None, "choose a filter with --filter"),
        ])
    }

    /// The filter that `--filter`, `--cutoff` and `--order` ask for.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the number of cutoffs does not fit.
    pub fn filter(&self) -> Result<Option<Filter>> {
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

fn share(text: &str) -> std::result::Result<f64, String> {
    text.parse().ok().filter(|x| (0.0..=1.0).contains(x)).ok_or_else(|| "a number from 0 to 1".into())
}

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
        /// Chains of bursts in the time domain: the most accurate
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
        /// Points that random splits isolate early
        IsolationForest = "isolation-forest" => Detector::IsolationForest,
        /// Points with a lower local density than their neighbours
        Lof = "lof" => Detector::Lof,
        /// Local maxima
        Peaks = "peaks" => Detector::Peaks,
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

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
