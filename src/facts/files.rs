//! Accesses to each file, from its counters or from the rows of the trace.

use std::collections::{BTreeMap, BTreeSet};

use super::counted::timed;
use super::counts::{Count, Counted, Row};
use super::outermost::outermost;
use crate::record::{CounterModule, Counters, Data, FileId, Files, Numbered, Op, Timing, Trace, is_terminal};

/// Accesses to a file, or to several.
#[derive(Debug, Clone)]
pub struct FileFacts {
    /// The file, or the first of several.
    pub file: FileId,
    /// The lowest layer whose counters have it; `None` for rows.
    pub layer: Option<CounterModule>,
    /// Calls that read, write and open; `None` where they are not counted.
    pub calls: [Option<u64>; 3],
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Seconds of all ranks in the outermost layer: reading, writing, metadata. `None` if the trace does not say.
    pub time_s: Option<[f64; 3]>,
    /// Its ranks; `None` if they are counted together.
    pub ranks: Option<BTreeSet<u32>>,
}

impl FileFacts {
    fn of(file: FileId) -> FileFacts {
        let ranks = Some(BTreeSet::new());
        FileFacts { file, layer: None, calls: [None; 3], bytes: [0; 2], time_s: None, ranks }
    }

    /// Bytes moved.
    pub fn moved(&self) -> u64 {
        self.bytes[0].saturating_add(self.bytes[1])
    }

    /// Seconds in all; 0 if they are not known.
    pub fn spent(&self) -> f64 {
        self.time_s.iter().flatten().sum()
    }

    fn add(&mut self, other: FileFacts) {
        for (mine, more) in self.calls.iter_mut().zip(other.calls) {
            *mine = mine.zip(more).map(|(a, b)| a.saturating_add(b)).or(*mine).or(more);
        }
        (0..2).for_each(|d| self.bytes[d] = self.bytes[d].saturating_add(other.bytes[d]));
        let both = self.time_s.zip(other.time_s);
        self.time_s = both.map(|(a, b)| std::array::from_fn(|i| a[i] + b[i])).or(self.time_s).or(other.time_s);
        self.ranks = self.ranks.take().zip(other.ranks).map(|(mut mine, more)| {
            mine.extend(more);
            mine
        });
    }
}

/// Layers that tell of files. POSIX, STDIO and DFS lie beside one another; of the others the first that has a file counts.
const BESIDE: [CounterModule; 3] = [CounterModule::Posix, CounterModule::Stdio, CounterModule::Dfs];
const ABOVE: [CounterModule; 2] = [CounterModule::Mpiio, CounterModule::PnetcdfFile];

/// Files by what the counters say, without terminals, in the order of their numbers.
pub fn files_of_counters(c: &Counters) -> Vec<FileFacts> {
    let mut all: BTreeMap<FileId, FileFacts> = BTreeMap::new();
    for t in BESIDE.iter().filter_map(|m| Counted::by(c, *m)) {
        t.rows().map(|row| of_row(t.module, &row)).for_each(|facts| match all.get_mut(&facts.file) {
            Some(file) => file.add(facts),
            None => _ = all.insert(facts.file, facts),
        });
    }
    for t in ABOVE.iter().filter_map(|m| Counted::by(c, *m)) {
        t.rows().map(|row| of_row(t.module, &row)).for_each(|facts| match all.get_mut(&facts.file) {
            Some(file) if file.layer == facts.layer => file.add(facts),
            Some(_) => {}
            None => _ = all.insert(facts.file, facts),
        });
    }
    for t in outermost(timed(c)) {
        if let Some(file) = all.get_mut(&t.file) {
            let sum = file.time_s.get_or_insert([0.0; 3]);
            (0..3).for_each(|i| sum[i] += t.parts[i]);
        }
    }
    all.into_values().filter(|f| !is_terminal(c.files.name(f.file))).collect()
}

/// A row of counters, without times.
fn of_row(module: CounterModule, row: &Row<'_, '_>) -> FileFacts {
    FileFacts {
        layer: Some(module),
        calls: [Count::Reads, Count::Writes, Count::Opens].map(|calls| row.known(calls)),
        bytes: row.bytes(),
        ranks: row.rank.map(|rank| BTreeSet::from([rank])),
        ..FileFacts::of(row.file)
    }
}

/// Files by what the rows of a trace say, without system files, in the order of their numbers.
pub fn files_of_rows(trace: &Trace) -> Vec<FileFacts> {
    let single = trace.timing == Timing::Request;
    let mut all: Numbered<(FileFacts, Option<u32>)> = Numbered::default();
    let mut add = |file: FileId, op: Op, rank: u32, bytes: u64, time_s: f64| {
        if file == FileId::NONE || trace.files.is_system(file) {
            return;
        }
        let (f, latest) = all.get_or(file.0, (FileFacts::of(file), None));
        let d = usize::from(op == Op::Write);
        f.bytes[d] = f.bytes[d].saturating_add(bytes);
        if single {
            f.calls = [Some(f.calls[0].unwrap_or(0)), Some(f.calls[1].unwrap_or(0)), None];
            f.calls[d] = f.calls[d].map(|n| n + 1);
            f.time_s.get_or_insert([0.0; 3])[d] += time_s;
        }
        // the next row of a file is mostly of the same rank
        if latest.replace(rank) != Some(rank) {
            f.ranks.iter_mut().for_each(|ranks| _ = ranks.insert(rank));
        }
    };
    match &trace.data {
        Data::Requests(r) => {
            r.iter().filter(|x| x.op.moves_bytes()).for_each(|x| add(x.file, x.op, x.rank, x.size, x.end - x.start))
        }
        Data::Intervals(v) => {
            v.iter().for_each(|x| add(x.file, x.op, x.rank, x.bytes.max(0.0).round() as u64, x.end - x.start));
        }
    }
    all.into_iter().map(|(_, (facts, _))| facts).collect()
}

/// Files that share a key, mostly names that differ in digits only.
#[derive(Debug)]
pub struct FileFamily {
    /// The key; of one file its name.
    pub name: String,
    /// The sum of all.
    pub sum: FileFacts,
    /// The files.
    pub files: Vec<FileFacts>,
}

/// Families in the order of their keys.
pub fn families(files: Vec<FileFacts>, names: &Files, key: impl Fn(&str) -> String) -> Vec<FileFamily> {
    let mut all: BTreeMap<String, FileFamily> = BTreeMap::new();
    for f in files {
        let name = names.name(f.file);
        let key = key(name);
        match all.get_mut(&key) {
            Some(family) => {
                family.sum.add(f.clone());
                family.name.clone_from(&key);
                family.files.push(f);
            }
            None => {
                let family = FileFamily { name: name.to_owned(), sum: f.clone(), files: vec![f] };
                all.insert(key, family);
            }
        }
    }
    all.into_values().collect()
}
