//! Periods: of bursts or samples in memory ([`detect`]), and what reports say of them.
//!
//! ```
//! use iophase::period::{Span, detect};
//!
//! let bursts: Vec<Span> =
//!     (0..20).map(|k| 12.5 * f64::from(k)).map(|t| Span { start: t, end: t + 2.0, bytes: 1e9 }).collect();
//! let report = detect(&bursts[..])?;
//! let period = report.signals[0].period.dominant.as_ref().expect("a burst every 12.5 s");
//! assert!((period.period_s - 12.5).abs() < 1e-6 && period.confidence > 0.9);
//! # Ok::<(), iophase::Error>(())
//! ```
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

pub use crate::signal::Span;
pub(crate) use findings::percentile_95;
pub use findings::{
    Burst, Bursts, Candidate, Component, Detection, Detector, Dominant, Fit, Method, OtherPeriod, Prediction,
    Regularity, Relation, Set10, SpectrumStatistics, Spread, Validity, Verdict,
};
pub use report::TrackPoint;
// the door of the whole pipeline, which is above this room
pub use crate::analysis::detect::{Bandwidth, detect, detect_with};
pub(crate) use report::{Route, Seen, TraceClock};
pub use scores::Scores;
