//! Rows that a caller pulls out of an input, a batch at a time.
//!
//! A reader pushes its rows to a sink. Here it does so on a thread of its own, and the sink hands the batches over to the caller. The reader
//! has its own thread pool: a caller that is a task of a pool waits for the reader, whose work must not wait in the queue of that pool.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::format::Format;
use super::limits::Stop;
use super::options::{Detail, ReadOptions};
use super::probe::read_into;
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Batch, Calls, Data, Files, Restart, RowSink, Trace};

/// Batches that wait for the caller.
const WAITING: usize = 2;

/// Some rows of a trace. Those of one rank come in their order; ranks may come in any order.
#[derive(Debug)]
#[non_exhaustive]
pub struct RowBatch {
    /// The rows. Their names are numbers in [`Batches::files`] and [`Batches::calls`].
    pub rows: Data,
    /// Whole seconds to add to every time of `rows` to be on the trace's own clock: the same in every batch.
    pub origin_s: i64,
    /// True if the rows of all batches before turned out to be wrong: this batch has none, and from the next one on they come again.
    /// Happens at most once.
    pub starts_over: bool,
}

/// A message of the reader.
enum Handed {
    Rows(Box<NamedRows>),
    /// The rest of the trace, once there is no further row.
    End(Box<Result<Trace>>),
}

/// Rows, and the names that are new in them.
struct NamedRows {
    batch: RowBatch,
    files: Vec<String>,
    calls: Vec<String>,
}

/// The rows of an input, read on a thread of its own while the caller works on those before: see [`Source::batches`].
///
/// Dropping it ends the reading.
pub struct Batches {
    receiver: Receiver<Handed>,
    reader: Option<JoinHandle<()>>,
    files: Files,
    calls: Calls,
    end: Option<Result<Trace>>,
    stop: Stop,
}

impl Source {
    /// The rows of a trace in any format, in memory that does not grow with them.
    ///
    /// ```
    /// let mut bytes = 0.0;
    /// for batch in iophase::formats::open("data/stable.darshan")?.batches() {
    ///     if let iophase::record::Data::Requests(requests) = batch?.rows {
    ///         bytes += requests.size.iter().map(|n| n as f64).sum::<f64>();
    ///     }
    /// }
    /// assert_eq!(bytes, 117_440_512.0);
    /// # Ok::<(), iophase::Error>(())
    /// ```
    pub fn batches(&self) -> Batches {
        self.batches_with(None, &ReadOptions::default())
    }

    /// As [`Source::batches`], with a format and options. [`Detail::Log`] is [`Detail::Calls`].
    pub fn batches_with(&self, format: Option<&'static dyn Format>, options: &ReadOptions) -> Batches {
        let (source, mut options) = (self.clone(), options.clone());
        let stop = Stop::default();
        options.limits.stop.get_or_insert_with(|| stop.clone());
        if options.detail == Detail::Log {
            options.detail = Detail::Calls;
        }
        let threads = rayon::current_num_threads();
        let (sender, receiver) = sync_channel(WAITING);
        let to_caller = sender.clone();
        let read = move || {
            let sink = Hand { sender: sender.clone(), known: Mutex::default() };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(no_threads);
            let rest = pool.and_then(|pool| pool.install(|| read_into(&source, format, &options, &sink)));
            // the caller may have gone
            let _ = sender.send(Handed::End(Box::new(rest)));
        };
        let started = thread::Builder::new().name("iophase-reader".into()).spawn(read);
        let reader = started.map_err(|e| to_caller.send(Handed::End(Box::new(Err(no_threads(e)))))).ok();
        let (files, calls) = Default::default();
        Batches { receiver, reader, files, calls, end: None, stop }
    }
}

fn no_threads(e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Limit, format!("no thread can be started to read with: {e}"))
}

impl Batches {
    /// The names of files so far.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The names of calls so far.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Reads the rows that are left, and returns what a trace has beside its rows: job, counters, quality, warnings.
    ///
    /// # Errors
    /// As [`formats::read`](super::read); the error that the iterator has ended with.
    pub fn finish(mut self) -> Result<Trace> {
        while self.next().is_some() {}
        self.end.take().unwrap_or_else(|| Ok(Trace::default()))
    }
}

impl Iterator for Batches {
    type Item = Result<RowBatch>;

    /// The next batch. Ends after the last one, and after an error: those of [`formats::read`](super::read).
    fn next(&mut self) -> Option<Result<RowBatch>> {
        if self.end.is_some() {
            return None;
        }
        match self.receiver.recv() {
            Ok(Handed::Rows(rows)) => {
                let NamedRows { batch, files, calls } = *rows;
                if batch.starts_over {
                    (self.files, self.calls) = Default::default();
                }
                files.iter().for_each(|name| _ = self.files.intern(name));
                calls.iter().for_each(|name| _ = self.calls.intern(name));
                Some(Ok(batch))
            }
            Ok(Handed::End(rest)) => self.end.insert(*rest).as_ref().err().cloned().map(Err),
            Err(_) => match self.reader.take()?.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => None,
            },
        }
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.stop.set();
    }
}

/// Hands rows over to the caller.
struct Hand {
    sender: SyncSender<Handed>,
    /// Names of files and calls that the caller has.
    known: Mutex<(usize, usize)>,
}

impl Hand {
    fn send(&self, handed: Handed) -> Result<()> {
        let gone = |_| Error::new(ErrorKind::Limit, "reading was stopped: nobody takes the rows");
        self.sender.send(handed).map_err(gone)
    }
}

impl RowSink for Hand {
    fn take(&self, batch: Batch<'_>) -> Result<()> {
        // held while the batch is sent: names arrive in the order of their numbers
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let files: Vec<String> = batch.files.since(known.0).map(|(_, name)| name.to_owned()).collect();
        let calls: Vec<String> = batch.calls.since(known.1).map(str::to_owned).collect();
        *known = (known.0 + files.len(), known.1 + calls.len());
        let batch = RowBatch { rows: batch.rows.into_owned(), origin_s: batch.origin_s, starts_over: false };
        self.send(Handed::Rows(Box::new(NamedRows { batch, files, calls })))
    }

    fn restart(&self, _why: Restart) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = (0, 0);
        let batch = RowBatch { rows: Data::default(), origin_s: 0, starts_over: true };
        // if the caller has gone, the next batch ends the reading
        let _ = self.send(Handed::Rows(Box::new(NamedRows { batch, files: Vec::new(), calls: Vec::new() })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::formats::{Limits, read};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::channel;

    /// Rows of several ranks and files, many times a batch.
    fn source() -> Source {
        let row = |i: u64| format!("write,{},file.{},{},{i}.25,{i}.75\n", i % 7, i % 100, 1 + i % 9);
        Source::from_bytes("x", format!("op,rank,file,size,start,end\n{}", (0..200_000).map(row).collect::<String>()))
    }

    /// File, start, end, rank.
    type Seen = (String, f64, f64, u32);

    /// All rows with the names of their files, the number of batches, and what is left of the trace.
    fn pulled(source: &Source, options: &ReadOptions) -> Result<(Vec<Seen>, usize, Trace)> {
        let (mut rows, mut batches) = (Vec::new(), source.batches_with(None, options));
        let mut count = 0;
        while let Some(batch) = batches.next() {
            let batch = batch?;
            count += 1;
            if batch.starts_over {
                rows.clear();
            }
            let of = Trace { data: batch.rows, ..Trace::default() };
            rows.extend((0..of.data.len()).map(|i| of.row(i)).map(|row| {
                let (start, end) = row.span();
                (batches.files().name(row.file()).to_owned(), start, end, row.rank())
            }));
        }
        Ok((rows, count, batches.finish()?))
    }

    fn kept(trace: &Trace) -> Vec<Seen> {
        let rows = (0..trace.data.len()).map(|i| trace.row(i));
        rows.map(|r| (trace.files.name(r.file()).to_owned(), r.span().0, r.span().1, r.rank())).collect()
    }

    #[test]
    fn batches_have_the_rows_of_the_trace() {
        let (source, options) = (source(), ReadOptions::default());
        let whole = read(&source, None, &options).unwrap();
        // a pool whose only thread waits for the rows
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (rows, count, rest) = pool.install(|| pulled(&source, &options)).unwrap();
        assert!(count > 1 && rows == kept(&whole), "{count} batches");
        assert!(rest.data.is_empty() && rest.quality == whole.quality && rest.warnings == whole.warnings);
        assert_eq!((rest.ranks, rest.path), (7, "x".to_owned()));
    }

    #[test]
    fn rows_that_turn_out_wrong_come_again() {
        let text = "op,size,start,layer\nwrite,1,0,posix\nwrite,1,1,posix\nwrite,1,2,mpiio\n";
        // the layers differ beyond the first stretch of lines
        let text = format!("{text}{}", "write,1,3,mpiio\n".repeat(200_000));
        let (source, options) = (Source::from_bytes("x", text), ReadOptions::default());
        let (rows, _, rest) = pulled(&source, &options).unwrap();
        assert_eq!(rows, kept(&read(&source, None, &options).unwrap()));
        assert_eq!((rows.len(), &*rest.warnings[0].code), (2, "several-layers"));
    }

    #[test]
    fn errors_come_through_after_the_rows_before_them() {
        let e = Source::from_bytes("none", *b"what is this").batches().next().unwrap().unwrap_err();
        assert_eq!((e.kind(), e.path()), (ErrorKind::Unsupported, Some("none")), "{e}");
        let (stop, seen) = (Stop::default(), AtomicU64::new(0));
        let limits = Limits::default().stop(Some(stop.clone()));
        // the input is cut off between its first and its last block
        let count = move |n: u64| {
            if seen.fetch_add(n, Ordering::Relaxed) + n >= 6 << 20 {
                stop.set();
            }
        };
        let options = ReadOptions::default().limits(limits).progress(Some(Arc::new(count)));
        let mut all: Vec<_> = source().batches_with(None, &options).collect();
        let e = all.pop().unwrap().unwrap_err();
        assert!(e.to_string().contains("stopped") && !all.is_empty() && all.iter().all(Result::is_ok), "{e}");
        let folder = tempfile::tempdir().unwrap();
        let mut batches = Source::open(folder.path(), &Limits::default()).unwrap().batches();
        assert!(batches.next().unwrap().is_err() && batches.next().is_none() && batches.finish().is_err());
    }

    #[test]
    fn the_reader_ends_when_its_rows_are_dropped() {
        let (held, ended) = channel::<()>();
        let options = ReadOptions::default().progress(Some(Arc::new(move |_| _ = &held)));
        let mut batches = source().batches_with(None, &options);
        drop(options);
        assert!(batches.next().unwrap().is_ok());
        drop(batches);
        // the options are the thread's: with it they go
        assert!(ended.recv().is_err());
    }
}
