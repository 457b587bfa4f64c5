//! HEATMAP: bytes read and written in bins of fixed width, for every process and layer.

use super::region::Region;
use crate::error::Result;
use crate::formats::bytes::{ByteOrder, Cursor};
use crate::record::{Layer, is_time};

/// Bytes of what comes before the bins.
const RECORD_BYTES: usize = 48;

/// One record: one process, one layer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatmapRecord {
    /// Record id; its name is that of the layer.
    pub id: u64,
    /// Rank as stored.
    pub rank: i64,
    /// Width of a bin in seconds; bin `k` covers `[k·bin_s, (k+1)·bin_s)`.
    pub bin_s: f64,
    /// Bytes written in each bin.
    pub written: Vec<i64>,
    /// Bytes read in each bin; as many bins.
    pub read: Vec<i64>,
}

/// The layer that the name of a record id stands for; `None` for DFS, DAOS and unknown ones.
pub(super) fn layer(name: &str) -> Option<Layer> {
    match name.strip_prefix("heatmap:")? {
        "POSIX" => Some(Layer::Posix),
        "MPIIO" => Some(Layer::Mpiio),
        "STDIO" => Some(Layer::Stdio),
        _ => None,
    }
}

/// Gives every record of a region to `f`; returns the bytes after the last whole one.
///
/// Releases 3.4.0 to 3.4.3 could write one bin more or less for some processes than for others; every record is given as it is.
pub(super) fn walk(
    region: &mut Region,
    order: ByteOrder,
    mut f: impl FnMut(&HeatmapRecord) -> Result<()>,
) -> Result<u64> {
    let mut record = HeatmapRecord::default();
    loop {
        let w = region.window(RECORD_BYTES)?;
        let Some(bytes) = w.get(..RECORD_BYTES) else {
            return Ok(w.len() as u64);
        };
        // The last 16 bytes are stale pointers of the writer.
        let s = Cursor::record(bytes, order);
        let (id, rank, bin_s, bins) = (s.u64_at(0), s.i64_at(8), s.f64_at(16), s.i64_at(24));
        (record.id, record.rank, record.bin_s) = (id, rank, bin_s);
        if !(bin_s.is_finite() && bin_s > 0.0) {
            return Err(region.malformed(format!("bins of {bin_s} seconds")).expected("a width above 0"));
        }
        let room = region.room() / 16;
        let Some(bins) = u64::try_from(bins).ok().filter(|&n| n <= room) else {
            return Err(region.malformed(format!("a record of {bins} bins")).expected("bins that fit into the region"));
        };
        if !is_time(bin_s * bins as f64) {
            return Err(region
                .malformed(format!("{bins} bins of {bin_s} seconds"))
                .expected("a run of at most 1e12 s"));
        }
        region.consume(RECORD_BYTES);
        for series in [&mut record.written, &mut record.read] {
            series.clear();
            let mut left = bins;
            while left > 0 {
                let w = region.window(8)?;
                let n = ((w.len() / 8) as u64).min(left) as usize;
                if n == 0 {
                    return Err(region.malformed(format!("{left} bins are missing")));
                }
                series.extend(w[..8 * n].chunks_exact(8).map(|bytes| Cursor::record(bytes, order).i64_at(0)));
                region.consume(8 * n);
                left -= n as u64;
            }
        }
        f(&record)?;
    }
}
