//! Truth of workloads at random values of all parameters: it is lossless, and the detector describes the rows as shortly.
//! `examples/truth_sweep.rs` goes through any number of cases.

mod score;
mod sweep;

use iophase::workload::Run;
use rayon::prelude::*;

/// Records of a case at most.
const RECORDS: u64 = 4000;

/// A description may be longer than the truth by this factor.
const SLACK: f64 = 1.02;

/// Runs `check` on so many cases of each kind and reports every failure.
fn check_cases(cases: usize, check: impl Fn(&Run) -> Result<(), String> + Sync) {
    let kinds: Vec<usize> = sweep::kinds().collect();
    let failures: Vec<String> = kinds
        .into_par_iter()
        .flat_map_iter(|kind| sweep::runs(kind, cases, RECORDS))
        .filter_map(|(case, run)| Some(format!("{}: {}", case.text(), check(&run).err()?)))
        .collect();
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_access_is_stated_once() {
    check_cases(200, score::check_truth);
}

#[test]
#[ignore = "needs the new detector"]
fn found_patterns_are_no_longer_than_the_truth() {
    check_cases(30, |run| {
        let truth = score::numbers_of_truth(run.truth());
        let found = score::numbers_of_found(&score::found_in(&run.trace().unwrap())?);
        if found as f64 <= SLACK * truth as f64 {
            return Ok(());
        }
        Err(format!("{found} numbers are found, {truth} are true"))
    });
}
