//! Bounds against hostile and runaway input.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::error::{Error, Result};

/// A flag that ends reading from another thread. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks reading to end: it does so with an error before the next block of its input.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Equal if they are the same flag.
impl PartialEq for Stop {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stop {}

options! {
    /// Bounds that every reader keeps. Exceeding one is an [`ErrorKind::Limit`](crate::ErrorKind::Limit) error that names it,
    /// or, where the sound part is of use alone, a warning.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Limits {
        /// Rows of a trace.
        pub records: usize,
        /// Bytes of one input that has to be in memory as a whole (Darshan logs, standard input), of one decompressed region, of the
        /// rows that are kept, and of the pairs of rank and file that analyses follow, at 1 KiB each.
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
        /// Ends reading when it is set; `None`: nothing does.
        pub stop: Option<Stop>,
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
            stop: None,
        }
    }
}

/// Bytes of a row that is kept.
const ROW_BYTES: u64 = 48;
/// Bytes that an analysis keeps for a pair of rank and file, about: measured with one request for each pair.
const STREAM_BYTES: u64 = 1 << 10;

impl Limits {
    /// With at most as many rows as fit in memory, for a trace whose rows are kept.
    pub(super) fn for_kept_rows(&self) -> Limits {
        let fit = usize::try_from(self.memory_bytes / ROW_BYTES).unwrap_or(usize::MAX);
        self.clone().records(self.records.min(fit))
    }

    /// Pairs of rank and file that an analysis may follow.
    pub(crate) fn streams(&self) -> usize {
        usize::try_from(self.memory_bytes / STREAM_BYTES).unwrap_or(usize::MAX)
    }

    /// Whether there is time left, and nobody has stopped reading.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) after the deadline, or once [`Limits::stop`] is set.
    pub fn in_time(&self) -> Result<()> {
        if self.stop.as_ref().is_some_and(Stop::is_set) {
            return Err(Error::new(crate::ErrorKind::Limit, "reading was stopped"));
        }
        match self.deadline {
            Some(end) if Instant::now() >= end => Err(Error::limit("reading takes longer", "the time that is allowed")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_of_the_flag_stops_reading() {
        let stop = Stop::default();
        let limits = Limits::default().stop(Some(stop.clone()));
        assert!(limits.clone().in_time().is_ok());
        stop.set();
        assert!(limits.clone().in_time().is_err());
        assert!(limits != Limits::default().stop(Some(Stop::default())));
    }
}
