//! The model of a figure.

use std::f64::consts::TAU;

use plotters::style::{RGBAColor, RGBColor};
use serde::Serialize;

use super::axis::Axis;
use super::steps::Steps;

/// Colours that stay apart for most eyes (after Okabe and Ito) and in print.
pub mod color {
    use plotters::style::RGBColor;

    /// The trace itself.
    pub const ORIGINAL: RGBColor = RGBColor(135, 158, 182);
    /// A peak above the axis.
    pub const OUTLINE: RGBColor = RGBColor(105, 125, 150);
    /// The sampled signal, and writes.
    pub const SIGNAL: RGBColor = RGBColor(0, 90, 160);
    /// The dominant cosine or period, and reads.
    pub const DOMINANT: RGBColor = RGBColor(213, 94, 0);
    /// Further periods.
    pub const OTHERS: [RGBColor; 4] =
        [RGBColor(118, 56, 158), RGBColor(166, 118, 29), RGBColor(0, 140, 160), RGBColor(110, 110, 110)];
    /// Further ranks.
    pub const RANKS: [RGBColor; 2] = [RGBColor(120, 90, 30), RGBColor(86, 180, 233)];
    /// Where the period holds.
    pub const VALID: RGBColor = RGBColor(0, 158, 115);
    /// The next burst.
    pub const NEXT: RGBColor = RGBColor(204, 121, 167);
    /// The strongest frequency over time, on blue.
    pub const TRACK: RGBColor = RGBColor(240, 228, 66);
    /// Text and axes.
    pub const INK: RGBColor = RGBColor(40, 40, 40);
    /// Captions.
    pub const SOFT: RGBColor = RGBColor(90, 100, 112);
    /// Grid lines.
    pub const GRID: RGBColor = RGBColor(225, 225, 225);
    /// The ground of a figure.
    pub const PAPER: RGBColor = RGBColor(255, 255, 255);

    /// The names that the style of a page has for them, which knows light and dark.
    pub const NAMES: [(RGBColor, &str); 17] = [
        (ORIGINAL, "trace"),
        (OUTLINE, "trace"),
        (SIGNAL, "write"),
        (DOMINANT, "read"),
        (OTHERS[0], "o1"),
        (OTHERS[1], "o2"),
        (OTHERS[2], "o3"),
        (OTHERS[3], "soft"),
        (RANKS[0], "r1"),
        (RANKS[1], "r2"),
        (VALID, "valid"),
        (NEXT, "next"),
        (TRACK, "track"),
        (INK, "ink"),
        (SOFT, "soft"),
        (GRID, "line"),
        (PAPER, "paper"),
    ];

    /// The colour on dark paper for one without a name: the same hue, as dark as it was light.
    pub fn mirrored(c: RGBColor) -> RGBColor {
        let all = [c.0, c.1, c.2].map(i32::from);
        let shift = 255 - all.iter().max().unwrap_or(&0) - all.iter().min().unwrap_or(&0);
        let [r, g, b] = all.map(|x| (x + shift).clamp(0, 255) as u8);
        RGBColor(r, g, b)
    }
}

/// A figure: panels below each other.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    /// The subject and the answer, in one line.
    pub title: String,
    /// Where it comes from, and which part of that is shown.
    pub caption: String,
    /// Panels from above.
    pub panels: Vec<Panel>,
}

/// Data over two axes.
#[derive(Debug, Clone, Serialize)]
pub struct Panel {
    /// The axis to the right; without a label that of the panel below.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// Height of the data on paper in pixels.
    #[serde(skip)]
    pub height: f64,
    /// From the back to the front.
    pub layers: Vec<Layer>,
    /// Texts at the right, each at its height.
    #[serde(skip)]
    pub beside: Vec<(f64, String)>,
    /// Bars at the right, from the first row at the top on, as shares of the longest.
    #[serde(skip)]
    pub side: Vec<f64>,
    /// A text in the upper right corner.
    #[serde(skip)]
    pub note: String,
}

/// A curve, or marks of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct Layer {
    /// Its entry in the legend; none if it is empty.
    pub name: String,
    /// Its colour.
    #[serde(skip)]
    pub color: RGBAColor,
    /// Width of its lines on paper in pixels.
    #[serde(skip)]
    pub width: f64,
    /// Its lines are broken.
    #[serde(skip)]
    pub dashed: bool,
    /// The marks.
    #[serde(flatten)]
    pub shape: Shape,
}

/// The marks of a layer.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(missing_docs, reason = "a field is what its kind says")]
pub enum Shape {
    /// A filled step curve over zero.
    Area(Steps),
    /// A step curve as a line.
    Curve(Steps),
    /// The room between two step curves, from `start` on `step` each.
    Band { start: f64, step: f64, spans: Vec<(f64, f64)> },
    /// A line through points.
    Line {
        #[serde(skip)]
        points: Vec<(f64, f64)>,
    },
    /// A cosine, where its periods can be seen.
    Wave(Wave),
    /// Lines from zero up.
    Stems { points: Vec<(f64, f64)> },
    /// Dots.
    Dots { points: Vec<(f64, f64)> },
    /// Values above the end of the axis.
    Peaks { at: Vec<f64> },
    /// Spans of time in a row above the data, with a text, or over all of its height.
    Spans {
        row: Option<usize>,
        spans: Vec<(f64, f64)>,
        #[serde(skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// Vertical lines.
    Marks { at: Vec<f64> },
    /// Horizontal lines.
    Levels { at: Vec<f64> },
    /// Rectangles from x and y to x and y, and what each of them is.
    Boxes { boxes: Vec<[f64; 4]>, labels: Vec<String> },
    /// Texts, each in the middle of a place.
    Texts {
        #[serde(skip)]
        texts: Vec<((f64, f64), String)>,
    },
    /// A picture of all of the height from one x to another, and the colours of its values.
    Image {
        #[serde(skip)]
        href: String,
        #[serde(skip)]
        x: (f64, f64),
        #[serde(skip)]
        colours: Vec<RGBColor>,
    },
    /// Rows of cells: colours of shares of the largest value.
    Map {
        #[serde(skip)]
        rows: Vec<Row>,
    },
}

/// mean + amplitude cos(2 pi frequency x + phase) in a span.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Wave {
    /// Mean of the values.
    pub mean: f64,
    /// Amplitude of the values.
    pub amplitude: f64,
    /// Periods in a unit of the axis.
    pub frequency: f64,
    /// Phase at zero, radians.
    pub phase: f64,
    /// Where it is drawn.
    pub span: (f64, f64),
}

impl Wave {
    /// Periods of which each can still be seen in the width of a figure.
    pub const MOST_PERIODS: f64 = 80.0;

    /// Whether its periods can be seen in a range of the axis.
    pub fn is_seen(&self, range: (f64, f64)) -> bool {
        (range.1 - range.0) * self.frequency <= Wave::MOST_PERIODS
    }

    /// Its points in a range of the axis; one if its periods cannot be seen, which is no line.
    pub fn points(&self, range: (f64, f64)) -> Vec<(f64, f64)> {
        let (a, b) = (self.span.0.max(range.0), self.span.1.min(range.1));
        let n = if a < b && self.is_seen(range) {
            (24.0 * (b - a) * self.frequency).ceil().clamp(24.0, 2400.0)
        } else {
            0.0
        };
        let x = |i: u32| a + (b - a) * f64::from(i) / n.max(1.0);
        let value = |x: f64| self.mean + self.amplitude * (TAU * self.frequency * x + self.phase).cos();
        (0..=n as u32).map(|i| (x(i), value(x(i)))).collect()
    }
}

/// A row of cells: from `x0` on `step` wide each, between two heights; values from 0 to 1.
#[derive(Debug, Clone)]
pub struct Row {
    /// Start of the first cell.
    pub x0: f64,
    /// Width of a cell.
    pub step: f64,
    /// Lower and upper end.
    pub y: (f64, f64),
    /// Shares of the largest value.
    pub values: Vec<f64>,
}

impl Panel {
    /// A panel of the usual height.
    pub fn new(x: Axis, y: Axis, layers: Vec<Layer>) -> Panel {
        Panel { x, y, height: 370.0, layers, beside: Vec::new(), side: Vec::new(), note: String::new() }
    }

    /// The same, so high.
    pub fn height(self, height: f64) -> Panel {
        Panel { height, ..self }
    }

    /// Rows of spans above the data.
    pub fn rows(&self) -> usize {
        let row = |l: &Layer| if let Shape::Spans { row: Some(r), .. } = l.shape { r + 1 } else { 0 };
        self.layers.iter().map(row).max().unwrap_or(0)
    }
}

impl Layer {
    /// A layer of full colour.
    pub fn new(name: impl Into<String>, color: RGBColor, shape: Shape) -> Layer {
        Layer { name: name.into(), color: color.into(), width: 2.0, dashed: false, shape }
    }

    /// The same, through which others can be seen.
    pub fn mix(mut self, share: f64) -> Layer {
        self.color.3 = share;
        self
    }

    /// The same with lines of this width.
    pub fn wide(self, width: f64) -> Layer {
        Layer { width, ..self }
    }

    /// The same with broken lines.
    pub fn dashed(self) -> Layer {
        Layer { dashed: true, ..self }
    }
}

impl Figure {
    /// Layers with an entry in the legend, what lies behind the data last.
    pub fn legend(&self) -> Vec<&Layer> {
        let mut all: Vec<&Layer> = Vec::new();
        let seen = |p: &Panel, l: &Layer| !matches!(l.shape, Shape::Wave(w) if !w.is_seen(p.x.range));
        let layers = self.panels.iter().flat_map(|p| p.layers.iter().filter(move |l| seen(p, l)));
        for layer in layers.filter(|l| !l.name.is_empty()) {
            if !all.iter().any(|l| l.name == layer.name) {
                all.push(layer);
            }
        }
        all.sort_by_key(|l| matches!(l.shape, Shape::Spans { row: None, .. }));
        all
    }

    /// The same with at most `most` values of a curve.
    pub fn thinned(mut self, most: usize) -> Figure {
        for layer in self.panels.iter_mut().flat_map(|p| &mut p.layers) {
            if let Shape::Area(s) | Shape::Curve(s) = &mut layer.shape {
                *s = s.thinned(most);
            }
        }
        self
    }

    /// A description for those who do not see the figure.
    pub fn described(&self) -> String {
        let axes: Vec<String> = self.panels.iter().map(|p| format!("{} over {}", p.y.title(), p.x.title())).collect();
        let names: Vec<&str> = self.legend().into_iter().map(|l| &*l.name).collect();
        format!("{}. Shown: {}", axes.join("; "), names.join("; "))
    }
}
