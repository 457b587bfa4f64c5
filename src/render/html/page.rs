//! One run of a page on its way: sections, pictures, and what was left out.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::caps::Caps;
use super::markup::{drawn, fold};
use super::run::Run;
use crate::render::figure::{Drawn, Figure, Look, Panel, draw, table};
use crate::render::units;

/// Values of a curve, and columns of its drawing; the least of a page that had to be cut.
const POINTS: (usize, usize) = (4096, 100);
const COLUMNS: (usize, usize) = (1500, 50);
/// Rows of the table of a figure.
const ROWS: (usize, usize) = (48, 4);

/// One run of a page.
pub struct Page<'a> {
    /// The run that is shown.
    pub run: &'a Run,
    /// Bounds.
    pub caps: Caps,
    /// Lists and pictures that were cut.
    pub cuts: Vec<String>,
    /// Sections without data, and how to record them.
    pub absent: Vec<(&'static str, &'static str)>,
    /// Identifiers and titles of the sections.
    pub listed: Vec<(String, &'static str)>,
    prefix: String,
    plots: Vec<Value>,
    /// The figures of heat maps, for the script.
    pub heats: Vec<Value>,
}

impl<'a> Page<'a> {
    /// An empty page for run number `i`.
    pub fn new(run: &'a Run, i: usize, caps: Caps) -> Page<'a> {
        Page {
            run,
            caps,
            cuts: Vec::new(),
            absent: Vec::new(),
            listed: Vec::new(),
            prefix: if i == 0 { String::new() } else { format!("r{}-", i + 1) },
            plots: Vec::new(),
            heats: Vec::new(),
        }
    }

    /// An id that no other run has.
    pub fn id(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }

    /// A section with a heading and a sentence that says what is seen.
    pub fn section(&mut self, id: &str, title: &'static str, lead: &str, content: Markup) -> Markup {
        let id = self.id(id);
        self.listed.push((id.clone(), title));
        html! {
            section id=(id) aria-labelledby={ (id) "-h" } {
                h2 id={ (id) "-h" } { (title) }
                @if !lead.is_empty() { p.lead { (lead) } }
                "\n" (content)
            } "\n"
        }
    }

    /// A section without data.
    pub fn without(&mut self, title: &'static str, how: &'static str) -> Markup {
        self.absent.push((title, how));
        html! {}
    }

    /// A figure: picture, line for the values under the pointer, and table.
    pub fn figure(&mut self, id: &str, figure: Figure) -> Markup {
        let rows = self.caps.of(ROWS.0, ROWS.1);
        let below = |id: &str, figure: &Figure| {
            let table = table(figure, rows).html(&format!("{id}-table"), &figure.title);
            html! { @if !table.0.is_empty() { (fold("Table", table)) } }
        };
        self.framed(id, figure, ("plot", None), html! {}, below)
    }

    /// A figure of a class and with a name, between what is above the picture and the table below.
    pub fn framed(
        &mut self,
        id: &str,
        figure: Figure,
        (class, name): (&str, Option<&str>),
        above: Markup,
        below: impl FnOnce(&str, &Figure) -> Markup,
    ) -> Markup {
        let id = self.id(id);
        let figure = figure.thinned(self.caps.of(POINTS.0, POINTS.1));
        let Drawn { svg, boxes } = draw(&figure, &Look::page(self.caps.of(COLUMNS.0, COLUMNS.1)), &id);
        let panel = |(panel, place): (&Panel, [f64; 4])| {
            let mut data = json!(panel);
            data["box"] = json!(place);
            // such axes are zoomed together
            data["time"] = json!(panel.x.range == self.run.range);
            data["per"] = json!(panel.x.unit().0);
            data
        };
        let panels: Vec<Value> = figure.panels.iter().zip(boxes).map(panel).collect();
        self.plots.push(json!({ "id": id, "panels": panels }));
        html! {
            figure.(class) id=(id) data-name=[name] {
                (above) (drawn(svg))
                p.readout aria-live="polite" {}
                (below(&id, &figure))
            } "\n"
        }
    }

    /// How many of a list are shown, of which `most` are on a page of full size, and at least `least`; notes that it was cut.
    pub fn shown(&mut self, (most, least): (usize, usize), all: usize, noun: &str) -> usize {
        let shown = self.caps.of(most, least).min(all);
        if shown < all {
            self.cuts.push(format!("{noun}: {shown} of {} are shown", units::grouped(all)));
        }
        shown
    }

    /// The JSON of the run: answers, and the figures of the pictures.
    pub fn data(&self) -> Value {
        let mut data = super::sections::data(self.run, self.caps);
        data["pictures"] = json!({ "plots": self.plots, "heats": self.heats, "range": self.run.range });
        data
    }
}
