//! The pipeline from a trace to a report.
//!
//! [`analyze`] takes a trace and [`Options`] and gives a [`Report`] and the [`Evidence`] for each of its signals. It prints
//! nothing, reads no environment and uses the thread pool it is called in.

mod classes;
mod components;
mod counters;
mod event_log;
mod heat;
pub(crate) mod info;
mod metadata;
mod options;
mod patterns;
mod report;
mod usage;

internal! { use classes::{classes_of, train_on}; }
pub use classes::classes;
internal! { use components::strongest; }
pub use counters::{AccessSizes, CommonSize, CounterReport, Family, FileKind, LayerCost, MountUse};
internal! { use event_log::save_log; }
pub use event_log::{EventLog, event_log};
internal! { use event_log::graph; }
internal! { use info::{INFO_SCHEMA, info_of}; }
pub(crate) use heat::{Heat, HeatRow};
pub use info::Info;
pub(crate) use metadata::MetadataCalls;
pub use options::{ModeChoice, Options};
pub use patterns::PatternOptions;
pub(crate) use usage::{FileAccesses, FileUse, SizeUse, TargetUse, Usage};
internal! { use report::{PATTERNS_SCHEMA, REPORT_SCHEMA}; }
pub use report::{PatternsOfTrace, QualityReport, Report, SignalReport, Tool, TraceSummary};

pub(crate) use crate::period::Seen;
pub use crate::period::scores::Scores;
pub use crate::period::{
    Burst, Bursts, Candidate, Component, Detection, Detector, Dominant, Fit, Method, OtherPeriod, Prediction, Relation,
    Set10, SpectrumStatistics, Spread, TrackPoint, Validity, Verdict,
};
pub use crate::signal::{Filter, Mode, NamePattern, RankSet, Sampling, Selection};
pub use crate::transform::{Pass, Wavelet};

use crate::error::{Error, ErrorKind, Result};
use crate::period::chains;
use crate::period::methods::Settings;
use crate::period::spectrum::Powers;
use crate::period::{Route, TraceClock, scores};
use crate::record::{Data, Op, Timing, Trace, Warning};
use crate::remedy::Remedy;
use crate::signal::profile::Profile;
use crate::signal::{Activity, Extent, Length, Signal, auto_rate, burst_width};
use crate::transform::Spectrum;
use crate::units;
use rayon::prelude::*;

/// A share of the bytes lost between the sample points from which a warning is due.
const COARSE: f64 = 0.05;

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
            || options.needs_profile().then(|| Profile::from_counted(activity.spans(), activity.rows())),
        );
        let result = (extent.count > 0)
            .then(|| Request { trace, mode, activity: &activity, extent: &extent, options }.analyze(profile));
        (activity.excluded(), result)
    };
    let mut signals = Vec::new();
    let mut evidence = Vec::new();
    let mut warnings = trace.warnings.clone();
    let mut excluded = 0;
    for (of_mode, result) in modes.par_iter().map(one).collect::<Vec<_>>() {
        excluded += of_mode;
        if let Some(result) = result {
            let (signal, behind, more) = result?;
            signals.push(signal);
            evidence.push(behind);
            warnings.extend(more);
        }
    }
    if signals.is_empty() {
        return Err(nothing_left(trace, options, excluded));
    }
    let primary = signals
        .iter()
        .filter(|s| s.period.periodic == Some(true))
        .max_by(|a, b| a.bytes.total_cmp(&b.bytes))
        .map(|s| s.mode);
    let mode = match options.mode {
        ModeChoice::Auto => Mode::All,
        ModeChoice::One(m) => m,
    };
    let found = match options.patterns {
        true => patterns::patterns(
            trace,
            mode,
            &options.selection,
            options.search(run_s(trace)),
            &PatternOptions::default(),
        )?,
        false => None,
    };
    let report = Report {
        schema: REPORT_SCHEMA.into(),
        tool: Tool::this(),
        trace: summary(trace),
        clock: trace.clock,
        signals,
        primary,
        patterns: found.map(|(report, _)| report),
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
    let (report, found) = patterns::patterns(trace, mode, selection, chains::Options::for_run(run_s(trace)), options)?
        .ok_or_else(|| {
            Error::new(ErrorKind::Empty, "no patterns: the selected accesses have no file offsets")
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

fn nothing_left(trace: &Trace, options: &Options, excluded: u64) -> Error {
    let what = match options.mode {
        ModeChoice::Auto => "read or write".to_owned(),
        ModeChoice::One(m) => m.name().replace('_', " "),
    };
    let remedy = if excluded > 0 {
        Remedy::KeepAllFiles
    } else if trace.data.is_empty() {
        Remedy::Inspect
    } else {
        Remedy::WidenSelection
    };
    Error::new(
        ErrorKind::Empty,
        format!("no data left after filtering: no {what} with bytes among {} records", trace.data.len()),
    )
    .remedy(remedy)
    .in_file(&trace.path)
}

pub(crate) fn summary(trace: &Trace) -> TraceSummary {
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

/// One signal on its way through the pipeline.
struct Request<'a> {
    trace: &'a Trace,
    mode: Mode,
    activity: &'a Activity<'a>,
    extent: &'a Extent,
    options: &'a Options,
}

impl Request<'_> {
    fn analyze(&self, profile: Option<Profile>) -> Result<(SignalReport, Evidence, Vec<Warning>)> {
        let Request { trace, mode, activity, extent, options } = *self;
        let run_s = trace.job.as_ref().and_then(|j| j.run_time_s).unwrap_or(0.0).max(extent.duration());
        let route = match trace.resolves_times() {
            false => Route::NotResolvable(options.method),
            true => Route::new(
                options.method,
                options.filter.is_some(),
                profile.as_ref(),
                options.search(run_s).in_bins(trace.bin_s),
            ),
        };
        let rate_hz = options.rate_hz.unwrap_or_else(|| {
            let width = route.burst_width_s().or_else(|| profile.as_ref().and_then(burst_width));
            auto_rate(extent, trace.bin_s, width)
        });
        drop(profile);
        let raw = Signal::build(activity, extent, rate_hz, options.sampling, self.length())
            .map_err(|e| e.in_file(&trace.path))?;
        let mut warnings: Vec<Warning> = coarse_sampling(&raw, mode).into_iter().collect();
        let filtered = options.filter.map(|f| raw.filtered(f)).transpose().map_err(|e| e.in_file(&trace.path))?;
        let signal = filtered.as_ref().unwrap_or(&raw);
        let origin_s = trace.origin_s as f64;
        let settings = Settings {
            detector: options.detector,
            tolerance: options.tolerance,
            wavelet: options.wavelet,
            level: options.level,
            min_period_s: options.min_period_s,
        };
        let clock = TraceClock { origin_s, bin_s: trace.bin_s.unwrap_or(0.0) };
        let (mut period, (spectrum, powers)) = rayon::join(
            || route.report(signal, &raw, clock, &settings),
            || {
                let spectrum = Spectrum::of(if options.spectrum { &signal.samples } else { &[] });
                let powers = Powers::of(&spectrum, rate_hz);
                (spectrum, powers)
            },
        );
        if !matches!(route, Route::Sampled(_)) {
            period.detection.spectrum = powers.as_ref().map(|p| p.statistics);
        }
        if let Some(bin_s) = trace.bin_s.filter(|w| *w > 0.0).or(period.bin_s)
            && let Some(period_s) = period.limit_to_bins(bin_s)
        {
            warnings.push(near_bin_width(period_s, bin_s, mode, trace.timing));
        }
        warnings.extend(period.too_fast_s.map(|period_s| fast_rhythm(period_s, mode)));
        let others = period.detection.others.iter_mut().filter_map(|o| o.prediction.as_mut());
        for p in period.prediction.iter_mut().chain(others) {
            p.next_start_unix_s = trace.clock.unix_s(p.next_start_s);
        }
        let (components, fit) = components::components(signal, &spectrum, powers.as_ref(), options, &mut warnings);
        let dominant = period.detection.dominant.as_ref();
        let scores = options.scores.then(|| scores::of(signal, powers.as_ref(), dominant));
        let report = SignalReport {
            mode,
            sampling_hz: rate_hz,
            samples: signal.samples.len() as u64,
            start_s: origin_s + signal.start,
            end_s: origin_s + signal.end,
            bytes: signal.bytes,
            abstraction_error: signal.abstraction_error,
            sampling: signal.sampling,
            period: period.detection,
            components,
            fit,
            validity: period.validity,
            bursts: period.bursts,
            prediction: period.prediction,
            track: period.track,
            scores,
        };
        let evidence = Evidence { signal: filtered.unwrap_or(raw), powers, spectrum, seen: period.seen };
        Ok((report, evidence, warnings))
    }

    /// A rate that the user gave has exactly the bins it says; only a chosen one may be padded for a fast transform.
    fn length(&self) -> Length {
        let chosen = self.options.rate_hz.is_none() && self.trace.bin_s.is_none();
        if chosen && self.options.sampling == Sampling::Bin { Length::PaddedForFft } else { Length::Exact }
    }
}

fn fast_rhythm(period_s: f64, mode: Mode) -> Warning {
    Warning::new(
        "fast-rhythm",
        format!(
            "the requests of {} follow each other every {}: shorter than the shortest period that is reported",
            mode.name(),
            units::seconds(period_s)
        ),
    )
    .remedy(format!("report it with --min-period {:.1e}", 0.5 * period_s))
}

fn near_bin_width(period_s: f64, bin_s: f64, mode: Mode, timing: Timing) -> Warning {
    let (bins, remedy) = match timing {
        Timing::Counter => ("steps", "read the counters more often"),
        _ => ("bins", "record segments with DXT_ENABLE_IO_TRACE=1 (Darshan 3.1.3 or later)"),
    };
    Warning::new(
        "near-bin-width",
        format!(
            "a period of {} of {period_s:.3} s is only {:.1} {bins} of {bin_s} s: the true period may be shorter",
            mode.name(),
            period_s / bin_s
        ),
    )
    .remedy(remedy)
}

fn coarse_sampling(signal: &Signal, mode: Mode) -> Option<Warning> {
    let lost = signal.abstraction_error;
    (lost > COARSE).then(|| {
        Warning::new(
            "coarse-sampling",
            format!("sampling misestimates the bytes of {} by {:.0} %", mode.name(), 100.0 * lost),
        )
        .remedy(Remedy::RaiseSamplingRate)
    })
}
