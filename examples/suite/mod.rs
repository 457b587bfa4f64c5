//! Reads the cases of a suite folder: `suite.json` and one `trace.json` per case.

use iophase::internals::signal::Span;
use iophase::internals::signal::profile::Profile;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Deserialize)]
struct Suite {
    cases: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Trace {
    write_sync: Mode,
}

#[derive(Deserialize)]
struct Mode {
    bandwidth: Bandwidth,
}

#[derive(Deserialize)]
struct Bandwidth {
    b_rank_avr: Vec<f64>,
    t_rank_s: Vec<f64>,
    t_rank_e: Vec<f64>,
}

/// Names and truths of all cases.
pub fn truths(folder: &Path) -> Result<BTreeMap<String, serde_json::Value>, Failure> {
    let suite: Suite = serde_json::from_slice(&std::fs::read(folder.join("suite.json"))?)?;
    Ok(suite.cases)
}

/// The profile of one case's trace.
pub fn profile(case: &Path) -> Result<Profile, Failure> {
    let trace: Trace = serde_json::from_slice(&std::fs::read(case.join("trace.json"))?)?;
    let Bandwidth { b_rank_avr, t_rank_s, t_rank_e } = trace.write_sync.bandwidth;
    let spans = t_rank_s.iter().zip(&t_rank_e).zip(&b_rank_avr);
    Ok(Profile::from_spans(spans.map(|((&start, &end), &rate)| Span { start, end, bytes: rate * (end - start) })))
}
