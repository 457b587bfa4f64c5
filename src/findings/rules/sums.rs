//! Sums of the counters of a file, and counts of calls against others.

use std::collections::BTreeMap;

use crate::findings::book::Rule;
use crate::findings::facts::{Facts, RankTime, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::record::{CounterModule, FileId};
use crate::units;

/// A file of the POSIX counters, summed over its rows.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Sums {
    pub file: FileId,
    /// The rank of its only row; `None` for several, and for a row over all ranks.
    pub rank: Option<u32>,
    /// Ranks of its rows.
    pub ranks: u64,
    pub opens: u64,
    /// Reads and writes, their bytes, one past the last byte of each, and their time.
    pub calls: [u64; 2],
    pub bytes: [u64; 2],
    pub ends: [u64; 2],
    pub times_s: [f64; 2],
    pub metadata_s: f64,
}

impl Sums {
    /// One past the last byte.
    pub fn size(&self) -> u64 {
        self.ends[0].max(self.ends[1])
    }

    pub fn transfer_s(&self) -> f64 {
        self.times_s[0] + self.times_s[1]
    }

    /// Its part in a finding, with some of its time.
    pub fn part(&self, time_s: f64) -> Part {
        let (count, bytes) = (self.calls.iter().sum(), self.bytes.iter().sum());
        Part { file: self.file, rank: self.rank, count, bytes, time_s }
    }
}

/// All files of the POSIX counters.
pub(super) fn files(f: &Facts) -> Option<BTreeMap<FileId, Sums>> {
    let ints = ["READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "OPENS"];
    let mut all: BTreeMap<FileId, Sums> = BTreeMap::new();
    for row in rows(f.posix?, ints, ["F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"]) {
        let first = Sums { file: row.file, rank: row.rank, ..Sums::default() };
        let of = all.entry(row.file).or_insert(first);
        of.rank = of.rank.filter(|k| Some(*k) == row.rank);
        of.ranks += row.rank.map_or(f.ranks, |_| 1);
        let count = |i: usize| row.int[i].max(0).unsigned_abs();
        for d in 0..2 {
            of.calls[d] += count(d);
            of.bytes[d] += count(2 + d);
            of.ends[d] = of.ends[d].max((row.int[4 + d].max(-1) + 1).unsigned_abs());
            of.times_s[d] += row.real[d].max(0.0);
        }
        (of.opens, of.metadata_s) = (of.opens + count(6), of.metadata_s + row.real[2].max(0.0));
    }
    Some(all)
}

/// Calls of one kind and those that they are held against, and the times in which the first are; the names of both, and the words for
/// them. Fires above the limit `share` or `ratio`, from `count` calls on.
pub(super) fn calls(
    f: &Facts,
    r: &Rule,
    module: CounterModule,
    [some, of, within]: [&[&str]; 3],
    [name, name_of, word, word_of]: [&'static str; 4],
) -> Option<Outcome> {
    let t = f.counters?.table(module).filter(|t| !t.is_empty())?;
    let (n, all) = (t.total(some)?, t.total(of)?);
    let limit = |name: &str| r.limits.get(name).copied();
    let least = limit("share").or(limit("ratio")).unwrap_or(0.0);
    let fires = all > 0 && n as f64 > least * all as f64 && n as f64 >= limit("count").unwrap_or(1.0);
    let (mut parts, mut time) = (Vec::new(), RankTime::default());
    for name in within {
        rows(t, [], [*name]).for_each(|row| time.add(row.rank, row.real[0].max(0.0), f.ranks));
    }
    for name in some {
        let of_counter = rows(t, [*name, "BYTES_READ", "BYTES_WRITTEN"], []).filter(|row| row.int[0] > 0);
        parts.extend(of_counter.map(|row| {
            let [count, read, written] = row.int.map(|x| x.max(0).unsigned_abs());
            Part { file: row.file, rank: row.rank, count, bytes: read.saturating_add(written), time_s: 0.0 }
        }));
    }
    let outcome = Outcome::new(fires)
        .measured(&[(name, n as f64), (name_of, all as f64)])
        .at_most(time.critical(), f.run_s)
        .detail(|| format!("{} {} for {} {}", units::grouped(n), word, units::grouped(all), word_of))
        .parts(parts);
    Some(outcome)
}
