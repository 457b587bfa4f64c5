//! Do gaps or sizes of a chain repeat with every m-th slot?
//!
//! Two to four nearly equal, nearly even bursts per phase look like a jittered train with a period m times too short.
//! The test is the one-way analysis of variance: the gaps (and the log sizes) are grouped by slot number modulo m, and
//! the variance between the groups is compared with the one within (Fisher's F test). A train whose gaps repeat with m
//! has the period m T.

use super::bursts::BurstList;
use super::fit::Fit;
use super::search::Chain;
use crate::period::chains::thresholds::LIMITS;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Largest number of bursts per period that is looked for.
const MOST_PARTS: usize = 6;
/// Evidence is capped at this many decimal digits.
const CAP: f64 = 12.0;

/// Evidence, -log10 of the probability by chance (after five tests), that gaps and sizes repeat.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Multiples {
    pub gaps: f64,
    pub sizes: f64,
    /// The number of slots after which they repeat, if the evidence is enough.
    pub slots: Option<usize>,
}

/// Tests a chain. `resolution`: time stamps are multiples of this many seconds; such rounding repeats as well and is no evidence.
pub(crate) fn of(list: &BurstList, chain: &Chain, fit: &Fit, resolution: f64) -> Multiples {
    let mut gaps: Vec<(usize, f64)> = Vec::with_capacity(chain.len());
    for (m, k) in chain.members.windows(2).zip(chain.slots.windows(2)) {
        if k[1] - k[0] == 1 {
            gaps.push((k[0] as usize, list.start[m[1] as usize] - list.start[m[0] as usize]));
        }
    }
    let sizes: Vec<(usize, f64)> = chain
        .members
        .iter()
        .zip(&chain.slots)
        .map(|(&i, &k)| (k as usize, list.bytes[i as usize].max(1e-300).ln()))
        .collect();
    let gap_floor = (3e-4 * fit.period).powi(2);
    let strays = fit.gap_deviation * fit.period;
    // gaps of rounded stamps alternate between two neighbouring multiples of the resolution
    let rounded = strays * strays < 0.5 * resolution * resolution;
    let mut multiples = Multiples::default();
    let mut best = f64::INFINITY;
    for m in 2..=MOST_PARTS {
        let of_gaps = if rounded {
            Grouped::default()
        } else {
            Grouped::of(&gaps, m, gap_floor, LIMITS.smallest_wobble * fit.period)
        };
        let of_sizes = Grouped::of(&sizes, m, 1e-3, 0.0);
        multiples.gaps = multiples.gaps.max(of_gaps.evidence);
        multiples.sizes = multiples.sizes.max(of_sizes.evidence);
        // multiples of the right number repeat as well: each further place has its price (Schwarz's criterion)
        let price = 2.0 * m as f64 * (sizes.len() as f64).ln();
        let misfit = of_gaps.misfit + of_sizes.misfit + price;
        if of_gaps.evidence.max(of_sizes.evidence) >= LIMITS.multiple_evidence && misfit < best {
            best = misfit;
            multiples.slots = Some(m);
        }
    }
    multiples
}

/// Values grouped by slot modulo m.
#[derive(Default)]
struct Grouped {
    /// -log10 of the chance that the groups differ this much, times five tests.
    evidence: f64,
    /// n ln of the variance that is left within the groups.
    misfit: f64,
}

impl Grouped {
    /// `floor`: variance within the groups that is taken for granted; `least`: root mean square difference of the groups
    /// below which there is no evidence.
    fn of(values: &[(usize, f64)], m: usize, floor: f64, least: f64) -> Self {
        let n = values.len();
        if n < 2 * m + 1 {
            return Self::default();
        }
        let mut count = [0.0f64; MOST_PARTS];
        let mut sum = [0.0f64; MOST_PARTS];
        let overall = values.iter().map(|v| v.1).sum::<f64>() / n as f64;
        for &(slot, x) in values {
            count[slot % m] += 1.0;
            sum[slot % m] += x - overall;
        }
        if count[..m].iter().any(|&c| c < 2.0) {
            return Self::default();
        }
        let between: f64 = (0..m).map(|g| sum[g] * sum[g] / count[g]).sum();
        let within: f64 = values
            .iter()
            .map(|&(slot, x)| {
                let off = x - overall - sum[slot % m] / count[slot % m];
                off * off
            })
            .sum();
        let freedom = ((m - 1) as f64, (n - m) as f64);
        let ratio = (between / freedom.0) / (within / freedom.1 + floor);
        let chance = if between < least * least * n as f64 {
            1.0
        } else {
            FisherSnedecor::new(freedom.0, freedom.1).map_or(1.0, |f| f.sf(ratio))
        };
        Self {
            evidence: (-(chance * (MOST_PARTS - 1) as f64).max(1e-300).log10()).clamp(0.0, CAP),
            misfit: n as f64 * (within / n as f64 + floor).ln(),
        }
    }
}

/// Onsets of the chain with each group's own offset taken out: the rest is a plain train.
pub(crate) fn aligned(list: &BurstList, chain: &Chain, m: usize, period: f64) -> Vec<f64> {
    // offsets from the mean gaps between neighbouring groups: robust to a train that drifts
    let mut count = vec![0.0f64; m];
    let mut sum = vec![0.0f64; m];
    for (i, k) in chain.members.windows(2).zip(chain.slots.windows(2)) {
        if k[1] - k[0] == 1 {
            let group = k[0] as usize % m;
            count[group] += 1.0;
            sum[group] += list.start[i[1] as usize] - list.start[i[0] as usize];
        }
    }
    let gaps: Vec<f64> = (0..m).map(|g| if count[g] > 0.0 { sum[g] / count[g] } else { period }).collect();
    let mean = gaps.iter().sum::<f64>() / m as f64;
    let mut offset = vec![0.0; m];
    for g in 1..m {
        offset[g] = offset[g - 1] + gaps[g - 1] - mean;
    }
    chain.members.iter().zip(&chain.slots).map(|(&i, &k)| list.start[i as usize] - offset[k as usize % m]).collect()
}
