//! Workloads at random values of their parameters.

// Each user takes a part.
#![allow(dead_code)]

use std::fmt::Write;

use iophase::internals::workload::{self, Run, Values};

/// Values that a parameter may have.
type Axis = (&'static str, &'static [&'static str]);

/// Powers of two and other numbers.
const RANKS: &[&str] = &["1", "2", "3", "4", "5", "6", "7", "8", "12", "16", "24", "32", "48", "64"];

/// Bytes of an attribute, among them sizes that other accesses have.
const ATTRIBUTES: &[&str] = &["64", "64", "40", "8", "16", "96", "1", "512"];

/// The exerciser with datasets of one number of dimensions.
macro_rules! exerciser {
    ($elements:expr, $grid:expr, $growth:expr, $file_block:expr, $file_stride:expr $(,)?) => {
        (
            "h5bench-exerciser",
            &[
                ("elements", $elements),
                ("grid", $grid),
                ("growth", $growth),
                ("sizes", &["1", "2", "3", "4"]),
                ("repeats", &["1", "2", "3", "4", "5", "10"]),
                ("file-block", $file_block),
                ("file-stride", $file_stride),
                ("memory-block", &["1", "2", "3"]),
                ("memory-stride", &["1", "1", "2", "4"]),
                ("attributes", &["0", "0", "1", "2", "3", "5", "64"]),
                ("attribute-size", ATTRIBUTES),
                ("derived", &["false", "true"]),
                ("aggregators", &["0", "0", "1", "2", "3", "4"]),
                ("header", &["2104", "0", "97", "777", "4096"]),
            ],
        )
    };
}

/// The parameters of every workload that decide who accesses what. Small and degenerate values are among them.
const WORKLOADS: &[(&str, &[Axis])] = &[
    (
        "h5bench-write",
        &[
            ("ranks", &["1", "2", "3", "4", "5", "6", "7", "8", "12", "16", "24", "32", "48", "64"]),
            ("pattern", &["CC", "CI", "IC", "II"]),
            ("dims", &["1", "2", "3", "5", "7", "8", "12", "64", "96", "100", "8,4", "5,3", "1,6", "4,2,4", "3,5,2"]),
            ("steps", &["1", "2", "3", "4", "5", "7", "12"]),
            ("compute", &["2", "2", "0"]),
            ("members", &["buffered", "direct"]),
            ("buffer", &["1MiB", "32", "100", "128", "160", "1000"]),
            ("read", &["none", "full", "partial"]),
            ("read-particles", &["1", "2", "3", "5", "8"]),
            ("read-compute", &["1", "1", "0"]),
            ("aggregators", &["0", "0", "1", "2", "3", "4", "5"]),
            ("header", &["2104", "0", "1", "777", "4096"]),
        ],
    ),
    (
        "h5bench-metadata",
        &[
            ("steps", &["1", "2", "3", "5", "10"]),
            ("arrays", &["1", "2", "3", "4", "7", "25"]),
            ("rows", &["1", "2", "4", "5", "6", "8", "12", "15", "16"]),
            ("columns", &["1", "2", "4", "5", "6", "8", "12", "15", "16"]),
            ("process-rows", &["1", "2", "3", "4", "5", "6", "8"]),
            ("process-columns", &["1", "2", "3", "4", "5", "6", "8"]),
            ("element", &["8", "1", "4", "12", "100"]),
            ("compute", &["0.4", "0"]),
            ("pause", &["1", "0"]),
            ("header", &["2104", "0", "1", "777", "4096"]),
        ],
    ),
    exerciser!(
        &["1", "2", "3", "4", "5", "6", "7", "8", "12", "16", "64", "100"],
        &["1", "2", "3", "4", "5", "6", "8", "12", "24", "32", "48", "64"],
        &["1", "2", "3", "4"],
        &["1", "1", "1", "2", "3", "5"],
        &["1", "1", "2", "3", "5"],
    ),
    exerciser!(
        &["2,2", "4,2", "3,5", "6,6", "7,1", "8,8", "12,4"],
        &["1", "2", "3", "6", "8", "1,4", "3,2", "2,5", "5,1", "6,8"],
        &["1", "2", "3", "4", "1,2", "3,1"],
        &["1", "1", "1", "2", "1,2", "3"],
        &["1", "1", "2", "3", "1,2", "2,1", "3,5"],
    ),
    exerciser!(
        &["2,2,2", "4,4,4", "2,1,2", "3,2,5", "8,4,2"],
        &["1", "2", "3", "4", "3,1,2", "1,5,1", "4,3,2"],
        &["1", "2", "3", "2,1,1", "1,2,3"],
        &["1", "1", "1", "2", "1,2,1"],
        &["1", "1", "2", "3", "1,2,1", "2,2,3"],
    ),
    exerciser!(
        &["2,2,2,2", "4,4,4,4", "1,3,2,2", "6,1,2,3"],
        &["1", "2", "1,2,1,2", "3,1,2,1", "2,2,3,4"],
        &["1", "2", "1,1,2,1", "3,1,1,2"],
        &["1", "1", "1", "2", "1,1,2,1"],
        &["1", "1", "2", "3", "1,2,1,2"],
    ),
    (
        "ior",
        &[
            ("ranks", RANKS),
            ("segments", &["1", "2", "3", "4", "5", "7", "10", "16"]),
            ("block", &["64k", "128k", "192k", "320k", "1MiB", "47008", "141024", "7000"]),
            ("transfer", &["64k", "64k", "64k", "16k", "47008", "1000", "1MiB"]),
            ("layout", &["shared", "per-rank"]),
            ("access", &["write-read", "write", "read"]),
            ("reorder", &["0", "0", "1", "2", "3", "63"]),
            ("repetitions", &["1", "2", "3", "4", "5", "10"]),
            ("new-files", &["false", "true"]),
            ("gap", &["0.1", "0", "2"]),
            ("delay", &["3", "0"]),
        ],
    ),
    (
        "ior",
        &[
            ("ranks", RANKS),
            ("segments", &["1", "1", "2", "3", "4", "5", "7", "10", "16", "64"]),
            ("block", &["64k", "128k", "192k", "320k", "1MiB"]),
            ("transfer", &["64k", "64k", "16k"]),
            ("layout", &["shared", "per-rank"]),
            ("order", &["random"]),
            ("access", &["write-read", "write", "read"]),
            ("reorder", &["0", "0", "1", "3"]),
            ("repetitions", &["1", "1", "2", "3", "5"]),
            ("new-files", &["false", "true"]),
            ("delay", &["3", "0"]),
        ],
    ),
    (
        "dlio",
        &[
            ("ranks", RANKS),
            ("epochs", &["1", "2", "3", "4", "6", "10"]),
            ("files", &["1", "2", "3", "4", "5", "6", "8", "12", "24", "32", "48", "64"]),
            ("samples", &["1", "2", "3", "4", "5", "6", "8", "12", "16", "32"]),
            ("sample-size", &["128k", "1000"]),
            ("batch", &["1", "1", "2", "3", "4"]),
            ("shuffle", &["files", "none"]),
            ("checkpoint-every", &["1", "0", "2", "3"]),
            ("checkpoint-size", &["1MiB", "2MiB", "3MiB", "5MiB"]),
            ("transfer", &["1MiB", "1MiB", "512k"]),
            ("compute", &["0.18", "0"]),
        ],
    ),
    (
        "dlio",
        &[
            ("ranks", RANKS),
            ("epochs", &["1", "2", "3", "4", "6", "10"]),
            ("files", &["1", "2", "3", "4", "5", "6", "8", "12", "24", "32", "48", "64"]),
            ("samples", &["1", "2", "3", "4", "5", "6", "8", "12", "16", "32"]),
            ("sample-size", &["128k", "1000"]),
            ("batch", &["1", "1", "2", "3", "4"]),
            ("shuffle", &["samples"]),
            ("checkpoint-every", &["1", "0", "2", "3"]),
            ("checkpoint-size", &["1MiB", "2MiB", "3MiB", "5MiB"]),
            ("transfer", &["1MiB", "512k"]),
            ("compute", &["0.18", "0"]),
        ],
    ),
    (
        "dlio",
        &[
            ("ranks", RANKS),
            ("epochs", &["1", "2", "3", "4", "6", "10"]),
            ("files", &["1", "2", "3", "4", "5", "6", "8", "12", "24", "32", "48", "64"]),
            ("samples", &["1", "2", "3", "4", "5", "6", "8", "12", "16", "32"]),
            ("sample-size", &["128k", "128k", "1000"]),
            ("sample-spread", &["0.5", "0.1", "0.9"]),
            ("batch", &["1", "1", "2", "3", "4"]),
            ("shuffle", &["files", "none"]),
            ("checkpoint-every", &["1", "0"]),
        ],
    ),
    (
        "dlio",
        &[
            ("ranks", RANKS),
            ("epochs", &["1", "2", "3", "4", "6", "10"]),
            ("files", &["1", "2", "3", "4", "5", "6", "8", "12", "24", "32", "48", "64"]),
            ("samples", &["1", "2", "3", "4", "5", "6", "8", "12", "16", "32"]),
            ("sample-size", &["128k", "128k", "1000"]),
            ("sample-spread", &["0.5", "0.1", "0.9", "0.05", "0.02"]),
            ("batch", &["1", "1", "2", "3", "4"]),
            ("shuffle", &["samples"]),
            ("checkpoint-every", &["1", "0"]),
        ],
    ),
    (
        "checkpoint",
        &[
            ("ranks", RANKS),
            ("checkpoints", &["1", "2", "3", "4", "5", "10", "20"]),
            ("size", &["1MiB", "2MiB", "3MiB", "5MiB", "8MiB"]),
            ("transfer", &["1MiB", "1MiB", "256k"]),
            ("layout", &["shared", "per-rank"]),
            ("place", &["new", "append", "overwrite"]),
            ("jitter", &["0", "0.05", "0.2"]),
            ("jitter-kind", &["interval", "grid"]),
            ("drift", &["0", "0", "0.02", "-0.01"]),
            ("desync", &["0", "0.2", "0.5"]),
            ("missed", &["0", "0.2", "0.5"]),
            ("change-after", &["0", "0", "2", "7"]),
            ("second-period", &["0", "2.5", "70"]),
            ("second-size", &["4MiB", "1MiB"]),
            ("noise", &["0", "0", "0.01", "0.1"]),
            ("noise-size", &["64k", "1MiB"]),
        ],
    ),
];

/// Numbers of the kinds of cases: a workload with a choice of axes.
pub fn kinds() -> std::ops::Range<usize> {
    0..WORKLOADS.len()
}

/// A workload with values for its parameters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub workload: &'static str,
    pub given: Vec<(&'static str, &'static str)>,
    pub seed: u64,
}

impl Case {
    /// Case `i` of a kind.
    pub fn draw(kind: usize, i: u64) -> Case {
        let (workload, axes) = WORKLOADS[kind];
        let mut x = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |n: usize| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) as usize % n
        };
        let given = axes.iter().map(|(name, values)| (*name, values[below(values.len())])).collect();
        Case { workload, given, seed: i }
    }

    /// Its arguments of `iophase generate`.
    pub fn text(&self) -> String {
        let flag = |v: &str| v == "true";
        self.given.iter().filter(|g| g.1 != "false").fold(self.workload.to_owned(), |mut text, (name, value)| {
            let _ = if flag(value) { write!(text, " --{name}") } else { write!(text, " --{name} {value}") };
            text
        }) + &format!(" --seed {}", self.seed)
    }

    /// `None` if the values contradict each other.
    pub fn run(&self) -> Option<Run> {
        let workload = workload::find(self.workload).unwrap();
        let values = Values::of(workload.parameters(), &self.given).unwrap();
        workload::run(workload, &values, self.seed).ok()
    }
}

/// The first `count` cases of a kind that can run and have no more than `records` records.
pub fn runs(kind: usize, count: usize, records: u64) -> impl Iterator<Item = (Case, Run)> {
    let runs = (0..).map(move |i| Case::draw(kind, i)).filter_map(|case| Some((case.run()?, case)));
    let small = runs.filter(move |(run, _)| (1..=records).contains(&run.truth().records));
    small.take(count).map(|(run, case)| (case, run))
}
