//! Samples of the kernel's counters of a running program, as `iophase watch -o` writes them.
//!
//! JSON Lines. The first line is the [`Header`]. Each further line is one of: a sample, `{"op","rank","start","end","size"}`, the bytes
//! that were counted between two readings; a process, `{"process","pid","name"}`, which names a rank; and at last the
//! [`Ending`]. Times are seconds since the start. Readings between which nothing was counted have no line.
//!
//! `watch` and the reader put the samples into a trace by the same [`Samples`], so that both have the same answers.

mod collect;

pub use collect::{Ending, Samples};

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::format::{Format, Sniff, only};
use super::lines::{Bad, Followed, Follower, LineDecoder, LineReader, Taken, Transfers, is_remark, lines, quote};
use super::options::ReadOptions;
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Clock, ClockKind, FileId, Interval, Op, RowSink, Trace, is_time};

/// Name of the schema of [`Header`].
pub const SAMPLES_SCHEMA: &str = "iophase.samples.v1";

/// The format.
pub struct SampledCounters;

/// The bytes that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Count {
    /// Bytes that calls such as `read` and `write` move (`rchar`, `wchar`).
    #[default]
    Calls,
    /// Bytes that are fetched from storage, and that make pages of the cache dirty or go to storage directly (`read_bytes`,
    /// `write_bytes`).
    Storage,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name and version of the schema.
    pub schema: String,
    /// The command and its arguments; `None` if a running process was watched.
    #[serde(default)]
    pub command: Option<Vec<String>>,
    /// The process.
    #[serde(default)]
    pub pid: Option<u32>,
    /// The bytes that are counted.
    #[serde(default)]
    pub count: Count,
    /// Readings a second that were aimed at.
    pub rate_hz: f64,
    /// Start in seconds since 1970-01-01 00:00 UTC.
    #[serde(default)]
    pub start_unix_s: Option<f64>,
}

impl Header {
    /// The zero of the times.
    pub fn clock(&self) -> Clock {
        let kind = if self.command.is_some() { ClockKind::JobStart } else { ClockKind::Trace };
        Clock { kind, zero_unix_s: self.start_unix_s.filter(|t| t.is_finite()) }
    }

    /// Reads the first line.
    fn parse(line: &[u8]) -> Result<Header, Bad> {
        const EXPECTED: &str = "a first line with schema iophase.samples.v1 and a rate_hz from 1e-6 to 1e6";
        let bad = |found: String| Bad { found, expected: EXPECTED };
        let header: Header = serde_json::from_slice(line).map_err(|e| bad(e.to_string()))?;
        if header.schema != SAMPLES_SCHEMA {
            return Err(Bad::new("schema", header.schema.as_bytes(), EXPECTED));
        }
        if !(1e-6..=1e6).contains(&header.rate_hz) {
            return Err(bad(format!("a rate of {} Hz", header.rate_hz)));
        }
        Ok(header)
    }
}

/// Read or write, as a line says it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Read,
    Write,
}

#[derive(Serialize, Deserialize)]
struct Sample {
    op: Direction,
    #[serde(default)]
    rank: u32,
    start: f64,
    end: f64,
    size: u64,
}

#[derive(Serialize, Deserialize)]
struct Process {
    process: u32,
    pid: u32,
    name: String,
}

/// A line after the header.
#[derive(Deserialize)]
#[serde(untagged)]
enum SampleLine {
    Sample(Sample),
    Process(Process),
    Ending(Ending),
    /// The header again, where the file was begun anew.
    #[serde(skip)]
    Header(Header),
}

/// The lines after the header, or all of those that come while a file is written.
#[derive(Default)]
struct Lines {
    /// That of the last header, if more of them may come.
    clock: Option<Clock>,
}

impl LineDecoder for Lines {
    type Rows = Vec<SampleLine>;

    fn line(&self, line: &[u8], _: u64, rows: &mut Vec<SampleLine>) -> Result<Taken, Bad> {
        const EXPECTED: &str = "a sample with op, start, end, size, a process, or the end";
        rows.push(match serde_json::from_slice(line) {
            Ok(SampleLine::Sample(Sample { start, end, .. })) if !(is_time(start) && is_time(end) && end >= start) => {
                return Err(Bad::new("the times of", line, "a sample that ends after it starts"));
            }
            Ok(SampleLine::Ending(Ending { end_s, .. })) if !(0.0..1e12).contains(&end_s) => {
                return Err(Bad::new("the end in", line, "seconds, below 1e12"));
            }
            Ok(good) => good,
            Err(_) if self.clock.is_some() && is_header(line) => SampleLine::Header(Header::parse(line)?),
            Err(_) => return Err(Bad { found: quote(line), expected: EXPECTED }),
        });
        Ok(Taken::Record)
    }
}

impl Transfers for Lines {
    const EACH_ALONE: bool = true;

    fn take(&mut self, rows: &mut Vec<SampleLine>, transfers: &mut VecDeque<Interval>) -> Result<(), String> {
        for line in rows.drain(..) {
            match line {
                SampleLine::Sample(s) => transfers.push_back(s.interval()),
                SampleLine::Header(h) => self.clock = Some(h.clock()),
                SampleLine::Process(_) | SampleLine::Ending(_) => {}
            }
        }
        Ok(())
    }

    fn clock(&self, _: &Vec<SampleLine>) -> Clock {
        self.clock.unwrap_or_default()
    }
}

impl Sample {
    fn interval(&self) -> Interval {
        let op = match self.op {
            Direction::Read => Op::Read,
            Direction::Write => Op::Write,
        };
        let (start, end, bytes) = (self.start, self.end, self.size as f64);
        Interval { op, asynchronous: false, rank: self.rank, file: FileId::NONE, bytes, start, end }
    }
}

/// The line of the header.
///
/// # Errors
/// [`ErrorKind::Output`] if it cannot be JSON.
pub fn header_line(header: &Header) -> Result<String> {
    text(header)
}

/// The line of a sample.
///
/// # Errors
/// [`ErrorKind::Output`] if it cannot be JSON.
pub fn sample_line(x: &Interval) -> Result<String> {
    let op = if x.op == Op::Read { Direction::Read } else { Direction::Write };
    text(&Sample { op, rank: x.rank, start: x.start, end: x.end, size: x.bytes as u64 })
}

/// The line that names the process of a rank.
///
/// # Errors
/// [`ErrorKind::Output`] if it cannot be JSON.
pub fn process_line(rank: u32, pid: u32, name: &str) -> Result<String> {
    text(&Process { process: rank, pid, name: name.to_owned() })
}

/// The last line.
///
/// # Errors
/// [`ErrorKind::Output`] if it cannot be JSON.
pub fn ending_line(ending: &Ending) -> Result<String> {
    text(ending)
}

fn text(line: &impl Serialize) -> Result<String> {
    serde_json::to_string(line).map_err(|e| Error::new(ErrorKind::Output, e.to_string()))
}

/// True if a line may be the header.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"{") && memchr::memmem::find(line, SAMPLES_SCHEMA.as_bytes()).is_some()
}

impl Format for SampledCounters {
    fn name(&self) -> &'static str {
        "samples"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        match lines(head).find(|l| !is_remark(l)) {
            Some(first) if is_header(first) => Sniff::Yes,
            _ => Sniff::No("the first line does not name iophase.samples.v1"),
        }
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let mut lines = LineReader::open(only(sources, self)?, options)?;
        let mut samples = Samples::new(lines.header(is_remark, Header::parse)?);
        let (mut ending, mut rows) = (None, Vec::new());
        while lines.share(&Lines::default(), &mut rows)? {
            for line in rows.drain(..) {
                match line {
                    SampleLine::Sample(s) => samples.push(s.interval()),
                    SampleLine::Process(p) => samples.note_rank(p.process),
                    SampleLine::Ending(e) => ending = Some(e),
                    SampleLine::Header(_) => {}
                }
            }
        }
        let tally = lines.finish();
        if let Some((line, bad)) = tally.first_bad.clone().filter(|_| !tally.only_the_end_is_cut()) {
            return Err(bad.at(line).remedy("correct or remove the line"));
        }
        let mut trace = samples.into_trace(ending.as_ref());
        trace.warnings.extend(tally.warnings("samples", None));
        trace.give_rows(sink)
    }

    fn follow(&self, head: &[u8], _: &ReadOptions) -> Result<Followed> {
        let first = lines(head).find(|l| !is_remark(l)).unwrap_or_default();
        let header = Header::parse(first).map_err(|bad| bad.at(1))?;
        Ok(Followed::Lines(Box::new(Follower::new(Lines { clock: Some(header.clock()) }, Vec::new()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;
    use crate::formats;
    use crate::record::{Data, Timing};

    fn header() -> Header {
        let command = Some(vec!["sh".to_owned(), "-c".to_owned(), "x".to_owned()]);
        let schema = SAMPLES_SCHEMA.to_owned();
        Header { schema, command, pid: Some(7), count: Count::Calls, rate_hz: 100.0, start_unix_s: Some(1.7e9) }
    }

    fn interval(i: u32) -> Interval {
        let start = f64::from(i) * 0.010_000_003;
        let op = if i.is_multiple_of(3) { Op::Read } else { Op::Write };
        Interval { op, rank: i % 2, bytes: f64::from(4096 + i), start, end: start + 0.01, ..Interval::default() }
    }

    fn file(rows: u32, ending: &Ending) -> String {
        let mut text = header_line(&header()).unwrap() + "\n" + &process_line(0, 7, "s\"h").unwrap() + "\n";
        (0..rows).for_each(|i| text += &(sample_line(&interval(i)).unwrap() + "\n"));
        text + &ending_line(ending).unwrap() + "\n"
    }

    fn read(text: &str) -> Result<Trace> {
        formats::read(&Source::from_bytes("w.jsonl", text.as_bytes().to_vec()), None, &ReadOptions::default())
    }

    #[test]
    fn a_file_has_the_trace_of_the_samples_themselves() {
        let ending = Ending { end_s: 9.0, readings: 900, ranks: 2, ..Ending::default() };
        let mut samples = Samples::new(header());
        (0..500).for_each(|i| samples.push(interval(i)));
        let direct = samples.into_trace(Some(&ending));
        let trace = read(&file(500, &ending)).unwrap();
        let (Data::Intervals(a), Data::Intervals(b)) = (&direct.data, &trace.data) else { panic!("no intervals") };
        assert!(a.iter().eq(b.iter()) && a.len() == 500);
        assert_eq!((trace.format, trace.timing, trace.bin_s), ("samples", Timing::Counter, Some(0.01)));
        assert_eq!((trace.ranks, &trace.job, trace.clock), (2, &direct.job, direct.clock));
        assert_eq!(trace.job.unwrap().run_time_s, Some(9.0));
        assert!(trace.warnings.is_empty());
    }

    #[test]
    fn a_cut_file_keeps_the_samples_before_the_cut_and_a_bad_line_is_an_error_with_its_place() {
        let whole = file(20, &Ending { end_s: 1.0, ..Ending::default() });
        let cut = read(&whole[..whole.len() - 150]).unwrap();
        assert!(cut.data.len() >= 15 && cut.warnings[0].code == "damaged-tail", "{:?}", cut.warnings);
        let bad = whole.replacen("\"write\"", "\"wrote\"", 1);
        let e = read(&bad).unwrap_err();
        assert_eq!((e.kind(), e.place()), (ErrorKind::Malformed, Some(Place::Line(4))), "{e}");
        for bad in ["{\"op\":\"read\",\"start\":2,\"end\":1,\"size\":1}", "{\"end_s\":-1}"] {
            assert!(read(&format!("{}\n{bad}\n", header_line(&header()).unwrap())).is_err(), "{bad}");
        }
        assert!(read(&whole.replace("\"rate_hz\":100.0", "\"rate_hz\":0")).is_err());
    }
}
