//! Modules whose records are only counted and checked.

use super::columns::LibraryLayout;
use super::header::{Module, Slot};
use super::region::Region;
use crate::error::Result;
use crate::formats::bytes::{ByteOrder, Cursor};
use crate::record::{FileId, Striping};

/// Records of a region, `None` where the layout is not known.
pub(super) fn count(region: &mut Region, slot: &Slot, order: ByteOrder) -> Result<Option<u64>> {
    match slot.module {
        Module::Lustre => lustre(region, slot.version, order).map(Some),
        _ => match record_bytes(slot) {
            Some((ahead, size)) => {
                let before = region.position();
                while region.skip(1 << 20)? {}
                let left = (region.position() - before).saturating_sub(ahead);
                Ok(Some(left / size))
            }
            None => Ok(None),
        },
    }
}

/// Bytes before the first record, and of a record.
fn record_bytes(slot: &Slot) -> Option<(u64, u64)> {
    match (slot.module, slot.version) {
        (Module::Bgq, 1) => Some((0, 120)),
        (Module::Bgq, 2) => Some((0, 112)),
        // One header for the job, then a record for each process.
        (Module::Apmpi, 1) => Some((48, 5232)),
        _ => LibraryLayout::of(slot).map(|l| (0, l.record_bytes() as u64)),
    }
}

fn lustre(region: &mut Region, version: u32, order: ByteOrder) -> Result<u64> {
    let mut records = 0;
    walk_lustre(region, version, order, &mut |_| records += 1)?;
    Ok(records)
}

/// Gives the id and the layout of each file to `each`. Of a file whose parts have layouts of their own, the one that has the most stripes.
pub(super) fn striping(
    region: &mut Region,
    version: u32,
    order: ByteOrder,
    each: &mut dyn FnMut(u64, Striping),
) -> Result<()> {
    walk_lustre(region, version, order, &mut |s| {
        let (components, at) = if version == 1 { (1, 56) } else { (s.i64_at(16).max(0) as usize, 32) };
        let parts = (0..components).map(|i| match version {
            1 => (s.i64_at(40), s.i64_at(48)),
            _ => (s.i64_at(at + 72 * i), s.i64_at(at + 72 * i + 8)),
        });
        let targets_at = if version == 1 { at } else { at + 72 * components };
        // The targets of the parts that are in use come one after the other; a part without a stripe size ends them.
        let mut first = 0;
        let mut best: Option<Striping> = None;
        for (bytes, stripes) in parts.take_while(|part| part.0 > 0 && part.1 > 0) {
            let (bytes, stripes) = (bytes.unsigned_abs(), stripes.unsigned_abs());
            let target = |i: u64| {
                let at = targets_at + 8 * (first + i) as usize;
                (at + 8 <= s.left()).then(|| s.i64_at(at).max(0).unsigned_abs())
            };
            if best.as_ref().is_none_or(|b| stripes > b.stripes) {
                let targets = (0..stripes).map_while(target).collect();
                best = Some(Striping { file: FileId::NONE, stripe_bytes: bytes, stripes, targets });
            }
            first += stripes;
        }
        if let Some(best) = best {
            each(s.u64_at(0), best);
        }
    })
}

/// Gives every record to `each`, whole.
fn walk_lustre(region: &mut Region, version: u32, order: ByteOrder, each: &mut dyn FnMut(Cursor<'_>)) -> Result<()> {
    // Version 1: id, rank, OSTs, MDTs, stripe offset, stripe size, stripe count; version 2: id, rank, components, stripes.
    let fixed = if version == 1 { 56 } else { 32 };
    let mut records = 0u64;
    loop {
        let Some(bytes) = region.record(fixed)? else { return Ok(()) };
        let s = Cursor::record(bytes, order);
        let (components, stripes) = if version == 1 { (0, s.i64_at(48)) } else { (s.i64_at(16), s.i64_at(24)) };
        let more = match (u64::try_from(components), u64::try_from(stripes)) {
            (Ok(0), _) if version > 1 => Some(0),
            (Ok(c), Ok(s)) => c.checked_mul(72).zip(s.checked_mul(8)).and_then(|(a, b)| a.checked_add(b)),
            _ if version > 1 && components < 1 => Some(0),
            _ => None,
        };
        let Some(more) = more else {
            return Err(region
                .malformed(format!("a record of {components} components and {stripes} stripes"))
                .expected("counts that fit into the region"));
        };
        let needed = usize::try_from(more).ok().filter(|&n| n as u64 <= region.room()).map(|n| n + fixed);
        let w = match needed {
            Some(n) => region.window(n)?.get(..n),
            None => None,
        };
        let Some(bytes) = w else {
            return Err(region.malformed(format!("record {records} needs {more} bytes more than there are")));
        };
        each(Cursor::record(bytes, order));
        let whole = bytes.len();
        region.consume(whole);
        records += 1;
    }
}
