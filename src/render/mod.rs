//! Reports as text, SVG and JSON.
