//! From a bandwidth signal to its periods.

pub mod bursts;
pub mod chains;
pub mod detectors;
mod findings;
pub mod methods;
pub mod scores;
pub mod spectrum;
pub mod validity;

pub use findings::{
    Bursts, Candidate, Component, Detection, Detector, Dominant, Fit, Method, Prediction, Set10, SpectrumStatistics,
    Spread, Validity, Verdict,
};
