//! Reports as text, SVG and JSON.

pub mod json;
pub mod svg;
pub mod text;
pub mod units;
