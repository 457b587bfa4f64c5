//! The patterns found in synthetic traces are exactly those of their truth, at random places of the parameters of all workloads.
//! `examples/truth_sweep.rs` goes through as many cases as one likes.

mod sweep;

use rayon::prelude::*;

/// Cases of each kind, and accesses of one of them at most.
const CASES: usize = 30;
const RECORDS: u64 = 4000;

#[test]
fn what_is_found_is_what_is_true() {
    let kinds: Vec<usize> = sweep::kinds().collect();
    let wrong: Vec<String> = kinds
        .into_par_iter()
        .flat_map_iter(|kind| {
            let runs = (0..).map(move |i| sweep::Case::draw(kind, i)).filter_map(|case| Some((case.run()?, case)));
            let small = runs.filter(|(run, _)| (1..=RECORDS).contains(&run.truth().records));
            small.take(CASES).map(|(run, case)| (case.text(), sweep::differences(&run)))
        })
        .filter(|(_, differences)| !differences.is_empty())
        .map(|(case, differences)| format!("{case}\n{differences}"))
        .collect();
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
