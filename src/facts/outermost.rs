//! Which of several layers that recorded a file counts.

use std::collections::HashSet;

use super::counted::{Timed, TimedLayer};

/// Of each file the times of the outermost layer: layers lie inside one another, so that adding two would count time twice. STDIO
/// lies beside the others. A library counts only where it took at least as long as what it called: some of its calls are not timed.
pub(crate) fn outermost(mut all: Vec<Timed>) -> Vec<Timed> {
    let nested = |t: &Timed| t.layer != TimedLayer::Stdio;
    all.sort_by_key(|t| (t.file, t.layer));
    let mut kept: Vec<Timed> = all.iter().copied().filter(|t| !nested(t)).collect();
    for of_file in all.chunk_by(|a, b| a.file == b.file) {
        let layer = |layer: TimedLayer| of_file.iter().filter(move |t| t.layer == layer);
        let sum = |l: TimedLayer| layer(l).map(Timed::time_s).sum::<f64>();
        let layers = [TimedLayer::Mpiio, TimedLayer::Posix, TimedLayer::Daos];
        let below = layers.into_iter().find(|l| sum(*l) > 0.0).unwrap_or(TimedLayer::Posix);
        let library = if sum(TimedLayer::Pnetcdf) > 0.0 { TimedLayer::Pnetcdf } else { TimedLayer::Hdf5 };
        let outer = if sum(library) > 0.0 && sum(library) >= sum(below) { library } else { below };
        let inside = |kind: usize| layer(below).map(|t| t.parts[kind]).sum::<f64>() / sum(outer);
        let [reading, writing] = [inside(0), inside(1)];
        // what a library calls metadata, such as a flush or a close, writes data
        let parts = |t: &Timed| match outer == library {
            true => [reading, writing, (1.0 - reading - writing).max(0.0)].map(|share| share * t.time_s()),
            false => t.parts,
        };
        kept.extend(layer(outer).map(|t| Timed { parts: parts(t), ..*t }));
        if outer > TimedLayer::Posix && layer(outer).all(|t| t.rank.is_some()) {
            // ranks that reach the file without the outer layer
            let above: HashSet<Option<u32>> = layer(outer).map(|t| t.rank).collect();
            kept.extend(layer(TimedLayer::Posix).filter(|t| t.rank.is_some() && !above.contains(&t.rank)));
        }
    }
    kept
}

/// Seconds of all ranks inside MPI-IO and outside the POSIX calls below it: waiting for others and exchanging data. `None` without
/// MPI-IO.
pub(crate) fn waiting(all: &[Timed]) -> Option<f64> {
    let mut files: std::collections::BTreeMap<_, [f64; 2]> = std::collections::BTreeMap::new();
    for t in all {
        let at = match t.layer {
            TimedLayer::Mpiio => 0,
            TimedLayer::Posix => 1,
            _ => continue,
        };
        files.entry(t.file).or_default()[at] += t.time_s();
    }
    let each = files.values().filter(|x| x[0] > 0.0).map(|x| (x[0] - x[1]).max(0.0));
    each.reduce(|a, b| a + b)
}
