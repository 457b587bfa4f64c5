//! Times of counters: one walk over all tables.

use std::collections::HashMap;

use foldhash::fast::FixedState;

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

const TIMES: [&str; 3] = ["F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"];
const EXTREMES: [&str; 2] = ["F_FASTEST_RANK_TIME", "F_SLOWEST_RANK_TIME"];

/// The times of all tables. Those that are not recorded or cannot be count as 0; [`Quality`](crate::record::Quality) names these.
pub(crate) fn timed(c: &Counters) -> Vec<Timed> {
    let mut all = Vec::new();
    let mut names: Option<HashMap<&str, FileId, FixedState>> = None;
    for t in c.tables.iter().filter(|t| TIMES.iter().any(|name| t.real(name).is_some())) {
        let bytes = ["BYTES_READ", "BYTES_WRITTEN"].map(|name| t.int(name));
        let (times, extremes) = (TIMES.map(|name| t.real(name)), EXTREMES.map(|name| t.real(name)));
        let time = |i: usize, k: usize| times[k].map_or(0.0, |column| column.get(i)).max(0.0);
        for i in 0..t.len() {
            let file = match t.module {
                CounterModule::H5d | CounterModule::PnetcdfVar => {
                    let names = names.get_or_insert_with(|| c.files.iter().map(|(id, name)| (name, id)).collect());
                    container(c.files.name(t.file.get(i)), names).unwrap_or(t.file.get(i))
                }
                _ => t.file.get(i),
            };
            let extreme = |k: usize| extremes[k].map_or(0.0, |column| column.get(i)).max(0.0);
            let moved = bytes.map(|column| u64::try_from(column?.get(i)).ok());
            all.push(Timed {
                module: t.module,
                layer: TimedLayer::of(t.module),
                file,
                rank: t.rank.get(i),
                parts: [0, 1, 2].map(|k| Some(time(i, k)).filter(|s| s.is_finite()).unwrap_or(0.0)),
                extremes: [extreme(0), extreme(1)],
                bytes: moved[0].zip(moved[1]).map(|(read, written)| read.saturating_add(written)),
            });
        }
    }
    all
}

/// The file of a dataset or variable, whose name is that of the file, a colon and its own.
fn container(name: &str, files: &HashMap<&str, FileId, FixedState>) -> Option<FileId> {
    name.match_indices(':').find_map(|(at, _)| files.get(&name[..at]).copied())
}
