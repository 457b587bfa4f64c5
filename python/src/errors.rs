//! Errors of the library as exceptions of the package.

use std::io;

use iophase::{Error, ErrorKind, Place};
use pyo3::exceptions::{PyFileNotFoundError, PyPermissionError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The class of this name in `iophase._errors`.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("iophase._errors")?.getattr(name)?.cast_into::<PyType>()?)
}

/// The exception for an error.
pub fn exception(py: Python<'_>, e: &Error) -> PyErr {
    if e.kind() == ErrorKind::Io
        && let Some(path) = e.path()
        && let Err(refused) = std::fs::metadata(path)
    {
        let arguments = (refused.raw_os_error(), e.found().to_owned(), path.to_owned());
        match refused.kind() {
            io::ErrorKind::NotFound => return PyFileNotFoundError::new_err(arguments),
            io::ErrorKind::PermissionDenied => return PyPermissionError::new_err(arguments),
            _ => {}
        }
    }
    let name = match e.kind() {
        ErrorKind::Limit => "LimitError",
        ErrorKind::Empty => "EmptyError",
        ErrorKind::Usage => "UsageError",
        ErrorKind::Output => "OutputError",
        _ => "FormatError",
    };
    let place = e.place().map(|p| p.to_string());
    let remedy = e.suggestion().map(|r| r.to_string());
    let parts = (e.to_string(), e.path(), place, e.found(), e.expectation(), remedy);
    match class(py, name).and_then(|c| c.call1(parts)) {
        Ok(value) => PyErr::from_value(value),
        Err(failed) => failed,
    }
}

/// Wrong use of a function.
pub fn usage(found: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, found)
}

/// The content of a table is not what it has to be, at a row.
pub fn bad_row(name: &str, row: usize, found: impl Into<String>) -> Error {
    Error::malformed(Place::Record(row as u64), found).in_file(name)
}

/// An exception for a panic: a bug of this package.
pub fn bug() -> PyErr {
    PyRuntimeError::new_err("iophase failed inside; this is a bug, and the trace that shows it would help to mend it")
}
