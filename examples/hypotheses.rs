//! Writes the judge's view of a suite: the features of every hypothesis of every case, for `scripts/train_classifier.py`.
//!
//! `cargo run --release --features training --example hypotheses -- SUITE_DIR OUT.json`

use iophase::internals::period::chains;
use rayon::prelude::*;
use serde::Serialize;
use std::path::Path;

mod suite;

#[derive(Serialize)]
struct Dump {
    features: &'static [&'static str],
    cases: Vec<Case>,
}

#[derive(Serialize)]
struct Case {
    name: String,
    truth: serde_json::Value,
    /// First start: the windows below count from here.
    origin: f64,
    rounds: Vec<chains::TrainingRound>,
}

fn main() -> Result<(), suite::Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, out] = arguments.as_slice() else {
        return Err("usage: hypotheses SUITE_DIR OUT.json".into());
    };
    let folder = Path::new(folder);
    let truths = suite::truths(folder)?;
    let cases: Result<Vec<Case>, suite::Failure> = truths
        .into_par_iter()
        .map(|(name, truth)| {
            let profile = suite::profile(&folder.join(&name))?;
            let rounds = chains::training_rounds(&profile, chains::Options::for_run(profile.duration()));
            Ok(Case { name, truth, origin: profile.origin(), rounds })
        })
        .collect();
    let dump = Dump { features: chains::feature_names(), cases: cases? };
    serde_json::to_writer(std::io::BufWriter::new(std::fs::File::create(out)?), &dump)?;
    Ok(())
}
