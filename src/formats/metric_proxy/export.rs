//! The JSON of a job's metrics, or of one metric.

use super::super::json::{Json, member_names, plain};
use super::super::options::ReadOptions;
use super::super::source::Source;
use super::super::window::Window;
use super::Found;
use super::choice::{Choice, Metric};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::format::Sniff;
use crate::record::Job;

/// Milliseconds since 1970 before which no job began.
const EARLIEST_MS: f64 = 1e11;

/// Judges JSON by its first bytes.
pub(super) fn sniff(head: &[u8]) -> Sniff {
    const MEMBERS: usize = 64;
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if let Some(inner) = text.strip_prefix(b"[") {
        return match is_pair(inner.trim_ascii_start()) {
            true => Sniff::Yes,
            false => Sniff::No("an array, but not of pairs of time and value"),
        };
    }
    let names = member_names(text, MEMBERS);
    let top = |want: &[u8]| names.iter().any(|(depth, n)| *depth == 1 && *n == want);
    // an answer of Prometheus may have notes of this name
    match (top(b"infos") && !top(b"data"), top(b"metrics")) {
        (true, _) => Sniff::Yes,
        (_, true) => Sniff::Maybe,
        _ => Sniff::No("neither JSON with infos and metrics nor frames of a store"),
    }
}

/// `[number, number]`, or as much of it as is there.
fn is_pair(text: &[u8]) -> bool {
    let Some(inside) = text.strip_prefix(b"[") else { return false };
    let inside = &inside[..memchr::memchr(b']', inside).unwrap_or(inside.len())];
    let mut numbers = inside.split(|&b| b == b',').map(<[u8]>::trim_ascii);
    let first = numbers.next().is_some_and(|n| super::super::number::parse_f64(n).is_some());
    first && numbers.count() == 1
}

/// Reads the metrics of a file.
///
/// # Errors
/// Limits, and errors of the system. Damage is in what is found.
pub(super) fn read(source: &Source, options: &ReadOptions, choice: &mut Choice) -> Result<Found> {
    let mut json = Json::new(Window::open(source, options)?, options.limits.depth);
    let mut reader = ExportReader { choice, most: options.limits.records, samples: 0, found: Found::default() };
    let outcome = match json.peek()? {
        Some(b'[') => {
            reader.found.unix = true;
            // One metric does not say its name: the file does.
            let name = source.file_name().split(".plot").next().unwrap_or_default().to_owned();
            reader.metric(&mut json, name, true)
        }
        _ => reader.members(&mut json, 0),
    };
    let outcome = match (outcome, json.damage()) {
        (Ok(()), Some(why)) => Err(Error::malformed(crate::error::Place::Byte(json.offset()), why)),
        (outcome, _) => outcome,
    };
    match outcome {
        Err(e) if e.kind() != ErrorKind::Malformed => return Err(e),
        outcome => reader.found.damage = outcome.err(),
    }
    Ok(reader.found)
}

struct ExportReader<'c> {
    choice: &'c mut Choice,
    most: usize,
    samples: usize,
    found: Found,
}

impl ExportReader<'_> {
    /// The members of an object, at any depth (the parser bounds it): arrays of pairs are metrics.
    fn members(&mut self, json: &mut Json, depth: usize) -> Result<()> {
        json.members(|json, name| match json.peek()? {
            Some(b'{') if depth == 0 && name == b"infos" => json.members(|json, name| match json.peek()? {
                Some(b'{') if name == b"desc" => self.description(json),
                _ => json.skip(),
            }),
            Some(b'{') => self.members(json, depth + 1),
            Some(b'[') if json.at_arrays()? => self.metric(json, plain(name).into_owned(), false),
            _ => json.skip(),
        })
    }

    /// The samples of a metric. After an error those before it are offered.
    fn metric(&mut self, json: &mut Json, name: String, unnamed: bool) -> Result<()> {
        let mut metric = Metric { name, unnamed, ..Metric::default() };
        let left = self.most - self.samples.min(self.most);
        let outcome = json.pairs(&mut metric.times, &mut metric.readings, left);
        self.samples += metric.times.len();
        keep_timed(&mut metric);
        if !metric.times.is_empty() {
            self.choice.offer(metric);
        }
        outcome
    }

    fn description(&mut self, json: &mut Json) -> Result<()> {
        let job = self.found.job.get_or_insert_with(Job::default);
        json.members(|json, name| {
            if let Some(text) = json.text()? {
                match name {
                    b"jobid" => job.id = text.parse().ok(),
                    b"command" => job.executable = Some(text).filter(|t| !t.is_empty()),
                    _ => {}
                }
                return Ok(());
            }
            let number = json.number()?.filter(|x| x.is_finite());
            match (name, number) {
                (b"size", Some(n)) if (1.0..2f64.powi(31)).contains(&n) => job.ranks = Some(n as u64),
                (b"start_time", Some(ms)) if ms > EARLIEST_MS => job.start_unix_s = Some(ms / 1e3),
                (b"end_time", Some(ms)) if ms > EARLIEST_MS => job.end_unix_s = Some(ms / 1e3),
                _ => {}
            }
            Ok(())
        })
    }
}

/// Leaves out samples whose time is no number.
pub(super) fn keep_timed(metric: &mut Metric) {
    if metric.times.iter().all(|t| t.is_finite()) && metric.times.len() == metric.readings.len() {
        return;
    }
    let pairs = metric.times.iter().zip(&metric.readings).filter(|(t, _)| t.is_finite());
    (metric.times, metric.readings) = pairs.map(|(t, v)| (*t, *v)).unzip();
}
