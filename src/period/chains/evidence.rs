//! How much likelier the gaps between bursts are if a period made them than if chance did.
//!
//! Both are marginal likelihoods: unknown parameters are integrated out, so that few gaps prove little however even they are.
//! A period T with an error s is a clock or a renewal process ([`super::fit`]), half of each; T has a flat prior around the mean gap, s a
//! log-uniform one. Chance leaves independent exponential idle times, of a rate with the prior 1/rate.

use super::stats::Line;
use statrs::function::gamma::ln_gamma;
use std::f64::consts::TAU;

/// Errors as shares of the mean gap: [`STEPS`] values from [`SMALLEST`] on, each [`STEP`] times the one before.
const SMALLEST: f64 = 0.02;
const STEP: f64 = 1.5;
const STEPS: usize = 9;
/// Beyond these nothing more is learnt.
const REACH: (f64, f64) = (-10.0, 20.0);

/// The evidence, clipped to [`REACH`].
pub(crate) fn within_reach(evidence: f64) -> f64 {
    evidence.clamp(REACH.0, REACH.1)
}

/// ln of the ratio for the onsets `t` at the slots `k` (rising, same length) with the idle times between them: first with
/// nothing known of the idle times, then if those of up to `merge` seconds were not counted as such. 0 for fewer than three.
///
/// `places`: bursts of a period, each of which has a place of its own that was taken out of `t` (see
/// [`super::multiples::aligned`]). The places are not known either: flat priors over the mean gap.
pub(crate) fn of_gaps(t: &[f64], k: &[f64], idle: &[f64], merge: f64, places: usize) -> [f64; 2] {
    let n = t.len().min(k.len());
    if n < 3 {
        return [0.0; 2];
    }
    let gaps = (n - 1) as f64;
    let mean_gap = (t[n - 1] - t[0]) / (k[n - 1] - k[0]);
    if !(mean_gap > 0.0 && mean_gap.is_finite()) {
        return [0.0; 2];
    }
    // times in mean gaps from here on
    let time = |i: usize| (t[i] - t[0]) / mean_gap;
    let (mut walk, mut steps, mut ln_steps) = (0.0, 0.0, 0.0);
    for i in 1..n {
        let d = (k[i] - k[i - 1]).max(1.0);
        let off = time(i) - time(i - 1) - d;
        walk += off * off / d;
        steps += d;
        ln_steps += d.ln();
    }
    let line = Line::through((0..n).map(|i| (k[i], time(i))));
    let mut squares = line.squares;
    if places > 1 {
        // the places that suit a grid best are not those of a walk
        let mut off = vec![(0.0, 0.0); places];
        for i in 0..n {
            let place = &mut off[k[i] as usize % places];
            place.0 += 1.0;
            place.1 += time(i) - line.at(k[i]);
        }
        squares -= off.iter().filter(|(count, _)| *count > 0.0).map(|(count, sum)| sum * sum / count).sum::<f64>();
        squares = squares.max(0.0);
    }
    let each_place = places as f64 / n as f64;
    let of_period = log_sum((0..STEPS).flat_map(|i| {
        let s = SMALLEST * STEP.powi(i as i32);
        let normal =
            -0.5 * gaps * (TAU * s * s).ln() + 0.5 * (places - 1) as f64 * (TAU * s * s * each_place).min(1.0).ln();
        let walks = normal - 0.5 * ln_steps - 0.5 * walk / (s * s) + 0.5 * (TAU * s * s / steps).ln();
        let grid = normal - 0.5 * (n as f64).ln() - 0.5 * squares / (s * s) + 0.5 * (TAU * s * s / line.spread).ln();
        [walks, grid]
    })) - (2.0 * STEPS as f64).ln();
    [0.0, merge].map(|least| {
        let total: f64 = idle.iter().map(|x| ((x - least) / mean_gap).max(1e-3)).sum();
        let of_chance = ln_gamma(gaps) - gaps * total.ln();
        of_period - of_chance
    })
}

/// ln of a sum of exponentials.
fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    top + terms.map(|x| (x - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(gaps: &[f64]) -> f64 {
        let t: Vec<f64> = std::iter::once(0.0)
            .chain(gaps.iter().scan(0.0, |t, g| {
                *t += g;
                Some(*t)
            }))
            .collect();
        let k: Vec<f64> = (0..t.len()).map(|k| k as f64).collect();
        of_gaps(&t, &k, gaps, 0.0, 1)[0]
    }

    #[test]
    fn even_gaps_speak_for_a_period_the_more_the_more_there_are() {
        let few = evidence(&[10.0, 11.0, 9.0]);
        let more = evidence(&[10.0, 11.0, 9.0, 10.5, 9.5, 10.2, 9.1]);
        assert!(few > 1.0 && more > few + 2.0, "{few} {more}");
        assert!((few - evidence(&[1.0, 1.1, 0.9])).abs() < 1e-9, "no unit");
    }

    #[test]
    fn gaps_of_chance_speak_against_one() {
        // quantiles of the exponential distribution, in no order
        let quantiles: Vec<f64> =
            [3, 9, 1, 6, 0, 8, 4, 7, 2, 5].map(|i| -(1.0 - (f64::from(i) + 0.5) / 10.0).ln()).into();
        assert!(evidence(&quantiles) < -2.0, "{}", evidence(&quantiles));
    }

    #[test]
    fn two_gaps_are_the_closed_form() {
        // walk and grid of the gaps 1 - e and 1 + e, by numerical integration over the period
        let e = 0.1;
        let gaps = [1.0 - e, 1.0 + e];
        let normal = |x: f64, s: f64| (-0.5 * x * x / (s * s)).exp() / (TAU.sqrt() * s);
        let mut sum = 0.0;
        for i in 0..STEPS {
            let s = SMALLEST * STEP.powi(i as i32);
            let steps = 40_000;
            let width = 12.0 / f64::from(steps);
            for j in 0..steps {
                let period = -5.0 + width * (f64::from(j) + 0.5);
                sum += width * gaps.iter().map(|g| normal(g - period, s)).product::<f64>();
                // gaps of a grid: covariance s^2 (2, -1; -1, 2), determinant 3 s^4
                let (a, b) = (gaps[0] - period, gaps[1] - period);
                let quadratic = (2.0 * a * a + 2.0 * a * b + 2.0 * b * b) / (3.0 * s * s);
                sum += width * (-0.5 * quadratic).exp() / (TAU * 3f64.sqrt() * s * s);
            }
        }
        // chance: the integral of r^2 exp(-2 r) / r is 1/4
        let expected = (sum / (2.0 * STEPS as f64) / 0.25).ln();
        assert!((evidence(&gaps) - expected).abs() < 1e-6, "{} {expected}", evidence(&gaps));
    }

    #[test]
    fn places_of_their_own_are_worth_their_price_only_where_gaps_alternate() {
        let compare = |late: f64| {
            let errors = [0.02, -0.03, 0.05, 0.0, -0.04, 0.03, -0.02, 0.01, 0.04, -0.05];
            let k: Vec<f64> = (0..errors.len()).map(|k| k as f64).collect();
            let own = |i: usize| if i % 2 == 1 { late } else { 0.0 };
            let plain: Vec<f64> = k.iter().zip(errors).enumerate().map(|(i, (k, e))| k + e + own(i)).collect();
            let placed: Vec<f64> = k.iter().zip(errors).map(|(k, e)| k + e).collect();
            let idle: Vec<f64> = plain.windows(2).map(|t| t[1] - t[0]).collect();
            of_gaps(&placed, &k, &idle, 0.0, 2)[0] - of_gaps(&plain, &k, &idle, 0.0, 1)[0]
        };
        assert!(compare(0.0) < -0.5 && compare(0.3) > 5.0, "{} {}", compare(0.0), compare(0.3));
    }

    #[test]
    fn idle_times_beyond_a_cut_are_less_even() {
        let t = [0.0, 10.0, 21.0, 30.0];
        let k = [0.0, 1.0, 2.0, 3.0];
        let [all, beyond] = of_gaps(&t, &k, &[9.0, 10.0, 8.0], 7.0, 1);
        assert!(beyond < all - 3.0, "{all} {beyond}");
        assert_eq!(of_gaps(&t[..2], &k[..2], &[9.0], 0.0, 1), [0.0; 2]);
        assert_eq!(of_gaps(&[1.0; 4], &k, &[0.0; 3], 0.0, 1), [0.0; 2]);
    }
}
