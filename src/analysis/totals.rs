//! Sums over the rows of a trace.

use crate::record::{Data, Extent, Op};
use crate::signal::Sum;

/// Sums over rows, which may come in batches.
#[derive(Debug, Default, Clone)]
pub(super) struct Totals {
    /// Rows.
    pub records: u64,
    /// First start and last end, on the trace's own clock.
    pub extent: Extent,
    /// Bytes of requests read and written.
    moved: [u128; 2],
    /// Bytes of intervals, which need not be whole.
    amounts: [Sum; 2],
}

impl Totals {
    /// Those of rows whose times are relative to `origin_s`.
    pub fn of(rows: &Data, origin_s: i64) -> Totals {
        let mut totals = Totals { records: rows.len() as u64, extent: rows.extent(origin_s), ..Totals::default() };
        for (d, op) in [Op::Read, Op::Write].into_iter().enumerate() {
            match rows {
                Data::Requests(r) => {
                    let of_op = r.op.iter().zip(r.size.iter()).filter(|(o, _)| *o == op);
                    totals.moved[d] = of_op.map(|(_, size)| u128::from(size)).sum();
                }
                Data::Intervals(i) => {
                    let of_op = i.op.iter().zip(&i.bytes).filter(|(o, _)| *o == op);
                    totals.amounts[d] = of_op.map(|(_, b)| *b).collect();
                }
            }
        }
        totals
    }

    /// Adds those of other rows.
    pub fn add(&mut self, other: &Totals) {
        let joined = |a: Option<f64>, b: Option<f64>, of: fn(f64, f64) -> f64| a.into_iter().chain(b).reduce(of);
        self.records += other.records;
        self.extent =
            (joined(self.extent.0, other.extent.0, f64::min), joined(self.extent.1, other.extent.1, f64::max));
        for d in 0..2 {
            self.moved[d] += other.moved[d];
            self.amounts[d].join(other.amounts[d]);
        }
    }

    /// Bytes read or written.
    pub fn bytes(&self, op: Op) -> u64 {
        let d = usize::from(op == Op::Write);
        let moved = u64::try_from(self.moved[d]).unwrap_or(u64::MAX);
        moved.saturating_add(self.amounts[d].value().round() as u64)
    }
}
