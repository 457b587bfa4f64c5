//! Workloads at random values of all parameters: the truth is lossless, and so are the patterns found, which describe the
//! accesses as shortly.

use std::collections::HashMap;

use super::{sample, score, sweep};
use iophase::analysis::Selection;
use iophase::analysis::{ModeChoice, PatternOptions, patterns};
use iophase::formats::write::{write, writer};
use iophase::formats::{ReadOptions, Source, read};
use iophase::internals::workload::Run;
use rayon::prelude::*;

/// Records of a case at most.
const RECORDS: u64 = 4000;

/// A description may be longer than the truth by this factor.
const SLACK: f64 = 1.02;

/// Number of cases of each kind whose patterns are compared with the truth.
const CASES: usize = 300;

/// A case for which a check failed.
struct Failure {
    /// Accesses that the workload states as a random order.
    random: u64,
    /// All accesses.
    accesses: u64,
    /// The case, and what is wrong.
    text: String,
}

/// Runs `check` on a sample of `cases` cases of each kind and reports every failure: jobs without a random order first, short ones first.
fn check_cases(cases: usize, check: impl Fn(&Run) -> Result<(), String> + Sync) {
    let kinds: Vec<usize> = sweep::kinds().collect();
    let mut failures: Vec<Failure> = kinds
        .into_par_iter()
        .flat_map_iter(|kind| sweep::runs(kind, sample(cases), RECORDS))
        .filter_map(|(case, run)| {
            let (error, truth) = (check(&run).err()?, run.truth());
            let random = truth.unpatterned.iter().map(|u| u.records).sum();
            let text = format!("{} accesses, {random} at random: {error}: {}", truth.records, case.text());
            Some(Failure { random, accesses: truth.records, text })
        })
        .collect();
    failures.sort_by(|a, b| (a.random > 0, a.accesses, &a.text).cmp(&(b.random > 0, b.accesses, &b.text)));
    let regular = failures.iter().filter(|f| f.random == 0).count();
    let texts: Vec<&str> = failures.iter().map(|f| f.text.as_str()).collect();
    let irregular = failures.len() - regular;
    assert!(
        failures.is_empty(),
        "{regular} regular cases and {irregular} with a random order fail:\n{}",
        texts.join("\n")
    );
}

#[test]
fn every_access_is_stated_once() {
    check_cases(200, score::check_truth);
}

/// Numbers that the patterns found take, and those of the stated loops: of one case.
fn lengths(run: &Run) -> Result<(u64, u64), String> {
    let truth = score::numbers_of_truth(run.truth());
    let found = score::numbers_of_found(&score::found_in(&run.trace().map_err(|e| e.to_string())?)?);
    Ok((found, truth))
}

/// Jobs whose accesses are many beside their loops.
#[test]
fn patterns_of_regular_jobs_are_no_longer_than_the_stated_loops() {
    check_cases(CASES, |run| {
        let small = run.truth().workload == "h5bench-exerciser" || run.truth().workload == "dlio";
        let (found, truth) = lengths(run)?;
        if small || found as f64 <= SLACK * truth as f64 {
            return Ok(());
        }
        Err(format!("{found} numbers are found, {truth} are true"))
    });
}

/// A dozen accesses at three or four places save fewer bits than a pattern has to save. Such jobs of the exerciser and of training
/// take more numbers than their loops; all together take fewer, and those that take more are one in ten.
#[test]
fn patterns_of_small_jobs_are_shorter_in_sum() {
    let kinds: Vec<usize> = sweep::kinds().collect();
    let all: Vec<(bool, u64, u64)> = kinds
        .into_par_iter()
        .flat_map_iter(|kind| sweep::runs(kind, CASES / super::every(3), RECORDS))
        .filter(|(_, run)| run.truth().unpatterned.is_empty())
        .filter(|(_, run)| run.truth().workload == "h5bench-exerciser" || run.truth().workload == "dlio")
        .map(|(case, run)| {
            let (found, truth) = lengths(&run).unwrap_or_else(|e| panic!("{}: {e}", case.text()));
            (found as f64 > SLACK * truth as f64, found, truth)
        })
        .collect();
    let (found, truth) = all.iter().fold((0, 0), |s, c| (s.0 + c.1, s.1 + c.2));
    let longer = all.iter().filter(|c| c.0).count();
    assert!(found < truth, "{found} numbers are found, {truth} are true");
    assert!(longer * 5 <= all.len(), "{longer} of {} take more numbers", all.len());
}

#[test]
fn found_patterns_are_lossless_from_every_format_with_offsets() {
    for format in ["csv", "jsonl", "strace"].into_iter().step_by(super::every(2)) {
        let writer = writer(format).unwrap();
        check_cases(6, |run| {
            let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
            let path = folder.path().join(format!("trace{}", writer.ending()));
            write(writer, run, &path).map_err(|e| e.to_string())?;
            let source = Source::open(&path, &ReadOptions::default().limits).map_err(|e| e.to_string())?;
            let trace = read(&source, None, &ReadOptions::default()).map_err(|e| e.to_string())?;
            let found = score::found_in(&trace).map_err(|e| format!("{format}: {e}"))?;
            if found.records == run.truth().records {
                return Ok(());
            }
            Err(format!("{format}: {} accesses are taken in", found.records))
        });
    }
}

#[test]
fn every_pattern_has_a_period_or_a_reason() {
    check_cases(40, |run| {
        let trace = run.trace().map_err(|e| e.to_string())?;
        let options = PatternOptions::default();
        let report = patterns(&trace, ModeChoice::Auto, &Selection::default(), &options).map_err(|e| e.to_string())?;
        let wrong = report.patterns.iter().find(|p| p.period.is_some() == p.period_reason.is_some());
        wrong.map_or(Ok(()), |p| Err(format!("{:?} and {:?}: {p:?}", p.period, p.period_reason)))
    });
}

#[test]
fn patterns_of_several_ranks_have_the_period_of_the_job() {
    let jobs = ["place append", "place append ranks 7", "place overwrite ranks 16", "place append layout per-rank"];
    for job in jobs.into_iter().step_by(super::every(3)) {
        let workload = iophase::internals::workload::find("checkpoint").unwrap();
        let words: Vec<&str> = job.split(' ').chain(["period", "12.5"]).collect();
        let given: Vec<(&str, &str)> = words.chunks(2).map(|w| (w[0], w[1])).collect();
        let values = iophase::internals::workload::Values::of(workload.parameters(), &given).unwrap();
        let trace = iophase::internals::workload::run(workload, &values, 0).unwrap().trace().unwrap();
        let report = patterns(&trace, ModeChoice::Auto, &Selection::default(), &PatternOptions::default()).unwrap();
        let mut ranks: HashMap<bool, usize> = HashMap::new();
        for p in &report.patterns {
            *ranks.entry(p.ranks.is_some()).or_default() += 1;
            let period = p.period.unwrap_or_else(|| panic!("{job}: {:?}", p.period_reason));
            assert!((period.period_s - 12.5).abs() < 0.01, "{job}: {period:?}");
        }
        let per_rank = job.contains("per-rank");
        assert_eq!(ranks.contains_key(&true), !per_rank, "{job}: a shared file is written by all ranks together");
    }
}
