//! Cholesky factors of small symmetric matrices.

/// A symmetric matrix of which only the lower triangle is kept, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Symmetric {
    order: usize,
    lower: Vec<f64>,
}

impl Symmetric {
    /// The matrix with entry `f(row, column)`, called for row ≥ column only.
    pub(super) fn from_fn(order: usize, mut f: impl FnMut(usize, usize) -> f64) -> Symmetric {
        let mut lower = Vec::with_capacity(order * (order + 1) / 2);
        for row in 0..order {
            for column in 0..=row {
                lower.push(f(row, column));
            }
        }
        Symmetric { order, lower }
    }

    /// Entry at `row` ≥ `column`.
    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        self.lower[row * (row + 1) / 2 + column]
    }

    /// L with L Lᵀ = A + diag(`shift`), or `None` if that is not positive definite up to rounding.
    pub(super) fn cholesky(&self, shift: &[f64]) -> Option<Cholesky> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(self.order);
        for (i, shift) in shift.iter().enumerate().take(self.order) {
            let mut row: Vec<f64> = Vec::with_capacity(i + 1);
            for (j, above) in rows.iter().enumerate() {
                let dot: f64 = row.iter().zip(above).map(|(a, b)| a * b).sum();
                row.push((self.get(i, j) - dot) / above[j]);
            }
            let own = self.get(i, i) + shift;
            let rest = own - row.iter().map(|v| v * v).sum::<f64>();
            // Written so that NaN fails too.
            if !(rest > f64::EPSILON * own.abs() && rest.is_finite()) {
                return None;
            }
            row.push(rest.sqrt());
            rows.push(row);
        }
        Some(Cholesky { rows })
    }
}

/// The lower triangular factor of a positive definite matrix.
#[derive(Debug, Clone)]
pub(super) struct Cholesky {
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    /// L⁻¹ b.
    pub(super) fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = Vec::with_capacity(b.len());
        for (i, (row, b)) in self.rows.iter().zip(b).enumerate() {
            let dot: f64 = row.iter().zip(&y).map(|(a, b)| a * b).sum();
            y.push((b - dot) / row[i]);
        }
        y
    }

    /// (L Lᵀ)⁻¹ b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        for i in (0..x.len()).rev() {
            let done = x[i] / self.rows[i][i];
            x[i] = done;
            for (earlier, l) in x.iter_mut().zip(&self.rows[i]).take(i) {
                *earlier -= l * done;
            }
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn solution_solves_the_system(entries in prop::collection::vec(-1.0..1.0f64, 36), b in prop::collection::vec(-1.0..1.0f64, 6)) {
            // B Bᵀ + I is positive definite.
            let at = |i: usize, j: usize| (0..6).map(|k| entries[6 * i + k] * entries[6 * j + k]).sum::<f64>();
            let x = Symmetric::from_fn(6, at).cholesky(&[1.0; 6]).unwrap().solve(&b);
            for i in 0..6 {
                let ax: f64 = x[i] + (0..6).map(|j| at(i, j) * x[j]).sum::<f64>();
                prop_assert!((ax - b[i]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn matrices_that_are_not_positive_definite_are_refused() {
        let indefinite = Symmetric::from_fn(2, |i, j| if i == j { 1.0 } else { 2.0 });
        assert!(indefinite.cholesky(&[0.0; 2]).is_none());
        assert!(indefinite.cholesky(&[2.0; 2]).is_some());
        assert!(Symmetric::from_fn(1, |_, _| f64::NAN).cholesky(&[0.0]).is_none());
    }
}
