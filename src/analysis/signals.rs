//! One signal: from the transfers of a mode to its report.

use std::borrow::Cow;

use super::report::SignalReport;
use super::{Evidence, Options, components};
use crate::error::{Error, Result};
use crate::period::methods::Settings;
use crate::period::spectrum::Powers;
use crate::period::{Route, TraceClock, scores};
use crate::record::{Timing, Trace, Warning};
use crate::remedy::Remedy;
use crate::signal::profile::Profile;
use crate::signal::{Activity, Extent, Length, Mode, Signal, auto_rate, burst_width};
use crate::transform::Spectrum;
use crate::units;

/// Bytes of memory for each sample, at most: itself, its bin, and the transforms of any method. Signals of 67 million samples take 4 to 6 GB.
const SAMPLE_BYTES: u64 = 128;
/// A share of the bytes lost between the sample points from which a warning is due.
const COARSE: f64 = 0.05;

/// The transfers of one mode.
pub(super) struct Transfers<'a> {
    pub mode: Mode,
    pub extent: Extent,
    /// Their exact bandwidth, if it is needed.
    pub profile: Option<Profile>,
    /// The rows they are; `None` if they were not kept.
    pub activity: Option<Activity<'a>>,
    /// Rows that the mode asks for but that belong to system files.
    pub excluded: u64,
}

impl<'a> Transfers<'a> {
    /// Those of a trace.
    pub fn of(trace: &'a Trace, mode: Mode, options: &'a Options) -> Transfers<'a> {
        let activity = Activity::new(trace, mode, &options.selection);
        let (extent, profile) = rayon::join(
            || Extent::of(activity.spans()),
            || options.needs_profile().then(|| Profile::from_counted(activity.spans(), activity.rows())),
        );
        let excluded = activity.excluded();
        Transfers { mode, extent, profile, activity: Some(activity), excluded }
    }

    /// The report of their signal; `None` without a transfer.
    pub fn analyze(self, trace: &Trace, options: &Options) -> Option<Result<Answer>> {
        (self.extent.count > 0).then(|| Request { trace, options, transfers: self }.analyze())
    }
}

/// Report, the data behind it, and warnings.
pub(super) type Answer = (SignalReport, Evidence, Vec<Warning>);

/// One signal on its way through the pipeline.
struct Request<'a> {
    trace: &'a Trace,
    options: &'a Options,
    transfers: Transfers<'a>,
}

impl Request<'_> {
    fn analyze(self) -> Result<Answer> {
        let Request { trace, options, .. } = self;
        let (route, rate_hz) = self.route();
        let raw = self.signal(rate_hz).map_err(|e| e.in_file(&trace.path))?;
        let mode = self.transfers.mode;
        drop(self.transfers);
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
        if let Some(step_s) = trace.bin_s.filter(|_| trace.timing == Timing::Counter) {
            period.widen_bursts(step_s);
        }
        warnings.extend(period.too_fast_s.map(|period_s| fast_rhythm(period_s, mode)));
        warnings.extend(period.latest.map(|(searched, of)| latest_bursts(searched, of, mode)));
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

    /// Where the period is sought, and the sampling rate in Hz.
    fn route(&self) -> (Route, f64) {
        let Request { trace, options, transfers: Transfers { extent, profile, .. } } = self;
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
        (route, rate_hz)
    }

    /// Checks that the samples at a rate that was asked for, and their transforms, have room. Of a chosen rate there are few.
    fn check_memory(&self) -> Result<()> {
        let Some(rate_hz) = self.options.rate_hz else { return Ok(()) };
        let seconds = self.transfers.extent.duration();
        let signals = super::signals_of(self.options.mode).len() as u64;
        let most = self.options.memory_bytes / signals / SAMPLE_BYTES;
        let samples = seconds * rate_hz;
        if samples.is_nan() || samples <= most as f64 {
            return Ok(());
        }
        let needed = units::bytes(samples * (SAMPLE_BYTES * signals) as f64);
        let found = format!("{rate_hz} Hz over {seconds} s give {samples:.0} samples, which take {needed} of memory");
        let most = format!("{most} samples in {}", units::bytes(self.options.memory_bytes as f64));
        Err(Error::limit(found, most).remedy(Remedy::LowerSamplingRate))
    }

    /// The sampled signal: of the rows, or of the bandwidth where they are too many or not kept.
    fn signal(&self, rate_hz: f64) -> Result<Signal> {
        self.check_memory()?;
        let Transfers { extent, profile, activity, .. } = &self.transfers;
        let chosen = self.options.samples_bandwidth() && self.trace.bin_s.is_none();
        let folded = profile.as_ref().filter(|p| activity.is_none() || chosen && p.resolution() > 0.0);
        match (folded, activity) {
            (None, Some(rows)) => Signal::build(rows, extent, rate_hz, self.options.sampling, self.length()),
            (bandwidth, _) => {
                let bandwidth = bandwidth.map_or_else(Cow::default, Cow::Borrowed);
                Signal::of_profile(&bandwidth, extent, rate_hz, self.length())
            }
        }
    }

    /// A rate that the user gave has exactly the bins it says; only a chosen one may be padded for a fast transform.
    fn length(&self) -> Length {
        let chosen = self.options.samples_bandwidth() && self.trace.bin_s.is_none();
        if chosen { Length::PaddedForFft } else { Length::Exact }
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

fn latest_bursts(searched: usize, of: usize, mode: Mode) -> Warning {
    let [searched, of] = [searched, of].map(units::grouped);
    Warning::new(
        "latest-bursts",
        format!(
            "no period was found in all {of} bursts of {}: the reported one is that of the last {searched}",
            mode.name()
        ),
    )
    .remedy("look at an earlier part with --from and --until")
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
