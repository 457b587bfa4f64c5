//! Curves of points with 95 % intervals, one panel beside the other.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

use crate::Mean;

/// Its name and its points.
pub type Curve = (String, Vec<(f64, Mean)>);

/// Dark and far apart on the wheel of colours.
const COLOURS: [u32; 8] = [0x555555, 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000];

pub fn draw(panels: &[(String, Vec<Curve>)], what: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (320 * panels.len() as u32, 360)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, (title, curves)) in root.split_evenly((1, panels.len())).iter().zip(panels) {
        let points = || curves.iter().flat_map(|c| &c.1);
        let least = points().map(|p| p.0).fold(f64::INFINITY, f64::min);
        let most = points().map(|p| p.0).fold(0.0, f64::max);
        let top = points().map(|p| p.1.value + p.1.half.max(0.0)).fold(1.0, f64::max);
        let bottom = points().map(|p| p.1.value - p.1.half.max(0.0)).fold(0.0, f64::min);
        let margin = 0.05 * (most - least);
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(32)
            .y_label_area_size(44)
            .build_cartesian_2d(least - margin..most + margin, bottom..1.6 * top)?;
        chart.configure_mesh().light_line_style(TRANSPARENT).x_labels(8).x_desc(title).y_desc(what).draw()?;
        for ((name, points), colour) in curves.iter().zip(COLOURS.iter().cycle()) {
            let [_, r, g, b] = colour.to_be_bytes();
            let colour = RGBColor(r, g, b);
            let key = move |(x, y)| Circle::new((x + 6, y), 3, colour.filled());
            let line = LineSeries::new(points.iter().map(|(x, m)| (*x, m.value)), colour);
            chart.draw_series(line)?.label(name).legend(key);
            chart.draw_series(points.iter().map(|(x, m)| Circle::new((*x, m.value), 3, colour.filled())))?;
            let interval = |(x, m): &(f64, Mean)| vec![(*x, m.value - m.half), (*x, m.value + m.half)];
            let known = points.iter().filter(|p| p.1.half.is_finite());
            chart.draw_series(known.map(|p| PathElement::new(interval(p), colour)))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font(("sans-serif", 11))
            .draw()?;
    }
    Ok(root.present()?)
}
