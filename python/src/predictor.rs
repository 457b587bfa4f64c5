//! A job that is followed while it runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use arrow_array::RecordBatchReader;
use iophase::analysis::Mode;
use iophase::formats::SeriesOptions;
use iophase::internals::formats::tail::{Faults, Message};
use iophase::internals::online::checkpoint::{self, Checkpoint};
use iophase::internals::online::jobs::Jobs;
use iophase::internals::render::json;
use iophase::online::{Every, Options, Prediction};
use iophase::record::{Clock, Data, Interval, Trace};
use iophase::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::trace::{Loaded, PyTrace};
use crate::{arrow, errors, rows, work};

/// Largest number of jobs. A further job replaces the one without data for the longest time.
const JOBS: usize = 1000;

/// The predictor behind `iophase.Predictor`; predictions are lines of JSON.
#[pyclass(frozen, module = "iophase._iophase", name = "Predictor")]
pub struct Predictor {
    jobs: Arc<Mutex<Jobs>>,
}

fn options(window: &str, change: &str, every: &str, mode: &str, min_period: Option<f64>) -> Result<Options> {
    let modes = match mode {
        "auto" => vec![Mode::Write, Mode::Read],
        "write" => vec![Mode::Write],
        "read" => vec![Mode::Read],
        "all" => vec![Mode::All],
        _ => return Err(errors::usage(format!("mode is `{mode}`")).expected("auto, write, read or all")),
    };
    if min_period.is_some_and(|s| !(s > 0.0 && s < 1e9)) {
        return Err(errors::usage("min_period is no positive number of seconds"));
    }
    // the frequency hits of FTIO, which looks at the last three
    let window = if window == "hits" { "last-3" } else { window };
    Ok(Options::default()
        .modes(modes)
        .window(window.parse()?)
        .change(change.parse()?)
        .every(every.parse()?)
        .min_period_s(min_period))
}

/// The input of a predictor.
enum Fed {
    /// A trace.
    Trace(Arc<Loaded>),
    /// A table of another package.
    Table(Box<dyn RecordBatchReader + Send>),
}

impl Fed {
    fn of(data: &Bound<'_, PyAny>) -> PyResult<Fed> {
        match data.cast::<PyTrace>() {
            Ok(trace) => Ok(Fed::Trace(trace.get().0.clone())),
            Err(_) => Ok(Fed::Table(arrow::import(data)?)),
        }
    }

    fn transfers(self) -> Result<Vec<Interval>> {
        let of = |trace: &Trace| intervals(&trace.data, trace.origin_s as f64);
        Ok(match self {
            Fed::Trace(trace) => of(&trace.rows),
            Fed::Table(reader) => of(&rows::trace(reader, "table", None, &SeriesOptions::default())?),
        })
    }
}

fn intervals(data: &Data, origin_s: f64) -> Vec<Interval> {
    let shift = |i: Interval| Interval { start: i.start + origin_s, end: i.end + origin_s, ..i };
    match data {
        Data::Requests(r) => r.iter().map(|x| shift(x.into())).collect(),
        Data::Intervals(v) => v.iter().map(shift).collect(),
    }
}

/// The predictions that are due once the transfers of a message are taken, as lines of JSON.
fn predictions(jobs: &mut Jobs, fed: &Message) -> Result<Vec<String>> {
    // bursts end inside a table
    let piece = if jobs.options().every == Every::Message { fed.transfers.len().max(1) } else { 1 };
    let mut lines = Vec::new();
    let mut say = |predictions: Vec<Prediction>| -> Result<()> {
        for p in predictions {
            lines.push(json::line(&p.stamped(Clock::default(), SystemTime::now()))?);
        }
        Ok(())
    };
    for part in fed.transfers.chunks(piece) {
        let message = Message { job: fed.job.clone(), ranks: fed.ranks, transfers: part.to_vec() };
        if jobs.feed(&message).due_in_passing() {
            say(jobs.predict_due())?;
        }
    }
    say(jobs.predict_due())?;
    Ok(lines)
}

impl Predictor {
    /// The state as it is stored.
    fn state(&self) -> Result<Vec<u8>> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Checkpoint::new(None, Faults::default(), jobs).to_bytes()
    }
}

#[pymethods]
impl Predictor {
    #[new]
    #[pyo3(signature = (window="change", change="bayesian", every="message", mode="auto", min_period=None))]
    fn new(
        py: Python<'_>,
        window: &str,
        change: &str,
        every: &str,
        mode: &str,
        min_period: Option<f64>,
    ) -> PyResult<Predictor> {
        let options = options(window, change, every, mode, min_period).map_err(|e| errors::exception(py, &e))?;
        Ok(Predictor { jobs: Arc::new(Mutex::new(Jobs::new(options, JOBS))) })
    }

    /// Takes transfers; gives the predictions that are due.
    #[pyo3(signature = (data, job=None, ranks=None))]
    fn feed(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        job: Option<String>,
        ranks: Option<u64>,
    ) -> PyResult<Vec<String>> {
        let (fed, jobs) = (Fed::of(data)?, self.jobs.clone());
        work::beside(py, None, None, move |control, pool| {
            let transfers = pool.install(|| fed.transfers())?;
            let mut held = jobs.lock().unwrap_or_else(PoisonError::into_inner);
            if control.is_stopped() {
                return Err(errors::usage("stopped"));
            }
            let jobs = &mut *held;
            pool.install(|| predictions(jobs, &Message { job, ranks, transfers }))
        })
    }

    /// Stores the state in a file, which is whole at every moment.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| checkpoint::store(&path, &self.state()?)).map_err(|e| errors::exception(py, &e))
    }

    /// The state, and what makes a predictor of it.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let state = py.detach(|| self.state()).map_err(|e| errors::exception(py, &e))?;
        let make = py.get_type::<Predictor>().getattr("_of_state")?;
        (make, (PyBytes::new(py, &state),)).into_pyobject(py)
    }

    #[staticmethod]
    fn _of_state(py: Python<'_>, state: Vec<u8>) -> PyResult<Predictor> {
        let state = py.detach(|| Checkpoint::of_bytes(&state)).map_err(|e| errors::exception(py, &e))?;
        Ok(Predictor { jobs: Arc::new(Mutex::new(state.jobs)) })
    }

    /// The predictor of a stored state.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Predictor> {
        let name = path.display().to_string();
        let missing = || Error::new(ErrorKind::Io, "no such file").in_file(name);
        let state = py.detach(|| Checkpoint::load(&path)).and_then(|state| state.ok_or_else(missing));
        let state = state.map_err(|e| errors::exception(py, &e))?;
        Ok(Predictor { jobs: Arc::new(Mutex::new(state.jobs)) })
    }
}
