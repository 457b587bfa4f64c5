//! Metric Proxy: a recorded job in its three forms, choice of metrics, hard values, damage.

use super::text::{check, codes, csv_and_back, parse, torture};
use common::shared;
use iophase::ErrorKind;
use iophase::analysis::{self, Options};
use iophase::formats::{ReadOptions, Source, read};
use iophase::record::{ClockKind, Data, Intervals, Op, Timing, Trace};
use proptest::prelude::*;
use serde_json::Value;

fn rows(t: &Trace) -> &Intervals {
    match &t.data {
        Data::Intervals(i) => i,
        Data::Requests(_) => panic!("requests"),
    }
}

fn with(text: &str, metric: &str) -> iophase::Result<Trace> {
    let options = ReadOptions::default().metric(Some(metric.to_owned()));
    let t = read(&Source::from_bytes("memory", text.as_bytes()), None, &options)?;
    check(&t, 40 * text.len());
    Ok(t)
}

fn moved(t: &Trace) -> Vec<(f64, f64, f64)> {
    rows(t).iter().map(|r| (r.start, r.end, r.bytes)).collect()
}

/// The export, the single metric and the store of one job, with what is known of it.
#[test]
fn a_recorded_job_in_three_forms() {
    let Some(folder) = shared("corpus/metricproxy") else { return };
    let name = "ckpt.1procs.trace.json";
    let expected: Value =
        serde_json::from_slice(&std::fs::read(folder.join(format!("{name}.expected.json"))).unwrap()).unwrap();
    let size = &expected["size_write"];
    let truth = &expected["truth"];
    let zero = truth["offset_of_trace_zero_unix"].as_f64().unwrap();
    let t0 = truth["t0_unix"].as_f64().unwrap();
    for (file, unix, described) in
        [(name, false, true), ("ckpt.1procs.plot.json", true, false), ("job-a.trace", true, true)]
    {
        let options = ReadOptions::default();
        let t = read(&Source::open(&folder.join(file), &options.limits).unwrap(), None, &options).unwrap();
        let r = rows(&t);
        assert_eq!(
            (t.format, t.timing, r.op.as_constant()),
            ("metric-proxy", Timing::Counter, Some(Op::Write)),
            "{file}"
        );
        assert_eq!(Some(t.quality.records_read), size["points"].as_u64(), "{file}");
        assert_eq!(Some(r.bytes.iter().sum::<f64>()), size["increase_in_trace"].as_f64(), "{file}");
        assert_eq!(r.bytes.iter().copied().reduce(f64::max), size["largest_step"].as_f64(), "{file}");
        assert_eq!(codes(&t), ["counted-before-start"], "{file}");
        assert!(t.warnings[0].message.starts_with("524288 of 75497472 were"), "{:?}", t.warnings);
        assert_eq!(t.clock.kind, if unix { ClockKind::Unix } else { ClockKind::Trace }, "{file}");
        let desc = &expected["infos"]["desc"];
        let job = t.job.as_ref().filter(|_| described);
        assert_eq!(job.is_some(), described);
        if let Some(job) = job {
            assert_eq!(job.executable.as_deref(), desc["command"].as_str());
            assert_eq!((job.ranks, job.end_unix_s), (desc["size"].as_u64(), None));
            assert_eq!(job.start_unix_s, desc["start_time"].as_f64().map(|ms| ms / 1e3));
        }
        // Each burst of the program is in the intervals around it; the first sample came inside the first.
        let to_trace = t0 - if unix { t.origin_s as f64 } else { zero };
        for (i, burst) in truth["list"].as_array().unwrap().iter().enumerate() {
            let at = |key: &str| burst[key].as_f64().unwrap() + to_trace;
            let near = r.iter().filter(|x| x.end > at("start") - 0.05 && x.start < at("end") + 0.05).map(|x| x.bytes);
            let before = if i == 0 { size["first"][1].as_f64().unwrap() } else { 0.0 };
            assert_eq!(near.sum::<f64>() + before, burst["bytes"].as_f64().unwrap(), "{file} burst {i}");
        }
        let report = analysis::analyze(&t, &Options::default()).unwrap().report;
        let period = report.primary_signal().and_then(|s| s.period.dominant.as_ref()).unwrap().period_s;
        // Eleven cycles, whose ends are known to a step.
        assert!((period - truth["period"].as_f64().unwrap()).abs() < 0.51 / 10.0, "{file}: {period}");
        let back = csv_and_back(&t);
        let sum = |t: &Trace| t.layers[0].bytes_written;
        assert_eq!((back.data.len(), sum(&back)), (t.data.len(), sum(&t)), "{file}");
    }
    // The proxy's own derivative says the same.
    let options = ReadOptions::default().metric(Some("deriv__total___io___size_write".into()));
    let t = read(&Source::open(&folder.join(name), &options.limits).unwrap(), None, &options).unwrap();
    let total: f64 = rows(&t).bytes.iter().sum();
    assert!((total / size["increase_in_trace"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{total}");
    let info = ReadOptions::default().all_layers(true);
    let t = read(&Source::open(&folder.join(name), &info.limits).unwrap(), None, &info).unwrap();
    assert_eq!(Some(t.layers.len() as u64), expected["deriv_metrics"].as_u64());
}

const EXPORT: &str = r#"{"infos":{"desc":{"jobid":"17","command":"./a \"b\"","size":4,"start_time":1795427946139,"end_time":1795427956139},"size":1,"lastwrite":2},
"metrics":{"total___io___size_write":[[1.0,100],[2.0,100],[3.0,null],[4.0,160],[5.0,10],[5.0,20]],
"deriv__total___io___size_write":[[1,0],[2,0]],
"x___MPI_File_read___size":[[0,0],[1,50]],
"total___io___hits_write":[[0,1],[2,9]],
"proxy_cpu_usage_percent{name=\"cpu0\",x=\"a,b\"}":[[0.5,50.0],[1.0,100.0],[1.5,NaN]]}}"#;

#[test]
fn counters_restart_and_values_are_missing() {
    let t = parse(EXPORT).unwrap();
    assert_eq!(moved(&t), [(2.0, 4.0, 60.0), (4.0, 5.0, 20.0)]);
    assert_eq!(codes(&t), ["counted-before-start", "counter-restarts"]);
    assert_eq!(t.quality.records_dropped, 1);
    let job = t.job.unwrap();
    assert_eq!((job.id, job.executable.as_deref(), job.ranks), (Some(17), Some("./a \"b\""), Some(4)));
    assert_eq!((job.start_unix_s, job.end_unix_s), (Some(1795427946.139), Some(1795427956.139)));
}

#[test]
fn metrics_are_chosen_by_name_or_wildcard() {
    let t = with(EXPORT, "x___MPI_File_read___size").unwrap();
    assert_eq!((moved(&t), rows(&t).op.as_constant(), codes(&t)), (vec![(0.0, 1.0, 50.0)], Some(Op::Read), vec![]));
    let t = with(EXPORT, "*size*").unwrap();
    let names: Vec<_> = rows(&t).iter().map(|r| t.files.name(r.file).to_owned()).collect();
    assert_eq!(names, ["x___MPI_File_read___size", "total___io___size_write", "total___io___size_write"]);
    let t = with(EXPORT, "proxy_cpu_usage_percent{name=\"cpu?\"*").unwrap();
    assert_eq!((moved(&t), codes(&t)), (vec![(0.0, 0.5, 25.0), (0.5, 1.0, 50.0)], vec!["not-bytes"]));
    let e = with(EXPORT, "nope").unwrap_err();
    assert_eq!((e.kind(), e.exit_code()), (ErrorKind::Empty, 4));
    assert!(
        e.to_string().contains("no metric is called nope; expected one of total___io___size_write, x___MPI"),
        "{e}"
    );
    let e = parse(r#"{"infos":{},"metrics":{"a":[[0,1],[1,2]],"b":[[0,1],[1,2]]}}"#).unwrap_err();
    assert!(e.to_string().contains("no metric counts the bytes of I/O; expected one of a, b"), "{e}");
    // One metric needs no choice; deeper objects and unordered times are met.
    let t = parse(r#"{"infos":{},"metrics":{"job":{"ticks":[[2,5],[0,1],[1,1]]}}}"#).unwrap();
    assert_eq!((moved(&t), t.quality.clock_backwards), (vec![(1.0, 2.0, 4.0)], 1));
}

#[test]
fn one_metric_counts_from_1970() {
    let t = parse("[[1795427948.168,524288.0],[1795427948.671,5767168.0]]").unwrap();
    assert_eq!((t.origin_s, rows(&t).len(), t.clock.kind), (1_795_427_948, 1, ClockKind::Unix));
    assert!((rows(&t).start[0] - 0.168).abs() < 1e-6);
    assert!(parse("[[1,2,3]]").is_err());
    assert!(parse("[]").is_err());
}

#[test]
fn a_cut_export_keeps_what_came_before() {
    for n in EXPORT.find("\"total___io___size_write\"").unwrap() + 60..EXPORT.len() {
        if let Ok(t) = parse(&EXPORT[..n]) {
            assert!(codes(&t).contains(&"damaged-tail"), "{n}");
        }
    }
    assert_eq!(parse(&EXPORT[..EXPORT.find(",[5.0,20]").unwrap()]).unwrap().data.len(), 2);
    torture("metric-proxy", EXPORT.as_bytes());
    torture("metric-proxy", b"[[1,2],[3,4],[5,6]]");
    torture("metric-proxy", include_bytes!("../data/robustness/sample.trace"));
}

#[test]
fn a_hostile_store_is_bounded() {
    let good = include_bytes!("../data/robustness/sample.trace");
    assert_eq!(moved(&parse(good).unwrap()).len(), 2);
    for (frame, what) in [
        (&b"\xff\xff\xff\xff\xff\xff\xff\xff\x04\0\0\0Desc"[..], "no known"),
        (
            b"\x20\0\0\0\0\0\0\0\x04\0\0\0Desc\xff\xff\xff\xff",
            "a frame of Metric Proxy: 32 bytes; expected at most the 12 bytes that are left",
        ),
        (b"\x10\0\0\0\0\0\0\0\x04\0\0\0Desc\xff\xff\xff\xff\0\0\0\0", "4294967295 fields or values"),
        (
            b"\x18\0\0\0\0\0\0\0\x04\0\0\0Desc\x01\0\0\0\xff\xff\xff\xffxxxxxxxx",
            "4294967295 bytes are needed and 8 are left",
        ),
    ] {
        let e = parse(frame).unwrap_err();
        assert!(e.to_string().contains(what), "{what}: {e}");
    }
}

proptest! {
    #[test]
    fn a_counter_loses_nothing_after_its_first_sample(steps in prop::collection::vec((1u32..2000, 0u32..1_000_000), 1..60)) {
        let (mut t, mut v, mut text) = (0.0, 7u64, "{\"infos\":{},\"metrics\":{\"io___size_write\":[[0,7]".to_owned());
        for (dt, more) in &steps {
            (t, v) = (t + f64::from(*dt) / 1e3, v + u64::from(*more));
            text += &format!(",[{t},{v}]");
        }
        let trace = parse(text + "]}}").unwrap();
        prop_assert_eq!(rows(&trace).bytes.iter().sum::<f64>(), v as f64 - 7.0);
    }
}
