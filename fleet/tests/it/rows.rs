//! Rows of one log against the library's answers on it.

use std::collections::BTreeMap;

use crate::common::{cells, corpus, make, run, truth};
use iophase::analysis::{self, Options};
use iophase::formats::{self, ReadOptions, Source};
use iophase::record::Trace;

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
