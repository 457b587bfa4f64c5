//! The Fourier fit is at least as good as SciPy's `curve_fit` from the same start (`scripts/fit_oracle.py`).

use iophase::transform::fourier_fit;
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    components: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    signal: Vec<f64>,
    /// Mean square error of the DFT's strongest components.
    dft: f64,
    /// Mean square error after `curve_fit`.
    curve_fit: f64,
}

#[test]
fn at_least_as_good_as_curve_fit() {
    let oracle: Oracle = serde_json::from_str(include_str!("data/transform/fourier_fit.json")).unwrap();
    assert!(oracle.cases.len() >= 9);
    for case in oracle.cases {
        let what = format!("{} samples", case.signal.len());
        let f = fourier_fit(&case.signal, 1.0, oracle.components).unwrap();
        assert!((f.dft.mean_square_error / case.dft - 1.0).abs() < 1e-9, "{what}: the start differs");
        let share = f.fit.mean_square_error / case.curve_fit;
        assert!(share <= 1.0 + 1e-6, "{what}: {share} of the error of curve_fit");
    }
}
