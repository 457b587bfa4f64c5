//! The table `signals`.

use super::{Time, table};

table! {
    /// One row per log and mode (read, write) that moved bytes.
    pub struct SignalRow = "signals" {
        /// The mode: read or write.
        pub mode: Option<String>,
        /// Bytes moved by the rows analysed.
        pub bytes: Option<i64>,
        /// Seconds in I/O of the slowest rank of the log, at least: reads, writes and metadata, so the same for both modes.
        pub io_time_s: Option<f64>,
        /// Seconds of reading, mean of all ranks.
        pub time_read_s: Option<f64>,
        /// Seconds of writing, mean of all ranks.
        pub time_write_s: Option<f64>,
        /// Seconds of opening, closing and the like, mean of all ranks.
        pub time_meta_s: Option<f64>,
        /// bytes / io_time_s in bytes per second; the rates of both modes add up to that of the log.
        pub agg_rate: Option<f64>,
        /// The answer in one word: periodic, irregular, single-burst, too-few-cycles, constant, empty, not-resolvable; null at depth counters.
        pub verdict: Option<String>,
        /// Whether there is a period; null if the data cannot tell.
        pub periodic: Option<bool>,
        /// Dominant period in seconds.
        pub period_s: Option<f64>,
        /// Its standard error in seconds.
        pub period_std_s: Option<f64>,
        /// Probability that it is right within 5 %.
        pub confidence: Option<f64>,
        /// Number of periods seen.
        pub cycles: Option<f64>,
        /// Share of the period that a burst lasts.
        pub duty_cycle: Option<f64>,
        /// Number of bursts.
        pub bursts: Option<i64>,
        /// Median bytes of a burst.
        pub burst_bytes_median: Option<i64>,
        /// Bytes that 95 % of the bursts do not exceed.
        pub burst_bytes_p95: Option<i64>,
        /// Median seconds from the first to the last byte of a burst.
        pub burst_width_median_s: Option<f64>,
        /// Start of the first burst.
        pub first_burst: Time,
        /// Start of the last burst.
        pub last_burst: Time,
        /// Share of the time of the signal in which the period holds.
        pub valid_share: Option<f64>,
        /// Seconds without I/O between two bursts.
        pub idle_s: Option<f64>,
        /// Set of the job in IO-Sets: round(log10(period)).
        pub set10: Option<i64>,
        /// Share of the bytes that sampling misplaces.
        pub abstraction_error: Option<f64>,
        /// Width of the bins of a heat map in seconds; null for other rows.
        pub bin_s: Option<f64>,
    }
}
