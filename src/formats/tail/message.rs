//! Messages of a trace that grows.

use crate::record::Interval;

/// Transfers that come at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// The job, where the message names one.
    pub job: Option<String>,
    /// Ranks of the job, if the message has them.
    pub ranks: Option<u64>,
    /// The transfers, with times on the trace's own clock; may be none.
    pub transfers: Vec<Interval>,
}

/// Messages that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Faults {
    /// Lines or values that are no messages.
    pub malformed: u64,
    /// The error of the first.
    pub first: Option<String>,
}

impl Faults {
    /// Counts one; the first is described.
    pub fn add(&mut self, what: impl FnOnce() -> String) {
        self.malformed += 1;
        if self.first.is_none() {
            self.first = Some(what());
        }
    }
}
