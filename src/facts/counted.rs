//! Times of counters: one walk over all tables.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::counts::{BYTES, Counted, Measure, TIMES};
use crate::record::{CounterModule, Counters, FileId};

/// A layer of the I/O stack that counts its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TimedLayer {
    /// Files of DAOS, or objects of it where no files of it are known.
    Daos,
    /// POSIX calls on files.
    Posix,
    /// MPI-IO, above POSIX.
    Mpiio,
    /// PnetCDF, above MPI-IO.
    Pnetcdf,
    /// HDF5, above MPI-IO or POSIX.
    Hdf5,
    /// C library streams, beside the others.
    Stdio,
}

impl TimedLayer {
    /// Name in answers.
    pub fn name(self) -> &'static str {
        match self {
            TimedLayer::Posix => "posix",
            TimedLayer::Mpiio => "mpiio",
            TimedLayer::Pnetcdf => "pnetcdf",
            TimedLayer::Hdf5 => "hdf5",
            TimedLayer::Stdio => "stdio",
            TimedLayer::Daos => "daos",
        }
    }

    fn of(module: CounterModule) -> TimedLayer {
        match module {
            CounterModule::Posix => TimedLayer::Posix,
            CounterModule::Mpiio => TimedLayer::Mpiio,
            CounterModule::Stdio => TimedLayer::Stdio,
            CounterModule::H5f | CounterModule::H5d => TimedLayer::Hdf5,
            CounterModule::PnetcdfFile | CounterModule::PnetcdfVar => TimedLayer::Pnetcdf,
            CounterModule::Dfs | CounterModule::Daos => TimedLayer::Daos,
        }
    }
}

/// Time of a file on a layer: of one rank, or the sum over all ranks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    pub module: CounterModule,
    pub layer: TimedLayer,
    /// The file; of a dataset or variable the file that it is in.
    pub file: FileId,
    /// `None`: all ranks.
    pub rank: Option<u32>,
    /// Seconds of reading, writing and metadata.
    pub parts: [f64; 3],
    /// Seconds of the fastest and of the slowest of all ranks.
    pub extremes: [f64; 2],
    /// Bytes read and written; `None` if the layer does not count them here.
    pub bytes: Option<u64>,
}

impl Timed {
    /// Seconds in all.
    pub fn time_s(&self) -> f64 {
        self.parts.iter().sum()
    }
}

/// The times of all tables. Where only some are recorded or can be, the others count as 0; [`Quality`](crate::record::Quality) names these.
pub(crate) fn timed(c: &Counters) -> Vec<Timed> {
    let mut all = Vec::new();
    let mut names: Option<HashMap<&str, FileId, FixedState>> = None;
    let tables = c.tables.iter().map(Counted::of);
    for t in tables.filter(|t| TIMES.iter().any(|time| t.measures(*time))) {
        for row in t.rows().filter(|row| row.has_any(&TIMES)) {
            let file = match t.module {
                CounterModule::H5d | CounterModule::PnetcdfVar => {
                    let names = names.get_or_insert_with(|| c.files.iter().map(|(id, name)| (name, id)).collect());
                    container(c.files.name(row.file), names).unwrap_or(row.file)
                }
                _ => row.file,
            };
            let [read, written] = BYTES.map(|bytes| row.known(bytes));
            all.push(Timed {
                module: t.module,
                layer: TimedLayer::of(t.module),
                file,
                rank: row.rank,
                parts: TIMES.map(|time| row.measure(time)),
                extremes: [row.measure(Measure::FastestS), row.measure(Measure::SlowestS)],
                bytes: read.zip(written).map(|(read, written)| read.saturating_add(written)),
            });
        }
    }
    all
}

/// The file of a dataset or variable, whose name is that of the file, a colon and its own.
fn container(name: &str, files: &HashMap<&str, FileId, FixedState>) -> Option<FileId> {
    name.match_indices(':').find_map(|(at, _)| files.get(&name[..at]).copied())
}
