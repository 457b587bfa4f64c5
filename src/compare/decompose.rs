//! Shares of the difference in I/O time: logarithmic mean decomposition (LMDI I; Ang, Energy Policy 33, 2005).
//!
//! Time of the slowest rank = imbalance × Σ over kinds of the mean time of a rank; reading and writing = bytes × 1 / ranks × time
//! per byte. The shares sum to the difference, and change their sign if before and after are exchanged.

use super::run::KindTimes;

/// Quantities that determine the time, on one side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors {
    pub io: KindTimes,
    pub ranks: f64,
    /// Read, written.
    pub bytes: [f64; 2],
}

/// Seconds of the difference, after less before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Shares {
    pub ranks: f64,
    pub imbalance: f64,
    /// Of reading and writing: by bytes, and by the time per byte.
    pub bytes: [f64; 2],
    pub rate: [f64; 2],
    /// All synchronising, all metadata.
    pub sync: f64,
    pub metadata: f64,
}

/// The logarithmic mean (a − b) / ln(a / b).
fn log_mean(a: f64, b: f64) -> f64 {
    if (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) { 0.5 * (a + b) } else { (a - b) / (a / b).ln() }
}

/// Shares of the difference between two sides.
pub(super) fn shares(before: &Factors, after: &Factors) -> Shares {
    let mut all = Shares::default();
    let imbalance = [before.io.imbalance(), after.io.imbalance()];
    for kind in 0..4 {
        let times = [before.io.mean_s[kind] * imbalance[0], after.io.mean_s[kind] * imbalance[1]];
        let of_kind = if times[0] > 0.0 && times[1] > 0.0 {
            let weight = log_mean(times[1], times[0]);
            let by_imbalance = weight * (imbalance[1] / imbalance[0]).ln();
            all.imbalance += by_imbalance;
            times[1] - times[0] - by_imbalance
        } else {
            times[1] - times[0]
        };
        match kind {
            0 | 1 if times[0] > 0.0 && times[1] > 0.0 && before.bytes[kind] > 0.0 && after.bytes[kind] > 0.0 => {
                let weight = log_mean(times[1], times[0]);
                let ranks = -weight * (after.ranks / before.ranks).ln();
                let bytes = weight * (after.bytes[kind] / before.bytes[kind]).ln();
                all.ranks += ranks;
                all.bytes[kind] += bytes;
                all.rate[kind] += of_kind - ranks - bytes;
            }
            // without such requests on one side
            0 | 1 => all.bytes[kind] += of_kind,
            2 => all.sync += of_kind,
            _ => all.metadata += of_kind,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(slowest_s: f64, mean_s: [f64; 4], ranks: f64, bytes: [f64; 2]) -> Factors {
        Factors { io: KindTimes { slowest_s: [slowest_s; 2], mean_s }, ranks, bytes }
    }

    fn sum(s: &Shares) -> f64 {
        s.ranks + s.imbalance + s.bytes.iter().sum::<f64>() + s.rate.iter().sum::<f64>() + s.sync + s.metadata
    }

    #[test]
    fn shares_sum_to_the_difference_and_mirror() {
        let a = factors(10.0, [2.0, 3.0, 0.0, 0.5], 8.0, [1e9, 4e9]);
        let b = factors(31.0, [1.0, 9.0, 4.0, 0.7], 16.0, [2e9, 3e9]);
        let (there, back) = (shares(&a, &b), shares(&b, &a));
        assert!((sum(&there) - 21.0).abs() < 1e-9 && (sum(&back) + 21.0).abs() < 1e-9);
        assert!((there.imbalance + back.imbalance).abs() < 1e-9 && (there.rate[1] + back.rate[1]).abs() < 1e-9);
    }

    #[test]
    fn each_cause_alone_takes_all() {
        let a = factors(10.0, [0.0, 5.0, 0.0, 0.0], 8.0, [0.0, 1e9]);
        let twice = shares(&a, &factors(20.0, [0.0, 10.0, 0.0, 0.0], 8.0, [0.0, 2e9]));
        assert!((twice.bytes[1] - 10.0).abs() < 1e-9 && twice.rate[1].abs() < 1e-9 && twice.imbalance.abs() < 1e-9);
        let late = shares(&a, &factors(20.0, [0.0, 5.0, 0.0, 0.0], 8.0, [0.0, 1e9]));
        assert!((late.imbalance - 10.0).abs() < 1e-9 && late.rate[1].abs() < 1e-9);
        let synced = shares(&a, &factors(16.0, [0.0, 5.0, 3.0, 0.0], 8.0, [0.0, 1e9]));
        assert!((synced.sync - 6.0).abs() < 1e-9 && synced.imbalance.abs() < 1e-9, "{synced:?}");
    }
}
