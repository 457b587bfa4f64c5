//! Traces of versions 2.0 to 2.2: a record for each call, with descriptors in place of names.

use std::collections::{HashMap, VecDeque};

use memchr::memchr;

use super::call::{Effect, Names, Signature, Target};
use super::metadata::Metadata;
use super::parts::{Part, Parts, Piece};
use super::rows::{Facts, RankRows, Wanted};
use super::times::Clock;
use super::{layer_of, trace_of};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::bytes::Cursor;
use crate::formats::options::ReadOptions;
use crate::formats::source::Source;
use crate::formats::window::Window;
use crate::record::{Clock as TraceClock, Requests, RowSink, Trace, Warning, is_time};

/// Bytes of a record before its arguments.
const HEAD: usize = 14;
/// Records back that a record may refer to.
const BACK: usize = 3;
/// Value stored for a time that did not fit in 31 bits.
const LOST: i32 = i32::MIN;
/// Function number of functions of the program.
const USER: u8 = 255;
/// How the files are written: as they are, or with references to earlier records.
const BINARY: i32 = 1;
const PACKED: i32 = 2;

/// A call as it is stored, references resolved.
#[derive(Debug, Clone, Default)]
struct Record {
    start: i32,
    end: i32,
    result: i32,
    function: u8,
    args: Vec<Vec<u8>>,
}

/// Reads the files of the ranks, one after the other.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for text and compressed files, [`ErrorKind::Malformed`] for damage that is not at the end of a file.
pub(super) fn read(parts: &Parts<'_>, meta: &Metadata, options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
    let mode = parts.get(Part::Metadata)?.part(12, 4).bytes(options)?;
    let mode = Cursor::new(&mode, "metadata").i32()?;
    if ![BINARY, PACKED].contains(&mode) {
        return Err(Error::new(ErrorKind::Unsupported, format!("records of Recorder 2.2 in mode {mode}"))
            .expected("mode 1 or 2 (binary)")
            .remedy("record with a newer version"));
    }
    let ranks: Vec<Rank<'_>> =
        (0..meta.ranks).filter_map(|r| Rank::open(parts, r, options).transpose()).collect::<Result<_>>()?;
    let zero_s = ranks.iter().map(|r| r.start_s).fold(f64::INFINITY, f64::min);
    let layer = match options.layer {
        Some(layer) => Some(layer),
        None => layer_of(None, |wanted| ranks.iter().any(|r| r.has_transfers(meta, options, wanted).unwrap_or(true))),
    };
    let wanted = Wanted::new(sink, layer, options);
    let (mut names, mut facts, mut all, mut damage) = (Names::default(), Facts::default(), Vec::new(), Vec::new());
    let mut kept = 0;
    for rank in &ranks {
        let (of_rank, rows, cut) = rank.read(meta, (wanted, zero_s), &mut names, options)?;
        facts.add(&of_rank);
        kept += rows.len();
        all.push(rows);
        damage.extend(cut);
        if kept > options.limits.records {
            return Err(Error::too_many_rows(options.limits.records));
        }
    }
    let meta = Metadata { start_s: zero_s, functions: meta.functions.clone(), version: meta.version.clone(), ..*meta };
    let mut trace = trace_of(&meta, layer, facts, all, (names, sink))?;
    trace.clock = TraceClock::job_start(zero_s);
    let missing = u64::from(meta.ranks) - ranks.len() as u64;
    if missing > 0 {
        let message = format!("{missing} of {} ranks have no calls in the trace", meta.ranks);
        trace.warnings.push(Warning::new("missing-ranks", message));
    }
    trace.quality.records_dropped += damage.len() as u64;
    trace.warnings.extend(damage.into_iter().map(|message| Warning::new("damaged-tail", message)));
    Ok(trace)
}

/// The file of a rank.
struct Rank<'s> {
    rank: u32,
    calls: Piece<'s>,
    /// Seconds since 1970.
    start_s: f64,
}

impl<'s> Rank<'s> {
    fn open(parts: &Parts<'s>, rank: u32, options: &ReadOptions) -> Result<Option<Self>> {
        let part = |part: Part| parts.all.get(&part).copied();
        let Some((calls, start)) = part(Part::Records(rank)).zip(part(Part::StartOf(rank))) else { return Ok(None) };
        let bytes = start.part(0, 8).bytes(options)?;
        let start_s = Cursor::new(&bytes, "start of a rank").f64().map_err(|e| e.in_file(start.source.name()))?;
        if !is_time(start_s) {
            return Err(start.error("a start that is not a time"));
        }
        Ok(Some(Rank { rank, calls, start_s }))
    }

    /// True if a call of the level moves bytes.
    fn has_transfers(
        &self,
        meta: &Metadata,
        options: &ReadOptions,
        wanted: &dyn Fn(super::level::Level) -> bool,
    ) -> Result<bool> {
        let mut names = Names::default();
        names.descriptors = Some(HashMap::new());
        let mut records = Records::open(self.calls.source, options)?;
        while let Some(record) = records.next().unwrap_or(None) {
            if let Some(s) = signature(&record, meta, &mut names)
                && s.op.moves_bytes()
                && wanted(s.level)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives the rows of the rank, and what was lost at its end.
    fn read(
        &self,
        meta: &Metadata,
        (wanted, zero_s): (Wanted<'_>, f64),
        names: &mut Names,
        options: &ReadOptions,
    ) -> Result<(Facts, Requests, Option<String>)> {
        let clock = Clock::new(meta.resolution);
        let later = self.start_s - zero_s;
        let mut rows = RankRows::new(wanted, self.rank, HashMap::new(), false);
        names.descriptors = Some(HashMap::new());
        let mut records = Records::open(self.calls.source, options)?;
        let damage = loop {
            let record = match records.next() {
                Ok(Some(record)) => record,
                Ok(None) => break None,
                Err(Stop::Cut(at)) => {
                    break Some(format!("rank {}: the file ends inside the call at byte {at}", self.rank));
                }
                Err(Stop::Error(e)) => return Err(e.in_file(self.calls.source.name())),
            };
            if record.start == LOST || record.end == LOST || record.end < record.start {
                let most = clock.seconds(1 << 31);
                break Some(format!(
                    "rank {}: times after {most:.0} s were not stored; its later calls are lost",
                    self.rank
                ));
            }
            let Some(s) = signature(&record, meta, names) else {
                let found = format!("function {} of {}", record.function, meta.functions.len());
                let place = Place::Byte(records.window.offset());
                return Err(Error::malformed(place, found).in_file(self.calls.source.name()));
            };
            if let (Effect::Open { .. }, Target::File(file), Some(open)) = (s.effect, s.target, &mut names.descriptors)
            {
                open.insert(record.result, file);
            }
            let seconds = |ticks: i32| later + clock.seconds(i64::from(ticks));
            rows.call(&s, (seconds(record.start), seconds(record.end)), names)?;
        };
        let (facts, rows) = rows.finish(names)?;
        Ok((facts, rows, damage))
    }
}

/// The signature of a record, in which descriptors stand for files; `None` if the table has no such function.
fn signature(record: &Record, meta: &Metadata, names: &mut Names) -> Option<Signature> {
    let args: Vec<&[u8]> = record.args.iter().map(Vec::as_slice).collect();
    let Some(name) = meta.functions.get(usize::from(record.function)) else {
        let name = args.get(1).map(|n| String::from_utf8_lossy(n))?;
        return (record.function == USER).then(|| names.user_function(&name, 0));
    };
    Some(names.signature(name, &args, 0))
}

/// Why no record follows.
enum Stop {
    /// The file ends inside the one that begins at this byte.
    Cut(u64),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(e: Error) -> Self {
        Stop::Error(e)
    }
}

/// Goes through the records of a file.
struct Records<'s> {
    window: Window<'s>,
    last: VecDeque<Record>,
    longest: usize,
}

impl<'s> Records<'s> {
    fn open(source: &'s Source, options: &ReadOptions) -> Result<Self> {
        Ok(Records {
            window: Window::open(source, options)?,
            last: VecDeque::with_capacity(BACK),
            longest: options.limits.line_bytes,
        })
    }

    fn next(&mut self) -> Result<Option<Record>, Stop> {
        let n = loop {
            let data = self.window.data();
            if let Some(n) = data.get(HEAD..).and_then(|args| memchr(b'\n', args)) {
                break HEAD + n;
            }
            if data.len() > self.longest {
                return Err(Stop::Error(Error::limit("a call is longer", format!("{} bytes", self.longest))));
            }
            if !self.window.more()? {
                return if self.window.data().is_empty() { Ok(None) } else { Err(Stop::Cut(self.window.offset())) };
            }
        };
        let record = self.parse(&self.window.data()[..n])?;
        self.window.consume(n + 1);
        if self.last.len() == BACK {
            self.last.pop_back();
        }
        self.last.push_front(record.clone());
        Ok(Some(record))
    }

    fn parse(&self, bytes: &[u8]) -> Result<Record> {
        let mut c = Cursor::new(bytes, "call");
        let status = c.u8()?;
        let (start, end, result, function) = (c.i32()?, c.i32()?, c.i32()?, c.u8()?);
        let given = c.take(c.left())?;
        // each argument has a blank before it
        let mut given = given.split(|b| *b == b' ').skip(1).map(<[u8]>::to_vec);
        let malformed =
            |found: String| Error::malformed(Place::Byte(self.window.offset()), found).remedy("copy the trace again");
        if status == 0 {
            return Ok(Record { start, end, result, function, args: given.collect() });
        }
        let Some(earlier) = self.last.get(usize::from(function)) else {
            return Err(malformed(format!("a call that refers to the one {} before it", u32::from(function) + 1)));
        };
        let mut record = Record { start, end, result, ..earlier.clone() };
        for i in (0..7).filter(|i| status >> i & 1 != 0) {
            match record.args.get_mut(i).zip(given.next()) {
                Some((arg, new)) => *arg = new,
                None => return Err(malformed(format!("argument {i} of a call is missing"))),
            }
        }
        match given.next() {
            None => Ok(record),
            Some(_) => Err(malformed("a call has more arguments than it says".into())),
        }
    }
}
