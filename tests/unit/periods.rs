//! The default detector on trains made by hand, whose answers are known.

use iophase::internals::period::chains::{BurstPeriods, Clock, Kind, Options, detect};
use iophase::internals::signal::Span;
use iophase::internals::signal::profile::Profile;
use iophase::period::Verdict;
use proptest::prelude::*;

fn run(spans: &[Span]) -> BurstPeriods {
    detect(&Profile::from_spans(spans.iter().copied()), Options::default())
}

fn span(start: f64, end: f64, bytes: f64) -> Span {
    Span { start, end, bytes }
}

/// One burst per onset, written by four ranks that start and end a little apart.
fn bursts(onsets: impl IntoIterator<Item = f64>, width: f64, bytes: f64) -> Vec<Span> {
    onsets
        .into_iter()
        .flat_map(|t| {
            (0..4).map(move |r| {
                span(t + 0.01 * width * f64::from(r), t + width * (1.0 - 0.02 * f64::from(r)), bytes / 4.0)
            })
        })
        .collect()
}

fn every(period: f64, n: usize) -> impl Iterator<Item = f64> + Clone {
    (0..n).map(move |i| 100.0 + period * i as f64)
}

/// Reproducible noise in -1..1.
fn noise(i: usize) -> f64 {
    ((i as f64 * 12.9898).sin() * 43758.5453).rem_euclid(1.0) * 2.0 - 1.0
}

#[track_caller]
fn assert_period(detection: &BurstPeriods, period: f64, tolerance: f64) {
    assert_eq!(detection.verdict, Verdict::Periodic, "{:?}", detection.rejected);
    let found = detection.periods[0].period_s;
    assert!((found / period - 1.0).abs() <= tolerance, "found {found}, expected {period}");
}

#[test]
fn an_exact_train_has_its_period() {
    let detection = run(&bursts(every(12.5, 20), 3.0, 1e9));
    assert_period(&detection, 12.5, 1e-9);
    let found = &detection.periods[0];
    assert_eq!(found.cycles, 20);
    assert_eq!(found.bursts.len(), 20);
    assert!(found.confidence > 0.95);
    assert_eq!(found.windows.len(), 1);
    assert!(
        (found.windows[0].0 - 100.0).abs() < 1e-6 && (found.windows[0].1 - (100.0 + 19.0 * 12.5 + 3.0)).abs() < 1e-6
    );
    assert!((found.next.start_s - found.rise_s - 350.0).abs() < 1e-6, "{found:?}");
    assert!((found.bytes / 20e9 - 1.0).abs() < 0.01);
}

#[test]
fn a_missing_burst_leaves_an_empty_cycle() {
    let onsets = every(8.0, 24).enumerate().filter(|(i, _)| *i != 9).map(|(_, t)| t);
    let detection = run(&bursts(onsets, 2.0, 1e8));
    assert_period(&detection, 8.0, 1e-9);
    assert_eq!(detection.periods[0].bursts.len(), 23);
    assert_eq!(detection.periods[0].cycles, 24);
}

#[test]
fn missing_bursts_among_jittered_ones_do_not_stretch_the_period() {
    let onsets = every(9.0, 36).enumerate().filter(|(i, _)| ![5, 11, 12, 20, 29].contains(i));
    let detection = run(&bursts(onsets.map(|(i, t)| t + 0.4 * noise(i)), 1.5, 1e8));
    assert_period(&detection, 9.0, 0.01);
}

#[test]
fn a_few_missing_bursts_are_no_longer_period() {
    let onsets = every(2.0, 28).enumerate().filter(|(i, _)| ![6, 7, 13, 14].contains(i));
    assert_period(&run(&bursts(onsets.map(|(_, t)| t), 0.4, 1e8)), 2.0, 1e-3);
}

#[test]
fn full_checkpoints_among_small_ones_come_with_one_period() {
    let spans: Vec<Span> =
        every(9.0, 36).enumerate().flat_map(|(i, t)| bursts([t], if i % 3 == 0 { 2.0 } else { 0.8 }, 1e8)).collect();
    assert_period(&run(&spans), 9.0, 1e-3);
}

#[test]
fn periods_below_the_shortest_are_not_reported() {
    let spans = bursts((0..200).map(|i| 0.01 * f64::from(i)), 0.002, 1e6);
    assert_period(&run(&spans), 0.01, 1e-3);
    let options = Options { shortest_period_s: 0.02, ..Options::default() };
    let detection = detect(&Profile::from_spans(spans.iter().copied()), options);
    assert!(detection.periods.iter().all(|f| f.period_s >= 0.02), "{:?}", detection.periods);
}

#[test]
fn a_timer_late_every_other_time_does_not_double_the_period() {
    let onsets = every(5.0, 40).enumerate().map(|(i, t)| if i % 2 == 0 { t } else { t + 0.07 });
    assert_period(&run(&bursts(onsets, 0.5, 1e8)), 5.0, 1e-3);
}

#[test]
fn an_extra_burst_belongs_to_no_cycle() {
    let mut spans = bursts(every(8.0, 24), 1.0, 1e8);
    spans.extend(bursts([100.0 + 8.0 * 9.0 + 3.7], 1.0, 1e8));
    let detection = run(&spans);
    assert_period(&detection, 8.0, 1e-6);
    assert_eq!(detection.periods[0].windows.len(), 1);
}

#[test]
fn two_regimes_are_two_periods_each_in_its_window() {
    let mut spans = bursts(every(10.0, 20), 3.0, 3e9);
    spans.extend(bursts((0..12).map(|i| 300.0 + 4.0 * f64::from(i)), 1.2, 1e8));
    let detection = run(&spans);
    assert_period(&detection, 10.0, 1e-6);
    let second = &detection.periods[1];
    assert!((second.period_s - 4.0).abs() < 1e-6);
    assert!((second.windows[0].0 - 300.0).abs() < 4.1, "{:?}", second.windows);
}

#[test]
fn a_pause_splits_the_window() {
    let spans = bursts(every(6.0, 15).chain((0..15).map(|i| 243.3 + 6.0 * f64::from(i))), 2.0, 1e8);
    let detection = run(&spans);
    assert_period(&detection, 6.0, 1e-3);
    let found = &detection.periods[0];
    assert_eq!(found.bursts.len(), 30);
    assert_eq!(found.windows.len(), 2, "{:?}", found.windows);
    assert!((found.next.start_s - (243.3 + 90.0)).abs() < 0.05, "{:?} {:?}", found.next, found.windows);
}

#[test]
fn jitter_on_a_grid_differs_from_varying_gaps() {
    let grid = (0..40).map(|i| 50.0 + 20.0 * i as f64 + 2.0 * noise(i));
    let detection = run(&bursts(grid, 3.0, 1e9));
    assert_period(&detection, 20.0, 0.005);
    assert_eq!(detection.periods[0].clock, Clock::Clocked);
    let mut t = 0.0;
    let walk: Vec<f64> = (0..40)
        .map(|i| {
            t += 20.0 * (1.0 + 0.12 * noise(i + 1000));
            t
        })
        .collect();
    let mean = (walk[39] - walk[0]) / 39.0;
    let detection = run(&bursts(walk, 3.0, 1e9));
    assert_period(&detection, mean, 0.01);
    assert!(detection.periods[0].next.std_s > 0.1);
}

#[test]
fn two_interlaced_writers_are_two_periods() {
    let mut spans = bursts(every(30.0, 20), 6.0, 6e9);
    spans.extend((0..100).map(|i| span(101.3 + 5.7 * f64::from(i), 101.9 + 5.7 * f64::from(i), 1e8)));
    let detection = run(&spans);
    assert_period(&detection, 30.0, 1e-3);
    assert!(detection.periods.iter().any(|f| (f.period_s - 5.7).abs() < 0.01), "{:?}", detection.periods);
}

#[test]
fn after_a_heavy_burst_the_light_one_is_next() {
    // the heavy ones are longer, so that the pauses before and after them differ by a quarter
    let spans: Vec<Span> = (0..29)
        .flat_map(|i| {
            let share = if i % 2 == 0 { 1.0 } else { 0.3 };
            bursts([100.0 + 10.0 * i as f64 + 0.03 * noise(i)], 2.5 * share, 1e9 * share)
        })
        .collect();
    let detection = run(&spans);
    assert_eq!(detection.verdict, Verdict::Periodic);
    // the last one was heavy
    let next = detection.periods[0].places.iter().map(|p| p.start_s).fold(f64::INFINITY, f64::min);
    assert!((next - 390.0).abs() < 0.2, "{:?}", detection.periods[0].places);
}

/// Outputs every 5 s, each of pieces (start, seconds, bytes).
fn outputs(pieces: &[(f64, f64, f64)]) -> Vec<Span> {
    let output = |i: u32| pieces.iter().map(move |&(at, width, bytes)| (5.0 * f64::from(i) + at, width, bytes));
    (0..16).flat_map(output).map(|(start, width, bytes)| span(start, start + width, bytes)).collect()
}

#[test]
fn an_output_of_several_files_is_one_burst() {
    for pieces in [
        &[(0.0, 0.03, 4e4), (0.7, 0.01, 8e5), (1.4, 0.9, 1.2e7)][..],
        &[(0.0, 0.2, 1e7), (0.8, 0.2, 1e7), (1.7, 0.2, 1e7), (2.4, 0.2, 1e7)],
    ] {
        let detection = run(&outputs(pieces));
        assert_period(&detection, 5.0, 1e-3);
        let (first, bytes) = (&detection.periods[0], pieces.iter().map(|p| p.2).sum::<f64>());
        assert_eq!(first.bursts.len(), 16, "{pieces:?}");
        assert!((first.next.bytes / bytes - 1.0).abs() < 0.1, "{} of {bytes}", first.next.bytes);
        let next = first.places.iter().map(|p| p.start_s).fold(f64::INFINITY, f64::min);
        assert!(next > 79.9 && next < 81.5, "{next}");
    }
    let in_turn = run(&outputs(&[(0.0, 1.0, 1e9), (2.5, 0.2, 2e8)]));
    assert!(in_turn.periods[0].bursts.len() > 16, "light and heavy bursts in turn stay apart");
}

#[test]
fn a_write_that_dwarfs_all_bursts_does_not_hide_them() {
    let mut spans: Vec<Span> = (0..200).map(|i| span(10.0 * i as f64, 10.0 * (i + 1) as f64, 1e10)).collect();
    spans.extend(bursts((0..20).map(|i| 2020.0 + 13.0 * f64::from(i)), 1.0, 1e9));
    let detection = run(&spans);
    assert_period(&detection, 13.0, 1e-6);
    assert!(detection.periods[0].windows[0].0 > 2000.0, "{:?}", detection.periods[0].windows);
}

#[test]
fn two_nearly_even_bursts_per_phase_are_one_period() {
    let onsets = (0..20).flat_map(|i| [100.0 + 10.0 * f64::from(i), 104.7 + 10.0 * f64::from(i)]);
    let detection = run(&bursts(onsets, 1.5, 1e8));
    assert_period(&detection, 10.0, 1e-6);
}

#[test]
fn a_sine_on_a_constant_stream_is_a_modulation() {
    let (period, width) = (37.0, 0.9);
    let spans: Vec<Span> = (0..1000)
        .map(|i| {
            let t = width * f64::from(i);
            let swing = 1.0 + 0.35 * (std::f64::consts::TAU * t / period).sin();
            span(t, t + width, 1e6 * swing * (1.0 + 0.1 * noise(i as usize)))
        })
        .collect();
    let detection = run(&spans);
    assert_period(&detection, period, 0.005);
    let window = detection.periods[0].windows[0];
    assert!(window.0 < period && window.1 > 900.0 - period, "{window:?}");
    // the sine next rises through its mean at the 25th multiple of its period
    let next = detection.periods[0].next;
    assert!(next.std_s > 0.0 && next.std_s < 0.1 * period, "{next:?}");
    assert!((next.start_s - 25.0 * period).abs() < 3.0 * next.std_s, "{next:?}");
}

#[test]
fn a_heatmap_with_three_bins_per_period_is_periodic() {
    // bursts of 4 s every 31 s, seen in bins of 10 s
    let mut bins = [0.0; 160];
    for i in 0..50 {
        for k in 0..40 {
            let t = 3.0 + 31.0 * f64::from(i) + 0.1 * f64::from(k);
            bins[(t / 10.0) as usize] += 1e6;
        }
    }
    let spans: Vec<Span> =
        (0..160).filter(|&i| bins[i] > 0.0).map(|i| span(10.0 * i as f64, 10.0 * (i + 1) as f64, bins[i])).collect();
    assert_period(&run(&spans), 31.0, 0.01);
}

#[test]
fn a_period_of_thousands_of_cycles_is_exact() {
    let onsets = (0..5000).map(|i| 2.0 * i as f64 + 0.1 * noise(i));
    let spans: Vec<Span> = onsets.map(|t| span(t, t + 0.5, 1e6)).collect();
    assert_period(&run(&spans), 2.0, 1e-4);
}

#[test]
fn a_run_of_more_bursts_than_are_searched_has_the_period_of_its_end() {
    let onsets = (0..40_000).scan(100.0, |t, i| {
        *t += 10.0 + noise(i);
        Some(*t)
    });
    let onsets: Vec<f64> = onsets.collect();
    let one_rank: Vec<Span> = onsets.iter().map(|&t| span(t, t + 1.5, 1e6)).collect();
    let detection = run(&one_rank);
    assert_period(&detection, 10.0, 0.01);
    let (searched, of) = detection.latest.expect("only a part is searched");
    assert_eq!(of, 40_000);
    let windows = &detection.periods[0].windows;
    assert!((windows[0].0 - onsets[of - searched]).abs() < 20.0, "{windows:?}");
    assert!((windows[windows.len() - 1].1 - (onsets[of - 1] + 1.5)).abs() < 20.0, "{windows:?}");
    assert_eq!(detection.periods[0].bursts.last().map(|b| b.start_s.round()), Some(onsets[of - 1].round()));
}

#[test]
fn short_bursts_at_random_are_no_constant_bandwidth() {
    let onsets = (0..2_000).scan(100.0, |t, i| {
        *t += -10.0 * (0.5 + 0.499 * noise(i)).ln();
        Some(*t)
    });
    let short: Vec<Span> = onsets.map(|t| span(t, t + 0.05, 1e6)).collect();
    assert_eq!(run(&short).verdict, Verdict::Irregular);
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let onsets: Vec<f64> = (0..40).map(|i| 20.0 * i as f64 + 3.0 * noise(i)).collect();
    let spans = bursts(onsets, 3.0, 1e9);
    let answers: Vec<String> = [1, 2, 5]
        .iter()
        .map(|&n| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| format!("{:?}", run(&spans)))
        })
        .collect();
    assert!(answers.iter().all(|a| *a == answers[0]));
}

#[test]
fn desynchronised_ranks_have_the_period_of_the_job() {
    let spans: Vec<Span> = (0..15)
        .flat_map(|i| {
            (0..8).map(move |r| {
                let t = 40.0 * f64::from(i) + 1.9 * f64::from(r * r % 7);
                span(t, t + 5.0, 1e8)
            })
        })
        .collect();
    assert_period(&run(&spans), 40.0, 1e-6);
}

#[test]
fn trains_without_a_period_have_a_reason() {
    assert_eq!(run(&[]).verdict, Verdict::Empty);
    assert_eq!(run(&[span(f64::NAN, 1.0, 1.0), span(0.0, f64::INFINITY, 1.0)]).verdict, Verdict::Empty);
    assert_eq!(run(&bursts([5.0], 10.0, 1e9)).verdict, Verdict::SingleBurst);
    assert_eq!(run(&bursts([5.0, 50.0], 10.0, 1e9)).verdict, Verdict::TooFewCycles);
    let steady: Vec<Span> = (0..4)
        .flat_map(|r| {
            (0..200).map(move |i| span(f64::from(i) + 0.1 * f64::from(r), f64::from(i) + 1.0 + 0.1 * f64::from(r), 1e6))
        })
        .collect();
    assert_eq!(run(&steady).verdict, Verdict::Constant);
    // exponential gaps
    let mut t = 0.0;
    let random: Vec<f64> = (0..30)
        .map(|i| {
            t += 3.0 - 20.0 * (0.5 + 0.499 * noise(i + 77)).ln();
            t
        })
        .collect();
    let detection = run(&bursts(random, 3.0, 1e9));
    assert_eq!(detection.verdict, Verdict::Irregular, "{:?}", detection.periods);
    assert!(detection.rejected.is_some_and(|r| r.confidence < 0.5));
}

#[test]
fn extreme_clocks_are_survived() {
    for (scale, shift) in [(1e-6, 0.0), (1e6, 0.0), (1.0, 1.7e9), (1.0, -1e6)] {
        let onsets = (0..20).map(|i| shift + scale * 10.0 * f64::from(i));
        let detection = run(&bursts(onsets, 2.0 * scale, 1e9));
        assert_period(&detection, 10.0 * scale, 1e-4);
    }
    // nonsense in, some verdict out
    run(&[span(-1e300, 1e300, 1.0), span(0.0, 1.0, 1e300), span(5.0, 5.0, 1e-300)]);
    run(&[span(0.0, 0.0, 1.0), span(0.0, 0.0, 1.0), span(0.0, 0.0, 1.0)]);
}

#[test]
fn the_kind_of_a_plain_train_is_a_chain() {
    let detection = run(&bursts(every(5.0, 30), 1.0, 1e6));
    assert!(matches!(detection.periods[0].kind, Kind::Chain | Kind::EveryBurst));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shifting_the_clock_scaling_the_bytes_and_reordering_change_nothing(
        period in 2.0..50.0f64, n in 6usize..30, duty in 0.05..0.5f64, shift in -1e5..1e5f64, factor in 1e-3..1e3f64, seed in 0usize..1000,
    ) {
        let onsets: Vec<f64> = (0..n).map(|i| 10.0 + period * (i as f64 + 0.05 * noise(seed + i))).collect();
        let spans = bursts(onsets, duty * period, 1e9);
        let mut other: Vec<Span> = spans.iter().map(|s| span(s.start + shift, s.end + shift, s.bytes * factor)).collect();
        other.reverse();
        let (a, b) = (run(&spans), run(&other));
        prop_assert_eq!(a.verdict, b.verdict);
        prop_assert_eq!(a.periods.len(), b.periods.len());
        for (x, y) in a.periods.iter().zip(&b.periods) {
            prop_assert!((x.period_s / y.period_s - 1.0).abs() < 1e-6);
            prop_assert!((x.confidence - y.confidence).abs() < 1e-3);
            prop_assert!((x.windows[0].0 + shift - y.windows[0].0).abs() < 1e-6 * period.max(1.0));
        }
    }

    #[test]
    fn any_spans_give_an_answer(
        spans in prop::collection::vec((-1e3..1e3f64, 0.0..100.0f64, 0.0..1e9f64), 0..120),
    ) {
        let spans: Vec<Span> = spans.into_iter().map(|(s, w, b)| span(s, s + w, b)).collect();
        let detection = run(&spans);
        prop_assert_eq!(detection.periods.is_empty(), detection.verdict != Verdict::Periodic);
        for f in &detection.periods {
            prop_assert!(f.period_s > 0.0 && f.period_std_s >= 0.0 && (0.0..=1.0).contains(&f.confidence));
            prop_assert!(f.windows.windows(2).all(|w| w[0].1 <= w[1].0));
            prop_assert!(f.next.start_s.is_finite() && f.next.std_s.is_finite());
        }
    }
}
