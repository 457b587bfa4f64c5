//! Answers that follow from principles, in closed form.

use super::{BurstPeriods, Options, detect};
use crate::signal::Span;
use crate::signal::profile::Profile;
use proptest::prelude::*;

/// Bursts of so many seconds at these times, each of four requests.
fn bursts(starts: impl IntoIterator<Item = f64>, width: f64) -> Vec<Span> {
    let piece = |t: f64, i: u32| Span {
        start: t + 0.25 * width * f64::from(i),
        end: t + 0.25 * width * f64::from(i + 1),
        bytes: 1e6,
    };
    starts.into_iter().flat_map(|t| (0..4).map(move |i| piece(t, i))).collect()
}

fn every(from: f64, period: f64, n: u32) -> Vec<f64> {
    (0..n).map(|k| from + period * f64::from(k)).collect()
}

fn answer(spans: &[Span]) -> BurstPeriods {
    let profile = Profile::from_spans(spans.iter().copied());
    let run_s = profile.duration();
    detect(&profile, Options::for_run(run_s))
}

fn periods(found: &BurstPeriods) -> Vec<f64> {
    found.periods.iter().map(|p| p.period_s).collect()
}

/// Whether one of the periods is this one, within a part of it.
fn has(found: &BurstPeriods, period: f64, within: f64) -> bool {
    found.periods.iter().any(|p| (p.period_s / period - 1.0).abs() <= within)
}

/// Whether that is the first one.
fn leads(found: &BurstPeriods, period: f64, within: f64) -> bool {
    found.periods.first().is_some_and(|p| (p.period_s / period - 1.0).abs() <= within)
}

#[test]
fn a_long_silence_ends_a_period_and_leaves_it_its_window() {
    let train = bursts(every(0.0, 2.0, 10), 0.3);
    let one_later: Vec<Span> = train.iter().copied().chain(bursts([200.0], 0.3)).collect();
    let silent_run = detect(&Profile::from_spans(train), Options::for_run(218.0));
    for found in [silent_run, answer(&one_later)] {
        assert!(leads(&found, 2.0, 1e-6), "{:?}", periods(&found));
        let p = &found.periods[0];
        assert_eq!((p.bursts.len(), p.cycles), (10, 10));
        assert!(p.windows.len() == 1 && p.windows[0].0.abs() < 1e-6 && (p.windows[0].1 - 18.3).abs() < 1e-6, "{p:?}");
    }
    // requests of one burst, back to back, are none
    let requests: Vec<Span> =
        every(0.0, 0.05, 40).into_iter().map(|t| Span { start: t, end: t + 0.045, bytes: 1e6 }).collect();
    assert!(detect(&Profile::from_spans(requests), Options::for_run(500.0)).periods.is_empty());
}

#[test]
fn stretches_before_and_after_a_silence_pool_their_gaps() {
    let gaps = [9.1, 10.6, 11.2, 9.6, 10.9, 8.8, 10.2, 104.0, 10.4, 9.2, 11.1, 10.8, 9.3, 9.9, 9.5];
    let starts = std::iter::once(0.0).chain(gaps.iter().scan(0.0, |t, g| {
        *t += g;
        Some(*t)
    }));
    let found = answer(&bursts(starts, 1.0));
    assert!(leads(&found, 10.0, 0.05), "{:?}", periods(&found));
    let windows = &found.periods[0].windows;
    assert!(windows.len() == 2 && (windows[1].0 - windows[0].1 - 103.0).abs() < 1e-6, "{windows:?}");
}

#[test]
fn gaps_that_change_are_two_periods() {
    for later in [9.0, 10.3, 11.0, 12.0, 13.0] {
        for jitter in [0.0, 0.02] {
            let noise = |i: u32| jitter * [0.4, -1.0, 0.7, 1.1, -0.6, -0.9, 0.3][i as usize % 7];
            let gap = |i: u32| if i < 14 { 10.0 } else { later } + noise(i);
            let starts = (0..29).scan(0.0, |t, i| Some(std::mem::replace(t, *t + gap(i))));
            let found = answer(&bursts(starts, 1.0));
            assert!(has(&found, 10.0, 0.003) && has(&found, later, 0.003), "{later} {jitter}: {:?}", periods(&found));
        }
    }
}

#[test]
fn a_steady_drift_is_one_period() {
    let starts = (0..30).scan(0.0, |t, i| Some(std::mem::replace(t, *t + 10.0 + 0.1 * f64::from(i))));
    assert_eq!(answer(&bursts(starts, 1.0)).periods.len(), 1);
}

#[test]
fn rounded_stamps_do_not_multiply_a_period() {
    for period in [5.5, 7.75, 12.3] {
        for unit in [1.0, 0.1] {
            let starts = every(100.0, period, 40).into_iter().map(|t| t.floor() * unit);
            let found = answer(&bursts(starts, 0.3 * unit));
            assert!(leads(&found, period * unit, 0.01), "{period} {unit}: {:?}", periods(&found));
        }
    }
}

#[test]
fn bins_do_not_multiply_a_period() {
    for period in [2.5, 2.75, 3.5] {
        for width in [0.1, 0.3, 0.9] {
            let starts = every(0.37, period, 40);
            let bytes = |t: f64| starts.iter().map(|s| ((t - s) / width).clamp(0.0, 1.0)).sum::<f64>();
            let bins = (0..(period * 40.0) as u32).map(f64::from);
            let spans: Vec<Span> = bins
                .map(|t| Span { start: t, end: t + 1.0, bytes: 1e6 * (bytes(t + 1.0) - bytes(t)) })
                .filter(|s| s.bytes > 1e-3)
                .collect();
            let found = answer(&spans);
            assert!(leads(&found, period, 0.002), "{period} {width}: {:?}", periods(&found));
        }
    }
}

#[test]
fn phases_may_nearly_fill_their_period() {
    for duty in [0.9, 0.94, 0.95, 0.96, 0.97, 0.98] {
        let found = answer(&bursts(every(0.0, 10.0, 20), 10.0 * duty));
        assert!(leads(&found, 10.0, 1e-6), "{duty}: {:?}", periods(&found));
    }
}

#[test]
fn larger_bursts_have_their_own_period_beside_that_of_all() {
    let step = |i: u32| {
        let (medium, large) = (i.is_multiple_of(10), i.is_multiple_of(100));
        let width = 0.1 + if medium { 0.2 } else { 0.0 } + if large { 0.3 } else { 0.0 };
        let bytes = 1e6 + if medium { 2e7 } else { 0.0 } + if large { 3e8 } else { 0.0 };
        Span { start: f64::from(i), end: f64::from(i) + width, bytes }
    };
    let found = answer(&(0..800).map(step).collect::<Vec<_>>());
    assert!([1.0, 10.0, 100.0].iter().all(|p| has(&found, *p, 1e-3)), "{:?}", periods(&found));
}

#[test]
fn a_burst_that_goes_on_at_the_end_is_the_one_that_was_due() {
    let mut spans = bursts([0.0, 10.0, 20.0, 30.0], 1.0);
    spans.push(Span { start: 43.0, end: 43.3, bytes: 1.2e6 });
    let found = answer(&spans);
    assert!(leads(&found, 10.0, 0.1), "{:?}", periods(&found));
    assert_eq!(found.periods[0].under_way, Some(43.0));
    let next = found.periods[0].next_after(43.3).unwrap();
    assert!((next.start_s - 53.0).abs() < 1.1, "{next:?}");
    // one that is longer than the period has a next as well
    let mut spans = bursts(every(0.0, 10.0, 8), 1.0);
    spans.push(Span { start: 80.0, end: 104.0, bytes: 1e8 });
    let found = answer(&spans);
    assert!(found.periods[0].holds_at(104.0));
    assert!(found.periods[0].next_after(104.0).is_some_and(|n| (n.start_s - 110.0).abs() < 0.1));
}

/// Onsets with these gaps.
fn after_gaps(gaps: &[f64]) -> Vec<f64> {
    let mut t = 0.0;
    let onset = move |g: &f64| {
        t += g;
        t
    };
    std::iter::once(0.0).chain(gaps.iter().map(onset)).collect()
}

#[test]
fn the_next_burst_is_as_uncertain_as_all_bursts_of_the_period_are_uneven() {
    // most gaps are even: a chain of these alone would be sure of the next one
    let gaps = [8.0, 10.3, 9.85, 9.99, 9.98, 10.04, 10.03, 10.01, 12.1, 8.35, 10.0, 9.91, 10.1, 10.0, 9.98];
    let mean = gaps.iter().sum::<f64>() / 15.0;
    let sd = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / 14.0).sqrt();
    let found = answer(&bursts(after_gaps(&gaps), 5.0));
    assert!(leads(&found, 10.0, 0.02), "{:?}", periods(&found));
    let next = found.periods[0].next;
    assert!((next.start_s - 158.6).abs() < sd && next.std_s > 0.5 * sd && next.std_s < 2.0 * sd, "{next:?} {sd}");
}

#[test]
fn next_bursts_come_within_their_standard_deviations() {
    // a number from 0 to 1 for each index
    let chance =
        |i: u32| (f64::from(i.wrapping_mul(2_654_435_769) ^ (i.wrapping_mul(40_503) >> 3)) / 4_294_967_296.0).fract();
    let normal = |i: u32| (0..12).map(|k| chance(12 * i + k)).sum::<f64>() - 6.0;
    let (mut count, mut within) = (0.0, [0.0, 0.0]);
    for i in 0..150u32 {
        let (n, jitter, clock) = (10 + i % 23, 0.02 + 0.1 * chance(i), i.is_multiple_of(2));
        let noise: Vec<f64> = (0..=n).map(|k| 10.0 * jitter * normal(40 * i + k)).collect();
        let starts: Vec<f64> = if clock {
            noise.iter().zip(0..).map(|(e, k)| 10.0 * f64::from(k) + e).collect()
        } else {
            after_gaps(&noise[1..].iter().map(|e| 10.0 + e).collect::<Vec<_>>())
        };
        let (next, seen) = starts.split_last().unwrap();
        let profile = Profile::from_spans(bursts(seen.iter().copied(), 1.0));
        let origin = profile.origin();
        let found = detect(&profile, Options::for_run(next - origin));
        let Some(period) = found.periods.first().filter(|p| (p.period_s / 10.0 - 1.0).abs() < 0.1) else { continue };
        // at random, and just before and after the burst is due: it has not come at any of these
        let (end, due) = (seen[seen.len() - 1] + 1.0, period.next.start_s);
        let at_random = end + chance(7 * i + 3) * (next - end);
        let near_due = [-1.0, -0.3, 0.3, 1.0, 2.0].map(|z| due + 10.0 * z * jitter);
        for cut in near_due.into_iter().chain([at_random]).filter(|cut| (end..*next).contains(cut)) {
            let given = period.next_after(cut).unwrap();
            assert!(given.start_s >= cut);
            let off = (given.start_s - next).abs() / given.std_s;
            count += 1.0;
            within[0] += f64::from(u8::from(off <= 1.0));
            within[1] += f64::from(u8::from(off <= 2.0));
        }
    }
    let share = within.map(|w| w / count);
    assert!(count > 400.0 && (0.6..0.8).contains(&share[0]) && share[1] > 0.92, "{count} {share:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// No answer hangs on a hair.
    #[test]
    fn small_changes_of_the_input_keep_the_answer(
        period in 1.5..60.0f64,
        duty in 0.02..0.97f64,
        n in 8u32..40,
        jitter in prop::sample::select(vec![0.0, 0.002, 0.02f64]),
        noise in prop::collection::vec(-1.0..1.0f64, 41),
    ) {
        let jitter = jitter.min(0.5 * (1.0 - duty));
        let starts: Vec<f64> = (0..n).map(|k| period * (f64::from(k) + jitter * noise[k as usize])).collect();
        let stretched = starts.iter().map(|t| 1.001 * t).collect();
        let fewer = starts[..starts.len() - 1].to_vec();
        let mut more = starts.clone();
        more.push(period * f64::from(n));
        for (what, starts) in [("as it is", starts), ("times", stretched), ("one less", fewer), ("one more", more)] {
            let spans = bursts(starts, duty * period);
            let found = answer(&spans);
            prop_assert!(leads(&found, period, 0.02), "{what}: {:?}", periods(&found));
            let heavy: Vec<Span> = spans.iter().map(|s| Span { bytes: 1024.0 * s.bytes, ..*s }).collect();
            prop_assert_eq!(periods(&answer(&heavy)).len(), periods(&found).len());
            let run = Profile::from_spans(spans.iter().copied());
            let longer = detect(&run, Options::for_run(run.duration() + 1.0));
            prop_assert!(leads(&longer, period, 0.02), "a second more: {:?}", periods(&longer));
        }
    }
}
