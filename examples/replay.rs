//! Replays traces transfer by transfer, in the order of their starts, and prints what was predicted when.
//!
//! `cargo run --release --features internals --example replay -- [--every E] [--window W] [--change C] TRACE...`
//!
//! One JSON object a trace: its path, the predictions, and the milliseconds that each took. `scripts/replay_score.py` compares
//! them with the truth of a suite.

use std::path::Path;

use iophase::internals::period::chains;
use iophase::internals::signal::Span;
use iophase::internals::signal::profile::Profile;
use iophase::online::{Options, Session};
use iophase::record::{Data, Interval, Op};
use iophase::{Error, ErrorKind, formats};
use rayon::prelude::*;
use serde_json::{Value, json};

fn events(path: &Path) -> iophase::Result<(u64, Vec<Interval>)> {
    let read = formats::ReadOptions::default();
    let source = formats::Source::open(path, &read.limits)?;
    let trace = formats::read(&source, None, &read)?;
    let origin = trace.origin_s as f64;
    let mut events: Vec<Interval> = match &trace.data {
        Data::Requests(rows) => rows.iter().map(Interval::from).collect(),
        Data::Intervals(rows) => rows.iter().collect(),
    };
    events.retain(|e| e.op.moves_bytes() && !trace.files.is_system(e.file));
    events.iter_mut().for_each(|e| (e.start, e.end) = (origin + e.start, origin + e.end));
    events.sort_by(|a, b| a.start.total_cmp(&b.start));
    Ok((trace.ranks, events))
}

/// The bursts of the whole trace, by direction: what a prediction has to hit where no truth is at hand.
fn offline(events: &[Interval]) -> Vec<Value> {
    let of = |(op, mode): (Op, &str)| {
        let spans = events.iter().filter(|e| e.op == op);
        let profile = Profile::from_spans(spans.map(|e| Span { start: e.start, end: e.end, bytes: e.bytes }));
        let found = chains::detect(&profile, chains::Options::for_run(profile.duration())).periods;
        let regime = |f: &chains::BurstPeriod| {
            let starts: Vec<f64> = f.bursts.iter().map(|b| b.start_s).collect();
            json!({"mode": mode, "period_s": f.period_s, "starts_s": starts})
        };
        found.iter().map(regime).collect::<Vec<_>>()
    };
    [(Op::Write, "write"), (Op::Read, "read")].into_iter().flat_map(of).collect()
}

fn replay(path: &Path, options: &Options) -> iophase::Result<Value> {
    let (ranks, events) = events(path)?;
    let mut session = Session::new(None, options.clone());
    session.set_ranks(ranks);
    let (mut predictions, mut milliseconds) = (Vec::new(), Vec::new());
    let mut predict = |session: &mut Session| {
        let begun = std::time::Instant::now();
        predictions.push(session.predict());
        milliseconds.push(begun.elapsed().as_secs_f64() * 1e3);
    };
    for event in &events {
        session.feed(std::slice::from_ref(event));
        if session.due() {
            predict(&mut session);
        }
    }
    predict(&mut session);
    Ok(json!({
        "trace": path.display().to_string(),
        "events": events.len(),
        "offline": offline(&events),
        "predictions": predictions,
        "milliseconds": milliseconds,
        "automaton": session.automaton().to_json(),
    }))
}

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() -> iophase::Result<()> {
    let mut options = Options::default();
    let mut paths = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(a) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| Error::new(ErrorKind::Usage, format!("{a} needs a value")));
        match a.as_str() {
            "--every" => options.every = value()?.parse()?,
            "--window" => options.window = value()?.parse()?,
            "--change" => options.change = value()?.parse()?,
            _ => paths.push(a),
        }
    }
    let lines: Vec<_> = paths.par_iter().map(|p| (p, replay(Path::new(p), &options))).collect();
    for (path, line) in lines {
        match line {
            Ok(line) => println!("{line}"),
            Err(e) => eprintln!("{path}: {e}"),
        }
    }
    Ok(())
}
