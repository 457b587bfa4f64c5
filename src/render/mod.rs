//! Reports as text, SVG and JSON.

pub mod classes;
pub mod json;
pub mod svg;
pub mod text;
pub mod units;
