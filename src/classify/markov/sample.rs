//! A training sample, of one file in one run: the phases that the rules found, and in each the chain of its accesses.

use std::collections::{BTreeMap, HashMap};

use super::super::access::{Access, Tally};
use super::super::group::{Local, groups};
use super::chain::{Counts, gcd, goes_on};
use super::file_model::{FileModel, MOST_PHASES, MOST_STARTS, Phase, Start};

/// A file while it is learned.
pub(crate) struct TrainingSample {
    phases: Vec<PhaseSample>,
    ranks: HashMap<u32, Cursor>,
    totals: (u64, u64),
    cut: bool,
}

/// A phase while it is learned; `starts` and `rows` are set at the end.
#[derive(Default)]
struct PhaseSample {
    phase: Phase,
    counts: Counts,
    /// First offset of each rank.
    starts: BTreeMap<u32, u64>,
    /// Accesses that follow the one before back to back.
    follows: u64,
    block: u64,
}

/// Where a rank is: its segments in order, as (accesses, phase).
struct Cursor {
    parts: std::vec::IntoIter<(u64, usize)>,
    phase: usize,
    left: u64,
    start: u64,
    last: Option<Access>,
}

fn distance(start: u64, a: &Access) -> (i64, bool) {
    (a.offset.wrapping_sub(start) as i64, a.write)
}

impl TrainingSample {
    /// Prepares to learn a file from its segments.
    pub fn of(all: &[Local]) -> Self {
        let groups = groups(all);
        let mut phase_of = vec![usize::MAX; all.len()];
        let mut phases = Vec::new();
        for (i, g) in groups.iter().enumerate() {
            g.members.iter().for_each(|&m| phase_of[m] = i);
            let tally = Tally::sum(g.members.iter().map(|&m| all[m].segment.tally)).unwrap_or_default();
            let phase = Phase {
                staggered: g.staggered,
                size: g.size,
                smallest_bytes: tally.sizes.0,
                largest_bytes: tally.sizes.1,
                ..Phase::default()
            };
            phases.push(PhaseSample { phase, ..PhaseSample::default() });
        }
        let cut = phases.len() > MOST_PHASES;
        phases.truncate(MOST_PHASES);
        let mut parts: HashMap<u32, Vec<(u64, usize)>> = HashMap::new();
        for (l, phase) in all.iter().zip(phase_of) {
            parts.entry(l.rank).or_default().push((l.segment.tally.accesses, phase));
        }
        let cursor =
            |parts: Vec<(u64, usize)>| Cursor { parts: parts.into_iter(), phase: 0, left: 0, start: 0, last: None };
        let ranks = parts.into_iter().map(|(rank, p)| (rank, cursor(p))).collect();
        Self { phases, ranks, totals: (0, 0), cut }
    }

    /// The next access of a rank.
    pub fn see(&mut self, rank: u32, a: &Access) {
        self.totals = (self.totals.0 + 1, self.totals.1.saturating_add(a.size));
        let Some(c) = self.ranks.get_mut(&rank) else { return };
        if c.left == 0 {
            let Some((accesses, phase)) = c.parts.next() else { return };
            (c.left, c.phase, c.start, c.last) = (accesses, phase, a.offset, None);
        }
        c.left -= 1;
        let Some(p) = self.phases.get_mut(c.phase) else { return };
        let at = distance(c.start, a);
        match &c.last {
            None => {
                p.phase.walks += 1;
                p.starts.entry(rank).or_insert(a.offset);
                p.block = gcd(p.block, a.offset);
                if p.phase.usual_bytes == 0 {
                    p.phase.usual_bytes = a.size;
                }
            }
            Some(last) => {
                p.counts.step(distance(c.start, last), at);
                p.follows += u64::from(last.past() == a.offset);
            }
        }
        p.block = gcd(p.block, a.size);
        p.phase.accesses += 1;
        p.phase.bytes = p.phase.bytes.saturating_add(a.size);
        p.phase.low_bytes = p.phase.low_bytes.min(at.0);
        p.phase.high_bytes = p.phase.high_bytes.max(at.0.saturating_add_unsigned(a.size));
        c.last = Some(*a);
        if c.left == 0 {
            p.counts.end(at);
        }
    }

    /// The model of the file.
    pub(super) fn finish(self, file: &str) -> FileModel {
        let block = self.phases.iter().fold(0, |g, p| gcd(g, p.counts.block(p.block))).max(1);
        let mut cut = self.cut;
        let phases = self
            .phases
            .into_iter()
            .filter(|p| p.phase.walks > 0)
            .map(|p| {
                let (phase, whole) = p.finish(block);
                cut |= !whole;
                phase
            })
            .collect();
        FileModel {
            file: file.to_owned(),
            runs: 1,
            accesses: self.totals.0,
            bytes: self.totals.1,
            block_bytes: block,
            cut,
            phases,
        }
    }
}

impl PhaseSample {
    /// The phase, and whether all of it fits.
    fn finish(self, block: u64) -> (Phase, bool) {
        let mut starts: Vec<Start> = Vec::new();
        let mut cut = false;
        for (&rank, &offset) in &self.starts {
            let at = offset / block;
            if let Some(s) = starts.last_mut()
                && u64::from(rank) == u64::from(s.rank) + s.ranks
                && goes_on(s.block as i64, &mut s.step, &mut s.ranks, at as i64)
            {
                continue;
            }
            if starts.len() == MOST_STARTS {
                cut = true;
                break;
            }
            starts.push(Start { rank, ranks: 1, block: at, step: 0 });
        }
        let mut phase = self.phase;
        let steps = phase.accesses - phase.walks;
        let (rows, full) = self.counts.finish(block);
        phase.back_to_back = if steps == 0 { 0.0 } else { self.follows as f64 / steps as f64 };
        (phase.starts, phase.rows) = (starts, rows);
        (phase, !full && !cut)
    }
}
