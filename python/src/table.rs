//! Tables: named columns that other packages read without a copy.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch, UInt64Array, make_array,
};
use arrow_buffer::Buffer;
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyTuple};

use crate::arrow;

/// Rows that a notebook shows.
const SHOWN: usize = 20;

/// A value of a column.
enum Cell<'a> {
    Null,
    Unsigned(u64),
    Signed(i64),
    Real(f64),
    Flag(bool),
    Text(&'a str),
}

impl<'a> Cell<'a> {
    fn of(array: &'a dyn Array, i: usize) -> Cell<'a> {
        if array.is_null(i) {
            return Cell::Null;
        }
        match array.data_type() {
            DataType::UInt8 => Cell::Unsigned(array.as_primitive::<UInt8Type>().value(i).into()),
            DataType::UInt32 => Cell::Unsigned(array.as_primitive::<UInt32Type>().value(i).into()),
            DataType::UInt64 => Cell::Unsigned(array.as_primitive::<UInt64Type>().value(i)),
            DataType::Int64 => Cell::Signed(array.as_primitive::<Int64Type>().value(i)),
            DataType::Float64 => Cell::Real(array.as_primitive::<Float64Type>().value(i)),
            DataType::Boolean => Cell::Flag(array.as_boolean().value(i)),
            DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(i)),
            DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(i)),
            DataType::Dictionary(..) => {
                let keys = array.as_any_dictionary();
                let key = match keys.keys().data_type() {
                    DataType::UInt8 => usize::from(keys.keys().as_primitive::<UInt8Type>().value(i)),
                    _ => keys.keys().as_primitive::<UInt32Type>().value(i) as usize,
                };
                Cell::of(keys.values().as_ref(), key)
            }
            _ => Cell::Null,
        }
    }

    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Cell::Null => py.None().into_bound(py),
            Cell::Unsigned(x) => x.into_pyobject(py)?.into_any(),
            Cell::Signed(x) => x.into_pyobject(py)?.into_any(),
            Cell::Real(x) => x.into_pyobject(py)?.into_any(),
            Cell::Flag(x) => x.into_pyobject(py)?.to_owned().into_any(),
            Cell::Text(x) => x.into_pyobject(py)?.into_any(),
        })
    }

    fn html(&self) -> String {
        match self {
            Cell::Null => "<td></td>".into(),
            Cell::Unsigned(x) => format!("<td style=\"text-align:right\">{x}</td>"),
            Cell::Signed(x) => format!("<td style=\"text-align:right\">{x}</td>"),
            Cell::Real(x) => format!("<td style=\"text-align:right\">{x}</td>"),
            Cell::Flag(x) => format!("<td>{x}</td>"),
            Cell::Text(x) => format!("<td style=\"text-align:left\">{}</td>", escaped(x)),
        }
    }
}

/// Text inside HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Columns on their way to a [`Table`].
#[derive(Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// Adds a column.
    pub fn push(&mut self, name: &str, array: ArrayRef) {
        self.fields.push(Field::new(name, array.data_type().clone(), array.is_nullable()));
        self.arrays.push(array);
    }

    /// Adds a column of real numbers.
    pub fn reals(&mut self, name: &str, values: Vec<f64>) {
        self.push(name, Arc::new(Float64Array::from(values)));
    }

    /// Adds a column of real numbers that may be unknown.
    pub fn some_reals(&mut self, name: &str, values: Vec<Option<f64>>) {
        self.push_nullable(name, Arc::new(Float64Array::from(values)));
    }

    /// Adds a column of unsigned numbers that may be unknown.
    pub fn some_counts(&mut self, name: &str, values: Vec<Option<u64>>) {
        self.push_nullable(name, Arc::new(UInt64Array::from(values)));
    }

    /// Adds a column of numbers that may be unknown.
    pub fn some_wholes(&mut self, name: &str, values: Vec<Option<i64>>) {
        self.push_nullable(name, Arc::new(Int64Array::from(values)));
    }

    /// Adds a column of yes and no that may be unknown.
    pub fn some_flags(&mut self, name: &str, values: Vec<Option<bool>>) {
        self.push_nullable(name, Arc::new(BooleanArray::from(values)));
    }

    /// Adds a column of texts that may be unknown.
    pub fn some_texts(&mut self, name: &str, values: Vec<Option<String>>) {
        self.push_nullable(name, Arc::new(LargeStringArray::from(values)));
    }

    fn push_nullable(&mut self, name: &str, array: ArrayRef) {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
    }

    /// The table.
    pub fn finish(self) -> PyResult<Table> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays);
        batch.map(|batch| Table { batch }).map_err(|e| PyValueError::new_err(e.to_string()))
    }
}

/// Columns of equal length, as Arrow has them.
#[pyclass(frozen, module = "iophase", name = "Table")]
#[derive(Clone)]
pub struct Table {
    batch: RecordBatch,
}

/// The name of a type as Arrow spells it.
fn type_name(t: &DataType) -> String {
    match t {
        DataType::Dictionary(keys, values) => format!("dictionary<{}, {}>", type_name(keys), type_name(values)),
        DataType::LargeUtf8 => "large_utf8".into(),
        other => other.to_string().to_lowercase(),
    }
}

fn type_named(name: &str) -> Option<DataType> {
    Some(match name {
        "uint8" => DataType::UInt8,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "int64" => DataType::Int64,
        "float64" => DataType::Float64,
        "boolean" => DataType::Boolean,
        "utf8" => DataType::Utf8,
        "large_utf8" => DataType::LargeUtf8,
        "dictionary<uint8, utf8>" => DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8)),
        "dictionary<uint32, large_utf8>" => {
            DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::LargeUtf8))
        }
        _ => return time_named(name),
    })
}

/// A type of times, such as `duration[ms]`.
fn time_named(name: &str) -> Option<DataType> {
    let (kind, unit) = name.strip_suffix(']')?.split_once('[')?;
    let unit = match unit {
        "s" => TimeUnit::Second,
        "ms" => TimeUnit::Millisecond,
        "us" => TimeUnit::Microsecond,
        "ns" => TimeUnit::Nanosecond,
        _ => return None,
    };
    match kind {
        "timestamp" => Some(DataType::Timestamp(unit, None)),
        "duration" => Some(DataType::Duration(unit)),
        _ => None,
    }
}

/// The buffers of a column: length, bits of known values, data, dictionary.
fn packed<'py>(py: Python<'py>, data: &ArrayData) -> PyResult<Bound<'py, PyTuple>> {
    let nulls = data.nulls().map(|n| PyBytes::new(py, &n.inner().sliced()));
    let buffers: Vec<_> = data.buffers().iter().map(|b| PyBytes::new(py, b)).collect();
    let children = data.child_data().iter().map(|c| packed(py, c)).collect::<PyResult<Vec<_>>>()?;
    (data.len(), data.offset(), nulls, buffers, children).into_pyobject(py)
}

fn unpacked(of: &DataType, parts: &Bound<'_, PyAny>) -> PyResult<ArrayData> {
    type Parts<'py> = (usize, usize, Option<Vec<u8>>, Vec<Vec<u8>>, Vec<Bound<'py, PyAny>>);
    let (len, offset, nulls, buffers, children): Parts<'_> = parts.extract()?;
    let mut data = ArrayDataBuilder::new(of.clone()).len(len).offset(offset);
    data = data.null_bit_buffer(nulls.map(Buffer::from_vec)).buffers(buffers.into_iter().map(aligned).collect());
    if let DataType::Dictionary(_, values) = of {
        let children = children.iter().map(|c| unpacked(values, c)).collect::<PyResult<Vec<_>>>()?;
        data = data.child_data(children);
    }
    data.build().map_err(|e| PyValueError::new_err(e.to_string()))
}

/// The bytes at an address that suits every type.
fn aligned(bytes: Vec<u8>) -> Buffer {
    Buffer::from_slice_ref(&bytes)
}

impl Table {
    /// A column by its name.
    pub fn column(&self, name: &str) -> PyResult<Column> {
        let schema = self.batch.schema();
        let Ok(i) = schema.index_of(name) else {
            let known = self.columns().join(", ");
            return Err(PyKeyError::new_err(format!("no column is called {name}; there are: {known}")));
        };
        Ok(Column { field: schema.field(i).clone(), array: self.batch.column(i).clone() })
    }

    fn row<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            row.set_item(field.name(), Cell::of(column.as_ref(), i).object(py)?)?;
        }
        Ok(row)
    }
}

/// The rows of a table, one after the other.
#[pyclass(module = "iophase._iophase")]
pub struct TableRows {
    table: Table,
    next: usize,
}

#[pymethods]
impl TableRows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let i = self.next;
        self.next += 1;
        (i < self.table.batch.num_rows()).then(|| self.table.row(py, i)).transpose()
    }
}

#[pymethods]
impl Table {
    /// The rows as a stream of Arrow; another schema than its own cannot be had.
    #[pyo3(signature = (requested_schema=None))]
    #[allow(unused_variables)]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::stream(py, &self.batch)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.batch.schema())
    }

    /// Names of the columns, and their types as Arrow spells them.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let names = PyDict::new(py);
        for field in self.batch.schema().fields() {
            names.set_item(field.name(), type_name(field.data_type()))?;
        }
        Ok(names)
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|f| f.name().clone()).collect()
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __getitem__(&self, name: &str) -> PyResult<Column> {
        self.column(name)
    }

    /// The rows as dicts: `len()` of them, and what pandas makes a frame of.
    fn __iter__(&self) -> TableRows {
        TableRows { table: self.clone(), next: 0 }
    }

    /// Names of the columns, so that `dict(table)` has them.
    fn keys(&self) -> Vec<String> {
        self.columns()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.batch.schema().index_of(name).is_ok()
    }

    /// The rows as a list of dicts.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, (0..self.batch.num_rows()).map(|i| self.row(py, i)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The columns as a dict of lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for name in self.columns() {
            columns.set_item(&name, self.__getitem__(&name)?.to_list(py)?)?;
        }
        Ok(columns)
    }

    /// A pandas.DataFrame. Numbers share their memory with this table where pandas allows it.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("iophase._convert")?.call_method1("to_pandas", (slf,))
    }

    /// A polars.DataFrame, without a copy of the numbers.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("iophase._convert")?.call_method1("to_polars", (slf,))
    }

    /// A pyarrow.Table, without a copy.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("iophase._convert")?.call_method1("to_pyarrow", (slf,))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Table>().is_ok_and(|other| self.batch == other.get().batch)
    }

    fn __repr__(&self) -> String {
        format!("<iophase.Table: {} rows of {}>", self.batch.num_rows(), self.columns().join(", "))
    }

    fn _repr_html_(&self) -> String {
        let head: String = self.columns().iter().map(|c| format!("<th>{}</th>", escaped(c))).collect();
        let row = |i: usize| {
            let cells: String = self.batch.columns().iter().map(|c| Cell::of(c.as_ref(), i).html()).collect();
            format!("<tr>{cells}</tr>")
        };
        let n = self.batch.num_rows();
        let rows: String = (0..n.min(SHOWN)).map(row).collect();
        let more = if n > SHOWN { format!("<p>{SHOWN} of {n} rows</p>") } else { String::new() };
        format!("<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut columns = Vec::new();
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            columns.push((
                field.name().clone(),
                type_name(field.data_type()),
                field.is_nullable(),
                packed(py, &array.to_data())?,
            ));
        }
        let make = py.get_type::<Table>().getattr("_of_buffers")?;
        (make, (columns,)).into_pyobject(py)
    }

    #[staticmethod]
    fn _of_buffers(columns: Vec<(String, String, bool, Bound<'_, PyAny>)>) -> PyResult<Table> {
        let mut made = Columns::default();
        for (name, of, nullable, parts) in columns {
            let of = type_named(&of).ok_or_else(|| PyValueError::new_err(format!("no column has the type {of}")))?;
            made.fields.push(Field::new(name, of.clone(), nullable));
            made.arrays.push(make_array(unpacked(&of, &parts)?));
        }
        made.finish()
    }

    /// A table of lists of numbers, texts or None.
    #[staticmethod]
    fn _of_lists(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Table> {
        let mut made = Columns::default();
        for (name, of, values) in columns {
            match of.as_str() {
                "float64" => made.some_reals(&name, values.extract()?),
                "uint64" => made.some_counts(&name, values.extract()?),
                "boolean" => made.some_flags(&name, values.extract()?),
                _ => made.some_texts(&name, values.extract()?),
            }
        }
        made.finish()
    }
}

/// A column of a table.
#[pyclass(frozen, sequence, module = "iophase", name = "Column")]
pub struct Column {
    field: Field,
    array: ArrayRef,
}

#[pymethods]
impl Column {
    /// The values as an array of Arrow; another type than its own cannot be had.
    #[pyo3(signature = (requested_schema=None))]
    #[allow(unused_variables)]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        arrow::array(py, &self.field, &self.array)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::field(py, &self.field)
    }

    /// Name of the column.
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// Type of the values as Arrow spells it.
    #[getter]
    fn r#type(&self) -> String {
        type_name(self.field.data_type())
    }

    /// Number of unknown values.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, i: isize) -> PyResult<Bound<'py, PyAny>> {
        let n = self.array.len();
        let at = if i < 0 { n.checked_sub(i.unsigned_abs()) } else { Some(i.unsigned_abs()) };
        let at = at.filter(|at| *at < n).ok_or_else(|| PyIndexError::new_err(format!("no value {i} of {n}")))?;
        Cell::of(self.array.as_ref(), at).object(py)
    }

    /// The values; None where they are unknown.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = (0..self.array.len()).map(|i| Cell::of(self.array.as_ref(), i).object(py));
        PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// A numpy.ndarray: over the memory of the column if it holds numbers and all are known.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("iophase._convert")?.call_method1("to_numpy", (slf, dtype, copy))
    }

    /// The memory of a column of numbers, in NumPy's words.
    #[getter]
    fn _memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let code = match self.array.data_type() {
            DataType::UInt8 => "|u1",
            DataType::UInt32 => "<u4",
            DataType::UInt64 => "<u8",
            DataType::Int64 => "<i8",
            DataType::Float64 => "<f8",
            other => return Err(PyTypeError::new_err(format!("a column of {} is no number", type_name(other)))),
        };
        let memory = PyDict::new(py);
        memory.set_item("shape", (self.array.len(),))?;
        memory.set_item("typestr", code)?;
        memory.set_item("data", (arrow::address(&self.array), true))?;
        memory.set_item("version", 3)?;
        Ok(memory)
    }

    /// For each value whether it is unknown; None if all are known.
    fn _unknown(&self) -> Option<Vec<bool>> {
        (self.array.null_count() > 0).then(|| (0..self.array.len()).map(|i| self.array.is_null(i)).collect())
    }

    /// The keys and the values of a dictionary; None if it is none.
    fn _dictionary(&self) -> Option<(Column, Column)> {
        let dictionary = self.array.as_any_dictionary_opt()?;
        let column = |name: &str, array: ArrayRef| Column {
            field: Field::new(name, array.data_type().clone(), array.is_nullable()),
            array,
        };
        let keys = make_array(dictionary.keys().to_data());
        Some((column("keys", keys), column("values", dictionary.values().clone())))
    }

    fn __repr__(&self) -> String {
        format!("<iophase.Column {}: {} values of {}>", self.field.name(), self.array.len(), self.r#type())
    }
}
