//! The range of amounts: every row passes here on its way from a reader to a sink, so that sums of bytes cannot overflow later.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::record::{Batch, Data, MOST_MOVED, MOST_SIZE, Restart, RowSink};

/// Brings the bytes of rows into range on their way to a sink.
pub(super) struct Gate<'s> {
    sink: &'s dyn RowSink,
    /// Bytes of all rows so far.
    moved: AtomicU64,
    /// Rows whose bytes were above the range.
    clamped: AtomicU64,
}

impl<'s> Gate<'s> {
    pub fn new(sink: &'s dyn RowSink) -> Self {
        Gate { sink, moved: AtomicU64::new(0), clamped: AtomicU64::new(0) }
    }

    /// Rows whose bytes were above the range.
    pub fn clamped(&self) -> u64 {
        self.clamped.load(Ordering::Relaxed)
    }
}

impl RowSink for Gate<'_> {
    fn keeps_rows(&self) -> bool {
        self.sink.keeps_rows()
    }

    fn take(&self, mut batch: Batch<'_>) -> Result<()> {
        let beyond = beyond(&batch.rows);
        if beyond > 0 {
            clamp(batch.rows.to_mut());
            self.clamped.fetch_add(beyond, Ordering::Relaxed);
        }
        let more = batch.rows.moved();
        let before = self.moved.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) > MOST_MOVED {
            return Err(Error::limit("the trace moves more bytes", format!("{MOST_MOVED} bytes")));
        }
        self.sink.take(batch)
    }

    fn restart(&self, why: Restart) {
        if why == Restart::Trace {
            self.moved.store(0, Ordering::Relaxed);
            self.clamped.store(0, Ordering::Relaxed);
        }
        self.sink.restart(why);
    }
}

/// Rows whose bytes are above the range.
fn beyond(rows: &Data) -> u64 {
    let count = match rows {
        Data::Requests(r) => r.size.iter().filter(|n| *n > MOST_SIZE).count(),
        Data::Intervals(i) => i.bytes.iter().filter(|n| **n > MOST_SIZE as f64).count(),
    };
    count as u64
}

fn clamp(rows: &mut Data) {
    match rows {
        Data::Requests(r) => r.size.map_in_place(|n| n.min(MOST_SIZE)),
        Data::Intervals(i) => i.bytes.iter_mut().for_each(|n| *n = n.min(MOST_SIZE as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{ReadOptions, Source, read};

    fn csv(sizes: &[u64]) -> Result<crate::record::Trace> {
        let rows: String = sizes.iter().enumerate().map(|(i, n)| format!("write,{i},{i}.5,{n}\n")).collect();
        read(&Source::from_bytes("x", format!("op,start,end,size\n{rows}")), None, &ReadOptions::default())
    }

    #[test]
    fn bytes_are_brought_into_range() {
        let t = csv(&[1, u64::MAX, MOST_SIZE]).unwrap();
        let Data::Requests(rows) = &t.data else { panic!("no requests") };
        assert_eq!(rows.size.iter().collect::<Vec<_>>(), [1, MOST_SIZE, MOST_SIZE]);
        assert_eq!((t.quality.clamped, t.warnings[0].code.as_str()), (1, "clamped-records"));
    }

    #[test]
    fn sums_of_bytes_do_not_overflow() {
        let most = (MOST_MOVED / MOST_SIZE) as usize;
        assert!(csv(&vec![MOST_SIZE; most]).is_ok());
        let e = csv(&vec![MOST_SIZE; most + 1]).unwrap_err();
        assert_eq!(e.kind(), crate::ErrorKind::Limit, "{e}");
    }
}
