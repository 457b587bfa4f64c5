//! strace text of requests: a folder with a file a rank.

use std::collections::BTreeMap;

use super::super::custom::write::Texts;
use super::super::digits::{nine_places, padded, whole};
use super::super::write::{Sink, Writer, Written};
use super::path::normalise;
use super::text::{DAY, NANOS};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::thresholds::LIMITS;
use crate::record::{FileId, Op, Row, Rows, UNKNOWN_OFFSET};

/// The writer: `pread64` and `pwrite64` with offset where it is known, else `read` and `write`, as `strace -T -y` shows them.
///
/// Times have nine decimals, the most that this format has. A trace that knows the calendar has `-ttt` stamps; one that begins
/// with the job has times of day from midnight (`-tt`), as numbers below 10⁸ would be taken for differences.
pub struct Files;

/// Bytes of lines of all ranks that are held back.
const HELD: usize = 16 << 20;
/// Ranks without rows, below the largest one, that get a file: the place of a file in the folder is its rank.
const MOST_EMPTY: u32 = 1 << 16;
/// Where traces that a time of day cannot hold begin: 2001-09-09, 01:46:40 UTC.
const STAND_IN_S: i64 = 1_000_000_000;
/// Numbers of more digits are none to readers.
const TOO_LARGE: u64 = 1_000_000_000_000_000_000;

impl Writer for Files {
    fn name(&self) -> &'static str {
        "strace"
    }

    fn ending(&self) -> &'static str {
        ".st"
    }

    fn is_folder(&self) -> bool {
        true
    }

    fn write(&self, rows: &dyn Rows, sink: &mut dyn Sink) -> Result<Written> {
        let clock = Clock::of(rows)?;
        let tasks = rows.details().tasks;
        let names = Texts::new(rows.files(), annotation);
        let renamed = rows.files().iter().filter(|(_, n)| reads_back_as(n) != *n).count() as u64;
        let mut lines = Lines { ranks: BTreeMap::new(), bytes: 0 };
        let mut written = Written::default();
        let (mut others, mut stretches, mut rounded, mut far) = (0, 0, 0, 0);
        rows.visit(&mut |row| {
            let (start, end) = row.span();
            let (offset, size, task) = match row {
                Row::Request(r) => (r.offset, r.size, r.task),
                Row::Interval(i) => {
                    stretches += 1;
                    (UNKNOWN_OFFSET, i.bytes.round() as u64, 0)
                }
            };
            let call: &[u8] = match (row.op(), offset < TOO_LARGE) {
                (Op::Read, true) => b" pread64(",
                (Op::Read, false) => b" read(",
                (Op::Write, true) => b" pwrite64(",
                (Op::Write, false) => b" write(",
                _ => {
                    others += 1;
                    return Ok(());
                }
            };
            if size >= TOO_LARGE {
                return Err(Error::new(ErrorKind::Output, format!("a request of {size} bytes"))
                    .expected(format!("less than {TOO_LARGE} bytes, as strace cannot show more")));
            }
            far += u64::from(offset >= TOO_LARGE && offset != UNKNOWN_OFFSET);
            let (from, to) = (clock.nanos(start), clock.nanos(end));
            rounded += u64::from(from as f64 / 1e9 != start || to as f64 / 1e9 != end);
            let out = lines.of(row.rank());
            let before = out.len();
            if tasks {
                whole(out, task);
                out.push(b' ');
            }
            clock.stamp(out, from);
            out.extend_from_slice(call);
            // Descriptors 0 to 2 are the standard streams, 3 has no name.
            whole(out, if row.file() == FileId::NONE { 3 } else { row.file().0.min(i32::MAX as u32 - 4) + 4 });
            if row.file() != FileId::NONE {
                out.push(b'<');
                out.extend_from_slice(names.get(row.file()));
                out.push(b'>');
            }
            out.extend_from_slice(if size == 0 { b", \"\", " } else { b", \"\"..., " });
            whole(out, size);
            if offset < TOO_LARGE {
                out.extend_from_slice(b", ");
                whole(out, offset);
            }
            out.extend_from_slice(b") = ");
            whole(out, size);
            out.extend_from_slice(b" <");
            nine_places(out, (to - from).unsigned_abs());
            out.extend_from_slice(b">\n");
            let added = out.len() - before;
            written.rows += 1;
            lines.added(added, sink)
        })?;
        let missing = lines.finish(&clock, sink)?;
        written.note(renamed, "names-changed", |n| {
            format!("{n} file names are not absolute paths in normal form, and read back in that form")
        });
        written.note(rounded, "times-rounded", |n| {
            format!("{n} rows have times finer than a nanosecond; they are rounded to nanoseconds")
        });
        written.note(far, "offsets-lost", |n| format!("{n} offsets have more than 18 digits and are left out"));
        written.note(others, "no-transfers", |n| format!("{n} rows move no bytes and are left out"));
        written.note(stretches, "stretches-as-records", |n| {
            format!("{n} rows are phases or bins, not requests; each is written as one call of whole bytes")
        });
        written.note(missing, "ranks-renumbered", |n| {
            format!("{n} ranks have no rows; those after them read back with lower numbers")
        });
        written.note(u64::from(clock.moved), "clock-moved", |_| {
            format!(
                "the times fit no time of day; they are written as if the trace's clock began {STAND_IN_S} s after 1970"
            )
        });
        Ok(written)
    }
}

/// How times are written.
struct Clock {
    /// Nanoseconds to add to a row's times; `None` for times of day.
    epoch_ns: Option<i64>,
    /// The zero of an epoch clock is not that of the trace.
    moved: bool,
}

impl Clock {
    fn of(rows: &dyn Rows) -> Result<Clock> {
        let origin = rows.origin_s();
        let (mut start, mut end, mut back) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
        let mut latest: BTreeMap<u32, f64> = BTreeMap::new();
        rows.visit(&mut |row| {
            let (from, to) = row.span();
            (start, end) = (start.min(from), end.max(to));
            let last = latest.entry(row.rank()).or_insert(from);
            back = back.max(*last - from);
            *last = from;
            Ok(())
        })?;
        if start > end {
            (start, end) = (0.0, 0.0);
        }
        let too_far = || {
            Error::new(ErrorKind::Output, format!("times from {start} to {end} s"))
                .expected("times within 200 years of each other")
        };
        if !(start > -6e9 && end < 6e9) {
            return Err(too_far());
        }
        let epoch = |s: i64| s.checked_mul(NANOS).ok_or_else(too_far);
        if origin as f64 + start >= LIMITS.epoch_least_s as f64 && origin < 8_000_000_000 {
            return Ok(Clock { epoch_ns: Some(epoch(origin)?), moved: false });
        }
        // Times of day say nothing of the day: a reader takes those that are half a day apart, or far back, for another one.
        let half_day = (DAY / NANOS / 2) as f64;
        if origin == 0 && start >= 0.0 && end < half_day && back < LIMITS.midnight_step_s as f64 {
            return Ok(Clock { epoch_ns: None, moved: false });
        }
        Ok(Clock { epoch_ns: Some(epoch(STAND_IN_S - start.floor().min(0.0) as i64)?), moved: true })
    }

    fn nanos(&self, seconds: f64) -> i64 {
        (seconds * 1e9).round() as i64
    }

    fn stamp(&self, out: &mut Vec<u8>, ns: i64) {
        match self.epoch_ns {
            Some(epoch) => nine_places(out, (epoch + ns).unsigned_abs()),
            None => {
                let (seconds, fraction) = (ns.unsigned_abs() / 1_000_000_000, ns.unsigned_abs() % 1_000_000_000);
                padded(out, seconds / 3600, 2);
                out.push(b':');
                padded(out, seconds / 60 % 60, 2);
                out.push(b':');
                padded(out, seconds % 60, 2);
                out.push(b'.');
                padded(out, fraction, 9);
            }
        }
    }
}

/// Lines of the ranks that are not written yet.
struct Lines {
    ranks: BTreeMap<u32, Vec<u8>>,
    bytes: usize,
}

impl Lines {
    fn of(&mut self, rank: u32) -> &mut Vec<u8> {
        self.ranks.entry(rank).or_default()
    }

    fn added(&mut self, bytes: usize, sink: &mut dyn Sink) -> Result<()> {
        self.bytes += bytes;
        if self.bytes < HELD {
            return Ok(());
        }
        self.bytes = 0;
        self.ranks.iter_mut().filter(|(_, lines)| !lines.is_empty()).try_for_each(|(rank, lines)| {
            sink.append(&file_name(*rank), lines)?;
            lines.clear();
            Ok(())
        })
    }

    /// Writes what is left, and a file without calls for ranks that have no rows. Gives how many of those were too many.
    fn finish(mut self, clock: &Clock, sink: &mut dyn Sink) -> Result<u64> {
        self.added(HELD, sink)?;
        let Some(&last) = self.ranks.keys().next_back() else { return Ok(0) };
        let missing = u64::from(last) + 1 - self.ranks.len() as u64;
        if missing > u64::from(MOST_EMPTY) {
            return Ok(missing);
        }
        let mut idle = Vec::new();
        clock.stamp(&mut idle, 0);
        idle.extend_from_slice(b" +++ exited with 0 +++\n");
        (0..last).filter(|r| !self.ranks.contains_key(r)).try_for_each(|r| sink.append(&file_name(r), &idle))?;
        Ok(0)
    }
}

fn file_name(rank: u32) -> String {
    format!("job_host_{rank}.st")
}

/// A name between `<` and `>`: printable ASCII, all else in octal.
fn annotation(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 1);
    if !name.starts_with('/') {
        text.push('/');
    }
    for b in name.bytes() {
        match b {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b' '..=b'~' if !matches!(b, b'<' | b'>') => text.push(b as char),
            _ => text.push_str(&format!("\\{b:03o}")),
        }
    }
    text
}

/// The name that a reader gets back.
fn reads_back_as(name: &str) -> String {
    normalise(format!("/{}", name.strip_prefix('/').unwrap_or(name)).as_bytes()).into_owned()
}
