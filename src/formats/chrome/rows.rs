//! Events as rows: transfers with their bytes, or else the times of the events that are I/O.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::args::{Amount, Details, Event};
use super::counters::Counters;
use super::nested::{Lanes, Moved};
use super::open::Pairs;
use crate::error::{Error, Result};
use crate::formats::io_names::last_part;
use crate::formats::json::plain;
use crate::formats::number::{parse_scaled, parse_u64};
use crate::formats::op_name::op_of;
use crate::formats::options::ReadOptions;
use crate::formats::ticks::{MICROS, Ticks};
use crate::record::{
    Batch, CallId, Calls, Data, FileId, Files, Interval, Intervals, LayerSummary, Op, Request, Requests, RowSink,
    UNKNOWN_OFFSET,
};

/// The transfer or call of an event that is I/O.
#[derive(Debug, Clone, Copy)]
pub(super) struct Io {
    op: Op,
    call: CallId,
    file: FileId,
    offset: u64,
    amount: Amount,
}

/// The kind of the rows of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Transfers with a number of bytes.
    Transfers,
    /// Counters of bytes.
    Counters,
    /// The times of events that do not say how many bytes they moved.
    Times,
    /// No event is I/O.
    Nothing,
}

/// Facts about a trace that are needed before its rows can be given as they come.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) content: Option<Content>,
    pub(super) numbers: Processes,
    /// Events are inside others: which count is known when all have been read.
    pub(super) nested: bool,
}

/// Processes by their `pid` as it is written.
#[derive(Debug, Default, Clone)]
pub(super) struct Processes {
    numbers: HashMap<Box<[u8]>, u32>,
    /// Ranks that metadata give.
    stated: HashMap<Box<[u8]>, u32>,
}

impl Processes {
    fn number(&mut self, pid: &[u8]) -> u32 {
        if let Some(&n) = self.numbers.get(pid) {
            return n;
        }
        let n = self.numbers.len() as u32;
        self.numbers.insert(pid.into(), n);
        n
    }

    /// The rank of each number, if metadata give one for each.
    pub(super) fn ranks(&self) -> Option<HashMap<u32, u32>> {
        let ranks = self.numbers.iter().map(|(pid, n)| Some((*n, *self.stated.get(pid)?)));
        let ranks: HashMap<u32, u32> = ranks.collect::<Option<_>>()?;
        (ranks.values().collect::<HashSet<_>>().len() == ranks.len()).then_some(ranks)
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// With the ranks that are stated as numbers; `None` if these are the numbers already.
    fn renumbered(&self) -> Option<Processes> {
        let ranks = self.ranks().filter(|r| r.iter().any(|(n, rank)| n != rank))?;
        let numbers = self.numbers.iter().map(|(pid, n)| (pid.clone(), ranks[n])).collect();
        Some(Processes { numbers, stated: self.stated.clone() })
    }
}

/// The rank in the name of a process such as `Rank 3` or `MPI rank 3`.
fn rank_in(name: &[u8]) -> Option<u32> {
    let lower = name.to_ascii_lowercase();
    let after = memchr::memmem::find(&lower, b"rank")? + 4;
    let digits = lower[after..].trim_ascii_start();
    let digits = digits.strip_prefix(b":").unwrap_or(digits).trim_ascii();
    parse_u64(digits).and_then(|r| u32::try_from(r).ok())
}

/// Names of events counted for a message, if none is I/O.
const MOST_NAMES: usize = 1000;

/// The rows of a trace on their way to a sink.
pub(super) struct Rows<'o> {
    options: &'o ReadOptions,
    ticks: Ticks,
    /// Where rows go as they come; else they are kept.
    sink: Option<&'o dyn RowSink>,
    plan: Option<Content>,
    files: Files,
    calls: Calls,
    pub(super) processes: Processes,
    /// Rank of all events of the file that is read, if it has one.
    pub(super) rank: Option<u32>,
    ranks: HashSet<u32>,
    /// Text in place of a thread number.
    threads: HashMap<Box<[u8]>, u32>,
    pairs: Pairs,
    pub(super) counters: Counters,
    requests: Requests,
    times: Intervals,
    lanes: Lanes,
    lanes_of_times: Lanes,
    /// Positions in the streams that TAU saw opened.
    positions: HashMap<(u32, FileId), u64>,
    /// Events that are the same bytes as others.
    pub(super) inside: u64,
    /// Rows that were given or wait.
    pub(super) transfers: u64,
    pub(super) timed: u64,
    /// Events without a direction.
    pub(super) undirected: u64,
    given: Option<Content>,
    pub(super) summary: Option<LayerSummary>,
    pub(super) events: u64,
    pub(super) bad: u64,
    pub(super) failed: u64,
    pub(super) clamped: u64,
    names: HashMap<Box<[u8]>, u64>,
    pub(super) call_counts: BTreeMap<String, u64>,
    counts: Vec<u64>,
}

impl<'o> Rows<'o> {
    pub(super) fn new(options: &'o ReadOptions, ticks: Ticks, sink: Option<&'o dyn RowSink>, plan: Plan) -> Self {
        Rows {
            options,
            ticks,
            sink,
            plan: plan.content,
            files: Files::default(),
            calls: Calls::default(),
            processes: plan.numbers,
            rank: None,
            ranks: HashSet::new(),
            threads: HashMap::new(),
            pairs: Pairs::default(),
            counters: Counters::default(),
            requests: Requests::default(),
            times: Intervals::default(),
            lanes: Lanes::new(sink.is_none()),
            lanes_of_times: Lanes::new(sink.is_none()),
            positions: HashMap::new(),
            inside: 0,
            transfers: 0,
            timed: 0,
            undirected: 0,
            given: None,
            summary: None,
            events: 0,
            bad: 0,
            failed: 0,
            clamped: 0,
            names: HashMap::new(),
            call_counts: BTreeMap::new(),
            counts: Vec::new(),
        }
    }

    /// Begins the file with this number, whose events are of this rank if it has one.
    pub(super) fn begin_file(&mut self, number: usize, rank: Option<u32>) {
        (self.counters.file, self.rank) = (number, rank);
        self.ranks.extend(rank);
    }

    /// Ends a document.
    pub(super) fn end_document(&mut self) {
        self.pairs.close();
    }

    /// Number of processes, or of the ranks of several files.
    pub(super) fn ranks(&self) -> usize {
        if self.ranks.is_empty() { self.processes.len() } else { self.ranks.len() }
    }

    /// True if the trace has ranks of its own.
    pub(super) fn is_ranked(&self) -> bool {
        !self.ranks.is_empty() || self.processes.ranks().is_some()
    }

    /// Adds an event; false if its numbers cannot be read.
    pub(super) fn add(&mut self, event: &Event<'_>) -> bool {
        self.events += 1;
        if event.phase == b"M" {
            if event.name == b"process_name"
                && let Some(rank) = rank_in(event.arg_name())
            {
                self.processes.stated.entry(event.pid.into()).or_insert(rank);
            }
            return true;
        }
        if !matches!(event.phase, b"X" | b"B" | b"E" | b"b" | b"e" | b"S" | b"F" | b"C") {
            return !event.phase.is_empty();
        }
        let Some(at_ns) = parse_scaled(event.ts, MICROS) else { return false };
        match event.phase {
            b"X" => {
                if event.is_of_tau() {
                    self.follow(event);
                }
                let Some(io) = self.io(event) else { return true };
                let Some(length) = (if event.dur.is_empty() { Some(0) } else { parse_scaled(event.dur, MICROS) })
                else {
                    return false;
                };
                self.push(event, io, at_ns, at_ns.saturating_add(length));
            }
            b"C" => {
                let chosen = self.options.io_names.as_ref().and_then(|n| n.op(event.name, event.category));
                self.counters.add(event, at_ns, chosen);
            }
            b"B" | b"b" | b"S" => {
                let io = self.io(event);
                let key = if event.phase == b"B" { self.pairs.thread(event) } else { self.pairs.id(event) };
                self.pairs.begin(key, event, at_ns, io);
            }
            _ => {
                let key = if event.phase == b"E" { self.pairs.thread(event) } else { self.pairs.id(event) };
                if let Some((start_ns, Some(io))) = self.pairs.end(key, event) {
                    let io = self.with_end(io, event);
                    self.push(event, io, start_ns, at_ns);
                }
            }
        }
        true
    }

    fn rank(&mut self, event: &Event<'_>) -> u32 {
        self.rank.unwrap_or_else(|| self.processes.number(event.pid))
    }

    /// Follows what opens, moves and closes a stream. The offset in one that is open twice is not known.
    fn follow(&mut self, event: &Event<'_>) {
        let last = last_part(event.name);
        let op = op_of(last);
        if !matches!(op, Op::Open | Op::Seek | Op::Close) {
            return;
        }
        let details = Details::of(event, None);
        let key = (self.rank(event), self.files.intern(&plain(details.path)));
        match op {
            Op::Close => _ = self.positions.remove(&key),
            Op::Open if last.starts_with(b"fopen") && !details.appends => {
                self.positions.entry(key).and_modify(|at| *at = UNKNOWN_OFFSET).or_insert(0);
            }
            _ => _ = self.positions.insert(key, UNKNOWN_OFFSET),
        }
    }

    /// Where a transfer of so many bytes goes that says no offset.
    fn advance(&mut self, rank: u32, file: FileId, size: u64) -> u64 {
        let Some(at) = self.positions.get_mut(&(rank, file)).filter(|at| **at != UNKNOWN_OFFSET) else {
            return UNKNOWN_OFFSET;
        };
        let offset = *at;
        *at = at.saturating_add(size);
        offset
    }

    /// The transfer or call of an event, if it is I/O.
    fn io(&mut self, event: &Event<'_>) -> Option<Io> {
        let last = last_part(event.name);
        let (op, chosen) = match &self.options.io_names {
            Some(names) => (names.op(event.name, event.category)?, true),
            None => (op_of(last), false),
        };
        if !chosen && matches!(op, Op::Other) {
            self.count_name(event.name);
            return None;
        }
        let details = Details::of(event, self.options.bytes_arg.as_deref());
        // Names such as `open` are common: without a path they are no calls.
        if !chosen && !op.moves_bytes() && (!self.options.detail.all_calls() || details.path.is_empty()) {
            self.count_name(event.name);
            return None;
        }
        let file = if details.path.is_empty() { FileId::NONE } else { self.files.intern(&plain(details.path)) };
        let call = self.calls.intern(&plain(event.name));
        let offset = details.offset.unwrap_or(UNKNOWN_OFFSET);
        Some(Io { op, call, file, offset, amount: details.amount })
    }

    /// Adds what only the end of an event says.
    fn with_end(&mut self, io: Io, event: &Event<'_>) -> Io {
        let details = Details::of(event, self.options.bytes_arg.as_deref());
        let amount = if details.amount == Amount::Unknown { io.amount } else { details.amount };
        let file = match details.path {
            b"" => io.file,
            path => self.files.intern(&plain(path)),
        };
        Io { amount, file, ..io }
    }

    fn count_name(&mut self, name: &[u8]) {
        if self.transfers > 0 || self.timed > 0 {
            return;
        }
        if let Some(n) = self.names.get_mut(name) {
            *n += 1;
        } else if self.names.len() < MOST_NAMES {
            self.names.insert(name.into(), 1);
        }
    }

    /// The most frequent names, if no event is I/O.
    pub(super) fn frequent_names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), *name));
        names.into_iter().take(5).map(|(name, n)| format!("{} ({n})", plain(name))).collect()
    }

    fn task(&mut self, tid: &[u8]) -> u32 {
        if let Some(n) = parse_u64(tid) {
            return n as u32;
        }
        let next = self.threads.len() as u32 + 1;
        if tid.is_empty() { 0 } else { *self.threads.entry(tid.into()).or_insert(next) }
    }

    /// Adds a row for an event that is I/O.
    fn push(&mut self, event: &Event<'_>, io: Io, start_ns: i64, end_ns: i64) {
        let rank = self.rank(event);
        let task = self.task(event.tid);
        self.clamped += u64::from(end_ns < start_ns);
        let (start, end) = (self.ticks.seconds(start_ns), self.ticks.seconds(end_ns.max(start_ns)));
        if self.counts.len() < self.calls.len() {
            self.counts.resize(self.calls.len(), 0);
        }
        if let Some(count) = self.counts.get_mut(usize::from(io.call.0)) {
            *count += 1;
        }
        let Io { call, file, offset, .. } = io;
        let row = Request { op: io.op, call, rank, task, file, offset, size: 0, start, end };
        let moves = io.op.moves_bytes() || io.op == Op::Other;
        let op = if io.op == Op::Other { Op::Read } else { io.op };
        // asynchronous events are on no thread, and those of no thread may overlap
        let on_thread = matches!(event.phase, b"X" | b"E") && !event.tid.is_empty();
        let thread = on_thread.then_some((rank, task));
        let moved = Moved { lane: 0, op, file, start, end, bytes: 0.0 };
        match io.amount {
            Amount::Bytes(size) if moves => {
                self.undirected += u64::from(io.op == Op::Other);
                self.transfers += 1;
                self.times = Intervals::default();
                self.lanes.note(thread, Moved { bytes: size as f64, ..moved });
                let offset = if offset == UNKNOWN_OFFSET { self.advance(rank, file, size) } else { offset };
                self.requests.push(Request { op, size, offset, ..row });
            }
            Amount::Failed if moves => {
                self.failed += 1;
                if self.options.detail.all_calls() {
                    self.lanes.note(None, moved);
                    self.requests.push(Request { op: Op::Other, ..row });
                }
            }
            _ if moves => {
                self.timed += 1;
                self.undirected += u64::from(io.op == Op::Other);
                if self.transfers == 0 && self.plan.is_none_or(|p| p == Content::Times) {
                    // One byte a microsecond: the rate says how many events are under way.
                    let bytes = end_ns.max(start_ns).saturating_sub(start_ns) as f64 / 1e3;
                    self.lanes_of_times.note(thread, Moved { bytes, ..moved });
                    self.times.push(Interval { op, rank, file, bytes, start, end, ..Interval::default() });
                }
            }
            _ => {
                self.lanes.note(None, moved);
                self.requests.push(row);
            }
        }
    }

    /// The kind of the rows, by all events so far.
    pub(super) fn content(&self) -> Content {
        match (self.transfers, self.counters.samples, self.timed) {
            (0, 0, 0) => Content::Nothing,
            (0, 0, _) => Content::Times,
            (0, _, _) => Content::Counters,
            _ => Content::Transfers,
        }
    }

    /// Gives rows to the sink, or checks how many wait.
    ///
    /// # Errors
    /// Limits, and those of the sink.
    pub(super) fn give(&mut self) -> Result<()> {
        let most = self.options.limits.records;
        if self.transfers.max(self.timed) > most as u64 || self.requests.len().max(self.counters.samples) > most {
            return Err(Error::too_many_rows(most));
        }
        let Some(sink) = self.sink else { return Ok(()) };
        let content = self.plan.unwrap_or_else(|| self.content());
        let rows = match content {
            Content::Transfers if self.given.is_none_or(|g| g == content) => {
                Data::Requests(std::mem::take(&mut self.requests))
            }
            Content::Times if self.given.is_none_or(|g| g == content) => {
                Data::Intervals(std::mem::take(&mut self.times))
            }
            _ => {
                (self.requests, self.times) = (Requests::default(), Intervals::default());
                return Ok(());
            }
        };
        if !rows.is_empty() {
            self.given = Some(content);
            self.hand(sink, rows)?;
        }
        Ok(())
    }

    fn hand(&mut self, sink: &dyn RowSink, rows: Data) -> Result<()> {
        let name = if self.given == Some(Content::Transfers) { "requests" } else { "phases" };
        let origin_s = self.ticks.origin_s;
        LayerSummary::of(name, &rows, origin_s).add_to(&mut self.summary);
        let batch = Batch::of(Cow::Owned(rows), origin_s, (&self.files, &self.calls));
        sink.take(Batch { binned: true, ..batch })
    }

    /// The plan by which the rows should have been given; `None` if they were.
    pub(super) fn again(&self) -> Option<Plan> {
        let content = self.content();
        let renumbered = self.processes.renumbered();
        let nested = match content {
            Content::Transfers => self.lanes.any_nested(),
            Content::Times => self.lanes_of_times.any_nested(),
            Content::Counters | Content::Nothing => false,
        };
        let wrong = self.given.is_some_and(|g| g != content || renumbered.is_some() || nested);
        wrong.then(|| {
            let numbers = renumbered.unwrap_or_else(|| self.processes.clone());
            Plan { content: Some(content), numbers, nested }
        })
    }

    /// Takes out of the rows that are kept those whose bytes are in others.
    fn count_once(&mut self) {
        let before = self.requests.len() + self.times.len();
        let rows = &self.requests;
        let moved = rows.iter().map(|r| Moved {
            lane: 0,
            op: r.op,
            file: r.file,
            start: r.start,
            end: r.end,
            bytes: r.size as f64,
        });
        if let Some(counted) = self.lanes.counted(moved) {
            self.requests = rows.iter().zip(counted).filter(|(_, counts)| *counts).map(|(r, _)| r).collect();
        }
        let rows = &self.times;
        let moved =
            rows.iter().map(|r| Moved { lane: 0, op: r.op, file: r.file, start: r.start, end: r.end, bytes: r.bytes });
        if let Some(counted) = self.lanes_of_times.counted(moved) {
            self.times = rows.iter().zip(counted).filter(|(_, counts)| *counts).map(|(r, _)| r).collect();
        }
        self.inside = (before - self.requests.len() - self.times.len()) as u64;
    }

    /// Gives the rows that were kept to `sink`, with the ranks that metadata give.
    ///
    /// # Errors
    /// Those of the sink.
    pub(super) fn give_kept(&mut self, sink: &dyn RowSink) -> Result<()> {
        let content = self.content();
        if let Some(numbers) = self.processes.renumbered() {
            let ranks: HashMap<u32, u32> =
                self.processes.numbers.iter().map(|(pid, n)| (*n, numbers.numbers[pid])).collect();
            let rank = |n: u32| ranks.get(&n).copied().unwrap_or(n);
            self.requests.rank.map_in_place(rank);
            self.times.rank.map_in_place(rank);
            self.processes = numbers;
        }
        self.given = Some(content);
        self.count_once();
        match content {
            Content::Transfers => {
                let rows = Data::Requests(std::mem::take(&mut self.requests));
                self.hand(sink, rows)
            }
            Content::Times => {
                let rows = Data::Intervals(std::mem::take(&mut self.times));
                self.hand(sink, rows)
            }
            Content::Counters | Content::Nothing => Ok(()),
        }
    }

    /// Ends the reading: names, counts, and how many begins and ends have no partner.
    pub(super) fn finish(&mut self) -> (Files, Calls, u64) {
        for (i, &n) in self.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            self.call_counts.insert(self.calls.name(CallId(i as u16)).to_owned(), n);
        }
        (std::mem::take(&mut self.files), std::mem::take(&mut self.calls), self.pairs.unmatched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_names_of_processes() {
        for (name, rank) in [("Rank 3", Some(3)), ("MPI Rank: 12", Some(12)), ("rank", None), ("python", None)] {
            assert_eq!(rank_in(name.as_bytes()), rank, "{name}");
        }
    }
}
