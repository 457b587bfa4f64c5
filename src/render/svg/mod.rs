//! Pictures.

mod bandwidth;
mod frame;
mod spectrum;

pub use bandwidth::bandwidth;
pub use spectrum::spectrum;

use crate::analysis::{SignalReport, View};
use crate::error::Result;

/// Every picture of one signal: the end of its file name and its SVG.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn pictures(signal: &SignalReport, view: &View) -> Result<Vec<(&'static str, String)>> {
    let mut all = vec![("bandwidth", bandwidth(signal, view)?)];
    all.extend(spectrum(signal, view)?.map(|svg| ("spectrum", svg)));
    Ok(all)
}
