//! The pipeline from a trace to a report.
//!
//! ```
//! use iophase::analysis::{Options, analyze};
//! use iophase::period::Method;
//!
//! let trace = iophase::read("data/stable.darshan")?;
//! let options = Options::default().method(Method::Dft).rate_hz(Some(10.0));
//! let report = analyze(&trace, &options)?.report;
//! let period = report.signals[0].period.dominant.as_ref().expect("a job that writes every 2 s");
//! assert!((period.period_s - 2.0).abs() < 0.2);
//! # Ok::<(), iophase::Error>(())
//! ```
//!
//! [`analyze`] takes a trace and [`Options`] and gives a [`Report`] and the [`Evidence`] for each of its signals. It prints
//! nothing, reads no environment and uses the thread pool it is called in.

mod classes;
mod components;
mod counters;
pub(crate) mod detect;
mod event_log;
mod heat;
pub(crate) mod info;
mod metadata;
mod options;
mod patterns;
mod report;
mod signals;
mod stream;
mod totals;
mod usage;

internal! { use classes::{classes_of, train_on}; }
pub use classes::classes;
internal! { use components::strongest; }
pub use counters::{AccessSizes, CommonSize, CounterReport, Family, FileKind, LayerCost, MountUse};
internal! { use event_log::save_log; }
pub use event_log::{EventLog, event_log};
internal! { use event_log::graph; }
internal! { use info::{INFO_SCHEMA, info_of}; }
internal! { use heat::{Heat, HeatRow}; }
pub use info::Info;
pub(crate) use metadata::MetadataCalls;
pub use options::{ModeChoice, Options};
pub use patterns::PatternOptions;
pub use stream::analyze_source;
pub(crate) use usage::{FileAccesses, FileUse, SizeUse, TargetUse, Usage};
internal! { use report::{PATTERNS_SCHEMA, REPORT_SCHEMA}; }
pub use report::{PatternsOfTrace, QualityReport, Report, SignalReport, Tool, TraceSummary};

pub(crate) use crate::period::{Candidate, Component, Prediction, Relation, Seen};
pub use crate::signal::{Filter, Mode, NamePattern, RankSet, Sampling, Selection};
pub use crate::transform::{Pass, Wavelet};

use self::signals::{Answer, Transfers};
use self::totals::Totals;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::run_s;
use crate::pattern::PatternsReport;
use crate::period::spectrum::Powers;
use crate::period::{Burst, chains};
use crate::record::{Op, Timing, Trace};
use crate::remedy::Remedy;
use crate::signal::Signal;
use crate::transform::Spectrum;
use rayon::prelude::*;

/// A report and the data behind it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Analysis {
    /// The answers.
    pub report: Report,
    /// One for each signal of the report, in the same order.
    pub evidence: Vec<Evidence>,
}

/// The data behind the report of one signal.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Evidence {
    /// The signal that was analysed: sampled, and filtered if that was asked for. Its times count from the origin of the trace.
    pub(crate) signal: Signal,
    /// Powers of its spectrum; `None` if it is constant.
    pub(crate) powers: Option<Powers>,
    /// Its spectrum.
    pub(crate) spectrum: Spectrum,
    /// Intermediate results of the period search.
    pub(crate) seen: Seen,
}

impl Evidence {
    /// The signal that was analysed in bytes per second, at the sampling rate of the report.
    pub fn samples(&self) -> &[f64] {
        &self.signal.samples
    }

    /// The bursts of the dominant period, in seconds on the trace's own clock.
    pub fn bursts(&self) -> impl ExactSizeIterator<Item = Burst> + '_ {
        let spans = self.seen.bursts.iter().zip(&self.seen.burst_bytes);
        spans.map(|(&(start_s, end_s), &bytes)| Burst { start_s, end_s, bytes })
    }
}

/// Analyses a trace.
///
/// # Errors
/// [`ErrorKind::Empty`] if nothing is left of the trace for this request; [`ErrorKind::Usage`] and [`ErrorKind::Limit`]
/// for a sampling rate that cannot be. Those of [`Trace::check`].
pub fn analyze(trace: &Trace, options: &Options) -> Result<Analysis> {
    trace.check()?;
    if trace.timing == Timing::Order {
        return Err(Error::new(ErrorKind::Empty, "the calls have no times")
            .remedy(Remedy::OrderSuffices)
            .in_file(&trace.path));
    }
    let of_mode = |&mode: &Mode| {
        let transfers = Transfers::of(trace, mode, options);
        (transfers.excluded, transfers.analyze(trace, options))
    };
    let answers = signals_of(options.mode).par_iter().map(of_mode).collect();
    let patterns = || match options.patterns {
        true => patterns_of(trace, options),
        false => Ok(None),
    };
    assemble(trace, &Totals::of(&trace.data, trace.origin_s), options, answers, patterns)
}

/// The modes that a choice means.
fn signals_of(choice: ModeChoice) -> Vec<Mode> {
    match choice {
        ModeChoice::Auto => vec![Mode::Write, Mode::Read],
        ModeChoice::One(m) => vec![m],
    }
}

fn patterns_of(trace: &Trace, options: &Options) -> Result<Option<PatternsReport>> {
    let mode = match options.mode {
        ModeChoice::Auto => Mode::All,
        ModeChoice::One(m) => m,
    };
    let search = options.search(searched_s(trace));
    let found = patterns::patterns(trace, mode, &options.selection, search, &PatternOptions::default())?;
    Ok(found.map(|(report, _)| report))
}

/// The report. `answers` are, for each mode, the rows of system files, and the signal if it has one.
fn assemble(
    trace: &Trace,
    totals: &Totals,
    options: &Options,
    answers: Vec<(u64, Option<Result<Answer>>)>,
    patterns: impl FnOnce() -> Result<Option<PatternsReport>>,
) -> Result<Analysis> {
    let mut signals = Vec::new();
    let mut evidence = Vec::new();
    let mut warnings = trace.warnings.clone();
    let mut excluded = 0;
    for (of_mode, answer) in answers {
        excluded += of_mode;
        if let Some(answer) = answer {
            let (signal, behind, more) = answer?;
            signals.push(signal);
            evidence.push(behind);
            warnings.extend(more);
        }
    }
    if signals.is_empty() {
        return Err(nothing_left(trace, totals, options, excluded));
    }
    let primary = signals
        .iter()
        .filter(|s| s.period.periodic == Some(true))
        .max_by(|a, b| a.bytes.total_cmp(&b.bytes))
        .map(|s| s.mode);
    let report = Report {
        schema: REPORT_SCHEMA.into(),
        tool: Tool::this(),
        trace: summary_with(trace, totals),
        clock: trace.clock,
        signals,
        primary,
        patterns: patterns()?,
        quality: quality(trace, excluded),
        warnings,
    };
    Ok(Analysis { report, evidence })
}

/// Finds the access patterns of a trace alone, without its signals.
///
/// # Errors
/// [`ErrorKind::Empty`] if no selected access has an offset; [`ErrorKind::Output`] if accesses were lost or
/// doubled, which only [`PatternOptions::verify`] looks for.
pub fn patterns(
    trace: &Trace,
    mode: ModeChoice,
    selection: &Selection,
    options: &PatternOptions,
) -> Result<PatternsOfTrace> {
    let mode = match mode {
        ModeChoice::Auto => Mode::All,
        ModeChoice::One(m) => m,
    };
    let (report, found) =
        patterns::patterns(trace, mode, selection, chains::Options::for_run(searched_s(trace)), options)?.ok_or_else(
            || {
                Error::new(ErrorKind::Empty, "no patterns: the selected accesses have no file offsets")
                    .remedy(Remedy::NeedOffsets)
                    .in_file(&trace.path)
            },
        )?;
    Ok(PatternsOfTrace {
        schema: PATTERNS_SCHEMA.into(),
        tool: Tool::this(),
        trace: summary(trace),
        coverage: report.coverage,
        patterns: report.patterns,
        groups: report.groups,
        warnings: trace.warnings.clone(),
        found,
    })
}

/// Seconds in which periods are looked for: the run, and accesses that go on after it.
fn searched_s(trace: &Trace) -> f64 {
    let (start, end) = trace.data.extent(trace.origin_s);
    start.zip(end).map_or(0.0, |(a, b)| b - a).max(run_s(trace))
}

fn nothing_left(trace: &Trace, totals: &Totals, options: &Options, excluded: u64) -> Error {
    let what = match options.mode {
        ModeChoice::Auto => "read or write".to_owned(),
        ModeChoice::One(m) => m.name().replace('_', " "),
    };
    let why = trace.why_no_rows().filter(|_| totals.records == 0);
    let remedy = match why.and_then(|w| w.remedy.clone()) {
        _ if excluded > 0 => Remedy::KeepAllFiles,
        Some(remedy) => remedy,
        None if totals.records == 0 => Remedy::Inspect,
        None => Remedy::WidenSelection,
    };
    let found = match why {
        Some(why) => format!("nothing to analyse: {}", why.message),
        None if totals.records == 0 => format!("nothing to analyse: the trace holds no {what}"),
        None => format!("no data left after filtering: no {what} with bytes among {} records", totals.records),
    };
    Error::new(ErrorKind::Empty, found).remedy(remedy).in_file(&trace.path)
}

pub(crate) fn summary(trace: &Trace) -> TraceSummary {
    summary_with(trace, &Totals::of(&trace.data, trace.origin_s))
}

fn summary_with(trace: &Trace, totals: &Totals) -> TraceSummary {
    let (start_s, end_s) = if trace.timing == Timing::Order { (None, None) } else { totals.extent };
    TraceSummary {
        path: trace.path.clone(),
        format: trace.format.into(),
        layer: trace.layer,
        ranks: trace.ranks,
        files: trace.files.len() as u64,
        records: totals.records,
        bytes_read: totals.bytes(Op::Read),
        bytes_written: totals.bytes(Op::Write),
        start_s,
        end_s,
        job: trace.job.clone(),
    }
}

fn quality(trace: &Trace, excluded: u64) -> QualityReport {
    let q = &trace.quality;
    QualityReport {
        records_read: q.records_read,
        records_dropped: q.records_dropped,
        records_left_out: q.records_left_out + excluded,
        clamped: q.clamped,
        clock_backwards: q.clock_backwards,
        partial: q.partial.clone(),
        timing: trace.timing,
        bin_s: trace.bin_s,
    }
}
