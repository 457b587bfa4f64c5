//! Reports as text, SVG and JSON.

pub mod classes;
pub mod dfg;
pub mod json;
mod pattern_text;
pub mod svg;
pub mod text;
#[cfg(feature = "tui")]
pub mod tui;
pub mod units;
