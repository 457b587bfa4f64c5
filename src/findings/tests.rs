//! Rules against figures that were computed independently, and on small traces in closed form.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::facts::{Facts, Known};
use super::options::STRIPE;
use super::outcome::Outcome;
use super::*;
use crate::formats::darshan::counter_names;
use crate::formats::{self, ReadOptions, Source};
use crate::record::{Column, CounterModule, Data, FileId, Job, Op};
use common::{every, sample, shared};

pub(super) fn read(path: &std::path::Path) -> Trace {
    let read = ReadOptions { counters: true, ..ReadOptions::default() };
    formats::read(&Source::open(path, &read.limits).unwrap(), None, &read).unwrap()
}

/// The outcome of every rule.
pub(super) fn outcomes(facts: &Facts) -> BTreeMap<&'static str, Outcome> {
    let book = Book::standard().unwrap();
    let check = |&(code, check): &(&'static str, rules::Check)| Some((code, check(facts, &book.rules[code])?));
    rules::RULES.iter().filter_map(check).collect()
}

fn near(mine: f64, theirs: f64) -> bool {
    // the figures are stored with nine decimals
    (mine - theirs).abs() <= 1e-9 * theirs.abs() + 6e-10
}

/// Logs of an oracle that are there, in the order of their names.
pub(super) fn logs(oracle: &str) -> Option<Vec<(String, std::path::PathBuf, Value)>> {
    let text = std::fs::read_to_string(shared(oracle)?).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let logs = value["logs"].as_object().unwrap().clone();
    Some(logs.into_iter().filter_map(|(name, v)| Some((name.clone(), shared(&name)?, v))).collect())
}

/// Values whose names differ, and the code and name of ours.
fn ours(code: &str, name: &str) -> (&'static str, String) {
    let code = match code {
        "IOP-POSIX-010|014" => "IOP-POSIX-014",
        "IOP-RANK-003|bytes" => "IOP-RANK-003",
        code => rules::RULES.iter().map(|r| r.0).find(|c| *c == code).unwrap_or(""),
    };
    (code, name.to_owned())
}

/// Codes whose values in the oracle follow from the time in POSIX and STDIO alone, not from the outermost layers.
const OF_POSIX_ALONE: [&str; 4] = ["IOP-META-001", "IOP-RANK-001", "IOP-TIME-001", "IOP-TIME-002"];

#[test]
fn counters_give_the_findings_and_figures_of_the_oracle() {
    let Some(logs) = logs("findings/counters-oracle.json") else { return };
    let (mut wrong, mut values, mut codes) = (Vec::new(), 0, 0);
    for (log, path, want) in &logs {
        let trace = read(path);
        let facts = Facts::of(&trace, Known::default(), STRIPE, false);
        let found = outcomes(&facts);
        let fact = |name: &str| want["facts"][name].as_f64();
        // the oracle subtracts times since 1970, which are rounded to 2.4e-7 s
        if (facts.run_s - fact("run_s").unwrap()).abs() > 5e-7 {
            wrong.push(format!("{log}: run {} {}", facts.run_s, want["facts"]["run_s"]));
        }
        for (code, of_code) in
            want["values"].as_object().unwrap().iter().filter(|(code, _)| !OF_POSIX_ALONE.contains(&code.as_str()))
        {
            for (name, value) in of_code.as_object().unwrap() {
                let (mine, name) = ours(code, name);
                let theirs = match value {
                    Value::Bool(b) => f64::from(*b),
                    Value::Array(all) => all.iter().filter_map(Value::as_f64).fold(0.0, f64::max),
                    v => v.as_f64().unwrap(),
                };
                let got = match (mine, &*name) {
                    (_, "time_s") => found.get(mine).and_then(|o| o.time_s),
                    // of logs without large files the alignment is not looked at
                    (_, "alignment") => continue,
                    _ => found.get(mine).and_then(|o| o.value(&name)),
                };
                values += 1;
                if !got.is_some_and(|x| near(x, theirs)) {
                    wrong.push(format!("{log}: {code} {name} {got:?} {theirs}"));
                }
            }
        }
        let theirs: BTreeSet<&str> =
            want["fires"].as_array().unwrap().iter().map(|c| ours(c.as_str().unwrap(), "").0).collect();
        let known: BTreeSet<&str> =
            want["values"].as_object().unwrap().keys().map(|c| ours(c, "").0).chain(theirs.iter().copied()).collect();
        for code in known.into_iter().filter(|code| !OF_POSIX_ALONE.contains(code)) {
            codes += 1;
            let mut fires = found.get(code).is_some_and(|o| o.fires);
            if code == "IOP-RANK-003" {
                // the oracle leaves out the condition on the share of the run
                fires = found.get(code).is_some_and(|o| o.value("share").unwrap() >= 0.9) && facts.ranks >= 4;
            }
            // the oracle leaves out costs, and takes the mean for the size of requests
            let stricter = matches!(code, "IOP-POSIX-005" | "IOP-POSIX-006" | "IOP-MPIIO-005") && !fires;
            if fires != theirs.contains(code) && !stricter {
                wrong.push(format!("{log}: {code} fires {fires}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {values} values and {codes} codes differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(logs.len() >= 159 && values > 5500, "{} logs, {values} values", logs.len());
}

#[test]
fn requests_give_the_findings_and_figures_of_the_oracle() {
    let Some(logs) = logs("findings/requests-oracle.json") else { return };
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (log, path, want) in &logs {
        if want["bad_segments"] != 0 {
            // times that are no numbers are dropped, and bad sizes cut, when the log is read
            continue;
        }
        let trace = read(path);
        let facts = Facts::of(&trace, Known::default(), STRIPE, true);
        let q = facts.requests.as_ref().unwrap_or_else(|| panic!("{log}"));
        let found = outcomes(&facts);
        let mut same = |what: &str, mine: f64, theirs: &Value| {
            compared += 1;
            let theirs = theirs.as_f64().unwrap_or_else(|| theirs.as_bool().map_or(0.0, f64::from));
            if (mine - theirs).abs() > 1e-9 * theirs.abs() {
                wrong.push(format!("{log}: {what} {mine} {theirs}"));
            }
        };
        same("requests", q.requests as f64, &want["requests"]);
        same("complete", q.complete.into(), &want["complete"]);
        same("active", q.active_ranks as f64, &want["active_ranks"]);
        same("io_s", q.io_s, &want["io_s"]);
        same("wall", q.io_wall_s, &want["io_wall_s"]);
        same("concurrency", q.concurrency, &want["concurrency"]);
        same("max/mean", q.rank_bytes_max_over_mean, &want["rank_bytes_max_over_mean"]);
        same("several", q.several.0 as f64, &want["bytes_written_by_several_ranks"]);
        for (name, mine) in [
            ("all", q.stripes.all),
            ("touches", q.stripes.touches),
            ("owner_changes", q.stripes.owner_changes),
            ("shared", q.stripes.shared),
        ] {
            same(name, mine as f64, &want["stripes"][name]);
        }
        for (d, word) in q.directions.iter().zip(["reads", "writes"]) {
            let w = &want[word];
            same("count", d.count as f64, &w["count"]);
            same("bytes", d.bytes as f64, &w["bytes"]);
            same("small", d.small.count as f64, &w["small"]);
            same("again", d.again.0 as f64, &w["bytes_again"]);
            same("quarter", d.quarter as f64, &w["of_at_least_quarter_stripe"]);
            same("unaligned", d.unaligned.count as f64, &w["unaligned"]);
            let remainders: Vec<Value> = d.remainders.iter().map(|&(x, n)| serde_json::json!([x, n])).collect();
            let theirs = w["remainders"].as_array().cloned().unwrap_or_default();
            same("remainders", f64::from(remainders == theirs), &Value::Bool(true));
        }
        for (code, theirs) in [
            ("IOP-POSIX-001", "IOP-POSIX-001|count"),
            ("IOP-POSIX-002", "IOP-POSIX-002|count"),
            ("IOP-POSIX-008", "IOP-POSIX-008"),
            ("IOP-POSIX-009", "IOP-POSIX-009"),
            ("IOP-FILE-001", "IOP-FILE-001"),
            ("IOP-FILE-002", "IOP-FILE-002"),
            ("IOP-RANK-006", "IOP-RANK-006|whole run"),
        ] {
            let o = &found[code];
            let v = |name: &str| o.value(name).unwrap();
            let fires = match code {
                // by their number alone, as the oracle; and also where the requests are not complete
                "IOP-POSIX-001" | "IOP-POSIX-002" => {
                    let d = &q.directions[usize::from(code.ends_with('2'))];
                    d.small.count >= 1000 && d.small.count as f64 > 0.1 * d.count as f64
                }
                "IOP-POSIX-008" | "IOP-POSIX-009" => {
                    let d = &q.directions[usize::from(code.ends_with('9'))];
                    d.again.0 >= 16 << 20 && d.again.0 as f64 >= 0.1 * d.bytes as f64
                }
                // these logs are of one node, where no lock moves
                "IOP-FILE-001" => v("share") >= 0.1 && v("owner_changes") >= 100.0,
                // the oracle also counts what aggregators of MPI-IO write for others
                "IOP-FILE-002" => q.several.0 > 0,
                // without the condition on the share of the run
                "IOP-RANK-006" => v("ranks") >= 4.0 && v("concurrency") < 1.2,
                _ => o.fires,
            };
            let theirs = want["fires"].as_array().unwrap().iter().any(|c| c == theirs);
            same(code, fires.into(), &Value::Bool(theirs));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 1000, "{compared}");
}

/// Bounds from counters hold what the requests say.
#[test]
fn requests_lie_between_the_bounds_of_the_counters() {
    let Some(logs) = logs("findings/requests-oracle.json") else { return };
    let mut compared = 0;
    for (log, path, want) in logs.iter().filter(|l| l.2["complete"] == true && l.2["bad_segments"] == 0) {
        let trace = read(path);
        let counted = outcomes(&Facts::of(&trace, Known::default(), STRIPE, false));
        let facts = Facts::of(&trace, Known::default(), STRIPE, true);
        let q = facts.requests.as_ref().unwrap();
        for (d, [small, again]) in
            q.directions.iter().zip([["IOP-POSIX-001", "IOP-POSIX-008"], ["IOP-POSIX-002", "IOP-POSIX-009"]])
        {
            compared += 1;
            let bound = |code: &str, name: &str| counted[code].value(name).unwrap();
            let n = d.small.count as f64;
            assert!(bound(small, "low") <= n && n <= bound(small, "high"), "{log} {small}: {n} {want}");
            assert!(bound(again, "low") <= d.again.0 as f64, "{log} {again}");
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Ranks and bursts of the planted jobs; bursts of 1 s come every 10 s.
const RANKS: f64 = 4.0;
const BURSTS: f64 = 8.0;
/// Requests of a rank in a burst, and their bytes.
const REQUESTS: f64 = 16.0;
const SIZE: f64 = 4.0 * 1048576.0;
/// Bytes of a rank in all bursts.
const OWN: f64 = BURSTS * REQUESTS * SIZE;

/// A fault, the codes that it plants, an amount of the first code, and the time that it loses.
struct Planted {
    fault: &'static str,
    codes: &'static [&'static str],
    amount: (&'static str, f64),
    lost_s: Option<f64>,
}

fn plan(fault: &'static str, codes: &'static [&'static str], amount: (&'static str, f64)) -> Planted {
    Planted { fault, codes, amount, lost_s: None }
}

impl Planted {
    fn loses(self, s: f64) -> Planted {
        Planted { lost_s: Some(s), ..self }
    }
}

/// The planted faults, in closed form.
fn plans() -> Vec<Planted> {
    // 15 large requests in half a second; the small ones would take as long as their bytes need at that rate
    let large = 15.0 * SIZE / 0.5;
    vec![
        plan("small-reads", &["IOP-POSIX-001"], ("low", 1024.0 * RANKS * BURSTS)),
        plan("small-writes", &["IOP-POSIX-002"], ("low", 1024.0 * RANKS * BURSTS))
            .loses(BURSTS * (0.5 - 1024.0 * 4096.0 / large)),
        plan("tiny-requests", &["IOP-POSIX-012"], ("count", 2048.0 * RANKS * BURSTS)),
        plan("unaligned", &["IOP-POSIX-003"], ("unaligned", REQUESTS * RANKS * BURSTS)),
        plan("shuffled-reads", &["IOP-POSIX-005", "IOP-ML-002"], ("of", 256.0 * RANKS * BURSTS)),
        plan("reread", &["IOP-POSIX-008", "IOP-ML-002"], ("low", OWN * RANKS * (2.0 - 1.0 / BURSTS))),
        plan("overwrite", &["IOP-POSIX-009"], ("low", OWN * RANKS * (1.0 - 1.0 / BURSTS))),
        plan("read-modify-write", &["IOP-POSIX-010"], ("bytes", OWN * RANKS)).loses(BURSTS * 0.5),
        plan("slow-tail", &["IOP-POSIX-015"], ("max_s", 63.0 / 8.0)).loses(63.0 / 8.0),
        plan("shared-stripes", &["IOP-FILE-001"], ("touches", 4.0 * OWN * RANKS / 1048576.0)),
        plan("conflicting-writes", &["IOP-FILE-002"], ("bytes", OWN)),
        plan("one-rank", &["IOP-RANK-003", "IOP-RANK-008"], ("share", 1.0)),
        plan("time-imbalance", &["IOP-RANK-001"], ("worst", 1.0 - 1.75 / 4.0)).loses(BURSTS * (4.0 - 1.75)),
        plan("volume-imbalance", &["IOP-RANK-002"], ("ratio", 16.0 / 7.0)),
        plan("taking-turns", &["IOP-RANK-006"], ("ranks", RANKS)).loses(0.75 * BURSTS),
        plan("last-again", &["IOP-RANK-004"], ("times", BURSTS)).loses(0.5 * BURSTS),
        plan("burst-spread", &["IOP-RANK-005"], ("median", 0.5)).loses(0.5 * BURSTS),
        plan("out-of-step", &["IOP-RANK-007"], ("spread", 0.3)),
        plan("slow-bursts", &["IOP-TIME-005"], ("p90_over_p10", 4.0)).loses(3.0 * 3.0),
        plan("growing-bursts", &["IOP-TIME-006"], ("bytes_growth", 7.0 / 20.0)),
        plan("startup-storm", &["IOP-TIME-009"], ("bytes", OWN * RANKS / BURSTS)),
    ]
}

/// A synthetic job.
fn faulty(fault: &str, seed: u64) -> Trace {
    use crate::workload::{self, Values};
    let workload = workload::find("faulty").unwrap();
    let given = [("fault", fault), ("ranks", "4"), ("bursts", "8")];
    let values = Values::of(workload.parameters(), &given).unwrap();
    workload::run(workload, &values, seed).unwrap().trace().unwrap()
}

fn period(trace: &Trace) -> Report {
    crate::analysis::analyze(trace, &crate::analysis::Options::default()).unwrap().report
}

/// The outcomes of a synthetic job, and the codes of those above `info`.
fn planted(fault: &str, seed: u64) -> (BTreeMap<&'static str, Outcome>, BTreeSet<&'static str>) {
    let trace = faulty(fault, seed);
    let report = period(&trace);
    let facts = Facts::of(&trace, Known { report: Some(&report), classes: None }, STRIPE, true);
    let book = Book::standard().unwrap();
    let severe = |code: &str, o: &Outcome| {
        let rule = &book.rules[code];
        assemble::severity(rule, o, facts.run_s, facts.is_negligible()) > Severity::Info
            && rule.level != book::Level::Ok
    };
    let found = outcomes(&facts);
    let above = found.iter().filter(|(code, o)| o.fires && severe(code, o)).map(|x| *x.0).collect();
    (found, above)
}

#[test]
fn planted_faults_are_found_with_their_amounts_and_sound_jobs_have_none() {
    let seeds = sample(50).div_ceil(5) as u64;
    let mut wrong = Vec::new();
    for seed in 0..seeds {
        let (_, above) = planted("none", seed);
        if !above.is_empty() {
            wrong.push(format!("none, seed {seed}: {above:?}"));
        }
        for p in plans() {
            let (found, _) = planted(p.fault, seed);
            let missing: Vec<&&str> = p.codes.iter().filter(|c| !found.get(*c).is_some_and(|o| o.fires)).collect();
            let near = |x: Option<f64>, want: f64| x.is_some_and(|x| (x - want).abs() <= 0.1 * want);
            let o = found.get(p.codes[0]);
            let amount = o.and_then(|o| o.value(p.amount.0));
            let want = p.amount.1;
            let lost = o.and_then(|o| o.lost_s);
            if !missing.is_empty() || !near(amount, want) || p.lost_s.is_some_and(|s| !near(lost, s)) {
                let fault = p.fault;
                wrong
                    .push(format!("{fault}, seed {seed}: {missing:?} {amount:?} {want}, lost {lost:?} {:?}", p.lost_s));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rank, and counters that are not 0.
type CounterRow<'a> = (Option<u32>, &'a [(&'static str, i64)], &'a [(&'static str, f64)]);

/// A log of POSIX counters with these values, a file for each row.
fn counted(rows: &[CounterRow], ranks: u64, run_s: f64) -> Trace {
    let mut trace = Trace {
        counters: Some(Box::default()),
        ranks,
        timing: crate::record::Timing::Counter,
        job: Some(Job { run_time_s: Some(run_s), ranks: Some(ranks), ..Job::default() }),
        ..Trace::default()
    };
    count(&mut trace, CounterModule::Posix, rows);
    trace
}

fn at<T: Copy + Default>(all: &[(&str, T)], word: &str, name: &str) -> T {
    all.iter().find(|x| name == format!("{word}_{}", x.0)).map_or(T::default(), |x| x.1)
}

/// Adds counters of a module.
fn count(trace: &mut Trace, module: CounterModule, rows: &[CounterRow]) {
    let c = trace.counters.as_mut().unwrap();
    let mut t = crate::record::CounterTable::new(module);
    let names = |list: &str| counter_names::names_of(module.prefix(), list).into_iter();
    let ints = if module == CounterModule::Mpiio { counter_names::MPIIO } else { counter_names::POSIX };
    t.ints = names(ints).map(|n| (n, Column::default())).collect();
    t.reals = names(counter_names::TRANSFERS).map(|n| (n, Column::default())).collect();
    let word = module.prefix();
    for (i, (rank, ints, reals)) in rows.iter().enumerate() {
        let file: FileId = c.files.intern(&format!("/scratch/f{i}"));
        t.file.push(file);
        t.rank.push(*rank);
        t.ints.iter_mut().for_each(|(name, column)| column.push(at(ints, word, name)));
        t.reals.iter_mut().for_each(|(name, column)| column.push(at(reals, word, name)));
    }
    c.tables.push(t);
}

fn codes(f: &Findings) -> Vec<&str> {
    f.findings.iter().map(|x| x.code.as_str()).collect()
}

#[test]
fn small_writes_fire_from_their_thresholds_on() {
    let writes = |small: i64, all: i64, time: f64| {
        let ints =
            [("WRITES", all), ("SIZE_WRITE_1K_10K", small), ("SIZE_WRITE_1M_4M", all - small), ("SEQ_WRITES", all)];
        let trace = counted(&[(Some(0), &ints, &[("F_WRITE_TIME", time)])], 1, 100.0);
        let options = Options { only: vec!["small-writes".into()], ..Options::default() };
        let found = find(&trace, None, &options).unwrap();
        found.findings.first().map(|f| (f.severity, f.time_s.unwrap()))
    };
    assert_eq!(writes(1000, 9000, 2.0).map(|x| x.0), Some(Severity::Info), "time known, below 10 %");
    assert_eq!(writes(1000, 10_000, 2.0), None, "not more than 10 %");
    assert_eq!(writes(999, 9000, 2.0), None, "0.2 s are less than 1 % of the run");
    assert_eq!(writes(500, 1000, 60.0), Some((Severity::Warning, 30.0)));
    assert_eq!(writes(1000, 1000, 60.0), Some((Severity::Critical, 60.0)));
    assert_eq!(writes(1000, 1000, 0.5), Some((Severity::Info, 0.5)), "I/O below 1 % of the run");
}

#[test]
fn a_row_over_all_ranks_is_not_rank_0() {
    let row = |rank| {
        (
            rank,
            &[("BYTES_WRITTEN", 1000), ("WRITES", 10)][..],
            &[("F_WRITE_TIME", 4.0), ("F_SLOWEST_RANK_TIME", 3.0)][..],
        )
    };
    let options = Options { only: vec!["IOP-RANK-001".into(), "IOP-RANK-003".into()], ..Options::default() };
    let shared = find(&counted(&[row(None)], 4, 10.0), None, &options).unwrap();
    assert_eq!(codes(&shared), ["IOP-RANK-001"]);
    // the slowest rank takes 3 s, the mean is 1 s
    assert_eq!((shared.findings[0].lost_s, shared.io.io_s), (Some(2.0), Some(3.0)));
    assert_eq!(shared.findings[0].files[0].ranks, None);
    let own = find(&counted(&[row(Some(0))], 4, 10.0), None, &options).unwrap();
    assert_eq!(codes(&own), ["IOP-RANK-003", "IOP-RANK-001"], "the cause, then what follows from it");
    assert_eq!((own.findings[1].lost_s, own.io.io_s), (Some(3.0), Some(4.0)));
}

#[test]
fn one_cause_is_one_finding() {
    let ints = [
        ("WRITES", 4000),
        ("SIZE_WRITE_0_100", 4000),
        ("SEQ_WRITES", 0),
        ("BYTES_WRITTEN", 40_000),
        ("MAX_BYTE_WRITTEN", 50_000),
    ];
    let trace = counted(&[(None, &ints, &[("F_WRITE_TIME", 40.0), ("F_SLOWEST_RANK_TIME", 10.0)])], 4, 20.0);
    let found = find(&trace, None, &Options::default()).unwrap();
    let small = found
        .findings
        .iter()
        .find(|f| f.also.contains(&"IOP-POSIX-006".to_owned()) || f.code == "IOP-POSIX-006")
        .unwrap();
    assert_eq!(small.also.len(), 2, "small, random, without MPI-IO: {found:#?}");
    assert!(found.not_checked.iter().any(|n| n.code == "IOP-FILE-001" && n.how.contains("DXT")));
}

#[test]
fn a_finding_says_where_it_is() {
    let trace = faulty("small-writes", 0);
    let options = Options::default().only(vec!["small-writes".into()]);
    let found = find(&trace, None, &options).unwrap();
    let [f] = &found.findings[..] else { panic!("{found:#?}") };
    let [file] = &f.files[..] else { panic!("{f:#?}") };
    assert_eq!(
        (file.file.as_str(), &file.rank_list[..], file.windows.len()),
        ("/scratch/faulty/data", &[0, 1, 2, 3][..], 8)
    );
    // 4 MiB at the end of each rank's part of 64 MiB; of the 32 gaps the smallest are left out
    assert_eq!((file.ranges.len(), file.ranges[0].start, file.ranges[15].end), (16, 60 << 20, 2 << 30));
    assert!(file.windows.iter().all(|w| (0.45..0.6).contains(&(w.end_s - w.start_s))), "{:?}", file.windows);
    assert_eq!(f.examples.len(), 5);
    assert!(f.examples.iter().all(|e| e.size == 4096 && e.offset.is_some_and(|o| o % (64 << 20) >= 60 << 20)));
    assert!(f.remedies.iter().any(|r| r.id == "R1"), "{:?}", f.remedies);
}

#[test]
fn a_described_machine_gives_losses() {
    let trace = faulty("none", 0);
    let report = period(&trace);
    let with = |options: Options| find(&trace, Some(&report), &options).unwrap();
    let only = |code: &str| Options::default().only(vec![code.into()]);
    assert!(with(only("checkpoint-interval")).findings.is_empty(), "nobody said how often the job fails");
    let rare = with(only("checkpoint-interval").mtbf_s(Some(86_400.0))).findings.remove(0);
    let best = rare.measured["best_interval_s"];
    assert!((best - (2.0 * 86_400.0f64).sqrt()).abs() < 2.0 && rare.lost_s.is_some_and(|s| s > 6.0), "{rare:?}");
    // 8 bursts of 1 s and 256 MiB each; the buffer takes them in an eighth of the time
    let buffer = "[system]\nburst_buffer = { rate = 2147483648.0, capacity = 1e12 }\n".to_owned();
    let found = with(only("burst-buffer").config(Some(buffer))).findings.remove(0);
    assert!(found.lost_s.is_some_and(|s| (s - 7.0).abs() < 0.3), "{found:?}");
}

/// A trace of writes to one file, and counters that name its layout.
fn striped(writes: &[(u32, u64, u64, f64)], targets: &[u64]) -> Trace {
    use crate::record::{Data, Op, Request, Requests, Striping};
    let mut trace = counted(&[(None, &[("WRITES", writes.len() as i64)], &[])], 4, 100.0);
    let file = trace.files.intern("/scratch/f0");
    let row = |(i, &(rank, offset, size, s)): (usize, &(u32, u64, u64, f64))| {
        let start = i as f64 * 0.1;
        Request { op: Op::Write, rank, file, offset, size, start, end: start + s, ..Request::default() }
    };
    trace.data = Data::Requests(writes.iter().enumerate().map(row).collect::<Requests>());
    trace.timing = crate::record::Timing::Request;
    let c = trace.counters.as_mut().unwrap();
    let layout =
        Striping { file: FileId(0), stripe_bytes: 1 << 20, stripes: targets.len() as u64, targets: targets.to_vec() };
    c.layouts = vec![layout];
    trace
}

#[test]
fn a_slow_target_is_found() {
    let writes = |slow_s: f64| -> Vec<(u32, u64, u64, f64)> {
        let s = |i: u64| if i % 4 == 2 { slow_s } else { 0.01 + 1e-6 * i as f64 };
        (0..160).map(|i| ((i % 4) as u32, i << 20, 1 << 20, s(i))).collect()
    };
    let outcome = |slow_s: f64| {
        let trace = striped(&writes(slow_s), &[7, 8, 9, 10]);
        outcomes(&Facts::of(&trace, Known::default(), STRIPE, true)).remove("IOP-FILE-005").unwrap()
    };
    let found = outcome(0.03);
    assert!(found.fires && found.value("slow_target") == Some(9.0) && found.value("max_over_mean") == Some(1.0));
    assert!((found.lost_s.unwrap() - 40.0 * 0.02).abs() < 0.02, "{found:?}");
    assert!(!outcome(0.019).fires, "less than twice as slow");
    // a request over several stripes is divided: half of the first, two whole ones, half of the last
    let trace = striped(&[(0, 1 << 19, 3 << 20, 0.1)], &[1, 2, 3, 4]);
    let targets = Facts::of(&trace, Known::default(), STRIPE, true).targets.unwrap();
    let bytes: Vec<u64> = targets.all.values().map(|t| t.bytes >> 19).collect();
    assert_eq!(bytes, [1, 2, 2, 1]);
}

/// Files of 1 MiB, one for each rank, on four targets in turn: those on target 9 take `slow_s`.
fn file_each(slow_s: f64) -> Trace {
    use crate::record::Striping;
    let time = |i: u32| if i % 4 == 2 { slow_s } else { 1.0 + 1e-3 * f64::from(i) };
    let times: Vec<_> = (0..48).map(|i| [("F_WRITE_TIME", time(i))]).collect();
    let ints = [("WRITES", 1), ("BYTES_WRITTEN", 1 << 20)];
    let rows: Vec<CounterRow> = (0..48).zip(&times).map(|(i, t)| (Some(i), &ints[..], &t[..])).collect();
    let mut trace = counted(&rows, 48, 100.0);
    let layout =
        |i: u32| Striping { file: FileId(i), stripe_bytes: 1 << 20, stripes: 1, targets: vec![7 + u64::from(i % 4)] };
    trace.counters.as_mut().unwrap().layouts = (0..48).map(layout).collect();
    trace
}

#[test]
fn a_slow_target_is_found_from_the_files_of_single_ranks() {
    let outcome = |slow_s: f64| {
        outcomes(&Facts::of(&file_each(slow_s), Known::default(), STRIPE, false)).remove("IOP-FILE-005").unwrap()
    };
    let found = outcome(20.0);
    assert!(found.fires && found.value("slow_target") == Some(9.0) && found.parts.len() == 12, "{found:?}");
    assert!((found.lost_s.unwrap() - 19.0).abs() < 0.1 && found.time_s == Some(20.0), "{found:?}");
    assert!(!found.detail.contains("moves"), "{}", found.detail);
    assert!(!outcome(1.9).fires, "less than twice as slow");
    // a file of each target that all ranks use
    let mut trace = file_each(20.0);
    trace.counters.as_mut().unwrap().tables[0].file = Column::from((0..48).map(|i| FileId(i % 4)).collect::<Vec<_>>());
    assert!(Facts::of(&trace, Known::default(), STRIPE, false).targets.is_none(), "it may be the file");
}

#[test]
fn equal_bytes_are_not_offered_to_ranks_that_move_equal_bytes() {
    let remedies = |trace: &Trace| -> String {
        only(trace, "IOP-RANK-001").remedies.into_iter().map(|r| r.why).collect::<Vec<_>>().join("; ")
    };
    let equal = remedies(&file_each(20.0));
    assert!(equal.contains("storage targets") && !equal.contains("equal bytes for each rank"), "{equal}");
    let mut one = vec![(Some(0), &[("WRITES", 1), ("BYTES_WRITTEN", 1 << 30)][..], &[("F_WRITE_TIME", 50.0)][..])];
    one.extend(
        (1..4).map(|i| (Some(i), &[("WRITES", 1), ("BYTES_WRITTEN", 1 << 20)][..], &[("F_WRITE_TIME", 0.1)][..])),
    );
    let unequal = remedies(&counted(&one, 4, 100.0));
    assert!(unequal.contains("equal bytes for each rank") && !unequal.contains("storage targets"), "{unequal}");
}

#[test]
fn hints_for_collective_buffering_need_a_majority_of_collective_calls() {
    let settings = |independent: i64, collective: i64| {
        let calls = [("INDEP_WRITES", independent), ("COLL_WRITES", collective), ("BYTES_WRITTEN", 4 << 20)];
        let mut trace =
            counted(&[(None, &[("WRITES", 4000), ("BYTES_WRITTEN", 4 << 20)], &[("F_WRITE_TIME", 40.0)])], 4, 100.0);
        count(&mut trace, CounterModule::Mpiio, &[(None, &calls, &[("F_WRITE_TIME", 40.0)])]);
        let found = only(&trace, "IOP-MPIIO-003");
        found.remedies.iter().any(|r| r.settings.contains_key("romio_cb_write"))
    };
    assert!(!settings(3900, 100), "independent calls do not heed them");
}

/// Reads and writes of the same 128 MiB in pieces of 1 MiB, the reads 9 times as long; `asked` by MPI-IO, if it opened the file.
fn read_and_written(ranks: u32, mpiio: bool, writes: bool) -> Trace {
    use crate::record::{Request, Requests};
    let mib = 1u64 << 20;
    let calls = 128 * i64::from(ranks);
    let bytes = calls * mib as i64;
    let written = if writes { [calls, bytes] } else { [0, 0] };
    let counts = [("READS", calls), ("WRITES", written[0]), ("BYTES_READ", bytes), ("BYTES_WRITTEN", written[1])];
    let times = [("F_READ_TIME", 115.2), ("F_WRITE_TIME", 12.8)];
    let mut trace = counted(&[(None, &counts, &times)], u64::from(ranks), 200.0);
    if mpiio {
        let asked = [("COLL_WRITES", calls), ("BYTES_WRITTEN", bytes)];
        count(&mut trace, CounterModule::Mpiio, &[(None, &asked, &[("F_WRITE_TIME", 130.0)])]);
    }
    let file = trace.files.intern("/scratch/f0");
    let row = |i: u64| {
        let (op, s) = if i.is_multiple_of(2) { (Op::Read, 0.9) } else { (Op::Write, 0.1) };
        let (offset, start) = (i / 2 % 128 * mib, i as f64);
        let rank = if ranks > 1 { (i / 256) as u32 } else { 0 };
        Request { op, rank, file, offset, size: mib, start, end: start + s, ..Request::default() }
    };
    let rows = (0..256 * u64::from(ranks)).filter(|i| writes || i.is_multiple_of(2));
    trace.data = Data::Requests(rows.map(row).collect::<Requests>());
    trace.timing = crate::record::Timing::Request;
    trace
}

#[test]
fn a_cause_comes_before_what_follows_from_it_and_costs_more() {
    let found = find(&read_and_written(1, true, true), None, &Options::default()).unwrap();
    let cause = found.findings.iter().find(|x| x.code == "IOP-MPIIO-007").unwrap();
    assert!(cause.also.iter().any(|code| code == "IOP-POSIX-010"), "{:?}", codes(&found));
    assert!(!codes(&found).contains(&"IOP-POSIX-010"));
    let alone = find(&read_and_written(1, false, true), None, &Options::default()).unwrap();
    assert!(codes(&alone).contains(&"IOP-POSIX-010"), "{:?}", codes(&alone));
}

#[test]
fn pieces_that_mpi_io_writes_are_no_conflict() {
    let fires = |mpiio: bool| {
        let trace = read_and_written(2, mpiio, true);
        outcomes(&Facts::of(&trace, Known::default(), STRIPE, true))["IOP-FILE-002"].fires
    };
    assert!(fires(false) && !fires(true));
}

#[test]
fn files_that_the_job_writes_have_no_epochs() {
    let epochs = |writes: bool| {
        let mut trace = read_and_written(1, false, writes);
        // a second pass
        if let Data::Requests(rows) = &mut trace.data {
            let again: Vec<_> = rows.iter().filter(|r| r.op == Op::Read).collect();
            again
                .into_iter()
                .for_each(|r| rows.push(crate::record::Request { start: r.start + 300.0, end: r.end + 300.0, ..r }));
        }
        trace.counters = None;
        outcomes(&Facts::of(&trace, Known::default(), STRIPE, true))["IOP-ML-002"].fires
    };
    assert!(epochs(false) && !epochs(true));
}

#[test]
fn nothing_is_concluded_of_all_ranks_where_their_number_is_not_known() {
    let mut trace =
        counted(&[(None, &[("WRITES", 4)], &[("F_WRITE_TIME", 40.0), ("F_SLOWEST_RANK_TIME", 20.0)])], 4, 100.0);
    let io = |trace: &Trace| find(trace, None, &Options::default()).unwrap().io;
    assert!((io(&trace).mean_s.unwrap() - 10.0).abs() < 1e-9);
    trace.job.as_mut().unwrap().ranks = None;
    let io = io(&trace);
    assert!(io.mean_s.is_none() && io.share.is_none() && io.why.unwrap().contains("number of processes"));
}

#[test]
fn samples_in_files_of_their_own_fire_from_their_number_on() {
    let fires = |n: usize, read: i64| {
        let ints = [("OPENS", 2), ("READS", 8), ("BYTES_READ", read), ("MAX_BYTE_READ", 99_999)];
        let trace = counted(&vec![(Some(0), &ints[..], &[("F_META_TIME", 0.01)][..]); n], 4, 100.0);
        let o = outcomes(&Facts::of(&trace, Known::default(), STRIPE, false)).remove("IOP-ML-001").unwrap();
        (o.fires, o.time_s.unwrap())
    };
    assert!(fires(1000, 200_000).0);
    assert!((fires(1000, 200_000).1 - 10.0).abs() < 1e-9);
    assert!(!fires(999, 200_000).0);
    assert!(!fires(1000, 150_000).0, "not a whole number of passes");
}

#[test]
fn bursts_of_metadata_calls_have_their_period() {
    let found = |seconds: &[i64]| {
        let mut lookups = crate::record::Lookups::default();
        seconds.iter().for_each(|s| (0..1500).for_each(|_| lookups.add(*s, None)));
        let trace = Trace { lookups: Some(lookups), ..Trace::default() };
        outcomes(&Facts::of(&trace, Known::default(), STRIPE, true)).remove("IOP-META-008").unwrap()
    };
    let regular = found(&(0..20).map(|i| 1000 + 30 * i).collect::<Vec<_>>());
    assert!((regular.value("period_s").unwrap() - 30.0).abs() < 1.0, "{regular:?}");
    assert!(regular.detail.contains("every 30") && regular.value("seconds") == Some(20.0), "{}", regular.detail);
    let once = found(&[7]);
    assert!(once.fires && once.value("period_s").is_none() && once.detail.ends_with("0 s after the start"), "{once:?}");
}

/// The only finding of a code, which has to be there.
fn only(trace: &Trace, code: &str) -> Finding {
    let mut found = find(trace, None, &Options { only: vec![code.into()], ..Options::default() }).unwrap();
    assert_eq!(codes(&found), [code]);
    found.findings.remove(0)
}

/// The remedies offered: commands, settings, prose.
fn offered(f: &Finding) -> String {
    let text = |r: &RemedyReport| format!("{:?} {:?} {}", r.commands, r.settings, r.why);
    f.remedies.iter().map(text).collect()
}

#[test]
fn random_requests_count_if_they_are_small_and_take_time() {
    let found = |sizes: &'static str, seconds: f64, longest_s: f64| {
        let ints = [("READS", 4000), (sizes, 2000), ("SIZE_READ_1M_4M", 2000), ("SEQ_READS", 1000), ("BYTES_READ", 9)];
        let reals = [("F_READ_TIME", seconds), ("F_MAX_READ_TIME", longest_s)];
        outcomes(&Facts::of(&counted(&[(Some(0), &ints, &reals)], 1, 100.0), Known::default(), STRIPE, false))
            .remove("IOP-POSIX-005")
            .unwrap()
    };
    // of 3,000 that go back at least 1,000 are small; 3,000 others take at most 3 s
    let small = found("SIZE_READ_1K_10K", 40.0, 0.001);
    assert!(small.fires && small.value("small") == Some(1000.0), "{small:?}");
    assert_eq!((small.time_s, small.time_low_s), (Some(10.0), Some(10.0)));
    assert!(!found("SIZE_READ_1K_10K", 40.0, 0.02).fires, "the large ones may take all of the time");
    assert!(!found("SIZE_READ_1K_10K", 0.9, 0.0001).fires, "less than 1 % of the run");
    assert!(!found("SIZE_READ_4M_10M", 40.0, 0.001).fires, "large ones");
}

#[test]
fn collective_calls_that_become_whole_stripes_are_not_in_vain() {
    let fires = |sizes: &[(&'static str, i64)]| {
        let all: i64 = 200;
        let ints: Vec<_> = sizes.iter().copied().chain([("WRITES", all)]).collect();
        let mut trace = counted(&[(None, &ints, &[("F_WRITE_TIME", 40.0)])], 4, 100.0);
        count(&mut trace, CounterModule::Mpiio, &[(None, &[("COLL_WRITES", 200), ("BYTES_WRITTEN", 200 << 20)], &[])]);
        outcomes(&Facts::of(&trace, Known::default(), STRIPE, false)).remove("IOP-MPIIO-005").unwrap().fires
    };
    let whole = [("SIZE_WRITE_100K_1M", 200), ("ACCESS1_ACCESS", 1 << 20), ("ACCESS1_COUNT", 200)];
    assert!(!fires(&[&whole[..], &[("BYTES_WRITTEN", 200 << 20)]].concat()));
    // a header of 2 KiB is taken from each stripe
    let cut = [("SIZE_WRITE_100K_1M", 199), ("SIZE_WRITE_1K_10K", 1), ("ACCESS1_ACCESS", 1_046_528)];
    assert!(!fires(&[&cut[..], &[("ACCESS1_COUNT", 199), ("BYTES_WRITTEN", 199 * 1_046_528 + 2048)]].concat()));
    assert!(fires(&[("SIZE_WRITE_1K_10K", 200), ("BYTES_WRITTEN", 200 * 8192)]));
}

#[test]
fn data_sieving_costs_its_share_of_the_time_in_mpi_io() {
    let moved = [("BYTES_READ", 39 << 30), ("BYTES_WRITTEN", 40 << 30)];
    let times = [("F_WRITE_TIME", 370.0), ("F_SLOWEST_RANK_TIME", 95.0)];
    let mut trace = counted(&[(None, &moved, &times)], 4, 100.0);
    let asked = [("INDEP_WRITES", 9), ("BYTES_WRITTEN", 1 << 30)];
    count(&mut trace, CounterModule::Mpiio, &[(None, &asked, &[("F_WRITE_TIME", 380.0)])]);
    let found = only(&trace, "IOP-MPIIO-007");
    // 95 s of the mean rank
    let lost = 95.0 * 78.0 / 79.0;
    assert!(found.severity == Severity::Critical && (found.lost_s.unwrap() - lost).abs() < 1e-9, "{found:?}");
    let text = offered(&found);
    assert!(text.contains("\"romio_ds_write\": \"disable\"") && !text.contains("ds_read"), "{text}");
    assert!(!text.contains("cb_buffer_size"), "ROMIO takes this value anyway: {text}");
    trace.counters.as_mut().unwrap().hints = Some("romio_ds_write=disable;cb_nodes=4".into());
    assert!(!offered(&only(&trace, "IOP-MPIIO-007")).contains("romio_ds_write"), "the job gave this hint");
}

#[test]
fn remedies_are_offered_where_their_conditions_hold() {
    let read_twice = [("READS", 2000), ("BYTES_READ", 200 << 20), ("MAX_BYTE_READ", (100 << 20) - 1)];
    let own = counted(&[(Some(0), &read_twice, &[]), (Some(1), &read_twice, &[])], 2, 100.0);
    assert!(!offered(&only(&own, "IOP-POSIX-008")).contains("MPI_"), "each rank reads a file of its own");
    let shared = counted(&[(None, &read_twice, &[])], 2, 100.0);
    assert!(offered(&only(&shared, "IOP-POSIX-008")).contains("MPI_File_read_all"), "more than 64 MiB");
    let metadata = |names: &[(&'static str, i64)]| {
        let trace = counted(&[(Some(0), names, &[("F_META_TIME", 60.0)])], 1, 100.0);
        offered(&only(&trace, "IOP-META-001"))
    };
    let seeks = metadata(&[("SEEKS", 1_000_000), ("OPENS", 1)]);
    assert!(seeks.contains("pread") && !seeks.contains("directory"), "{seeks}");
    assert!(metadata(&[("OPENS", 1_000_000)]).contains("keep it open"));
}

#[test]
fn pauses_between_requests_of_ranks_at_the_same_time_are_no_turns() {
    let fires = |start: fn(u32, u32) -> f64| {
        let row = |rank, i| {
            let start = start(rank, i);
            let offset = u64::from(rank * 100 + i) << 20;
            crate::record::Request {
                op: Op::Write,
                rank,
                offset,
                size: 1 << 20,
                start,
                end: start + 0.05,
                ..Default::default()
            }
        };
        let rows = (0..4).flat_map(|rank| (0..100).map(move |i| row(rank, i)));
        let mut trace = Trace { data: Data::Requests(rows.collect()), ranks: 4, ..Trace::default() };
        trace.files.intern("/scratch/a");
        outcomes(&Facts::of(&trace, Known::default(), STRIPE, true)).remove("IOP-RANK-006").unwrap().fires
    };
    assert!(fires(|rank, i| 10.0 * f64::from(rank) + 0.1 * f64::from(i)), "one after the other");
    assert!(!fires(|rank, i| 0.1 * f64::from(rank) + 0.4 * f64::from(i)), "all of them from start to end");
}

#[test]
fn nothing_that_was_recorded_is_asked_for() {
    let asked = |line: &str| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a_b_0.st");
        std::fs::write(&path, line.repeat(3)).unwrap();
        let found = find(&read(&path), None, &Options::default()).unwrap();
        let how: BTreeSet<String> = found.not_checked.into_iter().map(|n| n.how).collect();
        how.into_iter().collect::<Vec<_>>().join("\n")
    };
    let whole = asked("7 1700000100.000000 write(1</scratch/a>, \"x\", 1) = 1 <0.000010>\n");
    assert!(!whole.contains("strace"), "{whole}");
    let untimed = asked("7 1700000100.000000 write(1</scratch/a>, \"x\", 1) = 1\n");
    assert!(!untimed.contains("-ttt"), "{untimed}");
}

#[test]
fn every_rule_has_a_text_and_every_text_a_rule() {
    let book = Book::standard().unwrap();
    let texts: BTreeSet<&str> = book.rules.keys().map(String::as_str).collect();
    let warnings: Vec<String> = book.warning_codes().collect();
    let codes: BTreeSet<&str> = rules::RULES.iter().map(|r| r.0).chain(warnings.iter().map(String::as_str)).collect();
    assert_eq!(texts, codes);
    let contract = include_str!("../../docs/contract.md");
    let listed = contract.split("## Warnings").nth(1).unwrap().lines().filter(|l| l.starts_with("| `")).count();
    assert_eq!(book.warning.len(), listed, "each warning of the contract has a code");
    for [name, meaning] in &book.warning {
        assert!(contract.contains(&format!("| `{name}` | {meaning} |")), "{name}");
    }
    // no rule asks for a threshold that the file does not have, whatever the trace
    let empty = counted(&[], 1, 1.0);
    outcomes(&Facts::of(&empty, Known::default(), STRIPE, true));
    let full = counted(&[(None, &[("WRITES", 1), ("MMAPS", 1)], &[]), (Some(3), &[("READS", 1)], &[])], 1000, 1.0);
    assert!(outcomes(&Facts::of(&full, Known::default(), STRIPE, true)).len() > 20);
}

#[test]
fn docs_list_every_finding() {
    let text = include_str!("../../docs/findings.md");
    for r in all_rules().unwrap() {
        let limits: Vec<String> = r.limits.iter().map(|(name, x)| format!("{name} {x}")).collect();
        let limits = if limits.is_empty() { "-".to_owned() } else { limits.join(", ") };
        let row = format!("| {} | {} | {} | {} | {limits} | {} |", r.code, r.name, r.title, r.measured, r.needs);
        assert!(text.contains(&row), "docs/findings.md lacks\n{row}");
    }
}

/// Files below folders, in the order of their names.
fn files_below(mut folders: Vec<std::path::PathBuf>) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { all.push(path) }
        }
    }
    all.sort();
    all
}

#[test]
fn no_finding_costs_more_than_the_io_takes() {
    let shared: Vec<_> = ["corpus", "thirdparty"].into_iter().filter_map(shared).collect();
    let own = files_below(vec!["data".into()]);
    let step = 4 * every(60);
    let all = own.into_iter().chain(files_below(shared).into_iter().step_by(step));
    let read = ReadOptions { counters: true, ..ReadOptions::default() };
    let mut costs = 0;
    for path in all.filter(|path| path.metadata().unwrap().len() < 4 << 20) {
        let trace = Source::open(&path, &read.limits).and_then(|source| formats::read(&source, None, &read));
        let Ok(trace) = trace else { continue };
        let analyze = || crate::analysis::analyze(&trace, &Default::default()).ok();
        let report = trace.resolves_times().then(analyze).flatten().map(|a| a.report);
        let found = find(&trace, report.as_ref(), &Options::default()).unwrap();
        let io_s = found.io.slowest_s.map(|s| s.high).into_iter().chain(found.io.wall_s).fold(0.0, f64::max);
        for f in found.findings.iter().filter(|_| io_s > 0.0) {
            for cost in f.lost_s.into_iter().chain(f.time_s).chain(f.lost_low_s) {
                assert!(cost <= io_s, "{}: {} costs {cost} s of {io_s} s", path.display(), f.code);
                costs += 1;
            }
        }
    }
    assert!(costs > 10, "{costs}");
}

#[test]
fn a_burst_of_few_requests_costs_their_time() {
    let o = Outcome::new(true).time(9.0).lost(8.0, "").lost_low(0.5);
    let bounded = o.clone().within(Some(2.0));
    assert_eq!((bounded.time_s, bounded.lost_s, bounded.lost_low_s), (Some(2.0), Some(2.0), Some(0.5)));
    assert_eq!(o.clone().within(None).lost_s, Some(8.0));
    // work that is done again is no I/O
    assert_eq!(o.with_work().within(Some(2.0)).lost_s, Some(8.0));
}
