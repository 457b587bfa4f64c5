//! Readings that are in memory.

use super::sheet::{Group, Meaning, Sheet};
use crate::error::Result;
use crate::formats::options::ReadOptions;
use crate::formats::probe::KeptRows;
use crate::formats::rates::{Stamp, ValueKind};
use crate::record::{Op, Trace};

/// Values at times, as columns.
#[derive(Debug, Clone)]
pub struct Readings {
    /// Seconds since `origin_s`.
    pub times: Vec<f64>,
    /// Values of reads or writes, NaN where unknown: as many as times.
    pub columns: Vec<(Op, Vec<f64>)>,
    /// Meaning of the values; `None`: rates, as nothing says.
    pub kind: Option<ValueKind>,
    /// Which step a rate or an amount belongs to.
    pub stamp: Stamp,
    /// The usual step in seconds; `None`: as the times show.
    pub step_s: Option<f64>,
    /// Whole seconds that the times count from.
    pub origin_s: i64,
    /// Whether nothing says that the columns are writes.
    pub direction_unknown: bool,
}

impl Readings {
    /// The trace that a table of these readings gives.
    ///
    /// # Errors
    /// As [`Format::read`](crate::formats::Format::read).
    pub fn trace(self, format: &'static str) -> Result<Trace> {
        let (ops, columns): (Vec<Op>, Vec<Vec<f64>>) = self.columns.into_iter().unzip();
        let mut sheet = Sheet { origin: self.origin_s, unix: self.origin_s != 0, ..Sheet::default() };
        (sheet.direction_unknown, sheet.kind_unknown) = (self.direction_unknown, self.kind.is_none());
        sheet.quality.records_read = self.times.len() as u64;
        sheet.meanings.push(Meaning {
            columns: ops.into_iter().map(|op| (op, String::new())).collect(),
            kind: self.kind.unwrap_or_default(),
            stamp: self.stamp,
            first_is_mean: false,
        });
        sheet.groups.push(Group { times: self.times, columns, ..Group::default() });
        let mut options = ReadOptions::default();
        options.series.step_s = self.step_s;
        let rows = KeptRows::default();
        let trace = sheet.give(&options, format, &rows)?;
        Ok(rows.in_trace(trace))
    }
}
