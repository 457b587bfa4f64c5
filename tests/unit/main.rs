//! Tests of the library's parts: readers, numerics, periods, patterns, classes, graphs, workloads.
//!
//! A binary of its own beside the library's, so that a change of one does not compile the other. `tests/README.md` lists them.

use common::{every, sample};

mod access_jobs;
mod score;
mod sweep;
mod text;

mod butterworth_oracle;
mod change_points;
mod chrome;
mod classifier_accuracy;
mod classify;
mod classify_h5bench;
mod convert;
mod custom;
mod darshan;
mod dfg;
mod dftracer;
mod fourier_fit;
mod gekkofs;
mod growing;
mod many_logs;
mod metric_proxy;
mod pattern_periods;
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
