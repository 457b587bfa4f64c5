//! Two pictures: what is gained in each workload, and what the gain depends on.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::summary::Mean;

/// I/O slowdowns of a workload relative to fair share.
pub struct Panel {
    pub title: String,
    pub rows: Vec<(String, Mean)>,
}

/// Reductions of the slowdown along an axis.
pub struct Curves {
    pub axis: String,
    pub curves: Vec<Curve>,
}

pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, Mean)>,
}

type Result = std::result::Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const COLOURS: [RGBColor; 3] = [RGBColor(0x55, 0x55, 0x55), RGBColor(0x00, 0x72, 0xb2), RGBColor(0xd5, 0x5e, 0x00)];
const WIDTH: u32 = 960;
const LABELS: i32 = 170;

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK)
}

fn at(x: f64, range: &Range<f64>, pixels: Range<i32>) -> i32 {
    let share = ((x - range.start) / (range.end - range.start)).clamp(0.0, 1.0);
    pixels.start + (share * f64::from(pixels.end - pixels.start)).round() as i32
}

/// One line a policy, a panel for each workload; the line at 1 is fair share.
pub fn gains(panels: &[Panel], path: &Path) -> Result {
    let Some(rows) = panels.iter().map(|p| p.rows.len()).max() else { return Ok(()) };
    let height = 70 + 20 * rows as u32;
    let columns = panels.len().div_ceil(2);
    let root = SVGBackend::new(path, (WIDTH, height * columns as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, panel) in root.split_evenly((columns, panels.len().min(2))).iter().zip(panels) {
        rows_of(area, panel)?;
    }
    Ok(root.present()?)
}

fn rows_of(area: &Area<'_>, panel: &Panel) -> Result {
    let (width, height) = area.dim_in_pixel();
    let (pixels, bottom) = (LABELS..width as i32 - 20, height as i32 - 34);
    let most =
        panel.rows.iter().map(|(_, m)| m.value + if m.half.is_finite() { m.half } else { 0.0 }).fold(1.0, f64::max);
    let range = 0.0..most * 1.05;
    area.draw(&Text::new(panel.title.clone(), (LABELS, 6), font(15)))?;
    let step = if most > 3.0 { most.round() / 3.0 } else { 0.25 };
    for tick in (0..).map(|i| step * f64::from(i)).take_while(|t| *t < range.end) {
        let x = at(tick, &range, pixels.clone());
        let colour = if tick == 1.0 { BLACK.mix(0.8) } else { BLACK.mix(0.15) };
        area.draw(&PathElement::new(vec![(x, 26), (x, bottom)], colour))?;
        area.draw(&Text::new(format!("{tick:.2}"), (x - 11, bottom + 3), font(11)))?;
    }
    area.draw(&Text::new("I/O slowdown relative to fair share", (LABELS, bottom + 18), font(12)))?;
    for (i, (name, m)) in panel.rows.iter().enumerate() {
        let y = 36 + 20 * i as i32;
        area.draw(&Text::new(name.clone(), (6, y - 7), font(12)))?;
        let x = |v| at(v, &range, pixels.clone());
        if m.half.is_finite() {
            let whisker = vec![(x(m.value - m.half), y), (x(m.value + m.half), y)];
            area.draw(&PathElement::new(whisker, COLOURS[1].stroke_width(2)))?;
        }
        area.draw(&Circle::new((x(m.value), y), 4, COLOURS[1].filled()))?;
    }
    Ok(())
}

/// A panel for each axis.
pub fn sweep(all: &[Curves], path: &Path) -> Result {
    if all.is_empty() {
        return Ok(());
    }
    let root = SVGBackend::new(path, (WIDTH, 340)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, curves) in root.split_evenly((1, all.len())).iter().zip(all) {
        curves_of(area, curves)?;
    }
    Ok(root.present()?)
}

fn curves_of(area: &Area<'_>, all: &Curves) -> Result {
    let points = || all.curves.iter().flat_map(|c| &c.points);
    let x_most = points().map(|p| p.0).fold(0.0, f64::max);
    let lowest = points().map(|p| 100.0 * p.1.value).fold(0.0, f64::min);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(-0.03 * x_most..1.03 * x_most, lowest.min(0.0)..100.0)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(&all.axis).y_desc("reduction of I/O slowdown, %").label_style(font(11)).axis_desc_style(font(12));
    mesh.light_line_style(TRANSPARENT).x_labels(6).draw()?;
    for (curve, colour) in all.curves.iter().zip(COLOURS) {
        let line = curve.points.iter().map(|(x, m)| (*x, 100.0 * m.value));
        let key = move |(x, y)| PathElement::new(vec![(x, y), (x + 14, y)], colour.stroke_width(2));
        chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?.label(&curve.name).legend(key);
        let whisker = |(x, m): &(f64, Mean)| {
            PathElement::new(vec![(*x, 100.0 * (m.value - m.half)), (*x, 100.0 * (m.value + m.half))], colour)
        };
        chart.draw_series(curve.points.iter().filter(|p| p.1.half.is_finite()).map(whisker))?;
    }
    let mut labels = chart.configure_series_labels();
    labels.position(SeriesLabelPosition::UpperRight).background_style(WHITE).label_font(font(11)).draw()?;
    Ok(())
}
