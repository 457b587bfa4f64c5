//! One run of a page on its way: sections, pictures, and what was left out.

use serde_json::{Value, json};

use super::caps::Caps;
use super::plot::Plot;
use super::run::Run;
use super::writer::Html;

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
    plots: Vec<Plot>,
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

    /// A picture.
    pub fn plot(&mut self, mut plot: Plot) {
        plot.id = self.id(&plot.id);
        plot.figure(&mut self.h, true);
        self.plots.push(plot);
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
