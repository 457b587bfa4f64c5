//! Where an output may be written, and that it is whole or not there.

#[cfg(all(target_os = "linux", feature = "cli"))]
mod growing;
mod mark;
mod part;
mod place;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

#[cfg(all(target_os = "linux", feature = "cli"))]
pub use growing::Growing;
pub use part::abandon;
pub(crate) use part::{Part, beside};
pub use place::{Content, Output, check};
pub(crate) use place::{check_place, is_answer};

pub(crate) use mark::set as mark;

/// A file in the making, under another name in the same folder. [`Draft::publish`] gives it its own; dropped before, it is removed, and
/// what was there before is untouched. A link of the name is replaced, not followed. A trace that stands in its place is refused, see
/// [`check`].
///
/// Devices and pipes cannot be replaced: they are opened when the first bytes come, and written at once.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    content: Content,
    /// The other name; none for a device or a pipe, and once it is published.
    part: Option<Part>,
    file: BufWriter<Target>,
    failed: bool,
}

/// Where the bytes of a draft go.
#[derive(Debug)]
enum Target {
    Open(File),
    /// A device or a pipe: to open one that nobody reads would wait for a reader.
    Unopened(PathBuf),
}

impl Target {
    fn file(&mut self) -> io::Result<&mut File> {
        if let Target::Unopened(path) = self {
            *self = Target::Open(OpenOptions::new().write(true).open(path)?);
        }
        match self {
            Target::Open(file) => Ok(file),
            Target::Unopened(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

/// An error of an output.
fn failed(e: &io::Error, path: &Path) -> Error {
    Error::new(ErrorKind::Output, e.to_string())
        .in_file(path.display().to_string())
        .remedy("choose a path that can be written")
}

/// True for a path whose file is written, not replaced: devices, pipes, and descriptors such as `/dev/stdout`.
fn is_written_at_once(path: &Path) -> bool {
    let there = fs::metadata(path).ok();
    there.is_some_and(|m| !m.is_file() || path.starts_with("/dev") || path.starts_with("/proc"))
}

impl Draft {
    /// Begins a file that holds an answer.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if a trace is in its place; [`ErrorKind::Output`] if the folder cannot be written, or if the name is one of a folder.
    pub fn create(path: &Path) -> Result<Draft> {
        Draft::of(path, Content::Answer)
    }

    /// Begins a file that holds a trace: it may replace one that this program wrote.
    ///
    /// # Errors
    /// As [`Draft::create`].
    pub fn of_trace(path: &Path) -> Result<Draft> {
        Draft::of(path, Content::Trace)
    }

    fn of(path: &Path, content: Content) -> Result<Draft> {
        if path.is_dir() || path.file_name().is_none() {
            return Err(failed(&io::Error::other("is a folder"), path));
        }
        check_place(path, content)?;
        let (part, file) = Draft::open(path).map_err(|e| failed(&e, path))?;
        Ok(Draft { path: path.to_owned(), content, part, file: BufWriter::new(file), failed: false })
    }

    fn open(path: &Path) -> io::Result<(Option<Part>, Target)> {
        if is_written_at_once(path) {
            return Ok((None, Target::Unopened(path.to_owned())));
        }
        let part = Part::of(path);
        let file = OpenOptions::new().write(true).create_new(true).open(part.path())?;
        Ok((Some(part), Target::Open(file)))
    }

    /// The error of a write, with the name of the file.
    pub fn error(&self, e: &io::Error) -> Error {
        failed(e, &self.path)
    }

    /// Puts the file on the disk under its own name. Nothing happens if a write has failed, which was an error then.
    ///
    /// # Errors
    /// [`ErrorKind::Output`].
    pub fn publish(mut self) -> Result<()> {
        if self.failed {
            return Ok(());
        }
        let done = self.put_in_place();
        done.map_err(|e| failed(&e, &self.path))
    }

    fn put_in_place(&mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(part) = self.part.take() else { return Ok(()) };
        let file = self.file.get_mut().file()?;
        keep_permissions(file, &self.path);
        file.sync_all()?;
        if self.content == Content::Trace {
            mark(file);
        }
        part.publish(&self.path)?;
        // The name, too, has to reach the disk. Not every file system lets a folder be opened or synced.
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Gives a file the permissions of the one that it replaces.
fn keep_permissions(file: &File, path: &Path) {
    if let Some(old) = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file) {
        // Not every file system has them.
        let _ = file.set_permissions(old.permissions());
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.write(bytes);
        self.failed |= done.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted);
        done
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.file.flush();
        self.failed |= done.is_err();
        done
    }
}

/// Stores an answer or a state so that at every moment either the old or the new one is there, whole.
///
/// # Errors
/// As [`Draft::create`], and [`ErrorKind::Output`].
pub fn store(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut draft = Draft::create(path)?;
    draft.write_all(bytes).map_err(|e| draft.error(&e))?;
    draft.publish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_that_is_dropped_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        store(&path, b"old").unwrap();
        let mut draft = Draft::create(&path).unwrap();
        draft.write_all(b"new").unwrap();
        draft.flush().unwrap();
        drop(draft);
        assert_eq!((fs::read(&path).unwrap(), names(dir.path())), (b"old".to_vec(), vec!["out".to_owned()]));
        store(&path, b"new").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(dir.path())), (b"new".to_vec(), vec!["out".to_owned()]));
        assert_eq!(Draft::create(dir.path()).unwrap_err().kind(), ErrorKind::Output);
        assert_eq!(Draft::create(&dir.path().join("none/out")).unwrap_err().kind(), ErrorKind::Output);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_replaced_and_devices_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (precious, link) = (dir.path().join("precious"), dir.path().join("link"));
        fs::write(&precious, "years of work").unwrap();
        symlink(&precious, &link).unwrap();
        store(&link, b"mine").unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"years of work");
        assert!(fs::symlink_metadata(&link).unwrap().is_file() && fs::read(&link).unwrap() == b"mine");
        fs::set_permissions(&link, fs::Permissions::from_mode(0o600)).unwrap();
        store(&link, b"again").unwrap();
        assert_eq!(fs::metadata(&link).unwrap().permissions().mode() & 0o777, 0o600);
        store(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
