//! The bursts of a period in a sampled signal, and the next one: for methods that find a period but no bursts.
//!
//! The run is cut into cycles where it is idle, one period apart except for bursts that come early or late. The burst of a cycle
//! is the shortest stretch that holds [`SHARE`] of the cycle's bytes: no threshold, so neither background nor a slow start
//! matters. All of it is O(N).

use super::chains::{self, Next};
use super::findings::{Burst, Bursts, Dominant, Prediction, Regularity, Set10, Spread, percentile_95};
use crate::signal::Signal;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Share of the bytes of a cycle that its burst holds (the published program's choice, there of the squared bandwidth).
pub const SHARE: f64 = 0.95;

/// A cycle with less than this share of the median cycle's bytes has no burst.
const MISSED: f64 = 0.1;

/// Cycles from which the place of the first cut is found: few enough that an inexact period does not smear them.
const FOLDED: f64 = 8.0;

/// The bursts of a period of `period_s` seconds inside `windows` (start and end in seconds on the clock of the signal; none:
/// the whole run), in the order of time. Empty if a period has less than two samples or nothing moves.
pub fn find(signal: &Signal, period_s: f64, windows: &[(f64, f64)]) -> Vec<Burst> {
    let period = period_s * signal.rate_hz;
    let n = signal.samples.len();
    if !(period >= 2.0 && period.is_finite()) {
        return Vec::new();
    }
    let sample = |t: f64| ((t - signal.start) * signal.rate_hz).round().clamp(0.0, n as f64) as usize;
    let whole = [(0, n)];
    let windows: Vec<(usize, usize)> = match windows {
        [] => whole.to_vec(),
        w => w.iter().map(|(a, b)| (sample(*a), sample(*b))).filter(|(a, b)| a < b).collect(),
    };
    let mut cycles = Vec::new();
    for (a, b) in windows {
        let x = &signal.samples[a..b];
        let cuts = cuts(x, period);
        cycles.extend(cuts.windows(2).map(|c| (a + c[0], a + c[1])));
    }
    let bytes = |(a, b): (usize, usize)| signal.samples[a..b].iter().map(|v| v.max(0.0)).sum::<f64>() / signal.rate_hz;
    let Some(typical) = Spread::of(cycles.iter().map(|c| bytes(*c))) else { return Vec::new() };
    let time = |i: usize| signal.start + i as f64 / signal.rate_hz;
    let burst = |c: (usize, usize)| {
        let bytes = bytes(c);
        let (a, b) = shortest(&signal.samples[c.0..c.1], SHARE)?;
        (bytes > MISSED * typical.median).then(|| Burst { start_s: time(c.0 + a), end_s: time(c.0 + b), bytes })
    };
    cycles.iter().filter_map(|c| burst(*c)).collect()
}

/// Positions that cut `x` into cycles of about `period` samples, first 0, last the length of `x`.
///
/// Each cut is made where least moves in the eighth of a period around it, at most a quarter of a period from where the cut
/// before it predicts; of equal places the one nearest to that. So cuts follow a period that drifts or is not quite right.
fn cuts(x: &[f64], period: f64) -> Vec<usize> {
    let n = x.len();
    let reach = ((period / 4.0) as usize).min(n);
    let half = (period / 16.0).max(0.5);
    // Bytes up to each sample, in samples; between them by interpolation.
    let mut sum = Vec::with_capacity(n + 1);
    sum.push(0.0);
    let mut total = 0.0;
    sum.extend(x.iter().map(|v| {
        total += v.max(0.0);
        total
    }));
    let until = |p: f64| {
        let p = p.clamp(0.0, n as f64);
        let i = (p as usize).min(n.saturating_sub(1));
        sum[i] + (p - i as f64) * (sum[(i + 1).min(n)] - sum[i])
    };
    let around = |p: usize| until(p as f64 + half) - until(p as f64 - half);
    let level = 1e-6 * total * period / n.max(1) as f64;
    let mut cuts = vec![0];
    let mut at = idle_phase(x, period) - period;
    loop {
        let expected = at + period;
        let middle = expected.round() as usize;
        if middle >= n {
            break;
        }
        let mut best = (around(middle), middle);
        // From the middle outwards: a place further away must be better by more than rounding.
        for d in 1..=reach {
            for p in [middle.checked_sub(d), Some(middle + d)].into_iter().flatten().filter(|p| *p <= n) {
                let v = around(p);
                if v < best.0 - level {
                    best = (v, p);
                }
            }
        }
        at = best.1 as f64 + (expected - middle as f64);
        if best.1 > cuts[cuts.len() - 1] && best.1 < n {
            cuts.push(best.1);
        }
    }
    // The rest behind the last cut is the last cycle.
    cuts.push(n);
    cuts
}

/// Where the first idle stretch of the first cycles is, in samples from 0 to `period`: the middle of what remains of a
/// period outside the shortest arc that holds [`SHARE`] of the bytes of the folded signal.
fn idle_phase(x: &[f64], period: f64) -> f64 {
    let cells = (period.round() as usize).clamp(2, 256);
    let mut folded = vec![0.0; cells];
    for (i, v) in x.iter().enumerate().take((FOLDED * period) as usize) {
        let phase = ((i as f64 + 0.5) / period).fract();
        folded[((phase * cells as f64) as usize).min(cells - 1)] += v.max(0.0);
    }
    let twice: Vec<f64> = folded.iter().chain(&folded).copied().collect();
    // Twice round holds the share twice over; the shortest arc of once round is wanted.
    match shortest_of(&twice, SHARE * folded.iter().sum::<f64>()) {
        Some((a, b)) => {
            let middle = 0.5 * (b as f64 + (a + cells) as f64) / cells as f64;
            middle.fract() * period
        }
        None => 0.0,
    }
}

/// The shortest stretch of `x` that holds this share of its sum, negative values taken as 0; the first of several. `None` if
/// nothing is above 0.
fn shortest(x: &[f64], share: f64) -> Option<(usize, usize)> {
    shortest_of(x, share * x.iter().map(|v| v.max(0.0)).sum::<f64>())
}

fn shortest_of(x: &[f64], wanted: f64) -> Option<(usize, usize)> {
    if !(wanted > 0.0 && wanted.is_finite()) {
        return None;
    }
    // Rounding may leave the whole a hair below a share of 1.
    let wanted = wanted * (1.0 - 1e-12);
    let mut best: Option<(usize, usize)> = None;
    let (mut a, mut sum) = (0, 0.0);
    for (b, v) in x.iter().enumerate() {
        sum += v.max(0.0);
        while a < b && sum - x[a].max(0.0) >= wanted {
            sum -= x[a].max(0.0);
            a += 1;
        }
        if sum >= wanted && best.is_none_or(|(s, e)| b + 1 - a < e - s) {
            best = Some((a, b + 1));
        }
    }
    best
}

/// Number, widths and bytes of bursts, as a report has them; `origin` seconds are added to their times. `None` if there are
/// none.
pub fn summary(bursts: &[Burst], period_s: f64, origin: f64) -> Option<Bursts> {
    let width_s = Spread::of(bursts.iter().map(|b| b.end_s - b.start_s))?;
    Some(Bursts {
        count: bursts.len() as u64,
        width_s,
        bytes: Spread::of(bursts.iter().map(|b| b.bytes))?,
        duty_cycle: (width_s.median / period_s).min(1.0),
        regularity: regularity(bursts, period_s),
        starts_s: bursts.iter().map(|b| origin + b.start_s).collect(),
    })
}

/// Most periods between two bursts that count as a gap with missing bursts; after a longer one the period began anew.
const MOST_MISSING: f64 = 6.0;

/// Coefficient of variation of the gaps, with the interval that the chi-squared distribution of their variance gives.
pub fn regularity(bursts: &[Burst], period_s: f64) -> Option<Regularity> {
    let (first, last) = (bursts.first()?, bursts.last()?);
    // several bursts in a period: each is compared with the one at its place in the next
    let places = ((bursts.len() as f64 - 1.0) * period_s / (last.start_s - first.start_s)).round().max(1.0) as usize;
    let gaps = bursts.iter().zip(bursts.get(places..)?).map(|(a, b)| (b.start_s - a.start_s) / period_s);
    let (mut n, mut squares) = (0.0, 0.0);
    for gap in gaps {
        let slots = gap.round().max(1.0);
        if slots <= MOST_MISSING {
            n += 1.0;
            squares += (gap - slots) * (gap - slots) / slots;
        }
    }
    if n < 3.0 {
        return None;
    }
    let freedom = n - 1.0;
    let cv = (squares / freedom).sqrt();
    let chi = ChiSquared::new(freedom).ok()?;
    let limit = |q: f64| (squares / chi.inverse_cdf(q)).sqrt();
    Some(Regularity { cv, cv_low: limit(0.975), cv_high: limit(0.025) })
}

/// The burst after the last one, `origin` seconds added to its times; `end` is that of the data, on the clock of the bursts. `None` with
/// fewer than three bursts, or if the period is over.
pub fn next(bursts: &[Burst], dominant: &Dominant, end: f64, origin: f64) -> Option<Prediction> {
    let last = bursts.last()?;
    let goes_on = end - last.end_s <= chains::ENDED * dominant.period_s;
    let next = chains::next_of(bursts, dominant.period_s).filter(|_| goes_on)?.after(end);
    prediction(bursts, &next, (dominant.period_s, dominant.confidence), origin)
}

/// What a report says of the `next` burst after some of a period (seconds, confidence); `origin` seconds are added to its times.
pub(super) fn prediction(
    bursts: &[Burst],
    next: &Next,
    (period_s, confidence): (f64, f64),
    origin: f64,
) -> Option<Prediction> {
    let width_s = Spread::of(bursts.iter().map(|b| b.end_s - b.start_s))?.median;
    let start = origin + next.start_s;
    Some(Prediction {
        next_start_s: start,
        next_start_unix_s: None,
        next_start_std_s: Some(next.std_s).filter(|std| std.is_finite()),
        now_in_burst: false,
        next_end_s: start + width_s,
        bytes: next.bytes,
        bytes_p95: percentile_95(bursts.iter().map(|b| b.bytes))?,
        idle_s: (period_s - width_s).max(0.0),
        period_s,
        confidence,
        valid_until_s: start + period_s,
        set10: set10(period_s),
    })
}

/// The class of a job with this characteristic time in IO-Sets: round(log10(seconds)).
pub fn set10(characteristic_s: f64) -> Set10 {
    Set10 { characteristic_s, set: characteristic_s.log10().round() as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Sampling;
    use proptest::prelude::*;

    /// Bursts as (start, width, bytes) in seconds, at `rate` Hz.
    fn signal(bursts: &[(f64, f64, f64)], rate: f64, duration: f64) -> Signal {
        let n = (duration * rate).round() as usize;
        let mut samples = vec![0.0; n];
        for (i, v) in samples.iter_mut().enumerate() {
            let (a, b) = (i as f64 / rate, (i + 1) as f64 / rate);
            *v = bursts.iter().map(|(s, w, q)| q / w * ((s + w).min(b) - s.max(a)).max(0.0)).sum::<f64>() * rate;
        }
        let bytes = bursts.iter().map(|b| b.2).sum();
        let sampling = Sampling::Bin;
        Signal { samples, rate_hz: rate, start: 0.0, end: duration, bytes, sampling, abstraction_error: 0.0 }
    }

    fn train(n: u32, period: f64, width: f64, shift: impl Fn(u32) -> f64) -> Vec<(f64, f64, f64)> {
        (0..n).map(|i| (f64::from(i) * period + shift(i), width, 1e6)).collect()
    }

    fn dominant(period_s: f64) -> Dominant {
        Dominant {
            frequency_hz: 1.0 / period_s,
            period_s,
            period_std_s: None,
            cycles: 10.0,
            confidence: 0.9,
            amplitude_bytes_per_s: 1.0,
            phase_rad: 0.0,
            dft_bin: None,
        }
    }

    #[test]
    fn bursts_of_a_clean_train() {
        let s = signal(&train(10, 12.0, 2.0, |_| 0.0), 10.0, 110.0);
        let b = find(&s, 12.0, &[]);
        assert_eq!(b.len(), 10);
        for (i, b) in b.iter().enumerate() {
            // 95 % of 20 even samples are 19 of them, the first 19.
            assert!((b.start_s - 12.0 * i as f64).abs() < 1e-9 && (b.end_s - b.start_s - 1.9).abs() < 1e-9, "{b:?}");
            assert!((b.bytes - 1e6).abs() < 1e-3);
        }
        let r = summary(&b, 12.0, 1000.0).unwrap();
        assert_eq!((r.count, r.starts_s[1]), (10, 1012.0));
        assert!((r.duty_cycle - 1.9 / 12.0).abs() < 1e-9);
    }

    #[test]
    fn cuts_follow_a_period_that_is_not_quite_right() {
        // 60 cycles, and a period as wrong as a bin of the DFT may be: over the run half a cycle is lost.
        let s = signal(&train(60, 10.0, 3.0, |_| 0.0), 4.0, 593.0);
        for period in [10.0 * 60.5 / 60.0, 10.0 * 59.5 / 60.0] {
            let b = find(&s, period, &[]);
            assert_eq!(b.len(), 60, "{period}");
            assert!(b.iter().enumerate().all(|(i, b)| (b.start_s - 10.0 * i as f64).abs() < 0.3));
        }
    }

    #[test]
    fn jitter_a_missing_burst_and_background() {
        let mut t = train(20, 30.0, 6.0, |i| 4.0 * f64::from(i * 7 % 5) - 8.0);
        t.iter_mut().for_each(|b| b.0 += 10.0);
        let gone = t.remove(11);
        t.push((0.0, 610.0, 4e5));
        let s = signal(&t, 2.0, 610.0);
        let b = find(&s, 30.0, &[]);
        assert_eq!(b.len(), 19);
        let starts: Vec<f64> = t[..19].iter().map(|b| b.0).collect();
        assert!(b.iter().zip(starts).all(|(b, t)| (b.start_s - t).abs() <= 0.5 && b.end_s - b.start_s <= 6.6), "{b:?}");
        assert!(b.iter().all(|b| (b.start_s - gone.0).abs() > 10.0));
    }

    #[test]
    fn a_window_hides_the_rest() {
        let s = signal(&train(10, 12.0, 2.0, |_| 0.0), 10.0, 110.0);
        let b = find(&s, 12.0, &[(24.0, 50.0), (72.0, 98.0)]);
        let starts: Vec<f64> = b.iter().map(|b| b.start_s.round()).collect();
        assert_eq!(starts, [24.0, 36.0, 48.0, 72.0, 84.0, 96.0]);
    }

    #[test]
    fn the_next_burst_of_a_clock_and_of_a_walk() {
        let burst = |start: f64| Burst { start_s: start, end_s: start + 2.0, bytes: 1e6 };
        // A clock with alternating errors of half a second.
        let clock: Vec<Burst> = (0..20).map(|i| burst(f64::from(i) * 10.0 + 0.5 * f64::from(i % 2))).collect();
        let p = next(&clock, &dominant(10.0), 192.5, 0.0).unwrap();
        assert!((p.next_start_s - 200.25).abs() < 0.1, "{p:?}");
        assert!((p.next_start_std_s.unwrap() - 0.29).abs() < 0.03);
        assert!((p.next_end_s - p.next_start_s - 2.0).abs() < 1e-9 && (p.idle_s - 8.0).abs() < 1e-9);
        assert!((p.valid_until_s - p.next_start_s - 10.0).abs() < 0.1);
        // Gaps of 9 and 11 in blocks: the starts wander off any line.
        let mut at = 0.0;
        let walk: Vec<Burst> = (0..40)
            .map(|i| {
                at += if i / 10 % 2 == 0 { 9.0 } else { 11.0 };
                burst(at)
            })
            .collect();
        let p = next(&walk, &dominant(10.0), at + 2.0, 7.0).unwrap();
        assert!((p.next_start_s - (7.0 + at + 391.0 / 39.0)).abs() < 0.01, "{p:?}");
        assert!((p.next_start_std_s.unwrap() - 1.0).abs() < 0.06);
    }

    #[test]
    fn what_has_ended_is_not_predicted() {
        let burst = |i: i32| Burst { start_s: f64::from(i) * 10.0, end_s: f64::from(i) * 10.0 + 1.0, bytes: 1.0 };
        let b: Vec<Burst> = (0..6).map(burst).collect();
        let at = |end: f64| next(&b, &dominant(10.0), end, 0.0);
        assert!((at(51.0).unwrap().next_start_s - 60.0).abs() < 1e-9);
        assert!((at(65.0).unwrap().next_start_s - 70.0).abs() < 1e-9);
        assert_eq!(at(95.0), None);
        assert_eq!(next(&b[..2], &dominant(10.0), 11.0, 0.0), None);
        assert_eq!(next(&[], &dominant(10.0), 11.0, 0.0), None);
    }

    #[test]
    fn sets_are_powers_of_ten() {
        assert_eq!([0.5, 3.0, 4.0, 900.0].map(|t| set10(t).set), [0, 0, 1, 3]);
    }

    proptest! {
        #[test]
        fn shortest_by_definition(x in prop::collection::vec(prop_oneof![Just(0.0), -5.0..100.0f64], 1..40), share in 0.1..1.0f64) {
            let pos = |v: &[f64]| v.iter().map(|v| v.max(0.0)).sum::<f64>();
            let wanted = share * pos(&x) * (1.0 - 1e-12);
            let best = (0..x.len())
                .flat_map(|a| (a + 1..=x.len()).map(move |b| (a, b)))
                .filter(|(a, b)| pos(&x[*a..*b]) >= wanted)
                .map(|(a, b)| b - a)
                .min();
            match shortest(&x, share) {
                Some((a, b)) => {
                    prop_assert!(pos(&x[a..b]) >= wanted * (1.0 - 1e-9));
                    prop_assert!(b - a <= best.unwrap() + usize::from(pos(&x) < 1e-6));
                }
                None => prop_assert!(pos(&x) == 0.0),
            }
        }

        #[test]
        fn nothing_panics_and_bytes_are_not_invented(
            x in prop::collection::vec(prop_oneof![Just(0.0), -1.0..1e9f64, Just(f64::NAN)], 0..200),
            period in prop_oneof![Just(f64::NAN), 0.0..300.0f64], rate in 0.01..100.0f64,
        ) {
            let end = x.len() as f64 / rate;
            let s = Signal { samples: x, rate_hz: rate, start: 5.0, end: 5.0 + end, bytes: 1.0, sampling: Sampling::Bin, abstraction_error: 0.0 };
            let b = find(&s, period, &[(0.0, 5.0 + 0.7 * end), (5.0 + 0.8 * end, f64::INFINITY)]);
            let total: f64 = s.samples.iter().map(|v| v.max(0.0)).sum::<f64>() / rate;
            prop_assert!(b.iter().map(|b| b.bytes).sum::<f64>() <= total * (1.0 + 1e-9));
            prop_assert!(b.windows(2).all(|w| w[0].end_s <= w[1].start_s + 1e-9));
            prop_assert!(b.iter().all(|b| b.end_s > b.start_s));
            next(&b, &dominant(period), 5.0 + end, 0.0);
        }
    }
}
