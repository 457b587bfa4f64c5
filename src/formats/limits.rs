//! Bounds against hostile and runaway input.

use std::time::Instant;

use crate::error::{Error, Result};

options! {
    /// Bounds that every reader keeps. Exceeding one is an [`ErrorKind::Limit`](crate::ErrorKind::Limit) error that names it,
    /// or, where the sound part is of use alone, a warning.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Limits {
        /// Rows of a trace.
        pub records: usize,
        /// Bytes of one input that has to be in memory as a whole (Darshan logs, standard input), and of one decompressed region.
        pub memory_bytes: u64,
        /// Decompressed bytes per compressed byte of a region, above the first mebibyte.
        pub expansion: u64,
        /// Bytes of a text line.
        pub line_bytes: usize,
        /// Bytes of one name.
        pub name_bytes: usize,
        /// Nesting of JSON and MessagePack.
        pub depth: usize,
        /// Files of a folder.
        pub folder_files: usize,
        /// When reading has to be done; `None` for no bound.
        pub deadline: Option<Instant>,
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            records: 2_000_000_000,
            memory_bytes: 4 << 30,
            expansion: 2000,
            line_bytes: 1 << 20,
            name_bytes: 64 << 10,
            depth: 64,
            folder_files: 1 << 20,
            deadline: None,
        }
    }
}

impl Limits {
    /// Whether there is time left.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) after the deadline.
    pub fn in_time(&self) -> Result<()> {
        match self.deadline {
            Some(end) if Instant::now() >= end => Err(Error::limit("reading takes longer", "the time that is allowed")),
            _ => Ok(()),
        }
    }
}
