//! The curves that the figures of a signal show, thinned to the resolution of a figure.

use super::Steps;
use crate::analysis::{Evidence, Seen};
use crate::period::spectrum::Powers;
use crate::record::Trace;
use crate::signal::{Activity, Grid, Mode, Selection, bin};
use crate::transform::Spectrum;

/// Cells of the fine curve that stands for the step curve of the trace.
const CURVE_CELLS: usize = 4000;

/// The content of the figures of one signal.
#[derive(Debug, Clone)]
pub struct View {
    /// File name of the trace.
    pub(in crate::render) name: String,
    /// Bandwidth of the trace itself, in fine bins.
    pub(in crate::render) original: Steps,
    /// The sampled signal.
    pub(in crate::render) sampled: Steps,
    /// Powers of the sampled signal; `None` if it is constant.
    pub(in crate::render) powers: Option<Powers>,
    /// Its spectrum.
    pub(in crate::render) spectrum: Spectrum,
    /// Intermediate results of the period search.
    pub(in crate::render) seen: Seen,
}

impl View {
    /// Prepares the figures of the signal of one mode: one more pass over the trace, with the selection of its analysis.
    pub fn new(trace: &Trace, mode: Mode, selection: &Selection, evidence: Evidence) -> View {
        let Evidence { signal, powers, spectrum, seen } = evidence;
        let duration = (signal.end - signal.start).max(1.0 / signal.rate_hz);
        let width = duration / CURVE_CELLS as f64;
        let grid = Grid { start: signal.start, width, cells: CURVE_CELLS };
        let start_s = trace.origin_s as f64 + signal.start;
        let values = bin(Activity::new(trace, mode, selection).spans(), grid);
        View {
            name: file_name(&trace.path),
            original: Steps { start: start_s, step: width, values },
            sampled: Steps { start: start_s, step: 1.0 / signal.rate_hz, values: signal.samples },
            powers,
            spectrum,
            seen,
        }
    }

    /// Mean of the sampled signal.
    pub(in crate::render) fn mean(&self) -> f64 {
        self.sampled.values.iter().sum::<f64>() / self.sampled.values.len().max(1) as f64
    }

    /// The curve of the highest resolution: in a long run the sampled signal is finer than the other.
    pub(in crate::render) fn finest(&self) -> &Steps {
        if self.original.step > self.sampled.step { &self.sampled } else { &self.original }
    }
}

/// The last part of a path; a trace without a file came from standard input.
pub(in crate::render) fn file_name(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if matches!(name, "" | "-") { "standard input".into() } else { name.to_owned() }
}
