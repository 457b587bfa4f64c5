//! The Fourier fit against SciPy's `curve_fit` on burst trains (made by `scripts/fit_oracle.py`).

use std::path::Path;

use iophase::internals::transform::fourier_fit;
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    components: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    signal: Vec<f64>,
    dft_mse: f64,
    dogbox_mse: f64,
}

fn oracle() -> Oracle {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transform/fourier_fit.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn fits_are_at_least_as_good_as_scipy() {
    let oracle = oracle();
    for case in oracle.cases {
        let fit = fourier_fit(&case.signal, 1.0, oracle.components).unwrap();
        let n = case.signal.len();
        assert!((fit.dft.mean_square_error / case.dft_mse - 1.0).abs() < 1e-9, "DFT, {n} samples");
        let (got, scipy) = (fit.fit.mean_square_error, case.dogbox_mse);
        assert!(got <= scipy * (1.0 + 1e-9), "{n} samples: {got} against {scipy}");
    }
}
