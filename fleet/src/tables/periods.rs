//! The table `periods`.

use super::{Time, table};

table! {
    /// One row per period of a signal.
    pub struct PeriodRow = "periods" {
        /// The mode: read or write.
        pub mode: Option<String>,
        /// 0 for the dominant period, then the others in the order of the report.
        pub rank: Option<i64>,
        /// The period in seconds.
        pub period_s: Option<f64>,
        /// Its standard error in seconds.
        pub period_std_s: Option<f64>,
        /// Probability that it is right within 5 %.
        pub confidence: Option<f64>,
        /// Number of periods seen.
        pub cycles: Option<f64>,
        /// Start of the first stretch of time in which it holds.
        pub from_time: Time,
        /// End of the last stretch of time in which it holds.
        pub to_time: Time,
    }
}
