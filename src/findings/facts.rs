//! Facts of a trace that several rules use.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::bursts::Bursts;
use super::report::MATTERS;
use super::requests::RequestFacts;
use super::system::System;
use super::targets::Targets;
use crate::analysis::Report;
use crate::classify::{self, Advice, Classes, FileClasses};
use crate::facts::{Counted, IoFacts, Measure};
use crate::record::{CounterModule, Counters, Data, FileId, Requests, Series, Trace};

/// Answers on a trace that are there already.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// Periods.
    pub report: Option<&'a Report>,
    /// Access classes of all transfers, for the stripe unit of the options.
    pub classes: Option<&'a Classes>,
}

/// Everything that rules look at.
pub(super) struct Facts<'a> {
    pub trace: &'a Trace,
    pub counters: Option<&'a Counters>,
    pub posix: Option<Counted<'a>>,
    pub mpiio: Option<Counted<'a>>,
    pub stdio: Option<Counted<'a>>,
    /// Processes of the job.
    pub ranks: u64,
    pub run_s: f64,
    /// Stripe unit in bytes, unless a file has its own.
    pub stripe: u64,
    /// Time in I/O.
    pub io: IoFacts,
    pub requests: Option<RequestFacts>,
    /// Storage targets, where layouts are known.
    pub targets: Option<Targets>,
    pub report: Option<&'a Report>,
    /// Bursts of the writes and of the reads, where they have a period.
    pub bursts: [Option<Bursts>; 2],
    /// The machine, as the user describes it.
    pub system: System,
    /// Mean time between failures of the job, from the user.
    pub mtbf_s: Option<f64>,
    known_classes: Option<&'a Classes>,
    /// The advice of the access classes of files that a rule has asked for.
    advice: RefCell<HashMap<FileId, Rc<[Advice]>>>,
    /// Of the files of the trace, and of those of the counters.
    series: [OnceCell<Series>; 2],
}

impl<'a> Facts<'a> {
    /// The facts of a trace; `with_requests` also those of its requests.
    #[cfg(test)]
    pub fn of(trace: &'a Trace, known: Known<'a>, stripe: u64, with_requests: bool) -> Facts<'a> {
        let requests = with_requests.then(|| RequestFacts::of(trace, stripe)).flatten();
        Facts::with(trace, known, stripe, (requests, IoFacts::of(trace)))
    }

    /// The facts of a trace, of which those of its requests and its time in I/O are there.
    pub fn with(
        trace: &'a Trace,
        known: Known<'a>,
        stripe: u64,
        (requests, io): (Option<RequestFacts>, IoFacts),
    ) -> Facts<'a> {
        let report = known.report;
        let counters = trace.counters.as_deref();
        let table = |module| counters.and_then(|c| Counted::by(c, module));
        let mut facts = Facts {
            trace,
            counters,
            posix: table(CounterModule::Posix),
            mpiio: table(CounterModule::Mpiio),
            stdio: table(CounterModule::Stdio),
            ranks: trace.ranks.max(1),
            run_s: io.time.run_s,
            stripe,
            io,
            requests,
            targets: None,
            report,
            bursts: report.map_or([None, None], |r| Bursts::of(trace, r)),
            system: System::default(),
            mtbf_s: None,
            known_classes: known.classes,
            advice: RefCell::default(),
            series: Default::default(),
        };
        facts.targets = match (&facts.requests, counters, facts.rows(), &facts.posix) {
            (Some(_), Some(c), Some(rows), _) => Targets::of(trace, rows, c),
            (None, Some(c), _, Some(posix)) => Targets::of_files(posix, c),
            _ => None,
        };
        facts
    }

    /// Adds what the user knows of the machine. The failure rate of the job follows from that of its nodes.
    pub fn describe(&mut self, system: System, mtbf_s: Option<f64>) {
        self.system = system;
        let of_nodes = self.system.node_mtbf_h.zip(self.nodes()).map(|(hours, nodes)| 3600.0 * hours / nodes as f64);
        self.mtbf_s = mtbf_s.or(of_nodes);
    }

    /// The requests of the trace.
    pub fn rows(&self) -> Option<&'a Requests> {
        match &self.trace.data {
            Data::Requests(rows) => Some(rows),
            Data::Intervals(_) => None,
        }
    }

    /// Access classes of some files, if the trace has requests with offsets.
    pub fn classes_of(&self, files: &HashSet<FileId>) -> Vec<Cow<'a, FileClasses>> {
        if self.requests.is_none() || files.is_empty() {
            return Vec::new();
        }
        if let Some(known) = self.known_classes {
            let names: HashSet<&str> = files.iter().map(|id| self.trace.files.name(*id)).collect();
            let wanted = |c: &&FileClasses| c.file.as_deref().is_some_and(|name| names.contains(name));
            return known.files.iter().filter(wanted).map(Cow::Borrowed).collect();
        }
        let options = classify::Options { stripe: self.stripe, ..classify::Options::default() };
        classify::classify_files(self.trace, files, options)
            .map_or(Vec::new(), |all| all.into_iter().map(Cow::Owned).collect())
    }

    /// The advice of the access classes of a file.
    pub fn advice_of(&self, file: FileId) -> Rc<[Advice]> {
        let of_file = || {
            let classes = self.classes_of(&HashSet::from([file]));
            classes.iter().flat_map(|c| &c.global).flat_map(|g| &g.advice).cloned().collect()
        };
        self.advice.borrow_mut().entry(file).or_insert_with(of_file).clone()
    }

    /// Nodes of the job, from the user or where the trace names the host of each rank.
    pub fn nodes(&self) -> Option<u64> {
        let hosts: std::collections::HashSet<&str> = self.trace.hosts.values().map(|h| &**h).collect();
        self.system.nodes.or((!hosts.is_empty()).then_some(hosts.len() as u64))
    }

    /// Time that the I/O takes at most: that of the slowest rank, or that in which at least one rank is in a request if this is
    /// longer; `None` if the trace does not say.
    pub fn io_most_s(&self) -> Option<f64> {
        let io = &self.io.time;
        io.slowest_s.map(|s| s.high).into_iter().chain(io.wall_s).reduce(f64::max)
    }

    /// The same of reads and writes alone: one rank may have done them all.
    pub fn transfers_most_s(&self) -> Option<f64> {
        let io = &self.io.time;
        let of_all = (io.mean_read_s? + io.mean_write_s?) * self.ranks as f64;
        io.slowest_s.map(|s| s.high.min(of_all)).into_iter().chain(io.wall_s).reduce(f64::max)
    }

    /// True if metadata, and not transfers, make most of what the slowest rank spends beyond the mean.
    pub fn excess_is_metadata(&self) -> bool {
        let Some(outer) = &self.io.outer else { return false };
        let (of, mean) = (outer.of_busiest(), outer.mean_s);
        of[2] - mean[2] > (of[0] + of[1]) - (mean[0] + mean[1])
    }

    /// Whether the ranks move the same bytes, within a tenth: by their single requests, else by the counters of POSIX; `None` if neither
    /// tells.
    pub fn bytes_are_equal(&self) -> Option<bool> {
        const TENTH: f64 = 1.1;
        if let Some(q) = &self.requests {
            return Some(q.rank_bytes_max_over_mean < TENTH);
        }
        let posix = self.posix.as_ref().filter(|_| self.io.time.layer.as_deref() != Some("daos"))?;
        let (mut own, mut shared_differ) = (BTreeMap::<u32, u64>::new(), false);
        for row in posix.rows().filter(|row| row.moved() > 0) {
            match row.rank {
                Some(rank) => *own.entry(rank).or_default() += row.moved(),
                None if !posix.measures(Measure::BytesVariance) => return None,
                None => {
                    let mean = row.moved() as f64 / self.ranks as f64;
                    shared_differ |= row.measure(Measure::BytesVariance).sqrt() > (TENTH - 1.0) * mean;
                }
            }
        }
        let (most, sum) = (own.values().copied().max().unwrap_or(0), own.values().sum::<u64>());
        Some(!shared_differ && most as f64 * self.ranks as f64 <= TENTH * sum as f64)
    }

    /// True if all I/O together is not worth a finding: it is recorded whole and takes less than 1 % of the run.
    pub fn is_negligible(&self) -> bool {
        self.io.time.share_range.is_some_and(|s| s.high < MATTERS)
    }

    /// Name of a file of the counters.
    pub fn name(&self, file: FileId) -> &str {
        self.counters.map_or("", |c| c.files.name(file))
    }

    /// The series of the files of the trace, or of those of the counters.
    pub fn series(&self, of_counters: bool) -> &Series {
        let made = || match self.counters.filter(|_| of_counters) {
            Some(c) => Series::of(&c.files),
            None => Series::of(&self.trace.files),
        };
        self.series[usize::from(of_counters)].get_or_init(made)
    }
}

/// Reads, then writes.
pub(super) const WORDS: [&str; 2] = ["reads", "writes"];

/// Time by rank, of which the critical rank's counts.
#[derive(Debug, Default)]
pub(super) struct RankTime {
    private: BTreeMap<u32, f64>,
    shared: f64,
}

impl RankTime {
    /// Adds the time of a rank, or the sum over all `n` ranks.
    pub fn add(&mut self, rank: Option<u32>, time_s: f64, n: u64) {
        match rank {
            Some(k) => *self.private.entry(k).or_default() += time_s,
            None => self.shared += time_s / n as f64,
        }
    }

    /// That of the rank with the most.
    pub fn critical(&self) -> f64 {
        self.private.values().copied().fold(0.0, f64::max) + self.shared
    }
}

/// `a / b`, 0 if there is nothing.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}
