//! Tests of the library's parts: readers, numerics, periods, patterns, classes, graphs, workloads.
//!
//! They are compiled into the library's own test binary, so that they reach what is not public and so that the crate is linked
//! once. `tests/README.md` lists them.

/// Number of cases of a long test: `all` of them if `IOPHASE_LONG` is set, as in `.ci/run`, else a fifth.
pub(crate) fn sample(all: usize) -> usize {
    if std::env::var_os("IOPHASE_LONG").is_some() { all } else { all.div_ceil(5) }
}

#[path = "../common/mod.rs"]
pub(crate) mod common;

mod access_jobs;
mod score;
mod sweep;
mod text;

mod butterworth_oracle;
mod change_points;
mod chrome;
mod classify;
mod classify_h5bench;
mod convert;
mod custom;
mod darshan;
mod dfg;
mod dftracer;
mod fourier_fit;
mod gekkofs;
mod many_logs;
mod metric_proxy;
mod patterns;
mod patterns_h5bench;
mod patterns_random;
mod period_methods;
mod periods;
mod radar;
mod range;
mod recorder;
mod regex;
mod series;
mod strace;
mod tmio;
mod truth_sweep;
#[cfg(feature = "tui")]
mod tui;
mod wavelet_oracle;
mod workload;
