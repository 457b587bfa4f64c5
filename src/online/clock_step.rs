//! A clock that is set back while a job runs.
//!
//! Other ranks' rows may come late; a rank's own rows of one direction do not, unless its clock was set back or the rows are not in the
//! order of time. So a step is certain once such rows have gone on from an earlier time for as long as a period, from message to message,
//! and none of them has come up to the former end. Rows that go back into the first half of the window are taken for a table sorted by
//! file. Where several ranks send rows that do not say whose they are, nothing is certain.

use serde::{Deserialize, Serialize};

use crate::record::{Interval, Op};

/// What a row shows of the clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// The clock goes on.
    None,
    /// It may have been set back from this row on.
    Begins,
    /// It was set back, to this time.
    Back(f64),
}

/// What is compared with the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Seconds by which rows may be late.
    pub(super) late_s: f64,
    /// Seconds for which rows that are late go on if the clock was set back.
    pub(super) lasts_s: f64,
    /// Start of the window.
    pub(super) start_s: f64,
}

/// See the module.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ClockStep {
    /// Rank of the row that ends last, whether it is a write, and its end.
    latest: Option<(u32, bool, f64)>,
    /// First start and last end since the clock may have been set back, and whether that was in this message.
    back: Option<(f64, f64, bool)>,
    /// Some rows say whose they are.
    has_ranks: bool,
}

impl ClockStep {
    /// Rows of many ranks that do not say whose they are.
    pub(super) fn is_blind(&self, ranks: Option<u64>) -> bool {
        !self.has_ranks && ranks.is_some_and(|n| n > 1)
    }

    /// A message ends, and the next one begins at `start_s`: one that goes back again comes from another sender.
    pub(super) fn message(&mut self, start_s: Option<f64>, late_s: f64) {
        self.back = self.back.filter(|b| start_s.is_none_or(|t| t >= b.1 - late_s)).map(|b| (b.0, b.1, false));
    }

    pub(super) fn take(&mut self, e: &Interval, scale: Option<Scale>) -> Step {
        let writes = e.op == Op::Write;
        self.has_ranks |= e.rank > 0;
        let (Some((rank, wrote, end_s)), Some(scale)) = (self.latest, scale) else {
            self.latest = self.latest.filter(|l| l.2 >= e.end).or(Some((e.rank, writes, e.end)));
            return Step::None;
        };
        if e.end >= end_s - scale.late_s {
            self.back = None;
            if e.end > end_s {
                self.latest = Some((e.rank, writes, e.end));
            }
            return Step::None;
        }
        let in_first_half = e.end >= scale.start_s && e.end < 0.5 * (scale.start_s + end_s);
        if (e.rank, writes) != (rank, wrote) || (self.back.is_none() && in_first_half) {
            return Step::None;
        }
        let Some((first_s, last_s, in_message)) = self.back else {
            self.back = Some((e.start, e.end, true));
            return Step::Begins;
        };
        let last_s = last_s.max(e.end);
        self.back = Some((first_s, last_s, in_message));
        if in_message || last_s - first_s < scale.lasts_s {
            return Step::None;
        }
        (self.latest, self.back) = (Some((e.rank, writes, last_s)), None);
        Step::Back(first_s)
    }
}
