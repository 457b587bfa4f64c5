//! Real runs whose schedule is known: the period must be found from every format that recorded them.
//!
//! Reads the folder that `IOPHASE_CORPUS` names (default `../shared`) and is skipped with a message if it is not there.

// A skipped test says so.
#![allow(clippy::print_stdout)]

use common::{every, shared};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use iophase::analysis::{self, Options, Report};
use iophase::formats::{self, ReadOptions, Source};
use serde_json::Value;

struct Run {
    id: String,
    scenario: String,
    truth: Value,
    path: PathBuf,
}

/// Runs in a format that can be read, with the file or folder of their trace.
fn runs(base: &Path) -> Vec<Run> {
    let manifest: Value = serde_json::from_slice(&fs::read(base.join("manifest.json")).unwrap()).unwrap();
    let mut all = Vec::new();
    for r in manifest["runs"].as_array().unwrap() {
        let format = r["format"].as_str().unwrap();
        let files: Vec<&str> = r["files"].as_array().unwrap().iter().filter_map(|f| f["path"].as_str()).collect();
        let path = match format {
            // one of them is packed
            "recorder" if files.len() == 1 => continue,
            "recorder" | "strace" => Path::new(files[0]).parent().unwrap().to_path_buf(),
            _ => {
                let trace = |f: &&&str| [".darshan", ".json", ".jsonl", ".msgpack"].iter().any(|e| f.ends_with(e));
                PathBuf::from(files.iter().find(trace).unwrap())
            }
        };
        all.push(Run {
            id: r["id"].as_str().unwrap().to_owned(),
            scenario: r["scenario"].as_str().unwrap().to_owned(),
            truth: r["truth"].clone(),
            path: base.join(path),
        });
    }
    assert!(all.len() > 80);
    all
}

fn report(path: &Path) -> Report {
    let options = ReadOptions::default();
    let source = Source::open(path, &options.limits).unwrap();
    let trace = formats::read(&source, None, &options).unwrap_or_else(|e| panic!("{e}"));
    analysis::analyze(&trace, &Options::default()).unwrap_or_else(|e| panic!("{e}")).report
}

/// Every period of every signal.
fn periods(r: &Report) -> Vec<f64> {
    let of = |s: &iophase::analysis::SignalReport| {
        let others = s.period.others.iter().map(|o| &o.period);
        s.period.dominant.iter().chain(others).map(|d| d.period_s).collect::<Vec<_>>()
    };
    r.signals.iter().flat_map(of).collect()
}

fn near(found: f64, truth: f64, tolerance: f64) -> bool {
    (found / truth - 1.0).abs() <= tolerance
}

#[test]
fn known_periods_are_found_in_every_format() {
    let Some(base) = shared("corpus") else { return };
    let mut wrong = Vec::new();
    let mut checked = 0;
    for run in runs(&base).into_iter().step_by(every(6)) {
        let truth: Vec<f64> =
            run.truth["period_s"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        // after a change the headline is the period that holds at the end
        let headline = if run.scenario == "c_change" { truth.last() } else { truth.first() };
        let Some(&first) = headline else { continue };
        let r = report(&run.path);
        let tolerance = if run.scenario == "a_stable" { 0.01 } else { 0.02 };
        let found = periods(&r);
        checked += 1;
        // Reads and writes of a run can each have a period of their own: one of the two is the schedule's.
        let dominant = r.signals.iter().filter_map(|s| s.period.dominant.as_ref()).map(|d| d.period_s);
        if !dominant.into_iter().any(|p| near(p, first, tolerance)) {
            wrong.push(format!("{}: {first} s, found {found:?}", run.id));
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked * every(6) >= 55, "{checked}");
}

#[test]
fn two_simultaneous_periods_are_both_reported() {
    let Some(base) = shared("corpus") else { return };
    let mut wrong = Vec::new();
    for run in runs(&base).into_iter().filter(|r| ["c_change", "e_twoperiods"].contains(&r.scenario.as_str())) {
        // The heatmap of e_twoperiods has bins of 0.2 s: a period of 0.25 s is not in it.
        if run.id == "e_twoperiods.darshan_nodxt" {
            continue;
        }
        let found = periods(&report(&run.path));
        for truth in run.truth["period_s"].as_array().unwrap().iter().filter_map(Value::as_f64) {
            if !found.iter().any(|p| near(*p, truth, 0.02)) {
                wrong.push(format!("{}: {truth} s is not in {found:?}", run.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_epoch_is_dominant_over_the_reads_inside_it() {
    let Some(base) = shared("corpus") else { return };
    let mut checked = 0;
    for run in runs(&base).into_iter().filter(|r| r.scenario == "h_epochs").step_by(every(5)) {
        for signal in report(&run.path).signals {
            let p = signal.period.dominant.as_ref().map(|d| d.period_s);
            assert!(p.is_some_and(|p| near(p, 4.0, 0.02)), "{} {:?}: {p:?}", run.id, signal.mode);
            checked += 1;
        }
        // One file every 0.25 s, seen request by request; with stdio Darshan has counters and a heatmap only.
        if run.id.ends_with("strace") || run.id == "h_epochs.darshan_dxt" {
            let found = periods(&report(&run.path));
            assert!(found.iter().any(|p| near(*p, 0.25, 0.02)), "{}: {found:?}", run.id);
        }
    }
    assert!(checked * every(5) >= 10, "{checked}");
}

#[test]
fn the_rate_of_calls_is_not_reported_as_a_period() {
    let Some(base) = shared("corpus") else { return };
    let calls: Vec<Run> = runs(&base).into_iter().filter(|r| r.id.starts_with("x_edge.nonmpi.")).collect();
    assert!(!calls.is_empty());
    for run in calls {
        let found = periods(&report(&run.path));
        assert!(found.is_empty(), "{}: {found:?}", run.id);
    }
}

#[test]
fn aperiodic_runs_have_no_period() {
    let Some(base) = shared("corpus") else { return };
    let mut wrong = Vec::new();
    let mut checked = 0;
    for run in runs(&base).into_iter().filter(|r| r.truth["periodic"] == false) {
        checked += 1;
        let r = report(&run.path);
        if r.primary.is_some() {
            wrong.push(format!("{}: {:?}", run.id, periods(&r)));
        }
    }
    assert!(checked >= 8, "{checked}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_recorders_of_one_run_give_the_same_period() {
    let Some(base) = shared("corpus") else { return };
    let all: Vec<(String, f64)> = runs(&base)
        .into_iter()
        .filter(|r| r.id.starts_with("a_stable.mpiio."))
        .map(|r| (r.id.clone(), report(&r.path).primary_signal().unwrap().period.dominant.as_ref().unwrap().period_s))
        .collect();
    assert!(all.len() >= 5, "{all:?}");
    let (low, high) = all.iter().fold((f64::MAX, 0.0f64), |(l, h), (_, p)| (l.min(*p), h.max(*p)));
    assert!(high / low - 1.0 <= 0.02, "{all:?}");
}

/// A job that writes every two seconds, recorded by Recorder in all versions and by DFTracer, has the period of the Darshan and strace
/// recordings of such a job.
#[test]
fn recorder_and_dftracer_give_the_period_of_darshan_and_strace() {
    let Some(base) = shared("corpus") else { return };
    let mut all: Vec<(String, f64)> = Vec::new();
    let dominant = |path: &Path| report(path).primary_signal()?.period.dominant.as_ref().map(|d| d.period_s);
    for run in runs(&base).into_iter().filter(|r| ["a_stable.darshan_dxt", "a_stable.strace"].contains(&r.id.as_str()))
    {
        all.push((run.id.clone(), dominant(&run.path).unwrap_or(0.0)));
    }
    assert_eq!(all.len(), 2, "{all:?}");
    for folder in ["recorder", "dftracer"] {
        let expectations =
            files(&base.join(folder)).into_iter().filter(|p| p.to_string_lossy().ends_with(".expected.json"));
        for path in expectations.step_by(every(5)) {
            let Some(trace) = path.to_str().unwrap().strip_suffix(".expected.json") else { continue };
            let expected: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let known = expected["totals"]["write"]["unknown"].as_u64().unwrap_or(0) == 0;
            if expected["truth"]["period"].as_f64() == Some(2.0) && known {
                all.push((trace.to_owned(), dominant(Path::new(trace)).unwrap_or(0.0)));
            }
        }
    }
    let wrong: Vec<_> = all.iter().filter(|(_, p)| !near(*p, all[0].1, 0.02)).collect();
    assert!(all.len() * every(5) >= 15 && wrong.is_empty(), "{} of {} differ: {wrong:?}", wrong.len(), all.len());
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all.into_iter().flat_map(|p| if p.is_dir() { files(&p) } else { vec![p] }).collect()
}

/// The period that `predict --once` ends with, and the signal it is of; `None` if it does not follow the format or nothing
/// is periodic at the end.
fn predicted(path: &Path) -> Option<(String, f64)> {
    let o = Command::new(env!("CARGO_BIN_EXE_iophase")).args(["predict", "--once"]).arg(path).output().unwrap();
    let last: Value = serde_json::from_str(std::str::from_utf8(&o.stdout).unwrap().lines().last()?).unwrap();
    Some((last["mode"].as_str()?.to_owned(), last["period_s"].as_f64()?))
}

/// A trace whose period at the end both `analyze` and `predict --once` report.
pub(super) struct Comparable {
    pub(super) path: PathBuf,
    pub(super) mode: String,
    pub(super) analyzed_s: f64,
    pub(super) predicted_s: f64,
}

/// Those of `data/` and of the corpus.
pub(super) fn comparable() -> Vec<Comparable> {
    let mut traces = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data"));
    let mut least = 2;
    if let Some(base) = shared("corpus") {
        traces.extend(runs(&base).into_iter().filter(|r| r.path.is_file()).map(|r| r.path).step_by(every(8)));
        least = 15usize.div_ceil(every(3));
    }
    let both = |path: PathBuf| {
        let (mode, predicted_s) = predicted(&path)?;
        let report = report(&path);
        let signal = report.signals.iter().find(|s| s.mode.name() == mode)?;
        let analyzed_s = signal.prediction.as_ref()?.period_s;
        Some(Comparable { path, mode, analyzed_s, predicted_s })
    };
    let all: Vec<Comparable> = traces.into_iter().filter_map(both).collect();
    assert!(all.len() >= least, "{}", all.len());
    all
}

#[test]
fn analyze_and_predict_agree_on_the_period_at_the_end() {
    let all = comparable();
    let differs = all.iter().filter(|c| !near(c.analyzed_s, c.predicted_s, 0.02));
    let wrong: Vec<String> = differs
        .map(|c| format!("{} {}: {} s, predict {} s", c.path.display(), c.mode, c.analyzed_s, c.predicted_s))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
