//! Numerics on slices: transforms, filters, fits. Independent of I/O, records and bytes.
//!
//! | question | answer |
//! |---|---|
//! | Which frequencies are in the signal? | [`Spectrum`] (DFT), [`refine_peak`] and [`candan_offset`] between its bins |
//! | At which lag does it repeat? | [`autocorrelation`] |
//! | Which frequencies at which time? | [`Stft`], [`Morlet`] and [`MexicanHat`] (CWT), [`Decomposition`] (DWT) |
//! | What remains in one frequency band? | [`Butterworth`] |
//! | Where is it similar to another signal? | [`sliding_pearson`] |
//! | Which few cosines describe it best? | [`fourier_fit`] |
//!
//! Signals are evenly sampled, of any length. An invalid argument is an [`Error`]. A sample that is not finite is not an error; every
//! result that depends on it is NaN.

mod autocorrelation;
mod butterworth;
mod cwt;
mod dft;
mod dirichlet;
mod error;
mod fourier_fit;
mod median;
mod pearson;
pub(crate) mod plans;
mod rotation;
mod spectrum_peaks;
mod stft;
mod wavelet;

pub use autocorrelation::{Divisor, autocorrelation, masked_autocorrelation};
pub use butterworth::{Butterworth, Pass, Section};
pub use cwt::{MexicanHat, Morlet, geometric_frequencies};
pub(crate) use dft::fast_length;
pub use dft::{Spectrum, evaluate};
pub use error::{Error, Result};
pub use fourier_fit::{CosineSum, FourierFit, MAX_COMPONENTS, fourier_fit};
pub(crate) use median::{median, upper_median};
pub use pearson::sliding_pearson;
pub use realfft::num_complex::Complex64;
pub use rotation::{cosine_wave, tone};
pub use spectrum_peaks::{candan_offset, refine_peak};
pub use stft::{Stft, Window};
pub use wavelet::{Band, Boundary, Decomposition, Wavelet, dwt, idwt};

/// A cosine a cos(2π f t + φ), t in seconds from the first sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosine {
    /// f in Hz; 0 for a constant.
    pub frequency_hz: f64,
    /// a, in the unit of the signal.
    pub amplitude: f64,
    /// φ in radians.
    pub phase: f64,
}
