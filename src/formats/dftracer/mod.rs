//! DFTracer (`.pfw`, `.pfw.gz`), from dlio_profiler 0.0.6 to DFTracer 2.2: a line of JSON for each call, one file per process.
//!
//! File and host names can be hashes, whose texts may stand in a later line or in another file of the run: names are resolved when
//! all files are read, so the rows are kept until then. Bytes are those of the result (`fread`, `fwrite`: elements times size);
//! offsets are known for `pread`, `pwrite` and their kin. Traces without calls are series: totals of intervals (aggregated
//! records), or samples of the devices of a node.

mod line;
mod rows;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use memchr::{memchr, memmem};
use rayon::prelude::*;

use self::line::Line;
use self::rows::{HASH, Part, Ticks, Total};
use super::format::{Format, Sniff};
use super::lines::lines;
use super::options::{Detail, ReadOptions};
use super::source::Source;
use super::window::Window;
use crate::error::{Error, Place, Result};
use crate::record::{
    Clock, Data, Files, Header, Interval, Intervals, Op, Quality, Request, Requests, RowSink, Timing, Trace, Warning,
};

/// The format.
pub struct DfTracer;

/// Bytes of lines that one task parses.
const PIECE: usize = 256 << 10;
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
        let Ok(line) = Line::parse(first) else { return Sniff::No("the first line is no JSON object") };
        if line.name.is_empty() || line.category.is_empty() || line.pid.is_empty() || line.phase.is_empty() {
            return Sniff::No("the first line lacks name, cat, pid or ph");
        }
        let ours = matches!(line.category, b"dftracer" | b"POSIX" | b"STDIO") || !line.args.host.is_empty();
        if ours { Sniff::Yes } else { Sniff::Unsupported("a Chrome trace of another program, which is not read") }
    }

    /// The files of a folder are one run.
    fn job_of(&self, _: &Source) -> Option<String> {
        Some(String::new())
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let units = sources.iter().map(|s| unit_ns(s.head()));
        let origin_s = sources.iter().zip(units.clone()).filter_map(|(s, unit)| first_s(s.head(), unit)).min();
        let origin_s = origin_s.unwrap_or(0);
        let tickss: Vec<Ticks> = units.map(|unit_ns| Ticks { unit_ns, origin_s }).collect();
        let files: Vec<File> =
            sources.par_iter().zip(tickss).map(|(s, ticks)| read_file(s, ticks, options)).collect::<Result<_>>()?;
        assemble(sources, files, origin_s, options)?.give_rows(sink)
    }
}

/// The brackets around a file, and blank lines.
fn is_frame(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), b"" | b"[" | b"]" | b",")
}

/// Nanoseconds of a tick: microseconds, unless the file says otherwise before its first event.
fn unit_ns(head: &[u8]) -> u64 {
    let metric = |l: &&[u8]| memmem::find(l, b"time_metric").is_some();
    let line = lines(head).take(HEAD_LINES).find(metric).and_then(|l| Line::parse(l).ok());
    match line.map_or(&b""[..], |l| l.args.value) {
        b"NS" => 1,
        b"MS" => 1_000_000,
        b"SEC" => 1_000_000_000,
        _ => 1000,
    }
}

/// Whole seconds of the first event.
fn first_s(head: &[u8], unit_ns: u64) -> Option<i64> {
    let ticks = Ticks { unit_ns, origin_s: 0 };
    let start = |l: &[u8]| Line::parse(l).ok().and_then(|l| ticks.ns(l.ts));
    lines(head).take(HEAD_LINES).filter(|l| !is_frame(l)).find_map(start).map(|ns| ns / 1_000_000_000)
}

/// What a file holds.
struct File {
    part: Part,
    damage: Option<String>,
    /// Bytes that could be read.
    bytes: u64,
    truncated: bool,
}

fn read_file(source: &Source, ticks: Ticks, options: &ReadOptions) -> Result<File> {
    let limits = &options.limits;
    let all = options.detail != Detail::Transfers;
    let parse = |text: &[u8]| {
        let mut part = Part::default();
        for line in lines(text) {
            part.lines += 1;
            if is_frame(line) {
                continue;
            }
            part.records += 1;
            part.last_is_bad = false;
            let done = Line::parse(line).map(|l| part.add(&l, ticks, options.layer, all));
            if done != Ok(true) {
                part.bad += 1;
                part.last_is_bad = true;
                part.first_bad.get_or_insert((part.lines, done.err().unwrap_or(0)));
            }
        }
        part
    };
    let mut window = Window::open(source, options)?;
    let (mut sum, mut truncated) = (Part::default(), false);
    while let Some(n) = window.whole_lines(limits.line_bytes)? {
        if n == 0 {
            window.skip_line()?;
            sum.long_line();
            continue;
        }
        truncated = !window.data()[..n].ends_with(b"\n");
        let parts = window.consume_with(n, |text| pieces(text).into_par_iter().map(parse).collect::<Vec<_>>())?;
        parts.into_iter().for_each(|p| sum.append(p));
        if sum.requests.len() > limits.records {
            return Err(Error::limit("the trace has more records", format!("{} records", limits.records)));
        }
        if sum.file_texts.len().max(sum.host_texts.len()) > MOST_HASHES {
            return Err(Error::limit("the trace has more hashed names", format!("{MOST_HASHES} names")));
        }
    }
    let damage = window.damage().map(str::to_owned);
    Ok(File { part: sum, damage, bytes: window.offset(), truncated })
}

/// Cuts a text at line ends.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let n = rest.get(PIECE..).and_then(|later| memchr(b'\n', later)).map_or(rest.len(), |n| PIECE + n + 1);
        let (piece, later) = rest.split_at(n);
        pieces.push(piece);
        rest = later;
    }
    pieces
}

/// One trace of the files of a run.
fn assemble(sources: &[Source], files: Vec<File>, origin_s: i64, options: &ReadOptions) -> Result<Trace> {
    let mut warnings = Vec::new();
    let mut sum = Part::default();
    for (source, file) in sources.iter().zip(files) {
        warnings.extend(damage_of(source, &file));
        if file.part.records > 0 && file.part.bad == file.part.records && sources.len() == 1 {
            let (line, _) = file.part.first_bad.unwrap_or_default();
            return Err(Error::malformed(Place::Line(line), "no line of the file is an event of DFTracer")
                .expected("a JSON object per line")
                .remedy("copy the file again"));
        }
        sum.append(file.part);
        if sum.requests.len() > options.limits.records {
            let most = options.limits.records;
            return Err(Error::limit("the trace has more records", format!("{most} records")));
        }
    }
    let mut trace = Trace {
        format: DfTracer.name(),
        header: Header::default(),
        clock: Clock::of_stamps(true, false),
        origin_s,
        layer: options.layer,
        quality: Quality {
            records_read: sum.records,
            records_dropped: sum.bad,
            records_left_out: sum.failed + sum.other_layer,
            ..Quality::default()
        },
        warnings,
        ..Trace::default()
    };
    for (name, count) in sum.call_counts() {
        *trace.call_counts.entry(String::from_utf8_lossy(name).into_owned()).or_default() += count;
    }
    number_processes(&mut sum, &mut trace);
    (trace.files, trace.calls) = (resolve(&mut sum), std::mem::take(&mut sum.calls));
    if sum.unsized_calls > 0 {
        let message = format!("{} calls do not say how many bytes they moved", sum.unsized_calls);
        trace.warnings.push(Warning::new("sizes-unknown", message).remedy("record with DFTRACER_INC_METADATA=1"));
    }
    fill(sum, &mut trace);
    Ok(trace)
}

/// Damage of one file.
fn damage_of(source: &Source, file: &File) -> Option<Warning> {
    let part = &file.part;
    let name = source.file_name();
    if file.bytes == 0 {
        let message = format!("{name}: an empty file: the process was killed before it wrote an event");
        return Some(Warning::new("damaged-tail", message));
    }
    let cut = part.bad == 1 && file.truncated && part.last_is_bad;
    match (&file.damage, part.first_bad) {
        (Some(why), _) => Some(Warning::new("damaged-tail", format!("{name}: {why}; what came before was kept"))),
        (None, Some((line, _))) if cut => {
            Some(Warning::new("damaged-tail", format!("{name}: line {line}, the last, is cut")))
        }
        (None, Some((line, at))) => Some(Warning::new(
            "unreadable-records",
            format!(
                "{name}: {} of {} lines are no events and were left out, the first line {line}, at byte {at}",
                part.bad, part.records
            ),
        )),
        (None, None) => None,
    }
}

/// Numbers the processes: by their rank, if the trace has the rank of each, else by host and process id.
fn number_processes(sum: &mut Part, trace: &mut Trace) {
    let rank_of = |(host, pid): &(String, u64)| {
        let same = |r: &&(String, u64, u32)| r.1 == *pid && (r.0.is_empty() || r.0 == *host);
        sum.ranks.iter().find(same).map(|r| r.2)
    };
    let ranks: Option<Vec<u32>> = sum.processes.iter().map(rank_of).collect();
    let ranks = ranks.filter(|r| !r.is_empty() && r.iter().collect::<HashSet<_>>().len() == r.len());
    for (host, _) in &mut sum.processes {
        if let Some(text) = sum.host_texts.get(host.as_bytes()) {
            *host = text.to_string();
        }
    }
    let mut order: Vec<usize> = (0..sum.processes.len()).collect();
    order.sort_by_key(|&p| &sum.processes[p]);
    let known = ranks.is_some();
    let numbers = ranks.unwrap_or_else(|| {
        let mut numbers = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &p)| numbers[p] = place as u32);
        numbers
    });
    for (number, (host, _)) in numbers.iter().zip(&sum.processes) {
        trace.hosts.insert(*number, Arc::from(host.as_str()));
    }
    let number = |p: u32| numbers.get(p as usize).copied().unwrap_or(p);
    sum.requests.rank.map_in_place(number);
    sum.totals.iter_mut().for_each(|t| t.rank = number(t.rank));
    trace.ranks = sum.processes.len() as u64;
    if !known && sum.processes.len() > 1 {
        let message = "the trace has no MPI ranks: processes are numbered by host and process id";
        trace.warnings.push(Warning::new("no-ranks", message));
    }
}

/// The names of the files, with the texts of their hashes where these are known.
fn resolve(sum: &mut Part) -> Files {
    let mut files = Files::default();
    let text = |name: &str| name.strip_prefix(HASH).and_then(|hash| sum.file_texts.get(hash.as_bytes()));
    let numbers: Vec<_> =
        sum.files.iter().map(|(_, name)| files.intern(text(name).map_or(name, |text| text))).collect();
    sum.requests.file.map_in_place(|f| numbers.get(f.0 as usize).copied().unwrap_or(f));
    files
}

/// Puts calls, or else totals, into the trace.
fn fill(mut sum: Part, trace: &mut Trace) {
    let calls = !sum.requests.is_empty();
    if calls || sum.totals.is_empty() {
        trace.data = Data::Requests(in_order(sum.requests));
        trace.layers = vec![trace.summarise("requests")];
        if !sum.totals.is_empty() {
            let message = format!("{} totals beside the calls were left out", sum.totals.len());
            trace.quality.records_left_out += sum.totals.len() as u64;
            trace.warnings.push(Warning::new("totals-left-out", message));
        }
        return;
    }
    let device = sum.totals.iter().all(|t| t.device);
    if device {
        trace
            .warnings
            .push(Warning::new("node-series", "the trace holds counters of the devices of a node, and no calls"));
    }
    sum.totals.retain(|t| t.device == device);
    let (rows, bin_s) =
        if device { of_samples(&sum.totals, trace) } else { of_intervals(&sum.totals, sum.interval_ms, trace) };
    trace.timing = Timing::Heatmap;
    trace.bin_s = bin_s;
    trace.data = Data::Intervals(rows);
    trace.layers = vec![trace.summarise("intervals")];
}

/// Sorts by start: lines are in the order of their ends.
fn in_order(requests: Requests) -> Requests {
    if requests.start.is_sorted() {
        return requests;
    }
    let mut rows: Vec<Request> = requests.iter().collect();
    rows.par_sort_by(|a, b| a.start.total_cmp(&b.start));
    rows.into_iter().collect()
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
    let mut steps: HashMap<i64, u32> = HashMap::new();
    let mut rows = Vec::new();
    for samples in series.values_mut() {
        samples.sort_by_key(|t| t.at_ns);
        for pair in samples.windows(2).filter(|w| w[1].at_ns > w[0].at_ns) {
            let (start, end) = (ticks.seconds(pair[0].at_ns), ticks.seconds(pair[1].at_ns));
            *steps.entry((pair[1].at_ns - pair[0].at_ns) / 1_000_000).or_default() += 1;
            let Total { op, bytes, rank, .. } = pair[1];
            rows.push(Interval { op, rank, bytes, start, end, ..Interval::default() });
        }
    }
    let usual = steps.into_iter().max_by_key(|&(ms, n)| (n, ms)).map(|(ms, _)| ms as f64 / 1e3);
    (rows.into_iter().collect(), usual.filter(|s| *s > 0.0))
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
