//! The table `findings`.

use std::collections::BTreeMap;

use super::table;

table! {
    /// One row per log and finding.
    pub struct FindingRow = "findings" {
        /// Stable code, such as IOP-POSIX-002.
        pub code: Option<String>,
        /// Stable name.
        pub name: Option<String>,
        /// One of info, warning, critical.
        pub severity: Option<String>,
        /// One of exact, bound, modelled.
        pub certainty: Option<String>,
        /// Seconds spent in it.
        pub time_s: Option<f64>,
        /// Seconds that could be gained; null if not known.
        pub lost_s: Option<f64>,
        /// lost_s, or time_s where that is not known, as a share of the run time.
        pub share: Option<f64>,
        /// The family of files that takes most of it.
        pub top_file: Option<String>,
        /// Number of ranks in that family; null if its counters are of all ranks.
        pub ranks_count: Option<i64>,
        /// Numbers behind it, by name.
        pub measured: BTreeMap<String, f64>,
    }
}
