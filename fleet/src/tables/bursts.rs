//! The table `bursts`.

use super::{Time, table};

table! {
    /// One row per burst of a dominant period; after 10,000 bursts of a signal one row with the rest.
    pub struct BurstRow = "bursts" {
        /// The mode: read or write.
        pub mode: Option<String>,
        /// Number of the burst in its signal, from 0.
        pub index: Option<i64>,
        /// Its start.
        pub begin_time: Time,
        /// Its end.
        pub end_time: Time,
        /// Its bytes.
        pub bytes: Option<i64>,
        /// Seconds in which a burst of the other mode of the same job runs as well.
        pub overlap_s: Option<f64>,
        /// Number of bursts in this row: 1, more for the rest of a signal with very many.
        pub count: Option<i64>,
    }
}
