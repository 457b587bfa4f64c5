//! Sums over the events of one activity in one case.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::sequence::Activity;
use super::spans::Spans;

/// Sums by activity, for those that a case has.
pub(super) type StatsOf = HashMap<Activity, Stats, FixedState>;

/// Sums for the statistics of an activity (section IV-B).
#[derive(Debug, Clone, Default)]
pub(super) struct Stats {
    /// Events.
    pub(super) events: u64,
    /// Bytes moved.
    pub(super) bytes: u64,
    /// Sum of the durations in nanoseconds.
    pub(super) duration_ns: u64,
    /// Events whose duration is not known.
    pub(super) untimed: u64,
    /// Sum of the data rates of single events, bytes a second (eq. 11).
    pub(super) rates: f64,
    /// Events that have a data rate: transfers that succeeded, with a duration above zero.
    pub(super) rated: u64,
    /// When they ran.
    pub(super) spans: Spans,
}

impl Stats {
    /// Adds an event; `transfer` is the bytes of a transfer that succeeded.
    pub(super) fn add(&mut self, start_ns: i64, duration_ns: Option<u64>, transfer: Option<u64>) {
        self.events += 1;
        self.untimed += u64::from(duration_ns.is_none());
        let duration = duration_ns.unwrap_or(0);
        self.duration_ns = self.duration_ns.saturating_add(duration);
        if let Some(size) = transfer {
            self.bytes = self.bytes.saturating_add(size);
            if duration > 0 {
                self.rates += size as f64 / (duration as f64 / 1e9);
                self.rated += 1;
            }
        }
        self.spans.push(start_ns, duration);
    }
}
