//! Tables of the counters of a trace: cost, calls, sizes and files.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use crate::facts::{self, CALLS, Count, Counted, FileFacts, FileFamily, SIZES, Spent};
use crate::record::{CounterModule, Counters, FileId, Trace, is_terminal, stem};

/// Families of files that are listed.
const FAMILIES: usize = 50;
/// Common sizes that are listed.
const MOST_SIZES: usize = 8;

/// Tables of the counters of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CounterReport {
    /// Time in I/O, by layer.
    pub cost: Vec<LayerCost>,
    /// Number of calls by name, by layer.
    pub operations: BTreeMap<String, BTreeMap<String, u64>>,
    /// Accesses by size, by layer.
    pub access_sizes: Vec<AccessSizes>,
    /// Files by what was done with them, by layer.
    pub files: Vec<FileKind>,
    /// Families of files, those that took most time first; digits in names are replaced by `#`.
    pub families: Vec<Family>,
    /// Number of families.
    pub families_total: u64,
    /// Mounted file systems with files of the job.
    pub mounts: Vec<MountUse>,
    /// MPI-IO hints with which the tracer wrote its log; `null` if it names none.
    pub hints: Option<String>,
}

/// Time in I/O on a layer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LayerCost {
    /// `posix`, `mpiio`, `stdio`, `h5f`, `h5d`, `pnetcdf_file`, `pnetcdf_var`.
    pub layer: String,
    /// Seconds of reading, a rank's mean.
    pub read_s: f64,
    /// Seconds of writing, a rank's mean.
    pub write_s: f64,
    /// Seconds of opening, closing and the like, a rank's mean.
    pub metadata_s: f64,
    /// Seconds of the slowest rank, at least: which rank is the slowest in all shared files together is not recorded.
    pub slowest_s: f64,
    /// The rank with the most in files of its own; `null` if all files are shared.
    pub slowest_rank: Option<u32>,
    /// `slowest_s` / run time, at most 1; `null` if the run time is not known.
    pub share: Option<f64>,
    /// Seconds of the ranks in files of their own: the least, the quartiles, the most; `null` if all files are shared.
    pub quartiles_s: Option<[f64; 5]>,
}

/// Accesses by size.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct AccessSizes {
    /// The layer.
    pub layer: String,
    /// Reads by class of size: up to 100 bytes, 1 KB, 10 KB, 100 KB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, and more.
    pub reads: Vec<u64>,
    /// Writes by class of size.
    pub writes: Vec<u64>,
    /// Shares of the reads and writes that start where the last access ended or later; `null` if the layer does not count them.
    pub sequential: Option<[f64; 2]>,
    /// Shares of the reads and writes that start where the last access ended.
    pub consecutive: Option<[f64; 2]>,
    /// The commonest sizes in bytes, as far as the four of each file tell.
    pub common: Vec<CommonSize>,
}

/// A common access size.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CommonSize {
    /// Bytes.
    pub size: u64,
    /// Number of accesses.
    pub count: u64,
}

/// Files of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FileKind {
    /// The layer.
    pub layer: String,
    /// `read-only`, `write-only`, `read-write` or `opened`.
    pub kind: String,
    /// Number of files.
    pub files: u64,
    /// Mean of the files' sizes, by the highest byte accessed; `null` if the layer does not know it.
    pub mean_bytes: Option<u64>,
    /// Largest of them.
    pub largest_bytes: Option<u64>,
}

/// A family of files on all layers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Family {
    /// Name of the file; of several with `#` for digits.
    pub file: String,
    /// Number of files.
    pub files: u64,
    /// The lowest layer that has it.
    pub layer: String,
    /// Number of ranks; `null` if the counters are of all ranks.
    pub ranks: Option<u64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Seconds of reading in the outermost layer, all ranks.
    pub read_s: f64,
    /// Seconds of writing, all ranks.
    pub write_s: f64,
    /// Seconds of opening, closing and the like, all ranks.
    pub metadata_s: f64,
}

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct MountUse {
    /// Path of the mount point.
    pub path: String,
    /// Type, such as `lustre`.
    pub kind: String,
    /// Number of files.
    pub files: u64,
    /// Bytes read by POSIX and STDIO.
    pub bytes_read: u64,
    /// Bytes written by POSIX and STDIO.
    pub bytes_written: u64,
}

impl CounterReport {
    /// The tables; `None` if the trace was read without counters or has none.
    pub fn of(trace: &Trace) -> Option<CounterReport> {
        let c = trace.counters.as_deref()?;
        let tables: Vec<Counted<'_>> = c.tables.iter().filter(|t| !t.is_empty()).map(Counted::of).collect();
        if tables.is_empty() {
            return None;
        }
        let run_s = trace.job.as_ref().and_then(|j| j.run_time_s).filter(|t| *t > 0.0);
        let ranks = trace.ranks.max(1);
        let named = |t: &Counted<'_>| (layer(t.module), t.operations());
        let files = facts::files_of_counters(c);
        let mounts = mounts(c, &files);
        let mut families: Vec<Family> = facts::families(files, &c.files, stem).into_iter().map(family).collect();
        let spent = |f: &Family| f.read_s + f.write_s + f.metadata_s;
        families.sort_by(|a, b| spent(b).total_cmp(&spent(a)).then(a.file.cmp(&b.file)));
        let families_total = families.len() as u64;
        families.truncate(FAMILIES);
        Some(CounterReport {
            cost: facts::of_modules(c, ranks, run_s).iter().map(|of| cost(of, ranks, run_s)).collect(),
            operations: tables.iter().map(named).filter(|(_, calls)| !calls.is_empty()).collect(),
            access_sizes: tables.iter().filter_map(access_sizes).collect(),
            files: tables.iter().flat_map(|t| file_kinds(c, t)).collect(),
            families,
            families_total,
            mounts,
            hints: c.hints.clone(),
        })
    }
}

fn layer(module: CounterModule) -> String {
    module.prefix().to_lowercase()
}

fn cost((module, spent): &(CounterModule, Spent), ranks: u64, run_s: Option<f64>) -> LayerCost {
    let [read_s, write_s, metadata_s] = spent.mean_s;
    let own = spent.own.values().map(|parts| parts.iter().sum());
    let slowest_s = spent.slowest_s.low;
    LayerCost {
        layer: layer(*module),
        read_s,
        write_s,
        metadata_s,
        slowest_s,
        slowest_rank: spent.busiest().map(|s| s.0),
        share: run_s.map(|run| (slowest_s / run).min(1.0)),
        quartiles_s: (!spent.own.is_empty()).then(|| quartiles(own, ranks as usize)),
    }
}

/// The least, the quartiles and the most of the times of `ranks` ranks, of which those without a value have none.
fn quartiles(known: impl Iterator<Item = f64>, ranks: usize) -> [f64; 5] {
    let mut all: Vec<f64> = known.collect();
    all.sort_by(f64::total_cmp);
    let idle = ranks.saturating_sub(all.len());
    let last = idle + all.len() - 1;
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| {
        let at = (q * last as f64).round() as usize;
        at.checked_sub(idle).map_or(0.0, |i| all[i])
    })
}

/// `part / all`, 0 of nothing.
fn ratio(part: u64, all: u64) -> f64 {
    if all > 0 { part as f64 / all as f64 } else { 0.0 }
}

fn access_sizes(t: &Counted<'_>) -> Option<AccessSizes> {
    if !t.has_sizes() {
        return None;
    }
    let mut classes = [[0u64; SIZES.len()]; 2];
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    for row in t.rows() {
        for (d, all) in classes.iter_mut().enumerate() {
            all.iter_mut().zip(row.sizes(d)).for_each(|(sum, n)| *sum = sum.saturating_add(n));
        }
        row.common().for_each(|(size, n)| *sizes.entry(size).or_default() += n);
    }
    let mut common: Vec<CommonSize> = sizes.into_iter().map(|(size, count)| CommonSize { size, count }).collect();
    common.sort_by_key(|s| (std::cmp::Reverse(s.count), s.size));
    common.truncate(MOST_SIZES);
    let share = |some: Count, of: Count| Some(ratio(t.total(&[some])?, t.total(&[of])?));
    let both = |some: [Count; 2]| share(some[0], CALLS[0]).zip(share(some[1], CALLS[1])).map(<[f64; 2]>::from);
    let sequential = both([Count::SeqReads, Count::SeqWrites]);
    let consecutive = both([Count::ConsecReads, Count::ConsecWrites]);
    let [reads, writes] = classes.map(Vec::from);
    Some(AccessSizes { layer: layer(t.module), reads, writes, sequential, consecutive, common })
}

fn file_kinds(c: &Counters, t: &Counted<'_>) -> Vec<FileKind> {
    if !t.counts(Count::BytesRead) {
        return Vec::new();
    }
    // read, written, and one past the highest byte
    let mut files: BTreeMap<FileId, (bool, bool, u64)> = BTreeMap::new();
    for row in t.rows().filter(|row| !is_terminal(c.files.name(row.file))) {
        let (f, [read, written], ends) = (files.entry(row.file).or_default(), row.bytes(), row.ends());
        *f = (f.0 | (read > 0), f.1 | (written > 0), f.2.max(ends[0]).max(ends[1]));
    }
    let sized = t.counts(Count::LastWritten);
    let kind = |x: &(bool, bool, u64)| match (x.0, x.1) {
        (true, true) => "read-write",
        (true, false) => "read-only",
        (false, true) => "write-only",
        _ => "opened",
    };
    let of = |name: &str| {
        let all: Vec<u64> = files
            .values()
            .filter(|x| kind(x) == name)
            .map(|x| if x.0 || x.1 { x.2.max(1) } else { x.2.saturating_sub(1) })
            .collect();
        let sum: u128 = all.iter().map(|x| u128::from(*x)).sum();
        (!all.is_empty()).then(|| FileKind {
            layer: layer(t.module),
            kind: name.into(),
            files: all.len() as u64,
            mean_bytes: sized.then(|| u64::try_from(sum / all.len() as u128).unwrap_or(u64::MAX)),
            largest_bytes: all.iter().copied().max().filter(|_| sized),
        })
    };
    ["read-only", "write-only", "read-write", "opened"].into_iter().filter_map(of).collect()
}

fn family(f: FileFamily) -> Family {
    let [read_s, write_s, metadata_s] = f.sum.time_s.unwrap_or_default();
    Family {
        file: f.name,
        files: f.files.len() as u64,
        layer: f.sum.layer.map_or_else(String::new, layer),
        ranks: f.sum.ranks.map(|ranks| ranks.len() as u64),
        bytes_read: f.sum.bytes[0],
        bytes_written: f.sum.bytes[1],
        read_s,
        write_s,
        metadata_s,
    }
}

fn mounts(c: &Counters, files: &[FileFacts]) -> Vec<MountUse> {
    let mut of: BTreeMap<&str, MountUse> = BTreeMap::new();
    for f in files {
        let Some(m) = c.mount(c.files.name(f.file)) else { continue };
        let mount = of.entry(&m.path).or_insert_with(|| {
            let (path, kind) = (m.path.clone(), m.kind.clone());
            MountUse { path, kind, files: 0, bytes_read: 0, bytes_written: 0 }
        });
        mount.files += 1;
        mount.bytes_read = mount.bytes_read.saturating_add(f.bytes[0]);
        mount.bytes_written = mount.bytes_written.saturating_add(f.bytes[1]);
    }
    let mut all: Vec<MountUse> = of.into_values().collect();
    all.sort_by_key(|m| std::cmp::Reverse((m.bytes_read.saturating_add(m.bytes_written), m.files)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Column, CounterTable, Job};

    #[test]
    fn tables_in_closed_form() {
        let mut c = Counters::default();
        let (a, b) = (c.files.intern("/scratch/out.1"), c.files.intern("/scratch/out.2"));
        let mut t = CounterTable::new(CounterModule::Posix);
        t.file = Column::from(vec![a, b]);
        t.rank = Column::from(vec![None, Some(1)]);
        t.ints = vec![
            ("POSIX_WRITES", vec![8, 2].into()),
            ("POSIX_SEQ_WRITES", vec![7, 1].into()),
            ("POSIX_BYTES_READ", vec![0, 0].into()),
            ("POSIX_BYTES_WRITTEN", vec![800, 200].into()),
            ("POSIX_MAX_BYTE_WRITTEN", vec![799, 199].into()),
        ];
        t.reals = vec![
            ("POSIX_F_WRITE_TIME", vec![4.0, 2.0].into()),
            ("POSIX_F_META_TIME", vec![0.0, 1.0].into()),
            ("POSIX_F_SLOWEST_RANK_TIME", vec![3.0, 0.0].into()),
        ];
        c.tables = vec![t];
        c.mounts = vec![crate::record::Mount { path: "/scratch".into(), kind: "lustre".into() }];
        let job = Some(Job { run_time_s: Some(12.0), ..Job::default() });
        let trace = Trace { counters: Some(Box::new(c)), ranks: 4, job, ..Trace::default() };
        let r = CounterReport::of(&trace).unwrap();
        let cost = &r.cost[0];
        assert_eq!((cost.read_s, cost.write_s, cost.metadata_s), (0.0, 1.5, 0.25));
        // rank 1 may be the slowest of the shared file or not
        assert_eq!((cost.slowest_s, cost.slowest_rank, cost.share), (3.0, Some(1), Some(0.25)));
        assert_eq!(cost.quartiles_s, Some([0.0, 0.0, 0.0, 0.0, 3.0]), "one of four ranks has a file of its own");
        assert_eq!(r.operations["posix"], [("writes".to_owned(), 10)].into());
        assert_eq!((r.files[0].kind.as_str(), r.files[0].files, r.files[0].mean_bytes), ("write-only", 2, Some(500)));
        let f = &r.families[0];
        assert_eq!((f.file.as_str(), f.files, f.ranks, f.bytes_written), ("/scratch/out.#", 2, None, 1000));
        assert_eq!((r.mounts[0].files, r.mounts[0].bytes_written), (2, 1000));
    }
}
