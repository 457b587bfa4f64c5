//! Period and its errors from the onsets of a chain.
//!
//! Two models of the same data. *Clocked*: onset = a + k T + an independent error; a timer fires, the work begins a little
//! late. *Renewal process*: every gap is T plus an independent error; repeated work of varying length. Under a clock the error of the
//! line's slope falls with n^-1.5, under a renewal process the mean gap is the efficient estimate and its error falls with n^-0.5.
//! Few onsets do not separate the two: the period is the mean of both, weighted by how likely each model makes the gaps
//! (Bayesian model averaging).

use super::stats::{Line, median_of};
use crate::period::chains::thresholds::LIMITS;

/// Which model the onsets follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Independent errors around a line: a + k T.
    Clocked,
    /// Independent gaps: errors add up.
    Renewal,
}

/// Period and errors of a chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    pub period: f64,
    pub period_std: f64,
    pub clock: Clock,
    /// Standard deviation of the onsets around the line, seconds.
    pub line_sd: f64,
    /// Standard deviation of a gap of one slot, seconds.
    pub gap_sd: f64,
    /// Root mean square deviation of the gaps from the period, over the period.
    pub gap_deviation: f64,
    /// Probability that the onsets follow a clock.
    pub clock_share: f64,
    /// The line through the onsets over their slots.
    pub line: Line,
}

/// Squared errors below this share of the squared mean gap are equal: the resolution of the clock.
const EXACT: f64 = 1e-18;
/// Huber's constant, in robust standard deviations (Huber 1964).
const HUBER: f64 = 1.5;
const HUBER_ROUNDS: usize = 10;
/// The weights stay once the slope moves by less than this share.
const SETTLED: f64 = 1e-11;
/// MAD to standard deviation of a normal distribution.
const MAD: f64 = 1.4826;

/// Fits onsets `t` at the slots `k` (rising, same length, at least two).
pub(crate) fn fit(t: &[f64], k: &[f64]) -> Fit {
    let n = t.len();
    let count = n as f64;
    let slots = k[n - 1] - k[0];
    let mean_gap = (t[n - 1] - t[0]) / slots;
    let walk_squares: f64 = t
        .windows(2)
        .zip(k.windows(2))
        .map(|(t, k)| {
            let d = k[1] - k[0];
            let off = t[1] - t[0] - d * mean_gap;
            off * off / d
        })
        .sum();
    let gap_variance = walk_squares / (count - 2.0).max(1.0);
    let walk = Fit {
        period: mean_gap,
        period_std: (gap_variance / slots).sqrt(),
        clock: Clock::Renewal,
        line_sd: 0.7 * gap_variance.sqrt(),
        gap_sd: gap_variance.sqrt(),
        gap_deviation: (walk_squares / (count - 1.0)).sqrt() / mean_gap,
        clock_share: 0.0,
        line: Line::default(),
    };
    if n < 4 {
        return Fit { gap_deviation: walk.gap_sd / mean_gap, ..walk };
    }
    let (line, mad) = robust_line(t, k);
    let line_sd = line.variance().sqrt();
    let heavy_tails = MAD * mad < 0.3 * line_sd;
    let grid = if heavy_tails { 1.0 } else { grid_share(k, &line, walk_squares, EXACT * mean_gap * mean_gap) };
    let line_std = line_sd / line.spread.sqrt();
    let period = mean_gap + grid * (line.slope - mean_gap);
    let variance = grid * line_std * line_std
        + (1.0 - grid) * walk.period_std * walk.period_std
        + grid * (1.0 - grid) * (line.slope - mean_gap).powi(2);
    let both = Fit { period, period_std: variance.sqrt(), line_sd, clock_share: grid, line, ..walk };
    if grid >= 0.5 { Fit { clock: Clock::Clocked, ..both } } else { both }
}

/// Probability that the onsets follow a clock rather than a renewal process, with equal priors.
///
/// The ratio of the two marginal likelihoods of the gaps, with a flat prior of the period and one of 1/s of the error s. Gaps of
/// a grid have the covariance s^2 (2 on, -1 beside the diagonal), of determinant n s^(2n - 2) for n onsets.
fn grid_share(k: &[f64], line: &Line, walk_squares: f64, exact: f64) -> f64 {
    let n = k.len() as f64;
    let slots = k[k.len() - 1] - k[0];
    let ln_steps: f64 = k.windows(2).map(|k| (k[1] - k[0]).ln()).sum();
    let errors = (line.squares.max(exact) / walk_squares.max(exact)).ln();
    let ln_odds = 0.5 * (slots.ln() + ln_steps - n.ln() - line.spread.ln() - (n - 2.0) * errors);
    1.0 / (1.0 + (-ln_odds).exp())
}

/// Least squares with Huber's weights: a stray request that touches a burst moves that one onset, not the line. Its squares count all
/// onsets fully. With it the median absolute residual.
fn robust_line(t: &[f64], k: &[f64]) -> (Line, f64) {
    let n = t.len();
    let mut weights = vec![1.0; n];
    let mut residuals = vec![0.0; n];
    let mut absolute = Vec::with_capacity(n);
    let (mut line, mut mad) = (Line { n: n as f64, ..Line::default() }, 0.0);
    let rounds = if n < LIMITS.huber_from { 1 } else { HUBER_ROUNDS };
    let origin = t[0];
    for _ in 0..rounds {
        let total: f64 = weights.iter().sum();
        let mean_k = weights.iter().zip(k).map(|(w, k)| w * k).sum::<f64>() / total;
        let mean_t = weights.iter().zip(t).map(|(w, t)| w * (t - origin)).sum::<f64>() / total;
        let (mut cross, mut spread) = (0.0, 0.0);
        for i in 0..n {
            cross += weights[i] * (k[i] - mean_k) * (t[i] - origin - mean_t);
            spread += weights[i] * (k[i] - mean_k) * (k[i] - mean_k);
        }
        let slope = cross / spread;
        absolute.clear();
        let mut squares = 0.0;
        for i in 0..n {
            residuals[i] = t[i] - origin - mean_t - slope * (k[i] - mean_k);
            squares += residuals[i] * residuals[i];
            absolute.push(residuals[i].abs());
        }
        let moved = (slope - line.slope).abs();
        mad = median_of(&mut absolute);
        line = Line { slope, middle: (mean_k, origin + mean_t), squares, spread, ..line };
        if moved <= SETTLED * slope.abs() {
            break;
        }
        // a floor at the resolution of the clock keeps exact trains from dividing by zero
        let scale = HUBER * (MAD * mad + 1e-9 * slope.abs() + 1e-7);
        for i in 0..n {
            weights[i] = (scale / residuals[i].abs()).min(1.0);
        }
    }
    (line, mad)
}

/// The next gap by a straight trend of the gaps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trend {
    /// The next gap of one slot, seconds.
    pub gap: f64,
    /// Seconds by which each gap is longer than the one before.
    pub slope: f64,
    /// Its standard deviation.
    pub std: f64,
}

/// The trend of the gaps between the onsets `t` at the slots `k`, if they have one: a least-squares line through the gaps of
/// one slot over their number.
pub(crate) fn trend(t: &[f64], k: &[f64]) -> Option<Trend> {
    let gaps: Vec<(f64, f64)> =
        t.windows(2).zip(k.windows(2)).map(|(t, k)| (0.5 * (k[0] + k[1]), (t[1] - t[0]) / (k[1] - k[0]))).collect();
    if gaps.len() < LIMITS.trend_gaps {
        return None;
    }
    let end = k[k.len() - 1];
    // the beginning of the first burst may not have been seen
    let later =
        || gaps.get(1..).filter(|later| later.len() > LIMITS.trend_gaps).and_then(|later| line_of_gaps(later, end));
    line_of_gaps(&gaps, end).or_else(later)
}

/// The least-squares line through gaps over their number, if it is steep enough, and the gap that follows the slot `end`.
fn line_of_gaps(gaps: &[(f64, f64)], end: f64) -> Option<Trend> {
    let line = Line::through(gaps.iter().copied());
    let gap = line.at(end + 0.5);
    let trend = Trend { gap, slope: line.slope, std: line.variance_at(end + 0.5).sqrt() };
    (line.is_steep(LIMITS.trend_errors) && gap > 0.0).then_some(trend)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(n: usize) -> Vec<f64> {
        (0..n).map(|i| i as f64).collect()
    }

    #[test]
    fn an_exact_train_has_its_period() {
        let k = [0.0, 1.0, 2.0, 4.0, 5.0, 9.0];
        let t: Vec<f64> = k.iter().map(|k| 3.0 + 7.25 * k).collect();
        let fit = fit(&t, &k);
        assert!((fit.period - 7.25).abs() < 1e-12);
        assert!(fit.gap_deviation < 1e-12 && fit.line_sd < 1e-12);
    }

    #[test]
    fn alternating_errors_mean_a_clock_and_the_slope_is_the_closed_form() {
        let k = slots(8);
        let t: Vec<f64> = k.iter().map(|k| 10.0 * k + if k.rem_euclid(2.0) < 1.0 { 0.5 } else { -0.5 }).collect();
        let fit = fit(&t, &k);
        assert_eq!(fit.clock, Clock::Clocked);
        // sum (k - 3.5) e = -2, sum (k - 3.5)^2 = 42; four gaps of 9 and three of 11
        let (slope, mean_gap) = (10.0 - 2.0 / 42.0, 69.0 / 7.0);
        let (line, walk) = (2.0 - 4.0 / 42.0, 7.0 - 1.0 / 7.0f64);
        let odds = (7.0f64 / (8.0 * 42.0)).sqrt() * (walk / line).powi(3);
        let share = odds / (1.0 + odds);
        assert!(share > 0.8 && (fit.period - (share * slope + (1.0 - share) * mean_gap)).abs() < 1e-6);
        assert!((fit.line_sd - (line / 6.0f64).sqrt()).abs() < 1e-6);
        let variance = share * line / 6.0 / 42.0 + (1.0 - share) * walk / 6.0 / 7.0;
        let apart = share * (1.0 - share) * (slope - mean_gap).powi(2);
        assert!((fit.period_std - (variance + apart).sqrt()).abs() < 1e-6);
        // more of the same leave no doubt
        let k = slots(40);
        let t: Vec<f64> = k.iter().map(|k| 10.0 * k + if k.rem_euclid(2.0) < 1.0 { 0.5 } else { -0.5 }).collect();
        let (slope, fit) = (10.0 - 10.0 / 5330.0, super::fit(&t, &k));
        assert!((fit.period - slope).abs() < 1e-9, "{} {slope}", fit.period);
    }

    #[test]
    fn accumulating_errors_mean_a_renewal_process_and_the_mean_gap() {
        let gaps = [11.0, 11.0, 10.5, 9.5, 9.0, 9.0, 9.5, 10.0];
        let mut t = vec![0.0];
        for g in gaps {
            t.push(t[t.len() - 1] + g);
        }
        let fit = fit(&t, &slots(9));
        assert_eq!(fit.clock, Clock::Renewal);
        let line = robust_line(&t, &slots(9)).0.slope;
        let share = (fit.period - 79.5 / 8.0) / (line - 79.5 / 8.0);
        assert!((0.0..0.05).contains(&share), "{share}");
    }

    #[test]
    fn one_late_onset_does_not_move_the_line() {
        let k = slots(12);
        let mut t: Vec<f64> = k.iter().map(|k| 5.0 * k).collect();
        t[11] += 1.0;
        assert!((fit(&t, &k).period - 5.0).abs() < 1e-4);
    }

    #[test]
    fn a_steady_drift_predicts_the_next_gap_and_jitter_does_not() {
        let onsets = |gap: &dyn Fn(usize) -> f64, n: usize| {
            (0..n).scan(3.0, |t, i| Some(std::mem::replace(t, *t + gap(i)))).collect::<Vec<f64>>()
        };
        let drifting = onsets(&|i| 10.0 + 0.25 * i as f64, 9);
        let found = trend(&drifting, &slots(9)).unwrap();
        assert!((found.gap - 12.0).abs() < 1e-9 && (found.slope - 0.25).abs() < 1e-9 && found.std < 1e-6);
        // a slot without a burst counts as two gaps of their mean
        let mut with_a_hole = (drifting.clone(), slots(9));
        with_a_hole.0.remove(4);
        with_a_hole.1.remove(4);
        assert!((trend(&with_a_hole.0, &with_a_hole.1).unwrap().gap - 12.0).abs() < 1e-9);
        let jittered = onsets(&|i| 10.0 + [0.3, -0.2, 0.5, -0.4, 0.1, 0.45, -0.5, 0.2][i % 8], 9);
        assert!(trend(&jittered, &slots(9)).is_none());
        assert!(trend(&drifting[..4], &slots(4)).is_none());
    }

    #[test]
    fn a_first_burst_seen_in_part_leaves_the_trend() {
        let mut onsets: Vec<f64> =
            (0..7).scan(3.0, |t, i| Some(std::mem::replace(t, *t + 20.0 - 0.5 * i as f64))).collect();
        onsets[0] += 2.0;
        let found = trend(&onsets, &slots(7)).unwrap();
        assert!((found.gap - 17.0).abs() < 1e-9 && (found.slope + 0.5).abs() < 1e-9);
        assert!(trend(&onsets[..5], &slots(5)).is_none());
    }

    #[test]
    fn two_and_three_onsets_give_the_mean_gap() {
        assert_eq!(fit(&[1.0, 4.0], &[0.0, 1.0]).period, 3.0);
        assert_eq!(fit(&[0.0, 4.0, 6.0], &[0.0, 1.0, 2.0]).period, 3.0);
    }
}
