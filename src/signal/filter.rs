//! Filtering a signal before the analysis.

use super::Signal;
use crate::error::{Error, ErrorKind, Result};
use crate::remedy::Remedy;
use crate::transform::{Butterworth, Pass};

/// A Butterworth filter (Tarraf & Wolf 2026, section 5.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filter {
    /// Which frequencies pass.
    pub pass: Pass,
    /// Order, at least 1.
    pub order: usize,
}

impl Signal {
    /// The signal filtered forwards and backwards, so that nothing moves in time. The mean goes with what a high- or band-pass
    /// takes off, and samples may be negative.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the filter cannot be made for this sampling rate.
    pub fn filtered(&self, filter: Filter) -> Result<Signal> {
        let made = Butterworth::design(filter.pass, filter.order, self.rate_hz).map_err(|e| {
            Error::new(ErrorKind::Usage, format!("the filter cannot be made at {} Hz: {e}", self.rate_hz))
                .remedy(Remedy::ChangeFilter)
        })?;
        Ok(Signal { samples: made.filter_zero_phase(&self.samples), ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Sampling;
    use std::f64::consts::TAU;

    #[test]
    fn a_low_pass_keeps_the_slow_part() {
        let slow = |i: i32| 5.0 + (TAU * 0.05 * f64::from(i) / 10.0).cos();
        let samples = (0..4000).map(|i| slow(i) + (TAU * 2.0 * f64::from(i) / 10.0).cos()).collect();
        let sampling = Sampling::Bin;
        let s = Signal { samples, rate_hz: 10.0, start: 3.0, end: 403.0, bytes: 1.0, sampling, abstraction_error: 0.0 };
        let f = s.filtered(Filter { pass: Pass::Low(0.5), order: 4 }).unwrap();
        assert!((100..3900).all(|i| (f.samples[i as usize] - slow(i)).abs() < 1e-3));
        assert_eq!((f.start, f.end, f.rate_hz), (3.0, 403.0, 10.0));
        let e = s.filtered(Filter { pass: Pass::Low(5.0), order: 4 }).unwrap_err();
        assert_eq!((e.kind(), e.exit_code()), (ErrorKind::Usage, 2));
    }
}
