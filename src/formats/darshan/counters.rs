//! POSIX, MPI-IO and STDIO counters, of every version, brought to the current layout.

use std::sync::LazyLock;

use super::counter_names::{self as names, names_of};
use super::header::{Module, Slot};
use super::region::Region;
use crate::error::Result;
use crate::formats::bytes::{ByteOrder, Cursor};
use crate::record::{Layer, is_time};

/// Value of counters that a version does not have, except POSIX_RENAMED_FROM, which is 0.
pub const MISSING: i64 = -1;

const RENAMED_FROM: usize = 12;

/// Layout and meaning of the counters of a layer, in the newest version.
#[derive(Debug)]
pub struct Schema {
    /// The layer.
    pub layer: Layer,
    /// Names of the integer counters.
    pub ints: &'static [&'static str],
    /// Names of the real counters.
    pub floats: &'static [&'static str],
    /// Integer counters that count calls.
    pub calls: &'static [usize],
    /// Integer counters that sum up to the read calls.
    pub reads: &'static [usize],
    /// Integer counters that sum up to the write calls.
    pub writes: &'static [usize],
    /// Integer counters: bytes read, bytes written.
    pub bytes: [usize; 2],
    /// Real counters: start and end of reading, start and end of writing.
    pub times: [[usize; 2]; 2],
}

/// The schemas in the order of [`Layer`].
static SCHEMAS: LazyLock<[Schema; 3]> = LazyLock::new(|| {
    let (posix, mpiio, stdio) =
        (|list| names_of("POSIX", list), |list| names_of("MPIIO", list), |list| names_of("STDIO", list));
    [
        Schema {
            layer: Layer::Posix,
            ints: posix(names::POSIX).leak(),
            floats: posix(names::TRANSFERS).leak(),
            calls: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
            reads: &[3],
            writes: &[4],
            bytes: [14, 15],
            times: [[1, 5], [2, 6]],
        },
        Schema {
            layer: Layer::Mpiio,
            ints: mpiio(names::MPIIO).leak(),
            floats: mpiio(names::TRANSFERS).leak(),
            calls: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12],
            reads: &[2, 4, 6, 8],
            writes: &[3, 5, 7, 9],
            bytes: [14, 15],
            times: [[1, 5], [2, 6]],
        },
        Schema {
            layer: Layer::Stdio,
            ints: stdio(names::STDIO).leak(),
            floats: stdio(names::STDIO_F).leak(),
            calls: &[0, 1, 2, 3, 4, 5],
            reads: &[2],
            writes: &[3],
            // Written before read, unlike the other two.
            bytes: [7, 6],
            times: [[6, 10], [5, 9]],
        },
    ]
});

impl Schema {
    /// The schema of a layer.
    pub fn of(layer: Layer) -> &'static Schema {
        &SCHEMAS[layer as usize]
    }

    /// The module with the counters of this layer.
    pub fn module(&self) -> Module {
        match self.layer {
            Layer::Posix => Module::Posix,
            Layer::Mpiio => Module::MpiIo,
            Layer::Stdio => Module::Stdio,
        }
    }
}

/// Where the counters of the newest layout are in the records of one version.
struct CounterLayout {
    ints: Vec<Option<usize>>,
    floats: Vec<Option<usize>>,
    stored_ints: usize,
    stored_floats: usize,
    /// The counter of stdio opens, in records that mix POSIX and stdio.
    stdio_opens: Option<usize>,
}

impl CounterLayout {
    fn new(schema: &Schema, version: u32) -> CounterLayout {
        let (missing_ints, missing_floats, foreign): (&[usize], &[usize], std::ops::Range<usize>) =
            match (schema.layer, version) {
                // Version 1 has four stdio counters between MMAPS and FSYNCS.
                (Layer::Posix, 1) => (&[1, 2, 10, 11, 12], &[3, 4], 6..10),
                (Layer::Posix, 2) => (&[1, 2, 10, 11, 12], &[3, 4], 0..0),
                (Layer::Posix, 3) => (&[1, 2, 10, 11, 12], &[], 0..0),
                (Layer::Mpiio, 1 | 2) => (&[], &[3, 4], 0..0),
                (Layer::Stdio, 1) => (&[1], &[], 0..0),
                _ => (&[], &[], 0..0),
            };
        let place = |count: usize, missing: &[usize], foreign: &std::ops::Range<usize>| {
            let mut next = 0;
            let at = (0..count)
                .map(|i| {
                    if missing.contains(&i) {
                        return None;
                    }
                    if next == foreign.start {
                        next = foreign.end;
                    }
                    next += 1;
                    Some(next - 1)
                })
                .collect::<Vec<_>>();
            (at, next)
        };
        let (ints, stored_ints) = place(schema.ints.len(), missing_ints, &foreign);
        let (floats, stored_floats) = place(schema.floats.len(), missing_floats, &(0..0));
        let stdio_opens = (!foreign.is_empty()).then_some(foreign.start);
        CounterLayout { ints, floats, stored_ints, stored_floats, stdio_opens }
    }

    fn record_bytes(&self) -> usize {
        16 + 8 * (self.stored_ints + self.stored_floats)
    }
}

/// Places in [`Schema::ints`] and [`Schema::floats`] of the counters that a version has.
pub(super) fn present(schema: &Schema, version: u32) -> (Vec<usize>, Vec<usize>) {
    let layout = CounterLayout::new(schema, version);
    let places = |at: &[Option<usize>]| (0..at.len()).filter(|&i| at[i].is_some()).collect();
    (places(&layout.ints), places(&layout.floats))
}

/// A counter record in the newest layout.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CounterRecord {
    /// Record id of the file.
    pub id: u64,
    /// Rank, or −1 for totals over all processes.
    pub rank: i64,
    /// Integer counters in the order of [`Schema::ints`]; [`MISSING`] where the version has none.
    pub ints: Vec<i64>,
    /// Real counters in the order of [`Schema::floats`]; [`MISSING`] where the version has none.
    pub floats: Vec<f64>,
}

impl CounterRecord {
    /// Sum of integer counters, those that are missing or not monitored (negative) left out.
    pub fn sum(&self, places: &[usize]) -> u64 {
        places.iter().filter_map(|&i| u64::try_from(*self.ints.get(i)?).ok()).fold(0, |a, b| a.saturating_add(b))
    }

    /// Bytes read and bytes written.
    pub fn bytes(&self, schema: &Schema) -> [u64; 2] {
        schema.bytes.map(|i| self.sum(&[i]))
    }

    /// Start and end of reading (0) or writing (1), if the record knows them: finite, and not 0, which stands for never.
    pub fn span(&self, schema: &Schema, direction: usize) -> Option<(f64, f64)> {
        span((*schema.times.get(direction)?).map(|i| self.floats.get(i).copied().unwrap_or_default()))
    }
}

/// Start and end, if they are known: finite, and not 0, which stands for never.
pub(super) fn span([start, end]: [f64; 2]) -> Option<(f64, f64)> {
    (is_time(start) && is_time(end) && start >= 0.0 && end > 0.0).then_some((start, end))
}

/// Counts of a walk over counters, beside the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walked {
    /// Records given.
    pub records: u64,
    /// Records left out because they mix POSIX and stdio counters (POSIX version 1 only).
    pub left_out: u64,
    /// Bytes after the last whole record.
    pub trailing_bytes: u64,
}

/// Gives every record of a region to `f`.
pub(super) fn walk(
    region: &mut Region,
    schema: &Schema,
    slot: &Slot,
    order: ByteOrder,
    mut f: impl FnMut(&CounterRecord) -> Result<()>,
) -> Result<Walked> {
    let layout = CounterLayout::new(schema, slot.version);
    let mut walked = Walked::default();
    let mut record = CounterRecord::default();
    walked.trailing_bytes = region.records(layout.record_bytes(), |bytes| {
        let s = Cursor::record(bytes, order);
        if layout.stdio_opens.is_some_and(|i| s.i64_at(16 + 8 * i) > 0) {
            walked.left_out += 1;
            return Ok(());
        }
        walked.records += 1;
        (record.id, record.rank) = (s.u64_at(0), s.i64_at(8));
        record.ints.clear();
        record.ints.extend(layout.ints.iter().enumerate().map(|(i, at)| match at {
            Some(at) => s.i64_at(16 + 8 * at),
            None if schema.layer == Layer::Posix && i == RENAMED_FROM => 0,
            None => MISSING,
        }));
        record.floats.clear();
        record.floats.extend(layout.floats.iter().map(|at| match at {
            Some(at) => s.f64_at(16 + 8 * (layout.stored_ints + at)),
            None => MISSING as f64,
        }));
        f(&record)
    })?;
    Ok(walked)
}

/// Appends a record as this version lays it out, in little-endian order.
pub(super) fn write(schema: &Schema, version: u32, record: &CounterRecord, out: &mut Vec<u8>) {
    let layout = CounterLayout::new(schema, version);
    let head = out.len();
    out.extend_from_slice(&record.id.to_le_bytes());
    out.extend_from_slice(&record.rank.to_le_bytes());
    out.resize(head + layout.record_bytes(), 0);
    let mut put = |at: usize, bytes: [u8; 8]| out[head + 16 + 8 * at..][..8].copy_from_slice(&bytes);
    for (n, at) in record.ints.iter().zip(&layout.ints) {
        at.iter().for_each(|&at| put(at, n.to_le_bytes()));
    }
    for (x, at) in record.floats.iter().zip(&layout.floats) {
        at.iter().for_each(|&at| put(layout.stored_ints + at, x.to_le_bytes()));
    }
}

/// All counter records of a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterTable {
    /// The layer.
    pub layer: Layer,
    /// Version of the records in the log.
    pub version: u32,
    /// The records, in the order of the log.
    pub records: Vec<CounterRecord>,
    /// Bytes of the region beside the records.
    pub walked: Walked,
    /// Names of counters that this version does not have.
    pub absent: Vec<&'static str>,
}

impl CounterTable {
    pub(super) fn new(schema: &Schema, slot: &Slot, records: Vec<CounterRecord>, walked: Walked) -> CounterTable {
        let layout = CounterLayout::new(schema, slot.version);
        let ints = schema.ints.iter().zip(&layout.ints);
        let floats = schema.floats.iter().zip(&layout.floats);
        let absent = ints.chain(floats).filter(|(_, at)| at.is_none()).map(|(&name, _)| name).collect();
        CounterTable { layer: schema.layer, version: slot.version, records, walked, absent }
    }

    /// Value of an integer counter in record `row`; `None` for an unknown name or row, or a counter that this version lacks.
    pub fn int(&self, row: usize, name: &str) -> Option<i64> {
        if self.absent.contains(&name) {
            return None;
        }
        let i = Schema::of(self.layer).ints.iter().position(|&n| n == name)?;
        self.records.get(row)?.ints.get(i).copied()
    }

    /// Value of a real counter in record `row`; `None` as for [`CounterTable::int`].
    pub fn float(&self, row: usize, name: &str) -> Option<f64> {
        if self.absent.contains(&name) {
            return None;
        }
        let i = Schema::of(self.layer).floats.iter().position(|&n| n == name)?;
        self.records.get(row)?.floats.get(i).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_sizes_are_those_of_the_releases() {
        let sizes = [
            (Layer::Posix, 1, 680),
            (Layer::Posix, 2, 648),
            (Layer::Posix, 3, 664),
            (Layer::Posix, 4, 704),
            (Layer::Mpiio, 1, 544),
            (Layer::Mpiio, 2, 544),
            (Layer::Mpiio, 3, 560),
            (Layer::Stdio, 1, 240),
            (Layer::Stdio, 2, 248),
        ];
        for (layer, version, bytes) in sizes {
            assert_eq!(CounterLayout::new(Schema::of(layer), version).record_bytes(), bytes, "{layer:?} {version}");
        }
    }

    #[test]
    fn positions_carry_the_names_they_stand_for() {
        for layer in [Layer::Posix, Layer::Mpiio, Layer::Stdio] {
            let s = Schema::of(layer);
            assert!(s.ints[s.bytes[0]].ends_with("_BYTES_READ") && s.ints[s.bytes[1]].ends_with("_BYTES_WRITTEN"));
            for (i, what) in [(0, "READ"), (1, "WRITE")] {
                assert!(s.floats[s.times[i][0]].ends_with(&format!("_F_{what}_START_TIMESTAMP")));
                assert!(s.floats[s.times[i][1]].ends_with(&format!("_F_{what}_END_TIMESTAMP")));
            }
            assert!(s.reads.iter().all(|&i| s.ints[i].ends_with("READS")));
            assert!(s.writes.iter().all(|&i| s.ints[i].ends_with("WRITES")));
        }
        assert_eq!(Schema::of(Layer::Posix).ints[RENAMED_FROM], "POSIX_RENAMED_FROM");
    }

    #[test]
    fn the_oldest_posix_layout_steps_over_stdio() {
        let posix = Schema::of(Layer::Posix);
        let l = CounterLayout::new(posix, 1);
        let at = |name: &str| l.ints[posix.ints.iter().position(|&n| n == name).unwrap()];
        assert_eq!(at("POSIX_MMAPS"), Some(5));
        assert_eq!(at("POSIX_FSYNCS"), Some(10));
        assert_eq!((at("POSIX_DUPS"), l.stdio_opens), (None, Some(6)));
    }
}
