//! Results of the period analysis: the plain types that reports carry.

use schemars::JsonSchema;
use serde::Serialize;

use super::whole_bytes;

/// Where the period is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// Chains of bursts in the time domain, with a calibrated probability: the most accurate.
    #[default]
    Auto,
    /// Power spectrum of the sampled signal.
    Dft,
    /// Power spectrum of the signal smoothed by wavelets.
    Dwt,
    /// Power spectra of a sliding window.
    Stft,
    /// Continuous wavelet transform.
    Cwt,
    /// Autocorrelation.
    Autocorrelation,
}

/// How outliers of a spectrum are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Detector {
    /// The one that suits the method.
    #[default]
    Auto,
    /// Standard deviations from the mean power.
    ZScore,
    /// Points without neighbours: DBSCAN.
    Dbscan,
    /// Points that random splits set apart early: isolation forest.
    IsolationForest,
    /// Points in thinner surroundings than their neighbours: local outlier factor.
    Lof,
    /// Local maxima of the spectrum.
    Peaks,
}

/// The answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// There is a period.
    Periodic,
    /// There are bursts, or power, but no regularity.
    Irregular,
    /// All I/O is one burst.
    SingleBurst,
    /// Two bursts, or less than two cycles: nothing to tell a period from chance.
    TooFewCycles,
    /// The bandwidth does not change.
    Constant,
    /// There is no I/O.
    Empty,
    /// The data cannot tell: totals per file say when a file was first and last accessed, not when its bytes moved.
    NotResolvable,
}

impl Verdict {
    /// Whether there is a period; `None` if the data cannot tell.
    pub fn is_periodic(self) -> Option<bool> {
        (self != Verdict::NotResolvable).then_some(self == Verdict::Periodic)
    }

    /// The answer in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Verdict::Periodic => "periodic",
            Verdict::Irregular => "not periodic: irregular bursts",
            Verdict::SingleBurst => "not periodic: a single burst",
            Verdict::TooFewCycles => "not periodic: too few cycles",
            Verdict::Constant => "not periodic: constant bandwidth",
            Verdict::Empty => "not periodic: no I/O",
            Verdict::NotResolvable => "period unknown: the trace does not record closely enough when bytes moved",
        }
    }
}

/// A period that was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Dominant {
    /// Frequency in Hz: 1 / `period_s`.
    pub frequency_hz: f64,
    /// Seconds from the start of one burst to the start of the next.
    pub period_s: f64,
    /// Standard error of the period in seconds.
    pub period_std_s: Option<f64>,
    /// Number of periods seen, those without a burst included.
    pub cycles: f64,
    /// With method `auto`: probability that the period is right within 5 %. With other methods: score of the detector, 0 to 1.
    /// Limited where bins of a heatmap are wide for the period (warning `near-bin-width`).
    pub confidence: f64,
    /// Amplitude of the cosine of this frequency in the signal, bytes per second.
    pub amplitude_bytes_per_s: f64,
    /// Phase of that cosine at the start of the signal (`start_s`), radians.
    pub phase_rad: f64,
    /// The bin of the DFT, if the period was taken from one.
    pub dft_bin: Option<u64>,
}

/// When a further period holds, relative to the dominant one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Relation {
    /// After the dominant one.
    After,
    /// Before the dominant one.
    Before,
    /// At the same time, and shorter than the dominant one.
    Within,
    /// At the same time, and longer than the dominant one.
    Beside,
}

/// A further independent period.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct OtherPeriod {
    /// The period.
    #[serde(flatten)]
    pub period: Dominant,
    /// Where it holds.
    pub validity: Vec<Validity>,
    /// When it holds, relative to the dominant period.
    pub relation: Relation,
    /// Its next burst; `null` if it no longer holds where the trace ends.
    pub prediction: Option<Prediction>,
}

/// A period that was considered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Candidate {
    /// Frequency in Hz: 1 / `period_s`.
    pub frequency_hz: f64,
    /// Period in seconds.
    pub period_s: f64,
    /// Probability or score, as for the dominant period.
    pub confidence: f64,
    /// Score of the detector (the z-score or its equivalent), or the logit of the classifier.
    pub score: f64,
    /// Frequency in Hz of the candidate of which this is a harmonic; `null` if it is none.
    pub harmonic_of: Option<f64>,
}

/// Mean and standard deviation of the powers of a spectrum, normalised to a sum of 1 without the mean of the signal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SpectrumStatistics {
    /// Mean normalised power of a frequency bin.
    pub mean: f64,
    /// Population standard deviation of the normalised powers.
    pub std: f64,
}

/// The answer for one signal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Detection {
    /// Whether there is a period; `null` if the data cannot tell (verdict `not-resolvable`).
    pub periodic: Option<bool>,
    /// The answer in one word.
    pub verdict: Verdict,
    /// Method that searched for the period.
    pub method: Method,
    /// How outliers of the spectrum were found.
    pub detector: Detector,
    /// The period that holds where the trace ends; if several do, or none, the one that moves the most bytes.
    pub dominant: Option<Dominant>,
    /// Periods that were considered, best first.
    pub candidates: Vec<Candidate>,
    /// Further independent periods.
    pub others: Vec<OtherPeriod>,
    /// Statistics of the power spectrum.
    pub spectrum: Option<SpectrumStatistics>,
}

impl Detection {
    /// An answer without a period.
    pub(crate) fn without_period(method: Method, verdict: Verdict) -> Detection {
        Detection {
            periodic: verdict.is_periodic(),
            verdict,
            method,
            detector: Detector::Auto,
            dominant: None,
            candidates: Vec::new(),
            others: Vec::new(),
            spectrum: None,
        }
    }
}

/// A cosine a cos(2π f (t − start) + φ) of the signal; f = 0 is the mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Component {
    /// Frequency f in Hz; 0 for the mean.
    pub frequency_hz: f64,
    /// Amplitude a in bytes per second.
    pub amplitude_bytes_per_s: f64,
    /// Phase φ at the start of the signal (`start_s`), radians.
    pub phase_rad: f64,
}

/// Mean square errors of the reconstructions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Fit {
    /// Mean square error of the reconstruction with the cosines of the DFT, (bytes per second)².
    pub mse_dft: f64,
    /// The same with the fitted cosines.
    pub mse_fit: f64,
    /// Share of the error that fitting removes: 1 − mse_fit / mse_dft.
    pub improvement: f64,
}

/// A stretch of time in which the dominant period holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Validity {
    /// Start of the first burst there, seconds on the trace's own clock.
    pub start_s: f64,
    /// End of the last burst there, seconds on the trace's own clock.
    pub end_s: f64,
    /// Mean correlation of the signal with the cosine of the period, −1 to 1; `null` if it was not computed.
    pub correlation: Option<f64>,
}

/// Smallest, middle and largest value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Spread {
    /// Smallest value.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// Largest value.
    pub max: f64,
}

impl Spread {
    /// Of some values; `None` if there is none.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Spread> {
        let mut v: Vec<f64> = values.collect();
        v.sort_by(f64::total_cmp);
        let (min, max) = (*v.first()?, *v.last()?);
        let middle = v.len() / 2;
        let median = if v.len() % 2 == 1 { v[middle] } else { 0.5 * (v[middle - 1] + v[middle]) };
        Some(Spread { min, median, max })
    }
}

/// The smallest of the values that 95 % of them do not exceed; `None` if there is none.
pub fn percentile_95(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut v: Vec<f64> = values.collect();
    v.sort_by(f64::total_cmp);
    v.get(((0.95 * v.len() as f64).ceil() as usize).saturating_sub(1)).copied()
}

/// One burst. Times are seconds; the clock is that of the analysed signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Start.
    pub start_s: f64,
    /// End.
    pub end_s: f64,
    /// Bytes of the burst.
    pub bytes: f64,
}

/// How regular bursts are: the coefficient of variation of their gaps, standard deviation over mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Regularity {
    /// Coefficient of variation of the gaps from burst to burst; missing bursts count as gaps of their own. 0 for a clock, 1 for bursts at
    /// random.
    pub cv: f64,
    /// Lower end of its interval of 95 %, for gaps with a normal distribution.
    pub cv_low: f64,
    /// Upper end.
    pub cv_high: f64,
}

/// The bursts of the dominant period.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Bursts {
    /// Number of bursts.
    pub count: u64,
    /// Seconds from the first to the last byte of a burst.
    pub width_s: Spread,
    /// Bytes per burst.
    #[serde(serialize_with = "whole_bytes::spread")]
    #[schemars(with = "whole_bytes::ByteSpread")]
    pub bytes: Spread,
    /// Share of the period that a burst lasts: median width / period.
    pub duty_cycle: f64,
    /// How regular they are; `null` for fewer than three gaps.
    pub regularity: Option<Regularity>,
    /// Start of each burst, seconds on the trace's own clock.
    pub starts_s: Vec<f64>,
}

/// Class of a job in IO-Sets (Boito, Pallez et al., TPDS 2023): jobs of one set take turns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Set10 {
    /// Seconds between the starts of I/O phases.
    pub characteristic_s: f64,
    /// Number of the set: round(log10(`characteristic_s`)).
    pub set: i32,
}

/// The next burst.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Prediction {
    /// Start of the next burst, seconds on the trace's own clock.
    pub next_start_s: f64,
    /// The same in seconds since 1970-01-01 00:00 UTC; `null` if the clock of the trace is not known.
    pub next_start_unix_s: Option<f64>,
    /// Standard deviation of that start in seconds.
    pub next_start_std_s: Option<f64>,
    /// Whether a burst is under way where the trace ends: it has begun, and is shorter than any before it. The next one is the one after it.
    pub now_in_burst: bool,
    /// End of the next burst, seconds on the trace's own clock.
    pub next_end_s: f64,
    /// Bytes of the next burst: median of those seen, or what their steady growth leads to.
    #[serde(serialize_with = "whole_bytes::number")]
    #[schemars(with = "u64")]
    pub bytes: f64,
    /// Bytes not exceeded by 95 % of the bursts seen.
    #[serde(serialize_with = "whole_bytes::number")]
    #[schemars(with = "u64")]
    pub bytes_p95: f64,
    /// Seconds without I/O before the next burst.
    pub idle_s: f64,
    /// The period in seconds.
    pub period_s: f64,
    /// Confidence in the period, as for the dominant period.
    pub confidence: f64,
    /// Time up to which the prediction is of use, the start of the burst after the next, seconds on the trace's own clock.
    pub valid_until_s: f64,
    /// Class of the job for the IO-Sets scheduling policy.
    pub set10: Set10,
}
