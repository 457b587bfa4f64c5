//! The transform over several levels, and its parts reconstructed at the length of the signal.
//!
//! Level j halves the band again: its details hold about [f_s/2^{j+1}, f_s/2^j] (Tarraf & Wolf 2025, section 5.2), and the
//! last approximation holds all lower frequencies. A part *at full length* is what [`Decomposition::signal`] gives if
//! all other coefficients are zero. So, with A_j and D_j the approximation and the details of level j at full length,
//! x = A_J + D_J + … + D_1 and A_{j−1} = A_j + D_j, to rounding (a multiresolution analysis, Mallat 1989).

use super::{Boundary, Error, Result, Wavelet, dwt, idwt};

/// Which part of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Band {
    /// Frequencies below the band of the level.
    Approximation,
    /// The band of the level.
    Detail,
}

/// Wavelet decomposition of a signal of N samples to level J.
#[derive(Debug, Clone)]
pub struct Decomposition {
    wavelet: Wavelet,
    /// Length of what each level was computed from: N first.
    lengths: Vec<usize>,
    approximation: Vec<f64>,
    /// Finest first: level 1 … J.
    details: Vec<Vec<f64>>,
}

impl Decomposition {
    /// Decomposes `x` to `levels` levels. O(N L).
    ///
    /// Errors: no samples, or too few for one level; no level; a level above `Wavelet::max_level`, where every coefficient would
    /// depend on the boundary.
    pub fn of(x: &[f64], wavelet: &Wavelet, boundary: Boundary, levels: usize) -> Result<Decomposition> {
        if x.is_empty() {
            return Err(Error::Empty);
        }
        let deepest = wavelet.max_level(x.len());
        if deepest == 0 {
            return Err(Error::TooShort { len: x.len(), needed: 2 * (wavelet.scaling().len() - 1) });
        }
        if levels == 0 || levels > deepest {
            let rule = format!("from 1 to {deepest} for {} samples and {wavelet}", x.len());
            return Err(Error::parameter("level", levels as f64, rule));
        }
        let (mut approximation, detail) = dwt(x, wavelet, boundary)?;
        let mut lengths = vec![x.len()];
        let mut details = vec![detail];
        for _ in 1..levels {
            lengths.push(approximation.len());
            let (low, high) = dwt(&approximation, wavelet, boundary)?;
            details.push(high);
            approximation = low;
        }
        Ok(Decomposition { wavelet: *wavelet, lengths, approximation, details })
    }

    /// J, the number of levels.
    pub fn levels(&self) -> usize {
        self.details.len()
    }

    /// Coefficients of the approximation of the last level.
    pub fn approximation(&self) -> &[f64] {
        &self.approximation
    }

    /// Coefficients of the details of level 1 … J. Errors: no such level.
    pub fn details(&self, level: usize) -> Result<&[f64]> {
        self.check(level)?;
        Ok(&self.details[level - 1])
    }

    /// The reconstructed signal, N samples.
    pub fn signal(&self) -> Result<Vec<f64>> {
        self.approximation_coefficients(0)
    }

    /// The approximation or the details of level 1 … J at full length, N samples. Errors: no such level.
    pub fn at_full_length(&self, band: Band, level: usize) -> Result<Vec<f64>> {
        self.check(level)?;
        // Only the first step depends on the band; its result is the approximation of the next finer level.
        let len = self.lengths[level - 1];
        let first = match band {
            Band::Approximation => idwt(Some(&self.approximation_coefficients(level)?), None, &self.wavelet, len)?,
            Band::Detail => idwt(None, Some(&self.details[level - 1]), &self.wavelet, len)?,
        };
        let finer = self.lengths[..level - 1].iter().rev();
        finer.into_iter().try_fold(first, |low, &len| idwt(Some(&low), None, &self.wavelet, len))
    }

    /// Lower and upper end in Hz of a band of level j at a sampling rate in Hz: [f_s/2^{j+1}, f_s/2^j] for the details,
    /// [0, f_s/2^{j+1}] for the approximation. The filters are not ideal: a band leaks into its neighbours.
    pub fn frequencies(band: Band, level: usize, rate_hz: f64) -> (f64, f64) {
        let edge = rate_hz * 0.5f64.powi(level.min(1000) as i32 + 1);
        match band {
            Band::Approximation => (0.0, edge),
            Band::Detail => (edge, 2.0 * edge),
        }
    }

    /// Coefficients of the approximation of level 0 (the signal itself) … J.
    fn approximation_coefficients(&self, level: usize) -> Result<Vec<f64>> {
        let finer = self.details[level..].iter().zip(&self.lengths[level..]).rev();
        finer
            .into_iter()
            .try_fold(self.approximation.clone(), |low, (high, &len)| idwt(Some(&low), Some(high), &self.wavelet, len))
    }

    fn check(&self, level: usize) -> Result<()> {
        if level == 0 || level > self.levels() {
            return Err(Error::parameter("level", level as f64, format!("from 1 to {}", self.levels())));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_sum_to_the_signal(x in prop::collection::vec(-1e3..1e3f64, 2..400), which in 0usize..24, boundary in 0usize..3) {
            let w = Wavelet::all().nth(which).unwrap();
            let boundary = [Boundary::Symmetric, Boundary::Periodic, Boundary::Zero][boundary];
            let levels = w.max_level(x.len());
            prop_assume!(levels > 0);
            let d = Decomposition::of(&x, &w, boundary, levels).unwrap();
            let near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
            prop_assert!(near(&d.signal().unwrap(), &x));
            let mut finer = x.clone();
            for level in 1..=levels {
                let a = d.at_full_length(Band::Approximation, level).unwrap();
                let detail = d.at_full_length(Band::Detail, level).unwrap();
                let sum: Vec<f64> = a.iter().zip(&detail).map(|(a, b)| a + b).collect();
                prop_assert!(near(&sum, &finer), "{} level {}", w, level);
                finer = a;
            }
        }
    }

    #[test]
    fn haar_approximation_is_the_mean_of_each_block() {
        let x: Vec<f64> = (0..64).map(|n| f64::from((n * n * 7) % 31)).collect();
        let d = Decomposition::of(&x, &Wavelet::haar(), Boundary::Symmetric, 3).unwrap();
        let a = d.at_full_length(Band::Approximation, 3).unwrap();
        for (cell, smooth) in x.chunks(8).zip(a.chunks(8)) {
            let mean = cell.iter().sum::<f64>() / 8.0;
            assert!(smooth.iter().all(|v| (v - mean).abs() < 1e-12));
        }
    }

    #[test]
    fn bands_of_neighbouring_levels_meet() {
        assert_eq!(Decomposition::frequencies(Band::Detail, 1, 10.0), (2.5, 5.0));
        assert_eq!(Decomposition::frequencies(Band::Detail, 2, 10.0), (1.25, 2.5));
        assert_eq!(Decomposition::frequencies(Band::Approximation, 2, 10.0), (0.0, 1.25));
    }

    #[test]
    fn levels_that_a_signal_is_too_short_for_are_refused() {
        let haar = Wavelet::haar();
        let of = |x: &[f64], levels| Decomposition::of(x, &haar, Boundary::Zero, levels);
        assert_eq!(of(&[], 1).unwrap_err(), Error::Empty);
        assert_eq!(of(&[1.0], 1).unwrap_err(), Error::TooShort { len: 1, needed: 2 });
        assert!(matches!(of(&[1.0; 8], 0), Err(Error::Parameter { name: "level", .. })));
        assert!(matches!(of(&[1.0; 8], 4), Err(Error::Parameter { name: "level", .. })));
        let d = of(&[1.0; 8], 3).unwrap();
        assert!(d.details(0).is_err() && d.details(4).is_err() && d.at_full_length(Band::Detail, 4).is_err());
        let d = of(&[f64::NAN; 9], 2).unwrap();
        assert!(d.signal().unwrap().iter().all(|v| v.is_nan()));
    }
}
