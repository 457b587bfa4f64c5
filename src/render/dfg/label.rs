//! The text of nodes (section IV-B, eq. 10 and 17).

use crate::dfg::NodeReport;
use crate::render::units;

/// The activity, its load, and its data rate if it moves bytes.
pub(super) fn lines(n: &NodeReport) -> Vec<String> {
    let mut lines = vec![n.activity.clone(), load(n)];
    lines.extend(rate(n));
    lines
}

/// `Load: 0.35 (14.98 kB)`: the share of all durations and the bytes.
pub(super) fn load(n: &NodeReport) -> String {
    let share = n.relative_duration.map_or("?".into(), |r| format!("{r:.2}"));
    if n.bytes > 0 { format!("Load: {share} ({})", units::bytes(n.bytes as f64)) } else { format!("Load: {share}") }
}

/// `DR: 2x10.1 MB/s`: the maximum concurrency and the rate of one process.
pub(super) fn rate(n: &NodeReport) -> Option<String> {
    let rate = n.data_rate_bytes_per_s.filter(|_| n.bytes > 0)?;
    Some(format!("DR: {}x{}", n.max_concurrency, units::rate(rate)))
}
