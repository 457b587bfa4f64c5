//! Pure numerics on slices: transforms, filters, fits. Knows nothing of I/O, records or bytes.

mod dft;
mod error;
mod fourier_fit;

pub use dft::{Spectrum, evaluate};
pub use error::{Error, Result};
pub use fourier_fit::{CosineSum, FourierFit, MAX_COMPONENTS, fourier_fit};
pub use realfft::num_complex::Complex64;

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
