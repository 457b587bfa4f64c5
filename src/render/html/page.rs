//! One run of a page on its way: sections, pictures, and what was left out.

use serde_json::{Value, json};

use super::caps::Caps;
use super::run::Run;
use super::table;
use super::writer::Html;
use crate::render::figure::{Drawn, Figure, Look, Panel, draw};

/// Values of a curve, and columns of its drawing; the least of a page that had to be cut.
const POINTS: (usize, usize) = (4096, 100);
const COLUMNS: (usize, usize) = (1500, 50);
/// Rows of the table of a figure.
const ROWS: (usize, usize) = (48, 4);

/// One run of a page.
pub struct Page<'a> {
    /// The markup.
    pub h: Html,
    /// What is shown.
    pub run: &'a Run,
    /// Bounds.
    pub caps: Caps,
    /// Lists and pictures that were cut.
    pub cuts: Vec<String>,
    /// Sections without data, and how to record them.
    pub absent: Vec<(&'static str, &'static str)>,
    prefix: String,
    plots: Vec<Value>,
    heats: Vec<Value>,
    listed: Vec<(String, &'static str)>,
}

impl<'a> Page<'a> {
    /// An empty page for run number `i`.
    pub fn new(run: &'a Run, i: usize, caps: Caps) -> Page<'a> {
        Page {
            h: Html::default(),
            run,
            caps,
            cuts: Vec::new(),
            absent: Vec::new(),
            prefix: if i == 0 { String::new() } else { format!("r{}-", i + 1) },
            plots: Vec::new(),
            heats: Vec::new(),
            listed: Vec::new(),
        }
    }

    /// An id that no other run has.
    pub fn id(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }

    /// A section with a heading and a sentence that says what is seen.
    pub fn section(&mut self, id: &str, title: &'static str, lead: &str, content: impl FnOnce(&mut Self)) {
        let id = self.id(id);
        let heading = format!("{id}-h");
        self.h.open("section", &[("id", &id), ("aria-labelledby", &heading)]);
        self.h.elem("h2", &[("id", &heading)], title);
        if !lead.is_empty() {
            self.h.elem("p", &[("class", "lead")], lead);
        }
        self.listed.push((id, title));
        content(self);
        self.h.close("section");
    }

    /// A figure: picture, line for the values under the pointer, and table.
    pub fn figure(&mut self, id: &str, figure: Figure) {
        let rows = self.caps.of(ROWS.0, ROWS.1);
        let table = |h: &mut Html, id: &str, figure: &Figure| table::of_figure(h, id, figure, rows);
        self.framed(id, figure, ("plot", ""), |_| {}, table);
    }

    /// A figure of a class and with a name, between what is above the picture and the table below.
    pub fn framed(
        &mut self,
        id: &str,
        figure: Figure,
        (class, name): (&str, &str),
        above: impl FnOnce(&mut Html),
        below: impl FnOnce(&mut Html, &str, &Figure),
    ) {
        let id = self.id(id);
        let figure = figure.thinned(self.caps.of(POINTS.0, POINTS.1));
        let Drawn { svg, boxes } = draw(&figure, &Look::page(self.caps.of(COLUMNS.0, COLUMNS.1)), &id);
        let attributes = [("id", &*id), ("class", class), ("data-name", name)];
        self.h.within("figure", &attributes[..if name.is_empty() { 2 } else { 3 }], |h| {
            above(h);
            h.picture(&svg);
            h.elem("p", &[("class", "readout"), ("aria-live", "polite")], "");
            below(h, &id, &figure);
        });
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
    }

    /// The figures of a heat map, for the script.
    pub fn heat(&mut self, heat: Value) {
        self.heats.push(heat);
    }

    /// Notes that a list was cut.
    pub fn cut(&mut self, shown: usize, all: usize, noun: &str) {
        if shown < all {
            let all = crate::render::units::grouped(all);
            self.cuts.push(format!("{noun}: {shown} of {all} are shown"));
        }
    }

    /// The JSON of the run: answers, and the figures of the pictures.
    pub fn data(&self) -> Value {
        let mut data = super::sections::data(self.run, self.caps);
        data["pictures"] = json!({ "plots": self.plots, "heats": self.heats, "range": self.run.range });
        data
    }

    /// Markup and sections.
    pub fn finish(self) -> (Html, Vec<(String, &'static str)>) {
        (self.h, self.listed)
    }
}
