//! Every method through the whole pipeline on a trace made by hand.

use iophase::analysis::{Analysis, ModeChoice, Options, analyze};
use iophase::period::{Detector, Method, Verdict};
use iophase::record::{Data, Interval, Intervals, Op, Request, Requests, Timing, Trace};
use iophase::render::svg::{self, View};
use iophase::render::text;
use iophase::signal::{Filter, Mode, Selection};
use iophase::transform::Pass;

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

/// Twenty bursts of a clock.
fn regular() -> Trace {
    trace((0..20).map(|i| 5.0 + PERIOD * f64::from(i)))
}

fn run(t: &Trace, options: Options) -> Analysis {
    analyze(t, &Options { mode: ModeChoice::One(Mode::Write), rate_hz: Some(10.0), ..options }).unwrap()
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
    // two and a half bins: every second burst looks alike
    let (Some((found, confidence)), true) = answer(0.5) else { panic!("{:?}", answer(0.5)) };
    assert!((found / 0.5).round() <= 2.0 && confidence < 0.9, "{found} {confidence}");
    let (Some((found, confidence)), false) = answer(2.0) else { panic!("{:?}", answer(2.0)) };
    assert!((found - 2.0).abs() < 0.01 && confidence > 0.9, "{found} {confidence}");
}

#[test]
fn totals_per_file_are_not_judged() {
    let t = Trace { timing: Timing::Counter, ..regular() };
    for method in [Method::Auto].into_iter().chain(METHODS) {
        let report = run(&t, Options { method, ..Options::default() }).report;
        let s = &report.signals[0];
        assert_eq!((s.period.periodic, s.period.verdict), (None, Verdict::NotResolvable), "{method:?}");
        assert!(s.period.dominant.is_none() && s.prediction.is_none() && report.primary.is_none());
        let text = text::report(&report, text::Style::default());
        assert!(text.contains("cannot be determined") && !text.contains("not periodic"), "{text}");
    }
}

const METHODS: [Method; 5] = [Method::Dft, Method::Dwt, Method::Stft, Method::Cwt, Method::Autocorrelation];

#[test]
fn every_method_gives_period_validity_bursts_and_prediction() {
    let t = regular();
    for method in METHODS {
        let a = run(&t, Options { method, scores: true, ..Options::default() });
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
    let s = run(&t, Options { method: Method::Autocorrelation, ..Options::default() }).report.signals.remove(0);
    let w = s.validity[0];
    assert!((w.start_s - 1_000_005.0).abs() < 1.0, "{:?}", s.validity);
    assert!((w.end_s - (1_000_005.0 + 14.0 * PERIOD)).abs() < 2.0 * PERIOD, "{:?}", s.validity);
}

#[test]
fn every_detector_runs() {
    let t = regular();
    use Detector::{Dbscan, IsolationForest, Lof, Peaks, ZScore};
    for detector in [ZScore, Dbscan, IsolationForest, Lof, Peaks] {
        let s = run(&t, Options { method: Method::Dwt, detector, tolerance: 0.9, ..Options::default() });
        let p = &s.report.signals[0].period;
        assert_eq!(p.detector, detector);
        assert!(p.dominant.as_ref().is_some_and(|d| (d.period_s / PERIOD - 1.0).abs() < 0.01), "{p:?}");
    }
}

#[test]
fn components_are_refined_by_the_fit() {
    let t = regular();
    let grid = run(&t, Options { method: Method::Dft, components: 5, ..Options::default() }).report.signals.remove(0);
    assert_eq!((grid.components.len(), grid.components[0].frequency_hz), (6, 0.0));
    assert!(grid.fit.is_none());
    let options = Options { method: Method::Dft, components: 5, fourier_fit: true, ..Options::default() };
    let fitted = run(&t, options).report.signals.remove(0);
    let f = fitted.fit.unwrap();
    assert_eq!(fitted.components.len(), 6);
    assert!(f.mse_fit <= f.mse_dft && f.improvement > 0.05, "{f:?}");
}

#[test]
fn filters_do_not_change_the_bytes() {
    let t = regular();
    let filter = Some(Filter { pass: Pass::Low(0.3), order: 4 });
    let s = run(&t, Options { filter, ..Options::default() }).report.signals.remove(0);
    assert_eq!(s.period.method, Method::Autocorrelation);
    assert!((s.period.dominant.unwrap().period_s / PERIOD - 1.0).abs() < 1e-3);
    assert!((s.bursts.unwrap().bytes.median - 64e6).abs() < 1.0);
    let filter = Some(Filter { pass: Pass::Low(70.0), order: 4 });
    let e = analyze(&t, &Options { rate_hz: Some(10.0), filter, ..Options::default() }).unwrap_err();
    assert_eq!(e.exit_code(), 2);
}

#[test]
fn pictures_of_every_method() {
    let t = regular();
    for method in METHODS {
        let a = run(&t, Options { method, components: 10, fourier_fit: true, ..Options::default() });
        let signal = &a.report.signals[0];
        let view = View::new(&t, signal.mode, &Selection::default(), a.evidence[0].clone());
        for (kind, picture) in svg::pictures(signal, &view).unwrap() {
            assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{method:?} {kind}");
            assert!(!picture.contains("NaN") && picture.len() < 3_000_000, "{method:?} {kind}: {}", picture.len());
        }
    }
}
