//! What the detector may be told.

/// How long an unmatched record waits for its pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Age {
    /// Records of the same rank seen since.
    pub records: u64,
    /// Seconds since its start.
    pub seconds: f64,
}

/// Settings of the detector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// New patterns are sought each time this many records have been put on the list of unmatched ones; at least 1.
    pub window: usize,
    /// Records that waited longer leave the list as unmatched.
    pub max_age: Age,
    /// Open patterns of a rank; when there are more, those idle for longest are closed.
    pub max_open: usize,
    /// Keep the order of sizes in sequential patterns, so that they can be expanded.
    pub keep_sizes: bool,
    /// Keep the unmatched records themselves, not only their number.
    pub keep_unmatched: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            window: 64,
            max_age: Age { records: 131_072, seconds: f64::INFINITY },
            max_open: 4096,
            keep_sizes: false,
            keep_unmatched: false,
        }
    }
}
