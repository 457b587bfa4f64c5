//! Rows gathered into the chunks that TMIO flushes: the phases of each mode and the sums over them.

use std::collections::HashMap;

use super::super::phases::Mode;
use super::super::write::Written;
use crate::error::Result;
use crate::record::{Op, Row, Rows};

/// Phases of a chunk, of all modes together.
const CHUNK: usize = 1 << 16;

/// A phase of one rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Phase {
    pub(super) bytes: f64,
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Phase {
    /// Bytes per second; 0 without a duration.
    pub(super) fn rate(&self) -> f64 {
        let rate = self.bytes / (self.end - self.start);
        if rate.is_finite() { rate } else { 0.0 }
    }
}

/// The phases of a mode in a chunk.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) phases: Vec<Phase>,
    /// Bytes and phases of each rank.
    ranks: HashMap<u32, (f64, u64)>,
}

impl Section {
    pub(super) fn bytes(&self) -> f64 {
        self.phases.iter().map(|p| p.bytes).sum()
    }

    /// Seconds of all phases together.
    pub(super) fn seconds(&self) -> f64 {
        self.phases.iter().map(|p| p.end - p.start).sum()
    }

    pub(super) fn most_bytes_of_a_phase(&self) -> f64 {
        self.phases.iter().map(|p| p.bytes).fold(0.0, f64::max)
    }

    pub(super) fn most_bytes_of_a_rank(&self) -> f64 {
        self.ranks.values().map(|r| r.0).fold(0.0, f64::max)
    }

    pub(super) fn most_phases_of_a_rank(&self) -> u64 {
        self.ranks.values().map(|r| r.1).max().unwrap_or(0)
    }

    /// Ranks with I/O.
    pub(super) fn ranks(&self) -> u64 {
        self.ranks.len() as u64
    }
}

/// A chunk: the sections of reads and writes, synchronous and asynchronous.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    sections: [Section; 4],
}

impl Chunk {
    pub(super) fn section(&self, mode: Mode) -> &Section {
        &self.sections[mode.index()]
    }

    fn len(&self) -> usize {
        self.sections.iter().map(|s| s.phases.len()).sum()
    }

    /// Empties the sections and keeps their room.
    fn clear(&mut self) {
        for s in &mut self.sections {
            s.phases.clear();
            s.ranks.clear();
        }
    }
}

/// Goes through all rows and hands whole chunks to `write`; every request is a phase of its own. The last chunk may be shorter.
/// Phases without duration are kept only if `keep_points`.
pub(super) fn each_chunk(
    rows: &dyn Rows,
    keep_points: bool,
    mut write: impl FnMut(&Chunk) -> Result<()>,
) -> Result<Written> {
    let mut written = Written::default();
    let mut chunk = Chunk::default();
    let (mut others, mut points, mut requests) = (0, 0, 0);
    rows.visit(&mut |row| {
        let (op, (start, end)) = (row.op(), row.span());
        let (bytes, asynchronous) = match row {
            Row::Request(r) => {
                requests += 1;
                (r.size as f64, false)
            }
            Row::Interval(i) => (i.bytes, i.asynchronous),
        };
        if !matches!(op, Op::Read | Op::Write) {
            others += 1;
            return Ok(());
        }
        if end <= start && bytes > 0.0 && !keep_points {
            points += 1;
            return Ok(());
        }
        let section = &mut chunk.sections[Mode { op, asynchronous }.index()];
        section.phases.push(Phase { bytes, start, end });
        let rank = section.ranks.entry(row.rank()).or_default();
        *rank = (rank.0 + bytes, rank.1 + 1);
        written.rows += 1;
        if chunk.len() >= CHUNK {
            write(&chunk)?;
            chunk.clear();
        }
        Ok(())
    })?;
    if chunk.len() > 0 {
        write(&chunk)?;
    }
    written.note(requests, "requests-as-phases", |n| {
        format!("{n} requests are written as phases, which have neither rank, file nor offset")
    });
    written.note(others, "no-transfers", |n| format!("{n} rows move no bytes and are left out"));
    written.note(points, "zero-duration", |n| {
        format!("{n} rows have no duration, so that no bytes follow from their rates; they are left out")
    });
    written.note(u64::from(rows.origin_s() != 0), "clock-moved", |_| {
        format!("times are written as seconds since second {} of the trace's clock", rows.origin_s())
    });
    Ok(written)
}
