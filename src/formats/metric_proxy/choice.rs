//! Which metrics of a trace are read.

use regex::Regex;

use super::super::options::ReadOptions;
use super::super::rates::{in_order, looks_cumulative};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Op;
use crate::remedy::Remedy;

/// Derivatives that the proxy makes of a metric; the metric itself is better.
const DERIVED: &str = "deriv__";
/// Names of metrics in an error.
const NAMED: usize = 12;

/// What the readings of a metric are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// They add up.
    Counter,
    /// A level, or a rate.
    Level,
}

/// A metric with its samples.
#[derive(Debug, Clone, Default)]
pub(super) struct Metric {
    pub(super) name: String,
    /// Seconds.
    pub(super) times: Vec<f64>,
    /// NaN where there is none.
    pub(super) readings: Vec<f64>,
    /// What they are, if the file says.
    pub(super) known: Option<Values>,
    /// Samples that were read, and how often their times stepped back.
    pub(super) samples: u64,
    pub(super) backwards: u64,
    /// The name is that of the file: the metric does not say its own.
    pub(super) unnamed: bool,
}

/// The facts that `info` lists of a metric, without its samples.
pub(super) type Listed = Metric;

impl Metric {
    /// What the readings are: by the file, by the name, else by their course.
    pub(super) fn values(&self) -> Values {
        const COUNTERS: [&str; 5] = ["__size", "__hits", "__time", "_total", "total___"];
        const LEVELS: [&str; 8] =
            ["_usage", "_temperature", "_free_", "_used_", "_bandwidth_", "_rate", "_frequency", "_seconds"];
        let name = self.base();
        let has = |parts: &[&str]| parts.iter().any(|p| name.contains(p));
        let by_name = match () {
            () if name.starts_with(DERIVED) => Some(Values::Level),
            () if name.starts_with("proxy_") && name.ends_with("_percent") => Some(Values::Level),
            () if has(&COUNTERS) => Some(Values::Counter),
            () if has(&LEVELS) => Some(Values::Level),
            () => None,
        };
        self.known.or(by_name).unwrap_or_else(|| match looks_cumulative(&self.readings) {
            true => Values::Counter,
            false => Values::Level,
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
            && (self.values() == Values::Counter || name.starts_with(DERIVED))
    }

    /// Reads only if the name says so.
    pub(super) fn op(&self) -> Op {
        let name = self.base();
        let reads = (name.contains("read") || name.contains("receive")) && !name.contains("write");
        if reads { Op::Read } else { Op::Write }
    }

    /// What was counted after the first reading; a counter that falls has begun again at 0.
    pub(super) fn increase(&self) -> f64 {
        let mut there = self.readings.iter().copied().filter(|x| x.is_finite());
        let Some(mut last) = there.next() else { return 0.0 };
        let mut sum = 0.0;
        for x in there {
            sum += if x < last { x.max(0.0) } else { x - last };
            last = x;
        }
        sum
    }

    /// True for what is read if nothing was chosen: bytes of I/O that are counted.
    fn suits(&self) -> bool {
        let name = self.base();
        let io = name.contains("size") && (name.contains("write") || name.contains("io"));
        io && self.values() == Values::Counter && self.increase() > 0.0
    }
}

/// Takes metrics as they are read, and keeps those that are wanted.
pub(super) struct Choice {
    /// `None`: the one that suits best.
    wanted: Option<Regex>,
    derived: bool,
    text: String,
    kept: Vec<Metric>,
    /// The first metric of a file, which needs no choice if there is no other.
    only: Option<Metric>,
    all: Vec<Listed>,
    /// Samples are kept for the list, too.
    lists: bool,
}

impl Choice {
    /// # Errors
    /// [`ErrorKind::Usage`] if the names are too long for an expression.
    pub(super) fn new(options: &ReadOptions) -> Result<Choice> {
        let text = options.metric.clone().unwrap_or_default();
        let expression = regex::escape(&text).replace(r"\*", ".*").replace(r"\?", ".");
        let wanted = options.metric.as_ref().map(|_| Regex::new(&format!("^(?s:{expression})$"))).transpose();
        let wanted = wanted.map_err(|e| Error::new(ErrorKind::Usage, format!("the name of the metric: {e}")))?;
        let derived = text.starts_with(DERIVED);
        Ok(Choice { wanted, derived, text, kept: Vec::new(), only: None, all: Vec::new(), lists: options.all_layers })
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
            Some(wanted) if derived == self.derived && wanted.is_match(&metric.name) => self.kept.push(metric),
            Some(_) => {}
            None if derived || !metric.suits() => {}
            None => match self.kept.last() {
                Some(best) if best.increase() >= metric.increase() => {}
                _ => self.kept = vec![metric],
            },
        }
    }

    /// The metrics that were met, without derivatives, in the order of their names; with samples only if a list is wanted.
    pub(super) fn listed(&mut self) -> Vec<Listed> {
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
            Some(_) => format!("no metric is called {}", self.text),
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
