//! The pipeline from a trace to a report.
//!
//! [`analyze`] takes a trace and [`Options`] and gives a [`Report`] and the [`Evidence`] for each of its signals. It prints
//! nothing, reads no environment and uses the thread pool it is called in.

mod bursts_in_time;
mod classes;
mod event_log;
mod info;
mod options;
mod patterns;
mod report;
mod sampled;

pub use classes::{classes, classes_of, train_on};
pub use event_log::{EventLog, event_log, save_log};
pub use info::{INFO_SCHEMA, Info};
pub use options::{ModeChoice, Options};
pub use patterns::PatternOptions;
pub use report::{
    PATTERNS_SCHEMA, PatternsOfTrace, QualityReport, REPORT_SCHEMA, Report, SignalReport, Tool, TraceSummary,
};
pub use sampled::{Seen, TrackPoint, strongest};

use bursts_in_time::Clock;

use crate::error::{Error, ErrorKind, Result};
use crate::period::Method;
use crate::period::chains;
use crate::period::spectrum::Powers;
use crate::record::{Data, Op, Trace, Warning};
use crate::remedy::Remedy;
use crate::signal::profile::Profile;
use crate::signal::{Activity, Extent, Length, Mode, Sampling, Selection, Signal, auto_rate, burst_width};
use crate::transform::Spectrum;
use rayon::prelude::*;

/// A period has to hold over this share of the run without a break. Inside one burst requests often follow each other like
/// clockwork; that is no period of the job.
const SHORTEST_WINDOW: f64 = 0.05;
/// Shortest period of a job in seconds. Below it lie the calls of one burst, the rounds of a collective call, the seeks of a
/// disk and the time slices of a scheduler (4 to 10 ms), which can be as regular as any period.
const SHORTEST_PERIOD_S: f64 = 0.02;

/// A report and the data behind it.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The answers.
    pub report: Report,
    /// One for each signal of the report, in the same order.
    pub evidence: Vec<Evidence>,
}

/// The data behind the report of one signal.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The signal that was analysed: sampled, and filtered if that was asked for. Its times count from the origin of the trace.
    pub signal: Signal,
    /// Powers of its spectrum; `None` if it is constant.
    pub powers: Option<Powers>,
    /// Its spectrum.
    pub spectrum: Spectrum,
    /// Intermediate results of the period search.
    pub seen: Seen,
}

/// Analyses a trace.
///
/// # Errors
/// [`ErrorKind::Empty`] if nothing is left of the trace for this request; [`ErrorKind::Usage`] and [`ErrorKind::Limit`]
/// for a sampling rate that cannot be.
pub fn analyze(trace: &Trace, options: &Options) -> Result<Analysis> {
    let modes: &[Mode] = match options.mode {
        ModeChoice::Auto => &[Mode::Write, Mode::Read],
        ModeChoice::One(ref m) => std::slice::from_ref(m),
    };
    let one = |&mode: &Mode| {
        let activity = Activity::new(trace, mode, &options.selection);
        let (extent, profile) = rayon::join(
            || Extent::of(activity.spans()),
            || needs_profile(options).then(|| Profile::from_counted(activity.spans(), activity.rows())),
        );
        let result = (extent.count > 0).then(|| analyze_signal(trace, mode, &activity, &extent, profile, options));
        (activity.left_out(), result)
    };
    let mut signals = Vec::new();
    let mut evidence = Vec::new();
    let mut warnings = trace.warnings.clone();
    let mut left_out = 0;
    for (of_mode, result) in modes.par_iter().map(one).collect::<Vec<_>>() {
        left_out += of_mode;
        if let Some(result) = result {
            let (signal, behind, more) = result?;
            signals.push(signal);
            evidence.push(behind);
            warnings.extend(more);
        }
    }
    if signals.is_empty() {
        return Err(nothing_left(trace, options, left_out));
    }
    let primary =
        signals.iter().filter(|s| s.period.periodic).max_by(|a, b| a.bytes.total_cmp(&b.bytes)).map(|s| s.mode);
    let mode = match options.mode {
        ModeChoice::Auto => Mode::All,
        ModeChoice::One(m) => m,
    };
    let window = SHORTEST_WINDOW * run_s(trace);
    let found = patterns::patterns(trace, mode, &options.selection, window, &PatternOptions::default())?;
    let report = Report {
        schema: REPORT_SCHEMA.into(),
        tool: Tool::this(),
        trace: summary(trace),
        signals,
        primary,
        patterns: found.map(|(report, _)| report),
        quality: quality(trace, left_out),
        warnings,
    };
    Ok(Analysis { report, evidence })
}

/// Finds the access patterns of a trace alone, without its signals.
///
/// # Errors
/// [`ErrorKind::Empty`] if no selected access tells its place in its file; [`ErrorKind::Output`] if accesses were lost or
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
    let window = SHORTEST_WINDOW * run_s(trace);
    let (report, found) = patterns::patterns(trace, mode, selection, window, options)?.ok_or_else(|| {
        Error::new(ErrorKind::Empty, "no patterns: no read or write that is selected tells its place in its file")
            .remedy(Remedy::NeedOffsets)
            .in_file(&trace.path)
    })?;
    Ok(PatternsOfTrace {
        schema: PATTERNS_SCHEMA.into(),
        tool: Tool::this(),
        trace: summary(trace),
        coverage: report.coverage,
        patterns: report.patterns,
        warnings: trace.warnings.clone(),
        found,
    })
}

/// Length of the run in seconds: as the job says, or of the accesses.
fn run_s(trace: &Trace) -> f64 {
    let (start, end) = info::extent(trace);
    let seen = start.zip(end).map_or(0.0, |(a, b)| b - a);
    trace.job.as_ref().and_then(|j| j.run_time_s).unwrap_or(0.0).max(seen)
}

fn nothing_left(trace: &Trace, options: &Options, left_out: u64) -> Error {
    let what = match options.mode {
        ModeChoice::Auto => "read or write".to_owned(),
        ModeChoice::One(m) => m.name().replace('_', " "),
    };
    let remedy = if left_out > 0 {
        Remedy::KeepAllFiles
    } else if trace.data.is_empty() {
        Remedy::Inspect
    } else {
        Remedy::WidenSelection
    };
    Error::new(
        ErrorKind::Empty,
        format!("nothing to analyse: no {what} with bytes is left of {} records", trace.data.len()),
    )
    .remedy(remedy)
    .in_file(&trace.path)
}

fn summary(trace: &Trace) -> TraceSummary {
    let (start_s, end_s) = info::extent(trace);
    let bytes = |op: Op| -> u64 {
        match &trace.data {
            Data::Requests(r) => {
                let sum: u128 =
                    r.op.iter().zip(r.size.iter()).filter(|(o, _)| *o == op).map(|(_, s)| u128::from(s)).sum();
                u64::try_from(sum).unwrap_or(u64::MAX)
            }
            Data::Intervals(i) => {
                i.op.iter().zip(&i.bytes).filter(|(o, _)| *o == op).map(|(_, b)| b).sum::<f64>().round() as u64
            }
        }
    };
    TraceSummary {
        path: trace.path.clone(),
        format: trace.format.into(),
        layer: trace.layer,
        ranks: trace.ranks,
        files: trace.files.len() as u64,
        records: trace.data.len() as u64,
        bytes_read: bytes(Op::Read),
        bytes_written: bytes(Op::Write),
        start_s,
        end_s,
        job: trace.job.clone(),
    }
}

fn quality(trace: &Trace, left_out: u64) -> QualityReport {
    let q = &trace.quality;
    QualityReport {
        records_read: q.records_read,
        records_dropped: q.records_dropped,
        records_left_out: q.records_left_out + left_out,
        clamped: q.clamped,
        clock_backwards: q.clock_backwards,
        partial: q.partial.clone(),
        timing: trace.timing,
        bin_s: trace.bin_s,
    }
}

/// What the default method looks for in a run of `run_s` seconds.
#[doc(hidden)]
pub fn search_options(run_s: f64) -> chains::Options {
    chains::Options {
        shortest_window_s: SHORTEST_WINDOW * run_s,
        shortest_period_s: SHORTEST_PERIOD_S,
        ..chains::Options::default()
    }
}

/// A filter works on samples; chains need the requests themselves.
fn in_time(options: &Options) -> bool {
    options.method == Method::Auto && options.filter.is_none()
}

/// The exact bandwidth is needed for chains and for an automatic sampling rate.
fn needs_profile(options: &Options) -> bool {
    in_time(options) || options.rate_hz.is_none()
}

fn analyze_signal(
    trace: &Trace,
    mode: Mode,
    activity: &Activity<'_>,
    extent: &Extent,
    profile: Option<Profile>,
    options: &Options,
) -> Result<(SignalReport, Evidence, Vec<Warning>)> {
    let mut warnings = Vec::new();
    let run_s = trace.job.as_ref().and_then(|j| j.run_time_s).unwrap_or(0.0).max(extent.duration());
    let search = search_options(run_s);
    let found = profile.as_ref().filter(|_| in_time(options)).map(|p| chains::detect(p, search));
    let rate_hz = options.rate_hz.unwrap_or_else(|| {
        let median = found.as_ref().and_then(bursts_in_time::median_width);
        auto_rate(extent, trace.bin_s, median.or_else(|| profile.as_ref().and_then(burst_width)))
    });
    drop(profile);
    // a rate of the user's own has exactly the bins that it says
    let chosen = options.rate_hz.is_none() && trace.bin_s.is_none() && options.sampling == Sampling::Bin;
    let length = if chosen { Length::Fast } else { Length::Covering };
    let sampled =
        Signal::build(activity, extent, rate_hz, options.sampling, length).map_err(|e| e.in_file(&trace.path))?;
    if sampled.abstraction_error > 0.05 {
        warnings.push(
            Warning::new(
                "coarse-sampling",
                format!(
                    "{:.0} % of the bytes of {} are lost between the sample points",
                    100.0 * sampled.abstraction_error,
                    mode.name()
                ),
            )
            .remedy(Remedy::RaiseSamplingRate),
        );
    }
    let origin = trace.origin_s as f64;
    let filtered = sampled::filtered(&sampled, options).map_err(|e| e.in_file(&trace.path))?;
    let raw = &sampled;
    let signal = filtered.as_ref().unwrap_or(raw);
    let (answer, (spectrum, powers)) = rayon::join(
        || match &found {
            Some(found) => {
                let clock = Clock { origin_s: origin, bin_s: trace.bin_s.unwrap_or(0.0) };
                bursts_in_time::answer(found, raw, clock, options)
            }
            None => sampled::answer(signal, raw, options, origin),
        },
        || {
            let spectrum = Spectrum::of(&signal.samples);
            let powers = Powers::of(&spectrum, rate_hz);
            (spectrum, powers)
        },
    );
    let mut answer = answer;
    if found.is_some() {
        answer.detection.spectrum = powers.as_ref().map(|p| p.statistics);
    }
    let (components, fit) = sampled::components(signal, &spectrum, powers.as_ref(), options, &mut warnings);
    let scores = sampled::scores(signal, powers.as_ref(), &answer.detection, options);
    let report = SignalReport {
        mode,
        sampling_hz: rate_hz,
        samples: signal.samples.len() as u64,
        start_s: origin + signal.start,
        end_s: origin + signal.end,
        bytes: signal.bytes,
        abstraction_error: signal.abstraction_error,
        sampling: signal.sampling,
        period: answer.detection,
        components,
        fit,
        validity: answer.validity,
        bursts: answer.bursts,
        prediction: answer.prediction,
        track: answer.track,
        scores,
    };
    let evidence = Evidence { signal: filtered.unwrap_or(sampled), powers, spectrum, seen: answer.seen };
    Ok((report, evidence, warnings))
}
