//! Compares the patterns found in synthetic traces with their truth, for many workloads at random places of their parameters.
//!
//! `cargo run --release --example truth_sweep -- [CASES [FIRST [WORKLOAD]]]`
//!
//! Prints what differs (`-` true and not found, `+` found and not true), and how many cases are exact.

#![allow(clippy::print_stdout, reason = "what it is for")]

#[path = "../tests/sweep/mod.rs"]
mod sweep;

use rayon::prelude::*;

/// Larger cases show nothing else.
const RECORDS: u64 = 300_000;

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
        let results: Vec<(String, String)> = (first..first + cases)
            .into_par_iter()
            .filter_map(|i| {
                let case = sweep::Case::draw(kind, i);
                let run = case.run().filter(|r| r.truth().records <= RECORDS)?;
                Some((case.text(), sweep::differences(&run)))
            })
            .collect();
        for (case, differences) in results.iter().filter(|r| !r.1.is_empty()) {
            println!("{case}\n{differences}");
        }
        let exact = results.iter().filter(|r| r.1.is_empty()).count();
        println!("{name}: {exact} of {} exact", results.len());
    }
}
