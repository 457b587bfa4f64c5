//! Figures: data in layers over axes, drawn by `draw` for files and for pages.

mod axis;
mod draw;
#[cfg(feature = "render")]
mod made;
mod model;
mod shade;
mod steps;
mod text;

pub use axis::{Axis, Numbers, round_step};
pub use draw::{Look, draw};
pub use model::{Figure, Layer, Panel, Shape, color};
pub use steps::Steps;

#[cfg(feature = "render")]
pub use made::*;

pub(super) use draw::{Drawn, tidy};
pub(super) use steps::short;
pub(super) use text::width;

/// The colours that figures of a page name, light and dark, and how their data is drawn.
pub const STYLE: &str = include_str!("figure.css");
