//! A trace: its records or intervals, and the facts about job, file and quality that come with them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counters::Counters;
use super::intervals::Intervals;
use super::lookups::Lookups;
use super::names::{Calls, Files};
use super::range::is_time;
use super::requests::{Op, Requests};
use crate::remedy::Remedy;

/// Layer of the I/O stack at which something was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Layer {
    /// POSIX calls.
    Posix,
    /// MPI-IO calls.
    Mpiio,
    /// C library streams.
    Stdio,
}

impl Layer {
    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Posix => "posix",
            Layer::Mpiio => "mpiio",
            Layer::Stdio => "stdio",
        }
    }
}

/// The kind of one row of the data, which decides how exact its times are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Timing {
    /// A single request.
    #[default]
    Request,
    /// A phase of requests, with its own start and end.
    Phase,
    /// A bin of fixed width.
    Heatmap,
    /// Counters: what moved from one reading to the next ([`Trace::bin_s`] is the usual step), or, without a step, totals of a file
    /// between its first and last access.
    Counter,
    /// A single request without a time: what stands for its times is its place in the order, in nanoseconds.
    Order,
}

/// The zero of a trace's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ClockKind {
    /// The start of the job.
    JobStart,
    /// 1970-01-01 00:00 UTC.
    Unix,
    /// Midnight before the start of the trace, local time of the machine that recorded it.
    Midnight,
    /// A zero of the trace's own, which nothing relates to other clocks.
    #[default]
    Trace,
}

/// The zero of the times of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Clock {
    /// The zero of the clock.
    pub kind: ClockKind,
    /// The zero in seconds since 1970-01-01 00:00 UTC; `null` if it is not known.
    pub zero_unix_s: Option<f64>,
}

impl Clock {
    /// The clock of a job that began at `start_unix_s`.
    pub(crate) fn job_start(start_unix_s: f64) -> Clock {
        Clock { kind: ClockKind::JobStart, zero_unix_s: Some(start_unix_s) }
    }

    /// The clock of time stamps: seconds since 1970, or since midnight.
    pub(crate) fn of_stamps(epoch: bool, time_of_day: bool) -> Clock {
        match (epoch, time_of_day) {
            (true, false) => Clock { kind: ClockKind::Unix, zero_unix_s: Some(0.0) },
            (false, true) => Clock { kind: ClockKind::Midnight, zero_unix_s: None },
            _ => Clock::default(),
        }
    }

    /// A time of the trace in seconds since 1970.
    pub fn unix_s(&self, time_s: f64) -> Option<f64> {
        self.zero_unix_s.map(|zero| zero + time_s)
    }
}

/// The rows of a trace.
#[derive(Debug, Clone)]
pub enum Data {
    /// Calls, with offsets where known.
    Requests(Requests),
    /// Stretches without offsets.
    Intervals(Intervals),
}

impl Default for Data {
    fn default() -> Self {
        Data::Requests(Requests::default())
    }
}

/// First start and last end, on the trace's own clock.
pub(crate) type Extent = (Option<f64>, Option<f64>);

impl Data {
    /// First start and last end of all rows, whose times count from `origin_s`.
    pub(crate) fn extent(&self, origin_s: i64) -> Extent {
        let (start, end) = match self {
            Data::Requests(r) => (&r.start, &r.end),
            Data::Intervals(i) => (&i.start, &i.end),
        };
        let origin = origin_s as f64;
        let first = start.iter().copied().reduce(f64::min).map(|t| t + origin);
        let last = end.iter().copied().reduce(f64::max).map(|t| t + origin);
        (first, last)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Data::Requests(r) => r.len(),
            Data::Intervals(i) => i.len(),
        }
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends rows of the same kind, whose names are of the same tables.
    pub fn append(&mut self, other: Data) {
        match (self, other) {
            (Data::Requests(a), Data::Requests(b)) => a.append(b),
            (Data::Intervals(a), Data::Intervals(b)) => a.append(b),
            (mine, theirs) if mine.is_empty() => *mine = theirs,
            _ => {}
        }
    }
}

/// Facts about the job; `None` where the trace does not say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Job {
    /// Job id of the batch system.
    pub id: Option<i64>,
    /// Numeric user id.
    pub uid: Option<u64>,
    /// Command line.
    pub executable: Option<String>,
    /// Number of processes.
    pub ranks: Option<u64>,
    /// Start in seconds since 1970-01-01 00:00 UTC.
    pub start_unix_s: Option<f64>,
    /// End in seconds since 1970-01-01 00:00 UTC.
    pub end_unix_s: Option<f64>,
    /// Run time in seconds.
    pub run_time_s: Option<f64>,
}

impl Job {
    /// Takes out an end before the start and a run time that is no length of time. True if there was one.
    pub(crate) fn take_out_impossible_end(&mut self) -> bool {
        let start = self.start_unix_s.unwrap_or(f64::NEG_INFINITY).max(0.0);
        // 0 stands for an end that was never written
        let ends = self.end_unix_s.is_none_or(|end| is_time(end) && end > 0.0 && end >= start);
        let runs = self.run_time_s.is_none_or(|t| is_time(t) && t >= 0.0);
        if !(ends && runs) {
            (self.end_unix_s, self.run_time_s) = (None, None);
        }
        !(ends && runs)
    }
}

/// Totals of one kind of data in a trace (`posix`, `dxt-posix`, `heatmap-stdio`, `requests`, `phases`, ...).
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LayerSummary {
    /// `posix`, `mpiio`, `stdio` (counters, or calls), `dfs`, `daos`, `h5f`, `h5d`, `pnetcdf_file`, `pnetcdf_var` (counters), `mpi`,
    /// `hdf5`, `pnetcdf`, `netcdf`, `user` (calls), `dxt-posix`, `dxt-mpiio` (segments), `heatmap-posix`, ..., `apmpi`, `bg/q` (records
    /// that are only counted), `requests`, `phases`.
    pub layer: String,
    /// Number of records: counter records, segments, heatmap records, requests or phases.
    pub records: u64,
    /// Number of read operations; `null` if the layer does not count them, or a count is impossible.
    pub reads: Option<u64>,
    /// Number of write operations; `null` if the layer does not count them, or a count is impossible.
    pub writes: Option<u64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Start of the first access, seconds on the trace's own clock.
    pub first_s: Option<f64>,
    /// End of the last access, seconds on the trace's own clock.
    pub last_s: Option<f64>,
}

/// Losses on the way from the file to the data: records lost, left out or corrected.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Quality {
    /// Records seen in the input, kept or not.
    pub records_read: u64,
    /// Records that could not be used: unparsable, without the fields they need, from a damaged tail.
    pub records_dropped: u64,
    /// Records left out on purpose: failed or interrupted calls, system files.
    pub records_left_out: u64,
    /// Records whose times or sizes had to be brought into range (end before start, negative, not finite).
    pub clamped: u64,
    /// Times the clock of a stream stepped back.
    pub clock_backwards: u64,
    /// Modules or parts known to be incomplete.
    pub partial: Vec<String>,
    /// Counters with values that they cannot have.
    pub impossible: Vec<Impossible>,
    /// Modules whose part in the I/O time is not known.
    pub untimed: Vec<Untimed>,
}

/// A counter of a log with values that it cannot have: negative bytes, calls or times, times that are no numbers, ends before starts.
/// As text it is a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Impossible {
    /// Name of the module, such as `MPI-IO`.
    pub module: String,
    /// Full name of the counter, such as `MPIIO_BYTES_WRITTEN`.
    pub counter: &'static str,
    /// The fault of its value: `negative`, `too large`, `not finite` or `before its start`.
    pub value: &'static str,
    /// Number of records with such a value.
    pub records: u64,
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = if self.records == 1 { "record" } else { "records" };
        write!(f, "{} is {} in {} {records}", self.counter, self.value, self.records)
    }
}

/// A module that moved bytes, or can have, and whose times cannot be read. As text it is a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Untimed {
    /// Name of the module or interface, such as `DFS` or `io_uring`.
    pub module: String,
    /// Bytes that it moved; `None` if they cannot be read either.
    pub bytes: Option<u64>,
}

impl fmt::Display for Untimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            Some(n) => write!(f, "{n} bytes went through {}, whose times are not known", self.module),
            None => write!(f, "bytes and times of {} are not known", self.module),
        }
    }
}

/// Something a person should know before trusting the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Warning {
    /// Stable code in kebab case, such as `damaged-tail`; `docs/contract.md` lists all.
    pub code: String,
    /// Description in one sentence.
    pub message: String,
    /// Remedy; `null` if nothing can be done.
    pub remedy: Option<Remedy>,
}

impl Warning {
    /// A warning without remedy.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Warning { code: code.into(), message: message.into(), remedy: None }
    }

    /// Adds the remedy.
    pub fn remedy(mut self, what: impl Into<Remedy>) -> Self {
        self.remedy = Some(what.into());
        self
    }

    /// Most warnings of one code that are listed; the others are counted.
    const LISTED: usize = 16;

    /// Keeps the first warnings of each code and says how many more there are: damage that repeats makes no list without end.
    pub(crate) fn fold(warnings: &mut Vec<Warning>) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        warnings.retain(|w| {
            let count = counts.entry(w.code.clone()).or_default();
            *count += 1;
            *count <= Self::LISTED
        });
        let more = counts.into_iter().filter(|(_, n)| *n > Self::LISTED);
        warnings.extend(more.map(|(code, n)| {
            let message = format!("{} more warnings like the {} before", n - Self::LISTED, Self::LISTED);
            Warning::new(&code, message)
        }));
    }
}

/// Facts from the header of the file.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// Version of the format.
    pub version: Option<String>,
    /// `little` or `big`.
    pub byte_order: Option<String>,
    /// Compression inside the format or around it: `zlib`, `bzip2`, `none`, `gzip`, `xz`, `zstd`.
    pub compression: Option<String>,
}

/// A trace as every later step sees it.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// As the user named it.
    pub path: String,
    /// Name of the format in the registry.
    pub format: &'static str,
    /// Facts from the header of the file.
    pub header: Header,
    /// Facts about the job, if the format has them.
    pub job: Option<Job>,
    /// The layer that `data` was taken from, if the format records several.
    pub layer: Option<Layer>,
    /// Processes of the job if the format says, else the number of ranks seen.
    pub ranks: u64,
    /// The zero of its times.
    pub clock: Clock,
    /// Whole seconds to add to every time of `data` to be on the trace's own clock. Keeps epoch stamps exact in `f64`.
    pub origin_s: i64,
    /// File names.
    pub files: Files,
    /// Call names.
    pub calls: Calls,
    /// The rows.
    pub data: Data,
    /// The kind of a row.
    pub timing: Timing,
    /// Width of the bins in seconds, for heatmaps; the usual step between two readings of a counter.
    pub bin_s: Option<f64>,
    /// Totals of everything the file holds, also of layers that `data` does not hold.
    pub layers: Vec<LayerSummary>,
    /// How often each call occurs.
    pub call_counts: BTreeMap<String, u64>,
    /// How often paths were looked up, if the format records every call.
    pub lookups: Option<Lookups>,
    /// Totals of each file and rank, if they were asked for and the format has them.
    pub counters: Option<Box<Counters>>,
    /// Host of each rank, where the format says.
    pub hosts: BTreeMap<u32, Arc<str>>,
    /// Losses between the file and the data.
    pub quality: Quality,
    /// Warnings to read before the numbers are trusted.
    pub warnings: Vec<Warning>,
}

impl LayerSummary {
    /// Totals of rows whose times count from `origin_s`.
    pub(crate) fn of(layer: &str, rows: &Data, origin_s: i64) -> LayerSummary {
        // Reads, then writes.
        let (mut count, mut whole, mut real) = ([0u64; 2], [0u64; 2], [0.0f64; 2]);
        let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut add = |op: Op, start: f64, end: f64| {
            let direction = usize::from(op == Op::Write);
            count[direction] += 1;
            (first, last) = (first.min(start), last.max(end));
            direction
        };
        match rows {
            Data::Requests(r) => r.iter().filter(|x| x.op.moves_bytes()).for_each(|x| {
                let sum = &mut whole[add(x.op, x.start, x.end)];
                *sum = sum.saturating_add(x.size);
            }),
            Data::Intervals(v) => v.iter().for_each(|x| real[add(x.op, x.start, x.end)] += x.bytes),
        }
        let mut s = LayerSummary {
            layer: layer.into(),
            records: rows.len() as u64,
            reads: Some(count[0]),
            writes: Some(count[1]),
            bytes_read: whole[0].saturating_add(real[0].round() as u64),
            bytes_written: whole[1].saturating_add(real[1].round() as u64),
            ..LayerSummary::default()
        };
        if first <= last {
            s.widen(origin_s as f64 + first, origin_s as f64 + last);
        }
        s
    }

    /// Adds these totals to those of the layer so far.
    pub(crate) fn add_to(self, total: &mut Option<LayerSummary>) {
        match total {
            Some(total) => total.add(&self),
            None => *total = Some(self),
        }
    }

    /// Adds the totals of more rows of the layer.
    pub(crate) fn add(&mut self, more: &LayerSummary) {
        let plus = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.records += more.records;
        (self.reads, self.writes) = (plus(self.reads, more.reads), plus(self.writes, more.writes));
        self.bytes_read = self.bytes_read.saturating_add(more.bytes_read);
        self.bytes_written = self.bytes_written.saturating_add(more.bytes_written);
        if let (Some(first), Some(last)) = (more.first_s, more.last_s) {
            self.widen(first, last);
        }
    }

    /// Makes the summary cover `[start_s, end_s]`.
    pub(crate) fn widen(&mut self, start_s: f64, end_s: f64) {
        self.first_s = Some(self.first_s.map_or(start_s, |t| t.min(start_s)));
        self.last_s = Some(self.last_s.map_or(end_s, |t| t.max(end_s)));
    }
}

impl Trace {
    /// False if the rows are totals of files: nothing says when in their time the bytes moved.
    pub fn resolves_times(&self) -> bool {
        self.timing != Timing::Counter || self.bin_s.is_some()
    }

    /// Why the trace has no rows, as its reader says.
    pub(crate) fn why_no_rows(&self) -> Option<&Warning> {
        const REASONS: [&str; 5] = ["empty-log", "no-transfers", "no-io-events", "io-uring-invisible", "one-reading"];
        self.warnings.iter().find(|w| REASONS.contains(&&*w.code))
    }

    /// Why the rows of the trace are no single requests.
    pub(crate) fn why_no_requests(&self) -> Option<String> {
        let only = match (self.timing, self.bin_s) {
            (Timing::Request | Timing::Order, _) => return None,
            (Timing::Phase, _) => "phases",
            (Timing::Heatmap, _) | (Timing::Counter, None) => "counters",
            (Timing::Counter, Some(_)) => "readings of counters",
        };
        Some(format!("the trace has {only} only, no single requests"))
    }

    /// Totals of `data` as a layer: for formats with one kind of data.
    pub fn summarise(&self, layer: &str) -> LayerSummary {
        LayerSummary::of(layer, &self.data, self.origin_s)
    }
}

#[cfg(test)]
mod tests {
    use super::Warning;

    #[test]
    fn of_many_warnings_alike_the_first_are_kept_and_the_others_counted() {
        let mut all: Vec<Warning> = (0..1000).map(|i| Warning::new("again", format!("the {i}th"))).collect();
        all.insert(500, Warning::new("once", "alone"));
        Warning::fold(&mut all);
        assert_eq!((all.len(), &*all[3].message, &*all[16].code), (18, "the 3th", "once"));
        assert_eq!((&*all[17].code, &*all[17].message), ("again", "984 more warnings like the 16 before"));
    }
}
