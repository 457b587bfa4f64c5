//! Training data: many samples, read again in every epoch.

use std::collections::HashSet;

use crate::findings::book::Rule;
use crate::findings::bursts::quantile;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, RankTime, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::requests::{FileUse, RequestFacts};
use crate::findings::rules::sums::{self, Sums};
use crate::record::FileId;
use crate::units;

/// Part of a whole number by which passes may differ from one.
const WHOLE: f64 = 0.05;

/// True for a whole number of passes, at least one.
fn is_whole(passes: f64) -> bool {
    passes >= 1.0 - WHOLE && (passes / passes.round().max(1.0) - 1.0).abs() <= WHOLE
}

pub(in crate::findings) fn sample_files(f: &Facts, r: &Rule) -> Option<Outcome> {
    let files = sums::files(f)?;
    let read_as_a_whole = |x: &&Sums| is_whole(ratio(x.bytes[0] as f64, x.ends[0] as f64));
    let is_sample = |x: &&Sums| x.bytes[1] == 0 && x.ends[0] > 0 && x.opens > 0 && read_as_a_whole(x);
    let samples: Vec<&Sums> = files.values().filter(is_sample).collect();
    let sizes: Vec<f64> = samples.iter().map(|x| x.ends[0] as f64).collect();
    let (median, n) = (quantile(&sizes, 0.5), samples.len());
    let (calls, opens) = samples.iter().fold((0, 0), |s, x| (s.0 + x.calls[0], s.1 + x.opens));
    let part = |x: &&Sums| Part { count: x.calls[0], ..x.part(x.times_s[0] + x.metadata_s) };
    let parts: Vec<Part> = samples.iter().map(part).collect();
    let mut time = RankTime::default();
    parts.iter().for_each(|p| time.add(p.rank, p.time_s, f.ranks));
    let outcome = Outcome::new(n as f64 >= r.at("files") && median < f.stripe as f64)
        .measured(&[("files", n as f64), ("median_bytes", median)])
        .measured(&[("calls_per_file", ratio(calls as f64, n as f64)), ("opens_per_s", ratio(opens as f64, f.run_s))])
        .time(time.critical())
        .detail(|| {
            let median = units::bytes(median);
            format!("{} files of {median} (median) are opened and read as a whole", units::grouped(n))
        })
        .parts(parts);
    Some(outcome)
}

/// Passes over a file: ranks that read all of it do so at the same time.
fn passes(q: &RequestFacts, u: &FileUse) -> f64 {
    ratio(u.bytes as f64, u.covered as f64) / q.streams.readers_of_all(u).max(1) as f64
}

pub(in crate::findings) fn epochs(f: &Facts, r: &Rule) -> Option<Outcome> {
    let q = f.requests.as_ref().filter(|q| q.complete)?;
    let reads = &q.directions[0];
    let all: u64 = reads.files.iter().map(|u| u.covered).sum();
    // what the job writes itself is no input that it reads again and again
    let written: HashSet<FileId> = q.directions[1].files.iter().filter(|u| u.bytes > 0).map(|u| u.file).collect();
    let again: Vec<(&FileUse, f64)> = reads
        .files
        .iter()
        .map(|u| (u, passes(q, u)))
        .filter(|(u, n)| !written.contains(&u.file) && u.covered > 0 && *n >= r.at("passes") * (1.0 - WHOLE))
        .collect();
    let covered: u64 = again.iter().map(|(u, _)| u.covered).sum();
    let mean = ratio(again.iter().map(|(u, n)| n * u.covered as f64).sum(), covered as f64);
    let (mut time, mut parts) = (RankTime::default(), Vec::new());
    for (u, _) in &again {
        let mut part = Part { file: u.file, rank: None, count: u.count, bytes: u.bytes, time_s: 0.0 };
        for (rank, s) in q.streams.of_file(u.file) {
            time.add(Some(rank), s.time_s[0], 1);
            part.time_s += s.time_s[0];
        }
        parts.push(part);
    }
    let per_node = covered as f64 / f.nodes().unwrap_or(1) as f64;
    let fires = !again.is_empty() && ratio(covered as f64, all as f64) >= r.at("share");
    let outcome = Outcome::new(fires)
        .measured(&[
            ("passes", mean),
            ("bytes_per_pass", covered as f64),
            ("bytes_per_node", per_node),
            ("period_s", q.pass_s.unwrap_or(0.0)),
        ])
        .time(time.critical())
        .lost(time.critical() * (1.0 - ratio(1.0, mean)), "time of all passes but the first")
        .detail(|| {
            let every = q.pass_s.map_or(String::new(), |s| format!(", one every {}", units::seconds(s)));
            let fits = match f.system.memory_per_node {
                Some(memory) if per_node <= memory => ", which fits into the memory of the nodes",
                Some(_) => ", more than the memory of the nodes",
                None => "",
            };
            format!("{mean:.1} passes over {}{every}{fits}", units::bytes(covered as f64))
        })
        .evidence(Filter { rows: Some(reads.again_rows.clone()), ..Filter::default() })
        .parts(parts)
        .exact();
    Some(outcome)
}
