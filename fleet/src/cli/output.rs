//! Standard output, messages and files.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use super::{Form, is_gone};
use iophase::internals::draft::{self, Draft};
use iophase::{Error, ErrorKind, Result};
use iophase_fleet::query::{self, Answer};
use iophase_fleet::tables::Description;

/// Writes text to standard output.
///
/// # Errors
/// [`ErrorKind::Output`] unless the reader is gone.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if !is_gone(&e) => Err(Error::new(ErrorKind::Output, e.to_string())),
        _ => Ok(()),
    }
}

/// A message for people, on standard error.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// An error for people.
pub fn error(e: &Error) {
    message(&format!("iophase-fleet: {e}"));
}

/// Writes a file as a whole; `-` is standard output.
///
/// # Errors
/// [`ErrorKind::Usage`] if a trace is in its place, [`ErrorKind::Output`].
pub fn file(path: &Path, text: &str) -> Result<()> {
    if path.as_os_str() == "-" { print(text) } else { draft::store(path, text.as_bytes()) }
}

/// Writes an answer to where it is wanted.
///
/// # Errors
/// [`ErrorKind::Usage`] if a trace is in its place, [`ErrorKind::Output`].
pub fn answer(answer: &Answer, form: &Form) -> Result<()> {
    let failed = |e: io::Error| Error::new(ErrorKind::Output, e.to_string());
    match &form.output {
        Some(path) => {
            let mut file = Draft::create(path)?;
            answer.write(form.format, &mut file)?;
            file.publish()
        }
        None => {
            let mut bytes = Vec::new();
            answer.write(form.format, &mut bytes)?;
            match io::stdout().lock().write_all(&bytes) {
                Err(e) if !is_gone(&e) => Err(failed(e)),
                _ => Ok(()),
            }
        }
    }
}

/// The named questions and what they answer.
pub fn questions() -> String {
    let mut out = String::new();
    for (name, about) in query::list() {
        // writing to a string cannot fail
        let _ = writeln!(out, "{name}\n    {about}");
    }
    out
}

/// Tables and columns.
///
/// # Errors
/// [`ErrorKind::Usage`] for a table that does not exist.
pub fn schema(tables: &[Description], wanted: Option<&str>) -> Result<String> {
    let mut out = String::new();
    for table in tables.iter().filter(|t| wanted.is_none_or(|w| w == t.name)) {
        let _ = writeln!(out, "{}: {}", table.name, table.doc);
        for c in &table.columns {
            let _ = writeln!(out, "    {:<22} {:<26} {}", c.name, short(&c.data_type.to_string()), c.doc);
        }
        let _ = writeln!(out);
    }
    if out.is_empty() {
        let names: Vec<&str> = tables.iter().map(|t| t.name).collect();
        let text = format!("no table is called {}", wanted.unwrap_or_default());
        return Err(Error::new(ErrorKind::Usage, text).expected(format!("one of {}", names.join(", "))));
    }
    Ok(out)
}

fn short(data_type: &str) -> String {
    match data_type.split_once('(') {
        Some(("Timestamp", _)) => "timestamp (us, UTC)".into(),
        Some(("List", _)) => "list of text".into(),
        Some(("Map", _)) => "map of text to number".into(),
        _ if data_type == "Utf8" => "text".into(),
        _ => data_type.to_owned(),
    }
}
