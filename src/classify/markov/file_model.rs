//! The model of one file, as it is stored.

use serde::{Deserialize, Serialize};

use super::super::lattice::Size;
use super::chain::{MOST_ROWS, MOST_WAYS, Row};

/// Phases kept of a file.
pub(super) const MOST_PHASES: usize = 64;
/// Runs of ranks kept of a phase.
pub(super) const MOST_STARTS: usize = 4096;
/// Ranks of a phase.
pub(super) const MOST_RANKS: u64 = 1 << 20;

/// The accesses of earlier runs to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileModel {
    pub file: String,
    pub runs: u64,
    /// Accesses and bytes of the last run.
    pub accesses: u64,
    pub bytes: u64,
    /// Every access begins on a multiple of this.
    pub block_bytes: u64,
    /// Some of the run did not fit.
    pub cut: bool,
    pub phases: Vec<Phase>,
}

/// The accesses of several ranks at the same time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phase {
    pub staggered: bool,
    pub size: Size,
    pub smallest_bytes: u64,
    pub largest_bytes: u64,
    /// Size of the first request.
    pub usual_bytes: u64,
    pub starts: Vec<Start>,
    /// Walks learned from, at least one per rank.
    pub walks: u64,
    pub accesses: u64,
    pub bytes: u64,
    /// Share of the accesses that follow the one before.
    pub back_to_back: f64,
    /// First and past the last byte, from where a rank begins.
    pub low_bytes: i64,
    pub high_bytes: i64,
    pub rows: Vec<Row>,
}

/// Where neighbouring ranks begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    pub rank: u32,
    pub ranks: u64,
    pub block: u64,
    /// Blocks from one rank to the next.
    pub step: i64,
}

impl Start {
    /// The first block of the `i`-th rank.
    pub fn block(&self, i: u64) -> u64 {
        let steps = i64::try_from(i).unwrap_or(i64::MAX);
        self.block.saturating_add_signed(self.step.saturating_mul(steps))
    }
}

impl FileModel {
    /// Adds an earlier run. Counts are added up if both runs have the same transitions; else only this, later one counts.
    pub fn add(&mut self, earlier: &FileModel) {
        self.runs = self.runs.saturating_add(earlier.runs);
        let alike = |a: &Row, b: &Row| {
            (a.state, a.step, a.states) == (b.state, b.step, b.states)
                && a.ways.len() == b.ways.len()
                && a.ways.iter().zip(&b.ways).all(|(x, y)| x.0 == y.0)
        };
        let same = self.block_bytes == earlier.block_bytes
            && self.phases.len() == earlier.phases.len()
            && self
                .phases
                .iter()
                .zip(&earlier.phases)
                .all(|(p, q)| p.rows.len() == q.rows.len() && p.rows.iter().zip(&q.rows).all(|(a, b)| alike(a, b)));
        if !same {
            return;
        }
        for (row, old) in self.phases.iter_mut().zip(&earlier.phases).flat_map(|(p, q)| p.rows.iter_mut().zip(&q.rows))
        {
            row.ends = row.ends.saturating_add(old.ends);
            row.ways.iter_mut().zip(&old.ways).for_each(|(w, o)| w.1 = w.1.saturating_add(o.1));
        }
    }

    /// Is it consistent? Numbers without other bounds are bounded here.
    pub fn is_sound(&self) -> bool {
        let phase = |p: &Phase| {
            let ranks = p.starts.iter().fold(0u64, |sum, s| sum.saturating_add(s.ranks));
            p.starts.len() <= MOST_STARTS
                && (1..=MOST_RANKS).contains(&ranks)
                && p.starts.iter().all(|s| s.ranks > 0 && u64::from(s.rank) + s.ranks <= 1 << 32)
                && p.rows.len() <= MOST_ROWS
                && p.rows.windows(2).all(|w| w[0].state < w[1].state)
                && p.rows.iter().all(|r| r.step >= 0 && r.states > 0 && r.ways.len() <= MOST_WAYS)
                && p.walks > 0
                && p.accesses >= p.walks
                && p.low_bytes <= p.high_bytes
                && (0.0..=1.0).contains(&p.back_to_back)
        };
        self.block_bytes > 0 && self.runs > 0 && self.phases.len() <= MOST_PHASES && self.phases.iter().all(phase)
    }
}
