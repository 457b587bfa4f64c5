//! Reports as text, SVG and JSON.

#[cfg(feature = "render")]
pub mod classes;
#[cfg(feature = "render")]
pub mod compare;
#[cfg(feature = "render")]
mod counters;
#[cfg(feature = "render")]
pub mod dfg;
#[cfg(feature = "figure")]
pub mod figure;
#[cfg(feature = "render")]
pub mod findings;
#[cfg(feature = "render")]
pub mod html;
#[cfg(feature = "render")]
mod io_time;
pub mod json;
#[cfg(feature = "render")]
mod layout;
#[cfg(feature = "render")]
mod listing;
#[cfg(feature = "render")]
pub mod overview;
#[cfg(feature = "render")]
mod pattern_text;
#[cfg(feature = "render")]
pub mod table;
#[cfg(feature = "render")]
pub mod text;
#[cfg(feature = "tui")]
pub mod tui;
#[cfg(feature = "figure")]
pub mod visible;
#[cfg(feature = "figure")]
pub mod units {
    //! Numbers with units for people.
    pub use crate::units::*;
}
