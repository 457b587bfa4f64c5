//! Sums of the counters of a file, and counts of calls against others.

use std::collections::BTreeMap;

use crate::facts::{CALLS, Count, Counted, Measure, TIMES};
use crate::findings::book::Rule;
use crate::findings::facts::{Facts, RankTime};
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
    /// Time of the slowest rank.
    pub slowest_s: f64,
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
    let mut all: BTreeMap<FileId, Sums> = BTreeMap::new();
    for row in f.posix.as_ref()?.rows() {
        let first = Sums { file: row.file, rank: row.rank, ..Sums::default() };
        let of = all.entry(row.file).or_insert(first);
        of.rank = of.rank.filter(|k| Some(*k) == row.rank);
        of.ranks += row.rank.map_or(f.ranks, |_| 1);
        let (bytes, ends) = (row.bytes(), row.ends());
        for d in 0..2 {
            of.calls[d] += row.count(CALLS[d]);
            of.bytes[d] += bytes[d];
            of.ends[d] = of.ends[d].max(ends[d]);
            of.times_s[d] += row.measure(TIMES[d]);
        }
        let mean_s = TIMES.iter().map(|t| row.measure(*t)).sum::<f64>() / row.rank.map_or(f.ranks as f64, |_| 1.0);
        of.slowest_s = of.slowest_s.max(mean_s).max(row.measure(Measure::SlowestS));
        (of.opens, of.metadata_s) = (of.opens + row.count(Count::Opens), of.metadata_s + row.measure(Measure::MetaS));
    }
    Some(all)
}

/// Calls of one kind and those that they are held against, and the times in which the first are; the names of both as measured values,
/// and the words for them. Fires above the limit `share` or `ratio`, from `count` calls on.
pub(super) fn calls(
    f: &Facts,
    r: &Rule,
    module: CounterModule,
    (some, of): (Count, &[Count]),
    within: &[Measure],
    [name, name_of, word, word_of]: [&'static str; 4],
) -> Option<Outcome> {
    let t = Counted::by(f.counters?, module)?;
    let (n, all) = (t.total(&[some])?, t.total(of)?);
    let limit = |name: &str| r.limits.get(name).copied();
    let least = limit("share").or(limit("ratio")).unwrap_or(0.0);
    let fires = all > 0 && n as f64 > least * all as f64 && n as f64 >= limit("count").unwrap_or(1.0);
    let mut time = RankTime::default();
    for row in t.rows() {
        time.add(row.rank, within.iter().map(|of| row.measure(*of)).sum(), f.ranks);
    }
    let with_calls = t.rows().map(|row| Part::of(&row, row.count(some), 0.0)).filter(|part| part.count > 0);
    let outcome = Outcome::new(fires)
        .measured(&[(name, n as f64), (name_of, all as f64)])
        .at_most(time.critical(), f.run_s)
        .detail(|| format!("{} {word} for {} {word_of}", units::grouped(n), units::grouped(all)))
        .parts(with_calls.collect());
    Some(outcome)
}
