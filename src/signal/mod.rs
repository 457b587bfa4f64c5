//! From records to bandwidth over time.
//!
//! [`Activity`] picks the transfers of a trace. Two representations of their bandwidth follow: [`profile::Profile`], the exact
//! step curve that the burst pipeline needs, and [`Signal`], samples on an even grid for spectral methods and filters: the exact
//! mean of each bin ([`bin`]), or the value at each point ([`points`]).

mod binning;
mod decimated;
mod filter;
mod name_pattern;
pub mod profile;
mod rate;
mod selection;
mod slice;
mod sum;

pub use binning::{Grid, bin, points};
pub use decimated::Decimated;
pub use filter::Filter;
pub use name_pattern::NamePattern;
pub use rate::{Extent, MAX_AUTO_SAMPLES, MIN_AUTO_SAMPLES, auto_rate, burst_width};
pub use selection::{Activity, Mode, RankSet, RowFilter, Selection, Spans};
pub use slice::Slice;
pub(crate) use sum::Sum;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::remedy::Remedy;
use crate::transform::fast_length;

/// One transfer: `bytes` moved evenly over `[start, end)`, in seconds.
///
/// `end` may equal `start` (a point in time); it is never before it, and all three are finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Seconds.
    pub start: f64,
    /// Seconds, at or after `start`.
    pub end: f64,
    /// Bytes moved.
    pub bytes: f64,
}

/// Shortest span that has a length, in seconds: no clock of a trace resolves a picosecond. Widths, rates and frequencies of longer
/// spans, and their squares and harmonics, stay far within the range of `f64`.
pub(crate) const SHORTEST_S: f64 = 1e-12;

impl Span {
    /// True if it is shorter than any clock resolves.
    #[inline]
    pub(crate) fn is_point(&self) -> bool {
        (0.0..SHORTEST_S).contains(&(self.end - self.start))
    }
}

/// How the bandwidth is put on the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// The exact mean of each bin; conserves bytes.
    #[default]
    Bin,
    /// The value at each sample point, as in the paper.
    Point,
}

/// Samples that any rate may give: a bound on memory. A transform of them takes about six times their 8 bytes.
pub const MAX_SAMPLES: f64 = (1u64 << 26) as f64;

/// Bandwidth over time on an even grid.
#[derive(Debug, Clone)]
pub struct Signal {
    /// Samples in bytes per second.
    pub samples: Vec<f64>,
    /// Sampling rate in Hz.
    pub rate_hz: f64,
    /// Start of the first sample in seconds, relative to the origin of the trace.
    pub start: f64,
    /// End of the last transfer in seconds, relative to the origin of the trace.
    pub end: f64,
    /// Bytes of the transfers.
    pub bytes: f64,
    /// How the samples were taken.
    pub sampling: Sampling,
    /// |bytes under the samples − bytes of the transfers| / bytes of the transfers.
    pub abstraction_error: f64,
}

/// How many samples a signal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// As many as the run at the sampling rate.
    Exact,
    /// Up to a hundredth more, so that transforms of them are fast.
    PaddedForFft,
}

/// The next length without large prime factors if it is at most a hundredth longer, else `len`.
fn with_small_factors(len: usize) -> usize {
    let fast = fast_length(len);
    if fast - len <= len / 100 { fast } else { len }
}

/// The grid of a signal.
fn grid(extent: &Extent, rate_hz: f64, sampling: Sampling, length: Length) -> Result<Grid> {
    if !(rate_hz > 0.0 && rate_hz.is_finite()) {
        return Err(
            Error::new(ErrorKind::Usage, format!("{rate_hz} Hz is not a sampling rate")).expected("a positive number")
        );
    }
    if extent.count == 0 {
        return Err(Error::new(ErrorKind::Empty, "no transfer is left for this signal").remedy(Remedy::Inspect));
    }
    let exact = extent.duration() * rate_hz;
    // Rounding may push a whole number of samples just above it.
    let cells = match sampling {
        Sampling::Bin => (exact - 1e-9 * exact.max(1.0)).ceil().max(1.0),
        Sampling::Point => (exact + 1e-9 * exact.max(1.0)).floor(),
    };
    if cells > MAX_SAMPLES {
        return Err(Error::limit(
            format!("{rate_hz} Hz over {} s give {cells:.0} samples", extent.duration()),
            MAX_SAMPLES,
        )
        .remedy(Remedy::LowerSamplingRate));
    }
    let cells = match length {
        Length::Exact => cells as usize,
        Length::PaddedForFft => with_small_factors(cells as usize),
    };
    Ok(Grid { start: extent.start, width: 1.0 / rate_hz, cells })
}

impl Signal {
    /// The signal of `activity`, whose extent is `extent`, at `rate_hz`.
    ///
    /// With [`Sampling::Bin`] there are ⌈f (t_end − t_start)⌉ samples, so that all bytes are in; with [`Sampling::Point`]
    /// ⌊f (t_end − t_start)⌋, as the published program has it. [`Length::PaddedForFft`] may add samples after the end, where nothing
    /// is active.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] if there is no transfer; [`ErrorKind::Usage`] if the rate is not positive;
    /// [`ErrorKind::Limit`] if it gives more than [`MAX_SAMPLES`].
    pub fn build(
        activity: &Activity<'_>,
        extent: &Extent,
        rate_hz: f64,
        sampling: Sampling,
        length: Length,
    ) -> Result<Signal> {
        let grid = grid(extent, rate_hz, sampling, length)?;
        let samples = match sampling {
            Sampling::Bin => bin(activity.spans(), grid),
            Sampling::Point => points(activity.spans(), grid),
        };
        Ok(Signal::sampled(samples, rate_hz, extent, sampling))
    }

    /// The signal of `profile`, whose extent is `extent`, with [`Sampling::Bin`]. That of a folded profile has its resolution.
    ///
    /// # Errors
    /// As [`Signal::build`].
    pub fn of_profile(profile: &profile::Profile, extent: &Extent, rate_hz: f64, length: Length) -> Result<Signal> {
        let Grid { start, width, cells } = grid(extent, rate_hz, Sampling::Bin, length)?;
        let bytes = profile.bytes_in(start - profile.origin(), width, cells);
        Ok(Signal::sampled(bytes.into_iter().map(|b| b / width).collect(), rate_hz, extent, Sampling::Bin))
    }

    fn sampled(samples: Vec<f64>, rate_hz: f64, extent: &Extent, sampling: Sampling) -> Signal {
        let under = samples.iter().copied().collect::<Sum>().value() / rate_hz;
        Signal {
            samples,
            rate_hz,
            start: extent.start,
            end: extent.end,
            bytes: extent.bytes,
            sampling,
            abstraction_error: (under - extent.bytes).abs() / extent.bytes,
        }
    }

    /// Seconds covered by the samples.
    pub fn duration(&self) -> f64 {
        self.samples.len() as f64 / self.rate_hz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_grow_by_a_hundredth_at_most_and_lose_their_large_factors() {
        // 46471 is prime; 93312 = 2^7 3^6, and no even number between has factors of 7 at most
        assert_eq!(with_small_factors(2 * 46471), 93312);
        for len in [0, 1, 2, 7, 513, 5000, 65_537, 1_000_003] {
            let fast = with_small_factors(len);
            assert!((len..=len + len / 100).contains(&fast), "{len} {fast}");
            let mut rest = fast.max(1);
            for factor in [2, 3, 5, 7] {
                while rest.is_multiple_of(factor) {
                    rest /= factor;
                }
            }
            assert!(rest == 1 || fast == len, "{len} {fast}");
        }
    }
}
