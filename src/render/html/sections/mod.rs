//! The sections of a page, in its order. Each is left out if the trace has nothing for it.

mod answer;
mod classes;
mod comparison;
mod cost;
mod data;
mod files;
mod findings;
mod graph;
mod head;
mod heat;
mod mounts;
mod next;
mod patterns;
mod period;
mod phases;
mod provenance;
mod sizes;

pub use comparison::comparison;
pub use data::data;
pub use head::{index, navigation, title};

use maud::{Markup, html};

use super::Options;
use super::page::Page;

/// All sections of a run.
pub fn all(p: &mut Page<'_>, options: &Options) -> Markup {
    let sections = [
        answer::section,
        cost::section,
        phases::section,
        findings::section,
        heat::section,
        files::section,
        sizes::section,
        mounts::section,
        patterns::section,
        classes::section,
        graph::section,
        period::section,
        next::section,
        provenance::section,
    ];
    html! { (head::section(p, options)) @for section in sections { (section(p)) } }
}
