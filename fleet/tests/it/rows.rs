//! Rows of one log against the library's answers on it.

use std::collections::BTreeMap;

use crate::common::{cells, corpus, make, printed, run, source, truth};
use iophase::analysis::{self, Options};
use iophase::formats::{self, ReadOptions, Source};
use iophase::record::Trace;
use iophase_fleet::make_logs;

fn read(path: &std::path::Path, options: &ReadOptions) -> Trace {
    formats::read(&Source::open(path, &options.limits).unwrap(), None, options).unwrap()
}

#[test]
fn signals_are_those_of_analyze() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make(&logs, 60, 0.0, 1);
    run(0, &logs, &fleet, &[]);
    let sql = "select l.uri, s.mode, s.bytes, s.verdict, s.period_s, s.confidence, s.cycles, s.bursts, s.duty_cycle, s.set10, \
               s.burst_bytes_median, s.abstraction_error from logs l join signals s on l.log_key = s.log_key order by l.uri, s.mode desc";
    let mut rows: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    cells(&fleet, sql).into_iter().for_each(|r| rows.entry(r[0].clone()).or_default().push(r[1..].to_vec()));
    assert_eq!(rows.len(), 60);
    let text = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
    for (uri, rows) in rows {
        let trace = read(uri.as_ref(), &ReadOptions::default());
        // with all that the command does
        let report = analysis::analyze(&trace, &Options::default()).unwrap().report;
        assert_eq!(report.signals.len(), rows.len(), "{uri}");
        for (s, row) in report.signals.iter().zip(rows) {
            let d = s.period.dominant.as_ref();
            let b = s.bursts.as_ref();
            let verdict = serde_json::to_value(s.period.verdict).unwrap();
            let expected = [
                s.mode.name().to_owned(),
                format!("{:.0}", s.bytes),
                verdict.as_str().unwrap().to_owned(),
                text(d.map(|d| d.period_s)),
                text(d.map(|d| d.confidence)),
                text(d.map(|d| d.cycles)),
                b.map_or(String::new(), |b| b.count.to_string()),
                text(b.map(|b| b.duty_cycle)),
                d.map_or(String::new(), |d| format!("{:.0}", d.period_s.log10().round())),
                b.map_or(String::new(), |b| format!("{:.0}", b.bytes.median.round())),
                text(Some(s.abstraction_error)),
            ];
            assert_eq!(row, expected, "{uri}");
        }
    }
}

#[test]
fn bursts_minutes_and_layers_add_up_to_the_log() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make(&logs, 30, 0.0, 2);
    run(0, &logs, &fleet, &["--depth", "full"]);
    let bursts = "select count(*) from signals s left join (select log_key, mode, sum(count) as n, min(begin_time) as b, max(begin_time) as e \
                  from bursts group by log_key, mode) b on s.log_key = b.log_key and s.mode = b.mode \
                  where coalesce(s.bursts, 0) <> coalesce(b.n, 0) or s.first_burst <> b.b or s.last_burst <> b.e";
    assert_eq!(cells(&fleet, bursts), [["0"]]);
    let minutes = "select count(*) from signals s join (select log_key, mode, sum(bytes) as n, max(busy_s) as busy from minutes group by log_key, mode) m \
                   on s.log_key = m.log_key and s.mode = m.mode where abs(s.bytes - m.n) > 1 or m.busy > 60.0001";
    assert_eq!(cells(&fleet, minutes), [["0"]]);
    let sql = "select l.uri, y.layer, sum(y.reads), sum(y.writes), sum(y.opens), sum(y.bytes_read), sum(y.bytes_written), \
               sum(y.size_write_100k_1m), sum(y.consec_writes) from logs l join layers y on l.log_key = y.log_key group by l.uri, y.layer";
    let rows = cells(&fleet, sql);
    assert!(rows.len() >= 30);
    for row in rows {
        let trace = read(row[0].as_ref(), &ReadOptions::default().counters(true));
        let counters = trace.counters.unwrap();
        let table = counters.tables.iter().find(|t| t.module.prefix().to_lowercase() == row[1]).unwrap();
        let sum = |names: &[&str]| -> String {
            let found: Vec<i64> =
                names.iter().filter_map(|n| table.int(n)).map(|c| c.iter().filter(|x| *x >= 0).sum()).collect();
            if found.is_empty() { String::new() } else { found.iter().sum::<i64>().to_string() }
        };
        let kinds = |what: &str| ["", "INDEP_", "COLL_", "SPLIT_", "NB_"].map(|k| format!("{k}{what}"));
        let calls = |what: &str| sum(&kinds(what).iter().map(String::as_str).collect::<Vec<_>>());
        let expected = [
            calls("READS"),
            calls("WRITES"),
            calls("OPENS"),
            sum(&["BYTES_READ"]),
            sum(&["BYTES_WRITTEN"]),
            sum(&["SIZE_WRITE_100K_1M", "SIZE_WRITE_AGG_100K_1M"]),
            sum(&["CONSEC_WRITES"]),
        ];
        assert_eq!(row[2..], expected, "{row:?}");
    }
}

#[test]
fn bytes_through_stdio_are_in_the_minutes_of_a_log_with_segments() {
    let t = tempfile::tempdir().unwrap();
    let (log, fleet) = (t.path().join("log.txt"), t.path().join("fleet"));
    std::fs::write(&log, printed(1_767_225_600)).unwrap();
    run(0, &log, &fleet, &[]);
    let sql = "select cast(extract(minute from minute) as int), bytes, spread from minutes where mode = 'write' order by spread, minute";
    let expected = [["0", "2097152", "false"], ["0", "3000", "true"], ["1", "6000", "true"], ["2", "3000", "true"]];
    assert_eq!(cells(&fleet, sql), expected);
}

#[test]
fn every_log_has_one_row_and_the_status_of_its_damage() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make(&logs, 300, 0.3, 3);
    let messages = run(3, &logs, &fleet, &[]);
    assert!(messages.contains("300 logs: 0 known, 300 read") && messages.contains("could not be read"), "{messages}");
    let rows = cells(
        &fleet,
        "select uri, status, reason, job_id, user_id, run_time_s, cast(extract(epoch from start_time) as bigint), app_version from logs",
    );
    assert_eq!(rows.len(), 300);
    let truth = truth(&logs);
    let mut seen = std::collections::BTreeSet::new();
    for r in rows {
        let name = std::path::Path::new(&r[0]).strip_prefix(&logs).unwrap().display().to_string();
        assert!(seen.insert(name.clone()), "{name} twice");
        let want = &truth[&name];
        match want[7].as_str() {
            "none" => assert_eq!(r[1], "ok", "{r:?}"),
            "empty" => assert_eq!(r[1], "unsupported", "{r:?}"),
            "cut" => assert!(["unreadable", "unsupported", "partial"].contains(&r[1].as_str()), "{r:?}"),
            _ => assert!(
                ["ok", "partial", "unreadable", "unsupported", "too-large", "empty"].contains(&r[1].as_str()),
                "{r:?}"
            ),
        }
        assert_eq!(r[1] == "ok", r[2].is_empty(), "what is not ok has a reason: {r:?}");
        if want[7] == "none" {
            assert_eq!((&r[3], &r[4], &r[6], &r[7]), (&want[2], &want[3], &want[4], &want[6]), "{name}");
        } else if want[7] == "cut" && !r[3].is_empty() {
            assert_eq!(r[3], want[2], "what is left of the header is right: {name}");
        }
    }
}

#[test]
fn counters_alone_give_the_same_layers_and_files() {
    let t = tempfile::tempdir().unwrap();
    let (logs, a, b) = (t.path().join("logs"), t.path().join("a"), t.path().join("b"));
    make(&logs, 20, 0.0, 4);
    run(0, &logs, &a, &["--depth", "counters"]);
    run(0, &logs, &b, &["--depth", "period"]);
    let (a, b) = (crate::common::dump(&a), crate::common::dump(&b));
    assert_eq!((&a["layers"], &a["files"]), (&b["layers"], &b["files"]));
    assert!(a["periods"].is_empty() && !b["periods"].is_empty());
    assert_eq!(a["signals"].len(), b["signals"].len());
}

#[test]
fn hostile_logs_are_rows() {
    let Some(hostile) = corpus("corpus/darshan-synth/hostile") else { return };
    let t = tempfile::tempdir().unwrap();
    let files = std::fs::read_dir(&hostile).unwrap().count();
    let fleet = t.path().join("fleet");
    run(3, &hostile, &fleet, &["--name", "*", "--memory", "256MiB", "--time-limit", "10s", "--depth", "full"]);
    let rows = cells(&fleet, "select uri, status, reason from logs");
    assert_eq!(rows.len(), files);
    assert!(rows.iter().all(|r| r[1] != "crashed" && r[1] != "timeout"), "{rows:?}");
}

#[test]
fn periods_of_stretched_logs_are_those_of_their_sources_times_the_factor() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole) = (t.path().join("logs"), t.path().join("whole"));
    let sources = vec![source("stable"), source("stable-heatmap")];
    let a = make_logs::Arguments {
        out: logs.clone(),
        count: 60,
        logs: sources.clone(),
        seed: 51,
        bad: 0.0,
        days: 20,
        stretch: (0.8, 1.25),
    };
    make_logs::run(&a).unwrap();
    run(0, &logs, &whole, &[]);
    let rows = cells(
        &whole,
        "select l.uri, s.period_s, l.run_time_s, l.status from logs l join signals s on l.log_key = s.log_key where s.mode = 'write'",
    );
    let truth = truth(&logs);
    let mut factors = std::collections::BTreeSet::new();
    assert_eq!(rows.len(), 60);
    for row in rows {
        let of = &truth[row[0].strip_prefix(logs.to_str().unwrap()).unwrap().trim_start_matches('/')];
        let factor: f64 = of[8].parse().unwrap();
        let period: f64 = row[1].parse().unwrap();
        // both sources write every 2 s
        assert!((period / (2.0 * factor) - 1.0).abs() < 0.02, "{period} {factor} {of:?}");
        assert!(
            row[2].parse::<f64>().unwrap() >= of[5].parse::<f64>().unwrap() - 1.5 && row[3] == "ok",
            "{row:?} {of:?}"
        );
        factors.insert((of[6].clone(), of[8].clone()));
    }
    assert!(factors.len() > 5, "{factors:?}");
}

#[test]
fn patterns_are_those_of_analyze() {
    let t = tempfile::tempdir().unwrap();
    run(0, &source("stable"), &t.path().join("full"), &["--depth", "full"]);
    let rows = cells(
        &t.path().join("full"),
        "select op, kind, accesses, bytes, rank from patterns order by begin_time, rank, op",
    );
    let trace = read(&source("stable"), &ReadOptions::default().counters(true));
    let report = iophase::analysis::analyze(&trace, &iophase::analysis::Options::default()).unwrap().report;
    let found = report.patterns.unwrap().patterns;
    assert!(!found.is_empty());
    let mut expected: Vec<Vec<String>> = found
        .iter()
        .map(|p| {
            let op = serde_json::to_value(p.op).unwrap().as_str().unwrap().to_owned();
            vec![op, p.kind.name().into(), p.records.to_string(), p.bytes.to_string(), p.rank.to_string()]
        })
        .collect();
    let mut rows = rows;
    rows.sort();
    expected.sort();
    assert_eq!(rows, expected);
    run(0, &source("stable"), &t.path().join("period"), &[]);
    assert_eq!(cells(&t.path().join("period"), "select count(*) from patterns"), [["0"]]);
}
