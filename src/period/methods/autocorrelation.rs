//! Method `autocorrelation`: the lag at which the signal is most like itself.
//!
//! The unbiased autocorrelation of a periodic signal has hills at the multiples of the period. The first hill that is nearly as
//! high as the highest is the period (a later one would be a multiple), on an autocorrelation as coarse as jitter asks; its top is
//! placed between the lags by a parabola through all values near it, and the tops of further hills, T, 2T, 3T, …, are joined by a
//! line whose slope is the period: with n hills its error is that of one divided by about n. Shapes of bursts do not matter, and a
//! period need not be a whole number of samples. O(N log N).

use super::{Answer, Settings, Sight, cosine_at, dominant};
use crate::period::findings::{Candidate, Method, Verdict};
use crate::signal::Signal;
use crate::transform::{Divisor, autocorrelation};

/// The height from which on a hill is a period.
const PERIODIC: f64 = 0.3;

/// The height that a hill of an averaged autocorrelation needs to be looked at: there chance makes higher ones.
const AVERAGED: f64 = 0.6;

/// Share of the highest hill that the first one needs to be the period and not part of one.
const FIRST: f64 = 0.7;

/// Samples that a guess needs at most.
const GUESS: usize = 1 << 16;

/// Share of the variance that the means of groups must keep to stand for the signal.
const KEPT_VARIANCE: f64 = 0.5;

/// Hills reported as candidates.
const CANDIDATES: usize = 5;

/// The period of a signal. The confidence is the height of the hill, 0 to 1.
pub fn find(signal: &Signal, _: &Settings) -> Answer {
    let mut a = Answer::new(Method::Autocorrelation, Verdict::Constant);
    let x = &signal.samples;
    let Some(r) = correlation(x) else { return a };
    a.detection.verdict = Verdict::Irregular;
    if let Some(view) = best(&r) {
        let (hills, first) = (&view.hills, &view.first);
        let line = refine(&view.smooth, first);
        let rate = signal.rate_hz;
        let height = |h: &Hill| h.height.clamp(0.0, 1.0);
        let candidate = |h: &Hill, lag: f64| Candidate {
            frequency_hz: rate / lag,
            period_s: lag / rate,
            confidence: height(h),
            score: h.height,
            harmonic_of: None,
        };
        a.detection.candidates.push(candidate(first, line.lag));
        // Multiples of the period are hills as well and add nothing.
        let multiple = |h: &Hill| {
            let cycles = h.lag as f64 / line.lag;
            cycles > 0.9 && (cycles - cycles.round()).abs() < 0.1
        };
        let mut others: Vec<&Hill> = hills.iter().filter(|h| !multiple(h) && h.height > 0.0).collect();
        others.sort_by(|a, b| b.height.total_cmp(&a.height));
        a.detection.candidates.extend(others.iter().take(CANDIDATES - 1).map(|h| candidate(h, h.lag as f64)));
        if first.height >= PERIODIC {
            let cosine = cosine_at(x, rate, rate / line.lag);
            a.periodic(dominant(cosine, signal.duration(), line.std.map(|s| s / rate), height(first), None));
        }
    } else if r.iter().skip(r.len() / 2).any(|v| *v > PERIODIC) {
        a.detection.verdict = Verdict::TooFewCycles;
    }
    a.sight = Sight::Autocorrelation(r);
    a
}

/// The period in samples, if the signal has one: for methods that need a guess. A long signal is first averaged in groups; all of its
/// samples are used only if the averages show no period.
pub(super) fn lag(x: &[f64]) -> Option<f64> {
    let group = x.len().div_ceil(GUESS);
    let of_means = || Some(group as f64 * lag_of(&means(x, group)?)?);
    if group > 1 { of_means().or_else(|| lag_of(x)) } else { lag_of(x) }
}

fn lag_of(x: &[f64]) -> Option<f64> {
    let view = best(&correlation(x)?)?;
    (view.first.height >= PERIODIC).then(|| refine(&view.smooth, &view.first).lag)
}

/// The means of groups of samples; `None` if they lose more of the variance than [`KEPT_VARIANCE`] allows: then the signal changes
/// faster than a group, and its alias may have another period.
fn means(x: &[f64], group: usize) -> Option<Vec<f64>> {
    let means: Vec<f64> = x.chunks_exact(group).map(|g| g.iter().sum::<f64>() / group as f64).collect();
    let variance = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64
    };
    (variance(&means) >= KEPT_VARIANCE * variance(x)).then_some(means)
}

/// The unbiased autocorrelation up to three quarters of the run, beyond which a lag has hardly any samples; `None` for a
/// constant signal or one with less than eight samples.
fn correlation(x: &[f64]) -> Option<Vec<f64>> {
    if x.len() < 8 {
        return None;
    }
    let mut r = autocorrelation(x, Divisor::Unbiased).ok()?;
    r.truncate(x.len() * 3 / 4);
    (r.first().is_some_and(|r| *r > 0.5)).then_some(r)
}

/// The autocorrelation as coarse as suits the signal.
struct View {
    smooth: Vec<f64>,
    hills: Vec<Hill>,
    first: Hill,
}

/// The view on which the first hill is highest; of nearly equal ones the finest.
///
/// Bursts shorter than their jitter hardly ever meet: their autocorrelation is a range of low peaks at any lag. Averaged over
/// more and more lags, in powers of two up to a sixth of the period, the peaks of one hill become one.
fn best(r: &[f64]) -> Option<View> {
    let mut best: Option<View> = None;
    for half in std::iter::successors(Some(0usize), |h| Some(2 * h.max(&1))).take_while(|h| 12 * h < r.len()) {
        let smooth = averaged(r, half);
        let hills = hills(&smooth);
        let Some(first) = first(&hills, r.len()).copied() else { continue };
        let enough = half == 0 || first.height >= AVERAGED;
        if first.lag >= 12 * half && enough && best.as_ref().is_none_or(|b| first.height > b.first.height + 0.1) {
            best = Some(View { smooth, hills, first });
        }
        // Nothing can be higher by so much.
        if best.as_ref().is_some_and(|b| b.first.height > 0.9) {
            break;
        }
    }
    best
}

/// Mean of the values up to `half` lags away, an autocorrelation being the same at negative lags; 1 at lag 0 again.
fn averaged(r: &[f64], half: usize) -> Vec<f64> {
    if half == 0 {
        return r.to_vec();
    }
    let n = r.len();
    let mut sum = Vec::with_capacity(n + half + 1);
    sum.push(0.0);
    let mirrored = (1..=half).rev().map(|l| r.get(l).copied().unwrap_or(0.0)).chain(r.iter().copied());
    let mut total = 0.0;
    sum.extend(mirrored.map(|v| {
        total += v;
        total
    }));
    let mean = |l: usize| {
        let end = (l + 2 * half + 1).min(n + half);
        (sum[end] - sum[l]) / (end - l) as f64
    };
    let first = mean(0);
    let scale = if first > 0.0 { 1.0 / first } else { 0.0 };
    (0..n).map(|l| scale * mean(l)).collect()
}

/// A stretch of positive correlation and its highest lag.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hill {
    lag: usize,
    height: f64,
    /// Its top and the higher lag beside it: the same wherever between two lags the hill has its middle.
    top: f64,
}

/// The hills behind the one at lag 0, up to lag two thirds of what is given (half the run).
fn hills(r: &[f64]) -> Vec<Hill> {
    let mut found = Vec::new();
    let last = r.len() * 2 / 3;
    let start = r.iter().position(|v| *v <= 0.0).unwrap_or(r.len());
    let mut top: Option<Hill> = None;
    for (lag, &height) in r.iter().enumerate().skip(start) {
        if height > 0.0 {
            if top.is_none_or(|t| height > t.height) {
                let beside = |l: Option<usize>| l.and_then(|l| r.get(l)).copied().unwrap_or(0.0);
                let highest = beside(lag.checked_sub(1)).max(beside(lag.checked_add(1)));
                top = Some(Hill { lag, height, top: height + highest.max(0.0) });
            }
        } else if let Some(t) = top.take()
            && t.lag <= last
        {
            found.push(t);
        }
        if lag > last && top.is_none() {
            break;
        }
    }
    // A hill that goes on to the last lag has not shown its top, unless it falls again.
    found.extend(top.filter(|t| t.lag <= last && t.lag + 1 < r.len()));
    found
}

/// The first hill that is nearly as high as the highest. Far lags have few samples and high hills by chance: heights are
/// weighed by the root of the samples that a lag has.
fn first(hills: &[Hill], lags: usize) -> Option<&Hill> {
    let run = lags as f64 * 4.0 / 3.0;
    let weighed = |h: &Hill| h.top * (1.0 - h.lag as f64 / run).max(0.0).sqrt();
    let highest = hills.iter().map(weighed).fold(0.0, f64::max);
    hills.iter().find(|h| weighed(h) >= FIRST * highest && h.height > 0.0)
}

/// A period in samples and its standard error.
struct Period {
    lag: f64,
    std: Option<f64>,
}

/// The line through the tops of the hills at the multiples of the first.
fn refine(r: &[f64], first: &Hill) -> Period {
    let mut period = top(r, first.lag);
    let (mut kk, mut kl, mut ll, mut count) = (1.0, period, period * period, 1.0);
    let mut missed = 0;
    for k in 2.. {
        let expected = k as f64 * period;
        let reach = (period / 6.0).max(1.0);
        let (from, to) = ((expected - reach) as usize, (expected + reach) as usize + 1);
        // A top needs its flanks; three hills in a row that are none end the line.
        if to + (first.lag / 4) >= r.len() || missed == 3 {
            break;
        }
        let Some(at) = (from..=to).max_by(|a, b| r[*a].total_cmp(&r[*b])) else { break };
        if at == from || at == to || r[at] < 0.5 * first.height {
            missed += 1;
            continue;
        }
        missed = 0;
        let (k, lag) = (k as f64, top(r, at));
        kk += k * k;
        kl += k * lag;
        ll += lag * lag;
        count += 1.0;
        period = kl / kk;
    }
    let residual = (ll - kl * kl / kk).max(0.0);
    let std = (count > 2.0).then(|| (residual / (count - 1.0) / kk).sqrt());
    Period { lag: period, std }
}

/// The top of the hill whose highest lag is `at`, between the lags: the vertex of the least-squares parabola through the
/// values on both sides down to four fifths of its height, the same number on each side.
fn top(r: &[f64], at: usize) -> f64 {
    let level = 0.8 * r[at];
    let high = |i: &usize| r.get(*i).is_some_and(|v| *v >= level);
    let left = (1..=at).take_while(|d| high(&(at - d))).count();
    let right = (1..r.len()).take_while(|d| high(&(at + d))).count();
    let half = left.min(right).max(1).min(at).min(r.len() - 1 - at);
    // Moments of an even window: a parabola a + b d + c d² has b = Σ d y / Σ d², c = (m Σ d² y − Σ d² Σ y) / (m Σ d⁴ − (Σ d²)²).
    let m = (2 * half + 1) as f64;
    let (mut d2, mut d4, mut y0, mut y1, mut y2) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (i, v) in r[at - half..=at + half].iter().enumerate() {
        let d = i as f64 - half as f64;
        let y = v - r[at];
        d2 += d * d;
        d4 += d * d * d * d;
        y0 += y;
        y1 += d * y;
        y2 += d * d * y;
    }
    let (b, c) = (y1 / d2, (m * y2 - d2 * y0) / (m * d4 - d2 * d2));
    let shift = -0.5 * b / c;
    if c < 0.0 && shift.abs() <= half as f64 { at as f64 + shift } else { at as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{signal, train};
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn many_hills_make_the_period_exact() {
        for (period, width) in [(12.34, 0.7), (7.777, 5.0), (31.4, 3.0)] {
            let a = find(&train(period, width, 900.0), &Settings::default());
            let d = a.detection.dominant.unwrap();
            assert!((d.period_s / period - 1.0).abs() < 5e-4, "{period}: {d:?}");
            assert!(d.confidence > 0.9 && d.period_std_s.unwrap() < 0.01 * period, "{d:?}");
        }
    }

    #[test]
    fn a_period_of_half_a_sample_more_is_not_doubled() {
        // 8.5 samples
        let d = find(&train(0.85, 0.1, 900.0), &Settings::default()).detection.dominant.unwrap();
        assert!((d.period_s / 0.85 - 1.0).abs() < 1e-3, "{d:?}");
    }

    #[test]
    fn parts_of_a_period_are_not_the_period() {
        // Two bursts a cycle, the second much weaker.
        let (a, b) = (train(20.0, 2.0, 400.0), train(20.0, 2.0, 400.0));
        let x = (0..4000).map(|i| a.samples[i] + 0.4 * b.samples[(i + 4000 - 90) % 4000]).collect();
        let d = find(&signal(x, 10.0), &Settings::default()).detection.dominant.unwrap();
        assert!((d.period_s - 20.0).abs() < 0.01, "{d:?}");
    }

    #[test]
    fn tops_lie_between_the_lags() {
        let r: Vec<f64> = (0..400).map(|l| (TAU * (f64::from(l) - 50.3) / 100.0).cos()).collect();
        assert!((top(&r, 50) - 50.3).abs() < 0.05);
        assert!((top(&[0.0, 1.0, 1.0, 0.0], 1) - 1.5).abs() < 1e-12);
        assert_eq!(top(&[1.0, 1.0, 1.0], 1), 1.0);
    }

    #[test]
    fn averages_by_definition() {
        let r = [1.0, 0.5, -0.25, 0.125, 0.0];
        let at = |l: i32| r.get(l.unsigned_abs() as usize).copied();
        let got = averaged(&r, 2);
        let mean = |l: i32| {
            let v: Vec<f64> = (l - 2..=l + 2).filter_map(at).collect();
            v.iter().sum::<f64>() / v.len() as f64
        };
        assert!((0..5).all(|l| (got[l as usize] - mean(l) / mean(0)).abs() < 1e-12), "{got:?}");
        assert_eq!(averaged(&r, 0), r);
    }

    #[test]
    fn a_guess_for_a_long_signal_is_that_of_the_whole() {
        let of_period = |period: usize, width: usize| -> Vec<f64> {
            (0..10 * GUESS).map(|i| f64::from(u8::from(i % period < width))).collect()
        };
        // the means show the first one only
        for (period, width) in [(4321, 500), (9, 2)] {
            let lag = lag(&of_period(period, width)).unwrap();
            assert!((lag / period as f64 - 1.0).abs() < 1e-3, "{period}: {lag}");
        }
        assert!(means(&of_period(4321, 500), 10).is_some() && means(&of_period(9, 2), 10).is_none());
    }

    #[test]
    fn bursts_shorter_than_their_jitter() {
        let mut x = vec![0.0; 20_000];
        for i in 0..100 {
            // Up to 8 samples early or late, 3 long.
            let at = 200 * i + 10 + (i * 37 % 17);
            x[at..at + 3].fill(1.0);
        }
        let d = find(&signal(x, 1.0), &Settings::default()).detection.dominant.unwrap();
        assert!((d.period_s / 200.0 - 1.0).abs() < 0.005, "{d:?}");
    }

    #[test]
    fn one_burst_is_no_period() {
        let mut x = vec![0.0; 1000];
        x[300..340].fill(5.0);
        assert_eq!(find(&signal(x, 1.0), &Settings::default()).detection.periodic, Some(false));
        let ramp: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(find(&signal(ramp, 1.0), &Settings::default()).detection.periodic, Some(false));
    }
}
