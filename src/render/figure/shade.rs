//! Colours of values between others.

use plotters::style::RGBColor;

use super::model::{Row, color};

/// Steps of colour; neighbours of one colour are drawn as one, which keeps figures small.
const STEPS: f64 = 24.0;

/// A colour between two others.
pub fn blend(a: RGBColor, b: RGBColor, share: f64) -> RGBColor {
    let mix = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// The colour of a share of the largest value, 0 to 1: white over blue to nearly black, so that it reads in print, too.
pub fn shade(share: f64) -> RGBColor {
    const STOPS: [RGBColor; 4] = [color::PAPER, RGBColor(140, 195, 230), color::SIGNAL, RGBColor(10, 15, 60)];
    let at = share.clamp(0.0, 1.0) * 3.0;
    let i = (at as usize).min(2);
    blend(STOPS[i], STOPS[i + 1], at - i as f64)
}

/// Two corners and the colour of each stretch of cells of one colour, cut to the ranges of the axes.
pub fn cells(rows: &[Row], x: (f64, f64), y: (f64, f64)) -> impl Iterator<Item = ((f64, f64), (f64, f64), RGBColor)> {
    let level = |v: f64| (v.clamp(0.0, 1.0) * STEPS).round();
    rows.iter().flat_map(move |row| {
        let (low, high) = (row.y.0.max(y.0), row.y.1.min(y.1));
        let mut from = 0;
        row.values.chunk_by(move |a, b| level(*a) == level(*b)).filter_map(move |same| {
            let (a, b) = (row.x0 + from as f64 * row.step, row.x0 + (from + same.len()) as f64 * row.step);
            from += same.len();
            let (a, b, colour) = (a.max(x.0), b.min(x.1), level(same[0]));
            (colour > 0.0 && a < b && low < high).then(|| ((a, high), (b, low), shade(colour / STEPS)))
        })
    })
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
    }

    #[test]
    fn neighbours_of_one_colour_are_one_cell() {
        let row = Row { x0: 0.0, step: 1.0, y: (0.0, 1.0), values: vec![0.0, 1.0, 1.0, 0.5] };
        let all: Vec<_> = cells(&[row], (0.0, 3.5), (0.0, 9.0)).map(|(a, b, _)| (a, b)).collect();
        assert_eq!(all, [((1.0, 1.0), (3.0, 0.0)), ((3.0, 1.0), (3.5, 0.0))]);
    }
}
