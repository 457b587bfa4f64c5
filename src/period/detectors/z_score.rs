//! Outliers by z-score: the published method (Tarraf & Wolf 2026, section 3.2, equations 2 and 3).

use super::Outliers;
use crate::period::spectrum::{OUTLIER, Powers};

/// Bins with z ≥ 3; the score is z. O(N log N).
///
/// Bins and confidences are those of the published program on the same samples; its second share counts z > 3 alone.
pub fn find(powers: &Powers, tolerance: f64) -> Outliers {
    let z = |k| powers.z_of(k);
    Outliers::choose(powers, tolerance, |k| z(k) >= OUTLIER, |k| z(k) > OUTLIER, z)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cosines, powers};
    use super::*;

    #[test]
    fn one_two_and_three_candidates() {
        let one = powers(&cosines(400, &[(7, 1.0)]));
        let o = find(&one, 0.8);
        assert_eq!(o.candidates.len(), 1);
        let c = o.dominant().unwrap();
        assert_eq!(c.bin, 7);
        assert!((o.report(&one)[0].frequency_hz - 0.175).abs() < 1e-12 && (c.confidence - 1.0).abs() < 1e-12);

        let two = find(&powers(&cosines(400, &[(7, 1.0), (11, 1.02)])), 0.8);
        assert_eq!(two.dominant().unwrap().bin, 11);
        let c = &two.candidates;
        assert!(c[0].confidence > 0.5 && c[0].confidence < 0.53 && c[1].confidence < 0.5);

        let three = find(&powers(&cosines(400, &[(7, 1.0), (11, 1.0), (13, 1.0)])), 0.8);
        assert_eq!(three.dominant(), None);
    }

    #[test]
    fn harmonics_are_no_candidates() {
        let p = powers(&cosines(400, &[(7, 1.0), (14, 0.98), (21, 0.97)]));
        let o = find(&p, 0.8);
        assert_eq!(o.dominant().unwrap().bin, 7);
        let bins: Vec<_> = o.candidates.iter().map(|c| (c.bin, c.harmonic_of)).collect();
        assert_eq!(bins, [(7, None), (14, Some(7)), (21, Some(7))]);
        assert!((o.candidates[0].confidence - 1.0).abs() < 1e-9, "{o:?}");
        let c = o.report(&p);
        assert_eq!(c[1].harmonic_of, Some(c[0].frequency_hz));
    }
}
