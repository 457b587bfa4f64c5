//! HEADER/PROCESS text: the requests of every rank to a file, as an ADIO-level tracer writes them.
//!
//! The input of the trace analyser whose design note gave the access patterns their form:
//!
//! ```text
//! HEADER
//! <path> <communicator size> <total bytes>
//! PROCESS <rank> <n>
//! [<int>] <operation> <start> [<end>] <m> [<flag 1> ... <flag m>]      n records,
//! <offset> <length>                                                   each with m accesses
//! ```
//!
//! A file may hold several blocks. Whether records begin with an integer (a place in the software hierarchy) and whether they
//! have an end time is found out once a block (`Spelling`). Every access is a request; the accesses of one record have its
//! times. Offsets and lengths are bytes, times seconds since the start of the trace.

pub(super) mod write;

use super::format::{Format, Sniff, only};
use super::lines::{Bad, LineDecoder, LineReader, Taken, is_remark, lines, quote};
use super::number::{parse_f64, parse_u64};
use super::op_name::op_of;
use super::options::ReadOptions;
use super::source::Source;
use crate::error::{Error, Place, Result};
use crate::record::{
    CallId, Data, FileId, Job, Op, Request, Requests, RowSink, Timing, Trace, UNKNOWN_OFFSET, Warning, is_time,
};

/// The format.
pub struct Radar;

impl Format for Radar {
    fn name(&self) -> &'static str {
        "radar"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        match lines(head).find(|l| !is_remark(l)) {
            Some(line) if line.trim_ascii() == b"HEADER" => Sniff::Yes,
            _ => Sniff::No("the first line is not HEADER"),
        }
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let mut lines = LineReader::open(only(sources, self)?, options)?;
        let mut reader = RadarReader::new(options);
        while lines.next(&Lines, &mut reader)? {
            if reader.rows.len() > options.limits.records {
                return Err(Error::too_many_rows(options.limits.records).at(Place::Line(lines.line())));
            }
        }
        let tally = lines.finish();
        (reader.line, reader.at_end) = (tally.lines, true);
        reader.close_block();
        if let Some(why) = tally.damage {
            reader.damage(&why, "a whole compressed stream");
        }
        reader.into_trace(self.name())?.give_rows(sink)
    }
}

/// Lines, whose blocks keep an account of their damage.
struct Lines;

impl LineDecoder for Lines {
    type Rows = RadarReader;

    fn line(&self, line: &[u8], number: u64, reader: &mut RadarReader) -> Result<Taken, Bad> {
        reader.line = number;
        reader.read_line(line.trim_ascii());
        Ok(Taken::Record)
    }

    fn long_line(&self, _: &[u8], number: u64, reader: &mut RadarReader) -> Result<Taken, Bad> {
        reader.line = number;
        reader.damage(&format!("a line longer than {} bytes", reader.longest_line), "shorter lines");
        Ok(Taken::Record)
    }
}

/// How the records of a block give their times; the leading integer shows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// `<operation> <time> <m>`: an access is a point in time.
    OneTime,
    /// `<operation> <start> <end> <m>`.
    TwoTimes,
}

/// The numbers after the operation of a record, under either spelling.
#[derive(Debug, Clone, Copy, Default)]
struct Numbers {
    /// The first: a time in any case.
    start: f64,
    /// The second: the end, or
    end: Option<f64>,
    /// the number of accesses.
    second: Option<u64>,
    /// The third as the number of accesses.
    third: Option<u64>,
    /// How many there are.
    count: usize,
}

impl Numbers {
    fn of<'t>(mut tokens: impl Iterator<Item = &'t [u8]>) -> Option<Numbers> {
        let time = |text: &[u8]| parse_f64(text).filter(|t| is_time(*t));
        let start = time(tokens.next()?)?;
        let second = tokens.next()?;
        let third = tokens.next();
        Some(Numbers {
            start,
            end: time(second),
            second: parse_u64(second),
            third: third.and_then(parse_u64),
            count: 2 + usize::from(third.is_some()) + tokens.count(),
        })
    }

    fn accesses(&self, spelling: Spelling) -> Option<u64> {
        match spelling {
            Spelling::OneTime => self.second,
            Spelling::TwoTimes => self.third.filter(|_| self.end.is_some()),
        }
    }

    /// True if a record of this spelling can have this number of accesses.
    fn fits(&self, spelling: Spelling, accesses: u64) -> bool {
        let times = spelling == Spelling::OneTime || self.end.is_some_and(|e| e >= self.start);
        times && self.accesses(spelling) == Some(accesses)
    }

    /// True if there are as many flags as accesses, or none.
    fn flags_fit(&self, spelling: Spelling, accesses: u64) -> bool {
        let flags = self.count as u64 - if spelling == Spelling::OneTime { 2 } else { 3 };
        flags == 0 || flags == accesses
    }
}

/// A traced file.
struct Block {
    file: FileId,
    total: Option<u64>,
    found: u128,
    spelling: Option<Spelling>,
    /// Records that fit both spellings: their rows and what would be their end.
    undecided: Vec<(std::ops::Range<usize>, f64)>,
    damaged: bool,
}

impl Block {
    fn new(file: FileId, total: Option<u64>) -> Block {
        Block { file, total, found: 0, spelling: None, undecided: Vec::new(), damaged: false }
    }
}

/// The records of a rank.
struct Process {
    rank: u32,
    announced: u64,
    seen: u64,
}

/// A record whose accesses follow.
struct Record {
    line: u64,
    op: Op,
    call: CallId,
    numbers: Numbers,
    first_row: usize,
    seen: u64,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Expect {
    /// Nothing but HEADER or PROCESS: before the first block, and after damage.
    #[default]
    Start,
    /// The line after HEADER.
    File,
    /// Anything.
    Body,
}

#[derive(Default)]
struct RadarReader {
    all: bool,
    longest_line: usize,
    trace: Trace,
    rows: Requests,
    line: u64,
    at_end: bool,
    expect: Expect,
    block: Option<Block>,
    process: Option<Process>,
    record: Option<Record>,
    ranks_seen: u64,
    /// Damaged places; the first is kept as an error for an input of which nothing can be used.
    damages: u64,
    first_damage: Option<Error>,
    /// Blocks whose accesses do not add up to their total; the first in words.
    off: u64,
    first_off: Option<String>,
}

/// Undecided records kept before a spelling is settled on.
const MOST_UNDECIDED: usize = 4096;
/// Damaged places that get a warning of their own.
const MOST_WARNINGS: u64 = 8;

impl RadarReader {
    fn new(options: &ReadOptions) -> RadarReader {
        RadarReader {
            all: options.detail.all_calls(),
            longest_line: options.limits.line_bytes,
            trace: Trace { timing: Timing::Request, ..Trace::default() },
            ..RadarReader::default()
        }
    }

    fn read_line(&mut self, line: &[u8]) {
        if line == b"HEADER" {
            self.close_block();
            self.expect = Expect::File;
            return;
        }
        if let Some(rest) = line.strip_prefix(b"PROCESS").filter(|r| r.first().is_some_and(u8::is_ascii_whitespace)) {
            self.close_process();
            self.open_process(rest);
            return;
        }
        match self.expect {
            Expect::File => self.open_block(line),
            Expect::Body => self.body(line),
            Expect::Start => {
                if self.damages == 0 {
                    self.damage(&quote(line), "HEADER");
                }
                if access(line).is_some() {
                    self.trace.quality.records_read += 1;
                    self.trace.quality.records_dropped += 1;
                }
            }
        }
    }

    /// `<path> <communicator size> <total bytes>`; the path may hold blanks.
    fn open_block(&mut self, line: &[u8]) {
        let mut parts = line.rsplitn(3, u8::is_ascii_whitespace);
        let (total, size, path) = (parts.next(), parts.next(), parts.next());
        let number = |t: Option<&[u8]>| t.and_then(parse_u64);
        let (Some(total), Some(size), Some(path)) = (number(total), number(size), path) else {
            self.damage(&quote(line), "a path, the size of the communicator and the total bytes");
            return;
        };
        if size <= 1 << 31 {
            self.trace.ranks = self.trace.ranks.max(size);
        }
        let file = self.trace.files.intern(&String::from_utf8_lossy(path.trim_ascii_end()));
        self.block = Some(Block::new(file, Some(total)));
        self.expect = Expect::Body;
    }

    fn open_process(&mut self, rest: &[u8]) {
        let mut numbers = tokens(rest).map(parse_u64);
        let (Some(Some(rank)), Some(Some(announced))) = (numbers.next(), numbers.next()) else {
            self.damage(&quote(rest), "PROCESS with a rank and a number of records");
            return;
        };
        let Ok(rank) = u32::try_from(rank) else {
            self.damage(&format!("rank {rank}"), "a rank below 4294967296");
            return;
        };
        // The file is not known if its header was damaged.
        self.block.get_or_insert_with(|| Block::new(FileId::NONE, None));
        self.ranks_seen = self.ranks_seen.max(u64::from(rank) + 1);
        self.process = Some(Process { rank, announced, seen: 0 });
        self.expect = Expect::Body;
    }

    fn body(&mut self, line: &[u8]) {
        if let Some((offset, length)) = access(line) {
            self.access(offset, length);
            return;
        }
        if !self.close_record() {
            return;
        }
        let Some(process) = &mut self.process else {
            self.damage(&quote(line), "PROCESS");
            return;
        };
        if process.seen == process.announced {
            let announced = process.announced;
            self.damage(&quote(line), &format!("PROCESS or HEADER after the {announced} records of this one"));
            return;
        }
        let mut words = tokens(line);
        let mut name = words.next().unwrap_or_default();
        if parse_u64(name).is_some() {
            name = words.next().unwrap_or_default();
        }
        let numbers = Numbers::of(words).filter(|_| name.first().is_some_and(u8::is_ascii_alphabetic));
        let Some(numbers) = numbers else {
            self.damage(&quote(line), "a record: an operation, its time and the number of its accesses");
            return;
        };
        process.seen += 1;
        let name = String::from_utf8_lossy(name);
        let (op, call) = (op_of(name.as_bytes()), self.trace.calls.intern(&name));
        match self.trace.call_counts.get_mut(&*name) {
            Some(n) => *n += 1,
            None => _ = self.trace.call_counts.insert(name.into_owned(), 1),
        }
        self.record = Some(Record { line: self.line, op, call, numbers, first_row: self.rows.len(), seen: 0 });
    }

    fn access(&mut self, offset: u64, length: u64) {
        self.trace.quality.records_read += 1;
        let (Some(block), Some(process), Some(record)) = (&mut self.block, &self.process, &mut self.record) else {
            self.trace.quality.records_dropped += 1;
            self.damage("an access without a record", "PROCESS or a record");
            return;
        };
        if let Some(spelling) = block.spelling
            && record.numbers.accesses(spelling).is_some_and(|m| record.seen >= m)
        {
            let (line, m) = (record.line, record.seen);
            self.record = None;
            self.trace.quality.records_dropped += 1;
            self.damage("an access more", &format!("the {m} accesses of the record in line {line}"));
            return;
        }
        record.seen += 1;
        if record.op.moves_bytes() {
            block.found += u128::from(length);
        } else if !self.all {
            return;
        }
        let start = record.numbers.start;
        let end = match block.spelling {
            Some(Spelling::TwoTimes) => record.numbers.end.unwrap_or(start),
            _ => start,
        };
        if end < start {
            self.trace.quality.clamped += 1;
        }
        self.rows.push(Request {
            op: record.op,
            call: record.call,
            rank: process.rank,
            task: 0,
            file: block.file,
            offset,
            size: length,
            start,
            end: end.max(start),
        });
    }

    /// Ends the open record; false if it is damaged.
    fn close_record(&mut self) -> bool {
        use Spelling::{OneTime, TwoTimes};
        let (Some(record), Some(block)) = (self.record.take(), &mut self.block) else { return true };
        let (numbers, seen) = (record.numbers, record.seen);
        if self.all && record.first_row == self.rows.len() {
            // A call without accesses is still a call.
            self.trace.quality.records_read += 1;
            let end =
                if block.spelling == Some(TwoTimes) { numbers.end.unwrap_or(numbers.start) } else { numbers.start };
            self.rows.push(Request {
                op: record.op,
                call: record.call,
                rank: self.process.as_ref().map_or(0, |p| p.rank),
                file: block.file,
                start: numbers.start,
                end: end.max(numbers.start),
                ..Request::default()
            });
        }
        let rows = record.first_row..self.rows.len();
        if let Some(spelling) = block.spelling {
            let announced = numbers.accesses(spelling);
            if announced == Some(seen) {
                return true;
            }
            let announced = announced.map_or("an unknown number of".to_owned(), |m| m.to_string());
            return self.short_record(&record, &announced);
        }
        let fits = (numbers.fits(OneTime, seen), numbers.fits(TwoTimes, seen));
        let decided = match fits {
            (true, false) => OneTime,
            (false, true) => TwoTimes,
            (true, true) => match (numbers.flags_fit(OneTime, seen), numbers.flags_fit(TwoTimes, seen)) {
                (true, false) => OneTime,
                (false, true) => TwoTimes,
                _ if block.undecided.len() == MOST_UNDECIDED => OneTime,
                _ => {
                    block.undecided.extend(numbers.end.map(|e| (rows, e)));
                    return true;
                }
            },
            (false, false) => {
                let announced =
                    numbers.second.or(numbers.third).map_or("an unknown number of".to_owned(), |m| m.to_string());
                return self.short_record(&record, &announced);
            }
        };
        block.spelling = Some(decided);
        if decided == TwoTimes {
            block.undecided.extend(numbers.end.map(|e| (rows, e)));
            for (rows, end) in block.undecided.drain(..) {
                self.rows.end[rows].fill(end);
            }
        }
        block.undecided = Vec::new();
        true
    }

    #[cold]
    fn short_record(&mut self, record: &Record, announced: &str) -> bool {
        let found = format!("{} accesses of the record in line {}", record.seen, record.line);
        self.damage(&found, &format!("{announced} accesses"));
        false
    }

    fn close_process(&mut self) {
        let sound = self.close_record();
        if let Some(p) = self.process.take()
            && sound
            && self.expect == Expect::Body
            && p.seen < p.announced
        {
            self.damage(&format!("{} records of rank {}", p.seen, p.rank), &format!("{} records", p.announced));
        }
    }

    fn close_block(&mut self) {
        self.close_process();
        if self.expect == Expect::File {
            self.damage("HEADER without a file", "a path, the size of the communicator and the total bytes");
        }
        if let Some(b) = self.block.take()
            && !b.damaged
            && let Some(total) = b.total.filter(|t| u128::from(*t) != b.found)
        {
            self.off += 1;
            let (file, found) = (self.trace.files.name(b.file), b.found);
            self.first_off.get_or_insert_with(|| {
                format!("the accesses to {file} add up to {found} bytes, its header says {total}")
            });
        }
        self.expect = Expect::Start;
    }

    /// Ends the block here: nothing is read until the next HEADER or PROCESS.
    #[cold]
    fn damage(&mut self, found: &str, expected: &str) {
        self.expect = Expect::Start;
        (self.process, self.record) = (None, None);
        if let Some(b) = &mut self.block {
            b.damaged = true;
        }
        self.damages += 1;
        let error = Error::malformed(Place::Line(self.line), found).expected(expected);
        if self.damages <= MOST_WARNINGS {
            let (code, rest) = match self.at_end {
                true => ("damaged-tail", "the records before it were kept"),
                false => ("damaged-block", "its rest was left out"),
            };
            self.trace.warnings.push(Warning::new(code, format!("{error}; {rest}")));
        }
        self.first_damage.get_or_insert(error);
    }

    fn into_trace(mut self, format: &'static str) -> Result<Trace> {
        if self.rows.is_empty()
            && let Some(e) = self.first_damage
        {
            return Err(e.remedy("write the trace again; nothing beside the damage can be used"));
        }
        let mut trace = self.trace;
        if self.damages > MOST_WARNINGS {
            trace.warnings.push(Warning::new(
                "damaged-block",
                format!("{} further places are damaged", self.damages - MOST_WARNINGS),
            ));
        }
        if let Some(first) = self.first_off.take() {
            let message = if self.off == 1 { first } else { format!("{first}; {} further files too", self.off - 1) };
            trace.warnings.push(Warning::new("bytes-disagree", message));
        }
        trace.format = format;
        if trace.ranks > 0 {
            trace.job = Some(Job { ranks: Some(trace.ranks), ..Job::default() });
        }
        trace.ranks = trace.ranks.max(self.ranks_seen);
        trace.data = Data::Requests(self.rows);
        trace.layers = vec![trace.summarise("requests")];
        Ok(trace)
    }
}

/// The words of a line: separated by blanks, commas, brackets.
fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace() || matches!(b, b',' | b'[' | b']')).filter(|t| !t.is_empty())
}

/// `<offset> <length>` or `<offset>, <length>`; a negative offset is an unknown one.
#[inline]
fn access(line: &[u8]) -> Option<(u64, u64)> {
    if !matches!(line.first(), Some(b'0'..=b'9' | b'-')) {
        return None;
    }
    let mut words = tokens(line);
    let (offset, length) = (words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    let offset = match offset.strip_prefix(b"-") {
        Some(digits) => parse_u64(digits).map(|_| UNKNOWN_OFFSET)?,
        None => parse_u64(offset)?,
    };
    Some((offset, parse_u64(length)?))
}
