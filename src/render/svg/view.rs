//! The curves that the pictures of a signal show, thinned to the resolution of a picture.

use crate::analysis::{Evidence, Seen};
use crate::period::spectrum::Powers;
use crate::record::Trace;
use crate::signal::{Activity, Grid, Mode, Selection, bin};
use crate::transform::Spectrum;

/// Cells of the fine curve that stands for the step curve of the trace.
const CURVE_CELLS: usize = 4000;

/// A curve on an even grid.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::render) struct Curve {
    /// Seconds of the first value on the trace's own clock.
    pub start_s: f64,
    /// Seconds from one value to the next.
    pub step_s: f64,
    /// Bytes per second.
    pub values: Vec<f64>,
}

impl Curve {
    /// The same with at most `cells` values, each the mean of its part.
    pub fn coarse(&self, cells: usize) -> Curve {
        let group = self.values.len().div_ceil(cells).max(1);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let values = self.values.chunks(group).map(mean).collect();
        Curve { start_s: self.start_s, step_s: self.step_s * group as f64, values }
    }

    /// Time at which value `i` begins.
    pub fn time(&self, i: usize) -> f64 {
        self.start_s + i as f64 * self.step_s
    }
}

/// The content of the pictures of one signal.
#[derive(Debug, Clone)]
pub struct View {
    /// File name of the trace.
    pub(in crate::render) name: String,
    /// Bandwidth of the trace itself, in fine bins.
    pub(in crate::render) original: Curve,
    /// The sampled signal.
    pub(in crate::render) sampled: Curve,
    /// Powers of the sampled signal; `None` if it is constant.
    pub(in crate::render) powers: Option<Powers>,
    /// Its spectrum.
    pub(in crate::render) spectrum: Spectrum,
    /// Intermediate results of the period search.
    pub(in crate::render) seen: Seen,
}

impl View {
    /// Prepares the pictures of the signal of one mode: one more pass over the trace, with the selection of its analysis.
    pub fn new(trace: &Trace, mode: Mode, selection: &Selection, evidence: Evidence) -> View {
        let Evidence { signal, powers, spectrum, seen } = evidence;
        let duration = (signal.end - signal.start).max(1.0 / signal.rate_hz);
        let width = duration / CURVE_CELLS as f64;
        let grid = Grid { start: signal.start, width, cells: CURVE_CELLS };
        let start_s = trace.origin_s as f64 + signal.start;
        let values = bin(Activity::new(trace, mode, selection).spans(), grid);
        View {
            name: file_name(&trace.path),
            original: Curve { start_s, step_s: width, values },
            sampled: Curve { start_s, step_s: 1.0 / signal.rate_hz, values: signal.samples },
            powers,
            spectrum,
            seen,
        }
    }

    /// The curve of the highest resolution: in a long run the sampled signal is finer than the other.
    pub(in crate::render) fn finest(&self) -> &Curve {
        if self.original.step_s > self.sampled.step_s { &self.sampled } else { &self.original }
    }
}

/// The last part of a path; a trace without a file came from standard input.
pub(in crate::render) fn file_name(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if matches!(name, "" | "-") { "standard input".into() } else { name.to_owned() }
}
