//! Events of one part of a trace to its cases.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

use super::case::{By, Case, CaseId, Origin};
use super::mapping::Mapping;
use super::sequence::{Activity, Sequence};
use super::stats::StatsOf;
use crate::error::Result;
use crate::record::{Batch, CallId, Calls, Data, FileId, Files, LoggedCall, Request, Restart, RowSink, SplitCall};

/// An event that is not in the graph.
const UNMAPPED: Activity = Activity::MAX;

/// How events become cases.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Calls to activities.
    pub mapping: Mapping,
    /// The unit that makes one case.
    pub by: By,
    /// Only events that start at or after this time, in nanoseconds of the trace's clock.
    pub from_ns: Option<i64>,
    /// Only events that start before this time.
    pub until_ns: Option<i64>,
}

/// Events that are not in the graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// By the mapping or the time window.
    pub unmapped: u64,
    /// Interrupted calls that are made again (section III).
    pub interrupted: u64,
}

impl Skipped {
    /// Adds those of other cases.
    pub fn add(&mut self, more: Skipped) {
        self.unmapped += more.unmapped;
        self.interrupted += more.interrupted;
    }
}

/// One case on its way.
#[derive(Debug, Default)]
struct Open {
    pid: Option<u32>,
    events: u64,
    sequence: Sequence,
    stats: StatsOf,
}

/// An event that waits to be put in order.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    start_ns: i64,
    line: u64,
    task: u32,
    activity: Activity,
    duration_ns: Option<u64>,
    transfer: Option<u64>,
}

/// Takes the logs of calls of all parts of a trace.
#[derive(Debug)]
pub struct Collectors<'p>(Vec<Mutex<Collector<'p>>>);

impl<'p> Collectors<'p> {
    /// For parts with these names.
    pub fn new(plan: &'p Plan, parts: Vec<(CaseId, Origin)>) -> Self {
        parts.into_iter().map(|(id, origin)| Collector::new(plan, id, origin)).collect()
    }

    fn of_part(&self, part: usize) -> Option<MutexGuard<'_, Collector<'p>>> {
        self.0.get(part).map(|c| c.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The cases, part by part and by process, and the calls that are not in them.
    pub fn finish(self) -> (Vec<Case>, Skipped) {
        let (mut all, mut skipped) = (Vec::new(), Skipped::default());
        for c in self.0 {
            let (cases, more) = c.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
            all.extend(cases);
            skipped.add(more);
        }
        (all, skipped)
    }
}

impl<'p> FromIterator<Collector<'p>> for Collectors<'p> {
    fn from_iter<I: IntoIterator<Item = Collector<'p>>>(all: I) -> Self {
        Collectors(all.into_iter().map(Mutex::new).collect())
    }
}

impl RowSink for Collectors<'_> {
    fn take(&self, batch: Batch<'_>) -> Result<()> {
        if let (Data::Requests(rows), Some(log), Some(mut c)) = (&*batch.rows, batch.log, self.of_part(batch.part)) {
            let mut split = log.split.iter().peekable();
            for (i, call) in log.calls.iter().enumerate() {
                while let Some(s) = split.next_if(|s| s.before_row <= i) {
                    c.split(s);
                }
                let (op, name, task) = (rows.op.get(i), rows.call.get(i), rows.task.get(i));
                let (file, size) = (rows.file.get(i), rows.size.get(i));
                let row = Request { op, call: name, task, file, size, ..Request::default() };
                c.call(&row, call, batch.files, batch.calls);
            }
            split.for_each(|s| c.split(s));
        }
        Ok(())
    }

    fn restart(&self, why: Restart) {
        for i in 0..self.0.len() {
            if (why == Restart::Trace || why == Restart::ClockSteps(i))
                && let Some(mut c) = self.of_part(i)
            {
                c.restart();
            }
        }
    }
}

/// Takes the events of one part of a trace.
#[derive(Debug)]
pub struct Collector<'p> {
    plan: &'p Plan,
    id: CaseId,
    origin: Origin,
    names: Vec<String>,
    numbers: HashMap<String, Activity, RandomState>,
    /// Activities of calls on files.
    known: HashMap<(CallId, FileId), Activity, RandomState>,
    /// The file of each call last seen, and its activity.
    recent: Vec<(FileId, Activity)>,
    cases: Vec<Open>,
    by_pid: HashMap<u32, usize, RandomState>,
    /// Calls that have begun: their case and hole.
    holes: HashMap<u64, (usize, usize), RandomState>,
    waiting: Option<Vec<Waiting>>,
    skipped: Skipped,
}

impl<'p> Collector<'p> {
    /// For the part with this name.
    pub(super) fn new(plan: &'p Plan, id: CaseId, origin: Origin) -> Self {
        Collector {
            plan,
            id,
            origin,
            names: Vec::new(),
            numbers: HashMap::default(),
            known: HashMap::default(),
            recent: Vec::new(),
            cases: Vec::new(),
            by_pid: HashMap::default(),
            holes: HashMap::default(),
            waiting: None,
            skipped: Skipped::default(),
        }
    }

    /// The cases, by process, and what is not in them.
    pub(super) fn finish(mut self) -> (Vec<Case>, Skipped) {
        if let Some(mut waiting) = self.waiting.take() {
            waiting.sort_unstable_by_key(|w| (w.start_ns, w.line));
            for w in waiting {
                let case = self.case(w.task);
                self.cases[case].sequence.push(w.activity);
                self.count(case, &w);
            }
        }
        let activities: std::sync::Arc<[String]> = self.names.into();
        let mut cases: Vec<Case> = self
            .cases
            .into_iter()
            .map(|open| Case {
                id: CaseId { pid: open.pid, ..self.id.clone() },
                origin: self.origin.clone(),
                events: open.events,
                activities: activities.clone(),
                stats: open.stats,
                edges: open.sequence.finish(),
            })
            .collect();
        if cases.is_empty() {
            let (stats, edges) = Default::default();
            cases.push(Case { id: self.id, origin: self.origin, events: 0, activities, stats, edges });
        }
        cases.sort_by_key(|c| c.id.pid);
        (cases, self.skipped)
    }

    /// The case of a process.
    fn case(&mut self, task: u32) -> usize {
        match self.plan.by {
            By::File => {
                if self.cases.is_empty() {
                    self.cases.push(Open::default());
                }
                0
            }
            By::Pid => {
                let next = self.cases.len();
                let i = *self.by_pid.entry(task).or_insert(next);
                if i == next {
                    self.cases.push(Open { pid: Some(task), ..Open::default() });
                }
                i
            }
        }
    }

    fn count(&mut self, case: usize, w: &Waiting) {
        let open = &mut self.cases[case];
        open.events += 1;
        open.stats.entry(w.activity).or_default().add(w.start_ns, w.duration_ns, w.transfer);
    }

    fn activity(&mut self, e: &Request, files: &Files, calls: &Calls) -> Activity {
        let i = usize::from(e.call.0);
        if let Some(&(file, activity)) = self.recent.get(i)
            && file == e.file
        {
            return activity;
        }
        let activity = match self.known.get(&(e.call, e.file)) {
            Some(&a) => a,
            None => {
                let a = match self.plan.mapping.activity(&self.id, calls.name(e.call), files.name(e.file)) {
                    Some(name) => self.number(name),
                    None => UNMAPPED,
                };
                self.known.insert((e.call, e.file), a);
                a
            }
        };
        if i >= self.recent.len() {
            // No file has this number: names end before.
            self.recent.resize(i + 1, (FileId(u32::MAX - 1), UNMAPPED));
        }
        self.recent[i] = (e.file, activity);
        activity
    }

    fn number(&mut self, name: String) -> Activity {
        if let Some(&n) = self.numbers.get(&name) {
            return n;
        }
        let n = self.names.len() as Activity;
        self.names.push(name.clone());
        self.numbers.insert(name, n);
        n
    }

    fn inside(&self, start_ns: i64) -> bool {
        self.plan.from_ns.is_none_or(|t| start_ns >= t) && self.plan.until_ns.is_none_or(|t| start_ns < t)
    }

    /// A call begins in another line than it ends, or is cancelled.
    fn split(&mut self, s: &SplitCall) {
        if let Some(task) = s.begun_by {
            if self.waiting.is_none() {
                let case = self.case(task);
                let hole = self.cases[case].sequence.open();
                self.holes.insert(s.line, (case, hole));
            }
        } else if let Some((case, hole)) = self.holes.remove(&s.line) {
            self.cases[case].sequence.settle(hole, None);
        }
    }

    /// A call ends.
    pub(super) fn call(&mut self, e: &Request, log: &LoggedCall, files: &Files, calls: &Calls) {
        let hole = if self.holes.is_empty() { None } else { self.holes.remove(&log.line) };
        let activity = if log.interrupted {
            self.skipped.interrupted += 1;
            UNMAPPED
        } else {
            let a = if self.inside(log.start_ns) { self.activity(e, files, calls) } else { UNMAPPED };
            self.skipped.unmapped += u64::from(a == UNMAPPED);
            a
        };
        if activity == UNMAPPED {
            if let Some((case, hole)) = hole {
                self.cases[case].sequence.settle(hole, None);
            }
            return;
        }
        let transfer = e.op.moves_bytes().then_some(e.size);
        let w = Waiting {
            start_ns: log.start_ns,
            line: log.line,
            task: e.task,
            activity,
            duration_ns: log.duration_ns,
            transfer,
        };
        if let Some(waiting) = &mut self.waiting {
            return waiting.push(w);
        }
        let case = self.case(e.task);
        match hole {
            Some((c, hole)) if c == case => self.cases[c].sequence.settle(hole, Some(activity)),
            // The process turned out to be another one.
            Some((c, hole)) => {
                self.cases[c].sequence.settle(hole, None);
                self.cases[case].sequence.push(activity);
            }
            None => self.cases[case].sequence.push(activity),
        }
        self.count(case, &w);
    }

    /// Forgets all; every call comes again, to be ordered by time.
    pub(super) fn restart(&mut self) {
        *self = Collector::new(self.plan, std::mem::take(&mut self.id), std::mem::take(&mut self.origin));
        self.waiting = Some(Vec::new());
    }
}
