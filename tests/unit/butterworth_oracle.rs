//! Butterworth filters equal those that SciPy gives (`scripts/filter_oracle.py`).

use iophase::internals::transform::{Butterworth, Pass};
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    rate_hz: f64,
    signal: Vec<f64>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    order: usize,
    cutoff_hz: Vec<f64>,
    frequencies_hz: Vec<f64>,
    response: Vec<[f64; 2]>,
    filtered: Vec<f64>,
    zero_phase: Vec<f64>,
}

#[test]
fn responses_and_filtered_signals_match_scipy() {
    let oracle: Oracle = serde_json::from_str(include_str!("../data/transform/butterworth.json")).unwrap();
    assert_eq!(oracle.cases.len(), 40);
    for case in oracle.cases {
        let pass = match (case.kind.as_str(), case.cutoff_hz.as_slice()) {
            ("lowpass", &[f]) => Pass::Low(f),
            ("highpass", &[f]) => Pass::High(f),
            ("bandpass", &[low, high]) => Pass::Band(low, high),
            other => panic!("unknown filter {other:?}"),
        };
        let what = format!("{pass:?} of order {}", case.order);
        let filter = Butterworth::design(pass, case.order, oracle.rate_hz).unwrap();
        for (f, [re, im]) in case.frequencies_hz.iter().zip(case.response) {
            let h = filter.response(*f);
            assert!((h.re - re).abs() < 1e-9 && (h.im - im).abs() < 1e-9, "{what} at {f}: {h} instead of {re} {im}");
        }
        let near = |got: &[f64], want: &[f64], kind: &str| {
            assert_eq!(got.len(), want.len());
            for (n, (g, w)) in got.iter().zip(want).enumerate() {
                assert!((g - w).abs() < 1e-8, "{what}, {kind}[{n}]: {g} instead of {w}");
            }
        };
        near(&filter.filter(&oracle.signal), &case.filtered, "filtered");
        near(&filter.filter_zero_phase(&oracle.signal), &case.zero_phase, "zero phase");
    }
}
