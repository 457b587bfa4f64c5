//! Directly-follows graphs as text, SVG and DOT, and timelines of activities.

mod dot;
mod label;
mod layout;
mod picture;
mod shade;
mod text;
mod timeline;

pub use dot::dot;
pub(super) use picture::Graph;
pub use picture::picture;
pub use shade::Coloring;
pub use text::text;
pub use timeline::timeline;
