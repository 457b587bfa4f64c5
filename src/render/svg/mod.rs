//! Pictures.

mod autocorrelation;
mod bandwidth;
pub(super) mod bursts;
mod classes;
mod comparison;
mod correlation;
mod fit;
pub(crate) mod frame;
mod heat;
mod map;
mod offsets;
mod reconstruction;
mod scalogram;
pub(super) mod spectrum;
pub(crate) mod ticks;
mod timeline;
pub(super) mod view;

pub use autocorrelation::autocorrelation;
pub use bandwidth::bandwidth;
pub use bursts::bursts;
pub use classes::classes;
pub use comparison::comparison;
pub use correlation::correlation;
pub use fit::fit;
pub use map::map;
pub use offsets::offsets;
pub use reconstruction::reconstruction;
pub use scalogram::scalogram;
pub use spectrum::spectrum;
pub use view::View;

use crate::analysis::SignalReport;
use crate::error::Result;

/// Every picture of one signal: the end of its file name and its SVG.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn pictures(signal: &SignalReport, view: &View) -> Result<Vec<(&'static str, String)>> {
    let mut all = vec![("bandwidth", bandwidth(signal, view)?)];
    all.extend(spectrum(signal, view)?.map(|svg| ("spectrum", svg)));
    all.extend(reconstruction(signal, view)?.map(|svg| ("reconstruction", svg)));
    all.extend(fit(signal, view)?.map(|svg| ("fit", svg)));
    all.extend(bursts(signal, view)?.map(|svg| ("bursts", svg)));
    all.extend(correlation(signal, view)?.map(|svg| ("correlation", svg)));
    all.extend(scalogram(signal, view)?.map(|svg| ("scalogram", svg)));
    all.extend(map(signal, view)?.map(|svg| ("map", svg)));
    all.extend(autocorrelation(signal, view)?.map(|svg| ("autocorrelation", svg)));
    Ok(all)
}
