//! Wavelet coefficients and components equal those that PyWavelets gives (`scripts/wavelet_oracle.py`).

use iophase::internals::transform::{Band, Boundary, Decomposition, Wavelet};
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    wavelet: String,
    boundary: String,
    level: usize,
    max_level: usize,
    signal: Vec<f64>,
    /// Approximation first, then details from the coarsest to the finest.
    coefficients: Vec<Vec<f64>>,
    components: Vec<Vec<f64>>,
}

fn near(got: &[f64], want: &[f64], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        // PyWavelets' symlets have twelve digits only.
        assert!((g - w).abs() < 1e-9, "{what}[{i}]: {g} instead of {w}");
    }
}

#[test]
fn coefficients_and_components_match_pywavelets() {
    let oracle: Oracle = serde_json::from_str(include_str!("../data/transform/wavelet.json")).unwrap();
    let mut compared = 0;
    for case in oracle.cases {
        let wavelet = Wavelet::named(&case.wavelet).unwrap();
        let boundary = match case.boundary.as_str() {
            "symmetric" => Boundary::Symmetric,
            "periodic" => Boundary::Periodic,
            "zero" => Boundary::Zero,
            other => panic!("unknown boundary {other}"),
        };
        let what = format!("{} {} of {} samples", case.wavelet, case.boundary, case.signal.len());
        assert_eq!(wavelet.max_level(case.signal.len()), case.max_level, "{what}");
        let (low, high) = iophase::internals::transform::dwt(&case.signal, &wavelet, boundary).unwrap();
        near(&high, case.coefficients.last().unwrap(), &what);
        if case.max_level == 0 {
            // Shorter than the filter: one step is defined, a decomposition is refused.
            near(&low, &case.coefficients[0], &what);
            assert!(Decomposition::of(&case.signal, &wavelet, boundary, case.level).is_err());
            continue;
        }
        let d = Decomposition::of(&case.signal, &wavelet, boundary, case.level).unwrap();
        near(d.approximation(), &case.coefficients[0], &what);
        near(&d.at_full_length(Band::Approximation, case.level).unwrap(), &case.components[0], &what);
        for level in 1..=case.level {
            let place = case.level + 1 - level;
            near(d.details(level).unwrap(), &case.coefficients[place], &what);
            near(&d.at_full_length(Band::Detail, level).unwrap(), &case.components[place], &what);
        }
        compared += 1;
    }
    assert!(compared > 30);
}
