//! Reports as text, SVG and JSON.

pub mod classes;
pub mod dfg;
pub mod json;
mod pattern_text;
pub mod svg;
pub mod text;
pub mod units;
