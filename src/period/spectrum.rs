//! Candidates of a power spectrum by z-score: the published method (Tarraf & Wolf 2026, section 3.2, equations 2 and 3).

use statrs::statistics::Statistics;

use super::findings::{Candidate, SpectrumStatistics};
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
        let mut power: Vec<f64> = spectrum.power().into_iter().skip(1).collect();
        let total: f64 = power.iter().sum();
        // What rounding leaves of a constant is no power.
        let constant = spectrum.bins.first().map_or(0.0, |x| x.norm_sqr() / spectrum.len.max(1) as f64);
        if !(total > 1e-20 * constant && total.is_finite() && total > 0.0) {
            return None;
        }
        power.iter_mut().for_each(|p| *p /= total);
        let (mean, std) = (power.as_slice().mean(), power.as_slice().population_std_dev());
        let z = power.iter().map(|p| if std > 0.0 { (p - mean).abs() / std } else { 0.0 }).collect();
        let statistics = SpectrumStatistics { mean, std };
        Some(Powers { power, z, statistics, resolution_hz: spectrum.frequency(1, rate_hz) })
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

/// What the z-score test says: bins in order of their power.
#[derive(Debug, Clone, PartialEq)]
pub struct Outliers {
    /// Bins that pass, each with the lower candidate of which it is a harmonic, if it is one.
    pub bins: Vec<(usize, Option<usize>)>,
}

impl Outliers {
    /// Candidates proper: those that are no harmonics.
    pub fn fundamentals(&self) -> impl Iterator<Item = usize> + '_ {
        self.bins.iter().filter(|(_, h)| h.is_none()).map(|(k, _)| *k)
    }

    /// The dominant bin: the only candidate, or the stronger of two; more than two are not periodic.
    pub fn dominant(&self) -> Option<usize> {
        let mut f = self.fundamentals();
        let strongest = f.next();
        if f.count() <= 1 { strongest } else { None }
    }
}

/// Bins whose power stands out: z ≥ 3 and z / z_max ≥ `tolerance` (equation 3). A candidate at a whole multiple of a lower
/// one is its harmonic: it says "bursts", not "another period".
pub fn z_score(powers: &Powers, tolerance: f64) -> Outliers {
    let top = powers.z.iter().copied().fold(0.0, f64::max);
    let outlier = |k: usize| powers.z_of(k) >= OUTLIER && powers.z_of(k) >= tolerance * top;
    let mut fundamentals: Vec<usize> = Vec::new();
    let mut bins = Vec::new();
    for k in (1..=powers.z.len()).filter(|k| outlier(*k)) {
        let of = fundamentals.iter().copied().find(|f| k % f == 0);
        if of.is_none() {
            fundamentals.push(k);
        }
        bins.push((k, of));
    }
    bins.sort_by(|a, b| powers.z_of(b.0).total_cmp(&powers.z_of(a.0)).then(a.0.cmp(&b.0)));
    Outliers { bins }
}

/// Confidence of each candidate, as the published program has it: half the sum of two shares of z_k, one among the bins with
/// z / z_max > `tolerance`, one among all bins with z > 3, harmonics of candidates left out of both.
pub fn candidates(powers: &Powers, outliers: &Outliers, tolerance: f64) -> Vec<Candidate> {
    let top = powers.z.iter().copied().fold(0.0, f64::max);
    let harmonic = |k: usize| outliers.bins.iter().any(|(b, of)| *b == k && of.is_some());
    let sum = |keep: &dyn Fn(f64) -> bool| -> f64 {
        (1..=powers.z.len()).filter(|k| keep(powers.z_of(*k)) && !harmonic(*k)).map(|k| powers.z_of(k)).sum()
    };
    let (near_top, all) = (sum(&|z| z > tolerance * top), sum(&|z| z > OUTLIER));
    let share = |z: f64, of: f64| if of > 0.0 { (z / of).min(1.0) } else { 0.0 };
    let candidate = |(k, of): &(usize, Option<usize>)| {
        let z = powers.z_of(*k);
        Candidate {
            frequency_hz: powers.frequency(*k),
            period_s: 1.0 / powers.frequency(*k),
            confidence: 0.5 * (share(z, near_top) + share(z, all)),
            score: z,
            harmonic_of: of.map(|f| powers.frequency(f)),
        }
    };
    outliers.bins.iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn powers(x: &[f64]) -> Powers {
        Powers::of(&Spectrum::of(x), 10.0).unwrap()
    }

    fn cosines(n: usize, parts: &[(usize, f64)]) -> Vec<f64> {
        let at = |i: usize| parts.iter().map(|(k, a)| a * (TAU * (*k * i) as f64 / n as f64).cos()).sum::<f64>();
        (0..n).map(|i| 5.0 + at(i)).collect()
    }

    #[test]
    fn one_two_and_three_candidates() {
        let one = powers(&cosines(400, &[(7, 1.0)]));
        assert!((one.power.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let o = z_score(&one, 0.8);
        assert_eq!((o.dominant(), o.bins.len()), (Some(7), 1));
        let c = &candidates(&one, &o, 0.8)[0];
        assert!((c.frequency_hz - 0.175).abs() < 1e-12 && (c.confidence - 1.0).abs() < 1e-12);

        let two = powers(&cosines(400, &[(7, 1.0), (11, 1.02)]));
        let o = z_score(&two, 0.8);
        assert_eq!(o.dominant(), Some(11));
        let c = candidates(&two, &o, 0.8);
        assert!(c[0].confidence > 0.5 && c[0].confidence < 0.53 && c[1].confidence < 0.5);

        let three = powers(&cosines(400, &[(7, 1.0), (11, 1.0), (13, 1.0)]));
        assert_eq!(z_score(&three, 0.8).dominant(), None);
    }

    #[test]
    fn harmonics_are_no_candidates() {
        let p = powers(&cosines(400, &[(7, 1.0), (14, 0.98), (21, 0.97)]));
        let o = z_score(&p, 0.8);
        assert_eq!(o.dominant(), Some(7));
        assert_eq!(o.bins, [(7, None), (14, Some(7)), (21, Some(7))]);
        let c = candidates(&p, &o, 0.8);
        assert!((c[0].confidence - 1.0).abs() < 1e-9, "{c:?}");
        assert_eq!(c[1].harmonic_of, Some(c[0].frequency_hz));
    }

    #[test]
    fn z_scores_by_hand() {
        // Powers 1, 2 and 6 of 9: mean 1/3, population variance ((2/9)² + (1/9)² + (3/9)²) / 3.
        let x: Vec<f64> = cosines(6, &[(1, 1.0), (2, 2f64.sqrt())]);
        let p = powers(&x);
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
