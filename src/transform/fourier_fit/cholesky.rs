//! Cholesky factor of a small symmetric matrix that may be singular.

use ndarray::{Array2, ArrayView2};

/// L of A = L Lᵀ.
#[derive(Debug, Clone)]
pub(super) struct Cholesky {
    lower: Array2<f64>,
}

impl Cholesky {
    /// Factor of a positive semidefinite matrix, of which the lower triangle is read. A pivot at or below `least` is
    /// rounding: it is taken to be infinite, so that what the matrix does not determine is 0 in every solution.
    pub fn of(matrix: &ArrayView2<f64>, least: f64) -> Cholesky {
        let n = matrix.nrows();
        let mut lower = Array2::<f64>::zeros((n, n));
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = lower.row(i).iter().zip(lower.row(j)).take(j).map(|(a, b)| a * b).sum();
                let rest = matrix[[i, j]] - dot;
                lower[[i, j]] =
                    if i == j { if rest <= least { f64::INFINITY } else { rest.sqrt() } } else { rest / lower[[j, j]] };
            }
        }
        Cholesky { lower }
    }

    /// L⁻¹ b, in place.
    pub fn forward(&self, b: &mut [f64]) {
        for i in 0..b.len() {
            let dot: f64 = self.lower.row(i).iter().zip(b.iter()).take(i).map(|(a, b)| a * b).sum();
            b[i] = (b[i] - dot) / self.lower[[i, i]];
        }
    }

    /// A⁻¹ b, in place.
    pub fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        for i in (0..b.len()).rev() {
            b[i] /= self.lower[[i, i]];
            let x = b[i];
            b.iter_mut().zip(self.lower.row(i)).take(i).for_each(|(b, l)| *b -= l * x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn solves() {
        let a = array![[4.0, 2.0, 0.6], [2.0, 5.0, 1.0], [0.6, 1.0, 3.0]];
        let mut x = a.dot(&array![1.0, -2.0, 3.0]).to_vec();
        Cholesky::of(&a.view(), 0.0).solve(&mut x);
        assert!(x.iter().zip([1.0, -2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-14));
    }

    #[test]
    fn what_is_not_determined_is_zero() {
        let a = array![[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]];
        let mut x = [2.0, 2.0, 1e-16];
        Cholesky::of(&a.view(), 1e-12).solve(&mut x);
        assert_eq!(x, [2.0, 0.0, 0.0]);
    }
}
