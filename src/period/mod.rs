//! Periods of a signal, and what reports say of them.
//!
//! Two pipelines lead from a signal to one answer; `Route` chooses between them.
//!
//! - **Bursts** (method `auto`, module `chains`): cuts the exact step curve of the bandwidth into bursts, searches chains of bursts
//!   at multiples of a trial period, and lets a trained classifier choose. Own work; `docs/confidence.md` describes training and
//!   accuracy.
//! - **Samples** (`methods`, one file per published method): DFT, DWT, STFT, CWT or autocorrelation of the sampled signal.
//!   Spectral methods take their candidates from a detector (`detectors`, one file each: z-score, DBSCAN, isolation forest,
//!   local outlier factor, peaks) on the normalised power spectrum (`spectrum`).
//!
//! `validity` says where a period holds, by wavelet smoothing and sliding correlation. `bursts` finds the bursts of a
//! sampled signal, once its period is known, and predicts the next one. `scores` are further measures of periodicity.
//! `findings` holds the plain types that reports serialize.
//!
//! Sources: FTIO (Tarraf et al., IPDPS 2024) for spectrum, z-score and tolerance; Tarraf & Wolf (Front. High Perform. Comput.
//! 2025) for validity windows; IO-Sets (Boito et al., TPDS 2023) for the characteristic time.

pub(crate) mod bursts;
pub(crate) mod chains;
pub(crate) mod detectors;
mod findings;
pub(crate) mod methods;
mod report;
pub(crate) mod scores;
pub(crate) mod spectrum;
pub(crate) mod validity;
pub(crate) mod whole_bytes;

pub(crate) use findings::percentile_95;
pub use findings::{
    Burst, Bursts, Candidate, Component, Detection, Detector, Dominant, Fit, Method, OtherPeriod, Prediction,
    Regularity, Relation, Set10, SpectrumStatistics, Spread, Validity, Verdict,
};
pub use report::TrackPoint;
pub(crate) use report::{Route, Seen, TraceClock};
pub use scores::Scores;
