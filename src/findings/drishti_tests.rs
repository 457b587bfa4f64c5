//! Where Drishti's triggers and ours agree on the logs of the oracle, and why they do not.

use std::collections::BTreeMap;

use super::book::Book;
use super::facts::{Facts, Known};
use super::options::STRIPE;
use super::outcome::Outcome;
use super::rules;
use super::tests::{logs, outcomes, read};

/// Why a trigger fires and our code must not: the condition is checked on the figures of our rule.
fn reason(trigger: &str, o: &Outcome, ranks: u64, run_s: f64) -> Option<&'static str> {
    let v = |name: &str| o.value(name).unwrap_or(f64::NAN);
    let when = |holds: bool, why: &'static str| holds.then_some(why);
    match trigger {
        "P01" | "P02" | "P03" | "P04" => Some("true of most jobs: shown with the totals"),
        "P05" | "P06" | "P15" | "P16" => when(v("low") < v("high"), "requests of exactly 1 MiB are not small"),
        "P08" => when(v("of") == 0.0, "no file of at least 4 stripe units")
            .or(when(v("unaligned") <= 0.1 * v("of"), "only requests to small files are unaligned")),
        "P09" | "P10" => when(
            v("low") < 0.1 * v("of") || v("low") < 16e6,
            "Drishti's test is inverted: it fires if the highest offset exceeds the bytes",
        ),
        "P11" | "P13" => when(o.time_low_s < Some(0.01 * run_s), "they take less than 1 % of the run")
            .or(when(v("small") < v("low"), "requests of a stripe unit and more"))
            .or(when(v("low") < v("high"), "the first access after each open is not random")),
        "P12" | "P14" => Some("its last case, which needs no condition: fewer than 100 calls, or none in order"),
        "P17" => {
            when(v("share") < 0.3 || v("time_s") < 1.0, "time of all ranks is added; less than 1 s or 30 % of a rank's")
        }
        "P18" | "P21" | "P22" => {
            when(v("ratio") < 2.0 && v("variation") < 0.5, "bytes of the slowest and fastest rank, or of aggregators")
        }
        "P19" => when(
            v("worst") < 0.3 || v("lost_s") < 1.0,
            "over all files and in the outermost layer below 30 %, or less than 1 s and 1 % of the run",
        ),
        "M01" => when(o.measured.is_empty() || v("of") == 0.0, "no bytes through POSIX")
            .or(when(ranks < 2, "one process"))
            .or(when(v("bytes") < 0.1 * v("of"), "requests are large, or files of one rank")),
        "M02" | "M03" => when(v("files") == 0.0, "files of one rank"),
        "M04" | "M05" => Some("fewer than 90 % of the calls are collective"),
        "M06" | "M07" => Some("true of every MPI-IO job: ours needs bursts with idle time between them"),
        "S01" => {
            when(v("bytes") < 16.0 * (1 << 20) as f64 || v("bytes") <= 0.1 * v("of"), "terminals, or less than 16 MiB")
        }
        _ => None,
    }
}

#[test]
fn every_trigger_of_drishti_is_ours_or_explained() {
    let Some(logs) = logs("findings/drishti-oracle.json") else { return };
    let book = Book::standard().unwrap();
    let ours = |trigger: &str| -> Vec<&str> {
        let named = |code: &&str| book.rules[*code].drishti.iter().any(|t| t == trigger);
        rules::RULES.iter().map(|r| r.0).filter(named).collect()
    };
    // of each trigger: logs, logs where ours fires, and the others by reason
    let mut table: BTreeMap<String, (u64, u64, BTreeMap<&str, u64>)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (log, path, want) in &logs {
        let trace = read(path);
        // the same data: counters
        let facts = Facts::of(&trace, Known::default(), STRIPE, false);
        let found = outcomes(&facts);
        for trigger in want["codes"].as_array().into_iter().flatten().filter_map(|c| c.as_str()) {
            let row = table.entry(trigger.to_owned()).or_default();
            row.0 += 1;
            let codes = ours(trigger);
            if codes.iter().any(|c| found.get(c).is_some_and(|o| o.fires)) {
                row.1 += 1;
                continue;
            }
            let none = Outcome::new(false);
            let outcome = codes.iter().find_map(|c| found.get(c)).unwrap_or(&none);
            match reason(trigger, outcome, facts.ranks, facts.run_s) {
                Some(why) => *row.2.entry(why).or_default() += 1,
                None => wrong.push(format!("{log}: {trigger} {codes:?} {:?}", outcome.measured)),
            }
        }
    }
    assert!(wrong.is_empty(), "{} not explained\n{}", wrong.len(), wrong.join("\n"));
    assert!(logs.len() >= 159 && table.len() > 20, "{} logs, {} triggers", logs.len(), table.len());
    let docs = include_str!("../../docs/findings.md");
    let rows: Vec<String> = table
        .iter()
        .map(|(trigger, (n, both, why))| {
            let why: Vec<String> = why.iter().map(|(why, k)| format!("{why} ({k})")).collect();
            let why = if why.is_empty() { "-".into() } else { why.join("; ") };
            let codes = ours(trigger).join(", ");
            format!("| {trigger} | {} | {n} | {both} | {why} |", if codes.is_empty() { "-" } else { &codes })
        })
        .collect();
    let missing: Vec<&String> = rows.iter().filter(|r| !docs.contains(*r)).collect();
    assert!(missing.is_empty(), "docs/findings.md has another table than\n{}", rows.join("\n"));
}
