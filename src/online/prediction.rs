//! Output of `iophase predict`, one object per line: schema `iophase.prediction.v1`.
//!
//! Times are seconds on the trace's own clock, sizes bytes, frequencies Hz, probabilities 0 to 1, unknown is `null`.

use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::period::whole_bytes;
use crate::record::{Clock, Warning};
use crate::signal::Mode;

/// Name of the schema of [`Prediction`].
pub const PREDICTION_SCHEMA: &str = "iophase.prediction.v1";

/// The stretch of the trace that a prediction rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WindowSpan {
    /// Start of the first transfer in the window, seconds on the trace's own clock; `null` while nothing has been received.
    pub start_s: Option<f64>,
    /// End of the last transfer in the window, seconds on the trace's own clock; `null` while nothing has been received.
    pub end_s: Option<f64>,
}

/// How often this frequency was found periodic before: a range of frequencies that belong together, merged over the
/// history of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FrequencyRange {
    /// Lowest frequency of the range in Hz.
    pub low_hz: f64,
    /// Highest frequency of the range in Hz.
    pub high_hz: f64,
    /// Predictions of the history with a frequency in the range, this one included.
    pub predictions: u64,
    /// Share of all predictions of the history that have a frequency in the range.
    pub probability: f64,
    /// Probability of periodic given a frequency in the range.
    pub periodic_probability: f64,
}

/// A burst that was due and has not come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Overdue {
    /// When it was due, seconds on the trace's own clock.
    pub due_s: f64,
    /// Probability that the period has ended here, by the rule of succession: n earlier silences of at least this length ended with a
    /// burst; with one that has not been seen, as rare as this one is long, the odds are 1 to n + 1 / (periods of silence).
    pub ended_probability: f64,
}

/// One prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Prediction {
    /// Name and version of the schema.
    pub schema: String,
    /// Number of the prediction of this job, from 0, without gaps.
    pub sequence: u64,
    /// The job, where a source carries several.
    pub job: Option<String>,
    /// What all times count from.
    pub clock: Clock,
    /// When this was printed: seconds since 1970-01-01 00:00 UTC on the machine of the predictor; `null` if it was not.
    pub emitted_unix_s: Option<f64>,
    /// Latest time that the data have reached, seconds on the trace's own clock.
    pub now_s: f64,
    /// Whether a period holds now.
    pub periodic: bool,
    /// Which transfers the answer is about; `null` if nothing is periodic.
    pub mode: Option<Mode>,
    /// The period in seconds; `null` if none holds now.
    pub period_s: Option<f64>,
    /// Standard error of the period in seconds.
    pub period_std_s: Option<f64>,
    /// Probability that the period is right (within 5 %), calibrated; without a period, the probability of the best candidate, which was rejected.
    pub confidence: Option<f64>,
    /// The characteristic time of IO-Sets (Boito, Pallez, Teylo, Vidal, IEEE TPDS 2023) in seconds: the period or, while none holds, the mean
    /// time between the starts of successive bursts in the window, pauses left out (more than 8 times the median). `null` below three bursts,
    /// without idle time between them, and below a second for the first ten seconds, as requests follow each other within a burst.
    #[serde(default)]
    pub characteristic_time_s: Option<f64>,
    /// Number of periods seen in the window.
    pub cycles: Option<u64>,
    /// Start of the next burst, after `now_s`, seconds on the trace's own clock.
    pub next_start_s: Option<f64>,
    /// The same in seconds since 1970-01-01 00:00 UTC; `null` if the clock of the trace is not known.
    pub next_start_unix_s: Option<f64>,
    /// Standard deviation of that start in seconds, no smaller than the errors of the predictions so far.
    pub next_start_std_s: Option<f64>,
    /// Probability that the next burst begins within 1.645 `next_start_std_s` of `next_start_s`, by the rule of succession: the bursts so
    /// far that began within such a window, and eight whose windows held with 0.9 of the confidence.
    #[serde(default)]
    pub next_start_probability: Option<f64>,
    /// End of the next burst, seconds on the trace's own clock.
    pub next_end_s: Option<f64>,
    /// Bytes of the next burst: median of those seen.
    #[serde(serialize_with = "whole_bytes::known")]
    #[schemars(with = "Option<u64>")]
    pub bytes: Option<f64>,
    /// Bytes not exceeded by 95 % of the bursts seen.
    #[serde(serialize_with = "whole_bytes::known")]
    #[schemars(with = "Option<u64>")]
    pub bytes_p95: Option<f64>,
    /// Seconds from the end of a burst to the start of the next.
    pub idle_s: Option<f64>,
    /// Time up to which the prediction is of use, the start of the burst after the next, seconds on the trace's own clock.
    pub valid_until_s: Option<f64>,
    /// The burst that should have begun, if it is late by more than a quarter of the period; `null` else, while no period is known, and
    /// once a burst has come, in its place or not.
    /// A period is taken up again after a pause of any length, at the second burst that keeps to it.
    #[serde(default)]
    pub overdue: Option<Overdue>,
    /// How this frequency did before; `null` if neither this prediction nor its best rejected candidate has one.
    pub frequency_range: Option<FrequencyRange>,
    /// Number of ranks, if the source reports it.
    pub ranks: Option<u64>,
    /// The part of the trace that the prediction rests on.
    pub window: WindowSpan,
    /// The period has changed since the prediction before.
    pub change_point: bool,
    /// When the new period began, seconds on the trace's own clock; `null` without a change.
    pub change_s: Option<f64>,
    /// Letter of the regime the job is in, given in order of appearance; `null` until one is known. A regime that returns gets
    /// its old letter back; letters of different runs do not compare.
    pub state: Option<String>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl Prediction {
    /// Adds the clock of the trace and the time at which the prediction is printed.
    pub fn stamped(mut self, clock: Clock, emitted: SystemTime) -> Prediction {
        self.next_start_unix_s = self.next_start_s.and_then(|t| clock.unix_s(t));
        self.clock = clock;
        self.emitted_unix_s = emitted.duration_since(UNIX_EPOCH).ok().map(|t| t.as_secs_f64());
        self
    }
}
