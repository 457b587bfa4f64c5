//! Compares the length of the patterns found in synthetic traces with the length of their truth, for many workloads at random
//! values of their parameters.
//!
//! `cargo run --release --example truth_sweep -- [CASES [FIRST [WORKLOAD]]]`
//!
//! Prints every case whose truth or whose patterns are not lossless, or whose patterns are longer than the truth by more than
//! 2 %, and for each workload how many cases pass. Lengths are in numbers, as `tests/unit/score.rs` defines them.

#![allow(clippy::print_stdout, reason = "its output")]

#[path = "../tests/unit/score.rs"]
mod score;
#[path = "../tests/unit/sweep.rs"]
mod sweep;

use iophase::internals::workload::Run;
use rayon::prelude::*;

/// Larger cases are left out.
const RECORDS: u64 = 300_000;

/// A description may be longer than the truth by this factor.
const SLACK: f64 = 1.02;

/// Numbers of the truth and of the patterns found; an error if one of them loses accesses.
fn lengths(run: &Run) -> Result<(u64, u64), String> {
    score::check_truth(run)?;
    let trace = run.trace().map_err(|e| e.to_string())?;
    Ok((score::numbers_of_truth(run.truth()), score::numbers_of_found(&score::found_in(&trace)?)))
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = |default: u64| words.next().and_then(|w| w.parse().ok()).unwrap_or(default);
    let (cases, first) = (number(1000), number(0));
    let only = std::env::args().nth(3);
    for kind in sweep::kinds() {
        let name = sweep::Case::draw(kind, 0).workload;
        if only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        let results: Vec<Option<String>> = (first..first + cases)
            .into_par_iter()
            .filter_map(|i| {
                let case = sweep::Case::draw(kind, i);
                let run = case.run().filter(|r| (1..=RECORDS).contains(&r.truth().records))?;
                Some(match lengths(&run) {
                    Ok((truth, found)) if found as f64 <= SLACK * truth as f64 => None,
                    Ok((truth, found)) => Some(format!("{}: {found} numbers are found, {truth} are true", case.text())),
                    Err(e) => Some(format!("{}: {e}", case.text())),
                })
            })
            .collect();
        results.iter().flatten().for_each(|failure| println!("{failure}"));
        println!("{name}: {} of {} pass", results.iter().filter(|r| r.is_none()).count(), results.len());
    }
}
