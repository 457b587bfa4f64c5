//! Traces: read once, then looked at in many ways.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::types::{UInt8Type, UInt32Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, LargeStringArray, PrimitiveArray, RecordBatchReader,
    StringArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use iophase::analysis::{Heat, Selection};
use iophase::formats::{self, Format, ReadOptions, Source};
use iophase::internals::formats::darshan::Log;
use iophase::record::{
    Clock, Column, CounterModule, Counters, Data, FileId, Files, Intervals, NOT_COUNTED, Op, Requests, Timing, Trace,
    Warning,
};
use iophase::{Error, ErrorKind, Remedy, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use serde::{Deserialize, Serialize};

use crate::arrow::{self, Plain, buffer};
use crate::table::{Columns, Table};
use crate::work::{self, Control};
use crate::{errors, rows};
use iophase::cli::shared::ReadingArgs;

/// The source of a trace, so that other parts of it can be read.
#[derive(Clone)]
pub struct Origin {
    /// The input.
    pub source: Source,
    /// The format that was named.
    pub format: Option<&'static dyn Format>,
    /// How it was read.
    pub read: ReadOptions,
}

/// How a trace was made, for a copy in another process.
#[derive(Clone)]
pub enum Made {
    /// By reading an input, with these arguments of `info`.
    Read(Given, Vec<String>),
    /// By these arguments of `generate`.
    Generated(Vec<String>),
    /// Of a table: by its rows.
    Rows,
}

/// A trace in memory.
pub struct Loaded {
    /// Where it is from; `None` for tables and generated jobs.
    pub origin: Option<Origin>,
    /// Its transfers, and its counters.
    pub rows: Arc<Trace>,
    requests: OnceLock<Table>,
    truth: Option<String>,
    made: Made,
}

impl Loaded {
    /// A trace that is in no file.
    pub fn of(rows: Trace, made: Made, truth: Option<String>) -> Loaded {
        Loaded { origin: None, rows: Arc::new(rows), requests: OnceLock::new(), truth, made }
    }
}

/// An input as a caller gives it.
#[derive(Clone)]
pub enum Given {
    /// A file or folder.
    Path(PathBuf),
    /// The content of a file.
    Bytes(Source),
    /// A folder under another name.
    Unpacked(String, PathBuf),
    /// A trace.
    Trace(Arc<Loaded>),
    /// Rows of a table, which can be read once.
    Table(Rows),
}

/// Rows that wait to be read.
pub type Rows = Arc<Mutex<Option<Box<dyn RecordBatchReader + Send>>>>;

/// Name of a table as an input.
const TABLE: &str = "table";

impl<'a, 'py> FromPyObject<'a, 'py> for Given {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Given> {
        if let Ok(trace) = object.cast::<PyTrace>() {
            return Ok(Given::Trace(trace.get().0.clone()));
        }
        if let Ok(pair) = object.cast::<PyTuple>() {
            let (name, content) = (pair.get_item(0)?.extract::<String>()?, pair.get_item(1)?);
            return Ok(match content.cast::<PyBytes>() {
                Ok(bytes) => Given::Bytes(Source::from_bytes(&name, bytes.as_bytes())),
                Err(_) => Given::Unpacked(name, content.extract()?),
            });
        }
        if object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")? {
            return Ok(Given::Table(Arc::new(Mutex::new(Some(arrow::import(&object)?)))));
        }
        Ok(Given::Path(object.extract()?))
    }
}

impl Given {
    /// As a person knows it.
    pub fn name(&self) -> String {
        match self {
            Given::Path(path) => path.display().to_string(),
            Given::Bytes(source) => source.name().to_owned(),
            Given::Unpacked(name, _) => name.clone(),
            Given::Trace(trace) => trace.rows.path.clone(),
            Given::Table(_) => TABLE.to_owned(),
        }
    }

    /// The same with the rows of a table as a trace.
    pub fn settled(self, reading: &ReadingArgs) -> Result<Given> {
        let Given::Table(rows) = &self else { return Ok(self) };
        let reader = rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader.ok_or_else(|| errors::usage("the rows of the table were read before"))?;
        let trace = rows::trace(reader, TABLE, None, &reading.options()?.series)?;
        Ok(Given::Trace(Arc::new(Loaded::of(trace, Made::Rows, None))))
    }

    /// The source it is read from; `None` for a trace that is in no file.
    pub fn origin(&self, reading: &ReadingArgs) -> Result<Option<Origin>> {
        let read = reading.options()?;
        let source = match self {
            Given::Path(path) => Source::open(path, &read.limits)?,
            Given::Bytes(source) => source.clone(),
            Given::Unpacked(name, path) => Source::open(path, &read.limits)?.named(name),
            Given::Trace(trace) => return Ok(trace.origin.clone()),
            Given::Table(_) => return Ok(None),
        };
        Ok(Some(Origin { source, format: reading.format()?, read }))
    }

    /// Its rows: those of a trace, else read now.
    pub fn rows(&self, reading: &ReadingArgs, control: &Control, counters: bool) -> Result<Arc<Trace>> {
        match self {
            Given::Trace(trace) => Ok(trace.rows.clone()),
            _ => self.read(reading, control, |o| o.counters(counters)).map(Arc::new),
        }
    }

    /// Reads it with other options.
    pub fn read(
        &self,
        reading: &ReadingArgs,
        control: &Control,
        options: impl FnOnce(ReadOptions) -> ReadOptions,
    ) -> Result<Trace> {
        match (self.origin(reading)?, self) {
            (Some(Origin { source, format, read }), _) => {
                control.expect(source.stored_bytes());
                formats::read(&source, format, &control.reading(options(read)))
            }
            (None, Given::Trace(trace)) => Ok(Trace::clone(&trace.rows)),
            (None, _) => Err(errors::usage("nothing to read")),
        }
    }
}

/// Reads a trace with its counters.
pub fn open(given: Given, reading: &ReadingArgs, arguments: Vec<String>, control: &Control) -> Result<Arc<Loaded>> {
    let given = given.settled(reading)?;
    if let Given::Trace(loaded) = given {
        return Ok(loaded);
    }
    let Some(Origin { source, format, read }) = given.origin(reading)? else {
        return Err(errors::usage("the trace is in no file"));
    };
    control.expect(source.stored_bytes());
    let rows = formats::read(&source, format, &control.reading(read.clone().counters(true)))?;
    let origin = Some(Origin { source, format, read });
    let made = Made::Read(given, arguments);
    Ok(Arc::new(Loaded { origin, rows: Arc::new(rows), requests: OnceLock::new(), truth: None, made }))
}

/// The values of a column; none if all rows agree.
fn values<T>(column: &Column<T>) -> &[T] {
    match column {
        Column::Values(values) => values,
        Column::Constant { .. } => &[],
    }
}

const NO_REQUESTS: &Requests = &Requests {
    op: Column::Constant { value: Op::Other, len: 0 },
    call: Column::Constant { value: iophase::record::CallId::NONE, len: 0 },
    rank: Column::Constant { value: 0, len: 0 },
    task: Column::Constant { value: 0, len: 0 },
    file: Column::Constant { value: FileId::NONE, len: 0 },
    offset: Column::Constant { value: 0, len: 0 },
    size: Column::Constant { value: 0, len: 0 },
    start: Vec::new(),
    end: Vec::new(),
};

fn requests(trace: &Trace) -> &Requests {
    match &trace.data {
        Data::Requests(r) => r,
        Data::Intervals(_) => NO_REQUESTS,
    }
}

/// The memory of a column of the requests of a trace: its own, or of a copy where all rows agree and it has none.
fn shared<T: Plain, V: arrow_buffer::ArrowNativeType>(
    trace: &Arc<Trace>,
    column: &Column<T>,
    get: fn(&Trace) -> &[T],
    value: impl Fn(T) -> V,
) -> ScalarBuffer<V> {
    match column {
        Column::Values(_) => ScalarBuffer::from(buffer(trace, get)),
        Column::Constant { value: all, len } => ScalarBuffer::from(vec![value(*all); *len]),
    }
}

/// A column of names: keys, of which `u32::MAX` is none.
fn names(keys: ScalarBuffer<u32>, values: ArrayRef) -> PyResult<ArrayRef> {
    let nulls = keys.contains(&u32::MAX).then(|| keys.iter().map(|k| *k != u32::MAX).collect::<NullBuffer>());
    let keys = PrimitiveArray::<UInt32Type>::try_new(keys, nulls).map_err(failed)?;
    Ok(Arc::new(DictionaryArray::try_new(keys, values).map_err(failed)?))
}

fn failed(e: impl std::fmt::Display) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(e.to_string())
}

fn all_names(files: &Files) -> ArrayRef {
    Arc::new(files.iter().map(|(_, name)| Some(name)).collect::<LargeStringArray>())
}

fn ops(keys: ScalarBuffer<u8>) -> PyResult<ArrayRef> {
    const NAMES: [Op; 7] = [Op::Read, Op::Write, Op::Open, Op::Close, Op::Seek, Op::Sync, Op::Other];
    let keys = PrimitiveArray::<UInt8Type>::new(keys, None);
    let names = StringArray::from_iter_values(NAMES.map(Op::name));
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(names)).map_err(failed)?))
}

/// Times on the trace's own clock: those of the trace if its clock starts with the job, else a copy.
fn times(trace: &Arc<Trace>, get: fn(&Trace) -> &[f64]) -> ArrayRef {
    let origin = trace.origin_s as f64;
    Arc::new(match trace.origin_s {
        0 => Float64Array::new(ScalarBuffer::from(buffer(trace, get)), None),
        _ => get(trace).iter().map(|t| t + origin).collect(),
    })
}

fn requests_table(trace: &Arc<Trace>) -> PyResult<Table> {
    let r = requests(trace);
    let offset = shared(trace, &r.offset, |t| values(&requests(t).offset), |x| x);
    let unknown = iophase::record::UNKNOWN_OFFSET;
    let known = offset.contains(&unknown).then(|| offset.iter().map(|x| *x != unknown).collect::<NullBuffer>());
    let mut table = Columns::default();
    let rank = shared(trace, &r.rank, |t| values(&requests(t).rank), |x| x);
    table.push("rank", Arc::new(UInt32Array::new(rank, None)));
    table.push("op", ops(shared(trace, &r.op, |t| values(&requests(t).op), |x| x as u8))?);
    let file = shared(trace, &r.file, |t| values(&requests(t).file), |x| x.0);
    table.push("file", names(file, all_names(&trace.files))?);
    table.push("offset", Arc::new(UInt64Array::new(offset, known)));
    let size = shared(trace, &r.size, |t| values(&requests(t).size), |x| x);
    table.push("size", Arc::new(UInt64Array::new(size, None)));
    table.push("start_s", times(trace, |t| &requests(t).start));
    table.push("end_s", times(trace, |t| &requests(t).end));
    table.finish()
}

fn intervals_table(trace: &Trace, rows: &Intervals) -> PyResult<Table> {
    let origin = trace.origin_s as f64;
    let shifted = |times: &[f64]| times.iter().map(|t| t + origin).collect();
    let mut table = Columns::default();
    table.push("rank", Arc::new(rows.rank.iter().map(Some).collect::<UInt32Array>()));
    table.push("op", ops(rows.op.iter().map(|op| op as u8).collect())?);
    table.push("file", names(rows.file.iter().map(|f| f.0).collect(), all_names(&trace.files))?);
    table.some_flags("asynchronous", rows.asynchronous.iter().map(Some).collect());
    table.reals("bytes", rows.bytes.clone());
    table.reals("start_s", shifted(&rows.start));
    table.reals("end_s", shifted(&rows.end));
    table.finish()
}

fn counters_table(counters: &Counters, module: CounterModule) -> PyResult<Option<Table>> {
    let Some(t) = counters.table(module) else { return Ok(None) };
    let mut table = Columns::default();
    table.push("file", names(t.file.iter().map(|f| f.0).collect(), all_names(&counters.files))?);
    table.some_wholes("rank", t.rank.iter().map(|r| r.map(i64::from)).collect());
    for (name, column) in &t.ints {
        let known = |x: i64| (x != NOT_COUNTED).then_some(x);
        table.push(name, Arc::new(column.iter().map(known).collect::<Int64Array>()));
    }
    for (name, column) in &t.reals {
        table.reals(name, column.iter().collect());
    }
    table.finish().map(Some)
}

/// Rows, bytes and times of each file.
fn files_table(trace: &Trace) -> PyResult<Table> {
    #[derive(Clone)]
    struct Use {
        rows: [u64; 2],
        bytes: [f64; 2],
        span: (f64, f64),
    }
    let none = Use { rows: [0; 2], bytes: [0.0; 2], span: (f64::INFINITY, f64::NEG_INFINITY) };
    let mut uses = vec![none; trace.files.len()];
    for i in 0..trace.data.len() {
        let row = trace.row(i);
        let Some(u) = uses.get_mut(row.file().0 as usize).filter(|_| row.op().moves_bytes()) else { continue };
        let direction = usize::from(row.op() == Op::Write);
        let (start, end) = row.span();
        u.rows[direction] += 1;
        u.bytes[direction] += match row {
            iophase::record::Row::Request(r) => r.size as f64,
            iophase::record::Row::Interval(v) => v.bytes,
        };
        u.span = (u.span.0.min(start), u.span.1.max(end));
    }
    let origin = trace.origin_s as f64;
    let ids: Vec<FileId> = trace.files.iter().map(|(id, _)| id).collect();
    let time = |t: f64| t.is_finite().then_some(t + origin);
    let mut table = Columns::default();
    table.some_texts("file", trace.files.iter().map(|(_, name)| Some(name.to_owned())).collect());
    table.some_flags("system", ids.iter().map(|id| Some(trace.files.is_system(*id))).collect());
    table.some_counts("stripe_bytes", ids.iter().map(|id| trace.files.stripe(*id)).collect());
    table.some_counts("reads", uses.iter().map(|u| Some(u.rows[0])).collect());
    table.some_counts("writes", uses.iter().map(|u| Some(u.rows[1])).collect());
    table.reals("bytes_read", uses.iter().map(|u| u.bytes[0]).collect());
    table.reals("bytes_written", uses.iter().map(|u| u.bytes[1]).collect());
    table.some_reals("first_s", uses.iter().map(|u| time(u.span.0)).collect());
    table.some_reals("last_s", uses.iter().map(|u| time(u.span.1)).collect());
    table.finish()
}

/// Rank, op, bytes and times of the bins that are not empty.
type Bins = (Vec<u32>, Vec<u8>, Vec<f64>, Vec<f64>, Vec<f64>);

/// The bins of a heatmap.
fn bins(log: &Log, layer: &str) -> Result<Bins> {
    let mut all: Bins = Default::default();
    for record in log.heatmaps()? {
        if log.heatmap_layer(&record).is_none_or(|l| l.name() != layer) {
            continue;
        }
        let rank = u32::try_from(record.rank).unwrap_or(0);
        for (op, series) in [(Op::Write, &record.written), (Op::Read, &record.read)] {
            for (i, bytes) in series.iter().enumerate().filter(|(_, b)| **b > 0) {
                all.0.push(rank);
                all.1.push(op as u8);
                all.2.push(*bytes as f64);
                all.3.push(i as f64 * record.bin_s);
                all.4.push((i + 1) as f64 * record.bin_s);
            }
        }
    }
    Ok(all)
}

/// Facts that the rows of a trace made of a table do not show: its counts and warnings, and the zero of its clock.
#[derive(Serialize, Deserialize)]
struct Besides {
    path: String,
    ranks: u64,
    /// Its rows are readings, this far apart.
    bin_s: Option<f64>,
    clock: Clock,
    counts: [u64; 3],
    layers: Vec<String>,
    warnings: Vec<Warning>,
}

impl Besides {
    fn of(t: &Trace) -> Besides {
        let counts = [t.quality.records_read, t.quality.clamped, t.quality.clock_backwards];
        let layers = t.layers.iter().map(|l| l.layer.clone()).collect();
        let (path, warnings) = (t.path.clone(), t.warnings.clone());
        Besides { path, ranks: t.ranks, bin_s: t.bin_s, clock: t.clock, counts, layers, warnings }
    }

    fn put_in(self, t: &mut Trace) {
        if self.bin_s.is_some() {
            (t.timing, t.bin_s) = (Timing::Counter, self.bin_s);
        }
        [t.quality.records_read, t.quality.clamped, t.quality.clock_backwards] = self.counts;
        t.layers = self.layers.iter().map(|layer| t.summarise(layer)).collect();
        (t.path, t.ranks, t.clock, t.warnings) = (self.path, self.ranks, self.clock, self.warnings);
    }
}

/// The trace of the rows of a table that a trace of a table has given, and what they do not say.
#[pyfunction]
pub fn of_rows(py: Python<'_>, rows: &Bound<'_, PyAny>, besides: &str) -> PyResult<PyTrace> {
    let besides: Besides = serde_json::from_str(besides).map_err(failed)?;
    let mut trace =
        rows::trace(arrow::import(rows)?, TABLE, None, &Default::default()).map_err(|e| errors::exception(py, &e))?;
    besides.put_in(&mut trace);
    Ok(PyTrace(Arc::new(Loaded::of(trace, Made::Rows, None))))
}

/// Heat maps of writes and reads over the time of the trace, with all ranks.
fn heats(trace: &Trace, bins: Option<usize>) -> Result<Vec<Heat>> {
    /// Most cells: 1 GiB.
    const MOST: usize = 1 << 27;
    const USUAL: usize = 200;
    let origin = trace.origin_s as f64;
    let rows = (0..trace.data.len()).map(|i| trace.row(i)).filter(|row| row.op().moves_bytes());
    let (mut start, mut end) = rows.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), row| {
        let (start, end) = row.span();
        (a.min(start + origin), b.max(end + origin))
    });
    if trace.origin_s == 0 {
        // that of the job
        start = start.min(0.0);
    }
    let columns = match trace.bin_s.filter(|s| bins.is_none() && *s > 0.0 && end > start) {
        Some(bin_s) => {
            (start, end) = ((start / bin_s).floor() * bin_s, (end / bin_s - 1e-6).ceil() * bin_s);
            ((end - start) / bin_s).round() as usize
        }
        None => bins.unwrap_or(USUAL),
    };
    if columns == 0 || columns > MOST {
        return Err(errors::usage(format!("{columns} bins")).expected(format!("1 to {MOST}")));
    }
    Ok(Heat::of(trace, &Selection::default(), (start, end), (MOST / columns, columns)))
}

/// A trace that was read: rows, counters, facts about the job.
#[pyclass(frozen, module = "iophase", name = "Trace")]
pub struct PyTrace(pub Arc<Loaded>);

impl PyTrace {
    fn fail(&self, py: Python<'_>, found: &str, remedy: &'static str) -> PyErr {
        let e = Error::new(ErrorKind::Empty, found).remedy(Remedy::from(remedy)).in_file(&self.0.rows.path);
        errors::exception(py, &e)
    }
}

#[pymethods]
impl PyTrace {
    /// The file, as it was named.
    #[getter]
    fn path(&self) -> &str {
        &self.0.rows.path
    }

    /// Name of the format.
    #[getter]
    fn format(&self) -> &str {
        self.0.rows.format
    }

    /// Number of processes.
    #[getter]
    fn ranks(&self) -> u64 {
        self.0.rows.ranks
    }

    /// Whether its rows are requests, with their own size and place; else they are intervals.
    #[getter]
    fn has_requests(&self) -> bool {
        matches!(self.0.rows.data, Data::Requests(_))
    }

    fn __len__(&self) -> usize {
        self.0.rows.data.len()
    }

    /// The requests: rank, op, file, offset (bytes), size (bytes), start_s and end_s (seconds on the trace's own clock).
    ///
    /// Numbers share the memory of the trace. A column in which all rows agree, and times of a clock that does not start with
    /// the job, are copies.
    fn requests(&self, py: Python<'_>) -> PyResult<Table> {
        if let Data::Intervals(_) = self.0.rows.data {
            return Err(self.fail(
                py,
                "the trace has no requests, but bytes over stretches of time",
                "take intervals()",
            ));
        }
        if let Some(table) = self.0.requests.get() {
            return Ok(table.clone());
        }
        let table = requests_table(&self.0.rows)?;
        Ok(self.0.requests.get_or_init(|| table).clone())
    }

    /// Bytes over stretches of time, as phases, bins and readings of counters are: rank, op, file, asynchronous, bytes,
    /// start_s, end_s.
    fn intervals(&self, py: Python<'_>) -> PyResult<Table> {
        match &self.0.rows.data {
            Data::Intervals(rows) => intervals_table(&self.0.rows, rows),
            Data::Requests(_) => Err(self.fail(py, "the trace has no intervals, but requests", "take requests()")),
        }
    }

    /// The counters of a module, one row for each file and rank (rank is None for totals over all ranks): `posix`, `mpiio`,
    /// `stdio`, `h5f`, `h5d`, `pnetcdf_file`, `pnetcdf_var`, `dfs`, `daos`.
    #[pyo3(signature = (module="posix"))]
    fn counters(&self, py: Python<'_>, module: &str) -> PyResult<Table> {
        use CounterModule::{Daos, Dfs, H5d, H5f, Mpiio, PnetcdfFile, PnetcdfVar, Posix, Stdio};
        let all = [Posix, Mpiio, Stdio, H5f, H5d, PnetcdfFile, PnetcdfVar, Dfs, Daos];
        let Some(wanted) = all.into_iter().find(|m| m.prefix().eq_ignore_ascii_case(module)) else {
            let names: Vec<String> = all.iter().map(|m| m.prefix().to_lowercase()).collect();
            let e = errors::usage(format!("no module is called {module}")).expected(names.join(", "));
            return Err(errors::exception(py, &e));
        };
        let table = self.0.rows.counters.as_ref().map(|c| counters_table(c, wanted)).transpose()?.flatten();
        table.ok_or_else(|| self.fail(py, &format!("the trace has no counters of {module}"), "see info for its layers"))
    }

    /// The bins of the heat map of a layer (`posix`, `mpiio`, `stdio`) of a Darshan log that are not empty: rank, op, bytes,
    /// start_s, end_s.
    #[pyo3(signature = (layer="posix"))]
    fn heatmap(&self, py: Python<'_>, layer: &str) -> PyResult<Table> {
        let none = || self.fail(py, &format!("the trace has no heat map of {layer}"), "see info for its layers");
        let Some(origin) = self.0.origin.as_ref().filter(|_| self.0.rows.format == "darshan") else {
            return Err(none());
        };
        let (source, name) = (origin.source.clone(), layer.to_owned());
        let (rank, op, bytes, start, end) = work::run(py, None, None, move |control| {
            let read = control.reading(ReadOptions::default());
            let content = iophase::internals::formats::whole(&source, &read)?;
            bins(&Log::new(content, &read.limits)?, &name)
        })?;
        if rank.is_empty() {
            return Err(none());
        }
        let mut table = Columns::default();
        table.push("rank", Arc::new(UInt32Array::from(rank)));
        table.push("op", ops(ScalarBuffer::from(op))?);
        table.reals("bytes", bytes);
        table.reals("start_s", start);
        table.reals("end_s", end);
        table.finish()
    }

    /// Bytes of `write` or `read` by rank and time as an `iophase.Heat`, whose array has a row for each rank and a column for each
    /// bin; the bins are those of the trace if it has any, else 200.
    #[pyo3(signature = (op="write", bins=None))]
    fn heat<'py>(slf: &Bound<'py, Self>, op: &str, bins: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let (trace, wanted) = (this.0.rows.clone(), op.to_owned());
        let heats = work::run(py, None, None, move |_| heats(&trace, bins))?;
        let heat = heats.into_iter().find(|h| h.mode.name() == wanted);
        let heat = heat.ok_or_else(|| {
            this.fail(py, &format!("the trace has no {op} by rank and time"), "see info for its layers")
        })?;
        let ranks: Vec<(u32, u32)> = heat.rows.iter().map(|r| r.ranks).collect();
        let mut cells = Columns::default();
        cells.reals("bytes", heat.cells);
        let parts = (op, ranks, heat.start_s, heat.step_s, heat.columns, cells.finish()?.column("bytes")?);
        py.import("iophase._figure")?.getattr("Heat")?.call1(parts)
    }

    /// The files of the trace: file, system (pipes, /proc and the like), stripe_bytes, reads, writes, bytes_read,
    /// bytes_written, first_s, last_s.
    fn files(&self) -> PyResult<Table> {
        files_table(&self.0.rows)
    }

    /// Contents of the trace: format, job, ranks, files, operations, bytes, time span. What it takes is read again.
    #[getter]
    fn info<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("iophase._core")?.call_method1("info_of", (slf,))
    }

    /// Warnings of the reader.
    #[getter]
    fn warnings<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("iophase._core")?.call_method1("warnings_of", (slf,))
    }

    /// The truth of a generated job: its periods, bursts and patterns; None for other traces.
    #[getter]
    fn truth<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("iophase._core")?.call_method1("truth_of", (slf,))
    }

    /// Warnings of the reader: code, message, remedy.
    #[getter]
    fn _warnings(&self) -> Vec<(String, String, Option<String>)> {
        crate::answers::plain(&self.0.rows.warnings)
    }

    /// The truth of a generated job as JSON.
    #[getter]
    fn _truth(&self) -> Option<&str> {
        self.0.truth.as_deref()
    }

    /// How it was made: the name of a function of the native part, and its arguments.
    #[getter]
    fn _made<'py>(slf: &Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let trace = &slf.get().0;
        match &trace.made {
            Made::Read(Given::Path(path), arguments) => ("open", path, arguments).into_pyobject(py),
            Made::Read(Given::Bytes(source), arguments) => {
                let read = ReadOptions::default();
                let bytes =
                    iophase::internals::formats::stored(source, &read).map_err(|e| errors::exception(py, &e))?;
                ("open", (source.name(), PyBytes::new(py, &bytes)), arguments).into_pyobject(py)
            }
            Made::Read(Given::Unpacked(name, path), arguments) => ("open", (name, path), arguments).into_pyobject(py),
            Made::Generated(arguments) => ("generate_rows", arguments).into_pyobject(py),
            Made::Read(..) | Made::Rows => {
                let this = slf.get();
                let rows = if this.has_requests() { this.requests(py)? } else { this.intervals(py)? };
                let besides = serde_json::to_string(&Besides::of(&trace.rows)).map_err(failed)?;
                ("of_rows", rows, besides).into_pyobject(py)
            }
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("iophase._core")?.call_method1("kept", (slf,))
    }

    /// It cannot be changed.
    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn _repr_html_(&self) -> String {
        format!("<code>{}</code>", crate::table::escaped(&self.__repr__()))
    }

    fn __repr__(&self) -> String {
        let t = &self.0.rows;
        let kind = if self.has_requests() { "requests" } else { "intervals" };
        format!("<iophase.Trace {}: {}, {} ranks, {} {kind}>", t.path, t.format, t.ranks, t.data.len())
    }
}
