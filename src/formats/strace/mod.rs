//! strace text: system calls with tracked file offsets.
//!
//! One file of a run of `strace -f -ttt -T -y -o FILE`, or a folder of them, one for each rank (`NAME_HOST_ID.st`). All forms of
//! timestamps (`-t -tt -ttt -r`), of process ids (`-o` and terminal) and of annotations (none, `-y`, `-yy`) are understood.
//!
//! Lines are taken apart in parallel (`text`), while those before pass in their order through
//! `stream` (halves of calls joined, clocks made absolute) to `requests` (files and offsets, by `descriptors`).
//!
//! Offsets: `pread64` and its kin say them; for `read`, `write` and theirs they follow from the opens, seeks and transfers
//! before, also through `dup`, `fork` and threads. Where a descriptor was opened before the trace began the offset is unknown
//! until a seek returns it.

mod batches;
mod calls;
mod descriptors;
mod diagnostics;
mod part;
mod path;
mod requests;
mod stream;
mod tail;
mod text;
pub(super) mod write;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use self::batches::{Destination, Merged, RowBuffer};
use self::diagnostics::Diagnostics;
use self::part::{Head, Part, read_part};
use self::requests::RowMaker;
pub use self::stream::Stats;
use self::stream::{CallEvent, Sink};
use self::text::Outcome;
use super::format::{Format, Sniff};
use super::lines::Followed;
use super::options::{Detail, ReadOptions};
use super::source::Source;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{CallId, Data, Job, LayerSummary, Lookups, Restart, RowSink, Timing, Trace};

/// The format.
pub struct Strace;

impl Format for Strace {
    fn name(&self) -> &'static str {
        "strace"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        part::sniff(head)
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let job = JobFiles::new(sources, options.detail == Detail::Log);
        if options.detail == Detail::Log {
            return facts(&job.read(options, Destination::Log(sink))?, job.origin_s);
        }
        let (mut trace, merged) = if sink.keeps_rows() {
            let mut parts = job.read(options, Destination::Memory(options.limits.records))?;
            let mut trace = facts(&parts, job.origin_s)?;
            let merged = Merged::new(sink, shared_appends(&parts));
            trace.layers.extend(give_all(&mut parts, &merged, job.origin_s, options.limits.records)?);
            (trace, merged)
        } else {
            let mut merged = Merged::new(sink, HashSet::new());
            let parts = job.read(options, Destination::Merged(&merged))?;
            let (trace, shared) = (facts(&parts, job.origin_s)?, shared_appends(&parts));
            drop(parts);
            if !shared.is_empty() {
                sink.restart(Restart::Trace);
                merged = Merged::new(sink, shared);
                job.read(options, Destination::Merged(&merged))?;
            }
            (trace, merged)
        };
        (trace.files, trace.calls) = merged.into_names();
        Ok(trace)
    }

    /// A folder of strace files is one run, which may have executed several programs.
    fn job_of(&self, _source: &Source) -> Option<String> {
        Some(String::new())
    }

    fn follow(&self, _: &[u8], options: &ReadOptions) -> Result<Followed> {
        Ok(Followed::Lines(Box::new(tail::follow(options.limits.line_bytes))))
    }

    fn logs_calls(&self) -> bool {
        true
    }
}

/// The files of a job in the order of their ranks.
struct JobFiles<'s> {
    /// Each with its place among the sources.
    order: Vec<(usize, &'s Source)>,
    starts: Vec<Head>,
    origin_s: i64,
}

impl<'s> JobFiles<'s> {
    /// In a log ranks do not matter, and the files stay in their order.
    fn new(sources: &'s [Source], log: bool) -> Self {
        let mut order: Vec<(usize, &Source)> = sources.iter().enumerate().collect();
        if !log {
            order.sort_by_cached_key(|(_, s)| run_id(s.file_name()));
        }
        let starts: Vec<Head> = order.iter().map(|(_, s)| Head::of(s.head())).collect();
        let origin_s = starts.iter().filter_map(|h| h.epoch_s).min().unwrap_or(0);
        JobFiles { order, starts, origin_s }
    }

    /// Reads all of them.
    fn read<'d>(&self, options: &ReadOptions, destination: Destination<'d>) -> Result<Vec<Part<RowMaker<'d>>>> {
        let latest = self.starts.iter().filter_map(|h| h.day_ns).max().unwrap_or(0);
        // Enough files keep all threads busy by themselves.
        let share = self.order.len() < rayon::current_num_threads();
        let read = |(rank, (&(part, source), head)): (usize, (&(usize, &Source), &Head))| {
            let rank = u32::try_from(rank).unwrap_or(u32::MAX);
            let once = || {
                let rows = RowBuffer::new(destination, part, rank, self.origin_s);
                let rows = RowMaker::new(options.detail, rows);
                let mut read = read_part(source, options, rows, head, head.days(latest), share)?;
                read.sink.finish().map(|()| read)
            };
            match (once()?, destination) {
                (first, Destination::Log(sink)) if first.stats.clock_backwards > 0 => {
                    sink.restart(Restart::ClockSteps(part));
                    once()
                }
                (first, _) => Ok(first),
            }
        };
        let read =
            |file: (usize, (&(usize, &Source), &Head))| read(file).map_err(|e: Error| e.in_file(file.1.0.1.name()));
        let parts: Vec<Result<_>> = self.order.par_iter().zip(&self.starts).enumerate().map(read).collect();
        parts.into_iter().collect()
    }
}

/// A call as it stands in a trace, whole even if other lines came between.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemCall<'a> {
    /// Line where it begins, from 1.
    pub line: u64,
    /// Process or thread; 0 if the trace does not say.
    pub pid: u32,
    /// Begin in nanoseconds: since 1970, since midnight of the first day, or since the first line.
    pub start_ns: i64,
    /// Duration in nanoseconds, if recorded.
    pub duration_ns: Option<u64>,
    /// Name.
    pub name: &'a str,
    /// Number of arguments.
    pub n_args: u32,
    /// Number returned; 0 for what is written in hexadecimal (addresses, flags), `None` if the call did not return.
    pub result: Option<i64>,
    /// Symbolic error, also of an interrupted call.
    pub errno: Option<&'a str>,
    /// The file, as far as it follows from the lines of the call; `pipe`, `socket`, `anon_inode` ... for what has no path.
    pub path: Option<Cow<'a, str>>,
    /// Bytes moved, if it is a transfer that succeeded.
    pub bytes: Option<u64>,
}

/// Goes through the calls of a file in the order in which they end.
///
/// # Errors
/// [`ErrorKind::Io`]; what cannot be parsed is counted.
pub fn visit(source: &Source, options: &ReadOptions, visitor: impl FnMut(&SystemCall<'_>) + Send) -> Result<Stats> {
    struct Visit<F>(F);
    impl<F: FnMut(&SystemCall<'_>) + Send> Sink for Visit<F> {
        fn call(&mut self, e: &CallEvent<'_>) -> Result<()> {
            let c = e.call;
            let errno = c.errno.of(e.text);
            (self.0)(&SystemCall {
                line: e.line,
                pid: e.pid,
                start_ns: e.start,
                duration_ns: u64::try_from(c.duration).ok(),
                name: std::str::from_utf8(c.name.of(e.text)).unwrap_or_default(),
                n_args: c.n_args,
                result: match c.outcome {
                    Outcome::Number(n) => Some(n),
                    Outcome::Hex => Some(0),
                    Outcome::Unknown => None,
                },
                errno: std::str::from_utf8(errno).ok().filter(|e| !e.is_empty()),
                path: path::of_call(e.text, c, None),
                bytes: c.bytes(),
            });
            Ok(())
        }
    }
    Ok(read_part(source, options, Visit(visitor), &Head::of(source.head()), 0, true)?.stats)
}

/// Sort key of a file of a folder: the run id of `NAME_HOST_ID.st` by value, then the name.
fn run_id(file_name: &str) -> (u128, String, String) {
    let stem = file_name.strip_suffix(".st").unwrap_or(file_name);
    let id = match stem.split_once('_') {
        Some((_, rest)) => rest.rsplit_once('_').map_or(rest, |(_, id)| id),
        None => stem.rsplit_once('.').map_or(stem, |(_, id)| id),
    };
    (id.parse().unwrap_or(u128::MAX), id.to_owned(), file_name.to_owned())
}

/// Gives the rows of all parts to the sink, in the order of ranks, and adds them up.
fn give_all(
    parts: &mut [Part<RowMaker<'_>>],
    merged: &Merged<'_>,
    origin_s: i64,
    most: usize,
) -> Result<Option<LayerSummary>> {
    let mut summary: Option<LayerSummary> = None;
    let mut rows = 0;
    for RowMaker { rows: buffer, files, calls, .. } in parts.iter_mut().map(|p| &mut p.sink) {
        let of_part = Data::Requests(std::mem::take(&mut buffer.requests));
        rows += of_part.len();
        if rows > most {
            return Err(Error::too_many_rows(most));
        }
        LayerSummary::of("requests", &of_part, origin_s).add_to(&mut summary);
        if let Data::Requests(rows) = of_part {
            buffer.requests = rows;
        }
        buffer.give_merged(merged, files, calls)?;
    }
    Ok(summary)
}

/// The trace of some parts without rows and names.
fn facts(parts: &[Part<RowMaker<'_>>], origin_s: i64) -> Result<Trace> {
    let mut trace = Trace { format: Strace.name(), origin_s, ..Trace::default() };
    trace.ranks = parts.len() as u64;
    let diagnostics = Diagnostics::of(parts);
    if diagnostics.calls == 0 {
        return Err(nothing(parts));
    }
    let untimed = parts.iter().find(|p| p.stats.calls > 0 && !p.stats.has_times());
    trace.timing = match untimed {
        None => Timing::Request,
        Some(_) if !diagnostics.timed => Timing::Order,
        Some(part) => {
            let found = format!("a file of {} calls has no times, and other files have", part.stats.calls);
            return Err(
                Error::new(ErrorKind::Unsupported, found).remedy("record all with `strace -f -ttt -T -y -o FILE`")
            );
        }
    };
    trace.clock = diagnostics.clock;
    trace.job = Some(job(parts, &diagnostics));
    for part in parts {
        for (i, &n) in part.sink.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            *trace.call_counts.entry(part.sink.calls.name(CallId(i as u16)).to_owned()).or_default() += n;
        }
    }
    let mut lookups = Lookups::default();
    parts.iter().for_each(|p| lookups.join(&p.sink.lookups));
    trace.lookups = Some(lookups);
    let q = &mut trace.quality;
    q.records_read = diagnostics.calls + diagnostics.never_resumed;
    q.records_dropped = diagnostics.unparsed + diagnostics.orphan_resumed;
    q.records_left_out = parts.iter().map(|p| p.sink.failed).sum::<u64>() + diagnostics.never_resumed;
    q.clock_backwards = parts.iter().map(|p| p.stats.clock_backwards).sum();
    if diagnostics.damaged {
        q.partial.push("requests".into());
    }
    q.untimed = diagnostics.untimed;
    trace.warnings = diagnostics.warnings;
    Ok(trace)
}

/// Files that several ranks write to and one of them appends to.
fn shared_appends(parts: &[Part<RowMaker<'_>>]) -> HashSet<String> {
    let sinks = || parts.iter().map(|p| &p.sink);
    let mut writers: HashMap<&str, u32> =
        sinks().flat_map(|s| s.appended.iter().map(|&f| (s.files.name(f), 0))).collect();
    if !writers.is_empty() {
        for s in sinks() {
            for (_, name) in s.files.iter().zip(&s.written).filter(|(_, w)| **w).map(|(file, _)| file) {
                writers.entry(name).and_modify(|n| *n += 1);
            }
        }
    }
    writers.into_iter().filter(|(_, n)| *n > 1).map(|(name, _)| name.to_owned()).collect()
}

/// The error for files without a single call.
fn nothing(parts: &[Part<RowMaker<'_>>]) -> Error {
    let error = match parts.iter().find_map(|p| p.stats.first_unparsed) {
        Some(line) => Error::malformed(Place::Line(line), "no system call in the whole trace"),
        None => Error::new(ErrorKind::Empty, "no system call in the whole trace").at(Place::Line(1)),
    };
    error.expected("lines of the form `name(arguments) = result`").remedy("record with `strace -f -ttt -T -y -o FILE`")
}

/// Facts about the job: the first program, and begin and end if the clock is that of the calendar and the log holds them.
fn job(parts: &[Part<RowMaker<'_>>], diagnostics: &Diagnostics) -> Job {
    let span = parts.iter().filter_map(|p| p.stats.span_ns).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let seconds = |ns: i64| ns as f64 / 1e9;
    let calendar = span.filter(|_| diagnostics.epoch && !diagnostics.mixed);
    // a log that is cut, or still written, does not say when the program ended
    let ended = parts.iter().all(|p| p.stats.ended);
    Job {
        executable: parts.iter().find_map(|p| p.sink.command.clone()),
        start_unix_s: calendar.map(|span| seconds(span.0)),
        end_unix_s: calendar.filter(|_| ended).map(|span| seconds(span.1)),
        run_time_s: span.filter(|_| !diagnostics.mixed).map(|span| seconds(span.1.saturating_sub(span.0))),
        ..Job::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ordered_by_run_id() {
        let mut names = ["a_h_10.st", "b_h_x_9.st", "a_h_1.st", "name.12", "plain"];
        names.sort_by_cached_key(|n| run_id(n));
        assert_eq!(names, ["a_h_1.st", "b_h_x_9.st", "a_h_10.st", "name.12", "plain"]);
        assert_eq!((part::process_of("name.12"), part::process_of("a_h_1.st")), (Some(12), None));
    }

    #[test]
    fn content_decides() {
        let sniff = |t: &str| Strace.sniff(t.as_bytes());
        assert_eq!(sniff("12 00:00:01.5 read(3, \"\", 5) = 0 <0.1>\n"), Sniff::Yes);
        assert_eq!(sniff("read(3, \"\", 5) = 0\n"), Sniff::Maybe);
        assert!(matches!(sniff("{\"read(3)\": 1}\n"), Sniff::No(_)));
        assert!(matches!(sniff("rank,op,size\n0,read,5\n"), Sniff::No(_)));
        assert!(matches!(sniff(""), Sniff::No(_)));
    }
}
