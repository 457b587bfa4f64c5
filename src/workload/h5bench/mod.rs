//! The workloads of h5bench: how writes and reads of HDF5 datasets become requests to the file.
//!
//! Datasets have a contiguous layout and follow each other behind a header. The library's own requests for metadata are not made.

pub(super) mod exerciser;
pub(super) mod metadata;
mod rounds;
pub(super) mod write;

use super::bounds;
use super::shape::Shape;
use crate::error::{Error, ErrorKind, Result};

/// Bytes that an aggregator of collective writes gathers before it writes them: the default of ROMIO's `cb_buffer_size`.
const GATHER: u64 = 16 << 20;

/// Two-phase collective access to a dataset: ranks that act for all, each in a contiguous part of it.
#[derive(Debug, Clone, Copy)]
struct Aggregators {
    ranks: u64,
    n: u64,
}

impl Aggregators {
    fn new(n: u64, ranks: u64) -> Result<Aggregators> {
        if n > ranks {
            return Err(Error::new(ErrorKind::Usage, format!("{n} aggregators of {ranks} ranks"))
                .expected("no more aggregators than ranks"));
        }
        Ok(Aggregators { ranks, n })
    }

    /// Where a rank begins in a dataset of so many bytes, and what it does there; `None` if it is no aggregator.
    fn part(&self, rank: u32, bytes: u64) -> Option<(u64, Shape)> {
        let a = (0..self.n).find(|a| a * self.ranks / self.n == u64::from(rank))?;
        let part = bytes / self.n;
        Some((a * part, Shape::of(part).cut(GATHER)))
    }

    /// Fails if the parts are not equal.
    fn check(&self, bytes: u64) -> Result<()> {
        let part = bounds::divided(("bytes of a dataset", bytes), ("aggregators", self.n))?;
        bounds::divided(("bytes of an aggregator", part), ("what it gathers", GATHER.min(part))).map(|_| ())
    }
}
