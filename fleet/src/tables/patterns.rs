//! The table `patterns`.

use super::{Time, table};

table! {
    /// A walk through a file that accesses repeat. At depth full; the thousand of a log that move most bytes.
    pub struct PatternRow = "patterns" {
        /// Read or write.
        pub op: Option<String>,
        /// The operation that follows each access on the same bytes, where it is another one.
        pub followed_by: Option<String>,
        /// Kind: contiguous, fixed-strided, kd-strided, sequential.
        pub kind: Option<String>,
        /// Name of the file.
        pub file: Option<String>,
        /// Rank; of several, the first.
        pub rank: Option<i64>,
        /// Number of ranks that make it together.
        pub ranks_count: Option<i64>,
        /// Bytes of each access; null if they vary.
        pub access_size: Option<i64>,
        /// Bytes from one access to the next in the innermost loop; null if sizes vary.
        pub stride: Option<i64>,
        /// Number of nested loops.
        pub depth: Option<i64>,
        /// Number of accesses.
        pub accesses: Option<i64>,
        /// Bytes that they move.
        pub bytes: Option<i64>,
        /// Start of the first access.
        pub begin_time: Time,
        /// End of the last access.
        pub end_time: Time,
        /// Period of the accesses in seconds.
        pub period_s: Option<f64>,
        /// Probability that it is right within 5 %.
        pub confidence: Option<f64>,
    }
}
