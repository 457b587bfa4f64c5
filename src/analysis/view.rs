//! What pictures of a signal are drawn from: curves thinned to what a picture can show.

use super::sampled::Seen;
use crate::period::spectrum::Powers;
use crate::signal::{Activity, Grid, Signal, bin};
use crate::transform::Spectrum;

/// Cells of the fine curve that stands for the step curve of the trace.
const CURVE_CELLS: usize = 4000;

/// A curve on an even grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Seconds of the first value on the trace's own clock.
    pub start_s: f64,
    /// Seconds from one value to the next.
    pub step_s: f64,
    /// Bytes per second.
    pub values: Vec<f64>,
}

impl Curve {
    /// Time at which value `i` begins.
    pub fn time(&self, i: usize) -> f64 {
        self.start_s + i as f64 * self.step_s
    }

    /// Time at which the last value ends.
    pub fn end_s(&self) -> f64 {
        self.time(self.values.len())
    }
}

/// What the pictures of one signal show.
#[derive(Debug, Clone)]
pub struct View {
    /// Bandwidth of the trace itself, in fine bins; empty unless pictures were asked for.
    pub original: Curve,
    /// The sampled signal.
    pub sampled: Curve,
    /// Powers of the sampled signal; `None` if it is constant.
    pub powers: Option<Powers>,
    /// Its spectrum.
    pub spectrum: Spectrum,
    /// What methods on the sampled signal looked at.
    pub seen: Seen,
}

impl View {
    /// The curve that shows most: of a long run the sampled signal, which is then finer than the other.
    pub fn finest(&self) -> &Curve {
        let coarse = self.original.values.is_empty() || self.original.step_s > self.sampled.step_s;
        if coarse { &self.sampled } else { &self.original }
    }

    pub(super) fn new(
        activity: &Activity<'_>,
        signal: &Signal,
        origin: f64,
        powers: Option<Powers>,
        spectrum: Spectrum,
        seen: Seen,
        pictures: bool,
    ) -> View {
        let duration = (signal.end - signal.start).max(1.0 / signal.rate_hz);
        let width = duration / CURVE_CELLS as f64;
        let grid = Grid { start: signal.start, width, cells: CURVE_CELLS };
        let values = if pictures { bin(activity.spans(), grid) } else { Vec::new() };
        View {
            original: Curve { start_s: origin + signal.start, step_s: width, values },
            sampled: Curve {
                start_s: origin + signal.start,
                step_s: 1.0 / signal.rate_hz,
                values: signal.samples.clone(),
            },
            powers,
            spectrum,
            seen,
        }
    }
}
