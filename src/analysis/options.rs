//! Options of the pipeline.

use crate::formats::Limits;
use crate::period::chains;
use crate::period::{Detector, Method, Route};
use crate::signal::{Filter, Mode, Sampling, Selection};
use crate::transform::Wavelet;

/// Which signals are analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModeChoice {
    /// Writes and reads, each if it moves bytes.
    #[default]
    Auto,
    /// This one.
    One(Mode),
}

options! {
    /// Everything that a caller may choose; the defaults are those of the command line.
    #[derive(Debug, Clone)]
    pub struct Options {
        /// Which transfers: ranks, files, time window.
        pub selection: Selection,
        /// Which signals.
        pub mode: ModeChoice,
        /// Sampling rate in Hz; `None` chooses one from the trace.
        pub rate_hz: Option<f64>,
        /// Means of bins or values at points.
        pub sampling: Sampling,
        /// Where the period is sought.
        pub method: Method,
        /// Outliers of the spectrum.
        pub detector: Detector,
        /// Share of the largest score that a candidate of the spectrum needs, 0 to 1.
        pub tolerance: f64,
        /// Number of cosines of the reconstruction.
        pub components: usize,
        /// Fit the cosines by least squares.
        pub fourier_fit: bool,
        /// Filter of the sampled signal. With it, method `auto` is `autocorrelation`.
        pub filter: Option<Filter>,
        /// Wavelet of the DWT: of method `dwt`, and of the smoothing before validity windows are found.
        pub wavelet: Wavelet,
        /// Level of the DWT; `None` chooses one from the period.
        pub level: Option<usize>,
        /// Shorter periods in seconds are not reported; `None`: the rhythm of requests inside a burst is not.
        pub min_period_s: Option<f64>,
        /// Compute further scores of periodicity.
        pub scores: bool,
        /// Compute the spectrum of the signal. Without it the period search of method `auto` has the same results, but there are no
        /// statistics of the spectrum, no components and no spectral scores.
        pub spectrum: bool,
        /// Search access patterns; without them `patterns` of the report is null.
        pub patterns: bool,
        /// Bytes of memory that all signals with their transforms may take.
        pub memory_bytes: u64,
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            selection: Selection::default(),
            mode: ModeChoice::Auto,
            rate_hz: None,
            sampling: Sampling::Bin,
            method: Method::Auto,
            detector: Detector::Auto,
            tolerance: 0.8,
            components: 0,
            fourier_fit: false,
            filter: None,
            wavelet: Wavelet::haar(),
            level: None,
            min_period_s: None,
            scores: false,
            spectrum: true,
            patterns: true,
            memory_bytes: Limits::default().memory_bytes,
        }
    }
}

impl Options {
    /// How bursts are searched for periods, in a run of `run_s` seconds.
    pub(super) fn search(&self, run_s: f64) -> chains::Options {
        chains::Options::for_run(run_s).no_shorter_than(self.min_period_s)
    }

    /// Whether the signal is the bandwidth in bins of a width of our choice.
    pub(super) fn samples_bandwidth(&self) -> bool {
        self.rate_hz.is_none() && self.sampling == Sampling::Bin
    }

    /// Whether the bandwidth answers for the signals, without the rows. Patterns need these.
    pub(super) fn needs_bandwidth_only(&self) -> bool {
        self.samples_bandwidth() && self.needs_profile()
    }

    /// Whether the exact bandwidth is needed: for the bursts, or to choose a sampling rate.
    pub(super) fn needs_profile(&self) -> bool {
        self.rate_hz.is_none() || Route::needs_profile(self.method, self.filter.is_some())
    }
}
