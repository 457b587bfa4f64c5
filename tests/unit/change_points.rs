//! Change points: false alarms and delays over seeded random series.

use iophase::internals::online::change::{ChangeDetector, ChangeMethod, MEMORY};

const METHODS: [ChangeMethod; 5] =
    [ChangeMethod::Adwin, ChangeMethod::Cusum, ChangeMethod::PageHinkley, ChangeMethod::KSigma, ChangeMethod::Bayesian];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// How intervals vary.
#[derive(Debug, Clone, Copy)]
enum Jitter {
    /// Standard deviation, normal.
    Normal(f64),
    /// Half the width, even.
    Even(f64),
    /// Each start, not each interval, is off by this (normal): long intervals are followed by short ones.
    Starts(f64),
}

/// Intervals of a train: `n` of each period in turn.
fn intervals(random: &mut Random, parts: &[(f64, usize)], jitter: Jitter) -> Vec<f64> {
    let mut out = Vec::new();
    let mut before = 0.0;
    for &(period, n) in parts {
        for _ in 0..n {
            let factor = match jitter {
                Jitter::Normal(j) => 1.0 + j * random.normal(),
                Jitter::Even(j) => 1.0 + j * (2.0 * random.unit() - 1.0),
                Jitter::Starts(j) => {
                    let now = j * random.normal();
                    1.0 + now - std::mem::replace(&mut before, now)
                }
            };
            out.push(period * factor.max(0.05));
        }
    }
    out
}

/// All changes: (index of the value at which it was noticed, n).
fn changes(method: ChangeMethod, values: &[f64]) -> Vec<(usize, usize)> {
    let mut detector = ChangeDetector::new(method);
    values.iter().enumerate().filter_map(|(i, &v)| Some((i, detector.observe(v)?))).collect()
}

#[test]
fn stable_trains_never_change() {
    let jitters = [
        Jitter::Normal(0.0),
        Jitter::Normal(0.01),
        Jitter::Normal(0.05),
        Jitter::Normal(0.1),
        Jitter::Even(0.1),
        Jitter::Starts(0.05),
    ];
    for method in METHODS {
        for jitter in jitters {
            for seed in (0..50).step_by(super::every(10)) {
                let period = 10f64.powf(Random(seed).unit() * 8.0 - 2.0);
                let values = intervals(&mut Random(seed), &[(period, 1000)], jitter);
                assert_eq!(changes(method, &values), [], "{method}, {jitter:?}, seed {seed}");
            }
        }
    }
}

/// Share of `trials` trains in which the change from 5 s to `after` is noticed at its `delay`-th value or before (and none
/// before the change), with the right start.
fn noticed(method: ChangeMethod, before: usize, after: f64, jitter: Jitter, delay: usize) -> f64 {
    let trials = 200u64.div_ceil(super::every(4) as u64);
    // The sum of cusum may have risen before the change by chance.
    let early = usize::from(method == ChangeMethod::Cusum);
    let hits = (0..trials).filter(|&seed| {
        let values = intervals(&mut Random(seed), &[(5.0, before), (after, delay)], jitter);
        let found = changes(method, &values);
        matches!(found[..], [(i, n)] if i >= before && (before..=before + early).contains(&(i + 1 - n + early)))
    });
    hits.count() as f64 / trials as f64
}

#[test]
fn clear_changes_are_noticed_within_two_values() {
    // Scores of each method, written down at the head of the module.
    for method in METHODS {
        for after in [8.0, 3.0] {
            for (before, jitter) in [(10, 0.02), (10, 0.05), (30, 0.05), (300, 0.05)] {
                let share = noticed(method, before, after, Jitter::Normal(jitter), 2);
                assert!(share >= 0.85, "{method}: 5 s to {after} s after {before}, jitter {jitter}: {share}");
            }
        }
    }
}

#[test]
fn a_single_outlier_is_no_change() {
    for method in METHODS {
        for factor in [2.0, 3.0, 0.5, 0.2] {
            for seed in 0..20 {
                let mut values = intervals(&mut Random(seed), &[(5.0, 60)], Jitter::Normal(0.05));
                values[20] *= factor;
                values[45] *= factor;
                assert_eq!(changes(method, &values), [], "{method}, factor {factor}, seed {seed}");
            }
        }
    }
}

#[test]
fn every_regime_of_many_is_found() {
    let parts = [(5.0, 20), (8.0, 20), (5.0, 20), (2.0, 20), (40.0, 20)];
    for method in METHODS {
        for seed in 0..20 {
            let values = intervals(&mut Random(seed), &parts, Jitter::Normal(0.03));
            let starts: Vec<usize> = changes(method, &values).into_iter().map(|(i, n)| i + 1 - n).collect();
            let early = usize::from(method == ChangeMethod::Cusum);
            let right = |s: &usize, e: usize| (e - early..=e).contains(s);
            assert!(
                starts.len() == 4 && starts.iter().zip([20, 40, 60, 80]).all(|(s, e)| right(s, e)),
                "{method}, seed {seed}: {starts:?}"
            );
        }
    }
}

#[test]
fn lasting_small_shifts_are_found() {
    // Two standard deviations: the methods that keep all values find it in the end.
    for method in [ChangeMethod::Adwin, ChangeMethod::Bayesian] {
        for seed in 0..20 {
            let values = intervals(&mut Random(seed), &[(5.0, 100), (5.5, 60)], Jitter::Normal(0.05));
            let found = changes(method, &values);
            assert!(matches!(found[..], [(i, n)] if i >= 100 && (i + 1 - n).abs_diff(100) <= 8), "{method} {found:?}");
        }
    }
}

#[test]
fn scale_does_not_matter() {
    for method in METHODS {
        let values = intervals(&mut Random(7), &[(5.0, 30), (8.0, 30)], Jitter::Normal(0.05));
        let found = changes(method, &values);
        assert!(!found.is_empty());
        for factor in [1e-6, 1e3, 1e12] {
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            assert_eq!(changes(method, &scaled), found, "{method}, {factor}");
        }
    }
}

#[test]
fn values_that_are_not_positive_are_refused() {
    for method in METHODS {
        let values = intervals(&mut Random(3), &[(5.0, 30), (8.0, 5)], Jitter::Normal(0.05));
        let (mut plain, mut mixed) = (ChangeDetector::new(method), ChangeDetector::new(method));
        for &v in &values {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
                assert_eq!(mixed.observe(bad), None);
            }
            assert_eq!(mixed.observe(v), plain.observe(v));
        }
        assert_eq!(mixed, plain);
        // The ends of the numbers there are do no harm.
        for _ in 0..10 {
            mixed.observe(f64::MIN_POSITIVE);
            mixed.observe(f64::MAX);
        }
    }
}

#[test]
fn a_stored_state_resumes() {
    for method in METHODS {
        let values = intervals(&mut Random(11), &[(5.0, 25), (8.0, 25)], Jitter::Normal(0.05));
        let mut whole = ChangeDetector::new(method);
        let expected: Vec<_> = values.iter().map(|&v| whole.observe(v)).collect();
        let mut resumed = ChangeDetector::new(method);
        for (i, &v) in values.iter().enumerate() {
            let text = serde_json::to_string(&resumed).unwrap();
            assert!(text.len() < 200 * MEMORY);
            resumed = serde_json::from_str(&text).unwrap();
            assert_eq!(resumed.observe(v), expected[i], "{method}, value {i}");
        }
        resumed.reset();
        assert_eq!(resumed, ChangeDetector::new(method));
    }
}

#[test]
fn names_convert_both_ways() {
    for method in ChangeMethod::ALL {
        assert_eq!(method.name().parse::<ChangeMethod>().unwrap(), method);
        assert_eq!(serde_json::to_value(method).unwrap(), method.name());
    }
    assert!("nothing".parse::<ChangeMethod>().unwrap_err().to_string().contains("page-hinkley"));
    assert_eq!(changes(ChangeMethod::None, &[1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0]), []);
}
