//! The figures of what was analysed: a function makes each.

mod autocorrelation;
mod bandwidth;
mod bursts;
mod classes;
mod comparison;
mod correlation;
mod cosines;
mod data;
mod live;
mod map;
mod offsets;
mod rank;
mod spectrum;
mod timeline;
mod values;
mod view;

pub use classes::classes;
pub use comparison::comparison;
pub use offsets::offsets;
pub use view::View;

pub(in crate::render) use bandwidth::bandwidth as bandwidth_of;
pub(in crate::render) use classes::of_local as classes_of_file;
pub(in crate::render) use offsets::of_accesses as offsets_of_file;
pub(in crate::render) use timeline::Timeline;
pub(in crate::render) use values::table;

use serde_json::Value;

use super::shade::blend;
use super::{Axis, Figure, Layer, Look, Numbers, Panel, Shape, Steps, axis, color, draw, model, short};
use crate::analysis::SignalReport;
use crate::online::live::Snapshot;

/// A figure of a signal; `None` if the signal has nothing for it.
type OfSignal = fn(&SignalReport, &View, &Timeline) -> Option<Figure>;

/// The figures of a signal below that of its bandwidth, and whether a page has them, too.
pub(in crate::render) const OF_SIGNAL: [(&str, OfSignal, bool); 9] = [
    ("bursts", bursts::bursts, true),
    ("distances", bursts::distances, true),
    ("spectrum", spectrum::spectrum, true),
    ("autocorrelation", autocorrelation::autocorrelation, true),
    ("correlation", correlation::correlation, true),
    ("scalogram", map::scalogram, true),
    ("map", map::map, true),
    ("reconstruction", cosines::reconstruction, false),
    ("fit", cosines::fit, true),
];

fn whole(signal: &SignalReport, view: &View) -> Figure {
    bandwidth_of(signal, view, &Timeline::whole(signal).with_next(signal))
}

/// The bandwidth of one signal as SVG.
pub fn bandwidth(signal: &SignalReport, view: &View, look: &Look) -> String {
    draw(&whole(signal, view), look, "").svg
}

/// The bandwidth of one signal as SVG of a page with [`STYLE`](super::STYLE), so many pixels wide; `id` is not that of another.
pub fn bandwidth_of_page(signal: &SignalReport, view: &View, width: u32, id: &str) -> String {
    draw(&whole(signal, view), &Look::of_screen(width), id).svg
}

/// A followed job as SVG of a page with [`STYLE`](super::STYLE), so many pixels wide; `None` while nothing has come.
pub fn live(snapshot: &Snapshot, width: u32) -> Option<String> {
    Some(draw(&live::live(snapshot)?, &Look::of_screen(width), "live").svg)
}

/// Names of the figures of a signal.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once("bandwidth").chain(OF_SIGNAL.iter().map(|f| f.0))
}

/// The figures of one signal, all or `only` some of them: the end of its file name and its SVG.
pub fn pictures(signal: &SignalReport, view: &View, look: &Look, only: &[String]) -> Vec<(&'static str, String)> {
    let svg = |(name, figure): (&'static str, Figure)| (name, draw(&figure, look, "").svg);
    figures(signal, view, only).map(svg).collect()
}

/// A figure of one signal as data, as JSON; `None` if the signal has none of this name.
pub fn figure_data(signal: &SignalReport, view: &View, name: &str) -> Option<Value> {
    figures(signal, view, &[name.to_owned()]).next().map(|(_, figure)| data::data(&figure))
}

fn figures<'s>(
    signal: &'s SignalReport,
    view: &'s View,
    only: &'s [String],
) -> impl Iterator<Item = (&'static str, Figure)> + 's {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|o| o == name);
    let time = Timeline::whole(signal);
    let first = wanted("bandwidth").then(|| ("bandwidth", whole(signal, view)));
    let more = OF_SIGNAL.iter().filter(move |f| wanted(f.0));
    first.into_iter().chain(more.filter_map(move |(name, make, _)| Some((*name, make(signal, view, &time)?))))
}
