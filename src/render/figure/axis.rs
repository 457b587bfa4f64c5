//! Axes: round marks, and the unit and the digits that their numbers are written with.

use serde::Serialize;

use crate::render::units::{byte_prefix, digits, si_prefix, time_unit, utc};

const DAY_S: f64 = 86_400.0;

/// How the numbers at an axis are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Numbers {
    /// With a prefix before the unit: a binary one for bytes, else of the SI.
    Prefixed,
    /// Data in seconds, written in milliseconds to days.
    Time,
    /// Seconds since 1970, written as dates of UTC.
    Date,
    /// As they are.
    Plain,
    /// Counts of things.
    Whole,
    /// With an SI prefix before the unit, on a logarithmic axis.
    Logarithmic,
}

/// An axis: its range in the unit of the data, its label without unit, and the unit.
#[derive(Debug, Clone, Serialize)]
pub struct Axis {
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// Its label: the quantity shown.
    pub label: String,
    /// Unit of the data, seconds where that is time.
    pub unit: &'static str,
    /// How its numbers are written.
    pub numbers: Numbers,
    /// Names in the place of numbers, each at its value.
    #[serde(skip)]
    pub names: Option<Vec<(f64, String)>>,
}

impl Axis {
    /// An axis with numbers.
    pub fn new(range: (f64, f64), label: impl Into<String>, unit: &'static str, numbers: Numbers) -> Axis {
        let range = if range.1 > range.0 { range } else { (range.0, range.0 + 1.0) };
        Axis { range, label: label.into(), unit, numbers, names: None }
    }

    /// Bytes per second from zero to a little more than `top`.
    pub fn rate(top: f64) -> Axis {
        Axis::new((0.0, headroom(top)), "Bandwidth", "B/s", Numbers::Prefixed)
    }

    /// An axis with names.
    pub fn named(range: (f64, f64), label: impl Into<String>, names: Vec<(f64, String)>) -> Axis {
        Axis { names: Some(names), ..Axis::new(range, label, "", Numbers::Plain) }
    }

    /// Units of the data in one of those that are written, and what makes the one from the other: (1e6, "M"), or (3600, "h") if
    /// that is a unit of its own.
    pub fn unit(&self) -> (f64, String) {
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
            Numbers::Date | Numbers::Plain | Numbers::Whole => (1.0, self.unit.to_owned()),
        }
    }

    /// The text beside the axis: `Bandwidth (MB/s)`.
    pub fn title(&self) -> String {
        match (&*self.unit().1, &*self.label) {
            ("", label) => label.to_owned(),
            (unit, "") => unit.to_owned(),
            (unit, label) => format!("{label} ({unit})"),
        }
    }

    /// Its marks, at most about `most`: values and what is written at them.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let per = self.unit().0;
        let (low, high) = (self.range.0 / per, self.range.1 / per);
        if let Some(names) = &self.names {
            return names.iter().step_by(names.len().div_ceil(most.max(1)).max(1)).cloned().collect();
        }
        if self.numbers == Numbers::Logarithmic {
            let all = (0..100).map(|i| (low.log2().ceil() + f64::from(i)).exp2()).take_while(|m| *m <= high);
            return all.map(|m| (m * per, digits(m))).collect();
        }
        if self.numbers == Numbers::Date {
            let step = date_step(high - low, most);
            return marks(low, high, step).map(|m| (m, date(m, step))).collect();
        }
        let least = if self.numbers == Numbers::Whole { 1.0 } else { 0.0 };
        let step = round_step(high - low, most).max(least);
        marks(low, high, step).map(|m| (m * per, number(m, step))).collect()
    }

    /// Where a value lies between the ends, 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let along = |x: f64| if self.numbers == Numbers::Logarithmic { x.max(self.range.0).log2() } else { x };
        let (low, high) = (along(self.range.0), along(self.range.1));
        (along(value) - low) / (high - low)
    }
}

/// A little more than `x`, for the top of an axis.
pub fn headroom(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { x * 1.06 } else { 1.0 }
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

/// The smallest step between dates of which at most `most` fit into `span`: parts of a day or days.
fn date_step(span: f64, most: usize) -> f64 {
    const PARTS: [f64; 9] = [1.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 10_800.0, 21_600.0, 43_200.0];
    let part = PARTS.into_iter().find(|s| span <= s * most as f64);
    part.unwrap_or_else(|| round_step(span / DAY_S, most).max(1.0) * DAY_S)
}

/// A time as `2026-01-31`, or `01-31 12:05` if the next is on the same day.
fn date(unix_s: f64, step: f64) -> String {
    let text = utc(unix_s);
    let (day, time) = text.split_once(' ').unwrap_or((&text, ""));
    if step >= DAY_S {
        return day.to_owned();
    }
    let seconds = if step < 60.0 { 8 } else { 5 };
    format!("{} {}", &day[day.len().saturating_sub(5)..], &time[..seconds.min(time.len())])
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(range: (f64, f64), unit: &'static str, numbers: Numbers, most: usize) -> (String, String) {
        let axis = Axis::new(range, "x", unit, numbers);
        (axis.title(), axis.ticks(most).into_iter().map(|t| t.1).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn marks_are_round_in_the_unit_that_is_written() {
        let is = |title: &str, numbers: &str| (title.to_owned(), numbers.to_owned());
        assert_eq!(ticks((-0.1, 1.138e9), "B/s", Numbers::Prefixed, 6), is("x (GiB/s)", "0 0.2 0.4 0.6 0.8 1.0"));
        assert_eq!(ticks((0.0, 0.00295), "s", Numbers::Time, 6), is("x (ms)", "0 0.5 1.0 1.5 2.0 2.5"));
        assert_eq!(ticks((-100.0, 2_678_400.0), "s", Numbers::Time, 10), is("x (d)", "0 5 10 15 20 25 30"));
        assert_eq!(ticks((0.0, 100_000.0), "s", Numbers::Time, 6), is("x (h)", "0 5 10 15 20 25"));
        assert_eq!(ticks((1.530_33, 1.5306), "s", Numbers::Time, 3), is("x (s)", "1.5304 1.5305 1.5306"));
        assert_eq!(ticks((0.1, 2.6), "Hz", Numbers::Logarithmic, 6), is("x (Hz)", "0.125 0.250 0.500 1.00 2.00"));
        assert_eq!(ticks((1.0, 4.0), "", Numbers::Whole, 12), is("x", "1 2 3 4"));
        assert_eq!(ticks((-1.05, 1.05), "", Numbers::Plain, 6), is("x", "-1.0 -0.5 0 0.5 1.0"));
        let day = 1_769_817_600.0;
        assert_eq!(ticks((day, day + 90.0 * 86_400.0), "", Numbers::Date, 3), is("x", "2026-02-16 2026-04-07"));
        assert_eq!(ticks((day, day + 14_000.0), "", Numbers::Date, 3), is("x", "01-31 00:00 01-31 03:00"));
        assert_eq!(
            ticks((day, day + 2.0), "", Numbers::Date, 2),
            is("x", "01-31 00:00:00 01-31 00:00:01 01-31 00:00:02")
        );
    }

    #[test]
    fn marks_are_neither_few_nor_many() {
        for i in 1..2000 {
            let span = f64::from(i) * 0.57;
            let marks = span / round_step(span, 10);
            assert!((3.99..=10.01).contains(&marks), "{span} {marks}");
        }
        for range in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (1.0, 1.0), (0.0, 0.0)] {
            assert!(Axis::new(range, "x", "B", Numbers::Prefixed).ticks(6).len() <= 100);
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
