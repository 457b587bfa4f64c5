//! Plans of the Fourier transforms that every trace needs: their lengths are few and do not depend on the trace.

use realfft::{RealFftPlanner, RealToComplex};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Planning costs more than the transform itself.
static PLANNER: LazyLock<Mutex<RealFftPlanner<f64>>> = LazyLock::new(|| Mutex::new(RealFftPlanner::new()));

/// The forward transform of `n` numbers, a length fixed in the program: plans are kept.
pub(crate) fn forward(n: usize) -> Arc<dyn RealToComplex<f64>> {
    PLANNER.lock().unwrap_or_else(PoisonError::into_inner).plan_fft_forward(n)
}
