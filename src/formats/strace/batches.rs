//! Rows of the files of a job on their way to a sink.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::stream::CallEvent;
use super::text::NANOS;
use crate::error::{Error, Result};
use crate::record::{
    BATCH_ROWS, Batch, CallId, CallLog, Calls, FileId, Files, LoggedCall, Op, Request, Requests, RowSink, SplitCall,
    UNKNOWN_OFFSET,
};

/// Where rows go.
#[derive(Clone, Copy)]
pub(super) enum Destination<'s> {
    /// They stay in the buffer, at most this number.
    Memory(usize),
    /// To a sink, with the log of the calls and the names of their file.
    Log(&'s dyn RowSink),
    /// To a sink, with the names of all files.
    Merged(&'s Merged<'s>),
}

/// A sink and the names of all files of a job.
pub(super) struct Merged<'s> {
    sink: &'s dyn RowSink,
    names: Mutex<(Files, Calls)>,
    /// Files that several ranks write to and one appends to: the trace of one rank does not show where the file ends.
    shared_appends: HashSet<String>,
}

impl<'s> Merged<'s> {
    pub(super) fn new(sink: &'s dyn RowSink, shared_appends: HashSet<String>) -> Self {
        Merged { sink, names: Mutex::default(), shared_appends }
    }

    pub(super) fn into_names(self) -> (Files, Calls) {
        self.names.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows of one file that have not been given to a sink.
pub(super) struct RowBuffer<'s> {
    destination: Destination<'s>,
    part: usize,
    rank: u32,
    origin_s: i64,
    pub(super) requests: Requests,
    pub(super) log: Option<CallLog>,
    /// The names of the file as numbered in [`Merged`], and whether writes to them have no known offset.
    files: Vec<FileId>,
    shared: Vec<bool>,
    calls: Vec<CallId>,
}

impl<'s> RowBuffer<'s> {
    /// For the file that is `part` of those read. Times become relative to `origin_s`.
    pub(super) fn new(destination: Destination<'s>, part: usize, rank: u32, origin_s: i64) -> Self {
        RowBuffer {
            destination,
            part,
            rank,
            origin_s,
            requests: Requests::default(),
            log: matches!(destination, Destination::Log(_)).then(CallLog::default),
            files: Vec::new(),
            shared: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Adds the row of a call, which lacks rank, task and times.
    pub(super) fn push(&mut self, e: &CallEvent<'_>, row: Request, files: &Files, calls: &Calls) -> Result<()> {
        let origin_ns = self.origin_s * NANOS;
        let seconds = |ns: i64| ns.saturating_sub(origin_ns) as f64 / 1e9;
        let (start, end) = (seconds(e.start), seconds(e.start.saturating_add(e.call.duration.max(0))));
        self.requests.push(Request { rank: self.rank, task: e.pid, start, end, ..row });
        let len = self.requests.len();
        if let Some(log) = &mut self.log {
            log.calls.push(LoggedCall {
                line: e.line,
                start_ns: e.start,
                duration_ns: u64::try_from(e.call.duration).ok(),
                interrupted: e.call.errno.of(e.text).starts_with(b"ERESTART"),
            });
        }
        match self.destination {
            Destination::Memory(most) if len > most => Err(Error::too_many_rows(most)),
            Destination::Log(_) | Destination::Merged(_) if len >= BATCH_ROWS => self.give(files, calls),
            _ => Ok(()),
        }
    }

    /// A call began in this line and goes on in another; `begun_by`: its process, or `None` if it was cancelled.
    pub(super) fn split(&mut self, line: u64, begun_by: Option<u32>) {
        if let (Destination::Log(_), Some(log)) = (self.destination, &mut self.log) {
            log.split.push(SplitCall { before_row: self.requests.len(), line, begun_by });
        }
    }

    /// Gives the rows to the sink, if they have one.
    fn give(&mut self, files: &Files, calls: &Calls) -> Result<()> {
        match self.destination {
            Destination::Memory(_) => Ok(()),
            Destination::Log(sink) => self.give_to(sink, files, calls),
            Destination::Merged(merged) => self.give_merged(merged, files, calls),
        }
    }

    /// Gives the rows to a sink with the names of all files.
    pub(super) fn give_merged(&mut self, merged: &Merged<'_>, files: &Files, calls: &Calls) -> Result<()> {
        let mut names = merged.names.lock().unwrap_or_else(PoisonError::into_inner);
        let (all_files, all_calls) = &mut *names;
        for (_, name) in files.iter().skip(self.files.len()) {
            self.files.push(all_files.intern(name));
            self.shared.push(merged.shared_appends.contains(name));
        }
        let new = self.calls.len()..calls.len();
        self.calls.extend(new.map(|i| all_calls.intern(calls.name(CallId(i as u16)))));
        let rows = &mut self.requests;
        if !merged.shared_appends.is_empty() {
            let shared = |f: FileId| self.shared.get(f.0 as usize).is_some_and(|shared| *shared);
            let offset = |r: Request| if r.op == Op::Write && shared(r.file) { UNKNOWN_OFFSET } else { r.offset };
            rows.offset = rows.iter().map(offset).collect::<Vec<_>>().into();
        }
        rows.renumber(&self.files, &self.calls);
        self.give_to(merged.sink, all_files, all_calls)
    }

    fn give_to(&mut self, sink: &dyn RowSink, files: &Files, calls: &Calls) -> Result<()> {
        let batch = Batch::of(Cow::default(), self.origin_s, (files, calls));
        let log = self.log.as_ref().filter(|_| !sink.keeps_rows());
        self.requests.give(sink, Batch { part: self.part, log, ..batch })?;
        self.clear();
        Ok(())
    }

    /// Gives the last rows to the sink, if they have one, and frees their memory.
    pub(super) fn finish(&mut self, files: &Files, calls: &Calls) -> Result<()> {
        self.give(files, calls)?;
        if !matches!(self.destination, Destination::Memory(_)) {
            (self.requests, self.log) = (Requests::default(), None);
        }
        Ok(())
    }

    /// Drops the rows but keeps their memory.
    pub(super) fn clear(&mut self) {
        self.requests.clear();
        if let Some(log) = &mut self.log {
            log.calls.clear();
            log.split.clear();
        }
    }
}
