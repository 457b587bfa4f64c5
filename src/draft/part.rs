//! Files and folders in the making, under hidden names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

/// All that are in the making in this process.
static MAKING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn making() -> MutexGuard<'static, Vec<PathBuf>> {
    MAKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A hidden name beside `path`, of this process alone.
pub(crate) fn beside(path: &Path, what: &str) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(OsString::from(format!(".iophase.{}.{number}.{what}", std::process::id())))
}

/// A hidden name in the folder of an output, under which it is made. What has the name is removed when this is dropped, or by
/// [`abandon`].
#[derive(Debug)]
pub(crate) struct Part(PathBuf);

impl Part {
    /// A name beside `path`; nothing has it yet.
    pub fn of(path: &Path) -> Part {
        let name = beside(path, "part");
        let mut making = making();
        // of a process with the same number that was killed
        remove(&name);
        making.push(name.clone());
        Part(name)
    }

    /// The hidden name.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Gives what was made its own name, of which [`abandon`] sees all or nothing.
    ///
    /// # Errors
    /// Of the system.
    pub fn publish(self, path: &Path) -> io::Result<()> {
        // given back before `self` is dropped
        let _held = making();
        fs::rename(&self.0, path)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // gone already if it was published
        remove(&self.0);
        making().retain(|name| *name != self.0);
    }
}

fn remove(name: &Path) {
    let _ = fs::remove_file(name).or_else(|_| fs::remove_dir_all(name));
}

/// Removes all that is in the making, before a signal ends the process. Nothing can be begun afterwards.
pub fn abandon() {
    let making = making();
    making.iter().for_each(|name| remove(name));
    std::mem::forget(making);
}
