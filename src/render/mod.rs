//! Reports as text, SVG and JSON.

pub mod dfg;
pub mod json;
pub mod svg;
pub mod text;
pub mod units;
