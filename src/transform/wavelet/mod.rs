//! The discrete wavelet transform: a signal as one coarse approximation and details on increasingly fine scales.
//!
//! [`Wavelet`] names a filter, [`dwt`] and [`idwt`] are one step of analysis and synthesis, [`Decomposition`] is the whole pyramid and
//! reconstructs the signal or any part of it at full length. All of it is O(N L) for a filter of L taps (Mallat 1989;
//! section 5.2 of Tarraf & Wolf 2025). A new wavelet is one row in `coefficients.rs`.

mod coefficients;
mod decomposition;
mod step;

use std::fmt;
use std::str::FromStr;

pub use decomposition::{Band, Decomposition};
pub use step::{Boundary, dwt, idwt};

use super::{Error, Result};

/// An orthogonal wavelet, given by its scaling filter.
#[derive(Clone, Copy, PartialEq)]
pub struct Wavelet {
    name: &'static str,
    scaling: &'static [f64],
}

impl Wavelet {
    /// The wavelet of that name, in any case: `haar` (or `db1`), `db2` … `db10`, `sym2` … `sym10`, `coif1` … `coif5`.
    /// Errors: no such wavelet.
    pub fn named(name: &str) -> Result<Wavelet> {
        let lower = name.to_ascii_lowercase();
        let wanted = if lower == "db1" { "haar" } else { &lower };
        Wavelet::all().find(|w| w.name == wanted).ok_or_else(|| Error::UnknownWavelet(name.to_owned()))
    }

    /// The Haar wavelet: the mean of two neighbours and their difference.
    pub fn haar() -> Wavelet {
        Wavelet { name: "haar", scaling: coefficients::HAAR }
    }

    /// All wavelets.
    pub fn all() -> impl Iterator<Item = Wavelet> {
        coefficients::FILTERS.iter().map(|&(name, scaling)| Wavelet { name, scaling })
    }

    /// Its name, in lower case.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The scaling (low-pass) filter h of the synthesis, an even number L of taps; Σ h = √2.
    pub(crate) fn scaling(&self) -> &'static [f64] {
        self.scaling
    }

    /// The wavelet (high-pass) filter of the synthesis, g_k = (−1)^k h_{L−1−k}.
    pub(crate) fn detail(&self) -> Vec<f64> {
        self.scaling.iter().rev().enumerate().map(|(k, h)| if k % 2 == 0 { *h } else { -h }).collect()
    }

    /// The deepest level at which some coefficient of a signal of `len` samples does not depend on the boundary: ⌊log2(len / (L − 1))⌋, at
    /// least 0.
    pub fn max_level(&self, len: usize) -> usize {
        (len / (self.scaling.len() - 1)).checked_ilog2().unwrap_or(0) as usize
    }
}

impl fmt::Debug for Wavelet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wavelet({})", self.name)
    }
}

impl fmt::Display for Wavelet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl FromStr for Wavelet {
    type Err = Error;

    fn from_str(name: &str) -> Result<Wavelet> {
        Wavelet::named(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_orthonormal() {
        assert_eq!(Wavelet::all().count(), 1 + 9 + 9 + 5);
        for w in Wavelet::all() {
            let (h, g) = (w.scaling(), w.detail());
            assert!(h.len().is_multiple_of(2));
            let product =
                |a: &[f64], b: &[f64], shift: usize| a[shift..].iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            for shift in (0..h.len()).step_by(2) {
                let one = if shift == 0 { 1.0 } else { 0.0 };
                assert!((product(h, h, shift) - one).abs() < 1e-14, "{w} low, shift {shift}");
                assert!((product(&g, &g, shift) - one).abs() < 1e-14, "{w} high, shift {shift}");
                assert!(product(h, &g, shift).abs() < 1e-14 && product(&g, h, shift).abs() < 1e-14, "{w}, {shift}");
            }
            assert!((h.iter().sum::<f64>() - 2f64.sqrt()).abs() < 1e-14, "{w}");
        }
    }

    #[test]
    fn moments_vanish() {
        for w in Wavelet::all() {
            let (g, len) = (w.detail(), w.scaling().len());
            // L/2 moments vanish for Daubechies' filters and symlets, L/3 for coiflets. Powers of a position in [−1, 1].
            let moments = if w.name().starts_with("coif") { len / 3 } else { len / 2 };
            for p in 0..moments {
                let place = |k: usize| (2.0 * k as f64 - (len - 1) as f64) / len as f64;
                let moment: f64 = g.iter().enumerate().map(|(k, g)| g * place(k).powi(p as i32)).sum();
                assert!(moment.abs() < 1e-13, "{w}, moment {p}: {moment}");
            }
        }
    }

    #[test]
    fn names() {
        assert_eq!(Wavelet::named("DB1"), Ok(Wavelet::haar()));
        assert_eq!("sym4".parse::<Wavelet>().unwrap().scaling().len(), 8);
        assert_eq!(Wavelet::named("db11"), Err(Error::UnknownWavelet("db11".into())));
        assert!(Wavelet::all().all(|w| Wavelet::named(w.name()) == Ok(w)));
    }

    #[test]
    fn levels() {
        let db4 = Wavelet::named("db4").unwrap();
        assert_eq!([0, 6, 7, 13, 14, 1000].map(|n| db4.max_level(n)), [0, 0, 0, 0, 1, 7]);
        assert_eq!([0, 1, 2, 3, 4, 1023, 1024].map(|n| Wavelet::haar().max_level(n)), [0, 0, 1, 1, 2, 9, 10]);
    }
}
