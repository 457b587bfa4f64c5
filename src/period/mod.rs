//! From a bandwidth signal to its periods.

pub mod chains;
pub mod detectors;
mod findings;
pub mod spectrum;

pub use findings::{
    Bursts, Candidate, Component, Detection, Detector, Dominant, Fit, Method, Prediction, Set10, SpectrumStatistics,
    Spread, Validity, Verdict,
};
