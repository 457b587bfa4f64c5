//! DXT modules: one segment for every read and write.

use std::borrow::Cow;

use rayon::prelude::*;

use super::header::{Module, Slot};
use super::log::Log;
use super::region::Region;
use crate::error::Result;
use crate::formats::bytes::{ByteOrder, Cursor, until_nul};
use crate::record::{Op, UNKNOWN_OFFSET};

/// Bytes of what comes before the segments of a record.
const RECORD_BYTES: usize = 104;
/// Bytes of the host name in it.
const HOST_BYTES: usize = 64;

/// The head of a DXT record: one record for each file and process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DxtHeader {
    /// Record id of the file.
    pub id: u64,
    /// Rank as stored.
    pub rank: i64,
    /// The flag "shared record" as stored.
    pub shared: i64,
    /// Number of write segments; they come first.
    pub writes: u64,
    /// Number of read segments.
    pub reads: u64,
    host: [u8; HOST_BYTES],
}

impl DxtHeader {
    /// Host name.
    pub fn host(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(until_nul(&self.host))
    }
}

/// One read or write, as stored: nothing is checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Bytes from the start of the file; −1 if not traced (MPI-IO of old releases and over Open MPI).
    pub offset: i64,
    /// Bytes moved.
    pub length: i64,
    /// Seconds since the start of the job.
    pub start: f64,
    /// Seconds since the start of the job.
    pub end: f64,
    /// Thread handle, 0 in layouts without.
    pub thread: u64,
}

impl Segment {
    /// The offset, [`UNKNOWN_OFFSET`] where it was not traced or makes no sense.
    pub fn known_offset(&self) -> u64 {
        match self.offset.checked_add(self.length) {
            Some(_) if self.offset >= 0 => self.offset.unsigned_abs(),
            _ => UNKNOWN_OFFSET,
        }
    }
}

/// Consecutive segments of one record and kind, still encoded.
#[derive(Clone, Copy)]
pub(super) struct Segments<'a> {
    bytes: &'a [u8],
    layout: SegmentLayout,
}

#[derive(Clone, Copy)]
struct SegmentLayout {
    order: ByteOrder,
    threads: bool,
    offsets: bool,
}

impl SegmentLayout {
    fn segment_bytes(self) -> usize {
        if self.threads { 40 } else { 32 }
    }
}

impl Segments<'_> {
    /// Number of segments.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.layout.segment_bytes()
    }

    /// Calls `f` with every segment in order.
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(Segment)) {
        // One loop a layout, so that none of them decides anything for each segment.
        match (self.layout.threads, self.layout.order) {
            (false, ByteOrder::Little) => self.decode::<32>(ByteOrder::Little, &mut f),
            (false, ByteOrder::Big) => self.decode::<32>(ByteOrder::Big, &mut f),
            (true, ByteOrder::Little) => self.decode::<40>(ByteOrder::Little, &mut f),
            (true, ByteOrder::Big) => self.decode::<40>(ByteOrder::Big, &mut f),
        }
    }

    #[inline(always)]
    fn decode<const N: usize>(self, order: ByteOrder, f: &mut impl FnMut(Segment)) {
        let offsets = self.layout.offsets;
        for bytes in self.bytes.as_chunks::<N>().0 {
            let s = Cursor::record(bytes, order);
            f(Segment {
                offset: if offsets { s.i64_at(0) } else { -1 },
                length: s.i64_at(8),
                start: s.f64_at(16),
                end: s.f64_at(24),
                thread: if N == 40 { s.u64_at(32) } else { 0 },
            });
        }
    }
}

/// Visits the records of a region and their segments.
pub(super) trait Visitor {
    /// A record begins.
    fn record(&mut self, header: &DxtHeader) -> Result<()>;
    /// More segments of the record that began last.
    fn segments(&mut self, op: Op, segments: Segments<'_>) -> Result<()>;
}

/// Bytes of a segment of this module version.
pub fn segment_bytes(module: Module, version: u32) -> usize {
    layout(module, version, ByteOrder::Little).segment_bytes()
}

fn layout(module: Module, version: u32, order: ByteOrder) -> SegmentLayout {
    match module {
        Module::DxtMpiio => SegmentLayout { order, threads: version >= 3, offsets: version >= 2 },
        _ => SegmentLayout { order, threads: version >= 2, offsets: true },
    }
}

/// Walks over all records of a region. The visits before an error are sound, as far as the region is.
pub(super) fn walk(region: &mut Region, slot: &Slot, order: ByteOrder, visitor: &mut impl Visitor) -> Result<()> {
    let layout = layout(slot.module, slot.version, order);
    let size = layout.segment_bytes();
    loop {
        let Some(bytes) = region.record(RECORD_BYTES)? else { return Ok(()) };
        let f = Cursor::record(bytes, order);
        let (writes, reads) = (f.i64_at(88), f.i64_at(96));
        let mut host = [0; HOST_BYTES];
        host.copy_from_slice(&bytes[24..24 + HOST_BYTES]);
        let (id, rank, shared) = (f.u64_at(0), f.i64_at(8), f.i64_at(16));
        let room = region.room() / size as u64;
        let counts = match (u64::try_from(writes), u64::try_from(reads)) {
            (Ok(w), Ok(r)) if w.checked_add(r).is_some_and(|n| n <= room) => Some((w, r)),
            _ => None,
        };
        let Some((writes, reads)) = counts else {
            return Err(region
                .malformed(format!("a record of {writes} writes and {reads} reads"))
                .expected("counts that fit into the region"));
        };
        visitor.record(&DxtHeader { id, rank, shared, writes, reads, host })?;
        region.consume(RECORD_BYTES);
        for (op, count) in [(Op::Write, writes), (Op::Read, reads)] {
            let mut left = count;
            while left > 0 {
                let w = region.window(size)?;
                let n = ((w.len() / size) as u64).min(left) as usize;
                if n == 0 {
                    return Err(region.malformed(format!("{left} {} segments are missing", op.name())));
                }
                visitor.segments(op, Segments { bytes: &w[..n * size], layout })?;
                region.consume(n * size);
                left -= n as u64;
            }
        }
    }
}

/// Walks over a large region in parts, one visitor each, on several cores. The visitors' findings in order are those of [`walk`].
///
/// `None` if the region is small, cannot be cut or is not sound: then use [`walk`].
pub(super) fn walk_parts<V: Visitor + Send>(log: &Log, slot: &Slot, visitor: impl Fn() -> V + Sync) -> Option<Vec<V>> {
    let size = layout(slot.module, slot.version, log.order()).segment_bytes() as u64;
    let starts_record = |plain: &[u8]| {
        let Some(bytes) = plain.get(..RECORD_BYTES) else { return false };
        let f = Cursor::record(bytes, log.order());
        let fits = |n: u64| n <= slot.length.saturating_mul(1000) / size;
        fits(f.u64_at(88)) && fits(f.u64_at(96)) && f.i64_at(8) >= 0
    };
    let parts = log.guess_parts(slot, rayon::current_num_threads(), starts_record);
    if parts.len() < 2 {
        return None;
    }
    let walked: Option<Vec<(V, u64)>> = parts
        .into_par_iter()
        .map(|part| {
            let mut v = visitor();
            let mut region = log.region(&part);
            // A part that is sound up to its end was cut at the end of a stream and of a record, so the next one is right, too.
            walk(&mut region, &part, log.order(), &mut v).ok()?;
            Some((v, region.position()))
        })
        .collect();
    let walked = walked?;
    let plain = walked.iter().fold(0, |sum: u64, w| sum.saturating_add(w.1));
    (plain <= log.limits().memory_bytes).then(|| walked.into_iter().map(|w| w.0).collect())
}

/// A DXT record with its segments.
#[derive(Debug, Clone, PartialEq)]
pub struct DxtRecord {
    /// The header before the segments.
    pub header: DxtHeader,
    /// Write segments in the order of the log.
    pub writes: Vec<Segment>,
    /// Read segments in the order of the log.
    pub reads: Vec<Segment>,
}

/// Collects records as they are.
#[derive(Default)]
pub(super) struct Collect {
    pub records: Vec<DxtRecord>,
}

impl Visitor for Collect {
    fn record(&mut self, &header: &DxtHeader) -> Result<()> {
        self.records.push(DxtRecord { header, writes: Vec::new(), reads: Vec::new() });
        Ok(())
    }

    fn segments(&mut self, op: Op, segments: Segments<'_>) -> Result<()> {
        if let Some(r) = self.records.last_mut() {
            let list = if op == Op::Write { &mut r.writes } else { &mut r.reads };
            segments.for_each(|s| list.push(s));
        }
        Ok(())
    }
}
