//! One record as text fields, and how it becomes a request.

use std::borrow::Cow;
use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::super::lines::{Bad, Stretch};
use super::super::number::{parse_f64, parse_f64_minus, parse_u64};
use super::super::op_name::op_of;
use crate::record::{CallId, Calls, Column, FileId, Files, Layer, Op, Request, Requests, UNKNOWN_OFFSET, is_time};

/// A field of a record: a column of CSV, a key of JSON Lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordField {
    /// `read`, `write`, `open`, `close`, `seek`, `sync`, or the name of a call such as `pwrite64`. Required.
    Op,
    /// Bytes moved. Required for reads and writes.
    Size,
    /// Seconds. Required.
    Start,
    /// Seconds; as the start if it is empty.
    End,
    /// Bytes from the start of the file; empty if unknown.
    Offset,
    /// Rank; 0 if it is empty.
    Rank,
    /// Name of the file.
    File,
    /// Name of the call, if `Op` has none.
    Call,
    /// Process or thread id.
    Pid,
    /// `posix`, `mpiio` or `stdio`: of several layers one is read.
    Layer,
}

impl RecordField {
    const COUNT: usize = 10;

    /// The field called `name`, in any case. `host` is known and not used.
    pub(super) fn named(name: &[u8]) -> Option<RecordField> {
        const NAMES: [(&[u8], RecordField); RecordField::COUNT] = [
            (b"op", RecordField::Op),
            (b"size", RecordField::Size),
            (b"start", RecordField::Start),
            (b"end", RecordField::End),
            (b"offset", RecordField::Offset),
            (b"rank", RecordField::Rank),
            (b"file", RecordField::File),
            (b"call", RecordField::Call),
            (b"pid", RecordField::Pid),
            (b"layer", RecordField::Layer),
        ];
        NAMES.iter().find(|(n, _)| name.eq_ignore_ascii_case(n)).map(|(_, f)| *f)
    }
}

/// The fields of a record as text, empty where there is none.
#[derive(Debug, Clone, Default)]
pub struct RecordFields<'l>([Cow<'l, [u8]>; RecordField::COUNT]);

impl<'l> RecordFields<'l> {
    /// Sets a field.
    #[inline]
    pub fn set(&mut self, field: RecordField, text: impl Into<Cow<'l, [u8]>>) {
        self.0[field as usize] = text.into();
    }

    #[inline]
    fn get(&self, field: RecordField) -> &[u8] {
        &self.0[field as usize]
    }

    /// Seconds, if there is a start that is a number.
    pub(super) fn start(&self) -> Option<f64> {
        parse_f64(self.get(RecordField::Start)).filter(|t| is_time(*t))
    }
}

/// A name of an operation or call.
struct Name {
    text: Box<[u8]>,
    op: Op,
    call: CallId,
    count: u64,
}

/// The records of a stretch of lines.
#[derive(Default)]
pub(in super::super) struct RecordRows {
    pub(in super::super) requests: Requests,
    /// The layer of each request: 0 none, else one more than the place in [`LAYERS`].
    pub(super) layer: Column<u8>,
    pub(in super::super) files: Files,
    pub(super) calls: Calls,
    names: Vec<Name>,
    recent_files: Vec<(Vec<u8>, FileId)>,
    pub(super) ranks: HashSet<u32, FixedState>,
    /// Records whose times or sizes were brought into range.
    pub(super) clamped: u64,
    /// Records that were only counted.
    pub(super) counted: u64,
}

/// The layers that a record may name.
pub(super) const LAYERS: [Layer; 3] = [Layer::Posix, Layer::Mpiio, Layer::Stdio];

impl RecordRows {
    /// How often each call occurs.
    pub(super) fn call_counts(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.names.iter().filter(|n| n.count > 0).map(|n| (&*n.text, n.count))
    }

    /// Adds a record; one that moves no bytes only if `all`. Times become relative to `origin`.
    #[inline]
    pub(super) fn push(&mut self, row: &RecordFields, origin: i64, all: bool) -> Result<(), Bad> {
        let (mut counted, mut op) = self.name(row.get(RecordField::Op));
        if !row.get(RecordField::Call).is_empty() {
            let does;
            (counted, does) = self.name(row.get(RecordField::Call));
            op = if op == Op::Other { does } else { op };
        }
        let start = seconds(row.get(RecordField::Start), origin, "start")?;
        let mut end = if row.get(RecordField::End).is_empty() {
            start
        } else {
            seconds(row.get(RecordField::End), origin, "end")?
        };
        let (mut size, mut bent) = size(row.get(RecordField::Size), op)?;
        if end < start {
            (end, bent) = (start, true);
        }
        if !op.moves_bytes() {
            size = 0;
        }
        let offset = offset(row.get(RecordField::Offset))?;
        let rank = whole(row.get(RecordField::Rank), "rank")?;
        let task = whole(row.get(RecordField::Pid), "pid")?;
        let layer = layer(row.get(RecordField::Layer));

        self.names[counted].count += 1;
        self.clamped += u64::from(bent);
        self.ranks.insert(rank);
        if !all && !op.moves_bytes() {
            self.counted += 1;
            return Ok(());
        }
        let file = self.file(row.get(RecordField::File));
        let call = self.names[counted].call;
        self.requests.push(Request { op, call, rank, task, file, offset, size, start, end });
        self.layer.push(layer);
        Ok(())
    }

    /// The place of a name in `names`, and what it does.
    #[inline]
    fn name(&mut self, text: &[u8]) -> (usize, Op) {
        // More different names than calls exist: not worth telling apart.
        const MOST: usize = 512;
        if let Some((i, n)) = self.names.iter().enumerate().find(|(_, n)| *n.text == *text) {
            return (i, n.op);
        }
        let op = op_of(text);
        if self.names.len() > MOST {
            return (MOST, op);
        }
        let text = if self.names.len() < MOST { text } else { b"(others)" };
        let call = self.calls.intern(&String::from_utf8_lossy(text));
        self.names.push(Name { text: text.into(), op, call, count: 0 });
        (self.names.len() - 1, op)
    }

    /// The number of a file, from those met lately where it is one of them: ranks take turns with their files.
    #[inline]
    fn file(&mut self, name: &[u8]) -> FileId {
        const RECENT: usize = 1024;
        if name.is_empty() {
            return FileId::NONE;
        }
        // Names of one job differ at their end.
        let tail = name.iter().rev().take(6).fold(name.len(), |sum, &b| sum * 37 + usize::from(b));
        if self.recent_files.is_empty() {
            self.recent_files.resize_with(RECENT, Default::default);
        }
        let recent = &mut self.recent_files[tail % RECENT];
        if recent.0 != name {
            recent.0.clear();
            recent.0.extend_from_slice(name);
            recent.1 = self.files.intern(&String::from_utf8_lossy(name));
        }
        recent.1
    }

    /// Drops the requests, which have been taken.
    pub(in super::super) fn forget_requests(&mut self) {
        self.requests.clear();
        self.layer = Column::default();
    }

    /// Drops names and ranks once they are many: a file may grow for weeks.
    pub(in super::super) fn forget_many_names(&mut self) {
        const MANY: usize = 1 << 16;
        if self.files.len() + self.ranks.len() > MANY {
            *self = RecordRows::default();
        }
    }
}

impl Stretch for RecordRows {
    /// The names of `other` are of tables of its own.
    fn append(&mut self, mut other: RecordRows) {
        let files: Vec<FileId> = other.files.iter().map(|(_, name)| self.files.intern(name)).collect();
        let mut calls = vec![CallId::NONE; other.calls.len()];
        for n in &other.names {
            let (mine, _) = self.name(&n.text);
            self.names[mine].count += n.count;
            if let Some(c) = calls.get_mut(usize::from(n.call.0)) {
                *c = self.names[mine].call;
            }
        }
        other.requests.renumber(&files, &calls);
        self.requests.append(other.requests);
        self.layer.append(other.layer);
        self.ranks.extend(other.ranks);
        self.clamped += other.clamped;
        self.counted += other.counted;
    }
}

fn seconds(text: &[u8], origin: i64, what: &str) -> Result<f64, Bad> {
    // the range is that of the trace's own clock
    let time = parse_f64_minus(text, origin).filter(|t| is_time(*t + origin as f64));
    time.ok_or_else(|| Bad::new(what, text, "seconds, a decimal number within 1e12 of 0"))
}

/// Bytes, and whether they had to be bent.
#[inline]
fn size(text: &[u8], op: Op) -> Result<(u64, bool), Bad> {
    if let Some(n) = parse_u64(text) {
        return Ok((n, false));
    }
    match parse_f64(text) {
        Some(x) if x < 0.0 => Ok((0, op.moves_bytes())),
        Some(x) if x < 2f64.powi(63) => Ok((x.round() as u64, x.fract() != 0.0)),
        None if text.is_empty() && !op.moves_bytes() => Ok((0, false)),
        _ => Err(Bad::new("size", text, "bytes, a number")),
    }
}

#[inline]
fn offset(text: &[u8]) -> Result<u64, Bad> {
    if text.is_empty() {
        return Ok(UNKNOWN_OFFSET);
    }
    if let Some(n) = parse_u64(text) {
        return Ok(n);
    }
    match parse_f64(text) {
        Some(x) if x < 0.0 => Ok(UNKNOWN_OFFSET),
        Some(x) if x.fract() == 0.0 && x < 2f64.powi(53) => Ok(x as u64),
        _ => Err(Bad::new("offset", text, "bytes from the start of the file, or nothing")),
    }
}

/// A rank or process id; 0 if there is none.
#[inline]
fn whole(text: &[u8], what: &str) -> Result<u32, Bad> {
    if text.is_empty() {
        return Ok(0);
    }
    let n = parse_u64(text).and_then(|n| u32::try_from(n).ok());
    n.ok_or_else(|| Bad::new(what, text, "a whole number below 4294967296"))
}

#[inline]
fn layer(text: &[u8]) -> u8 {
    if text.is_empty() {
        return 0;
    }
    let known = LAYERS.iter().position(|l| text.eq_ignore_ascii_case(l.name().as_bytes()));
    known.map_or(0, |i| i as u8 + 1)
}
