//! Where results go: standard output, files, and messages on standard error.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::remedy;
use crate::draft::{self, Draft};
#[cfg(target_os = "linux")]
use crate::draft::{Content, Growing};
use crate::formats::write::{self, Writer, Written};
use crate::record::{Rows, Warning};
use crate::render::visible;
use crate::{Error, ErrorKind, Result};

/// True if `stream` is a terminal that wants colour.
pub fn wants_color(stream: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
    stream.is_terminal() && !refused && !dumb
}

/// Text in which nothing acts but the colours of this program, if there are any.
fn shown(text: &str, colored: bool) -> std::borrow::Cow<'_, str> {
    if colored { visible::on_terminal(text) } else { visible::visible(text) }
}

/// Writes text for a person to standard output: what names of a trace may hold cannot act on the terminal.
pub fn print_text(text: &str) -> Result<()> {
    print(&shown(text, wants_color(&io::stdout())))
}

/// Writes data to standard output. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(output(e).in_file("standard output")),
        _ => Ok(()),
    }
}

/// Writes a message to standard error; nothing can be done if that fails, too.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(text, wants_color(&io::stderr())));
}

/// An error as a person reads it.
pub fn error(e: &Error) {
    let (a, b) = if wants_color(&io::stderr()) { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    message(&format!("{a}error{b}: {}", remedy::of_error(e)));
}

/// Warnings of a trace.
pub fn warnings(path: &str, warnings: &[Warning]) {
    let (a, b) = if wants_color(&io::stderr()) { ("\x1b[33m", "\x1b[0m") } else { ("", "") };
    for w in warnings {
        let remedy = w.remedy.as_ref().map_or(String::new(), |r| format!("; {r}"));
        message(&format!("{a}warning{b}: {path}: {}{remedy}", w.message));
    }
}

fn output(e: io::Error) -> Error {
    Error::new(ErrorKind::Output, e.to_string())
}

/// The format called `name`, else the one for the ending of the path.
///
/// # Errors
/// [`ErrorKind::Usage`] if there is no such format.
pub fn writer(path: &Path, name: Option<&str>) -> Result<&'static dyn Writer> {
    match name {
        Some(name) => write::writer(name),
        None if path.as_os_str() == "-" => {
            Err(Error::new(ErrorKind::Usage, "standard output has no name to infer the format from")
                .remedy("name it, such as csv or jsonl"))
        }
        None => write::writer_for(path),
    }
}

/// Writes rows to a file or folder, or to standard output for `-`. A warning on standard error lists fields that the format cannot hold, unless
/// `quiet`.
///
/// # Errors
/// [`ErrorKind::Empty`] if there is no row, [`ErrorKind::Output`] if that fails.
pub fn rows(rows: &dyn Rows, path: &Path, writer: &dyn Writer, quiet: bool) -> Result<Written> {
    let written = if path.as_os_str() == "-" {
        let mut pipe = Pipe { out: io::stdout().lock(), closed: false };
        match write::write_stream(writer, rows, &mut pipe) {
            // A reader that has gone away (`| head`) is no error.
            Err(_) if pipe.closed => return Ok(Written::default()),
            done => done.map_err(|e| e.in_file("standard output"))?,
        }
    } else {
        write::write(writer, rows, path)?
    };
    if !quiet {
        warnings(&path.display().to_string(), &written.notes);
    }
    Ok(written)
}

/// Standard output that remembers whether its reader has gone away.
struct Pipe<W> {
    out: W,
    closed: bool,
}

impl<W: Write> Pipe<W> {
    fn noting<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        self.closed |= done.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        done
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.noting(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.noting(done)
    }
}

/// A file for lines, or standard output for `-`.
pub enum Lines {
    /// Standard output.
    Stdout,
    /// A file that appears when it is whole.
    Whole(Draft),
    /// A file that others read while it grows.
    #[cfg(target_os = "linux")]
    Growing(Growing),
}

impl Lines {
    /// A file that [`Lines::finish`] puts in its place.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if the file cannot be made.
    pub fn create(path: &Path) -> Result<Lines> {
        if path.as_os_str() == "-" { Ok(Lines::Stdout) } else { Draft::create(path).map(Lines::Whole) }
    }

    /// A file whose lines can be read at once.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if the file cannot be made.
    #[cfg(target_os = "linux")]
    pub fn growing(path: &Path) -> Result<Lines> {
        if path.as_os_str() == "-" {
            return Ok(Lines::Stdout);
        }
        Growing::create(path, Content::Answer).map(Lines::Growing)
    }

    /// True if the lines go to standard output, which then holds nothing else.
    pub fn is_stdout(&self) -> bool {
        matches!(self, Lines::Stdout)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if that fails.
    pub fn write(&mut self, line: &str) -> Result<()> {
        match self {
            Lines::Stdout => print(&format!("{line}\n")),
            Lines::Whole(draft) => writeln!(draft, "{line}").map_err(|e| draft.error(&e)),
            #[cfg(target_os = "linux")]
            Lines::Growing(file) => file.write_line(line).and_then(|()| file.flush()),
        }
    }

    /// No further line comes.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if the file cannot be put in its place.
    pub fn finish(self) -> Result<()> {
        match self {
            Lines::Whole(draft) => draft.publish(),
            Lines::Stdout => Ok(()),
            #[cfg(target_os = "linux")]
            Lines::Growing(file) => file.finish(),
        }
    }
}

/// Writes a file that appears when it is whole, or standard output for `-`.
///
/// # Errors
/// [`ErrorKind::Output`] if that fails.
pub fn whole(path: &Path, content: &str) -> Result<()> {
    if path.as_os_str() == "-" { print(content) } else { draft::store(path, content.as_bytes()) }
}

/// Writes a file into a folder, which is made if need be.
///
/// # Errors
/// [`ErrorKind::Output`] if that fails.
pub fn write_into(folder: &Path, name: &str, content: &str) -> Result<()> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .map_err(|e| output(e).in_file(path.display().to_string()).remedy("choose a folder that can be written"))?;
    draft::store(&path, content.as_bytes())
}
