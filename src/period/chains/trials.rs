//! Trial periods of a burst list: where its gaps are dense.

use super::bursts::BurstList;
use super::stats::{mean, median};

/// Half widths in log gap of the windows that count gaps: for exact and for jittered trains.
const GAP_HALF_WIDTHS: [f64; 2] = [0.02, 0.1];
/// Trial periods closer than this in log are one.
const SAME_TRIAL: f64 = 0.004;

/// How much effort a list of `n` bursts gets: (gap lags, dense places per width, autocorrelation peaks).
fn effort(n: usize) -> (usize, usize, usize) {
    match n {
        0..=150 => (4, 5, usize::MAX),
        151..=1000 => (2, 3, 8),
        1001..=5000 => (2, 2, 3),
        _ => (1, 1, 2),
    }
}

/// Periods worth a search: those of the list's own gaps, without duplicates.
pub(crate) fn from_gaps(list: &BurstList) -> Vec<f64> {
    let (lags, places, _) = effort(list.len());
    let mut trials = Vec::new();
    add(&mut trials, dense_gaps(&list.start, lags, places));
    trials
}

/// Adds those of the autocorrelation that are not among `trials` yet.
pub(crate) fn add_correlated(trials: &mut Vec<f64>, list: &BurstList, correlated: &[f64]) {
    let (_, _, peaks) = effort(list.len());
    add(trials, correlated.iter().copied().take(peaks));
}

fn add(trials: &mut Vec<f64>, periods: impl IntoIterator<Item = f64>) {
    for period in periods {
        if period > 0.0 && trials.iter().all(|q| (period / q).ln().abs() > SAME_TRIAL) {
            trials.push(period);
        }
    }
}

/// Centres of the densest places among the gaps between onsets `1..=lags` apart, then their median and mean.
fn dense_gaps(onsets: &[f64], lags: usize, places: usize) -> Vec<f64> {
    let mut gaps: Vec<(f64, f64)> = Vec::new();
    for lag in 1..=lags {
        let weight = 1.0 / (lag as f64).sqrt();
        gaps.extend(
            onsets
                .iter()
                .zip(onsets.iter().skip(lag))
                .map(|(a, b)| b - a)
                .filter(|&g| g > 0.0)
                .map(|g| (g.ln(), weight)),
        );
    }
    gaps.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut weight = vec![0.0];
    let mut moment = vec![0.0];
    for (i, (g, w)) in gaps.iter().enumerate() {
        weight.push(weight[i] + w);
        moment.push(moment[i] + w * g);
    }
    let mut periods = Vec::new();
    for half in GAP_HALF_WIDTHS {
        // (density, centre) of the window around each gap
        let mut windows = Vec::with_capacity(gaps.len());
        let (mut lo, mut hi) = (0, 0);
        for &(g, _) in &gaps {
            while gaps[lo].0 < g - half {
                lo += 1;
            }
            while hi < gaps.len() && gaps[hi].0 <= g + half {
                hi += 1;
            }
            let density = weight[hi] - weight[lo];
            windows.push((density, (moment[hi] - moment[lo]) / density));
        }
        let mut used = vec![false; gaps.len()];
        for _ in 0..places {
            let mut best: Option<usize> = None;
            for i in (0..gaps.len()).filter(|&i| !used[i]) {
                if best.is_none_or(|b| windows[i].0 > windows[b].0) {
                    best = Some(i);
                }
            }
            let Some(best) = best else { break };
            periods.push(windows[best].1.exp());
            for i in 0..gaps.len() {
                used[i] |= (gaps[i].0 - gaps[best].0).abs() < 2.0 * half;
            }
        }
    }
    let steps: Vec<f64> = onsets.windows(2).map(|w| w[1] - w[0]).filter(|&g| g > 0.0).collect();
    if !steps.is_empty() {
        periods.push(median(&steps));
        periods.push(mean(&steps));
    }
    periods
}
