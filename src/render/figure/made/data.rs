//! Figures as data, for other programs to draw.

use plotters::style::RGBAColor;
use serde_json::{Value, json};

use super::model::Row;
use super::{Axis, Figure, Layer, Panel, Shape};

/// A figure with all that is drawn of it, as JSON: title, caption, and panels from above, each with its axes and its layers from the back to
/// the front. Values are in the units of the axes.
pub fn data(figure: &Figure) -> Value {
    let panels: Vec<Value> = figure.panels.iter().map(panel).collect();
    json!({ "title": figure.title, "caption": figure.caption, "panels": panels })
}

fn panel(p: &Panel) -> Value {
    let layers: Vec<Value> = p.layers.iter().map(|l| layer(l, p.x.range)).collect();
    let axis = |a: &Axis| json!({ "label": a.label, "unit": a.unit, "numbers": a.numbers, "range": a.range, "names": a.names });
    json!({
        "x": axis(&p.x), "y": axis(&p.y), "height": p.height, "note": p.note, "beside": p.beside, "side": p.side, "layers": layers,
    })
}

fn layer(l: &Layer, range: (f64, f64)) -> Value {
    let RGBAColor(r, g, b, alpha) = l.color;
    let mut data = json!(l);
    data["color"] = json!(format!("#{r:02x}{g:02x}{b:02x}"));
    (data["alpha"], data["width"], data["dashed"]) = (json!(alpha), json!(l.width), json!(l.dashed));
    // what a page has no use for
    match &l.shape {
        Shape::Line { points } => data["points"] = json!(points),
        Shape::Wave(wave) => data["points"] = json!(wave.points(range)),
        Shape::Texts { texts } => data["texts"] = json!(texts),
        Shape::Map { rows } => {
            let row = |r: &Row| json!({ "start": r.x0, "step": r.step, "y": r.y, "values": r.values });
            data["rows"] = rows.iter().map(row).collect();
        }
        _ => {}
    }
    data
}
