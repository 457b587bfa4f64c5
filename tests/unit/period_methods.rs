//! Every method through the whole pipeline on a trace made by hand.

use iophase::analysis::Pass;
use iophase::analysis::{Analysis, ModeChoice, Options, analyze};
use iophase::analysis::{Filter, Mode, Selection};
use iophase::internals::render::figure::{self, Look, View};
use iophase::internals::render::text;
use iophase::period::{Detector, Method, Relation, Verdict};
use iophase::record::{Data, Interval, Intervals, Op, Request, Requests, Timing, Trace};

const PERIOD: f64 = 20.3;

/// Writes of four ranks at `starts`, three seconds and 64 MB each burst; the clock starts at a million seconds.
fn trace(starts: impl Iterator<Item = f64>) -> Trace {
    let mut t = Trace { origin_s: 1_000_000, path: "by hand".into(), format: "custom", ..Trace::default() };
    let file = t.files.intern("/scratch/out");
    let rows = starts.flat_map(|s| (0..4).map(move |rank| (s + 0.1 * f64::from(rank), rank))).map(|(start, rank)| {
        Request { op: Op::Write, rank, file, size: 16_000_000, start, end: start + 2.7, ..Request::default() }
    });
    t.data = Data::Requests(rows.collect::<Requests>());
    t.ranks = 4;
    t
}

/// Writes of one rank, 1 MB a second, at (start, width) in seconds.
fn trace_of(bursts: impl Iterator<Item = (f64, f64)>) -> Trace {
    let mut t = Trace { path: "by hand".into(), format: "custom", ranks: 1, ..Trace::default() };
    let file = t.files.intern("/scratch/out");
    let row = |(start, width): (f64, f64)| Request {
        op: Op::Write,
        file,
        size: (1e6 * width) as u64,
        start,
        end: start + width,
        ..Request::default()
    };
    t.data = Data::Requests(bursts.map(row).collect::<Requests>());
    t
}

/// Twenty bursts of a clock.
fn regular() -> Trace {
    trace((0..20).map(|i| 5.0 + PERIOD * f64::from(i)))
}

fn run(t: &Trace, options: Options) -> Analysis {
    analyze(t, &options.mode(ModeChoice::One(Mode::Write)).rate_hz(Some(10.0))).unwrap()
}

/// A heatmap with bins of 0.2 s of writes of 0.1 s, `count` of them, `period_s` apart.
fn heatmap(period_s: f64, count: u32, bin_s: f64) -> Trace {
    let mut bins = std::collections::BTreeMap::<u64, f64>::new();
    for i in 0..count {
        for part in 0..10 {
            let t = 0.33 + period_s * f64::from(i) + 0.01 * f64::from(part);
            *bins.entry((t / bin_s) as u64).or_default() += 1e6;
        }
    }
    let row = |(k, bytes): (u64, f64)| Interval {
        op: Op::Write,
        start: k as f64 * bin_s,
        end: (k + 1) as f64 * bin_s,
        bytes,
        ..Interval::default()
    };
    let data = Data::Intervals(bins.into_iter().map(row).collect::<Intervals>());
    Trace { timing: Timing::Heatmap, bin_s: Some(bin_s), format: "darshan", ranks: 1, data, ..Trace::default() }
}

#[test]
fn few_bins_per_period_limit_the_confidence() {
    let answer = |period_s: f64| {
        let t = heatmap(period_s, 60, 0.2);
        let report = analyze(&t, &Options::default()).unwrap().report;
        let warned = report.warnings.iter().any(|w| w.code == "near-bin-width");
        (report.signals[0].period.dominant.as_ref().map(|d| (d.period_s, d.confidence)), warned)
    };
    // two and a half bins: every second burst looks alike, and yet it is not twice the period
    let (Some((found, _)), true) = answer(0.5) else { panic!("{:?}", answer(0.5)) };
    assert!((found - 0.5).abs() < 0.005, "{found}");
    let (Some((found, confidence)), false) = answer(2.0) else { panic!("{:?}", answer(2.0)) };
    assert!((found - 2.0).abs() < 0.01 && confidence > 0.9, "{found} {confidence}");
}

#[test]
fn a_period_below_two_bins_is_not_resolved() {
    let report = analyze(&heatmap(0.27, 100, 0.2), &Options::default()).unwrap().report;
    let period = &report.signals[0].period;
    assert_eq!((period.periodic, period.verdict), (None, Verdict::NotResolvable));
    // the true period is among those that agree with the bins, and none of them is sure
    assert!(period.candidates.iter().any(|c| (c.period_s / 0.27 - 1.0).abs() < 0.02), "{:?}", period.candidates);
    assert!(period.candidates.iter().all(|c| c.confidence <= 0.5), "{:?}", period.candidates);
    assert!(report.warnings.iter().any(|w| w.code == "near-bin-width"));
}

#[test]
fn a_fast_rhythm_is_named_and_no_multiple_of_it_reported() {
    let fast = || trace_of((0..1500).map(|i| (0.010 * f64::from(i), 0.002)));
    let report = run(&fast(), Options::default()).report;
    assert!(report.signals[0].period.dominant.is_none());
    assert!(report.warnings.iter().any(|w| w.code == "fast-rhythm"), "{:?}", report.warnings);
    let asked = run(&fast(), Options::default().min_period_s(Some(0.001))).report;
    let found = asked.signals[0].period.dominant.as_ref().map(|d| d.period_s);
    assert!(found.is_some_and(|p| (p - 0.010).abs() < 1e-6), "{found:?}");
}

#[test]
fn a_burst_under_way_is_not_the_next_one() {
    let mut bursts: Vec<(f64, f64)> = (0..12).map(|i| (10.0 + 20.0 * f64::from(i), 2.0)).collect();
    bursts.push((250.0, 0.2));
    let report = run(&trace_of(bursts.into_iter()), Options::default()).report;
    let next = report.signals[0].prediction.clone().unwrap();
    assert!(next.now_in_burst && (next.next_start_s - 270.0).abs() < 1e-3, "{next:?}");
    let whole = run(&regular(), Options::default()).report;
    let next = whole.signals[0].prediction.clone().unwrap();
    assert!(!next.now_in_burst && next.next_start_s >= whole.signals[0].end_s, "{next:?}");
}

#[test]
fn a_checkpoint_right_after_a_dump_is_a_period_of_its_own() {
    let dumps = (0..200).map(|k| (2.0 * f64::from(k), 0.2));
    let checkpoints = (1..7).map(|k| (60.0 * f64::from(k) + 0.2, 1.2));
    let report = run(&trace_of(dumps.chain(checkpoints)), Options::default()).report;
    let period = &report.signals[0].period;
    let all: Vec<f64> =
        period.dominant.iter().map(|d| d.period_s).chain(period.others.iter().map(|o| o.period.period_s)).collect();
    for expected in [2.0, 60.0] {
        assert!(all.iter().any(|p| (p / expected - 1.0).abs() < 0.01), "{expected}: {all:?}");
    }
}

#[test]
fn the_slices_of_a_throttled_burst_are_a_period_within_it() {
    let slices = (0..12).flat_map(|j| (0..30).map(move |i| (100.0 * f64::from(j) + 0.8 * f64::from(i), 0.3)));
    let report = run(&trace_of(slices), Options::default()).report;
    let period = &report.signals[0].period;
    assert!(period.dominant.as_ref().is_some_and(|d| (d.period_s - 100.0).abs() < 0.1), "{:?}", period.dominant);
    let inner = period.others.iter().find(|o| o.relation == Relation::Within);
    assert!(inner.is_some_and(|o| (o.period.period_s - 0.8).abs() < 1e-6), "{:?}", period.others);
}

#[test]
fn totals_per_file_are_not_judged() {
    let t = Trace { timing: Timing::Counter, ..regular() };
    for method in [Method::Auto].into_iter().chain(METHODS) {
        let report = run(&t, Options::default().method(method)).report;
        let s = &report.signals[0];
        assert_eq!((s.period.periodic, s.period.verdict), (None, Verdict::NotResolvable), "{method:?}");
        assert!(s.period.dominant.is_none() && s.prediction.is_none() && report.primary.is_none());
        let text = text::report(&report, text::Style::default());
        assert!(text.contains("period unknown") && !text.contains("not periodic"), "{text}");
    }
}

const METHODS: [Method; 5] = [Method::Dft, Method::Dwt, Method::Stft, Method::Cwt, Method::Autocorrelation];

#[test]
fn every_method_gives_period_validity_bursts_and_prediction() {
    let t = regular();
    for method in METHODS {
        let a = run(&t, Options::default().method(method).scores(true));
        let s = &a.report.signals[0];
        assert_eq!((s.period.periodic, s.period.method), (Some(true), method));
        let d = s.period.dominant.as_ref().unwrap();
        assert!((d.period_s / PERIOD - 1.0).abs() < 0.03, "{method:?}: {d:?}");
        assert_eq!(s.validity.len(), 1, "{method:?}: {:?}", s.validity);
        let w = s.validity[0];
        assert!((w.start_s - 1_000_005.0).abs() < 1.0 && (w.end_s - s.end_s).abs() < 1.0, "{method:?}: {w:?}");
        let b = s.bursts.as_ref().unwrap();
        assert_eq!((b.count, b.starts_s.len()), (20, 20), "{method:?}");
        assert!((b.width_s.median - 2.8).abs() < 0.3 && (b.bytes.median - 64e6).abs() < 1.0, "{method:?}: {b:?}");
        let p = s.prediction.as_ref().unwrap();
        assert!((p.next_start_s - (1_000_005.0 + 20.0 * PERIOD)).abs() < 0.3, "{method:?}: {p:?}");
        assert!((p.bytes_p95 - 64e6).abs() < 1.0 && p.set10.set == 1);
        let c = s.scores.unwrap();
        assert!(c.correlation.unwrap() > 0.3 && c.spectral_flatness.unwrap() < 0.5, "{method:?}: {c:?}");
        assert_eq!(s.track.is_empty(), !matches!(method, Method::Stft | Method::Cwt), "{method:?}");
        assert!(
            text::report(&a.report, text::Style { verbose: true, ..text::Style::default() })
                .contains("spectral flatness")
        );
    }
}

#[test]
fn validity_ends_with_the_period() {
    // Fifteen bursts, then as many at random.
    let gaps = [3.0, 31.0, 8.0, 47.0, 13.0, 5.0, 28.0, 9.0, 36.0, 4.0, 17.0, 41.0];
    let mut at = 5.0 + 14.0 * PERIOD + 15.0;
    let tail: Vec<f64> = gaps
        .iter()
        .map(|g| {
            at += g;
            at
        })
        .collect();
    let t = trace((0..15).map(|i| 5.0 + PERIOD * f64::from(i)).chain(tail));
    let s = run(&t, Options::default().method(Method::Autocorrelation)).report.signals.remove(0);
    let w = s.validity[0];
    assert!((w.start_s - 1_000_005.0).abs() < 1.0, "{:?}", s.validity);
    assert!((w.end_s - (1_000_005.0 + 14.0 * PERIOD)).abs() < 2.0 * PERIOD, "{:?}", s.validity);
}

#[test]
fn every_detector_runs() {
    let t = regular();
    use Detector::{Dbscan, IsolationForest, Lof, Peaks, ZScore};
    for detector in [ZScore, Dbscan, IsolationForest, Lof, Peaks] {
        let s = run(&t, Options::default().method(Method::Dwt).detector(detector).tolerance(0.9));
        let p = &s.report.signals[0].period;
        assert_eq!(p.detector, detector);
        assert!(p.dominant.as_ref().is_some_and(|d| (d.period_s / PERIOD - 1.0).abs() < 0.01), "{p:?}");
    }
}

#[test]
fn components_are_refined_by_the_fit() {
    let t = regular();
    let grid = run(&t, Options::default().method(Method::Dft).components(5)).report.signals.remove(0);
    assert_eq!((grid.components.len(), grid.components[0].frequency_hz), (6, 0.0));
    assert!(grid.fit.is_none());
    let options = Options::default().method(Method::Dft).components(5).fourier_fit(true);
    let fitted = run(&t, options).report.signals.remove(0);
    let f = fitted.fit.unwrap();
    assert_eq!(fitted.components.len(), 6);
    assert!(f.mse_fit <= f.mse_dft && f.improvement > 0.05, "{f:?}");
}

#[test]
fn filters_do_not_change_the_bytes() {
    let t = regular();
    let filter = Some(Filter { pass: Pass::Low(0.3), order: 4 });
    let s = run(&t, Options::default().filter(filter)).report.signals.remove(0);
    assert_eq!(s.period.method, Method::Autocorrelation);
    assert!((s.period.dominant.unwrap().period_s / PERIOD - 1.0).abs() < 1e-3);
    assert!((s.bursts.unwrap().bytes.median - 64e6).abs() < 1.0);
    let filter = Some(Filter { pass: Pass::Low(70.0), order: 4 });
    let e = analyze(&t, &Options::default().rate_hz(Some(10.0)).filter(filter)).unwrap_err();
    assert_eq!(e.exit_code(), 2);
}

#[test]
fn pictures_of_every_method() {
    let t = regular();
    for method in METHODS {
        let a = run(&t, Options::default().method(method).components(10).fourier_fit(true));
        let signal = &a.report.signals[0];
        let view = View::new(&t, signal.mode, &Selection::default(), a.evidence[0].clone());
        for (kind, picture) in figure::pictures(signal, &view, &Look::default(), &[]) {
            assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{method:?} {kind}");
            assert!(!picture.contains("NaN") && picture.len() < 3_000_000, "{method:?} {kind}: {}", picture.len());
        }
    }
}
