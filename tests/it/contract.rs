//! The contract of the command line: exit codes, streams, JSON against its schema.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn iophase(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iophase")).args(args).output().unwrap()
}

fn stdout(o: &Output) -> String {
    String::from_utf8(o.stdout.clone()).unwrap()
}

fn stderr(o: &Output) -> String {
    String::from_utf8(o.stderr.clone()).unwrap()
}

fn schema(name: &str) -> jsonschema::Validator {
    let o = iophase(&["schema", name]);
    assert!(o.status.success());
    let schema: Value = serde_json::from_str(&stdout(&o)).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn json(o: &Output) -> Vec<Value> {
    stdout(o).lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// Every trace of `data/`.
fn samples() -> Vec<String> {
    let mut all: Vec<String> = fs::read_dir(data(""))
        .unwrap()
        .map(|e| e.unwrap().path().display().to_string())
        .filter(|p| !p.ends_with(".md") && !p.ends_with(".svg"))
        .collect();
    all.sort();
    assert!(all.len() >= 8);
    all
}

/// Keys of an object of the contract, in its order.
fn has_keys(v: &Value, keys: &str) {
    for k in keys.split(' ') {
        assert!(v.get(k).is_some(), "{k} is missing in {v}");
    }
}

#[test]
fn reports_match_schema_and_contract() {
    let schema = schema("report");
    let samples = samples();
    let mut args = vec!["analyze", "--json", "-", "-n", "3"];
    args.extend(samples.iter().map(String::as_str));
    let o = iophase(&args);
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    let reports = json(&o);
    assert_eq!(reports.len(), samples.len());
    for r in &reports {
        schema.validate(r).unwrap_or_else(|e| panic!("{e}\n{r}"));
        assert_eq!(r["schema"], "iophase.report.v1");
        has_keys(r, "schema tool trace clock signals primary patterns quality warnings");
        has_keys(&r["clock"], "kind zero_unix_s");
        has_keys(&r["tool"], "name version");
        has_keys(&r["trace"], "path format layer ranks files records bytes_read bytes_written start_s end_s job");
        has_keys(
            &r["quality"],
            "records_read records_dropped records_left_out clamped clock_backwards partial timing bin_s",
        );
        for s in r["signals"].as_array().unwrap() {
            has_keys(
                s,
                "mode sampling_hz samples start_s end_s bytes abstraction_error sampling period components fit validity bursts prediction",
            );
            assert!(s["bytes"].is_u64(), "{}", s["bytes"]);
            if s["bursts"].is_object() {
                assert!(["min", "median", "max"].iter().all(|k| s["bursts"]["bytes"][*k].is_u64()), "{}", s["bursts"]);
            }
            if s["prediction"].is_object() {
                assert!(s["prediction"]["bytes"].is_u64() && s["prediction"]["bytes_p95"].is_u64());
            }
            let p = &s["period"];
            has_keys(p, "periodic verdict method detector dominant candidates others spectrum");
            assert_eq!(p["periodic"].as_bool().unwrap(), p["dominant"].is_object());
            assert_eq!(p["periodic"].as_bool().unwrap(), p["verdict"] == "periodic");
            if p["dominant"].is_object() {
                has_keys(
                    &p["dominant"],
                    "frequency_hz period_s period_std_s cycles confidence amplitude_bytes_per_s phase_rad dft_bin",
                );
                let c = p["dominant"]["confidence"].as_f64().unwrap();
                assert!((0.0..=1.0).contains(&c));
                let product =
                    p["dominant"]["frequency_hz"].as_f64().unwrap() * p["dominant"]["period_s"].as_f64().unwrap();
                assert!((product - 1.0).abs() < 1e-9);
            }
            assert_eq!(s["components"].as_array().unwrap().len(), 4, "mean and three cosines");
        }
    }
}

#[test]
fn the_regime_at_the_end_leads_and_predicts() {
    let o = iophase(&["analyze", "--json", "-", &data("change.darshan").display().to_string()]);
    let r = &json(&o)[0];
    let signal = &r["signals"][0];
    let near = |v: &Value, x: f64| (v.as_f64().unwrap() / x - 1.0).abs() < 0.02;
    assert!(near(&signal["period"]["dominant"]["period_s"], 3.5), "{signal}");
    assert!(near(&signal["prediction"]["period_s"], 3.5), "{signal}");
    let before = &signal["period"]["others"][0];
    assert!(near(&before["period_s"], 2.0) && before["relation"] == "before" && before["prediction"].is_null());
    assert!(before["validity"][0]["end_s"].as_f64().unwrap() < 20.0, "{before}");
    let o = iophase(&["analyze", "--json", "-", &data("two-periods.darshan").display().to_string()]);
    let r = &json(&o)[0];
    let others = r["signals"][0]["period"]["others"].as_array().unwrap();
    assert!(others.iter().any(|p| near(&p["period_s"], 0.25) && p["relation"] == "within"), "{others:?}");
}

/// Point sampling can count the bytes of a burst many times over, so no share of them is "lost".
#[test]
fn point_sampling_misestimates_bytes() {
    let trace = data("stable.darshan").display().to_string();
    let o = iophase(&["analyze", &trace, "-v", "--sampling", "point", "-f", "1", "--method", "dft"]);
    let text = String::from_utf8(o.stdout).unwrap();
    let percent: f64 = text
        .split("sampling misestimates the bytes of write by ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(percent > 100.0 && text.contains("sampling error"), "{text}");
    assert!(!text.contains("bytes of write are lost") && !text.contains("abstraction"), "{text}");
}

#[test]
fn periods_below_the_shortest_are_not_reported() {
    // 2 s, then 3.5 s
    let trace = data("change.darshan").display().to_string();
    for method in ["auto", "autocorrelation"] {
        for (shortest, least) in [("0.1", 0.1), ("2.5", 2.5), ("10", 10.0)] {
            let r =
                &json(&iophase(&["analyze", &trace, "--json", "-", "--method", method, "--min-period", shortest]))[0];
            let signals = r["signals"].as_array().unwrap();
            let periods = signals.iter().map(|s| &s["period"]).flat_map(|p| {
                let others = p["others"].as_array().unwrap().iter();
                others
                    .chain([&p["dominant"]])
                    .chain(p["candidates"].as_array().unwrap())
                    .filter_map(|d| d["period_s"].as_f64())
            });
            assert!(periods.clone().all(|t| t >= least), "{method} {shortest}: {:?}", periods.collect::<Vec<_>>());
            if (method, shortest) == ("auto", "2.5") {
                let t = signals[0]["period"]["dominant"]["period_s"].as_f64().unwrap();
                assert!((t - 3.5).abs() < 0.01, "{t}");
            }
        }
    }
    // of a period that is left out no multiple is reported
    let stable = data("stable.darshan").display().to_string();
    let r = &json(&iophase(&["analyze", &stable, "--json", "-", "--min-period", "2.5"]))[0];
    assert_eq!(r["signals"][0]["period"]["dominant"], Value::Null);
    assert_eq!(iophase(&["analyze", &trace, "--min-period", "0"]).status.code(), Some(2));
}

#[test]
fn clocks_and_wall_clock_times() {
    let report = |name: &str| json(&iophase(&["analyze", "--json", "-", &data(name).display().to_string()])).remove(0);
    let r = report("stable.darshan");
    assert_eq!(r["clock"]["kind"], "job-start");
    assert_eq!(r["clock"]["zero_unix_s"], r["trace"]["job"]["start_unix_s"]);
    let next = &r["signals"][0]["prediction"];
    let zero = next["next_start_unix_s"].as_f64().unwrap() - next["next_start_s"].as_f64().unwrap();
    assert!((zero - r["clock"]["zero_unix_s"].as_f64().unwrap()).abs() < 1e-5, "{next}");
    for (name, kind) in [("stable.strace", "midnight"), ("stable.msgpack", "trace")] {
        let r = report(name);
        assert_eq!((&r["clock"]["kind"], r["clock"]["zero_unix_s"].is_null()), (&Value::from(kind), true), "{name}");
        assert!(r["signals"][0]["prediction"]["next_start_unix_s"].is_null());
    }
    let text = stdout(&iophase(&["analyze", &data("stable.strace").display().to_string()]));
    assert!(text.contains("count from the start of the trace"), "{text}");
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let before = now();
    let last = json(&iophase(&["predict", "--once", &data("stable.msgpack").display().to_string()])).pop().unwrap();
    let emitted = last["emitted_unix_s"].as_f64().unwrap();
    assert!(before <= emitted && emitted <= now(), "{last}");
    assert_eq!(last["clock"]["kind"], "trace");
}

#[test]
fn patterns_match_schema_and_contract() {
    let schema = schema("patterns");
    let traces = [data("stable.darshan"), data("stable.strace")].map(|p| p.display().to_string());
    let o = iophase(&["patterns", "--verify", "--next", "2", "--json", "-", &traces[0], &traces[1]]);
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    let all = json(&o);
    assert_eq!(all.len(), 2);
    for r in &all {
        schema.validate(r).unwrap_or_else(|e| panic!("{e}\n{r}"));
        assert_eq!(r["schema"], "iophase.patterns.v1");
        has_keys(r, "schema tool trace coverage patterns groups warnings");
        has_keys(&r["coverage"], "records matched predicted bytes matched_bytes");
        let patterns = r["patterns"].as_array().unwrap();
        assert!(!patterns.is_empty());
        let mut matched = 0;
        for p in patterns {
            has_keys(
                p,
                "op then kind rank ranks file start_s end_s start_offset end_offset access_size records bytes stride levels size_summary sizes period period_reason family next",
            );
            assert!(p["period"].is_object() != p["period_reason"].is_string(), "{p}");
            let (records, levels) = (p["records"].as_u64().unwrap(), p["levels"].as_array().unwrap());
            matched += records;
            let product: u64 = levels.iter().map(|l| l["count"].as_u64().unwrap()).product();
            assert_eq!(p["kind"] == "sequential", p["access_size"].is_null(), "{p}");
            if p["ranks"].is_object() {
                assert_eq!(p["ranks"]["count"], levels.last().unwrap()["count"], "the outermost loop goes over ranks");
            }
            if p["kind"] == "sequential" {
                let of_pass: u64 = p["sizes"].as_array().unwrap().iter().map(|row| row[1].as_u64().unwrap()).sum();
                assert_eq!(of_pass * product, records, "{p}");
            } else {
                assert_eq!(product, records, "{p}");
                assert_eq!(p["kind"] == "kd-strided", levels.len() > 1, "{p}");
                // A pattern of several ranks or operations has done its part.
                let goes_on = p["ranks"].is_null() && p["then"].is_null();
                assert_eq!(p["next"].as_array().unwrap().len(), if goes_on { 2 } else { 0 }, "{p}");
            }
        }
        assert_eq!(r["coverage"]["matched"].as_u64().unwrap(), matched);
    }
    // The same patterns are in the report of the main job.
    let o = iophase(&["analyze", "--json", "-", &traces[0]]);
    let report = &json(&o)[0]["patterns"];
    assert_eq!(report["coverage"], all[0]["coverage"]);
    assert_eq!(report["patterns"].as_array().unwrap().len(), all[0]["patterns"].as_array().unwrap().len());
    // One line each, as tuples, with a period.
    let text = stdout(&iophase(&["patterns", &traces[0]]));
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("{write, ") && first.contains("} period=") && first.contains(" file=/"), "{first}");
    assert!(text.lines().last().unwrap().contains("predicted"));
    // Traces without offsets have none.
    let phases = data("stable.msgpack").display().to_string();
    assert_eq!(iophase(&["patterns", &phases]).status.code(), Some(4));
    assert!(json(&iophase(&["analyze", "--json", "-", &phases]))[0]["patterns"].is_null());
}

#[test]
fn classes_match_schema_and_contract() {
    let schema = schema("classes");
    let trace = data("stable.darshan").display().to_string();
    let o = iophase(&["classify", "--json", "-", &trace]);
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    for c in &json(&o) {
        schema.validate(c).unwrap_or_else(|e| panic!("{e}\n{c}"));
        assert_eq!(c["schema"], "iophase.classes.v1");
        has_keys(c, "schema path records files advice warnings");
        let files = c["files"].as_array().unwrap();
        assert_eq!(files.len(), 14);
        for f in files {
            has_keys(f, "file local global aside expected");
            for l in f["local"].as_array().unwrap() {
                has_keys(l, "rank start_s end_s mix sequentiality size accesses start_offset end_offset classifier");
                assert_eq!((l["mix"].as_str(), l["size"].as_str()), (Some("write-only"), Some("uniform-small")));
            }
            for g in f["global"].as_array().unwrap() {
                has_keys(g, "start_s end_s ranks mix sequentiality size staggered bytes accesses classifier advice");
                assert!(g["start_s"].as_f64() <= g["end_s"].as_f64());
                for a in g["advice"].as_array().unwrap() {
                    has_keys(a, "policy why hints");
                }
            }
        }
    }
    // its writes are periodic: every burst can be staged
    let advice = &json(&o)[0]["advice"];
    assert_eq!(advice[0]["policy"], "burst-buffer-staging", "{advice}");
    assert!(advice[0]["hints"]["buffer_bytes"].as_str().unwrap().parse::<u64>().unwrap() >= 8 << 20);
    // phases have no offsets
    let phases = data("stable.msgpack").display().to_string();
    assert_eq!(iophase(&["classify", &phases]).status.code(), Some(4));
}

#[test]
fn bursts_of_milliseconds_are_not_staged() {
    let folder = tempfile::tempdir().unwrap();
    let staged = |name: &str, period: &str, burst: &str| {
        let path = folder.path().join(name).display().to_string();
        let o = iophase(&["generate", "checkpoint", "--period", period, "--burst", burst, "--start", "0", "-o", &path]);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        let report = json(&iophase(&["classify", "--json", "-", &path])).remove(0);
        report["advice"].as_array().unwrap().iter().any(|a| a["policy"] == "burst-buffer-staging")
    };
    assert!(staged("seconds.csv", "10", "1.5"));
    assert!(!staged("milliseconds.csv", "0.1", "0.01"));
}

#[test]
fn a_model_of_earlier_runs_is_trained_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let model = dir.path().join("model.json").display().to_string();
    let trace = data("stable.darshan").display().to_string();
    let o = iophase(&["classify", "--train", &trace, "-o", &model]);
    assert_eq!((o.status.code(), stdout(&o).contains("14 files")), (Some(0), true), "{}", stderr(&o));
    let o = iophase(&["classify", "--json", "-", "--classifier", "markov", "--model", &model, &trace]);
    let schema = schema("classes");
    for c in &json(&o) {
        schema.validate(c).unwrap_or_else(|e| panic!("{e}\n{c}"));
        for f in c["files"].as_array().unwrap() {
            has_keys(&f["expected"], "learned_from runs passes bytes accesses global");
            assert_eq!(f["global"][0]["classifier"], "markov");
        }
    }
    let svg = dir.path().join("svg").display().to_string();
    assert_eq!(iophase(&["classify", "--svg", &svg, "-q", &trace]).status.code(), Some(0));
    assert_eq!(std::fs::read_dir(&svg).unwrap().count(), 8);
    let missing = dir.path().join("none.json").display().to_string();
    assert_eq!(iophase(&["classify", "--model", &missing, &trace]).status.code(), Some(3));
    std::fs::write(&missing, "{}").unwrap();
    assert_eq!(iophase(&["classify", "--model", &missing, &trace]).status.code(), Some(3));
    assert_eq!(iophase(&["classify", "--classifier", "markov", &trace]).status.code(), Some(2));
    assert_eq!(iophase(&["classify", "--train", &trace]).status.code(), Some(2));
}

#[test]
fn info_matches_schema_and_contract() {
    let schema = schema("info");
    let samples = samples();
    let mut args = vec!["info", "--json", "-"];
    args.extend(samples.iter().map(String::as_str));
    let o = iophase(&args);
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    let infos = json(&o);
    assert_eq!(infos.len(), samples.len());
    for i in &infos {
        schema.validate(i).unwrap_or_else(|e| panic!("{e}\n{i}"));
        has_keys(
            i,
            "schema path format version byte_order compression job ranks files start_s end_s partial layers calls warnings",
        );
        for l in i["layers"].as_array().unwrap() {
            has_keys(l, "layer records reads writes bytes_read bytes_written first_s last_s");
        }
        assert!(!i["layers"].as_array().unwrap().is_empty());
    }
}

#[test]
fn graphs_match_schema_and_contract() {
    let schema = schema("dfg");
    let (calls, segments) = (data("stable.strace"), data("stable.darshan"));
    let (calls, segments) = (calls.to_str().unwrap(), segments.to_str().unwrap());
    for args in [
        &["dfg", calls, "--json", "-"][..],
        &["dfg", calls, "--json", "-", "--events", "all", "--by", "pid", "--green", "*_25270*"],
        &["dfg", calls, segments, "--json", "-", "--map", "{call} {rank}"],
    ] {
        let o = iophase(args);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        let graphs = json(&o);
        let [g] = &graphs[..] else { panic!("one graph of all inputs") };
        schema.validate(g).unwrap_or_else(|e| panic!("{e}\n{g}"));
        assert_eq!(g["schema"], "iophase.dfg.v1");
        has_keys(g, "schema map cases events bytes duration_s nodes edges comparison warnings");
        has_keys(&g["cases"][0], "case cid host rid pid file events group");
        let node = "activity events bytes duration_s relative_duration data_rate_bytes_per_s max_concurrency color";
        has_keys(&g["nodes"][0], node);
        has_keys(&g["edges"][0], "from to count color");
        assert_eq!(g["comparison"].is_object(), args.contains(&"--green"));
        assert!(g["edges"].as_array().unwrap().iter().any(|e| e["from"] == "<start>"));
        let mut more = args.to_vec();
        more.extend(["--threads", "1"]);
        assert_eq!(stdout(&iophase(&more)), stdout(&o), "the same bytes for any number of threads");
    }
}

#[test]
fn predictions_match_schema_and_contract() {
    let schema = schema("prediction");
    for trace in ["stable.msgpack", "change.json"] {
        let o = iophase(&["predict", data(trace).to_str().unwrap(), "--once"]);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        let predictions = json(&o);
        assert!(!predictions.is_empty());
        for (i, p) in predictions.iter().enumerate() {
            schema.validate(p).unwrap_or_else(|e| panic!("{e}\n{p}"));
            assert_eq!((p["schema"].as_str(), p["sequence"].as_u64()), (Some("iophase.prediction.v1"), Some(i as u64)));
            has_keys(
                p,
                "schema sequence now_s periodic period_s confidence next_start_s next_end_s bytes window change_point state warnings",
            );
            has_keys(&p["window"], "start_s end_s");
            assert_eq!(p["periodic"].as_bool().unwrap(), p["period_s"].is_number());
            if p["periodic"] == true {
                assert!(p["next_start_s"].as_f64() > p["now_s"].as_f64());
            }
        }
    }
}

#[test]
fn text_says_the_answer_first() {
    let o = iophase(&["analyze", data("stable.darshan").to_str().unwrap()]);
    assert_eq!(o.status.code(), Some(0));
    let text = stdout(&o);
    assert!(text.lines().next().unwrap().starts_with("write: periodic, every 2.0"), "{text}");
    assert!(text.lines().count() <= 24, "one screen: {text}");
    assert!(!text.contains('\x1b'), "no colours off a terminal");
}

#[test]
fn a_trace_in_the_place_of_a_command_has_its_answer_on_one_screen() {
    for trace in ["data/stable.darshan", "data/stable.strace", "data/change.json", "tests/data/checkpoints.csv"] {
        let o = iophase(&[trace]);
        let text = stdout(&o);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        assert_eq!(text, stdout(&iophase(&["overview", trace])));
        assert!(text.lines().count() <= 24, "one screen: {text}");
        let of_io = if trace.ends_with(".json") { "the share of the run in I/O is not known" } else { "I/O takes" };
        for part in ["write: ", of_io, "go on"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let o = iophase(&["-q", "data/stable.darshan", "data/nothing.darshan"]);
    assert_eq!(o.status.code(), Some(3), "{}", stderr(&o));
}

#[test]
fn usage_errors_exit_with_2() {
    for args in [
        &["analyze"][..],
        &["analyze", "x", "--mode", "sideways"],
        &["analyze", "x", "-f", "0"],
        &["analyze", "x", "--tolerance", "2"],
        &["analyze", "x", "--ranks", "3-1"],
        &["analyze", "x", "--files", "("],
        &["nonsense"],
        &["analyze", "x", "--threads", "1000000"],
        &["convert", "x", "-o", "y", "--threads", "20000"],
        &["compare", "x", "y", "--threads", "20000"],
        &["patterns", "x", "--window", "0"],
        &["patterns", "x", "--max-age", "soon"],
        &["schema", "nonsense"],
        &["analyze", "--format", "nonsense", "x"],
    ] {
        let o = iophase(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", stderr(&o));
        assert!(o.stdout.is_empty());
    }
}

#[test]
fn an_option_without_effect_is_refused_with_what_gives_it_one() {
    let (log, calls) = (data("stable.darshan"), data("stable.strace"));
    let (log, calls) = (log.to_str().unwrap(), calls.to_str().unwrap());
    for (args, remedy) in [
        (&["analyze", log, "--detector", "lof"][..], "--method"),
        (&["analyze", log, "--method", "cwt", "--tolerance", "0.5"], "--method"),
        (&["analyze", log, "--order", "2"], "--filter"),
        (&["analyze", log, "--unit", "kB"], "--format series"),
        (&["analyze", log, calls, "--metric", "x"], "--format metric-proxy"),
        (&["convert", log, "-o", "-", "--to", "csv", "--io-names", "x"], "--format chrome"),
        (&["compare", log, log, "--bytes-arg", "x"], "--format chrome"),
        (&["compare", log, log, "--match", "size"], "--svg"),
        (&["dfg", calls, "--color", "bytes"], "--svg"),
        (&["dfg", calls, "--dot", "-", "--max-nodes", "3"], "--svg"),
        (&["predict", calls, "--once", "--max-rate", "5"], "zmq://"),
    ] {
        let o = iophase(args);
        let text = stderr(&o);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("has no effect here; ") && text.contains(remedy), "{args:?}: {text}");
        assert!(o.stdout.is_empty(), "{args:?}");
    }
    // one trace of the format is enough
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/robustness/dstat.series.csv");
    let both = iophase(&["info", log, table, "--unit", "kB"]);
    assert_eq!(both.status.code(), Some(0), "{}", stderr(&both));
}

#[test]
fn unreadable_inputs_exit_with_3_and_name_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let garbage = dir.path().join("garbage");
    fs::write(&garbage, b"\x01\x02\x03 nothing that anybody knows").unwrap();
    let empty = dir.path().join("empty");
    fs::write(&empty, b"").unwrap();
    let missing = dir.path().join("missing");
    for path in [&garbage, &empty, &missing, &dir.path().join("garbage/below")] {
        let path = path.to_str().unwrap();
        for command in ["analyze", "info"] {
            let o = iophase(&[command, path]);
            assert_eq!(o.status.code(), Some(3), "{path}");
            let text = stderr(&o);
            assert!(text.starts_with("error: ") && text.contains(path) && text.contains("; "), "{text}");
            assert_eq!(text.lines().count(), 1, "{text}");
        }
    }
}

#[test]
fn traces_without_matching_data_exit_with_4() {
    let trace = data("stable.darshan");
    let trace = trace.to_str().unwrap();
    for args in [
        &["analyze", trace, "--mode", "write_async"][..],
        &["analyze", trace, "--from", "1000"],
        &["analyze", trace, "--ranks", "77"],
        &["analyze", trace, "--files", "no such file"],
        &["analyze", trace, "--layer", "mpiio"],
    ] {
        let o = iophase(args);
        assert_eq!(o.status.code(), Some(4), "{args:?}: {}", stderr(&o));
        assert!(stderr(&o).contains("; "), "a remedy: {}", stderr(&o));
    }
}

#[test]
fn unwritable_outputs_exit_with_5() {
    let trace = data("stable.darshan");
    let trace = trace.to_str().unwrap();
    for args in
        [&["analyze", trace, "--json", "/nonexistent/x.json"][..], &["analyze", trace, "--svg", "/proc/nonexistent"]]
    {
        let o = iophase(args);
        assert_eq!(o.status.code(), Some(5), "{args:?}: {}", stderr(&o));
    }
}

#[test]
fn one_bad_input_does_not_stop_the_others() {
    let good = data("stable.darshan");
    let o = iophase(&["analyze", "/nonexistent", good.to_str().unwrap(), "--json", "-"]);
    assert_eq!(o.status.code(), Some(3));
    assert_eq!(json(&o).len(), 1);
}

#[test]
fn answers_keep_the_order_of_the_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.json");
    fs::write(&bad, "no trace").unwrap();
    let samples = samples();
    // far more than are read side by side, one in seven of them bad
    let inputs: Vec<String> = (0..30)
        .map(|i| if i % 7 == 3 { bad.display().to_string() } else { samples[i % samples.len()].clone() })
        .collect();
    for command in ["info", "analyze", "classify"] {
        let run = |threads: &str| {
            let mut args = vec![command, "-q", "--json", "-", "--threads", threads];
            args.extend(inputs.iter().map(String::as_str));
            iophase(&args)
        };
        let o = run("3");
        assert!(o.status.code().is_some_and(|c| c >= 3), "{}", stderr(&o));
        let told = stderr(&o).lines().filter(|l| l.contains("bad.json")).count();
        assert_eq!(told, inputs.iter().filter(|i| i.ends_with("bad.json")).count(), "{}", stderr(&o));
        let path = |v: &Value| v["path"].as_str().or(v["trace"]["path"].as_str()).unwrap().to_owned();
        let answered: Vec<String> = json(&o).iter().map(path).collect();
        // some have no offsets, which classify needs
        let expected: Vec<&String> = inputs.iter().filter(|i| answered.contains(i)).collect();
        assert!(expected.len() >= 10);
        assert_eq!(answered.iter().collect::<Vec<_>>(), expected, "{command}");
        assert_eq!(stdout(&o), stdout(&run("1")), "{command}");
    }
}

#[test]
fn a_trace_is_read_from_standard_input() {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_iophase"))
        .args(["analyze", "-", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(data("stable.msgpack")).unwrap()).unwrap();
    let o = child.wait_with_output().unwrap();
    assert_eq!(o.status.code(), Some(0));
    assert_eq!(json(&o)[0]["trace"]["format"], "tmio");
}

#[test]
fn output_does_not_depend_on_the_number_of_threads() {
    let samples = samples();
    let run = |threads: &str| {
        let mut args = vec!["analyze", "--json", "-", "--threads", threads];
        args.extend(samples.iter().map(String::as_str));
        stdout(&iophase(&args))
    };
    let one = run("1");
    assert!(!one.is_empty());
    assert_eq!(one, run("2"));
    assert_eq!(one, run("7"));
}

#[test]
fn pictures_are_sound_svg() {
    let dir = tempfile::tempdir().unwrap();
    let trace = data("stable.darshan");
    let o = iophase(&["analyze", trace.to_str().unwrap(), "--svg", dir.path().to_str().unwrap(), "-q"]);
    assert_eq!(o.status.code(), Some(0));
    for kind in ["bandwidth", "spectrum"] {
        let svg = fs::read_to_string(dir.path().join(format!("stable.darshan.write.{kind}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{kind}");
    }
}

#[test]
fn completions_and_manual_page_are_printed() {
    for args in
        [&["completions", "bash"][..], &["completions", "zsh"], &["completions", "fish"], &["man"], &["man", "analyze"]]
    {
        let o = iophase(args);
        assert_eq!(o.status.code(), Some(0));
        assert!(stdout(&o).contains("analyze"), "{args:?}");
    }
    assert!(stdout(&iophase(&["man", "analyze"])).matches(".TH").count() == 1, "a page is one command's");
    assert_eq!(iophase(&["man", "nothing"]).status.code(), Some(2));
}

#[test]
fn generate_writes_trace_and_truth() {
    let schema = schema("truth");
    let dir = tempfile::tempdir().unwrap();
    let (trace, truth) = (dir.path().join("x.csv"), dir.path().join("truth.json"));
    let (trace, truth) = (trace.to_str().unwrap(), truth.to_str().unwrap());
    for workload in ["checkpoint", "h5bench-write", "h5bench-metadata", "h5bench-exerciser", "ior", "dlio"] {
        let o = iophase(&["generate", workload, "-o", trace, "--truth", truth, "--seed", "4"]);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        assert!(o.stdout.is_empty() && stderr(&o).contains("records"));
        let t: Value = serde_json::from_slice(&fs::read(truth).unwrap()).unwrap();
        schema.validate(&t).unwrap_or_else(|e| panic!("{workload}: {e}"));
        assert_eq!((t["schema"].as_str(), t["seed"].as_u64()), (Some("iophase.truth.v1"), Some(4)));
        has_keys(
            &t,
            "workload parameters ranks records bytes_read bytes_written periodic periods phases patterns unpatterned",
        );
        for p in t["patterns"].as_array().unwrap() {
            has_keys(
                p,
                "op kind rank ranks file start_s end_s start_offset end_offset access_size records stride levels sizes size_summary period period_reason",
            );
            assert!(["read", "write"].contains(&p["op"].as_str().unwrap()));
            assert!(["contiguous", "fixed-strided", "kd-strided", "sequential"].contains(&p["kind"].as_str().unwrap()));
        }
        for u in t["unpatterned"].as_array().unwrap() {
            has_keys(u, "op file records bytes order places unit repeats");
        }
        for p in t["periods"].as_array().unwrap() {
            has_keys(p, "op period_s frequency_hz bursts bytes windows");
        }
        let lines = fs::read_to_string(trace).unwrap().lines().count() as u64;
        assert_eq!(lines, t["records"].as_u64().unwrap() + 1);
        let again = iophase(&["generate", workload, "-o", "-", "--format", "csv", "--seed", "4", "-q"]);
        assert!(again.stdout == fs::read(trace).unwrap(), "{workload}: the same bytes");
        assert!(stderr(&again).is_empty());
    }
}

#[test]
fn generate_has_the_exit_codes_of_the_contract() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    let path = path.to_str().unwrap();
    for (args, code) in [
        (&["generate", "checkpoint", "-o", path, "--size", "3k", "--transfer", "1KiB"][..], 0),
        (&["generate", "checkpoint", "-o", path, "--size", "3k", "--transfer", "2k"], 2),
        (&["generate", "checkpoint", "-o", path, "--jitter", "2"], 2),
        (&["generate", "checkpoint", "-o", path, "--layout", "sideways"], 2),
        (&["generate", "checkpoint", "-o", "x.unknown"], 2),
        (&["generate", "checkpoint", "-o", path, "--drift", "-0.001"], 0),
        (&["generate", "nonsense", "-o", path], 2),
        (&["generate"], 2),
        (&["generate", "ior", "-o", "/nonexistent/x.csv"], 5),
        (&["generate", "ior", "-o", path, "--truth", "/nonexistent/x.json"], 5),
    ] {
        let o = iophase(args);
        assert_eq!(o.status.code(), Some(code), "{args:?}: {}", stderr(&o));
        assert!(o.stdout.is_empty());
    }
    let help = stdout(&iophase(&["generate", "checkpoint", "--help"]));
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["--period <SECONDS>", "[default: 10]", "--transfer <BYTES>", "[default: 1MiB]", "--truth <PATH>"] {
        assert!(help.contains(words), "{words} in {help}");
    }
}

/// Codes of the warnings that the source files below a folder make.
fn warning_codes(folder: &Path, all: &mut BTreeSet<String>) {
    let call = regex::Regex::new(r#"(?:Warning::new|warn|note)\(\s*[^"]{0,120}?"([a-z]+(?:-[a-z]+)+)""#).unwrap();
    for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if path.is_dir() {
            warning_codes(&path, all);
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let mut from = 0;
        while let Some(found) = call.captures_at(code, from) {
            all.insert(found[1].to_owned());
            from = found.get(1).unwrap().end();
        }
    }
}

#[test]
fn the_contract_names_every_warning_and_schemas_their_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let contract = fs::read_to_string(root.join("docs/contract.md")).unwrap();
    let mut names = BTreeSet::new();
    warning_codes(&root.join("src"), &mut names);
    assert!(names.len() > 60 && names.contains("bad-process-count") && names.contains("near-bin-width"), "{names:?}");
    for name in
        ["report", "info", "patterns", "classes", "dfg", "findings", "comparison", "truth", "prediction", "live"]
    {
        let schema: Value = serde_json::from_str(&stdout(&iophase(&["schema", name]))).unwrap();
        let version = schema["properties"]["schema"]["const"].as_str().unwrap();
        assert!(version.starts_with(&format!("iophase.{name}.v")), "{version}");
        assert_eq!(schema["$id"], format!("urn:{}", version.replace('.', ":")));
    }
    let missing: Vec<_> = names.iter().filter(|n| !contract.contains(&format!("`{n}`"))).collect();
    assert!(missing.is_empty(), "docs/contract.md does not name {missing:?}");
}

#[test]
fn findings_match_schema_and_contract() {
    let schema = schema("findings");
    let samples = samples();
    let mut args = vec!["findings", "--json", "-"];
    args.extend(samples.iter().map(String::as_str));
    let o = iophase(&args);
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    let all = json(&o);
    assert_eq!(all.len(), samples.len());
    for f in &all {
        schema.validate(f).unwrap_or_else(|e| panic!("{e}\n{f}"));
        has_keys(f, "schema tool trace io findings ok not_checked warnings");
        has_keys(&f["io"], "run_s complete why layer mean_s slowest_s io_s share waiting_s wall_s layers");
        for x in f["findings"].as_array().unwrap() {
            has_keys(
                x,
                "code name severity certainty title measured threshold files files_total time_s lost_s also drishti remedies",
            );
            let few = f["io"]["share_range"]["high"].as_f64().is_some_and(|s| s < 0.01);
            assert!(!few || x["severity"] == "info" || x["code"] == "IOP-FILE-002", "{x}");
        }
    }
    // each code is a finding, a good property, not checked, or none of these
    let known: BTreeSet<String> =
        stdout(&iophase(&["explain"])).lines().map(|l| l.split(' ').next().unwrap().to_owned()).collect();
    for f in &all {
        let codes = |list: &str| {
            f[list]
                .as_array()
                .unwrap()
                .iter()
                .map(|x| x["code"].as_str().or(x.as_str()).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        for code in ["findings", "ok", "not_checked"].iter().flat_map(|l| codes(l)) {
            assert!(known.contains(&code), "{code}");
        }
    }
}

#[test]
fn thresholds_of_findings_can_be_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let trace = data("stable.darshan");
    let trace = trace.to_str().unwrap();
    let run = |text: &str, more: &[&str]| {
        let path = dir.path().join("my.toml");
        fs::write(&path, text).unwrap();
        let mut args = vec!["findings", trace, "--thresholds", path.to_str().unwrap(), "--json", "-", "-qq"];
        args.extend(more);
        iophase(&args)
    };
    let codes = |o: &Output| -> Vec<String> {
        json(o)[0]["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap().to_owned()).collect()
    };
    let small = ["--only", "IOP-POSIX-002"];
    assert_eq!(codes(&run("", &small)), ["IOP-POSIX-002"]);
    assert!(codes(&run("[IOP-POSIX-002]\ncount = 1e9\nrun_share = 1\n", &small)).is_empty());
    assert!(codes(&run("", &["--ignore", "small-writes"])).iter().all(|c| c != "IOP-POSIX-002"));
    for (text, more, code, words) in [
        ("[IOP-POSIX-002]\nshare = = 2\n", &[][..], 3, "line 2"),
        ("[IOP-POSIX-002]\nshar = 2\n", &[], 2, "share"),
        ("[IOP-POSIX-777]\nshare = 2\n", &[], 2, "IOP-POSIX-002"),
        ("", &["--only", "IOP-POSIX-777"], 2, "IOP-POSIX-002"),
    ] {
        let o = run(text, more);
        assert_eq!(o.status.code(), Some(code), "{text}: {}", stderr(&o));
        assert!(stderr(&o).contains(words), "{text}: {}", stderr(&o));
    }
    assert_eq!(run("", &["--fail-on", "info"]).status.code(), Some(1));
    assert_eq!(run("", &["--fail-on", "critical"]).status.code(), Some(0));
}

#[test]
fn classes_do_not_depend_on_the_order_of_rows() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let classes = |path: &str| {
        let o = iophase(&["classify", path, "-q", "--json", "-"]);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        json(&o).remove(0)
    };
    for job in [
        &["ior", "--ranks", "3"][..],
        &["h5bench-write", "--pattern", "CI", "--ranks", "2"],
        &["dlio", "--ranks", "2", "--epochs", "1"],
        &["checkpoint", "--ranks", "2", "--checkpoints", "3", "--size", "4MiB", "--transfer", "64k"],
    ] {
        let (path, shuffled) = (at("x.csv"), at("shuffled.csv"));
        let made = iophase(&[&["generate"], job, &["-q", "-o", &path]].concat());
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        let text = fs::read_to_string(&path).unwrap();
        let (header, rows) = text.split_once('\n').unwrap();
        let mut rows: Vec<&str> = rows.lines().collect();
        // a fixed order that has nothing to do with time
        rows.sort_by_key(|row| row.bytes().fold(7u64, |h, b| h.wrapping_mul(0x0100_0000_01b3) ^ u64::from(b)));
        fs::write(&shuffled, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
        let (expected, found) = (classes(&path), classes(&shuffled));
        let warned = found["warnings"].to_string().contains("rows-out-of-order");
        assert!(warned || found["files"] == expected["files"], "{job:?}");
        assert!(expected["warnings"].as_array().unwrap().is_empty(), "{job:?}: {}", expected["warnings"]);
    }
}
