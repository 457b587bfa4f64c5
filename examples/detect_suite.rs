//! Answers every case of a suite, in the form its scorer reads.
//!
//! `cargo run --release --features internals --example detect_suite -- SUITE_DIR RESULTS.json`

use iophase::internals::period::chains;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

mod suite;

#[derive(Serialize)]
struct Answer {
    period_s: Option<f64>,
    confidence: f64,
    windows: Option<Vec<(f64, f64)>>,
    periods: Vec<f64>,
    verdict: String,
    details: String,
    milliseconds: f64,
}

fn main() -> Result<(), suite::Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, out] = arguments.as_slice() else {
        return Err("usage: detect_suite SUITE_DIR RESULTS.json".into());
    };
    let folder = Path::new(folder);
    let names: Vec<String> = suite::truths(folder)?.into_keys().collect();
    let answers: Result<BTreeMap<String, Answer>, suite::Failure> = names
        .into_par_iter()
        .map(|name| {
            let profile = suite::profile(&folder.join(&name))?;
            let begun = std::time::Instant::now();
            let detection = chains::detect(&profile, chains::Options::for_run(profile.duration()));
            let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
            let dominant = detection.periods.first();
            let answer = Answer {
                period_s: dominant.map(|f| f.period_s),
                confidence: dominant.map_or(0.0, |f| f.confidence),
                windows: dominant.map(|f| f.windows.clone()),
                periods: detection.periods.iter().map(|f| f.period_s).collect(),
                verdict: format!("{:?}", detection.verdict),
                details: match (dominant, &detection.rejected) {
                    (Some(f), _) => format!("{:?} {:?} {:?}", f.kind, f.clock, f.runner_up),
                    (None, Some(r)) => format!("{} {:.3}", r.period_s, r.confidence),
                    (None, None) => String::new(),
                },
                milliseconds,
            };
            Ok((name, answer))
        })
        .collect();
    serde_json::to_writer_pretty(std::io::BufWriter::new(std::fs::File::create(out)?), &answers?)?;
    Ok(())
}
