//! Metadata calls over time.

use std::collections::BTreeMap;

use crate::facts::{Count, Counted, Measure};
use crate::record::{CounterModule, Trace};

/// Calls on paths by second.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MetadataCalls {
    /// The calls that are counted, in words.
    pub what: &'static str,
    /// Calls of all ranks in each second of the trace's own clock; seconds without calls have no entry.
    pub by_second: BTreeMap<i64, u64>,
}

impl MetadataCalls {
    /// All calls that look up a path where single calls are recorded; else, from counters, the first opens of files of single ranks.
    /// `None` if the trace has neither.
    pub fn of(trace: &Trace) -> Option<MetadataCalls> {
        if let Some(l) = &trace.lookups {
            return Some(MetadataCalls { what: "calls with a path", by_second: l.by_second.clone() });
        }
        let t = Counted::by(trace.counters.as_deref()?, CounterModule::Posix)?;
        if !t.measures(Measure::OpenStart) {
            return None;
        }
        let mut by_second = BTreeMap::new();
        for row in t.rows().filter(|row| row.rank.is_some()) {
            let start = row.measure(Measure::OpenStart);
            if start > 0.0 && start < i64::MAX as f64 && row.known(Count::Opens).is_none_or(|n| n > 0) {
                *by_second.entry(start.floor() as i64).or_insert(0) += 1;
            }
        }
        Some(MetadataCalls { what: "first opens of files of single ranks", by_second })
    }

    /// Calls per second on a grid of at most `cells` values: the start of the first, seconds of each, and the rates, each the largest
    /// of its seconds. `None` without calls.
    pub fn rates(&self, cells: usize) -> Option<(f64, f64, Vec<f64>)> {
        let (&first, _) = self.by_second.first_key_value()?;
        let (&last, _) = self.by_second.last_key_value()?;
        let seconds = last.abs_diff(first).saturating_add(1);
        let group = seconds.div_ceil(cells.max(1) as u64);
        let mut rates = vec![0.0f64; usize::try_from(seconds.div_ceil(group)).ok()?];
        for (second, n) in &self.by_second {
            let cell = &mut rates[(second.abs_diff(first) / group) as usize];
            *cell = cell.max(*n as f64);
        }
        Some((first as f64, group as f64, rates))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_share_a_cell_with_the_largest_of_them() {
        let calls = |all: &[(i64, u64)]| MetadataCalls { what: "", by_second: all.iter().copied().collect() };
        assert_eq!(calls(&[(-1, 3), (1, 5)]).rates(10), Some((-1.0, 1.0, vec![3.0, 0.0, 5.0])));
        assert_eq!(calls(&[(0, 3), (1, 5), (4, 1)]).rates(3), Some((0.0, 2.0, vec![5.0, 0.0, 1.0])));
        assert!(calls(&[]).rates(3).is_none());
        assert_eq!(calls(&[(i64::MIN, 1), (i64::MAX, 2)]).rates(4).map(|r| r.2.len()), Some(4));
    }
}
