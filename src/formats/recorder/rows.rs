//! The calls of one rank as rows: files, offsets and totals.

use std::borrow::Cow;
use std::collections::HashMap;

use super::call::{Effect, Names, Offset, Signature, Target, Whence};
use super::level::LEVELS;
use crate::error::Result;
use crate::formats::options::ReadOptions;
use crate::record::{
    BATCH_ROWS, Batch, CallId, Data, FileId, Layer, LayerSummary, Op, Request, Requests, RowSink, UNKNOWN_OFFSET,
};

/// A file as one rank has it open.
#[derive(Debug, Clone, Copy)]
struct OpenFile {
    file: FileId,
    /// Position in bytes, or [`UNKNOWN_OFFSET`]; of MPI within the view.
    position: u64,
    /// Start of the view, and bytes of its unit; no unit if its data do not follow each other.
    view: u64,
    unit: Option<u64>,
    append: bool,
    opens: u32,
}

impl Default for OpenFile {
    fn default() -> Self {
        OpenFile { file: FileId::NONE, position: UNKNOWN_OFFSET, view: 0, unit: Some(1), append: false, opens: 0 }
    }
}

/// Totals of the calls of a level.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    calls: u64,
    /// Reads, writes.
    count: [u64; 2],
    bytes: [u64; 2],
    span_s: Option<(f64, f64)>,
}

/// Facts about a rank that its rows do not show.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Calls by their number in [`Names::calls`].
    counts: Vec<u64>,
    totals: [Totals; LEVELS.len()],
    /// Transfers of other layers than the chosen one.
    pub other_layer: u64,
    /// Transfers whose bytes are not known.
    pub unsized_calls: u64,
    pub reads: u64,
    /// End of the last call in seconds.
    pub end_s: f64,
}

impl Facts {
    /// Adds those of another rank.
    pub(super) fn add(&mut self, other: &Facts) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        for (a, b) in self.totals.iter_mut().zip(&other.totals) {
            a.calls += b.calls;
            for i in 0..2 {
                a.count[i] += b.count[i];
                a.bytes[i] = a.bytes[i].saturating_add(b.bytes[i]);
            }
            a.widen(b.span_s);
        }
        self.other_layer += other.other_layer;
        self.unsized_calls += other.unsized_calls;
        self.reads += other.reads;
        self.end_s = self.end_s.max(other.end_s);
    }

    /// Number of calls.
    pub(super) fn calls(&self) -> u64 {
        self.totals.iter().map(|t| t.calls).sum()
    }

    /// How often each call occurs.
    pub(super) fn counted(&self) -> impl Iterator<Item = (CallId, u64)> {
        self.counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, n)| (CallId(i as u16), *n))
    }

    /// The levels that the trace has.
    pub(super) fn layers(&self) -> Vec<LayerSummary> {
        let moves = |i: usize| i < 3;
        let summary = |(i, t): (usize, &Totals)| LayerSummary {
            layer: LEVELS[i].name().into(),
            records: t.calls,
            reads: moves(i).then_some(t.count[0]),
            writes: moves(i).then_some(t.count[1]),
            bytes_read: t.bytes[0],
            bytes_written: t.bytes[1],
            first_s: t.span_s.map(|s| s.0),
            last_s: t.span_s.map(|s| s.1),
        };
        self.totals.iter().enumerate().filter(|(_, t)| t.calls > 0).map(summary).collect()
    }
}

impl Totals {
    #[inline]
    fn widen(&mut self, span_s: Option<(f64, f64)>) {
        self.span_s = match (self.span_s, span_s) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }
}

/// Where the rows of a rank go, and which are wanted.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'s> {
    pub sink: &'s dyn RowSink,
    pub layer: Option<Layer>,
    /// Calls that move no bytes, too.
    all: bool,
}

impl<'s> Wanted<'s> {
    pub(super) fn new(sink: &'s dyn RowSink, layer: Option<Layer>, options: &ReadOptions) -> Self {
        Wanted { sink, layer, all: options.detail.all_calls() }
    }
}

/// Follows the calls of one rank.
pub(super) struct RankRows<'s> {
    wanted: Wanted<'s>,
    rank: u32,
    /// Place of the rank among those that `a*r+b` counts, by the call; none: the rank itself.
    places: HashMap<CallId, u32>,
    /// Offsets of some calls are differences to the call of the same name before.
    differences: bool,
    last_offsets: HashMap<CallId, i64>,
    open: HashMap<Target, OpenFile, foldhash::fast::FixedState>,
    pub facts: Facts,
    rows: Requests,
}

impl<'s> RankRows<'s> {
    pub(super) fn new(wanted: Wanted<'s>, rank: u32, places: HashMap<CallId, u32>, differences: bool) -> Self {
        RankRows {
            wanted,
            rank,
            places,
            differences,
            last_offsets: HashMap::new(),
            open: HashMap::default(),
            facts: Facts::default(),
            rows: Requests::default(),
        }
    }

    /// Takes the next call.
    #[inline]
    pub(super) fn call(&mut self, s: &Signature, (start, end): (f64, f64), names: &Names) -> Result<()> {
        self.count(s, start, end);
        let offset = self.offset(s);
        if !s.level.is_in(self.wanted.layer) {
            self.facts.other_layer += u64::from(s.op.moves_bytes());
            return Ok(());
        }
        let (file, offset) = self.place(s, offset);
        if !s.op.moves_bytes() && !self.wanted.all {
            return Ok(());
        }
        self.facts.unsized_calls += u64::from(s.size.is_none());
        self.facts.reads += u64::from(s.op == Op::Read);
        let size = s.size.unwrap_or(0);
        let offset = if s.op.moves_bytes() { offset } else { UNKNOWN_OFFSET };
        self.rows.push(Request {
            op: s.op,
            call: s.call,
            rank: self.rank,
            task: s.task,
            file,
            offset,
            size,
            start,
            end,
        });
        if self.rows.len() >= BATCH_ROWS && !self.wanted.sink.keeps_rows() {
            self.give(names)?;
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self, s: &Signature, start: f64, end: f64) {
        let call = usize::from(s.call.0);
        if call >= self.facts.counts.len() && s.call != CallId::NONE {
            self.facts.counts.resize(call + 1, 0);
        }
        if let Some(n) = self.facts.counts.get_mut(call) {
            *n += 1;
        }
        let t = &mut self.facts.totals[s.level as usize];
        t.calls += 1;
        if s.op.moves_bytes() {
            let direction = usize::from(s.op == Op::Write);
            t.count[direction] += 1;
            t.bytes[direction] = t.bytes[direction].saturating_add(s.size.unwrap_or(0));
            t.widen(Some((start, end)));
        }
        self.facts.end_s = self.facts.end_s.max(end);
    }

    /// The offset of a call, patterns resolved; `None` if it has none or it does not fit.
    #[inline]
    fn offset(&mut self, s: &Signature) -> Option<i64> {
        let stored = match s.offset {
            Offset::None => return None,
            Offset::At(n) => n,
            Offset::PerRank(each, more) => {
                let place = self.places.get(&s.call).copied().unwrap_or(self.rank);
                each.checked_mul(i64::from(place))?.checked_add(more)?
            }
        };
        if !(self.differences && s.differs) {
            return Some(stored);
        }
        let last = self.last_offsets.entry(s.call).or_insert(0);
        *last = last.checked_add(stored)?;
        Some(*last)
    }

    /// The file of a call, and the place of its bytes in it. Moves the position.
    #[inline]
    fn place(&mut self, s: &Signature, offset: Option<i64>) -> (FileId, u64) {
        let given = offset.and_then(|o| u64::try_from(o).ok());
        if let (Target::File(file), Effect::None) = (s.target, s.effect) {
            return (file, given.unwrap_or(UNKNOWN_OFFSET));
        }
        if s.target == Target::None {
            return (FileId::NONE, given.unwrap_or(UNKNOWN_OFFSET));
        }
        if s.effect == Effect::Close {
            return (self.close(s.target), UNKNOWN_OFFSET);
        }
        let f = self.open.entry(s.target).or_default();
        if let Target::File(file) = s.target {
            f.file = file;
        }
        let place = match s.effect {
            Effect::Open { append } => {
                f.opened(append);
                UNKNOWN_OFFSET
            }
            Effect::OpenHandle { file, append } => {
                *f = OpenFile {
                    file,
                    position: if append { UNKNOWN_OFFSET } else { 0 },
                    opens: 1,
                    ..OpenFile::default()
                };
                UNKNOWN_OFFSET
            }
            Effect::Seek(whence) => {
                f.seek(whence, offset);
                UNKNOWN_OFFSET
            }
            Effect::View { unit } => {
                (f.view, f.unit, f.position) = (given.unwrap_or(UNKNOWN_OFFSET), unit, 0);
                UNKNOWN_OFFSET
            }
            Effect::Advance => f.advance(s.op, s.size),
            Effect::None | Effect::Close => given.map_or(UNKNOWN_OFFSET, |o| f.in_view(o)),
        };
        (f.file, place)
    }

    /// Closes a file, and gives its name.
    fn close(&mut self, target: Target) -> FileId {
        let Some(f) = self.open.get_mut(&target) else {
            return if let Target::File(file) = target { file } else { FileId::NONE };
        };
        f.opens = f.opens.saturating_sub(1);
        let file = f.file;
        if f.opens == 0 {
            self.open.remove(&target);
        }
        file
    }

    /// Gives the rows so far to a sink that does not keep them.
    fn give(&mut self, names: &Names) -> Result<()> {
        self.rows.give(self.wanted.sink, batch(Cow::default(), names))
    }

    /// Ends the rank. Rows for a sink that keeps them are returned, so that the ranks can be given in their order.
    pub(super) fn finish(mut self, names: &Names) -> Result<(Facts, Requests)> {
        if !self.wanted.sink.keeps_rows() {
            self.give(names)?;
        }
        Ok((self.facts, self.rows))
    }
}

/// Rows with the names of the trace.
pub(super) fn batch<'a>(rows: Cow<'a, Data>, names: &'a Names) -> Batch<'a> {
    Batch::of(rows, 0, (&names.files, &names.calls))
}

impl OpenFile {
    fn opened(&mut self, append: bool) {
        self.opens += 1;
        self.append = append;
        // Calls name the file and not the descriptor: with two of them it is not known whose position moves.
        self.position = if self.opens == 1 { 0 } else { UNKNOWN_OFFSET };
    }

    fn seek(&mut self, whence: Whence, offset: Option<i64>) {
        let bytes = offset.zip(self.unit).and_then(|(o, unit)| o.checked_mul(i64::try_from(unit).ok()?));
        let position = match whence {
            _ if self.opens > 1 => None,
            Whence::Start => bytes.and_then(|o| u64::try_from(o).ok()),
            Whence::Position if self.position != UNKNOWN_OFFSET => {
                bytes.and_then(|o| self.position.checked_add_signed(o))
            }
            Whence::Position | Whence::Unknown => None,
        };
        self.position = position.unwrap_or(UNKNOWN_OFFSET);
    }

    /// Moves the position past a transfer, and gives its place in the file.
    #[inline]
    fn advance(&mut self, op: Op, size: Option<u64>) -> u64 {
        let at = self.position;
        if at == UNKNOWN_OFFSET || self.append && op == Op::Write {
            // where the end is, other ranks know too
            self.position = UNKNOWN_OFFSET;
            return UNKNOWN_OFFSET;
        }
        self.position = size.and_then(|n| at.checked_add(n)).unwrap_or(UNKNOWN_OFFSET);
        if self.unit.is_none() || self.view == UNKNOWN_OFFSET {
            return UNKNOWN_OFFSET;
        }
        self.view.checked_add(at).unwrap_or(UNKNOWN_OFFSET)
    }

    /// The byte of an offset of MPI.
    fn in_view(&self, offset: u64) -> u64 {
        let bytes = self.unit.and_then(|unit| unit.checked_mul(offset));
        bytes.and_then(|b| b.checked_add(self.view)).filter(|_| self.view != UNKNOWN_OFFSET).unwrap_or(UNKNOWN_OFFSET)
    }
}
