//! The normalised power spectrum of a signal and the z-scores of its bins (Tarraf & Wolf 2026, section 3.2, equation 2).

use statrs::statistics::Statistics;

use super::findings::SpectrumStatistics;
use crate::transform::Spectrum;

/// A z-score from which on a power is an outlier (equation 3).
pub const OUTLIER: f64 = 3.0;

/// Normalised powers of a signal with the z-scores of its bins.
#[derive(Debug, Clone)]
pub struct Powers {
    /// p_k / Σ p for k = 1 … ⌊N/2⌋; entry 0 belongs to k = 1.
    pub power: Vec<f64>,
    /// z_k = |p_k − p̄| / σ, population σ; all 0 if σ is 0.
    pub z: Vec<f64>,
    /// Mean and standard deviation.
    pub statistics: SpectrumStatistics,
    /// Hz from one bin to the next.
    pub resolution_hz: f64,
}

impl Powers {
    /// Of a spectrum at a sampling rate; `None` if there are fewer than two samples or no power beside the mean.
    pub fn of(spectrum: &Spectrum, rate_hz: f64) -> Option<Powers> {
        let power: Vec<f64> = spectrum.power().into_iter().skip(1).collect();
        let constant = spectrum.bins.first().map_or(0.0, |x| x.norm_sqr() / spectrum.len.max(1) as f64);
        Powers::of_power(power, spectrum.frequency(1, rate_hz), constant)
    }

    /// Of the powers of bins 1, 2, …, `resolution_hz` apart; `constant` is the power of the mean of the signal. `None` if there
    /// is no power beside it.
    pub fn of_power(mut power: Vec<f64>, resolution_hz: f64, constant: f64) -> Option<Powers> {
        let total: f64 = power.iter().sum();
        // The rounding error of a constant is no power.
        if !(total > 1e-20 * constant && total.is_finite() && total > 0.0) {
            return None;
        }
        power.iter_mut().for_each(|p| *p /= total);
        let (mean, std) = (power.as_slice().mean(), power.as_slice().population_std_dev());
        let z = power.iter().map(|p| if std > 0.0 { (p - mean).abs() / std } else { 0.0 }).collect();
        Some(Powers { power, z, statistics: SpectrumStatistics { mean, std }, resolution_hz })
    }

    /// Frequency of bin `k` in Hz.
    pub fn frequency(&self, k: usize) -> f64 {
        k as f64 * self.resolution_hz
    }

    /// z-score of bin `k` ≥ 1; 0 beyond the last.
    pub fn z_of(&self, k: usize) -> f64 {
        k.checked_sub(1).and_then(|i| self.z.get(i)).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn z_scores_by_hand() {
        // Powers 1, 2 and 6 of 9: mean 1/3, population variance ((2/9)² + (1/9)² + (3/9)²) / 3.
        let at = |n: f64| 5.0 + (TAU * n / 6.0).cos() + 2f64.sqrt() * (TAU * 2.0 * n / 6.0).cos();
        let x: Vec<f64> = (0..6).map(|n| at(f64::from(n))).collect();
        let p = Powers::of(&Spectrum::of(&x), 10.0).unwrap();
        assert!((p.power.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let var = p.power.iter().map(|v| (v - 1.0 / 3.0).powi(2)).sum::<f64>() / 3.0;
        assert!((p.statistics.mean - 1.0 / 3.0).abs() < 1e-12 && (p.statistics.std - var.sqrt()).abs() < 1e-12);
        assert!((p.z_of(1) - (p.power[0] - 1.0 / 3.0).abs() / var.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_constant_has_no_powers() {
        for x in [vec![], vec![1.0], vec![3.3; 101], vec![0.0; 10], vec![f64::NAN; 4]] {
            assert!(Powers::of(&Spectrum::of(&x), 1.0).is_none(), "{x:?}");
        }
    }
}
