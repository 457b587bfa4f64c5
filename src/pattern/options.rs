//! Settings of the detector.

/// How long an access waits for its pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Age {
    /// Accesses of the same rank and file seen since.
    pub records: u64,
    /// Seconds since its start.
    pub seconds: f64,
}

options! {
    /// Settings of the detector.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Options {
        /// Interleaved patterns are sought when this many accesses of one size wait, then at twice as many, and so on; at least 4.
        pub window: usize,
        /// Accesses that waited longer are residual.
        pub max_age: Age,
        /// Open patterns of a rank; when there are more, those idle for longest are closed.
        pub max_open: usize,
        /// Keep the order of sizes in sequential patterns, so that they can be expanded.
        pub keep_sizes: bool,
        /// Keep the residual accesses themselves, not only their number.
        pub keep_unmatched: bool,
        /// Join loop nests over ranks; single accesses of ranks are joined anyway.
        pub join_ranks: bool,
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            window: 64,
            max_age: Age { records: u64::MAX, seconds: f64::INFINITY },
            max_open: 4096,
            keep_sizes: false,
            keep_unmatched: false,
            join_ranks: true,
        }
    }
}
