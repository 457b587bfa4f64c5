//! The answer of a rule, before it becomes a finding.

use super::evidence::Filter;
use super::report::MATTERS;
use crate::facts::Row;
use crate::record::FileId;

/// How sure the measured values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Sureness {
    /// From single requests.
    Exact,
    /// From counters.
    #[default]
    Bound,
    /// The cost comes from a model.
    Modelled,
}

/// A file's part in a finding.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    pub file: FileId,
    /// The rank; `None` for all.
    pub rank: Option<u32>,
    /// Requests, calls or files, as the finding counts.
    pub count: u64,
    pub bytes: u64,
    pub time_s: f64,
}

impl Part {
    /// A row of counters, with the calls that count.
    pub fn of(row: &Row<'_, '_>, count: u64, time_s: f64) -> Part {
        Part { file: row.file, rank: row.rank, count, bytes: row.moved(), time_s }
    }
}

/// The answer of a rule that could be checked.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    pub fires: bool,
    /// Numbers behind it, also if it does not fire.
    pub measured: Vec<(&'static str, f64)>,
    /// Time spent in what was found: at most this can be gained.
    pub time_s: Option<f64>,
    /// Time that is spent in it for certain, where `time_s` is modelled.
    pub time_low_s: Option<f64>,
    /// Time that could be gained.
    pub lost_s: Option<f64>,
    pub lost_basis: Option<&'static str>,
    /// Time that can be gained at least, if `lost_s` is an upper bound.
    pub lost_low_s: Option<f64>,
    /// The requests that it is about, where they are recorded.
    pub evidence: Option<Filter>,
    pub sureness: Sureness,
    /// The evidence, in a sentence without its full stop.
    pub detail: String,
    /// The files, in any order.
    pub parts: Vec<Part>,
    /// The parts are of the table of counters, not of the trace.
    pub of_counters: bool,
    /// The cost is not only I/O, but also work that has to be done again.
    pub costs_work: bool,
}

impl Outcome {
    /// An outcome that fires or not.
    pub fn new(fires: bool) -> Outcome {
        Outcome { fires, of_counters: true, ..Outcome::default() }
    }

    pub fn measured(mut self, values: &[(&'static str, f64)]) -> Outcome {
        self.measured.extend_from_slice(values);
        self
    }

    pub fn time(self, time_s: f64) -> Outcome {
        self.maybe_time(Some(time_s))
    }

    /// As [`time`](Self::time), if it is known.
    pub fn maybe_time(mut self, time_s: Option<f64>) -> Outcome {
        self.time_s = time_s;
        self
    }

    /// Time of which it is an unknown part: its cost is known if that is little.
    pub fn at_most(self, time_s: f64, run_s: f64) -> Outcome {
        self.maybe_time(Some(time_s).filter(|s| *s < MATTERS * run_s))
    }

    /// Time that is spent in it for certain.
    pub fn time_low(mut self, time_s: f64) -> Outcome {
        self.time_low_s = Some(time_s);
        self
    }

    pub fn lost(mut self, lost_s: f64, basis: &'static str) -> Outcome {
        (self.lost_s, self.lost_basis) = (Some(lost_s), Some(basis));
        self
    }

    pub fn lost_low(mut self, lost_low_s: f64) -> Outcome {
        self.lost_low_s = Some(lost_low_s);
        self
    }

    /// As [`lost`](Self::lost), if it is known.
    pub fn maybe_lost(self, lost_s: Option<f64>, basis: &'static str) -> Outcome {
        match lost_s {
            Some(lost_s) => self.lost(lost_s, basis),
            None => self,
        }
    }

    /// The cost is not only I/O, but also work that has to be done again.
    pub fn with_work(mut self) -> Outcome {
        self.costs_work = true;
        self
    }

    /// The same with costs of at most the time that the I/O takes, since bursts and windows may contain other time, and with no
    /// more to gain than is spent.
    pub fn within(mut self, io_s: Option<f64>) -> Outcome {
        if self.costs_work {
            return self;
        }
        let most = |cost: &mut Option<f64>, most: Option<f64>| *cost = cost.map(|s| s.min(most.unwrap_or(s)));
        [&mut self.time_s, &mut self.time_low_s, &mut self.lost_s].into_iter().for_each(|cost| most(cost, io_s));
        most(&mut self.lost_s, self.time_s);
        most(&mut self.lost_low_s, self.lost_s);
        self
    }

    pub fn evidence(mut self, filter: Filter) -> Outcome {
        self.evidence = Some(filter);
        self
    }

    /// The sentence, which costs time to make and is needed only if it fires.
    pub fn detail(mut self, text: impl FnOnce() -> String) -> Outcome {
        if self.fires {
            self.detail = text();
        }
        self
    }

    pub fn parts(mut self, parts: Vec<Part>) -> Outcome {
        self.parts = parts;
        self
    }

    pub fn exact(mut self) -> Outcome {
        (self.sureness, self.of_counters) = (Sureness::Exact, false);
        self
    }

    pub fn modelled(mut self) -> Outcome {
        self.sureness = Sureness::Modelled;
        self
    }

    /// A measured value.
    #[cfg(test)]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.measured.iter().find(|v| v.0 == name).map(|v| v.1)
    }
}
