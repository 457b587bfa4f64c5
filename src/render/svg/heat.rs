//! Maps of colour: cells of time and height with a value.

use plotters::prelude::*;

use super::frame::{Chart, failed};
use crate::error::Result;

/// Steps of colour; neighbours of one colour are drawn as one, which keeps pictures small.
const STEPS: f64 = 24.0;

/// Columns of a map, at most.
pub const COLUMNS: usize = 300;

/// The colour of a share of the largest value, 0 to 1: white over blue to nearly black, so that it reads in print, too.
pub fn shade(share: f64) -> RGBColor {
    const STOPS: [(f64, f64, f64); 4] =
        [(255.0, 255.0, 255.0), (140.0, 195.0, 230.0), (0.0, 90.0, 160.0), (10.0, 15.0, 60.0)];
    let at = share.clamp(0.0, 1.0) * 3.0;
    let i = (at as usize).min(2);
    let mix = |a: f64, b: f64| (a + (b - a) * (at - i as f64)).round() as u8;
    let (a, b) = (STOPS[i], STOPS[i + 1]);
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
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

/// Draws rows, cut to the ranges of the chart.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn draw(chart: &mut Chart<'_, '_>, rows: &[Row], x: (f64, f64), y: (f64, f64)) -> Result<()> {
    for row in rows {
        let (low, high) = (row.y.0.max(y.0), row.y.1.min(y.1));
        if low >= high {
            continue;
        }
        let level = |v: f64| (v.clamp(0.0, 1.0) * STEPS).round();
        let mut from = 0;
        while from < row.values.len() {
            let colour = level(row.values[from]);
            let same = row.values[from..].iter().take_while(|v| level(**v) == colour).count().max(1);
            let (a, b) = (row.x0 + from as f64 * row.step, row.x0 + (from + same) as f64 * row.step);
            let (a, b) = (a.max(x.0), b.min(x.1));
            if colour > 0.0 && a < b {
                let cell = Rectangle::new([(a, low), (b, high)], shade(colour / STEPS).filled());
                chart.draw_series([cell]).map_err(failed)?;
            }
            from += same;
        }
    }
    Ok(())
}

/// The largest of every `group` values.
pub fn thinned(values: impl Iterator<Item = f64>, group: usize) -> Vec<f64> {
    let mut out = Vec::new();
    for (i, v) in values.enumerate() {
        match out.last_mut() {
            Some(last) if i % group.max(1) > 0 => *last = f64::max(*last, v),
            _ => out.push(v),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_darken() {
        let sum = |s: f64| {
            let c = shade(s);
            u32::from(c.0) + u32::from(c.1) + u32::from(c.2)
        };
        assert!((0..20).all(|i| sum(f64::from(i) / 20.0) > sum(f64::from(i + 1) / 20.0)));
        assert_eq!((shade(-1.0), shade(2.0)), (RGBColor(255, 255, 255), RGBColor(10, 15, 60)));
        assert_eq!(thinned([1.0, 3.0, 2.0, 5.0, 4.0].into_iter(), 2), [3.0, 5.0, 4.0]);
    }
}
