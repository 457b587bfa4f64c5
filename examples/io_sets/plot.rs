//! The pictures: dots with intervals of 95 %, by the figures of the crate.

use std::path::Path;

use iophase::internals::render::figure::{Axis, Figure, Layer, Look, Numbers, Panel, Shape, color, draw};
use iophase::{Error, ErrorKind};
use plotters::style::RGBColor;

use crate::Mean;

/// Means along an axis: their name, their colour, and what they belong to.
pub type Curve = (&'static str, RGBColor, Vec<(f64, Mean)>);

/// Curves in % over an axis. Those at the same place stand beside each other by a share of its length.
pub fn panel(x: Axis, label: &str, curves: &[Curve], beside: f64) -> Panel {
    let curves: Vec<&Curve> = curves.iter().filter(|c| !c.2.is_empty()).collect();
    let ends = |m: &Mean| if m.half.is_finite() { [m.value - m.half, m.value + m.half] } else { [m.value; 2] };
    let all = || curves.iter().flat_map(|c| &c.2).flat_map(|p| ends(&p.1));
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let range = (low.min(0.0) - 0.05 * (high - low), high + 0.05 * (high - low));
    let step = beside * (x.range.1 - x.range.0);
    let mut layers = vec![];
    for (i, (name, colour, points)) in curves.iter().enumerate() {
        let at = |at: f64| at + step * (i as f64 - 0.5 * (curves.len() - 1) as f64);
        let line = |points: Vec<(f64, f64)>| Layer::new("", *colour, Shape::Line { points });
        let dots: Vec<(f64, f64)> = points.iter().map(|(x, m)| (at(*x), m.value)).collect();
        layers.extend(points.iter().map(|(x, m)| line(ends(m).map(|y| (at(*x), y)).to_vec())));
        if x.names.is_none() {
            layers.push(line(dots.clone()).wide(1.0));
        }
        layers.push(Layer::new(*name, *colour, Shape::Dots { points: dots }).wide(5.0));
    }
    layers.push(Layer::new("fair share", color::INK, Shape::Levels { at: vec![0.0] }).wide(1.0));
    Panel::new(x, Axis::new(range, label, "%", Numbers::Plain), layers).height(250.0)
}

pub fn write(
    title: &str,
    caption: String,
    panels: Vec<Panel>,
    folder: Option<&Path>,
    file: &str,
) -> iophase::Result<()> {
    let Some(path) = folder.map(|f| f.join(file)) else { return Ok(()) };
    let svg = draw(&Figure { title: title.into(), caption, panels }, &Look::default(), "").svg;
    std::fs::write(&path, svg).map_err(|e| Error::new(ErrorKind::Output, format!("{}: {e}", path.display())))
}
