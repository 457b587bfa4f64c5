//! The file of samples, and the lines of predictions.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::super::output::Lines;
use crate::draft::{Content, Growing};
use crate::online::output_queue::{Item, OutputQueue, WhenFull};
use crate::{Error, ErrorKind, Result};

/// How long samples wait before they are in the file.
const FLUSH: Duration = Duration::from_secs(1);
/// Predictions that wait for a slow reader.
const WAITING: usize = 1024;

/// The file of samples. After an error nothing more is written.
pub(super) struct SampleFile {
    file: Option<Growing>,
    flushed: Instant,
    error: Option<Error>,
}

impl SampleFile {
    /// Opens the file, if one is wanted.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output).
    pub(super) fn create(path: Option<&Path>) -> Result<SampleFile> {
        let file = path.map(|p| Growing::create(p, Content::Trace)).transpose()?;
        Ok(SampleFile { file, flushed: Instant::now(), error: None })
    }

    /// Writes a line, if there is a file.
    pub(super) fn put(&mut self, line: impl FnOnce() -> Result<String>) {
        let Some(file) = &mut self.file else { return };
        let done = line().and_then(|text| file.write_line(&text));
        self.note(done);
    }

    /// Lets others see what has been written, from time to time.
    pub(super) fn flush(&mut self, now: bool) {
        if let Some(file) = self.file.as_mut().filter(|_| now || self.flushed.elapsed() >= FLUSH) {
            let done = file.flush();
            self.flushed = Instant::now();
            self.note(done);
        }
    }

    fn note(&mut self, done: Result<()>) {
        if let Err(e) = done {
            self.file = None;
            self.error = Some(e);
        }
    }

    /// Closes the file.
    ///
    /// # Errors
    /// The first error.
    pub(super) fn finish(self) -> Result<()> {
        match self.error {
            Some(e) => Err(e),
            None => self.file.map_or(Ok(()), Growing::finish),
        }
    }
}

/// The lines of predictions, written by a thread of their own, so that a slow reader does not hold up the readings.
pub(super) struct PredictionLines {
    queue: Arc<OutputQueue>,
    writer: Option<JoinHandle<Result<()>>>,
}

impl PredictionLines {
    /// Opens the target, if one is wanted.
    ///
    /// # Errors
    /// [`ErrorKind::Output`].
    pub(super) fn create(path: Option<&Path>) -> Result<PredictionLines> {
        let queue = Arc::new(OutputQueue::new(WAITING, WhenFull::DropOldest));
        let Some(path) = path else { return Ok(PredictionLines { queue, writer: None }) };
        let mut lines = Lines::growing(path)?;
        let taken = queue.clone();
        let work = move || {
            while let Some(item) = taken.take() {
                let Item::Line(line) = item else { continue };
                lines.write(&line).inspect_err(|_| taken.close())?;
            }
            lines.finish()
        };
        let writer = thread::Builder::new().name("predictions".into()).spawn(work)?;
        Ok(PredictionLines { queue, writer: Some(writer) })
    }

    /// True if lines are wanted.
    pub(super) fn are_wanted(&self) -> bool {
        self.writer.is_some()
    }

    pub(super) fn put(&self, line: String) {
        self.queue.put(Item::Line(line));
    }

    /// Lines that were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Writes what waits; gives how many lines were dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Output`].
    pub(super) fn finish(self) -> Result<u64> {
        self.queue.close();
        match self.writer.map(JoinHandle::join) {
            Some(Ok(done)) => done?,
            Some(Err(_)) => return Err(Error::new(ErrorKind::Output, "the writer of predictions failed")),
            None => {}
        }
        Ok(self.queue.dropped())
    }
}
