//! Counters of every module as columns of the trace.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::counter_names::{TRANSFERS, names_of};
use super::counters::{self, Schema};
use super::header::{Module, Slot};
use super::log::Log;
use super::names::Names;
use super::others;
use super::rows::{Placement, check_rows};
use crate::error::{ErrorKind, Result};
use crate::formats::bytes::Cursor;
use crate::record::{CounterModule, CounterTable, Counters, FileId, Files, Layer, Mount, Striping, Warning};

/// The counters of logs that are one job, and warnings about modules that are damaged.
pub(super) fn read(logs: &[Log], placements: &[Placement]) -> Result<(Counters, Vec<Warning>)> {
    let (mut all, mut warnings) = (Counters::default(), Vec::new());
    for (log, &placement) in logs.iter().zip(placements) {
        if all.mounts.is_empty() {
            let mount = |(kind, path): &(String, String)| Mount { path: path.clone(), kind: kind.clone() };
            all.mounts = log.job().mounts.iter().map(mount).collect();
            all.hints = log.job().meta("h").map(str::to_owned);
            all.release = log.job().meta("lib_ver").map(str::to_owned);
        }
        for layer in super::layer_summary::LAYERS {
            of_layer(log, layer, placement, &mut all)?;
        }
        let mut damaged = |module: Module, done: Result<()>| match done {
            Err(e) if e.kind() == ErrorKind::Malformed => {
                let message = format!("{} is damaged and was left out: {e}", module.name());
                warnings.push(Warning::new("damaged-module", message));
                Ok(())
            }
            done => done,
        };
        for layout in layouts() {
            let before = all.tables.len();
            let done = of_library(log, layout, placement, &mut all);
            if done.is_err() {
                all.tables.truncate(before);
            }
            damaged(layout.darshan, done)?;
        }
        if let Some(slot) = log.readable(Module::Lustre) {
            let (files, layouts) = (&mut all.files, &mut all.layouts);
            let found = others::striping(&mut log.region(slot), slot.version, log.order(), &mut |id, layout| {
                layouts.push(Striping { file: file_id(log.names(), id, files), ..layout });
            });
            damaged(Module::Lustre, found)?;
            // Every rank that opens a file can have a record of its layout.
            let mut seen = HashSet::new();
            all.layouts.retain(|l| seen.insert(l.file));
        }
    }
    Ok((all, warnings))
}

/// The file of a record id. Ids without a name, which Darshan can leave, get one of their own.
pub(super) fn file_id(names: &Names, id: u64, files: &mut Files) -> FileId {
    match names.get(id).filter(|n| !n.is_empty()) {
        Some(name) => files.intern(name),
        None => files.intern(&format!("record:{id}")),
    }
}

/// A row of a table: file and rank.
fn begin_row(t: &mut CounterTable, file: FileId, rank: i64, placement: Placement) {
    t.file.push(file);
    t.rank.push(placement.rank.or_else(|| u32::try_from(rank).ok()));
}

/// Appends `x`, a time of the log if the counter is called so, to the column at `i`.
fn push_real(t: &mut CounterTable, i: usize, x: f64, placement: Placement) {
    if let Some((name, column)) = t.reals.get_mut(i) {
        let moved = if name.ends_with("_TIMESTAMP") && x > 0.0 { x + placement.shift_s } else { x };
        column.push(moved);
    }
}

/// The table of a module, with these columns; one of another log is continued, and columns that only one of the two has are dropped.
fn table<'a>(
    all: &'a mut Counters,
    module: CounterModule,
    ints: &[&'static str],
    reals: &[&'static str],
) -> &'a mut CounterTable {
    let at = all.tables.iter().position(|t| t.module == module).unwrap_or_else(|| {
        let mut t = CounterTable::new(module);
        t.ints = ints.iter().map(|&name| (name, Default::default())).collect();
        t.reals = reals.iter().map(|&name| (name, Default::default())).collect();
        all.tables.push(t);
        all.tables.len() - 1
    });
    let t = &mut all.tables[at];
    t.ints.retain(|(name, _)| ints.contains(name));
    t.reals.retain(|(name, _)| reals.contains(name));
    t
}

fn of_layer(log: &Log, layer: Layer, placement: Placement, all: &mut Counters) -> Result<()> {
    let schema = Schema::of(layer);
    let Some(slot) = log.readable(schema.module()) else { return Ok(()) };
    let module = match layer {
        Layer::Posix => CounterModule::Posix,
        Layer::Mpiio => CounterModule::Mpiio,
        Layer::Stdio => CounterModule::Stdio,
    };
    let (ints, floats) = counters::present(schema, slot.version);
    let names = |at: &[usize], all: &[&'static str]| at.iter().map(|&i| all[i]).collect::<Vec<_>>();
    let (int_names, float_names) = (names(&ints, schema.ints), names(&floats, schema.floats));
    let mut files = std::mem::take(&mut all.files);
    let t = table(all, module, &int_names, &float_names);
    let kept = |at: Vec<usize>, all: &[&'static str], held: &dyn Fn(&str) -> bool| -> Vec<usize> {
        at.into_iter().filter(|&i| held(all[i])).collect()
    };
    let ints = kept(ints, schema.ints, &|name| t.ints.iter().any(|c| c.0 == name));
    let floats = kept(floats, schema.floats, &|name| t.reals.iter().any(|c| c.0 == name));
    let walked = counters::walk(&mut log.region(slot), schema, slot, log.order(), |r| {
        begin_row(t, file_id(log.names(), r.id, &mut files), r.rank, placement);
        for (column, &i) in t.ints.iter_mut().zip(&ints) {
            column.1.push(r.ints[i]);
        }
        for (column, &i) in floats.iter().enumerate() {
            push_real(t, column, r.floats[i], placement);
        }
        check_rows(t.len(), log.limits())
    });
    all.files = files;
    walked.map(|_| ())
}

/// Counters of a library's module: id, rank, with datasets and variables the id of their file, counters, with DAOS ids of its own.
pub(super) struct LibraryLayout {
    pub darshan: Module,
    pub module: CounterModule,
    version: u32,
    /// Bytes before the counters, and after them.
    around: (usize, usize),
    pub ints: Vec<&'static str>,
    pub reals: Vec<&'static str>,
    /// Places of the integer counters that sum up to reads, and to writes.
    pub calls: [Vec<usize>; 2],
}

/// A record of a library's module.
pub(super) struct LibraryRecord<'a> {
    fields: Cursor<'a>,
    /// Where its integer and real counters begin.
    at: [usize; 2],
}

impl LibraryRecord<'_> {
    fn id(&self) -> u64 {
        self.fields.u64_at(0)
    }

    pub fn rank(&self) -> i64 {
        self.fields.i64_at(8)
    }

    pub fn int(&self, i: usize) -> i64 {
        self.fields.i64_at(self.at[0] + 8 * i)
    }

    pub fn real(&self, i: usize) -> f64 {
        self.fields.f64_at(self.at[1] + 8 * i)
    }
}

impl LibraryLayout {
    fn new(darshan: Module, module: CounterModule, version: u32, ints: &str, reals: &str) -> Self {
        let around = match (module, version) {
            // The first version of datasets had no id of their file.
            (CounterModule::H5d, 2..) | (CounterModule::PnetcdfVar, _) => (24, 0),
            (CounterModule::Dfs, _) => (16, 32),
            (CounterModule::Daos, _) => (16, 48),
            _ => (16, 0),
        };
        let (ints, reals) = (names_of(module.prefix(), ints), names_of(module.prefix(), reals));
        let places = |calls: &[&str]| {
            let is_call = |name: &str| calls.iter().any(|c| name.strip_prefix(module.prefix()) == Some(*c));
            (0..ints.len()).filter(|&i| is_call(ints[i])).collect()
        };
        let calls = match module {
            // Its other reads and writes count those that do not block as well.
            CounterModule::Dfs => [places(&["_READS", "_READXS"]), places(&["_WRITES", "_WRITEXS"])],
            _ => [places(&READS), places(&WRITES)],
        };
        LibraryLayout { darshan, module, version, around, ints, reals, calls }
    }

    /// The layout of a module's data.
    pub fn of(slot: &Slot) -> Option<&'static LibraryLayout> {
        LibraryLayout::of_module(slot.module, slot.version)
    }

    /// The layout of the records of a module in this version.
    pub fn of_module(module: Module, version: u32) -> Option<&'static LibraryLayout> {
        LAYOUTS.iter().find(|l| (l.darshan, l.version) == (module, version))
    }

    /// Bytes before the counters, and after them.
    pub fn around(&self) -> (usize, usize) {
        self.around
    }

    /// The data of a log that are laid out like this.
    pub fn slot<'l>(&self, log: &'l Log) -> Option<&'l Slot> {
        log.readable(self.darshan).filter(|s| s.version == self.version)
    }

    /// Bytes of a record.
    pub fn record_bytes(&self) -> usize {
        self.around.0 + 8 * (self.ints.len() + self.reals.len()) + self.around.1
    }

    /// Gives every record to `f`; returns the bytes after the last whole one.
    pub fn walk(&self, log: &Log, slot: &Slot, mut f: impl FnMut(&LibraryRecord<'_>) -> Result<()>) -> Result<u64> {
        let (size, at) = (self.record_bytes(), [self.around.0, self.around.0 + 8 * self.ints.len()]);
        log.region(slot).records(size, |bytes| f(&LibraryRecord { fields: Cursor::record(bytes, log.order()), at }))
    }
}

const OPEN_CLOSE: &str = "F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP";
const DATASET: &str = "OPENS READS WRITES FLUSHES BYTES_READ BYTES_WRITTEN RW_SWITCHES REGULAR_HYPERSLAB_SELECTS \
    IRREGULAR_HYPERSLAB_SELECTS POINT_SELECTS MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE SIZE_READ_AGG_# SIZE_WRITE_AGG_# \
    ACCESS# ACCESS#_COUNT DATASPACE_NDIMS DATASPACE_NPOINTS DATATYPE_SIZE CHUNK_SIZE# USE_MPIIO_COLLECTIVE USE_DEPRECATED \
    FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES";
const VARIABLE: &str = "OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES NB_READS NB_WRITES BYTES_READ BYTES_WRITTEN \
    RW_SWITCHES PUT_VAR PUT_VAR1 PUT_VARA PUT_VARS PUT_VARM PUT_VARN PUT_VARD GET_VAR GET_VAR1 GET_VARA GET_VARS GET_VARM \
    GET_VARN GET_VARD IPUT_VAR IPUT_VAR1 IPUT_VARA IPUT_VARS IPUT_VARM IPUT_VARN IGET_VAR IGET_VAR1 IGET_VARA IGET_VARS \
    IGET_VARM IGET_VARN BPUT_VAR BPUT_VAR1 BPUT_VARA BPUT_VARS BPUT_VARM BPUT_VARN MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE \
    SIZE_READ_AGG_# SIZE_WRITE_AGG_# ACCESS# ACCESS#_COUNT NDIMS NPOINTS DATATYPE_SIZE IS_RECORD_VAR FASTEST_RANK \
    FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES";

const DFS: &str = "OPENS GLOBAL_OPENS LOOKUPS DUPS READS READXS WRITES WRITEXS NB_READS NB_WRITES GET_SIZES PUNCHES REMOVES STATS \
    BYTES_READ BYTES_WRITTEN RW_SWITCHES MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE SIZE_READ_# SIZE_WRITE_# ACCESS#_ACCESS \
    ACCESS#_COUNT CHUNK_SIZE FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES";
const DAOS: &str = "OBJ_OPENS OBJ_FETCHES OBJ_UPDATES OBJ_PUNCHES OBJ_DKEY_PUNCHES OBJ_AKEY_PUNCHES OBJ_DKEY_LISTS OBJ_AKEY_LISTS \
    OBJ_RECX_LISTS ARRAY_OPENS ARRAY_READS ARRAY_WRITES ARRAY_GET_SIZES ARRAY_SET_SIZES ARRAY_STATS ARRAY_PUNCHES ARRAY_DESTROYS \
    KV_OPENS KV_GETS KV_PUTS KV_REMOVES KV_LISTS KV_DESTROYS NB_OPS BYTES_READ BYTES_WRITTEN RW_SWITCHES MAX_READ_TIME_SIZE \
    MAX_WRITE_TIME_SIZE SIZE_READ_# SIZE_WRITE_# ACCESS#_ACCESS ACCESS#_COUNT OBJ_OTYPE ARRAY_CELL_SIZE ARRAY_CHUNK_SIZE \
    FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES";
/// Counters that sum up to the reads of a module, those it has.
const READS: [&str; 7] =
    ["_READS", "_INDEP_READS", "_COLL_READS", "_NB_READS", "_OBJ_FETCHES", "_ARRAY_READS", "_KV_GETS"];
/// As [`READS`], of writes.
const WRITES: [&str; 7] =
    ["_WRITES", "_INDEP_WRITES", "_COLL_WRITES", "_NB_WRITES", "_OBJ_UPDATES", "_ARRAY_WRITES", "_KV_PUTS"];

/// The layouts of libraries.
pub(super) fn layouts() -> &'static [LibraryLayout] {
    &LAYOUTS
}

static LAYOUTS: LazyLock<Vec<LibraryLayout>> = LazyLock::new(|| {
    use CounterModule::{Daos, Dfs, H5d, H5f, PnetcdfFile, PnetcdfVar};
    let meta = format!("{OPEN_CLOSE} F_META_TIME");
    let wait = "F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_WAIT_START_TIMESTAMP F_OPEN_END_TIMESTAMP \
        F_CLOSE_END_TIMESTAMP F_WAIT_END_TIMESTAMP F_META_TIME F_WAIT_TIME";
    let files = "CREATES OPENS REDEFS INDEP_WAITS COLL_WAITS SYNCS BYTES_READ BYTES_WRITTEN WAIT_FAILURES";
    let first = "F_OPEN_TIMESTAMP F_CLOSE_TIMESTAMP";
    // Without the variances, which come last.
    let storage = TRANSFERS.find(" F_VARIANCE").map_or(TRANSFERS, |end| &TRANSFERS[..end]);
    let layout = LibraryLayout::new;
    vec![
        layout(Module::H5f, H5f, 1, "OPENS", first),
        layout(Module::H5f, H5f, 2, "OPENS", OPEN_CLOSE),
        layout(Module::H5f, H5f, 3, "OPENS FLUSHES USE_MPIIO", &meta),
        layout(Module::H5d, H5d, 1, DATASET, TRANSFERS),
        layout(Module::H5d, H5d, 2, DATASET, TRANSFERS),
        layout(Module::PnetcdfFile, PnetcdfFile, 1, "INDEP_OPENS COLL_OPENS", first),
        layout(Module::PnetcdfFile, PnetcdfFile, 2, "INDEP_OPENS COLL_OPENS", OPEN_CLOSE),
        layout(Module::PnetcdfFile, PnetcdfFile, 3, files, wait),
        layout(Module::PnetcdfVar, PnetcdfVar, 1, VARIABLE, TRANSFERS),
        layout(Module::Dfs, Dfs, 1, DFS, storage),
        layout(Module::Daos, Daos, 1, DAOS, storage),
    ]
});

fn of_library(log: &Log, layout: &LibraryLayout, placement: Placement, all: &mut Counters) -> Result<()> {
    let Some(slot) = layout.slot(log) else { return Ok(()) };
    let mut files = std::mem::take(&mut all.files);
    let t = table(all, layout.module, &layout.ints, &layout.reals);
    let same = t.ints.len() == layout.ints.len() && t.reals.len() == layout.reals.len();
    let walked = layout.walk(log, slot, |r| {
        if !same {
            return Ok(());
        }
        begin_row(t, file_id(log.names(), r.id(), &mut files), r.rank(), placement);
        for (i, column) in t.ints.iter_mut().enumerate() {
            column.1.push(r.int(i));
        }
        for i in 0..layout.reals.len() {
            push_real(t, i, r.real(i), placement);
        }
        check_rows(t.len(), log.limits())
    });
    all.files = files;
    walked.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_sizes_are_those_of_the_releases() {
        let sizes: Vec<usize> = layouts().iter().map(LibraryLayout::record_bytes).collect();
        assert_eq!(sizes, [40, 56, 80, 904, 912, 48, 64, 152, 1120, 584, 696]);
    }

    #[test]
    fn patterns_stand_for_counters_in_the_order_of_the_log() {
        let dataset = LAYOUTS.iter().find(|l| l.darshan == Module::H5d).unwrap();
        for (i, name) in
            [(12, "SIZE_READ_AGG_0_100"), (32, "ACCESS1_ACCESS"), (38, "ACCESS1_STRIDE_D1"), (76, "ACCESS1_COUNT")]
        {
            assert_eq!(dataset.ints[i], format!("H5D_{name}"));
        }
        assert_eq!(crate::record::NOT_COUNTED, super::super::MISSING);
    }
}
