//! Outliers by isolation: the isolation forest (Liu, Ting & Zhou, ICDM 2008).
//!
//! A tree splits a random sample of the values at random places until each is alone; what is remote is alone after few
//! splits. The values are the powers alone: frequencies are an even grid on which no bin is more remote than another. On one
//! axis a tree is a step function of the value, and so is the sum of all trees: it is made once, and every bin is looked up
//! by one pass over the sorted powers. O(N log N).

use super::{Outliers, sorted};
use crate::period::spectrum::Powers;

/// Trees of the forest (section 5 of the paper: path lengths settle before 100).
const TREES: usize = 100;

/// Values that a tree is grown from (section 5: 256 are enough, more swamp the outliers).
const SAMPLE: usize = 256;

/// Start of the random numbers: the same spectrum always gives the same answer.
const SEED: u64 = 0x5eed;

/// Share of the bins that may be outliers: those with the highest scores, ties included.
pub const CONTAMINATION: f64 = 0.01;

/// The score from which on a value is an anomaly at all; 0.5 is what a value among its like has (section 2).
pub const ANOMALY: f64 = 0.6;

/// Bins above the mean power with a score of at least [`ANOMALY`] that belong to the highest [`CONTAMINATION`] of all, or to
/// the highest ten if that is more; the score is 2^(−E(h)/c) of the paper, 0 to 1.
pub fn find(powers: &Powers, tolerance: f64) -> Outliers {
    let score = scores(&powers.power);
    let mut ranked = score.clone();
    let most = ((CONTAMINATION * score.len() as f64).ceil() as usize).max(10).min(score.len());
    let limit =
        if most > 0 { *ranked.select_nth_unstable_by(most - 1, |a, b| b.total_cmp(a)).1 } else { f64::INFINITY };
    let limit = limit.max(ANOMALY);
    let outlier = |k: usize| score[k - 1] >= limit && powers.power[k - 1] > powers.statistics.mean;
    Outliers::choose(powers, tolerance, outlier, outlier, |k| score[k - 1])
}

/// Score s = 2^(−E(h)/c(ψ)) of each value (equation 2 of the paper), ψ the size of a sample.
fn scores(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    if n < 2 {
        return vec![0.5; n];
    }
    let size = SAMPLE.min(n);
    let mut random = Random(SEED);
    let mut steps = Vec::new();
    for _ in 0..TREES {
        let mut sample: Vec<f64> =
            (0..size).map(|i| if size == n { values[i] } else { values[random.below(n)] }).collect();
        sample.sort_by(f64::total_cmp);
        grow(&sample, &mut random, &mut steps);
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let norm = TREES as f64 * expected_path(size);
    let mut score = vec![0.0; n];
    let mut path = 0.0;
    let mut next = steps.iter().peekable();
    for i in sorted(values) {
        while let Some((_, change)) = next.next_if(|(at, _)| *at <= values[i]) {
            path += change;
        }
        score[i] = (-path / norm).exp2();
    }
    score
}

/// Grows a tree on a sorted sample and adds its path length h(x), a step function, to `steps`: at each place by how much it
/// changes. A leaf that still holds m values counts the c(m) splits it would take to tell them apart.
fn grow(sample: &[f64], random: &mut Random, steps: &mut Vec<(f64, f64)>) {
    let limit = sample.len().ilog2() + u32::from(!sample.len().is_power_of_two());
    let mut last = 0.0;
    // Parts of the sample from left to right, each with the value from which on it holds and its depth.
    let mut parts = vec![(f64::NEG_INFINITY, sample, 0u32)];
    while let Some((from, part, depth)) = parts.pop() {
        let range = part.first().zip(part.last()).map(|(a, b)| (*a, *b)).filter(|(a, b)| b > a && depth < limit);
        match range {
            Some((low, high)) => {
                // Above the low end, so that neither side is empty.
                let split = (low + random.unit() * (high - low)).max(low.next_up());
                let (left, right) = part.split_at(part.partition_point(|v| *v < split));
                parts.push((split, right, depth + 1));
                parts.push((from, left, depth + 1));
            }
            None => {
                let path = f64::from(depth) + expected_path(part.len());
                steps.push((from, path - last));
                last = path;
            }
        }
    }
}

/// c(n): the mean depth of an unsuccessful search in a binary search tree of n values (equation 1 of the paper).
fn expected_path(n: usize) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    match n {
        0 | 1 => 0.0,
        2 => 1.0,
        _ => {
            let m = n as f64 - 1.0;
            2.0 * (m.ln() + EULER) - 2.0 * m / n as f64
        }
    }
}

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::noise;
    use super::*;

    #[test]
    fn a_remote_value_is_alone_soon() {
        let mut x: Vec<f64> = noise(1000, 3).iter().map(|v| v.abs()).collect();
        x[500] = 60.0;
        let s = scores(&x);
        let others = s.iter().enumerate().filter(|(i, _)| *i != 500).map(|(_, s)| *s).fold(0.0, f64::max);
        assert!(s[500] > 0.75 && others < s[500], "{} {others}", s[500]);
        assert_eq!(s, scores(&x));
    }

    #[test]
    fn values_alike_score_a_half() {
        for x in [vec![2.0; 300], vec![1.0, 1.0]] {
            assert!(scores(&x).iter().all(|s| (s - 0.5).abs() < 1e-12), "{:?}", scores(&x));
        }
        assert_eq!(scores(&[1.0]), [0.5]);
    }

    #[test]
    fn path_lengths_of_a_tree() {
        // Two values: one split, each side is a leaf at depth 1.
        let mut steps = Vec::new();
        grow(&[1.0, 2.0], &mut Random(1), &mut steps);
        assert_eq!(steps.iter().map(|s| s.1).collect::<Vec<_>>(), [1.0, 0.0]);
        assert!(steps[1].0 > 1.0 && steps[1].0 <= 2.0);
        // c(3) by hand: 2 (ln 2 + γ) − 4/3.
        assert!((expected_path(3) - (2.0 * (2f64.ln() + 0.577_215_664_901_532_9) - 4.0 / 3.0)).abs() < 1e-15);
    }

    #[test]
    fn the_tree_by_definition() {
        // Follow the splits for single values: the step function must give the same path.
        let sample: Vec<f64> = (0..64).map(|i| f64::from(i * i)).collect();
        let mut steps = Vec::new();
        grow(&sample, &mut Random(9), &mut steps);
        assert!(steps.windows(2).all(|w| w[0].0 < w[1].0));
        let total: f64 = sample.iter().map(|v| steps.iter().take_while(|s| s.0 <= *v).map(|s| s.1).sum::<f64>()).sum();
        // Kraft: leaves of a binary tree, none deeper than 6 plus what is left in them.
        assert!(total / 64.0 > 4.0 && total / 64.0 < 12.0, "{total}");
    }
}
