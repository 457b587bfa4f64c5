//! Axes: round marks, and the unit and the digits that their numbers are written with.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use crate::render::units::{byte_prefix, digits, si_prefix, time_unit};

/// How the numbers at an axis are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// With a prefix before the unit: a binary one for bytes, else of the SI.
    Prefixed,
    /// Data in seconds, written in milliseconds to days.
    Time,
    /// As they are.
    Plain,
    /// With an SI prefix before the unit, on a logarithmic axis.
    Logarithmic,
    /// Bands of a wavelet decomposition of n levels, the details first: D1, D2, A2.
    Bands(usize),
}

/// An axis: its range in the unit of the data, its label without unit, and the unit.
#[derive(Debug, Clone)]
pub struct Axis<'a> {
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// What it shows.
    pub label: &'a str,
    /// Unit of the data, seconds where that is time.
    pub unit: &'a str,
    /// How its numbers are written.
    pub numbers: Numbers,
}

impl Axis<'_> {
    /// Units of the data in one of those that are written, and what makes the one from the other: (1e6, "M"), or (3600, "h") if
    /// that is a unit of its own.
    fn unit(&self) -> (f64, String) {
        let largest = self.range.0.abs().max(self.range.1.abs());
        match self.numbers {
            Numbers::Prefixed | Numbers::Logarithmic => {
                let prefix = if self.unit.starts_with('B') { byte_prefix } else { si_prefix };
                let (factor, prefix) = prefix(largest);
                (factor, format!("{prefix}{}", self.unit))
            }
            Numbers::Time => {
                let (factor, unit) = time_unit(largest);
                (factor, unit.to_owned())
            }
            Numbers::Plain | Numbers::Bands(_) => (1.0, self.unit.to_owned()),
        }
    }

    /// The text beside the axis: `Bandwidth (MB/s)`.
    pub fn title(&self) -> String {
        if self.unit.is_empty() {
            self.label.to_owned()
        } else if self.label.is_empty() {
            self.unit().1
        } else {
            format!("{} ({})", self.label, self.unit().1)
        }
    }

    /// The coordinate with at most `most` marks.
    pub fn scale(&self, most: usize) -> Scale {
        let per = self.unit().0;
        let step = match self.numbers {
            Numbers::Bands(levels) => 1.0 + (levels / 16) as f64,
            _ => round_step((self.range.1 - self.range.0) / per, most),
        };
        Scale { low: self.range.0, high: self.range.1, per, step, octaves: self.numbers == Numbers::Logarithmic }
    }

    /// The number at a mark of `scale`.
    pub fn number(&self, value: f64, scale: &Scale) -> String {
        match self.numbers {
            Numbers::Bands(levels) if value > levels as f64 => format!("A{levels}"),
            Numbers::Bands(_) => format!("D{value:.0}"),
            Numbers::Logarithmic => digits(value / scale.per),
            _ => number(value / scale.per, scale.step),
        }
    }
}

/// A number with the digits that its distance to the next one needs.
pub fn number(value: f64, step: f64) -> String {
    let places = (-(step * 1.0001).log10().floor()).clamp(0.0, 12.0) as usize;
    if value.abs() < 1e-6 * step { "0".into() } else { format!("{value:.places$}") }
}

/// The smallest of 1, 2, 5, 10, 20, ... and their decimal parts of which at most `most` fit into `span`.
pub fn round_step(span: f64, most: usize) -> f64 {
    let least = span.abs().max(f64::MIN_POSITIVE) / most.max(1) as f64;
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|m| m * power).find(|s| *s >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// The multiples of `step` from `low` to `high`, at most 100. They are counted: where times are so large that adding a step does not
/// change them, adding steps would not end.
pub fn marks(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    // what is not finite has none
    let count = (last - first + 1.0).clamp(0.0, 100.0) as u32;
    (0..count).map(move |i| (first + f64::from(i)) * step)
}

/// A linear or logarithmic coordinate whose marks are round in the unit that is written.
#[derive(Debug, Clone)]
pub struct Scale {
    low: f64,
    high: f64,
    /// Units of the data in one that is written.
    per: f64,
    /// Distance of marks, as written.
    step: f64,
    /// Logarithmic, with a mark at every doubling.
    octaves: bool,
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (from, to) = (f64::from(limit.0), f64::from(limit.1));
        let along = |x: f64| if self.octaves { x.max(self.low).log2() } else { x };
        let (low, high) = (along(self.low), along(self.high));
        let share = if high > low { (along(*value) - low) / (high - low) } else { 0.5 };
        (from + share * (to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        if self.octaves {
            let first = (self.low / self.per).log2().ceil();
            let marks = (0..100).map(|i| self.per * (first + f64::from(i)).exp2());
            return marks.take_while(|m| *m <= self.high).collect();
        }
        marks(self.low / self.per, self.high / self.per, self.step).map(|m| m * self.per).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plotters::coord::ranged1d::BoldPoints;

    fn marks(range: (f64, f64), unit: &str, numbers: Numbers, most: usize) -> (String, String) {
        let axis = Axis { range, label: "x", unit, numbers };
        let scale = axis.scale(most);
        let marks: Vec<String> = scale.key_points(BoldPoints(most)).iter().map(|v| axis.number(*v, &scale)).collect();
        (axis.title(), marks.join(" "))
    }

    #[test]
    fn marks_are_round_in_the_unit_that_is_written() {
        let is = |title: &str, numbers: &str| (title.to_owned(), numbers.to_owned());
        assert_eq!(marks((-0.1, 1.138e9), "B/s", Numbers::Prefixed, 6), is("x (GiB/s)", "0 0.2 0.4 0.6 0.8 1.0"));
        assert_eq!(marks((0.0, 0.00295), "s", Numbers::Time, 6), is("x (ms)", "0 0.5 1.0 1.5 2.0 2.5"));
        assert_eq!(marks((-100.0, 2_678_400.0), "s", Numbers::Time, 10), is("x (d)", "0 5 10 15 20 25 30"));
        assert_eq!(marks((0.0, 100_000.0), "s", Numbers::Time, 6), is("x (h)", "0 5 10 15 20 25"));
        assert_eq!(marks((1.530_33, 1.5306), "s", Numbers::Time, 3), is("x (s)", "1.5304 1.5305 1.5306"));
        assert_eq!(marks((0.1, 2.6), "Hz", Numbers::Logarithmic, 6), is("x (Hz)", "0.125 0.250 0.500 1.00 2.00"));
        assert_eq!(marks((0.5, 3.5), "", Numbers::Bands(2), 6), is("x", "D1 D2 A2"));
        assert_eq!(marks((-1.05, 1.05), "", Numbers::Plain, 6), is("x", "-1.0 -0.5 0 0.5 1.0"));
    }

    #[test]
    fn marks_are_neither_few_nor_many() {
        for i in 1..2000 {
            let span = f64::from(i) * 0.57;
            let marks = span / round_step(span, 10);
            assert!((3.99..=10.01).contains(&marks), "{span} {marks}");
        }
        for range in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (1.0, 1.0), (0.0, 0.0)] {
            let axis = Axis { range, label: "x", unit: "B", numbers: Numbers::Prefixed };
            assert!(axis.scale(6).key_points(BoldPoints(6)).len() <= 100);
        }
    }

    #[test]
    fn marks_end_where_a_step_is_lost_in_rounding() {
        let step = round_step(1e-6, 9);
        assert_eq!(1e12 + step, 1e12);
        assert!(super::marks(1e12, 1e12 + 1e-3, step).count() <= 100);
        assert_eq!(super::marks(0.95, 3.05, 0.5).collect::<Vec<_>>(), [1.0, 1.5, 2.0, 2.5, 3.0]);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.300_000_000_000_000_04, 0.1), "0.3");
        assert_eq!(number(1500.0, 500.0), "1500");
        assert_eq!(number(-0.0, 1.0), "0");
        assert_eq!(number(0.0125, 0.0005), "0.0125");
    }
}
