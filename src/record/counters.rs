//! Counters: totals of a file and rank that a tracer kept instead of, or beside, single calls.

use super::column::Column;
use super::names::{FileId, Files};
use super::range::MOST_MOVED;

/// A group of counters that are recorded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CounterModule {
    /// POSIX calls on files.
    Posix,
    /// MPI-IO calls on files.
    Mpiio,
    /// C library streams.
    Stdio,
    /// HDF5 files.
    H5f,
    /// HDF5 datasets.
    H5d,
    /// PnetCDF files.
    PnetcdfFile,
    /// PnetCDF variables.
    PnetcdfVar,
    /// Files of a DAOS file system.
    Dfs,
    /// Objects, arrays and key-value stores of DAOS.
    Daos,
}

impl CounterModule {
    /// The word before the first underscore that belongs to no counter: `POSIX`, `PNETCDF_VAR`.
    pub fn prefix(self) -> &'static str {
        match self {
            CounterModule::Posix => "POSIX",
            CounterModule::Mpiio => "MPIIO",
            CounterModule::Stdio => "STDIO",
            CounterModule::H5f => "H5F",
            CounterModule::H5d => "H5D",
            CounterModule::PnetcdfFile => "PNETCDF_FILE",
            CounterModule::PnetcdfVar => "PNETCDF_VAR",
            CounterModule::Dfs => "DFS",
            CounterModule::Daos => "DAOS",
        }
    }
}

/// Value of a counter that was not recorded.
pub const NOT_COUNTED: i64 = -1;

/// Counters of a module as columns, one row for each file and rank. A counter that the trace does not have has no column.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterTable {
    /// The module.
    pub module: CounterModule,
    /// The file of [`Counters::files`]; of datasets and variables their name.
    pub file: Column<FileId>,
    /// The rank; `None` for a row with the totals over all ranks.
    pub rank: Column<Option<u32>>,
    /// Integer counters by their full names (`POSIX_READS`); [`NOT_COUNTED`] where a row does not know.
    pub ints: Vec<(&'static str, Column<i64>)>,
    /// Real counters by their full names (`POSIX_F_READ_TIME`), times in seconds of the trace's clock.
    pub reals: Vec<(&'static str, Column<f64>)>,
}

impl CounterTable {
    pub(crate) fn new(module: CounterModule) -> Self {
        CounterTable { module, file: Column::default(), rank: Column::default(), ints: Vec::new(), reals: Vec::new() }
    }

    fn bring_into_range(&mut self) -> u64 {
        let mut changed = 0;
        // an id is no amount
        for (_, column) in self.ints.iter_mut().filter(|(name, _)| !name.ends_with("_RENAMED_FROM")) {
            let sum: u128 = column.iter().map(|x| u128::from(x.unsigned_abs())).sum();
            if sum <= u128::from(MOST_MOVED) {
                continue;
            }
            let most = (MOST_MOVED / column.len() as u64) as i64;
            changed += column.iter().filter(|x| x.unsigned_abs() > most as u64).count() as u64;
            column.map_in_place(|x| x.clamp(-most, most));
        }
        changed
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.file.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.file.is_empty()
    }

    /// An integer counter by its name without the module (`READS`).
    pub fn int(&self, name: &str) -> Option<&Column<i64>> {
        find(&self.ints, self.module, name)
    }

    /// A real counter by its name without the module (`F_READ_TIME`).
    pub fn real(&self, name: &str) -> Option<&Column<f64>> {
        find(&self.reals, self.module, name)
    }

    /// Sum of integer counters over all rows; `None` if one of them was not recorded.
    pub fn total(&self, names: &[&str]) -> Option<i64> {
        names.iter().try_fold(0i64, |sum, name| {
            self.int(name)?.iter().try_fold(sum, |sum, x| (x >= 0).then(|| sum.saturating_add(x)))
        })
    }
}

fn find<'a, T>(columns: &'a [(&'static str, Column<T>)], module: CounterModule, name: &str) -> Option<&'a Column<T>> {
    let prefix = module.prefix();
    // the length alone rules most of them out
    let length = prefix.len() + 1 + name.len();
    let named = |full: &str| full.len() == length && full.ends_with(name) && full.starts_with(prefix);
    columns.iter().find(|(full, _)| named(full)).map(|(_, column)| column)
}

/// A file system of the machine on which the job ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Path of the mount point.
    pub path: String,
    /// Type, such as `lustre`.
    pub kind: String,
}

/// Layout of a file, or of a part of it, over the servers of a parallel file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Striping {
    /// The file of [`Counters::files`].
    pub file: FileId,
    /// Bytes of a stripe.
    pub stripe_bytes: u64,
    /// Stripes side by side.
    pub stripes: u64,
    /// Storage targets (OSTs) of the stripes, in order.
    pub targets: Vec<u64>,
}

impl Striping {
    /// The storage targets of an access of at least one byte, each with its bytes and the number of stripes touched in all.
    /// Nothing if the layout has no stripe unit or no targets.
    pub(crate) fn spread(&self, offset: u64, size: u64) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let (unit, n) = (self.stripe_bytes.max(1), self.targets.len() as u64);
        let known = self.stripe_bytes > 0 && n > 0 && size > 0;
        let end = offset.saturating_add(size.saturating_sub(1));
        let (first, last) = (offset / unit, end / unit);
        let stripes = last - first + 1;
        (0..if known { stripes.min(n) } else { 0 }).map(move |i| {
            let target = self.targets[((first + i) % n) as usize];
            // whole stripes, except for the beginning of the first and the end of the last
            let before = if i == 0 { offset % unit } else { 0 };
            let behind = if i == (stripes - 1) % n { unit - 1 - end % unit } else { 0 };
            let bytes = (stripes - i).div_ceil(n).saturating_mul(unit).saturating_sub(before).saturating_sub(behind);
            (target, bytes, stripes)
        })
    }
}

/// All counters of a trace, and the facts that come with them.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Names of files, datasets and variables.
    pub files: Files,
    /// The modules that the trace has.
    pub tables: Vec<CounterTable>,
    /// Mounted file systems.
    pub mounts: Vec<Mount>,
    /// Layouts of files, where the trace has them.
    pub layouts: Vec<Striping>,
    /// MPI-IO hints with which the tracer wrote its log.
    pub hints: Option<String>,
    /// Version of the tracer.
    pub release: Option<String>,
}

impl Counters {
    /// Brings integer counters into a range where their sums do not overflow. Gives the number of values that changed.
    pub(crate) fn bring_into_range(&mut self) -> u64 {
        self.tables.iter_mut().map(CounterTable::bring_into_range).sum()
    }

    /// The counters of a module.
    pub fn table(&self, module: CounterModule) -> Option<&CounterTable> {
        self.tables.iter().find(|t| t.module == module)
    }

    /// The file system that a file is on: the longest mount path that ends at a `/` of the name.
    pub fn mount(&self, file: &str) -> Option<&Mount> {
        self.mounts.iter().filter(|m| is_below(file, &m.path)).max_by_key(|m| m.path.len())
    }
}

/// True for the folder itself and for what is in it.
pub(crate) fn is_below(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True for the terminal streams of a process, which tracers list beside files.
pub(crate) fn is_terminal(name: &str) -> bool {
    matches!(name, "<STDIN>" | "<STDOUT>" | "<STDERR>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_counters_do_not_overflow() {
        let mut table = CounterTable::new(CounterModule::Posix);
        let column = |values: &[i64]| Column::from(values.to_vec());
        table.ints.push(("POSIX_BYTES_READ", column(&[i64::MAX, i64::MIN, 5, NOT_COUNTED])));
        table.ints.push(("POSIX_READS", column(&[7, NOT_COUNTED, 1 << 61, 3])));
        let mut counters = Counters { tables: vec![table], ..Counters::default() };
        assert_eq!(counters.bring_into_range(), 2);
        let ints = |i: usize| counters.tables[0].ints[i].1.iter().collect::<Vec<_>>();
        assert_eq!(ints(0), [1 << 60, -(1 << 60), 5, NOT_COUNTED]);
        assert_eq!(ints(1), [7, NOT_COUNTED, 1 << 61, 3]);
    }

    #[test]
    fn counters_are_found_by_their_name_within_the_module() {
        let mut t = CounterTable::new(CounterModule::PnetcdfVar);
        t.file = Column::constant(FileId(0), 2);
        t.ints = vec![
            ("PNETCDF_VAR_INDEP_READS", vec![3, 4].into()),
            ("PNETCDF_VAR_COLL_READS", vec![5, NOT_COUNTED].into()),
        ];
        assert_eq!(t.total(&["INDEP_READS"]), Some(7));
        assert_eq!(t.total(&["INDEP_READS", "COLL_READS"]), None, "a row that does not know makes the sum unknown");
        assert_eq!((t.total(&["READS"]), t.total(&["PNETCDF_VAR_INDEP_READS"])), (None, None));
    }

    #[test]
    fn an_access_is_spread_over_its_targets() {
        let of = |targets: Vec<u64>| Striping { file: FileId(0), stripe_bytes: 10, stripes: 2, targets };
        let spread = |offset, size| of(vec![7, 9]).spread(offset, size).collect::<Vec<_>>();
        assert_eq!(spread(12, 3), [(9, 3, 1)]);
        // stripes 0 to 4: 5 + 10 + 10 + 10 + 3 bytes, three stripes on the first target
        assert_eq!(spread(5, 38), [(7, 5 + 10 + 3, 5), (9, 20, 5)]);
        assert_eq!(spread(u64::MAX - 3, 9).iter().map(|x| x.1).sum::<u64>(), 4, "cut at the end of all offsets");
        assert!(of(Vec::new()).spread(0, 5).next().is_none() && spread(0, 0).is_empty());
    }

    #[test]
    fn files_belong_to_the_longest_mount() {
        let mount = |path: &str, kind: &str| Mount { path: path.into(), kind: kind.into() };
        let c = Counters { mounts: vec![mount("/", "ext4"), mount("/scratch", "lustre")], ..Counters::default() };
        assert_eq!(c.mount("/scratch/a").unwrap().kind, "lustre");
        assert_eq!(c.mount("/scratched").unwrap().kind, "ext4");
        assert_eq!(c.mount("relative"), None);
    }
}
