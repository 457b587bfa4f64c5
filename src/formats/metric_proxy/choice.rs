//! Which metrics of a trace are read.

use super::super::io_names::matches;
use super::super::options::ReadOptions;
use super::super::rates::{Spread, Stamp, ValueKind, in_order, looks_cumulative, median_step, spread};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Op;
use crate::remedy::Remedy;

/// Derivatives that the proxy makes of a metric; the metric itself is better.
const DERIVED: &str = "deriv__";
/// Names of metrics in an error.
const NAMED: usize = 12;

/// A metric with its samples.
#[derive(Debug, Clone, Default)]
pub(super) struct Metric {
    pub(super) name: String,
    /// Seconds.
    pub(super) times: Vec<f64>,
    /// NaN where there is none.
    pub(super) readings: Vec<f64>,
    /// Meaning of the readings, if the file says.
    pub(super) known: Option<ValueKind>,
    /// Samples that were read, and how often their times stepped back.
    pub(super) samples: u64,
    pub(super) backwards: u64,
    /// The name is that of the file: the metric does not say its own.
    pub(super) unnamed: bool,
}

impl Metric {
    /// Meaning of the readings: by the file, by the name, else by their course.
    pub(super) fn values(&self) -> ValueKind {
        const COUNTERS: [&str; 5] = ["__size", "__hits", "__time", "_total", "total___"];
        const LEVELS: [&str; 8] =
            ["_usage", "_temperature", "_free_", "_used_", "_bandwidth_", "_rate", "_frequency", "_seconds"];
        let name = self.base();
        let has = |parts: &[&str]| parts.iter().any(|p| name.contains(p));
        let by_name = match () {
            () if name.starts_with(DERIVED) => Some(ValueKind::Rate),
            () if name.starts_with("proxy_") && name.ends_with("_percent") => Some(ValueKind::Rate),
            () if has(&COUNTERS) => Some(ValueKind::Cumulative),
            () if has(&LEVELS) => Some(ValueKind::Rate),
            () => None,
        };
        self.known.or(by_name).unwrap_or_else(|| match looks_cumulative(&self.readings) {
            true => ValueKind::Cumulative,
            false => ValueKind::Rate,
        })
    }

    /// Brings the samples into the order of their times. Of readings of the same time the last one counts: counters only grow.
    fn order(&mut self) {
        self.samples = self.times.len() as u64;
        let (times, readings) = (&mut self.times, &mut self.readings);
        let mut kept = 0;
        for i in 1..times.len() {
            kept += usize::from(times[i] != times[kept]);
            (times[kept], readings[kept]) = (times[i], readings[i]);
        }
        times.truncate(kept + 1);
        readings.truncate(kept + 1);
        self.backwards = in_order(times, std::slice::from_mut(readings)).0;
    }

    /// The name without labels.
    fn base(&self) -> &str {
        self.name.split('{').next().unwrap_or_default()
    }

    /// True if the amount is bytes, as far as the name shows.
    pub(super) fn is_bytes(&self) -> bool {
        let name = self.base();
        (self.unnamed || name.contains("size") || name.contains("bytes"))
            && (self.values() == ValueKind::Cumulative || name.starts_with(DERIVED))
    }

    /// Reads only if the name says so.
    pub(super) fn op(&self) -> Op {
        let name = self.base();
        let reads = (name.contains("read") || name.contains("receive")) && !name.contains("write");
        if reads { Op::Read } else { Op::Write }
    }

    /// Sum of the increases after the first reading.
    pub(super) fn increase(&self) -> f64 {
        let step_s = median_step(&self.times).unwrap_or(0.0);
        let how = Spread { kind: ValueKind::Cumulative, stamp: Stamp::End, step_s };
        let mut sum = 0.0;
        spread(&self.times, &self.readings, how, |_, _, amount| sum += amount);
        sum
    }

    /// True for what is read if nothing was chosen: bytes of I/O that are counted.
    fn suits(&self) -> bool {
        let name = self.base();
        let io = name.contains("size") && (name.contains("write") || name.contains("io"));
        io && self.values() == ValueKind::Cumulative && self.increase() > 0.0
    }
}

/// Takes metrics as they are read, and keeps those that are wanted.
pub(super) struct Choice {
    /// `None`: the one that suits best.
    wanted: Option<String>,
    kept: Vec<Metric>,
    /// The first metric of a file, which needs no choice if there is no other.
    only: Option<Metric>,
    all: Vec<Metric>,
    /// Samples are kept for the list, too.
    lists: bool,
}

impl Choice {
    pub(super) fn new(options: &ReadOptions) -> Choice {
        let wanted = options.metric.clone();
        Choice { wanted, kept: Vec::new(), only: None, all: Vec::new(), lists: options.all_layers }
    }

    /// Takes a metric with all its samples.
    pub(super) fn offer(&mut self, mut metric: Metric) {
        metric.order();
        let derived = metric.name.starts_with(DERIVED);
        let listed = match self.lists {
            true => metric.clone(),
            false => Metric { name: metric.name.clone(), known: metric.known, ..Metric::default() },
        };
        if !derived {
            self.only = if self.all.is_empty() && self.wanted.is_none() { Some(metric.clone()) } else { None };
            self.all.push(listed);
        }
        match &self.wanted {
            Some(wanted) => {
                if derived == wanted.starts_with(DERIVED) && matches(wanted.as_bytes(), metric.name.as_bytes()) {
                    self.kept.push(metric);
                }
            }
            None if derived || !metric.suits() => {}
            None => match self.kept.last() {
                Some(best) if best.increase() >= metric.increase() => {}
                _ => self.kept = vec![metric],
            },
        }
    }

    /// The metrics that were met, without derivatives, in the order of their names; with samples only if a list is wanted.
    pub(super) fn listed(&mut self) -> Vec<Metric> {
        self.all.sort_by(|a, b| a.name.cmp(&b.name));
        self.all.clone()
    }

    /// The metrics to read.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] if none was found, with the names that there are.
    pub(super) fn chosen(mut self) -> Result<Vec<Metric>> {
        if self.kept.is_empty() {
            self.kept.extend(self.only);
        }
        if !self.kept.is_empty() || self.lists {
            return Ok(self.kept);
        }
        let found = match &self.wanted {
            Some(wanted) => format!("no metric is called {wanted}"),
            None => "no metric counts the bytes of I/O".to_owned(),
        };
        let mut names: Vec<&str> = self.all.iter().map(|m| m.name.as_str()).collect();
        names.sort_by_key(|n| ["size", "write", "read"].iter().position(|word| n.contains(word)).unwrap_or(usize::MAX));
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        let more = if more > 0 { format!(" or {more} more") } else { String::new() };
        Err(Error::new(ErrorKind::Empty, found)
            .expected(format!("one of {}{more}", names.join(", ")))
            .remedy(Remedy::ChooseMetric))
    }
}
