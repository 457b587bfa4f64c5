//! Metrics of GekkoFS clients: the requests of one client and one direction since the flush before.
//!
//! The client sends nine values one after the other as MessagePack, without an array around them: time of the flush, host, process
//! id, direction, starts, ends and sizes of the requests, their number and their bytes. Also read: the same nine in an array, in a map or in maps
//! of one, JSON with these names, and text with a line `name: value` for each. Times are microseconds since the start of the client
//! in 32 bits, so they begin again after 71.6 minutes ([`clock`]); the total wraps at 4 GiB, and the sizes are summed instead. The
//! files of a folder are one job, each client a rank.

mod clock;
mod flush;
mod packed;
mod text;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::clock::Clocks;
use self::flush::{Direction, Flush};
use super::format::{Format, Sniff};
use super::options::ReadOptions;
use super::source::Source;
use super::window::Window;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Data, Interval, Op, Quality, Request, Requests, RowSink, Timing, Trace, Warning, is_time};

pub use self::clock::Clocks as ClientClocks;
pub(super) use self::packed::begins_flush;

/// The format.
pub struct GekkoFs;

impl Format for GekkoFs {
    fn name(&self) -> &'static str {
        "gekkofs"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        if packed::begins_flush(head) || text::has_metrics(head) {
            Sniff::Yes
        } else {
            Sniff::No("no MessagePack, JSON or text with start_t_micro and end_t_micro")
        }
    }

    /// The files of a folder are one job: each is one flush of one client.
    fn job_of(&self, _: &Source) -> Option<String> {
        Some(String::new())
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let mut job = Flushes::default();
        for source in sources {
            let before = job.rows;
            let found = read_flushes(source, options, |flush| job.add(source.file_name(), flush, options))
                .map_err(|e| e.in_file(source.name()));
            match found {
                Ok(None) => {}
                // Damage costs the rest of a file; a file of a folder that gives nothing is left out.
                Ok(Some(e)) if job.rows > before || sources.len() > 1 => {
                    let message = format!("{}: {e}; the records before it were kept", source.file_name());
                    job.trace.warnings.push(Warning::new("damaged-tail", message));
                }
                Ok(Some(e)) | Err(e) => return Err(e.remedy("copy the file again")),
            }
        }
        job.into_trace().give_rows(sink)
    }
}

/// Hands the flushes of a file on; gives the damage that ended it.
fn read_flushes(
    source: &Source,
    options: &ReadOptions,
    each: impl FnMut(Flush) -> Result<()>,
) -> Result<Option<Error>> {
    match source.head().trim_ascii_start().first() {
        Some(b'{') => text::read_json(source, options, each),
        _ if text::has_metrics(source.head()) => text::read_lines(source, options, each),
        _ => packed::read(Window::open(source, options)?, each),
    }
}

/// The transfers of one message of a socket, with the clocks that the messages before it left.
pub(super) fn transfers(message: &[u8], clocks: &mut Clocks) -> Result<Vec<Interval>> {
    let mut all = Vec::new();
    let damage = packed::read(Window::of_bytes(message)?, |flush| {
        let op = flush.direction.op().unwrap_or(Op::Write);
        all.extend(sound(&flush, op, clocks, &mut Quality::default()).into_iter().map(Interval::from));
        Ok(())
    })?;
    damage.map_or(Ok(all), Err)
}

/// The requests of a flush, those that are no requests left out.
fn sound(flush: &Flush, op: Op, clocks: &mut Clocks, quality: &mut Quality) -> Vec<Request> {
    let lengths = [flush.starts.len(), flush.ends.len(), flush.sizes.len()];
    let (n, longest) = (lengths.into_iter().fold(usize::MAX, usize::min), lengths.into_iter().fold(0, usize::max));
    quality.records_read += longest as u64;
    quality.records_dropped += (longest - n) as u64;
    let unwrapped = clocks.unwrap(&flush.client(), op, &flush.starts[..n], &flush.ends[..n]);
    let mut rows = Vec::with_capacity(n);
    for ((start, end), &size) in unwrapped.into_iter().zip(&flush.sizes) {
        if is_time(start) && is_time(end) && (0.0..2f64.powi(63)).contains(&size) {
            quality.clamped += u64::from(end < start);
            rows.push(Request { op, start, end: end.max(start), size: size.round() as u64, ..Request::default() });
        } else {
            quality.records_dropped += 1;
        }
    }
    rows
}

/// The flushes of a job, so far.
#[derive(Default)]
struct Flushes {
    trace: Trace,
    clocks: Clocks,
    /// Requests of each client, which become ranks in the order of their names.
    clients: BTreeMap<(String, u64), Vec<Request>>,
    rows: usize,
    /// Flushes whose direction is not known, and whose sums differ from what they state.
    undirected: u64,
    disagreeing: u64,
}

impl Flushes {
    fn add(&mut self, file: &str, flush: Flush, options: &ReadOptions) -> Result<()> {
        let op = flush.direction.op().or_else(|| Direction::of_file(file).op());
        self.undirected += u64::from(op.is_none());
        let op = op.unwrap_or(Op::Write);
        self.disagreeing += u64::from(!flush.agrees());
        let mut rows = sound(&flush, op, &mut self.clocks, &mut self.trace.quality);
        self.rows += rows.len();
        if self.rows > options.limits.records {
            return Err(Error::too_many_rows(options.limits.records));
        }
        self.clients.entry(flush.client()).or_default().append(&mut rows);
        Ok(())
    }

    fn into_trace(self) -> Trace {
        let Flushes { mut trace, clients, undirected, disagreeing, .. } = self;
        trace.format = GekkoFs.name();
        trace.timing = Timing::Request;
        trace.ranks = clients.len() as u64;
        let mut rows = Vec::new();
        for (rank, ((host, _), of_client)) in clients.into_iter().enumerate() {
            let rank = rank as u32;
            if !host.is_empty() {
                trace.hosts.insert(rank, Arc::from(host));
            }
            rows.extend(of_client.into_iter().map(|r| Request { rank, ..r }));
        }
        rows.sort_by(|a: &Request, b| a.start.total_cmp(&b.start));
        trace.data = Data::Requests(rows.into_iter().collect::<Requests>());
        trace.layers = vec![trace.summarise("requests")];
        if trace.ranks > 1 {
            let message = "each client counts time from its own start: these are taken as one time";
            trace.warnings.push(Warning::new("no-common-clock", message));
        }
        if undirected > 0 {
            let message = format!("flushes that do not say whether they read or write: {undirected}; taken as writes");
            let remedy = "let the names of the files begin with write or read";
            trace.warnings.push(Warning::new("direction-unknown", message).remedy(remedy));
        }
        if disagreeing > 0 {
            let message =
                format!("flushes that state other bytes or numbers of requests than they hold: {disagreeing}");
            trace.warnings.push(Warning::new("bytes-disagree", message));
        }
        trace
    }
}

/// An error of the content at a place.
fn malformed(at: u64, found: impl Into<String>, expected: &str) -> Error {
    Error::new(ErrorKind::Malformed, found).at(crate::error::Place::Byte(at)).expected(expected)
}
