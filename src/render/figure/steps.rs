//! Step curves: values on an even grid.

use serde::Serialize;

/// A step curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Steps {
    /// Where the first value begins.
    pub start: f64,
    /// From one value to the next.
    pub step: f64,
    /// The values.
    pub values: Vec<f64>,
}

/// Five significant digits: more are not seen.
pub fn short(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() { 0.0 } else { format!("{x:.4e}").parse().unwrap_or(x) }
}

impl Steps {
    /// Its part in a range, with the values that can be seen.
    pub fn part(&self, range: (f64, f64)) -> Steps {
        let at = |t: f64| (((t - self.start) / self.step).max(0.0) as usize).min(self.values.len());
        let (from, to) = (at(range.0), at(range.1 + self.step).max(at(range.0)));
        Steps { start: self.start + from as f64 * self.step, values: self.values[from..to].to_vec(), ..*self }
    }

    /// The same with at most `most` values, each made of a group.
    fn grouped(&self, most: usize, of: impl Fn(&[f64]) -> f64) -> Steps {
        let group = self.values.len().div_ceil(most.max(1)).max(1);
        let values = self.values.chunks(group).map(of).collect();
        Steps { values, step: self.step * group as f64, ..*self }
    }

    /// The same with at most `most` values, each the mean of its part.
    pub fn coarse(&self, most: usize) -> Steps {
        self.grouped(most, |part| part.iter().sum::<f64>() / part.len() as f64)
    }

    /// The same with at most `most` values, of neighbours that farthest from zero; what is written keeps what is seen.
    pub fn thinned(&self, most: usize) -> Steps {
        let far =
            |part: &[f64]| short(part.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a }));
        self.grouped(most, far)
    }

    /// Smallest and largest value, and zero.
    pub fn ends(&self) -> (f64, f64) {
        self.values.iter().fold((0.0, 0.0), |(low, high), v| (v.min(low), v.max(high)))
    }

    /// Where value `i` begins.
    pub fn at(&self, i: usize) -> f64 {
        self.start + i as f64 * self.step
    }

    /// Corners of the curve, of columns with several values the first, highest, lowest and last, so that no burst is lost and a
    /// picture of a million samples stays small.
    pub fn corners(&self, columns: usize) -> Vec<(f64, f64)> {
        let group = self.values.len().div_ceil(columns.max(1)).max(1);
        let mut out = Vec::new();
        for (i, part) in self.values.chunks(group).enumerate() {
            let (a, b) = (self.at(i * group), self.at(i * group + part.len()));
            let (low, high) = part.iter().fold((part[0], part[0]), |(l, h), v| (v.min(l), v.max(h)));
            match part {
                [one] => out.extend([(a, *one), (b, *one)]),
                _ => out.extend([(a, part[0]), (a, high), (b, low), (b, part[part.len() - 1])]),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_bursts() {
        let mut values = vec![0.0; 1_000_000];
        values[777_777] = 5.0;
        let curve = Steps { start: 0.0, step: 1.0, values };
        let p = curve.corners(1500);
        assert!(p.len() < 10_000 && p.iter().any(|(t, y)| *y == 5.0 && (t - 777_777.0).abs() < 1000.0));
        assert_eq!(curve.thinned(100).values.iter().filter(|v| **v == 5.0).count(), 1);
    }

    #[test]
    fn a_part_has_the_values_of_its_range() {
        let curve = Steps { start: 10.0, step: 2.0, values: vec![1.0, 2.0, 3.0, 4.0] };
        assert_eq!(curve.part((12.5, 14.5)), Steps { start: 12.0, step: 2.0, values: vec![2.0, 3.0] });
        assert_eq!(curve.part((0.0, 1e9)), curve);
        assert!(curve.part((90.0, 91.0)).values.is_empty());
    }
}
