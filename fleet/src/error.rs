//! Errors of writing, in the form of the library's.

use std::fmt::Display;
use std::path::Path;

use iophase::{Error, ErrorKind, Result};

/// An error of writing to `path`.
pub fn output(path: &Path, e: impl Display) -> Error {
    Error::new(ErrorKind::Output, e.to_string())
        .in_file(path.display().to_string())
        .remedy("make room or check the rights, then run the same command again: it goes on where it stopped")
}

/// An error of reading `path`.
pub fn input(path: &Path, e: impl Display) -> Error {
    Error::new(ErrorKind::Io, e.to_string()).in_file(path.display().to_string())
}

/// A wrong use of the program.
pub fn usage(found: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, found)
}

/// Gives an error the path that it is about.
pub trait Context<T> {
    /// For a path that is written.
    ///
    /// # Errors
    /// [`ErrorKind::Output`].
    fn or_output(self, path: &Path) -> Result<T>;
    /// For a path that is read.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    fn or_input(self, path: &Path) -> Result<T>;
}

impl<T, E: Display> Context<T> for Result<T, E> {
    fn or_output(self, path: &Path) -> Result<T> {
        self.map_err(|e| output(path, e))
    }

    fn or_input(self, path: &Path) -> Result<T> {
        self.map_err(|e| input(path, e))
    }
}
