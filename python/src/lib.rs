//! The native part of the package `iophase`: answers by the arguments of the program, tables of Arrow, and the program itself.
//!
//! The program is part of the library, so that module and command are one file in the wheel, and names, defaults and checks of
//! keywords are those of the command line.

mod answers;
mod arrow;
mod errors;
mod many;
mod predictor;
mod rows;
mod table;
mod trace;
mod work;

use pyo3::prelude::*;

/// Functions and classes for `iophase/*.py`.
#[pymodule(gil_used = false)]
mod _iophase {
    use std::ffi::OsString;
    use std::sync::Arc;

    use iophase::cli;
    use iophase::formats::SeriesOptions;
    use iophase::internals::render::json;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::answers::{Answer, answer, check_page, convert_rows, generate_rows, open, report_page, store_page};
    #[pymodule_export]
    use super::many::many;
    #[pymodule_export]
    use super::predictor::Predictor;
    #[pymodule_export]
    use super::table::{Column, Table};
    #[pymodule_export]
    use super::trace::{PyTrace, of_rows};
    use super::{arrow, errors, rows, trace, work};

    #[pymodule_export]
    const __VERSION__: &str = env!("CARGO_PKG_VERSION");

    /// Runs the program on its arguments, the first of which is its name; gives the exit code.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| cli::run_with(&arguments))
    }

    /// The trace of the rows of a table of another package.
    #[pyfunction]
    #[pyo3(signature = (data, name, ranks=None))]
    fn of_arrow(py: Python<'_>, data: &Bound<'_, PyAny>, name: String, ranks: Option<u64>) -> PyResult<PyTrace> {
        let reader = arrow::import(data)?;
        let rows = work::run(py, None, None, move |_| rows::trace(reader, &name, ranks, &SeriesOptions::default()))?;
        Ok(PyTrace(Arc::new(trace::Loaded::of(rows, trace::Made::Rows, None))))
    }

    /// The JSON Schema of an output.
    #[pyfunction]
    fn schema(py: Python<'_>, name: &str) -> PyResult<String> {
        let unknown = || errors::usage(format!("no schema is called {name}")).expected(json::SCHEMAS.join(", "));
        json::schema(name).ok_or_else(|| errors::exception(py, &unknown()))
    }

    /// The options of a command as JSON.
    #[pyfunction]
    fn options(py: Python<'_>, command: &str) -> PyResult<String> {
        let found = cli::help::options(command);
        let found = found.ok_or_else(|| errors::exception(py, &errors::usage(format!("no command {command}"))))?;
        Ok(found.to_string())
    }
}
