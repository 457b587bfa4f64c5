//! Tables of other packages as traces: columns by name, each of any type that can hold its values.
//!
//! A table with starts and bytes holds spans, requests if they are whole numbers or have offsets; one with times and rates holds
//! samples, which become bytes as those of a table in a file do.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchReader, make_array};
use arrow_schema::{DataType, Schema, TimeUnit};
use iophase::formats::{SeriesOptions, Stamp, ValueKind};
use iophase::internals::formats::{Readings, direction, origin_of, per_second};
use iophase::record::{Column, Data, FileId, Intervals, Op, Requests, Timing, Trace, UNKNOWN_OFFSET, Warning};
use iophase::{Error, ErrorKind, Result};

use crate::errors::bad_row;

/// Largest time in seconds before or after the zero of a clock, as for the readers of files.
const MOST_TIME_S: f64 = 1e12;
/// Name of the format of these traces.
const FORMAT: &str = "arrow";

/// A column, the names it may have, and what it has to hold.
struct Wanted {
    names: &'static [&'static str],
    holds: &'static str,
}

const TIMES: &str = "seconds within 1e12 of 0, datetimes or durations";
const OP: Wanted = Wanted { names: &["op"], holds: "read, write, open, close, seek, sync or other" };
const SIZE: Wanted = Wanted { names: &["size", "bytes"], holds: "bytes, whole numbers from 0" };
const AMOUNT: Wanted = Wanted { names: SIZE.names, holds: "bytes, numbers from 0" };
const RATE: Wanted = Wanted { names: &["bytes_per_s", "rate", "bandwidth"], holds: "bytes per second, numbers from 0" };
const START: Wanted = Wanted { names: &["start_s", "start"], holds: TIMES };
const END: Wanted = Wanted { names: &["end_s", "end"], holds: TIMES };
const LENGTH: Wanted = Wanted { names: &["duration_s", "duration", "dur"], holds: TIMES };
const TIME: Wanted = Wanted { names: &["t_s", "time_s", "time", "t", "timestamp", "datetime"], holds: TIMES };
const RANK: Wanted = Wanted { names: &["rank"], holds: "whole numbers below 4294967296" };
const FILE: Wanted = Wanted { names: &["file"], holds: "text" };
const OFFSET: Wanted = Wanted { names: &["offset"], holds: "bytes from the start of the file, whole numbers from 0" };

impl Wanted {
    /// The place of the column, whose name may be in any case.
    fn find(&self, schema: &Schema) -> Option<usize> {
        let place = |name: &&str| schema.fields().iter().position(|f| f.name().eq_ignore_ascii_case(name));
        self.names.iter().find_map(place)
    }
}

/// Reads all rows. `ranks` is the number of processes; `None` counts those that have rows. `how` says what values and times mean.
pub fn trace(
    reader: Box<dyn RecordBatchReader + Send>,
    name: &str,
    ranks: Option<u64>,
    how: &SeriesOptions,
) -> Result<Trace> {
    let schema = reader.schema();
    if how.columns.is_some() {
        let e = Error::new(ErrorKind::Usage, "columns is given with a table in memory");
        return Err(e.remedy("rename its columns, or give a dict: {\"time\": ..., \"rate\": ...}").in_file(name));
    }
    let mut trace = match (Spans::of(&schema, name), Samples::of(&schema)) {
        (Some(spans), _) => spans.read(reader, how)?,
        (None, Some(samples)) => samples.read(reader, name, how)?,
        (None, None) => return Err(unknown(&schema).in_file(name)),
    };
    name.clone_into(&mut trace.path);
    trace.ranks = ranks.unwrap_or(0).max(trace.ranks);
    trace.check()?;
    Ok(trace)
}

/// The columns, for a message.
fn names(schema: &Schema) -> String {
    schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ")
}

/// The error of a table without the columns that are needed.
fn unknown(schema: &Schema) -> Error {
    Error::new(ErrorKind::Malformed, format!("no bytes over time in the columns {}", names(schema)))
        .expected(
            "start, end (or duration) and bytes (or rate), and if known op, rank, file, offset; or time and rate, or time and \
             values whose names say read or write",
        )
        .remedy("rename the columns, or give a dict: {\"start\": ..., \"end\": ..., \"bytes\": ...}")
}

/// Batches of a table; an error of theirs is one of the table.
fn batches(reader: Box<dyn RecordBatchReader + Send>, name: &str) -> impl Iterator<Item = Result<RecordBatch>> {
    reader.map(move |batch| batch.map_err(|e| Error::new(ErrorKind::Malformed, e.to_string()).in_file(name)))
}

/// Rows that start and end.
struct Spans<'n> {
    name: &'n str,
    start: usize,
    /// A column of bytes, or of bytes per second.
    bytes: usize,
    is_rate: bool,
    end: Option<usize>,
    /// The column with the length, which is added to the start.
    length: Option<usize>,
    data: Data,
    trace: Trace,
    ranks: BTreeSet<u32>,
    /// Rows that end before they start.
    bent: u64,
    begun: bool,
}

impl<'n> Spans<'n> {
    fn of(schema: &Schema, name: &'n str) -> Option<Self> {
        let (end, length) = (END.find(schema), LENGTH.find(schema));
        let lasts = end.or(length).is_some();
        let is_row = lasts || OP.find(schema).is_some();
        let start = START.find(schema).or_else(|| TIME.find(schema).filter(|_| is_row))?;
        let size = SIZE.find(schema);
        let bytes = size.or_else(|| RATE.find(schema).filter(|_| lasts))?;
        let is_rate = size.is_none();
        let whole = OFFSET.find(schema).is_some() || !schema.field(bytes).data_type().is_floating();
        let (data, timing) = match whole && !is_rate {
            true => (Data::Requests(Requests::default()), Timing::Request),
            false => (Data::Intervals(Intervals::default()), Timing::Phase),
        };
        let trace = Trace { format: FORMAT, timing, ..Trace::default() };
        let ranks = BTreeSet::new();
        Some(Spans { name, start, bytes, is_rate, end, length, data, trace, ranks, bent: 0, begun: false })
    }

    fn read(mut self, reader: Box<dyn RecordBatchReader + Send>, how: &SeriesOptions) -> Result<Trace> {
        for batch in batches(reader, self.name) {
            self.take(&batch?, how)?;
        }
        Ok(self.finish())
    }

    fn take(&mut self, batch: &RecordBatch, how: &SeriesOptions) -> Result<()> {
        let n = batch.num_rows();
        let place = Place { name: self.name, batch, first: self.data.len() };
        let (starts, ends) = self.times(&place, per_second(0.0, how.time_unit_s))?;
        let ranks = place.ranks()?;
        let mut last = None;
        self.ranks.extend(ranks.iter().copied().filter(|r| last.replace(*r) != Some(*r)));
        let op = place.column(&OP).map_or_else(|| Ok(vec![Op::Write; n]), |c| place.ops(c))?;
        let file = place.column(&FILE).map(|c| place.files(c, &mut self.trace.files));
        let file = file.unwrap_or_else(|| Ok(vec![FileId::NONE; n]))?;
        let unit = how.unit_bytes.unwrap_or(1.0);
        match &mut self.data {
            Data::Requests(r) => {
                let mut sizes = place.wholes(self.bytes, &SIZE, None)?.into_owned();
                if unit != 1.0 {
                    sizes.iter_mut().for_each(|n| *n = (*n as f64 * unit) as u64);
                }
                let offset =
                    place.column(&OFFSET).map(|c| place.wholes(c, &OFFSET, Some(UNKNOWN_OFFSET))).transpose()?;
                extend(&mut r.size, sizes);
                extend(&mut r.offset, offset.map_or_else(|| vec![UNKNOWN_OFFSET; n], Cow::into_owned));
                extend(&mut r.op, op);
                extend(&mut r.rank, ranks);
                extend(&mut r.file, file);
                extend(&mut r.call, vec![Default::default(); n]);
                extend(&mut r.task, vec![0; n]);
                r.start.extend(starts);
                r.end.extend(ends);
            }
            Data::Intervals(v) => {
                let amounts = place.amounts(self.bytes, if self.is_rate { &RATE } else { &AMOUNT })?;
                let length = |i: usize| if self.is_rate { ends[i] - starts[i] } else { 1.0 };
                v.bytes.extend((0..n).map(|i| amounts[i] * unit * length(i)));
                extend(&mut v.op, op);
                extend(&mut v.rank, ranks);
                extend(&mut v.file, file);
                extend(&mut v.asynchronous, vec![false; n]);
                v.start.extend(starts);
                v.end.extend(ends);
            }
        }
        Ok(())
    }

    /// Starts and ends since the origin, which the first row of all shows.
    fn times(&mut self, place: &Place<'_>, per_s: i64) -> Result<(Vec<f64>, Vec<f64>)> {
        let start = place.times(self.start, per_s)?;
        if !self.begun && place.batch.num_rows() > 0 {
            self.begun = true;
            self.trace.origin_s = origin_of(start.first());
        }
        let starts = start.since(self.trace.origin_s);
        let mut ends = match (self.end, self.length) {
            (Some(end), _) => place.times(end, per_s)?.since(self.trace.origin_s),
            (None, Some(length)) => {
                let lengths = place.times(length, per_s)?.since(0);
                starts.iter().zip(lengths).map(|(start, length)| start + length).collect()
            }
            (None, None) => starts.clone(),
        };
        for (end, start) in ends.iter_mut().zip(&starts) {
            if *end < *start {
                *end = *start;
                self.bent += 1;
            }
        }
        Ok((starts, ends))
    }

    fn finish(self) -> Trace {
        let Spans { mut trace, data, bent, .. } = self;
        trace.ranks = self.ranks.len() as u64;
        trace.quality.records_read = data.len() as u64;
        trace.quality.clamped = bent;
        if bent > 0 {
            let message = format!("{bent} rows end before they start; they are taken to last no time");
            trace.warnings.push(Warning::new("clamped-records", message));
        }
        if let Data::Requests(r) = &data {
            r.op.iter().for_each(|op| *trace.call_counts.entry(op.name().to_owned()).or_default() += 1);
        }
        trace.data = data;
        trace.layers = vec![trace.summarise(if trace.timing == Timing::Request { "requests" } else { "phases" })];
        trace
    }
}

/// Values at times.
struct Samples {
    /// Rows without one are a step apart.
    time: Option<usize>,
    values: Vec<(Op, usize)>,
    direction_unknown: bool,
    /// A table of bytes in the step.
    is_bytes: bool,
    /// The step of a row is the one after its time, as in [`Answer::bandwidth`](crate::answers::Answer).
    starts: bool,
}

impl Samples {
    fn of(schema: &Schema) -> Option<Samples> {
        let time = TIME.find(schema).or_else(|| START.find(schema));
        let is_value = |i: &usize| Some(*i) != time && schema.field(*i).data_type().is_numeric();
        let numbers: Vec<usize> = (0..schema.fields().len()).filter(is_value).collect();
        let name = |i: &usize| schema.field(*i).name().as_str();
        let said: Vec<(Op, usize)> = numbers.iter().filter_map(|i| Some((direction(name(i))?, *i))).collect();
        // of values without times nothing but a name says that they are rates, if there is any other column
        let is_clear = numbers.len() == 1 && (time.is_some() || schema.fields().len() == 1);
        let plain = |w: &Wanted| w.find(schema).filter(|i| numbers.contains(i)).map(|i| vec![(Op::Write, i)]);
        let values = plain(&RATE).or_else(|| (!said.is_empty()).then_some(said)).or_else(|| plain(&SIZE));
        let values = values.or_else(|| is_clear.then(|| vec![(Op::Write, numbers[0])]))?;
        let direction_unknown = values.iter().all(|(_, i)| direction(name(i)).is_none());
        let is_bytes = values.iter().all(|(_, i)| SIZE.names.iter().any(|n| name(i).eq_ignore_ascii_case(n)));
        let starts = time.is_none_or(|i| name(&i) == "t_s" && values.iter().all(|(_, i)| name(i) == "bytes_per_s"));
        Some(Samples { time, values, direction_unknown, is_bytes, starts })
    }

    fn read(self, reader: Box<dyn RecordBatchReader + Send>, name: &str, how: &SeriesOptions) -> Result<Trace> {
        let mut readings = Readings {
            times: Vec::new(),
            columns: self.values.iter().map(|(op, _)| (*op, Vec::new())).collect(),
            stamp: how.stamp.unwrap_or(if self.starts { Stamp::Start } else { Stamp::End }),
            step_s: how.step_s,
            origin_s: 0,
            direction_unknown: self.direction_unknown,
            kind: how.kind.or(self.is_bytes.then_some(ValueKind::Bytes)),
        };
        let unit = how.unit_bytes.unwrap_or(1.0);
        let mut per_s = None;
        for batch in batches(reader, name) {
            let batch = batch?;
            let place = Place { name, batch: &batch, first: readings.times.len() };
            match self.time {
                Some(_) if batch.num_rows() == 0 => continue,
                Some(time) => {
                    let first = reals(&batch.column(time).slice(0, 1)).map_or(0.0, |x| x[0]);
                    let times = place.times(time, *per_s.get_or_insert(per_second(first, how.time_unit_s)))?;
                    if readings.times.is_empty() {
                        readings.origin_s = origin_of(times.first());
                    }
                    readings.times.extend(times.since(readings.origin_s));
                }
                None => {
                    let step_s = how.step_s.ok_or_else(|| untimed(&batch.schema()).in_file(name))?;
                    let first = readings.times.len();
                    readings.times.extend((first..first + batch.num_rows()).map(|k| k as f64 * step_s));
                }
            }
            for ((_, place_of), (_, values)) in self.values.iter().zip(&mut readings.columns) {
                let numbers = reals(batch.column(*place_of)).ok_or_else(|| place.wrong_type(*place_of, &RATE))?;
                values.extend(numbers.iter().map(|x| x * unit));
            }
        }
        readings.trace(FORMAT)
    }
}

/// The error of values without times.
fn untimed(schema: &Schema) -> Error {
    Error::new(ErrorKind::Malformed, format!("no times in the columns {}", names(schema)))
        .expected("a column time, or time_step, the seconds from one value to the next")
        .remedy("give time_step")
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

/// A batch, and where it is, for errors.
struct Place<'a> {
    name: &'a str,
    batch: &'a RecordBatch,
    /// Rows before it.
    first: usize,
}

/// The numbers of an array, NaN where there is none; `None` if it holds no numbers.
fn reals(array: &dyn Array) -> Option<Cow<'_, [f64]>> {
    macro_rules! all {
        ($type:ty) => {
            array.as_primitive::<$type>().iter().map(|x| x.map_or(f64::NAN, |x| x as f64)).collect()
        };
    }
    Some(Cow::Owned(match array.data_type() {
        DataType::Float64 if array.null_count() == 0 => {
            return Some(Cow::Borrowed(&array.as_primitive::<Float64Type>().values()[..]));
        }
        DataType::Float64 => all!(Float64Type),
        DataType::Float32 => all!(Float32Type),
        DataType::Int64 => all!(Int64Type),
        DataType::Int32 => all!(Int32Type),
        DataType::Int16 => all!(Int16Type),
        DataType::Int8 => all!(Int8Type),
        DataType::UInt64 => all!(UInt64Type),
        DataType::UInt32 => all!(UInt32Type),
        DataType::UInt16 => all!(UInt16Type),
        DataType::UInt8 => all!(UInt8Type),
        _ => return None,
    }))
}

/// Times, all of them known.
enum Times<'a> {
    /// Numbers of which so many are a second.
    Reals(Cow<'a, [f64]>, f64),
    /// Whole numbers of which so many are a second: what is after an origin keeps all of its digits.
    Wholes(Vec<i64>, i64),
}

impl Times<'_> {
    fn first(&self) -> f64 {
        match self {
            Times::Reals(all, per_s) => all.first().map_or(0.0, |t| t / per_s),
            Times::Wholes(all, per_s) => all.first().map_or(0.0, |t| *t as f64 / *per_s as f64),
        }
    }

    /// Seconds after `origin`.
    fn since(&self, origin: i64) -> Vec<f64> {
        match self {
            Times::Reals(all, per_s) => all.iter().map(|t| t / per_s - origin as f64).collect(),
            Times::Wholes(all, per_s) => {
                let zero = origin.saturating_mul(*per_s);
                all.iter().map(|t| t.saturating_sub(zero) as f64 / *per_s as f64).collect()
            }
        }
    }
}

impl Place<'_> {
    fn column(&self, wanted: &Wanted) -> Option<usize> {
        wanted.find(&self.batch.schema())
    }

    fn ranks(&self) -> Result<Vec<u32>> {
        let Some(column) = self.column(&RANK) else { return Ok(vec![0; self.batch.num_rows()]) };
        let ranks = self.wholes(column, &RANK, Some(0))?;
        let rank = |(i, r): (usize, &u64)| u32::try_from(*r).map_err(|_| self.wrong(i, column, &r.to_string(), &RANK));
        ranks.iter().enumerate().map(rank).collect()
    }

    fn wrong(&self, i: usize, column: usize, value: &str, wanted: &Wanted) -> Error {
        let found = format!("{} is {value}", self.batch.schema().field(column).name());
        bad_row(self.name, self.first + i, found).expected(wanted.holds)
    }

    fn wrong_type(&self, column: usize, wanted: &Wanted) -> Error {
        let schema = self.batch.schema();
        let field = schema.field(column);
        Error::new(ErrorKind::Malformed, format!("column {} is of type {}", field.name(), field.data_type()))
            .expected(wanted.holds)
            .in_file(self.name)
    }

    /// Times; numbers are so many a second.
    fn times(&self, column: usize, per_s: i64) -> Result<Times<'_>> {
        let array = self.batch.column(column);
        let whole = |per_s: i64| {
            let plain = array.to_data().into_builder().data_type(DataType::Int64).build();
            plain.map(|p| (make_array(p).as_primitive::<Int64Type>().values().to_vec(), per_s))
        };
        let wholes = match array.data_type() {
            DataType::Timestamp(unit, _) | DataType::Duration(unit) => Some(whole(match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => 1_000_000_000,
            })),
            DataType::Int64 => Some(whole(per_s)),
            _ => None,
        };
        let times = match wholes.transpose() {
            Ok(Some((all, per_s))) => Times::Wholes(all, per_s),
            Ok(None) => Times::Reals(reals(array).ok_or_else(|| self.wrong_type(column, &START))?, per_s as f64),
            Err(e) => return Err(Error::new(ErrorKind::Malformed, e.to_string()).in_file(self.name)),
        };
        // NaN is no time
        let is_time = |t: f64| t.abs() <= MOST_TIME_S;
        let bad = match &times {
            Times::Reals(all, per_s) => all.iter().position(|t| !is_time(t / per_s)),
            Times::Wholes(all, per_s) => {
                let unknown = |i: usize| array.null_count() > 0 && array.is_null(i);
                (0..all.len()).find(|i| unknown(*i) || !is_time(all[*i] as f64 / *per_s as f64))
            }
        };
        let Some(i) = bad else { return Ok(times) };
        let value = match &times {
            _ if array.is_null(i) => "unknown".to_owned(),
            Times::Reals(all, _) => all[i].to_string(),
            Times::Wholes(all, _) => all[i].to_string(),
        };
        Err(self.wrong(i, column, &value, &START))
    }

    /// Amounts from 0, all of them known.
    fn amounts(&self, column: usize, wanted: &Wanted) -> Result<Cow<'_, [f64]>> {
        let all = reals(self.batch.column(column)).ok_or_else(|| self.wrong_type(column, wanted))?;
        match all.iter().position(|x| !(*x >= 0.0 && x.is_finite())) {
            Some(i) => Err(self.wrong(i, column, &all[i].to_string(), wanted)),
            None => Ok(all),
        }
    }

    /// Whole numbers from 0, `unknown` where there is none; borrowed if they are of 64 bits, unsigned and all known.
    fn wholes(&self, column: usize, wanted: &Wanted, unknown: Option<u64>) -> Result<Cow<'_, [u64]>> {
        let array = self.batch.column(column);
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
            _ => return Err(self.wrong_type(column, wanted)),
        };
        let one = |(i, value): (usize, Option<Option<u64>>)| match value {
            Some(Some(x)) => Ok(x),
            Some(None) => Err(self.wrong(i, column, "no such number", wanted)),
            None => unknown.ok_or_else(|| self.wrong(i, column, "unknown", wanted)),
        };
        values.into_iter().enumerate().map(one).collect::<Result<Vec<u64>>>().map(Cow::Owned)
    }

    /// For each row the number that `each` gives to its text; `None` where there is none.
    fn texts<T: Copy>(
        &self,
        column: usize,
        wanted: &Wanted,
        each: &mut dyn FnMut(usize, Option<&str>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let array = self.batch.column(column);
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
                    _ => Err(self.wrong_type(column, wanted)),
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
            _ => Err(self.wrong_type(column, wanted)),
        }
    }

    fn ops(&self, column: usize) -> Result<Vec<Op>> {
        const ALL: [Op; 7] = [Op::Read, Op::Write, Op::Open, Op::Close, Op::Seek, Op::Sync, Op::Other];
        self.texts(column, &OP, &mut |i, text| {
            let named = |t: &str| ALL.into_iter().find(|op| t.eq_ignore_ascii_case(op.name()));
            let wrong =
                || self.wrong(i, column, &text.map_or("unknown".into(), |t| format!("`{}`", shortened(t))), &OP);
            text.and_then(named).ok_or_else(wrong)
        })
    }

    fn files(&self, column: usize, files: &mut iophase::record::Files) -> Result<Vec<FileId>> {
        self.texts(column, &FILE, &mut |_, text| {
            Ok(text.filter(|t| !t.is_empty()).map_or(FileId::NONE, |t| files.intern(t)))
        })
    }
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}
