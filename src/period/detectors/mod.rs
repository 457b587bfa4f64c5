//! Outliers of a power spectrum: the bins that stand out, and whether one of them is the period.
//!
//! A detector marks the bins that are outliers; the rest is the same for all, after equation 3 of Tarraf & Wolf 2026
//! (section 3.2): a candidate is an outlier with z / z_max ≥ `tolerance`; a candidate at a whole multiple of a lower one is
//! its harmonic; one candidate is the period, of two it is the stronger, more are no period. A new detector is one file and
//! one line in [`ALL`].

pub mod dbscan;
pub mod isolation_forest;
pub mod lof;
pub mod peaks;
pub mod z_score;

use super::findings::{Candidate, Detector};
use super::spectrum::Powers;

/// A detector: outliers of some powers, candidates chosen with a tolerance from 0 to 1.
pub type Find = fn(&Powers, f64) -> Outliers;

/// Every detector.
pub const ALL: &[(Detector, Find)] = &[
    (Detector::ZScore, z_score::find),
    (Detector::Dbscan, dbscan::find),
    (Detector::IsolationForest, isolation_forest::find),
    (Detector::Lof, lof::find),
    (Detector::Peaks, peaks::find),
];

/// Runs a detector; [`Detector::Auto`] is the z-score. Gives the name of the one that ran, too.
pub fn find(detector: Detector, powers: &Powers, tolerance: f64) -> (Detector, Outliers) {
    let chosen = ALL.iter().find(|(d, _)| *d == detector);
    let (detector, find) = chosen.copied().unwrap_or((Detector::ZScore, z_score::find));
    (detector, find(powers, tolerance))
}

/// A bin that is a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// k ≥ 1.
    pub bin: usize,
    /// Score that the detector ranks by; larger stands out more.
    pub score: f64,
    /// Half the sum of two shares of z_k: one among the bins with z / z_max > tolerance, one among all outliers, harmonics of
    /// candidates left out of both. 0 to 1.
    pub confidence: f64,
    /// The lowest candidate of which this is a harmonic.
    pub harmonic_of: Option<usize>,
}

/// The candidates of a spectrum, in falling order of their power.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outliers {
    /// Harmonics included.
    pub candidates: Vec<Outlier>,
}

impl Outliers {
    /// Chooses candidates among outliers and gives each its confidence.
    ///
    /// `outlier` says of the bins k ≥ 1 which are candidates if their power suffices; `counts`, which enter the second share of
    /// the confidence; `score` is the detector's number of a bin. O(N log N).
    fn choose(
        powers: &Powers,
        tolerance: f64,
        outlier: impl Fn(usize) -> bool,
        counts: impl Fn(usize) -> bool,
        score: impl Fn(usize) -> f64,
    ) -> Outliers {
        let bins = powers.z.len();
        let top = powers.z.iter().copied().fold(0.0, f64::max);
        let chosen: Vec<bool> = (0..=bins).map(|k| k > 0 && powers.z_of(k) >= tolerance * top && outlier(k)).collect();
        let harmonic_of = harmonics(&chosen);
        let share = |keep: &dyn Fn(usize) -> bool| -> f64 {
            (1..=bins).filter(|&k| harmonic_of[k] == 0 && keep(k)).map(|k| powers.z_of(k)).sum()
        };
        let (near_top, all) = (share(&|k| powers.z_of(k) > tolerance * top), share(&counts));
        let part = |z: f64, of: f64| if of > 0.0 { (z / of).min(1.0) } else { 0.0 };
        let mut candidates: Vec<Outlier> = (1..=bins)
            .filter(|&k| chosen[k])
            .map(|bin| {
                let z = powers.z_of(bin);
                let confidence = 0.5 * (part(z, near_top) + part(z, all));
                let of = harmonic_of[bin];
                Outlier { bin, score: score(bin), confidence, harmonic_of: (of > 0).then_some(of) }
            })
            .collect();
        candidates.sort_by(|a, b| powers.z_of(b.bin).total_cmp(&powers.z_of(a.bin)).then(a.bin.cmp(&b.bin)));
        Outliers { candidates }
    }

    /// Candidates proper: those that are no harmonics.
    pub fn fundamentals(&self) -> impl Iterator<Item = &Outlier> {
        self.candidates.iter().filter(|c| c.harmonic_of.is_none())
    }

    /// The period: the only candidate, or the stronger of two; more than two are not periodic.
    pub fn dominant(&self) -> Option<&Outlier> {
        let mut f = self.fundamentals();
        let strongest = f.next();
        if f.count() <= 1 { strongest } else { None }
    }

    /// The candidates as a report has them.
    pub fn report(&self, powers: &Powers) -> Vec<Candidate> {
        let candidate = |c: &Outlier| Candidate {
            frequency_hz: powers.frequency(c.bin),
            period_s: 1.0 / powers.frequency(c.bin),
            confidence: c.confidence,
            score: c.score,
            harmonic_of: c.harmonic_of.map(|f| powers.frequency(f)),
        };
        self.candidates.iter().map(candidate).collect()
    }
}

/// For each chosen bin the lowest chosen bin that divides it, 0 if there is none; entry 0 is not used. A sieve:
/// O(N log N).
fn harmonics(chosen: &[bool]) -> Vec<usize> {
    let mut of = vec![0; chosen.len()];
    for f in 1..chosen.len() {
        if !chosen[f] || of[f] > 0 {
            continue;
        }
        for k in (2 * f..chosen.len()).step_by(f) {
            if chosen[k] && of[k] == 0 {
                of[k] = f;
            }
        }
    }
    of
}

/// The order that sorts powers: positions in `power`, smallest power first.
fn sorted(power: &[f64]) -> Vec<usize> {
    // Values beside their positions: a comparison that looks them up elsewhere waits for memory.
    let mut pairs: Vec<(f64, usize)> = power.iter().copied().zip(0..).collect();
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    pairs.into_iter().map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::Spectrum;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::f64::consts::TAU;

    pub(super) fn powers(x: &[f64]) -> Powers {
        Powers::of(&Spectrum::of(x), 10.0).unwrap()
    }

    pub(super) fn cosines(n: usize, parts: &[(usize, f64)]) -> Vec<f64> {
        let at = |i: usize| parts.iter().map(|(k, a)| a * (TAU * (*k * i) as f64 / n as f64).cos()).sum::<f64>();
        (0..n).map(|i| 5.0 + at(i)).collect()
    }

    /// Noise with the same values everywhere: a linear congruential generator.
    pub(super) fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        // The sum of twelve is near enough to a normal distribution.
        (0..n).map(|_| (0..12).map(|_| next()).sum::<f64>() - 6.0).collect()
    }

    #[test]
    fn the_registry_is_whole() {
        let all: BTreeSet<String> = ALL.iter().map(|(d, _)| format!("{d:?}")).collect();
        assert_eq!(all.len(), ALL.len());
        assert!(ALL.iter().all(|(d, _)| *d != Detector::Auto));
    }

    #[test]
    fn every_detector_finds_a_line_in_noise_and_its_harmonics() {
        let n = 2000;
        let clean = cosines(n, &[(40, 1.0), (80, 0.97)]);
        let x: Vec<f64> = clean.iter().zip(noise(n, 7)).map(|(c, e)| c + 0.3 * e).collect();
        let p = powers(&x);
        for (d, find) in ALL {
            let o = find(&p, 0.8);
            let bins: Vec<_> = o.candidates.iter().map(|c| (c.bin, c.harmonic_of)).collect();
            assert_eq!(bins, [(40, None), (80, Some(40))], "{d:?}");
            let c = o.dominant().unwrap();
            assert!(c.confidence > 0.9 && c.confidence <= 1.0, "{d:?}: {c:?}");
        }
    }

    #[test]
    fn three_lines_are_no_period() {
        let p = powers(&cosines(1000, &[(70, 1.0), (110, 1.0), (130, 0.99)]));
        for (d, find) in ALL {
            let o = find(&p, 0.8);
            assert_eq!(o.fundamentals().count(), 3, "{d:?}");
            assert!(o.dominant().is_none(), "{d:?}");
        }
    }

    #[test]
    fn auto_is_the_z_score() {
        let p = powers(&cosines(400, &[(7, 1.0)]));
        let (d, o) = find(Detector::Auto, &p, 0.8);
        assert_eq!((d, o), (Detector::ZScore, z_score::find(&p, 0.8)));
    }

    proptest! {
        #[test]
        fn nothing_panics_and_confidences_are_shares(
            x in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1e9f64], 2..90),
            tolerance in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64],
        ) {
            if let Some(p) = Powers::of(&Spectrum::of(&x), 1.0) {
                for (d, find) in ALL {
                    for c in find(&p, tolerance).candidates {
                        prop_assert!((0.0..=1.0).contains(&c.confidence), "{:?} {:?}", d, c);
                        prop_assert!(c.bin >= 1 && c.bin <= p.power.len() && c.score.is_finite(), "{:?} {:?}", d, c);
                        prop_assert!(c.harmonic_of.is_none_or(|f| f < c.bin && c.bin % f == 0));
                    }
                }
            }
        }

        #[test]
        fn the_sieve_finds_the_lowest_divisor(chosen in prop::collection::vec(any::<bool>(), 2..60)) {
            for (k, of) in harmonics(&chosen).into_iter().enumerate().skip(1) {
                let expected = (1..k).find(|f| chosen[k] && chosen[*f] && k % f == 0);
                prop_assert_eq!((of > 0).then_some(of), expected);
            }
        }
    }
}
