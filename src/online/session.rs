//! One job, followed.

use serde::{Deserialize, Serialize};

use super::prediction::{PREDICTION_SCHEMA, Prediction, WindowSpan};
use crate::record::Op;

/// One transfer, or several added up, as a source hands it over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// [`Op::Read`] or [`Op::Write`]; anything else only moves the clock.
    pub op: Op,
    /// Seconds on the trace's own clock.
    pub start_s: f64,
    /// Seconds on the trace's own clock.
    pub end_s: f64,
    /// Bytes moved.
    pub bytes: f64,
}

/// How a job is followed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Options {}

/// The state of one followed job. Serializes whole: a session that was stored goes on as if nothing had happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    job: Option<String>,
    options: Options,
    sequence: u64,
    now_s: Option<f64>,
}

impl Session {
    /// A session for a job of which nothing is known yet.
    pub fn new(job: Option<String>, options: Options) -> Self {
        Session { job, options, sequence: 0, now_s: None }
    }

    /// Takes transfers, in any order.
    pub fn feed(&mut self, events: &[Event]) {
        for e in events {
            if e.end_s.is_finite() {
                self.now_s = Some(self.now_s.map_or(e.end_s, |t| t.max(e.end_s)));
            }
        }
    }

    /// What the transfers so far say about the next burst.
    pub fn predict(&mut self) -> Prediction {
        let sequence = self.sequence;
        self.sequence += 1;
        Prediction {
            schema: PREDICTION_SCHEMA.into(),
            sequence,
            job: self.job.clone(),
            now_s: self.now_s.unwrap_or(0.0),
            periodic: false,
            mode: None,
            period_s: None,
            period_std_s: None,
            confidence: None,
            cycles: None,
            next_start_s: None,
            next_start_std_s: None,
            next_end_s: None,
            bytes: None,
            bytes_p95: None,
            idle_s: None,
            valid_until_s: None,
            frequency_range: None,
            ranks: None,
            window: WindowSpan { start_s: None, end_s: self.now_s },
            change_point: false,
            change_s: None,
            state: None,
            warnings: Vec::new(),
        }
    }
}
