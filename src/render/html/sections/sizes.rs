//! Access sizes, by layer.

use maud::{Markup, html};

use crate::analysis::SizeUse;
use crate::render::html::page::Page;
use crate::render::listing::{Cell, Listing};
use crate::render::units;

pub fn section(p: &mut Page<'_>) -> Markup {
    let used = |s: &&SizeUse| s.classes.iter().any(|c| c.reads + c.writes > 0);
    let layers: Vec<&SizeUse> = p.run.usage.sizes.iter().filter(used).collect();
    if layers.is_empty() {
        return p.without("Access sizes", "record counters with Darshan, or single requests with DXT or strace");
    }
    let content = html! { @for s in layers { (layer(&p.id(&format!("sizes-{}", s.layer)), s)) } };
    p.section("sizes", "Access sizes", "Reads and writes by the bytes of one access.", content)
}

fn layer(id: &str, s: &SizeUse) -> Markup {
    let most = s.classes.iter().map(|c| c.reads.max(c.writes)).max().unwrap_or(0).max(1);
    let bar = |n: u64| if n > 0 { Cell::bar(n as f64 / most as f64) } else { Cell::text("") };
    let common = s.common.iter().map(|(size, n)| format!("{} ({})", units::bytes(*size as f64), units::grouped(*n)));
    let table = Listing::of(&s.classes)
        .column("Up to", "size", |c| Cell::text(c.up_to.map_or_else(|| "more".into(), |n| units::bytes(n as f64))))
        .column("Reads", "reads", |c| Cell::count(c.reads))
        .column("Writes", "writes", |c| Cell::count(c.writes))
        .column("Read", "bytes-read", |c| Cell::bytes(c.bytes.map(|b| b.0)))
        .column("Written", "bytes-written", |c| Cell::bytes(c.bytes.map(|b| b.1)))
        .column("Reads", "reads-bar", |c| bar(c.reads))
        .column("Writes", "writes-bar", |c| bar(c.writes));
    html! {
        h3 { (s.layer) } "\n"
        (table.html(id, &format!("Accesses by size ({})", s.layer)))
        @if !s.common.is_empty() {
            p { "Common sizes, from the four of each file: " (common.collect::<Vec<_>>().join(", ")) "." } "\n"
        }
    }
}
