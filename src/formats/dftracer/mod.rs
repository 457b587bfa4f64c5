//! DFTracer (`.pfw`, `.pfw.gz`), from dlio_profiler 0.0.6 to DFTracer 2.2: a line of JSON for each call, one file per process.
//!
//! File and host names can be hashes, whose texts may stand in a later line or in another file of the run, and so may the rank of a
//! process. Rows that are kept wait for them; rows that are not kept are given as they come, and once more if a later line would have
//! changed them. Bytes are those of the result (`fread`, `fwrite`: elements times size); offsets are known for `pread`, `pwrite` and
//! their kin. Traces without calls are series: totals of intervals (aggregated records), or samples of the devices of a node.

mod line;
mod merge;
mod rows;

use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem;
use rayon::prelude::*;

use self::merge::{Known, Merged, Names, Renamed};
use self::rows::{Events, Part, Total, is_frame};
use super::format::{Format, Sniff};
use super::lines::{Followed, Follower, LineReader, Tally, decode, lines};
use super::options::ReadOptions;
use super::rates::{Spread, Stamp, ValueKind, median_step, spread};
use super::source::Source;
use super::ticks::{MICROS, Ticks};
use crate::error::{Error, Place, Result};
use crate::record::{
    Clock, Data, Interval, Intervals, LayerSummary, Op, Quality, Restart, RowSink, Timing, Trace, Warning,
};

/// The format.
pub struct DfTracer;

/// Entries of a table of hashes.
const MOST_HASHES: usize = 10_000_000;
/// Lines of a head that are looked at for the first event and the time unit.
const HEAD_LINES: usize = 1000;

impl Format for DfTracer {
    fn name(&self) -> &'static str {
        "dftracer"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        let Some(first) = lines(head).find(|l| !is_frame(l)) else {
            return Sniff::No("no line of JSON with name, cat, pid and ph");
        };
        // The last line of the head may be cut.
        let Ok(line) = line::parse(first) else { return Sniff::No("the first line is no JSON object") };
        if line.name.is_empty() || line.category.is_empty() || line.pid.is_empty() || line.phase.is_empty() {
            return Sniff::No("the first line lacks name, cat, pid or ph");
        }
        let ours = matches!(line.category, b"dftracer" | b"POSIX" | b"STDIO") || !line.args.host.is_empty();
        if ours { Sniff::Yes } else { Sniff::No("events of another program than DFTracer") }
    }

    /// The files of a folder are one run.
    fn job_of(&self, _: &Source) -> Option<String> {
        Some(String::new())
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let run = RunFiles::new(sources, options);
        let most = options.limits.records;
        if sink.keeps_rows() {
            let mut files = run.read(None, Vec::new())?;
            let known = Known::of(files.iter().map(|f| &f.part));
            let merged = Merged::new(sink, &known, run.origin_s, most);
            files.iter_mut().try_for_each(|f| merged.give(&mut f.part, &mut f.renamed))?;
            return run.trace(files, &known, merged.into_names(), sink);
        }
        let heads = run.heads();
        let guessed = Known::of(heads.iter());
        let merged = Merged::new(sink, &guessed, run.origin_s, most);
        let mut files = run.read(Some(&merged), Vec::new())?;
        let known = Known::of(files.iter().map(|f| &f.part));
        if merged.agrees(&known, files.iter().map(|f| (&f.part, &f.renamed))) {
            return run.trace(files, &known, merged.into_names(), sink);
        }
        sink.restart(Restart::Trace);
        let merged = Merged::new(sink, &known, run.origin_s, most);
        files = run.read(Some(&merged), files)?;
        run.trace(files, &known, merged.into_names(), sink)
    }

    fn follow(&self, _: &[u8], _: &ReadOptions) -> Result<Followed> {
        let events = Events { ticks: None, layer: None, all: false };
        Ok(Followed::Lines(Box::new(Follower::new(events, Part::default()))))
    }
}

/// Nanoseconds of a tick: microseconds, unless the file says otherwise before its first event.
fn unit_ns(head: &[u8]) -> u64 {
    let metric = |l: &&[u8]| memmem::find(l, b"time_metric").is_some();
    let mut part = Part::default();
    if let Some(line) = lines(head).take(HEAD_LINES).find(metric).and_then(|l| line::parse(l).ok()) {
        part.add(&line, Ticks::default(), None, false);
    }
    part.unit_ns.unwrap_or(MICROS)
}

/// Whole seconds of the first event.
fn first_s(head: &[u8], unit_ns: u64) -> Option<i64> {
    let ticks = Ticks { unit_ns, origin_s: 0 };
    let start = |l: &[u8]| line::parse(l).ok().and_then(|l| ticks.ns(l.ts));
    lines(head).take(HEAD_LINES).filter(|l| !is_frame(l)).find_map(start).map(|ns| ns / 1_000_000_000)
}

/// A file with its rows.
struct File {
    part: Part,
    renamed: Renamed,
    tally: Tally,
}

/// The files of a run.
struct RunFiles<'s> {
    sources: &'s [Source],
    options: &'s ReadOptions,
    ticks: Vec<Ticks>,
    origin_s: i64,
}

impl<'s> RunFiles<'s> {
    fn new(sources: &'s [Source], options: &'s ReadOptions) -> Self {
        let units: Vec<u64> = sources.iter().map(|s| unit_ns(s.head())).collect();
        let starts = sources.iter().zip(&units).filter_map(|(s, unit)| first_s(s.head(), *unit));
        let origin_s = starts.min().unwrap_or(0);
        let ticks = units.into_iter().map(|unit_ns| Ticks { unit_ns, origin_s }).collect();
        RunFiles { sources, options, ticks, origin_s }
    }

    fn events(&self, ticks: Ticks) -> Events {
        Events { ticks: Some(ticks), layer: self.options.layer, all: self.options.detail.all_calls() }
    }

    /// Facts from the first bytes of each file.
    fn heads(&self) -> Vec<Part> {
        let head = |(source, ticks): (&Source, &Ticks)| {
            let mut part = Part::default();
            decode(&self.events(*ticks), source.head(), self.options.limits.line_bytes, &mut part);
            part
        };
        self.sources.par_iter().zip(&self.ticks).map(head).collect()
    }

    /// Reads all files. The rows go to `merged`, or else stay in the parts. `before`: what was read already, if it was.
    fn read(&self, merged: Option<&Merged<'_>>, before: Vec<File>) -> Result<Vec<File>> {
        // Enough files keep all threads busy by themselves.
        let share = self.sources.len() < rayon::current_num_threads();
        let read = |((source, ticks), reading): ((&Source, &Ticks), Reading)| {
            let open = if share { LineReader::open } else { LineReader::alone };
            let lines = open(source, self.options).map(|lines| (lines, share));
            let read = lines.and_then(|lines| reading.read(lines, &self.events(*ticks), self.options, merged));
            read.map_err(|e| e.in_file(source.name()))
        };
        let mut readings: Vec<Reading> = before.into_iter().map(|f| Reading::again(f.part)).collect();
        readings.resize_with(self.sources.len(), Reading::default);
        self.sources.par_iter().zip(&self.ticks).zip(readings).map(read).collect()
    }

    /// One trace of the files: everything but the calls, which the sink has.
    fn trace(&self, mut files: Vec<File>, known: &Known, names: Names, sink: &dyn RowSink) -> Result<Trace> {
        let mut trace = Trace {
            format: DfTracer.name(),
            clock: Clock::of_stamps(true, false),
            origin_s: self.origin_s,
            layer: self.options.layer,
            files: names.files,
            calls: names.calls,
            ranks: known.numbers.len() as u64,
            hosts: known.hosts.iter().map(|(number, host)| (*number, Arc::from(host.as_str()))).collect(),
            ..Trace::default()
        };
        let mut unsized_calls = 0;
        for (source, file) in self.sources.iter().zip(&files) {
            trace.warnings.extend(damage_of(source, file));
            let (part, tally) = (&file.part, &file.tally);
            if tally.records > 0 && tally.bad == tally.records && files.len() == 1 {
                return Err(nothing(tally));
            }
            unsized_calls += part.unsized_calls;
            add_counts(&mut trace.quality, file);
            for (name, count) in part.call_counts() {
                *trace.call_counts.entry(String::from_utf8_lossy(name).into_owned()).or_default() += count;
            }
        }
        if !known.ranked && trace.ranks > 1 {
            let message = "the trace has no MPI ranks: processes are numbered by host and process id";
            trace.warnings.push(Warning::new("no-ranks", message));
        }
        if unsized_calls > 0 {
            let message = format!("{unsized_calls} calls do not say how many bytes they moved");
            trace.warnings.push(Warning::new("sizes-unknown", message).remedy("record with DFTRACER_INC_METADATA=1"));
        }
        let totals: Vec<Total> = files.iter_mut().flat_map(File::totals).collect();
        match names.summary {
            Some(requests) => leave_totals_out(&mut trace, requests, totals.len()),
            None if totals.is_empty() => trace.layers = vec![trace.summarise("requests")],
            None => {
                let interval_ms = files.iter().find_map(|f| f.part.interval_ms);
                fill(totals, interval_ms, &mut trace);
                return trace.give_rows(sink);
            }
        }
        Ok(trace)
    }
}

/// A file that is being read.
#[derive(Default)]
struct Reading {
    part: Part,
    renamed: Renamed,
}

impl Reading {
    /// Of a file that was read before: what its hashes stand for is known.
    fn again(before: Part) -> Self {
        let mut reading = Reading::default();
        reading.part.file_texts = before.file_texts;
        reading
    }

    /// Reads a file, on all threads or on one.
    fn read(
        mut self,
        (mut lines, share): (LineReader<'_>, bool),
        events: &Events,
        options: &ReadOptions,
        merged: Option<&Merged<'_>>,
    ) -> Result<File> {
        while if share { lines.share(events, &mut self.part)? } else { lines.next(events, &mut self.part)? } {
            self.check(merged, options)?;
        }
        Ok(File { part: self.part, renamed: self.renamed, tally: lines.finish() })
    }

    /// Gives rows away, or checks how many wait.
    fn check(&mut self, merged: Option<&Merged<'_>>, options: &ReadOptions) -> Result<()> {
        let (part, most) = (&mut self.part, options.limits.records);
        if part.requests.len() > most {
            return Err(Error::too_many_rows(most));
        }
        if part.file_texts.len().max(part.host_texts.len()) > MOST_HASHES {
            return Err(Error::limit("the trace has more hashed names", format!("{MOST_HASHES} names")));
        }
        merged.map_or(Ok(()), |m| m.give(part, &mut self.renamed))
    }
}

impl File {
    /// The totals with the numbers of their processes.
    fn totals(&mut self) -> impl Iterator<Item = Total> + '_ {
        let ranks = &self.renamed.ranks;
        let rank = |t: &Total| ranks.get(t.rank as usize).copied().unwrap_or(t.rank);
        std::mem::take(&mut self.part.totals).into_iter().map(move |t| Total { rank: rank(&t), ..t })
    }
}

fn nothing(tally: &Tally) -> Error {
    let line = tally.first_bad.as_ref().map_or(0, |(line, _)| *line);
    Error::malformed(Place::Line(line), "no line of the file is an event of DFTracer")
        .expected("a JSON object per line")
        .remedy("copy the file again")
}

fn add_counts(quality: &mut Quality, File { part, tally, .. }: &File) {
    quality.records_read += tally.records;
    quality.records_dropped += tally.bad;
    quality.records_left_out += part.failed + part.other_layer;
}

/// Notes that totals beside calls were left out.
fn leave_totals_out(trace: &mut Trace, requests: LayerSummary, totals: usize) {
    trace.layers = vec![requests];
    if totals > 0 {
        let message = format!("{totals} totals beside the calls were left out");
        trace.quality.records_left_out += totals as u64;
        trace.warnings.push(Warning::new("totals-left-out", message));
    }
}

/// Damage of one file.
fn damage_of(source: &Source, file: &File) -> Vec<Warning> {
    let name = source.file_name();
    if file.tally.bytes == 0 {
        let message = format!("{name}: an empty file: the process was killed before it wrote an event");
        return vec![Warning::new("damaged-tail", message)];
    }
    file.tally.warnings("events", Some(name))
}

/// Puts totals into the trace.
fn fill(mut totals: Vec<Total>, interval_ms: Option<u64>, trace: &mut Trace) {
    let device = totals.iter().all(|t| t.device);
    if device {
        let message = "the trace holds counters of the devices of a node, and no calls";
        trace.warnings.push(Warning::new("node-series", message));
    }
    totals.retain(|t| t.device == device);
    let (rows, bin_s) = if device { of_samples(&totals, trace) } else { of_intervals(&totals, interval_ms, trace) };
    trace.timing = if device { Timing::Counter } else { Timing::Heatmap };
    trace.bin_s = bin_s;
    trace.data = Data::Intervals(rows);
    trace.layers = vec![trace.summarise("intervals")];
}

/// Aggregated records: bytes of an interval that begins at their time.
fn of_intervals(totals: &[Total], interval_ms: Option<u64>, trace: &Trace) -> (Intervals, Option<f64>) {
    let mut starts: Vec<i64> = totals.iter().map(|t| t.at_ns).collect();
    starts.sort_unstable();
    starts.dedup();
    let shortest = starts.windows(2).map(|w| w[1] - w[0]).min();
    let ns =
        interval_ms.and_then(|ms| i64::try_from(ms).ok()?.checked_mul(1_000_000)).or(shortest).unwrap_or(1_000_000_000);
    let ticks = Ticks { unit_ns: 1, origin_s: trace.origin_s };
    let row = |t: &Total| Interval {
        op: t.op,
        rank: t.rank,
        bytes: t.bytes,
        start: ticks.seconds(t.at_ns),
        end: ticks.seconds(t.at_ns.saturating_add(ns)),
        ..Interval::default()
    };
    (totals.iter().map(row).collect(), Some(ns as f64 / 1e9))
}

/// Samples of devices: bytes since the sample before. The first one of a device is of an unknown time.
fn of_samples(totals: &[Total], trace: &Trace) -> (Intervals, Option<f64>) {
    let mut series: BTreeMap<(u32, bool), Vec<Total>> = BTreeMap::new();
    for &t in totals {
        series.entry((t.rank, t.op == Op::Write)).or_default().push(t);
    }
    let ticks = Ticks { unit_ns: 1, origin_s: trace.origin_s };
    let mut rows = Intervals::default();
    let mut usual: Option<f64> = None;
    for ((rank, write), mut samples) in series {
        samples.sort_by_key(|t| t.at_ns);
        samples.dedup_by_key(|t| t.at_ns);
        let times: Vec<f64> = samples.iter().map(|t| ticks.seconds(t.at_ns)).collect();
        let mut amounts: Vec<f64> = samples.iter().map(|t| t.bytes).collect();
        if let Some(first) = amounts.first_mut() {
            *first = f64::NAN;
        }
        let Some(step_s) = median_step(&times) else { continue };
        let op = if write { Op::Write } else { Op::Read };
        spread(&times, &amounts, Spread { kind: ValueKind::Bytes, stamp: Stamp::End, step_s }, |start, end, bytes| {
            rows.push(Interval { op, rank, bytes, start, end, ..Interval::default() });
        });
        usual = Some(usual.map_or(step_s, |s| s.min(step_s)));
    }
    (rows, usual)
}

#[cfg(test)]
mod tests {
    use super::rows::number_after;
    use super::*;

    #[test]
    fn settings_are_read_from_text() {
        assert_eq!(number_after(br#"{"a":1,"trace_interval_ms": 500,"x":2}"#, b"\"trace_interval_ms\":"), Some(500));
        assert_eq!(number_after(b"", b"x"), None);
    }

    #[test]
    fn units_and_first_event_are_in_the_head() {
        let head = b"[\n{\"name\":\"CM\",\"ph\":4,\"args\":{\"name\":\"time_metric\",\"value\":\"NS\"}}\n{\"ts\":1700000000123456789,\"ph\":1}\n";
        assert_eq!((unit_ns(head), first_s(head, 1)), (1, Some(1_700_000_000)));
        assert_eq!(unit_ns(b"[\n"), 1000);
    }
}
