//! Writers of trace formats: rows to bytes on disk.
//!
//! ```
//! use iophase::formats::write::{write_stream, writer};
//!
//! let trace = iophase::read("data/stable.darshan")?;
//! let mut csv = Vec::new();
//! let written = write_stream(writer("csv")?, &trace, &mut csv)?;
//! assert_eq!(written.rows, trace.data.len() as u64);
//! # Ok::<(), iophase::Error>(())
//! ```
//!
//! A writer is a type in its format's folder and one line in [`WRITERS`]. It goes through the rows once and hands bytes to a
//! [`Sink`] in pieces, so that its memory does not grow with the rows. Fields that a format cannot hold are listed in [`Written::notes`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::sealed::Sealed;
use super::{custom, radar, strace, tmio};
use crate::draft::{Content, Draft, Part, beside, check_place, mark};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Rows, Warning};

/// Every format that can be written.
pub const WRITERS: &[&dyn Writer] = &[
    &custom::write::Csv,
    &custom::write::JsonLines,
    &radar::write::Text,
    &tmio::write_json::JsonLines,
    &tmio::write_msgpack::MessagePack,
    &strace::write::Files,
];

impl Sealed for custom::write::Csv {}
impl Sealed for custom::write::JsonLines {}
impl Sealed for radar::write::Text {}
impl Sealed for tmio::write_json::JsonLines {}
impl Sealed for tmio::write_msgpack::MessagePack {}
impl Sealed for strace::write::Files {}

/// Bytes that a writer gathers before it hands them on.
pub(crate) const PIECE: usize = 256 << 10;

/// A format that can be written.
pub trait Writer: Sealed + Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;

    /// How the names of its files end.
    fn ending(&self) -> &'static str;

    /// True if a trace is a folder of files.
    fn is_folder(&self) -> bool {
        false
    }

    /// Writes all rows.
    ///
    /// # Errors
    /// Those of the sink and of the rows; [`ErrorKind::Output`] for a value that the format cannot express in any way.
    fn write(&self, rows: &dyn Rows, sink: &mut dyn Sink) -> Result<Written>;
}

/// Where bytes go.
pub trait Sink {
    /// Appends to the file of this name in a folder, or to the one file there is.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if that fails.
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()>;
}

/// Report of a writer.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Written {
    /// Rows that are in the output.
    pub rows: u64,
    /// Warnings about fields that the format could not hold.
    pub notes: Vec<Warning>,
}

impl Written {
    /// Adds a note if it concerns anything.
    pub(crate) fn note(&mut self, count: u64, code: &str, message: impl FnOnce(u64) -> String) {
        if count > 0 {
            self.notes.push(Warning::new(code, message(count)));
        }
    }
}

/// The writer called `name`.
///
/// # Errors
/// [`ErrorKind::Usage`] with the list of names.
pub fn writer(name: &str) -> Result<&'static dyn Writer> {
    WRITERS.iter().copied().find(|w| w.name() == name).ok_or_else(|| {
        let names: Vec<_> = WRITERS.iter().map(|w| w.name()).collect();
        Error::new(ErrorKind::Usage, format!("no format that can be written is called {name}"))
            .expected(format!("one of {}", names.join(", ")))
    })
}

/// The writer whose files end as `path` does; of several the one with the longest ending.
///
/// # Errors
/// [`ErrorKind::Usage`] with the list of endings.
pub fn writer_for(path: &Path) -> Result<&'static dyn Writer> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let fitting = WRITERS.iter().copied().filter(|w| name.ends_with(w.ending()));
    fitting.max_by_key(|w| w.ending().len()).ok_or_else(|| {
        let endings: Vec<_> = WRITERS.iter().map(|w| w.ending()).collect();
        Error::new(ErrorKind::Usage, "cannot infer the output format from the file name")
            .expected(format!("a name that ends in one of {}", endings.join(", ")))
            .remedy("name the format")
            .in_file(path.display().to_string())
    })
}

/// Writes rows to a file or folder. It appears under its name when it is whole; before that nothing of that name is touched.
/// An existing file is replaced unless it holds a trace that this program did not write; an existing folder only if all it holds are
/// files of this format that it wrote.
///
/// # Errors
/// [`ErrorKind::Empty`] if there is no row, [`ErrorKind::Usage`] if a trace would be replaced, [`ErrorKind::Output`] if it cannot be
/// written. Then nothing is left behind.
pub fn write(writer: &dyn Writer, rows: &dyn Rows, path: &Path) -> Result<Written> {
    let named = |e: Error| e.in_file(path.display().to_string());
    if !writer.is_folder() {
        let mut sink = Stream(Draft::of_trace(path)?);
        let written = write_all(writer, rows, &mut sink).map_err(named)?;
        sink.0.publish()?;
        return Ok(written);
    }
    let drafts = Drafts::create(writer, path).map_err(named)?;
    let written = write_all(writer, rows, &mut Folder(drafts.draft.path().to_owned())).map_err(named)?;
    drafts.publish(writer).map_err(named)?;
    Ok(written)
}

/// Writes rows, of which there has to be one.
fn write_all(writer: &dyn Writer, rows: &dyn Rows, sink: &mut dyn Sink) -> Result<Written> {
    writer.write(rows, sink).and_then(|w| if w.rows > 0 { Ok(w) } else { Err(empty()) })
}

/// Writes rows of a format that is one file to a stream.
///
/// # Errors
/// As [`write()`]; [`ErrorKind::Usage`] for a format that is a folder.
pub fn write_stream(writer: &dyn Writer, rows: &dyn Rows, stream: &mut dyn Write) -> Result<Written> {
    if writer.is_folder() {
        return Err(Error::new(ErrorKind::Usage, format!("{} is a folder of files", writer.name()))
            .remedy(format!("name a folder, such as trace{}", writer.ending())));
    }
    let written = writer.write(rows, &mut Stream(&mut *stream))?;
    if written.rows == 0 {
        return Err(empty());
    }
    stream.flush().map_err(failed)?;
    Ok(written)
}

fn empty() -> Error {
    Error::new(ErrorKind::Empty, "nothing to write: no record is left").remedy("widen the selection")
}

fn failed(e: io::Error) -> Error {
    Error::new(ErrorKind::Output, e.to_string()).remedy("choose a path that can be written")
}

/// A folder in the making, under another name beside its own. Removed when dropped.
struct Drafts {
    path: PathBuf,
    draft: Part,
}

impl Drafts {
    fn create(writer: &dyn Writer, path: &Path) -> Result<Drafts> {
        if path.exists() && !holds_only(path, writer.ending()).map_err(failed)? {
            return Err(Error::new(ErrorKind::Output, "exists and holds other files")
                .remedy("choose another name, or remove it first"));
        }
        check_place(path, Content::Trace)?;
        let (draft, path) = (Part::of(path), path.to_owned());
        fs::create_dir(draft.path()).map_err(failed)?;
        Ok(Drafts { path, draft })
    }

    fn publish(self, writer: &dyn Writer) -> Result<()> {
        let Drafts { path, draft } = self;
        for entry in fs::read_dir(draft.path()).map_err(failed)? {
            let file = entry.and_then(|e| File::open(e.path())).map_err(failed)?;
            file.sync_all().map_err(failed)?;
            mark(&file);
        }
        if !path.exists() {
            return draft.publish(&path).map_err(failed);
        }
        // A folder cannot take the place of another in one step.
        let old = beside(&path, "old");
        fs::rename(&path, &old).map_err(failed)?;
        draft.publish(&path).map_err(failed)?;
        if holds_only(&old, writer.ending()).map_err(failed)? {
            fs::remove_dir_all(&old).map_err(failed)?;
        }
        Ok(())
    }
}

fn holds_only(folder: &Path, ending: &str) -> io::Result<bool> {
    if !folder.is_dir() {
        return Ok(false);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_file() || !entry.file_name().to_string_lossy().ends_with(ending) {
            return Ok(false);
        }
    }
    Ok(true)
}

struct Stream<W>(W);

impl<W: Write> Sink for Stream<W> {
    fn append(&mut self, _name: &str, bytes: &[u8]) -> Result<()> {
        self.0.write_all(bytes).map_err(failed)
    }
}

/// Opens a file for each piece: a job may have more ranks than a process may have open files.
struct Folder(PathBuf);

impl Sink for Folder {
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let open = OpenOptions::new().create(true).append(true).open(self.0.join(name));
        open.and_then(|mut f| f.write_all(bytes)).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_the_format() {
        let name = |p: &str| writer_for(Path::new(p)).map(|w| w.name()).map_err(|e| e.kind());
        assert_eq!(name("a/b.csv"), Ok("csv"));
        assert_eq!(name("b.jsonl"), Ok("jsonl"));
        assert_eq!(name("b.tmio.jsonl"), Ok("tmio"));
        assert_eq!(name("b.RADAR.txt"), Ok("radar"));
        assert_eq!(name("b.txt"), Err(ErrorKind::Usage));
        for w in WRITERS {
            assert_eq!(writer(w.name()).unwrap().name(), w.name());
            assert_eq!(name(&format!("x{}", w.ending())), Ok(w.name()));
        }
    }
}
