//! Memory that is shared with other packages: the capsules of Arrow's C interface, and columns of a trace as buffers.
//!
//! All unsafe code of this crate is here. Each block says why it is sound.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray, make_array};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use bytes::Bytes;
use iophase::record::{FileId, Op};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Values whose memory other packages may read as it is.
///
/// # Safety
/// The type has no padding, and every value of it is a plain number of its size.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

// SAFETY: numbers of the machine.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for i64 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: `repr(transparent)` over `u32`.
unsafe impl Plain for FileId {}
// SAFETY: `repr(u8)` without fields.
unsafe impl Plain for Op {}

/// A column inside something that is kept alive as long as a buffer of it is in use.
struct Held<O, T: 'static> {
    owner: Arc<O>,
    column: fn(&O) -> &[T],
}

impl<O, T: Plain> AsRef<[u8]> for Held<O, T> {
    fn as_ref(&self) -> &[u8] {
        let values = (self.column)(&self.owner);
        // SAFETY: `Plain` types are initialised bytes without padding; the slice borrows from `self.owner`, which nothing changes
        // while an `Arc` of it exists, and has the length of the values in bytes.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }
    }
}

/// A buffer over a column of `owner`, without a copy. The owner lives as long as the buffer.
pub fn buffer<O: Send + Sync + 'static, T: Plain>(owner: &Arc<O>, column: fn(&O) -> &[T]) -> Buffer {
    Buffer::from(Bytes::from_owner(Held { owner: owner.clone(), column }))
}

fn failed(e: &ArrowError) -> PyErr {
    PyValueError::new_err(e.to_string())
}

/// The capsule of a stream with one batch.
pub fn stream<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// The capsule of a schema.
pub fn schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(|e| failed(&e))?;
    PyCapsule::new_with_value(py, exported, SCHEMA)
}

/// The capsule of the type of a column.
pub fn field<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(field).map_err(|e| failed(&e))?;
    PyCapsule::new_with_value(py, exported, SCHEMA)
}

/// The capsules of a column.
pub fn array<'py>(py: Python<'py>, of: &Field, array: &ArrayRef) -> PyResult<Bound<'py, PyTuple>> {
    let exported = FFI_ArrowArray::new(&array.to_data());
    (field(py, of)?, PyCapsule::new_with_value(py, exported, ARRAY)?).into_pyobject(py)
}

/// Address of the first value of a column, for `__array_interface__`.
pub fn address(array: &ArrayRef) -> usize {
    array.to_data().buffers().first().map_or(0, |b| b.as_ptr() as usize)
}

fn capsule<'py>(object: &Bound<'py, PyAny>, name: &CStr) -> PyResult<Bound<'py, PyCapsule>> {
    let capsule = object.cast::<PyCapsule>().map_err(|_| PyTypeError::new_err("no Arrow capsule"))?;
    let _ = capsule.pointer_checked(Some(name))?;
    Ok(capsule.clone())
}

/// Takes the tables of an object with `__arrow_c_stream__`, or the one of an object with `__arrow_c_array__`.
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    if object.hasattr("__arrow_c_stream__")? {
        let stream = capsule(&object.call_method0("__arrow_c_stream__")?, STREAM)?;
        let pointer = stream.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name points to an initialised stream, by Arrow's PyCapsule interface; the reader takes the
        // content and marks the stream in the capsule as released.
        let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(|e| failed(&e))?;
        return Ok(Box::new(reader));
    }
    let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let (schema, array) = (capsule(&pair.get_item(0)?, SCHEMA)?, capsule(&pair.get_item(1)?, ARRAY)?);
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names point to initialised structures, by the same interface; `from_raw` moves the array out and
    // marks the one in the capsule as released, the schema is only read.
    let data =
        unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) }.map_err(|e| failed(&e))?;
    if !matches!(data.data_type(), DataType::Struct(_)) {
        return Err(PyTypeError::new_err("the array is no table: it is not of a struct type"));
    }
    let batch = RecordBatch::from(StructArray::from(make_array(data).to_data()));
    Ok(Box::new(RecordBatchIterator::new([Ok(batch.clone())], batch.schema())))
}
