//! Outputs that are whole or not there.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// A file in the making, under another name in the same folder. [`Draft::publish`] gives it its own; dropped before, it is removed, and
/// what was there before is untouched. A link of the name is replaced, not followed.
///
/// Devices and pipes cannot be replaced: they are written at once.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    /// The other name; none for a device or a pipe, and once it is published.
    beside: Option<PathBuf>,
    file: BufWriter<File>,
    failed: bool,
}

/// An error of an output.
fn failed(e: &io::Error, path: &Path) -> Error {
    Error::new(ErrorKind::Output, e.to_string())
        .in_file(path.display().to_string())
        .remedy("choose a path that can be written")
}

/// A hidden name beside `path`, of this process alone.
pub(crate) fn beside(path: &Path, what: &str) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(OsString::from(format!(".iophase.{}.{number}.{what}", std::process::id())))
}

impl Draft {
    /// Begins a file.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if the folder cannot be written, or if the name is one of a folder.
    pub fn create(path: &Path) -> Result<Draft> {
        Draft::open(path).map_err(|e| failed(&e, path))
    }

    fn open(path: &Path) -> io::Result<Draft> {
        let there = fs::metadata(path).ok();
        if there.as_ref().is_some_and(fs::Metadata::is_dir) || path.file_name().is_none() {
            return Err(io::Error::other("is a folder"));
        }
        let (beside, file) = if there.is_some_and(|m| !m.is_file()) {
            (None, OpenOptions::new().write(true).open(path)?)
        } else {
            let name = beside(path, "part");
            // of a process with the same number that was killed
            let _ = fs::remove_file(&name);
            let file = OpenOptions::new().write(true).create_new(true).open(&name)?;
            (Some(name), file)
        };
        Ok(Draft { path: path.to_owned(), beside, file: BufWriter::new(file), failed: false })
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
        let Some(beside) = &self.beside else { return Ok(()) };
        let file = self.file.get_ref();
        if let Some(old) = fs::symlink_metadata(&self.path).ok().filter(fs::Metadata::is_file) {
            // Not every file system has them.
            let _ = file.set_permissions(old.permissions());
        }
        file.sync_all()?;
        fs::rename(beside, &self.path)?;
        self.beside = None;
        // The name, too, has to reach the disk. Not every file system lets a folder be opened or synced.
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
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

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            let _ = fs::remove_file(beside);
        }
    }
}

/// Stores bytes so that at every moment either the old or the new ones are there, whole.
///
/// # Errors
/// [`ErrorKind::Output`].
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
