//! Files that others read while they grow.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use super::{Content, Part, check_place, failed, is_written_at_once, keep_permissions};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that wait for the first reader of a pipe.
const WAITING: usize = 1 << 20;

/// A file whose lines can be read at once. Its name is that of a new file from the start: what had the name before is replaced, a link not
/// followed. A pipe is opened once somebody reads it; until then its first lines wait.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    waiting: Vec<u8>,
    /// Lines that nobody waited for.
    lost: u64,
}

impl Growing {
    /// Begins a file.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if a trace is in its place that it may not replace, [`ErrorKind::Output`] if it cannot be made.
    pub fn create(path: &Path, content: Content) -> Result<Growing> {
        check_place(path, content)?;
        let file = Growing::open(path).map_err(|e| failed(&e, path))?;
        Ok(Growing { path: path.to_owned(), file: file.map(BufWriter::new), waiting: Vec::new(), lost: 0 })
    }

    fn open(path: &Path) -> io::Result<Option<File>> {
        if path.is_dir() || path.file_name().is_none() {
            return Err(io::Error::other("is a folder"));
        }
        if is_written_at_once(path) {
            return open_if_read(path);
        }
        let part = Part::of(path);
        let file = OpenOptions::new().write(true).create_new(true).open(part.path())?;
        keep_permissions(&file, path);
        part.publish(path)?;
        Ok(Some(file))
    }

    /// Writes a line, or lets it wait for a reader.
    ///
    /// # Errors
    /// [`ErrorKind::Output`].
    pub fn write_line(&mut self, line: &str) -> Result<()> {
        let done = self.put(line);
        done.map_err(|e| failed(&e, &self.path))
    }

    fn put(&mut self, line: &str) -> io::Result<()> {
        self.write_waiting()?;
        match &mut self.file {
            Some(file) => writeln!(file, "{line}"),
            None if self.lost == 0 && self.waiting.len() + line.len() < WAITING => writeln!(self.waiting, "{line}"),
            None => {
                self.lost += 1;
                Ok(())
            }
        }
    }

    /// Writes what waits, if somebody reads by now.
    fn write_waiting(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = open_if_read(&self.path)?.map(BufWriter::new);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(&std::mem::take(&mut self.waiting))
    }

    /// Lets others see what has been written.
    ///
    /// # Errors
    /// [`ErrorKind::Output`].
    pub fn flush(&mut self) -> Result<()> {
        let done = self.file.as_mut().map_or(Ok(()), Write::flush);
        done.map_err(|e| failed(&e, &self.path))
    }

    /// No further line comes.
    ///
    /// # Errors
    /// [`ErrorKind::Output`], also if lines were not written because nobody read the pipe, or not from the start.
    pub fn finish(mut self) -> Result<()> {
        // a reader may have come since the last line
        self.write_waiting().map_err(|e| failed(&e, &self.path))?;
        if !self.waiting.is_empty() {
            return Err(self.unread("nobody has read the pipe".into()));
        }
        self.flush()?;
        match self.lost {
            0 => Ok(()),
            n => Err(self.unread(format!("{n} lines were dropped before somebody read the pipe"))),
        }
    }

    fn unread(&self, what: String) -> Error {
        Error::new(ErrorKind::Output, what)
            .in_file(self.path.display().to_string())
            .remedy("start its reader first, or name a file")
    }
}

/// Opens a device or pipe for writing; `None` for a pipe that nobody reads.
fn open_if_read(path: &Path) -> io::Result<Option<File>> {
    let opened = OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path);
    match opened {
        Err(e) if e.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(None),
        Err(e) => Err(e),
        Ok(file) => {
            // a slow reader is waited for
            fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
            Ok(Some(file))
        }
    }
}
