//! Tables of other packages as traces: columns by name, each of any type that can hold its values.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::DataType;
use iophase::internals::formats::origin_of;
use iophase::record::{Column, Data, FileId, LayerSummary, Op, Requests, Timing, Trace, UNKNOWN_OFFSET, Warning};
use iophase::{Error, ErrorKind, Result};

use crate::errors::bad_row;

/// Largest time in seconds before or after the zero of a clock, as for the readers of files.
const MOST_TIME_S: f64 = 1e12;

/// A column of a request, the names it may have, and what it has to hold.
struct Wanted {
    names: &'static [&'static str],
    required: bool,
    holds: &'static str,
}

const OP: Wanted = Wanted { names: &["op"], required: true, holds: "read, write, open, close, seek, sync or other" };
const SIZE: Wanted = Wanted { names: &["size", "bytes"], required: true, holds: "bytes, whole numbers from 0" };
const START: Wanted = Wanted { names: &["start_s", "start"], required: true, holds: "seconds within 1e12 of 0" };
const END: Wanted = Wanted { names: &["end_s", "end"], required: false, holds: "seconds within 1e12 of 0" };
const RANK: Wanted = Wanted { names: &["rank"], required: false, holds: "whole numbers below 4294967296" };
const FILE: Wanted = Wanted { names: &["file"], required: false, holds: "text" };
const OFFSET: Wanted = Wanted { names: &["offset"], required: false, holds: "bytes, whole numbers from 0" };

/// The trace of the rows of a table.
struct Rows {
    name: String,
    trace: Trace,
    requests: Requests,
    ranks: BTreeSet<u32>,
    /// Rows that end before they start.
    bent: u64,
    begun: bool,
}

/// Reads all rows. `ranks` is the number of processes; `None` counts those that have rows.
pub fn trace(reader: Box<dyn RecordBatchReader + Send>, name: &str, ranks: Option<u64>) -> Result<Trace> {
    let mut rows = Rows {
        name: name.to_owned(),
        trace: Trace { path: name.to_owned(), format: "arrow", timing: Timing::Request, ..Trace::default() },
        requests: Requests::default(),
        ranks: BTreeSet::new(),
        bent: 0,
        begun: false,
    };
    rows.check(&reader.schema())?;
    for batch in reader {
        let batch = batch.map_err(|e| Error::new(ErrorKind::Malformed, e.to_string()).in_file(name))?;
        rows.take(&batch)?;
    }
    let trace = rows.finish(ranks);
    trace.check()?;
    Ok(trace)
}

impl Rows {
    /// Names the columns that are missing.
    fn check(&self, schema: &arrow_schema::Schema) -> Result<()> {
        let has = |w: &Wanted| w.names.iter().any(|n| schema.index_of(n).is_ok());
        let missing: Vec<&str> =
            [OP, SIZE, START].iter().filter(|w| w.required && !has(w)).map(|w| w.names[0]).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let present: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        Err(Error::new(ErrorKind::Malformed, format!("no column {}", missing.join(", ")))
            .expected("columns op, size, start_s, and if known end_s, rank, file, offset")
            .remedy(format!("rename columns; there are: {}", present.join(", ")))
            .in_file(&self.name))
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let first = self.requests.len();
        let n = batch.num_rows();
        let column = |w: &Wanted| w.names.iter().find_map(|name| batch.column_by_name(name)).map(AsRef::as_ref);
        let needed = |w: &Wanted| column(w).ok_or_else(|| Error::new(ErrorKind::Malformed, "columns differ"));
        let place = Place { name: &self.name, first };
        let start = place.times(needed(&START)?, &START)?;
        let end = column(&END).map(|c| place.times(c, &END)).transpose()?;
        let size = place.wholes(needed(&SIZE)?, &SIZE, None)?;
        let offset = column(&OFFSET).map(|c| place.wholes(c, &OFFSET, Some(UNKNOWN_OFFSET))).transpose()?;
        let rank = column(&RANK).map(|c| place.wholes(c, &RANK, Some(0))).transpose()?;
        let op = place.ops(needed(&OP)?)?;
        let file = match column(&FILE) {
            Some(c) => place.files(c, &mut self.trace.files)?,
            None => vec![FileId::NONE; n],
        };
        if !self.begun && n > 0 {
            self.begun = true;
            self.trace.origin_s = origin_of(start[0]);
        }
        let origin = self.trace.origin_s as f64;
        let ranks: Vec<u32> = match rank {
            None => vec![0; n],
            Some(r) => (0..n)
                .map(|i| u32::try_from(r[i]).map_err(|_| place.wrong(i, &r[i].to_string(), &RANK)))
                .collect::<Result<_>>()?,
        };
        let starts: Vec<f64> = start.iter().map(|t| t - origin).collect();
        let mut ends: Vec<f64> = end.as_ref().unwrap_or(&start).iter().map(|t| t - origin).collect();
        for (end, start) in ends.iter_mut().zip(&starts) {
            if *end < *start {
                *end = *start;
                self.bent += 1;
            }
        }
        let mut last = None;
        self.ranks.extend(ranks.iter().copied().filter(|r| last.replace(*r) != Some(*r)));
        let r = &mut self.requests;
        extend(&mut r.op, op);
        extend(&mut r.rank, ranks);
        extend(&mut r.file, file);
        extend(&mut r.offset, offset.map_or_else(|| vec![UNKNOWN_OFFSET; n], Cow::into_owned));
        extend(&mut r.size, size.into_owned());
        (0..n).for_each(|_| {
            r.call.push(Default::default());
            r.task.push(0);
        });
        r.start.extend(starts);
        r.end.extend(ends);
        Ok(())
    }

    fn finish(self, ranks: Option<u64>) -> Trace {
        let Rows { mut trace, requests, bent, .. } = self;
        trace.ranks = ranks.unwrap_or(self.ranks.len() as u64).max(self.ranks.len() as u64);
        trace.quality.records_read = requests.len() as u64;
        trace.quality.clamped = bent;
        if bent > 0 {
            let message = format!("{bent} rows end before they start; they are taken to last no time");
            trace.warnings.push(Warning::new("clamped-records", message));
        }
        for op in requests.op.iter() {
            *trace.call_counts.entry(op.name().to_owned()).or_default() += 1;
        }
        trace.layers = vec![summary(&requests, trace.origin_s as f64)];
        trace.data = Data::Requests(requests);
        trace
    }
}

/// Totals of the rows.
fn summary(rows: &Requests, origin_s: f64) -> LayerSummary {
    let mut sum = LayerSummary::default();
    sum.layer = "requests".into();
    sum.records = rows.len() as u64;
    let (mut reads, mut writes) = (0, 0);
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for row in rows.iter().filter(|r| r.op.moves_bytes()) {
        let (count, bytes) = match row.op {
            Op::Read => (&mut reads, &mut sum.bytes_read),
            _ => (&mut writes, &mut sum.bytes_written),
        };
        *count += 1;
        *bytes = bytes.saturating_add(row.size);
        (first, last) = (first.min(row.start), last.max(row.end));
    }
    (sum.reads, sum.writes) = (Some(reads), Some(writes));
    if first <= last {
        (sum.first_s, sum.last_s) = (Some(origin_s + first), Some(origin_s + last));
    }
    sum
}

/// Appends values; a column whose rows all agree stays one value.
fn extend<T: Copy + PartialEq>(column: &mut Column<T>, values: Vec<T>) {
    let agree = values.first().is_none_or(|first| values.iter().all(|v| v == first));
    match column {
        Column::Values(all) => all.extend_from_slice(&values),
        Column::Constant { len: 0, .. } if !agree => *column = Column::Values(values),
        _ => values.into_iter().for_each(|v| column.push(v)),
    }
}

/// Where a batch is, for errors.
struct Place<'a> {
    name: &'a str,
    /// Rows before it.
    first: usize,
}

/// The values of an array of one type as `f64`, with its nulls as NaN.
fn as_reals<T: ArrowPrimitiveType>(array: &dyn Array, real: impl Fn(T::Native) -> f64) -> Vec<f64> {
    let array = array.as_primitive::<T>();
    array.iter().map(|x| x.map_or(f64::NAN, &real)).collect()
}

impl Place<'_> {
    fn wrong(&self, i: usize, value: &str, wanted: &Wanted) -> Error {
        bad_row(self.name, self.first + i, format!("{} is {value}", wanted.names[0])).expected(wanted.holds)
    }

    fn wrong_type(&self, array: &dyn Array, wanted: &Wanted) -> Error {
        Error::new(ErrorKind::Malformed, format!("column {} is of type {}", wanted.names[0], array.data_type()))
            .expected(wanted.holds)
            .in_file(self.name)
    }

    /// Times; borrowed if they are real numbers and all known.
    fn times<'a>(&self, array: &'a dyn Array, wanted: &Wanted) -> Result<Cow<'a, [f64]>> {
        let times = match array.data_type() {
            DataType::Float64 if array.null_count() == 0 => {
                Cow::Borrowed(&array.as_primitive::<Float64Type>().values()[..])
            }
            DataType::Float64 => Cow::Owned(as_reals::<Float64Type>(array, |x| x)),
            DataType::Float32 => Cow::Owned(as_reals::<Float32Type>(array, f64::from)),
            DataType::Int64 => Cow::Owned(as_reals::<Int64Type>(array, |x| x as f64)),
            DataType::Int32 => Cow::Owned(as_reals::<Int32Type>(array, f64::from)),
            DataType::UInt64 => Cow::Owned(as_reals::<UInt64Type>(array, |x| x as f64)),
            DataType::UInt32 => Cow::Owned(as_reals::<UInt32Type>(array, f64::from)),
            _ => return Err(self.wrong_type(array, wanted)),
        };
        // NaN is no time
        match times.iter().position(|t| t.is_nan() || t.abs() > MOST_TIME_S) {
            Some(i) if array.is_null(i) => Err(self.wrong(i, "unknown", wanted)),
            Some(i) => Err(self.wrong(i, &times[i].to_string(), wanted)),
            None => Ok(times),
        }
    }

    /// Whole numbers from 0, `unknown` where there is none; borrowed if they are of 64 bits, unsigned and all known.
    fn wholes<'a>(&self, array: &'a dyn Array, wanted: &Wanted, unknown: Option<u64>) -> Result<Cow<'a, [u64]>> {
        macro_rules! integers {
            ($type:ty) => {
                array.as_primitive::<$type>().iter().map(|x| x.map(|x| u64::try_from(x).ok())).collect()
            };
        }
        macro_rules! reals {
            ($type:ty) => {{
                let whole = |x: f64| (x >= 0.0 && x.fract() == 0.0 && x < 2f64.powi(64)).then_some(x as u64);
                let known = |x: f64| if x.is_nan() { None } else { Some(whole(x)) };
                array.as_primitive::<$type>().iter().map(|x| x.and_then(|x| known(x.into()))).collect()
            }};
        }
        let values: Vec<Option<Option<u64>>> = match array.data_type() {
            DataType::UInt64 if array.null_count() == 0 => {
                return Ok(Cow::Borrowed(&array.as_primitive::<UInt64Type>().values()[..]));
            }
            DataType::UInt64 => integers!(UInt64Type),
            DataType::UInt32 => integers!(UInt32Type),
            DataType::UInt16 => integers!(UInt16Type),
            DataType::UInt8 => integers!(UInt8Type),
            DataType::Int64 => integers!(Int64Type),
            DataType::Int32 => integers!(Int32Type),
            DataType::Int16 => integers!(Int16Type),
            DataType::Int8 => integers!(Int8Type),
            DataType::Float64 => reals!(Float64Type),
            DataType::Float32 => reals!(Float32Type),
            DataType::Null => vec![None; array.len()],
            _ => return Err(self.wrong_type(array, wanted)),
        };
        let one = |(i, value): (usize, Option<Option<u64>>)| match value {
            Some(Some(x)) => Ok(x),
            Some(None) => Err(self.wrong(i, "no such number", wanted)),
            None => unknown.ok_or_else(|| self.wrong(i, "unknown", wanted)),
        };
        values.into_iter().enumerate().map(one).collect::<Result<Vec<u64>>>().map(Cow::Owned)
    }

    /// For each row the number that `each` gives to its text; `None` where there is none.
    fn texts<T: Copy>(
        &self,
        array: &dyn Array,
        wanted: &Wanted,
        each: &mut dyn FnMut(usize, Option<&str>) -> Result<T>,
    ) -> Result<Vec<T>> {
        macro_rules! plain {
            ($strings:expr) => {{
                let strings = $strings;
                // neighbours often agree
                let mut last: Option<(Option<&str>, T)> = None;
                let mut all = Vec::with_capacity(strings.len());
                for (i, text) in strings.iter().enumerate() {
                    let value = match last {
                        Some((before, value)) if before == text => value,
                        _ => each(i, text)?,
                    };
                    last = Some((text, value));
                    all.push(value);
                }
                Ok(all)
            }};
        }
        match array.data_type() {
            DataType::Utf8 => plain!(array.as_string::<i32>()),
            DataType::LargeUtf8 => plain!(array.as_string::<i64>()),
            DataType::Utf8View => plain!(array.as_string_view()),
            DataType::Null => (0..array.len()).map(|i| each(i, None)).collect(),
            DataType::Dictionary(..) if array.as_any_dictionary().values().is_empty() => {
                (0..array.len()).map(|i| each(i, None)).collect()
            }
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let keys = dictionary.normalized_keys();
                let mut known: HashMap<usize, T> = HashMap::new();
                let mut unknown = None;
                let values = dictionary.values();
                let text = |key: usize| match values.data_type() {
                    DataType::Utf8 => Ok(values.as_string::<i32>().value(key)),
                    DataType::LargeUtf8 => Ok(values.as_string::<i64>().value(key)),
                    DataType::Utf8View => Ok(values.as_string_view().value(key)),
                    _ => Err(self.wrong_type(array, wanted)),
                };
                let mut all = Vec::with_capacity(keys.len());
                for (i, key) in keys.into_iter().enumerate() {
                    let is_unknown = array.is_null(i) || values.is_null(key);
                    let value = match (is_unknown, known.get(&key)) {
                        (false, Some(value)) => *value,
                        (false, None) => {
                            let value = each(i, Some(text(key)?))?;
                            known.insert(key, value);
                            value
                        }
                        (true, _) => match unknown {
                            Some(value) => value,
                            None => *unknown.insert(each(i, None)?),
                        },
                    };
                    all.push(value);
                }
                Ok(all)
            }
            _ => Err(self.wrong_type(array, wanted)),
        }
    }

    fn ops(&self, array: &dyn Array) -> Result<Vec<Op>> {
        const ALL: [Op; 7] = [Op::Read, Op::Write, Op::Open, Op::Close, Op::Seek, Op::Sync, Op::Other];
        self.texts(array, &OP, &mut |i, text| {
            let named = |t: &str| ALL.into_iter().find(|op| t.eq_ignore_ascii_case(op.name()));
            let wrong = || self.wrong(i, &text.map_or("unknown".into(), |t| format!("`{}`", shortened(t))), &OP);
            text.and_then(named).ok_or_else(wrong)
        })
    }

    fn files(&self, array: &dyn Array, files: &mut iophase::record::Files) -> Result<Vec<FileId>> {
        self.texts(array, &FILE, &mut |_, text| {
            Ok(text.filter(|t| !t.is_empty()).map_or(FileId::NONE, |t| files.intern(t)))
        })
    }
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}
