//! Many logs: a row for each log and signal.

use std::path::{Path, PathBuf};

use iophase::analysis::{self, Analysis, SignalReport};
use iophase::findings::{self, IoTime};
use iophase::formats::{self, Source};
use iophase::period::{Burst, Dominant};
use iophase::record::Trace;
use iophase::{Error, Result};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::answers::parse;
use crate::errors;
use crate::table::{Columns, Table};
use crate::work::{self, Control};
use iophase::cli::args::Command;
use iophase::cli::{analyze, shared::ReadingArgs};

/// A signal of a log, or a log that has none. The columns are those of the table `signals` of `iophase fleet`.
#[derive(Default)]
struct Row {
    path: String,
    job: Option<i64>,
    mode: Option<String>,
    bytes: Option<u64>,
    io: [Option<f64>; 4],
    verdict: Option<String>,
    periodic: Option<bool>,
    dominant: Option<Dominant>,
    duty_cycle: Option<f64>,
    bursts: Option<u64>,
    burst_bytes: [Option<u64>; 2],
    width_s: Option<f64>,
    /// Start of the first and of the last burst, seconds since 1970.
    span: [Option<f64>; 2],
    valid_share: Option<f64>,
    idle_s: Option<f64>,
    abstraction_error: Option<f64>,
    bin_s: Option<f64>,
    error: Option<String>,
}

fn row(trace: &Trace, s: &SignalReport, bursts: &[Burst], io: &IoTime) -> Row {
    let dominant = s.period.dominant.clone();
    let length = s.end_s - s.start_s;
    let valid: f64 = s.validity.iter().map(|v| v.end_s - v.start_s).sum();
    let summary = s.bursts.as_ref();
    let mut sizes: Vec<f64> = bursts.iter().map(|b| b.bytes).collect();
    sizes.sort_by(f64::total_cmp);
    let p95 = sizes.get(((0.95 * sizes.len() as f64).ceil() as usize).saturating_sub(1));
    let start = |b: Option<&Burst>| b.and_then(|b| trace.clock.unix_s(b.start_s));
    let period_s = dominant.as_ref().map(|d| d.period_s);
    Row {
        path: trace.path.clone(),
        job: trace.job.as_ref().and_then(|j| j.id),
        mode: Some(s.mode.name().to_owned()),
        bytes: Some(s.bytes.round() as u64),
        io: [io.io_s, io.mean_read_s, io.mean_write_s, io.mean_metadata_s],
        verdict: serde_json::to_value(s.period.verdict).ok().and_then(|v| v.as_str().map(str::to_owned)),
        periodic: s.period.periodic,
        duty_cycle: summary.map(|b| b.duty_cycle),
        bursts: summary.map(|b| b.count),
        burst_bytes: [summary.map(|b| b.bytes.median.round() as u64), p95.map(|b| b.round() as u64)],
        width_s: summary.map(|b| b.width_s.median),
        span: [start(bursts.first()), start(bursts.last())],
        valid_share: period_s.filter(|_| length > 0.0).map(|_| (valid / length).min(1.0)),
        idle_s: period_s.zip(summary).map(|(p, b)| (p - b.width_s.median).max(0.0)),
        abstraction_error: Some(s.abstraction_error),
        bin_s: trace.bin_s,
        dominant,
        error: None,
    }
}

fn rows(path: &Path, reading: &ReadingArgs, options: &analysis::Options, control: &Control) -> Result<Vec<Row>> {
    let read = control.reading(reading.options()?.counters(true)).progress(None);
    let source = Source::open(path, &read.limits)?;
    let trace = formats::read(&source, reading.format()?, &read)?;
    let Analysis { report, evidence, .. } = analysis::analyze(&trace, options)?;
    let times = Some(&report).filter(|_| trace.resolves_times());
    let io = findings::find(&trace, times, &findings::Options::default())?.io;
    let one = |(s, e): (&SignalReport, &analysis::Evidence)| row(&trace, s, &e.bursts().collect::<Vec<_>>(), &io);
    Ok(report.signals.iter().zip(&evidence).map(one).collect())
}

/// The treatment of a log that cannot be read.
#[derive(Clone, Copy, PartialEq)]
enum OnError {
    Row,
    Skip,
    Raise,
}

/// Analyses logs side by side; gives the rows in the order of the paths. The arguments are those of `analyze`.
#[pyfunction]
#[pyo3(signature = (paths, arguments, on_error, progress=None))]
pub fn many(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    arguments: Vec<String>,
    on_error: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let on_error = match on_error {
        "row" => OnError::Row,
        "skip" => OnError::Skip,
        "raise" => OnError::Raise,
        _ => {
            let e = errors::usage(format!("on_error is `{on_error}`")).expected("row, skip or raise");
            return Err(errors::exception(py, &e));
        }
    };
    let parsed = parse("analyze", &arguments, &["-".to_owned()]).map_err(|e| errors::exception(py, &e))?;
    let Command::Analyze(a) = parsed else { return Err(errors::bug()) };
    let threads = a.input.threads;
    let all = work::run(py, threads, progress.as_ref(), move |control| {
        let options = analyze::options(&a)?.spectrum(false).patterns(false);
        control.expect(paths.len() as u64);
        let one = |path: &PathBuf| {
            if control.is_stopped() {
                return Err(errors::usage("stopped"));
            }
            let done = rows(path, &a.input.reading, &options, control);
            control.add(1);
            match (done, on_error) {
                (Err(e), OnError::Row) => Ok(vec![failed(path, &e)]),
                (Err(_), OnError::Skip) => Ok(Vec::new()),
                (done, _) => done,
            }
        };
        // small pieces: logs differ much in size
        Ok(paths.par_iter().with_max_len(1).map(one).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    })?;
    table(all)
}

fn failed(path: &Path, e: &Error) -> Row {
    Row { path: path.display().to_string(), error: Some(e.to_string()), ..Row::default() }
}

fn table(rows: Vec<Row>) -> PyResult<Table> {
    fn pick<T>(rows: &[Row], of: impl Fn(&Row) -> T) -> Vec<T> {
        rows.iter().map(of).collect()
    }
    let mut t = Columns::default();
    t.some_texts("path", pick(&rows, |r| Some(r.path.clone())));
    t.some_wholes("job", pick(&rows, |r| r.job));
    t.some_texts("mode", pick(&rows, |r| r.mode.clone()));
    t.some_counts("bytes", pick(&rows, |r| r.bytes));
    for (i, name) in ["io_time_s", "time_read_s", "time_write_s", "time_meta_s"].into_iter().enumerate() {
        t.some_reals(name, pick(&rows, |r| r.io[i]));
    }
    let rate = |r: &Row| r.bytes.zip(r.io[0].filter(|t| *t > 0.0)).map(|(b, t)| b as f64 / t);
    t.some_reals("agg_rate", pick(&rows, rate));
    t.some_texts("verdict", pick(&rows, |r| r.verdict.clone()));
    t.some_flags("periodic", pick(&rows, |r| r.periodic));
    let of = |get: fn(&Dominant) -> Option<f64>| pick(&rows, |r| r.dominant.as_ref().and_then(get));
    t.some_reals("period_s", of(|d| Some(d.period_s)));
    t.some_reals("period_std_s", of(|d| d.period_std_s));
    t.some_reals("confidence", of(|d| Some(d.confidence)));
    t.some_reals("cycles", of(|d| Some(d.cycles)));
    t.some_reals("duty_cycle", pick(&rows, |r| r.duty_cycle));
    t.some_counts("bursts", pick(&rows, |r| r.bursts));
    t.some_counts("burst_bytes_median", pick(&rows, |r| r.burst_bytes[0]));
    t.some_counts("burst_bytes_p95", pick(&rows, |r| r.burst_bytes[1]));
    t.some_reals("burst_width_median_s", pick(&rows, |r| r.width_s));
    t.some_reals("first_burst_unix_s", pick(&rows, |r| r.span[0]));
    t.some_reals("last_burst_unix_s", pick(&rows, |r| r.span[1]));
    t.some_reals("valid_share", pick(&rows, |r| r.valid_share));
    t.some_reals("idle_s", pick(&rows, |r| r.idle_s));
    let set = |r: &Row| r.dominant.as_ref().map(|d| d.period_s.log10().round() as i64);
    t.some_wholes("set10", pick(&rows, set));
    t.some_reals("abstraction_error", pick(&rows, |r| r.abstraction_error));
    t.some_reals("bin_s", pick(&rows, |r| r.bin_s));
    t.some_texts("error", pick(&rows, |r| r.error.clone()));
    t.finish()
}
