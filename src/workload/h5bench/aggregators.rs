//! Two-phase collective access to a dataset.

use super::super::bounds;
use super::super::nest::Nest;
use crate::error::Result;

/// Bytes that an aggregator gathers before it writes them: the default of ROMIO's `cb_buffer_size`.
const GATHER: u64 = 16 << 20;

/// Ranks that access a dataset on behalf of all, each in a contiguous part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aggregators {
    ranks: u64,
    n: u64,
}

impl Aggregators {
    pub(super) fn new(n: u64, ranks: u64) -> Result<Aggregators> {
        if n > ranks {
            return bounds::usage(format!("{n} aggregators of {ranks} ranks"), "no more aggregators than ranks");
        }
        Ok(Aggregators { ranks, n })
    }

    /// The accesses of a rank in a dataset of `bytes` bytes; `None` if it is no aggregator.
    pub(super) fn part(&self, rank: u32, bytes: u64) -> Option<Nest> {
        let a = (0..self.n).find(|a| a * self.ranks / self.n == u64::from(rank))?;
        let part = bytes / self.n;
        Some(Nest::access(a * part, part).split(GATHER))
    }

    /// Fails if the parts are not equal.
    pub(super) fn check(&self, bytes: u64) -> Result<()> {
        let part = bounds::divided(("bytes of a dataset", bytes), ("aggregators", self.n))?;
        bounds::divided(("bytes of an aggregator", part), ("what it gathers", GATHER.min(part))).map(|_| ())
    }
}
