//! The table `minutes`.

use super::{Time, table};

table! {
    /// One row per log, minute, mode and mount in which something happened.
    pub struct MinuteRow = "minutes" {
        /// Start of the minute.
        pub minute: Time,
        /// The mode: read, write, or metadata for calls that move no bytes.
        pub mode: Option<String>,
        /// Mount point; null if the data does not say.
        pub mount: Option<String>,
        /// Bytes moved; null for metadata.
        pub bytes: Option<i64>,
        /// Seconds of the minute in which at least one rank moves them; null for metadata.
        pub busy_s: Option<f64>,
        /// Calls that move no bytes: opens, seeks, stats, syncs; null for read and write.
        pub metadata_calls: Option<i64>,
        /// True if the row is spread evenly over the time between the first and the last access of a file, for want of exact times.
        pub spread: Option<bool>,
    }
}
