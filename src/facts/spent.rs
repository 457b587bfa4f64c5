//! Time of ranks from counters, of which some are sums over all ranks.

use std::collections::BTreeMap;

use super::counted::Timed;
use super::io_time::Bounds;
use crate::record::FileId;

/// Seconds of the ranks of a job in some files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spent {
    /// A rank's mean of reading, writing and metadata.
    pub mean_s: [f64; 3],
    /// In files of their own, by rank: reading, writing and metadata.
    pub own: BTreeMap<u32, [f64; 3]>,
    /// Files that are counted over all ranks.
    pub shared: Vec<SharedTime>,
    /// A rank's mean of reading, writing and metadata in them.
    shared_mean_s: [f64; 3],
    /// That of the slowest rank.
    pub slowest_s: Bounds,
    /// The times of a rank add up to more than the run: its calls overlap, as those of threads, or cannot have taken as long.
    pub overlaps: bool,
}

/// Part of the run by which times may exceed it: some logs know whole seconds.
const ROUNDING: f64 = 0.01;

/// A file that is counted over all ranks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedTime {
    pub file: FileId,
    /// Seconds of the ranks: mean, fastest, slowest.
    pub mean_s: f64,
    pub fastest_s: f64,
    pub slowest_s: f64,
}

impl Spent {
    /// Of a job of `ranks` ranks; no rank spends more than the run, if its length is known.
    pub fn of(all: impl Iterator<Item = Timed>, ranks: u64, run_s: Option<f64>) -> Spent {
        let n = ranks.max(1) as f64;
        let mut spent = Spent::default();
        for t in all {
            (0..3).for_each(|i| spent.mean_s[i] += t.parts[i] / n);
            match t.rank {
                Some(rank) => {
                    let own = spent.own.entry(rank).or_default();
                    (0..3).for_each(|i| own[i] += t.parts[i]);
                }
                None => {
                    (0..3).for_each(|i| spent.shared_mean_s[i] += t.parts[i] / n);
                    let (sum, [fastest, slowest]) = (t.time_s(), t.extremes);
                    let slowest_s = slowest.clamp(sum / n, sum);
                    let fastest_s = fastest.min(sum / n);
                    spent.shared.push(SharedTime { file: t.file, mean_s: sum / n, fastest_s, slowest_s });
                }
            }
        }
        let least = spent.least();
        spent.overlaps = run_s.is_some_and(|run| least > (1.0 + ROUNDING) * run);
        spent.slowest_s = spent.bounds(least, run_s);
        spent
    }

    /// Seconds of all kinds, mean of all ranks.
    pub fn mean_io_s(&self) -> f64 {
        self.mean_s.iter().sum()
    }

    /// The rank with the most time in files of its own, and its time; of equal ones the first.
    pub fn busiest(&self) -> Option<(u32, f64)> {
        let times = self.own.iter().map(|(rank, parts)| (*rank, parts.iter().sum::<f64>()));
        times.reduce(|most, next| if next.1 > most.1 { next } else { most })
    }

    /// Reading, writing and metadata of the rank with the most time in files of its own: in these, and the mean in shared ones.
    pub fn of_busiest(&self) -> [f64; 3] {
        let own = self.busiest().map_or([0.0; 3], |(rank, _)| self.own[&rank]);
        std::array::from_fn(|i| own[i] + self.shared_mean_s[i])
    }

    /// Seconds of the slowest rank at least. Which rank of a shared file is the slowest is known of each file, not of all together: the
    /// slowest of the job takes at least as long as the mean, as its own files and the fastest in each shared one, and as the slowest
    /// of any file.
    fn least(&self) -> f64 {
        let own = self.busiest().map_or(0.0, |x| x.1);
        let fastest: f64 = self.shared.iter().map(|s| s.fastest_s).sum();
        let longest = self.shared.iter().map(|s| s.slowest_s).fold(0.0, f64::max);
        self.mean_io_s().max(own + fastest).max(longest)
    }

    /// At most it takes as long as its own files and the slowest in each shared one, and as the run.
    fn bounds(&self, least: f64, run_s: Option<f64>) -> Bounds {
        let own = self.busiest().map_or(0.0, |x| x.1);
        let slowest: f64 = self.shared.iter().map(|s| s.slowest_s).sum();
        let high = run_s.map_or(own + slowest, |run| (own + slowest).min(run));
        Bounds { low: least.min(high), high }
    }
}
