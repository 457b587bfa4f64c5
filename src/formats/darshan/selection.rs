//! Which layer and which kind of data a trace is made of.

use super::layer_summary::{self, LAYERS, Overview};
use super::log::{Log, dxt_module};
use super::rows::SelectedRows;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::options::ReadOptions;
use crate::record::{Files, Layer, Timing, Warning};
use crate::remedy::Remedy;

/// A kind of data of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LayerData {
    pub timing: Timing,
    pub layer: Layer,
}

/// The data that could be read, the best first.
fn candidates(o: &Overview, logs: &[Log], wanted: Option<Layer>) -> Vec<LayerData> {
    let has_segments = |layer: Layer| dxt_module(layer).is_some_and(|m| logs.iter().any(|l| l.readable(m).is_some()));
    let has = |c: &LayerData| match c.timing {
        Timing::Request => has_segments(c.layer),
        Timing::Heatmap => o.heatmaps[c.layer as usize].as_ref().is_some_and(|s| layer_summary::bytes(s) > 0),
        _ => o.counters[c.layer as usize].as_ref().is_some_and(|s| layer_summary::bytes(s) > 0),
    };
    let bypassed = o.mpiio_only_bytes > o.bytes(Layer::Posix);
    let layers = match wanted {
        Some(layer) => vec![layer],
        None if bypassed => vec![Layer::Mpiio, Layer::Posix, Layer::Stdio],
        None => vec![Layer::Posix, Layer::Mpiio, Layer::Stdio],
    };
    let mut all = Vec::new();
    for timing in [Timing::Request, Timing::Heatmap, Timing::Counter] {
        let mut layers = layers.clone();
        if let (Some(&best), true) = (layers.first(), timing != Timing::Request)
            && wanted.is_none()
            && o.bytes(Layer::Stdio) > o.bytes(best)
        {
            layers.rotate_right(1);
        }
        all.extend(layers.into_iter().map(|layer| LayerData { timing, layer }).filter(has));
    }
    all
}

/// The best that could be taken.
pub(super) fn first(overview: &Overview, log: &Log, wanted: Option<Layer>) -> Option<LayerData> {
    candidates(overview, std::slice::from_ref(log), wanted).first().copied()
}

/// Takes the first candidate that gives rows; damaged ones give a warning, or the error if nothing else is left. Without any: no
/// rows, which is an error only if a layer was asked for.
pub(super) fn select(
    overview: &Overview,
    logs: &[Log],
    options: &ReadOptions,
    fetch: &mut dyn FnMut(LayerData) -> Result<(SelectedRows, Files)>,
) -> Result<(Option<LayerData>, SelectedRows, Files)> {
    let mut empty = SelectedRows::default();
    let mut damage: Option<Error> = None;
    for selected in candidates(overview, logs, options.layer) {
        let (mut taken, files) = match fetch(selected) {
            Err(e) if e.kind() == ErrorKind::Malformed => {
                damage.get_or_insert(e);
                continue;
            }
            result => result?,
        };
        if !taken.data.is_empty() {
            taken.damage.extend(damage.map(|e| {
                Warning::new("damaged-module", format!("more exact data is damaged and was left out: {e}"))
                    .remedy("copy the log again if it was damaged on the way")
            }));
            return Ok((Some(selected), taken, files));
        }
        // Segments that had to be dropped are worth telling, even if nothing is left of them.
        if empty.summary.is_none() {
            (empty.summary, empty.quality) = (taken.summary, taken.quality);
        }
    }
    if let Some(e) = damage {
        return Err(e);
    }
    let Some(layer) = options.layer else {
        return Ok((None, empty, Files::default()));
    };
    let mut held: Vec<(Layer, Timing)> = Vec::new();
    for c in candidates_of_all(overview, logs) {
        if !held.iter().any(|h| h.0 == c.layer) {
            held.push((c.layer, c.timing));
        }
    }
    let (found, remedy) = if held.is_empty() {
        ("the log holds no reads or writes".to_owned(), "check that the job ran under Darshan".into())
    } else {
        let list: Vec<_> = held.iter().map(|(l, t)| format!("{} ({})", l.name(), kind_name(*t))).collect();
        (
            format!("nothing was recorded of layer {}; the log holds {}", layer.name(), list.join(", ")),
            Remedy::TakeLayer(held.iter().map(|(l, _)| l.name()).collect()),
        )
    };
    Err(Error::new(ErrorKind::Empty, found).remedy(remedy))
}

fn candidates_of_all(overview: &Overview, logs: &[Log]) -> Vec<LayerData> {
    LAYERS.iter().flat_map(|&l| candidates(overview, logs, Some(l))).collect()
}

fn kind_name(timing: Timing) -> &'static str {
    match timing {
        Timing::Request => "segments",
        Timing::Heatmap => "heatmap",
        _ => "counters",
    }
}
