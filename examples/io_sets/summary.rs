//! Means over seeds with their uncertainty.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean and half the width of its 95 % interval.
#[derive(Debug, Clone, Copy)]
pub struct Mean {
    pub value: f64,
    pub half: f64,
}

impl Mean {
    pub fn of(values: &[f64]) -> Mean {
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - value).powi(2)).sum::<f64>() / (n - 1.0);
        Mean { value, half: t95(n) * (variance / n).sqrt() }
    }

    /// The ratio of two means of paired values.
    pub fn ratio(above: &[f64], below: &[f64]) -> Mean {
        let n = above.len().min(below.len());
        let (above, below) = (&above[..n], &below[..n]);
        let value = above.iter().sum::<f64>() / below.iter().sum::<f64>();
        let rest: Vec<f64> = above.iter().zip(below).map(|(a, b)| a - value * b).collect();
        Mean { value, half: Mean::of(&rest).half / Mean::of(below).value.abs() }
    }

    pub fn text(self, digits: usize) -> String {
        match self.half.is_finite() {
            true => format!("{:.digits$} ± {:.digits$}", self.value, self.half),
            false => format!("{:.digits$}", self.value),
        }
    }

    pub fn percent(self) -> String {
        Mean { value: 100.0 * self.value, half: 100.0 * self.half }.text(1)
    }
}

/// The quantile of Student's t for a two-sided interval of 95 % of the mean of n values; infinite for one value.
fn t95(n: f64) -> f64 {
    StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}
